//! The lines of a decoding chain: each step with its reason, and the result of the last step.

use crate::ui::{Theme, body_lines, format, hex_lines};
use ratatui::text::{Line, Span};
use scandeck_domain::oob::DecodeStep;
use scandeck_domain::oob::decode::{Layer, is_text};
use scandeck_wire::text;

/// Lines of the hex dump of a binary result.
const DUMPED: usize = 8;
/// Columns of the dump, and bytes on each line.
const DUMP: u16 = 60;
const DUMPED_A_LINE: usize = 8;
/// Bytes shown of each text result, which is sanitised and wrapped as a whole.
const SHOWN: usize = 256 << 10;

/// An indented chain.
pub(crate) fn lines(theme: Theme, steps: &[DecodeStep], indent: usize) -> Vec<Line<'static>> {
    let mut out: Vec<_> = steps.iter().map(|step| head(theme, step, indent)).collect();
    let Some(last) = steps.last() else { return out };
    if last.layer != Layer::Multipart {
        out.extend(result(theme, &last.result, indent + 2));
    }
    // The parts of a multipart body are always shown, other parts where they are encoded
    // themselves.
    for part in last
        .parts
        .iter()
        .filter(|part| last.layer == Layer::Multipart || !part.steps.is_empty())
    {
        let name = text::clean(&part.name).into_owned();
        let size = format::bytes(part.value.len());
        out.push(Line::from(vec![
            Span::raw(" ".repeat(indent + 2)),
            Span::styled(name, theme.key()),
            Span::styled(format!("   {size}"), theme.dim()),
        ]));
        out.extend(match part.steps.is_empty() {
            true => result(theme, &part.value, indent + 4),
            false => lines(theme, &part.steps, indent + 4),
        });
    }
    out
}

fn head(theme: Theme, step: &DecodeStep, indent: usize) -> Line<'static> {
    // The size of a formatted structure is not that of the data.
    let size = if step.layer.is_structure() {
        String::new()
    } else {
        format!("   {}", format::bytes(step.result.len()))
    };
    let mut line = Line::from(vec![
        Span::styled(
            format!("{}{} ", " ".repeat(indent), theme.glyphs.branch),
            theme.dim(),
        ),
        Span::styled(step.layer.as_str(), theme.active()),
        Span::styled(format!("   {}{size}", step.why), theme.dim()),
    ]);
    line.extend(
        step.note
            .map(|note| Span::styled(format!("   {note}"), theme.warn())),
    );
    line
}

/// The result of a step: its text, or the beginning of a dump.
fn result(theme: Theme, bytes: &[u8], indent: usize) -> Vec<Line<'static>> {
    let space = " ".repeat(indent);
    let shifted = |mut line: Line<'static>| {
        line.spans.insert(0, Span::raw(space.clone()));
        line
    };
    if is_text(bytes) {
        let seen = beginning(bytes);
        let text = text::clean_bytes(seen);
        let mut lines: Vec<_> = body_lines(theme, text.trim_end())
            .into_iter()
            .map(shifted)
            .collect();
        if seen.len() < bytes.len() {
            let left = format!(
                "the last {} not shown",
                format::bytes(bytes.len() - seen.len())
            );
            lines.push(shifted(Line::from(Span::styled(left, theme.dim()))));
        }
        return lines;
    }
    let dumped = &bytes[..bytes.len().min(DUMPED * DUMPED_A_LINE)];
    let mut lines: Vec<Line<'static>> = hex_lines(theme, dumped, DUMP)
        .into_iter()
        .take(DUMPED)
        .map(shifted)
        .collect();
    if bytes.len() > dumped.len() {
        lines.push(shifted(Line::from(Span::styled(
            format!("{} in total", format::bytes(bytes.len())),
            theme.dim(),
        ))));
    }
    lines
}

/// The beginning of a text, up to the limit and without splitting a character.
fn beginning(text: &[u8]) -> &[u8] {
    let mut end = text.len().min(SHOWN);
    while end < text.len() && text[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    &text[..end]
}
