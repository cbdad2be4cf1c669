//! Tests of hits, each on its own files.

use std::path::Path;

use super::super::OpenedArchive;
use super::super::tests::{archived, break_payloads, holds, open, payload, stamp};
use super::*;
use scandeck_wire::contract::Capture;

/// A capture that carries a payload, a second after the one with the id before it.
fn calls(workspace: &str, id: i64, number: u64) -> ArchivedCapture {
    let one = archived(workspace, 1, id);
    let url_params = format!("u={}/x", Token::of(number)).into();
    ArchivedCapture {
        capture: Arc::new(Capture {
            url_params,
            ..(*one.capture).clone()
        }),
        ..one
    }
}

/// Hits of each payload of a workspace, by its number.
async fn counts(store: &mut Store, workspace: &str) -> Vec<(u64, u64)> {
    let mut counts: Vec<_> = store.counts_of(workspace).await.unwrap();
    counts.sort_by_key(|count| count.token);
    counts
        .iter()
        .map(|count| (count.token.number(), count.hits.count))
        .collect()
}

impl Store {
    /// Archives and keeps the hits, as a dashboard does it.
    async fn take(&mut self, captures: Vec<ArchivedCapture>, book: &PayloadBook) {
        let rows = self.archive(captures.clone()).await.unwrap();
        let hits: Vec<Hit> = captures
            .iter()
            .flat_map(|one| one.hits(&mentions(&one.capture, book)))
            .collect();
        self.insert_hits(&hits, rows).await.unwrap();
    }

    /// Searches everything and returns the number of chunks.
    async fn search_all(&mut self, book: &mut PayloadBook) -> usize {
        let mut chunks = 1;
        while !self.search_chunk(book).await.unwrap().ended {
            chunks += 1;
        }
        chunks
    }
}

/// An archive with two payloads.
async fn planted(directory: &Path) -> OpenedArchive {
    open(directory)
        .await
        .store
        .plant(&[payload(1, "Acme", 1, ""), payload(2, "Acme", 1, "")])
        .await
        .unwrap();
    open(directory).await
}

#[tokio::test]
async fn repeated_archiving_counts_request_once() {
    let temp = tempfile::tempdir().unwrap();
    let OpenedArchive {
        store: mut ann,
        book,
        ..
    } = planted(temp.path()).await;
    let mut bob = open(temp.path()).await.store;
    ann.take(
        vec![
            calls("Acme", 5, 1),
            calls("Acme", 3, 1),
            calls("Acme", 4, 2),
            calls("Lab", 9, 1),
        ],
        &book,
    )
    .await;
    bob.take(vec![calls("Acme", 5, 1), calls("Acme", 6, 1)], &book)
        .await;
    ann.take(vec![calls("Acme", 5, 1), archived("Acme", 1, 8)], &book)
        .await;
    for store in [&mut ann, &mut bob] {
        assert_eq!(counts(store, "Acme").await, [(1, 3), (2, 1)]);
        assert_eq!(counts(store, "Lab").await, [(1, 1)]);
        assert!(!store.is_behind().await.unwrap());
    }
    let all = bob.counts_of("Acme").await.unwrap();
    let one = all
        .iter()
        .find(|count| count.token == Token::of(1))
        .unwrap();
    let date = |id| calls("Acme", id, 1).capture.request_date;
    assert_eq!((one.hits.first, one.hits.last), (date(3), date(6)));
    // Each reads the current counts of both payloads.
    assert_eq!(ann.new_counts().await.unwrap().len(), 3);
    let news = bob.news().await.unwrap();
    assert!(news.counts.contains(one) && !news.behind, "{news:?}");
    assert!(
        ann.new_counts().await.unwrap().is_empty() && bob.news().await.unwrap().counts.is_empty()
    );
}

#[tokio::test]
async fn undated_request_counts_without_time() {
    let temp = tempfile::tempdir().unwrap();
    let OpenedArchive {
        mut store, book, ..
    } = planted(temp.path()).await;
    let undated = |id| {
        let one = calls("Acme", id, 1);
        ArchivedCapture {
            capture: Arc::new(Capture {
                request_date: None,
                ..(*one.capture).clone()
            }),
            ..one
        }
    };
    store.take(vec![undated(1)], &book).await;
    assert_eq!(
        store.new_counts().await.unwrap()[0].hits,
        Hits {
            count: 1,
            ..Hits::default()
        }
    );
    store
        .take(vec![calls("Acme", 2, 1), undated(3)], &book)
        .await;
    let date = calls("Acme", 2, 1).capture.request_date;
    assert_eq!(
        store.new_counts().await.unwrap()[0].hits,
        Hits {
            count: 3,
            first: date,
            last: date
        }
    );
}

