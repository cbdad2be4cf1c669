//! Starts the schedules of scans.
//!
//! ```text
//!   every 5 s, at the next start, and after a change
//!     ──► due? ─► start: targets in the scope ─► claim and queue ─► worker
//!              ├► skip: later than the window ─► the reason is stored
//!              └► wait: the clock was set back ─► times are stored
//! ```
//!
//! A refused target does not stop the others; the result of the start names it. Scans count in the
//! quota of the key that created the schedule.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tokio_util::sync::CancellationToken;

use crate::engine::check_rate;
use crate::engine::tools::target_refusal;
use crate::guards::keys::KeyIdentity;
use crate::guards::quotas::{QuotaNoun, ReservedCreation};
use crate::net::address::Address;
use crate::runs::words::add_words;
use crate::state::App;
use crate::store::StoreResult;
use crate::store::scans::ScanToAdd;
use crate::store::schedules::{QueuedStart, ScheduledTarget, StoredSchedule, TargetStart};
use scandeck_wire::contract::{Shared, Tool};
use scandeck_wire::recurrence::{DueStart, StartTimes, window_text};
use scandeck_wire::text::plural;

/// How often schedules are read without a notification: other processes change them too, and a
/// machine that slept or changed its clock wakes no timer.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Starts due schedules until `stop`.
pub async fn start_schedules(app: App, stop: CancellationToken) {
    while !stop.is_cancelled() {
        // After an error the next poll tries again: a due schedule must not be tried in a loop.
        let next = step(&app).await.unwrap_or_else(|error| {
            tracing::error!(%error, "schedules not started");
            None
        });
        tokio::select! {
            () = stop.cancelled() => {}
            () = app.schedules.notified() => {}
            () = app.clock.until(next.unwrap_or(Timestamp::MAX)) => {}
            () = tokio::time::sleep(POLL_INTERVAL) => {}
        }
    }
}

/// Starts what is due; returns the time of the next start. A schedule that fails does not delay the
/// others.
async fn step(app: &App) -> StoreResult<Option<Timestamp>> {
    let zone = TimeZone::system();
    for schedule in app.store.due_schedules(app.now()).await? {
        if let Err(error) = handle(app, &schedule, &zone).await {
            tracing::warn!(%error, schedule = schedule.id.0, "schedule not started; it is tried again");
        }
    }
    app.store.next_schedule_at().await
}

/// Starts, skips or moves a due schedule.
async fn handle(app: &App, schedule: &StoredSchedule, zone: &TimeZone) -> StoreResult<()> {
    let now = app.now();
    let (due, times) = schedule.recurrence.due(schedule.times.done, now, zone);
    match due {
        DueStart::Wait if times == schedule.times => Ok(()),
        DueStart::Wait => app
            .store
            .move_schedule(schedule, times, None)
            .await
            .map(drop),
        DueStart::Start { missed, .. } => start(app, schedule, times, missed).await,
        DueStart::Skip { due } => skip(app, schedule, times, due, zone).await,
    }
}

async fn start(
    app: &App,
    schedule: &StoredSchedule,
    times: StartTimes,
    missed: i64,
) -> StoreResult<()> {
    let targets = app.store.targets_of_schedule(schedule).await?;
    let mut prepared = prepare(app, schedule, &targets).await?;
    prepared.missed = missed;
    prepared.tag.clone_from(&schedule.tag);
    let queued = app
        .store
        .start_schedule(schedule, times, &prepared.starts, app.now(), |queued| {
            prepared.words(queued)
        })
        .await?;
    if let Some(queued) = queued {
        let result = prepared.words(&queued);
        tracing::info!(schedule = %schedule.id, name = schedule.name, "{result}");
        prepared.count_created(queued.scans);
        app.worker.wake();
    }
    Ok(())
}

async fn skip(
    app: &App,
    schedule: &StoredSchedule,
    times: StartTimes,
    due: Timestamp,
    zone: &TimeZone,
) -> StoreResult<()> {
    let due = due.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M");
    let window = window_text(schedule.recurrence.window);
    let result = format!("skipped the start of {due}: more than {window} late");
    if app
        .store
        .move_schedule(schedule, times, Some(&result))
        .await?
    {
        tracing::warn!(schedule = %schedule.id, name = schedule.name, "{result}");
    }
    Ok(())
}

/// Most scans of one start: they are queued in one transaction, and other writes wait for it.
const MOST_SCANS: usize = 1_000;

/// The scans that a start may queue.
#[derive(Debug, Default)]
struct PreparedStart<'a> {
    starts: Vec<TargetStart>,
    /// A place for each scan in the quota of the key that created the schedule.
    reserved: Vec<ReservedCreation<'a>>,
    /// Scans that are refused, and why the first one is.
    refused: usize,
    first_refusal: Option<String>,
    /// Earlier occurrences that this start makes up for.
    missed: i64,
    /// The tag of the targets, if the schedule has one.
    tag: Option<Shared>,
}

