//! `scandeck captures`: list, show, export, watch. Captured requests as the archive has them, with the payloads in them.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand, ValueEnum};
use jiff::Timestamp;

use super::archive::ArchiveReader;
use super::print::stamp;
use super::save::Destination;
use super::watch::WatchPace;
use super::{HeadlessSession, PrintTable, ServiceArgs, bundles, exit, save};
use crate::cli::advised::Advised;
use crate::contract::{CaptureId, Shared};
use crate::oob::{CaptureFormat, CaptureRecord, PayloadBook, Token, out, request};
use crate::query::{Query, QueryKind};
use crate::table::{RecognizedCapture, Rows};
use crate::text;
use crate::text::plural;

/// `scandeck captures …`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  scandeck captures list --known
  scandeck captures show 118 --as curl
  scandeck captures export --format har --query 'technique:SSRF delay<1h' -o hits.har
  scandeck captures watch --known --since 5m --timeout 10m && scandeck captures list --known

What the loggers recorded is archived on this machine as it is read, beside what the dashboard archived, and told from
there: clearing a logger or losing the service loses nothing that was seen. `--json` adds `logger`, `label` and
`payload` to the fields of the contract: the token of the payload book in it, or null.")]
pub struct CapturesArgs {
    #[command(flatten)]
    service: ServiceArgs,
    #[command(subcommand)]
    command: CapturesCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum CapturesCommand {
    /// Captured requests, oldest first
    List {
        #[command(flatten)]
        which: CaptureChoice,
        /// Only so many of them, the newest
        #[arg(long, value_name = "NUMBER")]
        last: Option<usize>,
    },
    /// One
    Show {
        /// Its id
        id: CaptureId,
        /// Of this logger, by id or label, where several have such an id
        #[arg(long, value_name = "ID|LABEL")]
        logger: Option<String>,
        /// As what
        #[arg(long = "as", value_enum, default_value_t = As::Fields)]
        form: As,
    },
    /// Writes them for other tools
    Export {
        #[command(flatten)]
        which: CaptureChoice,
        /// har, jsonl
        #[arg(long, value_parser = format)]
        format: CaptureFormat,
        #[command(flatten)]
        to: Destination,
    },
    /// Waits for a request that matches, prints it, and ends: 0 when one came, 3 when none did in time
    Watch {
        #[command(flatten)]
        which: CaptureChoice,
        /// Only with this payload
        #[arg(long, value_name = "TOKEN")]
        payload: Option<Token>,
        /// What came so long before counts too, such as 5m
        #[arg(long, value_name = "LENGTH", value_parser = length)]
        since: Option<Duration>,
        /// Waits no longer than this, such as 90s, 10m, 2h [default: for ever]
        #[arg(long, value_name = "LENGTH", value_parser = length)]
        timeout: Option<Duration>,
    },
}

/// How one is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum As {
    /// Its fields; with --json as JSON
    Fields,
    /// As it may have gone over the wire
    Raw,
    /// A command that sends it again
    Curl,
}

/// Which captures.
#[derive(Args, Clone, Debug, Default)]
struct CaptureChoice {
    /// Only of this logger, by id or label
    #[arg(long, value_name = "ID|LABEL")]
    logger: Option<String>,
    /// Only those that match, in the query language of the dashboard
    #[arg(long, value_name = "QUERY", value_parser = query)]
    query: Option<Query>,
    /// Only with a payload of the book
    #[arg(long)]
    known: bool,
}

fn query(text: &str) -> Result<Query, String> {
    Query::parse(text, QueryKind::Captures).map_err(|error| error.to_string())
}

fn format(text: &str) -> Result<CaptureFormat, String> {
    CaptureFormat::named(text).ok_or_else(|| CaptureFormat::NAMES.join(", "))
}

fn length(text: &str) -> Result<Duration, String> {
    let seconds = crate::query::value::span(text).and_then(|seconds| u64::try_from(seconds).ok());
    seconds.map(Duration::from_secs).ok_or_else(|| "a length of time is like 90s, 10m, 2h or 1h30m".to_owned())
}

