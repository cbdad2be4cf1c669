//! Positions, repeats and purges, with two processes on one database.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use rand::RngExt;
use rand::rngs::StdRng;
use rand::{SeedableRng, seq::SliceRandom};

use super::*;
use crate::guards::keys::Role;
use crate::store::keys::KeyUse;
use crate::store::millis;
use crate::store::testing::{open, open_sqlite, two_nodes};
use scandeck_wire::contract::Stamp;

const DEFAULT: WorkspaceId = WorkspaceId(1);

fn to(workspace: WorkspaceId, key: &str) -> LogAccess<'_> {
    LogAccess {
        workspace,
        epoch: 1,
        key,
    }
}

fn event(instance: u64, number: u64) -> EventToAdd {
    let id = SharedEventId { instance, number };
    EventToAdd {
        id,
        clock: number,
        json: format!(r#"{{"id":"{id}","clock":{number},"who":"anna"}}"#),
    }
}

fn payload(token: &str, version: u64, note: &str) -> PayloadToAdd {
    PayloadToAdd {
        token: token.into(),
        version,
        json: format!(r#"{{"token":"{token}","version":{version},"note":"{note}"}}"#),
    }
}

/// Adds keys with these names.
async fn add_members(store: &Store, names: &[&str]) {
    let member = KeyUse {
        role: Role::Triage,
        place: None,
    };
    for name in names {
        let mut hash = [0; 32];
        hash[..name.len()].copy_from_slice(name.as_bytes());
        let added = store.add_key(name, member, hash, "ana@box", Timestamp::now());
        assert!(added.await.unwrap(), "{name}");
    }
}

async fn push(store: &Store, to: LogAccess<'_>, events: &[EventToAdd]) -> Vec<PushedLine> {
    match store.push_events(to, events).await.unwrap() {
        Push::Done { lines, .. } => lines,
        refused => panic!("{refused:?}"),
    }
}

async fn push_payload(store: &Store, key: &str, payload: PayloadToAdd) -> PushedLine {
    let pushed = store.push_payloads(to(DEFAULT, key), &[payload]).await;
    match pushed.unwrap() {
        Push::Done { mut lines, .. } => lines.remove(0),
        refused => panic!("{refused:?}"),
    }
}

async fn page(store: &Store, after: i64) -> EventPage {
    let page = store.event_page(DEFAULT, after, 1000).await.unwrap();
    page.expect("the workspace exists")
}

#[tokio::test]
async fn reader_sees_positions_of_concurrent_pushes_in_order_and_without_gaps() {
    const PUSHES: u64 = 40;
    const BATCH: u64 = 3;
    let temp = tempfile::tempdir().unwrap();
    let (one, other) = two_nodes(temp.path()).await;
    let pushing = [(&one, 1), (&other, 2), (&one, 3), (&other, 4)].map(|(store, instance)| {
        let store = store.clone();
        tokio::spawn(async move {
            for number in 0..PUSHES {
                let events: Vec<EventToAdd> = (0..BATCH)
                    .map(|at| event(instance, number * BATCH + at + 1))
                    .collect();
                push(&store, to(DEFAULT, "anna"), &events).await;
            }
        })
    });
    let (mut seen, mut reads) = (0, 0);
    while seen < 4 * (PUSHES * BATCH) as i64 {
        let page = page(&other, seen).await;
        for row in &page.events {
            assert_eq!(row.position, seen + 1);
            seen = row.position;
        }
        assert_eq!(page.last, seen, "the page ends with the last row");
        reads += 1;
    }
    assert!(reads > 4, "{reads} reads beside the pushes");
    for task in pushing {
        task.await.unwrap();
    }
}

#[tokio::test]
async fn pushes_in_any_order_with_repeats_give_one_set() {
    const TOKENS: [&str; 3] = ["aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc"];
    for seed in 0..6 {
        let mut rng = StdRng::seed_from_u64(seed);
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = two_nodes(temp.path()).await;
        // Each member sends batches, some of them again because the answer was lost.
        let mut sends: Vec<(u64, Vec<EventToAdd>, PayloadToAdd)> = Vec::new();
        let mut expected = BTreeSet::new();
        let mut winners = BTreeMap::<&str, (u64, String)>::new();
        for instance in 1..=3 {
            let mut from = 1;
            while from < 60 {
                let until = from + rng.random_range(1..20);
                let events: Vec<_> = (from..until).map(|n| event(instance, n)).collect();
                expected.extend(events.iter().map(|event| event.json.clone()));
                let token = TOKENS[rng.random_range(0..3)];
                let note = format!("{}", rng.random_range(0..99));
                let payload = payload(token, rng.random_range(0..4), &note);
                let version = (payload.version, payload.json.clone());
                let winner = winners.entry(token).or_insert_with(|| version.clone());
                *winner = version.max(winner.clone());
                for _ in 0..rng.random_range(1..4) {
                    sends.push((instance, events.clone(), payload.clone()));
                }
                from = until;
            }
        }
        sends.shuffle(&mut rng);
        for (instance, events, payload) in sends {
            let store = if rng.random_bool(0.5) { &one } else { &other };
            let key = format!("key{instance}");
            let lines = push(store, to(DEFAULT, &key), &events).await;
            let is_fine = |line: &PushedLine| matches!(line, PushedLine::New | PushedLine::Known);
            assert!(lines.iter().all(is_fine), "{lines:?}");
            push_payload(store, &key, payload).await;
        }
        let page = page(&one, 0).await;
        let stored: Vec<&str> = page.events.iter().map(|row| row.event.get()).collect();
        assert_eq!(stored.len(), expected.len(), "seed {seed}: none twice");
        let stored: BTreeSet<String> = stored.into_iter().map(str::to_owned).collect();
        assert_eq!(stored, expected, "seed {seed}");
        let payloads = other.payload_page(DEFAULT, 0, 1000).await.unwrap().unwrap();
        let kept: BTreeSet<&str> = payloads.payloads.iter().map(|p| p.payload.get()).collect();
        let won: BTreeSet<&str> = winners.values().map(|(_, json)| json.as_str()).collect();
        assert_eq!(kept, won, "seed {seed}");
    }
}

#[tokio::test]
async fn instance_belongs_to_the_key_that_used_it_first() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    add_members(&store, &["anna", "ben"]).await;
    let (anna, ben) = (to(DEFAULT, "anna"), to(DEFAULT, "ben"));
    let imported = [event(1, 1), event(1, 2)];
    assert_eq!(
        push(&store, anna, &imported).await,
        [PushedLine::New, PushedLine::New]
    );
    // The same history, imported by another member.
    assert_eq!(
        push(&store, ben, &imported).await,
        [PushedLine::Known, PushedLine::Known]
    );
    let lines = push(&store, ben, &[event(1, 3), event(2, 1), event(2, 1)]).await;
    let owner = PushedLine::OtherKey("anna".to_owned());
    assert_eq!(lines, [owner, PushedLine::New, PushedLine::Known]);
    assert_eq!(push(&store, anna, &[event(1, 3)]).await, [PushedLine::New]);
    let keys: Vec<String> = page(&store, 0)
        .await
        .events
        .iter()
        .map(|row| row.key.to_string())
        .collect();
    assert_eq!(keys, ["anna", "anna", "ben", "anna"]);
}

#[tokio::test]
async fn member_who_sends_events_of_a_colleague_does_not_own_the_instance() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    add_members(&store, &["anna", "ben"]).await;
    let (anna, ben) = (to(DEFAULT, "anna"), to(DEFAULT, "ben"));
    // After a purge or a restored backup, ben is the first to send what he has read of anna.
    assert_eq!(push(&store, ben, &[event(1, 1)]).await, [PushedLine::New]);
    assert_eq!(push(&store, anna, &[event(1, 2)]).await, [PushedLine::New]);
    let owner = PushedLine::OtherKey("anna".to_owned());
    assert_eq!(push(&store, ben, &[event(1, 3)]).await, [owner]);
}

