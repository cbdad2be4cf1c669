//! The findings that a report by scandeck includes and excludes, by verdict, in words.

use scandeck_report::{ReportOptions, ReportTraits};
use scandeck_wire::text::plural;
use std::collections::BTreeMap;

/// The findings with the same word, such as their verdict.
type WordCounts = BTreeMap<&'static str, usize>;

/// The contents of a file from which nothing is excluded.
pub(crate) fn saved(findings: &str) -> String {
    format!("Saved immediately: {findings} with decisions and severity overrides.")
}

/// How many findings with these traits a report with these options contains and excludes.
pub(crate) fn lines(
    findings: &BTreeMap<ReportTraits, usize>,
    options: &ReportOptions,
) -> Vec<String> {
    let (mut inside, mut outside) = (WordCounts::new(), WordCounts::new());
    for (traits, count) in findings {
        let counts = match options.includes(*traits) {
            true => &mut inside,
            false => &mut outside,
        };
        *counts.entry(word(*traits, options)).or_default() += count;
    }
    let total = plural(findings.values().sum(), "finding");
    let number: usize = inside.values().sum();
    let (included, excluded) = (named(&inside), named(&outside));
    match (number, excluded.is_empty()) {
        (_, true) => vec![saved(&total), format!("Contains {included}.")],
        (0, false) => vec![format!("Nothing to save: {excluded} excluded.")],
        (_, false) => vec![
            saved(&format!("{number} of {total}")),
            format!("Contains {included}; excludes {excluded}."),
        ],
    }
}

/// The verdict of a finding, or why it is excluded in spite of its verdict.
fn word(traits: ReportTraits, options: &ReportOptions) -> &'static str {
    let has_verdict = options.verdicts.contains(&traits.verdict);
    match has_verdict && !options.includes(traits) {
        true if traits.is_info && !options.info => "of risk info",
        true => "unverified",
        false => traits.verdict.as_str(),
    }
}

/// `4 confirmed, 8 open`.
fn named(counts: &WordCounts) -> String {
    let named = counts.iter().map(|(word, count)| format!("{count} {word}"));
    named.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_report::ReportVerdict;

    fn findings() -> BTreeMap<ReportTraits, usize> {
        let of = |verdict, is_info| ReportTraits {
            verdict,
            is_info,
            is_verified: false,
        };
        [
            (of(ReportVerdict::Confirmed, false), 4),
            (of(ReportVerdict::Open, false), 6),
            (of(ReportVerdict::Open, true), 2),
            (of(ReportVerdict::FalsePositive, false), 5),
        ]
        .into()
    }

    #[test]
    fn lines_count_included_and_excluded_findings_by_verdict() {
        let mut options = ReportOptions::default();
        assert_eq!(
            lines(&findings(), &options),
            [
                "Saved immediately: 12 of 17 findings with decisions and severity overrides.",
                "Contains 4 confirmed, 8 open; excludes 5 false-positive.",
            ]
        );
        options.info = false;
        assert_eq!(
            lines(&findings(), &options)[1],
            "Contains 4 confirmed, 6 open; excludes 5 false-positive, 2 of risk info."
        );
        assert_eq!(
            lines(&findings(), &ReportOptions::everything()),
            [
                "Saved immediately: 17 findings with decisions and severity overrides.",
                "Contains 4 confirmed, 5 false-positive, 8 open.",
            ]
        );
        options.verdicts = [ReportVerdict::Fixed].into();
        assert_eq!(
            lines(&findings(), &options),
            ["Nothing to save: 4 confirmed, 5 false-positive, 8 open excluded."]
        );
    }
}
