//! The kinds of finding: the text, classification and risk of each, one `QueryKind` constant a kind.
//!
//! ```text
//!   check ──► Kind::finding() ──► NewFinding with every text filled in ──► the check adds place and evidence
//! ```
//!
//! Levels come from [`risks`](super::risks). `vuln_id` is stable across versions: decisions are keyed to it.

use super::NewFinding;
use crate::contract::{Evidence, Owasp, Risk};

pub mod exposed;
pub mod ports;
pub mod tls;
pub mod web;

/// Most rows an evidence table shows; the rest are counted (`service.md`, Scans).
pub const MAX_ROWS: usize = 50;

/// OWASP Top Ten categories of 2017, 2021 and 2025.
pub type Categories = [&'static str; 3];

/// Settings that should have been made.
pub const MISCONFIGURATION: Categories =
    ["A6 - Security Misconfiguration", "A05 - Security Misconfiguration", "A02 - Security Misconfiguration"];
/// Something readable that should not be.
pub const EXPOSURE: Categories =
    ["A3 - Sensitive Data Exposure", "A01 - Broken Access Control", "A01 - Broken Access Control"];
/// Transport that can be read or changed.
pub const CRYPTOGRAPHY: Categories =
    ["A3 - Sensitive Data Exposure", "A02 - Cryptographic Failures", "A04 - Cryptographic Failures"];
/// Software that should have been updated.
pub const OUTDATED: Categories = [
    "A9 - Using Components with Known Vulnerabilities",
    "A06 - Vulnerable and Outdated Components",
    "A03 - Software Supply Chain Failures",
];
/// Errors that tell too much.
pub const ERROR_HANDLING: Categories = [
    "A6 - Security Misconfiguration",
    "A05 - Security Misconfiguration",
    "A10 - Mishandling of Exceptional Conditions",
];

/// One kind of finding.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // the names are the contract's
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
    /// A finding of this kind with every text filled in; the check adds where and with what evidence.
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

    /// Every kind there is.
    pub fn all() -> impl Iterator<Item = &'static FindingKind> {
        ports::ALL.iter().chain(web::ALL).chain(exposed::ALL).chain(tls::ALL).copied()
    }
}

/// Evidence as a table of at most [`MAX_ROWS`] rows; what was left out is counted in a last row. Cells hold HTML
/// entities (`hosted-service.md`, Findings): clients decode them, so a bare `&copy=1` of a URL would reach them wrong.
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
    fn every_kind_is_complete_and_has_an_id_of_its_own() {
        let mut ids = std::collections::HashSet::new();
        for kind in FindingKind::all() {
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
    fn evidence_says_how_many_rows_it_left_out() {
        let rows = (0..70).map(|n| vec![n.to_string()]).collect();
        let EvidenceView::Table { rows, .. } = table(&["n"], rows).view() else { panic!("a table") };
        assert_eq!((rows.len(), rows[50][0].as_str()), (51, "and 20 more"));
    }
}
