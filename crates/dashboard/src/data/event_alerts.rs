//! The events that this dashboard has handled, and the data in which it looked for them.

use jiff::civil::Date;
use scandeck_domain::alerts::{AlertEvent, EventRule};
use std::collections::{HashMap, HashSet};

#[derive(Clone, Debug, Default)]
pub struct EventAlertState {
    /// The keys of the events of each rule, by its name.
    handled: HashMap<String, HashSet<String>>,
    /// What the last look depended on.
    pub(crate) looked: Option<AlertInputs>,
    /// Whether the file of sent alerts has begun.
    pub(crate) has_begun: bool,
}

/// The revision of findings, how often they were correlated and decisions of others arrived, and the
/// day. A scan that starts or ends causes a correlation. Its progress is no event, nor is a decision
/// of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AlertInputs {
    pub findings: u64,
    pub correlations: u64,
    pub arrivals: u64,
    pub today: Date,
}

impl EventAlertState {
    pub(crate) fn is_handled(&self, rule: &EventRule, key: &str) -> bool {
        let handled = self.handled.get(&rule.name);
        handled.is_some_and(|keys| keys.contains(key))
    }

    pub(crate) fn handle(&mut self, rule: &EventRule, event: &AlertEvent) {
        let handled = self.handled.entry(rule.name.clone()).or_default();
        handled.insert(event.key.clone());
    }
}
