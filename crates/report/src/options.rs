//! The options of a report: one type for the form of the dashboard, for command lines, for templates
//! and for the reports that clients request from the service.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{ReportFinding, Standing};
use scandeck_wire::contract::{GroupBy, ReportFilters, ReportFormat, Risk};

/// An enumeration with a name for each value, which is the same in TOML and on command lines, and a
/// meaning for the help.
macro_rules! report_choice {
    ($(#[$meta:meta])* $name:ident { $($variant:ident $text:literal $meaning:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $(#[doc = $meaning] #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// All values, in the order of menus.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];
            /// Their names, in the same order.
            pub const NAMES: [&'static str; [$($text),+].len()] = [$($text),+];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// A few words for the help.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => $meaning,)+
                }
            }

            /// The value with this name.
            ///
            /// # Errors
            /// All names, if there is none.
            pub fn from_name(name: &str) -> Result<Self, String> {
                let named = Self::ALL.into_iter().find(|value| value.as_str() == name);
                named.ok_or_else(|| format!("use one of {}", Self::NAMES.join(", ")))
            }
        }
    };
}

report_choice! {
    /// The chapters of a report.
    ChapterKind {
        Class "class" "one for each class of finding, with its places in a table",
        Target "target" "one for each target",
        Risk "risk" "one for each risk",
    }
}

report_choice! {
    /// The verdict of a finding, as a report selects it.
    ReportVerdict {
        Confirmed "confirmed" "confirmed by a person",
        Open "open" "undecided, in review, or the decision is no longer valid",
        RiskAccepted "risk-accepted" "the risk is accepted",
        Fixed "fixed" "fixed",
        Absent "absent" "confirmed or open, but not found by the latest scan",
        NotApplicable "not-applicable" "it does not apply",
        Duplicate "duplicate" "a duplicate of another finding",
        FalsePositive "false-positive" "not a weakness",
    }
}

report_choice! {
    /// How much evidence the pages show. Data formats have all evidence unless it is `none`.
    EvidenceDetail {
        None "none" "no evidence",
        First "first" "that of the first place of each chapter",
        All "all" "that of all places",
    }
}

report_choice! {
    /// A part of a report that can be added or removed.
    ReportPart {
        History "history" "earlier findings, and scans that did not find them",
        Notes "notes" "internal notes, tags, and who decided",
        Coverage "coverage" "the scans with their settings",
        Appendix "appendix" "the ids of findings and scans",
        Changes "changes" "why findings are new, changed, absent or not retested",
        Chains "chains" "how the confirmed findings are connected to others",
        Info "info" "findings of risk info",
    }
}

/// Contents and order of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReportOptions {
    pub group_by: ChapterKind,
    pub verdicts: BTreeSet<ReportVerdict>,
    pub evidence: EvidenceDetail,
    /// Findings of risk info.
    pub info: bool,
    /// Findings that nobody verified at the service.
    pub unverified: bool,
    /// A chapter for each target, even if nothing was found.
    pub empty_targets: bool,
    /// Earlier findings of the same weakness, and scans that did not find it.
    pub history: bool,
    /// Internal notes and tags.
    pub notes: bool,
    /// The scans with their settings, in the appendix.
    pub coverage: bool,
    /// The ids of findings and scans.
    pub appendix: bool,
    /// Why each finding is new, changed, absent, reappeared or not retested, in the appendix.
    pub changes: bool,
    /// How the confirmed findings are connected to captures, payloads, targets and services.
    pub chains: bool,
}

impl Default for ReportOptions {
    /// A report for a customer.
    fn default() -> Self {
        Self {
            group_by: ChapterKind::Class,
            verdicts: [ReportVerdict::Confirmed, ReportVerdict::Open].into(),
            evidence: EvidenceDetail::First,
            info: true,
            unverified: true,
            empty_targets: false,
            history: false,
            notes: false,
            coverage: true,
            appendix: true,
            changes: false,
            chains: false,
        }
    }
}

