//! The fields of the form, and the scans that it starts.

use super::places::NO_VPN;
use super::tools::TOOLS;
use super::*;
use crate::base::{Call, Job};
use crate::forms::FieldValue;
use crate::scans::tool_params::port_list;
use scandeck_wire::contract::WordlistId;
use scandeck_wire::contract::node::{NodeList, PlaceState};
use serde_json::{Value as Json, json};

fn form(sets: &[i64]) -> Form {
    form_with(sets, &[])
}

fn form_with(sets: &[i64], profiles: &[ScanProfile]) -> Form {
    form_at(sets, profiles, true)
}

fn form_at(sets: &[i64], profiles: &[ScanProfile], has_extensions: bool) -> Form {
    let targets = sets
        .iter()
        .map(|&id| (TargetId(id), Shared::from(format!("t{id}"))))
        .collect();
    let lists = [(WordlistId(4), "paths")].map(|(id, name)| Wordlist {
        id,
        name: name.into(),
        num_words: 9,
        ..Wordlist::default()
    });
    let mut form = open(
        vec![("marked".to_owned(), targets)],
        lists.iter(),
        profiles,
        WorkspaceId(3),
        has_extensions,
    );
    check(&mut form, &[]);
    form
}

fn choose(form: &mut Form, id: FieldId, at: isize) {
    let now = form.choice(id) as isize;
    form.field_mut(id).unwrap().choose(at - now);
    check(form, &[]);
}

fn bodies(form: &Form) -> Vec<Json> {
    let body = |job: Job| match job.call {
        Call::StartScan(scan) => serde_json::to_value(scan).unwrap(),
        other => panic!("{other:?}"),
    };
    jobs(form).into_iter().map(body).collect()
}

#[test]
fn sixty_targets_start_sixty_scans() {
    let ids: Vec<i64> = (1..=60).collect();
    let form = form(&ids);
    assert_eq!(
        (form.button.as_str(), bodies(&form).len()),
        ("Start 60 scans", 60)
    );
}

fn web() -> ScanProfile {
    let deep = NewScan {
        tool_id: 170,
        max_scan_time: Some(90),
        tool_params: Some(json!({"scan_type": "deep"})),
        ..NewScan::default()
    };
    let tls = NewScan {
        tool_id: 450,
        ..NewScan::default()
    };
    ScanProfile {
        name: "web".to_owned(),
        scans: vec![deep, tls],
    }
}

#[test]
fn profile_starts_its_scans_of_every_target() {
    let mut form = form_with(&[7, 8], &[web()]);
    assert_eq!(bodies(&form).len(), 2, "no profile is chosen");
    choose(&mut form, FieldId::ScanProfile, 1);
    assert_eq!(
        (form.title.as_str(), form.button.as_str()),
        ("Scan 2 targets", "Start 4 scans")
    );
    assert!(!form.is_shown(FieldId::Tool) && !form.is_shown(FieldId::RedirectLevel));
    assert_eq!(
        form.summary,
        [
            "Website Scanner (170): scan_type \"deep\", 90 min",
            "SSL/TLS Scanner (450): defaults"
        ]
    );
    let sent = bodies(&form);
    assert_eq!(
        sent[0],
        json!({"tool_id":170,"target_id":7,"workspace_id":3,"max_scan_time":90,"tool_params":{"scan_type":"deep"}})
    );
    assert_eq!(
        sent[3],
        json!({"tool_id":450,"target_id":8,"workspace_id":3})
    );
    choose(&mut form, FieldId::Targets, 1);
    form.field_mut(FieldId::TargetName).unwrap().set_text("a");
    assert_eq!(check(&mut form, &[]), []);
    let names = jobs(&form).into_iter().map(|job| job.about);
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["Website scan of a", "TLS scan of a"]
    );
}

#[test]
fn only_the_refused_scans_of_a_profile_are_sent_again() {
    let mut form = form_with(&[7, 8], &[web()]);
    choose(&mut form, FieldId::ScanProfile, 1);
    let refused = jobs(&form).remove(2);
    keep_refused(&mut form, &[(refused.clone(), None)]);
    check(&mut form, &[]);
    assert_eq!(form.button, "Start 1 scan");
    assert_eq!(jobs(&form), [refused]);
    choose(&mut form, FieldId::ScanProfile, 0);
    assert_eq!(bodies(&form).len(), 1, "one target remains");
}

