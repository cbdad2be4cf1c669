//! The commands of `docs/deploy.md`: backup, restore and upgrade run as the page has them, and the
//! units, the container and the compose file start commands that the program accepts.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Parser;
use reqwest::Url;
use rustix::process::{Pid, Signal, kill_process};
use scandeck::cli::Cli;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::database::{database_of, database_url, rows, use_file};
use super::process::{FREE_PORTS, ServeProcess, program};
use crate::documents::{part, read};

const PAGE: &str = "docs/deploy.md";

/// The machine of the page, whose directories are temporary ones.
struct Machine {
    data: TempDir,
    backups: TempDir,
}

impl Machine {
    fn new() -> Self {
        Self {
            data: tempfile::tempdir().unwrap(),
            backups: tempfile::tempdir().unwrap(),
        }
    }

    fn serve(&self) -> ServeProcess {
        let data = self.data.path();
        ServeProcess::spawn(data, program("serve", data).args(FREE_PORTS))
    }

    /// Runs the commands of a part of the page.
    fn run(&self, name: &str) {
        let page = read(PAGE);
        let block = page[part(&page, name)].trim();
        let script = block
            .strip_prefix("```sh\n")
            .and_then(|rest| rest.strip_suffix("```"));
        self.shell(script.expect("the part is a block of commands"));
    }

    fn shell(&self, commands: &str) {
        let [data, backups] = [&self.data, &self.backups].map(|dir| dir.path().to_str().unwrap());
        let mut script = commands
            .replace("/var/lib/scandeck", data)
            .replace("/srv/backups", backups);
        let binaries = Path::new(env!("CARGO_BIN_EXE_scandeck")).parent().unwrap();
        let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("bash");
        shell.env("PATH", path).env("HOME", backups);
        if let Some(url) = database_url(self.data.path()) {
            let server = Url::parse(&url).unwrap();
            let name = server.path().trim_start_matches('/');
            for before in ["--dbname=", "DATABASE ", "RENAME TO "] {
                let of_page = format!("{before}scandeck");
                script = script.replace(&of_page, &format!("{before}{name}"));
            }
            let owner = format!("OWNER {}", server.username());
            script = script.replace("OWNER scandeck", &owner);
            let socket = server.query_pairs().find(|(key, _)| key == "host");
            let (_, host) = socket.expect("the server has a socket");
            shell
                .env("PGHOST", &*host)
                .env("PGUSER", server.username())
                .env("PGPORT", server.port().unwrap_or(5432).to_string())
                .env("SCANDECK_DATABASE_URL", &url);
        }
        let output = shell.args(["-euc", &script]).output().unwrap();
        assert!(output.status.success(), "{script}\n{output:?}");
    }
}

/// Backs up, changes data and scope, and restores.
async fn rehearse_restore(machine: &Machine, engine: &str) {
    let scope = machine.data.path().join("scope.toml");
    let service = machine.serve();
    machine.shell("scandeck scope add 192.0.2.7 --data-dir /var/lib/scandeck");
    let saved = std::fs::read_to_string(&scope).unwrap();
    let add = async |name: &str| service.post("/targets", json!({"name": name})).await;
    add("192.0.2.7").await.created();
    machine.run(&format!("back-up-{engine}"));
    add("127.0.0.1").await.created();
    machine.shell("scandeck scope add 192.0.2.8 --data-dir /var/lib/scandeck");

    machine.run(&format!("restore-{engine}"));
    let restored = machine.serve();
    // With PostgreSQL it is a copy, which the start writes.
    assert_eq!(std::fs::read_to_string(&scope).unwrap(), saved);
    let listed = restored.get("/targets").await;
    let targets = listed.data().as_array().unwrap().iter();
    let names: Vec<&Value> = targets.map(|target| &target["name"]).collect();
    assert_eq!(names, [&json!("192.0.2.7")]);
}

#[tokio::test]
async fn file_restored_by_the_page_has_the_data_of_its_backup() {
    let machine = Machine::new();
    use_file(machine.data.path());
    rehearse_restore(&machine, "file").await;
}

#[tokio::test]
async fn postgres_restored_by_the_page_has_the_data_of_its_backup() {
    let machine = Machine::new();
    // Without a server (`.ci/postgres`) there is nothing to restore.
    if database_of(machine.data.path()).is_some() {
        rehearse_restore(&machine, "postgres").await;
    }
}

