//! The kinds of finding: text, classification and risk of each, as one [`FindingKind`] constant per kind.
//!
//! ```text
//!   check ──► FindingKind::finding() ──► NewFinding with all texts ──► the check adds place and evidence
//! ```
//!
//! Risk levels come from [`risks`](super::risks). A `vuln_id` never changes: decisions depend on it.

use super::NewFinding;
use crate::contract::{Evidence, Owasp, Risk};

/// Declares the kinds of a module, and a list of them for tests.
macro_rules! kinds {
    ($($name:ident { $($fields:tt)* })+) => {
        $(pub const $name: FindingKind = FindingKind { $($fields)* };)+
        #[cfg(test)]
        pub const ALL: &[&FindingKind] = &[$(&$name),+];
    };
}

pub mod exposed;
pub mod ports;
pub mod tls;
pub mod web;

/// Largest number of rows in an evidence table; further rows are counted (`service.md`, Scans).
pub const MAX_ROWS: usize = 50;

/// OWASP Top Ten categories of 2017, 2021 and 2025.
pub type Categories = [&'static str; 3];

/// Insecure settings.
pub const MISCONFIGURATION: Categories =
    ["A6 - Security Misconfiguration", "A05 - Security Misconfiguration", "A02 - Security Misconfiguration"];
/// Exposed data.
pub const EXPOSURE: Categories =
    ["A3 - Sensitive Data Exposure", "A01 - Broken Access Control", "A01 - Broken Access Control"];
/// Insecure transport.
pub const CRYPTOGRAPHY: Categories =
    ["A3 - Sensitive Data Exposure", "A02 - Cryptographic Failures", "A04 - Cryptographic Failures"];
/// Outdated software.
pub const OUTDATED: Categories = [
    "A9 - Using Components with Known Vulnerabilities",
    "A06 - Vulnerable and Outdated Components",
    "A03 - Software Supply Chain Failures",
];
/// Errors that disclose internals.
pub const ERROR_HANDLING: Categories = [
    "A6 - Security Misconfiguration",
    "A05 - Security Misconfiguration",
    "A10 - Mishandling of Exceptional Conditions",
];

/// A kind of finding.
#[derive(Clone, Copy, Debug)]
pub struct FindingKind {
    pub id: &'static str,
    pub name: &'static str,
    pub risk: Risk,
    pub cwe: &'static str,
    pub owasp: Categories,
    pub description: &'static str,
    pub risk_description: &'static str,
    pub recommendation: &'static str,
    pub references: &'static [&'static str],
}

impl FindingKind {
    /// A finding of this kind with all texts; the check adds place and evidence.
    pub fn finding(&self) -> NewFinding {
        let [owasp_2017, owasp_2021, owasp_2025] = self.owasp.map(Into::into);
        NewFinding {
            vuln_id: self.id.to_owned(),
            name: self.name.to_owned(),
            risk: self.risk,
            vuln_description: self.description.to_owned(),
            risk_description: self.risk_description.to_owned(),
            recommendation: self.recommendation.to_owned(),
            references: self.references.iter().map(|&url| url.to_owned()).collect(),
            owasp: Owasp { owasp_2017, owasp_2021, owasp_2025 },
            cwe: self.cwe.to_owned(),
            protocol: "tcp".to_owned(),
            ..NewFinding::default()
        }
    }
}

/// Evidence as a table of at most [`MAX_ROWS`] rows; a last row counts the omitted ones. Cells contain HTML entities
/// (`hosted-service.md`, Findings): clients decode them, which would damage a bare `&copy=1` in a URL.
pub fn table(headers: &[&str], mut rows: Vec<Vec<String>>) -> Evidence {
    let more = rows.len().saturating_sub(MAX_ROWS);
    rows.truncate(MAX_ROWS);
    if more > 0 {
        rows.push(vec![format!("and {more} more")]);
    }
    let encoded = |cell: String| cell.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    Evidence::table(headers, rows.into_iter().map(|row| row.into_iter().map(encoded).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::EvidenceView;

    #[test]
    fn kinds_are_complete_and_have_unique_ids() {
        let mut ids = std::collections::HashSet::new();
        for kind in [ports::ALL, web::ALL, exposed::ALL, tls::ALL].into_iter().flatten() {
            assert!(ids.insert(kind.id), "{} occurs twice", kind.id);
            assert!(kind.cwe.starts_with("CWE-"), "{}", kind.id);
            assert!(kind.references.iter().all(|url| url.starts_with("https://")) && !kind.references.is_empty());
            for text in [kind.name, kind.description, kind.risk_description, kind.recommendation] {
                assert!(text.len() > 3 && text.trim() == text, "{}: {text:?}", kind.id);
            }
        }
        assert!(ids.len() > 30);
    }

    #[test]
    fn evidence_table_counts_omitted_rows() {
        let rows = (0..70).map(|n| vec![n.to_string()]).collect();
        let EvidenceView::Table { rows, .. } = table(&["n"], rows).view() else { panic!("a table") };
        assert_eq!((rows.len(), rows[50][0].as_str()), (51, "and 20 more"));
    }
}
