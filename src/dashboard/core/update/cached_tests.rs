//! What an earlier dashboard read: shown at once, marked stale, and never in the place of what the service told.

use crate::dashboard::base::CachedList;
use crate::dashboard::core::update::Msg;
use crate::dashboard::testing::*;
use crate::table::Remote;

fn read_before() -> Stamp {
    Stamp(stamp().0 - jiff::SignedDuration::from_mins(2))
}

impl Desk {
    fn recalls(&mut self, snapshot: Snapshot) {
        let generation = self.model.connection.generation;
        self.send(Msg::Cached(CachedList { generation, at: read_before(), worked_in: None, snapshot }));
    }

    fn recalls_workspaces(&mut self, worked_in: Option<i64>) {
        let workspace = |id: i64, name: &str, target_count| Workspace {
            id: WorkspaceId(id),
            name: name.into(),
            target_count,
            ..Workspace::default()
        };
        let snapshot = Snapshot::Workspaces(table([workspace(1, "Acme", 5), workspace(2, "Lab", 0)]));
        let worked_in = worked_in.map(WorkspaceId);
        self.send(Msg::Cached(CachedList { generation: 0, at: read_before(), worked_in, snapshot }));
    }

    fn worked_in(&self) -> Option<i64> {
        self.model.navigation.scope.workspace.map(|id| id.0)
    }
}

fn findings() -> Arc<Table<Finding>> {
    table([finding(1, 1, "Private key", Risk::Critical), finding(2, 1, "Git repository", Risk::High)])
}

#[test]
fn the_workspace_worked_in_last_is_worked_in_before_any_answer() {
    for (worked_in, asked, found) in [
        (Some(2), None, Some(2)),
        (None, None, Some(1)),
        (Some(9), None, Some(1)),
        (Some(2), Some("acme"), Some(1)),
        (Some(2), Some("New"), None),
    ] {
        let mut desk = Desk::blank(200, 60);
        desk.model.session.workspace = asked.map(str::to_owned);
        desk.recalls_workspaces(worked_in);
        assert_eq!(desk.worked_in(), found, "{worked_in:?} {asked:?}");
        assert_eq!(desk.notices(), "", "only the service's answer tells what there is");
    }
}

#[test]
fn findings_are_shown_stale_until_the_service_answers_and_the_cursor_stays() {
    let mut desk = Desk::blank(200, 60);
    desk.recalls_workspaces(Some(1));
    desk.recalls(Snapshot::Targets(table([target(1, "t1.acme.test")])));
    desk.recalls(Snapshot::Findings(findings()));
    assert_eq!(desk.shown(Pane::Findings), [1, 2]);
    let Remote::Stale { at, .. } = &desk.model.data.findings else { panic!("{:?}", desk.model.data.findings) };
    assert_eq!(*at, read_before());
    desk.keys("j");
    let more = [finding(3, 1, "Backup", Risk::Critical), finding(2, 1, "Git repository", Risk::High)];
    desk.feed(Snapshot::Findings(table(more)));
    assert!(matches!(desk.model.data.findings, Remote::Fresh { .. }));
    assert_eq!((desk.shown(Pane::Findings), desk.selected(Pane::Findings)), (vec![3, 2], Some(2)));
}

#[test]
fn what_the_service_told_is_never_replaced() {
    let mut desk = Desk::new();
    let told = desk.shown(Pane::Findings);
    desk.recalls_workspaces(Some(2));
    desk.recalls(Snapshot::Targets(table([target(9, "gone.acme.test")])));
    desk.recalls(Snapshot::Scans(table([scan(9, 9, ScanStatus::Finished, 100)])));
    desk.recalls(Snapshot::Loggers(table([])));
    desk.recalls(Snapshot::Findings(table([finding(9, 9, "Gone", Risk::Critical)])));
    assert_eq!(desk.worked_in(), Some(1));
    assert_eq!(desk.shown(Pane::Findings), told);
    assert!(matches!(desk.model.data.targets, Remote::Fresh { .. }));
    assert_eq!((desk.shown(Pane::Targets).len(), desk.shown(Pane::Scans).len()), (5, 4));
    assert_eq!(desk.shown(Pane::Loggers), [1]);
}

#[test]
fn what_could_not_be_read_from_the_service_is_recalled_with_the_reason() {
    let mut desk = Desk::blank(200, 60);
    desk.recalls_workspaces(Some(1));
    let problem = Arc::new(Problem::local("refused"));
    desk.feed(PollEvent::Failed(crate::dashboard::base::ListKind::Findings, Arc::clone(&problem)));
    desk.recalls(Snapshot::Findings(findings()));
    assert_eq!(desk.model.data.findings.problem(), Some(&*problem));
    assert_eq!(desk.shown(Pane::Findings), [1, 2]);
}

#[test]
fn lists_of_a_workspace_that_was_left_are_dropped() {
    let mut desk = Desk::blank(200, 60);
    desk.recalls_workspaces(Some(1));
    let late = CachedList {
        generation: desk.model.connection.generation,
        at: read_before(),
        worked_in: None,
        snapshot: Snapshot::Findings(findings()),
    };
    desk.model.work_in(WorkspaceId(2));
    desk.send(Msg::Cached(late));
    assert!(desk.model.data.occurrences.value().is_none());
}

#[test]
fn what_failed_or_was_recorded_since_then_is_news() {
    let mut desk = Desk::blank(80, 24);
    desk.recalls_workspaces(Some(1));
    let logger = |num_requests| Logger { id: LoggerId(1), num_requests, ..Logger::default() };
    desk.recalls(Snapshot::Scans(table([
        scan(1, 1, ScanStatus::FailedToStart, 0),
        scan(2, 1, ScanStatus::Running, 5),
    ])));
    desk.recalls(Snapshot::Loggers(table([logger(3)])));
    assert_eq!((desk.model.scans.tally.failed, desk.model.captures.new_captures), (0, 0));
    desk.feed(Snapshot::Scans(table([
        scan(1, 1, ScanStatus::FailedToStart, 0),
        scan(2, 1, ScanStatus::FailedToStart, 5),
    ])));
    desk.feed(Snapshot::Loggers(table([logger(5)])));
    assert_eq!((desk.model.scans.tally.failed, desk.model.captures.new_captures), (1, 2));
}
