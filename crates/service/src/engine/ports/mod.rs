//! Tool 70: open TCP ports, their services, and services without authentication.
//!
//! ```text
//!   ports ──► probe (256 in flight) ──► open? ──► not own? ──► identify ──► unauthenticated? ──► findings
//!                                  └──► closed, filtered, open beyond the limit: counted, up to 256 per test
//! ```
//!
//! A connect scan of the local host can connect to itself: a socket that connects to its own local
//! port succeeds without a listener. Such ports, and the listeners of the service, are not
//! findings.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

use super::pace::HostLane;
use super::params::port_of_test;
use super::run::ScanRun;
use super::{NewFinding, ScanOutcome, TestDone, kinds};
use crate::scope_check::is_this_host;
use scandeck_wire::contract::scan::ONLY_TESTS;
use scandeck_wire::text::plural;

mod banner;
mod client;
mod identify;
mod rpc;
pub mod select;
mod service_probes;
pub mod top;
mod unauthenticated;

use banner::Banner;
use client::PortClient;
use select::PortSelection;

/// Ports per test entry, except open ports.
const BATCH: usize = 256;
/// The longest time between two test entries while probes end: a scan of a host that drops probes,
/// or that other scans test too, would otherwise look stalled.
const ENTRY_INTERVAL: Duration = Duration::from_secs(5);
/// The first port that common systems use for outgoing connections.
const EPHEMERAL: u16 = 32_768;
/// Probed first with `check_alive`.
const ALIVE_PORTS: &[u16] = &[80, 443, 22, 445, 3389, 25, 8080, 53];

/// The result of a probe.
#[derive(Debug)]
enum Probe {
    Open(Box<OpenPort>),
    Closed,
    /// No response, or refused by a router.
    Filtered,
    /// A listener of the service, or the probe itself.
    Own,
}

/// An open port, and what it gives everybody.
#[derive(Debug)]
struct OpenPort {
    banner: Banner,
    unauthenticated: Vec<NewFinding>,
}

/// Results of all probes.
struct PortTally {
    /// When the last test was reported.
    reported: Instant,
    /// Listed open ports, up to the limit.
    open: usize,
    closed: usize,
    filtered: usize,
    /// Sockets of this service or scan.
    excluded: usize,
    /// Ports of the next test that are not open.
    not_open: Vec<u16>,
    /// Open ports of the next test that are beyond the limit.
    beyond: Vec<u16>,
    /// All open ports beyond the limit.
    open_beyond: usize,
}

/// Runs the scan.
pub async fn scan(run: &ScanRun<'_>) -> Result<String, ScanOutcome> {
    let host = run.address.host();
    let ip = run.resolve(&host).await?[0];
    let params = run.job.params.as_object().cloned().unwrap_or_default();
    let selection = PortSelection::parse(&params)
        .map_err(|error| ScanOutcome::FailedToStart(error.to_string()))?;
    let ports = match named_ports(&run.job.params) {
        Some(named) => named,
        None => selection.ports(run.address.port()),
    };
    run.planned(u32::try_from(ports.len()).unwrap_or(u32::MAX))
        .await;
    run.raw(format!("scanning {host} ({ip}), {} ports", ports.len()))
        .await;

    let hostnames: Vec<&str> = if run.address.ip().is_some() {
        Vec::new()
    } else {
        vec![&host]
    };
    run.list_ports(json!({"ip_address": ip.to_string(), "hostnames": hostnames}));
    let lane = run.lanes.of(ip);
    if params.get("check_alive") == Some(&Value::Bool(true)) && !is_alive(ip, &lane).await {
        run.info("No port was scanned: no response from the common ports (check_alive).")
            .await;
        run.output_all().await;
        return Ok("no response from the host; no port was scanned".to_owned());
    }
    let tally = probe_all(run, &host, ip, &ports, &lane).await;
    run.cut(|cuts| cuts.ports += tally.open_beyond);
    run.output_all().await;
    Ok(tally.summary(ports.len()))
}

