//! Long texts of findings in files: they are read for the screen, for reviews and for copies, and
//! searched in chunks. The view of many findings is computed off the UI thread.

use crate::base::{FindingGroupBy, FindingUse, TextChunk, ViewJob};
use crate::core::{Msg, update};
use crate::data::{Board, ShownText};
use crate::list::view;
use crate::model::{Modal, Model};
use crate::testing::*;
use scandeck_domain::problem::Problem;
use scandeck_domain::triage::store::TextStore;
use scandeck_domain::triage::{ListedFinding, Retest, RetestFinding};
use scandeck_wire::contract::{Evidence, Finding, TargetId};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Findings with these texts as evidence, in files whose directory is deleted.
fn stored(texts: &[&str]) -> Vec<Arc<ListedFinding>> {
    let directory = tempfile::tempdir().unwrap();
    let mut store = TextStore::new(directory.path());
    let of = |(id, text): (i64, &&str)| Finding {
        vuln_evidence: Evidence::from_value(&(*text).into()),
        ..finding(id, 1, "Dump readable", Risk::High)
    };
    let rows = (100..)
        .zip(texts)
        .map(|one| store.list(of(one), None))
        .collect();
    store.flush().unwrap();
    rows
}

fn app(texts: &[&str]) -> TestDashboard {
    let mut app = TestDashboard::new();
    app.feed(Snapshot::Findings(table(stored(texts))));
    app.keys("3 g g");
    app
}

#[test]
fn texts_in_files_are_copied() {
    let mut app = app(&["first words"]);
    let copied = app.keys("y j");
    let has_words = |effect: &Effect| matches!(effect, Effect::Copy { text, .. } if text.contains("first words"));
    assert!(copied.iter().any(has_words), "{copied:?}");
    let saved = app.keys("y f");
    let content = |effect: &Effect| match effect {
        Effect::Save { content, .. } => Some(String::from_utf8_lossy(content).into_owned()),
        _ => None,
    };
    assert!(
        saved
            .iter()
            .find_map(content)
            .is_some_and(|text| text.contains("first words")),
        "{saved:?}"
    );
}

#[test]
fn shown_texts_are_read_and_newest_selection_wins() {
    let mut app = app(&["first words", "second words", "third words"]);
    let now = app.model.now;
    let model = &mut app.model;
    let follows = Now {
        mono: now.mono + Duration::from_millis(30),
        ..now
    };
    let select = |model: &mut Model, key: &str| {
        let step = events(key).into_iter().map(|event| (now, Msg::Key(event)));
        let effects: Vec<Effect> = step
            .chain([(follows, Msg::Wake)])
            .flat_map(|(now, msg)| update(model, now, msg))
            .collect();
        let shown = |effect| match effect {
            Effect::ReadFindings(FindingUse::Show, findings) => Some(findings),
            _ => None,
        };
        effects.into_iter().find_map(shown).unwrap()
    };
    let state = |model: &Model| match model.findings.shown.of(model.issue_at_hand().unwrap()) {
        ShownText::Read(texts) => texts.vuln_evidence.as_json().to_owned(),
        ShownText::Reading => "reading".to_owned(),
        ShownText::Unreadable(problem) => problem.message.to_string(),
    };
    let take = |model: &mut Model, findings: Vec<Arc<ListedFinding>>, problem: Option<Problem>| {
        let texts = |one: Arc<ListedFinding>| {
            let texts = problem
                .clone()
                .map_or_else(|| Ok(one.texts().unwrap()), Err);
            (one, texts)
        };
        let read = findings.into_iter().map(texts).collect();
        update(model, now, Msg::FindingsRead(FindingUse::Show, read));
    };
    let first = select(model, "j");
    let second = select(model, "j");
    assert_eq!(state(model), "reading");
    take(model, first.clone(), None);
    assert_eq!(
        state(model),
        "reading",
        "the answer is about another finding"
    );
    take(model, second, Some(Problem::local("the disk is broken")));
    assert_eq!(state(model), "the disk is broken");
    let again = select(model, "k");
    assert!(Arc::ptr_eq(&again[0], &first[0]));
    take(model, again, None);
    assert!(state(model).contains("words"), "{}", state(model));
}

