//! `scandeck import --dry-run`: files are recognised by their content, and nothing is stored.

use std::fs;

use serde_json::{Value, json};

use super::{Ended, command, run};

const NUCLEI: &str = r#"{"template-id":"CVE-2021-44228","info":{"name":"Log4j \u001b[2J","severity":"critical"},"type":"http","host":"https://shop.test","matched-at":"https://shop.test/"}
{"template-id":"tech","info":{"name":"Technology","severity":"info"},"type":"http","host":"https://pay.test","matched-at":"https://pay.test/"}
not a result
"#;

async fn import(home: &std::path::Path, args: &[&str]) -> Ended {
    let mut command = command(home, &[&["import", "--dry-run"], args].concat());
    run(command.current_dir(home)).await
}

#[tokio::test]
async fn dry_run_tells_what_files_contain() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("results")).unwrap();
    fs::write(home.path().join("results/a.txt"), NUCLEI).unwrap();
    fs::write(
        home.path().join("results/b.json"),
        "{\"kind\": \"no scan\"}",
    )
    .unwrap();

    let shown = import(home.path(), &["results/a.txt"]).await;
    assert_eq!(shown.code, 0, "{shown:?}");
    for line in [
        "format    nuclei",
        "findings  2: 1 critical, 1 info",
        "targets   https://pay.test, https://shop.test",
        "skipped   1 result: ",
    ] {
        assert!(shown.out.contains(line), "{line}: {}", shown.out);
    }

    let all = import(home.path(), &["--recursive", "--json", "results"]).await;
    assert_eq!(all.code, 1, "one file is unknown: {all:?}");
    let all: Value = serde_json::from_str(&all.out).unwrap();
    let files = all["files"].as_array().unwrap();
    assert_eq!(files.len(), 2, "{all}");
    assert_eq!(
        (&files[0]["findings"], &files[0]["by_risk"]),
        (&json!(2), &json!({"critical": 1, "info": 1}))
    );
    assert_eq!(files[0]["skipped"][0]["count"], 1);
    assert_eq!(files[1]["format"], Value::Null);
    assert!(!home.path().join(".local").exists(), "nothing is stored");
}

#[tokio::test]
async fn missing_files_folders_and_formats_are_named() {
    let home = tempfile::tempdir().unwrap();
    for (args, message) in [
        (&["nowhere.json"][..], "no such file"),
        (&["."][..], "directory"),
        (
            &["--format", "csv", "/dev/null"][..],
            "no format is called csv",
        ),
    ] {
        let refused = import(home.path(), args).await;
        assert!(
            refused.code == 1 && refused.out.to_lowercase().contains(message),
            "{message}: {refused:?}"
        );
    }
    let mut stored = command(home.path(), &["import", "results.json"]);
    let stored = run(&mut stored).await;
    assert!(
        stored.code == 2 && stored.err.contains("--dry-run"),
        "{stored:?}"
    );
}
