//! The list of scans with their progress, failures and findings.

mod detail;

use crate::base::ShownRows;
use crate::input::{Action, Context, ItemAction};
use crate::ui::{
    Cx, DrawnPane, ListColumn, ListPane, PaneDrawing, Room, Slot, TableColumn, Theme, ViewCache,
    bar, cell, draw_columns, format, invite, is_constant, key, pane_of, sampled_items, words,
};
use detail::detail;
use ratatui::prelude::{Buffer, Line, Span, Style};
use scandeck_domain::table::columns::scan;
use scandeck_domain::triage::Presence;
use scandeck_wire::contract::import::ImportOrigin;
use scandeck_wire::contract::{INCOMPLETE, Scan, ScanStatus, Tool};
use scandeck_wire::text;
use std::collections::HashSet;

const COLUMNS: &[ListColumn<Scan>] = &[
    ListColumn::<Scan>::new("", TableColumn::fixed(1), |cx, scan, _| {
        let Look { glyph, style } = look(cx, scan);
        words(glyph, style)
    }),
    ListColumn::<Scan>::new(scan::TOOL, TableColumn::fixed(11), |_, scan, _| {
        Line::from(Tool(scan.tool_id).to_string())
    })
    .fit(|column, cx| {
        let names = shown(cx).map(|scan| Tool(scan.tool_id).to_string().len());
        column
            .at_least(widest_of(scan::TOOL, names))
            .gives_way_if(is_constant(all(cx).map(|scan| scan.tool_id)), 5)
    }),
    ListColumn::<Scan>::new(
        scan::TARGET,
        TableColumn::flex(9, 2).at_most(60),
        |cx, scan, _| Line::from(cx.short_target_name(scan.target_id)),
    )
    .fit(|column, cx| {
        let names = cx.widest_target(shown(cx).map(|scan| scan.target_id));
        // The scope beside the filter names the target.
        column
            .content(names, HOST_PORT)
            .omitted(cx.model.navigation.scope.target.is_some())
    }),
    ListColumn::<Scan>::new(
        "PLACE",
        TableColumn::flex(5, 1).expendable(4).from(120),
        |_, scan, _| scan.place().map_or_else(Line::default, cell),
    )
    .fit(|column, cx| {
        let widest = shown(cx).filter_map(Scan::place).map(text::width).max();
        column
            .content(widest.unwrap_or(0), 0)
            .at_most(20)
            .omitted(widest.is_none())
    }),
    ListColumn::<Scan>::new(
        "PROGRESS",
        TableColumn::flex(11, 2).at_most(30).sentence(),
        progress,
    )
    .fit(fit_progress),
    ListColumn::<Scan>::new(
        "ETA",
        TableColumn::fixed(6).right(),
        |cx, scan, _| match scan.status_name {
            ScanStatus::Running => time_left(cx, scan),
            _ => Line::default(),
        },
    )
    .fit(|column, cx| {
        let is_running = shown(cx).any(|scan| scan.status_name == ScanStatus::Running);
        let has_eta = shown(cx).any(|scan| time_left(cx, scan).width() > 0);
        column.constant(!is_running).gives_way_if(!has_eta, 7)
    }),
    ListColumn::<Scan>::new(
        "TESTS",
        TableColumn::fixed(9).right().expendable(2),
        |cx, scan, _| match has_numbers(scan) {
            true => words(tests(scan), tests_style(cx, scan)),
            false => Line::default(),
        },
    )
    .fit(|column, cx| {
        let numbers = |scan: &Scan| (scan.num_finished_tests, scan.num_tests);
        let is_running = all(cx).any(|scan| scan.status_name == ScanStatus::Running);
        let are_equal = !is_running && is_constant(all(cx).map(numbers));
        let width = widest_of("TESTS", shown(cx).map(|scan| tests(scan).len()));
        column
            .at_least(width)
            .omitted(all(cx).all(|scan| scan.num_tests <= 0))
            .gives_way_if(are_equal, 4)
    }),
    ListColumn::<Scan>::new(
        "FOUND",
        TableColumn::flex(8, 1).at_most(20),
        |cx, scan, room| match has_numbers(scan) {
            true => found_words(cx, scan, room.width()),
            false => Line::default(),
        },
    )
    .fit(|column, cx| {
        let widest = |columns| {
            let found = shown(cx).map(|scan| found_words(cx, scan, columns).width());
            found.max().unwrap_or(0)
        };
        // Critical and high risks are never cut.
        column.content(widest(u16::MAX), widest(0) as u16)
    }),
    ListColumn::<Scan>::new(
        "ENDED",
        TableColumn::fixed(5).right(),
        |cx, scan, _| match scan.is_active() {
            true => Line::default(),
            false => words(cx.age(scan.end_time), cx.theme.dim()),
        },
    )
    .fit(|column, cx| column.constant(!shown(cx).any(|scan| scan.has_ended()))),
    ListColumn::<Scan>::new(
        scan::ID,
        TableColumn::fixed(6).right().expendable(3),
        |cx, scan, _| words(format!("#{}", scan.id), cx.theme.dim()),
    )
    .fit(|column, cx| {
        let ids = shown(cx).map(|scan| scan.id.to_string().len() + 1);
        column
            .at_least(widest_of(scan::ID, ids))
            .expendable(if has_twins(shown(cx)) { 1 } else { 3 })
    }),
];

