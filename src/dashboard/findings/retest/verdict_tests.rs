//! Verdicts on the board of a retest: on a row, on what stands under a head, and never on what nobody has seen.

use crate::dashboard::core::Msg;
use crate::dashboard::data::BY_NOW;
use crate::dashboard::findings::decide::tests::recorded;
use crate::dashboard::findings::retest::tests::{before, desk, ended, found, started};
use crate::dashboard::prompts::{Prompt, Then};
use crate::dashboard::testing::*;
use crate::triage::{CaseId, Change, Subject, Verdict};
use proptest::prelude::*;

/// The scans before, and the new ones: that of the first target ran through, that of the second as said.
fn scans(second: ScanStatus) -> Arc<Table<Scan>> {
    let end = if second == ScanStatus::Finished { ended(12, 2, 10).end_time } else { None };
    let second = Scan { status_name: second, end_time: end, ..ended(12, 2, 10) };
    table([ended(1, 1, -900), ended(4, 2, -900), ended(11, 1, 10), second])
}

/// Four findings were retested: the key and the cookie are gone, the repository and the banner still there.
fn retested() -> Desk {
    let mut desk = desk();
    let sent = desk.calls("3 * s y");
    desk.answer(&sent, started);
    desk.feed(Snapshot::Scans(scans(ScanStatus::Finished)));
    let mut findings = before();
    findings.push(found(20, 11, 1, "Git repository", Risk::High));
    findings.push(found(21, 12, 2, "Banner", Risk::Info));
    desk.feed(Snapshot::Findings(table(findings)));
    desk
}

/// The names of the findings with a verdict.
fn with(desk: &Desk, verdict: Verdict) -> Vec<String> {
    let table = desk.model.data.findings.value().unwrap();
    let decided = table
        .items()
        .iter()
        .zip(&desk.model.findings.triage.assessments)
        .filter(|(_, assessment)| assessment.verdict == verdict);
    let mut names: Vec<String> = decided.map(|(case, _)| case.name.to_string()).collect();
    names.sort();
    names
}

#[test]
fn a_verdict_on_a_row_of_the_board_is_one_on_its_finding_and_undo_takes_it_back() {
    let mut desk = retested();
    desk.keys("g g x j o");
    assert_eq!(with(&desk, Verdict::Fixed), ["Private key"]);
    assert_eq!(with(&desk, Verdict::Open).len(), 3);
    desk.keys("c");
    assert_eq!(with(&desk, Verdict::Confirmed), ["Git repository"]);
    desk.keys("u u u");
    assert!(with(&desk, Verdict::Fixed).is_empty() && with(&desk, Verdict::Confirmed).is_empty());
}

#[test]
fn many_become_fixed_together_only_where_they_were_not_seen() {
    let mut desk = retested();
    desk.keys("* x");
    assert_eq!(with(&desk, Verdict::Fixed), ["Cookie flags", "Private key"]);
    assert!(desk.notices().contains("2 of 4 were not seen"), "{}", desk.notices());
    assert!(desk.model.lists.board.marks.is_empty(), "the marks are used");
    // A single one is fixed whatever the scan says: a person may know better.
    desk.keys("j x");
    assert_eq!(with(&desk, Verdict::Fixed), ["Cookie flags", "Git repository", "Private key"]);
}

#[test]
fn b_n_puts_the_rows_under_heads_and_a_key_on_a_head_is_about_the_rows_under_it() {
    let mut desk = retested();
    desk.keys("b n home");
    assert_eq!(desk.model.lists.board.sort, BY_NOW);
    let shown = desk.model.cursor(Pane::Board).shown_ids();
    assert_eq!(shown.iter().map(|id| *id < 0).collect::<Vec<_>>(), [true, false, false, true, false, false]);
    desk.keys("x");
    assert_eq!(with(&desk, Verdict::Fixed), ["Cookie flags", "Private key"], "the head of what was not seen");
    desk.keys("j j j c");
    assert_eq!(with(&desk, Verdict::Confirmed), ["Banner", "Git repository"], "the head of what is still there");
    desk.keys("b b");
    assert!(desk.model.cursor(Pane::Board).shown_ids().iter().all(|&id| id >= 0));
}