#[test]
fn profile_with_a_missing_scanner_is_reported() {
    let mut form = form_with(&[7], &[web()]);
    choose(&mut form, FieldId::ScanProfile, 1);
    let missing = [MissingScanner {
        tool: Tool::TLS,
        program: "sslscan".into(),
    }];
    let problems = check(&mut form, &missing);
    assert_eq!(problems[0].0, FieldId::ScanProfile);
    assert!(problems[0].1.contains("needs sslscan"), "{problems:?}");
}

#[test]
fn default_form_starts_a_light_website_scan() {
    assert_eq!(
        bodies(&form(&[7]))[0],
        json!({"tool_id":170,"target_id":7,"workspace_id":3,"redirect_level":"same_domain","tool_params":{"scan_type":"light"}})
    );
}

#[test]
fn tools_show_the_fields_that_they_accept() {
    let with_types = [Tool::WEBSITE, Tool::PORTS, Tool::NETWORK, Tool::UDP_PORTS];
    let without_rate = [
        Tool::PORTS,
        Tool::TLS,
        Tool::NETWORK,
        Tool::UDP_PORTS,
        Tool::SUBDOMAINS,
        Tool::PING,
        Tool::TESTSSL,
        Tool::SUBFINDER,
    ];
    for (at, row) in TOOLS.iter().enumerate() {
        let mut form = form(&[7]);
        choose(&mut form, FieldId::Tool, at as isize);
        let body = bodies(&form).remove(0);
        assert_eq!(body["tool_id"], row.tool.0);
        assert_eq!(
            body["tool_params"],
            if with_types.contains(&row.tool) {
                json!({"scan_type": "light"})
            } else {
                json!(null)
            }
        );
        assert_eq!(
            form.is_shown(FieldId::RequestsPerSecond),
            !without_rate.contains(&row.tool)
        );
    }
}

#[test]
fn another_service_is_offered_no_guests_and_no_places() {
    let mut form = form_at(&[7], &[], false);
    let names = NodeList {
        places: vec![place("office", 1)],
        ..NodeList::default()
    };
    places::offer(&mut form, Some(&names));
    let options = |form: &Form, id| match &form.field(id).unwrap().value {
        FieldValue::Choice { options, .. } => options.clone(),
        other => panic!("{other:?}"),
    };
    let tools = options(&form, FieldId::Tool);
    assert_eq!(
        (tools.len(), tools[11].as_str()),
        (12, "other tool, by id"),
        "{tools:?}"
    );
    assert_eq!(
        options(&form, FieldId::Vpn),
        ["workspace default", "none", "profile"]
    );
    // A draft of the form at a service with guests has more options.
    choose(&mut form, FieldId::Tool, 11);
    form.field_mut(FieldId::ToolId).unwrap().set_text("10020");
    assert_eq!(bodies(&form)[0]["tool_id"], 10_020);
    form.subject.has_extensions = true;
    check(&mut form, &[]);
    assert_eq!(bodies(&form)[0]["tool_id"], 10_020, "still typed");
}

fn place(name: &str, workers: usize) -> PlaceState {
    PlaceState {
        name: name.into(),
        vpn_profile_uuid: format!("id-{name}").into(),
        workers,
    }
}

#[test]
fn chosen_place_is_sent_by_its_id_and_remains_chosen() {
    let mut form = form(&[7]);
    let offer = |form: &mut Form, named: Vec<PlaceState>| {
        let list = NodeList {
            places: named,
            ..NodeList::default()
        };
        places::offer(form, Some(&list));
        check(form, &[]);
    };
    let sent = |form: &Form| bodies(form)[0]["vpn_profile_uuid"].clone();
    let text = |form: &Form| form.field(FieldId::Vpn).unwrap().text();
    offer(&mut form, vec![place("lab", 0), place("office", 2)]);
    assert_eq!(
        (text(&form).as_str(), sent(&form)),
        ("by scope", json!(null))
    );
    assert!(bodies(&form)[0].get("vpn_profile_uuid").is_none());
    choose(&mut form, FieldId::Vpn, 3);
    assert_eq!(text(&form), "office: 2 workers connected");
    assert_eq!(
        (sent(&form), places::warning(&form)),
        (json!("id-office"), None)
    );
    offer(&mut form, vec![place("attic", 1), place("lab", 1)]);
    assert_eq!(text(&form), "office: no worker connected");
    assert_eq!(sent(&form), "id-office");
    let warning = places::warning(&form).unwrap_or_default();
    assert!(warning.contains("No worker of office"), "{warning}");
    choose(&mut form, FieldId::Vpn, 5);
    assert_eq!(text(&form), "another place");
    let problem = (FieldId::VpnUuid, "place is required".to_owned());
    assert_eq!(check(&mut form, &[]), [problem]);
    form.field_mut(FieldId::VpnUuid).unwrap().set_text("cellar");
    offer(&mut form, vec![place("hut", 1)]);
    assert_eq!(
        (text(&form).as_str(), sent(&form)),
        ("another place", json!("cellar"))
    );
}

