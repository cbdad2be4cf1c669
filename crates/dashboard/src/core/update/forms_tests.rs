//! Forms, from the first key to the response of the service.

use crate::base::{PollEvent, SavedExport};
use crate::core::update::Msg;
use crate::forms::{FieldId, FieldValue, LineNote};
use crate::prompts::{Prompt, Then};
use crate::testing::*;
use scandeck_wire::contract::MissingScanner;
use scandeck_wire::contract::node::{NodeList, PlaceState};

#[test]
fn created_workspace_closes_form() {
    let mut app = TestDashboard::new();
    let sent = app.calls("1 n 'Gate' tab 'Release' ctrl-o");
    match &sent[0].1 {
        Call::CreateWorkspace(new) => {
            assert_eq!(
                (new.name.as_str(), new.description.as_deref()),
                ("Gate", Some("Release"))
            );
        }
        other => panic!("{other:?}"),
    }
    app.answer(&sent, |_| Ok(CallAnswer::Created(3)));
    assert!(app.model.overlay.modals.is_empty() && app.model.overlay.drafts.is_empty());
}

#[test]
fn missing_name_is_reported_on_submit_and_nothing_is_sent() {
    let mut app = TestDashboard::new();
    app.keys("1 n");
    assert_eq!(app.form().field(FieldId::Name).unwrap().error, None);
    assert_eq!(app.keys("ctrl-o"), []);
    assert_eq!(
        app.form().field(FieldId::Name).unwrap().error.as_deref(),
        Some("name is required")
    );
    app.keys("'lab'");
    let error = app.form().field(FieldId::Name).unwrap().error.clone();
    assert_eq!(
        error.as_deref(),
        Some("a workspace with the same name already exists")
    );
}

#[test]
fn refused_field_shows_service_message_until_text_changes() {
    let mut app = TestDashboard::new();
    let sent = app.calls("5 h n 'probe2' ctrl-o");
    let refused = Problem {
        status: Some(422),
        message: "invalid label".into(),
        ..Problem::default()
    };
    app.answer(&sent, |_| Err(refused.clone()));
    let label = |app: &TestDashboard| app.form().field(FieldId::Label).unwrap().clone();
    assert_eq!(
        (label(&app).error.as_deref(), label(&app).text().as_str()),
        (Some("invalid label"), "probe2")
    );
    app.keys("'x'");
    assert_eq!(label(&app).error, None);
    app.keys("backspace");
    assert_eq!(
        label(&app).error.as_deref(),
        Some("invalid label"),
        "the refused text was typed again"
    );
}

#[test]
fn refusal_is_assigned_to_field_with_longest_matching_name() {
    for (words, field) in [
        ("resources: unknown ids 7, 9", Some(FieldId::Resources)),
        ("source must be scans or findings", Some(FieldId::Source)),
        (
            "webhook_url is no URL (no source of it)",
            Some(FieldId::Webhook),
        ),
        ("no such information", None),
    ] {
        let mut app = TestDashboard::new();
        let sent = app.calls("6 n left ctrl-o");
        assert_eq!(sent.len(), 1);
        let refused = Problem {
            status: Some(400),
            message: words.into(),
            ..Problem::default()
        };
        app.answer(&sent, |_| Err(refused.clone()));
        let at = app
            .form()
            .fields
            .iter()
            .find(|field| field.refused.is_some())
            .map(|field| field.id);
        assert_eq!(at, field, "{words}");
    }
}

#[test]
fn refused_api_key_is_stored_but_absent_from_debug_output() {
    let mut app = TestDashboard::blank(120, 40);
    app.model = app.model.with_setup(None);
    app.keys("h '127.0.0.1' tab 'k-123' ctrl-o");
    let wrong = Problem {
        status: Some(401),
        message: "the API key is not accepted".into(),
        ..Problem::default()
    };
    app.send(Msg::Connected(Err(wrong)));
    let key = app.form().field(FieldId::Key).unwrap();
    assert!(key.refused.is_some() && key.error.is_some());
    assert!(!format!("{:?}", app.model).contains("k-123"));
}

