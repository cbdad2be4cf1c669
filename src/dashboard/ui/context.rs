//! What every pane asks for while it is drawn: names behind ids, ages by the service's clock, the model and the theme.

use crate::contract::{Finding, LoggerId, Scan, ScanId, Stamp, Target, TargetId, Tool};
use crate::dashboard::base::Pane;
use crate::dashboard::model::{Modal, Model};
use crate::dashboard::ui::facts::target_of;
use crate::dashboard::ui::{PaneFacts, Theme, format};
use crate::table::{Remote, Table};
use crate::text;
use jiff::Timestamp;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// The model with what drawing adds to it.
#[derive(Clone)]
pub(crate) struct Cx<'a> {
    pub model: &'a Model,
    pub theme: Theme,
    pub facts: Arc<PaneFacts>,
    /// The service's clock, as far as it is known.
    pub now: Timestamp,
}

impl<'a> Cx<'a> {
    pub fn new(model: &'a Model, theme: Theme, facts: Arc<PaneFacts>) -> Self {
        let offset = jiff::SignedDuration::from_secs(model.connection.clock_offset.unwrap_or(0));
        let now = model.now.wall.checked_add(offset).unwrap_or(model.now.wall);
        Self { model, theme, facts, now }
    }

    /// Whether the keys go to a pane's list (or detail).
    pub fn has_keys(&self, pane: Pane, in_detail: bool) -> bool {
        let own = if in_detail { self.model.detail_pane() } else { self.model.navigation.focus.pane };
        let over = self.model.overlay.modals.iter().any(|modal| !matches!(modal, Modal::Line(_) | Modal::Command(_)));
        own == pane && self.model.navigation.focus.in_detail == in_detail && !over
    }

    /// How long ago; with `~` while the service's clock is not known.
    pub fn age(&self, then: Option<Stamp>) -> String {
        let Some(then) = then else { return self.theme.glyphs.dash.to_owned() };
        let age = format::age(self.now, then);
        if self.model.connection.clock_offset.is_none() { format!("~{age}") } else { age }
    }

    /// For how long a running scan has not moved, once that is long.
    pub fn stalled(&self, scan: &Scan) -> Option<Duration> {
        self.model.stalled_for(scan.id)
    }

    pub fn target(&self, id: TargetId) -> Option<&'a Target> {
        self.model.data.targets.value()?.get(id).map(|target| &**target)
    }

    pub fn scan(&self, id: ScanId) -> Option<&'a Scan> {
        self.model.data.scans.value()?.get(id).map(|scan| &**scan)
    }

    /// A target's exact name.
    pub fn target_name(&self, id: TargetId) -> Cow<'a, str> {
        match self.target(id) {
            Some(target) => text::clean(&target.name),
            None => Cow::Owned(format!("target {id}")),
        }
    }

    /// A target's name in a list: without scheme and the domain that all targets share.
    pub fn short_target_name(&self, id: TargetId) -> Cow<'a, str> {
        match self.facts.short_name(id) {
            Some(name) => Cow::Owned(name.to_owned()),
            None => self.target_name(id),
        }
    }

    /// The target of a finding, where it can be told.
    pub fn finding_target(&self, finding: &Finding) -> Option<TargetId> {
        static NONE: std::sync::LazyLock<Table<Scan>> = std::sync::LazyLock::new(Table::default);
        target_of(finding, self.model.data.scans.value().map_or(&NONE, |scans| scans))
    }

    /// `#118 Website` for a scan.
    pub fn scan_name(&self, id: ScanId) -> String {
        match self.scan(id) {
            Some(scan) => format!("#{id} {}", Tool(scan.tool_id)),
            None => format!("#{id}"),
        }
    }

    /// A logger's label.
    pub fn logger_name(&self, id: LoggerId) -> Cow<'a, str> {
        match self.model.data.loggers.value().and_then(|loggers| loggers.get(id)) {
            Some(logger) => text::clean(&logger.label),
            None => Cow::Owned(format!("logger {id}")),
        }
    }

    /// Dim where the knowledge is stale.
    pub fn freshness<T>(&self, remote: &Remote<T>) -> Style {
        match remote {
            Remote::Stale { .. } => self.theme.dim(),
            Remote::Unknown | Remote::Failed(_) | Remote::Fresh { .. } => Style::new(),
        }
    }
}

/// A cell of outside text.
pub(crate) fn cell<'a>(outside: &'a str) -> Line<'a> {
    Line::from(Span::raw(text::clean(outside)))
}

/// Own words in a style.
pub(crate) fn words(text: impl Into<Cow<'static, str>>, style: Style) -> Line<'static> {
    Line::from(Span::styled(text, style))
}
