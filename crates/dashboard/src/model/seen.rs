//! Findings that this person has seen: their detail was on the screen for a second, or they were
//! decided. They are stored by identity, so that a new scan does not make them unread.

use crate::base::{Effect, Pane};
use crate::model::Model;
use scandeck_domain::triage::{FindingKey, IssueId};
use std::time::Duration;

/// A detail counts as seen after it was on the screen for this long.
pub(crate) const SEEN_AFTER: Duration = Duration::from_secs(1);

impl Model {
    /// Whether a finding was not seen yet. Without a store all are seen.
    pub fn is_unread(&self, key: FindingKey) -> bool {
        self.findings.triage.writer.is_some() && !self.findings.triage.seen.contains(&key)
    }

    /// The unread finding whose detail is on the screen, and when it counts as seen.
    pub(crate) fn unread_on_screen(&self) -> Option<(FindingKey, Duration)> {
        let (pane, id, since) = self.findings.looking?;
        let issue = self
            .data
            .findings
            .value()
            .filter(|_| pane == Pane::Findings)?
            .get(IssueId(id))?;
        self.is_unread(issue.key())
            .then(|| (issue.key(), since + SEEN_AFTER))
    }

    /// When the shown detail will count as seen, if it does not yet.
    pub(crate) fn seen_at(&self) -> Option<Duration> {
        if let Some((_, at)) = self.unread_on_screen() {
            return Some(at).filter(|&at| at > self.now.mono);
        }
        let (pane, _, since) = self.findings.looking?;
        (pane == Pane::Scans)
            .then_some(since + SEEN_AFTER)
            .filter(|&at| at > self.now.mono)
    }

    /// Marks the finding on the screen as seen after a second.
    pub(crate) fn see_finding(&mut self, effects: &mut Vec<Effect>) {
        if let Some((key, at)) = self.unread_on_screen()
            && at <= self.now.mono
        {
            self.see(vec![key], effects);
        }
    }

    /// Marks findings as seen.
    pub(crate) fn see(&mut self, mut keys: Vec<FindingKey>, effects: &mut Vec<Effect>) {
        keys.retain(|&key| self.is_unread(key));
        if keys.is_empty() {
            return;
        }
        self.findings.triage.seen.extend(keys.iter().copied());
        let workspace = self.workspace_name();
        effects.push(Effect::MarkSeen { workspace, keys });
    }
}
