//! Findings as odd as a scan can report them, for the readers of exports.

use super::*;
use proptest::sample::select;

/// Texts that a reader of some format refuses, cuts or executes.
const TEXTS: [&str; 22] = [
    "",
    " ",
    "Weak cipher",
    "a\0b",
    "\u{202e}gpj.exe",
    "\u{feff}bom",
    "\x1b]0;title\x07",
    "=1+1",
    " =1+1",
    "\u{a0}=1",
    "＝1",
    "x;=HYPERLINK(1)",
    "x\";\"=1",
    "line\n=cmd|' /C calc'!A0\r\n- item",
    "\t@SUM(1)",
    "-5",
    "-5;-6",
    "a, b c",
    "{0} [link](http://e.test) \\ \"quoted\"",
    "CVE-2024-1",
    "日本語 हिन्दी Z\u{301}\u{301}",
    HOSTILE,
];

const TARGETS: [&str; 22] = [
    "https://shop.acme.test/",
    "https://shop.acme.test/a/../b c?q=<x>#f",
    "http://user:pw@bücher.example:8080/ü",
    "http://[fe80::1%25eth0]/",
    "10.0.4.7",
    "10.0.4.7:443",
    "::1",
    "[::1]:8443",
    "fe80::1%eth0",
    "bücher.example",
    "xn--a",
    "a..b",
    "..",
    ".",
    "/etc/passwd",
    "C:\\x",
    "host:99999",
    "localhost",
    "under_score.test.",
    "Office LAN (VLAN 12)",
    "mailto:ann@acme.test",
    "",
];

/// The values of a finding that a scan, a user or a clock decide.
#[derive(Clone, Debug)]
pub struct OddFinding {
    target: String,
    /// Name, class, description, service, a CVE, a tag and a note.
    texts: [String; 7],
    port: i64,
    risk: i64,
    severity: Option<i64>,
    verdict: Verdict,
    cwe: u64,
    seconds: i64,
    is_manual: bool,
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(TEXTS.as_slice()).prop_map(str::to_owned),
        2 => any::<String>(),
        1 => (select(TEXTS.as_slice()), 1..2_000usize).prop_map(|(text, count)| repeated(text, count)),
    ]
}

/// So many times a text, but not many more characters than a cell can have: more are cut alike.
fn repeated(text: &str, count: usize) -> String {
    let most = 40_000 / text.chars().count().max(1);
    text.repeat(count.min(most))
}

pub fn finding() -> impl Strategy<Value = OddFinding> {
    let target = prop_oneof![3 => select(TARGETS.as_slice()).prop_map(str::to_owned), 1 => text()];
    let texts = proptest::array::uniform7(text());
    let numbers = (
        -2..70_000i64,
        0..5i64,
        proptest::option::of(0..5i64),
        0..5_000_000_000u64,
    );
    let (first, last) = (
        jiff::Timestamp::MIN.as_second(),
        jiff::Timestamp::MAX.as_second(),
    );
    let seconds = prop_oneof![0..2_000_000_000i64, first..=last];
    (
        target,
        texts,
        numbers,
        select(Verdict::ALL.as_slice()),
        seconds,
        any::<bool>(),
    )
        .prop_map(
            |(target, texts, (port, risk, severity, cwe), verdict, seconds, is_manual)| {
                OddFinding {
                    target,
                    texts,
                    port,
                    risk,
                    severity,
                    verdict,
                    cwe,
                    seconds,
                    is_manual,
                }
            },
        )
}

/// Rows of these findings, each with a key of its own.
pub fn rows(findings: &[OddFinding]) -> Vec<ExportRow> {
    findings
        .iter()
        .zip(0..)
        .map(|(finding, number)| row(number, finding))
        .collect()
}

fn row(number: i64, odd: &OddFinding) -> ExportRow {
    let [name, class, description, service, cve, tag, note] = &odd.texts;
    let mut issue = issue(
        number,
        &odd.target,
        name,
        Presence::ALL[number as usize % Presence::ALL.len()],
    );
    let finding = Finding {
        vuln_id: class.as_str().into(),
        vuln_description: description.as_str().into(),
        recommendation: note.as_str().into(),
        service: service.as_str().into(),
        cve: vec![cve.as_str().into(), "CVE-2024-2".into()],
        cwe: format!("CWE-{}", odd.cwe).as_str().into(),
        port: odd.port,
        risk_level: Risk::from(odd.risk),
        references: vec![format!("https://{name}").into()],
        vuln_evidence: Evidence::table(&[class.as_str()], [vec![description.as_str().into()]]),
        ..issue.finding.whole().unwrap()
    };
    issue.identity = Identity {
        class: class.as_str().into(),
        service: service.as_str().into(),
        ..issue.identity
    };
    issue.finding = Arc::new(finding.into());
    let at = jiff::Timestamp::from_second(odd.seconds).ok().map(Stamp);
    (issue.first_seen, issue.last_seen) = (at.into(), at.into());
    if odd.is_manual {
        let manual = Some(Box::new(EventId {
            instance: 7,
            number: number as u64,
        }));
        issue.rare = RareIssueData {
            manual,
            ..RareIssueData::default()
        }
        .boxed();
    }
    let assessment = Assessment {
        verdict: odd.verdict,
        at,
        who: Some(note.as_str().into()),
        severity: odd.severity.map(Risk::from),
        tags: vec![tag.as_str().into(), name.as_str().into()],
        ..Assessment::default()
    };
    let (target, workspace) = (odd.target.as_str().into(), tag.as_str().into());
    ExportRow::new(
        Arc::new(issue),
        assessment,
        &TriageState::default(),
        target,
        None,
        workspace,
    )
}
