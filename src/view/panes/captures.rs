//! Captures: what the loggers recorded, newest last, and one request from all sides.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ratatui::buffer::Buffer;
use ratatui::text::{Line, Span};

use super::detail::{DetailPane, DetailText};
use super::fact;
use super::list::{Known, ListPane, draw_list as draw_any_list, pane_of};
use crate::app::detail::{Shown, Tab};
use crate::app::model::Pane;
use crate::app::stream::Caught;
use crate::contract::Capture;
use crate::input::{Action, Context};
use crate::text;
use crate::view::cache::StreamAnchor;
use crate::view::context::{Cx, cell, words};
use crate::view::format;
use crate::view::layout::Slot;
use crate::view::theme::Theme;
use crate::view::widgets::hex::hex_lines;
use crate::view::widgets::table::{Column, Row};
use crate::view::widgets::wrap::plain;

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
        shown: list.rows.len(),
        at: list.at,
        marks: (list.marks.len(), 0),
        ..pane_of(Pane::Captures, &cx.model.data.loggers)
    };
    let range = list.range_from.and_then(|id| list.rows.binary_search(&stream.row_of(id)?).ok());
    let row = |at: usize, _: &[u16]| {
        let caught = stream.get(*list.rows.get(at)?)?;
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
        (0, false, true) if !list.rows.is_empty() => Span::styled("following", theme.dim()),
        _ => Span::raw(""),
    });
    line
}

fn cells<'a>(cx: &Cx<'a>, caught: &'a Caught) -> Vec<Line<'a>> {
    let capture = &*caught.capture;
    let size = body_size(&capture.request_body_base64);
    vec![
        words(format::clock(cx.theme, capture.request_date), cx.theme.text()),
        cell(&capture.request_method),
        cell(&capture.ip_address),
        Line::from(below_logger(cx, caught)),
        Line::from(cx.logger_name(caught.logger)),
        words(if size == 0 { String::new() } else { format::bytes(size) }, cx.theme.text()),
    ]
}

/// Path and query as far as the service tells them: some send the query only.
fn request_target(capture: &Capture) -> String {
    let path = capture.path.as_deref().unwrap_or_default();
    let mark = if capture.url_params.is_empty() { "" } else { "?" };
    text::clean(&format!("{path}{mark}{}", capture.url_params)).into_owned()
}

/// The same without the path of the logger itself, which every request to it begins with.
fn below_logger(cx: &Cx<'_>, caught: &Caught) -> String {
    let target = request_target(&caught.capture);
    let logger = cx.model.data.loggers.value().and_then(|loggers| loggers.get(caught.logger));
    let base = logger.and_then(|logger| url::Url::parse(&logger.handler_url).ok());
    let below = base.as_ref().and_then(|base| target.strip_prefix(base.path().trim_end_matches('/')));
    match below {
        Some(rest) if rest.is_empty() || rest.starts_with('?') => format!("/{rest}"),
        Some(rest) if rest.starts_with('/') => rest.to_owned(),
        _ => target,
    }
}

/// Bytes a base64 text stands for, without decoding it.
fn body_size(base64: &str) -> usize {
    let padding = base64.bytes().rev().take_while(|&byte| byte == b'=').count();
    (base64.len() / 4 * 3).saturating_sub(padding.min(2))
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

pub(super) fn detail<'a>(cx: &Cx<'a>) -> Option<DetailPane<'a>> {
    let caught = cx.model.lists.captures.current(&cx.model.data.captures)?;
    let capture = &caught.capture;
    let tab = cx.model.detail.tab(Pane::Captures);
    let tabs = vec![
        Tab::Request.title().to_owned(),
        format!("{} {}", Tab::Headers.title(), capture.http_headers.len()),
        format!("{} {}", Tab::Body.title(), format::bytes(body_size(&capture.request_body_base64))),
    ];
    let logger = cx.logger_name(caught.logger).into_owned();
    let text = DetailText::new(vec![capture.clone()], move |theme, width, shown| match tab {
        Tab::Headers => header_lines(theme, capture),
        Tab::Body => body_lines(theme, capture, width, shown),
        _ => request_lines(theme, capture, &logger),
    });
    Some(DetailPane { id: capture.id.0, head: head_lines(cx, caught), tabs, text })
}

