//! The real client against the real service: every endpoint with its success and its documented refusals, and the
//! poller on top of both. Scans are scripted except where the engine itself is the point.

mod findings;
mod loggers;
mod polling;
mod reports;
mod scans;
mod targets;
mod wordlists;
mod workspaces;

use std::future::Future;
use std::time::Duration;

use scandeck::client::{BaseUrl, Client, ClientSettings, Error, ErrorKind};
use scandeck::contract::{NewScan, NewTarget, Scan, ScanId, TargetId};

use crate::service::TestService;

/// A client with the key of a test's service.
pub fn client(service: &TestService) -> Client {
    client_of(&service.base, &service.key)
}

pub fn client_of(base: &str, key: &str) -> Client {
    let base = BaseUrl::parse(base, false).unwrap();
    Client::new(ClientSettings::new(base, key.to_owned().into())).unwrap()
}

/// Asserts the kind, status and words of a refusal.
#[track_caller]
pub fn assert_refused<T: std::fmt::Debug>(result: Result<T, Error>, kind: ErrorKind, status: u16, words: &str) {
    let error = result.unwrap_err();
    assert_eq!((&error.kind, error.status), (&kind, Some(status)), "{error}");
    assert!(error.to_string().to_lowercase().contains(&words.to_lowercase()), "{words}: {error}");
}

/// Asks again until the answer is what is wanted.
pub async fn until<T, F: Future<Output = T>>(ask: impl Fn() -> F, wanted: impl Fn(&T) -> bool) -> T {
    let asking = async {
        loop {
            let response = ask().await;
            if wanted(&response) {
                return response;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), asking).await.expect("it never became what was wanted")
}

pub async fn target(client: &Client, name: &str) -> TargetId {
    client.create_target(&NewTarget { name: name.into(), ..NewTarget::default() }).await.unwrap()
}

/// Starts a port scan.
pub async fn scan(client: &Client, target: TargetId) -> ScanId {
    let new = NewScan { tool_id: 70, target_id: Some(target), ..NewScan::default() };
    client.create_scan(&new).await.unwrap().created_id.unwrap()
}

/// Waits for the end of a scan.
pub async fn ended(client: &Client, id: ScanId) -> Scan {
    until(|| async { client.get_scan(id).await.unwrap() }, Scan::has_ended).await
}
