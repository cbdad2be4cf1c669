//! The order and the intervals of requests while the service answers.

use crate::poller::scheduler::TOLERATED;
use crate::poller::scheduler_tests::*;
use proptest::prelude::*;
use scandeck_wire::contract::Stamp;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn start_polls_each_list_once_and_findings_after_scans() {
    let mut hand = Hand::new(true);
    let fetched = hand.settle();
    assert_eq!(fetched.len(), 8, "{fetched:?}");
    let place = |slot| fetched.iter().position(|fetched| *fetched == slot);
    assert!(place(FINDINGS) > place(SCANS));
    assert!(matches!(
        hand.events().first(),
        Some(PollEvent::Link(Link::Live { .. }))
    ));
    assert!(hand.settle().is_empty());
}

#[test]
fn plan_without_workspace_polls_only_workspaces() {
    let mut hand = Hand::new(true);
    hand.scheduler.set_plan(PollPlan {
        generation: 2,
        ..PollPlan::default()
    });
    assert_eq!(
        hand.pass(Duration::from_secs(30)),
        [FetchSlot::List(ListKind::Workspaces)]
    );
}

#[test]
fn active_scans_are_polled_each_second_and_findings_when_scan_moved() {
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
    assert_eq!(
        count(&ended, FINDINGS),
        2,
        "once more, because fewer findings are listed than reported"
    );
    assert!(
        count(&ended, SCANS) <= 6,
        "no scan is active: {}",
        count(&ended, SCANS)
    );
}

#[test]
fn findings_of_single_scans_have_their_own_times() {
    let mut hand = Hand::new(true);
    hand.scans = vec![
        scan(1, ScanStatus::Running, 0),
        scan(2, ScanStatus::Running, 0),
    ];
    hand.pass(Duration::from_secs(5));
    hand.scans[0] = scan(1, ScanStatus::Finished, 0);
    hand.pass(Duration::from_secs(5));
    // The first read of all findings was not taken yet.
    let read = hand
        .events()
        .into_iter()
        .rev()
        .find_map(|event| match event {
            PollEvent::SomeFindings(_, _, read) => Some(read),
            _ => None,
        });
    let read = read.expect("the findings of scan 1 were read");
    assert!(read.all.is_some());
    assert_eq!(read.scans.keys().copied().collect::<Vec<_>>(), [ScanId(1)]);
}

#[test]
fn scan_that_ended_just_before_all_findings_were_read_is_read_once_more() {
    let mut hand = Hand::new(true);
    let ended = |second| Scan {
        end_time: Some(Stamp(Timestamp::from_second(second).unwrap())),
        ..scan(1, ScanStatus::Finished, 2)
    };
    for (end, reads) in [(-1, 2), (-3600, 1)] {
        hand.scans = vec![ended(end)];
        hand.scheduler.set_plan(PollPlan {
            generation: 2 + reads as u64,
            ..hand.scheduler.plan.clone()
        });
        let fetched = hand.pass(Duration::from_secs(60));
        assert_eq!(count(&fetched, FINDINGS), reads, "ended at {end}");
    }
}

#[test]
fn waiting_scans_are_polled_each_second_only_while_one_waits() {
    let mut hand = Hand::new(true);
    hand.scans = vec![scan(1, ScanStatus::Running, 0)];
    hand.settle();
    hand.pass(Duration::from_secs(10));
    let quiet = std::mem::take(&mut hand.with_waiting);
    hand.scans.push(scan(2, ScanStatus::Waiting, 0));
    hand.pass(Duration::from_secs(5));
    hand.with_waiting = 0;
    hand.pass(Duration::from_secs(10));
    assert_eq!((quiet, hand.with_waiting), (2, 10));
}

