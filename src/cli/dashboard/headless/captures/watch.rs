//! `scandeck captures watch`: waits for a matching capture.

use std::time::{Duration, Instant};

use clap::Args;
use jiff::Timestamp;

use super::choice::CaptureChoice;
use crate::cli::dashboard::headless::archive::ArchiveReader;
use crate::cli::dashboard::headless::bundles;
use crate::cli::dashboard::headless::watch::{pause, poll_delays};
use scandeck_domain::oob::{CaptureRecord, Token};
use scandeck_domain::query::value::span;
use scandeck_wire::text;

#[derive(Args, Clone, Debug)]
pub struct WatchArgs {
    #[command(flatten)]
    pub choice: CaptureChoice,
    /// Only captures with this payload
    #[arg(long, value_name = "TOKEN")]
    payload: Option<Token>,
    /// Include captures of the last 5m, 2h, …
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    since: Option<Duration>,
    /// Give up after 90s, 10m, 2h, … [default: never]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    timeout: Option<Duration>,
}

impl WatchArgs {
    /// The first matching requests; none after the timeout.
    ///
    /// # Errors
    /// When there is no such logger, and those of the archive.
    pub async fn wait(
        &self,
        archive: &mut ArchiveReader<'_>,
    ) -> anyhow::Result<Vec<CaptureRecord>> {
        self.choice.check_live_logger(archive).await?;
        let began = Instant::now();
        let mut delays = poll_delays(Duration::from_millis(100), Duration::from_secs(1));
        let mut is_reported = false;
        let mut new = match self.since {
            Some(since) => newer_than(archive.all().await?, since),
            None => {
                archive.poll().await?;
                Vec::new()
            }
        };
        loop {
            let mut found = self.choice.select(new, archive);
            found.retain(|record| self.payload.is_none_or(|token| mentions(record, token)));
            let left = self.timeout.map_or(Duration::MAX, |timeout| {
                timeout.saturating_sub(began.elapsed())
            });
            if !found.is_empty() || left.is_zero() {
                return Ok(found);
            }
            // Poll once more after the last delay, however short it was.
            let _ = tokio::time::timeout(left, pause(&mut delays)).await;
            let polled = archive.poll().await;
            let is_silent = matches!(&polled, Err(error) if bundles::unreachable(error).is_some());
            new = match polled {
                Err(error) if is_silent => {
                    if !is_reported {
                        note!(
                            "scandeck: {} (retrying)",
                            text::clean(&format!("{error:#}"))
                        );
                    }
                    Vec::new()
                }
                polled => polled?,
            };
            is_reported = is_silent;
        }
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let seconds = span(text).and_then(|seconds| u64::try_from(seconds).ok());
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| "use 90s, 10m, 2h or 1h30m".to_owned())
}

fn newer_than(all: Vec<CaptureRecord>, age: Duration) -> Vec<CaptureRecord> {
    let oldest = Timestamp::now()
        .as_second()
        .saturating_sub(i64::try_from(age.as_secs()).unwrap_or(i64::MAX));
    all.into_iter()
        .filter(|record| {
            record
                .capture
                .request_date
                .is_some_and(|at| at.as_second() >= oldest)
        })
        .collect()
}

fn mentions(record: &CaptureRecord, token: Token) -> bool {
    record.mentions.iter().any(|mention| mention.token == token)
}
