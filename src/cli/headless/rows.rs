//! The findings as rows, as the dashboard shows them: every occurrence read, arranged by identity, with what was
//! decided about each.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;

use super::{HeadlessSession, bundles, decisions};
use crate::client::{FindingQuery, ScanQuery, TargetQuery};
use crate::contract::{Finding, Scan, ScanId, Shared, Stamp, Target, TargetId, Workspace, WorkspaceId};
use crate::export::ExportRow;
use crate::query::{Query, QueryKind};
use crate::table::{OtherLists, Table};
use crate::triage::retest::retest_results;
use crate::triage::{AssessedFinding, Case, CorrelationInput, FindingKey, StoredSettings, TriageState, correlate};

/// Reads a query of the command line; the error names the place.
///
/// # Errors
/// With the place in the text, the reason, and often what to write instead.
pub fn query(text: &str) -> Result<Query, String> {
    Query::parse(text, QueryKind::Findings).map_err(|error| error.to_string())
}

/// The day that decides what has expired.
pub fn today() -> Date {
    Stamp(Timestamp::now()).local_day()
}

/// Rows of the workspaces in question, with what they refer to.
#[derive(Debug, Default)]
pub struct FindingRows {
    /// The worst first.
    pub all: Vec<ExportRow>,
    /// The scans that saw them.
    pub scans: Table<Scan>,
    names: Names,
    now: i64,
}

/// What rows say about other things.
#[derive(Debug, Default)]
struct Names {
    targets: HashMap<TargetId, Shared>,
    workspaces: HashMap<TargetId, Shared>,
    tools: HashMap<ScanId, i64>,
    state: TriageState,
    settings: StoredSettings,
}

impl OtherLists for Names {
    fn target_name(&self, target: TargetId) -> Option<&Shared> {
        self.targets.get(&target)
    }

    fn workspace_name(&self, target: TargetId) -> Option<&Shared> {
        self.workspaces.get(&target)
    }

    fn tool(&self, scan: ScanId) -> Option<i64> {
        self.tools.get(&scan).copied()
    }

    fn notes(&self, key: FindingKey) -> Vec<&Shared> {
        self.state.finding_state(key).map(|finding_state| finding_state.noted().collect()).unwrap_or_default()
    }
}

impl FindingRows {
    /// Those of the workspaces in question.
    ///
    /// # Errors
    /// Those of the calls.
    pub async fn load(session: &HeadlessSession) -> anyhow::Result<Self> {
        let mut rows = Self::empty(session).await?;
        match session.workspaces().await {
            Ok(all) => {
                for workspace in all {
                    rows.read(session, &workspace).await?;
                }
            }
            Err(error) => {
                for told in bundles::instead(session, error)? {
                    rows.take(session, told.manifest.workspace, told.findings, told.scans, told.targets).await?;
                }
            }
        }
        rows.all.sort_by(|a, b| (b.case.risk_level, &a.case.name).cmp(&(a.case.risk_level, &b.case.name)));
        Ok(rows)
    }

    /// Those of one workspace; of all in question where it is not known.
    ///
    /// # Errors
    /// Those of the calls.
    pub async fn load_one(session: &HeadlessSession, workspace: Option<WorkspaceId>) -> anyhow::Result<Self> {
        let Some(id) = workspace else { return Self::load(session).await };
        let mut rows = Self::empty(session).await?;
        rows.read(session, &session.client()?.get_workspace(id).await?).await?;
        Ok(rows)
    }

    /// No rows, but what was decided.
    async fn empty(session: &HeadlessSession) -> anyhow::Result<Self> {
        let (state, settings) = decisions::read(&session.memory).await?;
        let names = Names { state, settings, ..Names::default() };
        Ok(Self { now: Timestamp::now().as_second(), names, ..Self::default() })
    }

    /// What was decided.
    pub fn state(&self) -> &TriageState {
        &self.names.state
    }

    async fn read(&mut self, session: &HeadlessSession, workspace: &Workspace) -> anyhow::Result<()> {
        let (client, id) = (session.client()?, Some(workspace.id));
        let findings = client.list_findings(&FindingQuery { workspace_id: id, ..FindingQuery::default() }).await?;
        let scans = client.list_all_scans(&ScanQuery { workspace_id: id, ..ScanQuery::default() }).await?;
        let targets = client.list_all_targets(&TargetQuery { workspace_id: id, ..TargetQuery::default() }).await?;
        let shared = |all: Vec<Finding>| all.into_iter().map(Arc::new).collect();
        let scans = scans.into_iter().map(Arc::new).collect();
        let targets = targets.into_iter().map(Arc::new).collect();
        self.take(session, workspace.name.clone(), shared(findings), scans, targets).await
    }

