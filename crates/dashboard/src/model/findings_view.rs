//! The view of the findings in the model: what is wanted, what is shown, and the step from one to
//! the other.
//!
//! ```text
//!   findings, decisions, query, order, groups ─► wanted ViewKey ─► shown? ─► few findings: computed here
//!                                                    ▲                │       many: Effect::View ─► Msg::Viewed
//!                                                    └────────────────┴──────────────► installed ◄───┘
//! ```
//!
//! New findings are installed together with their view, so that the screen always shows findings
//! and rows that belong together. While the rows are those of another filter, order, grouping or
//! scope (`Model::is_list_behind`), marks and verdicts on several rows wait.

use crate::base::{
    Effect, FindingGroupBy, FindingsSource, Generation, ListRequest, Pane, Tone, ViewInputs,
    ViewJob, ViewKey, ViewRequest,
};
use crate::list::view::SearchProgress;
use crate::list::{Counted, FindingsView, GroupKeys, Lists, view};
use crate::model::{Modal, Model};
use scandeck_domain::query::complete::{complete, field_at};
use scandeck_domain::query::{
    Completion, Evaluator, Field, Query, QueryKind, RowSet, ValueKind, query_of,
};
use scandeck_domain::table::Table;
use scandeck_domain::triage::listed_fields::is_long;
use scandeck_domain::triage::{Correlated, FindingColumns, Issue};
use scandeck_wire::contract::{Scan, Stamp, Target, Workspace};
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

/// The lists that are not read: always the same empty ones, so that a column built from them stays
/// current.
static NO_TARGETS: LazyLock<Arc<Table<Target>>> = LazyLock::new(Arc::default);
static NO_WORKSPACES: LazyLock<Arc<Table<Workspace>>> = LazyLock::new(Arc::default);
static NO_SCANS: LazyLock<Arc<Table<Scan>>> = LazyLock::new(Arc::default);

/// A view of up to so many findings is computed on the UI thread: it takes a few milliseconds.
const INLINE: usize = 10_000;

/// Most views that one message computes: decisions can come in with findings.
const MOST_STEPS: usize = 3;

/// The last view, and what the next one is computed from.
#[derive(Clone, Debug)]
pub struct ViewState {
    /// The last view; none before the first findings.
    pub(crate) shown: Option<Box<FindingsView>>,
    /// New findings, until their view is computed.
    next: Option<Box<NextFindings>>,
    source: Option<SourceState>,
    /// A view is being computed off the UI thread.
    pub(crate) is_computing: bool,
    /// The view that could not be computed.
    failed: Option<Box<ViewKey>>,
    /// What the last request needs.
    needs: Option<Arc<Needs>>,
    /// The query of the last command that had to wait.
    pub(crate) command: Option<String>,
    /// The groups that a review waits for.
    cards: Option<FindingGroupBy>,
    /// The field whose values are offered while a query is typed.
    pub(crate) offered: Option<Field>,
    /// Steps of time after which filters with ages are applied again.
    pub(crate) time_steps: u64,
    /// The view of more findings than this is computed off the UI thread.
    pub(crate) inline: usize,
}

impl Default for ViewState {
    fn default() -> Self {
        Self {
            shown: None,
            next: None,
            source: None,
            is_computing: false,
            failed: None,
            needs: None,
            command: None,
            cards: None,
            offered: None,
            time_steps: 0,
            inline: INLINE,
        }
    }
}

/// New findings that are not shown yet.
#[derive(Clone, Debug)]
struct NextFindings {
    generation: Generation,
    correlated: Correlated,
}

/// The source of the next view, with the version of the searched texts in it.
#[derive(Clone, Debug)]
struct SourceState {
    source: Arc<FindingsSource>,
    texts: u64,
}

impl ViewState {
    /// Forgets the findings of the workspace before. A view that is being computed is ignored when
    /// it arrives.
    pub(crate) fn leave_workspace(&mut self) {
        *self = Self {
            is_computing: self.is_computing,
            inline: self.inline,
            time_steps: self.time_steps,
            ..Self::default()
        };
    }

    /// Whether new findings wait for their view.
    pub(crate) fn has_next(&self) -> bool {
        self.next.is_some()
    }

