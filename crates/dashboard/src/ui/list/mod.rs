//! The drawing of lists: frame, filter line, column headers, visible rows, or the reason why there
//! are none.
//!
//! ```text
//!   ┏━ 3 Findings  stale 2m ━━━━━━━━ note ━┓      framed: numbers in the edges, a scope line only if there is a scope
//!   ┃ 2 marked  target:shop  /words        ┃
//!   ┃   RISK   FINDING            TARGET   ┃      unframed: one line with the scope left and the numbers right
//!   ┃▌ ◆ CRIT  …                           ┃
//!   ┗━━━━━━━━━━━━━━━━━━━━━━━━━━━ 1 of 41 ━━┛
//! ```

mod column;
mod edges;
pub mod query_help;

pub(crate) use column::{
    ListColumn, Room, cells, dimmed_if, draw_columns, draw_columns_dimming, header_cells, layouts,
};
use edges::{HiddenCounts, draw_edges, place, warnings, warnings_width};
pub(crate) use edges::{retry_in, stale_reason};

use crate::base::{Pane, ShownRows};
use crate::input::{Action, Context, ListAction};
use crate::list::{Group, GroupPlace, List, order_words, sampled_block, sampled_places};
use crate::model::Stored;
use crate::ui::{
    ById, Cx, DrawnColumns, GUTTER, Slot, TABS_FROM, TableColumn, TableRow, ViewCache, chips,
    cut_line, draw_header_row, draw_line, draw_lines, draw_rows, draw_sides, format, indented, key,
    parts_within, pinned_beside_names, plain, take_top, widths, words, wrap,
};
use ratatui::prelude::{Buffer, Line, Rect, Span, Style};
use scandeck_domain::problem::Problem;
use scandeck_domain::query::ClauseEffect;
use scandeck_domain::table::{Item, Remote};
use scandeck_wire::contract::Stamp;
use scandeck_wire::text;
use std::any::Any;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Between the parts of a scope line.
const GAP: &str = "  ";

/// The state of the rows of a list.
pub(crate) enum ListState<'a> {
    Loading,
    /// No data, because the first attempt failed.
    Failed(&'a Problem),
    Loaded,
    /// Loaded at an earlier time, if it is known, and why there is nothing newer.
    Stale(Option<Stamp>, &'a Problem),
}

impl<'a> ListState<'a> {
    pub fn of<T>(remote: &'a Remote<T>) -> Self {
        match remote {
            Remote::Unknown => Self::Loading,
            Remote::Failed(problem) => Self::Failed(problem),
            Remote::Fresh { .. } => Self::Loaded,
            Remote::Stale { at, problem, .. } => Self::Stale(Some(*at), problem),
        }
    }
}

/// The list of a pane, as its feature describes it.
pub(crate) struct ListPane<'a> {
    pub pane: Pane,
    pub state: ListState<'a>,
    pub columns: &'a [TableColumn],
    /// Whether column headers are drawn; narrow side panes have none.
    pub has_header: bool,
    /// A summary of the rows, for the upper edge.
    pub note: Line<'a>,
    /// The sort order, as a phrase.
    pub order: String,
    /// The text of an empty list: its purpose and the key that creates a row.
    pub invitation: String,
    pub filter: &'a str,
    /// The numbers of rows that each part of the filter hides.
    pub why: &'a [ClauseEffect],
    /// Saved queries: the tabs above the rows, and number and name of the current one.
    pub tabs: Option<(Line<'a>, String)>,
    /// The rows in the scope, shown or not.
    pub total: usize,
    pub shown: usize,
    /// New rows that the filter hides.
    pub hidden_new: usize,
    /// The position of the cursor among the shown rows.
    pub at: usize,
    /// Marked rows, and the number of hidden rows among them.
    pub marks: (usize, usize),
    /// A text in place of the position and the number of rows.
    pub place: Option<String>,
}

/// Draws a list into its slot. `first` returns the first visible row for a height, `row` the cells
/// of a row for the widths of the columns. Returns the places of the visible rows.
pub(crate) fn draw_list_pane<'a>(
    cx: &Cx<'a>,
    buf: &mut Buffer,
    slot: &Slot,
    pane: &ListPane<'a>,
    first: impl FnOnce(usize) -> usize,
    row: impl Fn(usize, &[u16]) -> Option<TableRow<'a>>,
) -> ShownRows {
    let (mut area, has_error) = draw_above_rows(cx, buf, slot, pane);
    if pane.shown == 0 {
        draw_nothing(cx, buf, area, pane);
        query_help::draw_help(cx, buf, area, pane, 0);
        return ShownRows::default();
    }
    let room = widths(pane.columns, area.width.saturating_sub(GUTTER));
    if pane.has_header && area.height > 2 && !has_error {
        let (header, rest) = take_top(area, 1);
        draw_header_row(buf, header, cx.theme, pane.columns, &room);
        area = rest;
    }
    let shown = ShownRows {
        area: area.into(),
        first: first(usize::from(area.height)),
    };
    let visible = (shown.first..pane.shown).take(area.height.into());
    let rows = (0..)
        .zip(visible)
        .filter_map(|(y, at)| Some((y, cx.shown_row(row(at, &room)?))));
    draw_rows(
        buf,
        area,
        cx.theme,
        pane.columns,
        &room,
        cx.has_keys(pane.pane, false),
        rows,
    );
    query_help::draw_help(cx, buf, area, pane, pane.at.saturating_sub(shown.first));
    shown
}

