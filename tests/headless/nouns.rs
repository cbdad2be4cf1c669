//! Workspaces, targets, reports, loggers, wordlists, raw calls: each endpoint once, as a script
//! uses it.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::{CliFixture, command, run};
use crate::service::runner::typical_events;
use crate::service::{TestService, http_client};

#[tokio::test]
async fn workspace_is_created_edited_and_deleted() {
    let cli = CliFixture::new().await;
    let id = cli
        .does(&["workspaces", "create", "Acme", "--description", "SOW 114"])
        .await;
    let id = id.trim();
    cli.does(&["workspaces", "edit", id, "--name", "Acme external"])
        .await;
    cli.run(&["workspaces", "edit", id])
        .await
        .refused(2, "--name");
    let shown = cli.json(&["workspaces", "show", id]).await;
    assert_eq!(
        (&shown["name"], &shown["description"]),
        (&json!("Acme external"), &json!("SOW 114"))
    );
    let table = cli.does(&["workspaces", "list"]).await;
    assert!(
        table.lines().next().unwrap().contains("WORKSPACE") && table.contains("Acme external"),
        "{table}"
    );
    let named = cli
        .json(&["workspaces", "list", "--workspace", "acme EXTERNAL"])
        .await;
    assert_eq!(named.as_array().unwrap().len(), 1);
    cli.run(&["targets", "list", "--workspace", "nowhere"])
        .await
        .refused(1, "workspaces: ");
    cli.run(&["workspaces", "delete", id])
        .await
        .refused(2, "workspace Acme external with 0 targets");
    cli.does(&["workspaces", "delete", id, "--yes"]).await;
    cli.run(&["workspaces", "show", id]).await.refused(1, "404");
    cli.service.stop().await;
}

#[tokio::test]
async fn target_is_found_by_name_or_id() {
    let cli = CliFixture::new().await;
    let ids = cli
        .does(&["targets", "add", "127.0.0.1", "http://localhost:8080/shop"])
        .await;
    assert_eq!(ids.lines().count(), 2);
    let urls = cli.json(&["targets", "list", "--type", "url"]).await;
    assert_eq!(urls[0]["name"], "http://localhost:8080/shop");
    assert_eq!(
        cli.json(&["targets", "show", "127.0.0.1"]).await["id"].to_string(),
        ids.lines().next().unwrap()
    );
    cli.run(&["targets", "show", "nowhere.test"])
        .await
        .refused(1, "not found");
    cli.run(&["targets", "delete", "127.0.0.1"])
        .await
        .refused(2, "--yes");
    cli.does(&["targets", "delete", "127.0.0.1", "--yes"]).await;
    assert_eq!(
        cli.json(&["targets", "list"])
            .await
            .as_array()
            .unwrap()
            .len(),
        1
    );
    cli.service.stop().await;
}

#[tokio::test]
async fn report_is_created_awaited_and_saved() {
    let cli = CliFixture::new().await;
    cli.service.runner.set_events(typical_events());
    let scan = cli
        .service
        .scan(cli.service.target("127.0.0.1").await)
        .await;
    cli.service.runner.finish_scans(1);
    cli.service.until_status(scan, "finished").await;
    let scan = scan.to_string();
    let create = ["reports", "create", "--format", "json", "--scan", &scan];
    cli.run(&[&create[..], &["--filter", "include_everything=true"]].concat())
        .await
        .refused(2, "include_info");
    let id = cli
        .does(&[&create[..], &["--filter", "include_info=false"]].concat())
        .await;
    let id = id.trim();
    assert_eq!(
        cli.does(&["reports", "download", id, "--wait", "-o", "r.json"])
            .await,
        "r.json\n"
    );
    let saved = cli.home.path().join("r.json");
    let groups: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&saved).unwrap()).unwrap();
    assert_eq!(groups[0]["findings"][0]["vuln_id"], "web.key");
    assert_eq!(
        std::fs::metadata(&saved).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let own_name = cli.does(&["reports", "download", id]).await;
    assert!(
        own_name.trim().ends_with(".json") && std::fs::exists(own_name.trim()).unwrap(),
        "{own_name}"
    );
    let printed = cli.does(&["reports", "download", id, "-o", "-"]).await;
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&printed).unwrap(),
        groups
    );
    assert_eq!(cli.json(&["reports", "show", id]).await["format"], "json");
    std::fs::write(cli.home.path().join("client.toml"), "client = 'Acme'").unwrap();
    let local = ["reports", "create", "--format", "html", "--scan", &scan];
    let local = [&local[..], &["--template", "client.toml", "-o", "r.html"]].concat();
    assert_eq!(cli.does(&local).await, "r.html\n");
    let page = std::fs::read_to_string(cli.home.path().join("r.html")).unwrap();
    assert!(page.contains("Acme") && page.contains("Verdict"), "{page}");
    let filter = ["--force", "--filter", "include_info=false"];
    cli.run(&[&local[..], &filter].concat())
        .await
        .refused(2, "--verdicts");
    assert!(cli.does(&["reports", "list"]).await.contains("finished"));
    cli.does(&["reports", "delete", id, "--yes"]).await;
    cli.run(&["reports", "download", id])
        .await
        .refused(1, "404");
    cli.service.stop().await;
}

