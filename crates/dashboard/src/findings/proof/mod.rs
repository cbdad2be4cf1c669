//! `P` and `:prove`: the request in the evidence of a finding is sent again, and the answer says
//! whether the finding is still there.
//!
//! ```text
//!   key ─► texts of the finding (Effect::ReadFindings) ─► ProofRequest ─► scope file (Effect::CheckProof)
//!                                                             └─► refused: the reason ◄──┤
//!                                        prompt with method, URL and headers ◄───────────┘
//!   enter ─► Call::Prove ─► FindingProof ─► event of the decisions, explanation with both answers
//! ```

pub mod keys;
#[cfg(test)]
mod tests;
