//! What is decided about the findings, as the dashboard holds it: the folded events, the pen that writes new ones, and
//! a stance for every row.
//!
//! ```text
//!   findings, scans, targets, rules, the day ─► Basis differs? ─► Effect::Arrange ─► Msg::Arranged ─► rows + stances
//!   a decision ─► Model::record ─► State, the stances it touches, Effect::Record
//! ```

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::decide::{Draft, Usual};
use super::effect::Effect;
use super::model::{Model, Pane};
use super::msg::{Kept, TriageNews};
use super::notices::Tone;
use super::plan::Generation;
use super::problem::Problem;
use super::remote::Remote;
use super::table::Table;
use crate::contract::{Finding, Scan, Shared, Stamp, Target};
use crate::triage::case::{Again, Source};
use crate::triage::{
    Arranged, CaseId, Change, Event, EventId, Input, Key, Pen, Stance, Standing, State, Subject, Touched, restance,
};

/// See the module.
#[derive(Debug, Default)]
pub struct Triage {
    /// The folded events.
    pub state: State,
    /// Writes events; none until the store is open, or when it cannot be written to.
    pub pen: Option<Pen>,
    /// What is said about each row: aligned with the table of the findings.
    pub stances: Vec<Arc<Stance>>,
    /// How many of them were settled once and are no more.
    pub again: Reopened,
    /// The rule that finds each row; empty where there is none.
    pub rules: Vec<Option<EventId>>,
    /// Why decisions cannot be kept.
    pub problem: Option<Arc<Problem>>,
    /// Settings by name and workspace, as JSON.
    pub settings: BTreeMap<(Shared, Shared), String>,
    /// Findings that were seen.
    pub seen: imbl::HashSet<Key>,
    /// What goes with a verdict on a class unless said.
    pub usual: Usual,
    /// What `.` decides again.
    pub last: Option<Draft>,
    /// The marks that a batch used: undo brings them back.
    pub used_marks: BTreeMap<EventId, Vec<CaseId>>,
    /// What the rows were made of, or are being made of.
    basis: Option<Basis>,
    /// The digest of the scans that were looked at last.
    digest: Option<(Same<Table<Scan>>, u64)>,
    /// When the findings that the rows were made from were read, by the service's clock.
    pub(super) read: Option<Stamp>,
    /// Rows are being made.
    arranging: bool,
    /// The turn of which they were made last.
    arranged: u64,
    /// The turn in which the store was opened; none as long as it is not, or where there is none.
    opened: Option<u64>,
    /// Findings that something was said about since then.
    touched: Vec<Key>,
    /// Raised when more than single findings say something else: a rule, a baseline, findings of one's own.
    turn: u64,
}

/// How many findings were settled and need a person again, for the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reopened {
    /// Two persons said different things.
    pub conflicts: usize,
    /// Fixed, and seen again.
    pub regressions: usize,
}

impl Reopened {
    fn of(stances: &[Arc<Stance>]) -> Self {
        let with = |again: Again| stances.iter().filter(|stance| stance.again == Some(again)).count();
        Self { conflicts: with(Again::Conflict), regressions: with(Again::Regression) }
    }

    /// One finding says something else.
    fn change(&mut self, was: &Stance, now: &Stance) {
        for (again, count) in [(Again::Conflict, &mut self.conflicts), (Again::Regression, &mut self.regressions)] {
            *count += usize::from(now.again == Some(again));
            *count = count.saturating_sub(usize::from(was.again == Some(again)));
        }
    }
}

/// What rows depend on.
#[derive(Clone, Debug, PartialEq)]
struct Basis {
    generation: Generation,
    findings: Same<Table<Finding>>,
    targets: Option<Same<Table<Target>>>,
    /// When the findings were read, by the service's clock.
    read: Option<Stamp>,
    /// Of the scans only who they are, how far they got, when and with how many findings they ended: progress moves every
    /// second.
    scans: u64,
    turn: u64,
    today: Date,
}

/// Equal when it is the same thing.
#[derive(Clone, Debug)]
struct Same<T>(Arc<T>);

impl<T> PartialEq for Same<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

fn digest(scans: &Table<Scan>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for scan in scans.items() {
        (scan.id, scan.status_name.as_str(), scan.start_time, scan.end_time).hash(&mut hasher);
        scan.has_ended().then(|| scan.result_summary.by_risk()).hash(&mut hasher);
    }
    hasher.finish()
}

