//! The first-start question: where do the scans run?

use crate::input::{Action, Context, ListAction, MoveAction, SetupAction, ViewAction};
use crate::model::Setup;
use crate::ui::{
    Cx, draw_lines, draw_sides, indented, key, problem_lines, row_of, take_top, words, wrap,
};
use ratatui::prelude::{Buffer, Line, Rect, Span};
use ratatui::widgets::{Clear, Widget};

const CHOICES: [(Action, &str); 3] = [
    (
        Action::Setup(SetupAction::Here),
        "run the service on this machine; it keeps running when you quit",
    ),
    (
        Action::Setup(SetupAction::Hosted),
        "use a hosted service: base URL and API key",
    ),
    (
        Action::Setup(SetupAction::Demo),
        "temporary demo on loopback, deleted when you quit",
    ),
];

const FIRST_KEYS: [(Context, Action, &str); 5] = [
    (Context::Lists, Action::Move(MoveAction::Down), "move"),
    (Context::Lists, Action::List(ListAction::In), "open"),
    (Context::Everywhere, Action::View(ViewAction::Back), "back"),
    (Context::Lists, Action::List(ListAction::Filter), "filter"),
    (
        Context::Everywhere,
        Action::View(ViewAction::Help),
        "all keys",
    ),
];

pub(crate) fn draw_setup(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, setup: &Setup) {
    let theme = cx.theme;
    let body = Rect {
        height: area.height.saturating_sub(1),
        ..area
    };
    Clear.render(body, buf);
    let body = indented(body);
    draw_sides(
        buf,
        row_of(body, u16::from(body.height > 12)),
        &words("scandeck", theme.title(true)),
        &words("first start ", theme.dim()),
    );
    let lines = wrap(setup_lines(cx, setup), body.width);
    let top = if body.height > 12 { 3 } else { 1 };
    draw_lines(buf, take_top(body, top).1, &lines);
}

fn setup_lines(cx: &Cx<'_>, setup: &Setup) -> Vec<Line<'static>> {
    let theme = cx.theme;
    let mut lines = vec![
        words("Where do your scans run?", theme.strong()),
        Line::default(),
    ];
    for (at, (action, what)) in CHOICES.into_iter().enumerate() {
        lines.push(choice_line(cx, action, what, setup.at == at));
    }
    lines.push(Line::default());
    if let Some(busy) = setup.busy {
        lines.push(words(busy, theme.active()));
    } else if let Some(problem) = &setup.problem {
        lines.extend(problem_lines(cx, problem));
    }
    lines.push(Line::default());
    lines.push(words("Five keys to begin with", theme.strong()));
    let mut keys = Line::from("  ");
    for (context, action, does) in FIRST_KEYS {
        keys.push_span(Span::styled(key(cx, context, action), theme.key()));
        keys.push_span(Span::raw(format!(" {does}    ")));
    }
    lines.push(keys);
    lines.push(Line::default());
    lines.push(words("Nothing is sent until you choose.", theme.text()));
    lines
}

fn choice_line(cx: &Cx<'_>, action: Action, what: &'static str, chosen: bool) -> Line<'static> {
    let theme = cx.theme;
    let bar = if chosen { theme.glyphs.selected } else { " " };
    let name = format!("{:<8}", action.short());
    Line::from(vec![
        Span::styled(format!("{bar} "), theme.key()),
        Span::styled(
            format!("{}  ", key(cx, Context::Setup, action)),
            theme.key(),
        ),
        Span::styled(
            name,
            if chosen {
                theme.chosen()
            } else {
                theme.strong()
            },
        ),
        Span::raw(format!(" {what}")),
    ])
}
