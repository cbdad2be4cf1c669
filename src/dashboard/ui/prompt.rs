//! A question that waits for an answer, over the lower rows: the list it is about stays visible.

use crate::dashboard::prompts::{Prompt, PromptAnswer};
use crate::dashboard::ui::Cx;
use crate::dashboard::ui::context::words;
use crate::dashboard::ui::layout::popup;
use crate::dashboard::ui::widgets::input::input_spans_in;
use crate::dashboard::ui::widgets::lines::{draw_line, row_of};
use crate::dashboard::ui::widgets::pop_up::draw_box;
use crate::dashboard::ui::widgets::wrap::{plain, wrap};
use crate::text;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

/// Columns of a prompt.
const COLUMNS: u16 = 76;

pub(crate) fn draw_prompt(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, prompt: &Prompt) {
    let theme = cx.theme;
    let width = COLUMNS.min(area.width);
    let mut lines = plain(&text::clean_text(&prompt.question), theme.strong());
    for line in &prompt.lines {
        lines.extend(plain(&text::clean_text(line), theme.text()));
    }
    lines.push(Line::default());
    let mut lines = wrap(lines, width.saturating_sub(4));
    let answers = answer_lines(cx, prompt, width.saturating_sub(4));
    let rows = (lines.len() + answers.len() + 2) as u16;
    let spot = popup(area, width, rows);
    let inner = draw_box(buf, spot, theme, "Sure?", Line::default());
    // The answer is always visible, however long the question is.
    let room = usize::from(inner.height).saturating_sub(answers.len());
    lines.truncate(room);
    for (y, line) in lines.iter().chain(&answers).enumerate().take(usize::from(inner.height)) {
        draw_line(buf, row_of(inner, y as u16), line);
    }
}

fn answer_lines(cx: &Cx<'_>, prompt: &Prompt, width: u16) -> Vec<Line<'static>> {
    let theme = cx.theme;
    let key =
        |key: &'static str, does: &'static str| vec![Span::styled(key, theme.key()), Span::raw(format!(" {does}   "))];
    match &prompt.answer {
        PromptAnswer::Yes => {
            let mut line = Line::from(key("y", "yes"));
            if prompt.wider.is_some() {
                line.extend(key("a", "the marked ones not shown too"));
            }
            line.push_span(Span::styled("anything else: no", theme.dim()));
            wrap(vec![line], width)
        }
        PromptAnswer::Enter => {
            let mut line = Line::from(key("enter", "yes"));
            if prompt.wider.is_some() {
                line.extend(key("a", "all, those not shown too"));
            }
            line.push_span(Span::styled("anything else: no", theme.dim()));
            wrap(vec![line], width)
        }
        PromptAnswer::Type { word, what, input } => {
            let word = text::clean(word).into_owned();
            let mut lines = wrap(vec![words(format!("Type {what}, {word}, and enter:"), theme.text())], width);
            let mut line = Line::from(Span::styled("> ", theme.key()));
            line.extend(input_spans_in(theme, input, width.saturating_sub(2)));
            lines.push(line);
            lines
        }
    }
}
