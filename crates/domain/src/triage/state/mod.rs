//! The fold of all events. Cheap to clone, and equal for any order and repetition of the events.
//!
//! ```text
//!   apply(event) ─► known      every event by id: a second one of the same id changes nothing
//!                ─► batches    what one key press did, and whether it counts (its last undo or redo)
//!                ─► steps      who did and took back what, in order: what undo and redo mean next
//!                ─► threads    the events about one subject ─fold─► standings, rules, baselines
//! ```
//!
//! Events are ordered by (clock, id) only. A finding that inherits (`Change::Inherit`) shares the
//! state of the other key. The maps are persistent, so a clone is sent to another thread by
//! reference.

#[cfg(test)]
mod tests;
mod undo;

use std::collections::BTreeSet;
use std::sync::Arc;

use imbl::OrdMap;
use imbl::ordmap::DiffItem;

use super::event::{Baseline, Change, Event, EventId, Subject};
pub use super::finding_state::{FindingState, ManualFindingState, RuleState};
use super::identity;
use crate::chain::RecordedLink;
use crate::finding::FindingKey;
use scandeck_wire::contract::Shared;
use undo::{EventBatch, UndoStep};

/// Position of an event in the order of all events.
type EventPlace = (u64, EventId);

/// The state of all decisions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriageState {
    events_by_id: OrdMap<EventId, Arc<Event>>,
    batches: OrdMap<EventId, Arc<EventBatch>>,
    steps: OrdMap<Shared, OrdMap<EventPlace, UndoStep>>,
    threads: OrdMap<Topic, Arc<Vec<Arc<Event>>>>,
    finding_states: OrdMap<FindingKey, Arc<FindingState>>,
    /// Keys whose decisions are stored under another key, and the reverse.
    aliases: OrdMap<FindingKey, FindingKey>,
    heirs: OrdMap<FindingKey, BTreeSet<FindingKey>>,
    manual_keys: OrdMap<EventId, FindingKey>,
    rules: OrdMap<EventId, Arc<RuleState>>,
    baselines: OrdMap<Shared, Baseline>,
    clock: u64,
}

/// Findings that may have changed with an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Touched {
    /// None.
    #[default]
    Nothing,
    /// Findings of these keys.
    Keys(Vec<FindingKey>),
    /// Any finding, because issues, rules or the baseline changed; the findings with these keys are
    /// updated first.
    All(Vec<FindingKey>),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Topic {
    Finding(FindingKey),
    Rule(EventId),
    Workspace(Shared),
}

impl TriageState {
    /// Folds these events.
    pub fn from_events(events: impl IntoIterator<Item = Arc<Event>>) -> Self {
        let mut state = Self::default();
        let mut events: Vec<Arc<Event>> = events.into_iter().collect();
        events.sort_by_key(|event| place(event));
        let topics = events
            .iter()
            .flat_map(|event| state.take_in(event))
            .collect();
        state.fold(&topics);
        state
    }

    /// Applies an event; a known event changes nothing.
    pub fn apply(&mut self, event: &Arc<Event>) -> Touched {
        let topics = self.take_in(event).into_iter().collect();
        self.fold(&topics)
    }

    /// Greatest clock; a new event gets the next one.
    pub fn clock(&self) -> u64 {
        self.clock
    }

    /// True if the event is known.
    pub fn knows(&self, id: EventId) -> bool {
        self.events_by_id.contains_key(&id)
    }

    pub fn event(&self, id: EventId) -> Option<&Arc<Event>> {
        self.events_by_id.get(&id)
    }

    /// State of a finding, also if its decisions are stored under another key.
    pub fn finding_state(&self, key: FindingKey) -> Option<&FindingState> {
        self.finding_states.get(&self.root(key)).map(Arc::as_ref)
    }

    /// All findings with events, by the key of their decisions.
    pub fn identities(&self) -> impl Iterator<Item = (&FindingKey, &Arc<FindingState>)> {
        self.finding_states.iter()
    }