impl ReportOptions {
    /// The default options of a format: JSON is data and has everything, the others are for a
    /// customer.
    pub fn of_format(format: &ReportFormat) -> Self {
        match format {
            ReportFormat::Json => Self::everything(),
            _ => Self::default(),
        }
    }

    /// Everything about every finding, but no explanations of changes and no chains: they read
    /// further texts.
    pub fn everything() -> Self {
        Self {
            verdicts: ReportVerdict::ALL.into(),
            evidence: EvidenceDetail::All,
            history: true,
            notes: true,
            ..Self::default()
        }
    }

    /// Whether a report with these options includes a finding with these traits.
    pub fn includes(&self, traits: ReportTraits) -> bool {
        self.verdicts.contains(&traits.verdict)
            && (self.info || !traits.is_info)
            && (self.unverified || traits.is_verified)
    }

    /// The options of a report that the service creates.
    pub fn of_service(group_by: &GroupBy, filters: &ReportFilters) -> Self {
        let selected = [
            (ReportVerdict::RiskAccepted, filters.include_accepted),
            (ReportVerdict::Fixed, filters.include_fixed),
            (ReportVerdict::NotApplicable, filters.include_ignored),
            (
                ReportVerdict::FalsePositive,
                filters.include_false_positives,
            ),
        ];
        let mut verdicts = BTreeSet::from(ReportVerdict::ALL);
        verdicts.retain(|verdict| {
            selected
                .iter()
                .all(|(one, is_included)| one != verdict || *is_included)
        });
        Self {
            group_by: match group_by {
                GroupBy::Vulnerability => ChapterKind::Class,
                _ => ChapterKind::Target,
            },
            verdicts,
            evidence: match filters.include_how_to_reproduce {
                true => EvidenceDetail::All,
                false => EvidenceDetail::None,
            },
            info: filters.include_info,
            unverified: filters.include_not_verified,
            empty_targets: filters.include_all_targets,
            history: filters.include_finding_history,
            notes: true,
            coverage: filters.include_tool_configuration,
            appendix: true,
            changes: false,
            chains: false,
        }
    }
}

/// The traits of a finding that decide whether a report includes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReportTraits {
    pub verdict: ReportVerdict,
    /// The scanner reported the risk info.
    pub is_info: bool,
    /// It is verified at the service.
    pub is_verified: bool,
}

impl ReportTraits {
    pub fn of(found: &ReportFinding) -> Self {
        Self {
            verdict: ReportVerdict::of(found),
            is_info: found.finding.risk_level == Risk::Info,
            is_verified: found.finding.verified,
        }
    }
}

/// What a person chose for one report. Everything else is as the template has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChosenOptions {
    pub group_by: Option<ChapterKind>,
    pub verdicts: Option<BTreeSet<ReportVerdict>>,
    pub evidence: Option<EvidenceDetail>,
    /// The parts that are added (true) or removed.
    pub parts: BTreeMap<ReportPart, bool>,
}

impl ChosenOptions {
    /// These options with those that were chosen.
    pub fn over(&self, mut options: ReportOptions) -> ReportOptions {
        options.group_by = self.group_by.unwrap_or(options.group_by);
        options.evidence = self.evidence.unwrap_or(options.evidence);
        if let Some(verdicts) = &self.verdicts {
            options.verdicts.clone_from(verdicts);
        }
        for (part, is_included) in &self.parts {
            *part.of(&mut options) = *is_included;
        }
        options
    }
}

impl ReportPart {
    /// Whether these options include the part.
    pub fn of(self, options: &mut ReportOptions) -> &mut bool {
        match self {
            Self::History => &mut options.history,
            Self::Notes => &mut options.notes,
            Self::Coverage => &mut options.coverage,
            Self::Appendix => &mut options.appendix,
            Self::Changes => &mut options.changes,
            Self::Chains => &mut options.chains,
            Self::Info => &mut options.info,
        }
    }
}

