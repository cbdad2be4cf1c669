//! The poller on a real service: what moves there arrives here, and a service that goes away comes back.

use std::time::Duration;

use scandeck::contract::{ScanStatus, WorkspaceId};
use scandeck::dashboard::base::plan::Snapshot;
use scandeck::dashboard::base::{Link, ListKind, PartData, PollEvent, PollPlan, ScanPart, Update};
use scandeck::dashboard::poller::{CHANNEL, Poller};
use serde_json::json;
use tokio::sync::{mpsc, watch};
use tokio_util::task::AbortOnDropHandle;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{client, client_of, scan, target};
use crate::service::runner::typical_events;
use crate::service::{TestService, settings};

struct Polling {
    plans: watch::Sender<PollPlan>,
    updates: mpsc::Receiver<Update>,
    _task: AbortOnDropHandle<()>,
}

impl Polling {
    fn start(client: scandeck::client::Client) -> Self {
        let plan =
            PollPlan { generation: 1, workspace: Some(WorkspaceId(1)), captures: Some(None), ..PollPlan::default() };
        let (plans, updates) = (watch::Sender::new(plan), mpsc::channel(CHANNEL));
        let poller = Poller::new(client, plans.subscribe(), updates.0);
        Self { plans, updates: updates.1, _task: AbortOnDropHandle::new(tokio::spawn(poller.run())) }
    }

    /// Waits for an update that answers the question.
    async fn until<T>(&mut self, what: &str, wanted: impl Fn(&Update) -> Option<T>) -> T {
        let waiting = async {
            loop {
                let update = self.updates.recv().await.expect("the poller goes on");
                if let Some(found) = wanted(&update) {
                    return found;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(20), waiting).await.unwrap_or_else(|_| panic!("never told: {what}"))
    }
}

#[tokio::test]
async fn scans_findings_parts_and_captures_arrive_by_themselves() {
    let service = TestService::new().await;
    let api = client(&service);
    let mut polling = Polling::start(client(&service));
    polling
        .until("the first findings", |update| {
            matches!(&update.event, PollEvent::Snapshot(Snapshot::Findings(table)) if table.is_empty()).then_some(())
        })
        .await;
    service.runner.set_events(typical_events());
    let made = target(&api, "127.0.0.1").await;
    let id = scan(&api, made).await;
    polling
        .until("the findings of the running scan", |update| match &update.event {
            PollEvent::Snapshot(Snapshot::Findings(table)) => (table.len() == 2).then_some(()),
            _ => None,
        })
        .await;
    polling.plans.send_modify(|plan| plan.scan_part = Some((id, ScanPart::Tests)));
    polling
        .until("its tests", |update| match &update.event {
            PollEvent::ScanPart(of, PartData::Tests(tests)) => (*of == id && tests.len() >= 3).then_some(()),
            _ => None,
        })
        .await;
    service.runner.finish_scans(1);
    polling
        .until("its end", |update| match &update.event {
            PollEvent::Snapshot(Snapshot::Scans(table)) => {
                table.get(id).filter(|scan| scan.status_name == ScanStatus::Finished).map(|_| ())
            }
            _ => None,
        })
        .await;
    let logger = api.create_logger("probe", Some(WorkspaceId(1))).await.unwrap();
    let url = api.get_logger(logger).await.unwrap().handler_url;
    let visitor = reqwest::Client::builder().no_proxy().build().unwrap();
    visitor.get(url.as_str()).send().await.unwrap();
    polling
        .until("the capture", |update| match &update.event {
            PollEvent::Captures { logger: of, new } => (of.id == logger && new.len() == 1).then_some(()),
            _ => None,
        })
        .await;
    drop(polling);
    service.stop().await;
}

#[tokio::test]
async fn a_service_that_stops_and_starts_again_is_told_as_such_and_heals_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let service = TestService::in_dir(dir.path()).await;
    let (base, key) = (service.base.clone(), service.key.clone());
    let mut polling = Polling::start(client_of(&base, &key));
    polling
        .until("a live link", |update| matches!(update.event, PollEvent::Link(Link::Live { .. })).then_some(()))
        .await;
    polling
        .until("the lists", |update| matches!(update.event, PollEvent::Snapshot(Snapshot::Findings(_))).then_some(()))
        .await;
    service.stop().await;
    polling
        .until("that it is gone", |update| {
            matches!(update.event, PollEvent::Link(Link::Retrying { attempt: 1.., .. })).then_some(())
        })
        .await;
    let mut again = settings(dir.path());
    again.listen = base.trim_start_matches("http://").split('/').next().unwrap().parse().unwrap();
    let service = TestService::with_settings(again).await;
    assert_eq!(service.base, base);
    polling
        .until("that it is back", |update| matches!(update.event, PollEvent::Link(Link::Live { .. })).then_some(()))
        .await;
    // Unchanged, but told again: what was stale is fresh.
    polling
        .until("fresh findings", |update| {
            matches!(update.event, PollEvent::Snapshot(Snapshot::Findings(_))).then_some(())
        })
        .await;
    drop(polling);
    service.stop().await;
}

#[tokio::test]
async fn wrong_key_takes_the_link_down_until_refresh() {
    let server = MockServer::start().await;
    let rejection = ResponseTemplate::new(401).set_body_json(json!({"status": 401, "message": "unknown key"}));
    Mock::given(any()).respond_with(rejection).mount(&server).await;
    let requests = async || server.received_requests().await.unwrap().len();
    let mut polling = Polling::start(client_of(&server.uri(), "wrong"));
    let problem = polling
        .until("that the link is down", |update| match &update.event {
            PollEvent::Link(Link::Down { problem }) => Some(problem.clone()),
            _ => None,
        })
        .await;
    assert_eq!(problem.status, Some(401));
    let before = requests().await;
    polling.plans.send_modify(|plan| _ = plan.asked.insert(ListKind::Scans, 1));
    polling
        .until("that it is still down", |update| {
            matches!(update.event, PollEvent::Link(Link::Down { .. })).then_some(())
        })
        .await;
    assert!(requests().await > before, "refresh tries once more");
    drop(polling);
}
