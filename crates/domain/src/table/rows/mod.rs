//! Fields and orders of the rows of each list, one file per list.

mod captures;
mod loggers;
mod payloads;
mod reports;
mod scans;
mod schedules;
mod targets;
mod wordlists;
mod workspaces;

pub use captures::RecognizedCapture;
