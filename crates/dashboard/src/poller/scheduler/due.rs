//! The request that is next, and when it is due.

use super::{AT_ONCE, ORDER, Scheduler, UNANSWERED};
use crate::base::plan::Snapshot;
use crate::base::{ListKind, ScanPart};
use crate::poller::moved_scans::gap_with_rows;
use crate::poller::{Demand, Fetch, FetchSlot};
use scandeck_domain::table::Table;
use scandeck_domain::triage::ListedFinding;
use scandeck_wire::contract::{
    CaptureId, Logger, LoggerId, Report, ReportStatus, Scan, ScanId, ScanStatus,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Most requests for captures in flight: loggers that hang must not delay the lists.
const CAPTURES_AT_ONCE: usize = 3;
/// Waiting scans are polled this often as long as none is known.
const WAITING: Duration = Duration::from_secs(5);
/// A list that was requested counts as late after this time.
const REQUESTED: Duration = Duration::from_secs(3);
/// Scans whose findings are fetched by one request.
const SCANS_A_FETCH: usize = 4;

/// How late the reading of a resource is.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
enum Lateness {
    /// In intervals of the resource since the last request.
    Intervals(f64),
    NeverRead,
    NeverReadShown,
}

impl Lateness {
    fn of(last: Instant, interval: Duration, now: Instant) -> Self {
        Self::Intervals(now.saturating_duration_since(last).as_secs_f64() / interval.as_secs_f64())
    }
}

impl Scheduler {
    pub(super) fn next_fetch(&mut self, now: Instant) -> Option<Fetch> {
        if self.plan.workspace.is_none() {
            let is_due = self.is_list_due(ListKind::Workspaces, now);
            return is_due.then(|| self.list_fetch(ListKind::Workspaces, now));
        }
        let part = self
            .part_if_due(now)
            .map(|part| (self.part_lateness(now), part));
        let captures = self
            .next_captures(now)
            .map(|captures| (self.captures_lateness(now), captures));
        let nodes = self
            .nodes_due(now)
            .filter(|at| *at <= now)
            .map(|_| self.nodes_lateness(now));
        let due = ORDER
            .into_iter()
            .filter(|list| self.is_list_due(*list, now));
        let lists = due.map(|list| (self.list_lateness(list, now), list));
        // The first of equal ones is sent.
        let list = lists.reduce(|first, other| if other.0 > first.0 { other } else { first });
        let most = [
            part.map(|due| due.0),
            captures.map(|due| due.0),
            nodes,
            list.map(|due| due.0),
        ]
        .into_iter()
        .flatten();
        let most = most.reduce(|first, other| if other > first { other } else { first })?;
        if let Some((_, (scan, part))) = part.filter(|due| due.0 >= most) {
            return Some(Fetch::Part { scan, part });
        }
        if let Some((_, (logger, since))) = captures.filter(|due| due.0 >= most) {
            return Some(Fetch::Captures { logger, since });
        }
        if nodes.is_some_and(|lateness| lateness >= most) {
            return Some(Fetch::Nodes);
        }
        list.map(|(_, list)| self.list_fetch(list, now))
    }

    fn list_lateness(&self, list: ListKind, now: Instant) -> Lateness {
        let schedule = self.schedules.get(&list).copied().unwrap_or_default();
        // Findings are read after the scans, and the header counts the scans.
        let is_shown = list == ListKind::Scans || self.plan.visible.contains(&list);
        let Some(last) = schedule.last else {
            return if is_shown {
                Lateness::NeverReadShown
            } else {
                Lateness::NeverRead
            };
        };
        let demand = self.demand(list);
        let interval = match list {
            ListKind::Findings => self.pace.scan_detail(demand),
            _ => self.pace.interval(list, demand),
        };
        Lateness::of(
            last,
            if schedule.is_requested {
                interval.min(REQUESTED)
            } else {
                interval
            },
            now,
        )
    }

    /// The captures of all loggers have the interval of the loggers together.
    fn captures_lateness(&self, now: Instant) -> Lateness {
        let interval = self
            .pace
            .interval(ListKind::Loggers, self.demand(ListKind::Loggers));
        self.on_demand
            .captures_read()
            .map_or(Lateness::NeverRead, |last| {
                Lateness::of(last, interval, now)
            })
    }

    fn part_lateness(&self, now: Instant) -> Lateness {
        let interval = self.pace.scan_detail(self.demand(ListKind::Scans));
        self.on_demand
            .part_read()
            .map_or(Lateness::NeverReadShown, |last| {
                Lateness::of(last, interval, now)
            })
    }

    fn nodes_lateness(&self, now: Instant) -> Lateness {
        self.on_demand
            .nodes_read()
            .map_or(Lateness::NeverReadShown, |last| {
                Lateness::of(last, self.nodes_gap(), now)
            })
    }

    fn nodes_gap(&self) -> Duration {
        self.pace.nodes(Demand {
            scarce: self.scarce,
            ..Demand::default()
        })
    }

    /// The time at which the nodes are due, if they are shown and not in flight.
    fn nodes_due(&self, now: Instant) -> Option<Instant> {
        let due = self.on_demand.nodes_due(now, self.nodes_gap());
        let due = due.filter(|_| self.is_free(FetchSlot::Nodes))?;
        let opens = self.backoff.opens_at(FetchSlot::Nodes);
        Some(opens.map_or(due, |at| at.max(due)))
    }

    /// The visible part of a scan, if it is due.
    fn part_if_due(&self, now: Instant) -> Option<(ScanId, ScanPart)> {
        let gap = self.pace.scan_detail(self.demand(ListKind::Scans));
        let is_due =
            self.is_free(FetchSlot::Part) && self.part_due(now, gap).is_some_and(|at| at <= now);
        self.plan.scan_part.filter(|_| is_due)
    }

    pub fn is_free(&self, slot: FetchSlot) -> bool {
        !self.in_flight.contains_key(&slot)
    }

    fn is_list_due(&self, list: ListKind, now: Instant) -> bool {
        self.is_free(FetchSlot::List(list)) && self.due_at(list, now) <= now
    }

    /// A logger whose captures are due.
    fn next_captures(&self, now: Instant) -> Option<(LoggerId, Option<CaptureId>)> {
        self.accepts_captures().then_some(())?;
        let is_held = |logger| {
            let slot = FetchSlot::Captures(logger);
            !self.is_free(slot) || !self.backoff.is_open(slot, now)
        };
        let shown = self.plan.captures.flatten();
        self.on_demand.captures(shown, is_held)
    }

    /// Whether further captures can be requested.
    fn accepts_captures(&self) -> bool {
        let in_flight = self
            .in_flight
            .keys()
            .filter(|slot| matches!(slot, FetchSlot::Captures(_)))
            .count();
        in_flight < CAPTURES_AT_ONCE && !self.outbox.is_full()
    }

    /// The time at which captures are due; `now` for at once.
    fn captures_due(&self, now: Instant) -> Option<Instant> {
        self.accepts_captures().then_some(())?;
        let slots = self
            .on_demand
            .due_loggers()
            .map(FetchSlot::Captures)
            .filter(|slot| self.is_free(*slot));
        slots
            .map(|slot| self.backoff.opens_at(slot).map_or(now, |at| at.max(now)))
            .min()
    }

    /// The time at which the visible part of a scan is due.
    fn part_due(&self, now: Instant, gap: Duration) -> Option<Instant> {
        let due = self.on_demand.part_due(now, gap)?;
        Some(
            self.backoff
                .opens_at(FetchSlot::Part)
                .map_or(due, |at| at.max(due)),
        )
    }

    fn list_fetch(&mut self, list: ListKind, now: Instant) -> Fetch {
        let workspace = self.plan.workspace;
        if list == ListKind::Scans
            && !self.scans_due_whole(now)
            && let Some(cached) = self.table().cloned()
        {
            let waits = cached
                .items()
                .iter()
                .any(|scan: &Arc<Scan>| scan.status_name == ScanStatus::Waiting);
            let with_waiting = waits || self.waiting_read.is_none_or(|last| last + WAITING <= now);
            return Fetch::ActiveScans {
                workspace,
                cached,
                with_waiting,
            };
        }
        if list == ListKind::Findings {
            if self.moved.end_by_scan() {
                self.schedule(list).is_requested = true;
            } else if !self.moved.is_by_scan() && self.moved.is_over_limit() {
                self.read_findings_by_scan();
            }
            if self.moved.is_by_scan() {
                if self.is_requested(list) {
                    self.moved.request_loaded();
                }
                let cached: Arc<Table<ListedFinding>> = self.table().cloned().unwrap_or_default();
                let (gap, most) = (self.findings_gap(), self.call_budget.at_once());
                let (scans, removed) = self.moved.take_part(now, gap, most, cached.len());
                return Fetch::FindingsOf {
                    scans,
                    removed,
                    cached,
                };
            }
            if !self.is_requested(list)
                && let Some(cached) = self.table().cloned()
            {
                let (scans, removed) = self.moved.take(now, self.findings_gap(), SCANS_A_FETCH);
                return Fetch::FindingsOf {
                    scans,
                    removed,
                    cached,
                };
            }
            self.moved.forget_waiting();
        }
        Fetch::List {
            list,
            workspace,
            cached: self.cached.get(&list).cloned(),
        }
    }

    /// All findings are too many for one answer.
    pub fn read_findings_by_scan(&mut self) {
        let known: Arc<Table<ListedFinding>> = self.table().cloned().unwrap_or_default();
        self.moved.read_by_scan(Some(&known));
        self.cached
            .insert(ListKind::Findings, Snapshot::Findings(known));
    }

    fn scans_due_whole(&self, now: Instant) -> bool {
        let rest = self.pace.interval(
            ListKind::Targets,
            Demand {
                scarce: self.scarce,
                ..Demand::default()
            },
        );
        self.is_requested(ListKind::Scans)
            || self.scans_read_whole.is_none_or(|last| last + rest <= now)
    }

    /// The time at which a list is due; `now` for at once.
    pub(super) fn due_at(&self, list: ListKind, now: Instant) -> Instant {
        let schedule = self.schedules.get(&list).copied().unwrap_or_default();
        let demand = self.demand(list);
        let due = match (list, schedule.last) {
            _ if schedule.is_requested => now,
            // Findings are fetched after the scans, so that later changes of scans are noticed.
            (ListKind::Findings, None) if !self.moved.is_primed() => return far(now),
            (_, None) => now,
            (ListKind::Findings, Some(_)) if self.table::<ListedFinding>().is_some() => self
                .moved
                .next(now, self.findings_gap())
                .unwrap_or(far(now)),
            (_, Some(last)) => last + self.pace.interval(list, demand),
        };
        self.backoff
            .opens_at(FetchSlot::List(list))
            .map_or(due, |opens| due.max(opens))
    }

    /// The time between two fetches of findings of running scans.
    fn findings_gap(&self) -> Duration {
        let rows = self
            .table::<ListedFinding>()
            .map_or(0, |findings| findings.len());
        gap_with_rows(self.pace.scan_detail(self.demand(ListKind::Findings)), rows)
    }

    fn demand(&self, list: ListKind) -> Demand {
        let shown = |list: ListKind| self.plan.visible.contains(&list);
        let any_active =
            |scans: &Arc<Table<Scan>>| scans.items().iter().any(|scan| scan.is_active());
        let any_waits = |reports: &Arc<Table<Report>>| {
            reports
                .items()
                .iter()
                .any(|report| report.status == ReportStatus::Waiting)
        };
        let any_logger = self
            .table::<Logger>()
            .is_none_or(|loggers| !loggers.is_empty());
        Demand {
            moving: list == ListKind::Scans && self.table().is_some_and(any_active),
            captures_shown: any_logger
                && (self.plan.captures.is_some()
                    || shown(ListKind::Captures)
                    || shown(ListKind::Loggers)),
            shown: shown(list),
            report_waits: list == ListKind::Reports && self.table().is_some_and(any_waits),
            in_workspace: self.plan.workspace.is_some(),
            scarce: self.scarce,
        }
    }

    /// The time of the next request or report, if no event comes before; `None` to wait for an
    /// event.
    pub fn next(&self, now: Instant) -> Option<Instant> {
        let unanswered = self.waiting_since().map(|since| since + UNANSWERED);
        let report = unanswered
            .filter(|at| *at > now)
            .into_iter()
            .chain(self.next_overdue(now));
        self.next_request(now).into_iter().chain(report).min()
    }

    fn next_request(&self, now: Instant) -> Option<Instant> {
        if self.link.is_failing() && !self.in_flight.is_empty() {
            return None;
        }
        let mut due: Vec<Instant> = Vec::new();
        if self.plan.workspace.is_some() {
            let free = ORDER
                .into_iter()
                .filter(|list| self.is_free(FetchSlot::List(*list)));
            due.extend(free.map(|list| self.due_at(list, now)));
            let gap = self.pace.scan_detail(self.demand(ListKind::Scans));
            due.extend(
                self.part_due(now, gap)
                    .filter(|_| self.is_free(FetchSlot::Part)),
            );
            due.extend(self.captures_due(now));
            due.extend(self.nodes_due(now));
        } else if self.is_free(FetchSlot::List(ListKind::Workspaces)) {
            due.push(self.due_at(ListKind::Workspaces, now));
        }
        let mut next = due.into_iter().min()?;
        if !self.link.is_open(now) {
            next = next.max(self.link.opens_at()?);
        }
        if self.in_flight.len() >= AT_ONCE {
            return None;
        }
        // A due request that was not sent waits for the call_budget.
        Some(if next <= now {
            self.call_budget.next().max(now + Duration::from_millis(1))
        } else {
            next
        })
    }
}

/// A time that other events precede.
fn far(now: Instant) -> Instant {
    now + Duration::from_secs(24 * 3600)
}
