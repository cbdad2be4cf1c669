//! Files that are almost in their format: as tools, shells and spreadsheets write them by mistake.

use scandeck_import::{ImportEntry, ImportLimits};
use serde_json::{Value, json};

use crate::{Imported, import, sample, samples};

const NUCLEI: &str = r#"{"template-id":"a","info":{"name":"n","severity":"high"},"host":"https://shop.test","matched-at":"https://shop.test/a"}"#;
const NESSUS: &str = "Plugin ID,CVE,Risk,Host,Protocol,Port,Name,Plugin Output";

#[track_caller]
fn complete(text: &str, entries: usize) -> Imported {
    let read = import(text.as_bytes());
    assert_eq!(read.summary.damage, None);
    assert_eq!(read.entries.len(), entries, "{:?}", read.skipped());
    read
}

fn testssl_row(id: &str, finding: &str) -> String {
    format!(
        r#"{{"id":"{id}","ip":"shop.test/192.0.2.1","port":"8443","severity":"LOW","finding":"{finding}"}}"#
    )
}

#[test]
fn errors_in_json_are_repaired() {
    let (first, second) = (testssl_row("a", "x"), testssl_row("b", "y"));
    for list in [
        format!("[{first},{second},]"),
        format!("[{first} {second}]"),
        format!("[,{first},,{second}]"),
        format!(
            "[{first},{},{second}]",
            testssl_row("c", "C=DE\\ O=x \\x27")
        ),
        format!("[{first},{},{second}]", testssl_row("c", "two\nlines")),
        format!("[{first},{},{second}]", testssl_row("c", "\\ud800")),
    ] {
        let read = import(list.as_bytes());
        assert_eq!(read.summary.damage, None, "{list}");
        assert!(
            ["testssl:a", "testssl:b"]
                .iter()
                .all(|id| read.ids().contains(id)),
            "{list}"
        );
    }
    let lines = [
        NUCLEI.to_owned(),
        NUCLEI.replace("\"high\"", "\"high\",\"x\":NaN"),
        NUCLEI.replace("\"n\"", "\"a\tb\""),
        NUCLEI.replace("\"n\"", "\"\\udc00\""),
        NUCLEI.replace(
            "\"high\"",
            "\"high\",\"classification\":{\"cvss-score\":1e999}",
        ),
    ];
    complete(&lines.join("\n"), lines.len());
    complete(&lines[1..].join("\n"), lines.len() - 1);
    let name_in_list = r#"{"Invocation":"x","scanResult":["clientProblem1":[{"id":"p","severity":"WARN","finding":"f"}],,{"targetHost":"shop.test","ip":"192.0.2.1","port":"8443","protocols":[{"id":"TLS1","severity":"LOW","finding":"offered"}]}]}"#;
    assert_eq!(complete(name_in_list, 1).ids(), ["testssl:TLS1"]);
    let without_quotes = "[\n{ ip: \"192.0.2.1\", ports: [ {port: 80, proto: \"tcp\", status: \"open\"} ] },\n{finished: 1}\n]";
    complete(without_quotes, 1);
}

#[test]
fn damage_is_not_repaired() {
    let (first, second) = (testssl_row("a", "x"), testssl_row("b", "y"));
    for list in [
        format!("[{first},{second}"),
        format!("[{first}, {second}] done"),
        format!("[{first}, \0\0\0\0 {second}]"),
        format!("[{first},{}]", testssl_row("b", "\0\0\0\0")),
    ] {
        let read = import(list.as_bytes());
        assert!(read.summary.damage.is_some(), "{list}");
        assert!(read.ids().contains(&"testssl:a"), "{list}");
        assert!(read.summary.coverage.is_empty(), "{list}");
    }
}

