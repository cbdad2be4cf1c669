//! A service that is unreachable, refuses or fails: the requests meanwhile, and the events for the
//! screen.

use crate::poller::scheduler_tests::*;

#[test]
fn unreachable_service_is_reported_once_and_polled_completely_when_reachable_again() {
    let mut hand = Hand::new(true);
    hand.scans = vec![scan(1, ScanStatus::Running, 0)];
    hand.settle();
    hand.events();
    hand.silent = true;
    let tries = hand.pass(Duration::from_secs(60));
    assert!((8..=40).contains(&tries.len()), "{}", tries.len());
    let events = hand.events();
    assert!(matches!(
        events
            .iter()
            .rfind(|event| matches!(event, PollEvent::Link(_))),
        Some(PollEvent::Link(Link::Retrying { .. }))
    ));
    assert_eq!(
        events
            .iter()
            .filter(|event| matches!(event, PollEvent::Failed(..)))
            .count(),
        8
    );
    hand.silent = false;
    let fetched = hand.pass(Duration::from_secs(10));
    for list in [
        ListKind::Workspaces,
        ListKind::Targets,
        ListKind::Scans,
        ListKind::Findings,
        ListKind::Loggers,
        ListKind::Reports,
    ] {
        assert!(count(&fetched, FetchSlot::List(list)) >= 1, "{list:?}");
    }
    let events = hand.events();
    assert!(
        events
            .iter()
            .any(|event| matches!(event, PollEvent::Link(Link::Live { .. })))
    );
    // Reported although unchanged: the screen must mark the list as fresh.
    assert!(
        events
            .iter()
            .any(|event| matches!(event, PollEvent::SomeFindings(..)))
    );
}

#[test]
fn failure_reports_the_last_equal_response_first() {
    let mut hand = Hand::new(true);
    hand.settle();
    hand.pass(Duration::from_secs(600));
    assert!(
        !hand
            .events()
            .iter()
            .any(|event| matches!(event, PollEvent::Confirmed(..))),
        "no event while nothing changes"
    );
    hand.silent = true;
    hand.pass(Duration::from_secs(60));
    let events = hand.events();
    let place = |is: fn(&PollEvent) -> bool| events.iter().position(is).unwrap();
    let confirmed = place(|event| matches!(event, PollEvent::Confirmed(ListKind::Targets, _)));
    assert!(confirmed < place(|event| matches!(event, PollEvent::Failed(ListKind::Targets, _))));
    // The findings were read once, ten minutes ago, and no scan has moved since.
    let confirmed = place(|event| matches!(event, PollEvent::Confirmed(ListKind::Findings, _)));
    assert!(confirmed < place(|event| matches!(event, PollEvent::Failed(ListKind::Findings, _))));
}

#[test]
fn late_response_is_reported_until_it_arrives() {
    let mut hand = Hand::new(true);
    hand.settle();
    hand.scheduler.set_plan(PollPlan {
        visible: vec![ListKind::Loggers],
        ..hand.scheduler.plan.clone()
    });
    hand.settle();
    hand.events();
    let second = Duration::from_secs(1);
    // The service hangs: requests are sent and nothing is answered.
    hand.now += 60 * second;
    let hanging = hand.scheduler.due(hand.now);
    assert!(hanging.iter().any(|fetch| fetch.slot() == LOGGERS));
    let wall = |seconds: i64| Timestamp::from_second(1_000 + seconds).unwrap();
    hand.scheduler
        .report_unanswered(hand.now + 2 * second, wall(2));
    assert!(
        !hand
            .events()
            .iter()
            .any(|event| matches!(event, PollEvent::Unanswered(_))),
        "not late yet"
    );
    assert!(
        hand.scheduler.next(hand.now + 2 * second).unwrap() <= hand.now + 3 * second,
        "woken for the report"
    );
    // A refresh replaces the request, and the wait counts on.
    let mut plan = hand.scheduler.plan.clone();
    plan.refreshes.insert(ListKind::Loggers, 1);
    hand.scheduler.set_plan(plan);
    assert_eq!(
        hand.scheduler.take_hanging(hand.now + 5 * second / 2),
        [LOGGERS]
    );
    assert!(
        hand.scheduler
            .due(hand.now + 5 * second / 2)
            .iter()
            .any(|fetch| fetch.slot() == LOGGERS)
    );
    hand.scheduler
        .report_unanswered(hand.now + 3 * second, wall(3));
    let reported = |hand: &mut Hand| {
        let is_report = |event: &PollEvent| {
            if let PollEvent::Unanswered(since) = event {
                Some(*since)
            } else {
                None
            }
        };
        hand.events()
            .iter()
            .filter_map(is_report)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        reported(&mut hand),
        [Some(scandeck_wire::contract::Stamp(wall(0)))]
    );
    hand.scheduler
        .report_unanswered(hand.now + 4 * second, wall(4));
    assert_eq!(reported(&mut hand), [], "reported once");
    let answer = hand.answer(&Fetch::List {
        list: ListKind::Loggers,
        workspace: None,
        cached: None,
    });
    hand.scheduler
        .absorb(LOGGERS, answer, hand.now + 5 * second, wall(5));
    // The header counts the scans, which hang too.
    hand.scheduler
        .report_unanswered(hand.now + 5 * second, wall(5));
    assert_eq!(reported(&mut hand), []);
    let scans = hanging.iter().find(|fetch| fetch.slot() == SCANS).unwrap();
    let answer = hand.answer(scans);
    hand.scheduler
        .absorb(SCANS, answer, hand.now + 6 * second, wall(6));
    hand.scheduler
        .report_unanswered(hand.now + 6 * second, wall(6));
    assert_eq!(reported(&mut hand), [None]);
}

