//! Events as JSON lines: one a line, keys sorted, in the order of (clock, id), so that git merges
//! two files line by line (`merge=union`).
//!
//! Reading never fails. A bad line is reported with number and reason; the caller imports the rest
//! or nothing.

use std::sync::Arc;

use serde_json::Value;

use super::event::Event;
use scandeck_wire::text;

/// Greatest accepted clock: a larger one is from a broken or hostile file and would prevent further
/// events.
const MAX_CLOCK: u64 = 1 << 48;

/// Contents of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Read {
    /// Events in the order of the file.
    pub events: Vec<Arc<Event>>,
    /// Unreadable lines.
    pub bad: Vec<BadLine>,
}

/// An unreadable line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Line number from 1.
    pub line: usize,
    /// Reason, sanitized.
    pub reason: String,
}

/// The events as JSON lines.
pub fn write<'a>(events: impl IntoIterator<Item = &'a Arc<Event>>) -> String {
    let mut events: Vec<&Arc<Event>> = events.into_iter().collect();
    events.sort_by_key(|event| (event.clock, event.id));
    events.dedup_by_key(|event| event.id);
    let mut lines = String::new();
    for event in events {
        lines.push_str(&line(event));
        lines.push('\n');
    }
    lines
}

/// One event as a line without line break.
pub fn line(event: &Event) -> String {
    let mut value = serde_json::to_value(event).unwrap_or_default();
    value.sort_all_objects();
    value.to_string()
}

/// Reads a file; empty lines are ignored.
pub fn read(text: &str) -> Read {
    let mut read = Read::default();
    for (at, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        match parse(line) {
            None => {}
            Some(Ok(event)) => read.events.push(Arc::new(event)),
            Some(Err(reason)) => read.bad.push(BadLine {
                line: at + 1,
                reason,
            }),
        }
    }
    read
}

fn parse(line: &str) -> Option<Result<Event, String>> {
    let line = line.trim();
    if line.is_empty() {
        return None;
    }
    if ["<<<<<<<", "=======", ">>>>>>>"]
        .iter()
        .any(|mark| line.starts_with(mark))
    {
        return Some(Err("unresolved merge conflict".to_owned()));
    }
    let event = serde_json::from_str::<Value>(line).and_then(serde_json::from_value::<Event>);
    Some(match event {
        Err(error) => Err(reason(&error)),
        Ok(event) => believed(&event).map(|()| event),
    })
}

/// Rejects events with an excessive clock.
///
/// # Errors
/// The reason.
pub(super) fn believed(event: &Event) -> Result<(), String> {
    if event.clock > MAX_CLOCK {
        Err(format!("clock {} is out of range", event.clock))
    } else {
        Ok(())
    }
}

