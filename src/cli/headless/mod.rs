//! Commands for scripts and CI: every endpoint of the API without a screen, one file a noun.
//!
//! ```text
//!   arguments ─► Session (client, workspace, read-only?) ─► calls ─► Output: a table, one JSON array or one object
//! ```
//!
//! What is printed on standard output is the answer and nothing else; errors and progress go to standard error. With
//! `--json` a list is one array and a single thing one object: field names of the contract first, ours after.
//! No colour is ever written. What changes the service is refused where the profile is read-only, and what deletes
//! waits for `--yes`.

pub mod api;
pub mod archive;
pub mod bundles;
pub mod captures;
pub mod decide;
pub mod decisions;
pub mod diff;
pub mod findings;
pub mod logger;
pub mod loggers;
pub mod payloads;
pub mod print;
pub mod reports;
pub mod rows;
pub mod save;
pub mod scans;
pub mod session;
pub mod start;
pub mod targets;
pub mod watch;
pub mod wordlists;
pub mod workspaces;

pub use print::{Output, PrintTable};
pub use session::{HeadlessSession, ServiceArgs};

/// Exit codes of the commands, as their help tells them.
pub mod exit {
    /// `--fail-on` found something.
    pub const MATCHED: u8 = 3;
    /// `captures watch` saw nothing in time.
    pub const TIMED_OUT: u8 = 3;
    /// A scan that was waited for ended without finishing.
    pub const UNFINISHED: u8 = 4;
}
