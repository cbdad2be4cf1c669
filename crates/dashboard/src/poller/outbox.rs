//! The events that wait for the channel. If the screen is slow, or an editor has the terminal, the
//! newest event of each kind replaces the older ones. Captures are reported once each and
//! accumulate; above a limit no more are fetched.

use crate::base::{ListKind, PartData, PollEvent, ScanPart};
use std::collections::VecDeque;

/// Waiting events above which no more captures are fetched; they remain at the service.
const FULL: usize = 64;

/// Events in the order of their arrival.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    waiting: VecDeque<PollEvent>,
}

impl Outbox {
    /// Adds an event and drops an older one of the same kind.
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

    /// Whether captures, which nothing newer replaces, should remain at the service.
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= FULL
    }

    pub fn clear(&mut self) {
        self.waiting.clear();
    }
}

/// Events with equal keys replace each other. The failure of a list does not replace its snapshot,
/// because the rows remain and become stale.
fn key(event: &PollEvent) -> Option<(u8, u8)> {
    Some(match event {
        PollEvent::Link(_) => (0, 0),
        PollEvent::Budget(_) => (0, 1),
        PollEvent::ClockOffset(_) => (0, 2),
        PollEvent::MissingScanners(_) => (0, 3),
        PollEvent::Unanswered(_) => (0, 4),
        PollEvent::Snapshot(snapshot) => (1, snapshot.list_kind() as u8),
        PollEvent::SomeFindings(..) => (1, ListKind::Findings as u8),
        PollEvent::Failed(list, _) => (2, *list as u8),
        // Only one scan is visible at a time.
        PollEvent::ScanPart(_, PartData::Tests(_)) => (3, ScanPart::Tests as u8),
        PollEvent::ScanPart(_, PartData::Output(_)) => (3, ScanPart::Output as u8),
        PollEvent::ScanPart(_, PartData::Raw(_)) => (3, ScanPart::Raw as u8),
        PollEvent::PartFailed(_, part, _) => (4, *part as u8),
        PollEvent::CapturesFailed(_) => (5, 0),
        PollEvent::Unreadable(list, _) => (6, *list as u8),
        PollEvent::Confirmed(list, _) => (7, *list as u8),
        PollEvent::Nodes(_) => (8, 0),
        PollEvent::NodesFailed(_) => (8, 1),
        PollEvent::Captures { .. } => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn newest_event_of_kind_wins_and_captures_accumulate() {
        let mut outbox = Outbox::default();
        outbox.push(PollEvent::ClockOffset(1));
        outbox.push(PollEvent::Captures {
            logger: Arc::default(),
            new: Vec::new(),
        });
        outbox.push(PollEvent::ClockOffset(2));
        outbox.push(PollEvent::Captures {
            logger: Arc::default(),
            new: Vec::new(),
        });
        let order: Vec<_> = std::iter::from_fn(|| outbox.pop()).collect();
        assert!(matches!(
            order.as_slice(),
            [
                PollEvent::Captures { .. },
                PollEvent::ClockOffset(2),
                PollEvent::Captures { .. }
            ]
        ));
    }
}
