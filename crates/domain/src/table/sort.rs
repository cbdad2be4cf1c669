//! Sort orders of lists.
//!
//! Orders are defined with the rows. Orders that need other data (urgency, risks of a target, hits
//! of a payload) are refined by the dashboard.

pub use scandeck_wire::text::natural;
use std::cmp::Ordering;

/// One order of a list.
pub struct SortOrder<T: 'static> {
    /// Name in the pane title.
    pub name: &'static str,
    pub compare: fn(&T, &T) -> Ordering,
}

/// Order of scans by urgency, which depends on more than the scan.
pub const BY_NEED: &str = "urgency";
/// Order of targets by their worst findings.
pub const BY_RISK: &str = "risk";
/// Order of payloads by their hits.
pub const BY_HITS: &str = "hits";