#[tokio::test]
async fn instance_of_a_revoked_key_belongs_to_the_next_key_that_signs_for_it() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    add_members(&store, &["anna", "anna2", "ben"]).await;
    let signed = |number, who: &str| {
        let mut event = event(1, number);
        event.json = event.json.replace("anna", who);
        [event]
    };
    let owner = |key: &str| [PushedLine::OtherKey(key.to_owned())];
    let (anna, anna2, ben) = (
        to(DEFAULT, "anna"),
        to(DEFAULT, "anna2"),
        to(DEFAULT, "ben"),
    );
    push(&store, anna, &signed(1, "anna")).await;
    let refused = push(&store, anna2, &signed(2, "anna2")).await;
    assert_eq!(refused, owner("anna"), "a live key keeps its dashboard");
    assert!(store.delete_key("anna").await.unwrap());
    // Decisions from before the new key have the name of the old one.
    for (number, who) in [(2, "anna"), (3, "anna2")] {
        let lines = push(&store, anna2, &signed(number, who)).await;
        assert_eq!(lines, [PushedLine::New], "{number}");
    }
    assert_eq!(push(&store, ben, &signed(4, "ben")).await, owner("anna2"));
    // The first name again: the dashboard belongs to the key that signed last.
    store.delete_key("ben").await.unwrap();
    add_members(&store, &["anna"]).await;
    assert_eq!(push(&store, anna, &signed(4, "anna")).await, owner("anna2"));
    assert_eq!(
        push(&store, anna2, &signed(4, "anna2")).await,
        [PushedLine::New]
    );
}

