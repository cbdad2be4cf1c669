//! A review: what was shown, frozen into cards that are decided one after another.
//!
//! ```text
//!   B ─► Cards (frozen) ─► card 1 … card n ─► summary ─► ended, or everything undone
//!          │                 │ verdict: decided, on to the next     esc pauses, B goes on
//!          └ kept            └ Progress: kept after every step      polls annotate, never reorder
//! ```
//!
//! What a card shows beside its frozen members is in `facts`; its keys are in `findings/review`.

pub mod facts;
pub mod open;

use crate::contract::Shared;
use crate::dashboard::base::{Focus, Tab};
use crate::dashboard::list::FindingGroupBy;
use crate::triage::{CaseId, EventId, TriageState, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use crate::dashboard::model::ReviewFacts;

/// The tabs of a card.
pub const TABS: [Tab; 5] = [Tab::Overview, Tab::Evidence, Tab::Where, Tab::References, Tab::History];
/// Stands for the summary where a row is named by a number.
pub const SUMMARY: i64 = i64::MIN;

/// The frozen cards.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cards {
    /// When it was begun, in seconds since 1970: ties the progress to it.
    pub begun: i64,
    /// In the order in which they were shown.
    pub cards: Vec<Card>,
}

/// One card: a group, or a single finding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// What its members have in common; none on a card of a single finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<FindingGroupBy>,
    /// The same exactly.
    #[serde(default)]
    pub key: Shared,
    /// For people.
    pub title: Shared,
    /// The numbers of its members' ids.
    pub ids: Vec<i64>,
}

/// How far a review got.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReviewProgress {
    /// Of which cards.
    pub begun: i64,
    /// The card that is shown; one more than there are: the summary.
    pub at: usize,
    /// What was decided on a card, the last one last.
    pub decided: BTreeMap<usize, Vec<Decided>>,
    /// Cards that were passed without a decision.
    pub skipped: BTreeSet<usize>,
    /// Members left out of a card.
    pub out: BTreeMap<usize, BTreeSet<i64>>,
}

/// One decision on a card.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decided {
    /// What was said.
    pub verdict: Verdict,
    /// About how many findings.
    pub count: usize,
    /// The batch; none where all of it stood already.
    pub batch: Option<EventId>,
}

/// A review under way, on the screen or paused.
#[derive(Clone, Debug, Default)]
pub struct Review {
    /// See [`Cards`].
    pub cards: Arc<Cards>,
    /// See [`ReviewProgress`].
    pub progress: ReviewProgress,
    /// It is on the screen; where the focus was before.
    pub open: Option<Focus>,
    /// The tab that is shown.
    pub tab: Tab,
    /// The member under the cursor of the tab Where.
    pub row: usize,
    /// What the present card shows.
    pub facts: Arc<ReviewFacts>,
}

/// What came of a review so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewOutcome {
    /// Cards and findings by verdict, in the order of menus.
    pub verdicts: Vec<(Verdict, usize, usize)>,
    /// Cards that were passed.
    pub skipped: usize,
    /// Findings on cards without a decision.
    pub left: usize,
    /// Findings left out of the decision on their card.
    pub out: usize,
    /// The batches that count, the newest first.
    pub batches: Vec<EventId>,
}

impl ReviewOutcome {
    /// Cards that were decided.
    pub fn decided(&self) -> usize {
        self.verdicts.iter().map(|(_, cards, _)| cards).sum()
    }
}

impl Review {
    /// A review of these cards, at its first one.
    pub fn new(cards: Cards) -> Self {
        let progress = ReviewProgress { begun: cards.begun, ..ReviewProgress::default() };
        Self { cards: Arc::new(cards), progress, tab: Tab::Overview, ..Self::default() }
    }

    /// As it was kept.
    pub fn kept(cards: Cards, progress: ReviewProgress) -> Option<Self> {
        let mut review = Self::new(cards);
        if progress.begun == review.cards.begun {
            review.progress = progress;
            review.progress.at = review.progress.at.min(review.len());
        }
        (!review.is_empty()).then_some(review)
    }

    /// How many cards there are.
    pub fn len(&self) -> usize {
        self.cards.cards.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The card that is shown; none on the summary.
    pub fn card(&self) -> Option<&Card> {
        self.cards.cards.get(self.progress.at)
    }

    /// The number that names what is shown, for the guard against early keys and for drawing.
    pub fn row_id(&self) -> i64 {
        self.card().and_then(|card| card.ids.first().copied()).unwrap_or(SUMMARY)
    }

    /// Whether a member of the present card is left out.
    pub fn is_out(&self, id: CaseId) -> bool {
        self.progress.out.get(&self.progress.at).is_some_and(|out| out.contains(&id.0))
    }

    /// The members of the present card that a verdict decides, as far as they are still known.
    pub fn taken(&self) -> Vec<CaseId> {
        self.facts.cases.iter().map(|case| case.id).filter(|&id| !self.is_out(id)).collect()
    }

    /// The decision on a card that counts.
    pub fn decided(&self, card: usize, state: &TriageState) -> Option<Decided> {
        let decided = self.progress.decided.get(&card)?;
        decided.iter().rev().find(|one| one.batch.is_none_or(|batch| !state.is_undone(batch))).copied()
    }

    /// What came of it so far.
    pub fn outcome(&self, state: &TriageState) -> ReviewOutcome {
        let mut outcome = ReviewOutcome {
            left: self.cards.cards.iter().map(|card| card.ids.len()).sum(),
            ..ReviewOutcome::default()
        };
        let mut verdicts: BTreeMap<Verdict, (usize, usize)> = BTreeMap::new();
        for (&at, all) in &self.progress.decided {
            outcome.batches.extend(all.iter().filter_map(|one| one.batch).filter(|&batch| !state.is_undone(batch)));
            let Some(decided) = self.decided(at, state) else { continue };
            let (cards, findings) = verdicts.entry(decided.verdict).or_default();
            *cards += 1;
            *findings += decided.count;
            outcome.left -= self.cards.cards.get(at).map_or(0, |card| card.ids.len());
            outcome.out += self.progress.out.get(&at).map_or(0, BTreeSet::len);
        }
        outcome.verdicts =
            verdicts.into_iter().map(|(verdict, (cards, findings))| (verdict, cards, findings)).collect();
        outcome.skipped = self.progress.skipped.iter().filter(|&&at| self.decided(at, state).is_none()).count();
        outcome.batches.sort();
        outcome.batches.reverse();
        outcome
    }
}
