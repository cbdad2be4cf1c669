//! The flags that select captures.

use clap::Args;
use jiff::Timestamp;

use crate::cli::dashboard::headless::archive::ArchiveReader;
use crate::cli::dashboard::headless::{bundles, logger, query};
use crate::cli::error::CliError;
use scandeck_domain::oob::{CaptureRecord, HitCounts, Token};
use scandeck_domain::query::{Query, QueryKind};
use scandeck_domain::table::{RecognizedCapture, Rows};

/// Selects captures.
#[derive(Args, Clone, Debug, Default)]
pub struct CaptureChoice {
    /// Only captures of this logger
    #[arg(long, value_name = "ID|LABEL")]
    pub logger: Option<String>,
    /// Only captures that match this query (see docs/query.md)
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true, value_parser = |text: &str| query(text, QueryKind::Captures))]
    pub query: Option<Query>,
    /// Only captures with a payload of the payload book
    #[arg(long)]
    pub known: bool,
}

impl CaptureChoice {
    /// The matching captures, oldest first.
    ///
    /// # Errors
    /// Those of the service and of the archive, and when there is no such logger.
    pub async fn read(
        &self,
        archive: &mut ArchiveReader<'_>,
    ) -> anyhow::Result<Vec<CaptureRecord>> {
        let all = archive.all().await?;
        self.check_logger(&all, archive).await?;
        Ok(self.select(all, archive))
    }

    /// Checks that the named logger exists at the service or in the archive.
    async fn check_logger(
        &self,
        all: &[CaptureRecord],
        archive: &mut ArchiveReader<'_>,
    ) -> anyhow::Result<()> {
        let Some(name) = self
            .logger
            .as_ref()
            .filter(|name| !all.iter().any(|record| is_of(record, name)))
        else {
            return Ok(());
        };
        let listed = match archive.loggers().await {
            Err(error) if bundles::unreachable(&error).is_some() => Vec::new(),
            listed => listed?,
        };
        require_listed(&listed, name)
    }

    /// Checks that the service has the named logger: without it, no capture can arrive. A service
    /// that is not reachable is waited for.
    ///
    /// # Errors
    /// When the service has no such logger, and those of the service.
    pub async fn check_live_logger(&self, archive: &mut ArchiveReader<'_>) -> anyhow::Result<()> {
        let Some(name) = &self.logger else {
            return Ok(());
        };
        match archive.loggers().await {
            Err(error) if bundles::unreachable(&error).is_some() => Ok(()),
            listed => require_listed(&listed?, name),
        }
    }

    /// The matching ones of these captures.
    pub fn select(
        &self,
        mut all: Vec<CaptureRecord>,
        archive: &ArchiveReader<'_>,
    ) -> Vec<CaptureRecord> {
        all.retain(|record| {
            self.logger
                .as_ref()
                .is_none_or(|logger| is_of(record, logger))
        });
        all.retain(|record| !self.known || known_token(record).is_some());
        let Some(query) = &self.query else {
            return all;
        };
        fn row(record: &CaptureRecord) -> RecognizedCapture<'_> {
            RecognizedCapture {
                capture: &record.capture,
                has_body: !record.capture.request_body_base64.is_empty(),
                label: &record.label,
                mentions: &record.mentions,
            }
        }
        let rows: Vec<RecognizedCapture> = all.iter().map(row).collect();
        let hits = HitCounts::new();
        let others = &archive.others(&hits);
        let now = Timestamp::now().as_second();
        let found = query.matches(&Rows {
            rows: &rows,
            others,
            now,
        });
        found.rows().map(|at| all[at].clone()).collect()
    }
}

/// An error with the names of the loggers unless the named one is listed.
fn require_listed(listed: &[logger::WorkspaceLogger], name: &str) -> anyhow::Result<()> {
    if logger::named(listed, name).is_empty() {
        let labels = listed.iter().map(|(_, logger)| logger.label.as_str());
        return Err(CliError::not_found("logger", name, labels).into());
    }
    Ok(())
}

pub fn is_of(record: &CaptureRecord, logger: &str) -> bool {
    record.logger.to_string() == logger || *record.label == *logger
}

pub fn known_token(record: &CaptureRecord) -> Option<Token> {
    record
        .mentions
        .iter()
        .find(|mention| mention.known)
        .map(|mention| mention.token)
}
