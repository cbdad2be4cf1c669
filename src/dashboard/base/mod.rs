//! The vocabulary of the dashboard: panes, effects, calls, notices, the poll plan. Every layer above may import it.
//!
//! ```text
//!   core::update ─► Effect (a call, a copy, a file, …) ─► runtime ─► Answer
//!   Model::plan  ─► PollPlan ─► poller ─► Update, Snapshot ─► core::update
//! ```
//!
//! No state of a pane and no feature is named here.

pub mod batch;
pub mod cached;
pub mod capture;
pub mod effect;
pub mod form_tag;
pub mod notices;
pub mod pane;
pub mod plan;
pub mod screen;
pub mod session;
pub mod signal;
pub mod tab;
pub mod time;
