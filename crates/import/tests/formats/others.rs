//! The other tools.

use scandeck_wire::contract::Risk;

use super::*;

#[test]
fn openvas_reads_xml_and_csv() {
    let read = import_sample("openvas.xml");
    let weak = read.entry("openvas:1.3.6.1.4.1.25623.1.0.105611");
    assert_eq!(
        (target(weak), weak.port, weak.risk),
        ("srv.shop.test", Some(22), Risk::Medium)
    );
    assert_eq!(
        (weak.source_risk.as_str(), weak.impact.as_str()),
        ("Medium (4.3)", "Reading.")
    );
    assert_eq!(
        (weak.cves[0].as_str(), weak.references[0].as_str()),
        ("CVE-2008-5161", "https://ssh.test/a")
    );
    assert_eq!(weak.epss.map(|epss| epss.score), Some(0.02));
    let other = read.entry("openvas:1.3.6.1.4.1.25623.1.0.80091");
    assert_eq!(
        (other.port, other.risk, proposed(other).as_str()),
        (None, Risk::Info, "false positive: override")
    );
    assert_eq!(read.summary.version, "22.6");
    let table = import_sample("openvas.csv");
    let old = table.entry("openvas:1.3.6.1.4.1.25623.1.0.1");
    assert_eq!(
        (old.risk, old.cves.len(), target(old)),
        (Risk::Critical, 2, "192.0.2.7")
    );
    assert!(old.description.contains("very old"));
}

#[test]
fn nessus_table_with_few_chosen_columns_is_recognised() {
    let read =
        crate::import(b"Plugin ID,Risk,Host,Port,Name\n20007,High,192.0.2.7,443,SSL 2 and 3\n");
    assert_eq!(read.ids(), ["nessus:20007"]);
    assert_eq!(read.entry("nessus:20007").port, Some(443));
}

#[test]
fn nessus_checks_of_an_audit_are_findings_unless_they_passed() {
    let item = |check: &str, result: &str, severity: &str| {
        format!(
            "<ReportItem port='0' svc_name='general' protocol='tcp' severity='{severity}' \
             pluginID='21157' pluginName='Unix Compliance Checks' pluginFamily='Policy Compliance'>\
             <compliance>true</compliance><description>\"{check}\" : [{result}]</description>\
             <cm:compliance-check-name>{check}</cm:compliance-check-name>\
             <cm:compliance-result>{result}</cm:compliance-result>\
             <cm:compliance-solution>Set {check}.</cm:compliance-solution>\
             <cm:compliance-policy-value>1</cm:compliance-policy-value>\
             <cm:compliance-actual-value>0</cm:compliance-actual-value></ReportItem>"
        )
    };
    let items = [
        item("1.1 a", "PASSED", "3"),
        item("1.2 b", "FAILED", "3"),
        item("1.3 c", "WARNING", "2"),
        item("1.4 d", "ERROR", "2"),
    ];
    let file = format!(
        "<NessusClientData_v2><Report xmlns:cm='http://www.nessus.org/cm'><ReportHost name='a.test'>{}</ReportHost></Report></NessusClientData_v2>",
        items.concat()
    );
    let table = "Plugin ID,Risk,Host,Port,Name,Description\n\
         21157,PASSED,a.test,0,Unix Compliance Checks,\"\"\"1.1 a\"\" : [PASSED]\"\n\
         21157,FAILED,a.test,0,Unix Compliance Checks,\"\"\"1.2 b\"\" : [FAILED]\n\ntext\"\n\
         21157,WARNING,a.test,0,Unix Compliance Checks,\"\"\"1.3 c\"\" : [WARNING]\"\n\
         21157,ERROR,a.test,0,Unix Compliance Checks,\"\"\"1.4 d\"\" : [ERROR]\"\n";
    for read in [
        crate::import(file.as_bytes()),
        crate::import(table.as_bytes()),
    ] {
        let entries = read.entries.iter();
        let seen: Vec<(&str, &str, Risk)> = entries
            .map(|entry| {
                (
                    entry.title.as_str(),
                    entry.place.parameter.as_str(),
                    entry.risk,
                )
            })
            .collect();
        assert_eq!(
            seen,
            [
                ("1.2 b", "1.2 b", Risk::High),
                ("1.3 c", "1.3 c", Risk::Medium),
                ("1.4 d", "1.4 d", Risk::Medium)
            ]
        );
        assert_eq!(read.skipped(), [("compliance check passed", 1)]);
    }
    let failed = crate::import(file.as_bytes()).entries.remove(0);
    assert_eq!(failed.recommendation, "Set 1.2 b.");
    let compared = EntryEvidence::text("Policy value: 1\n\nActual value: 0");
    assert_eq!(failed.evidence, compared);
}

