//! Reads the result files of other scanners. No I/O beyond the given reader, no clock.
//!
//! ```text
//!   bytes ─► container (gzip, zip; limits) ─► decode (UTF-8) ─► head: what the file begins with
//!                                                                  │
//!                                  formats: the table ─► recogniser ┴─► reader of the format
//!                                                                            │ json, xml, table: streams
//!          ImportSink ◄── ImportEntry (result, target, evidence) ◄── ImportRun
//!          ImportSummary ◄── tool, version, times, coverage, skipped entries ◄──┘
//! ```
//!
//! A file is recognised by its content, never by its name. Readers stream: at most one entry is in
//! memory. An odd entry is skipped and counted with the reason; damage, such as a cut file, ends
//! the file, and the entries before it remain. `docs/imports.md` describes the formats.

mod compliance;
mod container;
mod coverage;
mod decode;
mod entry;
mod evidence;
mod fields;
mod formats;
mod gzip;
mod head;
mod input;
mod json;
mod open_port;
mod package;
mod preview;
mod repair;
mod run;
mod table;
mod target;
mod tls;
mod xml;

use std::io::Read;
use std::ops::ControlFlow;

use thiserror::Error;

pub use coverage::{ImportCoverage, TestedPorts};
pub use entry::{CvssRating, EntryPlace, EpssRating, ImportEntry};
pub use evidence::{EntryEvidence, EvidenceItem, hide_credentials, shorten};
pub use formats::{FORMATS, ImportFormat};
pub use head::FileHead;
pub use preview::FilePreview;
pub use run::{FoundTarget, ImportSummary, SkippedEntries};
pub use target::{ImportTarget, ImportTargetKind};

use container::ImportMember;
use formats::RecognisedHead;
use input::{ImportInput, ReadFault};
use run::ImportRun;

const MESSAGES: &str = "lines before the results are not read";
const AFTER_GZIP: &str = "bytes after the end of the gzip data are not read";

/// What a file may contain at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportLimits {
    /// Bytes of the file, also after decompression.
    pub bytes: u64,
    /// Results.
    pub entries: u64,
    /// Bytes of one result.
    pub entry_bytes: u64,
    /// Bytes of a zip archive, which is held in memory.
    pub archive_bytes: u64,
    /// Files in a zip archive.
    pub members: usize,
    /// How many times larger than the compressed file the content may be.
    pub ratio: u64,
}

impl Default for ImportLimits {
    fn default() -> Self {
        Self {
            bytes: 512 << 20,
            entries: 1_000_000,
            entry_bytes: 32 << 20,
            archive_bytes: 64 << 20,
            members: 1_000,
            ratio: 200,
        }
    }
}

/// Receives the results of a file.
pub trait ImportSink {
    /// A recognised file begins, none of whose results is read yet: `member` is its name in a zip
    /// archive; `Break` ends the import.
    fn begin(&mut self, _format: &'static ImportFormat, _member: Option<&str>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// A result; `Break` ends the import.
    fn entry(&mut self, entry: ImportEntry) -> ControlFlow<()>;
}

impl<F: FnMut(ImportEntry) -> ControlFlow<()>> ImportSink for F {
    fn entry(&mut self, entry: ImportEntry) -> ControlFlow<()> {
        self(entry)
    }
}

/// Why no result of a file was read.
#[derive(Debug, Error)]
pub enum ImportError {
    #[error(
        "the file is empty; if a scan without results wrote it, name its format: `scandeck import --format NAME`"
    )]
    Empty,
    #[error(
        "the format is not recognised; if docs/imports.md lists it, name it: `scandeck import --format NAME`"
    )]
    Unknown,
    #[error("no format is called {0}; choose one of: {known}", known = formats::names())]
    NoFormat(String),
    #[error("{0}; use a smaller file, or the unpacked one")]
    Limit(String),
    #[error("the archive cannot be read: {0}; unpack it and use its files")]
    Archive(String),
    #[error("the archive has no files; use an archive with results, or the results themselves")]
    NoFiles,
    #[error("the file contains a {0} archive, which is not unpacked; unpack it and use its files")]
    ArchiveInside(&'static str),
    #[error("the file cannot be read")]
    Read(#[source] std::io::Error),
}

/// Reads a file, or each file of a zip archive. Files of an archive in an unknown format are
/// summaries without a format.
///
/// # Errors
/// When the format is unknown, or a limit is exceeded before the first result.
pub fn read(
    input: impl Read,
    format: Option<&str>,
    limits: &ImportLimits,
    sink: &mut dyn ImportSink,
) -> Result<Vec<ImportSummary>, ImportError> {
    let named = match format {
        Some(name) => {
            Some(formats::find(name).ok_or_else(|| ImportError::NoFormat(name.to_owned()))?)
        }
        None => None,
    };
    let mut summaries = Vec::new();
    let mut entries = 0;
    let mut is_stopped = false;
    container::open(input, limits, &mut |member: ImportMember<'_>| {
        if is_stopped {
            return Ok(());
        }
        let name = member.name.clone();
        let summary = match read_member(member, named, limits, entries, sink) {
            Ok(summary) => summary,
            // The other files of an archive may be results.
            Err(ImportError::Empty | ImportError::Unknown | ImportError::ArchiveInside(_))
                if name.is_some() =>
            {
                ImportSummary::unrecognised(name)
            }
            Err(error) => return Err(error),
        };
        entries += summary.entries;
        is_stopped = summary.is_stopped;
        summaries.push(summary);
        Ok(())
    })?;
    Ok(summaries)
}

