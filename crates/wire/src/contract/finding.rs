//! Findings of scans, with their evidence.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::entities::decode_entities;
use super::shared::{SharedPool, SharedTexts};
use super::verdict::ProposedVerdict;
use super::{FindingId, ScanId, Shared, TargetId, inline_schema, lenient};

/// A finding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Finding {
    pub id: FindingId,
    /// Name of the vulnerability class.
    pub name: Shared,
    /// The check that reported the finding.
    pub test_description: Shared,
    /// Always true.
    #[serde(deserialize_with = "lenient::boolean")]
    pub test_finished: bool,
    /// The response of the target proves the finding.
    #[serde(deserialize_with = "lenient::boolean")]
    pub confirmed: bool,
    /// Whether the CVE is in the CISA catalog of known exploited vulnerabilities.
    #[serde(deserialize_with = "lenient::boolean")]
    pub in_cisa_catalog: bool,
    /// CVE identifiers.
    // Other services send `N/A` too; reading drops it.
    #[serde(deserialize_with = "cves")]
    pub cve: Vec<Shared>,
    /// Description of the vulnerability.
    pub vuln_description: Shared,
    pub vuln_evidence: Evidence,
    /// The possible consequences.
    pub risk_description: Shared,
    pub risk_level: Risk,
    /// Always `open`: this service has no endpoint to set it.
    pub status: Shared,
    /// The remedy.
    pub recommendation: Shared,
    /// URLs for further reading.
    #[serde(deserialize_with = "lenient::texts")]
    pub references: Vec<Shared>,
    /// Always false: this service has no endpoint to set it.
    #[serde(deserialize_with = "lenient::boolean")]
    pub verified: bool,
    /// Stable id of the vulnerability class, such as `web.header.csp_missing`.
    // Of other services possibly empty; `NONVULN-…` means that a test found nothing.
    pub vuln_id: Shared,
    #[serde(deserialize_with = "lenient::object")]
    pub owasp: Owasp,
    /// CWE identifier; may be empty.
    pub cwe: Shared,
    /// Port; 0 if there is none.
    #[serde(deserialize_with = "lenient::integer")]
    #[schemars(range(min = 0, max = 65_535))]
    pub port: i64,
    /// `tcp`, `udp`, or empty.
    pub protocol: Shared,
    /// The protocol of the service on the port, such as `https`.
    pub service: Shared,
    #[serde(
        deserialize_with = "lenient::maybe_id",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(!skip_serializing_if, required)]
    pub target_id: Option<TargetId>,
    #[serde(
        deserialize_with = "lenient::maybe_id",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(!skip_serializing_if, required)]
    pub task_id: Option<ScanId>,
    /// The name of the target.
    #[serde(
        deserialize_with = "lenient::maybe_text",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(!skip_serializing_if, required)]
    pub target_name: Option<Shared>,
    /// The verdict that the file of an imported finding states.
    // The document lists only what every finding has.
    #[serde(
        deserialize_with = "ProposedVerdict::maybe",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(skip)]
    pub proposed: Option<Box<ProposedVerdict>>,
    // Only other services send these.
    #[serde(
        deserialize_with = "lenient::maybe_number",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(skip)]
    pub epss_score: Option<f64>,
    #[serde(
        deserialize_with = "lenient::maybe_number",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(skip)]
    pub epss_percentile: Option<f64>,
    #[serde(
        deserialize_with = "lenient::maybe_number",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(skip)]
    pub cvss: Option<f64>,
    #[serde(
        deserialize_with = "lenient::maybe_number",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(skip)]
    pub cvssv3: Option<f64>,
    #[serde(
        deserialize_with = "lenient::maybe_integer",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(skip)]
    pub screenshots: Option<i64>,
}

impl SharedTexts for Finding {
    fn share_texts(&mut self, pool: &mut SharedPool) {
        let texts = [
            &mut self.name,
            &mut self.test_description,
            &mut self.vuln_description,
            &mut self.risk_description,
            &mut self.status,
            &mut self.recommendation,
            &mut self.vuln_id,
            &mut self.owasp.owasp_2017,
            &mut self.owasp.owasp_2021,
            &mut self.owasp.owasp_2025,
            &mut self.cwe,
            &mut self.protocol,
            &mut self.service,
        ];
        texts.into_iter().for_each(|text| pool.share(text));
        self.cve.share_texts(pool);
        self.references.share_texts(pool);
        self.target_name.share_texts(pool);
        pool.share_wide(&mut self.vuln_evidence.0);
    }
}

fn cves<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Shared>, D::Error> {
    let mut all = lenient::texts(from)?;
    all.retain(|cve| !cve.trim().is_empty() && !cve.trim().eq_ignore_ascii_case("n/a"));
    Ok(all)
}

/// Categories of the OWASP Top 10 of 2017, 2021 and 2025.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(inline)]
pub struct Owasp {
    /// May be empty.
    pub owasp_2017: Shared,
    /// May be empty.
    pub owasp_2021: Shared,
    /// May be empty.
    pub owasp_2025: Shared,
}

