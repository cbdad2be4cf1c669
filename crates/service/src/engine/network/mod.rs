//! Tools 350 and 80: ports, services and safe scripts of a host, by the installed nmap. Tool 80
//! scans UDP.
//!
//! ```text
//!   parameters ──► fixed arguments ──► nmap ──messages──► open ports that a stopped scan reports
//!                                        └──XML──► progress ──► tests
//!                                             └──► report ──► open ports, results of scripts
//! ```
//!
//! nmap receives the address that the scope allows, never a name, and no script that contacts other
//! hosts. The result of a script is unconfirmed unless its text proves it.

use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::guests::process::{GuestLimits, GuestOutput, run as run_guest, shown_command};
use super::guests::raw_sockets::RawSockets;
use super::guests::raw_text::{parts, without_passwords};
use super::guests::{Guest, missing};
use super::ports::select::PortSelection;
use super::run::ScanRun;
use super::tools::label;
use super::{NewFinding, PRODUCT, ScanOutcome, TestDone, kinds};
use scandeck_wire::contract::Tool;
use scandeck_wire::text::{plural, thousands};

mod report;

use report::{NmapPort, NmapProgress, NmapReport, NmapScript, discovered_port};

/// The scan itself ends at its `max_scan_time`.
const LIMITS: GuestLimits =
    GuestLimits::without_files(Duration::from_secs(24 * 3600), 32 * 1024 * 1024);

/// Scripts of a light scan: nothing that contacts other hosts, guesses, or disturbs a service.
const LIGHT_SCRIPTS: &str =
    "default and safe and not (broadcast or external or brute or dos or exploit or intrusive)";
const DEEP_SCRIPTS: &str = "(default or discovery or vuln) and safe and not (broadcast or external or brute or dos or exploit or intrusive)";

/// Phases of a scan, by words in nmap's names of its tasks.
const PHASES: &[(&str, &str, &str)] = &[
    ("network.ports", "Ports by nmap", "Scan"),
    ("network.services", "Services by nmap", "Service scan"),
    ("network.scripts", "Safe scripts by nmap", "NSE"),
];
/// Tests per phase, each for a thousandth of its progress.
const STEPS: u32 = 1000;
/// Test entries of a fast phase; a slow phase has more.
const ENTRIES: u32 = 10;
/// The longest time between two test entries while a phase progresses: a slow scan would otherwise
/// look stalled.
const ENTRY_INTERVAL: Duration = Duration::from_secs(5);

/// Why a scan with these parameters cannot run here: it scans UDP, and nmap may not open raw
/// sockets.
pub fn refusal(tool: Tool, params: &Value) -> Option<String> {
    let subject = match tool {
        Tool::UDP_PORTS => format!("tool_id {}", label(tool)),
        _ => "tool_params.protocol_type udp".to_owned(),
    };
    let is_forbidden = is_udp(tool, params) && RawSockets::of_guests() == RawSockets::Forbidden;
    is_forbidden.then(|| RawSockets::refusal(&subject))
}

fn is_udp(tool: Tool, params: &Value) -> bool {
    tool == Tool::UDP_PORTS || (tool == Tool::NETWORK && params["protocol_type"] == "udp")
}

/// Runs the scan.
pub async fn scan(run: &ScanRun<'_>) -> Result<String, ScanOutcome> {
    let failed = |error: String| ScanOutcome::FailedToStart(error);
    let Some(program) = Guest::Nmap.find() else {
        return Err(failed(missing(run.job.tool).unwrap_or_default()));
    };
    let host = run.address.host();
    let ip = run.resolve(&host).await?[0];
    let params = run.job.params.as_object().cloned().unwrap_or_default();
    let is_udp = is_udp(run.job.tool, &run.job.params);
    let ports = ports_to_scan(run, ip, &params, is_udp).await?;
    let scan = NmapScan {
        run,
        ip,
        ports: ports.len(),
        is_udp,
        is_deep: params.get("scan_type").is_some_and(|kind| kind == "deep"),
    };
    let hostnames: Vec<&str> = if run.address.ip().is_some() {
        Vec::new()
    } else {
        vec![&host]
    };
    run.planned(STEPS * PHASES.len() as u32).await;
    let host_fields = json!({"ip_address": ip.to_string(), "hostnames": hostnames});
    run.list_ports(host_fields.clone());
    let (output, done) = scan
        .execute(&program, &scan.arguments(&params, &ports))
        .await
        .map_err(failed)?;
    let report = NmapReport::parse(&output.text);
    if report.is_complete {
        // The report has all discovered ports, and the limit is for both together.
        run.list_ports(host_fields);
    }
    scan.report(&report, &output, done).await?;
    run.output_all().await;
    Ok(summary(&report, &output, ports.len()))
}

