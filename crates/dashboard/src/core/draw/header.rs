//! The first line: where one is, what is wrong or new, and the connection.
//!
//! ```text
//!  Acme external › [3] findings · demo    ✗2 !1 ▶12 …4   3 new      stale 2m · retry in 8s
//! ```
//!
//! The left part is shortened in the middle; problems are shown as long as they fit on the screen.

use crate::base::{Layout, Link, Pane};
use crate::input::{Action, AppAction, Context};
use crate::ui::{Cx, cut_line, draw_line, format, indented, joined, key, stale_reason};
use ratatui::prelude::{Buffer, Line, Rect, Span, Style};
use scandeck_domain::problem::Problem;
use scandeck_wire::contract::team::Purged;
use scandeck_wire::text;

/// The rate budget is named when less than this part of it is left, in percent.
const LOW_BUDGET: u32 = 30;
/// Longest reason for a broken connection beside a long name of a workspace.
const REASON: usize = 42;
/// Least columns for a rejected API key: nothing is read until it is replaced, so its source and
/// the remedy come first.
const KEY_REASON: usize = 60;
/// Least columns for the source of a rejected API key.
const LEAST_SOURCE: usize = 8;
/// Columns of the name of a workspace that are never cut for the rest.
const LEAST_NAME: u16 = 8;
/// Conflicts and findings that were fixed and found again are counted on screens of at least this
/// width, and on others where there is room.
const REOPENED_FROM: u16 = 90;

pub(crate) fn draw_header(cx: &Cx<'_>, buf: &mut Buffer, area: Rect) {
    let area = indented(area);
    let team = team(cx);
    let mut shows_team = true;
    let right_of = |shows_team: bool, reopened, reason| {
        let team = team.clone().filter(|_| shows_team).map(|word| vec![word]);
        joined(
            mode(cx)
                .into_iter()
                .chain(team)
                .chain([trouble(cx, reopened), link(cx, reason)]),
            "  ",
        )
    };
    // Only a warning takes room from the place.
    if team
        .as_ref()
        .is_some_and(|word| word.style != cx.theme.warn())
    {
        let right = right_of(true, true, REASON);
        let room = usize::from(area.width).saturating_sub(right.width() + 3);
        shows_team = place(cx, area.width).width() <= room;
    }
    let right_with = |reopened, reason| right_of(shows_team, reopened, reason);
    let room_beside = |right: &Line<'_>| usize::from(area.width).saturating_sub(right.width() + 3);
    let reopened = right_with(true, REASON);
    let fits = || place(cx, area.width).width() <= room_beside(&reopened);
    let shows_reopened = cx.model.screen.size.columns >= REOPENED_FROM || fits();
    let right = if shows_reopened {
        reopened
    } else {
        right_with(false, REASON)
    };
    // A longer reason uses columns that are free.
    let beside = room_beside(&right);
    let free = beside.saturating_sub(place(cx, u16::try_from(beside).unwrap_or(u16::MAX)).width());
    let right = if free > 0 {
        right_with(shows_reopened, REASON + free)
    } else {
        right
    };
    let right_width = (right.width() as u16).min(area.width);
    let left_room = (area.width - right_width).saturating_sub(2);
    draw_line(
        buf,
        Rect {
            width: left_room,
            ..area
        },
        &place(cx, left_room),
    );
    let x = area
        .right()
        .saturating_sub(right_width + u16::from(area.width > right_width));
    draw_line(
        buf,
        Rect {
            x,
            width: right_width,
            ..area
        },
        &right,
    );
}

