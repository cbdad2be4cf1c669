//! Saved queries of the findings as tabs with counts, per workspace; and the history of typed
//! queries.

use crate::base::{Effect, Pane};
use crate::data::{HISTORY, MOST_TYPED, Saved, TABS, Tabs, UNDECIDED};
use crate::input::{Action, Context, ViewAction};
use crate::model::Model;
use scandeck_domain::query::{ParseError, Query, QueryKind, SortKey};

impl Model {
    /// Applies another filter.
    pub(crate) fn apply_filter(&mut self, pane: Pane) {
        self.keep_no_rows(pane);
        self.forget_place(pane);
        self.show_rows(pane);
    }

    /// Filters a pane, unless the text has a syntax error.
    pub fn set_query(&mut self, pane: Pane, text: &str) -> Result<(), ParseError> {
        Query::parse(text, pane.kind())?;
        let before = std::mem::replace(self.cursor(pane).filter().0, text.to_owned());
        if before != text {
            if !before.is_empty() {
                self.cursor(pane).filter().1.push(before);
            }
            self.apply_filter(pane);
        }
        Ok(())
    }

    /// Orders a pane by several fields: `risk,-age`. An empty text restores the named order.
    pub fn set_order(&mut self, pane: Pane, text: &str) -> Result<(), ParseError> {
        let keys = match text.trim() {
            "" => Vec::new(),
            text => SortKey::parse_all(text, pane.kind())?,
        };
        let why_not = match pane {
            Pane::Captures => Some("captures are always sorted by time"),
            Pane::Board => Some("the board can only be sorted by its own orders"),
            _ => None,
        };
        if let Some(why_not) = why_not {
            return Err(ParseError::new(0..text.len(), why_not));
        }
        self.lists.set_order(pane, keys);
        self.show_rows(pane);
        Ok(())
    }

    /// Opens a tab: its query is the filter.
    pub fn open_tab(&mut self, at: usize) {
        let Some(query) = self
            .settings
            .tabs
            .saved
            .get(at)
            .map(|saved| saved.query.clone())
        else {
            return;
        };
        self.settings.tabs.at = at;
        self.lists.findings.filter = query;
        self.lists.findings.earlier.clear();
        self.apply_filter(Pane::Findings);
    }

    /// Opens the next or previous tab, around the ends.
    pub fn walk_saved(&mut self, by: isize) {
        let most = self.settings.tabs.saved.len();
        if most > 0 {
            let chosen = self.settings.tabs.chosen(&self.lists.findings.filter);
            // From an edited query, the first step returns to its tab.
            let at = chosen.map_or(self.settings.tabs.at, |at| {
                (at as isize + by).rem_euclid(most as isize) as usize
            });
            self.open_tab(at);
        }
    }

    /// Saves the present query of the findings as a tab, after the present one; a tab of this name
    /// gets the query.
    ///
    /// # Errors
    /// There is no query, or no name.
    pub fn save_tab(&mut self, name: &str, effects: &mut Vec<Effect>) -> Result<(), String> {
        let (name, query) = (name.trim(), self.lists.findings.filter.trim().to_owned());
        if name.is_empty() {
            return Err("tab name is missing".to_owned());
        }
        if query.is_empty() {
            return Err("no filter to save".to_owned());
        }
        let tabs = &mut self.settings.tabs;
        match tabs
            .saved
            .iter()
            .position(|saved| saved.name.eq_ignore_ascii_case(name))
        {
            Some(at) => {
                tabs.saved[at].query = query;
                tabs.at = at;
            }
            None => {
                tabs.at = (tabs.at + 1).min(tabs.saved.len());
                tabs.saved.insert(
                    tabs.at,
                    Saved {
                        name: name.to_owned(),
                        query,
                    },
                );
            }
        }
        self.tabs_changed(effects);
        Ok(())
    }

