//! Workers at a place: they use the API of a service over real HTTP, and run the scans of the place.
//!
//! Leases are shorter than the 15 s of `scandeck serve` where a test waits for their end, and longer
//! where nothing may wait for it.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;
use scandeck::service::engine::ScanLimits;
use scandeck::service::keys::{Role, add_key, add_worker_key, revoke_key};
use scandeck::service::scope::{ScopeEntry, ScopeFile};
use scandeck::service::{Runner, ServiceScope, WorkerPlace, WorkerSettings, run_worker};
use serde_json::{Value, json};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::database::rows;
use super::runner::{ScriptedRunner, typical_events};
use super::shared::typical_service;
use super::{JsonResponse, PATIENCE, TestService, settings};

/// Long enough for beats on a busy machine.
const LEASE: Duration = Duration::from_secs(9);
/// Far above the time that a test may take.
const LONG_LEASE: Duration = Duration::from_secs(600);

fn office() -> WorkerPlace {
    "office".parse().unwrap()
}

/// A service in whose scope 127.0.0.1 belongs to the office.
async fn service_of_place(dir: &Path, lease: Duration) -> TestService {
    let mut settings = settings(dir);
    settings.lease = lease;
    let entry = ScopeEntry {
        target: "127.0.0.1".parse().unwrap(),
        until: None,
        active: false,
        place: Some(office()),
        note: String::new(),
        who: "ana@box".into(),
        added: None,
    };
    let file = ScopeFile::new(dir.join("scope.toml"));
    file.add(vec![entry]).unwrap();
    typical_service(settings).await
}

/// A new key of a worker of the office.
async fn worker_key(dir: &Path, name: &str) -> String {
    let dir = super::database::data_dir(dir);
    let added = add_worker_key(&dir, name, &office(), "ana@box").await;
    added.unwrap().expect("a free name")
}

fn worker_settings(service: &str, dir: &Path) -> WorkerSettings {
    WorkerSettings {
        service: service.parse().unwrap(),
        place: office(),
        scope_file: dir.join("worker.toml"),
        allow_private: false,
        allow_active: false,
        scans_at_once: 4,
        scan_limits: ScanLimits::default(),
        dns_server: None,
    }
}

/// A worker with scripted scans, in this process.
struct TestWorker {
    runner: ScriptedRunner,
    stop: CancellationToken,
    task: JoinHandle<anyhow::Result<()>>,
}

impl TestWorker {
    fn start(service: &str, dir: &Path, key: &str) -> Self {
        let runner = ScriptedRunner::default();
        runner.set_events(typical_events());
        let scripted: Arc<dyn Runner> = Arc::new(runner.clone());
        let (settings, key) = (worker_settings(service, dir), key.to_owned());
        let stop = CancellationToken::new();
        let ended = stop.clone();
        let task =
            tokio::spawn(async move { run_worker(settings, &key, Some(scripted), ended).await });
        Self { runner, stop, task }
    }

    async fn ended(self) -> anyhow::Result<()> {
        let ended = tokio::time::timeout(PATIENCE, self.task).await;
        ended.expect("the worker ends").unwrap()
    }

    async fn stop(self) {
        self.stop.cancel();
        self.ended().await.unwrap();
    }
}

/// Waits until a scan has stored its first results.
async fn until_results(service: &TestService, scan: i64) -> Value {
    let has_results = |scan: &Value| scan["num_finished_tests"] == 7;
    service.until(&format!("/scans/{scan}"), has_results).await
}

/// The nodes and the places.
async fn node_list(service: &TestService) -> Value {
    let url = service.base.replace("/api/v2", "/scandeck/v1/nodes");
    let request = service.client.get(url).bearer_auth(&service.key);
    JsonResponse::read(request.send().await.unwrap()).await.body
}

/// The nodes with a place.
async fn workers(service: &TestService) -> Vec<Value> {
    let list = node_list(service).await;
    let mut nodes = list["nodes"].as_array().unwrap().clone();
    nodes.retain(|node| node["place"] == "office");
    nodes
}

