//! Wordlists: their list and detail.
//!
//! ```text
//!   data::snapshots ─► draw (columns, cells, detail)     keys: core/update
//! ```
//!
//! Importing a wordlist is a command of the service wing (`scandeck wordlists import`), because the
//! API has no upload.

pub mod draw;

use crate::model::PaneItem;
use scandeck_wire::contract::Wordlist;
use serde_json::Value;

impl PaneItem for Wordlist {
    fn json(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}