#[test]
fn response_whose_bytes_still_arrive_is_not_late() {
    let mut hand = Hand::new(true);
    hand.settle();
    hand.scheduler.set_plan(PollPlan {
        visible: vec![ListKind::Loggers],
        ..hand.scheduler.plan.clone()
    });
    hand.settle();
    let second = Duration::from_secs(1);
    hand.now += 60 * second;
    assert!(
        hand.scheduler
            .due(hand.now)
            .iter()
            .any(|fetch| fetch.slot() == LOGGERS)
    );
    hand.events();
    let mut is_late = |seconds: u32, received: u64| {
        let at = hand.now + seconds * second;
        for slot in [LOGGERS, SCANS] {
            hand.scheduler.note_received(slot, received, at);
        }
        hand.scheduler.report_unanswered(at, Timestamp::UNIX_EPOCH);
        hand.events()
            .iter()
            .any(|event| matches!(event, PollEvent::Unanswered(Some(_))))
    };
    assert!(
        !is_late(2, 0) && !is_late(3, 100) && !is_late(5, 200),
        "bytes arrive"
    );
    assert!(
        !is_late(7, 200) && is_late(8, 200),
        "no byte since three seconds"
    );
}

#[test]
fn findings_that_were_never_read_are_not_confirmed() {
    let mut hand = Hand::new(true);
    hand.refusing = Some((FetchSlot::List(ListKind::Findings), ErrorKind::Forbidden));
    hand.settle();
    hand.pass(Duration::from_secs(60));
    hand.silent = true;
    hand.pass(Duration::from_secs(60));
    let events = hand.events();
    assert!(
        events
            .iter()
            .any(|event| matches!(event, PollEvent::Failed(ListKind::Findings, _)))
    );
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, PollEvent::Confirmed(ListKind::Findings, _)))
    );
}

#[test]
fn wrong_key_stops_polling_until_refresh() {
    let mut hand = Hand::new(true);
    hand.refusing = Some((
        FetchSlot::List(ListKind::Workspaces),
        ErrorKind::Unauthorized,
    ));
    hand.settle();
    let before = hand.fetched.len();
    assert!(hand.pass(Duration::from_secs(3600)).is_empty());
    assert!(
        hand.events()
            .iter()
            .any(|event| matches!(event, PollEvent::Link(Link::Down { .. })))
    );
    let mut plan = PollPlan {
        generation: 1,
        workspace: Some(WorkspaceId(1)),
        ..PollPlan::default()
    };
    plan.refreshes.insert(ListKind::Scans, 1);
    hand.scheduler.set_plan(plan);
    hand.settle();
    assert!(hand.fetched.len() > before);
}

#[test]
fn failing_list_is_polled_with_growing_pauses_without_others() {
    let mut hand = Hand::new(true);
    hand.refusing = Some((FetchSlot::List(ListKind::Reports), ErrorKind::Forbidden));
    let fetched = hand.pass(Duration::from_secs(59));
    assert!(
        (6..=8).contains(&count(&fetched, FetchSlot::List(ListKind::Reports))),
        "{fetched:?}"
    );
    assert!(count(&fetched, SCANS) > 5);
    let later = count(
        &hand.pass(Duration::from_secs(600)),
        FetchSlot::List(ListKind::Reports),
    );
    assert!((10..=14).contains(&later), "{later}");
    let events = hand.events();
    assert!(
        events
            .iter()
            .any(|event| matches!(event, PollEvent::Failed(ListKind::Reports, _)))
    );
    assert!(matches!(
        events
            .iter()
            .rfind(|event| matches!(event, PollEvent::Link(_))),
        Some(PollEvent::Link(Link::Live { .. }))
    ));
}

