//! The edges of a framed list: title, why rows are not current, summary and position.

use super::{ListPane, ListState, parts_of_note};
use crate::base::Pane;
use crate::list::view::SearchProgress;
use crate::ui::{Cx, Edges, draw_frame, format, numbered};
use ratatui::prelude::{Buffer, Line, Rect, Span};
use scandeck_domain::problem::Problem;
use scandeck_wire::text;

/// Shorter reasons are excluded.
const SHORTEST_REASON: usize = 12;

/// Draws the frame with its edges. Returns the area inside.
pub(super) fn draw_edges(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, pane: &ListPane<'_>) -> Rect {
    let mut note = pane.note.clone();
    if note.width() == 0 && !pane.order.is_empty() {
        note = Line::from(Span::styled(pane.order.clone(), cx.theme.dim()));
    }
    let mut room = usize::from(area.width).saturating_sub(text::width(&numbered(pane.pane)) + 8);
    let mut note = parts_of_note(note, cx, room.saturating_sub(2));
    if note.width() > 0 {
        note.spans.insert(0, Span::raw(" "));
        note.push_span(Span::raw(" "));
    }
    // Hidden rows matter more than the summary. A title without room for them leaves them to the
    // lower edge.
    let hidden = hidden(cx, pane).filter(|part| part.width() < room);
    let hidden_width = hidden.as_ref().map_or(0, |part| part.width() + 1);
    if hidden_width + note.width() > room {
        note = Line::default();
    }
    room -= hidden_width;
    let counts = if hidden.is_some() {
        HiddenCounts::InTitle
    } else {
        HiddenCounts::Beside
    };
    let below = Line::from(Span::styled(place(pane, counts), cx.theme.dim()));
    // Why rows are not current matters more than their summary.
    match warnings_width(cx, pane) {
        0 => {}
        whole if whole + note.width() > room => note = Line::default(),
        _ => room -= note.width(),
    }
    draw_frame(
        buf,
        area,
        cx.theme,
        cx.has_keys(pane.pane, false),
        Edges {
            title: title(cx, pane, hidden, room),
            note,
            below,
        },
    )
}

/// ` 3 Findings · 12 hidden, 3 new `, with the age of stale rows and the reason where there is
/// room.
fn title(
    cx: &Cx<'_>,
    pane: &ListPane<'_>,
    hidden: Option<Span<'static>>,
    room: usize,
) -> Line<'static> {
    let style = cx.theme.title(cx.model.navigation.focus.pane == pane.pane);
    let mut title = Line::from(Span::styled(format!(" {} ", numbered(pane.pane)), style));
    for part in hidden.into_iter().chain(warnings(cx, pane, room)) {
        title.push_span(part);
        title.push_span(Span::raw(" "));
    }
    title
}

/// `21 hidden, 3 new`: the rows that the filter hides, and those of them that arrived since the
/// filter is in use.
fn hidden(cx: &Cx<'_>, pane: &ListPane<'_>) -> Option<Span<'static>> {
    let hidden = Some(pane.hidden()).filter(|&hidden| hidden > 0)?;
    let style = if pane.hidden_new > 0 {
        cx.theme.warn()
    } else {
        cx.theme.dim()
    };
    let separator = cx.theme.glyphs.separator;
    let number = format::thousands(hidden as u64);
    Some(Span::styled(
        format!("{separator} {number} hidden{}", and_new(pane.hidden_new)),
        style,
    ))
}

/// `, 3 new`, the end of a number of hidden rows; nothing if none of them is new.
pub(super) fn and_new(new: usize) -> String {
    if new > 0 {
        format!(", {} new", format::thousands(new as u64))
    } else {
        String::new()
    }
}

/// Why the rows are not current, and how many of them cannot be read.
pub(super) fn warnings(cx: &Cx<'_>, pane: &ListPane<'_>, room: usize) -> Vec<Span<'static>> {
    let of_pane = match pane.pane {
        Pane::Captures => [unarchived(cx), older(cx, room)],
        Pane::Findings => [unread_scans(cx), search_progress(cx, pane.pane)],
        _ => [None, None],
    };
    let unreadable = pane
        .pane
        .list_kind()
        .and_then(|list| cx.model.data.unreadable.get(&list))
        .map(|items| format!("{} not readable", format::plural(items.count, "item")));
    let notes = [stale(cx, pane, room)].into_iter().chain(of_pane);
    let notes = notes.chain([unreadable]).flatten();
    notes
        .map(|note| Span::styled(note, cx.theme.warn()))
        .collect()
}

/// `stale 2m · 503 Service Unavailable`
fn stale(cx: &Cx<'_>, pane: &ListPane<'_>, room: usize) -> Option<String> {
    let ListState::Stale(at, problem) = pane.state else {
        return None;
    };
    let age = at.map_or_else(
        || "stale".to_owned(),
        |at| format!("stale {}", cx.age(Some(at))),
    );
    let reason = stale_reason(cx, problem, room.saturating_sub(text::width(&age) + 3));
    Some(match reason.as_str() {
        "" => age,
        reason => format!("{age} {} {reason}", cx.theme.glyphs.separator),
    })
}

