//! A service that is away, refuses, or fails: what is asked meanwhile, and what the screen is told.

use super::*;

#[test]
fn a_service_that_went_away_is_told_once_and_everything_is_read_again_when_it_is_back() {
    let mut hand = Hand::new(true);
    hand.scans = vec![scan(1, ScanStatus::Running, 0)];
    hand.settle();
    hand.news();
    hand.silent = true;
    let tries = hand.pass(Duration::from_secs(60));
    assert!((8..=40).contains(&tries.len()), "{}", tries.len());
    let news = hand.news();
    assert!(matches!(news.iter().rfind(|news| matches!(news, News::Link(_))), Some(News::Link(Link::Retrying { .. }))));
    assert_eq!(news.iter().filter(|news| matches!(news, News::Failed(..))).count(), 7);
    hand.silent = false;
    let asked = hand.pass(Duration::from_secs(10));
    for noun in [Noun::Workspaces, Noun::Targets, Noun::Scans, Noun::Findings, Noun::Loggers, Noun::Reports] {
        assert!(count(&asked, Slot::List(noun)) >= 1, "{noun:?}");
    }
    let news = hand.news();
    assert!(news.iter().any(|news| matches!(news, News::Link(Link::Live { .. }))));
    // Told although unchanged: the screen must learn that it is fresh again.
    assert!(news.iter().any(|news| matches!(news, News::Findings(_))));
}

#[test]
fn a_wrong_key_ends_the_asking_until_refresh() {
    let mut hand = Hand::new(true);
    hand.refusing = Some((Slot::List(Noun::Workspaces), Kind::Unauthorized));
    hand.settle();
    let before = hand.asked.len();
    assert!(hand.pass(Duration::from_secs(3600)).is_empty());
    assert!(hand.news().iter().any(|news| matches!(news, News::Link(Link::Down { .. }))));
    let mut plan = PollPlan { generation: 1, workspace: Some(WorkspaceId(1)), ..PollPlan::default() };
    plan.asked.insert(Noun::Scans, 1);
    hand.watch.set_plan(plan);
    hand.settle();
    assert!(hand.asked.len() > before);
}

#[test]
fn a_refused_list_rests_a_minute_and_leaves_the_others_alone() {
    let mut hand = Hand::new(true);
    hand.refusing = Some((Slot::List(Noun::Reports), Kind::Forbidden));
    let asked = hand.pass(Duration::from_secs(59));
    assert_eq!(count(&asked, Slot::List(Noun::Reports)), 1);
    assert!(count(&asked, SCANS) > 5);
    let news = hand.news();
    assert!(news.iter().any(|news| matches!(news, News::Failed(Noun::Reports, _))));
    assert!(matches!(news.iter().rfind(|news| matches!(news, News::Link(_))), Some(News::Link(Link::Live { .. }))));
}

#[test]
fn a_part_that_is_out_of_budget_or_not_there_never_holds_up_the_lists() {
    let spent = Kind::BudgetSpent { until: Timestamp::UNIX_EPOCH + Duration::from_secs(60) };
    for (kind, asked) in
        [(spent, 5..=11), (Kind::RateLimited { retry_after: None }, 5..=11), (Kind::NotAcceptable, 1..=1)]
    {
        let mut hand = Hand::new(true);
        hand.scans = vec![scan(1, ScanStatus::Running, 0)];
        hand.settle();
        hand.refusing = Some((Slot::Part, kind.clone()));
        let part = Some((ScanId(1), ScanPart::Output));
        hand.watch.set_plan(PollPlan {
            generation: 1,
            workspace: Some(WorkspaceId(1)),
            scan_part: part,
            ..PollPlan::default()
        });
        let passed = hand.pass(Duration::from_secs(10));
        assert!(count(&passed, SCANS) >= 9, "{kind:?}: {passed:?}");
        assert!(asked.contains(&count(&passed, Slot::Part)), "{kind:?}: {passed:?}");
        assert!(!hand.news().iter().any(|news| matches!(news, News::Link(Link::Retrying { .. }))), "{kind:?}");
    }
}

#[test]
fn a_part_that_failed_is_told_as_that_part_also_when_another_is_shown_by_then() {
    let mut hand = Hand::new(true);
    hand.scans = vec![scan(1, ScanStatus::Running, 0)];
    hand.settle();
    let plan = |part| PollPlan {
        generation: 1,
        workspace: Some(WorkspaceId(1)),
        scan_part: Some((ScanId(1), part)),
        ..PollPlan::default()
    };
    hand.watch.set_plan(plan(ScanPart::Output));
    let jobs = hand.watch.due(hand.now);
    hand.watch.set_plan(plan(ScanPart::Raw));
    let refused = Err(Error::new(Kind::NotAcceptable, "no such form"));
    hand.watch.absorb(jobs[0].slot(), refused, hand.now, Timestamp::UNIX_EPOCH);
    assert!(hand.news().iter().any(|news| matches!(news, News::PartFailed(_, ScanPart::Output, _))));
    assert_eq!(count(&hand.settle(), Slot::Part), 1, "the one shown now is read");
}

#[test]
fn captures_that_the_service_failed_to_send_are_asked_for_again() {
    let mut hand = Hand::new(true);
    hand.loggers = vec![Logger { id: LoggerId(1), num_requests: 3, ..Logger::default() }];
    hand.refusing = Some((Slot::Captures(LoggerId(1)), Kind::Server));
    hand.pass(Duration::from_secs(5));
    hand.refusing = None;
    hand.pass(Duration::from_secs(5));
    assert!(hand.news().iter().any(|news| matches!(news, News::Captures { .. })));
}
