//! Rows that follow earlier rows equal rows that are made of everything, for random histories of
//! findings, scans, decisions, rules and targets.

use crate::triage::ReadTimes;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::correlate::{Correlated, CorrelationInput, correlate};
use super::event::{Baseline, Change, Decision, EventId, Identity, ManualFinding, Subject};
use super::explain::lines;
use super::listed::ListedFinding;
use super::testing::Replica;
use crate::finding::Verdict;
use crate::query::FIELDS;
use crate::table::{Item, Table};
use scandeck_wire::contract::{
    Evidence, Finding, FindingId, Risk, Scan, ScanId, ScanStatus, Shared, Stamp, Target, TargetId,
};

/// A step of a history; numbers choose objects and values.
#[derive(Clone, Debug)]
enum Step {
    BeginScan {
        target: u8,
        tool: u8,
    },
    EndScan {
        scan: u8,
        status: u8,
    },
    RemoveScan {
        scan: u8,
    },
    Find {
        scan: u8,
        kind: u8,
        cookie: u8,
    },
    FindWithoutTarget {
        kind: u8,
    },
    ChangeFinding {
        finding: u8,
        risk: u8,
    },
    RemoveFinding {
        finding: u8,
    },
    Decide {
        row: u8,
        verdict: u8,
    },
    Inherit {
        row: u8,
        other: u8,
    },
    Note {
        row: u8,
    },
    Severity {
        row: u8,
        risk: u8,
    },
    Undo {
        batch: u8,
    },
    Rule {
        field: u8,
    },
    Manual {
        target: u8,
    },
    Baseline {
        scan: u8,
    },
    RenameTarget {
        target: u8,
    },
    NextDay,
    /// The findings of a scan are not read any more, or again.
    Unread {
        scan: u8,
    },
    Read,
    /// The findings of one scan are read.
    ReadScan {
        scan: u8,
    },
    Correlate,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..2u8, 0..2u8).prop_map(|(target, tool)| Step::BeginScan { target, tool }),
        3 => (any::<u8>(), 0..8u8).prop_map(|(scan, status)| Step::EndScan { scan, status }),
        1 => any::<u8>().prop_map(|scan| Step::RemoveScan { scan }),
        12 => (any::<u8>(), 0..4u8, 0..3u8).prop_map(|(scan, kind, cookie)| Step::Find { scan, kind, cookie }),
        1 => (0..2u8).prop_map(|kind| Step::FindWithoutTarget { kind }),
        4 => (any::<u8>(), 0..5u8).prop_map(|(finding, risk)| Step::ChangeFinding { finding, risk }),
        2 => any::<u8>().prop_map(|finding| Step::RemoveFinding { finding }),
        4 => (any::<u8>(), 0..4u8).prop_map(|(row, verdict)| Step::Decide { row, verdict }),
        1 => (any::<u8>(), any::<u8>()).prop_map(|(row, other)| Step::Inherit { row, other }),
        1 => any::<u8>().prop_map(|row| Step::Note { row }),
        2 => (any::<u8>(), 0..6u8).prop_map(|(row, risk)| Step::Severity { row, risk }),
        2 => any::<u8>().prop_map(|batch| Step::Undo { batch }),
        1 => (0..3u8).prop_map(|field| Step::Rule { field }),
        1 => (0..2u8).prop_map(|target| Step::Manual { target }),
        1 => any::<u8>().prop_map(|scan| Step::Baseline { scan }),
        1 => (0..2u8).prop_map(|target| Step::RenameTarget { target }),
        1 => Just(Step::NextDay),
        1 => any::<u8>().prop_map(|scan| Step::Unread { scan }),
        2 => Just(Step::Read),
        2 => any::<u8>().prop_map(|scan| Step::ReadScan { scan }),
        12 => Just(Step::Correlate),
    ];
    proptest::collection::vec(step, 1..60)
}

type Tables = (
    Arc<Table<ListedFinding>>,
    Arc<Table<Scan>>,
    Arc<Table<Target>>,
);

/// The service and the decisions, with tables as the dashboard has them.
struct History {
    minute: i64,
    today: i8,
    read: ReadTimes,
    unread: BTreeSet<ScanId>,
    scans: Vec<Scan>,
    findings: Vec<Arc<ListedFinding>>,
    targets: Vec<Target>,
    tables: Tables,
    ann: Replica,
    batches: Vec<EventId>,
    last: Correlated,
    is_first: bool,
}

