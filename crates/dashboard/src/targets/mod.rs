//! Targets: their list and detail.
//!
//! ```text
//!   data::snapshots ─► draw (columns, cells, detail)     keys: core/update     form (new), tags
//! ```
//!
//! The findings and scans of a target are counted in `ui/facts`.

pub mod draw;
pub mod form;
pub mod tags;

use crate::model::{Model, PaneItem};
use scandeck_domain::table::{Table, sort};
use scandeck_wire::contract::{Target, TargetId};
use serde_json::Value;
use std::cmp::Reverse;

impl PaneItem for Target {
    fn refine(model: &Model, order: &str, table: &Table<Self>, rows: &mut [u32]) {
        let findings = model.data.findings.value();
        let risks = |id: TargetId| {
            findings
                .and_then(|all| all.of_target(id))
                .map(|of| of.risks)
        };
        if order == sort::BY_RISK {
            rows.sort_by_cached_key(|&row| {
                Reverse(risks(table.items()[row as usize].id).unwrap_or_default())
            });
        }
    }

    fn json(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}
