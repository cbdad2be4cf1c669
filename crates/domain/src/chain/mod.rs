//! Chains: how findings, captures, payloads, targets, services and keys are connected.
//!
//! ```text
//!   evidence ─► traces.rs: certificate names, fingerprints, addresses ─┐
//!   payloads, captures, targets ───────────────────────────────────────┼─► links.rs, shared_values.rs: ChainLinks
//!   object.rs: the ends of a link                                      ┘       │
//!                                     one object ─► tree.rs: ChainTree ◄───────┘
//!                                                     ├─► lines.rs: people
//!                                                     └─► json.rs: programs
//! ```
//!
//! A link needs two facts that agree: a token, a fingerprint, the digest of a secret, or a host with
//! its port. Names that look alike are never one. A person can add links, with a reason.

mod data;
mod index;
mod json;
mod lines;
mod links;
mod object;
mod shared_values;
#[cfg(test)]
mod tests;
mod traces;
mod tree;

pub use data::{CapturedToken, ChainData, LinkedFinding, RecordedLink};
pub use lines::{ChainLine, lines};
pub use links::{Certainty, ChainLink, ChainLinks};
pub use object::{ChainObject, ServiceAddress};
pub use traces::EvidenceTraces;
pub use tree::{ChainNode, ChainTree, chain_of};
