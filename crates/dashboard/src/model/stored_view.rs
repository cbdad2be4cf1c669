//! The view of a workspace across restarts: pane, zoom, tab, scope, filters, orders, groups, folds
//! and selected rows.
//!
//! ```text
//!   quit, something seen or decided ─► Effect::Remember(`view`)      store opened, another workspace ─► lists, focus
//! ```

use crate::base::{Effect, GroupId, Pane, RowRef, Scope};
use crate::data::VISITED_AT;
use crate::list::FindingGroupBy;
use crate::model::{Model, navigation};
use scandeck_domain::query::{Query, SortKey};
use scandeck_wire::contract::{LoggerId, ScanId, TargetId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The setting that stores the view.
const VIEW: &str = scandeck_domain::triage::settings::VIEW;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct StoredView {
    pane: String,
    zoomed: bool,
    /// The name of the saved query.
    tab: String,
    target: Option<TargetId>,
    scan: Option<ScanId>,
    logger: Option<LoggerId>,
    group_by: Option<FindingGroupBy>,
    /// By the title of the pane.
    lists: BTreeMap<String, StoredList>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct StoredList {
    filter: String,
    sort: usize,
    order: String,
    selected: Option<i64>,
    /// The selected group header of the findings.
    header: Option<u64>,
    /// Groups that are folded although the others are unfolded, or the reverse.
    toggled: Vec<u64>,
}

/// The panes whose lists belong to a workspace. The board is saved with its retest.
fn panes() -> impl Iterator<Item = Pane> {
    Pane::ALL
        .into_iter()
        .filter(|pane| !matches!(pane, Pane::Workspaces | Pane::Board))
}

impl Model {
    /// Saves the view of the current workspace.
    pub(crate) fn remember_view(&mut self, effects: &mut Vec<Effect>) {
        let tabs = &self.settings.tabs;
        let tab = tabs
            .saved
            .get(tabs.at)
            .map(|saved| saved.name.clone())
            .unwrap_or_default();
        let mut view = StoredView {
            pane: self.navigation.focus.pane.title().to_owned(),
            zoomed: self.navigation.focus.zoomed,
            tab,
            target: self.navigation.scope.target,
            scan: self.navigation.scope.scan,
            logger: self.navigation.scope.logger,
            group_by: self.lists.finding_groups.requested,
            lists: BTreeMap::new(),
        };
        for pane in panes() {
            let (sort, order) = self.lists.order_of(pane);
            // Captures follow their end, and calls are numbered from one after a restart.
            let has_selection = !matches!(pane, Pane::Captures | Pane::Activity);
            let selected = self.lists.selected_id(pane).filter(|_| has_selection);
            let mut cursor = self.cursor(pane);
            let filter = cursor.filter().0.clone();
            let toggled = cursor.groups().toggled().map(|id| id.0).collect();
            drop(cursor);
            let header = self
                .lists
                .findings
                .header
                .filter(|_| pane == Pane::Findings)
                .map(|id| id.0);
            view.lists.insert(
                pane.title().to_owned(),
                StoredList {
                    filter,
                    sort,
                    order,
                    selected,
                    header,
                    toggled,
                },
            );
        }
        self.remember_here(VIEW, &view, effects);
    }

    /// Restores the view of the current workspace. The focus stays where a key has moved it.
    pub(crate) fn restore_view(&mut self) {
        let workspace_name = self.workspace_name();
        let Some(view) = self.setting::<StoredView>(VIEW, &workspace_name) else {
            return;
        };
        let last_visit = self.setting(VISITED_AT, &workspace_name);
        if let Some(at) = self
            .settings
            .tabs
            .saved
            .iter()
            .position(|saved| saved.name == view.tab)
        {
            self.settings.tabs.at = at;
        }
        let workspace = self.navigation.scope.workspace;
        navigation::set_scope(
            self,
            Scope {
                workspace,
                target: view.target,
                scan: view.scan,
                logger: view.logger,
            },
        );
        self.lists.finding_groups.requested = view.group_by;
        for pane in panes() {
            let Some(list) = view.lists.get(pane.title()) else {
                continue;
            };
            if Query::parse(&list.filter, pane.kind()).is_ok() {
                *self.cursor(pane).filter().0 = list.filter.clone();
                self.lists
                    .hidden_news_mut(pane)
                    .restore(&list.filter, last_visit);
            }
            let order = SortKey::parse_all(&list.order, pane.kind()).unwrap_or_default();
            self.lists.restore_order(pane, list.sort, order);
            self.cursor(pane)
                .groups()
                .restore_toggled(list.toggled.iter().copied().map(GroupId));
            let header = list.header.map(|id| RowRef::Group(GroupId(id)));
            if let Some(row) = header.or(list.selected.map(RowRef::Item)) {
                self.lists.select_when_loaded(pane, row);
            }
            self.show_rows(pane);
        }
        let pane = panes().find(|pane| pane.title() == view.pane);
        if let (Some(pane), None) = (pane, self.keyboard.key) {
            self.navigation.focus.pane = pane;
            self.navigation.focus.zoomed = view.zoomed;
            if matches!(pane, Pane::Captures | Pane::Loggers) {
                self.navigation.fifth = pane;
            }
        }
    }
}
