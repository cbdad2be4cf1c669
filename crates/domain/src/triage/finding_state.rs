//! State of one finding: effective decisions, notes, proofs, tags, severity override, assignee, due
//! date.
//!
//! ```text
//!   a ◄─after─ b ◄─after─ d        b and c did not know of each other: after a, both held (a conflict);
//!   a ◄─after─ c ◄─after─ d        d knew both and settles it: d alone holds. Undo d, and b and c hold again.
//! ```

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use jiff::civil::Date;

use super::event::{Change, Decision, Event, EventId, Identity, ManualFinding, Subject};
use crate::finding::{FindingKey, Verdict};
use crate::proof::FindingProof;
use scandeck_wire::contract::{FindingId, Risk, Shared};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct FindingState {
    /// Identity in the first event.
    pub identity: Arc<Identity>,
    /// Effective decisions, newest last: several if they were concurrent.
    pub heads: Vec<Arc<Event>>,
    /// Sorted.
    pub tags: Vec<Shared>,
    /// Effective notes, oldest first.
    pub notes: Vec<Arc<Event>>,
    /// Effective proofs, oldest first.
    pub proofs: Vec<Arc<Event>>,
    /// Severity override.
    pub severity: Option<Risk>,
    /// Who works on it.
    pub assignee: Option<Shared>,
    /// Due date of the decision or fix.
    pub due: Option<Date>,
    /// Manual finding, if it is one.
    pub manual: Option<Arc<ManualFindingState>>,
    /// All keys that share these decisions: its own and those that inherit from it.
    pub keys: Vec<FindingKey>,
    /// Identities in all events, distinct by key and fingerprints.
    pub identities: Vec<Arc<Identity>>,
    /// Findings on which decisions were based, including undone ones, with their keys.
    pub seen: Vec<(FindingKey, FindingId)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ManualFindingState {
    /// Creating event.
    pub id: EventId,
    /// Key of its decisions.
    pub key: FindingKey,
    /// Latest content.
    pub finding: ManualFinding,
    /// Event of the latest change.
    pub event: Arc<Event>,
    /// Disabled: not shown.
    pub off: bool,
}

/// A rule: it decides matching findings that nobody decided.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleState {
    /// Creating event.
    pub id: EventId,
    /// Workspace in which the rule applies, wherever it is changed.
    pub workspace: Shared,
    /// In the query language.
    pub query: Shared,
    pub decision: Decision,
    /// Event of the latest change.
    pub event: Arc<Event>,
    /// Disabled: decides nothing.
    pub off: bool,
}

impl FindingState {
    /// Effective decisions, newest last.
    pub fn decisions(&self) -> impl DoubleEndedIterator<Item = (&Arc<Event>, &Decision)> {
        self.heads
            .iter()
            .filter_map(|event| Some((event, decision(event)?)))
    }

    /// Texts of the notes, oldest first.
    pub fn noted(&self) -> impl DoubleEndedIterator<Item = &Shared> {
        self.notes.iter().filter_map(|event| {
            if let Change::Note(text) = &event.change {
                Some(text)
            } else {
                None
            }
        })
    }

    /// The proofs with their events, oldest first.
    pub fn proven(&self) -> impl DoubleEndedIterator<Item = (&Arc<Event>, &FindingProof)> {
        self.proofs.iter().filter_map(|event| match &event.change {
            Change::Proof(proof) => Some((event, &**proof)),
            _ => None,
        })
    }

    /// The newest effective decision.
    pub fn shown(&self) -> Option<(&Arc<Event>, &Decision)> {
        self.decisions().next_back()
    }

    /// The distinct effective verdicts, in the order of menus.
    pub fn verdicts(&self) -> Vec<Verdict> {
        let all: BTreeSet<Verdict> = self
            .decisions()
            .map(|(_, decision)| decision.verdict)
            .collect();
        all.into_iter().collect()
    }

    /// True if concurrent decisions have different verdicts.
    pub fn is_conflict(&self) -> bool {
        self.verdicts().len() > 1
    }

