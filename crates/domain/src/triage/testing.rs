//! Replicas for tests: each person writes events with an own writer, based on an own state.

use crate::triage::ReadTimes;
use std::sync::Arc;

use serde_json::json;

use super::correlate::{Correlated, CorrelationInput, correlate};
use super::event::{Change, Decision, Event, EventId, EventWriter, Identity, Sighting, Subject};
use super::issue::{Assessment, Issue};
use super::state::TriageState;
use crate::finding::{FindingKey, Verdict};
use crate::table::Table;
use scandeck_wire::contract::{
    Evidence, Finding, FindingId, Scan, ScanId, ScanStatus, Shared, Stamp, Target, TargetId,
};

/// The writer and the state of one dashboard.
#[derive(Clone)]
pub struct Replica {
    pub writer: EventWriter,
    pub state: TriageState,
}

impl Replica {
    pub fn new(who: &str, instance: u64) -> Self {
        let writer = EventWriter {
            who: who.into(),
            instance,
            number: 0,
            workspace: "acme".into(),
        };
        Self {
            writer,
            state: TriageState::default(),
        }
    }

    /// One key press that makes one change, at minute `clock` of a certain day.
    pub fn does(&mut self, subject: Subject, change: Change) -> Arc<Event> {
        let replaces = matches!(change, Change::Decide(_));
        let after = match &subject {
            Subject::Finding(identity) if replaces => self.state.heads(identity.key),
            _ => Vec::new(),
        };
        let (clock, batch) = (self.state.clock() + 1, self.writer.next());
        let at = Stamp::parse("2026-11-21 12:00:00").unwrap();
        let at = Stamp(at.0 + jiff::SignedDuration::from_mins(clock as i64));
        let event = Arc::new(
            self.writer
                .write((at, clock), batch, after, subject, change),
        );
        self.state.apply(&event);
        event
    }

    pub fn decides(&mut self, key: u128, verdict: Verdict) -> Arc<Event> {
        self.does(
            finding(key),
            Change::Decide(Decision {
                verdict,
                ..Decision::default()
            }),
        )
    }

    pub fn undoes(&mut self, batch: EventId) -> Arc<Event> {
        self.does(Subject::Batch(batch), Change::Undo)
    }

    pub fn redoes(&mut self, batch: EventId) -> Arc<Event> {
        self.does(Subject::Batch(batch), Change::Redo)
    }

    /// Applies events of other replicas.
    pub fn receives<'a>(&mut self, events: impl IntoIterator<Item = &'a Arc<Event>>) {
        for event in events {
            self.state.apply(event);
        }
    }

    /// The current verdicts of a finding.
    pub fn verdicts(&self, key: u128) -> Vec<Verdict> {
        self.state
            .finding_state(FindingKey(key))
            .map(|finding_state| finding_state.verdicts())
            .unwrap_or_default()
    }
}

/// A finding that has only a key.
pub fn finding(key: u128) -> Subject {
    Subject::Finding(Identity {
        key: FindingKey(key),
        ..Identity::default()
    })
}

/// Scans of two targets with their findings, for tests of rows.
pub struct TriageFixture {
    pub scans: Vec<Scan>,
    pub findings: Vec<Finding>,
    pub targets: Vec<Target>,
    pub ann: Replica,
    pub today: &'static str,
}

impl Default for TriageFixture {
    fn default() -> Self {
        Self::new()
    }
}

impl TriageFixture {
    pub fn new() -> Self {
        let target = |id: i64, name: &str| Target {
            id: TargetId(id),
            name: name.into(),
            ..Target::default()
        };
        let targets = vec![target(1, "shop.test"), target(2, "mail.test")];
        Self {
            scans: vec![],
            findings: vec![],
            targets,
            ann: Replica::new("ann", 1),
            today: "2026-11-21",
        }
    }

