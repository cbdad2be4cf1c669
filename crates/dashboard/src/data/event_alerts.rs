//! The events that this dashboard has handled, and the data in which it looked for them.

use jiff::civil::Date;
use scandeck_domain::alerts::{AlertEvent, EventRule};
use scandeck_wire::contract::ScanId;
use std::collections::BTreeSet;

#[derive(Clone, Debug, Default)]
pub struct EventAlertState {
    /// Rule and key of each event.
    handled: BTreeSet<(String, String)>,
    /// What the last look depended on.
    pub(crate) looked: Option<AlertInputs>,
    /// The scans that had ended then. The progress of others is no event.
    pub(crate) ended_scans: Vec<ScanId>,
    /// Whether the file of sent alerts has begun.
    pub(crate) has_begun: bool,
}

/// The revisions of findings, scans and decisions, and the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AlertInputs {
    pub findings: u64,
    pub scans: u64,
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
