//! The drawing of details: a few heading lines in each frame, the tabs, and a text whose lines are
//! cached.
//!
//! ```text
//!   head    name, facts                      always visible, cheap
//!   tabs    ▌Overview▐  Evidence  …
//!   text    key ─► same as in the last frame? ─► cached lines, from the scroll position
//!               └► otherwise made and wrapped
//! ```

use crate::base::{JsonFold, Pane, RowRef, Tab, TextMode};
use crate::input::{Action, Context, TextAction};
use crate::model::{LinePurpose, Modal};
use crate::text::Search;
use crate::ui::json_lines::{self, JsonPlace};
use crate::ui::{
    ById, Cx, Edges, Slot, TextKey, Theme, ViewCache, WrappedText, draw_frame, draw_line,
    draw_lines, indented, input_spans, row_of, tab_line, take_bottom, take_top, words, wrap,
    wrap_parts,
};
use ratatui::prelude::{Buffer, Line, Rect, Span};
use scandeck_wire::text;
use scandeck_wire::text::plural;
use std::any::Any;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use unicode_segmentation::UnicodeSegmentation;

/// The head takes at most one in so many rows of the area.
const HEAD_SHARE: u16 = 3;

/// The detail of the selected row of a pane.
pub(crate) struct DetailPane<'a> {
    /// The row, for the cache.
    pub id: RowRef,
    pub head: Vec<Line<'static>>,
    /// Titles of the tabs, with counts.
    pub tabs: Vec<String>,
    pub text: DetailText<'a>,
}

/// The text of a tab, and the values from which it is made.
pub(crate) struct DetailText<'a> {
    /// The text is made again when one of these shared values was replaced.
    pub made_from: Vec<Arc<dyn Any + Send + Sync>>,
    /// A hash of the other inputs: the text is made again when it changes.
    pub version: u64,
    /// Makes the lines. Lines that must not be wrapped (dumps) are made for the width.
    pub make: Box<dyn FnOnce(Theme, u16, TextMode) -> Vec<Line<'static>> + 'a>,
}

impl<'a> DetailText<'a> {
    pub fn new(
        made_from: Vec<Arc<dyn Any + Send + Sync>>,
        make: impl FnOnce(Theme, u16, TextMode) -> Vec<Line<'static>> + 'a,
    ) -> Self {
        Self {
            made_from,
            version: 0,
            make: Box::new(make),
        }
    }

    pub fn with_version(mut self, version: u64) -> Self {
        self.version = version;
        self
    }
}

/// Draws a detail. Returns the free rows below its text; none if the head is cut.
pub(crate) fn draw_detail<'a>(
    cx: &Cx<'a>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
    detail_of: fn(&Cx<'a>, Pane, &mut ViewCache) -> Option<DetailPane<'a>>,
) -> Rect {
    if slot.area.is_empty() {
        return Rect::ZERO;
    }
    let detail = detail_of(cx, slot.pane, cache);
    let tab = cx.model.detail.tab(slot.pane);
    let titles = detail.as_ref().map(|detail| detail.tabs.as_slice());
    let (edge, mut area) = draw_tabs(cx, buf, slot, titles.unwrap_or_default(), tab);
    area = draw_unreadable(cx, buf, area, slot.pane);
    let Some(detail) = detail else {
        let nothing = words("nothing selected", cx.theme.dim());
        draw_line(buf, indented(area), &nothing);
        return Rect::ZERO;
    };
    let is_whole;
    (area, is_whole) = draw_head(buf, area, &cx.shown_lines(detail.head.clone()));
    area = take_top(area, u16::from(area.height > 6)).1;
    area = draw_search_line(cx, buf, area);
    let first = draw_text(cx, buf, indented(area), slot.pane, tab, detail, cache);
    let (rows, lines) = (cache.measures.detail_rows, cache.measures.detail_lines);
    draw_position(cx, buf, edge, tab, first, rows, lines);
    let free = if is_whole {
        u32::from(rows).saturating_sub(lines) as u16
    } else {
        0
    };
    take_bottom(
        Rect {
            height: rows,
            ..indented(area)
        },
        free,
    )
    .1
}

