//! The detail of one captured request.
//!
//! ```text
//!   head      time, method, sender, user agent · capture, position, payload and its delay    in each frame
//!   Request   place of the payload, decoded path and query, sender, other captures of the sender
//!   Headers   in their order, with duplicates
//!   Body      decoded step by step, raw, hex
//!   Compare   beside another capture, part by part
//! ```

pub mod body;
pub mod compare;
pub mod request;
pub mod steps;

use crate::base::{CaptureRow, Pane, RowRef, Tab};
use crate::captures::draw::cells;
use crate::data::WholeCapture;
use crate::ui::{
    Cx, DetailPane, DetailText, Theme, ViewCache, ago, format, masked_lines, words, wrap_hanging,
};
use ratatui::text::{Line, Span};
use scandeck_domain::oob::request::headers;
use scandeck_domain::oob::{Mention, Payload};
use scandeck_wire::contract::Capture;
use scandeck_wire::text;
use std::any::Any;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

pub(crate) fn detail<'a>(cx: &Cx<'a>, _: &mut ViewCache) -> Option<DetailPane<'a>> {
    let captured = cx.model.lists.captures.current(&cx.model.data.captures)?;
    let capture = &captured.capture;
    let tabs = vec![
        Tab::Request.title().to_owned(),
        Tab::Headers.counted(capture.http_headers.len()),
        Tab::Body.counted(format::bytes(captured.body_size())),
        Tab::Compare.title().to_owned(),
    ];
    let tab = cx.model.detail.tab(Pane::Captures);
    Some(DetailPane {
        id: RowRef::Item(capture.id.0),
        head: head_lines(cx, captured),
        tabs,
        text: match tab {
            Tab::Headers => headers_text(cx, captured),
            Tab::Body => body_text(cx, captured),
            Tab::Compare => compare_text(cx, captured),
            _ => request_text(cx, captured),
        },
    })
}

/// The values from which the texts of a capture are made: itself, and its texts from its file.
fn inputs_of(captured: &CaptureRow, whole: WholeCapture<'_>) -> Vec<Arc<dyn Any + Send + Sync>> {
    let mut inputs: Vec<Arc<dyn Any + Send + Sync>> = vec![captured.capture.clone()];
    inputs.extend(read(whole).map(|whole| whole.clone() as _));
    inputs
}

fn headers_text<'a>(cx: &Cx<'a>, captured: &'a CaptureRow) -> DetailText<'a> {
    let mask = cx.model.mask();
    let inputs = inputs_of(captured, cx.model.whole_capture(captured));
    DetailText::new(inputs, move |theme, width, _| {
        hung(masked_lines(mask, header_lines(theme, captured)), 1, width)
    })
}

fn body_text<'a>(cx: &Cx<'a>, captured: &'a CaptureRow) -> DetailText<'a> {
    let whole = cx.model.whole_capture(captured);
    let make = move |theme, width, shown| match whole {
        WholeCapture::Read(whole) => body::lines(theme, whole, width, shown),
        unread => vec![unread_line(theme, unread)],
    };
    DetailText::new(inputs_of(captured, whole), make).with_version(is_unreadable(whole))
}

/// The capture beside the one that it is compared with.
fn compare_text<'a>(cx: &Cx<'a>, captured: &'a CaptureRow) -> DetailText<'a> {
    let (mask, whole) = (cx.model.mask(), cx.model.whole_capture(captured));
    let other = cx.model.compared_capture();
    let other_whole = other.map(|other| cx.model.whole_capture(other));
    let mut inputs = inputs_of(captured, whole);
    inputs.extend(other.map(|other| other.capture.clone() as _));
    inputs.extend(other_whole.and_then(read).map(|whole| whole.clone() as _));
    let version = is_unreadable(whole) | other_whole.map_or(0, is_unreadable);
    let make = move |theme, width, _| {
        let lines = match (other.zip(other_whole), whole) {
            (Some((other, WholeCapture::Read(before))), WholeCapture::Read(after)) => {
                compare::lines(theme, mask, (other, before), (captured, after))
            }
            (Some((_, unread)), WholeCapture::Read(_)) | (Some(_), unread) => {
                vec![unread_line(theme, unread)]
            }
            (None, _) => compare::nothing(theme),
        };
        hung(masked_lines(mask, lines), compare::NAME_SPANS, width)
    };
    DetailText::new(inputs, make).with_version(version)
}

