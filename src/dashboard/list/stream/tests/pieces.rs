//! A query over many captures is asked piece by piece, and nothing on the screen is wrong meanwhile.

use crate::dashboard::list::stream::Asking;
use crate::dashboard::list::stream::tests::*;
use crate::dashboard::list::{Gathering, StreamList};
use crate::oob::{Mention, Token};
use std::sync::Arc;

/// Twenty captures; four of them are a piece, more or less.
fn full() -> Stream {
    let mut stream = Stream::default();
    stream.take(some(1..=20));
    stream
}

fn piece<'a>(stream: &'a Stream, query: &'a Query) -> Asking<'a> {
    Asking { piece: 4 * stream.caught[0].bytes(), ..asking(stream, query) }
}

fn shown(list: &StreamList, stream: &Stream) -> Vec<i64> {
    (0..list.len()).map(|at| list.id_at(stream, at).unwrap().capture.0).collect()
}

#[test]
fn the_newest_are_asked_first_and_the_end_is_followed_throughout() {
    let (stream, query, mut list) = (full(), even(), StreamList::default());
    list.show(&piece(&stream, &query));
    assert_eq!((shown(&list, &stream), list.unasked()), (vec![18, 20], 16));
    list.ask_on(&piece(&stream, &query));
    assert_eq!((shown(&list, &stream), list.unasked()), (vec![14, 16, 18, 20], 12));
    assert_eq!((list.at, list.goes_along(), list.below()), (3, true, 0));
    while list.unasked() > 0 {
        list.ask_on(&piece(&stream, &query));
    }
    assert_eq!(shown(&list, &stream), (1..=10).map(|half| 2 * half).collect::<Vec<_>>());
    assert_eq!((list.at, list.goes_along()), (9, true));
}

#[test]
fn the_selected_one_is_asked_with_the_first_piece_and_stays_selected() {
    let (stream, query, mut list) = (full(), even(), StreamList::default());
    let everything = Query::everything(QueryKind::Captures);
    list.show(&asking(&stream, &everything));
    list.select_at(&stream, 5);
    list.mark(&stream, 5, true);
    list.show(&piece(&stream, &query));
    assert_eq!(shown(&list, &stream), [6, 18, 20]);
    assert_eq!((list.at, list.current(&stream).unwrap().capture.id.0), (0, 6));
    assert_eq!((list.marks().len(), list.marks_hidden()), (1, 0));
    while list.unasked() > 0 {
        list.ask_on(&piece(&stream, &query));
        assert_eq!(list.current(&stream).unwrap().capture.id.0, 6);
    }
    assert_eq!((list.at, list.len(), list.follow), (2, 10, false));
}

#[test]
fn a_newer_query_begins_anew_and_nothing_of_the_one_before_is_left() {
    let (stream, query, mut list) = (full(), even(), StreamList::default());
    list.show(&piece(&stream, &query));
    let odd = Query::parse("odd", QueryKind::Captures).unwrap();
    list.show(&piece(&stream, &odd));
    assert_eq!((shown(&list, &stream), list.unasked()), (vec![17, 19], 16));
    while list.unasked() > 0 {
        list.ask_on(&piece(&stream, &odd));
    }
    assert_eq!(shown(&list, &stream), (0..10).map(|half| 2 * half + 1).collect::<Vec<_>>());
}

#[test]
fn what_comes_while_asking_goes_on_is_counted_and_older_ones_are_not() {
    let (mut stream, query, mut list) = (full(), even(), StreamList::default());
    list.show(&piece(&stream, &query));
    (list.paused, list.follow) = (true, false);
    let new = stream.take(some([21, 22, 24]));
    list.extend(&piece(&stream, &query), &new);
    let new = stream.recall(some([-4, -2]));
    list.extend(&piece(&stream, &query), &new);
    while list.unasked() > 0 {
        list.ask_on(&piece(&stream, &query));
    }
    assert_eq!((shown(&list, &stream)[0], list.len(), list.below()), (-4, 14, 2));
    assert_eq!(list.current(&stream).unwrap().capture.id.0, 20);
}

