//! Decisions on findings in the dashboard: the folded events, the writer of new ones, and an
//! assessment of every row.
//!
//! ```text
//!   findings, scans, targets, rules, the day ─► Basis differs? ─► Effect::Correlate ─► Msg::Correlated ─► rows, assessments
//!   a decision ─► Model::record ─► TriageState, the assessments it touches, Effect::Record
//! ```

use crate::base::Generation;
use jiff::civil::Date;
use scandeck_domain::problem::Problem;
use scandeck_domain::table::Table;
use scandeck_domain::triage::{
    Assessment, Assessments, DecisionDefaults, Draft, EarlierCorrelation, Event, EventId,
    EventWriter, FindingFacts, FindingKey, IssueId, ListedFinding, ReadTimes, ReopenCause,
    TriageState,
};
use scandeck_wire::contract::{Scan, ScanId, Shared, Target};
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub struct Triage {
    pub state: TriageState,
    /// Writes events. None until the store is open, or if it cannot be written.
    pub writer: Option<EventWriter>,
    /// The assessment of each row, aligned with the table of findings.
    pub assessments: Arc<Assessments>,
    /// Decisions that no longer hold.
    pub again: Reopened,
    /// The rule that matches each row.
    pub rules: Vec<Option<EventId>>,
    /// Counts over the table of findings.
    pub facts: Arc<FindingFacts>,
    /// Why decisions cannot be saved.
    pub problem: Option<Arc<Problem>>,
    /// The findings of each batch that is not on disk yet, oldest batch first.
    pub unsaved: VecDeque<HashSet<FindingKey>>,
    pub settings: BTreeMap<(Shared, Shared), String>,
    pub seen: imbl::HashSet<FindingKey>,
    /// Default reason and expiry of verdicts by class.
    pub defaults: DecisionDefaults,
    /// The decision that `.` repeats.
    pub last: Option<Draft>,
    /// The marks that a batch used. Undo restores them.
    pub used_marks: BTreeMap<EventId, Vec<IssueId>>,
    /// Incremented when the assessment of single rows changes.
    pub(crate) revision: u64,
    /// The inputs of the rows that were made last or are being made.
    pub(crate) basis: Option<Basis>,
    /// The digest of the last scans, and the times of reading that it includes.
    pub(crate) digest: Option<(Same<Table<Scan>>, ReadTimes, u64)>,
    /// The correlation that the next rows reuse.
    pub(crate) earlier: Option<Arc<EarlierCorrelation>>,
    /// When the findings of the rows were fetched.
    pub(crate) read: ReadTimes,
    pub(crate) is_correlating: bool,
    /// How many correlations were shown.
    pub(crate) correlations: u64,
    /// How often decisions of other dashboards arrived.
    pub(crate) arrivals: u64,
    /// The revision of decisions of which the rows were made last.
    pub(crate) correlated: u64,
    /// The revision when the store was opened. None without an open store.
    pub(crate) opened: Option<u64>,
    /// Findings with new decisions since then.
    pub(crate) touched: Vec<FindingKey>,
    /// Incremented by changes that concern more than single findings: a rule, a baseline, manual
    /// findings.
    pub(crate) wide_revision: u64,
}

/// Decided findings that need a decision again, for the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reopened {
    /// Two persons decided differently.
    pub conflicts: usize,
    /// Fixed, and seen again by a scan.
    pub regressions: usize,
}

impl Reopened {
    pub(crate) fn of(assessments: &Assessments) -> Self {
        let with = |again: ReopenCause| {
            assessments
                .iter()
                .filter(|assessment| assessment.reopened == Some(again))
                .count()
        };
        Self {
            conflicts: with(ReopenCause::Conflict),
            regressions: with(ReopenCause::Regression),
        }
    }

    pub(crate) fn change(&mut self, was: &Assessment, now: &Assessment) {
        for (again, count) in [
            (ReopenCause::Conflict, &mut self.conflicts),
            (ReopenCause::Regression, &mut self.regressions),
        ] {
            *count += usize::from(now.reopened == Some(again));
            *count = count.saturating_sub(usize::from(was.reopened == Some(again)));
        }
    }
}

