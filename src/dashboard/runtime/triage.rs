//! The task that owns the store of decisions: opens it, keeps what it is told to, and hears of other instances.
//!
//! ```text
//!   open ─► fold ─► Opened          wish ─► transaction ─► nothing, or Failed          every two seconds ─► Events
//! ```
//!
//! Wishes are carried out in their order, none is dropped: the end of the dashboard waits for them. The clock for others
//! is slow because a look costs a wake-up, and what another person decides may take a moment to be seen.

use crate::client::Problem;
use crate::contract::Shared;
use crate::dashboard::core::Msg;
use crate::dashboard::data::{StoredDecisions, TriageNews};
use crate::dashboard::runtime::{Memory, TaskReport};
use crate::triage::{Event, EventWriter, FindingKey, OpenedDecisions, Store, StoreError, TriageState};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};

/// How often others are looked for.
const OTHERS: Duration = Duration::from_secs(2);
/// How long the end waits for what is still to be written: longer than a lock of another is waited for.
const GOODBYE: Duration = Duration::from_secs(8);

/// One thing to keep.
#[derive(Debug)]
pub(crate) enum DecisionRequest {
    Record(Vec<Arc<Event>>),
    Remember { key: Shared, workspace: Shared, value: String },
    MarkSeen { workspace: Shared, keys: Vec<FindingKey> },
}

/// The desk's hold on the task.
pub(crate) struct DecisionsHandle {
    wishes: UnboundedSender<DecisionRequest>,
    task: JoinHandle<()>,
}

impl DecisionsHandle {
    /// Begins; what the store tells goes to `answers`.
    pub fn start(memory: Memory, answers: UnboundedSender<TaskReport>) -> Self {
        let (wishes, waiting) = mpsc::unbounded_channel();
        let tell = move |news| {
            // The desk is gone: nobody waits for it.
            let _ = answers.send(TaskReport::Msg(Box::new(Msg::Triage(news))));
        };
        Self { wishes, task: tokio::spawn(keep(memory, waiting, tell)) }
    }

    /// Wishes something to be kept.
    pub fn wish(&self, wish: DecisionRequest) {
        // A task that has ended has said why.
        let _ = self.wishes.send(wish);
    }

    /// Waits until everything wished for is kept.
    pub async fn end(self) {
        drop(self.wishes);
        if timeout(GOODBYE, self.task).await.is_err() {
            tracing::error!("left before every decision was kept");
        }
    }
}

async fn keep(memory: Memory, mut wishes: UnboundedReceiver<DecisionRequest>, tell: impl Fn(TriageNews) + Send) {
    let (mut store, instance) = match open(&memory).await {
        Ok((store, kept)) => {
            let instance = kept.writer.as_ref().map(|writer| writer.instance);
            tell(TriageNews::Opened(Box::new(kept)));
            (store, instance.unwrap_or_default())
        }
        Err(error) => {
            let problem = Some(Arc::new(problem(&error)));
            return tell(TriageNews::Opened(Box::new(StoredDecisions { problem, ..StoredDecisions::default() })));
        }
    };
    let mut others = interval_at(Instant::now() + OTHERS, OTHERS);
    others.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        // Wishes first: what a person decided is never behind a look at others.
        let done = tokio::select! {
            biased;
            wish = wishes.recv() => match wish {
                Some(wish) => carry_out(&mut store, wish).await,
                None => break,
            },
            _ = others.tick() => store.news(instance).await.map(|events| {
                if !events.is_empty() {
                    tell(TriageNews::Events(events));
                }
            }),
        };
        if let Err(error) = done {
            tracing::error!(%error, "decisions cannot be kept");
            // Nothing is written behind a hole: what the screen shows from here on is told not to be kept.
            return tell(TriageNews::Failed(Arc::new(problem(&error))));
        }
    }
    store.close().await;
}

async fn carry_out(store: &mut Store, wish: DecisionRequest) -> Result<(), StoreError> {
    if !store.is_writable() {
        return Ok(());
    }
    match wish {
        DecisionRequest::Record(events) => store.record(&events).await,
        DecisionRequest::Remember { key, workspace, value } => store.put_setting(&key, &workspace, &value).await,
        DecisionRequest::MarkSeen { workspace, keys } => store.mark_seen(&workspace, &keys).await,
    }
}

