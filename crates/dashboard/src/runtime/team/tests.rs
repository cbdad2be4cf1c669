//! The exchange and its task against a service in memory.

use super::fake::RunningFake;
use super::*;
use crate::base::FirstJoin;
use crate::data::TriageNews;
use crate::runtime::{ArchiveHandle, DecisionsHandle, Memory};
use proptest::prelude::*;
use scandeck_domain::oob;
use scandeck_domain::oob::{Payload, PayloadBook, Token};
use scandeck_domain::triage::testing::Replica;
use scandeck_domain::triage::{Event, Store, TriageState, Verdict, jsonl};
use serde_json::json;
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(20);

/// The stores of a member and the exchange beside them.
struct Home {
    member: Replica,
    exchange: TeamExchange,
    decisions: Store,
    archive: oob::Store,
    book: PayloadBook,
    directory: TempDir,
}

impl Home {
    async fn new(service: &RunningFake, name: &str, instance: u64) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let decisions = Store::open(directory.path()).await.unwrap().store;
        let archive = oob::Store::open(directory.path()).await.unwrap().store;
        let client = service.client(name).await;
        Self {
            member: Replica::new(name, instance),
            exchange: TeamExchange::open(client, directory.path()).await.unwrap(),
            decisions,
            archive,
            book: PayloadBook::default(),
            directory,
        }
    }

    async fn decides(&mut self, key: u128, verdict: Verdict) -> Arc<Event> {
        let event = self.member.decides(key, verdict);
        self.decisions.record(&[Arc::clone(&event)]).await.unwrap();
        event
    }

    async fn plants(&mut self, number: u64, note: &str) {
        let token = Token::of(number);
        let version = self.book.get(token).map_or(0, |known| known.version + 1);
        let payload = Arc::new(Payload {
            token,
            version,
            note: note.into(),
            workspace: "acme".into(),
            ..Payload::default()
        });
        self.book.take([Arc::clone(&payload)]);
        self.archive.plant(&[payload]).await.unwrap();
    }

    async fn log(&mut self) -> TeamLog {
        match self.exchange.attach(&workspace()).await.unwrap() {
            Attached::Log(log) => log,
            Attached::Question(_) => self.exchange.join(&workspace(), true).await.unwrap(),
        }
    }

    /// Reads, and learns what was read as the dashboard does.
    async fn pull(&mut self) -> Result<Received, TeamError> {
        let mut log = self.log().await;
        let received = self.exchange.pull(&mut log, None).await;
        let news = self.decisions.news(self.member.writer.instance).await;
        self.member.receives(&news.unwrap());
        self.book.take(self.archive.news().await.unwrap().payloads);
        received
    }

    async fn push(&mut self) -> Result<Sent, TeamError> {
        let log = self.log().await;
        self.exchange.push(&log).await
    }

    async fn sync(&mut self) {
        for _ in 0..2 {
            self.pull().await.unwrap();
            self.push().await.unwrap();
        }
        self.pull().await.unwrap();
    }

    /// What a new start of the program reads.
    async fn stored(&self) -> (TriageState, PayloadBook) {
        let opened = Store::open(self.directory.path()).await.unwrap();
        let archive = oob::Store::open(self.directory.path()).await.unwrap();
        (TriageState::from_events(opened.events), archive.book)
    }
}

fn workspace() -> TeamWorkspace {
    TeamWorkspace {
        service: "5e".into(),
        id: 7.into(),
        name: "acme".into(),
    }
}

