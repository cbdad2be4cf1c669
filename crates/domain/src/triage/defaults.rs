//! Default reason for a class: that of its last decision. Notes have no default: a note says
//! something about one finding, and a key must not say it about another.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Change, Decision, Event, EventId, Reason, Subject, TriageState, Verdict};
use scandeck_wire::contract::Shared;

/// The decisions on the findings of each class, in the order of (clock, id).
#[derive(Clone, Debug, Default)]
pub struct DecisionDefaults {
    decided: HashMap<Shared, Vec<(u64, EventId)>>,
}

impl DecisionDefaults {
    /// Builds the index from all events.
    pub fn of(state: &TriageState) -> Self {
        let mut defaults = Self::default();
        state.events().for_each(|event| defaults.take(event));
        defaults
    }

    /// Adds an event.
    pub fn take(&mut self, event: &Arc<Event>) {
        if let (Subject::Finding(identity), Change::Decide(_)) = (&event.subject, &event.change) {
            let decided = self.decided.entry(identity.class.clone()).or_default();
            let place = (event.clock, event.id);
            let at = decided.partition_point(|known| *known < place);
            decided.insert(at, place);
        }
    }

    /// Effective decisions on a class, newest first.
    pub fn decisions<'a>(
        &'a self,
        state: &'a TriageState,
        class: &Shared,
    ) -> impl Iterator<Item = (&'a Arc<Event>, &'a Decision)> {
        let all = self.decided.get(class).into_iter().flatten().rev();
        all.filter_map(|&(_, id)| match state.event(id) {
            Some(event) if !state.is_undone(event.batch) => match &event.change {
                Change::Decide(decision) => Some((event, decision)),
                _ => None,
            },
            _ => None,
        })
    }

    /// The reason for a verdict on a class in a workspace. If the last decision has no fitting
    /// reason, earlier decisions are searched, up to the last one with the same verdict.
    pub fn reason(
        &self,
        state: &TriageState,
        workspace: &str,
        class: &Shared,
        verdict: Verdict,
    ) -> Option<Reason> {
        let fits = |reason: &Reason| verdict.reasons().contains(reason);
        let mut here = self
            .decisions(state, class)
            .filter(|(event, _)| *event.workspace == *workspace);
        let reason = here.find_map(|(_, decision)| {
            let reason = decision.reason.filter(fits);
            (reason.is_some() || decision.verdict == verdict).then_some(reason)
        });
        reason.flatten()
    }
}

/// The note recorded with a decision.
pub fn note_beside(state: &TriageState, decision: &Event) -> Option<Shared> {
    state
        .batch(decision.batch)
        .iter()
        .find_map(|event| match &event.change {
            Change::Note(note) if event.subject == decision.subject => Some(note.clone()),
            _ => None,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::triage::Identity;
    use crate::triage::testing::Replica;
    use scandeck_wire::contract::Stamp;

    #[test]
    fn defaults_are_limited_to_workspace() {
        let mut ann = Replica::new("ann", 1);
        let finding = || {
            Subject::Finding(Identity {
                class: "csp".into(),
                ..Identity::default()
            })
        };
        let (verdict, reason) = (Verdict::FalsePositive, Some(Reason::TestArtifact));
        let (at, batch) = (
            Stamp::parse("2026-11-21 12:00:00").unwrap(),
            ann.writer.next(),
        );
        let change = Change::Decide(Decision {
            verdict,
            reason,
            ..Decision::default()
        });
        let event = ann
            .writer
            .write((at, 1), batch, Vec::new(), finding(), change);
        ann.state.apply(&Arc::new(event));
        let defaults = DecisionDefaults::of(&ann.state);
        let last = |workspace: &str| defaults.reason(&ann.state, workspace, &"csp".into(), verdict);
        assert_eq!((last("acme"), last("lab")), (reason, None));
    }
}
