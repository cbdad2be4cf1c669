//! The task that owns the store of decisions: opens it, writes decisions, and reports those of
//! other programs.
//!
//! ```text
//!   open ─► fold ─► Opened          request ─► transaction ─► Saved          every two seconds ─► Events
//!                                                 │ ▲
//!                                                 ▼ │ until the disk has space again
//!                                              Retrying
//! ```
//!
//! Requests are executed in their order, and none is dropped: the end of the dashboard waits for
//! them. The interval for other programs is long, because each look wakes the process and their
//! decisions are not urgent.

use crate::core::Msg;
use crate::data::{StoredDecisions, TriageNews};
use crate::poller::{Beat, Beats};
use crate::runtime::{LocalWrites, Memory, TaskReport};
use scandeck_domain::problem::Problem;
use scandeck_domain::triage::{
    Event, EventWriter, FindingKey, OpenedDecisions, Store, StoreError, StoredSettings, TriageState,
};
use scandeck_wire::contract::Shared;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// Seconds between two looks at the decisions of other programs.
const OTHERS: u64 = 2;
/// Limit for the remaining requests at the end: longer than the wait for the lock of another
/// program.
const GOODBYE: Duration = Duration::from_secs(8);

/// Delays between attempts to write, doubled each time.
const FIRST_DELAY: Duration = Duration::from_millis(500);
const LONGEST_DELAY: Duration = Duration::from_secs(15);

#[derive(Debug)]
pub(crate) enum DecisionRequest {
    Record(Vec<Arc<Event>>),
    /// Report decisions of others now.
    ReadOthers,
    Remember {
        key: Shared,
        workspace: Shared,
        value: String,
    },
    MarkSeen {
        workspace: Shared,
        keys: Vec<FindingKey>,
    },
}

/// The handle of the task.
pub(crate) struct DecisionsHandle {
    requests: UnboundedSender<DecisionRequest>,
    task: JoinHandle<()>,
}

impl DecisionsHandle {
    /// Starts the task, which reports to `answers`.
    pub fn start(
        memory: Memory,
        beat: Beat,
        answers: UnboundedSender<TaskReport>,
        writes: LocalWrites,
    ) -> Self {
        let (requests, waiting) = mpsc::unbounded_channel();
        let report = move |news| {
            if matches!(news, TriageNews::Opened(_) | TriageNews::Saved) {
                writes.note();
            }
            // The dashboard has ended, so nothing waits for it.
            let _ = answers.send(TaskReport::Msg(Box::new(Msg::Triage(news))));
        };
        Self {
            requests,
            task: tokio::spawn(run(memory, beat.every(OTHERS), waiting, report)),
        }
    }

    pub fn send(&self, request: DecisionRequest) {
        // A task that has ended has reported its error.
        let _ = self.requests.send(request);
    }

    /// A sender that does not keep the task alive.
    pub fn sender(&self) -> WeakUnboundedSender<DecisionRequest> {
        self.requests.downgrade()
    }

    /// Waits until all requests are executed; false when they could not be.
    pub async fn end(self) -> bool {
        drop(self.requests);
        let is_stored = timeout(GOODBYE, self.task).await.is_ok();
        if !is_stored {
            tracing::error!("ended before all decisions were stored");
        }
        is_stored
    }
}

async fn run(
    memory: Memory,
    mut others: Beats,
    mut requests: UnboundedReceiver<DecisionRequest>,
    report: impl Fn(TriageNews) + Send,
) {
    // Settings that wait for space on the disk.
    let mut waiting = StoredSettings::new();
    while let Some(opened) = open(&memory, &mut requests, &mut waiting, &report).await {
        let (mut store, instance) = opened;
        loop {
            // Requests first: a decision does not wait for the look at other programs.
            let done = tokio::select! {
                biased;
                request = requests.recv() => match request {
                    Some(DecisionRequest::ReadOthers) => {
                        report_others(&mut store, instance, &report).await
                    }
                    Some(DecisionRequest::Remember {
                        key,
                        workspace,
                        value,
                    }) if store.is_on_full_disk() => {
                        waiting.insert((key, workspace), value);
                        Ok(())
                    }
                    Some(request) => execute(&mut store, &request, &report).await,
                    None => return store.close().await,
                },
                () = others.tick() => match store.has_become_writable() {
                    true => break,
                    false => report_others(&mut store, instance, &report).await,
                },
            };
            if let Err(error) = done {
                tracing::error!(%error, "decisions not stored");
                // Nothing is written after a gap. The screen reports that further decisions are not
                // stored.
                return report(TriageNews::Failed(Arc::new(problem(&error))));
            }
        }
        store.close().await;
    }
}

