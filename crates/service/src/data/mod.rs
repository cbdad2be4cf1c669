//! The data directory, and the commands that read or write it beside a running service.

pub mod activity;
pub mod backup;
pub mod data_dir;
pub mod formats;
pub mod migrate;
pub mod service_scope;
pub mod wordlists;
