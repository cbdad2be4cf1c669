//! Unpacks gzip and zip, within limits.
//!
//! ```text
//!   bytes ─► gzip: a stream of its members ─┐
//!         ─► zip: in memory, file by file   ├─► SizeGuard (bytes, ratio) ─► ImportMember
//!         ─► else the bytes themselves     ─┘
//! ```
//!
//! A zip archive has its directory at the end, so the archive is held in memory; its files are
//! streamed. An archive in an archive is not unpacked.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::{Cursor, Error as IoError, ErrorKind, Read, Result as IoResult};
use std::rc::Rc;

use zip::ZipArchive;

use crate::gzip::{GZIP_MAGIC, GzipMembers};
use crate::{ImportError, ImportLimits};

/// Content that may be large whatever the compressed size is.
const ALWAYS_ALLOWED: u64 = 1 << 20;

/// A file to read.
pub struct ImportMember<'a> {
    /// The name in the archive.
    pub name: Option<String>,
    pub bytes: Box<dyn Read + 'a>,
    /// At the end of the bytes: whether others follow that are not compressed.
    pub has_rest: Rc<Cell<bool>>,
}

/// Calls `each` for the file, or for each file of an archive.
pub fn open<'a>(
    mut input: impl Read + 'a,
    limits: &ImportLimits,
    each: &mut dyn FnMut(ImportMember<'_>) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let mut magic = Vec::new();
    let mut beginning = (&mut input).take(4);
    beginning
        .read_to_end(&mut magic)
        .map_err(ImportError::Read)?;
    let is_gzip = magic.starts_with(&GZIP_MAGIC);
    let is_zip = magic.starts_with(b"PK\x03\x04") || magic.starts_with(b"PK\x05\x06");
    let whole = Cursor::new(magic).chain(input);
    if is_zip {
        return open_zip(whole, limits, each);
    }
    let has_rest = Rc::new(Cell::new(false));
    let bytes: Box<dyn Read + '_> = if is_gzip {
        let packed = Rc::new(Cell::new(0));
        let counted = CountedRead {
            inner: whole,
            count: Rc::clone(&packed),
        };
        Box::new(SizeGuard::new(
            GzipMembers::new(counted, Rc::clone(&has_rest)),
            limits,
            Some(packed),
        ))
    } else {
        Box::new(SizeGuard::new(whole, limits, None))
    };
    each(ImportMember {
        name: None,
        bytes,
        has_rest,
    })
}

fn open_zip(
    input: impl Read,
    limits: &ImportLimits,
    each: &mut dyn FnMut(ImportMember<'_>) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let mut archive = Vec::new();
    let mut limited = input.take(limits.archive_bytes + 1);
    limited
        .read_to_end(&mut archive)
        .map_err(ImportError::Read)?;
    if archive.len() as u64 > limits.archive_bytes {
        let limit = format!(
            "a zip archive has at most {} MB",
            limits.archive_bytes >> 20
        );
        return Err(ImportError::Limit(limit));
    }
    let damaged = |error: zip::result::ZipError| ImportError::Archive(error.to_string());
    let mut zip = ZipArchive::new(Cursor::new(archive)).map_err(damaged)?;
    if zip.has_duplicate_names() {
        let lost = "several of its files have the same name, and only the last one can be read";
        return Err(ImportError::Archive(lost.to_owned()));
    }
    // The directory of an archive that is in this one: its own is cut off.
    if zip.offset() > 0 {
        let cut = "its directory is missing, so it is not complete";
        return Err(ImportError::Archive(cut.to_owned()));
    }
    if zip.len() > limits.members {
        let limit = format!("a zip archive has at most {} files", limits.members);
        return Err(ImportError::Limit(limit));
    }
    let mut rest = *limits;
    let mut is_empty = true;
    for index in 0..zip.len() {
        let file = zip.by_index(index).map_err(damaged)?;
        let name = file.name().map(Cow::into_owned).unwrap_or_default();
        let is_system = name.starts_with("__MACOSX/") || name.ends_with(".DS_Store");
        if name.ends_with('/') || is_system {
            continue;
        }
        is_empty = false;
        let packed = Rc::new(Cell::new(file.compressed_size()));
        let unpacked = Rc::new(Cell::new(0));
        let counted = CountedRead {
            inner: SizeGuard::new(file, &rest, Some(packed)),
            count: Rc::clone(&unpacked),
        };
        each(ImportMember {
            name: Some(name),
            bytes: Box::new(counted),
            has_rest: Rc::default(),
        })?;
        // All files of the archive share the limit.
        rest.bytes = rest.bytes.saturating_sub(unpacked.get());
    }
    match is_empty {
        true => Err(ImportError::NoFiles),
        false => Ok(()),
    }
}

/// The kind of archive that unpacked text is. The files in it are not compressed, so their results
/// would be read as those of one file, and those in other formats would be lost.
pub fn archive_in(text: &str) -> Option<&'static str> {
    const TAR: &str = "ustar";
    /// Where a tar archive has its mark: POSIX.1, section "ustar interchange format".
    const TAR_AT: usize = 257;
    if text.starts_with("PK\x03\x04") {
        return Some("zip");
    }
    let bytes = text.as_bytes().get(TAR_AT..).unwrap_or_default();
    let chars = text.chars().skip(TAR_AT).take(TAR.len());
    // A byte of a name that is not UTF-8 is one character of the text.
    let is_tar = bytes.starts_with(TAR.as_bytes()) || chars.eq(TAR.chars());
    is_tar.then_some("tar")
}

struct CountedRead<R> {
    inner: R,
    count: Rc<Cell<u64>>,
}

impl<R: Read> Read for CountedRead<R> {
    fn read(&mut self, buffer: &mut [u8]) -> IoResult<usize> {
        let read = self.inner.read(buffer)?;
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }
}

/// Fails when more bytes arrive than allowed.
struct SizeGuard<R> {
    inner: R,
    read: u64,
    bytes: u64,
    ratio: u64,
    packed: Option<Rc<Cell<u64>>>,
}

impl<R> SizeGuard<R> {
    fn new(inner: R, limits: &ImportLimits, packed: Option<Rc<Cell<u64>>>) -> Self {
        Self {
            inner,
            read: 0,
            bytes: limits.bytes,
            ratio: limits.ratio,
            packed,
        }
    }
}

impl<R: Read> Read for SizeGuard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> IoResult<usize> {
        let read = self.inner.read(buffer)?;
        self.read += read as u64;
        if self.read > self.bytes {
            let limit = format!("the file has more than {} MB", self.bytes >> 20);
            return Err(IoError::new(ErrorKind::FileTooLarge, limit));
        }
        let allowed = self
            .packed
            .as_ref()
            .map(|packed| packed.get().saturating_mul(self.ratio).max(ALWAYS_ALLOWED));
        if allowed.is_some_and(|allowed| self.read > allowed) {
            let limit = format!(
                "the content is more than {} times the packed size",
                self.ratio
            );
            return Err(IoError::new(ErrorKind::FileTooLarge, limit));
        }
        Ok(read)
    }
}
