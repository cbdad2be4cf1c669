//! `scandeck payloads`: new, list. Payloads contain a token each and are recorded before they are
//! printed.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::archive::ArchiveReader;
use super::logger::{self, WorkspaceLogger};
use super::print::{cells, or_dash};
use super::{HeadlessSession, PrintTable, ServiceArgs, save};
use crate::cli::error::CliError;
use scandeck_domain::oob::lifetime::over;
use scandeck_domain::oob::{
    MOST, Payload, PayloadBook, PayloadOrigin, PayloadRequest, PayloadShape, UrlForm,
};
use scandeck_domain::query::{Query, QueryKind};
use scandeck_domain::table::columns::payload;
use scandeck_domain::table::{OtherLists, Rows};
use scandeck_domain::triage::ListContext;
use scandeck_wire::contract::{Shared, Stamp};
use scandeck_wire::text;

/// Additional random numbers, in case some tokens are in use.
const SPARE_NUMBERS: usize = 16;

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  url=$(scandeck payloads new --logger blind-ssrf --technique SSRF --parameter url)")]
pub struct PayloadsArgs {
    #[command(flatten)]
    service: ServiceArgs,
    #[command(subcommand)]
    command: PayloadsCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum PayloadsCommand {
    /// Create payloads, record them, and print one per line
    #[command(
        after_help = "Example:\n  scandeck payloads new --logger 3 --count 200 --shape img -o payloads.txt"
    )]
    New(Box<NewArgs>),
    /// List payloads with their hits, oldest first
    #[command(after_help = "Example:\n  scandeck payloads list --query 'is:waiting made<7d'")]
    List {
        /// Only payloads that match this query (see docs/query.md)
        #[arg(long, value_name = "QUERY", allow_hyphen_values = true, value_parser = |text: &str| super::query(text, QueryKind::Payloads))]
        query: Option<Query>,
        /// Only payloads with hits
        #[arg(long)]
        hit: bool,
    },
}

#[derive(Args, Clone, Debug)]
struct NewArgs {
    /// Logger of the payloads
    #[arg(long, value_name = "ID|LABEL")]
    logger: String,
    /// Number of payloads
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = count)]
    count: usize,
    /// plain, schemeless, hostless, encoded, xxe, img, svg, curl
    #[arg(long, value_name = "SHAPE", default_value_t = PayloadShape::Plain)]
    shape: PayloadShape,
    /// Put the token into the path, not the query, if the service records paths
    #[arg(long)]
    path: bool,
    /// Write to this file, which must not exist; `-` for standard output [default: -]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Name of the batch [default: name of the file]
    #[arg(long, value_name = "TEXT")]
    batch: Option<String>,
    /// Target in which the payloads are planted
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    target: String,
    /// Parameter or header in which the payloads are planted
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    parameter: String,
    /// Technique, such as SSRF
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    technique: String,
    /// Note
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    note: String,
}

fn count(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|count| (1..=MOST).contains(count))
        .ok_or_else(|| format!("use 1 to {MOST}"))
}