/// Draws the tabs in the frame of the slot, or in a rule above. Returns the line of the position,
/// and the remaining area.
fn draw_tabs(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    slot: &Slot,
    titles: &[String],
    tab: Tab,
) -> (Rect, Rect) {
    let tabs = slot.pane.tabs();
    let at = tabs.iter().position(|&one| one == tab).unwrap_or(0);
    if slot.framed {
        let edge = Rect {
            y: slot.area.bottom() - 1,
            height: 1,
            ..slot.area
        };
        return (edge, draw_edges(cx, buf, slot, titles, at));
    }
    let (edge, rest) = take_top(slot.area, 1);
    draw_rule(cx, buf, edge, slot.pane, titles, at);
    (edge, rest)
}

/// Draws the places of the items of the list that cannot be read in the last lines. Returns the
/// remaining area.
fn draw_unreadable(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, pane: Pane) -> Rect {
    let Some(items) = pane
        .list_kind()
        .and_then(|list| cx.model.data.unreadable.get(&list))
    else {
        return area;
    };
    let most = usize::from(area.height / HEAD_SHARE);
    let is_whole = items.count <= most && items.count == items.reasons.len();
    let shown = if is_whole {
        items.count
    } else {
        most.saturating_sub(1).min(items.reasons.len())
    };
    let lines = items
        .reasons
        .iter()
        .take(shown)
        .map(|item| format!("not readable: {}", text::clean(item)));
    let more =
        (shown < items.count).then(|| format!("{} not readable", plural(items.count, "item")));
    let mut rest = area;
    for line in lines
        .chain(more)
        .take(most)
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
    {
        let (above, place) = take_bottom(rest, 1);
        draw_line(buf, indented(place), &words(line, cx.theme.warn()));
        rest = above;
    }
    rest
}

/// Draws the search that is being typed in the last line. Returns the remaining area.
pub(crate) fn draw_search_line(cx: &Cx<'_>, buf: &mut Buffer, area: Rect) -> Rect {
    match cx.model.overlay.modals.last() {
        Some(Modal::Line(typed)) if typed.purpose == LinePurpose::Search => {
            let (rest, line) = take_bottom(area, 1);
            let mut search = Line::from(Span::styled("/", cx.theme.key()));
            search.extend(input_spans(cx.theme, &typed.input));
            draw_line(buf, indented(line), &search);
            rest
        }
        _ => area,
    }
}

/// Draws the upper edge of a detail without a frame: the tabs in a rule.
fn draw_rule(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    area: Rect,
    pane: Pane,
    titles: &[String],
    tab_at: usize,
) {
    let theme = cx.theme;
    let style = theme.border(cx.has_keys(pane, true));
    let mut line = Line::from(Span::styled(theme.glyphs.rule, style));
    line.extend(tab_line(theme, titles, tab_at, area.width.saturating_sub(2)).spans);
    if titles.is_empty() {
        line.push_span(Span::styled(
            format!(" {} ", pane.title()),
            theme.title(true),
        ));
    }
    let rest = usize::from(area.width).saturating_sub(line.width());
    line.push_span(Span::styled(theme.glyphs.rule.repeat(rest), style));
    draw_line(buf, area, &line);
}

fn draw_edges(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    slot: &Slot,
    titles: &[String],
    tab_at: usize,
) -> Rect {
    let focused = cx.has_keys(slot.pane, true);
    let room = slot.area.width.saturating_sub(4);
    let mut title = tab_line(cx.theme, titles, tab_at, room);
    if title.width() == 0 {
        title = words(format!(" {} ", slot.pane.title()), cx.theme.title(focused));
    }
    draw_frame(
        buf,
        slot.area,
        cx.theme,
        focused,
        Edges {
            title,
            ..Edges::default()
        },
    )
}

