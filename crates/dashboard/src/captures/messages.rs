//! The messages of the archive: new and recalled captures, payloads, hits and problems.

use crate::base::{CaptureRow, Effect, Pane, Tone};
use crate::data::{Archive, ArchiveBacklog, OobNews, Recalled, StoredArchive};
use crate::model::Model;
use jiff::Timestamp;
use scandeck_domain::oob::{Payload, PayloadBook};
use scandeck_wire::contract::Stamp;
use scandeck_wire::text::plural;
use std::sync::Arc;

/// In seconds; the clocks of service and dashboard differ by less.
const DAY: i64 = 24 * 3600;

impl Model {
    /// Handles a message of the archive. Captures of a workspace that is no longer shown are
    /// ignored; they are archived.
    pub(crate) fn handle_oob(&mut self, news: OobNews, effects: &mut Vec<Effect>) {
        match news {
            OobNews::Opened(stored) => self.handle_opened(*stored),
            OobNews::Recalled(recalled) if recalled.generation == self.connection.generation => {
                self.handle_recalled(*recalled)
            }
            OobNews::Captures { generation, new } if generation == self.connection.generation => {
                self.handle_new_captures(new, effects);
            }
            OobNews::Hits {
                generation,
                hits,
                all,
            } if generation == self.connection.generation => self.handle_hits(hits, all),
            OobNews::Recalled(_) | OobNews::Captures { .. } | OobNews::Hits { .. } => {}
            OobNews::Payloads(payloads) => self.handle_payloads(payloads, effects),
            OobNews::Recognized(changed) => {
                let rows = self.data.captures.mention(&changed);
                self.notify_of_recognized(&changed, effects);
                self.filter_captures(|list, asking| list.refilter(asking, &rows));
            }
            OobNews::Waits(problem) => self.notify_problem("captures", &problem),
            OobNews::Uncounted(problem) => self.notify_problem("hits", &problem),
            OobNews::Retrying(backlog) => self.handle_retrying(backlog),
            OobNews::Recovered { writable } => self.handle_recovered(writable),
            OobNews::Failed(problem) => {
                let oob = &mut self.captures.oob;
                oob.backlog = None;
                (oob.archive, oob.writable, oob.problem) = (Archive::Broken, false, Some(problem));
                self.notify_oob_problem();
            }
        }
    }

    fn handle_opened(&mut self, stored: StoredArchive) {
        let StoredArchive {
            book,
            writable,
            problem,
            forgotten,
        } = stored;
        let oob = &mut self.captures.oob;
        oob.book = book;
        (oob.writable, oob.problem) = (writable && oob.backlog.is_none(), problem);
        if forgotten > 0 {
            let expired = plural(forgotten as usize, "expired capture");
            self.notify(Tone::Plain, format!("{expired} deleted from the archive"));
        }
        self.list_payloads();
        self.notify_oob_problem();
    }

    fn handle_new_captures(&mut self, mut new: Vec<CaptureRow>, effects: &mut Vec<Effect>) {
        new.retain(|capture| self.data.captures.is_new(capture));
        self.notify_of_captures(&new, effects);
        let rows = self.data.captures.take(new);
        let focus = self.navigation.focus;
        let is_read = focus.pane == Pane::Captures && focus.in_detail;
        self.filter_captures(|list, asking| {
            let (follows, matches) = (list.follow, list.matches());
            // The capture that is being read stays, and is still the last one if no other was
            // added.
            list.follow &= !is_read;
            list.extend(asking, &rows);
            list.follow |= follows && is_read && (list.pending(), list.matches()) == (0, matches);
        });
    }

    fn handle_retrying(&mut self, backlog: ArchiveBacklog) {
        if self.captures.oob.backlog.is_none() {
            self.notify_problem("captures not archived; retrying", &backlog.problem);
        }
        let oob = &mut self.captures.oob;
        (oob.writable, oob.backlog) = (false, Some(backlog));
    }

    fn handle_recovered(&mut self, writable: bool) {
        let oob = &mut self.captures.oob;
        (oob.writable, oob.backlog) = (writable, None);
        if writable {
            self.notify(Tone::Good, "captures archived");
        } else {
            self.notify(Tone::Plain, "archive readable again, but read-only");
        }
    }

    fn notify_oob_problem(&mut self) {
        if let Some(problem) = self.captures.oob.problem.clone() {
            self.notify_problem("captures", &problem);
        }
    }

    /// Handles payloads of another dashboard or command. Captures that arrived before them are
    /// searched again, from one day before the creation of the first payload.
    fn handle_payloads(&mut self, payloads: Vec<Arc<Payload>>, effects: &mut Vec<Effect>) {
        let mut grown = PayloadBook::default();
        grown.take(
            payloads
                .iter()
                .filter(|payload| self.captures.oob.book.get(payload.token).is_none())
                .cloned(),
        );
        self.captures.oob.book.take(payloads);
        self.list_payloads();
        let first = grown
            .payloads()
            .map(|payload| payload.at.map_or(i64::MIN, Stamp::as_second))
            .min();
        let Some(first) = first else { return };
        let since = Timestamp::from_second(first.saturating_sub(DAY)).unwrap_or(Timestamp::MIN);
        let captures: Vec<CaptureRow> = self.data.captures.since(Stamp(since)).cloned().collect();
        if !captures.is_empty() {
            effects.push(Effect::Recognize { captures, grown });
        }
    }

    fn handle_recalled(&mut self, recalled: Recalled) {
        if let Some(newest) = recalled.newest {
            self.captures.oob.archive = Archive::Recalled(recalled.generation, newest);
        }
        let new = self.data.captures.recall(recalled.captures);
        self.data.captures.older |= recalled.older == Some(true);
        self.filter_captures(|list, asking| list.extend(asking, &new));
    }
}
