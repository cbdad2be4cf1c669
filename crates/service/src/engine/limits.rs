//! Limits of the results of one scan, so that a hostile target fills neither the memory nor the
//! disk.
//!
//! The scan reports a reached limit in `info_text_lines` at once, and the totals in its
//! `status_message`.

use std::time::Duration;

use super::NewFinding;
use scandeck_wire::contract::{Evidence, EvidenceView};
use scandeck_wire::text::plural;

/// Longest line of the raw log, in bytes; the rest of a line is cut.
pub const RAW_LINE: usize = 4096;
/// Longest cell of an evidence table, as a part of its bytes: one long header must not hide the
/// other rows.
const CELL_SHARE: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanLimits {
    /// Findings; further ones are dropped.
    pub findings: usize,
    /// Size of all findings, in bytes.
    pub bytes: usize,
    /// Rows of an evidence table; a last row counts the others.
    pub evidence_rows: usize,
    /// Size of the evidence of one finding, in bytes.
    pub evidence_bytes: usize,
    /// Lines of the raw log.
    pub raw_lines: usize,
    /// Open ports of a port scan that are listed and reported as findings; the others are counted.
    pub ports: usize,
    /// Time that the scan spends on reading HTML.
    pub html_time: Duration,
    /// Pages, and scripts, that a deep website scan reads.
    pub pages: usize,
    /// Bytes of a script that a deep website scan reads.
    pub script_bytes: usize,
    /// Time for a complete HTTP answer; by default by the location of the target.
    pub answer_time: Option<Duration>,
    /// Longest time for a TLS handshake with a slow server; by default by the location of the
    /// target.
    pub handshake_time: Option<Duration>,
    /// The highest rate of HTTP requests that a scan may request beyond that of its location.
    pub requests_per_second: u32,
}

impl Default for ScanLimits {
    fn default() -> Self {
        Self {
            findings: 5000,
            bytes: 32 * 1024 * 1024,
            evidence_rows: 50,
            evidence_bytes: 64 * 1024,
            raw_lines: 20_000,
            ports: 5000,
            html_time: Duration::from_secs(5),
            pages: 500,
            script_bytes: 4 * 1024 * 1024,
            answer_time: None,
            handshake_time: None,
            requests_per_second: 0,
        }
    }
}

/// The results of a scan that the limits cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanCuts {
    pub findings: usize,
    pub evidence: usize,
    pub raw_lines: usize,
    pub ports: usize,
    pub pages: usize,
    /// Responses of which a part is missing, or cannot be decoded: no limit, but a fault of the
    /// server.
    pub responses: usize,
    pub unread_pages: usize,
    pub scripts: usize,
    pub unread_scripts: usize,
}

impl ScanCuts {
    /// The cut results for the status message; `None` when nothing was cut.
    pub fn summary(&self) -> Option<String> {
        let parts = [
            (self.findings, "findings dropped"),
            (self.evidence, "findings with shortened evidence"),
            (self.raw_lines, "raw lines dropped"),
            (self.ports, "open ports not listed"),
            (self.pages, "pages read in part"),
            (self.unread_pages, "pages not read"),
            (self.scripts, "scripts read in part"),
            (self.unread_scripts, "scripts not read"),
        ];
        let cut = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{what}: {count}"));
        let limits = cut.collect::<Vec<_>>().join(", ");
        let limits = (!limits.is_empty()).then(|| format!("limits reached: {limits}"));
        let responses = (self.responses > 0)
            .then(|| format!("{} incomplete", plural(self.responses, "response")));
        let text = responses
            .into_iter()
            .chain(limits)
            .collect::<Vec<_>>()
            .join("; ");
        (!text.is_empty()).then_some(text)
    }
}

impl ScanLimits {
    /// Shortens the evidence of a finding; true when its bytes were limited. The table itself
    /// counts omitted rows. Evidence without room for its exchange has none: the other columns say
    /// what was found.
    pub fn shorten(&self, finding: &mut NewFinding) -> bool {
        if finding.evidence.as_json().len() > self.evidence_bytes {
            finding.evidence = finding.evidence.without_exchange().into_owned();
        }
        let is_large = finding.evidence.as_json().len() > self.evidence_bytes;
        let EvidenceView::Table { headers, mut rows } = finding.evidence.view() else {
            return false;
        };
        if !is_large && rows.len() <= self.evidence_rows {
            return false;
        }
        let total = rows.len();
        rows.truncate(self.evidence_rows);
        let is_cut = self.shorten_rows(&mut rows);
        if rows.len() < total {
            rows.push(vec![format!("and {} more", total - rows.len())]);
        }
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        finding.evidence = Evidence::table(&headers, rows);
        is_cut
    }

