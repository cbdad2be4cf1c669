//! The schedule, driven by hand: no service, no waiting. Each test puts the questions that are due and answers them.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::job::{Job, Outcome, Slot};
use super::watch::Watch;
use crate::app::plan::{Link, News, Noun, PollPlan, ScanPart};
use crate::app::table::Table;
use crate::client::{Budget, Error, Kind};
use crate::contract::{
    Capture, CaptureId, Finding, Logger, LoggerId, ResultSummary, Scan, ScanId, ScanStatus, TargetId, WorkspaceId,
};

/// A service answered by hand.
struct Hand {
    watch: Watch,
    now: Instant,
    scans: Vec<Scan>,
    loggers: Vec<Logger>,
    refusing: Option<(Slot, Kind)>,
    silent: bool,
    asked: Vec<Slot>,
}

impl Hand {
    fn new(here: bool) -> Self {
        let now = Instant::now();
        let mut hand = Self {
            watch: Watch::new(here, now),
            now,
            scans: Vec::new(),
            loggers: Vec::new(),
            refusing: None,
            silent: false,
            asked: Vec::new(),
        };
        hand.watch.set_plan(PollPlan { generation: 1, workspace: Some(WorkspaceId(1)), ..PollPlan::default() });
        hand
    }

    fn answer(&self, job: &Job) -> Result<Outcome, Error> {
        if self.silent {
            return Err(Error::new(Kind::Connect, "refused"));
        }
        if let Some((slot, kind)) = &self.refusing
            && job.slot() == *slot
        {
            return Err(Error::new(kind.clone(), "no"));
        }
        Ok(match job {
            Job::Workspaces { known } => Outcome::Workspaces(known.clone().unwrap_or_default()),
            Job::Targets { known, .. } => Outcome::Targets(known.clone().unwrap_or_default()),
            Job::Scans { .. } | Job::ActiveScans { .. } => Outcome::Scans(Arc::new(Table::new(self.scans.clone()))),
            Job::Findings { known, .. } => Outcome::Findings(known.clone().unwrap_or_default()),
            Job::FindingsOf { known, .. } => Outcome::Findings(Arc::clone(known)),
            Job::Loggers { .. } => Outcome::Loggers(Arc::new(Table::new(self.loggers.clone()))),
            Job::Captures { logger, since } => {
                let from = since.map_or(1, |since| since.0 + 1);
                let capture = |id| Capture { id: CaptureId(id), ..Capture::default() };
                Outcome::Captures(*logger, (from..from + 2).map(capture).collect())
            }
            Job::Reports { known } => Outcome::Reports(known.clone().unwrap_or_default()),
            Job::Wordlists { known } => Outcome::Wordlists(known.clone().unwrap_or_default()),
            Job::Part { scan, .. } => Outcome::Part(*scan, crate::app::plan::PartData::Tests(Arc::default())),
        })
    }

    /// Answers everything that is due now, until nothing is.
    fn settle(&mut self) -> Vec<Slot> {
        let from = self.asked.len();
        loop {
            let jobs = self.watch.due(self.now);
            if jobs.is_empty() {
                return self.asked[from..].to_vec();
            }
            for job in jobs {
                let answer = self.answer(&job);
                self.asked.push(job.slot());
                self.watch.absorb(job.slot(), answer, self.now, Timestamp::UNIX_EPOCH);
            }
        }
    }

    /// Lets time pass from one due moment to the next; returns what was asked.
    fn pass(&mut self, time: Duration) -> Vec<Slot> {
        let (from, end) = (self.asked.len(), self.now + time);
        self.settle();
        let mut wakes = 0;
        while let Some(next) = self.watch.next(self.now).filter(|next| *next <= end) {
            assert!(next > self.now, "the poller would spin");
            wakes += 1;
            assert!(wakes < 20_000, "too many wake-ups");
            self.now = next;
            self.settle();
        }
        self.now = end;
        self.asked[from..].to_vec()
    }

