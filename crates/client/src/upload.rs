//! A file as the body of a request. It is read while it is sent, and again for each attempt.

use std::fs::File;
use std::io::{self, Seek};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::TryStreamExt;
use reqwest::Body;
use tokio::io::AsyncReadExt;
use tokio_util::io::ReaderStream;

/// Bytes that are in memory at a time.
const CHUNK: usize = 64 << 10;

/// An open file. Clones share it, so only one request sends it at a time.
#[derive(Clone, Debug)]
pub struct UploadFile {
    file: Arc<File>,
    length: u64,
    sent: Arc<AtomicU64>,
}

impl UploadFile {
    /// A regular file with its present length.
    ///
    /// # Errors
    /// When its length is unknown.
    pub fn new(file: File) -> io::Result<Self> {
        Ok(Self {
            length: file.metadata()?.len(),
            file: Arc::new(file),
            sent: Arc::default(),
        })
    }

    /// Bytes of the file.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The bytes that the last attempt has sent so far.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// The file from its beginning. A file that grows meanwhile is not longer than announced.
    pub(super) fn body(&self) -> io::Result<Body> {
        let mut file = self.file.try_clone()?;
        file.rewind()?;
        self.sent.store(0, Ordering::Relaxed);
        let sent = Arc::clone(&self.sent);
        let reader = tokio::fs::File::from_std(file).take(self.length);
        let chunks = ReaderStream::with_capacity(reader, CHUNK);
        Ok(Body::wrap_stream(chunks.inspect_ok(move |chunk| {
            sent.fetch_add(chunk.len() as u64, Ordering::Relaxed);
        })))
    }
}
