//! Tests of queries over findings and scans.

use proptest::prelude::*;
use serde_json::json;

use crate::query::source::column_of;
use crate::query::*;
use crate::table::{IntoRow, NoOtherLists, OtherLists, Rows};
use crate::triage::{
    AssessedFinding, Assessment, Issue, IssueId, Presence, Reason, ReopenCause, Verdict,
};
use scandeck_wire::contract::verdict::ProposedVerdict;
use scandeck_wire::contract::{
    Finding, FindingId, Risk, Scan, ScanId, ScanStatus, Shared, Stamp, TargetId,
};

struct OneTarget {
    name: Shared,
    scan: Scan,
}

impl OtherLists for OneTarget {
    fn target_name(&self, target: TargetId) -> Option<&Shared> {
        (target == TargetId(1)).then_some(&self.name)
    }
    fn scan(&self, scan: ScanId) -> Option<&Scan> {
        (scan == self.scan.id).then_some(&self.scan)
    }
}

fn stamp(text: &str) -> Option<Stamp> {
    Stamp::parse(text)
}

fn issue(name: &str, change: impl FnOnce(&mut Finding)) -> Issue {
    let mut finding = Finding {
        name: name.into(),
        ..Finding::default()
    };
    change(&mut finding);
    Issue {
        id: IssueId(finding.id.0),
        finding: finding.into_row(),
        ..Issue::default()
    }
}

/// Three findings: a leaked key, decided and expired; an old TLS version, decided; and an odd one.
fn findings() -> Vec<(Issue, Assessment)> {
    let key = Issue {
        presence: Presence::New,
        first_seen: stamp("2026-11-20 12:00:00").into(),
        last_seen: stamp("2026-11-20 12:00:00").into(),
        ..issue("Private key", |finding| {
            finding.id = FindingId(11);
            finding.risk_level = Risk::Critical;
            finding.target_id = Some(TargetId(1));
            finding.task_id = Some(ScanId(7));
            finding.cve = vec!["CVE-2024-1".into(), "CVE-2023-9".into()];
            finding.cwe = "538, CWE-200".into();
            finding.port = 443;
            finding.confirmed = true;
            finding.epss_score = Some(0.7);
        })
    };
    let tls = Issue {
        severity: Some(Risk::Low),
        first_seen: stamp("2026-10-01 00:00:00").into(),
        last_seen: stamp("2026-11-20 12:00:00").into(),
        ..issue("TLS 1.0 offered", |finding| {
            finding.risk_level = Risk::Medium;
            finding.port = 8443;
            finding.cwe = "CWE-326".into();
            finding.in_cisa_catalog = true;
            let proposed = ProposedVerdict::new(Verdict::FalsePositive, "");
            finding.proposed = Some(Box::new(proposed));
        })
    };
    let odd = issue("Ünusual (odd)", |finding| finding.service = "HTTP".into());
    let expired = Assessment {
        verdict: Verdict::RiskAccepted,
        reopened: Some(ReopenCause::Expired),
        assignee: Some("anna".into()),
        due: "2026-11-01".parse().ok(),
        is_overdue: true,
        ..Assessment::default()
    };
    let decided = Assessment {
        verdict: Verdict::FalsePositive,
        reason: Some(Reason::WrongProduct),
        assignee: Some("Bob".into()),
        due: "2026-12-10".parse().ok(),
        at: stamp("2026-11-21 11:00:00"),
        until: Some(jiff::civil::date(2026, 11, 30)),
        tags: vec!["client-a".into(), "x".into()],
        ..Assessment::default()
    };
    vec![(key, expired), (tls, decided), (odd, Assessment::default())]
}

/// First letters of the names of what a query takes, at noon of 21 November 2026.
fn matching(text: &str) -> String {
    let all = findings();
    let rows: Vec<AssessedFinding> = all
        .iter()
        .map(|(issue, assessment)| AssessedFinding { issue, assessment })
        .collect();
    let fixture = OneTarget {
        name: "https://shop.acme.test/".into(),
        scan: Scan {
            id: ScanId(7),
            tool_id: 10_008,
            tool_params: Some(json!({"import": {"tool": "CodeQL"}})),
            ..Scan::default()
        },
    };
    let now = stamp("2026-11-21 12:00:00").unwrap().as_second();
    let source = Rows {
        rows: &rows,
        others: &fixture,
        now,
    };
    let query = Query::parse(text, QueryKind::Findings).unwrap();
    query
        .matches(&source)
        .rows()
        .filter_map(|row| all[row].0.name.chars().next())
        .collect()
}

