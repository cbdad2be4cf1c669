//! Bodies of captures in [`text_files`](crate::text_files): they are read when they are shown, searched, copied or exported.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::request::body_size;
use crate::contract::{Capture, Shared};
use crate::text_files::{LONGEST, TextFile, TextFiles, TextPlace, damaged, digest};

/// A shorter body takes less memory than its place.
const SHORTEST: usize = 128;

/// The place of a body. Equal ones have equal bodies.
#[derive(Clone, Debug)]
pub struct StoredBody {
    file: Arc<TextFile>,
    place: TextPlace,
    digest: u64,
    /// Bytes of the decoded body.
    size: usize,
}

impl PartialEq for StoredBody {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl StoredBody {
    /// Reads the body as the service reported it, in base64.
    ///
    /// # Errors
    /// When the file cannot be read, or is damaged.
    pub fn read(&self) -> io::Result<Shared> {
        let bytes = self.file.read(self.place)?;
        match std::str::from_utf8(&bytes) {
            Ok(text) if digest(bytes.as_slice()) == self.digest => Ok(text.into()),
            _ => Err(damaged()),
        }
    }

    /// Bytes of the decoded body.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Bytes of the body in base64.
    pub fn encoded_size(&self) -> usize {
        self.place.length()
    }
}

/// The capture with its body.
///
/// # Errors
/// When the body cannot be read.
pub fn with_body(capture: &Arc<Capture>, body: Option<&StoredBody>) -> io::Result<Arc<Capture>> {
    let Some(body) = body else { return Ok(Arc::clone(capture)) };
    Ok(Arc::new(Capture { request_body_base64: body.read()?, ..Capture::clone(capture) }))
}

/// Writes bodies into files.
#[derive(Debug)]
pub struct BodyStore(TextFiles);

impl BodyStore {
    /// A store with files in this directory, which exists or is created by the first body.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self(TextFiles::new(directory))
    }

    /// The place of the body of a capture, which can be read after [`flush`](Self::flush). None for a short body.
    ///
    /// # Errors
    /// When no file can be created, or all files together are full.
    pub fn store(&mut self, capture: &Capture) -> io::Result<Option<Arc<StoredBody>>> {
        let body = capture.request_body_base64.as_bytes();
        if !(SHORTEST..=LONGEST).contains(&body.len()) {
            return Ok(None);
        }
        let file = self.0.file()?;
        let stored = StoredBody { file, place: self.0.place(body), digest: digest(body), size: body_size(capture) };
        Ok(Some(Arc::new(stored)))
    }

    /// Writes what is waiting.
    ///
    /// # Errors
    /// When bodies since the last call could not be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oob::recognize::testing::base64;

    #[test]
    fn stored_body_round_trips() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = BodyStore::new(directory.path());
        let whole = Capture { request_body_base64: base64(&[7; 1_000]), ..Capture::default() };
        let body = store.store(&whole).unwrap().unwrap();
        store.flush().unwrap();
        assert_eq!((body.size(), body.encoded_size()), (1_000, 1_336));
        let released = Arc::new(Capture::default());
        assert_eq!(*with_body(&released, Some(&body)).unwrap(), whole);
        assert_eq!(store.store(&Capture { request_body_base64: base64(b"short"), ..whole.clone() }).unwrap(), None);
        store.0.file().unwrap().damage();
        assert_eq!(with_body(&released, Some(&body)).unwrap_err().to_string(), "the file of texts is damaged");
    }
}
