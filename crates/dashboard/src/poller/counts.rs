//! The number of scans that the workspace reports. Without it, a scan that starts and ends between
//! two polls of the active scans would be seen only with the next poll of all scans.
//!
//! ```text
//!   count changed ─► next poll of the active scans ─► count still differs ─► poll of all scans, once
//! ```

#[derive(Debug, Default)]
pub(crate) struct ScanCounts {
    count: Option<i64>,
    /// Whether the count changed since the last poll of the active scans.
    unseen: bool,
    /// The count for which all scans were polled: a service that counts differently is not polled
    /// again and again.
    read_for: Option<i64>,
}

impl ScanCounts {
    /// Takes the count of the workspace and the number of known scans. Returns whether a poll of
    /// the scans is useful.
    pub fn learn(&mut self, count: i64, cached: Option<usize>) -> bool {
        let before = self.count.replace(count);
        self.unseen |= before != Some(count);
        self.unseen &= cached.and_then(|cached| i64::try_from(cached).ok()) != Some(count);
        self.unseen && before.is_some()
    }

    /// Notes that all scans are being polled.
    pub fn read_all(&mut self) {
        (self.unseen, self.read_for) = (false, self.count);
    }

    /// Takes the number of scans after a poll. Returns whether the count indicates further scans.
    pub fn has_more(&mut self, cached: usize) -> bool {
        let unseen = std::mem::take(&mut self.unseen);
        unseen && self.count != i64::try_from(cached).ok() && self.count != self.read_for
    }
}
