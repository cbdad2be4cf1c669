//! Schedules: scans that start again and again, and the claim of a due start.
//!
//! ```text
//!   due ──claim: done and next are moved──► scans queued, in the same transaction
//!    │         └─ moved by another process: nothing
//!    └─ too late: moved, no scan is queued
//! ```
//!
//! A start is one transaction, so that no process can claim it and end before its scans are queued.
//! `runs` decides when a schedule starts, and which of its targets may be scanned.

use jiff::{SignedDuration, Timestamp};

use super::deletion::is_deleting;
use super::jobs::with_info;
use super::scans::{ScanToAdd, insert_scan};
use super::sql::{SqlRow, Statement, sql};
use super::{DatabaseError, Store, StoreResult, WriteTransaction, json, millis, text, without_nul};
use scandeck_wire::contract::{RedirectLevel, ScanId, ScheduleId, Shared, TargetId, WorkspaceId};
use scandeck_wire::recurrence::{Recurrence, StartTimes};

/// Most schedules of a service.
pub const MOST_SCHEDULES: i64 = 200;

/// A schedule to store.
#[derive(Clone, Debug)]
pub struct ScheduleToAdd {
    pub workspace: WorkspaceId,
    pub name: String,
    pub recurrence: Recurrence,
    pub times: StartTimes,
    /// `None` for all targets of the workspace, or those of a tag.
    pub targets: Option<Vec<TargetId>>,
    pub tag: Option<Shared>,
    pub scans: Vec<ScanToAdd>,
    pub created_by: String,
}

/// Why a schedule was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleRefusal {
    NoWorkspace,
    /// The target does not exist, or is in another workspace.
    NoTarget(TargetId),
    LimitReached,
}

/// A stored schedule.
#[derive(Clone, Debug)]
pub struct StoredSchedule {
    pub id: ScheduleId,
    pub workspace: WorkspaceId,
    pub name: String,
    pub recurrence: Recurrence,
    pub times: StartTimes,
    /// `None` for all targets of the workspace, or those of a tag.
    pub targets: Option<Vec<TargetId>>,
    pub tag: Option<Shared>,
    pub scans: Vec<ScanToAdd>,
    pub is_paused: bool,
    pub created_by: String,
    pub starts: i64,
    pub last_start: Option<Timestamp>,
    /// The last start or skipped start, in words.
    pub last_result: String,
}

/// A target of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduledTarget {
    pub id: TargetId,
    pub name: String,
    /// Scans of the schedule wait or run.
    pub is_scanned: bool,
}

/// The scans of a target that a schedule queues; none if it is still scanned.
#[derive(Clone, Debug)]
pub struct TargetStart {
    pub target: TargetId,
    pub scans: Vec<ScanToAdd>,
}

/// The result of a start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueuedStart {
    pub scans: usize,
    /// Targets that the last start of the schedule still scans.
    pub busy: usize,
}

