//! Ground truth: scans of servers whose weaknesses are known, over the HTTP API of a real service.
//!
//! ```text
//!   weak server ──scan──► findings ──compared with the table of planted weaknesses──► recall by class
//!   hardened twin, odd servers ──scan──► findings other than the expected ones are false alarms ──► precision
//! ```
//!
//! Each test prints its table and fails below the limits: recall 0.90, no false alarm.

mod cms;
mod consoles;
mod described;
mod odd;
mod scripted;
mod secrets;
mod server;
mod services;
mod weak;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::service::TestService;
use server::Answer;

/// Recall that website scans must reach.
const RECALL: f64 = 0.90;
/// Common to every server of these tests: it speaks plain HTTP.
const ALWAYS: &[&str] = &["web.plain_http"];

/// A finished scan.
struct ScannedSite {
    status: String,
    message: String,
    findings: Vec<Value>,
}

impl ScannedSite {
    /// The kinds of its findings.
    fn kinds(&self) -> BTreeSet<&str> {
        self.findings
            .iter()
            .filter_map(|finding| finding["vuln_id"].as_str())
            .collect()
    }
}

/// A service with the real engine, and its directory.
async fn engine() -> (TestService, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    (TestService::with_engine(dir.path()).await, dir)
}

/// Scans each server with a website scan of this type, all at the same time.
async fn scan_all(ports: &[u16], scan_type: &str) -> Vec<ScannedSite> {
    scan_with(ports, json!({"scan_type": scan_type})).await
}

/// Scans each server with these parameters.
async fn scan_with(ports: &[u16], params: Value) -> Vec<ScannedSite> {
    let (service, _dir) = engine().await;
    let sites = scan_on(&service, ports, params).await;
    service.stop().await;
    sites
}

/// The same on a service that goes on.
async fn scan_on(service: &TestService, ports: &[u16], params: Value) -> Vec<ScannedSite> {
    let mut scans = Vec::new();
    for port in ports {
        let body = json!({
            "tool_id": 170, "target_name": format!("http://127.0.0.1:{port}/"), "tool_params": params,
        });
        scans.push(service.post("/scans", body).await.created());
    }
    let mut sites = Vec::new();
    for id in scans {
        let scan = wait(service, id).await;
        let findings = service.get(&format!("/findings?task_id={id}")).await;
        sites.push(ScannedSite {
            status: scan["status_name"].as_str().unwrap().to_owned(),
            message: scan["status_message"].as_str().unwrap().to_owned(),
            findings: findings.data().as_array().unwrap().clone(),
        });
    }
    sites
}

/// Waits for the end of a scan; the time limit is that of the test run.
async fn wait(service: &TestService, id: i64) -> Value {
    let mut pause = Duration::from_millis(20);
    loop {
        let scan = service.get(&format!("/scans/{id}")).await.data().clone();
        if !scan["end_time"].is_null() {
            return scan;
        }
        tokio::time::sleep(pause).await;
        // Each request takes time from the scans.
        pause = (2 * pause).min(Duration::from_millis(400));
    }
}

