//! Saved queries of the findings: tabs with counts, per workspace. And the queries that were typed, to be brought back.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::effect::Effect;
use super::model::{Model, Pane};
use super::rows::query_of;
use crate::contract::Shared;
use crate::query::order::SortKey;
use crate::query::{Kind, ParseError, Query};

/// Name under which the tabs are remembered.
const TABS: &str = "tabs";
/// Name under which the typed queries are remembered.
const HISTORY: &str = "queries";
/// Most typed queries that are remembered of a list.
const MOST_TYPED: usize = 50;

/// A query with a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// For people.
    pub name: String,
    /// In the query language.
    pub query: String,
}

/// The tabs over the findings.
#[derive(Clone, Debug)]
pub struct Tabs {
    /// In order.
    pub saved: Vec<Saved>,
    /// How many findings each has, once known.
    pub counts: Vec<usize>,
    /// The one opened last.
    pub at: usize,
    /// The counts are of older decisions.
    pub(super) stale: bool,
    /// Queries typed before, of each list, the newest last.
    typed: BTreeMap<String, Vec<String>>,
}

impl Default for Tabs {
    fn default() -> Self {
        let of = |(name, query): (&str, &str)| Saved { name: name.to_owned(), query: query.to_owned() };
        let saved = [
            ("New", "is:new"),
            ("Undecided", "is:undecided"),
            ("High+", "risk>=high"),
            ("Confirmed", "verdict:confirmed"),
            ("Accepted", "verdict:risk_accepted"),
        ];
        Self { saved: saved.map(of).into(), counts: Vec::new(), at: 1, stale: true, typed: BTreeMap::new() }
    }
}

/// Under which name one setting of a kind is kept.
pub fn setting(of: &str, name: &str) -> Shared {
    format!("{of}:{name}").into()
}

impl Tabs {
    /// The tab in use: the one opened last, as long as everything it asks for is still asked for.
    pub fn chosen(&self, filter: &str) -> Option<usize> {
        let query = query_of(filter, Kind::Findings);
        let saved = query_of(&self.saved.get(self.at)?.query, Kind::Findings);
        let kept = saved.parts().iter().all(|part| query.parts().contains(part));
        (kept && !filter.is_empty() || saved.is_empty() && query.is_empty()).then_some(self.at)
    }

    /// Whether a filter is the query of the tab opened last, with nothing added.
    pub fn is_plain(&self, filter: &str) -> bool {
        self.saved.get(self.at).is_some_and(|saved| saved.query == filter)
    }

    /// The queries typed in a pane, the newest last.
    pub fn typed(&self, pane: Pane) -> &[String] {
        self.typed.get(pane.kind().word()).map(Vec::as_slice).unwrap_or_default()
    }
}

impl Model {
    /// Applies another filter.
    pub(in crate::app) fn apply_filter(&mut self, pane: Pane) {
        self.keep_no_rows(pane);
        self.show_rows(pane);
    }

    /// Filters a pane; nothing changes when the text is no query.
    ///
    /// # Errors
    /// Why it is none.
    pub fn set_query(&mut self, pane: Pane, text: &str) -> Result<(), ParseError> {
        Query::parse(text, pane.kind())?;
        let before = std::mem::replace(self.cursor(pane).filter().0, text.to_owned());
        if before != text {
            if !before.is_empty() {
                self.cursor(pane).filter().1.push(before);
            }
            self.apply_filter(pane);
        }
        self.dirty = true;
        Ok(())
    }

    /// Orders a pane by several fields: `risk,-age`; an empty text goes back to the named order.
    ///
    /// # Errors
    /// What of the text is no field with an order. Captures have one order, that of their stream.
    pub fn set_order(&mut self, pane: Pane, text: &str) -> Result<(), ParseError> {
        let keys = match text.trim() {
            "" => Vec::new(),
            text => SortKey::parse_all(text, pane.kind())?,
        };
        let lists = &mut self.lists;
        match pane {
            Pane::Workspaces => lists.workspaces.order = keys,
            Pane::Targets => lists.targets.order = keys,
            Pane::Findings => {
                lists.findings.forget_places();
                lists.findings.order = keys;
            }
            Pane::Scans => lists.scans.order = keys,
            Pane::Loggers => lists.loggers.order = keys,
            Pane::Reports => lists.reports.order = keys,
            Pane::Wordlists => lists.wordlists.order = keys,
            Pane::Payloads => lists.payloads.order = keys,
            Pane::Captures => return Err(ParseError::new(0..text.len(), "captures stand in the order of time")),
            Pane::Board => return Err(ParseError::new(0..text.len(), "the board has orders of its own: , walks them")),
        }
        self.show_rows(pane);
        self.dirty = true;
        Ok(())
    }

