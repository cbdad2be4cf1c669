//! What is decided about the findings, as the dashboard holds it: the folded events, the pen that writes new ones, and
//! a stance for every row.
//!
//! ```text
//!   findings, scans, targets, rules, the day ─► Basis differs? ─► Effect::Arrange ─► Msg::Arranged ─► rows + stances
//!   a decision ─► Model::record ─► State, the stances it touches, Effect::Record
//! ```

use crate::client::Problem;
use crate::contract::{Finding, Scan, Shared, Stamp, Target};
use crate::dashboard::base::Generation;
use crate::table::Table;
use crate::triage::{
    Assessment, CaseId, DecisionDefaults, Draft, Event, EventId, EventWriter, FindingKey, ReopenCause, TriageState,
};
use jiff::civil::Date;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// See the module.
#[derive(Debug, Default)]
pub struct Triage {
    /// The folded events.
    pub state: TriageState,
    /// Writes events; none until the store is open, or when it cannot be written to.
    pub writer: Option<EventWriter>,
    /// What is said about each row: aligned with the table of the findings.
    pub assessments: Vec<Arc<Assessment>>,
    /// How many of them were settled once and are no more.
    pub again: Reopened,
    /// The rule that finds each row; empty where there is none.
    pub rules: Vec<Option<EventId>>,
    /// Why decisions cannot be kept.
    pub problem: Option<Arc<Problem>>,
    /// Settings by name and workspace, as JSON.
    pub settings: BTreeMap<(Shared, Shared), String>,
    /// Findings that were seen.
    pub seen: imbl::HashSet<FindingKey>,
    /// What goes with a verdict on a class unless said.
    pub defaults: DecisionDefaults,
    /// What `.` decides again.
    pub last: Option<Draft>,
    /// The marks that a batch used: undo brings them back.
    pub used_marks: BTreeMap<EventId, Vec<CaseId>>,
    /// What the rows were made of, or are being made of.
    pub(crate) basis: Option<Basis>,
    /// The digest of the scans that were looked at last.
    pub(crate) digest: Option<(Same<Table<Scan>>, u64)>,
    /// When the findings that the rows were made from were read, by the service's clock.
    pub(crate) read: Option<Stamp>,
    /// Rows are being made.
    pub(crate) arranging: bool,
    /// The turn of which they were made last.
    pub(crate) correlated: u64,
    /// The turn in which the store was opened; none as long as it is not, or where there is none.
    pub(crate) opened: Option<u64>,
    /// Findings that something was said about since then.
    pub(crate) touched: Vec<FindingKey>,
    /// Raised when more than single findings say something else: a rule, a baseline, findings of one's own.
    pub(crate) turn: u64,
}

/// How many findings were settled and need a person again, for the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reopened {
    /// Two persons said different things.
    pub conflicts: usize,
    /// Fixed, and seen again.
    pub regressions: usize,
}

impl Reopened {
    pub(crate) fn of(assessments: &[Arc<Assessment>]) -> Self {
        let with =
            |again: ReopenCause| assessments.iter().filter(|assessment| assessment.reopened == Some(again)).count();
        Self { conflicts: with(ReopenCause::Conflict), regressions: with(ReopenCause::Regression) }
    }

    /// One finding says something else.
    pub(crate) fn change(&mut self, was: &Assessment, now: &Assessment) {
        for (again, count) in
            [(ReopenCause::Conflict, &mut self.conflicts), (ReopenCause::Regression, &mut self.regressions)]
        {
            *count += usize::from(now.reopened == Some(again));
            *count = count.saturating_sub(usize::from(was.reopened == Some(again)));
        }
    }
}

/// What rows depend on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Basis {
    pub(crate) generation: Generation,
    pub(crate) findings: Same<Table<Finding>>,
    pub(crate) targets: Option<Same<Table<Target>>>,
    /// When the findings were read, by the service's clock.
    pub(crate) read: Option<Stamp>,
    /// Of the scans only who they are, how far they got, when and with how many findings they ended: progress moves every
    /// second.
    pub(crate) scans: u64,
    pub(crate) turn: u64,
    pub(crate) today: Date,
}

/// Equal when it is the same thing.
#[derive(Clone, Debug)]
pub(crate) struct Same<T>(pub(crate) Arc<T>);

impl<T> PartialEq for Same<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

pub(crate) fn digest(scans: &Table<Scan>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for scan in scans.items() {
        (scan.id, scan.status_name.as_str(), scan.start_time, scan.end_time).hash(&mut hasher);
        scan.has_ended().then(|| scan.result_summary.by_risk()).hash(&mut hasher);
    }
    hasher.finish()
}

impl Triage {
    /// The digest of these scans: worked out once, asked for with every message.
    pub(crate) fn digest_of(&mut self, scans: &Arc<Table<Scan>>) -> u64 {
        match &self.digest {
            Some((of, digest)) if Arc::ptr_eq(&of.0, scans) => *digest,
            _ => self.digest.insert((Same(Arc::clone(scans)), digest(scans))).1,
        }
    }
}

/// What the store of decisions tells.
#[derive(Clone, Debug)]
pub enum TriageNews {
    /// It is open: everything kept so far.
    Opened(Box<StoredDecisions>),
    /// Another dashboard or command on the same store recorded these.
    Events(Vec<Arc<Event>>),
    /// Something could not be kept; nothing is decided from now on.
    Failed(Arc<Problem>),
}

/// What the store of decisions held when it was opened.
#[derive(Clone, Debug, Default)]
pub struct StoredDecisions {
    /// The folded events.
    pub state: TriageState,
    /// Writes new ones; none when the store cannot be written to.
    pub writer: Option<EventWriter>,
    /// Settings by name and workspace, as JSON.
    pub settings: BTreeMap<(Shared, Shared), String>,
    /// Findings that were seen.
    pub seen: imbl::HashSet<FindingKey>,
    /// What is wrong with the store, if anything.
    pub problem: Option<Arc<Problem>>,
}