async fn report_others(
    store: &mut Store,
    instance: u64,
    report: &(impl Fn(TriageNews) + Send),
) -> Result<(), StoreError> {
    let events = store.news(instance).await?;
    if !events.is_empty() {
        report(TriageNews::Events(events));
    }
    Ok(())
}

/// Executes a request. While the disk is full or the file is locked, it is tried again: later
/// requests must not overtake it.
async fn execute(
    store: &mut Store,
    request: &DecisionRequest,
    report: &(impl Fn(TriageNews) + Send),
) -> Result<(), StoreError> {
    if !store.is_writable() {
        return Ok(());
    }
    let mut delay = FIRST_DELAY;
    while let Err(error) = write(store, request).await {
        if !error.is_temporary() {
            return Err(error);
        }
        if delay == FIRST_DELAY {
            tracing::warn!(%error, "decisions not stored; retrying");
            report(TriageNews::Retrying(Arc::new(problem(&error))));
        }
        sleep(delay).await;
        delay = (delay * 2).min(LONGEST_DELAY);
    }
    if delay > FIRST_DELAY {
        report(TriageNews::Recovered);
    }
    if matches!(request, DecisionRequest::Record(_)) {
        report(TriageNews::Saved);
    }
    Ok(())
}

async fn write(store: &mut Store, request: &DecisionRequest) -> Result<(), StoreError> {
    match request {
        DecisionRequest::Record(events) => store.record(events).await,
        DecisionRequest::Remember {
            key,
            workspace,
            value,
        } => store.put_setting(key, workspace, value).await,
        DecisionRequest::MarkSeen { workspace, keys } => store.mark_seen(workspace, keys).await,
        // The task reads without writing.
        DecisionRequest::ReadOthers => Ok(()),
    }
}

/// Opens the store and reports its decisions; the number is that of this dashboard. On a full disk
/// they are only read. While they cannot be read either, or the directory is not writable, it is
/// tried again. None when the store cannot be used, or the dashboard ends before.
async fn open(
    memory: &Memory,
    requests: &mut UnboundedReceiver<DecisionRequest>,
    waiting: &mut StoredSettings,
    report: &(impl Fn(TriageNews) + Send),
) -> Option<(Store, u64)> {
    let mut delay = FIRST_DELAY;
    loop {
        match read(memory, waiting).await {
            Ok((store, stored)) => {
                let instance = stored.writer.as_ref().map(|writer| writer.instance);
                report(TriageNews::Opened(Box::new(stored)));
                return Some((store, instance.unwrap_or_default()));
            }
            Err(error) => {
                if delay == FIRST_DELAY {
                    tracing::error!(%error, "decisions not loaded");
                    let problem = Some(Arc::new(problem(&error)));
                    report(TriageNews::Opened(Box::new(StoredDecisions {
                        problem,
                        ..StoredDecisions::default()
                    })));
                }
                if !error.is_temporary() {
                    return None;
                }
            }
        }
        // Requests have no effect: without a store, nothing is decided.
        let ended = async { while requests.recv().await.is_some() {} };
        if timeout(delay, ended).await.is_ok() {
            return None;
        }
        delay = (delay * 2).min(LONGEST_DELAY);
    }
}