/// Draws the frame, and the tabs, the scope and the error of the query above the rows. Returns the
/// remaining area, and whether there is an error.
fn draw_above_rows(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    slot: &Slot,
    pane: &ListPane<'_>,
) -> (Rect, bool) {
    let mut area = if slot.framed {
        draw_edges(cx, buf, slot.area, pane)
    } else {
        slot.area
    };
    // Lists without room for tabs name the current tab in the scope line.
    if let Some((tabs, _)) = pane.tabs.as_ref().filter(|_| shows_tabs(slot)) {
        let (line, rest) = take_top(area, 1);
        draw_line(buf, indented(line), tabs);
        area = rest;
    }
    let scope = scope_line(cx, pane, slot, indented(area).width);
    if area.height > 1 && (!slot.framed || scope.is_some()) {
        let (line, rest) = take_top(area, 1);
        draw_scope(cx, buf, line, slot.framed, pane, scope);
        area = rest;
    }
    let reason = query_help::error_below(cx, pane, indented(area).width);
    if !reason.is_empty() {
        let (lines, rest) = take_top(area, (reason.len() as u16).min(area.height / 2));
        draw_lines(buf, indented(lines), &reason);
        area = rest;
    }
    (area, !reason.is_empty())
}

/// A row of a list whose items can be in groups.
pub(crate) enum GridRow<'a, T> {
    Header(&'a Group),
    /// An item, and its group.
    Item {
        item: &'a T,
        group: Option<&'a Group>,
    },
}

/// As [`draw_list_pane`], for a list of a table: `cells` makes the cells and the style of a row.
fn draw_grouped<'a, T: Stored + 'static>(
    cx: &Cx<'a>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
    pane: ListPane<'a>,
    cells: impl Fn(GridRow<'a, T>, &[u16]) -> (Vec<Line<'a>>, Style),
) -> ShownRows {
    let list = T::list(&cx.model.lists);
    let Some(table) = T::remote(&cx.model.data).value() else {
        return draw_list_pane(cx, buf, slot, &pane, |_| 0, |_, _| None);
    };
    let range = list
        .range_start(table)
        .map(|from| from.min(list.at)..=from.max(list.at));
    let row = |at: usize, room: &[u16]| {
        let place = list.groups.at(at);
        let row = match place {
            Some(GroupPlace::Header(group)) => GridRow::Header(group),
            Some(GroupPlace::Row(..)) | None => {
                let position = list.positions_at(at).next()?;
                let group = place.map(|place| place.group());
                GridRow::Item {
                    item: &**table.items().get(position as usize)?,
                    group,
                }
            }
        };
        let (cells, style) = cells(row, room);
        let marked =
            list.is_marked(table, at) || range.as_ref().is_some_and(|range| range.contains(&at));
        Some(TableRow {
            cells,
            style,
            marked,
            selected: list.at == at,
        })
    };
    let view = view_of(cx, list);
    let anchor = cache.anchors.entry(pane.pane).or_default();
    let scroll = cx.model.scroll_of(pane.pane, anchor.scrolled());
    draw_list_pane(
        cx,
        buf,
        slot,
        &pane,
        |height| anchor.resolve(view, scroll, list, table, height),
        row,
    )
}

