//! Why a finding has its presence: the closed list of reasons.
//!
//! ```text
//!   scans of a target and tool, baseline, incomplete tests ─► PresenceReason ─► Presence
//! ```

use super::{Presence, RetestGap};

/// Why a finding has its presence. Each reason belongs to one presence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PresenceReason {
    /// New: no earlier scan can be compared.
    FirstScan,
    /// New: the scan before did not find it, and no scan before that.
    NotFoundBefore,
    /// New: the scan of the baseline did not find it.
    NotInBaseline,
    /// New: no scan had ended on the day of the baseline.
    NoScanInBaseline,
    /// Unchanged: risk, proof, CVEs and stable words of the evidence are equal.
    SameEvidence,
    /// Unchanged: the scan did not finish, so its evidence is not compared.
    IncompleteEvidence,
    /// Unchanged: no scan after the baseline found it, and none proved its absence.
    InBaseline,
    /// Unchanged: another tool found it before.
    FoundByOtherTool,
    /// Unchanged: its scan is not listed.
    #[default]
    UnknownScan,
    /// Unchanged: a person created it, and no scan tests for it.
    Manual,
    /// Changed: risk, proof, CVEs or evidence differ.
    OtherEvidence,
    /// Reappeared: an earlier scan found it, the scan before did not.
    FoundAgain,
    /// Absent: a later scan covered its test and did not find it.
    NotFoundAgain,
    /// Not retested: a later scan would not have found it.
    NotRetested(RetestGap),
}

impl PresenceReason {
    /// The reasons without those of a retest gap.
    const OTHERS: [Self; 13] = [
        Self::FirstScan,
        Self::NotFoundBefore,
        Self::NotInBaseline,
        Self::NoScanInBaseline,
        Self::SameEvidence,
        Self::IncompleteEvidence,
        Self::InBaseline,
        Self::FoundByOtherTool,
        Self::UnknownScan,
        Self::Manual,
        Self::OtherEvidence,
        Self::FoundAgain,
        Self::NotFoundAgain,
    ];

    /// All reasons.
    pub fn all() -> impl Iterator<Item = Self> {
        let gaps = RetestGap::ALL.into_iter().map(Self::NotRetested);
        Self::OTHERS.into_iter().chain(gaps)
    }

    pub fn presence(self) -> Presence {
        match self {
            Self::FirstScan
            | Self::NotFoundBefore
            | Self::NotInBaseline
            | Self::NoScanInBaseline => Presence::New,
            Self::SameEvidence
            | Self::IncompleteEvidence
            | Self::InBaseline
            | Self::FoundByOtherTool
            | Self::UnknownScan
            | Self::Manual => Presence::Unchanged,
            Self::OtherEvidence => Presence::Changed,
            Self::FoundAgain => Presence::Reappeared,
            Self::NotFoundAgain => Presence::Absent,
            Self::NotRetested(_) => Presence::NotRetested,
        }
    }

    /// Why a later scan would not have found it.
    pub fn gap(self) -> Option<RetestGap> {
        match self {
            Self::NotRetested(gap) => Some(gap),
            _ => None,
        }
    }

    /// The stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FirstScan => "first_scan",
            Self::NotFoundBefore => "not_found_before",
            Self::NotInBaseline => "not_in_baseline",
            Self::NoScanInBaseline => "no_scan_in_baseline",
            Self::SameEvidence => "same_evidence",
            Self::IncompleteEvidence => "incomplete_evidence",
            Self::InBaseline => "in_baseline",
            Self::FoundByOtherTool => "found_by_other_tool",
            Self::UnknownScan => "unknown_scan",
            Self::Manual => "manual",
            Self::OtherEvidence => "other_evidence",
            Self::FoundAgain => "found_again",
            Self::NotFoundAgain => "not_found_again",
            Self::NotRetested(gap) => gap.as_str(),
        }
    }

    /// The reason as a clause.
    pub fn reason(self) -> &'static str {
        match self {
            Self::FirstScan => "no earlier scan of this target and tool had these parameters",
            Self::NotFoundBefore => "the scan before did not find it",
            Self::NotInBaseline => "the scan of the baseline did not find it",
            Self::NoScanInBaseline => "no scan had ended on the day of the baseline",
            Self::SameEvidence => "the evidence differs at most in dates, ids and numbers",
            Self::IncompleteEvidence => "the scan did not finish, so its evidence is not compared",
            Self::InBaseline => "no scan after the baseline says otherwise",
            Self::FoundByOtherTool => "another tool found it before",
            Self::UnknownScan => "its scan is not listed, so nothing is compared",
            Self::Manual => "a person created it, and no scan tests for it",
            Self::OtherEvidence => "risk, proof, CVEs or evidence differ",
            Self::FoundAgain => "an earlier scan found it, the scan before did not",
            Self::NotFoundAgain => "a later scan ran its test and did not find it",
            Self::NotRetested(gap) => gap.reason(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn reasons_have_distinct_names_and_cover_every_presence() {
        let names: BTreeSet<&str> = PresenceReason::all().map(PresenceReason::as_str).collect();
        assert_eq!(names.len(), PresenceReason::all().count());
        let presences: BTreeSet<Presence> = PresenceReason::all()
            .map(PresenceReason::presence)
            .collect();
        assert_eq!(presences.len(), Presence::ALL.len());
        assert_eq!(
            PresenceReason::default().presence(),
            Presence::default(),
            "a blank issue has a reason"
        );
    }

    #[test]
    fn reason_needs_no_more_room_than_a_gap() {
        assert_eq!(size_of::<PresenceReason>(), size_of::<Option<RetestGap>>());
    }
}
