//! The menu for decisions with details. It covers the lower rows only, so that the list remains
//! visible.
//!
//! ```text
//! ─ decide 2 findings ───────────────────────────────────────────
//!  c confirmed        r reason      as last time   ▌ these findings
//!  f false positive   n note        –                this class on this target
//!  …                  e expiry date 90d with a       (a rule: 37 now)
//!  Database dump (api) · Git (10.0.4.11)
//! ```

pub mod rules;

use crate::input::{Action, Context, DecideAction, MoveAction, VerdictAction};
use crate::model::{DecideMenu, MenuChoice, MenuEntry};
use crate::ui::{
    Cx, cut_line, draw_head, draw_line, draw_lines, format, input_spans_in, row_of, sheet,
    take_left, take_top, words,
};
use ratatui::prelude::{Buffer, Line, Rect, Span, Style};
use ratatui::widgets::{Clear, Widget};
use scandeck_domain::triage::{DecisionScope, Draft, DraftValue, Reason, Verdict};
use scandeck_wire::text;

/// Rows of the menu, with its title and the names of the findings.
const ROWS: u16 = 11;
/// Columns of the verdicts, and of the options at the least.
const VERDICTS: u16 = 19;
const OPTIONS: u16 = 31;
/// Least width of the scopes, which show the findings that a decision covers.
const SCOPES: u16 = 26;
/// Columns of the name of an option.
const NAME: usize = 12;

pub(crate) fn draw_decide(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, menu: &DecideMenu) {
    let spot = sheet(area, ROWS);
    Clear.render(spot, buf);
    let (head, rest) = take_top(spot, 1);
    draw_head(buf, head, cx.theme, &title(menu));
    let body = Rect {
        height: rest.height.saturating_sub(1),
        ..rest
    };
    match &menu.entry {
        Some(entry) => draw_entry(cx, buf, take_left(body, 1).1, entry),
        None => draw_choices(cx, buf, body, menu),
    }
    draw_names(cx, buf, take_left(row_of(rest, body.height), 1).1, menu);
}

/// `decide 2 findings`
fn title(menu: &DecideMenu) -> String {
    let what = match menu
        .entry
        .as_ref()
        .filter(|_| menu.alone)
        .map(|entry| entry.choice)
    {
        Some(choice) => choice.word(),
        None => "decide",
    };
    let hidden = match menu.hidden.len() {
        0 => String::new(),
        count => format!(", {count} more not shown"),
    };
    format!("{what} {}{hidden}", of(menu))
}

fn of(menu: &DecideMenu) -> String {
    match menu.alone {
        true => format!("on {}", text::plural(menu.ids.len(), "finding")),
        false => text::plural(menu.ids.len(), "finding"),
    }
}

fn draw_choices(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, menu: &DecideMenu) {
    let (left, rest) = take_left(area, VERDICTS.min(area.width / 3 + 1));
    let wide = (rest.width / 2)
        .max(OPTIONS)
        .min(rest.width.saturating_sub(SCOPES));
    let (middle, right) = take_left(rest, wide);
    draw_cut(cx, buf, left, verdicts(cx));
    draw_cut(cx, buf, middle, options(cx, menu, wide));
    draw_cut(cx, buf, right, scopes(cx, menu));
}

/// Draws lines of which those that are too wide end in an ellipsis.
fn draw_cut(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, lines: Vec<Line<'static>>) {
    let cut = |line| cut_line(line, usize::from(area.width), cx.theme.glyphs.ellipsis);
    let lines: Vec<Line<'static>> = lines.into_iter().map(cut).collect();
    draw_lines(buf, area, &lines);
}

