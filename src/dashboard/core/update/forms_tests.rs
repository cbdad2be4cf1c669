//! Forms from the first key to the answer.

use crate::dashboard::core::update::Msg;
use crate::dashboard::forms::{FieldId, LineNote};
use crate::dashboard::testing::*;

#[test]
fn a_workspace_is_made_and_the_form_closes() {
    let mut desk = Desk::new();
    let sent = desk.calls("1 n 'Gate' tab 'Release' ctrl-o");
    match &sent[0].1 {
        Call::CreateWorkspace(new) => {
            assert_eq!((new.name.as_str(), new.description.as_deref()), ("Gate", Some("Release")));
        }
        other => panic!("{other:?}"),
    }
    desk.answer(&sent, |_| Ok(CallAnswer::Created(3)));
    assert!(desk.model.overlay.modals.is_empty() && desk.model.overlay.drafts.is_empty());
}

#[test]
fn what_is_missing_is_said_when_sending_is_tried_and_nothing_is_sent() {
    let mut desk = Desk::new();
    desk.keys("1 n");
    assert_eq!(desk.form().field(FieldId::Name).unwrap().error, None);
    assert_eq!(desk.keys("ctrl-o"), []);
    assert_eq!(desk.form().field(FieldId::Name).unwrap().error.as_deref(), Some("name is required"));
    desk.keys("'lab'");
    let error = desk.form().field(FieldId::Name).unwrap().error.clone();
    assert_eq!(error.as_deref(), Some("a workspace with the same name already exists"));
}

#[test]
fn a_refusal_lands_on_its_field_in_the_words_of_the_service_until_the_text_is_another() {
    let mut desk = Desk::new();
    let sent = desk.calls("5 h n 'probe2' ctrl-o");
    let refused = Problem { status: Some(422), message: "invalid label".into(), ..Problem::default() };
    desk.answer(&sent, |_| Err(refused.clone()));
    let label = |desk: &Desk| desk.form().field(FieldId::Label).unwrap().clone();
    assert_eq!((label(&desk).error.as_deref(), label(&desk).text().as_str()), (Some("invalid label"), "probe2"));
    desk.keys("'x'");
    assert_eq!(label(&desk).error, None);
    desk.keys("backspace");
    assert_eq!(label(&desk).error.as_deref(), Some("invalid label"), "the same text was refused");
}

#[test]
fn a_refusal_lands_on_the_field_of_the_longest_whole_name() {
    for (words, field) in [
        ("resources: unknown ids 7, 9", Some(FieldId::Resources)),
        ("source must be scans or findings", Some(FieldId::Source)),
        ("webhook_url is no URL (no source of it)", Some(FieldId::Webhook)),
        ("no such information", None),
    ] {
        let mut desk = Desk::new();
        let sent = desk.calls("6 n ctrl-o");
        assert_eq!(sent.len(), 1);
        let refused = Problem { status: Some(400), message: words.into(), ..Problem::default() };
        desk.answer(&sent, |_| Err(refused.clone()));
        let at = desk.form().fields.iter().find(|field| field.refused.is_some()).map(|field| field.id);
        assert_eq!(at, field, "{words}");
    }
}

#[test]
fn a_refused_key_is_remembered_and_never_printed() {
    let mut desk = Desk::blank(120, 40);
    desk.model = desk.model.with_setup(None);
    desk.keys("h '127.0.0.1' tab 'k-123' ctrl-o");
    let wrong = Problem { status: Some(401), message: "the API key is not accepted".into(), ..Problem::default() };
    desk.send(Msg::Connected(Err(wrong)));
    let key = desk.form().field(FieldId::Key).unwrap();
    assert!(key.refused.is_some() && key.error.is_some());
    assert!(!format!("{:?}", desk.model).contains("k-123"));
}

