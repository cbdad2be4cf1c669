//! Findings in groups: folding, navigation, marks, and the position of the cursor.

use crate::base::RowRef;
use crate::core::Msg;
use crate::data::{StoredDecisions, TriageNews};
use crate::findings::retest::tests::{ended, found};
use crate::list::{FindingGroupBy, GroupSummary, Lists};
use crate::testing::*;
use proptest::prelude::*;
use proptest::sample::select;

/// Three database dumps on three targets, two cookies on one, one banner; 10 to 15.
fn grouped() -> TestDashboard {
    let mut app = TestDashboard::new();
    app.feed(Snapshot::Findings(table([
        of_class(10, 1, "dump", "Database dump at /a.sql", Risk::High),
        of_class(11, 2, "dump", "Database dump at /b.sql", Risk::High),
        of_class(12, 3, "dump", "Database dump at /c.sql", Risk::Critical),
        of_class(13, 1, "cookie", "Weak cookie: sid", Risk::Low),
        of_class(14, 1, "cookie", "Weak cookie: lang", Risk::Low),
        of_class(15, 2, "banner", "Banner", Risk::Info),
    ])));
    app.keys("3 b c");
    app
}

fn of_class(id: i64, target: i64, class: &str, name: &str, risk: Risk) -> Finding {
    Finding {
        vuln_id: class.into(),
        ..finding(id, target, name, risk)
    }
}

/// The rows in order: headers by title, findings by id.
fn rows(app: &TestDashboard) -> Vec<String> {
    let Lists {
        findings: list,
        finding_groups: groups,
        ..
    } = &app.model.lists;
    let table = app.model.data.findings.value().unwrap();
    let row = |at| match list.row_at(table, at).unwrap() {
        RowRef::Group(id) => groups
            .name(list.groups.get(id).unwrap())
            .unwrap()
            .title
            .to_string(),
        RowRef::Item(id) => app.model.service_id(Pane::Findings, id.0).to_string(),
    };
    (0..list.len()).map(row).collect()
}

fn cursor(app: &TestDashboard) -> String {
    rows(app)[app.model.lists.findings.at].clone()
}

#[test]
fn header_counts_decided_findings_until_all_are_decided() {
    let mut app = grouped();
    app.model.screen.size = Size {
        columns: 120,
        rows: 40,
    };
    app.keys("j enter j f");
    let header = app
        .frame()
        .into_iter()
        .find(|line| line.contains("Weak cookie  "))
        .unwrap();
    assert!(header.contains("1/2 decided"), "{header}");
}

#[test]
fn headers_summarise_groups_by_highest_risk() {
    let app = grouped();
    let Lists {
        findings: list,
        finding_groups: groups,
        ..
    } = &app.model.lists;
    assert_eq!(rows(&app), ["Database dump", "Weak cookie", "Banner"]);
    let facts = |group| {
        let GroupSummary {
            risk,
            others,
            undecided,
            ..
        } = groups.summary(group);
        (risk, group.rows.len(), others, undecided)
    };
    assert_eq!(
        list.groups.iter().map(facts).collect::<Vec<_>>(),
        [
            (Risk::Critical, 3, 3, 3),
            (Risk::Low, 2, 1, 2),
            (Risk::Info, 1, 1, 1)
        ]
    );
}

#[test]
fn header_has_the_flags_of_its_findings() {
    let mut app = TestDashboard::blank(80, 24);
    let dump = |id, in_cisa_catalog| Finding {
        in_cisa_catalog,
        vuln_id: "web.dump".into(),
        ..finding(id, id, "Database dump readable", Risk::High)
    };
    app.feed(Snapshot::Findings(table([
        dump(1, false),
        dump(2, true),
        finding(3, 1, "Banner", Risk::Info),
    ])));
    app.keys("3 b c");
    let frame = app.frame();
    let row = |word: &str| frame.iter().find(|line| line.contains(word)).unwrap();
    assert!(row("CLASS").contains("KP"), "{frame:#?}");
    assert!(row("Database dump").contains(" K "), "{frame:#?}");
    assert!(!row("Banner").contains(" K "), "{frame:#?}");
}

