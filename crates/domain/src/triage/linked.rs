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

#[cfg(test)]
mod tests {
    use crate::triage::testing::Replica;
    use crate::triage::{Change, ManualLink, Subject};

    #[test]
    fn link_of_a_workspace_is_undone_and_unreadable_ends_are_left_out() {
        let mut ann = Replica::new("ann", 1);
        let link = |from: &str| {
            Change::Link(Box::new(ManualLink {
                from: from.into(),
                to: "target:db.test".into(),
                reason: "same password".into(),
            }))
        };
        let event = ann.does(Subject::Workspace, link("service:shop.test:443"));
        ann.does(Subject::Workspace, link("person:bob"));
        let links = ann.state.manual_links(&"acme".into());
        assert_eq!(links.len(), 1);
        assert_eq!(
            (&*links[0].who, &*links[0].reason),
            ("ann", "same password")
        );
        assert!(ann.state.manual_links(&"other".into()).is_empty());
        ann.undoes(event.batch);
        assert!(ann.state.manual_links(&"acme".into()).is_empty());
    }
}