/// Items of the shown rows (of a group header its first item), which decide about the columns.
pub(crate) fn sampled_items<'a, T: Stored + 'static>(
    cx: &Cx<'a>,
) -> impl Iterator<Item = &'a T> + use<'a, T> {
    let list = T::list(&cx.model.lists);
    let items = T::remote(&cx.model.data)
        .value()
        .map(|table| table.items())
        .unwrap_or_default();
    let places = sampled_places(list.len(), list.at, cx.model.screen.size.rows.into());
    let positions = places.filter_map(|at| list.positions_at(at).next());
    positions.filter_map(|at| items.get(at as usize).map(|item| &**item))
}

/// The columns of a list, made again when its rows or what they show changed.
fn columns_of<T: Stored + 'static>(
    cx: &Cx<'_>,
    slot: &Slot,
    cache: &mut ViewCache,
    columns: &[ListColumn<T>],
) -> Vec<TableColumn> {
    let list = T::list(&cx.model.lists);
    let mut sources: Vec<ById<dyn Any + Send + Sync>> = vec![ById::any(&list.rows)];
    sources.extend(T::remote(&cx.model.data).value().map(ById::any));
    let shown = (list.len(), list.at);
    let view = columns_view(cx, list);
    let earlier = cache.earlier_columns.remove(&T::PANE);
    let earlier = earlier.filter(|earlier| earlier.view == view);
    let placed = kept_columns(cx, cache, T::PANE, sources, shown, || {
        let made = layouts(columns, cx);
        match &earlier {
            Some(drawn) => in_their_places(made, &drawn.columns, table_width(slot)),
            None => made,
        }
    });
    // The values of a single row do not show which columns vary.
    if list.len() > 1 {
        let kept = placed.clone();
        cache.earlier_columns.insert(
            T::PANE,
            DrawnColumns {
                view,
                columns: kept,
            },
        );
    }
    placed
}

/// What a person changes, not what arrives: with another one, columns take other places.
fn columns_view<T: Item>(cx: &Cx<'_>, list: &List<T>) -> u64 {
    let model = cx.model;
    let (size, zoomed) = (model.screen.size, model.navigation.focus.zoomed);
    let shown = (model.mask().is_some(), cx.theme.glyphs.boxes);
    let mut hasher = DefaultHasher::new();
    (view_of(cx, list), size.columns, size.rows, zoomed, shown).hash(&mut hasher);
    hasher.finish()
}

/// The columns of the screen for the cells of a list.
fn table_width(slot: &Slot) -> u16 {
    let frame = if slot.framed { 2 } else { 0 };
    slot.area.width.saturating_sub(frame + GUTTER)
}

/// The columns with the places that they had for earlier rows. One that appears neither makes
/// others give way nor narrows them: names are cut instead. Columns that share a title replace each
/// other, so they keep none.
fn in_their_places(
    made: Vec<TableColumn>,
    earlier: &[TableColumn],
    width: u16,
) -> Vec<TableColumn> {
    if made.len() != earlier.len() {
        return made;
    }
    let has_twin = |title: &str| made.iter().filter(|column| column.title == title).count() > 1;
    let place = |(column, earlier): (&TableColumn, &TableColumn)| match has_twin(column.title) {
        true => *column,
        false => column.kept(*earlier),
    };
    let placed: Vec<TableColumn> = made.iter().zip(earlier).map(place).collect();
    let (before, now) = (widths(earlier, width), widths(&placed, width));
    let appears = |(before, now): (&u16, &u16)| *before == 0 && *now > 0;
    if !before.iter().zip(&now).any(appears) {
        return placed;
    }
    let stay = |(column, &before): (TableColumn, &u16)| match before {
        0 => column,
        _ => column.stays(),
    };
    let staying: Vec<TableColumn> = placed.into_iter().zip(&before).map(stay).collect();
    pinned_beside_names(&staying, &before, width)
}

