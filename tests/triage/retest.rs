//! Life cycle of a weakness of the practice target: found, marked fixed, switched off, retested,
//! switched on again, regression.
//!
//! The dashboard's core is driven by keys; what it wants is carried out at a real service with its
//! own engine.

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use scandeck::contract::{Scan, ScanCreated, ScanId, Stamp, Target, Workspace};
use scandeck::dashboard::base::plan::Snapshot;
use scandeck::dashboard::base::{
    Call, CallAnswer, Effect, Now, Pane, PollEvent, Session, Size, Update,
};
use scandeck::dashboard::core::{Msg, update};
use scandeck::dashboard::data::{BoardRow, StoredDecisions, TriageNews};
use scandeck::dashboard::model::Model;
use scandeck::demo::practice::Practice;
use scandeck::service::{Parts, start_with};
use scandeck::table::{Item, Table};
use scandeck::triage::{
    Assessment, EventWriter, Issue, Outcome, Presence, ReopenCause, Verdict, correlate, retest,
};
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::service::{TestService, settings};

/// The core, with a clock that goes half a second a message.
struct RetestDashboard {
    model: Model,
    at: Duration,
}

impl RetestDashboard {
    fn new() -> Self {
        let model = Model::new(
            Session::default(),
            Size {
                columns: 120,
                rows: 40,
            },
        );
        let mut app = Self {
            model,
            at: Duration::ZERO,
        };
        let writer = Some(EventWriter {
            who: "ann".into(),
            instance: 1,
            ..EventWriter::default()
        });
        app.send(Msg::Triage(TriageNews::Opened(Box::new(StoredDecisions {
            writer,
            ..StoredDecisions::default()
        }))));
        app
    }

    fn send(&mut self, msg: Msg) -> Vec<Effect> {
        self.at += Duration::from_millis(500);
        let now = Now {
            mono: self.at,
            wall: jiff::Timestamp::now(),
        };
        let mut effects = update(&mut self.model, now, msg);
        while let Some(at) = effects
            .iter()
            .position(|effect| matches!(effect, Effect::Correlate(..)))
        {
            if let Effect::Correlate(generation, input) = effects.remove(at) {
                effects.extend(update(
                    &mut self.model,
                    now,
                    Msg::Correlated(generation, Box::new(correlate(&input))),
                ));
            }
        }
        effects
    }

    fn feed(&mut self, event: impl Into<PollEvent>) {
        let (generation, at) = (
            self.model.connection.generation,
            Stamp(jiff::Timestamp::now()),
        );
        self.send(Msg::Update(Update {
            generation,
            at,
            event: event.into(),
        }));
    }

    fn press(&mut self, letter: char) -> Vec<Effect> {
        self.send(Msg::Key(KeyEvent::new(
            KeyCode::Char(letter),
            KeyModifiers::NONE,
        )))
    }

    /// The finding of a kind, with its decision.
    fn of(&self, kind: &str) -> (Arc<Issue>, Assessment) {
        let all = self.model.data.findings.value().unwrap();
        let issue = all
            .items()
            .iter()
            .find(|issue| *issue.vuln_id == *kind)
            .unwrap_or_else(|| panic!("no {kind}"));
        (
            Arc::clone(issue),
            self.model.assessment(issue.id).cloned().unwrap(),
        )
    }

    fn now(&self, kind: &str) -> retest::RetestStatus {
        let (issue, _) = self.of(kind);
        let rows: &Arc<Table<BoardRow>> = self.model.data.board.value().unwrap();
        rows.get(issue.id).unwrap().now
    }
}

async fn read<T: Item + DeserializeOwned>(service: &TestService, path: &str) -> Arc<Table<T>> {
    let answer = service.get(path).await;
    let all: Vec<T> = serde_json::from_value(answer.data().clone()).unwrap();
    Arc::new(Table::new(all))
}