impl History {
    fn new() -> Self {
        let target = |id: i64, name: &str| Target {
            id: TargetId(id),
            name: name.into(),
            ..Target::default()
        };
        Self {
            minute: 0,
            today: 21,
            read: ReadTimes::default(),
            unread: BTreeSet::new(),
            scans: Vec::new(),
            findings: Vec::new(),
            targets: vec![target(1, "shop.test"), target(2, "mail.test")],
            tables: Default::default(),
            ann: Replica::new("ann", 1),
            batches: Vec::new(),
            last: Correlated::default(),
            is_first: true,
        }
    }

    fn now(&mut self) -> Option<Stamp> {
        self.minute += 1;
        Stamp::parse(&format!(
            "2026-11-21 {:02}:{:02}:00",
            self.minute / 60,
            self.minute % 60
        ))
    }

    fn does(&mut self, subject: Subject, change: Change) {
        let event = self.ann.does(subject, change);
        self.batches.push(event.batch);
    }

    fn identity(&self, row: u8) -> Option<Identity> {
        let rows = self.last.issues.items();
        (!rows.is_empty()).then(|| rows[row as usize % rows.len()].identity.clone())
    }

    fn take(&mut self, step: Step) {
        let at = |number: u8, len: usize| (len > 0).then(|| number as usize % len);
        match step {
            Step::BeginScan { target, tool } => {
                let (id, start_time) = (ScanId(self.scans.len() as i64 + 1), self.now());
                self.scans.push(Scan {
                    id,
                    tool_id: 170 + i64::from(tool),
                    target_id: TargetId(i64::from(target) + 1),
                    status_name: ScanStatus::Running,
                    start_time,
                    num_finished_tests: 4,
                    tool_params: Some(json!({"scan_type": "light"})),
                    ..Scan::default()
                });
            }
            Step::EndScan { scan, status } => {
                let (at, end_time) = (at(scan, self.scans.len()), self.now());
                let Some(scan) = at.map(|at| &mut self.scans[at]) else {
                    return;
                };
                scan.end_time = end_time;
                scan.status_name = if status == 0 {
                    ScanStatus::Stopped
                } else {
                    ScanStatus::Finished
                };
                scan.num_finished_tests = if status == 1 { 3 } else { 4 };
            }
            Step::RemoveScan { scan } => {
                // Its id is not given again.
                if let Some(at) = at(scan, self.scans.len()) {
                    self.scans[at].target_id = TargetId(9);
                }
            }
            Step::Find { scan, kind, cookie } => {
                let Some(at) = at(scan, self.scans.len()) else {
                    return;
                };
                let (task_id, target_id) =
                    (Some(self.scans[at].id), Some(self.scans[at].target_id));
                self.find(kind, cookie, task_id, target_id);
            }
            Step::FindWithoutTarget { kind } => self.find(kind, 0, None, None),
            Step::ChangeFinding { finding, risk } => {
                let Some(at) = at(finding, self.findings.len()) else {
                    return;
                };
                let changed = Finding {
                    risk_level: Risk::from(i64::from(risk)),
                    ..self.findings[at].whole().unwrap()
                };
                self.findings[at] = Arc::new(changed.into());
            }
            Step::RemoveFinding { finding } => {
                if let Some(at) = at(finding, self.findings.len()) {
                    self.findings.remove(at);
                }
            }
            Step::Decide { row, verdict } => {
                let Some(identity) = self.identity(row) else {
                    return;
                };
                let verdict = [
                    Verdict::Confirmed,
                    Verdict::FalsePositive,
                    Verdict::Fixed,
                    Verdict::Open,
                ][verdict as usize % 4];
                let seen = self
                    .last
                    .issues
                    .get(identity.key.into())
                    .map(|issue| issue.sighting());
                let until =
                    (verdict == Verdict::FalsePositive).then(|| "2026-11-22".parse().unwrap());
                let decision = Decision {
                    verdict,
                    seen,
                    until,
                    ..Decision::default()
                };
                self.does(Subject::Finding(identity), Change::Decide(decision));
            }
            Step::Inherit { row, other } => {
                let (Some(identity), Some(other)) = (self.identity(row), self.identity(other))
                else {
                    return;
                };
                self.does(Subject::Finding(identity), Change::Inherit(other.key));
            }
            Step::Note { row } => {
                let Some(identity) = self.identity(row) else {
                    return;
                };
                self.does(Subject::Finding(identity), Change::Note("seen".into()));
            }
            Step::Severity { row, risk } => {
                let Some(identity) = self.identity(row) else {
                    return;
                };
                let risk = (risk < 5).then(|| Risk::from(i64::from(risk)));
                self.does(Subject::Finding(identity), Change::Severity(risk));
            }
            Step::Undo { batch } => {
                if let Some(at) = at(batch, self.batches.len()) {
                    let batch = self.batches[at];
                    self.ann.undoes(batch);
                }
            }
            Step::Rule { field } => {
                let query = ["port:443", "risk:high", "-is:new is:undecided"][field as usize % 3];
                let decision = Decision {
                    verdict: Verdict::RiskAccepted,
                    ..Decision::default()
                };
                let id = self.ann.writer.next();
                self.does(
                    Subject::Rule(id),
                    Change::Rule {
                        query: query.into(),
                        decision,
                    },
                );
            }
            Step::Manual { target } => {
                let target = self.targets[target as usize % 2].name.clone();
                let manual = ManualFinding {
                    name: "Weak password".into(),
                    target,
                    ..ManualFinding::default()
                };
                let id = self.ann.writer.next();
                self.does(Subject::Manual(id), Change::Manual(Box::new(manual)));
            }
            Step::Baseline { scan } => {
                let scan = at(scan, self.scans.len()).map(|at| self.scans[at].id);
                self.does(
                    Subject::Workspace,
                    Change::Baseline(scan.map(|scan| Baseline::Scans(vec![scan]))),
                );
            }
            Step::RenameTarget { target } => {
                let target = &mut self.targets[target as usize % 2];
                target.name = format!("new.{}", target.name).into();
            }
            Step::Unread { scan } => {
                let Some(id) = at(scan, self.scans.len()).map(|at| self.scans[at].id) else {
                    return;
                };
                if !self.unread.remove(&id) {
                    self.unread.insert(id);
                }
            }
            Step::NextDay => self.today = (self.today + 1).min(28),
            Step::Read => {
                self.read = ReadTimes {
                    all: self.now(),
                    ..ReadTimes::default()
                }
            }
            Step::ReadScan { scan } => {
                let Some(id) = at(scan, self.scans.len()).map(|at| self.scans[at].id) else {
                    return;
                };
                let now = self.now().map(|now| (id, now));
                Arc::make_mut(&mut self.read.scans).extend(now);
            }
            Step::Correlate => self.correlate(),
        }
    }

