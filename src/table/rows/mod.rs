//! What the rows of each list tell, and the orders each list has: a file per list.

mod captures;
mod findings;
mod loggers;
mod payloads;
mod reports;
mod scans;
mod targets;
mod wordlists;
mod workspaces;

pub use captures::RecognizedCapture;