#[test]
fn first_start_with_pending_choice_ignores_second_choice() {
    let mut app = TestDashboard::blank(120, 40);
    app.model = app.model.with_setup(None);
    assert_eq!(app.keys("h '127.0.0.1' tab 'k' ctrl-o esc").len(), 1);
    assert_eq!(app.keys("d"), [], "the first choice is still pending");
    app.send(Msg::Connected(Err(Problem::local("refused"))));
    assert_eq!(app.keys("d").len(), 1);
}

#[test]
fn refusal_without_field_is_shown_above_form() {
    let mut app = TestDashboard::new();
    let sent = app.calls("1 n 'Gate' ctrl-o");
    let refused = Problem {
        status: Some(500),
        message: "internal error".into(),
        ..Problem::default()
    };
    app.answer(&sent, |_| Err(refused.clone()));
    assert_eq!(
        app.form().problem.as_ref().unwrap().message,
        "internal error"
    );
    assert!(!app.form().sending);
}

#[test]
fn invalid_logger_label_is_reported() {
    for (typed, word) in [
        ("a b", "a space is not allowed"),
        ("probe", "already exists"),
        ("x/y", "'/'"),
    ] {
        let mut app = TestDashboard::new();
        app.keys(&format!("5 h n '{typed}'"));
        let error = app
            .form()
            .field(FieldId::Label)
            .unwrap()
            .error
            .clone()
            .unwrap_or_default();
        assert!(error.contains(word), "{typed}: {error}");
    }
}

#[test]
fn esc_keeps_draft_and_n_restores_it() {
    let mut app = TestDashboard::new();
    app.keys("1 n 'Half' esc");
    assert!(app.model.overlay.modals.is_empty());
    assert!(app.notices().contains("draft kept"), "{}", app.notices());
    app.keys("n");
    assert_eq!(app.form().text(FieldId::Name), "Half");
    assert!(
        app.notices().contains("draft restored"),
        "{}",
        app.notices()
    );
}

#[test]
fn name_typed_into_restored_draft_is_a_line_of_its_own() {
    let mut app = TestDashboard::new();
    app.keys("2 n ctrl-u 'a.acme.test' esc n 'b.acme.test'");
    assert_eq!(app.form().text(FieldId::Names), "a.acme.test\nb.acme.test");
}

#[test]
fn sixty_pasted_lines_create_targets_four_at_a_time() {
    let mut app = TestDashboard::new();
    app.keys("2 n");
    let lines: Vec<String> = (1..=60).map(|n| format!("127.0.0.{n}")).collect();
    app.send(Msg::Paste(lines.join("\r\n")));
    assert_eq!(app.form().button, "Add 60 targets");
    let mut sent = app.calls("ctrl-o");
    let mut made = Vec::new();
    while !sent.is_empty() {
        assert!(sent.len() <= 4);
        for (_, call) in &sent {
            if let Call::CreateTarget(target) = call {
                assert_eq!(target.workspace_id, Some(WorkspaceId(1)));
                made.push(target.name.clone());
            }
        }
        sent = calls(app.answer(&sent, |_| Ok(CallAnswer::Created(1))));
    }
    assert_eq!(made, lines);
    assert!(app.model.overlay.modals.is_empty());
    assert!(
        app.notices().contains("60 targets added"),
        "{}",
        app.notices()
    );
}

#[test]
fn target_lines_are_validated_while_typing() {
    let mut app = TestDashboard::new();
    app.keys("2 n 'a.test' enter 'a.test' enter 'T1.acme.test' enter '10.0.0.0/8' enter enter '10.1.1.1'");
    let notes = &app.form().field(FieldId::Names).unwrap().notes;
    assert!(matches!(&notes[0], LineNote::Good(kind) if kind == "hostname"));
    assert!(matches!(&notes[1], LineNote::Bad(why) if why.contains("duplicate")));
    assert!(matches!(&notes[2], LineNote::Bad(why) if why.contains("already exists")));
    assert!(matches!(&notes[3], LineNote::Bad(why) if why.contains("one address")));
    assert_eq!(notes[4], LineNote::Empty);
    assert!(matches!(&notes[5], LineNote::Good(kind) if kind == "ip address"));
    assert_eq!(app.form().button, "Add 2 targets");
}

