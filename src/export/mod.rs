//! What leaves the program: findings with what was decided about them, in the forms that other tools read.
//!
//! ```text
//!   Case + Stance + State + names ─► Row ─► csv        a spreadsheet
//!                                          markdown    a hand-over for people
//!                                          jsonl       one object a finding
//!                                          defectdojo  Generic Findings Import
//!                                          sarif       SARIF 2.1.0
//!                                          vex         CycloneDX 1.6
//!                                          html, json  the report, with the decisions
//! ```
//!
//! Everything here is pure: rows in, bytes out. Texts for people pass the one door for outside text; JSON keeps every
//! value as it is and only escapes what would act on a terminal.

pub mod csv;
pub mod defectdojo;
pub mod json;
pub mod markdown;
pub mod report;
pub mod row;
pub mod sarif;
pub mod vex;

use thiserror::Error;

pub use row::ExportRow;

use crate::contract::{ReportFormat, Stamp};
use crate::report::RenderError;
use crate::text;

/// Forms of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    Csv,
    Markdown,
    Jsonl,
    DefectDojo,
    Sarif,
    Vex,
    Html,
    Json,
}

impl ExportFormat {
    /// All.
    pub const ALL: [ExportFormat; 8] = [
        ExportFormat::Csv,
        ExportFormat::Markdown,
        ExportFormat::Jsonl,
        ExportFormat::DefectDojo,
        ExportFormat::Sarif,
        ExportFormat::Vex,
        ExportFormat::Html,
        ExportFormat::Json,
    ];

    /// Its name on command lines.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Markdown => "markdown",
            Self::Jsonl => "jsonl",
            Self::DefectDojo => "defectdojo",
            Self::Sarif => "sarif",
            Self::Vex => "vex",
            Self::Html => "html",
            Self::Json => "json",
        }
    }

    /// The form of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }

    /// How a file of this form ends, without the dot.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Markdown => "md",
            Self::Jsonl => "jsonl",
            Self::DefectDojo => "defectdojo.json",
            Self::Sarif => "sarif",
            Self::Vex => "cdx.json",
            Self::Html => "html",
            Self::Json => "json",
        }
    }
}

/// What an export is about.
#[derive(Clone, Debug)]
pub struct Export<'a> {
    /// The findings, in the order they are to stand.
    pub rows: &'a [ExportRow],
    /// What they are of: the workspace, or the service where there are several.
    pub title: &'a str,
    /// When it is made.
    pub made: Stamp,
    /// The query that chose them; empty where all are meant.
    pub query: &'a str,
}

/// Why an export could not be written.
#[derive(Debug, Error)]
pub enum ExportError {
    #[error("the table could not be written")]
    Table(#[from] ::csv::Error),
    #[error("the text could not be written")]
    Json(#[from] serde_json::Error),
    #[error("the report could not be written")]
    Report(#[from] RenderError),
}

/// Writes an export.
///
/// # Errors
/// When a writer fails, which no finding can cause.
pub fn write(format: ExportFormat, export: &Export<'_>) -> Result<Vec<u8>, ExportError> {
    match format {
        ExportFormat::Csv => csv::write(export),
        ExportFormat::Markdown => Ok(markdown::write(export).into_bytes()),
        ExportFormat::Jsonl => lines(export),
        ExportFormat::DefectDojo => pretty(&defectdojo::document(export)),
        ExportFormat::Sarif => pretty(&sarif::document(export)),
        ExportFormat::Vex => pretty(&vex::document(export)),
        ExportFormat::Html => Ok(report::write(export, &ReportFormat::Html)?),
        ExportFormat::Json => Ok(report::write(export, &ReportFormat::Json)?),
    }
}

fn lines(export: &Export<'_>) -> Result<Vec<u8>, ExportError> {
    let mut out = Vec::new();
    for row in export.rows {
        let line = serde_json::to_string(&json::row(row))?;
        out.extend_from_slice(text::escaped_json(&line).as_bytes());
        out.push(b'\n');
    }
    Ok(out)
}

fn pretty(value: &serde_json::Value) -> Result<Vec<u8>, ExportError> {
    let text = serde_json::to_string_pretty(value)?;
    Ok(format!("{}\n", text::escaped_json(&text)).into_bytes())
}
