//! The events of an alert as the file of sent alerts knows them: keys without texts.

use std::collections::BTreeSet;
use std::time::Duration;

use super::EventAlert;
use scandeck_wire::contract::Stamp;

/// The events that one alert is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlertClaim {
    /// The alerts of a group share a quiet time on each channel.
    pub group: String,
    pub quiet: Duration,
    pub events: Vec<EventKey>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventKey {
    /// Names the event in every process.
    pub key: String,
    /// When it happened, by the clock of the service; none if it is never too old.
    pub at: Option<Stamp>,
}

impl EventAlert {
    pub fn claim(&self) -> AlertClaim {
        let events = self.events.iter().map(|event| EventKey {
            key: event.key.clone(),
            at: event.at,
        });
        AlertClaim {
            group: format!("{}/{}", self.rule.name, self.kind),
            quiet: self.rule.quiet,
            events: events.collect(),
        }
    }

    /// The alert about these events only, each once.
    pub fn only(mut self, keys: &BTreeSet<String>) -> Self {
        let mut missing = keys.clone();
        self.events.retain(|event| missing.remove(&event.key));
        self
    }
}