/// Runs the command.
///
/// # Errors
/// What the service refuses, and when the archive or a file cannot be read or written.
pub async fn run(args: CapturesArgs) -> anyhow::Result<ExitCode> {
    let session = HeadlessSession::open(&args.service).await?;
    let mut archive = ArchiveReader::open(&session).await?;
    archive.learn_targets(args.command.query()).await?;
    let done = match args.command {
        CapturesCommand::List { which, last } => {
            let mut taken = which.of(archive.all().await?, &archive);
            taken.drain(..taken.len().saturating_sub(last.unwrap_or(usize::MAX)));
            told(&session, &archive.book, &taken)
        }
        CapturesCommand::Show { id, logger, form } => show(&session, &one(archive.all().await?, id, logger)?, form),
        CapturesCommand::Export { which, format, to } => {
            let taken = which.of(archive.all().await?, &archive);
            to.write(session.out, format.written(&taken).as_bytes(), &plural(taken.len(), "captured request"))
        }
        CapturesCommand::Watch { which, payload, since, timeout } => {
            session.client()?;
            let hits = CaptureWatch { which, payload, since, timeout }.hits(&mut archive).await?;
            let code = if hits.is_empty() { ExitCode::from(exit::TIMED_OUT) } else { ExitCode::SUCCESS };
            if session.out.json || !hits.is_empty() {
                told(&session, &archive.book, &hits)?;
            } else {
                eprintln!("scandeck: nothing came in time");
            }
            archive.close().await;
            return Ok(code);
        }
    };
    archive.close().await;
    done.map(|()| ExitCode::SUCCESS)
}

impl CapturesCommand {
    fn query(&self) -> Option<&Query> {
        match self {
            Self::List { which, .. } | Self::Export { which, .. } | Self::Watch { which, .. } => which.query.as_ref(),
            Self::Show { .. } => None,
        }
    }
}

impl CaptureChoice {
    /// What is asked for among these.
    fn of(&self, mut all: Vec<CaptureRecord>, archive: &ArchiveReader<'_>) -> Vec<CaptureRecord> {
        if let Some(logger) = &self.logger {
            all.retain(|sent| is_of(sent, logger));
        }
        all.retain(|sent| !self.known || known(sent).is_some());
        let Some(query) = &self.query else { return all };
        let row = |at: usize| {
            let CaptureRecord { capture, label, mentions, .. } = &all[at];
            RecognizedCapture { capture, label, mentions }
        };
        let (rows, now): (Vec<RecognizedCapture>, i64) =
            ((0..all.len()).map(row).collect(), Timestamp::now().as_second());
        let taken = query.matches(&Rows { rows: &rows, others: &archive.known(BTreeMap::new()), now });
        taken.rows().map(|at| all[at].clone()).collect()
    }
}

/// Waiting for a request.
struct CaptureWatch {
    which: CaptureChoice,
    payload: Option<Token>,
    since: Option<Duration>,
    timeout: Option<Duration>,
}

impl CaptureWatch {
    /// The first that come and match, together; none when the time is over.
    async fn hits(&self, archive: &mut ArchiveReader<'_>) -> anyhow::Result<Vec<CaptureRecord>> {
        let begun = Instant::now();
        let mut pace = WatchPace::new(Duration::from_millis(100), Duration::from_secs(1));
        let mut silent = false;
        let mut came = match self.since {
            Some(since) => lately(archive.all().await?, since),
            None => {
                archive.gather().await?;
                Vec::new()
            }
        };
        loop {
            let mut hits = self.which.of(came, archive);
            hits.retain(|sent| self.payload.is_none_or(|token| carries(sent, token)));
            let left = self.timeout.map_or(Duration::MAX, |timeout| timeout.saturating_sub(begun.elapsed()));
            if !hits.is_empty() || left.is_zero() {
                return Ok(hits);
            }
            // Once more after the last wait, however short that was.
            let _ = tokio::time::timeout(left, pace.next()).await;
            came = match archive.gather().await {
                Ok(new) => {
                    silent = false;
                    new
                }
                Err(error) if bundles::silence(&error).is_some() => {
                    if !std::mem::replace(&mut silent, true) {
                        eprintln!("scandeck: {} (trying again)", text::clean(&format!("{error:#}")));
                    }
                    Vec::new()
                }
                Err(error) => return Err(error),
            };
        }
    }
}

