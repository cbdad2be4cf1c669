//! nuclei, ZAP, Burp, Nessus, nmap, testssl.sh, SARIF and scandeck.

use scandeck_wire::contract::verdict::Verdict;
use scandeck_wire::contract::{EvidenceView, Finding, Risk};

use super::*;

#[test]
fn nuclei_lines_become_entries_and_odd_lines_are_counted() {
    let read = import_sample("nuclei.jsonl");
    assert_eq!(
        read.ids(),
        [
            "nuclei:CVE-2021-44228",
            "nuclei:tech-detect:nginx",
            "nuclei:ssh-version"
        ]
    );
    let log4j = read.entry("nuclei:CVE-2021-44228");
    assert_eq!(
        (log4j.risk, log4j.source_risk.as_str()),
        (Risk::Critical, "critical")
    );
    assert_eq!(
        (target(log4j), log4j.port),
        ("https://shop.test", Some(443))
    );
    assert_eq!(log4j.place.path, "/login");
    assert_eq!(
        (log4j.cves.as_slice(), log4j.cwes.as_slice()),
        (&["CVE-2021-44228".to_owned()][..], &[20, 502][..])
    );
    assert_eq!(log4j.cvss.as_ref().and_then(|cvss| cvss.score), Some(10.0));
    assert_eq!(
        log4j.epss.map(|epss| (epss.score, epss.percentile)),
        Some((0.97, Some(0.99)))
    );
    assert_eq!(log4j.recommendation, "Update Log4j.");
    assert!(log4j.is_known_exploited && !read.entry("nuclei:ssh-version").is_known_exploited);
    assert!(items(log4j)[0].request.starts_with("GET /login"));
    assert_eq!(log4j.target.as_ref().unwrap().others, ["192.0.2.7"]);
    assert_eq!(
        read.entry("nuclei:tech-detect:nginx").tags,
        ["tech", "discovery"]
    );
    let ssh = read.entry("nuclei:ssh-version");
    assert_eq!(
        (target(ssh), ssh.port, ssh.risk),
        ("shop.test", Some(22), Risk::Info)
    );
    assert_eq!(
        read.skipped(),
        [
            ("no host", 1),
            ("no template id", 1),
            ("line is not JSON", 1),
            ("entry has another shape than the format demands", 1)
        ]
    );
    let started = read.summary.started.map(|at| at.to_string());
    assert_eq!(started.as_deref(), Some("2026-03-01 09:00:00"));
    assert!(read.summary.coverage.is_empty());
}

#[test]
fn nuclei_of_version_2_is_read_from_a_list() {
    let read = import_sample("nuclei-v2.json");
    assert_eq!(read.ids(), ["nuclei:exposed-panel", "nuclei:dns-record"]);
    assert_eq!(read.entry("nuclei:exposed-panel").place.path, "/admin/");
    let dns = read.entry("nuclei:dns-record");
    assert_eq!((target(dns), dns.port), ("shop.test", None));
    assert_eq!(read.summary.skipped_count(), 1);
}

#[test]
fn zap_alert_becomes_an_entry_for_each_parameter() {
    let read = import_sample("zap.xml");
    assert_eq!(
        read.ids(),
        [
            "zap:10010",
            "zap:10010",
            "zap:10055-4",
            "zap:10038",
            "zap:40012",
            "zap:40012"
        ]
    );
    let cookies: Vec<_> = read
        .entries
        .iter()
        .filter(|entry| entry.vuln_id == "zap:10010")
        .collect();
    assert_eq!(
        (
            cookies[0].place.parameter.as_str(),
            cookies[1].place.parameter.as_str()
        ),
        ("lang", "sid")
    );
    assert_eq!(
        cookies[1].description,
        "A cookie has no HttpOnly flag.\n\nScripts can read it."
    );
    assert_eq!(items(cookies[1]).len(), 2);
    assert_eq!(
        items(cookies[1])[0].response,
        "HTTP/1.1 200 OK\r\n\r\nhello"
    );
    assert_eq!(cookies[1].references, ["https://owasp.test/HttpOnly"]);
    assert_eq!(
        (cookies[1].cwes[0], cookies[1].tags[0].as_str()),
        (1004, "OWASP_2021_A05")
    );
    let scripts: Vec<_> = read
        .entries
        .iter()
        .filter(|entry| entry.vuln_id == "zap:40012")
        .collect();
    assert_eq!(
        (scripts[0].place.path.as_str(), scripts[0].risk),
        ("/find", Risk::High)
    );
    assert!(scripts[0].is_confirmed);
    assert_eq!(proposed(read.entry("zap:10038")), "false positive");
    assert_eq!(read.skipped(), [("alert without a plugin id", 1)]);
    let coverage = &read.summary.coverage[0];
    assert!(coverage.includes("zap:10010", "tcp", Some(443), &[]));
    assert!(!coverage.includes("zap:90000", "tcp", Some(443), &[]));
}

