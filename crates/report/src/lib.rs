//! Reports: arranges findings and renders them as a file. Data in, bytes out; for scripts that no
//! embedded font has, a PDF uses the fonts of this machine.
//!
//! ```text
//!   ReportData ─┐
//!   (options,   ├─arrange─► Document (order of the findings) ─► json | csv
//!    template)  │              └─► View (texts) ─► xlsx
//!   findings ───┘                    └─flow─► blocks ─► html | pdf | docx
//! ```
//!
//! Both wings use this module: the service for the findings of scans, the dashboard for findings
//! with decisions. A document holds the order of its findings only; the writers read them from
//! their source in batches, so that a report of 100,000 findings is never in memory. HTML is escaped,
//! and cells that a spreadsheet would read as a formula are neutralised. The words of a report are in
//! `assets/reports/texts`, one file per language.

mod arrange;
mod csv;
mod decisions;
mod docx;
mod flow;
mod html;
mod json;
mod logo;
mod markdown;
mod options;
mod pdf;
mod preview;
mod spreadsheet;
mod svg;
mod template;
mod template_file;
mod view;
mod words;
mod xlsx;

use std::io::{Cursor, Seek, Write};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use scandeck_wire::contract::{
    Evidence, Finding, FindingId, ReportFormat, Risk, Scan, Stamp, Tool,
};

pub use arrange::{CommonTexts, Document, ReportGroup};
pub use decisions::{Remark, ReportDecision, ReportRetest, Standing};
pub use logo::{Logo, LogoError};
pub use options::{
    ChapterKind, ChosenOptions, EvidenceDetail, ReportOptions, ReportPart, ReportTraits,
    ReportVerdict,
};
pub use preview::{ReportPreview, preview};
pub use spreadsheet::{CsvTable, neutral};
pub use template::{ReportTemplate, SeverityScale, TemplateError};
pub use template_file::read_report_template;
pub use view::locations;
pub use words::Words;

/// The supported formats.
pub const FORMATS: &[ReportFormat] = &[
    ReportFormat::Json,
    ReportFormat::Csv,
    ReportFormat::Html,
    ReportFormat::Pdf,
    ReportFormat::Docx,
    ReportFormat::Xlsx,
];

/// The data of a report. It is a copy, so that the report remains complete when its scans are
/// deleted. Many findings are in another [`FindingSource`] instead.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReportData {
    pub workspace: String,
    pub generated: Stamp,
    /// The query that selected the findings; empty without one.
    #[serde(default)]
    pub selection: String,
    #[serde(default)]
    pub options: ReportOptions,
    /// The texts of a client.
    #[serde(default)]
    pub template: ReportTemplate,
    pub findings: Vec<ReportFinding>,
    /// Whether the report contains decisions.
    #[serde(default)]
    pub with_decisions: bool,
    /// All targets, including those without findings.
    pub targets: Vec<String>,
    /// The scans of these targets, for scope and appendix.
    pub scans: Vec<ReportScan>,
}

/// The findings of a report. A report reads them several times, in batches and in any order.
pub trait FindingSource: Sync {
    fn count(&self) -> usize;

    /// The findings at these positions.
    ///
    /// # Errors
    /// [`RenderError::Findings`] when they cannot be read.
    fn read(&self, positions: &[usize]) -> Result<Vec<ReportFinding>, RenderError>;
}

impl FindingSource for Vec<ReportFinding> {
    fn count(&self) -> usize {
        self.len()
    }

    fn read(&self, positions: &[usize]) -> Result<Vec<ReportFinding>, RenderError> {
        Ok(positions
            .iter()
            .filter_map(|position| self.get(*position))
            .cloned()
            .collect())
    }
}

/// The file that a report is written to.
pub trait ReportOutput: Write + Seek + Send {}

impl<T: Write + Seek + Send> ReportOutput for T {}

/// A finding with its origin.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReportFinding {
    pub finding: Finding,
    pub target: String,
    pub tool: Tool,
    pub found_at: Option<Stamp>,
    /// Older findings of the same duplicate group, newest first.
    pub history: Vec<Earlier>,
    /// The decisions about the finding, which the service does not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<ReportDecision>,
}

impl ReportFinding {
    /// The severity override, else the risk of the scanner.
    pub fn risk(&self) -> Risk {
        self.decided
            .as_ref()
            .and_then(|decided| decided.severity)
            .unwrap_or(self.finding.risk_level)
    }
}