async fn open(memory: &Memory) -> Result<(Store, StoredDecisions), StoreError> {
    let OpenedDecisions { mut store, events, notes } = Store::open(&memory.directory).await?;
    let settings = store.settings().await?;
    let seen = store.seen().await?.into_iter().collect();
    let state = tokio::task::spawn_blocking(move || TriageState::from_events(events)).await;
    let state = state.map_err(|error| StoreError::Interrupted { why: error.to_string() })?;
    let writer = store.is_writable().then(|| EventWriter {
        who: memory.who.as_str().into(),
        instance: rand::random(),
        ..EventWriter::default()
    });
    let problem = (!notes.is_empty()).then(|| Arc::new(Problem::local(notes.join("; "))));
    Ok((store, StoredDecisions { state, writer, settings, seen, problem }))
}

fn problem(error: &StoreError) -> Problem {
    Problem::local(error.to_string()).with_hint(error.hint())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Stamp;
    use crate::triage::{Change, Decision, Identity, Subject, Verdict};

    struct Desk {
        decisions: DecisionsHandle,
        answers: UnboundedReceiver<TaskReport>,
    }

    impl Desk {
        fn open(directory: &std::path::Path, who: &str) -> Self {
            let (sender, answers) = mpsc::unbounded_channel();
            let memory = Memory { directory: directory.to_owned(), cache: None, who: who.to_owned(), keep_days: None };
            Self { decisions: DecisionsHandle::start(memory, sender), answers }
        }

        async fn hears(&mut self) -> TriageNews {
            match self.answers.recv().await {
                Some(TaskReport::Msg(msg)) => match *msg {
                    Msg::Triage(news) => news,
                    other => panic!("{other:?}"),
                },
                _ => panic!("the task ended"),
            }
        }

        async fn opened(&mut self) -> StoredDecisions {
            match self.hears().await {
                TriageNews::Opened(kept) => *kept,
                other => panic!("{other:?}"),
            }
        }
    }

    fn decided(writer: &mut EventWriter) -> Arc<Event> {
        let subject = Subject::Finding(Identity { key: FindingKey(7), ..Identity::default() });
        let decision = Decision { verdict: Verdict::Confirmed, ..Decision::default() };
        let at = Stamp::parse("2026-11-21 12:00:00").unwrap();
        let batch = writer.next();
        Arc::new(writer.write((at, 1), batch, vec![], subject, Change::Decide(decision)))
    }

    #[tokio::test]
    async fn what_is_decided_is_kept_when_the_dashboard_is_left_at_once() {
        let temp = tempfile::tempdir().unwrap();
        let mut desk = Desk::open(temp.path(), "ann");
        let mut writer = desk.opened().await.writer.unwrap();
        assert_eq!(writer.who.as_str(), "ann");
        desk.decisions.wish(DecisionRequest::Record(vec![decided(&mut writer)]));
        desk.decisions.wish(DecisionRequest::MarkSeen { workspace: "acme".into(), keys: vec![FindingKey(7)] });
        desk.decisions.wish(DecisionRequest::Remember {
            key: "tabs".into(),
            workspace: "acme".into(),
            value: "[1]".into(),
        });
        desk.decisions.end().await;
        let kept = Desk::open(temp.path(), "ann").opened().await;
        assert_eq!(kept.state.finding_state(FindingKey(7)).unwrap().verdicts(), [Verdict::Confirmed]);
        assert!(kept.seen.contains(&FindingKey(7)) && kept.settings.len() == 1 && kept.problem.is_none());
    }

    #[tokio::test]
    async fn two_dashboards_hear_of_each_other() {
        let temp = tempfile::tempdir().unwrap();
        let (mut ann, mut bob) = (Desk::open(temp.path(), "ann"), Desk::open(temp.path(), "bob"));
        let mut writer = ann.opened().await.writer.unwrap();
        bob.opened().await;
        let event = decided(&mut writer);
        ann.decisions.wish(DecisionRequest::Record(vec![Arc::clone(&event)]));
        match bob.hears().await {
            TriageNews::Events(events) => assert_eq!(events, [event]),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn without_a_directory_there_is_no_pen_and_a_sentence() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("file"), "").unwrap();
        let mut desk = Desk::open(&temp.path().join("file/x"), "ann");
        let kept = desk.opened().await;
        assert!(kept.writer.is_none() && kept.problem.unwrap().message.contains("cannot be saved"));
    }

    #[tokio::test]
    async fn a_store_that_fails_says_so_and_nothing_more_is_written() {
        let temp = tempfile::tempdir().unwrap();
        let mut desk = Desk::open(temp.path(), "ann");
        desk.opened().await;
        let file = temp.path().join("decisions.db");
        std::fs::rename(&file, temp.path().join("away")).unwrap();
        match desk.hears().await {
            TriageNews::Failed(problem) => assert!(problem.message.contains("another file"), "{problem}"),
            other => panic!("{other:?}"),
        }
    }
}
