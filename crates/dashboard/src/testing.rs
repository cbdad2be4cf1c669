//! Scripted tests of the dashboard: state before, keys, state after.
//!
//! A [`TestDashboard`] is a dashboard with data and a clock that advances by 300 ms per key. Keys
//! are written as in the key table: `dashboard.keys("4 j enter")`. Text between single quotes is
//! typed letter by letter.

pub(crate) use std::sync::Arc;
use std::sync::{LazyLock, Mutex};
pub(crate) use std::time::Duration;

pub(crate) use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
pub(crate) use jiff::Timestamp;

pub(crate) use crate::base::plan::Snapshot;
pub(crate) use crate::base::{
    Call, CallAnswer, CaptureRow, Effect, Measures, Now, Pane, PollEvent, Session, Size, Ticket,
    Update,
};
use crate::config::file::{CommandOutput, CommandSetting};
use crate::core::Msg;
use crate::core::draw::frames::TestFrames;
pub(crate) use crate::core::update::update;
use crate::data::{OobNews, RecordedCalls, TeamNews, TriageNews};
use crate::list::view;
pub(crate) use crate::model::Modal;
use crate::model::Model;
pub(crate) use scandeck_client::calls::{ApiCall, CallEnd, CallId, SentBody};
pub(crate) use scandeck_domain::oob::{ArchivedCapture, Hits, Token};
pub(crate) use scandeck_domain::problem::Problem;
pub(crate) use scandeck_domain::table::Table;
pub(crate) use scandeck_domain::triage::EventWriter;
use scandeck_domain::triage::ListedFinding;
pub(crate) use scandeck_wire::contract::schedule::ScanSchedule;
use scandeck_wire::contract::team::Member;
pub(crate) use scandeck_wire::contract::{
    Capture, CaptureId, Finding, FindingId, Logger, LoggerId, Report, ReportId, Risk, Scan, ScanId,
    ScanStatus, ScheduleId, Stamp, Target, TargetId, Wordlist, WordlistId, Workspace, WorkspaceId,
};

pub(crate) struct TestDashboard {
    pub model: Model,
    pub at: Duration,
    /// A test builds columns and searches texts by itself.
    pub holds_work: bool,
    frames: TestFrames,
}

pub(crate) fn stamp() -> Stamp {
    Stamp(Timestamp::from_second(1_800_000_000).unwrap())
}

impl TestDashboard {
    /// A dashboard without data.
    pub fn blank(columns: u16, rows: u16) -> Self {
        let session = Session {
            name: "local".into(),
            base_url: "http://127.0.0.1:8765/api/v2".into(),
            ..Session::default()
        };
        let model = Model::new(session, Size { columns, rows });
        Self {
            model,
            at: Duration::ZERO,
            holds_work: false,
            frames: TestFrames::default(),
        }
    }

    /// A dashboard in the same state.
    pub fn copy(&self) -> Self {
        Self {
            model: self.model.clone(),
            at: self.at,
            holds_work: self.holds_work,
            frames: TestFrames::default(),
        }
    }

    /// Two workspaces; the first has 5 targets, 4 scans, 6 findings, 1 logger with 3 captures, 1
    /// report, 2 wordlists, 2 schedules, the second paused.
    pub fn new() -> Self {
        // Each test gets a copy. The lock is for text inputs, which threads cannot share.
        static FILLED: LazyLock<Mutex<Model>> =
            LazyLock::new(|| Mutex::new(TestDashboard::filled().model));
        let mut app = Self::blank(200, 60);
        app.model = FILLED.lock().unwrap().clone();
        app
    }