/// Each text is one line, so only the column of the serde error is relevant.
fn reason(error: &serde_json::Error) -> String {
    if error.is_syntax() || error.is_eof() {
        return format!("not JSON (column {})", error.column());
    }
    let whole = error.to_string();
    let what = whole.split(" at line ").next().unwrap_or_default();
    let place = if error.column() > 0 {
        format!(" at column {}", error.column())
    } else {
        String::new()
    };
    format!("{}{place}", text::clean(what))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::triage::testing::Replica;
    use crate::triage::{
        Change, Decision, FindingKey, Identity, Reason, Sighting, Subject, TriageState, Verdict,
    };

    fn decided() -> (Replica, Arc<Event>) {
        let mut ann = Replica::new("ann", 0xa1);
        let identity = Identity {
            key: FindingKey(7),
            asset: "shop.test".into(),
            class: "tls.protocol.tls10".into(),
            service: "tcp/443".into(),
            ..Identity::default()
        };
        let decision = Decision {
            verdict: Verdict::RiskAccepted,
            reason: Some(Reason::Deferred),
            until: Some("2027-02-19".parse().unwrap()),
            seen: Some(Sighting {
                exploited: true,
                epss: Some(0.25),
                ..Sighting::default()
            }),
            ..Decision::default()
        };
        let event = ann.does(Subject::Finding(identity), Change::Decide(decision));
        (ann, event)
    }

    #[test]
    fn event_line_has_sorted_keys_and_round_trips() {
        let (_, event) = decided();
        insta::assert_snapshot!(line(&event), @r#"{"at":"2026-11-21 12:01:00","batch":"00000000000000a1-1","change":{"decide":{"reason":"deferred","seen":{"epss":0.25,"exploited":true,"finding":0,"risk":0},"until":"2027-02-19","verdict":"risk_accepted"}},"clock":1,"id":"00000000000000a1-1","subject":{"finding":{"asset":"shop.test","class":"tls.protocol.tls10","f1":"00000000000000000000000000000000","f2":"00000000000000000000000000000000","key":"00000000000000000000000000000007","name":"","service":"tcp/443","version":0}},"who":"ann","workspace":"acme"}"#);
        assert_eq!(
            read(&write([&event])),
            Read {
                events: vec![event],
                bad: vec![]
            }
        );
    }

    #[test]
    fn written_lines_are_sorted_and_unique() {
        let (mut ann, first) = decided();
        let second = ann.does(Subject::Workspace, Change::Baseline(None));
        let text = write([&second, &first, &second]);
        assert_eq!(text.lines().count(), 2);
        assert!(text.lines().next().unwrap().contains("decide"), "{text}");
    }

    #[test]
    fn bad_line_is_reported_and_rest_is_read() {
        let (_, event) = decided();
        let good = line(&event);
        let late = good.replace(r#""clock":1"#, r#""clock":18446744073709551615"#);
        let odd = good.replace(r#""deferred""#, r#""de\u001bferred""#);
        let text =
            format!("\u{feff}{good}\r\n\n{{\"id\":\n<<<<<<< ours\n{{}}\n{late}\n{odd}\n{good}");
        let read = read(&text);
        assert_eq!(read.events.len(), 2);
        let bad: Vec<String> = read
            .bad
            .iter()
            .map(|bad| format!("{}: {}", bad.line, bad.reason))
            .collect();
        let expected = [
            "3: not JSON (column 6)",
            "4: unresolved merge conflict",
            "5: missing field `id`",
            "6: clock 18446744073709551615 is out of range",
            "7: unknown variant `de␛ferred`, expected one of",
        ];
        assert_eq!(bad.len(), expected.len());
        for (bad, expected) in bad.iter().zip(expected) {
            assert!(bad.starts_with(expected), "{bad}");
        }
        assert_eq!(super::read(&good).events, [event]);
    }

    #[test]
    fn assignee_and_due_date_round_trip_and_unknown_changes_are_reported() {
        let (mut ann, decided) = decided();
        let assigned = ann.does(decided.subject.clone(), Change::Assign(Some("bob".into())));
        let due = ann.does(
            decided.subject.clone(),
            Change::Due("2026-12-10".parse().ok()),
        );
        let text = write([&assigned, &due]);
        assert!(text.contains(r#""change":{"assign":"bob"}"#), "{text}");
        assert!(text.contains(r#""change":{"due":"2026-12-10"}"#), "{text}");
        assert_eq!(read(&text).events, [assigned, due]);
        let later = text.replace(r#"{"assign":"bob"}"#, r#"{"later_kind":1}"#);
        let read = read(&later);
        assert_eq!((read.events.len(), read.bad.len()), (1, 1));
        assert!(read.bad[0].reason.contains("later_kind"), "{read:?}");
    }

    proptest! {
        #[test]
        fn reading_any_text_does_not_panic(text in r#"(\{"(id|at|clock|change)":|"|[0-9a-f-]{1,4}|\}|,|\n|.){0,40}"#) {
            read(&text);
        }

        #[test]
        fn files_in_any_order_give_one_state(
            verdicts in proptest::collection::vec((0..4u128, proptest::sample::select(&Verdict::ALL[..])), 1..20),
            cut in 0..20usize,
        ) {
            let mut ann = Replica::new("ann", 1);
            let events: Vec<_> = verdicts.into_iter().map(|(key, verdict)| ann.decides(key, verdict)).collect();
            let (early, late) = events.split_at(cut.min(events.len()));
            let of = |files: &[String]| TriageState::from_events(files.iter().flat_map(|file| read(file).events));
            let (early, late) = (write(early), write(late));
            let state = of(&[early.clone(), late.clone()]);
            prop_assert_eq!(&of(&[late.clone(), early, late]), &state);
            prop_assert_eq!(state, ann.state);
        }
    }
}
