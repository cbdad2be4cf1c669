//! Findings that are too many for one answer.

use super::*;
use crate::base::UnreadScans;
use crate::poller::{MOST_FINDINGS, MovedScans};
use scandeck_domain::problem::Problem;
use scandeck_domain::triage::ListedFinding;
use std::collections::BTreeSet;

impl Hand {
    /// Reads for some minutes. Returns the scans of each request for findings. The answer for a
    /// scan has `rows` findings; it is too large without a number.
    fn read_parts(&mut self, rows: impl Fn(i64) -> Option<usize>) -> Vec<Vec<i64>> {
        let mut parts: Vec<Vec<i64>> = Vec::new();
        for _ in 0..2_000 {
            for fetch in self.scheduler.due(self.now) {
                let answer = match &fetch {
                    Fetch::FindingsOf {
                        scans,
                        removed,
                        cached,
                    } => {
                        parts.push(scans.iter().map(|(id, _)| id.0).collect());
                        let is_removed =
                            |scan: Option<ScanId>| scan.is_some_and(|scan| removed.contains(&scan));
                        let old = cached
                            .items()
                            .iter()
                            .filter(|one| !is_removed(one.task_id()))
                            .cloned();
                        let of_scan = |scan: ScanId| {
                            Some((0..rows(scan.0)?).map(move |at| finding(scan.0, at)))
                        };
                        let new: Option<Vec<_>> =
                            scans.iter().map(|(scan, _)| of_scan(*scan)).collect();
                        let new = new.ok_or_else(too_large);
                        new.map(|new| {
                            let all: Vec<Arc<ListedFinding>> =
                                old.chain(new.into_iter().flatten()).collect();
                            Fetched::List(Snapshot::Findings(Arc::new(Table::new(all))))
                        })
                    }
                    _ => self.answer(&fetch),
                };
                self.fetched.push(fetch.slot());
                self.scheduler
                    .absorb(fetch.slot(), answer, self.now, Timestamp::UNIX_EPOCH);
            }
            self.now += Duration::from_millis(100);
        }
        parts.retain(|part| !part.is_empty());
        parts
    }

    fn unread(&mut self) -> Option<UnreadScans> {
        let unread = |event| match event {
            PollEvent::SomeFindings(_, unread, _) => {
                Some(Some(unread).filter(|unread| !unread.ids.is_empty()))
            }
            PollEvent::Snapshot(Snapshot::Findings(_)) => Some(None),
            _ => None,
        };
        self.events()
            .into_iter()
            .rev()
            .find_map(unread)
            .expect("no findings reported")
    }
}

fn finding(scan: i64, at: usize) -> Arc<ListedFinding> {
    let id = (scan * 1_000_000 + at as i64).into();
    let finding = Finding {
        id,
        task_id: Some(ScanId(scan)),
        ..Finding::default()
    };
    Arc::new(finding.into())
}

fn too_large() -> Error {
    Error::new(ErrorKind::TooLarge, "the response is larger than 512 MB")
}

fn ids(ids: impl IntoIterator<Item = i64>) -> Arc<BTreeSet<ScanId>> {
    Arc::new(ids.into_iter().map(ScanId).collect())
}

#[test]
fn list_that_is_too_large_is_read_scan_by_scan() {
    let mut hand = Hand::new(true);
    hand.scans = (1..=40)
        .map(|id| scan(id, ScanStatus::Finished, 2))
        .collect();
    hand.scans.push(scan(41, ScanStatus::Finished, 0));
    hand.failing = Some((FINDINGS, too_large()));
    let parts = hand.read_parts(|_| Some(2));
    let newest_first: Vec<i64> = (1..=40).rev().collect();
    assert_eq!(
        parts.concat(),
        newest_first,
        "a scan without findings is not read"
    );
    let events = hand.events();
    let is_whole = |event: &PollEvent| matches!(event, PollEvent::SomeFindings(table, unread, _) if table.len() == 80 && unread.ids.is_empty());
    assert!(events.iter().any(is_whole));
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, PollEvent::Failed(..)))
    );
    hand.scheduler.set_plan(PollPlan {
        refreshes: [(ListKind::Findings, 1)].into(),
        ..hand.scheduler.plan.clone()
    });
    let mut again = hand.read_parts(|_| Some(2)).concat();
    again.sort_unstable();
    assert_eq!(
        again,
        (1..=40).collect::<Vec<_>>(),
        "a refresh reads the loaded scans again"
    );
}