/// Sends the present data of the service to the core.
async fn learn(app: &mut RetestDashboard, service: &TestService) {
    app.feed(Snapshot::Workspaces(
        read::<Workspace>(service, "/workspaces").await,
    ));
    app.feed(Snapshot::Targets(read::<Target>(service, "/targets").await));
    app.feed(Snapshot::Scans(
        read::<Scan>(service, "/scans?limit=100").await,
    ));
    app.feed(Snapshot::Findings(
        read::<scandeck::triage::ListedFinding>(service, "/findings?limit=100").await,
    ));
}

/// Runs the requested scans, waits for their end and updates the core.
async fn carry_out(app: &mut RetestDashboard, service: &TestService, effects: Vec<Effect>) {
    let mut started = Vec::new();
    for effect in effects {
        let Effect::Call(ticket, call) = effect else {
            continue;
        };
        let Call::StartScan(new) = *call else {
            continue;
        };
        let id = service
            .post("/scans", serde_json::to_value(&new).unwrap())
            .await
            .created();
        let scan = ScanCreated {
            created_id: Some(ScanId(id)),
            target_id: None,
        };
        app.send(Msg::Called {
            ticket,
            result: Ok(CallAnswer::Scan(scan)),
        });
        started.push(id);
    }
    assert_eq!(started.len(), 1, "one scan for what one scan found");
    for id in started {
        service.until_status(id, "finished").await;
    }
    learn(app, service).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fixed_finding_is_absent_and_reappears_as_regression() {
    const GIT: &str = "web.exposed.git";
    let (stop, dir) = (CancellationToken::new(), tempfile::tempdir().unwrap());
    let practice = Practice::start(stop.clone()).await.unwrap();
    let running = start_with(settings(dir.path()), stop.clone(), Parts::default())
        .await
        .unwrap();
    let service = TestService::of(running, stop);
    let body = json!({"tool_id": 170, "target_name": practice.http_url(), "tool_params": {"scan_type": "light"}});
    let first = service.post("/scans", body).await.created();
    service.until_status(first, "finished").await;

    let mut app = RetestDashboard::new();
    learn(&mut app, &service).await;
    let (issue, assessment) = app.of(GIT);
    assert!(assessment.is_undecided());
    app.model.navigation.focus.pane = Pane::Findings;
    app.model.lists.findings.filter = format!("vuln_id:{GIT}");
    app.model.show_rows(Pane::Findings);
    app.model.cursor(Pane::Findings).select_id(issue.id.0);
    app.press('k');
    app.press('x');
    assert_eq!(
        app.of(GIT).1.verdict,
        Verdict::Fixed,
        "{:?}",
        app.model.overlay.notices
    );

    // Switched off: the retest does not find it, and its decision holds.
    assert!(practice.weaknesses.set("git", false));
    app.press(' ');
    app.press('s');
    let effects = app.press('y');
    assert_eq!(
        app.model.navigation.focus.pane,
        Pane::Findings,
        "the list remains"
    );
    carry_out(&mut app, &service, effects).await;
    assert_eq!(app.now(GIT), retest::RetestStatus::Is(Outcome::Absent));
    let all = app.model.data.findings.value().unwrap().items();
    let is_untouched =
        |issue: &Arc<Issue>| *issue.vuln_id == *GIT || issue.presence == Presence::New;
    assert!(all.iter().all(is_untouched), "{all:?}");
    let (issue, assessment) = app.of(GIT);
    assert_eq!(
        (issue.presence, assessment.verdict, assessment.reopened),
        (Presence::Absent, Verdict::Fixed, None)
    );

    // The weakness is on again: the board shows `found again`, the findings a regression.
    assert!(practice.weaknesses.set("git", true));
    app.press('s');
    let effects = app.press('y');
    carry_out(&mut app, &service, effects).await;
    assert_eq!(app.now(GIT), retest::RetestStatus::Is(Outcome::New));
    let (issue, assessment) = app.of(GIT);
    assert_eq!(
        (issue.presence, assessment.reopened),
        (Presence::Reappeared, Some(ReopenCause::Regression))
    );
    assert!(assessment.is_undecided());
    service.stop().await;
}
