//! Loggers: their addresses, what they caught, and how long they go on.

use ratatui::buffer::Buffer;
use ratatui::text::Line;

use super::detail::{DetailPane, DetailText};
use super::fact;
use super::list::{ListPane, draw_table, pane_of};
use crate::app::ending::Ending;
use crate::app::model::Pane;
use crate::contract::{Logger, LoggerId};
use crate::input::{Action, Context};
use crate::oob::reach::Reach;
use crate::text;
use crate::view::cache::Anchor;
use crate::view::context::{Cx, cell, words};
use crate::view::format;
use crate::view::layout::Slot;
use crate::view::widgets::table::Column;

const COLUMNS: &[Column] = &[
    Column::flex("LOGGER", 8, 2).at_most(40),
    Column::fixed("CAUGHT", 6).right(),
    Column::fixed("LEFT", 4).right().expendable(1),
    Column::fixed("DAYS", 4).right(),
    Column::flex("URL", 16, 3).expendable(2),
];

pub(super) fn draw_list(cx: &Cx<'_>, buf: &mut Buffer, slot: &Slot, anchor: &mut Anchor<LoggerId>) -> u16 {
    let remote = &cx.model.data.loggers;
    let list = &cx.model.lists.loggers;
    let new = super::key(cx, Context::Loggers, Action::New);
    let pane = ListPane {
        columns: COLUMNS,
        invitation: format!("No logger yet: {new} makes one, a URL that records every request made to it."),
        ..pane_of(Pane::Loggers, remote)
    };
    draw_table(cx, buf, slot, anchor, pane, (remote, list), |logger, _| {
        vec![
            cell(&logger.label),
            words(format::count(logger.num_requests), cx.theme.strong()),
            words(format::count(logger.requests_left), left_style(cx, logger)),
            words(format::count(logger.active_days), left_style(cx, logger)),
            cell(&logger.handler_url),
        ]
    })
}

/// What no logger tells.
pub(super) const HTTP_ONLY: &str = "HTTP only: a target that merely looks the name up leaves nothing here.";

fn left_style(cx: &Cx<'_>, logger: &Logger) -> ratatui::style::Style {
    match Ending::of(logger) {
        Some(Ending::Over) => cx.theme.bad(),
        Some(_) => cx.theme.warn(),
        None => cx.theme.text(),
    }
}

pub(super) fn detail<'a>(cx: &Cx<'a>) -> Option<DetailPane<'a>> {
    let table = cx.model.data.loggers.value()?;
    let logger: &Logger = table.get(cx.model.lists.loggers.selected?)?;
    let theme = cx.theme;
    let open = super::key(cx, Context::Lists, Action::In);
    let copy = super::key(cx, Context::Copy, Action::CopyUrl);
    let head = vec![
        words(text::clean(&logger.label).into_owned(), theme.strong()),
        words(text::clean(&logger.handler_url).into_owned(), theme.key()),
        Line::default(),
        fact(theme, "Caught", format::plural(logger.num_requests.max(0) as usize, "request")),
        fact(theme, "Left", format::plural(logger.requests_left.max(0) as usize, "request")),
        fact(theme, "Records for", format::plural(logger.active_days.max(0) as usize, "more day")),
        fact(theme, "Reached", Reach::of(&logger.handler_url).map(|reach| reach.to_string()).unwrap_or_default()),
        fact(theme, "Id", logger.id.to_string()),
    ];
    let text = DetailText::new(vec![table.clone()], move |theme, _, _| {
        vec![
            words(format!("{open} shows what it caught, y{copy} copies its URL."), theme.dim()),
            words(HTTP_ONLY, theme.dim()),
        ]
    });
    Some(DetailPane { id: logger.id.0, head, tabs: Vec::new(), text })
}
