//! Arranges the findings of a report: filters, groups and sorts them. Only their order is kept; the
//! order of the parts of a report is in `flow.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::{FindingSource, RenderError, ReportData, ReportFinding, ReportScan};
use scandeck_wire::contract::{
    Evidence, Finding, GroupBy, ReportFilters, Risk, Shared, Stamp, Tool,
};

/// Findings that are read at once.
const BATCH: usize = 200;

/// A report in reading order.
#[derive(Clone)]
pub struct Document<'a> {
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
    filters: ReportFilters,
    source: &'a dyn FindingSource,
}

/// A chapter: the findings of a target, or of one kind.
#[derive(Clone, Debug, Default)]
pub struct ReportGroup {
    pub name: String,
    /// The number of findings by risk, critical first.
    pub counts: [usize; 5],
    /// Whether all findings have the same description, recommendation, classes and references.
    pub has_common_texts: bool,
    /// The positions of the findings in their source, in descending order of risk.
    positions: Vec<usize>,
}

impl ReportGroup {
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }
}

impl<'a> Document<'a> {
    /// Arranges the findings of `data`.
    ///
    /// # Errors
    /// As [`Document::of`].
    pub fn new(data: &'a ReportData) -> Result<Self, RenderError> {
        Self::of(data, &data.findings)
    }

    /// Arranges the findings of `source` instead of those of `data`.
    ///
    /// # Errors
    /// When the findings cannot be read.
    pub fn of(data: &ReportData, source: &'a dyn FindingSource) -> Result<Self, RenderError> {
        let mut arranging = Arranging::new(data);
        let positions: Vec<usize> = (0..source.count()).collect();
        for batch in positions.chunks(BATCH) {
            for (position, found) in batch.iter().zip(source.read(batch)?) {
                arranging.add(data, *position, &found);
            }
        }
        Ok(Self {
            workspace: data.workspace.clone(),
            generated: data.generated,
            selection: data.selection.clone(),
            scope: arranging
                .scope
                .into_iter()
                .filter(|name| !name.is_empty())
                .collect(),
            tools: arranging
                .tools
                .into_iter()
                .filter(|id| *id != 0)
                .map(Tool)
                .collect(),
            period: arranging.period,
            group_by: data.group_by.clone(),
            groups: groups(arranging.groups),
            with_decisions: data.with_decisions,
            counts: arranging.counts,
            scans: if data.filters.include_tool_configuration {
                data.scans.clone()
            } else {
                Vec::new()
            },
            filters: data.filters,
            source,
        })
    }

    /// Whether the filters exclude everything; such a report has no document (204).
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The findings of a group in reading order, without the first `skipped`.
    pub fn findings<'b>(
        &'b self,
        group: &'b ReportGroup,
        skipped: usize,
    ) -> impl Iterator<Item = Result<ReportFinding, RenderError>> + use<'a, 'b> {
        let positions = group.positions.get(skipped..).unwrap_or_default();
        positions.chunks(BATCH).flat_map(|batch| {
            let (read, error) = match self.source.read(batch) {
                Ok(read) => (read, None),
                Err(error) => (Vec::new(), Some(error)),
            };
            read.into_iter()
                .map(|found| Ok(trim(&self.filters, found)))
                .chain(error.map(Err))
        })
    }
}

/// The place of a finding in the report.
struct PlacedFinding {
    position: usize,
    risk: Risk,
    name: Shared,
    target: Shared,
    /// Equal for findings with equal texts.
    texts: u64,
}

/// The parts of the report from the findings read so far.
struct Arranging {
    scope: BTreeSet<String>,
    tools: BTreeSet<i64>,
    period: Option<(Stamp, Stamp)>,
    counts: [usize; 5],
    groups: BTreeMap<String, Vec<PlacedFinding>>,
}

impl Arranging {
    fn new(data: &ReportData) -> Self {
        let mut groups = BTreeMap::new();
        if data.group_by == GroupBy::Target && data.filters.include_all_targets {
            groups.extend(data.targets.iter().map(|name| (name.clone(), Vec::new())));
        }
        let stamps = data
            .scans
            .iter()
            .flat_map(|scanned| [scanned.scan.start_time, scanned.scan.end_time]);
        Self {
            scope: data.targets.iter().cloned().collect(),
            tools: data
                .scans
                .iter()
                .map(|scanned| scanned.scan.tool_id)
                .collect(),
            period: stamps.flatten().fold(None, extended),
            counts: [0; 5],
            groups,
        }
    }

    fn add(&mut self, data: &ReportData, position: usize, found: &ReportFinding) {
        if !is_included(&data.filters, found) {
            return;
        }
        if !self.scope.contains(&found.target) {
            self.scope.insert(found.target.clone());
        }
        // A manual finding was added by a person; no scan ran at that time.
        if !found.decided.as_ref().is_some_and(|decided| decided.own) {
            self.tools.insert(found.tool.0);
            self.period = found.found_at.into_iter().fold(self.period, extended);
        }
        self.counts[place_of(found.risk())] += 1;
        let name = if data.group_by == GroupBy::Target {
            &found.target
        } else {
            found.finding.name.as_str()
        };
        let placed = PlacedFinding {
            position,
            risk: found.risk(),
            name: found.finding.name.clone(),
            target: found.target.as_str().into(),
            texts: texts(&found.finding),
        };
        match self.groups.get_mut(name) {
            Some(group) => group.push(placed),
            None => {
                self.groups.insert(name.to_owned(), vec![placed]);
            }
        }
    }
}

