//! Start and stop: one service per data directory, the files it writes, and when it ends.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use super::clock::ManualClock;
use super::database::use_file;
use jiff::{SignedDuration, Timestamp};
use scandeck::contract::WorkspaceId;
use scandeck::service::{DataDir, Holder, Parts, Settings, StartError, start, start_with};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::runner::ScriptedRunner;
use super::{TestService, settings};

#[tokio::test]
async fn locked_directory_names_running_service() {
    let temp = tempfile::tempdir().unwrap();
    let service = TestService::in_dir(temp.path()).await;
    let error = start(settings(temp.path()), CancellationToken::new())
        .await
        .unwrap_err();
    let text = error.to_string();
    assert!(
        matches!(error, StartError::Held { .. }) && text.contains(&service.base),
        "{text}"
    );
    assert!(
        text.contains(&std::process::id().to_string()) && text.lines().count() == 1,
        "{text}"
    );
    service.stop().await;
    let again = TestService::in_dir(temp.path()).await;
    again.stop().await;
}

#[tokio::test]
async fn data_directory_records_addresses_and_keeps_key() {
    let temp = tempfile::tempdir().unwrap();
    use_file(temp.path());
    let service = TestService::in_dir(temp.path()).await;
    let dir = DataDir::open(temp.path()).unwrap();
    let Holder::Running(Some(info)) = dir.holder().unwrap() else {
        panic!("not running")
    };
    assert_eq!(
        (info.base_url.as_str(), info.logger_url.as_str()),
        (service.base.as_str(), service.logger_base.as_str())
    );
    for file in [
        "key",
        "callback.key",
        "service.json",
        "scandeck.db",
        "scandeck.db-wal",
    ] {
        let mode = std::fs::metadata(temp.path().join(file))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    assert_eq!(
        std::fs::read_to_string(temp.path().join("key"))
            .unwrap()
            .trim(),
        service.key
    );
    let key = service.key.clone();
    service.stop().await;
    assert!(matches!(dir.holder().unwrap(), Holder::Nobody));
    assert_eq!(
        dir.info(),
        None,
        "no client sends its key to a port that may be free"
    );
    let again = TestService::in_dir(temp.path()).await;
    assert_eq!(again.key, key);
    again.stop().await;
}

#[tokio::test]
async fn occupied_address_names_flag() {
    let temp = tempfile::tempdir().unwrap();
    let occupied = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut settings = settings(temp.path());
    settings.logger_listen = occupied.local_addr().unwrap();
    let error = start(settings, CancellationToken::new())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("--logger-listen") && error.contains("port 0"),
        "{error}"
    );
}

#[tokio::test]
async fn changed_logger_port_is_noted() {
    let temp = tempfile::tempdir().unwrap();
    let service = TestService::in_dir(temp.path()).await;
    let old = service.logger_base.clone();
    // Occupied, so that the next service cannot bind the same port.
    let port = url::Url::parse(&old).unwrap().port().unwrap();
    service.stop().await;
    let _occupied = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
    let stop = CancellationToken::new();
    let running = start_with(settings(temp.path()), stop.clone(), Parts::default())
        .await
        .unwrap();
    assert!(
        running.notes.iter().any(|note| note.contains(&old)),
        "{:?}",
        running.notes
    );
    let info = DataDir::open(temp.path()).unwrap().info().unwrap();
    assert_eq!(info.previous_logger_url.unwrap().as_str(), old);
    stop.cancel();
    running.stopped().await.unwrap();
}

/// Settings that allow any free port when the previous one is occupied.
fn any_port(dir: &Path) -> Settings {
    let mut settings = settings(dir);
    settings.any_port = true;
    settings
}

#[tokio::test]
async fn detached_service_reuses_previous_ports_when_free() {
    let temp = tempfile::tempdir().unwrap();
    let settings = || any_port(temp.path());
    let service = TestService::with_settings(settings()).await;
    let (base, logger_base) = (service.base.clone(), service.logger_base.clone());
    service.stop().await;
    let service = TestService::with_settings(settings()).await;
    assert_eq!((&service.base, &service.logger_base), (&base, &logger_base));
    service.stop().await;
    let port = |url: &str| url::Url::parse(url).unwrap().port().unwrap();
    let _occupied = std::net::TcpListener::bind(("127.0.0.1", port(&base))).unwrap();
    let service = TestService::with_settings(settings()).await;
    assert_ne!(service.base, base);
    assert_eq!(service.logger_base, logger_base);
    service.stop().await;
}

