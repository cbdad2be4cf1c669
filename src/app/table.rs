//! A list of the service made ready for the screen: items, positions by id, lower-case search text, sort orders, and
//! what belongs to each target.
//!
//! Built off the UI thread, by the poller, when new data comes; shared by reference afterwards. A table never
//! changes: newer data is a newer table.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use memchr::memmem;

use super::sorts::{self, Sort};
use super::stream::Words;
use crate::contract::{
    Capture, CaptureId, Finding, FindingId, Logger, LoggerId, Report, ReportId, Risk, Scan, ScanId, Target, TargetId,
    Tool, Wordlist, WordlistId, Workspace, WorkspaceId,
};
use crate::triage::{Case, CaseId};

/// Something that lists show: it has an id and a text that `/` searches.
pub trait Item: 'static {
    /// Its id.
    type Id: Copy + Eq + Ord + Hash + std::fmt::Debug + std::fmt::Display;
    /// Its id.
    fn id(&self) -> Self::Id;
    /// Appends everything a person may search by, any case.
    fn search_text(&self, to: &mut String);
    /// The target it belongs to.
    fn target(&self) -> Option<TargetId> {
        None
    }
    /// Its risk, where it has one.
    fn risk(&self) -> Option<Risk> {
        None
    }
    /// The orders a list of these can have; the first is the one it starts with.
    fn sorts() -> &'static [Sort<Self>]
    where
        Self: Sized;
}

/// What of a table belongs to one target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfTarget {
    /// Positions, ascending.
    pub positions: Vec<u32>,
    /// How many by risk, from critical down to info.
    pub risks: [u32; 5],
}

/// Items with their search text and positions.
#[derive(Clone, Debug)]
pub struct Table<T: Item> {
    items: Vec<Arc<T>>,
    /// The search texts one behind the other, lower case; `ends[i]` is where that of item i ends.
    text: String,
    ends: Vec<u32>,
    at: HashMap<T::Id, u32>,
    orders: Vec<Vec<u32>>,
    targets: HashMap<TargetId, OfTarget>,
}

impl<T: Item> Table<T> {
    /// Makes the table; the order of the items is kept, a second item of the same id is dropped. Items that come
    /// shared stay shared.
    pub fn new<I: Into<Arc<T>>>(items: impl IntoIterator<Item = I>) -> Self {
        let mut table = Self {
            items: Vec::new(),
            text: String::new(),
            ends: Vec::new(),
            at: HashMap::new(),
            orders: Vec::new(),
            targets: HashMap::new(),
        };
        let mut scratch = String::new();
        for item in items {
            let item = item.into();
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
        table.orders = T::sorts().iter().map(|sort| table.sorted(sort.compare)).collect();
        table.group();
        table
    }

    fn sorted(&self, compare: fn(&T, &T) -> Ordering) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.items.len() as u32).collect();
        order.sort_by(|&a, &b| compare(&self.items[a as usize], &self.items[b as usize]));
        order
    }

    fn group(&mut self) {
        for (position, item) in self.items.iter().enumerate() {
            let Some(target) = item.target() else { continue };
            let group = self.targets.entry(target).or_default();
            group.positions.push(position as u32);
            if let Some(risk) = item.risk() {
                group.risks[4 - risk as usize] += 1;
            }
        }
    }

    /// Positions in one of the orders of [`Item::sorts`]; the first one for a number beyond.
    pub fn order(&self, sort: usize) -> &[u32] {
        self.orders.get(sort).or(self.orders.first()).map(Vec::as_slice).unwrap_or_default()
    }

    /// What belongs to a target.
    pub fn of_target(&self, target: TargetId) -> Option<&OfTarget> {
        self.targets.get(&target)
    }

    /// Which items have every word in their search text, or belong to a target that `target_has` it. One flag an item.
    pub fn matches(&self, words: &Words, target_has: impl Fn(&str) -> Vec<TargetId>) -> Vec<bool> {
        let mut all = vec![true; self.items.len()];
        for word in words.iter() {
            let mut hits = vec![false; self.items.len()];
            self.mark_matches(word, &mut hits);
            for group in target_has(word).iter().filter_map(|target| self.targets.get(target)) {
                for &position in &group.positions {
                    hits[position as usize] = true;
                }
            }
            for (all, hit) in all.iter_mut().zip(hits) {
                *all &= hit;
            }
        }
        all
    }

    /// One pass over the text of all items; after a hit it goes on behind the item that was hit.
    fn mark_matches(&self, word: &str, hits: &mut [bool]) {
        let finder = memmem::Finder::new(word.as_bytes());
        let text = self.text.as_bytes();
        let (mut from, mut item) = (0, 0);
        while let Some(at) = finder.find(&text[from..]) {
            let at = from + at;
            while (self.ends[item] as usize) <= at {
                item += 1;
            }
            hits[item] = true;
            from = self.ends[item] as usize;
            item += 1;
            if item == hits.len() {
                break;
            }
        }
    }

    /// All items, in the order given.
    pub fn items(&self) -> &[Arc<T>] {
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
    pub fn get(&self, id: T::Id) -> Option<&Arc<T>> {
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
        Self::new(Vec::<T>::new())
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
    fn sorts() -> &'static [Sort<Self>] {
        sorts::WORKSPACES
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
    fn sorts() -> &'static [Sort<Self>] {
        sorts::TARGETS
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
    fn target(&self) -> Option<TargetId> {
        Some(self.target_id)
    }
    fn sorts() -> &'static [Sort<Self>] {
        sorts::SCANS
    }
}

