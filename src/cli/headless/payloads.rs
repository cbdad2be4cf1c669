//! `scandeck payloads`: new, list. URLs of a logger with a token each, recorded before they are printed.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::archive::{ArchiveReader, KnownPayloads};
use super::logger::{self, Homed};
use super::print::stamp;
use super::{HeadlessSession, PrintTable, ServiceArgs, save};
use crate::cli::advised::Advised;
use crate::contract::{Logger, Shared, Stamp};
use crate::oob::lifetime::over;
use crate::oob::{MOST, Payload, PayloadBook, PayloadOrigin, PayloadRequest, PayloadShape, UrlForm};
use crate::query::{Query, QueryKind};
use crate::table::{OtherLists, Rows};
use crate::text;

/// Random numbers drawn beyond what is wanted: one that is taken is left out.
const SPARE: usize = 16;

/// `scandeck payloads …`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  url=$(scandeck payloads new --logger blind-ssrf --technique SSRF --parameter url)
  scandeck payloads new --logger 3 --count 200 --shape img -o payloads.txt
  scandeck payloads list --json | jq -r '.[] | select(.hits > 0) | [.batch, .number, .hits] | @tsv'
  scandeck payloads list --query 'is:waiting made<7d'

A line is one payload, with a token of its own; its number in the book is that of its line.")]
pub struct PayloadsArgs {
    #[command(flatten)]
    service: ServiceArgs,
    #[command(subcommand)]
    command: PayloadsCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum PayloadsCommand {
    /// Makes payloads, records them, and prints one a line
    New(Box<NewArgs>),
    /// What was made, oldest first, and how often each came back
    List {
        /// Only those that match, in the query language of the dashboard
        #[arg(long, value_name = "QUERY", value_parser = query)]
        query: Option<Query>,
        /// Only what came back
        #[arg(long)]
        hit: bool,
    },
}

/// Options of `scandeck payloads new`.
#[derive(Args, Clone, Debug)]
struct NewArgs {
    /// The logger they call, by id or label
    #[arg(long, value_name = "ID|LABEL")]
    logger: String,
    /// How many
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = count)]
    count: usize,
    /// plain, schemeless, hostless, encoded, xxe, img, svg, curl
    #[arg(long, value_name = "SHAPE", default_value_t = PayloadShape::Plain)]
    shape: PayloadShape,
    /// The token in the path instead of the query, where the service records paths
    #[arg(long)]
    path: bool,
    /// Into this file, which must not be there yet [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What they are made for [default: the name of the file]
    #[arg(long, value_name = "TEXT")]
    batch: Option<String>,
    /// Name of the target they are planted in
    #[arg(long, value_name = "TEXT", default_value = "")]
    target: String,
    /// Where: a parameter, or a header
    #[arg(long, value_name = "TEXT", default_value = "")]
    parameter: String,
    /// What is tried, such as SSRF
    #[arg(long, value_name = "TEXT", default_value = "")]
    technique: String,
    /// Whatever else is worth knowing later
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
}

fn query(text: &str) -> Result<Query, String> {
    Query::parse(text, QueryKind::Payloads).map_err(|error| error.to_string())
}

fn count(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| (1..=MOST).contains(count));
    count.ok_or_else(|| format!("1 to {MOST}"))
}

