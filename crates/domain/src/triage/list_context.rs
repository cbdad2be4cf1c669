//! The other lists, as queries of any list need them: of the dashboard and of the commands.

use super::{Issue, TriageState};
use crate::finding::FindingKey;
use crate::oob::source::is_own;
use crate::oob::{HitCounts, Hits, Network, Payload, PayloadBook, TargetHosts, Token, Wait};
use crate::table::{OtherLists, Table};
use scandeck_wire::contract::{Capture, Scan, ScanId, Shared, Target, TargetId, Workspace};
use scandeck_wire::text::search_form;

/// The other lists for queries. A list that is not loaded is missing.
#[derive(Clone, Copy, Default)]
pub struct ListContext<'a> {
    pub targets: Option<&'a Table<Target>>,
    pub workspaces: Option<&'a Table<Workspace>>,
    pub scans: Option<&'a Table<Scan>>,
    pub findings: Option<&'a Table<Issue>>,
    /// Decisions, for notes.
    pub state: Option<&'a TriageState>,
    pub oob: Option<OobContext<'a>>,
}

/// Payloads, their hits, and the senders of captures.
#[derive(Clone, Copy)]
pub struct OobContext<'a> {
    pub book: &'a PayloadBook,
    pub hits: &'a HitCounts,
    /// The whole archive was counted: a payload that is not in `hits` has none.
    pub are_hits_known: bool,
    pub waits: &'a [Wait],
    /// The analyst's addresses.
    pub own: &'a [Network],
    pub hosts: &'a TargetHosts,
    /// The service's clock minus this machine's, in seconds.
    pub clock_offset: Option<i64>,
}

impl ListContext<'_> {
    /// Targets whose name contains a text in its [`search_form`].
    pub fn targets_named(&self, text: &str) -> Vec<TargetId> {
        let targets = self.targets.map(Table::items).unwrap_or_default();
        let named = targets
            .iter()
            .filter(|target| search_form(&target.name).contains(text));
        named.map(|target| target.id).collect()
    }
}

impl OtherLists for ListContext<'_> {
    fn target_name(&self, target: TargetId) -> Option<&Shared> {
        self.targets?.get(target).map(|target| &target.name)
    }

    fn workspace_name(&self, target: TargetId) -> Option<&Shared> {
        let workspace = self.targets?.get(target)?.workspace_id;
        self.workspaces?
            .get(workspace)
            .map(|workspace| &workspace.name)
    }

    fn scan(&self, scan: ScanId) -> Option<&Scan> {
        self.scans?.get(scan).map(|scan| &**scan)
    }

    fn risks(&self, target: TargetId) -> Option<[u32; 5]> {
        self.findings?.of_target(target).map(|of| of.risks)
    }

    fn scans(&self, target: TargetId) -> Option<(usize, usize)> {
        let scans = self.scans?;
        let Some(of) = scans.of_target(target) else {
            return Some((0, 0));
        };
        let active = of
            .positions
            .iter()
            .filter(|&&at| scans.items()[at as usize].is_active())
            .count();
        Some((of.positions.len(), active))
    }

    fn payload(&self, token: Token) -> Option<&Payload> {
        self.oob?.book.get(token).map(|payload| &**payload)
    }

    fn hits(&self, token: Token) -> Option<&Hits> {
        self.oob?.hits.get(&token)
    }

    fn are_hits_known(&self) -> bool {
        self.oob.is_none_or(|oob| oob.are_hits_known)
    }

    fn is_awaited(&self, token: Token) -> bool {
        self.oob
            .is_some_and(|oob| oob.waits.iter().any(|wait| wait.token == token))
    }

    fn targets_of(&self, capture: &Capture) -> Vec<Shared> {
        let named = self.oob.map(|oob| oob.hosts.named_in(capture));
        let named = named.into_iter().flatten();
        named.map(|named| named.target).collect()
    }

    fn is_own(&self, capture: &Capture) -> bool {
        self.oob.is_some_and(|oob| is_own(capture, oob.own))
    }

    fn clock_offset(&self) -> Option<i64> {
        self.oob?.clock_offset
    }

    fn notes(&self, key: FindingKey) -> Vec<&Shared> {
        self.state
            .and_then(|state| state.finding_state(key))
            .map(|finding_state| finding_state.noted().collect())
            .unwrap_or_default()
    }
}
