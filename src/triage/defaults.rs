//! What is usual for a class: what went with the last decision on it that counts.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Change, Decision, Event, EventId, Reason, Subject, TriageState, Verdict};
use crate::contract::Shared;

/// What goes with a verdict on a class unless said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecisionDefault {
    /// A reason that fits the verdict.
    pub reason: Option<Reason>,
    /// The note written with the last decision, whatever its verdict.
    pub note: Option<Shared>,
}

/// The decisions on the findings of each class, in the order of (clock, id).
#[derive(Clone, Debug, Default)]
pub struct DecisionDefaults {
    decided: HashMap<Shared, Vec<(u64, EventId)>>,
}

impl DecisionDefaults {
    /// Of all events there are.
    pub fn of(state: &TriageState) -> Self {
        let mut defaults = Self::default();
        state.events().for_each(|event| defaults.take(event));
        defaults
    }

    /// Takes an event in.
    pub fn take(&mut self, event: &Arc<Event>) {
        if let (Subject::Finding(identity), Change::Decide(_)) = (&event.subject, &event.change) {
            let decided = self.decided.entry(identity.class.clone()).or_default();
            let place = (event.clock, event.id);
            let at = decided.partition_point(|known| *known < place);
            decided.insert(at, place);
        }
    }

    /// The decisions on a class that count, the newest first.
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

    /// What is usual for a class in a workspace: what was written for one client is not said to another. A reason is
    /// looked for among earlier decisions where the last one has none that fits, as far as the last one with the same
    /// verdict: what that says, or does not say, holds.
    pub fn last(
        &self,
        state: &TriageState,
        workspace: &str,
        class: &Shared,
        verdict: Verdict,
    ) -> Option<DecisionDefault> {
        let here = || self.decisions(state, class).filter(|(event, _)| *event.workspace == *workspace);
        let (event, _) = here().next()?;
        let fits = |reason: &Reason| verdict.reasons().contains(reason);
        let reason = here().find_map(|(_, decision)| {
            let reason = decision.reason.filter(fits);
            (reason.is_some() || decision.verdict == verdict).then_some(reason)
        });
        Some(DecisionDefault { reason: reason.flatten(), note: note_beside(state, event) })
    }
}

/// The note that was written with a decision.
pub fn note_beside(state: &TriageState, decision: &Event) -> Option<Shared> {
    state.batch(decision.batch).iter().find_map(|event| match &event.change {
        Change::Note(note) if event.subject == decision.subject => Some(note.clone()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Stamp;
    use crate::triage::Identity;
    use crate::triage::testing::Desk;

    #[test]
    fn what_was_said_in_one_workspace_is_not_usual_in_another() {
        let mut ann = Desk::new("ann", 1);
        let finding = || Subject::Finding(Identity { class: "csp".into(), ..Identity::default() });
        let (verdict, reason) = (Verdict::FalsePositive, Some(Reason::TestArtifact));
        let (at, batch) = (Stamp::parse("2026-11-21 12:00:00").unwrap(), ann.writer.next());
        let changes = [
            Change::Decide(Decision { verdict, reason, ..Decision::default() }),
            Change::Note("asked Bo of acme".into()),
        ];
        for change in changes {
            let event = ann.writer.write((at, 1), batch, Vec::new(), finding(), change);
            ann.state.apply(&Arc::new(event));
        }
        let defaults = DecisionDefaults::of(&ann.state);
        let last = |workspace: &str| defaults.last(&ann.state, workspace, &"csp".into(), verdict);
        assert_eq!(last("acme"), Some(DecisionDefault { reason, note: Some("asked Bo of acme".into()) }));
        assert_eq!(last("lab"), None);
    }
}
