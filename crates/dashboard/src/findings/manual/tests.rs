//! Manual findings: written by hand, made from captured requests, changed, deleted and restored.

use crate::base::Pane;
use crate::forms::FieldId;
use crate::model::Modal;
use crate::testing::TestDashboard;
use scandeck_domain::triage::Verdict;

/// Names of the shown manual findings.
fn own(app: &TestDashboard) -> Vec<String> {
    let table = app.model.data.findings.value().unwrap();
    table
        .items()
        .iter()
        .filter(|issue| issue.manual().is_some())
        .map(|issue| issue.name.to_string())
        .collect()
}

#[test]
fn manual_finding_is_listed_and_edited_with_its_own_key() {
    let mut app = TestDashboard::new();
    app.keys("3 g g n 'Stored XSS in the guest book' ctrl-o");
    assert_eq!(
        own(&app),
        ["Stored XSS in the guest book"],
        "notices: {}",
        app.notices()
    );
    assert_eq!(
        app.model.risks_of(1.into()),
        Some([1, 1, 1, 0, 0]),
        "medium"
    );
    assert!(app.model.overlay.modals.is_empty());
    // It is selected as soon as it is listed, and belongs to the current target.
    let selected = app.model.lists.findings.selected.unwrap();
    let issue = app
        .model
        .data
        .findings
        .value()
        .unwrap()
        .get(selected)
        .cloned()
        .unwrap();
    assert!(issue.manual().is_some());
    assert_eq!(issue.target_name().as_deref(), Some("t1.acme.test"));
    app.keys("E ' (2)' ctrl-o");
    assert_eq!(own(&app), ["Stored XSS in the guest book (2)"]);
}

#[test]
fn new_on_manual_finding_creates_another_and_keeps_its_verdict() {
    let mut app = TestDashboard::new();
    app.keys("3 g g n 'First' ctrl-o f n");
    assert_eq!(
        (app.form().title.as_str(), app.form().text(FieldId::Name)),
        ("New manual finding", String::new())
    );
    app.keys("'Second' ctrl-o");
    let mut names = own(&app);
    names.sort();
    assert_eq!(names, ["First", "Second"], "notices: {}", app.notices());
    let verdict = |name: &str| {
        let table = app.model.data.findings.value().unwrap();
        let issue = table
            .items()
            .iter()
            .find(|issue| issue.name == *name)
            .unwrap();
        app.model.assessment(issue.id).unwrap().verdict
    };
    assert_eq!(
        (verdict("First"), verdict("Second")),
        (Verdict::FalsePositive, Verdict::Open)
    );
}

#[test]
fn edit_of_decided_finding_asks_for_its_verdict_and_keeps_draft() {
    let verdict_after = |answer: &str| {
        let mut app = TestDashboard::new();
        app.keys("3 g g n 'Mine' ctrl-o f");
        let issue = app
            .model
            .data
            .findings
            .value()
            .unwrap()
            .items()
            .iter()
            .find(|issue| issue.manual().is_some());
        let id = issue.unwrap().id;
        app.keys("E ' again' ctrl-o");
        let field = app.form().field(FieldId::Verdict).unwrap();
        assert_eq!(
            (field.shown, field.error.as_deref()),
            (true, Some("choose keep or reopen; it is false positive"))
        );
        assert_eq!(own(&app), ["Mine"], "nothing is saved without an answer");
        app.keys("esc E");
        assert_eq!(app.form().text(FieldId::Name), "Mine again", "the draft");
        app.keys(&format!("shift-tab shift-tab {answer} ctrl-o"));
        assert_eq!(own(&app), ["Mine again"], "notices: {}", app.notices());
        app.model.assessment(id).unwrap().verdict
    };
    assert_eq!(verdict_after("right"), Verdict::FalsePositive);
    assert_eq!(verdict_after("right right"), Verdict::Open);
}

#[test]
fn edit_of_service_finding_names_reason() {
    let mut app = TestDashboard::new();
    app.keys("3 g g E");
    assert!(app.model.overlay.modals.is_empty());
    assert!(
        app.notices()
            .contains("findings of the service cannot be edited"),
        "{}",
        app.notices()
    );
}

