//! Events in words and fields, and the alert of a rule about several of them.

use std::sync::Arc;

use super::{AlertKind, EventRule};
use scandeck_wire::contract::{Risk, Stamp};
use scandeck_wire::text;
use scandeck_wire::text::plural;

/// Longest text of a field.
const LONGEST: usize = 1000;

/// An event. All its texts are sanitised by [`scandeck_wire::text`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertEvent {
    pub kind: AlertKind,
    /// Names the event in every process.
    pub key: String,
    /// When it happened, by the clock of the service; none for a state, such as an expiry date.
    pub at: Option<Stamp>,
    pub risk: Option<Risk>,
    /// In a few words of the program, without text from outside.
    pub title: String,
    /// In one line.
    pub body: String,
    /// Facts by name: `target`, `scan`, `finding` …
    pub fields: Vec<(&'static str, String)>,
}

impl AlertEvent {
    /// Sanitises and shortens the texts.
    pub(super) fn cleaned(self) -> Self {
        let clean = |outside: &str| text::start(&text::clean(outside), LONGEST).into_owned();
        let fields = self.fields.into_iter();
        Self {
            title: clean(&self.title),
            body: clean(&self.body),
            fields: fields
                .map(|(name, value)| (name, clean(&value)))
                .filter(|(_, value)| !value.is_empty())
                .collect(),
            ..self
        }
    }
}

/// Events of one kind that one rule wants, the worst first.
#[derive(Clone, Debug, PartialEq)]
pub struct EventAlert {
    pub rule: Arc<EventRule>,
    pub kind: AlertKind,
    pub events: Vec<AlertEvent>,
}

impl EventAlert {
    /// The first event, and the number of others.
    pub fn body(&self) -> String {
        let first = self.events.first();
        let body = first.map(|event| event.body.clone()).unwrap_or_default();
        match self.events.len() {
            0 | 1 => body,
            all => format!("{body} (and {} more)", all - 1),
        }
    }

    /// `was fixed, is back`, with the number of events if there are several.
    pub fn title(&self) -> String {
        let first = self.events.first();
        let title = first.map(|event| event.title.clone()).unwrap_or_default();
        match self.events.len() {
            0 | 1 => title,
            all => format!("{title} ({})", plural(all, noun(self.kind))),
        }
    }
}

/// The objects that events of this kind are about.
fn noun(kind: AlertKind) -> &'static str {
    match kind {
        AlertKind::ScanFailed | AlertKind::ScanBlocked | AlertKind::ScanEnded => "scan",
        AlertKind::ServiceGone => "service",
        AlertKind::Finding
        | AlertKind::Regression
        | AlertKind::Decision
        | AlertKind::Acceptance => "finding",
    }
}
