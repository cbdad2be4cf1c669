//! Fields of schedules.

use std::cmp::Ordering;

use crate::query::{ColumnBuilder, Field, Flag, QueryKind};
use crate::table::row::{flags, put};
use crate::table::sort::natural;
use crate::table::{Item, OtherLists, Row, SortOrder};
use scandeck_wire::contract::ScheduleId;
use scandeck_wire::contract::schedule::ScanSchedule;

impl Row for ScanSchedule {
    const KIND: QueryKind = QueryKind::Schedules;

    fn search_text(&self, to: &mut String) {
        put(to, &[&self.name, &self.every, &self.last_result]);
    }

    fn write_field(&self, field: Field, _: &dyn OtherLists, to: &mut ColumnBuilder) {
        match field {
            Field::Id => to.whole(self.id.0),
            Field::Name => to.shared(&self.name),
            Field::NextStart => to.time(self.next_start),
            Field::LastStart => to.time(self.last_start),
            Field::Is => flags(to, &[(Flag::Paused, self.is_paused)]),
            _ => {}
        }
    }
}

impl Item for ScanSchedule {
    type Id = ScheduleId;
    const SORTS: &'static [SortOrder<Self>] = &[
        SortOrder {
            name: "next",
            compare: |a, b| by_next_start(a, b).then(a.id.cmp(&b.id)),
        },
        SortOrder {
            name: "name",
            compare: |a, b| natural(&a.name, &b.name).then(a.id.cmp(&b.id)),
        },
    ];
    fn id(&self) -> ScheduleId {
        self.id
    }
}

/// Paused ones are last.
fn by_next_start(a: &ScanSchedule, b: &ScanSchedule) -> Ordering {
    let is_paused = a.next_start.is_none().cmp(&b.next_start.is_none());
    is_paused.then(a.next_start.cmp(&b.next_start))
}
