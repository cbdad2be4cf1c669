//! What an alert is about.

use crate::finding::named_enum;
use crate::query::QueryKind;

named_enum! {
    /// The kind of an event. The names are those of `on` in a rule, and of `event` in the JSON.
    AlertKind {
        /// A finding that no earlier scan found.
        Finding "finding",
        /// A finding that was fixed or absent, and was found again.
        Regression "regression",
        /// A scan that ended before it was complete.
        ScanFailed "scan_failed",
        /// A scan that the target blocked.
        ScanBlocked "scan_blocked",
        /// A scan that ended otherwise.
        ScanEnded "scan_ended",
        /// A decision of another person.
        Decision "decision",
        /// A decision that expires soon, or has expired.
        Acceptance "acceptance",
        /// An open port that is closed now.
        ServiceGone "service_gone",
    }
}

impl AlertKind {
    /// The list whose fields its query has.
    pub fn list(self) -> QueryKind {
        match self {
            Self::ScanFailed | Self::ScanBlocked | Self::ScanEnded => QueryKind::Scans,
            Self::Finding
            | Self::Regression
            | Self::Decision
            | Self::Acceptance
            | Self::ServiceGone => QueryKind::Findings,
        }
    }

    /// Whether the event is bad news.
    pub fn is_alarm(self) -> bool {
        match self {
            Self::Finding | Self::Regression | Self::ScanFailed | Self::ScanBlocked => true,
            Self::ScanEnded | Self::Decision | Self::Acceptance | Self::ServiceGone => false,
        }
    }
}
