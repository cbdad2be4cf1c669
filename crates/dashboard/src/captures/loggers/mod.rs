//! Loggers: their list and detail.
//!
//! ```text
//!   data::snapshots ─► draw (addresses, counts, time left)        keys: core/update
//! ```
//!
//! How long a logger still records is computed in `oob` of the crate
//! `scandeck_domain` (`lifetime`).

pub mod draw;
pub mod form;

use crate::model::PaneItem;
use scandeck_wire::contract::Logger;
use serde_json::Value;

impl PaneItem for Logger {
    fn json(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}
