//! What both wings share: the wire types of the API, cleaning of outside text, bodies of
//! responses as text, SQLite files, the numbers of data formats, the names of secrets, the times of
//! schedules, the fonts of the machine, and the user's files and directories.
//!
//! ```text
//!   bytes of the service ─► contract (serde types) ─► text::clean ─► terminal
//!   login (user database) ─► base_dirs (XDG) ─► input_files, sqlite
//! ```

pub mod base_dirs;
pub mod body_text;
pub mod contract;
pub mod data_format;
pub mod font_files;
pub mod input_files;
pub mod login;
pub mod recurrence;
pub mod secret_names;
pub mod sqlite;
pub mod text;

// For `ids!` in other crates.
#[doc(hidden)]
pub use schemars;
