//! A PostgreSQL server that is away: requests receive 503, nothing that was acknowledged is lost, and
//! the service works again when the server is back.
//!
//! ```text
//!   service ─► relay (cut, or silent) ─► socket of the server
//! ```
//!
//! A file cannot be away, so without a server (`.ci/postgres`) the tests end at once.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::{Method, Url};
use scandeck::service::DatabaseAddress;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;

use super::database::{database_of, database_url};
use super::shared::{first_settings, second_settings, typical_service};
use super::{PATIENCE, TestService, settings};

/// Long enough for beats on a busy machine.
const LEASE: Duration = Duration::from_secs(3);

/// What the relay does with connections.
#[derive(Clone, Copy, PartialEq)]
enum Link {
    Up,
    /// Closes them and refuses new ones.
    Cut,
    /// Keeps them and forwards nothing, like a network that loses everything.
    Silent,
}

struct Relay {
    address: DatabaseAddress,
    link: Arc<watch::Sender<Link>>,
}

impl Relay {
    /// A relay to the database of a directory; `None` without a server.
    async fn start(dir: &Path) -> Option<Self> {
        database_of(dir)?;
        let mut url = Url::parse(&database_url(dir)?).unwrap();
        let socket = socket_of(&url);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        url.set_query(None);
        url.set_host(Some("127.0.0.1")).unwrap();
        url.set_port(Some(port)).unwrap();
        let link = Arc::new(watch::Sender::new(Link::Up));
        let state = Arc::clone(&link);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(forward(client, socket.clone(), state.subscribe()));
            }
        });
        let address = DatabaseAddress::parse(url.as_str(), "the relay".to_owned()).unwrap();
        Some(Self { address, link })
    }

    fn set(&self, link: Link) {
        self.link.send_replace(link);
    }
}

fn socket_of(url: &Url) -> PathBuf {
    let mut parameters = url.query_pairs();
    let (_, host) = parameters.find(|(name, _)| name == "host").unwrap();
    Path::new(host.as_ref()).join(".s.PGSQL.5432")
}

async fn forward(mut client: TcpStream, socket: PathBuf, mut link: watch::Receiver<Link>) {
    if *link.borrow() == Link::Cut {
        return;
    }
    let _ = link.wait_for(|link| *link != Link::Silent).await;
    let Ok(mut server) = UnixStream::connect(socket).await else {
        return;
    };
    let mut buffers = (vec![0; 8192], vec![0; 8192]);
    loop {
        let state = *link.borrow_and_update();
        match state {
            Link::Cut => return,
            Link::Silent => {
                if link.changed().await.is_err() {
                    return;
                }
            }
            Link::Up => tokio::select! {
                changed = link.changed() => if changed.is_err() { return },
                read = client.read(&mut buffers.0) => match read {
                    Ok(length @ 1..) => {
                        if server.write_all(&buffers.0[..length]).await.is_err() { return }
                    }
                    _ => return,
                },
                read = server.read(&mut buffers.1) => match read {
                    Ok(length @ 1..) => {
                        if client.write_all(&buffers.1[..length]).await.is_err() { return }
                    }
                    _ => return,
                },
            },
        }
    }
}

