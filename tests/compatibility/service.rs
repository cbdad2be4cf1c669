//! The service database of an earlier version.

use serde_json::Value;

use super::{Home, LOGGER_BASE, differences, expected};

/// Fields whose value depends on the current date.
const DATE_DEPENDENT: &[&str] = &["active_days"];

#[tokio::test(flavor = "multi_thread")]
async fn service_database_opened_lists_same_resources() {
    let home = Home::with_fixture();
    let service = home.serve().await;
    for noun in [
        "workspaces",
        "targets",
        "scans",
        "loggers",
        "reports",
        "wordlists",
    ] {
        let out = home
            .output(&[noun, "list", "--json"])
            .await
            .replace(&service.logger_base, LOGGER_BASE);
        let actual: Value = serde_json::from_str(&out).unwrap();
        let mut expected = expected(noun);
        if noun == "wordlists" {
            // Names and descriptions of predefined wordlists may be reworded.
            for list in expected
                .as_array_mut()
                .unwrap()
                .iter_mut()
                .filter(|list| list["predefined"] == true)
            {
                let list = list.as_object_mut().unwrap();
                list.retain(|name, _| !matches!(name.as_str(), "name" | "description"));
            }
        }
        assert_eq!(
            differences(&expected, &actual, DATE_DEPENDENT),
            [""; 0],
            "{noun}"
        );
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn service_database_opened_keeps_findings_captures_reports_and_words() {
    let home = Home::with_fixture();
    let service = home.serve().await;
    let occurrences = home.json(&["findings", "list", "--all-scans"]).await;
    // Three runs of 50 findings, and two manual findings.
    assert_eq!(occurrences.as_array().unwrap().len(), 152);
    for (logger, count) in [("practice-visits", 48), ("hunt", 5)] {
        let captures = home.json(&["loggers", "captures", logger]).await;
        assert_eq!(captures.as_array().unwrap().len(), count, "{logger}");
    }
    for (id, beginning) in [("1", "<!doctype html>"), ("2", "["), ("3", "target,")] {
        let file = format!("report-{id}");
        home.output(&["reports", "download", id, "-o", &file]).await;
        let report = std::fs::read_to_string(home.path().join(file))
            .unwrap()
            .to_lowercase();
        assert!(
            report.contains("credentials file exposed") && report.contains(beginning),
            "{report:.200}"
        );
    }
    assert_eq!(
        home.output(&["wordlists", "contents", "3"])
            .await
            .trim_end(),
        "admin\nbackup\n.env\nserver-status"
    );
    service.stop().await;
}
