//! The options of a report on a command line, which replace those of the template.

use std::path::PathBuf;

use clap::Args;

use crate::cli::error::CliError;
use scandeck_dashboard::runtime::read_report_template;
use scandeck_domain::export::{ExportFormat, ReportFrame};
use scandeck_report::{
    ChapterKind, ChosenOptions, EvidenceDetail, ReportPart, ReportScan, ReportTemplate,
    ReportVerdict,
};

/// Only for the formats html, json, pdf, docx and xlsx.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Report options")]
pub struct ReportOptionArgs {
    /// Texts, logo and options of a client, as TOML; examples in assets/reports
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    /// Chapters: class, target, risk [default: class]
    #[arg(long, value_name = "KIND", value_parser = ChapterKind::from_name)]
    group_by: Option<ChapterKind>,
    /// Findings with these verdicts, separated by commas: confirmed, open, risk-accepted, fixed,
    /// absent, not-applicable, duplicate, false-positive [default: confirmed,open]
    #[arg(long, value_name = "VERDICTS", value_delimiter = ',', value_parser = ReportVerdict::from_name)]
    verdicts: Vec<ReportVerdict>,
    /// Evidence on the pages: none, first (of each chapter), all [default: first]
    #[arg(long, value_name = "DETAIL", value_parser = EvidenceDetail::from_name)]
    evidence: Option<EvidenceDetail>,
    /// Add a part: history, notes, coverage, appendix, info; repeatable
    #[arg(long, value_name = "PART", value_parser = ReportPart::from_name)]
    include: Vec<ReportPart>,
    /// Remove a part; repeatable
    #[arg(long, value_name = "PART", value_parser = ReportPart::from_name)]
    exclude: Vec<ReportPart>,
}

impl ReportOptionArgs {
    /// Whether the command line has any of them.
    pub fn is_given(&self) -> bool {
        self.template.is_some()
            || self.group_by.is_some()
            || self.evidence.is_some()
            || !(self.verdicts.is_empty() && self.include.is_empty() && self.exclude.is_empty())
    }

    /// Everything that a report has beside its findings.
    ///
    /// # Errors
    /// When the template is not read.
    pub fn frame(
        &self,
        format: ExportFormat,
        targets: Vec<String>,
        scans: Vec<ReportScan>,
    ) -> Result<ReportFrame, CliError> {
        let template = match &self.template {
            Some(path) => read_report_template(path)
                .map_err(|problem| CliError::usage(problem, "correct the template"))?,
            None => ReportTemplate::default(),
        };
        Ok(ReportFrame {
            options: self
                .chosen()
                .over(template.options_or(format.report_options())),
            template,
            targets,
            scans,
        })
    }

    /// The options that the command line names.
    fn chosen(&self) -> ChosenOptions {
        let included = self.include.iter().map(|part| (*part, true));
        let excluded = self.exclude.iter().map(|part| (*part, false));
        let verdicts = || self.verdicts.iter().copied().collect();
        ChosenOptions {
            group_by: self.group_by,
            verdicts: (!self.verdicts.is_empty()).then(verdicts),
            evidence: self.evidence,
            parts: included.chain(excluded).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_chooses_options() {
        let args = ReportOptionArgs {
            group_by: Some(ChapterKind::Risk),
            verdicts: vec![ReportVerdict::Open],
            include: vec![ReportPart::Notes],
            exclude: vec![ReportPart::History],
            ..ReportOptionArgs::default()
        };
        let expected = ChosenOptions {
            group_by: Some(ChapterKind::Risk),
            verdicts: Some([ReportVerdict::Open].into()),
            evidence: None,
            parts: [(ReportPart::Notes, true), (ReportPart::History, false)].into(),
        };
        assert_eq!(args.chosen(), expected);
        let plain = ReportOptionArgs::default();
        assert_eq!(plain.chosen(), ChosenOptions::default());
        assert!(args.is_given() && !plain.is_given());
    }
}
