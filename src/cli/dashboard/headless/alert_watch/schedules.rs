//! Schedules of the configuration, which `scandeck watch --schedules` starts at a service that has
//! none itself.
//!
//! ```text
//!   due? ─► targets ─► one scan for each target and tool ─► queue, in a file
//!   queue ─► no scan of the target waits or runs? ─► POST /scans
//! ```
//!
//! The queue outlives the command, so two scans of a target never run at the same time.

use std::collections::BTreeSet;

use jiff::{Timestamp, Zoned};

use super::HeadlessSession;
use crate::cli::dashboard::headless::start::{LIST_SCANS, is_about_scan};
use crate::cli::dashboard::headless::target_choice::ChosenTarget;
use crate::cli::error::CliError;
use scandeck_client::{Client, Error, ErrorKind, ScanQuery, TargetQuery};
use scandeck_dashboard::config::WatchedSchedule;
use scandeck_domain::alerts::{ScheduleStarts, WaitingScan};
use scandeck_domain::triage::identity::asset;
use scandeck_wire::contract::{NewScan, ScanStatus, Target, TargetId, Tool, WorkspaceId};
use scandeck_wire::recurrence::{DueStart, window_text};
use scandeck_wire::text::{clean_for_print, plural};

/// The schedules for the service of a command.
#[derive(Clone, Copy, Debug)]
pub struct ScheduleWatch<'a> {
    session: &'a HeadlessSession,
    schedules: &'a [WatchedSchedule],
}

impl<'a> ScheduleWatch<'a> {
    /// The schedules of the configuration.
    ///
    /// # Errors
    /// When there is none, one is for all targets of a workspace that is not named, or the profile
    /// is read-only.
    pub fn of(session: &'a HeadlessSession) -> Result<Self, CliError> {
        session.require_writable()?;
        let schedules = session.config.schedules.as_slice();
        if schedules.is_empty() {
            let hint = "add [schedules.NAME] to the configuration file";
            return Err(CliError::new(
                "there are no schedules for this service",
                hint,
            ));
        }
        let of_all = schedules.iter().find(|one| one.targets.is_empty());
        if let Some(one) = of_all.filter(|_| !session.names_workspace()) {
            let message = format!("schedule {} is for all targets of a workspace", one.name);
            let hint = "add --workspace NAME, or targets to the schedule";
            return Err(CliError::usage(message, hint));
        }
        Ok(Self { session, schedules })
    }

    /// Starts the schedules that are due, and the scans whose targets are free. The workspaces of
    /// the service were listed before.
    ///
    /// # Errors
    /// When the service has schedules itself, and those of the service and the file of starts.
    pub async fn look(&self) -> anyhow::Result<()> {
        let client = self.session.client()?;
        if client.has_team() {
            let message = format!("the service at {} starts schedules itself", client.base());
            let hint = "`scandeck schedules add` adds a schedule there";
            return Err(CliError::new(message, hint).into());
        }
        let now = Zoned::now();
        let directory = &self.session.memory.directory;
        let Some(mut starts) = ScheduleStarts::open(directory, now.timestamp()).await? else {
            return Ok(());
        };
        let done = self.step(client, &mut starts, &now).await;
        starts.close().await;
        done
    }

    async fn step(
        &self,
        client: &Client,
        starts: &mut ScheduleStarts,
        now: &Zoned,
    ) -> anyhow::Result<()> {
        for schedule in self.schedules {
            self.start_if_due(client, starts, schedule, now).await?;
        }
        self.start_queued(client, starts).await
    }

    async fn start_if_due(
        &self,
        client: &Client,
        starts: &mut ScheduleStarts,
        schedule: &WatchedSchedule,
        now: &Zoned,
    ) -> anyhow::Result<()> {
        let name = &schedule.name;
        let known = starts.known(name, schedule.rule, now).await?;
        let zone = now.time_zone();
        let (due, times) = known.recurrence.due(known.done, now.timestamp(), zone);
        match due {
            DueStart::Wait if times.done == known.done => {}
            // The clock was set back.
            DueStart::Wait => _ = starts.start(name, &known, times.done, &[]).await?,
            DueStart::Skip { due: missed } => {
                starts.start(name, &known, times.done, &[]).await?;
                let missed = missed.to_zoned(zone.clone());
                let start = missed.strftime("%Y-%m-%d %H:%M");
                let window = window_text(schedule.rule.window);
                note!(
                    "scandeck: schedule {name} skipped the start of {start}: more than {window} late"
                );
            }
            DueStart::Start { missed, .. } => {
                let scans = self.scans_of(client, schedule).await?;
                let queued = starts.start(name, &known, times.done, &scans).await?;
                let made_up = match usize::try_from(missed).unwrap_or(0) {
                    0 => String::new(),
                    count => format!("; {} missed before", plural(count, "start")),
                };
                note!(
                    "scandeck: schedule {name}: {} due{made_up}",
                    plural(queued, "scan")
                );
            }
        }
        Ok(())
    }

