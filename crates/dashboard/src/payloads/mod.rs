//! Payloads: the payload book, the creation of payloads, and their hits.
//!
//! ```text
//!   p ─► Effect::DrawPayloadNumbers(request) ─► Msg::PayloadNumbers(request, numbers) ─► Payload ─► Effect::Plant, Effect::Copy
//!   captures ─► Mentions ─► alerts, waits          archive ─► hits ─► Payloads pane
//! ```
//!
//! Tokens must not be guessable, but `update` is deterministic: the runtime draws the random
//! numbers of the tokens. The recognition of tokens and the archive are in `oob` of the
//! crate `scandeck_domain`.

#[cfg(test)]
mod alerts_tests;
pub mod commands;
pub mod draw;
pub mod form;
pub mod keys;
#[cfg(test)]
mod tests;

use crate::model::{IsNew, Model, PaneItem};
use scandeck_domain::oob::Payload;
use scandeck_domain::table::{Table, sort};
use scandeck_wire::contract::Stamp;
use serde_json::Value;
use std::cmp::Reverse;

impl PaneItem for Payload {
    fn is_new(_: &Model, since: Stamp) -> Option<IsNew<Self>> {
        Some(Box::new(move |payload| payload.at > Some(since)))
    }

    fn refine(model: &Model, order: &str, table: &Table<Self>, rows: &mut [u32]) {
        if order == sort::BY_HITS {
            rows.sort_by_cached_key(|&row| {
                Reverse(
                    model
                        .captures
                        .payloads
                        .hits_of(table.items()[row as usize].token)
                        .count,
                )
            });
        }
    }

    fn json(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}