    fn filled() -> Self {
        let mut app = Self::blank(200, 60);
        app.model.findings.triage.writer = Some(EventWriter {
            who: "ann@test".into(),
            instance: 1,
            ..EventWriter::default()
        });
        app.model.captures.oob.writable = true;
        app.model.screen.measures.list_rows = 10;
        app.model.screen.measures.detail_rows = 10;
        let workspace = |id: i64, name: &str, target_count| Workspace {
            id: WorkspaceId(id),
            name: name.into(),
            target_count,
            scan_count: 4,
            ..Workspace::default()
        };
        app.feed(Snapshot::Workspaces(table([
            workspace(1, "Acme", 5),
            workspace(2, "Lab", 0),
        ])));
        app.feed(Snapshot::Targets(table(
            (1..=5).map(|id| target(id, &format!("t{id}.acme.test"))),
        )));
        app.feed(Snapshot::Scans(table([
            scan(1, 1, ScanStatus::Finished, 100),
            scan(2, 2, ScanStatus::Running, 50),
            scan(3, 2, ScanStatus::Waiting, 0),
            scan(4, 3, ScanStatus::Finished, 100),
        ])));
        app.feed(Snapshot::Findings(table([
            finding(1, 1, "Private key", Risk::Critical),
            finding(2, 1, "Git repository", Risk::High),
            finding(3, 2, "Git ignored", Risk::Medium),
            finding(4, 2, "Cookie flags", Risk::Low),
            finding(5, 3, "Banner", Risk::Info),
            finding(6, 3, "Open port", Risk::Info),
        ])));
        app.feed(Snapshot::Loggers(table([Logger {
            id: LoggerId(1),
            label: "probe".into(),
            handler_url: "http://127.0.0.1:8766/l/abc/".into(),
            num_requests: 3,
            requests_left: 997,
            active_days: 13,
        }])));
        app.capture(1, 1..=3);
        let report = Report {
            id: ReportId(1),
            download_name: "acme.html".into(),
            ..Report::default()
        };
        app.feed(Snapshot::Reports(table([report])));
        let words = |id: i64, predefined| Wordlist {
            id: WordlistId(id),
            name: format!("words{id}").as_str().into(),
            predefined,
            ..Wordlist::default()
        };
        app.feed(Snapshot::Wordlists(table([
            words(1, true),
            words(2, false),
        ])));
        let schedule = |id: i64, is_paused: bool| ScanSchedule {
            id: ScheduleId(id),
            name: format!("nightly{id}").as_str().into(),
            every: "1d".into(),
            next_start: (!is_paused).then(stamp),
            is_paused,
            ..ScanSchedule::default()
        };
        app.feed(Snapshot::Schedules(table([
            schedule(1, false),
            schedule(2, true),
        ])));
        let call = |id: i64, path: &str, end| ApiCall {
            id: CallId(id),
            started: Some(stamp()),
            method: "GET".into(),
            path: path.into(),
            end,
            ..ApiCall::default()
        };
        let ended = CallEnd {
            milliseconds: 12,
            status: Some(200),
            bytes: 512,
            error: None,
        };
        app.record([
            call(1, "/scans?page=1", Some(ended)),
            call(2, "/findings", None),
        ]);
        app.counted(&[]);
        app
    }

    /// The runtime reports calls to the activity view.
    pub fn record(&mut self, calls: impl IntoIterator<Item = ApiCall>) {
        self.send(Msg::Calls(Box::new(RecordedCalls {
            table: table(calls),
            budget: None,
            memory: None,
        })));
    }

    pub fn send(&mut self, msg: Msg) -> Vec<Effect> {
        let wall = stamp()
            .0
            .checked_add(jiff::SignedDuration::try_from(self.at).unwrap())
            .unwrap();
        let now = Now {
            mono: self.at,
            wall,
        };
        let mut effects = update(&mut self.model, now, msg);
        // The runtime correlates findings in a task; here it happens at once.
        while let Some(at) = effects
            .iter()
            .position(|effect| matches!(effect, Effect::Correlate(..)))
        {
            if let Effect::Correlate(generation, input) = effects.remove(at) {
                let correlated = Box::new(scandeck_domain::triage::correlate(&input));
                effects.extend(update(
                    &mut self.model,
                    now,
                    Msg::Correlated(generation, correlated),
                ));
            }
        }
        // Views are computed and texts are searched at once, unless a test does it.
        let is_work = |effect: &Effect| matches!(effect, Effect::View(_) | Effect::SearchTexts(_));
        while let Some(at) = effects
            .iter()
            .position(is_work)
            .filter(|_| !self.holds_work)
        {
            let msg = match effects.remove(at) {
                Effect::View(job) => {
                    Msg::Viewed(Box::new(job.key.clone()), Some(Box::new(view(&job))))
                }
                Effect::SearchTexts(chunk) => {
                    Msg::TextsSearched(chunk.clone(), Some(chunk.search()))
                }
                other => panic!("{other:?}"),
            };
            effects.extend(update(&mut self.model, now, msg));
        }
        // Random numbers are counted up, so that tests know the tokens.
        while let Some(at) = effects
            .iter()
            .position(|effect| matches!(effect, Effect::DrawPayloadNumbers(_)))
        {
            if let Effect::DrawPayloadNumbers(payload_request) = effects.remove(at) {
                let first = self.model.captures.oob.book.len() as u64 + 1;
                let numbers = (first..).take(payload_request.count).collect();
                effects.extend(update(
                    &mut self.model,
                    now,
                    Msg::PayloadNumbers(payload_request, numbers),
                ));
            }
        }
        // Decisions are on disk at once.
        for _ in effects
            .iter()
            .filter(|effect| matches!(effect, Effect::Record(_)))
        {
            update(&mut self.model, now, Msg::Triage(TriageNews::Saved));
        }
        // Captures are evaluated to the last chunk, and bodies in files are read at once.
        let is_reading = |effect: &Effect| {
            matches!(
                effect,
                Effect::NextChunk
                    | Effect::ReadCaptures(..)
                    | Effect::ReadFindings(..)
                    | Effect::Chain(_)
                    | Effect::CheckProof(_)
            )
        };
        while let Some(at) = effects.iter().position(is_reading) {
            let msg = match effects.remove(at) {
                Effect::ReadCaptures(purpose, captures) => {
                    let captures = captures
                        .iter()
                        .map(|record| record.whole().unwrap())
                        .collect();
                    Msg::CapturesRead {
                        purpose,
                        captures,
                        problem: None,
                    }
                }
                Effect::ReadFindings(purpose, findings) => {
                    let read =
                        |one: Arc<ListedFinding>| (Arc::clone(&one), Ok(one.texts().unwrap()));
                    Msg::FindingsRead(purpose, findings.into_iter().map(read).collect())
                }
                Effect::CheckProof(planned) => Msg::ProofChecked(planned, Ok(())),
                Effect::Chain(request) => Msg::Chained(Box::new(Ok(request.tree().unwrap()))),
                _ => Msg::NextChunk,
            };
            effects.extend(update(&mut self.model, now, msg));
        }
        // The runtime draws a frame when no message is queued.
        let row = self.model.selected_row(self.model.navigation.focus.pane);
        let measures = Measures {
            row,
            ..self.model.screen.measures.clone()
        };
        self.model.drawn(self.at, measures);
        effects
    }

