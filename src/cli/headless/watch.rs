//! Waiting for scans: one line for each change of state, a moving one on a terminal, and what to end with.

use std::collections::HashMap;
use std::io::{IsTerminal, Write, stderr};
use std::process::ExitCode;
use std::time::Duration;

use super::{HeadlessSession, exit};
use crate::client::Error;
use crate::contract::{Scan, ScanId, ScanStatus, Tool};
use crate::text;

/// Times between two looks: short at first, longer later.
#[derive(Debug)]
pub struct WatchPace {
    next: Duration,
    longest: Duration,
}

impl WatchPace {
    /// From the first pause to the longest.
    pub fn new(first: Duration, longest: Duration) -> Self {
        Self { next: first, longest }
    }

    /// Waits.
    pub async fn next(&mut self) {
        tokio::time::sleep(self.next).await;
        self.next = (self.next * 3 / 2).min(self.longest);
    }

    /// What it should do after something moved: look soon again.
    fn hurry(&mut self, first: Duration) {
        self.next = self.next.min(first);
    }
}

/// Between two looks at one scan, once it takes its time. A service's limit is 250 reads a minute for everything that
/// uses the account.
const LONGEST: Duration = Duration::from_secs(2);
const FIRST: Duration = Duration::from_millis(100);

/// Waits until all have ended, and tells how they got on. What passes by itself is waited out.
///
/// # Errors
/// When a scan is unknown, or the service refuses for good.
pub async fn until_ended(session: &HeadlessSession, ids: &[ScanId]) -> anyhow::Result<Vec<Scan>> {
    let mut line = WatchLine::default();
    let mut pace = WatchPace::new(FIRST, LONGEST * u32::try_from(ids.len().clamp(1, 30)).unwrap_or(1));
    let mut states: HashMap<ScanId, ScanStatus> = HashMap::new();
    loop {
        let mut scans = Vec::new();
        for &id in ids {
            match session.client()?.get_scan(id).await {
                Ok(scan) => scans.push(scan),
                Err(error) if error.is_transient() => {
                    wait_out(&mut line, &error).await;
                    break;
                }
                Err(error) => return Err(error.into()),
            }
        }
        for scan in &scans {
            if states.insert(scan.id, scan.status_name.clone()).as_ref() != Some(&scan.status_name) {
                line.clear();
                eprintln!("{}", text::clean(&told(scan)));
                pace.hurry(FIRST);
            }
        }
        if scans.len() == ids.len() && scans.iter().all(Scan::has_ended) {
            line.clear();
            return Ok(scans);
        }
        line.show(&scans);
        pace.next().await;
    }
}

/// A broken connection, a full rate budget: said once a look, and waited out.
async fn wait_out(line: &mut WatchLine, error: &Error) {
    line.clear();
    eprintln!("scandeck: {} (trying again)", text::clean(&error.to_string()));
    tokio::time::sleep(Duration::from_secs(2)).await;
}

/// 0 when all finished.
pub fn code(scans: &[Scan]) -> ExitCode {
    match scans.iter().all(|scan| scan.status_name == ScanStatus::Finished) {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(exit::UNFINISHED),
    }
}

fn told(scan: &Scan) -> String {
    let found = found(scan);
    let message = if scan.status_message.is_empty() { String::new() } else { format!(": {}", scan.status_message) };
    format!("scan {} {} {}{message}{found}", scan.id, Tool(scan.tool_id), scan.status_name)
}

fn found(scan: &Scan) -> String {
    let names = ["critical", "high", "medium", "low", "info"];
    let counts = scan.result_summary.by_risk().into_iter().zip(names);
    let counts: Vec<String> = counts
        .filter_map(|(count, name)| count.filter(|count| *count > 0).map(|count| format!("{count} {name}")))
        .collect();
    if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) }
}

/// A line that is drawn over itself, on a terminal only.
#[derive(Debug, Default)]
struct WatchLine {
    shown: bool,
}

impl WatchLine {
    fn show(&mut self, scans: &[Scan]) {
        if !stderr().is_terminal() {
            return;
        }
        let parts: Vec<String> = scans
            .iter()
            .filter(|scan| !scan.has_ended())
            .map(|scan| format!("scan {} {} {}%{}", scan.id, bar(scan.progress), scan.progress, found(scan)))
            .collect();
        let columns = crossterm::terminal::size().map_or(80, |(columns, _)| usize::from(columns));
        let line = parts.join("  ");
        self.clear();
        let mut out = stderr();
        let _ = write!(out, "{}", text::start(&text::clean(&line), columns.saturating_sub(1)));
        let _ = out.flush();
        self.shown = true;
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

/// Ten columns.
fn bar(percent: i64) -> String {
    let done = usize::try_from(percent.clamp(0, 100) / 10).unwrap_or(0);
    format!("{}{}", "━".repeat(done), "┄".repeat(10 - done))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ResultSummary;

    #[test]
    fn a_change_of_state_is_one_line_with_what_was_found() {
        let scan = Scan {
            id: ScanId(12),
            tool_id: 170,
            status_name: ScanStatus::Finished,
            status_message: "all tests ended".into(),
            result_summary: ResultSummary { high: Some(2), low: Some(0), info: None, ..ResultSummary::default() },
            ..Scan::default()
        };
        assert_eq!(told(&scan), "scan 12 Website finished: all tests ended (2 high)");
        assert_eq!(bar(66), "━━━━━━┄┄┄┄");
        assert_eq!((bar(-4).chars().count(), bar(400).chars().count()), (10, 10));
    }
}
