//! Lists and captures that cannot be read: the reason is reported, rows remain, and the read is
//! repeated until it succeeds.
//!
//! Lists × faults are sampled by default. `SCANDECK_ALL_FAULTS=1` tries all of them.

use std::io::Write;
use std::time::{Duration, Instant};

use scandeck::client::ErrorKind;
use scandeck::contract::ScanId;
use scandeck::dashboard::base::plan::Snapshot;
use scandeck::dashboard::base::{Link, ListKind, PollEvent, ScanPart};

use super::{Misbehaving, PollerTask, is_every_fault_tried};
use crate::faulty::{READ_FAULTS, sample_data};

/// The lists with the paths that they are read from.
const LISTS: [(ListKind, &str); 7] = [
    (ListKind::Workspaces, "/workspaces"),
    (ListKind::Targets, "/targets"),
    (ListKind::Scans, "/scans"),
    (ListKind::Findings, "/findings"),
    (ListKind::Loggers, "/http_loggers"),
    (ListKind::Reports, "/reports"),
    (ListKind::Wordlists, "/wordlists"),
];

/// The reason that a fault has on the screen.
fn reason(fault: &str) -> &'static str {
    match fault {
        "403" => "403 Forbidden",
        "404" => "404 Not Found",
        "409" => "409 Conflict",
        "422" => "422 Unprocessable Entity",
        "500" => "500 Internal Server Error",
        "502" => "502 Bad Gateway",
        "503" => "503 Service Unavailable",
        "504-after" => "504 Gateway Timeout",
        "reset" | "close" | "cut-body" => "connection lost",
        "empty" => "the response is empty",
        "cut" => "incomplete response",
        "text" => "not JSON",
        "html" => "web page instead of JSON",
        "redirect" => "redirect not followed",
        _ => "unexpected JSON",
    }
}

/// The list that an update has, and the number of its rows.
fn list_of(event: &PollEvent) -> Option<(ListKind, usize)> {
    match event {
        PollEvent::Snapshot(snapshot) => Some((snapshot.list_kind(), snapshot.len())),
        PollEvent::SomeFindings(table, ..) => Some((ListKind::Findings, table.len())),
        _ => None,
    }
}

#[tokio::test]
async fn list_with_fault_keeps_rows_reports_reason_and_recovers() {
    let all = is_every_fault_tried();
    let service = Misbehaving::start().await;
    let mut poller = PollerTask::start(service.client());
    let mut rows = std::collections::BTreeMap::new();
    poller
        .until("all lists", |update| {
            rows.extend(list_of(&update.event).map(|(list, length)| (list as u8, length)));
            // Schedules are empty without a request: only scandeck's own service has them.
            (rows.len() == LISTS.len() + 1).then_some(())
        })
        .await;
    let mut tried = 0;
    for (at, (list, path)) in LISTS.into_iter().enumerate() {
        let faults = READ_FAULTS
            .iter()
            .enumerate()
            .filter(|(number, _)| all || number % LISTS.len() == at);
        for (_, fault) in faults {
            service.fault(&format!("GET {path} {fault}"));
            poller
                .plans
                .send_modify(|plan| *plan.refreshes.entry(list).or_default() += 1);
            let brief = poller
                .until(
                    &format!("failure of {list:?} with {fault}"),
                    |update| match &update.event {
                        PollEvent::Failed(failed, problem) if *failed == list => {
                            assert!(problem.retry_at.is_some(), "{problem:?}");
                            Some(problem.brief().to_owned())
                        }
                        PollEvent::Link(link) => {
                            assert!(
                                matches!(link, Link::Live { .. }),
                                "{list:?} {fault}: {link:?}"
                            );
                            None
                        }
                        event => {
                            if let Some((read, length)) = list_of(event) {
                                assert_eq!(rows[&(read as u8)], length, "{list:?} {fault}");
                            }
                            None
                        }
                    },
                )
                .await;
            assert_eq!(brief, reason(fault), "{list:?}");
            service.fault("ok");
            poller
                .plans
                .send_modify(|plan| *plan.refreshes.entry(list).or_default() += 1);
            poller
                .until(&format!("{list:?} after {fault}"), |update| {
                    let (_, length) = list_of(&update.event).filter(|(read, _)| *read == list)?;
                    assert_eq!(rows[&(list as u8)], length, "{list:?} {fault}");
                    Some(())
                })
                .await;
            tried += 1;
        }
    }
    let _ = writeln!(
        std::io::stderr(),
        "faults: {tried} of {} lists × faults",
        LISTS.len() * READ_FAULTS.len()
    );
    drop(poller);
    service.stop().await;
}

#[tokio::test]
async fn failed_list_recovers_without_refresh() {
    let service = Misbehaving::start().await;
    service.fault("GET /findings 500 x2");
    let mut poller = PollerTask::start(service.client());
    let mut failures = 0;
    poller
        .until("findings after two failures", |update| {
            match &update.event {
                PollEvent::Failed(ListKind::Findings, _) => {
                    failures += 1;
                    None
                }
                PollEvent::Snapshot(Snapshot::Findings(table))
                | PollEvent::SomeFindings(table, ..) => (table.len() == 6).then_some(()),
                _ => None,
            }
        })
        .await;
    assert_eq!((failures, service.count("GET", "/findings")), (2, 3));
    drop(poller);
    service.stop().await;
}