/// Draws the text mode and the scroll position at the right end of an edge.
pub(crate) fn draw_position(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    edge: Rect,
    tab: Tab,
    first: u32,
    rows: u16,
    lines: u32,
) {
    let mode = cx.model.detail.mode(tab);
    let mut note = if mode == tab.modes()[0] {
        String::new()
    } else {
        format!(" {} ", mode.title())
    };
    let end = (first + u32::from(rows)).min(lines);
    if end < lines || first > 0 {
        let more = if end < lines {
            cx.theme.glyphs.more_below
        } else {
            cx.theme.glyphs.more_above
        };
        note.push_str(&format!(" {end} of {lines} {more} "));
    }
    let width = text::width(&note) as u16;
    if width == 0 || width + 4 > edge.width {
        return;
    }
    let x = edge.right().saturating_sub(width + 2);
    draw_line(buf, Rect { x, width, ..edge }, &words(note, cx.theme.dim()));
}

/// Draws the wrapped head over at most a third of the area. Returns the remaining area, and whether
/// the head is whole.
pub(crate) fn draw_head(buf: &mut Buffer, area: Rect, head: &[Line<'static>]) -> (Rect, bool) {
    let width = indented(area).width;
    let lines: Vec<Line<'static>> = head
        .iter()
        .flat_map(|line| wrap_parts(line.clone(), width))
        .collect();
    let rows = (lines.len() as u16).min((area.height / HEAD_SHARE).max(1));
    let (top, rest) = take_top(area, rows);
    draw_lines(buf, indented(top), &lines);
    (rest, lines.len() <= usize::from(rows))
}

pub(crate) fn draw_text(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    area: Rect,
    pane: Pane,
    tab: Tab,
    detail: DetailPane<'_>,
    cache: &mut ViewCache,
) -> u32 {
    let WrappedText {
        lines,
        places,
        folds,
        widest,
    } = wrapped_text(cx, area.width, pane, tab, detail, cache);
    let search = cx
        .model
        .detail
        .search
        .as_ref()
        .filter(|search| !search.words.is_empty());
    let current = search.and_then(|search| current_match(search, &lines, cache));
    let focus = cx.model.navigation.focus;
    let missed = search.filter(|_| current.is_none() && focus.in_detail && focus.pane == pane);
    cache.is_search_missed |= missed.is_some();
    let followed = current.filter(|_| search.is_some_and(|search| search.follow));
    let cursor = followed
        .unwrap_or(cx.model.detail.cursor)
        .min((lines.len() as u32).saturating_sub(1));
    // On a card of the review, the key ends the review.
    let has_cursor =
        !places.is_empty() && cx.has_keys(pane, true) && cx.model.reviewing().is_none();
    let mut area = area;
    if has_cursor {
        cache.measures.folds = folds;
        let place = places.get(cursor as usize).and_then(Option::as_ref);
        area = draw_path(cx, buf, area, place);
    }
    if let Some(search) = missed {
        area = draw_miss(cx, buf, area, &search.words);
    }
    // A table wraps within its columns, so a URL in it may be cut anywhere.
    let has_no_table = matches!(
        tab,
        Tab::References | Tab::Request | Tab::Headers | Tab::Body | Tab::Output | Tab::Raw
    );
    cache.text_area = has_no_table.then_some(area);
    let count = lines.len() as u32;
    let scroll = match followed {
        Some(line) => scroll_to(line, cx.model.detail.scroll, area.height),
        None => cx.model.detail.scroll,
    };
    let first = scroll.min(count.saturating_sub(u32::from(area.height)));
    let measures = &mut cache.measures;
    measures.detail_rows = area.height;
    measures.detail_lines = count;
    measures.detail_cursor = cursor;
    measures.detail_overhang = widest.saturating_sub(area.width);
    measures.detail_top = first;
    let shown = VisibleText {
        first,
        sideways: cx.model.detail.sideways.min(measures.detail_overhang),
        cursor: has_cursor.then_some(cursor),
        searched: search.map(|search| text::search_form(&search.words)),
        current,
    };
    shown.draw(cx, buf, area, &lines);
    first
}

/// What is shown of a text: its place, the cursor, and the searched words.
struct VisibleText {
    first: u32,
    sideways: u16,
    cursor: Option<u32>,
    searched: Option<String>,
    /// The line of the match to which the search has moved.
    current: Option<u32>,
}

impl VisibleText {
    fn draw(&self, cx: &Cx<'_>, buf: &mut Buffer, area: Rect, lines: &[Line<'static>]) {
        let visible = lines.iter().skip(self.first as usize);
        for (y, line) in (0..area.height).zip(visible) {
            let (row, at) = (row_of(area, y), Some(self.first + u32::from(y)));
            draw_line(buf, row, &shifted(line, self.sideways.into()));
            if self.cursor == at {
                buf.set_style(row, cx.theme.cursor());
            }
            if let Some(searched) = &self.searched {
                highlight(cx.theme, buf, row, searched, self.current == at);
            }
        }
    }
}