    /// A finished website scan of the first target; number n starts at n o'clock. The caller may
    /// change it.
    pub fn scan(&mut self, number: i64) -> &mut Scan {
        let stamp = |minute: u8| Stamp::parse(&format!("2026-11-21 {number:02}:{minute:02}:00"));
        self.scans.push(Scan {
            id: ScanId(number),
            tool_id: 170,
            target_id: TargetId(1),
            status_name: ScanStatus::Finished,
            start_time: stamp(0),
            end_time: stamp(30),
            num_tests: 40,
            num_finished_tests: 40,
            tool_params: Some(json!({"scan_type": "light"})),
            ..Scan::default()
        });
        self.scans.last_mut().unwrap()
    }

    /// A finding on port 443 of the target of a scan: its kind and an optional cookie.
    pub fn found(&mut self, scan: i64, kind: &str, cookie: &str) -> &mut Finding {
        let cells = [vec!["https://shop.test/".to_owned(), cookie.to_owned()]];
        let before = self
            .findings
            .last()
            .map_or(-1, |finding| finding.id.0 % 100);
        let id = FindingId(scan * 100 + before + 1);
        let target_id = self
            .scans
            .iter()
            .find(|one| one.id == ScanId(scan))
            .map(|scan| scan.target_id);
        self.findings.push(Finding {
            id,
            task_id: Some(ScanId(scan)),
            target_id,
            vuln_id: kind.into(),
            name: format!("About {kind}").into(),
            port: 443,
            protocol: "tcp".into(),
            status: "open".into(),
            vuln_evidence: Evidence::table(&["Seen at", "Cookie"], cells),
            ..Finding::default()
        });
        self.findings.last_mut().unwrap()
    }

    pub fn input(&self) -> CorrelationInput {
        CorrelationInput {
            findings: Arc::new(Table::new(self.findings.clone())),
            scans: Arc::new(Table::new(self.scans.clone())),
            targets: Arc::new(Table::new(self.targets.clone())),
            state: self.ann.state.clone(),
            workspace: "acme".into(),
            alias: Shared::default(),
            today: self.today.parse().unwrap(),
            read: ReadTimes {
                all: Stamp::parse("2026-11-21 23:00:00"),
                ..ReadTimes::default()
            },
            now: Stamp::parse("2026-11-21 23:00:00").unwrap().as_second(),
            unread: Arc::default(),
            searched: Vec::new(),
            earlier: None,
        }
    }

    pub fn rows(&self) -> Correlated {
        correlate(&self.input())
    }

    /// The row that shows this finding.
    pub fn row(&self, finding: &Finding) -> (Arc<Issue>, Assessment) {
        let rows = self.rows();
        let at = rows
            .issues
            .items()
            .iter()
            .position(|issue| issue.finding.id == finding.id);
        let at = at.unwrap_or_else(|| panic!("no row shows {}", finding.id));
        (
            Arc::clone(&rows.issues.items()[at]),
            (*rows.assessments[at]).clone(),
        )
    }

    /// The row of the last finding.
    pub fn last(&self) -> (Arc<Issue>, Assessment) {
        self.row(self.findings.last().unwrap())
    }

    /// Ann decides the last finding, as it is shown then, at this hour.
    pub fn decide_at(&mut self, hour: i64, decision: Decision) -> Arc<Event> {
        let (issue, _) = self.last();
        let seen = Sighting {
            finding: issue.finding.id,
            scan: issue.task_id(),
            started: issue.last_seen.get(),
            risk: issue.risk_level,
            exploited: issue.in_cisa_catalog,
            epss: issue.epss_score(),
        };
        let key = issue.key();
        let change = Change::Decide(Decision {
            seen: Some(seen),
            ..decision
        });
        let (after, clock, batch) = (
            self.ann.state.heads(key),
            self.ann.state.clock() + 1,
            self.ann.writer.next(),
        );
        let at = Stamp::parse(&format!("2026-11-21 {hour:02}:00:00")).unwrap();
        let subject = Subject::Finding(issue.identity.clone());
        let event = Arc::new(
            self.ann
                .writer
                .write((at, clock), batch, after, subject, change),
        );
        self.ann.state.apply(&event);
        event
    }

    pub fn decide(&mut self, verdict: Verdict) -> Arc<Event> {
        self.decide_at(
            0,
            Decision {
                verdict,
                ..Decision::default()
            },
        )
    }
}
