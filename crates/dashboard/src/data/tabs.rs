//! Saved queries of the findings, and the history of typed queries.

use crate::base::Pane;
use scandeck_domain::query::{QueryKind, query_of};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The setting that stores the tabs.
pub(crate) const TABS: &str = "tabs";

/// The setting that stores the typed queries.
pub(crate) const HISTORY: &str = "queries";

/// Most typed queries per list.
pub(crate) const MOST_TYPED: usize = 50;

/// The query of the tab that is opened first.
pub(crate) const UNDECIDED: &str = "is:undecided is:present";

/// A query with a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    pub name: String,
    pub query: String,
}

/// The tabs over the findings.
#[derive(Clone, Debug)]
pub struct Tabs {
    pub saved: Vec<Saved>,
    /// The number of findings of each tab; empty before the first count.
    pub counts: Vec<usize>,
    /// Whether a count includes only the findings whose long texts were searched so far.
    pub partial: Vec<bool>,
    /// The tab opened last.
    pub at: usize,
    /// Typed queries by list, the newest last.
    pub(crate) typed: BTreeMap<String, Vec<String>>,
}

impl Default for Tabs {
    fn default() -> Self {
        let of = |(name, query): (&str, &str)| Saved {
            name: name.to_owned(),
            query: query.to_owned(),
        };
        let saved = [
            ("New", "is:new"),
            ("Undecided", UNDECIDED),
            ("High+", "risk>=high is:present"),
            ("Confirmed", "verdict:confirmed is:present"),
            ("Accepted", "verdict:risk_accepted is:present"),
        ];
        Self {
            saved: saved.map(of).into(),
            counts: Vec::new(),
            partial: Vec::new(),
            at: 1,
            typed: BTreeMap::new(),
        }
    }
}

impl Tabs {
    /// The active tab: the one opened last, while the filter contains all parts of its query.
    pub fn chosen(&self, filter: &str) -> Option<usize> {
        let query = query_of(filter, QueryKind::Findings);
        let saved = query_of(&self.saved.get(self.at)?.query, QueryKind::Findings);
        let is_extended = saved
            .parts()
            .iter()
            .all(|part| query.parts().contains(part));
        (is_extended && !filter.is_empty() || saved.is_empty() && query.is_empty())
            .then_some(self.at)
    }

    /// Whether a filter is exactly the query of the tab opened last.
    pub fn is_plain(&self, filter: &str) -> bool {
        self.saved
            .get(self.at)
            .is_some_and(|saved| saved.query == filter)
    }

    /// The queries typed in a pane, the newest last.
    pub fn typed(&self, pane: Pane) -> &[String] {
        self.typed
            .get(pane.kind().as_str())
            .map(Vec::as_slice)
            .unwrap_or_default()
    }
}