impl ReportVerdict {
    /// The verdict of the decision, or else the status at the service.
    pub fn of(found: &ReportFinding) -> Self {
        match &found.decided {
            Some(decided) => Self::of_standing(decided.standing, &decided.verdict),
            None => match found.finding.status.as_str() {
                "false_positive" => Self::FalsePositive,
                "ignored" => Self::NotApplicable,
                "accepted" => Self::RiskAccepted,
                "fixed" => Self::Fixed,
                _ => Self::Open,
            },
        }
    }

    /// The verdict of a decision with this standing, whose words are those of `ReportDecision`.
    pub fn of_standing(standing: Standing, verdict: &str) -> Self {
        match standing {
            Standing::Confirmed => Self::Confirmed,
            Standing::Open => Self::Open,
            Standing::Absent => Self::Absent,
            Standing::Fixed => Self::Fixed,
            Standing::Dismissed => match verdict {
                "risk accepted" => Self::RiskAccepted,
                "false positive" => Self::FalsePositive,
                "duplicate" => Self::Duplicate,
                _ => Self::NotApplicable,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_service_follow_its_filters() {
        let filters = ReportFilters::default();
        let options = ReportOptions::of_service(&GroupBy::Vulnerability, &filters);
        let has = |verdict| options.verdicts.contains(&verdict);
        assert!(has(ReportVerdict::Open) && has(ReportVerdict::Fixed));
        assert!(!has(ReportVerdict::FalsePositive) && !has(ReportVerdict::NotApplicable));
        assert_eq!(
            (options.group_by, options.evidence),
            (ChapterKind::Class, EvidenceDetail::All)
        );
        let filters = ReportFilters {
            include_how_to_reproduce: false,
            include_ignored: true,
            include_fixed: false,
            ..filters
        };
        let options = ReportOptions::of_service(&GroupBy::Target, &filters);
        let has = |verdict| options.verdicts.contains(&verdict);
        assert!(has(ReportVerdict::NotApplicable) && !has(ReportVerdict::Fixed));
        assert_eq!(
            (options.group_by, options.evidence),
            (ChapterKind::Target, EvidenceDetail::None)
        );
    }

    #[test]
    fn chosen_options_replace_those_of_the_template() {
        let chosen = ChosenOptions {
            group_by: Some(ChapterKind::Risk),
            verdicts: Some([ReportVerdict::Open].into()),
            parts: [
                (ReportPart::Notes, true),
                (ReportPart::History, false),
                (ReportPart::Appendix, false),
            ]
            .into(),
            ..ChosenOptions::default()
        };
        let expected = ReportOptions {
            group_by: ChapterKind::Risk,
            verdicts: [ReportVerdict::Open].into(),
            evidence: EvidenceDetail::All,
            notes: true,
            appendix: false,
            ..ReportOptions::default()
        };
        let of_template = ReportOptions {
            evidence: EvidenceDetail::All,
            history: true,
            verdicts: [ReportVerdict::Fixed].into(),
            ..ReportOptions::default()
        };
        assert_eq!(chosen.over(of_template.clone()), expected);
        let none = ChosenOptions::default();
        assert_eq!(none.over(of_template.clone()), of_template);
    }

    #[test]
    fn options_in_toml_have_the_names_of_command_lines() {
        let options: ReportOptions = toml::from_str(
            "group_by = 'risk'\nverdicts = ['risk-accepted', 'open']\nevidence = 'none'",
        )
        .unwrap();
        assert_eq!(
            (options.group_by, options.evidence),
            (ChapterKind::Risk, EvidenceDetail::None)
        );
        assert_eq!(
            options.verdicts,
            [ReportVerdict::Open, ReportVerdict::RiskAccepted].into()
        );
        assert_eq!(
            ReportVerdict::from_name("x").unwrap_err(),
            format!("use one of {}", ReportVerdict::NAMES.join(", "))
        );
        assert!(toml::from_str::<ReportOptions>("evidense = 'all'").is_err());
    }
}
