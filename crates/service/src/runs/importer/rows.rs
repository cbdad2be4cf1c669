//! The findings of an import in an unnamed file, which is read scan by scan. A finding is a line of
//! JSON with the length of the body, then the body, which is JSON already.
//!
//! ```text
//!   results ─► run: rows in memory, by scan ─► file: a segment for each scan of the run ─┐
//!                          RowReader ◄─ the segments of a scan, then of the next ◄───────┘
//! ```
//!
//! The results of a scanner may change targets with each line. The indexes of the store begin with
//! the scan or the target: in this order each finding would change other pages of them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::store::imports::UnscannedFinding;

/// Bytes of rows after which a run is written.
const RUN: usize = 4 * 1024 * 1024;

/// A finding, and the position of its scan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportedRow {
    pub scan: usize,
    pub finding: UnscannedFinding,
}

/// Rows of one scan that follow each other in the file.
struct RowSegment {
    scan: usize,
    start: u64,
    bytes: usize,
}

/// Writes findings.
pub struct RowWriter {
    file: BufWriter<File>,
    file_bytes: u64,
    segments: Vec<RowSegment>,
    /// The rows of each scan that are not written yet.
    run: BTreeMap<usize, Vec<u8>>,
    run_bytes: usize,
}

/// Findings that were written, with the segments in the order of their scans.
pub struct WrittenRows {
    file: File,
    segments: Vec<RowSegment>,
}

/// Reads them again: scan by scan, those of a scan in the order of the results.
pub struct RowReader {
    file: BufReader<File>,
    segments: std::vec::IntoIter<RowSegment>,
    /// Bytes of the segment that are not read yet.
    left: usize,
    line: String,
}

impl RowWriter {
    pub fn new(dir: &Path) -> io::Result<Self> {
        Ok(Self {
            file: BufWriter::new(tempfile::tempfile_in(dir)?),
            file_bytes: 0,
            segments: Vec::new(),
            run: BTreeMap::new(),
            run_bytes: 0,
        })
    }

    pub fn push(&mut self, row: &ImportedRow) -> io::Result<()> {
        let body = row.finding.body.as_bytes();
        let rows = self.run.entry(row.scan).or_default();
        let before = rows.len();
        serde_json::to_writer(&mut *rows, &(row, body.len()))?;
        rows.push(b'\n');
        rows.extend_from_slice(body);
        self.run_bytes += rows.len() - before;
        match self.run_bytes < RUN {
            true => Ok(()),
            false => self.end_run(),
        }
    }

    fn end_run(&mut self) -> io::Result<()> {
        for (scan, rows) in std::mem::take(&mut self.run) {
            self.file.write_all(&rows)?;
            self.segments.push(RowSegment {
                scan,
                start: self.file_bytes,
                bytes: rows.len(),
            });
            self.file_bytes += rows.len() as u64;
        }
        self.run_bytes = 0;
        Ok(())
    }

    pub fn finish(mut self) -> io::Result<WrittenRows> {
        self.end_run()?;
        // The sort is stable: the runs of a scan remain in their order.
        self.segments.sort_by_key(|segment| segment.scan);
        Ok(WrittenRows {
            file: self
                .file
                .into_inner()
                .map_err(io::IntoInnerError::into_error)?,
            segments: self.segments,
        })
    }
}

impl RowReader {
    pub fn new(rows: WrittenRows) -> Self {
        Self {
            file: BufReader::new(rows.file),
            segments: rows.segments.into_iter(),
            left: 0,
            line: String::new(),
        }
    }

    /// The next rows, at most this number, and about these bytes.
    pub fn next_batch(&mut self, rows: usize, bytes: usize) -> io::Result<Vec<ImportedRow>> {
        let (mut batch, mut size) = (Vec::new(), 0);
        while batch.len() < rows && size < bytes && self.seek_row()? {
            self.line.clear();
            let read = self.file.read_line(&mut self.line)?;
            let (mut row, length): (ImportedRow, usize) = serde_json::from_str(&self.line)?;
            let mut body = vec![0; length];
            self.file.read_exact(&mut body)?;
            row.finding.body = String::from_utf8(body).map_err(io::Error::other)?;
            self.left = self.left.saturating_sub(read + length);
            size += read + length;
            batch.push(row);
        }
        Ok(batch)
    }

    /// Moves to the next row; false after the last one.
    fn seek_row(&mut self) -> io::Result<bool> {
        if self.left == 0
            && let Some(segment) = self.segments.next()
        {
            self.file.seek(SeekFrom::Start(segment.start))?;
            self.left = segment.bytes;
        }
        Ok(self.left > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::contract::Risk;

    fn row_at(scan: usize, place: &str) -> ImportedRow {
        ImportedRow {
            scan,
            finding: UnscannedFinding {
                vuln_id: "nuclei:a\nb".to_owned(),
                protocol: "tcp".to_owned(),
                port: 443,
                place: place.to_owned(),
                risk: Risk::High,
                body: "{\"name\":\n\"é\"}".to_owned(),
            },
        }
    }

    fn written(rows: impl IntoIterator<Item = ImportedRow>) -> RowReader {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = RowWriter::new(dir.path()).unwrap();
        for row in rows {
            writer.push(&row).unwrap();
        }
        RowReader::new(writer.finish().unwrap())
    }

    #[test]
    fn rows_are_read_in_batches_as_they_were_written() {
        let row = |scan: usize| row_at(scan, "/ é");
        let mut reader = written((0..5).map(row));
        let batch = reader.next_batch(3, 1 << 20).unwrap();
        assert_eq!(batch, [row(0), row(1), row(2)]);
        // A batch has at least one row.
        assert_eq!(reader.next_batch(3, 1).unwrap(), [row(3)]);
        assert_eq!(reader.next_batch(3, 1 << 20).unwrap(), [row(4)]);
        assert!(reader.next_batch(3, 1 << 20).unwrap().is_empty());
    }

    #[test]
    fn rows_of_several_runs_are_read_by_scan_in_the_order_of_the_results() {
        const SCANS: usize = 3;
        let long = "a".repeat(RUN / 8);
        let place = |number: usize| format!("{number} {long}");
        let results =
            (0..60).map(|number: usize| row_at(SCANS - 1 - number % SCANS, &place(number)));
        let mut reader = written(results);
        let segments = reader.segments.len();
        assert!(segments > 2 * SCANS, "{segments} segments");
        for scan in 0..SCANS {
            for number in (SCANS - 1 - scan..60).step_by(SCANS) {
                let next = reader.next_batch(1, 1).unwrap();
                assert!(next == [row_at(scan, &place(number))], "{scan} {number}");
            }
        }
        assert!(reader.next_batch(1, 1).unwrap().is_empty());
    }
}