    fn find(&mut self, kind: u8, cookie: u8, task_id: Option<ScanId>, target_id: Option<TargetId>) {
        let id = FindingId(self.findings.last().map_or(1, |last| last.id.0 + 1));
        let kinds = ["tls10", "cookie", "xss", "coverage.blocked"];
        let cells = [vec![
            "https://shop.test/".to_owned(),
            ["", "sid", "lang"][cookie as usize].to_owned(),
        ]];
        let finding = Finding {
            id,
            task_id,
            target_id,
            vuln_id: kinds[kind as usize].into(),
            name: format!("About {} {cookie}", kinds[kind as usize]).into(),
            risk_level: Risk::from(i64::from(cookie)),
            port: 443,
            protocol: "tcp".into(),
            status: "open".into(),
            cve: if cookie == 1 {
                vec!["CVE-1".into(), "CVE-2".into()]
            } else {
                Vec::new()
            },
            vuln_evidence: Evidence::table(&["Seen at", "Cookie"], cells),
            ..Finding::default()
        };
        self.findings.push(Arc::new(finding.into()));
    }

    /// Makes the rows of everything and those that follow the last ones, and compares them.
    fn correlate(&mut self) {
        let (findings, scans, targets) = &mut self.tables;
        if *findings.items() != self.findings {
            let following = Table::following(findings, self.findings.clone(), &[]);
            assert_same(&following, &Table::new(self.findings.clone()));
            *findings = following;
        }
        let are_same = |scan: (&Arc<Scan>, &Scan)| **scan.0 == *scan.1;
        if scans.len() != self.scans.len() || !scans.items().iter().zip(&self.scans).all(are_same) {
            *scans = Arc::new(Table::new(
                self.scans
                    .iter()
                    .filter(|scan| scan.target_id != TargetId(9))
                    .cloned(),
            ));
        }
        if targets.len() != 2
            || !targets
                .items()
                .iter()
                .zip(&self.targets)
                .all(|(one, other)| one.name == other.name)
        {
            *targets = Arc::new(Table::new(self.targets.clone()));
        }
        let input = CorrelationInput {
            findings: Arc::clone(findings),
            scans: Arc::clone(scans),
            targets: Arc::clone(targets),
            state: self.ann.state.clone(),
            workspace: "acme".into(),
            alias: Shared::default(),
            today: jiff::civil::date(2026, 11, self.today),
            read: self.read.clone(),
            now: 0,
            unread: Arc::new(self.unread.clone()),
            searched: Vec::new(),
            earlier: None,
        };
        let whole = correlate(&input);
        let earlier = (!self.is_first).then(|| Arc::clone(&self.last.earlier));
        let following = correlate(&CorrelationInput { earlier, ..input });
        assert_same(&following.issues, &whole.issues);
        assert_eq!(following.assessments, whole.assessments);
        assert_eq!(following.rules, whole.rules);
        assert_eq!(following.facts, whole.facts);
        for ((_, one), (_, other)) in following.columns.iter().zip(&whole.columns) {
            assert_eq!(one.column().counts(), other.column().counts());
        }
        assert_explained(&following);
        (self.last, self.is_first) = (following, false);
    }
}

