//! Writes a sample report in every format, with time and size of each, to look at the pages and to
//! measure.
//!
//! ```text
//!   cargo run --release --example report_samples -- DIRECTORY [FINDINGS] [FORMAT] [TEMPLATE]
//! ```

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::time::Instant;

use scandeck::contract::{
    Evidence, Finding, FindingId, Risk, Scan, ScanId, ScanStatus, Stamp, Tool,
};
use scandeck::report::{
    ChapterKind, Document, FORMATS, FindingSource, Remark, RenderError, ReportData, ReportDecision,
    ReportFinding, ReportOptions, ReportScan, ReportTemplate, Standing, render_to,
};

const KINDS: [(&str, &str, i64); 8] = [
    (
        "Credentials readable",
        "The file contains a user name and a password in plain text. Anybody who requests it can log in as this user.",
        4,
    ),
    (
        "Source repository at /.git readable",
        "The repository with its whole history can be downloaded, with every secret that was ever committed.",
        3,
    ),
    (
        "Certificate expired",
        "Browsers warn about the connection, and users learn to ignore the warning.",
        2,
    ),
    (
        "Directory listing",
        "The server lists the files of the directory. Names that no page links to become public.",
        2,
    ),
    (
        "Cookie without HttpOnly: session",
        "A script on the page can read the cookie of the session, so that one injected script takes the session over.",
        1,
    ),
    (
        "Referrer-Policy missing",
        "The address of the page, with its parameters, is sent to other sites.",
        1,
    ),
    ("Open port", "The port accepts connections.", 0),
    (
        "Server names its version",
        "The response names the product and its version, which helps to select known weaknesses.",
        0,
    ),
];

/// Names that a layout must survive.
const NAMES: [&str; 5] = [
    "shop.acme.test",
    "https://intranet.example.org:8443/portal/login?next=%2Fadmin%2Freports%2F2026%2Fquarterly",
    "שלום-חנות.test (اختبار العربية 443)",
    "日本語.example.test 😀 🚀 Zoë e\u{301}\u{323} ไทย हिन्दी",
    "10.0.4.17",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let directory = PathBuf::from(
        args.next()
            .ok_or("usage: report_samples DIRECTORY [FINDINGS] [FORMAT] [TEMPLATE]")?,
    );
    let count: usize = args.next().map_or(Ok(60), |count| count.parse())?;
    let only = args.next();
    let template = match args.next() {
        Some(path) => ReportTemplate::parse(&std::fs::read_to_string(path)?)?,
        None => ReportTemplate::default(),
    };
    std::fs::create_dir_all(&directory)?;
    for group_by in ChapterKind::ALL {
        let data = data(group_by, template.clone());
        let samples = Samples(count);
        let document = Document::of(&data, &samples)?;
        for format in FORMATS.iter().filter(|format| {
            only.as_deref()
                .is_none_or(|only| only == "all" || only == format.as_str())
        }) {
            let start = Instant::now();
            let path = directory.join(format!("{}.{format}", group_by.as_str()));
            let mut file = BufWriter::new(File::create(&path)?);
            render_to(&document, format, &mut file)?;
            file.flush()?;
            let (took, length) = (start.elapsed(), std::fs::metadata(&path)?.len());
            println!(
                "{}: {} kB in {} ms, {}",
                path.display(),
                length / 1000,
                took.as_millis(),
                peak()
            );
        }
    }
    Ok(())
}

/// Findings that are made when they are read, so that the peak is that of the writer.
struct Samples(usize);

impl FindingSource for Samples {
    fn count(&self) -> usize {
        self.0
    }

    fn read(&self, positions: &[usize]) -> Result<Vec<ReportFinding>, RenderError> {
        Ok(positions.iter().map(|at| finding(*at as i64)).collect())
    }
}