/// Draws in the last line that the text does not contain these words. Returns the remaining area.
fn draw_miss(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, searched: &str) -> Rect {
    let (rest, line) = take_bottom(area, u16::from(area.height > 1));
    let miss = Span::styled(
        format!("no match for \"{}\"", text::clean(searched)),
        cx.theme.warn(),
    );
    draw_line(buf, line, &Line::from(miss));
    rest
}

/// The fold at each line: an object or array, by its first line.
fn folds(places: &[Option<JsonPlace>]) -> Arc<[Option<JsonFold>]> {
    let each = || {
        (0u32..)
            .zip(places)
            .filter_map(|(line, place)| Some((line, place.as_ref()?)))
    };
    let first: HashMap<u32, u32> = each()
        .filter(|(_, place)| place.is_first)
        .map(|(line, place)| (place.fold, line))
        .collect();
    let fold = |place: &JsonPlace| {
        Some(JsonFold {
            first: place.fold,
            line: *first.get(&place.fold)?,
        })
    };
    places.iter().map(|place| fold(place.as_ref()?)).collect()
}

/// Draws the path of the cursor in the last line. Returns the remaining area.
fn draw_path(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, place: Option<&JsonPlace>) -> Rect {
    let (rest, line) = take_bottom(area, u16::from(area.height > 3));
    if let Some(place) = place {
        let fold = cx
            .model
            .key_label(Context::Text, Action::Text(TextAction::Fold));
        let verb = if cx.model.detail.folded.contains(&place.fold) {
            "unfolds"
        } else {
            "folds"
        };
        let path = Line::from(vec![
            Span::styled(place.path.to_string(), cx.theme.key()),
            Span::styled(format!("   {fold} {verb}"), cx.theme.dim()),
        ]);
        draw_line(buf, line, &path);
    }
    rest
}

fn wrapped_text(
    cx: &Cx<'_>,
    width: u16,
    pane: Pane,
    tab: Tab,
    detail: DetailPane<'_>,
    cache: &mut ViewCache,
) -> WrappedText {
    let mode = cx.model.detail.mode(tab);
    let DetailText {
        made_from,
        version,
        make,
    } = detail.text;
    let sources = made_from.iter().map(ById::new).collect();
    let mask = cx.model.mask().cloned();
    let colours = (cx.theme.scheme, cx.theme.own);
    let folded = cx.model.detail.folded.clone();
    let key = TextKey {
        pane,
        tab,
        id: detail.id,
        mode,
        width,
        sources,
        version,
        mask,
        folded,
        colours,
    };
    cache.text.get(key, || {
        let made = cx.shown_lines(make(cx.theme, width, mode));
        let (lines, places) = match mode {
            TextMode::Wrapped | TextMode::Decoded => {
                let (made, places) = json_lines::fold(cx.theme, made, &cx.model.detail.folded);
                wrap_with(made, places, width)
            }
            TextMode::Raw => (wrap(made, width), Vec::new()),
            TextMode::Long | TextMode::Hex => (made, Vec::new()),
        };
        let widest = lines
            .iter()
            .map(Line::width)
            .max()
            .unwrap_or(0)
            .min(usize::from(u16::MAX)) as u16;
        WrappedText {
            lines: Arc::new(lines),
            folds: folds(&places),
            places: Arc::new(places),
            widest,
        }
    })
}

