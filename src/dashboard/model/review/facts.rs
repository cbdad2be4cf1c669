//! What a card shows of its members now: where they are, how new, which have the same evidence, what was decided before.

use crate::contract::{Shared, Stamp};
use crate::dashboard::data::Triage;
use crate::dashboard::list::groups::group_keys::belongs;
use crate::dashboard::model::{Card, Review};
use crate::table::Table;
use crate::triage::defaults::note_beside;
use crate::triage::{Case, CaseId, Change, Event, EventId, Presence, Reason, Subject, TriageState, Verdict, alike};
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Evidence of at most so many bytes is compared on one card.
const MOST: usize = 1024 * 1024;
/// Places that are named for each kind of evidence.
const PLACES: usize = 3;
/// Said of findings without evidence.
pub const NOTHING: &str = "nothing";
/// The history of at most so many members is told.
const TOLD: usize = 500;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct ReviewFacts {
    /// The members that are still known, in the order of the card.
    pub cases: Vec<Arc<Case>>,
    /// How many are not known any more.
    pub gone: usize,
    /// How many of the same kind came since.
    pub more: usize,
    /// How many by presence, in the order of [`Presence::ALL`].
    pub presence: [usize; 6],
    /// On how many targets.
    pub targets: usize,
    /// Which have the same evidence, the most first.
    pub evidence: Arc<ReviewEvidence>,
    /// The decision before on the same class.
    pub before: Option<Before>,
    /// What was done to the members, the latest first.
    pub history: Vec<Done>,
    /// What they are made of.
    basis: ReviewBasis,
}

/// What facts depend on.
#[derive(Clone, Debug, Default)]
struct ReviewBasis {
    at: usize,
    table: Option<Arc<Table<Case>>>,
    events: usize,
}

/// Kinds of evidence on a card.
#[derive(Clone, Debug, Default)]
pub struct ReviewEvidence {
    /// The most frequent first.
    pub kinds: Vec<Alike>,
    /// How many members were looked at: the first ones, where there is too much to compare.
    pub looked_at: usize,
}

/// Members with the same evidence.
#[derive(Clone, Debug)]
pub struct Alike {
    /// How many.
    pub count: usize,
    /// One of them.
    pub example: Arc<Case>,
    /// What tells it from the most frequent kind; of that kind its first line.
    pub says: String,
    /// The first few, for naming where they are.
    pub places: Vec<Arc<Case>>,
}

/// The decision before.
#[derive(Clone, Debug, PartialEq)]
pub struct Before {
    pub verdict: Verdict,
    pub reason: Option<Reason>,
    pub until: Option<Date>,
    /// The note written with it.
    pub note: Option<Shared>,
    pub who: Shared,
    pub at: Stamp,
    /// The workspace it was made in.
    pub workspace: Shared,
    /// On how many findings of the class.
    pub count: usize,
}

/// One batch about members of a card.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    pub batch: EventId,
    pub at: Stamp,
    pub who: Shared,
    /// About how many members.
    pub count: usize,
}

impl ReviewFacts {
    /// Whether they are still what they would be made anew.
    pub fn fit(&self, at: usize, table: &Arc<Table<Case>>, state: &TriageState) -> bool {
        self.is_of(at, table) && self.basis.events == state.len()
    }

    /// All of them are of one class.
    pub fn is_one_class(&self) -> bool {
        self.cases.windows(2).all(|two| two[0].class() == two[1].class())
    }

    fn is_of(&self, at: usize, table: &Arc<Table<Case>>) -> bool {
        self.basis.at == at && self.basis.table.as_ref().is_some_and(|was| Arc::ptr_eq(was, table))
    }

    /// Of the present card of a review.
    pub fn of(review: &Review, table: &Arc<Table<Case>>, triage: &Triage) -> Self {
        let (at, state) = (review.progress.at, &triage.state);
        let basis = ReviewBasis { at, table: Some(Arc::clone(table)), events: state.len() };
        let Some(card) = review.card() else { return Self { basis, ..Self::default() } };
        let cases: Vec<Arc<Case>> = card.ids.iter().filter_map(|&id| table.get(CaseId(id)).cloned()).collect();
        let evidence = match review.facts.is_of(at, table) {
            true => Arc::clone(&review.facts.evidence),
            false => Arc::new(evidence(&cases)),
        };
        let here = review.progress.decided.get(&at).map(Vec::as_slice).unwrap_or_default();
        let made_here = |batch: EventId| here.iter().any(|decided| decided.batch == Some(batch));
        let (gone, more) = (card.ids.len() - cases.len(), more(card, table));
        Self { gone, more, evidence, basis, ..Self::told(cases, triage, made_here) }
    }

