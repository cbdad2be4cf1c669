//! The chains of the confirmed findings of a report, as lines.

use std::collections::BTreeMap;
use std::io;

use super::ExportRow;
use crate::chain::{self, ChainData, ChainLinks, ChainObject};
use crate::finding::{FindingKey, Verdict};

/// Columns of a line, which has room on a page.
const COLUMNS: usize = 92;

/// The lines of each chain that begins with a confirmed finding and leads further than its target.
/// `data` has everything but the findings.
///
/// # Errors
/// When the texts of a finding cannot be read.
pub(super) fn chain_lines(
    rows: &[ExportRow],
    mut data: ChainData,
) -> io::Result<BTreeMap<FindingKey, Vec<String>>> {
    let linked = rows.iter().map(|row| -> io::Result<_> {
        let texts = row.issue.texts()?;
        Ok(row.issue.linked(&row.target, &texts))
    });
    data.findings = linked.collect::<io::Result<_>>()?;
    let is_confirmed = |row: &&ExportRow| row.verdict() == Verdict::Confirmed;
    let confirmed = rows.iter().filter(is_confirmed);
    let keys: Vec<FindingKey> = confirmed.map(|row| row.issue.key()).collect();
    let roots: Vec<ChainObject> = keys.iter().copied().map(ChainObject::Finding).collect();
    let links = ChainLinks::of(&data, &roots);
    let mut all = BTreeMap::new();
    for (key, root) in keys.into_iter().zip(&roots) {
        let tree = links.tree(root);
        if tree.leads_further() {
            let lines = chain::lines(&tree);
            let rows_of_all = lines.iter().flat_map(|line| line.rows(COLUMNS));
            all.insert(key, rows_of_all.collect());
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::Export;
    use crate::export::report::{ReportFrame, write};
    use crate::triage::testing::TriageFixture;
    use crate::triage::{Assessment, TriageState};
    use scandeck_report::ReportOptions;
    use scandeck_wire::contract::{Evidence, ReportFormat, Stamp};

    #[test]
    fn report_shows_how_a_confirmed_finding_hangs_together() {
        let mut fixture = TriageFixture::new();
        fixture.scan(1);
        let row = ["Certificate names", "api.shop.test"].map(str::to_owned);
        let evidence = Evidence::table(&["What", "Value"], [Vec::from(row)]);
        fixture.found(1, "tls.name", "").vuln_evidence = evidence;
        let (issue, _) = fixture.last();
        let of = |verdict| {
            ExportRow::new(
                issue.clone(),
                Assessment {
                    verdict,
                    ..Assessment::default()
                },
                &TriageState::default(),
                "shop.test".into(),
                None,
                "Acme".into(),
            )
        };
        let frame = ReportFrame {
            options: ReportOptions {
                chains: true,
                ..ReportOptions::everything()
            },
            chains: ChainData {
                targets: vec!["shop.test".into()],
                ..ChainData::default()
            },
            ..ReportFrame::default()
        };
        let html = |verdict| {
            let rows = [of(verdict)];
            let export = Export {
                rows: &rows,
                title: "Acme",
                made: Stamp::parse("2026-11-28 07:00:00").unwrap(),
                query: "",
                mask: None,
                frame: Some(&frame),
            };
            String::from_utf8(write(&export, &ReportFormat::Html).unwrap().bytes).unwrap()
        };
        let confirmed = html(Verdict::Confirmed);
        for part in [
            "How findings are connected",
            "api.shop.test, which is no target",
        ] {
            assert!(confirmed.contains(part), "{part} {confirmed}");
        }
        let open = html(Verdict::Open);
        assert!(open.contains("No confirmed finding is connected"), "{open}");
    }
}
