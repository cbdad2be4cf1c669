//! The embedded service over real HTTP: each endpoint with its success and its documented refusals.
//!
//! [`World`] is a service on free ports with a directory of its own; the modules are one a noun.

mod access;
mod callbacks;
mod commands;
mod engine;
mod findings;
mod lifecycle;
mod loggers;
#[cfg(feature = "dashboard")]
mod practice;
mod process;
mod reports;
mod restart;
pub mod runner;
mod scans;
mod targets;
mod wordlists;
mod workspaces;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder, Response};
use scandeck::service::clock::Clock;
use scandeck::service::{Parts, RateLimit, Running, Settings, start_with};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use runner::Script;

/// How long a test waits for something that must come.
const PATIENCE: Duration = Duration::from_secs(20);

/// A service of a test, with a client that has the key.
pub struct World {
    pub base: String,
    pub logger_base: String,
    pub key: String,
    pub client: Client,
    pub script: Script,
    stop: CancellationToken,
    running: Running,
    dir: Option<TempDir>,
}

/// An answer, read.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub content_type: String,
    pub body: Value,
}

/// Settings of a test: free ports, no rate limit.
pub fn settings(dir: &Path) -> Settings {
    let mut settings = Settings::new(dir).with_free_ports();
    settings.rate_limit = RateLimit::Off;
    settings
}

impl World {
    /// A service with scripted scans.
    pub async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// The same with other settings.
    pub async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut settings = settings(dir.path());
        change(&mut settings);
        let mut world = Self::at(settings, None, Script::default()).await;
        world.dir = Some(dir);
        world
    }

    /// A service in a directory that stays, with a clock of the test.
    pub async fn at(settings: Settings, clock: Option<Arc<dyn Clock>>, script: Script) -> Self {
        let stop = CancellationToken::new();
        let mut parts = Parts { runner: Some(Arc::new(script.clone())), ..Parts::default() };
        if let Some(clock) = clock {
            parts.clock = clock;
        }
        let running = start_with(settings, stop.clone(), parts).await.unwrap();
        Self { script, ..Self::of(running, stop) }
    }

    /// A service that was started otherwise.
    pub fn of(running: Running, stop: CancellationToken) -> Self {
        Self {
            base: running.base_url.to_string(),
            logger_base: running.logger_base.to_string(),
            key: running.api_key.clone(),
            client: Client::builder().no_proxy().build().unwrap(),
            script: Script::default(),
            stop,
            running,
            dir: None,
        }
    }

    /// A request with the key.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base)).bearer_auth(&self.key)
    }

    pub async fn get(&self, path: &str) -> Answer {
        Answer::read(self.request(Method::GET, path).send().await.unwrap()).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        Answer::read(self.request(Method::DELETE, path).send().await.unwrap()).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        Answer::read(self.request(Method::POST, path).json(&body).send().await.unwrap()).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Answer {
        Answer::read(self.request(Method::PUT, path).json(&body).send().await.unwrap()).await
    }

    pub async fn form(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        Answer::read(self.request(Method::POST, path).form(fields).send().await.unwrap()).await
    }

    /// Makes a target and gives its id.
    pub async fn target(&self, name: &str) -> i64 {
        self.post("/targets", json!({"name": name})).await.created()
    }

    /// Starts a port scan of a target and gives its id.
    pub async fn scan(&self, target: i64) -> i64 {
        self.post("/scans", json!({"tool_id": 70, "target_id": target})).await.created()
    }

    /// Waits until a look-up shows what is wanted.
    pub async fn until(&self, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let ready = async {
            loop {
                let answer = self.get(path).await;
                if wanted(&answer.body["data"]) {
                    return answer.body["data"].clone();
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        match tokio::time::timeout(PATIENCE, ready).await {
            Ok(value) => value,
            Err(_) => panic!("{path} stays {:?}", self.get(path).await),
        }
    }

    /// Waits until a scan has a status.
    pub async fn until_status(&self, scan: i64, status: &str) -> Value {
        self.until(&format!("/scans/{scan}"), |scan| scan["status_name"] == status).await
    }

    /// Stops the service and waits for its end.
    pub async fn stop(self) {
        self.stop.cancel();
        tokio::time::timeout(Duration::from_secs(3), self.running.stopped()).await.expect("stops in time").unwrap();
    }
}

impl Answer {
    pub async fn read(response: Response) -> Self {
        let status = response.status().as_u16();
        let kind = response.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
        let bytes = response.bytes().await.unwrap();
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        Self { status, content_type: kind.unwrap_or_default(), body }
    }

    /// The id of what was made.
    #[track_caller]
    pub fn created(&self) -> i64 {
        assert_eq!(self.status, 201, "{self:?}");
        self.body["data"]["created_id"].as_i64().unwrap()
    }

    /// The list or object of a success.
    #[track_caller]
    pub fn data(&self) -> &Value {
        assert_eq!((self.status, self.content_type.as_str()), (200, "application/json"), "{self:?}");
        &self.body["data"]
    }

    /// Asserts a refusal in the one shape all of them have, whose message holds `words`.
    #[track_caller]
    pub fn refused(&self, status: u16, words: &str) {
        assert_eq!((self.status, self.content_type.as_str()), (status, "application/json"), "{self:?}");
        assert_eq!(self.body["status"], status, "{self:?}");
        assert!(self.body["message"].as_str().unwrap().contains(words), "{words}: {self:?}");
        assert!(self.body.get("data").is_none());
    }

    /// Asserts 204.
    #[track_caller]
    pub fn gone(&self) {
        assert_eq!((self.status, &self.body), (204, &Value::Null), "{self:?}");
    }
}
