//! The chain of the entries of a case.
//!
//! ```text
//!   {"digest":"9f…","entry":{"number":2,"previous":"41…","at":…,"author":…,"kind":…,"text":…,"data":…}}
//!                            └────────────── the digest is of these bytes ──────────────────────────┘
//! ```

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{CaseEvent, digest};
use crate::finding::named_enum;
use scandeck_wire::contract::{Shared, Stamp};

named_enum! {
    /// What an entry of a case records.
    CaseEntryKind {
        Case "case",
        Scan "scan",
        Finding "finding",
        Decision "decision",
        Proof "proof",
        Payload "payload",
        Capture "capture",
        Report "report",
        Page "page",
    }
}

impl Serialize for CaseEntryKind {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for CaseEntryKind {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        Self::from_name(&name).map_err(serde::de::Error::custom)
    }
}

/// An entry of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseEntry {
    /// From 1.
    pub number: u64,
    /// Digest of the entry before; empty for the first one.
    pub previous: String,
    #[serde(deserialize_with = "Stamp::maybe", serialize_with = "Stamp::as_text")]
    pub at: Option<Stamp>,
    /// Who did it; the service for what it recorded.
    pub author: Shared,
    pub kind: CaseEntryKind,
    /// One line for people.
    pub text: String,
    /// The recorded object.
    pub data: Value,
}

/// A line of the timeline. The bytes of the entry are kept as they were written.
#[derive(Serialize, Deserialize)]
pub(super) struct SealedLine {
    pub digest: String,
    pub entry: Box<RawValue>,
}

impl SealedLine {
    /// The line as a case has it, without its end.
    pub fn written(digest: &str, entry: &str) -> String {
        format!("{{\"digest\":\"{digest}\",\"entry\":{entry}}}")
    }
}

#[derive(Default)]
pub(super) struct CaseChain {
    entries: Vec<CaseEntry>,
    lines: String,
    last: String,
}

impl CaseChain {
    pub fn add(&mut self, event: CaseEvent) {
        let entry = CaseEntry {
            number: self.entries.len() as u64 + 1,
            previous: self.last.clone(),
            at: event.at,
            author: event.author,
            kind: event.kind,
            text: event.text,
            data: event.data,
        };
        let text = serde_json::to_string(&entry).unwrap_or_default();
        self.last = digest(text.as_bytes());
        self.lines += &SealedLine::written(&self.last, &text);
        self.lines.push('\n');
        self.entries.push(entry);
    }

    pub fn entries(&self) -> &[CaseEntry] {
        &self.entries
    }

    /// The file, a line for each entry.
    pub fn lines(&self) -> &str {
        &self.lines
    }

    /// Digest of the last entry.
    pub fn last(&self) -> &str {
        &self.last
    }
}
