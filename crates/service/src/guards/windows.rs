//! A window of time in which requests or creations are counted, by this node and by the others.

use crate::store::key_windows::KeyWindow;

/// What was counted until the window ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    /// Seconds since 1970.
    pub ends: i64,
    /// What this node has counted.
    pub used: u32,
    /// What other nodes have counted.
    pub others: u32,
}

impl Window {
    pub fn ending(ends: i64) -> Self {
        Self {
            ends,
            used: 0,
            others: 0,
        }
    }

    /// An end more than one window ahead means that the clock was set back.
    pub fn is_present(&self, now: i64, length: i64) -> bool {
        (now + 1..=now + length).contains(&self.ends)
    }

    pub fn total(&self) -> u32 {
        self.used.saturating_add(self.others)
    }

    /// Adds what other nodes have counted.
    pub fn count(&mut self, others: &KeyWindow) {
        let used = u32::try_from(others.used).unwrap_or(u32::MAX);
        self.others = self.others.saturating_add(used);
    }

    /// What this node has counted, for the others.
    pub fn shared(&self, key: &str, kind: &str) -> KeyWindow {
        KeyWindow {
            key: key.to_owned(),
            kind: kind.to_owned(),
            ends: self.ends,
            used: self.used.into(),
        }
    }
}
