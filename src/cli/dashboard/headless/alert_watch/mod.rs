//! `scandeck watch`: alerts about findings, scans, decisions and captures, without a dashboard; and
//! the schedules of the configuration.
//!
//! ```text
//!   every minute: --schedules ─► ScheduleWatch ─► scans
//!                 lists, decisions of the team ─► AlertSource, rules ─┐
//!                 new captures ─► CaptureWatch ───────────────────────┴► AlertSender ─► program, webhooks, terminal, a line
//! ```
//!
//! Events of the quiet time, and those that were not delivered, are found again by a later look.
//! What a dashboard has sent is not sent again, and the reverse.

mod captures;
mod schedules;
mod sender;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use self::captures::CaptureWatch;
use self::schedules::ScheduleWatch;
use self::sender::AlertSender;
use super::rows::FindingRows;
use super::{HeadlessSession, ServiceArgs, sync};
use crate::cli::error::CliError;
use scandeck_client::Error;
use scandeck_dashboard::base::Alert;
use scandeck_dashboard::config::AlertPlan;
use scandeck_dashboard::runtime::alert_outbox::{begin, service_now};
use scandeck_domain::alerts::AlertRoutes;
use scandeck_domain::query::value::span;
use scandeck_wire::contract::Shared;
use scandeck_wire::sqlite::StoreError;
use scandeck_wire::text;

/// Shortest time between two looks: a look reads all lists.
const MOST_OFTEN: u64 = 5;

#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  scandeck watch --profile prod --every 5m
  scandeck watch --once   # for cron
  scandeck watch --profile prod --schedules")]
pub struct AlertWatchArgs {
    /// Time between two looks at the service: 30s, 5m, 1h, …
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = interval)]
    every: Duration,
    /// Look once and exit
    #[arg(long)]
    once: bool,
    /// Also start the schedules of the configuration, at a service that has no schedules itself
    #[arg(long)]
    schedules: bool,
    #[command(flatten)]
    service: ServiceArgs,
}

/// Sends alerts, and starts schedules, until the command is stopped.
///
/// # Errors
/// When there is no rule and no schedule, the service rejects the key, and with `--once` every
/// error.
pub async fn run(args: AlertWatchArgs) -> anyhow::Result<ExitCode> {
    let session = HeadlessSession::open(&args.service).await?;
    let plan = AlertPlan::clone(&session.config.screen.alerts);
    let schedules = match args.schedules {
        true => Some(ScheduleWatch::of(&session)?),
        false => None,
    };
    if plan.rules.is_empty() && schedules.is_none() {
        let hint = "add [alerts.rules.NAME] to the configuration, or remove default_rules = false";
        return Err(CliError::new("there are no alert rules", hint).into());
    }
    let mut captures = CaptureWatch::open(&session).await?;
    let mut is_reported = false;
    loop {
        let looked = look(&session, &plan, schedules, &mut captures).await;
        if args.once {
            return looked.map(|is_delivered| match is_delivered {
                true => ExitCode::SUCCESS,
                false => ExitCode::FAILURE,
            });
        }
        match looked {
            Ok(_) => is_reported = false,
            Err(error) if is_temporary(&error) => {
                // One line for each time that the service is away.
                if !std::mem::replace(&mut is_reported, true) {
                    let cause = format!("{error:#}");
                    note!("scandeck: {} (retrying)", text::clean(&cause));
                }
            }
            Err(error) => return Err(error),
        }
        tokio::time::sleep(args.every).await;
    }
}

/// Whether the service or a file may be usable at the next look.
fn is_temporary(error: &anyhow::Error) -> bool {
    let of_service = error.downcast_ref::<Error>();
    let of_file = error.downcast_ref::<StoreError>();
    of_service.is_some_and(Error::is_transient) || of_file.is_some_and(StoreError::is_temporary)
}

/// Looks once, starts what is due and sends what is new; returns whether every channel took it.
async fn look(
    session: &HeadlessSession,
    plan: &AlertPlan,
    schedules: Option<ScheduleWatch<'_>>,
    captures: &mut CaptureWatch<'_>,
) -> anyhow::Result<bool> {
    // Without the service, the lists of a bundle would be read: they are no news.
    session.workspaces().await?;
    let clock_offset = session.clock_offset().unwrap_or(0);
    let owed = begin(&session.memory.directory, clock_offset).await?;
    if let Some(schedules) = schedules {
        schedules.look().await?;
    }
    let own_names = own_names(session).await?;
    sync::receive(session).await?;
    let rows = FindingRows::load(session).await?;
    let now = service_now(clock_offset);
    let alerts = rows
        .alert_source(own_names, now, owed)
        .alerts(&plan.rules, |_, _| false);
    let sender = AlertSender {
        session,
        plan,
        clock_offset,
    };
    let mut is_delivered = true;
    for alert in &alerts {
        let about = |keys: &BTreeSet<String>| {
            Alert::of_events(&alert.clone().only(keys), AlertRoutes::default())
        };
        let sent = sender
            .send(&alert.rule.routes, &alert.claim(), about)
            .await?;
        is_delivered &= sent.is_delivered;
    }
    is_delivered &= captures.look(&sender, now).await?;
    Ok(is_delivered)
}

/// The user's names: of this machine, and of the key in a team.
async fn own_names(session: &HeadlessSession) -> anyhow::Result<Vec<Shared>> {
    let mut names = BTreeSet::from([Shared::from(session.memory.who.as_str())]);
    names.extend(session.member().await?.map(|member| member.name));
    Ok(names.into_iter().filter(|name| !name.is_empty()).collect())
}

fn interval(text: &str) -> Result<Duration, String> {
    let seconds = span(text).and_then(|seconds| u64::try_from(seconds).ok());
    match seconds {
        Some(seconds) if seconds >= MOST_OFTEN => Ok(Duration::from_secs(seconds)),
        Some(_) => Err(format!("use {MOST_OFTEN}s or more")),
        None => Err("use 30s, 5m, 1h or 1h30m".to_owned()),
    }
}
