//! Invariants for any sequence of keys, responses and updates, at any size.

use crate::core::update::Msg;
use crate::model::Model;
use crate::prompts::Then;
use crate::testing::*;
use proptest::prelude::*;

/// One event of a generated sequence.
#[derive(Clone, Debug)]
enum Step {
    Key(usize),
    Typed(char),
    Findings(Vec<i64>),
    Scans(Vec<(i64, usize, i64)>),
    Targets(Vec<i64>),
    Captures(i64, i64),
    Fail,
    Answer(bool),
    Wait(u64),
    Resize(u16, u16),
    Paste(String),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => any::<usize>().prop_map(Step::Key),
        4 => proptest::char::range(' ', '~').prop_map(Step::Typed),
        2 => proptest::collection::vec(1..40i64, 0..40).prop_map(Step::Findings),
        2 => proptest::collection::vec((1..20i64, 0..10usize, 0..=100i64), 0..20).prop_map(Step::Scans),
        1 => proptest::collection::vec(1..12i64, 0..12).prop_map(Step::Targets),
        2 => (1..3i64, 1..30i64).prop_map(|(logger, count)| Step::Captures(logger, count)),
        1 => Just(Step::Fail),
        2 => any::<bool>().prop_map(Step::Answer),
        1 => (0..60_000u64).prop_map(Step::Wait),
        1 => (1..300u16, 1..100u16).prop_map(|(columns, rows)| Step::Resize(columns, rows)),
        1 => "[a-z0-9.\n ]{0,40}".prop_map(Step::Paste),
    ]
}

const KEYS: &str = "j k down up G home end ctrl-d ctrl-u pgdn pgup enter l h left right / backspace space v * ! , tab \
    shift-tab 1 2 3 4 5 6 7 8 < > [ ] J K z - r g y t s f w n e D S R d = esc q ? f1 u U p m H L N c : ctrl-o ctrl-x \
    ctrl-l delete y a";

struct Driver {
    app: TestDashboard,
    sent: Vec<(Ticket, Call)>,
    captures: i64,
}

impl Driver {
    fn apply(&mut self, step: &Step) {
        let keys: Vec<&str> = KEYS.split_whitespace().collect();
        let app = &mut self.app;
        app.at += Duration::from_millis(50);
        let effects = match step {
            Step::Key(at) => app.send(Msg::Key(events(keys[at % keys.len()])[0])),
            Step::Typed(letter) => app.send(Msg::Key(KeyEvent::new(
                KeyCode::Char(*letter),
                KeyModifiers::NONE,
            ))),
            Step::Findings(ids) => {
                let items = ids
                    .iter()
                    .map(|&id| finding(id, id % 5, &format!("finding {id}"), Risk::from(id % 5)));
                app.feed(Snapshot::Findings(table(items)));
                vec![]
            }
            Step::Scans(scans) => {
                let items = scans.iter().map(|&(id, status, progress)| {
                    scan(
                        id,
                        id % 5,
                        ScanStatus::KNOWN[status % ScanStatus::KNOWN.len()].clone(),
                        progress,
                    )
                });
                app.feed(Snapshot::Scans(table(items)));
                vec![]
            }
            Step::Targets(ids) => {
                app.feed(Snapshot::Targets(table(
                    ids.iter().map(|&id| target(id, &format!("t{id}.test"))),
                )));
                vec![]
            }
            Step::Captures(logger, count) => {
                app.capture(*logger, self.captures + 1..=self.captures + count);
                self.captures += count;
                vec![]
            }
            Step::Fail => {
                let problem = Arc::new(Problem::local("down"));
                app.feed(PollEvent::Failed(crate::base::ListKind::Findings, problem));
                vec![]
            }
            Step::Answer(good) => match self.sent.pop() {
                Some((ticket, _)) => {
                    let result = if *good {
                        Ok(CallAnswer::Done)
                    } else {
                        Err(Problem::local("no"))
                    };
                    app.send(Msg::Called { ticket, result })
                }
                None => vec![],
            },
            Step::Wait(ms) => {
                app.at += Duration::from_millis(*ms);
                app.send(Msg::Wake)
            }
            Step::Resize(columns, rows) => app.send(Msg::Resize(Size {
                columns: *columns,
                rows: *rows,
            })),
            Step::Paste(text) => app.send(Msg::Paste(text.clone())),
        };
        self.sent.extend(calls(effects));
    }
}

