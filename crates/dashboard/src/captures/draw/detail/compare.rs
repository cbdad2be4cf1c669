//! The comparison of two captures.

use crate::base::CaptureRow;
use crate::ui::{Theme, fact, format, words};
use ratatui::text::{Line, Span};
use scandeck_domain::mask::Mask;
use scandeck_domain::oob::compare::{compare, differing};
use scandeck_domain::oob::{ComparedPart, PartChange, RequestPart};
use scandeck_wire::contract::Capture;
use scandeck_wire::text;

/// Differing lines shown of a body.
const LINES: usize = 40;
/// Spans before a value.
pub(crate) const NAME_SPANS: usize = 3;
/// Columns before a value: the name, and its fate.
const NAME: usize = 22;
const FATE: usize = 11;

/// A capture, and the same with its body.
pub(crate) type RowAndWhole<'a> = (&'a CaptureRow, &'a Capture);

/// The text without a second capture.
pub(crate) fn nothing(theme: Theme) -> Vec<Line<'static>> {
    vec![words(
        "no earlier capture from this address or with this payload: mark two",
        theme.dim(),
    )]
}

/// The parts of both captures, the earlier capture first. Differing parts come first. Values stand
/// apart from their names, so those of parameters and headers are masked here.
pub(crate) fn lines(
    theme: Theme,
    mask: Option<&Mask>,
    other: RowAndWhole<'_>,
    captured: RowAndWhole<'_>,
) -> Vec<Line<'static>> {
    let when = |(row, _): RowAndWhole<'_>| (row.capture.request_date, row.capture.id);
    let (before, after) = if when(other) <= when(captured) {
        (other, captured)
    } else {
        (captured, other)
    };
    let parts = compare(before.1, after.1);
    let (before, after) = (before.0, after.0);
    let named = |captured: &CaptureRow| {
        let (time, from) = (
            format::clock(theme, captured.capture.request_date),
            text::clean(&captured.capture.ip_address),
        );
        format!(
            "capture {}   {time} from {from}   {}",
            captured.capture.id,
            text::clean(&captured.label)
        )
    };
    let (same, differ): (Vec<&ComparedPart>, Vec<&ComparedPart>) = parts
        .iter()
        .partition(|part| part.fate() == PartChange::Same);
    let mut lines = vec![
        fact(theme, "Before", named(before)),
        fact(theme, "After", named(after)),
        Line::default(),
    ];
    if differ.is_empty() {
        lines.push(words("no differences", theme.good()));
    }
    differ
        .iter()
        .for_each(|part| part_lines(theme, mask, part, &mut lines));
    if !differ.is_empty() && !same.is_empty() {
        lines.push(Line::default());
    }
    same.iter()
        .for_each(|part| part_lines(theme, mask, part, &mut lines));
    lines
}

fn part_lines(
    theme: Theme,
    mask: Option<&Mask>,
    one: &ComparedPart,
    lines: &mut Vec<Line<'static>>,
) {
    let name = match &one.part {
        RequestPart::Method => "method".to_owned(),
        RequestPart::Path => "path".to_owned(),
        RequestPart::Query(name) => format!("query {}", text::clean(name)),
        RequestPart::Header(name) => text::clean(name).into_owned(),
        RequestPart::Body => "body".to_owned(),
    };
    let (fate, style) = match one.fate() {
        PartChange::Same => ("unchanged", theme.dim()),
        PartChange::Changed => ("changed", theme.warn()),
        PartChange::OnlyBefore => ("removed", theme.bad()),
        PartChange::OnlyAfter => ("added", theme.good()),
    };
    let name = format!("{} ", text::start(&name, NAME - 1));
    let mut row = |name: String, fate: &'static str, sign: &'static str, value: &str| {
        let room = NAME.saturating_sub(text::width(&name));
        lines.push(Line::from(vec![
            Span::styled(name + &" ".repeat(room), theme.key()),
            Span::styled(format!("{fate:<FATE$} "), style),
            Span::styled(sign, style),
            Span::styled(
                text::clean(value).into_owned(),
                if one.fate() == PartChange::Same {
                    theme.dim()
                } else {
                    theme.text()
                },
            ),
        ]));
    };
    let masked = |value: &str| match (mask, &one.part) {
        (Some(mask), RequestPart::Query(name) | RequestPart::Header(name)) => {
            mask.named(name, value).into_owned()
        }
        _ => value.to_owned(),
    };
    let (before, after) = (
        one.before.as_deref().map(masked),
        one.after.as_deref().map(masked),
    );
    let (before, after) = (before.as_deref(), after.as_deref());
    match (one.part == RequestPart::Body, before, after) {
        (true, Some(before), Some(after)) if before != after => {
            let (head, old, new) = differing(before, after);
            row(name, fate, "", &format!("from line {} on", head + 1));
            old.iter()
                .take(LINES)
                .for_each(|line| row(String::new(), "", "- ", line));
            new.iter()
                .take(LINES)
                .for_each(|line| row(String::new(), "", "+ ", line));
            let left = old.len().saturating_sub(LINES) + new.len().saturating_sub(LINES);
            if left > 0 {
                row(
                    String::new(),
                    "",
                    "",
                    &format!("and {}", format::plural(left, "more line")),
                );
            }
        }
        (true, _, _) => {
            let lines = before.or(after).unwrap_or_default().lines().count();
            row(
                name,
                fate,
                "",
                &format!("{}, decoded", format::plural(lines, "line")),
            )
        }
        (false, Some(before), Some(after)) if before != after => {
            row(name, fate, "- ", before);
            row(String::new(), "", "+ ", after);
        }
        (false, _, _) => row(name, fate, "", before.or(after).unwrap_or_default()),
    }
}
