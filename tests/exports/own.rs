//! Findings of our own, which no scanner can be asked for again: text and evidence go along everywhere.

use super::*;

/// How a target sent what it had first written into a page: proof of that.
const ENTITIES: &str = "&amp;x=&lt;a&gt;";

/// Two findings of our own of one class, each with its text and its evidence.
fn own_rows() -> Vec<ExportRow> {
    let one = |number: i64, text: &str| {
        let mut case = case(number, "shop.test", "SSRF", Presence::New);
        let request = format!("GET /?{text}-proof{ENTITIES} HTTP/1.1\r\nHost: probe\r\n\r\n");
        let finding = Finding {
            vuln_id: "ssrf".into(),
            vuln_description: format!("{text}\n# {HOSTILE}").as_str().into(),
            vuln_evidence: Evidence::from_value(&request.as_str().into()),
            port: 0,
            ..(*case.finding).clone()
        };
        let service = Shared::default();
        case.identity = Arc::new(Identity { class: "ssrf".into(), service, ..(*case.identity).clone() });
        (case.finding, case.own) = (Arc::new(finding), Some(Box::new(EventId { instance: 7, number: number as u64 })));
        ExportRow::new(
            Arc::new(case),
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
fn what_persons_proved_is_in_every_export_with_its_own_text_and_evidence() {
    let rows = own_rows();
    for format in ExportFormat::ALL {
        let told = String::from_utf8(bytes(format, &rows)).unwrap();
        for words in ["by the picture", "by the import"] {
            // What the target sent is told as it came.
            let proof = format!("{words}-proof{ENTITIES}");
            let proof = if format == ExportFormat::Html { proof.replace('&', "&amp;") } else { proof };
            assert!(told.contains(words) && told.contains(&proof), "{} has no {proof}:\n{told}", format.as_str());
        }
        if !matches!(format, ExportFormat::Html | ExportFormat::Json) {
            assert!(!told.contains(['\u{7}', '\u{1b}', '\u{202e}', '\u{9b}']), "{}", format.as_str());
        }
    }
    let sarif: Value = serde_json::from_slice(&bytes(ExportFormat::Sarif, &rows)).unwrap();
    holds(&validator("sarif-2.1.0.json"), &sarif);
    holds(&validator("cyclonedx-1.6.json"), &serde_json::from_slice(&bytes(ExportFormat::Vex, &rows)).unwrap());
    let run = &sarif["runs"][0];
    assert_eq!(run["tool"]["driver"]["rules"][0].get("fullDescription"), None, "the class is not the first one's text");
    let place = &run["results"][1]["locations"][0]["logicalLocations"][0];
    assert_eq!(place["fullyQualifiedName"], "shop.test");
    let hand_over = String::from_utf8(bytes(ExportFormat::Markdown, &rows)).unwrap();
    assert!(!hand_over.lines().any(|line| line.starts_with("# =")), "{hand_over}");
    let page = String::from_utf8(bytes(ExportFormat::Html, &rows)).unwrap();
    assert!(!page.contains("0/tcp"), "{page}");
}
