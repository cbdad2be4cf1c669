//! Forms: a line per field with its label left and its value right; an error follows below.
//!
//! ```text
//!   ▌ Tool          Website Scanner (170)
//!     Time limit    240                                      1 to 1440 minutes
//!                   ✗ max_scan_time: must be at most 1440
//!              [ Start 58 scans ]     ctrl-o from anywhere
//! ```

use crate::forms::{FieldValue, Form, FormField, LineNote};
use crate::input::{Action, Context, FormAction};
use crate::text::TextInput;
use crate::ui::{
    Cx, Theme, cut_line, draw_box, draw_line, input_spans_in, key, plain, popup, problem_lines,
    row_of, still, words, wrap,
};
use ratatui::prelude::{Buffer, Line, Rect, Span, Style};
use scandeck_wire::text;

/// Columns of the labels, with the selection bar.
const LABEL: u16 = 18;
/// Visible lines of a multi-line field.
const SHOWN_LINES: usize = 10;

/// A line of the form, with the index of its field; the button follows the fields.
struct FormRow {
    place: usize,
    line: Line<'static>,
}

pub(crate) fn draw_form(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, form: &Form) {
    let width = popup(area, area.width, 1).width;
    let inner_width = width.saturating_sub(if width < 30 { 0 } else { 4 });
    let rows = form_rows(cx, form, inner_width);
    let spot = popup(area, width, rows.len() as u16 + 2);
    let inner = draw_box(
        buf,
        spot,
        cx.theme,
        &text::clean(&form.title),
        Line::default(),
    );
    let first = first_row(&rows, form.at, usize::from(inner.height));
    for (y, row) in rows
        .iter()
        .skip(first)
        .take(usize::from(inner.height))
        .enumerate()
    {
        draw_line(buf, row_of(inner, y as u16), &row.line);
    }
    let glyphs = &cx.theme.glyphs;
    let is_cut_below = rows.len() > first + usize::from(inner.height);
    for (is_cut, glyph, y) in [
        (first > 0, glyphs.more_above, spot.y),
        (
            is_cut_below,
            glyphs.more_below,
            spot.bottom().saturating_sub(1),
        ),
    ] {
        if is_cut {
            let more = words(format!(" {glyph} more "), cx.theme.dim());
            let x = spot.right().saturating_sub(more.width() as u16 + 2);
            draw_line(
                buf,
                Rect {
                    x,
                    y,
                    width: more.width() as u16,
                    height: 1,
                }
                .intersection(spot),
                &more,
            );
        }
    }
}

/// The first visible row at which the focused field is visible, completely if it fits.
fn first_row(rows: &[FormRow], place: usize, height: usize) -> usize {
    let begin = rows.iter().position(|row| row.place == place).unwrap_or(0);
    let end = rows
        .iter()
        .rposition(|row| row.place == place)
        .map_or(begin, |at| at + 1);
    if end <= height {
        0
    } else {
        end.saturating_sub(height).min(begin)
    }
}

fn form_rows(cx: &Cx<'_>, form: &Form, width: u16) -> Vec<FormRow> {
    let theme = cx.theme;
    let mut rows = Vec::new();
    for (place, field) in form
        .fields
        .iter()
        .enumerate()
        .filter(|(_, field)| field.shown)
    {
        let focused = form.at == place;
        rows.extend(
            field_lines(cx, field, focused, width)
                .into_iter()
                .map(|line| FormRow { place, line }),
        );
    }
    let button = form.fields.len();
    let mut tail = vec![Line::default()];
    for line in &form.summary {
        tail.extend(wrap(plain(&text::clean_text(line), theme.text()), width));
    }
    if let Some(problem) = &form.problem {
        tail.extend(wrap(problem_lines(cx, problem), width));
    }
    tail.push(button_line(cx, form));
    rows.extend(tail.into_iter().map(|line| FormRow {
        place: button,
        line,
    }));
    rows
}

