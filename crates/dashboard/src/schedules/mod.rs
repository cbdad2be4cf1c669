//! Schedules of scans: their list, detail, form and keys. Only a service of scandeck has them.
//!
//! ```text
//!   data::snapshots ─► draw (columns, cells, detail)     keys (pause, resume)     form (new)
//! ```

pub mod draw;
pub mod form;
pub mod keys;
#[cfg(test)]
mod tests;

use crate::model::PaneItem;
use scandeck_wire::contract::schedule::ScanSchedule;
use serde_json::Value;

/// The notice about a service without schedules.
pub(crate) const NO_SCHEDULES: &str = "this service has no schedules · \
     `scandeck watch --schedules` starts those of the configuration";

impl PaneItem for ScanSchedule {
    fn json(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}
