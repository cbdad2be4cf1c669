//! The domain of an analyst, without user interface and HTTP.
//!
//! ```text
//!   findings, scans ─► triage (decisions, issues) ─┐
//!   captures ─► oob (payloads, archive) ───────────┼─► table ◄─ query
//!                                                  └─► export ─► files, by mask
//! ```
//!
//! - `finding`, `triage`: findings, and the decisions about them.
//! - `case`: a workspace as a sealed timeline.
//! - `finding_request`: the request that proves a finding, as a curl command.
//! - `proof`: the same request again, and what its answer says about the finding.
//! - `oob`: payloads and captured requests.
//! - `chain`: how findings, captures, payloads, targets and services are connected.
//! - `table`, `query`: lists, ready for filters, orders and groups.
//! - `alerts`: events that a rule reports, each once.
//! - `export`, `mask`: what leaves, and the names that are replaced in it.
//! - `formats`: the numbers of what is stored.

pub mod alerts;
pub mod case;
pub mod chain;
pub mod export;
pub mod finding;
pub mod finding_request;
pub mod formats;
pub mod mask;
pub mod oob;
pub mod problem;
pub mod proof;
pub mod query;
pub mod table;
pub mod text_files;
pub mod triage;