    /// Folds the events of one finding; `events` in the order of (clock, id).
    pub(super) fn of(
        events: &[Arc<Event>],
        key: FindingKey,
        live: impl Fn(&Event) -> bool,
    ) -> Self {
        let mut finding_state = Self::default();
        let (mut tags, mut manual, mut off) = (BTreeSet::new(), None, false);
        for event in events {
            finding_state.learn(event);
            if !live(event) {
                continue;
            }
            match &event.change {
                Change::Note(_) => finding_state.notes.push(Arc::clone(event)),
                Change::Proof(_) => finding_state.proofs.push(Arc::clone(event)),
                Change::Severity(risk) => finding_state.severity = *risk,
                Change::Assign(member) => finding_state.assignee.clone_from(member),
                Change::Due(day) => finding_state.due = *day,
                Change::Tag { add, remove } => {
                    tags.extend(add.iter().cloned());
                    remove.iter().for_each(|tag| _ = tags.remove(tag));
                }
                Change::Manual(finding) => manual = Some((event, finding)),
                Change::Off(switched) => off = *switched,
                _ => {}
            }
        }
        finding_state.identity = finding_state.identity_of(key);
        finding_state.heads = heads(events, &live);
        finding_state.tags = tags.into_iter().collect();
        finding_state.manual = manual.and_then(|(event, finding)| {
            let Subject::Manual(id) = event.subject else {
                return None;
            };
            let (key, finding, event) = (
                finding_state.identity.key,
                (**finding).clone(),
                Arc::clone(event),
            );
            Some(Arc::new(ManualFindingState {
                id,
                key,
                finding,
                event,
                off,
            }))
        });
        finding_state
    }

    /// The identity in the first event; that of an heir if only heirs have events.
    fn identity_of(&self, key: FindingKey) -> Arc<Identity> {
        match (
            self.identities.iter().find(|known| known.key == key),
            self.identities.first(),
        ) {
            (Some(known), _) => Arc::clone(known),
            (None, Some(heir)) => Arc::new(Identity {
                key,
                ..(**heir).clone()
            }),
            (None, None) => Arc::new(Identity {
                key,
                ..Identity::default()
            }),
        }
    }

    /// Records the identity and sighting of an event, even if it was undone.
    fn learn(&mut self, event: &Event) {
        let Subject::Finding(identity) = &event.subject else {
            return;
        };
        let same = |known: &Arc<Identity>| {
            (known.key, known.f1, known.f2) == (identity.key, identity.f1, identity.f2)
        };
        if !self.identities.iter().any(same) {
            self.identities.push(Arc::new(identity.clone()));
        }
        if let Some(sighting) = decision(event).and_then(|decision| decision.seen.as_ref()) {
            self.seen.push((identity.key, sighting.finding));
        }
    }
}

impl RuleState {
    /// Folds the events of one rule; `None` if its creation is undone, or if it is deleted. A later
    /// change of a deleted rule, such as that of a colleague, creates it again.
    pub(super) fn of(
        id: EventId,
        events: &[Arc<Event>],
        live: impl Fn(&Event) -> bool,
    ) -> Option<Self> {
        let mut off = false;
        let mut written = None;
        for event in events.iter().filter(|event| live(event)) {
            match &event.change {
                Change::Rule { query, decision } => written = Some((event, query, decision)),
                Change::DeleteRule(_) => written = None,
                Change::Off(switched) => off = *switched,
                _ => {}
            }
        }
        let (event, query, decision) = written?;
        let made = events.iter().find(|event| event.id == id).unwrap_or(event);
        let (workspace, query, decision) =
            (made.workspace.clone(), query.clone(), decision.clone());
        Some(Self {
            id,
            workspace,
            query,
            decision,
            event: Arc::clone(event),
            off,
        })
    }
}

fn decision(event: &Event) -> Option<&Decision> {
    match &event.change {
        Change::Decide(decision) => Some(decision),
        _ => None,
    }
}

/// Effective decisions that no effective event replaces, directly or through undone events.
fn heads(events: &[Arc<Event>], live: impl Fn(&Event) -> bool) -> Vec<Arc<Event>> {
    let mut held: Vec<&Arc<Event>> = events
        .iter()
        .filter(|event| decision(event).is_some() && live(event))
        .collect();
    if held.len() > 1 {
        let replaced = replaced(events, live);
        held.retain(|event| !replaced.contains(&event.id));
    }
    held.into_iter().cloned().collect()
}

fn replaced(events: &[Arc<Event>], live: impl Fn(&Event) -> bool) -> BTreeSet<EventId> {
    let by_id: HashMap<EventId, &Arc<Event>> =
        events.iter().map(|event| (event.id, event)).collect();
    let mut replaced = BTreeSet::new();
    let mut to_see: Vec<EventId> = events
        .iter()
        .filter(|event| live(event))
        .flat_map(|event| event.after.iter().copied())
        .collect();
    while let Some(id) = to_see.pop() {
        if replaced.insert(id)
            && let Some(event) = by_id.get(&id)
        {
            to_see.extend(event.after.iter().copied());
        }
    }
    replaced
}