#[tokio::test]
async fn decisions_and_payloads_of_two_members_become_one_state() {
    let service = RunningFake::start().await;
    let mut ann = Home::new(&service, "ann", 1).await;
    let mut bob = Home::new(&service, "bob", 2).await;
    for key in 1..=5 {
        ann.decides(key, Verdict::Confirmed).await;
        bob.decides(key + 3, Verdict::FalsePositive).await;
    }
    ann.plants(1, "of ann").await;
    bob.plants(1, "of bob").await;
    let (mut counted, log) = (ann.push().await.unwrap(), ann.log().await);
    assert_eq!(
        (log.epoch, counted.events),
        (0, 0),
        "nothing before the first page"
    );
    ann.pull().await.unwrap();
    counted = ann.push().await.unwrap();
    assert_eq!((counted.events, counted.payloads), (5, 1));
    assert_eq!(ann.exchange.unsent("acme").await.unwrap(), 0);
    let received = bob.pull().await.unwrap();
    assert_eq!(
        (received.events, received.payloads),
        (5, 0),
        "bob's payload is greater"
    );
    bob.sync().await;
    ann.sync().await;
    let (ann_stored, bob_stored) = (ann.stored().await, bob.stored().await);
    assert_eq!(ann_stored, bob_stored);
    assert_eq!(
        (&ann.member.state, &ann.book),
        (&ann_stored.0, &ann_stored.1)
    );
    let lines = |state: &TriageState| jsonl::write(state.events());
    assert_eq!(lines(&ann.member.state), lines(&bob.member.state));
    let conflicts = (1..=8)
        .filter(|key| ann.member.verdicts(*key).len() == 2)
        .count();
    assert_eq!(conflicts, 2, "on findings 4 and 5");
    assert_eq!(bob.book.get(Token::of(1)).unwrap().note.as_str(), "of bob");
}

#[tokio::test]
async fn restored_service_receives_what_it_lost() {
    let service = RunningFake::start().await;
    let mut ann = Home::new(&service, "ann", 1).await;
    let mut bob = Home::new(&service, "bob", 2).await;
    for key in 1..=4 {
        ann.decides(key, Verdict::Confirmed).await;
        bob.decides(key, Verdict::Fixed).await;
        bob.plants(1, "x").await;
        ann.sync().await;
        bob.sync().await;
    }
    service.state().restore(3);
    let lost = bob.decides(9, Verdict::Confirmed).await;
    bob.sync().await;
    ann.sync().await;
    bob.sync().await;
    assert_eq!(service.state().events.len(), 9);
    assert_eq!(service.state().payloads.len(), 1);
    assert!(ann.member.state.knows(lost.id));
    assert_eq!(ann.stored().await, bob.stored().await);
}

#[tokio::test]
async fn undo_after_a_workspace_was_renamed_reaches_the_team() {
    let service = RunningFake::start().await;
    let mut ann = Home::new(&service, "ann", 1).await;
    let decided = ann.decides(1, Verdict::Confirmed).await;
    ann.sync().await;
    let renamed = TeamWorkspace {
        name: "acme 2".into(),
        ..workspace()
    };
    let Attached::Log(log) = ann.exchange.attach(&renamed).await.unwrap() else {
        panic!("the workspace is shared already");
    };
    let undone = ann.member.undoes(decided.batch);
    ann.decisions.record(&[Arc::clone(&undone)]).await.unwrap();
    assert_eq!(ann.exchange.push(&log).await.unwrap().events, 1);
    assert_eq!(service.state().events[1].1, undone.id.to_string());
}

#[tokio::test]
async fn services_with_a_workspace_of_one_name_do_not_share_the_sent_mark() {
    let (first, second) = (RunningFake::start().await, RunningFake::start().await);
    let mut ann = Home::new(&first, "ann", 1).await;
    ann.decides(1, Verdict::Confirmed).await;
    ann.plants(1, "x").await;
    ann.sync().await;
    let of_second = TeamWorkspace {
        service: "6f".into(),
        ..workspace()
    };
    // The profile names another service.
    let client = second.client("ann").await;
    let mut exchange = TeamExchange::open(client, ann.directory.path())
        .await
        .unwrap();
    let mut log = exchange.join(&of_second, true).await.unwrap();
    ann.decides(2, Verdict::Confirmed).await;
    ann.plants(2, "y").await;
    exchange.pull(&mut log, None).await.unwrap();
    assert_eq!(exchange.push(&log).await.unwrap().events, 2);
    exchange.pull(&mut log, None).await.unwrap();
    // And the first one again.
    ann.sync().await;
    let counts = |service: &RunningFake| {
        let state = service.state();
        (state.events.len(), state.payloads.len())
    };
    assert_eq!([counts(&first), counts(&second)], [(2, 2); 2]);
    assert_eq!(ann.exchange.unsent("acme").await.unwrap(), 0);
    let Attached::Log(log) = exchange.attach(&of_second).await.unwrap() else {
        panic!("shared already");
    };
    assert_eq!(log.last, 0, "read again");
}

