//! Which findings this person has seen: those whose detail was on the screen for a second, and those that were decided.
//! Walking past is not seeing. Kept by identity, so a re-scan makes nothing unread.

use crate::dashboard::base::{Effect, Pane};
use crate::dashboard::model::Model;
use crate::triage::{CaseId, FindingKey};
use std::time::Duration;

/// A detail counts as seen after it was on the screen for this long.
pub(crate) const SEEN_AFTER: Duration = Duration::from_secs(1);

impl Model {
    /// Whether a row is still to be looked at. Where nothing is remembered nothing is unread.
    pub fn is_unread(&self, key: FindingKey) -> bool {
        self.findings.triage.writer.is_some() && !self.findings.triage.seen.contains(&key)
    }

    /// The finding whose detail is on the screen, while it is unread.
    pub(crate) fn unread_on_screen(&self) -> Option<(FindingKey, Duration)> {
        let (pane, id, since) = self.findings.looking?;
        let case = self.data.findings.value().filter(|_| pane == Pane::Findings)?.get(CaseId(id))?;
        self.is_unread(case.key()).then(|| (case.key(), since + SEEN_AFTER))
    }

    /// Takes note of what was looked at for long enough.
    pub(crate) fn see_finding(&mut self, effects: &mut Vec<Effect>) {
        if let Some((key, at)) = self.unread_on_screen()
            && at <= self.now.mono
        {
            self.see(vec![key], effects);
        }
    }

    /// These were seen.
    pub(crate) fn see(&mut self, mut keys: Vec<FindingKey>, effects: &mut Vec<Effect>) {
        keys.retain(|&key| self.is_unread(key));
        if keys.is_empty() {
            return;
        }
        self.findings.triage.seen.extend(keys.iter().copied());
        let workspace = self.workspace_name();
        effects.push(Effect::MarkSeen { workspace, keys });
        self.screen.dirty = true;
    }
}
