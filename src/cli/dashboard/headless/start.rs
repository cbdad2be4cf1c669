//! `scandeck scans start`: starts scans, and waits for their end.
//!
//! ```text
//!   --tool, or the scans of --scan-profile ─┬─► each with each target ─► ids ─► --wait, gate ─► exit code
//!   --target …, --tag or --all-targets ─────┘         └─► refused: reported, the others are started
//! ```

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::gate::{self, ScanGroup};
use super::target_choice::{ChosenTarget, TargetChoice};
use super::{HeadlessSession, api, id, listed, watch};
use crate::cli::error::CliError;
use crate::cli::value::number_in;
use scandeck_client::ErrorKind;
use scandeck_dashboard::config::scan_profiles;
use scandeck_domain::query::Query;
use scandeck_wire::contract::{
    NewScan, RedirectLevel, ReportCallback, SCAN_MINUTES, ScanId, TargetId, Tool,
};
use scandeck_wire::text::clean_for_print;
use serde_json::Value;

#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  scandeck scans start --tool 170 --target shop.acme.test --params '{\"scan_type\": \"light\"}'
  scandeck scans start --scan-profile web --target shop.acme.test --target 10.0.4.7
  scandeck scans start --scan-profile web --tag prod
  scandeck scans start --scan-profile web --all-targets --workspace \"Acme external\"")]
pub struct StartArgs {
    /// Tool id, such as 170 for the Website Scanner; `scandeck tools` lists all
    #[arg(long, value_name = "ID", value_parser = id, required_unless_present = "scan_profile")]
    tool: Option<i64>,
    /// Start every scan of this scan profile; `[[scan_profiles.NAME]]` of the configuration file
    #[arg(long, value_name = "NAME", conflicts_with_all = ["tool", "params"])]
    scan_profile: Option<String>,
    #[command(flatten)]
    targets: TargetChoice,
    /// Parameters of the tool as JSON, or @FILE
    #[arg(long, value_name = "JSON|@FILE")]
    params: Option<String>,
    /// Time limit of each scan
    #[arg(long, value_name = "MINUTES", value_parser = |text: &str| number_in(SCAN_MINUTES, text))]
    max_scan_time: Option<i64>,
    /// Redirects to follow: none, check_accessibility, same_host, same_domain, allow_all [default:
    /// same_domain]
    #[arg(long, value_name = "LEVEL", value_parser = RedirectLevel::known)]
    redirect_level: Option<RedirectLevel>,
    /// Scan the URL as given, even if it redirects
    #[arg(long)]
    scan_original_url: bool,
    /// Place whose workers run the scan, or VPN profile; `none`: the service itself
    #[arg(long, value_name = "NAME|UUID")]
    vpn_profile: Option<String>,
    /// URL that receives the report when a scan ends. The service makes it, without decisions; on
    /// your own service `scandeck serve --report-template` sets its texts and options
    #[arg(long, value_name = "URL")]
    callback_url: Option<String>,
    /// Format of the report for --callback-url
    #[arg(long, value_name = "FORMAT", requires = "callback_url")]
    callback_format: Option<String>,
    /// Wait until the scans have ended; exit code 4 unless all have the status finished
    #[arg(long)]
    wait: bool,
    /// Wait; exit code 3 when a finding of these scans matches
    #[arg(long, value_name = "QUERY", value_parser = gate::parse)]
    fail_on: Option<Query>,
}

