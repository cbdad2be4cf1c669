//! `scandeck scans start`: starts a scan, waits for its end, and fails a build for what it found.

use std::process::ExitCode;

use clap::Args;

use super::findings::table;
use super::rows::FindingRows;
use super::{HeadlessSession, api, exit, scans, targets, watch};
use crate::cli::advised::Advised;
use crate::contract::{NewScan, RedirectLevel, ReportCallback, SCAN_MINUTES, Scan, ScanId, ScanStatus, TargetId, Tool};
use crate::query::Query;

/// Options of `scandeck scans start`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck scans start --tool 170 --target https://shop.acme.test --params '{\"scan_type\": \"light\"}' \\
    --fail-on 'risk>=high is:undecided'

With --wait or --fail-on nothing is printed before the end: then the scan, and what --fail-on found.")]
pub struct StartArgs {
    /// Id of the tool: 70 ports, 170 website, 450 TLS; others as the service has them
    #[arg(long, value_name = "ID")]
    tool: i64,
    /// Target by name or id; a name that is not there yet is added by the service
    #[arg(long, value_name = "NAME|ID")]
    target: String,
    /// Parameters of the tool: JSON, or @FILE with it
    #[arg(long, value_name = "JSON|@FILE")]
    params: Option<String>,
    /// Longest it may take
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(i64).range(SCAN_MINUTES))]
    max_scan_time: Option<i64>,
    /// none, check_accessibility, same_host, same_domain, allow_all
    #[arg(long, value_name = "LEVEL", value_parser = |text: &str| RedirectLevel::known(text)
          .ok_or("none, check_accessibility, same_host, same_domain or allow_all"))]
    redirect_level: Option<RedirectLevel>,
    /// Scan the URL as given even if it redirects
    #[arg(long)]
    scan_original_url: bool,
    /// VPN profile; `none` for no VPN
    #[arg(long, value_name = "UUID")]
    vpn_profile: Option<String>,
    /// Where the service sends a report when the scan has ended
    #[arg(long, value_name = "URL")]
    callback_url: Option<String>,
    /// In this format
    #[arg(long, value_name = "FORMAT", requires = "callback_url")]
    callback_format: Option<String>,
    /// Wait for its end; ends with 4 when it did not finish
    #[arg(long)]
    wait: bool,
    /// Wait, and end with 3 when a finding of this scan matches the query
    #[arg(long, value_name = "QUERY", value_parser = super::rows::query)]
    fail_on: Option<Query>,
}

/// Starts the scan.
///
/// # Errors
/// What the service refuses.
pub async fn run(session: &HeadlessSession, args: StartArgs) -> anyhow::Result<ExitCode> {
    session.may_change()?;
    let (wait, fail_on) = (args.wait, args.fail_on.clone());
    let new = new(session, args).await?;
    let created = session.client()?.create_scan(&new).await?;
    let Some(id) = created.created_id else {
        let hint = "`scandeck scans list` shows what runs";
        return Err(Advised::new("the scan was started, but the service does not tell its id", hint).into());
    };
    if !wait && fail_on.is_none() {
        session.out.created("created_id", id.0)?;
        return Ok(ExitCode::SUCCESS);
    }
    let scan = watch::until_ended(session, &[id]).await?.pop().unwrap_or_default();
    finish(session, id, scan, fail_on).await
}

async fn finish(session: &HeadlessSession, id: ScanId, scan: Scan, fail_on: Option<Query>) -> anyhow::Result<ExitCode> {
    let found = match &fail_on {
        Some(query) => {
            let mut rows = FindingRows::load_one(session, scan.workspace_id).await?;
            rows.only_of(id);
            rows.that(query)
        }
        None => Vec::new(),
    };
    if session.out.json {
        let mut value = serde_json::to_value(scans::NamedScan::new(&scan, None))?;
        if fail_on.is_some() {
            value["matched"] = found.iter().map(crate::export::json::row).collect();
        }
        session.out.value(&value)?;
    } else {
        session.out.line(&id.to_string());
        if !found.is_empty() {
            session.out.list::<()>(&[], || table(&found))?;
        }
    }
    // What was found counts more than that the scan did not see everything.
    if !found.is_empty() {
        eprintln!("scandeck: {} of scan {id} match --fail-on", found.len());
        return Ok(ExitCode::from(exit::MATCHED));
    }
    Ok(match scan.status_name {
        ScanStatus::Finished => ExitCode::SUCCESS,
        _ => ExitCode::from(exit::UNFINISHED),
    })
}

async fn new(session: &HeadlessSession, args: StartArgs) -> anyhow::Result<NewScan> {
    let workspace = session.workspace().await?;
    let known = match args.target.parse::<TargetId>() {
        Ok(id) => Some(session.client()?.get_target(id).await?),
        Err(_) => targets::find(session, &args.target).await?,
    };
    let tool_params = args.params.map(|params| api::json("--params", &params)).transpose()?;
    Ok(NewScan {
        tool_id: Tool(args.tool).0,
        target_id: known.as_ref().map(|target| target.id),
        target_name: known.is_none().then(|| args.target.clone()),
        workspace_id: workspace.or(known.map(|target| target.workspace_id)),
        vpn_profile_uuid: args.vpn_profile.map(|uuid| Some(uuid).filter(|uuid| uuid != "none")),
        max_scan_time: args.max_scan_time,
        report_callback: args.callback_url.map(|url| ReportCallback { url, format: args.callback_format }),
        scan_original_url: args.scan_original_url.then_some(true),
        redirect_level: args.redirect_level,
        tool_params,
    })
}
