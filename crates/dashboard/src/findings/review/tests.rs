//! A review: cards are decided one after another; it is paused, resumed, summarised and undone.

use crate::base::Tab;
use crate::core::Msg;
use crate::model::{Review, ReviewOutcome};
use crate::testing::*;
use proptest::prelude::*;
use scandeck_domain::triage::{Change, Event, IssueId, Subject, Verdict};
use scandeck_wire::contract::Shared;

/// 25 dumps on 5 targets, two cookies on one, one banner.
fn sample_findings() -> Vec<Finding> {
    let mut all: Vec<Finding> = (100..125).map(dump).collect();
    all.extend([
        of_class(13, 1, "cookie", "Weak cookie: sid", Risk::Low),
        of_class(14, 1, "cookie", "Weak cookie: lang", Risk::Low),
        of_class(15, 2, "banner", "Banner", Risk::Info),
    ]);
    all
}

fn dump(id: i64) -> Finding {
    Finding {
        port: id,
        ..of_class(
            id,
            1 + id % 5,
            "dump",
            &format!("Database dump at /{id}.sql"),
            Risk::High,
        )
    }
}

fn of_class(id: i64, target: i64, class: &str, name: &str, risk: Risk) -> Finding {
    Finding {
        vuln_id: class.into(),
        ..finding(id, target, name, risk)
    }
}

fn app() -> TestDashboard {
    let mut app = TestDashboard::new();
    app.feed(Snapshot::Findings(table(sample_findings())));
    app.keys("3 b c");
    app
}

fn reviewing() -> TestDashboard {
    let mut app = app();
    app.keys("B");
    app
}

fn review(app: &TestDashboard) -> &Review {
    app.model.findings.review.as_ref().unwrap()
}

fn title(app: &TestDashboard) -> String {
    review(app)
        .card()
        .map_or("summary".to_owned(), |card| card.title.to_string())
}

fn outcome(app: &TestDashboard) -> ReviewOutcome {
    review(app).outcome(&app.model.findings.triage.state)
}

/// The service's ids of the findings with a verdict.
fn with(app: &TestDashboard, verdict: Verdict) -> Vec<i64> {
    let table = app.model.data.findings.value().unwrap();
    let decided = table
        .items()
        .iter()
        .zip(app.model.findings.triage.assessments.iter())
        .filter(|(_, assessment)| assessment.verdict == verdict);
    let mut ids: Vec<i64> = decided.map(|(issue, _)| issue.finding.id.0).collect();
    ids.sort();
    ids
}

#[test]
fn finding_of_a_card_is_explained_and_the_card_stays_open() {
    let mut app = reviewing();
    let explained = |app: &TestDashboard| {
        let Some(Modal::Why(open)) = app.model.overlay.modals.last() else {
            panic!("{}", app.notices())
        };
        open.issue
    };
    let ids: Vec<IssueId> = review(&app)
        .facts
        .issues
        .iter()
        .map(|issue| issue.id)
        .collect();
    app.keys("Y");
    assert_eq!(explained(&app), ids[0]);
    app.keys("esc l l j Y");
    assert_eq!(explained(&app), ids[1]);
    app.keys("esc h Y");
    assert_eq!(explained(&app), ids[0], "the tab shows the first one");
    app.keys("esc");
    assert!(app.model.reviewing().is_some(), "{}", app.notices());
    assert!(app.model.decides_card(&ids));
    assert!(!app.model.decides_card(&ids[..1]), "one of several");
}

#[test]
fn shown_groups_become_cards_and_verdict_shows_next() {
    let mut app = reviewing();
    assert_eq!(
        (title(&app).as_str(), review(&app).len()),
        ("Database dump", 3)
    );
    app.keys("J f");
    assert_eq!(title(&app), "Banner");
    assert_eq!(with(&app, Verdict::FalsePositive), [13, 14]);
    app.keys("c");
    assert_eq!(title(&app), "summary");
    let outcome = outcome(&app);
    assert_eq!(
        outcome.verdicts,
        [(Verdict::Confirmed, 1, 1), (Verdict::FalsePositive, 1, 2)]
    );
    assert_eq!((outcome.skipped, outcome.left), (1, 25));
}