#[test]
fn zap_json_is_read_as_its_xml() {
    let read = import_sample("zap.json");
    let entry = read.entry("zap:10021");
    assert_eq!(
        (target(entry), entry.port),
        ("http://shop.test:8080", Some(8080))
    );
    assert_eq!(items(entry).len(), 2);
    assert_eq!(items(entry)[0].response, "HTTP/1.1 200 OK");
    assert_eq!(read.summary.skipped_count(), 2);
    assert_eq!(
        (read.summary.version.as_str(), read.summary.coverage.len()),
        ("2.15.0", 1)
    );
}

#[test]
fn burp_issue_keeps_its_request_and_parameter() {
    let read = import_sample("burp.xml");
    let injection = read.entry("burp:1049088");
    assert_eq!(
        (injection.risk, injection.source_risk.as_str()),
        (Risk::High, "High (Certain)")
    );
    assert_eq!(
        (
            injection.place.path.as_str(),
            injection.place.parameter.as_str()
        ),
        ("/search", "q")
    );
    assert_eq!(
        (injection.cwes.as_slice(), injection.is_confirmed),
        (&[89][..], true)
    );
    assert_eq!(injection.references, ["https://portswigger.test/sqli"]);
    assert_eq!(
        items(injection)[0].request,
        "GET /search?q=x HTTP/1.1\r\nHost: shop.test\r\n\r\n"
    );
    assert!(injection.description.starts_with("The q parameter appears"));
    assert_eq!(read.entry("burp:extension-debug-header").risk, Risk::Info);
    let cookie = read.entry("burp:5244416");
    assert_eq!(
        (target(cookie), proposed(cookie).as_str()),
        ("https://shop.test:8443", "false positive")
    );
    assert_eq!(
        read.skipped(),
        [
            ("issue without type and name", 1),
            ("issue without a host", 1)
        ]
    );
}

#[test]
fn nessus_states_its_plugins_but_not_local_checks_without_credentials() {
    let read = import_sample("scan.nessus");
    assert_eq!(read.ids(), ["nessus:20007", "nessus:19506", "nessus:99999"]);
    let ssl = read.entry("nessus:20007");
    assert_eq!(
        (target(ssl), ssl.port, ssl.risk),
        ("srv.shop.test", Some(443), Risk::Critical)
    );
    assert_eq!(
        (ssl.cves[0].as_str(), ssl.cwes[0], ssl.is_known_exploited),
        ("CVE-2014-3566", 327, true)
    );
    assert_eq!(ssl.references.len(), 2);
    assert_eq!(ssl.cvss.as_ref().and_then(|cvss| cvss.score), Some(9.8));
    assert_eq!(read.entry("nessus:19506").port, None);
    assert_eq!(read.skipped(), [("result without a plugin id", 1)]);
    let coverage = &read.summary.coverage[0];
    assert_eq!(coverage.checks.len(), 4);
    assert!(coverage.includes("nessus:10107", "tcp", Some(80), &[]));
    assert!(!coverage.includes("nessus:10107", "tcp", None, &["local check".to_owned()]));
    assert!(!coverage.includes("nessus:1", "tcp", Some(80), &[]));
}

#[test]
fn nmap_states_ports_and_results_of_scripts() {
    let read = import_sample("nmap.xml");
    assert_eq!(
        read.ids(),
        [
            "nmap:open-port",
            "nmap:CVE-2018-15919",
            "nmap:open-port",
            "nmap:ssl-poodle"
        ]
    );
    let ssh = &read.entries[0];
    assert_eq!(
        (target(ssh), ssh.port, ssh.title.as_str()),
        ("shop.test", Some(22), "Open port 22/tcp (ssh)")
    );
    let EvidenceView::Table { rows, .. } = ssh.evidence.clone().into_wire().view() else {
        panic!("no table");
    };
    assert!(rows.contains(&vec![
        "Script ssh-hostkey".to_owned(),
        "2048 aa:bb".to_owned()
    ]));
    assert_eq!(read.entry("nmap:CVE-2018-15919").risk, Risk::Medium);
    let poodle = read.entry("nmap:ssl-poodle");
    assert_eq!(
        (poodle.risk, poodle.service.as_str()),
        (Risk::High, "https")
    );
    assert_eq!(poodle.cves, ["CVE-2014-3566"]);
    assert_eq!(read.summary.skipped_count(), 3);
    let covers = |id: &str, port: u16| {
        let mut all = read.summary.coverage.iter();
        all.any(|coverage| coverage.includes(id, "tcp", Some(port), &[]))
    };
    assert!(covers("nmap:open-port", 444) && !covers("nmap:open-port", 445));
    assert!(covers("nmap:ssl-heartbleed", 443) && !covers("nmap:ssl-heartbleed", 22));
    assert!(covers("nmap:CVE-2000-0001", 22));
    assert_eq!(read.summary.targets.len(), 1);
}