#[test]
fn last_member_of_a_name_counts_and_null_is_no_value() {
    let twice = NUCLEI.replacen('{', r#"{"template-id":"other","#, 1);
    assert_eq!(complete(&twice, 1).ids(), ["nuclei:a"]);
    let ports = r#"[{"ip":"192.0.2.1","ports":null},
{"ip":"192.0.2.2","ports":{"port":80,"proto":"tcp","status":"open"}},
{"ip":"192.0.2.3","ports":[{"port":"443","proto":"tcp","status":"open"}]}]"#;
    complete(ports, 2);
    let endpoints = r#"{"findings":[{"title":"a","endpoints":null},{"title":"b","endpoints":"shop.test:8080/x"},{"title":"c","endpoints":[{"host":"shop.test","port":"8081"}]}]}"#;
    let read = complete(endpoints, 3);
    let ports: Vec<Option<u16>> = read.entries.iter().map(|entry| entry.port).collect();
    assert_eq!(ports, [None, Some(8080), Some(8081)]);
    let sarif = r#"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"T","rules":null}},"results":[{"ruleId":"r","message":{"text":"m"},"locations":null}]}]}"#;
    assert_eq!(complete(sarif, 1).ids(), ["t:r"]);
}

#[test]
fn lines_before_the_results_are_passed_over() {
    for (before, name) in [
        (
            "Starting Nmap 7.94 ( https://nmap.org ) & more\n",
            "nmap.xml",
        ),
        ("Using the Automation Framework\nJob: a < b\n", "zap.xml"),
        ("Automation plan succeeded!\n", "zap.json"),
        ("Warning: templates are old\n", "nuclei.jsonl"),
        ("sep=,\r\n", "nessus.csv"),
    ] {
        let plain = import(&sample(name));
        let bytes = [before.as_bytes(), &sample(name)].concat();
        let read = import(&bytes);
        assert_eq!(read.entries, plain.entries, "{name}");
        assert_eq!(read.summary.coverage, plain.summary.coverage, "{name}");
        let noise = read.summary.skipped_count() - plain.summary.skipped_count();
        assert_eq!(noise, 1, "{name}: {:?}", read.skipped());
        let format = plain.summary.format.map(|format| format.name);
        let mut sink = |_: ImportEntry| std::ops::ControlFlow::Continue(());
        let limits = ImportLimits::default();
        let named = scandeck_import::read(&bytes[..], format, &limits, &mut sink).unwrap();
        assert_eq!(named[0].entries, plain.summary.entries, "{name}");
    }
    let other = "<html>\n<issues burpVersion=\"1\"/>\n</html>";
    let mut sink = |_: ImportEntry| std::ops::ControlFlow::Continue(());
    let read = scandeck_import::read(other.as_bytes(), None, &ImportLimits::default(), &mut sink);
    assert!(read.is_err(), "{read:?}");
}

#[test]
fn other_results_behind_an_xml_document_are_not_lost_without_a_word() {
    let nmap = String::from_utf8(sample("nmap.xml")).unwrap();
    let plain = import(nmap.as_bytes());
    // The reports of several runs in one file.
    let twice = import(format!("{nmap}\u{feff}{nmap}\n<!-- end -->\n\u{1a}").as_bytes());
    assert_eq!(twice.summary.damage, None);
    assert_eq!(twice.entries.len(), 2 * plain.entries.len());
    let burp = String::from_utf8(sample("burp.xml")).unwrap();
    for other in [NUCLEI, &burp, "<nmaprun2/>", "&amp;", "<![CDATA[x]]>"] {
        let read = import(format!("{nmap}\n{other}\n").as_bytes());
        assert_eq!(read.entries, plain.entries, "{other}");
        let damage = read.summary.damage.unwrap_or_default();
        assert!(
            damage.starts_with("other text follows"),
            "{other}: {damage}"
        );
        assert!(read.summary.coverage.is_empty(), "{other}");
    }
}