/// Asks until the list has an answer.
async fn until_back(service: &TestService) {
    let start = Instant::now();
    while service.get("/targets").await.status != 200 {
        assert!(start.elapsed() < PATIENCE, "the service does not come back");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn cut_connection_is_503_and_the_service_returns() {
    let dir = tempfile::tempdir().unwrap();
    let Some(relay) = Relay::start(dir.path()).await else {
        return;
    };
    let mut settings = settings(dir.path());
    settings.database = Some(relay.address.clone());
    let service = TestService::with_settings(settings).await;
    let target = service.target("http://127.0.0.1:8001").await;

    relay.set(Link::Cut);
    for (method, path) in [(Method::GET, "/targets"), (Method::POST, "/workspaces")] {
        let request = service.request(method, path).json(&json!({"name": "New"}));
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 503, "{path}");
        assert_eq!(response.headers()["retry-after"], "2", "{path}");
        let body = response.text().await.unwrap();
        assert!(body.contains("the database is not available"), "{body}");
        assert!(!body.contains("127.0.0.1"), "{body}");
    }

    relay.set(Link::Up);
    until_back(&service).await;
    let shown = service.get(&format!("/targets/{target}")).await;
    assert_eq!(shown.status, 200);
    assert_eq!(
        service.count("/workspaces").await,
        1,
        "the refused write was stored"
    );
    service.target("http://127.0.0.1:8002").await;
    service.stop().await;
}

#[tokio::test]
async fn silent_network_ends_a_request_after_its_limit() {
    let dir = tempfile::tempdir().unwrap();
    let Some(relay) = Relay::start(dir.path()).await else {
        return;
    };
    let mut settings = settings(dir.path());
    settings.database = Some(relay.address.clone());
    let service = TestService::with_settings(settings).await;
    assert_eq!(service.get("/targets").await.status, 200);

    relay.set(Link::Silent);
    let start = Instant::now();
    let status = service.get("/targets").await.status;
    let took = start.elapsed();
    assert_eq!(status, 503);
    // The limit of a read and its grace; a cut without a limit hung for half a minute.
    assert!(took.as_secs() < 15, "{took:?}");

    relay.set(Link::Up);
    until_back(&service).await;
    service.stop().await;
}

#[tokio::test]
async fn scan_that_ends_while_the_database_is_away_is_not_started_again() {
    let dir = tempfile::tempdir().unwrap();
    let Some(relay) = Relay::start(dir.path()).await else {
        return;
    };
    let mut settings = settings(dir.path());
    settings.database = Some(relay.address.clone());
    let service = typical_service(settings).await;
    let scan = service.scan(service.target("127.0.0.1").await).await;
    let has_results = |scan: &Value| scan["num_finished_tests"] == 7;
    service.until(&format!("/scans/{scan}"), has_results).await;

    relay.set(Link::Cut);
    service.runner.finish_scans(1);
    let start = Instant::now();
    while service.runner.running() > 0 {
        assert!(start.elapsed() < PATIENCE, "the scan does not end");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // Its end was refused too.
    assert_eq!(service.get("/targets").await.status, 503);
    relay.set(Link::Up);
    until_back(&service).await;
    let ended = service.until_status(scan, "finished").await;
    assert_eq!(ended["info_text_lines"], json!(["connected to 127.0.0.1"]));
    assert_eq!(service.runner.jobs().len(), 1, "one attempt");
    service.stop().await;
}

#[tokio::test]
async fn node_that_is_cut_off_ends_its_scan_before_another_takes_it_over() {
    let dir = tempfile::tempdir().unwrap();
    let Some(relay) = Relay::start(&dir.path().join("one")).await else {
        return;
    };
    let mut settings = first_settings(dir.path());
    (settings.database, settings.lease) = (Some(relay.address.clone()), LEASE);
    let one = typical_service(settings).await;
    let scan = one.scan(one.target("127.0.0.1").await).await;
    one.runner.job(0).await;
    let mut settings = second_settings(dir.path());
    settings.lease = LEASE;
    let other = typical_service(settings).await;

    relay.set(Link::Cut);
    other.runner.job(0).await;
    assert_eq!(one.runner.running(), 0, "it ended before");
    other.runner.finish_scans(1);
    let ended = other.until_status(scan, "finished").await;
    assert_eq!(ended["num_finished_tests"], 7, "results of one attempt");

    relay.set(Link::Up);
    until_back(&one).await;
    assert_eq!((one.runner.jobs().len(), other.runner.jobs().len()), (1, 1));
    other.stop().await;
    one.stop().await;
}

#[tokio::test]
async fn ended_connections_are_replaced_by_the_next_request() {
    let dir = tempfile::tempdir().unwrap();
    let Some(_) = database_of(dir.path()) else {
        return;
    };
    let service = TestService::in_dir(dir.path()).await;
    service.target("http://127.0.0.1:8001").await;
    let url = database_url(dir.path()).unwrap();
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let ended = Command::new("psql").args([&url, "-Atqc", end]).output();
    let ended = String::from_utf8(ended.unwrap().stdout).unwrap();
    assert_ne!(ended.trim(), "0", "no connection was idle");
    assert_eq!(service.count("/targets").await, 1);
    service.target("http://127.0.0.1:8002").await;
    service.stop().await;
}
