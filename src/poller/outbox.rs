//! What was learnt and not yet handed over. The screen may be slow, or away in an editor; then the newest of each list
//! wins, and only the captures, which are sent once each, pile up: beyond a number no more are read.

use std::collections::VecDeque;

use crate::app::plan::{News, PartData, ScanPart};

/// News that may wait before no more captures are read: they stay at the service until there is room.
const FULL: usize = 64;

/// News in the order they were learnt.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    waiting: VecDeque<News>,
}

impl Outbox {
    /// Adds news; older ones of the same thing are dropped.
    pub fn push(&mut self, news: News) {
        if let Some(key) = key(&news) {
            self.waiting.retain(|old| self::key(old) != Some(key));
        }
        self.waiting.push_back(news);
    }

    pub fn pop(&mut self) -> Option<News> {
        self.waiting.pop_front()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// What cannot be replaced by newer news should wait at the service.
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= FULL
    }

    pub fn clear(&mut self) {
        self.waiting.clear();
    }
}

/// News with equal keys replace each other. Failures of a list stand beside the list itself: one tells what is known,
/// the other that it is no longer fresh.
fn key(news: &News) -> Option<(u8, u8)> {
    Some(match news {
        News::Link(_) => (0, 0),
        News::Budget(_) => (0, 1),
        News::ClockOffset(_) => (0, 2),
        News::Workspaces(_) => (1, 0),
        News::Targets(_) => (1, 1),
        News::Scans(_) => (1, 2),
        News::Findings(_) => (1, 3),
        News::Loggers(_) => (1, 4),
        News::Reports(_) => (1, 5),
        News::Wordlists(_) => (1, 6),
        News::Failed(noun, _) => (2, *noun as u8),
        // One scan's parts are on the screen at a time.
        News::ScanPart(_, PartData::Tests(_)) => (3, ScanPart::Tests as u8),
        News::ScanPart(_, PartData::Output(_)) => (3, ScanPart::Output as u8),
        News::ScanPart(_, PartData::Raw(_)) => (3, ScanPart::Raw as u8),
        News::PartFailed(_, part, _) => (4, *part as u8),
        News::Captures { .. } => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn the_newest_of_a_list_wins_and_captures_are_all_kept() {
        let mut outbox = Outbox::default();
        outbox.push(News::ClockOffset(1));
        outbox.push(News::Captures { logger: Arc::default(), new: Vec::new() });
        outbox.push(News::ClockOffset(2));
        outbox.push(News::Captures { logger: Arc::default(), new: Vec::new() });
        let order: Vec<_> = std::iter::from_fn(|| outbox.pop()).collect();
        assert!(matches!(order.as_slice(), [News::Captures { .. }, News::ClockOffset(2), News::Captures { .. }]));
    }
}