#[test]
fn manual_finding_needs_name_and_valid_port() {
    let mut app = TestDashboard::new();
    app.keys("3 g g n ctrl-o");
    assert!(
        app.form()
            .fields
            .iter()
            .any(|field| field.error.as_deref() == Some("name is required"))
    );
    app.keys("'x' tab tab tab '70000' ctrl-o");
    assert!(
        app.form()
            .fields
            .iter()
            .any(|field| field.error.as_deref() == Some("port is a number from 1 to 65535"))
    );
    assert!(own(&app).is_empty());
}

fn set(app: &mut TestDashboard, id: FieldId, text: &str) {
    let Some(Modal::Form(form)) = app.model.overlay.modals.last_mut() else {
        panic!("no form; notices: {}", app.notices())
    };
    form.field_mut(id).unwrap().set_text(text);
}

#[test]
fn manual_finding_has_recommendation_cwe_cvss_and_references() {
    let mut app = TestDashboard::new();
    app.keys("3 g g n 'Stored XSS' tab tab tab tab tab tab 'Encode the output.'");
    app.keys("tab 'seventy' tab '11' ctrl-o");
    let errors: Vec<_> = app
        .form()
        .fields
        .iter()
        .filter_map(|field| field.error.clone())
        .collect();
    assert_eq!(
        errors,
        [
            "CWE is a number, such as 918",
            "CVSS is a score from 0 to 10"
        ]
    );
    set(&mut app, FieldId::Cwe, "79");
    set(&mut app, FieldId::Cvss, "6.1");
    set(
        &mut app,
        FieldId::References,
        "https://a.example/\n\nhttps://b.example/\n",
    );
    app.keys("ctrl-o");
    let selected = app.model.lists.findings.selected.unwrap();
    let issue = app
        .model
        .data
        .findings
        .value()
        .unwrap()
        .get(selected)
        .cloned()
        .unwrap();
    assert_eq!((issue.cwe.as_str(), issue.cvssv3()), ("CWE-79", Some(6.1)));
    let texts = issue.held_texts().cloned().unwrap_or_default();
    assert_eq!(texts.recommendation.as_str(), "Encode the output.");
    assert_eq!(
        texts.references.join(" "),
        "https://a.example/ https://b.example/"
    );
    app.keys("E");
    let text = |id| app.form().text(id);
    assert_eq!(
        (text(FieldId::Cwe), text(FieldId::Cvss)),
        ("CWE-79".to_owned(), "6.1".to_owned())
    );
}

#[test]
fn captures_become_evidence_of_new_or_existing_finding() {
    let mut app = TestDashboard::new();
    app.keys("5 k n 'Blind SSRF' tab tab 't1.acme.test' ctrl-o");
    let made = app
        .model
        .findings
        .triage
        .state
        .manual_findings()
        .next()
        .unwrap()
        .finding
        .clone();
    assert_eq!(made.captures.len(), 1);
    assert!(
        made.evidence.starts_with("GET /l/abc/x"),
        "{}",
        made.evidence
    );
    app.keys("5 * n right ctrl-o");
    let made = app
        .model
        .findings
        .triage
        .state
        .manual_findings()
        .next()
        .unwrap()
        .finding
        .clone();
    assert_eq!(
        (
            app.model.findings.triage.state.manual_findings().count(),
            made.captures.len(),
            made.name.as_str()
        ),
        (1, 4, "Blind SSRF")
    );
}

#[test]
fn finding_from_capture_has_target_of_payload_or_request() {
    use scandeck_wire::contract::Capture;
    let mut app = TestDashboard::new();
    let from = |ip: &str, header: &str| Capture {
        ip_address: ip.into(),
        http_headers: vec![header.into()],
        ..crate::testing::capture(10)
    };
    let target = |app: &mut TestDashboard, captured: Capture| {
        let id = app.model.data.captures.end() as i64;
        app.receive(
            1,
            vec![Capture {
                id: id.into(),
                ..captured
            }],
        );
        app.keys("5 G n");
        let target = app.form().text(FieldId::TargetName);
        app.keys("esc");
        target
    };
    assert_eq!(
        target(
            &mut app,
            from("203.0.113.9", "Referer: https://t3.acme.test/x")
        ),
        "t3.acme.test"
    );
    assert_eq!(
        target(
            &mut app,
            from("t4.acme.test", "Referer: https://t3.acme.test/x")
        ),
        "t4.acme.test"
    );
    assert_eq!(
        target(
            &mut app,
            from("203.0.113.9", "Referer: https://elsewhere.test/")
        ),
        ""
    );
    // Where it was planted counts more.
    app.keys("2 g g p");
    app.hit(99, Some(1));
    let planted = app.model.data.captures.rows.back_mut().unwrap();
    let named = from("t4.acme.test", "Host: x");
    planted.capture = std::sync::Arc::new(Capture {
        ip_address: named.ip_address,
        ..Capture::clone(&planted.capture)
    });
    app.keys("5 G n");
    assert_eq!(app.form().text(FieldId::TargetName), "t1.acme.test");
}

