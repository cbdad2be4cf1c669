//! Fields of loggers.

use crate::oob::lifetime::over;
use crate::query::{ColumnBuilder, Field, Flag, QueryKind};
use crate::table::row::{flags, put};
use crate::table::sort::natural;
use crate::table::{Item, OtherLists, Row, SortOrder};
use scandeck_wire::contract::{Logger, LoggerId};

impl Row for Logger {
    const KIND: QueryKind = QueryKind::Loggers;

    fn search_text(&self, to: &mut String) {
        put(to, &[&self.label, &self.handler_url]);
    }

    fn write_field(&self, field: Field, _: &dyn OtherLists, to: &mut ColumnBuilder) {
        match field {
            Field::Id => to.whole(self.id.0),
            Field::Name => to.shared(&self.label),
            Field::Url => to.shared(&self.handler_url),
            Field::Days => to.whole(self.active_days),
            Field::Requests => to.whole(self.num_requests),
            Field::Left => to.whole(self.requests_left),
            Field::Is => {
                flags(
                    to,
                    &[
                        (Flag::Closed, over(self).is_some()),
                        (Flag::Empty, self.num_requests == 0),
                    ],
                );
            }
            _ => {}
        }
    }
}

impl Item for Logger {
    type Id = LoggerId;
    const SORTS: &'static [SortOrder<Self>] = &[
        SortOrder {
            name: "label",
            compare: |a, b| natural(&a.label, &b.label).then(a.id.cmp(&b.id)),
        },
        SortOrder {
            name: "requests",
            compare: |a, b| b.num_requests.cmp(&a.num_requests).then(a.id.cmp(&b.id)),
        },
        SortOrder {
            name: "newest",
            compare: |a, b| b.id.cmp(&a.id),
        },
    ];
    fn id(&self) -> LoggerId {
        self.id
    }
}