    /// What a request needs. Few messages change the request, so few parse its queries.
    fn needs_of(&mut self, request: &ViewRequest) -> Arc<Needs> {
        let known = self.needs.take().filter(|needs| needs.request == *request);
        let needs = known.unwrap_or_else(|| Arc::new(Needs::of(request)));
        Arc::clone(self.needs.insert(needs))
    }
}

impl Model {
    /// The rows of the list that the user wants.
    fn list_request(&self) -> ListRequest {
        let (list, scope) = (&self.lists.findings, &self.navigation.scope);
        ListRequest {
            filter: list.filter.clone(),
            sort: list.sort,
            order: list.order.clone(),
            groups: self.lists.finding_groups.requested,
            target: scope.target,
            scan: scope.scan,
        }
    }

    /// Whether the rows of the findings are those of another filter, order, grouping or scope.
    pub(crate) fn is_list_behind(&self) -> bool {
        let shown = self.findings.view.shown.as_ref();
        shown.is_some_and(|view| view.key.request.list != self.list_request())
    }

    /// Whether the rows of the board are those of another filter.
    pub(crate) fn is_board_behind(&self) -> bool {
        let shown = self.findings.view.shown.as_ref();
        shown.is_some_and(|view| view.key.request.board != self.lists.board.filter)
    }

    /// Whether the rows of the board are not yet those of its filter: the view of the findings is
    /// being computed, or texts are being searched.
    pub(crate) fn is_board_waiting(&self) -> bool {
        let board = self.findings.view.shown.as_ref();
        let board = board.and_then(|view| view.board.as_ref());
        self.is_board_behind() || board.is_some_and(|found| found.is_partial)
    }

    /// How many findings the filter has searched, and how many it searches, while that is not
    /// complete.
    pub(crate) fn search_progress(&self) -> Option<SearchProgress> {
        self.findings.view.shown.as_ref()?.progress
    }

    /// Everything that is to be found in the findings now.
    fn view_request(&mut self) -> ViewRequest {
        let now = Stamp(self.service_now());
        let list = &mut self.lists.findings;
        let news_since = list.hidden_news.since(&list.filter, now);
        let tabs = self.settings.tabs.saved.iter();
        let state = &self.findings.view;
        ViewRequest {
            list: self.list_request(),
            retained: Arc::clone(&self.lists.findings.retained),
            news_since,
            tabs: tabs.map(|tab| tab.query.clone()).collect(),
            board: self.lists.board.filter.clone(),
            command: state.command.clone(),
            cards: state.cards,
            offered: state.offered,
        }
    }

    /// The view that is wanted now; none without findings.
    fn wanted_view(&mut self) -> Option<ViewKey> {
        let issues = self.newest_issues()?.revision();
        let request = self.view_request();
        let needs = self.findings.view.needs_of(&request);
        let data = &self.data;
        let revision = |table: Option<u64>, is_needed: bool| table.filter(|_| is_needed);
        let targets = data.targets.value().map(|table| table.revision());
        let workspaces = data.workspaces.value().map(|table| table.revision());
        let scans = data.scans.value().map(|table| table.revision());
        let inputs = ViewInputs {
            issues,
            decisions: needs.decisions.then_some(self.findings.triage.revision),
            targets: revision(targets, needs.targets),
            workspaces: revision(workspaces, needs.workspaces),
            scans: revision(scans, needs.scans),
            texts: needs.texts.then_some(self.findings.texts.revision),
            time: needs.time.then_some(self.findings.view.time_steps),
        };
        Some(ViewKey { request, inputs })
    }

    /// The findings that came last, shown or not.
    fn newest_issues(&self) -> Option<&Arc<Table<Issue>>> {
        match &self.findings.view.next {
            Some(next) => Some(&next.correlated.issues),
            None => self.data.findings.value(),
        }
    }

