//! The dashboard's pure core: what is known, what a person asked for, and what follows from it.
//!
//! ```text
//!   Msg (key, update of the poller, answer to a call, timer)
//!     └─► update(&mut Model, Now, Msg) ─► Vec<Effect>        no I/O, no clock, no tokio in here
//!                     │
//!                     ├─► Model::plan()      what the poller should fetch, and how fresh
//!                     └─► Model::wake_at()   when the screen changes by itself next
//! ```
//!
//! Reading order: [`model`], [`msg`], [`effect`], [`plan`], then `update`.

mod asked;
pub mod batch;
pub mod board;
pub mod cached;
mod captures;
pub mod command;
pub mod cursor;
pub mod decide;
mod derived;
pub mod detail;
pub mod effect;
pub mod ending;
pub mod form;
pub mod group;
pub mod list;
pub mod modal;
pub mod model;
pub mod msg;
mod needs;
pub mod notices;
pub mod oob;
pub mod pane;
pub mod payloads;
pub mod plan;
pub mod problem;
pub mod prompt;
pub mod remote;
pub mod retest;
pub mod review;
mod rows;
pub mod screen;
mod seen;
pub mod signals;
pub mod since;
pub mod sorts;
mod stay;
pub mod stream;
pub mod table;
pub mod tabs;
pub mod triage;
mod typing;
mod update;
pub mod watch;

pub use effect::{Answer, Call, Effect, Ticket};
pub use model::Model;
pub use msg::{Msg, Now};
pub use plan::{News, Noun, PollPlan, Update};
pub use problem::Problem;
pub use remote::Remote;
pub use update::update;