#[test]
fn report_without_all_results_of_its_scan_is_incomplete() {
    let result =
        r#"<result><host>192.0.2.7</host><nvt oid="1.3"/><severity>5.0</severity></result>"#;
    let report = |page: &str, results: usize, status: &str| {
        format!(
            r#"<report><report_format/><report><result_count>9<filtered>3</filtered></result_count><host><result_count><page>1</page></result_count></host><results {page}>{}</results><scan_run_status>{status}</scan_run_status></report></report>"#,
            result.repeat(results)
        )
    };
    for (page, results, status, damage) in [
        (r#"start="1" max="-1""#, 3, "Done", ""),
        (r#"start="1" max="3""#, 3, "Done", ""),
        ("", 3, "Container", ""),
        (r#"start="1" max="2""#, 2, "Done", "only 2 of 3 results"),
        (r#"start="3" max="2""#, 1, "Done", "only 1 of 3 results"),
        ("", 0, "Done", "only 0 of 3 results"),
        (
            "",
            3,
            "Stopped at 32 %",
            "the scan of the report was not finished: Stopped",
        ),
    ] {
        let read = import(report(page, results, status).as_bytes());
        assert_eq!(read.entries.len(), results);
        let seen = read.summary.damage.unwrap_or_default();
        assert_eq!(
            seen.is_empty(),
            damage.is_empty(),
            "{page} {status}: {seen}"
        );
        assert!(seen.contains(damage), "{page} {status}: {seen}");
    }
}

#[test]
fn packages_of_a_bill_without_components_keep_their_place_in_the_next_bill() {
    let bill = |serial: &str, version: &str| {
        json!({"bomFormat": "CycloneDX", "vulnerabilities": [
            {"id": "CVE-2021-44228", "affects": [
                {"ref": format!("urn:cdx:{serial}/1#pkg:maven/org.acme/log@{version}?type=jar")},
                {"ref": format!("urn:cdx:{serial}/1#013325a7")},
                {"ref": format!("pkg:npm/%40acme/shop@{version}")}]}]})
    };
    let read = complete(&bill("3e671687", "2.14").to_string(), 3);
    let titles: Vec<&str> = read.entries.iter().map(|one| one.title.as_str()).collect();
    assert_eq!(
        titles,
        [
            "CVE-2021-44228 in org.acme/log 2.14",
            "CVE-2021-44228 in 013325a7",
            "CVE-2021-44228 in @acme/shop 2.14"
        ]
    );
    let next = complete(&bill("a58921a6", "2.15").to_string(), 3);
    let places = |read: &Imported| -> Vec<String> {
        read.entries
            .iter()
            .map(|one| one.place.path.clone())
            .collect()
    };
    assert_eq!(places(&read), ["org.acme/log", "013325a7", "@acme/shop"]);
    assert_eq!(places(&next), places(&read));
}

#[test]
fn odd_parts_of_sarif_lose_neither_results_nor_the_rules_of_others() {
    let rule = |id: &str| json!({"id": id, "properties": {"security-severity": "9.8"}});
    let mut odd = rule("a");
    odd["relationships"] = json!({});
    odd["messageStrings"] = json!({"m": 5});
    let run = json!({
        "tool": {"driver": {"name": "T", "rules": [odd, 5, rule("b")]}, "extensions": "none"},
        "results": [
            // -1 is the default of an index.
            {"rule": {"id": "a", "index": -1, "toolComponent": {"index": -1}},
                "message": {"text": "m"},
                "locations": {"physicalLocation": {"artifactLocation": {"uri": "a.c", "index": -1}}}},
            {"ruleIndex": 2, "message": {"text": "m"}, "partialFingerprints": [], "locations": ["x"]},
            {"ruleId": "b", "ruleIndex": "first", "message": {"text": "m"},
                "webRequest": {"headers": []}}
        ]
    });
    let read = complete(&json!({"version": "2.1.0", "runs": [run]}).to_string(), 3);
    assert_eq!(read.ids(), ["t:a", "t:b", "t:b"]);
    let is_critical = |entry: &ImportEntry| entry.source_risk == "9.8";
    assert!(read.entries.iter().all(is_critical), "{:?}", read.entries);
    assert_eq!(read.entries[0].place.path, "a.c");
}

#[test]
fn names_that_containers_write_before_lines_are_left_out() {
    let named = format!("nuclei-1  | {NUCLEI}\nnuclei-1  | done\n\u{feff}{NUCLEI}\n");
    assert_eq!(
        complete(&named, 2).skipped(),
        [
            ("line is not JSON", 1),
            ("lines before the results are not read", 1),
        ]
    );
}

fn reversed(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut all: Vec<(String, Value)> = fields.into_iter().collect();
            all.reverse();
            let all = all.into_iter();
            all.map(|(name, field)| (name, reversed(field))).collect()
        }
        Value::Array(all) => all.into_iter().map(reversed).collect(),
        scalar => scalar,
    }
}

/// The identity of every entry, and the coverage.
fn facts(read: &Imported) -> Vec<String> {
    let fact = |entry: &ImportEntry| {
        format!(
            "{} {:?} {:?} {:?}",
            entry.vuln_id, entry.target, entry.port, entry.place
        )
    };
    let mut all: Vec<String> = read.entries.iter().map(fact).collect();
    all.extend(
        read.summary
            .coverage
            .iter()
            .map(|coverage| format!("{coverage:?}")),
    );
    all.sort();
    all
}

#[test]
fn order_of_members_changes_nothing() {
    let mut compared = 0;
    for path in samples() {
        let Ok(whole) = serde_json::from_slice::<Value>(&std::fs::read(&path).unwrap()) else {
            continue;
        };
        let read = import(whole.to_string().as_bytes());
        let other = import(reversed(whole).to_string().as_bytes());
        assert_eq!(facts(&other), facts(&read), "{path:?}");
        compared += 1;
    }
    assert!(compared > 10);
    let site = json!({"site": [{"alerts": [{"pluginid": "1", "name": "n"}], "@name": "https://shop.test"}]});
    let scan = json!({"Generated": "", "Vulnerabilities": [{"Name": "n", "LookupId": "1"}], "Target": {"Url": "https://shop.test"}});
    for document in [site, scan] {
        let entry = complete(&document.to_string(), 1).entries.remove(0);
        assert_eq!(entry.target.unwrap().name, "https://shop.test");
    }
}

#[test]
fn tables_of_spreadsheets_are_read() {
    let row = |id: &str, port: &str| format!("{id},,High,192.0.2.1,tcp,{port},n,x");
    let (first, second) = (row("10", "443.0"), row("11", " 8443 "));
    let old_mac = format!("{NESSUS}\r{first}\r{second}\r");
    let joined = format!("{NESSUS}\n{first}\n{NESSUS}\n{second}\n");
    for table in [old_mac, joined] {
        let read = complete(&table, 2);
        let ports: Vec<Option<u16>> = read.entries.iter().map(|entry| entry.port).collect();
        assert_eq!(ports, [Some(443), Some(8443)]);
    }
    let open = format!("{NESSUS}\n10,,High,192.0.2.1,tcp,443,n,\"open\n{second}\n");
    let read = import(open.as_bytes());
    let damage = read.summary.damage.unwrap_or_default();
    assert!(damage.contains("quoted cell"), "{damage}");
    complete(
        &format!("{NESSUS}\n10,,High,192.0.2.1,tcp,443,n,27\" and \"\"more\n"),
        1,
    );
}

#[test]
fn ports_numbers_and_times_of_other_forms_are_read() {
    let naabu = r#"{"host":"shop.test","ip":"192.0.2.1","port":443.0,"timestamp":"x"}
{"host":"shop.test","ip":"192.0.2.1","port":" 80 ","timestamp":"x"}"#;
    complete(naabu, 2);
    let openvas = |port: &str| {
        let text = format!(
            r#"<report format_id="x"><report_format/><result><name>n</name><host>192.0.2.1</host><port>{port}</port><nvt oid="1.3"/><severity>7,5</severity></result></report>"#
        );
        let entry = complete(&text, 1).entries.remove(0);
        (entry.port, entry.protocol)
    };
    for port in ["443/tcp", "443/tcp (IANA: https)", "https (443/tcp)"] {
        assert_eq!(openvas(port), (Some(443), "tcp".to_owned()), "{port}");
    }
    assert_eq!(openvas("general/tcp"), (None, String::new()));
    let comma = NUCLEI.replace(
        "\"high\"",
        "\"high\",\"classification\":{\"cvss-score\":\"9,8\"}",
    );
    let cvss = complete(&comma, 1).entries.remove(0).cvss.unwrap();
    assert_eq!(cvss.score, Some(9.8));
    for (time, expected) in [
        ("\"0001-01-01T00:00:00Z\"", None),
        ("\"Thu Jan  1 01:00:00 1970\"", None),
        ("1767434400123", Some("2026-01-03 10:00:00")),
    ] {
        let line = NUCLEI.replacen('{', &format!("{{\"timestamp\":{time},"), 1);
        let started = complete(&line, 1).summary.started.map(|at| at.to_string());
        assert_eq!(started.as_deref(), expected, "{time}");
    }
}

#[test]
fn zone_of_an_address_is_left_out_of_its_target() {
    for place in [
        "http://[fe80::1%25eth0]:8080/x",
        "http://[fe80::1%eth0]:8080/x",
    ] {
        let line = NUCLEI.replace("https://shop.test/a", place);
        let entry = complete(&line, 1).entries.remove(0);
        assert_eq!(
            entry.target.unwrap().name,
            "http://[fe80::1]:8080",
            "{place}"
        );
    }
}

#[test]
fn other_forms_of_masscan_are_read() {
    let records = r#"{"ip":"192.0.2.1","timestamp":"1785522037","port":80,"proto":"tcp","rec_type":"status","data":{"status":"open","reason":"syn-ack"}}
{"ip":"192.0.2.1","timestamp":"1785522037","port":22,"proto":"tcp","rec_type":"banner","data":{"service_name":"ssh","banner":"SSH-2.0-x"}}"#;
    let xml = r#"<nmaprun scanner="masscan"><host endtime="1785522037"><address addr="192.0.2.1"/><ports><port protocol="tcp" portid="80"><state state="open" reason="syn-ack"/></port></ports></host><host><address addr="192.0.2.1"/><ports><port protocol="tcp" portid="22"><state state="open"/><service name="ssh" banner="SSH-2.0-x"/></port></ports></host></nmaprun>"#;
    let read = [complete(records, 2), complete(xml, 2)];
    for one in &read {
        assert_eq!(one.ids(), ["masscan:open-port"; 2]);
        assert_eq!(one.entries[1].service, "ssh");
        assert_eq!(one.summary.started, read[0].summary.started);
    }
}

#[test]
fn unaffected_versions_and_aborted_scans_are_no_findings() {
    let bom = json!({"bomFormat": "CycloneDX", "vulnerabilities": [
        {"id": "CVE-2020-0001", "affects": [{"ref": "a", "versions": [{"version": "2", "status": "unaffected"}]}]},
        {"id": "CVE-2020-0002", "affects": [{"ref": "a", "versions": [{"version": "1", "status": "affected"}]}]},
    ]});
    let read = complete(&bom.to_string(), 1);
    assert_eq!(read.ids(), ["cyclonedx:CVE-2020-0002"]);
    assert_eq!(read.skipped(), [("versions are not affected", 1)]);
    let xml = r#"<bom xmlns="http://cyclonedx.org/schema/bom/1.4"><vulnerabilities><vulnerability><id>CVE-2020-0001</id><affects><target><ref>a</ref><versions><version><version>2</version><status>unaffected</status></version></versions></target></affects></vulnerability></vulnerabilities></bom>"#;
    complete(xml, 0);
    let aborted = r#"{"banner":{"version":"3.8"},"scan_aborted":"The url supplied is down"}"#;
    let read = import(aborted.as_bytes());
    let damage = Some("the scan was aborted before its end");
    assert_eq!(read.summary.damage.as_deref(), damage);
    assert!(read.entries.is_empty());
    for (word, is_damaged) in [("True", true), ("False", false)] {
        let acunetix = String::from_utf8(sample("acunetix.xml")).unwrap();
        let aborted = format!("<Aborted>{word}</Aborted><Crawler");
        let read = import(acunetix.replace("<Crawler", &aborted).as_bytes());
        assert_eq!(read.summary.damage.is_some(), is_damaged, "{word}");
    }
    let failed = r#"<nmaprun scanner="nmap"><runstats><finished exit="error" errormsg="x"/></runstats></nmaprun>"#;
    let damage = import(failed.as_bytes()).summary.damage.unwrap();
    assert!(damage.contains("ended with an error"), "{damage}");
    let old = r#"{"version":"1.0.0","runs":[{"tool":{"name":"T"},"results":[{"ruleId":"r","message":"m"}]}]}"#;
    let mut sink = |_: ImportEntry| std::ops::ControlFlow::Continue(());
    let read = scandeck_import::read(old.as_bytes(), None, &ImportLimits::default(), &mut sink);
    assert!(read.is_err(), "{read:?}");
}
