//! A rule of the configuration: which events alert, and where.

use std::collections::BTreeSet;
use std::time::Duration;

use super::AlertKind;
use crate::query::{Query, QueryKind};
use crate::triage::listed_fields::is_long;

/// The channels of an alert.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlertRoutes {
    /// The bell of the terminal.
    pub bell: bool,
    /// A notification of the desktop, which the terminal shows.
    pub desktop: bool,
    /// The program of the configuration.
    pub program: bool,
    /// The webhooks of the configuration, by name.
    pub webhooks: BTreeSet<String>,
}

impl AlertRoutes {
    /// Whether the alert is shown on the screen.
    pub fn is_shown(&self) -> bool {
        self.bell || self.desktop
    }

    /// The same, without the screen.
    pub fn without_screen(&self) -> Self {
        Self {
            bell: false,
            desktop: false,
            ..self.clone()
        }
    }
}

/// A rule: events of these kinds that match its query.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRule {
    pub name: String,
    pub kinds: BTreeSet<AlertKind>,
    /// A query on the list of its kinds.
    query: Query,
    /// Least time between two alerts of the rule about one kind on one channel.
    pub quiet: Duration,
    pub routes: AlertRoutes,
}

/// Why a rule is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct EventRuleError {
    pub why: String,
    pub hint: String,
}

impl EventRuleError {
    fn new(why: impl Into<String>, hint: impl Into<String>) -> Self {
        let (why, hint) = (why.into(), hint.into());
        Self { why, hint }
    }
}

impl EventRule {
    /// Checks a rule.
    ///
    /// # Errors
    /// When it has no kind, or its query does not fit all kinds.
    pub fn new(
        name: &str,
        kinds: BTreeSet<AlertKind>,
        query: &str,
        quiet: Duration,
        routes: AlertRoutes,
    ) -> Result<Self, EventRuleError> {
        let Some(first) = kinds.first() else {
            let hint = format!("use one or more of {}", AlertKind::NAMES.join(", "));
            return Err(EventRuleError::new("`on` names no event", hint));
        };
        let list = first.list();
        let is_mixed = kinds.iter().any(|kind| kind.list() != list);
        if is_mixed && !query.trim().is_empty() {
            let why = "a query cannot select scans and findings at once";
            let hint = "write one rule for events of scans, and one for events of findings";
            return Err(EventRuleError::new(why, hint));
        }
        let parsed = Query::parse(query, list).map_err(|error| {
            let hint = format!(
                "the rule needs a query on {}: see docs/query.md",
                list.title()
            );
            EventRuleError::new(format!("invalid query: {error}"), hint)
        })?;
        if let Some(field) = parsed.fields().into_iter().find(|&field| is_long(field)) {
            let why = format!("alert rules cannot search `{}`", field.spec().name);
            return Err(EventRuleError::new(
                why,
                "search name, class or target instead",
            ));
        }
        Ok(Self {
            name: name.to_owned(),
            kinds,
            query: parsed,
            quiet,
            routes,
        })
    }

    /// The query on a list: a rule about scans and findings has none.
    pub(super) fn query(&self, list: QueryKind) -> Query {
        match self.kinds.first() {
            Some(kind) if kind.list() == list => self.query.clone(),
            _ => Query::everything(list),
        }
    }
}
