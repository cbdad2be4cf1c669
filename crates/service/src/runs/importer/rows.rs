//! The findings of an import in an unnamed file, in the order of the results: a line of JSON with
//! the length of the body, then the body, which is JSON already.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::store::imports::UnscannedFinding;

/// A finding, and the position of its scan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportedRow {
    pub scan: usize,
    pub finding: UnscannedFinding,
}

/// Writes findings.
pub struct RowWriter {
    file: BufWriter<File>,
}

/// Reads them again.
pub struct RowReader {
    file: BufReader<File>,
    line: String,
}

impl RowWriter {
    pub fn new(dir: &Path) -> io::Result<Self> {
        let file = BufWriter::new(tempfile::tempfile_in(dir)?);
        Ok(Self { file })
    }

    pub fn push(&mut self, row: &ImportedRow) -> io::Result<()> {
        let body = row.finding.body.as_bytes();
        serde_json::to_writer(&mut self.file, &(row, body.len()))?;
        self.file.write_all(b"\n")?;
        self.file.write_all(body)
    }

    pub fn finish(self) -> io::Result<File> {
        self.file
            .into_inner()
            .map_err(io::IntoInnerError::into_error)
    }
}

impl RowReader {
    pub fn new(mut file: File) -> io::Result<Self> {
        file.rewind()?;
        Ok(Self {
            file: BufReader::new(file),
            line: String::new(),
        })
    }

    /// The next rows, at most this number, and about these bytes.
    pub fn next_batch(&mut self, rows: usize, bytes: usize) -> io::Result<Vec<ImportedRow>> {
        let (mut batch, mut size) = (Vec::new(), 0);
        while batch.len() < rows && size < bytes {
            self.line.clear();
            let read = self.file.read_line(&mut self.line)?;
            if read == 0 {
                break;
            }
            let (mut row, length): (ImportedRow, usize) = serde_json::from_str(&self.line)?;
            let mut body = vec![0; length];
            self.file.read_exact(&mut body)?;
            row.finding.body = String::from_utf8(body).map_err(io::Error::other)?;
            size += read + length;
            batch.push(row);
        }
        Ok(batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::contract::Risk;

    #[test]
    fn rows_are_read_in_batches_as_they_were_written() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = RowWriter::new(dir.path()).unwrap();
        let row = |scan: usize| ImportedRow {
            scan,
            finding: UnscannedFinding {
                vuln_id: "nuclei:a\nb".to_owned(),
                protocol: "tcp".to_owned(),
                port: 443,
                place: "/ é".to_owned(),
                risk: Risk::High,
                body: "{\"name\":\n\"é\"}".to_owned(),
            },
        };
        (0..5).for_each(|scan| writer.push(&row(scan)).unwrap());
        let mut reader = RowReader::new(writer.finish().unwrap()).unwrap();
        let batch = reader.next_batch(3, 1 << 20).unwrap();
        assert_eq!(batch, [row(0), row(1), row(2)]);
        // A batch has at least one row.
        assert_eq!(reader.next_batch(3, 1).unwrap(), [row(3)]);
        assert_eq!(reader.next_batch(3, 1 << 20).unwrap(), [row(4)]);
        assert!(reader.next_batch(3, 1 << 20).unwrap().is_empty());
    }
}
