//! The part of a workspace that belongs to some of its findings.

use std::sync::Arc;

use super::CaseSelection;
use crate::finding::{FindingKey, Verdict};
use crate::oob::{ArchivedCapture, Hit, Payload, Token};
use crate::triage::testing::{Replica, finding};
use crate::triage::{
    Assessment, Bundle, Change, Event, Identity, Issue, ManualLink, Subject, VerdictSource,
};
use scandeck_wire::contract::{
    Capture, CaptureId, Finding, FindingId, LoggerId, Scan, ScanId, Shared, TargetId,
};

fn issue(key: u128, id: i64) -> Issue {
    let latest = Finding {
        id: FindingId(id),
        ..Finding::default()
    };
    Issue {
        identity: Identity {
            key: FindingKey(key),
            ..Identity::default()
        },
        finding: Arc::new(latest.into()),
        ..Issue::default()
    }
}

fn found(id: i64, by: i64) -> Arc<Finding> {
    Arc::new(Finding {
        id: FindingId(id),
        task_id: Some(ScanId(by)),
        ..Finding::default()
    })
}

fn scan(id: i64, target: i64, tool_id: i64) -> Arc<Scan> {
    Arc::new(Scan {
        id: ScanId(id),
        target_id: TargetId(target),
        tool_id,
        ..Scan::default()
    })
}

fn payload(token: u64, key: u128) -> Arc<Payload> {
    Arc::new(Payload {
        token: Token::of(token),
        finding: Some(FindingKey(key)),
        ..Payload::default()
    })
}

fn hit(token: u64, id: i64) -> Hit {
    Hit {
        token: Token::of(token),
        workspace: Shared::default(),
        logger: LoggerId(1),
        id: CaptureId(id),
        digest: 0,
        at: None,
    }
}

fn capture(id: i64) -> ArchivedCapture {
    ArchivedCapture {
        logger: LoggerId(1),
        capture: Arc::new(Capture {
            id: CaptureId(id),
            ..Capture::default()
        }),
        ..ArchivedCapture::default()
    }
}

#[test]
fn case_of_a_finding_has_its_scans_and_requests_alone() {
    let bundle = Bundle {
        scans: vec![
            scan(1, 1, 170),
            scan(2, 1, 170),
            scan(3, 1, 450),
            scan(4, 2, 170),
        ],
        findings: vec![found(1, 1), found(2, 4)],
        payloads: vec![payload(5, 1), payload(6, 2)],
        hits: vec![hit(5, 50), hit(6, 60)],
        captures: vec![capture(50), capture(60), capture(70)],
        ..Bundle::default()
    };
    let mut selection = CaseSelection::default();
    selection.add(&issue(1, 1), &Assessment::default());
    let selected = selection.of(bundle);
    let scans: Vec<i64> = selected.scans.iter().map(|one| one.id.0).collect();
    assert_eq!(scans, [1, 2], "also the one that did not find it");
    assert_eq!(selected.findings, [found(1, 1)]);
    assert_eq!(selected.payloads, [payload(5, 1)]);
    assert_eq!(selected.hits, [hit(5, 50)]);
    assert_eq!(selected.captures, [capture(50)]);
}

#[test]
fn case_of_a_finding_has_the_events_about_it_alone() {
    let mut ann = Replica::new("ann", 1);
    let decided = ann.decides(1, Verdict::Confirmed);
    let undone = ann.undoes(decided.batch);
    let reuses = ann.does(finding(1), Change::Inherit(FindingKey(3)));
    let reused = ann.decides(3, Verdict::Fixed);
    let link = |from: u128| {
        Change::Link(Box::new(ManualLink {
            from: format!("finding:{}", FindingKey(from)).into(),
            to: "target:a.test".into(),
            reason: "same host".into(),
        }))
    };
    let linked = ann.does(Subject::Workspace, link(1));
    let baseline = ann.does(Subject::Workspace, Change::Baseline(None));
    let rule = ann.does(Subject::Rule(ann.writer.next()), Change::Off(false));
    let own = vec![
        decided,
        undone,
        reuses,
        reused,
        linked,
        baseline,
        rule.clone(),
    ];
    let other = ann.decides(2, Verdict::Fixed);
    let others: Vec<Arc<Event>> = vec![
        ann.undoes(other.batch),
        ann.does(Subject::Workspace, link(2)),
        ann.does(Subject::Rule(ann.writer.next()), Change::Off(false)),
        other,
    ];
    let mut selection = CaseSelection::default();
    let decided_by_rule = Assessment {
        source: VerdictSource::Rule(rule.id),
        ..Assessment::default()
    };
    selection.add(&issue(1, 1), &decided_by_rule);
    let selected = selection.of(Bundle {
        events: own.iter().cloned().chain(others).collect(),
        ..Bundle::default()
    });
    assert_eq!(selected.events, own);
    assert_eq!(selection.len(), 1);
}