#[test]
fn cancelled_request_is_repeated_after_a_minute() {
    let reports = FetchSlot::List(ListKind::Reports);
    let mut hand = Hand::new(true);
    hand.refusing = Some((reports, ErrorKind::Cancelled));
    assert_eq!(count(&hand.pass(Duration::from_secs(50)), reports), 1);
    assert_eq!(count(&hand.pass(Duration::from_secs(30)), reports), 1);
}

#[test]
fn refused_part_never_stops_lists() {
    let spent = ErrorKind::BudgetSpent {
        until: Timestamp::UNIX_EPOCH + Duration::from_secs(60),
    };
    for (kind, expected) in [
        (spent, 1..=1),
        (ErrorKind::RateLimited { retry_after: None }, 3..=5),
        (ErrorKind::NotAcceptable, 1..=1),
    ] {
        let mut hand = Hand::new(true);
        hand.scans = vec![scan(1, ScanStatus::Running, 0)];
        hand.settle();
        hand.refusing = Some((FetchSlot::Part, kind.clone()));
        let part = Some((ScanId(1), ScanPart::Output));
        hand.scheduler.set_plan(PollPlan {
            generation: 1,
            workspace: Some(WorkspaceId(1)),
            scan_part: part,
            ..PollPlan::default()
        });
        let passed = hand.pass(Duration::from_secs(10));
        assert!(count(&passed, SCANS) >= 9, "{kind:?}: {passed:?}");
        assert!(
            expected.contains(&count(&passed, FetchSlot::Part)),
            "{kind:?}: {passed:?}"
        );
        assert!(
            !hand
                .events()
                .iter()
                .any(|event| matches!(event, PollEvent::Link(Link::Retrying { .. }))),
            "{kind:?}"
        );
    }
}

#[test]
fn failed_part_is_reported_after_change_of_part() {
    let mut hand = Hand::new(true);
    hand.scans = vec![scan(1, ScanStatus::Running, 0)];
    hand.settle();
    let plan = |part| PollPlan {
        generation: 1,
        workspace: Some(WorkspaceId(1)),
        scan_part: Some((ScanId(1), part)),
        ..PollPlan::default()
    };
    hand.scheduler.set_plan(plan(ScanPart::Output));
    let fetches = hand.scheduler.due(hand.now);
    hand.scheduler.set_plan(plan(ScanPart::Raw));
    let refused = Err(Error::new(ErrorKind::NotAcceptable, "no such form"));
    hand.scheduler
        .absorb(fetches[0].slot(), refused, hand.now, Timestamp::UNIX_EPOCH);
    assert!(
        hand.events()
            .iter()
            .any(|event| matches!(event, PollEvent::PartFailed(_, ScanPart::Output, _)))
    );
    assert_eq!(
        count(&hand.settle(), FetchSlot::Part),
        1,
        "the visible part is fetched"
    );
}

/// Errors of one resource that leave the connection live.
fn errors_of_one() -> Vec<Error> {
    let broken = Error {
        is_sent: true,
        ..Error::new(ErrorKind::Connect, "the connection was lost: reset")
    };
    let server = Error {
        status: Some(503),
        ..Error::new(ErrorKind::Server, "no")
    };
    let kinds = [
        ErrorKind::Forbidden,
        ErrorKind::NotFound,
        ErrorKind::NotThisApi,
        ErrorKind::Decode,
        ErrorKind::Timeout,
        ErrorKind::TooLarge,
        ErrorKind::Invalid,
    ];
    kinds
        .map(|kind| Error::new(kind, "no"))
        .into_iter()
        .chain([broken, server])
        .collect()
}

