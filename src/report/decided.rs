//! What was decided about a finding, as a report shows it. Reports are kept as they were made, so these are texts.

use serde::{Deserialize, Serialize};

use crate::contract::Risk;

/// What was decided about a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportDecision {
    /// The verdict, for people.
    pub verdict: String,
    /// Why it holds no more; empty where it does.
    pub again: String,
    /// Reason code.
    pub reason: String,
    /// Last day it holds.
    pub until: String,
    /// By whom.
    pub who: String,
    /// When.
    pub at: String,
    /// A severity of one's own, beside the scanner's.
    pub severity: Option<Risk>,
    /// Against the scan before: new, same, changed, gone, back, not retested.
    pub now: String,
    /// What its last retest came to.
    pub retest: Option<ReportRetest>,
    /// A person proved it; the service does not know it.
    pub own: bool,
    /// Tags.
    pub tags: Vec<String>,
    /// Notes, oldest first.
    pub notes: Vec<Remark>,
    /// What decisions are kept under.
    pub fingerprint: String,
}

/// A note.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Remark {
    pub text: String,
    pub who: String,
    pub at: String,
}

/// What a retest came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportRetest {
    /// What was said before: one word.
    pub before: String,
    /// What the scan saw that looked for it again, for people.
    pub now: String,
    /// When it was asked for.
    pub at: String,
}