    /// Draws a frame, for tests of what depends on places on the screen. Returns its lines.
    pub fn frame(&mut self) -> Vec<String> {
        let (lines, measures) = self.frames.frame(&self.model);
        self.model.drawn(self.at, measures);
        lines
    }

    /// The text of the detail for a pager.
    pub fn paged(&mut self) -> String {
        self.frames.paged(&self.model).expect("a detail")
    }

    /// The service is one of scandeck.
    pub fn learn_extensions(&mut self) {
        self.send(Msg::Team(TeamNews::Member(Member {
            service: "s1".into(),
            ..Member::default()
        })));
    }

    pub fn feed(&mut self, event: impl Into<PollEvent>) {
        let generation = self.model.connection.generation;
        self.send(Msg::Update(Update {
            generation,
            at: stamp(),
            event: event.into(),
        }));
    }

    pub fn capture(&mut self, logger: i64, ids: std::ops::RangeInclusive<i64>) {
        self.receive(logger, ids.map(capture).collect());
    }

    /// Captures of a logger arrive from the archive.
    pub fn receive(&mut self, logger: i64, captures: Vec<Capture>) {
        let new = captures
            .into_iter()
            .map(|capture| capture_row(logger, capture))
            .collect();
        let generation = self.model.connection.generation;
        self.send(Msg::Oob(OobNews::Captures { generation, new }));
    }

    /// The archive reports the hits of payloads by their numbers, as a complete count.
    pub fn counted(&mut self, hits: &[(u64, u64)]) {
        let hits = hits.iter().map(|&(token, count)| {
            (
                Token::of(token),
                Hits {
                    count,
                    first: Some(stamp()),
                    last: Some(stamp()),
                },
            )
        });
        let (generation, hits) = (self.model.connection.generation, hits.collect());
        self.send(Msg::Oob(OobNews::Hits {
            generation,
            hits,
            all: true,
        }));
    }

    /// Presses keys, 300 ms apart; returns the effects of all.
    pub fn keys(&mut self, script: &str) -> Vec<Effect> {
        let mut effects = Vec::new();
        for event in events(script) {
            self.at += Duration::from_millis(300);
            effects.extend(self.send(Msg::Key(event)));
            // The detail follows before the next key.
            if let Some(at) = self.model.screen.detail.follows_at() {
                let pressed = std::mem::replace(&mut self.at, at);
                effects.extend(self.send(Msg::Wake));
                self.at = pressed;
            }
        }
        effects
    }

    /// The calls that the keys cause.
    pub fn calls(&mut self, script: &str) -> Vec<(Ticket, Call)> {
        calls(self.keys(script))
    }

    /// Answers calls; returns the effects of the answers.
    pub fn answer(
        &mut self,
        sent: &[(Ticket, Call)],
        with: impl Fn(&Call) -> Result<CallAnswer, Problem>,
    ) -> Vec<Effect> {
        let mut effects = Vec::new();
        for (ticket, call) in sent {
            effects.extend(self.send(Msg::Called {
                ticket: *ticket,
                result: with(call),
            }));
        }
        effects
    }

    pub fn notices(&self) -> String {
        self.model
            .overlay
            .notices
            .iter()
            .map(|notice| notice.text.as_str())
            .collect::<Vec<_>>()
            .join(" | ")
    }

    pub fn prompt(&self) -> &crate::prompts::Prompt {
        match self.model.overlay.modals.last() {
            Some(Modal::Prompt(prompt)) => prompt,
            other => panic!("no prompt but {other:?}; notices: {}", self.notices()),
        }
    }

