//! A file in the words of the commands and of the dashboard: shown before anything is stored.

use std::collections::BTreeMap;
use std::io::Read;
use std::ops::ControlFlow;

use scandeck_wire::contract::Risk;
use scandeck_wire::text::thousands;
use serde::Serialize;

use crate::entry::ImportEntry;
use crate::run::{ImportSummary, SkippedEntries};
use crate::{ImportLimits, read};

/// Targets that are named; the others are counted.
const SHOWN_TARGETS: usize = 5;

/// What a file, or a file of a zip archive, contains. Texts are as in the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FilePreview {
    pub file: String,
    /// None if the file was not read.
    pub format: Option<&'static str>,
    pub tool: Option<String>,
    pub version: Option<String>,
    pub targets: Vec<String>,
    pub findings: u64,
    pub by_risk: BTreeMap<&'static str, u64>,
    pub skipped: Vec<SkippedEntries>,
    /// Why the file could not be read, or not to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl FilePreview {
    /// A file, or each file of a zip archive, under the name `file`.
    pub fn read(file: &str, input: impl Read, format: Option<&str>) -> Vec<Self> {
        // The summary has what is shown of the entries.
        let mut ignore = |_: ImportEntry| ControlFlow::Continue(());
        match read(input, format, &ImportLimits::default(), &mut ignore) {
            Ok(summaries) => {
                let of_file = |summary| Self::of(file, summary);
                summaries.iter().map(of_file).collect()
            }
            Err(error) => vec![Self::failed(file, error.to_string())],
        }
    }

    /// A file that was not read.
    pub fn failed(file: &str, error: String) -> Self {
        Self {
            file: file.to_owned(),
            error: Some(error),
            ..Self::default()
        }
    }

    fn of(file: &str, summary: &ImportSummary) -> Self {
        let name = match &summary.member {
            Some(member) => format!("{file}: {member}"),
            None => file.to_owned(),
        };
        let Some(format) = summary.format else {
            let error = "the format is not recognised; unpack it and name it with --format";
            return Self::failed(&name, error.to_owned());
        };
        let risks = Risk::DOWN.into_iter();
        let counts = risks.map(|risk| (risk.as_str(), summary.by_risk[risk as usize]));
        Self {
            file: name,
            format: Some(format.name),
            tool: Some(summary.tool.clone()),
            version: (!summary.version.is_empty()).then(|| summary.version.clone()),
            targets: summary.targets.keys().cloned().collect(),
            findings: summary.entries,
            by_risk: counts.filter(|(_, count)| *count > 0).collect(),
            skipped: summary.skipped.clone(),
            error: summary.damage.clone(),
        }
    }

    /// `nuclei 3.3`, or `nuclei`.
    pub fn tool_words(&self) -> String {
        let names = [self.tool.as_deref(), self.version.as_deref()];
        let names: Vec<&str> = names.into_iter().flatten().collect();
        names.join(" ")
    }

    /// `2,000: 1,500 high, 500 info`, from the highest risk down.
    pub fn finding_words(&self) -> String {
        let found = Risk::DOWN.into_iter().filter_map(|risk| {
            let count = self.by_risk.get(risk.as_str())?;
            Some(format!("{} {}", thousands(*count), risk.as_str()))
        });
        let counts: Vec<String> = found.collect();
        let all = thousands(self.findings);
        match counts.is_empty() {
            true => all,
            false => format!("{all}: {}", counts.join(", ")),
        }
    }

    /// The first targets, and the number of the others.
    pub fn target_words(&self) -> String {
        let shown = self.targets.iter().take(SHOWN_TARGETS);
        let shown: Vec<&str> = shown.map(String::as_str).collect();
        match self.targets.len().saturating_sub(SHOWN_TARGETS) {
            _ if shown.is_empty() => "none named".to_owned(),
            0 => shown.join(", "),
            more => format!("{} and {} more", shown.join(", "), thousands(more as u64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_findings_group_thousands() {
        let preview = FilePreview {
            findings: 2_000,
            by_risk: BTreeMap::from([("high", 1_500), ("info", 500)]),
            ..FilePreview::default()
        };
        assert_eq!(preview.finding_words(), "2,000: 1,500 high, 500 info");
    }
}
