//! A list of the service made ready for the screen: items, positions by id, lower-case search text, sort orders, and
//! what belongs to each target.
//!
//! Built off the UI thread, by the poller, when new data comes; shared by reference afterwards. A table never
//! changes: newer data is a newer table.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, OnceLock};

use super::sorts::{self, Sort};
use crate::contract::{
    Capture, CaptureId, Finding, FindingId, Logger, LoggerId, Report, ReportId, Risk, Scan, ScanId, Target, TargetId,
    Wordlist, WordlistId, Workspace, WorkspaceId,
};
use crate::oob::{Payload, Token};
use crate::query::field::FIELDS;
use crate::query::{Alone, Bits, Builder, Column, Field, Row, Texts};
use crate::triage::{Case, CaseId};

/// Something that lists show: it has an id, and tells what queries ask.
pub trait Item: Row + Send + Sync + 'static {
    /// Its id.
    type Id: Copy + Eq + Ord + Hash + std::fmt::Debug + std::fmt::Display + Send + Sync;
    /// Its id.
    fn id(&self) -> Self::Id;
    /// The target it belongs to.
    fn target(&self) -> Option<TargetId> {
        None
    }
    /// Its risk, where it has one.
    fn risk(&self) -> Option<Risk> {
        None
    }
    /// Whether bare words search it.
    const SEARCHED: bool = true;
    /// Fields whose columns are made with the table: those that people ask for most.
    const READY: &'static [Field] = &[];
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
    /// The different search texts, lower case, and the number of that of each item.
    texts: Texts,
    text_of: Vec<u32>,
    at: HashMap<T::Id, u32>,
    orders: Vec<Vec<u32>>,
    targets: HashMap<TargetId, OfTarget>,
    /// How many by risk, from critical down to info.
    risks: [u32; 5],
    /// Columns by number of their field, made when they are first asked for.
    columns: Vec<OnceLock<Column>>,
}

impl<T: Item> Table<T> {
    /// Makes the table; the order of the items is kept, a second item of the same id is dropped. Items that come
    /// shared stay shared.
    pub fn new<I: Into<Arc<T>>>(items: impl IntoIterator<Item = I>) -> Self {
        let mut table = Self {
            items: Vec::new(),
            texts: Texts::default(),
            text_of: Vec::new(),
            at: HashMap::new(),
            orders: Vec::new(),
            targets: HashMap::new(),
            risks: [0; 5],
            columns: (0..FIELDS.len()).map(|_| OnceLock::new()).collect(),
        };
        let (mut scratch, mut known) = (String::new(), HashMap::new());
        for item in items {
            let item = item.into();
            let position = table.items.len() as u32;
            if *table.at.entry(item.id()).or_insert(position) != position {
                continue;
            }
            if T::SEARCHED {
                scratch.clear();
                item.search_text(&mut scratch);
                let text = known.entry(scratch.to_lowercase()).or_insert_with_key(|text| table.texts.push(text));
                table.text_of.push(*text);
            }
            table.items.push(item);
        }
        // They grew by doubling.
        table.texts.shrink_to_fit();
        table.text_of.shrink_to_fit();
        table.items.shrink_to_fit();
        T::sorts().iter().for_each(|sort| table.sort(sort.compare));
        table.group();
        T::READY.iter().for_each(|&field| _ = table.column(field));
        table
    }

    /// The values of a field for queries; nothing where they do not follow from the items alone.
    pub fn column(&self, field: Field) -> Option<&Column> {
        if field.needs_others(T::KIND) {
            return None;
        }
        let make = || {
            let mut builder = Builder::new(field, self.items.len());
            for item in &self.items {
                item.tell(field, &Alone, &mut builder);
                builder.end_row();
            }
            builder.finish()
        };
        self.columns.get(field as usize).map(|column| column.get_or_init(make))
    }

    /// Adds an order. Items that are equal in it stand as they do in the first one.
    fn sort(&mut self, compare: fn(&T, &T) -> Ordering) {
        let mut order = self.orders.first().cloned().unwrap_or_else(|| (0..self.items.len() as u32).collect());
        order.sort_by(|&a, &b| compare(&self.items[a as usize], &self.items[b as usize]));
        self.orders.push(order);
    }