/// As [`columns_of`], for a list of other sources, of so many rows and with the cursor at this
/// place.
pub(crate) fn kept_columns(
    cx: &Cx<'_>,
    cache: &mut ViewCache,
    pane: Pane,
    mut sources: Vec<ById<dyn Any + Send + Sync>>,
    (len, at): (usize, usize),
    make: impl FnOnce() -> Vec<TableColumn>,
) -> Vec<TableColumn> {
    sources.push(ById::any(&cx.facts));
    let (model, scope) = (cx.model, &cx.model.navigation.scope);
    let of_scope = (
        scope.workspace,
        scope.target,
        scope.scan,
        scope.logger,
        model.lists.finding_groups.by,
    );
    let payloads = model.data.payloads.value().map(|table| table.revision());
    let loggers = model.data.loggers.value().map(|table| table.revision());
    let decided = (
        model.findings.triage.revision,
        payloads,
        loggers,
        model.data.captures.revision,
    );
    let shown = (
        model.mask().is_some(),
        cx.theme.glyphs.boxes,
        model.has_team(),
    );
    let size = (
        model.screen.size.columns,
        model.screen.size.rows,
        model.navigation.focus.zoomed,
    );
    let mut hasher = DefaultHasher::new();
    (
        &model.lists.captures.filter,
        model.lists.captures.by.is_some(),
    )
        .hash(&mut hasher);
    (len, sampled_block(at), of_scope, decided, shown, size).hash(&mut hasher);
    cache
        .columns
        .entry(pane)
        .or_default()
        .get((sources, hasher.finish()), make)
}

/// Columns of the widest of these texts from outside.
pub(crate) fn widest<'a>(texts: impl Iterator<Item = &'a str>) -> usize {
    texts
        .map(|outside| text::width(&text::clean(outside)))
        .max()
        .unwrap_or(0)
}

/// Whether there are several values, and all are equal.
pub(crate) fn is_constant<V: PartialEq>(mut values: impl Iterator<Item = V>) -> bool {
    let Some(first) = values.next() else {
        return false;
    };
    let mut others = values.peekable();
    others.peek().is_some() && others.all(|value| value == first)
}

/// A hash of the filter, the order, the scope and the grouping of a list.
fn view_of<T: Item>(cx: &Cx<'_>, list: &List<T>) -> u64 {
    let scope = &cx.model.navigation.scope;
    let grouped = (list.groups.is_on(), cx.model.lists.finding_groups.by);
    let mut hasher = DefaultHasher::new();
    (
        &list.filter,
        list.sort,
        grouped,
        scope.workspace,
        scope.target,
        scope.scan,
    )
        .hash(&mut hasher);
    list.order.iter().for_each(|key| key.hash(&mut hasher));
    hasher.finish()
}

/// A list as its state describes it, without columns and texts.
pub(crate) fn pane_of<'a, T: Stored>(cx: &Cx<'a>) -> ListPane<'a> {
    let (remote, list) = (T::remote(&cx.model.data), T::list(&cx.model.lists));
    let pane = ListPane::new(T::PANE, ListState::of(remote));
    let Some(table) = remote.value() else {
        return pane;
    };
    ListPane {
        order: match list.order.is_empty() {
            true => T::SORTS
                .get(list.sort)
                .map_or_else(String::new, |sort| order_words(sort.name)),
            false => format!(
                "by {}",
                list.order
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join(",")
            ),
        },
        filter: &list.filter,
        why: &list.why,
        total: (list.len() + list.in_scope).saturating_sub(list.rows.len()),
        shown: list.len(),
        hidden_new: list.hidden_news.count,
        at: list.at,
        marks: list.count_marks(table),
        ..pane
    }
}

impl<'a> ListPane<'a> {
    /// The rows that the filter hides.
    fn hidden(&self) -> usize {
        if self.filter.is_empty() {
            0
        } else {
            self.total.saturating_sub(self.shown)
        }
    }

    /// A list without rows.
    pub fn new(pane: Pane, state: ListState<'a>) -> Self {
        Self {
            pane,
            state,
            columns: &[],
            has_header: true,
            note: Line::default(),
            order: String::new(),
            invitation: String::new(),
            filter: "",
            why: &[],
            tabs: None,
            total: 0,
            shown: 0,
            hidden_new: 0,
            at: 0,
            marks: (0, 0),
            place: None,
        }
    }
}

/// Framed lists of sufficient height have a line of tabs.
fn shows_tabs(slot: &Slot) -> bool {
    slot.framed && slot.area.height >= TABS_FROM
}

