//! Drawing of the command line: the input in the last row, the suggestions above it, and between
//! them the usage of the command or the reason why the line cannot be run.

use crate::input::{Action, Context, EditAction};
use crate::model::{CommandLine, CommandOffer};
use crate::ui::{
    COMMAND_NAME, Cx, Hint, Theme, command_sheet, draw_line, draw_sides, hint_line, input_spans_in,
    restyle, row_of, take_bottom, take_top,
};
use ratatui::prelude::{Buffer, Line, Rect, Span};
use ratatui::widgets::{Clear, Widget};
use scandeck_wire::text;

pub(crate) fn draw_command(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, line: &CommandLine) {
    let spot = command_sheet(area, line.offers.all.len());
    Clear.render(spot, buf);
    let (head, rest) = take_top(spot, u16::from(spot.height > 2));
    let (rest, input) = take_bottom(rest, 1);
    let (offers, info) = take_bottom(rest, 1);
    draw_head(cx, buf, head);
    draw_offers(cx.theme, buf, offers, line);
    draw_line(buf, info, &info_line(cx, line, info.width));
    draw_input(cx.theme, buf, input, line);
}

/// A rule with the keys of the line.
fn draw_head(cx: &Cx<'_>, buf: &mut Buffer, area: Rect) {
    let theme = cx.theme;
    let rule = Line::from(Span::styled(
        theme.glyphs.rule.repeat(usize::from(area.width)),
        theme.border(true),
    ));
    draw_line(buf, area, &rule);
    let key = |action| {
        cx.model
            .keyboard
            .keymap
            .key_of(Context::Line, action)
            .unwrap_or_default()
    };
    let hints = [
        Hint::new(key(Action::Edit(EditAction::Accept)), "run"),
        Hint::new(key(Action::Edit(EditAction::Complete)), "complete"),
        Hint::new(
            format!(
                "{} {}",
                key(Action::Edit(EditAction::LineUp)),
                key(Action::Edit(EditAction::LineDown))
            ),
            "select or recall",
        ),
        Hint::new(key(Action::Edit(EditAction::Close)), "close"),
    ];
    let mut keys = hint_line(theme, &hints, &[], area.width.saturating_sub(6));
    keys.spans.insert(0, Span::raw(" "));
    keys.push_span(Span::raw(" "));
    let inner = Rect {
        x: area.x + 2.min(area.width),
        width: area.width.saturating_sub(2),
        ..area
    };
    draw_line(buf, inner, &keys);
}

/// The offers, the one walked to always among them.
fn draw_offers(theme: Theme, buf: &mut Buffer, area: Rect, line: &CommandLine) {
    for (y, (chosen, offer)) in line.offers.window(usize::from(area.height)).enumerate() {
        let row = row_of(area, y as u16);
        draw_offer(theme, buf, row, offer, chosen);
        if chosen {
            restyle(buf, row, theme.selection(true));
        }
    }
}

/// Name and arguments on the left, description or the reason why it is off, its key on the right.
fn draw_offer(theme: Theme, buf: &mut Buffer, area: Rect, offer: &CommandOffer, chosen: bool) {
    let bar = if chosen { theme.glyphs.selected } else { " " };
    let mut left = Line::from(Span::styled(bar, theme.key()));
    left.push_span(Span::raw(" "));
    let name = if offer.off.is_some() {
        theme.dim()
    } else {
        theme.strong()
    };
    for (at, letter) in offer.text.chars().enumerate() {
        let style = if offer.letters.contains(&at) {
            name.patch(theme.key())
        } else {
            name
        };
        left.push_span(Span::styled(letter.to_string(), style));
    }
    left.push_span(Span::styled(format!(" {}", offer.shape), theme.dim()));
    let wide = COMMAND_NAME.min(usize::from(area.width) / 2);
    let gap = wide.saturating_sub(left.width()).max(1);
    left.push_span(Span::raw(" ".repeat(gap)));
    let (words, style) = match &offer.off {
        Some(why) => (why, theme.dim()),
        None => (&offer.words, theme.text()),
    };
    let key = offer
        .key
        .as_ref()
        .map(|key| format!("{key} "))
        .unwrap_or_default();
    let room = usize::from(area.width).saturating_sub(left.width() + text::width(&key) + 1);
    let words = text::clean(words);
    let words = text::start_with(&words, room, theme.glyphs.ellipsis);
    left.push_span(Span::styled(words.into_owned(), style));
    draw_sides(
        buf,
        area,
        &left,
        &Line::from(Span::styled(key, theme.key())),
    );
}

/// Why the line cannot be run, else usage and description of its command.
fn info_line(cx: &Cx<'_>, line: &CommandLine, width: u16) -> Line<'static> {
    let theme = cx.theme;
    if let Some(fault) = &line.fault {
        let words = text::clean(&fault.to_string()).into_owned();
        // Under its place, as long as it fits there.
        let typed = line.input.text();
        let place = text::width(&text::clean(&typed[..fault.at.start.min(typed.len())])) + 1;
        let words = text::start_with(
            &words,
            usize::from(width).saturating_sub(2),
            theme.glyphs.ellipsis,
        );
        let indent = place.min(usize::from(width).saturating_sub(text::width(&words) + 2));
        let arrow = if indent == place {
            theme.glyphs.more_below
        } else {
            " "
        };
        return Line::from(vec![
            Span::raw(" ".repeat(indent)),
            Span::styled(arrow, theme.bad()),
            Span::styled(format!(" {words}"), theme.bad()),
        ]);
    }
    let Some(command) = &line.command else {
        return Line::default();
    };
    let (words, style) = match &command.off {
        Some(why) => (why, theme.warn()),
        None => (&command.words, theme.dim()),
    };
    let usage = format!(" {}", command.usage);
    let room = usize::from(width).saturating_sub(text::width(&usage) + 2);
    let words = text::start_with(words, room, theme.glyphs.ellipsis);
    Line::from(vec![
        Span::styled(usage, theme.key()),
        Span::styled(format!("  {words}"), style),
    ])
}

fn draw_input(theme: Theme, buf: &mut Buffer, area: Rect, line: &CommandLine) {
    let mut typed = Line::from(Span::styled(":", theme.key()));
    typed.extend(input_spans_in(
        theme,
        &line.input,
        area.width.saturating_sub(1),
    ));
    draw_line(buf, area, &typed);
}
