//! Text snapshots of the screens at each size. Colours of risks, selection and focus have their own
//! tests.

use std::sync::Arc;

use insta::assert_snapshot;
use scandeck::client::Problem;
use scandeck::contract::{Capture, Evidence, Finding, Owasp, Risk, ScanId, Unreadable};
use scandeck::dashboard::base::plan::Snapshot;
use scandeck::dashboard::base::{Link, ListKind, Pane, PollEvent, UnreadScans};
use scandeck::dashboard::core::Msg;
use scandeck::dashboard::data::{ArchiveBacklog, OobNews};
use scandeck::dashboard::model::Model;
use scandeck::dashboard::ui::{Scheme, Theme, ViewCache};
use scandeck::table::Table;

use super::fixtures::{
    ago, blank, captures, findings, learn, parts, populated, press, receive_captures, send,
};
use super::{drawn, lines, text};

const SIZES: [(u16, u16); 7] = [
    (80, 24),
    (80, 23),
    (90, 50),
    (120, 40),
    (200, 60),
    (40, 10),
    (1, 1),
];
const FEW: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

/// Asserts one snapshot per size, with the same text in every colour scheme.
fn hold(name: &str, sizes: &[(u16, u16)], make: impl Fn(u16, u16) -> Model) {
    for &(columns, rows) in sizes {
        let mut model = make(columns, rows);
        let dark = text(&mut model, Theme::new(Scheme::Dark));
        for scheme in [Scheme::Mono, Scheme::Light] {
            assert_eq!(
                text(&mut model, Theme::new(scheme)),
                dark,
                "{name} {columns}x{rows} {scheme:?}"
            );
        }
        assert_snapshot!(format!("{name}_{columns}x{rows}"), dark);
    }
}

fn at(pane: Pane) -> impl Fn(u16, u16) -> Model {
    move |columns, rows| {
        let mut model = populated(columns, rows);
        model.navigation.focus.pane = pane;
        if pane == Pane::Loggers {
            model.navigation.fifth = Pane::Loggers;
        }
        model
    }
}

#[test]
fn panes_and_loggers_match_snapshots_at_every_size() {
    hold("workspaces", &SIZES, at(Pane::Workspaces));
    hold("targets", &SIZES, at(Pane::Targets));
    hold("findings", &SIZES, at(Pane::Findings));
    hold("scans", &SIZES, at(Pane::Scans));
    hold("captures", &SIZES, at(Pane::Captures));
    hold("loggers", &FEW, at(Pane::Loggers));
    hold("reports", &FEW, at(Pane::Reports));
    hold("wordlists", &FEW, at(Pane::Wordlists));
    hold("schedules", &FEW, at(Pane::Schedules));
    hold("activity", &SIZES, at(Pane::Activity));
}

#[test]
fn help_matches_snapshots_at_every_size() {
    hold("help", &SIZES, |columns, rows| {
        let mut model = populated(columns, rows);
        press(&mut model, "?");
        model
    });
    for (name, keys) in [
        ("help_filtered", "? c u r l"),
        ("help_signs", "? s i g n s space i n"),
    ] {
        hold(name, &FEW[..1], |columns, rows| {
            let mut model = populated(columns, rows);
            press(&mut model, keys);
            model
        });
    }
}

#[test]
fn finished_scan_with_unfinished_tests_is_listed_as_incomplete() {
    let mut model = at(Pane::Scans)(120, 40);
    assert!(!text(&mut model, Theme::new(Scheme::Dark)).contains(" incomplete "));
    let blocked = Finding {
        id: 9_001.into(),
        task_id: Some(111.into()),
        vuln_id: "coverage.blocked".into(),
        ..Finding::default()
    };
    let all: Vec<_> = findings().into_iter().chain([blocked]).collect();
    learn(
        &mut model,
        60_000,
        Snapshot::Findings(Arc::new(Table::new(all))),
    );
    assert!(text(&mut model, Theme::new(Scheme::Dark)).contains(" incomplete "));
}

#[test]
fn title_names_order_of_sort_command() {
    let mut model = at(Pane::Findings)(120, 40);
    press(&mut model, ": s o r t space - n a m e enter");
    assert!(text(&mut model, Theme::new(Scheme::Dark)).contains(" by -name "));
}