/// Every issue has a reason that fits its presence, and its explanation starts from the same
/// comparison.
fn assert_explained(rows: &Correlated) {
    for (issue, assessment) in rows.issues.items().iter().zip(rows.assessments.iter()) {
        let result = rows.earlier.presence_of(issue);
        assert_eq!(
            (issue.presence, issue.reason, issue.absent_in()),
            (result.reason.presence(), result.reason, result.absent_in),
            "{issue:?}"
        );
        let state = rows.earlier.state();
        let explanation = rows.earlier.explain(issue, assessment, state, &|finding| {
            finding.texts().map_err(|error| error.to_string())
        });
        assert_eq!(explanation.reason, issue.reason);
        let shown = lines(&explanation, |_| None);
        assert!(
            shown[0].text.contains(issue.reason.reason()),
            "{shown:?} of {issue:?}"
        );
    }
}

fn assert_same<T: Item + PartialEq + Debug>(one: &Table<T>, other: &Table<T>) {
    assert_eq!(one.items(), other.items());
    for at in 0..T::SORTS.len() {
        assert_eq!(
            one.order(at),
            other.order(at),
            "order {}",
            T::SORTS[at].name
        );
    }
    assert_eq!(one.risks(), other.risks());
    for target in [1, 2, 9].map(TargetId) {
        assert_eq!(one.of_target(target), other.of_target(target));
    }
    for item in other.items() {
        assert_eq!(one.position(item.id()), other.position(item.id()));
    }
    for word in ["tls10", "about", "high", "cve-2", "\n"] {
        assert_eq!(
            one.with_text(word, &[]),
            other.with_text(word, &[]),
            "{word}"
        );
    }
    for field in FIELDS.iter().map(|spec| spec.field) {
        let (Some(one), Some(other)) = (one.column(field), other.column(field)) else {
            continue;
        };
        assert_eq!(one.counts(), other.counts(), "{field:?}");
    }
    for field in FIELDS.iter().map(|spec| spec.field) {
        for row in 0..other.len() {
            let written = |table: &Table<T>| table.column(field).map(|column| column.written(row));
            assert_eq!(written(one), written(other), "{field:?} of row {row}");
        }
    }
}

proptest! {
    #[test]
    fn rows_that_follow_equal_rows_made_of_everything(steps in steps()) {
        let mut history = History::new();
        steps.into_iter().for_each(|step| history.take(step));
        history.correlate();
    }
}

#[test]
fn unchanged_findings_keep_their_table() {
    let mut history = History::new();
    for step in [
        Step::BeginScan { target: 0, tool: 0 },
        Step::BeginScan { target: 1, tool: 0 },
        Step::Find {
            scan: 0,
            kind: 0,
            cookie: 0,
        },
        Step::Find {
            scan: 1,
            kind: 1,
            cookie: 1,
        },
    ] {
        history.take(step);
    }
    history.correlate();
    let before = Arc::clone(&history.last.issues);
    history.take(Step::Read);
    history.correlate();
    assert!(
        Arc::ptr_eq(&history.last.issues, &before),
        "nothing changed"
    );
    history.take(Step::Find {
        scan: 1,
        kind: 2,
        cookie: 0,
    });
    history.correlate();
    let now = &history.last.issues;
    assert_eq!(now.len(), 3);
    assert!(
        before
            .items()
            .iter()
            .all(|was| Arc::ptr_eq(was, now.get(was.id).unwrap())),
        "equal issues are the same"
    );
}
