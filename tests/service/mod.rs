//! The embedded service over real HTTP: each endpoint with its success and its documented refusals.
//!
//! [`TestService`] runs on free ports in a temporary directory. Each module tests one noun of the
//! API.

mod access;
mod backup;
mod callbacks;
mod capture_months;
mod clock;
mod commands;
mod database;
mod database_faults;
mod deploy;
mod document;
mod engine;
mod engines;
mod etags;
mod findings;
mod guests;
mod imports;
mod keys;
mod lifecycle;
mod limits;
mod loggers;
mod network;
mod new_database;
mod nodes;
mod operation;
mod practice;
mod process;
mod raw_captures;
mod reports;
mod restart;
pub mod runner;
mod scans;
mod schedules;
mod shared;
mod statements;
mod target_tags;
mod targets;
mod team;
mod team_lines;
mod wordlists;
mod workers;
mod workspaces;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clock::ManualClock;
use reqwest::{Client, Method, RequestBuilder, Response};
use scandeck::service::{Parts, RateLimit, Running, Settings, start_with};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use runner::ScriptedRunner;

/// Upper bound for each wait in a test.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running service, with an HTTP client and the API key.
pub struct TestService {
    pub base: String,
    pub logger_base: String,
    pub key: String,
    pub client: Client,
    pub runner: ScriptedRunner,
    stop: CancellationToken,
    running: Running,
    dir: Option<TempDir>,
}

/// Status, content type and JSON body of a response.
#[derive(Debug)]
pub struct JsonResponse {
    pub status: u16,
    pub content_type: String,
    pub body: Value,
}

/// Settings with free ports and without a rate limit.
pub fn settings(dir: &Path) -> Settings {
    let mut settings = Settings::new(dir).with_free_ports();
    settings.database = database::new_database_of(dir);
    settings.rate_limit = RateLimit::Off;
    settings.allow_callbacks = vec!["127.0.0.0/8".parse().unwrap()];
    settings
}

/// The next pause of a wait: its requests delay what it waits for on a busy machine.
pub fn longer(pause: Duration) -> Duration {
    (2 * pause).min(Duration::from_millis(100))
}

/// A client of plain HTTP: it does not read the certificates that this machine trusts, and asks for
/// no compression, which takes long without optimisation.
pub fn http_client() -> Client {
    let client = Client::builder().no_proxy().no_gzip();
    client.tls_certs_only(Vec::new()).build().unwrap()
}

