//! The commands that work on a data directory: scope, wordlists import, status, stop.

use std::path::Path;
use std::process::ExitCode;

use clap::{Args, Command, FromArgMatches};
use scandeck::cli::{scope, status, stop, wordlists};
use scandeck::service::scope::ScopeFile;
use serde_json::json;

use super::TestService;

/// Reads the arguments of a command as the program does.
fn parse<T: Args + FromArgMatches>(dir: &Path, args: &[&str]) -> Result<T, clap::Error> {
    let flag = ["scandeck", "--data-dir", dir.to_str().unwrap()];
    let matches = T::augment_args(Command::new("scandeck")).try_get_matches_from(flag.iter().chain(args))?;
    T::from_arg_matches(&matches)
}

async fn scope(dir: &Path, args: &[&str]) -> ExitCode {
    scope::run(parse(dir, args).unwrap()).await.unwrap()
}

#[tokio::test]
async fn what_is_added_to_the_scope_can_be_scanned_at_once() {
    let temp = tempfile::tempdir().unwrap();
    let service = TestService::in_dir(temp.path()).await;
    let make = async || service.post("/targets", json!({"name": "192.0.2.7"})).await;
    let refused = make().await;
    let remedy = format!("scandeck scope add 192.0.2.7 --data-dir {}", temp.path().canonicalize().unwrap().display());
    refused.assert_refused(403, &remedy);
    let typed = scope::ScopeArgs::augment_args(Command::new("scope")).try_get_matches_from(remedy.split(' ').skip(1));
    scope::run(scope::ScopeArgs::from_arg_matches(&typed.unwrap()).unwrap()).await.unwrap();
    let target = make().await.created();
    service.delete(&format!("/targets/{target}")).await.assert_no_content();
    scope(temp.path(), &["remove", "192.0.2.7"]).await;
    scope(temp.path(), &["add", "192.0.2.0/24", "shop.acme.test", "--until", "2999-12-31", "--note", "SOW 114"]).await;
    let target = make().await.created();
    service.delete(&format!("/targets/{target}")).await.assert_no_content();
    scope(temp.path(), &["deny", "192.0.2.7", "--note", "a printer"]).await;
    make().await.assert_refused(403, "a printer");
    service.stop().await;
}

#[tokio::test]
async fn entries_tell_who_added_them_and_are_taken_out_again() {
    let temp = tempfile::tempdir().unwrap();
    let list = temp.path().join("list");
    std::fs::write(&list, "# from the contract\n10.0.4.0/24\n*.acme.test\n\n").unwrap();
    scope(temp.path(), &["import", list.to_str().unwrap(), "--note", "SOW 7"]).await;
    let file = ScopeFile::new(temp.path().join("scope.toml"));
    let entries = file.load().unwrap().allow;
    assert_eq!(entries.len(), 2);
    assert!(entries.iter().all(|entry| entry.note == "SOW 7" && entry.who.contains('@') && entry.added.is_some()));
    assert_eq!(scope(temp.path(), &["remove", "*.acme.test"]).await, ExitCode::SUCCESS);
    assert_eq!(scope(temp.path(), &["remove", "*.acme.test"]).await, ExitCode::FAILURE);
    assert_eq!(scope(temp.path(), &["list"]).await, ExitCode::SUCCESS);
    assert_eq!(file.load().unwrap().allow.len(), 1);
    let refused = parse::<scope::ScopeArgs>(temp.path(), &["add", "http://acme.test/"]).unwrap_err();
    assert!(refused.to_string().contains("host alone"), "{refused}");
}

#[tokio::test]
async fn a_file_becomes_a_word_list_named_after_it() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("paths.txt");
    std::fs::write(&file, "one\ntwo\n").unwrap();
    let import = async |name: &[&str]| {
        let args = [&["import", file.to_str().unwrap()], name].concat();
        wordlists::run(parse(temp.path(), &args).unwrap()).await
    };
    assert_eq!(import(&[]).await.unwrap(), ExitCode::SUCCESS);
    assert!(import(&[]).await.unwrap_err().to_string().contains("--name"));
    assert_eq!(import(&["--name", "again"]).await.unwrap(), ExitCode::SUCCESS);
    let service = TestService::in_dir(temp.path()).await;
    let names: Vec<_> =
        service.get("/wordlists").await.data().as_array().unwrap().iter().map(|list| list["name"].clone()).collect();
    assert!(names.contains(&json!("paths")) && names.contains(&json!("again")), "{names:?}");
    service.stop().await;
}

#[tokio::test]
async fn status_and_stop_say_when_no_service_runs() {
    let temp = tempfile::tempdir().unwrap();
    for dir in [temp.path(), &temp.path().join("none")] {
        assert_eq!(status::run(parse(dir, &[]).unwrap()).await.unwrap(), ExitCode::FAILURE);
        assert_eq!(stop::run(parse(dir, &[]).unwrap()).await.unwrap(), ExitCode::SUCCESS);
        assert_eq!(scope(dir, &["list"]).await, ExitCode::SUCCESS);
        assert_eq!(scope(dir, &["remove", "*.acme.test"]).await, ExitCode::FAILURE);
    }
    assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 0, "who only looks makes nothing");
    let service = TestService::in_dir(temp.path()).await;
    let scan = service.scan(service.target("127.0.0.1").await).await;
    service.until_status(scan, "running").await;
    assert_eq!(status::run(parse(temp.path(), &[]).unwrap()).await.unwrap(), ExitCode::SUCCESS);
    service.stop().await;
}
