//! Decisions about a finding in a report. All values are texts, because a report never changes
//! afterwards.

use serde::{Deserialize, Serialize};

use scandeck_wire::contract::Risk;

/// The decisions about a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportDecision {
    /// The verdict as text.
    pub verdict: String,
    /// How the verdict counts in the headline.
    pub standing: Standing,
    /// Why the verdict is no longer valid; empty if it is.
    pub again: String,
    /// Reason code.
    pub reason: String,
    /// The last day of the verdict.
    pub until: String,
    pub who: String,
    /// Whether a rule of this person decided.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_rule: bool,
    pub at: String,
    /// The severity override.
    pub severity: Option<Risk>,
    /// The presence compared to the previous scan.
    pub now: String,
    /// The scan that proved its absence, such as `scan #6 of 2026-11-23 13:40:10`; empty if it is
    /// not absent.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub absent_in: String,
    /// The scans that did not find it, latest first:
    /// `scan #6 of 2026-11-23 13:40:10 to scan #9 of 2026-11-26 13:40:10`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absences: Vec<String>,
    /// Lines about why it is new, changed, absent, reappeared or not retested, if the options
    /// include them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<String>,
    /// Lines about how it is connected to others, if it is confirmed and the options include
    /// them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<String>,
    /// The result of the last retest.
    pub retest: Option<ReportRetest>,
    /// A manual finding, which the service does not know.
    pub own: bool,
    pub tags: Vec<String>,
    /// Notes, oldest first.
    pub notes: Vec<Remark>,
    pub fingerprint: String,
}

/// How a finding with decisions counts in the headline of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    Confirmed,
    /// Undecided, or the decision is no longer valid.
    #[default]
    Open,
    /// Confirmed or open, but the latest scan did not find it.
    Absent,
    Fixed,
    /// False positive, not applicable, risk accepted or duplicate.
    Dismissed,
}

/// A note.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Remark {
    pub text: String,
    pub who: String,
    pub at: String,
}

/// The result of a retest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportRetest {
    /// The verdict before, one word.
    pub before: String,
    /// The result of the scan, as text.
    pub now: String,
    /// When the retest was requested.
    pub at: String,
}