impl Store {
    /// Stores a schedule with its targets and scans.
    pub async fn add_schedule(
        &self,
        new: &ScheduleToAdd,
        now: Timestamp,
    ) -> StoreResult<Result<ScheduleId, ScheduleRefusal>> {
        let mut change = self.change().await?;
        let schedules: i64 = sql("SELECT count(*) FROM schedules")
            .one(&mut change)
            .await?;
        if schedules >= MOST_SCHEDULES {
            return Ok(Err(ScheduleRefusal::LimitReached));
        }
        let id: Option<i64> = sql(
            "INSERT INTO schedules (workspace_id, name, first_start, every, window_seconds, all_targets, tag,
                created_by, created_at, done_at, next_at)
             SELECT id, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 FROM workspaces WHERE id = $11
                AND NOT EXISTS (SELECT 1 FROM deletions WHERE workspace_id = $11) RETURNING id",
        )
        .bind(without_nul(&new.name))
        .bind(new.recurrence.first.to_string())
        .bind(new.recurrence.every.to_string())
        .bind(new.recurrence.window.as_secs())
        // A program that knows no tags must not scan all targets in place of those of the tag.
        .bind(new.targets.is_none() && new.tag.is_none())
        .bind(new.tag.as_deref().unwrap_or_default())
        .bind(&new.created_by)
        .bind(millis(now))
        .bind(millis(new.times.done))
        .bind(millis(new.times.next))
        .bind(new.workspace.0)
        .optional(&mut change)
        .await?;
        let Some(id) = id.map(ScheduleId) else {
            return Ok(Err(ScheduleRefusal::NoWorkspace));
        };
        for target in new.targets.iter().flatten() {
            if !add_target(&mut change, id, *target).await? {
                return Ok(Err(ScheduleRefusal::NoTarget(*target)));
            }
        }
        for (position, scan) in (0_i64..).zip(&new.scans) {
            add_scan(&mut change, id, position, scan).await?;
        }
        change.commit().await?;
        Ok(Ok(id))
    }

    /// The schedules of a workspace, or all, in the order of their ids.
    pub async fn schedules(
        &self,
        workspace: Option<WorkspaceId>,
    ) -> StoreResult<Vec<StoredSchedule>> {
        let all = select("WHERE $1 IS NULL OR workspace_id = $1 ORDER BY id")
            .bind(workspace.map(|id| id.0))
            .all_as(self.read(), schedule_of)
            .await?;
        self.complete(all).await
    }

    pub async fn schedule(&self, id: ScheduleId) -> StoreResult<Option<StoredSchedule>> {
        let found = select("WHERE id = $1")
            .bind(id.0)
            .all_as(self.read(), schedule_of)
            .await?;
        Ok(self.complete(found).await?.pop())
    }

    /// The schedules whose next start has come, and those of a time that the clock has not reached:
    /// it may have been set back.
    pub async fn due_schedules(&self, now: Timestamp) -> StoreResult<Vec<StoredSchedule>> {
        let due =
            select("WHERE paused = false AND (next_at <= $1 OR done_at > $1) ORDER BY next_at, id")
                .bind(millis(now))
                .all_as(self.read(), schedule_of)
                .await?;
        self.complete(due).await
    }

    /// When the next schedule starts; none without an active schedule.
    pub async fn next_schedule_at(&self) -> StoreResult<Option<Timestamp>> {
        let next: Option<i64> = sql("SELECT min(next_at) FROM schedules WHERE paused = false")
            .one(self.read())
            .await?;
        Ok(next.map(instant))
    }

    /// The targets that a schedule scans now, in the order of their ids.
    pub async fn targets_of_schedule(
        &self,
        schedule: &StoredSchedule,
    ) -> StoreResult<Vec<ScheduledTarget>> {
        let rows: Vec<(i64, String, String, bool)> = match schedule.targets {
            None => sql(
                "SELECT id, name, tags, id IN (SELECT scans.target_id FROM jobs
                    JOIN scans ON scans.id = jobs.scan_id WHERE jobs.schedule_id = $1)
                 FROM targets WHERE workspace_id = $2 ORDER BY id",
            )
            .bind(schedule.id.0)
            .bind(schedule.workspace.0),
            Some(_) => sql(
                "SELECT targets.id, targets.name, targets.tags, targets.id IN (
                    SELECT scans.target_id FROM jobs JOIN scans ON scans.id = jobs.scan_id
                    WHERE jobs.schedule_id = $1)
                 FROM schedule_targets JOIN targets ON targets.id = schedule_targets.target_id
                 WHERE schedule_targets.schedule_id = $1 ORDER BY targets.id",
            )
            .bind(schedule.id.0),
        }
        .all(self.read())
        .await?;
        let mut targets = Vec::new();
        for (id, name, tags, is_scanned) in rows {
            let has_tag = |tag: &Shared| tags.split_whitespace().any(|one| *tag == *one);
            if schedule.tag.as_ref().is_none_or(has_tag) {
                targets.push(ScheduledTarget {
                    id: TargetId(id),
                    name,
                    is_scanned,
                });
            }
        }
        Ok(targets)
    }

    /// Claims a due start and queues its scans; `None` when another process did, or the schedule was
    /// changed. `result` describes the start in words.
    pub async fn start_schedule(
        &self,
        schedule: &StoredSchedule,
        times: StartTimes,
        starts: &[TargetStart],
        now: Timestamp,
        result: impl Fn(&QueuedStart) -> String,
    ) -> StoreResult<Option<QueuedStart>> {
        let mut change = self.change().await?;
        if !claim(&mut change, schedule, times).await? {
            return Ok(None);
        }
        let mut queued = QueuedStart::default();
        for TargetStart { target, scans } in starts {
            if is_deleting(&mut change, *target).await? {
                continue;
            }
            if scans.is_empty() || is_scanned(&mut change, schedule.id, *target).await? {
                queued.busy += 1;
                continue;
            }
            for scan in scans {
                let added = insert_scan(&mut change, *target, scan, now).await?;
                if let Some(scan) = added {
                    mark_scan(&mut change, schedule, scan.0).await?;
                    queued.scans += 1;
                }
            }
        }
        sql(
            "UPDATE schedules SET starts = starts + 1, last_start_at = $1, last_result = $2 WHERE id = $3",
        )
        .bind(millis(now))
        .bind(result(&queued))
        .bind(schedule.id.0)
        .execute(&mut change)
        .await?;
        change.commit().await?;
        Ok(Some(queued))
    }

    /// Moves a schedule without a start, with the reason if a start was skipped; false when another
    /// process moved it.
    pub async fn move_schedule(
        &self,
        schedule: &StoredSchedule,
        times: StartTimes,
        skipped: Option<&str>,
    ) -> StoreResult<bool> {
        let mut change = self.change().await?;
        if !claim(&mut change, schedule, times).await? {
            return Ok(false);
        }
        if let Some(skipped) = skipped {
            sql("UPDATE schedules SET last_result = $1 WHERE id = $2")
                .bind(skipped)
                .bind(schedule.id.0)
                .execute(&mut change)
                .await?;
        }
        change.commit().await?;
        Ok(true)
    }

    /// Pauses a schedule; false when it does not exist.
    pub async fn pause_schedule(&self, id: ScheduleId) -> StoreResult<bool> {
        let update = sql("UPDATE schedules SET paused = true WHERE id = $1").bind(id.0);
        Ok(self.execute(update).await? > 0)
    }

    /// Resumes a paused schedule with these times; without effect on one that is not paused.
    pub async fn resume_schedule(&self, id: ScheduleId, times: StartTimes) -> StoreResult<()> {
        let update = sql(
            "UPDATE schedules SET paused = false, done_at = $1, next_at = $2
             WHERE id = $3 AND paused = true",
        )
        .bind(millis(times.done))
        .bind(millis(times.next))
        .bind(id.0);
        self.execute(update).await.map(|_| ())
    }

    /// Deletes a schedule; false when it does not exist. Its scans remain.
    pub async fn delete_schedule(&self, id: ScheduleId) -> StoreResult<bool> {
        let delete = sql("DELETE FROM schedules WHERE id = $1").bind(id.0);
        Ok(self.execute(delete).await? > 0)
    }

    /// Adds their targets and scans to schedules.
    async fn complete(&self, mut all: Vec<StoredSchedule>) -> StoreResult<Vec<StoredSchedule>> {
        for schedule in &mut all {
            if let Some(targets) = &mut schedule.targets {
                let ids: Vec<i64> = sql(
                    "SELECT target_id FROM schedule_targets WHERE schedule_id = $1 ORDER BY target_id",
                )
                .bind(schedule.id.0)
                .all(self.read())
                .await?;
                targets.extend(ids.into_iter().map(TargetId));
            }
            schedule.scans = sql(
                "SELECT tool_id, params, shown_params, redirect_level, scan_original_url, max_minutes
                 FROM schedule_scans WHERE schedule_id = $1 ORDER BY position",
            )
            .bind(schedule.id.0)
            .all_as(self.read(), scan_of)
            .await?;
        }
        Ok(all)
    }
}

