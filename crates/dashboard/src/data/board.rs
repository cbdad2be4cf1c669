//! The retest board: findings with BEFORE and NOW, of a retest or of a comparison of two scans.
//!
//! ```text
//!   Retest   retested findings, their new scans ─┐
//!   Compare  two scans ──────────────────────────┴─► BoardRow each ─► Table, list and detail like any other
//! ```
//!
//! In the order by NOW the rows are in groups, one per NOW.

use scandeck_domain::query::{ColumnBuilder, Field, QueryKind};
use scandeck_domain::table::{Item, OtherLists, Row, SortOrder, Table, sort};
use scandeck_domain::triage::compare::{ComparedFinding, compare};
use scandeck_domain::triage::retest::RetestFinding;
use scandeck_domain::triage::{Issue, IssueId, ListedFinding, ReadTimes, Retest, RetestStatus};
use scandeck_wire::contract::{Risk, Scan, ScanId, Shared, TargetId};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub enum Board {
    /// Findings that are scanned again.
    Retest(Retest),
    /// Two scans, the earlier one first.
    Compare(ScanId, ScanId),
}

#[derive(Clone, Debug, PartialEq)]
pub struct BoardRow {
    pub id: IssueId,
    pub name: Shared,
    pub risk: Risk,
    pub target: Option<TargetId>,
    pub target_name: Shared,
    /// The verdict before the retest, or the risk in the earlier scan.
    pub before: Shared,
    pub now: RetestStatus,
}

/// The index of the order that groups by NOW.
pub const BY_NOW: usize = 1;

/// Queries of the board run on its findings.
impl Row for BoardRow {
    const KIND: QueryKind = QueryKind::Findings;
    fn search_text(&self, _: &mut String) {}
    fn write_field(&self, _: Field, _: &dyn OtherLists, _: &mut ColumnBuilder) {}
}

impl Item for BoardRow {
    const SEARCHED: bool = false;
    type Id = IssueId;
    const SORTS: &'static [SortOrder<Self>] = &[
        SortOrder {
            name: sort::BY_RISK,
            compare: |a, b| (b.risk, &a.name, a.id).cmp(&(a.risk, &b.name, b.id)),
        },
        SortOrder {
            name: "now",
            compare: |a, b| {
                (a.now.rank(), b.risk, &a.name, a.id).cmp(&(b.now.rank(), a.risk, &b.name, b.id))
            },
        },
        SortOrder {
            name: "target",
            compare: |a, b| (&a.target_name, b.risk, a.id).cmp(&(&b.target_name, a.risk, b.id)),
        },
    ];
    fn id(&self) -> IssueId {
        self.id
    }
    fn target(&self) -> Option<TargetId> {
        self.target
    }
    fn risk(&self) -> Option<Risk> {
        Some(self.risk)
    }
}

impl Board {
    /// The text of NOW. A comparison has other words than a retest.
    pub fn now_words(&self, now: RetestStatus) -> &'static str {
        match self {
            Self::Compare(..) => now.compared_label(),
            Self::Retest(_) => now.label(),
        }
    }

    pub(crate) fn rows(
        &self,
        issues: &Table<Issue>,
        scans: &Table<Scan>,
        read: &ReadTimes,
    ) -> Vec<BoardRow> {
        match self {
            Self::Retest(retest) => retest_rows(retest, issues, scans, read),
            Self::Compare(before, after) => match (scans.get(*before), scans.get(*after)) {
                (Some(before), Some(after)) => compared_rows(issues, before, after),
                _ => Vec::new(),
            },
        }
    }
}

fn retest_rows(
    retest: &Retest,
    issues: &Table<Issue>,
    scans: &Table<Scan>,
    read: &ReadTimes,
) -> Vec<BoardRow> {
    let row = |(finding, now): (&RetestFinding, RetestStatus)| BoardRow {
        id: finding.id(),
        name: finding.name.clone(),
        risk: issues
            .get(finding.id())
            .map_or(finding.risk, |issue| issue.risk()),
        target: finding.target,
        target_name: finding.target_name.clone(),
        before: finding.before.clone(),
        now,
    };
    retest
        .findings
        .iter()
        .zip(retest.now(issues, scans, read))
        .map(row)
        .collect()
}

fn compared_rows(issues: &Table<Issue>, before: &Scan, after: &Scan) -> Vec<BoardRow> {
    let risk = |finding: &Option<Arc<ListedFinding>>| {
        finding
            .as_ref()
            .map_or("", |finding| finding.risk_level.as_str())
    };
    let row = |one: ComparedFinding| {
        let issue = &issues.items()[one.at];
        let shown = one
            .after
            .as_ref()
            .or(one.before.as_ref())
            .unwrap_or(&issue.finding);
        BoardRow {
            id: issue.id,
            name: shown.name.clone(),
            risk: shown.risk_level,
            target: shown.target_id(),
            target_name: shown
                .target_name()
                .clone()
                .unwrap_or_else(|| issue.identity.asset.clone()),
            before: risk(&one.before).into(),
            now: RetestStatus::Is(one.outcome),
        }
    };
    compare(issues, before, after)
        .into_iter()
        .map(row)
        .collect()
}