#[test]
fn full_form_sends_every_field_of_the_contract() {
    let mut form = form(&[7]);
    choose(&mut form, FieldId::Tool, 1);
    choose(&mut form, FieldId::ScanType, 2);
    choose(&mut form, FieldId::Ports, 2);
    choose(&mut form, FieldId::Vpn, 2);
    for (id, text) in [
        (FieldId::PortList, "22, 80-82"),
        (FieldId::MaxScanTime, "15"),
        (FieldId::VpnUuid, "u-1"),
        (FieldId::CallbackUrl, "http://127.0.0.1/hook"),
    ] {
        form.field_mut(id).unwrap().set_text(text);
    }
    assert_eq!(check(&mut form, &[]), []);
    assert_eq!(
        bodies(&form)[0],
        json!({"tool_id":70,"target_id":7,"workspace_id":3,"vpn_profile_uuid":"u-1","max_scan_time":15,
            "report_callback":{"url":"http://127.0.0.1/hook","format":"json"},"tool_params":{"scan_type":"custom","port_list":[22,80,81,82]}})
    );
}

#[test]
fn typed_name_and_params_are_sent_unchanged() {
    let mut form = form(&[7]);
    choose(&mut form, FieldId::Targets, 1);
    choose(&mut form, FieldId::Params, AS_JSON as isize);
    form.field_mut(FieldId::TargetName)
        .unwrap()
        .set_text("127.0.0.1");
    form.field_mut(FieldId::ParamsJson)
        .unwrap()
        .set_text("{\"scan_type\":\n\"deep\"}");
    choose(&mut form, FieldId::Vpn, NO_VPN as isize);
    choose(&mut form, FieldId::RedirectLevel, 0);
    choose(&mut form, FieldId::OriginalUrl, 1);
    assert_eq!(
        bodies(&form)[0],
        json!({"tool_id":170,"target_name":"127.0.0.1","workspace_id":3,"vpn_profile_uuid":null,
            "scan_original_url":true,"redirect_level":"none","tool_params":{"scan_type":"deep"}})
    );
}

#[test]
fn network_and_tls_scanner_have_their_fields() {
    let mut form = form(&[7]);
    choose(&mut form, FieldId::Tool, 3);
    choose(&mut form, FieldId::ScanType, 2);
    assert!(form.is_shown(FieldId::PortTop) && !form.is_shown(FieldId::RedirectLevel));
    assert_eq!(bodies(&form)[0]["tool_id"], 350);
    choose(&mut form, FieldId::Tool, 2);
    choose(&mut form, FieldId::StartTls, 2);
    form.field_mut(FieldId::TlsPort).unwrap().set_text("587");
    assert_eq!(check(&mut form, &[]), []);
    assert_eq!(
        bodies(&form)[0],
        json!({"tool_id":450,"target_id":7,"workspace_id":3,"tool_params":{"port":587,"starttls":"smtp"}})
    );
}

#[test]
fn installed_scanners_have_their_fields() {
    let with = |tool: Tool| {
        let mut form = form(&[7]);
        let at = TOOLS.iter().position(|one| one.tool == tool).unwrap();
        choose(&mut form, FieldId::Tool, at as isize);
        form
    };
    let testssl = with(Tool::TESTSSL);
    assert!(testssl.is_shown(FieldId::TlsPort) && testssl.is_shown(FieldId::StartTls));
    assert!(!testssl.is_shown(FieldId::RedirectLevel));
    let mut nuclei = with(Tool::NUCLEI);
    let tags = nuclei.field_mut(FieldId::Tags).unwrap();
    tags.set_text("tech, cve2024");
    assert_eq!(
        bodies(&nuclei)[0]["tool_params"],
        json!({"tags": ["tech", "cve2024"]})
    );
    let ffuf = with(Tool::FFUF);
    assert!(ffuf.is_shown(FieldId::ScanWords) && ffuf.is_shown(FieldId::Extensions));
    assert!(!ffuf.is_shown(FieldId::RecursionDepth));
    assert_eq!(
        ffuf.field(FieldId::Tool).unwrap().text(),
        "ffuf, active (10020)"
    );
}

