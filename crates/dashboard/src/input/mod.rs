//! Keys as data: which key means which action, and where.
//!
//! ```text
//!   assets/keymap.toml ─► Keymap ─┬─► Keymap::step(contexts, keys)    the action of a key now
//!                                 ├─► Keymap::hints(context)          the footer
//!   [keys] of config.toml ─┘      └─► Keymap::help()                  `?`, `docs/keys.md` and `scandeck keys`
//! ```
//!
//! The contexts are layers: the innermost one that knows a key decides. They are derived from the
//! open modals and the focus (`Model::contexts`), never stored. The effect of an action is not
//! defined here but in `core/update` and the features.

pub mod action;
pub mod context;
pub mod custom;
pub mod key;
pub mod keymap;
pub mod rebind;
pub mod sequence;

pub use crate::input::action::{
    Action, AppAction, CopyAction, DecideAction, EditAction, FormAction, GoAction, GroupAction,
    ItemAction, ListAction, MoveAction, PayloadAction, PlotAction, ReviewAction, SetupAction,
    ShapeAction, TerminalAction, TextAction, VerdictAction, ViewAction,
};
pub use crate::input::context::Context;
pub use crate::input::custom::{CustomAction, CustomCommand};
pub use crate::input::key::KeyChord;
pub use crate::input::keymap::{Entry, HelpSection, KeyHint, KeyStep, Keymap, KeymapError};
pub use crate::input::rebind::RebindError;
pub use crate::input::sequence::KeySequence;
/// The events of the terminal: keys, for what types text, and the mouse.
pub use crossterm::event::{
    KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