#[test]
fn one_choice_of_the_first_start_at_a_time() {
    let mut desk = Desk::blank(120, 40);
    desk.model = desk.model.with_setup(None);
    assert_eq!(desk.keys("h '127.0.0.1' tab 'k' ctrl-o esc").len(), 1);
    assert_eq!(desk.keys("d"), [], "the first is still under way");
    desk.send(Msg::Connected(Err(Problem::local("refused"))));
    assert_eq!(desk.keys("d").len(), 1);
}

#[test]
fn a_refusal_about_no_field_stands_over_the_form() {
    let mut desk = Desk::new();
    let sent = desk.calls("1 n 'Gate' ctrl-o");
    let refused = Problem { status: Some(500), message: "internal error".into(), ..Problem::default() };
    desk.answer(&sent, |_| Err(refused.clone()));
    assert_eq!(desk.form().problem.as_ref().unwrap().message, "internal error");
    assert!(!desk.form().sending);
}

#[test]
fn the_label_of_a_logger_follows_its_rule() {
    for (typed, word) in [("a b", "' '"), ("probe", "already exists"), ("x/y", "'/'")] {
        let mut desk = Desk::new();
        desk.keys(&format!("5 h n '{typed}'"));
        let error = desk.form().field(FieldId::Label).unwrap().error.clone().unwrap_or_default();
        assert!(error.contains(word), "{typed}: {error}");
    }
}

#[test]
fn esc_keeps_the_draft_and_n_brings_it_back() {
    let mut desk = Desk::new();
    desk.keys("1 n 'Half' esc");
    assert!(desk.model.overlay.modals.is_empty());
    desk.keys("n");
    assert_eq!(desk.form().text(FieldId::Name), "Half");
}

#[test]
fn sixty_pasted_lines_are_sixty_targets_four_at_a_time() {
    let mut desk = Desk::new();
    desk.keys("2 n");
    let lines: Vec<String> = (1..=60).map(|n| format!("127.0.0.{n}")).collect();
    desk.send(Msg::Paste(lines.join("\r\n")));
    assert_eq!(desk.form().button, "Add 60 targets");
    let mut sent = desk.calls("ctrl-o");
    let mut made = Vec::new();
    while !sent.is_empty() {
        assert!(sent.len() <= 4);
        for (_, call) in &sent {
            if let Call::CreateTarget(target) = call {
                assert_eq!(target.workspace_id, Some(WorkspaceId(1)));
                made.push(target.name.clone());
            }
        }
        sent = calls(desk.answer(&sent, |_| Ok(CallAnswer::Created(1))));
    }
    assert_eq!(made, lines);
    assert!(desk.model.overlay.modals.is_empty());
    assert!(desk.notices().contains("60 targets added"), "{}", desk.notices());
}

#[test]
fn each_line_is_checked_as_it_is_typed() {
    let mut desk = Desk::new();
    desk.keys("2 n 'a.test' enter 'a.test' enter 'T1.acme.test' enter '10.0.0.0/8' enter enter '10.1.1.1'");
    let notes = &desk.form().field(FieldId::Names).unwrap().notes;
    assert!(matches!(&notes[0], LineNote::Good(kind) if kind == "hostname"));
    assert!(matches!(&notes[1], LineNote::Bad(why) if why.contains("duplicate")));
    assert!(matches!(&notes[2], LineNote::Bad(why) if why.contains("already exists")));
    assert!(matches!(&notes[3], LineNote::Bad(why) if why.contains("one address")));
    assert_eq!(notes[4], LineNote::Empty);
    assert!(matches!(&notes[5], LineNote::Good(kind) if kind == "ip address"));
    assert_eq!(desk.form().button, "Add 2 targets");
}