    pub fn form(&self) -> &crate::forms::Form {
        match self.model.overlay.modals.last() {
            Some(Modal::Form(form)) => form,
            other => panic!("no form but {other:?}; notices: {}", self.notices()),
        }
    }

    /// Ids of the rows of a pane; for findings the ids of the service.
    pub fn shown(&mut self, pane: Pane) -> Vec<i64> {
        let cursor = self.model.cursor(pane);
        let ids: Vec<i64> = (0..cursor.len())
            .filter_map(|at| cursor.ids_at(at).pop())
            .collect();
        drop(cursor);
        ids.into_iter()
            .map(|id| self.model.service_id(pane, id))
            .collect()
    }

    /// Id of the selected row of a pane; for a finding the id of the service.
    pub fn selected(&self, pane: Pane) -> Option<i64> {
        Some(self.model.service_id(pane, self.model.selected_id(pane)?))
    }

    /// The ids that an action applies to: chosen rows, and marked rows that are hidden.
    pub fn chosen(&mut self, pane: Pane) -> (Vec<i64>, Vec<i64>) {
        let chosen = self.model.cursor(pane).chosen();
        let service_ids = |ids: Vec<i64>| {
            ids.into_iter()
                .map(|id| self.model.service_id(pane, id))
                .collect()
        };
        (service_ids(chosen.ids), service_ids(chosen.hidden))
    }
}

pub(crate) fn calls(effects: Vec<Effect>) -> Vec<(Ticket, Call)> {
    let call = |effect| match effect {
        Effect::Call(ticket, call) => Some((ticket, *call)),
        _ => None,
    };
    effects.into_iter().filter_map(call).collect()
}

pub(crate) fn events(script: &str) -> Vec<KeyEvent> {
    let mut events = Vec::new();
    let mut rest = script.trim();
    while !rest.is_empty() {
        if let Some(text) = rest.strip_prefix('\'') {
            let (typed, after) = text.split_once('\'').unwrap();
            events.extend(
                typed
                    .chars()
                    .map(|letter| KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE)),
            );
            rest = after.trim_start();
            continue;
        }
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        events.push(event(word));
        rest = after.trim_start();
    }
    events
}

pub(crate) fn event(word: &str) -> KeyEvent {
    let key = crate::input::KeyChord::parse(word).unwrap_or_else(|| panic!("no key: {word}"));
    let modifiers = if word.starts_with("ctrl-") {
        KeyModifiers::CONTROL
    } else {
        KeyModifiers::NONE
    };
    KeyEvent::new(key.code(), modifiers)
}

pub(crate) fn table<T: scandeck_domain::table::Item>(
    items: impl IntoIterator<Item = impl scandeck_domain::table::IntoRow<T>>,
) -> Arc<Table<T>> {
    Arc::new(Table::new(items))
}

pub(crate) fn target(id: i64, name: &str) -> Target {
    Target {
        id: TargetId(id),
        name: name.into(),
        workspace_id: WorkspaceId(1),
        ..Target::default()
    }
}

pub(crate) fn scan(id: i64, target: i64, status: ScanStatus, progress: i64) -> Scan {
    Scan {
        id: ScanId(id),
        tool_id: 170,
        target_id: TargetId(target),
        status_name: status,
        progress,
        ..Scan::default()
    }
}

pub(crate) fn finding(id: i64, target: i64, name: &str, risk: Risk) -> Finding {
    Finding {
        id: FindingId(id),
        name: name.into(),
        risk_level: risk,
        target_id: Some(TargetId(target)),
        task_id: Some(ScanId(target)),
        ..Finding::default()
    }
}

pub(crate) fn capture_row(logger: i64, capture: Capture) -> CaptureRow {
    let archived = ArchivedCapture {
        workspace: "Acme".into(),
        logger: LoggerId(logger),
        label: "probe".into(),
        handler_url: "http://127.0.0.1:8766/l/abc/".into(),
        seen_at: stamp(),
        capture: Arc::new(capture),
    };
    CaptureRow::new(&archived, Vec::new())
}

pub(crate) fn capture(id: i64) -> Capture {
    Capture {
        id: CaptureId(id),
        request_method: "GET".into(),
        url_params: format!("t={id}").as_str().into(),
        path: Some("/l/abc/x".into()),
        request_date: Some(Stamp(Timestamp::from_second(1_799_999_000 + id).unwrap())),
        ..Capture::default()
    }
}

/// A command of the configuration, on the key `Z` in lists.
pub fn ticket_command(output: CommandOutput, changes: bool) -> CommandSetting {
    CommandSetting {
        line: 1,
        name: "ticket".into(),
        keys: vec!["Z".into()],
        context: "lists".into(),
        words: vec!["tracker".into()],
        output,
        changes,
    }
}