#[test]
fn lists_are_polled_on_common_beats() {
    let mut hand = Hand::new(true);
    hand.scans = vec![scan(1, ScanStatus::Running, 0)];
    let start = hand.now;
    hand.now += Duration::from_millis(700);
    hand.settle();
    for second in 1..20 {
        let next = hand.scheduler.next(hand.now).unwrap();
        assert_eq!(next, start + Duration::from_secs(second));
        hand.now = next;
        hand.settle();
    }
}

#[test]
fn hosted_service_receives_quarter_of_its_limit() {
    let mut hand = Hand::new(false);
    let budget = RateBudget {
        limit: Some(250),
        remaining: Some(240),
        reset: None,
    };
    hand.scheduler
        .learn_limits(budget, None, Timestamp::UNIX_EPOCH);
    hand.loggers = (1..=5)
        .map(|id| Logger {
            id: LoggerId(id),
            num_requests: 1,
            ..Logger::default()
        })
        .collect();
    hand.pass(Duration::from_secs(60));
    let mut calls = 0;
    for high in 0..60 {
        hand.scans = (1..=10)
            .map(|id| scan(id, ScanStatus::Running, high))
            .collect();
        for slot in hand.pass(Duration::from_secs(5)) {
            calls += if slot == SCANS { 2 } else { 1 };
        }
    }
    // Five minutes; a request for findings fetches up to four scans and counts once here.
    assert!(calls <= 5 * 62 + 16, "{calls}");
    assert!(calls > 100, "{calls}");
}

#[test]
fn captures_are_fetched_when_count_changed_and_reported_once() {
    let mut hand = Hand::new(true);
    hand.loggers = vec![Logger {
        id: LoggerId(7),
        num_requests: 0,
        ..Logger::default()
    }];
    hand.settle();
    assert_eq!(
        count(
            &hand.pass(Duration::from_secs(20)),
            FetchSlot::Captures(LoggerId(7))
        ),
        0
    );
    hand.loggers[0].num_requests = 1;
    assert_eq!(
        count(
            &hand.pass(Duration::from_secs(20)),
            FetchSlot::Captures(LoggerId(7))
        ),
        1
    );
    let reported =
        |event: &PollEvent| matches!(event, PollEvent::Captures { new, .. } if new.len() == 2);
    assert_eq!(
        hand.events().iter().filter(|event| reported(event)).count(),
        1
    );
}

#[test]
fn visible_captures_are_polled_each_second_if_there_is_logger() {
    let mut hand = Hand::new(true);
    hand.settle();
    let unseen = count(&hand.pass(Duration::from_secs(60)), LOGGERS);
    let plan = PollPlan {
        generation: 1,
        workspace: Some(WorkspaceId(1)),
        captures: Some(None),
        ..PollPlan::default()
    };
    assert!(!hand.scheduler.set_plan(plan));
    let without = count(&hand.pass(Duration::from_secs(60)), LOGGERS);
    hand.loggers = vec![Logger {
        id: LoggerId(7),
        ..Logger::default()
    }];
    hand.pass(Duration::from_secs(4));
    let seen = count(&hand.pass(Duration::from_secs(60)), LOGGERS);
    assert!(
        [unseen, without]
            .iter()
            .all(|count| (14..=16).contains(count)),
        "{unseen} {without}"
    );
    assert!((59..=61).contains(&seen), "{seen}");
}

#[test]
fn refresh_polls_at_once_even_with_request_in_flight() {
    let mut hand = Hand::new(true);
    hand.settle();
    let plan = |count| PollPlan {
        generation: 1,
        workspace: Some(WorkspaceId(1)),
        refreshes: [(ListKind::Targets, count)].into(),
        ..PollPlan::default()
    };
    hand.scheduler.set_plan(plan(1));
    let fetches = hand.scheduler.due(hand.now);
    assert!(matches!(
        fetches.as_slice(),
        [Fetch::List {
            list: ListKind::Targets,
            ..
        }]
    ));
    hand.scheduler.set_plan(plan(2));
    assert!(
        hand.scheduler.due(hand.now).is_empty(),
        "one request per slot"
    );
    let answer = hand.answer(&fetches[0]);
    hand.scheduler
        .absorb(fetches[0].slot(), answer, hand.now, Timestamp::UNIX_EPOCH);
    assert_eq!(
        hand.settle(),
        [FetchSlot::List(ListKind::Targets)],
        "the response may be older than the refresh"
    );
}