#[test]
fn ungrouped_findings_become_cards_of_classes() {
    let mut app = app();
    app.keys("b b B");
    assert_eq!(review(&app).len(), 3);
    app.keys("J J c");
    assert_eq!(
        with(&app, Verdict::Confirmed),
        [15],
        "the banner is alone in its class"
    );
}

#[test]
fn keys_of_a_card_do_not_count_marks_of_other_cards() {
    let mut app = app();
    app.keys("3 space space space B");
    let hints = app.frame().pop().unwrap();
    assert!(
        hints.contains("more") && !hints.contains("more 28"),
        "{hints}"
    );
}

#[test]
fn marked_findings_are_reviewed_alone() {
    let mut app = app();
    app.keys("b b / 'Weak' enter space backspace B");
    assert_eq!(
        (title(&app).as_str(), review(&app).len()),
        ("Weak cookie: lang", 1)
    );
    app.keys("c");
    assert_eq!(with(&app, Verdict::Confirmed), [14]);
}

#[test]
fn paused_review_is_replaced_by_marked_findings_after_a_prompt() {
    let mut app = app();
    app.keys("B esc b b / 'Weak' enter space backspace B");
    let prompt = app.prompt();
    assert_eq!(prompt.question, "Replace the paused review?");
    assert_eq!(prompt.lines[0], "It has 3 cards, none decided.");
    app.keys("n");
    assert_eq!(
        (review(&app).len(), app.model.reviewing().is_some()),
        (3, false),
        "still paused"
    );
    app.keys("B y");
    assert_eq!(
        (title(&app).as_str(), review(&app).len()),
        ("Weak cookie: lang", 1)
    );
    app.keys("esc B");
    assert!(
        app.model.reviewing().is_some(),
        "the review of the same marks is resumed"
    );
}

#[test]
fn other_filter_asks_whether_to_resume_paused_review() {
    let mut app = app();
    app.keys("B esc / 'Weak' enter B");
    assert_eq!(
        app.prompt().question,
        "Resume the paused review of 3 cards with 28 findings?"
    );
    let line = "Its filter, scope or grouping was different; its cards include all shown findings.";
    assert_eq!(app.prompt().lines, [line]);
    assert!(app.model.reviewing().is_none());
    app.keys("y");
    assert_eq!(
        (review(&app).len(), app.model.reviewing().is_some()),
        (3, true)
    );
    app.keys("J J c K esc B a");
    assert_eq!(app.prompt().question, "Replace the paused review?");
    assert_eq!(
        app.prompt().lines[1],
        "The new review has 2 shown findings."
    );
    app.keys("y");
    assert_eq!(review(&app).len(), 1);
    app.keys("esc B");
    assert!(
        app.model.reviewing().is_some(),
        "no question with the filter of the review"
    );
}

#[test]
fn other_grouping_asks_whether_to_resume_paused_review() {
    let mut app = app();
    app.keys("B esc b t B");
    assert_eq!(
        app.prompt().question,
        "Resume the paused review of 3 cards with 28 findings?"
    );
    app.keys("esc b b B");
    assert!(
        app.model.reviewing().is_some(),
        "a list without groups is reviewed by class too"
    );
}

#[test]
fn paused_review_without_decisions_is_replaced_by_one_prompt() {
    let mut app = app();
    app.keys("B esc / 'Weak' enter B a");
    assert!(app.model.overlay.modals.is_empty());
    assert_eq!(
        (review(&app).len(), app.model.reviewing().is_some()),
        (1, true)
    );
}