fn button_line(cx: &Cx<'_>, form: &Form) -> Line<'static> {
    let theme = cx.theme;
    let focused = form.at == form.fields.len();
    let label = text::clean(&form.button).into_owned();
    if form.sending {
        return words(format!("  {label}: sending"), theme.active());
    }
    let send = key(cx, Context::Form, Action::Form(FormAction::Send));
    Line::from(vec![
        Span::styled(
            if focused { theme.glyphs.selected } else { " " },
            theme.key(),
        ),
        Span::raw(" "),
        Span::styled(
            format!("[ {label} ]"),
            if focused {
                theme.chosen()
            } else {
                theme.strong()
            },
        ),
        Span::styled(format!("   {send} submit"), theme.dim()),
    ])
}

fn field_lines(cx: &Cx<'_>, field: &FormField, focused: bool, width: u16) -> Vec<Line<'static>> {
    let theme = cx.theme;
    let room = width.saturating_sub(LABEL);
    let mut lines = match &field.value {
        FieldValue::Text(input) if input.is_multiline() => {
            several_lines(cx, field, input, focused, room)
        }
        FieldValue::Text(input) if focused => vec![Line::from(input_spans_in(theme, input, room))],
        FieldValue::Text(input) => {
            vec![Line::raw(
                text::start(&still(&input.text(), input.mask()), usize::from(room)).into_owned(),
            )]
        }
        FieldValue::Choice { options, at } => {
            vec![choice(cx, field, (options, *at), focused, room)]
        }
        FieldValue::Info(info) => wrap(plain(&text::clean_text(info), theme.text()), room),
    };
    if let Some(first) = lines.first_mut() {
        put_help(cx, field, first, room);
    }
    for reason in field.disabled_reasons() {
        let words = format!("{} {}", theme.glyphs.failed, text::clean(&reason));
        lines.extend(wrap(plain(&words, theme.dim()), room));
    }
    if let Some(error) = &field.error {
        let words = format!("{} {}", theme.glyphs.failed, text::clean(error));
        lines.extend(wrap(plain(&words, theme.bad()), room));
    }
    labelled(cx, field, focused, lines)
}

/// Draws the help of a field right of a short value.
fn put_help(cx: &Cx<'_>, field: &FormField, line: &mut Line<'static>, room: u16) {
    let used = line.width() + text::width(field.help) + 2;
    if !field.help.is_empty() && used <= usize::from(room) {
        line.push_span(Span::raw(" ".repeat(usize::from(room) - used + 2)));
        line.push_span(Span::styled(field.help, cx.theme.dim()));
    }
}

fn labelled(
    cx: &Cx<'_>,
    field: &FormField,
    focused: bool,
    lines: Vec<Line<'static>>,
) -> Vec<Line<'static>> {
    let theme = cx.theme;
    let bar = if focused { theme.glyphs.selected } else { " " };
    let style = if focused {
        theme.strong()
    } else {
        theme.text()
    };
    let name = text::start(field.label, usize::from(LABEL) - 3);
    let label_width = usize::from(LABEL) - 2;
    let with_label = |(at, mut line): (usize, Line<'static>)| {
        let label = if at == 0 { name.as_ref() } else { "" };
        line.spans
            .insert(0, Span::styled(format!("{label:<label_width$}"), style));
        line.spans
            .insert(0, Span::styled(format!("{bar} "), theme.key()));
        line
    };
    lines.into_iter().enumerate().map(with_label).collect()
}

/// The options with the chosen one and the disabled ones marked. Where they do not fit, the others
/// without their notes (`csv, not available`); else `light  2 of 9`.
fn choice(
    cx: &Cx<'_>,
    field: &FormField,
    (options, at): (&[String], usize),
    focused: bool,
    room: u16,
) -> Line<'static> {
    let theme = cx.theme;
    let named = |(i, option): (usize, &String)| match field.disabled.contains_key(&i) {
        true => format!("{} {}", text::clean(option), theme.glyphs.failed),
        false => text::clean(option).into_owned(),
    };
    let whole = options.iter().enumerate().map(named).collect::<Vec<_>>();
    let chosen = whole.get(at).cloned().unwrap_or_default();
    let short = whole
        .iter()
        .enumerate()
        .map(|(i, option)| match option.split_once(", ") {
            Some((option, _)) if i != at => format!("{option} {}", theme.glyphs.failed),
            _ => option.clone(),
        });
    let short = short.collect::<Vec<_>>();
    let fits = |options: &&Vec<String>| {
        options
            .iter()
            .map(|option| text::width(option) + 2)
            .sum::<usize>()
            <= usize::from(room)
    };
    let chosen_style = if focused {
        theme.chosen()
    } else {
        theme.strong()
    };
    let Some(shown) = [&whole, &short].into_iter().find(fits) else {
        let place = format!("  {} of {}", at + 1, options.len());
        let line = Line::from(vec![
            Span::styled(format!(" {chosen} "), chosen_style),
            Span::styled(place, theme.dim()),
        ]);
        return cut_line(line, usize::from(room), theme.glyphs.ellipsis);
    };
    tabs_of_options(theme, shown, at, chosen_style)
}

