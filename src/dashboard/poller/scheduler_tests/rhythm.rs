//! What is asked, in which order and how often, while the service answers.

use crate::dashboard::poller::scheduler_tests::*;

#[test]
fn everything_is_read_once_at_the_start_and_findings_after_the_scans() {
    let mut hand = Hand::new(true);
    let asked = hand.settle();
    assert_eq!(asked.len(), 7, "{asked:?}");
    let place = |slot| asked.iter().position(|asked| *asked == slot);
    assert!(place(FINDINGS) > place(SCANS));
    assert!(matches!(hand.events().first(), Some(PollEvent::Link(Link::Live { .. }))));
    assert!(hand.settle().is_empty());
}

#[test]
fn without_a_workspace_only_the_workspaces_are_read() {
    let mut hand = Hand::new(true);
    hand.scheduler.set_plan(PollPlan { generation: 2, ..PollPlan::default() });
    assert_eq!(hand.pass(Duration::from_secs(30)), [FetchSlot::List(ListKind::Workspaces)]);
}

#[test]
fn active_scans_are_followed_each_second_and_findings_only_when_their_scan_moved() {
    let mut hand = Hand::new(true);
    hand.scans = vec![scan(1, ScanStatus::Running, 0)];
    hand.settle();
    let quiet = hand.pass(Duration::from_secs(10));
    assert_eq!((count(&quiet, SCANS), count(&quiet, FINDINGS)), (10, 0));
    hand.scans = vec![scan(1, ScanStatus::Running, 2)];
    let moved = hand.pass(Duration::from_secs(10));
    assert_eq!(count(&moved, FINDINGS), 1);
    hand.scans = vec![scan(1, ScanStatus::Finished, 2)];
    let ended = hand.pass(Duration::from_secs(20));
    assert_eq!(count(&ended, FINDINGS), 1);
    assert!(count(&ended, SCANS) <= 6, "nothing moves any more: {}", count(&ended, SCANS));
}

#[test]
fn a_hosted_service_never_sees_more_than_a_quarter_of_its_limit() {
    let mut hand = Hand::new(false);
    let budget = RateBudget { limit: Some(250), remaining: Some(240), reset: None };
    hand.scheduler.learn_limits(budget, None, Timestamp::UNIX_EPOCH);
    hand.loggers = (1..=5).map(|id| Logger { id: LoggerId(id), num_requests: 1, ..Logger::default() }).collect();
    hand.pass(Duration::from_secs(60));
    let mut calls = 0;
    for high in 0..60 {
        hand.scans = (1..=10).map(|id| scan(id, ScanStatus::Running, high)).collect();
        for slot in hand.pass(Duration::from_secs(5)) {
            calls += if slot == SCANS { 2 } else { 1 };
        }
    }
    // Five minutes; a job of findings reads up to four scans and counts once here.
    assert!(calls <= 5 * 62 + 16, "{calls}");
    assert!(calls > 100, "{calls}");
}

#[test]
fn captures_are_read_when_a_count_moved_and_each_is_told_once() {
    let mut hand = Hand::new(true);
    hand.loggers = vec![Logger { id: LoggerId(7), num_requests: 0, ..Logger::default() }];
    hand.settle();
    assert_eq!(count(&hand.pass(Duration::from_secs(20)), FetchSlot::Captures(LoggerId(7))), 0);
    hand.loggers[0].num_requests = 1;
    assert_eq!(count(&hand.pass(Duration::from_secs(20)), FetchSlot::Captures(LoggerId(7))), 1);
    let told = |event: &PollEvent| matches!(event, PollEvent::Captures { new, .. } if new.len() == 2);
    assert_eq!(hand.events().iter().filter(|event| told(event)).count(), 1);
}

#[test]
fn shown_captures_are_looked_for_each_second_where_there_is_a_logger() {
    let mut hand = Hand::new(true);
    hand.settle();
    let unseen = count(&hand.pass(Duration::from_secs(60)), LOGGERS);
    let plan = PollPlan { generation: 1, workspace: Some(WorkspaceId(1)), captures: Some(None), ..PollPlan::default() };
    assert!(!hand.scheduler.set_plan(plan));
    let without = count(&hand.pass(Duration::from_secs(60)), LOGGERS);
    hand.loggers = vec![Logger { id: LoggerId(7), ..Logger::default() }];
    hand.pass(Duration::from_secs(4));
    let seen = count(&hand.pass(Duration::from_secs(60)), LOGGERS);
    assert!([unseen, without].iter().all(|count| (14..=16).contains(count)), "{unseen} {without}");
    assert!((59..=61).contains(&seen), "{seen}");
}

#[test]
fn refresh_reads_at_once_also_when_the_list_is_under_way() {
    let mut hand = Hand::new(true);
    hand.settle();
    let plan = |count| PollPlan {
        generation: 1,
        workspace: Some(WorkspaceId(1)),
        asked: [(ListKind::Targets, count)].into(),
        ..PollPlan::default()
    };
    hand.scheduler.set_plan(plan(1));
    let fetches = hand.scheduler.due(hand.now);
    assert!(matches!(fetches.as_slice(), [Fetch::List { list: ListKind::Targets, .. }]));
    hand.scheduler.set_plan(plan(2));
    assert!(hand.scheduler.due(hand.now).is_empty(), "never twice at a time");
    let answer = hand.answer(&fetches[0]);
    hand.scheduler.absorb(fetches[0].slot(), answer, hand.now, Timestamp::UNIX_EPOCH);
    assert_eq!(hand.settle(), [FetchSlot::List(ListKind::Targets)], "the answer may be older than the wish");
}