#[test]
fn texts_are_read_when_their_detail_is_shown() {
    let mut app = app(&["first words", "second words"]);
    app.keys("z");
    let now = app.model.now;
    let mut reads = |key: &str| {
        let mut effects = events(key)
            .into_iter()
            .flat_map(|event| update(&mut app.model, now, Msg::Key(event)));
        effects.any(|effect| matches!(effect, Effect::ReadFindings(FindingUse::Show, _)))
    };
    assert_eq!(["j", "enter"].map(&mut reads), [false, true]);
}

#[test]
fn review_compares_evidence_in_files() {
    let answer = "HTTP/1.1 200 OK\nDate: Mon, 02 Nov 2026 10:00:00 GMT";
    let app = {
        let mut app = app(&[
            answer,
            &answer.replace("10:00", "11:00"),
            "HTTP/1.1 301 Moved",
        ]);
        app.keys("b c B");
        app
    };
    let facts = &app.model.findings.review.as_ref().unwrap().facts;
    let kinds: Vec<_> = facts
        .evidence
        .kinds
        .iter()
        .map(|kind| (kind.count, kind.line.as_str()))
        .collect();
    assert_eq!(kinds, [(2, "HTTP/1.1 200 OK"), (1, "HTTP/1.1 301 Moved")]);
    assert!(facts.evidence.unread.is_none());
}

/// The findings of the tests, and a limit below it that stands for the one of the dashboard.
const MANY: i64 = 210;
const LIMIT: usize = 200;

/// Findings of seven ports, five targets and four classes.
fn many(ids: RangeInclusive<i64>) -> Vec<Finding> {
    let of = |id: i64| Finding {
        port: 1 + id % 7,
        vuln_id: format!("kind.{}", id % 4).into(),
        ..finding(id, 1 + id % 5, &format!("Weakness {id}"), Risk::High)
    };
    ids.map(of).collect()
}

fn app_of_many() -> TestDashboard {
    let mut app = TestDashboard::new();
    app.model.findings.view.inline = LIMIT;
    fill(&mut app, MANY);
    app
}

/// Lists so many findings, whose next views a test computes.
fn fill(app: &mut TestDashboard, count: i64) {
    app.feed(Snapshot::Findings(table(many(1..=count))));
    app.keys("3 / ctrl-u enter");
    assert_eq!(app.model.lists.findings.rows.len(), count as usize);
    app.holds_work = true;
}

/// The view that is to be computed.
fn requested(effects: Vec<Effect>) -> Option<ViewJob> {
    effects.into_iter().find_map(|effect| match effect {
        Effect::View(job) => Some(*job),
        _ => None,
    })
}

fn compute(app: &mut TestDashboard, job: ViewJob) -> Vec<Effect> {
    let viewed = Some(Box::new(view(&job)));
    app.send(Msg::Viewed(Box::new(job.key), viewed))
}

/// Computes views until the wanted one is shown.
fn compute_all(app: &mut TestDashboard, effects: Vec<Effect>) {
    let mut next = requested(effects);
    while let Some(job) = next {
        next = requested(compute(app, job));
    }
}

fn receive(app: &mut TestDashboard, findings: Vec<Finding>) -> Vec<Effect> {
    let event = PollEvent::Snapshot(Snapshot::Findings(table(findings)));
    app.send(Msg::Update(Update {
        generation: app.model.connection.generation,
        at: stamp(),
        event,
    }))
}

#[test]
fn view_of_many_findings_is_computed_off_the_ui_thread() {
    for (query, count) in [
        ("port:3", 30),
        ("target:t2.acme.test", 42),
        ("source:person", 0),
    ] {
        let mut app = app_of_many();
        let of_first_letter = requested(app.keys(&format!("/ '{query}'"))).unwrap();
        let shown = |app: &TestDashboard| app.model.lists.findings.rows.len();
        assert_eq!(shown(&app), 210, "the rows of the last filter remain");
        app.keys("enter * c");
        assert!(
            app.notices().contains("still being filtered"),
            "{}",
            app.notices()
        );
        assert!(app.model.lists.findings.marks.is_empty() && app.model.overlay.modals.is_empty());
        let wanted = requested(compute(&mut app, of_first_letter)).unwrap();
        assert_eq!(wanted.key.request.list.filter, query);
        assert_eq!(shown(&app), 210, "the view of a replaced filter");
        assert_eq!(requested(compute(&mut app, wanted)), None);
        assert_eq!(shown(&app), count, "{query}");
    }
}

