//! Long texts in files beside the cached lists.
//!
//! ```text
//!   texts of findings, bodies of captures ─► TextFiles: equal texts once, appended ─► TextFile and TextPlace ─► read
//! ```
//!
//! A file has no name: it is private, disappears with the last text that is used, and at the latest
//! with the process. So nothing is left behind, and nothing of an earlier run has to be checked.
//! All files together have a limit.

use std::collections::HashMap;
use std::fs::{DirBuilder, File};
use std::hash::{BuildHasher, Hash, RandomState};
use std::io;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

/// A new file is begun after so many bytes, so that texts that nobody uses are freed.
const FILE_BYTES: u64 = 64 << 20;
/// Most bytes of all files of the process. Further texts remain in memory.
pub const MOST_BYTES: u64 = 2 << 30;
/// Texts are written in blocks of about this size.
const BLOCK: usize = 1 << 18;
/// Equal texts among the last so many are written once.
const MOST_KNOWN: usize = 1 << 14;
/// Longer texts remain in memory.
pub const LONGEST: usize = 1 << 24;

/// The digests of this process.
static DIGEST: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// Most bytes of all blocks that are held in memory because the disk is full.
const MOST_UNWRITTEN: u64 = 256 << 20;

/// Bytes of these blocks.
static UNWRITTEN: AtomicU64 = AtomicU64::new(0);

/// Bytes in all files of this process.
static TOTAL: AtomicU64 = AtomicU64::new(0);

/// A digest that is valid in this process.
pub fn digest(texts: impl Hash) -> u64 {
    DIGEST.hash_one(texts)
}

/// The error of a text that differs from the one that was written.
pub fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the file of texts is damaged")
}

#[derive(Debug)]
pub struct TextFile {
    file: File,
    bytes: AtomicU64,
    /// The last block, if it could not be written.
    unwritten: OnceLock<UnwrittenBlock>,
}

/// A block that is held in memory instead of the file.
#[derive(Debug)]
struct UnwrittenBlock {
    /// Its position if it were in the file.
    at: u32,
    bytes: Vec<u8>,
}

impl Drop for TextFile {
    fn drop(&mut self) {
        TOTAL.fetch_sub(*self.bytes.get_mut(), Ordering::Relaxed);
        let unwritten = self.unwritten.get().map_or(0, |block| block.bytes.len());
        UNWRITTEN.fetch_sub(unwritten as u64, Ordering::Relaxed);
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextPlace {
    at: u32,
    length: u32,
}

impl TextPlace {
    /// Bytes of the text.
    pub fn length(self) -> usize {
        self.length as usize
    }
}

impl TextFile {
    /// Reads a text.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&self, place: TextPlace) -> io::Result<Vec<u8>> {
        if let Some(block) = self.unwritten.get().filter(|block| block.at <= place.at) {
            let begin = (place.at - block.at) as usize;
            let text = block.bytes.get(begin..begin + place.length());
            return text.map(<[u8]>::to_vec).ok_or_else(damaged);
        }
        let mut bytes = vec![0; place.length()];
        self.file.read_exact_at(&mut bytes, place.at.into())?;
        Ok(bytes)
    }

    fn append(&self, block: &[u8]) -> io::Result<()> {
        (&self.file).write_all(block)?;
        self.bytes.fetch_add(block.len() as u64, Ordering::Relaxed);
        TOTAL.fetch_add(block.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Holds the last block in memory, within the limit of all such blocks.
    fn hold(&self, block: UnwrittenBlock) -> bool {
        let length = block.bytes.len() as u64;
        let has_room = UNWRITTEN.fetch_add(length, Ordering::Relaxed) + length <= MOST_UNWRITTEN;
        let is_held = has_room && self.unwritten.set(block).is_ok();
        if !is_held {
            UNWRITTEN.fetch_sub(length, Ordering::Relaxed);
        }
        is_held
    }

    /// Overwrites the beginning of the file.
    #[cfg(test)]
    pub fn damage(&self) {
        self.file.write_all_at(b"X", 4).unwrap();
    }
}

/// Writes texts into files.
#[derive(Debug)]
pub struct TextFiles {
    directory: PathBuf,
    file: Option<Arc<TextFile>>,
    written: u64,
    /// A new file is begun after so many bytes: `FILE_BYTES` except in tests.
    pub file_bytes: u64,
    /// Most bytes of all files: [`MOST_BYTES`] except in tests.
    pub most_bytes: u64,
    /// Texts that are not written yet.
    block: Vec<u8>,
    /// Why texts could not be written.
    lost: Option<io::Error>,
    known: HashMap<u64, TextPlace>,
}

impl TextFiles {
    /// Files in this directory, which exists or is created by the first text.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            file: None,
            written: 0,
            file_bytes: FILE_BYTES,
            most_bytes: MOST_BYTES,
            block: Vec::new(),
            lost: None,
            known: HashMap::new(),
        }
    }

    /// The present file, or a new one when it is full.
    ///
    /// # Errors
    /// When no file can be created, or all files together are full.
    pub fn file(&mut self) -> io::Result<Arc<TextFile>> {
        if self.written >= self.file_bytes {
            self.write_block();
            self.file = None;
        }
        if let Some(file) = &self.file {
            return Ok(Arc::clone(file));
        }
        if TOTAL.load(Ordering::Relaxed) + self.file_bytes > self.most_bytes {
            return Err(io::Error::new(
                io::ErrorKind::StorageFull,
                "the files of texts are full",
            ));
        }
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.directory)?;
        let file = tempfile::tempfile_in(&self.directory)?;
        let file = Arc::new(TextFile {
            file,
            bytes: AtomicU64::new(0),
            unwritten: OnceLock::new(),
        });
        self.known.clear();
        (self.written, self.file) = (0, Some(Arc::clone(&file)));
        Ok(file)
    }

