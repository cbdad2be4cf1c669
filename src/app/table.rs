//! A list of the service made ready for the screen: items, positions by id, and lower-case search text.
//!
//! Built off the UI thread, by the poller, when new data comes; shared by reference afterwards. A table never
//! changes: newer data is a newer table.

use std::collections::HashMap;
use std::hash::Hash;

use crate::contract::{
    Capture, CaptureId, Finding, FindingId, Logger, LoggerId, Report, ReportId, Scan, ScanId, Target, TargetId, Tool,
    Wordlist, WordlistId, Workspace, WorkspaceId,
};

/// Something that lists show: it has an id and a text that `/` searches.
pub trait Item {
    /// Its id.
    type Id: Copy + Eq + Ord + Hash + std::fmt::Debug + std::fmt::Display;
    /// Its id.
    fn id(&self) -> Self::Id;
    /// Appends everything a person may search by, any case.
    fn search_text(&self, to: &mut String);
}

/// Items with their search text and positions.
#[derive(Clone, Debug)]
pub struct Table<T: Item> {
    items: Vec<T>,
    /// The search texts one behind the other, lower case; `ends[i]` is where that of item i ends.
    text: String,
    ends: Vec<u32>,
    at: HashMap<T::Id, u32>,
}

impl<T: Item> Table<T> {
    /// Makes the table; the order of the items is kept, a second item of the same id is dropped.
    pub fn new(items: impl IntoIterator<Item = T>) -> Self {
        let mut table = Self { items: Vec::new(), text: String::new(), ends: Vec::new(), at: HashMap::new() };
        let mut scratch = String::new();
        for item in items {
            let position = table.items.len() as u32;
            if *table.at.entry(item.id()).or_insert(position) != position {
                continue;
            }
            scratch.clear();
            item.search_text(&mut scratch);
            table.text.push_str(&scratch.to_lowercase());
            table.ends.push(table.text.len() as u32);
            table.items.push(item);
        }
        table
    }

    /// All items, in the order given.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The item with this id.
    pub fn get(&self, id: T::Id) -> Option<&T> {
        self.at.get(&id).map(|&position| &self.items[position as usize])
    }

    /// The position of this id.
    pub fn position(&self, id: T::Id) -> Option<usize> {
        self.at.get(&id).map(|&position| position as usize)
    }

    /// Lower-case search text of the item at a position.
    pub fn search_text(&self, position: usize) -> &str {
        let start = if position == 0 { 0 } else { self.ends[position - 1] as usize };
        &self.text[start..self.ends[position] as usize]
    }
}

impl<T: Item> Default for Table<T> {
    fn default() -> Self {
        Self::new([])
    }
}

/// Appends words, each followed by a line break so that a search word never matches across two fields.
fn put(to: &mut String, words: &[&str]) {
    for word in words {
        to.push_str(word);
        to.push('\n');
    }
}

impl Item for Workspace {
    type Id = WorkspaceId;
    fn id(&self) -> WorkspaceId {
        self.id
    }
    fn search_text(&self, to: &mut String) {
        put(to, &[&self.name, &self.description]);
    }
}

impl Item for Target {
    type Id = TargetId;
    fn id(&self) -> TargetId {
        self.id
    }
    fn search_text(&self, to: &mut String) {
        put(to, &[&self.name, self.kind.as_str(), &self.description]);
    }
}

impl Item for Scan {
    type Id = ScanId;
    fn id(&self) -> ScanId {
        self.id
    }
    fn search_text(&self, to: &mut String) {
        let tool = Tool(self.tool_id);
        put(to, &[tool.name().unwrap_or_default(), &tool.to_string(), self.status_name.as_str(), &self.status_message]);
    }
}

impl Item for Finding {
    type Id = FindingId;
    fn id(&self) -> FindingId {
        self.id
    }
    fn search_text(&self, to: &mut String) {
        put(to, &[&self.name, self.risk_level.as_str(), &self.vuln_id, &self.cwe, &self.service, &self.status]);
        for cve in &self.cve {
            put(to, &[cve]);
        }
        put(to, &[&self.port.to_string()]);
    }
}

impl Item for Report {
    type Id = ReportId;
    fn id(&self) -> ReportId {
        self.id
    }
    fn search_text(&self, to: &mut String) {
        put(to, &[&self.download_name, self.status.as_str(), self.format.as_str()]);
    }
}

impl Item for Wordlist {
    type Id = WordlistId;
    fn id(&self) -> WordlistId {
        self.id
    }
    fn search_text(&self, to: &mut String) {
        put(to, &[&self.name, &self.description]);
    }
}

impl Item for Logger {
    type Id = LoggerId;
    fn id(&self) -> LoggerId {
        self.id
    }
    fn search_text(&self, to: &mut String) {
        put(to, &[&self.label, &self.handler_url]);
    }
}

impl Item for Capture {
    type Id = CaptureId;
    fn id(&self) -> CaptureId {
        self.id
    }
    fn search_text(&self, to: &mut String) {
        put(to, &[&self.request_method, &self.ip_address, &self.url_params, &self.user_agent]);
        put(to, &[self.path.as_deref().unwrap_or_default()]);
    }
}