#[test]
fn failed_captures_are_reported_and_requested_until_read() {
    for error in errors_of_one() {
        let mut hand = Hand::new(true);
        hand.loggers = vec![
            Logger {
                id: LoggerId(1),
                label: "probe".into(),
                num_requests: 3,
                ..Logger::default()
            },
            Logger {
                id: LoggerId(2),
                num_requests: 1,
                ..Logger::default()
            },
        ];
        hand.failing = Some((FetchSlot::Captures(LoggerId(1)), error.clone()));
        let fetched = hand.pass(Duration::from_secs(59));
        assert!(
            (6..=8).contains(&count(&fetched, FetchSlot::Captures(LoggerId(1)))),
            "{error}: {fetched:?}"
        );
        let events = hand.events();
        let problem = events.iter().rev().find_map(|event| match event {
            PollEvent::CapturesFailed(problem) => problem.clone(),
            _ => None,
        });
        let problem = problem.unwrap_or_else(|| panic!("{error}: {events:?}"));
        assert_eq!(problem.brief(), format!("probe: {}", error.brief()));
        assert!(problem.retry_at.is_some());
        let of_logger = |events: &[PollEvent], id| {
            events.iter().any(|event| matches!(event, PollEvent::Captures { logger, .. } if logger.id == LoggerId(id)))
        };
        assert!(of_logger(&events, 2) && !of_logger(&events, 1), "{error}");
        assert!(
            !events
                .iter()
                .any(|event| matches!(event, PollEvent::Link(Link::Retrying { .. }))),
            "{error}"
        );
        hand.failing = None;
        hand.pass(Duration::from_secs(61));
        let events = hand.events();
        assert!(of_logger(&events, 1), "{error}");
        assert!(
            events
                .iter()
                .any(|event| matches!(event, PollEvent::CapturesFailed(None))),
            "{error}"
        );
    }
}

#[test]
fn deleted_logger_no_longer_fails() {
    let mut hand = Hand::new(true);
    hand.loggers = vec![Logger {
        id: LoggerId(1),
        num_requests: 3,
        ..Logger::default()
    }];
    hand.refusing = Some((FetchSlot::Captures(LoggerId(1)), ErrorKind::NotFound));
    hand.pass(Duration::from_secs(2));
    hand.loggers.clear();
    hand.events();
    let fetched = hand.pass(Duration::from_secs(600));
    assert!(
        count(&fetched, FetchSlot::Captures(LoggerId(1))) <= 2,
        "{fetched:?}"
    );
    assert!(
        hand.events()
            .iter()
            .any(|event| matches!(event, PollEvent::CapturesFailed(None)))
    );
}

#[test]
fn every_failed_list_is_read_until_it_succeeds_and_link_remains_live() {
    for list in ORDER {
        for error in errors_of_one() {
            let mut hand = Hand::new(true);
            hand.scans = vec![scan(1, ScanStatus::Running, 0)];
            hand.pass(Duration::from_secs(20));
            hand.events();
            hand.failing = Some((FetchSlot::List(list), error.clone()));
            // The last read of an ended scan fails too.
            hand.scans = vec![scan(1, ScanStatus::Finished, 2)];
            let refreshes = [(list, 1)].into();
            hand.scheduler.set_plan(PollPlan {
                refreshes,
                ..hand.scheduler.plan.clone()
            });
            let fetched = hand.pass(Duration::from_secs(60));
            assert!(
                (6..=9).contains(&count(&fetched, FetchSlot::List(list))),
                "{list:?} {error}: {fetched:?}"
            );
            let events = hand.events();
            assert!(
                !events
                    .iter()
                    .any(|event| matches!(event, PollEvent::Link(Link::Retrying { .. }))),
                "{list:?}"
            );
            let retry = events.iter().find_map(|event| match event {
                PollEvent::Failed(failed, problem) if *failed == list => problem.retry_at,
                _ => None,
            });
            assert!(retry.is_some(), "{list:?} {error}: {events:?}");
            hand.failing = None;
            hand.pass(Duration::from_secs(61));
            let is_read = |event: &PollEvent| match event {
                PollEvent::Snapshot(read) => read.list_kind() == list,
                PollEvent::SomeFindings(..) => list == ListKind::Findings,
                _ => false,
            };
            assert!(hand.events().iter().any(is_read), "{list:?} {error}");
        }
    }
}

#[test]
fn failing_endpoint_costs_few_calls_of_hosted_budget() {
    let mut calm = Hand::new(false);
    let mut failing = Hand::new(false);
    failing.failing = Some((
        FINDINGS,
        Error {
            status: Some(503),
            ..Error::new(ErrorKind::Server, "no")
        },
    ));
    let [calm, failing] = [&mut calm, &mut failing].map(|hand| {
        hand.scans = vec![scan(1, ScanStatus::Running, 0)];
        hand.pass(Duration::from_secs(300)).len()
    });
    assert!(failing <= calm + 12, "{failing} {calm}");
}