#[test]
fn three_equal_decisions_on_class_offer_rule() {
    let mut app = app();
    app.keys("l j f j f h B");
    assert!(review(&app).facts.repeated_decision().is_none() && review(&app).facts.rule.is_none());
    app.keys("esc l j j j f h B");
    let facts = &review(&app).facts;
    assert_eq!(facts.earlier.len(), 3);
    assert_eq!(
        facts.repeated_decision().map(|last| last.verdict),
        Some(Verdict::FalsePositive)
    );
    let rule = facts.rule.unwrap();
    assert!(
        rule.decided == 3 && rule.findings > 3 && rule.targets > 0,
        "{rule:?}"
    );
    let lines = app.frame();
    let shown = lines.join("\n");
    assert!(
        shown.contains("false positive, on 3 findings in 3 decisions"),
        "{lines:#?}"
    );
    assert_eq!(
        shown.matches(" by ann@test in Acme, last").count(),
        1,
        "{lines:#?}"
    );
    app.send(Msg::Resize(Size {
        columns: 80,
        rows: 24,
    }));
    let screen = app.frame().join("\n");
    assert!(
        screen.contains("last 3 decisions alike: false positive · t makes a rule"),
        "{screen}"
    );
    assert!(
        screen.contains(" ↓"),
        "the text is longer than the screen: {screen}"
    );
}

#[test]
fn rule_on_manual_decisions_leaves_its_card_undecided() {
    let mut app = app();
    app.keys("/ 'class:banner' enter o B");
    assert_eq!(title(&app), "Banner");
    app.keys("t j j w");
    assert!(
        app.notices()
            .contains("the rule does not change these findings"),
        "{}",
        app.notices()
    );
    assert!(
        app.notices().contains("undoes"),
        "the rule can be undone: {}",
        app.notices()
    );
    assert_eq!(title(&app), "Banner");
    let mut app = self::app();
    app.keys("/ 'class:cookie' enter B t j j w");
    assert_eq!(title(&app), "summary", "{}", app.frame().join("\n"));
}

#[test]
fn prompt_over_20_findings_names_number_and_space_excludes_findings() {
    let mut app = reviewing();
    app.keys("f");
    assert!(
        app.prompt()
            .question
            .starts_with("Mark 25 findings as false positive: "),
        "{}",
        app.prompt().question
    );
    app.keys("space");
    assert_eq!(
        (review(&app).tab, app.model.overlay.modals.len()),
        (Tab::Where, 0)
    );
    app.keys("j space space k space");
    assert_eq!(
        review(&app).included().len(),
        24,
        "two excluded, one of them included again"
    );
    app.keys("f enter");
    assert_eq!(with(&app, Verdict::FalsePositive).len(), 24);
    assert_eq!(
        (title(&app).as_str(), outcome(&app).out),
        ("Weak cookie", 1)
    );
    assert!(
        app.frame()[0].contains("3 findings left, 1 excluded"),
        "{}",
        app.frame()[0]
    );
    app.keys("S");
    let screen = app.frame().join("\n");
    assert!(
        screen.contains("1 finding excluded; the query is:undecided finds them in the list"),
        "{screen}"
    );
}

#[test]
fn early_verdict_on_card_is_ignored_with_notice() {
    let mut app = reviewing();
    app.keys("J");
    for event in events("f f") {
        app.at += Duration::from_millis(100);
        app.send(Msg::Key(event));
    }
    assert_eq!(
        (title(&app).as_str(), with(&app, Verdict::FalsePositive)),
        ("Banner", vec![13, 14])
    );
    assert!(app.notices().contains("too soon"), "{}", app.notices());
}