/// The peak memory of this process so far.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap_or("VmHWM: unknown");
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn data(group_by: ChapterKind, template: ReportTemplate) -> ReportData {
    let scan = |id: i64, name: &str| ReportScan {
        scan: Scan {
            id: ScanId(id),
            tool_id: 170,
            status_name: match id {
                4 => ScanStatus::ConnectionError,
                _ => ScanStatus::Finished,
            },
            num_tests: if id == 3 { 45 } else { 31 },
            start_time: Stamp::parse("2026-11-20 10:00:00"),
            end_time: Stamp::parse("2026-11-20 10:12:31"),
            num_finished_tests: 31,
            tool_params: Some(serde_json::json!({"scan_type": "light", "requests_per_second": 10})),
            ..Scan::default()
        },
        target: name.to_owned(),
    };
    ReportData {
        workspace: "Acme external".into(),
        generated: Stamp::parse("2026-11-21 09:30:00")
            .unwrap_or(Stamp(jiff::Timestamp::UNIX_EPOCH)),
        selection: "risk>=info".into(),
        options: ReportOptions {
            group_by,
            ..template.options.clone().unwrap_or_default()
        },
        template,
        findings: Vec::new(),
        with_decisions: true,
        targets: Vec::new(),
        scans: (1..).zip(NAMES).map(|(id, name)| scan(id, name)).collect(),
    }
}

fn finding(at: i64) -> ReportFinding {
    let (name, description, risk) = KINDS[at as usize % KINDS.len()];
    let target = match at as usize / KINDS.len() {
        place if place < NAMES.len() => NAMES[place].to_owned(),
        place => format!("host-{}.acme.test", place % 400),
    };
    let row = |path: &str, answer: &str| {
        vec![
            "GET".to_owned(),
            format!("/{path}/{at}?id={}", at * 7919),
            answer.to_owned(),
        ]
    };
    let rows = [
        row(
            "backup",
            "HTTP/1.1 200 OK, 4,182 bytes, \"[client]\\nuser=shop\\npassword=…\"",
        ),
        row(
            "static/assets/javascript/vendor",
            "200, text/plain; charset=utf-8",
        ),
    ];
    let finding = Finding {
        id: FindingId(at + 1),
        name: name.into(),
        risk_level: Risk::from(risk),
        confirmed: at % 3 == 0,
        in_cisa_catalog: at as usize % KINDS.len() == 2,
        epss_score: (at as usize % KINDS.len() < 3).then_some(0.934 / (1 + at % 8) as f64),
        vuln_id: format!("kind.{}", at as usize % KINDS.len()).into(),
        vuln_description: description.into(),
        risk_description: "An attacker reads data of other users, and needs no account for it.".into(),
        recommendation: "Remove the file from the web root, change every password in it, and deny the path in the \
                         configuration of the server."
            .into(),
        references: vec![
            "https://owasp.org/Top10/A01_2021-Broken_Access_Control/".into(),
            "https://cwe.mitre.org/data/definitions/200.html".into(),
        ],
        cwe: "CWE-200".into(),
        port: 443,
        protocol: "tcp".into(),
        service: "https".into(),
        status: "open".into(),
        vuln_evidence: match at % 5 {
            4 => Evidence::from_value(&"HTTP/1.1 200 OK\nServer: nginx/1.18.0\n\n  root:x:0:0\n".into()),
            _ => Evidence::table(&["Method", "Path", "Answer"], rows),
        },
        ..Finding::default()
    };
    let (verdict, standing) = match at % 7 {
        0 | 3 => ("confirmed", Standing::Confirmed),
        1 => ("false positive", Standing::Dismissed),
        2 => ("fixed", Standing::Fixed),
        4 => ("risk accepted", Standing::Dismissed),
        _ => ("open", Standing::Open),
    };
    let note = Remark {
        text: "Reported to the shop team.".into(),
        who: "ada@box".into(),
        at: "2026-11-21 08:00:00".into(),
    };
    let decided = ReportDecision {
        verdict: verdict.into(),
        standing,
        who: if standing == Standing::Open {
            String::new()
        } else {
            "ada@box".into()
        },
        at: "2026-11-21 08:00:00".into(),
        now: if at % 5 == 0 { "new" } else { "unchanged" }.into(),
        fingerprint: format!("{:016x}", at * 2_654_435_761),
        notes: if at % 7 == 0 { vec![note] } else { Vec::new() },
        ..ReportDecision::default()
    };
    ReportFinding {
        finding,
        target,
        tool: Tool::WEBSITE,
        found_at: Stamp::parse("2026-11-20 10:04:00"),
        history: Vec::new(),
        decided: Some(decided),
    }
}
