//! A sealed case: what happened in a workspace, or about some findings, as a timeline in which
//! every entry contains the digest of the one before. A change of one entry does not fit to the
//! next.
//!
//! ```text
//!   Bundle ─► selection ─┬► timeline: entries by time ─► chain: digests ─► timeline.jsonl ─┐
//!   CaseReports ─────────┘                                 └─► page: index.html ───────────┴─► zip
//!   zip ─► verify ─► VerifiedCase with its seal, or the first entry that does not fit
//! ```
//!
//! The seal is the digest of the last entry. It says that the file is whole, and the same file if
//! the seal was kept elsewhere; it does not say who made the file (`docs/cases.md`).

mod chain;
mod layout;
mod page;
mod reports;
mod selection;
#[cfg(test)]
mod selection_tests;
mod timeline;
#[cfg(test)]
mod timeline_tests;
mod verify;

pub use chain::{CaseEntry, CaseEntryKind};
pub use reports::{CaseReport, CaseReports, FileDigest, MissingReports, ReportDigest};
pub use selection::CaseSelection;
pub use timeline::{CaseEvent, CaseMaker, case_events};
pub use verify::{CaseFault, VerifiedCase, verify};

use std::io::{Cursor, Write};

use sha2::{Digest, Sha256};
use zip::ZipWriter;
use zip::result::ZipResult;
use zip::write::SimpleFileOptions;

use chain::CaseChain;
use scandeck_wire::contract::Shared;
use scandeck_wire::contract::Stamp;
use scandeck_wire::data_format::DataFormat;
use serde_json::json;

/// The format of case files that this version writes, and the greatest that it reads. Since 2, a
/// case has reports.
const VERSION: u32 = 2;
/// The entries, a JSON object a line.
const TIMELINE: &str = "timeline.jsonl";
/// The page that shows them.
const PAGE: &str = "index.html";

/// A case file.
#[derive(Clone, Debug)]
pub struct SealedCase {
    /// The bytes of the zip archive.
    pub file: Vec<u8>,
    /// Digest of the last entry.
    pub seal: String,
    pub entries: usize,
}

/// The number of case files, for `--version --verbose`.
pub fn case_format() -> DataFormat {
    DataFormat {
        name: "sealed cases",
        number: VERSION.into(),
        file: None,
    }
}

/// Makes a case of events in their order. The last entry has the digest of the page.
///
/// # Errors
/// When the archive is larger than the format allows.
pub fn seal(title: &str, events: Vec<CaseEvent>, made: Stamp) -> ZipResult<SealedCase> {
    let mut chain = CaseChain::default();
    for event in events {
        chain.add(event);
    }
    let page = page::html(title, chain.entries(), chain.last());
    chain.add(CaseEvent {
        at: Some(made),
        author: Shared::default(),
        kind: CaseEntryKind::Page,
        text: format!("page {PAGE}"),
        data: json!({ "file": PAGE, "sha256": digest(page.as_bytes()) }),
    });
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in [(TIMELINE, chain.lines()), (PAGE, page.as_str())] {
        archive.start_file(name, SimpleFileOptions::default())?;
        archive.write_all(content.as_bytes())?;
    }
    Ok(SealedCase {
        file: archive.finish()?.into_inner(),
        seal: chain.last().to_owned(),
        entries: chain.entries().len(),
    })
}

/// SHA-256 as hexadecimal digits.
fn digest(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