#[test]
fn poll_annotates_cards_without_reordering() {
    let mut app = reviewing();
    let before = review(&app).cards.clone();
    let mut now: Vec<Finding> = sample_findings()
        .into_iter()
        .filter(|finding| finding.id.0 != 100)
        .collect();
    now.insert(0, of_class(1, 1, "worse", "Worse", Risk::Critical));
    now.extend([dump(200), dump(201)]);
    app.feed(Snapshot::Findings(table(now)));
    assert_eq!(title(&app), "Database dump");
    assert!(Arc::ptr_eq(&review(&app).cards, &before));
    assert_eq!((review(&app).facts.more, review(&app).facts.absent), (2, 1));
    app.keys("f enter");
    assert_eq!(
        with(&app, Verdict::FalsePositive).len(),
        24,
        "neither what came nor what went"
    );
}

#[test]
fn paused_review_resumes_after_restart() {
    let mut app = app();
    let mut effects = app.keys("B J f esc");
    assert!(
        app.model.reviewing().is_none()
            && !app.model.navigation.focus.zoomed
            && !app.model.navigation.focus.in_detail
    );
    app.keys("j j B");
    assert_eq!(title(&app), "Banner");

    let mut later = TestDashboard::new();
    later.feed(Snapshot::Findings(table(sample_findings())));
    let events = effects.iter().filter_map(|effect| match effect {
        Effect::Record(events) => Some(events.clone()),
        _ => None,
    });
    let events: Vec<Arc<Event>> = events.flatten().collect();
    later.send(Msg::Triage(crate::data::TriageNews::Events(events)));
    for effect in effects.drain(..) {
        if let Effect::Remember {
            key,
            workspace,
            value,
        } = effect
        {
            later
                .model
                .findings
                .triage
                .settings
                .insert((Shared::from(key), workspace), value);
        }
    }
    later.keys("3 B");
    assert_eq!(
        (title(&later).as_str(), outcome(&later).verdicts),
        ("Banner", vec![(Verdict::FalsePositive, 1, 2)])
    );
}

#[test]
fn finding_decided_during_pause_is_not_left() {
    let mut app = reviewing();
    assert_eq!(outcome(&app).left, 28);
    app.keys("esc b b G f B");
    let now = outcome(&app);
    assert_eq!((now.decided(), now.decided_outside, now.left), (0, 1, 27));
    app.keys("S");
    assert_eq!(outcome(&app).left, 27, "on the summary too");
}

#[test]
fn navigation_key_pauses_review() {
    let mut app = reviewing();
    app.keys("2");
    assert!(app.model.reviewing().is_none() && !app.model.navigation.focus.zoomed);
    assert_eq!(app.model.navigation.focus.pane, Pane::Targets);
    app.keys("3 B");
    assert_eq!(title(&app), "Database dump");
}

#[test]
fn undo_shows_card_of_decision() {
    let mut app = reviewing();
    app.keys("J f u");
    assert_eq!(title(&app), "Weak cookie");
    assert_eq!(
        (with(&app, Verdict::FalsePositive), outcome(&app).decided()),
        (vec![], 0)
    );
}

#[test]
fn review_belongs_to_its_workspace() {
    let stored = |app: &TestDashboard, of: &str| {
        app.model
            .findings
            .triage
            .settings
            .get(&("review".into(), of.into()))
            .cloned()
    };
    let mut app = reviewing();
    app.keys("J f");
    let cards = stored(&app, "Acme").unwrap();
    app.model.work_in(WorkspaceId(2));
    assert!(
        !app.model.navigation.focus.zoomed,
        "no card is on the screen any more"
    );
    app.feed(Snapshot::Findings(table([of_class(
        15,
        2,
        "banner",
        "Banner",
        Risk::Info,
    )])));
    app.keys("3 B");
    assert_eq!((title(&app).as_str(), review(&app).len()), ("Banner", 1));
    app.keys("c enter");
    assert_eq!(
        (stored(&app, "Acme"), stored(&app, "Lab")),
        (Some(cards), Some(String::new()))
    );
    app.model.work_in(WorkspaceId(1));
    app.feed(Snapshot::Findings(table(sample_findings())));
    app.keys("3 B");
    assert_eq!(
        (review(&app).len(), review(&app).progress.at),
        (3, 2),
        "it resumes at the same card"
    );
    assert!(
        app.notices().contains("review resumed, 3 cards"),
        "{}",
        app.notices()
    );
}

