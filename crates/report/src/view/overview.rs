//! The part of a report about all findings together: cover, headline, recommendations, scans.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Fact, RiskCounts, SummaryRow, fact, line, stamp, tool_name};
use crate::{Document, RenderError, ReportFinding, ReportScan, Standing};
use scandeck_wire::contract::{Risk, Tool};
use scandeck_wire::text::{clean_for_print as clean, clean_text_for_print as clean_text, plural};

/// Names on the cover; more are counted.
const COVER_NAMES: usize = 12;

/// The recommendation for one kind of finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Recommendation {
    pub risk: Risk,
    pub name: String,
    pub findings: usize,
    pub targets: usize,
    pub text: String,
}

pub(super) fn cover(document: &Document<'_>) -> Vec<Fact> {
    let mut facts = vec![fact("Workspace", clean(&document.workspace).into_owned())];
    if !document.selection.is_empty() {
        facts.push(fact("Selection", clean(&document.selection).into_owned()));
    }
    facts.push(Fact {
        label: "Scope",
        value: plural(document.scope.len(), "target"),
        aside: listed(document.scope.iter().map(|name| clean(name).into_owned())),
    });
    if let Some((first, last)) = document.period {
        let value = if first == last {
            format!("{first} UTC")
        } else {
            format!("{first} to {last} UTC")
        };
        facts.push(fact("Scanned", value));
    }
    if !document.tools.is_empty() {
        facts.push(fact(
            "Tools",
            listed(document.tools.iter().map(|tool| tool_name(*tool))),
        ));
    }
    facts.push(fact("Generated", format!("{} UTC", document.generated)));
    let decisions = if document.with_decisions {
        ", with decisions"
    } else {
        ", without decisions"
    };
    let chapters = format!("grouped by {}{decisions}", document.group_by);
    facts.push(Fact {
        label: "Findings",
        value: document.counts.iter().sum::<usize>().to_string(),
        aside: chapters,
    });
    facts
}

/// The first names, and how many more there are.
fn listed(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(COVER_NAMES);
    let mut shown: Vec<String> = names.take(COVER_NAMES).collect();
    if more > 0 {
        shown.push(format!("and {more} more"));
    }
    shown.join(", ")
}

/// Counts over all findings, made in one pass over them.
#[derive(Default)]
pub(super) struct ReportTally {
    standings: BTreeMap<Standing, RiskCounts>,
    dismissed: BTreeMap<String, usize>,
    kinds: BTreeMap<(String, String), TalliedKind>,
}

/// Findings with the same recommendation.
struct TalliedKind {
    risk: Risk,
    name: String,
    findings: usize,
    targets: BTreeSet<String>,
}

impl TalliedKind {
    /// Findings of one kind can have names such as `Open port: 22/tcp ssh`, which share the part
    /// before the colon.
    fn share_name(&mut self, name: &str) {
        if name == self.name {
            return;
        }
        let class = |name: &str| name.split_once(": ").map(|(class, _)| class.to_owned());
        let shared = class(&self.name).unwrap_or_else(|| self.name.clone());
        match class(name) {
            Some(own) if own == shared => self.name = shared,
            _ if name < self.name.as_str() => self.name = name.to_owned(),
            _ => {}
        }
    }
}

impl ReportTally {
    pub fn of(document: &Document<'_>) -> Result<Self, RenderError> {
        let mut tally = Self::default();
        for group in &document.groups {
            for found in document.findings(group, 0) {
                tally.add(&found?);
            }
        }
        Ok(tally)
    }

    fn add(&mut self, found: &ReportFinding) {
        let decided = found.decided.as_ref();
        let standing = decided.map(|decided| decided.standing).unwrap_or_default();
        self.standings.entry(standing).or_default()[4 - found.risk().level() as usize] += 1;
        if let Some(decided) = decided.filter(|_| standing == Standing::Dismissed) {
            *self.dismissed.entry(decided.verdict.clone()).or_default() += 1;
        }
        if matches!(standing, Standing::Confirmed | Standing::Open) {
            self.add_recommendation(found);
        }
    }

