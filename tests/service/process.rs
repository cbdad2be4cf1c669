//! The program as a process: its output, its exit, and its data after `kill -9`.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getsid, kill_process};
use scandeck::service::{DataDir, Holder};
use serde_json::{Value, json};

use super::database::{database_of, database_url, use_file};
use super::network::{client, write_certificate};
use super::{JsonResponse, PATIENCE, http_client};

/// A command of the program on a data directory.
pub fn program(command: &str, dir: &Path) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_scandeck"));
    // Requests that use the proxy variables fail.
    program
        .args([command, "--data-dir"])
        .arg(dir)
        .env("HTTP_PROXY", "http://127.0.0.1:9")
        .stdin(Stdio::null());
    if database_of(dir).is_some() {
        program.env("SCANDECK_DATABASE_URL", database_url(dir).unwrap());
    }
    program
}

/// A service process that has printed its address; killed when dropped.
pub struct ServeProcess {
    child: Child,
    base: String,
    client: reqwest::Client,
    key: String,
}

impl ServeProcess {
    fn start(dir: &Path, flags: &[&str]) -> Self {
        Self::spawn(dir, program("serve", dir).args(flags))
    }

    pub fn spawn(dir: &Path, command: &mut Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let base = line
            .strip_prefix("listening on ")
            .unwrap_or_else(|| panic!("{line:?}"))
            .trim()
            .to_owned();
        let key = std::fs::read_to_string(dir.join("key"))
            .unwrap()
            .trim()
            .to_owned();
        Self {
            child,
            base,
            client: http_client(),
            key,
        }
    }

    pub async fn get(&self, path: &str) -> JsonResponse {
        let request = self
            .client
            .get(format!("{}{path}", self.base))
            .bearer_auth(&self.key);
        JsonResponse::read(request.send().await.unwrap()).await
    }

    pub async fn post(&self, path: &str, body: Value) -> JsonResponse {
        let request = self
            .client
            .post(format!("{}{path}", self.base))
            .bearer_auth(&self.key)
            .json(&body);
        JsonResponse::read(request.send().await.unwrap()).await
    }