fn read_member(
    member: ImportMember<'_>,
    named: Option<&'static ImportFormat>,
    limits: &ImportLimits,
    entries: u64,
    sink: &mut dyn ImportSink,
) -> Result<ImportSummary, ImportError> {
    let mut input = ImportInput::new(member.bytes, limits.entry_bytes);
    let first = input.peek().map_err(of_fault)?;
    if let Some(kind) = container::archive_in(first) {
        return Err(ImportError::ArchiveInside(kind));
    }
    let recognised = formats::recognise(first, named);
    let unfit = match (&recognised, named) {
        (None, Some(format)) => other_format(first, format),
        _ => None,
    };
    let RecognisedHead {
        format,
        head,
        start,
    } = match (recognised, named) {
        (Some(recognised), _) => recognised,
        (None, Some(format)) => RecognisedHead {
            format,
            head: FileHead::of(first),
            start: 0,
        },
        (None, None) if first.trim().is_empty() => return Err(ImportError::Empty),
        (None, None) => return Err(ImportError::Unknown),
    };
    input.pass(start);
    let is_wanted = sink.begin(format, member.name.as_deref()).is_continue();
    let mut run = ImportRun::new(
        format,
        member.name,
        limits.entries.saturating_sub(entries),
        sink,
    );
    let end = match is_wanted {
        true => format.reader.read(&mut input, &head, &mut run),
        false => Err(ReadFault::Stopped),
    };
    if start > 0 {
        run.skip(MESSAGES);
    }
    if member.has_rest.get() {
        run.skip(AFTER_GZIP);
    }
    let mut summary = run.finish(end.err());
    if summary.is_bare() {
        summary.damage = unfit;
    }
    Ok(summary)
}

/// Why a file in which nothing is found is no report of the named format, which does not recognise
/// it. JSON and tables that no format recognises may be reports without results.
fn other_format(first: &str, named: &ImportFormat) -> Option<String> {
    let remedy = match (formats::recognise(first, None), FileHead::of(first)) {
        (Some(found), _) => format!("name the format {}, or none", found.format.name),
        (None, FileHead::Json(_) | FileHead::Table(_)) => return None,
        _ if first.trim().is_empty() => return None,
        (None, FileHead::Xml(_) | FileHead::Other) => {
            "check the file, or name its format".to_owned()
        }
    };
    let format = named.name;
    Some(format!(
        "nothing in the file is in the format {format}; {remedy}"
    ))
}

fn of_fault(fault: ReadFault) -> ImportError {
    match fault {
        ReadFault::Io(error) => ImportError::Read(error),
        ReadFault::Limit(limit) => ImportError::Limit(limit),
        ReadFault::Damaged(damage) => ImportError::Archive(damage),
        ReadFault::Stopped => ImportError::Unknown,
    }
}
