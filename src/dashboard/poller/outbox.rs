//! What was learnt and not yet handed over. The screen may be slow, or away in an editor; then the newest of each list
//! wins, and only the captures, which are sent once each, pile up: beyond a number no more are read.

use crate::dashboard::base::{PartData, PollEvent, ScanPart};
use std::collections::VecDeque;

/// Events that may wait before no more captures are read: they stay at the service until there is room.
const FULL: usize = 64;

/// Events in the order they were learnt.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    waiting: VecDeque<PollEvent>,
}

impl Outbox {
    /// Adds an event; older ones of the same kind are dropped.
    pub fn push(&mut self, event: PollEvent) {
        if let Some(key) = key(&event) {
            self.waiting.retain(|old| self::key(old) != Some(key));
        }
        self.waiting.push_back(event);
    }

    pub fn pop(&mut self) -> Option<PollEvent> {
        self.waiting.pop_front()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Captures, which nothing newer replaces, should wait at the service.
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= FULL
    }

    pub fn clear(&mut self) {
        self.waiting.clear();
    }
}

/// Events with equal keys replace each other. The failure of a list stands beside its snapshot: one tells what is
/// known, the other that it is no longer fresh.
fn key(event: &PollEvent) -> Option<(u8, u8)> {
    Some(match event {
        PollEvent::Link(_) => (0, 0),
        PollEvent::Budget(_) => (0, 1),
        PollEvent::ClockOffset(_) => (0, 2),
        PollEvent::Snapshot(snapshot) => (1, snapshot.list_kind() as u8),
        PollEvent::Failed(list, _) => (2, *list as u8),
        // One scan's parts are on the screen at a time.
        PollEvent::ScanPart(_, PartData::Tests(_)) => (3, ScanPart::Tests as u8),
        PollEvent::ScanPart(_, PartData::Output(_)) => (3, ScanPart::Output as u8),
        PollEvent::ScanPart(_, PartData::Raw(_)) => (3, ScanPart::Raw as u8),
        PollEvent::PartFailed(_, part, _) => (4, *part as u8),
        PollEvent::Captures { .. } => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn the_newest_of_a_list_wins_and_captures_are_all_kept() {
        let mut outbox = Outbox::default();
        outbox.push(PollEvent::ClockOffset(1));
        outbox.push(PollEvent::Captures { logger: Arc::default(), new: Vec::new() });
        outbox.push(PollEvent::ClockOffset(2));
        outbox.push(PollEvent::Captures { logger: Arc::default(), new: Vec::new() });
        let order: Vec<_> = std::iter::from_fn(|| outbox.pop()).collect();
        assert!(matches!(
            order.as_slice(),
            [PollEvent::Captures { .. }, PollEvent::ClockOffset(2), PollEvent::Captures { .. }]
        ));
    }
}
