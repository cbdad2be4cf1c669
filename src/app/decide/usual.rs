//! What is usual for a class: reason and note of the last decision on it that counts, with the same verdict.

use std::collections::HashMap;
use std::sync::Arc;

use crate::contract::Shared;
use crate::triage::verdict::{Reason, Verdict};
use crate::triage::{Change, Event, EventId, State, Subject};

/// What went with the last decision on a class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Last {
    /// Its reason.
    pub reason: Option<Reason>,
    /// The note written with it.
    pub note: Option<Shared>,
}

/// The decisions on each class by verdict, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Usual {
    decided: HashMap<(Shared, Verdict), Vec<EventId>>,
}

impl Usual {
    /// Of all events there are.
    pub fn of(state: &State) -> Self {
        let mut usual = Self::default();
        state.events().for_each(|event| usual.take(event));
        usual
    }

    /// Takes an event in.
    pub fn take(&mut self, event: &Arc<Event>) {
        if let (Subject::Finding(identity), Change::Decide(decision)) = (&event.subject, &event.change) {
            self.decided.entry((identity.class.clone(), decision.verdict)).or_default().push(event.id);
        }
    }

    /// What is usual for a class.
    pub fn last(&self, state: &State, class: &Shared, verdict: Verdict) -> Option<Last> {
        let decided = self.decided.get(&(class.clone(), verdict))?;
        let events = decided.iter().rev().filter_map(|&id| state.event(id));
        let last = events.into_iter().find(|event| !state.is_undone(event.batch))?;
        let Change::Decide(decision) = &last.change else { return None };
        let beside = state.batch(last.batch);
        let note = beside.iter().find_map(|event| match &event.change {
            Change::Note(note) if event.subject == last.subject => Some(note.clone()),
            _ => None,
        });
        Some(Last { reason: decision.reason, note })
    }
}
