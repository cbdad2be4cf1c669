//! The values that drawing keeps between frames: scroll anchors, and texts and counts that are
//! expensive to compute. All of them can be computed again from the model.

use crate::base::{
    CaptureKey, GroupId, JsonFold, Measures, OwnColours, Pane, Plot, PlotNumbers, RowRef,
    ScopedPlot, Tab, TextMode,
};
use crate::data::{Data, Stream};
use crate::list::{List, StreamList};
use crate::model::{ListScroll, Model, ReviewFacts};
use crate::ui::facts::{ScanListFacts, TargetListFacts};
use crate::ui::json_lines::JsonPlace;
use crate::ui::{PaneFacts, Scheme, TableColumn, Theme, window};
use jiff::civil::Date;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::text::Line;
use scandeck_domain::mask::Mask;
use scandeck_domain::table::{Item, Table};
use scandeck_domain::triage::{FindingFacts, Issue, ListedFinding};
use scandeck_wire::contract::{Scan, Shared, Target};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};

/// The cache of the view, with the theme in use.
#[derive(Debug, Default)]
pub struct ViewCache {
    pub theme: Theme,
    pub(crate) facts: Memo<TableIds, Arc<PaneFacts>>,
    pub(crate) scan_facts: Memo<Option<ById<Table<Scan>>>, Arc<ScanListFacts>>,
    pub(crate) target_facts: Memo<Option<ById<Table<Target>>>, Arc<TargetListFacts>>,
    /// The columns of the lists, by the rows and states that they were computed from.
    pub(crate) columns: BTreeMap<Pane, Memo<ColumnsKey, Vec<TableColumn>>>,
    /// The columns that were drawn last.
    pub(crate) earlier_columns: BTreeMap<Pane, DrawnColumns>,
    /// The first visible rows.
    pub(crate) anchors: BTreeMap<Pane, Anchor>,
    pub(crate) capture_anchor: StreamAnchor,
    pub(crate) text: Memo<TextKey, WrappedText>,
    /// The lines that contain the searched words.
    pub(crate) matches: Memo<SearchKey, Arc<Vec<u32>>>,
    /// The number of evidence rows of the finding in the detail.
    pub(crate) evidence_count: Memo<ById<ListedFinding>, usize>,
    /// The facts of the group whose header is selected: by table, filtered rows and number of
    /// events.
    pub(crate) group: Memo<GroupKey, Arc<ReviewFacts>>,
    /// The numbers of the open plot, and of the plot in the detail below it.
    pub(crate) plot: Memo<PlotKey, Arc<PlotNumbers>>,
    pub(crate) detail_plot: Memo<PlotKey, Arc<PlotNumbers>>,
    /// The detail that was drawn last, until it follows the selection.
    pub(crate) detail: LastDetail,
    pub(crate) measures: Measures,
    /// Whether the terminal shows links (OSC 8).
    pub links: bool,
    /// The links in the last frame.
    pub(crate) linked: Vec<Rect>,
    /// The place of the text of the detail in this frame, if it was drawn and has whole lines.
    pub(crate) text_area: Option<Rect>,
    /// Whether the detail of this frame lacks the searched text.
    pub(crate) is_search_missed: bool,
}

/// The columns of a list, and a hash of the view that they belong to.
#[derive(Debug)]
pub(crate) struct DrawnColumns {
    pub view: u64,
    pub columns: Vec<TableColumn>,
}

/// The tables to which [`PaneFacts`] belong.
type TableIds = (
    Option<ById<Table<Target>>>,
    Option<ById<Table<Scan>>>,
    Option<ById<Table<Issue>>>,
);

/// The table, the rows and other values, and a hash of the states without an address.
pub(crate) type ColumnsKey = (Vec<ById<dyn Any + Send + Sync>>, u64);

