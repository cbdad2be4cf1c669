//! Scans of the practice target: each weakness is found while it is on, and not while it is off.

use std::collections::BTreeSet;

use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::Practice;
use super::weaknesses::ALL;
use scandeck_service::engine::testing::{ScanResult, TestScan};
use scandeck_wire::contract::{Risk, Tool};

/// Kinds that are found regardless of the switches: the shop uses plain HTTP.
const ALWAYS: &[&str] = &["web.plain_http"];

struct Range {
    practice: Practice,
    _stop: tokio_util::sync::DropGuard,
}

async fn range() -> Range {
    let stop = CancellationToken::new();
    Range {
        practice: Practice::start(stop.clone()).await.unwrap(),
        _stop: stop.drop_guard(),
    }
}

/// Runs all scans of the target concurrently.
async fn scan_all(practice: &Practice) -> [ScanResult; 4] {
    let ports: Vec<u16> = practice
        .ports
        .iter()
        .map(|(_, address)| address.port())
        .collect();
    let run = |tool, target: &str, params| {
        let mut run = TestScan::new(tool, target, params);
        run.trust_anchors = vec![practice.anchor()];
        run.run()
    };
    let (shop, portal, tls, open) = tokio::join!(
        run(Tool::WEBSITE, &practice.http_url(), json!({})),
        run(Tool::WEBSITE, &practice.https_url(), json!({})),
        run(Tool::TLS, &practice.https_url(), json!({})),
        run(Tool::PORTS, "127.0.0.1", json!({"port_list": ports})),
    );
    let all = [shop, portal, tls, open];
    for result in &all {
        result.check();
        assert!(
            result.elapsed.as_secs() < 10,
            "a light scan took {:?}",
            result.elapsed
        );
    }
    all
}

/// The kinds found, and open ports by number.
fn found(all: &[ScanResult]) -> BTreeSet<String> {
    let name = |kind: &str, port: u16| {
        if kind == "port.open" {
            format!("{kind} {port}")
        } else {
            kind.to_owned()
        }
    };
    let findings = all.iter().flat_map(ScanResult::findings);
    findings
        .map(|one| name(&one.vuln_id, one.port))
        .filter(|kind| !ALWAYS.contains(&kind.as_str()))
        .collect()
}

/// The kinds that the active weaknesses must cause.
fn expected(practice: &Practice) -> BTreeSet<String> {
    let active = practice.weaknesses.active();
    let mut kinds = BTreeSet::new();
    for one in ALL.iter().filter(|one| active.contains(one.id)) {
        match practice.ports.iter().find(|(id, _)| *id == one.id) {
            Some((_, address)) => kinds.insert(format!("port.open {}", address.port())),
            None => {
                kinds.extend(one.kinds.iter().map(|&kind| kind.to_owned()));
                false
            }
        };
    }
    kinds
}

/// Waits until the ports match the switches.
async fn settled(practice: &Practice) {
    for (id, address) in &practice.ports {
        let is_active = practice.weaknesses.active().contains(id);
        while tokio::net::TcpStream::connect(address).await.is_ok() != is_active {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scans_find_exactly_the_active_weaknesses() {
    let Range { practice, _stop } = range().await;
    let mut seen = BTreeSet::new();
    // All on, each half on, all off.
    for round in 0..4 {
        for (at, one) in ALL.iter().enumerate() {
            practice
                .weaknesses
                .set(one.id, round == 0 || (round < 3 && at % 2 == round % 2));
        }
        settled(&practice).await;
        let found = found(&scan_all(&practice).await);
        assert_eq!(found, expected(&practice), "round {round}");
        seen.extend(found);
    }
    assert!(
        seen.len() >= ALL.len(),
        "{} kinds for {} weaknesses",
        seen.len(),
        ALL.len()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn findings_have_expected_risks_and_contain_no_secrets() {
    let Range { practice, _stop } = range().await;
    let [shop, portal, tls, _] = scan_all(&practice).await;
    for (result, kind, risk) in [
        (&shop, "web.exposed.private_key", Risk::Critical),
        (&shop, "web.exposed.git", Risk::High),
        (&shop, "web.exposed.env", Risk::High),
        (&shop, "web.exposed.database", Risk::High),
        (&shop, "web.listing", Risk::Medium),
        (&tls, "tls.certificate.expired", Risk::Medium),
        (&tls, "tls.certificate.self_signed", Risk::Medium),
        (&portal, "web.cookie.secure", Risk::Low),
        (&shop, "web.header.csp_missing", Risk::Info),
        (&shop, "web.security_txt", Risk::Info),
    ] {
        let findings = result.of(kind);
        assert_eq!(findings.len(), 1, "{kind}");
        assert_eq!(
            (findings[0].risk, findings[0].confirmed),
            (risk, true),
            "{kind}"
        );
    }
    for text in shop
        .findings()
        .map(|finding| finding.evidence.as_json())
        .chain(shop.raw.iter().map(String::as_str))
    {
        assert!(
            !text.contains("not-a-real") && !text.contains("notarealhash"),
            "{text}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scan_is_reported_to_the_logger() {
    use tokio::io::AsyncReadExt;

    let Range { practice, _stop } = range().await;
    let logger = TcpListener::bind("127.0.0.1:0").await.unwrap();
    practice.report_visits_to(
        format!("http://{}/l/abc/", logger.local_addr().unwrap())
            .parse()
            .unwrap(),
    );
    let scan = tokio::spawn(TestScan::new(Tool::WEBSITE, &practice.http_url(), json!({})).run());
    let mut received = Vec::new();
    while received.len() < 4 {
        let (mut stream, _) = logger.accept().await.unwrap();
        let mut bytes = vec![0; 4096];
        let n = stream.read(&mut bytes).await.unwrap();
        received.push(
            String::from_utf8_lossy(&bytes[..n])
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned(),
        );
    }
    assert!(
        received[0].starts_with("POST /l/abc/visit?server=shop&path=%2F&scan=7"),
        "{received:?}"
    );
    assert!(
        received[1..]
            .iter()
            .all(|line| line.starts_with("POST /l/abc/bait?server=shop&path=")),
        "{received:?}"
    );
    scan.await.unwrap().check();
}

#[tokio::test]
async fn control_address_lists_and_switches_weaknesses() {
    let Range { practice, _stop } = range().await;
    let client = super::http_client().unwrap();
    let base = practice.control_url();
    let get = async |path: &str| {
        let bytes = client
            .get(format!("{base}{path}"))
            .send()
            .await
            .unwrap()
            .bytes()
            .await
            .unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    };
    let post = async |path: &str| {
        client
            .post(format!("{base}{path}"))
            .send()
            .await
            .unwrap()
            .status()
            .as_u16()
    };
    assert!(get("").await.contains("on   git "));
    assert_eq!(post("weaknesses/git/off").await, 200);
    assert!(get("").await.contains("off  git ") && !practice.weaknesses.active().contains("git"));
    assert_eq!(
        (
            post("weaknesses/nothing/off").await,
            post("weaknesses/git/paint").await
        ),
        (404, 404)
    );
    assert_eq!(post("all-off").await, 200);
    let list: serde_json::Value = serde_json::from_str(&get("weaknesses").await).unwrap();
    assert!(
        list.as_array()
            .unwrap()
            .iter()
            .all(|one| one["on"] == false)
    );
    assert_eq!(
        (post("all-on").await, practice.weaknesses.active().len()),
        (200, ALL.len())
    );
}