impl TestService {
    /// Starts a service with scripted scans in a temporary directory.
    pub async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// Starts a service like [`Self::new`] with changed settings.
    pub async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut settings = settings(dir.path());
        change(&mut settings);
        let mut service = Self::with_settings(settings).await;
        service.dir = Some(dir);
        service
    }

    /// Starts a service with scripted scans in a directory that outlives it.
    pub async fn in_dir(dir: &Path) -> Self {
        Self::with_settings(settings(dir)).await
    }

    /// Starts a service with scripted scans and these settings.
    pub async fn with_settings(settings: Settings) -> Self {
        Self::with_parts(settings, None, ScriptedRunner::default()).await
    }

    /// Starts a service like [`Self::in_dir`] on a clock that the test advances.
    pub async fn with_clock(dir: &Path, clock: &ManualClock, runner: ScriptedRunner) -> Self {
        Self::with_parts(settings(dir), Some(clock), runner).await
    }

    /// Starts a service with these settings, clock and runner.
    pub async fn with_parts(
        settings: Settings,
        clock: Option<&ManualClock>,
        runner: ScriptedRunner,
    ) -> Self {
        let stop = CancellationToken::new();
        let mut parts = Parts {
            runner: Some(Arc::new(runner.clone())),
            ..Parts::default()
        };
        if let Some(clock) = clock {
            parts.clock = Arc::new(clock.clone());
        }
        new_database::place(&settings).await;
        let running = start_with(settings, stop.clone(), parts).await.unwrap();
        Self {
            runner,
            ..Self::of(running, stop)
        }
    }

    /// Starts a service with the real engine in a directory that outlives it.
    pub async fn with_engine(dir: &Path) -> Self {
        let (settings, stop) = (settings(dir), CancellationToken::new());
        new_database::place(&settings).await;
        let running = start_with(settings, stop.clone(), Parts::default()).await;
        Self::of(running.unwrap(), stop)
    }

    /// Wraps a service that the caller started.
    pub fn of(running: Running, stop: CancellationToken) -> Self {
        Self {
            base: running.base_url.to_string(),
            logger_base: running.logger_base.to_string(),
            key: running.api_key.clone(),
            client: http_client(),
            runner: ScriptedRunner::default(),
            stop,
            running,
            dir: None,
        }
    }

    /// A request with the API key.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client
            .request(method, format!("{}{path}", self.base))
            .bearer_auth(&self.key)
    }

    pub async fn get(&self, path: &str) -> JsonResponse {
        self.send(Method::GET, path, |request| request).await
    }

    pub async fn delete(&self, path: &str) -> JsonResponse {
        self.send(Method::DELETE, path, |request| request).await
    }

    pub async fn post(&self, path: &str, body: Value) -> JsonResponse {
        self.send(Method::POST, path, |request| request.json(&body))
            .await
    }

    pub async fn put(&self, path: &str, body: Value) -> JsonResponse {
        self.send(Method::PUT, path, |request| request.json(&body))
            .await
    }

    pub async fn form(&self, path: &str, fields: &[(&str, &str)]) -> JsonResponse {
        self.send(Method::POST, path, |request| request.form(fields))
            .await
    }

    /// Sends a request and compares the response with the OpenAPI document.
    async fn send(
        &self,
        method: Method,
        path: &str,
        with_body: impl FnOnce(RequestBuilder) -> RequestBuilder,
    ) -> JsonResponse {
        let request = with_body(self.request(method.clone(), path));
        let response = JsonResponse::read(request.send().await.unwrap()).await;
        document::assert_described(&method, path, &response);
        response
    }

    /// Creates a target and returns its id.
    pub async fn target(&self, name: &str) -> i64 {
        self.post("/targets", json!({"name": name})).await.created()
    }

    /// Starts a port scan of a target and returns its id.
    pub async fn scan(&self, target: i64) -> i64 {
        self.post("/scans", json!({"tool_id": 70, "target_id": target}))
            .await
            .created()
    }

    /// The number of items in a list.
    pub async fn count(&self, path: &str) -> usize {
        self.get(path).await.data().as_array().unwrap().len()
    }

    /// Polls a path until its data meets the condition.
    pub async fn until(&self, path: &str, is_met: impl Fn(&Value) -> bool) -> Value {
        let ready = async {
            let mut pause = Duration::from_millis(10);
            loop {
                let response = self.get(path).await;
                if is_met(&response.body["data"]) {
                    return response.body["data"].clone();
                }
                tokio::time::sleep(pause).await;
                pause = longer(pause);
            }
        };
        match tokio::time::timeout(PATIENCE, ready).await {
            Ok(value) => value,
            Err(_) => panic!(
                "{path}: condition not met in {PATIENCE:?}: {:?}",
                self.get(path).await
            ),
        }
    }

    /// Waits until a scan has a status.
    pub async fn until_status(&self, scan: i64, status: &str) -> Value {
        self.until(&format!("/scans/{scan}"), |scan| {
            scan["status_name"] == status
        })
        .await
    }

    /// Stops the service and waits until it has ended.
    pub async fn stop(self) {
        self.stop.cancel();
        tokio::time::timeout(Duration::from_secs(3), self.running.stopped())
            .await
            .expect("service did not stop within 3 s")
            .unwrap();
    }
}

impl JsonResponse {
    pub async fn read(response: Response) -> Self {
        let status = response.status().as_u16();
        let kind = response
            .headers()
            .get("content-type")
            .map(|kind| kind.to_str().unwrap().to_owned());
        let bytes = response.bytes().await.unwrap();
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        Self {
            status,
            content_type: kind.unwrap_or_default(),
            body,
        }
    }

    /// The id of the created resource, after asserting status 201.
    #[track_caller]
    pub fn created(&self) -> i64 {
        assert_eq!(self.status, 201, "{self:?}");
        self.body["data"]["created_id"].as_i64().unwrap()
    }

    /// The list or object in the body, after asserting status 200.
    #[track_caller]
    pub fn data(&self) -> &Value {
        assert_eq!(
            (self.status, self.content_type.as_str()),
            (200, "application/json"),
            "{self:?}"
        );
        &self.body["data"]
    }

    /// Asserts an error body with this status, whose message contains this text.
    #[track_caller]
    pub fn assert_refused(&self, status: u16, message: &str) {
        assert_eq!(
            (self.status, self.content_type.as_str()),
            (status, "application/json"),
            "{self:?}"
        );
        assert_eq!(self.body["status"], status, "{self:?}");
        assert!(
            self.body["message"].as_str().unwrap().contains(message),
            "{message}: {self:?}"
        );
        assert!(self.body.get("data").is_none());
    }

    /// Asserts status 204 and an empty body.
    #[track_caller]
    pub fn assert_no_content(&self) {
        assert_eq!((self.status, &self.body), (204, &Value::Null), "{self:?}");
    }
}