/// Starts the scans.
///
/// # Errors
/// Those of the service.
pub async fn run(session: &HeadlessSession, args: StartArgs) -> anyhow::Result<ExitCode> {
    session.require_writable()?;
    let new = new_scans(session, &args)?;
    let targets = args.targets.resolve(session).await?;
    let (wait, fail_on) = (args.wait || args.fail_on.is_some(), args.fail_on);
    if let ([one], [target]) = (&new[..], &targets[..]) {
        let id = start_one(session, &target.scan(one)).await?;
        if !wait {
            session.out.created("created_id", id.0)?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut scans = watch::until_ended(session, &[id]).await?;
        let scan = scans.pop().unwrap_or_default();
        return gate::finish(session, ScanGroup::One(id, Box::new(scan)), fail_on).await;
    }
    let started = start_each(session, &new, targets).await?;
    let ids: Vec<ScanId> = started.scans.iter().map(|scan| scan.created_id).collect();
    let code = match wait && !ids.is_empty() {
        true => {
            let scans = watch::until_ended(session, &ids).await?;
            gate::finish(session, ScanGroup::Several(scans), fail_on).await?
        }
        false => {
            started.print(session)?;
            ExitCode::SUCCESS
        }
    };
    match started.error() {
        None => Ok(code),
        Some(error) => Err(error.into()),
    }
}

/// The hint after a start whose outcome is unknown.
pub const LIST_SCANS: &str = "`scandeck scans list` shows whether it was started";

async fn start_one(session: &HeadlessSession, new: &NewScan) -> anyhow::Result<ScanId> {
    let created = match session.client()?.create_scan(new).await {
        Err(error) if error.is_outcome_unknown() => {
            let message =
                format!("outcome unknown: the service may have started the scan: {error}");
            return Err(CliError::new(message, LIST_SCANS).into());
        }
        result => listed("targets", result.map_err(Into::into))?,
    };
    let Some(id) = created.created_id else {
        let message = "scan started, but its id is unknown";
        return Err(CliError::new(message, LIST_SCANS).into());
    };
    report_ignored(session, id, new.tool_params.as_ref()).await?;
    Ok(id)
}

/// A scan that was started with others.
#[derive(Debug, Serialize)]
struct StartedScan {
    created_id: ScanId,
    tool_id: i64,
    target_id: Option<TargetId>,
    target_name: String,
}

/// The scans of several targets or tools.
#[derive(Debug, Default)]
struct StartedScans {
    scans: Vec<StartedScan>,
    refused: usize,
    /// Why the rest was not tried.
    ended: Option<EarlyEnd>,
    all: usize,
}

#[derive(Debug)]
struct EarlyEnd {
    cause: String,
    hint: String,
}

impl StartedScans {
    fn print(&self, session: &HeadlessSession) -> anyhow::Result<()> {
        if session.out.json {
            return session.out.value(&self.scans);
        }
        for scan in &self.scans {
            session.out.created("created_id", scan.created_id.0)?;
        }
        Ok(())
    }

    fn error(&self) -> Option<CliError> {
        if let Some(EarlyEnd { cause, hint }) = &self.ended {
            let message = format!(
                "ended after {} of {} scans: {cause}",
                self.scans.len(),
                self.all
            );
            return Some(CliError::new(message, hint.as_str()));
        }
        (self.refused > 0).then(|| {
            let message = format!("{} of {} scans not started", self.refused, self.all);
            CliError::new(message, "remove the causes, and start these scans again")
        })
    }
}

/// Starts each scan of each target. A refusal of one scan is reported; another error ends the rest.
async fn start_each(
    session: &HeadlessSession,
    new: &[NewScan],
    targets: Vec<ChosenTarget>,
) -> anyhow::Result<StartedScans> {
    let client = session.client()?;
    let mut started = StartedScans {
        all: new.len() * targets.len(),
        ..StartedScans::default()
    };
    for mut target in targets {
        for scan in new {
            let scan = target.scan(scan);
            let created = match client.create_scan(&scan).await {
                Ok(created) => created,
                Err(error) if is_about_scan(&error) => {
                    started.refused += 1;
                    note!(
                        "scandeck: {} of {} not started: {}",
                        Tool(scan.tool_id).scan(),
                        clean_for_print(&target.name),
                        clean_for_print(&error.to_string())
                    );
                    continue;
                }
                Err(error) => {
                    let hint = match error.is_outcome_unknown() {
                        true => LIST_SCANS.to_owned(),
                        false => error.hint(),
                    };
                    let cause = error.to_string();
                    started.ended = Some(EarlyEnd { cause, hint });
                    return Ok(started);
                }
            };
            // The first scan of a new name adds the target.
            target.id = target.id.or(created.target_id);
            let Some(id) = created.created_id else {
                let cause = "scan started, but its id is unknown".to_owned();
                let hint = LIST_SCANS.to_owned();
                started.ended = Some(EarlyEnd { cause, hint });
                return Ok(started);
            };
            if started.scans.len() < new.len() {
                report_ignored(session, id, scan.tool_params.as_ref()).await?;
            }
            started.scans.push(StartedScan {
                created_id: id,
                tool_id: scan.tool_id,
                target_id: target.id,
                target_name: target.name.clone(),
            });
        }
    }
    Ok(started)
}

/// Whether the service refused this scan, and may accept another.
pub fn is_about_scan(error: &scandeck_client::Error) -> bool {
    matches!(
        error.kind,
        ErrorKind::Forbidden | ErrorKind::NotFound | ErrorKind::Conflict | ErrorKind::Invalid
    )
}

/// Reports parameters that the service did not take over: a mistyped name would otherwise look like
/// a setting of the scan.
async fn report_ignored(
    session: &HeadlessSession,
    id: ScanId,
    given: Option<&Value>,
) -> anyhow::Result<()> {
    let Some(given) = given
        .and_then(Value::as_object)
        .filter(|given| !given.is_empty())
    else {
        return Ok(());
    };
    // A scan that cannot be read back was started all the same.
    let Ok(scan) = session.client()?.get_scan(id).await else {
        return Ok(());
    };
    let Some(stored) = scan.tool_params.as_ref().and_then(Value::as_object) else {
        return Ok(());
    };
    let is_ignored = |name: &&String| !stored.contains_key(*name) && !given[*name].is_null();
    for name in given.keys().filter(is_ignored) {
        note!(
            "scandeck: the service ignored the parameter `{}`; `scandeck scans show {id} --json` lists those in use",
            clean_for_print(name)
        );
    }
    Ok(())
}

/// The scans that each target gets.
fn new_scans(session: &HeadlessSession, args: &StartArgs) -> anyhow::Result<Vec<NewScan>> {
    let tool_params = args
        .params
        .as_deref()
        .map(|params| api::json("--params", params))
        .transpose()?;
    let of_tool = args.tool.map(|tool_id| NewScan {
        tool_id,
        tool_params,
        ..NewScan::default()
    });
    let mut scans: Vec<NewScan> = of_tool.into_iter().collect();
    if let Some(name) = &args.scan_profile {
        let profiles = &session.config.screen.scan_profiles;
        scans = scan_profiles::named(profiles, name)?.scans.clone();
    }
    for scan in &mut scans {
        let vpn = args.vpn_profile.clone();
        scan.vpn_profile_uuid = vpn.map(|uuid| Some(uuid).filter(|uuid| uuid != "none"));
        scan.max_scan_time = args.max_scan_time.or(scan.max_scan_time);
        scan.report_callback = args.callback_url.clone().map(|url| ReportCallback {
            url,
            format: args.callback_format.clone(),
        });
        let is_original = args.scan_original_url.then_some(true);
        scan.scan_original_url = is_original.or(scan.scan_original_url);
        let level = scan.redirect_level.take();
        scan.redirect_level = args.redirect_level.clone().or(level);
    }
    Ok(scans)
}
