//! Keys as data: which key means what, where.
//!
//! ```text
//!   assets/keymap.toml ─► Keymap ─┬─► Keymap::action(contexts, key)   what a key does now
//!                                 ├─► Keymap::hints(context)          the footer
//!                                 ├─► Keymap::help()                  `?`
//!                                 └─► Keymap::markdown()              the table of the README
//! ```
//!
//! The contexts are layers: the innermost that knows a key decides. Which layers hold is derived from the open
//! modals and the focus ([`crate::app::Model::contexts`]), never stored. What an action does is not said here but in
//! `app::update`.

mod action;
mod context;
mod key;
mod keymap;

pub use action::Action;
pub use context::Context;
pub use key::Key;
pub use keymap::{Entry, HelpSection, Hint, Keymap, KeymapError};
