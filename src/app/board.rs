//! The board: findings with BEFORE and NOW, of a retest or of two scans that are compared.
//!
//! ```text
//!   Retest   asked findings, their new scans ─┐
//!   Compare  two scans ───────────────────────┴─► BoardRow each ─► Table, list and detail like any other
//! ```
//!
//! Ordered by NOW the rows stand under heads, one a NOW; a key on a head is about the rows under it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::model::{Model, Pane};
use super::retest::{Now, Retest};
use super::rows::query_of;
use super::sorts::{self, Sort};
use super::table::{Item, Table};
use crate::contract::{Finding, Risk, Scan, ScanId, Shared, Stamp, TargetId};
use crate::query::{Builder, Field, Kind, Others, Row};
use crate::triage::compare::{Outcome, compare};
use crate::triage::{Case, CaseId};

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
#[allow(missing_docs)]
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
    pub now: Now,
}

/// Orders of the board.
const SORTS: &[Sort<BoardRow>] = &[
    Sort { name: sorts::BY_RISK, compare: |a, b| (b.risk, &a.name, a.id).cmp(&(a.risk, &b.name, b.id)) },
    Sort {
        name: "now",
        compare: |a, b| {
            let place = |row: &BoardRow| (row.now.rank(), row.head.is_none());
            place(a).cmp(&place(b)).then((b.risk, &a.name, a.id).cmp(&(a.risk, &b.name, b.id)))
        },
    },
    Sort { name: "target", compare: |a, b| (&a.target_name, b.risk, a.id).cmp(&(&b.target_name, a.risk, b.id)) },
];

/// Which of the orders groups by NOW.
pub const BY_NOW: usize = 1;

/// Queries ask the findings that its rows stand for.
impl Row for BoardRow {
    const KIND: Kind = Kind::Findings;
    fn search_text(&self, _: &mut String) {}
    fn tell(&self, _: Field, _: &dyn Others, _: &mut Builder) {}
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
    fn sorts() -> &'static [Sort<Self>] {
        SORTS
    }
}

impl Board {
    /// What is known now, in words: of a retest whether it is still there, of two scans what became of it.
    pub fn now_words(&self, now: Now) -> &'static str {
        match (self, now) {
            (Self::Compare(..), Now::Is(Outcome::Gone)) => "gone",
            (Self::Compare(..), Now::Is(Outcome::Same)) => "same",
            _ => now.word(),
        }
    }

    fn rows(&self, cases: &Table<Case>, scans: &Table<Scan>, read: Option<Stamp>) -> Vec<BoardRow> {
        match self {
            Self::Retest(retest) => retest_rows(retest, cases, scans, read),
            Self::Compare(before, after) => match (scans.get(*before), scans.get(*after)) {
                (Some(before), Some(after)) => compared_rows(cases, before, after),
                _ => Vec::new(),
            },
        }
    }
}

fn retest_rows(retest: &Retest, cases: &Table<Case>, scans: &Table<Scan>, read: Option<Stamp>) -> Vec<BoardRow> {
    let row = |(asked, now): (&super::retest::Asked, Now)| BoardRow {
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

fn compared_rows(cases: &Table<Case>, before: &Scan, after: &Scan) -> Vec<BoardRow> {
    let told = |finding: &Option<Arc<Finding>>| finding.as_ref().map_or("", |finding| finding.risk_level.as_str());
    let row = |one: crate::triage::compare::Compared| {
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
            now: Now::Is(one.outcome),
        }
    };
    compare(cases, before, after).into_iter().map(row).collect()
}

/// The same rows under a head for each NOW, or without.
fn with_heads(table: &Table<BoardRow>, grouped: bool) -> Table<BoardRow> {
    let rows: Vec<Arc<BoardRow>> = table.items().iter().filter(|row| row.head.is_none()).cloned().collect();
    let heads = if grouped { heads(&rows) } else { Vec::new() };
    Table::new(rows.into_iter().chain(heads.into_iter().map(Arc::new)))
}

fn heads(rows: &[Arc<BoardRow>]) -> Vec<BoardRow> {
    let mut groups: BTreeMap<i64, (usize, Now, Risk)> = BTreeMap::new();
    for row in rows {
        let group = groups.entry(row.now.rank()).or_insert((0, row.now, row.risk));
        *group = (group.0 + 1, group.1, group.2.max(row.risk));
    }
    let head = |(rank, (count, now, risk)): (i64, (usize, Now, Risk))| BoardRow {
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

impl Model {
    /// Makes the board's rows anew, after scans, rows or the board changed.
    pub(in crate::app) fn make_board(&mut self) {
        let Some(board) = &self.board else { return };
        let (Some(cases), Some(scans)) = (self.data.findings.value(), self.data.scans.value()) else { return };
        let rows = board.rows(cases, scans, self.triage.read);
        self.data.board.succeed(Arc::new(Table::new(rows)), Stamp(self.now.wall));
        self.show_rows(Pane::Board);
    }

    /// Which of them are shown: those that the filter finds, heads only over groups.
    pub(in crate::app) fn show_board(&mut self) {
        let Some(mut table) = self.data.board.value().cloned() else { return };
        let filter = self.lists.board.filter.clone();
        let grouped = self.lists.board.sort == BY_NOW && filter.is_empty();
        let is_grouped = table.items().iter().any(|row| row.head.is_some());
        if grouped != is_grouped {
            table = Arc::new(with_heads(&table, grouped));
            self.data.board.succeed(Arc::clone(&table), Stamp(self.now.wall));
        }
        let found = (!filter.is_empty()).then(|| self.findings_found(&filter));
        let kept = &self.lists.board.kept;
        let is_found = |id: CaseId| found.as_ref().is_none_or(|found| found.contains(&id)) || kept.contains_key(&id);
        let order = table.order(self.lists.board.sort).iter();
        let rows = order.filter(|row| is_found(table.items()[**row as usize].id)).copied().collect();
        self.lists.board.show(&table, rows);
    }

    /// The findings that a query finds.
    fn findings_found(&mut self, filter: &str) -> HashSet<CaseId> {
        let query = query_of(filter, Kind::Findings);
        let hits = self.ask_list(Pane::Findings, |evaluator, source| evaluator.matches(&query, source));
        let (Some(hits), Some(table)) = (hits, self.data.findings.value()) else { return HashSet::new() };
        hits.rows().filter_map(|row| table.items().get(row)).map(|case| case.id).collect()
    }

    /// The findings that an action on the board is about: a head stands for the rows under it.
    pub fn board_ids(&self, chosen: &[i64]) -> Vec<CaseId> {
        let Some(table) = self.data.board.value() else { return Vec::new() };
        let mut under: HashMap<i64, Vec<CaseId>> = HashMap::new();
        if chosen.iter().any(|&id| id < 0) {
            for row in table.items().iter().filter(|row| row.head.is_none()) {
                under.entry(-1 - row.now.rank()).or_default().push(row.id);
            }
        }
        let of = |id: i64| match under.get(&id) {
            Some(rows) => rows.clone(),
            None => table.get(CaseId(id)).filter(|row| row.head.is_none()).map(|row| row.id).into_iter().collect(),
        };
        let mut known = HashSet::new();
        chosen.iter().flat_map(|&id| of(id)).filter(|&id| known.insert(id)).collect()
    }

    /// The finding selected on the board.
    pub fn board_case(&self) -> Option<CaseId> {
        let id = self.lists.board.selected?;
        Some(id).filter(|id| id.0 >= 0)
    }
}
