//! Members of a team with a home each, on one service: `scandeck triage sync` as scripts use it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use scandeck::oob;
use scandeck::oob::{Payload, Token};
use scandeck::service::DataDir;
use scandeck::service::backup::{back_up_dir, restore_dir};
use scandeck::service::keys::{Role, add_key, revoke_key};
use scandeck::triage::testing::Replica;
use scandeck::triage::{Event, TriageState, Verdict, jsonl};
use serde_json::{Value, json};
use tempfile::TempDir;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::headless::{Ended, command, run};
use crate::service::TestService;

/// The workspace of a new service.
const WORKSPACE: &str = "Default";

/// A person with a home and a key.
struct TeamMember {
    home: TempDir,
    base: String,
    key: String,
    decisions: Replica,
}

impl TeamMember {
    async fn new(service: &TestService, dir: &Path, name: &str, role: Role) -> Self {
        let key = add_key(&DataDir::open(dir).unwrap(), name, role, "ana@box").await;
        let mut decisions = Replica::new(name, name.bytes().map(u64::from).sum());
        decisions.writer.workspace = WORKSPACE.into();
        Self {
            home: tempfile::tempdir().unwrap(),
            base: service.base.clone(),
            key: key.unwrap().unwrap(),
            decisions,
        }
    }

    async fn run(&self, args: &[&str]) -> Ended {
        let mut command = command(self.home.path(), args);
        command
            .env("SCANDECK_BASE_URL", &self.base)
            .env("SCANDECK_API_KEY", &self.key);
        run(&mut command).await
    }

    async fn does(&self, args: &[&str]) -> String {
        let ended = self.run(args).await;
        assert_eq!(ended.code, 0, "{args:?}: {ended:?}");
        ended.out
    }

    /// The counts of an exchange of the only workspace.
    async fn sync(&self) -> Value {
        let out = self.does(&["triage", "sync", "--json"]).await;
        serde_json::from_str::<Value>(&out).unwrap()[0].take()
    }

    async fn export(&self) -> String {
        self.does(&["triage", "export"]).await
    }

    /// Decides on these findings without a connection.
    async fn decides(&mut self, findings: std::ops::Range<u128>, verdict: Verdict) {
        let decided: Vec<Arc<Event>> = findings
            .map(|key| self.decisions.decides(key, verdict))
            .collect();
        fs::write(self.home.path().join("d.jsonl"), jsonl::write(&decided)).unwrap();
        self.does(&["triage", "import", "d.jsonl"]).await;
    }

    /// The directory of the stores, after the first command.
    fn directory(&self) -> PathBuf {
        let services = self.home.path().join(".local/state/scandeck/of");
        let mut services = fs::read_dir(services).unwrap();
        services.next().unwrap().unwrap().path()
    }

    /// Changes the first payload.
    async fn plants(&self, version: i64, note: &str) {
        let mut archive = oob::Store::open(&self.directory()).await.unwrap().store;
        let payload = Payload {
            token: Token::of(1),
            workspace: WORKSPACE.into(),
            version,
            note: note.into(),
            ..Payload::default()
        };
        archive.plant(&[Arc::new(payload)]).await.unwrap();
        archive.close().await;
    }

    async fn book(&self) -> oob::PayloadBook {
        oob::Store::open(&self.directory()).await.unwrap().book
    }
}