/// Captures that wait for a writable archive.
fn unarchived(cx: &Cx<'_>) -> Option<String> {
    let backlog = cx.model.captures.oob.backlog.as_ref()?;
    let number = format::thousands(backlog.captures as u64);
    let problem = text::clean(backlog.problem.brief());
    let separator = cx.theme.glyphs.separator;
    Some(format!("{number} not archived {separator} {problem}"))
}

/// Captures that are not loaded. Where there is room beside the note, it has the command that lists
/// them, which is why that does not count as needed width.
fn older(cx: &Cx<'_>, room: usize) -> Option<String> {
    let older = unloaded_captures(cx)?;
    let separator = cx.theme.glyphs.separator;
    let with_query = older_query(cx).map(|query| format!("{older} {separator} {query}"));
    let fits = |note: &String| room < usize::MAX && text::width(note) < room;
    Some(with_query.filter(fits).unwrap_or(older))
}

fn unread_scans(cx: &Cx<'_>) -> Option<String> {
    let unread = cx.model.data.unread_scans.findings;
    let (number, separator) = (format::thousands(unread as u64), cx.theme.glyphs.separator);
    (unread > 0).then(|| format!("{number} not loaded {separator} scan:N loads a scan"))
}

/// `12,000 older not loaded`: captures that only the archive has. Their number is unknown at the
/// start.
fn unloaded_captures(cx: &Cx<'_>) -> Option<String> {
    let stream = &cx.model.data.captures;
    match (stream.older, stream.dropped) {
        (true, _) => Some("older captures not loaded".to_owned()),
        (false, 0) => None,
        (false, dropped) => Some(format!("{} older not loaded", format::thousands(dropped))),
    }
}

/// The command that lists the captures that are not loaded.
fn older_query(cx: &Cx<'_>) -> Option<String> {
    let oldest = cx.model.data.captures.rows.front()?.capture.request_date?;
    let day = oldest.0.strftime("%Y-%m-%d");
    Some(format!("scandeck captures list --query 'time<={day}'"))
}

/// `texts: 40,000 of 100,000 searched`, while the filter searches long texts.
pub(super) fn search_progress(cx: &Cx<'_>, pane: Pane) -> Option<String> {
    let SearchProgress { searched, total } = cx
        .model
        .search_progress()
        .filter(|_| pane == Pane::Findings)?;
    let number = |count: usize| format::thousands(count as u64);
    Some(format!(
        "texts: {} of {} searched",
        number(searched),
        number(total)
    ))
}

/// The columns of all warnings.
pub(super) fn warnings_width(cx: &Cx<'_>, pane: &ListPane<'_>) -> usize {
    warnings(cx, pane, usize::MAX)
        .iter()
        .map(|part| part.width() + 2)
        .sum()
}

/// `503 Service Unavailable · retry in 4s`, as much of it as fits into the room: without the time,
/// or nothing.
pub(crate) fn stale_reason(cx: &Cx<'_>, problem: &Problem, room: usize) -> String {
    let (brief, next) = cx.model.reason(problem);
    let brief = text::clean(brief);
    let retry = next.map(|next| {
        let wait = (next.as_second() - cx.model.now.wall.as_second()).max(0);
        format!(" {} {}", cx.theme.glyphs.separator, retry_in(wait))
    });
    let retry = retry.unwrap_or_default();
    let left = room.saturating_sub(text::width(&retry));
    match left {
        left if text::width(&brief) <= left => format!("{brief}{retry}"),
        _ if text::width(&brief) <= room => brief.into_owned(),
        _ if room >= SHORTEST_REASON => text::start(&brief, room).into_owned(),
        _ => String::new(),
    }
}

/// When the next attempt is, in seconds.
pub(crate) fn retry_in(seconds: i64) -> String {
    if seconds == 0 {
        "retrying".to_owned()
    } else {
        format!("retry in {seconds}s")
    }
}

/// Where the numbers of hidden rows are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum HiddenCounts {
    InTitle,
    Beside,
}

/// ` 15 of 41 ` for the lower edge; with the hidden rows that the title does not name.
pub(super) fn place(pane: &ListPane<'_>, counts: HiddenCounts) -> String {
    let number = |n: usize| format::thousands(n as u64);
    let is_beside = counts == HiddenCounts::Beside;
    let new = if is_beside {
        and_new(pane.hidden_new)
    } else {
        String::new()
    };
    if let Some(words) = &pane.place {
        let hidden = if new.is_empty() {
            String::new()
        } else {
            format!("{new} hidden")
        };
        return format!(" {words}{hidden} ");
    }
    match (pane.shown, pane.total) {
        (0, _) => String::new(),
        (shown, total) if shown < total && is_beside => {
            format!(
                " {} of {}, {} hidden{new} ",
                number(pane.at + 1),
                number(shown),
                number(total - shown)
            )
        }
        (shown, _) => format!(" {} of {} ", number(pane.at + 1), number(shown)),
    }
}
