//! A decided row keeps its place until the filter is applied again; changes that scans report
//! appear at once.

use crate::core::Msg;
use crate::data::{StoredDecisions, TriageNews};
use crate::findings::retest::tests::{ended, found};
use crate::testing::*;
use proptest::prelude::*;
use scandeck_domain::triage::{Change, Decision, Event, IssueId, Subject, Verdict};

fn one(id: i64) -> Finding {
    // Numbers would make one class of them.
    let letter = char::from(b'a' + id as u8);
    finding(
        id,
        1 + id % 5,
        &format!("Finding {letter}"),
        Risk::from(id % 5),
    )
}

fn app() -> TestDashboard {
    let mut app = TestDashboard::new();
    app.feed(Snapshot::Findings(table((1..=8).map(one))));
    app.keys("3");
    app
}

/// The rows as the list holds them.
fn rows(app: &TestDashboard) -> Vec<IssueId> {
    app.model
        .lists
        .findings
        .shown(app.model.data.findings.value().unwrap())
        .collect()
}

/// Somebody else decides about a finding.
fn another_decides(app: &mut TestDashboard, finding: i64, number: u64, verdict: Verdict) {
    let table = app.model.data.findings.value().unwrap();
    let Some(issue) = table
        .items()
        .iter()
        .find(|issue| issue.finding.id.0 == finding)
    else {
        return;
    };
    let subject = Subject::Finding(issue.identity.clone());
    let mut ben = EventWriter {
        who: "ben@test".into(),
        instance: 9,
        number,
        ..EventWriter::default()
    };
    let (batch, clock) = (ben.next(), app.model.findings.triage.state.clock() + 1);
    let after = app.model.findings.triage.state.heads(issue.key());
    let change = Change::Decide(Decision {
        verdict,
        ..Decision::default()
    });
    let event: Event = ben.write((stamp(), clock), batch, after, subject, change);
    app.send(Msg::Triage(TriageNews::Events(vec![Arc::new(event)])));
}

#[test]
fn decided_rows_keep_place_in_order_by_verdict() {
    let mut app = app();
    app.model.set_order(Pane::Findings, "verdict,risk").unwrap();
    let before = rows(&app);
    app.keys("j f G x");
    let with_more = || Snapshot::Findings(table((1..=9).map(one)));
    app.feed(with_more());
    let after: Vec<IssueId> = rows(&app)
        .into_iter()
        .filter(|id| before.contains(id))
        .collect();
    assert_eq!(after, before, "nothing moved");
    assert_eq!(rows(&app).len(), 9, "what is new has come");
    app.keys("r");
    assert_ne!(
        rows(&app)
            .into_iter()
            .filter(|id| before.contains(id))
            .collect::<Vec<_>>(),
        before
    );
}

#[test]
fn rows_decided_elsewhere_remain_until_filter_is_applied_again() {
    let mut app = app();
    let before = rows(&app);
    another_decides(&mut app, 3, 1, Verdict::FalsePositive);
    app.feed(Snapshot::Findings(table((1..=8).map(one))));
    assert_eq!(rows(&app), before);
    app.keys("r");
    assert_eq!(rows(&app).len(), 7);
    // A new decision does not show a hidden row again.
    another_decides(&mut app, 3, 2, Verdict::Confirmed);
    app.feed(Snapshot::Findings(table((1..=8).map(one))));
    assert_eq!(rows(&app).len(), 7);
}

#[test]
fn decided_findings_are_hidden_when_store_opens() {
    let mut before = app();
    before.keys("f j j c");
    let mut later = app();
    let state = before.model.findings.triage.state.clone();
    let stored = StoredDecisions {
        state,
        writer: Some(EventWriter {
            instance: 2,
            ..EventWriter::default()
        }),
        ..StoredDecisions::default()
    };
    later.send(Msg::Triage(TriageNews::Opened(Box::new(stored))));
    assert_eq!(rows(&later).len(), 6);
    // From then on a rule takes no row away before the filter is applied again.
    later.keys(": 'rule fixed on risk>=info' enter");
    later.at += Duration::from_secs(1);
    later.keys("y");
    assert_eq!(rows(&later).len(), 6);
    later.keys("r");
    assert_eq!(rows(&later).len(), 0);
}

#[test]
fn scan_results_apply_to_filter_at_once() {
    let mut app = TestDashboard::new();
    app.feed(Snapshot::Scans(table([ended(1, 1, -900)])));
    let before = [
        found(1, 1, 1, "Private key", Risk::High),
        found(2, 1, 1, "Banner", Risk::Low),
    ];
    app.feed(Snapshot::Findings(table(before.clone())));
    app.model.set_query(Pane::Findings, "is:undecided").unwrap();
    app.keys("3 x r");
    assert_eq!(app.shown(Pane::Findings), [2], "fixed is not undecided");
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(5, 1, 3_600),
    ])));
    let again = found(11, 5, 1, "Private key", Risk::High);
    app.feed(Snapshot::Findings(table(before.into_iter().chain([again]))));
    assert_eq!(app.shown(Pane::Findings), [11, 2], "a regression");
    app.feed(Snapshot::Findings(table([
        found(1, 1, 1, "Private key", Risk::High),
        found(11, 5, 1, "Private key", Risk::High),
    ])));
    assert_eq!(
        app.shown(Pane::Findings),
        [11],
        "the service forgot the other one"
    );
}

