//! A chain of decoding as lines: what each step was, why it was taken for that, and what came out at the end.

use crate::dashboard::ui::widgets::hex::hex_lines;
use crate::dashboard::ui::{Theme, format};
use crate::oob::decode::is_text;
use crate::oob::{DecodeStep, DecodedPart};
use crate::text;
use ratatui::text::{Line, Span};

/// Lines shown of what no text came out of.
const DUMPED: usize = 8;
/// Columns of such a dump, and bytes on a line of it.
const DUMP: u16 = 60;
const DUMPED_A_LINE: usize = 8;
/// Bytes shown of each text that came out: it is cleaned and wrapped whole. The body as it came is there beside it.
const SHOWN: usize = 256 << 10;

/// A chain, indented; nothing where there is none.
pub(crate) fn lines(theme: Theme, steps: &[DecodeStep], indent: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for step in steps {
        lines.push(head(theme, step, indent));
    }
    let Some(last) = steps.last() else { return lines };
    if last.layer != crate::oob::decode::Layer::Multipart {
        lines.extend(result(theme, &last.result, indent + 2));
    }
    for part in last.parts.iter().filter(|part| shown_by_itself(last, part)) {
        let name = text::clean(&part.name).into_owned();
        let size = format::bytes(part.value.len());
        lines.push(Line::from(vec![
            Span::raw(" ".repeat(indent + 2)),
            Span::styled(name, theme.key()),
            Span::styled(format!("   {size}"), theme.dim()),
        ]));
        match part.steps.is_empty() {
            true => lines.extend(result(theme, &part.value, indent + 4)),
            false => {
                lines.extend(crate::dashboard::captures::draw::detail::steps::lines(theme, &part.steps, indent + 4))
            }
        }
    }
    lines
}

/// Parts of a multipart body always, of others where they stand for something else than what is laid out.
fn shown_by_itself(step: &DecodeStep, part: &DecodedPart) -> bool {
    step.layer == crate::oob::decode::Layer::Multipart || !part.steps.is_empty()
}

fn head(theme: Theme, step: &DecodeStep, indent: usize) -> Line<'static> {
    let mut line = Line::from(vec![
        Span::styled(format!("{}{} ", " ".repeat(indent), theme.glyphs.branch), theme.dim()),
        Span::styled(step.layer.as_str(), theme.active()),
        Span::styled(format!("   {}   {}", step.why, format::bytes(step.result.len())), theme.dim()),
    ]);
    line.extend(step.note.map(|note| Span::styled(format!("   {note}"), theme.warn())));
    line
}

/// What came out: text, or the beginning of a dump.
fn result(theme: Theme, bytes: &[u8], indent: usize) -> Vec<Line<'static>> {
    let space = " ".repeat(indent);
    let shifted = |mut line: Line<'static>| {
        line.spans.insert(0, Span::raw(space.clone()));
        line
    };
    if is_text(bytes) {
        let seen = beginning(bytes);
        let text = text::clean_bytes(seen);
        let mut lines: Vec<_> = text.trim_end().split('\n').map(|line| shifted(Line::raw(line.to_owned()))).collect();
        if seen.len() < bytes.len() {
            let left = format!("the last {} not shown", format::bytes(bytes.len() - seen.len()));
            lines.push(shifted(Line::from(Span::styled(left, theme.dim()))));
        }
        return lines;
    }
    let dumped = &bytes[..bytes.len().min(DUMPED * DUMPED_A_LINE)];
    let mut lines: Vec<Line<'static>> = hex_lines(theme, dumped, DUMP).into_iter().take(DUMPED).map(shifted).collect();
    if bytes.len() > dumped.len() {
        lines.push(shifted(Line::from(Span::styled(format!("{} in all", format::bytes(bytes.len())), theme.dim()))));
    }
    lines
}

/// As much of a text as is shown; no character of it is split.
fn beginning(text: &[u8]) -> &[u8] {
    let mut end = text.len().min(SHOWN);
    while end < text.len() && text[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    &text[..end]
}
