//! How every list is drawn: frame, filter line, heads, the visible rows, or why there are none.
//!
//! ```text
//!   ┏━ 3 Findings  stale 2m ━━━━━━━━ note ━┓      framed: numbers in the edges, a scope line only when there is one
//!   ┃ target:shop  /words   2 marked       ┃
//!   ┃   RISK   FINDING            TARGET   ┃      unframed: one line with scope left and numbers right
//!   ┃▌ ◆ CRIT  …                           ┃
//!   ┗━━━━━━━━━━━━━━━━━━━━━━━━━━━ 1 of 41 ━━┛
//! ```

pub mod query_help;

use crate::client::Problem;
use crate::contract::Stamp;
use crate::dashboard::base::Pane;
use crate::dashboard::input::Context;
use crate::dashboard::input::action::{Action, ListAction};
use crate::dashboard::list::{Group, GroupPlace, List};
use crate::dashboard::ui::cache::ViewCache;
use crate::dashboard::ui::context::{Cx, words};
use crate::dashboard::ui::layout::{Slot, TABS_FROM, indented, take_top};
use crate::dashboard::ui::widgets::frame::{Edges, draw_frame};
use crate::dashboard::ui::widgets::lines::{draw_line, draw_sides, parts_within, row_of};
use crate::dashboard::ui::widgets::table::{draw_heads, draw_rows, widths};
use crate::dashboard::ui::widgets::wrap::{plain, wrap};
use crate::dashboard::ui::{GUTTER, TableColumn, TableRow, format};
use crate::query::ClauseEffect;
use crate::table::{Item, Remote, Table};
use crate::text;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// What is known of the rows.
pub(crate) enum ListState<'a> {
    /// The first answer is under way.
    Asking,
    /// Nothing could be read yet.
    Failed(&'a Problem),
    /// There are rows, or none.
    Read,
    /// The same, as of some time ago.
    Stale(Stamp),
}

impl<'a> ListState<'a> {
    pub fn of<T>(remote: &'a Remote<T>) -> Self {
        match remote {
            Remote::Unknown => Self::Asking,
            Remote::Failed(problem) => Self::Failed(problem),
            Remote::Fresh { .. } => Self::Read,
            Remote::Stale { at, .. } => Self::Stale(*at),
        }
    }
}

/// What a pane's file says about its list.
pub(crate) struct ListPane<'a> {
    pub pane: Pane,
    pub known: ListState<'a>,
    pub columns: &'static [TableColumn],
    /// Left out in narrow side panes.
    pub heads: bool,
    /// What the rows sum up to, for the upper edge.
    pub note: Line<'a>,
    /// The order in use, in a word.
    pub order: String,
    /// What would be here, and the key that makes it.
    pub invitation: String,
    /// The filter in use.
    pub filter: &'a str,
    /// What each part of it hides.
    pub why: &'a [ClauseEffect],
    /// Saved queries: the tabs over the rows, and the name of the one in use.
    pub tabs: Option<(Line<'a>, &'a str)>,
    /// Rows there are, shown or not.
    pub total: usize,
    /// Rows shown.
    pub shown: usize,
    /// Place of the cursor among them.
    pub at: usize,
    /// Marked rows, and how many of them are not shown.
    pub marks: (usize, usize),
    /// Said of the rows instead of place and number.
    pub place: Option<String>,
}

