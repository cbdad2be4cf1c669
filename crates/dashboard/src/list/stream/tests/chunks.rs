//! A query on many captures runs in chunks, and the screen is correct meanwhile.

use crate::base::RowRef;
use crate::list::stream::ChunkQuery;
use crate::list::stream::tests::*;
use crate::list::{CaptureExport, CaptureGroupBy, StreamList};
use scandeck_domain::oob::{Mention, Token};
use std::sync::Arc;

/// Twenty captures; four of them are a chunk, more or less.
fn full() -> Stream {
    let mut stream = Stream::default();
    stream.take(some(1..=20));
    stream
}

fn chunk<'a>(stream: &'a Stream, query: &'a Query) -> ChunkQuery<'a> {
    ChunkQuery {
        bytes: 4 * stream.rows[0].bytes(),
        ..chunk_query(stream, query)
    }
}

fn shown(list: &StreamList, stream: &Stream) -> Vec<i64> {
    (0..list.len())
        .map(|at| list.id_at(stream, at).unwrap().capture.0)
        .collect()
}

#[test]
fn newest_chunk_runs_first_and_end_is_followed() {
    let (stream, query, mut list) = (full(), even(), StreamList::default());
    list.show(&chunk(&stream, &query));
    assert_eq!((shown(&list, &stream), list.pending()), (vec![18, 20], 16));
    list.next_chunk(&chunk(&stream, &query));
    assert_eq!(
        (shown(&list, &stream), list.pending()),
        (vec![14, 16, 18, 20], 12)
    );
    assert_eq!((list.at, list.is_following(), list.below()), (3, true, 0));
    while list.pending() > 0 {
        list.next_chunk(&chunk(&stream, &query));
    }
    assert_eq!(
        shown(&list, &stream),
        (1..=10).map(|half| 2 * half).collect::<Vec<_>>()
    );
    assert_eq!((list.at, list.is_following()), (9, true));
}

#[test]
fn selected_capture_is_in_first_chunk() {
    let (stream, query, mut list) = (full(), even(), StreamList::default());
    let everything = Query::everything(QueryKind::Captures);
    list.show(&chunk_query(&stream, &everything));
    list.select_at(&stream, 5);
    list.mark(&stream, 5, true);
    list.show(&chunk(&stream, &query));
    assert_eq!(shown(&list, &stream), [6, 18, 20]);
    assert_eq!(
        (list.at, list.current(&stream).unwrap().capture.id.0),
        (0, 6)
    );
    assert_eq!((list.marks().len(), list.marks_hidden()), (1, 0));
    while list.pending() > 0 {
        list.next_chunk(&chunk(&stream, &query));
        assert_eq!(list.current(&stream).unwrap().capture.id.0, 6);
    }
    assert_eq!((list.at, list.len(), list.follow), (2, 10, false));
}

#[test]
fn new_query_discards_results_of_previous_one() {
    let (stream, query, mut list) = (full(), even(), StreamList::default());
    list.show(&chunk(&stream, &query));
    let odd = Query::parse("odd", QueryKind::Captures).unwrap();
    list.show(&chunk(&stream, &odd));
    assert_eq!((shown(&list, &stream), list.pending()), (vec![17, 19], 16));
    while list.pending() > 0 {
        list.next_chunk(&chunk(&stream, &odd));
    }
    assert_eq!(
        shown(&list, &stream),
        (0..10).map(|half| 2 * half + 1).collect::<Vec<_>>()
    );
}

#[test]
fn captures_that_arrive_during_query_are_counted() {
    let (mut stream, query, mut list) = (full(), even(), StreamList::default());
    list.show(&chunk(&stream, &query));
    (list.paused, list.follow) = (true, false);
    let new = stream.take(some([21, 22, 24]));
    list.extend(&chunk(&stream, &query), &new);
    let new = stream.recall(some([-4, -2]));
    list.extend(&chunk(&stream, &query), &new);
    while list.pending() > 0 {
        list.next_chunk(&chunk(&stream, &query));
    }
    assert_eq!(
        (shown(&list, &stream)[0], list.len(), list.below()),
        (-4, 14, 2)
    );
    assert_eq!(list.current(&stream).unwrap().capture.id.0, 20);
}

fn mention() -> Arc<[Mention]> {
    let place = scandeck_domain::oob::MentionPlace::Query("t".into());
    [Mention {
        token: Token::of(1),
        known: false,
        place,
        wrapped: Vec::new(),
        added: "".into(),
    }]
    .into()
}

#[test]
fn next_capture_of_the_group_takes_the_place_of_a_hidden_one() {
    let (mut stream, mut list) = (full(), StreamList::default());
    let rest = Query::parse("-is:unknown_token", QueryKind::Captures).unwrap();
    list.group(Some(CaptureGroupBy::Logger));
    list.show(&chunk_query(&stream, &rest));
    let group = list.groups.iter().next().unwrap().id;
    list.groups.set_open(group, true);
    for (hidden, next) in [(7, 8), (20, 19)] {
        let key = capture_row(capture(hidden)).id();
        list.follow = false;
        list.select_at(&stream, list.place(&stream, key).unwrap());
        list.follow = false;
        let rows = stream.mention(&[(key, mention())]);
        list.refilter(&chunk_query(&stream, &rest), &rows);
        assert_eq!(
            list.selected_row(),
            Some(RowRef::Item(capture_row(capture(next)).id()))
        );
    }
}

