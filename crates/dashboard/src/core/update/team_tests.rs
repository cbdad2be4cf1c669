//! A team on the service: author, reports of what is on the screen, the question before decisions
//! are shared, and what colleagues do.

use crate::base::{FirstJoin, Link, TeamRequest};
use crate::core::Msg;
use crate::data::{TeamNews, TriageNews};
use crate::testing::*;
use scandeck_domain::triage::{Change, Decision, Event, FindingKey, Subject, Verdict};
use scandeck_wire::contract::Shared;
use scandeck_wire::contract::team::{Member, Purged, Viewer};
use scandeck_wire::sqlite::RefusedRows;

fn member(app: &mut TestDashboard, role: &str) {
    app.send(Msg::Team(TeamNews::Member(Member {
        name: "anna".into(),
        role: role.into(),
        service: "s".into(),
    })));
}

fn app() -> TestDashboard {
    let mut app = TestDashboard::new();
    member(&mut app, "triage");
    app.keys("3 g g");
    app
}

/// The key of a finding of the service.
fn key(app: &TestDashboard, id: i64) -> FindingKey {
    let table = app.model.data.findings.value().unwrap();
    let mut issues = table.items().iter();
    issues.find(|issue| issue.finding.id.0 == id).unwrap().key()
}

fn exchanged(app: &mut TestDashboard, viewers: &[(&str, i64)], unsent: usize, why: Option<&str>) {
    let viewers = viewers.iter().map(|&(who, id)| Viewer {
        who: who.into(),
        finding: (id > 0).then(|| key(app, id).to_string().as_str().into()),
        since: Some(stamp()),
    });
    let viewers = viewers.collect();
    app.send(Msg::Team(TeamNews::Exchanged {
        workspace: WorkspaceId(1),
        viewers,
        unsent,
        refused: Arc::default(),
        problem: why.map(|why| Arc::new(Problem::local(why))),
    }));
}

/// Bob changes findings; his events arrive.
fn bob_does(app: &mut TestDashboard, id: i64, number: u64, change: Change) {
    let table = app.model.data.findings.value().unwrap();
    let mut issues = table.items().iter();
    let issue = issues.find(|issue| issue.finding.id.0 == id).unwrap();
    let subject = Subject::Finding(issue.identity.clone());
    let mut bob = EventWriter {
        who: "bob".into(),
        instance: 9,
        number,
        workspace: "Acme".into(),
    };
    let (batch, clock) = (bob.next(), app.model.findings.triage.state.clock() + 1);
    let event: Event = bob.write((stamp(), clock), batch, Vec::new(), subject, change);
    app.send(Msg::Triage(TriageNews::Events(vec![Arc::new(event)])));
}

fn verdict(verdict: Verdict) -> Change {
    Change::Decide(Decision {
        verdict,
        ..Decision::default()
    })
}

fn looks(effects: &[Effect]) -> Vec<Option<FindingKey>> {
    let look = |effect: &Effect| match effect {
        Effect::Team(TeamRequest::Look { finding, .. }) => Some(*finding),
        _ => None,
    };
    effects.iter().filter_map(look).collect()
}

fn authors(effects: &[Effect]) -> Vec<Shared> {
    let events = effects.iter().filter_map(|effect| match effect {
        Effect::Record(events) => Some(events),
        _ => None,
    });
    events.flatten().map(|event| event.who.clone()).collect()
}

#[test]
fn member_is_author_of_new_decisions_also_after_the_store_is_opened_again() {
    let mut app = TestDashboard::new();
    app.keys("3 g g");
    assert_eq!(authors(&app.keys("c")), ["ann@test"]);
    member(&mut app, "triage");
    assert_eq!(authors(&app.keys("j f")), ["anna"]);
    let stored = crate::data::StoredDecisions {
        writer: Some(EventWriter {
            who: "ann@test".into(),
            instance: 2,
            ..EventWriter::default()
        }),
        ..Default::default()
    };
    app.send(Msg::Triage(TriageNews::Opened(Box::new(stored))));
    assert_eq!(authors(&app.keys("j j c")), ["anna"]);
}

