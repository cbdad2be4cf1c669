//! One finding across scans (an issue) and its assessment.

use std::ops::Deref;
use std::sync::Arc;

use jiff::civil::Date;

use super::event::{EventId, Identity, Sighting};
use super::listed::ListedFinding;
use crate::finding::{
    FindingKey, Presence, PresenceReason, Reason, RetestGap, Verdict, named_enum,
};
use scandeck_wire::contract::verdict::ProposedVerdict;
use scandeck_wire::contract::{CompactStamp, FindingId, Risk, ScanId, Shared, Stamp, ids};

ids! {
    /// Stable id of an issue: the low 62 bits of its key.
    IssueId,
}

impl From<FindingKey> for IssueId {
    fn from(key: FindingKey) -> Self {
        Self((key.0 as u64 >> 2) as i64)
    }
}

/// A finding as reported by one scan.
#[derive(Clone, Debug, PartialEq)]
pub struct Occurrence {
    /// The finding in that scan.
    pub finding: Arc<ListedFinding>,
    /// Start of the scan, if known.
    pub at: Option<Stamp>,
}

/// A later scan of the same coverage that did not find an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbsenceProof {
    pub scan: ScanId,
    /// Start of the scan.
    pub at: CompactStamp,
    /// Start of the first such scan.
    pub since: CompactStamp,
}

/// A finding across scans. It dereferences to its latest occurrence. There may be 375,000 issues,
/// so rare data is boxed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Issue {
    /// Stable id.
    pub id: IssueId,
    pub identity: Identity,
    /// The latest occurrence.
    pub finding: Arc<ListedFinding>,
    /// All occurrences, latest first; empty if there is only the latest.
    pub earlier: Box<[Occurrence]>,
    /// Severity override when this issue was built.
    pub severity: Option<Risk>,
    /// Presence compared with the previous scan or the baseline.
    pub presence: Presence,
    /// Why it has this presence.
    pub reason: PresenceReason,
    /// Start of the first scan that found it.
    pub first_seen: CompactStamp,
    /// Start of the last scan that found it.
    pub last_seen: CompactStamp,
    /// Data that few issues have.
    pub rare: Option<Box<RareIssueData>>,
}

/// Data of an issue that is absent, manual or offered an earlier decision. Many issues of an old
/// workspace are absent, so the other data is boxed once more.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RareIssueData {
    /// The last scan that proved its absence, if it is absent.
    pub absent_in: Option<AbsenceProof>,
    /// Key of an earlier decision on the same asset and class, whose port has changed. It can be
    /// reused but is not inherited.
    pub earlier_decision: Option<Box<FindingKey>>,
    /// Creating event of a manual finding.
    pub manual: Option<Box<EventId>>,
}

impl RareIssueData {
    /// The data, or nothing if the issue has none.
    pub fn boxed(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }
}

impl Deref for Issue {
    type Target = ListedFinding;
    fn deref(&self) -> &ListedFinding {
        &self.finding
    }
}

impl Issue {
    /// Key of its decisions.
    pub fn key(&self) -> FindingKey {
        self.identity.key
    }

    /// Class of the finding.
    pub fn class(&self) -> &Shared {
        &self.identity.class
    }

    /// Why it was not retested, if it was not.
    pub fn retest_gap(&self) -> Option<RetestGap> {
        self.reason.gap()
    }

    /// The last scan that proved its absence, if it is absent.
    pub fn absent_in(&self) -> Option<AbsenceProof> {
        self.rare.as_ref()?.absent_in
    }

    /// Key of an earlier decision that can be reused.
    pub fn earlier_decision(&self) -> Option<FindingKey> {
        self.rare.as_ref()?.earlier_decision.as_deref().copied()
    }

    /// Creating event of a manual finding.
    pub fn manual(&self) -> Option<EventId> {
        self.rare.as_ref()?.manual.as_deref().copied()
    }

    /// The severity override, else the risk of the scanner: the risk by which findings are ordered,
    /// counted and queried.
    pub fn risk(&self) -> Risk {
        self.severity.unwrap_or(self.finding.risk_level)
    }

    /// The data that a decision records.
    pub fn sighting(&self) -> Sighting {
        Sighting {
            finding: self.finding.id,
            scan: self.finding.task_id(),
            started: self.last_seen.get(),
            risk: self.finding.risk_level,
            exploited: self.finding.in_cisa_catalog,
            epss: self.finding.epss_score(),
        }
    }

    /// True unless a later scan of the same coverage did not find it.
    pub fn is_present(&self) -> bool {
        self.presence != Presence::Absent
    }

