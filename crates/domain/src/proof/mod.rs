//! Proof: the request in the evidence of a finding, sent again, and what its answer says.
//!
//! ```text
//!   evidence ─┬─► ProofRequest, or ProofRefusal with a curl command instead
//!             └─► ExpectedAnswer ─┐
//!   target ─────► ProofAnswer ────┴─► judge ─► ProofReason ─► FindingProof, an event of the decisions
//! ```
//!
//! Only requests that read are sent, and only as they are shown. A doubt is never an outcome: what a
//! person could not tell from both answers is `cannot_tell`, with the reason.

mod answer;
mod expected;
mod judge;
#[cfg(test)]
mod judge_tests;
mod page;
#[cfg(test)]
mod page_tests;
mod payload;
mod record;
mod request;

pub use answer::ProofAnswer;
pub use expected::ExpectedAnswer;
pub use judge::judge;
pub use record::FindingProof;
pub use request::{ProofRefusal, ProofRequest};
pub use scandeck_wire::contract::proof::{ProofOutcome, ProofReason};
