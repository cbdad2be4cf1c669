//! The events that this dashboard has handled, and the data in which it looked for them.

use jiff::civil::Date;
use scandeck_domain::alerts::{AlertEvent, EventRule};
use std::collections::BTreeSet;

#[derive(Clone, Debug, Default)]
pub struct EventAlertState {
    /// Rule and key of each event.
    handled: BTreeSet<(String, String)>,
    /// What the last look depended on.
    pub(crate) looked: Option<AlertInputs>,
    /// Whether the file of sent alerts has begun.
    pub(crate) has_begun: bool,
}

/// The revisions of findings and decisions, and the day. A scan that starts or ends causes a new
/// assessment, which is a revision of the decisions. The progress of a scan is no event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AlertInputs {
    pub findings: u64,
    pub decisions: u64,
    pub today: Date,
}

impl EventAlertState {
    pub(crate) fn is_handled(&self, rule: &EventRule, event: &AlertEvent) -> bool {
        let of_rule = (rule.name.clone(), event.key.clone());
        self.handled.contains(&of_rule)
    }

    pub(crate) fn handle(&mut self, rule: &EventRule, event: &AlertEvent) {
        self.handled.insert((rule.name.clone(), event.key.clone()));
    }
}