#[tokio::test]
async fn workspace_renamed_to_a_name_of_another_service_is_exchanged_from_its_beginning() {
    let (first, second) = (RunningFake::start().await, RunningFake::start().await);
    let mut ann = Home::new(&first, "ann", 1).await;
    ann.decides(1, Verdict::Confirmed).await;
    ann.sync().await;
    let beta = TeamWorkspace {
        service: "6f".into(),
        name: "beta".into(),
        ..workspace()
    };
    let client = second.client("ann").await;
    let directory = ann.directory.path();
    let mut exchange = TeamExchange::open(client, directory).await.unwrap();
    let mut log = exchange.join(&beta, true).await.unwrap();
    exchange.pull(&mut log, None).await.unwrap();
    assert_eq!(exchange.push(&log).await.unwrap().events, 0);
    let renamed = TeamWorkspace {
        name: "acme".into(),
        ..beta
    };
    let Attached::Log(mut log) = exchange.attach(&renamed).await.unwrap() else {
        panic!("shared already");
    };
    exchange.pull(&mut log, None).await.unwrap();
    assert_eq!(exchange.push(&log).await.unwrap().events, 1);
    assert_eq!(ann.log().await.last, 0, "read again");
}

#[tokio::test]
async fn event_of_another_author_names_the_member_who_sent_it() {
    let service = RunningFake::start().await;
    let mut ann = Home::new(&service, "ann", 1).await;
    let mut bob = Home::new(&service, "bob", 2).await;
    let imported = Replica::new("zoe", 9).decides(1, Verdict::Confirmed);
    bob.decisions
        .record(&[Arc::clone(&imported)])
        .await
        .unwrap();
    bob.decides(2, Verdict::Confirmed).await;
    bob.sync().await;
    ann.sync().await;
    let events = ann.decisions.events_in("acme").await.unwrap();
    let authors: Vec<(&str, Option<&str>)> = events
        .iter()
        .map(|event| (event.who.as_str(), event.sent_by.as_deref()))
        .collect();
    assert_eq!(authors, [("zoe", Some("bob")), ("bob", None)]);
    // The line remains as its author wrote it.
    assert_eq!(jsonl::line(&events[0]), jsonl::line(&imported));
}

#[tokio::test]
async fn purge_ends_the_exchange_and_keeps_the_own_copy() {
    let service = RunningFake::start().await;
    let mut ann = Home::new(&service, "ann", 1).await;
    ann.decides(1, Verdict::Confirmed).await;
    ann.sync().await;
    service.state().purge("eve");
    ann.decides(2, Verdict::Confirmed).await;
    let sent = ann.push().await.unwrap();
    assert_eq!(sent.events, 0, "of an epoch that is over");
    let purged = ann.pull().await.unwrap().purged.unwrap();
    assert_eq!(purged.who.as_str(), "eve");
    assert!(!ann.log().await.is_shared);
    assert_eq!(ann.push().await.unwrap().events, 0);
    assert!(service.state().events.is_empty());
    assert_eq!(ann.stored().await.0.len(), 2);
    // Joined again, everything is sent.
    ann.exchange.join(&workspace(), true).await.unwrap();
    ann.sync().await;
    assert_eq!(service.state().events.len(), 2);
}

#[tokio::test]
async fn refused_lines_do_not_hold_up_others() {
    let service = RunningFake::start().await;
    let mut ann = Home::new(&service, "ann", 1).await;
    ann.sync().await;
    service.state().refusal = Some("the events of this dashboard belong to the key bob");
    ann.decides(1, Verdict::Confirmed).await;
    let sent = ann.push().await.unwrap();
    assert_eq!((sent.events, sent.refused.len()), (0, 1));
    let problem = refusal(&sent.refused).unwrap();
    assert!(
        problem
            .message
            .starts_with("1 decision not accepted: the events"),
        "{problem}"
    );
    service.state().refusal = None;
    let event = ann.decides(2, Verdict::Confirmed).await;
    let sent = ann.push().await.unwrap();
    assert_eq!(
        (sent.events, sent.refused.len()),
        (1, 0),
        "it is not sent again"
    );
    assert_eq!(service.state().events[0].1, event.id.to_string());
    assert_eq!(ann.exchange.unsent("acme").await.unwrap(), 0);
}