    /// The source of the newest findings.
    fn source(&mut self) -> Option<Arc<FindingsSource>> {
        let issues = Arc::clone(self.newest_issues()?);
        let next = self.findings.view.next.as_mut();
        let (assessments, built) = match next {
            Some(next) => {
                let correlated = &mut next.correlated;
                let built = std::mem::take(&mut correlated.columns);
                (Arc::clone(&correlated.assessments), built)
            }
            None => (Arc::clone(&self.findings.triage.assessments), Vec::new()),
        };
        let data = &self.data;
        let input = FindingColumns {
            issues,
            assessments,
            state: self.findings.triage.state.clone(),
            targets: data.targets.value().unwrap_or(&NO_TARGETS).clone(),
            workspaces: data.workspaces.value().unwrap_or(&NO_WORKSPACES).clone(),
            scans: data.scans.value().unwrap_or(&NO_SCANS).clone(),
        };
        let texts = self.findings.texts.revision;
        let before = self.findings.view.source.take();
        let is_same = |state: &SourceState| state.texts == texts && state.source.is_of(&input);
        let state = match before {
            Some(state) if built.is_empty() && is_same(&state) => state,
            before => {
                let results = self.findings.texts.results_in(&input.issues);
                let made = FindingsSource::new(input, results, built);
                let source = match before {
                    Some(before) => made.reusing(&before.source),
                    None => made,
                };
                SourceState {
                    source: Arc::new(source),
                    texts,
                }
            }
        };
        Some(Arc::clone(&self.findings.view.source.insert(state).source))
    }

    fn view_job(&mut self, key: ViewKey) -> Option<ViewJob> {
        let source = self.source()?;
        let shown = self.findings.view.shown.as_ref();
        let groups = shown.map(|view| [view.groups.clone(), view.cards.clone()]);
        Some(ViewJob {
            key,
            source,
            now: self.service_now().as_second(),
            made_groups: groups.into_iter().flatten().flatten().collect(),
            made_order: shown.and_then(|view| view.order.clone()),
        })
    }

    /// Whether the next view is computed off the UI thread: that of many findings, and that with an
    /// order by texts in files.
    fn is_view_large(&self) -> bool {
        let order = &self.lists.findings.order;
        self.newest_issues().is_some_and(|table| {
            table.len() > self.findings.view.inline
                || order.iter().any(|key| table.awaits(key.field))
        })
    }

    fn is_view_current(&self, wanted: &ViewKey) -> bool {
        let is_shown = || {
            let shown = self.findings.view.shown.as_ref();
            shown.is_some_and(|view| view.key.covers(wanted))
        };
        !self.findings.view.has_next() && is_shown()
    }

    /// Brings the view up to date, as far as that is done on the UI thread.
    pub(crate) fn follow_view(&mut self) {
        for _ in 0..MOST_STEPS {
            let Some(wanted) = self.wanted_view() else {
                return self.settings.tabs.counts.clear();
            };
            if self.is_view_current(&wanted) || self.is_view_large() {
                return;
            }
            let Some(job) = self.view_job(wanted) else {
                return;
            };
            self.install_view(view(&job));
        }
    }

    /// Requests the view that is wanted and not shown, or else the next chunk of texts that it
    /// searches.
    pub(crate) fn request_view(&mut self, effects: &mut Vec<Effect>) {
        if !matches!(
            self.overlay.modals.last(),
            Some(Modal::Line(_) | Modal::Command(_))
        ) {
            self.findings.view.offered = None;
        }
        let Some(wanted) = self.wanted_view() else {
            return;
        };
        if self.is_view_current(&wanted) {
            return self.search_texts(effects);
        }
        let has_failed = self.findings.view.failed.as_deref() == Some(&wanted);
        if self.findings.view.is_computing || has_failed {
            return;
        }
        if let Some(job) = self.view_job(wanted) {
            self.findings.view.is_computing = true;
            effects.push(Effect::View(Box::new(job)));
        }
    }

    /// A view was computed off the UI thread, or could not be.
    pub(crate) fn handle_viewed(&mut self, key: Box<ViewKey>, viewed: Option<Box<FindingsView>>) {
        self.findings.view.is_computing = false;
        match viewed {
            Some(viewed) => self.install_view(*viewed),
            None => {
                self.notify(Tone::Bad, "findings not filtered: details are in the log");
                self.findings.view.failed = Some(key);
            }
        }
    }

