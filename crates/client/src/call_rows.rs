//! The calls of the API as rows of a list, with their query fields and orders.

use std::cmp::Reverse;

use scandeck_domain::query::{ColumnBuilder, Field, Flag, QueryKind};
use scandeck_domain::table::row::{flags, put};
use scandeck_domain::table::{Item, OtherLists, Row, SortOrder};

use crate::calls::{ApiCall, CallId};

impl Row for ApiCall {
    const KIND: QueryKind = QueryKind::Activity;

    fn search_text(&self, to: &mut String) {
        let error = self.end.as_ref().and_then(|end| end.error.as_deref());
        put(to, &[&self.method, &self.path, error.unwrap_or_default()]);
    }

    fn write_field(&self, field: Field, _: &dyn OtherLists, to: &mut ColumnBuilder) {
        let end = self.end.as_ref();
        match field {
            Field::Id => to.whole(self.id.0),
            Field::Time => to.time(self.started),
            Field::Method => to.shared(&self.method),
            Field::Path => to.shared(&self.path),
            Field::Status => end
                .and_then(|end| end.status)
                .into_iter()
                .for_each(|status| to.text(&status.to_string())),
            Field::Duration => to.maybe(self.duration().map(|took| took.as_secs_f64())),
            Field::Bytes => to.maybe(end.map(|end| end.bytes as f64)),
            Field::Retries => to.whole(self.retries.into()),
            Field::Message => end
                .and_then(|end| end.error.as_ref())
                .into_iter()
                .for_each(|error| to.shared(error)),
            Field::Is => flags(
                to,
                &[
                    (Flag::Active, self.end.is_none()),
                    (Flag::Failed, self.has_failed()),
                ],
            ),
            _ => {}
        }
    }
}

/// Calls in flight come first in every order.
impl Item for ApiCall {
    type Id = CallId;
    const SORTS: &'static [SortOrder<Self>] = &[
        SortOrder {
            name: "newest",
            compare: |a, b| by(a, 0).cmp(&by(b, 0)),
        },
        SortOrder {
            name: "duration",
            compare: |a, b| by(a, milliseconds(a)).cmp(&by(b, milliseconds(b))),
        },
        SortOrder {
            name: "size",
            compare: |a, b| by(a, bytes(a)).cmp(&by(b, bytes(b))),
        },
    ];
    fn id(&self) -> CallId {
        self.id
    }
}

/// Calls in flight, then the greatest value, then the newest.
fn by(call: &ApiCall, value: u64) -> (bool, Reverse<u64>, Reverse<CallId>) {
    (call.end.is_some(), Reverse(value), Reverse(call.id))
}

fn milliseconds(call: &ApiCall) -> u64 {
    call.end.as_ref().map_or(0, |end| end.milliseconds)
}

fn bytes(call: &ApiCall) -> u64 {
    call.end.as_ref().map_or(0, |end| end.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_domain::table::Table;

    use crate::calls::CallEnd;

    #[test]
    fn calls_in_flight_precede_those_that_ended() {
        let call = |id, end: Option<(u64, u64)>| ApiCall {
            id: CallId(id),
            end: end.map(|(milliseconds, bytes)| CallEnd {
                milliseconds,
                bytes,
                ..CallEnd::default()
            }),
            ..ApiCall::default()
        };
        let table = Table::new([
            call(1, Some((9, 1))),
            call(2, None),
            call(3, Some((1, 9))),
            call(4, None),
        ]);
        let order = |sort| {
            table
                .order(sort)
                .iter()
                .map(|&row| table.items()[row as usize].id.0)
                .collect::<Vec<_>>()
        };
        assert_eq!(order(0), [4, 2, 3, 1]);
        assert_eq!(order(2), [4, 2, 3, 1]);
        assert_eq!(order(1), [4, 2, 1, 3]);
    }
}
