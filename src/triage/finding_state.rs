//! What all events about one finding come to: the decisions that hold, notes, tags, a severity of one's own.
//!
//! ```text
//!   a ◄─after─ b ◄─after─ d        b and c did not know of each other: after a, both held (a conflict);
//!   a ◄─after─ c ◄─after─ d        d knew both and settles it: d alone holds. Undo d, and b and c hold again.
//! ```

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::event::{Change, Decision, Event, EventId, Identity, ManualFinding, Subject};
use crate::contract::{FindingId, Risk, Shared};
use crate::finding::{FindingKey, Verdict};

/// The state of one finding.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FindingState {
    /// What it is, as the first event told it.
    pub identity: Arc<Identity>,
    /// The decisions that hold, the newest last: one, or several that did not know of each other.
    pub heads: Vec<Arc<Event>>,
    /// Sorted.
    pub tags: Vec<Shared>,
    /// The notes that count, oldest first.
    pub notes: Vec<Arc<Event>>,
    /// A severity of one's own.
    pub severity: Option<Risk>,
    /// What a person proved, where this is a finding of one's own.
    pub own: Option<Arc<ManualFindingState>>,
    /// All keys whose decisions these are: its own, and those of findings that inherit from it.
    pub keys: Vec<FindingKey>,
    /// All that events called it, by key and fingerprints.
    pub told: Vec<Arc<Identity>>,
    /// Findings of the service that decisions about it were made in view of, undone ones too, by the key of each.
    pub seen: Vec<(FindingKey, FindingId)>,
}

/// A finding of one's own.
#[derive(Clone, Debug, PartialEq)]
pub struct ManualFindingState {
    /// The event that made it.
    pub id: EventId,
    /// What its decisions are kept under.
    pub key: FindingKey,
    /// As last written.
    pub finding: ManualFinding,
    /// The event that wrote it so: who, when, in which workspace.
    pub event: Arc<Event>,
    /// Switched off: not shown.
    pub off: bool,
}

/// A rule: what its query finds is decided, unless a person decided it.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleState {
    /// The event that made it.
    pub id: EventId,
    /// The workspace of that event: it decides there, whoever changes it from where.
    pub workspace: Shared,
    /// In the query language.
    pub query: Shared,
    /// What it says.
    pub decision: Decision,
    /// The event that wrote it so: who, when, in which workspace.
    pub event: Arc<Event>,
    /// Switched off: decides nothing.
    pub off: bool,
}

impl FindingState {
    /// The decisions that hold, the newest last.
    pub fn decisions(&self) -> impl DoubleEndedIterator<Item = (&Arc<Event>, &Decision)> {
        self.heads.iter().filter_map(|event| Some((event, decision(event)?)))
    }

    /// What the notes say, oldest first.
    pub fn noted(&self) -> impl DoubleEndedIterator<Item = &Shared> {
        self.notes.iter().filter_map(|event| if let Change::Note(text) = &event.change { Some(text) } else { None })
    }

    /// The decision to show: the newest that holds.
    pub fn shown(&self) -> Option<(&Arc<Event>, &Decision)> {
        self.decisions().next_back()
    }

    /// The different verdicts that hold, in the order of menus.
    pub fn verdicts(&self) -> Vec<Verdict> {
        let all: BTreeSet<Verdict> = self.decisions().map(|(_, decision)| decision.verdict).collect();
        all.into_iter().collect()
    }

    /// Persons decided differently without knowing of each other.
    pub fn is_conflict(&self) -> bool {
        self.verdicts().len() > 1
    }

