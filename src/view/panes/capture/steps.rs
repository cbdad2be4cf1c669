//! A chain of decoding as lines: what each step was, why it was taken for that, and what came out at the end.

use ratatui::text::{Line, Span};

use crate::oob::decode::{Part, Step, is_text};
use crate::text;
use crate::view::format;
use crate::view::theme::Theme;
use crate::view::widgets::hex::hex_lines;

/// Lines shown of what no text came out of.
const DUMPED: usize = 8;
/// Columns of such a dump.
const DUMP: u16 = 60;

/// A chain, indented; nothing where there is none.
pub(super) fn lines(theme: Theme, steps: &[Step], indent: usize) -> Vec<Line<'static>> {
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
            false => lines.extend(self::lines(theme, &part.steps, indent + 4)),
        }
    }
    lines
}

/// Parts of a multipart body always, of others where they stand for something else than what is laid out.
fn shown_by_itself(step: &Step, part: &Part) -> bool {
    step.layer == crate::oob::decode::Layer::Multipart || !part.steps.is_empty()
}

fn head(theme: Theme, step: &Step, indent: usize) -> Line<'static> {
    let mut line = Line::from(vec![
        Span::styled(format!("{}{} ", " ".repeat(indent), theme.glyphs.branch), theme.dim()),
        Span::styled(step.layer.name(), theme.active()),
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
        let text = text::clean_bytes(bytes);
        return text.trim_end().split('\n').map(|line| shifted(Line::raw(line.to_owned()))).collect();
    }
    let mut lines: Vec<Line<'static>> = hex_lines(theme, bytes, DUMP).into_iter().take(DUMPED).map(shifted).collect();
    if bytes.len() > DUMPED * 8 {
        lines.push(shifted(Line::from(Span::styled(format!("{} in all", format::bytes(bytes.len())), theme.dim()))));
    }
    lines
}