#[test]
fn resumed_review_names_shown_findings_that_it_does_not_have() {
    let mut app = reviewing();
    app.keys("esc");
    let later = of_class(99, 1, "later", "Later", Risk::High);
    app.feed(Snapshot::Findings(table(
        sample_findings().into_iter().chain([later]),
    )));
    app.keys("B");
    let notice =
        "review resumed, 3 cards · 1 shown finding not included · S, then enter ends this review";
    assert!(app.notices().contains(notice), "{}", app.notices());
    assert!(
        !app.notices().contains("review paused"),
        "{}",
        app.notices()
    );
    app.keys("esc");
    assert!(
        !app.notices().contains("review resumed"),
        "{}",
        app.notices()
    );
}

#[test]
fn decided_card_accepts_new_verdict() {
    let mut app = reviewing();
    app.keys("J f K c");
    assert_eq!(
        (with(&app, Verdict::Confirmed), title(&app).as_str()),
        (vec![13, 14], "Banner")
    );
    assert_eq!(outcome(&app).verdicts, [(Verdict::Confirmed, 1, 2)]);
}

#[test]
fn summary_undoes_all_decisions_after_prompt() {
    let mut app = reviewing();
    let before = app.model.findings.triage.assessments.clone();
    app.keys("f enter f c");
    assert_eq!(
        (title(&app).as_str(), outcome(&app).decided()),
        ("summary", 3)
    );
    assert!(!app.notices().contains("undoes"), "{}", app.notices());
    app.keys("u");
    assert!(
        app.prompt().question.contains("3 cards"),
        "{}",
        app.prompt().question
    );
    app.keys("y");
    assert_eq!(app.model.findings.triage.assessments, before);
    assert_eq!(outcome(&app).left, 28);
}

#[test]
fn enter_on_summary_ends_review() {
    let mut app = reviewing();
    app.keys("S enter");
    assert!(app.model.findings.review.is_none());
    app.keys("/ 'cookie' enter B");
    assert_eq!(review(&app).len(), 1);
}

#[test]
fn card_shows_common_evidence_and_previous_decision() {
    let mut app = TestDashboard::new();
    let evidence = |id: i64, text: &str| Finding {
        vuln_evidence: scandeck_wire::contract::Evidence::from_value(&text.into()),
        ..dump(id)
    };
    let answer = "HTTP/1.1 200 OK\nDate: Mon, 02 Nov 2026 10:00:00 GMT";
    app.feed(Snapshot::Findings(table([
        evidence(100, answer),
        evidence(101, &answer.replace("10:00", "11:00")),
        evidence(102, "HTTP/1.1 301 Moved"),
        evidence(103, &answer.replace("02 Nov", "03 Nov")),
    ])));
    app.keys("3 b c l j f h B");
    let facts = &review(&app).facts;
    let kinds: Vec<_> = facts
        .evidence
        .kinds
        .iter()
        .map(|kind| (kind.count, kind.line.as_str()))
        .collect();
    let without_decided = [(2, "HTTP/1.1 200 OK"), (1, "HTTP/1.1 301 Moved")];
    assert_eq!(
        kinds, without_decided,
        "the decided one is shown only until the list is filtered again"
    );
    assert_eq!(facts.evidence.kinds[1].own, ["HTTP/1.1 301 Moved"]);
    let before = facts.earlier.first().unwrap();
    assert_eq!((before.verdict, before.count), (Verdict::FalsePositive, 1));
}

