//! Waiting for scans: one line per change of state, a progress line on a terminal, and the exit
//! code.

use std::collections::HashMap;
use std::process::ExitCode;
use std::time::Duration;

use super::{HeadlessSession, exit};
use crate::cli::progress::ProgressLine;
use scandeck_wire::contract::{Scan, ScanId, ScanStatus, Tool};
use scandeck_wire::text;

/// Longest delay between two polls of one scan. A service allows 250 reads per minute for all
/// clients of an account.
const LONGEST: Duration = Duration::from_secs(2);
const FIRST: Duration = Duration::from_millis(100);

/// Delays between polls: `first`, then longer ones up to `longest`.
pub fn poll_delays(first: Duration, longest: Duration) -> impl Iterator<Item = Duration> {
    std::iter::successors(Some(first), move |delay| {
        Some((*delay * 3 / 2).min(longest))
    })
}

/// Waits for the next delay.
pub async fn pause(delays: &mut impl Iterator<Item = Duration>) {
    if let Some(delay) = delays.next() {
        tokio::time::sleep(delay).await;
    }
}

/// Waits until all scans have ended, and prints their progress. Transient errors are retried.
///
/// # Errors
/// When a scan does not exist, or the service rejects the call.
pub async fn until_ended(session: &HeadlessSession, ids: &[ScanId]) -> anyhow::Result<Vec<Scan>> {
    let mut line = ProgressLine::default();
    let longest = LONGEST * u32::try_from(ids.len().clamp(1, 30)).unwrap_or(1);
    let mut delays = poll_delays(FIRST, longest);
    let mut states: HashMap<ScanId, ScanStatus> = HashMap::new();
    loop {
        let mut scans = Vec::new();
        for &id in ids {
            match session.client()?.get_scan(id).await {
                Ok(scan) => scans.push(scan),
                Err(error) if error.is_transient() => {
                    line.clear();
                    note!("scandeck: {} (retrying)", text::clean(&error.to_string()));
                    tokio::time::sleep(LONGEST).await;
                    break;
                }
                Err(error) => return Err(error.into()),
            }
        }
        for scan in &scans {
            if states.insert(scan.id, scan.status_name.clone()).as_ref() != Some(&scan.status_name)
            {
                line.clear();
                note!("{}", text::clean(&status_line(scan)));
                delays = poll_delays(FIRST, longest);
            }
        }
        if scans.len() == ids.len() && scans.iter().all(Scan::has_ended) {
            line.clear();
            return Ok(scans);
        }
        show(&mut line, &scans);
        pause(&mut delays).await;
    }
}

/// 0 when all scans finished.
pub fn code(scans: &[Scan]) -> ExitCode {
    match scans
        .iter()
        .all(|scan| scan.status_name == ScanStatus::Finished)
    {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(exit::UNFINISHED),
    }
}

fn status_line(scan: &Scan) -> String {
    let message = if scan.status_message.is_empty() {
        String::new()
    } else {
        format!(" · {}", scan.status_message)
    };
    format!(
        "scan {} ({}): {}{message}{}",
        scan.id,
        Tool(scan.tool_id),
        scan.shown_status(),
        counts(scan)
    )
}

/// The findings by risk in brackets, such as ` (2 high, 1 info)`.
fn counts(scan: &Scan) -> String {
    let found = found(scan);
    if found.is_empty() {
        found
    } else {
        format!(" ({found})")
    }
}

/// The findings by risk, such as `2 high, 1 info`; empty if there are none.
pub fn found(scan: &Scan) -> String {
    let names = ["critical", "high", "medium", "low", "info"];
    let counts = scan.result_summary.by_risk().into_iter().zip(names);
    let found = counts.filter_map(|(count, name)| Some((count.filter(|count| *count > 0)?, name)));
    let counts: Vec<String> = found
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    counts.join(", ")
}

/// Shows the scans that have not ended.
fn show(line: &mut ProgressLine, scans: &[Scan]) {
    let parts: Vec<String> = scans
        .iter()
        .filter(|scan| !scan.has_ended())
        .map(|scan| {
            format!(
                "scan {} {} {}%{}",
                scan.id,
                bar(scan.progress),
                scan.progress,
                counts(scan)
            )
        })
        .collect();
    line.write(&parts.join("  "));
}

/// A bar of ten columns.
fn bar(percent: i64) -> String {
    let done = usize::try_from(percent.clamp(0, 100) / 10).unwrap_or(0);
    format!("{}{}", "━".repeat(done), "┄".repeat(10 - done))
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::contract::ResultSummary;

    #[test]
    fn status_line_names_state_message_and_findings() {
        let scan = Scan {
            id: ScanId(12),
            tool_id: 170,
            status_name: ScanStatus::Finished,
            status_message: "all tests ended".into(),
            result_summary: ResultSummary {
                high: Some(2),
                low: Some(0),
                info: None,
                ..ResultSummary::default()
            },
            ..Scan::default()
        };
        assert_eq!(
            status_line(&scan),
            "scan 12 (Website): finished · all tests ended (2 high)"
        );
        assert_eq!(bar(66), "━━━━━━┄┄┄┄");
        assert_eq!(
            (bar(-4).chars().count(), bar(400).chars().count()),
            (10, 10)
        );
    }
}