#[test]
fn header_counts_decisions_as_they_are_made() {
    let mut app = grouped();
    let decided = |app: &TestDashboard| {
        let Lists {
            findings: list,
            finding_groups: groups,
            ..
        } = &app.model.lists;
        let counts = |group| {
            (
                groups.summary(group).undecided,
                groups.summary(group).decided,
            )
        };
        list.groups.iter().map(counts).collect::<Vec<_>>()
    };
    // The header of a class, then a finding of it.
    app.keys("g g c");
    assert_eq!(decided(&app), [(0, 3), (2, 0), (1, 0)]);
    app.keys("g g l j u");
    assert_eq!(decided(&app), [(3, 0), (2, 0), (1, 0)]);
    app.keys("c");
    assert_eq!(decided(&app), [(2, 1), (2, 0), (1, 0)]);
}

/// Groups with present findings of the last scan, and with absent ones that only the scan before
/// found.
fn grouped_with_absent() -> TestDashboard {
    let mut app = grouped();
    let of = |id: i64, scan: i64, class: &str| Finding {
        vuln_id: class.into(),
        ..found(id, scan, 1, &format!("finding {id}"), Risk::High)
    };
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(2, 1, -600),
    ])));
    app.feed(Snapshot::Findings(table([
        of(1, 1, "dump"),
        of(2, 2, "dump"),
        of(3, 2, "dump"),
        of(4, 1, "cookie"),
        of(5, 2, "banner"),
    ])));
    app.keys("/ ctrl-u enter");
    app
}

fn summaries(app: &TestDashboard) -> Vec<GroupSummary> {
    let Lists {
        findings: list,
        finding_groups: groups,
        ..
    } = &app.model.lists;
    list.groups
        .iter()
        .map(|group| groups.summary(group))
        .collect()
}

proptest! {
    #[test]
    fn headers_after_decisions_count_as_headers_filled_again(
        keys in proptest::collection::vec(
            select(&["g g", "G", "j", "k", "l", "h", "c", "f", "a", "x", "i", "o", "u"][..]),
            1..25,
        ),
    ) {
        let mut app = grouped_with_absent();
        let counted: u32 = summaries(&app).iter().map(|summary| summary.count).sum();
        prop_assert_eq!((counted, app.model.lists.findings.rows.len()), (3, 5), "two findings are absent");
        for key in keys {
            app.keys(key);
            let counted = summaries(&app);
            app.model.show_rows(Pane::Findings);
            prop_assert_eq!(counted, summaries(&app), "after {}", key);
        }
    }
}

#[test]
fn l_unfolds_and_h_folds_group() {
    let mut app = grouped();
    app.keys("g g l");
    assert_eq!(
        rows(&app),
        ["Database dump", "12", "11", "10", "Weak cookie", "Banner"]
    );
    assert_eq!(cursor(&app), "Database dump");
    app.keys("l j");
    assert_eq!(cursor(&app), "11");
    app.keys("h");
    assert_eq!(cursor(&app), "Database dump");
    app.keys("h");
    assert_eq!(rows(&app), ["Database dump", "Weak cookie", "Banner"]);
    app.keys("h");
    assert_eq!(
        app.model.navigation.focus.pane,
        Pane::Targets,
        "from a folded header it leaves the list"
    );
}

#[test]
fn header_marks_and_chooses_its_findings() {
    let mut app = grouped();
    app.keys("g g");
    assert_eq!(app.chosen(Pane::Findings), (vec![12, 11, 10], vec![]));
    app.keys("j space");
    assert_eq!(app.chosen(Pane::Findings), (vec![14, 13], vec![]));
    assert_eq!(app.model.lists.findings.marks.len(), 2);
    app.keys("b b");
    assert_eq!(
        app.chosen(Pane::Findings),
        (vec![14, 13], vec![]),
        "marks remain without the groups"
    );
    app.keys("b c !");
    assert_eq!(app.chosen(Pane::Findings).0, [12, 11, 10, 15]);
    app.keys("/ 'dump' enter");
    assert_eq!(
        app.chosen(Pane::Findings).0,
        [12, 11, 10],
        "hidden rows are excluded"
    );
}

