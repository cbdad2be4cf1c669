//! The list of captures, newest last. The detail of one capture is in `detail`.

pub mod cells;
pub mod detail;

use crate::base::{CaptureRow, Pane, ShownRows};
use crate::captures::HTTP_ONLY;
use crate::input::{Action, Context, ListAction};
use crate::ui::{
    Cx, ListPane, ListState, PaneDrawing, Slot, TableRow, ViewCache, draw_list_pane, format,
    kept_columns, key, layouts, words,
};
use ratatui::prelude::{Buffer, Line, Span};
use scandeck_domain::oob::{Reachability, request};
use scandeck_wire::text;

pub(crate) const DRAWING: PaneDrawing =
    PaneDrawing::new(draw_list, detail::detail).summary(summary);

pub(crate) fn draw_list(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
) -> ShownRows {
    let (stream, list) = (&cx.model.data.captures, &cx.model.lists.captures);
    let shown = (list.len(), list.at);
    let columns = kept_columns(cx, cache, Pane::Captures, Vec::new(), shown, || {
        layouts(cells::COLUMNS, cx)
    });
    // Captures in folded groups, and those of other loggers, do not count as hidden; while a query
    // runs, all are counted.
    let in_scope = match list.pending() {
        0 => stream.count_of(cx.model.navigation.scope.logger),
        _ => stream.rows.len(),
    };
    let total = (list.len() + in_scope).saturating_sub(list.pending() + list.matches());
    let pane = ListPane {
        columns: &columns,
        note: follow_note(cx),
        order: about(cx),
        // It reads the URLs of all loggers.
        invitation: if total == 0 {
            invitation(cx)
        } else {
            String::new()
        },
        filter: &list.filter,
        total,
        shown: list.len(),
        hidden_new: list.hidden_news.count,
        at: list.at,
        marks: (list.marks().len(), list.marks_hidden()),
        place: list.by.map(|by| {
            let hidden = format::and_hidden(total.saturating_sub(list.len()));
            format!(
                "{} grouped by {}{hidden}",
                format::plural(list.matches(), "capture"),
                by.word()
            )
        }),
        ..ListPane::new(Pane::Captures, state(cx))
    };
    let row = |at: usize, widths: &[u16]| row(cx, at, widths);
    let anchor = &mut cache.capture_anchor;
    let scroll = cx.model.scroll_of(Pane::Captures, anchor.scrolled());
    draw_list_pane(
        cx,
        buf,
        slot,
        &pane,
        |height| anchor.resolve(scroll, list, stream, height),
        row,
    )
}

/// A capture, or the header of a group.
fn row<'a>(cx: &Cx<'a>, at: usize, widths: &[u16]) -> Option<TableRow<'a>> {
    let (stream, list) = (&cx.model.data.captures, &cx.model.lists.captures);
    let newest = stream.get(list.rows_at(at).next_back()?)?;
    let in_range = |from: usize| (from.min(list.at)..=from.max(list.at)).contains(&at);
    Some(TableRow {
        cells: match list.groups.header(at) {
            Some(group) => cells::of_group(cx, group, newest, widths),
            None => cells::of(cx, newest, widths),
        },
        style: cx.freshness(&cx.model.data.loggers),
        marked: list.is_marked(stream, at) || list.range_start(stream).is_some_and(in_range),
        selected: at == list.at,
    })
}

/// Captures are not current when the loggers are not, or when the captures of one cannot be read.
fn state<'a>(cx: &Cx<'a>) -> ListState<'a> {
    if cx.model.session.bundled {
        return ListState::Loaded;
    }
    match (
        &cx.model.data.captures.problem,
        ListState::of(&cx.model.data.loggers),
    ) {
        (Some(problem), ListState::Loaded) => ListState::Stale(None, problem),
        (_, state) => state,
    }
}

/// `3 loggers · 41 captures · 6 payloads waiting`.
fn about(cx: &Cx<'_>) -> String {
    let (model, stream) = (cx.model, &cx.model.data.captures);
    let loggers = model.data.loggers.value().cloned().unwrap_or_default();
    let of = match model.navigation.scope.logger.and_then(|id| loggers.get(id)) {
        Some(logger) => format!("logger {}", text::clean(&logger.label)),
        None => format::plural(loggers.len(), "logger"),
    };
    let count = match model.navigation.scope.logger {
        Some(_) => model.lists.captures.matches(),
        None => stream.rows.len(),
    };
    let separator = cx.theme.glyphs.separator;
    let waiting = match model.payloads_waiting() {
        0 => String::new(),
        waiting => format!(
            " {separator} {} waiting",
            format::plural(waiting, "payload")
        ),
    };
    format!(
        "{of} {separator} {}{waiting}",
        format::plural(count, "capture")
    )
}

