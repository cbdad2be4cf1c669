//! Findings in groups: folding, walking, marking, and that the cursor stays where it was put.

use crate::dashboard::list::FindingGroupBy;
use crate::dashboard::testing::*;

/// Three database dumps on three targets, two cookies on one, one banner; 10 to 15.
fn grouped() -> Desk {
    let mut desk = Desk::new();
    desk.feed(Snapshot::Findings(table([
        of_class(10, 1, "dump", "Database dump at /a.sql", Risk::High),
        of_class(11, 2, "dump", "Database dump at /b.sql", Risk::High),
        of_class(12, 3, "dump", "Database dump at /c.sql", Risk::Critical),
        of_class(13, 1, "cookie", "Weak cookie: sid", Risk::Low),
        of_class(14, 1, "cookie", "Weak cookie: lang", Risk::Low),
        of_class(15, 2, "banner", "Banner", Risk::Info),
    ])));
    desk.keys("3 b c");
    desk
}

fn of_class(id: i64, target: i64, class: &str, name: &str, risk: Risk) -> Finding {
    Finding { vuln_id: class.into(), ..finding(id, target, name, risk) }
}

/// The rows as they are walked: heads by title, members by their id.
fn rows(desk: &Desk) -> Vec<String> {
    let groups = &desk.model.lists.groups;
    let table = desk.model.data.findings.value().unwrap();
    let told = |at| match groups.id_at(table, at).unwrap() {
        head if head.0 < 0 => groups.name(groups.head(head).unwrap()).unwrap().title.to_string(),
        member => desk.model.service_id(Pane::Findings, member.0).to_string(),
    };
    (0..groups.rows.len()).map(told).collect()
}

fn cursor(desk: &Desk) -> String {
    rows(desk)[desk.model.lists.findings.at].clone()
}

#[test]
fn heads_say_what_their_members_come_to_worst_first() {
    let desk = grouped();
    let groups = &desk.model.lists.groups;
    assert_eq!(rows(&desk), ["Database dump", "Weak cookie", "Banner"]);
    let told: Vec<_> =
        groups.all().iter().map(|group| (group.risk, group.count(), group.others, group.undecided)).collect();
    assert_eq!(told, [(Risk::Critical, 3, 3, 3), (Risk::Low, 2, 1, 2), (Risk::Info, 1, 1, 1)]);
}

#[test]
fn l_unfolds_and_steps_in_h_goes_to_the_head_and_folds() {
    let mut desk = grouped();
    desk.keys("g g l");
    assert_eq!(rows(&desk), ["Database dump", "12", "11", "10", "Weak cookie", "Banner"]);
    assert_eq!(cursor(&desk), "Database dump");
    desk.keys("l j");
    assert_eq!(cursor(&desk), "11");
    desk.keys("h");
    assert_eq!(cursor(&desk), "Database dump");
    desk.keys("h");
    assert_eq!(rows(&desk), ["Database dump", "Weak cookie", "Banner"]);
    desk.keys("h");
    assert_eq!(desk.model.navigation.focus.pane, Pane::Targets, "from a folded head it goes out");
}

#[test]
fn a_head_stands_for_its_members_and_marks_are_on_them() {
    let mut desk = grouped();
    desk.keys("g g");
    assert_eq!(desk.chosen(Pane::Findings), (vec![12, 11, 10], vec![]));
    desk.keys("j space");
    assert_eq!(desk.chosen(Pane::Findings), (vec![14, 13], vec![]));
    assert_eq!(desk.model.lists.findings.marks.len(), 2);
    desk.keys("b b");
    assert_eq!(desk.chosen(Pane::Findings), (vec![14, 13], vec![]), "marks stay without the groups");
    desk.keys("b c !");
    assert_eq!(desk.chosen(Pane::Findings).0, [12, 11, 10, 15]);
    desk.keys("/ 'dump' enter");
    assert_eq!(desk.chosen(Pane::Findings).0, [12, 11, 10], "what the filter hides is left out");
}

#[test]
fn a_filter_shrinks_the_groups_to_what_it_shows() {
    let mut desk = grouped();
    desk.keys("/ 't2' enter g g");
    assert_eq!(rows(&desk), ["Database dump", "Banner"]);
    assert_eq!(desk.chosen(Pane::Findings).0, [11]);
}

#[test]
fn the_cursor_stays_on_its_finding_through_every_grouping() {
    let mut desk = grouped();
    desk.keys("g g l j j");
    assert_eq!(cursor(&desk), "11");
    desk.keys("b b");
    assert_eq!(desk.selected(Pane::Findings), Some(11));
    desk.keys("b t");
    assert_eq!(rows(&desk).len(), 3);
    assert_eq!(cursor(&desk), "t2.acme.test", "the head of the group it is folded into");
    desk.keys("b b");
    assert_eq!(desk.selected(Pane::Findings), Some(11), "the first member of the head");
}

#[test]
fn a_poll_moves_no_cursor_and_folds_nothing() {
    let mut desk = grouped();
    desk.keys("g g l G k");
    assert_eq!(cursor(&desk), "Weak cookie");
    let more = (20..60).map(|id| of_class(id, 3, &format!("other {id}"), &format!("Other {id}"), Risk::High));
    let old = [
        of_class(12, 3, "dump", "Database dump at /c.sql", Risk::Critical),
        of_class(13, 1, "cookie", "Weak cookie: sid", Risk::Low),
    ];
    desk.feed(Snapshot::Findings(table(more.chain(old))));
    assert_eq!(&rows(&desk)[..2], ["Database dump at /c.sql", "12"]);
    assert_eq!(cursor(&desk), "Weak cookie: sid");
}

#[test]
fn findings_without_what_is_grouped_by_stand_together() {
    let mut desk = grouped();
    for (keys, by, title) in [
        ("b v", FindingGroupBy::Cve, "no CVE"),
        ("b w", FindingGroupBy::Cwe, "no CWE"),
        ("b p", FindingGroupBy::Port, "no port"),
    ] {
        desk.keys(keys);
        assert_eq!(desk.model.lists.groups.by, Some(by));
        assert_eq!(rows(&desk), [title]);
    }
}

#[test]
fn going_to_a_finding_unfolds_its_group() {
    let mut desk = grouped();
    let id = desk.model.cursor(Pane::Findings).shown_ids()[1];
    assert!(desk.model.cursor(Pane::Findings).select_id(id));
    assert_eq!(cursor(&desk), "11");
}

#[test]
fn walking_from_a_detail_passes_the_heads() {
    let mut desk = grouped();
    desk.keys("g g l l enter");
    assert!(desk.model.navigation.focus.in_detail);
    desk.keys("J J J J");
    assert_eq!(
        (cursor(&desk).as_str(), desk.model.navigation.focus.in_detail),
        ("10", true),
        "no member stands below it"
    );
}