#[tokio::test]
async fn refused_rows_are_counted_by_reason_until_they_are_sent_again() {
    let service = RunningFake::start().await;
    let mut ann = Home::new(&service, "ann", 1).await;
    ann.sync().await;
    service.state().refusal = Some("the clock is too new");
    ann.decides(1, Verdict::Confirmed).await;
    ann.decides(2, Verdict::Confirmed).await;
    ann.plants(1, "x").await;
    ann.sync().await;
    let refused = |reason: &str, rows| RefusedRows {
        reason: reason.to_owned(),
        rows,
    };
    let expected = [refused("the clock is too new", 3)];
    assert_eq!(ann.exchange.refused("acme").await.unwrap(), expected);
    let file = ann.directory.path().join("decisions.db");
    let of_file = RefusedRows::of_file("events", &file).await.unwrap();
    assert_eq!(of_file, [refused("the clock is too new", 2)]);
    service.state().refusal = None;
    ann.sync().await;
    assert_eq!(ann.exchange.refused("acme").await.unwrap(), expected);
    ann.exchange.retry_refused("acme").await.unwrap();
    ann.sync().await;
    assert_eq!(ann.exchange.refused("acme").await.unwrap(), []);
    let state = service.state();
    assert_eq!((state.events.len(), state.payloads.len()), (2, 1));
}

#[tokio::test]
async fn hostile_pages_end_and_store_nothing_absurd() {
    let service = RunningFake::start().await;
    let mut ann = Home::new(&service, "ann", 1).await;
    ann.decides(1, Verdict::Confirmed).await;
    ann.sync().await;
    let event = |position: i64, clock: i64| {
        let mut event: serde_json::Value = serde_json::from_str(&jsonl::line(
            &Replica::new("eve", 9).decides(3, Verdict::Fixed),
        ))
        .unwrap();
        event["clock"] = clock.into();
        json!({"position": position, "key": "eve", "event": event})
    };
    for page in [
        // The same position again and again.
        json!({"epoch": 1, "last": 9, "last_payload": 0, "events": [event(1, 1 << 50)]}),
        json!({"epoch": 1, "last": i64::MAX, "last_payload": i64::MAX, "events": []}),
        json!({"epoch": 1, "last": 1, "last_payload": 0, "events": [7, {"position": "x"}, event(2, 1 << 50)]}),
        json!({"epoch": 3, "last": -1, "last_payload": -1, "events": [{"position": -5, "key": 1, "event": []}]}),
        json!({}),
        json!([]),
    ] {
        service.state().page = Some(page.clone());
        let pulled = timeout(PATIENCE, ann.pull()).await;
        assert!(pulled.is_ok(), "endless: {page}");
    }
    assert_eq!(ann.stored().await.0.len(), 1);
    // It works again afterwards.
    service.state().page = None;
    service.state().restore(0);
    ann.sync().await;
    assert_eq!(service.state().events.len(), 1);
}

#[tokio::test]
async fn sender_remains_when_another_member_restores_the_log() {
    let service = RunningFake::start().await;
    let mut ann = Home::new(&service, "ann", 1).await;
    let mut bob = Home::new(&service, "bob", 2).await;
    bob.pull().await.unwrap();
    bob.decides(1, Verdict::Confirmed).await;
    bob.push().await.unwrap();
    ann.pull().await.unwrap();
    service.state().restore(0);
    for home in [&mut ann, &mut bob] {
        home.sync().await;
    }
    for home in [&ann, &bob] {
        let (stored, _) = home.stored().await;
        assert_eq!(stored, home.member.state);
        let events: Vec<_> = stored.events().collect();
        let senders: Vec<_> = events.iter().map(|event| event.sent_by.as_ref()).collect();
        assert_eq!(senders, [None]);
    }
}