/// Workspace, pane, service.
fn place(cx: &Cx<'_>, room: u16) -> Line<'static> {
    let theme = cx.theme;
    if let Some(review) = cx.model.reviewing() {
        return crate::findings::review::draw::place(cx, review, room);
    }
    let session = cx.shown(&text::clean(&cx.model.session.name)).into_owned();
    let colour = cx.model.session.colour.filter(|_| !session.is_empty());
    let service = match session.is_empty() || colour.is_some() {
        true => String::new(),
        false => format!(" {} {session}", theme.glyphs.separator),
    };
    let mut badge =
        colour.map(|colour| Span::styled(format!(" {session} "), theme.service(colour)));
    let mut badge_width = badge.as_ref().map_or(0, |badge| badge.width() + 1);
    let pane = pane_words(cx);
    let mut tail = format!("{pane}{service}");
    let name = workspace_name(cx);
    let least = usize::from(room.min(LEAST_NAME)).min(text::width(&name));
    if least + text::width(&tail) + badge_width > usize::from(room) {
        // The rest of a service that is cut would name another one.
        tail = pane;
        (badge, badge_width) = (None, 0);
    }
    let name_room = usize::from(room)
        .saturating_sub(text::width(&tail) + badge_width)
        .max(least);
    let name = text::middle_with(&name, name_room, theme.glyphs.ellipsis).into_owned();
    let mut line = Line::from(vec![
        Span::styled(name, theme.strong()),
        Span::styled(tail, theme.dim()),
    ]);
    line.extend(badge.into_iter().flat_map(|badge| [Span::raw(" "), badge]));
    cut_line(line, room.into(), theme.glyphs.ellipsis)
}

fn workspace_name(cx: &Cx<'_>) -> String {
    let workspace = cx
        .model
        .navigation
        .scope
        .workspace
        .and_then(|id| cx.model.data.workspaces.value()?.get(id));
    match workspace {
        Some(workspace) => cx.shown(&text::clean(&workspace.name)).into_owned(),
        None => "scandeck".to_owned(),
    }
}

/// ` › [3] findings by target`, where the screen shows one pane.
fn pane_words(cx: &Cx<'_>) -> String {
    let focus = cx.model.navigation.focus;
    if cx.model.layout() == Layout::Wide && !focus.zoomed {
        return String::new();
    }
    let pane = focus.pane.title().to_lowercase();
    let pane = match (cx.model.layout(), focus.pane.number()) {
        // The line of tabs has the numbers.
        (Layout::Beside, _) | (_, None) => pane,
        // In brackets: a number alone would be read as a count.
        (_, Some(number)) => format!("[{number}] {pane}"),
    };
    let by = match (focus.pane, cx.model.lists.finding_groups.by) {
        (Pane::Findings, Some(by)) => format!(" by {}", by.word()),
        _ => String::new(),
    };
    format!(" {} {pane}{by}", cx.theme.glyphs.path)
}

/// The parts that are off in this session.
fn mode(cx: &Cx<'_>) -> Vec<Vec<Span<'static>>> {
    let triage = &cx.model.findings.triage;
    let marks = [
        cx.model
            .mask()
            .map(|_| Span::styled("MASKED", cx.theme.warn())),
        cx.model
            .session
            .read_only
            .then(|| Span::styled("READ ONLY", cx.theme.warn())),
        triage
            .has_no_store()
            .then(|| Span::styled("NO DECISIONS", cx.theme.bad())),
        cx.model
            .captures
            .next_expiry
            .map(|ending| Span::styled(format!("logger: {ending}"), cx.theme.warn())),
    ];
    marks.into_iter().flatten().map(|mark| vec![mark]).collect()
}

/// The members of the team who are here, or why the team does not have the own decisions.
fn team(cx: &Cx<'_>) -> Option<Span<'static>> {
    let team = cx
        .model
        .connection
        .team
        .me
        .as_ref()
        .map(|_| &cx.model.connection.team)?;
    let theme = cx.theme;
    let by = |purged: &Purged| format!("decisions deleted by {}", text::clean(&purged.who));
    Some(match (&team.purged, &team.problem) {
        (Some((_, purged)), _) => Span::styled(by(purged), theme.warn()),
        _ if team.question.is_some() => Span::styled("decisions not shared", theme.warn()),
        _ if team.is_private => Span::styled("decisions not shared", theme.dim()),
        (None, problem) => {
            let counted = |number: usize, word: &str| match number {
                0 => String::new(),
                number => format!(", {} {word}", format::count(number as i64)),
            };
            let refused = counted(team.refused_rows(), "refused");
            let (words, unsent) = match problem {
                Some(_) => ("offline".to_owned(), counted(team.unsent, "not sent")),
                None => {
                    let members = team.members();
                    let words = format!("team {} {members}", theme.glyphs.separator);
                    (words, String::new())
                }
            };
            let needs_attention = problem.is_some() || !refused.is_empty();
            let style = if needs_attention {
                theme.warn()
            } else {
                theme.dim()
            };
            Span::styled(format!("{words}{unsent}{refused}"), style)
        }
    })
}

/// A number in the header that deserves attention.
struct Trouble<'a> {
    number: usize,
    glyph: &'a str,
    /// The noun of one, and of several.
    words: [&'static str; 2],
    style: Style,
}

/// Failed, stalled, running, waiting, `reopened` findings; new captures. In words where there is
/// room.
fn trouble(cx: &Cx<'_>, reopened: bool) -> Vec<Span<'static>> {
    let long = cx.model.screen.size.columns >= 120;
    let gap = if long { "   " } else { " " };
    let mut spans: Vec<Span<'static>> = Vec::new();
    for trouble in troubles(cx, reopened) {
        let Trouble { number, glyph, .. } = trouble;
        if number == 0 {
            continue;
        }
        let gap = if spans.is_empty() { "" } else { gap };
        let noun = trouble.words[usize::from(number > 1)];
        let words = if long {
            format!("{gap}{glyph} {number} {noun}")
        } else {
            format!("{gap}{glyph}{number}")
        };
        spans.push(Span::styled(words, trouble.style));
    }
    let hits = cx.model.captures.payloads.unseen.values().sum::<u64>() as usize;
    if hits > 0 {
        let noun = if long { "payload hit" } else { "hit" };
        let words = format!("{gap}{}", format::plural(hits, noun));
        spans.push(Span::styled(words, cx.theme.good()));
    }
    spans
}

fn troubles<'a>(cx: &Cx<'a>, reopened: bool) -> Vec<Trouble<'a>> {
    let (theme, glyphs) = (cx.theme, cx.theme.glyphs);
    let tally = cx.model.scans.tally;
    let trouble = |number, glyph, words, style| Trouble {
        number,
        glyph,
        words,
        style,
    };
    let failures = ["new failure", "new failures"];
    let mut troubles = vec![
        trouble(tally.failed, glyphs.failed, failures, theme.bad()),
        trouble(tally.stalled, glyphs.stalled, ["stalled"; 2], theme.warn()),
        trouble(
            tally.running,
            glyphs.running,
            ["running"; 2],
            theme.active(),
        ),
        trouble(tally.waiting, glyphs.waiting, ["waiting"; 2], theme.dim()),
    ];
    if reopened {
        let again = cx.model.findings.triage.again;
        let conflicts = ["in conflict"; 2];
        let regressions = ["regression", "regressions"];
        troubles.extend([
            trouble(again.conflicts, glyphs.conflict, conflicts, theme.warn()),
            trouble(again.regressions, glyphs.back, regressions, theme.warn()),
        ]);
    }
    let captures = cx.model.captures.new_captures as usize;
    let words = ["new capture", "new captures"];
    troubles.push(trouble(captures, glyphs.more_below, words, theme.warn()));
    troubles
}

/// Whether a list has no response yet, and no failure either.
fn is_first(problem: &Problem) -> bool {
    problem.retry_at.is_none() && problem.status.is_none()
}

/// The connection, and the budget when little is left.
fn link(cx: &Cx<'_>, reason: usize) -> Vec<Span<'static>> {
    let (words, style) = link_words(cx, reason);
    let link = Span::styled(format!("{} {words}", cx.theme.glyphs.link), style);
    low_budget(cx).into_iter().chain([link]).collect()
}

fn link_words(cx: &Cx<'_>, reason: usize) -> (String, Style) {
    let (theme, model) = (cx.theme, cx.model);
    match &model.connection.link {
        Link::Connecting => ("connecting".to_owned(), theme.dim()),
        Link::Live { .. } => live_words(cx, reason),
        Link::Retrying { .. } | Link::Down { .. } if model.connection.is_starting_service => {
            ("starting the service".to_owned(), theme.warn())
        }
        Link::Retrying { .. } | Link::Down { .. } if model.is_service_stopped() => {
            let start = model.key_label(Context::Everywhere, Action::App(AppAction::Refresh));
            let separator = theme.glyphs.separator;
            let words = format!("service stopped {separator} {start} starts it");
            (words, theme.bad())
        }
        Link::Retrying { problem, .. } => (stale_reason(cx, problem, reason), theme.bad()),
        Link::Down { .. } if model.is_key_rejected() => {
            (rejected_key(cx, reason.max(KEY_REASON)), theme.bad())
        }
        Link::Down { problem } => {
            let why = text::start(&text::clean(&problem.message), reason).into_owned();
            (why, theme.bad())
        }
    }
}

/// The state of the shown list while the service responds.
fn live_words(cx: &Cx<'_>, reason: usize) -> (String, Style) {
    let theme = cx.theme;
    let loading = || ("loading".to_owned(), theme.dim());
    match (cx.model.visible_problem(), cx.model.waits_for()) {
        // Rows of the cache have no status and no retry either, but this response is late.
        (problem, Some(seconds)) if problem.is_none_or(is_first) => {
            (format!("waiting for the service {seconds}s"), theme.warn())
        }
        (None, _) if cx.model.is_loading() => loading(),
        (None, _) => ("live".to_owned(), theme.good()),
        // Rows of the cache wait for their first answer.
        (Some(problem), _) if is_first(problem) => loading(),
        (Some(problem), _) => (stale_reason(cx, problem, reason), theme.warn()),
    }
}

/// `12 of 60 requests/min left`
fn low_budget(cx: &Cx<'_>) -> Option<Span<'static>> {
    let budget = cx.model.connection.budget?;
    let is_low = budget.remaining * 100 < budget.limit.saturating_mul(LOW_BUDGET);
    let unit = if cx.model.screen.size.columns >= 120 {
        " requests/min"
    } else {
        "/min"
    };
    let remaining = format::count(budget.remaining.into());
    let left = format!("{remaining} of {}{unit} left  ", budget.limit);
    is_low.then(|| Span::styled(left, cx.theme.warn()))
}

/// `API key rejected (SCANDECK_API_KEY) · fix it and restart`.
fn rejected_key(cx: &Cx<'_>, room: usize) -> String {
    let refresh = key(cx, Context::Everywhere, Action::App(AppAction::Refresh));
    let remedy = match (
        cx.model.connection.is_reading_key,
        cx.model.session.reads_key_again,
    ) {
        (true, _) => "reading it again".to_owned(),
        (false, true) => format!("{refresh} reads it again"),
        // The environment of a running program does not change.
        (false, false) => "fix it and restart".to_owned(),
    };
    let (lead, tail) = (
        "API key rejected",
        format!(" {} {remedy}", cx.theme.glyphs.separator),
    );
    let left = room.saturating_sub(text::width(lead) + text::width(&tail) + " ()".len());
    let source = text::clean(&cx.model.session.key_source);
    match source.is_empty() || left < LEAST_SOURCE {
        true => format!("{lead}{tail}"),
        false => format!(
            "{lead} ({}){tail}",
            text::middle_with(&source, left, cx.theme.glyphs.ellipsis)
        ),
    }
}

#[cfg(test)]
mod tests {
    use crate::base::{Link, ListKind};
    use crate::config::ProfileColour;
    use crate::testing::*;
    use scandeck_domain::problem::Problem;

    #[test]
    fn reason_uses_free_columns_and_a_service_is_named_whole_or_not_at_all() {
        let mut app = TestDashboard::new();
        app.model.session.name = "localhost:9443".to_owned();
        let problem = Arc::new(Problem::local("no connection before the timeout"));
        app.feed(PollEvent::Link(Link::Retrying {
            attempt: 1,
            next: stamp(),
            problem,
        }));
        for (columns, has_name) in [(200, true), (120, true), (70, false), (40, false)] {
            app.model.screen.size = Size { columns, rows: 40 };
            let header = app.frame().swap_remove(0);
            assert_eq!(header.contains("localhost:9443"), has_name, "{header}");
            assert_eq!(header.contains("localhost"), has_name, "{header}");
            let whole = "no connection before the timeout · retrying";
            assert_eq!(header.contains(whole), columns >= 70, "{header}");
        }
        app.model.session.colour = Some(ProfileColour::Red);
        for columns in 40..130 {
            app.model.screen.size = Size { columns, rows: 40 };
            let header = app.frame().swap_remove(0);
            assert_eq!(
                header.contains("localhost:9443"),
                header.contains("loc"),
                "{header}"
            );
        }
    }

    #[test]
    fn rejected_key_is_named_with_its_source_and_the_remedy() {
        let mut app = TestDashboard::new();
        app.model.screen.size = Size {
            columns: 80,
            rows: 24,
        };
        for (source, reads_again, expected) in [
            (
                "SCANDECK_API_KEY",
                false,
                "API key rejected (SCANDECK_API_KEY) · fix it and restart",
            ),
            (
                "api_key_command",
                true,
                "API key rejected (api_key_command) · r reads it again",
            ),
            ("/home/ann/keys/of/a/customer/key", true, "…"),
        ] {
            app.model.session.reads_key_again = reads_again;
            app.model.session.key_source = source.to_owned();
            let problem = Problem {
                status: Some(401),
                ..Problem::local("invalid API key")
            };
            app.feed(PollEvent::Link(Link::Down {
                problem: Arc::new(problem),
            }));
            let header = app.frame().swap_remove(0);
            assert!(header.contains(expected), "{header}");
            let remedy = if reads_again {
                "r reads it again"
            } else {
                "fix it and restart"
            };
            assert!(header.contains(remedy), "{header}");
        }
    }

    #[test]
    fn header_is_live_only_when_every_shown_list_was_read() {
        let mut app = TestDashboard::new();
        app.model.screen.size = Size {
            columns: 120,
            rows: 40,
        };
        app.feed(PollEvent::Link(Link::Live { at: stamp() }));
        app.model.data.reports = Default::default();
        app.keys("3");
        assert!(
            app.frame()[0].contains("● live"),
            "the reports are not shown"
        );
        app.keys("6");
        assert!(app.frame()[0].contains("● loading"), "{}", app.frame()[0]);
    }

    #[test]
    fn header_names_the_problem_of_the_scans_in_every_view() {
        let mut app = TestDashboard::new();
        app.model.screen.size = Size {
            columns: 120,
            rows: 40,
        };
        app.feed(PollEvent::Link(Link::Live { at: stamp() }));
        app.keys("3");
        assert!(app.frame()[0].contains("● live"));
        let retry_at = Some(stamp());
        let problem = Problem {
            retry_at,
            ..Problem::local("no response before the timeout")
        };
        app.feed(PollEvent::Failed(ListKind::Scans, Arc::new(problem)));
        let header = app.frame().swap_remove(0);
        assert!(
            header.contains("no response before the timeout") && !header.contains("live"),
            "{header}"
        );
    }

    #[test]
    fn colour_of_the_profile_marks_its_service_in_header_and_questions() {
        let mut app = TestDashboard::new();
        app.model.screen.size = Size {
            columns: 80,
            rows: 24,
        };
        app.model.session.name = "prod".to_owned();
        app.keys("2 D");
        let count = |app: &mut TestDashboard| app.frame().join("\n").matches(" prod ").count();
        assert_eq!(count(&mut app), 1, "in the header");
        app.model.session.colour = Some(ProfileColour::Red);
        assert_eq!(count(&mut app), 2, "and in the frame of the question");
    }

    #[test]
    fn pane_and_tab_are_numbered_where_one_pane_is_shown() {
        let mut app = TestDashboard::new();
        app.model.screen.size = Size {
            columns: 80,
            rows: 24,
        };
        app.keys("3 >");
        let frame = app.frame();
        assert!(frame[0].contains(" [3] findings"), "{}", frame[0]);
        assert!(frame[1].contains("3/5 High+:"), "{}", frame[1]);
        app.keys("4");
        let header = app.frame().swap_remove(0);
        assert!(header.contains(" [4] scans"), "{header}");
    }
}