fn shown<'a>(cx: &Cx<'a>) -> impl Iterator<Item = &'a Scan> + use<'a> {
    sampled_items::<Scan>(cx)
}

fn all<'a>(cx: &Cx<'a>) -> impl Iterator<Item = &'a Scan> + use<'a> {
    let scans = cx.model.data.scans.value();
    let scans = scans.map(|scans| scans.items()).unwrap_or_default();
    scans.iter().map(|scan| &**scan)
}

/// The width of a column with this title and cells of these widths.
fn widest_of(title: &str, cells: impl Iterator<Item = usize>) -> u16 {
    cells.max().unwrap_or(0).max(title.len()) as u16
}

fn fit_progress(column: TableColumn, cx: &Cx<'_>) -> TableColumn {
    let is_done = |scan: &Scan| {
        let is_finished = scan.status_name == ScanStatus::Finished;
        is_finished && !is_incomplete(cx, scan) && !ImportOrigin::is_of(scan)
    };
    let changes = shown(cx).filter_map(|scan| changes_words(cx, scan, u16::MAX));
    let changes = changes.map(|line| line.width()).max().unwrap_or(0);
    let counts = cx.facts.scans.counts;
    // The glyph shows that a scan is done.
    if shown(cx).all(is_done) && changes == 0 {
        column.at_most(PROGRESS).gives_way_if(true, 6)
    } else if counts.running + counts.failed == 0 {
        column.at_most(PROGRESS.max(changes as u16))
    } else {
        column
    }
}

/// Columns of an IPv4 address and a port: `127.0.0.1:41555`.
const HOST_PORT: u16 = 15;
/// Columns of the progress without a bar and without the reason of a failure.
const PROGRESS: u16 = 11;
/// The columns after the progress that are empty for a failed scan without findings.
const AFTER_PROGRESS: usize = 3;
/// Columns of the percentage after a bar, with the blank before it.
const PERCENT: u16 = 5;

impl DrawnPane for Scan {
    const DRAWING: PaneDrawing = PaneDrawing::new(draw_list, detail).summary(summary);
}

pub(crate) fn draw_list(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
) -> ShownRows {
    let start = key(cx, Context::Targets, Action::Item(ItemAction::Scan));
    let new = key(cx, Context::Scans, Action::Item(ItemAction::New));
    let pane = ListPane {
        note: counts(cx),
        invitation: invite(
            cx,
            "no scans",
            &format!("{new} starts a scan, {start} on a target scans it"),
        ),
        ..pane_of::<Scan>(cx)
    };
    draw_columns(cx, buf, slot, cache, pane, COLUMNS)
}

