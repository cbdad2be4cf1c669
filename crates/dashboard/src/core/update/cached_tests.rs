//! Cached lists: shown at once, marked stale, and never in place of fresh data.

use crate::base::CachedList;
use crate::core::update::Msg;
use crate::testing::*;
use scandeck_domain::table::Remote;
use scandeck_domain::triage::ListedFinding;

fn cached_at() -> Stamp {
    Stamp(stamp().0 - jiff::SignedDuration::from_mins(2))
}

impl TestDashboard {
    fn load_cached(&mut self, snapshot: Snapshot) {
        let generation = self.model.connection.generation;
        self.send(Msg::Cached(CachedList {
            generation,
            at: cached_at(),
            worked_in: None,
            snapshot,
        }));
    }

    fn load_cached_workspaces(&mut self, worked_in: Option<i64>) {
        let workspace = |id: i64, name: &str, target_count| Workspace {
            id: WorkspaceId(id),
            name: name.into(),
            target_count,
            ..Workspace::default()
        };
        let snapshot =
            Snapshot::Workspaces(table([workspace(1, "Acme", 5), workspace(2, "Lab", 0)]));
        let worked_in = worked_in.map(WorkspaceId);
        self.send(Msg::Cached(CachedList {
            generation: 0,
            at: cached_at(),
            worked_in,
            snapshot,
        }));
    }

    fn active_workspace(&self) -> Option<i64> {
        self.model.navigation.scope.workspace.map(|id| id.0)
    }
}

fn findings() -> Arc<Table<ListedFinding>> {
    table([
        finding(1, 1, "Private key", Risk::Critical),
        finding(2, 1, "Git repository", Risk::High),
    ])
}

#[test]
fn last_workspace_is_selected_before_first_response() {
    for (worked_in, requested, selected) in [
        (Some(2), None, Some(2)),
        (None, None, Some(1)),
        (Some(9), None, Some(1)),
        (Some(2), Some("acme"), Some(1)),
        (Some(2), Some("New"), None),
    ] {
        let mut app = TestDashboard::blank(200, 60);
        app.model.session.workspace = requested.map(str::to_owned);
        app.load_cached_workspaces(worked_in);
        assert_eq!(
            app.active_workspace(),
            selected,
            "{worked_in:?} {requested:?}"
        );
        assert_eq!(
            app.notices(),
            "",
            "the cache must not report a missing workspace"
        );
    }
}

#[test]
fn cached_findings_are_stale_until_response_and_cursor_remains() {
    let mut app = TestDashboard::blank(200, 60);
    app.load_cached_workspaces(Some(1));
    app.load_cached(Snapshot::Targets(table([target(1, "t1.acme.test")])));
    app.load_cached(Snapshot::Findings(findings()));
    assert_eq!(app.shown(Pane::Findings), [1, 2]);
    let Remote::Stale { at, .. } = &app.model.data.findings else {
        panic!("{:?}", app.model.data.findings)
    };
    assert_eq!(*at, cached_at());
    app.keys("j");
    let more = [
        finding(3, 1, "Backup", Risk::Critical),
        finding(2, 1, "Git repository", Risk::High),
    ];
    app.feed(Snapshot::Findings(table(more)));
    assert!(matches!(app.model.data.findings, Remote::Fresh { .. }));
    assert_eq!(
        (app.shown(Pane::Findings), app.selected(Pane::Findings)),
        (vec![3, 2], Some(2))
    );
}