async fn ports_to_scan(
    run: &ScanRun<'_>,
    ip: IpAddr,
    params: &Map<String, Value>,
    is_udp: bool,
) -> Result<Vec<u16>, ScanOutcome> {
    let selection = PortSelection::parse(params)
        .map_err(|error| ScanOutcome::FailedToStart(error.to_string()))?;
    if let Some(refusal) = refusal(run.job.tool, &run.job.params) {
        return Err(ScanOutcome::FailedToStart(refusal));
    }
    if is_udp {
        return Ok(selection.udp_ports());
    }
    without_own(run, ip, selection.ports(run.address.port())).await
}

/// The ports without those of this service.
async fn without_own(
    run: &ScanRun<'_>,
    ip: IpAddr,
    ports: Vec<u16>,
) -> Result<Vec<u16>, ScanOutcome> {
    let is_own = |port: &u16| run.settings.service_ports.contains(ip, *port);
    let (own, others): (Vec<u16>, Vec<u16>) = ports.into_iter().partition(is_own);
    if !own.is_empty() {
        let own = ranges(&own);
        let line = format!("Not scanned: port {own}, which belongs to this service.");
        run.info(line).await;
    }
    if others.is_empty() {
        let why = "all selected ports belong to this service".to_owned();
        return Err(ScanOutcome::FailedToStart(why));
    }
    Ok(others)
}

/// The step of a scan in words: thousandths of a phase say nothing about ports.
fn step(phase: usize, reached: u32, ports: usize) -> String {
    match phase {
        0 => format!(
            "{} of {} scanned",
            thousands(ports as u64 * u64::from(reached) / u64::from(STEPS)),
            plural(ports, "port")
        ),
        1 => format!("services of open ports: {}% done", reached * 100 / STEPS),
        _ => format!("scripts: {}% done", reached * 100 / STEPS),
    }
}

/// The progress that tests have reported.
struct PhaseTests {
    /// Steps of each phase.
    done: [u32; PHASES.len()],
    /// When the last test was reported.
    reported: Instant,
}

impl PhaseTests {
    fn new(now: Instant) -> Self {
        Self {
            done: [0; PHASES.len()],
            reported: now,
        }
    }

    /// The number of steps of the next test entry of a phase that has reached `reached`; `None`
    /// until the entry is due.
    fn take(&mut self, phase: usize, reached: u32, now: Instant) -> Option<u32> {
        let steps = reached
            .checked_sub(self.done[phase])
            .filter(|steps| *steps > 0)?;
        let is_due =
            steps >= STEPS / ENTRIES || reached == STEPS || now - self.reported >= ENTRY_INTERVAL;
        if is_due {
            (self.done[phase], self.reported) = (reached, now);
        }
        is_due.then_some(steps)
    }
}

struct NmapScan<'a> {
    run: &'a ScanRun<'a>,
    ip: IpAddr,
    ports: usize,
    is_udp: bool,
    is_deep: bool,
}