#[test]
fn command_line_shows_completions_and_errors() {
    for (name, keys) in [
        ("command_open", ":"),
        ("command_typed", ": r e p"),
        (
            "command_fault",
            ": f i n d i n g s space r i s k > = h i h g",
        ),
    ] {
        hold(name, &[(80, 24), (90, 50), (200, 60)], |columns, rows| {
            let mut model = populated(columns, rows);
            press(&mut model, keys);
            model
        });
    }
    hold(
        "command_small",
        &[(40, 10), (20, 5), (1, 1)],
        |columns, rows| {
            let mut model = populated(columns, rows);
            press(&mut model, ": z o");
            model
        },
    );
}

#[test]
fn details_fill_screen_with_one_pane() {
    let details = [
        ("finding_overview", "3 g g enter"),
        ("finding_evidence", "3 g g enter >"),
        ("finding_references", "3 g g enter > >"),
        ("scan_summary", "4 G k k enter"),
        ("capture_request", "5 k enter"),
        ("capture_headers", "5 k enter >"),
        ("capture_body", "5 enter > >"),
    ];
    for (name, keys) in details {
        hold(name, &FEW[..1], |columns, rows| {
            let mut model = populated(columns, rows);
            press(&mut model, keys);
            model
        });
    }
    hold("empty_captures", &FEW[..1], |columns, rows| {
        let mut model = blank(columns, rows);
        learn(
            &mut model,
            0,
            Snapshot::Workspaces(Arc::new(Table::new(super::fixtures::workspaces()))),
        );
        let logger = scandeck::contract::Logger {
            label: "probe".into(),
            ..Default::default()
        };
        learn(
            &mut model,
            0,
            Snapshot::Loggers(Arc::new(Table::new([logger]))),
        );
        press(&mut model, "5");
        model
    });
}

#[test]
fn scan_parts_are_shown_after_loading() {
    for (name, keys) in [
        ("scan_tests", ">"),
        ("scan_output", "> >"),
        ("scan_raw", "> > >"),
    ] {
        hold(name, &FEW[..1], |columns, rows| {
            let mut model = populated(columns, rows);
            press(&mut model, "4 enter");
            press(&mut model, keys);
            let scan = model.lists.scans.selected.unwrap_or(ScanId(0));
            parts(&mut model, scan);
            model
        });
    }
}

#[test]
fn forms_prompts_and_menus_match_snapshots() {
    let cases = [
        ("form_workspace", "1 n"),
        ("form_targets", "2 n"),
        ("form_scan", "2 s"),
        ("form_logger", "5 h n"),
        ("form_report", "3 R"),
        ("prompt_target", "2 D"),
        ("prompt_workspace", "1 D"),
        ("menu_go", "g"),
        ("menu_copy", "y"),
        ("filter_typed", "3 / g i t"),
        ("filter_nothing", "3 / z z z enter"),
        ("marked", "3 space space space"),
        ("search", "3 g g enter / k e y"),
    ];
    for (name, keys) in cases {
        hold(name, &FEW, |columns, rows| {
            let mut model = populated(columns, rows);
            press(&mut model, keys);
            model
        });
    }
}

#[test]
fn first_start_shows_connection_choices() {
    hold("setup", &SIZES[..6], |columns, rows| {
        blank(columns, rows).with_setup(None)
    });
}

#[test]
fn connecting_and_empty_dashboards_match_snapshots() {
    hold("connecting", &FEW, blank);
    for (name, keys) in [
        ("empty_targets", "2"),
        ("empty_scans", "4"),
        ("empty_findings", "3"),
        ("empty_fifth", "5"),
    ] {
        hold(name, &FEW[..1], |columns, rows| {
            let mut model = blank(columns, rows);
            let workspaces = Arc::new(Table::new(super::fixtures::workspaces()));
            learn(&mut model, 0, Snapshot::Workspaces(workspaces));
            learn(&mut model, 0, Snapshot::Targets(Default::default()));
            learn(&mut model, 0, Snapshot::Scans(Default::default()));
            learn(&mut model, 0, Snapshot::Findings(Default::default()));
            learn(&mut model, 0, Snapshot::Loggers(Default::default()));
            press(&mut model, keys);
            model
        });
    }
}

