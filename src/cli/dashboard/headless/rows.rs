//! The findings as the rows of the dashboard: all occurrences, grouped by identity, with their
//! decisions.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;

use super::{HeadlessSession, bundles, decisions};
use scandeck_client::{FindingQuery, ScanQuery, TargetQuery};
use scandeck_domain::alerts::AlertSource;
use scandeck_domain::export::ExportRow;
use scandeck_domain::query::Query;
use scandeck_domain::table::{IntoRow, Table};
use scandeck_domain::triage::retest::retest_results;
use scandeck_domain::triage::{
    AssessedFinding, CorrelationInput, Issue, ListContext, ListedFinding, ReadTimes,
    StoredSettings, TriageState, correlate, tool_name,
};
use scandeck_report::ReportScan;
use scandeck_wire::contract::{
    Scan, ScanId, Shared, Stamp, Target, TargetId, Workspace, WorkspaceId,
};

/// The local day, on which decisions expire.
pub fn today() -> Date {
    Stamp(Timestamp::now()).local_day()
}

/// Rows of the selected workspaces, with the data they refer to.
#[derive(Debug, Default)]
pub struct FindingRows {
    /// By risk, highest first.
    pub all: Vec<ExportRow>,
    pub scans: Table<Scan>,
    targets: Table<Target>,
    workspaces: Table<Workspace>,
    state: TriageState,
    settings: StoredSettings,
    now: i64,
}

/// The lists of one workspace.
struct ListedWorkspace {
    workspace: Shared,
    findings: Vec<Arc<ListedFinding>>,
    scans: Vec<Arc<Scan>>,
    targets: Vec<Arc<Target>>,
}

impl FindingRows {
    /// Loads the rows of the selected workspaces, or of their bundles if the service is not
    /// reachable.
    ///
    /// # Errors
    /// Those of the service.
    pub async fn load(session: &HeadlessSession) -> anyhow::Result<Self> {
        let mut rows = Self::empty(session).await?;
        match session.workspaces().await {
            Ok(all) => {
                for workspace in all {
                    rows.read(session, &workspace).await?;
                }
            }
            Err(error) => {
                for bundle in bundles::replacement(session, error)? {
                    let findings = bundle.findings.into_iter();
                    let lists = ListedWorkspace {
                        workspace: bundle.manifest.workspace,
                        findings: findings
                            .map(|one| Arc::unwrap_or_clone(one).into_row())
                            .collect(),
                        scans: bundle.scans,
                        targets: bundle.targets,
                    };
                    rows.add(session, lists).await?;
                }
            }
        }
        rows.all
            .sort_by(|a, b| (b.risk(), &a.issue.name).cmp(&(a.risk(), &b.issue.name)));
        Ok(rows)
    }

    /// Loads the rows of one workspace, or of all selected ones if it is unknown.
    ///
    /// # Errors
    /// Those of the service.
    pub async fn load_one(
        session: &HeadlessSession,
        workspace: Option<WorkspaceId>,
    ) -> anyhow::Result<Self> {
        let Some(id) = workspace else {
            return Self::load(session).await;
        };
        let mut rows = Self::empty(session).await?;
        rows.read(session, &session.client()?.get_workspace(id).await?)
            .await?;
        Ok(rows)
    }

    /// Loads the rows of some targets of a workspace.
    ///
    /// # Errors
    /// Those of the service.
    pub async fn load_targets(
        session: &HeadlessSession,
        workspace: WorkspaceId,
        targets: &BTreeSet<TargetId>,
    ) -> anyhow::Result<Self> {
        let mut rows = Self::empty(session).await?;
        let client = session.client()?;
        let mut lists = ListedWorkspace {
            workspace: client.get_workspace(workspace).await?.name,
            findings: Vec::new(),
            scans: Vec::new(),
            targets: Vec::new(),
        };
        for &id in targets {
            let findings_of = FindingQuery {
                target_id: Some(id),
                ..FindingQuery::default()
            };
            let findings = client.list_findings(&findings_of).await?;
            let scans_of = ScanQuery {
                target_id: Some(id),
                ..ScanQuery::default()
            };
            let scans = client.list_all_scans(&scans_of).await?;
            let target = client.get_target(id).await?;
            let findings: Vec<Arc<ListedFinding>> =
                findings.into_iter().map(IntoRow::into_row).collect();
            lists.findings.extend(findings);
            lists.scans.extend(scans.into_iter().map(Arc::new));
            lists.targets.push(Arc::new(target));
        }
        rows.add(session, lists).await?;
        Ok(rows)
    }

    /// No rows yet, only decisions.
    async fn empty(session: &HeadlessSession) -> anyhow::Result<Self> {
        let (state, settings) = decisions::read(&session.memory).await?;
        Ok(Self {
            state,
            settings,
            now: Timestamp::now().as_second(),
            ..Self::default()
        })
    }

