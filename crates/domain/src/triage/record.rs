//! Recording of decisions as one batch of events.

use std::sync::Arc;

use super::{Change, Event, EventWriter, Subject, TriageState};
use scandeck_wire::contract::{Shared, Stamp};

impl EventWriter {
    /// Writes changes as one batch, each in its workspace. A decision replaces the decisions in
    /// `base`; a concurrent decision of somebody else remains beside it, as a conflict.
    pub fn write_batch(
        &mut self,
        (at, clock): (Stamp, u64),
        base: &TriageState,
        changes: impl IntoIterator<Item = (Shared, Subject, Change)>,
    ) -> Vec<Arc<Event>> {
        let batch = self.next();
        let write = |(workspace, subject, change): (Shared, Subject, Change)| {
            let after = match (&subject, &change) {
                (Subject::Finding(identity), Change::Decide(_)) => base.heads(identity.key),
                _ => Vec::new(),
            };
            self.workspace = workspace;
            Arc::new(self.write((at, clock), batch, after, subject, change))
        };
        changes.into_iter().map(write).collect()
    }
}