#[test]
fn view_follows_renamed_targets() {
    let mut app = app_of_many();
    let renamed = || {
        Snapshot::Targets(table(
            (1..=5).map(|id| target(id, &format!("new{id}.acme.test"))),
        ))
    };
    let job = requested(filter(&mut app, "target:new2*")).unwrap();
    app.feed(renamed());
    let again = requested(compute(&mut app, job)).unwrap();
    assert!(
        app.model.lists.findings.rows.is_empty(),
        "the first view has the former names"
    );
    compute(&mut app, again);
    assert_eq!(app.model.lists.findings.rows.len(), 42);
}

#[test]
fn many_findings_are_grouped_off_the_ui_thread() {
    let mut app = app_of_many();
    let job = requested(app.keys("b c")).unwrap();
    assert_eq!(job.key.request.list.groups, Some(FindingGroupBy::Class));
    assert!(!app.model.lists.findings.groups.is_on(), "the rows remain");
    app.keys("*");
    assert!(
        app.notices().contains("still being filtered"),
        "{}",
        app.notices()
    );
    compute(&mut app, job);
    assert_eq!(app.model.lists.findings.len(), 4);
    app.keys("*");
    assert_eq!(app.model.lists.findings.marks.len(), 210);
    // New findings are shown with their groups; marks remain on those that are still there.
    // The four that are gone have no others of their kind at their place.
    let mut left = many(1..=MANY);
    left.drain(70..74);
    let effects = receive(&mut app, left);
    assert_eq!(app.model.data.findings.value().unwrap().len(), 210);
    compute_all(&mut app, effects);
    assert_eq!(app.model.data.findings.value().unwrap().len(), 206);
    assert_eq!(
        (
            app.model.lists.findings.len(),
            app.model.lists.findings.marks.len()
        ),
        (4, 206)
    );
    let header = app.model.lists.findings.groups.iter().next().unwrap();
    assert_eq!(header.rows.len(), 52);
}

#[test]
fn many_findings_are_ordered_off_the_ui_thread() {
    let mut app = TestDashboard::new();
    // More than the limit of the dashboard.
    fill(&mut app, 10_150);
    app.model.set_order(Pane::Findings, "target,-port").unwrap();
    let job = requested(app.send(Msg::Wake)).unwrap();
    assert!(app.model.is_list_behind());
    compute(&mut app, job);
    assert!(!app.model.is_list_behind());
    let table = app.model.data.findings.value().unwrap().clone();
    let first = &table.items()[app.model.lists.findings.rows[0] as usize];
    assert_eq!(
        (first.target_id(), first.port()),
        (Some(TargetId(1)), 1),
        "numbers begin with the largest, unless reversed"
    );
}

#[test]
fn view_without_the_latest_decision_is_shown_and_computed_again() {
    let mut app = app_of_many();
    app.model.set_order(Pane::Findings, "verdict").unwrap();
    let effects = app.send(Msg::Wake);
    compute_all(&mut app, effects);
    let of_new = requested(receive(&mut app, many(5..=MANY))).unwrap();
    app.keys("g g f");
    assert_eq!(
        app.model.lists.findings.rows.len(),
        210,
        "a decision was made meanwhile"
    );
    let again = requested(compute(&mut app, of_new)).unwrap();
    assert_eq!(app.model.lists.findings.rows.len(), 206);
    assert_eq!(requested(compute(&mut app, again)), None);
    assert!(!app.model.is_list_behind());
}

#[test]
fn long_texts_are_not_read_for_completions() {
    let mut app = app(&["red", "blue"]);
    app.holds_work = true;
    assert_eq!(requested(app.keys("/ ctrl-u 'evidence:'")), None);
}

#[test]
fn query_of_a_command_waits_for_its_view() {
    let mut app = app_of_many();
    let effects = app.keys(": 'mark port:3' enter");
    assert!(
        app.model.lists.findings.marks.is_empty(),
        "not without the view"
    );
    compute_all(&mut app, effects);
    app.keys("esc esc : 'mark port:3' enter");
    assert_eq!(app.model.lists.findings.marks.len(), 30);
}

#[test]
fn values_of_many_findings_are_offered_when_their_column_is_built() {
    let mut app = app_of_many();
    let offered = |app: &TestDashboard| match app.model.overlay.modals.last() {
        Some(Modal::Line(line)) => line
            .help
            .offers
            .all
            .iter()
            .map(|offer| offer.text.clone())
            .collect::<Vec<_>>(),
        Some(Modal::Command(line)) => line
            .offers
            .all
            .iter()
            .map(|offer| offer.text.clone())
            .collect(),
        _ => Vec::new(),
    };
    for (keys, value) in [
        ("/ 'workspace:'", "Acme"),
        (": 'mark target:t2'", "t2.acme.test"),
    ] {
        let effects = app.keys(keys);
        assert!(offered(&app).is_empty(), "{keys}");
        compute_all(&mut app, effects);
        assert_eq!(offered(&app), [value], "{keys}");
        let effects = app.keys("esc esc");
        compute_all(&mut app, effects);
    }
}