    /// The scans of a start. Targets that do not exist are reported.
    async fn scans_of(
        &self,
        client: &Client,
        schedule: &WatchedSchedule,
    ) -> anyhow::Result<Vec<NewScan>> {
        let WatchedSchedule { name, targets, .. } = schedule;
        let workspace_id = self.session.workspace_id().await?;
        let query = TargetQuery {
            workspace_id,
            ..TargetQuery::default()
        };
        let mut all = client.list_all_targets(&query).await?;
        let is_called = |target: &Target, text: &str| {
            *target.name == *text || asset(&target.name) == asset(text)
        };
        for text in targets {
            if !all.iter().any(|target| is_called(target, text)) {
                note!("scandeck: schedule {name}: target {text:?} not found");
            }
        }
        let is_meant = |target: &Target| targets.iter().any(|text| is_called(target, text));
        all.retain(|target| targets.is_empty() || is_meant(target));
        let chosen = all
            .into_iter()
            .map(|target| ChosenTarget::of(target, workspace_id));
        let scans_of_target = |target: ChosenTarget| -> Vec<NewScan> {
            let scans = schedule.scans.iter();
            scans.map(|scan| target.scan(scan)).collect()
        };
        Ok(chosen.flat_map(scans_of_target).collect())
    }

    /// Starts one waiting scan of each target without an active one.
    async fn start_queued(
        &self,
        client: &Client,
        starts: &mut ScheduleStarts,
    ) -> anyhow::Result<()> {
        let queued = starts.queued().await?;
        let workspaces = queued.iter().map(|one| one.scan.workspace_id).collect();
        let mut busy = BusyTargets::of(client, workspaces).await?;
        for one in queued {
            let is_configured = |schedule: &WatchedSchedule| schedule.name == one.schedule;
            if !self.schedules.iter().any(is_configured) {
                starts.take(&one, Timestamp::now()).await?;
                continue;
            }
            if !busy.has(&one) && start_one(client, starts, &one).await? {
                busy.targets.insert(one.target);
            }
        }
        Ok(())
    }
}

/// Where no scan may be started now.
#[derive(Default)]
struct BusyTargets {
    /// Those with a scan that waits or runs.
    targets: BTreeSet<TargetId>,
    /// Workspaces whose scans the service does not list.
    refused: BTreeSet<Option<WorkspaceId>>,
}

impl BusyTargets {
    async fn of(
        client: &Client,
        workspaces: BTreeSet<Option<WorkspaceId>>,
    ) -> anyhow::Result<Self> {
        let mut busy = Self::default();
        for workspace_id in workspaces {
            match active_targets(client, workspace_id).await {
                Ok(active) => busy.targets.extend(active),
                Err(error) if matches!(error.kind, ErrorKind::Forbidden | ErrorKind::NotFound) => {
                    let cause = error.to_string();
                    note!(
                        "scandeck: scans of schedules wait: {}",
                        clean_for_print(&cause)
                    );
                    busy.refused.insert(workspace_id);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(busy)
    }

    fn has(&self, queued: &WaitingScan) -> bool {
        self.targets.contains(&queued.target) || self.refused.contains(&queued.scan.workspace_id)
    }
}

/// The targets of a workspace with a scan that waits or runs.
async fn active_targets(
    client: &Client,
    workspace_id: Option<WorkspaceId>,
) -> Result<BTreeSet<TargetId>, Error> {
    let mut active = BTreeSet::new();
    for status in [ScanStatus::Waiting, ScanStatus::Running] {
        let query = ScanQuery {
            workspace_id,
            status: Some(status),
            ..ScanQuery::default()
        };
        let scans = client.list_all_scans(&query).await?;
        active.extend(scans.into_iter().map(|scan| scan.target_id));
    }
    Ok(active)
}

/// Starts a waiting scan; returns whether its target has an active scan now. A scan that the
/// service refuses is not tried again.
///
/// # Errors
/// When the service cannot be reached; then the scan waits for the next look.
async fn start_one(
    client: &Client,
    starts: &mut ScheduleStarts,
    queued: &WaitingScan,
) -> anyhow::Result<bool> {
    if !starts.take(queued, Timestamp::now()).await? {
        // Another process starts it.
        return Ok(true);
    }
    let WaitingScan {
        schedule,
        target,
        scan,
        ..
    } = queued;
    let words = format!("{} of target {target}", Tool(scan.tool_id).scan());
    match client.create_scan(scan).await {
        Ok(_) => note!("scandeck: schedule {schedule}: {words} started"),
        Err(error) if error.is_outcome_unknown() => {
            note!("scandeck: schedule {schedule}: outcome of {words} unknown; {LIST_SCANS}");
        }
        Err(error) if is_about_scan(&error) => {
            let cause = error.to_string();
            note!(
                "scandeck: schedule {schedule}: {words} not started: {}",
                clean_for_print(&cause)
            );
            return Ok(false);
        }
        Err(error) => {
            starts.put_back(queued).await?;
            return Err(error.into());
        }
    }
    Ok(true)
}
