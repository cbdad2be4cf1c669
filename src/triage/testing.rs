//! Persons at work, for tests: each writes events with a pen of their own, knowing what their own state knows.

use std::sync::Arc;

use super::event::{Change, Decision, Event, EventId, Identity, Key, Pen, Subject};
use super::state::State;
use super::verdict::Verdict;
use crate::contract::Stamp;

/// One dashboard: who sits there and what it knows.
#[derive(Clone)]
pub struct Desk {
    pub pen: Pen,
    pub state: State,
}

impl Desk {
    pub fn new(who: &str, instance: u64) -> Self {
        let pen = Pen { who: who.into(), instance, number: 0, workspace: "acme".into() };
        Self { pen, state: State::default() }
    }

    /// One key press that changes one thing, at minute `clock` of a certain day.
    pub fn does(&mut self, subject: Subject, change: Change) -> Arc<Event> {
        let replaces = matches!(change, Change::Decide(_));
        let after = match &subject {
            Subject::Finding(identity) if replaces => self.state.heads(identity.key),
            _ => Vec::new(),
        };
        let (clock, batch) = (self.state.clock() + 1, self.pen.next());
        let at = Stamp::parse("2026-11-21 12:00:00").unwrap();
        let at = Stamp(at.0 + jiff::SignedDuration::from_mins(clock as i64));
        let event = Arc::new(self.pen.write((at, clock), batch, after, subject, change));
        self.state.apply(&event);
        event
    }

    pub fn decides(&mut self, key: u128, verdict: Verdict) -> Arc<Event> {
        self.does(finding(key), Change::Decide(Decision { verdict, ..Decision::default() }))
    }

    pub fn undoes(&mut self, batch: EventId) -> Arc<Event> {
        self.does(Subject::Batch(batch), Change::Undo)
    }

    pub fn redoes(&mut self, batch: EventId) -> Arc<Event> {
        self.does(Subject::Batch(batch), Change::Redo)
    }

    /// Hears what others did.
    pub fn hears<'a>(&mut self, events: impl IntoIterator<Item = &'a Arc<Event>>) {
        for event in events {
            self.state.apply(event);
        }
    }

    /// The verdicts that hold.
    pub fn verdicts(&self, key: u128) -> Vec<Verdict> {
        self.state.standing(Key(key)).map(|standing| standing.verdicts()).unwrap_or_default()
    }
}

/// A finding of which nothing but the key matters.
pub fn finding(key: u128) -> Subject {
    Subject::Finding(Identity { key: Key(key), ..Identity::default() })
}
