//! The reports in a case: as the service lists them, with the digests of their files.
//!
//! ```text
//!   bytes of a file ─► FileDigest ─► ReportDigest ─┐
//!   Report of the service ─────────────────────────┴─► CaseReport ─► entry of the timeline
//! ```

use std::fmt;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::hexadecimal;
use scandeck_wire::contract::Report;
use scandeck_wire::text::plural;

/// The reports in a case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaseReports {
    pub reports: Vec<CaseReport>,
    /// The first entry says so.
    pub missing: Option<MissingReports>,
}

/// A report in a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseReport {
    pub report: Report,
    /// None if the service did not send the file, such as that of a waiting report.
    pub file: Option<ReportDigest>,
}

/// The digest of the file of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportDigest {
    pub bytes: u64,
    pub sha256: String,
}

/// Why a case lacks reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingReports {
    /// The service was not reached, or refused the list.
    NotListed,
    /// So many reports may be about any workspace.
    WorkspaceUnknown(usize),
    /// The case is about some findings.
    ScansUnknown,
}

impl CaseReports {
    /// No reports, for this reason.
    pub fn without(missing: MissingReports) -> Self {
        Self {
            missing: Some(missing),
            ..Self::default()
        }
    }
}

impl fmt::Display for MissingReports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotListed => f.write_str("reports: the service did not list them"),
            Self::WorkspaceUnknown(count) => {
                let reports = plural(*count, "report");
                write!(f, "{reports}: the service does not name their workspace")
            }
            Self::ScansUnknown => f.write_str("reports: the service does not name their scans"),
        }
    }
}

/// The digest of a file that arrives in parts.
#[derive(Clone, Debug, Default)]
pub struct FileDigest {
    bytes: u64,
    hash: Sha256,
}

impl FileDigest {
    pub fn add(&mut self, part: &[u8]) {
        self.bytes += part.len() as u64;
        self.hash.update(part);
    }

    pub fn finish(self) -> ReportDigest {
        ReportDigest {
            bytes: self.bytes,
            sha256: hexadecimal(&self.hash.finalize()),
        }
    }
}
