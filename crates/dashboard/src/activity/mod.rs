//! Activity: the calls of the API that this dashboard makes, with the rate budget and its memory,
//! and the nodes of the service.
//!
//! ```text
//!   client (records every call) ─► runtime, while the view is open ─► RecordedCalls ─► draw (columns, cells, detail)
//!                         ▲ Effect::CancelCall                                           keys (cancel, curl)
//!   poller, while the view is open ─► data::snapshots ────────────────────────────────► draw (nodes)
//! ```
//!
//! A record has no header, and secrets in bodies are replaced, so neither screen nor copies contain
//! the key.

pub mod draw;
pub mod keys;
#[cfg(test)]
mod tests;

use crate::model::{IsNew, Model, PaneItem};
use scandeck_client::calls::ApiCall;
use scandeck_wire::contract::Stamp;
use serde_json::Value;

impl PaneItem for ApiCall {
    fn is_new(_: &Model, since: Stamp) -> Option<IsNew<Self>> {
        Some(Box::new(move |call| call.started > Some(since)))
    }

    fn json(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}