    /// The tab on the screen.
    ///
    /// # Errors
    /// The filter does not contain the query of the tab opened last.
    fn current_tab(&self) -> Result<usize, String> {
        self.settings
            .tabs
            .chosen(&self.lists.findings.filter)
            .ok_or_else(|| {
                let key = |action| self.key_label(Context::Everywhere, Action::View(action));
                let [left, right] = [key(ViewAction::PreviousTab), key(ViewAction::NextTab)];
                format!("no current tab · {left} or {right} in the findings opens a tab")
            })
    }

    /// Renames the current tab, and returns its former name.
    pub fn rename_tab(&mut self, name: &str, effects: &mut Vec<Effect>) -> Result<String, String> {
        let (name, at) = (name.trim(), self.current_tab()?);
        if name.is_empty() {
            return Err("tab name is missing".to_owned());
        }
        let taken =
            |(other, saved): (usize, &Saved)| other != at && saved.name.eq_ignore_ascii_case(name);
        if self.settings.tabs.saved.iter().enumerate().any(taken) {
            return Err(format!("tab {name} already exists"));
        }
        let Some(saved) = self.settings.tabs.saved.get_mut(at) else {
            return Err("no current tab".to_owned());
        };
        let former = std::mem::replace(&mut saved.name, name.to_owned());
        self.tabs_changed(effects);
        Ok(former)
    }

    /// Deletes the tab of this name and returns it. The filter remains.
    pub fn delete_tab(&mut self, name: &str, effects: &mut Vec<Effect>) -> Option<Saved> {
        let at = self
            .settings
            .tabs
            .saved
            .iter()
            .position(|saved| saved.name == name)?;
        let deleted = self.settings.tabs.saved.remove(at);
        self.settings.tabs.at = at.min(self.settings.tabs.saved.len().saturating_sub(1));
        self.tabs_changed(effects);
        Some(deleted)
    }

    /// The current tab.
    pub fn chosen_tab(&self) -> Result<&Saved, String> {
        let at = self.current_tab()?;
        self.settings
            .tabs
            .saved
            .get(at)
            .ok_or_else(|| "no current tab".to_owned())
    }

    fn tabs_changed(&mut self, effects: &mut Vec<Effect>) {
        self.settings.revision += 1;
        let saved = self.settings.tabs.saved.clone();
        self.remember_here(TABS, &saved, effects);
    }

    /// Adds a query to the history.
    pub(crate) fn typed(&mut self, pane: Pane, text: &str, effects: &mut Vec<Effect>) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let typed = self
            .settings
            .tabs
            .typed
            .entry(pane.kind().as_str().to_owned())
            .or_default();
        typed.retain(|one| one != text);
        typed.push(text.to_owned());
        let too_many = typed.len().saturating_sub(MOST_TYPED);
        typed.drain(..too_many);
        let typed = self.settings.tabs.typed.clone();
        self.remember_here(HISTORY, &typed, effects);
    }

    /// Loads the tabs and the query history of the current workspace, and opens Undecided.
    pub(crate) fn load_tabs(&mut self) {
        let workspace = self.workspace_name();
        let mut tabs = Tabs::default();
        if let Some(mut saved) = self.setting::<Vec<Saved>>(TABS, &workspace) {
            saved.retain(|saved| Query::parse(&saved.query, QueryKind::Findings).is_ok());
            tabs.at = saved
                .iter()
                .position(|saved| [UNDECIDED, "is:undecided"].contains(&saved.query.as_str()))
                .unwrap_or(0);
            tabs.saved = saved;
        }
        tabs.typed = self.setting(HISTORY, &workspace).unwrap_or_default();
        let untouched = self.lists.findings.filter.is_empty()
            || self
                .settings
                .tabs
                .chosen(&self.lists.findings.filter)
                .is_some();
        let at = tabs.at;
        self.settings.tabs = tabs;
        self.settings.revision += 1;
        if untouched && !self.lists.findings.held {
            self.open_tab(at);
        }
        if self.keyboard.key.is_none() || !self.lists.findings.held {
            self.restore_view();
        }
        self.load_alerts();
        self.load_own_addresses();
        self.load_since();
    }
}