/// Whether two scans of the same tool and target have the same status: only their ids tell them
/// apart.
fn has_twins<'a>(scans: impl Iterator<Item = &'a Scan>) -> bool {
    let mut seen = HashSet::new();
    let mut scans = scans.map(|scan| (scan.tool_id, scan.target_id, scan.status_name.as_str()));
    scans.any(|scan| !seen.insert(scan))
}

/// `▶ 12 running  … 4 waiting`, without zeros.
fn counts(cx: &Cx<'_>) -> Line<'static> {
    let (all, theme) = (cx.facts.scans.counts, cx.theme);
    let mut line = Line::default();
    for (number, glyph, word, style) in [
        (all.running, theme.glyphs.running, "running", theme.active()),
        (all.waiting, theme.glyphs.waiting, "waiting", theme.dim()),
    ] {
        if number > 0 {
            line.push_span(Span::raw(if line.spans.is_empty() { "" } else { "  " }));
            line.push_span(Span::styled(format!("{glyph} {number} {word}"), style));
        }
    }
    line
}

/// Whether a finished scan has tests without a result, by its numbers or by its findings about
/// itself.
fn is_incomplete(cx: &Cx<'_>, scan: &Scan) -> bool {
    let is_finished = scan.status_name == ScanStatus::Finished;
    scan.is_incomplete() || is_finished && cx.facts.findings.is_incomplete(scan.id)
}

/// The glyph of a scan, and the style of its state.
struct Look {
    glyph: &'static str,
    style: Style,
}

fn look(cx: &Cx<'_>, scan: &Scan) -> Look {
    let (theme, glyphs) = (cx.theme, cx.theme.glyphs);
    let (glyph, style) = match &scan.status_name {
        ScanStatus::Running if cx.model.stalled_for(scan.id).is_some() => {
            (glyphs.stalled, theme.warn())
        }
        ScanStatus::Running => (glyphs.running, theme.active()),
        ScanStatus::Waiting => (glyphs.waiting, theme.dim()),
        ScanStatus::Stopped => (glyphs.stopped, theme.dim()),
        ScanStatus::Finished if is_incomplete(cx, scan) => (glyphs.incomplete, theme.warn()),
        ScanStatus::Finished => (glyphs.done, theme.good()),
        status if status.is_failure() => (glyphs.failed, theme.bad()),
        _ => ("?", theme.warn()),
    };
    Look { glyph, style }
}

/// Whether tests and findings are shown. The reason of a failure extends into their columns, but
/// findings before the failure matter more than its reason, which the detail shows.
fn has_numbers(scan: &Scan) -> bool {
    let mut found = scan.result_summary.by_risk().into_iter().flatten();
    match &scan.status_name {
        ScanStatus::Waiting => false,
        ScanStatus::Running | ScanStatus::Finished | ScanStatus::Stopped => true,
        _ => found.any(|count| count > 0),
    }
}

fn tests_style(cx: &Cx<'_>, scan: &Scan) -> Style {
    match &scan.status_name {
        ScanStatus::Running => cx.theme.text(),
        ScanStatus::Finished | ScanStatus::Stopped if is_incomplete(cx, scan) => cx.theme.warn(),
        _ => cx.theme.dim(),
    }
}

/// The progress of a running scan, else its state: what it changed, or why it failed.
fn progress<'a>(cx: &Cx<'a>, scan: &'a Scan, room: Room<'_>) -> Line<'a> {
    let (theme, style) = (cx.theme, look(cx, scan).style);
    let columns = room.width();
    match &scan.status_name {
        ScanStatus::Running => progress_bar(theme, scan, columns),
        ScanStatus::Waiting => words("waiting", theme.dim()),
        ScanStatus::Stopped => words("stopped", theme.dim()),
        ScanStatus::Finished if is_incomplete(cx, scan) => words(INCOMPLETE, theme.warn()),
        ScanStatus::Finished => {
            let done = if ImportOrigin::is_of(scan) {
                "imported"
            } else {
                "done"
            };
            changes_words(cx, scan, columns).unwrap_or_else(|| words(done, theme.dim()))
        }
        status if has_numbers(scan) => {
            let (room, whole) = (usize::from(columns), reason(scan, columns.into()));
            match text::width(&whole) <= room {
                true => words(whole, style),
                false => words(text::clean(status.as_str()).into_owned(), style),
            }
        }
        _ => words(reason(scan, room.width_with(AFTER_PROGRESS)), style),
    }
}

