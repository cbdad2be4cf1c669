//! Current data of the findings of a card: targets, presence, common evidence, the previous
//! decision.

use crate::base::group_keys::belongs;
use crate::data::{ShownText, ShownTexts, Triage};
use crate::model::{Card, Cards, Review};
use jiff::civil::Date;
use scandeck_domain::table::Table;
use scandeck_domain::triage::defaults::note_beside;
use scandeck_domain::triage::{
    Assessment, Change, Decision, Event, EventId, Issue, IssueId, Presence, Reason, Subject,
    TriageState, Verdict, VerdictSource, evidence_digest,
};
use scandeck_wire::contract::{Shared, Stamp};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Most bytes of evidence that are compared per card.
const MOST: usize = 1024 * 1024;
/// Most findings whose evidence is compared.
pub const LOOKED_AT: usize = 500;
/// Most lines per kind of evidence, and most common lines.
const LINES: usize = 8;
/// Most earlier decisions on the class.
const EARLIER: usize = 5;
/// So many equal decisions in a row suggest a rule.
const EQUAL: usize = 3;
/// Shown for findings without evidence.
pub const NOTHING: &str = "nothing";
/// Most findings whose history is shown.
const MOST_HISTORIES: usize = 500;

#[derive(Clone, Debug, Default)]
pub struct ReviewFacts {
    /// The findings that still exist, in the order of the card.
    pub issues: Vec<Arc<Issue>>,
    /// The number of findings that no longer exist.
    pub absent: usize,
    /// The number of findings of the same group that appeared since.
    pub more: usize,
    /// Numbers by presence, in the order of [`Presence::ALL`].
    pub presence: [usize; 6],
    /// The number of targets.
    pub targets: usize,
    /// Findings by equal evidence, the largest group first.
    pub evidence: Arc<ReviewEvidence>,
    /// The previous decisions on the class, the latest first.
    pub earlier: Vec<Before>,
    /// The matches of a rule for the class, if the last decisions are equal.
    pub rule: Option<RulePreview>,
    /// Decisions on the findings, the latest first.
    pub history: Vec<Done>,
    /// Findings that were decided since the review started, by card.
    pub decided_outside: BTreeMap<usize, usize>,
    basis: ReviewBasis,
}

/// Inputs of the facts.
#[derive(Clone, Debug, Default)]
struct ReviewBasis {
    at: usize,
    table: Option<Arc<Table<Issue>>>,
    events: usize,
    /// The revision of the texts that were read.
    texts: u64,
}

#[derive(Clone, Debug, Default)]
pub struct ReviewEvidence {
    /// The most frequent first.
    pub kinds: Vec<Alike>,
    /// Lines that all compared findings have, if several kinds differ.
    pub common: Vec<String>,
    /// The number of findings compared; fewer than all if there is too much evidence.
    pub looked_at: usize,
    /// Why there is nothing yet, or not everything: texts are being read, or cannot be read.
    pub unread: Option<ShownText>,
}

/// Findings with the same evidence.
#[derive(Clone, Debug)]
pub struct Alike {
    pub count: usize,
    pub example: Arc<Issue>,
    /// The first line that differs from the most frequent kind; of that kind its first line that
    /// not all findings have.
    pub line: String,
    /// The first lines that not all findings have.
    pub own: Vec<String>,
    /// The number of further lines of this kind.
    pub hidden: usize,
    /// The findings with this evidence.
    pub issues: Vec<Arc<Issue>>,
}

/// The previous decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Before {
    pub verdict: Verdict,
    pub reason: Option<Reason>,
    pub until: Option<Date>,
    pub note: Option<Shared>,
    pub who: Shared,
    pub at: Stamp,
    pub workspace: Shared,
    /// The number of findings of the class.
    pub count: usize,
}

/// The findings that a rule for a class would match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RulePreview {
    pub findings: usize,
    /// Those that a person decided: their decisions remain.
    pub decided: usize,
    pub targets: usize,
}

/// A batch of decisions on findings of a card.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    pub batch: EventId,
    pub at: Stamp,
    pub who: Shared,
    /// The number of findings.
    pub count: usize,
}

