//! Fields of payloads and their hits.

use std::cmp::{Ordering, Reverse};

use crate::oob::{Payload, Token};
use crate::query::{ColumnBuilder, Field, Flag, QueryKind};
use crate::table::row::{flags, put, target_name};
use crate::table::sort::natural;
use crate::table::{BY_HITS, Item, OtherLists, Row, SortOrder};

impl Row for Payload {
    const KIND: QueryKind = QueryKind::Payloads;

    fn search_text(&self, to: &mut String) {
        put(
            to,
            &[
                &self.parameter,
                &self.technique,
                &self.target,
                &self.finding_name,
                &self.note,
            ],
        );
        put(to, &[&self.batch, &self.label, &self.token.to_string()]);
    }

    fn write_field(&self, field: Field, others: &dyn OtherLists, to: &mut ColumnBuilder) {
        let hits = || others.hits(self.token);
        match field {
            Field::Payload => to.text(&self.token.to_string()),
            Field::Url => to.shared(&self.url),
            Field::Logger => to.shared(&self.label),
            Field::Made => to.time(self.at),
            Field::By => to.shared(&self.who),
            Field::Number => self.number.into_iter().for_each(|number| to.whole(number)),
            Field::Batch => to.shared(&self.batch),
            Field::Target => target_name(to, Some(&self.target)),
            Field::About => to.shared(&self.finding_name),
            Field::Planted => {
                to.shared(&self.parameter);
                if !self.batch.is_empty() {
                    to.shared(&self.batch);
                }
            }
            Field::Technique => to.shared(&self.technique),
            Field::Note => to.shared(&self.note),
            Field::Hits => to.whole(hits().map_or(0, |hits| hits.count as i64)),
            Field::Seen => to.time(hits().and_then(|hits| hits.last)),
            Field::Delay => {
                let delay = hits().and_then(|hits| hits.delay(self, others.clock_offset()));
                to.maybe(delay.map(|delay| delay.seconds as f64));
            }
            Field::Is => {
                let (hit, awaited) = (hits().is_some(), others.is_awaited(self.token));
                let waiting = !hit && others.are_hits_known();
                flags(
                    to,
                    &[
                        (Flag::Hit, hit),
                        (Flag::Waiting, waiting),
                        (Flag::Awaited, awaited),
                    ],
                );
            }
            _ => {}
        }
    }
}

impl Item for Payload {
    type Id = Token;
    /// Lines of a batch were created at the same time and keep their order.
    const SORTS: &'static [SortOrder<Self>] = &[
        SortOrder {
            name: "newest",
            compare: by_made,
        },
        SortOrder {
            name: BY_HITS,
            compare: by_made,
        },
        SortOrder {
            name: "place",
            compare: |a, b| natural(&a.place(), &b.place()).then_with(|| by_made(a, b)),
        },
        SortOrder {
            name: "target",
            compare: |a, b| natural(&a.target, &b.target).then_with(|| by_made(a, b)),
        },
        SortOrder {
            name: "logger",
            compare: |a, b| natural(&a.label, &b.label).then_with(|| by_made(a, b)),
        },
    ];
    fn id(&self) -> Token {
        self.token
    }
}

fn by_made(a: &Payload, b: &Payload) -> Ordering {
    (Reverse(a.at), a.number, a.token).cmp(&(Reverse(b.at), b.number, b.token))
}
