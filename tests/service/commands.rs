//! The commands on a data directory: scope, wordlists import, status, stop.

use std::path::Path;
use std::process::ExitCode;

use clap::{Args, Command, FromArgMatches};
use scandeck::cli::keys;
use scandeck::cli::service::{scope, status, stop, tools};
use scandeck::cli::wordlists;
use scandeck::service::scope::ScopeFile;
use serde_json::json;

use super::TestService;
use crate::headless::{command, run};

/// Parses the arguments of a command as the program does.
fn parse<T: Args + FromArgMatches>(dir: &Path, args: &[&str]) -> Result<T, clap::Error> {
    let flag = ["scandeck", "--data-dir", dir.to_str().unwrap()];
    let matches =
        T::augment_args(Command::new("scandeck")).try_get_matches_from(flag.iter().chain(args))?;
    T::from_arg_matches(&matches)
}

async fn scope(dir: &Path, args: &[&str]) -> ExitCode {
    scope::run(parse(dir, args).unwrap()).await.unwrap()
}

#[tokio::test]
async fn tools_are_listed_as_text_and_json() {
    // Each installed program is asked for its version, which takes one of them seconds.
    let args = tools::ToolsArgs::augment_args(Command::new("tools"));
    let args = args.try_get_matches_from(["tools", "--json"]).unwrap();
    let args = tools::ToolsArgs::from_arg_matches(&args).unwrap();
    assert_eq!(tools::run(&args).await.unwrap(), ExitCode::SUCCESS);
    // There is none for a program without a path.
    let home = tempfile::tempdir().unwrap();
    let listed = run(command(home.path(), &["tools"]).env("PATH", "")).await;
    assert_eq!(listed.code, 0, "{listed:?}");
    assert!(
        listed.out.contains("needs nmap: not installed"),
        "{listed:?}"
    );
}

#[tokio::test]
async fn scope_entry_added_while_service_runs_takes_effect() {
    let temp = tempfile::tempdir().unwrap();
    // This process has no variable with the URL of a database; see `nodes.rs`.
    super::database::use_file(temp.path());
    let service = TestService::in_dir(temp.path()).await;
    let create = async || service.post("/targets", json!({"name": "192.0.2.7"})).await;
    let refused = create().await;
    refused.assert_refused(403, "scandeck scope add 192.0.2.7 --data-dir DIR");
    let remedy = format!(
        "scandeck scope add 192.0.2.7 --data-dir {}",
        temp.path().display()
    );
    let matches = scope::ScopeArgs::augment_args(Command::new("scope"))
        .try_get_matches_from(remedy.split(' ').skip(1));
    scope::run(scope::ScopeArgs::from_arg_matches(&matches.unwrap()).unwrap())
        .await
        .unwrap();
    let target = create().await.created();
    service
        .delete(&format!("/targets/{target}"))
        .await
        .assert_no_content();
    scope(temp.path(), &["remove", "192.0.2.7"]).await;
    scope(
        temp.path(),
        &[
            "add",
            "192.0.2.0/24",
            "shop.acme.test",
            "--until",
            "2999-12-31",
            "--note",
            "SOW 114",
        ],
    )
    .await;
    let target = create().await.created();
    service
        .delete(&format!("/targets/{target}"))
        .await
        .assert_no_content();
    scope(temp.path(), &["deny", "192.0.2.7", "--note", "a printer"]).await;
    create().await.assert_refused(403, "a printer");
    service.stop().await;
}

#[tokio::test]
async fn scope_entries_record_author_and_are_removable() {
    let temp = tempfile::tempdir().unwrap();
    let list = temp.path().join("list");
    std::fs::write(&list, "# from the contract\n10.0.4.0/24\n*.acme.test\n\n").unwrap();
    scope(
        temp.path(),
        &["import", list.to_str().unwrap(), "--note", "SOW 7"],
    )
    .await;
    let file = ScopeFile::new(temp.path().join("scope.toml"));
    let entries = file.load().unwrap().allow;
    assert_eq!(entries.len(), 2);
    assert!(
        entries
            .iter()
            .all(|entry| entry.note == "SOW 7" && entry.who.contains('@') && entry.added.is_some())
    );
    assert_eq!(
        scope(temp.path(), &["remove", "*.acme.test"]).await,
        ExitCode::SUCCESS
    );
    assert_eq!(
        scope(temp.path(), &["remove", "*.acme.test"]).await,
        ExitCode::FAILURE
    );
    assert_eq!(scope(temp.path(), &["list"]).await, ExitCode::SUCCESS);
    assert_eq!(file.load().unwrap().allow.len(), 1);
    let refused =
        parse::<scope::ScopeArgs>(temp.path(), &["add", "http://acme.test/"]).unwrap_err();
    assert!(refused.to_string().contains("host only"), "{refused}");
}