    pub fn state(&self) -> &TriageState {
        &self.state
    }

    async fn read(
        &mut self,
        session: &HeadlessSession,
        workspace: &Workspace,
    ) -> anyhow::Result<()> {
        let (client, id) = (session.client()?, Some(workspace.id));
        let findings = client
            .list_findings(&FindingQuery {
                workspace_id: id,
                ..FindingQuery::default()
            })
            .await?;
        let scans = client
            .list_all_scans(&ScanQuery {
                workspace_id: id,
                ..ScanQuery::default()
            })
            .await?;
        let targets = client
            .list_all_targets(&TargetQuery {
                workspace_id: id,
                ..TargetQuery::default()
            })
            .await?;
        let lists = ListedWorkspace {
            workspace: workspace.name.clone(),
            findings: findings.into_iter().map(IntoRow::into_row).collect(),
            scans: scans.into_iter().map(Arc::new).collect(),
            targets: targets.into_iter().map(Arc::new).collect(),
        };
        self.add(session, lists).await
    }

    /// Adds the rows of one workspace.
    async fn add(
        &mut self,
        session: &HeadlessSession,
        lists: ListedWorkspace,
    ) -> anyhow::Result<()> {
        let workspace = lists.workspace.clone();
        self.add_lists(&lists);
        let input = self.correlation_input(session, lists);
        let (scans, read) = (Arc::clone(&input.scans), input.read.clone());
        let correlated = tokio::task::spawn_blocking(move || correlate(&input)).await?;
        let retests = retest_results(
            &self.settings,
            &workspace,
            (&correlated.issues, &scans),
            &read,
        );
        let assessed = correlated
            .issues
            .items()
            .iter()
            .zip(correlated.assessments.iter());
        let rows = assessed.map(|(issue, assessment)| ExportRow {
            retest: retests.get(&issue.key()).cloned(),
            correlation: Some(Arc::clone(&correlated.earlier)),
            tool_name: self.tool_name_of(&issue.finding),
            ..ExportRow::new(
                Arc::clone(issue),
                (**assessment).clone(),
                &self.state,
                self.target_of(issue),
                issue.task_id().and_then(|scan| self.tool(scan)),
                workspace.clone(),
            )
        });
        let rows: Vec<ExportRow> = rows.collect();
        self.all.extend(rows);
        Ok(())
    }

    fn correlation_input(
        &self,
        session: &HeadlessSession,
        lists: ListedWorkspace,
    ) -> CorrelationInput {
        CorrelationInput {
            findings: Arc::new(Table::new(lists.findings)),
            scans: Arc::new(Table::new(lists.scans)),
            targets: Arc::new(Table::new(lists.targets)),
            state: self.state.clone(),
            workspace: lists.workspace,
            today: today(),
            // Scans that ended before this time are complete.
            read: ReadTimes {
                all: Timestamp::from_second(self.now).ok().map(Stamp),
                ..ReadTimes::default()
            },
            now: self.now,
            alias: session.config.alias.as_str().into(),
            unread: Arc::default(),
            searched: Vec::new(),
            earlier: None,
        }
    }

    /// Adds the lists of one workspace, for queries and names.
    fn add_lists(&mut self, lists: &ListedWorkspace) {
        let of = |target: &Arc<Target>| Workspace {
            id: target.workspace_id,
            name: lists.workspace.clone(),
            ..Workspace::default()
        };
        let added = lists.targets.iter().map(of).map(Arc::new);
        let workspaces = self.workspaces.items().iter().cloned().chain(added);
        self.workspaces = Table::new(workspaces);
        let targets = self.targets.items().iter().chain(&lists.targets).cloned();
        self.targets = Table::new(targets);
        let scans = self.scans.items().iter().chain(&lists.scans).cloned();
        self.scans = Table::new(scans);
    }

