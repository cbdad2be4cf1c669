//! Which lines of a push the service refuses: exactly those that a dashboard could not read, so that
//! no member sees an error because of another one.

use std::collections::BTreeSet;

use scandeck::contract::Stamp;
use scandeck::oob::Payload;
use scandeck::proof::{FindingProof, ProofAnswer, ProofReason};
use scandeck::service::keys::Role;
use scandeck::triage::{
    Baseline, Change, Decision, Event, EventId, FindingKey, Identity, ManualFinding, ManualLink,
    Reason, Sighting, Subject, Verdict,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::TestService;
use super::team::TeamMember;

const INSTANCE: u64 = 0xa1;

/// An event of each kind, with a value in each field.
fn samples() -> Vec<Event> {
    let id = |number| EventId {
        instance: INSTANCE,
        number,
    };
    let day = || "2026-12-10".parse().unwrap();
    let decision = |verdict, reason| Decision {
        verdict,
        reason,
        until: Some(day()),
        duplicate_of: Some(FindingKey(7)),
        seen: Some(Sighting {
            finding: 7.into(),
            scan: Some(8.into()),
            started: Stamp::parse("2026-11-29 11:00:00"),
            epss: Some(0.25),
            ..Sighting::default()
        }),
    };
    let finding = Subject::Finding(Identity {
        key: FindingKey(7),
        place: "login".into(),
        ordinal: 1,
        ..Identity::default()
    });
    let answer = |status| ProofAnswer {
        status: Some(status),
        headers: vec!["Server: a".into()],
        body: "b".into(),
        is_cut: true,
    };
    let mut changes: Vec<(Subject, Change)> = vec![
        (finding.clone(), Change::Note("n".into())),
        (
            finding.clone(),
            Change::Proof(Box::new(FindingProof {
                method: "GET".into(),
                url: "http://shop.test/".into(),
                headers: vec!["Accept: */*".into()],
                then: answer(200),
                now: Some(answer(404)),
                problem: "none".into(),
                reason: ProofReason::NotFound,
                digest: "9f".into(),
            })),
        ),
        (
            finding.clone(),
            Change::Tag {
                add: vec!["a".into()],
                remove: vec!["b".into()],
            },
        ),
        (finding.clone(), Change::Severity(Some(3.into()))),
        (finding.clone(), Change::Severity(None)),
        (finding.clone(), Change::Assign(Some("bob".into()))),
        (finding.clone(), Change::Due(Some(day()))),
        (finding.clone(), Change::Inherit(FindingKey(9))),
        (
            Subject::Rule(id(1)),
            Change::Rule {
                query: "class:x".into(),
                decision: decision(Verdict::Confirmed, None),
            },
        ),
        (Subject::Rule(id(1)), Change::Off(true)),
        (Subject::Rule(id(1)), Change::DeleteRule("class:x".into())),
        (
            Subject::Manual(id(1)),
            Change::Manual(Box::new(ManualFinding {
                name: "m".into(),
                port: 443,
                captures: vec!["{}".into()],
                ..ManualFinding::default()
            })),
        ),
        (
            Subject::Workspace,
            Change::Link(Box::new(ManualLink {
                from: "finding:00000000000000000000000000000007".into(),
                to: "target:shop.test".into(),
                reason: "r".into(),
            })),
        ),
        (
            Subject::Workspace,
            Change::Baseline(Some(Baseline::Day(day()))),
        ),
        (
            Subject::Workspace,
            Change::Baseline(Some(Baseline::Scans(vec![4.into()]))),
        ),
        (Subject::Batch(id(1)), Change::Undo),
        (Subject::Batch(id(1)), Change::Redo),
    ];
    let decided = |verdict, reason| (finding.clone(), Change::Decide(decision(verdict, reason)));
    changes.extend(Verdict::ALL.map(|verdict| decided(verdict, None)));
    changes.extend(Reason::ALL.map(|reason| decided(Verdict::Fixed, Some(reason))));
    changes.extend(ProofReason::ALL.map(|reason| {
        let proof = FindingProof {
            reason,
            ..FindingProof::default()
        };
        (finding.clone(), Change::Proof(Box::new(proof)))
    }));
    let event = |(number, (subject, change))| Event {
        id: id(number),
        clock: number,
        at: Stamp::parse("2026-11-29 12:00:00").unwrap(),
        who: "anna".into(),
        workspace: "Default".into(),
        batch: id(1),
        after: vec![id(1)],
        subject,
        change,
        sent_by: None,
    };
    (1..).zip(changes).map(event).collect()
}

/// One event for each set of parts: the others differ from it in a word only.
fn unlike(events: &[Event]) -> Vec<Value> {
    let mut known = BTreeSet::new();
    let values = events
        .iter()
        .map(|event| serde_json::to_value(event).unwrap());
    values
        .filter(|value| {
            let mut pointers = Vec::new();
            list_pointers(value, String::new(), &mut pointers);
            known.insert(pointers)
        })
        .collect()
}

/// Copies of a value, each with another value, or none, in the place of one part.
fn damaged(value: &Value) -> Vec<Value> {
    let mut pointers = Vec::new();
    list_pointers(value, String::new(), &mut pointers);
    let mut copies = Vec::new();
    for pointer in pointers {
        for other in [
            Some(json!(null)),
            Some(json!(-1)),
            Some(json!(7)),
            Some(json!(1.5)),
            Some(json!(1e30)),
            Some(json!(true)),
            Some(json!("x")),
            Some(json!("undo")),
            Some(json!([])),
            Some(json!([7])),
            Some(json!({})),
            Some(json!({"decide": {}, "note": "n"})),
            None,
        ] {
            let (parent, name) = pointer.rsplit_once('/').unwrap();
            let mut copy = value.clone();
            match (copy.pointer_mut(parent).unwrap(), other) {
                (Value::Object(fields), Some(other)) => _ = fields.insert(name.to_owned(), other),
                (Value::Object(fields), None) => _ = fields.remove(name),
                (Value::Array(items), Some(other)) => items[name.parse::<usize>().unwrap()] = other,
                _ => continue,
            }
            copies.push(copy);
        }
    }
    copies
}

fn list_pointers(value: &Value, pointer: String, pointers: &mut Vec<String>) {
    let mut list = |name: &str, part: &Value| {
        let pointer = format!("{pointer}/{name}");
        // The id and the clock of an event, the token and version of a payload.
        if ["/id", "/clock", "/token", "/version"].contains(&pointer.as_str()) {
            return;
        }
        pointers.push(pointer.clone());
        list_pointers(part, pointer, pointers);
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, part)| list(name, part)),
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(at, part)| list(&at.to_string(), part));
        }
        _ => {}
    }
}

