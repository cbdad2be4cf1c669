//! The options of a report on a command line, which replace those of the template.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::cli::error::CliError;
use scandeck_domain::chain::ChainData;
use scandeck_domain::export::{ExportFormat, ReportFrame};
use scandeck_report::{
    ChapterKind, ChosenOptions, EvidenceDetail, ReportPart, ReportScan, ReportTemplate,
    ReportVerdict, read_report_template,
};

/// Only for the formats html, json, pdf, docx and xlsx.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Report options")]
pub struct ReportOptionArgs {
    /// Texts, logo and options of a client, as TOML; examples in assets/reports
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    /// Chapters [default: class]
    #[arg(long, value_name = "KIND", value_parser = chapter_kind())]
    group_by: Option<ChapterKind>,
    /// Findings with these verdicts, separated by commas [default: confirmed,open]
    #[arg(long, value_name = "VERDICTS", value_delimiter = ',', value_parser = verdict())]
    verdicts: Vec<ReportVerdict>,
    /// Evidence on the pages [default: first]
    #[arg(long, value_name = "DETAIL", value_parser = evidence())]
    evidence: Option<EvidenceDetail>,
    /// Add these parts, separated by commas
    #[arg(long, value_name = "PARTS", value_delimiter = ',', value_parser = part())]
    include: Vec<ReportPart>,
    /// Remove these parts, separated by commas
    #[arg(long, value_name = "PARTS", value_delimiter = ',', value_parser = part())]
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

    /// Whether it has any that the service does not know.
    pub fn is_local(&self) -> bool {
        let plain = Self {
            group_by: self.group_by.filter(|kind| *kind == ChapterKind::Risk),
            ..self.clone()
        };
        plain.is_given()
    }

    pub fn group_by(&self) -> Option<ChapterKind> {
        self.group_by
    }

    /// Refuses options of other formats, and an invalid template before the findings are loaded.
    ///
    /// # Errors
    /// With a remedy for both.
    pub fn check(&self, format: ExportFormat) -> Result<(), CliError> {
        if self.is_given() && !format.is_report() {
            let message = format!("{format} has no report options");
            let hint = "use the format html, json, pdf, docx or xlsx";
            return Err(CliError::usage(message, hint));
        }
        self.frame(format, Vec::new(), Vec::new()).map(|_| ())
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
            Some(path) => read_report_template(path).map_err(|problem| {
                CliError::usage(problem, "check the path, or correct the template")
            })?,
            None => ReportTemplate::default(),
        };
        Ok(ReportFrame {
            options: self
                .chosen()
                .over(template.options_or(format.report_options())),
            template,
            targets,
            scans,
            chains: ChainData::default(),
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

fn chapter_kind() -> impl TypedValueParser<Value = ChapterKind> {
    // The API calls a class a vulnerability.
    let named = |kind: ChapterKind| match kind {
        ChapterKind::Class => described(kind.as_str(), kind.meaning()).alias("vulnerability"),
        _ => described(kind.as_str(), kind.meaning()),
    };
    PossibleValuesParser::new(ChapterKind::ALL.map(named)).try_map(|name| match &*name {
        "vulnerability" => Ok(ChapterKind::Class),
        name => ChapterKind::from_name(name),
    })
}

fn verdict() -> impl TypedValueParser<Value = ReportVerdict> {
    let named = |verdict: ReportVerdict| described(verdict.as_str(), verdict.meaning());
    PossibleValuesParser::new(ReportVerdict::ALL.map(named))
        .try_map(|name| ReportVerdict::from_name(&name))
}

fn evidence() -> impl TypedValueParser<Value = EvidenceDetail> {
    let named = |detail: EvidenceDetail| described(detail.as_str(), detail.meaning());
    PossibleValuesParser::new(EvidenceDetail::ALL.map(named))
        .try_map(|name| EvidenceDetail::from_name(&name))
}

fn part() -> impl TypedValueParser<Value = ReportPart> {
    let named = |part: ReportPart| described(part.as_str(), part.meaning());
    PossibleValuesParser::new(ReportPart::ALL.map(named))
        .try_map(|name| ReportPart::from_name(&name))
}

fn described(name: &'static str, meaning: &'static str) -> PossibleValue {
    PossibleValue::new(name).help(meaning)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use clap::{CommandFactory, Parser};

    use super::*;

    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        report: ReportOptionArgs,
    }

    #[test]
    fn help_explains_every_value() {
        let help = Command::command().render_long_help().to_string();
        for line in [
            "- history:  earlier findings",
            "- class:  one for each class",
            "- absent:",
        ] {
            assert!(help.contains(line), "{line}: {help}");
        }
    }

    #[test]
    fn service_knows_chapters_of_classes_and_targets_only() {
        let args = |args: &[&str]| {
            let all = [&["x"], args].concat();
            Command::try_parse_from(all).unwrap().report.is_local()
        };
        assert!(!args(&[]) && !args(&["--group-by", "class"]) && !args(&["--group-by", "target"]));
        assert!(args(&["--group-by", "risk"]) && args(&["--exclude", "notes"]));
    }

    #[test]
    fn class_has_the_name_of_the_api_too() {
        let kind = |name| Command::try_parse_from(["x", "--group-by", name]).map(|it| it.report);
        assert_eq!(
            kind("vulnerability").unwrap().group_by,
            Some(ChapterKind::Class)
        );
        assert!(kind("host").is_err());
    }

    #[test]
    fn parts_are_separated_by_commas_or_named_one_by_one() {
        let parts = |args: &[&str]| {
            let all = [&["x"], args].concat();
            Command::try_parse_from(all).map(|parsed| parsed.report.chosen().parts)
        };
        let expected = BTreeMap::from([
            (ReportPart::Notes, true),
            (ReportPart::Chains, true),
            (ReportPart::History, false),
        ]);
        let commas = ["--include", "notes,chains", "--exclude", "history"];
        assert_eq!(parts(&commas).unwrap(), expected);
        let repeated = ["--include=notes", "--exclude=history", "--include=chains"];
        assert_eq!(parts(&repeated).unwrap(), expected);
        assert!(parts(&["--include", "notes,nothing"]).is_err());
    }

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