/// The ports of a scan of single tests, in their order.
fn named_ports(params: &Value) -> Option<Vec<u16>> {
    let names = params.get(ONLY_TESTS)?.as_array()?.iter();
    let ports = names.filter_map(|name| port_of_test(name.as_str()?));
    let distinct: BTreeSet<u16> = ports.collect();
    Some(distinct.into_iter().collect())
}

/// Probes the ports, and reports the tests of each.
async fn probe_all(
    run: &ScanRun<'_>,
    host: &str,
    ip: IpAddr,
    ports: &[u16],
    lane: &HostLane,
) -> PortTally {
    let mut tally = PortTally::new(Instant::now());
    let probe_port = |port: u16| async move {
        let found = probe(run, host, SocketAddr::new(ip, port), lane).await;
        (port, found)
    };
    let mut probes = stream::iter(ports.iter().copied())
        .map(probe_port)
        .buffer_unordered(lane.limits.probes_in_flight);
    while let Some((port, found)) = probes.next().await {
        tally.take(run, port, found).await;
    }
    drop(probes);
    tally.flush(run).await;
    tally
}

impl PortTally {
    fn new(now: Instant) -> Self {
        Self {
            reported: now,
            open: 0,
            closed: 0,
            filtered: 0,
            excluded: 0,
            not_open: Vec::new(),
            beyond: Vec::new(),
            open_beyond: 0,
        }
    }

    /// Whether the ports that have no test entry yet must be reported as one entry.
    fn is_due(&self, now: Instant) -> bool {
        self.not_open.len().max(self.beyond.len()) >= BATCH
            || now.duration_since(self.reported) >= ENTRY_INTERVAL
    }

    async fn take(&mut self, run: &ScanRun<'_>, port: u16, probe: Probe) {
        match probe {
            Probe::Open(_) if self.open >= run.settings.limits.ports => {
                self.open_beyond += 1;
                self.beyond.push(port);
            }
            Probe::Open(open) => {
                let OpenPort {
                    banner,
                    unauthenticated,
                } = *open;
                run.raw(
                    format!("{port}/tcp open {}: {}", banner.summary(), banner.text)
                        .trim_end_matches(": "),
                )
                .await;
                let (uid, description) =
                    (format!("port.{port}"), format!("TCP port {port} is open"));
                let metadata = json!({"port": port, "state": "open", "service": banner.name});
                let findings = std::iter::once(finding(port, &banner))
                    .chain(unauthenticated)
                    .collect();
                run.tested(TestDone::new(uid, description, metadata, findings))
                    .await;
                self.open += 1;
                run.output_port(port, entry(port, &banner)).await;
            }
            Probe::Closed => {
                self.closed += 1;
                self.not_open.push(port);
            }
            Probe::Filtered => {
                self.filtered += 1;
                self.not_open.push(port);
            }
            Probe::Own => {
                run.raw(format!(
                    "{port}/tcp is a socket of this service or scan: excluded"
                ))
                .await;
                self.excluded += 1;
                self.not_open.push(port);
            }
        }
        if self.is_due(Instant::now()) {
            self.flush(run).await;
        }
    }

    async fn flush(&mut self, run: &ScanRun<'_>) {
        self.reported = Instant::now();
        for (ports, state) in [
            (&mut self.not_open, "not open"),
            (&mut self.beyond, "open and not listed"),
        ] {
            let batch = std::mem::take(ports);
            let (Some(first), Some(last)) = (batch.iter().min(), batch.iter().max()) else {
                continue;
            };
            let description = match batch.len() {
                1 => format!("TCP port {first} is {state}"),
                count => format!("{count} scanned TCP ports from {first} to {last} are {state}"),
            };
            let metadata = json!({"first": first, "last": last, "ports": batch.len()});
            let test = TestDone::new(
                format!("port.{first}-{last}"),
                description,
                metadata,
                Vec::new(),
            );
            run.tested(TestDone {
                weight: u32::try_from(batch.len()).unwrap_or(u32::MAX),
                ..test
            })
            .await;
        }
    }