/// `2 new, 1 reappeared, 3 absent`, compared with the scan before; with the signs of findings where
/// there is less room.
fn changes_words(cx: &Cx<'_>, scan: &Scan, columns: u16) -> Option<Line<'static>> {
    let changes = cx.facts.changes(scan)?;
    let counts = [
        (Presence::New, changes.new, "new"),
        (Presence::Reappeared, changes.reappeared, "reappeared"),
        (Presence::Absent, changes.absent, "absent"),
    ];
    let shown = || counts.iter().filter(|(_, count, _)| *count > 0);
    let long: Vec<String> = shown()
        .map(|(_, count, word)| format!("{} {word}", format::count(*count as i64)))
        .collect();
    let long = long.join(", ");
    if text::width(&long) <= usize::from(columns) {
        return Some(words(long, cx.theme.text()));
    }
    let sign = |presence| cx.theme.presence_sign(presence);
    let short: Vec<String> = shown()
        .map(|(presence, count, _)| format!("{}{}", sign(*presence), format::count(*count as i64)))
        .collect();
    Some(words(short.join(" "), cx.theme.text()))
}

/// The findings of a scan by risk.
fn found_words(cx: &Cx<'_>, scan: &Scan, columns: u16) -> Line<'static> {
    Line::from(format::risk_counts_in(
        cx.theme,
        scan.result_summary.by_risk(),
        columns,
    ))
}

/// The status with the message of the service; the message alone where both have no room, because
/// the glyph shows the failure.
fn reason(scan: &Scan, room: usize) -> String {
    let (status, message) = (
        text::clean(scan.status_name.as_str()),
        text::clean(&scan.status_message),
    );
    if message.is_empty() {
        return status.into_owned();
    }
    let both = format!("{status}: {message}");
    match text::width(&both) <= room {
        true => both,
        false => message.into_owned(),
    }
}

fn progress_bar(theme: Theme, scan: &Scan, columns: u16) -> Line<'static> {
    let percent = scan.progress.clamp(0, 100);
    let mut line = Line::from(bar(theme, percent, columns.saturating_sub(PERCENT)).to_vec());
    line.push_span(Span::raw(format!(" {percent:>3}%")));
    line
}

/// `~2m`, or the time without progress.
fn time_left(cx: &Cx<'_>, scan: &Scan) -> Line<'static> {
    if let Some(still) = cx.model.stalled_for(scan.id) {
        return words(
            format!("!{}", format::duration(still.as_secs() as i64)),
            cx.theme.warn(),
        );
    }
    let left = cx.model.time_left(scan.id);
    words(
        left.map(|left| format::time_left(left.as_secs()))
            .unwrap_or_default(),
        cx.theme.text(),
    )
}

/// `122/200`.
fn tests(scan: &Scan) -> String {
    match (scan.num_finished_tests, scan.num_tests) {
        (_, ..=0) => String::new(),
        (done, all) => format!("{}/{}", format::count(done), format::count(all)),
    }
}

/// A summary for layouts with one line for the scans.
pub(crate) fn summary<'a>(cx: &Cx<'a>) -> Line<'a> {
    let mut line = counts(cx);
    let failed = cx.facts.scans.counts.failed;
    if failed > 0 {
        line.push_span(Span::raw("  "));
        line.push_span(Span::styled(
            format!("{} {failed} failed", cx.theme.glyphs.failed),
            cx.theme.bad(),
        ));
    }
    if line.spans.is_empty() {
        line = words(
            format::plural(cx.facts.scans.counts.total, "scan"),
            cx.theme.dim(),
        );
    }
    line
}

