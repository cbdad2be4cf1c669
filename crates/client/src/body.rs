//! The body of a response while it is read: decompressed, and limited in size, in compression and
//! in the memory that all responses occupy together.
//!
//! ```text
//!   chunk ─► gzip ─► Body: its own limit, the ratio to what was received, the limit of all bodies ─► bytes
//! ```

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use flate2::write::MultiGzDecoder;
use reqwest::Response;
use reqwest::header::CONTENT_ENCODING;

use super::request::ResponseSize;
use super::{ClientResult, Error, ErrorKind};

/// Decompressed bytes per received byte. JSON with equal texts reaches 50; deflate reaches 1000
/// with one repeated byte.
const MOST_RATIO: usize = 200;
/// Bytes up to which the ratio does not matter.
const FREE: usize = 8 << 20;

/// The bytes of a response. While they are in memory, they count towards the limit of all responses
/// together.
#[derive(Debug, Default)]
pub(super) struct Body {
    bytes: Vec<u8>,
    /// The file that has the bytes instead, without a name.
    file: Option<File>,
    /// The number of bytes.
    length: usize,
    limit: usize,
    /// Limit by the received bytes.
    allowed: usize,
    excess: Option<Excess>,
    /// The bytes of all bodies.
    memory: Arc<AtomicUsize>,
}

/// The limit that was exceeded.
#[derive(Clone, Copy, Debug)]
enum Excess {
    Size,
    Ratio,
    Memory,
}

impl Body {
    /// Reads a response of at most `limit` decompressed bytes; drops the connection of a longer
    /// one. Counts what is received.
    pub async fn read(
        response: Response,
        limit: usize,
        memory: &Arc<AtomicUsize>,
        count: &AtomicU64,
    ) -> ClientResult<Self> {
        Self::new(limit, memory).fill(response, count).await
    }

    /// Reads a response into a file of this directory; into memory where there is none.
    pub async fn spool(
        response: Response,
        limit: usize,
        memory: &Arc<AtomicUsize>,
        directory: &Path,
        count: &AtomicU64,
    ) -> ClientResult<Self> {
        let file = tempfile::tempfile_in(directory).ok();
        let mut body = Self::new(limit, memory);
        body.file = file;
        body.fill(response, count).await
    }

    async fn fill(self, mut response: Response, count: &AtomicU64) -> ClientResult<Self> {
        let status = response.status().as_u16();
        let is_packed = response
            .headers()
            .get(CONTENT_ENCODING)
            .is_some_and(|coding| coding == "gzip");
        let body = self;
        let mut body = if is_packed {
            Inlet::Packed(Box::new(MultiGzDecoder::new(body)))
        } else {
            Inlet::Plain(body)
        };
        let mut received = 0;
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|error| Error::from(error).with_status(status))?
        {
            received += chunk.len();
            count.fetch_add(chunk.len() as u64, Ordering::Relaxed);
            body.write(&chunk, received)
                .map_err(|error| error.with_status(status))?;
        }
        body.finish().map_err(|error| error.with_status(status))
    }

    fn new(limit: usize, memory: &Arc<AtomicUsize>) -> Self {
        let memory = Arc::clone(memory);
        Self {
            bytes: Vec::new(),
            file: None,
            length: 0,
            limit,
            allowed: limit,
            excess: None,
            memory,
        }
    }

    /// The file with the bytes, at its beginning.
    pub fn file(&mut self) -> Option<&mut File> {
        let file = self.file.as_mut()?;
        file.rewind().ok()?;
        Some(file)
    }

    /// The number of bytes, in memory or in the file.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Moves the bytes from the file into memory.
    fn leave_file(&mut self) -> io::Result<()> {
        let Some(mut file) = self.file.take() else {
            return Ok(());
        };
        file.rewind()?;
        let length = std::mem::take(&mut self.length);
        // The last write may have left a part of its bytes.
        let copied = io::copy(&mut file.take(length as u64), self)?;
        if copied == length as u64 {
            Ok(())
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }

    /// The same bytes in memory.
    pub fn into_memory(mut self) -> ClientResult<Self> {
        let mut body = Self::new(self.limit, &self.memory);
        let Some(file) = self.file() else {
            return Ok(self);
        };
        io::copy(file, &mut body)
            .map_err(|error| body.too_large().unwrap_or_else(|| corrupt(&error)))?;
        Ok(body)
    }

    pub fn into_bytes(mut self) -> Vec<u8> {
        self.release();
        std::mem::take(&mut self.bytes)
    }

    fn release(&self) {
        self.memory.fetch_sub(self.bytes.len(), Ordering::Relaxed);
    }

    fn too_large(&self) -> Option<Error> {
        let all = ResponseSize::Large.limit() >> 20;
        let why = match self.excess? {
            Excess::Size => return Some(too_large(self.limit)),
            Excess::Ratio => format!(
                "response refused: it decompresses to more than {MOST_RATIO} times its size"
            ),
            Excess::Memory => format!("all responses together are larger than {all} MB"),
        };
        Some(Error::new(ErrorKind::TooLarge, why))
    }
}

