//! Interprets a page of the service for the log of a workspace, fills requests with lines, and
//! counts the effects of a first exchange. Pure.

use crate::base::FirstJoin;
use scandeck_domain::finding::FindingKey;
use scandeck_domain::oob::{ArrivedPayload, Payload, Token};
use scandeck_domain::triage::{
    ArrivedEvent, Event, EventId, Subject, TeamLog, TriageState, identity,
};
use scandeck_wire::contract::team::{EventPage, MOST_BODY_BYTES, MOST_LINES, Purged, RefusedLine};
use scandeck_wire::sqlite::UnsentRow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// How a log at the service has changed beside its new rows.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LogChange {
    None,
    /// The first page.
    Begun,
    /// The service was restored from a backup: positions mean other rows, and some are lost.
    Restored,
    Purged(Purged),
}

pub(super) fn log_change(log: &TeamLog, page: &EventPage) -> LogChange {
    let purged = page.purged.as_ref();
    match page.epoch == log.epoch {
        _ if log.epoch == 0 => LogChange::Begun,
        true if page.last < log.last || page.last_payload < log.last_payload => LogChange::Restored,
        true => LogChange::None,
        false => match purged.filter(|purged| purged.epoch > log.epoch) {
            Some(purged) => LogChange::Purged(purged.clone()),
            None => LogChange::Restored,
        },
    }
}

/// The rows of one request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LineBatch {
    pub rows: Vec<UnsentRow>,
    /// One line for each row; none for a row that no request can carry.
    pub lines: Option<String>,
}

impl LineBatch {
    /// As many of the first rows as one request carries; none without rows.
    pub fn first(mut rows: Vec<UnsentRow>) -> Option<Self> {
        let mut lines = String::new();
        let mut number = 0;
        for row in rows.iter().take(MOST_LINES) {
            if lines.len() + row.json.len() >= MOST_BODY_BYTES {
                break;
            }
            lines.push_str(&row.json);
            lines.push('\n');
            number += 1;
        }
        if number > 0 {
            rows.truncate(number);
            return Some(Self {
                rows,
                lines: Some(lines),
            });
        }
        rows.truncate(1);
        let lines = None;
        (!rows.is_empty()).then_some(Self { rows, lines })
    }

    pub fn refused(row: &UnsentRow, reason: &str) -> RefusedLine {
        RefusedLine {
            id: row.key.as_str().into(),
            reason: reason.into(),
        }
    }

    pub fn too_long(row: &UnsentRow) -> RefusedLine {
        Self::refused(row, "it is larger than 1 MiB")
    }
}

/// Compares private decisions with those of a team.
pub(super) fn first_join(
    own: &[Arc<Event>],
    events: &[ArrivedEvent],
    own_payloads: &[Arc<Payload>],
    payloads: &[ArrivedPayload],
) -> FirstJoin {
    let theirs: Vec<&Arc<Event>> = events.iter().flat_map(|event| &event.event).collect();
    let (here, there): (HashSet<EventId>, HashSet<EventId>) = (
        own.iter().map(|event| event.id).collect(),
        theirs.iter().map(|event| event.id).collect(),
    );
    let only_here: Vec<&Arc<Event>> = own
        .iter()
        .filter(|event| !there.contains(&event.id))
        .collect();
    let only_there: Vec<&Arc<Event>> = theirs
        .iter()
        .copied()
        .filter(|event| !here.contains(&event.id))
        .collect();
    let keys = |events: &[&Arc<Event>]| -> HashSet<FindingKey> {
        events.iter().filter_map(|event| key(event)).collect()
    };
    let of_both = &keys(&only_here) & &keys(&only_there);
    let merged = TriageState::from_events(own.iter().chain(theirs).cloned());
    let is_conflict = |key: &&FindingKey| {
        merged
            .finding_state(**key)
            .is_some_and(|state| state.is_conflict())
    };
    let known: HashMap<Token, &ArrivedPayload> =
        payloads.iter().map(|one| (one.token(), one)).collect();
    let is_new = |payload: &&Arc<Payload>| match known.get(&payload.token) {
        None => true,
        Some(known) => known
            .payload()
            .is_some_and(|known| payload.replaces(&known) && ***payload != known),
    };
    FirstJoin {
        own: only_here.len(),
        others: only_there.len(),
        findings: of_both.len(),
        conflicts: of_both.iter().filter(is_conflict).count(),
        payloads: own_payloads.iter().filter(is_new).count(),
        ..FirstJoin::default()
    }
}