#[test]
fn new_workspace_drops_data_and_starts_over() {
    let mut hand = Hand::new(true);
    hand.scans = vec![scan(1, ScanStatus::Running, 0)];
    hand.settle();
    let plan = PollPlan {
        generation: 2,
        workspace: Some(WorkspaceId(2)),
        ..PollPlan::default()
    };
    assert!(hand.scheduler.set_plan(plan));
    assert!(hand.events().is_empty(), "no events of the old workspace");
    assert_eq!(hand.settle().len(), 8);
    let events = hand.events();
    assert!(
        events
            .iter()
            .any(|event| matches!(event, PollEvent::Snapshot(Snapshot::Workspaces(_))))
    );
}

#[test]
fn visible_part_is_fetched_again_when_scan_moved() {
    let mut hand = Hand::new(true);
    hand.scans = vec![scan(1, ScanStatus::Running, 0)];
    hand.settle();
    let part = Some((ScanId(1), ScanPart::Tests));
    let plan = PollPlan {
        generation: 1,
        workspace: Some(WorkspaceId(1)),
        scan_part: part,
        ..PollPlan::default()
    };
    hand.scheduler.set_plan(plan);
    assert_eq!(
        count(&hand.pass(Duration::from_secs(5)), FetchSlot::Part),
        1
    );
    hand.scans[0].progress = 50;
    assert_eq!(
        count(&hand.pass(Duration::from_secs(5)), FetchSlot::Part),
        1
    );
}

#[test]
fn nodes_are_fetched_only_while_they_are_shown() {
    let mut hand = Hand::new(true);
    hand.settle();
    let fetches = |hand: &mut Hand, nodes| {
        hand.scheduler.set_plan(PollPlan {
            nodes,
            ..hand.scheduler.plan.clone()
        });
        count(&hand.pass(Duration::from_secs(20)), FetchSlot::Nodes)
    };
    assert_eq!(fetches(&mut hand, false), 0);
    let shown = fetches(&mut hand, true);
    assert!((4..=5).contains(&shown), "every 5 seconds: {shown}");
    hand.scheduler.set_plan(PollPlan {
        refreshes: [(ListKind::Workspaces, 1)].into(),
        ..hand.scheduler.plan.clone()
    });
    assert_eq!(count(&hand.settle(), FetchSlot::Nodes), 1, "a refresh");
    assert_eq!(fetches(&mut hand, false), 0);
}

#[test]
fn findings_without_scan_are_fetched_per_scan() {
    let mut hand = Hand::new(true);
    hand.scans = (1..=10)
        .map(|id| scan(id, ScanStatus::Finished, 1))
        .collect();
    let fetches = loop {
        let fetches = hand.scheduler.due(hand.now);
        if fetches.iter().any(|fetch| fetch.slot() == FINDINGS) {
            break fetches;
        }
        for fetch in fetches {
            let answer = hand.answer(&fetch);
            hand.scheduler
                .absorb(fetch.slot(), answer, hand.now, Timestamp::UNIX_EPOCH);
        }
    };
    for fetch in fetches {
        let answer = match fetch.slot() {
            FINDINGS => Ok(Fetched::List(Snapshot::Findings(Arc::new(Table::new([
                Finding::default(),
            ]))))),
            _ => hand.answer(&fetch),
        };
        hand.scheduler
            .absorb(fetch.slot(), answer, hand.now, Timestamp::UNIX_EPOCH);
    }
    assert_eq!(
        count(&hand.pass(Duration::from_secs(3)), FINDINGS),
        3,
        "ten scans, four per request"
    );
}