impl ReviewFacts {
    /// Whether the inputs are unchanged.
    pub fn fit(
        &self,
        at: usize,
        table: &Arc<Table<Issue>>,
        state: &TriageState,
        shown: &ShownTexts,
    ) -> bool {
        self.is_of(at, table, shown) && self.basis.events == state.len()
    }

    pub fn is_one_class(&self) -> bool {
        self.issues
            .windows(2)
            .all(|two| two[0].class() == two[1].class())
    }

    /// Whether the findings have different names.
    pub fn has_different_names(&self) -> bool {
        self.issues.windows(2).any(|two| two[0].name != two[1].name)
    }

    /// Whether findings and decisions are unchanged.
    fn are_current(&self, table: &Arc<Table<Issue>>, state: &TriageState) -> bool {
        self.basis.events == state.len()
            && self
                .basis
                .table
                .as_ref()
                .is_some_and(|was| Arc::ptr_eq(was, table))
    }

    fn is_of(&self, at: usize, table: &Arc<Table<Issue>>, shown: &ShownTexts) -> bool {
        let has_texts = self.evidence.unread.is_none() || self.basis.texts == shown.revision;
        has_texts
            && self.basis.at == at
            && self
                .basis
                .table
                .as_ref()
                .is_some_and(|was| Arc::ptr_eq(was, table))
    }

    /// The facts of the current card of a review.
    pub fn of(
        review: &Review,
        table: &Arc<Table<Issue>>,
        triage: &Triage,
        shown: &ShownTexts,
    ) -> Self {
        let (at, state) = (review.progress.at, &triage.state);
        let basis = ReviewBasis {
            at,
            table: Some(Arc::clone(table)),
            events: state.len(),
            texts: shown.revision,
        };
        let decided_outside = match review.facts.are_current(table, state) {
            true => review.facts.decided_outside.clone(),
            false => decided_since(&review.cards, table, triage),
        };
        let Some(card) = review.card() else {
            return Self {
                decided_outside,
                basis,
                ..Self::default()
            };
        };
        let issues: Vec<Arc<Issue>> = card
            .ids
            .iter()
            .filter_map(|&id| table.get(IssueId(id)).cloned())
            .collect();
        let evidence = match review.facts.is_of(at, table, shown) {
            true => Arc::clone(&review.facts.evidence),
            false => Arc::new(evidence(&issues, shown)),
        };
        let here = review
            .progress
            .decided
            .get(&at)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let made_here = |batch: EventId| here.iter().any(|decided| decided.batch == Some(batch));
        let (absent, more) = (card.ids.len() - issues.len(), more(card, table));
        let facts = Self {
            absent,
            more,
            evidence,
            decided_outside,
            basis,
            ..Self::without_evidence(issues, triage, made_here)
        };
        let class = facts
            .repeated_decision()
            .and(facts.issues.first())
            .map(|issue| issue.class().clone());
        Self {
            rule: class.map(|class| RulePreview::of(&class, table, triage)),
            ..facts
        }
    }

    /// The facts of any findings.
    pub fn of_members(issues: Vec<Arc<Issue>>, triage: &Triage, shown: &ShownTexts) -> Self {
        let evidence = Arc::new(evidence(&issues, shown));
        Self {
            evidence,
            ..Self::without_evidence(issues, triage, |_| false)
        }
    }

    /// The facts without evidence. A decision of a batch that `made_here` accepts is not the
    /// previous one.
    fn without_evidence(
        issues: Vec<Arc<Issue>>,
        triage: &Triage,
        made_here: impl Fn(EventId) -> bool,
    ) -> Self {
        let mut presence = [0; 6];
        let mut targets = BTreeSet::new();
        for issue in &issues {
            presence[Presence::ALL
                .iter()
                .position(|&one| one == issue.presence)
                .unwrap_or(1)] += 1;
            targets.insert((issue.target_id(), &issue.identity.asset));
        }
        let targets = targets.len();
        let earlier = issues
            .first()
            .map(|issue| Before::on(issue.class(), triage, made_here))
            .unwrap_or_default();
        let history = history(&issues, &triage.state);
        Self {
            issues,
            presence,
            targets,
            earlier,
            history,
            ..Self::default()
        }
    }

