//! The client against the service over HTTP: the success and the documented errors of every
//! endpoint, and the poller on top of both. Scans are scripted, except in the test of the real
//! engine.

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

use crate::service::{TestService, longer};

/// A client with the API key of this service.
pub fn client(service: &TestService) -> Client {
    client_of(&service.base, &service.key)
}

pub fn client_of(base: &str, key: &str) -> Client {
    let base = BaseUrl::parse(base, false).unwrap();
    Client::new(ClientSettings::new(base, key.to_owned().into())).unwrap()
}

/// Asserts kind and status of an error, and a part of its message in any case.
#[track_caller]
pub fn assert_refused<T: std::fmt::Debug>(
    result: Result<T, Error>,
    kind: ErrorKind,
    status: u16,
    message: &str,
) {
    let error = result.unwrap_err();
    assert_eq!(
        (&error.kind, error.status),
        (&kind, Some(status)),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .to_lowercase()
            .contains(&message.to_lowercase()),
        "{message}: {error}"
    );
}

/// Repeats a request until its result meets the condition.
pub async fn until<T, F: Future<Output = T>>(
    fetch: impl Fn() -> F,
    is_met: impl Fn(&T) -> bool,
) -> T {
    let polling = async {
        let mut pause = Duration::from_millis(10);
        loop {
            let response = fetch().await;
            if is_met(&response) {
                return response;
            }
            tokio::time::sleep(pause).await;
            pause = longer(pause);
        }
    };
    tokio::time::timeout(Duration::from_secs(20), polling)
        .await
        .expect("condition not met in 20 s")
}

pub async fn create_target(client: &Client, name: &str) -> TargetId {
    client
        .create_target(&NewTarget {
            name: name.into(),
            ..NewTarget::default()
        })
        .await
        .unwrap()
}

/// Starts a port scan.
pub async fn start_scan(client: &Client, target: TargetId) -> ScanId {
    let new = NewScan {
        tool_id: 70,
        target_id: Some(target),
        ..NewScan::default()
    };
    client.create_scan(&new).await.unwrap().created_id.unwrap()
}

/// Waits until a scan has ended.
pub async fn wait_for_end(client: &Client, id: ScanId) -> Scan {
    until(
        || async { client.get_scan(id).await.unwrap() },
        Scan::has_ended,
    )
    .await
}
