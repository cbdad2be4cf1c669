//! The stream of captures and its list.

mod chunks;
mod properties;

use crate::data::stream::*;
use crate::list::stream::{CaptureRow, ChunkQuery};
use crate::list::{CHUNK, Cursor, StreamContext, StreamList, StreamRows};
use scandeck_domain::oob::ArchivedCapture;
use scandeck_domain::query::{Query, QueryKind};
use scandeck_wire::contract::{Capture, CaptureId, LoggerId, Shared, Stamp};
use std::sync::Arc;

impl StreamList {
    fn unfold(&mut self, stream: &Stream) {
        StreamRows { list: self, stream }.unfold()
    }

    fn fold(&mut self, stream: &Stream) {
        StreamRows { list: self, stream }.fold()
    }
}

fn capture(id: i64) -> Capture {
    let date = jiff::Timestamp::from_second(1_800_000_000 + id).unwrap();
    let query = if id % 2 == 0 { "even" } else { "odd" };
    Capture {
        id: CaptureId(id),
        url_params: query.into(),
        request_date: Some(Stamp(date)),
        ..Capture::default()
    }
}

fn capture_row(capture: Capture) -> CaptureRow {
    let archived = ArchivedCapture {
        workspace: "Acme".into(),
        logger: LoggerId(1),
        label: "probe".into(),
        handler_url: Shared::default(),
        seen_at: Stamp(jiff::Timestamp::UNIX_EPOCH),
        capture: Arc::new(capture),
    };
    CaptureRow::new(&archived, Vec::new())
}

fn some(ids: impl IntoIterator<Item = i64>) -> Vec<CaptureRow> {
    ids.into_iter().map(|id| capture_row(capture(id))).collect()
}

fn ids(stream: &Stream) -> Vec<i64> {
    stream
        .rows
        .iter()
        .map(|captured| captured.capture.id.0)
        .collect()
}

fn chunk_query<'a>(stream: &'a Stream, query: &'a Query) -> ChunkQuery<'a> {
    let context = StreamContext {
        only: None,
        read: None,
        others: &scandeck_domain::table::NoOtherLists,
        now: 0,
    };
    ChunkQuery {
        stream,
        query,
        context,
        bytes: CHUNK,
    }
}

fn even() -> Query {
    Query::parse("even", QueryKind::Captures).unwrap()
}

#[test]
fn full_stream_drops_oldest_and_keeps_selection() {
    let (mut stream, mut list) = (
        Stream {
            most: 1_000,
            ..Stream::default()
        },
        StreamList::default(),
    );
    stream.take(some(1..=1_000));
    list.show(&chunk_query(&stream, &even()));
    list.select_at(&stream, 200);
    let selected = list.selected;
    let new = stream.take(some(1_001..=1_010));
    list.extend(&chunk_query(&stream, &even()), &new);
    assert_eq!((stream.rows.len(), stream.dropped), (1_000, 10));
    assert_eq!((list.selected, list.at, list.below()), (selected, 195, 5));
    assert_eq!(list.current(&stream).map(CaptureRow::id), selected);
    stream.take(some(3..=5));
    assert_eq!(
        (stream.rows.len(), stream.dropped),
        (1_000, 10),
        "dropped captures do not reappear"
    );
}

#[test]
fn late_capture_moves_only_later_rows() {
    let mut stream = Stream::default();
    assert_eq!(
        stream.take(some([1, 2, 3, 8, 9])),
        (START..START + 5).collect::<Vec<_>>()
    );
    assert_eq!(stream.take(some([11, 10])), [START + 5, START + 6]);
    assert_eq!(
        stream.take(some([12, 7, 5, 9])),
        [START + 3, START + 4, START + 9]
    );
    assert_eq!(ids(&stream), [1, 2, 3, 5, 7, 8, 9, 10, 11, 12]);
    assert!(stream.take(some([9])).is_empty(), "it is here");
    assert!(
        stream.take(some([-1, 0])).is_empty(),
        "in front nothing moves"
    );
    assert_eq!(
        (stream.first, stream.row_of(capture_row(capture(5)).id())),
        (START - 2, Some(START + 3))
    );
}

#[test]
fn large_bodies_reach_byte_limit_before_count_limit() {
    let mut stream = Stream::default();
    let big = |id| {
        let body = "x".repeat(1 << 20).as_str().into();
        capture_row(Capture {
            request_body_base64: body,
            ..capture(id)
        })
    };
    stream.take((1..=140).map(big).collect());
    assert!(
        stream.dropped >= 12 && stream.bytes <= MOST_BYTES,
        "{}",
        stream.dropped
    );
}

#[test]
fn older_captures_are_added_in_front_once() {
    let mut stream = Stream::default();
    stream.take(some([7, 8, 9]));
    let seven = stream.row_of(capture_row(capture(7)).id());
    assert!(
        stream.recall(some([4, 5, 6, 7])).is_empty(),
        "none of those known moved"
    );
    assert_eq!(
        (ids(&stream), stream.row_of(capture_row(capture(7)).id())),
        ((4..=9).collect(), seven)
    );
    stream.take(some([5, 9, 10]));
    assert_eq!(ids(&stream), (4..=10).collect::<Vec<_>>());
    assert_eq!(
        stream.recall(some([3, 11])),
        [START + 4],
        "one came in meanwhile"
    );
    assert_eq!(ids(&stream), (3..=11).collect::<Vec<_>>());
}

#[test]
fn reused_id_with_other_time_is_another_capture() {
    let mut stream = Stream::default();
    let again = capture_row(Capture {
        request_date: capture(50).request_date,
        ..capture(2)
    });
    stream.take(some([1, 2]));
    stream.take(vec![again.clone()]);
    assert_eq!(ids(&stream), [1, 2, 2]);
    assert_eq!(stream.row_of(again.id()), Some(START + 2));
}

#[test]
fn cloned_capture_shares_its_text() {
    let one = capture_row(capture(1));
    assert!(Arc::ptr_eq(&one.text, &one.clone().text));
}