#[test]
fn service_that_lost_its_team_restores_the_name_of_the_user() {
    let mut app = TestDashboard::new();
    member(&mut app, "triage");
    app.keys("3 g g");
    assert_eq!(authors(&app.keys("c")), ["anna"]);
    app.send(Msg::Team(TeamNews::Member(Member::default())));
    assert_eq!(authors(&app.keys("j f")), ["ann@test"]);
    assert!(!app.frame()[0].contains("team"), "{}", app.frame()[0]);
}

#[test]
fn key_of_role_read_takes_no_decisions() {
    let mut app = app();
    member(&mut app, "read");
    for keys in ["c", ": 'tag +x' enter esc", "u"] {
        assert_eq!(authors(&app.keys(keys)), [""; 0], "{keys}");
    }
    app.keys("c");
    let notices = app.notices();
    assert!(notices.contains("this key may only read"), "{notices}");
    // Decisions that stay on the machine concern no key.
    app.send(Msg::Team(TeamNews::Private(WorkspaceId(1))));
    assert_eq!(authors(&app.keys("c")), ["anna"]);
}

#[test]
fn finding_is_reported_after_a_second_and_workspace_at_once() {
    let mut app = TestDashboard::blank(200, 60);
    let workspace = Workspace {
        id: WorkspaceId(1),
        name: "Acme".into(),
        ..Workspace::default()
    };
    let effects = app.send(Msg::Update(Update {
        generation: app.model.connection.generation,
        at: stamp(),
        event: Snapshot::Workspaces(table([workspace])).into(),
    }));
    assert_eq!(looks(&effects), [None], "{effects:?}");
    let mut app = self::app();
    let (first, second) = (key(&app, 1), key(&app, 2));
    app.at += Duration::from_secs(2);
    assert_eq!(looks(&app.send(Msg::Wake)), [Some(first)]);
    assert_eq!(looks(&app.keys("j")), [], "not yet on the screen for long");
    let due = app.model.looks_at().unwrap();
    assert!(app.model.wake_at().unwrap() <= due);
    app.at = due;
    assert_eq!(looks(&app.send(Msg::Wake)), [Some(second)]);
    assert_eq!(looks(&app.send(Msg::Wake)), []);
    assert_eq!(looks(&app.keys("4")), [None], "another list");
}

#[test]
fn question_waits_for_open_layers_and_each_answer_is_sent_once() {
    let question = || FirstJoin {
        workspace: WorkspaceId(1),
        name: "Acme".into(),
        own: 12,
        others: 30,
        findings: 4,
        conflicts: 1,
        payloads: 2,
    };
    let ask = |app: &mut TestDashboard| {
        app.send(Msg::Team(TeamNews::Question(question())));
        app.at += Duration::from_secs(1);
    };
    let joins = |effects: Vec<Effect>| -> Vec<bool> {
        let join = |effect: &Effect| match effect {
            Effect::Team(TeamRequest::Join { is_shared, .. }) => Some(*is_shared),
            _ => None,
        };
        effects.iter().filter_map(join).collect()
    };
    let mut app = app();
    app.keys(":");
    ask(&mut app);
    assert!(matches!(
        app.model.overlay.modals.last(),
        Some(Modal::Command(_))
    ));
    app.keys("esc");
    let lines = app.prompt().lines.join(" ");
    assert!(lines.contains("12 decisions and 2 payloads"), "{lines}");
    assert!(
        lines.contains("30 decisions") && lines.contains("4 findings"),
        "{lines}"
    );
    app.at += Duration::from_secs(1);
    // Later: nothing is sent, and the header says so.
    assert_eq!(joins(app.keys("esc")), [false; 0]);
    assert!(app.frame()[0].contains("decisions not shared"));
    assert!(app.model.overlay.modals.is_empty(), "asked once");
    app.keys(": 'team join' enter");
    app.at += Duration::from_secs(1);
    assert_eq!(joins(app.keys("y")), [true]);
    assert!(app.frame()[0].contains("team · 1"), "{}", app.frame()[0]);
    ask(&mut app);
    assert_eq!(joins(app.keys("a")), [false]);
    assert!(app.frame()[0].contains("decisions not shared"));
    assert_eq!(joins(app.keys(": 'team join' enter")), [true]);
}