/// The number of the format that a database file has.
fn schema(database: &Path) -> u32 {
    let bytes = std::fs::read(database).unwrap();
    u32::from_be_bytes(bytes[60..64].try_into().unwrap())
}

#[tokio::test]
async fn file_of_an_older_version_is_upgraded_and_goes_back_by_the_page() {
    let machine = Machine::new();
    let database = machine.data.path().join("scandeck.db");
    let fixture =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/0.1.0/service/scandeck.db");
    std::fs::copy(&fixture, &database).unwrap();

    machine.run("upgrade");
    let upgraded = machine.serve();
    let targets = upgraded.get("/targets").await;
    assert!(!targets.data().as_array().unwrap().is_empty());
    let copy = machine.data.path().join("scandeck.db.bak-1");
    assert!(copy.exists(), "the database has another format now");

    machine.run("go-back");
    assert_eq!(schema(&database), schema(&fixture));
}

/// Replaces the tables of PostgreSQL by those that the first version made, with a target and a scan.
fn make_postgres_older(machine: &Machine) {
    let first = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/assets/migrations/postgres/0001_first.sql"
    );
    machine.shell(&format!(
        r#"sql() {{ psql --quiet --set=ON_ERROR_STOP=1 --single-transaction --dbname=scandeck "$@" >/dev/null; }}
        sql --command="DROP SCHEMA public CASCADE" --command="CREATE SCHEMA public"
        sql --file="{first}"
        sql --command="INSERT INTO settings (name, value) VALUES ('schema', '1')" \
            --command="INSERT INTO targets (workspace_id, name, type) VALUES (1, '192.0.2.7', 'ip_address')" \
            --command="INSERT INTO scans (workspace_id, target_id, tool_id, status, created_at, started_at, ended_at,
                params, redirect_level, scan_original_url, vpn_scan, max_minutes)
                VALUES (1, 1, 70, 'finished', 0, 0, 0, '{{}}', 'same_domain', false, false, 5)""#
    ));
}

/// The number of the format that a PostgreSQL database has.
async fn postgres_schema(machine: &Machine) -> Vec<String> {
    let query = "SELECT value FROM settings WHERE name = 'schema'";
    rows(machine.data.path(), query).await
}

#[tokio::test]
async fn postgres_of_an_older_version_is_upgraded_by_two_nodes_and_goes_back_by_the_page() {
    let machine = Machine::new();
    // Without a server (`.ci/postgres`) there is nothing to upgrade.
    if database_of(machine.data.path()).is_none() {
        return;
    }
    // The files of an earlier service: its keys.
    drop(machine.serve());
    make_postgres_older(&machine);
    machine.run("back-up-postgres");

    let first = machine.serve();
    let other = tempfile::tempdir().unwrap();
    for key in ["key", "callback.key", "secrets.key"] {
        std::fs::copy(machine.data.path().join(key), other.path().join(key)).unwrap();
    }
    let mut command = program("serve", other.path());
    let url = database_url(machine.data.path()).unwrap();
    command.args(FREE_PORTS).env("SCANDECK_DATABASE_URL", &url);
    let second = ServeProcess::spawn(other.path(), &mut command);
    for node in [&first, &second] {
        let targets = node.get("/targets").await;
        assert_eq!(targets.data()[0]["name"], "192.0.2.7");
        let scans = node.get("/scans").await;
        assert_eq!(scans.data()[0]["status_name"], "finished");
    }
    let status = program("status", machine.data.path()).output().unwrap();
    let printed = String::from_utf8(status.stdout).unwrap();
    let version = concat!(", version ", env!("CARGO_PKG_VERSION"), ",");
    let nodes = printed.lines().filter(|line| line.starts_with("node "));
    assert_eq!(
        nodes.filter(|line| line.contains(version)).count(),
        2,
        "{printed}"
    );

    let stop = program("stop", other.path()).output().unwrap();
    assert!(stop.status.success(), "{stop:?}");
    machine.run("restore-postgres");
    assert_eq!(postgres_schema(&machine).await, ["1"]);
}