/// Scope, filter and marks: everything that decides which rows are shown. `None` if there is no
/// limit.
fn scope_line(cx: &Cx<'_>, pane: &ListPane<'_>, slot: &Slot, width: u16) -> Option<Line<'static>> {
    let mut line = Line::default();
    // First, because a long filter is cut.
    match pane.marks {
        (0, _) => {}
        (marked, 0) => line.push_span(Span::styled(
            format!("{marked} marked  "),
            cx.theme.strong(),
        )),
        (marked, hidden) => {
            line.push_span(Span::styled(
                format!("{marked} marked, {hidden} not shown  "),
                cx.theme.strong(),
            ));
        }
    }
    // The reason why a query is invalid needs the room.
    let is_invalid =
        query_help::typed(cx, pane).is_some_and(|typed| query_help::shown_error(typed).is_some());
    let is_named = |name: &str| !name.is_empty() && !shows_tabs(slot) && !is_invalid;
    if let Some((_, name)) = pane.tabs.as_ref().filter(|(_, name)| is_named(name)) {
        line.push_span(Span::styled(
            format!("{}: ", text::clean(name)),
            cx.theme.text(),
        ));
    }
    for chip in chips(cx, pane.pane) {
        line.push_span(Span::styled(format!(" {chip} "), cx.theme.chosen()));
        line.push_span(Span::raw(" "));
    }
    match query_help::typed(cx, pane) {
        Some(typed) => {
            line.push_span(Span::styled("/", cx.theme.key()));
            // The reason is read whole, so a long query is shown around its cursor.
            let error = query_help::error_beside(cx.theme, typed, width);
            let beside = error
                .as_ref()
                .map_or(width / 3, |error| text::width(error) as u16 + 2);
            let room = width.saturating_sub(line.width() as u16 + beside);
            let typed = Line::from(query_help::typed_spans(cx.theme, typed, room));
            line.extend(cut_line(typed, usize::from(room), cx.theme.glyphs.ellipsis));
            line.extend(error.map(|error| Span::styled(format!("  {error}"), cx.theme.bad())));
        }
        _ if !pane.filter.is_empty() => {
            line.push_span(Span::styled(
                format!("/{} ", text::clean(pane.filter)),
                cx.theme.strong(),
            ));
        }
        _ => {}
    }
    (!line.spans.is_empty()).then_some(line)
}

/// Draws the line above the rows: scope left; unframed lists, which have no edges, have their
/// numbers right.
fn draw_scope(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    area: Rect,
    framed: bool,
    pane: &ListPane<'_>,
    scope: Option<Line<'static>>,
) {
    let ellipsis = cx.theme.glyphs.ellipsis;
    let typed = query_help::typed(cx, pane);
    let line_area = indented(area);
    let whole_room = usize::from(line_area.width);
    // The reason why a typed query is invalid needs the room.
    if typed.is_some_and(|typed| query_help::shown_error(typed).is_some()) {
        let left = cut_line(scope.unwrap_or_default(), whole_room, ellipsis);
        return draw_sides(buf, line_area, &left, &Line::default());
    }
    let scope_width = scope.as_ref().map_or(0, Line::width);
    let mut right = if framed {
        hidden_hint(cx, pane)
    } else {
        numbers(cx, pane, usize::from(area.width), scope_width)
    };
    // Typed text and its cursor matter more than the numbers beside them.
    if typed.is_some() && scope_width + 1 + right.width() > whole_room {
        right = Line::default();
    }
    let room = whole_room.saturating_sub(right.width() + 1);
    let left = scope.unwrap_or_else(|| order_line(cx, pane, room));
    let left = if typed.is_some() {
        left
    } else {
        cut_line(left, room, ellipsis)
    };
    draw_sides(buf, line_area, &left, &right);
}

/// The key that shows which filter hides rows.
fn hidden_hint(cx: &Cx<'_>, pane: &ListPane<'_>) -> Line<'static> {
    if pane.hidden() == 0 {
        return Line::default();
    }
    let key = key(cx, Context::Lists, Action::List(ListAction::Filter));
    words(format!("{key} shows why"), cx.theme.dim())
}