#[tokio::test]
async fn archive_that_nobody_searched_is_searched_in_chunks() {
    let temp = tempfile::tempdir().unwrap();
    let OpenedArchive {
        mut store,
        mut book,
        ..
    } = open(temp.path()).await;
    let captures = (1..=2_500).map(|id| calls("Acme", id, 1 + id as u64 % 2));
    store.archive(captures.collect()).await.unwrap();
    let planted = [payload(1, "Acme", 1, "")];
    store.plant(&planted).await.unwrap();
    book.take(planted);
    assert!(store.is_behind().await.unwrap() && counts(&mut store, "Acme").await.is_empty());
    assert_eq!(store.search_all(&mut book).await, 3);
    assert_eq!(counts(&mut store, "Acme").await, [(1, 1_250)]);
    assert!(!store.is_behind().await.unwrap());
    store.close().await;
    assert_eq!(
        counts(&mut open(temp.path()).await.store, "Acme").await,
        [(1, 1_250)]
    );
}

#[tokio::test]
async fn interrupted_archiving_gets_hits_from_next_instance() {
    let temp = tempfile::tempdir().unwrap();
    let OpenedArchive {
        store: mut ann,
        mut book,
        ..
    } = planted(temp.path()).await;
    let mut bob = open(temp.path()).await.store;
    ann.archive(vec![calls("Acme", 1, 1), calls("Acme", 2, 1)])
        .await
        .unwrap();
    ann.close().await;
    assert!(bob.news().await.unwrap().behind);
    bob.take(vec![calls("Acme", 3, 1)], &book).await;
    assert_eq!(counts(&mut bob, "Acme").await, [(1, 1)]);
    assert!(
        bob.is_behind().await.unwrap(),
        "what is before these is not searched"
    );
    bob.search_all(&mut book).await;
    assert_eq!(counts(&mut bob, "Acme").await, [(1, 3)]);
    assert!(!bob.is_behind().await.unwrap());
}

#[tokio::test]
async fn payload_of_other_instance_is_searched_and_reported() {
    let temp = tempfile::tempdir().unwrap();
    let OpenedArchive {
        mut store,
        mut book,
        ..
    } = open(temp.path()).await;
    let mut other = open(temp.path()).await.store;
    other.plant(&[payload(7, "Acme", 1, "")]).await.unwrap();
    other.archive(vec![calls("Acme", 1, 7)]).await.unwrap();
    let looked = store.search_chunk(&mut book).await.unwrap();
    assert_eq!(
        (looked.payloads.len(), looked.ended, book.len()),
        (1, true, 1)
    );
    assert_eq!(counts(&mut store, "Acme").await, [(7, 1)]);
}

#[tokio::test]
async fn payload_imported_after_captures_gets_hits() {
    let temp = tempfile::tempdir().unwrap();
    let OpenedArchive {
        mut store,
        mut book,
        ..
    } = open(temp.path()).await;
    store.take(vec![calls("Acme", 1, 7)], &book).await;
    open(temp.path())
        .await
        .store
        .plant(&[payload(7, "Acme", 1, "")])
        .await
        .unwrap();
    assert!(!store.is_behind().await.unwrap() && counts(&mut store, "Acme").await.is_empty());
    store.look_again().await.unwrap();
    store.search_all(&mut book).await;
    assert_eq!(counts(&mut store, "Acme").await, [(7, 1)]);
}

