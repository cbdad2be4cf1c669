//! An alert to the user: about a captured request, or about events that a rule wants.

use scandeck_domain::alerts::{AlertClaim, AlertRoutes, EventAlert};

/// Most events in the JSON of an alert.
const MOST_EVENTS: usize = 100;

/// Facts by name: `token`, `logger`, `from` …
pub type AlertFields = Vec<(&'static str, String)>;

/// An alert. All its texts are sanitised by [`scandeck_wire::text`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alert {
    /// In a few words.
    pub title: String,
    /// In one line.
    pub body: String,
    /// Facts about the capture, or about the first event.
    pub fields: AlertFields,
    /// Facts about each event, the worst first; none for a capture.
    pub events: Vec<AlertFields>,
    /// The channels on which this process sends it; none for all, before it is claimed there.
    pub routes: Option<AlertRoutes>,
    /// Its events in the file of sent alerts.
    pub claim: Option<AlertClaim>,
}

impl Alert {
    /// Counts further events, which the alert does not name.
    pub fn add_more(&mut self, more: usize) {
        if more > 0 {
            self.body.push_str(&format!(" (and {more} more)"));
            self.fields.push(("more", more.to_string()));
        }
    }

    /// The alert about events, on these channels.
    pub fn of_events(of: &EventAlert, routes: AlertRoutes) -> Self {
        let kind = ("event", of.kind.as_str().to_owned());
        let mut fields = vec![kind.clone(), ("rule", of.rule.name.clone())];
        let first = of.events.first();
        fields.extend(first.iter().flat_map(|event| event.fields.clone()));
        if of.events.len() > 1 {
            fields.push(("more", (of.events.len() - 1).to_string()));
        }
        let events = of.events.iter().take(MOST_EVENTS).map(|event| {
            let texts = [("title", &event.title), ("body", &event.body)];
            let texts = texts.map(|(name, text)| (name, text.clone()));
            let all = [kind.clone()].into_iter().chain(texts);
            all.chain(event.fields.clone()).collect()
        });
        Self {
            title: of.title(),
            body: of.body(),
            fields,
            events: events.collect(),
            routes: Some(routes),
            claim: Some(of.claim()),
        }
    }
}