impl PreparedStart<'_> {
    fn refuse(&mut self, target: &str, why: &str) {
        self.refused += 1;
        self.first_refusal
            .get_or_insert_with(|| format!("{target}: {why}"));
    }

    /// Counts the scans that were queued in the quota; the other places are free again.
    fn count_created(self, scans: usize) {
        for place in self.reserved.into_iter().take(scans) {
            place.created();
        }
    }

    /// `started 4 scans; 1 target still scanned; 2 scans refused (10.0.0.1: not in scope)`.
    fn words(&self, queued: &QueuedStart) -> String {
        let mut words = match queued.scans {
            0 => "started no scan".to_owned(),
            scans => format!("started {}", plural(scans, "scan")),
        };
        if self.missed > 0 {
            let missed = usize::try_from(self.missed).unwrap_or(usize::MAX);
            words.push_str(&format!("; {} missed before", plural(missed, "start")));
        }
        if queued.busy > 0 {
            words.push_str(&format!(
                "; {} still scanned",
                plural(queued.busy, "target")
            ));
        }
        if let Some(refusal) = &self.first_refusal {
            let refused = plural(self.refused, "scan");
            words.push_str(&format!("; {refused} refused ({refusal})"));
        }
        if self.starts.is_empty() && self.refused == 0 {
            words.push_str(&match &self.tag {
                None => "; it has no targets".to_owned(),
                Some(tag) => format!("; no target has the tag #{tag}"),
            });
        }
        words
    }
}

/// Chooses the scans of each target that the scope and the tools allow now.
async fn prepare<'a>(
    app: &'a App,
    schedule: &StoredSchedule,
    targets: &[ScheduledTarget],
) -> StoreResult<PreparedStart<'a>> {
    let creator = KeyIdentity::of_creator(&schedule.created_by, &app.store.keys().await?);
    let mut prepared = PreparedStart::default();
    let mut scans = Vec::new();
    for scan in &schedule.scans {
        let mut scan = scan.clone();
        match add_words(&app.store, &mut scan).await? {
            Ok(()) => scans.push(scan),
            Err(why) => {
                let tool = Tool(scan.tool).scan();
                prepared.refuse(&tool, &why);
            }
        }
    }
    let mut count = 0;
    for target in targets {
        if target.is_scanned {
            // Without a place in the quota, which the other targets need.
            prepared.starts.push(TargetStart {
                target: target.id,
                scans: Vec::new(),
            });
            continue;
        }
        if count + scans.len() > MOST_SCANS {
            for _ in &scans {
                prepared.refuse(&target.name, "a start has at most 1,000 scans");
            }
            continue;
        }
        let allowed = allowed_scans(app, &creator, target, &scans, &mut prepared);
        count += allowed.len();
        if !allowed.is_empty() {
            prepared.starts.push(TargetStart {
                target: target.id,
                scans: allowed,
            });
        }
    }
    Ok(prepared)
}

fn allowed_scans<'a>(
    app: &'a App,
    creator: &KeyIdentity,
    target: &ScheduledTarget,
    scans: &[ScanToAdd],
    prepared: &mut PreparedStart<'a>,
) -> Vec<ScanToAdd> {
    let mut allowed = Vec::new();
    for scan in scans {
        let reserved = match refusal(app, &target.name, scan) {
            Some(why) => Err(why),
            None => app
                .key_usage
                .reserve(creator, QuotaNoun::Scan, app.now())
                .map_err(|error| error.message),
        };
        match reserved {
            Ok(place) => {
                prepared.reserved.push(place);
                allowed.push(ScanToAdd {
                    place: place_of(app, &target.name),
                    ..scan.clone()
                });
            }
            Err(why) => prepared.refuse(&target.name, &why),
        }
    }
    allowed
}

fn place_of(app: &App, target: &str) -> Option<String> {
    let address = Address::parse(target).ok()?;
    app.scope_check.place_of(&address).map(String::from)
}

/// Why a scan of this target may not start now.
fn refusal(app: &App, target: &str, scan: &ScanToAdd) -> Option<String> {
    let address = match Address::parse(target) {
        Ok(address) => address,
        Err(error) => return Some(error.to_string()),
    };
    if let Err(refusal) = app.scope_check.check_name(&address) {
        return Some(refusal.to_string());
    }
    let rate = check_rate(&scan.shown_params, &address, &app.settings.scan_limits);
    target_refusal(Tool(scan.tool), &scan.shown_params, &address)
        .or_else(|| rate.err().map(|error| error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_names_scans_missed_busy_and_refused() {
        let mut prepared = PreparedStart {
            missed: 2,
            ..PreparedStart::default()
        };
        let queued = QueuedStart { scans: 4, busy: 1 };
        prepared.refuse("10.0.0.1", "not in scope");
        prepared.refuse("10.0.0.2", "not in scope");
        assert_eq!(
            prepared.words(&queued),
            "started 4 scans; 2 starts missed before; 1 target still scanned; 2 scans refused (10.0.0.1: not in scope)"
        );
        let none = PreparedStart::default().words(&QueuedStart::default());
        assert_eq!(none, "started no scan; it has no targets");
        let of_tag = PreparedStart {
            tag: Some("prod".into()),
            ..PreparedStart::default()
        };
        assert_eq!(
            of_tag.words(&QueuedStart::default()),
            "started no scan; no target has the tag #prod"
        );
    }
}
