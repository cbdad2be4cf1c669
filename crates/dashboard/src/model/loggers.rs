//! Loggers that expire soon, and the keys that show them.

use crate::base::Tone;
use crate::input::{Action, Context, ListAction, ViewAction};
use crate::model::Model;
use scandeck_domain::oob::LoggerExpiry;
use scandeck_domain::table::Table;
use scandeck_wire::contract::Logger;

impl Model {
    /// Whether pane 5 has no captures: no logger, and no archived captures of deleted ones.
    pub(crate) fn has_no_captures(&self) -> bool {
        let no_logger = self
            .data
            .loggers
            .value()
            .is_some_and(|loggers| loggers.is_empty());
        no_logger && self.data.captures.rows.is_empty()
    }

    /// The keys that show the loggers.
    pub(crate) fn logger_keys(&self) -> String {
        let show = self.key_label(Context::Everywhere, Action::View(ViewAction::Captures));
        let out = self.key_label(Context::Captures, Action::List(ListAction::Out));
        if self.has_no_captures() {
            show
        } else {
            format!("{show} {out}")
        }
    }

    /// Finds the remaining time of the logger that expires next, without expired ones.
    pub(crate) fn find_next_expiry(&mut self) {
        let loggers = self
            .data
            .loggers
            .value()
            .map(|table| table.items())
            .unwrap_or_default();
        self.captures.next_expiry = loggers
            .iter()
            .filter_map(|logger| LoggerExpiry::of(logger))
            .filter(|&ending| ending != LoggerExpiry::Over)
            .min();
    }

    /// Warns once when a logger expires soon.
    pub(crate) fn warn_of_ends(&mut self, new: &Table<Logger>) {
        let before = self.data.loggers.value().cloned().unwrap_or_default();
        let kind =
            |ending: Option<LoggerExpiry>| ending.map(|ending| std::mem::discriminant(&ending));
        for logger in new.items() {
            let known = before.get(logger.id);
            let was = known
                .and_then(|logger| LoggerExpiry::of(logger))
                .or(known.is_none().then_some(LoggerExpiry::Over));
            if let Some(ending) =
                LoggerExpiry::of(logger).filter(|&now| kind(Some(now)) != kind(was))
            {
                self.notify(Tone::Bad, format!("logger {}: {ending}", logger.label));
            }
        }
    }
}
