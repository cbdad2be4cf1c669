//! `scandeck findings chain` and `link`: how a finding, or another object, is connected to
//! others, and links that a person adds.

use std::collections::BTreeSet;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::json;

use super::archive::ArchiveReader;
use super::findings::{is_named, not_found};
use super::rows::FindingRows;
use super::{HeadlessSession, decisions};
use crate::cli::error::CliError;
use crate::cli::stdio;
use scandeck_domain::chain::{
    CapturedToken, ChainData, ChainObject, ChainTree, LinkedFinding, RecordedLink, chain_of, lines,
};
use scandeck_domain::export::ExportRow;
use scandeck_domain::triage::{Change, ManualLink, Subject};
use scandeck_wire::contract::Shared;
use scandeck_wire::text::io_cause;

/// Prints the chain of the object with this name.
///
/// # Errors
/// Those of the service, when the archive cannot be read, and when no object has this name.
pub async fn run(session: &HeadlessSession, name: &str) -> anyhow::Result<()> {
    let rows = FindingRows::load(session).await?;
    let root = object(&rows, name)?;
    let rest = others(session, &rows).await?;
    let work = move || {
        let findings = rows.all.iter().map(linked);
        let data = ChainData {
            findings: findings.collect::<Result<_, CliError>>()?,
            ..rest
        };
        Ok::<ChainTree, CliError>(chain_of(&root, &data))
    };
    let tree = tokio::task::spawn_blocking(work).await??;
    if session.out.json {
        return session.out.value(&tree.json());
    }
    let printed: String = lines(&tree)
        .iter()
        .map(|line| line.printed() + "\n")
        .collect();
    stdio::print(printed.as_bytes())
}

/// The targets, payloads and captures that findings can be connected to.
///
/// # Errors
/// Those of the service, and when the archive cannot be read.
pub async fn others(session: &HeadlessSession, rows: &FindingRows) -> anyhow::Result<ChainData> {
    let mut archive = ArchiveReader::open(session).await?;
    let hits = archive.each_hit().await?;
    let payloads = archive.payloads();
    archive.close().await;
    Ok(ChainData {
        findings: Vec::new(),
        targets: rows.target_names().into_iter().map(Shared::from).collect(),
        payloads,
        captured: hits.iter().map(CapturedToken::from).collect(),
        manual: manual_links(rows),
    })
}

fn manual_links(rows: &FindingRows) -> Vec<RecordedLink> {
    let workspaces: BTreeSet<&Shared> = rows.all.iter().map(|row| &row.workspace).collect();
    let links = workspaces
        .into_iter()
        .flat_map(|workspace| rows.state().manual_links(workspace));
    links.collect()
}

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck findings link 4711 service:db.test:5432 --reason 'the password in the file opens it'")]
pub struct LinkArgs {
    /// Id of any occurrence, fingerprint, or another object such as service:HOST:PORT
    #[arg(value_name = "FROM", allow_negative_numbers = true)]
    from: String,
    /// The other object; one of both is a finding
    #[arg(value_name = "TO", allow_negative_numbers = true)]
    to: String,
    /// Why they are connected
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    reason: String,
}

/// Adds a link between two objects to the decisions of the workspace.
///
/// # Errors
/// Those of the service, when no object has a name, and when the link cannot be saved.
pub async fn link(session: &HeadlessSession, args: LinkArgs) -> anyhow::Result<()> {
    let rows = FindingRows::load(session).await?;
    let (from, to) = (object(&rows, &args.from)?, object(&rows, &args.to)?);
    if from == to {
        return Err(CliError::usage("an object cannot be linked to itself", "name two").into());
    }
    let is_end = |row: &&ExportRow| {
        let own = ChainObject::Finding(row.issue.key());
        own == from || own == to
    };
    let Some(row) = rows.all.iter().find(is_end) else {
        let hint = "`scandeck findings list` lists findings";
        return Err(CliError::usage("one of the two objects must be a finding", hint).into());
    };
    let link = ManualLink {
        from: from.to_string().into(),
        to: to.to_string().into(),
        reason: args.reason.into(),
    };
    let printed = format!("{from} linked to {to}");
    let change = Change::Link(Box::new(link));
    let changes = vec![(row.workspace.clone(), Subject::Workspace, change)];
    decisions::write(
        &session.memory,
        session.author().await?,
        rows.state(),
        changes,
    )
    .await?;
    match session.out.json {
        true => session.out.value(&json!({"from": from, "to": to})),
        false => session.out.line(&printed),
    }
}

/// A finding by id or fingerprint, or any object by its name in JSON.
fn object(rows: &FindingRows, name: &str) -> Result<ChainObject, CliError> {
    let row = rows.all.iter().find(|row| is_named(row, name));
    match row {
        Some(row) => Ok(ChainObject::Finding(row.issue.key())),
        None if name.contains(':') => name
            .parse()
            .map_err(|error: String| CliError::new(error, "`--json` prints the names of objects")),
        None => Err(not_found(name)),
    }
}

fn linked(row: &ExportRow) -> Result<LinkedFinding, CliError> {
    let texts = row.issue.texts().map_err(|error| {
        let message = format!(
            "evidence of finding {} not read: {}",
            row.issue.finding.id,
            io_cause(&error)
        );
        CliError::new(message, "check the disk of this machine")
    })?;
    Ok(row.issue.linked(&row.target, &texts))
}
