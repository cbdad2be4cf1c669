//! Reports: their list and detail.
//!
//! ```text
//!   data::snapshots ─► draw (columns, cells, detail)     keys: core/update     form
//! ```
//!
//! Reports with decisions, which the dashboard writes itself, are made by `export` of the crate
//! `scandeck_domain`.

mod contents;
pub mod draw;
pub mod form;

use crate::model::{IsNew, Model, PaneItem};
use scandeck_wire::contract::{Report, Stamp};
use serde_json::Value;

impl PaneItem for Report {
    fn is_new(_: &Model, since: Stamp) -> Option<IsNew<Self>> {
        Some(Box::new(move |report| report.generation_date > Some(since)))
    }

    fn json(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}
