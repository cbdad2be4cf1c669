//! A review: the shown findings as frozen cards, which are decided one after another.
//!
//! ```text
//!   B ─► Cards (frozen) ─► card 1 … card n ─► summary ─► ended, or everything undone
//!          │                 │ verdict: decided, next card          esc pauses, B resumes
//!          └ saved           └ Progress: saved after every step     polls annotate, never reorder
//! ```
//!
//! `facts` has the data that a card shows beside its frozen findings; the keys are in
//! `findings/review`.

pub mod facts;
pub mod open;

use crate::base::{Focus, RowRef, Tab};
use crate::list::FindingGroupBy;
use scandeck_domain::triage::{EventId, Issue, IssueId, TriageState, Verdict};
use scandeck_wire::contract::{ScanId, Shared, TargetId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use crate::model::ReviewFacts;

/// The tabs of a card.
pub const TABS: [Tab; 5] = [
    Tab::Overview,
    Tab::Evidence,
    Tab::Where,
    Tab::References,
    Tab::History,
];

/// The frozen cards.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cards {
    /// Start time in seconds since 1970, which identifies the review of a progress.
    pub begun: i64,
    /// The grouping, the filter and the scope of the list at that time.
    pub list: ReviewedList,
    /// In the order in which they were shown.
    pub cards: Vec<Card>,
}

/// The part of the findings that a review was made of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReviewedList {
    /// The grouping that made the cards.
    pub by: FindingGroupBy,
    pub filter: String,
    pub target: Option<TargetId>,
    pub scan: Option<ScanId>,
}

/// One card: a group, or a single finding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// The grouping; none on a card of a single finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<FindingGroupBy>,
    /// The common value.
    #[serde(default)]
    pub key: Shared,
    /// The common value for display.
    pub title: Shared,
    /// Ids of the findings.
    pub ids: Vec<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReviewProgress {
    /// Start time of the review.
    pub begun: i64,
    /// The current card; the number of cards in the summary.
    pub at: usize,
    /// The card that was shown before the summary.
    pub before_summary: usize,
    /// Decisions by card, the latest last.
    pub decided: BTreeMap<usize, Vec<Decided>>,
    /// Cards that were skipped.
    pub skipped: BTreeSet<usize>,
    /// Findings excluded from a card.
    pub out: BTreeMap<usize, BTreeSet<i64>>,
}

/// One decision on a card.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decided {
    pub verdict: Verdict,
    /// Number of findings.
    pub count: usize,
    /// The batch; none if nothing changed.
    pub batch: Option<EventId>,
}

/// A review under way, on the screen or paused.
#[derive(Clone, Debug, Default)]
pub struct Review {
    pub cards: Arc<Cards>,
    pub progress: ReviewProgress,
    /// The focus before the review was opened; none while it is paused.
    pub open: Option<Focus>,
    pub tab: Tab,
    /// The selected finding of the tab Where.
    pub row: usize,
    pub facts: Arc<ReviewFacts>,
}

/// The results of a review so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewOutcome {
    /// Cards and findings by verdict, in the order of menus.
    pub verdicts: Vec<(Verdict, usize, usize)>,
    pub skipped: usize,
    /// Undecided findings on cards without a decision.
    pub left: usize,
    /// Findings on cards without a decision that were decided since the review started.
    pub decided_outside: usize,
    /// Findings excluded from the decision on their card.
    pub out: usize,
    /// The batches that are not undone, the newest first.
    pub batches: Vec<EventId>,
}

impl ReviewOutcome {
    pub fn decided(&self) -> usize {
        self.verdicts.iter().map(|(_, cards, _)| cards).sum()
    }
}

impl Review {
    pub fn new(cards: Cards) -> Self {
        let progress = ReviewProgress {
            begun: cards.begun,
            ..ReviewProgress::default()
        };
        Self {
            cards: Arc::new(cards),
            progress,
            tab: Tab::Overview,
            ..Self::default()
        }
    }

    /// Restores a saved review.
    pub fn restored(cards: Cards, progress: ReviewProgress) -> Option<Self> {
        let mut review = Self::new(cards);
        if progress.begun == review.cards.begun {
            review.progress = progress;
            review.progress.at = review.progress.at.min(review.len());
        }
        (!review.is_empty()).then_some(review)
    }

    /// The number of cards.
    pub fn len(&self) -> usize {
        self.cards.cards.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The current card; none in the summary.
    pub fn card(&self) -> Option<&Card> {
        self.cards.cards.get(self.progress.at)
    }

    /// The row of the current card; the summary is none.
    pub fn row(&self) -> Option<RowRef> {
        self.card()?.ids.first().copied().map(RowRef::Item)
    }

    /// Whether a finding of the current card is excluded.
    pub fn is_out(&self, id: IssueId) -> bool {
        self.progress
            .out
            .get(&self.progress.at)
            .is_some_and(|out| out.contains(&id.0))
    }

    /// The findings of the current card that a verdict decides.
    pub fn included(&self) -> Vec<IssueId> {
        self.facts
            .issues
            .iter()
            .map(|issue| issue.id)
            .filter(|&id| !self.is_out(id))
            .collect()
    }

    /// The finding of the card that is explained: on the tab Where the selected one, on the other
    /// tabs the first one, which they show.
    pub fn issue_at_hand(&self) -> Option<&Arc<Issue>> {
        let row = if self.tab == Tab::Where { self.row } else { 0 };
        self.facts.issues.get(row)
    }

    /// The latest decision on a card that is not undone.
    pub fn decided(&self, card: usize, state: &TriageState) -> Option<Decided> {
        let decided = self.progress.decided.get(&card)?;
        decided
            .iter()
            .rev()
            .find(|one| one.batch.is_none_or(|batch| !state.is_undone(batch)))
            .copied()
    }

    /// The first undecided card.
    pub fn first_undecided(&self, state: &TriageState) -> Option<usize> {
        (0..self.len()).find(|&card| self.decided(card, state).is_none())
    }

    pub fn outcome(&self, state: &TriageState) -> ReviewOutcome {
        let mut outcome = ReviewOutcome::default();
        for (at, card) in self
            .cards
            .cards
            .iter()
            .enumerate()
            .filter(|(at, _)| self.decided(*at, state).is_none())
        {
            let decided_outside = self.facts.decided_outside.get(&at).copied().unwrap_or(0);
            outcome.decided_outside += decided_outside;
            outcome.left += card.ids.len() - decided_outside;
        }
        let mut verdicts: BTreeMap<Verdict, (usize, usize)> = BTreeMap::new();
        for (&at, all) in &self.progress.decided {
            outcome.batches.extend(
                all.iter()
                    .filter_map(|one| one.batch)
                    .filter(|&batch| !state.is_undone(batch)),
            );
            let Some(decided) = self.decided(at, state) else {
                continue;
            };
            let (cards, findings) = verdicts.entry(decided.verdict).or_default();
            *cards += 1;
            *findings += decided.count;
            outcome.out += self.progress.out.get(&at).map_or(0, BTreeSet::len);
        }
        outcome.verdicts = verdicts
            .into_iter()
            .map(|(verdict, (cards, findings))| (verdict, cards, findings))
            .collect();
        outcome.skipped = self
            .progress
            .skipped
            .iter()
            .filter(|&&at| self.decided(at, state).is_none())
            .count();
        outcome.batches.sort();
        outcome.batches.reverse();
        outcome
    }
}