/// Draws a list into its slot. `first` resolves the first row for a height, `row` makes the row of a place for the
/// widths of the columns. Returns how many rows were visible.
pub(crate) fn draw_list<'a>(
    cx: &Cx<'a>,
    buf: &mut Buffer,
    slot: &Slot,
    pane: &ListPane<'a>,
    first: impl FnOnce(usize) -> usize,
    row: impl Fn(usize, &[u16]) -> Option<TableRow<'a>>,
) -> u16 {
    let mut area = if slot.framed { draw_edges(cx, buf, slot.area, pane) } else { slot.area };
    // Where there is room; elsewhere the scope line names the tab in use.
    if let Some((tabs, _)) = pane.tabs.as_ref().filter(|_| shows_tabs(slot)) {
        let (line, rest) = take_top(area, 1);
        draw_line(buf, indented(line), tabs);
        area = rest;
    }
    let scope = scope_line(cx, pane, slot);
    if area.height > 1 && (!slot.framed || scope.is_some()) {
        let (line, rest) = take_top(area, 1);
        draw_scope(cx, buf, line, slot.framed, pane, scope);
        area = rest;
    }
    if pane.shown == 0 {
        draw_nothing(cx, buf, area, pane);
        query_help::draw_help(cx, buf, area, pane, 0);
        return 0;
    }
    let room = widths(pane.columns, area.width.saturating_sub(GUTTER));
    if pane.heads && area.height > 2 {
        let (heads, rest) = take_top(area, 1);
        draw_heads(buf, heads, cx.theme, pane.columns, &room);
        area = rest;
    }
    let first = first(usize::from(area.height));
    let rows = (first..pane.shown).take(usize::from(area.height)).filter_map(|at| row(at, &room));
    draw_rows(buf, area, cx.theme, pane.columns, &room, cx.has_keys(pane.pane, false), rows);
    query_help::draw_help(cx, buf, area, pane, pane.at.saturating_sub(first));
    area.height
}

/// As [`draw_list`], for a list of a table: `cells` makes the cells of an item.
pub(crate) fn draw_table<'a, T: Item + 'static>(
    cx: &Cx<'a>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
    pane: ListPane<'a>,
    source: (&'a Remote<Arc<Table<T>>>, &'a List<T>),
    cells: impl Fn(&'a T, &[u16]) -> Vec<Line<'a>>,
) -> u16 {
    let style = cx.freshness(source.0);
    let row = |row: GridRow<'a, T>, room: &[u16]| match row {
        GridRow::Item { item, .. } => (cells(item, room), style),
        GridRow::Header(_) => (Vec::new(), style),
    };
    draw_grouped(cx, buf, slot, cache, pane, source, row)
}

/// A row of a list whose items can be in groups.
pub(crate) enum GridRow<'a, T> {
    Header(&'a Group),
    /// An item, its position in the table, and its group.
    Item {
        item: &'a T,
        position: u32,
        group: Option<&'a Group>,
    },
}

/// As [`draw_table`], for a list that can be grouped: `cells` makes the cells and the style of a row.
pub(crate) fn draw_grouped<'a, T: Item + 'static>(
    cx: &Cx<'a>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
    pane: ListPane<'a>,
    source: (&'a Remote<Arc<Table<T>>>, &'a List<T>),
    cells: impl Fn(GridRow<'a, T>, &[u16]) -> (Vec<Line<'a>>, Style),
) -> u16 {
    let (remote, list) = source;
    let Some(table) = remote.value() else {
        return draw_list(cx, buf, slot, &pane, |_| 0, |_, _| None);
    };
    let pane = filled(pane, table, list);
    let range = list.range_start(table).map(|from| from.min(list.at)..=from.max(list.at));
    let row = |at: usize, room: &[u16]| {
        let place = list.groups.at(at);
        let row = match place {
            Some(GroupPlace::Header(group)) => GridRow::Header(group),
            Some(GroupPlace::Row(..)) | None => {
                let position = list.positions_at(at).next()?;
                let group = place.map(|place| place.group());
                GridRow::Item { item: &**table.items().get(position as usize)?, position, group }
            }
        };
        let (cells, style) = cells(row, room);
        let marked = list.is_marked(table, at) || range.as_ref().is_some_and(|range| range.contains(&at));
        Some(TableRow { cells, style, marked, selected: list.at == at })
    };
    let view = view_of(cx, list);
    let anchor = cache.anchors.of(pane.pane);
    draw_list(cx, buf, slot, &pane, |height| anchor.resolve(view, list, table, height), row)
}

/// A number that changes when the list shows other rows: its filter, order and scope, and how it is grouped.
fn view_of<T: Item>(cx: &Cx<'_>, list: &List<T>) -> u64 {
    let scope = &cx.model.navigation.scope;
    let grouped = (list.groups.is_on(), cx.model.lists.finding_groups.by);
    let mut hasher = DefaultHasher::new();
    (&list.filter, list.sort, grouped, scope.workspace, scope.target, scope.scan).hash(&mut hasher);
    list.order.iter().for_each(|key| key.hash(&mut hasher));
    hasher.finish()
}

