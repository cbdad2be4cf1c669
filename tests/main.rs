//! Integration tests: one binary, whose modules mirror the layers.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod any_text;
mod api;
mod client;
mod compatibility;
mod curl;
mod documents;
mod exports;
mod faults;
mod faulty;
mod field;
mod har;
pub mod headless;
mod imports;
mod plain;
pub mod pty;
pub mod readback;
mod report_files;
mod service;
mod triage;
mod truth;
mod view;

/// Number of kills of a program in a test: a few, or `SCANDECK_KILLS`.
fn kills() -> usize {
    std::env::var("SCANDECK_KILLS").map_or(4, |number| number.parse().unwrap())
}