/// Asserts that the position, rows and selection of every list agree.
fn assert_consistent(model: &mut Model) {
    for pane in Pane::ALL {
        let cursor = model.cursor(pane);
        let (rows, at, selected) = (cursor.len(), cursor.at(), cursor.selected_row());
        if rows == 0 {
            assert_eq!(selected, None, "{pane:?}");
        } else {
            assert!(at < rows, "{pane:?}: {at} of {rows}");
            assert_eq!(cursor.row_at(at), selected, "{pane:?}");
        }
    }
    assert!(model.overlay.notices.iter().count() <= 3);
    assert!(!(model.navigation.focus.in_detail && model.shown_detail().is_none()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_keys_and_polls_keep_lists_consistent(steps in proptest::collection::vec(step(), 1..120)) {
        let mut driver = Driver { app: TestDashboard::new(), sent: vec![], captures: 100 };
        for step in &steps {
            driver.apply(step);
            assert_consistent(&mut driver.app.model);
        }
    }

    #[test]
    fn poll_keeps_selected_id_while_shown(
        before in proptest::collection::vec(step(), 0..60),
        ids in proptest::collection::vec(1..40i64, 0..40),
    ) {
        let mut driver = Driver { app: TestDashboard::new(), sent: vec![], captures: 100 };
        driver.app.keys("down");
        before.iter().for_each(|step| driver.apply(step));
        let selected = driver.app.model.selected_id(Pane::Findings);
        driver.apply(&Step::Findings(ids));
        let shown = driver.app.model.cursor(Pane::Findings).shown_ids();
        let now = driver.app.model.selected_id(Pane::Findings);
        // Lists of another workspace start unused, so they show their top.
        if !driver.app.model.lists.findings.held {
            prop_assert_eq!(now, shown.first().copied());
        } else if let Some(id) = selected.filter(|id| shown.contains(id)) {
            prop_assert_eq!(now, Some(id));
        }
    }

    #[test]
    fn upper_case_letters_send_no_calls(
        letters in proptest::collection::vec(proptest::char::range('A', 'Z'), 1..60),
    ) {
        let mut app = TestDashboard::new();
        for letter in letters {
            app.at += Duration::from_millis(400);
            let effects = app.send(Msg::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::SHIFT)));
            prop_assert_eq!(calls(effects), vec![]);
        }
    }

    #[test]
    fn keys_typed_ahead_of_prompt_are_ignored(
        typed in proptest::collection::vec(proptest::char::range(' ', '~'), 1..20),
    ) {
        let mut app = TestDashboard::new();
        app.keys("2 D");
        for letter in typed {
            let effects = app.send(Msg::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE)));
            prop_assert_eq!(effects, vec![]);
        }
        prop_assert!(matches!(app.model.overlay.modals.last(), Some(Modal::Prompt(_))));
    }

    #[test]
    fn prompt_acts_only_on_rows_chosen_at_opening(
        marks in proptest::collection::vec(any::<bool>(), 5),
        filter in "[1-5t]?",
        arrives in proptest::collection::vec(1..12i64, 0..12),
    ) {
        let mut app = TestDashboard::new();
        app.keys("2 home");
        for mark in &marks {
            app.keys(if *mark { "space" } else { "j" });
        }
        app.keys(&format!("/ '{filter}' enter"));
        let chosen = app.model.chosen(Pane::Targets).ids;
        app.keys("D");
        let Some(Modal::Prompt(prompt)) = app.model.overlay.modals.last() else {
            prop_assert!(chosen.is_empty());
            return Ok(());
        };
        let Then::Call { jobs, .. } = &prompt.then else { panic!("not a call") };
        let held: Vec<Call> = jobs.iter().map(|job| job.call.clone()).collect();
        let expected: Vec<Call> = chosen.iter().map(|&id| Call::DeleteTarget(TargetId(id))).collect();
        prop_assert_eq!(&held, &expected);
        app.feed(Snapshot::Targets(table(arrives.iter().map(|&id| target(id, &format!("t{id}.test"))))));
        let sent: Vec<Call> = app.calls("y").into_iter().map(|(_, call)| call).collect();
        prop_assert_eq!(&sent[..], &expected[..sent.len()]);
    }
}
