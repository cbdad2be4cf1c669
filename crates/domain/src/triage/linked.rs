//! A finding as far as chains need it.

use super::identity::is_unknown;
use super::issue::Issue;
use super::listed::FindingTexts;
use crate::chain::{EvidenceTraces, LinkedFinding};
use scandeck_wire::contract::Shared;

impl Issue {
    /// The latest occurrence on this target, with the traces in its evidence.
    pub fn linked(&self, target: &Shared, texts: &FindingTexts) -> LinkedFinding {
        let known = Some(target).filter(|target| !is_unknown(target));
        LinkedFinding {
            key: self.key(),
            id: self.finding.id,
            name: self.name.clone(),
            target: known.cloned().unwrap_or_default(),
            port: self.port(),
            scan: self.task_id(),
            traces: EvidenceTraces::of(&texts.vuln_evidence),
        }
    }
}
