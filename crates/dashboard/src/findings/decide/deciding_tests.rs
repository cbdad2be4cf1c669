//! Invariants of decisions for any keys and any messages.

use crate::core::Msg;
use crate::findings::decide::tests::{one, recorded};
use crate::model::Model;
use crate::prompts::{Prompt, Then};
use crate::testing::*;
use proptest::prelude::*;
use scandeck_domain::triage::{Change, IssueId, Subject};
use std::collections::BTreeSet;

const KEYS: &str = "c f a w x i o C F A W X I O . t e T u U j k G home space v * ! / 1 2 3 enter esc y a n d s r backspace \
    down h l q b g ctrl-o tab";

#[derive(Clone, Debug)]
enum Step {
    Key(usize, u64),
    Filter(&'static str),
    Findings(Vec<i64>),
}

fn step() -> impl Strategy<Value = Step> {
    let filter = prop_oneof![
        Just("/ 'finding' enter"),
        Just("/ '3' enter"),
        Just("/ 'is:undecided' enter")
    ];
    prop_oneof![
        20 => (any::<usize>(), 5..400u64).prop_map(|(key, ms)| Step::Key(key, ms)),
        1 => filter.prop_map(Step::Filter),
        2 => proptest::collection::vec(1..60i64, 0..60).prop_map(Step::Findings),
    ]
}

/// The findings that the next key may decide: those named in the prompt or menu, else the shown
/// marked ones, the range, or the row under the cursor.
fn allowed(model: &mut Model) -> BTreeSet<IssueId> {
    fn named(prompt: &Prompt, ids: &mut BTreeSet<IssueId>) {
        if let Then::Decide(pending) = &prompt.then {
            ids.extend(pending.ids.iter().copied());
        }
        prompt.wider.iter().for_each(|wider| named(wider, ids));
    }
    let mut ids = BTreeSet::new();
    match model.overlay.modals.last() {
        Some(Modal::Prompt(prompt)) => named(prompt, &mut ids),
        Some(Modal::Decide(menu)) => ids.extend(menu.ids.iter().copied()),
        // A retest opens its board, where verdict keys are about its rows.
        _ if model.navigation.focus.pane == Pane::Board => {
            let chosen = model.chosen(Pane::Board);
            ids.extend(chosen.ids.iter().copied().map(IssueId));
        }
        _ => ids.extend(model.chosen(Pane::Findings).ids.into_iter().map(IssueId)),
    }
    ids
}

fn of_findings(effects: &[Effect]) -> Vec<IssueId> {
    let issue = |event: &Arc<scandeck_domain::triage::Event>| match &event.subject {
        Subject::Finding(identity) => Some(IssueId::from(identity.key)),
        _ => None,
    };
    recorded(effects).iter().filter_map(issue).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn keys_decide_only_chosen_or_named_findings(steps in proptest::collection::vec(step(), 1..100)) {
        let mut app = TestDashboard::new();
        app.feed(Snapshot::Findings(table((1..=40).map(one))));
        let keys: Vec<&str> = KEYS.split_whitespace().collect();
        for step in steps {
            match step {
                Step::Key(at, ms) => {
                    app.at += Duration::from_millis(ms);
                    let allowed = allowed(&mut app.model);
                    let effects = app.send(Msg::Key(events(keys[at % keys.len()])[0]));
                    for decided in of_findings(&effects) {
                        prop_assert!(allowed.contains(&decided), "{} decided {decided}", keys[at % keys.len()]);
                    }
                }
                Step::Filter(script) => _ = app.keys(script),
                Step::Findings(ids) => app.feed(Snapshot::Findings(table(ids.into_iter().map(one)))),
            }
        }
        // Everything can be undone.
        app.model.overlay.modals.clear();
        app.model.navigation.focus = crate::base::Focus { pane: Pane::Findings, in_detail: false, zoomed: false };
        app.model.keyboard.pending = None;
        for _ in 0..200 {
            if app.model.findings.triage.state.last_done("ann@test").is_none() {
                break;
            }
            app.keys("u");
            // Undo in another workspace opens a prompt.
            if matches!(app.model.overlay.modals.last(), Some(Modal::Prompt(_))) {
                app.keys("y");
            }
        }
        prop_assert!(app.model.findings.triage.state.last_done("ann@test").is_none());
        prop_assert!(app.model.findings.triage.state.identities().all(|(_, finding_state)| finding_state.heads.is_empty()));
    }

    #[test]
    fn type_ahead_does_not_confirm_large_decision(
        typed in proptest::collection::vec(proptest::char::range(' ', '~'), 1..20),
    ) {
        let mut app = TestDashboard::new();
        app.feed(Snapshot::Findings(table((1..=21).map(one))));
        app.keys("* f");
        for letter in typed {
            let effects = app.send(Msg::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE)));
            prop_assert_eq!(effects, vec![]);
        }
        let effects = app.send(Msg::Key(events("enter")[0]));
        prop_assert_eq!(effects, vec![], "an enter in the first 200 ms is typed ahead too");
        prop_assert!(matches!(app.model.overlay.modals.last(), Some(Modal::Prompt(_))));
    }

    #[test]
    fn decisions_with_caps_lock_can_be_undone(
        letters in proptest::collection::vec(proptest::char::range('A', 'Z'), 1..60),
    ) {
        let mut app = TestDashboard::new();
        for letter in letters {
            app.at += Duration::from_millis(400);
            let effects = app.send(Msg::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::SHIFT)));
            prop_assert_eq!(calls(effects.clone()), vec![]);
            let events = recorded(&effects);
            let undoable = |change: &Change| {
                matches!(change, Change::Decide(_) | Change::Note(_) | Change::Tag { .. } | Change::Undo | Change::Redo)
            };
            prop_assert!(events.iter().all(|event| undoable(&event.change)), "{events:?}");
        }
    }
}