    fn others(&self) -> ListContext<'_> {
        ListContext {
            targets: Some(&self.targets),
            workspaces: Some(&self.workspaces),
            scans: Some(&self.scans),
            state: Some(&self.state),
            ..ListContext::default()
        }
    }

    /// The rows as the data that alerts are found in. `now` is the clock of the service, `owed` has
    /// the keys of events that wait for another attempt.
    pub fn alert_source(
        &self,
        own_names: Vec<Shared>,
        now: Stamp,
        owed: BTreeSet<String>,
    ) -> AlertSource<'_> {
        AlertSource {
            findings: self.assessed(),
            scans: &self.scans,
            lists: self.others(),
            own_names,
            today: today(),
            now,
            owed,
        }
    }

    fn assessed(&self) -> Vec<AssessedFinding<'_>> {
        let rows = self.all.iter();
        rows.map(|row| AssessedFinding {
            issue: &row.issue,
            assessment: &row.assessment,
        })
        .collect()
    }

    fn tool(&self, scan: ScanId) -> Option<i64> {
        self.scans.get(scan).map(|scan| scan.tool_id)
    }

    /// The tool that an imported file names, or that of the scan.
    fn tool_name_of(&self, finding: &ListedFinding) -> Shared {
        let scan = finding.task_id().and_then(|scan| self.scans.get(scan));
        scan.map_or_else(Shared::default, |scan| Shared::from(&*tool_name(scan)))
    }

    fn target_of(&self, issue: &Issue) -> Shared {
        let listed = issue.target_id().and_then(|id| self.targets.get(id));
        listed
            .map(|target| target.name.clone())
            .or_else(|| issue.target_name().clone())
            .unwrap_or_else(|| issue.identity.asset.clone())
    }

    /// The names of all targets, sorted, for the scope of a report.
    pub fn target_names(&self) -> Vec<String> {
        let targets = self.targets.items().iter();
        let names: BTreeSet<String> = targets.map(|target| target.name.to_string()).collect();
        names.into_iter().collect()
    }

    /// All scans with the names of their targets, for the scope of a report.
    pub fn report_scans(&self) -> Vec<ReportScan> {
        let scans = self.scans.items().iter();
        let named = scans.map(|scan| ReportScan {
            target: self
                .targets
                .get(scan.target_id)
                .map(|target| target.name.to_string())
                .unwrap_or_default(),
            scan: (**scan).clone(),
        });
        named.collect()
    }

    /// The rows that match.
    pub fn matching(&self, query: &Query) -> Vec<ExportRow> {
        let assessed = self.assessed();
        let found = query.matches(&scandeck_domain::table::Rows {
            rows: &assessed,
            others: &self.others(),
            now: self.now,
        });
        found.rows().map(|at| self.all[at].clone()).collect()
    }

    /// The findings in the order of the rows.
    pub fn issues(&self) -> Table<Issue> {
        Table::new(self.all.iter().map(|row| Arc::clone(&row.issue)))
    }

    /// Replaces each finding with one row per occurrence.
    pub fn expand_occurrences(&mut self) {
        let all = std::mem::take(&mut self.all);
        self.all = all.iter().flat_map(|row| self.occurrences(row)).collect();
    }

    /// Keeps only the occurrences of these scans.
    pub fn retain_scans(&mut self, scans: &[ScanId]) {
        self.expand_occurrences();
        let is_of_scans = |scan: ScanId| scans.contains(&scan);
        self.all
            .retain(|row| row.issue.task_id().is_some_and(is_of_scans));
    }

    fn occurrences(&self, row: &ExportRow) -> Vec<ExportRow> {
        if row.issue.earlier.is_empty() {
            return vec![row.clone()];
        }
        let each = row.issue.earlier.iter().map(|seen| {
            let finding = Arc::clone(&seen.finding);
            let tool = finding.task_id().and_then(|scan| self.tool(scan));
            let tool_name = self.tool_name_of(&finding);
            let issue = Arc::new(Issue {
                finding,
                earlier: Box::default(),
                last_seen: seen.at.into(),
                ..(*row.issue).clone()
            });
            ExportRow {
                issue,
                tool,
                tool_name,
                ..row.clone()
            }
        });
        each.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_domain::query::QueryKind;
    use scandeck_domain::triage::testing::TriageFixture;
    use scandeck_wire::contract::{FindingId, Risk};

    #[test]
    fn occurrences_of_a_scan_keep_their_risk_after_a_later_scan() {
        let mut fixture = TriageFixture::new();
        for (scan, risk) in [(1, Risk::High), (2, Risk::Low)] {
            fixture.scan(scan);
            fixture.found(scan, "csp", "").risk_level = risk;
        }
        let (issue, assessment) = fixture.last();
        let row = ExportRow::new(
            issue,
            assessment,
            &TriageState::default(),
            "shop.test".into(),
            Some(170),
            "acme".into(),
        );
        let found = |scan: i64, text: &str| {
            let mut rows = FindingRows {
                all: vec![row.clone()],
                ..FindingRows::default()
            };
            rows.retain_scans(&[ScanId(scan)]);
            rows.matching(&Query::parse(text, QueryKind::Findings).unwrap())
                .iter()
                .map(|row| row.issue.finding.id)
                .collect::<Vec<FindingId>>()
        };
        let ids: Vec<FindingId> = fixture.findings.iter().map(|finding| finding.id).collect();
        assert_eq!(found(1, "risk>=high"), ids[..1]);
        assert_eq!(
            (found(2, "risk>=high"), found(2, "risk:low")),
            (vec![], vec![ids[1]])
        );
    }
}