#[test]
fn filter_reduces_groups_to_matches() {
    let mut app = grouped();
    app.keys("/ 't2' enter g g");
    assert_eq!(rows(&app), ["Database dump", "Banner"]);
    assert_eq!(app.chosen(Pane::Findings).0, [11]);
}

#[test]
fn cursor_keeps_finding_when_grouping_changes() {
    let mut app = grouped();
    app.keys("g g l j j");
    assert_eq!(cursor(&app), "11");
    app.keys("b b");
    assert_eq!(app.selected(Pane::Findings), Some(11));
    app.keys("b t");
    assert_eq!(rows(&app).len(), 3);
    assert_eq!(
        cursor(&app),
        "t2.acme.test",
        "the header of its folded group"
    );
    app.keys("b b");
    assert_eq!(
        app.selected(Pane::Findings),
        Some(11),
        "the first finding of the group"
    );
}

#[test]
fn selected_header_is_restored_after_restart() {
    let mut app = grouped();
    app.keys("j");
    let mut effects = Vec::new();
    app.model.remember_view(&mut effects);
    let setting = |effect: Effect| match effect {
        Effect::Remember {
            key,
            workspace,
            value,
        } => Some(((*key).into(), workspace, value)),
        _ => None,
    };
    let settings = effects
        .into_iter()
        .filter_map(setting)
        .map(|(key, workspace, value)| ((key, workspace), value));
    let stored = StoredDecisions {
        settings: settings.collect(),
        ..StoredDecisions::default()
    };
    let mut again = TestDashboard::new();
    let findings = app.model.data.occurrences.value().unwrap().clone();
    again.send(Msg::Triage(TriageNews::Opened(Box::new(stored.clone()))));
    // The first findings that arrive have no group of this class.
    again.feed(Snapshot::Findings(table([of_class(
        15,
        2,
        "banner",
        "Banner",
        Risk::Info,
    )])));
    assert_eq!(cursor(&again), "Banner");
    again.feed(Snapshot::Findings(findings.clone()));
    assert_eq!(
        (cursor(&again), again.model.lists.findings.at),
        (cursor(&app), 1)
    );
    let mut late = TestDashboard::new();
    late.feed(Snapshot::Findings(findings));
    late.send(Msg::Triage(TriageNews::Opened(Box::new(stored))));
    assert_eq!(cursor(&late), cursor(&app));
}

#[test]
fn zoomed_list_shows_whole_verdicts_and_the_others_short_ones() {
    let mut app = grouped();
    app.model.screen.size = Size {
        columns: 120,
        rows: 40,
    };
    app.keys("g g f");
    let header = |app: &mut TestDashboard| {
        app.frame()
            .into_iter()
            .find(|line| line.contains("▸ ◆ CRIT"))
            .unwrap()
    };
    let list = |line: String| line.chars().take(66).collect::<String>();
    let short = list(header(&mut app));
    assert!(
        short.contains("false pos") && !short.contains("false positive"),
        "{short}"
    );
    app.keys("z");
    assert!(
        header(&mut app).contains("false positive"),
        "{}",
        header(&mut app)
    );
    app.keys("z");
    assert!(!list(header(&mut app)).contains("false positive"));
}

#[test]
fn poll_keeps_cursor_and_unfolded_groups() {
    let mut app = grouped();
    app.keys("g g l G k");
    assert_eq!(cursor(&app), "Weak cookie");
    let more = (20..60).map(|id| {
        of_class(
            id,
            3,
            &format!("other {id}"),
            &format!("Other {id}"),
            Risk::High,
        )
    });
    let old = [
        of_class(12, 3, "dump", "Database dump at /c.sql", Risk::Critical),
        of_class(13, 1, "cookie", "Weak cookie: sid", Risk::Low),
    ];
    app.feed(Snapshot::Findings(table(more.chain(old))));
    assert_eq!(&rows(&app)[..2], ["Database dump at /c.sql", "12"]);
    assert_eq!(cursor(&app), "Weak cookie: sid");
}

#[test]
fn findings_without_attribute_form_one_group() {
    let mut app = grouped();
    for (keys, by, title) in [
        ("b v", FindingGroupBy::Cve, "no CVE"),
        ("b w", FindingGroupBy::Cwe, "no CWE"),
        ("b p", FindingGroupBy::Port, "no port"),
    ] {
        app.keys(keys);
        assert_eq!(app.model.lists.finding_groups.by, Some(by));
        assert_eq!(rows(&app), [title]);
    }
}

