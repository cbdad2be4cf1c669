//! Captures: what the loggers recorded, newest last. One of them is in [`super::capture`].

use ratatui::buffer::Buffer;
use ratatui::text::{Line, Span};

use super::list::{Known, ListPane, draw_list as draw_any_list, pane_of};
use crate::app::model::Pane;
use crate::app::stream::Caught;
use crate::input::{Action, Context};
use crate::oob::request;
use crate::text;
use crate::view::cache::StreamAnchor;
use crate::view::context::{Cx, cell, words};
use crate::view::format;
use crate::view::layout::Slot;
use crate::view::widgets::table::{Column, Row};

const COLUMNS: &[Column] = &[
    Column::fixed("TIME", 8),
    Column::fixed("HOW", 7),
    Column::flex("FROM", 9, 1).at_most(39),
    Column::flex("REQUEST", 10, 3),
    Column::flex("LOGGER", 8, 1).at_most(24).from(72),
    Column::fixed("BODY", 8).right().expendable(1),
];

pub(super) fn draw_list(cx: &Cx<'_>, buf: &mut Buffer, slot: &Slot, anchor: &mut StreamAnchor) -> u16 {
    let (stream, list) = (&cx.model.data.captures, &cx.model.lists.captures);
    let out = super::key(cx, Context::Captures, Action::Out);
    let pane = ListPane {
        columns: COLUMNS,
        note: follow_note(cx),
        order: "newest last".to_owned(),
        invitation: format!(
            "Nothing captured yet. Requests made to a logger's URL appear here by themselves; {out} shows the loggers."
        ),
        known: Known::of(&cx.model.data.loggers),
        filter: &list.filter,
        total: stream.caught.len(),
        shown: list.len(),
        at: list.at,
        marks: (list.marks.len(), 0),
        ..pane_of(Pane::Captures, &cx.model.data.loggers)
    };
    let range = list.range_from.and_then(|id| list.place(stream, id));
    let row = |at: usize, _: &[u16]| {
        let caught = stream.get(*list.rows_at(at).last()?)?;
        let id = caught.id();
        let ranged = range.is_some_and(|from| (from.min(list.at)..=from.max(list.at)).contains(&at));
        Some(Row {
            cells: cells(cx, caught),
            style: cx.freshness(&cx.model.data.loggers),
            marked: list.marks.contains(&id) || ranged,
            selected: list.selected == Some(id),
        })
    };
    draw_any_list(cx, buf, slot, &pane, |height| anchor.resolve(list, height), row)
}

/// `following`, `paused`, `▼ 37 new`, and what fell out of the ring.
fn follow_note(cx: &Cx<'_>) -> Line<'static> {
    let (theme, list) = (cx.theme, &cx.model.lists.captures);
    let mut line = Line::default();
    if cx.model.data.captures.dropped > 0 {
        let dropped = format::thousands(cx.model.data.captures.dropped);
        line.push_span(Span::styled(format!("{dropped} older dropped  "), theme.warn()));
    }
    line.push_span(match (list.below, list.paused, list.follow) {
        (new @ 1.., paused, _) => {
            let paused = if paused { "paused, " } else { "" };
            Span::styled(format!("{paused}{} {new} new", theme.glyphs.more_below), theme.warn())
        }
        (0, true, _) => Span::styled("paused", theme.warn()),
        (0, false, true) if !list.is_empty() => Span::styled("following", theme.dim()),
        _ => Span::raw(""),
    });
    line
}

fn cells<'a>(cx: &Cx<'a>, caught: &'a Caught) -> Vec<Line<'a>> {
    let capture = &*caught.capture;
    let size = request::body_size(capture);
    vec![
        words(format::clock(cx.theme, capture.request_date), cx.theme.text()),
        cell(&capture.request_method),
        cell(&capture.ip_address),
        Line::from(below_logger(cx, caught)),
        Line::from(cx.logger_name(caught.logger)),
        words(if size == 0 { String::new() } else { format::bytes(size) }, cx.theme.text()),
    ]
}

/// Path and query without the path of the logger itself, which every request to it begins with.
fn below_logger(cx: &Cx<'_>, caught: &Caught) -> String {
    let target = text::clean(&request::target(&caught.capture)).into_owned();
    let logger = cx.model.data.loggers.value().and_then(|loggers| loggers.get(caught.logger));
    let base = logger.and_then(|logger| url::Url::parse(&logger.handler_url).ok());
    let below = base.as_ref().and_then(|base| target.strip_prefix(base.path().trim_end_matches('/')));
    match below {
        Some(rest) if rest.is_empty() || rest.starts_with('?') => format!("/{rest}"),
        Some(rest) if rest.starts_with('/') => rest.to_owned(),
        _ => target,
    }
}

/// For layouts that have one line for the captures: the newest.
pub(super) fn summary<'a>(cx: &Cx<'a>) -> Line<'a> {
    let theme = cx.theme;
    let Some(last) = cx.model.data.captures.caught.back() else { return words("none yet", theme.dim()) };
    let capture = &last.capture;
    let method = text::clean(&capture.request_method).into_owned();
    let from = text::clean(&capture.ip_address).into_owned();
    let time = format::clock(theme, capture.request_date);
    let count = format::thousands(cx.model.data.captures.caught.len() as u64);
    words(format!("{count}, last {time} {method} from {from}"), theme.text())
}