#[test]
fn refused_lines_remain_with_reason_and_others_are_created() {
    let mut app = TestDashboard::new();
    let sent = app.calls(
        "2 n 'a.test' enter 'b.test' enter 'c.test' enter 'a.test' enter 'not a name' ctrl-o",
    );
    assert_eq!(sent.len(), 3);
    app.answer(&sent, |call| match call {
        Call::CreateTarget(target) if target.name == "b.test" => Err(Problem {
            status: Some(403),
            message: "target is blacklisted".into(),
            ..Problem::default()
        }),
        _ => Ok(CallAnswer::Created(1)),
    });
    let names = app.form().field(FieldId::Names).unwrap();
    assert_eq!(
        names.text(),
        "b.test\nnot a name",
        "the duplicate of an added line is no target to add"
    );
    assert_eq!(app.form().button, "Add 1 target");
    assert_eq!(
        names.notes[0],
        LineNote::Refused("target is blacklisted".into())
    );
    let sent = app.calls("ctrl-o");
    assert_eq!(sent.len(), 1, "a refused line can be sent again");
}

#[test]
fn open_scan_form_refuses_tool_whose_scanner_is_missing() {
    let mut app = TestDashboard::new();
    app.keys("2 s");
    app.keys("tab");
    app.keys("space space space");
    let error = |app: &TestDashboard| app.form().field(FieldId::Tool).unwrap().error.clone();
    assert_eq!(
        (
            app.form().field(FieldId::Tool).unwrap().text().as_str(),
            error(&app)
        ),
        ("Network Scanner (350)", None)
    );
    app.feed(PollEvent::MissingScanners(
        MissingScanner::parse_list("350=nmap").into(),
    ));
    assert!(error(&app).is_some_and(|why| why.starts_with("nmap is missing")));
    assert_eq!(app.calls("ctrl-o"), []);
    app.feed(PollEvent::MissingScanners([].into()));
    assert_eq!((error(&app), app.calls("ctrl-o").len()), (None, 1));
}

#[test]
fn scan_form_offers_the_places_that_arrive_while_it_is_open() {
    let mut app = TestDashboard::new();
    app.keys("2 s esc");
    assert!(!app.model.plan().nodes, "no form is open");
    app.keys("2 s");
    assert!(!app.model.plan().nodes, "another service has no nodes");
    app.keys("esc");
    app.learn_extensions();
    app.keys("2 s");
    assert!(app.model.plan().nodes);
    let office = PlaceState {
        name: "office".into(),
        vpn_profile_uuid: "u-1".into(),
        workers: 1,
    };
    app.feed(PollEvent::Nodes(Arc::new(NodeList {
        places: vec![office],
        ..NodeList::default()
    })));
    let mut fields = app.form().fields.iter();
    let place = fields.position(|field| field.id == FieldId::Vpn).unwrap();
    while app.form().at != place {
        app.keys("tab");
    }
    app.keys("space space");
    let chosen = app.form().field(FieldId::Vpn).unwrap().text();
    assert_eq!(chosen, "office: 1 worker connected");
    app.model.screen.size = Size {
        columns: 40,
        rows: 40,
    };
    let frame = app.frame().join("\n");
    assert!(frame.contains("office: 1 worker…"), "{frame}");
    let sent = app.calls("ctrl-o");
    let Call::StartScan(scan) = &sent[0].1 else {
        panic!("{sent:?}");
    };
    assert_eq!(scan.vpn_profile_uuid, Some(Some("u-1".to_owned())));
}

#[test]
fn scan_form_starts_scan_for_each_marked_target() {
    let mut app = TestDashboard::new();
    app.keys("2 * s");
    assert_eq!(app.form().button, "Start 5 scans");
    let mut sent = app.calls("ctrl-o");
    let mut started = 0;
    while !sent.is_empty() {
        started += sent.len();
        sent = calls(app.answer(&sent, |_| Ok(CallAnswer::Scan(Default::default()))));
    }
    assert_eq!(started, 5);
    assert_eq!(
        app.model.lists.targets.marks.len(),
        5,
        "marks remain until esc"
    );
    let sent = app.calls("3 space space R left ctrl-o");
    app.answer(&sent, |_| Ok(CallAnswer::Done));
    assert_eq!(
        app.model.lists.findings.marks.len(),
        2,
        "also after a report"
    );
}