    /// Shows a view, together with the findings that it is of. A view of replaced findings, or of a
    /// filter that the user has replaced, is not shown.
    fn install_view(&mut self, view: FindingsView) {
        let input = &view.source.input;
        let is_of_next = |next: &mut Box<NextFindings>| {
            Arc::ptr_eq(&next.correlated.issues, &input.issues)
                && Arc::ptr_eq(&next.correlated.assessments, &input.assessments)
        };
        let next = self.findings.view.next.take_if(is_of_next);
        let is_wanted = next.is_some() || view.key.request.list == self.list_request();
        if let Some(next) = next {
            self.install_correlated(next.generation, next.correlated);
        }
        let shown = self.data.findings.value();
        if !is_wanted || !shown.is_some_and(|table| Arc::ptr_eq(table, &input.issues)) {
            return;
        }
        let table = Arc::clone(&view.source.input.issues);
        self.show_view(&table, view);
        if !self.lists.board.filter.is_empty() {
            self.show_board_rows();
        }
    }

    fn show_view(&mut self, table: &Arc<Table<Issue>>, mut view: FindingsView) {
        let request = &view.key.request;
        let is_all = request.list.filter.is_empty() && request.list.scan.is_none();
        let counted = if is_all {
            Counted::Present
        } else {
            Counted::All
        };
        let Lists {
            findings: list,
            finding_groups,
            ..
        } = &mut self.lists;
        list.why.clone_from(&view.list.why);
        list.in_scope = view.list.in_scope;
        list.retained_only.clone_from(&view.list.retained_only);
        list.hidden_news.count = view.list.hidden_new;
        finding_groups.show(
            list,
            table,
            Arc::new(std::mem::take(&mut view.list.rows)),
            view.groups.clone(),
            &self.findings.triage.assessments,
            counted,
        );
        let tabs = &mut self.settings.tabs;
        tabs.counts = view.tabs.iter().map(|tab| tab.count).collect();
        tabs.partial = view.tabs.iter().map(|tab| tab.is_partial).collect();
        self.findings.view.failed = None;
        self.findings.view.shown = Some(Box::new(view));
    }

    /// The rows of the findings after filter, scope, order or groups changed.
    pub(crate) fn show_findings(&mut self) {
        self.follow_view();
        let table = self.data.findings.value();
        if let Some(table) = table.filter(|table| self.lists.findings.shows(table)) {
            self.lists.findings.restore_selection(&Arc::clone(table));
        }
    }

    /// The findings that the query of a command finds.
    pub(crate) fn found_by_command(&mut self, query: &str) -> Result<RowSet, String> {
        if self.newest_issues().is_none() {
            return Err(format!("{} are still loading", Pane::Findings.title()));
        }
        self.findings.view.command = Some(query.to_owned());
        self.follow_view();
        let wanted = self.wanted_view();
        let is_current = wanted.is_some_and(|wanted| self.is_view_current(&wanted));
        let shown = self.findings.view.shown.as_ref().filter(|_| is_current);
        let found = shown.and_then(|view| view.command.clone());
        match found.filter(|found| !found.is_partial) {
            Some(found) => {
                self.findings.view.command = None;
                Ok(found.rows)
            }
            None => Err(
                "the findings are being searched for this query: try again in a moment".to_owned(),
            ),
        }
    }

    /// The groups of the shown findings for a review. Those of many findings are there when the key
    /// is pressed again.
    pub(crate) fn groups_of(&mut self, by: FindingGroupBy) -> Option<Arc<GroupKeys>> {
        self.findings.view.cards = Some(by);
        self.follow_view();
        let view = self.findings.view.shown.as_ref()?;
        let table = self.data.findings.value()?;
        let made = view.cards.iter().chain(&view.groups);
        let keys = made.into_iter().find(|keys| keys.fits(by, table)).cloned();
        if keys.is_some() {
            self.findings.view.cards = None;
        }
        keys
    }

    /// Completions at a byte of a query on the findings. Values of many findings are offered when
    /// their column was built.
    pub(crate) fn finding_completions(&mut self, text: &str, cursor: usize) -> Vec<Completion> {
        let field = field_at(text, cursor, QueryKind::Findings);
        self.findings.view.offered = field.and_then(offered_column);
        let builds = !self.is_view_large() && !field.is_some_and(is_long);
        let now = self.service_now().as_second();
        let Some(source) = self.source() else {
            return Vec::new();
        };
        let source = match builds {
            true => source.at(now),
            false => source.built_at(now),
        };
        complete(text, cursor, &mut Evaluator::default(), &source)
    }

