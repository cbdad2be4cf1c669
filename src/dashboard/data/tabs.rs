//! Saved queries of the findings, and the queries typed before.

use crate::dashboard::base::Pane;
use crate::query::{QueryKind, query_of};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name under which the tabs are remembered.
pub(crate) const TABS: &str = "tabs";

/// Name under which the typed queries are remembered.
pub(crate) const HISTORY: &str = "queries";

/// Most typed queries that are remembered of a list.
pub(crate) const MOST_TYPED: usize = 50;

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
    pub(crate) stale: bool,
    /// Queries typed before, of each list, the newest last.
    pub(crate) typed: BTreeMap<String, Vec<String>>,
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

impl Tabs {
    /// The tab in use: the one opened last, as long as everything it asks for is still asked for.
    pub fn chosen(&self, filter: &str) -> Option<usize> {
        let query = query_of(filter, QueryKind::Findings);
        let saved = query_of(&self.saved.get(self.at)?.query, QueryKind::Findings);
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