#[test]
fn header_counts_members_and_names_what_is_not_sent() {
    let mut app = app();
    exchanged(&mut app, &[("bob", 0), ("carla", 2)], 0, None);
    assert!(app.frame()[0].contains("team · 3"), "{}", app.frame()[0]);
    exchanged(&mut app, &[], 12, Some("key revoked"));
    for columns in [200, 80] {
        app.model.screen.size.columns = columns;
        let header = app.frame().swap_remove(0);
        assert!(header.contains("offline, 12 not sent"), "{header}");
    }
    app.model.screen.size.columns = 200;
    app.keys(": 'team' enter");
    let shown = app.frame().join("\n");
    assert!(shown.contains("key revoked"), "{shown}");
}

#[test]
fn exchange_resumes_when_the_service_responds_again() {
    let resumes = |app: &mut TestDashboard, link| {
        let update = Update {
            generation: app.model.connection.generation,
            at: stamp(),
            event: PollEvent::Link(link),
        };
        let resume = Effect::Team(TeamRequest::Resume);
        app.send(Msg::Update(update)).contains(&resume)
    };
    let live = || Link::Live { at: stamp() };
    let retrying = || Link::Retrying {
        attempt: 1,
        next: stamp(),
        problem: Arc::new(Problem::local("refused")),
    };
    let rejected = || Link::Down {
        problem: Arc::new(Problem::local("key revoked")),
    };
    let mut app = app();
    assert!(!resumes(&mut app, live()));
    for broken in [retrying(), rejected()] {
        assert!(!resumes(&mut app, broken));
        assert!(resumes(&mut app, live()));
        assert!(!resumes(&mut app, live()), "once");
    }
    let mut alone = TestDashboard::new();
    assert!(!resumes(&mut alone, retrying()) && !resumes(&mut alone, live()));
}