#[tokio::test]
async fn event_and_payload_of_another_workspace_are_refused() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let second = store.add_workspace("b", "").await.unwrap().unwrap();
    push(&store, to(DEFAULT, "anna"), &[event(1, 1)]).await;
    let lines = push(&store, to(second, "anna"), &[event(1, 1), event(1, 2)]).await;
    assert_eq!(lines, [PushedLine::OtherWorkspace, PushedLine::New]);
    push_payload(&store, "anna", payload("aaaaaaaaaaaa", 0, "")).await;
    let again = [payload("aaaaaaaaaaaa", 7, "")];
    let pushed = store
        .push_payloads(to(second, "anna"), &again)
        .await
        .unwrap();
    let lines = vec![PushedLine::OtherWorkspace];
    assert_eq!(pushed, Push::Done { last: 0, lines });
}

#[tokio::test]
async fn number_far_above_the_known_ones_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let anna = to(DEFAULT, "anna");
    let at = |number, clock| EventToAdd {
        clock,
        ..event(1, number)
    };
    let far = PushedLine::TooFarAhead;
    // The bound is that before the push: one push cannot raise it step by step.
    let events = [at(1, MOST_AHEAD), at(2, MOST_AHEAD + 1), at(3, u64::MAX)];
    let lines = push(&store, anna, &events).await;
    assert_eq!(lines, [PushedLine::New, far(0), far(0)]);
    let events = [at(2, 2 * MOST_AHEAD), at(3, 2 * MOST_AHEAD + 1)];
    let lines = push(&store, anna, &events).await;
    assert_eq!(lines, [PushedLine::New, far(MOST_AHEAD)]);
    // The clock of a client is one for all workspaces.
    let other = store.add_workspace("Other", "").await.unwrap().unwrap();
    let lines = push(&store, to(other, "anna"), &[at(4, 2 * MOST_AHEAD + 1)]).await;
    assert_eq!(lines, [PushedLine::New]);
    let token = "aaaaaaaaaaaa";
    let push = async |version| push_payload(&store, "anna", payload(token, version, "")).await;
    assert_eq!(push(u64::MAX).await, far(0));
    assert_eq!(push(5).await, PushedLine::New);
    assert_eq!(push(MOST_AHEAD + 6).await, far(5));
}