fn broken(columns: u16, rows: u16) -> Model {
    let mut model = populated(columns, rows);
    let problem = Arc::new(Problem {
        message: "cannot connect: Connection refused".into(),
        brief: "connection refused".into(),
        hint: Some("start it with `scandeck serve`".into()),
        ..Problem::default()
    });
    let link = Link::Retrying {
        attempt: 3,
        next: ago(-8),
        problem: problem.clone(),
    };
    learn(&mut model, 71_000, PollEvent::Link(link));
    for list in [ListKind::Findings, ListKind::Scans, ListKind::Targets] {
        learn(&mut model, 71_000, PollEvent::Failed(list, problem.clone()));
    }
    send(&mut model, 100_000, Msg::Wake);
    model
}

#[test]
fn stale_data_is_dimmed_with_age_while_service_is_unreachable() {
    hold("stale", &FEW, broken);
}

#[test]
fn stale_pane_and_header_show_reason_and_next_attempt() {
    let problem = |brief: &str| {
        let (message, brief) = ("no".into(), brief.into());
        Arc::new(Problem {
            message,
            brief,
            status: Some(503),
            retry_at: Some(ago(-4)),
            ..Problem::default()
        })
    };
    for (columns, rows) in [(80, 24), (80, 23), (90, 50), (120, 40), (200, 60)] {
        let mut model = populated(columns, rows);
        learn(
            &mut model,
            71_000,
            PollEvent::Failed(ListKind::Findings, problem("503 Service Unavailable")),
        );
        let shown = text(&mut model, Theme::default());
        let header = shown.lines().next().unwrap();
        assert!(
            header.contains("503 Service Unavailable · retry in 4s") && !header.contains("live"),
            "{shown}"
        );
        let pane = shown
            .lines()
            .skip(1)
            .find(|line| line.contains("stale"))
            .unwrap_or_else(|| panic!("{shown}"));
        // Beside a filter on a narrow screen only the header has the time of the next attempt.
        let reason = if columns < 120 {
            "503 Service Unavailable"
        } else {
            "503 Service Unavailable · retry in 4s"
        };
        assert!(pane.contains(reason), "{columns}x{rows}\n{shown}");

        let mut model = at(Pane::Captures)(columns, rows);
        learn(
            &mut model,
            71_000,
            PollEvent::CapturesFailed(Some(problem("probe: 403 Forbidden"))),
        );
        let shown = text(&mut model, Theme::default());
        assert!(
            shown.contains("stale · probe: 403 Forbidden · retry in 4s"),
            "{columns}x{rows}\n{shown}"
        );
        assert!(!shown.lines().next().unwrap().contains("live"), "{shown}");
        learn(&mut model, 72_000, PollEvent::CapturesFailed(None));
        let shown = text(&mut model, Theme::default());
        assert!(
            !shown.contains("stale") && shown.lines().next().unwrap().contains("live"),
            "{shown}"
        );
    }
}

#[test]
fn captures_that_wait_for_archive_are_counted_with_reason() {
    for (columns, rows) in [(80, 24), (120, 40), (200, 60)] {
        let mut model = at(Pane::Captures)(columns, rows);
        let problem = Problem {
            brief: "database or disk is full".into(),
            ..Problem::local("captures.db: full")
        };
        let backlog = ArchiveBacklog {
            problem: Arc::new(problem),
            captures: 7,
            payloads: 0,
            is_full: false,
        };
        send(&mut model, 71_000, Msg::Oob(OobNews::Retrying(backlog)));
        send(&mut model, 171_000, Msg::Wake);
        let shown = text(&mut model, Theme::default());
        assert!(
            shown.contains("7 not archived · database or disk is full"),
            "{columns}x{rows}\n{shown}"
        );
        send(
            &mut model,
            172_000,
            Msg::Oob(OobNews::Recovered { writable: true }),
        );
        let shown = text(&mut model, Theme::default());
        assert!(
            shown.contains("captures archived") && !shown.contains("not archived"),
            "{shown}"
        );
    }
}

#[test]
fn filtered_captures_show_hidden_and_new_ones_at_every_size() {
    hold("filtered_captures", &FEW, |columns, rows| {
        let mut model = at(Pane::Captures)(columns, rows);
        model.set_query(Pane::Captures, "method:PROPFIND").unwrap();
        let new = captures(1)
            .into_iter()
            .zip(10..)
            .map(|(capture, id)| Capture {
                id: id.into(),
                request_date: Some(ago(-id)),
                ..capture
            });
        receive_captures(&mut model, 71_000, 1, new.collect());
        model
    });
}