#[test]
fn value_kinds_compare_as_documented() {
    for (text, expected) in [
        ("", "PTÜ"),
        ("risk>=high", "P"),
        ("risk:medium,info", "Ü"),
        ("risk:low", "T"),
        ("severity:low", "T"),
        ("scanned_risk:medium", "T"),
        ("verdict:risk_accepted,false_positive", "PT"),
        ("is:undecided", "PÜ"),
        ("is:expired", "P"),
        ("is:new", "P"),
        ("is:kev,new", "PT"),
        ("is:kev is:new", ""),
        ("is:proposed", "T"),
        ("reason:wrong_*", "T"),
        ("reason:\"\"", "PÜ"),
        ("target:acme", "P"),
        ("target:shop*", "P"),
        ("target:https*", "P"),
        ("target=shop.acme.test", "P"),
        ("target=shop", ""),
        ("target:*", "P"),
        ("tool:10008", "P"),
        ("tool:sarif", "P"),
        ("tool:code*", "P"),
        ("cve:CVE-2024-*", "P"),
        ("cve:\"\"", "TÜ"),
        ("-cve:*", "TÜ"),
        ("cwe:538", "P"),
        ("cwe:cwe-200,326", "PT"),
        ("port:80,443", "P"),
        ("port:*", "PT"),
        ("port>443", "T"),
        ("epss>0.5", "P"),
        ("epss!=0.7", "TÜ"),
        ("scanner:proven", "P"),
        ("service:http", "Ü"),
        ("tag:client-*", "T"),
        ("tag=x", "T"),
        ("assignee:anna", "P"),
        ("assignee:bob", "T"),
        ("assignee:none", "Ü"),
        ("-assignee:none", "PT"),
        ("due<2026-12-10", "P"),
        ("due<=2026-12-10", "PT"),
        ("due:none", "Ü"),
        ("is:overdue", "P"),
        ("name:~\"^tls\"", "T"),
        ("-name:~\"^TLS\"", "PÜ"),
        ("name:ünusual", "Ü"),
        ("\"(odd)\"", "Ü"),
        ("offered medium", "T"),
        ("text:key,ÜNUSUAL", "PÜ"),
        ("id:11", "P"),
        ("scan:7", "P"),
        ("(risk:critical or tag:x) port>=443", "PT"),
        ("not (risk:critical or tag:x)", "Ü"),
    ] {
        assert_eq!(matching(text), expected, "{text}");
    }
}

#[test]
fn times_compare_with_ages_days_and_timestamps() {
    for (text, expected) in [
        ("age<1d", ""),
        ("age<=1d", "P"),
        ("age>1w", "T"),
        ("changed<2h", "T"),
        ("first:2026-10-01", "T"),
        ("first>2026-10-01", "P"),
        ("first>=2026-10-01", "PT"),
        ("first<2026-10-01", ""),
        ("first<=2026-10-01", "T"),
        ("seen>\"2026-11-20 11:59:59\"", "PT"),
        ("until<10d", "T"),
        ("until<9d", ""),
        ("until:2026-11-30", "T"),
        ("decided:*", "T"),
    ] {
        assert_eq!(matching(text), expected, "{text}");
    }
}

#[test]
fn other_lists_support_queries() {
    let scans = [
        Scan {
            tool_id: 70,
            status_name: ScanStatus::Running,
            progress: 40,
            ..Scan::default()
        },
        Scan {
            tool_id: 170,
            status_name: ScanStatus::TimedOut,
            duration: 700,
            ..Scan::default()
        },
    ];
    let matching = |text: &str| {
        let source = Rows {
            rows: &scans,
            others: &NoOtherLists,
            now: 0,
        };
        Query::parse(text, QueryKind::Scans)
            .unwrap()
            .matches(&source)
            .rows()
            .collect::<Vec<_>>()
    };
    assert_eq!(matching("is:active progress>=40"), [0]);
    assert_eq!(matching("status:\"timed out\" duration>10m is:failed"), [1]);
    assert_eq!(matching("port"), [0]);
}

#[test]
fn field_columns_match_their_kind() {
    for spec in FIELDS
        .iter()
        .filter(|spec| spec.lists.contains(&QueryKind::Findings))
    {
        let all = findings();
        let rows: Vec<AssessedFinding> = all
            .iter()
            .map(|(issue, assessment)| AssessedFinding { issue, assessment })
            .collect();
        let builder = column_of(
            spec.field,
            &Rows {
                rows: &rows,
                others: &NoOtherLists,
                now: 0,
            },
        );
        assert_eq!(builder.column().cells.rows(), all.len(), "{}", spec.name);
    }
}

proptest! {
    /// A query and its opposite share the rows between them, whatever it asks.
    #[test]
    fn query_and_negation_partition_rows(
        clause in prop_oneof![
            Just("risk>=high"), Just("tag:x"), Just("cve:*"), Just("epss<1"), Just("age<2d"), Just("is:new"), Just("key"),
        ],
        other in prop_oneof![Just("port:443"), Just("verdict:f*"), Just("until:\"\""), Just("name:~o")],
        either in any::<bool>(),
    ) {
        let both = format!("{clause} {} {other}", if either { "or" } else { "and" });
        let (with, without) = (matching(&both), matching(&format!("-({both})")));
        prop_assert_eq!(with.chars().count() + without.chars().count(), 3);
        prop_assert!(with.chars().all(|name| !without.contains(name)));
    }
}
