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

pub mod effect;
pub mod list;
pub mod model;
pub mod msg;
pub mod plan;
pub mod problem;
pub mod remote;
pub mod screen;
pub mod table;

pub use effect::{Answer, Call, Effect, Ticket};
pub use model::Model;
pub use msg::{Msg, Now};
pub use plan::{News, Noun, PollPlan, Update};
pub use problem::Problem;
pub use remote::Remote;