    fn summary(&self, total: usize) -> String {
        let open = self.open + self.open_beyond;
        let mut text = format!(
            "{open} of {} open, {} closed",
            plural(total, "port"),
            self.closed
        );
        for (count, state) in [(self.filtered, "filtered"), (self.excluded, "excluded")] {
            if count > 0 {
                text.push_str(&format!(", {count} {state}"));
            }
        }
        text
    }
}

async fn probe(run: &ScanRun<'_>, host: &str, to: SocketAddr, lane: &HostLane) -> Probe {
    if run.settings.service_ports.contains(to.ip(), to.port()) {
        return Probe::Own;
    }
    let Ok(_descriptor) = run.lanes.descriptors.acquire().await else {
        return Probe::Filtered;
    };
    let mut stream = match connect(to, lane).await {
        Ok(stream) => stream,
        Err(probe) => return probe,
    };
    // The kernel may assign the probed port to an outgoing connection. A listener accepts a second
    // connection, such a socket does not.
    if is_this_host(to.ip()) && to.port() >= EPHEMERAL {
        drop(stream);
        stream = match connect(to, lane).await {
            Ok(stream) => stream,
            Err(_) => return Probe::Own,
        };
    }
    let timeout = Duration::from_millis(if is_this_host(to.ip()) { 800 } else { 2500 });
    let client = PortClient {
        to,
        host,
        lane,
        timeout,
        over_tls: false,
    };
    let identified = identify::identify(stream, client).await;
    let unauthenticated = unauthenticated::check(client, &identified).await;
    Probe::Open(Box::new(OpenPort {
        banner: identified.banner,
        unauthenticated,
    }))
}

async fn connect(to: SocketAddr, lane: &HostLane) -> Result<TcpStream, Probe> {
    use std::io::ErrorKind::{AddrNotAvailable, ConnectionRefused, ConnectionReset};
    // Without free descriptors or local ports, wait for other connections to close.
    for _ in 0..100 {
        lane.probes.wait().await;
        let start = Instant::now();
        let connected = timeout(lane.limits.connect_timeout, TcpStream::connect(to)).await;
        let is_response = match &connected {
            Ok(Ok(_)) => true,
            Ok(Err(error)) => matches!(error.kind(), ConnectionRefused | ConnectionReset),
            Err(_) => false,
        };
        lane.probes.record(is_response.then(|| start.elapsed()));
        match connected {
            Ok(Ok(stream)) => {
                let is_self_connect = stream.local_addr().ok() == stream.peer_addr().ok();
                return if is_self_connect {
                    Err(Probe::Own)
                } else {
                    Ok(stream)
                };
            }
            Ok(Err(error)) if matches!(error.kind(), ConnectionRefused | ConnectionReset) => {
                return Err(Probe::Closed);
            }
            Ok(Err(error)) if is_shortage(&error) || error.kind() == AddrNotAvailable => {
                sleep(Duration::from_millis(10)).await;
            }
            Ok(Err(_)) | Err(_) => return Err(Probe::Filtered),
        }
    }
    Err(Probe::Filtered)
}

/// EMFILE or ENFILE.
fn is_shortage(error: &std::io::Error) -> bool {
    let code = error.raw_os_error();
    [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE]
        .iter()
        .any(|errno| code == Some(errno.raw_os_error()))
}

async fn is_alive(ip: IpAddr, lane: &HostLane) -> bool {
    stream::iter(ALIVE_PORTS.iter().copied())
        .map(|port| async move {
            !matches!(
                connect(SocketAddr::new(ip, port), lane).await,
                Err(Probe::Filtered)
            )
        })
        .buffer_unordered(ALIVE_PORTS.len())
        .any(|answered| async move { answered })
        .await
}

