//! Identifiers and links.

use crate::findings::draw::detail::heading;
use crate::ui::{Theme, words};
use ratatui::text::Line;
use scandeck_domain::triage::{FindingTexts, ListedFinding};
use scandeck_wire::text;

pub(crate) fn lines(
    theme: Theme,
    finding: &ListedFinding,
    texts: &FindingTexts,
) -> Vec<Line<'static>> {
    let mut lines: Vec<Line<'static>> = Vec::new();
    let mut list = |name: &'static str, all: Vec<&str>| {
        let all: Vec<&str> = all.into_iter().filter(|item| !item.is_empty()).collect();
        if !all.is_empty() {
            heading(theme, name, &mut lines);
            lines.extend(
                all.into_iter()
                    .map(|item| words(text::clean(item).into_owned(), theme.text())),
            );
        }
    };
    list("CVE", finding.cve.iter().map(|cve| cve.as_str()).collect());
    list("CWE", vec![&finding.cwe]);
    let owasp = &finding.owasp;
    let editions = [
        ("2025", &owasp.owasp_2025),
        ("2021", &owasp.owasp_2021),
        ("2017", &owasp.owasp_2017),
    ];
    let editions = editions
        .into_iter()
        .filter(|(_, category)| !category.is_empty());
    let categories: Vec<String> = editions
        .map(|(year, category)| format!("{year}  {category}"))
        .collect();
    list("OWASP", categories.iter().map(String::as_str).collect());
    list(
        "References",
        texts
            .references
            .iter()
            .map(|reference| reference.as_str())
            .collect(),
    );
    list("Class", vec![&finding.vuln_id]);
    if lines.is_empty() {
        lines.push(words("no references", theme.dim()));
    }
    lines
}