/// Inputs of the rows. New rows are made when one of them changes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Basis {
    pub(crate) generation: Generation,
    pub(crate) findings: Same<Table<ListedFinding>>,
    pub(crate) targets: Option<Same<Table<Target>>>,
    /// A digest of ids, status and results of the scans, and of which ended before the findings
    /// were read. Progress is excluded, because it changes every second.
    pub(crate) scans: u64,
    /// The scans whose findings were not read.
    pub(crate) unread: Arc<BTreeSet<ScanId>>,
    pub(crate) wide_revision: u64,
    pub(crate) today: Date,
}

/// Equal if it is the same allocation.
#[derive(Clone, Debug)]
pub(crate) struct Same<T>(pub(crate) Arc<T>);

impl<T> PartialEq for Same<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

fn digest(scans: &Table<Scan>, read: &ReadTimes) -> u64 {
    let mut hasher = DefaultHasher::new();
    for scan in scans.items() {
        (
            scan.id,
            scan.status_name.as_str(),
            scan.start_time,
            scan.end_time,
        )
            .hash(&mut hasher);
        scan.has_ended()
            .then(|| (scan.result_summary.by_risk(), read.is_after_end(scan)))
            .hash(&mut hasher);
    }
    hasher.finish()
}

impl Triage {
    /// Whether no decision can be saved, because the store cannot be written.
    pub fn has_no_store(&self) -> bool {
        self.writer.is_none() && self.problem.is_some()
    }

    /// The tags of all findings.
    pub fn tags_in_use(&self) -> BTreeSet<&Shared> {
        let assessments = self.assessments.iter();
        assessments
            .flat_map(|assessment| &assessment.tags)
            .collect()
    }

    /// Whether a decision on the finding is not on disk yet.
    pub fn is_saving(&self, key: FindingKey) -> bool {
        self.unsaved.iter().any(|keys| keys.contains(&key))
    }

    /// The digest of these scans, cached because every message needs it.
    pub(crate) fn digest_of(&mut self, scans: &Arc<Table<Scan>>, read: &ReadTimes) -> u64 {
        match &mut self.digest {
            Some((of, at, digest)) if Arc::ptr_eq(&of.0, scans) && at == read => {
                // The times of these scans are compared by their address from now on.
                at.clone_from(read);
                *digest
            }
            _ => {
                self.digest
                    .insert((Same(Arc::clone(scans)), read.clone(), digest(scans, read)))
                    .2
            }
        }
    }
}

/// Messages of the decision store.
#[derive(Clone, Debug)]
pub enum TriageNews {
    /// The store is open, with its content.
    Opened(Box<StoredDecisions>),
    /// Another dashboard or command recorded these.
    Events(Vec<Arc<Event>>),
    /// The oldest unsaved batch is on disk.
    Saved,
    /// Writing fails and is retried; later decisions wait.
    Retrying(Arc<Problem>),
    /// Writing works again.
    Recovered,
    /// Writing failed. No decisions are possible from now on.
    Failed(Arc<Problem>),
}

/// The content of the decision store when it was opened.
#[derive(Clone, Debug, Default)]
pub struct StoredDecisions {
    pub state: TriageState,
    pub writer: Option<EventWriter>,
    pub settings: BTreeMap<(Shared, Shared), String>,
    pub seen: imbl::HashSet<FindingKey>,
    pub problem: Option<Arc<Problem>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::contract::Stamp;

    /// With many scans, a comparison of all times would cost each message more than the message
    /// itself.
    #[test]
    fn equal_times_of_scans_are_compared_once() {
        let (mut triage, scans) = (Triage::default(), Arc::new(Table::default()));
        let at = Stamp::parse("2026-11-21 12:00:00").unwrap();
        let read = || ReadTimes {
            scans: Arc::new([(ScanId(1), at)].into()),
            ..ReadTimes::default()
        };
        let (first, second) = (read(), read());
        triage.digest_of(&scans, &first);
        // Any number that no digest computed again would be.
        triage.digest.as_mut().unwrap().2 = 7;
        assert_eq!(
            triage.digest_of(&scans, &second),
            7,
            "the digest is not computed again"
        );
        let (_, held, _) = triage.digest.unwrap();
        assert!(
            Arc::ptr_eq(&held.scans, &second.scans),
            "the next comparison is one of addresses"
        );
    }
}