#[tokio::test]
async fn version_of_a_payload_leaves_room_for_edits_of_the_team() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let (anna, token) = (to(DEFAULT, "anna"), "aaaaaaaaaaaa");
    // One push cannot raise the version step by step.
    let steps: Vec<PayloadToAdd> = (1..=5)
        .map(|step| payload(token, step * MOST_AHEAD, ""))
        .collect();
    let far = PushedLine::TooFarAhead(0);
    let mut lines = vec![far; 5];
    lines[0] = PushedLine::New;
    let pushed = store.push_payloads(anna, &steps).await.unwrap();
    assert_eq!(pushed, Push::Done { last: 1, lines });
    // Every later edit of a colleague is accepted.
    for version in [MOST_AHEAD + 1, MOST_AHEAD + 2] {
        let edited = payload(token, version, "edited");
        assert_eq!(push_payload(&store, "ben", edited).await, PushedLine::New);
    }
    // After a purge, members send the versions that they have.
    let now = Timestamp::now();
    store.purge_log(DEFAULT, "chief", now).await.unwrap();
    let second = LogAccess { epoch: 2, ..anna };
    let again = [payload(token, MOST_AHEAD + 2, "edited")];
    let pushed = store.push_payloads(second, &again).await.unwrap();
    let lines = vec![PushedLine::New];
    assert_eq!(pushed, Push::Done { last: 1, lines });
}

#[tokio::test]
async fn greater_version_of_a_payload_replaces_the_lesser_at_a_new_position() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let token = "aaaaaaaaaaaa";
    push_payload(&store, "anna", payload("bbbbbbbbbbbb", 1, "")).await;
    for (key, version, note, expected) in [
        ("anna", 1, "m", PushedLine::New),
        ("anna", 1, "m", PushedLine::Known),
        ("ben", 1, "a", PushedLine::Known),
        ("ben", 1, "z", PushedLine::New),
        ("ben", 0, "zz", PushedLine::Known),
        ("cleo", 2, "a", PushedLine::New),
    ] {
        let line = push_payload(&store, key, payload(token, version, note)).await;
        assert_eq!(line, expected, "{version} {note}");
    }
    let page = store.payload_page(DEFAULT, 1, 1000).await.unwrap().unwrap();
    let rows: Vec<(i64, &str)> = page
        .payloads
        .iter()
        .map(|row| (row.position, row.key.as_str()))
        .collect();
    assert_eq!((rows, page.last), (vec![(4, "cleo")], 4));
    assert_eq!(page.payloads[0].payload.get(), payload(token, 2, "a").json);
}

#[tokio::test]
async fn log_has_at_most_its_bytes() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let bytes = async || store.log_head(DEFAULT).await.unwrap().unwrap().bytes;
    let (first, token) = (event(1, 1), "aaaaaaaaaaaa");
    push(&store, to(DEFAULT, "anna"), &[first.clone(), first.clone()]).await;
    assert_eq!(bytes().await, first.json.len() as i64);
    for note in ["a", "longer", "z"] {
        let payload = payload(token, 1, note);
        push_payload(&store, "anna", payload.clone()).await;
        let both = first.json.len() + payload.json.len();
        assert_eq!(
            bytes().await,
            both as i64,
            "{note} replaces the text before"
        );
    }
    let second = [event(1, 2)];
    let most = MOST_LOG_BYTES - second[0].json.len() as i64;
    let fill = sql("UPDATE event_logs SET bytes = $1").bind(most + 1);
    store.execute(fill).await.unwrap();
    let anna = to(DEFAULT, "anna");
    let full = store.push_events(anna, &second).await.unwrap();
    assert_eq!(full, Push::Full);
    let large = [payload(token, 2, &"x".repeat(99))];
    assert_eq!(store.push_payloads(anna, &large).await.unwrap(), Push::Full);
    assert_eq!(push(&store, anna, &[first]).await, [PushedLine::Known]);
    let fill = sql("UPDATE event_logs SET bytes = $1").bind(most);
    store.execute(fill).await.unwrap();
    assert_eq!(push(&store, anna, &second).await, [PushedLine::New]);
}