    /// Of any findings.
    pub fn of_members(cases: Vec<Arc<Case>>, triage: &Triage) -> Self {
        let evidence = Arc::new(evidence(&cases));
        Self { evidence, ..Self::told(cases, triage, |_| false) }
    }

    /// All but what depends on where the findings stand; the decision before is none that `made_here` knows.
    fn told(cases: Vec<Arc<Case>>, triage: &Triage, made_here: impl Fn(EventId) -> bool) -> Self {
        let mut presence = [0; 6];
        let mut targets = BTreeSet::new();
        for case in &cases {
            presence[Presence::ALL.iter().position(|&one| one == case.presence).unwrap_or(1)] += 1;
            targets.insert((case.target_id, &case.identity.asset));
        }
        let targets = targets.len();
        let before = cases.first().and_then(|case| Before::on(case.class(), triage, made_here));
        let history = history(&cases, &triage.state);
        Self { cases, presence, targets, before, history, ..Self::default() }
    }
}

impl Before {
    /// The newest decision on a class that counts, expired or replaced ones too, but for those of some batches.
    fn on(class: &Shared, triage: &Triage, but: impl Fn(EventId) -> bool) -> Option<Self> {
        let state = &triage.state;
        let (event, decision) = triage.defaults.decisions(state, class).find(|(event, _)| !but(event.batch))?;
        let of_class = |event: &&Arc<Event>| match (&event.subject, &event.change) {
            (Subject::Finding(identity), Change::Decide(_)) => identity.class == *class,
            _ => false,
        };
        Some(Self {
            verdict: decision.verdict,
            reason: decision.reason,
            until: decision.until,
            note: note_beside(state, event),
            who: event.who.clone(),
            at: event.at,
            workspace: event.workspace.clone(),
            count: state.batch(event.batch).iter().filter(of_class).count(),
        })
    }
}

/// Findings that would be on this card if it were made now, and are not.
fn more(card: &Card, table: &Table<Case>) -> usize {
    let Some(by) = card.by else { return 0 };
    let known: BTreeSet<i64> = card.ids.iter().copied().collect();
    table.items().iter().filter(|case| belongs(by, case, &card.key) && !known.contains(&case.id.0)).count()
}

fn evidence(cases: &[Arc<Case>]) -> ReviewEvidence {
    let mut kinds: HashMap<u64, (Vec<String>, Vec<&Arc<Case>>)> = HashMap::new();
    let (mut bytes, mut looked_at) = (0, 0);
    for case in cases {
        bytes += case.vuln_evidence.as_json().len();
        if bytes > MOST && looked_at > 0 {
            break;
        }
        looked_at += 1;
        let lines = alike::lines(case);
        kinds.entry(alike::digest(&lines)).or_insert_with(|| (lines, Vec::new())).1.push(case);
    }
    let mut kinds: Vec<_> = kinds.into_values().collect();
    let place = |cases: &[&Arc<Case>]| cases.first().map(|case| case.id);
    kinds.sort_by_key(|(_, of)| (std::cmp::Reverse(of.len()), place(of)));
    let defaults: Vec<String> = kinds.first().map(|(lines, _)| lines.clone()).unwrap_or_default();
    let kinds = kinds.into_iter().enumerate().filter_map(|(at, (lines, of))| {
        let says = if at == 0 { lines.first() } else { lines.iter().find(|line| !defaults.contains(line)) };
        let less = || if lines.is_empty() { NOTHING } else { "the same with less" };
        Some(Alike {
            count: of.len(),
            example: Arc::clone(of.first()?),
            says: says.cloned().unwrap_or_else(|| less().to_owned()),
            places: of.iter().take(PLACES).map(|&case| Arc::clone(case)).collect(),
        })
    });
    ReviewEvidence { kinds: kinds.collect(), looked_at }
}

fn history(cases: &[Arc<Case>], state: &TriageState) -> Vec<Done> {
    let mut batches: BTreeMap<EventId, (Arc<Event>, BTreeSet<CaseId>)> = BTreeMap::new();
    for case in cases.iter().take(TOLD) {
        for event in state.history(case.key()) {
            let (_, about) = batches.entry(event.batch).or_insert_with(|| (Arc::clone(&event), BTreeSet::new()));
            about.insert(case.id);
        }
    }
    let mut done: Vec<_> = batches.into_iter().collect();
    done.sort_by_key(|(batch, (event, _))| std::cmp::Reverse((event.clock, *batch)));
    let told = |(batch, (event, about)): (EventId, (Arc<Event>, BTreeSet<CaseId>))| Done {
        batch,
        at: event.at,
        who: event.who.clone(),
        count: about.len(),
    };
    done.into_iter().map(told).collect()
}
