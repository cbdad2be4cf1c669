//! Decisions about findings, stored beside the service under fingerprints.
//!
//! ```text
//!   occurrences (contract::Finding) ─► identity ─► correlate ─► Issue, one per row ─┐
//!   Event ─► TriageState (folded events) ─────────────────────────────────────────► Assessment: verdict, presence,
//!     ▲ EventWriter                                                                 conflict, regression
//!   key press or command
//! ```
//!
//! The module is pure (no I/O, no clock) except for `store`. Events are append-only; the state is
//! their fold, and any order and repetition of the same events gives the same state.
//!
//! Reading order: `event`, `state` (their fold), `listed` (a finding of one scan), `identity`,
//! `correlate` (from findings to issues, with the files of each step), `issue`, `issue_fields`
//! (what queries read of an issue). `draft` makes the events of a decision.

pub mod assessment;
#[cfg(test)]
mod assessment_tests;
pub mod bundle;
mod bundle_digest;
pub mod change_detection;
mod changed_assets;
#[cfg(test)]
mod changed_assets_tests;
pub mod compare;
pub mod correlate;
#[cfg(test)]
mod correlate_tests;
pub mod coverage;
pub mod defaults;
pub mod draft;
pub mod event;
pub mod evidence_digest;
pub mod explain;
pub mod facts;
pub mod finding_columns;
mod finding_state;
pub mod identity;
mod imported;
pub mod issue;
mod issue_fields;
pub mod jsonl;
mod linked;
mod list_context;
pub mod listed;
pub mod listed_fields;
mod matching;
pub mod presence;
#[cfg(test)]
mod presence_tests;
#[cfg(test)]
mod query_tests;
mod record;
pub mod retest;
mod rules;
mod scan_index;
pub mod settings;
pub mod state;
pub mod store;
#[cfg(any(test, feature = "testing"))]
#[allow(clippy::unwrap_used, clippy::expect_used)]
pub mod testing;
pub mod timeline;
mod weakness;

pub use bundle::{Bundle, Manifest, Setting};
pub use compare::{ComparedFinding, Outcome};
pub use defaults::DecisionDefaults;
pub use draft::{DecisionScope, Draft, DraftValue, assignee_name};
pub use event::{ManualFinding, ManualLink};
pub use facts::{FindingFacts, ScanChanges};
pub use finding_columns::FindingColumns;
pub use imported::tool_name;
pub use issue::{AbsenceProof, Occurrence, RareIssueData, ReopenCause, VerdictSource};
pub use jsonl::BadLine;
pub use list_context::{ListContext, OobContext};
pub use listed::{CommonFindingFields, FindingTexts, ListedFinding};
pub use retest::{RETEST_SETTING, Retest, RetestFinding, RetestResult, RetestScan, RetestStatus};
pub use settings::{OWN_ADDRESSES, StoredSettings};
pub use store::{ArrivedEvent, OpenedDecisions, Store, StoreError, TeamLog};

pub use crate::finding::{FindingKey, Presence, PresenceReason, Reason, RetestGap, Verdict};
pub use correlate::{Correlated, CorrelationInput, EarlierCorrelation, correlate, reassess};
pub use event::{
    Baseline, Change, Decision, Event, EventId, EventWriter, Identity, Sighting, Subject,
};
pub use issue::{Assessment, Assessments, Issue, IssueId};
pub use issue_fields::AssessedFinding;
pub use presence::{ComparedScans, PresenceResult, ReadTimes};
pub use state::{FindingState, ManualFindingState, RuleState, Touched, TriageState};
pub use timeline::{ScanSighting, TimelineEntry};
pub use weakness::WeaknessKey;