fn finding(port: u16, banner: &Banner) -> NewFinding {
    let finding = kinds::ports::OPEN.finding();
    let row = [
        port.to_string(),
        "open".to_owned(),
        banner.service.clone(),
        banner.source.to_owned(),
        banner.text.clone(),
    ];
    NewFinding {
        name: format!("{}: {port}/tcp {}", finding.name, banner.name),
        vuln_description: format!(
            "{} Service: {}.",
            finding.vuln_description,
            banner.summary()
        ),
        confirmed: true,
        port,
        service: banner.service.clone(),
        evidence: kinds::table(
            &["Port", "State", "Service", "Known by", "Banner"],
            vec![row.to_vec()],
        ),
        ..finding
    }
}

/// An open port in the output.
fn entry(port: u16, banner: &Banner) -> Value {
    json!({
        "number": port, "protocol": "tcp", "state": "open", "service": banner.name, "banner": banner.text,
        "known_by": banner.source, "detail": banner.detail,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpListener;

    use super::*;
    use crate::engine::testing::TestScan;
    use scandeck_wire::contract::Tool;

    /// A listener that sends a greeting to every client.
    async fn greeter(ip: &str, greeting: &'static str) -> u16 {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let _ = stream.write_all(greeting.as_bytes()).await;
            }
        });
        port
    }

    #[test]
    fn tests_of_a_slow_scan_are_due_by_time() {
        let start = Instant::now();
        let mut tally = PortTally::new(start);
        tally.not_open = vec![1];
        assert!(!tally.is_due(start + ENTRY_INTERVAL / 2) && tally.is_due(start + ENTRY_INTERVAL));
        tally.not_open = vec![1; BATCH];
        assert!(tally.is_due(start));
    }

    #[tokio::test]
    async fn open_ports_are_findings_and_closed_ports_are_counted() {
        let ssh = greeter("127.0.0.1", "SSH-2.0-Practice_1.0\r\n").await;
        let own = greeter("127.0.0.1", "").await;
        let closed = TcpListener::bind("127.0.0.1:0")
            .await
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let scan = TestScan::new(
            Tool::PORTS,
            "127.0.0.1",
            json!({"port_list": [ssh, own, closed]}),
        );
        scan.service_ports.add(([127, 0, 0, 1], own).into());
        let result = scan.run().await;
        result.check();
        let found: Vec<_> = result
            .findings()
            .map(|one| (one.port, one.service.as_str(), one.confirmed))
            .collect();
        assert_eq!(found, [(ssh, "ssh", true)]);
        assert!(
            result.of("port.open")[0]
                .evidence
                .as_json()
                .contains("SSH-2.0-Practice_1.0")
        );
        assert_eq!(
            result.outcome,
            ScanOutcome::Finished("1 of 3 ports open, 1 closed, 1 excluded".into())
        );
        assert_eq!(
            result.output.unwrap().output_data["ports"][0]["number"],
            ssh
        );
    }

    #[tokio::test]
    async fn scan_of_single_ports_reports_these_alone() {
        let ports = [
            greeter("127.0.0.1", "SSH-2.0-a\r\n").await,
            greeter("127.0.0.1", "SSH-2.0-b\r\n").await,
        ];
        let name = format!("port.{}", ports[1]);
        let params = json!({"port_list": ports, "only_tests": [name]});
        let result = TestScan::new(Tool::PORTS, "127.0.0.1", params).run().await;
        result.check();
        let reported: Vec<&String> = result.tests.iter().map(|test| &test.uid).collect();
        assert_eq!(reported, [&name]);
        assert_eq!(result.planned, 1);
    }

    #[tokio::test]
    async fn service_that_closes_connections_at_once_gets_no_messages() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let accepted = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&accepted);
        tokio::spawn(async move {
            while listener.accept().await.is_ok() {
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        let result = TestScan::new(Tool::PORTS, "127.0.0.1", json!({"port_list": [port]}))
            .run()
            .await;
        result.check();
        assert_eq!(
            result.findings().map(|one| one.port).collect::<Vec<_>>(),
            [port]
        );
        // The probe, its repetition at a high port, and one connection of the identification.
        assert!(accepted.load(Ordering::Relaxed) <= 3, "{accepted:?}");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn scan_of_all_ports_finds_listeners_only() {
        let listeners = [
            greeter("127.0.0.9", "220 ftp\r\n").await,
            greeter("127.0.0.9", "hi").await,
        ];
        let result = TestScan::new(
            Tool::PORTS,
            "127.0.0.9",
            json!({"port_range":{"start_port":1,"end_port":65535}}),
        )
        .run()
        .await;
        result.check();
        let found: Vec<u16> = result.findings().map(|finding| finding.port).collect();
        assert!(
            listeners.iter().all(|port| found.contains(port)),
            "{found:?}"
        );
        // Any other found port must belong to a wildcard listener, which accepts another
        // connection.
        for port in found {
            let stream = TcpStream::connect(("127.0.0.9", port))
                .await
                .expect("a listener");
            assert_ne!(
                stream.local_addr().unwrap(),
                stream.peer_addr().unwrap(),
                "port {port}"
            );
        }
        assert_eq!(
            result.tests.iter().map(|test| test.weight).sum::<u32>(),
            65_535
        );
    }

    #[tokio::test]
    async fn ports_beyond_the_limit_are_counted_and_not_listed() {
        let mut listeners = Vec::new();
        for _ in 0..6 {
            listeners.push(greeter("127.0.0.1", "hi").await);
        }
        let mut scan = TestScan::new(Tool::PORTS, "127.0.0.1", json!({"port_list": listeners}));
        scan.limits.ports = 4;
        let result = scan.run().await;
        result.check();
        assert_eq!(result.findings().count(), 4);
        let message = "6 of 6 ports open, 0 closed; limits reached: open ports not listed: 2";
        assert_eq!(result.outcome, ScanOutcome::Finished(message.into()));
        assert_eq!(
            result.output.unwrap().output_data["ports"]
                .as_array()
                .unwrap()
                .len(),
            4
        );
    }

    #[tokio::test]
    async fn output_of_stopped_scan_lists_every_finding() {
        // At five ports, no output is due by itself.
        let mut listeners = Vec::new();
        for _ in 0..5 {
            listeners.push(greeter("127.0.0.1", "hi").await);
        }
        let mut ports = listeners.clone();
        // Slow to answer: it accepts, and sends no banner.
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        ports.push(silent.local_addr().unwrap().port());
        let scan = TestScan::new(Tool::PORTS, "127.0.0.1", json!({"port_list": ports}));
        let stop = scan.stop.clone();
        let result = scan
            .run_with(|findings| {
                if findings == 5 {
                    stop.cancel()
                }
            })
            .await;
        assert_eq!(result.outcome, ScanOutcome::Cancelled);
        listeners.sort_unstable();
        let output = result.output.unwrap().output_data;
        let listed: Vec<&Value> = output["ports"]
            .as_array()
            .unwrap()
            .iter()
            .map(|port| &port["number"])
            .collect();
        assert_eq!(listed, listeners.iter().collect::<Vec<_>>());
        assert_eq!(output["ip_address"], "127.0.0.1");
    }

    #[tokio::test]
    async fn scan_of_target_outside_scope_fails_to_start() {
        let result = TestScan::new(Tool::PORTS, "192.0.2.1", json!({}))
            .run()
            .await;
        let ScanOutcome::FailedToStart(why) = result.outcome else {
            panic!("{:?}", result.outcome)
        };
        assert!(why.contains("scandeck scope add 192.0.2.1"), "{why}");
    }

    #[tokio::test]
    async fn cancelled_scan_ends_at_once() {
        let scan = TestScan::new(
            Tool::PORTS,
            "127.0.0.1",
            json!({"port_range":{"start_port":1,"end_port":65535}}),
        );
        scan.stop.cancel();
        assert_eq!(scan.run().await.outcome, ScanOutcome::Cancelled);
    }
}