#[test]
fn marked_rows_that_the_filter_hides_are_named_first_and_keep_their_marks_when_left_out() {
    for (answer, expected) in
        [("enter", vec!["Git repository"]), ("a", vec!["Banner", "Git repository", "Private key"]), ("esc", vec![])]
    {
        let mut desk = retested();
        desk.keys("g g space space G space / 'git' enter c");
        assert!(desk.prompt().lines[0].contains("2 more are marked but not shown"), "{:?}", desk.prompt().lines);
        desk.at += Duration::from_secs(1);
        desk.keys(answer);
        assert_eq!(with(&desk, Verdict::Confirmed), expected, "{answer}");
        assert_eq!(desk.model.lists.board.marks.len(), 3 - expected.len(), "{answer}");
    }
}

#[test]
fn a_head_and_rows_under_it_that_are_chosen_together_are_each_decided_once() {
    let mut desk = retested();
    desk.keys("b n home");
    let shown = desk.model.cursor(Pane::Board).shown_ids();
    let ids = desk.model.board_ids(&[shown[1], shown[0], shown[2], shown[4]]);
    assert_eq!(ids.iter().map(|id| id.0).collect::<Vec<_>>(), [shown[1], shown[2], shown[4]]);
}

#[test]
fn keys_typed_ahead_of_the_board_decide_nothing_on_it() {
    let mut desk = desk();
    desk.keys("3 * s");
    for key in ["y", "x", "c"] {
        desk.at += Duration::from_millis(if key == "y" { 300 } else { 20 });
        let effects = desk.send(Msg::Key(events(key)[0]));
        assert!(recorded(&effects).is_empty(), "{key}");
    }
    assert!(
        desk.model.navigation.focus.pane == Pane::Board && desk.notices().contains("too soon"),
        "{}",
        desk.notices()
    );
    desk.keys("c");
    assert_eq!(with(&desk, Verdict::Confirmed), ["Private key"]);
}

/// The findings that any answer to a question decides.
fn named(prompt: &Prompt) -> Vec<CaseId> {
    let wider = prompt.wider.iter().flat_map(|wider| named(wider));
    let ids = match &prompt.then {
        Then::Decide(deed) => deed.ids.clone(),
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
    fn the_board_decides_only_what_a_person_went_to_or_has_seen(steps in proptest::collection::vec(step(), 1..100)) {
        let mut desk = retested();
        let keys: Vec<&str> = KEYS.split_whitespace().collect();
        // The row that came under the cursor by itself, and when.
        let mut came: Option<(CaseId, Duration)> = None;
        for step in steps {
            let before = desk.model.lists.board.selected;
            let mut by_hand = false;
            match step {
                Step::Filter(script) if desk.model.navigation.focus.pane == Pane::Board && desk.model.keyboard.pending.is_none() => {
                    desk.keys(script);
                    by_hand = true;
                }
                Step::Filter(_) => {}
                Step::Scans(done) => desk.feed(Snapshot::Scans(scans(if done { ScanStatus::Finished } else { ScanStatus::Running }))),
                Step::Findings(back) => {
                    let more = back.then(|| found(30, 11, 1, "Private key", Risk::Critical));
                    desk.feed(Snapshot::Findings(table(crate::dashboard::findings::retest::verdict_tests::before().into_iter().chain(more))));
                }
                Step::Key(at, ms) => {
                    desk.at += Duration::from_millis(ms);
                    let on_board = desk.model.navigation.focus.pane == Pane::Board;
                    let chosen = desk.model.chosen(Pane::Board);
                    // What is named in the question, else what is chosen.
                    let (allowed, picked) = match desk.model.overlay.modals.last() {
                        Some(Modal::Prompt(prompt)) => (named(prompt), true),
                        _ => (desk.model.board_ids(&chosen.ids), chosen.many && !desk.model.navigation.focus.in_detail),
                    };
                    let effects = desk.send(Msg::Key(events(keys[at % keys.len()])[0]));
                    by_hand = true;
                    let events = recorded(&effects);
                    let of_finding = |event: &Arc<crate::triage::Event>| match (&event.subject, &event.change) {
                        (Subject::Finding(identity), Change::Decide(_)) => Some(CaseId::from(identity.key)),
                        _ => None,
                    };
                    let decided: Vec<CaseId> = events.iter().filter_map(of_finding).collect();
                    if on_board && !decided.is_empty() {
                        prop_assert!(decided.iter().all(|id| allowed.contains(id)), "{decided:?} of {allowed:?}");
                        let unseen = came.filter(|(row, since)| Some(*row) == before && desk.at < *since + Duration::from_millis(150));
                        prop_assert!(unseen.is_none() || picked, "{decided:?} came under the cursor just now");
                    }
                }
            }
            let now = desk.model.lists.board.selected;
            if now != before {
                came = now.filter(|_| !by_hand).map(|row| (row, desk.at));
            }
        }
    }
}
