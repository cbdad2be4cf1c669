//! A scripted scan engine: a scan reports the events that the test has set, and ends when the test
//! allows it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use scandeck::contract::{Evidence, Risk, ScanOutput};
use scandeck::service::Runner;
use scandeck::service::engine::{NewFinding, ScanEvent, ScanJob, ScanOutcome, TestDone};
use serde_json::json;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

/// Longest wait for the start of a scan, on a busy machine.
const LONGEST_START: Duration = Duration::from_secs(60);

/// A runner that the test controls; clones share one state.
#[derive(Clone)]
pub struct ScriptedRunner(Arc<RunnerState>);

struct RunnerState {
    events: Mutex<Vec<ScanEvent>>,
    outcome: Mutex<ScanOutcome>,
    /// One permit lets one scan end.
    permits: Semaphore,
    panicking: AtomicUsize,
    ignoring_stop: AtomicUsize,
    running: AtomicUsize,
    max_running: AtomicUsize,
    jobs: Mutex<Vec<ScanJob>>,
}

impl Default for ScriptedRunner {
    fn default() -> Self {
        Self(Arc::new(RunnerState {
            events: Mutex::default(),
            outcome: Mutex::new(ScanOutcome::Finished("all tests ended".into())),
            permits: Semaphore::new(0),
            panicking: AtomicUsize::default(),
            ignoring_stop: AtomicUsize::default(),
            running: AtomicUsize::default(),
            max_running: AtomicUsize::default(),
            jobs: Mutex::default(),
        }))
    }
}

impl ScriptedRunner {
    /// Sets the events that every scan reports at its start.
    pub fn set_events(&self, events: Vec<ScanEvent>) {
        *self.0.events.lock().unwrap() = events;
    }

    pub fn set_outcome(&self, outcome: ScanOutcome) {
        *self.0.outcome.lock().unwrap() = outcome;
    }

    /// Lets this many scans end.
    pub fn finish_scans(&self, scans: usize) {
        self.0.permits.add_permits(scans);
    }

    /// Makes the next scans panic.
    pub fn panic_next(&self, scans: usize) {
        self.0.panicking.store(scans, Ordering::SeqCst);
    }

    /// Makes the next scans ignore a stop.
    pub fn ignore_stop_next(&self, scans: usize) {
        self.0.ignoring_stop.store(scans, Ordering::SeqCst);
    }

    /// The highest number of scans that ran at the same time.
    pub fn max_running(&self) -> usize {
        self.0.max_running.load(Ordering::SeqCst)
    }

    /// The number of scans that run.
    pub fn running(&self) -> usize {
        self.0.running.load(Ordering::SeqCst)
    }

    /// The jobs of all scans that have started.
    pub fn jobs(&self) -> Vec<ScanJob> {
        self.0.jobs.lock().unwrap().clone()
    }

    /// The job of the scan that started as this one, counted from zero. A scan is running a moment
    /// before it starts.
    pub async fn job(&self, index: usize) -> ScanJob {
        let started = async {
            loop {
                if let Some(job) = self.jobs().get(index) {
                    return job.clone();
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(LONGEST_START, started).await.unwrap()
    }
}

/// Counts a scan as running until it is dropped.
struct RunningScan(Arc<RunnerState>);

impl RunningScan {
    fn new(state: Arc<RunnerState>) -> Self {
        let now = state.running.fetch_add(1, Ordering::SeqCst) + 1;
        state.max_running.fetch_max(now, Ordering::SeqCst);
        Self(state)
    }
}

impl Drop for RunningScan {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

fn take_one(count: &AtomicUsize) -> bool {
    count
        .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
            left.checked_sub(1)
        })
        .is_ok()
}

impl Runner for ScriptedRunner {
    fn run(
        &self,
        job: ScanJob,
        events: mpsc::Sender<ScanEvent>,
        stop: CancellationToken,
    ) -> BoxFuture<'static, ScanOutcome> {
        let state = Arc::clone(&self.0);
        Box::pin(async move {
            state.jobs.lock().unwrap().push(job);
            let scan = RunningScan::new(Arc::clone(&state));
            let scripted = state.events.lock().unwrap().clone();
            for event in scripted {
                let _ = events.send(event).await;
            }
            assert!(!take_one(&state.panicking), "a scripted panic");
            if take_one(&state.ignoring_stop) {
                std::future::pending::<()>().await;
            }
            tokio::select! {
                () = stop.cancelled() => ScanOutcome::Cancelled,
                permit = state.permits.acquire() => {
                    permit.unwrap().forget();
                    drop(scan);
                    state.outcome.lock().unwrap().clone()
                }
            }
        })
    }
}

/// A finding with this kind, risk and place.
pub fn finding(vuln_id: &str, risk: Risk, place: &str) -> NewFinding {
    NewFinding {
        vuln_id: vuln_id.into(),
        name: format!("Finding {vuln_id}"),
        risk,
        place: place.into(),
        port: 80,
        protocol: "tcp".into(),
        service: "http".into(),
        test_description: "What the test does".into(),
        vuln_description: "What it is".into(),
        risk_description: "What it can lead to".into(),
        recommendation: "What to do".into(),
        references: vec!["https://example.org/".into()],
        cwe: "CWE-200".into(),
        evidence: Evidence::table(&["Request"], [vec!["GET /".into()]]),
        ..NewFinding::default()
    }
}

/// A finished test with its findings.
pub fn tested(uid: &str, weight: u32, findings: Vec<NewFinding>) -> ScanEvent {
    let description = format!("Looked at {uid}");
    ScanEvent::Tested(TestDone {
        uid: uid.into(),
        description,
        metadata: json!({"request": uid}),
        weight,
        findings,
    })
}

/// Ten planned tests, of which seven have finished, with two findings, raw lines, an info line and
/// an output.
pub fn typical_events() -> Vec<ScanEvent> {
    vec![
        ScanEvent::Planned(10),
        ScanEvent::Raw("GET http://127.0.0.1/ 200".into()),
        ScanEvent::Info("connected to 127.0.0.1".into()),
        tested(
            "web.headers",
            1,
            vec![
                finding("web.csp", Risk::Info, ""),
                finding("web.key", Risk::Critical, "GET /key"),
            ],
        ),
        tested("web.nothing", 1, vec![]),
        tested("ports.batch", 5, vec![]),
        ScanEvent::Raw("GET http://127.0.0.1/key 200".into()),
        ScanEvent::Output(ScanOutput {
            output_type: "finding_list".into(),
            output_data: json!({"findings": []}),
        }),
    ]
}
