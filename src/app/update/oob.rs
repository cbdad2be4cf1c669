//! What the archive of captures and payloads tells, taken into the model.

use super::super::model::{Model, Pane};
use super::super::msg::{OobKept, OobNews, Recalled};
use super::super::oob::Archive;
use super::super::stream::{Caught, Taken};

impl Model {
    /// The archive tells something. What belongs to a workspace that is no longer shown is dropped: it is kept.
    pub(super) fn handle_oob(&mut self, news: OobNews) {
        self.dirty = true;
        match news {
            OobNews::Opened(kept) => {
                let OobKept { book, writable, problem } = *kept;
                (self.oob.book, self.oob.writable, self.oob.problem) = (book, writable, problem);
                self.say_oob_problem();
            }
            OobNews::Recalled(recalled) if recalled.generation == self.generation => self.handle_recalled(*recalled),
            OobNews::Captures { generation, new } if generation == self.generation => self.handle_captures(new),
            OobNews::Recalled(_) | OobNews::Captures { .. } => {}
            OobNews::Payloads(payloads) => self.oob.book.take(payloads),
            OobNews::Recognised(changed) => {
                self.data.captures.mention(&changed);
                self.show_rows(Pane::Captures);
            }
            OobNews::Failed(problem) => {
                self.oob.archive = Archive::Broken;
                self.oob.writable = false;
                self.oob.problem = Some(problem);
                self.say_oob_problem();
            }
        }
    }

    fn say_oob_problem(&mut self) {
        if let Some(problem) = self.oob.problem.clone() {
            self.say_problem("captures", &problem);
        }
    }

    fn handle_recalled(&mut self, recalled: Recalled) {
        if let Some(newest) = recalled.newest {
            self.oob.archive = Archive::Recalled(recalled.generation, newest);
        }
        self.data.captures.recall(recalled.captures);
        self.data.captures.older |= recalled.older == Some(true);
        self.show_rows(Pane::Captures);
    }

    fn handle_captures(&mut self, new: Vec<Caught>) {
        match self.data.captures.take(new) {
            Taken::Appended(from) => self.show_captures(Some(from)),
            Taken::Merged => {
                let before = self.lists.captures.rows.len();
                self.show_rows(Pane::Captures);
                let list = &mut self.lists.captures;
                if !list.goes_along() {
                    list.below += list.rows.len().saturating_sub(before);
                }
            }
        }
    }
}
