//! Decisions that survive: what persons decide about findings, kept beside the service and keyed to what a finding is.
//!
//! ```text
//!   occurrences (contract::Finding) ─► identity ─► arrange ─► Case, one a row ─┐
//!   Event ─► State (their fold) ─────────────────────────────────────────────► Stance: what the row says
//!     ▲ Pen                                                                    │
//!   a key pressed                                                              └─► undecided? regression? conflict?
//! ```
//!
//! Everything here is pure: no I/O, no clock. Only `store` below reads and writes. Events are append-only; the state is
//! their fold, and any order and repetition of the same events gives the same state.

pub mod alike;
pub mod arrange;
#[cfg(test)]
mod arrange_tests;
pub mod bundle;
pub mod case;
pub mod compare;
pub mod draft;
pub mod event;
pub mod identity;
pub mod jsonl;
mod matching;
pub mod presence;
#[cfg(test)]
mod presence_tests;
#[cfg(test)]
mod query_tests;
mod record;
pub mod retest;
mod row;
mod rules;
pub mod settings;
pub mod stance;
#[cfg(test)]
mod stance_tests;
mod standing;
pub mod state;
#[cfg(test)]
mod state_tests;
pub mod steady;
pub mod store;
#[cfg(test)]
pub(crate) mod testing;
pub mod usual;

pub use bundle::{Bundle, Manifest, Setting};
pub use case::{Again, Occurrence, VerdictSource};
pub use compare::{ComparedFinding, Outcome};
pub use draft::{DecisionScope, Draft, DraftValue};
pub use event::OwnFinding;
pub use jsonl::BadLine;
pub use retest::{KEPT_AS, Retest, RetestFinding, RetestResult, RetestScan, RetestStatus};
pub use settings::{OWN_ADDRESSES, StoredSettings};
pub use store::purge::DecisionCounts;
pub use store::{OpenedDecisions, Store, StoreError};
pub use usual::{Last, Usual};

pub use crate::finding::{Key, Presence, Reason, Verdict};
pub use arrange::{Arranged, Input, arrange, restance};
pub use case::{Case, CaseId, Stance};
pub use event::{Baseline, Change, Decision, Event, EventId, Identity, Pen, Sighting, Subject};
pub use row::Judged;
pub use state::{OwnState, RuleState, Standing, State, Touched};