#[tokio::test]
async fn search_with_outdated_payloads_is_discarded() {
    let temp = tempfile::tempdir().unwrap();
    let OpenedArchive {
        mut store,
        mut book,
        ..
    } = open(temp.path()).await;
    let (mut unbundle, mut other) = (open(temp.path()).await.store, open(temp.path()).await);
    unbundle
        .archive(vec![calls("Acme", 1, 7), calls("Acme", 2, 8)])
        .await
        .unwrap();
    let begun = RowRange {
        after: store.searched().await.unwrap(),
        last: 2,
    };
    for number in [7, 8] {
        unbundle
            .plant(&[payload(number, "Acme", 1, "")])
            .await
            .unwrap();
        unbundle.look_again().await.unwrap();
        // Somebody else is through meanwhile, and the order to look again is given once more.
        other.store.search_all(&mut other.book).await;
        unbundle.look_again().await.unwrap();
    }
    assert!(!store.insert_hits(&[], begun).await.unwrap() && store.is_behind().await.unwrap());
    store.search_all(&mut book).await;
    assert_eq!(
        (book.len(), counts(&mut store, "Acme").await),
        (2, vec![(7, 1), (8, 1)])
    );
    // One that made the payload itself knows of it.
    store.plant(&[payload(9, "Acme", 1, "")]).await.unwrap();
    book.take([payload(9, "Acme", 1, "")]);
    store.take(vec![calls("Acme", 3, 9)], &book).await;
    assert!(!store.is_behind().await.unwrap());
}

#[tokio::test]
async fn deleted_captures_keep_their_hits() {
    let temp = tempfile::tempdir().unwrap();
    let OpenedArchive {
        mut store,
        mut book,
        ..
    } = planted(temp.path()).await;
    store
        .take(vec![calls("Acme", 1, 1), calls("Acme", 90, 1)], &book)
        .await;
    store
        .archive(vec![calls("Acme", 2, 2), calls("Acme", 91, 2)])
        .await
        .unwrap();
    assert_eq!(store.forget_before(stamp(50), &book).await.unwrap(), 2);
    store.search_all(&mut book).await;
    assert_eq!(store.captures_of("Acme").await.unwrap().len(), 2);
    assert_eq!(counts(&mut store, "Acme").await, [(1, 2), (2, 2)]);
}

#[tokio::test]
async fn rescue_keeps_hits_of_deleted_captures() {
    let temp = tempfile::tempdir().unwrap();
    let OpenedArchive {
        mut store, book, ..
    } = planted(temp.path()).await;
    store
        .take(vec![calls("Acme", 1, 1), calls("Acme", 90, 1)], &book)
        .await;
    store.forget_before(stamp(50), &book).await.unwrap();
    break_payloads(store, temp.path()).await;
    let mut opened = open(temp.path()).await;
    assert!(
        opened.notes[0].contains("1 capture and 0 payloads with 2 hits"),
        "{:?}",
        opened.notes
    );
    assert_eq!(counts(&mut opened.store, "Acme").await, [(1, 2)]);
}

#[tokio::test]
async fn purge_deletes_hits_of_workspace_and_its_payloads_only() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).await.store;
    store
        .plant(&[payload(1, "Topsecret", 1, ""), payload(2, "Lab", 1, "")])
        .await
        .unwrap();
    store.close().await;
    let OpenedArchive {
        mut store, book, ..
    } = open(temp.path()).await;
    store
        .take(
            vec![
                calls("Topsecret", 1, 1),
                calls("Topsecret", 2, 2),
                calls("Lab", 90, 2),
            ],
            &book,
        )
        .await;
    store.forget_before(stamp(50), &book).await.unwrap();
    // A payload of the one was called in the other; its request has left.
    let astray = Hit {
        workspace: "Lab".into(),
        ..hit_of(&calls("Lab", 3, 1), &book)
    };
    store
        .insert_hits(&[astray], RowRange::default())
        .await
        .unwrap();
    assert_eq!(store.workspaces().await.unwrap(), ["Lab", "Topsecret"]);
    let stored = store.stored_rows("Topsecret").await.unwrap();
    assert_eq!(stored.counts, [("capture", 0), ("payload", 1), ("hit", 3)]);
    store.close().await;
    open(temp.path())
        .await
        .store
        .purge("Topsecret")
        .await
        .unwrap();
    assert!(!holds(temp.path(), "Topsecret") && !holds(temp.path(), &Token::of(1).to_string()));
    assert_eq!(
        counts(&mut open(temp.path()).await.store, "Lab").await,
        [(2, 1)]
    );
}

fn hit_of(one: &ArchivedCapture, book: &PayloadBook) -> Hit {
    one.hits(&mentions(&one.capture, book))
        .into_iter()
        .next()
        .unwrap()
}