/// The statement that reads schedules with [`schedule_of`].
fn select(rest: &str) -> Statement {
    sql(
        "SELECT id, workspace_id, name, first_start, every, window_seconds, all_targets, tag, paused,
            created_by, done_at, next_at, starts, last_start_at, last_result FROM schedules ",
    )
    .push(rest)
}

/// A schedule without its targets and scans.
fn schedule_of(row: &SqlRow) -> StoreResult<StoredSchedule> {
    let is_of_all: bool = row.get("all_targets")?;
    let tag = Some(text(row, "tag")?).filter(|tag| !tag.is_empty());
    Ok(StoredSchedule {
        id: ScheduleId(row.get("id")?),
        workspace: WorkspaceId(row.get("workspace_id")?),
        name: row.get("name")?,
        recurrence: Recurrence {
            first: row
                .get::<&str>("first_start")?
                .parse()
                .map_err(|error: jiff::Error| DatabaseError::Decode(error.into()))?,
            every: row
                .get::<&str>("every")?
                .parse()
                .map_err(|error: &str| DatabaseError::Decode(error.into()))?,
            window: SignedDuration::from_secs(row.get("window_seconds")?),
        },
        times: StartTimes {
            done: instant(row.get("done_at")?),
            next: instant(row.get("next_at")?),
        },
        targets: (!is_of_all && tag.is_none()).then(Vec::new),
        tag,
        scans: Vec::new(),
        is_paused: row.get("paused")?,
        created_by: row.get("created_by")?,
        starts: row.get("starts")?,
        last_start: row.get::<Option<i64>>("last_start_at")?.map(instant),
        last_result: row.get("last_result")?,
    })
}