#[test]
fn group_of_a_cve_names_the_tools_that_saw_it() {
    let mut app = grouped();
    let of_tool = |id: i64, tool_id: i64| Scan {
        tool_id,
        ..scan(id, 1, ScanStatus::Finished, 100)
    };
    app.feed(Snapshot::Scans(table([
        of_tool(1, 10_002),
        of_tool(2, 10_003),
    ])));
    let with_cve = |id: i64, scan: i64| Finding {
        cve: vec!["CVE-2021-44228".into()],
        task_id: Some(ScanId(scan)),
        ..of_class(id, 1, &format!("class {id}"), "Log4Shell", Risk::Critical)
    };
    app.feed(Snapshot::Findings(table([
        with_cve(10, 1),
        with_cve(11, 2),
    ])));
    app.keys("b v g g enter");
    let frame = app.frame().join("\n");
    assert!(frame.contains("nuclei, ZAP"), "{frame}");
}

#[test]
fn findings_of_several_tools_about_one_weakness_are_one_group() {
    let mut app = grouped();
    app.model.screen.size = Size {
        columns: 120,
        rows: 40,
    };
    let of_tool = |id: i64, tool_id: i64| Scan {
        tool_id,
        ..scan(id, 1, ScanStatus::Finished, 100)
    };
    app.feed(Snapshot::Scans(table([
        of_tool(1, 10_002),
        of_tool(2, 10_003),
    ])));
    let with_cve = |id: i64, scan: i64, target: i64, class: &str| Finding {
        cve: vec!["CVE-2021-44228".into()],
        task_id: Some(ScanId(scan)),
        ..of_class(id, target, class, "Log4Shell", Risk::Critical)
    };
    app.feed(Snapshot::Findings(table([
        with_cve(10, 1, 1, "nuclei:CVE-2021-44228"),
        with_cve(11, 2, 1, "zap:40043"),
        with_cve(12, 1, 2, "nuclei:CVE-2021-44228"),
        of_class(13, 1, "dump", "Database dump at /a.sql", Risk::High),
    ])));
    app.keys("b s");
    assert_eq!(
        app.model.lists.finding_groups.by,
        Some(FindingGroupBy::Weakness)
    );
    assert_eq!(
        rows(&app),
        ["Log4Shell", "Log4Shell", "Database dump at /a.sql"]
    );
    let frame = app.frame().join("\n");
    assert!(
        frame.contains("SEEN BY") && frame.contains("nuclei, ZAP"),
        "{frame}"
    );
    app.keys("g g f");
    let decided = [10, 11, 12, 13].map(|id| {
        let table = app.model.data.findings.value().unwrap();
        let mut issues = table.items().iter();
        let issue = issues.find(|issue| issue.finding.id.0 == id).unwrap();
        !app.model.assessment(issue.id).unwrap().is_undecided()
    });
    assert_eq!(decided, [true, true, false, false]);
    app.keys("/ ctrl-u 'tool:ZAP' enter");
    assert_eq!(rows(&app), ["Log4Shell"]);
}

#[test]
fn finding_that_several_tools_saw_is_one_row_that_names_them() {
    let mut app = grouped();
    let of_tool = |id: i64, tool_id: i64| Scan {
        tool_id,
        ..scan(id, 1, ScanStatus::Finished, 100)
    };
    app.feed(Snapshot::Scans(table([
        of_tool(1, 170),
        of_tool(2, 10_001),
    ])));
    let seen_in = |id: i64, scan: i64| Finding {
        task_id: Some(ScanId(scan)),
        ..of_class(id, 1, "web.csp", "Policy missing", Risk::Low)
    };
    app.feed(Snapshot::Findings(table([seen_in(10, 1), seen_in(11, 2)])));
    app.keys("b b g g");
    assert_eq!(app.model.lists.findings.rows.len(), 1);
    let frame = app.frame().join("\n");
    assert!(frame.contains("Seen by   scandeck, Website"), "{frame}");
    for tool in ["scandeck", "Website"] {
        app.keys(&format!("/ ctrl-u 'tool:{tool}' enter"));
        assert_eq!(app.model.lists.findings.rows.len(), 1, "{tool}");
    }
}

