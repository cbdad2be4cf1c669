//! Routing: the only folder of the dashboard that names all features.
//!
//! ```text
//!   Msg (key, update of the poller, answer to a call, timer)
//!     └─► update(&mut Model, Now, Msg) ─► Vec<Effect>        no I/O, no clock, no tokio in here
//!                     │
//!                     ├─► draw(&Model)       header, panes, modals, footer
//!                     ├─► Model::plan()      which data the poller should fetch, and how fresh
//!                     └─► Model::wake_at()   when the screen changes next without a message
//! ```
//!
//! `update` routes messages and keys, `commands` holds the command line, `draw` puts the features
//! on the screen. The state is in `model`; the work on one list is in the folder of its
//! feature.
//!
//! Reading order: `msg`, `update`, `draw`, `commands`.

pub mod commands;
pub mod draw;
pub mod msg;
pub mod update;

pub use commands::parse::Ready;
pub use msg::Msg;

pub use crate::base::{Call, CallAnswer, Effect, ListKind, Now, PollPlan, Ticket, Update};
pub use crate::core::update::update;
pub use crate::model::Model;
