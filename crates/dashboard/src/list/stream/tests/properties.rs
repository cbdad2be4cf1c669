//! After any sequence of changes, the rows and groups equal those made from scratch.

use crate::list::CaptureGroupBy;
use crate::list::stream::tests::*;
use crate::list::stream::{CaptureRow, ChunkQuery, StreamList};
use proptest::prelude::*;
use scandeck_domain::oob::{Mention, Token};
use scandeck_wire::contract::{Capture, LoggerId};
use std::fmt::Debug;

/// An event.
#[derive(Clone, Debug)]
enum Step {
    Take(Vec<i64>),
    Recall(Vec<i64>),
    NextChunk,
    Filter(usize),
    Group(usize),
    Fold(bool),
    Select(usize),
    Mark(bool),
    Pause(bool),
    Mention(Vec<(usize, u64)>),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..60i64, proptest::collection::vec(0..12i64, 0..8)).prop_map(|(from, by)| {
            Step::Take(by.iter().map(|by| from + by).collect())
        }),
        2 => proptest::collection::vec(-20..50i64, 0..8).prop_map(Step::Recall),
        4 => Just(Step::NextChunk),
        2 => (0..FILTERS.len()).prop_map(Step::Filter),
        2 => (0..4usize).prop_map(Step::Group),
        2 => any::<bool>().prop_map(Step::Fold),
        3 => (0..30usize).prop_map(Step::Select),
        1 => any::<bool>().prop_map(Step::Mark),
        1 => any::<bool>().prop_map(Step::Pause),
        2 => proptest::collection::vec((0..30usize, 0..4u64), 0..6).prop_map(Step::Mention),
    ]
}

const FILTERS: [&str; 4] = ["", "even", "from:192.0.2.1 or body:x", "is:known"];

/// Of four addresses and two loggers.
fn one(id: i64) -> CaptureRow {
    let ip_address = format!("192.0.2.{}", id.rem_euclid(4)).as_str().into();
    let body = if id % 3 == 0 { "eA==" } else { "" };
    let capture = Capture {
        ip_address,
        request_body_base64: body.into(),
        ..capture(id)
    };
    CaptureRow {
        logger: LoggerId(id.rem_euclid(2)),
        ..capture_row(capture)
    }
}

struct StreamSetup {
    stream: Stream,
    list: StreamList,
    query: Query,
}

impl StreamSetup {
    fn with_query(&mut self, run: impl FnOnce(&mut StreamList, &ChunkQuery<'_>)) {
        run(
            &mut self.list,
            &ChunkQuery {
                bytes: 3_000,
                ..chunk_query(&self.stream, &self.query)
            },
        );
    }

    fn apply(&mut self, step: Step) {
        match step {
            Step::Take(ids) => {
                let new = self.stream.take(ids.into_iter().map(one).collect());
                self.with_query(|list, query| list.extend(query, &new));
            }
            Step::Recall(ids) => {
                let new = self.stream.recall(ids.into_iter().map(one).collect());
                self.with_query(|list, query| list.extend(query, &new));
            }
            Step::NextChunk => self.with_query(StreamList::next_chunk),
            Step::Filter(at) => {
                self.query = Query::parse(FILTERS[at], QueryKind::Captures).unwrap();
                self.with_query(StreamList::show);
            }
            Step::Group(by) => {
                self.list.group(
                    [
                        None,
                        Some(CaptureGroupBy::Payload),
                        Some(CaptureGroupBy::Source),
                        Some(CaptureGroupBy::Logger),
                    ][by],
                );
                self.with_query(StreamList::show);
            }
            Step::Fold(true) => self.list.unfold(&self.stream),
            Step::Fold(false) => self.list.fold(&self.stream),
            Step::Select(at) => self.list.select_at(&self.stream, at),
            Step::Mark(on) => {
                self.list.mark(&self.stream, self.list.at, on);
                // With the last mark off, the end is followed again from the next that happens on.
                self.with_query(StreamList::next_chunk);
            }
            Step::Pause(paused) => {
                self.list.paused = paused;
                self.list.follow &= !paused;
            }
            Step::Mention(which) => {
                let mention = |token| Mention {
                    token: Token::of(token),
                    known: token > 0,
                    place: scandeck_domain::oob::MentionPlace::Query("t".into()),
                    wrapped: Vec::new(),
                    added: "".into(),
                };
                let held = &self.stream.rows;
                let which = which.into_iter().filter(|(at, _)| *at < held.len());
                let changed: Vec<_> = which
                    .map(|(at, token)| (held[at].id(), [mention(token)].into()))
                    .collect();
                let rows = self.stream.mention(&changed);
                self.with_query(|list, query| list.refilter(query, &rows));
            }
        }
    }

    /// Invariants after every step.
    fn holds(&self) {
        let (stream, list) = (&self.stream, &self.list);
        assert!(
            stream
                .rows
                .iter()
                .map(CaptureRow::id)
                .is_sorted_by(|one, next| one < next)
        );
        assert!(stream.rows.len() <= stream.most);
        assert_eq!(list.selected, list.id_at(stream, list.at));
        assert!(list.at < list.len() || (list.is_empty() && list.at == 0));
        assert!(
            !list.is_following()
                || list.is_empty()
                || (list.at + 1 == list.len() && list.below() == 0)
        );
        assert!(
            list.position() < list.matches().max(1),
            "group headers do not count"
        );
        assert!(list.marks().iter().all(|&id| stream.holds(id)));
        assert_eq!(list.marks_hidden(), list.hidden_marks(stream).count());
        for at in 0..list.len() {
            let newest = list.id_at(stream, at).unwrap();
            let place = list.place(stream, newest).unwrap();
            let is_open_header = list.groups.header(at).is_some_and(|group| group.is_open);
            assert!(place == at || is_open_header, "{at} is at {place}");
        }
    }

    /// The drawn list after the whole query ran: the captures of each place, whether it is a group
    /// header, and where the selection is.
    fn drawn(
        &self,
        mut list: StreamList,
        run: &dyn Fn(&mut StreamList, &ChunkQuery<'_>),
    ) -> impl PartialEq + Debug {
        let stream = &self.stream;
        let query = ChunkQuery {
            bytes: 3_000,
            ..chunk_query(stream, &self.query)
        };
        run(&mut list, &query);
        while list.pending() > 0 {
            list.next_chunk(&query);
        }
        let places = (0..list.len()).map(|at| {
            (
                list.groups.header(at).is_some(),
                list.ids_at(stream, at).collect::<Vec<_>>(),
            )
        });
        (
            places.collect::<Vec<_>>(),
            list.matches(),
            list.selected,
            list.at,
            list.follow,
            list.below(),
            list.marks_hidden(),
        )
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn incremental_rows_equal_rebuilt_rows(steps in proptest::collection::vec(step(), 1..60)) {
        let stream = Stream { most: 30, ..Stream::default() };
        let mut setup = StreamSetup { stream, list: StreamList::default(), query: Query::everything(QueryKind::Captures) };
        for step in steps {
            setup.apply(step);
            setup.holds();
            let in_chunks = setup.drawn(setup.list.clone(), &|_, _| {});
            let whole = |list: &mut StreamList, query: &ChunkQuery<'_>| list.show(&ChunkQuery { bytes: usize::MAX, ..*query });
            prop_assert_eq!(in_chunks, setup.drawn(setup.list.clone(), &whole));
        }
    }
}
