//! A proof, from the key to the verdict.

use crate::base::{PlannedProof, Snapshot};
use crate::core::Msg;
use crate::testing::{
    Call, CallAnswer, Effect, Modal, Problem, Size, TestDashboard, Ticket, finding, table,
};
use scandeck_domain::proof::{FindingProof, ProofAnswer};
use scandeck_domain::triage::{Change, Decision, Verdict};
use scandeck_wire::contract::{Evidence, Finding, Risk, ScanId};

const EXPOSED: &str = "GET http://t1.acme.test/.git/HEAD";

/// One finding of the finished website scan 1 with this request in its evidence.
fn app(request: &str) -> TestDashboard {
    let mut app = TestDashboard::new();
    let row = [request, "200"].map(str::to_owned);
    app.feed(Snapshot::Findings(table([Finding {
        task_id: Some(ScanId(1)),
        vuln_evidence: Evidence::table(&["Request", "Status"], [Vec::from(row)]),
        ..finding(1, 1, "Git repository", Risk::High)
    }])));
    app.keys("3 home");
    app
}

/// The plan of the only call.
fn planned(sent: &[(Ticket, Call)]) -> PlannedProof {
    let [(_, Call::Prove(planned))] = sent else {
        panic!("{sent:?}")
    };
    (**planned).clone()
}

/// Confirms the prompt; the scope file then has no permission for the request.
fn refused(app: &mut TestDashboard) -> PlannedProof {
    let planned = planned(&sent(app));
    let problem = Problem::local("no scope entry with `active` covers t1.acme.test");
    app.send(Msg::ProofChecked(Box::new(planned.clone()), Err(problem)));
    planned
}

/// The answer of the target to the planned request.
fn answered(call: &Call, message: &str) -> Result<CallAnswer, Problem> {
    let Call::Prove(planned) = call else {
        panic!("{call:?}")
    };
    let answer = ProofAnswer::parse(message);
    let proof = FindingProof::new(&planned.request, &planned.expected, Ok(answer));
    Ok(CallAnswer::Proof(Box::new(proof)))
}

fn recorded(effects: &[Effect]) -> Vec<Change> {
    let events = effects.iter().filter_map(|effect| match effect {
        Effect::Record(events) => Some(events),
        _ => None,
    });
    events.flatten().map(|event| event.change.clone()).collect()
}

fn sent(app: &mut TestDashboard) -> Vec<(Ticket, Call)> {
    assert_eq!(app.calls("P"), [], "nothing is sent before the answer");
    app.calls("enter")
}

#[test]
fn prompt_shows_the_request_and_a_proof_offers_the_verdict() {
    let mut app = app(EXPOSED);
    app.keys("P");
    let lines = app.prompt().lines.clone();
    assert_eq!(lines[0], EXPOSED);
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("User-Agent: scandeck/")),
        "{lines:?}"
    );
    app.keys("esc");
    let sent = sent(&mut app);
    assert_eq!(sent.len(), 1);
    let effects = app.answer(&sent, |call| {
        answered(call, "HTTP/1.1 404 Not Found\n\nnone")
    });
    assert!(
        matches!(&recorded(&effects)[..], [Change::Proof(_)]),
        "{effects:?}"
    );
    let Some(Modal::Why(open)) = app.model.overlay.modals.last() else {
        panic!("{}", app.notices())
    };
    let lines: Vec<String> = open.lines.iter().map(|line| line.printed()).collect();
    for part in ["Proof     gone: ", "- 200", "+ 404", "x marks it as fixed"] {
        assert!(
            lines.iter().any(|line| line.contains(part)),
            "{part} {lines:#?}"
        );
    }
    let shown = app.frame().join("\n");
    assert!(shown.contains("x fixed"), "{shown}");
    let decided = recorded(&app.keys("x"));
    assert!(
        matches!(
            &decided[..],
            [Change::Decide(Decision {
                verdict: Verdict::Fixed,
                ..
            })]
        ),
        "{decided:?}"
    );
    assert!(app.model.overlay.modals.is_empty());
}

#[test]
fn answers_are_side_by_side_where_the_screen_is_wide() {
    for (columns, rows, is_wide) in [(200, 60, true), (80, 24, false)] {
        let mut app = app(EXPOSED);
        app.model.screen.size = Size { columns, rows };
        let sent = sent(&mut app);
        app.answer(&sent, |call| {
            answered(call, "HTTP/1.1 404 Not Found\nServer: nginx\n\n")
        });
        let frame = app.frame();
        let then = frame.iter().find(|line| line.contains("- 200"));
        let then = then.unwrap_or_else(|| panic!("{frame:#?}"));
        assert_eq!(then.contains("+ 404, nginx"), is_wide, "{then}");
        let now = frame.iter().filter(|line| line.contains("+ 404, nginx"));
        assert_eq!(now.count(), 1, "{frame:#?}");
    }
}