    /// The fields of columns that new findings take over from the findings before.
    pub(crate) fn searched_fields(&mut self) -> Vec<Field> {
        let fields = Needs::of(&self.view_request()).fields.into_iter();
        let is_of_table = |field: &Field| {
            let values = field.spec().values;
            !field.needs_others(QueryKind::Findings) && !matches!(values, ValueKind::Search)
        };
        fields.filter(is_of_table).collect()
    }

    /// New findings arrived. They are shown together with their view.
    pub(crate) fn handle_correlated(&mut self, generation: Generation, mut correlated: Correlated) {
        if generation != self.connection.generation {
            return self.install_correlated(generation, correlated);
        }
        self.add_decisions(&mut correlated);
        self.retain_before(&correlated);
        self.findings.triage.revision += 1;
        self.findings.view.next = Some(Box::new(NextFindings {
            generation,
            correlated,
        }));
        self.follow_view();
    }
}

/// What a request needs beside the findings.
#[derive(Debug)]
struct Needs {
    request: ViewRequest,
    /// The fields whose columns the queries and the order need. Long texts are searched in chunks,
    /// but sorted by a column.
    fields: BTreeSet<Field>,
    decisions: bool,
    targets: bool,
    workspaces: bool,
    scans: bool,
    texts: bool,
    time: bool,
}

impl Needs {
    fn of(request: &ViewRequest) -> Self {
        let texts = [&request.list.filter, &request.board].into_iter();
        let texts = texts.chain(&request.tabs).chain(&request.command);
        let queries: Vec<Query> = texts
            .filter(|text| !text.is_empty())
            .map(|text| query_of(text, QueryKind::Findings))
            .collect();
        let mut fields: BTreeSet<Field> = queries.iter().flat_map(Query::fields).collect();
        let has_texts = fields.iter().any(|&field| is_long(field));
        fields.retain(|&field| !is_long(field));
        if fields.contains(&Field::Is) {
            fields.insert(Field::Decision);
        }
        fields.extend(request.list.order.iter().map(|key| key.field));
        fields.extend(request.offered);
        let has = |field| fields.contains(&field);
        Self {
            // Group headers count the undecided findings.
            decisions: request.list.groups.is_some()
                || fields.iter().any(|field| field.is_of_decision()),
            // Bare words search the names of targets too.
            targets: has(Field::Text) || has(Field::Target) || has(Field::Workspace),
            workspaces: has(Field::Workspace),
            scans: has(Field::Tool),
            texts: has_texts,
            time: queries.iter().any(Query::depends_on_now),
            fields,
            request: request.clone(),
        }
    }
}