impl Owasp {
    /// The category of the newest edition with its year: `A01:2021 - Broken Access Control`. Empty
    /// without a category.
    pub fn label(&self) -> String {
        let editions = [
            ("2025", &self.owasp_2025),
            ("2021", &self.owasp_2021),
            ("2017", &self.owasp_2017),
        ];
        let Some((year, category)) = editions
            .into_iter()
            .find(|(_, category)| !category.is_empty())
        else {
            return String::new();
        };
        let (code, name) = category.split_once([' ', ':']).unwrap_or((category, ""));
        match category.contains(year) {
            true => category.to_string(),
            false if name.is_empty() => format!("{code}:{year}"),
            false => format!("{code}:{year} {}", name.trim_start()),
        }
    }
}

/// The risk of a finding, from 0 (info) to 4 (critical). Levels out of range become the nearest
/// one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Risk {
    #[default]
    Info = 0,
    Low = 1,
    Medium = 2,
    High = 3,
    Critical = 4,
}

inline_schema!(Risk, {
    "type": "integer",
    "format": "int64",
    "minimum": 0,
    "maximum": 4,
    "description": "0 info, 1 low, 2 medium, 3 high, 4 critical.",
});

impl Risk {
    /// All levels in descending order.
    pub const DOWN: [Risk; 5] = [
        Risk::Critical,
        Risk::High,
        Risk::Medium,
        Risk::Low,
        Risk::Info,
    ];

    /// The level in JSON, 0 to 4.
    pub fn level(self) -> i64 {
        self as i64
    }

    /// The lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Risk::Info => "info",
            Risk::Low => "low",
            Risk::Medium => "medium",
            Risk::High => "high",
            Risk::Critical => "critical",
        }
    }
}

impl From<i64> for Risk {
    fn from(level: i64) -> Self {
        match level {
            ..=0 => Risk::Info,
            1 => Risk::Low,
            2 => Risk::Medium,
            3 => Risk::High,
            4.. => Risk::Critical,
        }
    }
}

impl fmt::Display for Risk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Risk {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_i64(self.level())
    }
}

impl<'de> Deserialize<'de> for Risk {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        lenient::integer(from).map(Risk::from)
    }
}

/// Evidence of a finding as JSON text. It is parsed only when it is shown, because of 100,000
/// findings only one is shown at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence(Arc<str>);

inline_schema!(Evidence, {
    "type": "object",
    "required": ["type", "data"],
    "properties": {
        "type": {"type": "string", "description": "`table`; of imported findings also `text`."},
        "data": {
            "type": ["object", "string"],
            "properties": {
                "headers": {"type": "array", "items": {"type": "string"}, "description": "Column headers."},
                "rows": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
            },
            "description": "A table, empty without evidence; or a text.",
        },
    },
    "description": "The evidence: `data` is a table with `headers` and `rows`, or a text. The columns `Request` and `Response` at the end of a table are the HTTP exchange that proves the finding; if only the first row has them, they are those of all rows.",
});

/// [`Evidence`] of type `table`, in the order of its JSON.
#[derive(Serialize)]
struct TableEvidence<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    data: TableData<'a>,
}

#[derive(Serialize)]
struct TableData<'a> {
    headers: &'a [&'a str],
    rows: &'a [Vec<String>],
}

/// Parsed [`Evidence`].
#[derive(Clone, Debug, PartialEq)]
pub enum EvidenceView {
    /// No evidence.
    Nothing,
    /// Free text.
    Text(String),
    /// A table; rows may be shorter or longer than the header row.
    Table {
        /// Column headers, possibly none.
        headers: Vec<String>,
        /// Cells with HTML entities.
        rows: Vec<Vec<String>>,
    },
    /// Other JSON, shown as a tree.
    Tree(Value),
}

impl Evidence {
    /// Evidence of type `table`, as the embedded service sends it.
    pub fn table<R>(headers: &[&str], rows: R) -> Self
    where
        R: IntoIterator<Item = Vec<String>>,
    {
        let rows: Vec<Vec<String>> = rows.into_iter().collect();
        let table = TableEvidence {
            kind: "table",
            data: TableData {
                headers,
                rows: &rows,
            },
        };
        // Lists of texts are always JSON.
        serde_json::to_string(&table).map_or_else(|_| Self::default(), |json| Self(json.into()))
    }

    /// Evidence from any JSON value.
    pub fn from_value(value: &Value) -> Self {
        Self(value.to_string().into())
    }

    /// The JSON text.
    pub fn as_json(&self) -> &str {
        &self.0
    }

    /// The JSON text, shared without a copy.
    pub fn shared(&self) -> &Arc<str> {
        &self.0
    }

