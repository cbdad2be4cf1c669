//! The drawing context: model, theme, names by id, and ages by the clock of the service.

use crate::base::Pane;
use crate::model::{Modal, Model};
use crate::ui::{PaneFacts, Theme, format, target_of};
use jiff::Timestamp;
use ratatui::prelude::{Line, Span, Style};
use scandeck_domain::table::Remote;
use scandeck_domain::triage::ListedFinding;
use scandeck_wire::contract::{LoggerId, Scan, ScanId, Stamp, TargetId, Tool};
use scandeck_wire::text;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The model with the values that drawing derives from it.
#[derive(Clone)]
pub(crate) struct Cx<'a> {
    pub model: &'a Model,
    pub theme: Theme,
    pub facts: Arc<PaneFacts>,
    /// The time by the clock of the service, or by the local clock while the difference is unknown.
    pub now: Timestamp,
}

impl<'a> Cx<'a> {
    pub fn new(model: &'a Model, theme: Theme, facts: Arc<PaneFacts>) -> Self {
        let offset = jiff::SignedDuration::from_secs(model.connection.clock_offset.unwrap_or(0));
        let now = model.now.wall.checked_add(offset).unwrap_or(model.now.wall);
        Self {
            model,
            theme,
            facts,
            now,
        }
    }

    /// Whether the list (or detail) of a pane has the keyboard.
    pub fn has_keys(&self, pane: Pane, in_detail: bool) -> bool {
        let over = self
            .model
            .overlay
            .modals
            .iter()
            .any(|modal| !matches!(modal, Modal::Line(_) | Modal::Command(_)));
        let focus = self.model.navigation.focus;
        focus.pane == pane && focus.in_detail == in_detail && !over
    }

    /// The age of a time stamp; with `~` while the clock of the service is unknown.
    pub fn age(&self, then: Option<Stamp>) -> String {
        let Some(then) = then else {
            return self.theme.glyphs.dash.to_owned();
        };
        let age = format::age(self.now, then);
        if self.model.connection.clock_offset.is_none() {
            format!("~{age}")
        } else {
            age
        }
    }

    pub fn scan(&self, id: ScanId) -> Option<&'a Scan> {
        self.model.data.scans.value()?.get(id).map(|scan| &**scan)
    }

    /// The full name of a target.
    pub fn target_name(&self, id: TargetId) -> Cow<'a, str> {
        match self.model.target_name(id) {
            Some(name) => text::clean(name).into(),
            None => Cow::Owned(format!("target {id}")),
        }
    }

    /// The name of a target in lists: without scheme and without the domain that all targets share.
    pub fn short_target_name(&self, id: TargetId) -> Cow<'a, str> {
        match self.facts.short_name(id) {
            // A part of a host name cannot be recognised later.
            Some(_) if self.model.mask().is_some() => {
                let (name, mask) = (self.target_name(id), self.model.mask());
                mask.map_or(Cow::Borrowed(""), |mask| Cow::Owned(mask.host(&name)))
            }
            Some(name) => Cow::Owned(name.to_owned()),
            None => self.target_name(id),
        }
    }

    /// Columns of the widest of these targets in lists.
    pub fn widest_target(&self, targets: impl Iterator<Item = TargetId>) -> usize {
        let targets: BTreeSet<TargetId> = targets.collect();
        targets
            .into_iter()
            .map(|id| text::width(&self.short_target_name(id)))
            .max()
            .unwrap_or(0)
    }

    pub fn finding_target(&self, finding: &ListedFinding) -> Option<TargetId> {
        target_of(finding, self.model.data.scans.value().map(|scans| &**scans))
    }

    /// `#118 Website` for a scan.
    pub fn scan_name(&self, id: ScanId) -> String {
        match self.scan(id) {
            Some(scan) => format!("#{id} {}", Tool(scan.tool_id)),
            None => format!("#{id}"),
        }
    }

    pub fn logger_name(&self, id: LoggerId) -> Cow<'a, str> {
        match self
            .model
            .data
            .loggers
            .value()
            .and_then(|loggers| loggers.get(id))
        {
            Some(logger) => text::clean(&logger.label).into(),
            None => Cow::Owned(format!("logger {id}")),
        }
    }

    /// Dim for stale data.
    pub fn freshness<T>(&self, remote: &Remote<T>) -> Style {
        match remote {
            Remote::Stale { .. } => self.theme.dim(),
            Remote::Unknown | Remote::Failed(_) | Remote::Fresh { .. } => Style::new(),
        }
    }
}

/// A cell with text from outside.
pub(crate) fn cell<'a>(outside: &'a str) -> Line<'a> {
    Line::from(Span::raw(text::clean(outside)))
}

/// A line of the program's own text.
pub(crate) fn words(text: impl Into<Cow<'static, str>>, style: Style) -> Line<'static> {
    Line::from(Span::styled(text, style))
}

/// A cell without its colours.
pub(crate) fn dimmed<'a>(theme: Theme, cell: Line<'a>) -> Line<'a> {
    let spans = cell
        .spans
        .into_iter()
        .map(|span| Span::styled(span.content, theme.dim()));
    Line::from(spans.collect::<Vec<_>>())
}