fn key(event: &Event) -> Option<FindingKey> {
    match &event.subject {
        Subject::Finding(identity) => Some(identity.key),
        Subject::Manual(id) => Some(identity::manual_key(*id)),
        Subject::Rule(_) | Subject::Batch(_) | Subject::Workspace => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_domain::triage::Verdict;
    use scandeck_domain::triage::jsonl;
    use scandeck_domain::triage::testing::Replica;

    fn log(epoch: i64, last: i64) -> TeamLog {
        TeamLog {
            service: "s".into(),
            id: 1.into(),
            workspace: "acme".into(),
            epoch,
            last,
            last_payload: 3,
            is_shared: true,
        }
    }

    #[test]
    fn page_of_another_epoch_is_a_purge_only_if_it_says_so() {
        let page = |epoch, last, purge: Option<i64>| EventPage {
            epoch,
            last,
            last_payload: 3,
            purged: purge.map(|epoch| Purged {
                epoch,
                ..Purged::default()
            }),
            ..EventPage::default()
        };
        let purged = |epoch| {
            LogChange::Purged(Purged {
                epoch,
                ..Purged::default()
            })
        };
        for (here, there, expected) in [
            (log(0, 0), page(7, 5, Some(7)), LogChange::Begun),
            (log(2, 5), page(2, 5, Some(2)), LogChange::None),
            (log(2, 5), page(2, 9, None), LogChange::None),
            (log(2, 5), page(2, 4, None), LogChange::Restored),
            (log(2, 5), page(3, 9, Some(3)), purged(3)),
            (log(2, 5), page(5, 9, Some(3)), purged(3)),
            (
                log(2, 5),
                page(1_800_000_000, 9, Some(2)),
                LogChange::Restored,
            ),
            (log(2, 5), page(1, 9, None), LogChange::Restored),
        ] {
            assert_eq!(log_change(&here, &there), expected, "{there:?}");
        }
    }

    #[test]
    fn request_carries_at_most_a_mebibyte() {
        let row = |row: i64, bytes: usize| UnsentRow {
            row,
            key: row.to_string(),
            json: "x".repeat(bytes),
        };
        let numbers = |rows: Vec<UnsentRow>| {
            LineBatch::first(rows).map(|batch| {
                let lines = batch.lines.map(|lines| lines.len());
                (batch.rows.len(), lines)
            })
        };
        assert_eq!(numbers(vec![]), None);
        assert_eq!(numbers(vec![row(1, 9), row(2, 9)]), Some((2, Some(20))));
        let half = MOST_BODY_BYTES / 2;
        assert_eq!(
            numbers(vec![row(1, half), row(2, half)]),
            Some((1, Some(half + 1)))
        );
        assert_eq!(numbers(vec![row(1, 2 * half), row(2, 9)]), Some((1, None)));
        assert_eq!(
            numbers((0..1_200).map(|number| row(number, 1)).collect()),
            Some((1_000, Some(2_000)))
        );
    }

    #[test]
    fn first_join_counts_findings_with_decisions_of_both() {
        let (mut ann, mut bob) = (Replica::new("ann", 1), Replica::new("bob", 2));
        let common = ann.decides(1, Verdict::Confirmed);
        bob.receives([&common]);
        let own = vec![
            common.clone(),
            ann.decides(2, Verdict::Confirmed),
            ann.decides(3, Verdict::Confirmed),
            ann.decides(4, Verdict::Confirmed),
        ];
        let theirs = [
            common,
            bob.decides(2, Verdict::FalsePositive),
            bob.decides(3, Verdict::Confirmed),
            bob.decides(9, Verdict::Confirmed),
        ];
        let arrived: Vec<ArrivedEvent> = theirs
            .iter()
            .filter_map(|event| ArrivedEvent::parse(1, &event.who, &jsonl::line(event)))
            .collect();
        let payload = |number: u64, note: &str| Payload {
            token: Token::of(number),
            note: note.into(),
            ..Payload::default()
        };
        let there = [payload(1, "a"), payload(2, "b")];
        let there: Vec<ArrivedPayload> = there
            .iter()
            .filter_map(|one| ArrivedPayload::parse(1, &one.line()))
            .collect();
        let here: Vec<Arc<Payload>> = [payload(1, "a"), payload(2, "c"), payload(3, "")]
            .map(Arc::new)
            .into();
        let joined = first_join(&own, &arrived, &here, &there);
        assert_eq!(
            joined,
            FirstJoin {
                own: 3,
                others: 3,
                findings: 2,
                conflicts: 1,
                payloads: 2,
                ..FirstJoin::default()
            }
        );
    }
}