#[test]
fn headers_keep_the_names_of_their_grouping() {
    let mut app = app_of_many();
    let by_class = requested(app.keys("b c")).unwrap();
    compute(&mut app, by_class);
    let names = |app: &TestDashboard| {
        let (list, groups) = (&app.model.lists.findings, &app.model.lists.finding_groups);
        list.groups
            .iter()
            .map(|group| format!("{:?}", groups.name(group).unwrap()))
            .collect::<Vec<_>>()
    };
    let classes = names(&app);
    let by_target = requested(app.keys("b t")).unwrap();
    app.keys("b c");
    compute(&mut app, by_target);
    assert_eq!(names(&app), classes);
}

#[test]
fn board_keeps_its_rows_while_the_view_is_computed() {
    let mut app = app_of_many();
    let findings = app.model.data.findings.value().unwrap().items().iter();
    let findings = findings
        .map(|issue| RetestFinding {
            key: issue.key(),
            ..Default::default()
        })
        .collect();
    app.model.findings.board = Some(Board::Retest(Retest {
        findings,
        ..Default::default()
    }));
    app.model.make_board();
    assert_eq!(app.model.lists.board.rows.len(), 210);
    let found = |app: &TestDashboard| app.model.lists.board.rows.len();
    app.model.set_query(Pane::Board, "port:3").unwrap();
    let job = requested(app.send(Msg::Wake)).unwrap();
    compute(&mut app, job);
    assert_eq!(found(&app), 30);
    app.model
        .set_query(Pane::Board, "target:t2.acme.test")
        .unwrap();
    let job = requested(app.send(Msg::Wake)).unwrap();
    assert_eq!(found(&app), 30, "the rows of the last filter remain");
    app.model.navigation.focus.pane = Pane::Board;
    app.keys("* c");
    assert!(
        app.notices().contains("still being filtered"),
        "{}",
        app.notices()
    );
    assert!(app.model.lists.board.marks.is_empty() && app.model.overlay.modals.is_empty());
    compute(&mut app, job);
    assert_eq!(found(&app), 42);
}

fn chunk(effects: Vec<Effect>) -> Option<TextChunk> {
    effects.into_iter().find_map(|effect| match effect {
        Effect::SearchTexts(chunk) => Some(chunk),
        _ => None,
    })
}

fn search(app: &mut TestDashboard, chunk: TextChunk) -> Vec<Effect> {
    let found = chunk.search();
    app.send(Msg::TextsSearched(chunk, Some(found)))
}

fn filter(app: &mut TestDashboard, query: &str) -> Vec<Effect> {
    app.model.set_query(Pane::Findings, query).unwrap();
    app.send(Msg::Wake)
}

#[test]
fn texts_in_files_are_searched_in_chunks() {
    let mut app = app(&["red", "blue", "red", "blue", "red"]);
    app.keys("/ ctrl-u enter");
    app.holds_work = true;
    let first = chunk(filter(&mut app, "evidence:red")).unwrap();
    assert!(app.shown(Pane::Findings).is_empty() && first.rows.len() == 2);
    let frame = app.frame().join("\n");
    assert!(
        frame.contains("texts: 0 of 5 searched") && frame.contains("no matches yet"),
        "{frame}"
    );
    let second = chunk(search(&mut app, first)).unwrap();
    let partial = app.shown(Pane::Findings);
    assert_eq!(partial, [104], "the newest first, as the list is sorted");
    assert!(app.frame().join("\n").contains("texts: 2 of 5 searched"));
    app.keys("*");
    assert!(
        app.notices().contains("still being filtered") && app.model.lists.findings.marks.is_empty()
    );
    let third = chunk(search(&mut app, second)).unwrap();
    assert_eq!(
        app.shown(Pane::Findings)[..1],
        partial,
        "rows keep their places"
    );
    // A new query stops the search of the one before.
    assert!(
        chunk(filter(&mut app, "-evidence:blue")).is_none(),
        "one chunk at a time"
    );
    let newer = chunk(search(&mut app, third)).unwrap();
    assert_eq!(
        (newer.clauses[0].to_string().as_str(), newer.rows.len()),
        ("evidence:blue", 2)
    );
    let mut next = Some(newer);
    while let Some(chunk_of) = next {
        next = chunk(search(&mut app, chunk_of));
    }
    assert_eq!(app.shown(Pane::Findings), [104, 102, 100]);
    assert!(!app.frame().join("\n").contains("searched"));
}