#[test]
fn selecting_finding_unfolds_its_group() {
    let mut app = grouped();
    let id = app.model.cursor(Pane::Findings).shown_ids()[1];
    assert!(app.model.cursor(Pane::Findings).select_id(id));
    assert_eq!(cursor(&app), "11");
}

#[test]
fn moving_in_detail_skips_headers() {
    let mut app = grouped();
    app.keys("g g l l enter");
    assert!(app.model.navigation.focus.in_detail);
    app.keys("J J J J");
    assert_eq!(
        (cursor(&app).as_str(), app.model.navigation.focus.in_detail),
        ("10", true),
        "no row of the group is below it"
    );
}

#[test]
fn members_do_not_repeat_the_value_of_their_group() {
    let mut app = TestDashboard::new();
    app.model.screen.size = Size {
        columns: 90,
        rows: 30,
    };
    app.feed(Snapshot::Targets(table([
        target(1, "http://127.0.0.1:8300"),
        target(2, "shop.acme.test"),
    ])));
    let found = |id: i64, target: i64, name: &str| Finding {
        port: 8300,
        protocol: "tcp".into(),
        cwe: "CWE-77".into(),
        cve: vec!["CVE-2021-1".into()],
        ..of_class(id, target, "banner", name, Risk::High)
    };
    app.feed(Snapshot::Findings(table([
        found(1, 1, "Open port: 8300/tcp http"),
        found(2, 2, "Open port: 8300/tcp http"),
    ])));
    let members = |app: &mut TestDashboard, keys: &str| {
        app.keys(&format!("3 z b {keys} * l z"));
        let frame = app.frame();
        let head = frame
            .iter()
            .position(|line| line.contains("COUNT"))
            .unwrap();
        frame[head + 2..head + 4].join("\n")
    };
    let by_port = members(&mut app, "p");
    assert!(
        !by_port.contains("8300") && by_port.contains("Open port: http"),
        "{by_port}"
    );
    assert!(
        by_port.contains("127.0.0.1 ") && by_port.contains("shop.acme.test"),
        "{by_port}"
    );
    let by_class = members(&mut app, "c");
    assert!(
        !by_class.contains("Open port"),
        "the header has the whole name: {by_class}"
    );
    assert!(
        by_class.contains("+   127.0.0.1:8300  ") && by_class.contains("+   shop.acme.test  "),
        "{by_class}"
    );
    for (keys, value) in [("w", "CWE-77"), ("v", "CVE-2021-1")] {
        let rows = members(&mut app, keys);
        assert!(
            !rows.contains(value) && rows.contains(" 127.0.0.1:8300"),
            "{rows}"
        );
    }
    app.keys("b b");
}

#[test]
fn status_of_groups_is_shown_before_other_counts() {
    for columns in [80, 100, 120] {
        let mut app = grouped();
        let long = |id| target(id, &format!("a-long-host-name-{id}.region.acme.test"));
        app.feed(Snapshot::Targets(table((1..=5).map(long))));
        app.model.screen.size = Size { columns, rows: 40 };
        app.keys("b p l j a");
        let frame = app.frame().join("\n");
        assert!(
            frame.contains("STATUS") && frame.contains("1/6 decided"),
            "{columns}:\n{frame}"
        );
    }
}

#[test]
fn equal_ages_give_way_before_a_name_is_cut() {
    let mut app = grouped();
    let name = "Cookie without SameSite attribute: session-of-the-shop";
    let of = |id: i64| Finding {
        vuln_id: format!("c{id}").as_str().into(),
        ..found(id, 1, 1, &format!("{name} {id}"), Risk::Low)
    };
    app.feed(Snapshot::Scans(table([ended(1, 1, -900)])));
    app.feed(Snapshot::Findings(table((1..=4).map(of))));
    app.model.screen.size = Size {
        columns: 80,
        rows: 24,
    };
    app.keys("b t l");
    let frame = app.frame().join("\n");
    assert!(
        frame.contains(&format!("{name} 4")) && !frame.contains("CLASSES"),
        "{frame}"
    );
}

