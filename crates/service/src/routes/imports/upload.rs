//! The body of `POST /imports`: into an unnamed file while it arrives, with its digest.

use std::fs::File;
use std::io::{self, BufWriter, IntoInnerError, Read, Seek, Write};
use std::path::Path;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::StatusCode;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::StreamExt;
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;

use super::super::RouteResult;
use crate::errors::ApiError;
use crate::net::connection_io::BodyTimeout;
use crate::state::App;
use scandeck_wire::contract::import::MOST_IMPORT_BYTES;

/// Bytes of a part of a file in the store: few, since captures wait for the write of a part.
const PART: u64 = 128 * 1024;

/// Chunks of a body that wait to be written.
const CHUNKS: usize = 16;

/// A file that was received, compressed.
pub struct ReceivedFile {
    file: File,
    /// SHA-256 of the file, as hexadecimal digits.
    pub digest: String,
}

/// Receives a file.
///
/// # Errors
/// 413 for a larger file, 400 for a broken body and an empty one that must not be, 500 when the
/// disk is full.
pub async fn receive(app: &App, body: Body, may_be_empty: bool) -> RouteResult<ReceivedFile> {
    if body.size_hint().lower() > MOST_IMPORT_BYTES {
        return Err(too_large());
    }
    let (sender, chunks) = mpsc::channel::<Bytes>(CHUNKS);
    let dir = app.settings.data_dir.clone();
    let write = tokio::task::spawn_blocking(move || write_file(&dir, chunks));
    let mut body = body.into_data_stream();
    let mut received = 0;
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(|error| unreadable(&error))?;
        received += chunk.len() as u64;
        if received > MOST_IMPORT_BYTES {
            return Err(too_large());
        }
        if sender.send(chunk).await.is_err() {
            // The writer has failed, and returns the reason.
            break;
        }
    }
    drop(sender);
    let written = write.await.map_err(ApiError::internal)?;
    let file = written.map_err(ApiError::internal)?;
    match received > 0 || may_be_empty {
        true => Ok(file),
        false => Err(ApiError::bad_request("the file is empty").with_details(
            "send the file as the body of the request; a scan without results needs `format`",
        )),
    }
}

fn write_file(dir: &Path, mut chunks: mpsc::Receiver<Bytes>) -> io::Result<ReceivedFile> {
    let file = BufWriter::new(tempfile::tempfile_in(dir)?);
    let mut gzip = GzEncoder::new(file, Compression::fast());
    let mut digest = Sha256::new();
    while let Some(chunk) = chunks.blocking_recv() {
        digest.update(&chunk);
        gzip.write_all(&chunk)?;
    }
    let file = gzip.finish()?.into_inner();
    let mut file = file.map_err(IntoInnerError::into_error)?;
    file.rewind()?;
    let digest: [u8; 32] = digest.finalize().into();
    Ok(ReceivedFile {
        file,
        digest: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
    })
}

impl ReceivedFile {
    /// The next part, with the rest; `None` at the end.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn next_part(self) -> io::Result<Option<(Vec<u8>, Self)>> {
        let read = tokio::task::spawn_blocking(move || {
            let mut part = Vec::new();
            (&self.file).take(PART).read_to_end(&mut part)?;
            Ok((!part.is_empty()).then_some((part, self)))
        });
        read.await.map_err(io::Error::other)?
    }
}

fn too_large() -> ApiError {
    ApiError::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("the file is larger than {} MB", MOST_IMPORT_BYTES >> 20),
    )
    .with_details("split it, or send it compressed by gzip")
    .with_close()
}

fn unreadable(error: &axum::Error) -> ApiError {
    match BodyTimeout::caused(error) {
        true => ApiError::new(StatusCode::REQUEST_TIMEOUT, BodyTimeout.to_string()).with_details(
            "send the file compressed by gzip, or restart the service with a larger --body-seconds",
        ),
        false => ApiError::bad_request("body could not be read"),
    }
}
