//! Decisions: records and receives them, and requests the rows of findings that follow from them.

use crate::base::plan::SETTLING;
use crate::base::{Effect, Generation, Pane, Tone};
use crate::data::decisions::*;
use crate::model::Model;
use jiff::civil::Date;
use scandeck_domain::table::Remote;
use scandeck_domain::triage::{
    Assessment, Change, Correlated, CorrelationInput, DecisionDefaults, Event, EventId, FindingKey,
    FindingState, IssueId, ReadTimes, Subject, Touched, Verdict, VerdictSource, reassess,
};
use scandeck_wire::contract::Stamp;
use scandeck_wire::contract::verdict::ProposedVerdict;
use std::sync::Arc;

/// End of the notices about decisions that a key undoes.
pub const UNDOES: &str = " undoes";

impl Model {
    /// The local day, for expiry.
    pub fn today(&self) -> Date {
        Stamp(self.now.wall).local_day()
    }

    /// Requests new rows when their inputs changed, unless a request is in flight.
    pub(crate) fn correlate(&mut self, effects: &mut Vec<Effect>) {
        if self.findings.triage.is_correlating {
            return;
        }
        let (Remote::Fresh { value, .. } | Remote::Stale { value, .. }) = &self.data.occurrences
        else {
            return;
        };
        let findings = Arc::clone(value);
        let offset = self.connection.clock_offset.unwrap_or(0) - SETTLING;
        let read = ReadTimes {
            offset,
            ..self.data.findings_read.clone()
        };
        let scans = self.data.scans.value().cloned().unwrap_or_default();
        let basis = Basis {
            generation: self.connection.generation,
            findings: Same(Arc::clone(&findings)),
            targets: self.data.targets.value().cloned().map(Same),
            scans: self.findings.triage.digest_of(&scans, &read),
            unread: Arc::clone(&self.data.unread_scans.ids),
            wide_revision: self.findings.triage.wide_revision,
            today: self.today(),
        };
        if self.findings.triage.basis.as_ref() == Some(&basis) {
            // The scans that were not read are compared by their address from now on.
            self.findings.triage.basis = Some(basis);
            // An equal response makes the rows of a failed read current again.
            if let Remote::Fresh { at, .. } = self.data.occurrences {
                self.data.findings.confirm(self.last_confirmed(at));
            }
            return;
        }
        let input = CorrelationInput {
            findings,
            scans,
            targets: self.data.targets.value().cloned().unwrap_or_default(),
            state: self.findings.triage.state.clone(),
            workspace: self.workspace_name(),
            alias: self.session.alias.clone(),
            today: basis.today,
            read,
            unread: Arc::clone(&self.data.unread_scans.ids),
            now: self.now.wall.as_second(),
            searched: self.searched_fields(),
            earlier: self.findings.triage.earlier.clone(),
        };
        self.findings.triage.basis = Some(basis);
        self.findings.triage.is_correlating = true;
        self.findings.triage.touched.clear();
        effects.push(Effect::Correlate(
            self.connection.generation,
            Box::new(input),
        ));
    }

    /// The time of a read of the findings, or a later time at which unchanged scans confirmed them.
    fn last_confirmed(&self, read: Stamp) -> Stamp {
        match &self.data.findings {
            Remote::Fresh { at, .. } | Remote::Stale { at, .. } => read.max(*at),
            Remote::Unknown | Remote::Failed(_) => read,
        }
    }

    /// Takes new rows.
    pub(crate) fn install_correlated(&mut self, generation: Generation, correlated: Correlated) {
        self.findings.triage.is_correlating = false;
        if generation != self.connection.generation {
            return;
        }
        let at = match &self.data.occurrences {
            Remote::Fresh { at, .. } | Remote::Stale { at, .. } => *at,
            Remote::Unknown | Remote::Failed(_) => return,
        };
        self.findings.texts.follow(&correlated.issues);
        self.data
            .findings
            .succeed(correlated.issues, self.last_confirmed(at));
        if let Remote::Stale { problem, .. } = &self.data.occurrences {
            self.data.findings.fail(Arc::clone(problem));
        }
        self.findings.triage.again = Reopened::of(&correlated.assessments);
        self.findings.triage.assessments = correlated.assessments;
        self.findings.triage.rules = correlated.rules;
        self.findings.triage.facts = correlated.facts;
        self.findings.triage.read = correlated.read;
        self.findings.triage.earlier = Some(correlated.earlier);
        self.findings.triage.correlations += 1;
        // The board depends on the time of reading too.
        self.findings.board_revision += 1;
        // Decisions that were made while the view was computed.
        let touched = std::mem::take(&mut self.findings.triage.touched);
        self.reassess(&touched);
    }

