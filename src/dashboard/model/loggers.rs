//! Loggers that expire soon.

use crate::contract::Logger;
use crate::dashboard::base::Tone;
use crate::dashboard::model::Model;
use crate::oob::LoggerExpiry;
use crate::table::Table;

impl Model {
    /// Finds the remaining time of the logger that expires next, without expired ones.
    pub(crate) fn find_next_expiry(&mut self) {
        let loggers = self.data.loggers.value().map(|table| table.items()).unwrap_or_default();
        self.captures.next_expiry = loggers
            .iter()
            .filter_map(|logger| LoggerExpiry::of(logger))
            .filter(|&ending| ending != LoggerExpiry::Over)
            .min();
    }

    /// Warns once when a logger expires soon.
    pub(crate) fn warn_of_ends(&mut self, new: &Table<Logger>) {
        let before = self.data.loggers.value().cloned().unwrap_or_default();
        let kind = |ending: Option<LoggerExpiry>| ending.map(|ending| std::mem::discriminant(&ending));
        for logger in new.items() {
            let known = before.get(logger.id);
            let was =
                known.and_then(|logger| LoggerExpiry::of(logger)).or(known.is_none().then_some(LoggerExpiry::Over));
            if let Some(ending) = LoggerExpiry::of(logger).filter(|&now| kind(Some(now)) != kind(was)) {
                self.notify(Tone::Bad, format!("logger {}: {ending}", logger.label));
            }
        }
    }
}