#[test]
fn servers_that_were_not_tested_to_their_end_leave_classes_uncompleted() {
    let nessus = "<NessusClientData_v2><Report><ReportHost name='a.test'><HostProperties><tag name='HOST_START'>Wed Mar 23 14:00:00 2022</tag></HostProperties></ReportHost></Report></NessusClientData_v2>";
    let sslscan = "<document title='SSLScan Results' version='2.1'><error><![CDATA[Could not open a connection]]></error></document>";
    let sslyze = r#"{"server_scan_results":[{"server_location":{"hostname":"a.test","port":443},"scan_result":null}]}"#;
    for (file, class) in [
        (nessus, "nessus:"),
        (sslscan, "sslscan:"),
        (sslyze, "sslyze:"),
    ] {
        let read = crate::import(file.as_bytes());
        assert!(read.summary.uncompleted.contains(class), "{class}");
        assert_eq!(read.summary.skipped_count(), 1, "{class}");
    }
    let whole = import_sample("scan.nessus");
    assert!(whole.summary.uncompleted.is_empty());
}

#[test]
fn nessus_evidence_has_every_output_of_the_plugin() {
    let file = "<NessusClientData_v2><Report><ReportHost name='a.test'><ReportItem port='1' severity='1' pluginID='5' pluginName='n'><plugin_output>one</plugin_output><plugin_output>two</plugin_output></ReportItem></ReportHost></Report></NessusClientData_v2>";
    let read = crate::import(file.as_bytes());
    assert_eq!(read.entries[0].evidence, EntryEvidence::text("one\n\ntwo"));
}

#[test]
fn nessus_rows_of_one_result_are_one_entry() {
    let read = import_sample("nessus.csv");
    assert_eq!(read.ids(), ["nessus:20007", "nessus:98104"]);
    assert_eq!(read.entries[0].cves, ["CVE-2014-3566", "CVE-2016-0800"]);
    assert_eq!(
        (target(&read.entries[1]), read.entries[1].risk),
        ("https://shop.test", Risk::Medium)
    );
}

#[test]
fn port_scanners_list_each_port_once() {
    let read = import_sample("masscan.json");
    let ports: Vec<_> = read
        .entries
        .iter()
        .map(|entry| (entry.port, entry.service.as_str()))
        .collect();
    assert_eq!(ports, [(Some(8080), ""), (Some(22), "ssh")]);
    assert_eq!(read.summary.skipped_count(), 2);
    let read = import_sample("naabu.jsonl");
    let ports: Vec<_> = read
        .entries
        .iter()
        .map(|entry| (target(entry), entry.port, entry.protocol.as_str()))
        .collect();
    assert_eq!(
        ports,
        [
            ("shop.test", Some(443), "tcp"),
            ("192.0.2.8", Some(53), "udp")
        ]
    );
}

#[test]
fn found_pages_are_information() {
    let read = import_sample("httpx.jsonl");
    let page = read.entry("httpx:page");
    assert_eq!(
        (target(page), page.port, page.place.path.as_str()),
        ("https://shop.test:8443", Some(8443), "/login")
    );
    assert_eq!(page.target.as_ref().unwrap().others, ["192.0.2.7"]);
    let read = import_sample("ffuf.json");
    let found = read.entry("ffuf:found");
    assert_eq!(
        (target(found), found.place.path.as_str(), found.risk),
        ("http://shop.test", "/admin", Risk::Info)
    );
    assert_eq!(items(found)[0].attack, "admin");
}

#[test]
fn found_names_are_information_about_their_domain() {
    let read = import_sample("subfinder.jsonl");
    let places: Vec<_> = read
        .entries
        .iter()
        .map(|entry| (target(entry), entry.place.path.as_str(), entry.risk))
        .collect();
    assert_eq!(
        places,
        [
            ("shop.test", "www.shop.test", Risk::Info),
            ("shop.test", "mail2.shop.test", Risk::Info)
        ]
    );
    assert_eq!(read.skipped(), [("entry without a name", 1)]);
}

#[test]
fn tls_facts_become_weaknesses_and_coverage() {
    let read = import_sample("sslyze.json");
    assert_eq!(
        read.ids(),
        [
            "sslyze:certificate-name",
            "sslyze:certificate-untrusted",
            "sslyze:tls-1.0",
            "sslyze:weak-cipher"
        ]
    );
    let coverage = &read.summary.coverage[0];
    assert!(coverage.includes("sslyze:heartbleed", "tcp", Some(443), &[]));
    assert!(!coverage.includes("sslyze:robot-weak", "tcp", Some(443), &[]));
    assert_eq!(
        read.skipped(),
        [
            ("test was not completed", 1),
            ("server was not reachable", 1)
        ]
    );
    let read = import_sample("sslscan.xml");
    assert_eq!(
        read.ids(),
        [
            "sslscan:certificate-expired",
            "sslscan:certificate-sha1",
            "sslscan:certificate-weak-key",
            "sslscan:heartbleed",
            "sslscan:ssl-3.0",
            "sslscan:weak-cipher"
        ]
    );
    assert!(read.summary.coverage[0].includes("sslscan:tls-1.0", "tcp", Some(443), &[]));
}