impl NmapScan<'_> {
    fn arguments(&self, params: &Map<String, Value>, ports: &[u16]) -> Vec<String> {
        let limits = self.run.lanes.of(self.ip).limits;
        let mut all = vec!["-n", if self.is_udp { "-sU" } else { "-sT" }, "-sV"];
        if self.is_udp && RawSockets::of_guests() == RawSockets::Capability {
            all.push("--privileged");
        }
        if !self.is_deep {
            all.push("--version-light");
        }
        if params.get("check_alive") != Some(&Value::Bool(true)) {
            all.push("-Pn");
        }
        if self.ip.is_ipv6() {
            all.push("-6");
        }
        // Without `--noninteractive`, which switches off `--stats-every`.
        all.extend([
            "-v",
            "--stats-every",
            "1s",
            "--script-timeout",
            "30s",
            "-oX",
            "/dev/stdin",
            "--script",
        ]);
        all.push(if self.is_deep {
            DEEP_SCRIPTS
        } else {
            LIGHT_SCRIPTS
        });
        let mut all: Vec<String> = all.into_iter().map(str::to_owned).collect();
        all.push("--script-args".to_owned());
        all.push(format!(
            "http.useragent=\"{PRODUCT} (scan {})\"",
            self.run.job.scan
        ));
        if let Some(rate) = limits.probes_per_second {
            all.extend(["--max-rate".to_owned(), rate.to_string()]);
        }
        all.extend(["-p".to_owned(), ranges(ports), self.ip.to_string()]);
        all
    }

    /// Runs nmap; returns its output and the tests that each phase has reported.
    async fn execute(
        &self,
        program: &Path,
        arguments: &[String],
    ) -> Result<(GuestOutput, PhaseTests), String> {
        let mut done = PhaseTests::new(Instant::now());
        self.run.raw(shown_command(program, arguments)).await;
        let (sender, mut lines) = mpsc::channel::<String>(64);
        let (messages, mut other) = mpsc::channel::<String>(64);
        let read = async {
            while let Some(line) = lines.recv().await {
                for part in parts(&line) {
                    self.run.raw(without_passwords(part)).await;
                }
                if let Some(progress) = NmapProgress::parse(&line) {
                    self.progress(&progress, &mut done).await;
                }
            }
        };
        let listen = async {
            let mut count = 0;
            while let Some(line) = other.recv().await {
                if let Some(port) =
                    discovered_port(&line).filter(|_| count < self.run.settings.limits.ports)
                {
                    count += 1;
                    self.discovered(&port, line).await;
                }
            }
        };
        let (output, (), ()) = tokio::join!(
            run_guest(program, arguments, LIMITS, sender, Some(messages)),
            read,
            listen
        );
        let output = output?;
        for line in output.errors.lines() {
            self.run.raw(format!("nmap: {line}")).await;
        }
        Ok((output, done))
    }

    /// Stores an open port to report if the scan stops: nmap reports services and scripts only at
    /// its end.
    async fn discovered(&self, port: &NmapPort, line: String) {
        let mut test = port_test(port);
        for finding in &mut test.findings {
            finding
                .vuln_description
                .push_str(" The scan ended before nmap reported the service.");
        }
        self.run.also_report_if_stopped(test);
        self.run.output_port(port.number, entry(port)).await;
        self.run.raw(line).await;
    }

    async fn progress(&self, progress: &NmapProgress, done: &mut PhaseTests) {
        // The last phase whose word is in the name: a service scan is not a scan of ports.
        let Some(phase) = PHASES
            .iter()
            .rposition(|(.., word)| progress.task.contains(word))
        else {
            return;
        };
        // nmap also runs scripts before it scans ports.
        if phase > 0 && done.done[0] == 0 {
            return;
        }
        // The scripts run in several tasks, so the end of a task is not the end of the phase.
        let reached = (progress.percent / 100.0 * f64::from(STEPS)) as u32;
        self.run.step(step(phase, reached, self.ports)).await;
        self.phase(phase, reached.min(STEPS - 1), done).await;
        for earlier in 0..phase {
            self.phase(earlier, STEPS, done).await;
        }
    }

    /// Reports the progress of a phase.
    async fn phase(&self, phase: usize, reached: u32, done: &mut PhaseTests) {
        let Some(weight) = done.take(phase, reached, Instant::now()) else {
            return;
        };
        let (uid, description, _) = PHASES[phase];
        let metadata = json!({"percent": reached * 100 / STEPS});
        self.run
            .tested(TestDone {
                weight,
                ..TestDone::new(uid, description, metadata, Vec::new())
            })
            .await;
    }

    /// Reports ports and results of scripts.
    async fn report(
        &self,
        report: &NmapReport,
        output: &GuestOutput,
        mut done: PhaseTests,
    ) -> Result<(), ScanOutcome> {
        if report.version.is_empty() {
            let last = output.errors.lines().last().unwrap_or("no report");
            let reasons = [report.error.as_str(), last];
            let why = reasons.into_iter().find(|why| !why.is_empty());
            let why = why.unwrap_or_default();
            let line = format!("nmap did not start: {why}");
            return Err(ScanOutcome::FailedToStart(line));
        }
        let line = format!("Scanned by nmap {}.", report.version);
        self.run.info(line).await;
        if !report.is_complete {
            self.report_incomplete(report, output).await;
        }
        let open: Vec<&NmapPort> = report
            .ports
            .iter()
            .filter(|port| port.state.starts_with("open"))
            .collect();
        let listed = &open[..open.len().min(self.run.settings.limits.ports)];
        self.run.cut(|cuts| cuts.ports += open.len() - listed.len());
        let tests = self.tests(report, listed);
        for phase in 0..PHASES.len() {
            self.phase(phase, STEPS, &mut done).await;
        }
        self.run.tested_all(tests).await;
        for port in listed {
            self.run.output_port(port.number, entry(port)).await;
        }
        Ok(())
    }

    async fn report_incomplete(&self, report: &NmapReport, output: &GuestOutput) {
        let problem = output.end.problem();
        let why = problem.unwrap_or("ended before its report was complete");
        let error = &report.error;
        let line = format!("The results are incomplete: nmap {why}. {error}");
        self.run.info(line).await;
        let test = TestDone::new("network.report", "Report of nmap", json!({}), Vec::new());
        let test = test.judged(Some(format!("nmap {why}")));
        self.run.tested(TestDone { weight: 0, ..test }).await;
    }

    /// The tests of ports and of scripts.
    fn tests(&self, report: &NmapReport, listed: &[&NmapPort]) -> Vec<TestDone> {
        let mut tests = Vec::new();
        for port in listed {
            tests.push(port_test(port));
            let service = port.service.short_name();
            tests.extend(
                port.scripts
                    .iter()
                    .map(|script| script_test(script, port.number, &port.protocol, &service)),
            );
        }
        // Scripts of the host belong to its first port.
        if let Some(first) = listed.first().filter(|port| port.number > 0) {
            let protocol = if self.is_udp { "udp" } else { "tcp" };
            tests.extend(
                report
                    .scripts
                    .iter()
                    .map(|script| script_test(script, first.number, protocol, "host")),
            );
        }
        // Ports and scripts do not count as tests. Otherwise, a later scan with fewer open ports
        // would count as a scan with fewer tests.
        for test in &mut tests {
            test.weight = 0;
        }
        tests
    }
}

