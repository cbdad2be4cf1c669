//! Signals: what makes itself heard when something comes in, and how often.
//!
//! ```text
//!   new captures ─► known payload? alert rule? waited for? ─► Signal ─► one in 5 s, the rest counted ─► Effect::Signal
//! ```
//!
//! A payload rings once a minute at most. What bots and the analyst's own address send rings only where a rule says so.

use crate::contract::{Capture, Shared, Stamp};
use crate::dashboard::base::{Caught, CaughtId, Effect, Signal, Tone};
use crate::dashboard::data::{ALERT, Alert, LONGEST, OFF, ON, RECENT, Wait};
use crate::dashboard::model::Model;
use crate::oob::source::is_own;
use crate::oob::{Agent, Mention, Payload, Token};
use crate::query::{Query, QueryKind};
use crate::table::{RecognizedCapture, Rows};
use crate::text;
use std::collections::BTreeSet;
use std::sync::Arc;

/// AlertReason a capture is heard.
enum AlertReason<'a> {
    Alert(&'a str),
    Awaited,
    Payload,
}

impl Model {
    /// Captures came in: they are heard, and counted for their payloads where the archive does not do that.
    pub(crate) fn hear_captures(&mut self, new: &[Caught], effects: &mut Vec<Effect>) {
        let new: Vec<&Caught> = new.iter().filter(|caught| self.data.captures.row_of(caught.id()).is_none()).collect();
        let alerts = self.alerted(&new);
        let mut any = false;
        for (caught, alert) in new.into_iter().zip(alerts) {
            let mut known = false;
            for token in caught.tokens() {
                if !self.captures.oob.writable {
                    self.captures.payloads.hit(token, caught.capture.request_date);
                }
                known |= self.hear(token, caught, alert.as_deref(), effects);
            }
            if let Some(query) = alert.filter(|_| !known && !self.is_old(&caught.capture)) {
                self.ring(&AlertReason::Alert(&query), caught, None, effects);
            }
            any |= known;
        }
        if any {
            self.payloads_changed();
        }
    }

    /// Nobody waits for what this sender sends.
    fn is_quiet(&self, capture: &Capture) -> bool {
        Agent::of(&capture.user_agent).is_some() || is_own(capture, self.own_addresses())
    }

    /// It came while nobody was here to hear it: it is counted, and waits to be looked at.
    fn is_old(&self, capture: &Capture) -> bool {
        let began = self.service_now().as_second() - self.now.mono.as_secs() as i64;
        capture.request_date.is_some_and(|date| date.as_second() < began - RECENT)
    }

    /// A capture carries the token of a payload; false where the book does not have it.
    fn hear(&mut self, token: Token, caught: &Caught, alert: Option<&str>, effects: &mut Vec<Effect>) -> bool {
        let Some(payload) = self.captures.oob.book.get(token).cloned() else { return false };
        let (quiet, old) = (self.is_quiet(&caught.capture), self.is_old(&caught.capture));
        self.captures.payloads.unseen += u64::from(!quiet);
        let awaited = !quiet && !old && self.end_wait(token);
        let why = match alert {
            _ if awaited => AlertReason::Awaited,
            _ if old => return true,
            Some(query) => AlertReason::Alert(query),
            None if quiet => return true,
            None => AlertReason::Payload,
        };
        if self.captures.signals.may_ring(self.now.mono, token) || awaited {
            self.ring(&why, caught, Some(&payload), effects);
        }
        true
    }

    /// Captures that are here already carry tokens that were not known before: the book grew. Recent ones are heard.
    pub(crate) fn hear_recognised(&mut self, changed: &[(CaughtId, Arc<[Mention]>)], effects: &mut Vec<Effect>) {
        let ids: BTreeSet<CaughtId> = changed.iter().map(|(id, _)| *id).collect();
        let recent = self.service_now().as_second() - RECENT;
        let is_recent = |caught: &&Caught| caught.capture.request_date.is_none_or(|date| date.as_second() >= recent);
        let of =
            self.data.captures.caught.iter().rev().take_while(is_recent).filter(|caught| ids.contains(&caught.id()));
        // They share what they hold.
        let found: Vec<Caught> = of.cloned().collect();
        for caught in found.iter().rev() {
            for token in caught.tokens() {
                self.hear(token, caught, None, effects);
            }
        }
    }

    /// What is due by itself: held signals, waits that are over.
    pub(crate) fn tend_signals(&mut self, effects: &mut Vec<Effect>) {
        let now = self.now.mono;
        effects.extend(self.captures.signals.due(now).map(|signal| Effect::Signal(Box::new(signal))));
        let over = |wait: &Wait| wait.until.is_some_and(|until| now >= until);
        let ended: Vec<Wait> = self.captures.signals.waits.iter().copied().filter(over).collect();
        self.captures.signals.waits.retain(|wait| !over(wait));
        if !ended.is_empty() {
            self.payloads_changed();
        }
        for wait in ended {
            self.say(Tone::Bad, format!("nothing came for payload {} in time; it stays in the book", wait.token));
        }
    }

