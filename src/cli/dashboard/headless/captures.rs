//! `scandeck captures`: list, show, export, watch. Captured requests from the archive, with the
//! payloads in them.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand, ValueEnum};
use jiff::Timestamp;

use super::archive::ArchiveReader;
use super::print::{cells, or_dash};
use super::save::Destination;
use super::watch::{pause, poll_delays};
use super::{HeadlessSession, PrintTable, ServiceArgs, bundles, exit, logger, save};
use crate::cli::error::CliError;
use crate::cli::value::number;
use scandeck_client::ErrorKind;
use scandeck_domain::oob::{
    CaptureFormat, CaptureRecord, PayloadBook, Token, out, request, unattributed,
};
use scandeck_domain::query::{Query, QueryKind};
use scandeck_domain::table::{RecognizedCapture, Rows};
use scandeck_wire::contract::{CaptureId, Shared};
use scandeck_wire::text;
use scandeck_wire::text::plural;

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck captures export --format har --query 'technique:SSRF delay<1h' -o hits.har")]
pub struct CapturesArgs {
    #[command(flatten)]
    service: ServiceArgs,
    #[command(subcommand)]
    command: CapturesCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum CapturesCommand {
    /// List captures, oldest first
    #[command(after_help = "Example:\n  scandeck captures list --known --last 20")]
    List {
        #[command(flatten)]
        choice: CaptureChoice,
        /// Only the newest NUMBER captures
        #[arg(long, value_name = "NUMBER", value_parser = number)]
        last: Option<usize>,
        /// Instead list requests that match no logger: other protocols, malformed requests, unknown
        /// paths
        #[arg(long, conflicts_with_all = ["logger", "query", "known"])]
        unattributed: bool,
    },
    /// Show one capture
    #[command(after_help = "Example:\n  scandeck captures show 118 --as curl")]
    Show {
        /// Capture id
        id: CaptureId,
        /// Logger of the capture; needed if captures of several loggers have this id
        #[arg(long, value_name = "ID|LABEL")]
        logger: Option<String>,
        /// Output format
        #[arg(long = "as", value_enum, default_value_t = As::Fields)]
        form: As,
    },
    /// Export captures for other tools
    #[command(
        after_help = "Example:\n  scandeck captures export --format jsonl --known -o hits.jsonl"
    )]
    Export {
        #[command(flatten)]
        choice: CaptureChoice,
        /// har, jsonl
        #[arg(long, value_parser = CaptureFormat::from_name)]
        format: CaptureFormat,
        #[command(flatten)]
        to: Destination,
    },
    /// Wait for a matching capture and print it; exit code 3 after a timeout
    #[command(after_help = "Example:\n  scandeck captures watch --known --since 5m --timeout 10m")]
    Watch(WatchArgs),
}

#[derive(Args, Clone, Debug)]
struct WatchArgs {
    #[command(flatten)]
    choice: CaptureChoice,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum As {
    /// One field per line, or JSON with --json
    Fields,
    /// The HTTP request
    Raw,
    /// A curl command that repeats the request
    Curl,
}

/// Selects captures.
#[derive(Args, Clone, Debug, Default)]
struct CaptureChoice {
    /// Only captures of this logger
    #[arg(long, value_name = "ID|LABEL")]
    logger: Option<String>,
    /// Only captures that match this query (see docs/query.md)
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true, value_parser = |text: &str| super::query(text, QueryKind::Captures))]
    query: Option<Query>,
    /// Only captures with a payload of the payload book
    #[arg(long)]
    known: bool,
}

fn duration(text: &str) -> Result<Duration, String> {
    let seconds =
        scandeck_domain::query::value::span(text).and_then(|seconds| u64::try_from(seconds).ok());
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| "use 90s, 10m, 2h or 1h30m".to_owned())
}