/// A step of one of two members.
#[derive(Clone, Debug)]
enum Step {
    Decide(u128, usize),
    Plant(u64, u8),
    Pull,
    Push,
    /// An exchange whose answers are lost.
    Lose,
    Restore(usize),
}

fn steps() -> impl Strategy<Value = Vec<(bool, Step)>> {
    let step = prop_oneof![
        4 => (1..4u128, 0..Verdict::ALL.len()).prop_map(|(key, verdict)| Step::Decide(key, verdict)),
        2 => (1..3u64, any::<u8>()).prop_map(|(number, note)| Step::Plant(number, note)),
        3 => Just(Step::Pull),
        3 => Just(Step::Push),
        2 => Just(Step::Lose),
        1 => (0..6usize).prop_map(Step::Restore),
    ];
    proptest::collection::vec((any::<bool>(), step), 1..24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_order_of_exchanges_and_losses_gives_one_state(steps in steps()) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let service = RunningFake::start().await;
            let mut homes = [
                Home::new(&service, "ann", 1).await,
                Home::new(&service, "bob", 2).await,
            ];
            for (which, step) in steps {
                let home = &mut homes[usize::from(which)];
                match step {
                    Step::Decide(key, verdict) => drop(home.decides(key, Verdict::ALL[verdict]).await),
                    Step::Plant(number, note) => home.plants(number, &note.to_string()).await,
                    Step::Pull => drop(home.pull().await.unwrap()),
                    Step::Push => drop(home.push().await.unwrap()),
                    Step::Lose => {
                        home.log().await;
                        service.state().broken = Some(503);
                        let _ = home.pull().await;
                        let _ = home.push().await;
                        service.state().broken = None;
                    }
                    Step::Restore(events) => service.state().restore(events),
                }
            }
            for _ in 0..2 {
                for home in &mut homes {
                    home.sync().await;
                }
            }
            let [ann, bob] = &homes;
            let (stored, other) = (ann.stored().await, bob.stored().await);
            prop_assert_eq!(&stored, &other);
            prop_assert_eq!((&ann.member.state, &ann.book), (&stored.0, &stored.1));
            prop_assert_eq!((&bob.member.state, &bob.book), (&stored.0, &stored.1));
            prop_assert_eq!(service.state().events.len(), stored.0.len());
            Ok(())
        })?;
    }
}

/// A dashboard without a screen: the tasks of its stores and of the exchange.
struct TeamTester {
    decisions: DecisionsHandle,
    /// Ends with the tester.
    _archive: ArchiveHandle,
    team: TeamHandle,
    answers: UnboundedReceiver<TaskReport>,
    member: Replica,
    directory: TempDir,
}