#[test]
fn line_of_all_findings_is_shown_once() {
    let mut app = TestDashboard::new();
    let all = "HTTP/1.1 200 OK\nServer: nginx\na\nb\nc\nd\ne\nf\ng";
    let evidence = |id: i64, own: &str| Finding {
        vuln_evidence: scandeck_wire::contract::Evidence::from_value(
            &format!("{all}{own}").as_str().into(),
        ),
        ..dump(id)
    };
    let own = ["\nX-Cache: hit", "\nX-Cache: hit", "\nX-Cache: miss", ""];
    app.feed(Snapshot::Findings(table(
        (100..).zip(own).map(|(id, own)| evidence(id, own)),
    )));
    app.keys("3 b c B");
    let facts = &review(&app).facts;
    let kinds: Vec<_> = facts
        .evidence
        .kinds
        .iter()
        .map(|kind| (kind.line.as_str(), kind.own.len()))
        .collect();
    assert_eq!(
        kinds,
        [
            ("X-Cache: hit", 1),
            ("X-Cache: miss", 1),
            ("the same lines, but fewer", 0)
        ]
    );
    assert_eq!(
        facts.evidence.common.first().map(String::as_str),
        Some("HTTP/1.1 200 OK")
    );
}

#[test]
fn card_of_tables_names_columns_and_lists_findings() {
    let mut app = TestDashboard::new();
    let finding = |id: i64, service: &str| Finding {
        vuln_evidence: scandeck_wire::contract::Evidence::table(
            &["Port", "State", "Service"],
            [vec![id.to_string(), "open".into(), service.into()]],
        ),
        vuln_description: "A service listens.".into(),
        ..dump(id)
    };
    app.feed(Snapshot::Findings(table([
        finding(100, "ftp"),
        finding(101, "ssh"),
    ])));
    app.keys("3 b c B");
    let screen = app.frame().join("\n");
    for text in [
        "common    State: open",
        "Port: 100   Service: ftp",
        "Port: 101   Service: ssh",
        "Affected   2 findings",
        ":101   ",
    ] {
        assert!(screen.contains(text), "{text}\n{screen}");
    }
}

#[test]
fn previous_decision_excludes_decision_of_card() {
    let mut app = app();
    let before = |app: &TestDashboard| {
        review(app)
            .facts
            .earlier
            .first()
            .map(|before| (before.verdict, before.count))
    };
    app.keys("j l j c h B J");
    assert_eq!(
        (title(&app).as_str(), before(&app)),
        ("Weak cookie", Some((Verdict::Confirmed, 1)))
    );
    app.keys("f K");
    assert_eq!(
        (title(&app).as_str(), before(&app)),
        ("Weak cookie", Some((Verdict::Confirmed, 1)))
    );
    app.keys("w K");
    assert_eq!(
        before(&app),
        Some((Verdict::Confirmed, 1)),
        "not the first one made on this card either"
    );
    app.keys("u");
    assert_eq!(before(&app), Some((Verdict::Confirmed, 1)));
}

#[test]
fn notes_and_tags_on_card_apply_to_its_findings() {
    let mut app = reviewing();
    let shown = |app: &TestDashboard, id: i64| {
        let table = app.model.data.findings.value().unwrap();
        let issue = table
            .items()
            .iter()
            .find(|issue| issue.finding.id.0 == id)
            .unwrap()
            .clone();
        let assessment = app.model.assessment(issue.id).unwrap();
        (
            assessment.notes,
            assessment
                .tags
                .iter()
                .map(|tag| tag.to_string())
                .collect::<Vec<_>>(),
            assessment.severity,
        )
    };
    app.keys("J e 'asked the owner' ctrl-o T 'later' enter");
    for id in [13, 14] {
        assert_eq!(shown(&app, id), (1, vec!["later".to_owned()], None), "{id}");
    }
    assert_eq!(shown(&app, 15), (0, vec![], None), "not on the card");
    assert_eq!(
        title(&app),
        "Weak cookie",
        "a change without a verdict remains on the card"
    );
    app.keys("t s 'info' enter r 'deferred' enter a");
    let table = app.model.data.findings.value().unwrap().clone();
    for id in [13, 14] {
        let issue = table
            .items()
            .iter()
            .find(|issue| issue.finding.id.0 == id)
            .unwrap();
        let assessment = app.model.assessment(issue.id).unwrap();
        assert_eq!(
            (assessment.severity, assessment.reason),
            (
                Some(Risk::Info),
                Some(scandeck_domain::triage::Reason::Deferred)
            )
        );
    }
    assert_eq!(
        (with(&app, Verdict::RiskAccepted), title(&app).as_str()),
        (vec![13, 14], "Banner")
    );
    app.keys("u");
    assert_eq!(
        (with(&app, Verdict::RiskAccepted), title(&app).as_str()),
        (vec![], "Weak cookie")
    );
}