    fn add_recommendation(&mut self, found: &ReportFinding) {
        let finding = &found.finding;
        let given = finding.recommendation.trim();
        if given.is_empty() {
            return;
        }
        let class = if finding.vuln_id.is_empty() {
            &finding.name
        } else {
            &finding.vuln_id
        };
        let kind = self
            .kinds
            .entry((class.to_string(), given.to_owned()))
            .or_insert_with(|| TalliedKind {
                risk: Risk::Info,
                name: finding.name.to_string(),
                findings: 0,
                targets: BTreeSet::new(),
            });
        kind.risk = kind.risk.max(found.risk());
        kind.share_name(&finding.name);
        kind.findings += 1;
        if !kind.targets.contains(&found.target) {
            kind.targets.insert(found.target.clone());
        }
    }

    fn counts(&self, standing: Standing) -> RiskCounts {
        self.standings.get(&standing).copied().unwrap_or_default()
    }

    /// The headline. Without decisions one row; with decisions the present findings that need work,
    /// by verdict.
    pub fn summary(&self, document: &Document<'_>) -> Vec<SummaryRow> {
        if !document.with_decisions {
            return vec![SummaryRow {
                label: "Findings",
                counts: document.counts,
            }];
        }
        let row = |label, standing| SummaryRow {
            label,
            counts: self.counts(standing),
        };
        vec![
            row("Confirmed", Standing::Confirmed),
            row("Open", Standing::Open),
        ]
    }

    /// Findings that need no work, by verdict; empty without decisions.
    pub fn settled(&self, document: &Document<'_>) -> Vec<Fact> {
        if !document.with_decisions {
            return Vec::new();
        }
        let total = |standing| self.counts(standing).iter().sum::<usize>().to_string();
        let each: Vec<String> = self
            .dismissed
            .iter()
            .map(|(verdict, count)| format!("{count} {verdict}"))
            .collect();
        vec![
            Fact {
                label: "Absent",
                value: total(Standing::Absent),
                aside: "not found by the latest scan".to_owned(),
            },
            fact("Fixed", total(Standing::Fixed)),
            Fact {
                label: "Dismissed",
                value: total(Standing::Dismissed),
                aside: each.join(", "),
            },
        ]
    }

    pub fn recommendations(self) -> Vec<Recommendation> {
        let recommendation = |((_, given), kind): ((String, String), TalliedKind)| Recommendation {
            risk: kind.risk,
            name: line(&kind.name),
            findings: kind.findings,
            targets: kind.targets.len(),
            text: clean_text(&given).into_owned(),
        };
        let mut all: Vec<Recommendation> = self.kinds.into_iter().map(recommendation).collect();
        // The sort is stable, so recommendations of equal weight remain in the order of their
        // class.
        all.sort_by_key(|one| (std::cmp::Reverse(one.risk), std::cmp::Reverse(one.findings)));
        all
    }
}

