//! The alert about a captured request, for the dashboard and `scandeck watch`.

use super::Alert;
use scandeck_domain::alerts::{AlertClaim, EventKey};
use scandeck_domain::oob::Payload;
use scandeck_wire::contract::{Capture, LoggerId, Shared, Stamp};
use scandeck_wire::text;
use std::time::Duration;

/// Least time between two alerts for one payload.
pub const AGAIN: Duration = Duration::from_secs(60);

/// Longest text of a fact of an alert.
const LONGEST: usize = 1000;

/// Why a capture causes an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertReason<'a> {
    /// It matches the query of an alert rule.
    Rule(&'a str),
    Awaited,
    Payload,
}

/// A capture that causes an alert.
#[derive(Clone, Copy, Debug)]
pub struct CaptureAlert<'a> {
    pub capture: &'a Capture,
    pub logger: LoggerId,
    /// Label of the logger.
    pub label: &'a str,
    /// Name of the workspace.
    pub workspace: &'a str,
    pub reason: AlertReason<'a>,
    /// The payload in it, if the book has it.
    pub payload: Option<&'a Payload>,
    /// The service's clock minus this machine's, in seconds.
    pub clock_offset: Option<i64>,
}

impl CaptureAlert<'_> {
    /// The alert on all channels. Its texts are sanitised.
    pub fn alert(&self) -> Alert {
        let clean = |text: &str| text::start(&text::clean(text), LONGEST).into_owned();
        let fields = self.fields().into_iter();
        Alert {
            title: clean(&self.title()),
            body: clean(&self.body()),
            fields: fields.map(|(name, text)| (name, clean(&text))).collect(),
            claim: Some(self.claim()),
            ..Alert::default()
        }
    }

    fn title(&self) -> String {
        match self.reason {
            AlertReason::Rule(query) => format!("alert rule `{query}`"),
            AlertReason::Awaited => "awaited request".to_owned(),
            AlertReason::Payload => "payload hit".to_owned(),
        }
    }

    fn body(&self) -> String {
        let capture = self.capture;
        let place = self.place();
        let what = if place.is_empty() {
            self.token()
        } else {
            place
        };
        let from = format!("{} from {}", capture.request_method, capture.ip_address);
        let technique = self.text_of(|payload| &payload.technique);
        let all = [what, technique, self.delay(), from];
        let parts = all.iter().filter(|text| !text.is_empty());
        parts.map(String::as_str).collect::<Vec<_>>().join(", ")
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        let capture = self.capture;
        let event = match self.reason {
            AlertReason::Rule(_) => "alert",
            AlertReason::Awaited => "wait",
            AlertReason::Payload => "payload",
        };
        let time = capture.request_date.map(|date: Stamp| date.to_string());
        vec![
            ("event", event.to_owned()),
            ("token", self.token()),
            ("planted", self.place()),
            ("technique", self.text_of(|payload| &payload.technique)),
            ("target", self.text_of(|payload| &payload.target)),
            ("finding", self.text_of(|payload| &payload.finding_name)),
            ("note", self.text_of(|payload| &payload.note)),
            ("delay", self.delay()),
            ("logger", self.label.to_owned()),
            ("workspace", self.workspace.to_owned()),
            ("time", time.unwrap_or_default()),
            ("from", capture.ip_address.to_string()),
            ("method", capture.request_method.to_string()),
            (
                "path",
                capture.path.as_deref().unwrap_or_default().to_owned(),
            ),
            ("query", capture.url_params.to_string()),
            ("agent", capture.user_agent.to_string()),
        ]
    }

    /// The capture as an event. An awaited request waits for no quiet time.
    fn claim(&self) -> AlertClaim {
        let capture = self.capture;
        let seconds = capture.request_date.map(Stamp::as_second).unwrap_or(0);
        let (token, logger, id) = (self.token(), self.logger, capture.id);
        let (group, quiet) = match self.reason {
            AlertReason::Awaited => (format!("payload {token}"), Duration::ZERO),
            _ if self.payload.is_some() => (format!("payload {token}"), AGAIN),
            _ => ("captures".to_owned(), Duration::ZERO),
        };
        let event = EventKey {
            key: format!("capture:{logger}:{id}:{seconds}:{token}"),
            at: None,
        };
        AlertClaim {
            group,
            quiet,
            events: vec![event],
        }
    }

    fn token(&self) -> String {
        let token = self.payload.map(|payload| payload.token.to_string());
        token.unwrap_or_default()
    }

    fn place(&self) -> String {
        self.payload.map(Payload::place).unwrap_or_default()
    }

    fn delay(&self) -> String {
        let date = self.capture.request_date;
        let delay = self
            .payload
            .and_then(|payload| payload.delay(date, self.clock_offset));
        delay.map(|delay| delay.to_string()).unwrap_or_default()
    }

    fn text_of(&self, text: fn(&Payload) -> &Shared) -> String {
        let text = self.payload.map(|payload| text(payload).to_string());
        text.unwrap_or_default()
    }
}
