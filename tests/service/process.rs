//! The real program as a process: what it prints, how it ends, and what a `kill -9` leaves.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getsid, kill_process};
use scandeck::service::{DataDir, Holder};
use serde_json::{Value, json};

use super::{JsonResponse, PATIENCE};

fn program(command: &str, dir: &Path) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_scandeck"));
    // A proxy that swallows everything: nothing of ours may ask it.
    program.args([command, "--data-dir"]).arg(dir).env("HTTP_PROXY", "http://127.0.0.1:9").stdin(Stdio::null());
    program
}

/// A service process that has said where it listens; killed when dropped.
struct Served {
    child: Child,
    base: String,
    client: reqwest::Client,
    key: String,
}

impl Served {
    fn start(dir: &Path, flags: &[&str]) -> Self {
        let mut child = program("serve", dir).args(flags).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let base = line.strip_prefix("listening on ").unwrap_or_else(|| panic!("{line:?}")).trim().to_owned();
        let key = std::fs::read_to_string(dir.join("key")).unwrap().trim().to_owned();
        Self { child, base, client: reqwest::Client::builder().no_proxy().build().unwrap(), key }
    }

    async fn get(&self, path: &str) -> JsonResponse {
        let request = self.client.get(format!("{}{path}", self.base)).bearer_auth(&self.key);
        JsonResponse::read(request.send().await.unwrap()).await
    }

    async fn post(&self, path: &str, body: Value) -> JsonResponse {
        let request = self.client.post(format!("{}{path}", self.base)).bearer_auth(&self.key).json(&body);
        JsonResponse::read(request.send().await.unwrap()).await
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Waits for the end, at most two seconds.
    fn ended(&mut self) -> ExitStatus {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(begin.elapsed() < Duration::from_secs(2), "it still runs");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const FREE: [&str; 4] = ["--listen", "127.0.0.1:0", "--logger-listen", "127.0.0.1:0"];

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

#[tokio::test]
async fn serve_prints_one_line_and_ends_cleanly_on_both_signals() {
    let temp = tempfile::tempdir().unwrap();
    for signal in [Signal::TERM, Signal::INT] {
        let mut served = Served::start(temp.path(), &FREE);
        assert!(served.base.starts_with("http://127.0.0.1:") && served.base.ends_with("/api/v2"), "{}", served.base);
        served.get("/workspaces").await.data();
        kill_process(served.pid(), signal).unwrap();
        assert!(served.ended().success(), "{signal:?}");
    }
}

#[tokio::test]
async fn what_was_acknowledged_survives_kill_9_and_its_scan_goes_on() {
    let temp = tempfile::tempdir().unwrap();
    let mut served = Served::start(temp.path(), &FREE);
    // A listener that never answers keeps the banner check busy, so that the scan is still running.
    let silent: Vec<_> = (0..8).map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let ports: Vec<u16> = silent.iter().map(|one| one.local_addr().unwrap().port()).collect();
    let logger = served.post("/http_loggers", json!({"label": "a"})).await.created();
    let url = served.get("/http_loggers").await.data()[0]["handler_url"].as_str().unwrap().to_owned();
    assert_eq!(served.client.get(&url).send().await.unwrap().status(), 200);
    let params = json!({"scan_type": "custom", "port_list": ports});
    let scan = served.post("/scans", json!({"tool_id": 70, "target_name": "127.0.0.1", "tool_params": params})).await;
    let scan = scan.created();
    served.child.kill().unwrap();
    served.child.wait().unwrap();

    let served = Served::start(temp.path(), &FREE);
    let recorded = served.get(&format!("/http_loggers/{logger}/data")).await;
    assert_eq!(recorded.data()["requests"].as_array().unwrap().len(), 1);
    let begin = Instant::now();
    loop {
        let shown = served.get(&format!("/scans/{scan}")).await;
        if shown.data()["status_name"] == "finished" {
            assert_eq!(shown.data()["result_summary"]["info"], 8);
            break;
        }
        assert!(begin.elapsed() < PATIENCE, "{shown:?}");
    }
}

#[test]
fn a_second_serve_ends_with_one_line_that_names_the_first() {
    let temp = tempfile::tempdir().unwrap();
    let served = Served::start(temp.path(), &FREE);
    let second = program("serve", temp.path()).output().unwrap();
    let said = said(&second);
    assert!(!second.status.success());
    assert!(said.contains(&served.base) && said.contains(&served.child.id().to_string()), "{said}");
    assert_eq!(said.trim().lines().count(), 1, "{said}");
}

#[test]
fn a_detached_service_has_a_session_of_its_own_and_is_found_told_about_and_stopped() {
    let temp = tempfile::tempdir().unwrap();
    let mut served = Served::start(temp.path(), &["--detached"]);
    assert_eq!(getsid(Some(served.pid())).unwrap(), served.pid());
    kill_process(served.pid(), Signal::HUP).unwrap();
    let status = program("status", temp.path()).output().unwrap();
    assert!(status.status.success() && said(&status).contains(&served.base), "{status:?}");
    let stop = program("stop", temp.path()).output().unwrap();
    assert!(stop.status.success(), "{stop:?}");
    assert!(matches!(DataDir::open(temp.path()).unwrap().holder().unwrap(), Holder::Nobody));
    assert!(served.ended().success());
    assert!(!program("status", temp.path()).output().unwrap().status.success());
}

#[test]
fn every_command_has_help_with_an_example() {
    for command in ["serve", "status", "stop", "scope", "wordlists"] {
        let help = Command::new(env!("CARGO_BIN_EXE_scandeck")).args([command, "--help"]).output().unwrap();
        let text = said(&help);
        assert!(help.status.success() && text.contains(&format!("  scandeck {command}")), "{text}");
    }
}

#[test]
fn wrong_settings_say_what_to_do() {
    let temp = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let below_a_file = temp.path().join("file/dir");
    std::fs::write(temp.path().join("file"), "").unwrap();
    for (dir, flags, words) in [
        (temp.path(), vec!["--listen", &taken], "--listen"),
        (temp.path(), vec!["--allow-target", "*.com"], "--allow-target"),
        (&below_a_file, vec![], "--data-dir"),
    ] {
        let output = program("serve", dir).args(&FREE[2..]).args(flags).output().unwrap();
        let said = said(&output);
        assert!(!output.status.success() && said.contains(words), "{said}");
    }
}
