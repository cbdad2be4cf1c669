//! One row of the findings: an identity, the latest occurrence that is shown for it, and what is said about it.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use jiff::civil::Date;

use super::event::{EventId, Identity, Sighting};
use crate::contract::{Finding, FindingId, Risk, Shared, Stamp};
use crate::finding::{FindingKey, Presence, Reason, Verdict};

/// Names a row for as long as its identity does: the low 62 bits of its key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaseId(pub i64);

impl From<FindingKey> for CaseId {
    fn from(key: FindingKey) -> Self {
        Self((key.0 as u64 >> 2) as i64)
    }
}

impl From<i64> for CaseId {
    fn from(id: i64) -> Self {
        Self(id)
    }
}

impl From<CaseId> for i64 {
    fn from(id: CaseId) -> Self {
        id.0
    }
}

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// An earlier (or the latest) time a scan saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct Occurrence {
    /// The finding as that scan told it.
    pub finding: Arc<Finding>,
    /// When that scan started; unknown scans have none.
    pub at: Option<Stamp>,
}

/// One identity: a row. It reads like its latest occurrence. There may be 100,000: what few of them have is boxed.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// Names the row.
    pub id: CaseId,
    /// What it is.
    pub identity: Arc<Identity>,
    /// The latest occurrence.
    pub finding: Arc<Finding>,
    /// All occurrences, the latest first; empty stands for the latest alone.
    pub earlier: Box<[Occurrence]>,
    /// Against the scan before, or the baseline.
    pub presence: Presence,
    /// When a scan that saw it started for the first time.
    pub first_seen: Option<Stamp>,
    /// When the latest one that saw it started.
    pub last_seen: Option<Stamp>,
    /// Decisions stand under this key of the same asset and class, where the port has moved: offered, not inherited.
    pub offered: Option<Box<FindingKey>>,
    /// A person's own finding, by the event that made it.
    pub own: Option<Box<EventId>>,
}

impl Deref for Case {
    type Target = Finding;
    fn deref(&self) -> &Finding {
        &self.finding
    }
}

impl Case {
    /// What its decisions are kept under.
    pub fn key(&self) -> FindingKey {
        self.identity.key
    }

    /// Kind of finding, equal for all that one class decides.
    pub fn class(&self) -> &Shared {
        &self.identity.class
    }

    /// What a scan showed of it, for a decision to remember.
    pub fn sighting(&self) -> Sighting {
        Sighting {
            finding: self.finding.id,
            scan: self.finding.task_id,
            started: self.last_seen,
            risk: self.finding.risk_level,
            exploited: self.finding.in_cisa_catalog,
            epss: self.finding.epss_score,
        }
    }

    /// Server ids of all its occurrences, the latest first.
    pub fn finding_ids(&self) -> impl Iterator<Item = FindingId> {
        let latest = self.finding.id;
        std::iter::once(latest).chain(self.earlier.iter().map(|one| one.finding.id).filter(move |&id| id != latest))
    }
}

/// Where a verdict comes from, the strongest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VerdictSource {
    /// A person decided this finding.
    Person,
    /// A rule that a person made.
    Rule(EventId),
    /// The service's own status.
    Service,
    /// Nobody said anything.
    #[default]
    Nobody,
}

/// Why a finding that was decided counts as undecided again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReopenCause {
    /// Fixed, and a later scan saw it.
    Regression,
    /// The day it held until has passed.
    Expired,
    /// Two persons decided differently without knowing of each other.
    Conflict,
}

/// What a row says about its decision.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assessment {
    /// The verdict that holds; of one that holds no more, the old one.
    pub verdict: Verdict,
    /// Whose it is.
    pub source: VerdictSource,
    /// Why it holds no more.
    pub reopened: Option<ReopenCause>,
    /// Risk, KEV or EPSS rose since.
    pub recheck: bool,
    /// Why it was decided so.
    pub reason: Option<Reason>,
    /// Last day it holds.
    pub until: Option<Date>,
    /// When it was decided.
    pub at: Option<Stamp>,
    /// By whom.
    pub who: Option<Shared>,
    /// A severity of one's own.
    pub severity: Option<Risk>,
    /// Tags, sorted.
    pub tags: Vec<Shared>,
    /// How many notes there are.
    pub notes: u32,
    /// What it duplicates.
    pub duplicate_of: Option<FindingKey>,
    /// The service says otherwise: its words.
    pub service: Option<Shared>,
}

impl Assessment {
    /// Open, in review, expired, reopened or in conflict.
    pub fn is_undecided(&self) -> bool {
        self.reopened.is_some() || !self.verdict.settles()
    }
}