/// Runs the command.
///
/// # Errors
/// Those of the service, and when the archive or a file cannot be read or written.
pub async fn run(args: CapturesArgs) -> anyhow::Result<ExitCode> {
    let session = HeadlessSession::open(&args.service).await?;
    if let CapturesCommand::List {
        last,
        unattributed: true,
        ..
    } = args.command
    {
        list_unattributed(&session, last).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut archive = ArchiveReader::open(&session).await?;
    archive.load_targets(args.command.query()).await?;
    let mut code = ExitCode::SUCCESS;
    match args.command {
        CapturesCommand::List { choice, last, .. } => {
            let all = archive.all().await?;
            choice.check_logger(&all, &mut archive).await?;
            let mut found = choice.select(all, &archive);
            found.drain(..found.len().saturating_sub(last.unwrap_or(usize::MAX)));
            print(&session, &archive.book, &found)?;
        }
        CapturesCommand::Show { id, logger, form } => {
            show(
                &session,
                &find(archive.all().await?, id, logger.as_deref())?,
                form,
            )?;
        }
        CapturesCommand::Export { choice, format, to } => {
            let all = archive.all().await?;
            choice.check_logger(&all, &mut archive).await?;
            let found = choice.select(all, &archive);
            to.write(
                session.out,
                format.written(&found, None).as_bytes(),
                &plural(found.len(), "capture"),
            )?;
        }
        CapturesCommand::Watch(watch) => {
            session.client()?;
            watch.choice.check_live_logger(&mut archive).await?;
            let found = watch.wait(&mut archive).await?;
            if found.is_empty() {
                code = ExitCode::from(exit::TIMED_OUT);
            }
            if session.out.json || !found.is_empty() {
                print(&session, &archive.book, &found)?;
            } else {
                note!("scandeck: no matching capture before the timeout");
            }
        }
    }
    archive.close().await;
    Ok(code)
}

impl CapturesCommand {
    fn query(&self) -> Option<&Query> {
        match self {
            Self::List { choice, .. }
            | Self::Export { choice, .. }
            | Self::Watch(WatchArgs { choice, .. }) => choice.query.as_ref(),
            Self::Show { .. } => None,
        }
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

impl CaptureChoice {
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
    async fn check_live_logger(&self, archive: &mut ArchiveReader<'_>) -> anyhow::Result<()> {
        let Some(name) = &self.logger else {
            return Ok(());
        };
        match archive.loggers().await {
            Err(error) if bundles::unreachable(&error).is_some() => Ok(()),
            listed => require_listed(&listed?, name),
        }
    }

    fn select(
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
        let Some(query) = &self.query else { return all };
        let rows: Vec<RecognizedCapture> = all
            .iter()
            .map(
                |CaptureRecord {
                     capture,
                     label,
                     mentions,
                     ..
                 }| {
                    let has_body = !capture.request_body_base64.is_empty();
                    RecognizedCapture {
                        capture,
                        has_body,
                        label,
                        mentions,
                    }
                },
            )
            .collect();
        let (others, now) = (
            &archive.with_hits(BTreeMap::new()),
            Timestamp::now().as_second(),
        );
        query
            .matches(&Rows {
                rows: &rows,
                others,
                now,
            })
            .rows()
            .map(|at| all[at].clone())
            .collect()
    }
}

impl WatchArgs {
    /// The first matching requests; none after the timeout.
    async fn wait(&self, archive: &mut ArchiveReader<'_>) -> anyhow::Result<Vec<CaptureRecord>> {
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

async fn list_unattributed(session: &HeadlessSession, last: Option<usize>) -> anyhow::Result<()> {
    let listed = session
        .client()?
        .list_unattributed_requests()
        .await
        .map_err(|error| match error.kind {
            ErrorKind::NotFound => anyhow::Error::from(CliError::new(
                "the service keeps no unattributed requests",
                "only `scandeck serve` keeps them; it may be an older version",
            )),
            _ => error.into(),
        })?;
    let mut requests = listed.requests;
    requests.drain(..requests.len().saturating_sub(last.unwrap_or(usize::MAX)));
    session.out.list(&requests, || {
        PrintTable::of(
            ["TIME", "FROM", "SIZE", "REASON", "BYTES"],
            &requests,
            |one| {
                cells![
                    or_dash(one.request_date),
                    format!("{}:{}", one.ip_address, one.remote_port),
                    one.size,
                    one.reason,
                    unattributed::first_bytes(one),
                ]
            },
        )
    })
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

fn is_of(record: &CaptureRecord, logger: &str) -> bool {
    record.logger.to_string() == logger || *record.label == *logger
}

fn known_token(record: &CaptureRecord) -> Option<Token> {
    record
        .mentions
        .iter()
        .find(|mention| mention.known)
        .map(|mention| mention.token)
}

fn mentions(record: &CaptureRecord, token: Token) -> bool {
    record.mentions.iter().any(|mention| mention.token == token)
}

fn find(
    all: Vec<CaptureRecord>,
    id: CaptureId,
    logger: Option<&str>,
) -> anyhow::Result<CaptureRecord> {
    let is_match = |one: &CaptureRecord| {
        one.capture.id == id && logger.is_none_or(|logger| is_of(one, logger))
    };
    let mut found: Vec<CaptureRecord> = all.into_iter().filter(is_match).collect();
    let mut labels: Vec<&Shared> = found.iter().map(|record| &record.label).collect();
    labels.sort();
    labels.dedup();
    if labels.len() > 1 {
        let labels: Vec<&str> = labels.iter().map(|label| label.as_str()).collect();
        let hint = format!("name one with --logger: {}", labels.join(", "));
        return Err(CliError::usage(format!("several loggers have a capture {id}"), hint).into());
    }
    // A service may reuse an id after a clear: the newest capture is the right one.
    let not_found = || {
        CliError::new(
            format!("capture {id} not found"),
            "`scandeck captures list` lists captures",
        )
    };
    Ok(found.pop().ok_or_else(not_found)?)
}

fn show(session: &HeadlessSession, record: &CaptureRecord, form: As) -> anyhow::Result<()> {
    match form {
        As::Fields => session.out.single(&out::value(record)),
        As::Raw => session.out.outside(&out::raw_bytes(record)),
        As::Curl => {
            let body = || request::body(&record.capture);
            let file = out::body_file(record)
                .map(|name| save::numbered_file(&name, &body()))
                .transpose()?;
            if let Some(name) = &file {
                note!("body written to {name}");
            }
            session.out.command(&out::curl(record, file.as_deref()))
        }
    }
}

fn print(
    session: &HeadlessSession,
    book: &PayloadBook,
    all: &[CaptureRecord],
) -> anyhow::Result<()> {
    let values: Vec<_> = all.iter().map(out::value).collect();
    session.out.list(&values, || table(book, all))
}

fn table(book: &PayloadBook, all: &[CaptureRecord]) -> PrintTable {
    let header = [
        "ID",
        "TIME",
        "LOGGER",
        "METHOD",
        "FROM",
        "REQUEST",
        "PAYLOAD",
        "PLACEMENT",
    ];
    PrintTable::of(header, all, |record| {
        let capture = &record.capture;
        let payload = known_token(record).and_then(|token| book.get(token));
        let query = if capture.url_params.is_empty() {
            String::new()
        } else {
            format!("?{}", capture.url_params)
        };
        cells![
            capture.id,
            or_dash(capture.request_date),
            record.label,
            capture.request_method,
            capture.ip_address,
            format!("{}{query}", capture.path.as_deref().unwrap_or_default()),
            payload
                .map(|payload| payload.token.to_string())
                .unwrap_or_default(),
            payload.map(|payload| payload.place()).unwrap_or_default(),
        ]
    })
}
