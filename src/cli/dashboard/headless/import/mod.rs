//! `scandeck import`: sends result files of other scanners to the service, which stores them as
//! finished scans.
//!
//! ```text
//!   file ─► format ─► POST /imports ─► its end ─► scans ─► changes ─► --fail-on ─► exit code
//!      └─► --to-service: `to_service`, findings in the form of the hosted service
//! ```
//!
//! The service reads the file and reports what it contains. Only the beginning is read here, so
//! that no file in an unknown format is sent.

mod changes;
mod named_progress;
mod stored_file;
mod to_service;

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;

use super::findings::table;
use super::{HeadlessSession, ServiceArgs, exit, gate};
use crate::cli::error::CliError;
use crate::cli::import::{ImportArgs, files, print_json};
use crate::cli::progress::{PROGRESS, ProgressLine};
use scandeck_client::{Client, ClientResult, ErrorKind, UploadFile};
use scandeck_domain::export::{ExportRow, json};
use scandeck_domain::query::Query;
use scandeck_import::{FilePreview, ImportFormat};
use scandeck_wire::contract::import::{FileImport, IMPORTS, ImportState, NewImport};
use scandeck_wire::contract::{ImportId, ScanId};
use scandeck_wire::text::io_cause;
use stored_file::StoredFile;

/// The remedy where a service has no imports.
const OTHER_WAYS: &str = "--to-service sends only the findings; with --local, the service on this machine stores the file";

/// What a terminal shows until an import has ended.
const IN_SERVICE: &str = "the service imports the file";

#[derive(Args, Clone, Debug)]
pub struct ImportStore {
    /// Target of all results [default: the targets that the file names]
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// The run tested the same as the last one: findings that the file does not have are absent
    #[arg(long)]
    complete: bool,
    /// Exit code 3 when a finding of the imported scans matches
    #[arg(long, value_name = "QUERY", value_parser = gate::parse)]
    fail_on: Option<Query>,
    /// Send only the findings, to a service that has nothing but `POST /findings/import`
    #[arg(long, conflicts_with_all = ["complete", "fail_on"])]
    to_service: bool,
    /// Confirm --to-service
    #[arg(long, requires = "to_service")]
    yes: bool,
    /// Import at the local service, although another one is configured
    #[arg(long, conflicts_with_all = ["to_service", "base_url", "profile"])]
    local: bool,
    // Last, because its heading applies to all later arguments.
    #[command(flatten)]
    service: ServiceArgs,
}

impl ImportStore {
    pub fn is_json(&self) -> bool {
        self.service.json
    }
}

/// A file to send.
struct ResultFile {
    file: File,
    format: &'static ImportFormat,
}

/// Imports the files.
///
/// # Errors
/// When no service is found, a folder cannot be listed, and those of the service.
pub async fn run(args: ImportArgs) -> anyhow::Result<ExitCode> {
    let session = match args.service.local {
        true => HeadlessSession::open_local(&args.service.service).await?,
        false => HeadlessSession::open(&args.service.service).await?,
    };
    let session = &session;
    session.require_writable()?;
    let client = session.client()?;
    let paths = files::listed(&args.files, args.recursive)?;
    if args.service.to_service {
        return to_service::run(session, &args, &paths).await;
    }
    let new = NewImport {
        workspace_id: session.workspace_id().await?,
        target_name: args.service.target.clone(),
        format: args.format.clone(),
        file_name: None,
        complete: args.service.complete.then_some(true),
    };
    let mut run = ImportRuns::default();
    for path in &paths {
        let stored = run.store(client, &new, path).await?;
        if !session.out.json {
            stored.iter().try_for_each(|file| file.print(session))?;
        }
        run.files.extend(stored);
    }
    changes::compare(session, &mut run.files).await?;
    if !session.out.json {
        run.files
            .iter()
            .try_for_each(|file| file.print_changes(session))?;
    }
    let matched = match &args.service.fail_on {
        Some(query) => run.gate(session, query).await?,
        None => Vec::new(),
    };
    if session.out.json {
        print_json(&run.files)?;
    } else if !matched.is_empty() {
        session.out.table(&table(&matched))?;
    }
    Ok(run.code(!matched.is_empty()))
}

impl ResultFile {
    /// Opens a file and recognises its format.
    ///
    /// # Errors
    /// The file, or each file of an archive, with the reason why it is not sent.
    fn open(path: &Path, format: Option<&str>) -> Result<Self, Vec<FilePreview>> {
        let shown = path.display().to_string();
        let file = files::open(path)
            .map_err(|error| vec![FilePreview::failed(&shown, io_cause(&error))])?;
        let format = FilePreview::recognise(&shown, &file, format)?;
        Ok(Self { file, format })
    }
}

/// The name of a file without folders; standard input has none.
fn name_of(path: &Path) -> Option<String> {
    let name = path.file_name().filter(|_| path != Path::new("-"))?;
    Some(name.to_string_lossy().into_owned())
}

