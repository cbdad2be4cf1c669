//! Client and poller in front of a service that misbehaves: every list with every fault, captures
//! that arrive meanwhile, changes whose response is lost, and every action of the dashboard with
//! every fault.

mod actions;
mod changes;
mod reads;

use std::time::Duration;

use scandeck::client::{BaseUrl, Client, ClientSettings};
use scandeck::contract::{LoggerId, Risk};
use scandeck::dashboard::base::{PollPlan, Update};
use scandeck::dashboard::poller::{CHANNEL, Poller};
use scandeck::service::engine::ScanEvent;
use tokio::sync::{mpsc, watch};
use tokio_util::task::AbortOnDropHandle;

use crate::faulty::{FaultyService, sample_data};
use crate::service::TestService;
use crate::service::runner::{finding, tested};

fn is_every_fault_tried() -> bool {
    std::env::var_os("SCANDECK_ALL_FAULTS").is_some()
}

/// A service with data behind a proxy that spoils its responses.
struct Misbehaving {
    proxy: FaultyService,
    service: TestService,
    /// The loggers with their URLs.
    loggers: Vec<(LoggerId, String)>,
}

/// A scan whose findings have tests that the service knows, so that a retest can ask for them.
fn known_tests() -> Vec<ScanEvent> {
    let found = vec![
        finding("web.header.csp", Risk::Info, ""),
        finding("web.cors", Risk::Critical, "GET /key"),
    ];
    vec![
        ScanEvent::Planned(10),
        ScanEvent::Raw("GET http://127.0.0.1/ 200".into()),
        tested("web.headers", 1, found),
    ]
}

impl Misbehaving {
    async fn start() -> Self {
        let service = TestService::new().await;
        service.runner.set_events(known_tests());
        let loggers = sample_data::fill(&service.base, &service.key, || {
            service.runner.finish_scans(1)
        })
        .await;
        Self {
            proxy: FaultyService::start(&service.base).await,
            service,
            loggers,
        }
    }

    fn fault(&self, rule: &str) {
        self.proxy.faults.set(rule).unwrap();
    }

    fn count(&self, method: &str, pattern: &str) -> usize {
        self.proxy.faults.count(method, pattern)
    }

    /// A client of the proxy with short delays.
    fn client(&self) -> Client {
        self.client_of(&self.proxy.base)
    }

    /// A client of the service, which sees what it did.
    fn witness(&self) -> Client {
        self.client_of(&self.service.base)
    }

    fn client_of(&self, base: &str) -> Client {
        let base = BaseUrl::parse(base, false).unwrap();
        let mut settings = ClientSettings::new(base, self.service.key.clone().into());
        settings.retry_delay = Duration::from_millis(10);
        Client::new(settings).unwrap()
    }

    async fn stop(self) {
        drop(self.proxy);
        self.service.stop().await;
    }
}

/// A running poller.
struct PollerTask {
    plans: watch::Sender<PollPlan>,
    updates: mpsc::Receiver<Update>,
    _task: AbortOnDropHandle<()>,
}

impl PollerTask {
    fn start(client: Client) -> Self {
        let workspace = Some(sample_data::WORKSPACE);
        let plan = PollPlan {
            generation: 1,
            workspace,
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
    async fn until<T>(&mut self, expected: &str, mut find: impl FnMut(&Update) -> Option<T>) -> T {
        let waiting = async {
            loop {
                let update = self.updates.recv().await.expect("poller ended");
                if let Some(found) = find(&update) {
                    return found;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(30), waiting)
            .await
            .unwrap_or_else(|_| panic!("no update in 30 s: {expected}"))
    }
}
