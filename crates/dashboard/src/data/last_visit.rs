//! Changes in the workspace since this person last viewed it.

use scandeck_wire::contract::Stamp;
use std::time::Duration;

/// The setting that stores the time of the last view.
pub(crate) const VISITED_AT: &str = scandeck_domain::triage::settings::VISITED_AT;

/// Decisions that expire within this many days are counted.
pub(crate) const SOON: i64 = 7;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastVisit {
    /// The store is open, so the time of the last view is known.
    pub(crate) opened: bool,
    /// The last view. None the first time, and after the line was dismissed.
    pub last: Option<Stamp>,
    /// When this visit began, on the monotonic clock.
    pub(crate) begun: Duration,
    /// The service has reported the lists in this visit: later changes are changes of this visit.
    pub(crate) is_counted: bool,
    pub changes: VisitChanges,
    /// The query of the new findings, until the user has shown them with the key of the line.
    pub found: Option<String>,
}

/// Counts of changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VisitChanges {
    /// Findings first seen since then, by risk, from critical down.
    pub risks: [u32; 5],
    /// Finished scans.
    pub done: usize,
    /// Scans that ended with a failure.
    pub failed: usize,
    /// Decisions that expire within a week.
    pub expiring: usize,
    /// Captures in memory.
    pub captures: usize,
    /// Payloads in these captures.
    pub payloads: usize,
}

impl LastVisit {
    pub fn is_shown(&self) -> bool {
        self.last.is_some() && self.changes != VisitChanges::default()
    }
}
