//! The dashboard: the terminal wing. Each feature has a folder; code that features share has a
//! layer.
//!
//! ```text
//!   key, update of the poller, answer, timer ─► runtime ─► core::update(&mut Model, Now, Msg) ─► effects ─► runtime
//!                                                              │ routes to
//!        workspaces targets scans schedules findings chains captures payloads
//!        reports wordlists activity plots settings                                          features
//!                                                              │ read and change
//!                              model    (state of all panes)        palette  ui             state, shared drawing
//!                                       │ made of
//!              forms  prompts   list  text   data   base   input                          shared, below the state
//! ```
//!
//! A folder imports only folders of lower layers: `config`, `input`, `base`, `data`, `text`, then
//! `list`, `forms` and `prompts`, `model`, `ui`, `palette`, the features, `core`, `poller` and
//! `runtime`. A feature imports no other feature. `core` is the only folder that names all
//! features.
//!
//! Reading order: `base`, `data`, `model`, one feature (`reports` is small), `core`, `runtime`.

pub mod model;

#[cfg(test)]
mod testing;

pub mod activity;
pub mod base;
pub mod captures;
pub mod chains;
pub mod config;
pub mod core;
pub mod data;
pub mod findings;
pub mod forms;
pub mod input;
pub mod list;
pub mod palette;
pub mod payloads;
pub mod plots;
pub mod poller;
pub mod prompts;
pub mod reports;
pub mod runtime;
pub mod scans;
pub mod schedules;
pub mod settings;
pub mod targets;
pub mod text;
pub mod ui;
pub mod wordlists;
pub mod workspaces;