/// An older finding of the same duplicate group.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Earlier {
    pub id: FindingId,
    pub found_at: Option<Stamp>,
    pub risk: Risk,
}

/// A scan for the appendix.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReportScan {
    pub scan: Scan,
    pub target: String,
}

/// Why a report could not be rendered.
#[derive(Debug, Error)]
pub enum RenderError {
    #[error("report format {0} is not supported; use json, csv, html, pdf, docx or xlsx")]
    Format(String),
    #[error("findings of the report not read")]
    Findings(#[source] std::io::Error),
    #[error("a text of the report template has an invalid placeholder")]
    Placeholder(#[from] minijinja::Error),
    #[error("no texts in {0}; use {languages}", languages = Words::languages().collect::<Vec<_>>().join(" or "))]
    Language(String),
    #[error("texts of reports not read: {0}")]
    Words(String),
    #[error("CSV table not written")]
    Table(#[from] ::csv::Error),
    #[error("a table has at most 1,048,576 rows, the limit of spreadsheets; select fewer findings")]
    Rows,
    #[error("JSON not written")]
    Json(#[from] serde_json::Error),
    #[error("spreadsheet not written")]
    Spreadsheet(#[from] rust_xlsxwriter::XlsxError),
    #[error("archive not written")]
    Archive(#[from] zip::result::ZipError),
    #[error("document not written")]
    Write(#[from] std::io::Error),
    #[error("PDF not written: {0}")]
    Pdf(String),
}

/// Renders a report into memory.
///
/// # Errors
/// As [`render_to`].
pub fn render(document: &Document<'_>, format: &ReportFormat) -> Result<Vec<u8>, RenderError> {
    let mut out = Cursor::new(Vec::new());
    render_to(document, format, &mut out)?;
    Ok(out.into_inner())
}

/// Renders a report into a file, from its current position on.
///
/// # Errors
/// When the format is not one of [`FORMATS`], the findings cannot be read, or a writer fails.
pub fn render_to(
    document: &Document<'_>,
    format: &ReportFormat,
    out: &mut dyn ReportOutput,
) -> Result<(), RenderError> {
    match format {
        ReportFormat::Json => json::render(document, out),
        ReportFormat::Csv => csv::render(document, out),
        ReportFormat::Html => html::render(document, out),
        ReportFormat::Pdf => pdf::render(document, out),
        ReportFormat::Docx => docx::render(document, out),
        ReportFormat::Xlsx => xlsx::render(document, out),
        other => Err(RenderError::Format(other.to_string())),
    }
}

/// Evidence as the text of one cell: one line per row, `header: cell` pairs, then the exchange.
pub fn evidence_cell(evidence: &Evidence) -> String {
    csv::evidence(&evidence.view().decoded())
}

/// The content type of a format's download.
pub fn content_type(format: &ReportFormat) -> &'static str {
    match format {
        ReportFormat::Json => "application/json",
        ReportFormat::Csv => "text/csv; charset=utf-8",
        ReportFormat::Html => "text/html; charset=utf-8",
        ReportFormat::Pdf => "application/pdf",
        ReportFormat::Docx => {
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
        }
        ReportFormat::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        ReportFormat::Other(_) => "application/octet-stream",
    }
}

/// The colour of a risk in printed formats: red, green and blue. White text on it is readable.
fn risk_color(risk: Risk) -> [u8; 3] {
    match risk {
        Risk::Critical => [0x8b, 0x1a, 0x4f],
        Risk::High => [0xb3, 0x26, 0x1e],
        Risk::Medium => [0x9a, 0x5b, 0x00],
        Risk::Low => [0x2c, 0x5c, 0x8a],
        Risk::Info => [0x5b, 0x64, 0x72],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::contract::{GroupBy, ReportFilters, ScanId, ScanStatus, TargetId};

    /// Two targets with three findings, one of them hostile, and a third target without any.
    pub(super) fn data(group_by: ChapterKind) -> ReportData {
        let finding = |id: i64, name: &str, risk: Risk, vuln: &str| Finding {
            id: FindingId(id),
            name: name.into(),
            risk_level: risk,
            vuln_id: vuln.into(),
            status: "open".into(),
            references: vec!["https://example.org/a".into(), "javascript:alert(1)".into()],
            vuln_evidence: Evidence::table(
                &["Request", "Answer"],
                [vec!["GET /<b>".into(), "=1+1".into()]],
            ),
            target_id: Some(TargetId(1)),
            task_id: Some(ScanId(7)),
            ..Finding::default()
        };
        let at = Stamp::parse("2026-11-20 10:00:00");
        let of = |target: &str, finding: Finding| ReportFinding {
            finding,
            target: target.into(),
            tool: Tool::WEBSITE,
            found_at: at,
            history: vec![Earlier {
                id: FindingId(90),
                found_at: at,
                risk: Risk::Low,
            }],
            decided: None,
        };
        ReportData {
            workspace: "Acme <external>".into(),
            generated: Stamp::parse("2026-11-21 09:30:00").unwrap(),
            selection: String::new(),
            options: ReportOptions {
                group_by,
                ..ReportOptions::of_service(&GroupBy::Target, &ReportFilters::default())
            },
            template: ReportTemplate::default(),
            findings: vec![
                of(
                    "shop.test",
                    finding(1, "Server names its version", Risk::Info, "version"),
                ),
                of(
                    "shop.test",
                    finding(
                        2,
                        "=cmd|'/C calc'!A0<script>x</script>",
                        Risk::Critical,
                        "key",
                    ),
                ),
                of(
                    "api.test",
                    finding(3, "Server names its version", Risk::Info, "version"),
                ),
            ],
            targets: vec!["api.test".into(), "quiet.test".into(), "shop.test".into()],
            with_decisions: false,
            scans: vec![ReportScan {
                scan: Scan {
                    id: ScanId(7),
                    tool_id: 170,
                    status_name: ScanStatus::Finished,
                    tool_params: Some(serde_json::json!({"scan_type": "light"})),
                    ..Scan::default()
                },
                target: "shop.test".into(),
            }],
        }
    }

    /// The formats that are text; `tests/report_files.rs` reads the others back.
    const TEXT_FORMATS: [ReportFormat; 3] =
        [ReportFormat::Json, ReportFormat::Csv, ReportFormat::Html];

    fn text(data: &ReportData, format: ReportFormat) -> String {
        String::from_utf8(render(&Document::new(data).unwrap(), &format).unwrap()).unwrap()
    }

    #[test]
    fn hidden_characters_are_visible_in_every_format() {
        let mut data = data(ChapterKind::Target);
        data.findings[0].finding.name = "\u{1b}]52;c;eA==\u{7} \u{9b}2J exe\u{202e}gpj".into();
        for format in TEXT_FORMATS {
            let report = text(&data, format.clone());
            let is_plain =
                |c: char| matches!(c, '\n' | '\r') || !(c.is_control() || c == '\u{202e}');
            assert!(report.chars().all(is_plain), "{format}: {report:?}");
            assert!(
                report.contains("exe") && report.contains("52;c;eA=="),
                "{format}"
            );
        }
        let groups: serde_json::Value =
            serde_json::from_str(&text(&data, ReportFormat::Json)).unwrap();
        assert!(
            groups.to_string().contains("exe\u{202e}gpj"),
            "the JSON report keeps the value"
        );
    }

    #[test]
    fn json_report_is_an_array_of_groups() {
        let groups: serde_json::Value =
            serde_json::from_str(&text(&data(ChapterKind::Target), ReportFormat::Json)).unwrap();
        assert_eq!(
            groups[0]["name"], "shop.test",
            "the target with the highest risk comes first"
        );
        assert_eq!(groups[0]["findings"][0]["risk_level"], 4);
        assert_eq!(groups[0]["findings"][0]["target_name"], "shop.test");
        assert_eq!(groups.as_array().unwrap().len(), 2);
    }

    #[test]
    fn csv_report_neutralises_formulas() {
        let table = text(&data(ChapterKind::Class), ReportFormat::Csv);
        assert!(table.contains("'=cmd|"), "{table}");
        let mut reader = ::csv::Reader::from_reader(table.as_bytes());
        for row in reader.records() {
            for cell in &row.unwrap() {
                assert!(!cell.starts_with(['=', '+', '-', '@']), "{cell}");
            }
        }
    }

    #[test]
    fn html_report_escapes_findings_and_links_web_addresses_only() {
        let page = text(&data(ChapterKind::Class), ReportFormat::Html);
        assert!(!page.contains("<script"), "no scripts");
        assert!(page.contains("&lt;script&gt;x"));
        assert!(
            page.contains(r#"href="https://example.org/a""#)
                || page.contains("href=\"https:&#x2f;&#x2f;example.org")
        );
        assert!(!page.contains("href=\"javascript"));
        assert!(page.contains("Acme &lt;external&gt;"));
    }

    #[test]
    fn html_report_keeps_lists_whole_and_words_and_tables_within_the_page() {
        let mut data = data(ChapterKind::Class);
        data.template.scope = "1. Shop\n2. Portal".into();
        let page = text(&data, ReportFormat::Html);
        for mark in ["1.", "2."] {
            let item = format!("<p class=\"item\"><span class=\"mark\">{mark}</span>");
            assert!(page.contains(&item), "{mark}: {page}");
        }
        let all = page.matches("<table ").count();
        let wide = page.matches("<div class=\"wide\"><table ").count();
        assert!(all > 0 && all == wide, "{wide} of {all} tables");
        for rule in [
            ".item, pre + p { break-before: avoid-page }",
            ".wide { overflow-x: auto }",
            "counter(page)",
            "unicode-bidi: plaintext",
            "padding: 0 1rem; overflow-wrap: anywhere }",
        ] {
            assert!(page.contains(rule), "{rule}");
        }
    }

    /// The same data with a decision about the worst finding.
    pub(super) fn decided() -> ReportData {
        let mut data = data(ChapterKind::Target);
        data.with_decisions = true;
        data.findings[1].decided = Some(ReportDecision {
            verdict: "risk accepted".into(),
            reason: "deferred".into(),
            who: "ada <x@y>".into(),
            severity: Some(Risk::Low),
            now: "absent".into(),
            absent_in: "scan #6 of 2026-11-20 09:00:00".into(),
            retest: Some(ReportRetest {
                before: "confirmed".into(),
                now: "still there".into(),
                ..ReportRetest::default()
            }),
            notes: vec![Remark {
                text: "=see <b>114</b>".into(),
                who: "ada".into(),
                at: "2026-11-20 10:00:00".into(),
            }],
            ..ReportDecision::default()
        });
        data
    }

    #[test]
    fn reports_with_decisions_contain_them_in_every_format() {
        let page = text(&decided(), ReportFormat::Html);
        for words in [
            "risk accepted",
            "deferred",
            "ada &lt;x@y&gt;",
            "still found",
            "absent: not found by scan of 2026-11-20 09:00:00",
            "=see &lt;b&gt;114",
            "critical by the scanner",
        ] {
            assert!(page.contains(words), "{words}: {page}");
        }
        let groups: serde_json::Value =
            serde_json::from_str(&text(&decided(), ReportFormat::Json)).unwrap();
        let worst = &groups[0]["findings"][0];
        assert_eq!(
            (&worst["decided"]["severity"], &worst["risk_level"]),
            (&1.into(), &4.into())
        );
        let table = text(&decided(), ReportFormat::Csv);
        let mut reader = ::csv::Reader::from_reader(table.as_bytes());
        let headers = reader.headers().unwrap().clone();
        let place = headers.iter().position(|head| head == "notes").unwrap();
        let rows: Vec<::csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert!(
            rows.iter().any(|row| &row[place] == "'=see <b>114</b>"),
            "{table}"
        );
        let retest = ["retest_before", "retest_now"]
            .map(|head| headers.iter().position(|one| one == head).unwrap());
        assert!(
            rows.iter()
                .any(|row| retest.map(|at| &row[at]) == ["confirmed", "still there"]),
            "{table}"
        );
        assert_eq!(worst["decided"]["retest"]["now"], "still there");
    }

    #[test]
    fn reports_without_decisions_contain_none() {
        assert!(!text(&data(ChapterKind::Target), ReportFormat::Csv).contains("verdict"));
        assert!(!text(&data(ChapterKind::Target), ReportFormat::Html).contains("Verdict"));
        assert!(
            !text(&decided(), ReportFormat::Html).contains("scan #6"),
            "an id"
        );
        assert!(!text(&data(ChapterKind::Target), ReportFormat::Json).contains("decided"));
    }

    #[test]
    fn render_refuses_unsupported_format() {
        let format = ReportFormat::from("odt");
        let error =
            render(&Document::new(&data(ChapterKind::Target)).unwrap(), &format).unwrap_err();
        assert!(error.to_string().contains("json, csv, html"));
    }
}
