//! Workspaces: the list, with the current workspace and its counts.
//!
//! ```text
//!   data::snapshots ─► draw (columns, cells)        keys: core/update     form
//! ```
//!
//! The current workspace is in `Scope` (`dashboard/base`); it is changed in `model/navigation`.

pub mod draw;
pub mod form;

use crate::model::PaneItem;
use scandeck_wire::contract::Workspace;
use serde_json::Value;

impl PaneItem for Workspace {
    fn json(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}