/// The place of a risk in counts, critical first.
fn place_of(risk: Risk) -> usize {
    4 - risk.level() as usize
}

fn extended(period: Option<(Stamp, Stamp)>, at: Stamp) -> Option<(Stamp, Stamp)> {
    Some(period.map_or((at, at), |(first, last)| (first.min(at), last.max(at))))
}

/// A hash of the texts that describe a kind of finding.
fn texts(finding: &Finding) -> u64 {
    let owasp = &finding.owasp;
    let mut hasher = DefaultHasher::new();
    (
        &finding.vuln_description,
        &finding.risk_description,
        &finding.recommendation,
    )
        .hash(&mut hasher);
    (
        &finding.cwe,
        &owasp.owasp_2017,
        &owasp.owasp_2021,
        &owasp.owasp_2025,
    )
        .hash(&mut hasher);
    (&finding.cve, &finding.references).hash(&mut hasher);
    hasher.finish()
}

fn is_included(filters: &ReportFilters, found: &ReportFinding) -> bool {
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
fn trim(filters: &ReportFilters, mut found: ReportFinding) -> ReportFinding {
    if !filters.include_how_to_reproduce {
        found.finding.vuln_evidence = Evidence::default();
    }
    if !filters.include_finding_history {
        found.history.clear();
    }
    found
}

fn groups(by_name: BTreeMap<String, Vec<PlacedFinding>>) -> Vec<ReportGroup> {
    let group = |(name, mut placed): (String, Vec<PlacedFinding>)| {
        placed.sort_by(|a, b| {
            b.risk
                .cmp(&a.risk)
                .then_with(|| a.name.cmp(&b.name))
                .then_with(|| a.target.cmp(&b.target))
        });
        let mut counts = [0; 5];
        placed
            .iter()
            .for_each(|one| counts[place_of(one.risk)] += 1);
        let has_common_texts = placed.windows(2).all(|pair| pair[0].texts == pair[1].texts);
        ReportGroup {
            name,
            counts,
            has_common_texts,
            positions: placed.iter().map(|one| one.position).collect(),
        }
    };
    let mut groups: Vec<ReportGroup> = by_name.into_iter().map(group).collect();
    // The sort is stable, so groups of equal risk remain sorted by name.
    groups.sort_by_key(|group| {
        group
            .counts
            .iter()
            .position(|count| *count > 0)
            .unwrap_or(group.counts.len())
    });
    groups
}

#[cfg(test)]
mod tests {
    use super::super::tests::data;
    use super::*;

    fn first(document: &Document<'_>) -> ReportFinding {
        document
            .findings(&document.groups[0], 0)
            .next()
            .unwrap()
            .unwrap()
    }

    #[test]
    fn groups_are_sorted_by_risk_in_both_groupings() {
        let names = |by| {
            Document::new(&data(by))
                .unwrap()
                .groups
                .into_iter()
                .map(|group| group.name)
                .collect::<Vec<_>>()
        };
        assert_eq!(names(GroupBy::Target), ["shop.test", "api.test"]);
        assert_eq!(names(GroupBy::Vulnerability)[1], "Server names its version");
    }

    #[test]
    fn filters_exclude_findings_and_evidence() {
        let mut input = data(GroupBy::Target);
        input.filters.include_info = false;
        input.filters.include_how_to_reproduce = false;
        let document = Document::new(&input).unwrap();
        assert_eq!(document.counts, [1, 0, 0, 0, 0]);
        assert_eq!(first(&document).finding.vuln_evidence, Evidence::default());

        input.filters.include_not_verified = false;
        assert!(Document::new(&input).unwrap().is_empty());
        input.filters.include_all_targets = true;
        assert_eq!(
            Document::new(&input).unwrap().groups.len(),
            3,
            "targets without findings are included on request"
        );
    }

    #[test]
    fn status_filters_exclude_by_default() {
        for (status, included_by_default) in [
            ("open", true),
            ("accepted", true),
            ("fixed", true),
            ("ignored", false),
            ("false_positive", false),
        ] {
            let mut one = data(GroupBy::Target);
            one.findings.truncate(1);
            one.findings[0].finding.status = status.into();
            assert_eq!(
                !Document::new(&one).unwrap().is_empty(),
                included_by_default,
                "{status}"
            );
        }
    }

    #[test]
    fn history_is_included_on_request() {
        let mut input = data(GroupBy::Target);
        assert!(first(&Document::new(&input).unwrap()).history.is_empty());
        input.filters.include_finding_history = true;
        assert_eq!(first(&Document::new(&input).unwrap()).history.len(), 1);
    }
}
