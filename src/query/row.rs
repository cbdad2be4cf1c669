//! What a list must tell to be queried.

use super::column::{Builder, Column};
use super::{Bits, Field, Kind};
use crate::contract::{Capture, LoggerId, ScanId, Shared, TargetId};
use crate::oob::{Hits, Payload, Token};
use crate::triage::Key;

/// Something in a list.
pub trait Row {
    /// Which list.
    const KIND: Kind;

    /// Appends the texts that bare words search, any case, each followed by a line break so that a word never matches
    /// across two of them.
    fn search_text(&self, to: &mut String);

    /// Puts in what the row has of a field.
    fn tell(&self, field: Field, others: &dyn Others, to: &mut Builder);
}

/// What rows of one list say about those of others. What is not known is left out.
pub trait Others {
    /// Name of a target.
    fn target_name(&self, _: TargetId) -> Option<&Shared> {
        None
    }
    /// Name of the workspace that a target belongs to.
    fn workspace_name(&self, _: TargetId) -> Option<&Shared> {
        None
    }
    /// Id of the tool of a scan.
    fn tool(&self, _: ScanId) -> Option<i64> {
        None
    }
    /// Findings of a target by risk, from critical down.
    fn risks(&self, _: TargetId) -> Option<[u32; 5]> {
        None
    }
    /// Scans of a target: how many, and how many of them are active.
    fn scans(&self, _: TargetId) -> Option<(usize, usize)> {
        None
    }
    /// Label of a logger.
    fn logger_label(&self, _: LoggerId) -> Option<&Shared> {
        None
    }
    /// The payload of a token.
    fn payload(&self, _: Token) -> Option<&Payload> {
        None
    }
    /// What a payload brought in.
    fn hits(&self, _: Token) -> Option<&Hits> {
        None
    }
    /// Whether a payload that is told to have brought in nothing did not.
    fn are_hits_known(&self) -> bool {
        true
    }
    /// Whether a payload is waited for.
    fn is_awaited(&self, _: Token) -> bool {
        false
    }
    /// Names of the targets that a request came from or names.
    fn targets_of(&self, _: &Capture) -> Vec<Shared> {
        Vec::new()
    }
    /// Whether a request came from an address of the analyst's own.
    fn is_own(&self, _: &Capture) -> bool {
        false
    }
    /// The service's clock minus this machine's, in seconds.
    fn clock_offset(&self) -> Option<i64> {
        None
    }
    /// Notes on a finding.
    fn notes(&self, _: Key) -> Vec<&Shared> {
        Vec::new()
    }
}

/// Nothing is known of others.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Others for Alone {}

impl Field {
    /// It does not follow from a row alone: what was decided, or other lists, tell it.
    pub fn needs_others(self, kind: Kind) -> bool {
        match kind {
            Kind::Findings => {
                self.is_of_decision() || matches!(self, Self::Target | Self::Workspace | Self::Tool | Self::Note)
            }
            Kind::Scans => matches!(self, Self::Target | Self::Workspace),
            Kind::Targets => matches!(self, Self::Workspace | Self::Risk | Self::Is),
            Kind::Captures => {
                matches!(self, Self::Is | Self::Logger | Self::Planted | Self::Technique | Self::Delay | Self::Target)
            }
            Kind::Payloads => matches!(self, Self::Hits | Self::Delay | Self::Seen | Self::Is),
            _ => false,
        }
    }

    /// It follows from what persons decided.
    pub fn is_of_decision(self) -> bool {
        matches!(
            self,
            Self::Severity
                | Self::Verdict
                | Self::Reason
                | Self::By
                | Self::Source
                | Self::Decided
                | Self::Until
                | Self::Tag
                | Self::Note
                | Self::Duplicate
                | Self::Changed
                | Self::Decision
        )
    }
}

/// A list that can be queried.
pub trait Source {
    /// Which.
    fn kind(&self) -> Kind;
    /// How many rows.
    fn len(&self) -> usize;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The values of a field, where the list has them ready.
    fn ready(&self, _: Field) -> Option<&Column> {
        None
    }
    /// Puts in what a row has of a field.
    fn tell(&self, row: usize, field: Field, to: &mut Builder);
    /// Which rows have a text, given in lower case, among those that bare words search.
    fn with_text(&self, text: &str) -> Bits;
    /// Seconds since 1970 that ages are counted from.
    fn now(&self) -> i64;
}

/// Makes the column of a field by asking each row.
pub fn column_of(field: Field, source: &dyn Source) -> Builder {
    let mut builder = Builder::new(field, source.len());
    for row in 0..source.len() {
        source.tell(row, field, &mut builder);
        builder.end_row();
    }
    builder
}

/// Rows in memory as a list: what commands without a screen query.
pub struct Rows<'a, R> {
    /// The rows.
    pub rows: &'a [R],
    /// What others tell.
    pub others: &'a dyn Others,
    /// Seconds since 1970.
    pub now: i64,
}

impl<R: Row> Source for Rows<'_, R> {
    fn kind(&self) -> Kind {
        R::KIND
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn tell(&self, row: usize, field: Field, to: &mut Builder) {
        self.rows[row].tell(field, self.others, to);
    }

    fn with_text(&self, text: &str) -> Bits {
        let mut scratch = String::new();
        Bits::of(self.rows.len(), |row| {
            scratch.clear();
            self.rows[row].search_text(&mut scratch);
            scratch.to_lowercase().contains(text)
        })
    }

    fn now(&self) -> i64 {
        self.now
    }
}