#[test]
fn reopened_findings_are_counted_for_header() {
    let mut app = TestDashboard::new();
    app.feed(Snapshot::Scans(table([ended(1, 1, -900)])));
    app.feed(Snapshot::Findings(table([
        found(1, 1, 1, "Private key", Risk::High),
        found(2, 1, 1, "Banner", Risk::Low),
    ])));
    let counted = |app: &TestDashboard| {
        (
            app.model.findings.triage.again.conflicts,
            app.model.findings.triage.again.regressions,
        )
    };
    app.keys("3 x j f");
    assert_eq!(counted(&app), (0, 0));
    // Ben did not know of the verdict on the second one.
    let table_now = app.model.data.findings.value().unwrap().clone();
    let issue = table_now
        .items()
        .iter()
        .find(|issue| issue.finding.id.0 == 2)
        .unwrap();
    let mut ben = EventWriter {
        who: "ben@test".into(),
        instance: 9,
        ..EventWriter::default()
    };
    let (batch, subject) = (ben.next(), Subject::Finding(issue.identity.clone()));
    let decided = Change::Decide(Decision {
        verdict: Verdict::Confirmed,
        ..Decision::default()
    });
    let event = ben.write((stamp(), 1), batch, Vec::new(), subject, decided);
    app.send(Msg::Triage(TriageNews::Events(vec![Arc::new(event)])));
    assert_eq!(counted(&app), (1, 0));
    app.feed(Snapshot::Scans(table([
        ended(1, 1, -900),
        ended(5, 1, 3_600),
    ])));
    app.feed(Snapshot::Findings(table([
        found(1, 1, 1, "Private key", Risk::High),
        found(2, 1, 1, "Banner", Risk::Low),
        found(11, 5, 1, "Private key", Risk::High),
        found(12, 5, 1, "Banner", Risk::Low),
    ])));
    assert_eq!(counted(&app), (1, 1));
    assert!(
        app.frame()[0].contains("1 regression"),
        "{}",
        app.frame()[0]
    );
    app.keys("/ 'is:regression' enter");
    assert_eq!(
        app.shown(Pane::Findings).len(),
        1,
        "the header counts as the query does"
    );
    app.keys("/ ctrl-u enter");
    app.keys("* c");
    assert_eq!(counted(&app), (0, 0), "any verdict settles them");
}

#[test]
fn decided_board_row_remains_under_filter() {
    let mut app = crate::findings::retest::tests::app();
    app.keys("3 * s y");
    app.keys(": 'retest' enter / 'is:undecided' enter c");
    let before = app.model.cursor(Pane::Board).shown_ids();
    assert_eq!(before.len(), 4);
    app.feed(Snapshot::Findings(table(
        crate::findings::retest::tests::before(),
    )));
    assert_eq!(app.model.cursor(Pane::Board).shown_ids(), before);
    app.keys("r");
    assert_eq!(app.model.cursor(Pane::Board).shown_ids().len(), 3);
}

#[derive(Clone, Debug)]
enum Step {
    Key(usize),
    Another(i64, usize),
    More(i64),
}

const KEYS: &str = "c f x o i C F j k G home u space e";

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => any::<usize>().prop_map(Step::Key),
        2 => (1..12i64, any::<usize>()).prop_map(|(finding, verdict)| Step::Another(finding, verdict)),
        2 => (8..14i64).prop_map(Step::More),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn decision_does_not_move_or_hide_rows(
        order in prop::sample::select(vec!["", "verdict", "-verdict,risk", "by,name", "-decided"]),
        filter in prop::sample::select(vec!["is:undecided", "", "verdict:open", "-verdict:fixed"]),
        steps in proptest::collection::vec(step(), 1..40),
    ) {
        let mut app = app();
        app.model.set_query(Pane::Findings, filter).unwrap();
        prop_assume!(app.model.set_order(Pane::Findings, order).is_ok());
        let keys: Vec<&str> = KEYS.split_whitespace().collect();
        let mut most = 8;
        for (number, step) in steps.into_iter().enumerate() {
            let before = rows(&app);
            match step {
                Step::Key(at) => {
                    app.keys(keys[at % keys.len()]);
                    app.model.overlay.modals.clear();
                }
                Step::Another(finding, at) => {
                    let verdict = Verdict::ALL[at % 7];
                    another_decides(&mut app, finding, number as u64, verdict);
                }
                Step::More(to) => most = most.max(to),
            }
            app.feed(Snapshot::Findings(table((1..=most).map(one))));
            let now = rows(&app);
            let remaining: Vec<IssueId> = now.iter().copied().filter(|id| before.contains(id)).collect();
            prop_assert_eq!(remaining, before, "after {:?}", now);
        }
    }
}