#[tokio::test]
async fn logger_lists_its_captures_and_is_cleared() {
    let cli = CliFixture::new().await;
    let id = cli.does(&["loggers", "create", "ssrf-shop"]).await;
    let id = id.trim();
    let url = cli.json(&["loggers", "show", id]).await["handler_url"]
        .as_str()
        .unwrap()
        .to_owned();
    let visitor = http_client();
    visitor.get(format!("{url}?t=k7f2")).send().await.unwrap();
    visitor
        .get(format!("{url}?t=later\u{202e}"))
        .send()
        .await
        .unwrap();
    let all = cli.json(&["loggers", "captures", id]).await;
    assert_eq!(
        (all.as_array().unwrap().len(), &all[0]["url_params"]),
        (2, &json!("t=k7f2"))
    );
    let first = all[0]["id"].to_string();
    let table = cli
        .does(&["loggers", "captures", id, "--since", &first])
        .await;
    assert!(
        table.contains("t=later") && !table.contains("k7f2"),
        "{table}"
    );
    assert!(cli.does(&["loggers", "list"]).await.contains("ssrf-shop"));
    cli.run(&["loggers", "clear", id])
        .await
        .refused(2, "2 captures");
    cli.does(&["loggers", "clear", id, "--yes"]).await;
    assert_eq!(cli.json(&["loggers", "captures", id]).await, json!([]));
    cli.does(&["loggers", "delete", id, "--yes"]).await;
    cli.service.stop().await;
}

#[tokio::test]
async fn predefined_wordlist_prints_and_cannot_be_deleted() {
    let cli = CliFixture::new().await;
    let all = cli.json(&["wordlists", "list"]).await;
    let id = all[0]["id"].to_string();
    let words = cli.does(&["wordlists", "contents", &id]).await;
    assert_eq!(
        words.lines().count().to_string(),
        cli.json(&["wordlists", "show", &id]).await["num_words"].to_string()
    );
    cli.run(&["wordlists", "delete", &id, "--yes"])
        .await
        .refused(1, "403");
    cli.service.stop().await;
}

#[tokio::test]
async fn api_command_calls_only_below_the_base_url() {
    let cli = CliFixture::new().await;
    let made = cli
        .does(&["api", "POST", "/workspaces", "--form", "name=By hand"])
        .await;
    assert!(made.contains("created_id"), "{made}");
    let listed = cli
        .does(&[
            "api",
            "get",
            "/api/v2/scans",
            "--query",
            "limit=1",
            "--query",
            "workspace_id=1",
        ])
        .await;
    assert_eq!(listed.trim(), r#"{"data":[]}"#);
    cli.run(&["api", "POST", "/scans", "--body", "{}"])
        .await
        .refused(1, "tool_id");
    cli.run(&["api", "POST", "/scans", "--body", "{"])
        .await
        .refused(2, "not JSON");
    cli.run(&["api", "GET", ".evil.test/scans"])
        .await
        .refused(2, "PATH must begin with /");
    cli.run(&["api", "GET", "/../../openapi.json"])
        .await
        .refused(1, "not a path");
    cli.service.stop().await;
}

#[tokio::test]
async fn read_only_profile_rejects_every_change() {
    let cli = CliFixture::new().await;
    let config = cli.home.path().join("config.toml");
    let key = cli.home.path().join("key");
    std::fs::write(&key, &cli.service.key).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let profile = format!(
        "[profiles.look]\nbase_url = \"{}\"\napi_key_file = \"{}\"\nread_only = true\n",
        cli.service.base,
        key.display()
    );
    std::fs::write(&config, profile).unwrap();
    let flags = ["--config", "config.toml", "--profile", "look"];
    let looks = async |args: &[&str]| {
        run(&mut command(cli.home.path(), &[args, &flags[..]].concat())).await
    };
    assert_eq!(looks(&["workspaces", "list"]).await.code, 0);
    for args in [
        &["workspaces", "create", "x"][..],
        &["targets", "add", "127.0.0.1"],
        &["scans", "start", "--tool", "70", "--target", "127.0.0.1"],
        &["api", "DELETE", "/workspaces/1"],
        &["loggers", "create", "x"],
        &["workspaces", "delete", "1", "--yes"],
    ] {
        looks(args).await.refused(1, "read-only");
    }
    assert_eq!(cli.json(&["targets", "list"]).await, json!([]));
    cli.service.stop().await;
}

#[tokio::test]
async fn running_local_service_is_used_without_configuration() {
    let home = tempfile::tempdir().unwrap();
    let list = async || run(&mut command(home.path(), &["workspaces", "list", "--json"])).await;
    list().await.refused(1, "no service is configured");
    let directory = home.path().join(".local/state/scandeck/service");
    std::fs::create_dir_all(&directory).unwrap();
    let service = TestService::in_dir(&directory).await;
    let found = list().await;
    assert_eq!(found.code, 0, "{found:?}");
    assert!(found.out.starts_with('[') && found.out.trim_end().ends_with(']'));
    service.stop().await;
}

#[tokio::test]
async fn error_is_printed_on_two_lines_of_stderr() {
    let cli = CliFixture::new().await;
    let mut wrong = cli.command(&["workspaces", "list"]);
    let ended = run(wrong.env("SCANDECK_API_KEY", "wrong")).await;
    ended.refused(1, "scandeck: 401");
    assert_eq!(ended.err.lines().count(), 2, "{ended:?}");
    cli.run(&["workspaces", "lost"])
        .await
        .refused(2, "unrecognized");
    let early = cli.run(&["--workspace", "a", "scans", "list"]).await;
    early.refused(2, "put the options after the command: scandeck scans");
    cli.service.stop().await;
}

#[tokio::test]
async fn rejected_key_is_named_by_its_source() {
    let cli = CliFixture::new().await;
    let of_environment = run(cli
        .command(&["workspaces", "list"])
        .env("SCANDECK_API_KEY", "wrong-key"))
    .await;
    of_environment.refused(1, "check the API key from SCANDECK_API_KEY");
    let file = cli.home.path().join("key");
    std::fs::write(&file, "wrong-key").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let path = file.display().to_string();
    let of_file = cli
        .run(&["workspaces", "list", "--api-key-file", &path])
        .await;
    of_file.refused(1, &format!("check the API key from {path}"));
    let config = format!(
        "default_profile = \"lab\"\n[profiles.lab]\nbase_url = \"{}\"\napi_key_command = \"echo wrong-key\"\n",
        cli.service.base
    );
    let config_file = cli.home.path().join("config.toml");
    std::fs::write(&config_file, config).unwrap();
    let config_path = config_file.display().to_string();
    let of_command = run(&mut command(
        cli.home.path(),
        &["workspaces", "list", "--config", &config_path],
    ))
    .await;
    of_command.refused(1, "check the API key from api_key_command `echo`");
    assert!(
        ![&of_environment, &of_file, &of_command]
            .iter()
            .any(|ended| ended.err.contains("wrong-key"))
    );
    cli.service.stop().await;
}

#[tokio::test]
async fn profile_without_service_is_named() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("a.toml"), "[profiles.a]\n").unwrap();
    let ended = run(&mut command(
        home.path(),
        &["scans", "list", "--config", "a.toml", "--profile", "a"],
    ))
    .await;
    ended.refused(1, "profile \"a\" has no base_url");
}

