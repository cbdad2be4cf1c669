//! The board: findings with BEFORE and NOW, of a retest or of two scans that are compared.
//!
//! ```text
//!   Retest   asked findings, their new scans ─┐
//!   Compare  two scans ───────────────────────┴─► BoardRow each ─► Table, list and detail like any other
//! ```
//!
//! Ordered by NOW the rows stand under heads, one a NOW; a key on a head is about the rows under it.

use crate::contract::{Finding, Risk, Scan, ScanId, Shared, Stamp, TargetId};
use crate::query::{ColumnBuilder, Field, QueryKind};
use crate::table::{Item, OtherLists, Row, SortOrder, Table, sort};
use crate::triage::compare::compare;
use crate::triage::{Case, CaseId, Outcome, Retest, RetestStatus};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is on the board.
#[derive(Clone, Debug, PartialEq)]
pub enum Board {
    /// Findings that are looked for again.
    Retest(Retest),
    /// Two scans side by side, the earlier one first.
    Compare(ScanId, ScanId),
}

/// One row of the board.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardRow {
    /// Of the finding; negative for heads.
    pub id: CaseId,
    /// A head over so many rows.
    pub head: Option<usize>,
    pub name: Shared,
    pub risk: Risk,
    pub target: Option<TargetId>,
    pub target_name: Shared,
    /// What was said, or told, before.
    pub before: Shared,
    pub now: RetestStatus,
}

/// Orders of the board.
pub(crate) const SORTS: &[SortOrder<BoardRow>] = &[
    SortOrder { name: sort::BY_RISK, compare: |a, b| (b.risk, &a.name, a.id).cmp(&(a.risk, &b.name, b.id)) },
    SortOrder {
        name: "now",
        compare: |a, b| {
            let place = |row: &BoardRow| (row.now.rank(), row.head.is_none());
            place(a).cmp(&place(b)).then((b.risk, &a.name, a.id).cmp(&(a.risk, &b.name, b.id)))
        },
    },
    SortOrder { name: "target", compare: |a, b| (&a.target_name, b.risk, a.id).cmp(&(&b.target_name, a.risk, b.id)) },
];

/// Which of the orders groups by NOW.
pub const BY_NOW: usize = 1;

/// Queries ask the findings that its rows stand for.
impl Row for BoardRow {
    const KIND: QueryKind = QueryKind::Findings;
    fn search_text(&self, _: &mut String) {}
    fn write_field(&self, _: Field, _: &dyn OtherLists, _: &mut ColumnBuilder) {}
}

impl Item for BoardRow {
    const SEARCHED: bool = false;
    type Id = CaseId;
    fn id(&self) -> CaseId {
        self.id
    }
    fn target(&self) -> Option<TargetId> {
        self.target
    }
    fn risk(&self) -> Option<Risk> {
        self.head.is_none().then_some(self.risk)
    }
    fn sorts() -> &'static [SortOrder<Self>] {
        SORTS
    }
}

impl Board {
    /// What is known now, in words: of a retest whether it is still there, of two scans what became of it.
    pub fn now_words(&self, now: RetestStatus) -> &'static str {
        match (self, now) {
            (Self::Compare(..), RetestStatus::Is(Outcome::Gone)) => "gone",
            (Self::Compare(..), RetestStatus::Is(Outcome::Same)) => "same",
            _ => now.word(),
        }
    }

    pub(crate) fn rows(&self, cases: &Table<Case>, scans: &Table<Scan>, read: Option<Stamp>) -> Vec<BoardRow> {
        match self {
            Self::Retest(retest) => retest_rows(retest, cases, scans, read),
            Self::Compare(before, after) => match (scans.get(*before), scans.get(*after)) {
                (Some(before), Some(after)) => compared_rows(cases, before, after),
                _ => Vec::new(),
            },
        }
    }
}

pub(crate) fn retest_rows(
    retest: &Retest,
    cases: &Table<Case>,
    scans: &Table<Scan>,
    read: Option<Stamp>,
) -> Vec<BoardRow> {
    let row = |(asked, now): (&crate::triage::RetestFinding, RetestStatus)| BoardRow {
        id: asked.id(),
        head: None,
        name: asked.name.clone(),
        risk: asked.risk,
        target: asked.target,
        target_name: asked.target_name.clone(),
        before: asked.before.clone(),
        now,
    };
    retest.findings.iter().zip(retest.now(cases, scans, read)).map(row).collect()
}

pub(crate) fn compared_rows(cases: &Table<Case>, before: &Scan, after: &Scan) -> Vec<BoardRow> {
    let told = |finding: &Option<Arc<Finding>>| finding.as_ref().map_or("", |finding| finding.risk_level.as_str());
    let row = |one: crate::triage::ComparedFinding| {
        let case = &cases.items()[one.at];
        let shown = one.after.as_ref().or(one.before.as_ref()).unwrap_or(&case.finding);
        BoardRow {
            id: case.id,
            head: None,
            name: shown.name.clone(),
            risk: shown.risk_level,
            target: shown.target_id,
            target_name: shown.target_name.clone().unwrap_or_else(|| case.identity.asset.clone()),
            before: told(&one.before).into(),
            now: RetestStatus::Is(one.outcome),
        }
    };
    compare(cases, before, after).into_iter().map(row).collect()
}

/// The same rows under a head for each NOW, or without.
pub(crate) fn with_heads(table: &Table<BoardRow>, grouped: bool) -> Table<BoardRow> {
    let rows: Vec<Arc<BoardRow>> = table.items().iter().filter(|row| row.head.is_none()).cloned().collect();
    let heads = if grouped { heads(&rows) } else { Vec::new() };
    Table::new(rows.into_iter().chain(heads.into_iter().map(Arc::new)))
}

pub(crate) fn heads(rows: &[Arc<BoardRow>]) -> Vec<BoardRow> {
    let mut groups: BTreeMap<i64, (usize, RetestStatus, Risk)> = BTreeMap::new();
    for row in rows {
        let group = groups.entry(row.now.rank()).or_insert((0, row.now, row.risk));
        *group = (group.0 + 1, group.1, group.2.max(row.risk));
    }
    let head = |(rank, (count, now, risk)): (i64, (usize, RetestStatus, Risk))| BoardRow {
        id: CaseId(-1 - rank),
        head: Some(count),
        name: Shared::default(),
        risk,
        target: None,
        target_name: Shared::default(),
        before: Shared::default(),
        now,
    };
    groups.into_iter().map(head).collect()
}