#[test]
fn a_new_workspace_drops_what_was_known_and_starts_over() {
    let mut hand = Hand::new(true);
    hand.scans = vec![scan(1, ScanStatus::Running, 0)];
    hand.settle();
    let plan = PollPlan { generation: 2, workspace: Some(WorkspaceId(2)), ..PollPlan::default() };
    assert!(hand.scheduler.set_plan(plan));
    assert!(hand.events().is_empty(), "nothing of the old workspace is told");
    assert_eq!(hand.settle().len(), 7);
    let events = hand.events();
    assert!(events.iter().any(|event| matches!(event, PollEvent::Snapshot(Snapshot::Workspaces(_)))));
}

#[test]
fn the_open_part_of_a_scan_is_read_again_when_the_scan_moved() {
    let mut hand = Hand::new(true);
    hand.scans = vec![scan(1, ScanStatus::Running, 0)];
    hand.settle();
    let part = Some((ScanId(1), ScanPart::Tests));
    let plan = PollPlan { generation: 1, workspace: Some(WorkspaceId(1)), scan_part: part, ..PollPlan::default() };
    hand.scheduler.set_plan(plan);
    assert_eq!(count(&hand.pass(Duration::from_secs(5)), FetchSlot::Part), 1);
    hand.scans[0].progress = 50;
    assert_eq!(count(&hand.pass(Duration::from_secs(5)), FetchSlot::Part), 1);
}

#[test]
fn findings_that_do_not_tell_their_scan_are_asked_for_scan_by_scan() {
    let mut hand = Hand::new(true);
    hand.scans = (1..=10).map(|id| scan(id, ScanStatus::Finished, 1)).collect();
    let fetches = loop {
        let fetches = hand.scheduler.due(hand.now);
        if fetches.iter().any(|fetch| fetch.slot() == FINDINGS) {
            break fetches;
        }
        for fetch in fetches {
            let answer = hand.answer(&fetch);
            hand.scheduler.absorb(fetch.slot(), answer, hand.now, Timestamp::UNIX_EPOCH);
        }
    };
    for fetch in fetches {
        let answer = match fetch.slot() {
            FINDINGS => Ok(Fetched::List(Snapshot::Findings(Arc::new(Table::new([Finding::default()]))))),
            _ => hand.answer(&fetch),
        };
        hand.scheduler.absorb(fetch.slot(), answer, hand.now, Timestamp::UNIX_EPOCH);
    }
    assert_eq!(count(&hand.pass(Duration::from_secs(3)), FINDINGS), 3, "ten scans, four a job");
}

#[test]
fn captures_wait_at_the_service_while_the_screen_takes_nothing() {
    let mut hand = Hand::new(true);
    for requests in 1..500 {
        hand.loggers = vec![Logger { id: LoggerId(1), num_requests: requests, ..Logger::default() }];
        hand.pass(Duration::from_secs(4));
    }
    let waiting = hand.events().len();
    assert!(waiting < 100, "{waiting}");
    assert_eq!(count(&hand.settle(), FetchSlot::Captures(LoggerId(1))), 1, "and are read when it does again");
}

#[test]
fn findings_that_could_not_be_paid_are_read_as_soon_as_they_can() {
    let mut hand = Hand::new(false);
    hand.scans = (1..=4).map(|id| scan(id, ScanStatus::Running, 0)).collect();
    hand.pass(Duration::from_secs(60));
    for scan in &mut hand.scans {
        scan.result_summary.high = Some(1);
    }
    while hand.scheduler.purse.spend(1, hand.now) {}
    let asked = hand.pass(Duration::from_secs(14));
    assert_eq!(count(&asked, FINDINGS), 1, "{asked:?}");
}

/// A workspace that tells of so many scans.
fn counting(hand: &mut Hand, scan_count: i64) {
    hand.workspaces = vec![Workspace { id: WorkspaceId(1), scan_count, ..Workspace::default() }];
}

#[test]
fn a_scan_that_began_and_ended_between_two_looks_shows_within_seconds() {
    for (here, most) in [(true, 6), (false, 11)] {
        let mut hand = Hand::new(here);
        hand.scans = vec![scan(1, ScanStatus::Finished, 0)];
        counting(&mut hand, 1);
        hand.pass(Duration::from_secs(15));
        hand.events();
        // Somebody else's: never seen waiting or running.
        hand.scans.push(scan(2, ScanStatus::Finished, 3));
        counting(&mut hand, 2);
        let asked = hand.pass(Duration::from_secs(most));
        let told = |event: &PollEvent| matches!(event, PollEvent::Snapshot(Snapshot::Scans(scans)) if scans.len() == 2);
        assert!(hand.events().iter().any(told), "{asked:?}");
        assert_eq!(count(&asked, FINDINGS), 1, "its findings are read too");
    }
}

#[test]
fn a_count_that_says_nothing_new_costs_no_list() {
    let mut hand = Hand::new(true);
    hand.scans = vec![scan(1, ScanStatus::Finished, 0)];
    // Of a service that counts otherwise: all are read once, then it is known.
    counting(&mut hand, 7);
    hand.pass(Duration::from_secs(15));
    hand.whole = 0;
    hand.pass(Duration::from_secs(30));
    assert_eq!(hand.whole, 0);
    // A scan that is seen running needs no second list.
    hand.scans.push(scan(2, ScanStatus::Running, 0));
    counting(&mut hand, 2);
    hand.pass(Duration::from_secs(5));
    assert_eq!(hand.whole, 0);
}