#[test]
fn changed_captures_are_filtered_again() {
    let (mut stream, mut list) = (full(), StreamList::default());
    let unknown = Query::parse("is:unknown_token", QueryKind::Captures).unwrap();
    list.show(&chunk_query(&stream, &unknown));
    assert_eq!(list.len(), 0);
    let now = mention();
    let changed = [7, 3].map(|id| (capture_row(capture(id)).id(), Arc::clone(&now)));
    let rows = stream.mention(&changed);
    list.refilter(&chunk_query(&stream, &unknown), &rows);
    assert_eq!(shown(&list, &stream), [3, 7]);
    list.refilter(
        &ChunkQuery {
            bytes: 0,
            ..chunk_query(&stream, &unknown)
        },
        &rows[..1],
    );
    assert_eq!(
        (shown(&list, &stream), list.pending()),
        (vec![7], 1),
        "the other one was not queried"
    );
}

#[test]
fn export_is_complete_while_captures_arrive() {
    let (mut stream, query) = (full(), even());
    let mut gathering = CaptureExport::new(query.clone(), None);
    assert!(gathering.next_chunk(&chunk(&stream, &query)).is_none());
    stream.take(some([21, 22]));
    stream.recall(some([0]));
    let found = loop {
        if let Some(found) = gathering.next_chunk(&chunk(&stream, &query)) {
            break found;
        }
    };
    let found: Vec<i64> = found.iter().map(|captured| captured.capture.id.0).collect();
    assert_eq!(
        found,
        (0..=10).map(|half| 2 * half).collect::<Vec<_>>(),
        "as of the time of the query, and older ones"
    );
}

#[test]
fn late_captures_keep_results_of_moved_rows() {
    let mut stream = Stream::default();
    stream.take(some((1..=40).filter(|id| id % 10 != 3)));
    let (query, mut list) = (even(), StreamList::default());
    list.show(&chunk_query(&stream, &query));
    list.select_at(&stream, 10);
    let (selected, before) = (list.selected, shown(&list, &stream));
    let new = stream.take(some([3, 13]));
    list.extend(
        &ChunkQuery {
            bytes: 0,
            ..chunk_query(&stream, &query)
        },
        &new,
    );
    assert_eq!(
        (shown(&list, &stream), list.pending()),
        (before, 2),
        "only these two remain to be queried"
    );
    assert_eq!((list.selected, list.at), (selected, 10));
    list.next_chunk(&chunk_query(&stream, &query));
    assert_eq!(
        (list.selected, list.at, list.pending(), list.below()),
        (selected, 10, 0, 0)
    );
}

#[test]
fn unfiltered_captures_need_no_chunks() {
    let (stream, mut list) = (full(), StreamList::default());
    list.show(&chunk(&stream, &Query::everything(QueryKind::Captures)));
    assert_eq!((list.len(), list.pending()), (20, 0));
}

#[test]
fn selection_moves_to_next_match_without_following() {
    let (stream, mut list) = (full(), StreamList::default());
    let everything = Query::everything(QueryKind::Captures);
    list.show(&chunk_query(&stream, &everything));
    list.select_at(&stream, 4);
    for (query, at) in [("even", 6), ("odd", 7)] {
        let query = Query::parse(query, QueryKind::Captures).unwrap();
        list.show(&chunk(&stream, &query));
        assert!(!list.follow, "it is not where it is to be yet");
        while list.pending() > 0 {
            list.next_chunk(&chunk(&stream, &query));
        }
        assert_eq!(
            (list.current(&stream).unwrap().capture.id.0, list.follow),
            (at, false)
        );
    }
    // The only one that matches is in the last chunk.
    let mut stream = Stream::default();
    stream.take(some((1..=19).filter(|id| id % 2 == 1).chain([2])));
    list = StreamList::default();
    list.show(&chunk_query(&stream, &everything));
    list.select_at(&stream, 3);
    list.show(&chunk(&stream, &even()));
    assert!(list.is_empty() && !list.follow);
    while list.pending() > 0 {
        list.next_chunk(&chunk(&stream, &even()));
    }
    assert_eq!(
        (shown(&list, &stream), list.at, list.follow),
        (vec![2], 0, false)
    );
}

/// A query at a time, in seconds after the capture 0.
fn chunk_at<'a>(stream: &'a Stream, query: &'a Query, second: i64) -> ChunkQuery<'a> {
    let query = chunk_query(stream, query);
    ChunkQuery {
        context: StreamContext {
            now: 1_800_000_000 + second,
            ..query.context
        },
        ..query
    }
}

#[test]
fn query_on_age_follows_time_when_captures_arrive() {
    let (mut stream, mut list) = (full(), StreamList::default());
    let recent = Query::parse("time<5s", QueryKind::Captures).unwrap();
    list.show(&chunk_at(&stream, &recent, 20));
    assert_eq!(shown(&list, &stream), [16, 17, 18, 19, 20]);
    list.follow = false;
    list.select_at(&stream, 0);
    let new = stream.take(some([21]));
    list.extend(&chunk_at(&stream, &recent, 21), &new);
    assert_eq!(shown(&list, &stream), [17, 18, 19, 20, 21]);
    assert_eq!(
        list.current(&stream).unwrap().capture.id.0,
        17,
        "the row that took its place"
    );
}

#[test]
fn query_on_age_ends_although_captures_arrive_during_each_chunk() {
    let (mut stream, mut list) = (full(), StreamList::default());
    let recent = Query::parse("time<1h", QueryKind::Captures).unwrap();
    let bytes = chunk(&stream, &recent).bytes;
    list.show(&ChunkQuery {
        bytes,
        ..chunk_at(&stream, &recent, 20)
    });
    assert!(list.pending() > 0);
    let ends = (21..100).any(|id| {
        let new = stream.take(some([id]));
        list.extend(
            &ChunkQuery {
                bytes,
                ..chunk_at(&stream, &recent, id)
            },
            &new,
        );
        list.pending() == 0
    });
    assert!(ends);
}
