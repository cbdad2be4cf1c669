//! Loggers: their URLs, numbers of captures and remaining lifetimes.

use crate::base::{RowRef, ShownRows};
use crate::captures::draw::last_request;
use crate::input::{Action, Context, CopyAction, ItemAction, ListAction};
use crate::ui::{
    Cx, DetailPane, DetailText, DrawnPane, ListColumn, ListPane, PaneDrawing, Slot, TableColumn,
    ViewCache, draw_columns, fact, format, invite, is_constant, key, pane_of, sampled_items,
    widest, words,
};
use ratatui::prelude::{Buffer, Line};
use scandeck_domain::oob::{LoggerExpiry, Reachability};
use scandeck_domain::table::columns::logger;
use scandeck_wire::contract::Logger;
use scandeck_wire::text;

/// What is equal in all shown loggers gives way to the names.
const COLUMNS: &[ListColumn<Logger>] = &[
    ListColumn::of(logger::LABEL, TableColumn::flex(8, 2).at_most(40))
        .fit(|column, cx| column.content(widest(shown(cx).map(|logger| &*logger.label)), 0)),
    ListColumn::<Logger>::new(
        logger::RECEIVED.title,
        TableColumn::fixed(8).right(),
        |cx, logger, _| words(format::count(logger.num_requests), cx.theme.strong()),
    )
    .fit(|column, cx| column.gives_way_if(is_alike(cx, |logger| logger.num_requests), 2)),
    ListColumn::<Logger>::new(
        logger::LEFT.title,
        TableColumn::fixed(4).right().expendable(1),
        |cx, logger, _| words(format::count(logger.requests_left), left_style(cx, logger)),
    )
    .fit(|column, cx| column.gives_way_if(is_alike(cx, |logger| logger.requests_left), 3)),
    ListColumn::<Logger>::new(
        logger::DAYS_LEFT.title,
        TableColumn::fixed(9).right(),
        |cx, logger, _| words(format::count(logger.active_days), left_style(cx, logger)),
    )
    .fit(|column, cx| column.gives_way_if(is_alike(cx, |logger| logger.active_days), 4)),
    ListColumn::of(logger::URL, TableColumn::flex(16, 3).expendable(2))
        .fit(|column, cx| column.content(widest(shown(cx).map(|logger| &*logger.handler_url)), 0)),
];

fn shown<'a>(cx: &Cx<'a>) -> impl Iterator<Item = &'a Logger> + use<'a> {
    sampled_items::<Logger>(cx)
}

fn is_alike(cx: &Cx<'_>, of: fn(&Logger) -> i64) -> bool {
    is_constant(shown(cx).map(of).map(format::count))
}

impl DrawnPane for Logger {
    const DRAWING: PaneDrawing = PaneDrawing::new(draw_list, detail).summary(summary);
}

pub(crate) fn draw_list(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
) -> ShownRows {
    let new = key(cx, Context::Loggers, Action::Item(ItemAction::New));
    let pane = ListPane {
        invitation: invite(
            cx,
            "no loggers",
            &format!("{new} creates a URL that records requests"),
        ),
        ..pane_of::<Logger>(cx)
    };
    draw_columns(cx, buf, slot, cache, pane, COLUMNS)
}

/// The number of loggers and the newest capture, for layouts with one line for them.
pub(crate) fn summary<'a>(cx: &Cx<'a>) -> Line<'a> {
    let count = cx.model.data.loggers.value().map_or(0, |table| table.len());
    match last_request(cx) {
        _ if count == 0 => words("none yet", cx.theme.dim()),
        Some(last) => words(format!("{count}, last request {last}"), cx.theme.text()),
        None => words(format!("{count}, no requests yet"), cx.theme.text()),
    }
}

/// The limit of loggers.
pub(crate) const HTTP_ONLY: &str = "HTTP only: a DNS lookup alone is not recorded";

fn left_style(cx: &Cx<'_>, logger: &Logger) -> ratatui::style::Style {
    match LoggerExpiry::of(logger) {
        Some(LoggerExpiry::Over) => cx.theme.bad(),
        Some(_) => cx.theme.warn(),
        None => cx.theme.text(),
    }
}

pub(crate) fn detail<'a>(cx: &Cx<'a>, _: &mut ViewCache) -> Option<DetailPane<'a>> {
    let logger = cx.model.selected_item::<Logger>()?;
    let theme = cx.theme;
    let open = key(cx, Context::Lists, Action::List(ListAction::In));
    let copy = key(cx, Context::Copy, Action::Copy(CopyAction::Url));
    let head = vec![
        words(text::clean(&logger.label).into_owned(), theme.strong()),
        words(text::clean(&logger.handler_url).into_owned(), theme.key()),
        Line::default(),
        fact(
            theme,
            "Received",
            format::plural(logger.num_requests.max(0) as usize, "request"),
        ),
        fact(
            theme,
            "Left",
            format::plural(logger.requests_left.max(0) as usize, "request"),
        ),
        fact(
            theme,
            "Records for",
            format::plural(logger.active_days.max(0) as usize, "more day"),
        ),
        fact(
            theme,
            "Reachable",
            Reachability::of(&logger.handler_url)
                .map(|reach| reach.to_string())
                .unwrap_or_default(),
        ),
        fact(theme, "Id", logger.id.to_string()),
    ];
    let text = DetailText::new(vec![logger.clone()], move |theme, _, _| {
        vec![
            words(
                format!("{open} shows its captures, {copy} copies its URL"),
                theme.dim(),
            ),
            words(HTTP_ONLY, theme.dim()),
        ]
    });
    Some(DetailPane {
        id: RowRef::Item(logger.id.0),
        head,
        tabs: Vec::new(),
        text,
    })
}
