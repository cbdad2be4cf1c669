//! One act of a person, as it is stored and exchanged: append-only, one per line.
//!
//! An event names its subject by identity, knows the events it came after (those it replaces), and
//! belongs to a batch: what one key press did, undone as one. Undo and redo are events too.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::finding::{FindingKey, Reason, Verdict};
use crate::proof::FindingProof;
use scandeck_wire::contract::{FindingId, Risk, ScanId, Shared, Stamp, serde_as_text};

/// Names an event everywhere: the instance that made it, and its number there. Printed `5f…-12`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId {
    /// Drawn at random when a dashboard or command starts.
    pub instance: u64,
    /// Line number from 1.
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
            Some(Self {
                instance: u64::from_str_radix(instance, 16).ok()?,
                number: number.parse().ok()?,
            })
        });
        parts.ok_or_else(|| format!("invalid event id {text:?}"))
    }
}

serde_as_text!(EventId);

/// Identity of a finding, independent of service ids.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Identity {
    /// Key of its decisions: F2 when it was first seen.
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
    /// Name of the finding.
    pub name: Shared,
    /// Locators that F2 adds, which distinguish it from siblings.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub place: Shared,
    /// Number among identical findings of one scan, from 1; otherwise 0. Nothing inherits from
    /// numbered findings.
    #[serde(skip_serializing_if = "is_zero")]
    pub ordinal: u32,
}

fn is_zero(ordinal: &u32) -> bool {
    *ordinal == 0
}

/// The occurrence on which a decision is based, for comparison with later ones.
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
    /// In CISA's catalog of known exploited vulnerabilities (KEV).
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
    /// Last day of validity; then the finding is open again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Date>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<FindingKey>,
    /// Occurrence shown when deciding; `None` for rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<Sighting>,
}

/// Subject of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    Finding(Identity),
    /// A rule, by its creating event.
    Rule(EventId),
    /// A manual finding, by its creating event.
    #[serde(rename = "own")]
    Manual(EventId),
    /// A batch: undo and redo.
    Batch(EventId),
    /// The workspace of the event.
    Workspace,
}

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
    // Events of earlier versions have none of these, and empty ones are not written.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub recommendation: Shared,
    /// Such as `CWE-918`.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub cwe: Shared,
    /// CVSS base score, from 0 to 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cvss: Option<f64>,
    /// URLs for further reading.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Shared>,
}

/// A link that a person adds to chains. The ends are names of objects, as
/// [`ChainObject`](crate::chain::ChainObject) reads them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ManualLink {
    pub from: Shared,
    pub to: Shared,
    pub reason: Shared,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// A verdict.
    Decide(Decision),
    /// A note is appended.
    Note(Shared),
    /// The request of the evidence was sent again.
    Proof(Box<FindingProof>),
    /// Tags are added and removed.
    Tag {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        add: Vec<Shared>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        remove: Vec<Shared>,
    },
    /// Severity override; `None` restores the severity of the scanner.
    Severity(Option<Risk>),
    /// Who works on the finding: the name of a member of the team; `None` for nobody.
    Assign(Option<Shared>),
    /// Due date of the decision or fix.
    Due(Option<Date>),
    /// Reuses the decisions of another key.
    Inherit(FindingKey),
    /// A rule is created or changed: it decides matching findings that nobody decided.
    Rule {
        /// In the query language.
        query: Shared,
        decision: Decision,
    },
    /// A rule or manual finding is disabled or enabled.
    Off(bool),
    /// A rule is deleted; its query at that time.
    DeleteRule(Shared),
    /// A manual finding is created or changed.
    #[serde(rename = "own")]
    Manual(Box<ManualFinding>),
    /// A link of two objects of this workspace.
    Link(Box<ManualLink>),
    /// Baseline of presence in this workspace.
    Baseline(Option<Baseline>),
    /// Undoes a batch.
    Undo,
    /// Redoes a batch.
    Redo,
}

/// A pinned baseline of comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Baseline {
    /// The last scans that ended before the end of this day.
    Day(Date),
    /// These scans.
    Scans(Vec<ScanId>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub id: EventId,
    /// One more than the greatest clock known to the author: orders events without trusting wall
    /// clocks. Ties are broken by id.
    pub clock: u64,
    /// Time by the author's clock.
    pub at: Stamp,
    /// Author.
    pub who: Shared,
    /// The member of the team who sent the event, if it is not the author: an imported decision, or
    /// a forged one. Only the service knows it, so it is no part of the line.
    #[serde(skip)]
    pub sent_by: Option<Shared>,
    /// Name of the workspace.
    #[serde(default)]
    pub workspace: Shared,
    /// First event of the batch.
    pub batch: EventId,
    /// Replaced events on the same subject: those effective for the author.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<EventId>,
    pub subject: Subject,
    pub change: Change,
}

/// Writes numbered events of one author.
#[derive(Clone, Debug, Default)]
pub struct EventWriter {
    /// Author.
    pub who: Shared,
    /// See [`EventId`].
    pub instance: u64,
    /// Number of the last event.
    pub number: u64,
    /// The workspace worked in.
    pub workspace: Shared,
}

impl EventWriter {
    /// Id of the next event, and of a batch that starts with it.
    pub fn next(&self) -> EventId {
        EventId {
            instance: self.instance,
            number: self.number + 1,
        }
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
        Event {
            id,
            clock,
            at,
            who,
            sent_by: None,
            workspace,
            batch,
            after,
            subject,
            change,
        }
    }
}