#[tokio::test]
async fn page_ends_at_its_limit_or_at_its_bytes() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let long = |number| {
        let mut event = event(1, number);
        event.json = format!("\"{}\"", "x".repeat(400_000));
        event
    };
    push(&store, to(DEFAULT, "anna"), &[1, 2, 3, 4].map(long)).await;
    let positions = async |after, limit| -> Vec<i64> {
        let page = store.event_page(DEFAULT, after, limit).await.unwrap();
        page.unwrap()
            .events
            .iter()
            .map(|row| row.position)
            .collect()
    };
    assert_eq!(positions(0, 1000).await, [1, 2, 3]);
    assert_eq!(positions(3, 1000).await, [4]);
    assert_eq!(positions(1, 1).await, [2]);
    assert_eq!(positions(9, 1000).await, [0; 0]);
}

/// Whether the database or its log contains a text.
fn contains(dir: &Path, text: &str) -> bool {
    let files = std::fs::read_dir(dir).unwrap();
    let mut files = files.map(|file| std::fs::read(file.unwrap().path()).unwrap());
    files.any(|bytes| {
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    })
}

#[tokio::test]
async fn purged_texts_are_in_no_file_and_a_new_epoch_begins() {
    let temp = tempfile::tempdir().unwrap();
    let store = open_sqlite(temp.path()).await;
    let second = store.add_workspace("b", "").await.unwrap().unwrap();
    let mut rng = StdRng::seed_from_u64(7);
    // Rows of both workspaces side by side in the pages, with texts of any length.
    for number in 1..=300 {
        for (workspace, mark) in [(DEFAULT, "purged-text"), (second, "other-text")] {
            let mut event = event(workspace.0 as u64, number);
            event.json = format!("\"{}{mark}\"", "-".repeat(rng.random_range(0..900)));
            push(&store, to(workspace, "anna"), &[event]).await;
            let token = format!("aaaaaaaaaaa{}", (b'a' + (number % 20) as u8) as char);
            let token = token.replacen('a', if workspace == second { "s" } else { "d" }, 1);
            let note = format!("{}{mark}", "-".repeat(rng.random_range(0..900)));
            let payloads = [payload(&token, number, &note)];
            store
                .push_payloads(to(workspace, "anna"), &payloads)
                .await
                .unwrap();
        }
    }
    assert!(contains(temp.path(), "purged-text"));
    let now = Timestamp::from_second(1_700_000_000).unwrap();
    let purged = store
        .purge_log(DEFAULT, "chief", now)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((purged.epoch, purged.events, purged.payloads), (2, 300, 20));
    assert!(!contains(temp.path(), "purged-text"));
    assert!(
        contains(temp.path(), "other-text"),
        "another workspace keeps its rows"
    );

    let page = page(&store, 300).await;
    assert_eq!((page.epoch, page.last, page.last_payload), (2, 0, 0));
    assert_eq!(store.log_head(DEFAULT).await.unwrap().unwrap().bytes, 0);
    assert_eq!(page.purged, Some(purged));
    let old = store.push_events(to(DEFAULT, "anna"), &[event(9, 1)]).await;
    assert_eq!(old.unwrap(), Push::OtherEpoch(2));
    let new = LogAccess {
        epoch: 2,
        ..to(DEFAULT, "ben")
    };
    let lines = vec![PushedLine::New];
    let pushed = store.push_events(new, &[event(9, 1)]).await.unwrap();
    assert_eq!(pushed, Push::Done { last: 1, lines });
    assert_eq!(
        store.purge_log(WorkspaceId(9), "chief", now).await.unwrap(),
        None
    );
}