/// Checks that the refused lines, named by this field, are those that are no `T`.
fn assert_refused<T: DeserializeOwned>(
    field: &str,
    lines: &[String],
    refused: &[(String, String)],
) {
    let is_readable = |line: &&String| serde_json::from_str::<T>(line).is_ok();
    let (readable, unreadable): (Vec<&String>, Vec<&String>) = lines.iter().partition(is_readable);
    assert!(readable.len() > 20 && unreadable.len() > 20, "both kinds");
    for (id, reason) in refused {
        assert!(
            reason.starts_with("dashboards cannot read it: "),
            "{id}: {reason}"
        );
    }
    let id = |line: &&String| -> String {
        let line: Value = serde_json::from_str(line).unwrap();
        line[field].as_str().unwrap().to_owned()
    };
    let expected: BTreeSet<String> = unreadable.iter().map(id).collect();
    let refused: BTreeSet<String> = refused.iter().map(|(id, _)| id.clone()).collect();
    let wrong = expected.symmetric_difference(&refused).next();
    let line = wrong.and_then(|id| lines.iter().find(|line| line.contains(id.as_str())));
    assert_eq!(
        line, None,
        "accepted by the service or by the dashboard only"
    );
}

fn joined(lines: &[String]) -> String {
    lines.join("\n")
}

#[tokio::test]
async fn every_event_of_a_dashboard_is_accepted_and_every_unreadable_one_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let service = TestService::in_dir(temp.path()).await;
    let anna = TeamMember::join(&service, temp.path(), "anna", Role::Triage).await;
    let samples = samples();
    let lines: Vec<String> = samples
        .iter()
        .map(|event| serde_json::to_string(event).unwrap())
        .collect();
    let (stored, _, refused) = anna.push(joined(&lines)).await;
    assert_eq!((stored, refused), (lines.len() as i64, vec![]));

    let mut number = samples.len() as u64;
    let mut lines = Vec::new();
    for event in unlike(&samples) {
        for mut copy in damaged(&event) {
            number += 1;
            copy["id"] = json!(format!("{INSTANCE:016x}-{number}"));
            lines.push(copy.to_string());
        }
    }
    lines.push(
        lines[0]
            .replacen('{', r#"{"who":"anna","who":"anna","#, 1)
            .replace("a1-", "a2-"),
    );
    let mut refused = Vec::new();
    for lines in lines.chunks(500) {
        refused.extend(anna.push(joined(lines)).await.2);
    }
    assert_refused::<Event>("id", &lines, &refused);
    for (json, _) in anna.log().await {
        serde_json::from_str::<Event>(&json).expect("the members can read it");
    }
    service.stop().await;
}

#[tokio::test]
async fn every_unreadable_payload_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let service = TestService::in_dir(temp.path()).await;
    let anna = TeamMember::join(&service, temp.path(), "anna", Role::Triage).await;
    let payload = Payload {
        at: Stamp::parse("2026-11-29 12:00:00"),
        offset: Some(-3),
        number: Some(4),
        finding: Some(FindingKey(7)),
        version: 1,
        ..Payload::default()
    };
    let (stored, _, refused) = anna.push_payloads(payload.line()).await;
    assert_eq!((stored, refused), (1, vec![]));
    let mut lines = Vec::new();
    for mut copy in damaged(&serde_json::to_value(&payload).unwrap()) {
        let letter = |number: usize| char::from(b'a' + (number % 26) as u8);
        let number = lines.len();
        let end: String = [number / 676, number / 26, number]
            .map(letter)
            .iter()
            .collect();
        copy["token"] = json!(format!("bbbbbbbbb{end}"));
        lines.push(copy.to_string());
    }
    let refused = anna.push_payloads(joined(&lines)).await.2;
    assert_refused::<Payload>("token", &lines, &refused);
    service.stop().await;
}
