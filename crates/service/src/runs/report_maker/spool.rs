//! The findings of a report in an unnamed file: gathered once, then read in the order of the
//! report, however many they are.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use scandeck_report::{FindingSource, RenderError, ReportFinding};

/// Findings that are being gathered.
pub struct Spool {
    file: BufWriter<File>,
    /// Where each finding ends.
    ends: Vec<u64>,
}

/// Gathered findings.
pub struct SpooledFindings {
    file: File,
    ends: Vec<u64>,
}

impl Spool {
    pub fn new(dir: &Path) -> io::Result<Self> {
        Ok(Self {
            file: BufWriter::new(tempfile::tempfile_in(dir)?),
            ends: Vec::new(),
        })
    }

    pub fn push(&mut self, found: &ReportFinding) -> io::Result<()> {
        let json = serde_json::to_vec(found)?;
        self.file.write_all(&json)?;
        self.ends
            .push(self.ends.last().unwrap_or(&0) + json.len() as u64);
        Ok(())
    }

    pub fn finish(self) -> io::Result<SpooledFindings> {
        let file = self
            .file
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        Ok(SpooledFindings {
            file,
            ends: self.ends,
        })
    }
}

impl SpooledFindings {
    fn find(&self, position: usize) -> io::Result<ReportFinding> {
        let start = position
            .checked_sub(1)
            .map_or(0, |before| self.ends[before]);
        let mut json = vec![0; (self.ends[position] - start) as usize];
        self.file.read_exact_at(&mut json, start)?;
        Ok(serde_json::from_slice(&json)?)
    }
}

impl FindingSource for SpooledFindings {
    fn count(&self) -> usize {
        self.ends.len()
    }

    fn read(&self, positions: &[usize]) -> Result<Vec<ReportFinding>, RenderError> {
        let found = positions.iter().map(|position| self.find(*position));
        found
            .collect::<io::Result<_>>()
            .map_err(RenderError::Findings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_report::Earlier;
    use scandeck_wire::contract::{Finding, FindingId, Risk, Tool};

    #[test]
    fn findings_are_read_in_any_order_as_they_were_written() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(dir.path()).unwrap();
        let found = |id: i64| ReportFinding {
            finding: Finding {
                id: FindingId(id),
                name: "é".repeat(id as usize).as_str().into(),
                ..Finding::default()
            },
            target: format!("host {id}"),
            tool: Tool::WEBSITE,
            found_at: None,
            history: vec![Earlier {
                id: FindingId(90),
                found_at: None,
                risk: Risk::Low,
            }],
            decided: None,
        };
        (1..=5).for_each(|id| spool.push(&found(id)).unwrap());
        let spooled = spool.finish().unwrap();
        assert_eq!(spooled.count(), 5);
        let read = spooled.read(&[4, 0, 2]).unwrap();
        for (read, id) in read.iter().zip([5, 1, 3]) {
            assert_eq!(
                serde_json::to_value(read).unwrap(),
                serde_json::to_value(found(id)).unwrap()
            );
        }
        assert_eq!(
            std::fs::read_dir(dir.path()).unwrap().count(),
            0,
            "the file has no name"
        );
    }
}
