//! The privacy mask: the screen, copies, files and notifications while it is on.

use crate::base::{Alert, Exported};
use crate::core::Msg;
use crate::testing::*;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use scandeck_domain::export::Export;

const NAMES: [&str; 6] = ["acme", "probe", "127.0.0.1", "ann@test", "t1.", "/abc"];

fn seen(dashboard: &mut TestDashboard) -> Vec<&'static str> {
    let screen = dashboard.frame().join("\n").to_lowercase();
    NAMES
        .into_iter()
        .filter(|name| screen.contains(name))
        .collect()
}

#[test]
fn masked_screen_shows_no_names_in_any_pane() {
    for (columns, rows) in [(200, 60), (80, 24), (40, 12)] {
        let mut dashboard = TestDashboard::new();
        dashboard.model.screen.size = Size { columns, rows };
        dashboard.keys("2");
        assert!(seen(&mut dashboard).contains(&"acme"), "{columns}");
        dashboard.keys(": 'mask on' enter");
        for pane in [
            "1", "2", "3", "4", "5", "6", "8", "5 h", "g p", "3 enter", "3 b t", "2 D", "3 c",
            "1 n", "5 enter", "3 B", "3 e", "3 t", "4 n", "3 R", "?",
        ] {
            dashboard.keys(pane);
            assert!(
                seen(&mut dashboard).is_empty(),
                "{pane}: {:?}\n{}",
                seen(&mut dashboard),
                dashboard.frame().join("\n")
            );
            dashboard.keys("esc esc");
        }
        dashboard.keys(": 'target t'");
        assert!(seen(&mut dashboard).is_empty(), "completions");
        dashboard.keys("esc");
        assert!(dashboard.frame()[0].contains("MASKED"));
        dashboard.keys(": 'mask off' enter 2");
        assert!(seen(&mut dashboard).contains(&"acme") && !dashboard.frame()[0].contains("MASKED"));
    }
}

/// Findings of one class whose names end in the names of their targets.
fn named_after_targets() -> TestDashboard {
    let mut dashboard = TestDashboard::new();
    let of_class = |id: i64, name: &str| Finding {
        vuln_id: "backup".into(),
        ..finding(id, id, name, Risk::High)
    };
    let names = [1, 2, 1]
        .map(|target| format!("Backup of the customer database readable at t{target}.acme.test"));
    dashboard.feed(Snapshot::Findings(table(
        (1..).zip(&names).map(|(id, name)| of_class(id, name)),
    )));
    dashboard.keys(": 'mask' enter 3");
    dashboard
}

#[test]
fn name_that_a_group_header_cuts_is_masked() {
    let mut dashboard = named_after_targets();
    let name = "Backup of the customer database readable at t1.acme.test";
    let one = |id| Finding {
        vuln_id: "backup".into(),
        ..finding(id, id, name, Risk::High)
    };
    dashboard.feed(Snapshot::Findings(table([one(1), one(2)])));
    dashboard.keys("b c");
    for columns in 40..100 {
        dashboard.model.screen.size = Size { columns, rows: 12 };
        assert!(
            seen(&mut dashboard).is_empty(),
            "{columns}: {:#?}",
            dashboard.frame()
        );
    }
}

#[test]
fn name_that_a_card_cuts_is_masked() {
    let mut dashboard = named_after_targets();
    dashboard.keys("b c B");
    assert!(dashboard.model.reviewing().is_some());
    for columns in 40..100 {
        dashboard.model.screen.size = Size { columns, rows: 40 };
        assert!(
            seen(&mut dashboard).is_empty(),
            "{columns}: {:#?}",
            dashboard.frame()
        );
    }
}

#[test]
fn name_of_profile_is_masked_in_header_and_prompts() {
    let mut dashboard = TestDashboard::new();
    dashboard.model.session.name = "customer-gmbh".into();
    dashboard.model.session.service_flags =
        ["--profile", "customer-gmbh"].map(str::to_owned).into();
    dashboard.keys("2");
    assert!(
        dashboard.frame()[0].contains("customer-gmbh"),
        "{:#?}",
        dashboard.frame()
    );
    dashboard.keys(": 'mask' enter 2 D");
    let screen = dashboard.frame().join("\n");
    assert!(
        screen.contains("service-1") && !screen.contains("customer-gmbh"),
        "{screen}"
    );
    assert_eq!(
        dashboard.model.shown_session().name,
        "service-1",
        "the line printed on exit"
    );
}

#[test]
fn typed_confirmation_is_the_name_that_the_mask_shows() {
    let mut dashboard = TestDashboard::new();
    dashboard.keys(": 'mask' enter 1 D");
    assert!(
        dashboard
            .frame()
            .join("\n")
            .contains("type its name: workspace-1"),
        "{:#?}",
        dashboard.frame()
    );
    dashboard.keys("'workspace-1'");
    dashboard.keys("enter");
    assert!(
        dashboard.model.overlay.modals.is_empty(),
        "{:#?}",
        dashboard.frame()
    );
    assert!(!dashboard.frame().join("\n").contains("is not its name"));
}

