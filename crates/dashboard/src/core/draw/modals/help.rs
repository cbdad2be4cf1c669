//! The help: every key from the key table, every command from theirs, typed to filter.

use crate::base::Pane;
use crate::core::commands::table;
use crate::input::HelpSection;
use crate::model::Help;
use crate::ui::{
    Cx, Theme, dimmed, draw_box, draw_line, draw_lines, input_spans, popup, take_top, words, wrap,
};
use ratatui::prelude::{Buffer, Line, Rect, Span};
use scandeck_domain::finding::Presence;
use scandeck_wire::contract::INCOMPLETE;
use scandeck_wire::text::{self, quoted};
use std::borrow::Cow;

/// Columns of the keys.
const KEYS: usize = 18;

pub(crate) fn draw_help(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, help: &Help) {
    let theme = cx.theme;
    let spot = popup(area, area.width, area.height.saturating_sub(2));
    let inner = draw_box(buf, spot, theme, "Keys", Line::default());
    let (line, rest) = take_top(inner, 1);
    let mut filter = Line::from(Span::styled("filter: ", theme.dim()));
    filter.extend(input_spans(theme, &help.filter));
    draw_line(buf, line, &filter);
    let lines = help_lines(cx, &help.filter.text(), rest.width);
    let last = (lines.len() as u32).saturating_sub(u32::from(rest.height));
    let first = help.scroll.min(last) as usize;
    draw_lines(buf, rest, &lines[first..]);
    if (first as u32) < last {
        let more = words(format!(" {} more ", theme.glyphs.more_below), theme.dim());
        let x = spot.right().saturating_sub(more.width() as u16 + 2);
        let edge = Rect {
            x,
            y: spot.bottom() - 1,
            width: more.width() as u16,
            height: 1,
        };
        draw_line(buf, edge.intersection(spot), &more);
    }
}

/// Sections and their lines; with a filter only the lines that have all its words.
fn help_lines(cx: &Cx<'_>, filter: &str, width: u16) -> Vec<Line<'static>> {
    let terms: Vec<String> = filter.split_whitespace().map(str::to_lowercase).collect();
    let theme = cx.theme;
    let mut lines = practice_lines(cx, &terms, width);
    for section in sections(cx) {
        let matches =
            |keys: &str, does: &str| has_all(&terms, &format!("{} {keys} {does}", section.title));
        let pane = Pane::ALL
            .into_iter()
            .find(|pane| pane.context() == section.context);
        let pane = pane.unwrap_or(cx.model.navigation.focus.pane);
        let entries = section.lines.iter().map(|(action, keys, does)| {
            (
                in_a_row(keys),
                *does,
                cx.model.off_in(pane, *action).is_some(),
            )
        });
        let shown: Vec<_> = entries
            .filter(|(keys, does, _)| matches(keys, does))
            .collect();
        if shown.is_empty() {
            continue;
        }
        lines.push(Line::default());
        lines.push(words(section.title.clone(), theme.strong()));
        lines.extend(shown.into_iter().flat_map(|(keys, does, is_off)| {
            let lines = entry_lines(theme, &keys, does, width);
            lines
                .into_iter()
                .map(move |line| if is_off { dimmed(theme, line) } else { line })
        }));
    }
    lines.extend(sign_lines(theme, &terms, width));
    lines.extend(command_lines(cx, &terms, width));
    lines.extend(settings_lines(theme, &terms, width));
    if lines.is_empty() {
        lines.push(words("no matching key or command", theme.dim()));
    }
    lines
}

/// The keys of an action: `j down`, and with blanks in them `bc, b enter`.
fn in_a_row(keys: &[String]) -> String {
    keys.join(if keys.iter().any(|key| key.contains(' ')) {
        ", "
    } else {
        " "
    })
}

/// The signs of the lists.
fn sign_lines(theme: Theme, terms: &[String], width: u16) -> Vec<Line<'static>> {
    const TITLE: &str = "Signs in the lists";
    let glyphs = theme.glyphs;
    let risks: Vec<&str> = glyphs.risk.iter().rev().copied().collect();
    let change =
        |presence: Presence| format!("{} {}", theme.presence_sign(presence), presence.label());
    let changes = Presence::ALL
        .iter()
        .copied()
        .filter(|presence| *presence != Presence::Unchanged)
        .map(change);
    let scans = [
        (glyphs.running, "running"),
        (glyphs.waiting, "waiting"),
        (glyphs.done, "done"),
        (glyphs.incomplete, INCOMPLETE),
        (glyphs.failed, "failed"),
        (glyphs.stopped, "stopped"),
        (glyphs.stalled, "stalled"),
    ];
    let signs = [
        (
            risks.join(" "),
            "risk: critical, high, medium, low, info".to_owned(),
        ),
        (
            glyphs.change.to_owned(),
            format!(
                "change since the previous scan: {}",
                changes.collect::<Vec<_>>().join(", ")
            ),
        ),
        (
            "K P".to_owned(),
            "column KP: K = known to be exploited (KEV), P = proven by the scanner".to_owned(),
        ),
        (
            "TOOL".to_owned(),
            format!(
                "sign before the tool of a scan: {}",
                scans.map(|(sign, is)| format!("{sign} {is}")).join(", ")
            ),
        ),
    ];
    let shown = signs
        .into_iter()
        .filter(|(sign, means)| has_all(terms, &format!("{TITLE} {sign} {means}")));
    let lines: Vec<_> = shown
        .flat_map(|(sign, means)| entry_lines(theme, &sign, means, width))
        .collect();
    match lines.is_empty() {
        true => lines,
        false => [Line::default(), words(TITLE, theme.strong())]
            .into_iter()
            .chain(lines)
            .collect(),
    }
}

