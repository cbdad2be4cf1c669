//! Scans: their list and detail, and the commands `:retest`, `:compare` and `:import`.
//!
//! ```text
//!   data::snapshots ─────┐
//!   data::scan_progress ─┴─► draw (progress, time left, changes, failures, detail)
//!   data::snapshots ───────► estimate (how long new scans take) ──► form ──► tool_params
//!                  └───────► nodes with the places of scans ─────────┘
//! ```
//!
//! Whether a scan is stalled is decided in `dashboard/data/scan_progress.rs`. Starting, stopping
//! and deleting scans is in `core/update`; retests and comparisons are in `findings/retest`.

pub mod commands;
pub mod draw;
pub(crate) mod estimate;
pub mod form;
pub(crate) mod import;
#[cfg(test)]
mod import_tests;
mod tool_params;

use crate::base::Scope;
use crate::model::{InScope, IsNew, Model, PaneItem};
use scandeck_domain::table::{Table, sort};
use scandeck_wire::contract::{Scan, Stamp};
use serde_json::Value;

impl PaneItem for Scan {
    fn in_scope(scope: &Scope) -> Option<InScope<Self>> {
        let target = scope.target?;
        Some(Box::new(move |scan| scan.target_id == target))
    }

    fn is_new(_: &Model, since: Stamp) -> Option<IsNew<Self>> {
        Some(Box::new(move |scan| scan.start_time > Some(since)))
    }

    fn refine(model: &Model, order: &str, table: &Table<Self>, rows: &mut [u32]) {
        if order == sort::BY_NEED {
            rows.sort_by_key(|&row| {
                model
                    .scans
                    .progress
                    .need(model.now.mono, &table.items()[row as usize])
            });
        }
    }

    fn json(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}
