//! A file while it is read for its preview: on a terminal, a line shows how far.

use std::fs::File;
use std::io::{self, Read};
use std::time::Instant;

use crate::cli::progress::{PROGRESS, ProgressLine};

/// A file that shows every second how much of it was read.
pub struct ShownReading<'a> {
    file: &'a File,
    /// Bytes of the file; 0 if unknown.
    length: u64,
    read: u64,
    shown: Instant,
    line: ProgressLine,
}

impl<'a> ShownReading<'a> {
    pub fn new(file: &'a File) -> Self {
        Self {
            file,
            length: file.metadata().map_or(0, |metadata| metadata.len()),
            read: 0,
            shown: Instant::now(),
            line: ProgressLine::default(),
        }
    }

    /// What is shown now; none while the last line is new.
    fn due(&mut self, now: Instant) -> Option<String> {
        if now.saturating_duration_since(self.shown) < PROGRESS {
            return None;
        }
        self.shown = now;
        let [read, all] = [self.read, self.length].map(|bytes| bytes >> 20);
        Some(format!("reading: {read} of {all} MB"))
    }
}

impl Read for ShownReading<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.read += count as u64;
        if let Some(words) = self.due(Instant::now()) {
            self.line.write(&words);
        }
        Ok(count)
    }
}

impl Drop for ShownReading<'_> {
    fn drop(&mut self) {
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_is_shown_every_second() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(3 << 20).unwrap();
        let mut reading = ShownReading::new(&file);
        let start = reading.shown;
        assert_eq!(reading.due(start), None);
        let mut half = vec![1; 2 << 20];
        reading.read_exact(&mut half).unwrap();
        assert_eq!(half.iter().max(), Some(&0));
        let later = Instant::now() + PROGRESS;
        let shown = reading.due(later);
        assert_eq!(shown.as_deref(), Some("reading: 2 of 3 MB"));
        assert_eq!(reading.due(later), None);
    }
}
