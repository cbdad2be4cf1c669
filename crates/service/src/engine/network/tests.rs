//! The network scanner with the installed nmap against listeners on loopback; without nmap these
//! tests are skipped.

use std::collections::HashMap;
use std::io::Write;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};

use super::*;
use crate::engine::ports::top::ranked;
use crate::engine::testing::TestScan;
use crate::engine::{Engine, ScanEvent};

/// A web server with one page; a listener that says nothing if `page` is empty.
async fn web(page: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut bytes = [0; 4096];
                if !page.is_empty() && stream.read(&mut bytes).await.is_ok() {
                    let head = format!(
                        "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nContent-Length: {}\r\n",
                        page.len()
                    );
                    let _ = stream
                        .write_all(format!("{head}Connection: close\r\n\r\n{page}").as_bytes())
                        .await;
                } else {
                    std::future::pending::<()>().await;
                }
            });
        }
    });
    port
}

#[test]
fn step_counts_ports_and_not_thousandths_of_a_phase() {
    assert_eq!(step(0, 434, 100), "43 of 100 ports scanned");
    assert_eq!(step(0, 500, 65_535), "32,767 of 65,535 ports scanned");
    assert_eq!(step(1, 500, 100), "services of open ports: 50% done");
}

fn has_nmap() -> bool {
    let found = Guest::Nmap.find().is_some();
    if !found {
        let _ = writeln!(std::io::stderr(), "skipped: nmap is not installed");
    }
    found
}

#[tokio::test]
async fn nmap_finds_ports_services_and_scripts() {
    if !has_nmap() {
        return;
    }
    let (open, own) = (
        web("<title>Practice shop</title>").await,
        web("<title>own</title>").await,
    );
    let closed = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let scan = TestScan::new(
        Tool::NETWORK,
        "127.0.0.1",
        json!({"port_list": [open, own, closed]}),
    );
    scan.service_ports.add(([127, 0, 0, 1], own).into());
    let result = scan.run().await;
    result.check();
    assert_eq!(
        result.planned,
        STEPS * 3,
        "open ports and scripts are no further tests"
    );
    assert_eq!(
        result.tests[0].uid, "network.ports",
        "scripts that nmap runs before are no progress"
    );
    let found = result.of("port.open");
    assert_eq!(
        found
            .iter()
            .map(|one| (one.port, one.service.as_str()))
            .collect::<Vec<_>>(),
        [(open, "http")]
    );
    assert!(
        found[0].confirmed && found[0].evidence.as_json().contains("nginx"),
        "{:?}",
        found[0].evidence
    );
    let title = result.of("network.script.http-title");
    assert!(title[0].evidence.as_json().contains("Practice shop") && !title[0].confirmed);
    let ScanOutcome::Finished(message) = &result.outcome else {
        panic!("{:?}", result.outcome)
    };
    assert!(message.starts_with("1 of 2 ports open (nmap "), "{message}");
    assert!(
        result.info.contains(&format!(
            "Not scanned: port {own}, which belongs to this service."
        )),
        "{:?}",
        result.info
    );
    assert!(
        result
            .raw
            .iter()
            .any(|line| line.contains("<nmaprun scanner=\"nmap\"")),
        "{:?}",
        result.raw
    );
    assert_eq!(
        result.output.unwrap().output_data["ports"][0]["number"],
        open
    );
}

#[tokio::test]
async fn udp_ports_are_scanned_where_raw_sockets_are_allowed() {
    if !has_nmap() {
        return;
    }
    // Two services: one answers every datagram, one answers none.
    let (open, silent) = (
        UdpSocket::bind("127.0.0.1:0").await.unwrap(),
        UdpSocket::bind("127.0.0.1:0").await.unwrap(),
    );
    let closed = UdpSocket::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let [port, quiet] = [&open, &silent].map(|socket| socket.local_addr().unwrap().port());
    tokio::spawn(async move {
        let mut bytes = [0; 2048];
        while let Ok((count, from)) = open.recv_from(&mut bytes).await {
            let _ = open.send_to(&bytes[..count.max(1)], from).await;
        }
    });
    let params = json!({"port_list": [port, quiet, closed]});
    let scan = |tool, params| TestScan::new(tool, "127.0.0.1", params).run();
    // The network scanner with UDP does the same.
    let of_network = json!({"port_list": [port, closed], "protocol_type": "udp"});
    let (result, network) = tokio::join!(
        scan(Tool::UDP_PORTS, params.clone()),
        scan(Tool::NETWORK, of_network)
    );
    if RawSockets::of_guests() == RawSockets::Forbidden {
        let ScanOutcome::FailedToStart(why) = result.outcome else {
            panic!("{:?}", result.outcome)
        };
        assert!(
            why.starts_with("tool_id 80 (UDP Port Scanner) needs raw sockets"),
            "{why}"
        );
        return;
    }
    result.check();
    let found = result.of("port.open");
    let seen = |one: &&NewFinding| (one.port, one.protocol.clone(), one.confirmed);
    let mut expected = [
        (port, "udp".to_owned(), true),
        (quiet, "udp".to_owned(), false),
    ];
    expected.sort();
    let mut ports: Vec<_> = found.iter().map(seen).collect();
    ports.sort();
    assert_eq!(ports, expected, "{:?}", result.raw);
    let ScanOutcome::Finished(message) = &result.outcome else {
        panic!("{:?}", result.outcome)
    };
    assert!(
        message.starts_with("1 of 3 ports open, 1 open or filtered (nmap "),
        "{message}"
    );
    assert_eq!(network.of("port.open").len(), 1);
}

