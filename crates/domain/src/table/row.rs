//! Fields of rows for queries, from the row itself and from other lists.

use std::sync::Arc;

use crate::finding::FindingKey;
use crate::oob::{Hits, Payload, Token};
use crate::query::{ColumnBuilder, Field, Flag, QueryKind, RowSet, RowSource};
use scandeck_wire::contract::{Capture, Risk, Scan, ScanId, Shared, TargetId, Tool};
use scandeck_wire::text::search_form;

/// A row that queries can test.
pub trait Row {
    /// Kind of the list.
    const KIND: QueryKind;

    /// Appends the searchable texts, each followed by a line break so that a word never matches
    /// across two of them.
    fn search_text(&self, to: &mut String);

    /// Writes the values of a field.
    fn write_field(&self, field: Field, others: &dyn OtherLists, to: &mut ColumnBuilder);
}

/// What becomes a shared row: the row itself, a shared one, or the wire type that it is made of.
pub trait IntoRow<T> {
    /// The row; a shared one remains the same allocation.
    fn into_row(self) -> Arc<T>;
}

impl<T> IntoRow<T> for T {
    fn into_row(self) -> Arc<T> {
        Arc::new(self)
    }
}

impl<T> IntoRow<T> for Arc<T> {
    fn into_row(self) -> Arc<T> {
        self
    }
}

/// Data from other lists. Missing data is omitted.
pub trait OtherLists {
    fn target_name(&self, _: TargetId) -> Option<&Shared> {
        None
    }
    /// Name of the workspace that a target belongs to.
    fn workspace_name(&self, _: TargetId) -> Option<&Shared> {
        None
    }
    fn scan(&self, _: ScanId) -> Option<&Scan> {
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
    /// The payload of a token.
    fn payload(&self, _: Token) -> Option<&Payload> {
        None
    }
    /// Hits of a payload.
    fn hits(&self, _: Token) -> Option<&Hits> {
        None
    }
    /// True once hits are loaded, so that a payload without hits has none.
    fn are_hits_known(&self) -> bool {
        true
    }
    /// True if `:wait` watches the payload.
    fn is_awaited(&self, _: Token) -> bool {
        false
    }
    /// Names of the targets that a request came from or names.
    fn targets_of(&self, _: &Capture) -> Vec<Shared> {
        Vec::new()
    }
    /// True if the sender is one of the analyst's addresses.
    fn is_own(&self, _: &Capture) -> bool {
        false
    }
    /// The service's clock minus this machine's, in seconds.
    fn clock_offset(&self) -> Option<i64> {
        None
    }
    /// Notes on a finding.
    fn notes(&self, _: FindingKey) -> Vec<&Shared> {
        Vec::new()
    }
}

/// No data from other lists.
#[derive(Clone, Copy, Debug)]
pub struct NoOtherLists;

impl OtherLists for NoOtherLists {}

/// Rows in memory as a query source, for headless commands.
pub struct Rows<'a, R> {
    pub rows: &'a [R],
    /// Data from other lists.
    pub others: &'a dyn OtherLists,
    /// Seconds since 1970.
    pub now: i64,
}

impl<R: Row> RowSource for Rows<'_, R> {
    fn kind(&self) -> QueryKind {
        R::KIND
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn write_field(&self, row: usize, field: Field, to: &mut ColumnBuilder) {
        self.rows[row].write_field(field, self.others, to);
    }

    fn with_text(&self, text: &str) -> RowSet {
        let mut scratch = String::new();
        RowSet::of(self.rows.len(), |row| {
            scratch.clear();
            self.rows[row].search_text(&mut scratch);
            search_form(&scratch).contains(text)
        })
    }

    fn now(&self) -> i64 {
        self.now
    }
}

/// Appends texts, each followed by a line break.
pub fn put(to: &mut String, texts: &[&str]) {
    for text in texts {
        to.push_str(text);
        to.push('\n');
    }
}

/// Writes the flags that hold.
pub fn flags(to: &mut ColumnBuilder, flags: &[(Flag, bool)]) {
    let bits = flags
        .iter()
        .filter(|(_, holds)| *holds)
        .fold(0, |bits, (flag, _)| bits | flag.bit());
    to.flags(bits);
}

/// Writes the id and names of a tool, and the one that an imported file names.
pub fn tool(to: &mut ColumnBuilder, id: i64, named: Option<&str>) {
    to.text(&id.to_string());
    let tool = Tool(id);
    [tool.name(), tool.short_name(), named]
        .into_iter()
        .flatten()
        .for_each(|name| to.text(name));
}

/// Writes the highest risk whose count is not zero.
pub fn worst(to: &mut ColumnBuilder, counts: impl Iterator<Item = bool>) {
    if let Some((risk, _)) = Risk::DOWN.into_iter().zip(counts).find(|(_, any)| *any) {
        to.whole(risk.level());
    }
}

/// Writes the name of a target, and for a URL also what lists show: the name without scheme and
/// trailing slash.
pub fn target_name(to: &mut ColumnBuilder, name: Option<&Shared>) {
    let Some(name) = name else { return };
    to.shared(name);
    let is_http =
        |scheme: &str| scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
    if let Some((_, shown)) = name.split_once("://").filter(|(scheme, _)| is_http(scheme)) {
        to.text(shown.trim_end_matches('/'));
    }
}

/// Writes an optional text.
pub fn shared(to: &mut ColumnBuilder, text: Option<&Shared>) {
    text.into_iter().for_each(|text| to.shared(text));
}