#[test]
fn masked_copies_and_files_have_stand_ins() {
    let mut dashboard = TestDashboard::new();
    dashboard.keys(": 'mask' enter 2");
    let [Effect::Copy { what, text, .. }] = &dashboard.keys("y j")[..] else {
        panic!("no copy")
    };
    assert!(
        what.starts_with("masked ") && text.contains("host-") && !text.contains("acme"),
        "{text}"
    );
    let [Effect::Save { content, .. }] = &dashboard.keys("y f")[..] else {
        panic!("no file")
    };
    assert!(!String::from_utf8_lossy(content).contains("acme"));
    let [Effect::Export(exported)] = &dashboard.keys("3 : 'export csv' enter")[1..] else {
        panic!("no export")
    };
    assert!(
        exported.mask.is_some() && exported.name == "findings-workspace-1.csv",
        "{}",
        exported.name
    );
    dashboard.keys(": 'mask' enter");
    let [Effect::Copy { text, .. }] = &dashboard.keys("2 y j")[..] else {
        panic!("no copy")
    };
    assert!(text.contains("acme"));
}

#[test]
fn masked_comparison_shows_no_secrets() {
    let mut dashboard = TestDashboard::new();
    let with = |id, query: &str, cookie: &str| Capture {
        ip_address: "203.0.113.9".into(),
        url_params: query.into(),
        http_headers: vec![
            format!("Cookie: {cookie}").into(),
            format!("X-Api-Key: live_{id}abc").into(),
        ],
        ..capture(id)
    };
    let captures = vec![
        with(90, "password=Early1", "sid=aaa111"),
        with(91, "password=Sup3rPw&key=x1", "sid=qqq111; b=c"),
    ];
    dashboard.receive(1, captures);
    dashboard.keys(": 'mask' enter 5 G d");
    let screen = dashboard.frame().join("\n");
    assert!(
        screen.contains("query password") && screen.contains("token-"),
        "{screen}"
    );
    for secret in [
        "Early1",
        "Sup3rPw",
        "x1",
        "aaa111",
        "qqq111",
        "live_90abc",
        "live_91abc",
    ] {
        assert!(!screen.contains(secret), "{secret}\n{screen}");
    }
}

#[test]
fn masked_exports_of_a_manual_finding_hold_no_secrets() {
    let mut dashboard = TestDashboard::new();
    let body = r#"{"api_key":"sk_live_777","password":"pw-in-json"}"#;
    let headers = [
        "Cookie: sid=qqq111; b=c",
        "Authorization: Bearer abcdefgh",
        "X-Api-Key: live_4242",
        "Content-Length: 9",
    ];
    let sent = Capture {
        request_method: "POST".into(),
        http_headers: headers.map(Into::into).to_vec(),
        request_body_base64: STANDARD.encode(body).into(),
        ..capture(90)
    };
    dashboard.receive(1, vec![sent]);
    dashboard.keys(": 'mask' enter 5 G n 'Mine' tab tab 't1.acme.test' ctrl-o");
    let secrets = [
        "qqq111",
        "abcdefgh",
        "live_4242",
        "sk_live_777",
        "pw-in-json",
    ];
    let check = |name: &str, text: &str| {
        // Markdown escapes characters.
        let text = text.replace('\\', "");
        secrets
            .iter()
            .for_each(|secret| assert!(!text.contains(secret), "{name}: {secret}\n{text}"));
        assert!(
            text.contains("uthorization: Bearer token-") && text.contains("Content-Length: 9"),
            "{name}\n{text}"
        );
    };
    for format in ["csv", "markdown", "jsonl", "sarif", "defectdojo", "json"] {
        let effects = dashboard.keys(&format!("3 / 'is:own' enter : 'export {format}' enter"));
        let exported = effects.iter().find_map(|effect| {
            if let Effect::Export(it) = effect {
                Some(it)
            } else {
                None
            }
        });
        let Exported {
            format,
            title,
            query,
            made,
            rows,
            mask,
            ..
        } = &**exported.expect("an export");
        let export = Export {
            rows,
            title,
            made: *made,
            query,
            mask: mask.as_ref(),
            frame: None,
        };
        check(
            format.as_str(),
            &String::from_utf8(
                scandeck_domain::export::write(*format, &export)
                    .unwrap()
                    .bytes,
            )
            .unwrap(),
        );
    }
    let [Effect::Copy { text, .. }] = &dashboard.keys("y j")[..] else {
        panic!("no copy")
    };
    check("copy", text);
}