fn scan_of(row: &SqlRow) -> StoreResult<ScanToAdd> {
    Ok(ScanToAdd {
        tool: row.get("tool_id")?,
        params: json(row.get("params")?),
        shown_params: json(row.get("shown_params")?),
        redirect_level: RedirectLevel::from(row.get::<&str>("redirect_level")?),
        scan_original_url: row.get("scan_original_url")?,
        place: None,
        max_minutes: row.get("max_minutes")?,
        callback: None,
    })
}

/// A stored time; values out of range become the end of time, which never comes.
fn instant(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX)
}

async fn add_target(
    change: &mut WriteTransaction,
    schedule: ScheduleId,
    target: TargetId,
) -> StoreResult<bool> {
    let added = sql("INSERT INTO schedule_targets (schedule_id, target_id)
         SELECT schedules.id, targets.id FROM schedules
            JOIN targets ON targets.workspace_id = schedules.workspace_id
         WHERE schedules.id = $1 AND targets.id = $2")
    .bind(schedule.0)
    .bind(target.0)
    .execute(&mut *change)
    .await?;
    Ok(added > 0)
}

async fn add_scan(
    change: &mut WriteTransaction,
    schedule: ScheduleId,
    position: i64,
    scan: &ScanToAdd,
) -> StoreResult<()> {
    sql(
        "INSERT INTO schedule_scans (schedule_id, position, tool_id, params, shown_params, redirect_level,
            scan_original_url, max_minutes)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(schedule.0)
    .bind(position)
    .bind(scan.tool)
    .bind(scan.params.to_string())
    .bind(scan.shown_params.to_string())
    .bind(scan.redirect_level.as_str())
    .bind(scan.scan_original_url)
    .bind(scan.max_minutes)
    .execute(&mut *change)
    .await?;
    Ok(())
}

/// Moves the times of a schedule; false when they are not those that were read.
async fn claim(
    change: &mut WriteTransaction,
    schedule: &StoredSchedule,
    times: StartTimes,
) -> StoreResult<bool> {
    let moved = sql("UPDATE schedules SET done_at = $1, next_at = $2
         WHERE id = $3 AND done_at = $4 AND next_at = $5 AND paused = false")
    .bind(millis(times.done))
    .bind(millis(times.next))
    .bind(schedule.id.0)
    .bind(millis(schedule.times.done))
    .bind(millis(schedule.times.next))
    .execute(&mut *change)
    .await?;
    Ok(moved > 0)
}

/// Whether scans of this schedule and target wait or run.
async fn is_scanned(
    change: &mut WriteTransaction,
    schedule: ScheduleId,
    target: TargetId,
) -> StoreResult<bool> {
    sql(
        "SELECT EXISTS (SELECT 1 FROM jobs JOIN scans ON scans.id = jobs.scan_id
            WHERE jobs.schedule_id = $1 AND scans.target_id = $2)",
    )
    .bind(schedule.0)
    .bind(target.0)
    .one(&mut *change)
    .await
}

/// Stores which schedule queued a scan, for the queue and for people.
async fn mark_scan(
    change: &mut WriteTransaction,
    schedule: &StoredSchedule,
    scan: i64,
) -> StoreResult<()> {
    let StoredSchedule { id, name, .. } = schedule;
    let note = format!("started by schedule {id} ({name})");
    let info = with_info(change, ScanId(scan), &[note]).await?;
    sql("UPDATE jobs SET schedule_id = $1 WHERE scan_id = $2")
        .bind(id.0)
        .bind(scan)
        .execute(&mut *change)
        .await?;
    sql("UPDATE scans SET info = $1 WHERE id = $2")
        .bind(info)
        .bind(scan)
        .execute(&mut *change)
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::jobs::QueuePoll;
    use super::super::scans::{ScanFilter, ScanTarget};
    use super::super::testing::{add_target, claim_scan, new_scan, open, two_nodes};
    use super::*;
    use scandeck_wire::contract::target_tags::TagChange;
    use scandeck_wire::contract::{ScanStatus, Target};

    fn after(hours: i64) -> Timestamp {
        let start: Timestamp = "2026-11-29T00:00:00Z".parse().unwrap();
        start + SignedDuration::from_hours(hours)
    }

    fn times(done: i64, next: i64) -> StartTimes {
        StartTimes {
            done: after(done),
            next: after(next),
        }
    }

    fn new_schedule(targets: Option<Vec<TargetId>>) -> ScheduleToAdd {
        ScheduleToAdd {
            workspace: WorkspaceId(1),
            name: "web".to_owned(),
            recurrence: Recurrence {
                first: "2026-11-29T01:00".parse().unwrap(),
                every: "1h".parse().unwrap(),
                window: SignedDuration::from_hours(6),
            },
            times: times(0, 1),
            targets,
            tag: None,
            scans: vec![new_scan(), new_scan()],
            created_by: "ci".to_owned(),
        }
    }

    async fn add(store: &Store, targets: Option<Vec<TargetId>>) -> StoredSchedule {
        let added = store.add_schedule(&new_schedule(targets), after(0)).await;
        let id = added.unwrap().unwrap();
        store.schedule(id).await.unwrap().unwrap()
    }

    /// The scans of a start of these targets.
    fn starts(schedule: &StoredSchedule, targets: &[TargetId]) -> Vec<TargetStart> {
        let start = |target: &TargetId| TargetStart {
            target: *target,
            scans: schedule.scans.clone(),
        };
        targets.iter().map(start).collect()
    }

    async fn start(
        store: &Store,
        schedule: &StoredSchedule,
        hour: i64,
        targets: &[TargetId],
    ) -> Option<QueuedStart> {
        let starts = starts(schedule, targets);
        let times = times(hour, hour + 1);
        let words = |queued: &QueuedStart| format!("{} scans", queued.scans);
        let started = store.start_schedule(schedule, times, &starts, after(hour), words);
        started.await.unwrap()
    }

    #[tokio::test]
    async fn schedule_is_stored_with_its_targets_and_scans() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let target = add_target(&store, WorkspaceId(1), "a").await;
        let stored = add(&store, Some(vec![target])).await;
        let new = new_schedule(None);
        assert_eq!(
            (stored.recurrence, stored.times, stored.name.as_str()),
            (new.recurrence, new.times, "web")
        );
        assert_eq!(
            (stored.targets.as_deref(), stored.scans.len()),
            (Some(&[target][..]), 2)
        );
        assert_eq!(store.next_schedule_at().await.unwrap(), Some(after(1)));
        let all = add(&store, None).await;
        let other = add_target(&store, WorkspaceId(1), "b").await;
        let ids = async |schedule| -> Vec<TargetId> {
            let targets = store.targets_of_schedule(schedule).await.unwrap();
            targets.into_iter().map(|target| target.id).collect()
        };
        assert_eq!(ids(&stored).await, [target]);
        assert_eq!(ids(&all).await, [target, other]);
        assert_eq!(
            store.schedules(Some(WorkspaceId(2))).await.unwrap().len(),
            0
        );
        assert_eq!(store.schedules(None).await.unwrap().len(), 2);
        assert!(store.delete_schedule(stored.id).await.unwrap());
        assert!(!store.delete_schedule(stored.id).await.unwrap());
    }

    #[tokio::test]
    async fn schedule_of_a_tag_scans_the_targets_that_have_it_now() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let a = add_target(&store, WorkspaceId(1), "a").await;
        let b = add_target(&store, WorkspaceId(1), "b").await;
        let new = ScheduleToAdd {
            tag: Some("prod".into()),
            ..new_schedule(None)
        };
        let id = store.add_schedule(&new, after(0)).await.unwrap().unwrap();
        let schedule = store.schedule(id).await.unwrap().unwrap();
        assert_eq!((&schedule.tag, &schedule.targets), (&new.tag, &None));
        let of_all: i64 = sql("SELECT count(*) FROM schedules WHERE all_targets = true")
            .one(store.read())
            .await
            .unwrap();
        assert_eq!(of_all, 0, "an older program would scan all targets");
        let ids = async || -> Vec<TargetId> {
            let targets = store.targets_of_schedule(&schedule).await.unwrap();
            targets.into_iter().map(|target| target.id).collect()
        };
        assert_eq!(ids().await, []);
        for (target, words, tagged) in [
            (a, "prod", vec![a]),
            (b, "production", vec![a]),
            (b, "prod", vec![a, b]),
            (a, "-prod", vec![b]),
        ] {
            let change = TagChange::parse([words]).unwrap();
            store.change_target_tags(target, &change).await.unwrap();
            assert_eq!(ids().await, tagged, "{words}");
        }
    }

    #[tokio::test]
    async fn target_of_another_workspace_and_unknown_workspace_are_refused() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let missing = TargetId(9);
        let unknown = new_schedule(Some(vec![missing]));
        let refused = store.add_schedule(&unknown, after(0));
        let refused = refused.await.unwrap().unwrap_err();
        assert_eq!(refused, ScheduleRefusal::NoTarget(missing));
        let elsewhere = ScheduleToAdd {
            workspace: WorkspaceId(9),
            ..new_schedule(None)
        };
        let refused = store.add_schedule(&elsewhere, after(0)).await.unwrap();
        assert_eq!(refused.unwrap_err(), ScheduleRefusal::NoWorkspace);
        assert!(store.schedules(None).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn due_start_is_claimed_by_one_process() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = two_nodes(temp.path()).await;
        let target = add_target(&one, WorkspaceId(1), "a").await;
        let schedule = add(&one, Some(vec![target])).await;
        assert!(one.due_schedules(after(0)).await.unwrap().is_empty());
        let due = other.due_schedules(after(1)).await.unwrap();
        assert_eq!(due.len(), 1);
        let started = start(&one, &schedule, 1, &[target]).await;
        assert_eq!(started, Some(QueuedStart { scans: 2, busy: 0 }));
        assert_eq!(start(&other, &due[0], 1, &[target]).await, None);
        let moved = other.move_schedule(&due[0], times(1, 2), Some("skipped"));
        assert!(!moved.await.unwrap());
        assert_eq!(one.active_scans().await.unwrap(), 2);
        let stored = one.schedule(schedule.id).await.unwrap().unwrap();
        assert_eq!(
            (
                stored.starts,
                stored.last_start,
                stored.last_result.as_str()
            ),
            (1, Some(after(1)), "2 scans")
        );
        let filter = ScanFilter {
            limit: 9,
            ..ScanFilter::default()
        };
        let waiting = one.scans(&filter, after(1)).await.unwrap();
        claim_scan(&one, after(1)).await.unwrap();
        let running = one.scans(&filter, after(1)).await.unwrap();
        for scan in waiting.iter().chain(&running) {
            assert_eq!(&*scan.info_text_lines[0], "started by schedule 1 (web)");
        }
    }

    #[tokio::test]
    async fn scan_of_a_schedule_and_a_place_has_the_notes_of_both() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let target = add_target(&store, WorkspaceId(1), "a").await;
        let schedule = add(&store, None).await;
        let placed = ScanToAdd {
            place: Some("office".to_owned()),
            ..new_scan()
        };
        let due = [TargetStart {
            target,
            scans: vec![placed],
        }];
        let words = |_: &QueuedStart| String::new();
        let started = store.start_schedule(&schedule, times(1, 2), &due, after(1), words);
        started.await.unwrap().unwrap();
        let filter = ScanFilter {
            limit: 9,
            ..ScanFilter::default()
        };
        let scans = store.scans(&filter, after(1)).await.unwrap();
        assert_eq!(scans[0].place(), Some("office"));
        assert_eq!(&*scans[0].info_text_lines[1], "started by schedule 1 (web)");
    }

    #[tokio::test]
    async fn scheduled_scans_of_one_target_run_one_after_the_other() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = two_nodes(temp.path()).await;
        let (a, b) = (
            add_target(&one, WorkspaceId(1), "a").await,
            add_target(&one, WorkspaceId(1), "b").await,
        );
        let schedule = add(&one, None).await;
        start(&one, &schedule, 1, &[a, b]).await.unwrap();
        let first = claim_scan(&one, after(1)).await.unwrap();
        let second = claim_scan(&other, after(1)).await.unwrap();
        assert_eq!(
            (first.job.target.as_str(), second.job.target.as_str()),
            ("a", "b")
        );
        assert!(
            claim_scan(&other, after(1)).await.is_some(),
            "its own lost scan"
        );
        let running = [first.attempt.scan];
        let blocked = one.claim(&running, after(1)).await.unwrap();
        assert!(matches!(blocked, QueuePoll::Empty), "{blocked:?}");
        let manual = one
            .add_scan(ScanTarget::Existing(a), &new_scan(), after(1))
            .await;
        manual.unwrap().unwrap();
        let manual = one.claim(&running, after(1)).await.unwrap();
        let QueuePoll::Claimed(manual) = manual else {
            panic!("other scans are not delayed: {manual:?}")
        };
        let done = ScanStatus::Finished;
        for attempt in [&first.attempt, &manual.attempt] {
            one.finish(attempt, &done, "", after(1)).await.unwrap();
        }
        let next = claim_scan(&one, after(1)).await.unwrap();
        assert_eq!(next.job.target, "a");
    }

    #[tokio::test]
    async fn target_that_is_still_scanned_is_left_out() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let (a, b) = (
            add_target(&store, WorkspaceId(1), "a").await,
            add_target(&store, WorkspaceId(1), "b").await,
        );
        let schedule = add(&store, None).await;
        start(&store, &schedule, 1, &[a]).await.unwrap();
        let again = store.schedule(schedule.id).await.unwrap().unwrap();
        let started = start(&store, &again, 2, &[a, b]).await;
        assert_eq!(started, Some(QueuedStart { scans: 2, busy: 1 }));
    }

    #[tokio::test]
    async fn paused_schedule_is_not_due_until_it_is_resumed() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let schedule = add(&store, None).await;
        assert!(store.pause_schedule(schedule.id).await.unwrap());
        assert!(store.due_schedules(after(9)).await.unwrap().is_empty());
        assert_eq!(store.next_schedule_at().await.unwrap(), None);
        assert_eq!(start(&store, &schedule, 1, &[]).await, None);
        let resumed = times(9, 10);
        store.resume_schedule(schedule.id, resumed).await.unwrap();
        let stored = store.schedule(schedule.id).await.unwrap().unwrap();
        assert_eq!((stored.times, stored.is_paused), (resumed, false));
        store
            .resume_schedule(schedule.id, times(1, 2))
            .await
            .unwrap();
        let stored = store.schedule(schedule.id).await.unwrap().unwrap();
        assert_eq!(stored.times, resumed, "it was not paused");
        assert_eq!(
            store.due_schedules(after(1)).await.unwrap().len(),
            1,
            "set back"
        );
    }

    #[tokio::test]
    async fn schedules_end_with_their_workspace_and_scans_outlive_their_schedule() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let target = add_target(&store, WorkspaceId(1), "a").await;
        let schedule = add(&store, Some(vec![target])).await;
        start(&store, &schedule, 1, &[target]).await.unwrap();
        assert!(store.delete_schedule(schedule.id).await.unwrap());
        assert_eq!(store.active_scans().await.unwrap(), 2);
        let kept = add(&store, Some(vec![target])).await;
        let found: Option<Target> = store.target(target).await.unwrap();
        assert!(found.is_some());
        let delete = sql("DELETE FROM targets WHERE id = $1").bind(target.0);
        store.execute(delete).await.unwrap();
        let without = store.schedule(kept.id).await.unwrap().unwrap();
        assert_eq!(without.targets, Some(Vec::new()));
        let workspace = WorkspaceId(1);
        assert!(store.delete_workspace(workspace).await.unwrap());
        assert!(store.schedules(None).await.unwrap().is_empty());
    }
}
