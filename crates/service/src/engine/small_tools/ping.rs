//! Tool 240: whether a host responds. An ICMP echo needs privileges, so TCP connections are tried.
//!
//! An accepted and a refused connection both prove that the host is up. A host that drops packets
//! remains unknown.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use serde_json::json;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::engine::kinds::{self, host};
use crate::engine::run::ScanRun;
use crate::engine::{NewFinding, ScanOutcome, TestDone};
use scandeck_wire::text::plural;

/// Ports that are tried on a target without a port.
const PORTS: &[u16] = &[443, 80, 22, 25, 53, 445, 3389, 8080];

/// Runs the scan.
pub async fn scan(run: &ScanRun<'_>) -> Result<String, ScanOutcome> {
    let ports = match (run.address.port(), run.job.params["port"].as_u64()) {
        (_, Some(port)) => vec![port as u16],
        (Some(port), None) => vec![port],
        (None, None) => PORTS.to_vec(),
    };
    let count = run.job.params["count"].as_u64().unwrap_or(4);
    run.planned(ports.len() as u32).await;
    run.output_findings(json!({})).await;
    let ip = run.resolve(&run.address.host()).await?[0];
    let (mut answers, mut sent) = (0, 0);
    for (tried, port) in (1..).zip(&ports) {
        let rows = attempts(run, ip, *port, count, ports.len() == 1, &mut sent).await;
        answers += rows.len();
        run.tested(port_test(*port, rows)).await;
        if answers > 0 {
            run.planned(tried).await;
            break;
        }
    }
    let output = json!({"ip_address": ip.to_string(), "sent": sent, "responses": answers});
    run.output_findings(output).await;
    Ok(match answers {
        0 => format!(
            "no response from {ip} to {} on {}: the host is down or drops packets",
            plural(sent, "connection"),
            plural(ports.len(), "TCP port")
        ),
        found => format!(
            "{ip} is up: {found} of {} answered",
            plural(sent, "TCP connection")
        ),
    })
}

fn port_test(port: u16, rows: Vec<Vec<String>>) -> TestDone {
    let metadata = json!({"port": port, "answers": rows.len()});
    let finding = (!rows.is_empty()).then(|| finding(port, rows));
    TestDone::new(
        format!("host.up.{port}"),
        format!("Response on TCP port {port}"),
        metadata,
        finding.into_iter().collect(),
    )
}

fn finding(port: u16, rows: Vec<Vec<String>>) -> NewFinding {
    NewFinding {
        port,
        service: "tcp".to_owned(),
        confirmed: true,
        evidence: kinds::table(&["Address", "Port", "Response", "Time"], rows),
        ..host::UP.finding()
    }
}

/// The answers to this number of connections. Unless the port is the only one, the first without an
/// answer is the last.
async fn attempts(
    run: &ScanRun<'_>,
    ip: IpAddr,
    port: u16,
    count: u64,
    is_only: bool,
    sent: &mut usize,
) -> Vec<Vec<String>> {
    let lane = run.lanes.of(ip);
    let mut rows = Vec::new();
    for _ in 0..count {
        lane.probes.wait().await;
        *sent += 1;
        let start = Instant::now();
        let answer = match timeout(
            lane.limits.connect_timeout,
            TcpStream::connect(SocketAddr::new(ip, port)),
        )
        .await
        {
            Ok(Ok(_)) => "accepted",
            Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => "refused",
            _ => {
                run.raw(format!("{ip}:{port} no response")).await;
                if is_only {
                    continue;
                }
                break;
            }
        };
        let shown = format!("{:.1} ms", start.elapsed().as_secs_f64() * 1000.0);
        run.raw(format!("{ip}:{port} {answer} {shown}")).await;
        rows.push(vec![
            ip.to_string(),
            port.to_string(),
            answer.to_owned(),
            shown,
        ]);
    }
    rows
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;
    use crate::engine::testing::TestScan;
    use scandeck_wire::contract::Tool;

    #[tokio::test]
    async fn open_and_closed_ports_prove_that_the_host_is_up() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let open = listener.local_addr().unwrap().port();
        let closed = TcpListener::bind("127.0.0.1:0")
            .await
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        for (port, response) in [(open, "accepted"), (closed, "refused")] {
            let result = TestScan::new(Tool::PING, "127.0.0.1", json!({"port": port, "count": 2}))
                .run()
                .await;
            result.check();
            let message = "127.0.0.1 is up: 2 of 2 TCP connections answered";
            assert_eq!(result.outcome, ScanOutcome::Finished(message.into()));
            let found = result.of("host.up");
            assert!(
                found.len() == 1 && found[0].evidence.as_json().contains(response),
                "{port}"
            );
        }
        let result = TestScan::new(Tool::PING, "127.0.0.1", json!({}))
            .run()
            .await;
        result.check();
        assert_eq!(
            result.tests.len(),
            1,
            "the first port answers, so no other is tried"
        );
    }
}
