//! `scandeck payloads`: new, list. URLs of a logger with a token each, recorded before they are printed.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::archive::Archive;
use super::print::stamp;
use super::{ServiceArgs, Session, Table, save};
use crate::cli::advised::Advised;
use crate::contract::{Logger, Shared, Stamp};
use crate::oob::payload::Form;
use crate::oob::{Book, Payload, Shape, Token};

/// Most payloads at once.
const MOST: i64 = 10_000;

/// `scandeck payloads …`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  url=$(scandeck payloads new --logger blind-ssrf --technique SSRF --parameter url)
  scandeck payloads new --logger 3 --count 200 --shape img -o payloads.txt
  scandeck payloads list --json | jq -r '.[] | select(.hits > 0) | [.batch, .number, .hits] | @tsv'

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
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(i64).range(1..=MOST))]
    count: i64,
    /// plain, schemeless, hostless, encoded, xxe, img, svg, curl
    #[arg(long, value_name = "SHAPE", default_value_t = Shape::Plain)]
    shape: Shape,
    /// The token in the path instead of the query, where the service records paths
    #[arg(long)]
    path: bool,
    /// Into this file, over what may be there [default: standard output]
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

/// Runs the command.
///
/// # Errors
/// What the service refuses, when the logger is unknown, and when the book cannot be read or written.
pub async fn run(args: PayloadsArgs) -> anyhow::Result<ExitCode> {
    let session = Session::open(&args.service).await?;
    match args.command {
        PayloadsCommand::New(new) => make(&session, &new).await?,
        PayloadsCommand::List { hit } => list(&session, hit).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn make(session: &Session, args: &NewArgs) -> anyhow::Result<()> {
    let (workspace, logger) = logger(session, &args.logger).await?;
    let mut archive = Archive::open(session).await?;
    let payloads = args.payloads(&archive.book, (session, &workspace, &logger));
    // Recorded first: one that is planted and not in the book would never be recognised.
    archive.plant(&payloads).await?;
    archive.close().await;
    let lines: String = payloads.iter().map(|payload| format!("{}\n", args.shape.of(&payload.url))).collect();
    if let Some(path) = &args.output {
        save::over(path, lines.as_bytes())?;
        eprintln!("scandeck: {} payloads of logger {} in {}", payloads.len(), logger.label, path.display());
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

/// The logger of this id or label among the workspaces in question, and the name of its workspace.
async fn logger(session: &Session, named: &str) -> anyhow::Result<(Shared, Logger)> {
    let mut labels = Vec::new();
    for workspace in session.workspaces().await? {
        for logger in session.client.list_loggers(Some(workspace.id)).await? {
            if logger.id.to_string() == named || *logger.label == *named {
                return Ok((workspace.name, logger));
            }
            labels.push(logger.label.to_string());
        }
    }
    let hint = match labels.is_empty() {
        true => "`scandeck loggers create LABEL` makes one".to_owned(),
        false => format!("there are: {}", labels.join(", ")),
    };
    Err(Advised::new(format!("there is no logger {named:?}"), hint).into())
}

impl NewArgs {
    fn payloads(&self, book: &Book, (session, workspace, logger): (&Session, &Shared, &Logger)) -> Vec<Arc<Payload>> {
        let form = if self.path { Form::Path } else { Form::Query };
        let file =
            self.output.as_ref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy().into_owned());
        let shared = |text: &str| Shared::from(text.trim());
        let batch = shared(&self.batch.clone().or(file).unwrap_or_default());
        let at = Some(Stamp(Timestamp::now()));
        let offset = session.client.clock_offset().map(|offset| offset.as_secs());
        let one = |(number, token): (i64, Token)| Payload {
            token,
            url: form.url(&logger.handler_url, token).into(),
            logger: logger.id,
            label: logger.label.clone(),
            workspace: workspace.clone(),
            at,
            offset,
            who: session.memory.who.as_str().into(),
            number: Some(number),
            batch: batch.clone(),
            target: shared(&self.target),
            parameter: shared(&self.parameter),
            technique: shared(&self.technique),
            note: shared(&self.note),
            ..Payload::default()
        };
        let mut taken = HashSet::new();
        let free = std::iter::repeat_with(|| Token::of(rand::random()));
        let free = free.filter(|&token| book.get(token).is_none() && taken.insert(token));
        (1..=self.count).zip(free).map(one).map(Arc::new).collect()
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

/// How often it came back, and when at last.
type Hits = (usize, Option<Stamp>);

async fn list(session: &Session, hit: bool) -> anyhow::Result<()> {
    let mut archive = Archive::open(session).await?;
    let mut hits: BTreeMap<Token, Hits> = BTreeMap::new();
    for sent in archive.all().await? {
        let mut tokens: Vec<Token> =
            sent.mentions.iter().filter(|mention| mention.known).map(|mention| mention.token).collect();
        tokens.sort();
        tokens.dedup();
        for token in tokens {
            let (count, last) = hits.entry(token).or_default();
            (*count, *last) = (*count + 1, (*last).max(sent.capture.request_date));
        }
    }
    let mut payloads = archive.payloads();
    archive.close().await;
    payloads.retain(|payload| !hit || hits.contains_key(&payload.token));
    let of = |payload: &Payload| hits.get(&payload.token).copied().unwrap_or_default();
    let values: Vec<Value> = payloads
        .iter()
        .map(|payload| {
            let (mut value, (count, last)) = (value(payload), of(payload));
            value["hits"] = json!(count);
            value["last_hit"] = json!(last.map(|at| at.to_string()));
            value
        })
        .collect();
    session.out.list(&values, || {
        let mut table = Table::new(&["TOKEN", "MADE", "LOGGER", "PLANTED", "TECHNIQUE", "NOTE", "HITS", "LAST"]);
        for payload in &payloads {
            let (count, last) = of(payload);
            table.row([
                payload.token.to_string(),
                stamp(payload.at),
                payload.label.to_string(),
                place(payload),
                payload.technique.to_string(),
                payload.note.to_string(),
                count.to_string(),
                stamp(last),
            ]);
        }
        table
    })
}

/// Where it was put, as far as it was written: `url · #17 urls.txt · shop.test`.
pub(super) fn place(payload: &Payload) -> String {
    let line = payload.number.map(|number| format!("#{number} {}", payload.batch)).unwrap_or_default();
    let parts = [payload.parameter.as_str(), line.trim(), payload.target.as_str()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}
