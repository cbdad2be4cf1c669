//! How every detail is drawn: a few head lines made anew each frame, the tabs, and a text that is made once.
//!
//! ```text
//!   head    name, facts                      always visible, cheap
//!   tabs    ▌Overview▐  Evidence  …
//!   text    key ─► same as last frame? ─► its lines from the cache, from the scrolled one on
//!               └► made and wrapped otherwise
//! ```

use crate::dashboard::base::{Pane, RowRef, Tab, TextMode};
use crate::dashboard::model::{LinePurpose, Modal};
use crate::dashboard::text::Search;
use crate::dashboard::ui::context::words;
use crate::dashboard::ui::layout::{indented, take_bottom, take_top};
use crate::dashboard::ui::widgets::frame::draw_frame;
use crate::dashboard::ui::widgets::input::input_spans;
use crate::dashboard::ui::widgets::lines::{draw_line, row_of};
use crate::dashboard::ui::widgets::tabs::tab_line;
use crate::dashboard::ui::widgets::wrap::wrap;
use crate::dashboard::ui::{Cx, Edges, Slot, TextKey, Theme, ViewCache, WrappedText};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use std::any::Any;
use std::sync::Arc;

/// Most rows the head may take, as a share of the area: one in so many.
const HEAD_SHARE: u16 = 3;

/// What a pane's file says about the detail of its selected row.
pub(crate) struct DetailPane<'a> {
    /// Of the row, for the cache.
    pub id: RowRef,
    /// Name and facts.
    pub head: Vec<Line<'static>>,
    /// Heads of the tabs, with counts.
    pub tabs: Vec<String>,
    /// The text of the present tab.
    pub text: DetailText<'a>,
}

/// A text, and what it is made from.
pub(crate) struct DetailText<'a> {
    /// The shared values it is made from: as long as they are the same ones, so is the text.
    pub made_from: Vec<Arc<dyn Any + Send + Sync>>,
    /// The same for what has no address: another number, another text.
    pub version: u64,
    /// Makes it. Lines that must not be wrapped (dumps) are made for the width.
    pub make: Box<dyn FnOnce(Theme, u16, TextMode) -> Vec<Line<'static>> + 'a>,
}

impl<'a> DetailText<'a> {
    pub fn new(
        made_from: Vec<Arc<dyn Any + Send + Sync>>,
        make: impl FnOnce(Theme, u16, TextMode) -> Vec<Line<'static>> + 'a,
    ) -> Self {
        Self { made_from, version: 0, make: Box::new(make) }
    }

    /// The same, made anew when this number is another.
    pub fn with_version(mut self, version: u64) -> Self {
        self.version = version;
        self
    }
}

/// Draws the detail of the selected row.
pub(crate) fn draw_detail<'a>(
    cx: &Cx<'a>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
    detail_of: fn(&Cx<'a>, Pane, &mut ViewCache) -> Option<DetailPane<'a>>,
) {
    if slot.area.is_empty() {
        return;
    }
    let detail = detail_of(cx, slot.pane, cache);
    let tab = cx.model.detail.tab(slot.pane);
    let tab_at = Tab::of(slot.pane).iter().position(|&one| one == tab).unwrap_or(0);
    let titles = detail.as_ref().map(|detail| detail.tabs.clone()).unwrap_or_default();
    let (edge, mut area) = if slot.framed {
        let inside = draw_edges(cx, buf, slot, &titles, tab_at);
        (Rect { y: slot.area.bottom() - 1, height: 1, ..slot.area }, inside)
    } else {
        let (edge, rest) = take_top(slot.area, 1);
        draw_rule(cx, buf, edge, slot.pane, &titles, tab_at);
        (edge, rest)
    };
    let Some(detail) = detail else {
        let nothing = words("nothing selected", cx.theme.dim());
        return draw_line(buf, indented(area), &nothing);
    };
    area = draw_head(buf, area, &detail.head);
    area = take_top(area, u16::from(area.height > 6)).1;
    area = draw_search_line(cx, buf, area);
    let first = draw_text(cx, buf, indented(area), slot.pane, tab, detail, cache);
    let measured = cache.measures;
    draw_place(cx, buf, edge, tab, first, measured.detail_rows, measured.detail_lines);
}

