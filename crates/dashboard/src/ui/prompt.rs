//! The drawing of prompts, over the lower rows: the list that a prompt is about remains visible.

use crate::input::Context;
use crate::input::action::{Action, EditAction};
use crate::prompts::{Prompt, PromptAnswer};
use crate::ui::{Cx, draw_box, draw_lines, input_spans_in, plain, popup, words, wrap};
use ratatui::prelude::{Buffer, Line, Rect, Span};
use scandeck_wire::text;

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
    let mut lines = wrap(cx.shown_lines(lines), width.saturating_sub(4));
    let answers = answer_lines(cx, prompt, width.saturating_sub(4));
    let rows = (lines.len() + answers.len() + 2) as u16;
    let spot = popup(area, width, rows);
    let inner = draw_box(buf, spot, theme, "Confirm", service(cx));
    // The answer is always visible, even below a long question.
    let room = usize::from(inner.height).saturating_sub(answers.len());
    if lines.len() > room {
        // The blank line above the answer leaves first.
        lines.pop();
    }
    if lines.len() > room {
        let page = room.saturating_sub(1).max(1);
        let pages = lines.len().div_ceil(page) as isize;
        let first = (prompt.page.rem_euclid(pages.max(1)) as usize * page)
            .min(lines.len().saturating_sub(page));
        let at = prompt.page.rem_euclid(pages.max(1)) + 1;
        lines = lines
            .into_iter()
            .skip(first)
            .take(room.saturating_sub(1))
            .collect();
        let down = cx
            .model
            .key_label(prompt.context(), Action::Edit(EditAction::LinePageDown));
        let glyphs = &theme.glyphs;
        lines.push(words(
            format!("page {at} of {pages} {} {down}", glyphs.separator),
            theme.dim(),
        ));
    }
    lines.extend(answers);
    draw_lines(buf, inner, &lines);
}

/// The service of the question, if its profile has a colour.
fn service(cx: &Cx<'_>) -> Line<'static> {
    let session = &cx.model.session;
    let name = text::clean(&session.name);
    let badge = |colour| words(format!(" {} ", cx.shown(&name)), cx.theme.service(colour));
    session.colour.map(badge).unwrap_or_default()
}

fn answer_lines(cx: &Cx<'_>, prompt: &Prompt, width: u16) -> Vec<Line<'static>> {
    let theme = cx.theme;
    let key = |context, action| cx.model.key_label(context, Action::Edit(action));
    let yes = match &prompt.answer {
        PromptAnswer::Yes => key(Context::Prompt, EditAction::Yes),
        PromptAnswer::Enter => key(Context::Line, EditAction::Accept),
        PromptAnswer::Type {
            word,
            what,
            input,
            is_refused,
        } => {
            let word = text::clean(word).into_owned();
            let mut lines = wrap(
                vec![words(
                    format!("To confirm, type {what}: {word}"),
                    theme.text(),
                )],
                width,
            );
            let mut line = Line::from(Span::styled("> ", theme.key()));
            line.extend(input_spans_in(theme, input, width.saturating_sub(2)));
            lines.push(line);
            if *is_refused {
                let typed = text::clean(&input.text()).into_owned();
                lines.extend(wrap(
                    vec![words(
                        format!("{typed} is not {what}: type {word}"),
                        theme.bad(),
                    )],
                    width,
                ));
            }
            return lines;
        }
    };
    let hint = |key: String, label: &str| {
        [
            Span::styled(key, theme.key()),
            Span::raw(format!(" {label}   ")),
        ]
    };
    let mut line = Line::from_iter(hint(yes, "yes"));
    if prompt.wider.is_some() {
        let word = prompt.wider_word.unwrap_or("yes, with hidden rows");
        line.extend(hint(key(Context::Prompt, EditAction::IncludeHidden), word));
    }
    line.extend(hint(key(Context::Prompt, EditAction::Close), "cancel"));
    wrap(vec![line], width)
}