    /// The states of findings that differ from those of an earlier fold, in both.
    pub(super) fn changed_since<'a>(
        &'a self,
        before: &'a Self,
    ) -> impl Iterator<Item = &'a FindingState> {
        before
            .finding_states
            .diff(&self.finding_states)
            .flat_map(|change| match change {
                DiffItem::Add(_, state) | DiffItem::Remove(_, state) => [Some(state), None],
                DiffItem::Update { old, new } => [Some(old.1), Some(new.1)],
            })
            .flatten()
            .map(Arc::as_ref)
    }

    /// All events of a finding, oldest first, including undone ones (see
    /// [`is_undone`](Self::is_undone)).
    pub fn history(&self, key: FindingKey) -> Vec<Arc<Event>> {
        self.thread_of(self.root(key)).1
    }

    /// The effective decisions that a new one replaces: its `after`.
    pub fn heads(&self, key: FindingKey) -> Vec<EventId> {
        self.finding_state(key)
            .map(|finding_state| finding_state.heads.iter().map(|event| event.id).collect())
            .unwrap_or_default()
    }

    /// The events of a batch, in order.
    pub fn batch(&self, batch: EventId) -> Vec<Arc<Event>> {
        self.batches
            .get(&batch)
            .map(|batch| batch.events.clone())
            .unwrap_or_default()
    }

    /// All rules, including disabled ones, in order of creation.
    pub fn rules(&self) -> Vec<&RuleState> {
        let mut rules: Vec<&RuleState> = self.rules.values().map(Arc::as_ref).collect();
        rules.sort_by_key(|rule| {
            self.events_by_id
                .get(&rule.id)
                .map_or((rule.event.clock, rule.id), |made| place(made))
        });
        rules
    }

    /// A rule by id.
    pub fn rule(&self, id: EventId) -> Option<&RuleState> {
        self.rules.get(&id).map(Arc::as_ref)
    }

    /// Manual findings, including disabled ones.
    pub fn manual_findings(&self) -> impl Iterator<Item = &ManualFindingState> {
        self.manual_keys
            .values()
            .filter_map(|key| self.finding_states.get(key)?.manual.as_deref())
    }

    /// The effective notes on all findings, in no order.
    pub fn notes(&self) -> impl Iterator<Item = &Arc<Event>> {
        let states = self.finding_states.values();
        states.flat_map(|finding_state| &finding_state.notes)
    }

    /// Pinned baseline of a workspace.
    pub fn baseline(&self, workspace: &str) -> Option<&Baseline> {
        self.baselines.get(workspace)
    }

    /// The event that pinned the baseline of a workspace, or removed it.
    pub fn baseline_event(&self, workspace: &Shared) -> Option<&Arc<Event>> {
        let events = self.threads.get(&Topic::Workspace(workspace.clone()))?;
        let pins = |event: &&Arc<Event>| {
            matches!(event.change, Change::Baseline(_)) && self.is_live(event)
        };
        events.iter().rev().find(pins)
    }

    /// The links that people added in a workspace, in order. A link whose ends this version cannot
    /// read is left out.
    pub fn manual_links(&self, workspace: &Shared) -> Vec<RecordedLink> {
        let events = self.threads.get(&Topic::Workspace(workspace.clone()));
        let events = events.into_iter().flat_map(|events| events.iter());
        let live = events.filter(|event| self.is_live(event));
        live.filter_map(|event| match &event.change {
            Change::Link(link) => Some(RecordedLink {
                from: link.from.parse().ok()?,
                to: link.to.parse().ok()?,
                reason: link.reason.clone(),
                who: event.who.clone(),
                at: event.at,
            }),
            _ => None,
        })
        .collect()
    }

    /// All events, by (clock, id).
    pub fn events(&self) -> impl Iterator<Item = &Arc<Event>> {
        let mut all: Vec<&Arc<Event>> = self.events_by_id.values().collect();
        all.sort_by_key(|event| place(event));
        all.into_iter()
    }

    /// Events of a workspace and every undo and redo of them, by (clock, id).
    pub fn events_of(&self, workspace: &str) -> Vec<Arc<Event>> {
        let here = |event: &Event| *event.workspace == *workspace;
        let about = |event: &Event| match event.subject {
            Subject::Batch(batch) => self
                .batches
                .get(&batch)
                .is_some_and(|batch| batch.events.iter().any(|one| here(one))),
            _ => false,
        };
        self.events()
            .filter(|event| here(event) || about(event))
            .cloned()
            .collect()
    }

    /// Number of events.
    pub fn len(&self) -> usize {
        self.events_by_id.len()
    }

    /// True if there are no events.
    pub fn is_empty(&self) -> bool {
        self.events_by_id.is_empty()
    }

    /// Stores an event and returns the topics to fold again. The first event of an id wins.
    fn take_in(&mut self, event: &Arc<Event>) -> Vec<Topic> {
        if self.knows(event.id) {
            return Vec::new();
        }
        self.events_by_id.insert(event.id, Arc::clone(event));
        self.clock = self.clock.max(event.clock);
        match (&event.subject, &event.change) {
            (&Subject::Batch(batch), Change::Undo) => self.set_undone(event, batch, true),
            (&Subject::Batch(batch), Change::Redo) => self.set_undone(event, batch, false),
            _ => self.file(event),
        }
    }

    fn file(&mut self, event: &Arc<Event>) -> Vec<Topic> {
        if event.id == event.batch {
            self.step(event, UndoStep::Did(event.batch));
        }
        put(
            &mut Arc::make_mut(self.batches.entry(event.batch).or_default()).events,
            event,
        );
        let topic = topic(event);
        if let Some(topic) = &topic {
            put(
                Arc::make_mut(self.threads.entry(topic.clone()).or_default()),
                event,
            );
        }
        if let (Subject::Manual(id), Some(Topic::Finding(key))) = (&event.subject, &topic) {
            self.manual_keys.insert(*id, *key);
        }
        topic.into_iter().collect()
    }

    fn fold(&mut self, topics: &BTreeSet<Topic>) -> Touched {
        let (mut roots, mut all) = (BTreeSet::new(), false);
        for topic in topics {
            match topic {
                Topic::Finding(key) => all |= self.alias(*key, &mut roots),
                Topic::Rule(id) => self.fold_rule(*id),
                Topic::Workspace(name) => self.fold_baseline(name),
            }
            all |= !matches!(topic, Topic::Finding(_));
        }
        let mut touched = Vec::new();
        for root in roots {
            all |= self.stand(root);
            touched.extend(
                self.finding_states
                    .get(&root)
                    .into_iter()
                    .flat_map(|finding_state| finding_state.keys.iter().copied()),
            );
        }
        match (all, touched.is_empty()) {
            (true, _) => Touched::All(touched),
            (false, true) => Touched::Nothing,
            (false, false) => Touched::Keys(touched),
        }
    }

    /// Updates the inheritance of a finding; true if it changed. Adds the affected roots.
    fn alias(&mut self, key: FindingKey, roots: &mut BTreeSet<FindingKey>) -> bool {
        let inherited = self.threads.get(&Topic::Finding(key)).and_then(|events| {
            let mut live = events.iter().rev().filter(|event| self.is_live(event));
            live.find_map(|event| match event.change {
                Change::Inherit(from) if from != key => Some(from),
                _ => None,
            })
        });
        let before = self.aliases.get(&key).copied();
        if before != inherited {
            roots.insert(self.root(key));
            if let Some(before) = before {
                self.aliases.remove(&key);
                self.disinherit(before, key);
            }
            if let Some(from) = inherited {
                self.aliases.insert(key, from);
                self.heirs.entry(from).or_default().insert(key);
            }
        }
        roots.insert(self.root(key));
        before != inherited
    }

    fn disinherit(&mut self, from: FindingKey, heir: FindingKey) {
        let Some(heirs) = self.heirs.get_mut(&from) else {
            return;
        };
        heirs.remove(&heir);
        if heirs.is_empty() {
            self.heirs.remove(&from);
        }
    }

    /// Folds the events of a key; true if a manual finding or a severity override changed, which
    /// are part of issues.
    fn stand(&mut self, key: FindingKey) -> bool {
        let of_issue = |finding_state: Option<&Arc<FindingState>>| {
            finding_state
                .map(|finding_state| (finding_state.manual.clone(), finding_state.severity))
                .unwrap_or_default()
        };
        let before = of_issue(self.finding_states.get(&key));
        let (keys, events) = self.thread_of(key);
        if self.root(key) != key || events.is_empty() {
            self.finding_states.remove(&key);
        } else {
            let mut finding_state = FindingState::of(&events, key, |event| self.is_live(event));
            finding_state.keys = keys;
            self.finding_states.insert(key, Arc::new(finding_state));
        }
        before != of_issue(self.finding_states.get(&key))
    }

    fn fold_rule(&mut self, id: EventId) {
        let events = self
            .threads
            .get(&Topic::Rule(id))
            .map(|events| events.as_slice())
            .unwrap_or_default();
        match RuleState::of(id, events, |event| self.is_live(event)) {
            Some(rule) => _ = self.rules.insert(id, Arc::new(rule)),
            None => _ = self.rules.remove(&id),
        }
    }

    fn fold_baseline(&mut self, workspace: &Shared) {
        let event = self.baseline_event(workspace);
        let pinned = event.and_then(|event| match &event.change {
            Change::Baseline(baseline) => baseline.clone(),
            _ => None,
        });
        match pinned {
            Some(baseline) => _ = self.baselines.insert(workspace.clone(), baseline),
            None => _ = self.baselines.remove(workspace),
        }
    }

    fn is_live(&self, event: &Event) -> bool {
        !self.is_undone(event.batch)
    }

    /// Key under which decisions are stored. Circular inheritance uses the smallest key.
    fn root(&self, key: FindingKey) -> FindingKey {
        let (mut at, mut passed) = (key, Vec::new());
        while let Some(&next) = self.aliases.get(&at) {
            if let Some(start) = passed.iter().position(|&key| key == at) {
                return passed[start..].iter().copied().min().unwrap_or(at);
            }
            passed.push(at);
            at = next;
        }
        at
    }

    /// All keys of a root and their events in order.
    fn thread_of(&self, root: FindingKey) -> (Vec<FindingKey>, Vec<Arc<Event>>) {
        let mut keys = vec![root];
        let mut at = 0;
        while at < keys.len() {
            let heirs = self.heirs.get(&keys[at]).into_iter().flatten().copied();
            let fresh: Vec<FindingKey> = heirs.filter(|heir| !keys.contains(heir)).collect();
            keys.extend(fresh);
            at += 1;
        }
        let threads = keys
            .iter()
            .filter_map(|key| self.threads.get(&Topic::Finding(*key)));
        let mut events: Vec<Arc<Event>> =
            threads.flat_map(|events| events.iter().cloned()).collect();
        events.sort_by_key(|event| place(event));
        (keys, events)
    }
}

fn place(event: &Event) -> EventPlace {
    (event.clock, event.id)
}

/// Inserts an event in order.
fn put(events: &mut Vec<Arc<Event>>, event: &Arc<Event>) {
    let at = events.partition_point(|known| place(known) < place(event));
    events.insert(at, Arc::clone(event));
}

fn topic(event: &Event) -> Option<Topic> {
    match &event.subject {
        Subject::Finding(identity) => Some(Topic::Finding(identity.key)),
        Subject::Manual(id) => Some(Topic::Finding(identity::manual_key(*id))),
        Subject::Rule(id) => Some(Topic::Rule(*id)),
        Subject::Workspace => Some(Topic::Workspace(event.workspace.clone())),
        Subject::Batch(_) => None,
    }
}
