//! `scandeck scans list`.

use std::cmp::Reverse;
use std::collections::HashMap;

use clap::Args;

use super::NamedScan;
use crate::cli::dashboard::headless::print::{cells, or_dash};
use crate::cli::dashboard::headless::{HeadlessSession, PrintTable, id, targets};
use scandeck_client::{Interval, ScanQuery, TargetQuery};
use scandeck_domain::table::columns::scan;
use scandeck_wire::contract::{Scan, ScanStatus, Shared, Stamp, TargetId, Tool};

#[derive(Args, Clone, Debug)]
pub struct ListArgs {
    /// Only scans of this tool
    #[arg(long, value_name = "ID", value_parser = id)]
    tool: Option<i64>,
    /// Only scans of this target
    #[arg(long, value_name = "NAME|ID")]
    target: Option<String>,
    /// Only scans with this status, such as running, finished, "failed to start"
    #[arg(long, value_name = "STATUS", value_parser = ScanStatus::known)]
    status: Option<ScanStatus>,
    /// Only scans that started at this time (UTC) or later
    #[arg(long, value_name = "TIME", value_parser = time)]
    from: Option<Stamp>,
    /// Only scans that started at this time (UTC) or earlier
    #[arg(long, value_name = "TIME", value_parser = time)]
    to: Option<Stamp>,
}

fn time(text: &str) -> Result<Stamp, String> {
    let day = || Stamp::parse(&format!("{text} 00:00:00"));
    Stamp::parse(text)
        .or_else(day)
        .ok_or_else(|| "use 2026-11-21 or \"2026-11-21 13:00:00\"".to_owned())
}

/// Lists the selected scans.
///
/// # Errors
/// Those of the service.
pub async fn run(session: &HeadlessSession, args: ListArgs) -> anyhow::Result<()> {
    let target_id = match &args.target {
        Some(target) => Some(targets::get(session, target).await?.id),
        None => None,
    };
    let start_time = Interval {
        from: args.from,
        to: args.to,
    };
    let query = ScanQuery {
        tool: args.tool.map(Tool),
        target_id,
        status: args.status,
        start_time: Some(start_time).filter(|interval| *interval != Interval::default()),
        ..ScanQuery::default()
    };
    let found = scans(session, &query).await?;
    let names = target_names(session).await?;
    let named: Vec<NamedScan> = found
        .iter()
        .map(|scan| NamedScan::new(scan, names.get(&scan.target_id).cloned()))
        .collect();
    session.out.list(&named, || table(&named))
}

/// The scans of all selected workspaces, newest first. Without a workspace id the service would
/// list only the workspace last selected in a browser.
pub async fn scans(session: &HeadlessSession, query: &ScanQuery) -> anyhow::Result<Vec<Scan>> {
    let mut scans = Vec::new();
    for workspace in session.workspaces().await? {
        let query = ScanQuery {
            workspace_id: Some(workspace.id),
            ..query.clone()
        };
        scans.extend(session.client()?.list_all_scans(&query).await?);
    }
    scans.sort_by_key(|scan| Reverse(scan.id));
    scans.dedup_by_key(|scan| scan.id);
    Ok(scans)
}

async fn target_names(session: &HeadlessSession) -> anyhow::Result<HashMap<TargetId, Shared>> {
    let all = session
        .client()?
        .list_all_targets(&TargetQuery::default())
        .await?;
    Ok(all
        .into_iter()
        .map(|target| (target.id, target.name))
        .collect())
}

fn table(all: &[NamedScan]) -> PrintTable {
    let header = [
        scan::ID,
        scan::TOOL,
        scan::TARGET,
        "STATUS",
        "DONE",
        "STARTED",
        "C",
        "H",
        "M",
        "L",
        "I",
    ];
    PrintTable::of(
        header,
        all,
        |NamedScan {
             scan, target_name, ..
         }| {
            let target = target_name
                .as_ref()
                .map_or_else(|| scan.target_id.to_string(), ToString::to_string);
            let (done, started) = (format!("{}%", scan.progress), or_dash(scan.start_time));
            let [critical, high, medium, low, info] = scan.result_summary.by_risk().map(or_dash);
            let tool = Tool(scan.tool_id);
            cells![
                scan.id,
                tool,
                target,
                scan.shown_status(),
                done,
                started,
                critical,
                high,
                medium,
                low,
                info
            ]
        },
    )
}
