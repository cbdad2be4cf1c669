//! Every export is accepted by the main readers of its format: a file here has the rules of each
//! reader.

pub mod defectdojo;
pub mod dependency_track;
pub mod github;
pub mod har;
pub mod spreadsheet;

use proptest::collection::vec;

use super::*;

/// The rules of a reader: why it refuses a file; nothing if it accepts the file.
type Refusals = fn(&[u8]) -> Vec<String>;

const READERS: [(ExportFormat, Refusals); 5] = [
    (ExportFormat::DefectDojo, defectdojo::refusals),
    (ExportFormat::Csv, spreadsheet::csv_refusals),
    (ExportFormat::Xlsx, spreadsheet::xlsx_refusals),
    (ExportFormat::Sarif, github::refusals),
    (ExportFormat::Vex, dependency_track::refusals),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn exports_of_odd_findings_are_accepted_by_their_readers(findings in vec(odd::finding(), 0..8)) {
        let rows = odd::rows(&findings);
        for (format, refusals) in READERS {
            let found = refusals(&bytes(format, &rows));
            prop_assert!(found.is_empty(), "{}: {:.2000}", format.as_str(), found.join("\n"));
        }
    }
}

#[test]
fn exports_of_every_kind_of_finding_are_accepted_by_their_readers() {
    // Verdicts, presences, targets, risks and classes repeat after 120 rows.
    let many: Vec<ExportRow> = (0..240)
        .map(|number| {
            row(
                number,
                Verdict::ALL[number as usize % Verdict::ALL.len()],
                None,
            )
        })
        .collect();
    for (format, refusals) in READERS {
        let found = refusals(&bytes(format, &many));
        assert!(
            found.is_empty(),
            "{}: {:.2000}",
            format.as_str(),
            found.join("\n")
        );
    }
}