    /// Waits until a scan has a status.
    async fn until_status(&self, scan: i64, status: &str) -> Value {
        let begin = Instant::now();
        loop {
            let shown = self.get(&format!("/scans/{scan}")).await;
            if shown.data()["status_name"] == status {
                return shown.data().clone();
            }
            assert!(begin.elapsed() < PATIENCE, "{shown:?}");
            // Within the rate limit.
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Waits for the exit, at most two seconds.
    fn ended(&mut self) -> ExitStatus {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(
                begin.elapsed() < Duration::from_secs(2),
                "the process still runs"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn list_of_scans_names_tools_whose_scanner_is_missing() {
    let (dir, programs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut command = program("serve", dir.path());
    let process = ServeProcess::spawn(
        dir.path(),
        command.args(FREE_PORTS).env("PATH", programs.path()),
    );
    let named = async || {
        let request = process
            .client
            .get(format!("{}/scans", process.base))
            .bearer_auth(&process.key);
        let answer = request.send().await.unwrap();
        answer
            .headers()
            .get("x-missing-scanners")
            .map(|value| value.to_str().unwrap().to_owned())
    };
    let before = named().await.unwrap_or_default();
    assert!(
        before.starts_with("350=nmap, 80=nmap, ") && before.contains("10007=testssl.sh"),
        "{before}"
    );
    assert!(!before.contains("sslscan"), "sslscan is optional: {before}");
    let nmap = programs.path().join("nmap");
    std::fs::write(&nmap, "").unwrap();
    std::fs::set_permissions(&nmap, std::fs::Permissions::from_mode(0o755)).unwrap();
    // Installed while the service runs. Only a service with root or CAP_NET_RAW can scan UDP.
    let lacks = named().await.unwrap_or_default();
    assert!(
        !lacks.contains("nmap") && !lacks.contains("350=") && lacks.contains("10002=nuclei"),
        "{lacks}"
    );
}

pub const FREE_PORTS: [&str; 4] = ["--listen", "127.0.0.1:0", "--logger-listen", "127.0.0.1:0"];

/// Standard output and standard error together.
fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

#[tokio::test]
async fn serve_on_signal_ends_cleanly() {
    let temp = tempfile::tempdir().unwrap();
    for signal in [Signal::TERM, Signal::INT] {
        let mut serve = ServeProcess::start(temp.path(), &FREE_PORTS);
        assert!(
            serve.base.starts_with("http://127.0.0.1:") && serve.base.ends_with("/api/v2"),
            "{}",
            serve.base
        );
        serve.get("/workspaces").await.data();
        kill_process(serve.pid(), signal).unwrap();
        assert!(serve.ended().success(), "{signal:?}");
    }
}

#[tokio::test]
async fn serve_on_hangup_uses_the_renewed_certificate() {
    let (temp, certificates) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (files, first) = write_certificate(certificates.path());
    let [cert, key] = [&files.cert, &files.key].map(|path| path.to_str().unwrap());
    let serve = ServeProcess::start(
        temp.path(),
        &[&FREE_PORTS[..], &["--tls-cert", cert, "--tls-key", key]].concat(),
    );
    // A new connection for each request: an open one keeps its certificate.
    let is_accepted = async |trusted: &reqwest::Certificate| {
        let request = client(trusted.clone())
            .get(format!("{}/workspaces", serve.base))
            .bearer_auth(&serve.key);
        request.send().await.is_ok()
    };
    assert!(
        serve.base.starts_with("https://") && is_accepted(&first).await,
        "{}",
        serve.base
    );

    let (_, second) = write_certificate(certificates.path());
    assert!(
        is_accepted(&first).await && !is_accepted(&second).await,
        "the files alone change nothing"
    );
    kill_process(serve.pid(), Signal::HUP).unwrap();
    let renewed = async {
        while !is_accepted(&second).await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, renewed)
        .await
        .expect("the new certificate is in use");
    assert!(!is_accepted(&first).await);
}

#[tokio::test]
async fn answered_requests_survive_kill_9_of_the_service() {
    let temp = tempfile::tempdir().unwrap();
    let kills = crate::kills();
    let mut serve = ServeProcess::start(temp.path(), &FREE_PORTS);
    let logger = serve
        .post("/http_loggers", json!({"label": "a"}))
        .await
        .created();
    for number in 1..=kills {
        let url = serve.get("/http_loggers").await.data()[0]["handler_url"]
            .as_str()
            .unwrap()
            .to_owned();
        assert_eq!(serve.client.get(&url).send().await.unwrap().status(), 200);
        let target = serve
            .post("/targets", json!({"name": format!("127.0.1.{number}")}))
            .await
            .created();
        serve.child.kill().unwrap();
        serve.child.wait().unwrap();
        serve = ServeProcess::start(temp.path(), &FREE_PORTS);
        let recorded = serve.get(&format!("/http_loggers/{logger}/data")).await;
        assert_eq!(
            recorded.data()["requests"].as_array().unwrap().len(),
            number,
            "kill {number}"
        );
        serve.get(&format!("/targets/{target}")).await.data();
    }
    println!("{kills} kills of the service, no answered request lost");
}

#[tokio::test]
async fn acknowledged_data_survives_kill_9_and_scan_resumes() {
    let temp = tempfile::tempdir().unwrap();
    let mut serve = ServeProcess::start(temp.path(), &FREE_PORTS);
    // A listener that sends nothing keeps the banner check waiting, so that the scan is still
    // running.
    let silent: Vec<_> = (0..8)
        .map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap())
        .collect();
    let ports: Vec<u16> = silent
        .iter()
        .map(|one| one.local_addr().unwrap().port())
        .collect();
    let logger = serve
        .post("/http_loggers", json!({"label": "a"}))
        .await
        .created();
    let url = serve.get("/http_loggers").await.data()[0]["handler_url"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(serve.client.get(&url).send().await.unwrap().status(), 200);
    let params = json!({"scan_type": "custom", "port_list": ports});
    let scan = serve
        .post(
            "/scans",
            json!({"tool_id": 70, "target_name": "127.0.0.1", "tool_params": params}),
        )
        .await;
    let scan = scan.created();
    serve.child.kill().unwrap();
    serve.child.wait().unwrap();

    let serve = ServeProcess::start(temp.path(), &FREE_PORTS);
    let recorded = serve.get(&format!("/http_loggers/{logger}/data")).await;
    assert_eq!(recorded.data()["requests"].as_array().unwrap().len(), 1);
    let ended = serve.until_status(scan, "finished").await;
    assert_eq!(ended["result_summary"]["info"], 8);
}

#[tokio::test]
async fn scan_of_a_killed_process_is_finished_by_another_on_its_database() {
    let temp = tempfile::tempdir().unwrap();
    let (one, other) = (temp.path().join("one"), temp.path().join("other"));
    let flags = [&FREE_PORTS[..], &["--lease-ms", "3000"]].concat();
    let mut killed = ServeProcess::start(&one, &flags);
    // As above, the scan is still running.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let params = json!({"scan_type": "custom", "port_list": [port]});
    let body = json!({"tool_id": 70, "target_name": "127.0.0.1", "tool_params": params});
    let scan = killed.post("/scans", body).await.created();
    killed.until_status(scan, "running").await;

    std::fs::create_dir(&other).unwrap();
    for file in ["scandeck.db", "callback.key"] {
        std::os::unix::fs::symlink(one.join(file), other.join(file)).unwrap();
    }
    let mut command = program("serve", &other);
    command
        .args(&flags)
        .arg("--secrets-key-file")
        .arg(one.join("secrets.key"));
    if let Some(url) = database_url(&one) {
        command.env("SCANDECK_DATABASE_URL", url);
    }
    let survivor = ServeProcess::spawn(&other, &mut command);
    let status = printed(&program("status", &one).output().unwrap());
    let nodes = status.lines().filter(|line| line.starts_with("node "));
    assert_eq!(nodes.count(), 2, "{status}");
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();

    let ended = survivor.until_status(scan, "finished").await;
    assert_eq!(
        ended["info_text_lines"][0],
        "started again after an interruption, attempt 2"
    );
}

#[tokio::test]
async fn worker_process_hands_its_scan_over_at_a_signal() {
    let temp = tempfile::tempdir().unwrap();
    let (dir, home) = (temp.path().join("service"), temp.path().join("worker"));
    std::fs::create_dir(&dir).unwrap();
    // The scope of the worker is its file.
    use_file(&home);
    let serve = ServeProcess::start(&dir, &FREE_PORTS);
    let place = ["--place", "office"];
    let mut scope = program("scope", &dir);
    let scope = scope.args(["add", "127.0.0.1"]).args(place).output();
    assert!(scope.as_ref().unwrap().status.success(), "{scope:?}");
    let listed = program("scope", &home).args(["add", "127.0.0.1"]).output();
    assert!(listed.as_ref().unwrap().status.success(), "{listed:?}");
    let mut keys = program("keys", &dir);
    let keys = keys.args(["add", "w", "--role", "worker"]).args(place);
    let added = keys.output().unwrap();
    assert!(added.status.success(), "{added:?}");
    let key_file = temp.path().join("worker.key");
    std::fs::write(&key_file, &added.stdout).unwrap();
    let start_worker = || {
        let mut worker = program("worker", &home);
        worker.args(["--service", &serve.base]).args(place);
        worker.arg("--api-key-file").arg(&key_file);
        worker.stderr(Stdio::null()).spawn().unwrap()
    };
    // As above, the scan is still running.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let params = json!({"scan_type": "custom", "port_list": [port]});
    let body = json!({"tool_id": 70, "target_name": "127.0.0.1", "tool_params": params});
    let mut worker = start_worker();
    let scan = serve.post("/scans", body).await.created();
    serve.until_status(scan, "running").await;
    let status = printed(&program("status", &dir).output().unwrap());
    assert!(status.contains("(worker at office)"), "{status}");
    kill_process(Pid::from_child(&worker), Signal::TERM).unwrap();
    assert!(worker.wait().unwrap().success());

    let mut restarted = start_worker();
    let ended = serve.until_status(scan, "finished").await;
    assert_eq!(
        ended["info_text_lines"][0],
        "started again, because the service was stopped"
    );
    assert_eq!(
        ended["info_text_lines"][1],
        "scanned from office by the worker w"
    );
    restarted.kill().unwrap();
    restarted.wait().unwrap();
}

#[test]
fn second_serve_names_the_running_service() {
    let temp = tempfile::tempdir().unwrap();
    let serve = ServeProcess::start(temp.path(), &FREE_PORTS);
    let second = program("serve", temp.path()).output().unwrap();
    let text = printed(&second);
    assert!(!second.status.success());
    assert!(
        text.contains(&serve.base) && text.contains(&serve.child.id().to_string()),
        "{text}"
    );
    assert_eq!(text.trim().lines().count(), 1, "{text}");
}

#[test]
fn detached_service_has_own_session_and_is_stoppable() {
    let temp = tempfile::tempdir().unwrap();
    let mut serve = ServeProcess::start(temp.path(), &["--detached"]);
    assert_eq!(getsid(Some(serve.pid())).unwrap(), serve.pid());
    kill_process(serve.pid(), Signal::HUP).unwrap();
    let status = program("status", temp.path()).output().unwrap();
    assert!(
        status.status.success() && printed(&status).contains(&serve.base),
        "{status:?}"
    );
    let stop = program("stop", temp.path()).output().unwrap();
    assert!(stop.status.success(), "{stop:?}");
    assert!(matches!(
        DataDir::open(temp.path()).unwrap().holder().unwrap(),
        Holder::Nobody
    ));
    assert!(serve.ended().success());
    assert!(
        !program("status", temp.path())
            .output()
            .unwrap()
            .status
            .success()
    );
}

#[tokio::test]
async fn status_of_a_service_that_is_not_ready_is_exit_code_5() {
    let temp = tempfile::tempdir().unwrap();
    let dir = DataDir::open(temp.path()).unwrap();
    // A service holds the lock before it writes its addresses.
    let lock = dir.lock().await.unwrap();
    assert!(lock.is_some());
    let status = program("status", temp.path()).output().unwrap();
    assert_eq!(status.status.code(), Some(5), "{status:?}");
    assert!(
        status.stdout.is_empty() && printed(&status).contains("starting or stopping"),
        "{status:?}"
    );
    drop(lock);
    let status = program("status", temp.path()).output().unwrap();
    assert_eq!(status.status.code(), Some(1), "{status:?}");
}

#[test]
fn changes_of_keys_and_backups_name_the_directory() {
    let temp = tempfile::tempdir().unwrap();
    let (dir, backup, key_file) = (
        temp.path().join("data"),
        temp.path().join("backup"),
        temp.path().join("own.key"),
    );
    // `backup` saves files only.
    use_file(&dir);
    let (data, name) = (dir.canonicalize().unwrap().display().to_string(), "ci");
    for (arguments, message) in [
        (
            vec!["add", name, "--role", "scan"],
            format!("key `ci` with the role scan added to {data};"),
        ),
        (vec!["revoke", name], format!("key `ci` in {data} revoked")),
        (
            vec!["add", "pc1", "--role", "worker", "--place", "office"],
            format!("key `pc1` with the role worker added to {data};"),
        ),
        (
            vec!["revoke", "pc1"],
            "other workers of office take its scans over, which end after 30 s without one"
                .to_owned(),
        ),
    ] {
        let ended = program("keys", &dir).args(arguments).output().unwrap();
        assert!(
            ended.status.success() && printed(&ended).contains(&message),
            "{ended:?}"
        );
    }
    let to = |name: &str| {
        let ended = program("backup", &dir)
            .arg(temp.path().join(name))
            .output()
            .unwrap();
        assert!(ended.status.success(), "{ended:?}");
        printed(&ended)
    };
    let without_key = to("first");
    assert!(
        without_key.contains(
            "not in the backup: the file of --api-key-file, if this flag is used, and the file of"
        ),
        "{without_key}"
    );
    std::fs::write(&key_file, "0123456789abcdef").unwrap();
    let mut serve = program("serve", &dir);
    serve
        .args(FREE_PORTS)
        .arg("--api-key-file")
        .arg(&key_file)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut serve = serve.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(serve.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let text = to("backup");
    serve.kill().unwrap();
    serve.wait().unwrap();
    assert!(
        text.contains(&format!(
            "{data} copied to {}: scandeck.db, callback.key",
            backup.display()
        )),
        "{text}"
    );
    let key_file = key_file.canonicalize().unwrap();
    assert!(
        text.contains(&format!(
            "not in the backup: {} (--api-key-file); copy",
            key_file.display()
        )),
        "{text}"
    );
    assert!(!text.contains("--secrets-key-file"), "{text}");
    let refused = printed(&program("keys", &key_file).arg("list").output().unwrap());
    let remedy = format!(
        "cannot use {}: not a directory; choose another directory with --data-dir",
        key_file.display()
    );
    assert!(refused.contains(&remedy), "{refused}");
}

#[test]
fn command_help_contains_example() {
    for command in [
        "serve",
        "worker",
        "status",
        "stop",
        "keys",
        "scope",
        "backup",
        "restore",
        "wordlists",
    ] {
        let help = Command::new(env!("CARGO_BIN_EXE_scandeck"))
            .args([command, "--help"])
            .output()
            .unwrap();
        let text = printed(&help);
        assert!(
            help.status.success() && text.contains(&format!("  scandeck {command}")),
            "{text}"
        );
    }
}

#[test]
fn invalid_settings_name_the_flag() {
    let temp = tempfile::tempdir().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let occupied = listener.local_addr().unwrap().to_string();
    let below_a_file = temp.path().join("file/dir");
    std::fs::write(temp.path().join("file"), "").unwrap();
    let short_key = temp.path().join("short.key").display().to_string();
    std::fs::write(&short_key, "x").unwrap();
    for (dir, flags, expected) in [
        (temp.path(), vec!["--listen", &occupied], "--listen"),
        (
            temp.path(),
            vec!["--allow-target", "*.com"],
            "--allow-target",
        ),
        (temp.path(), vec!["--listen", "0.0.0.0:0"], "--behind-proxy"),
        (temp.path(), vec!["--tls-cert", "cert.pem"], "--tls-key"),
        (
            temp.path(),
            vec!["--tls-cert", "none.pem", "--tls-key", "none.pem"],
            "none.pem",
        ),
        (&below_a_file, vec![], "--data-dir"),
        (
            &temp.path().join("file"),
            vec![],
            "file: not a directory; choose another path with --data-dir",
        ),
        (
            temp.path(),
            vec!["--behind-proxy", "0.0.0.0/0"],
            "use the address of the proxy",
        ),
        (temp.path(), vec!["--audit-bytes", "5"], "use 65536 or more"),
        (
            temp.path(),
            vec!["--api-key-file", &short_key],
            "the key has 1 character and can be guessed",
        ),
    ] {
        let output = program("serve", dir)
            .args(&FREE_PORTS[2..])
            .args(flags)
            .output()
            .unwrap();
        let text = printed(&output);
        assert!(
            !output.status.success() && text.contains(expected),
            "{text}"
        );
        assert!(!text.contains("os error"), "{text}");
    }
}