    /// The presence in words, with the names of `name`. Scans do not retest a manual finding.
    pub fn presence_in(&self, name: impl Fn(Presence) -> &'static str) -> &'static str {
        if self.manual().is_some() {
            "manual"
        } else {
            name(self.presence)
        }
    }

    /// True if this scan found it, whether or not a later scan found it too.
    pub fn is_found_by(&self, scan: ScanId) -> bool {
        self.scans().any(|found_by| found_by == scan)
    }

    /// The scans that found it, latest first; a scan can be named twice.
    pub fn scans(&self) -> impl Iterator<Item = ScanId> {
        self.task_id()
            .into_iter()
            .chain(self.earlier.iter().filter_map(|one| one.finding.task_id()))
    }

    /// Service ids of all occurrences, latest first.
    pub fn finding_ids(&self) -> impl Iterator<Item = FindingId> {
        let latest = self.finding.id;
        std::iter::once(latest).chain(
            self.earlier
                .iter()
                .map(|one| one.finding.id)
                .filter(move |&id| id != latest),
        )
    }
}

/// Source of a verdict, highest precedence first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VerdictSource {
    /// A person decided this finding.
    Person,
    /// A rule that a person made.
    Rule(EventId),
    /// The status at the service.
    Service,
    /// No decision.
    #[default]
    Nobody,
}

impl VerdictSource {
    /// Its name in queries and exports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Rule(_) => "rule",
            Self::Service => "service",
            Self::Nobody => "nobody",
        }
    }
}

named_enum! {
    /// Reason why a decided finding is undecided again.
    ReopenCause {
        /// Fixed, but a later scan found it.
        Regression "regression",
        /// The decision has expired.
        Expired "expired",
        /// Concurrent decisions differ.
        Conflict "conflict",
    }
}

/// The assessments of a list, by position. A change of one shares the others with the list before,
/// which a view may be reading on another thread.
pub type Assessments = imbl::Vector<Arc<Assessment>>;

/// The effective decision about a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assessment {
    /// The verdict; the previous one if it no longer holds.
    pub verdict: Verdict,
    /// Source of the verdict.
    pub source: VerdictSource,
    /// Reason why the verdict no longer holds.
    pub reopened: Option<ReopenCause>,
    /// True if risk, KEV or EPSS rose since the decision.
    pub recheck: bool,
    /// Reason for the verdict.
    pub reason: Option<Reason>,
    /// Last day it holds.
    pub until: Option<Date>,
    /// Time of the decision.
    pub at: Option<Stamp>,
    /// Author of the decision.
    pub who: Option<Shared>,
    /// Severity override.
    pub severity: Option<Risk>,
    /// Who works on it.
    pub assignee: Option<Shared>,
    /// Due date of the decision or fix.
    pub due: Option<Date>,
    /// True if that day has passed and the finding still needs work.
    pub is_overdue: bool,
    /// Tags, sorted.
    pub tags: Vec<Shared>,
    /// Number of notes.
    pub notes: u32,
    /// Key of the original.
    pub duplicate_of: Option<FindingKey>,
    /// Status at the service, if it differs from the verdict.
    pub service: Option<Shared>,
}

impl Assessment {
    /// True if open, in review, expired, reopened or in conflict.
    pub fn is_undecided(&self) -> bool {
        self.reopened.is_some() || !self.verdict.settles()
    }

    /// True if the finding needs no more work. A confirmed finding still does.
    pub fn is_put_aside(&self) -> bool {
        !self.is_undecided() && self.verdict != Verdict::Confirmed
    }

    /// The verdict that the file of an imported finding proposes, as long as nobody decided it. The
    /// original of a duplicate is unknown, so that verdict cannot be accepted.
    pub fn proposal<'a>(&self, finding: &'a ListedFinding) -> Option<&'a ProposedVerdict> {
        let proposed = finding.proposed.as_deref()?;
        let is_open = self.source == VerdictSource::Nobody;
        (is_open && proposed.verdict != Verdict::Duplicate).then_some(proposed)
    }

    /// The state in one word: why the verdict no longer holds, else the verdict.
    pub fn state(&self) -> &'static str {
        self.reopened
            .map_or(self.verdict.as_str(), ReopenCause::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that the allocator needs for a value behind an `Arc` or `Box` on a 64-bit machine: 16
    /// B at a time, 8 B of them its own.
    fn allocated(size: usize) -> usize {
        (size + 8).next_multiple_of(16)
    }

    #[test]
    fn large_lists_hold_small_rows() {
        let counts = 16;
        assert!(
            allocated(size_of::<Issue>() + counts) <= 192,
            "{}",
            size_of::<Issue>()
        );
        assert!(
            allocated(size_of::<ListedFinding>() + counts) <= 112,
            "{}",
            size_of::<ListedFinding>()
        );
        assert!(
            allocated(size_of::<RareIssueData>()) <= 64,
            "{}",
            size_of::<RareIssueData>()
        );
    }
}
