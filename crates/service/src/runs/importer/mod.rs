//! Imports result files of other scanners in the background.
//!
//! ```text
//!   POST /imports ─► parts in the store ─► claim ─► file ─► collect ─► rows in a file ─┐
//!                                                    scandeck_import       by scan      │ batches
//!              finished, or failed ◄── shown in one transaction ◄── hidden scans ◄──────┘
//! ```
//!
//! A file is read once, outside the async threads; neither the file nor its findings are in memory.
//! An import that the end of the service interrupts is undone and read again at the next start, and
//! one that an error of the database interrupts, after a minute or with the next file.

mod collect;
#[cfg(test)]
mod collect_tests;
mod coverage;
mod file;
mod reading;
mod rows;

use std::fs::File;
use std::io;
use std::time::Duration;

use anyhow::Context;
use tokio_util::sync::CancellationToken;

use crate::state::App;
use crate::store::DatabaseError;
use crate::store::imports::{FindingsToStore, ImportEnd, QueuedImport};
use collect::{Collected, Collection};
pub use file::{copy_import_file, unpacked};
use rows::{ImportedRow, RowReader, WrittenRows};
use scandeck_wire::contract::import::{ImportedFile, ImportedScan};

/// Files that are larger are not kept, compressed, in bytes.
const MOST_KEPT: i64 = 64 << 20;

/// Findings that are stored in one transaction, for which captures wait. The findings of a target
/// may be far apart in the indexes, and small transactions would write almost as many pages of them
/// as they store findings.
const BATCH_ROWS: usize = 1000;
const BATCH_BYTES: usize = 2 * 1024 * 1024;

/// Imports files until `stop`.
pub async fn run_imports(app: App, stop: CancellationToken) {
    while !stop.is_cancelled() {
        if let Err(error) = run_all(&app, &stop).await {
            tracing::error!(%error, "imports not stored");
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = app.imports.notified() => {}
            // Deletes what is left, and retries after an error.
            () = tokio::time::sleep(Duration::from_secs(60)) => {}
        }
    }
}

async fn run_all(app: &App, stop: &CancellationToken) -> Result<(), DatabaseError> {
    app.store.purge_imports(app.now()).await?;
    while !stop.is_cancelled()
        && let Some(import) = app.store.claim_import().await?
    {
        let done = stop.run_until_cancelled(run(app, &import, stop)).await;
        // The next start claims an interrupted import again.
        if done.transpose()?.is_none() {
            break;
        }
    }
    Ok(())
}

/// Why an import ended without scans.
struct ImportFailure {
    message: String,
    files: Vec<ImportedFile>,
}

impl ImportFailure {
    fn new(message: impl ToString) -> Self {
        Self {
            message: message.to_string(),
            files: Vec::new(),
        }
    }
}

/// Runs an import to its end.
///
/// # Errors
/// When the database fails; a later attempt may succeed.
async fn run(
    app: &App,
    import: &QueuedImport,
    stop: &CancellationToken,
) -> Result<(), DatabaseError> {
    app.store.undo_import(import).await?;
    if let Some(earlier) = app.store.earlier_import(import).await? {
        let now = app.now();
        return app.store.end_repeated_import(import, earlier, now).await;
    }
    let stored = match import.is_last_try() {
        true => Err(ImportFailure::new(
            "the service was interrupted too often during this import; import the file again",
        )),
        false => store(app, import, stop).await?,
    };
    match stored {
        Ok(()) => forget_large_file(app, import).await,
        Err(failure) => {
            tracing::warn!(import = %import.id, cause = %failure.message, "import failed");
            app.store.undo_import(import).await?;
            let (message, files) = (&failure.message, &failure.files);
            let failed = app.store.fail_import(import, message, files, app.now());
            failed.await?;
            app.store.purge_imports(app.now()).await
        }
    }
}