/// The sort order; a truncated one is useless.
fn order_line(cx: &Cx<'_>, pane: &ListPane<'_>, room: usize) -> Line<'static> {
    let order = parts_within(&pane.order, cx.theme.glyphs.separator, room);
    let shown = if text::width(order) <= room {
        order
    } else {
        ""
    };
    words(shown.to_owned(), cx.theme.dim())
}

/// Warnings, note and position of an unframed list, in a line of `width` columns beside a scope.
fn numbers<'a>(cx: &Cx<'_>, pane: &ListPane<'a>, width: usize, scope_width: usize) -> Line<'a> {
    let beside = scope_width + 5;
    // A long query gives half of the line to the note: it can be seen again by its key.
    let needs_all = query_help::typed(cx, pane).is_some() || pane.note.width() == 0;
    let most = if needs_all { beside } else { width / 2 };
    let room = width.saturating_sub(beside.min(most));
    // Why rows are not current matters more than their summary, and more than the position.
    let warnings_width = warnings_width(cx, pane);
    let fits = |others: usize| warnings_width == 0 || warnings_width + others <= room;
    let full_place = place(pane, HiddenCounts::Beside);
    let place_width = text::width(&full_place);
    let note_room = room.saturating_sub(place_width + GAP.len());
    let note = if fits(pane.note.width() + place_width) {
        let parts = parts_of_note(pane.note.clone(), cx, note_room);
        cut_line(parts, note_room, cx.theme.glyphs.ellipsis)
    } else {
        Line::default()
    };
    let shown_place = if fits(place_width) {
        full_place
    } else {
        String::new()
    };
    let taken = note.width() + text::width(&shown_place);
    let warnings = warnings(cx, pane, room.saturating_sub(taken));
    let mut line = Line::default();
    for part in warnings.into_iter().map(Line::from).chain([note]) {
        if part.width() > 0 {
            line.extend(part.spans);
            line.push_span(Span::raw(GAP));
        }
    }
    line.push_span(Span::styled(shown_place.trim().to_owned(), cx.theme.dim()));
    line
}

/// As many parts of a note as fit. A note of several styles is one part.
fn parts_of_note<'a>(note: Line<'a>, cx: &Cx<'_>, room: usize) -> Line<'a> {
    match note.spans.as_slice() {
        [one] => words(
            parts_within(&one.content, cx.theme.glyphs.separator, room).to_owned(),
            one.style,
        ),
        _ => note,
    }
}

/// Draws the reason why there are no rows: not loaded, failed, none exist, or all hidden.
fn draw_nothing(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, pane: &ListPane<'_>) {
    let (area, theme) = (indented(area), cx.theme);
    let lines = match pane.state {
        ListState::Loading => vec![words("loading", theme.dim())],
        ListState::Failed(problem) => problem_lines(cx, problem),
        ListState::Loaded | ListState::Stale(..) if pane.total == 0 => {
            plain(&pane.invitation, theme.text())
        }
        ListState::Loaded | ListState::Stale(..)
            if edges::search_progress(cx, pane.pane).is_some() =>
        {
            vec![words("no matches yet: the search continues", theme.dim())]
        }
        ListState::Loaded | ListState::Stale(..) => {
            let back = key(cx, Context::Lists, Action::List(ListAction::TakeBack));
            let rows = format::plural(pane.total, "row");
            let hidden = format!(
                "no matches: {rows} hidden{}",
                edges::and_new(pane.hidden_new)
            );
            let mut lines = vec![words(hidden, theme.text())];
            lines.extend(query_help::why_lines(cx, pane.why));
            lines.push(words(
                format!("{back} undoes the last filter change"),
                theme.dim(),
            ));
            lines
        }
    };
    draw_lines(buf, area, &wrap(lines, area.width));
}

/// A problem: message, details and next step.
pub(crate) fn problem_lines(cx: &Cx<'_>, problem: &Problem) -> Vec<Line<'static>> {
    let mut lines = plain(&text::clean_text(&problem.to_string()), cx.theme.bad());
    for more in [&problem.details, &problem.hint].into_iter().flatten() {
        lines.extend(plain(&text::clean_text(more), cx.theme.text()));
    }
    if let (_, Some(next)) = cx.model.reason(problem) {
        let wait = (next.as_second() - cx.model.now.wall.as_second()).max(0);
        lines.extend(plain(&retry_in(wait), cx.theme.dim()));
    }
    lines
}
