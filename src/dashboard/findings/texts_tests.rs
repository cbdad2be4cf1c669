//! Long texts of findings in files: they are read for the screen, for reviews and for copies.

use crate::client::Problem;
use crate::contract::{Evidence, Finding};
use crate::dashboard::base::FindingUse;
use crate::dashboard::core::{Msg, update};
use crate::dashboard::data::ShownText;
use crate::dashboard::model::Model;
use crate::dashboard::testing::*;
use crate::query::Field;
use crate::triage::ListedFinding;
use crate::triage::store::TextStore;
use std::sync::Arc;

/// Findings with these texts as evidence, in files whose directory is deleted.
fn stored(texts: &[&str]) -> Vec<Arc<ListedFinding>> {
    let directory = tempfile::tempdir().unwrap();
    let mut store = TextStore::new(directory.path());
    let of = |(id, text): (i64, &&str)| Finding {
        vuln_evidence: Evidence::from_value(&(*text).into()),
        ..finding(id, 1, "Dump readable", Risk::High)
    };
    let rows = (100..).zip(texts).map(|one| store.list(of(one), None)).collect();
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
    assert!(saved.iter().find_map(content).is_some_and(|text| text.contains("first words")), "{saved:?}");
}

#[test]
fn shown_texts_are_read_and_newest_selection_wins() {
    let mut app = app(&["first words", "second words", "third words"]);
    let now = app.model.now;
    let model = &mut app.model;
    let follows = Now { mono: now.mono + Duration::from_millis(30), ..now };
    let select = |model: &mut Model, key: &str| {
        let step = events(key).into_iter().map(|event| (now, Msg::Key(event)));
        let effects: Vec<Effect> =
            step.chain([(follows, Msg::Wake)]).flat_map(|(now, msg)| update(model, now, msg)).collect();
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
            let texts = problem.clone().map_or_else(|| Ok(one.texts().unwrap()), Err);
            (one, texts)
        };
        let read = findings.into_iter().map(texts).collect();
        update(model, now, Msg::FindingsRead(FindingUse::Show, read));
    };
    let first = select(model, "j");
    let second = select(model, "j");
    assert_eq!(state(model), "reading");
    take(model, first.clone(), None);
    assert_eq!(state(model), "reading", "the answer is about another finding");
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
        let mut effects = events(key).into_iter().flat_map(|event| update(&mut app.model, now, Msg::Key(event)));
        effects.any(|effect| matches!(effect, Effect::ReadFindings(FindingUse::Show, _)))
    };
    assert_eq!(["j", "enter"].map(&mut reads), [false, true]);
}

#[test]
fn review_compares_evidence_in_files() {
    let answer = "HTTP/1.1 200 OK\nDate: Mon, 02 Nov 2026 10:00:00 GMT";
    let app = {
        let mut app = app(&[answer, &answer.replace("10:00", "11:00"), "HTTP/1.1 301 Moved"]);
        app.keys("b c B");
        app
    };
    let facts = &app.model.findings.review.as_ref().unwrap().facts;
    let kinds: Vec<_> = facts.evidence.kinds.iter().map(|kind| (kind.count, kind.line.as_str())).collect();
    assert_eq!(kinds, [(2, "HTTP/1.1 200 OK"), (1, "HTTP/1.1 301 Moved")]);
    assert!(facts.evidence.unread.is_none());
}

#[test]
fn columns_of_many_findings_are_built_off_the_ui_thread() {
    let mut app = TestDashboard::new();
    let of = |id: i64| Finding { port: 1 + id % 7, ..finding(id, 1, &format!("Weakness {id}"), Risk::High) };
    app.feed(Snapshot::Findings(table((1..=1_200).map(of))));
    app.keys("3 / ctrl-u enter");
    assert_eq!(app.model.lists.findings.rows.len(), 1_200);
    let searched = |effects: &[Effect]| {
        effects.iter().find_map(|effect| match effect {
            Effect::ReadTexts(searched) => Some(searched.clone()),
            _ => None,
        })
    };
    let searched = searched(&app.keys("/ 'port:3'")).unwrap();
    assert_eq!(searched.fields, [Field::Port]);
    assert_eq!(app.model.lists.findings.rows.len(), 1_200, "the rows of the last filter remain");
    app.keys("enter * c");
    assert!(app.notices().contains("still being filtered"), "{}", app.notices());
    assert!(app.model.lists.findings.marks.is_empty() && app.model.overlay.modals.is_empty());
    searched.fields.iter().for_each(|&field| _ = searched.table.column(field));
    app.send(Msg::TextsRead(searched));
    assert_eq!(app.model.lists.findings.rows.len(), 172);
    app.keys("/ ctrl-u 'port:1' enter");
    assert_eq!(app.model.lists.findings.rows.len(), 171, "the column is there");
}
