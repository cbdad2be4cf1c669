//! Bodies of captures in [`text_files`](crate::text_files): they are read when they are shown,
//! searched, copied or exported. The raw bytes of a request with a stored body contain the body
//! again, so they are stored with it.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::request::body_size;
use crate::text_files::{LONGEST, TextFile, TextFiles, TextPlace, damaged, digest};
use scandeck_wire::contract::{Capture, Shared};

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
    /// The raw bytes of the request, and their digest.
    raw: Option<(TextPlace, u64)>,
}

impl PartialEq for StoredBody {
    fn eq(&self, other: &Self) -> bool {
        let raw = |one: &Self| one.raw.map(|(_, digest)| digest);
        (self.digest, raw(self)) == (other.digest, raw(other))
    }
}

impl StoredBody {
    /// Reads the body as the service reported it, in base64.
    ///
    /// # Errors
    /// When the file cannot be read, or is damaged.
    pub fn read(&self) -> io::Result<Shared> {
        self.read_text(self.place, self.digest)
    }

    /// Reads the raw bytes as the service reported them, in base64, if they are stored.
    fn read_raw(&self) -> io::Result<Option<Shared>> {
        self.raw
            .map(|(place, digest)| self.read_text(place, digest))
            .transpose()
    }

    fn read_text(&self, place: TextPlace, expected: u64) -> io::Result<Shared> {
        let bytes = self.file.read(place)?;
        match std::str::from_utf8(&bytes) {
            Ok(text) if digest(bytes.as_slice()) == expected => Ok(text.into()),
            _ => Err(damaged()),
        }
    }

    /// Whether the raw bytes of the request are stored too.
    pub fn has_raw(&self) -> bool {
        self.raw.is_some()
    }

    /// Bytes of the decoded body.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Bytes of the body and of the stored raw bytes in base64.
    pub fn encoded_size(&self) -> usize {
        self.place.length() + self.raw.map_or(0, |(place, _)| place.length())
    }
}

/// The capture with its body.
///
/// # Errors
/// When the body cannot be read.
pub fn with_body(capture: &Arc<Capture>, body: Option<&StoredBody>) -> io::Result<Arc<Capture>> {
    let Some(body) = body else {
        return Ok(Arc::clone(capture));
    };
    let raw_base64 = body.read_raw()?.or_else(|| capture.raw_base64.clone());
    Ok(Arc::new(Capture {
        request_body_base64: body.read()?,
        raw_base64,
        ..Capture::clone(capture)
    }))
}

/// Writes bodies into files.
#[derive(Debug)]
pub struct BodyStore(TextFiles);

impl BodyStore {
    /// A store with files in this directory, which exists or is created by the first body.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self(TextFiles::new(directory))
    }

    /// The place of the body of a capture, which can be read after [`flush`](Self::flush). None for
    /// a short body.
    ///
    /// # Errors
    /// When no file can be created, or all files together are full.
    pub fn store(&mut self, capture: &Capture) -> io::Result<Option<Arc<StoredBody>>> {
        let body = capture.request_body_base64.as_bytes();
        if !(SHORTEST..=LONGEST).contains(&body.len()) {
            return Ok(None);
        }
        let file = self.0.file()?;
        let (place, size) = (self.0.place(body), body_size(capture));
        let raw = capture
            .raw_base64
            .as_ref()
            .filter(|raw| raw.len() <= LONGEST)
            .map(|raw| raw.as_bytes());
        let raw = raw.map(|raw| (self.0.place(raw), digest(raw)));
        let stored = StoredBody {
            file,
            place,
            digest: digest(body),
            size,
            raw,
        };
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
        let whole = Capture {
            request_body_base64: base64(&[7; 1_000]),
            ..Capture::default()
        };
        let body = store.store(&whole).unwrap().unwrap();
        store.flush().unwrap();
        assert_eq!((body.size(), body.encoded_size()), (1_000, 1_336));
        let released = Arc::new(Capture::default());
        assert_eq!(*with_body(&released, Some(&body)).unwrap(), whole);
        let odd = Capture {
            raw_base64: Some(base64(&[8; 2_000])),
            ..whole.clone()
        };
        let with_raw = store.store(&odd).unwrap().unwrap();
        store.flush().unwrap();
        assert_eq!(*with_body(&released, Some(&with_raw)).unwrap(), odd);
        assert!(with_raw != body && with_raw.has_raw() && !body.has_raw());
        assert_eq!(
            store
                .store(&Capture {
                    request_body_base64: base64(b"short"),
                    ..whole.clone()
                })
                .unwrap(),
            None
        );
        store.0.file().unwrap().damage();
        assert_eq!(
            with_body(&released, Some(&body)).unwrap_err().to_string(),
            "the file of texts is damaged"
        );
    }
}