/// The searched words, and the lines in which they are searched.
type SearchKey = (String, ById<Vec<Line<'static>>>);

/// The group, the table, the filtered rows, the number of events and the revision of the read texts
/// from which group facts are computed.
type GroupKey = (GroupId, ById<Table<Issue>>, ById<Vec<u32>>, (usize, u64));

impl ViewCache {
    pub fn new(theme: Theme) -> Self {
        Self {
            theme,
            ..Self::default()
        }
    }

    /// Returns whether the theme was another one.
    pub fn set_theme(&mut self, theme: Theme) -> bool {
        let differs = self.theme.scheme != theme.scheme;
        self.theme = theme;
        if differs {
            self.detail = LastDetail::default();
        }
        differs
    }

    /// The text of the detail in the last frame, if it had one: clean, masked, and in lines as on
    /// the screen.
    pub fn shown_text(&self) -> Option<String> {
        let text = self
            .text
            .value()
            .filter(|_| self.measures.detail_lines > 0)?;
        Some(
            text.lines
                .iter()
                .map(|line| line.to_string() + "\n")
                .collect(),
        )
    }

    /// The measures of the last frame, for the model.
    pub fn measures(&self) -> Measures {
        self.measures.clone()
    }

    /// Draws the last detail again. Returns false if that was of another pane or area.
    pub(crate) fn draw_last_detail(&mut self, buf: &mut Buffer, pane: Pane, area: Rect) -> bool {
        let LastDetail {
            place,
            cells,
            measures,
        } = &self.detail;
        if *place != Some((pane, area)) {
            return false;
        }
        area.positions()
            .zip(cells)
            .for_each(|(position, cell)| buf[position] = cell.clone());
        self.measures.detail_top = measures.detail_top;
        self.measures.detail_rows = measures.detail_rows;
        self.measures.detail_lines = measures.detail_lines;
        self.measures.detail_cursor = measures.detail_cursor;
        self.measures.detail_overhang = measures.detail_overhang;
        self.measures.folds = Arc::clone(&measures.folds);
        true
    }

    /// The facts about these lists. Those about targets and scans are computed again when the list
    /// was replaced; `findings` were counted with the table of findings.
    pub(crate) fn facts_of(&mut self, data: &Data, findings: &Arc<FindingFacts>) -> Arc<PaneFacts> {
        fn facts<T, V: Default>(
            memo: &mut Memo<Option<ById<T>>, Arc<V>>,
            list: Option<&Arc<T>>,
            of: fn(&T) -> V,
        ) -> Arc<V> {
            memo.get(list.map(ById::new), || {
                list.map(|list| Arc::new(of(list))).unwrap_or_default()
            })
        }
        let (targets, scans, issues) = (
            data.targets.value(),
            data.scans.value(),
            data.findings.value(),
        );
        let tables = (
            targets.map(ById::new),
            scans.map(ById::new),
            issues.map(ById::new),
        );
        let collect = || {
            Arc::new(PaneFacts {
                findings: issues.map(|_| Arc::clone(findings)).unwrap_or_default(),
                targets: facts(&mut self.target_facts, targets, TargetListFacts::new),
                scans: facts(&mut self.scan_facts, scans, ScanListFacts::new),
                risks: issues
                    .map(|issues| issues.risks().map(i64::from))
                    .unwrap_or_default(),
            })
        };
        self.facts.get(tables, collect)
    }
}

/// A value that is computed again when its key changes.
#[derive(Debug)]
pub(crate) struct Memo<K, V>(Option<(K, V)>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(None)
    }
}

impl<K: PartialEq, V: Clone> Memo<K, V> {
    /// The value that was computed last.
    pub fn value(&self) -> Option<&V> {
        self.0.as_ref().map(|(_, value)| value)
    }

    pub fn get(&mut self, key: K, compute: impl FnOnce() -> V) -> V {
        match &self.0 {
            Some((known, value)) if *known == key => value.clone(),
            _ => self.0.insert((key, compute())).1.clone(),
        }
    }
}

/// A shared value that is compared by its address. A key does not keep the value, but its address
/// is not used again.
#[derive(Debug)]
pub(crate) struct ById<T: ?Sized>(Weak<T>);

impl<T: ?Sized> ById<T> {
    pub fn new(value: &Arc<T>) -> Self {
        Self(Arc::downgrade(value))
    }
}

impl ById<dyn Any + Send + Sync> {
    pub fn any<T: Any + Send + Sync>(value: &Arc<T>) -> Self {
        Self(Arc::downgrade(value) as _)
    }
}

impl<T: ?Sized> PartialEq for ById<T> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::addr_eq(self.0.as_ptr(), other.0.as_ptr())
    }
}

/// The first visible row by its id, so that rows that appear or disappear above it do not scroll
/// the list. Another view of the list (filter, order, groups) has no anchor: the cursor is then in
/// the middle, or the list is at its top.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Anchor {
    id: Option<RowRef>,
    row: usize,
    view: u64,
    /// The number of the last request to scroll.
    scrolled: u64,
}

impl Anchor {
    /// The number of the last request to scroll that was drawn.
    pub fn scrolled(&self) -> u64 {
        self.scrolled
    }