fn port_test(port: &NmapPort) -> TestDone {
    let (number, protocol) = (port.number, port.protocol.as_str());
    let known_by = if port.service.method == "probed" {
        "nmap"
    } else {
        "port number"
    };
    let kind = kinds::ports::OPEN.finding();
    let service = port.service.short_name();
    let row = [
        number.to_string(),
        port.state.clone(),
        service.clone(),
        known_by.to_owned(),
        port.service.banner(),
    ];
    let finding = NewFinding {
        name: format!("{}: {number}/{protocol} {service}", kind.name),
        // A port without an answer may be filtered.
        confirmed: port.state == "open",
        port: number,
        protocol: protocol.to_owned(),
        service,
        evidence: kinds::table(
            &["Port", "State", "Service", "Known by", "Banner"],
            vec![row.to_vec()],
        ),
        ..kind
    };
    let metadata = json!({"port": number, "protocol": protocol, "state": port.state});
    TestDone::new(
        format!("port.{number}"),
        format!(
            "{} port {number} is {}",
            protocol.to_uppercase(),
            port.state
        ),
        metadata,
        vec![finding],
    )
}

fn script_test(script: &NmapScript, port: u16, protocol: &str, service: &str) -> TestDone {
    let kind = kinds::network::SCRIPT.finding();
    let uid = format!("{}.{}", kind.vuln_id, script.id);
    let lines = || {
        script
            .output
            .lines()
            .map(str::trim_end)
            .filter(|line| !line.is_empty())
    };
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let common = lines()
        .map(indent)
        .filter(|indent| *indent > 0)
        .min()
        .unwrap_or_default();
    let rows: Vec<Vec<String>> = lines()
        .map(|line| vec![without_passwords(&line[indent(line).min(common)..])])
        .collect();
    let findings = if rows.is_empty() {
        Vec::new()
    } else {
        vec![NewFinding {
            // Each script is a kind of its own.
            vuln_id: uid.clone(),
            name: format!("nmap {}", script.id),
            vuln_description: format!(
                "The nmap script {} printed this output. The scan did not verify it.",
                script.id
            ),
            port,
            protocol: protocol.to_owned(),
            service: service.to_owned(),
            evidence: kinds::table(&["Output"], rows),
            ..kind
        }]
    };
    TestDone::new(
        uid,
        format!("Script {} on port {port}", script.id),
        json!({"port": port, "script": script.id}),
        findings,
    )
}

/// An open port in the output.
fn entry(port: &NmapPort) -> Value {
    json!({
        "number": port.number, "protocol": port.protocol, "state": port.state,
        "service": port.service.short_name(), "banner": port.service.banner(),
    })
}

fn summary(report: &NmapReport, output: &GuestOutput, ports: usize) -> String {
    if report.is_complete && !report.is_up {
        return format!(
            "no response from the host; nmap {} scanned no port",
            report.version
        );
    }
    let open = report
        .ports
        .iter()
        .filter(|port| port.state == "open")
        .count();
    let unclear = report
        .ports
        .iter()
        .filter(|port| port.state == "open|filtered")
        .count();
    let mut text = format!("{open} of {} open", plural(ports, "port"));
    if unclear > 0 {
        text.push_str(&format!(", {unclear} open or filtered"));
    }
    text.push_str(&format!(" (nmap {})", report.version));
    if !report.is_complete {
        text.push_str(&format!(
            "; incomplete: nmap {}",
            output.end.problem().unwrap_or("sent a damaged report")
        ));
    }
    text
}

/// `1-100,443`.
fn ranges(ports: &[u16]) -> String {
    let mut sorted = ports.to_vec();
    sorted.sort_unstable();
    let mut all: Vec<(u16, u16)> = Vec::new();
    for port in sorted {
        match all.last_mut() {
            Some((_, last)) if *last + 1 == port => *last = port,
            _ => all.push((port, port)),
        }
    }
    let range = |(first, last): &(u16, u16)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        }
    };
    all.iter().map(range).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests;