/// Opens the store, stores the settings that have waited for space, and reads it: settings that
/// still wait count too.
async fn read(
    memory: &Memory,
    waiting: &mut StoredSettings,
) -> Result<(Store, StoredDecisions), StoreError> {
    let OpenedDecisions {
        mut store,
        events,
        notes,
    } = Store::open_for_reading(&memory.directory).await?;
    if store.is_writable() {
        for ((key, workspace), value) in std::mem::take(waiting) {
            // Without this setting, the decisions are still usable.
            if let Err(error) = store.put_setting(&key, &workspace, &value).await {
                tracing::warn!(%error, %key, "setting not stored");
            }
        }
    }
    let mut settings = store.settings().await?;
    settings.extend(waiting.clone());
    let seen = store.seen().await?.into_iter().collect();
    let state = tokio::task::spawn_blocking(move || TriageState::from_events(events)).await;
    let state = state.map_err(|error| StoreError::Interrupted {
        why: error.to_string(),
    })?;
    let writer = store.is_writable().then(|| EventWriter {
        who: memory.who.as_str().into(),
        instance: rand::random(),
        ..EventWriter::default()
    });
    let problem = (!notes.is_empty()).then(|| Arc::new(Problem::local(notes.join("; "))));
    Ok((
        store,
        StoredDecisions {
            state,
            writer,
            settings,
            seen,
            problem,
        },
    ))
}