/// The search that is being typed, in the last line. Returns what is left.
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

/// The upper edge of a detail without a frame: the tabs in a rule.
fn draw_rule(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, pane: Pane, titles: &[String], tab_at: usize) {
    let theme = cx.theme;
    let style = theme.border(cx.has_keys(pane, true));
    let mut line = Line::from(Span::styled(theme.glyphs.rule, style));
    line.extend(tab_line(theme, titles, tab_at, area.width.saturating_sub(2)).spans);
    if titles.is_empty() {
        line.push_span(Span::styled(format!(" {} ", pane.title()), theme.title(true)));
    }
    let rest = usize::from(area.width).saturating_sub(line.width());
    line.push_span(Span::styled(theme.glyphs.rule.repeat(rest), style));
    draw_line(buf, area, &line);
}

fn draw_edges(cx: &Cx<'_>, buf: &mut Buffer, slot: &Slot, titles: &[String], tab_at: usize) -> Rect {
    let focused = cx.has_keys(slot.pane, true);
    let room = slot.area.width.saturating_sub(4);
    let mut title = tab_line(cx.theme, titles, tab_at, room);
    if title.width() == 0 {
        title = words(format!(" {} ", slot.pane.title()), cx.theme.title(focused));
    }
    draw_frame(buf, slot.area, cx.theme, focused, Edges { title, ..Edges::default() })
}

/// How the text is shown, and how far it goes on, at the right end of an edge.
fn draw_place(cx: &Cx<'_>, buf: &mut Buffer, edge: Rect, tab: Tab, first: u32, rows: u16, lines: u32) {
    let mode = cx.model.detail.mode(tab);
    let mut note = if mode == tab.modes()[0] { String::new() } else { format!(" {} ", mode.title()) };
    let end = (first + u32::from(rows)).min(lines);
    if end < lines || first > 0 {
        let more = if end < lines { cx.theme.glyphs.more_below } else { cx.theme.glyphs.more_above };
        note.push_str(&format!(" {end} of {lines} {more} "));
    }
    let width = crate::text::width(&note) as u16;
    if width == 0 || width + 4 > edge.width {
        return;
    }
    let x = edge.right().saturating_sub(width + 2);
    draw_line(buf, Rect { x, width, ..edge }, &words(note, cx.theme.dim()));
}

