//! What the model needs from outside without a key being pressed: data from the poller, and a wake-up when the screen
//! changes by itself.

use std::time::Duration;

use super::modal::Modal;
use super::model::{Model, Pane};
use super::plan::{Link, Noun, PollPlan};
use super::screen::Layout;

impl Model {
    /// The panes on the screen.
    pub fn on_screen(&self) -> Vec<Pane> {
        let focus = self.focus.pane;
        if self.modals.iter().any(|modal| matches!(modal, Modal::Setup(_))) {
            return Vec::new();
        }
        if self.focus.zoomed {
            return vec![focus];
        }
        let mut panes = match self.layout() {
            Layout::Wide if focus.is_full_view() => vec![Pane::Workspaces, Pane::Targets, focus],
            _ if focus.is_full_view() => vec![focus],
            Layout::Wide => vec![Pane::Workspaces, Pane::Targets, Pane::Findings, Pane::Scans, self.fifth],
            Layout::Portrait => vec![focus, Pane::Scans, self.fifth],
            Layout::Beside | Layout::Stacked => vec![focus],
        };
        panes.sort();
        panes.dedup();
        panes
    }

    /// The lists of the service on the screen, with those that they are drawn from.
    pub fn visible(&self) -> Vec<Noun> {
        let mut nouns = Vec::new();
        for pane in self.on_screen() {
            nouns.push(pane.noun());
            match pane {
                Pane::Captures => nouns.push(Noun::Loggers),
                Pane::Targets => nouns.extend([Noun::Scans, Noun::Findings]),
                Pane::Findings | Pane::Scans => nouns.push(Noun::Targets),
                Pane::Board => nouns.extend([Noun::Scans, Noun::Targets]),
                _ => {}
            }
        }
        nouns.sort();
        nouns.dedup();
        nouns
    }

    /// What the poller should fetch, and how fresh.
    pub fn plan(&self) -> PollPlan {
        let captures = self.on_screen().contains(&Pane::Captures);
        PollPlan {
            generation: self.generation,
            workspace: self.scope.workspace,
            visible: self.visible(),
            asked: self.asked.clone(),
            captures: captures.then_some(self.scope.logger),
            archived: self.known_captures(),
            scan_part: self.scan_part(),
        }
    }

    /// When the screen changes by itself next, on the monotonic clock: a notice leaves, a scan becomes stalled, a
    /// counter goes on.
    pub fn wake_at(&self) -> Option<Duration> {
        let now = self.now.mono;
        let next_second = Duration::from_secs(now.as_secs() + 1);
        let counts = matches!(self.link, Link::Retrying { .. }) || self.watch.any_stalled(now);
        // Ages are told in minutes after the first one, so ten seconds keep them honest.
        let ages = (!self.on_screen().is_empty()).then_some(now + Duration::from_secs(10));
        let times = [
            self.notices.next_expiry(),
            self.watch.next_stall(now),
            self.seen_at(),
            self.signals.next(),
            counts.then_some(next_second),
            ages,
        ];
        times.into_iter().flatten().min()
    }
}
