//! One captured request, looked at from all sides.
//!
//! ```text
//!   head      when, how, from whom, with what · which capture, how many, the payload and its delay    each frame
//!   Request   planted where, query and path decoded, who sent it, what else came from there
//!   Headers   in their order, duplicates kept
//!   Body      decoded step by step, raw, hex
//!   Compare   beside another one, part by part
//! ```

pub mod body;
pub mod compare;
pub mod request;
pub mod steps;

use crate::dashboard::base::{Caught, Pane, RowRef, Tab};
use crate::dashboard::ui::cache::ViewCache;
use crate::dashboard::ui::context::{Cx, words};
use crate::dashboard::ui::format;
use crate::dashboard::ui::text::{DetailPane, DetailText};
use crate::dashboard::ui::theme::Theme;
use crate::dashboard::ui::widgets::wrap::wrap;
use crate::oob::request::{body_size, headers};
use crate::oob::{Mention, Payload};
use crate::text;
use ratatui::text::{Line, Span};
use std::any::Any;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

/// The detail of the selected capture.
pub(crate) fn detail<'a>(cx: &Cx<'a>, _: &mut ViewCache) -> Option<DetailPane<'a>> {
    let caught = cx.model.lists.captures.current(&cx.model.data.captures)?;
    let capture = &caught.capture;
    let tabs = vec![
        Tab::Request.title().to_owned(),
        format!("{} {}", Tab::Headers.title(), capture.http_headers.len()),
        format!("{} {}", Tab::Body.title(), format::bytes(body_size(capture))),
        Tab::Compare.title().to_owned(),
    ];
    let mut made_from: Vec<Arc<dyn Any + Send + Sync>> = vec![capture.clone()];
    let text = match cx.model.detail.tab(Pane::Captures) {
        Tab::Headers => DetailText::new(made_from, |theme, width, _| hung(header_lines(theme, caught), 1, width)),
        Tab::Body => DetailText::new(made_from, |theme, width, shown| body::lines(theme, capture, width, shown)),
        Tab::Compare => {
            let other = cx.model.compared_capture();
            made_from.extend(other.map(|other| other.capture.clone() as _));
            DetailText::new(made_from, move |theme, width, _| {
                hung(compare::lines(theme, other, caught), compare::LEADS, width)
            })
        }
        _ => {
            let (cx, model) = (cx.clone(), cx.model);
            made_from.extend(known(&cx, caught).map(|(_, payload)| Arc::clone(payload) as _));
            made_from.extend(model.data.targets.value().map(|targets| Arc::clone(targets) as _));
            // What else came from there, what it proves, whose addresses are one's own, and what is said of its tokens.
            let about = (
                (model.data.captures.end(), model.findings.triage.state.len()),
                (model.own_addresses().len(), caught.mentions.len(), model.connection.clock_offset),
            );
            let version = BuildHasherDefault::<DefaultHasher>::default().hash_one(about);
            let make = move |theme, width, _| hung(request::Page::new(&cx, caught).lines(theme), 1, width);
            DetailText::new(made_from, make).with_version(version)
        }
    };
    Some(DetailPane { id: RowRef::Item(capture.id.0), head: head_lines(cx, caught), tabs, text })
}

fn head_lines(cx: &Cx<'_>, caught: &Caught) -> Vec<Line<'static>> {
    let (theme, capture) = (cx.theme, &*caught.capture);
    let clean = |outside: &str| text::clean(outside).into_owned();
    let what = format!("{} from {}", clean(&capture.request_method), clean(&capture.ip_address));
    let mut first = Line::from(vec![
        Span::styled(format!("{}  ", format::clock(theme, capture.request_date)), theme.text()),
        Span::styled(what, theme.strong()),
    ]);
    match known(cx, caught) {
        Some((_, payload)) => {
            first.push_span(Span::styled(format!("   payload {}", payload.token), theme.good()));
            if let Some(delay) = payload.delay(capture.request_date, cx.model.connection.clock_offset) {
                first.push_span(Span::raw(format!(" {delay}")));
            }
        }
        None => first.extend(
            caught
                .mentions
                .first()
                .map(|unknown| Span::styled(format!("   token {}, of no payload here", unknown.token), theme.warn())),
        ),
    }
    first.push_span(Span::raw(format!("   {}", clean(&capture.user_agent))));
    let list = &cx.model.lists.captures;
    let place = format!("{} of {}", list.at + 1, format::thousands(list.len() as u64));
    let (dot, age) = (theme.glyphs.separator, cx.age(capture.request_date));
    let second = format!("capture {} {dot} {}   {place}   {age} ago", capture.id, clean(&caught.label));
    vec![first, words(second, theme.dim())]
}

/// The first payload of the book that a capture carries, with where it stood.
pub(crate) fn known<'a>(cx: &Cx<'a>, caught: &'a Caught) -> Option<(&'a Mention, &'a Arc<Payload>)> {
    let mentions = caught.mentions.iter().filter(|mention| mention.known);
    mentions.filter_map(|mention| Some((mention, cx.model.captures.oob.book.get(mention.token)?))).next()
}

/// Lines that are too long go on below their value and not below their name: the first `leads` spans are the name.
fn hung(lines: Vec<Line<'static>>, leads: usize, width: u16) -> Vec<Line<'static>> {
    let hang = |line: Line<'static>| {
        let columns: usize = line.spans.iter().take(leads).map(Span::width).sum();
        if line.width() <= usize::from(width) || columns > usize::from(width) / 2 || line.spans.len() <= leads {
            return vec![line];
        }
        let mut spans = line.spans;
        let value = spans.split_off(leads);
        // Wrapped behind blanks in the name's place, which then takes them.
        let blank = Line::from_iter(std::iter::once(Span::raw(" ".repeat(columns))).chain(value));
        let mut wrapped = wrap(vec![blank], width);
        if let Some(first) = wrapped.first_mut() {
            let behind: Vec<Span<'static>> = without_columns(std::mem::take(&mut first.spans), columns);
            first.spans = spans.into_iter().chain(behind).collect();
        }
        wrapped
    };
    lines.into_iter().flat_map(hang).collect()
}

/// Spans without their first columns, which are blanks.
fn without_columns(spans: Vec<Span<'static>>, columns: usize) -> Vec<Span<'static>> {
    let mut left = columns;
    let cut = |mut span: Span<'static>| {
        let blanks = span.content.len() - span.content.trim_start_matches(' ').len();
        let taken = blanks.min(left);
        left -= taken;
        span.content = span.content[taken..].to_owned().into();
        span
    };
    spans.into_iter().map(cut).filter(|span| !span.content.is_empty()).collect()
}

fn header_lines(theme: Theme, caught: &Caught) -> Vec<Line<'static>> {
    if caught.capture.http_headers.is_empty() {
        return vec![words("The service sent no headers.", theme.dim())];
    }
    let line = |(name, value): (&str, &str)| header_line(theme, name, value);
    headers(&caught.capture).map(line).collect()
}

/// A header; one without a name is all value.
fn header_line(theme: Theme, name: &str, value: &str) -> Line<'static> {
    let value = text::clean(value).into_owned();
    match name {
        "" => Line::raw(value),
        name => Line::from(vec![Span::styled(format!("{}: ", text::clean(name)), theme.key()), Span::raw(value)]),
    }
}