#[test]
fn refused_lines_stay_with_their_words_and_the_rest_goes_ahead() {
    let mut desk = Desk::new();
    let sent = desk.calls("2 n 'a.test' enter 'b.test' enter 'c.test' enter 'not a name' ctrl-o");
    assert_eq!(sent.len(), 3);
    desk.answer(&sent, |call| match call {
        Call::CreateTarget(target) if target.name == "b.test" => {
            Err(Problem { status: Some(403), message: "target is blacklisted".into(), ..Problem::default() })
        }
        _ => Ok(CallAnswer::Created(1)),
    });
    let names = desk.form().field(FieldId::Names).unwrap();
    assert_eq!(names.text(), "b.test\nnot a name");
    assert_eq!(names.notes[0], LineNote::Refused("target is blacklisted".into()));
    let sent = desk.calls("ctrl-o");
    assert_eq!(sent.len(), 1, "a refused line can be sent again");
}

#[test]
fn one_form_scans_every_marked_target() {
    let mut desk = Desk::new();
    desk.keys("2 * s");
    assert_eq!(desk.form().button, "Start 5 scans");
    let mut sent = desk.calls("ctrl-o");
    let mut started = 0;
    while !sent.is_empty() {
        started += sent.len();
        sent = calls(desk.answer(&sent, |_| Ok(CallAnswer::Scan(Default::default()))));
    }
    assert_eq!(started, 5);
    assert_eq!(desk.model.lists.targets.marks.len(), 0, "the marks were used");
}

#[test]
fn scans_that_were_refused_stay_in_the_form() {
    let mut desk = Desk::new();
    let sent = desk.calls("2 space space s ctrl-o");
    desk.answer(&sent, |call| match call {
        Call::StartScan(scan) if scan.target_id == Some(TargetId(2)) => {
            Err(Problem { status: Some(403), message: "outside of what may be scanned".into(), ..Problem::default() })
        }
        _ => Ok(CallAnswer::Scan(Default::default())),
    });
    assert_eq!(desk.form().button, "Start 1 scan");
    let error = desk.form().field(FieldId::Targets).unwrap().error.clone();
    assert_eq!(error.as_deref(), Some("outside of what may be scanned"));
}

#[test]
fn a_new_scan_without_a_target_takes_a_typed_name() {
    let mut desk = Desk::blank(80, 24);
    let workspace = Workspace { id: WorkspaceId(1), name: "Acme".into(), ..Workspace::default() };
    desk.feed(Snapshot::Workspaces(table([workspace])));
    desk.keys("4 n");
    assert!(desk.form().field(FieldId::TargetName).unwrap().shown);
    match &desk.calls("tab '127.0.0.1' ctrl-o")[0].1 {
        Call::StartScan(scan) => assert_eq!(scan.target_name.as_deref(), Some("127.0.0.1")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_report_is_about_the_marked_findings_first() {
    let mut desk = Desk::new();
    match &desk.calls("space space R ctrl-o")[0].1 {
        Call::CreateReport(report) => assert_eq!(report.resources, [1, 2]),
        other => panic!("{other:?}"),
    }
    let mut desk = Desk::new();
    match &desk.calls("6 n ctrl-o")[0].1 {
        Call::CreateReport(report) => assert_eq!(report.resources.len(), 6),
        other => panic!("{other:?}"),
    }
}

#[test]
fn enter_walks_the_fields_and_sends_on_the_button() {
    let mut desk = Desk::new();
    desk.keys("1 n 'Gate' enter enter");
    assert!(desk.form().focused().is_none());
    assert_eq!(desk.calls("enter").len(), 1);
}

#[test]
fn the_editor_gets_a_field_and_gives_it_back() {
    let mut desk = Desk::new();
    assert_eq!(desk.keys("2 n 'a.test' ctrl-x"), [Effect::Edit("a.test".into())]);
    desk.send(Msg::Edited(Ok("a.test\nb.test\n".into())));
    assert_eq!(desk.form().button, "Add 2 targets");
}

#[test]
fn no_letter_typed_into_a_form_is_a_key() {
    let mut desk = Desk::new();
    desk.keys("1 n 'qDy?:123gz-' tab 'SRn'");
    assert_eq!(desk.form().text(FieldId::Name), "qDy?:123gz-");
    assert_eq!(desk.form().text(FieldId::Description), "SRn");
}