/// Wraps lines with their places in JSON, of which there are none or as many as lines.
fn wrap_with(
    lines: Vec<Line<'static>>,
    places: Vec<Option<JsonPlace>>,
    width: u16,
) -> (Vec<Line<'static>>, Vec<Option<JsonPlace>>) {
    if places.is_empty() {
        return (wrap(lines, width), places);
    }
    let each = lines.into_iter().zip(places).flat_map(|(line, place)| {
        // Only the first of the lines begins an object or array.
        let further = place.clone().map(|place| JsonPlace {
            is_first: false,
            ..place
        });
        let places = std::iter::once(place).chain(std::iter::repeat(further));
        wrap(vec![line], width).into_iter().zip(places)
    });
    each.unzip()
}

/// The line of the current match. The matching lines are found once for a text and a search.
fn current_match(
    search: &Search,
    lines: &Arc<Vec<Line<'static>>>,
    cache: &mut ViewCache,
) -> Option<u32> {
    let needle = text::search_form(&search.words);
    let found = cache.matches.get((needle.clone(), ById::new(lines)), || {
        let matching = |line: &Line<'_>| text::search_form(&line.to_string()).contains(&needle);
        Arc::new(
            (0u32..)
                .zip(&**lines)
                .filter(|(_, line)| matching(line))
                .map(|(at, _)| at)
                .collect(),
        )
    });
    let count = i64::try_from(found.len()).ok().filter(|&count| count > 0)?;
    found.get(search.at.rem_euclid(count) as usize).copied()
}

/// The scroll position at which `line` is visible; unchanged when it already is.
fn scroll_to(line: u32, scroll: u32, height: u16) -> u32 {
    let height = u32::from(height.max(1));
    if line < scroll || line >= scroll + height {
        line.saturating_sub(height / 2)
    } else {
        scroll
    }
}

/// A line without its first columns.
fn shifted<'a>(line: &'a Line<'static>, columns: usize) -> Cow<'a, Line<'static>> {
    if columns == 0 {
        return Cow::Borrowed(line);
    }
    let mut skip = columns;
    let mut out = Line {
        style: line.style,
        ..Line::default()
    };
    for span in &line.spans {
        let mut bytes = 0;
        for cluster in span.content.graphemes(true) {
            if skip == 0 {
                break;
            }
            skip = skip.saturating_sub(text::width(cluster));
            bytes += cluster.len();
        }
        out.push_span(Span::styled(span.content[bytes..].to_owned(), span.style));
    }
    Cow::Owned(out)
}

/// Highlights the matches in a drawn row.
fn highlight(theme: Theme, buf: &mut Buffer, row: Rect, needle: &str, is_current: bool) {
    let cells: Vec<String> = (row.left()..row.right())
        .map(|x| text::search_form(buf[(x, row.y)].symbol()))
        .collect();
    for start in 0..cells.len() {
        let mut rest = needle;
        let mut end = start;
        while end < cells.len() && !rest.is_empty() {
            match rest
                .strip_prefix(cells[end].as_str())
                .filter(|_| !cells[end].is_empty())
            {
                Some(left) => rest = left,
                None => break,
            }
            end += 1;
        }
        if rest.is_empty() {
            let area = Rect {
                x: row.x + start as u16,
                width: (end - start) as u16,
                ..row
            };
            buf.set_style(
                area,
                if is_current {
                    theme.cursor()
                } else {
                    theme.found()
                },
            );
        }
    }
}