#[tokio::test]
async fn capture_that_arrives_during_fault_appears_afterwards() {
    let service = Misbehaving::start().await;
    let faults = if is_every_fault_tried() {
        READ_FAULTS
    } else {
        &["403", "404", "html", "empty", "cut", "redirect"]
    };
    let mut poller = PollerTask::start(service.client());
    let (id, url) = service.loggers[0].clone();
    let mut read = 0;
    poller
        .until("the first captures", |update| {
            if let PollEvent::Captures { logger, new } = &update.event {
                read += if logger.id == id { new.len() } else { 0 };
            }
            (read == 3).then_some(())
        })
        .await;
    for (number, fault) in faults.iter().enumerate() {
        service.fault(&format!("GET /http_loggers/{id}/data {fault}"));
        sample_data::hit(&url, 10 + number).await;
        poller
            .until(&format!("reason of {fault}"), |update| {
                match &update.event {
                    PollEvent::CapturesFailed(Some(problem)) => {
                        (problem.brief() == format!("ssrf-shop: {}", reason(fault))).then_some(())
                    }
                    PollEvent::Captures { logger, .. } => {
                        assert_ne!(logger.id, id, "{fault}");
                        None
                    }
                    _ => None,
                }
            })
            .await;
        service.fault("ok");
        poller
            .until(&format!("capture after {fault}"), |update| {
                match &update.event {
                    PollEvent::Captures { logger, new } => {
                        (logger.id == id && new.len() == 1).then_some(())
                    }
                    _ => None,
                }
            })
            .await;
        poller
            .until("end of the reason", |update| {
                matches!(update.event, PollEvent::CapturesFailed(None)).then_some(())
            })
            .await;
    }
    drop(poller);
    service.stop().await;
}

#[tokio::test]
async fn damaged_item_loses_itself_only() {
    let service = Misbehaving::start().await;
    let client = service.client();
    let all = client
        .list_findings(&Default::default())
        .await
        .unwrap()
        .len();
    for (fault, lost, unreadable) in [
        ("surrogate", 0, 0),
        ("bad-bytes", 0, 0),
        ("control", 0, 0),
        ("nan", 0, 0),
        ("bom", 0, 0),
        ("odd-item", 0, 1),
        ("duplicate-key", 1, 1),
        ("huge-number", 1, 1),
    ] {
        service.fault(&format!("GET /findings {fault}"));
        service.fault(&format!("GET /http_loggers/*/data {fault}"));
        let client = client.observing();
        let findings = client.list_findings(&Default::default()).await.unwrap();
        assert_eq!(
            (findings.len(), client.unreadable().count),
            (all - lost, unreadable),
            "{fault}"
        );
        let captures = client
            .list_captures(service.loggers[0].0, None)
            .await
            .unwrap();
        assert_eq!(
            (captures.len(), client.unreadable().count),
            (3 - lost, 2 * unreadable),
            "{fault}"
        );
    }
    service.stop().await;
}

#[tokio::test]
async fn compressed_blanks_are_refused_early() {
    let service = Misbehaving::start().await;
    service.fault("GET /findings bomb");
    let started = Instant::now();
    let error = service
        .client()
        .list_findings(&Default::default())
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooLarge, "{error}");
    assert!(
        error.to_string().contains("more than 200 times its size"),
        "{error}"
    );
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "{:?}",
        started.elapsed()
    );
    service.stop().await;
}

#[tokio::test]
async fn hanging_read_is_replaced_by_refresh() {
    let service = Misbehaving::start().await;
    service.fault("GET /targets hang");
    let mut poller = PollerTask::start(service.client());
    crate::api::until(
        || async { service.count("GET", "/targets") },
        |count| *count == 1,
    )
    .await;
    service.fault("ok");
    let is_read = |event: &PollEvent| matches!(event, PollEvent::Snapshot(Snapshot::Targets(table)) if table.len() == 3);
    let started = Instant::now();
    loop {
        // A refresh in the first two seconds waits for the response.
        poller
            .plans
            .send_modify(|plan| *plan.refreshes.entry(ListKind::Targets).or_default() += 1);
        let targets = poller.until("targets after a refresh", |update| {
            is_read(&update.event).then_some(())
        });
        if tokio::time::timeout(Duration::from_millis(200), targets)
            .await
            .is_ok()
        {
            break;
        }
        assert!(
            started.elapsed() < Duration::from_secs(10),
            "the hanging request was not replaced"
        );
    }
    drop(poller);
    service.stop().await;
}

#[tokio::test]
async fn failed_part_of_scan_is_reported_and_read_again() {
    let service = Misbehaving::start().await;
    service.fault("GET /scans/*/tests 503 x1");
    let mut poller = PollerTask::start(service.client());
    poller
        .plans
        .send_modify(|plan| plan.scan_part = Some((ScanId(1), ScanPart::Tests)));
    poller
        .until("failure of the part", |update| match &update.event {
            PollEvent::PartFailed(_, ScanPart::Tests, problem) => {
                assert_eq!(problem.brief(), reason("503"));
                problem.retry_at.map(|_| ())
            }
            _ => None,
        })
        .await;
    poller
        .until("the part", |update| {
            matches!(update.event, PollEvent::ScanPart(..)).then_some(())
        })
        .await;
    drop(poller);
    service.stop().await;
}