#[test]
fn target_of_all_rows_gives_way_before_a_name_is_cut() {
    let name = "Cookie without SameSite attribute: session-of-the-shop";
    let of = |id: i64, target: i64| Finding {
        vuln_id: format!("c{id}").as_str().into(),
        port: 443,
        ..found(id, 1, target, &format!("{name} {id}"), Risk::Low)
    };
    let shown = |findings: [Finding; 2]| {
        let mut app = grouped();
        app.feed(Snapshot::Scans(table([ended(1, 1, -900)])));
        app.feed(Snapshot::Targets(table(
            (1..=3).map(|id| target(id, &format!("host-{id}.acme-{id}.test"))),
        )));
        app.model.screen.size = Size {
            columns: 80,
            rows: 24,
        };
        app.feed(Snapshot::Findings(table(findings)));
        app.keys("b p l");
        let rows = app.frame().into_iter();
        rows.filter(|row| row.contains("Cookie without"))
            .collect::<String>()
    };
    let two = shown([of(1, 1), of(2, 2)]);
    assert!(two.contains("host-2"), "{two}");
    let one = shown([of(1, 1), of(2, 1)]);
    assert!(
        one.contains(&format!("{name} 2")) && !one.contains("host-"),
        "{one}"
    );
}

#[test]
fn next_finding_of_its_group_takes_the_place_of_one_that_a_poll_hides() {
    let mut app = grouped();
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(2, 2, -900),
    ])));
    let of = |id, scan, target, class: &str, risk| Finding {
        vuln_id: class.into(),
        ..found(id, scan, target, &format!("{class} at /{id}"), risk)
    };
    let before = [
        of(1, 1, 1, "env", Risk::Critical),
        of(2, 2, 2, "env", Risk::High),
        of(5, 2, 2, "env", Risk::Low),
        of(3, 1, 1, "git", Risk::High),
        of(4, 2, 2, "git", Risk::High),
        of(6, 2, 2, "git", Risk::High),
        of(7, 2, 2, "git", Risk::High),
    ];
    app.feed(Snapshot::Findings(table(before.clone())));
    app.keys("/ 'is:present' enter g g");
    app.model
        .lists
        .findings
        .groups
        .iter()
        .map(|group| group.id)
        .collect::<Vec<_>>()
        .into_iter()
        .for_each(|id| {
            app.model.lists.findings.groups.set_open(id, true);
        });
    app.keys("j");
    assert_eq!(
        (rows(&app)[..4].to_vec(), cursor(&app)),
        (
            ["env", "1", "2", "5"].map(String::from).to_vec(),
            "1".into()
        )
    );
    // A critical finding moves the other group up.
    let mut after = before[1..].to_vec();
    after.push(of(9, 2, 2, "git", Risk::Critical));
    app.feed(Snapshot::Findings(table(after)));
    assert_eq!(
        (rows(&app)[..2].to_vec(), cursor(&app)),
        (["git", "9"].map(String::from).to_vec(), "2".into())
    );
}

#[test]
fn equal_changes_and_equal_counts_of_targets_give_way_before_a_name_is_cut() {
    let mut app = grouped();
    let name = "Cookie without SameSite attribute, of the sessions of the shop";
    let of = |id: i64| Finding {
        vuln_id: format!("c{id}").as_str().into(),
        ..found(id, 1, 1, &format!("{name} {id}"), Risk::Low)
    };
    app.feed(Snapshot::Scans(table([ended(1, 1, -900)])));
    app.feed(Snapshot::Findings(table((1..=4).map(of))));
    app.model.screen.size = Size {
        columns: 80,
        rows: 24,
    };
    let shown = |app: &mut TestDashboard| app.frame()[2..8].join("\n");
    let grouped = shown(&mut app);
    assert!(grouped.contains(&format!("{name} 4")), "{grouped}");
    assert!(
        !grouped.contains("TARGETS") && !grouped.contains('Δ'),
        "{grouped}"
    );
    app.keys("b b");
    let ungrouped = shown(&mut app);
    assert!(
        ungrouped.contains(&format!("{name} 4")) && !ungrouped.contains('Δ'),
        "{ungrouped}"
    );
}
