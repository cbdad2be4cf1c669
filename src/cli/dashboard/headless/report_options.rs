//! The options of a report on a command line, which replace those of the template.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::error::CliError;
use scandeck_dashboard::runtime::read_report_template;
use scandeck_domain::export::{ExportFormat, ReportFrame};
use scandeck_report::{
    ChapterKind, EvidenceDetail, ReportOptions, ReportScan, ReportTemplate, ReportVerdict,
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
    /// Add a part that reports do not have by default; repeatable
    #[arg(long, value_name = "PART")]
    include: Vec<ReportPart>,
    /// Remove a part; repeatable
    #[arg(long, value_name = "PART")]
    exclude: Vec<ReportPart>,
}

/// A part of a report that can be added or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReportPart {
    /// Earlier findings, and scans that did not find them
    History,
    /// Internal notes, tags, and who decided
    Notes,
    /// The scans with their settings
    Coverage,
    /// The ids of findings and scans
    Appendix,
    /// Findings of risk info
    Info,
}

impl ReportPart {
    fn of(self, options: &mut ReportOptions) -> &mut bool {
        match self {
            Self::History => &mut options.history,
            Self::Notes => &mut options.notes,
            Self::Coverage => &mut options.coverage,
            Self::Appendix => &mut options.appendix,
            Self::Info => &mut options.info,
        }
    }
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
            options: self.options(&template, format),
            template,
            targets,
            scans,
        })
    }

    fn options(&self, template: &ReportTemplate, format: ExportFormat) -> ReportOptions {
        let of_template = template.options.clone();
        let mut options = of_template.unwrap_or_else(|| format.report_options());
        options.group_by = self.group_by.unwrap_or(options.group_by);
        options.evidence = self.evidence.unwrap_or(options.evidence);
        if !self.verdicts.is_empty() {
            options.verdicts = self.verdicts.iter().copied().collect();
        }
        for (parts, is_included) in [(&self.include, true), (&self.exclude, false)] {
            for part in parts {
                *part.of(&mut options) = is_included;
            }
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_replaces_options_of_the_template() {
        let template = ReportTemplate::parse(
            "[options]\nevidence = 'all'\nhistory = true\nverdicts = ['fixed']",
        )
        .unwrap();
        let args = ReportOptionArgs {
            group_by: Some(ChapterKind::Risk),
            verdicts: vec![ReportVerdict::Open],
            include: vec![ReportPart::Notes],
            exclude: vec![ReportPart::History, ReportPart::Appendix],
            ..ReportOptionArgs::default()
        };
        let expected = ReportOptions {
            group_by: ChapterKind::Risk,
            verdicts: [ReportVerdict::Open].into(),
            evidence: EvidenceDetail::All,
            notes: true,
            appendix: false,
            ..ReportOptions::default()
        };
        let options = |args: &ReportOptionArgs| args.options(&template, ExportFormat::Pdf);
        assert_eq!(options(&args), expected);
        let plain = ReportOptionArgs::default();
        assert_eq!(options(&plain).evidence, EvidenceDetail::All);
        assert!(args.is_given() && !plain.is_given());
    }
}
