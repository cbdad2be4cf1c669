//! Integration tests: one binary, whose modules mirror the layers.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[cfg(feature = "dashboard")]
mod any_text;
#[cfg(all(feature = "dashboard", feature = "service"))]
mod api;
#[cfg(feature = "dashboard")]
mod client;
#[cfg(all(feature = "dashboard", feature = "service"))]
mod compatibility;
#[cfg(feature = "dashboard")]
mod curl;
mod documents;
#[cfg(feature = "dashboard")]
mod exports;
#[cfg(all(feature = "dashboard", feature = "service"))]
mod faults;
#[cfg(all(feature = "dashboard", feature = "service"))]
mod faulty;
#[cfg(all(feature = "dashboard", feature = "service"))]
mod field;
#[cfg(feature = "dashboard")]
mod har;
#[cfg(all(feature = "dashboard", feature = "service"))]
pub mod headless;
mod imports;
#[cfg(all(feature = "dashboard", feature = "service"))]
mod plain;
#[cfg(all(feature = "dashboard", feature = "service"))]
pub mod pty;
pub mod readback;
mod report_files;
#[cfg(feature = "service")]
mod service;
#[cfg(all(feature = "dashboard", feature = "service"))]
mod triage;
#[cfg(all(feature = "dashboard", feature = "service"))]
mod truth;
#[cfg(feature = "dashboard")]
mod view;

/// Number of kills of a program in a test: a few, or `SCANDECK_KILLS`.
#[cfg(feature = "service")]
fn kills() -> usize {
    std::env::var("SCANDECK_KILLS").map_or(4, |number| number.parse().unwrap())
}
