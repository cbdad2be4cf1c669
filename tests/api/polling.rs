//! The poller on the service: it reports changes, and reconnects after an outage.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use scandeck::contract::{ScanStatus, WorkspaceId};
use scandeck::dashboard::base::plan::Snapshot;
use scandeck::dashboard::base::{Link, ListKind, PartData, PollEvent, PollPlan, ScanPart, Update};
use scandeck::dashboard::poller::{CHANNEL, Poller};
use serde_json::json;
use tokio::sync::{mpsc, watch};
use tokio_util::task::AbortOnDropHandle;
use wiremock::matchers::{any, header, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{client, client_of, create_target, start_scan, until};
use crate::service::runner::typical_events;
use crate::service::{TestService, http_client, settings};

struct PollerTask {
    plans: watch::Sender<PollPlan>,
    updates: mpsc::Receiver<Update>,
    _task: AbortOnDropHandle<()>,
}

impl PollerTask {
    fn start(client: scandeck::client::Client) -> Self {
        let plan = PollPlan {
            generation: 1,
            workspace: Some(WorkspaceId(1)),
            captures: Some(None),
            ..PollPlan::default()
        };
        let (plans, updates) = (watch::Sender::new(plan), mpsc::channel(CHANNEL));
        let poller = Poller::new(client, plans.subscribe(), updates.0);
        Self {
            plans,
            updates: updates.1,
            _task: AbortOnDropHandle::new(tokio::spawn(poller.run())),
        }
    }

    /// Waits for an update that `find` accepts.
    async fn until<T>(&mut self, expected: &str, find: impl Fn(&Update) -> Option<T>) -> T {
        let waiting = async {
            loop {
                let update = self.updates.recv().await.expect("poller ended");
                if let Some(found) = find(&update) {
                    return found;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(20), waiting)
            .await
            .unwrap_or_else(|_| panic!("no update in 20 s: {expected}"))
    }
}

#[tokio::test]
async fn poller_while_service_changes_reports_scans_findings_and_captures() {
    let service = TestService::new().await;
    let api = client(&service);
    let mut poller = PollerTask::start(client(&service));
    poller
        .until("empty list of findings", |update| {
            matches!(&update.event, PollEvent::Snapshot(Snapshot::Findings(table)) | PollEvent::SomeFindings(table, ..) if table.is_empty()).then_some(())
        })
        .await;
    service.runner.set_events(typical_events());
    let target = create_target(&api, "127.0.0.1").await;
    let id = start_scan(&api, target).await;
    poller
        .until("findings of the running scan", |update| {
            match &update.event {
                PollEvent::Snapshot(Snapshot::Findings(table))
                | PollEvent::SomeFindings(table, ..) => (table.len() == 2).then_some(()),
                _ => None,
            }
        })
        .await;
    poller
        .plans
        .send_modify(|plan| plan.scan_part = Some((id, ScanPart::Tests)));
    poller
        .until("tests of the scan", |update| match &update.event {
            PollEvent::ScanPart(of, PartData::Tests(tests)) => {
                (*of == id && tests.len() >= 3).then_some(())
            }
            _ => None,
        })
        .await;
    service.runner.finish_scans(1);
    poller
        .until("end of the scan", |update| match &update.event {
            PollEvent::Snapshot(Snapshot::Scans(table)) => table
                .get(id)
                .filter(|scan| scan.status_name == ScanStatus::Finished)
                .map(|_| ()),
            _ => None,
        })
        .await;
    let logger = api
        .create_logger("probe", Some(WorkspaceId(1)))
        .await
        .unwrap();
    let url = api.get_logger(logger).await.unwrap().handler_url;
    let sender = http_client();
    sender.get(url.as_str()).send().await.unwrap();
    poller
        .until("captured request", |update| match &update.event {
            PollEvent::Captures { logger: of, new } => {
                (of.id == logger && new.len() == 1).then_some(())
            }
            _ => None,
        })
        .await;
    drop(poller);
    service.stop().await;
}

#[tokio::test]
async fn poller_after_service_restart_reconnects_and_refreshes() {
    let dir = tempfile::tempdir().unwrap();
    let service = TestService::in_dir(dir.path()).await;
    let (base, key) = (service.base.clone(), service.key.clone());
    let mut poller = PollerTask::start(client_of(&base, &key));
    poller
        .until("live link", |update| {
            matches!(update.event, PollEvent::Link(Link::Live { .. })).then_some(())
        })
        .await;
    poller
        .until("list of findings", |update| {
            matches!(
                update.event,
                PollEvent::Snapshot(Snapshot::Findings(_)) | PollEvent::SomeFindings(..)
            )
            .then_some(())
        })
        .await;
    service.stop().await;
    poller
        .until("retries after the stop", |update| {
            matches!(
                update.event,
                PollEvent::Link(Link::Retrying { attempt: 1.., .. })
            )
            .then_some(())
        })
        .await;
    let mut same_port = settings(dir.path());
    same_port.listen = base
        .trim_start_matches("http://")
        .split('/')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let service = TestService::with_settings(same_port).await;
    assert_eq!(service.base, base);
    poller
        .until("live link after the restart", |update| {
            matches!(update.event, PollEvent::Link(Link::Live { .. })).then_some(())
        })
        .await;
    // The list is unchanged, but reported again, because it was stale.
    poller
        .until("fresh findings", |update| {
            matches!(
                update.event,
                PollEvent::Snapshot(Snapshot::Findings(_)) | PollEvent::SomeFindings(..)
            )
            .then_some(())
        })
        .await;
    drop(poller);
    service.stop().await;
}

#[tokio::test]
async fn poller_while_nodes_are_shown_reports_them() {
    let service = TestService::new().await;
    let mut poller = PollerTask::start(client(&service));
    poller.plans.send_modify(|plan| plan.nodes = true);
    let nodes = poller
        .until("the nodes", |update| match &update.event {
            PollEvent::Nodes(list) => Some(Arc::clone(list)),
            _ => None,
        })
        .await;
    assert!(nodes.places.is_empty(), "the scope names none");
    drop(poller);
    service.stop().await;
}

#[tokio::test]
async fn emptied_list_is_confirmed_without_its_tag() {
    let server = MockServer::start().await;
    let is_emptied = Arc::new(AtomicBool::new(false));
    let emptied = Arc::clone(&is_emptied);
    let targets = move |request: &wiremock::Request| {
        let two = json!([{"id": 1, "name": "a.test"}, {"id": 2, "name": "b.test"}]);
        let (tag, data) = if emptied.load(Ordering::Relaxed) {
            ("\"b\"", json!([]))
        } else {
            ("\"a\"", two)
        };
        match request
            .headers
            .get("if-none-match")
            .is_some_and(|known| known == tag)
        {
            true => ResponseTemplate::new(304),
            false => ResponseTemplate::new(200)
                .insert_header("etag", tag)
                .set_body_json(json!({"data": data})),
        }
    };
    Mock::given(path("/api/v2/targets"))
        .respond_with(targets)
        .mount(&server)
        .await;
    let nothing = ResponseTemplate::new(200).set_body_json(json!({"data": []}));
    Mock::given(any())
        .respond_with(nothing)
        .mount(&server)
        .await;
    let mut poller = PollerTask::start(client_of(&server.uri(), "k"));
    let of_targets = |count: usize| {
        move |update: &Update| {
            matches!(&update.event, PollEvent::Snapshot(Snapshot::Targets(table)) if table.items().len() == count)
                .then_some(())
        }
    };
    poller.until("two targets", of_targets(2)).await;
    is_emptied.store(true, Ordering::Relaxed);
    poller
        .plans
        .send_modify(|plan| _ = plan.refreshes.insert(ListKind::Targets, 1));
    poller.until("no targets", of_targets(0)).await;
}

#[tokio::test]
async fn unchanged_scans_are_requested_with_their_tag_until_a_refresh() {
    let server = MockServer::start().await;
    let tagged = |data| {
        ResponseTemplate::new(200)
            .insert_header("etag", "\"7\"")
            .set_body_json(data)
    };
    Mock::given(header("if-none-match", "\"7\""))
        .respond_with(ResponseTemplate::new(304))
        .mount(&server)
        .await;
    let scans = json!({"data": [{"id": 1, "target_id": 2, "status_name": "running"}]});
    Mock::given(path("/api/v2/scans"))
        .respond_with(tagged(scans))
        .mount(&server)
        .await;
    Mock::given(any())
        .respond_with(tagged(json!({"data": []})))
        .mount(&server)
        .await;
    let mut poller = PollerTask::start(client_of(&server.uri(), "k"));
    let count = async |path: &str, has_tag: bool| {
        let is_counted = |request: &&wiremock::Request| {
            request.url.path().ends_with(path)
                && request.headers.contains_key("if-none-match") == has_tag
        };
        server
            .received_requests()
            .await
            .unwrap()
            .iter()
            .filter(is_counted)
            .count()
    };
    until(|| count("/scans", true), |&unchanged| unchanged > 1).await;
    let targets = count("/targets", false).await;
    poller
        .plans
        .send_modify(|plan| _ = plan.refreshes.insert(ListKind::Targets, 1));
    until(|| count("/targets", false), |&read| read > targets).await;
    while let Ok(update) = poller.updates.try_recv() {
        assert!(
            !matches!(
                update.event,
                PollEvent::Failed(..) | PollEvent::PartFailed(..)
            ),
            "{update:?}"
        );
    }
}

#[tokio::test]
async fn wrong_key_breaks_link_until_refresh() {
    let server = MockServer::start().await;
    let rejection =
        ResponseTemplate::new(401).set_body_json(json!({"status": 401, "message": "unknown key"}));
    Mock::given(any())
        .respond_with(rejection)
        .mount(&server)
        .await;
    let requests = async || server.received_requests().await.unwrap().len();
    let mut poller = PollerTask::start(client_of(&server.uri(), "wrong"));
    let problem = poller
        .until("link down", |update| match &update.event {
            PollEvent::Link(Link::Down { problem }) => Some(problem.clone()),
            _ => None,
        })
        .await;
    assert_eq!(problem.status, Some(401));
    let before = requests().await;
    poller
        .plans
        .send_modify(|plan| _ = plan.refreshes.insert(ListKind::Scans, 1));
    until(requests, |&count| count > before).await;
    poller
        .until("link down after refresh", |update| {
            matches!(update.event, PollEvent::Link(Link::Down { .. })).then_some(())
        })
        .await;
    drop(poller);
}