    /// Opens a tab: its query is the filter.
    pub fn open_tab(&mut self, at: usize) {
        let Some(query) = self.tabs.saved.get(at).map(|saved| saved.query.clone()) else { return };
        self.tabs.at = at;
        self.lists.findings.filter = query;
        self.lists.findings.earlier.clear();
        self.apply_filter(Pane::Findings);
        self.dirty = true;
    }

    /// Opens the next tab, or one before; they form a ring.
    pub fn walk_saved(&mut self, by: isize) {
        let most = self.tabs.saved.len();
        if most > 0 {
            let chosen = self.tabs.chosen(&self.lists.findings.filter);
            // From an edited query the first step goes back to the tab it began with.
            let at = chosen.map_or(self.tabs.at, |at| (at as isize + by).rem_euclid(most as isize) as usize);
            self.open_tab(at);
        }
    }

    /// Saves the present query of the findings as a tab, after the present one; a tab of this name gets the query.
    ///
    /// # Errors
    /// There is no query, or no name.
    pub fn save_tab(&mut self, name: &str, effects: &mut Vec<Effect>) -> Result<(), String> {
        let (name, query) = (name.trim(), self.lists.findings.filter.trim().to_owned());
        if name.is_empty() {
            return Err("a tab needs a name".to_owned());
        }
        if query.is_empty() {
            return Err("there is no filter to save".to_owned());
        }
        let tabs = &mut self.tabs;
        match tabs.saved.iter().position(|saved| saved.name.eq_ignore_ascii_case(name)) {
            Some(at) => {
                tabs.saved[at].query = query;
                tabs.at = at;
            }
            None => {
                tabs.at = (tabs.at + 1).min(tabs.saved.len());
                tabs.saved.insert(tabs.at, Saved { name: name.to_owned(), query });
            }
        }
        self.tabs_changed(effects);
        Ok(())
    }

    /// Renames the tab opened last.
    ///
    /// # Errors
    /// There is none, or another has this name.
    pub fn rename_tab(&mut self, name: &str, effects: &mut Vec<Effect>) -> Result<(), String> {
        let (name, at) = (name.trim(), self.tabs.at);
        if name.is_empty() {
            return Err("a tab needs a name".to_owned());
        }
        let taken = |(other, saved): (usize, &Saved)| other != at && saved.name.eq_ignore_ascii_case(name);
        if self.tabs.saved.iter().enumerate().any(taken) {
            return Err(format!("there is a tab {name} already"));
        }
        let Some(saved) = self.tabs.saved.get_mut(at) else { return Err("there is no tab".to_owned()) };
        saved.name = name.to_owned();
        self.tabs_changed(effects);
        Ok(())
    }

    /// Deletes the tab opened last; the filter stays. Returns it.
    ///
    /// # Errors
    /// There is none.
    pub fn delete_tab(&mut self, effects: &mut Vec<Effect>) -> Result<Saved, String> {
        let at = self.tabs.at;
        if at >= self.tabs.saved.len() {
            return Err("there is no tab".to_owned());
        }
        let gone = self.tabs.saved.remove(at);
        self.tabs.at = at.min(self.tabs.saved.len().saturating_sub(1));
        self.tabs_changed(effects);
        Ok(gone)
    }

    fn tabs_changed(&mut self, effects: &mut Vec<Effect>) {
        self.tabs.stale = true;
        self.dirty = true;
        let value = serde_json::to_string(&self.tabs.saved).unwrap_or_default();
        self.remember(TABS, value, effects);
    }

