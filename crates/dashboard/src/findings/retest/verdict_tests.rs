//! Verdicts on the retest board: on a row, on a group, and never on a row that nobody has seen.

use crate::base::RowRef;
use crate::core::Msg;
use crate::data::BY_NOW;
use crate::findings::decide::tests::recorded;
use crate::findings::retest::tests::{app, before, ended, found, started};
use crate::prompts::{Prompt, Then};
use crate::testing::*;
use proptest::prelude::*;
use scandeck_domain::triage::{Change, IssueId, Subject, Verdict};

/// The earlier scans and the new ones: the first target's scan finished, the second one's has the
/// given status.
fn scans(second: ScanStatus) -> Arc<Table<Scan>> {
    let end = if second == ScanStatus::Finished {
        ended(12, 2, 10).end_time
    } else {
        None
    };
    let second = Scan {
        status_name: second,
        end_time: end,
        ..ended(12, 2, 10)
    };
    table([
        ended(1, 1, -900),
        ended(4, 2, -900),
        ended(11, 1, 10),
        second,
    ])
}

/// Four findings were retested: the key and the cookie are absent, the repository and the banner
/// still found.
fn retested() -> TestDashboard {
    let mut app = app();
    let sent = app.calls("3 * s y");
    app.model.open_retest();
    app.answer(&sent, started);
    app.feed(Snapshot::Scans(scans(ScanStatus::Finished)));
    let mut findings = before();
    findings.push(found(20, 11, 1, "Git repository", Risk::High));
    findings.push(found(21, 12, 2, "Banner", Risk::Info));
    app.feed(Snapshot::Findings(table(findings)));
    app
}

/// The names of the findings with a verdict.
fn with(app: &TestDashboard, verdict: Verdict) -> Vec<String> {
    let table = app.model.data.findings.value().unwrap();
    let decided = table
        .items()
        .iter()
        .zip(app.model.findings.triage.assessments.iter())
        .filter(|(_, assessment)| assessment.verdict == verdict);
    let mut names: Vec<String> = decided.map(|(issue, _)| issue.name.to_string()).collect();
    names.sort();
    names
}

#[test]
fn verdict_on_board_row_decides_finding_and_undo_restores_it() {
    let mut app = retested();
    app.keys("g g x j o");
    assert_eq!(with(&app, Verdict::Fixed), ["Private key"]);
    assert_eq!(with(&app, Verdict::Open).len(), 3);
    app.keys("c");
    assert_eq!(with(&app, Verdict::Confirmed), ["Git repository"]);
    app.keys("u u u");
    assert!(with(&app, Verdict::Fixed).is_empty() && with(&app, Verdict::Confirmed).is_empty());
}

#[test]
fn several_rows_become_fixed_only_if_not_seen() {
    let mut app = retested();
    app.keys("* x");
    assert_eq!(with(&app, Verdict::Fixed), ["Cookie flags", "Private key"]);
    assert!(
        app.notices().contains("2 of 4 findings absent"),
        "{}",
        app.notices()
    );
    assert!(app.model.lists.board.marks.is_empty(), "the marks are used");
    // A single finding is fixed whatever its status is: a person may know better.
    app.keys("j x");
    assert_eq!(
        with(&app, Verdict::Fixed),
        ["Cookie flags", "Git repository", "Private key"]
    );
}

#[test]
fn verdict_on_board_header_decides_all_rows_of_the_group() {
    let mut app = retested();
    app.keys("b n home");
    assert_eq!(app.model.lists.board.sort, BY_NOW);
    let headers = |app: &mut TestDashboard| {
        let cursor = app.model.cursor(Pane::Board);
        (0..cursor.len())
            .map(|at| cursor.is_header(at))
            .collect::<Vec<_>>()
    };
    assert_eq!(headers(&mut app), [true, false, false, true, false, false]);
    app.keys("x");
    assert_eq!(
        with(&app, Verdict::Fixed),
        ["Cookie flags", "Private key"],
        "the header of the absent findings"
    );
    app.keys("j j j c");
    assert_eq!(
        with(&app, Verdict::Confirmed),
        ["Banner", "Git repository"],
        "the header of the findings that are still found"
    );
    app.keys("b b");
    assert_eq!(headers(&mut app), [false; 4]);
}

#[test]
fn board_groups_fold_and_unfold_with_the_keys_of_findings_groups() {
    let mut app = retested();
    app.keys("b n home h");
    assert_eq!(app.model.lists.board.len(), 4, "the first group is folded");
    app.keys("x");
    assert_eq!(
        with(&app, Verdict::Fixed),
        ["Cookie flags", "Private key"],
        "a folded header decides its rows"
    );
    app.keys("l l");
    assert_eq!(
        (app.model.lists.board.len(), app.model.lists.board.at),
        (6, 1)
    );
    app.keys("h");
    assert_eq!(app.model.lists.board.at, 0, "from a row to its header");
    app.keys("h b b");
    assert_eq!(
        app.model
            .lists
            .board
            .selected
            .map(|id| app.model.service_id(Pane::Board, id.0)),
        Some(1)
    );
}