    fn news(&mut self) -> Vec<News> {
        std::iter::from_fn(|| self.watch.outbox.pop()).collect()
    }
}

fn scan(id: i64, status: ScanStatus, high: i64) -> Scan {
    let summary = ResultSummary {
        critical: Some(0),
        high: Some(high),
        medium: Some(0),
        low: Some(0),
        info: Some(0),
        ..ResultSummary::default()
    };
    Scan { id: ScanId(id), target_id: TargetId(1), status_name: status, result_summary: summary, ..Scan::default() }
}

fn count(asked: &[Slot], slot: Slot) -> usize {
    asked.iter().filter(|asked| **asked == slot).count()
}

const SCANS: Slot = Slot::List(Noun::Scans);
const FINDINGS: Slot = Slot::List(Noun::Findings);
const LOGGERS: Slot = Slot::List(Noun::Loggers);

#[test]
fn everything_is_read_once_at_the_start_and_findings_after_the_scans() {
    let mut hand = Hand::new(true);
    let asked = hand.settle();
    assert_eq!(asked.len(), 7, "{asked:?}");
    let place = |slot| asked.iter().position(|asked| *asked == slot);
    assert!(place(FINDINGS) > place(SCANS));
    assert!(matches!(hand.news().first(), Some(News::Link(Link::Live { .. }))));
    assert!(hand.settle().is_empty());
}

#[test]
fn without_a_workspace_only_the_workspaces_are_read() {
    let mut hand = Hand::new(true);
    hand.watch.set_plan(PollPlan { generation: 2, ..PollPlan::default() });
    assert_eq!(hand.pass(Duration::from_secs(30)), [Slot::List(Noun::Workspaces)]);
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
    let budget = Budget { limit: Some(250), remaining: Some(240), reset: None };
    hand.watch.learn_limits(budget, None, Timestamp::UNIX_EPOCH);
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
    assert_eq!(count(&hand.pass(Duration::from_secs(20)), Slot::Captures(LoggerId(7))), 0);
    hand.loggers[0].num_requests = 1;
    assert_eq!(count(&hand.pass(Duration::from_secs(20)), Slot::Captures(LoggerId(7))), 1);
    let told = |news: &News| matches!(news, News::Captures { new, .. } if new.len() == 2);
    assert_eq!(hand.news().iter().filter(|news| told(news)).count(), 1);
}

#[test]
fn shown_captures_are_looked_for_each_second_where_there_is_a_logger() {
    let mut hand = Hand::new(true);
    hand.settle();
    let unseen = count(&hand.pass(Duration::from_secs(60)), LOGGERS);
    let plan = PollPlan { generation: 1, workspace: Some(WorkspaceId(1)), captures: Some(None), ..PollPlan::default() };
    assert!(!hand.watch.set_plan(plan));
    let without = count(&hand.pass(Duration::from_secs(60)), LOGGERS);
    hand.loggers = vec![Logger { id: LoggerId(7), ..Logger::default() }];
    hand.pass(Duration::from_secs(4));
    let seen = count(&hand.pass(Duration::from_secs(60)), LOGGERS);
    assert!([unseen, without].iter().all(|count| (14..=16).contains(count)), "{unseen} {without}");
    assert!((59..=61).contains(&seen), "{seen}");
}

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
fn refresh_reads_at_once_also_when_the_list_is_under_way() {
    let mut hand = Hand::new(true);
    hand.settle();
    let plan = |count| PollPlan {
        generation: 1,
        workspace: Some(WorkspaceId(1)),
        asked: [(Noun::Targets, count)].into(),
        ..PollPlan::default()
    };
    hand.watch.set_plan(plan(1));
    let jobs = hand.watch.due(hand.now);
    assert!(matches!(jobs.as_slice(), [Job::Targets { .. }]));
    hand.watch.set_plan(plan(2));
    assert!(hand.watch.due(hand.now).is_empty(), "never twice at a time");
    let answer = hand.answer(&jobs[0]);
    hand.watch.absorb(jobs[0].slot(), answer, hand.now, Timestamp::UNIX_EPOCH);
    assert_eq!(hand.settle(), [Slot::List(Noun::Targets)], "the answer may be older than the wish");
}

