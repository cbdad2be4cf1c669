//! `scandeck findings explain`: why a finding is new, changed, absent, reappeared or not retested.

use super::HeadlessSession;
use super::findings::{is_named, not_found};
use super::rows::FindingRows;
use crate::cli::error::CliError;
use crate::cli::stdio;
use scandeck_domain::export::ExportRow;
use scandeck_domain::triage::explain::{SettlingStep, lines};
use scandeck_domain::triage::{ListedFinding, Verdict};
use scandeck_wire::contract::ScanId;
use scandeck_wire::contract::scan::HIDDEN;
use scandeck_wire::text::{command_line, io_cause};

/// Explains the finding with this id or fingerprint.
///
/// # Errors
/// Those of the service, and when no row has this name.
pub async fn run(session: &HeadlessSession, id: &str) -> anyhow::Result<()> {
    let rows = FindingRows::load(session).await?;
    let row = rows.all.iter().find(|row| is_named(row, id));
    let row = row.ok_or_else(|| not_found(id))?;
    let known = row.correlation.as_ref().ok_or_else(|| {
        let message = format!("finding {id} cannot be explained: its scans are not known");
        CliError::new(message, "`scandeck scans list` lists scans")
    })?;
    let read = |finding: &ListedFinding| finding.texts().map_err(|error| io_cause(&error));
    let explanation = known.explain(&row.issue, &row.assessment, rows.state(), &read);
    if session.out.json {
        return session.out.value(&explanation.json());
    }
    let printed: String = lines(&explanation, |step| command(&rows, row, step))
        .iter()
        .map(|line| line.printed() + "\n")
        .collect();
    stdio::print(printed.as_bytes())
}

/// The command of a step; none if a scan cannot be repeated by a command.
fn command(rows: &FindingRows, row: &ExportRow, step: SettlingStep) -> Option<String> {
    match step {
        SettlingStep::Confirm => Some(decide(row, Verdict::Confirmed)),
        SettlingStep::Fix => Some(decide(row, Verdict::Fixed)),
        SettlingStep::Prove => Some(command_line(["scandeck", "findings", "prove", &id_of(row)])),
        SettlingStep::Retest(scan) => repeat(rows, scan),
        SettlingStep::OpenScan(scan) => Some(command_line([
            "scandeck",
            "scans",
            "tests",
            &scan.to_string(),
        ])),
        SettlingStep::Compare { before, after } => {
            let (before, after) = (before.to_string(), after.to_string());
            Some(command_line(["scandeck", "scans", "diff", &after, &before]))
        }
    }
}

/// The command that decides a finding.
pub(super) fn decide(row: &ExportRow, verdict: Verdict) -> String {
    command_line([
        "scandeck",
        "findings",
        "decide",
        &id_of(row),
        "--verdict",
        verdict.as_str(),
    ])
}

fn id_of(row: &ExportRow) -> String {
    row.issue.finding.id.to_string()
}

/// The command that starts a scan again with its parameters. Credentials are not known.
fn repeat(rows: &FindingRows, id: ScanId) -> Option<String> {
    let scan = rows.scans.get(id)?;
    let (tool, target) = (scan.tool_id.to_string(), scan.target_id.to_string());
    let params = scan.tool_params.as_ref().map(ToString::to_string);
    let params = params.unwrap_or_default();
    let mut words = vec!["scandeck", "scans", "start", "--tool", tool.as_str()];
    words.extend(["--target", target.as_str()]);
    if params.contains(HIDDEN) {
        return None;
    }
    if !params.is_empty() {
        words.extend(["--params", params.as_str()]);
    }
    if scan.scan_original_url {
        words.push("--scan-original-url");
    }
    Some(command_line(words))
}