#[test]
fn testssl_passed_tests_are_coverage_and_not_entries() {
    let read = import_sample("testssl.json");
    assert_eq!(
        read.ids(),
        [
            "testssl:service",
            "testssl:SSLv3",
            "testssl:SSLv2",
            "testssl:supportedciphers_TLSv1_2",
            "testssl:cert_notAfter"
        ]
    );
    let ssl = read.entry("testssl:SSLv3");
    assert_eq!(
        (target(ssl), ssl.port, ssl.risk),
        ("shop.test", Some(443), Risk::Critical)
    );
    assert_eq!((ssl.cves[0].as_str(), ssl.cwes[0]), ("CVE-2014-3566", 310));
    assert_eq!(
        read.entry("testssl:cert_notAfter").place.parameter,
        "cert#1"
    );
    let coverage = &read.summary.coverage[0];
    assert!(coverage.includes("testssl:TLS1_2", "tcp", Some(443), &[]));
    assert!(coverage.includes("testssl:cipher-tls1_2_xc014", "tcp", Some(443), &[]));
    assert!(!coverage.includes("testssl:DROWN", "tcp", Some(443), &[]));
    let uncompleted: Vec<&String> = read.summary.uncompleted.iter().collect();
    assert_eq!(uncompleted, ["testssl:DROWN"]);
    assert!(
        read.skipped()
            .contains(&("same result at another address of the host", 1))
    );
}

#[test]
fn testssl_server_that_was_not_tested_is_no_server_without_results() {
    for file in [
        r#"{"Invocation":"t","version":"3.2","scanResult":[{"id":"scanProblem","severity":"FATAL","finding":"Can't connect"}],"scanTime":1}"#,
        r#"{"Invocation":"t","scanResult":["clientProblem1":[{"id":"engine_problem","severity":"INFO","finding":"x"}],,{"id":"scanProblem","severity":"FATAL","finding":"Can't connect"}]}"#,
        r#"[{"id":"scanProblem","ip":"/","port":"443","severity":"FATAL","finding":"Can't connect"}]"#,
    ] {
        let read = crate::import(file.as_bytes());
        let skipped = read.skipped();
        assert!(
            skipped.contains(&("server was not tested (FATAL)", 1)),
            "{file}: {skipped:?}"
        );
        assert!(read.summary.uncompleted.contains("testssl:"), "{file}");
        assert!(read.entries.is_empty(), "{file}");
    }
}

#[test]
fn testssl_pretty_json_and_csv_have_the_same_classes() {
    let pretty = import_sample("testssl-pretty.json");
    assert_eq!(
        pretty.ids(),
        ["testssl:pre_128cipher", "testssl:TLS1", "testssl:LUCKY13"]
    );
    assert_eq!(
        (pretty.entries[1].port, target(&pretty.entries[1])),
        (Some(8443), "shop.test")
    );
    assert_eq!(pretty.summary.version, "3.2.1");
    assert_eq!(pretty.summary.skipped_count(), 2);
    let table = import_sample("testssl.csv");
    assert_eq!(
        (table.ids(), table.entries[0].risk),
        (vec!["testssl:BREACH"], Risk::Medium)
    );
    assert_eq!(table.summary.skipped_count(), 3);
}