    /// Parses the evidence. Its form follows from the data, because services use different names in
    /// `type`.
    pub fn view(&self) -> EvidenceView {
        let data = match serde_json::from_str::<Value>(&self.0).unwrap_or_default() {
            Value::Object(mut fields) if fields.contains_key("data") => {
                fields.remove("data").unwrap_or_default()
            }
            other => other,
        };
        match data {
            Value::Null => EvidenceView::Nothing,
            Value::String(text) => EvidenceView::Text(text),
            Value::Object(fields) if fields.get("rows").is_some_and(Value::is_array) => {
                let cells = |value: &Value| {
                    value
                        .as_array()
                        .map(|all| all.iter().map(cell).collect())
                        .unwrap_or_default()
                };
                EvidenceView::Table {
                    headers: fields.get("headers").map(cells).unwrap_or_default(),
                    rows: fields["rows"]
                        .as_array()
                        .into_iter()
                        .flatten()
                        .map(cells)
                        .collect(),
                }
            }
            Value::Object(fields) if fields.is_empty() => EvidenceView::Nothing,
            other => EvidenceView::Tree(other),
        }
    }
}

impl EvidenceView {
    /// The number of rows of a table; 1 for other evidence, 0 for none.
    pub fn rows(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Table { rows, .. } => rows.len(),
            Self::Text(_) | Self::Tree(_) => 1,
        }
    }

    /// The evidence with the HTML entities of table cells decoded: escaping them again would show
    /// `&amp;` instead of `&`. Evidence that is one text is unchanged, because entities may be part
    /// of the proof.
    #[must_use]
    pub fn decoded(self) -> Self {
        let all = |cells: Vec<String>| {
            cells
                .iter()
                .map(|cell| decode_entities(cell).into_owned())
                .collect::<Vec<_>>()
        };
        match self {
            Self::Table { headers, rows } => Self::Table {
                headers: all(headers),
                rows: rows.into_iter().map(all).collect(),
            },
            other => other,
        }
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

impl Default for Evidence {
    fn default() -> Self {
        Self(r#"{"type":"","data":{}}"#.into())
    }
}

impl Serialize for Evidence {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(&self.0)
            .map_err(serde::ser::Error::custom)?
            .serialize(to)
    }
}

impl<'de> Deserialize<'de> for Evidence {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(from).map(|raw| Self(raw.get().into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_json_with_its_type_first() {
        let rows = [vec!["a \"b\"\n".to_owned(), String::new()]];
        let expected =
            r#"{"type":"table","data":{"headers":["URL","Note"],"rows":[["a \"b\"\n",""]]}}"#;
        assert_eq!(Evidence::table(&["URL", "Note"], rows).as_json(), expected);
    }

    #[test]
    fn owasp_label_names_newest_edition_with_year() {
        let of = |old: &str, new: &str| {
            Owasp {
                owasp_2017: old.into(),
                owasp_2021: new.into(),
                ..Owasp::default()
            }
            .label()
        };
        assert_eq!(
            of("A3 - Sensitive Data", "A01 - Broken Access Control"),
            "A01:2021 - Broken Access Control"
        );
        assert_eq!(of("A3 - Sensitive Data", ""), "A3:2017 - Sensitive Data");
        assert_eq!(
            (
                of("", "A05:2021 - Misconfiguration"),
                of("", "A05"),
                of("", "")
            )
                .0,
            "A05:2021 - Misconfiguration"
        );
        assert_eq!(
            (of("", "A05"), of("", "")),
            ("A05:2021".to_owned(), String::new())
        );
    }

    #[test]
    fn view_of_evidence_accepts_text_tables_and_other_json() {
        let view = |json: &str| serde_json::from_str::<Evidence>(json).unwrap().view();
        assert_eq!(view(r#""plain""#), EvidenceView::Text("plain".into()));
        assert_eq!(
            view(r#"{"type":"text","data":"GET /"}"#),
            EvidenceView::Text("GET /".into())
        );
        assert_eq!(
            view(r#"{"type":"table","data":{"headers":["a"],"rows":[[1,"x"],[]]}}"#),
            EvidenceView::Table {
                headers: vec!["a".into()],
                rows: vec![vec!["1".into(), "x".into()], vec![]]
            }
        );
        assert_eq!(view("null"), EvidenceView::Nothing);
        assert_eq!(view("[1]"), EvidenceView::Tree(serde_json::json!([1])));
        assert_eq!(
            view(r#"{"type":"x","data":{"k":1}}"#),
            EvidenceView::Tree(serde_json::json!({"k":1}))
        );
    }

    #[test]
    fn finding_with_wrong_types_is_read() {
        let finding: Finding = serde_json::from_str(
            r#"{"id":4,"name":null,"port":"443","cve":["N/A"],"risk_level":9,"owasp":null,"references":"https://a","epss_score":"0.5"}"#,
        )
        .unwrap();
        assert_eq!(
            (finding.port, finding.risk_level, finding.cve.len()),
            (443, Risk::Critical, 0)
        );
        assert_eq!(
            (finding.references[0].as_str(), finding.epss_score),
            ("https://a", Some(0.5))
        );
    }

    #[test]
    fn finding_serializes_every_required_field() {
        let sent = serde_json::to_value(Finding::default()).unwrap();
        for field in "id name test_description test_finished confirmed in_cisa_catalog cve vuln_description vuln_evidence \
                      risk_description risk_level status recommendation references verified vuln_id owasp cwe port protocol service"
            .split_whitespace()
        {
            assert!(sent.get(field).is_some_and(|value| !value.is_null()), "{field}");
        }
    }
}