#[test]
fn refused_scans_remain_in_form() {
    let mut app = TestDashboard::new();
    let sent = app.calls("2 space space s ctrl-o");
    app.answer(&sent, |call| match call {
        Call::StartScan(scan) if scan.target_id == Some(TargetId(2)) => Err(Problem {
            status: Some(403),
            message: "outside of what may be scanned".into(),
            ..Problem::default()
        }),
        _ => Ok(CallAnswer::Scan(Default::default())),
    });
    assert_eq!(app.form().button, "Start 1 scan");
    let error = app.form().field(FieldId::Targets).unwrap().error.clone();
    assert_eq!(error.as_deref(), Some("outside of what may be scanned"));
}

#[test]
fn new_scan_without_target_uses_typed_name() {
    let mut app = TestDashboard::blank(80, 24);
    let workspace = Workspace {
        id: WorkspaceId(1),
        name: "Acme".into(),
        ..Workspace::default()
    };
    app.feed(Snapshot::Workspaces(table([workspace])));
    app.keys("4 n");
    assert!(app.form().field(FieldId::TargetName).unwrap().shown);
    match &app.calls("tab '127.0.0.1' ctrl-o")[0].1 {
        Call::StartScan(scan) => assert_eq!(scan.target_name.as_deref(), Some("127.0.0.1")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn report_prefers_marked_findings() {
    let mut app = TestDashboard::new();
    match &app.calls("space space R left ctrl-o")[0].1 {
        Call::CreateReport(report) => assert_eq!(report.resources, [1, 2]),
        other => panic!("{other:?}"),
    }
    let mut app = TestDashboard::new();
    match &app.calls("6 n left ctrl-o")[0].1 {
        Call::CreateReport(report) => assert_eq!(report.resources.len(), 6),
        other => panic!("{other:?}"),
    }
}

#[test]
fn report_has_decisions_unless_the_service_is_chosen() {
    let mut app = TestDashboard::new();
    let effects = app.keys("space space R ctrl-o");
    let made = effects.iter().find_map(|effect| {
        if let Effect::Export(made) = effect {
            Some(made.rows.len())
        } else {
            None
        }
    });
    assert_eq!(made, Some(2), "{effects:?}");
    app.keys("4 R");
    assert!(
        !app.form().field(FieldId::MadeBy).unwrap().shown,
        "scandeck reports findings only"
    );
}

#[test]
fn refusal_of_a_report_is_about_its_format_if_it_names_the_format() {
    for (status, message, is_about_format) in [
        (422, "DOCX is not licensed for this account", true),
        (400, "Report type not supported", true),
        (422, "group_by is required", false),
        (403, "docx needs another role", false),
    ] {
        let mut app = TestDashboard::new();
        let sent = app.calls("space R left tab tab tab right right right right ctrl-o");
        app.answer(&sent, |_| {
            Err(Problem {
                status: Some(status),
                ..Problem::local(message)
            })
        });
        assert_eq!(
            app.form().subject.refused_formats.contains_key("docx"),
            is_about_format,
            "{message}"
        );
    }
}

/// The chosen format, and whether the screen shows why others are not available.
fn format_and_reason(app: &mut TestDashboard, reason: &str) -> (String, bool) {
    let format = app.form().field(FieldId::Format).unwrap().text();
    (format, app.frame().join("\n").contains(reason))
}

#[test]
fn format_that_the_service_refused_is_not_offered_again() {
    let mut app = TestDashboard::new();
    let sent = app.calls("space R left ctrl-o");
    let refusal = || Problem {
        status: Some(400),
        ..Problem::local("your plan has no html reports")
    };
    app.answer(&sent, |_| Err(refusal()));
    let reason = "html not available: your plan has no html reports";
    assert_eq!(
        format_and_reason(&mut app, reason),
        ("pdf".to_owned(), true)
    );
    app.keys("esc 3 R");
    assert_eq!(
        format_and_reason(&mut app, reason),
        ("pdf".to_owned(), true),
        "in the next form"
    );
    app.keys("tab tab tab right");
    assert_eq!(
        format_and_reason(&mut app, reason),
        ("json".to_owned(), true),
        "keys skip the format"
    );
    app.keys("left");
    assert_eq!(
        format_and_reason(&mut app, reason),
        ("pdf".to_owned(), true)
    );
    assert_eq!(app.calls("ctrl-o").len(), 1);
}

#[test]
fn refusal_with_a_list_of_formats_disables_the_others() {
    for (message, chosen) in [
        ("format: must be one of json, csv", "json"),
        ("format: html is not allowed", "pdf"),
        ("format: not allowed: html, docx", "pdf"),
    ] {
        let mut app = TestDashboard::new();
        let sent = app.calls("space R left ctrl-o");
        app.answer(&sent, |_| {
            Err(Problem {
                status: Some(400),
                ..Problem::local(message)
            })
        });
        assert_eq!(
            app.form().field(FieldId::Format).unwrap().text(),
            chosen,
            "{message}"
        );
    }
}

#[test]
fn formats_that_the_document_does_not_list_are_disabled_in_the_form() {
    let reason = "html, csv, xlsx, docx not available: not in the OpenAPI document of";
    let mut app = TestDashboard::new();
    assert!(app.keys("R").contains(&Effect::ReadReportFormats));
    app.keys("left");
    assert_eq!(
        format_and_reason(&mut app, reason),
        ("html".to_owned(), false)
    );
    app.send(Msg::ReportFormats(
        ["pdf", "json", "odt"].map(str::to_owned).into(),
    ));
    assert_eq!(
        format_and_reason(&mut app, reason),
        ("pdf".to_owned(), true)
    );
    app.keys("right");
    assert_eq!(
        format_and_reason(&mut app, reason),
        ("pdf".to_owned(), false),
        "scandeck writes all formats"
    );
    assert!(
        !app.keys("esc R").contains(&Effect::ReadReportFormats),
        "once is enough"
    );
    app.send(Msg::ReportFormats(["odt"].map(str::to_owned).into()));
    app.keys("left");
    assert!(app.calls("ctrl-o").is_empty());
    let error = app
        .form()
        .field(FieldId::Format)
        .unwrap()
        .error
        .clone()
        .unwrap();
    assert_eq!(error, "the service has no format for reports");
}

#[test]
fn enter_moves_through_fields_and_submits_on_button() {
    let mut app = TestDashboard::new();
    app.keys("1 n 'Gate' enter enter");
    assert!(app.form().focused().is_none());
    assert_eq!(app.calls("enter").len(), 1);
}

#[test]
fn external_editor_replaces_field_text() {
    let mut app = TestDashboard::new();
    assert_eq!(
        app.keys("2 n 'a.test' ctrl-x"),
        [Effect::Edit("a.test".into())]
    );
    app.send(Msg::Edited(Ok("a.test\nb.test\n".into())));
    assert_eq!(app.form().button, "Add 2 targets");
}

#[test]
fn letters_typed_in_form_are_text() {
    let mut app = TestDashboard::new();
    app.keys("1 n 'qDy?:123gz-' tab 'SRn'");
    assert_eq!(app.form().text(FieldId::Name), "qDy?:123gz-");
    assert_eq!(app.form().text(FieldId::Description), "SRn");
}

#[test]
fn invalid_target_line_has_its_whole_reason_below_the_form() {
    let mut app = TestDashboard::new();
    app.keys("2 n");
    app.send(Msg::Paste("foo bar\n10.0.0.0/24".to_owned()));
    let reason = "`foo bar`: not a host name, IP address or URL";
    assert_eq!(
        app.form().summary,
        ["2 lines skipped: 2 invalid targets", reason]
    );
    app.send(Msg::Paste(
        "\na.test\na.test\nb.test\nb.test\nt1.acme.test".to_owned(),
    ));
    let counts = "5 lines skipped: 2 duplicates, 1 existing target, 2 invalid targets";
    assert_eq!(app.form().summary, [counts, reason]);
}

#[test]
fn refused_targets_are_added_to_the_scope_of_the_local_service_and_sent_again() {
    let out_of_scope = |call: &Call| match call {
        Call::CreateTarget(target) => {
            let why = format!(
                "{0} is out of scope; `scandeck scope add {0} --data-dir DIR` permits it (allowed: loopback)",
                target.name
            );
            Err(Problem {
                status: Some(403),
                ..Problem::local(why)
            })
        }
        _ => Ok(CallAnswer::Done),
    };
    let refused_after = |is_local, keys: &str| {
        let mut app = TestDashboard::new();
        app.model.session.starts_service = is_local;
        app.keys("2 n");
        app.send(Msg::Paste("a.acme.test\nb.acme.test".to_owned()));
        let mut sent = app.calls("ctrl-o");
        app.keys(keys);
        while !sent.is_empty() {
            sent = calls(app.answer(&sent, out_of_scope));
        }
        app
    };
    let refused = |is_local| refused_after(is_local, "");
    let mut app = refused(true);
    assert_eq!(app.prompt().question, "Add 2 targets to the scope file?");
    assert_eq!(
        app.prompt().lines[0],
        "Scan only systems for which you have permission.",
        "above the names, which can be cut"
    );
    assert!(app.prompt().lines[1].contains("a.acme.test, b.acme.test"));
    assert!(app.keys("'3' enter").is_empty());
    let screen = app.frame().join("\n");
    assert!(
        screen.contains("3 is not the number of targets: type 2"),
        "{screen}"
    );
    let effects = app.keys("backspace '2' enter");
    let names = ["a.acme.test", "b.acme.test"].map(str::to_owned).to_vec();
    assert!(effects.contains(&Effect::AddToScope(names)), "{effects:?}");
    assert_eq!(
        calls(app.send(Msg::ScopeExtended(Ok(2)))).len(),
        2,
        "the targets are sent again"
    );

    let mut closed = refused_after(true, "esc");
    closed.keys("'2' enter");
    assert_eq!(
        calls(closed.send(Msg::ScopeExtended(Ok(2)))).len(),
        2,
        "also those of a form that was closed"
    );
    assert!(closed.form().sending);

    let mut app = refused(false);
    assert_eq!(app.form().summary, ["2 targets not added: out of scope"]);
    app.model.screen.size = Size {
        columns: 80,
        rows: 24,
    };
    let screen = app.frame();
    let lines = |words: &str| screen.iter().filter(|line| line.contains(words)).count();
    assert_eq!(
        (lines("not added"), lines("scandeck scope add")),
        (1, 0),
        "{screen:#?}"
    );
    assert_eq!(
        lines("out of scope"),
        3,
        "beside each line and in the sum: {screen:#?}"
    );

    let closed = refused_after(false, "esc");
    assert!(
        closed
            .notices()
            .contains("2 targets not added: out of scope"),
        "{}",
        closed.notices()
    );
    assert!(
        !closed.notices().contains("scandeck scope add"),
        "{}",
        closed.notices()
    );
}

#[test]
fn form_that_is_reopened_while_it_is_sent_waits_for_its_answer() {
    let mut app = TestDashboard::new();
    app.keys("2 n");
    app.send(Msg::Paste("a.acme.test".to_owned()));
    let sent = app.calls("ctrl-o");
    assert_eq!(sent.len(), 1);
    app.keys("esc n");
    assert!(app.calls("ctrl-o").is_empty(), "it is being sent");
    app.answer(&sent, refused_target);
    assert_eq!(app.form().summary, ["1 target not added: out of scope"]);
    assert_eq!(app.calls("ctrl-o").len(), 1, "it can be sent again");

    // The form of another row does not wait for that answer.
    let mut other = TestDashboard::new();
    other.keys("2 s");
    let first = other.calls("ctrl-o");
    assert!(!first.is_empty());
    assert!(
        other.calls("esc s ctrl-o").is_empty(),
        "an untouched form waits too"
    );
    other.keys("esc down s");
    assert!(!other.form().sending);
    let second = other.calls("ctrl-o");
    assert_ne!(first, second);
    other.answer(&first, |_| Err(Problem::local("no credits")));
    assert!(
        other.form().sending && other.form().problem.is_none(),
        "the answer is that of the other form"
    );
    other.answer(&second, |_| Err(Problem::local("no credits")));
    assert!(!other.form().sending && other.form().problem.is_some());
}

#[test]
fn draft_of_a_form_that_was_closed_while_it_was_sent_keeps_the_reasons() {
    let mut app = TestDashboard::new();
    app.keys("2 n");
    app.send(Msg::Paste("a.acme.test".to_owned()));
    let sent = app.calls("ctrl-o");
    app.keys("esc");
    app.answer(&sent, refused_target);
    app.keys("n");
    assert_eq!(app.form().summary, ["1 target not added: out of scope"]);
    assert!(!app.form().sending);
}

fn refused_target(_: &Call) -> Result<CallAnswer, Problem> {
    Err(Problem {
        status: Some(403),
        ..Problem::local("a.acme.test is out of scope")
    })
}

#[test]
fn prompt_that_is_too_high_counts_its_pages_above_its_answer() {
    let mut app = TestDashboard::blank(80, 24);
    let names: Vec<String> = (0..200).map(|at| format!("host{at}.acme.test")).collect();
    let prompt = Prompt::new("Add 200 targets?", Then::Quit).with_line(names.join(", "));
    app.model
        .open_prompt(prompt.with_word("200".to_owned(), "the number of targets"));
    let screen = app.frame();
    let more = screen
        .iter()
        .position(|line| line.contains("page 1 of "))
        .expect("pages are counted");
    assert!(
        screen[more + 1].contains("To confirm, type the number of targets: 200"),
        "{screen:#?}"
    );
    assert!(
        screen[more].contains("pgdn") && !screen.concat().contains("host199"),
        "{screen:#?}"
    );
    let mut last = false;
    for _ in 0..10 {
        app.keys("pgdn");
        last |= app.frame().concat().contains("host199.acme.test");
    }
    assert!(last, "each name can be read before the number is typed");
}

/// The fields of the report form that decide its content: author, and the findings or scans.
fn report_content(app: &TestDashboard) -> [String; 3] {
    [FieldId::MadeBy, FieldId::Source, FieldId::Resources]
        .map(|id| app.form().field(id).unwrap().text())
}

#[test]
fn report_of_an_empty_filtered_list_covers_all_findings_with_decisions() {
    let mut app = TestDashboard::new();
    app.keys("3 * c 4 3");
    assert!(app.shown(Pane::Findings).is_empty());
    app.keys("*");
    assert!(
        app.notices()
            .contains("nothing to mark: the filter hides all rows · backspace undoes it"),
        "{}",
        app.notices()
    );
    app.keys("R");
    assert_eq!(
        report_content(&app),
        ["scandeck, with decisions", "findings", "without filter (6)"]
    );
    let effects = app.keys("ctrl-o");
    assert!(
        effects
            .iter()
            .any(|effect| matches!(effect, Effect::Export(made) if made.rows.len() == 6)),
        "{effects:?}"
    );
    app.keys("2 g g enter R");
    assert_eq!(
        report_content(&app)[2],
        "without filter (2)",
        "only those of the scope"
    );
}

#[test]
fn mark_all_in_a_list_without_rows_says_so() {
    let mut app = TestDashboard::blank(80, 24);
    app.keys("3 *");
    assert!(
        app.notices()
            .contains("nothing to mark: the list has no rows"),
        "{}",
        app.notices()
    );
}

#[test]
fn draft_of_a_report_is_used_only_for_the_same_rows() {
    let mut app = TestDashboard::new();
    app.keys("3 R left esc");
    assert!(
        app.notices().contains("draft kept for these rows"),
        "{}",
        app.notices()
    );
    app.keys("j R");
    assert_eq!(report_content(&app)[0], "scandeck, with decisions");
    app.keys("esc k R");
    assert_eq!(report_content(&app)[0], "the service");
}

#[test]
fn draft_restores_only_changed_fields() {
    let mut app = TestDashboard::new();
    app.keys("3 R tab tab tab right esc");
    let set = |app: &mut TestDashboard| {
        let form = app.model.overlay.drafts.values_mut().next().unwrap();
        form.field_mut(FieldId::MadeBy).unwrap().value = FieldValue::Choice {
            options: vec!["the service".into()],
            at: 0,
        };
    };
    set(&mut app);
    app.keys("R");
    assert_eq!(
        report_content(&app)[0],
        "scandeck, with decisions",
        "nobody changed the author"
    );
}

#[test]
fn report_made_in_the_pane_of_reports_says_that_it_is_not_listed() {
    let mut app = TestDashboard::new();
    let saved = || {
        Msg::Exported(Ok(SavedExport {
            path: "/tmp/report-Acme.html".into(),
            contents: "6 findings (2 excluded)".into(),
            is_masked: true,
        }))
    };
    app.keys("6 n ctrl-o");
    app.send(saved());
    assert!(
        app.notices().contains(
            "6 findings (2 excluded) saved to /tmp/report-Acme.html · masked · not listed here"
        ),
        "{}",
        app.notices()
    );
    app.feed(Snapshot::Reports(Default::default()));
    let screen = app.frame().join("\n");
    assert!(
        screen.contains("reports by scandeck are files in the current directory"),
        "{screen}"
    );
}

#[test]
fn pasted_base_url_replaces_the_scheme_and_another_choice_removes_the_notice() {
    for (typed, expected) in [
        ("https://127.0.0.1:1/api", "https://127.0.0.1:1/api"),
        ("http://127.0.0.1:1", "http://127.0.0.1:1"),
        ("127.0.0.1:1", "https://127.0.0.1:1"),
    ] {
        let mut app = TestDashboard::blank(120, 40);
        app.model = app.model.with_setup(None);
        app.keys("h");
        app.send(Msg::Paste(typed.into()));
        assert_eq!(app.form().text(FieldId::BaseUrl), expected);
        app.keys("esc");
        assert!(app.notices().contains("draft kept"), "{}", app.notices());
        app.keys("d");
        assert_eq!(app.notices(), "");
    }
}

#[test]
fn report_from_another_view_covers_decided_findings_too() {
    let mut app = TestDashboard::new();
    app.keys("3 / ctrl-u 'is:undecided' enter c j c r");
    let (all, left) = (
        app.model.data.findings.value().unwrap().len(),
        app.shown(Pane::Findings).len(),
    );
    assert!(left < all);
    app.keys("6 n");
    let frame = app.frame().join("\n");
    assert!(
        frame.contains(&format!("without filter ({all})")),
        "{frame}"
    );
    app.keys("esc 3 R");
    assert_eq!(
        report_content(&app)[2],
        format!("all shown ({left})"),
        "from the findings, those that are shown"
    );
}

#[test]
fn report_covers_marked_rows_else_the_typed_query_else_all() {
    let mut app = TestDashboard::new();
    let undecided = app.model.settings.tabs.at;
    app.model.open_tab(undecided);
    app.keys("3 c j c r");
    let (all, left) = (
        app.model.data.findings.value().unwrap().len(),
        app.shown(Pane::Findings).len(),
    );
    assert!(left < all);
    app.keys("R");
    assert_eq!(
        report_content(&app)[2],
        format!("without filter ({all})"),
        "nobody typed the query of the tab"
    );
    let summary = app.form().summary.concat();
    assert!(
        summary.contains(&format!("Contains {} confirmed, {left} open.", all - left)),
        "{summary}"
    );
    app.keys("esc / ctrl-u 'is:undecided' enter R");
    assert_eq!(report_content(&app)[2], format!("all shown ({left})"));
    app.keys("esc space R");
    assert_eq!(report_content(&app)[2], "marked (1)");
    app.keys("esc enter R");
    assert_eq!(report_content(&app)[2], "marked (1)", "in the detail, too");
}
