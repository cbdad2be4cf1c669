//! The template of a client: the texts of a report that are not in its data.
//!
//! ```text
//!   TOML ─► ReportTemplate (line and key of every error) ─► placeholders from the data ─► Markdown ─► pages
//! ```

use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value};
use serde::{Deserialize, Serialize};
use serde_json::json;
use thiserror::Error;

use super::logo::Logo;
use super::options::ReportOptions;
use super::words::Words;
use super::{Document, RenderError};

/// The texts of a report for one client. Every text can have placeholders such as
/// `{{ findings.high }}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReportTemplate {
    pub title: String,
    pub client: String,
    pub author: String,
    pub contact: String,
    /// The day of the report; empty for the day of its creation.
    pub date: String,
    pub version: String,
    /// Such as "Confidential", on every page.
    pub classification: String,
    /// `en` or `de`.
    pub language: String,
    /// A PNG or SVG file, relative to the template.
    pub logo: String,
    /// Markdown, at the start of the executive summary.
    pub summary: String,
    /// Markdown, at the start of the scope.
    pub scope: String,
    /// Markdown, a section of its own.
    pub methodology: String,
    /// What each risk means to the client.
    pub severities: SeverityScale,
    /// Replaces the default options.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<ReportOptions>,
    /// The content of the logo.
    #[serde(skip)]
    pub image: Option<Logo>,
}

/// The meaning of each risk; an empty one is not shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SeverityScale {
    pub critical: String,
    pub high: String,
    pub medium: String,
    pub low: String,
    pub info: String,
}

impl SeverityScale {
    /// The meanings, critical first.
    pub fn texts(&self) -> [&str; 5] {
        [
            &self.critical,
            &self.high,
            &self.medium,
            &self.low,
            &self.info,
        ]
    }
}

/// Why a template is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}{}: {message}", .key.as_ref().map(|key| format!(", {key}")).unwrap_or_default())]
pub struct TemplateError {
    pub line: usize,
    pub key: Option<String>,
    pub message: String,
}

/// The data that placeholders name.
#[derive(Clone, Debug)]
pub struct Placeholders(serde_json::Value);

impl Placeholders {
    pub fn of(document: &Document<'_>, exploited: usize) -> Self {
        let [critical, high, medium, low, info] = document.counts;
        let day = |at: Option<scandeck_wire::contract::Stamp>| {
            let text = at.map(|at| at.to_string()).unwrap_or_default();
            text.split(' ').next().unwrap_or_default().to_owned()
        };
        let (first, last) = document.period.unzip();
        Self(json!({
            "findings": {
                "total": document.counts.iter().sum::<usize>(),
                "critical": critical, "high": high, "medium": medium, "low": low, "info": info,
                "exploited": exploited,
            },
            "targets": document.scope.len(),
            "scans": document.scans.len(),
            "workspace": document.workspace,
            "client": document.template.client,
            "date": day(Some(document.generated)),
            "first_scan": day(first),
            "last_scan": day(last),
        }))
    }

    /// Values that only have the right names, to check a template without data.
    fn names() -> Self {
        let findings = json!({"total": 0, "critical": 0, "high": 0, "medium": 0, "low": 0, "info": 0, "exploited": 0});
        Self(json!({
            "findings": findings, "targets": 0, "scans": 0, "workspace": "", "client": "",
            "date": "", "first_scan": "", "last_scan": "",
        }))
    }

    fn fill(&self, key: &str, text: &str) -> Result<String, minijinja::Error> {
        if !text.contains('{') {
            return Ok(text.to_owned());
        }
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        environment.render_named_str(key, text, Value::from(Serde(&self.0)))
    }
}