/// What one scan told: shown as part of a [`Case`], so no list searches or sorts it.
impl Item for Finding {
    type Id = FindingId;
    fn id(&self) -> FindingId {
        self.id
    }
    fn search_text(&self, _: &mut String) {}
    fn target(&self) -> Option<TargetId> {
        self.target_id
    }
    fn sorts() -> &'static [Sort<Self>] {
        &[]
    }
}

impl Item for Case {
    type Id = CaseId;
    fn id(&self) -> CaseId {
        self.id
    }
    fn search_text(&self, to: &mut String) {
        put(to, &[&self.name, self.risk_level.as_str(), &self.vuln_id, &self.cwe, &self.service, &self.status]);
        for cve in &self.cve {
            put(to, &[cve]);
        }
        put(to, &[&self.port.to_string()]);
    }
    fn target(&self) -> Option<TargetId> {
        self.target_id
    }
    fn risk(&self) -> Option<Risk> {
        Some(self.risk_level)
    }
    fn sorts() -> &'static [Sort<Self>] {
        sorts::FINDINGS
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
    fn sorts() -> &'static [Sort<Self>] {
        sorts::REPORTS
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
    fn sorts() -> &'static [Sort<Self>] {
        sorts::WORDLISTS
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
    fn sorts() -> &'static [Sort<Self>] {
        sorts::LOGGERS
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
    fn sorts() -> &'static [Sort<Self>] {
        sorts::CAPTURES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(id: i64, name: &str, target: i64, risk: Risk) -> Case {
        let finding =
            Finding { name: name.into(), target_id: Some(TargetId(target)), risk_level: risk, ..Finding::default() };
        Case { id: CaseId(id), finding: Arc::new(finding), ..Case::default() }
    }

    #[test]
    fn every_word_must_occur_in_the_text_or_in_the_name_of_the_target() {
        let table = Table::new([
            finding(1, "Git repository", 1, Risk::High),
            finding(2, "Directory listing", 2, Risk::Medium),
            finding(3, "Git ignored", 2, Risk::Info),
        ]);
        let shop = |word: &str| if "shop.test".contains(word) { vec![TargetId(2)] } else { vec![] };
        let hits = |filter: &str| table.matches(&Words::new(filter), shop);
        assert_eq!(hits(""), [true, true, true]);
        assert_eq!(hits("GIT"), [true, false, true]);
        assert_eq!(hits("git shop"), [false, false, true]);
        assert_eq!(hits("repositorydirectory"), [false, false, false]);
    }

    #[test]
    fn a_table_knows_its_orders_and_the_risks_of_each_target() {
        let table = Table::new([
            finding(1, "b", 1, Risk::Low),
            finding(2, "a", 1, Risk::Critical),
            finding(2, "dropped: the id is taken", 1, Risk::Critical),
        ]);
        assert_eq!((table.len(), table.order(0)), (2, &[1, 0][..]));
        assert_eq!(table.of_target(TargetId(1)).unwrap().risks, [1, 0, 0, 1, 0]);
    }

    proptest::proptest! {
        #[test]
        fn one_pass_over_all_texts_finds_what_looking_at_each_finds(
            names in proptest::collection::vec("[ab ]{0,6}", 0..30),
            word in "[ab]{1,3}",
        ) {
            let items = names.iter().enumerate().map(|(id, name)| finding(id as i64, name, 1, Risk::Low));
            let table = Table::new(items);
            let each: Vec<bool> = (0..names.len()).map(|at| table.search_text(at).contains(&word)).collect();
            proptest::prop_assert_eq!(table.matches(&Words::new(&word), |_| vec![]), each);
        }
    }
}
