//! `scandeck findings chain`: how a finding, or another object, hangs together with others.

use super::HeadlessSession;
use super::archive::ArchiveReader;
use super::findings::{is_named, not_found};
use super::rows::FindingRows;
use crate::cli::error::CliError;
use crate::cli::stdio;
use scandeck_domain::chain::{
    CapturedToken, ChainData, ChainObject, ChainTree, LinkedFinding, chain_of, lines,
};
use scandeck_domain::export::ExportRow;
use scandeck_wire::contract::Shared;
use scandeck_wire::text::io_cause;

/// Prints the chain of the object with this name.
///
/// # Errors
/// Those of the service, when the archive cannot be read, and when no object has this name.
pub async fn run(session: &HeadlessSession, name: &str) -> anyhow::Result<()> {
    let rows = FindingRows::load(session).await?;
    let root = object(&rows, name)?;
    let others = others(session, &rows).await?;
    let work = move || {
        let findings = rows.all.iter().map(linked);
        let data = ChainData {
            findings: findings.collect::<Result<_, CliError>>()?,
            ..others
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

/// The targets, payloads and captures that findings can hang together with.
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
    })
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