#[tokio::test]
async fn stop_ends_nmap_at_once() {
    if !has_nmap() {
        return;
    }
    // A silent service keeps the service scan busy for many seconds.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = silent.local_addr().unwrap().port();
    let scan = TestScan::new(Tool::NETWORK, "127.0.0.1", json!({"port_list": [port]}));
    let stop = scan.stop.clone();
    let stopper = tokio::spawn(async move {
        let _connection = silent.accept().await.unwrap();
        stop.cancel();
        Instant::now()
    });
    let result = scan.run().await;
    let ended = stopper.await.unwrap().elapsed();
    assert_eq!(result.outcome, ScanOutcome::Cancelled);
    assert!(ended < Duration::from_secs(2), "{ended:?}");
}

#[tokio::test]
async fn stopped_scan_reports_ports_that_nmap_discovered() {
    if !has_nmap() {
        return;
    }
    // A silent service keeps nmap busy for many seconds after it has found the port.
    let port = web("").await;
    let scan = TestScan::new(Tool::NETWORK, "127.0.0.1", json!({"port_list": [port]}));
    let (engine, stop, token) = (
        Engine::new(scan.engine_settings()),
        scan.stop.clone(),
        scan.stop,
    );
    let (events, mut result) = mpsc::channel(16);
    let run = tokio::spawn(async move { engine.run(scan.job, events, token).await });
    let (mut findings, mut output) = (Vec::new(), None);
    while let Some(event) = result.recv().await {
        match event {
            ScanEvent::Raw(line) if line.contains("--noninteractive") => {
                panic!("no progress every second: {line}")
            }
            ScanEvent::Raw(line) if line.starts_with("Discovered") => stop.cancel(),
            ScanEvent::Tested(test) => findings.extend(test.findings),
            ScanEvent::Output(last) => output = Some(last.output_data),
            _ => {}
        }
    }
    assert_eq!(run.await.unwrap(), ScanOutcome::Cancelled);
    let [open] = &findings[..] else {
        panic!("{findings:?}")
    };
    assert_eq!(
        (open.vuln_id.as_str(), open.port, open.service.as_str()),
        ("port.open", port, "unknown")
    );
    assert!(
        open.vuln_description
            .ends_with("The scan ended before nmap reported the service."),
        "{open:?}"
    );
    assert_eq!(output.unwrap()["ports"][0]["number"], port);
}

/// The frequencies are those of the installed nmap, whose own list of 1000 ports covers 0.93.
#[test]
fn most_common_ports_cover_most_open_ports() {
    let Ok(services) = std::fs::read_to_string("/usr/share/nmap/nmap-services") else {
        let _ = writeln!(std::io::stderr(), "skipped: nmap is not installed");
        return;
    };
    let frequencies: HashMap<u16, f64> = services
        .lines()
        .filter_map(|line| {
            let mut fields = line.split('\t').skip(1);
            let port = fields.next()?.strip_suffix("/tcp")?.parse().ok()?;
            Some((port, fields.next()?.parse().ok()?))
        })
        .collect();
    let share = |ports: &[u16]| {
        ports
            .iter()
            .filter_map(|port| frequencies.get(port))
            .sum::<f64>()
            / frequencies.values().sum::<f64>()
    };
    let shares = [(100, 0.69), (1000, 0.90), (5000, 0.93)]
        .map(|(count, least)| (count, share(&ranked(count)), least));
    let _ = writeln!(
        std::io::stderr(),
        "ports: number, share of open ports by frequency, limit: {shares:.3?}"
    );
    assert!(
        shares.iter().all(|(_, share, least)| share >= least),
        "{shares:?}"
    );
}

#[test]
fn progress_is_reported_in_tenths_and_by_time() {
    let start = Instant::now();
    let mut tests = PhaseTests::new(start);
    assert_eq!(tests.take(0, STEPS / 10 - 1, start), None);
    assert_eq!(tests.take(0, STEPS / 10, start), Some(STEPS / 10));
    assert_eq!(
        tests.take(0, STEPS / 10 + 1, start + ENTRY_INTERVAL),
        Some(1),
        "a slow scan is not stalled"
    );
    assert_eq!(
        tests.take(0, STEPS, start + ENTRY_INTERVAL),
        Some(STEPS - STEPS / 10 - 1)
    );
    assert_eq!(tests.take(0, STEPS, start + ENTRY_INTERVAL * 9), None);
}

#[test]
fn output_of_script_keeps_its_tree() {
    let output = "\n  /: \n    PHPSESSID: \n      httponly flag not set".to_owned();
    let script = NmapScript {
        id: "http-cookie-flags".to_owned(),
        output,
    };
    let test = script_test(&script, 80, "tcp", "http");
    assert_eq!(test.findings[0].name, "nmap http-cookie-flags");
    let evidence = test.findings[0].evidence.as_json();
    assert!(
        evidence.contains(r#"[["/:"],["  PHPSESSID:"],["    httponly flag not set"]]"#),
        "{evidence}"
    );
}

#[test]
fn ports_become_ranges() {
    assert_eq!(ranges(&[443, 80, 81, 82, 1]), "1,80-82,443");
    assert_eq!(ranges(&(1..=u16::MAX).collect::<Vec<_>>()), "1-65535");
}