#[test]
fn list_that_becomes_empty_is_read_twice() {
    let mut hand = Hand::new(true);
    hand.loggers = vec![
        Logger::default(),
        Logger {
            id: LoggerId(2),
            ..Logger::default()
        },
    ];
    hand.pass(Duration::from_secs(10));
    hand.events();
    let all = std::mem::take(&mut hand.loggers);
    let fetches = loop {
        let fetches = hand.scheduler.due(hand.now);
        if fetches.iter().any(|fetch| fetch.slot() == LOGGERS) {
            break fetches;
        }
        hand.now += Duration::from_millis(100);
        for fetch in fetches {
            let answer = hand.answer(&fetch);
            hand.scheduler
                .absorb(fetch.slot(), answer, hand.now, Timestamp::UNIX_EPOCH);
        }
    };
    for fetch in fetches {
        let answer = hand.answer(&fetch);
        hand.scheduler
            .absorb(fetch.slot(), answer, hand.now, Timestamp::UNIX_EPOCH);
    }
    let is_of_loggers =
        |event: &PollEvent| matches!(event, PollEvent::Snapshot(Snapshot::Loggers(_)));
    assert!(
        !hand.events().iter().any(is_of_loggers),
        "the first empty response is doubted"
    );
    hand.loggers = all;
    assert_eq!(
        count(&hand.settle(), LOGGERS),
        1,
        "and the list is read again at once"
    );
    hand.loggers.clear();
    hand.pass(Duration::from_secs(10));
    let emptied = |event: &PollEvent| matches!(event, PollEvent::Snapshot(Snapshot::Loggers(table)) if table.is_empty());
    assert!(
        hand.events().iter().any(emptied),
        "two empty responses are believed"
    );
}

#[test]
fn refresh_replaces_request_that_hangs() {
    let mut hand = Hand::new(true);
    hand.settle();
    let plan = |count| PollPlan {
        generation: 1,
        workspace: Some(WorkspaceId(1)),
        refreshes: [(ListKind::Targets, count)].into(),
        ..PollPlan::default()
    };
    hand.scheduler.set_plan(plan(1));
    assert!(hand.scheduler.take_hanging(hand.now).is_empty());
    assert_eq!(hand.scheduler.due(hand.now).len(), 1);
    hand.now += Duration::from_secs(1);
    hand.scheduler.set_plan(plan(2));
    assert!(
        hand.scheduler.take_hanging(hand.now).is_empty(),
        "it may still respond"
    );
    hand.now += Duration::from_secs(2);
    hand.scheduler.set_plan(plan(3));
    assert_eq!(
        hand.scheduler.take_hanging(hand.now),
        [FetchSlot::List(ListKind::Targets)]
    );
    assert_eq!(count(&hand.settle(), FetchSlot::List(ListKind::Targets)), 1);
}

#[test]
fn hanging_loggers_leave_room_for_lists() {
    let mut hand = Hand::new(true);
    hand.settle();
    hand.loggers = (1..=9)
        .map(|id| Logger {
            id: LoggerId(id),
            num_requests: 1,
            ..Logger::default()
        })
        .collect();
    let mut lists = 0;
    for _ in 0..60 {
        hand.now += Duration::from_secs(1);
        for fetch in hand.scheduler.due(hand.now) {
            if let FetchSlot::List(_) = fetch.slot() {
                lists += 1;
                let answer = hand.answer(&fetch);
                hand.scheduler
                    .absorb(fetch.slot(), answer, hand.now, Timestamp::UNIX_EPOCH);
            }
        }
    }
    assert!(lists > 20, "{lists}");
}

fn named(reasons: &[&str]) -> Unreadable {
    let reasons: Vec<String> = reasons.iter().map(|reason| (*reason).to_owned()).collect();
    Unreadable {
        count: reasons.len(),
        reasons,
        ..Unreadable::default()
    }
}

#[test]
fn unreadable_items_are_reported_once_and_until_they_are_read() {
    let mut hand = Hand::new(true);
    hand.settle();
    hand.events();
    let mut read = |unreadable: &[&str]| {
        hand.scheduler.schedule(ListKind::Targets).is_requested = true;
        for fetch in hand.scheduler.due(hand.now) {
            let answer = hand.answer(&fetch);
            hand.scheduler.settle(fetch.slot(), 1, named(unreadable));
            hand.scheduler
                .absorb(fetch.slot(), answer, hand.now, Timestamp::UNIX_EPOCH);
        }
        hand.events().into_iter().find_map(|event| match event {
            PollEvent::Unreadable(ListKind::Targets, items) => Some(items.count),
            _ => None,
        })
    };
    assert_eq!(read(&["item 2: expected an object"]), Some(1));
    assert_eq!(read(&["item 2: expected an object"]), None);
    assert_eq!(read(&[]), Some(0));
}