    /// The place of a text in the present [`file`](Self::file). It can be read after
    /// [`flush`](Self::flush).
    pub fn place(&mut self, text: &[u8]) -> TextPlace {
        let digest = digest(text);
        let length = text.len() as u32;
        if let Some(known) = self
            .known
            .get(&digest)
            .filter(|known| known.length == length)
        {
            return *known;
        }
        let place = TextPlace {
            at: self.written as u32 + self.block.len() as u32,
            length,
        };
        self.block.extend_from_slice(text);
        if self.block.len() >= BLOCK {
            self.write_block();
        }
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        self.known.insert(digest, place);
        place
    }

    /// Writes what is waiting.
    ///
    /// # Errors
    /// When texts since the last call could not be written; they have to be placed again.
    pub fn flush(&mut self) -> io::Result<()> {
        self.write_block();
        self.lost.take().map_or(Ok(()), Err)
    }

    fn write_block(&mut self) {
        let Some(file) = &self.file else { return };
        match file.append(&self.block) {
            Ok(()) => self.written += self.block.len() as u64,
            Err(error) => {
                // A full disk must not hide the text. Nobody knows how much was written, so the
                // next text begins a new file.
                let block = UnwrittenBlock {
                    at: self.written as u32,
                    bytes: std::mem::take(&mut self.block),
                };
                if !file.hold(block) {
                    self.lost = Some(error);
                }
                self.file = None;
            }
        }
        self.block.clear();
    }

    /// Bytes in the present file.
    #[cfg(test)]
    pub fn written(&self) -> u64 {
        self.written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_file_is_followed_by_another_within_the_limit_of_all() {
        let directory = tempfile::tempdir().unwrap();
        let mut files = TextFiles::new(directory.path());
        (files.file_bytes, files.most_bytes) = (10, u64::MAX);
        let first = files.file().unwrap();
        let place = files.place(b"eleven bytes");
        files.flush().unwrap();
        files.most_bytes = 5;
        assert_eq!(files.file().unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(first.read(place).unwrap(), b"eleven bytes");
        files.most_bytes = u64::MAX;
        assert!(!Arc::ptr_eq(&files.file().unwrap(), &first));
    }

    #[test]
    fn text_on_full_disk_is_held_in_memory() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, "").unwrap();
        let mut files = TextFiles::new(directory.path());
        // A file that can be read only fails as a full disk does.
        let read_only = File::open(&path).unwrap();
        let file = TextFile {
            file: read_only,
            bytes: AtomicU64::new(0),
            unwritten: OnceLock::new(),
        };
        files.file = Some(Arc::new(file));
        let file = files.file().unwrap();
        let (first, second) = (files.place(b"first"), files.place(b"second"));
        files.flush().unwrap();
        assert_eq!(
            (file.read(first).unwrap(), file.read(second).unwrap()),
            (b"first".to_vec(), b"second".to_vec())
        );
        assert!(
            !Arc::ptr_eq(&files.file().unwrap(), &file),
            "the next text begins a new file"
        );
    }

    #[test]
    fn dropped_file_no_longer_counts() {
        let directory = tempfile::tempdir().unwrap();
        let file = tempfile::tempfile_in(directory.path()).unwrap();
        let file = TextFile {
            file,
            bytes: AtomicU64::new(0),
            unwritten: OnceLock::new(),
        };
        const MUCH: usize = 1 << 30;
        file.bytes.store(MUCH as u64, Ordering::Relaxed);
        TOTAL.fetch_add(MUCH as u64, Ordering::Relaxed);
        assert!(TOTAL.load(Ordering::Relaxed) >= MUCH as u64);
        drop(file);
        assert!(TOTAL.load(Ordering::Relaxed) < MUCH as u64);
    }
}