    /// Adds the decisions that were made since new findings were requested.
    pub(crate) fn add_decisions(&mut self, correlated: &mut Correlated) {
        let today = self.today();
        let touched = std::mem::take(&mut self.findings.triage.touched);
        let issues = &correlated.issues;
        let rows = touched
            .iter()
            .filter_map(|&key| issues.position(IssueId::from(key)));
        let rows: Vec<usize> = rows.collect();
        for &at in &rows {
            if let Some(assessment) = Arc::make_mut(&mut correlated.assessments).get_mut(at) {
                let rule = correlated.rules.get(at).copied().flatten();
                let state = &self.findings.triage.state;
                *assessment = Arc::new(reassess(&issues.items()[at], rule, state, today));
            }
        }
        if !rows.is_empty() {
            correlated.columns.clear();
        }
    }

    /// Retains shown rows that new findings would hide, before they are shown.
    pub(crate) fn retain_before(&mut self, correlated: &Correlated) {
        let triage = &mut self.findings.triage;
        let wide_revision = triage.basis.as_ref().map_or(0, |basis| basis.wide_revision);
        let made_before = std::mem::replace(&mut triage.correlated, wide_revision);
        // Decisions from opening the store are not changes.
        let has_changed = made_before != wide_revision
            && triage.opened.is_none_or(|opened| made_before >= opened);
        let Some(before) = self.data.findings.value().cloned() else {
            return;
        };
        self.retain_absent_after_retest(&before, &correlated.issues);
        if has_changed {
            self.retain_where_decision_changed(
                &before,
                &correlated.issues,
                &correlated.assessments,
            );
        }
    }

    /// Updates the assessments of some findings.
    fn reassess(&mut self, keys: &[FindingKey]) {
        let today = self.today();
        let Some(table) = self.data.findings.value() else {
            return;
        };
        let rows = keys
            .iter()
            .filter_map(|&key| table.position(IssueId::from(key)));
        let rows: Vec<usize> = rows.collect();
        if rows.is_empty() {
            return;
        }
        let Triage {
            assessments,
            rules,
            state,
            again,
            ..
        } = &mut self.findings.triage;
        let assessments = Arc::make_mut(assessments);
        for at in rows {
            if let Some(assessment) = assessments.get_mut(at) {
                let rule = rules.get(at).copied().flatten();
                let now = Arc::new(reassess(&table.items()[at], rule, state, today));
                let was = std::mem::replace(assessment, Arc::clone(&now));
                again.change(&was, &now);
            }
        }
        self.findings.triage.revision += 1;
    }

    /// The id of a row at the service: of a finding, that of its latest occurrence.
    pub fn service_id(&self, pane: Pane, id: i64) -> i64 {
        match (pane, self.data.findings.value()) {
            (Pane::Findings | Pane::Board, Some(table)) => table
                .get(IssueId(id))
                .map_or(id, |issue| issue.finding.id.0),
            _ => id,
        }
    }

    pub fn assessment(&self, id: IssueId) -> Option<&Assessment> {
        self.assessment_at(self.data.findings.value()?.position(id)?)
    }

    /// The assessment of the finding at a position of the table.
    pub fn assessment_at(&self, position: usize) -> Option<&Assessment> {
        self.findings
            .triage
            .assessments
            .get(position)
            .map(Arc::as_ref)
    }

    /// The earlier decision on a finding whose port moved, as long as no person decided the
    /// finding.
    pub fn earlier_decision(&self, id: IssueId) -> Option<&FindingState> {
        let issue = self.data.findings.value()?.get(id)?;
        let decided = self
            .assessment(id)
            .is_some_and(|assessment| assessment.source == VerdictSource::Person);
        let before = self
            .findings
            .triage
            .state
            .finding_state(issue.earlier_decision().filter(|_| !decided)?)?;
        before.shown().map(|_| before)
    }

    /// The verdict that the file of an imported finding proposes, as long as nobody decided the
    /// finding.
    pub fn proposal(&self, id: IssueId) -> Option<&ProposedVerdict> {
        let table = self.data.findings.value()?;
        let at = table.position(id)?;
        self.assessment_at(at)?.proposal(table.items().get(at)?)
    }

    /// The verdict of the decision that a key reuses: the earlier one, else that of the imported
    /// file. An earlier one that was undone is no offer.
    pub fn offered_verdict(&self, id: IssueId) -> Option<Verdict> {
        let issue = self.data.findings.value()?.get(id)?;
        match issue.earlier_decision() {
            Some(_) => Some(self.earlier_decision(id)?.shown()?.1.verdict),
            None => Some(self.proposal(id)?.verdict),
        }
    }