#[tokio::test]
async fn failed_start_keeps_previous_ports() {
    let temp = tempfile::tempdir().unwrap();
    let settings = || any_port(temp.path());
    let service = TestService::with_settings(settings()).await;
    let logger_base = service.logger_base.clone();
    service.stop().await;
    let mut wrong = settings();
    wrong.current_workspace = Some(WorkspaceId(99));
    start(wrong, CancellationToken::new()).await.unwrap_err();
    let service = TestService::with_settings(settings()).await;
    assert_eq!(service.logger_base, logger_base);
    service.stop().await;
}

#[tokio::test]
async fn service_on_all_addresses_is_reachable_on_loopback() {
    let temp = tempfile::tempdir().unwrap();
    let key_file = temp.path().join("elsewhere");
    let mut all = settings(temp.path());
    all.listen = "0.0.0.0:0".parse().unwrap();
    all.insecure_http = true;
    all.logger_listen = all.listen;
    all.api_key_file = Some(key_file.clone());
    all.logger_days = 5;
    let service = TestService::with_settings(all).await;
    assert!(
        service.base.starts_with("http://0.0.0.0:"),
        "{}",
        service.base
    );
    assert!(
        service.logger_base.starts_with("http://127.0.0.1:"),
        "{}",
        service.logger_base
    );
    let info = DataDir::open(temp.path()).unwrap().info().unwrap();
    assert!(
        info.base_url.as_str().starts_with("http://127.0.0.1:"),
        "{}",
        info.base_url
    );
    assert_eq!(
        (info.api_key_file, info.logger_days),
        (Some(key_file.canonicalize().unwrap()), 5)
    );
    service.stop().await;
}

#[tokio::test]
async fn current_workspace_is_set_at_start() {
    let temp = tempfile::tempdir().unwrap();
    let service = TestService::in_dir(temp.path()).await;
    let acme = service
        .post("/workspaces", json!({"name": "Acme"}))
        .await
        .created();
    service.stop().await;
    let mut chosen = settings(temp.path());
    chosen.current_workspace = Some(WorkspaceId(acme));
    let service = TestService::with_settings(chosen).await;
    let target = service.target("127.0.0.1").await;
    assert_eq!(
        service.get(&format!("/targets/{target}")).await.data()["workspace_id"],
        acme
    );
    service
        .delete(&format!("/workspaces/{acme}"))
        .await
        .assert_refused(409, "current workspace");
    service.delete("/workspaces/1").await.assert_no_content();
    service.stop().await;
    let mut unknown = settings(temp.path());
    unknown.current_workspace = Some(WorkspaceId(99));
    let error = start(unknown, CancellationToken::new())
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("--current-workspace 99"), "{error}");
}

#[tokio::test]
async fn idle_service_exits_unless_a_logger_listens() {
    let temp = tempfile::tempdir().unwrap();
    let clock = ManualClock::new(Timestamp::now());
    let mut idle = settings(temp.path());
    idle.idle_exit = Some(Duration::from_secs(1800));
    let service = TestService::with_parts(idle, Some(&clock), ScriptedRunner::default()).await;
    let logger = service
        .post("/http_loggers", json!({"label": "a"}))
        .await
        .created();
    for _ in 0..10 {
        clock.advance(SignedDuration::from_mins(10));
        tokio::task::yield_now().await;
    }
    service
        .delete(&format!("/http_loggers/{logger}"))
        .await
        .assert_no_content();
    clock.advance(SignedDuration::from_mins(29));
    service.get("/workspaces").await.data();
    for _ in 0..4 {
        clock.advance(SignedDuration::from_mins(10));
    }
    tokio::time::timeout(Duration::from_secs(5), service.running.stopped())
        .await
        .expect("the idle service did not exit")
        .unwrap();
}

#[tokio::test]
async fn open_connection_does_not_delay_shutdown() {
    use tokio::io::AsyncWriteExt;
    let service = TestService::new().await;
    let address = service
        .base
        .trim_start_matches("http://")
        .split('/')
        .next()
        .unwrap()
        .to_owned();
    let mut half = tokio::net::TcpStream::connect(address).await.unwrap();
    half.write_all(
        b"POST /api/v2/targets HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nna",
    )
    .await
    .unwrap();
    let begin = std::time::Instant::now();
    service.stop().await;
    assert!(begin.elapsed().as_secs_f32() < 2.0, "{:?}", begin.elapsed());
}