impl Write for Body {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        let length = self.length + part.len();
        let all = if self.file.is_some() {
            0
        } else {
            self.memory.load(Ordering::Relaxed) + part.len()
        };
        self.excess = match () {
            () if length > self.limit => Some(Excess::Size),
            () if length > self.allowed => Some(Excess::Ratio),
            () if all > ResponseSize::Large.limit() => Some(Excess::Memory),
            () => None,
        };
        if self.excess.is_some() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if let Some(file) = &mut self.file
            && file.write_all(part).is_err()
        {
            // A full disk must not hide what the service sent.
            self.leave_file()?;
            return self.write(part);
        }
        if self.file.is_none() {
            self.memory.fetch_add(part.len(), Ordering::Relaxed);
            self.bytes.extend_from_slice(part);
        }
        self.length = length;
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The bytes of a body before they are decompressed.
enum Inlet {
    Plain(Body),
    Packed(Box<MultiGzDecoder<Body>>),
}

impl Inlet {
    fn write(&mut self, chunk: &[u8], received: usize) -> ClientResult<()> {
        let result = match self {
            Inlet::Plain(body) => body.write_all(chunk),
            Inlet::Packed(packed) => {
                packed.get_mut().allowed = received.saturating_mul(MOST_RATIO).max(FREE);
                packed.write_all(chunk)
            }
        };
        result.map_err(|error| self.body().too_large().unwrap_or_else(|| corrupt(&error)))
    }

    fn body(&self) -> &Body {
        match self {
            Inlet::Plain(body) => body,
            Inlet::Packed(packed) => packed.get_ref(),
        }
    }

    fn finish(mut self) -> ClientResult<Body> {
        if let Inlet::Packed(packed) = &mut self
            && let Err(error) = packed.try_finish()
        {
            return Err(packed
                .get_ref()
                .too_large()
                .unwrap_or_else(|| corrupt(&error)));
        }
        match self {
            Inlet::Plain(body) => Ok(body),
            Inlet::Packed(packed) => packed.finish().map_err(|error| corrupt(&error)),
        }
    }
}

pub(super) fn too_large(limit: usize) -> Error {
    Error::new(
        ErrorKind::TooLarge,
        format!("the response is larger than {} MB", limit >> 20),
    )
}

fn corrupt(error: &io::Error) -> Error {
    Error::new(
        ErrorKind::Decode,
        format!("the response cannot be decompressed: {error}"),
    )
}

impl Deref for Body {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bodies_together_have_one_limit() {
        let memory = Arc::<AtomicUsize>::default();
        let (mut one, mut other) = (Body::new(9, &memory), Body::new(9, &memory));
        memory.store(ResponseSize::Large.limit() - 5, Ordering::Relaxed);
        assert!(one.write_all(b"abc").is_ok() && other.write_all(b"abc").is_err());
        assert!(
            other
                .too_large()
                .unwrap()
                .to_string()
                .contains("all responses together")
        );
        memory.fetch_sub(3, Ordering::Relaxed);
        assert!(one.write_all(b"def").is_ok(), "another body was dropped");
        assert!(one.write_all(b"ghij").is_err());
        assert_eq!(one.into_bytes(), b"abcdef");
    }

    #[test]
    fn body_on_full_disk_continues_in_memory() {
        let memory = Arc::<AtomicUsize>::default();
        let mut body = Body::new(9, &memory);
        body.file = Some(tempfile::tempfile().unwrap());
        body.write_all(b"abc").unwrap();
        // A file that can be read only fails as a full disk does.
        let mut spooled = body.file.take().unwrap();
        spooled.write_all(b"rest of a write").unwrap();
        let path = format!(
            "/proc/self/fd/{}",
            std::os::fd::AsRawFd::as_raw_fd(&spooled)
        );
        body.file = Some(File::open(path).unwrap());
        body.write_all(b"def").unwrap();
        assert!(body.file.is_none() && body.length() == 6 && memory.load(Ordering::Relaxed) == 6);
        assert!(body.write_all(b"ghij").is_err(), "the limit holds");
        assert_eq!(body.into_bytes(), b"abcdef");
    }
}