#[test]
fn small_tools_have_their_fields() {
    let params = |tool: Tool, fields: &[(FieldId, &str)], words: isize| {
        let mut form = form(&[7]);
        choose(
            &mut form,
            FieldId::Tool,
            TOOLS.iter().position(|one| one.tool == tool).unwrap() as isize,
        );
        for (id, text) in fields {
            assert!(form.is_shown(*id), "{id:?}");
            form.field_mut(*id).unwrap().set_text(text);
        }
        if words > 0 {
            choose(&mut form, FieldId::ScanWords, words);
        }
        assert_eq!(check(&mut form, &[]), []);
        bodies(&form).remove(0)["tool_params"].clone()
    };
    assert_eq!(
        params(Tool::FUZZER, &[(FieldId::Extensions, ".php, bak")], 1),
        json!({"wordlist_id":4,"extensions":[".php","bak"]})
    );
    let domain = [(FieldId::Domain, "acme.test")];
    assert_eq!(
        params(Tool::VIRTUAL_HOSTS, &domain, 1),
        json!({"wordlist_id":4,"domain":"acme.test"})
    );
    assert_eq!(params(Tool::SUBDOMAINS, &[], 0), json!(null));
    let addresses = [
        "127.0.0.1",
        "http://127.0.0.1:8080/x",
        "::1",
        "acme.test",
        "https://acme.test/",
    ];
    assert_eq!(addresses.map(is_address), [true, true, true, false, false]);
    let ping = [(FieldId::PingPort, "8080"), (FieldId::PingCount, "2")];
    assert_eq!(params(Tool::PING, &ping, 0), json!({"port":8080,"count":2}));
}

#[test]
fn tool_without_its_scanner_is_marked_and_cannot_be_started() {
    let missing = MissingScanner::parse_list("350=nmap");
    let mut form = form(&[7]);
    assert_eq!(
        check(&mut form, &missing),
        [],
        "the other tools can be started"
    );
    choose(&mut form, FieldId::Tool, 3);
    assert_eq!(
        check(&mut form, &[]),
        [],
        "a service that names no missing scanner"
    );
    let why = "nmap is missing: install it on the machine of the service";
    assert_eq!(
        check(&mut form, &missing),
        [(FieldId::Tool, why.to_owned())]
    );
    assert_eq!(
        form.field(FieldId::Tool).unwrap().text(),
        "Network Scanner (350), needs nmap"
    );
    choose(&mut form, FieldId::Tool, TOOLS.len() as isize);
    form.field_mut(FieldId::ToolId).unwrap().set_text("350");
    assert_eq!(
        check(&mut form, &missing),
        [(FieldId::ToolId, why.to_owned())]
    );
}

#[test]
fn udp_scan_without_raw_sockets_cannot_be_started() {
    let missing = MissingScanner::parse_list("80=CAP_NET_RAW");
    let problem = |id| {
        [(
            id,
            "UDP needs a service that runs as root or with CAP_NET_RAW".to_owned(),
        )]
    };
    let mut form = form(&[7]);
    choose(&mut form, FieldId::Tool, 4);
    assert_eq!(check(&mut form, &[]), []);
    assert_eq!(bodies(&form)[0]["tool_id"], 80);
    assert_eq!(check(&mut form, &missing), problem(FieldId::Tool));
    assert_eq!(
        form.field(FieldId::Tool).unwrap().text(),
        "UDP Port Scanner (80), needs CAP_NET_RAW"
    );
    // The Network Scanner can still scan TCP.
    choose(&mut form, FieldId::Tool, 3);
    assert_eq!(check(&mut form, &missing), []);
    choose(&mut form, FieldId::Protocol, 1);
    assert_eq!(check(&mut form, &missing), problem(FieldId::Protocol));
}

#[test]
fn invalid_input_is_reported_at_its_field() {
    for (id, text) in [
        (FieldId::MaxScanTime, "0"),
        (FieldId::MaxScanTime, "1441"),
        (FieldId::MaxScanTime, "long"),
        (FieldId::CallbackUrl, "ftp://a/"),
        (FieldId::RequestsPerSecond, "0"),
    ] {
        let mut form = form(&[7]);
        form.field_mut(id).unwrap().set_text(text);
        assert_eq!(
            check(&mut form, &[])
                .iter()
                .map(|wrong| wrong.0)
                .collect::<Vec<_>>(),
            [id],
            "{text}"
        );
    }
    for bad in ["80-70", "0", "http", "65536", ""] {
        assert!(port_list(bad).is_err(), "{bad}");
    }
}