#[test]
fn rationed_service_is_read_in_parts_of_few_calls() {
    let mut hand = Hand::new(false);
    hand.scans = (1..=20)
        .map(|id| scan(id, ScanStatus::Finished, 2))
        .collect();
    hand.failing = Some((FINDINGS, too_large()));
    let parts = hand.read_parts(|_| Some(2));
    assert_eq!(parts.concat().len(), 20);
    assert!(parts.iter().all(|part| part.len() <= 7), "{parts:?}");
}

#[test]
fn findings_above_the_limit_are_read_when_a_query_names_their_scan() {
    let mut hand = Hand::new(true);
    let each = MOST_FINDINGS as i64 / 4;
    let most = MOST_FINDINGS as i64 / each;
    hand.scans = (1..=most + 3)
        .map(|id| scan(id, ScanStatus::Finished, each))
        .collect();
    let rows = |_| Some(each as usize);
    hand.failing = Some((
        FINDINGS,
        Error::new(ErrorKind::Server, "the whole list is not requested"),
    ));
    let parts = hand.read_parts(rows);
    assert!(
        !hand
            .events()
            .iter()
            .any(|event| matches!(event, PollEvent::Failed(..)))
    );
    assert_eq!(parts.concat(), (4..=most + 3).rev().collect::<Vec<_>>());
    let unread = hand.scheduler.moved.unread();
    assert_eq!(
        unread,
        Some(UnreadScans {
            ids: ids(1..=3),
            findings: 3 * each as usize,
            is_reading: false
        })
    );
    hand.scheduler.set_plan(PollPlan {
        wanted_scans: vec![ScanId(2)],
        ..hand.scheduler.plan.clone()
    });
    assert_eq!(hand.read_parts(rows), [[2]]);
    assert_eq!(
        hand.unread().unwrap().ids,
        ids([1, 3, 4]),
        "the oldest scan makes room, unless it is wanted"
    );
    hand.scans.push(scan(most + 4, ScanStatus::Finished, each));
    hand.scheduler.set_plan(PollPlan {
        refreshes: [(ListKind::Scans, 1)].into(),
        ..hand.scheduler.plan.clone()
    });
    assert_eq!(hand.read_parts(rows), [[most + 4]], "a new scan is read");
    assert_eq!(hand.unread().unwrap().ids.len(), 4);
}

#[test]
fn scan_whose_answer_is_too_large_does_not_block_the_others() {
    let mut hand = Hand::new(true);
    hand.scans = (1..=3)
        .map(|id| scan(id, ScanStatus::Finished, 2))
        .collect();
    hand.failing = Some((FINDINGS, too_large()));
    let requested = hand.read_parts(|scan| (scan != 2).then_some(2));
    assert_eq!(requested[..4], [vec![3, 2, 1], vec![3], vec![2], vec![1]]);
    assert!(
        requested[4..].iter().all(|part| *part == [2]) && requested.len() < 15,
        "{requested:?}"
    );
    assert_eq!(
        hand.unread().unwrap(),
        UnreadScans {
            ids: ids([2]),
            findings: 2,
            is_reading: true
        }
    );
}

/// A workspace whose scans have a quarter of the limit each, of which the newest four are loaded.
fn full(scans: i64) -> (Hand, usize) {
    let mut hand = Hand::new(true);
    let each = MOST_FINDINGS / 4;
    hand.scans = (1..=scans)
        .map(|id| scan(id, ScanStatus::Finished, each as i64))
        .collect();
    assert_eq!(
        hand.read_parts(|_| Some(each)).concat(),
        (scans - 3..=scans).rev().collect::<Vec<_>>()
    );
    (hand, each)
}

