//! `GET /scans/{id}/raw` of an imported scan: the lines of its file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, stream};
use serde_json::Value;
use tokio::sync::mpsc;

use super::super::RouteResult;
use crate::api::list_stream::LIST;
use crate::runs::importer::{copy_import_file, unpacked};
use crate::state::App;
use scandeck_wire::contract::import::FileImport;

/// Bytes of a line; a longer line of a file becomes several.
const LONGEST_LINE: u64 = 64 * 1024;
/// Bytes of a chunk of the response.
const CHUNK: usize = 64 * 1024;

/// `{"data": […]}` with the lines of the file.
///
/// # Errors
/// When the file cannot be copied from the store.
pub async fn raw_lines_of_import(app: &App, import: &FileImport) -> RouteResult<Response> {
    let (parts, _) = app.store.import_size(import.id).await?;
    if parts == 0 {
        return Ok(one_line(format!(
            "{} is not kept: it is too large (SHA-256 {})",
            import.file_name, import.digest
        )));
    }
    let file = copy_import_file(app, import.id).await?;
    let (sender, receiver) = mpsc::channel::<io::Result<Bytes>>(2);
    let (name, digest) = (import.file_name.clone(), import.digest.clone());
    tokio::task::spawn_blocking(move || {
        let mut list = LineList::new(&sender);
        let binary = format!("{name} is not a text file (SHA-256 {digest})");
        if let Err(error) = send_lines(file, &binary, &mut list) {
            // Without the end of the list, so that the client notices.
            let _ = sender.blocking_send(Err(error));
        }
    });
    let chunks = stream::unfold(receiver, |mut receiver| async move {
        let chunk = receiver.recv().await?;
        Some((chunk, receiver))
    });
    // A compressed body is polled after its end.
    Ok(json_response(Body::from_stream(chunks.fuse())))
}

fn one_line(line: String) -> Response {
    let text = format!("{}{}{}", LIST.0, Value::String(line), LIST.1);
    json_response(Body::from(text))
}

fn json_response(body: Body) -> Response {
    let kind = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}

/// Sends the lines of a compressed file, or one line if it is no text.
fn send_lines(file: File, binary: &str, list: &mut LineList<'_>) -> io::Result<()> {
    let mut lines = BufReader::new(unpacked(file)?);
    if lines.fill_buf()?.contains(&0) {
        list.push(binary)?;
        return list.finish();
    }
    let mut line = Vec::new();
    loop {
        let limit = LONGEST_LINE.saturating_sub(line.len() as u64);
        let read = lines.by_ref().take(limit).read_until(b'\n', &mut line)?;
        if read == 0 && line.is_empty() {
            return list.finish();
        }
        let is_whole = line.ends_with(b"\n") || read == 0;
        // The bytes of a character that the limit cuts begin the next line.
        let rest = match is_whole {
            true => Vec::new(),
            false => line.split_off(whole_characters(&line)),
        };
        list.push(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']))?;
        line = rest;
    }
}

/// The length without a character that is cut at the end.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => error.valid_up_to(),
        _ => bytes.len(),
    }
}

/// A JSON list that is sent in chunks.
struct LineList<'a> {
    sender: &'a mpsc::Sender<io::Result<Bytes>>,
    text: String,
    is_empty: bool,
}

impl<'a> LineList<'a> {
    fn new(sender: &'a mpsc::Sender<io::Result<Bytes>>) -> Self {
        Self {
            sender,
            text: LIST.0.to_owned(),
            is_empty: true,
        }
    }

    fn push(&mut self, line: &str) -> io::Result<()> {
        if !self.is_empty {
            self.text.push(',');
        }
        self.is_empty = false;
        self.text.push_str(&Value::from(line).to_string());
        match self.text.len() >= CHUNK {
            true => self.send(),
            false => Ok(()),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.text.push_str(LIST.1);
        self.send()
    }

    /// Waits for a slow client.
    fn send(&mut self) -> io::Result<()> {
        let chunk = Bytes::from(std::mem::take(&mut self.text));
        let sent = self.sender.blocking_send(Ok(chunk));
        sent.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn raw(contents: &[u8]) -> Vec<String> {
        let mut gzip = GzEncoder::new(tempfile::tempfile().unwrap(), Compression::fast());
        gzip.write_all(contents).unwrap();
        let mut file = gzip.finish().unwrap();
        file.rewind().unwrap();
        let (sender, mut receiver) = mpsc::channel(100);
        let mut list = LineList::new(&sender);
        send_lines(file, "binary", &mut list).unwrap();
        drop(sender);
        let mut text = Vec::new();
        while let Some(chunk) = receiver.blocking_recv() {
            text.extend_from_slice(&chunk.unwrap());
        }
        let list: Value = serde_json::from_slice(&text).unwrap();
        serde_json::from_value(list["data"].clone()).unwrap()
    }

    #[test]
    fn lines_of_a_file_become_a_list() {
        assert_eq!(raw(b"a\r\n\nb \"x\""), ["a", "", "b \"x\""]);
        assert_eq!(raw(b"a\n"), ["a"]);
        assert!(raw(b"").is_empty());
        assert_eq!(raw(b"PK\0\x01"), ["binary"]);
    }

    #[test]
    fn long_line_is_divided_between_characters() {
        let long = format!("x{}", "é".repeat(LONGEST_LINE as usize));
        let lines = raw(long.as_bytes());
        assert!(lines.len() > 1);
        assert_eq!(lines.concat(), long);
    }
}