#[test]
fn manual_finding_is_deleted_after_yes_and_undo_restores_it() {
    let mut app = TestDashboard::new();
    app.keys("3 g g n 'Mine' ctrl-o D");
    assert_eq!(app.prompt().question, "Delete the manual finding \"Mine\"?");
    app.keys("y");
    assert!(own(&app).is_empty());
    app.keys("u");
    assert_eq!(own(&app), ["Mine"]);
    app.keys("g g D");
    assert!(
        app.model.overlay.modals.is_empty()
            && app.notices().contains("of the service cannot be deleted"),
        "{}",
        app.notices()
    );
}

#[test]
fn read_only_session_allows_manual_findings() {
    let mut app = TestDashboard::new();
    app.model.session.read_only = true;
    app.keys("3 n");
    assert_eq!(app.model.navigation.focus.pane, Pane::Findings);
    assert!(!app.form().fields.is_empty());
}

#[test]
fn local_report_contains_manual_findings() {
    use crate::base::Effect;
    let mut app = TestDashboard::new();
    app.keys("3 g g n 'Mine' ctrl-o");
    app.keys("3 * R left");
    assert!(
        app.form()
            .summary
            .iter()
            .any(|line| line.starts_with("Excludes 1 manual finding")),
        "{:?}",
        app.form().summary
    );
    let effects = app.keys("right ctrl-o");
    let made = effects.iter().find_map(|effect| {
        if let Effect::Export(made) = effect {
            Some(made)
        } else {
            None
        }
    });
    let made = made.unwrap_or_else(|| panic!("{effects:?}; notices: {}", app.notices()));
    assert!(made.rows.iter().any(|row| row.issue.manual().is_some()) && made.rows.len() == 7);
    assert!(made.name.ends_with(".html") && app.model.overlay.modals.is_empty());
}

#[test]
fn finding_from_captures_describes_payload_in_every_export() {
    use crate::base::Effect;
    use scandeck_domain::export::{Export, ExportFormat, write};
    let mut app = TestDashboard::new();
    app.keys("3 p e tab 'q' tab tab 'SSRF' ctrl-o");
    app.hit(9, Some(1));
    app.hit(10, Some(1));
    assert!(app.keys("5 G * n").is_empty());
    let form = app.form();
    let text = |id| form.text(id);
    assert_eq!(
        (text(FieldId::Name), text(FieldId::Risk)),
        ("SSRF through q".to_owned(), "high".to_owned())
    );
    assert_eq!(
        (text(FieldId::Class), text(FieldId::TargetName)),
        ("SSRF".to_owned(), "t1.acme.test".to_owned())
    );
    let description = text(FieldId::Text);
    assert!(
        description.contains("Payload aaaaaaaaaaab was planted in q · t1.acme.test"),
        "{description}"
    );
    assert_eq!(
        description.matches("GET from 203.0.113.9").count(),
        2,
        "{description}"
    );
    app.keys("ctrl-o");
    assert_eq!(own(&app), ["SSRF through q"], "notices: {}", app.notices());
    let captured = app.model.data.captures.rows.back().unwrap().capture.clone();
    assert_eq!(
        app.model.proven_by(&captured).map(|name| name.as_str()),
        Some("SSRF through q")
    );
    for format in [
        "csv",
        "markdown",
        "jsonl",
        "defectdojo",
        "sarif",
        "vex",
        "html",
        "json",
    ] {
        let effects = app.keys(&format!(": 'export {format} is:own' enter"));
        let made = effects.iter().find_map(|effect| {
            if let Effect::Export(made) = effect {
                Some(made)
            } else {
                None
            }
        });
        let made = made.unwrap_or_else(|| panic!("{format}: {}", app.notices()));
        let format = ExportFormat::named(format).unwrap();
        let export = Export {
            rows: &made.rows,
            title: &made.title,
            made: made.made,
            query: &made.query,
            mask: None,
            frame: None,
        };
        let written = String::from_utf8(write(format, &export).unwrap().bytes).unwrap();
        assert!(
            written.contains("SSRF through q") && written.contains("t1.acme.test"),
            "{format:?}: {written}"
        );
        assert!(
            written.contains("203.0.113.9") || written.contains("/l/abc/x"),
            "{format:?} has no proof: {written}"
        );
    }
}