    /// The last decision on the class, if the last three are equal: it can become a rule.
    pub fn repeated_decision(&self) -> Option<&Before> {
        let last = self.earlier.first()?;
        let is_equal =
            |other: &&Before| (other.verdict, other.reason) == (last.verdict, last.reason);
        (self.is_one_class() && self.earlier.iter().take_while(is_equal).count() >= EQUAL)
            .then_some(last)
    }
}

/// The number of findings of each card that a person or a rule decided since the review started.
fn decided_since(cards: &Cards, table: &Table<Issue>, triage: &Triage) -> BTreeMap<usize, usize> {
    let is_new = |id: &&i64| {
        let assessment = table
            .position(IssueId(**id))
            .and_then(|at| triage.assessments.get(at));
        assessment.is_some_and(|it| {
            !it.is_undecided() && it.at.is_some_and(|at| at.as_second() >= cards.begun)
        })
    };
    let counts = cards
        .cards
        .iter()
        .map(|card| card.ids.iter().filter(is_new).count())
        .enumerate();
    counts.filter(|(_, count)| *count > 0).collect()
}

impl RulePreview {
    fn of(class: &Shared, table: &Table<Issue>, triage: &Triage) -> Self {
        let rows = table
            .items()
            .iter()
            .enumerate()
            .filter(|(_, issue)| issue.class() == class);
        let (mut preview, mut targets) = (
            Self {
                findings: 0,
                decided: 0,
                targets: 0,
            },
            BTreeSet::new(),
        );
        for (at, issue) in rows {
            let by_hand = |assessment: &Arc<Assessment>| assessment.source == VerdictSource::Person;
            preview.findings += 1;
            preview.decided += usize::from(triage.assessments.get(at).is_some_and(by_hand));
            targets.insert((issue.target_id(), &issue.identity.asset));
        }
        Self {
            targets: targets.len(),
            ..preview
        }
    }
}

impl Before {
    /// The newest decisions on a class, also expired or replaced ones, except those of some
    /// batches: one for each batch.
    fn on(class: &Shared, triage: &Triage, but: impl Fn(EventId) -> bool) -> Vec<Self> {
        let mut batches = HashSet::new();
        let all = triage.defaults.decisions(&triage.state, class);
        let others = all.filter(|(event, _)| !but(event.batch) && batches.insert(event.batch));
        others
            .take(EARLIER)
            .map(|(event, decision)| Self::of(class, triage, event, decision))
            .collect()
    }

    fn of(class: &Shared, triage: &Triage, event: &Event, decision: &Decision) -> Self {
        let state = &triage.state;
        let of_class = |event: &&Arc<Event>| match (&event.subject, &event.change) {
            (Subject::Finding(identity), Change::Decide(_)) => identity.class == *class,
            _ => false,
        };
        Self {
            verdict: decision.verdict,
            reason: decision.reason,
            until: decision.until,
            note: note_beside(state, event),
            who: event.who.clone(),
            at: event.at,
            workspace: event.workspace.clone(),
            count: state.batch(event.batch).iter().filter(of_class).count(),
        }
    }
}

/// The number of findings of this group that are not on the card: found since the review started,
/// or hidden by the filter at its start.
fn more(card: &Card, table: &Table<Issue>) -> usize {
    let Some(by) = card.by else { return 0 };
    let on_card: BTreeSet<i64> = card.ids.iter().copied().collect();
    table
        .items()
        .iter()
        .filter(|issue| belongs(by, issue, &card.key) && !on_card.contains(&issue.id.0))
        .count()
}

/// The findings whose evidence is compared: at least one, and not too much evidence together.
pub(crate) fn within_limit<'a>(
    issues: impl Iterator<Item = &'a Arc<Issue>>,
) -> impl Iterator<Item = &'a Arc<Issue>> {
    let mut bytes = 0;
    issues
        .enumerate()
        .take_while(move |(at, issue)| {
            bytes += issue.evidence_bytes();
            *at == 0 || bytes <= MOST
        })
        .map(|(_, issue)| issue)
}

