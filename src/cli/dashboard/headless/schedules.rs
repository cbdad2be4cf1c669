//! `scandeck schedules`: list, show, add, pause, resume, delete.
//!
//! ```text
//!   lists of workspaces ─► service of scandeck? ─no─► error: schedules need the local service
//!                                └─yes─► scan profile and targets ─► POST /scandeck/v1/schedules
//! ```
//!
//! The service stores the tools and parameters of the scan profile: later changes of the
//! configuration file do not change a schedule.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::target_choice::TargetChoice;
use super::{HeadlessSession, PrintTable, ServiceArgs, listed, of_earlier_version};
use crate::cli::error::CliError;
use scandeck_dashboard::config::scan_profiles;
use scandeck_domain::table::columns::schedule;
use scandeck_wire::contract::schedule::{NewSchedule, ScanSchedule};
use scandeck_wire::contract::{NewTarget, ScheduleId, TargetId, WorkspaceId};
use scandeck_wire::text::clean_for_print;

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck schedules add --scan-profile web --all-targets --workspace \"Acme external\" --every 1w --at 02:00")]
pub struct SchedulesArgs {
    #[command(flatten)]
    service: ServiceArgs,
    #[command(subcommand)]
    command: SchedulesCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum SchedulesCommand {
    /// List the schedules of the service, with their last and next start
    #[command(after_help = "Example:\n  scandeck schedules list --json")]
    List,
    /// Show one schedule
    #[command(after_help = "Example:\n  scandeck schedules show 2")]
    Show {
        /// Schedule id
        id: ScheduleId,
    },
    /// Add a schedule and print its id
    Add(AddArgs),
    /// Pause schedules: they start nothing until they are resumed
    #[command(after_help = "Example:\n  scandeck schedules pause 2")]
    Pause {
        /// Schedule ids
        #[arg(required = true)]
        ids: Vec<ScheduleId>,
    },
    /// Resume paused schedules; missed starts are not made up for
    #[command(after_help = "Example:\n  scandeck schedules resume 2")]
    Resume {
        /// Schedule ids
        #[arg(required = true)]
        ids: Vec<ScheduleId>,
    },
    /// Delete a schedule; its scans remain
    #[command(after_help = "Example:\n  scandeck schedules delete 2 --yes")]
    Delete {
        /// Schedule id
        id: ScheduleId,
        /// Confirm the deletion
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  scandeck schedules add --scan-profile web --target shop.acme.test --every 1d --at 02:00
  scandeck schedules add --scan-profile web --tag prod --every 1w --at 02:00
  scandeck schedules add --scan-profile full --all-targets --workspace Acme --every 1mo --at 22:30 --first 2026-12-31")]
struct AddArgs {
    /// Scan profile of the configuration file; the service stores its tools and parameters
    #[arg(long, value_name = "NAME")]
    scan_profile: String,
    #[command(flatten)]
    targets: TargetChoice,
    /// Time between two starts: 15min, 6h, 1d, 2w, 1mo
    #[arg(long, value_name = "INTERVAL")]
    every: String,
    /// Time of day of the starts, in the local time of the service; minutes and hours are counted
    /// from it [default: the present time, with the first start after one interval]
    #[arg(long, value_name = "HH:MM")]
    at: Option<String>,
    /// Day of the first start: weeks repeat on its weekday, months on its day of the month [default:
    /// today, or tomorrow if --at is over]
    #[arg(long, value_name = "YYYY-MM-DD", requires = "at")]
    first: Option<String>,
    /// How late a missed start may be, such as 90min, 6h or 2d; later ones are skipped [default: 6h]
    #[arg(long, value_name = "TIME")]
    window: Option<String>,
    /// Name of the schedule [default: the scan profile]
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// When the service has no schedules, and those of the service.
pub async fn run(args: SchedulesArgs) -> anyhow::Result<ExitCode> {
    let session = HeadlessSession::open(&args.service).await?;
    session.require_extension("schedules").await?;
    let done = run_on(&session, args.command).await;
    listed(
        "schedules",
        done.map_err(|error| of_earlier_version(error, "schedules")),
    )?;
    Ok(ExitCode::SUCCESS)
}

async fn run_on(session: &HeadlessSession, command: SchedulesCommand) -> anyhow::Result<()> {
    let (client, out) = (session.client()?, session.out);
    match command {
        SchedulesCommand::List => {
            let workspace = session.workspace_id().await?;
            let all = client.list_schedules(workspace).await?;
            out.list(&all, || table(&all))
        }
        SchedulesCommand::Show { id } => out.single(&client.get_schedule(id).await?),
        SchedulesCommand::Add(args) => add(session, args).await,
        SchedulesCommand::Pause { ids } => {
            session.require_writable()?;
            for id in ids {
                client.pause_schedule(id).await?;
            }
            Ok(())
        }
        SchedulesCommand::Resume { ids } => {
            session.require_writable()?;
            for id in ids {
                client.resume_schedule(id).await?;
            }
            Ok(())
        }
        SchedulesCommand::Delete { id, yes } => {
            let one = client.get_schedule(id).await?;
            let name = clean_for_print(&one.name).into_owned();
            session.confirm_delete(yes, &format!("schedule {id} ({name}, every {})", one.every))?;
            Ok(client.delete_schedule(id).await?)
        }
    }
}

async fn add(session: &HeadlessSession, args: AddArgs) -> anyhow::Result<()> {
    session.require_writable()?;
    let profiles = &session.config.screen.scan_profiles;
    let profile = scan_profiles::named(profiles, &args.scan_profile)?;
    let scans = profile.scans.clone();
    let targets = scheduled_targets(session, &args.targets).await?;
    let new = NewSchedule {
        name: args.name.unwrap_or(args.scan_profile),
        workspace_id: targets.workspace,
        every: args.every,
        at: args.at,
        first: args.first,
        window: args.window,
        target_ids: targets.ids,
        tag: args.targets.tag().cloned(),
        scans,
    };
    let created = session.client()?.create_schedule(&new).await?;
    if session.out.json {
        return session.out.value(&created);
    }
    session.out.created("created_id", created.id.0)?;
    if let Some(next) = created.next_start {
        let zone = match &*created.time_zone {
            "" => "local time of the service".to_owned(),
            zone => clean_for_print(zone).into_owned(),
        };
        let first = clean_for_print(&created.first_start).into_owned();
        note!(
            "scandeck: next start at {next} UTC, every {} from {first} ({zone})",
            created.every
        );
    }
    Ok(())
}

/// The targets of a schedule, which are in one workspace.
struct ScheduledTargets {
    workspace: Option<WorkspaceId>,
    /// None for all targets of the workspace, or those of a tag, at each start.
    ids: Option<Vec<TargetId>>,
}

async fn scheduled_targets(
    session: &HeadlessSession,
    choice: &TargetChoice,
) -> anyhow::Result<ScheduledTargets> {
    let chosen = choice.resolve(session).await?;
    let workspace = chosen.iter().find_map(|target| target.workspace);
    if choice.tag().is_some() && chosen.iter().any(|target| target.workspace != workspace) {
        let message = "targets of several workspaces have the tag";
        return Err(CliError::usage(message, "add --workspace NAME").into());
    }
    if choice.is_open() {
        let ids = None;
        return Ok(ScheduledTargets { workspace, ids });
    }
    let mut ids = Vec::new();
    for target in chosen {
        let id = match target.id {
            Some(id) => id,
            None => {
                let new = NewTarget {
                    name: target.name,
                    description: None,
                    workspace_id: workspace,
                };
                session.client()?.create_target(&new).await?
            }
        };
        ids.push(id);
    }
    let ids = Some(ids);
    Ok(ScheduledTargets { workspace, ids })
}

fn table(all: &[ScanSchedule]) -> PrintTable {
    let columns = [
        schedule::ID,
        schedule::NAME,
        schedule::EVERY,
        schedule::NEXT,
        schedule::LAST,
        schedule::STARTS,
        schedule::TARGETS,
        schedule::TOOLS,
        schedule::RESULT,
    ];
    PrintTable::of_noun(columns, all)
}
