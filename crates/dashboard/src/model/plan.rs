//! The poll plan, and the time when the screen changes without a key.

use crate::base::batch::MOMENT;
use crate::base::{FormTag, Layout, Link, ListKind, Pane, PollPlan};
use crate::model::refresh::AGES_CHANGE;
use crate::model::{Modal, Model};
use scandeck_client::calls::ApiCall;
use scandeck_domain::problem::Problem;
use scandeck_domain::query::lex::Compare;
use scandeck_domain::query::{Clause, ClauseTest, Expr, Field, QueryKind, query_of};
use scandeck_wire::contract::{ScanId, Stamp};
use std::time::Duration;

/// Most scans whose findings are read for a query.
const MOST_WANTED: usize = 100;

impl Model {
    /// The panes on the screen.
    pub fn on_screen(&self) -> Vec<Pane> {
        let focus = self.navigation.focus.pane;
        if self
            .overlay
            .modals
            .iter()
            .any(|modal| matches!(modal, Modal::Setup(_)))
        {
            return Vec::new();
        }
        if self.navigation.focus.zoomed {
            return vec![focus];
        }
        let mut panes = match self.layout() {
            Layout::Wide if focus.is_full_view() => vec![Pane::Workspaces, Pane::Targets, focus],
            _ if focus.is_full_view() => vec![focus],
            Layout::Wide => vec![
                Pane::Workspaces,
                Pane::Targets,
                Pane::Findings,
                Pane::Scans,
                self.navigation.fifth,
            ],
            Layout::Portrait => vec![focus, Pane::Scans, self.navigation.fifth],
            Layout::Beside | Layout::Stacked => vec![focus],
        };
        panes.sort();
        panes.dedup();
        panes
    }

    /// Whether calls in flight are on the screen, whose duration is shown in seconds.
    fn shows_running_calls(&self) -> bool {
        self.shows_activity()
            && self
                .items::<ApiCall>()
                .iter()
                .any(|call| call.end.is_none())
    }

    /// Whether the activity view is on the screen. Calls are reported only while it is.
    pub fn shows_activity(&self) -> bool {
        self.on_screen().contains(&Pane::Activity)
    }

    /// The lists on the screen, with those that their rows depend on.
    pub fn visible(&self) -> Vec<ListKind> {
        let mut lists = Vec::new();
        for pane in self.on_screen() {
            lists.extend(pane.list_kind());
            match pane {
                Pane::Captures => lists.push(ListKind::Loggers),
                Pane::Targets => lists.extend([ListKind::Scans, ListKind::Findings]),
                Pane::Findings | Pane::Scans => lists.push(ListKind::Targets),
                Pane::Board => lists.extend([ListKind::Scans, ListKind::Targets]),
                _ => {}
            }
        }
        lists.sort();
        lists.dedup();
        lists
    }

    /// Why rows of a list on the screen, or the scans that the header counts, are not current.
    pub fn visible_problem(&self) -> Option<&Problem> {
        self.visible()
            .into_iter()
            .chain([ListKind::Scans])
            .find_map(|list| self.data.problem(list))
    }

    /// Why the nodes on the screen are not current, or missing. A single node is not listed.
    pub fn nodes_problem(&self) -> Option<&Problem> {
        let nodes = &self.data.nodes;
        let are_listed = nodes.value().is_none_or(|list| list.nodes.len() > 1);
        nodes
            .problem()
            .filter(|_| are_listed && self.shows_activity())
    }

    /// Whether a list on the screen was never read. Without a workspace, only the workspaces are
    /// read.
    pub fn is_loading(&self) -> bool {
        let is_requested = |list: &ListKind| {
            *list == ListKind::Workspaces || self.navigation.scope.workspace.is_some()
        };
        self.visible()
            .iter()
            .filter(|list| is_requested(list))
            .any(|list| self.data.is_unread(*list))
    }

    /// The seconds for which lists on the screen wait for a response, if they wait for long.
    pub fn waits_for(&self) -> Option<i64> {
        let since = self.connection.unanswered?;
        Some((self.now.wall.as_second() - since.as_second()).max(0))
    }