    /// Keeps a query that was typed, to be brought back with up.
    pub(super) fn typed(&mut self, pane: Pane, text: &str, effects: &mut Vec<Effect>) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let typed = self.tabs.typed.entry(pane.kind().word().to_owned()).or_default();
        typed.retain(|one| one != text);
        typed.push(text.to_owned());
        let too_many = typed.len().saturating_sub(MOST_TYPED);
        typed.drain(..too_many);
        let value = serde_json::to_string(&self.tabs.typed).unwrap_or_default();
        self.remember(HISTORY, value, effects);
    }

    /// Keeps one setting of a kind, in a workspace by name or in all (empty).
    pub(super) fn remember_one(
        &mut self,
        (of, name): (&'static str, &str),
        workspace: Shared,
        value: Option<&str>,
        effects: &mut Vec<Effect>,
    ) {
        // What was taken off is told too: another dashboard may have it still.
        let value = serde_json::to_string(&value).unwrap_or_default();
        self.triage.settings.insert((setting(of, name), workspace.clone()), value.clone());
        effects.push(Effect::RememberOne { of, name: name.into(), workspace, value });
    }

    /// The settings of a kind that were not taken off: name and value.
    pub(super) fn settings_of(&self, of: &'static str, workspace: &Shared) -> Vec<(String, String)> {
        let kept = self.triage.settings.iter().filter(|((_, place), _)| place == workspace);
        let named = kept.filter_map(|((key, _), json)| Some((key.strip_prefix(of)?.strip_prefix(':')?, json)));
        named
            .filter_map(|(name, json)| Some((name.to_owned(), serde_json::from_str::<Option<String>>(json).ok()??)))
            .collect()
    }

    pub(super) fn remember(&mut self, key: &'static str, value: String, effects: &mut Vec<Effect>) {
        let Some(workspace) = self.workspace().map(|workspace| workspace.name.clone()) else { return };
        self.triage.settings.insert((key.into(), workspace.clone()), value.clone());
        effects.push(Effect::Remember { key, workspace, value });
    }

    /// Takes up the tabs and typed queries of the workspace worked in, and opens Undecided.
    pub(super) fn load_tabs(&mut self) {
        let workspace = self.workspace().map(|workspace| workspace.name.clone()).unwrap_or_default();
        let setting = |key: &str| self.triage.settings.get(&(Shared::from(key), workspace.clone()));
        let mut tabs = Tabs::default();
        // A setting that cannot be read is as if there were none.
        let saved: Option<Vec<Saved>> = setting(TABS).and_then(|json| serde_json::from_str(json).ok());
        let typed = setting(HISTORY).and_then(|json| serde_json::from_str(json).ok());
        if let Some(mut saved) = saved {
            saved.retain(|saved| Query::parse(&saved.query, Kind::Findings).is_ok());
            tabs.at = saved.iter().position(|saved| saved.query == "is:undecided").unwrap_or(0);
            tabs.saved = saved;
        }
        tabs.typed = typed.unwrap_or_default();
        let untouched =
            self.lists.findings.filter.is_empty() || self.tabs.chosen(&self.lists.findings.filter).is_some();
        let at = tabs.at;
        self.tabs = tabs;
        if untouched && !self.lists.findings.held {
            self.open_tab(at);
        }
        self.load_alerts();
        self.load_own_addresses();
        self.load_since();
    }

    /// Counts the tabs anew where that is due.
    pub(super) fn count_tabs(&mut self) {
        if !std::mem::take(&mut self.tabs.stale) {
            return;
        }
        let Some(table) = self.data.findings.value().cloned() else {
            self.tabs.counts.clear();
            return;
        };
        let queries: Vec<Query> = self.tabs.saved.iter().map(|saved| query_of(&saved.query, Kind::Findings)).collect();
        let counts = self.asking(
            &table,
            |lists| &mut lists.findings,
            |model, _, asked| {
                let source = model.triaged(&table);
                queries.iter().map(|query| asked.matches(query, &source).count()).collect()
            },
        );
        self.dirty |= self.tabs.counts != counts;
        self.tabs.counts = counts;
    }
}