/// Runs the command.
///
/// # Errors
/// What the service refuses, when the logger is unknown, and when the book cannot be read or written.
pub async fn run(args: PayloadsArgs) -> anyhow::Result<ExitCode> {
    let session = HeadlessSession::open(&args.service).await?;
    match args.command {
        PayloadsCommand::New(new) => make(&session, &new).await?,
        PayloadsCommand::List { query, hit } => list(&session, query.as_ref(), hit).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn make(session: &HeadlessSession, args: &NewArgs) -> anyhow::Result<()> {
    // Lines that were planted are not lost to new ones, and none is recorded that is not written.
    if let Some(path) = args.output.as_ref().filter(|path| path.exists()) {
        return Err(save::taken(path).into());
    }
    let (workspace, logger) = recording(session, &args.logger).await?;
    let mut archive = ArchiveReader::open(session).await?;
    let payloads = args.payloads(&archive.book, (session, &workspace, &logger));
    // Recorded first: one that is planted and not in the book would never be recognised.
    archive.plant(&payloads).await?;
    archive.close().await;
    let lines: String = payloads.iter().map(|payload| format!("{}\n", args.shape.of(&payload.url))).collect();
    if let Some(path) = &args.output {
        save::new(path, lines.as_bytes())?;
        eprintln!(
            "scandeck: {} of logger {} in {}",
            text::plural(payloads.len(), "payload"),
            text::clean(&logger.label),
            path.display()
        );
    }
    match (session.out.json, &args.output) {
        (true, _) => session.out.value(&payloads.iter().map(|payload| value(payload)).collect::<Vec<_>>()),
        (false, None) => {
            session.out.outside(lines.as_bytes());
            Ok(())
        }
        (false, Some(_)) => Ok(()),
    }
}

/// The logger of this id or label among the workspaces in question, and the name of its workspace: of several with this
/// label the one that still records.
async fn recording(session: &HeadlessSession, named: &str) -> anyhow::Result<Homed> {
    let all = logger::all(session).await?;
    let mut called = logger::called(&all, named);
    let why = called.first().and_then(|(_, logger)| over(logger));
    called.retain(|(_, logger)| over(logger).is_none());
    if let (true, Some(why)) = (called.is_empty(), why) {
        let hint = "`scandeck loggers create LABEL` makes a new one";
        return Err(Advised::new(format!("logger {named:?} records no more: {why}"), hint).into());
    }
    Ok(logger::only(&called, &all, named)?)
}

impl NewArgs {
    fn payloads(
        &self,
        book: &PayloadBook,
        (session, workspace, logger): (&HeadlessSession, &Shared, &Logger),
    ) -> Vec<Arc<Payload>> {
        let file = self.output.as_ref().and_then(|path| path.file_name());
        let batch = self.batch.clone().or(file.map(|name| name.to_string_lossy().into_owned()));
        let shared = |text: &str| Shared::from(text.trim());
        let payload_request = PayloadRequest {
            logger: logger.id,
            label: logger.label.clone(),
            handler_url: logger.handler_url.clone(),
            form: if self.path { UrlForm::Path } else { UrlForm::Query },
            count: self.count,
            into: Some(batch.unwrap_or_default()),
            target: shared(&self.target),
            ..PayloadRequest::default()
        };
        let stamped = PayloadOrigin {
            workspace: workspace.clone(),
            who: session.memory.who.as_str().into(),
            at: Some(Stamp(Timestamp::now())),
            offset: session.clock_offset(),
        };
        let numbers: Vec<u64> = (0..payload_request.count + SPARE).map(|_| rand::random()).collect();
        let placed = |payload: &Arc<Payload>| Payload {
            parameter: shared(&self.parameter),
            technique: shared(&self.technique),
            note: shared(&self.note),
            ..Payload::clone(payload)
        };
        payload_request.payloads(&numbers, book, &stamped).iter().map(placed).map(Arc::new).collect()
    }
}

/// A payload as JSON: its token is its id.
fn value(payload: &Payload) -> Value {
    let mut value = serde_json::to_value(payload).unwrap_or_default();
    if let Value::Object(fields) = &mut value {
        fields.insert("id".to_owned(), json!(payload.token));
    }
    value
}

async fn list(session: &HeadlessSession, query: Option<&Query>, hit: bool) -> anyhow::Result<()> {
    let mut archive = ArchiveReader::open(session).await?;
    let hits = archive.hits().await?;
    let known = archive.known(hits);
    let mut payloads = archive.payloads();
    payloads.retain(|payload| !hit || known.hits.contains_key(&payload.token));
    if let Some(query) = query {
        let rows: Vec<Payload> = payloads.iter().map(|payload| Payload::clone(payload)).collect();
        let taken = query.matches(&Rows { rows: &rows, others: &known, now: Timestamp::now().as_second() });
        payloads = taken.rows().map(|at| Arc::clone(&payloads[at])).collect();
    }
    let told = |payload: &Arc<Payload>| {
        let (mut value, hits) = (value(payload), known.hits_of(payload.token));
        value["hits"] = json!(hits.count);
        value["first_hit"] = json!(hits.first.map(|at| at.to_string()));
        value["last_hit"] = json!(hits.last.map(|at| at.to_string()));
        value
    };
    let values: Vec<Value> = payloads.iter().map(told).collect();
    session.out.list(&values, || table(&payloads, &known))?;
    archive.close().await;
    Ok(())
}

fn table(payloads: &[Arc<Payload>], known: &KnownPayloads<'_>) -> PrintTable {
    let mut table =
        PrintTable::new(&["TOKEN", "MADE", "LOGGER", "PLANTED", "TECHNIQUE", "NOTE", "HITS", "AFTER", "LAST"]);
    for payload in payloads {
        let hits = known.hits_of(payload.token);
        let after = hits.delay(payload, known.clock_offset());
        table.row([
            payload.token.to_string(),
            stamp(payload.at),
            payload.label.to_string(),
            payload.place(),
            payload.technique.to_string(),
            payload.note.to_string(),
            hits.count.to_string(),
            after.map(|delay| delay.to_string()).unwrap_or_default(),
            stamp(hits.last),
        ]);
    }
    table
}