#[test]
fn excluded_findings_get_no_note() {
    let mut app = reviewing();
    app.keys("J l l space h h e 'one of two' ctrl-o");
    let noted = app
        .model
        .findings
        .triage
        .assessments
        .iter()
        .filter(|assessment| assessment.notes == 1)
        .count();
    assert_eq!(noted, 1);
}

const KEYS: &str = "c f a w x i o . J K B esc enter space h l j k S u U y 3 b < > G";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn review_decides_only_findings_of_shown_cards(
        script in proptest::collection::vec((any::<usize>(), 20u64..400), 1..80),
    ) {
        let keys: Vec<&str> = KEYS.split_whitespace().collect();
        let mut app = reviewing();
        for (at, wait) in script {
            let card = app.model.reviewing().and_then(Review::card).map(|card| card.ids.clone());
            let drawn_for = app.model.reviewing().is_some();
            app.at += Duration::from_millis(wait);
            let effects = app.send(Msg::Key(events(keys[at % keys.len()])[0]));
            if !drawn_for {
                continue;
            }
            for event in recorded(&effects) {
                if let (Subject::Finding(identity), Change::Decide(_)) = (&event.subject, &event.change) {
                    let id = IssueId::from(identity.key).0;
                    prop_assert!(card.as_ref().is_some_and(|ids| ids.contains(&id)), "{id} is not on {card:?}");
                }
            }
        }
    }

    #[test]
    fn undoing_all_restores_state(script in proptest::collection::vec(any::<usize>(), 1..40)) {
        let keys = ["c", "f", "a", "J", "K", "x", "l l space h", "o"];
        let mut app = reviewing();
        let before = app.model.findings.triage.assessments.clone();
        for at in script {
            if title(&app) != "summary" {
                app.keys(keys[at % keys.len()]);
                if matches!(app.model.overlay.modals.last(), Some(Modal::Prompt(_))) {
                    app.keys("enter");
                }
            }
        }
        app.keys("S u");
        if matches!(app.model.overlay.modals.last(), Some(Modal::Prompt(_))) {
            app.keys("y");
        }
        prop_assert_eq!(&app.model.findings.triage.assessments, &before);
    }
}

fn recorded(effects: &[Effect]) -> Vec<Arc<Event>> {
    let events = effects.iter().filter_map(|effect| match effect {
        Effect::Record(events) => Some(events.clone()),
        _ => None,
    });
    events.flatten().collect()
}

#[test]
fn narrow_header_counts_verdicts_by_their_keys() {
    let mut app = reviewing();
    app.keys("c enter a");
    let header = |app: &mut TestDashboard, columns| {
        app.model.screen.size = Size { columns, rows: 24 };
        app.frame()[0].clone()
    };
    assert!(
        header(&mut app, 120).contains("2 decided: 1 confirmed, 1 risk accepted   1 finding left")
    );
    let narrow = header(&mut app, 75);
    assert!(
        narrow.contains("2 decided: 1c 1a   1 finding left"),
        "{narrow}"
    );
}
