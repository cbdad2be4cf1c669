//! The comparison of two captures.

use crate::base::CaptureRow;
use crate::ui::{Theme, fact, format, words};
use ratatui::style::Style;
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

/// How a part is shown: the columns before its values, and the styles.
struct PartRow {
    theme: Theme,
    name: String,
    change: &'static str,
    style: Style,
    value_style: Style,
}

impl PartRow {
    fn of(theme: Theme, compared: &ComparedPart) -> Self {
        let name = match &compared.part {
            RequestPart::Method => "method".to_owned(),
            RequestPart::Path => "path".to_owned(),
            RequestPart::Query(name) => format!("query {}", text::clean(name)),
            RequestPart::Header(name) => text::clean(name).into_owned(),
            RequestPart::Body => "body".to_owned(),
        };
        let (change, style) = match compared.fate() {
            PartChange::Same => ("unchanged", theme.dim()),
            PartChange::Changed => ("changed", theme.warn()),
            PartChange::OnlyBefore => ("removed", theme.bad()),
            PartChange::OnlyAfter => ("added", theme.good()),
        };
        let value_style = match compared.fate() {
            PartChange::Same => theme.dim(),
            _ => theme.text(),
        };
        Self {
            theme,
            name: format!("{} ", text::start(&name, NAME - 1)),
            change,
            style,
            value_style,
        }
    }

    /// The first row, with name and change.
    fn first(&self, sign: &'static str, value: &str) -> Line<'static> {
        self.row(&self.name, self.change, sign, value)
    }

    /// A row below it.
    fn next(&self, sign: &'static str, value: &str) -> Line<'static> {
        self.row("", "", sign, value)
    }

    fn row(&self, name: &str, change: &str, sign: &'static str, value: &str) -> Line<'static> {
        let pad = " ".repeat(NAME.saturating_sub(text::width(name)));
        Line::from(vec![
            Span::styled(format!("{name}{pad}"), self.theme.key()),
            Span::styled(format!("{change:<FATE$} "), self.style),
            Span::styled(sign, self.style),
            Span::styled(text::clean(value).into_owned(), self.value_style),
        ])
    }
}

fn part_lines(
    theme: Theme,
    mask: Option<&Mask>,
    compared: &ComparedPart,
    lines: &mut Vec<Line<'static>>,
) {
    let row = PartRow::of(theme, compared);
    let masked = |value: &str| match (mask, &compared.part) {
        (Some(mask), RequestPart::Query(name) | RequestPart::Header(name)) => {
            mask.named(name, value).into_owned()
        }
        _ => value.to_owned(),
    };
    let before = compared.before.as_deref().map(masked);
    let after = compared.after.as_deref().map(masked);
    let (before, after) = (before.as_deref(), after.as_deref());
    match (compared.part == RequestPart::Body, before, after) {
        (true, Some(before), Some(after)) if before != after => {
            lines.extend(changed_lines(&row, before, after));
        }
        (true, _, _) => {
            let count = before.or(after).unwrap_or_default().lines().count();
            let decoded = format!("{}, decoded", format::plural(count, "line"));
            lines.push(row.first("", &decoded));
        }
        (false, Some(before), Some(after)) if before != after => {
            lines.extend([row.first("- ", before), row.next("+ ", after)]);
        }
        (false, _, _) => lines.push(row.first("", before.or(after).unwrap_or_default())),
    }
}

/// The differing lines of two bodies.
fn changed_lines(row: &PartRow, before: &str, after: &str) -> Vec<Line<'static>> {
    let (head, old, new) = differing(before, after);
    let mut lines = vec![row.first("", &format!("from line {} on", head + 1))];
    lines.extend(old.iter().take(LINES).map(|line| row.next("- ", line)));
    lines.extend(new.iter().take(LINES).map(|line| row.next("+ ", line)));
    let left = old.len().saturating_sub(LINES) + new.len().saturating_sub(LINES);
    if left > 0 {
        let more = format!("and {}", format::plural(left, "more line"));
        lines.push(row.next("", &more));
    }
    lines
}