#[test]
fn draft_of_other_captures_is_stored_but_not_opened() {
    let mut app = TestDashboard::new();
    app.keys("5 g g space j space n 'Two of them' esc");
    assert!(app.model.overlay.modals.is_empty());
    // Another capture: the form is empty, and a notice mentions the draft.
    app.keys("g g space j space G n");
    assert_eq!(app.model.lists.captures.marks().len(), 0);
    assert_eq!(app.form().text(FieldId::Name), "");
    assert_eq!(
        app.form()
            .text(FieldId::Evidence)
            .matches("GET /l/abc/x")
            .count(),
        1
    );
    assert!(
        app.notices()
            .contains("the draft of 2 other captured requests is saved"),
        "{}",
        app.notices()
    );
    app.keys("'Alone' tab tab 't1.acme.test' ctrl-o");
    let made = app
        .model
        .findings
        .triage
        .state
        .manual_findings()
        .next()
        .unwrap()
        .finding
        .clone();
    assert_eq!((made.name.as_str(), made.captures.len()), ("Alone", 1));
    // The same two again.
    app.keys("5 g g space j space n");
    assert_eq!(app.form().text(FieldId::Name), "Two of them");
    assert_eq!(
        app.form()
            .text(FieldId::Evidence)
            .matches("GET /l/abc/x")
            .count(),
        2
    );
}

#[test]
fn proof_text_lists_each_payload_once_with_its_requests() {
    let mut app = TestDashboard::new();
    app.keys("3 p e tab 'q' tab tab 'SSRF' ctrl-o p e tab 'callback' tab tab 'SSRF' ctrl-o");
    let tokens: Vec<String> = app
        .model
        .captures
        .oob
        .book
        .payloads()
        .map(|payload| payload.token.to_string())
        .collect();
    assert_eq!(tokens.len(), 2, "{}", app.notices());
    for (id, payload) in [(9, 1), (10, 2), (11, 1)] {
        app.hit(id, Some(payload));
    }
    app.keys("5 G * n");
    let text = app.form().text(FieldId::Text);
    for token in &tokens {
        assert_eq!(
            text.matches(&format!("Payload {token} was planted"))
                .count(),
            1,
            "{text}"
        );
    }
    assert!(
        text.contains("in q · t1.acme.test") && text.contains("in callback · t1.acme.test"),
        "{text}"
    );
    assert!(
        text.contains("\n2 requests:\nGET from 203.0.113.9"),
        "{text}"
    );
    assert!(text.contains("\nHit: GET from 203.0.113.9"), "{text}");
    assert_eq!(
        app.form().text(FieldId::Name),
        "SSRF through q and callback"
    );
    let evidence = app.form().text(FieldId::Evidence);
    assert!(
        evidence.contains("\n\nGET ") && !evidence.contains("\n\n\n"),
        "{evidence:?}"
    );
    app.keys("esc esc : 'payloads 1 keys.txt' enter");
    app.hit(30, Some(3));
    app.keys("5 : 'unmark' enter G n");
    assert_eq!(app.form().text(FieldId::Name), "Out-of-band request");
    app.keys("esc");
    // Of many requests, the first and the last are named.
    for id in 12..20 {
        app.hit(id, Some(2));
    }
    app.keys("esc esc * n");
    let text = app.form().text(FieldId::Text);
    assert!(
        text.contains("\n9 requests from 203.0.113.9:") && text.contains(", the last"),
        "{text}"
    );
}