/// The files so far.
#[derive(Default)]
struct ImportRuns {
    files: Vec<StoredFile>,
    /// The service did not store a file that it had accepted.
    is_unfinished: bool,
}

impl ImportRuns {
    /// Sends a file and waits for the end of its import. A file that the service refuses does not
    /// stop the others.
    async fn store(
        &mut self,
        client: &Client,
        new: &NewImport,
        path: &Path,
    ) -> anyhow::Result<Vec<StoredFile>> {
        let ResultFile { file, format } = match ResultFile::open(path, new.format.as_deref()) {
            Ok(file) => file,
            Err(unknown) => return Ok(unknown.into_iter().map(StoredFile::unsent).collect()),
        };
        let upload = UploadFile::new(file)?;
        let new = NewImport {
            file_name: name_of(path),
            ..new.clone()
        };
        let refused = |why: &str| vec![StoredFile::refused(path, format, why)];
        let mut line = ProgressLine::default();
        let name = new.file_name.as_deref().unwrap_or("standard input");
        let begun = match send(client, &new, &upload, &mut line, name).await {
            Ok(begun) => begun,
            Err(error) if is_about_file(&error) => return Ok(refused(&error.to_string())),
            Err(error) if error.kind == ErrorKind::NotOffered => {
                return Err(CliError::new(error, OTHER_WAYS).into());
            }
            Err(error) => return Err(error.into()),
        };
        let id = begun.id;
        let import = follow(client, begun, &mut line, name)
            .await
            .map_err(|error| CliError::new(error, accepted(id)))?;
        if import.state != ImportState::Finished {
            self.is_unfinished = true;
            return Ok(refused(&import.message));
        }
        Ok(StoredFile::of_import(path, format, &import))
    }

    /// The findings that match the query.
    async fn gate(
        &mut self,
        session: &HeadlessSession,
        query: &Query,
    ) -> anyhow::Result<Vec<ExportRow>> {
        let stored = self.files.iter().flat_map(|file| &file.scans);
        let ids: BTreeSet<ScanId> = stored.map(|scan| scan.id).collect();
        let mut scans = Vec::new();
        for id in ids {
            scans.push(session.client()?.get_scan(id).await?);
        }
        let matched = match scans.is_empty() {
            true => Vec::new(),
            false => gate::gated(session, scans, query).await?,
        };
        for file in &mut self.files {
            let is_of_file = |row: &&ExportRow| {
                let mut scans = file.scans.iter();
                scans.any(|scan| gate::is_of_scan(row, scan.id))
            };
            let rows = matched.iter().filter(is_of_file);
            file.matched = Some(rows.map(json::row).collect());
        }
        Ok(matched)
    }

    fn code(&self, is_matched: bool) -> ExitCode {
        match () {
            () if is_matched => ExitCode::from(exit::MATCHED),
            () if self.is_unfinished => ExitCode::from(exit::UNFINISHED),
            () if self.files.iter().any(|file| file.preview.error.is_some()) => ExitCode::FAILURE,
            () => ExitCode::SUCCESS,
        }
    }
}

/// Whether the service refused this file, and may accept another.
fn is_about_file(error: &scandeck_client::Error) -> bool {
    matches!(error.kind, ErrorKind::Invalid | ErrorKind::Conflict)
}

/// What becomes of a file whose import could not be followed to its end.
fn accepted(id: ImportId) -> String {
    format!(
        "the service accepted the file as import {id}, and stores it when it runs; `scandeck api GET {IMPORTS}/{id}` shows its state"
    )
}

async fn send(
    client: &Client,
    new: &NewImport,
    upload: &UploadFile,
    line: &mut ProgressLine,
    name: &str,
) -> ClientResult<FileImport> {
    let begun = {
        let mut sending = Box::pin(client.create_import(new, upload));
        loop {
            tokio::select! {
                result = &mut sending => break result,
                () = tokio::time::sleep(PROGRESS) => {
                    let [sent, all] = [upload.sent(), upload.length()].map(|bytes| bytes >> 20);
                    line.write_of(name, &format!("{sent} of {all} MB sent"));
                }
            }
        }
    };
    line.clear();
    begun
}

async fn follow(
    client: &Client,
    begun: FileImport,
    line: &mut ProgressLine,
    name: &str,
) -> ClientResult<FileImport> {
    if !begun.has_ended() {
        line.write_of(name, IN_SERVICE);
    }
    let since = Instant::now();
    let ended = {
        let mut ending = Box::pin(client.ended_import(begun));
        loop {
            tokio::select! {
                result = &mut ending => break result,
                () = tokio::time::sleep(PROGRESS) => {
                    let seconds = since.elapsed().as_secs();
                    line.write_of(name, &format!("{IN_SERVICE}: {seconds} s"));
                }
            }
        }
    };
    line.clear();
    ended
}