fn refresh(hand: &mut Hand, list: ListKind) {
    let mut plan = hand.scheduler.plan.clone();
    *plan.refreshes.entry(list).or_default() += 1;
    hand.scheduler.set_plan(plan);
}

#[test]
fn part_that_is_repeated_drops_the_same_scans() {
    let (mut moved, mut now) = (MovedScans::default(), Instant::now());
    let each = MOST_FINDINGS as i64 / 4;
    let list = |last: i64| Table::new((1..=last).map(|id| scan(id, ScanStatus::Finished, each)));
    moved.learn(&list(4));
    moved.read_by_scan(None);
    moved.note_loaded((1..=4).map(ScanId));
    moved.waiting.clear();
    moved.learn(&list(5));
    for attempt in 0..5 {
        let (scans, removed) = moved.take_part(now, Duration::ZERO, 8, MOST_FINDINGS);
        assert_eq!(
            (scans.as_slice(), &removed),
            ([(ScanId(5), TargetId(1))].as_slice(), &[ScanId(1)].into())
        );
        let scans = scans.into_iter().map(|(id, _)| id);
        match attempt % 2 {
            0 => moved.untake(scans, removed),
            _ => moved.put_back(scans, removed),
        }
        now += Duration::from_secs(10);
    }
}

#[test]
fn refresh_reads_scans_for_which_others_made_room() {
    let (mut hand, each) = full(7);
    hand.scans.retain(|scan| scan.id.0 <= 5);
    refresh(&mut hand, ListKind::Scans);
    assert!(hand.read_parts(|_| Some(each)).is_empty());
    refresh(&mut hand, ListKind::Findings);
    let mut parts = hand.read_parts(|_| Some(each)).concat();
    parts.sort_unstable();
    assert_eq!(parts, [2, 3, 4, 5]);
    assert_eq!(
        hand.unread().unwrap(),
        UnreadScans {
            ids: ids([1]),
            findings: each,
            is_reading: false
        }
    );
}

#[test]
fn list_is_read_whole_when_its_findings_fit_again() {
    let (mut hand, each) = full(7);
    hand.scans.retain(|scan| scan.id.0 <= 4);
    refresh(&mut hand, ListKind::Scans);
    assert!(hand.read_parts(|_| Some(each)).is_empty());
    assert!(!hand.scheduler.moved.is_by_scan());
    assert_eq!(hand.unread(), None);
}

#[test]
fn scans_that_become_known_after_the_list_was_too_large_are_read() {
    let (mut moved, now) = (MovedScans::default(), Instant::now());
    moved.read_by_scan(None);
    moved.learn(&Table::new(
        [(1, 2), (2, 0), (3, 2)].map(|(id, high)| scan(id, ScanStatus::Finished, high)),
    ));
    assert!(moved.unread().unwrap().is_reading);
    let (scans, _) = moved.take_part(now, Duration::ZERO, 8, 0);
    assert!(!moved.unread().unwrap().is_reading);
    assert_eq!(scans.iter().map(|(id, _)| id.0).collect::<Vec<_>>(), [3, 1]);
    assert!(
        !moved.end_by_scan(),
        "the list was too large with these scans"
    );
    moved.learn(&Table::new([scan(1, ScanStatus::Finished, 1)]));
    assert!(moved.end_by_scan(), "less than half of the findings remain");
}