/// Reads the scans, of which the response has these, and others that are unreadable.
fn read_partly(hand: &mut Hand, scans: &[Scan], unreadable: Unreadable) {
    hand.scheduler.schedule(ListKind::Scans).is_requested = true;
    hand.scheduler.backoff.try_now(|_| true);
    for fetch in hand.scheduler.due(hand.now) {
        let answer = match fetch.slot() {
            SCANS => Ok(Fetched::List(Snapshot::Scans(Arc::new(Table::new(
                scans.to_vec(),
            ))))),
            _ => hand.answer(&fetch),
        };
        let of_scans = fetch.slot() == SCANS;
        hand.scheduler.settle(
            fetch.slot(),
            1,
            if of_scans {
                unreadable.clone()
            } else {
                Unreadable::default()
            },
        );
        hand.scheduler
            .absorb(fetch.slot(), answer, hand.now, Timestamp::UNIX_EPOCH);
    }
}

#[test]
fn deleted_rows_leave_while_another_item_is_unreadable() {
    let mut hand = Hand::new(true);
    hand.scans = (1..=4)
        .map(|id| scan(id, ScanStatus::Finished, 0))
        .collect();
    hand.pass(Duration::from_secs(5));
    let rows = |hand: &Hand| -> Vec<i64> {
        hand.scheduler
            .table::<Scan>()
            .unwrap()
            .items()
            .iter()
            .map(|scan| scan.id.0)
            .collect()
    };
    let with_id = |id| Unreadable {
        count: 1,
        ids: [id].into(),
        ..Unreadable::default()
    };
    let listed = hand.scans.clone();
    read_partly(&mut hand, &listed[..2], with_id(4));
    assert_eq!(rows(&hand), [1, 2, 4], "scan 3 is not in the response");
    read_partly(&mut hand, &listed[..1], Unreadable::without_id(1));
    assert_eq!(
        rows(&hand),
        [1, 2, 4],
        "each of them can be the one without id"
    );
    read_partly(&mut hand, &listed[..1], with_id(2));
    assert_eq!(rows(&hand), [1, 2]);
}

#[test]
fn partly_unreadable_list_keeps_its_rows_and_is_requested_again() {
    let mut hand = Hand::new(true);
    hand.scans = (1..=120)
        .map(|id| scan(id, ScanStatus::Finished, 0))
        .collect();
    hand.pass(Duration::from_secs(5));
    hand.events();
    hand.scheduler.set_plan(PollPlan {
        refreshes: [(ListKind::Scans, 1)].into(),
        ..hand.scheduler.plan.clone()
    });
    for fetch in hand.scheduler.due(hand.now) {
        let is_scans = fetch.slot() == SCANS;
        let unreadable = Unreadable::without_id(if is_scans { 119 } else { 0 });
        let answer = match is_scans {
            true => Ok(Fetched::List(Snapshot::Scans(Arc::new(Table::new([hand
                .scans[0]
                .clone()]))))),
            false => hand.answer(&fetch),
        };
        hand.scheduler.settle(fetch.slot(), 1, unreadable);
        hand.scheduler
            .absorb(fetch.slot(), answer, hand.now, Timestamp::UNIX_EPOCH);
    }
    let rows = |hand: &Hand| hand.scheduler.table::<Scan>().map(|scans| scans.len());
    assert_eq!(rows(&hand), Some(120));
    let events = hand.events();
    let failed = events.iter().find_map(|event| match event {
        PollEvent::Failed(ListKind::Scans, problem) => Some(problem.message.clone()),
        _ => None,
    });
    assert_eq!(
        failed.as_deref(),
        Some("119 items not readable; the earlier rows remain")
    );
    hand.scans.truncate(100);
    let again = hand.pass(Duration::from_secs(2));
    assert!(count(&again, SCANS) >= 1, "{again:?}");
    assert_eq!(
        rows(&hand),
        Some(100),
        "a complete response replaces the rows"
    );
    assert!(
        hand.events()
            .iter()
            .any(|event| matches!(event, PollEvent::Snapshot(Snapshot::Scans(_))))
    );
}