/// The column whose values are offered for a field. Long texts and numbers are not offered.
fn offered_column(field: Field) -> Option<Field> {
    match field.spec().values {
        ValueKind::Flags => Some(Field::Decision),
        ValueKind::Choice(_) | ValueKind::Word | ValueKind::Prose | ValueKind::Risk
            if !is_long(field) =>
        {
            Some(field)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Msg;
    use crate::data::TriageNews;
    use crate::testing::*;
    use proptest::prelude::*;
    use scandeck_domain::triage::{
        Change, Decision, EventWriter, FindingKey, Identity, Subject, Verdict,
    };
    use scandeck_wire::contract::Finding;

    const QUERIES: [&str; 8] = [
        "",
        "is:undecided",
        "risk>=high",
        "target:new",
        "t1",
        "-verdict:fixed port<4",
        "tool:1 or workspace:acme",
        "-workspace:acme",
    ];
    const ORDERS: [&str; 4] = ["", "verdict,-port", "target", "-name"];
    const GROUPS: [Option<FindingGroupBy>; 3] = [
        None,
        Some(FindingGroupBy::Class),
        Some(FindingGroupBy::Target),
    ];

    /// What can happen to a list of findings.
    #[derive(Clone, Debug)]
    enum Happening {
        Findings(Vec<i64>),
        Targets(&'static str),
        /// The workspace is renamed.
        Workspace(&'static str),
        Decision {
            row: usize,
            verdict: Verdict,
        },
        Filter(usize),
        Board(usize),
        Tab(usize),
        Order(usize),
        Sort,
        Group(usize),
        Target(Option<i64>),
        /// The view that was requested first is computed.
        Computed,
        FilterAgain,
    }

    fn happening() -> impl Strategy<Value = Happening> {
        let verdicts = prop::sample::select(vec![Verdict::Confirmed, Verdict::Fixed]);
        prop_oneof![
            prop::collection::vec(1..12_i64, 0..8).prop_map(Happening::Findings),
            prop::sample::select(vec!["t", "new"]).prop_map(Happening::Targets),
            prop::sample::select(vec!["acme", "other"]).prop_map(Happening::Workspace),
            (0..11_usize, verdicts).prop_map(|(row, verdict)| Happening::Decision { row, verdict }),
            (0..QUERIES.len()).prop_map(Happening::Filter),
            (0..QUERIES.len()).prop_map(Happening::Board),
            (0..QUERIES.len()).prop_map(Happening::Tab),
            (0..ORDERS.len()).prop_map(Happening::Order),
            Just(Happening::Sort),
            (0..GROUPS.len()).prop_map(Happening::Group),
            prop::option::of(1..4_i64).prop_map(Happening::Target),
            Just(Happening::Computed),
            Just(Happening::FilterAgain),
        ]
    }

    /// A dashboard whose views are computed when the test says so.
    struct ViewTester {
        app: TestDashboard,
        requested: Option<Box<ViewJob>>,
        writer: EventWriter,
        keys: Vec<FindingKey>,
    }

    impl ViewTester {
        fn new(inline: usize) -> Self {
            let mut app = TestDashboard::new();
            app.keys("3");
            let writer = EventWriter {
                instance: 7,
                ..EventWriter::default()
            };
            let mut tester = Self {
                app,
                requested: None,
                writer,
                keys: Vec::new(),
            };
            tester.poll(&(1..12).collect::<Vec<_>>());
            let issues = tester.app.model.data.findings.value().unwrap();
            tester.keys = issues.items().iter().map(|issue| issue.key()).collect();
            tester.app.holds_work = true;
            tester.app.model.findings.view.inline = inline;
            tester
        }

        fn send(&mut self, msg: Msg) {
            for effect in self.app.send(msg) {
                if let Effect::View(job) = effect {
                    assert!(self.requested.is_none(), "one view at a time");
                    self.requested = Some(job);
                }
            }
        }

        fn compute(&mut self) -> bool {
            let Some(job) = self.requested.take() else {
                return false;
            };
            let viewed = Some(Box::new(view(&job)));
            self.send(Msg::Viewed(Box::new(job.key), viewed));
            true
        }

        fn happen(&mut self, happening: &Happening) {
            let model = &mut self.app.model;
            match happening {
                Happening::Findings(ids) => return self.poll(ids),
                Happening::Targets(name) => {
                    let targets = (1..4).map(|id| target(id, &format!("{name}{id}.acme.test")));
                    return self.update(Snapshot::Targets(table(targets)));
                }
                Happening::Workspace(name) => {
                    let mut workspaces = model.data.workspaces.value().unwrap().items().to_vec();
                    workspaces[0] = Arc::new(Workspace {
                        name: (*name).into(),
                        ..Workspace::clone(&workspaces[0])
                    });
                    let workspaces = workspaces.iter().map(|one| Workspace::clone(one));
                    return self.update(Snapshot::Workspaces(table(workspaces)));
                }
                Happening::Decision { row, verdict } => return self.decide(*row, *verdict),
                Happening::Filter(at) => model.set_query(Pane::Findings, QUERIES[*at]).unwrap(),
                Happening::Board(at) => model.set_query(Pane::Board, QUERIES[*at]).unwrap(),
                Happening::Tab(at) => {
                    QUERIES[*at].clone_into(&mut model.settings.tabs.saved[0].query);
                }
                Happening::Order(at) => model.set_order(Pane::Findings, ORDERS[*at]).unwrap(),
                Happening::Sort => {
                    model.cursor(Pane::Findings).next_sort();
                    model.show_rows(Pane::Findings);
                }
                Happening::Group(at) => model.lists.finding_groups.requested = GROUPS[*at],
                Happening::Target(id) => {
                    let scope = crate::base::Scope {
                        target: id.map(Into::into),
                        ..model.navigation.scope.clone()
                    };
                    crate::model::navigation::set_scope(model, scope);
                }
                Happening::Computed => _ = self.compute(),
                Happening::FilterAgain => {
                    model.lists.findings.retained = Arc::default();
                    model.show_rows(Pane::Findings);
                }
            }
            self.send(Msg::Wake);
        }

        fn poll(&mut self, ids: &[i64]) {
            let of = |&id: &i64| Finding {
                port: id % 5,
                vuln_id: format!("kind.{}", id % 3).into(),
                ..finding(id, 1 + id % 3, &format!("Weakness {id}"), Risk::High)
            };
            self.update(Snapshot::Findings(table(ids.iter().map(of))));
        }

        fn update(&mut self, snapshot: Snapshot) {
            let update = Update {
                generation: self.app.model.connection.generation,
                at: stamp(),
                event: PollEvent::Snapshot(snapshot),
            };
            self.send(Msg::Update(update));
        }

        /// Another dashboard decides a finding.
        fn decide(&mut self, row: usize, verdict: Verdict) {
            let Some(&key) = self.keys.get(row) else {
                return;
            };
            let batch = self.writer.next();
            let at = (stamp(), self.app.model.findings.triage.state.clock() + 1);
            let subject = Subject::Finding(Identity {
                key,
                ..Identity::default()
            });
            let change = Change::Decide(Decision {
                verdict,
                ..Decision::default()
            });
            let event = self.writer.write(at, batch, vec![], subject, change);
            self.send(Msg::Triage(TriageNews::Events(vec![Arc::new(event)])));
        }

        /// The view that follows from the data alone.
        fn recomputed(&mut self) -> FindingsView {
            let model = &mut self.app.model;
            let wanted = model.wanted_view().unwrap();
            model.findings.view.source = None;
            let job = model.view_job(wanted).unwrap();
            view(&ViewJob {
                made_groups: Vec::new(),
                made_order: None,
                ..job
            })
        }

        fn check(&mut self) {
            let expected = self.recomputed();
            let model = &self.app.model;
            let shown = model.findings.view.shown.as_ref().unwrap();
            assert!(shown.key.covers(&expected.key), "{:?}", shown.key);
            let table = model.data.findings.value().unwrap();
            assert!(Arc::ptr_eq(table, &expected.source.input.issues));
            let list = &model.lists.findings;
            assert_eq!(*list.rows, expected.list.rows);
            assert_eq!(
                (&list.why, list.in_scope, &list.retained_only),
                (
                    &expected.list.why,
                    expected.list.in_scope,
                    &expected.list.retained_only
                )
            );
            assert_eq!(shown.tabs, expected.tabs);
            assert_eq!(shown.board, expected.board);
            let groups = |view: &FindingsView| {
                let keys = view.groups.as_ref();
                keys.map(|keys| (keys.by, keys.of.clone()))
            };
            assert_eq!(groups(shown), groups(&expected));
            assert_eq!(list.groups.is_on(), expected.groups.is_some());
        }

        /// The shown findings by their ids at the service.
        fn shown(&mut self) -> Vec<i64> {
            self.app.shown(Pane::Findings)
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Whatever happens, and wherever the view is computed, the screen shows in the end what
        /// follows from the data, and both ways show the same.
        #[test]
        fn shown_view_is_that_of_the_data(history in prop::collection::vec(happening(), 0..24)) {
            let mut all = [0, usize::MAX].map(ViewTester::new);
            for tester in &mut all {
                history.iter().for_each(|happening| tester.happen(happening));
                while tester.compute() {}
                tester.check();
                tester.happen(&Happening::FilterAgain);
                while tester.compute() {}
                tester.check();
            }
            let [of_job, at_once] = all.each_mut().map(ViewTester::shown);
            prop_assert_eq!(of_job, at_once);
        }
    }

    #[test]
    fn columns_built_while_other_lists_are_unread_stay_current() {
        let mut dashboard = TestDashboard::new();
        let data = &mut dashboard.model.data;
        (data.targets, data.workspaces, data.scans) = Default::default();
        let first = dashboard.model.source().unwrap();
        dashboard.model.findings.view.source = None;
        let second = dashboard.model.source().unwrap();
        for field in [Field::Target, Field::Workspace, Field::Tool] {
            assert!(first.input.is_current(field, &second.input), "{field:?}");
        }
    }
}