/// Those that came so long ago at the most.
fn lately(all: Vec<CaptureRecord>, since: Duration) -> Vec<CaptureRecord> {
    let oldest = Timestamp::now().as_second().saturating_sub(i64::try_from(since.as_secs()).unwrap_or(i64::MAX));
    all.into_iter().filter(|sent| sent.capture.request_date.is_some_and(|at| at.as_second() >= oldest)).collect()
}

fn is_of(sent: &CaptureRecord, logger: &str) -> bool {
    sent.logger.to_string() == logger || *sent.label == *logger
}

fn known(sent: &CaptureRecord) -> Option<Token> {
    sent.mentions.iter().find(|mention| mention.known).map(|mention| mention.token)
}

fn carries(sent: &CaptureRecord, token: Token) -> bool {
    sent.mentions.iter().any(|mention| mention.token == token)
}

fn one(all: Vec<CaptureRecord>, id: CaptureId, logger: Option<String>) -> anyhow::Result<CaptureRecord> {
    let mut found: Vec<CaptureRecord> = all.into_iter().filter(|sent| sent.capture.id == id).collect();
    if let Some(logger) = &logger {
        found.retain(|sent| is_of(sent, logger));
    }
    let mut labels: Vec<&Shared> = found.iter().map(|sent| &sent.label).collect();
    labels.sort();
    labels.dedup();
    if labels.len() > 1 {
        let labels: Vec<&str> = labels.iter().map(|label| label.as_str()).collect();
        let hint = format!("say whose with --logger: {}", labels.join(", "));
        return Err(Advised::usage(format!("several loggers have a capture {id}"), hint).into());
    }
    // A service may give an id twice, after a clear: the later one is meant.
    let unknown = || Advised::new(format!("there is no capture {id}"), "`scandeck captures list` shows them");
    Ok(found.pop().ok_or_else(unknown)?)
}

fn show(session: &HeadlessSession, sent: &CaptureRecord, form: As) -> anyhow::Result<()> {
    match form {
        As::Fields => return session.out.single(&out::value(sent)),
        As::Raw => session.out.outside(out::raw(sent).as_bytes()),
        As::Curl => {
            let body = || request::body(&sent.capture);
            let file = out::body_file(sent).map(|name| save::beside_others(&name, &body())).transpose()?;
            if let Some(name) = &file {
                eprintln!("scandeck: its body is in {name}");
            }
            session.out.line(&out::curl(sent, file.as_deref()));
        }
    }
    Ok(())
}

fn told(session: &HeadlessSession, book: &PayloadBook, all: &[CaptureRecord]) -> anyhow::Result<()> {
    let values: Vec<_> = all.iter().map(out::value).collect();
    session.out.list(&values, || table(book, all))
}

fn table(book: &PayloadBook, all: &[CaptureRecord]) -> PrintTable {
    let mut table = PrintTable::new(&["ID", "TIME", "LOGGER", "METHOD", "FROM", "REQUEST", "PAYLOAD", "PLANTED"]);
    for sent in all {
        let capture = &sent.capture;
        let payload = known(sent).and_then(|token| book.get(token));
        let query = if capture.url_params.is_empty() { String::new() } else { format!("?{}", capture.url_params) };
        table.row([
            capture.id.to_string(),
            stamp(capture.request_date),
            sent.label.to_string(),
            capture.request_method.to_string(),
            capture.ip_address.to_string(),
            format!("{}{query}", capture.path.as_deref().unwrap_or_default()),
            payload.map(|payload| payload.token.to_string()).unwrap_or_default(),
            payload.map(|payload| payload.place()).unwrap_or_default(),
        ]);
    }
    table
}
