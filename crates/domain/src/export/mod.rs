//! Exports: findings with their decisions in the formats of other tools.
//!
//! ```text
//!   Issue + Assessment + TriageState + names ─► ExportRow ─► csv        a spreadsheet
//!                                                  markdown    a hand-over for people
//!                                                  jsonl       one object per finding
//!                                                  defectdojo  Generic Findings Import
//!                                                  sarif       SARIF 2.1.0
//!                                                  vex         CycloneDX 1.6
//!                                                  html, json, pdf, docx, xlsx   the report, with decisions
//!   Finding, captured request ─► ticket         Markdown to paste
//! ```
//!
//! Everything here is pure: rows in, bytes out. Texts for people are sanitised; JSON keeps every
//! value and escapes only characters that would act on a terminal.

mod chains;
pub mod csv;
pub mod defectdojo;
pub mod json;
pub mod markdown;
pub mod report;
pub mod row;
pub mod sarif;
pub mod ticket;
pub mod vex;

use serde_json::Value;
use thiserror::Error;

pub use report::ReportFrame;
pub use row::ExportRow;

use crate::finding::named_enum;
use crate::mask::Mask;
use scandeck_report::{RenderError, ReportOptions};
use scandeck_wire::contract::{ReportFormat, Stamp};
use scandeck_wire::text;
use scandeck_wire::text::plural;

named_enum! {
    /// The format of an export, with its name on command lines.
    ExportFormat {
        Csv "csv",
        Markdown "markdown",
        Jsonl "jsonl",
        DefectDojo "defectdojo",
        Sarif "sarif",
        Vex "vex",
        Html "html",
        Json "json",
        Pdf "pdf",
        Docx "docx",
        Xlsx "xlsx",
    }
}

impl ExportFormat {
    /// The format of the report, which has options.
    pub fn of_report(self) -> Option<ReportFormat> {
        match self {
            Self::Html => Some(ReportFormat::Html),
            Self::Json => Some(ReportFormat::Json),
            Self::Pdf => Some(ReportFormat::Pdf),
            Self::Docx => Some(ReportFormat::Docx),
            Self::Xlsx => Some(ReportFormat::Xlsx),
            _ => None,
        }
    }

    /// Whether it is the report.
    pub fn is_report(self) -> bool {
        self.of_report().is_some()
    }

    /// The options of a report without a choice.
    pub fn report_options(self) -> ReportOptions {
        self.of_report()
            .map(|format| ReportOptions::of_format(&format))
            .unwrap_or_default()
    }

    /// The file extension, without the leading dot.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::DefectDojo => "defectdojo.json",
            Self::Vex => "cdx.json",
            _ => self.as_str(),
        }
    }
}

/// The content of an export.
#[derive(Clone, Debug)]
pub struct Export<'a> {
    /// The findings, in the order of the output.
    pub rows: &'a [ExportRow],
    /// The workspace, or the service if there are several workspaces.
    pub title: &'a str,
    /// The time of the export.
    pub made: Stamp,
    /// The query that selected the rows; empty for all.
    pub query: &'a str,
    /// Hides names in the file.
    pub mask: Option<&'a Mask>,
    /// Of a report: its options, template and scans; none for the defaults.
    pub frame: Option<&'a ReportFrame>,
}

/// The reason why an export failed.
#[derive(Debug, Error)]
pub enum ExportError {
    #[error("table not written")]
    Table(#[source] RenderError),
    #[error("JSON not written")]
    Json(#[from] serde_json::Error),
    #[error("{0}; export fewer findings with a query")]
    Limit(String),
    #[error("report not written")]
    Report(#[from] RenderError),
    #[error(
        "no finding has a verdict of the report ({verdicts}); {findings} excluded",
        findings = plural(*.excluded, "finding")
    )]
    Nothing { verdicts: String, excluded: usize },
    #[error("texts of the findings cannot be read")]
    Texts(#[from] std::io::Error),
}

/// A written export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportFile {
    pub bytes: Vec<u8>,
    /// The findings in it.
    pub findings: usize,
    /// Findings that the options of a report exclude.
    pub excluded: usize,
}

impl ExportFile {
    /// `12 findings (7 excluded)`
    pub fn contents(&self) -> String {
        let findings = plural(self.findings, "finding");
        match self.excluded {
            0 => findings,
            excluded => format!("{findings} ({} excluded)", text::thousands(excluded as u64)),
        }
    }
}

/// Writes an export.
///
/// # Errors
/// When a writer fails, or the findings exceed a limit of the format's readers.
pub fn write(format: ExportFormat, export: &Export<'_>) -> Result<ExportFile, ExportError> {
    let written = match format {
        ExportFormat::Csv => csv::write(export),
        ExportFormat::Markdown => markdown::write(export).map(String::into_bytes),
        ExportFormat::Jsonl => lines(export),
        ExportFormat::DefectDojo => pretty(&defectdojo::document(export)?),
        ExportFormat::Sarif => {
            let file = pretty(&sarif::document(export)?)?;
            sarif::check_size(&file).map(|()| file)
        }
        ExportFormat::Vex => pretty(&vex::document(export)?),
        // Reports mask their data: their files are packed, or contain fonts.
        ExportFormat::Html => return report::write(export, &ReportFormat::Html),
        ExportFormat::Json => return report::write(export, &ReportFormat::Json),
        ExportFormat::Pdf => return report::write(export, &ReportFormat::Pdf),
        ExportFormat::Docx => return report::write(export, &ReportFormat::Docx),
        ExportFormat::Xlsx => return report::write(export, &ReportFormat::Xlsx),
    }?;
    Ok(ExportFile {
        bytes: match export.mask {
            Some(mask) => mask.bytes(&written).into_owned(),
            None => written,
        },
        findings: export.rows.len(),
        excluded: 0,
    })
}

fn lines(export: &Export<'_>) -> Result<Vec<u8>, ExportError> {
    let mut out = String::new();
    for row in export.rows {
        let mut object = json::object(row, &row.issue.whole()?);
        object["history"] = json::history(row);
        out += &text::escaped_json(&serde_json::to_string(&object)?);
        out.push('\n');
    }
    Ok(out.into_bytes())
}

fn pretty(value: &Value) -> Result<Vec<u8>, ExportError> {
    let text = serde_json::to_string_pretty(value)?;
    Ok(format!("{}\n", text::escaped_json(&text)).into_bytes())
}

/// Text of at most `most` characters; a longer one ends with `…`.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most - 1).chain(['…']).collect(),
    }
}

/// Removes the empty fields of an object.
fn without_empty(mut object: Value) -> Value {
    if let Value::Object(fields) = &mut object {
        fields.retain(|_, value| {
            !value.is_null() && value != "" && !value.as_array().is_some_and(Vec::is_empty)
        });
    }
    object
}