/// Runs the command.
///
/// # Errors
/// Those of the service, when the logger does not exist, and when the payload book cannot be read
/// or written.
pub async fn run(args: PayloadsArgs) -> anyhow::Result<ExitCode> {
    let session = HeadlessSession::open(&args.service).await?;
    match args.command {
        PayloadsCommand::New(new) => create(&session, &new).await?,
        PayloadsCommand::List { query, hit } => list(&session, query.as_ref(), hit).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn create(session: &HeadlessSession, args: &NewArgs) -> anyhow::Result<()> {
    // A file with planted payloads is never overwritten, and no payload is recorded that cannot be
    // written.
    if let Some(path) = args.file().filter(|path| path.symlink_metadata().is_ok()) {
        return Err(save::exists(path).into());
    }
    let logger = find_recording(session, &args.logger).await?;
    let mut archive = ArchiveReader::open(session).await?;
    let payloads = args.payloads(&archive.book, session, session.author().await?, &logger);
    // Recorded first: a planted payload that is not in the book would never be recognised.
    archive.record(&payloads).await?;
    archive.close().await;
    let lines: String = payloads
        .iter()
        .map(|payload| format!("{}\n", args.shape.of(&payload.url)))
        .collect();
    if let Some(path) = args.file() {
        save::create(path, lines.as_bytes())?;
        let count = text::plural(payloads.len(), "payload");
        note!(
            "{count} of logger {} written to {}",
            text::clean(&logger.1.label),
            path.display()
        );
    }
    if session.out.json {
        return session.out.value(
            &payloads
                .iter()
                .map(|payload| value(payload))
                .collect::<Vec<_>>(),
        );
    }
    if args.file().is_none() {
        session.out.outside(lines.as_bytes())?;
    }
    Ok(())
}

/// The logger with this id or label in the selected workspaces; of several with this label the one
/// that still records.
async fn find_recording(session: &HeadlessSession, name: &str) -> anyhow::Result<WorkspaceLogger> {
    let all = logger::all(session).await?;
    let mut found = logger::named(&all, name);
    let cause = found.first().and_then(|(_, logger)| over(logger));
    found.retain(|(_, logger)| over(logger).is_none());
    if let (true, Some(cause)) = (found.is_empty(), cause) {
        let hint = "`scandeck loggers create LABEL` creates a new one";
        return Err(
            CliError::new(format!("logger {name:?} no longer records: {cause}"), hint).into(),
        );
    }
    Ok(logger::single(&found, &all, name)?)
}

impl NewArgs {
    /// The file to write; none for standard output.
    fn file(&self) -> Option<&Path> {
        self.output
            .as_deref()
            .filter(|path| path.as_os_str() != "-")
    }

    fn payloads(
        &self,
        book: &PayloadBook,
        session: &HeadlessSession,
        who: Shared,
        (workspace, logger): &WorkspaceLogger,
    ) -> Vec<Arc<Payload>> {
        let file = self.file().and_then(|path| path.file_name());
        let batch = self
            .batch
            .clone()
            .or(file.map(|name| name.to_string_lossy().into_owned()));
        let shared = |text: &str| Shared::from(text.trim());
        let request = PayloadRequest {
            logger: logger.id,
            label: logger.label.clone(),
            handler_url: logger.handler_url.clone(),
            form: if self.path {
                UrlForm::Path
            } else {
                UrlForm::Query
            },
            count: self.count,
            into: Some(batch.unwrap_or_default()),
            target: shared(&self.target),
            ..PayloadRequest::default()
        };
        let origin = PayloadOrigin {
            workspace: workspace.clone(),
            who,
            at: Some(Stamp(Timestamp::now())),
            offset: session.clock_offset(),
        };
        let numbers: Vec<u64> = (0..request.count + SPARE_NUMBERS)
            .map(|_| rand::random())
            .collect();
        let placed = |payload: &Arc<Payload>| Payload {
            parameter: shared(&self.parameter),
            technique: shared(&self.technique),
            note: shared(&self.note),
            ..Payload::clone(payload)
        };
        request
            .payloads(&numbers, book, &origin)
            .iter()
            .map(placed)
            .map(Arc::new)
            .collect()
    }
}

/// A payload as JSON, with its token as id.
fn value(payload: &Payload) -> Value {
    let mut value = serde_json::to_value(payload).unwrap_or_default();
    value["id"] = json!(payload.token);
    value
}

async fn list(session: &HeadlessSession, query: Option<&Query>, hit: bool) -> anyhow::Result<()> {
    let mut archive = ArchiveReader::open(session).await?;
    let hits = archive.hits().await?;
    let others = archive.others(&hits);
    let mut payloads = archive.payloads();
    payloads.retain(|payload| !hit || hits.contains_key(&payload.token));
    if let Some(query) = query {
        let rows: Vec<Payload> = payloads
            .iter()
            .map(|payload| Payload::clone(payload))
            .collect();
        let matching = query.matches(&Rows {
            rows: &rows,
            others: &others,
            now: Timestamp::now().as_second(),
        });
        payloads = matching
            .rows()
            .map(|at| Arc::clone(&payloads[at]))
            .collect();
    }
    let with_hits = |payload: &Arc<Payload>| {
        let (mut value, hits) = (
            value(payload),
            hits.get(&payload.token).copied().unwrap_or_default(),
        );
        value["hits"] = json!(hits.count);
        value["first_hit"] = json!(hits.first.map(|at| at.to_string()));
        value["last_hit"] = json!(hits.last.map(|at| at.to_string()));
        value
    };
    let values: Vec<Value> = payloads.iter().map(with_hits).collect();
    session.out.list(&values, || table(&payloads, &others))?;
    archive.close().await;
    Ok(())
}

fn table(payloads: &[Arc<Payload>], others: &ListContext<'_>) -> PrintTable {
    let header = [
        payload::TOKEN,
        payload::CREATED,
        payload::LOGGER,
        payload::PLACEMENT,
        payload::TECHNIQUE,
        payload::NOTE,
        payload::HITS,
        payload::DELAY,
        "LAST",
    ];
    PrintTable::of(header, payloads, |one| {
        let hits = others.hits(one.token).copied().unwrap_or_default();
        let after = hits
            .delay(one, others.clock_offset())
            .map(|delay| delay.to_string())
            .unwrap_or_default();
        let (made, last) = (or_dash(one.at), or_dash(hits.last));
        cells![
            one.token,
            made,
            one.label,
            one.place(),
            one.technique,
            one.note,
            hits.count,
            after,
            last
        ]
    })
}