#[tokio::test]
async fn scope_import_with_an_invalid_line_names_file_and_line_once() {
    let temp = tempfile::tempdir().unwrap();
    let list = temp.path().join("scope.txt");
    let import = async || {
        let args = parse(temp.path(), &["import", list.to_str().unwrap()]).unwrap();
        scope::run(args).await
    };
    std::fs::write(&list, "10.0.4.0/24\n\nbad entry\n").unwrap();
    let error = format!("{:#}", import().await.unwrap_err());
    assert!(
        error.contains("scope.txt:3: `bad entry` is not a scope entry")
            && error.contains("nothing was"),
        "{error}"
    );
    assert_eq!(error.matches("is not a scope entry").count(), 1, "{error}");
    std::fs::write(&list, "# nothing\n").unwrap();
    assert_eq!(import().await.unwrap(), ExitCode::SUCCESS);
    assert!(!temp.path().join("scope.toml").exists());
}

#[tokio::test]
async fn scope_remove_with_an_unknown_target_removes_the_others_and_fails() {
    let temp = tempfile::tempdir().unwrap();
    scope(temp.path(), &["add", "b.test", "c.test"]).await;
    assert_eq!(
        scope(temp.path(), &["remove", "b.test", "unknown.test"]).await,
        ExitCode::FAILURE
    );
    let entries = ScopeFile::new(temp.path().join("scope.toml"))
        .load()
        .unwrap()
        .allow;
    assert_eq!(
        entries
            .iter()
            .map(|entry| entry.target.to_string())
            .collect::<Vec<_>>(),
        ["c.test"]
    );
}

#[tokio::test]
async fn scope_of_a_missing_directory_is_an_error() {
    let temp = tempfile::tempdir().unwrap();
    let none = temp.path().join("none");
    for args in [&["list"][..], &["remove", "b.test"]] {
        let error = scope::run(parse(&none, args).unwrap())
            .await
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("none does not exist: start a service"),
            "{error}"
        );
    }
    assert!(!none.exists());
}

#[tokio::test]
async fn scope_deny_accepts_wide_networks_and_public_suffixes() {
    let temp = tempfile::tempdir().unwrap();
    let refused = parse::<scope::ScopeArgs>(temp.path(), &["add", "*.gov.au"]).unwrap_err();
    assert!(refused.to_string().contains("many owners"), "{refused}");
    assert_eq!(
        scope(temp.path(), &["deny", "*.gov.au", "10.0.0.0/7"]).await,
        ExitCode::SUCCESS
    );
    for verb in ["add", "deny"] {
        let refused = parse::<scope::ScopeArgs>(temp.path(), &[verb, "10.0.4.5-10"]).unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("address ranges are not supported"),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn keys_of_a_missing_directory_are_an_error() {
    let temp = tempfile::tempdir().unwrap();
    let none = temp.path().join("none");
    for args in [&["list"][..], &["revoke", "ci"]] {
        let error = keys::run(parse(&none, args).unwrap())
            .await
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("none does not exist: start a service"),
            "{error}"
        );
    }
    let error = keys::run(parse(temp.path(), &["revoke", "ci"]).unwrap())
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("key `ci` not found"), "{error}");
}

#[tokio::test]
async fn wordlist_import_names_list_after_file() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("paths.txt");
    std::fs::write(&file, "one\ntwo\n").unwrap();
    let import = async |name: &[&str]| {
        let args = [&["import", file.to_str().unwrap()], name].concat();
        wordlists::run(parse(temp.path(), &args).unwrap()).await
    };
    assert_eq!(import(&[]).await.unwrap(), ExitCode::SUCCESS);
    assert!(
        import(&[])
            .await
            .unwrap_err()
            .to_string()
            .contains("--name")
    );
    assert_eq!(
        import(&["--name", "again"]).await.unwrap(),
        ExitCode::SUCCESS
    );
    let service = TestService::in_dir(temp.path()).await;
    let names: Vec<_> = service
        .get("/wordlists")
        .await
        .data()
        .as_array()
        .unwrap()
        .iter()
        .map(|list| list["name"].clone())
        .collect();
    assert!(
        names.contains(&json!("paths")) && names.contains(&json!("again")),
        "{names:?}"
    );
    service.stop().await;
}

#[tokio::test]
async fn status_without_service_fails_and_stop_succeeds() {
    let temp = tempfile::tempdir().unwrap();
    for dir in [temp.path(), &temp.path().join("none")] {
        assert_eq!(
            status::run(parse(dir, &[]).unwrap()).await.unwrap(),
            ExitCode::FAILURE
        );
        assert_eq!(
            stop::run(parse(dir, &[]).unwrap()).await.unwrap(),
            ExitCode::SUCCESS
        );
    }
    assert_eq!(scope(temp.path(), &["list"]).await, ExitCode::SUCCESS);
    assert_eq!(
        scope(temp.path(), &["remove", "*.acme.test"]).await,
        ExitCode::FAILURE
    );
    assert_eq!(
        std::fs::read_dir(temp.path()).unwrap().count(),
        0,
        "a command that only reads creates no file"
    );
    // This process has no variable with the URL of a database.
    super::database::use_file(temp.path());
    let service = TestService::in_dir(temp.path()).await;
    let scan = service.scan(service.target("127.0.0.1").await).await;
    service.until_status(scan, "running").await;
    assert_eq!(
        status::run(parse(temp.path(), &[]).unwrap()).await.unwrap(),
        ExitCode::SUCCESS
    );
    service.stop().await;
}
