//! The order and the contents of the blocks of a report.

use super::super::Document;
use super::super::tests::data;
use super::*;
use crate::options::{ChapterKind, EvidenceDetail};
use crate::{ReportData, ReportOptions};
use scandeck_wire::contract::{Evidence, Risk};

/// Headings and header rows of a report, in order.
fn outline(data: &ReportData, in_full: usize) -> Vec<String> {
    let document = Document::new(data).unwrap();
    let mut all = Vec::new();
    let mut note = |block: Block<'_>| -> Result<(), RenderError> {
        match block {
            Block::Heading { heading, .. } => {
                let text = format!("{} {}", heading.number, heading.text);
                all.push(format!(
                    "{}{}",
                    "#".repeat(heading.level.into()),
                    text.trim()
                ));
            }
            Block::Table(table) => {
                all.push(format!("{}: {}", table.headers.join("|"), table.rows.len()));
            }
            _ => {}
        }
        Ok(())
    };
    let limits = FlowLimits {
        in_full,
        proof: ProofLimit::ALL,
    };
    walk(&View::new(&document).unwrap(), limits, &mut note).unwrap();
    all
}

#[test]
fn report_has_the_order_of_a_customer() {
    let mut input = data(ChapterKind::Class);
    input.options = ReportOptions {
        history: true,
        ..ReportOptions::default()
    };
    input.template.methodology = "Tested.".into();
    let all = outline(&input, 100);
    let expected = [
        "#Contents",
        "#Executive summary",
        "#Scope",
        "Target|Tested by|Findings: 3",
        "##Not assessed",
        "Target|Cause: 1",
        "#Methodology",
        "#1 =cmd|'/C calc'!A0<script>x</script>",
        "Request|Answer: 1",
        "#2 Server names its version",
        "No.|Target|Found: 2",
        "##2.1 api.test",
        "Request|Answer: 1",
        "##2.2 shop.test",
        "#Appendix: identifiers",
    ];
    assert_eq!(all[..expected.len()], expected, "{all:#?}");
    let last = ["#Appendix: tests", "#Appendix: history"];
    for heading in last {
        assert!(all.iter().any(|one| one == heading), "{all:#?}");
    }
}

#[test]
fn detail_that_is_in_the_heading_has_no_column() {
    let mut input = data(ChapterKind::Class);
    for found in &mut input.findings {
        found.finding.name = "Cookie without HttpOnly: session".into();
        found.finding.vuln_id = "cookie".into();
        found.finding.risk_level = Risk::Low;
    }
    let places = |input: &ReportData| {
        let all = outline(input, 100);
        all.into_iter().find(|line| line.starts_with("No.|Target"))
    };
    assert_eq!(places(&input).unwrap(), "No.|Target|Found: 3");
    input.findings[0].finding.name = "Cookie without HttpOnly: cart".into();
    assert_eq!(places(&input).unwrap(), "No.|Target|Detail|Found: 3");
}

#[test]
fn finding_names_its_latest_earlier_findings_and_counts_the_others() {
    let mut input = data(ChapterKind::Class);
    input.options.history = true;
    let earlier = input.findings[0].history[0].clone();
    input.findings[0].history = vec![earlier; 9];
    let document = Document::new(&input).unwrap();
    let mut remarks = Vec::new();
    let limits = FlowLimits {
        in_full: 100,
        proof: ProofLimit::ALL,
    };
    walk(&View::new(&document).unwrap(), limits, &mut |block| {
        if let Block::Remark(text) = block {
            remarks.push(text.to_owned());
        }
        Ok(())
    })
    .unwrap();
    let named = remarks.iter().filter(|text| text.ends_with("5 more times"));
    assert_eq!(named.count(), 1, "{remarks:#?}");
}

#[test]
fn ids_of_incomplete_tests_are_in_the_appendix_only() {
    let mut input = data(ChapterKind::Class);
    let finding = &mut input.findings[0].finding;
    finding.name = "Scan blocked by the site".into();
    finding.vuln_id = "coverage.blocked".into();
    let row = ["HTTP 403", "361 of 361", "web.cors, web.exposed.git"].map(str::to_owned);
    finding.vuln_evidence = Evidence::table(&["Cause", "Requests", "Tests"], [Vec::from(row)]);
    let all = outline(&input, 100);
    let place = |line: &str| all.iter().position(|one| one == line);
    let appendix = place("#Appendix: identifiers").unwrap();
    assert!(place("Cause|Requests: 1").unwrap() < appendix, "{all:#?}");
    let tests = place("##Incomplete tests").unwrap();
    assert!(tests > appendix, "{all:#?}");
    assert_eq!(all[tests + 1], "No.|Cause|Tests: 1");
    input.options.appendix = false;
    let all = outline(&input, 100);
    let ids = all.iter().filter(|line| line.contains("Cause|Tests"));
    assert_eq!(ids.count(), 0, "{all:#?}");
}