fn letter(cx: &Cx<'_>, action: Action) -> Span<'static> {
    let key = cx
        .model
        .keyboard
        .keymap
        .key_of(Context::Decide, action)
        .unwrap_or_default();
    Span::styled(format!(" {key} "), cx.theme.key())
}

fn verdicts(cx: &Cx<'_>) -> Vec<Line<'static>> {
    let line = |action: VerdictAction| {
        let (verdict, _) = action.verdict();
        let name = if action == VerdictAction::Reopen {
            "reopen".to_owned()
        } else {
            verdict.phrase()
        };
        Line::from(vec![letter(cx, Action::Verdict(action)), Span::raw(name)])
    };
    VerdictAction::MENU.into_iter().map(line).collect()
}

fn options(cx: &Cx<'_>, menu: &DecideMenu, width: u16) -> Vec<Line<'static>> {
    let draft = &menu.draft;
    let dash = cx.theme.glyphs.dash;
    let line = |action, name: &str, value: Option<String>, default: &str| {
        option_line(cx, width, action, name, value, default)
    };
    let mut lines = vec![
        line(
            DecideAction::Reason,
            "reason",
            chosen(draft.reason, Reason::phrase),
            "as last time",
        ),
        line(
            DecideAction::Note,
            "note",
            chosen(draft.note.clone(), |note| {
                note.lines().next().unwrap_or_default().to_owned()
            }),
            dash,
        ),
        line(
            DecideAction::Severity,
            "severity",
            chosen(draft.severity, |risk| risk.as_str().to_owned()),
            "unchanged",
        ),
        line(DecideAction::Tags, "tags", tags(draft), dash),
        line(DecideAction::DuplicateOf, "duplicate of", None, ""),
        line(
            DecideAction::Until,
            "expiry date",
            chosen(draft.until, |day| day.to_string()),
            &default_until(cx),
        ),
        line(
            DecideAction::Assignee,
            "assigned to",
            chosen(draft.assignee.clone(), |name| name.to_string()),
            "unchanged",
        ),
        line(
            DecideAction::Due,
            "due date",
            chosen(draft.due, |day| day.to_string()),
            "unchanged",
        ),
    ];
    if let Some(first) = offered(cx, menu) {
        lines.push(line(DecideAction::ReuseOffered, "reuse", Some(first), ""));
    }
    lines
}

/// A line of the options: key, name, and the chosen value or the default.
fn option_line(
    cx: &Cx<'_>,
    width: u16,
    action: DecideAction,
    name: &str,
    value: Option<String>,
    default: &str,
) -> Line<'static> {
    let room = usize::from(width).saturating_sub(NAME + 4);
    let (shown, style) = match value {
        Some(value) => (
            text::start(&text::clean(&value), room).into_owned(),
            cx.theme.strong(),
        ),
        None => (text::start(default, room).into_owned(), cx.theme.dim()),
    };
    Line::from(vec![
        letter(cx, Action::Decide(action)),
        Span::raw(format!("{name:<NAME$}")),
        Span::styled(shown, style),
    ])
}

/// The tags to add, then those to remove: `client -later`.
fn tags(draft: &Draft) -> Option<String> {
    let added = draft.tag.iter().map(ToString::to_string);
    let removed = draft.untag.iter().map(|tag| format!("-{tag}"));
    let all: Vec<String> = added.chain(removed).collect();
    Some(all.join(" ")).filter(|tags| !tags.is_empty())
}

/// The expiry date of a decision without one.
fn default_until(cx: &Cx<'_>) -> String {
    let accept = Action::Verdict(VerdictAction::AcceptRisk);
    let keymap = &cx.model.keyboard.keymap;
    match keymap.key_of(Context::Decide, accept) {
        Some(key) => format!("90d with {key}"),
        None => "90d if accepted".to_owned(),
    }
}

/// The first decision that can be reused, and how many there are.
fn offered(cx: &Cx<'_>, menu: &DecideMenu) -> Option<String> {
    let ids = menu.ids.iter();
    let offers: Vec<Verdict> = ids.filter_map(|&id| cx.model.offered_verdict(id)).collect();
    let more = match offers.len() {
        0 | 1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    offers
        .first()
        .map(|first| format!("{}{more}", first.phrase()))
}

fn chosen<T>(value: DraftValue<T>, words: impl FnOnce(T) -> String) -> Option<String> {
    match value {
        DraftValue::Default => None,
        DraftValue::Empty => Some("none".to_owned()),
        DraftValue::Set(value) => Some(words(value)),
    }
}

fn scopes(cx: &Cx<'_>, menu: &DecideMenu) -> Vec<Line<'static>> {
    let (theme, one) = (cx.theme, menu.ids.len() == 1);
    let [on_target, in_all] = menu.classes;
    let mut lines: Vec<Line<'static>> = Vec::new();
    for scope in DecisionScope::ALL {
        let chosen = scope == menu.draft.scope;
        let name = match scope {
            DecisionScope::Findings if one => "this finding",
            DecisionScope::Findings => "these findings",
            DecisionScope::ClassOnTarget if on_target > 1 => "each class on its target",
            DecisionScope::ClassOnTarget => "this class on this target",
            DecisionScope::Class if in_all > 1 => "each class anywhere",
            DecisionScope::Class => "this class anywhere",
        };
        let (bar, style) = if chosen {
            (theme.glyphs.selected, theme.strong())
        } else {
            (" ", Style::new())
        };
        let count = menu.counts.iter().find(|(counted, _)| *counted == scope);
        let count = count
            .map(|(_, count)| format!("  {}", format::thousands(*count as u64)))
            .unwrap_or_default();
        lines.push(Line::from(vec![
            Span::styled(bar, theme.key()),
            Span::styled(format!(" {name}"), style),
            Span::styled(count, theme.dim()),
        ]));
    }
    if let Some((found, by_hand)) = menu.preview {
        let rules = if menu.draft.scope == DecisionScope::Class {
            in_all
        } else {
            on_target
        };
        let rules = if rules > 1 {
            text::plural(rules, "rule")
        } else {
            "rule".to_owned()
        };
        lines.push(words(
            format!("  {rules}: {} now", text::plural(found, "finding")),
            theme.text(),
        ));
        if by_hand > 0 {
            lines.push(words(format!("  {by_hand} decided manually"), theme.dim()));
        }
    }
    lines.push(Line::from(vec![
        letter(cx, Action::Move(MoveAction::Down)),
        letter(cx, Action::Move(MoveAction::Up)),
        Span::raw("choose findings or class"),
    ]));
    lines
}

fn draw_entry(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, entry: &MenuEntry) {
    let (theme, ellipsis) = (cx.theme, cx.theme.glyphs.ellipsis);
    let name = format!("{}: ", entry.choice.word());
    let room = area.width.saturating_sub(text::width(&name) as u16 + 1);
    let height = usize::from(area.height);
    let mut lines = typed_lines(cx, entry, &name, room, height.saturating_sub(1).max(1));
    if let Some(error) = &entry.error {
        lines.push(words(
            format!("{} {}", theme.glyphs.failed, text::clean(error)),
            theme.bad(),
        ));
    }
    let shown_example = example(entry).map(|example| words(example, theme.dim()));
    lines.extend(shown_example.map(|line| cut_line(line, usize::from(area.width), ellipsis)));
    let left = height.saturating_sub(lines.len());
    for (chosen, offer) in entry.offers.window(left) {
        let (bar, style) = if chosen {
            (theme.glyphs.selected, theme.strong())
        } else {
            (" ", theme.text())
        };
        let clean = text::clean(&offer.words);
        let cut = text::middle_with(&clean, usize::from(room), ellipsis);
        lines.push(Line::from(vec![
            Span::styled(bar, theme.key()),
            Span::styled(format!(" {cut}"), style),
        ]));
    }
    draw_lines(buf, area, &lines);
}

/// The typed text after its name. A note has several lines, of which those up to the cursor are
/// shown.
fn typed_lines(
    cx: &Cx<'_>,
    entry: &MenuEntry,
    name: &str,
    room: u16,
    most: usize,
) -> Vec<Line<'static>> {
    let cursor = entry.input.cursor().0;
    let first = match entry.choice == MenuChoice::Note {
        true => (cursor + 1).saturating_sub(most),
        false => 0,
    };
    let rows = entry.input.rows();
    let shown = rows.iter().enumerate().skip(first).take(most);
    let line = |(at, typed): (usize, &String)| {
        let label = match at {
            0 => name.to_owned(),
            _ => " ".repeat(text::width(name)),
        };
        let mut row = Line::from(Span::styled(label, cx.theme.key()));
        match at == cursor {
            true => row.extend(input_spans_in(cx.theme, &entry.input, room)),
            false => row.push_span(Span::raw(
                text::start(&text::clean(typed), usize::from(room)).into_owned(),
            )),
        }
        row
    };
    shown.map(line).collect()
}

/// An example of what can be typed.
fn example(entry: &MenuEntry) -> Option<&'static str> {
    if entry.error.is_some() {
        return None;
    }
    match entry.choice {
        MenuChoice::Until | MenuChoice::Due => Some("such as 2027-01-31, 30d, 8w, 1y or none"),
        MenuChoice::Tags if entry.offers.selected().is_none() => {
            Some("such as client -later; a minus removes a tag")
        }
        MenuChoice::Reason
        | MenuChoice::Note
        | MenuChoice::Severity
        | MenuChoice::Tags
        | MenuChoice::Duplicate
        | MenuChoice::Assignee => None,
    }
}

/// The names of the findings.
fn draw_names(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, menu: &DecideMenu) {
    let Some(table) = cx.model.data.findings.value() else {
        return;
    };
    let issues = menu.ids.iter().filter_map(|&id| table.get(id)).take(8);
    let names: Vec<String> = issues
        .map(|issue| {
            format!(
                "{} ({})",
                text::clean(&issue.name),
                text::clean(&issue.identity.asset)
            )
        })
        .collect();
    let all = names.join(&format!(" {} ", cx.theme.glyphs.separator));
    draw_line(
        buf,
        area,
        &words(
            text::start(&all, usize::from(area.width)).into_owned(),
            cx.theme.dim(),
        ),
    );
}