impl TeamTester {
    async fn open(service: &RunningFake, name: &str, instance: u64) -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self::start(directory, service.client(name).await, (name, instance))
    }

    fn start(directory: TempDir, client: Client, (name, instance): (&str, u64)) -> Self {
        let (sender, answers) = mpsc::unbounded_channel();
        let memory = Memory {
            directory: directory.path().to_owned(),
            cache: None,
            who: name.to_owned(),
            keep_days: None,
        };
        let beat = Beat::since(Instant::now());
        let (decided, planted) = (LocalWrites::default(), LocalWrites::default());
        let archive = ArchiveHandle::start(&memory, beat, sender.clone(), planted.clone());
        let decisions = DecisionsHandle::start(memory, beat, sender.clone(), decided.clone());
        let context = TeamContext {
            client,
            directory: directory.path().to_owned(),
            is_read_only: false,
            decisions: decisions.sender(),
            archive: archive.sender(),
            decided,
            planted,
            answers: sender,
        };
        Self {
            decisions,
            _archive: archive,
            team: TeamHandle::start(context, beat),
            answers,
            member: Replica::new(name, instance),
            directory,
        }
    }

    fn decides(&mut self, key: u128) -> Arc<Event> {
        let event = self.member.decides(key, Verdict::Confirmed);
        let request = DecisionRequest::Record(vec![Arc::clone(&event)]);
        self.decisions.send(request);
        event
    }

    fn look(&self) {
        self.team.send(TeamRequest::Look {
            workspace: Some((7.into(), "acme".into())),
            finding: Some(FindingKey(0xf)),
        });
    }

    /// The first message for which this has a value.
    async fn until<T>(&mut self, wanted: impl Fn(Msg) -> Option<T>) -> T {
        let found = async {
            loop {
                match self.answers.recv().await {
                    Some(TaskReport::Msg(msg)) => {
                        if let Some(found) = wanted(*msg) {
                            return found;
                        }
                    }
                    _ => panic!("the tasks ended"),
                }
            }
        };
        timeout(PATIENCE, found).await.expect("no such message")
    }

    async fn exchanged(&mut self, wanted: impl Fn(usize, Option<&Problem>) -> bool) {
        self.until(|msg| match msg {
            Msg::Team(TeamNews::Exchanged {
                unsent, problem, ..
            }) => wanted(unsent, problem.as_deref()).then_some(()),
            _ => None,
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn decision_reaches_the_dashboard_of_a_colleague() {
    let service = RunningFake::start().await;
    let mut ann = TeamTester::open(&service, "ann", 1).await;
    let mut bob = TeamTester::open(&service, "bob", 2).await;
    for tester in [&mut ann, &mut bob] {
        tester.look();
        let member = tester.until(|msg| match msg {
            Msg::Team(TeamNews::Member(member)) => Some(member),
            _ => None,
        });
        assert_eq!(member.await.service.as_str(), "5e");
    }
    while service
        .state()
        .requests
        .iter()
        .filter(|one| one.starts_with("GET /scandeck/v1/w"))
        .count()
        < 2
    {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let began = Instant::now();
    let event = ann.decides(1);
    let events = bob.until(|msg| match msg {
        Msg::Triage(TriageNews::Events(events)) => Some(events),
        _ => None,
    });
    assert_eq!(events.await, [event]);
    let took = began.elapsed();
    assert!(took < Duration::from_millis(2_500), "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn private_history_is_shared_only_after_the_answer() {
    let service = RunningFake::start().await;
    let mut ann = TeamTester::open(&service, "ann", 1).await;
    ann.decides(1);
    ann.decides(2);
    for _ in 0..2 {
        ann.until(|msg| matches!(msg, Msg::Triage(TriageNews::Saved)).then_some(()))
            .await;
    }
    ann.look();
    let question = ann.until(|msg| match msg {
        Msg::Team(TeamNews::Question(question)) => Some(question),
        _ => None,
    });
    let expected = FirstJoin {
        workspace: 7.into(),
        name: "acme".into(),
        own: 2,
        ..FirstJoin::default()
    };
    assert_eq!(question.await, expected);
    let answer = |is_shared| TeamRequest::Join {
        workspace: 7.into(),
        is_shared,
    };
    ann.team.send(answer(false));
    ann.until(|msg| matches!(msg, Msg::Team(TeamNews::Private(_))).then_some(()))
        .await;
    assert!(service.state().events.is_empty());
    ann.team.send(answer(true));
    while service.state().events.len() < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn revoked_key_keeps_decisions_until_it_works_again() {
    let service = RunningFake::start().await;
    let mut ann = TeamTester::open(&service, "ann", 1).await;
    ann.look();
    ann.exchanged(|_, problem| problem.is_none()).await;
    ann.decides(1);
    while service.state().events.is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    service.state().broken = Some(401);
    ann.exchanged(|unsent, problem| {
        unsent == 0 && problem.is_some_and(|one| one.status == Some(401))
    })
    .await;
    ann.decides(2);
    ann.exchanged(|unsent, problem| unsent == 1 && problem.is_some())
        .await;
    service.state().broken = None;
    ann.exchanged(|unsent, problem| unsent == 0 && problem.is_none())
        .await;
    // The fake has carried out the request that it answered with 401.
    assert_eq!(service.state().events.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn exchange_resumes_at_once_when_the_service_responds_again() {
    let service = RunningFake::start().await;
    let mut ann = TeamTester::open(&service, "ann", 1).await;
    ann.look();
    ann.exchanged(|_, problem| problem.is_none()).await;
    let before = {
        let mut state = service.state();
        state.broken = Some(503);
        state.requests.len()
    };
    // After the second failure, the next attempt waits for four seconds.
    while service.state().requests.len() < before + 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    service.state().broken = None;
    let began = Instant::now();
    ann.team.send(TeamRequest::Resume);
    ann.exchanged(|_, problem| problem.is_none()).await;
    let took = began.elapsed();
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_decision_is_reported_until_it_is_sent_again() {
    let service = RunningFake::start().await;
    let mut ann = TeamTester::open(&service, "ann", 1).await;
    ann.look();
    ann.exchanged(|_, problem| problem.is_none()).await;
    service.state().refusal = Some("no");
    ann.decides(1);
    let refused = |wanted: usize| {
        move |msg| match msg {
            Msg::Team(TeamNews::Exchanged { refused, .. }) => {
                (RefusedRows::count(&refused) == wanted).then_some(())
            }
            _ => None,
        }
    };
    ann.until(refused(1)).await;
    service.state().refusal = None;
    ann.team.send(TeamRequest::Retry {
        workspace: 7.into(),
    });
    ann.until(refused(0)).await;
    assert_eq!(service.state().events.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn start_without_a_connection_signs_and_counts_as_the_last_member() {
    let service = RunningFake::start().await;
    let member = |msg| match msg {
        Msg::Team(TeamNews::Member(member)) => Some(member.name),
        _ => None,
    };
    let mut ann = TeamTester::open(&service, "ann", 1).await;
    ann.look();
    ann.exchanged(|_, problem| problem.is_none()).await;
    assert!(ann.decisions.end().await);
    ann.team.end().await;
    let requests = service.state().requests.len();
    let client = service.unused_client("ann");
    let mut offline = TeamTester::start(ann.directory, client.clone(), ("ann", 2));
    offline.look();
    assert_eq!(offline.until(member).await.as_str(), "ann");
    offline.decides(1);
    offline
        .exchanged(|unsent, problem| unsent == 1 && problem.is_some())
        .await;
    assert_eq!(service.state().requests.len(), requests, "nothing is sent");
    // The service responds, and no longer has a team.
    service.state().is_foreign = true;
    client.list_workspaces().await.unwrap();
    assert_eq!(offline.until(member).await.as_str(), "");
    assert!(offline.decisions.end().await);
    offline.team.end().await;
    let mut store = Store::open_beside(offline.directory.path()).await.unwrap();
    let base_url = client.base().to_string();
    assert_eq!(store.member_at(&base_url).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn decision_before_the_end_is_sent() {
    let service = RunningFake::start().await;
    let mut ann = TeamTester::open(&service, "ann", 1).await;
    ann.look();
    ann.exchanged(|_, problem| problem.is_none()).await;
    ann.decides(1);
    while service.state().events.is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    ann.decides(2);
    assert!(ann.decisions.end().await);
    ann.team.end().await;
    assert_eq!(service.state().events.len(), 2);
    drop(ann.directory);
}

#[tokio::test(flavor = "multi_thread")]
async fn read_key_and_key_file_send_nothing() {
    let decide = |(name, role): (&'static str, &'static str)| async move {
        let service = RunningFake::start().await;
        service.state().role = role;
        let mut ann = TeamTester::open(&service, name, 1).await;
        ann.look();
        while service.state().requests.len() < if role == "read" { 4 } else { 2 } {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        ann.decides(1);
        // Longer than a poll.
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        let state = service.state();
        assert!(state.events.is_empty() && state.requests.iter().all(|one| one.starts_with("GET")));
        let asks = state
            .requests
            .iter()
            .filter(|one| one.contains("/scandeck/v1/w"))
            .count();
        assert_eq!(asks == 0, name == "file", "{:?}", state.requests);
    };
    futures::future::join_all([("ann", "read"), ("file", "admin")].map(decide)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_service_sees_no_request() {
    let service = RunningFake::start().await;
    service.state().is_foreign = true;
    let mut ann = TeamTester::open(&service, "ann", 1).await;
    ann.look();
    ann.decides(1);
    ann.until(|msg| matches!(msg, Msg::Triage(TriageNews::Saved)).then_some(()))
        .await;
    // Longer than a poll.
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert_eq!(service.state().requests, ["GET /api/v2/workspaces"]);
}
