//! Arranges the data of a report: filters, groups and sorts the findings.

use std::collections::{BTreeMap, BTreeSet};

use super::{ReportData, ReportFinding, ReportScan};
use crate::contract::{Evidence, GroupBy, Risk, Stamp, Tool};

/// A report in reading order.
#[derive(Clone, Debug)]
pub struct Document {
    pub workspace: String,
    pub generated: Stamp,
    /// The query that selected the findings; empty without one.
    pub selection: String,
    /// The names of the targets, sorted.
    pub scope: Vec<String>,
    /// The tools of the scans and findings, by id.
    pub tools: Vec<Tool>,
    /// From the first to the last scan.
    pub period: Option<(Stamp, Stamp)>,
    pub group_by: GroupBy,
    /// In descending order of risk.
    pub groups: Vec<ReportGroup>,
    /// Whether the report contains decisions.
    pub with_decisions: bool,
    /// The number of findings by risk, critical first.
    pub counts: [usize; 5],
    /// The scans, if the tool configuration is included.
    pub scans: Vec<ReportScan>,
}

/// A chapter: the findings of a target, or of one kind.
#[derive(Clone, Debug)]
pub struct ReportGroup {
    pub name: String,
    /// In descending order of risk.
    pub findings: Vec<ReportFinding>,
}

impl Document {
    pub fn new(data: &ReportData) -> Self {
        let included: Vec<ReportFinding> = data
            .findings
            .iter()
            .filter(|found| is_included(data, found))
            .cloned()
            .map(|found| trim(data, found))
            .collect();
        let mut counts = [0; 5];
        for found in &included {
            counts[4 - found.risk().level() as usize] += 1;
        }
        let scans = if data.filters.include_tool_configuration { data.scans.clone() } else { Vec::new() };
        Self {
            workspace: data.workspace.clone(),
            generated: data.generated,
            selection: data.selection.clone(),
            scope: scope(data, &included),
            tools: tools(data, &included),
            period: period(data, &included),
            group_by: data.group_by.clone(),
            groups: group(data, included),
            with_decisions: data.with_decisions,
            counts,
            scans,
        }
    }

    /// Whether the filters exclude everything; such a report has no document (204).
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }
}

fn scope(data: &ReportData, included: &[ReportFinding]) -> Vec<String> {
    let names = data.targets.iter().chain(included.iter().map(|found| &found.target));
    let names: BTreeSet<&String> = names.filter(|name| !name.is_empty()).collect();
    names.into_iter().cloned().collect()
}

fn tools(data: &ReportData, included: &[ReportFinding]) -> Vec<Tool> {
    let of_scans = data.scans.iter().map(|scanned| scanned.scan.tool_id);
    let ids: BTreeSet<i64> = of_scans.chain(included.iter().map(|found| found.tool.0)).collect();
    ids.into_iter().filter(|id| *id != 0).map(Tool).collect()
}

fn period(data: &ReportData, included: &[ReportFinding]) -> Option<(Stamp, Stamp)> {
    let of_scans = data.scans.iter().flat_map(|scanned| [scanned.scan.start_time, scanned.scan.end_time]);
    let stamps = of_scans.chain(included.iter().map(|found| found.found_at)).flatten();
    stamps.fold(None, |period, at| match period {
        None => Some((at, at)),
        Some((first, last)) => Some((first.min(at), last.max(at))),
    })
}

fn is_included(data: &ReportData, found: &ReportFinding) -> bool {
    let filters = &data.filters;
    let by_status = match found.finding.status.as_str() {
        "false_positive" => filters.include_false_positives,
        "ignored" => filters.include_ignored,
        "accepted" => filters.include_accepted,
        "fixed" => filters.include_fixed,
        _ => true,
    };
    by_status
        && (filters.include_info || found.finding.risk_level != Risk::Info)
        && (filters.include_not_verified || found.finding.verified)
}

/// Removes the excluded parts of a finding.
fn trim(data: &ReportData, mut found: ReportFinding) -> ReportFinding {
    if !data.filters.include_how_to_reproduce {
        found.finding.vuln_evidence = Evidence::default();
    }
    if !data.filters.include_finding_history {
        found.history.clear();
    }
    found
}

fn group(data: &ReportData, included: Vec<ReportFinding>) -> Vec<ReportGroup> {
    let mut by_name: BTreeMap<String, Vec<ReportFinding>> = BTreeMap::new();
    let by_target = data.group_by == GroupBy::Target;
    if by_target && data.filters.include_all_targets {
        by_name.extend(data.targets.iter().map(|name| (name.clone(), Vec::new())));
    }
    for found in included {
        let name = if by_target { found.target.clone() } else { found.finding.name.to_string() };
        by_name.entry(name).or_default().push(found);
    }
    let mut groups: Vec<ReportGroup> = by_name
        .into_iter()
        .map(|(name, mut findings)| {
            findings.sort_by(|a, b| {
                let key = |found: &ReportFinding| std::cmp::Reverse(found.risk());
                key(a)
                    .cmp(&key(b))
                    .then_with(|| a.finding.name.cmp(&b.finding.name))
                    .then_with(|| a.target.cmp(&b.target))
            });
            ReportGroup { name, findings }
        })
        .collect();
    // The sort is stable, so groups of equal risk remain sorted by name.
    groups.sort_by_key(|group| std::cmp::Reverse(group.findings.first().map(ReportFinding::risk)));
    groups
}

#[cfg(test)]
mod tests {
    use super::super::tests::data;
    use super::*;

    #[test]
    fn groups_are_sorted_by_risk_in_both_groupings() {
        let names = |by| Document::new(&data(by)).groups.into_iter().map(|group| group.name).collect::<Vec<_>>();
        assert_eq!(names(GroupBy::Target), ["shop.test", "api.test"]);
        assert_eq!(names(GroupBy::Vulnerability)[1], "Server names its version");
    }

    #[test]
    fn filters_exclude_findings_and_evidence() {
        let mut input = data(GroupBy::Target);
        input.filters.include_info = false;
        input.filters.include_how_to_reproduce = false;
        let document = Document::new(&input);
        assert_eq!(document.counts, [1, 0, 0, 0, 0]);
        assert_eq!(document.groups[0].findings[0].finding.vuln_evidence, Evidence::default());

        input.filters.include_not_verified = false;
        assert!(Document::new(&input).is_empty());
        input.filters.include_all_targets = true;
        assert_eq!(Document::new(&input).groups.len(), 3, "targets without findings are included on request");
    }

    #[test]
    fn status_filters_exclude_by_default() {
        for (status, included_by_default) in
            [("open", true), ("accepted", true), ("fixed", true), ("ignored", false), ("false_positive", false)]
        {
            let mut one = data(GroupBy::Target);
            one.findings.truncate(1);
            one.findings[0].finding.status = status.into();
            assert_eq!(!Document::new(&one).is_empty(), included_by_default, "{status}");
        }
    }

    #[test]
    fn history_is_included_on_request() {
        let mut input = data(GroupBy::Target);
        assert!(Document::new(&input).groups[0].findings[0].history.is_empty());
        input.filters.include_finding_history = true;
        assert_eq!(Document::new(&input).groups[0].findings[0].history.len(), 1);
    }
}