    /// Makes the rows of one workspace.
    async fn take(
        &mut self,
        session: &HeadlessSession,
        workspace: Shared,
        findings: Vec<Arc<Finding>>,
        scans: Vec<Arc<Scan>>,
        targets: Vec<Arc<Target>>,
    ) -> anyhow::Result<()> {
        self.names.learn(&workspace, &scans, &targets);
        let scans = Arc::new(Table::new(scans));
        self.scans = Table::new(self.scans.items().iter().chain(scans.items()).cloned());
        // The rows are asked for once it is known what there is to ask: what ended before then was read whole.
        let read = Timestamp::from_second(self.now).ok().map(Stamp);
        let input = CorrelationInput {
            findings: Arc::new(Table::new(findings)),
            scans: Arc::clone(&scans),
            targets: Arc::new(Table::new(targets)),
            state: self.names.state.clone(),
            workspace: workspace.clone(),
            today: today(),
            read,
            now: self.now,
            alias: session.alias.clone(),
        };
        let correlated = tokio::task::spawn_blocking(move || correlate(&input)).await?;
        let retests = retest_results(&self.names.settings, &workspace, (&correlated.cases, &scans), read);
        let rows = correlated.cases.items().iter().zip(correlated.assessments).map(|(case, assessment)| {
            let tool = case.task_id.and_then(|scan| self.names.tool(scan));
            let target = self.names.target_of(case);
            let retest = retests.get(&case.key()).cloned();
            let row = ExportRow::new(
                Arc::clone(case),
                (*assessment).clone(),
                &self.names.state,
                target,
                tool,
                workspace.clone(),
            );
            ExportRow { retest, ..row }
        });
        self.all.extend(rows);
        Ok(())
    }

    /// What the query takes.
    #[must_use]
    pub fn that(&self, query: &Query) -> Vec<ExportRow> {
        let assessed: Vec<AssessedFinding> =
            self.all.iter().map(|row| AssessedFinding { case: &row.case, assessment: &row.assessment }).collect();
        let taken = query.matches(&crate::table::Rows { rows: &assessed, others: &self.names, now: self.now });
        taken.rows().map(|at| self.all[at].clone()).collect()
    }

    /// A scan of the workspaces in question.
    pub fn scan(&self, id: ScanId) -> Option<&Arc<Scan>> {
        self.scans.items().iter().find(|scan| scan.id == id)
    }

    /// The findings alone, in the order of the rows.
    pub fn cases(&self) -> Table<Case> {
        Table::new(self.all.iter().map(|row| Arc::clone(&row.case)))
    }

    /// A row for every occurrence in place of one for every identity.
    pub fn spread(&mut self) {
        let all = std::mem::take(&mut self.all);
        self.all = all.iter().flat_map(|row| self.occurrences(row)).collect();
    }

    /// Only what one scan saw, as that scan told it, whatever later ones saw.
    pub fn only_of(&mut self, scan: ScanId) {
        self.spread();
        self.all.retain(|row| row.case.task_id == Some(scan));
    }

    fn occurrences(&self, row: &ExportRow) -> Vec<ExportRow> {
        if row.case.earlier.is_empty() {
            return vec![row.clone()];
        }
        let each = row.case.earlier.iter().map(|seen| {
            let finding = Arc::clone(&seen.finding);
            let tool = finding.task_id.and_then(|scan| self.names.tool(scan));
            let case = Arc::new(Case { finding, earlier: Box::default(), last_seen: seen.at, ..(*row.case).clone() });
            ExportRow { case, tool, ..row.clone() }
        });
        each.collect()
    }
}

impl Names {
    fn learn(&mut self, workspace: &Shared, scans: &[Arc<Scan>], targets: &[Arc<Target>]) {
        self.tools.extend(scans.iter().map(|scan| (scan.id, scan.tool_id)));
        self.workspaces.extend(targets.iter().map(|target| (target.id, workspace.clone())));
        self.targets.extend(targets.iter().map(|target| (target.id, target.name.clone())));
    }

    fn target_of(&self, case: &Case) -> Shared {
        let by_id = case.target_id.and_then(|id| self.targets.get(&id).cloned());
        by_id.or_else(|| case.target_name.clone()).unwrap_or_else(|| case.identity.asset.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{FindingId, Risk};
    use crate::triage::testing::World;

    #[test]
    fn what_one_scan_saw_is_told_as_it_told_it_also_after_a_later_one() {
        let mut world = World::new();
        for (scan, risk) in [(1, Risk::High), (2, Risk::Low)] {
            world.scan(scan);
            world.found(scan, "csp", "").risk_level = risk;
        }
        let (case, assessment) = world.last();
        let row =
            ExportRow::new(case, assessment, &TriageState::default(), "shop.test".into(), Some(170), "acme".into());
        let told = |scan: i64, text: &str| {
            let mut rows = FindingRows { all: vec![row.clone()], ..FindingRows::default() };
            rows.only_of(ScanId(scan));
            rows.that(&query(text).unwrap()).iter().map(|row| row.case.finding.id).collect::<Vec<FindingId>>()
        };
        let ids: Vec<FindingId> = world.findings.iter().map(|finding| finding.id).collect();
        assert_eq!(told(1, "risk>=high"), ids[..1]);
        assert_eq!((told(2, "risk>=high"), told(2, "risk:low")), (vec![], vec![ids[1]]));
    }
}