#[test]
fn wapiti_reads_both_forms() {
    let read = import_sample("wapiti.xml");
    let injection = read.entry("wapiti:sql-injection");
    assert_eq!(
        (injection.risk, injection.cwes.as_slice()),
        (Risk::Critical, &[89][..])
    );
    assert_eq!(
        (
            injection.place.path.as_str(),
            injection.place.parameter.as_str()
        ),
        ("/search", "q")
    );
    let read = import_sample("wapiti.json");
    let backup = read.entry("wapiti:backup-file");
    assert_eq!(
        (target(backup), backup.port, backup.risk),
        ("http://shop.test:8080", Some(8080), Risk::Low)
    );
    assert_eq!(
        (backup.recommendation.as_str(), backup.cwes[0]),
        ("Remove it.", 530)
    );
    assert_eq!(read.summary.version, "3.2.0");
}

#[test]
fn nikto_distinguishes_the_headers_of_one_test() {
    let read = import_sample("nikto.json");
    let names: Vec<&str> = read
        .entries
        .iter()
        .map(|entry| entry.place.parameter.as_str())
        .collect();
    assert_eq!(names, ["x-cache", "x-other"]);
    assert_eq!(target(&read.entries[0]), "https://shop.test");
    let read = import_sample("nikto.xml");
    let frame = read.entry("nikto:999976");
    assert_eq!(
        (target(frame), frame.place.path.as_str()),
        ("http://shop.test:8070", "/a")
    );
}

#[test]
fn wpscan_reads_findings_and_vulnerabilities() {
    let read = import_sample("wpscan.json");
    assert_eq!(
        read.ids(),
        ["wpscan:xmlrpc", "wpscan:b3f2", "wpscan:forms-sqli"]
    );
    let script = read.entry("wpscan:b3f2");
    assert_eq!(
        (script.risk, script.cves[0].as_str()),
        (Risk::High, "CVE-2019-9787")
    );
    assert_eq!(read.entry("wpscan:forms-sqli").risk, Risk::Medium);
    assert_eq!(
        read.entry("wpscan:forms-sqli").place.path,
        "/wordpress/wp-content/plugins/forms/"
    );
}

#[test]
fn acunetix_reads_both_forms() {
    let read = import_sample("acunetix.xml");
    let form = read.entry("acunetix:html-form-without-csrf-protection");
    assert_eq!(
        (target(form), form.place.path.as_str()),
        ("https://shop.test", "/search")
    );
    assert_eq!(
        (form.cwes[0], form.cves[0].as_str(), proposed(form).as_str()),
        (352, "CVE-2020-0001", "false positive")
    );
    let read = import_sample("acunetix.json");
    let cookie = read.entry("acunetix:CookieNotMarkedAsHttpOnly");
    assert_eq!(
        (cookie.cwes.as_slice(), cookie.is_confirmed),
        (&[16, 200][..], true)
    );
    assert_eq!(proposed(cookie), "risk accepted");
    assert_eq!(cookie.references, ["https://a.test/x"]);
}

#[test]
fn cyclonedx_vulnerability_is_an_entry_for_each_component() {
    let read = import_sample("bom.json");
    assert_eq!(
        read.ids(),
        [
            "cyclonedx:CVE-2021-44228",
            "cyclonedx:CVE-2021-44228",
            "cyclonedx:GHSA-1"
        ]
    );
    let first = &read.entries[0];
    assert_eq!(
        (first.risk, first.place.path.as_str(), target(first)),
        (Risk::Critical, "org.log/core", "shop")
    );
    assert_eq!(first.cvss.as_ref().and_then(|cvss| cvss.score), Some(10.0));
    let other = read.entry("cyclonedx:GHSA-1");
    assert_eq!(
        (other.cves[0].as_str(), proposed(other).as_str()),
        ("CVE-2020-0001", "not applicable: code_not_reachable")
    );
    assert_eq!(read.summary.tool, "grype");
    let read = import_sample("bom.xml");
    let apt = read.entry("cyclonedx:CVE-2011-3374");
    assert_eq!(
        (apt.risk, apt.title.as_str(), apt.cwes[0]),
        (Risk::Low, "CVE-2011-3374 in apt 1.8", 347)
    );
}

#[test]
fn generic_finding_is_an_entry_for_each_target() {
    let read = import_sample("generic.json");
    assert_eq!(
        read.ids(),
        ["generic:TEST1", "generic:TEST1", "generic:in-a-file"]
    );
    let first = &read.entries[0];
    assert_eq!(
        (target(first), target(&read.entries[1])),
        ("https://shop.test", "http://old.test:8080")
    );
    assert_eq!(
        (first.cwes.as_slice(), first.fingerprint.as_str()),
        (&[261, 521, 22][..], "u1")
    );
    assert_eq!(proposed(first), "false positive");
    let read = import_sample("generic.csv");
    let leak = read.entry("generic:leak-header");
    assert_eq!(
        (target(leak), proposed(leak).as_str()),
        ("https://192.0.2.7", "duplicate")
    );
}