pub(super) fn scan(scanned: &ReportScan) -> [String; 8] {
    let ReportScan { scan, target } = scanned;
    [
        scan.id.to_string(),
        tool_name(Tool(scan.tool_id)),
        line(target),
        line(scan.shown_status()),
        stamp(scan.start_time),
        stamp(scan.end_time),
        match scan.is_incomplete() {
            true => format!("{} of {}", scan.num_finished_tests, scan.num_tests),
            false => scan.num_finished_tests.to_string(),
        },
        scan.tool_params
            .as_ref()
            .map(|params| line(&params.to_string()))
            .unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::{View, counted};
    use super::*;
    use crate::ReportDecision;
    use crate::tests::{data, decided};
    use scandeck_wire::contract::GroupBy;

    #[test]
    fn cover_names_scope_tools_and_period() {
        let mut input = data(GroupBy::Target);
        input.selection = "risk>=low".into();
        let document = Document::new(&input).unwrap();
        let view = View::new(&document).unwrap();
        let cover: Vec<(&str, &str, &str)> = view
            .cover
            .iter()
            .map(|fact| (fact.label, fact.value.as_str(), fact.aside.as_str()))
            .collect();
        assert_eq!(
            cover,
            [
                ("Workspace", "Acme <external>", ""),
                ("Selection", "risk>=low", ""),
                ("Scope", "3 targets", "api.test, quiet.test, shop.test"),
                ("Scanned", "2026-11-20 10:00:00 UTC", ""),
                ("Tools", "Website Scanner", ""),
                ("Generated", "2026-11-21 09:30:00 UTC", ""),
                ("Findings", "3", "grouped by target, without decisions"),
            ]
        );
        let manual = ReportDecision {
            own: true,
            ..ReportDecision::default()
        };
        input.findings[0].decided = Some(manual);
        input.findings[0].found_at = scandeck_wire::contract::Stamp::parse("2026-11-21 08:00:00");
        let scanned: Vec<Fact> = super::cover(&Document::new(&input).unwrap());
        let scanned: Vec<&str> = scanned
            .iter()
            .filter(|fact| fact.label == "Scanned")
            .map(|fact| &*fact.value)
            .collect();
        assert_eq!(
            scanned,
            ["2026-11-20 10:00:00 UTC"],
            "no scan ran when a person added a finding"
        );
        assert_eq!(
            listed((0..14).map(|at| at.to_string())),
            "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, and 2 more"
        );
    }

    #[test]
    fn headline_counts_confirmed_and_open_by_risk_and_the_others_apart() {
        let mut input = decided();
        let verdicts = [
            ("confirmed", Standing::Confirmed),
            ("false positive", Standing::Dismissed),
        ];
        for (found, (verdict, standing)) in input.findings.iter_mut().zip(verdicts) {
            found.decided = Some(ReportDecision {
                verdict: verdict.into(),
                standing,
                ..ReportDecision::default()
            });
        }
        let document = Document::new(&input).unwrap();
        let view = View::new(&document).unwrap();
        let rows: Vec<(&str, RiskCounts)> = view
            .summary
            .iter()
            .map(|row| (row.label, row.counts))
            .collect();
        assert_eq!(
            rows,
            [("Confirmed", [0, 0, 0, 0, 1]), ("Open", [0, 0, 0, 0, 1])]
        );
        let settled: Vec<_> = view
            .settled
            .iter()
            .map(|fact| (fact.label, &*fact.value, &*fact.aside))
            .collect();
        let absent = ("Absent", "0", "not found by the latest scan");
        assert_eq!(
            settled,
            [
                absent,
                ("Fixed", "0", ""),
                ("Dismissed", "1", "1 false positive")
            ]
        );
        assert_eq!(
            counted(&view.summary[0].counts),
            "0 critical, 0 high, 0 medium, 0 low, 1 info"
        );
    }

    #[test]
    fn recommendations_are_listed_once_per_kind_and_omit_settled_findings() {
        let mut input = decided();
        for found in &mut input.findings {
            found.finding.recommendation = "Hide it.".into();
        }
        let document = Document::new(&input).unwrap();
        let all = View::new(&document).unwrap().recommendations;
        assert_eq!(all.len(), 2, "{all:?}");
        assert_eq!(
            (all[0].risk, all[0].findings),
            (Risk::Low, 1),
            "the severity override counts"
        );
        assert_eq!(
            (&*all[1].name, all[1].findings, all[1].targets),
            ("Server names its version", 2, 2)
        );
        for (found, port) in
            input
                .findings
                .iter_mut()
                .zip(["22/tcp ssh", "80/tcp http", "443/tcp https"])
        {
            found.finding.name = format!("Open port: {port}").into();
        }
        let names: Vec<String> = View::new(&Document::new(&input).unwrap())
            .unwrap()
            .recommendations
            .iter()
            .map(|one| one.name.to_string())
            .collect();
        assert!(names.iter().any(|name| name == "Open port"), "{names:?}");
        input.findings[1].decided.as_mut().unwrap().standing = Standing::Fixed;
        assert_eq!(
            View::new(&Document::new(&input).unwrap())
                .unwrap()
                .recommendations
                .len(),
            1
        );
    }
}
