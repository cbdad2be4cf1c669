//! A chain, from the key to the object at its other end.

use crate::base::{FormTag, Pane, Snapshot};
use crate::chains::keys;
use crate::core::Msg;
use crate::testing::{Effect, Modal, Size, TestDashboard, finding, table};
use scandeck_domain::triage::EventWriter;
use scandeck_wire::contract::{Evidence, Finding, Risk, ScanId};

/// A finding of the finished scan 1 of the first target, with a certificate in its evidence.
fn app() -> TestDashboard {
    let mut app = TestDashboard::new();
    let row = ["Certificate names", "t1.acme.test, api.acme.test"].map(str::to_owned);
    app.feed(Snapshot::Findings(table([Finding {
        task_id: Some(ScanId(1)),
        vuln_evidence: Evidence::table(&["What", "Value"], [Vec::from(row)]),
        ..finding(1, 1, "Weak key", Risk::High)
    }])));
    app.keys("3 home");
    app
}

/// The lines of the open chain.
fn chain(app: &TestDashboard) -> Vec<String> {
    let Some(Modal::Chain(open)) = app.model.overlay.modals.last() else {
        panic!("{}", app.notices())
    };
    open.lines.iter().map(|line| line.printed()).collect()
}

#[test]
fn finding_leads_to_its_target_and_to_a_host_that_is_none() {
    let mut app = app();
    app.keys("&");
    let lines = chain(&app);
    assert_eq!(lines[0], "finding #1 Weak key");
    for part in [
        "seen: ",
        "target t1.acme.test",
        "derived: api.acme.test, which is no target",
    ] {
        assert!(
            lines.iter().any(|line| line.contains(part)),
            "{part} {lines:#?}"
        );
    }
    let shown = app.frame().join("\n");
    assert!(shown.contains("finding #1 Weak key"), "{shown}");
    app.keys("esc");
    assert!(app.model.overlay.modals.is_empty());
}

#[test]
fn scan_leads_to_its_target() {
    let mut app = app();
    app.keys("4 home &");
    let lines = chain(&app);
    assert!(lines[0].starts_with("target t"), "{lines:#?}");
}

#[test]
fn command_shows_the_same_chain_as_the_key() {
    let mut app = app();
    app.model.screen.size = Size {
        columns: 200,
        rows: 60,
    };
    app.keys("&");
    let by_key = chain(&app);
    app.keys("esc : 'chain' enter");
    assert_eq!(chain(&app), by_key);
    assert!(!app.notices().contains("reading"), "{}", app.notices());
    assert!(app.frame().join("\n").contains(&by_key[0]));
}

#[test]
fn chain_that_is_being_made_is_announced_and_replaces_no_other_window() {
    let mut app = app();
    let mut effects = Vec::new();
    keys::open(&mut app.model, &mut effects);
    assert!(
        app.notices().contains("reading the evidence"),
        "{}",
        app.notices()
    );
    let [Effect::Chain(request)] = &effects[..] else {
        panic!("{effects:?}")
    };
    app.keys(":");
    app.send(Msg::Chained(Box::new(Ok(request.tree().unwrap()))));
    let notices = app.notices();
    assert!(
        notices.contains("another window is open · & shows it again")
            && !notices.contains("reading"),
        "{notices}"
    );
    assert!(matches!(
        app.model.overlay.modals.last(),
        Some(Modal::Command(_))
    ));
}

#[test]
fn branches_go_on_beside_facts_of_several_rows() {
    let mut app = app();
    let row = ["Certificate names", "api.acme.test, old.acme.test"].map(str::to_owned);
    app.feed(Snapshot::Findings(table([Finding {
        task_id: Some(ScanId(1)),
        vuln_evidence: Evidence::table(&["What", "Value"], [Vec::from(row)]),
        ..finding(1, 1, "Weak key", Risk::High)
    }])));
    app.model.screen.size = Size {
        columns: 60,
        rows: 40,
    };
    app.keys("&");
    let shown = app.frame();
    let place = |part: &str| shown.iter().position(|line| line.contains(part)).unwrap();
    let facts = &shown[place("├─ derived: api") + 1..place("└─ derived: old")];
    assert!(facts.len() > 1, "{shown:#?}");
    assert!(facts.iter().all(|line| line.contains("│ ")), "{facts:#?}");
}

#[test]
fn enter_goes_to_the_selected_object() {
    let mut app = app();
    app.keys("2 home &");
    assert_eq!(chain(&app)[0], "target t1.acme.test");
    app.keys("enter");
    assert!(app.model.overlay.modals.is_empty());
    assert_eq!(app.model.navigation.focus.pane, Pane::Targets);
    assert_eq!(app.selected(Pane::Targets), Some(1));
}

#[test]
fn missing_target_opens_the_form_with_its_name() {
    let mut app = app();
    app.keys("&");
    let Some(Modal::Chain(open)) = app.model.overlay.modals.last_mut() else {
        panic!("no chain")
    };
    open.at = open.lines.iter().position(|line| line.is_missing).unwrap();
    app.keys("n");
    let Some(Modal::Form(form)) = app.model.overlay.modals.last() else {
        panic!("{}", app.notices())
    };
    assert_eq!(form.tag, FormTag::NewTargets);
    assert_eq!(form.fields[0].text(), "api.acme.test");
}

#[test]
fn key_moves_over_objects_only_and_creates_nothing_that_is_there() {
    let mut app = app();
    app.keys("& down n");
    let Some(Modal::Chain(open)) = app.model.overlay.modals.last() else {
        panic!("{}", app.notices())
    };
    assert!(open.at > 0 && open.object().is_some(), "{open:?}");
    assert!(app.notices().contains("nothing is missing here"));
}

#[test]
fn other_panes_have_no_chain() {
    let mut app = app();
    app.keys("1 : 'chain' enter");
    assert!(app.notices().contains("only in: "), "{}", app.notices());
    assert!(matches!(
        app.model.overlay.modals.last(),
        Some(Modal::Command(_))
    ));
}

#[test]
fn linked_object_is_in_the_chain_until_the_link_is_undone() {
    let mut app = app();
    app.model.findings.triage.writer = Some(EventWriter {
        who: "ann@box".into(),
        instance: 7,
        ..EventWriter::default()
    });
    app.keys(": 'link service:db.test:5432 because the file has its password' enter");
    app.keys("&");
    let said = "said: service db.test:5432";
    assert!(
        chain(&app).iter().any(|line| line.contains(said)),
        "{:#?} {}",
        chain(&app),
        app.notices()
    );
    app.keys("esc u &");
    assert!(!chain(&app).iter().any(|line| line.contains(said)));
    app.keys("esc : 'link target:x.test' enter");
    assert!(
        app.notices().contains("add the reason"),
        "{}",
        app.notices()
    );
}

#[test]
fn chain_is_drawn_at_every_size() {
    for (columns, rows) in [(1, 1), (20, 5), (40, 12), (80, 24), (200, 60)] {
        let mut app = app();
        app.model.screen.size = Size { columns, rows };
        app.keys("& end");
        app.frame();
    }
}
