//! Messages of the archive of captures and payloads, taken into the model.

use crate::contract::Stamp;
use crate::dashboard::base::{Caught, Effect, Tone};
use crate::dashboard::data::{Archive, OobKept, OobNews, Recalled};
use crate::dashboard::model::Model;
use crate::oob::{Payload, PayloadBook};
use crate::text::plural;
use jiff::Timestamp;
use std::sync::Arc;

/// In seconds: clocks differ by less.
const DAY: i64 = 24 * 3600;

impl Model {
    /// The archive tells something. What belongs to a workspace that is no longer shown is dropped: it is kept.
    pub(crate) fn handle_oob(&mut self, news: OobNews, effects: &mut Vec<Effect>) {
        match news {
            OobNews::Opened(kept) => {
                let OobKept { book, writable, problem, forgotten } = *kept;
                (self.captures.oob.book, self.captures.oob.writable, self.captures.oob.problem) =
                    (book, writable, problem);
                if forgotten > 0 {
                    self.say(
                        Tone::Plain,
                        format!("{} left the archive: older than is kept", plural(forgotten as usize, "capture")),
                    );
                }
                self.list_payloads();
                self.say_oob_problem();
            }
            OobNews::Recalled(recalled) if recalled.generation == self.connection.generation => {
                self.handle_recalled(*recalled)
            }
            OobNews::Captures { generation, new } if generation == self.connection.generation => {
                let new: Vec<Caught> = new.into_iter().filter(|one| self.data.captures.is_new(one)).collect();
                self.notify_of_captures(&new, effects);
                self.handle_captures(new);
            }
            OobNews::Hits { generation, hits, all } if generation == self.connection.generation => {
                self.handle_hits(hits, all)
            }
            OobNews::Recalled(_) | OobNews::Captures { .. } | OobNews::Hits { .. } => {}
            OobNews::Payloads(payloads) => self.handle_payloads(payloads, effects),
            OobNews::Recognised(changed) => {
                let rows = self.data.captures.mention(&changed);
                self.notify_of_recognised(&changed, effects);
                self.filter_captures(|list, asking| list.refilter(asking, &rows));
            }
            OobNews::Waits(problem) => self.say_problem("captures", &problem),
            OobNews::Uncounted(problem) => self.say_problem("what payloads brought in", &problem),
            OobNews::Failed(problem) => {
                self.captures.oob.archive = Archive::Broken;
                self.captures.oob.writable = false;
                self.captures.oob.problem = Some(problem);
                self.say_oob_problem();
            }
        }
    }

    fn say_oob_problem(&mut self) {
        if let Some(problem) = self.captures.oob.problem.clone() {
            self.say_problem("captures", &problem);
        }
    }

    /// Another dashboard or command made payloads. Captures that came before we knew of them are looked through again;
    /// of a payload none can have come a day before it was made.
    fn handle_payloads(&mut self, payloads: Vec<Arc<Payload>>, effects: &mut Vec<Effect>) {
        let mut grown = PayloadBook::default();
        grown.take(payloads.iter().filter(|payload| self.captures.oob.book.get(payload.token).is_none()).cloned());
        self.captures.oob.book.take(payloads);
        self.list_payloads();
        let first = grown.payloads().map(|payload| payload.at.map_or(i64::MIN, Stamp::as_second)).min();
        let Some(first) = first else { return };
        let since = Timestamp::from_second(first.saturating_sub(DAY)).unwrap_or(Timestamp::MIN);
        let captures: Vec<Caught> = self.data.captures.since(Stamp(since)).cloned().collect();
        if !captures.is_empty() {
            effects.push(Effect::Recognise { captures, grown });
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

    fn handle_captures(&mut self, new: Vec<Caught>) {
        let new = self.data.captures.take(new);
        self.filter_captures(|list, asking| list.extend(asking, &new));
    }
}