#[test]
fn hidden_marked_board_rows_are_prompted_and_keep_marks() {
    for (answer, expected) in [
        ("enter", vec!["Git repository"]),
        ("a", vec!["Banner", "Git repository", "Private key"]),
        ("esc", vec![]),
    ] {
        let mut app = retested();
        app.keys("g g space space G space / 'git' enter c");
        assert!(
            app.prompt().lines[0].contains("includes 2 hidden marked findings"),
            "{:?}",
            app.prompt().lines
        );
        app.at += Duration::from_secs(1);
        app.keys(answer);
        assert_eq!(with(&app, Verdict::Confirmed), expected, "{answer}");
        assert_eq!(
            app.model.lists.board.marks.len(),
            3 - expected.len(),
            "{answer}"
        );
    }
}

#[test]
fn board_header_and_its_rows_in_a_range_are_chosen_once() {
    let mut app = retested();
    app.keys("b n home v j j j j");
    let cursor = app.model.cursor(Pane::Board);
    assert_eq!(cursor.chosen().ids, cursor.shown_ids());
}

#[test]
fn type_ahead_decides_nothing_on_board() {
    for (keys, last) in [("3 * s y : 'retest'", "enter"), ("3 * s y b", "n")] {
        let mut app = app();
        app.keys(keys);
        for key in [last, "x", "c"] {
            app.at += Duration::from_millis(if key == last { 300 } else { 20 });
            let effects = app.send(Msg::Key(events(key)[0]));
            assert!(recorded(&effects).is_empty(), "{last} {key}");
        }
        let pane = app.model.navigation.focus.pane;
        assert!(
            pane == Pane::Board && app.notices().contains("too soon"),
            "{last} {}",
            app.notices()
        );
        app.keys("c");
        assert!(with(&app, Verdict::Confirmed).contains(&"Private key".to_owned()));
    }
}

fn issue_ids(ids: &[i64]) -> Vec<IssueId> {
    ids.iter().copied().map(IssueId).collect()
}

/// The findings that any answer to a question decides.
fn named(prompt: &Prompt) -> Vec<IssueId> {
    let wider = prompt.wider.iter().flat_map(|wider| named(wider));
    let ids = match &prompt.then {
        Then::Decide(pending) => pending.ids.clone(),
        _ => Vec::new(),
    };
    wider.chain(ids).collect()
}

#[derive(Clone, Debug)]
enum Step {
    Key(usize, u64),
    Filter(&'static str),
    Scans(bool),
    Findings(bool),
}

const KEYS: &str = "c a x o j k G home space v * b n b b n enter h esc u";

fn step() -> impl Strategy<Value = Step> {
    let filter = prop_oneof![Just("/ 'is:undecided' enter"), Just("/ ctrl-u enter")];
    prop_oneof![
        20 => (any::<usize>(), 5..300u64).prop_map(|(key, ms)| Step::Key(key, ms)),
        1 => filter.prop_map(Step::Filter),
        2 => any::<bool>().prop_map(Step::Scans),
        2 => any::<bool>().prop_map(Step::Findings),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn board_decides_only_selected_or_seen_rows(steps in proptest::collection::vec(step(), 1..100)) {
        let mut app = retested();
        let keys: Vec<&str> = KEYS.split_whitespace().collect();
        // The row that came under the cursor by itself, and when.
        let mut auto_selected: Option<(RowRef, Duration)> = None;
        for step in steps {
            let before = app.model.selected_row(Pane::Board);
            let mut by_hand = false;
            match step {
                Step::Filter(script) if app.model.navigation.focus.pane == Pane::Board && app.model.keyboard.pending.is_none() => {
                    app.keys(script);
                    by_hand = true;
                }
                Step::Filter(_) => {}
                Step::Scans(done) => app.feed(Snapshot::Scans(scans(if done { ScanStatus::Finished } else { ScanStatus::Running }))),
                Step::Findings(back) => {
                    let more = back.then(|| found(30, 11, 1, "Private key", Risk::Critical));
                    app.feed(Snapshot::Findings(table(crate::findings::retest::verdict_tests::before().into_iter().chain(more))));
                }
                Step::Key(at, ms) => {
                    app.at += Duration::from_millis(ms);
                    let on_board = app.model.navigation.focus.pane == Pane::Board;
                    let chosen = app.model.chosen(Pane::Board);
                    // The findings named in the prompt, else the chosen ones.
                    let (allowed, picked) = match app.model.overlay.modals.last() {
                        Some(Modal::Prompt(prompt)) => (named(prompt), true),
                        _ => (issue_ids(&chosen.ids), chosen.many && !app.model.navigation.focus.in_detail),
                    };
                    let effects = app.send(Msg::Key(events(keys[at % keys.len()])[0]));
                    by_hand = true;
                    let events = recorded(&effects);
                    let of_finding = |event: &Arc<scandeck_domain::triage::Event>| match (&event.subject, &event.change) {
                        (Subject::Finding(identity), Change::Decide(_)) => Some(IssueId::from(identity.key)),
                        _ => None,
                    };
                    let decided: Vec<IssueId> = events.iter().filter_map(of_finding).collect();
                    if on_board && !decided.is_empty() {
                        prop_assert!(decided.iter().all(|id| allowed.contains(id)), "{decided:?} of {allowed:?}");
                        let guarded = Duration::from_millis(150);
                        let unseen =
                            auto_selected.filter(|(row, since)| Some(*row) == before && app.at < *since + guarded);
                        prop_assert!(unseen.is_none() || picked, "{decided:?} came under the cursor just now");
                    }
                }
            }
            let now = app.model.selected_row(Pane::Board);
            if now != before {
                auto_selected = now.filter(|_| !by_hand).map(|row| (row, app.at));
            }
        }
    }
}
