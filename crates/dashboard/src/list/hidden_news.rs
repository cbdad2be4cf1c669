//! The number of rows that a filter hides and that arrived since the filter is in use.
//!
//! ```text
//!   filter changed ─► counts from now      filter of an earlier visit ─► counts from the end of that visit
//! ```

use scandeck_wire::contract::Stamp;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HiddenNews {
    /// The filter for which rows are counted.
    filter: String,
    /// Rows that arrived later are new, by the clock of the service.
    since: Option<Stamp>,
    pub count: usize,
}

impl HiddenNews {
    /// Counts from the end of the visit in which the filter was last used.
    pub fn restore(&mut self, filter: &str, last_visit: Option<Stamp>) {
        *self = Self {
            filter: filter.to_owned(),
            since: last_visit,
            count: 0,
        };
    }

    /// The time from which rows are counted; none without a filter. Another filter counts from now.
    pub fn since(&mut self, filter: &str, now: Stamp) -> Option<Stamp> {
        if self.filter != filter {
            *self = Self {
                filter: filter.to_owned(),
                since: Some(now),
                count: 0,
            };
        }
        if self.filter.is_empty() {
            None
        } else {
            Some(*self.since.get_or_insert(now))
        }
    }
}