async fn until_workers(service: &TestService, count: usize) {
    let met = async {
        while workers(service).await.len() != count {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let met = tokio::time::timeout(PATIENCE, met).await;
    met.expect("the number of workers");
}

/// Waits until both workers follow [`LEASE`]: that of the only worker of a place is longer.
async fn until_both_have_the_lease(dir: &Path) {
    let met = async {
        let query = "SELECT count(*) FROM nodes WHERE place = 'office' AND lease = 9000";
        while rows(dir, query).await != ["2"] {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let met = tokio::time::timeout(PATIENCE, met).await;
    met.expect("two workers with the lease of the service");
}

#[tokio::test]
async fn places_are_listed_with_the_number_of_their_workers() {
    let dir = tempfile::tempdir().unwrap();
    let service = service_of_place(dir.path(), LONG_LEASE).await;
    let places = |workers: usize| {
        let profile = office().profile_uuid();
        json!([{"name": "office", "vpn_profile_uuid": profile, "workers": workers}])
    };
    assert_eq!(node_list(&service).await["places"], places(0));
    let key = worker_key(dir.path(), "office-1").await;
    let worker = TestWorker::start(&service.base, dir.path(), &key);
    until_workers(&service, 1).await;
    assert_eq!(node_list(&service).await["places"], places(1));
    worker.stop().await;
    service.stop().await;
}

#[tokio::test]
async fn scan_of_a_place_runs_at_its_worker() {
    let dir = tempfile::tempdir().unwrap();
    let service = service_of_place(dir.path(), LONG_LEASE).await;
    let key = worker_key(dir.path(), "office-1").await;
    let worker = TestWorker::start(&service.base, dir.path(), &key);
    let scan = service.scan(service.target("127.0.0.1").await).await;
    let running = until_results(&service, scan).await;
    assert_eq!(running["vpn_scan"], true);
    assert_eq!(
        running["info_text_lines"],
        json!([
            "scanned from office by the worker office-1",
            "connected to 127.0.0.1"
        ])
    );
    let nodes = workers(&service).await;
    assert_eq!(
        (&nodes[0]["roles"], &nodes[0]["running_scans"]),
        (&json!(["worker"]), &json!(1))
    );
    assert_eq!(nodes[0]["vpn_profile_uuid"], office().profile_uuid());

    worker.runner.finish_scans(1);
    let ended = service.until_status(scan, "finished").await;
    assert_eq!(ended["num_finished_tests"], 7);
    assert_eq!(service.count("/findings").await, 2);
    let findings = service.get("/findings").await;
    let evidence = &findings.data()[0]["vuln_evidence"]["data"]["rows"];
    assert_eq!(*evidence, json!([["GET /"]]));
    assert_eq!(service.runner.jobs().len(), 0, "not at the service");

    worker.stop().await;
    until_workers(&service, 0).await;
    service.stop().await;
}

#[tokio::test]
async fn client_chooses_a_place_as_vpn_profile() {
    let dir = tempfile::tempdir().unwrap();
    let service = service_of_place(dir.path(), LONG_LEASE).await;
    let key = worker_key(dir.path(), "office-1").await;
    let worker = TestWorker::start(&service.base, dir.path(), &key);
    let scan = async |target: &str, profile: Value| {
        let body = json!({"tool_id": 70, "target_name": target, "vpn_profile_uuid": profile});
        service.post("/scans", body).await
    };
    worker.runner.finish_scans(2);
    for profile in [office().profile_uuid(), "office".to_owned()] {
        let id = scan("127.0.0.2", json!(profile)).await.created();
        service.until_status(id, "finished").await;
    }
    assert_eq!(worker.runner.jobs().len(), 2);

    service.runner.finish_scans(1);
    let here = scan("127.0.0.2", Value::Null).await.created();
    let ended = service.until_status(here, "finished").await;
    assert_eq!(ended["vpn_scan"], false);
    let refused = scan("127.0.0.1", Value::Null).await;
    refused.assert_refused(403, "in scope for scans from the place `office` only");
    worker.stop().await;
    service.stop().await;
}

#[tokio::test]
async fn scan_of_a_place_without_worker_ends_as_vpn_connection_error() {
    let dir = tempfile::tempdir().unwrap();
    let service = service_of_place(dir.path(), Duration::from_millis(300)).await;
    let scan = service.scan(service.target("127.0.0.1").await).await;
    let ended = service.until_status(scan, "VPN connection error").await;
    let message = ended["status_message"].as_str().unwrap();
    assert!(
        message.contains("no worker of the place office is connected"),
        "{message}"
    );
    assert_eq!(
        ended["info_text_lines"],
        json!(["to be scanned from office"])
    );
    assert_eq!(service.runner.jobs().len(), 0);
    service.stop().await;
}

#[tokio::test]
async fn stop_ends_a_scan_of_a_worker() {
    let dir = tempfile::tempdir().unwrap();
    let service = service_of_place(dir.path(), LONG_LEASE).await;
    let key = worker_key(dir.path(), "office-1").await;
    let worker = TestWorker::start(&service.base, dir.path(), &key);
    let scan = service.scan(service.target("127.0.0.1").await).await;
    until_results(&service, scan).await;
    let requested = tokio::time::Instant::now();
    service
        .post(&format!("/scans/{scan}/stop"), json!({}))
        .await;
    let ended = service.until_status(scan, "stopped").await;
    assert!(
        requested.elapsed() < Duration::from_secs(15),
        "{:?}",
        requested.elapsed()
    );
    assert_eq!(
        ended["status_message"],
        "stopped by the user; partial results"
    );
    assert_eq!(worker.runner.running(), 0);
    worker.stop().await;
    service.stop().await;
}

#[tokio::test]
async fn denial_of_the_service_ends_a_scan_of_a_worker() {
    let dir = tempfile::tempdir().unwrap();
    let service = service_of_place(dir.path(), LONG_LEASE).await;
    let key = worker_key(dir.path(), "office-1").await;
    let worker = TestWorker::start(&service.base, dir.path(), &key);
    let scan = service.scan(service.target("127.0.0.1").await).await;
    until_results(&service, scan).await;
    let data_dir = super::database::data_dir(dir.path());
    let scope = ServiceScope::new(&data_dir);
    let allowed = scope.load().await.unwrap().allow;
    scope.deny(allowed).await.unwrap();
    let ended = service.until_status(scan, "stopped").await;
    let message = ended["status_message"].as_str().unwrap();
    assert!(message.starts_with("ended by the scope: "), "{message}");
    worker.stop().await;
    service.stop().await;
}

#[tokio::test]
async fn scan_is_refused_when_its_target_belongs_to_another_place_now() {
    let dir = tempfile::tempdir().unwrap();
    let service = service_of_place(dir.path(), LONG_LEASE).await;
    let scan = service.scan(service.target("127.0.0.1").await).await;
    let data_dir = super::database::data_dir(dir.path());
    let scope = ServiceScope::new(&data_dir);
    let mut allowed = scope.load().await.unwrap().allow;
    allowed[0].place = Some("lab".parse().unwrap());
    scope.add(allowed).await.unwrap();
    let key = worker_key(dir.path(), "office-1").await;
    let worker = TestWorker::start(&service.base, dir.path(), &key);
    let refused = service.until_status(scan, "failed to start").await;
    assert_eq!(
        refused["status_message"],
        "the scope names another place for this target now"
    );
    assert_eq!(worker.runner.jobs().len(), 0);
    worker.stop().await;
    service.stop().await;
}

#[tokio::test]
async fn scope_file_of_the_worker_refuses_a_target_of_the_service() {
    let dir = tempfile::tempdir().unwrap();
    let service = service_of_place(dir.path(), LONG_LEASE).await;
    let key = worker_key(dir.path(), "office-1").await;
    let settings = worker_settings(&service.base, dir.path());
    std::fs::write(
        &settings.scope_file,
        "deny = [{ target = '127.0.0.1', note = 'printer' }]",
    )
    .unwrap();
    let stop = CancellationToken::new();
    let ended = stop.clone();
    let worker = tokio::spawn(async move { run_worker(settings, &key, None, ended).await });
    let scan = service.scan(service.target("127.0.0.1").await).await;
    let refused = service.until_status(scan, "failed to start").await;
    let message = refused["status_message"].as_str().unwrap();
    assert!(
        message.contains("127.0.0.1") && message.contains("on the machine of the worker"),
        "{message}"
    );
    stop.cancel();
    worker.await.unwrap().unwrap();
    service.stop().await;
}

#[tokio::test]
async fn clean_stop_of_a_worker_hands_its_scan_over_without_waiting_for_the_lease() {
    let dir = tempfile::tempdir().unwrap();
    let service = service_of_place(dir.path(), LONG_LEASE).await;
    let key = worker_key(dir.path(), "office-1").await;
    let one = TestWorker::start(&service.base, dir.path(), &key);
    let scan = service.scan(service.target("127.0.0.1").await).await;
    until_results(&service, scan).await;
    let other = TestWorker::start(&service.base, dir.path(), &key);
    until_workers(&service, 2).await;
    one.stop().await;
    other.runner.job(0).await;
    other.runner.finish_scans(1);
    let ended = service.until_status(scan, "finished").await;
    assert_eq!(ended["num_finished_tests"], 7, "results of one attempt");
    assert_eq!(
        ended["info_text_lines"][0],
        "started again, because the service was stopped"
    );
    other.stop().await;
    service.stop().await;
}

#[test]
fn scan_of_a_killed_worker_runs_once_at_another() {
    let dir = tempfile::tempdir().unwrap();
    let (runtime, killed) = (Runtime::new().unwrap(), Runtime::new().unwrap());
    runtime.block_on(async {
        let service = service_of_place(dir.path(), LEASE).await;
        let key = worker_key(dir.path(), "office-1").await;
        let one = {
            let _guard = killed.enter();
            TestWorker::start(&service.base, dir.path(), &key)
        };
        let scan = service.scan(service.target("127.0.0.1").await).await;
        until_results(&service, scan).await;
        let other = TestWorker::start(&service.base, dir.path(), &key);
        until_both_have_the_lease(dir.path()).await;
        killed.shutdown_background();
        other.runner.job(0).await;
        other.runner.finish_scans(1);
        let ended = service.until_status(scan, "finished").await;
        assert_eq!(ended["num_finished_tests"], 7, "results of one attempt");
        assert_eq!(
            ended["info_text_lines"][0],
            "started again after an interruption, attempt 2"
        );
        assert_eq!((one.runner.jobs().len(), other.runner.jobs().len()), (1, 1));
        until_workers(&service, 1).await;
        other.stop().await;
        service.stop().await;
    });
}

/// A link between a worker and its service.
struct CutRelay {
    url: String,
    is_cut: Arc<watch::Sender<bool>>,
}

impl CutRelay {
    async fn start(service: &str) -> Self {
        let url: reqwest::Url = service.parse().unwrap();
        let to = url.socket_addrs(|| None).unwrap()[0];
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let is_cut = Arc::new(watch::Sender::new(false));
        let state = Arc::clone(&is_cut);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(forward(client, to, state.subscribe()));
            }
        });
        Self { url, is_cut }
    }

    fn set_cut(&self, is_cut: bool) {
        self.is_cut.send_replace(is_cut);
    }
}

/// Forwards until the link is cut.
async fn forward(mut client: TcpStream, to: SocketAddr, mut is_cut: watch::Receiver<bool>) {
    if *is_cut.borrow() {
        return;
    }
    let mut server = TcpStream::connect(to).await.unwrap();
    tokio::select! {
        _ = is_cut.wait_for(|is_cut| *is_cut) => {}
        _ = copy_bidirectional(&mut client, &mut server) => {}
    }
}

#[tokio::test]
async fn cut_of_two_seconds_does_not_end_a_scan_and_its_results_wait() {
    let dir = tempfile::tempdir().unwrap();
    let service = service_of_place(dir.path(), LEASE).await;
    let relay = CutRelay::start(&service.base).await;
    let key = worker_key(dir.path(), "office-1").await;
    let worker = TestWorker::start(&relay.url, dir.path(), &key);
    let scan = service.scan(service.target("127.0.0.1").await).await;
    until_results(&service, scan).await;

    relay.set_cut(true);
    worker.runner.finish_scans(1);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let shown = service.get(&format!("/scans/{scan}")).await;
    assert_eq!(shown.data()["status_name"], "running");
    relay.set_cut(false);

    let ended = service.until_status(scan, "finished").await;
    assert_eq!(ended["num_finished_tests"], 7, "results of one attempt");
    assert_eq!(worker.runner.jobs().len(), 1);
    worker.stop().await;
    service.stop().await;
}

#[tokio::test]
async fn worker_that_cannot_beat_ends_its_scan_and_starts_it_again() {
    let dir = tempfile::tempdir().unwrap();
    // The lease of the only worker is eight times as long.
    let service = service_of_place(dir.path(), Duration::from_secs(1)).await;
    let relay = CutRelay::start(&service.base).await;
    let key = worker_key(dir.path(), "office-1").await;
    let worker = TestWorker::start(&relay.url, dir.path(), &key);
    let scan = service.scan(service.target("127.0.0.1").await).await;
    until_results(&service, scan).await;

    relay.set_cut(true);
    let fenced = async {
        while worker.runner.running() > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let fenced = tokio::time::timeout(PATIENCE, fenced).await;
    fenced.expect("the scan ends without the service");
    relay.set_cut(false);
    worker.runner.job(1).await;
    worker.runner.finish_scans(1);
    let ended = service.until_status(scan, "finished").await;
    assert_eq!(ended["num_finished_tests"], 7, "results of one attempt");
    worker.stop().await;
    service.stop().await;
}

#[tokio::test]
async fn revoked_worker_ends_and_another_runs_its_scan() {
    let dir = tempfile::tempdir().unwrap();
    let service = service_of_place(dir.path(), LONG_LEASE).await;
    let key = worker_key(dir.path(), "office-1").await;
    let revoked = TestWorker::start(&service.base, dir.path(), &key);
    let scan = service.scan(service.target("127.0.0.1").await).await;
    until_results(&service, scan).await;
    let key = worker_key(dir.path(), "office-2").await;
    let other = TestWorker::start(&service.base, dir.path(), &key);
    until_workers(&service, 2).await;

    let data = super::database::data_dir(dir.path());
    assert!(revoke_key(&data, "office-1").await.unwrap());
    let runner = revoked.runner.clone();
    let refused = revoked.ended().await.unwrap_err().to_string();
    assert!(refused.contains("refused the worker"), "{refused}");
    assert_eq!(runner.running(), 0);
    other.runner.job(0).await;
    other.runner.finish_scans(1);
    let ended = service.until_status(scan, "finished").await;
    assert_eq!(ended["num_finished_tests"], 7, "results of one attempt");
    other.stop().await;
    service.stop().await;
}

#[tokio::test]
async fn only_the_key_of_a_place_reaches_its_scans() {
    let dir = tempfile::tempdir().unwrap();
    let service = service_of_place(dir.path(), LONG_LEASE).await;
    let key = worker_key(dir.path(), "office-1").await;
    let data = super::database::data_dir(dir.path());
    let admin = add_key(&data, "chief", Role::Admin, "ana@box").await;
    let admin = admin.unwrap().unwrap();
    let send = async |key: &str, method: Method, path: &str, body: Value| {
        let url = service.base.replace("/api/v2", path);
        let request = service.client.request(method, url).bearer_auth(key);
        JsonResponse::read(request.json(&body).send().await.unwrap()).await
    };
    let beat = |place: &str| json!({"node": "n1", "place": place, "name": "pc", "version": "1", "lease_ms": 0});
    let path = "/scandeck/v1/worker/beat";
    let refused = send(&admin, Method::POST, path, beat("office")).await;
    refused.assert_refused(403, "the key belongs to no place");
    let refused = send(&key, Method::POST, path, beat("lab")).await;
    refused.assert_refused(403, "the key belongs to the place `office`");
    let refused = send(&key, Method::GET, "/api/v2/scans", json!({})).await;
    refused.assert_refused(403, "has the role `worker`; this request requires `read`");
    let claim = json!({"node": "n1", "running": []});
    let path = "/scandeck/v1/worker/claim";
    let refused = send(&key, Method::POST, path, claim.clone()).await;
    refused.assert_refused(409, "the worker has to send a beat first");
    let refused = send(&admin, Method::POST, path, claim).await;
    refused.assert_refused(403, "the key belongs to no place");
    service.stop().await;
}