/// The text of an empty list, with the networks from which the loggers can be reached.
fn invitation(cx: &Cx<'_>) -> String {
    if cx.model.session.bundled {
        return "no captures in this bundle".to_owned();
    }
    let out = key(cx, Context::Captures, Action::List(ListAction::Out));
    let loggers = cx
        .model
        .data
        .loggers
        .value()
        .map(|table| table.items())
        .unwrap_or_default();
    let only = cx.model.navigation.scope.logger;
    let urls = loggers
        .iter()
        .filter(|logger| only.is_none_or(|only| only == logger.id));
    let mut reaches: Vec<String> = urls
        .filter_map(|logger| Some(Reachability::of(&logger.handler_url)?.to_string()))
        .collect();
    reaches.sort();
    reaches.dedup();
    let reached = match reaches.is_empty() {
        true => String::new(),
        false => format!(
            "\nloggers are reachable {}",
            text::clean(&reaches.join(", or "))
        ),
    };
    format!("no captures yet · {out} shows the logger URLs{reached}\n{HTTP_ONLY}")
}

/// `following`, `paused`, `▼ 37 new`; before it the progress of the filter.
fn follow_note(cx: &Cx<'_>) -> Line<'static> {
    let (theme, list) = (cx.theme, &cx.model.lists.captures);
    let mut line = Line::default();
    let stream = &cx.model.data.captures;
    let held = stream.rows.len();
    if list.pending() > 0 {
        let searched = format::thousands(held.saturating_sub(list.pending()) as u64);
        let held = format::thousands(held as u64);
        line.push_span(Span::styled(
            format!("filter: {searched} of {held} captures checked  "),
            theme.warn(),
        ));
    }
    line.extend(rate(cx));
    line.push_span(match (list.below(), list.paused, list.follow) {
        (new @ 1.., paused, _) => {
            let paused = if paused { "paused, " } else { "" };
            Span::styled(
                format!("{paused}{} {new} new", theme.glyphs.more_below),
                theme.warn(),
            )
        }
        (0, true, _) => Span::styled("paused", theme.warn()),
        (0, false, true) if !list.is_empty() => Span::styled("following", theme.dim()),
        _ => Span::raw(""),
    });
    line
}

/// Minutes of the small plot, and columns of the screen from which it is drawn.
const MINUTES: i64 = 12;
const PLOT_FROM: u16 = 100;

/// `▂▁▁▃▁▁▁█▂▁▁▁ 7/min  `: the captures of the last minutes, the last minute in numbers. Empty
/// without captures in that time.
fn rate(cx: &Cx<'_>) -> Vec<Span<'static>> {
    let rows = &cx.model.data.captures.rows;
    let now = cx.model.service_now().as_second();
    // The rows are in the order of their arrival.
    let since = |minutes: i64| {
        let is_before = |row: &CaptureRow| {
            row.capture
                .request_date
                .is_none_or(|at| at.as_second() <= now - 60 * minutes)
        };
        rows.len() - rows.partition_point(is_before)
    };
    let since: Vec<usize> = (0..=MINUTES).rev().map(since).collect();
    if since.first() == since.last() {
        return Vec::new();
    }
    let counts: Vec<usize> = since
        .windows(2)
        .map(|two| two[0].saturating_sub(two[1]))
        .collect();
    let (most, last) = (
        counts.iter().copied().max().unwrap_or(0).max(1),
        counts.last().copied().unwrap_or(0),
    );
    let heights = cx.theme.glyphs.heights;
    let height = |count: &usize| {
        heights[(count * (heights.len() - 1))
            .div_ceil(most)
            .min(heights.len() - 1)]
    };
    let plot = if cx.model.screen.size.columns < PLOT_FROM {
        String::new()
    } else {
        counts.iter().map(height).collect()
    };
    let plot = if plot.is_empty() {
        plot
    } else {
        format!("{plot} ")
    };
    vec![
        Span::styled(plot, cx.theme.active()),
        Span::styled(
            format!("{}/min  ", format::thousands(last as u64)),
            cx.theme.dim(),
        ),
    ]
}

/// Path and query without the path of the logger, with which every request to it begins.
fn below_logger(cx: &Cx<'_>, captured: &CaptureRow) -> String {
    let target = text::clean(&request::target(&captured.capture)).into_owned();
    let logger = cx
        .model
        .data
        .loggers
        .value()
        .and_then(|loggers| loggers.get(captured.logger));
    let base = logger.and_then(|logger| url::Url::parse(&logger.handler_url).ok());
    let below = base
        .as_ref()
        .and_then(|base| target.strip_prefix(base.path().trim_end_matches('/')));
    match below {
        Some(rest) if rest.is_empty() || rest.starts_with('?') => format!("/{rest}"),
        Some(rest) if rest.starts_with('/') => rest.to_owned(),
        _ => target,
    }
}

/// The newest capture, for layouts with one line for the captures.
pub(crate) fn summary<'a>(cx: &Cx<'a>) -> Line<'a> {
    let count = format::thousands(cx.model.data.captures.rows.len() as u64);
    match last_request(cx) {
        Some(last) => words(format!("{count}, last {last}"), cx.theme.text()),
        None => words("none yet", cx.theme.dim()),
    }
}

/// Time, method and sender of the newest capture.
pub(crate) fn last_request(cx: &Cx<'_>) -> Option<String> {
    let capture = &cx.model.data.captures.rows.back()?.capture;
    let (method, from) = (
        text::clean(&capture.request_method),
        text::clean(&capture.ip_address),
    );
    Some(format!(
        "{} {method} from {from}",
        format::clock(cx.theme, capture.request_date)
    ))
}