/// ` light [deep] custom `
fn tabs_of_options(
    theme: Theme,
    options: &[String],
    at: usize,
    chosen_style: Style,
) -> Line<'static> {
    let mut line = Line::default();
    for (i, option) in options.iter().enumerate() {
        let (open, style, close) = if i == at {
            (theme.glyphs.tab_open, chosen_style, theme.glyphs.tab_close)
        } else {
            (" ", theme.dim(), " ")
        };
        line.push_span(Span::styled(open, theme.key()));
        line.push_span(Span::styled(option.clone(), style));
        line.push_span(Span::styled(close, theme.key()));
    }
    line
}

/// The lines around the cursor, each with its note.
fn several_lines(
    cx: &Cx<'_>,
    field: &FormField,
    input: &TextInput,
    focused: bool,
    room: u16,
) -> Vec<Line<'static>> {
    let all = input.rows();
    let cursor = input.cursor().0;
    let first = cursor
        .saturating_sub(SHOWN_LINES - 1)
        .min(all.len().saturating_sub(SHOWN_LINES));
    let mut lines = Vec::new();
    for (at, typed) in all.iter().enumerate().skip(first).take(SHOWN_LINES) {
        let mut line = if focused && at == cursor {
            Line::from(input_spans_in(cx.theme, input, room))
        } else {
            Line::raw(text::start(&text::clean(typed), usize::from(room)).into_owned())
        };
        let is_whole = field
            .notes
            .get(at)
            .is_none_or(|note| put_note(cx, note, &mut line, room));
        lines.push(line);
        if let (true, false, Some(LineNote::Refused(words))) =
            (at == cursor, is_whole, field.notes.get(at))
        {
            // The message of the service ends with the remedy.
            lines.extend(wrap(plain(&text::clean(words), cx.theme.bad()), room));
        }
    }
    if all.len() > SHOWN_LINES {
        lines.push(words(
            format!(
                "{} of {} lines",
                (first + SHOWN_LINES).min(all.len()),
                all.len()
            ),
            cx.theme.dim(),
        ));
    }
    lines
}

/// Draws a note beside its line; whether it fits.
fn put_note(cx: &Cx<'_>, note: &LineNote, line: &mut Line<'static>, room: u16) -> bool {
    let theme = cx.theme;
    let (words, style) = match note {
        LineNote::Empty => return true,
        LineNote::Good(words) => (words, theme.dim()),
        LineNote::Bad(words) => (words, theme.warn()),
        LineNote::Refused(words) => (words, theme.bad()),
    };
    let left = usize::from(room).saturating_sub(line.width() + 2);
    line.push_span(Span::raw("  "));
    let words = text::clean(words);
    line.push_span(Span::styled(text::start(&words, left).into_owned(), style));
    text::width(&words) <= left
}