async fn store(
    app: &App,
    import: &QueuedImport,
    stop: &CancellationToken,
) -> Result<Result<(), ImportFailure>, DatabaseError> {
    let file = copy_import_file(app, import.id).await?;
    let collected = match collect(app, import, file, stop).await {
        Ok(collected) => collected,
        Err(error) => return Ok(Err(ImportFailure::new(format!("{error:#}")))),
    };
    let (limit, now) = (app.settings.max_targets, app.now());
    let added = app
        .store
        .add_imported_scans(import, &collected.scans, limit, now);
    let added = match added.await? {
        Ok(added) => added,
        Err(refusal) => {
            return Ok(Err(ImportFailure {
                message: refusal.to_string(),
                files: collected.files,
            }));
        }
    };
    let lost =
        || ImportFailure::new("a target was deleted during the import; import the file again");
    if !store_findings(app, import, collected.rows, &added).await? {
        return Ok(Err(lost()));
    }
    let message = match added.is_empty() {
        true => nothing_stored(&collected.files),
        false => "",
    };
    let files = with_scans(collected.files, &collected.file_of_scan, &added);
    let shown = app
        .store
        .show_import(import, added.len(), &files, message, app.now());
    match shown.await? {
        ImportEnd::Shown => Ok(Ok(())),
        ImportEnd::Lost => Ok(Err(lost())),
        ImportEnd::SameAs(earlier) => {
            app.store.undo_import(import).await?;
            let ended = app.store.end_repeated_import(import, earlier, app.now());
            ended.await?;
            Ok(Ok(()))
        }
    }
}

/// Why an import has no scan.
fn nothing_stored(files: &[ImportedFile]) -> &'static str {
    match files.iter().any(|file| !file.skipped.is_empty()) {
        true => "every result was skipped",
        false if files.iter().any(|file| file.error.is_some()) => "no result could be read",
        false => "no results, and no target named; import the file again with a target name",
    }
}

/// Reads the file outside the async threads.
async fn collect(
    app: &App,
    import: &QueuedImport,
    file: File,
    stop: &CancellationToken,
) -> anyhow::Result<Collected> {
    let (dir, import) = (app.settings.data_dir.clone(), import.clone());
    let (limit, now, stop) = (app.settings.max_targets, app.now(), stop.clone());
    let read = tokio::task::spawn_blocking(move || {
        Collection::new(&dir, &import, limit, stop)?.read(unpacked(file)?, now)
    });
    read.await.context("reading the file failed")?
}

/// Stores the findings in batches, each while the next one is read; false when a scan of the import
/// is gone.
async fn store_findings(
    app: &App,
    import: &QueuedImport,
    written: WrittenRows,
    scans: &[ImportedScan],
) -> Result<bool, DatabaseError> {
    let (mut reader, mut rows) = next_rows(RowReader::new(written)).await?;
    while !rows.is_empty() {
        let batch = by_scan(rows, scans);
        let storing = app.store.add_imported_findings(import, scans.len(), batch);
        let (stored, next) = tokio::join!(storing, next_rows(reader));
        if !stored? {
            return Ok(false);
        }
        (reader, rows) = next?;
    }
    Ok(true)
}

/// Reads a batch outside the async threads.
async fn next_rows(mut reader: RowReader) -> io::Result<(RowReader, Vec<ImportedRow>)> {
    let read = tokio::task::spawn_blocking(move || {
        let rows = reader.next_batch(BATCH_ROWS, BATCH_BYTES)?;
        io::Result::Ok((reader, rows))
    });
    read.await.map_err(io::Error::other)?
}

/// The findings of each scan together, of rows in the order of the scans.
fn by_scan(rows: Vec<ImportedRow>, scans: &[ImportedScan]) -> Vec<FindingsToStore> {
    let mut batch: Vec<FindingsToStore> = Vec::new();
    for row in rows {
        let Some(scan) = scans.get(row.scan) else {
            continue;
        };
        match batch.last_mut() {
            Some(last) if last.scan == scan.id => last.findings.push(row.finding),
            _ => batch.push(FindingsToStore {
                scan: scan.id,
                target: scan.target_id,
                findings: vec![row.finding],
            }),
        }
    }
    batch
}

/// The files with their scans.
fn with_scans(
    mut files: Vec<ImportedFile>,
    file_of_scan: &[usize],
    scans: &[ImportedScan],
) -> Vec<ImportedFile> {
    for (file, scan) in file_of_scan.iter().zip(scans) {
        if let Some(file) = files.get_mut(*file) {
            file.scans.push(scan.clone());
        }
    }
    files
}

/// Deletes a file that is too large to be kept for `GET /scans/{id}/raw`.
async fn forget_large_file(app: &App, import: &QueuedImport) -> Result<(), DatabaseError> {
    let (_, bytes) = app.store.import_size(import.id).await?;
    if bytes > MOST_KEPT {
        app.store.delete_import_file(import).await?;
    }
    app.store.purge_imports(app.now()).await
}