impl Triage {
    /// The digest of these scans: worked out once, asked for with every message.
    fn digest_of(&mut self, scans: &Arc<Table<Scan>>) -> u64 {
        match &self.digest {
            Some((of, digest)) if Arc::ptr_eq(&of.0, scans) => *digest,
            _ => self.digest.insert((Same(Arc::clone(scans)), digest(scans))).1,
        }
    }
}

impl Model {
    /// The day here, for what expires.
    pub fn today(&self) -> Date {
        self.now.wall.to_zoned(TimeZone::system()).date()
    }

    /// Asks for new rows when what they are made of has changed and none are under way.
    pub(super) fn arrange(&mut self, effects: &mut Vec<Effect>) {
        if self.triage.arranging {
            return;
        }
        let (Remote::Fresh { value, at } | Remote::Stale { value, at, .. }) = &self.data.occurrences else { return };
        let (findings, read) = (Arc::clone(value), Some(self.by_the_service(*at)));
        let scans = self.data.scans.value().cloned().unwrap_or_default();
        let basis = Basis {
            generation: self.generation,
            findings: Same(Arc::clone(&findings)),
            targets: self.data.targets.value().cloned().map(Same),
            read,
            scans: self.triage.digest_of(&scans),
            turn: self.triage.turn,
            today: self.today(),
        };
        if self.triage.basis.as_ref() == Some(&basis) {
            return;
        }
        let input = Input {
            findings,
            scans,
            targets: self.data.targets.value().cloned().unwrap_or_default(),
            state: self.triage.state.clone(),
            workspace: self.workspace().map(|workspace| workspace.name.clone()).unwrap_or_default(),
            alias: self.session.alias.clone(),
            today: basis.today,
            read,
            now: self.now.wall.as_second(),
        };
        self.triage.basis = Some(basis);
        self.triage.arranging = true;
        self.triage.touched.clear();
        effects.push(Effect::Arrange(self.generation, Box::new(input)));
    }

    /// Rows were made.
    pub(super) fn handle_arranged(&mut self, generation: Generation, arranged: Arranged) {
        self.triage.arranging = false;
        if generation != self.generation {
            return;
        }
        let at = match &self.data.occurrences {
            Remote::Fresh { at, .. } | Remote::Stale { at, .. } => *at,
            Remote::Unknown | Remote::Failed(_) => return,
        };
        let before = self.data.findings.value().cloned();
        self.data.findings.succeed(arranged.cases, at);
        if let Remote::Stale { problem, .. } = &self.data.occurrences {
            self.data.findings.fail(Arc::clone(problem));
        }
        self.triage.again = Reopened::of(&arranged.stances);
        let stances = std::mem::replace(&mut self.triage.stances, arranged.stances);
        self.triage.rules = arranged.rules;
        self.triage.read = arranged.read;
        self.take_columns(arranged.columns);
        let turn = self.triage.basis.as_ref().map_or(0, |basis| basis.turn);
        let made_before = std::mem::replace(&mut self.triage.arranged, turn);
        // What the store tells when it opens is no news to a person.
        if made_before != turn
            && self.triage.opened.is_none_or(|opened| made_before >= opened)
            && let Some(before) = before
        {
            self.stay_where_told_otherwise(&before, &stances);
        }
        let touched = std::mem::take(&mut self.triage.touched);
        self.restance(&touched);
        self.tabs.stale = true;
        self.show_rows(Pane::Findings);
        self.show_rows(Pane::Targets);
        self.make_board();
        self.count_since();
        self.dirty = true;
    }

    /// Says anew what stands about some findings.
    fn restance(&mut self, keys: &[Key]) {
        let today = self.today();
        let Some(table) = self.data.findings.value() else { return };
        let rows: Vec<usize> = keys.iter().filter_map(|&key| table.position(CaseId::from(key))).collect();
        let Triage { stances, rules, state, again, .. } = &mut self.triage;
        for &at in &rows {
            if let Some(stance) = stances.get_mut(at) {
                let rule = rules.get(at).copied().flatten();
                let now = Arc::new(restance(&table.items()[at], rule, state, today));
                let was = std::mem::replace(stance, Arc::clone(&now));
                again.change(&was, &now);
            }
        }
        if !rows.is_empty() {
            self.tell_again(&rows);
        }
    }