#[test]
fn explanation_has_the_key_of_the_proof() {
    let mut app = app(EXPOSED);
    app.keys("Y");
    let shown = app.frame().join("\n");
    assert!(
        shown.contains("P sends the request in the evidence again"),
        "{shown}"
    );
    app.keys("P");
    assert_eq!(app.prompt().lines[0], EXPOSED);
}

#[test]
fn last_proof_is_below_the_evidence() {
    let mut app = app(EXPOSED);
    app.model.screen.size = Size {
        columns: 80,
        rows: 60,
    };
    let sent = sent(&mut app);
    app.answer(&sent, |call| {
        answered(call, "HTTP/1.1 404 Not Found\nServer: nginx\n\nnone")
    });
    app.keys("esc enter ]");
    let frame = app.frame();
    for part in [
        "gone: the target answers 404",
        "SHA-256 ",
        EXPOSED,
        "status 404",
        "Server: nginx",
        "The body is not stored.",
    ] {
        assert!(
            frame.iter().any(|line| line.contains(part)),
            "{part} {frame:#?}"
        );
    }
}

#[test]
fn doubt_offers_no_verdict() {
    let mut app = app(EXPOSED);
    let sent = sent(&mut app);
    app.answer(&sent, |call| {
        answered(call, "HTTP/1.1 302 Found\nLocation: /login\n\n")
    });
    assert!(
        app.notices().contains("cannot tell: the target redirects"),
        "{}",
        app.notices()
    );
    assert_eq!(recorded(&app.keys("x")), []);
}

#[test]
fn request_that_writes_is_refused_with_the_key_of_its_command() {
    let mut app = app("DELETE http://t1.acme.test/a");
    assert_eq!(app.calls("P"), []);
    assert!(
        app.notices()
            .contains("only GET, HEAD and OPTIONS are sent")
            && app.notices().contains("copies a curl command"),
        "{}",
        app.notices()
    );
    assert!(app.model.overlay.modals.is_empty());
}

#[test]
fn both_answers_are_beside_each_other_on_a_wide_screen() {
    let mut app = app(EXPOSED);
    app.model.screen.size = Size {
        columns: 200,
        rows: 60,
    };
    let sent = sent(&mut app);
    let answer =
        "HTTP/1.1 404 x\nServer: nginx\nContent-Type: application/problem+json; charset=utf-8\n\n";
    app.answer(&sent, |call| answered(call, answer));
    let shown = app.frame();
    let now = "+ 404, nginx, application/problem+json; charset=utf-8";
    let is_beside = |line: &String| line.contains("- 200 ") && line.contains(now);
    assert!(shown.iter().any(is_beside), "{shown:#?}");
}

#[test]
fn scope_is_checked_with_the_flag_of_the_person_before_the_prompt() {
    let mut app = app("GET http://t1.acme.test/?q=%3Cb%3E");
    app.model.session.allow_active = true;
    app.keys("P");
    let lines = app.prompt().lines.clone();
    let names_entry = |line: &String| line.contains("a scope entry with `active`");
    assert!(lines.iter().any(names_entry), "{lines:?}");
    assert!(planned(&app.calls("enter")).allow_active);
}

#[test]
fn missing_permission_opens_no_prompt_and_neither_does_another_window() {
    let mut app = app(EXPOSED);
    let planned = refused(&mut app);
    let notices = app.notices();
    assert!(
        notices.contains("not sent: no scope entry with `active`")
            && notices.contains("copies a curl command"),
        "{notices}"
    );
    assert!(app.model.overlay.modals.is_empty());
    app.keys(":");
    app.send(Msg::ProofChecked(Box::new(planned), Ok(())));
    assert!(app.notices().contains("another window is open"));
    assert!(matches!(&app.model.overlay.modals[..], [Modal::Command(_)]));
}

#[test]
fn next_key_removes_the_refusal_of_the_last_one() {
    let mut app = app(EXPOSED);
    refused(&mut app);
    assert!(app.notices().contains("not sent: "), "{}", app.notices());
    app.keys("P");
    assert!(!app.notices().contains("not sent: "), "{}", app.notices());
}

#[test]
fn read_only_session_and_other_panes_send_nothing() {
    let mut elsewhere = app(EXPOSED);
    elsewhere.keys("2 : 'prove' enter");
    let mut reading = app(EXPOSED);
    reading.model.session.read_only = true;
    reading.keys("P");
    for app in [elsewhere, reading] {
        assert!(
            !matches!(app.model.overlay.modals.last(), Some(Modal::Prompt(_))),
            "{}",
            app.notices()
        );
    }
}

#[test]
fn refused_target_is_named_and_nothing_is_recorded() {
    let mut app = app(EXPOSED);
    let sent = sent(&mut app);
    let effects = app.answer(&sent, |_| {
        Err(Problem::local("t1.acme.test is out of scope"))
    });
    assert_eq!(recorded(&effects), []);
    assert!(app.notices().contains("out of scope"), "{}", app.notices());
}
