//! The findings as the rows of the dashboard: all occurrences, grouped by identity, with their
//! decisions.

mod load;

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;

use scandeck_domain::alerts::AlertSource;
use scandeck_domain::export::ExportRow;
use scandeck_domain::query::Query;
use scandeck_domain::table::Table;
use scandeck_domain::triage::{
    AssessedFinding, Issue, ListContext, ListedFinding, StoredSettings, TriageState, tool_name,
};
use scandeck_report::ReportScan;
use scandeck_wire::contract::{Scan, ScanId, Shared, Stamp, Target, Workspace};

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

impl FindingRows {
    pub fn state(&self) -> &TriageState {
        &self.state
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