#[test]
fn findings_of_several_scans_are_not_one_late_response() {
    let mut hand = Hand::new(true);
    hand.scheduler.set_plan(PollPlan {
        visible: vec![ListKind::Findings],
        ..hand.scheduler.plan.clone()
    });
    hand.scans = (1..=2)
        .map(|id| scan(id, ScanStatus::Finished, 2))
        .collect();
    hand.failing = Some((FINDINGS, too_large()));
    // Answers what is due until findings are read scan by scan; these requests hang.
    let hang = |hand: &mut Hand| {
        let mut sent = None;
        while sent.is_none() {
            for fetch in hand.scheduler.due(hand.now) {
                match &fetch {
                    Fetch::FindingsOf { scans, .. } if !scans.is_empty() => {
                        sent = Some(scans.len())
                    }
                    _ => {
                        let answer = hand.answer(&fetch);
                        hand.scheduler.absorb(
                            fetch.slot(),
                            answer,
                            hand.now,
                            Timestamp::UNIX_EPOCH,
                        );
                    }
                }
            }
            hand.now += Duration::from_millis(100);
        }
        hand.events();
        hand.scheduler
            .report_unanswered(hand.now + Duration::from_secs(60), Timestamp::UNIX_EPOCH);
        (
            sent,
            hand.events()
                .iter()
                .any(|event| matches!(event, PollEvent::Unanswered(Some(_)))),
        )
    };
    assert_eq!(hang(&mut hand), (Some(2), false));
    hand.scheduler
        .absorb(FINDINGS, Err(too_large()), hand.now, Timestamp::UNIX_EPOCH);
    hand.now += Duration::from_secs(10);
    assert_eq!(hang(&mut hand), (Some(1), true));
}

#[test]
fn known_findings_that_become_too_large_are_stale_until_their_scans_are_read_again() {
    let mut hand = Hand::new(true);
    hand.scans = (1..=3)
        .map(|id| scan(id, ScanStatus::Finished, 2))
        .collect();
    hand.failing = Some((FINDINGS, too_large()));
    hand.read_parts(|_| Some(2));
    let cached = hand.scheduler.cached.clone();
    let mut hand = Hand::new(true);
    hand.scans = (1..=3)
        .map(|id| scan(id, ScanStatus::Finished, 2))
        .collect();
    hand.pass(Duration::from_secs(30));
    hand.scheduler.cached = cached;
    hand.events();
    hand.failing = Some((FINDINGS, too_large()));
    hand.scheduler.set_plan(PollPlan {
        refreshes: [(ListKind::Findings, 1)].into(),
        ..hand.scheduler.plan.clone()
    });
    let mut again = hand.read_parts(|_| Some(2)).concat();
    again.sort_unstable();
    assert_eq!(again, [1, 2, 3]);
    assert!(hand.scheduler.moved.refusal().is_none());
    let events = hand.events();
    let failed = events
        .iter()
        .position(|event| matches!(event, PollEvent::Failed(ListKind::Findings, _)));
    let read = events
        .iter()
        .rposition(|event| matches!(event, PollEvent::SomeFindings(..)));
    assert!(failed.is_some() && failed < read, "{failed:?} {read:?}");
}

#[test]
fn rows_of_a_refused_list_are_stale_until_the_last_scan_was_read_again() {
    let (mut moved, now) = (MovedScans::default(), Instant::now());
    moved.learn(&Table::new(
        (1..=3).map(|id| scan(id, ScanStatus::Finished, 2)),
    ));
    moved.read_by_scan(None);
    moved.note_loaded((1..=3).map(ScanId));
    moved.request_loaded();
    moved.note_refused(Arc::new(Problem::local("too large")));
    let mut reads = 0;
    while moved.refusal().is_some() {
        assert_eq!(moved.take_part(now, Duration::ZERO, 1, 6).0.len(), 1);
        reads += 1;
    }
    assert_eq!(reads, 3);
}

#[test]
fn refused_list_without_scans_to_read_is_reported_and_requested_again() {
    let mut hand = Hand::new(true);
    hand.scans = vec![scan(1, ScanStatus::Finished, 0)];
    hand.failing = Some((FINDINGS, too_large()));
    assert!(count(&hand.pass(Duration::from_secs(20)), FINDINGS) > 1);
    let is_failed = |event: &PollEvent| matches!(event, PollEvent::Failed(ListKind::Findings, problem) if problem.message.contains("larger"));
    assert!(hand.events().iter().any(is_failed));
    hand.failing = None;
    hand.pass(Duration::from_secs(60));
    assert!(
        hand.events()
            .iter()
            .any(|event| matches!(event, PollEvent::SomeFindings(..)))
    );
}
