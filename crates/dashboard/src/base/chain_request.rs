//! The data from which the chain of an object is made. The texts of all findings are read, so the
//! chain is made off the UI thread.

use scandeck_domain::chain::{
    CapturedToken, ChainData, ChainObject, ChainTree, RecordedLink, chain_of,
};
use scandeck_domain::oob::Payload;
use scandeck_domain::table::Table;
use scandeck_domain::triage::Issue;
use scandeck_wire::contract::{Shared, Target};
use std::io;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct ChainRequest {
    /// The object whose chain is shown.
    pub root: ChainObject,
    pub issues: Arc<Table<Issue>>,
    pub targets: Arc<Table<Target>>,
    pub payloads: Arc<Table<Payload>>,
    pub captured: Vec<CapturedToken>,
    pub manual: Vec<RecordedLink>,
}

/// The same object with the same findings.
impl PartialEq for ChainRequest {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root && Arc::ptr_eq(&self.issues, &other.issues)
    }
}

impl ChainRequest {
    /// Reads the evidence of the findings, and makes the chain.
    ///
    /// # Errors
    /// When a text cannot be read, or is damaged.
    pub fn tree(&self) -> io::Result<ChainTree> {
        let issues = self.issues.items().iter();
        let findings = issues.map(|issue| -> io::Result<_> {
            let texts = issue.texts()?;
            Ok(issue.linked(&self.target_of(issue), &texts))
        });
        let targets = self.targets.items().iter();
        let data = ChainData {
            findings: findings.collect::<io::Result<_>>()?,
            targets: targets.map(|target| target.name.clone()).collect(),
            payloads: self.payloads.items().to_vec(),
            captured: self.captured.clone(),
            manual: self.manual.clone(),
        };
        Ok(chain_of(&self.root, &data))
    }

    fn target_of(&self, issue: &Issue) -> Shared {
        let listed = issue.target_id().and_then(|id| self.targets.get(id));
        listed
            .map(|target| target.name.clone())
            .or_else(|| issue.target_name().clone())
            .unwrap_or_else(|| issue.identity.asset.clone())
    }
}