#[test]
fn board_waits_for_the_texts_that_its_filter_searches() {
    let mut app = app(&["red", "blue", "red"]);
    app.keys("/ ctrl-u enter");
    let findings = app.model.data.findings.value().unwrap().items().iter();
    let findings = findings
        .map(|issue| RetestFinding {
            key: issue.key(),
            ..Default::default()
        })
        .collect();
    app.model.findings.board = Some(Board::Retest(Retest {
        findings,
        ..Default::default()
    }));
    app.model.make_board();
    app.model.navigation.focus.pane = Pane::Board;
    app.holds_work = true;
    app.model.set_query(Pane::Board, "evidence:red").unwrap();
    let first = chunk(app.send(Msg::Wake)).unwrap();
    let second = chunk(search(&mut app, first)).unwrap();
    app.keys("*");
    assert!(
        app.notices().contains("still being filtered") && app.model.lists.board.marks.is_empty()
    );
    search(&mut app, second);
    app.keys("*");
    assert_eq!(app.model.lists.board.marks.len(), 2);
}

#[test]
fn tab_counts_the_searched_texts() {
    let mut app = app(&["red", "blue", "red"]);
    app.holds_work = true;
    app.keys("/ ctrl-u enter");
    app.model.settings.tabs.saved[0].query = "evidence:red".to_owned();
    app.model.settings.revision += 1;
    let first = chunk(app.send(Msg::Wake)).unwrap();
    let second = chunk(search(&mut app, first)).unwrap();
    let tabs = |app: &TestDashboard| {
        (
            app.model.settings.tabs.counts[0],
            app.model.settings.tabs.partial[0],
        )
    };
    assert_eq!(tabs(&app), (1, true));
    search(&mut app, second);
    assert_eq!(tabs(&app), (2, false));
}

#[test]
fn actions_on_all_rows_wait_for_the_search() {
    let mut app = app(&["red", "blue", "red"]);
    app.holds_work = true;
    let mut next = chunk(filter(&mut app, "evidence:red"));
    for keys in [
        "B",
        "R",
        "4 R",
        "3 : 'report' enter",
        ": 'export csv' enter",
        ": 'mark evidence:blue' enter",
    ] {
        app.model.overlay.notices = Default::default();
        app.keys(keys);
        assert!(
            app.notices().contains("try again in a moment") || frame_says_so(&mut app),
            "{keys}: {}",
            app.notices()
        );
        app.keys("esc esc");
    }
    assert!(app.model.findings.review.is_none());
    while let Some(chunk_of) = next {
        next = chunk(search(&mut app, chunk_of));
    }
    app.keys(": 'mark evidence:red' enter");
    assert_eq!(app.model.lists.findings.marks.len(), 2);
}

/// The command line shows why a command is refused.
fn frame_says_so(app: &mut TestDashboard) -> bool {
    app.frame().join("\n").contains("try again in a moment")
}

#[test]
fn only_findings_that_the_other_parts_of_a_query_select_are_searched() {
    let mut app = app(&["red", "blue", "red"]);
    app.holds_work = true;
    let only = chunk(filter(&mut app, "id:101 evidence:blue")).unwrap();
    assert_eq!(only.rows.len(), 1);
    assert!(chunk(search(&mut app, only)).is_none());
    assert_eq!(app.shown(Pane::Findings), [101]);
}

#[test]
fn query_of_a_command_searches_findings_outside_the_scope() {
    let mut app = app(&["red", "blue", "red"]);
    app.holds_work = true;
    app.model.navigation.scope.target = Some(TargetId(2));
    let query = "evidence:red";
    assert!(
        app.model.ids_matching(Pane::Findings, query).is_err(),
        "not before the search"
    );
    let mut next = chunk(app.send(Msg::Wake));
    while let Some(chunk_of) = next {
        next = chunk(search(&mut app, chunk_of));
    }
    assert_eq!(
        app.model.ids_matching(Pane::Findings, query).unwrap().len(),
        2
    );
    assert_eq!(
        app.model.findings.view.command, None,
        "later findings are not searched for it"
    );
}