/// A store with 300 events of anna and 20 payloads, all with this text.
async fn store_with_texts(home: &Path, text: &str) -> Store {
    let store = open(home).await;
    let events: Vec<EventToAdd> = (1..=300)
        .map(|number| {
            let json = format!(r#"{{"who":"anna","text":"{text} {number}"}}"#);
            EventToAdd {
                json,
                ..event(1, number)
            }
        })
        .collect();
    push(&store, to(DEFAULT, "anna"), &events).await;
    for number in b'a'..b'a' + 20 {
        let token = format!("aaaaaaaaaaa{}", number as char);
        push_payload(&store, "anna", payload(&token, 1, text)).await;
    }
    store
}

#[tokio::test]
async fn interrupted_purge_shows_no_old_row_and_continues_at_the_next_start() {
    let temp = tempfile::tempdir().unwrap();
    let store = store_with_texts(temp.path(), "purged-text").await;
    let now = Timestamp::from_second(1_700_000_000).unwrap();
    store.deletions.interrupt();
    let interrupted = store.purge_log(DEFAULT, "chief", now).await;
    assert!(
        interrupted.is_err(),
        "after its first batch: {interrupted:?}"
    );

    let purged = Purged {
        epoch: 2,
        who: "chief".into(),
        at: Some(stamp(millis(now))),
        events: 300,
        payloads: 20,
    };
    let first = page(&store, 0).await;
    assert_eq!(first.purged, Some(purged.clone()));
    assert_eq!((first.epoch, first.last, first.last_payload), (2, 0, 0));
    assert_eq!(first.events.len(), 0);
    let payloads = store.payload_page(DEFAULT, 0, 1000).await.unwrap().unwrap();
    assert_eq!((payloads.last, payloads.payloads.len()), (0, 0));
    let left = "SELECT count(*) FROM shared_events WHERE key_name = 'anna'";
    let left = async |store: &Store| -> i64 { sql(left).one(store.read()).await.unwrap() };
    assert!((1..300).contains(&left(&store).await), "in the middle");

    // Members send again what is not deleted yet: it is new, and anna's dashboard is free.
    let second = LogAccess {
        epoch: 2,
        ..to(DEFAULT, "ben")
    };
    let again = [event(1, 300), event(2, 1)];
    let again = store.push_events(second, &again).await.unwrap();
    let lines = vec![PushedLine::New, PushedLine::New];
    assert_eq!(again, Push::Done { last: 2, lines });
    let again = [payload("aaaaaaaaaaaa", 0, "again")];
    let again = store.push_payloads(second, &again).await.unwrap();
    let lines = vec![PushedLine::New];
    assert_eq!(again, Push::Done { last: 1, lines });
    let rows = |page: EventPage| -> Vec<(i64, String)> {
        let rows = page.events.iter();
        rows.map(|row| (row.position, row.key.to_string()))
            .collect()
    };
    let expected = [(1, "ben".to_owned()), (2, "ben".to_owned())];
    assert_eq!(rows(page(&store, 0).await), expected);
    assert_eq!(rows(page(&store, 1).await), expected[1..]);

    // The process ends without more, and another one starts.
    let started = open(temp.path()).await;
    started.continue_purges().await.unwrap();
    assert_eq!(left(&started).await, 0);
    assert!(!contains(temp.path(), "purged-text"));
    assert_eq!(rows(page(&started, 0).await), expected);
    let payloads = started.payload_page(DEFAULT, 0, 9).await.unwrap().unwrap();
    assert_eq!((payloads.last, payloads.payloads.len()), (1, 1));
    assert_eq!(page(&started, 0).await.purged, Some(purged));
    let commits = started.commits();
    started.continue_purges().await.unwrap();
    assert_eq!(started.commits(), commits, "nothing is left to delete");
}

#[tokio::test]
async fn second_purge_deletes_what_an_interrupted_one_has_left() {
    let temp = tempfile::tempdir().unwrap();
    let store = store_with_texts(temp.path(), "purged-text").await;
    let now = Timestamp::from_second(1_700_000_000).unwrap();
    store.deletions.interrupt();
    assert!(store.purge_log(DEFAULT, "chief", now).await.is_err());
    let other = open(temp.path()).await;
    let purged = other.purge_log(DEFAULT, "chief", now).await.unwrap();
    let purged = purged.expect("the workspace exists");
    assert_eq!((purged.epoch, purged.payloads), (3, 20));
    assert!((1..300).contains(&purged.events), "{purged:?}");
    assert!(!contains(temp.path(), "purged-text"));
    let page = page(&other, 0).await;
    assert_eq!((page.epoch, page.last, page.purged), (3, 0, Some(purged)));
}

#[tokio::test]
async fn log_of_a_workspace_whose_deletion_was_interrupted_begins_an_epoch() {
    let temp = tempfile::tempdir().unwrap();
    let store = store_with_texts(temp.path(), "deleted-text").await;
    store.deletions.interrupt();
    assert!(store.delete_workspace(DEFAULT).await.is_err());
    // Without an author: members send everything again.
    let page = page(&store, 0).await;
    assert_eq!((page.epoch, page.last, page.purged), (2, 0, None));
    let second = LogAccess {
        epoch: 2,
        ..to(DEFAULT, "anna")
    };
    let again = [event(1, 1), event(1, 300)];
    let again = store.push_events(second, &again).await.unwrap();
    let lines = vec![PushedLine::New, PushedLine::New];
    assert_eq!(again, Push::Done { last: 2, lines });
}

#[tokio::test]
async fn deleted_workspace_leaves_no_shared_row() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let now = Timestamp::now();
    let id = store.add_workspace("b", "").await.unwrap().unwrap();
    push(&store, to(id, "anna"), &[event(1, 1)]).await;
    let payloads = [payload("aaaaaaaaaaaa", 0, "")];
    store
        .push_payloads(to(id, "anna"), &payloads)
        .await
        .unwrap();
    store.purge_log(id, "chief", now).await.unwrap();
    let view = DashboardView {
        key: "anna",
        dashboard: "d1",
        finding: None,
    };
    store.look(id, view, now).await.unwrap();
    assert!(store.delete_workspace(id).await.unwrap());
    for table in [
        "event_logs",
        "shared_events",
        "shared_payloads",
        "viewers",
        "purges",
    ] {
        let count = format!("SELECT count(*) FROM {table}");
        let rows: i64 = sql(count).one(store.read()).await.unwrap();
        assert_eq!(rows, 0, "{table}");
    }
    let pushed = store.push_events(to(id, "anna"), &[event(1, 1)]).await;
    assert_eq!(pushed.unwrap(), Push::NoWorkspace);
    assert!(store.event_page(id, 0, 9).await.unwrap().is_none());
}