fn problem(error: &StoreError) -> Problem {
    Problem::local(error.to_string()).with_hint(error.hint())
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_domain::triage::{Change, Decision, Identity, Subject, Verdict};
    use scandeck_wire::contract::Stamp;
    use scandeck_wire::sqlite::execute;
    use tokio::time::Instant;

    struct DecisionsTester {
        decisions: DecisionsHandle,
        answers: UnboundedReceiver<TaskReport>,
    }

    impl DecisionsTester {
        fn open(directory: &std::path::Path, who: &str) -> Self {
            let (sender, answers) = mpsc::unbounded_channel();
            let memory = Memory {
                directory: directory.to_owned(),
                cache: None,
                who: who.to_owned(),
                keep_days: None,
            };
            Self {
                decisions: DecisionsHandle::start(
                    memory,
                    Beat::since(Instant::now()),
                    sender,
                    LocalWrites::default(),
                ),
                answers,
            }
        }

        async fn next_report(&mut self) -> TriageNews {
            match self.answers.recv().await {
                Some(TaskReport::Msg(msg)) => match *msg {
                    Msg::Triage(news) => news,
                    other => panic!("{other:?}"),
                },
                _ => panic!("the task ended"),
            }
        }

        async fn opened(&mut self) -> StoredDecisions {
            match self.next_report().await {
                TriageNews::Opened(stored) => *stored,
                other => panic!("{other:?}"),
            }
        }
    }

    fn decided(writer: &mut EventWriter) -> Arc<Event> {
        let subject = Subject::Finding(Identity {
            key: FindingKey(7),
            ..Identity::default()
        });
        let decision = Decision {
            verdict: Verdict::Confirmed,
            ..Decision::default()
        };
        let at = Stamp::parse("2026-11-21 12:00:00").unwrap();
        let batch = writer.next();
        Arc::new(writer.write((at, 1), batch, vec![], subject, Change::Decide(decision)))
    }

    #[tokio::test]
    async fn decisions_are_stored_before_end() {
        let temp = tempfile::tempdir().unwrap();
        let mut app = DecisionsTester::open(temp.path(), "ann");
        let mut writer = app.opened().await.writer.unwrap();
        assert_eq!(writer.who.as_str(), "ann");
        app.decisions
            .send(DecisionRequest::Record(vec![decided(&mut writer)]));
        app.decisions.send(DecisionRequest::MarkSeen {
            workspace: "acme".into(),
            keys: vec![FindingKey(7)],
        });
        app.decisions.send(DecisionRequest::Remember {
            key: "tabs".into(),
            workspace: "acme".into(),
            value: "[1]".into(),
        });
        app.decisions.end().await;
        let stored = DecisionsTester::open(temp.path(), "ann").opened().await;
        assert_eq!(
            stored
                .state
                .finding_state(FindingKey(7))
                .unwrap()
                .verdicts(),
            [Verdict::Confirmed]
        );
        assert!(
            stored.seen.contains(&FindingKey(7))
                && stored.settings.len() == 1
                && stored.problem.is_none()
        );
    }

    #[tokio::test]
    async fn decision_on_full_disk_is_retried_until_it_is_saved() {
        let temp = tempfile::tempdir().unwrap();
        let mut app = DecisionsTester::open(temp.path(), "ann");
        let mut writer = app.opened().await.writer.unwrap();
        let file = temp.path().join("decisions.db");
        let full = "CREATE TRIGGER full BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'the disk is full'); END";
        execute(&file, full).await.unwrap();
        app.decisions
            .send(DecisionRequest::Record(vec![decided(&mut writer)]));
        match app.next_report().await {
            TriageNews::Retrying(problem) => {
                assert!(problem.message.contains("the disk is full"), "{problem}")
            }
            other => panic!("{other:?}"),
        }
        execute(&file, "DROP TRIGGER full").await.unwrap();
        assert!(matches!(app.next_report().await, TriageNews::Recovered));
        assert!(matches!(app.next_report().await, TriageNews::Saved));
        assert!(app.decisions.end().await);
        let stored = DecisionsTester::open(temp.path(), "ann").opened().await;
        assert_eq!(
            stored
                .state
                .finding_state(FindingKey(7))
                .unwrap()
                .verdicts(),
            [Verdict::Confirmed]
        );
    }

    #[tokio::test]
    async fn settings_that_waited_for_space_are_stored_before_they_are_read() {
        let temp = tempfile::tempdir().unwrap();
        let memory = Memory {
            directory: temp.path().to_owned(),
            cache: None,
            who: "ann".to_owned(),
            keep_days: None,
        };
        let tabs = (Shared::from("tabs"), Shared::from("acme"));
        let mut waiting = StoredSettings::from([(tabs.clone(), "[1]".to_owned())]);
        let (store, stored) = read(&memory, &mut waiting).await.unwrap();
        store.close().await;
        assert!(waiting.is_empty());
        assert_eq!(stored.settings.get(&tabs).map(String::as_str), Some("[1]"));
    }

    #[tokio::test]
    async fn decisions_of_other_dashboard_are_reported() {
        let temp = tempfile::tempdir().unwrap();
        let (mut ann, mut bob) = (
            DecisionsTester::open(temp.path(), "ann"),
            DecisionsTester::open(temp.path(), "bob"),
        );
        let mut writer = ann.opened().await.writer.unwrap();
        bob.opened().await;
        let event = decided(&mut writer);
        ann.decisions
            .send(DecisionRequest::Record(vec![Arc::clone(&event)]));
        match bob.next_report().await {
            TriageNews::Events(events) => assert_eq!(events, [event]),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn unusable_directory_reports_problem_without_writer() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("file"), "").unwrap();
        let mut app = DecisionsTester::open(&temp.path().join("file/x"), "ann");
        let stored = app.opened().await;
        assert!(
            stored.writer.is_none() && stored.problem.unwrap().message.contains("cannot be saved")
        );
    }

    #[tokio::test]
    async fn store_that_cannot_be_opened_is_opened_later() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("file"), "").unwrap();
        let mut app = DecisionsTester::open(&temp.path().join("file/x"), "ann");
        assert!(app.opened().await.problem.is_some());
        std::fs::remove_file(temp.path().join("file")).unwrap();
        let stored = app.opened().await;
        assert!(stored.writer.is_some() && stored.problem.is_none());
        let mut writer = stored.writer.unwrap();
        app.decisions
            .send(DecisionRequest::Record(vec![decided(&mut writer)]));
        assert!(matches!(app.next_report().await, TriageNews::Saved));
    }

    #[tokio::test]
    async fn failing_store_reports_problem() {
        let temp = tempfile::tempdir().unwrap();
        let mut app = DecisionsTester::open(temp.path(), "ann");
        app.opened().await;
        let file = temp.path().join("decisions.db");
        std::fs::rename(&file, temp.path().join("away")).unwrap();
        match app.next_report().await {
            TriageNews::Failed(problem) => {
                assert!(problem.message.contains("another file"), "{problem}")
            }
            other => panic!("{other:?}"),
        }
    }
}
