//! Installed scanners as tools, from the request to the findings: stand-ins that print what the
//! documents of the programs show.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::PATIENCE;
use super::process::{FREE_PORTS, ServeProcess, program};

const WAPITI: &str = r#"#!/bin/sh
case $1 in --version) echo 3.2.3; exit;; esac
while [ $# -gt 0 ]; do [ "$1" = -o ] && report=$2; shift; done
echo '{"classifications":{"Backup file":{"desc":"A copy.","sol":"Remove it.","ref":{}}},"vulnerabilities":{"Backup file":[
{"method":"GET","path":"/index.php~","info":"Backup found","level":1,"parameter":"","module":"backup","http_request":"GET /index.php~ HTTP/1.1"}]},
"anomalies":{},"additionals":{},"infos":{"target":"http://127.0.0.1:1/","version":"Wapiti 3.2.3"}}' >"$report"
"#;

/// A wapiti that attacks for ever.
const LONG_WAPITI: &str = r#"#!/bin/sh
case $1 in --version) echo 3.2.3; exit;; esac
while :; do sleep 1; done
"#;

/// A testssl.sh that never ends, and ignores the request to end.
const TESTSSL: &str = r#"#!/bin/sh
case $1 in --version) echo 'testssl 3.0.8 from https://x/'; exit;; esac
trap '' TERM
echo "pid $$"
while :; do sleep 1; done
"#;

/// A directory of programs for `PATH`.
fn programs(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, lines) in files {
        let file = dir.path().join(name);
        std::fs::write(&file, lines).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&file, mode).unwrap();
    }
    dir
}

fn serve(dir: &Path, programs: &Path, flags: &[&str]) -> ServeProcess {
    let mut command = program("serve", dir);
    command.args(FREE_PORTS).args(flags).env("PATH", programs);
    ServeProcess::spawn(dir, &mut command)
}

fn add_to_scope(dir: &Path, words: &[&str]) {
    let mut command = program("scope", dir);
    let added = command.arg("add").args(words).output().unwrap();
    assert!(added.status.success(), "{added:?}");
    let printed = String::from_utf8_lossy(&added.stderr);
    let is_active = words.contains(&"--active");
    let allows = printed.contains("which send attacks, allowed");
    assert_eq!(allows, is_active, "{printed}");
}

/// The scan once it has this status.
async fn until(serve: &ServeProcess, scan: i64, status: &str) -> Value {
    let begin = Instant::now();
    loop {
        let shown = serve.get(&format!("/scans/{scan}")).await;
        if shown.data()["status_name"] == status {
            return shown.data().clone();
        }
        assert!(begin.elapsed() < PATIENCE, "{shown:?}");
        // Within the rate limit.
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn active_scanner_needs_the_flag_and_an_active_entry() {
    let (temp, programs) = (
        tempfile::tempdir().unwrap(),
        programs(&[("wapiti", WAPITI)]),
    );
    let (dir, path) = (temp.path(), programs.path());
    let body = json!({"tool_id": 10_013, "target_name": "http://127.0.0.1:1/"});
    let without = serve(dir, path, &[]);
    let refused = without.post("/scans", body.clone()).await;
    refused.assert_refused(403, "without `--allow-active`, and no scope entry");
    drop(without);
    let active = serve(dir, path, &["--allow-active"]);
    let refused = active.post("/scans", body.clone()).await;
    refused.assert_refused(
        403,
        "no scope entry with `active` covers it (`scandeck scope add 127.0.0.1 --active",
    );
    add_to_scope(dir, &["127.0.0.1", "--active"]);
    let scan = active.post("/scans", body).await.created();
    let shown = until(&active, scan, "finished").await;
    assert_eq!(shown["status_message"], "1 finding (wapiti 3.2.3)");
    assert_eq!(shown["num_finished_tests"], 1);
    let findings = active.get(&format!("/findings?task_id={scan}")).await;
    let finding = &findings.data()[0];
    assert_eq!(finding["vuln_id"], "wapiti:backup-file");
    assert_eq!(finding["risk_level"], 1);
    let raw = active.get(&format!("/scans/{scan}/raw")).await;
    let lines = raw.data().as_array().unwrap();
    assert!(
        lines[0].as_str().unwrap().contains("-p http://127.0.0.1:"),
        "{lines:?}"
    );
    let has_report = |line: &Value| line.as_str().unwrap().contains("Backup found");
    assert!(lines.iter().any(has_report), "{lines:?}");
}

#[tokio::test]
async fn withdrawn_permission_ends_a_running_scanner() {
    let (temp, programs) = (
        tempfile::tempdir().unwrap(),
        programs(&[("wapiti", LONG_WAPITI)]),
    );
    let dir = temp.path();
    let serve = serve(dir, programs.path(), &["--allow-active"]);
    add_to_scope(dir, &["127.0.0.1", "--active"]);
    let body = json!({"tool_id": 10_013, "target_name": "http://127.0.0.1:1/"});
    let scan = serve.post("/scans", body).await.created();
    until(&serve, scan, "running").await;
    // Without the flag, the target itself remains in the scope.
    add_to_scope(dir, &["127.0.0.1"]);
    let shown = until(&serve, scan, "stopped").await;
    let message = shown["status_message"].as_str().unwrap();
    assert!(
        message.starts_with("ended by the scope: active tools may not scan 127.0.0.1"),
        "{message}"
    );
}

#[tokio::test]
async fn stop_ends_a_scanner_that_ignores_the_request_to_end() {
    let (temp, programs) = (
        tempfile::tempdir().unwrap(),
        programs(&[("testssl.sh", TESTSSL)]),
    );
    let serve = serve(temp.path(), programs.path(), &[]);
    let body = json!({"tool_id": 10_007, "target_name": "https://127.0.0.1:1/"});
    let scan = serve.post("/scans", body).await.created();
    let begin = Instant::now();
    let process = loop {
        let raw = serve.get(&format!("/scans/{scan}/raw")).await;
        let lines = raw.data().as_array().unwrap();
        let pid = lines
            .iter()
            .find_map(|line| line.as_str()?.strip_prefix("pid "));
        if let Some(pid) = pid {
            break pid.to_owned();
        }
        assert!(begin.elapsed() < PATIENCE, "{raw:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    serve.post(&format!("/scans/{scan}/stop"), json!({})).await;
    let stopped = Instant::now();
    until(&serve, scan, "stopped").await;
    let stat = format!("/proc/{process}/stat");
    let is_running = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
    while is_running() {
        assert!(stopped.elapsed() < PATIENCE, "it still runs");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