    /// Records the changes of one key press as a batch. None without a writer.
    pub(crate) fn record(
        &mut self,
        drafts: Vec<(Subject, Change)>,
        effects: &mut Vec<Effect>,
    ) -> Option<EventId> {
        let workspace = self.workspace_name();
        let at = Stamp(self.now.wall);
        if self.may_only_read() {
            return None;
        }
        let triage = &mut self.findings.triage;
        let mut writer = triage.writer.take()?;
        let batch = writer.next();
        // The key undoes only the last batch.
        self.overlay.notices.remove_ending(UNDOES);
        self.overlay
            .notices
            .remove_starting(&["undone: ", "redone: ", "already "]);
        // An undo belongs to the workspace of its batch, so that the team of that one receives it.
        // The store replaces a name that the workspace has no longer.
        let workspace_of = |subject: &Subject| match subject {
            Subject::Batch(batch) => triage.state.event(*batch).map(|event| &event.workspace),
            _ => None,
        };
        let changes = drafts.into_iter().map(|(subject, change)| {
            let workspace = workspace_of(&subject).unwrap_or(&workspace).clone();
            (workspace, subject, change)
        });
        let events = writer.write_batch((at, triage.state.clock() + 1), &triage.state, changes);
        triage.writer = Some(writer);
        self.take_events(&events);
        let decided = events
            .iter()
            .filter_map(|event| match (&event.subject, &event.change) {
                (Subject::Finding(identity), Change::Decide(_)) => Some(identity.key),
                _ => None,
            });
        self.see(decided.collect(), effects);
        let keys = events.iter().filter_map(|event| match &event.subject {
            Subject::Finding(identity) => Some(identity.key),
            _ => None,
        });
        self.findings.triage.unsaved.push_back(keys.collect());
        effects.push(Effect::Record(events));
        Some(batch)
    }

    /// Applies events of this or another dashboard.
    pub(crate) fn take_events(&mut self, events: &[Arc<Event>]) {
        let mut touched = Vec::new();
        for event in events {
            if self.findings.triage.state.knows(event.id) {
                continue;
            }
            self.findings.triage.defaults.take(event);
            match self.findings.triage.state.apply(event) {
                Touched::Keys(keys) => touched.extend(keys),
                // These findings are updated at once, all others with the new rows.
                Touched::All(keys) => {
                    self.findings.triage.wide_revision += 1;
                    touched.extend(keys);
                }
                Touched::Nothing => {}
            }
        }
        self.reassess(&touched);
        self.retain_decided_rows(
            &touched
                .iter()
                .map(|&key| IssueId::from(key))
                .collect::<Vec<_>>(),
        );
        self.findings.triage.touched.extend(touched);
    }

    /// Handles a message of the decision store.
    pub(crate) fn handle_triage(&mut self, news: TriageNews) {
        match news {
            TriageNews::Opened(stored) => {
                let StoredDecisions {
                    state,
                    writer,
                    settings,
                    seen,
                    problem,
                } = *stored;
                if writer.is_some() && self.findings.triage.has_no_store() {
                    self.notify(Tone::Good, "decisions can be saved again");
                }
                let wide_revision = self.findings.triage.wide_revision + 1;
                self.findings.triage.defaults = DecisionDefaults::of(&state);
                self.findings.triage.state = state;
                self.findings.triage.writer = writer;
                self.findings.triage.unsaved.clear();
                self.sign_as_member();
                self.findings.triage.settings = settings;
                self.findings.triage.seen = seen;
                (
                    self.findings.triage.wide_revision,
                    self.findings.triage.opened,
                ) = (wide_revision, Some(wide_revision));
                self.findings.triage.problem = problem;
                self.settings.last_visit.opened = true;
                self.restore_pane_sizes();
                self.load_tabs();
            }
            TriageNews::Events(events) => {
                self.notify_mentions(&events);
                self.findings.triage.arrivals += 1;
                return self.take_events(&events);
            }
            TriageNews::Saved => return drop(self.findings.triage.unsaved.pop_front()),
            TriageNews::Retrying(problem) => {
                self.notify_problem("decisions not saved; retrying", &problem);
                self.findings.triage.problem = Some(problem);
                return;
            }
            TriageNews::Recovered => {
                self.findings.triage.problem = None;
                return self.notify(Tone::Good, "decisions saved");
            }
            TriageNews::Failed(problem) => {
                self.findings.triage.writer = None;
                self.findings.triage.problem = Some(problem);
            }
        }
        if let Some(problem) = self.findings.triage.problem.clone() {
            match self.cannot_decide() {
                Some(why) => self.notify(Tone::Bad, why),
                None => self.notify_problem("decisions", &problem),
            }
        }
    }
}
