//! Where on its target a finding is, from the evidence: the addresses or files that its rows name.

use std::collections::BTreeSet;

use crate::words::Words;
use scandeck_wire::contract::{Evidence, EvidenceView, Finding};
use scandeck_wire::text::clean_for_print;

/// The columns of evidence that name a place; the first one that a table has counts.
const COLUMNS: [&str; 4] = ["URL", "Page", "File", "Path"];
/// Most places that a cell names.
const NAMED: usize = 3;

/// The places without the host, each once; none if the evidence names none.
pub fn locations(evidence: &Evidence) -> Vec<String> {
    let EvidenceView::Table { headers, rows } = evidence.view().decoded() else {
        return Vec::new();
    };
    let position = |name: &str| headers.iter().position(|header| header == name);
    let Some(column) = COLUMNS.into_iter().find_map(position) else {
        return Vec::new();
    };
    let cells = rows.iter().filter_map(|row| row.get(column));
    let mut seen = BTreeSet::new();
    cells
        .map(|cell| without_host(cell.trim()))
        .filter(|place| !place.is_empty() && seen.insert(*place))
        .map(|place| clean_for_print(place).into_owned())
        .collect()
}

/// The first places, a line each, and the number of others.
pub fn location(finding: &Finding, words: &Words) -> String {
    let mut lines = locations(&finding.vuln_evidence);
    let more = lines.len().saturating_sub(NAMED);
    if more > 0 {
        lines.truncate(NAMED);
        lines.push(words.count(more, "noun.more_place"));
    }
    lines.join("\n")
}

/// `/login?next=1` of `https://shop.test/login?next=1`.
fn without_host(address: &str) -> &str {
    let after = |scheme| address.strip_prefix(scheme);
    match after("https://").or_else(|| after("http://")) {
        Some(rest) => rest.find('/').map_or("/", |at| &rest[at..]),
        None => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(headers: &[&str], rows: &[&[&str]]) -> String {
        let owned = |row: &&[&str]| row.iter().map(|&cell| cell.to_owned()).collect();
        let finding = Finding {
            vuln_evidence: Evidence::table(headers, rows.iter().map(owned)),
            ..Finding::default()
        };
        location(&finding, &Words::of("en").unwrap())
    }

    #[test]
    fn location_is_the_address_without_the_host() {
        let urls: &[&[&str]] = &[
            &["https://shop.test/a?b=1", "x"],
            &["https://shop.test/a?b=1", "y"],
            &["https://shop.test", "z"],
        ];
        assert_eq!(of(&["URL", "Value"], urls), "/a?b=1\n/");
        assert_eq!(of(&["Line", "File"], &[&["7", "src/a.c"]]), "src/a.c");
        assert_eq!(of(&["Path"], &[&["/a?u=http://b/"]]), "/a?u=http://b/");
        assert_eq!(of(&["Value"], &[&["https://shop.test/"]]), "");
        let many: &[&[&str]] = &[&["/1"], &["/2"], &["/3"], &["/4"], &["/5"]];
        assert_eq!(of(&["Path"], many), "/1\n/2\n/3\n2 more places");
    }
}
