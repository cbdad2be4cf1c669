//! Metadata of calls: the number of sent requests, and the unreadable items of lists.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Calls and unreadable items.
#[derive(Debug, Default)]
pub(super) struct Observed {
    calls: AtomicU32,
    unreadable: Mutex<Vec<String>>,
}

impl Observed {
    pub fn count_call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    pub fn calls(&self) -> u32 {
        self.calls.load(Ordering::Relaxed)
    }

    pub fn add_unreadable(&self, items: Vec<String>) {
        // The lock protects a plain list, which stays usable after a panic of another holder.
        self.unreadable.lock().unwrap_or_else(PoisonError::into_inner).extend(items);
    }

    pub fn unreadable(&self) -> Vec<String> {
        self.unreadable.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