#[cfg(test)]
mod tests {
    use crate::testing::*;

    #[test]
    fn place_of_a_scan_is_shown_where_there_is_room_and_in_the_detail() {
        let mut app = TestDashboard::new();
        app.model.screen.size = Size {
            columns: 150,
            rows: 40,
        };
        app.keys("4 z");
        let frame = app.frame().join("\n");
        assert!(!frame.contains("PLACE"), "{frame}");
        app.feed(Snapshot::Scans(table([Scan {
            vpn_scan: true,
            info_text_lines: vec!["scanned from office by the worker pc1".into()],
            ..scan(1, 1, ScanStatus::Finished, 100)
        }])));
        let frame = app.frame().join("\n");
        assert!(
            frame.contains("PLACE") && frame.contains("office"),
            "{frame}"
        );
        app.keys("enter");
        let detail = app.paged();
        assert!(
            detail.contains("Place") && detail.contains("office"),
            "{detail}"
        );
    }

    #[test]
    fn detail_shows_the_place_that_a_scan_waits_for_and_its_time_limit() {
        let mut app = TestDashboard::new();
        let waiting = |notes: &[&str], max_scan_time: Option<i64>| {
            Snapshot::Scans(table([Scan {
                vpn_scan: true,
                info_text_lines: notes.iter().map(|&note| note.into()).collect(),
                max_scan_time,
                ..scan(1, 1, ScanStatus::Waiting, 0)
            }]))
        };
        app.feed(waiting(&["to be scanned from office"], Some(90)));
        app.keys("4 z enter");
        let detail = app.paged();
        assert!(
            detail.contains("Place") && !detail.contains("VPN"),
            "{detail}"
        );
        assert!(
            detail.contains("Time limit") && detail.contains("1h 30m"),
            "{detail}"
        );
        app.feed(waiting(&[], None));
        let of_other_service = app.paged();
        assert!(
            of_other_service.contains("VPN") && !of_other_service.contains("Time limit"),
            "{of_other_service}"
        );
    }

    #[test]
    fn running_scans_show_the_port_of_their_target_and_no_end() {
        let mut app = TestDashboard::new();
        app.model.screen.size = Size {
            columns: 120,
            rows: 40,
        };
        app.feed(Snapshot::Targets(table(
            (1..=3).map(|id| target(id, &format!("http://127.0.0.1:1839{id}"))),
        )));
        app.feed(Snapshot::Scans(table(
            (1..=3).map(|id| scan(id, id, ScanStatus::Running, 40 + id)),
        )));
        app.keys("4");
        let frame = app.frame();
        let row = frame.iter().find(|line| line.contains("41%")).unwrap();
        assert!(row.contains(":18391"), "{}", frame.join("\n"));
        assert!(!frame.join("\n").contains("ENDED"), "{}", frame.join("\n"));
    }

    /// Finished scans of one tool, with the same number of tests, of one target.
    fn scans_of_one_tool() -> TestDashboard {
        let mut app = TestDashboard::new();
        app.feed(Snapshot::Targets(table([target(
            1,
            "http://127.0.0.1:18391",
        )])));
        app.feed(Snapshot::Scans(table((1..=3).map(|id| Scan {
            num_tests: 40,
            num_finished_tests: 40,
            start_time: Stamp::parse(&format!("2026-11-21 0{id}:00:00")),
            ..scan(id, 1, ScanStatus::Finished, 100)
        }))));
        app.keys("4 z");
        app
    }