#[test]
fn sarif_results_wait_for_rules_that_come_later() {
    let read = import_sample("code.sarif");
    assert_eq!(read.ids(), ["codeql:js/xss", "codeql:js/old", "codeql:web"]);
    let script = read.entry("codeql:js/xss");
    assert_eq!(
        (script.risk, script.source_risk.as_str()),
        (Risk::Medium, "6.1")
    );
    assert_eq!(
        (script.title.as_str(), script.place.path.as_str()),
        ("Cross-site scripting", "src/a.js")
    );
    assert!(
        script
            .description
            .starts_with("Text name reaches the page.")
    );
    assert_eq!(
        (script.cwes.as_slice(), target(script)),
        (&[79][..], "https://git.test/shop")
    );
    assert_eq!(
        script.target.as_ref().unwrap().kind,
        ImportTargetKind::Product
    );
    assert_eq!(script.fingerprint, "primaryLocationLineHash=ab:1");
    let old = read.entry("codeql:js/old");
    assert_eq!(proposed(old), "risk accepted: test code");
    assert_eq!((old.risk, old.cwes.as_slice()), (Risk::Low, &[477][..]));
    assert!(old.description.starts_with("Uses x."));
    let web = read.entry("codeql:web");
    assert_eq!(
        (target(web), web.place.path.as_str(), web.risk),
        ("https://shop.test", "/a", Risk::High)
    );
    assert_eq!(read.summary.skipped_count(), 4);
    assert_eq!(read.summary.tool, "CodeQL");
}

#[test]
fn sarif_suppression_proposes_the_verdict_that_it_states() {
    let of = |suppression: &str| {
        let text = format!(
            r#"{{"version":"2.1.0","runs":[{{"tool":{{"driver":{{"name":"lint"}}}},"results":[
                {{"ruleId":"a","message":{{"text":"x"}},"suppressions":[{suppression}]}}]}}]}}"#
        );
        proposed(&crate::import(text.as_bytes()).entries[0])
    };
    let own =
        r#"{"kind":"external","properties":{"verdict":"not_applicable","reason":"by_design"}}"#;
    for (suppression, expected) in [
        (own, "not applicable: by design"),
        (
            r#"{"kind":"inSource","properties":{"verdict":"confirmed"}}"#,
            "risk accepted: suppressed in the source",
        ),
        (
            r#"{"kind":"external","justification":"False-positive"}"#,
            "false positive: False-positive",
        ),
        (
            r#"{"kind":"external","justification":"Not a false positive"}"#,
            "risk accepted: Not a false positive",
        ),
        (
            r#"{"kind":"inSource"}"#,
            "risk accepted: suppressed in the source",
        ),
        (r#"{"kind":"external","status":"underReview"}"#, ""),
    ] {
        assert_eq!(of(suppression), expected, "{suppression}");
    }
}

#[test]
fn decision_of_an_export_replaces_what_an_earlier_file_proposed() {
    let of = |verdict: &str| {
        let reason = "x".repeat(2_000);
        let line = format!(
            r#"{{"vuln_id":"web.csp","name":"CSP","risk_level":1,"target_name":"a.test",
                "fingerprint":"1","presence":"new","verdict":"{verdict}","reason":"{reason}",
                "proposed":{{"verdict":"risk_accepted","reason":"{reason}","by":"ann"}}}}"#
        );
        let line = line.replace('\n', " ");
        let finding = crate::import(line.as_bytes()).entries[0]
            .clone()
            .into_finding();
        let proposed = finding.proposed?;
        assert!(proposed.reason.len() < 1_100, "the reason is shortened");
        Some(proposed.verdict)
    };
    assert_eq!(of("open"), Some(Verdict::RiskAccepted));
    assert_eq!(of("false_positive"), Some(Verdict::FalsePositive));
    assert_eq!(of("confirmed"), None);
}

#[test]
fn exported_finding_returns_without_loss() {
    let read = import_sample("findings.jsonl");
    let entry = read.entry("web.cookie.httponly");
    assert_eq!(proposed(entry), "false positive by ann: other");
    let written = String::from_utf8(crate::sample("findings.jsonl")).unwrap();
    let before: Finding = serde_json::from_str(written.lines().next().unwrap()).unwrap();
    let after = entry.clone().into_finding();
    assert_eq!(after.proposed.as_deref(), entry.proposed.as_ref());
    let after = Finding {
        proposed: None,
        ..after
    };
    assert_eq!(after, before);
    assert_eq!(read.summary.skipped_count(), 3);
}

#[test]
fn evidence_becomes_a_table_whose_first_column_is_the_place() {
    let read = import_sample("zap.xml");
    let finding = read.entries[0].clone().into_finding();
    let EvidenceView::Table { headers, rows } = finding.vuln_evidence.view() else {
        panic!("no table");
    };
    assert_eq!(headers, ["URL", "Method", "Parameter", "Matched"]);
    assert_eq!(
        rows[0],
        ["https://shop.test/", "GET", "lang", "Set-Cookie: lang"]
    );
    assert_eq!(finding.target_name.as_deref(), Some("https://shop.test"));
}