#[test]
fn refused_decisions_stay_in_header_and_team_and_can_be_sent_again() {
    let mut app = app();
    let retries = |effects: Vec<Effect>| {
        let is_retry = |effect: &&Effect| matches!(effect, Effect::Team(TeamRequest::Retry { .. }));
        effects.iter().filter(is_retry).count()
    };
    assert_eq!(retries(app.keys(": 'team retry' enter")), 0);
    app.keys("esc");
    let exchanged = |unsent, problem: Option<&str>| {
        let group = |reason: &str, rows| RefusedRows {
            reason: reason.to_owned(),
            rows,
        };
        Msg::Team(TeamNews::Exchanged {
            workspace: WorkspaceId(1),
            viewers: Arc::default(),
            unsent,
            refused: [group("the clock is too new", 2), group("junk", 1)].into(),
            problem: problem.map(|why| Arc::new(Problem::local(why))),
        })
    };
    app.send(exchanged(0, None));
    for columns in [200, 80] {
        app.model.screen.size.columns = columns;
        let header = app.frame().swap_remove(0);
        assert!(header.contains("team · 1, 3 refused"), "{header}");
    }
    app.send(exchanged(4, Some("no connection")));
    app.model.screen.size.columns = 200;
    let header = app.frame().swap_remove(0);
    assert!(
        header.contains("offline, 4 not sent, 3 refused"),
        "{header}"
    );
    app.keys(": 'team' enter");
    let shown = app.frame().join("\n");
    for part in [
        "2 decisions refused: the clock is too new",
        "1 decision refused: junk",
        ":team retry",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    app.keys("esc");
    assert_eq!(retries(app.keys(": 'team retry' enter")), 1);
}

#[test]
fn messages_and_answers_about_another_workspace_have_no_effect() {
    let mut app = app();
    let question = FirstJoin {
        workspace: WorkspaceId(1),
        name: "Acme".into(),
        own: 12,
        ..FirstJoin::default()
    };
    app.send(Msg::Team(TeamNews::Question(question.clone())));
    assert!(matches!(
        app.model.overlay.modals.last(),
        Some(Modal::Prompt(_))
    ));
    app.at += Duration::from_secs(1);
    app.keys("esc : 'workspace Lab' enter");
    let opened = app.model.overlay.modals.len();
    app.send(Msg::Team(TeamNews::Question(question.clone())));
    assert_eq!(
        app.model.overlay.modals.len(),
        opened,
        "of the workspace before"
    );
    exchanged(&mut app, &[("bob", 0)], 3, Some("no connection"));
    app.send(Msg::Team(TeamNews::Private(WorkspaceId(1))));
    let team = &app.model.connection.team;
    assert!(team.viewers.is_empty() && team.problem.is_none() && !team.is_private);
    let mut effects = Vec::new();
    let answer = TeamRequest::Join {
        workspace: WorkspaceId(1),
        is_shared: true,
    };
    app.model.join_team(answer, &mut effects);
    assert!(effects.is_empty(), "{effects:?}");
    assert!(
        app.notices().contains("another workspace is open"),
        "{}",
        app.notices()
    );
}

#[test]
fn open_question_is_closed_with_its_workspace() {
    let mut app = app();
    let question = FirstJoin {
        workspace: WorkspaceId(1),
        ..FirstJoin::default()
    };
    app.send(Msg::Team(TeamNews::Question(question)));
    assert!(matches!(
        app.model.overlay.modals.last(),
        Some(Modal::Prompt(_))
    ));
    app.model.navigation.scope.workspace = Some(WorkspaceId(2));
    app.send(Msg::Wake);
    assert!(app.model.overlay.modals.is_empty());
}

#[test]
fn another_workspace_forgets_the_state_of_the_one_before() {
    let mut app = app();
    exchanged(&mut app, &[("bob", 1)], 3, Some("no connection"));
    app.keys(": 'workspace Lab' enter");
    let team = &app.model.connection.team;
    assert!(team.viewers.is_empty() && team.unsent == 0 && team.problem.is_none());
    assert!(team.me.is_some());
}

#[test]
fn viewers_are_named_in_list_detail_and_review() {
    let mut app = app();
    exchanged(&mut app, &[("bob", 2)], 0, None);
    let frame = app.frame();
    let row = |frame: &[String], name: &str| -> String {
        let mut rows = frame.iter().filter(|line| line.contains(name));
        rows.next().unwrap().clone()
    };
    assert!(row(&frame, "Git repository").contains("bob"), "{frame:#?}");
    assert!(!row(&frame, "Private key").contains("bob"), "{frame:#?}");
    app.keys("j");
    let shown = app.frame().join("\n");
    assert!(shown.contains("bob is looking at this finding"), "{shown}");
    app.keys("B J");
    let shown = app.frame().join("\n");
    assert!(shown.contains("bob is looking at this finding"), "{shown}");
}

#[test]
fn many_viewers_are_counted() {
    let mut app = app();
    let names: Vec<String> = (1..=60).map(|number| format!("m{number:02}")).collect();
    let viewers: Vec<(&str, i64)> = names.iter().map(|name| (name.as_str(), 2)).collect();
    exchanged(&mut app, &viewers, 0, None);
    app.model.screen.size.columns = 200;
    app.keys("j");
    let shown = app.frame().join("\n");
    assert!(shown.contains("m01, m02, m03 and 57 more"), "{shown}");
    app.model.screen.size = Size {
        columns: 200,
        rows: 80,
    };
    app.keys(": 'team' enter");
    let shown = app.frame().join("\n");
    assert!(shown.contains("and 10 more"), "{shown}");
    assert!(!shown.contains("m51"), "{shown}");
}

#[test]
fn finding_in_review_names_another_member_only() {
    let mut app = app();
    bob_does(&mut app, 2, 1, verdict(Verdict::InReview));
    app.keys("i");
    let frame = app.frame().join("\n");
    assert!(frame.contains("review · bob"), "{frame}");
    assert!(!frame.contains("review · anna"), "{frame}");
    app.keys("g g B J");
    let card = app.frame().join("\n");
    assert!(card.contains("in review · bob"), "{card}");
}

#[test]
fn history_names_the_member_who_sent_the_event_of_another_author() {
    let mut app = app();
    bob_does(&mut app, 1, 1, verdict(Verdict::Confirmed));
    let event = app.model.findings.triage.state.history(key(&app, 1))[0].clone();
    let forged = Event {
        id: scandeck_domain::triage::EventId {
            number: 9,
            ..event.id
        },
        who: "anna".into(),
        sent_by: Some("bob".into()),
        ..(*event).clone()
    };
    app.send(Msg::Triage(TriageNews::Events(vec![Arc::new(forged)])));
    app.keys("enter");
    let mut tabs = (0..6).map(|_| {
        app.keys(">");
        app.frame().join("\n")
    });
    assert!(tabs.any(|shown| shown.contains("anna, sent by bob")));
}

#[test]
fn conflict_names_the_member_who_sent_the_decision_of_another_author() {
    let mut app = app();
    bob_does(&mut app, 1, 1, verdict(Verdict::Confirmed));
    let event = app.model.findings.triage.state.history(key(&app, 1))[0].clone();
    let other = Event {
        id: scandeck_domain::triage::EventId {
            number: 9,
            ..event.id
        },
        who: "kali@kali".into(),
        sent_by: Some("carla".into()),
        change: verdict(Verdict::FalsePositive),
        ..(*event).clone()
    };
    app.send(Msg::Triage(TriageNews::Events(vec![Arc::new(other)])));
    // The detail fills the screen.
    app.model.screen.size = Size {
        columns: 80,
        rows: 24,
    };
    app.keys("g g enter");
    let frame = app.frame();
    let words: Vec<&str> = frame.iter().flat_map(|it| it.split_whitespace()).collect();
    let shown = words.join(" ");
    let expected = "kali@kali (sent by carla) false positive";
    assert!(shown.contains(expected), "{shown}");
}

#[test]
fn verdicts_of_colleagues_move_no_row_in_list_groups_and_review() {
    for keys in ["", "b t", "b c"] {
        let mut app = app();
        app.keys(keys);
        app.keys("g g j");
        let rows = |app: &mut TestDashboard| {
            let frame = app.frame();
            let names = [
                "Private key",
                "Git repository",
                "Git ignored",
                "Cookie flags",
            ];
            let place = |name: &&str| frame.iter().position(|line| line.contains(*name));
            (
                names.iter().map(place).collect::<Vec<_>>(),
                app.selected(Pane::Findings),
            )
        };
        let before = rows(&mut app);
        for (number, id) in (1..=4).enumerate() {
            bob_does(&mut app, id, number as u64, verdict(Verdict::FalsePositive));
        }
        assert_eq!(rows(&mut app), before, "{keys}");
    }
    let mut app = app();
    app.keys("j B");
    let title = |app: &TestDashboard| {
        let review = app.model.reviewing().unwrap();
        (review.card().unwrap().title.clone(), review.len())
    };
    let before = title(&app);
    for id in 1..=4 {
        bob_does(&mut app, id, id as u64, verdict(Verdict::FalsePositive));
    }
    assert_eq!(title(&app), before);
    let card = app.frame().join("\n");
    assert!(card.contains("current: 1 false positive"), "{card}");
}

#[test]
fn mention_in_a_note_is_reported_once_and_listed() {
    let mut app = app();
    bob_does(&mut app, 1, 1, Change::Note("@annabel knows".into()));
    assert_eq!(app.notices(), "");
    bob_does(&mut app, 2, 2, Change::Note("please look, @Anna".into()));
    let notices = app.notices();
    assert!(
        notices.contains("bob mentions you on Git repository"),
        "{notices}"
    );
    app.keys(": 'team' enter");
    let shown = app.frame().join("\n");
    assert!(
        shown.contains("bob on Git repository: please look"),
        "{shown}"
    );
    app.keys("esc 8");
    let shown = app.frame().join("\n");
    for expected in [
        "1 note mentions you · :mentions shows the findings",
        "bob on Git repository: please look, @Anna",
        "/scans?page=1",
    ] {
        assert!(shown.contains(expected), "{shown}");
    }
    app.keys(": 'mentions' enter");
    assert_eq!(app.shown(Pane::Findings), [2]);
}

#[test]
fn mentions_of_a_name_with_a_dot_are_told_from_those_of_others() {
    for (name, found) in [("anna.k", [2]), ("anna", [1])] {
        let mut app = app();
        app.send(Msg::Team(TeamNews::Member(Member {
            name: name.into(),
            role: "triage".into(),
            service: "s".into(),
        })));
        bob_does(&mut app, 1, 1, Change::Note("ask @anna.".into()));
        bob_does(&mut app, 2, 2, Change::Note("ask @anna.k. Please".into()));
        bob_does(&mut app, 3, 3, Change::Note("ask @annaxk".into()));
        app.keys("esc : 'mentions' enter");
        assert_eq!(app.shown(Pane::Findings), found, "{name}");
    }
}

#[test]
fn assignee_of_absurd_length_is_refused_with_the_limit() {
    let mut app = app();
    let before = app.model.findings.triage.state.len();
    let name = "x".repeat(200);
    app.keys(&format!(": 'assign {name}' enter"));
    assert_eq!(app.model.findings.triage.state.len(), before);
    let shown = app.frame().join("\n");
    assert!(
        shown.contains("the name is longer than 100 characters"),
        "{shown}"
    );
}

#[test]
fn purge_by_a_colleague_is_named_until_another_workspace_is_open() {
    let mut app = app();
    let purged = Purged {
        who: "bob".into(),
        at: Some(stamp()),
        ..Purged::default()
    };
    app.send(Msg::Team(TeamNews::Purged {
        workspace: WorkspaceId(1),
        name: "Acme".into(),
        purged,
    }));
    app.at += Duration::from_secs(60);
    app.send(Msg::Wake);
    let notices = app.notices();
    let expected = "bob deleted the shared decisions of Acme at";
    assert!(notices.contains(expected), "{notices}");
    assert!(
        notices.ends_with("yours remain on this machine"),
        "{notices}"
    );
    assert!(app.frame()[0].contains("decisions deleted by bob"));
    app.keys("j");
    assert!(!app.notices().contains(expected), "seen");
    app.keys(": 'team' enter");
    assert!(app.frame().join("\n").contains(expected));
}

#[test]
fn purged_decisions_are_shared_again_only_after_a_question() {
    let mut app = app();
    let purged = Purged {
        who: "bob".into(),
        ..Purged::default()
    };
    app.send(Msg::Team(TeamNews::Purged {
        workspace: WorkspaceId(1),
        name: "Acme".into(),
        purged,
    }));
    let join = Effect::Team(TeamRequest::Join {
        workspace: WorkspaceId(1),
        is_shared: true,
    });
    assert!(!app.keys(": 'team join' enter").contains(&join));
    let shown = app.frame().join("\n");
    assert!(
        shown.contains("Share the decisions in Acme again?"),
        "{shown}"
    );
    app.at += Duration::from_secs(1);
    assert!(app.keys("y").contains(&join));
    let header = app.frame().swap_remove(0);
    assert!(
        header.contains("team · 1") && !header.contains("bob"),
        "{header}"
    );
}

#[test]
fn without_a_team_the_commands_say_why_and_nothing_is_shown() {
    let mut app = TestDashboard::new();
    app.send(Msg::Team(TeamNews::Member(Member::default())));
    app.keys("3 : 'team' enter");
    let shown = app.frame().join("\n");
    assert!(shown.contains("no team: the service has none"), "{shown}");
    app.keys("esc");
    assert!(!app.frame()[0].contains("team"), "{}", app.frame()[0]);
}
