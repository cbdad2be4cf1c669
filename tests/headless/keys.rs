//! `scandeck keys` without a subcommand, and `[keys]` in the configuration.

use serde_json::Value;
use tempfile::TempDir;

use super::{Ended, command, run};

/// A home directory with this configuration.
fn home(config: &str) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join(".config/scandeck");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("config.toml"), config).unwrap();
    home
}

async fn keys(home: &TempDir, args: &[&str]) -> Ended {
    run(&mut command(home.path(), &[&["keys"], args].concat())).await
}

#[tokio::test]
async fn keys_prints_the_table_in_effect() {
    let home = home(
        "[keys.findings]\nretest = [\"S\", \"Z r\"]\ndelete = []\n\n[keys.everywhere]\ngo = \"space\"\n",
    );
    let table = keys(&home, &[]).await;
    let line = |context: &str, action: &str| {
        let is_row = |line: &&str| {
            line.starts_with(context) && line.split_whitespace().any(|word| word == action)
        };
        let line = table
            .out
            .lines()
            .find(is_row)
            .unwrap_or_else(|| panic!("{action}: {table:?}"));
        line.split_whitespace()
            .take(4)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(line("findings ", "retest"), "findings S Zr retest");
    assert_eq!(line("go ", "go_target"), "go space t go_target");
    let json: Value = serde_json::from_str(&keys(&home, &["--json"]).await.out).unwrap();
    let of = |context: &str, action: &str| {
        let mut rows = json.as_array().unwrap().iter();
        rows.find(|row| row["context"] == context && row["action"] == action)
            .unwrap()["keys"]
            .clone()
    };
    assert_eq!(of("findings", "delete"), Value::Array(Vec::new()));
    assert_eq!(
        of("scans", "delete"),
        serde_json::json!(["D"]),
        "other contexts keep their keys"
    );
}

#[tokio::test]
async fn conflict_is_an_error_with_line_and_both_actions() {
    let home = home("user = \"ann\"\n\n[keys.findings]\nretest = \"c\"\n");
    let ended = keys(&home, &[]).await;
    ended.refused(
        1,
        "config.toml:4: in context findings, key c is assigned to both confirm and retest",
    );
    assert!(
        ended.err.contains("[keys.findings] confirm = []"),
        "{ended:?}"
    );
    let doctor = run(&mut command(home.path(), &["doctor"])).await;
    assert!(
        doctor.code == 1 && doctor.out.contains("config.toml:4"),
        "{doctor:?}"
    );
}

#[tokio::test]
async fn options_of_the_table_are_refused_for_api_keys() {
    let home = home("");
    keys(&home, &["--json", "list"])
        .await
        .refused(2, "for the keyboard keys");
    let list = keys(&home, &["--data-dir", "data", "list"]).await;
    assert!(
        list.code == 1 && list.err.contains("does not exist"),
        "{list:?}"
    );
}