    fn group(&mut self) {
        for (position, item) in self.items.iter().enumerate() {
            let level = item.risk().map(|risk| 4 - risk as usize);
            level.into_iter().for_each(|level| self.risks[level] += 1);
            let Some(target) = item.target() else { continue };
            let group = self.targets.entry(target).or_default();
            group.positions.push(position as u32);
            level.into_iter().for_each(|level| group.risks[level] += 1);
        }
    }

    /// Positions in one of the orders of [`Item::sorts`]; the first one for a number beyond.
    pub fn order(&self, sort: usize) -> &[u32] {
        self.orders.get(sort).or(self.orders.first()).map(Vec::as_slice).unwrap_or_default()
    }

    /// How many there are by risk, from critical down to info.
    pub fn risks(&self) -> [u32; 5] {
        self.risks
    }

    /// What belongs to a target.
    pub fn of_target(&self, target: TargetId) -> Option<&OfTarget> {
        self.targets.get(&target)
    }

    /// Which items have a lower-case text among their search texts, or belong to one of these targets.
    pub fn with_text(&self, text: &str, targets: &[TargetId]) -> Bits {
        let having = self.texts.having(text);
        let mut hits = Bits::of(self.len(), |row| self.text_of.get(row).is_some_and(|&text| having.has(text as usize)));
        for group in targets.iter().filter_map(|target| self.targets.get(target)) {
            group.positions.iter().for_each(|&position| hits.set(position as usize));
        }
        hits
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
}

impl<T: Item> Default for Table<T> {
    fn default() -> Self {
        Self::new(Vec::<T>::new())
    }
}

impl Item for Workspace {
    type Id = WorkspaceId;
    fn id(&self) -> WorkspaceId {
        self.id
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
    fn sorts() -> &'static [Sort<Self>] {
        sorts::TARGETS
    }
}

impl Item for Scan {
    type Id = ScanId;
    fn id(&self) -> ScanId {
        self.id
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
    const SEARCHED: bool = false;
    fn id(&self) -> FindingId {
        self.id
    }
    fn target(&self) -> Option<TargetId> {
        self.target_id
    }
    fn sorts() -> &'static [Sort<Self>] {
        &[]
    }
}

impl Item for Case {
    type Id = CaseId;
    const READY: &'static [Field] = &[
        Field::Is,
        Field::Risk,
        Field::Name,
        Field::Class,
        Field::Asset,
        Field::Cve,
        Field::Cwe,
        Field::Port,
        Field::Service,
        Field::Presence,
        Field::Scanner,
        Field::First,
        Field::Seen,
    ];
    fn id(&self) -> CaseId {
        self.id
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
    fn sorts() -> &'static [Sort<Self>] {
        sorts::REPORTS
    }
}

impl Item for Wordlist {
    type Id = WordlistId;
    fn id(&self) -> WordlistId {
        self.id
    }
    fn sorts() -> &'static [Sort<Self>] {
        sorts::WORDLISTS
    }
}

impl Item for Payload {
    type Id = Token;
    fn id(&self) -> Token {
        self.token
    }
    fn sorts() -> &'static [Sort<Self>] {
        sorts::PAYLOADS
    }
}

impl Item for Logger {
    type Id = LoggerId;
    fn id(&self) -> LoggerId {
        self.id
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
    fn a_word_must_occur_in_the_text_of_an_item_or_in_the_name_of_its_target() {
        let table = Table::new([
            finding(1, "Git repository", 1, Risk::High),
            finding(2, "Directory listing", 2, Risk::Medium),
            finding(3, "Git ignored", 2, Risk::Info),
        ]);
        let hits = |text: &str, targets: &[TargetId]| table.with_text(text, targets).rows().collect::<Vec<_>>();
        assert_eq!(hits("git", &[]), [0, 2]);
        assert_eq!(hits("git", &[TargetId(2)]), [0, 1, 2]);
        assert_eq!(hits("repositorydirectory", &[]), [0; 0]);
    }

    #[test]
    fn columns_are_those_that_follow_from_the_items_alone() {
        let table = Table::new([finding(1, "b", 1, Risk::Low), finding(2, "b", 1, Risk::High)]);
        let counts: Vec<_> = table.column(Field::Name).unwrap().counts();
        assert_eq!(counts, [("b", 2)]);
        assert!(table.column(Field::Verdict).is_none());
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
        assert_eq!(table.risks(), [1, 0, 0, 1, 0]);
    }
}