fn print(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn website_scan_finds_planted_weaknesses_and_nothing_on_the_hardened_twin() {
    let weak = server::start(|path, origin, _| weak::weak(path, origin)).await;
    let hardened = server::start(|path, _, _| weak::hardened(path)).await;
    let [weak, hardened]: [ScannedSite; 2] = scan_all(&[weak, hardened], "light")
        .await
        .try_into()
        .unwrap_or_else(|_| panic!("two scans"));
    assert_eq!(
        (weak.status.as_str(), hardened.status.as_str()),
        ("finished", "finished")
    );

    let found = weak.kinds();
    let mut classes: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut missed = Vec::new();
    for (class, kind) in weak::PLANTED {
        let counts = classes.entry(class).or_default();
        counts.1 += 1;
        match found.contains(kind) {
            true => counts.0 += 1,
            false => missed.push(*kind),
        }
    }
    print("class            found  planted  recall");
    for (class, (found, planted)) in &classes {
        print(&format!(
            "{class:<15} {found:>6} {planted:>8} {:>7.2}",
            *found as f64 / *planted as f64
        ));
    }
    let all = weak::PLANTED.len();
    let recall = (all - missed.len()) as f64 / all as f64;
    print(&format!(
        "website: recall {recall:.2} of {all}, missed {missed:?}"
    ));

    let expected: BTreeSet<&str> = weak::PLANTED
        .iter()
        .map(|(_, kind)| *kind)
        .chain(ALWAYS.iter().copied())
        .collect();
    let unplanted: Vec<&&str> = found
        .iter()
        .filter(|kind| !expected.contains(*kind))
        .collect();
    let false_alarms: Vec<&str> = hardened
        .kinds()
        .into_iter()
        .filter(|kind| !ALWAYS.contains(kind))
        .collect();
    print(&format!(
        "website: not planted {unplanted:?}; false alarms on the hardened twin {false_alarms:?}"
    ));
    assert!(recall >= RECALL, "missed {missed:?}; {}", weak.message);
    assert!(
        unplanted.is_empty(),
        "not planted: {unplanted:?}: {:#?}",
        weak.findings
    );
    assert!(
        false_alarms.is_empty(),
        "{false_alarms:?}: {:#?}",
        hardened.findings
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn website_scan_of_odd_servers_has_no_false_alarm() {
    let mut ports = Vec::new();
    for &(_, answer) in odd::ALL {
        ports.push(server::start(move |path, _, number| answer(path, number)).await);
    }
    let sites = scan_all(&ports, "light").await;
    let mut wrong = Vec::new();
    for ((name, _), site) in odd::ALL.iter().zip(&sites) {
        let alarms: Vec<&str> = site
            .kinds()
            .into_iter()
            .filter(|kind| {
                !ALWAYS.contains(kind)
                    && *kind != "web.security_txt"
                    && !kind.starts_with("coverage.")
            })
            .collect();
        print(&format!(
            "{name:<24} {:<17} false alarms {alarms:?}: {}",
            site.status, site.message
        ));
        if !alarms.is_empty() {
            wrong.push((name, alarms));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn consoles_without_log_in_are_found_and_their_twins_and_neighbours_are_not() {
    let mut ports = Vec::new();
    for pair in consoles::PAIRS {
        let (open, closed) = (pair.open, pair.closed);
        ports.push(server::start(move |path, _, _| open(path)).await);
        ports.push(server::start(move |path, _, _| closed(path)).await);
    }
    for &(_, answer) in consoles::NEIGHBOURS {
        ports.push(server::start(move |path, _, _| answer(path)).await);
    }
    let (service, _dir) = engine().await;
    let sites = scan_on(&service, &ports, json!({"scan_type": "light"})).await;
    let (pairs, neighbours) = sites.split_at(2 * consoles::PAIRS.len());
    let mut wrong = Vec::new();
    for (pair, sites) in consoles::PAIRS.iter().zip(pairs.chunks(2)) {
        for (kind, risk_level) in pair.found {
            let mut findings = sites[0].findings.iter();
            let found = findings.find(|finding| finding["vuln_id"] == *kind);
            let risk = found.map(|finding| finding["risk_level"].as_i64());
            if risk != Some(Some(*risk_level))
                || found.is_some_and(|finding| finding["confirmed"] != true)
            {
                let why = format!("risk {risk:?}: {}", sites[0].message);
                wrong.push(((*kind).to_owned(), why));
            }
        }
        wrong.extend(severe(pair.product, &sites[1]));
    }
    for ((name, _), site) in consoles::NEIGHBOURS.iter().zip(neighbours) {
        wrong.extend(severe(name, site));
    }
    print(&format!(
        "consoles: {} planted, {} neighbours, wrong {wrong:?}",
        consoles::PAIRS.len(),
        neighbours.len()
    ));
    assert!(wrong.is_empty(), "{wrong:?}");

    // Both are recognised: the product is there, with and without a log-in.
    for (pair, ports) in consoles::PAIRS.iter().zip(ports.chunks(2)) {
        for port in ports {
            let names = technologies(&service, *port).await;
            assert!(
                names.iter().any(|(name, _)| name == pair.product),
                "{}: {names:?}",
                pair.product
            );
        }
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn content_management_systems_are_found_with_version_users_and_ended_branches() {
    let mut ports = Vec::new();
    for site in cms::SITES {
        let answer = site.answer;
        ports.push(server::start(move |path, _, _| answer(path)).await);
    }
    let (service, _dir) = engine().await;
    let scanned = scan_on(&service, &ports, json!({"scan_type": "light"})).await;
    let mut wrong = Vec::new();
    for ((site, scanned), port) in cms::SITES.iter().zip(&scanned).zip(&ports) {
        let found: Vec<&str> = scanned
            .kinds()
            .into_iter()
            .filter(|kind| kind.starts_with("web.cms."))
            .collect();
        if found != site.kinds {
            wrong.push(format!("{}: {found:?}", site.name));
        }
        let technologies = technologies(&service, *port).await;
        let is_cms = |name: &str| ["WordPress", "Drupal", "Joomla"].contains(&name);
        let mut found = technologies.iter().filter(|(name, _)| is_cms(name));
        let found = found
            .next()
            .map(|(name, version)| (name.as_str(), version.as_str()));
        if found != site.technology {
            wrong.push(format!("{}: recon found {found:?}", site.name));
        }
    }
    service.stop().await;
    print(&format!(
        "content management: {} sites, wrong {wrong:?}",
        cms::SITES.len()
    ));
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// The technologies of a site by website recon, with their versions.
async fn technologies(service: &TestService, port: u16) -> Vec<(String, String)> {
    let body = json!({"tool_id": 310, "target_name": format!("http://127.0.0.1:{port}/"), "tool_params": {}});
    let id = service.post("/scans", body).await.created();
    wait(service, id).await;
    let output = service
        .get(&format!("/scans/{id}/output"))
        .await
        .data()
        .clone();
    let listed = output["output_data"]["technologies"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    listed
        .iter()
        .map(|one| (text(&one["name"]), text(&one["version"])))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn operations_of_an_openapi_document_are_read_and_judged_and_no_others() {
    let requested = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&requested);
    let weak = server::start(move |path, _, _| {
        log.lock().unwrap().push(path.to_owned());
        described::weak(path)
    })
    .await;
    let hardened = server::start(|path, _, _| described::hardened(path)).await;
    let (service, _dir) = engine().await;
    let mut kinds = Vec::new();
    for port in [weak, hardened] {
        let body = json!({
            "tool_id": 170, "target_name": format!("http://127.0.0.1:{port}/"),
            "tool_params": {"scan_type": "custom", "spider": {"exclude_urls": ["/api/v1/private"]}},
        });
        let id = service.post("/scans", body).await.created();
        wait(&service, id).await;
        let findings = service
            .get(&format!("/findings?task_id={id}"))
            .await
            .data()
            .clone();
        let all = findings
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| finding["vuln_id"].as_str().unwrap().to_owned());
        kinds.push(all.collect::<BTreeSet<String>>());
    }
    service.stop().await;
    for kind in described::PLANTED {
        assert!(
            kinds[0].contains(*kind) && !kinds[1].contains(*kind),
            "{kind}: {kinds:?}"
        );
    }
    let requested = requested.lock().unwrap();
    let is_requested = |start: &&&str| requested.iter().any(|path| path.starts_with(**start));
    assert!(
        requested.iter().any(|path| path == "/api/v1/report"),
        "{requested:?}"
    );
    let wrong: Vec<&&str> = described::FORBIDDEN.iter().filter(is_requested).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// The findings of a site above Low, which a twin with a log-in does not have. A log-in page over
/// plain HTTP is one.
fn severe(name: &str, site: &ScannedSite) -> Vec<(String, String)> {
    let severe = site
        .findings
        .iter()
        .filter(|finding| finding["risk_level"].as_i64() > Some(1));
    let severe = severe.filter(|finding| finding["vuln_id"] != "web.form.password_plain");
    severe
        .map(|finding| (name.to_owned(), finding["vuln_id"].to_string()))
        .collect()
}

/// The services of a port scan by port, and the kinds of findings other than open ports.
struct ScannedPorts {
    names: BTreeMap<u16, String>,
    kinds: BTreeSet<(u16, String)>,
}

async fn scan_ports(ports: &[u16]) -> ScannedPorts {
    let (service, _dir) = engine().await;
    let body =
        json!({"tool_id": 70, "target_name": "127.0.0.1", "tool_params": {"port_list": ports}});
    let id = service.post("/scans", body).await.created();
    let scan = wait(&service, id).await;
    assert_eq!(scan["status_name"], "finished", "{scan}");
    let output = service
        .get(&format!("/scans/{id}/output"))
        .await
        .data()
        .clone();
    let names = output["output_data"]["ports"].as_array().unwrap().iter();
    let number = |value: &Value| u16::try_from(value.as_u64().unwrap()).unwrap();
    let names = names
        .map(|port| {
            (
                number(&port["number"]),
                port["service"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    let findings = service.get(&format!("/findings?task_id={id}")).await;
    let mut kinds = BTreeSet::new();
    for finding in findings.data().as_array().unwrap() {
        let kind = finding["vuln_id"].as_str().unwrap();
        if kind != "port.open" {
            assert_eq!(
                (
                    &finding["confirmed"],
                    finding["risk_level"].as_i64() > Some(1)
                ),
                (&json!(true), true),
                "{kind}"
            );
            kinds.insert((number(&finding["port"]), kind.to_owned()));
        }
    }
    service.stop().await;
    ScannedPorts { names, kinds }
}

#[tokio::test(flavor = "multi_thread")]
async fn port_scan_names_services_and_reports_those_without_authentication() {
    let mut services = Vec::new();
    for &service in services::NAMED {
        services.push((service.name, None, service.start().await));
    }
    for one in services::OPEN.iter().chain(services::OPEN_BY_PROTOCOL) {
        services.push((one.open.name, Some(one.kind), one.open.start().await));
        services.push((one.closed.name, None, one.closed.start().await));
    }
    for (group, kind) in [
        ("*", Some("port.unauthenticated.nfs")),
        ("", Some("port.unauthenticated.nfs")),
        ("10.0.0.0/8", None),
    ] {
        services.push(("rpcbind", kind, services::start_nfs(group).await));
    }
    let by_udp = services::start_memcached_with_udp().await;
    services.push((
        "memcached",
        Some("port.unauthenticated.memcached_udp"),
        by_udp,
    ));
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let ports: Vec<u16> = services
        .iter()
        .map(|(.., running)| running.port)
        .chain([closed])
        .collect();
    let result = scan_ports(&ports).await;

    let open: BTreeSet<u16> = services.iter().map(|(.., running)| running.port).collect();
    assert_eq!(
        result.names.keys().copied().collect::<BTreeSet<_>>(),
        open,
        "open ports"
    );
    let wrong: Vec<_> = services
        .iter()
        .map(|(name, _, running)| (*name, result.names[&running.port].as_str()))
        .filter(|(name, found)| name != found)
        .collect();
    let recall = (services.len() - wrong.len()) as f64 / services.len() as f64;
    print(&format!(
        "ports: {} open, all found; names: recall {recall:.2}, wrong {wrong:?}",
        open.len()
    ));
    let planted: BTreeSet<(u16, String)> = services
        .iter()
        .filter_map(|(_, kind, running)| Some((running.port, (*kind)?.to_owned())))
        .collect();
    let missed: Vec<_> = planted.difference(&result.kinds).collect();
    let false_alarms: Vec<_> = result.kinds.difference(&planted).collect();
    print(&format!(
        "unauthenticated: {} planted, missed {missed:?}, false alarms {false_alarms:?}",
        planted.len()
    ));
    assert!(recall >= RECALL && missed.is_empty() && false_alarms.is_empty());

    // Redis logs these words as an attack.
    for (.., running) in services.iter().filter(|(name, ..)| *name == "redis") {
        let received = running.received.lock().unwrap();
        let text = String::from_utf8_lossy(&received).to_ascii_lowercase();
        assert!(
            !text.contains("http/") && !text.contains("host:") && !text.contains("post "),
            "{text}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn port_scan_names_services_inside_tls() {
    let mut services = Vec::new();
    for &service in services::INSIDE_TLS {
        services.push((service.start().await.port, service.name.to_owned()));
    }
    let ports: Vec<u16> = services.iter().map(|(port, _)| *port).collect();
    assert_eq!(
        scan_ports(&ports).await.names,
        services.into_iter().collect()
    );
}

/// The evidence of the findings of a kind.
fn evidence(site: &ScannedSite, kind: &str) -> String {
    let findings = site
        .findings
        .iter()
        .filter(|finding| finding["vuln_id"] == kind);
    findings
        .map(|finding| finding["vuln_evidence"].to_string())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn website_scan_finds_secrets_of_each_class_and_none_on_the_twin() {
    let weak = server::start(|path, _, _| secrets::weak(path)).await;
    let twin = server::start(|path, _, _| secrets::twin(path)).await;
    let [weak, twin]: [ScannedSite; 2] = scan_all(&[weak, twin], "deep")
        .await
        .try_into()
        .unwrap_or_else(|_| panic!("two scans"));
    assert_eq!(
        (weak.status.as_str(), twin.status.as_str()),
        ("finished", "finished")
    );
    let evidence = evidence(&weak, "web.secret");
    let rows: Vec<&str> = evidence.split("],[").collect();
    let is_found = |name: &str, place: &str| {
        rows.iter()
            .any(|row| row.contains(name) && row.contains(place))
    };
    let missed: Vec<_> = secrets::PLANTED
        .iter()
        .filter(|(_, name, place)| !is_found(name, place))
        .collect();
    print(&format!(
        "secrets: {} planted, missed {missed:?}",
        secrets::PLANTED.len()
    ));
    assert!(missed.is_empty(), "{missed:#?}: {evidence}");
    let false_alarms: Vec<&Value> = twin
        .findings
        .iter()
        .filter(|finding| {
            finding["vuln_id"]
                .as_str()
                .unwrap()
                .starts_with("web.secret")
        })
        .collect();
    assert!(false_alarms.is_empty(), "{false_alarms:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn website_scan_reports_passwords_in_deployment_files_and_none_of_the_neighbours() {
    const KIND: &str = "web.exposed.deployment";
    let mut ports = Vec::new();
    for file in secrets::DEPLOYMENTS {
        for is_weak in [true, false] {
            ports.push(server::start(move |path, _, _| file.answer(path, is_weak)).await);
        }
    }
    ports.push(server::start(|path, _, _| secrets::neighbour(path)).await);
    // The scan of planted weaknesses has this test among others.
    let sites = scan_with(&ports, json!({"only_tests": [KIND]})).await;
    let risk = |site: &ScannedSite| {
        let found = site
            .findings
            .iter()
            .find(|finding| finding["vuln_id"] == KIND);
        found.and_then(|finding| finding["risk_level"].as_i64())
    };
    for (file, sites) in secrets::DEPLOYMENTS.iter().zip(sites.chunks(2)) {
        let path = file.path;
        assert_eq!(
            (risk(&sites[0]), risk(&sites[1])),
            (Some(4), Some(1)),
            "{path}: {:#?}",
            sites[0].findings
        );
        assert!(
            evidence(&sites[0], KIND).contains(file.row),
            "{path}: {}",
            evidence(&sites[0], KIND)
        );
        assert!(
            !evidence(&sites[1], KIND).contains("password "),
            "{path}: {}",
            evidence(&sites[1], KIND)
        );
    }
    let neighbour = sites.last().unwrap();
    assert!(
        !neighbour.kinds().contains(KIND),
        "{:#?}",
        neighbour.findings
    );
}
