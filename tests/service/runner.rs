//! What runs scans in these tests: a scan tells what the test wrote down, and ends when the test lets it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use scandeck::contract::{Evidence, Risk, ScanOutput};
use scandeck::service::Runner;
use scandeck::service::engine::{NewFinding, ScanEvent, ScanJob, ScanOutcome, TestDone};
use serde_json::json;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

/// How scans go; clones are one script.
#[derive(Clone)]
pub struct Script(Arc<Inner>);

struct Inner {
    events: Mutex<Vec<ScanEvent>>,
    outcome: Mutex<ScanOutcome>,
    /// One permit ends one scan.
    ends: Semaphore,
    panics: AtomicUsize,
    deaf: AtomicUsize,
    running: AtomicUsize,
    most: AtomicUsize,
    jobs: Mutex<Vec<ScanJob>>,
}

impl Default for Script {
    fn default() -> Self {
        Self(Arc::new(Inner {
            events: Mutex::default(),
            outcome: Mutex::new(ScanOutcome::Finished("all tests ended".into())),
            ends: Semaphore::new(0),
            panics: AtomicUsize::default(),
            deaf: AtomicUsize::default(),
            running: AtomicUsize::default(),
            most: AtomicUsize::default(),
            jobs: Mutex::default(),
        }))
    }
}

impl Script {
    /// What every scan tells at its start.
    pub fn tells(&self, events: Vec<ScanEvent>) {
        *self.0.events.lock().unwrap() = events;
    }

    pub fn ends_as(&self, outcome: ScanOutcome) {
        *self.0.outcome.lock().unwrap() = outcome;
    }

    /// Lets so many scans end.
    pub fn let_end(&self, scans: usize) {
        self.0.ends.add_permits(scans);
    }

    /// The next so many scans panic.
    pub fn panics(&self, scans: usize) {
        self.0.panics.store(scans, Ordering::SeqCst);
    }

    /// The next so many scans do not listen to a stop.
    pub fn is_deaf(&self, scans: usize) {
        self.0.deaf.store(scans, Ordering::SeqCst);
    }

    /// The most scans that ran at the same time.
    pub fn most(&self) -> usize {
        self.0.most.load(Ordering::SeqCst)
    }

    /// The jobs so far.
    pub fn jobs(&self) -> Vec<ScanJob> {
        self.0.jobs.lock().unwrap().clone()
    }
}

/// A scan that counts as running while it lives.
struct Counted(Arc<Inner>);

impl Counted {
    fn new(script: Arc<Inner>) -> Self {
        let now = script.running.fetch_add(1, Ordering::SeqCst) + 1;
        script.most.fetch_max(now, Ordering::SeqCst);
        Self(script)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

fn takes_one(count: &AtomicUsize) -> bool {
    count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
}

impl Runner for Script {
    fn run(
        &self,
        job: ScanJob,
        events: mpsc::Sender<ScanEvent>,
        stop: CancellationToken,
    ) -> BoxFuture<'static, ScanOutcome> {
        let script = Arc::clone(&self.0);
        Box::pin(async move {
            script.jobs.lock().unwrap().push(job);
            let scan = Counted::new(Arc::clone(&script));
            let told = script.events.lock().unwrap().clone();
            for event in told {
                let _ = events.send(event).await;
            }
            assert!(!takes_one(&script.panics), "a scripted panic");
            if takes_one(&script.deaf) {
                std::future::pending::<()>().await;
            }
            tokio::select! {
                () = stop.cancelled() => ScanOutcome::Cancelled,
                permit = script.ends.acquire() => {
                    permit.unwrap().forget();
                    drop(scan);
                    script.outcome.lock().unwrap().clone()
                }
            }
        })
    }
}

/// A finding of a kind at a place.
pub fn finding(vuln_id: &str, risk: Risk, place: &str) -> NewFinding {
    NewFinding {
        vuln_id: vuln_id.into(),
        name: format!("Finding {vuln_id}"),
        risk,
        place: place.into(),
        port: 80,
        protocol: "tcp".into(),
        service: "http".into(),
        test_description: "What was tested".into(),
        vuln_description: "What it is".into(),
        risk_description: "What it can lead to".into(),
        recommendation: "What to do".into(),
        references: vec!["https://example.org/".into()],
        cwe: "CWE-200".into(),
        evidence: Evidence::table(&["Request"], [vec!["GET /".into()]]),
        ..NewFinding::default()
    }
}

/// A test that ended with these findings.
pub fn tested(uid: &str, weight: u32, findings: Vec<NewFinding>) -> ScanEvent {
    let description = format!("Looked at {uid}");
    ScanEvent::Tested(TestDone { uid: uid.into(), description, metadata: json!({"asked": uid}), weight, findings })
}

/// A scan of ten tests, seven of which have ended with two findings, raw lines, an info line and an output.
pub fn usual() -> Vec<ScanEvent> {
    vec![
        ScanEvent::Planned(10),
        ScanEvent::Raw("GET http://127.0.0.1/ 200".into()),
        ScanEvent::Info("the answer came from 127.0.0.1".into()),
        tested(
            "web.headers",
            1,
            vec![finding("web.csp", Risk::Info, ""), finding("web.key", Risk::Critical, "GET /key")],
        ),
        tested("web.nothing", 1, vec![]),
        tested("ports.batch", 5, vec![]),
        ScanEvent::Raw("GET http://127.0.0.1/key 200".into()),
        ScanEvent::Output(ScanOutput { output_type: "finding_list".into(), output_data: json!({"findings": []}) }),
    ]
}