/// With what a list tells of itself.
fn filled<'a, T: Item>(pane: ListPane<'a>, table: &Table<T>, list: &'a List<T>) -> ListPane<'a> {
    ListPane {
        order: T::SORTS.get(list.sort).map_or_else(String::new, |sort| order_words(sort.name)),
        filter: &list.filter,
        why: &list.why,
        // Folded items are not hidden.
        total: (list.len() + table.len()).saturating_sub(list.rows.len()),
        shown: list.len(),
        at: list.at,
        marks: list.count_marks(table),
        ..pane
    }
}

/// The parts of a [`ListPane`] that [`draw_table`] fills in itself.
pub(crate) fn pane_of<'a, T: Item>(pane: Pane, remote: &'a Remote<Arc<Table<T>>>) -> ListPane<'a> {
    ListPane {
        pane,
        known: ListState::of(remote),
        columns: &[],
        heads: true,
        note: Line::default(),
        order: String::new(),
        invitation: String::new(),
        filter: "",
        why: &[],
        tabs: None,
        total: 0,
        shown: 0,
        at: 0,
        marks: (0, 0),
        place: None,
    }
}

/// The name of an order as a phrase.
fn order_words(name: &str) -> String {
    match name {
        "newest" => "newest first".to_owned(),
        name => format!("by {name}"),
    }
}

fn draw_edges(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, pane: &ListPane<'_>) -> Rect {
    let mut note = pane.note.clone();
    if note.width() == 0 && !pane.order.is_empty() {
        note = Line::from(Span::styled(pane.order.clone(), cx.theme.dim()));
    }
    if note.width() > 0 {
        note.spans.insert(0, Span::raw(" "));
        note.push_span(Span::raw(" "));
    }
    let below = Line::from(Span::styled(place(pane), cx.theme.dim()));
    draw_frame(buf, area, cx.theme, cx.has_keys(pane.pane, false), Edges { title: title(cx, pane), note, below })
}

/// ` 3 Findings ` with how old they are where that matters.
fn title(cx: &Cx<'_>, pane: &ListPane<'_>) -> Line<'static> {
    let style = cx.theme.title(cx.model.navigation.focus.pane == pane.pane);
    let mut title = Line::from(Span::styled(format!(" {} ", crate::dashboard::ui::labels::numbered(pane.pane)), style));
    if let Some(stale) = stale_note(cx, pane) {
        title.push_span(stale);
        title.push_span(Span::raw(" "));
    }
    title
}

fn stale_note(cx: &Cx<'_>, pane: &ListPane<'_>) -> Option<Span<'static>> {
    match pane.known {
        ListState::Stale(at) => Some(Span::styled(format!("stale {}", cx.age(Some(at))), cx.theme.warn())),
        ListState::Asking | ListState::Failed(_) | ListState::Read => None,
    }
}

/// ` 15 of 41 ` for the lower edge.
fn place(pane: &ListPane<'_>) -> String {
    let number = |n: usize| format::thousands(n as u64);
    if let Some(words) = &pane.place {
        return format!(" {words} ");
    }
    match (pane.shown, pane.total) {
        (0, _) => String::new(),
        (shown, total) if shown < total => {
            format!(" {} of {}, {} hidden ", number(pane.at + 1), number(shown), number(total - shown))
        }
        (shown, _) => format!(" {} of {} ", number(pane.at + 1), number(shown)),
    }
}

/// A slot with a frame and room enough has a line for the tabs.
fn shows_tabs(slot: &Slot) -> bool {
    slot.framed && slot.area.height >= TABS_FROM
}