    #[test]
    fn long_target_of_done_scans_is_whole_where_there_is_room() {
        let mut app = scans_of_one_tool();
        let name = "https://orders.shop.eu-central.example.acme.test:18391";
        app.feed(Snapshot::Targets(table([target(1, name)])));
        app.model.screen.size = Size {
            columns: 120,
            rows: 40,
        };
        let frame = app.frame().join("\n");
        assert!(
            frame.contains("orders.shop.eu-central.example.acme.test:18391"),
            "{frame}"
        );
    }

    #[test]
    fn columns_of_one_value_stay_where_there_is_room() {
        let mut app = scans_of_one_tool();
        let head = |app: &mut TestDashboard, columns: u16| {
            app.model.screen.size = Size { columns, rows: 40 };
            app.frame()
                .into_iter()
                .find(|line| line.contains("TARGET"))
                .unwrap_or_default()
        };
        for columns in [200, 120, 90, 80] {
            let head = head(&mut app, columns);
            assert!(
                ["TOOL", "PROGRESS", "TESTS"]
                    .iter()
                    .all(|title| head.contains(title)),
                "{columns}: {head}"
            );
        }
        app.feed(Snapshot::Findings(Default::default()));
        let narrow = head(&mut app, 46);
        assert!(
            !["TOOL", "PROGRESS"]
                .iter()
                .any(|title| narrow.contains(title)),
            "{narrow}"
        );
        assert!(
            ["TARGET", "FOUND"]
                .iter()
                .all(|title| narrow.contains(title)),
            "the others stay: {narrow}"
        );
    }

    #[test]
    fn last_scan_counts_the_findings_that_it_changed() {
        let mut app = scans_of_one_tool();
        let found = |id: i64, scan: i64, name: &str| Finding {
            task_id: Some(ScanId(scan)),
            vuln_id: name.into(),
            ..finding(id, 1, name, Risk::Low)
        };
        let all = [
            (1, 1, "A"),
            (2, 2, "A"),
            (3, 2, "B"),
            (4, 3, "A"),
            (5, 3, "C"),
            (6, 3, "D"),
        ];
        app.feed(Snapshot::Findings(table(
            all.map(|(id, scan, name)| found(id, scan, name)),
        )));
        let row = |app: &mut TestDashboard, columns: u16, scan: &str| {
            app.model.screen.size = Size { columns, rows: 40 };
            app.frame()
                .into_iter()
                .find(|line| line.contains(scan))
                .unwrap_or_default()
        };
        assert!(
            row(&mut app, 120, "#3").contains("2 new, 1 absent"),
            "{}",
            row(&mut app, 120, "#3")
        );
        assert!(
            row(&mut app, 120, "#2").contains(" done"),
            "{}",
            row(&mut app, 120, "#2")
        );
        app.feed(Snapshot::Scans(table([
            scan(3, 1, ScanStatus::Finished, 100),
            scan(9, 1, ScanStatus::Running, 100),
        ])));
        assert!(
            !row(&mut app, 120, "#3").contains("new"),
            "all findings of a first scan are new"
        );
    }

    #[test]
    fn reason_of_a_failure_is_cut_last() {
        let mut app = TestDashboard::new();
        let failed = Scan {
            status_name: ScanStatus::ConnectionError,
            status_message: "connection refused on 8443".into(),
            ..scan(7, 1, ScanStatus::Running, 0)
        };
        app.feed(Snapshot::Scans(table([failed])));
        app.keys("4");
        let row = |app: &mut TestDashboard, columns: u16| {
            app.model.screen.size = Size { columns, rows: 24 };
            let frame = app.frame();
            let row = frame.into_iter().find(|line| line.contains("refused"));
            row.unwrap_or_default()
        };
        let wide = row(&mut app, 98);
        assert!(
            wide.contains("connection error: connection refused on 8443"),
            "{wide}"
        );
        let narrow = row(&mut app, 66);
        assert!(
            narrow.contains("connection refused on 8443") && !narrow.contains("error:"),
            "{narrow}"
        );
    }
}
