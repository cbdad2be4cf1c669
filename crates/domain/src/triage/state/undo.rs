//! Undo and redo: whether a batch counts, and the steps of each author.

use std::sync::Arc;

use super::{EventPlace, Topic, TriageState, place, topic};
use crate::triage::event::{Event, EventId};

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct EventBatch {
    pub(super) events: Vec<Arc<Event>>,
    /// Last undo or redo; true for undo.
    last: Option<(EventPlace, bool)>,
}

/// Step in the undo history of an author.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UndoStep {
    Did(EventId),
    Undid(EventId),
    Redid(EventId),
}

impl TriageState {
    /// True if the batch is undone.
    pub fn is_undone(&self, batch: EventId) -> bool {
        self.batches
            .get(&batch)
            .is_some_and(|batch| batch.is_undone())
    }

    /// The batch that undo of this author affects: the last effective one.
    pub fn last_done(&self, who: &str) -> Option<EventId> {
        self.steps
            .get(who)?
            .values()
            .rev()
            .find_map(|&step| match step {
                UndoStep::Did(batch) | UndoStep::Redid(batch) if !self.is_undone(batch) => {
                    Some(batch)
                }
                _ => None,
            })
    }

    /// The batch that redo of this author affects: the last undone one since a new decision.
    pub fn last_undone(&self, who: &str) -> Option<EventId> {
        let since = self
            .steps
            .get(who)?
            .values()
            .rev()
            .take_while(|step| !matches!(step, UndoStep::Did(_)));
        since.copied().find_map(|step| match step {
            UndoStep::Undid(batch) if self.is_undone(batch) => Some(batch),
            _ => None,
        })
    }

    /// Stores an undo or redo and returns the topics of its batch.
    pub(super) fn set_undone(&mut self, event: &Event, batch: EventId, undo: bool) -> Vec<Topic> {
        let step = if undo {
            UndoStep::Undid(batch)
        } else {
            UndoStep::Redid(batch)
        };
        self.step(event, step);
        let turned = Arc::make_mut(self.batches.entry(batch).or_default());
        turned.last = turned.last.max(Some((place(event), undo)));
        turned
            .events
            .iter()
            .filter_map(|event| topic(event))
            .collect()
    }

    pub(super) fn step(&mut self, event: &Event, step: UndoStep) {
        self.steps
            .entry(event.who.clone())
            .or_default()
            .insert(place(event), step);
    }
}

impl EventBatch {
    fn is_undone(&self) -> bool {
        self.last.is_some_and(|(_, undone)| undone)
    }
}