    /// The id under which the service knows a row: of a finding, that of its latest occurrence.
    pub fn service_id(&self, pane: Pane, id: i64) -> i64 {
        match (pane, self.data.findings.value()) {
            (Pane::Findings | Pane::Board, Some(table)) => table.get(CaseId(id)).map_or(id, |case| case.finding.id.0),
            _ => id,
        }
    }

    /// What is said about a row.
    pub fn stance(&self, id: CaseId) -> Option<&Stance> {
        self.triage.stances.get(self.data.findings.value()?.position(id)?).map(Arc::as_ref)
    }

    /// What was said where a finding was before its port moved: offered, as long as nobody said anything here.
    pub fn offered(&self, id: CaseId) -> Option<&Standing> {
        let case = self.data.findings.value()?.get(id)?;
        let decided = self.stance(id).is_some_and(|stance| stance.source == Source::Person);
        let before = self.triage.state.standing(*case.offered.as_deref().filter(|_| !decided)?)?;
        before.shown().map(|_| before)
    }

    /// Writes one batch: what a key press does to any number of subjects. Nothing while there is no pen.
    pub(super) fn record(&mut self, drafts: Vec<(Subject, Change)>, effects: &mut Vec<Effect>) -> Option<EventId> {
        let workspace = self.workspace().map(|workspace| workspace.name.clone()).unwrap_or_default();
        let at = Stamp(self.now.wall);
        let triage = &mut self.triage;
        let mut pen = triage.pen.take()?;
        pen.workspace = workspace;
        let batch = pen.next();
        let clock = triage.state.clock() + 1;
        let mut events = Vec::with_capacity(drafts.len());
        for (subject, change) in drafts {
            let after = match (&subject, &change) {
                (Subject::Finding(identity), Change::Decide(_)) => triage.state.heads(identity.key),
                _ => Vec::new(),
            };
            events.push(Arc::new(pen.write((at, clock), batch, after, subject, change)));
        }
        triage.pen = Some(pen);
        self.take_events(&events);
        let decided = events.iter().filter_map(|event| match (&event.subject, &event.change) {
            (Subject::Finding(identity), Change::Decide(_)) => Some(identity.key),
            _ => None,
        });
        self.see(decided.collect(), effects);
        effects.push(Effect::Record(events));
        Some(batch)
    }

    /// Takes events in, whoever recorded them.
    pub(super) fn take_events(&mut self, events: &[Arc<Event>]) {
        let mut touched = Vec::new();
        for event in events {
            if self.triage.state.knows(event.id) {
                continue;
            }
            self.triage.usual.take(event);
            match self.triage.state.apply(event) {
                Touched::Keys(keys) => touched.extend(keys),
                Touched::All => {
                    self.triage.turn += 1;
                    // What it is about says so at once; all else follows with the new rows.
                    if let Subject::Finding(identity) = &event.subject {
                        touched.push(identity.key);
                    }
                }
                Touched::Nothing => {}
            }
        }
        self.restance(&touched);
        self.stay(&touched.iter().map(|&key| CaseId::from(key)).collect::<Vec<_>>());
        self.triage.touched.extend(touched);
        self.lists.groups.count_undecided(&self.triage.stances);
        self.dirty = true;
    }

    /// The store of decisions tells something.
    pub(super) fn handle_triage(&mut self, news: TriageNews) {
        match news {
            TriageNews::Opened(kept) => {
                let Kept { state, pen, settings, seen, problem } = *kept;
                let turn = self.triage.turn + 1;
                self.triage.usual = Usual::of(&state);
                self.triage.state = state;
                self.triage.pen = pen;
                self.triage.settings = settings;
                self.triage.seen = seen;
                (self.triage.turn, self.triage.opened) = (turn, Some(turn));
                self.triage.problem = problem;
                self.open_since();
                self.load_tabs();
            }
            TriageNews::Events(events) => self.take_events(&events),
            TriageNews::Failed(problem) => {
                self.triage.pen = None;
                self.triage.problem = Some(problem);
            }
        }
        if let Some(problem) = self.triage.problem.clone() {
            match self.cannot_decide() {
                Some(why) => self.say(Tone::Bad, why),
                None => self.say_problem("decisions", &problem),
            }
        }
        self.dirty = true;
    }
}