/// The request with its payload, sender and the other captures of the sender.
fn request_text<'a>(cx: &Cx<'a>, captured: &'a CaptureRow) -> DetailText<'a> {
    let (model, whole) = (cx.model, cx.model.whole_capture(captured));
    let mut inputs = inputs_of(captured, whole);
    inputs.extend(known(cx, captured).map(|(_, payload)| Arc::clone(payload) as _));
    let targets = model.data.targets.value();
    inputs.extend(targets.map(|targets| Arc::clone(targets) as _));
    // Numbers that change with the other inputs: captures of the sender, proven findings, own
    // addresses, tokens.
    let numbers = (
        (model.data.captures.end(), model.findings.triage.state.len()),
        (model.own_addresses().len(), captured.mentions.len()),
        model.connection.clock_offset,
    );
    let version = BuildHasherDefault::<DefaultHasher>::default().hash_one(numbers);
    let whole = read(whole).unwrap_or(&captured.capture);
    let cx = cx.clone();
    let make = move |_, width, _| {
        let lines = request::lines(&cx, captured, whole);
        hung(cx.shown_lines(lines), 1, width)
    };
    DetailText::new(inputs, make).with_version(version)
}

fn read(whole: WholeCapture<'_>) -> Option<&Arc<Capture>> {
    match whole {
        WholeCapture::Read(whole) => Some(whole),
        WholeCapture::Reading | WholeCapture::Unreadable(_) => None,
    }
}

/// The text in place of a body.
fn unread_line(theme: Theme, unread: WholeCapture<'_>) -> Line<'static> {
    match unread {
        WholeCapture::Unreadable(problem) => words(
            format!("body cannot be read: {}", text::clean(&problem.message)),
            theme.bad(),
        ),
        WholeCapture::Reading | WholeCapture::Read(_) => words("reading the body", theme.dim()),
    }
}

fn is_unreadable(whole: WholeCapture<'_>) -> u64 {
    u64::from(matches!(whole, WholeCapture::Unreadable(_)))
}

fn head_lines(cx: &Cx<'_>, captured: &CaptureRow) -> Vec<Line<'static>> {
    let (theme, capture) = (cx.theme, &*captured.capture);
    let clean = |outside: &str| text::clean(outside).into_owned();
    let what = format!(
        "{} from {}",
        clean(&capture.request_method),
        clean(&capture.ip_address)
    );
    let mut first = Line::from(vec![
        Span::styled(
            format!("{}  ", format::clock(theme, capture.request_date)),
            theme.text(),
        ),
        Span::styled(what, theme.strong()),
    ]);
    match known(cx, captured) {
        Some((_, payload)) => {
            first.push_span(Span::styled(
                format!("   payload {}", payload.token),
                theme.good(),
            ));
            if let Some(delay) =
                payload.delay(capture.request_date, cx.model.connection.clock_offset)
            {
                first.push_span(Span::raw(format!(" {delay}")));
            }
        }
        None => first.extend(
            unknown_token(captured).map(|token| Span::styled(format!("   {token}"), theme.warn())),
        ),
    }
    first.push_span(Span::raw(format!("   {}", clean(&capture.user_agent))));
    let list = &cx.model.lists.captures;
    let place = format!(
        "{} of {}",
        list.position() + 1,
        format::thousands(list.matches() as u64)
    );
    let (dot, age) = (theme.glyphs.separator, ago(cx, capture.request_date));
    let second = format!(
        "capture {} {dot} {}   {place}   {age}",
        capture.id,
        cells::label_then(cx, captured)
    );
    vec![first, words(second, theme.dim())]
}

/// `unknown token aaaaaaaaaaab`, for a capture with a token of no known payload.
fn unknown_token(captured: &CaptureRow) -> Option<String> {
    captured
        .mentions
        .first()
        .map(|mention| format!("unknown token {}", mention.token))
}

/// The first known payload of which a capture contains the token, with the place of the token.
pub(crate) fn known<'a>(
    cx: &Cx<'a>,
    captured: &'a CaptureRow,
) -> Option<(&'a Mention, &'a Arc<Payload>)> {
    let mentions = captured.mentions.iter().filter(|mention| mention.known);
    mentions
        .filter_map(|mention| Some((mention, cx.model.captures.oob.book.get(mention.token)?)))
        .next()
}

/// Wraps long lines so that they continue below their value; the first `names` spans are the name
/// before it.
fn hung(lines: Vec<Line<'static>>, names: usize, width: u16) -> Vec<Line<'static>> {
    let hang = |line: Line<'static>| {
        let columns: usize = line.spans.iter().take(names).map(Span::width).sum();
        match columns > usize::from(width) / 2 || line.spans.len() <= names {
            true => vec![line],
            false => wrap_hanging(line, width, columns),
        }
    };
    lines.into_iter().flat_map(hang).collect()
}

fn header_lines(theme: Theme, captured: &CaptureRow) -> Vec<Line<'static>> {
    if captured.capture.http_headers.is_empty() {
        return vec![words("no headers", theme.dim())];
    }
    let line = |(name, value): (&str, &str)| header_line(theme, name, value);
    headers(&captured.capture).map(line).collect()
}

/// A header, or a line without a name.
fn header_line(theme: Theme, name: &str, value: &str) -> Line<'static> {
    let value = text::clean(value).into_owned();
    match name {
        "" => Line::raw(value),
        name => Line::from(vec![
            Span::styled(format!("{}: ", text::clean(name)), theme.key()),
            Span::raw(value),
        ]),
    }
}
