//! What is shown and waits: for its request, or for the response.

use super::{InFlight, ORDER, Scheduler, TOLERATED, UNANSWERED};
use crate::base::{ListKind, PollEvent};
use crate::poller::{Fetch, FetchSlot};
use jiff::Timestamp;
use scandeck_wire::contract::{LoggerId, Stamp};
use tokio::time::Instant;

impl Scheduler {
    /// Takes the number of bytes that arrived for a request. A response whose bytes still arrive is
    /// not late.
    pub fn note_received(&mut self, slot: FetchSlot, received: u64, now: Instant) {
        if let Some(request) = self.in_flight.get_mut(&slot)
            && received > std::mem::replace(&mut request.received, received)
        {
            self.waiting.insert(slot, now);
        }
    }

    /// Notes what is shown, due and not requested, and since when. The header always counts the
    /// scans.
    pub fn note_due(&mut self, now: Instant) {
        let mut due: Vec<(FetchSlot, Instant)> = Vec::new();
        if self.plan.workspace.is_some() && self.link.is_open(now) && !self.link.is_failing() {
            let times = self
                .shown_lists()
                .map(|list| (FetchSlot::List(list), self.due_at(list, now)));
            due.extend(times.filter(|(_, since)| *since <= now));
            due.extend(
                self.shown_loggers(now)
                    .map(|logger| (FetchSlot::Captures(logger), now)),
            );
        }
        self.due_since
            .retain(|slot, _| due.iter().any(|(one, _)| one == slot));
        for (slot, since) in due {
            self.due_since.entry(slot).or_insert(since);
        }
    }

    /// The lists on the screen, and the scans, that are not being read.
    fn shown_lists(&self) -> impl Iterator<Item = ListKind> {
        let lists = ORDER
            .into_iter()
            .filter(|list| *list == ListKind::Scans || self.plan.visible.contains(list));
        lists.filter(|list| self.is_free(FetchSlot::List(*list)))
    }

    /// The time at which something that is shown is overdue.
    pub(super) fn next_overdue(&self, now: Instant) -> Option<Instant> {
        let lists = self.shown_lists().map(|list| self.due_at(list, now));
        let times = lists
            .chain(self.due_since.values().copied())
            .map(|since| since + TOLERATED);
        times
            .filter(|at| *at > now)
            .min()
            .filter(|_| self.plan.workspace.is_some())
    }

    /// The loggers whose captures are shown and due.
    fn shown_loggers(&self, now: Instant) -> impl Iterator<Item = LoggerId> {
        let is_shown = |logger: &LoggerId| {
            self.plan
                .captures
                .is_some_and(|only| only.is_none_or(|one| one == *logger))
        };
        let can_be_sent = move |logger: &LoggerId| {
            let slot = FetchSlot::Captures(*logger);
            self.is_free(slot) && self.backoff.is_open(slot, now)
        };
        self.on_demand
            .due_loggers()
            .filter(is_shown)
            .filter(can_be_sent)
    }

    /// Reports since when the lists on the screen, or the scans in the header, wait for a response,
    /// or that they no longer do.
    pub fn report_unanswered(&mut self, now: Instant, wall: Timestamp) {
        let since = self
            .waiting_since()
            .filter(|since| *since + UNANSWERED <= now);
        if since != self.unanswered {
            self.unanswered = since;
            let began = since.map(|since| Stamp(wall - now.saturating_duration_since(since)));
            self.outbox.push(PollEvent::Unanswered(began));
        }
    }

    /// Since when the lists on the screen, or the scans, wait for one response. The header always
    /// counts the scans. The findings of several scans are as many responses.
    pub(super) fn waiting_since(&self) -> Option<Instant> {
        let shown = || self.plan.visible.iter().copied().chain([ListKind::Scans]);
        let is_shown = |slot: &FetchSlot| shown().any(|list| slot.is_read_with(list));
        let is_one = |request: &InFlight| !matches!(&request.fetch, Fetch::FindingsOf { scans, .. } if scans.len() > 1);
        let waits =
            |slot: &FetchSlot| is_shown(slot) && self.in_flight.get(slot).is_some_and(is_one);
        self.waiting
            .iter()
            .filter(|(slot, _)| waits(slot))
            .map(|(_, since)| *since)
            .min()
    }
}
