//! One thing a person did, as it is kept and exchanged: append-only, one a line.
//!
//! An event names its subject by identity, knows the events it came after (those it replaces), and belongs to a batch:
//! what one key press did, undone as one. Undo and redo are events too.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::contract::{FindingId, Risk, ScanId, Shared, Stamp};
use crate::finding::{FindingKey, Reason, Verdict};

/// Names an event everywhere: the instance that made it, and its number there. Printed `5f…-12`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId {
    /// Drawn at random when a dashboard or command starts.
    pub instance: u64,
    /// Counted from 1.
    pub number: u64,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{}", self.instance, self.number)
    }
}

impl FromStr for EventId {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('-').and_then(|(instance, number)| {
            Some(Self { instance: u64::from_str_radix(instance, 16).ok()?, number: number.parse().ok()? })
        });
        parts.ok_or_else(|| format!("{text:?} is no event id"))
    }
}

impl Serialize for EventId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EventId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// What a finding is, apart from its id of today (`triage.md`, Identity).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Identity {
    /// What its decisions are kept under: F2 when it was first met.
    pub key: FindingKey,
    /// F1: asset, class and service.
    pub f1: FindingKey,
    /// F2: F1 and the locators of the evidence.
    pub f2: FindingKey,
    /// Version of the formula.
    pub version: u32,
    /// Canonical name of the target.
    pub asset: Shared,
    /// Kind of finding.
    pub class: Shared,
    /// `tcp/443`, or `-`.
    pub service: Shared,
    /// How the finding was called, for people.
    pub name: Shared,
    /// What tells it from its siblings: the locators that F2 adds.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub place: Shared,
    /// Its number among findings of one scan that nothing tells apart, from 1; 0 otherwise. Nothing inherits from such.
    #[serde(skip_serializing_if = "is_zero")]
    pub ordinal: u32,
}

fn is_zero(ordinal: &u32) -> bool {
    *ordinal == 0
}

/// What a decision was made in view of: a later occurrence is compared with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sighting {
    pub finding: FindingId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scan: Option<ScanId>,
    /// When that scan started, by the service's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<Stamp>,
    pub risk: Risk,
    /// In CISA's catalogue of exploited vulnerabilities.
    pub exploited: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epss: Option<f64>,
}

/// A verdict with what belongs to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Decision {
    pub verdict: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Last day it holds; after it the finding is open again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Date>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<FindingKey>,
    /// What was on the screen; a rule has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<Sighting>,
}

/// What an event is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// One finding.
    Finding(Identity),
    /// A rule, named by the event that made it.
    Rule(EventId),
    /// A finding of a person's own, named by the event that made it.
    #[serde(rename = "own")]
    Manual(EventId),
    /// A batch: undo and redo.
    Batch(EventId),
    /// The workspace the event was made in.
    Workspace,
}

/// A finding that a person proved, beside those of the scanner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ManualFinding {
    pub name: Shared,
    pub risk: Risk,
    /// Name of the target.
    pub target: Shared,
    pub class: Shared,
    pub text: Shared,
    pub evidence: Shared,
    pub port: i64,
    /// Ids of captured requests that prove it, with the JSON of each.
    pub captures: Vec<Shared>,
}

/// What changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// A verdict, on a finding or one of one's own.
    Decide(Decision),
    /// A note is appended.
    Note(Shared),
    /// Tags are added and removed.
    Tag {
        /// Added.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        add: Vec<Shared>,
        /// Removed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        remove: Vec<Shared>,
    },
    /// A severity of one's own; none goes back to the scanner's.
    Severity(Option<Risk>),
    /// This finding is the one whose decisions stand under another key: an offered inheritance was taken.
    Inherit(FindingKey),
    /// A rule is made or changed: what the query finds is decided, unless a person decided it.
    Rule {
        /// In the query language.
        query: Shared,
        /// What it says.
        decision: Decision,
    },
    /// A rule, or a finding of one's own, is switched off or on.
    Off(bool),
    /// A finding of one's own is made or changed.
    #[serde(rename = "own")]
    Manual(Box<ManualFinding>),
    /// What presence is computed against, in this workspace.
    Baseline(Option<Baseline>),
    /// The events of a batch count no more.
    Undo,
    /// They count again.
    Redo,
}

/// A pinned point of comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Baseline {
    /// The last scans that ended before the end of this day.
    Day(Date),
    /// These scans.
    Scans(Vec<ScanId>),
}

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Its name.
    pub id: EventId,
    /// One more than the greatest its maker knew: orders events without trusting clocks. Ties go by id.
    pub clock: u64,
    /// When, by the maker's clock.
    pub at: Stamp,
    /// Who.
    pub who: Shared,
    /// Name of the workspace it was made in.
    #[serde(default)]
    pub workspace: Shared,
    /// The first event of its batch.
    pub batch: EventId,
    /// The events about the same that it replaces: those its maker knew to hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<EventId>,
    /// About what.
    pub subject: Subject,
    /// What changes.
    pub change: Change,
}

/// Writes events: knows who, and numbers them.
#[derive(Clone, Debug, Default)]
pub struct EventWriter {
    /// Who writes.
    pub who: Shared,
    /// See [`EventId`].
    pub instance: u64,
    /// Number of the last event.
    pub number: u64,
    /// The workspace worked in.
    pub workspace: Shared,
}

impl EventWriter {
    /// The id that the next event gets: that of a batch that begins with it.
    pub fn next(&self) -> EventId {
        EventId { instance: self.instance, number: self.number + 1 }
    }

    /// Writes an event of a batch.
    pub fn write(
        &mut self,
        (at, clock): (Stamp, u64),
        batch: EventId,
        after: Vec<EventId>,
        subject: Subject,
        change: Change,
    ) -> Event {
        let id = self.next();
        self.number = id.number;
        let (who, workspace) = (self.who.clone(), self.workspace.clone());
        Event { id, clock, at, who, workspace, batch, after, subject, change }
    }
}