    /// Why rows are not current, in a few words, and when they are requested again.
    pub fn reason<'a>(&'a self, problem: &'a Problem) -> (&'a str, Option<Stamp>) {
        match &self.connection.link {
            Link::Retrying { next, problem, .. } => (problem.brief(), Some(*next)),
            Link::Down { problem } => (problem.brief(), None),
            Link::Connecting | Link::Live { .. } => (problem.brief(), problem.retry_at),
        }
    }

    /// Whether the last attempt to reach the service has failed.
    pub fn is_disconnected(&self) -> bool {
        matches!(
            self.connection.link,
            Link::Retrying { .. } | Link::Down { .. }
        )
    }

    /// Whether the service rejects the API key.
    pub fn is_key_rejected(&self) -> bool {
        matches!(&self.connection.link, Link::Down { problem } if problem.status == Some(401))
    }

    /// Whether the local service has stopped: nothing listens at its address.
    pub fn is_service_stopped(&self) -> bool {
        let problem = match &self.connection.link {
            Link::Retrying { problem, .. } | Link::Down { problem } => problem,
            Link::Connecting | Link::Live { .. } => return false,
        };
        self.session.starts_service && problem.is_refused
    }

    /// The lists that the poller fetches.
    pub fn plan(&self) -> PollPlan {
        let captures = self.on_screen().contains(&Pane::Captures);
        PollPlan {
            generation: self.connection.generation,
            workspace: self.navigation.scope.workspace,
            visible: self.visible(),
            refreshes: self.connection.refreshes.clone(),
            captures: captures.then_some(self.navigation.scope.logger),
            archived: self.known_captures(),
            scan_part: self.scan_part(),
            wanted_scans: self.wanted_scans(),
            nodes: self.shows_nodes(),
        }
    }

    /// Whether the nodes of the service are on the screen, or the form of a scan offers their
    /// places. Only a service of scandeck has nodes.
    fn shows_nodes(&self) -> bool {
        let offers_places =
            |modal: &Modal| matches!(modal, Modal::Form(form) if form.tag == FormTag::NewScan);
        let is_shown = self.shows_activity() || self.overlay.modals.iter().any(offers_places);
        is_shown && self.has_extensions()
    }

    /// The scans that scope and filter of the findings name, while not all findings are loaded.
    fn wanted_scans(&self) -> Vec<ScanId> {
        if self.data.unread_scans.ids.is_empty() {
            return Vec::new();
        }
        let scope = &self.navigation.scope;
        let query = query_of(&self.lists.findings.filter, QueryKind::Findings);
        let scans = scope
            .target
            .and_then(|target| Some((self.data.scans.value()?, target)));
        let of_target = scans.into_iter().flat_map(|(scans, target)| {
            let positions = scans
                .of_target(target)
                .map(|of| of.positions.as_slice())
                .unwrap_or_default();
            positions
                .iter()
                .rev()
                .map(|&at| scans.items()[at as usize].id)
        });
        scope
            .scan
            .into_iter()
            .chain(named_scans(query.root()))
            .chain(of_target)
            .take(MOST_WANTED)
            .collect()
    }

    /// The next time, on the monotonic clock, when the screen changes without a message.
    pub fn wake_at(&self) -> Option<Duration> {
        self.next_wake().map(|(at, _)| at)
    }

    /// As [`wake_at`](Self::wake_at), with the reason, which the log names.
    pub fn next_wake(&self) -> Option<(Duration, &'static str)> {
        let now = self.now.mono;
        let next_second = Duration::from_secs(now.as_secs() + 1);
        let retries = matches!(self.connection.link, Link::Retrying { .. })
            || self.connection.unanswered.is_some()
            || [self.visible_problem(), self.nodes_problem()]
                .into_iter()
                .flatten()
                .any(|problem| problem.retry_at.is_some());
        let calls = self.calls.batches.iter().map(|batch| batch.began);
        let readings = self.scans.readings.iter().map(|reading| reading.began);
        let slow: Vec<Duration> = calls.chain(readings).map(|began| began + MOMENT).collect();
        let counts = retries
            || self.scans.progress.any_stalled(now)
            || slow.iter().any(|shown| *shown <= now);
        let ages = (!self.on_screen().is_empty()).then_some(now + AGES_CHANGE);
        let times = [
            (self.screen.detail.follows_at(), "the detail follows"),
            (self.overlay.notices.next_expiry(), "a notice expires"),
            (self.scans.progress.next_stall(now), "a scan stalls"),
            (self.seen_at(), "the detail was seen"),
            (self.looks_at(), "the team sees another finding"),
            (self.captures.alerts.next(), "an alert is due"),
            (self.outcomes_end(), "an outcome remains unknown"),
            (
                slow.iter().copied().filter(|shown| *shown > now).min(),
                "a call or a file takes long",
            ),
            (
                (counts || self.shows_running_calls()).then_some(next_second),
                "seconds are counted",
            ),
            (ages, "ages are shown"),
        ];
        times
            .into_iter()
            .filter_map(|(at, reason)| Some((at?, reason)))
            .min()
    }
}

/// The scans whose findings a query selects by number. Those that it excludes are not among them.
fn named_scans(query: &Expr) -> Vec<ScanId> {
    match query {
        Expr::All(parts) | Expr::Any(parts) => parts.iter().flat_map(named_scans).collect(),
        Expr::Clause(Clause {
            field: Field::Scan,
            test: ClauseTest::Number(Compare::Like, numbers),
        }) => {
            let whole = numbers
                .iter()
                .map(|number| number.get())
                .filter(|number| number.fract() == 0.0);
            whole.map(|number| ScanId(number as i64)).collect()
        }
        Expr::Not(_) | Expr::Clause(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_names_the_scans_that_it_does_not_exclude() {
        let named = |filter: &str| -> Vec<i64> {
            named_scans(query_of(filter, QueryKind::Findings).root())
                .iter()
                .map(|scan| scan.0)
                .collect()
        };
        assert_eq!(named("scan:3,4"), [3, 4]);
        assert_eq!(named("risk>=high (scan=3 or scan:7)"), [3, 7]);
        assert!(
            named("-scan:5").is_empty()
                && named("-(risk:high scan:5)").is_empty()
                && named("scan!=5").is_empty()
        );
        assert!(
            named("scan>5").is_empty()
                && named("scan:2.5").is_empty()
                && named("scan:*").is_empty()
        );
    }
}