#[test]
fn unreadable_items_are_counted_in_pane_and_named_in_notice() {
    for (columns, rows) in [(80, 24), (120, 40), (200, 60)] {
        let mut model = populated(columns, rows);
        let reasons = vec!["item 3: expected an object".to_owned()];
        let items = Unreadable {
            count: 1,
            reasons,
            ..Unreadable::default()
        };
        learn(
            &mut model,
            71_000,
            PollEvent::Unreadable(ListKind::Findings, Arc::new(items)),
        );
        let shown = text(&mut model, Theme::default());
        assert!(
            shown.contains("findings: 1 item not readable · item 3: expected an object"),
            "{shown}"
        );
        send(&mut model, 171_000, Msg::Wake);
        let shown = text(&mut model, Theme::default());
        assert!(shown.contains("1 item not readable"), "{shown}");
        // Beside the list, or in its place in a narrow terminal.
        press(&mut model, if columns == 80 { "enter" } else { "" });
        let shown = text(&mut model, Theme::default());
        assert!(
            shown.contains("not readable: item 3: expected an object"),
            "{columns}x{rows}\n{shown}"
        );
    }
}

#[test]
fn findings_that_are_not_loaded_are_counted_and_a_query_requests_them() {
    for (columns, rows) in [(80, 24), (120, 40), (200, 60)] {
        let mut model = populated(columns, rows);
        let scans: Vec<ScanId> = model
            .data
            .scans
            .value()
            .unwrap()
            .items()
            .iter()
            .map(|scan| scan.id)
            .collect();
        let ids = Arc::new(scans.iter().copied().collect());
        let unread = UnreadScans {
            ids,
            findings: 600_000,
            is_reading: false,
        };
        let table = Arc::new(Table::new(findings()));
        learn(
            &mut model,
            71_000,
            PollEvent::SomeFindings(table, unread, Default::default()),
        );
        let shown = text(&mut model, Theme::default());
        assert!(
            shown.contains("600,000 not loaded · scan:N loads a scan"),
            "{columns}x{rows}\n{shown}"
        );
        assert!(model.plan().wanted_scans.is_empty());
        model
            .set_query(Pane::Findings, &format!("scan:{} risk>=high", scans[1]))
            .unwrap();
        assert_eq!(model.plan().wanted_scans, [scans[1]]);
        learn(
            &mut model,
            72_000,
            Snapshot::Findings(Arc::new(Table::new(findings()))),
        );
        assert!(
            !text(&mut model, Theme::default()).contains("not loaded")
                && model.plan().wanted_scans.is_empty()
        );
    }
}

#[test]
fn ascii_theme_draws_only_ascii() {
    for (columns, rows) in SIZES {
        for pane in Pane::ALL {
            let mut model = at(pane)(columns, rows);
            // A notice with the next key.
            press(&mut model, "esc esc h");
            let shown = text(&mut model, Theme::default().with_ascii());
            let strange: Vec<char> = shown.chars().filter(|c| !c.is_ascii()).collect();
            assert!(
                strange.is_empty(),
                "{pane:?} {columns}x{rows}: {strange:?}\n{shown}"
            );
        }
    }
}

#[test]
fn selected_row_is_reversed_without_colours() {
    use ratatui::style::Modifier;
    let mut model = populated(80, 24);
    let buffer = drawn(&mut model, &mut ViewCache::new(Theme::new(Scheme::Mono)));
    let row = lines(&buffer)
        .iter()
        .position(|line| line.starts_with('▌'))
        .unwrap() as u16;
    assert!((0..80).all(|x| buffer[(x, row)].modifier.contains(Modifier::REVERSED) || x == 0));
}

#[test]
fn lists_keep_last_column_at_every_size() {
    for (columns, rows) in SIZES.into_iter().filter(|size| size.0 >= 80) {
        let mut model = at(Pane::Findings)(columns, rows);
        let shown = text(&mut model, Theme::default());
        for age in ["AGE", "10m"] {
            assert!(shown.contains(age), "{columns}x{rows} lost {age}:\n{shown}");
        }
        let mut model = at(Pane::Scans)(columns, rows);
        let shown = text(&mut model, Theme::default());
        assert!(shown.contains("◆1 ▲4"), "{columns}x{rows}\n{shown}");
    }
}