#[test]
fn history_without_earlier_findings_says_so() {
    let mut input = data(ChapterKind::Class);
    input.options.history = true;
    let count = |input: &ReportData| {
        let document = Document::new(input).unwrap();
        let mut remarks = Vec::new();
        let limits = FlowLimits {
            in_full: 100,
            proof: ProofLimit::ALL,
        };
        walk(&View::new(&document).unwrap(), limits, &mut |block| {
            if let Block::Remark(text) = block {
                remarks.push(text.to_owned());
            }
            Ok(())
        })
        .unwrap();
        let is_history = |text: &&String| text.ends_with("for the first time.");
        remarks.iter().filter(is_history).count()
    };
    assert_eq!(count(&input), 0);
    for found in &mut input.findings {
        found.history.clear();
    }
    assert_eq!(count(&input), 1);
}

#[test]
fn port_that_is_in_the_place_is_no_detail() {
    let mut input = data(ChapterKind::Class);
    for (at, found) in input.findings.iter_mut().enumerate() {
        found.finding.port = 8080 + at as i64;
        found.finding.protocol = "tcp".into();
        found.finding.service = "http".into();
        found.finding.name = format!("Open port: {}/tcp http", found.finding.port).into();
        found.finding.vuln_id = "port".into();
        found.finding.risk_level = Risk::Info;
    }
    let all = outline(&input, 100);
    assert!(all.contains(&"No.|Target|Found: 3".to_owned()), "{all:#?}");
    assert!(
        all.contains(&"##1.3 api.test 8082/tcp http".to_owned()),
        "{all:#?}"
    );
    for found in &mut input.findings {
        let version = found.finding.port;
        found.finding.name = format!("{} nginx {version}", found.finding.name).into();
    }
    let all = outline(&input, 100);
    let places = "No.|Target|Detail|Found: 3".to_owned();
    assert!(all.contains(&places), "{all:#?}");
}

#[test]
fn findings_of_one_target_have_their_locations() {
    let mut input = data(ChapterKind::Class);
    for (at, found) in input.findings.iter_mut().enumerate() {
        found.target = format!("host-{at}.test");
        found.finding.name = "Directory listing".into();
        found.finding.vuln_id = "listing".into();
        found.finding.risk_level = Risk::Low;
        let url = format!("https://host.test/{at}/");
        found.finding.vuln_evidence = Evidence::table(&["URL"], [vec![url]]);
    }
    let places = |input: &ReportData| {
        let all = outline(input, 100);
        all.into_iter().find(|line| line.starts_with("No.|Target"))
    };
    assert_eq!(places(&input).unwrap(), "No.|Target|Found: 3");
    input.findings[1].target = input.findings[0].target.clone();
    assert_eq!(places(&input).unwrap(), "No.|Target|Location|Found: 3");
}

#[test]
fn evidence_of_places_follows_the_option() {
    let mut input = data(ChapterKind::Class);
    let proofs = |input: &ReportData| {
        let all = outline(input, 100);
        all.iter()
            .filter(|line| line.starts_with("Request"))
            .count()
    };
    for (evidence, expected) in [
        (EvidenceDetail::None, 0),
        (EvidenceDetail::First, 2),
        (EvidenceDetail::All, 3),
    ] {
        input.options.evidence = evidence;
        assert_eq!(proofs(&input), expected, "{evidence:?}");
    }
}

#[test]
fn findings_beyond_the_limit_are_table_rows() {
    let all = outline(&data(ChapterKind::Target), 1);
    let sections = all.iter().filter(|line| line.starts_with("##"));
    let sections = sections.filter(|line| line.contains('.') && line.contains("1.1"));
    assert_eq!(sections.count(), 1, "{all:#?}");
    let rows: Vec<&String> = all
        .iter()
        .filter(|line| line.starts_with("No.|Risk"))
        .collect();
    assert_eq!(
        rows,
        ["No.|Risk|Finding|Place: 1", "No.|Risk|Finding|Place: 1"]
    );
}