#[test]
fn masked_payload_is_not_copied_and_command_gets_no_address() {
    let mut dashboard = TestDashboard::new();
    dashboard.keys(": 'mask' enter");
    let text = "http://127.0.0.1:8765/l/abc".to_owned();
    let what = "payload abc of logger probe".to_owned();
    let mut effects = vec![Effect::Copy {
        what,
        text,
        needs_names: true,
    }];
    dashboard.model.mask_effects(&mut effects);
    assert_eq!(effects, []);
    assert!(
        dashboard.notices().contains("URL not copied"),
        "{}",
        dashboard.notices()
    );
}

#[test]
fn payloads_are_not_created_while_the_mask_is_on() {
    let mut dashboard = TestDashboard::new();
    dashboard.keys(": 'mask' enter");
    dashboard.keys("p");
    assert!(
        dashboard.notices().contains("payload not created"),
        "{}",
        dashboard.notices()
    );
    dashboard.at += Duration::from_secs(60);
    dashboard.send(Msg::Wake);
    assert!(
        !dashboard.notices().contains("payload not created"),
        "{}",
        dashboard.notices()
    );
    let is_saved = |effects: &[Effect]| {
        effects
            .iter()
            .any(|effect| matches!(effect, Effect::Save { .. }))
    };
    assert!(!is_saved(
        &dashboard.keys("3 : 'payloads 3 urls.txt' enter")
    ));
    let shown = dashboard.frame().join("\n");
    assert!(
        shown.contains("payload not created: masked URLs") && shown.contains(":mask off"),
        "{shown}"
    );
    assert!(dashboard.model.captures.oob.book.is_empty());
    dashboard.keys("esc esc : 'mask off' enter");
    assert!(is_saved(&dashboard.keys(": 'payloads 3 urls.txt' enter")));
}

#[test]
fn masked_notifications_have_stand_ins() {
    let mut dashboard = TestDashboard::new();
    dashboard.keys(": 'mask' enter");
    let fields = vec![("from", "203.0.113.9".to_owned())];
    let mut effects = vec![Effect::Alert(Box::new(Alert {
        title: "hit at probe".into(),
        body: "t1.acme.test".into(),
        events: vec![vec![("target", "t1.acme.test".to_owned())]],
        fields,
        ..Alert::default()
    }))];
    dashboard.model.mask_effects(&mut effects);
    let [Effect::Alert(alert)] = &effects[..] else {
        panic!("no alert")
    };
    assert!(
        alert.title.starts_with("hit at logger-") && alert.body.starts_with("host-"),
        "{alert:?}"
    );
    assert!(alert.fields[0].1.starts_with("ip-"));
    assert!(alert.events[0][0].1.starts_with("host-"));
}

#[test]
fn editor_stays_closed_while_the_mask_is_on() {
    let mut dashboard = TestDashboard::new();
    dashboard.keys(": 'mask' enter 2 n");
    assert_eq!(dashboard.keys("ctrl-x"), []);
    assert!(
        dashboard.notices().contains(":mask off"),
        "{}",
        dashboard.notices()
    );
    dashboard.keys("esc : 'mask off' enter");
    assert!(
        !dashboard.notices().contains(":mask off"),
        "{}",
        dashboard.notices()
    );
}

#[test]
fn names_that_arrive_later_are_masked() {
    let mut dashboard = TestDashboard::new();
    dashboard.keys(": 'mask' enter 2");
    dashboard.feed(Snapshot::Targets(table([target(
        1,
        "new.customer.example",
    )])));
    let screen = dashboard.frame().join("\n");
    assert!(
        !screen.contains("customer") && screen.contains("host-"),
        "{screen}"
    );
}

#[test]
fn masked_url_that_records_nothing_is_copied_by_no_key() {
    let mut dashboard = TestDashboard::new();
    dashboard.keys("3 p : 'mask' enter");
    let has_copy = |effects: &[Effect]| {
        effects
            .iter()
            .any(|effect| matches!(effect, Effect::Copy { .. }))
    };
    let shapes = ["p", "s", "h", "u", "x", "i", "v", "c"].map(|shape| format!("y p {shape}"));
    let urls = ["y y", "y u", "p"].map(str::to_owned);
    for keys in urls.into_iter().chain(shapes) {
        for pane in ["5 h", "g p"] {
            let effects = dashboard.keys(&format!("{pane} {keys}"));
            assert!(!has_copy(&effects), "{pane} {keys}: {effects:?}");
            assert!(
                dashboard.notices().contains("URL not copied"),
                "{pane} {keys}: {}",
                dashboard.notices()
            );
            dashboard.keys("esc");
        }
    }
    // These copies describe the row and are masked.
    for keys in ["5 h y c", "5 h y j", "5 h y v", "g p y j", "g p y v"] {
        let effects = dashboard.keys(keys);
        let [Effect::Copy { text, .. }] = &effects[..] else {
            panic!("{keys}: {effects:?}")
        };
        assert!(
            !NAMES.iter().any(|name| text.to_lowercase().contains(name)),
            "{keys}: {text}"
        );
    }
}