fn head_lines(cx: &Cx<'_>, caught: &Caught) -> Vec<Line<'static>> {
    let capture = &caught.capture;
    let method = text::clean(&capture.request_method);
    let title = format!("{method} {} from {}", request_target(capture), text::clean(&capture.ip_address));
    let when = format!(
        "{}   {} ago   logger {}",
        format::stamp(cx.theme, capture.request_date),
        cx.age(capture.request_date),
        cx.logger_name(caught.logger)
    );
    vec![words(title, cx.theme.strong()), words(when, cx.theme.text())]
}

fn request_lines(theme: Theme, capture: &Capture, logger: &str) -> Vec<Line<'static>> {
    let own = |outside: &str| text::clean(outside).into_owned();
    let mut lines = vec![fact(theme, "Method", own(&capture.request_method))];
    if let Some(path) = &capture.path {
        lines.push(fact(theme, "Path", own(path)));
    }
    for (i, pair) in capture.url_params.split('&').filter(|pair| !pair.is_empty()).enumerate() {
        lines.push(fact(theme, if i == 0 { "Query" } else { "" }, own(&percent_decoded(pair))));
    }
    if let Some(version) = &capture.http_version {
        lines.push(fact(theme, "Version", own(version)));
    }
    let port = capture.remote_port.map(|port| format!(" port {port}")).unwrap_or_default();
    lines.push(fact(theme, "From", format!("{}{port}", own(&capture.ip_address))));
    for (name, value) in [("User agent", &capture.user_agent), ("System", &capture.os)] {
        if !value.is_empty() {
            lines.push(fact(theme, name, own(value)));
        }
    }
    lines.push(fact(theme, "Logger", logger.to_owned()));
    lines.push(fact(theme, "Id", capture.id.to_string()));
    lines
}

/// `name = value`, decoded as queries are.
fn percent_decoded(pair: &str) -> String {
    match url::form_urlencoded::parse(pair.as_bytes()).next() {
        Some((name, value)) if pair.contains('=') => format!("{name} = {value}"),
        Some((name, _)) => name.into_owned(),
        None => pair.to_owned(),
    }
}

fn header_lines(theme: Theme, capture: &Capture) -> Vec<Line<'static>> {
    if capture.http_headers.is_empty() {
        return vec![words("The service sent no headers.", theme.dim())];
    }
    let line = |header: &str| {
        let header = text::clean(header);
        match header.split_once(':') {
            Some((name, value)) => {
                Line::from(vec![Span::styled(format!("{name}:"), theme.key()), Span::raw(value.to_owned())])
            }
            None => Line::raw(header.into_owned()),
        }
    };
    capture.http_headers.iter().map(|header| line(header)).collect()
}

fn body_lines(theme: Theme, capture: &Capture, width: u16, shown: Shown) -> Vec<Line<'static>> {
    let encoded = &capture.request_body_base64;
    if encoded.is_empty() {
        return vec![words("The request had no body.", theme.dim())];
    }
    let Ok(bytes) = STANDARD.decode(encoded.as_bytes()) else {
        let mut lines = vec![words("The service sent a body that is no base64:", theme.warn())];
        lines.extend(plain(&text::clean_text(encoded), theme.text()));
        return lines;
    };
    match shown {
        Shown::Hex => hex_lines(theme, &bytes, width),
        Shown::Decoded => match json_text(&bytes) {
            Some(text) => plain(&text::clean_text(&text), theme.text()),
            None if is_binary(&bytes) => hex_lines(theme, &bytes, width),
            None => plain(&text::clean_bytes(&bytes), theme.text()),
        },
        Shown::Raw | Shown::Wrapped | Shown::Long => plain(&text::clean_bytes(&bytes), theme.text()),
    }
}

/// JSON set out over lines, keys in their order.
fn json_text(bytes: &[u8]) -> Option<String> {
    if !matches!(bytes.iter().find(|byte| !byte.is_ascii_whitespace())?, b'{' | b'[') {
        return None;
    }
    let value: serde_json::Value = serde_json::from_slice(bytes).ok()?;
    serde_json::to_string_pretty(&value).ok()
}

/// More than one byte in ten of the beginning is no text.
fn is_binary(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(1_000)];
    let odd = |byte: &&u8| (**byte < b' ' && !matches!(**byte, b'\n' | b'\r' | b'\t')) || **byte >= 0x80;
    std::str::from_utf8(bytes).is_err() && start.iter().filter(odd).count() * 10 > start.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn capture(body: &[u8]) -> Arc<Capture> {
        Arc::new(Capture { request_body_base64: STANDARD.encode(body).into(), ..Capture::default() })
    }

    fn shown(body: &[u8], how: Shown) -> Vec<String> {
        body_lines(Theme::default(), &capture(body), 60, how).iter().map(Line::to_string).collect()
    }

    #[test]
    fn bodies_are_set_out_as_json_text_or_hex() {
        assert_eq!(shown(br#"{"b":1,"a":[2]}"#, Shown::Decoded).len(), 6);
        assert_eq!(shown(br#"{"b":1,"a":[2]}"#, Shown::Raw), [r#"{"b":1,"a":[2]}"#]);
        assert_eq!(shown(b"a=1\nb=2", Shown::Decoded), ["a=1", "b=2"]);
        assert!(shown(b"\x00\x01\xff\xfe", Shown::Decoded)[0].starts_with("00000000  00 01 ff fe"));
        assert_eq!(shown(b"", Shown::Decoded), ["The request had no body."]);
    }

    #[test]
    fn the_size_of_a_body_is_told_without_decoding_it() {
        for body in [&b""[..], b"a", b"ab", b"abc", b"abcd"] {
            assert_eq!(body_size(&STANDARD.encode(body)), body.len());
        }
    }

    #[test]
    fn queries_are_decoded_pair_by_pair() {
        assert_eq!(percent_decoded("t=k7f2%2Flatest+x"), "t = k7f2/latest x");
        assert_eq!(percent_decoded("flag"), "flag");
    }
}