#[test]
fn captures_remain_at_service_while_screen_is_blocked() {
    let mut hand = Hand::new(true);
    for requests in 1..500 {
        hand.loggers = vec![Logger {
            id: LoggerId(1),
            num_requests: requests,
            ..Logger::default()
        }];
        hand.pass(Duration::from_secs(4));
    }
    let waiting = hand.events().len();
    assert!(waiting < 100, "{waiting}");
    assert_eq!(
        count(&hand.settle(), FetchSlot::Captures(LoggerId(1))),
        1,
        "fetched when the screen reads again"
    );
}

#[test]
fn findings_beyond_budget_are_fetched_when_it_allows() {
    let mut hand = Hand::new(false);
    hand.scans = (1..=4).map(|id| scan(id, ScanStatus::Running, 0)).collect();
    hand.pass(Duration::from_secs(60));
    for scan in &mut hand.scans {
        scan.result_summary.high = Some(1);
    }
    while hand.scheduler.call_budget.spend(1, hand.now) {}
    let fetched = hand.pass(Duration::from_secs(14));
    assert_eq!(count(&fetched, FINDINGS), 1, "{fetched:?}");
}

/// Sets the number of scans that the workspace reports.
fn counting(hand: &mut Hand, scan_count: i64) {
    hand.workspaces = vec![Workspace {
        id: WorkspaceId(1),
        scan_count,
        ..Workspace::default()
    }];
}

#[test]
fn scan_that_ended_between_two_polls_appears_within_seconds() {
    for (here, most) in [(true, 6), (false, 11)] {
        let mut hand = Hand::new(here);
        hand.scans = vec![scan(1, ScanStatus::Finished, 0)];
        counting(&mut hand, 1);
        hand.pass(Duration::from_secs(15));
        hand.events();
        // A scan of another user that was never seen waiting or running.
        hand.scans.push(scan(2, ScanStatus::Finished, 3));
        counting(&mut hand, 2);
        let fetched = hand.pass(Duration::from_secs(most));
        let is_complete = |event: &PollEvent| matches!(event, PollEvent::Snapshot(Snapshot::Scans(scans)) if scans.len() == 2);
        assert!(hand.events().iter().any(is_complete), "{fetched:?}");
        assert_eq!(count(&fetched, FINDINGS), 1, "its findings are fetched too");
    }
}

#[test]
fn count_without_news_causes_no_poll() {
    let mut hand = Hand::new(true);
    hand.scans = vec![scan(1, ScanStatus::Finished, 0)];
    // A service that counts differently: all scans are polled once.
    counting(&mut hand, 7);
    hand.pass(Duration::from_secs(15));
    hand.whole = 0;
    hand.pass(Duration::from_secs(30));
    assert_eq!(hand.whole, 0);
    // A scan that was seen running needs no poll of all scans.
    hand.scans.push(scan(2, ScanStatus::Running, 0));
    counting(&mut hand, 2);
    hand.pass(Duration::from_secs(5));
    assert_eq!(hand.whole, 0);
}