#[test]
fn only_what_something_else_is_said_about_is_asked_again() {
    let (mut stream, mut list) = (full(), StreamList::default());
    let unknown = Query::parse("is:unknown_token", QueryKind::Captures).unwrap();
    list.show(&asking(&stream, &unknown));
    assert_eq!(list.len(), 0);
    let mention = Mention {
        token: Token::of(1),
        known: false,
        place: crate::oob::MentionPlace::Query("t".into()),
        wrapped: Vec::new(),
        added: "".into(),
    };
    let now: Arc<[Mention]> = [mention].into();
    let changed = [7, 3].map(|id| (caught(capture(id)).id(), Arc::clone(&now)));
    let rows = stream.mention(&changed);
    list.ask_again(&asking(&stream, &unknown), &rows);
    assert_eq!(shown(&list, &stream), [3, 7]);
    list.ask_again(&Asking { piece: 0, ..asking(&stream, &unknown) }, &rows[..1]);
    assert_eq!((shown(&list, &stream), list.unasked()), (vec![7], 1), "the other one was not asked about");
}

#[test]
fn a_file_is_gathered_from_all_of_them_whatever_comes_meanwhile() {
    let (mut stream, query) = (full(), even());
    let mut gathering = Gathering::new(query.clone(), None);
    assert!(gathering.go_on(&piece(&stream, &query)).is_none());
    stream.take(some([21, 22]));
    stream.recall(some([0]));
    let found = loop {
        if let Some(found) = gathering.go_on(&piece(&stream, &query)) {
            break found;
        }
    };
    let found: Vec<i64> = found.iter().map(|caught| caught.capture.id.0).collect();
    assert_eq!(found, (0..=10).map(|half| 2 * half).collect::<Vec<_>>(), "as of when it was asked for, and older ones");
}

#[test]
fn what_comes_late_leaves_the_answers_of_what_it_moves() {
    let mut stream = Stream::default();
    stream.take(some((1..=40).filter(|id| id % 10 != 3)));
    let (query, mut list) = (even(), StreamList::default());
    list.show(&asking(&stream, &query));
    list.select_at(&stream, 10);
    let (selected, before) = (list.selected, shown(&list, &stream));
    let new = stream.take(some([3, 13]));
    list.extend(&Asking { piece: 0, ..asking(&stream, &query) }, &new);
    assert_eq!((shown(&list, &stream), list.unasked()), (before, 2), "nothing but the two is to be asked about");
    assert_eq!((list.selected, list.at), (selected, 10));
    list.ask_on(&asking(&stream, &query));
    assert_eq!((list.selected, list.at, list.unasked(), list.below()), (selected, 10, 0, 0));
}

#[test]
fn without_a_filter_nothing_has_to_be_asked_for() {
    let (stream, mut list) = (full(), StreamList::default());
    list.show(&piece(&stream, &Query::everything(QueryKind::Captures)));
    assert_eq!((list.len(), list.unasked()), (20, 0));
}

#[test]
fn one_that_the_filter_does_not_take_gives_way_to_the_next_after_it_and_nothing_follows_by_itself() {
    let (stream, mut list) = (full(), StreamList::default());
    let everything = Query::everything(QueryKind::Captures);
    list.show(&asking(&stream, &everything));
    list.select_at(&stream, 4);
    for (query, at) in [("even", 6), ("odd", 7)] {
        let query = Query::parse(query, QueryKind::Captures).unwrap();
        list.show(&piece(&stream, &query));
        assert!(!list.follow, "it is not where it is to be yet");
        while list.unasked() > 0 {
            list.ask_on(&piece(&stream, &query));
        }
        assert_eq!((list.current(&stream).unwrap().capture.id.0, list.follow), (at, false));
    }
    // The only one that matches is in the last piece.
    let mut stream = Stream::default();
    stream.take(some((1..=19).filter(|id| id % 2 == 1).chain([2])));
    list = StreamList::default();
    list.show(&asking(&stream, &everything));
    list.select_at(&stream, 3);
    list.show(&piece(&stream, &even()));
    assert!(list.is_empty() && !list.follow);
    while list.unasked() > 0 {
        list.ask_on(&piece(&stream, &even()));
    }
    assert_eq!((shown(&list, &stream), list.at, list.follow), (vec![2], 0, false));
}
