//! The scans of the workspace by its own count. A scan that began and ended between two looks at those that wait or run
//! is seen by nothing else before all are read again.
//!
//! ```text
//!   count changed ─► the next look at the active scans ─► still not the number known? ─► all are read, once
//! ```

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct ScanCounts {
    count: Option<i64>,
    /// It changed, and the active scans were not looked at since.
    unseen: bool,
    /// All were read in view of this count: a service that counts otherwise is not asked over and over.
    read_for: Option<i64>,
}

impl ScanCounts {
    /// The workspace tells its count, so many are known; true when it tells of others, so that a look is worth while.
    pub fn learn(&mut self, count: i64, known: Option<usize>) -> bool {
        let before = self.count.replace(count);
        self.unseen |= before != Some(count);
        self.unseen &= known.and_then(|known| i64::try_from(known).ok()) != Some(count);
        self.unseen && before.is_some()
    }

    /// All scans are being read.
    pub fn read_all(&mut self) {
        (self.unseen, self.read_for) = (false, self.count);
    }

    /// So many are known after a look: whether the count tells of others.
    pub fn tells_of_more(&mut self, known: usize) -> bool {
        let unseen = std::mem::take(&mut self.unseen);
        unseen && self.count != i64::try_from(known).ok() && self.count != self.read_for
    }
}