impl ReportTemplate {
    /// Reads a template and checks its placeholders.
    ///
    /// # Errors
    /// With line and key, when the TOML, a key, a placeholder or the language is invalid.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut template: Self = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = text[..start.min(text.len())].matches('\n').count() + 1;
            TemplateError {
                line,
                key: key_on(text, line),
                message: error.message().to_owned(),
            }
        })?;
        if let Err(error) = Words::of(&template.language) {
            return Err(at_key(text, "language", 0, error.to_string()));
        }
        let names = Placeholders::names();
        for (key, value) in template.texts_mut() {
            names.fill(key, value).map_err(|error| {
                let reason = error.detail().map_or_else(
                    || error.kind().to_string(),
                    |detail| format!("{}: {detail}", error.kind()),
                );
                let inside = error.line().unwrap_or(1).saturating_sub(1);
                let hint = "placeholders: findings.total, .critical, .high, .medium, .low, .info, \
                            .exploited, targets, scans, workspace, client, date, first_scan, last_scan";
                at_key(text, key, inside, format!("{reason}; {hint}"))
            })?;
        }
        Ok(template)
    }

    /// The options of the template, or else these.
    pub fn options_or(&self, defaults: ReportOptions) -> ReportOptions {
        self.options.clone().unwrap_or(defaults)
    }

    /// The template with the data in its texts.
    ///
    /// # Errors
    /// When a placeholder is invalid.
    pub fn filled(&self, data: &Placeholders) -> Result<Self, RenderError> {
        let mut filled = self.clone();
        for (key, text) in filled.texts_mut() {
            *text = data.fill(key, text)?;
        }
        Ok(filled)
    }

    /// The texts that can have placeholders.
    fn texts_mut(&mut self) -> [(&'static str, &mut String); 15] {
        let scale = &mut self.severities;
        [
            ("title", &mut self.title),
            ("client", &mut self.client),
            ("author", &mut self.author),
            ("contact", &mut self.contact),
            ("date", &mut self.date),
            ("version", &mut self.version),
            ("classification", &mut self.classification),
            ("summary", &mut self.summary),
            ("scope", &mut self.scope),
            ("methodology", &mut self.methodology),
            ("critical", &mut scale.critical),
            ("high", &mut scale.high),
            ("medium", &mut scale.medium),
            ("low", &mut scale.low),
            ("info", &mut scale.info),
        ]
    }
}

/// The key that a line sets.
fn key_on(text: &str, line: usize) -> Option<String> {
    let (key, _) = text.lines().nth(line - 1)?.split_once('=')?;
    let key = key.trim();
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_key.then(|| key.to_owned())
}

/// An error in the value of a key, `inside` lines below its first one.
fn at_key(text: &str, key: &str, inside: usize, message: String) -> TemplateError {
    let is_key = |number: &usize| key_on(text, *number).as_deref() == Some(key);
    let first = (1..=text.lines().count()).find(is_key).unwrap_or(1);
    // The text of a multi-line string begins on the line after its quotes.
    let opening = text.lines().nth(first - 1).unwrap_or_default().trim_end();
    let after = usize::from(opening.ends_with("\"\"\"") || opening.ends_with("'''"));
    TemplateError {
        line: first + after + inside,
        key: Some(key.to_owned()),
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{ChapterKind, EvidenceDetail};

    #[test]
    fn examples_of_the_assets_are_valid() {
        for text in [
            include_str!("../assets/reports/client.toml"),
            include_str!("../assets/reports/client-de.toml"),
        ] {
            let template = ReportTemplate::parse(text).unwrap();
            assert!(!template.client.is_empty() && !template.summary.is_empty());
        }
    }

    #[test]
    fn errors_name_line_and_key() {
        for (text, expected) in [
            (
                "title = 'x'\ntilte = 'y'",
                "line 2, tilte: unknown field `tilte`",
            ),
            ("title = 'x'\nclient = 7", "line 2, client: invalid type"),
            ("title = \"x", "line 1, title: "),
            (
                "language = 'xx'",
                "line 1, language: no texts in xx; use en or de",
            ),
            (
                "\nsummary = '{{ findings.hig }}'",
                "line 2, summary: undefined value",
            ),
            (
                "summary = \"\"\"\nGood.\n{{ findings.hig }}\"\"\"",
                "line 3, summary: undefined value",
            ),
            ("[severities]\nhigh = '{{ x'", "line 2, high: syntax error"),
            (
                "[options]\nevidence = 'some'",
                "line 2, evidence: unknown variant",
            ),
        ] {
            let error = ReportTemplate::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }

    #[test]
    fn options_of_a_template_have_defaults() {
        let options = ReportTemplate::parse("[options]\nevidence = 'all'")
            .unwrap()
            .options
            .unwrap();
        assert_eq!(
            (options.evidence, options.group_by),
            (EvidenceDetail::All, ChapterKind::Class)
        );
    }

    #[test]
    fn placeholders_are_filled_from_the_data() {
        let mut data = crate::tests::data(ChapterKind::Class);
        data.template = ReportTemplate::parse(
            "title = 'Report for {{ client }}'\nclient = 'Acme <b>'\nsummary = '{{ findings.total }} of {{ targets }} until {{ last_scan }}'",
        )
        .unwrap();
        let document = Document::new(&data).unwrap();
        let filled = data
            .template
            .filled(&Placeholders::of(&document, 1))
            .unwrap();
        assert_eq!(filled.title, "Report for Acme <b>");
        assert_eq!(filled.summary, "3 of 3 until 2026-11-20");
    }
}