#[tokio::test]
async fn hint_fits_the_object_of_the_error() {
    let cli = CliFixture::new().await;
    cli.run(&["scans", "show", "99"])
        .await
        .refused(1, "`scandeck scans list` lists scans");
    cli.run(&["scans", "diff", "98", "99"])
        .await
        .refused(1, "404");
    cli.run(&["wordlists", "show", "99"])
        .await
        .refused(1, "`scandeck wordlists list` lists wordlists");
    let unknown = cli.run(&["api", "GET", "/nope"]).await;
    assert!(
        unknown.code == 1 && unknown.err.lines().count() == 1,
        "{unknown:?}"
    );
    cli.run(&["api", "GET", "scans"])
        .await
        .refused(2, "PATH must begin with /");
    cli.does(&["targets", "add", "127.0.0.1"]).await;
    let exists = cli.run(&["targets", "add", "127.0.0.1"]).await;
    assert!(
        exists.code == 1 && !exists.err.contains("choose another name"),
        "{exists:?}"
    );
    cli.run(&["captures", "list", "--logger", "zzz"])
        .await
        .refused(1, "logger \"zzz\" not found");
    cli.service.stop().await;
}

#[tokio::test]
async fn stop_of_ended_scan_and_diff_with_unknown_scan_are_refused() {
    let cli = CliFixture::new().await;
    cli.service.runner.set_events(typical_events());
    let scan = cli
        .service
        .scan(cli.service.target("127.0.0.1").await)
        .await;
    cli.service.runner.finish_scans(1);
    cli.service.until_status(scan, "finished").await;
    let id = scan.to_string();
    cli.run(&["scans", "stop", &id])
        .await
        .refused(1, "has already ended");
    let unknown = cli.run(&["scans", "diff", &id, "99"]).await;
    assert!(
        unknown.code == 1 && !unknown.err.contains("workspace"),
        "{unknown:?}"
    );
    cli.service.stop().await;
}

#[tokio::test]
async fn unknown_path_is_no_missing_object() {
    let cli = CliFixture::new().await;
    let wrong = format!("{}/wrong", cli.service.base);
    for args in [["findings", "list"], ["targets", "list"]] {
        let mut command = cli.command(&args);
        command.env("SCANDECK_BASE_URL", &wrong);
        let ended = run(&mut command).await;
        ended.refused(1, "check the path of the base URL");
    }
    cli.service.stop().await;
}