    /// Shortens the rows to the limit of bytes; true when this was necessary.
    fn shorten_rows(&self, rows: &mut Vec<Vec<String>>) -> bool {
        let length = |rows: &[Vec<String>]| {
            rows.iter()
                .flatten()
                .map(|cell| cell.len() + 3)
                .sum::<usize>()
        };
        if length(rows) <= self.evidence_bytes {
            return false;
        }
        let longest = self.evidence_bytes / CELL_SHARE;
        rows.iter_mut()
            .flatten()
            .for_each(|cell| shorten_cell(cell, longest));
        while rows.len() > 1 && length(rows) > self.evidence_bytes {
            rows.pop();
        }
        true
    }
}

/// Cuts a cell of evidence, but not within an HTML entity.
fn shorten_cell(cell: &mut String, longest: usize) {
    if cell.len() <= longest {
        return;
    }
    let all = cell.len();
    cell.truncate(cell.floor_char_boundary(longest));
    if let Some(at) = cell
        .rfind('&')
        .filter(|at| cell.len() - at < 8 && !cell[*at..].contains(';'))
    {
        cell.truncate(at);
    }
    cell.push_str(&format!("… ({all} bytes)"));
}

/// Cuts a line of the raw log.
pub fn shorten_line(mut line: String) -> String {
    if line.len() > RAW_LINE {
        let all = line.len();
        line.truncate(line.floor_char_boundary(RAW_LINE));
        line.push_str(&format!("… ({all} bytes)"));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::super::kinds;
    use super::*;
    use scandeck_wire::contract::EvidenceExchange;

    fn finding(rows: Vec<Vec<String>>) -> NewFinding {
        NewFinding {
            evidence: kinds::table(&["n"], rows),
            ..NewFinding::default()
        }
    }

    fn rows(finding: &NewFinding) -> Vec<Vec<String>> {
        match finding.evidence.view() {
            EvidenceView::Table { rows, .. } => rows,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn evidence_table_counts_omitted_rows() {
        let mut many = finding((0..70).map(|n| vec![n.to_string()]).collect());
        assert!(!ScanLimits::default().shorten(&mut many));
        assert_eq!(
            (rows(&many).len(), rows(&many)[50][0].as_str()),
            (51, "and 20 more")
        );
    }

    #[test]
    fn evidence_within_the_limits_is_unchanged() {
        let mut small = finding((0..50).map(|n| vec![n.to_string()]).collect());
        let before = small.evidence.clone();
        assert!(!ScanLimits::default().shorten(&mut small));
        assert_eq!(small.evidence, before);
    }

    #[test]
    fn large_evidence_is_shortened_to_its_bytes() {
        let limits = ScanLimits {
            evidence_bytes: 1000,
            ..ScanLimits::default()
        };
        let mut large = finding(
            (0..40)
                .map(|n| vec![format!("{n}{}<", "é".repeat(70)), "x".into()])
                .collect(),
        );
        assert!(limits.shorten(&mut large));
        assert!(
            large.evidence.as_json().len() < 1200,
            "{}",
            large.evidence.as_json().len()
        );
        let shown = rows(&large);
        assert!(
            shown[0][0].starts_with("0é") && shown[0][0].ends_with("… (145 bytes)"),
            "{:?}",
            shown[0]
        );
        assert_eq!(
            shown.last().unwrap()[0],
            format!("and {} more", 40 - (shown.len() - 1))
        );
    }

    #[test]
    fn evidence_without_room_for_its_exchange_keeps_its_rows() {
        let limits = ScanLimits {
            evidence_bytes: 1000,
            ..ScanLimits::default()
        };
        let table = finding((0..40).map(|n| vec![format!("row {n}")]).collect());
        let exchange = EvidenceExchange {
            request: "GET / HTTP/1.1".into(),
            response: "x".repeat(900),
            ..EvidenceExchange::default()
        };
        let mut large = finding(rows(&table));
        large.evidence = large.evidence.with_exchange(exchange);
        assert!(!limits.shorten(&mut large));
        assert_eq!(large.evidence, table.evidence);
    }

    #[test]
    fn shortened_cell_ends_before_an_entity() {
        let mut cell = "abc&amp;def".to_owned();
        shorten_cell(&mut cell, 6);
        assert_eq!(cell, "abc… (11 bytes)");
    }

    #[test]
    fn summary_lists_cut_results_only() {
        assert_eq!(ScanCuts::default().summary(), None);
        let cuts = ScanCuts {
            findings: 7,
            ports: 2,
            ..ScanCuts::default()
        };
        assert_eq!(
            cuts.summary().as_deref(),
            Some("limits reached: findings dropped: 7, open ports not listed: 2")
        );
        let responses = ScanCuts {
            responses: 1,
            ..ScanCuts::default()
        };
        assert_eq!(
            responses.summary().as_deref(),
            Some("1 response incomplete")
        );
    }
}
