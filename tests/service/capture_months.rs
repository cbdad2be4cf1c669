//! Captures end with their month, as `--capture-months` sets it.

use jiff::SignedDuration;

use super::clock::ManualClock;
use super::runner::ScriptedRunner;
use super::{TestService, settings};

/// Sends a request to the URL of a logger.
async fn send(service: &TestService, url: &str) {
    let response = service.client.get(url).send().await.unwrap();
    assert_eq!(response.status(), 200);
}

/// The ids of the captures of a logger.
async fn ids(service: &TestService, logger: i64) -> Vec<i64> {
    let listed = service.get(&format!("/http_loggers/{logger}/data")).await;
    let captures = listed.data()["requests"].as_array().unwrap();
    let id = captures.iter().map(|one| one["id"].as_i64().unwrap());
    id.collect()
}

#[tokio::test]
async fn captures_end_when_their_month_is_over_for_too_long() {
    let dir = tempfile::tempdir().unwrap();
    let clock = ManualClock::new("2026-09-15T12:00:00Z".parse().unwrap());
    let mut keeping = settings(dir.path());
    keeping.capture_months = Some(1);
    keeping.logger_days = 3650;
    let service = TestService::with_parts(keeping, Some(&clock), ScriptedRunner::default()).await;
    let (logger, url) = service.logger("a").await;
    send(&service, &url).await;
    // 5 October
    clock.advance(SignedDuration::from_hours(20 * 24));
    send(&service, &url).await;
    assert_eq!(ids(&service, logger).await, [1, 2]);
    // 4 November
    clock.advance(SignedDuration::from_hours(30 * 24));
    let left = service
        .until(&format!("/http_loggers/{logger}"), |one| {
            one["num_requests"] == 1
        })
        .await;
    assert_eq!(left["requests_left"], 9999);
    send(&service, &url).await;
    assert_eq!(ids(&service, logger).await, [2, 3]);
    service.stop().await;
}
