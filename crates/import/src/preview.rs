//! A file in the words of the commands and of the dashboard: shown before anything is stored.

use std::collections::BTreeMap;
use std::io::Read;
use std::ops::ControlFlow;

use scandeck_wire::contract::Risk;
use scandeck_wire::text::thousands;
use serde::Serialize;

use crate::entry::ImportEntry;
use crate::formats::ImportFormat;
use crate::run::{ImportSummary, SkippedEntries};
use crate::{ImportLimits, ImportSink, read};

/// Targets that are named; the others are counted.
const SHOWN_TARGETS: usize = 5;

/// Ends a file where its results begin.
#[derive(Default)]
struct FirstFormat(Option<&'static ImportFormat>);

impl ImportSink for FirstFormat {
    fn begin(&mut self, format: &'static ImportFormat, _member: Option<&str>) -> ControlFlow<()> {
        self.0 = Some(format);
        ControlFlow::Break(())
    }

    fn entry(&mut self, _entry: ImportEntry) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

/// What a file, or a file of a zip archive, contains. Texts are as in the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FilePreview {
    pub file: String,
    /// None if the file was not read.
    pub format: Option<String>,
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

    /// The format of a file by its beginning, or of the first file of a zip archive that has one.
    ///
    /// # Errors
    /// Without a format: the file, or each file of the archive, with the reason.
    pub fn recognise(
        file: &str,
        input: impl Read,
        format: Option<&str>,
    ) -> Result<&'static ImportFormat, Vec<Self>> {
        let mut first = FirstFormat::default();
        let summaries = read(input, format, &ImportLimits::default(), &mut first)
            .map_err(|error| vec![Self::failed(file, error.to_string())])?;
        match first.0 {
            Some(format) => Ok(format),
            None => {
                let of_file = |summary| Self::of(file, summary);
                Err(summaries.iter().map(of_file).collect())
            }
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
            format: Some(format.name.to_owned()),
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

    /// A line of nuclei, again and again.
    struct EndlessLines {
        read: usize,
    }

    impl Read for EndlessLines {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            const LINE: &[u8] =
                b"{\"template-id\":\"a\",\"info\":{\"name\":\"A\"},\"host\":\"a.test\"}\n";
            for (byte, text) in buffer
                .iter_mut()
                .zip(LINE.iter().cycle().skip(self.read % LINE.len()))
            {
                *byte = *text;
            }
            self.read += buffer.len();
            Ok(buffer.len())
        }
    }

    #[test]
    fn format_is_recognised_by_the_beginning_alone() {
        let mut lines = EndlessLines { read: 0 };
        let format = FilePreview::recognise("a.jsonl", &mut lines, None).unwrap();
        assert_eq!(format.name, "nuclei");
        assert!(lines.read < 1 << 20, "{} bytes", lines.read);
        let named = FilePreview::recognise("a.jsonl", &b""[..], Some("nuclei"));
        assert_eq!(named, Ok(format));
        let unknown = FilePreview::recognise("a.json", &b"{\"kind\": 1}"[..], None).unwrap_err();
        assert_eq!((unknown.len(), &unknown[0].format), (1, &None));
        assert!(unknown[0].error.is_some(), "{unknown:?}");
    }
}