    /// Folds the events about one finding; `events` in the order of (clock, id).
    pub(super) fn of(events: &[Arc<Event>], key: FindingKey, live: impl Fn(&Event) -> bool) -> Self {
        let mut finding_state = Self::default();
        let (mut tags, mut own, mut off) = (BTreeSet::new(), None, false);
        for event in events {
            finding_state.learn(event);
            if !live(event) {
                continue;
            }
            match &event.change {
                Change::Note(_) => finding_state.notes.push(Arc::clone(event)),
                Change::Severity(risk) => finding_state.severity = *risk,
                Change::Tag { add, remove } => {
                    tags.extend(add.iter().cloned());
                    remove.iter().for_each(|tag| _ = tags.remove(tag));
                }
                Change::Manual(finding) => own = Some((event, finding)),
                Change::Off(switched) => off = *switched,
                _ => {}
            }
        }
        finding_state.identity = finding_state.identity_of(key);
        finding_state.heads = heads(events, &live);
        finding_state.tags = tags.into_iter().collect();
        finding_state.own = own.and_then(|(event, finding)| {
            let Subject::Manual(id) = event.subject else { return None };
            let (key, finding, event) = (finding_state.identity.key, (**finding).clone(), Arc::clone(event));
            Some(Arc::new(ManualFindingState { id, key, finding, event, off }))
        });
        finding_state
    }

    /// As the first event told it; of a key that only heirs speak of, theirs.
    fn identity_of(&self, key: FindingKey) -> Arc<Identity> {
        match (self.told.iter().find(|told| told.key == key), self.told.first()) {
            (Some(told), _) => Arc::clone(told),
            (None, Some(heir)) => Arc::new(Identity { key, ..(**heir).clone() }),
            (None, None) => Arc::new(Identity { key, ..Identity::default() }),
        }
    }

    /// Takes in what an event tells about the finding itself, whether the event counts or not.
    fn learn(&mut self, event: &Event) {
        let Subject::Finding(identity) = &event.subject else { return };
        let same = |told: &Arc<Identity>| (told.key, told.f1, told.f2) == (identity.key, identity.f1, identity.f2);
        if !self.told.iter().any(same) {
            self.told.push(Arc::new(identity.clone()));
        }
        if let Some(sighting) = decision(event).and_then(|decision| decision.seen.as_ref()) {
            self.seen.push((identity.key, sighting.finding));
        }
    }
}

impl RuleState {
    /// Folds the events about one rule; nothing where what made it is undone.
    pub(super) fn of(id: EventId, events: &[Arc<Event>], live: impl Fn(&Event) -> bool) -> Option<Self> {
        let mut off = false;
        let mut written = None;
        for event in events.iter().filter(|event| live(event)) {
            match &event.change {
                Change::Rule { query, decision } => written = Some((event, query, decision)),
                Change::Off(switched) => off = *switched,
                _ => {}
            }
        }
        let (event, query, decision) = written?;
        let made = events.iter().find(|event| event.id == id).unwrap_or(event);
        let (workspace, query, decision) = (made.workspace.clone(), query.clone(), decision.clone());
        Some(Self { id, workspace, query, decision, event: Arc::clone(event), off })
    }
}

fn decision(event: &Event) -> Option<&Decision> {
    match &event.change {
        Change::Decide(decision) => Some(decision),
        _ => None,
    }
}

/// The live decisions that no other live event replaces, directly or through events in between, which may be undone.
fn heads(events: &[Arc<Event>], live: impl Fn(&Event) -> bool) -> Vec<Arc<Event>> {
    let mut held: Vec<&Arc<Event>> = events.iter().filter(|event| decision(event).is_some() && live(event)).collect();
    if held.len() > 1 {
        let replaced = replaced(events, live);
        held.retain(|event| !replaced.contains(&event.id));
    }
    held.into_iter().cloned().collect()
}

fn replaced(events: &[Arc<Event>], live: impl Fn(&Event) -> bool) -> BTreeSet<EventId> {
    let by_id: HashMap<EventId, &Arc<Event>> = events.iter().map(|event| (event.id, event)).collect();
    let mut replaced = BTreeSet::new();
    let mut to_see: Vec<EventId> =
        events.iter().filter(|event| live(event)).flat_map(|event| event.after.iter().copied()).collect();
    while let Some(id) = to_see.pop() {
        if replaced.insert(id)
            && let Some(event) = by_id.get(&id)
        {
            to_see.extend(event.after.iter().copied());
        }
    }
    replaced
}
