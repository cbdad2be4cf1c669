//! What drawing remembers from one frame to the next. Nothing here is knowledge: thrown away, it is made anew.

use crate::contract::Finding;
use crate::dashboard::base::{CaughtId, GroupId, Measures, Pane, RowRef, Tab, TextMode};
use crate::dashboard::data::{Data, Stream};
use crate::dashboard::list::{List, StreamList};
use crate::dashboard::model::ReviewFacts as GroupFacts;
use crate::dashboard::ui::facts::PaneFacts;
use crate::dashboard::ui::theme::Theme;
use crate::dashboard::ui::widgets::table::window;
use crate::table::{Item, Table};
use crate::triage::Case;
use ratatui::text::Line;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The memory of the view, with the theme it draws in.
#[derive(Debug, Default)]
pub struct ViewCache {
    /// Colours and glyphs.
    pub theme: Theme,
    pub(crate) facts: Arc<PaneFacts>,
    pub(crate) anchors: Anchors,
    pub(crate) text: Option<WrappedText>,
    /// Searched words with the lines they are in, for the text above.
    pub(crate) matches: Option<(String, Vec<u32>)>,
    pub(crate) pieces: Counted,
    pub(crate) head: HeadFacts,
    pub(crate) measures: Measures,
}

impl ViewCache {
    /// An empty memory.
    pub fn new(theme: Theme) -> Self {
        Self { theme, ..Self::default() }
    }

    /// What the last frame measured, to be put into the model.
    pub fn measures(&self) -> Measures {
        self.measures
    }

    /// The derived numbers for this data, counted anew when its tables are others than before.
    pub(crate) fn facts_of(&mut self, data: &Data) -> Arc<PaneFacts> {
        if !self.facts.is_of(data) {
            self.facts = Arc::new(PaneFacts::count(data));
        }
        Arc::clone(&self.facts)
    }
}

/// First visible row of each list.
#[derive(Debug, Default)]
pub(crate) struct Anchors {
    lists: BTreeMap<Pane, Anchor>,
    pub captures: StreamAnchor,
}

impl Anchors {
    /// That of a list of a table.
    pub fn of(&mut self, pane: Pane) -> &mut Anchor {
        self.lists.entry(pane).or_default()
    }
}

/// The first visible row by its id, so that rows which come or go above it do not move what is read. In another view
/// of the list (filter, order, groups) nothing is held: the cursor is in the middle, or the list at its top.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Anchor {
    id: Option<RowRef>,
    row: usize,
    view: u64,
}

impl Anchor {
    /// The first row to draw of `height` rows; `view` is a number for what the list shows and how.
    pub fn resolve<T: Item>(&mut self, view: u64, list: &List<T>, table: &Table<T>, height: usize) -> usize {
        let row_at = |at: usize| list.row_at(table, at).map(|row| row.map(Into::into));
        let held = match self.id {
            _ if std::mem::replace(&mut self.view, view) != view => list.at.saturating_sub(height / 2),
            Some(row) if row_at(self.row) != Some(row) => list.place(table, row.map(Into::into)).unwrap_or(self.row),
            _ => self.row,
        };
        self.row = window(held, list.at, list.len(), height);
        self.id = row_at(self.row);
        self.row
    }
}

/// The first visible capture of the stream; of a head its newest. It is an anchor of its own because the rows of a stream
/// move with each request that comes: the place is always found by the capture, near which another one stands when it left.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StreamAnchor(Option<CaughtId>);

impl StreamAnchor {
    /// The place of the first row to draw of `height` rows.
    pub fn resolve(&mut self, list: &StreamList, stream: &Stream, height: usize) -> usize {
        let held = self.0.map_or(0, |id| list.place_near(stream, id));
        let first = window(held, list.at, list.len(), height);
        // As long as not everything was asked, it may still come.
        if list.pending() == 0 {
            self.0 = list.id_at(stream, first);
        }
        first
    }
}

/// What a text is made of: the same key gives the same lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextKey {
    pub pane: Pane,
    pub tab: Tab,
    pub id: RowRef,
    pub shown: TextMode,
    pub width: u16,
    /// Addresses of the shared values it is made from; [`WrappedText::_held`] keeps them from being used again.
    pub made_from: Vec<usize>,
    /// What it depends on beside them, as a number.
    pub version: u64,
}

/// How many pieces of evidence the finding has whose detail was drawn last.
#[derive(Debug, Default)]
pub(crate) struct Counted(Option<(Arc<Finding>, usize)>);

impl Counted {
    /// The number, counted once a finding.
    pub fn of(&mut self, finding: &Arc<Finding>, count: impl FnOnce() -> usize) -> usize {
        match &self.0 {
            Some((of, number)) if Arc::ptr_eq(of, finding) => *number,
            _ => self.0.insert((Arc::clone(finding), count())).1,
        }
    }
}

/// What the members of the group have in common whose head was drawn last.
#[derive(Debug, Default)]
pub(crate) struct HeadFacts(Option<(HeadKey, Arc<GroupFacts>)>);

/// What they are made of: the head, the table, the rows that the filter leaves, and how many events there are.
#[derive(Debug)]
struct HeadKey(GroupId, Arc<Table<Case>>, Arc<Vec<u32>>, usize);

impl HeadFacts {
    /// The same as in the frame before, where nothing they are made of is another.
    pub fn of(
        &mut self,
        (id, table, rows, events): (GroupId, &Arc<Table<Case>>, &Arc<Vec<u32>>, usize),
        make: impl FnOnce() -> GroupFacts,
    ) -> Arc<GroupFacts> {
        match &self.0 {
            Some((key, facts))
                if (key.0, key.3) == (id, events) && Arc::ptr_eq(&key.1, table) && Arc::ptr_eq(&key.2, rows) =>
            {
                Arc::clone(facts)
            }
            _ => {
                let key = HeadKey(id, Arc::clone(table), Arc::clone(rows), events);
                Arc::clone(&self.0.insert((key, Arc::new(make()))).1)
            }
        }
    }
}

/// The lines of the detail that was drawn last.
#[derive(Debug)]
pub(crate) struct WrappedText {
    pub key: TextKey,
    pub _held: Vec<Arc<dyn Any + Send + Sync>>,
    pub lines: Arc<Vec<Line<'static>>>,
    /// Columns of the widest line.
    pub widest: u16,
}