/// Findings on which two people disagree.
fn conflicts(export: &str) -> usize {
    let state = TriageState::from_events(jsonl::read(export).events);
    let states = state.identities();
    states.filter(|(_, state)| state.is_conflict()).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn offline_hour_of_two_people_ends_in_equal_exports_with_named_conflicts() {
    let dir = tempfile::tempdir().unwrap();
    let service = TestService::in_dir(dir.path()).await;
    let mut anna = TeamMember::new(&service, dir.path(), "anna", Role::Triage).await;
    let mut bob = TeamMember::new(&service, dir.path(), "bob", Role::Triage).await;
    bob.sync().await;
    bob.decides(0..600, Verdict::FalsePositive).await;
    bob.plants(0, "of bob").await;
    anna.decides(550..700, Verdict::Confirmed).await;
    anna.plants(0, "of anna").await;
    let dry = anna.does(&["triage", "sync", "--dry-run"]).await;
    assert!(
        dry.contains("would send 150 decisions and 1 payload, receive 0"),
        "{dry}"
    );
    assert_eq!(anna.sync().await["sent"], 150);
    let dry = bob.does(&["triage", "sync", "--dry-run", "--json"]).await;
    let dry: Value = serde_json::from_str(&dry).unwrap();
    let counts = |name: &str| dry[0][name].as_u64().unwrap();
    assert_eq!((counts("sent"), counts("received")), (600, 150));
    assert_eq!((counts("findings"), counts("conflicts")), (50, 50));
    assert_eq!(
        jsonl::read(&bob.export().await).events.len(),
        600,
        "a dry run stores nothing"
    );
    let synced = bob.sync().await;
    assert_eq!(
        (&synced["sent"], &synced["received"]),
        (&json!(600), &json!(150))
    );
    assert_eq!(anna.sync().await["received"], 600);
    let (of_anna, of_bob) = (anna.export().await, bob.export().await);
    assert_eq!(of_anna, of_bob, "byte for byte");
    assert_eq!((of_anna.lines().count(), conflicts(&of_anna)), (750, 50));
    let only = ["triage", "export", "--workspace", WORKSPACE];
    assert_eq!(anna.does(&only).await, of_anna);
    assert_eq!(anna.book().await, bob.book().await);
    assert_eq!(
        anna.book().await.get(Token::of(1)).unwrap().note.as_str(),
        "of bob"
    );
    for member in [&anna, &bob] {
        let again = member.sync().await;
        assert_eq!((&again["sent"], &again["received"]), (&json!(0), &json!(0)));
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn restored_service_gets_the_decisions_after_its_backup_again() {
    let temp = tempfile::tempdir().unwrap();
    let (dir, backup, to) = (
        temp.path().join("service"),
        temp.path().join("backup"),
        temp.path().join("restored"),
    );
    let service = TestService::in_dir(&dir).await;
    let mut anna = TeamMember::new(&service, &dir, "anna", Role::Triage).await;
    let mut bob = TeamMember::new(&service, &dir, "bob", Role::Triage).await;
    anna.decides(0..20, Verdict::Confirmed).await;
    anna.sync().await;
    bob.sync().await;
    let open = |path: &Path| DataDir::open(path).unwrap();
    back_up_dir(&open(&dir), &backup, true).await.unwrap();
    bob.decides(20..50, Verdict::Fixed).await;
    bob.sync().await;
    anna.sync().await;
    anna.plants(0, "after the backup").await;
    anna.sync().await;
    service.stop().await;
    restore_dir(&backup, &open(&to), false).await.unwrap();
    let service = TestService::in_dir(&to).await;
    // The same service at another address: the data of its clients moves with it.
    for member in [&mut anna, &mut bob] {
        let before = member.directory();
        member.base = service.base.clone();
        fs::write(member.home.path().join("none.jsonl"), "").unwrap();
        member.does(&["triage", "import", "none.jsonl"]).await;
        let services = before.parent().unwrap();
        let mut others = fs::read_dir(services).unwrap().flatten();
        let new = others.find(|entry| entry.path() != before).unwrap().path();
        fs::remove_dir_all(&new).unwrap();
        fs::rename(before, new).unwrap();
    }
    for member in [&anna, &bob, &anna, &bob] {
        member.sync().await;
    }
    let export = anna.export().await;
    assert_eq!((export.lines().count(), &export), (50, &bob.export().await));
    let eve = TeamMember::new(&service, &to, "eve", Role::Read).await;
    eve.sync().await;
    assert_eq!(
        eve.export().await,
        export,
        "the service has all of them again"
    );
    assert_eq!(eve.book().await, anna.book().await);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn roles_and_revoked_keys_decide_what_a_member_can_do() {
    let dir = tempfile::tempdir().unwrap();
    let service = TestService::in_dir(dir.path()).await;
    let mut anna = TeamMember::new(&service, dir.path(), "anna", Role::Triage).await;
    let mut rita = TeamMember::new(&service, dir.path(), "rita", Role::Read).await;
    anna.decides(0..3, Verdict::Confirmed).await;
    rita.decides(7..9, Verdict::Confirmed).await;
    anna.sync().await;
    let read = rita.sync().await;
    assert_eq!((&read["sent"], &read["received"]), (&json!(0), &json!(3)));
    assert_eq!(anna.sync().await["received"], 0, "a read key sends nothing");
    let revoked = revoke_key(&DataDir::open(dir.path()).unwrap(), "anna").await;
    revoked.unwrap();
    anna.decides(3..4, Verdict::Confirmed).await;
    let mut refused = anna.run(&["triage", "sync"]).await;
    let began = Instant::now();
    // The service caches keys for a second.
    while refused.code == 0 && began.elapsed() < Duration::from_secs(10) {
        tokio::time::sleep(Duration::from_millis(100)).await;
        refused = anna.run(&["triage", "sync"]).await;
    }
    refused.refused(1, "401");
    assert_eq!(anna.export().await.lines().count(), 4, "nothing is lost");
    service.stop().await;
    let offline = rita.run(&["triage", "sync"]).await;
    offline.refused(1, "cannot connect");
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_decisions_fail_the_exchange_and_are_reported_by_doctor() {
    let dir = tempfile::tempdir().unwrap();
    let service = TestService::in_dir(dir.path()).await;
    let mut anna = TeamMember::new(&service, dir.path(), "anna", Role::Triage).await;
    let mut bob = TeamMember::new(&service, dir.path(), "bob", Role::Triage).await;
    anna.decides(0..1, Verdict::Confirmed).await;
    anna.sync().await;
    let doctor = async |member: &TeamMember| {
        let all: Value =
            serde_json::from_str(&member.run(&["doctor", "--json"]).await.out).unwrap();
        let find = |check: &str| {
            let mut found = all.as_array().unwrap().iter();
            let one = found.find(|one| one["check"] == check).unwrap();
            format!(
                "{} {}",
                one["state"].as_str().unwrap(),
                one["value"].as_str().unwrap()
            )
        };
        (find("team"), find("profile"))
    };
    let (team, profile) = doctor(&anna).await;
    assert_eq!(team, "ok anna, role triage; no refused decisions");
    assert!(
        profile.ends_with("decisions are recorded as anna"),
        "{profile}"
    );
    // The dashboard of anna, copied to bob.
    bob.decisions.writer.instance = anna.decisions.writer.instance;
    bob.decisions.writer.number = 10;
    bob.decides(1..2, Verdict::Confirmed).await;
    // Refused decisions are sent again, and counted again.
    for _ in 0..2 {
        let ended = bob.run(&["triage", "sync", "--json"]).await;
        assert_eq!(ended.code, 1, "{ended:?}");
        assert!(
            ended.err.contains("1 decision not accepted by the service"),
            "{ended:?}"
        );
        let synced: Value = serde_json::from_str(&ended.out).unwrap();
        assert_eq!(
            synced[0]["refused"].as_array().unwrap().len(),
            1,
            "{synced}"
        );
    }
    let (team, _) = doctor(&bob).await;
    assert!(
        team.starts_with("warning bob, role triage; 1 decision refused: "),
        "{team}"
    );
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn new_key_under_another_name_sends_what_the_revoked_one_left() {
    let dir = tempfile::tempdir().unwrap();
    let service = TestService::in_dir(dir.path()).await;
    let mut anna = TeamMember::new(&service, dir.path(), "anna", Role::Triage).await;
    anna.decides(0..3, Verdict::Confirmed).await;
    anna.sync().await;
    anna.decides(3..5, Verdict::Confirmed).await;
    let data = DataDir::open(dir.path()).unwrap();
    let other = add_key(&data, "anna2", Role::Triage, "ana@box").await;
    revoke_key(&data, "anna").await.unwrap();
    anna.key = other.unwrap().unwrap();
    assert_eq!(anna.sync().await["sent"], 2);
    assert_eq!(anna.sync().await["sent"], 0, "nothing is left");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn purge_with_an_admin_key_deletes_the_decisions_of_the_team() {
    let dir = tempfile::tempdir().unwrap();
    let service = TestService::in_dir(dir.path()).await;
    let mut anna = TeamMember::new(&service, dir.path(), "anna", Role::Triage).await;
    let eve = TeamMember::new(&service, dir.path(), "eve", Role::Admin).await;
    anna.decides(0..3, Verdict::Confirmed).await;
    anna.sync().await;
    eve.sync().await;
    let purge = ["purge", "--workspace", WORKSPACE, "--yes-delete", WORKSPACE];
    let ended = anna.run(&purge).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        ended.err.contains("the shared decisions of Default remain"),
        "{ended:?}"
    );
    assert_eq!(anna.sync().await["received"], 3, "a new copy");
    let unconfirmed = eve.run(&purge[..3]).await;
    unconfirmed.refused(2, "the decisions and payloads of the team at the service");
    assert!(eve.does(&purge).await.contains("of the team"));
    let ended = anna.run(&["triage", "sync"]).await;
    assert!(
        ended.err.contains("eve deleted the shared decisions"),
        "{ended:?}"
    );
    assert_eq!(ended.out, "Default: private, nothing exchanged\n");
    assert_eq!(
        anna.export().await.lines().count(),
        3,
        "the own copy remains"
    );
    let joined = anna
        .does(&["triage", "sync", "--workspace", WORKSPACE])
        .await;
    assert!(joined.contains("sent 3 decisions"), "{joined}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_decisions_are_exchanged_in_seconds() {
    // Several pages. Without optimisation, on a busy machine, they take longer.
    let (number, limit) = match cfg!(debug_assertions) {
        true => (2_500, Duration::from_secs(20)),
        false => (10_000, Duration::from_secs(2)),
    };
    let dir = tempfile::tempdir().unwrap();
    let service = TestService::in_dir(dir.path()).await;
    let mut anna = TeamMember::new(&service, dir.path(), "anna", Role::Triage).await;
    let bob = TeamMember::new(&service, dir.path(), "bob", Role::Triage).await;
    anna.decides(0..number, Verdict::Confirmed).await;
    let mut times = Vec::new();
    for member in [&anna, &bob] {
        let began = Instant::now();
        member.sync().await;
        times.push(began.elapsed());
    }
    assert_eq!(bob.export().await.lines().count() as u128, number);
    eprintln!("sent and received {number} decisions in {times:?}");
    assert!(times.iter().all(|time| *time < limit), "{times:?}");
    service.stop().await;
}

#[tokio::test]
async fn service_without_a_team_sees_the_list_of_workspaces_only() {
    let foreign = MockServer::start().await;
    let list = json!({"data": [{"id": 1, "name": WORKSPACE}]});
    let list = ResponseTemplate::new(200).set_body_json(list);
    Mock::given(any()).respond_with(list).mount(&foreign).await;
    let home = tempfile::tempdir().unwrap();
    let mut command = command(home.path(), &["triage", "sync"]);
    command
        .env("SCANDECK_BASE_URL", foreign.uri())
        .env("SCANDECK_API_KEY", "k");
    let ended = run(&mut command).await;
    ended.refused(1, "the service does not share decisions");
    let requests = foreign.received_requests().await.unwrap();
    let paths: Vec<&str> = requests.iter().map(|one| one.url.path()).collect();
    assert_eq!(paths, ["/api/v2/workspaces"]);
}