#[tokio::test]
async fn node_that_waits_for_a_backup_to_upgrade_ends_at_a_signal() {
    let machine = Machine::new();
    if database_of(machine.data.path()).is_none() {
        return;
    }
    drop(machine.serve());
    make_postgres_older(&machine);
    let mut backup = Command::new("psql")
        .arg(database_url(machine.data.path()).unwrap())
        .arg("-Atq")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut statements = backup.stdin.take().unwrap();
    let lock = b"BEGIN; LOCK TABLE nodes IN ACCESS SHARE MODE; SELECT 'locked';\n";
    statements.write_all(lock).unwrap();
    let mut locked = String::new();
    let mut answers = BufReader::new(backup.stdout.take().unwrap());
    answers.read_line(&mut locked).unwrap();
    assert_eq!(locked.trim(), "locked");

    let mut command = program("serve", machine.data.path());
    command.args(FREE_PORTS).stderr(Stdio::piped());
    let mut node = command.spawn().unwrap();
    let mut log = BufReader::new(node.stderr.take().unwrap()).lines();
    let waits = log.find(|line| line.as_ref().unwrap().contains("not migrated yet"));
    assert!(waits.is_some(), "it does not wait");
    let begin = Instant::now();
    kill_process(Pid::from_child(&node), Signal::TERM).unwrap();
    assert!(node.wait().unwrap().success());
    // It tries for a minute and a half.
    let taken = begin.elapsed();
    assert!(taken < Duration::from_secs(20), "{taken:?}");

    drop(statements);
    assert!(backup.wait().unwrap().success());
    assert_eq!(postgres_schema(&machine).await, ["1"]);
}

#[tokio::test]
async fn newer_postgres_is_refused_as_it_is_and_named_by_doctor() {
    let machine = Machine::new();
    if database_of(machine.data.path()).is_none() {
        return;
    }
    drop(machine.serve());
    machine.shell(
        "psql --quiet --dbname=scandeck \
            --command=\"UPDATE settings SET value = '9000' WHERE name IN ('schema', 'schema_works_with')\"",
    );
    let run = |command: &str, options: &[&str]| {
        let mut called = program(command, machine.data.path());
        called.args(options).env("HOME", machine.backups.path());
        let output = called.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let refused = run("serve", &FREE_PORTS);
    assert!(
        refused.contains("has schema 9000, this version supports up to "),
        "{refused}"
    );
    let checked = run("doctor", &[]);
    assert!(
        checked.contains("has schema 9000, this version reads up to "),
        "{checked}"
    );
    assert_eq!(postgres_schema(&machine).await, ["9000"]);
}

/// The arguments of the commands that a unit, a container or a compose file starts.
fn started(text: &str) -> Vec<Vec<String>> {
    let joined = text.replace("\\\n", " ");
    let commands = joined
        .lines()
        .map(str::trim)
        .filter_map(|line| -> Option<Vec<String>> {
            if let Some(command) = line.strip_prefix("ExecStart=") {
                let words = command.split_whitespace().skip(1);
                // The options of the administrator.
                let own = words.filter(|word| !word.starts_with('$'));
                return Some(own.map(str::to_owned).collect());
            }
            let list = line
                .strip_prefix("command: ")
                .or_else(|| line.strip_prefix("CMD "))?;
            Some(serde_json::from_str(list).unwrap())
        });
    commands.collect()
}

#[test]
fn units_and_containers_start_commands_that_the_program_accepts() {
    for file in [
        PAGE,
        "Containerfile",
        "packaging/compose.yaml",
        "packaging/scandeck.service",
        "packaging/scandeck-worker.service",
    ] {
        let commands = started(&read(file));
        assert_eq!(commands.len(), 1, "{file}");
        for mut arguments in commands {
            if arguments[0] == "worker" {
                let options = [
                    "--service",
                    "https://scans.example.net",
                    "--place",
                    "office",
                ];
                arguments.extend(options.map(str::to_owned));
            }
            arguments.insert(0, "scandeck".to_owned());
            let parsed = Cli::try_parse_from(&arguments);
            assert!(parsed.is_ok(), "{file}: {:?}", parsed.err());
        }
    }
}

#[test]
fn units_wait_before_they_start_a_service_again() {
    for file in [
        PAGE,
        "packaging/scandeck.service",
        "packaging/scandeck-worker.service",
    ] {
        let text = read(file);
        let pause = text
            .lines()
            .find_map(|line| line.strip_prefix("RestartSec="));
        let seconds: u64 = pause.expect(file).parse().unwrap();
        // Five starts in ten seconds are the limit of systemd.
        assert!(seconds >= 3, "{file}");
    }
}