#[test]
fn help_and_notices_in_ascii_are_ascii() {
    for (keys, shown_text) in [
        ("? g r o u p space b y", "group by"),
        ("3 B esc", "paused"),
        ("? : r u l e", "rule"),
    ] {
        let mut model = populated(120, 40);
        press(&mut model, keys);
        let shown = text(&mut model, Theme::default().with_ascii());
        assert!(
            shown.is_ascii() && shown.contains(shown_text),
            "{keys}\n{shown}"
        );
    }
}

#[test]
fn help_about_settings_names_the_configuration_file() {
    let mut model = populated(80, 24);
    press(&mut model, "? s e t t i n g s");
    let shown = text(&mut model, Theme::default());
    assert!(
        shown.contains("the configuration file has all settings"),
        "{shown}"
    );
}

#[test]
fn grouped_findings_match_snapshots() {
    let some = [(80, 24), (90, 50), (200, 60)];
    hold("groups", &some, |columns, rows| {
        let mut model = with_a_class(columns, rows);
        press(&mut model, "3 b c");
        model
    });
    hold("group_head", &some[1..], |columns, rows| {
        let mut model = with_a_class(columns, rows);
        press(&mut model, "3 b c / S e c u r enter");
        model
    });
    hold("groups_unfolded", &some[..1], |columns, rows| {
        let mut model = populated(columns, rows);
        press(&mut model, "3 b t g g l");
        model
    });
}

/// The sample data with one finding class on seven targets; the evidence of one target differs.
fn with_a_class(columns: u16, rows: u16) -> Model {
    let mut model = populated(columns, rows);
    let missing = |target: i64| {
        Finding {
        id: (600 + target).into(),
        name: "Content-Security-Policy missing".into(),
        vuln_id: "WEB-CSP".into(),
        risk_level: Risk::Low,
        target_id: Some(target.into()),
        task_id: Some(115.into()),
        port: 443,
        protocol: "tcp".into(),
        cwe: "CWE-693".into(),
        owasp: Owasp { owasp_2021: "A05:2021".into(), ..Owasp::default() },
        risk_description: "No Content-Security-Policy header was sent, so injected script runs without a second \
                           barrier."
            .into(),
        recommendation: "Send a policy; begin with report-only.".into(),
        vuln_evidence: Evidence::from_value(&match target {
            6 => "HTTP/1.1 301 Moved Permanently".into(),
            _ => format!("HTTP/1.1 200 OK\nDate: Mon, 02 Nov 2026 10:00:0{target} GMT\nContent-Type: text/html").into(),
        }),
        ..Finding::default()
    }
    };
    learn(
        &mut model,
        71_000,
        Snapshot::Findings(Arc::new(Table::new(
            findings().into_iter().chain((1..8).map(missing)),
        ))),
    );
    model
}

#[test]
fn review_card_and_summary_match_snapshots() {
    let some = [(80, 24), (90, 50), (200, 60)];
    let last_class = "3 b c / C o n t e n t enter B";
    hold("review", &some, |columns, rows| {
        let mut model = with_a_class(columns, rows);
        press(&mut model, last_class);
        model
    });
    hold("review_evidence", &some[..1], |columns, rows| {
        let mut model = with_a_class(columns, rows);
        press(&mut model, &format!("{last_class} >"));
        model
    });
    hold("review_where", &some[..1], |columns, rows| {
        let mut model = with_a_class(columns, rows);
        press(&mut model, &format!("{last_class} > > j space"));
        model
    });
    hold("review_by_cwe", &some[..1], |columns, rows| {
        let mut model = populated(columns, rows);
        press(&mut model, "3 b w B");
        model
    });
    hold("review_finding", &some[..1], |columns, rows| {
        let mut model = populated(columns, rows);
        press(&mut model, "3 B");
        model
    });
    hold("review_summary", &some[..1], |columns, rows| {
        let mut model = populated(columns, rows);
        press(&mut model, "3 b w B J S");
        model
    });
}