    /// The first of `height` rows to draw, after a request to scroll. `view` is a hash of the
    /// filter, order and scope of the list.
    pub fn resolve<T: Item>(
        &mut self,
        view: u64,
        scroll: Option<ListScroll>,
        list: &List<T>,
        table: &Table<T>,
        height: usize,
    ) -> usize {
        if let Some(scroll) = scroll {
            (self.id, self.row, self.scrolled) = (None, scroll.first, scroll.number);
        }
        let row_at = |at: usize| list.row_at(table, at).map(|row| row.map(Into::into));
        let held = match self.id {
            _ if std::mem::replace(&mut self.view, view) != view => {
                list.at.saturating_sub(height / 2)
            }
            Some(row) if row_at(self.row) != Some(row) => {
                list.place(table, row.map(Into::into)).unwrap_or(self.row)
            }
            _ => self.row,
        };
        self.row = window(held, list.at, list.len(), height);
        self.id = row_at(self.row);
        self.row
    }
}

/// The first visible capture of the stream (the newest capture of a group header). Rows of the
/// stream move with each new capture, so the row is always found by its capture, or by the nearest
/// one when that capture was dropped.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StreamAnchor {
    id: Option<CaptureKey>,
    scrolled: u64,
}

impl StreamAnchor {
    /// The number of the last request to scroll that was drawn.
    pub fn scrolled(&self) -> u64 {
        self.scrolled
    }

    /// The first of `height` rows to draw, after a request to scroll.
    pub fn resolve(
        &mut self,
        scroll: Option<ListScroll>,
        list: &StreamList,
        stream: &Stream,
        height: usize,
    ) -> usize {
        let held = match (scroll, self.id) {
            (Some(scroll), _) => scroll.first,
            (None, Some(id)) => list.place_near(stream, id),
            (None, None) => 0,
        };
        self.scrolled = scroll.map_or(self.scrolled, |scroll| scroll.number);
        let first = window(held, list.at, list.len(), height);
        // Until the filter has read all captures, the anchored one can still appear.
        if list.pending() == 0 {
            self.id = list.id_at(stream, first);
        }
        first
    }
}

/// The inputs of the text of a detail: equal keys have equal lines.
#[derive(Debug, PartialEq)]
pub(crate) struct TextKey {
    pub pane: Pane,
    pub tab: Tab,
    pub id: RowRef,
    pub mode: TextMode,
    pub width: u16,
    pub sources: Vec<ById<dyn Any + Send + Sync>>,
    /// A hash of the inputs that have no address.
    pub version: u64,
    pub mask: Option<Mask>,
    pub folded: BTreeSet<u32>,
    pub colours: (Scheme, OwnColours),
}

/// The inputs of the numbers of a plot. Changes of other data do not change the key.
#[derive(Debug, PartialEq)]
pub(crate) struct PlotKey {
    shown: ScopedPlot,
    findings: Option<ById<Table<Issue>>>,
    targets: Option<ById<Table<Target>>>,
    /// Workspace, number of events, today.
    decisions: Option<(Shared, usize, Date)>,
    /// Workspace and revision.
    captures: Option<(Shared, u64)>,
    /// Number of observations.
    progress: Option<u64>,
}

impl PlotKey {
    pub fn of(model: &Model, shown: ScopedPlot) -> Self {
        let plot = shown.plot;
        let is_of_findings = matches!(plot, Plot::Findings | Plot::HeatMap);
        let decisions = || {
            (
                model.workspace_name(),
                model.findings.triage.state.len(),
                model.today(),
            )
        };
        Self {
            shown,
            findings: model
                .data
                .findings
                .value()
                .filter(|_| is_of_findings)
                .map(ById::new),
            targets: model
                .data
                .targets
                .value()
                .filter(|_| plot == Plot::HeatMap)
                .map(ById::new),
            decisions: (plot == Plot::Decisions).then(decisions),
            captures: (plot == Plot::Captures)
                .then(|| (model.workspace_name(), model.data.captures.revision)),
            progress: shown
                .scan
                .and_then(|scan| model.scans.progress.history(scan))
                .map(|history| history.version),
        }
    }
}

/// The cells of the detail that was drawn last.
#[derive(Debug, Default)]
pub(crate) struct LastDetail {
    place: Option<(Pane, Rect)>,
    cells: Vec<Cell>,
    measures: Measures,
}

impl LastDetail {
    /// Keeps what was drawn for a pane in its area.
    pub fn keep(&mut self, pane: Pane, area: Rect, buf: &Buffer, measures: &Measures) {
        self.place = Some((pane, area));
        self.cells.clear();
        self.cells
            .extend(area.positions().map(|position| buf[position].clone()));
        self.measures = measures.clone();
    }
}

/// The wrapped lines of the detail that was drawn last.
#[derive(Clone, Debug)]
pub(crate) struct WrappedText {
    pub lines: Arc<Vec<Line<'static>>>,
    /// The place of each line in JSON; empty without JSON.
    pub places: Arc<Vec<Option<JsonPlace>>>,
    /// The fold at each line.
    pub folds: Arc<[Option<JsonFold>]>,
    /// Columns of the widest line.
    pub widest: u16,
}