/// The findings whose evidence has the same lines.
struct EqualEvidence<'a> {
    lines: Vec<String>,
    issues: Vec<&'a Arc<Issue>>,
}

impl EqualEvidence<'_> {
    /// `defaults` are the lines of the most frequent kind, which is the first one, `common` those
    /// of all kinds.
    fn alike(&self, at: usize, defaults: &[String], common: &[String]) -> Option<Alike> {
        let own = || self.lines.iter().filter(|line| !common.contains(line));
        let line = if at == 0 {
            own().next()
        } else {
            self.lines.iter().find(|line| !defaults.contains(line))
        };
        let less = || match (self.lines.is_empty(), at) {
            (true, _) => NOTHING,
            (_, 0) => "the common lines only",
            _ => "the same lines, but fewer",
        };
        Some(Alike {
            count: self.issues.len(),
            example: Arc::clone(self.issues.first()?),
            line: line.cloned().unwrap_or_else(|| less().to_owned()),
            own: own().take(LINES).cloned().collect(),
            hidden: own().count().saturating_sub(LINES),
            issues: self.issues.iter().copied().map(Arc::clone).collect(),
        })
    }
}

fn evidence(issues: &[Arc<Issue>], shown: &ShownTexts) -> ReviewEvidence {
    let mut kinds: HashMap<u64, EqualEvidence<'_>> = HashMap::new();
    let (mut looked_at, mut unread) = (0, None);
    for issue in within_limit(issues.iter()) {
        let texts = match shown.of(&issue.finding) {
            ShownText::Read(texts) => texts,
            ShownText::Reading => {
                return ReviewEvidence {
                    unread: Some(ShownText::Reading),
                    ..Default::default()
                };
            }
            // It is reported, and not compared.
            unreadable => {
                unread = Some(unreadable);
                continue;
            }
        };
        looked_at += 1;
        let lines = evidence_digest::normalized_lines(&texts.vuln_evidence);
        let digest = evidence_digest::digest(&lines);
        let kind = kinds.entry(digest).or_insert_with(|| EqualEvidence {
            lines,
            issues: Vec::new(),
        });
        kind.issues.push(issue);
    }
    let mut kinds: Vec<EqualEvidence<'_>> = kinds.into_values().collect();
    let place = |issues: &[&Arc<Issue>]| issues.first().map(|issue| issue.id);
    kinds.sort_by_key(|kind| (std::cmp::Reverse(kind.issues.len()), place(&kind.issues)));
    let defaults: Vec<String> = kinds
        .first()
        .map(|kind| kind.lines.clone())
        .unwrap_or_default();
    let is_common =
        |line: &String| kinds.len() > 1 && kinds.iter().all(|kind| kind.lines.contains(line));
    let common: Vec<String> = defaults
        .iter()
        .filter(|line| is_common(line))
        .cloned()
        .collect();
    let kinds = kinds.iter().enumerate();
    let kinds = kinds.filter_map(|(at, kind)| kind.alike(at, &defaults, &common));
    let kinds = kinds.collect();
    ReviewEvidence {
        kinds,
        common: common.into_iter().take(LINES).collect(),
        looked_at,
        unread,
    }
}

fn history(issues: &[Arc<Issue>], state: &TriageState) -> Vec<Done> {
    let mut batches: BTreeMap<EventId, (Arc<Event>, BTreeSet<IssueId>)> = BTreeMap::new();
    for issue in issues.iter().take(MOST_HISTORIES) {
        for event in state.history(issue.key()) {
            let (_, about) = batches
                .entry(event.batch)
                .or_insert_with(|| (Arc::clone(&event), BTreeSet::new()));
            about.insert(issue.id);
        }
    }
    let mut done: Vec<_> = batches.into_iter().collect();
    done.sort_by_key(|(batch, (event, _))| std::cmp::Reverse((event.clock, *batch)));
    let done = done.into_iter();
    done.map(|(batch, (event, about))| Done {
        batch,
        at: event.at,
        who: event.who.clone(),
        count: about.len(),
    })
    .collect()
}