    fn end_wait(&mut self, token: Token) -> bool {
        let before = self.captures.signals.waits.len();
        self.captures.signals.waits.retain(|wait| wait.token != token);
        self.captures.signals.waits.len() < before
    }

    /// For each capture the rule that takes it.
    fn alerted(&self, new: &[&Caught]) -> Vec<Option<String>> {
        let mut taken = vec![None; new.len()];
        let on: Vec<&Alert> = self.captures.signals.alerts.iter().filter(|alert| !alert.off).collect();
        if on.is_empty() || new.is_empty() {
            return taken;
        }
        let world = self.world();
        let rows: Vec<RecognizedCapture<'_>> = new.iter().map(|caught| caught.recognised()).collect();
        let source = Rows { rows: &rows, others: &world, now: self.service_now().as_second() };
        for alert in on {
            let Ok(query) = Query::parse(&alert.query, QueryKind::Captures) else { continue };
            for row in query.matches(&source).rows() {
                taken[row].get_or_insert_with(|| alert.query.clone());
            }
        }
        taken
    }

    fn ring(&mut self, why: &AlertReason<'_>, caught: &Caught, payload: Option<&Payload>, effects: &mut Vec<Effect>) {
        let signal = self.signal(why, caught, payload);
        self.say(Tone::Good, format!("{}: {}", signal.title, signal.body));
        let rung = self.captures.signals.ring(self.now.mono, signal);
        effects.extend(rung.map(|signal| Effect::Signal(Box::new(signal))));
    }

    fn signal(&self, why: &AlertReason<'_>, caught: &Caught, payload: Option<&Payload>) -> Signal {
        let capture = &caught.capture;
        let delay = payload.and_then(|payload| payload.delay(capture.request_date, self.connection.clock_offset));
        let delay = delay.map(|delay| delay.to_string()).unwrap_or_default();
        let place = payload.map(Payload::place).unwrap_or_default();
        let token = payload.map(|payload| payload.token.to_string()).unwrap_or_default();
        let of = |text: fn(&Payload) -> &Shared| payload.map(|payload| text(payload).to_string()).unwrap_or_default();
        let (event, title) = match why {
            AlertReason::Alert(query) => ("alert", format!("alert {query}")),
            AlertReason::Awaited => ("wait", "what was waited for came".to_owned()),
            AlertReason::Payload => ("payload", "payload hit".to_owned()),
        };
        let what = if place.is_empty() { token.clone() } else { place.clone() };
        let from = format!("{} from {}", capture.request_method, capture.ip_address);
        let told = [what, of(|payload| &payload.technique), delay.clone(), from];
        let body = told.iter().filter(|text| !text.is_empty()).map(String::as_str).collect::<Vec<_>>().join(", ");
        let time = capture.request_date.map(|date: Stamp| date.to_string()).unwrap_or_default();
        let facts = vec![
            ("event", event.to_owned()),
            ("token", token),
            ("planted", place),
            ("technique", of(|payload| &payload.technique)),
            ("target", of(|payload| &payload.target)),
            ("finding", of(|payload| &payload.finding_name)),
            ("note", of(|payload| &payload.note)),
            ("delay", delay),
            ("logger", caught.label.to_string()),
            ("workspace", self.workspace().map(|workspace| workspace.name.to_string()).unwrap_or_default()),
            ("time", time),
            ("from", capture.ip_address.to_string()),
            ("method", capture.request_method.to_string()),
            ("path", capture.path.as_deref().unwrap_or_default().to_owned()),
            ("query", capture.url_params.to_string()),
            ("agent", capture.user_agent.to_string()),
        ];
        let clean = |text: &str| text::start(&text::clean(text), LONGEST).into_owned();
        Signal {
            title: clean(&title),
            body: clean(&body),
            facts: facts.into_iter().map(|(name, text)| (name, clean(&text))).collect(),
        }
    }

    /// Takes up the rules of the workspace worked in.
    pub(crate) fn load_alerts(&mut self) {
        let workspace = self.workspace_name();
        let kept = self.settings_of(ALERT, &workspace).into_iter();
        self.captures.signals.alerts = kept.map(|(query, state)| Alert { query, off: state == OFF }).collect();
    }

    /// Keeps a rule on or off; nothing takes it away.
    pub(crate) fn keep_alert(&mut self, query: &str, off: Option<bool>, effects: &mut Vec<Effect>) {
        let workspace = self.workspace_name();
        let state = off.map(|off| if off { OFF } else { ON });
        self.remember_one((ALERT, query), workspace, state, effects);
        self.load_alerts();
    }
}