#[test]
fn findings_of_a_scan_that_just_ended_by_the_clock_of_the_service_are_read_once_more() {
    let reads = |end: i64| {
        let mut hand = Hand::new(true);
        // The service is 1,000 s ahead.
        hand.scheduler.offset = Some(1_000);
        let end_time = Some(Stamp(Timestamp::from_second(end).unwrap()));
        hand.scans = vec![Scan {
            end_time,
            ..scan(1, ScanStatus::Finished, 2)
        }];
        count(&hand.pass(Duration::from_secs(60)), FINDINGS)
    };
    assert_eq!((reads(500), reads(995)), (1, 2));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn no_list_starves_for_any_loggers_scans_and_limits(limit in 40_u32..2_000, loggers in 0_u32..50, moving in 0_i64..50) {
        let ages = oldest_ages(limit, loggers, moving);
        // Calls a second that the intervals of all resources together need.
        let load = 2.0 / 5.0 + 2.0 * (1.0 / 4.0) + 1.0 / 10.0 + 4.0 / 10.0 + 3.0 / 60.0 + 1.0 / 300.0;
        let rate = f64::from(limit / 4 - (limit / 32).clamp(4, 16)) / 60.0;
        let stretch = (load / rate).max(1.0) * 2.0;
        for (slot, age) in ages {
            let interval = match slot {
                FetchSlot::List(ListKind::Scans | ListKind::Loggers) => 5.0,
                FetchSlot::List(ListKind::Workspaces | ListKind::Findings) => 10.0,
                FetchSlot::List(ListKind::Schedules) => 300.0,
                FetchSlot::Captures(_) => 5.0 * f64::from(loggers),
                _ => 60.0,
            };
            let most = interval * stretch + 5.0;
            prop_assert!(age as f64 <= most, "{slot:?} {age} s of {most} s");
        }
    }

    #[test]
    fn shown_list_is_within_its_age_or_reported(limit in 8_u32..400, loggers in 0_i64..12, moving in 0_i64..30) {
        let mut hand = Hand::new(false);
        let budget = RateBudget { limit: Some(limit), remaining: Some(limit), reset: None };
        hand.scheduler.learn_limits(budget, None, Timestamp::UNIX_EPOCH);
        let shown = [(ListKind::Scans, 5), (ListKind::Loggers, 4), (ListKind::Workspaces, 10), (ListKind::Targets, 60)];
        let visible = shown.iter().map(|(list, _)| *list).collect();
        hand.scheduler.set_plan(PollPlan { visible, ..hand.scheduler.plan.clone() });
        let (mut read, mut failed) = (BTreeMap::new(), BTreeSet::new());
        for second in 1..=300_i64 {
            hand.scans = (1..=moving).map(|id| scan(id, ScanStatus::Running, second)).collect();
            let logger = |id| Logger { id: LoggerId(id), num_requests: second, ..Logger::default() };
            hand.loggers = (1..=loggers).map(logger).collect();
            let fetched = hand.pass(Duration::from_secs(1));
            for event in hand.events() {
                match event {
                    PollEvent::Failed(list, problem) => {
                        prop_assert_eq!(problem.brief(), "waiting for the rate limit");
                        failed.insert(list);
                    }
                    PollEvent::Snapshot(snapshot) => _ = failed.remove(&snapshot.list_kind()),
                    _ => {}
                }
            }
            for (list, interval) in shown {
                if fetched.contains(&FetchSlot::List(list)) {
                    read.insert(list, second);
                }
                let age = second - read.get(&list).copied().unwrap_or(second);
                let most = interval + TOLERATED.as_secs() as i64 + 1;
                prop_assert!(age <= most || failed.contains(&list), "{list:?} {age} s");
            }
        }
    }
}

#[test]
fn list_beyond_its_age_is_stale_until_it_is_read() {
    let mut hand = Hand::new(false);
    hand.pass(Duration::from_secs(30));
    hand.events();
    while hand.scheduler.call_budget.spend(1, hand.now) {}
    // A debt of half a minute.
    hand.scheduler.call_budget.settle(0, 25);
    let is_late = |event: &PollEvent| matches!(event, PollEvent::Failed(ListKind::Scans, _));
    let is_read = |event: &PollEvent| matches!(event, PollEvent::Snapshot(Snapshot::Scans(_)));
    hand.pass(Duration::from_secs(10));
    assert!(!hand.events().iter().any(is_late));
    hand.pass(Duration::from_secs(7));
    assert!(hand.events().iter().any(is_late));
    hand.pass(Duration::from_secs(60));
    let events = hand.events();
    assert!(events.iter().any(is_read) && !events.iter().any(is_late));
}

