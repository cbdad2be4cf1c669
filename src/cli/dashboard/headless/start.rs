//! `scandeck scans start`: starts a scan, waits for its end, and fails a build because of its
//! findings.

use std::process::ExitCode;

use clap::Args;

use super::findings::table;
use super::rows::FindingRows;
use super::{HeadlessSession, api, exit, id, listed, scans, targets, watch};
use crate::cli::error::CliError;
use crate::cli::value::number_in;
use scandeck_domain::query::{Query, QueryKind};
use scandeck_domain::triage::coverage;
use scandeck_wire::contract::{
    NewScan, RedirectLevel, ReportCallback, Risk, SCAN_MINUTES, Scan, ScanId, ScanStatus, TargetId,
    Tool,
};
use scandeck_wire::text::{clean_for_print, plural};
use serde_json::Value;

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck scans start --tool 170 --target shop.acme.test --params '{\"scan_type\": \"light\"}'")]
pub struct StartArgs {
    /// Tool id: 70 ports, 170 website, 350 network (nmap), 450 TLS, …; `scandeck tools` lists all
    #[arg(long, value_name = "ID", value_parser = id)]
    tool: i64,
    /// Target by name or id; the service adds a new name
    #[arg(long, value_name = "NAME|ID")]
    target: String,
    /// Parameters of the tool as JSON, or @FILE
    #[arg(long, value_name = "JSON|@FILE")]
    params: Option<String>,
    /// Time limit of the scan
    #[arg(long, value_name = "MINUTES", value_parser = |text: &str| number_in(SCAN_MINUTES, text))]
    max_scan_time: Option<i64>,
    /// Redirects to follow: none, check_accessibility, same_host, same_domain, allow_all [default:
    /// same_domain]
    #[arg(long, value_name = "LEVEL", value_parser = RedirectLevel::known)]
    redirect_level: Option<RedirectLevel>,
    /// Scan the URL as given, even if it redirects
    #[arg(long)]
    scan_original_url: bool,
    /// VPN profile, or `none`
    #[arg(long, value_name = "UUID")]
    vpn_profile: Option<String>,
    /// URL that receives the report when the scan ends
    #[arg(long, value_name = "URL")]
    callback_url: Option<String>,
    /// Format of the report for --callback-url
    #[arg(long, value_name = "FORMAT", requires = "callback_url")]
    callback_format: Option<String>,
    /// Wait until the scan has ended; exit code 4 unless its status is finished
    #[arg(long)]
    wait: bool,
    /// Wait; exit code 3 when a finding of this scan matches
    #[arg(long, value_name = "QUERY", value_parser = gate)]
    fail_on: Option<Query>,
}

/// The query of `--fail-on`. The bare name of a severity would search for that word and match next
/// to nothing.
fn gate(text: &str) -> Result<Query, String> {
    match Risk::DOWN
        .into_iter()
        .find(|risk| text.trim().eq_ignore_ascii_case(risk.as_str()))
    {
        Some(risk) => Err(format!(
            "`{text}` searches for the word \"{text}\"; to compare the risk, write `risk>={risk}`"
        )),
        None => super::query(text, QueryKind::Findings),
    }
}

/// Starts the scan.
///
/// # Errors
/// Those of the service.
pub async fn run(session: &HeadlessSession, args: StartArgs) -> anyhow::Result<ExitCode> {
    session.require_writable()?;
    let (wait, fail_on) = (args.wait, args.fail_on.clone());
    let new = new_scan(session, args).await?;
    let hint = "`scandeck scans list` shows whether it was started";
    let created = match session.client()?.create_scan(&new).await {
        Err(error) if error.is_outcome_unknown() => {
            let message =
                format!("outcome unknown: the service may have started the scan: {error}");
            return Err(CliError::new(message, hint).into());
        }
        result => listed("targets", result.map_err(Into::into))?,
    };
    let Some(id) = created.created_id else {
        return Err(CliError::new("scan started, but its id is unknown", hint).into());
    };
    report_ignored(session, id, new.tool_params.as_ref()).await?;
    if !wait && fail_on.is_none() {
        session.out.created("created_id", id.0)?;
        return Ok(ExitCode::SUCCESS);
    }
    let scan = watch::until_ended(session, &[id])
        .await?
        .pop()
        .unwrap_or_default();
    finish(session, id, scan, fail_on).await
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

async fn finish(
    session: &HeadlessSession,
    id: ScanId,
    scan: Scan,
    fail_on: Option<Query>,
) -> anyhow::Result<ExitCode> {
    let mut gaps: Vec<String> = Vec::new();
    let found = match &fail_on {
        Some(query) => {
            let mut rows = FindingRows::load_one(session, scan.workspace_id).await?;
            rows.retain_scan(id);
            let kinds = rows.all.iter().map(|row| row.issue.vuln_id.to_string());
            gaps = kinds.filter(|kind| coverage::is_about_scan(kind)).collect();
            rows.matching(query)
        }
        None => Vec::new(),
    };
    if session.out.json {
        let mut value = serde_json::to_value(scans::NamedScan::new(&scan, None))?;
        if fail_on.is_some() {
            value["matched"] = found
                .iter()
                .map(scandeck_domain::export::json::row)
                .collect();
        }
        session.out.value(&value)?;
    } else {
        session.out.line(&id.to_string())?;
        if !found.is_empty() {
            session.out.table(&table(&found))?;
        }
    }
    report_gaps(id, &scan, &gaps);
    // Matching findings take precedence over an unfinished scan.
    if !found.is_empty() {
        let number = found.len();
        let verb = if number == 1 { "matches" } else { "match" };
        note!(
            "scandeck: {} of scan {id} {verb} --fail-on",
            plural(number, "finding")
        );
        return Ok(ExitCode::from(exit::MATCHED));
    }
    Ok(match scan.status_name {
        ScanStatus::Finished => ExitCode::SUCCESS,
        _ => ExitCode::from(exit::UNFINISHED),
    })
}

/// Reports that a scan is incomplete, with its findings that say so.
fn report_gaps(id: ScanId, scan: &Scan, gaps: &[String]) {
    if gaps.is_empty() && scan.is_incomplete() {
        note!(
            "scandeck: scan {id} is incomplete; `scandeck scans tests {id}` shows the tests without a result"
        );
    }
    if !gaps.is_empty() {
        note!("scandeck: scan {id} is incomplete ({})", gaps.join(", "));
        note!("  `class:coverage*` in --fail-on matches incomplete scans");
    }
}

async fn new_scan(session: &HeadlessSession, args: StartArgs) -> anyhow::Result<NewScan> {
    let workspace = session.workspace_id().await?;
    let existing = match args.target.parse::<TargetId>() {
        Ok(id) => Some(session.client()?.get_target(id).await?),
        Err(_) => targets::find(session, &args.target).await?,
    };
    let tool_params = args
        .params
        .map(|params| api::json("--params", &params))
        .transpose()?;
    Ok(NewScan {
        tool_id: Tool(args.tool).0,
        target_id: existing.as_ref().map(|target| target.id),
        target_name: existing.is_none().then(|| args.target.clone()),
        workspace_id: workspace.or(existing.map(|target| target.workspace_id)),
        vpn_profile_uuid: args
            .vpn_profile
            .map(|uuid| Some(uuid).filter(|uuid| uuid != "none")),
        max_scan_time: args.max_scan_time,
        report_callback: args.callback_url.map(|url| ReportCallback {
            url,
            format: args.callback_format,
        }),
        scan_original_url: args.scan_original_url.then_some(true),
        redirect_level: args.redirect_level,
        tool_params,
    })
}