#[test]
fn a_new_workspace_drops_what_was_known_and_starts_over() {
    let mut hand = Hand::new(true);
    hand.scans = vec![scan(1, ScanStatus::Running, 0)];
    hand.settle();
    let plan = PollPlan { generation: 2, workspace: Some(WorkspaceId(2)), ..PollPlan::default() };
    assert!(hand.watch.set_plan(plan));
    assert!(hand.news().is_empty(), "nothing of the old workspace is told");
    assert_eq!(hand.settle().len(), 7);
    let news = hand.news();
    assert!(news.iter().any(|news| matches!(news, News::Workspaces(_))));
}

#[test]
fn the_open_part_of_a_scan_is_read_again_when_the_scan_moved() {
    let mut hand = Hand::new(true);
    hand.scans = vec![scan(1, ScanStatus::Running, 0)];
    hand.settle();
    let part = Some((ScanId(1), ScanPart::Tests));
    let plan = PollPlan { generation: 1, workspace: Some(WorkspaceId(1)), scan_part: part, ..PollPlan::default() };
    hand.watch.set_plan(plan);
    assert_eq!(count(&hand.pass(Duration::from_secs(5)), Slot::Part), 1);
    hand.scans[0].progress = 50;
    assert_eq!(count(&hand.pass(Duration::from_secs(5)), Slot::Part), 1);
}

#[test]
fn findings_that_do_not_tell_their_scan_are_asked_for_scan_by_scan() {
    let mut hand = Hand::new(true);
    hand.scans = (1..=10).map(|id| scan(id, ScanStatus::Finished, 1)).collect();
    let jobs = loop {
        let jobs = hand.watch.due(hand.now);
        if jobs.iter().any(|job| job.slot() == FINDINGS) {
            break jobs;
        }
        for job in jobs {
            let answer = hand.answer(&job);
            hand.watch.absorb(job.slot(), answer, hand.now, Timestamp::UNIX_EPOCH);
        }
    };
    for job in jobs {
        let answer = match job.slot() {
            FINDINGS => Ok(Outcome::Findings(Arc::new(Table::new([Finding::default()])))),
            _ => hand.answer(&job),
        };
        hand.watch.absorb(job.slot(), answer, hand.now, Timestamp::UNIX_EPOCH);
    }
    assert_eq!(count(&hand.pass(Duration::from_secs(3)), FINDINGS), 3, "ten scans, four a job");
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

#[test]
fn captures_wait_at_the_service_while_the_screen_takes_nothing() {
    let mut hand = Hand::new(true);
    for requests in 1..500 {
        hand.loggers = vec![Logger { id: LoggerId(1), num_requests: requests, ..Logger::default() }];
        hand.pass(Duration::from_secs(4));
    }
    let waiting = hand.news().len();
    assert!(waiting < 100, "{waiting}");
    assert_eq!(count(&hand.settle(), Slot::Captures(LoggerId(1))), 1, "and are read when it does again");
}

#[test]
fn findings_that_could_not_be_paid_are_read_as_soon_as_they_can() {
    let mut hand = Hand::new(false);
    hand.scans = (1..=4).map(|id| scan(id, ScanStatus::Running, 0)).collect();
    hand.pass(Duration::from_secs(60));
    for scan in &mut hand.scans {
        scan.result_summary.high = Some(1);
    }
    while hand.watch.purse.spend(1, hand.now) {}
    let asked = hand.pass(Duration::from_secs(14));
    assert_eq!(count(&asked, FINDINGS), 1, "{asked:?}");
}