#[test]
fn shown_captures_beyond_their_age_are_reported_until_they_are_read() {
    let mut hand = Hand::new(false);
    hand.scheduler.set_plan(PollPlan {
        captures: Some(None),
        ..hand.scheduler.plan.clone()
    });
    let logger = |requests| Logger {
        id: LoggerId(7),
        num_requests: requests,
        ..Logger::default()
    };
    hand.loggers = vec![logger(1)];
    hand.pass(Duration::from_secs(30));
    hand.loggers = vec![logger(2)];
    // The list of loggers is read, then nothing for a while.
    while count(&hand.pass(Duration::from_secs(1)), LOGGERS) == 0 {}
    hand.events();
    hand.scheduler.on_demand.request_captures(LoggerId(7));
    while hand.scheduler.call_budget.spend(1, hand.now) {}
    hand.scheduler.call_budget.settle(0, 25);
    hand.pass(Duration::from_secs(15));
    let failed = |events: Vec<PollEvent>| {
        let of_captures = |event| match event {
            PollEvent::CapturesFailed(problem) => Some(problem.is_some()),
            _ => None,
        };
        events
            .into_iter()
            .filter_map(of_captures)
            .collect::<Vec<_>>()
    };
    assert_eq!(failed(hand.events()), [true]);
    hand.pass(Duration::from_secs(60));
    assert_eq!(failed(hand.events()), [false]);
}

/// The longest time without a request for each resource in ten minutes, in seconds.
fn oldest_ages(limit: u32, loggers: u32, moving: i64) -> Vec<(FetchSlot, u64)> {
    let mut hand = Hand::new(false);
    let budget = RateBudget {
        limit: Some(limit),
        remaining: Some(limit),
        reset: None,
    };
    hand.scheduler
        .learn_limits(budget, None, Timestamp::UNIX_EPOCH);
    let mut slots: Vec<FetchSlot> = ORDER
        .into_iter()
        .map(FetchSlot::List)
        .filter(|slot| *slot != FINDINGS)
        .collect();
    slots.extend((1..=i64::from(loggers)).map(|id| FetchSlot::Captures(LoggerId(id))));
    slots.extend((moving > 0).then_some(FINDINGS));
    let mut ages: Vec<(FetchSlot, u64, u64)> = slots.into_iter().map(|slot| (slot, 0, 0)).collect();
    hand.scans = (1..=moving)
        .map(|id| scan(id, ScanStatus::Running, 0))
        .collect();
    let unused = |id| Logger {
        id: LoggerId(id),
        ..Logger::default()
    };
    hand.loggers = (1..=i64::from(loggers)).map(unused).collect();
    for second in 1..=600_u64 {
        for scan in &mut hand.scans {
            scan.result_summary.high = Some(second as i64);
        }
        for logger in &mut hand.loggers {
            logger.num_requests = second as i64;
        }
        let fetched = hand.pass(Duration::from_secs(1));
        hand.events();
        for (slot, last, oldest) in &mut ages {
            *oldest = (*oldest).max(second - *last);
            if fetched.contains(slot) {
                *last = second;
            }
        }
    }
    ages.into_iter()
        .map(|(slot, _, oldest)| (slot, oldest))
        .collect()
}

#[test]
fn first_findings_arrive_within_ten_seconds_at_the_hosted_limit() {
    let mut hand = Hand::new(false);
    hand.scheduler.learn_limits(
        RateBudget {
            limit: Some(250),
            remaining: Some(250),
            reset: None,
        },
        None,
        Timestamp::UNIX_EPOCH,
    );
    hand.scheduler.set_plan(PollPlan {
        visible: [ListKind::Findings].into(),
        ..hand.scheduler.plan.clone()
    });
    hand.loggers = (1..=10)
        .map(|id| Logger {
            id: LoggerId(id),
            num_requests: 1,
            ..Logger::default()
        })
        .collect();
    hand.scans = (1..=40)
        .map(|id| scan(id, ScanStatus::Running, 1))
        .collect();
    let first = hand.pass(Duration::from_secs(3));
    assert!(count(&first, FINDINGS) > 0, "{first:?}");
}