/// Scope, filter and marks: what decides which rows are here. Nothing when all are.
fn scope_line(cx: &Cx<'_>, pane: &ListPane<'_>, slot: &Slot) -> Option<Line<'static>> {
    let mut line = Line::default();
    if let Some((_, name)) = pane.tabs.as_ref().filter(|(_, name)| !name.is_empty() && !shows_tabs(slot)) {
        line.push_span(Span::styled(format!("{}: ", text::clean(name)), cx.theme.text()));
    }
    for chip in crate::dashboard::ui::labels::chips(cx, pane.pane) {
        line.push_span(Span::styled(format!(" {chip} "), cx.theme.chosen()));
        line.push_span(Span::raw(" "));
    }
    match query_help::typed(cx, pane) {
        Some(typed) => {
            line.push_span(Span::styled("/", cx.theme.key()));
            let room = (slot.area.width / 3 * 2).saturating_sub(line.width() as u16);
            line.extend(query_help::typed_spans(cx.theme, typed, room));
        }
        _ if !pane.filter.is_empty() => {
            line.push_span(Span::styled(format!("/{} ", text::clean(pane.filter)), cx.theme.strong()));
        }
        _ => {}
    }
    match pane.marks {
        (0, _) => {}
        (marked, 0) => line.push_span(Span::styled(format!(" {marked} marked"), cx.theme.strong())),
        (marked, hidden) => {
            line.push_span(Span::styled(format!(" {marked} marked, {hidden} not shown"), cx.theme.strong()));
        }
    }
    (!line.spans.is_empty()).then_some(line)
}

/// The line over the rows: scope left; unframed panes have their numbers right, since they have no edges.
fn draw_scope(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    area: Rect,
    framed: bool,
    pane: &ListPane<'_>,
    scope: Option<Line<'static>>,
) {
    let mut right = Line::default();
    let hidden = pane.total - pane.shown.min(pane.total);
    if framed && hidden > 0 && !pane.filter.is_empty() {
        let key = crate::dashboard::ui::labels::key(cx, Context::Lists, Action::List(ListAction::Filter));
        right
            .push_span(Span::styled(format!("{} hidden  {key} why", format::thousands(hidden as u64)), cx.theme.dim()));
    }
    if !framed {
        for part in stale_note(cx, pane).map(Line::from).into_iter().chain([pane.note.clone()]) {
            if part.width() > 0 {
                right.extend(part.spans);
                right.push_span(Span::raw("  "));
            }
        }
        right.push_span(Span::styled(place(pane).trim().to_owned(), cx.theme.dim()));
    }
    let area = indented(area);
    let room = usize::from(area.width).saturating_sub(right.width() + 1);
    let order = || parts_within(&pane.order, cx.theme.glyphs.separator, room);
    let left = scope.unwrap_or_else(|| words(order().to_owned(), cx.theme.dim()));
    draw_sides(buf, area, &left, &right);
}

/// Why there is no row: not asked yet, failed, none there, or all hidden.
fn draw_nothing(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, pane: &ListPane<'_>) {
    let (area, theme) = (indented(area), cx.theme);
    let lines = match pane.known {
        ListState::Asking => vec![words("asking the service", theme.dim())],
        ListState::Failed(problem) => problem_lines(cx, problem),
        ListState::Read | ListState::Stale(_) if pane.total == 0 => plain(&pane.invitation, theme.text()),
        ListState::Read | ListState::Stale(_) => {
            let back = crate::dashboard::ui::labels::key(cx, Context::Lists, Action::List(ListAction::TakeBack));
            let hidden = format!("Nothing matches: {} hidden.", format::thousands(pane.total as u64));
            let mut lines = vec![words(hidden, theme.text())];
            lines.extend(query_help::why_lines(cx, pane.why));
            lines.push(words(format!("{back} takes the last step back."), theme.dim()));
            lines
        }
    };
    for (y, line) in wrap(lines, area.width).iter().enumerate().take(usize::from(area.height)) {
        draw_line(buf, row_of(area, y as u16), line);
    }
}

/// What happened, in whose words, and what to do next.
pub(crate) fn problem_lines(cx: &Cx<'_>, problem: &Problem) -> Vec<Line<'static>> {
    let mut lines = plain(&text::clean_text(&problem.to_string()), cx.theme.bad());
    for more in [&problem.details, &problem.hint].into_iter().flatten() {
        lines.extend(plain(&text::clean_text(more), cx.theme.text()));
    }
    lines
}
