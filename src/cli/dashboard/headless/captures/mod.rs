//! `scandeck captures`: list, show, export, watch. Captured requests from the archive, with the
//! payloads in them.

mod choice;
mod watch;

use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};

use super::archive::ArchiveReader;
use super::print::{cells, or_dash};
use super::save::Destination;
use super::{HeadlessSession, PrintTable, ServiceArgs, exit, save};
use crate::cli::error::CliError;
use crate::cli::value::number;
use choice::{CaptureChoice, is_of, known_token};
use scandeck_client::ErrorKind;
use scandeck_domain::oob::{CaptureFormat, CaptureRecord, PayloadBook, out, request, unattributed};
use scandeck_domain::query::Query;
use scandeck_domain::table::columns::capture;
use scandeck_wire::contract::{CaptureId, Shared};
use scandeck_wire::text::plural;
use watch::WatchArgs;

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum As {
    /// One field per line, or JSON with --json
    Fields,
    /// The HTTP request
    Raw,
    /// A curl command that repeats the request
    Curl,
}

/// Runs the command.
///
/// # Errors
/// Those of the service, and when the archive or a file cannot be read or written.
pub async fn run(args: CapturesArgs) -> anyhow::Result<ExitCode> {
    let session = &HeadlessSession::open(&args.service).await?;
    if let CapturesCommand::List {
        last,
        unattributed: true,
        ..
    } = args.command
    {
        list_unattributed(session, last).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut archive = ArchiveReader::open(session).await?;
    archive.load_targets(args.command.query()).await?;
    let mut code = ExitCode::SUCCESS;
    match args.command {
        CapturesCommand::List { choice, last, .. } => {
            let found = newest(choice.read(&mut archive).await?, last);
            print(session, &archive.book, &found)?;
        }
        CapturesCommand::Show { id, logger, form } => {
            let found = find(archive.all().await?, id, logger.as_deref())?;
            show(session, &found, form)?;
        }
        CapturesCommand::Export { choice, format, to } => {
            let found = choice.read(&mut archive).await?;
            let (text, count) = (format.written(&found, None), plural(found.len(), "capture"));
            to.write(session.out, text.as_bytes(), &count)?;
        }
        CapturesCommand::Watch(args) => {
            session.client()?;
            let found = args.wait(&mut archive).await?;
            if found.is_empty() {
                code = ExitCode::from(exit::TIMED_OUT);
            }
            if session.out.json || !found.is_empty() {
                print(session, &archive.book, &found)?;
            } else {
                note!("scandeck: no matching capture before the timeout");
            }
        }
    }
    archive.close().await;
    Ok(code)
}

/// The newest of these, which are ordered by age; all without a number.
fn newest<T>(mut all: Vec<T>, number: Option<usize>) -> Vec<T> {
    let dropped = all.len().saturating_sub(number.unwrap_or(usize::MAX));
    all.drain(..dropped);
    all
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
    let requests = newest(listed.requests, last);
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
        capture::ID,
        capture::TIME,
        capture::LOGGER,
        capture::METHOD,
        capture::FROM,
        capture::REQUEST,
        "PAYLOAD",
        capture::PLACEMENT,
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
