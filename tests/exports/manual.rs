//! Manual findings: no scanner can report them again, so every export contains their text and
//! evidence.

use super::*;

/// HTML entities in the response of a target. Exports must keep them as evidence.
const ENTITIES: &str = "&amp;x=&lt;a&gt;";

/// Two manual findings of one class with different texts and evidence.
fn manual_rows() -> Vec<ExportRow> {
    let one = |number: i64, text: &str| {
        let mut issue = issue(number, "shop.test", "SSRF", Presence::New);
        let request = format!("GET /?{text}-proof{ENTITIES} HTTP/1.1\r\nHost: probe\r\n\r\n");
        let finding = Finding {
            vuln_id: "ssrf".into(),
            vuln_description: format!("{text}\n# {HOSTILE}").as_str().into(),
            vuln_evidence: Evidence::from_value(&request.as_str().into()),
            port: 0,
            ..issue.finding.whole().unwrap()
        };
        let service = Shared::default();
        issue.identity = Identity {
            class: "ssrf".into(),
            service,
            ..issue.identity.clone()
        };
        issue.finding = Arc::new(finding.into());
        let manual = Some(Box::new(EventId {
            instance: 7,
            number: number as u64,
        }));
        issue.rare = RareIssueData {
            manual,
            ..RareIssueData::default()
        }
        .boxed();
        ExportRow::new(
            Arc::new(issue),
            Assessment::default(),
            &TriageState::default(),
            "shop.test".into(),
            None,
            "Acme".into(),
        )
    };
    vec![one(1, "by the picture"), one(2, "by the import")]
}

#[test]
fn manual_findings_in_every_export_keep_text_and_evidence() {
    let rows = manual_rows();
    for format in ExportFormat::ALL {
        let export = readable(format.as_str(), &bytes(format, &rows));
        for description in ["by the picture", "by the import"] {
            // Exports contain the bytes of the target unchanged.
            let proof = format!("{description}-proof{ENTITIES}");
            let proof = if format == ExportFormat::Html {
                proof.replace('&', "&amp;")
            } else {
                proof
            };
            // The lines of a page break long words.
            let (export, proof) = match format {
                ExportFormat::Pdf => (export.replace(['\n', ' '], ""), proof.replace(' ', "")),
                _ => (export.clone(), proof),
            };
            let description = if format == ExportFormat::Pdf {
                description.replace(' ', "")
            } else {
                description.to_owned()
            };
            assert!(
                export.contains(&description) && export.contains(&proof),
                "{} lacks {proof}:\n{export}",
                format.as_str()
            );
        }
        if !matches!(format, ExportFormat::Html | ExportFormat::Json) {
            assert!(
                !export.contains(['\u{7}', '\u{1b}', '\u{202e}', '\u{9b}']),
                "{}",
                format.as_str()
            );
        }
    }
    let sarif: Value = serde_json::from_slice(&bytes(ExportFormat::Sarif, &rows)).unwrap();
    assert_valid(&SARIF, &sarif);
    assert_valid(
        &VEX,
        &serde_json::from_slice(&bytes(ExportFormat::Vex, &rows)).unwrap(),
    );
    let run = &sarif["runs"][0];
    let rule = &run["tool"]["driver"]["rules"][0];
    assert_eq!(
        rule["fullDescription"]["text"], "SSRF",
        "a rule does not use the text of its first finding"
    );
    let location = &run["results"][1]["locations"][0]["logicalLocations"][0];
    assert_eq!(location["fullyQualifiedName"], "shop.test");
    let markdown = String::from_utf8(bytes(ExportFormat::Markdown, &rows)).unwrap();
    assert!(
        !markdown.lines().any(|line| line.starts_with("# =")),
        "{markdown}"
    );
    let page = String::from_utf8(bytes(ExportFormat::Html, &rows)).unwrap();
    assert!(!page.contains("0/tcp"), "{page}");
    assert!(
        page.contains("Manual finding, added ") && !page.contains("Scanned"),
        "no scan ran: {page}"
    );
    for text in [page.to_lowercase(), markdown] {
        assert!(text.contains("manual"), "{text}");
    }
}
