//! A service that is unreachable, refuses or fails: the requests meanwhile, and the events for the screen.

use crate::dashboard::poller::scheduler_tests::*;

#[test]
fn unreachable_service_is_reported_once_and_polled_completely_when_back() {
    let mut hand = Hand::new(true);
    hand.scans = vec![scan(1, ScanStatus::Running, 0)];
    hand.settle();
    hand.events();
    hand.silent = true;
    let tries = hand.pass(Duration::from_secs(60));
    assert!((8..=40).contains(&tries.len()), "{}", tries.len());
    let events = hand.events();
    assert!(matches!(
        events.iter().rfind(|event| matches!(event, PollEvent::Link(_))),
        Some(PollEvent::Link(Link::Retrying { .. }))
    ));
    assert_eq!(events.iter().filter(|event| matches!(event, PollEvent::Failed(..))).count(), 7);
    hand.silent = false;
    let asked = hand.pass(Duration::from_secs(10));
    for list in [
        ListKind::Workspaces,
        ListKind::Targets,
        ListKind::Scans,
        ListKind::Findings,
        ListKind::Loggers,
        ListKind::Reports,
    ] {
        assert!(count(&asked, FetchSlot::List(list)) >= 1, "{list:?}");
    }
    let events = hand.events();
    assert!(events.iter().any(|event| matches!(event, PollEvent::Link(Link::Live { .. }))));
    // Reported although unchanged: the screen must mark the list as fresh.
    assert!(events.iter().any(|event| matches!(event, PollEvent::Snapshot(Snapshot::Findings(_)))));
}

#[test]
fn wrong_key_stops_polling_until_refresh() {
    let mut hand = Hand::new(true);
    hand.refusing = Some((FetchSlot::List(ListKind::Workspaces), ErrorKind::Unauthorized));
    hand.settle();
    let before = hand.asked.len();
    assert!(hand.pass(Duration::from_secs(3600)).is_empty());
    assert!(hand.events().iter().any(|event| matches!(event, PollEvent::Link(Link::Down { .. }))));
    let mut plan = PollPlan { generation: 1, workspace: Some(WorkspaceId(1)), ..PollPlan::default() };
    plan.asked.insert(ListKind::Scans, 1);
    hand.scheduler.set_plan(plan);
    hand.settle();
    assert!(hand.asked.len() > before);
}

#[test]
fn refused_list_pauses_for_minute_without_others() {
    let mut hand = Hand::new(true);
    hand.refusing = Some((FetchSlot::List(ListKind::Reports), ErrorKind::Forbidden));
    let asked = hand.pass(Duration::from_secs(59));
    assert_eq!(count(&asked, FetchSlot::List(ListKind::Reports)), 1);
    assert!(count(&asked, SCANS) > 5);
    let events = hand.events();
    assert!(events.iter().any(|event| matches!(event, PollEvent::Failed(ListKind::Reports, _))));
    assert!(matches!(
        events.iter().rfind(|event| matches!(event, PollEvent::Link(_))),
        Some(PollEvent::Link(Link::Live { .. }))
    ));
}

#[test]
fn refused_part_never_stops_lists() {
    let spent = ErrorKind::BudgetSpent { until: Timestamp::UNIX_EPOCH + Duration::from_secs(60) };
    for (kind, asked) in
        [(spent, 5..=11), (ErrorKind::RateLimited { retry_after: None }, 5..=11), (ErrorKind::NotAcceptable, 1..=1)]
    {
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
        assert!(asked.contains(&count(&passed, FetchSlot::Part)), "{kind:?}: {passed:?}");
        assert!(!hand.events().iter().any(|event| matches!(event, PollEvent::Link(Link::Retrying { .. }))), "{kind:?}");
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
    hand.scheduler.absorb(fetches[0].slot(), refused, hand.now, Timestamp::UNIX_EPOCH);
    assert!(hand.events().iter().any(|event| matches!(event, PollEvent::PartFailed(_, ScanPart::Output, _))));
    assert_eq!(count(&hand.settle(), FetchSlot::Part), 1, "the visible part is fetched");
}

#[test]
fn captures_after_server_error_are_requested_again() {
    let mut hand = Hand::new(true);
    hand.loggers = vec![Logger { id: LoggerId(1), num_requests: 3, ..Logger::default() }];
    hand.refusing = Some((FetchSlot::Captures(LoggerId(1)), ErrorKind::Server));
    hand.pass(Duration::from_secs(5));
    hand.refusing = None;
    hand.pass(Duration::from_secs(5));
    assert!(hand.events().iter().any(|event| matches!(event, PollEvent::Captures { .. })));
}