/// The commands that take arguments.
fn command_lines(cx: &Cx<'_>, terms: &[String], width: u16) -> Vec<Line<'static>> {
    const TITLE: &str = "Commands (the actions above can be run by name too)";
    let commands = table::all().iter().filter(|command| command.run.is_some());
    let commands = commands.map(|command| (command.usage(), command.words, command));
    let shown: Vec<_> = commands
        .filter(|(typed, does, _)| has_all(terms, &format!("{TITLE} {typed} {does}")))
        .collect();
    if shown.is_empty() {
        return Vec::new();
    }
    let theme = cx.theme;
    let mut lines = vec![Line::default(), words(TITLE, theme.strong())];
    for (typed, does, command) in shown {
        let from = lines.len();
        if text::width(&typed) < KEYS {
            lines.extend(entry_lines(theme, &typed, does, width));
        } else {
            lines.extend(wrap(vec![words(format!("  {typed}"), theme.key())], width));
            lines.extend(entry_lines(theme, "", does, width));
        }
        if command
            .action
            .is_some_and(|action| cx.model.off(action).is_some())
        {
            lines[from..]
                .iter_mut()
                .for_each(|line| *line = dimmed(theme, std::mem::take(line)));
        }
    }
    lines
}

/// Where the settings are.
fn settings_lines(theme: Theme, terms: &[String], width: u16) -> Vec<Line<'static>> {
    const TITLE: &str = "Settings";
    const PLACE: &str = "the configuration file has all settings, such as keys, theme and mouse; `scandeck doctor` shows its path";
    if !has_all(terms, &format!("{TITLE} {PLACE}")) {
        return Vec::new();
    }
    let mut lines = vec![Line::default(), words(TITLE, theme.strong())];
    lines.extend(wrap(vec![words(PLACE, theme.text())], width));
    lines
}

/// The sections of the key table, those of the focused pane first.
fn sections(cx: &Cx<'_>) -> Vec<HelpSection> {
    let first = cx.model.help_contexts();
    let mut sections = cx.model.keyboard.keymap.help();
    sections.sort_by_key(|section| {
        first
            .iter()
            .position(|context| *context == section.context)
            .unwrap_or(first.len())
    });
    sections
}

fn has_all(terms: &[String], text: &str) -> bool {
    let text = text.to_lowercase();
    terms.iter().all(|word| text.contains(word))
}

/// Addresses of the demo: control and fetch address of the practice target, and the file for
/// scripts.
fn practice_lines(cx: &Cx<'_>, terms: &[String], width: u16) -> Vec<Line<'static>> {
    let Some(practice) = &cx.model.session.practice else {
        return Vec::new();
    };
    let (control, fetch) = (text::clean(&practice.control), text::clean(&practice.fetch));
    let control =
        format!("{control} lists the weaknesses and the curl commands that switch them on and off");
    let fetch = format!(
        "GET {fetch}/plain?url=URL makes the target request a logger URL of the demo; {fetch} lists all eight modes"
    );
    let script = format!(". {}", quoted(&practice.script_file));
    let entries = [
        ("Control address of the demo's practice target", control),
        ("SSRF test page of the demo's practice target", fetch),
        (
            "Environment of the demo for scripts: address, key, decisions and payloads",
            script,
        ),
    ];
    let mut lines = Vec::new();
    for (title, text) in entries
        .into_iter()
        .filter(|(title, text)| has_all(terms, &format!("{title} {text}")))
    {
        lines.extend([Line::default(), words(title, cx.theme.strong())]);
        lines.extend(wrap(vec![words(text, cx.theme.text())], width));
    }
    lines
}

/// Keys left, what they do right, wrapped below itself.
fn entry_lines(
    theme: Theme,
    keys: &str,
    does: impl Into<Cow<'static, str>>,
    width: u16,
) -> Vec<Line<'static>> {
    let room = width.saturating_sub(KEYS as u16 + 2);
    let does = wrap(vec![Line::raw(does)], if room < 20 { width } else { room });
    let mut lines = Vec::new();
    for (at, part) in does.into_iter().enumerate() {
        let keys = if at == 0 { keys } else { "" };
        let pad = KEYS.saturating_sub(text::width(keys)).max(1);
        let mut line = Line::from(Span::styled(
            format!("  {keys}{}", " ".repeat(pad)),
            theme.key(),
        ));
        line.extend(part.spans);
        lines.push(line);
    }
    lines
}