#[test]
fn fresh_lists_are_not_replaced_by_cache() {
    let mut app = TestDashboard::new();
    let fresh = app.shown(Pane::Findings);
    app.load_cached_workspaces(Some(2));
    app.load_cached(Snapshot::Targets(table([target(9, "gone.acme.test")])));
    app.load_cached(Snapshot::Scans(table([scan(
        9,
        9,
        ScanStatus::Finished,
        100,
    )])));
    app.load_cached(Snapshot::Loggers(Default::default()));
    app.load_cached(Snapshot::Findings(table([finding(
        9,
        9,
        "Gone",
        Risk::Critical,
    )])));
    assert_eq!(app.active_workspace(), Some(1));
    assert_eq!(app.shown(Pane::Findings), fresh);
    assert!(matches!(app.model.data.targets, Remote::Fresh { .. }));
    assert_eq!(
        (app.shown(Pane::Targets).len(), app.shown(Pane::Scans).len()),
        (5, 4)
    );
    assert_eq!(app.shown(Pane::Loggers), [1]);
}

#[test]
fn failed_list_shows_cache_with_error() {
    let mut app = TestDashboard::blank(200, 60);
    app.load_cached_workspaces(Some(1));
    let problem = Arc::new(Problem::local("refused"));
    app.feed(PollEvent::Failed(
        crate::base::ListKind::Findings,
        Arc::clone(&problem),
    ));
    app.load_cached(Snapshot::Findings(findings()));
    assert_eq!(app.model.data.findings.problem(), Some(&*problem));
    assert_eq!(app.shown(Pane::Findings), [1, 2]);
}

#[test]
fn findings_after_failed_read_are_current_again_with_equal_response() {
    let mut app = TestDashboard::new();
    let Remote::Fresh { value, .. } = app.model.data.occurrences.clone() else {
        panic!()
    };
    let problem = Arc::new(Problem::local("rate limit reached"));
    app.feed(PollEvent::Failed(crate::base::ListKind::Findings, problem));
    assert!(matches!(app.model.data.findings, Remote::Stale { .. }));
    app.feed(Snapshot::Findings(value));
    assert!(
        matches!(app.model.data.findings, Remote::Fresh { .. }),
        "{:?}",
        app.model.visible_problem()
    );
}

#[test]
fn stale_findings_are_as_old_as_their_last_confirmation() {
    let mut app = TestDashboard::new();
    let list = crate::base::ListKind::Findings;
    let confirmed = Stamp(app.model.now.wall + jiff::SignedDuration::from_mins(10));
    app.feed(PollEvent::Confirmed(list, confirmed));
    app.feed(PollEvent::Failed(
        list,
        Arc::new(Problem::local("connection refused")),
    ));
    let Remote::Stale { at, .. } = app.model.data.findings else {
        panic!()
    };
    assert_eq!(at, confirmed);
}

#[test]
fn cached_lists_of_previous_workspace_are_dropped() {
    let mut app = TestDashboard::blank(200, 60);
    app.load_cached_workspaces(Some(1));
    let late = CachedList {
        generation: app.model.connection.generation,
        at: cached_at(),
        worked_in: None,
        snapshot: Snapshot::Findings(findings()),
    };
    app.model.work_in(WorkspaceId(2));
    app.send(Msg::Cached(late));
    assert!(app.model.data.occurrences.value().is_none());
}

#[test]
fn changes_since_cache_count_as_new() {
    let mut app = TestDashboard::blank(80, 24);
    app.load_cached_workspaces(Some(1));
    let logger = |num_requests| Logger {
        id: LoggerId(1),
        num_requests,
        ..Logger::default()
    };
    app.load_cached(Snapshot::Scans(table([
        scan(1, 1, ScanStatus::FailedToStart, 0),
        scan(2, 1, ScanStatus::Running, 5),
    ])));
    app.load_cached(Snapshot::Loggers(table([logger(3)])));
    assert_eq!(
        (
            app.model.scans.tally.failed,
            app.model.captures.new_captures
        ),
        (0, 0)
    );
    app.feed(Snapshot::Scans(table([
        scan(1, 1, ScanStatus::FailedToStart, 0),
        scan(2, 1, ScanStatus::FailedToStart, 5),
    ])));
    app.feed(Snapshot::Loggers(table([logger(5)])));
    assert_eq!(
        (
            app.model.scans.tally.failed,
            app.model.captures.new_captures
        ),
        (1, 2)
    );
}