#[tokio::test]
async fn viewer_is_shown_for_30_seconds_and_written_when_it_changes() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let after = |seconds: i64| Timestamp::from_second(1_700_000_000 + seconds).unwrap();
    let look = async |key: &str, finding: Option<&str>, second| {
        let before = store.commits();
        let view = DashboardView {
            key,
            dashboard: "",
            finding,
        };
        store.look(DEFAULT, view, after(second)).await.unwrap();
        store.commits() > before
    };
    let shown = async |second| -> Vec<(String, Option<String>, i64)> {
        let viewers = store.viewers(DEFAULT, "anna", after(second)).await.unwrap();
        let row = |viewer: &scandeck_wire::contract::team::Viewer| {
            let since = viewer.since.unwrap().as_second() - after(0).as_second();
            (
                viewer.who.to_string(),
                viewer.finding.as_ref().map(|key| key.to_string()),
                since,
            )
        };
        viewers.iter().map(row).collect()
    };
    let ben = |finding: Option<&str>, since| ("ben".to_owned(), finding.map(str::to_owned), since);
    assert!(look("anna", Some("f1"), 0).await);
    assert_eq!(shown(0).await, [], "nobody else");
    assert!(look("ben", Some("f1"), 0).await);
    assert!(!look("ben", Some("f1"), 9).await, "written 9 s ago");
    assert!(look("ben", Some("f1"), 10).await);
    assert_eq!(shown(39).await, [ben(Some("f1"), 0)]);
    assert_eq!(shown(40).await, [], "silent for 30 s");
    assert!(look("ben", Some("f2"), 12).await);
    assert!(look("ben", None, 13).await);
    assert_eq!(shown(13).await, [ben(None, 13)]);
    assert!(look("ben", None, 60).await);
    assert_eq!(shown(60).await, [ben(None, 60)], "away in between");
    let set_back = after(0) - SignedDuration::from_hours(1);
    let view = DashboardView {
        key: "ben",
        dashboard: "",
        finding: None,
    };
    store.look(DEFAULT, view, set_back).await.unwrap();
    assert_eq!(
        store
            .viewers(DEFAULT, "anna", set_back)
            .await
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn person_with_two_dashboards_is_one_viewer_where_the_person_moved_last() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let after = |seconds: i64| Timestamp::from_second(1_700_000_000 + seconds).unwrap();
    let look = async |dashboard: &str, finding: &str, second| {
        let view = DashboardView {
            key: "ben",
            dashboard,
            finding: Some(finding),
        };
        store.look(DEFAULT, view, after(second)).await.unwrap();
    };
    let shown = async |second| -> Vec<(String, i64)> {
        let viewers = store.viewers(DEFAULT, "anna", after(second)).await.unwrap();
        assert!(viewers.iter().all(|viewer| viewer.who == "ben"));
        let since = |since: Option<Stamp>| since.unwrap().as_second() - after(0).as_second();
        viewers
            .iter()
            .map(|viewer| {
                (
                    viewer.finding.as_ref().unwrap().to_string(),
                    since(viewer.since),
                )
            })
            .collect()
    };
    // Both poll every two seconds.
    for second in (0..40).step_by(2) {
        look("one", "f1", second).await;
        assert_eq!(shown(second).await.len(), 1);
        look("two", "f2", second + 1).await;
        assert_eq!(shown(second + 1).await, [("f2".to_owned(), 1)]);
    }
    look("one", "f3", 40).await;
    look("two", "f2", 41).await;
    assert_eq!(shown(41).await, [("f3".to_owned(), 40)]);
    look("one", "f1", 42).await;
    look("two", "f2", 43).await;
    assert_eq!(shown(43).await, [("f1".to_owned(), 42)], "back again");
    for second in (44..80).step_by(2) {
        look("two", "f2", second).await;
    }
    assert_eq!(
        shown(80).await,
        [("f2".to_owned(), 1)],
        "the other is closed"
    );
    let rows: i64 = sql("SELECT count(*) FROM viewers")
        .one(store.read())
        .await
        .unwrap();
    assert_eq!(rows, 1, "no row remains of a closed dashboard");
}

#[tokio::test]
async fn each_log_of_a_restored_database_begins_an_epoch() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("scandeck.db");
    let now = Timestamp::from_second(1_700_000_000).unwrap();
    let store = open_sqlite(temp.path()).await;
    let unused = store.add_workspace("b", "").await.unwrap().unwrap();
    push(&store, to(DEFAULT, "anna"), &[event(1, 1)]).await;
    let id = store.service_id().await.unwrap();
    store.close().await;
    for epoch in [1_700_000_000, 1_700_000_001] {
        Store::begin_epochs(&file, now).await.unwrap();
        let store = open_sqlite(temp.path()).await;
        for workspace in [DEFAULT, unused] {
            let head = store.log_head(workspace).await.unwrap().unwrap();
            assert_eq!(head.epoch, epoch);
        }
        let page = page(&store, 0).await;
        assert_eq!((page.last, page.events.len(), page.purged), (1, 1, None));
        assert_eq!(store.service_id().await.unwrap(), id);
        store.close().await;
    }
    assert_eq!(id.len(), 32);
}