/// The head, wrapped, over at most a third of the area. Returns what is left.
pub(crate) fn draw_head(buf: &mut Buffer, area: Rect, head: &[Line<'static>]) -> Rect {
    let lines = wrap(head.to_vec(), indented(area).width);
    let rows = (lines.len() as u16).min((area.height / HEAD_SHARE).max(1));
    let (top, rest) = take_top(area, rows);
    for (y, line) in (0..rows).zip(&lines) {
        draw_line(buf, row_of(indented(top), y), line);
    }
    rest
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
    let shown = cx.model.detail.mode(tab);
    make_text(cx, area.width, pane, tab, shown, detail, cache);
    let Some(text) = &cache.text else { return 0 };
    let lines = Arc::clone(&text.lines);
    cache.measures.detail_rows = area.height;
    cache.measures.detail_lines = lines.len() as u32;
    cache.measures.detail_overhang = text.widest.saturating_sub(area.width);
    let last = (lines.len() as u32).saturating_sub(u32::from(area.height));
    let search = cx.model.detail.search.as_ref().filter(|search| !search.words.is_empty());
    let present = search.and_then(|search| present_match(search, &lines, cache));
    let follows = search.is_some_and(|search| search.follow);
    let scroll = match present.filter(|_| follows) {
        Some(line) => scroll_to(line, cx.model.detail.scroll, area.height),
        None => cx.model.detail.scroll,
    };
    let first = scroll.min(last);
    cache.measures.detail_top = first;
    let sideways = usize::from(cx.model.detail.sideways.min(cache.measures.detail_overhang));
    for (y, line) in lines.iter().skip(first as usize).take(usize::from(area.height)).enumerate() {
        let row = row_of(area, y as u16);
        if sideways > 0 {
            draw_line(buf, row, &shifted(line, sideways));
        } else {
            draw_line(buf, row, line);
        }
        if let Some(search) = search {
            let present = present == Some(first + y as u32);
            highlight(cx.theme, buf, row, &search.words.to_lowercase(), present);
        }
    }
    first
}

/// Makes the text unless the last frame's is still the right one.
fn make_text(
    cx: &Cx<'_>,
    width: u16,
    pane: Pane,
    tab: Tab,
    shown: TextMode,
    detail: DetailPane<'_>,
    cache: &mut ViewCache,
) {
    let made_from = detail.text.made_from.iter().map(|value| Arc::as_ptr(value).cast::<()>() as usize).collect();
    let key = TextKey { pane, tab, id: detail.id, shown, width, made_from, version: detail.text.version };
    if cache.text.as_ref().is_some_and(|text| text.key == key) {
        return;
    }
    let made = (detail.text.make)(cx.theme, width, shown);
    let lines = match shown {
        TextMode::Wrapped | TextMode::Decoded | TextMode::Raw => wrap(made, width),
        TextMode::Long | TextMode::Hex => made,
    };
    let widest = lines.iter().map(Line::width).max().unwrap_or(0).min(usize::from(u16::MAX)) as u16;
    cache.matches = None;
    cache.text = Some(WrappedText { key, _held: detail.text.made_from, lines: Arc::new(lines), widest });
}

/// The line of the present match; the lines with matches are looked up once a text and search.
fn present_match(search: &Search, lines: &[Line<'static>], cache: &mut ViewCache) -> Option<u32> {
    let wanted = search.words.to_lowercase();
    if cache.matches.as_ref().is_none_or(|(words, _)| *words != wanted) {
        let matching = |line: &Line<'_>| line.to_string().to_lowercase().contains(&wanted);
        let found = (0u32..).zip(lines).filter(|(_, line)| matching(line)).map(|(at, _)| at).collect();
        cache.matches = Some((wanted, found));
    }
    let (_, found) = cache.matches.as_ref()?;
    let count = i64::try_from(found.len()).ok().filter(|&count| count > 0)?;
    found.get(search.at.rem_euclid(count) as usize).copied()
}

/// The first line to show so that `line` is visible, moved as little as needed.
fn scroll_to(line: u32, scroll: u32, height: u16) -> u32 {
    let height = u32::from(height.max(1));
    if line < scroll || line >= scroll + height { line.saturating_sub(height / 2) } else { scroll }
}

/// A line without its first columns.
fn shifted(line: &Line<'static>, columns: usize) -> Line<'static> {
    use unicode_segmentation::UnicodeSegmentation;
    let mut skip = columns;
    let mut out = Line { style: line.style, ..Line::default() };
    for span in &line.spans {
        let mut bytes = 0;
        for cluster in span.content.graphemes(true) {
            if skip == 0 {
                break;
            }
            skip = skip.saturating_sub(crate::text::width(cluster));
            bytes += cluster.len();
        }
        out.push_span(Span::styled(span.content[bytes..].to_owned(), span.style));
    }
    out
}

/// Marks what a search found in a drawn row.
fn highlight(theme: Theme, buf: &mut Buffer, row: Rect, wanted: &str, present: bool) {
    let cells: Vec<String> = (row.left()..row.right()).map(|x| buf[(x, row.y)].symbol().to_lowercase()).collect();
    for start in 0..cells.len() {
        let mut rest = wanted;
        let mut end = start;
        while end < cells.len() && !rest.is_empty() {
            match rest.strip_prefix(cells[end].as_str()).filter(|_| !cells[end].is_empty()) {
                Some(left) => rest = left,
                None => break,
            }
            end += 1;
        }
        if rest.is_empty() {
            let area = Rect { x: row.x + start as u16, width: (end - start) as u16, ..row };
            buf.set_style(area, if present { theme.chosen() } else { theme.found() });
        }
    }
}
