//! Arranges the findings of a report: filters, groups and sorts them. Only their order is kept; the
//! order of the parts of a report is in `flow`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::options::{ChapterKind, EvidenceDetail, ReportOptions, ReportTraits, ReportVerdict};
use super::template::ReportTemplate;
use super::words::Words;
use super::{FindingSource, RenderError, ReportData, ReportFinding, ReportScan};
use scandeck_wire::contract::{Evidence, Finding, Risk, Shared, Stamp, Tool};

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
    pub options: ReportOptions,
    pub template: ReportTemplate,
    pub words: Words,
    /// In descending order of risk.
    pub groups: Vec<ReportGroup>,
    /// Whether the report contains decisions.
    pub with_decisions: bool,
    /// The number of findings by risk, critical first.
    pub counts: [usize; 5],
    /// Findings that the options exclude, by verdict.
    pub excluded: BTreeMap<ReportVerdict, usize>,
    pub scans: Vec<ReportScan>,
    source: &'a dyn FindingSource,
}

/// A chapter: the findings of a target, of one kind, or of one risk.
#[derive(Clone, Debug, Default)]
pub struct ReportGroup {
    pub name: String,
    /// The number of findings by risk, critical first.
    pub counts: [usize; 5],
    pub is_exploited: bool,
    /// Which texts all findings have in common.
    pub common: CommonTexts,
    /// The positions of the findings in their source, in descending order of risk.
    positions: Vec<usize>,
}

/// The texts that are equal for all findings of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommonTexts {
    pub description: bool,
    pub impact: bool,
    pub recommendation: bool,
    /// Classes and references.
    pub classes: bool,
}

impl ReportGroup {
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// The highest risk; none without findings.
    pub fn risk(&self) -> Option<Risk> {
        let mut risks = Risk::DOWN.into_iter().zip(self.counts);
        risks.find(|(_, count)| *count > 0).map(|(risk, _)| risk)
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
    /// When the findings cannot be read, or the template names an unknown language.
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
            options: data.options.clone(),
            template: data.template.clone(),
            words: Words::of(&data.template.language)?,
            groups: groups(arranging.groups),
            with_decisions: data.with_decisions,
            counts: arranging.counts,
            excluded: arranging.excluded,
            scans: data.scans.clone(),
            source,
        })
    }

    /// Whether the options exclude everything; such a report of the service has no document (204).
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
                .map(|found| Ok(trim(&self.options, found)))
                .chain(error.map(Err))
        })
    }
}

/// The place of a finding in the report.
struct PlacedFinding {
    position: usize,
    risk: Risk,
    urgency: Urgency,
    name: Shared,
    target: Shared,
    texts: TextHashes,
}

/// The order of findings of equal risk: known exploited ones first, then by the probability of
/// exploitation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Urgency {
    is_exploited: bool,
    /// EPSS in millionths.
    probability: u32,
}

impl Urgency {
    pub fn is_exploited(self) -> bool {
        self.is_exploited
    }

    pub fn of(finding: &Finding) -> Self {
        let probability = finding.epss_score.unwrap_or(0.0).clamp(0.0, 1.0) * 1e6;
        Self {
            is_exploited: finding.in_cisa_catalog,
            probability: probability as u32,
        }
    }
}

/// Hashes of the texts that describe a kind of finding.
#[derive(Clone, Copy, PartialEq, Eq)]
struct TextHashes {
    description: u64,
    impact: u64,
    recommendation: u64,
    classes: u64,
}

/// A group before its findings are sorted: the class of the service separates kinds of one name.
type GroupKey = (String, Shared);

/// The parts of the report from the findings read so far.
struct Arranging {
    scope: BTreeSet<String>,
    tools: BTreeSet<i64>,
    period: Option<(Stamp, Stamp)>,
    counts: [usize; 5],
    excluded: BTreeMap<ReportVerdict, usize>,
    groups: BTreeMap<GroupKey, Vec<PlacedFinding>>,
}

impl Arranging {
    fn new(data: &ReportData) -> Self {
        let mut groups = BTreeMap::new();
        if data.options.group_by == ChapterKind::Target && data.options.empty_targets {
            let empty = |name: &String| ((name.clone(), Shared::default()), Vec::new());
            groups.extend(data.targets.iter().map(empty));
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
            excluded: BTreeMap::new(),
            groups,
        }
    }

    fn add(&mut self, data: &ReportData, position: usize, found: &ReportFinding) {
        let traits = ReportTraits::of(found);
        if !data.options.verdicts.contains(&traits.verdict) {
            *self.excluded.entry(traits.verdict).or_default() += 1;
            return;
        }
        if !data.options.includes(traits) {
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
        let placed = PlacedFinding {
            position,
            risk: found.risk(),
            urgency: Urgency::of(&found.finding),
            name: found.finding.name.clone(),
            target: found.target.as_str().into(),
            texts: texts(&found.finding),
        };
        let key = key(data.options.group_by, found);
        self.groups.entry(key).or_default().push(placed);
    }
}

fn key(by: ChapterKind, found: &ReportFinding) -> GroupKey {
    match by {
        ChapterKind::Target => (found.target.clone(), Shared::default()),
        ChapterKind::Risk => (found.risk().as_str().to_owned(), Shared::default()),
        ChapterKind::Class => {
            let finding = &found.finding;
            (class_of(&finding.name).to_owned(), finding.vuln_id.clone())
        }
    }
}

/// The kind in a name such as `Open port: 22/tcp ssh`, which ends with details of the place.
pub fn class_of(name: &str) -> &str {
    name.split_once(": ").map_or(name, |(class, _)| class)
}

/// The place of a risk in counts, critical first.
pub fn place_of(risk: Risk) -> usize {
    4 - risk.level() as usize
}

fn extended(period: Option<(Stamp, Stamp)>, at: Stamp) -> Option<(Stamp, Stamp)> {
    Some(period.map_or((at, at), |(first, last)| (first.min(at), last.max(at))))
}

fn hashed(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn texts(finding: &Finding) -> TextHashes {
    let owasp = &finding.owasp;
    TextHashes {
        description: hashed(&finding.vuln_description),
        impact: hashed(&finding.risk_description),
        recommendation: hashed(&finding.recommendation),
        classes: hashed((&finding.cwe, owasp, &finding.cve, &finding.references)),
    }
}

/// Removes the excluded parts of a finding.
fn trim(options: &ReportOptions, mut found: ReportFinding) -> ReportFinding {
    if options.evidence == EvidenceDetail::None {
        found.finding.vuln_evidence = Evidence::default();
    }
    if !options.history {
        found.history.clear();
    }
    if let Some(decided) = &mut found.decided {
        if !options.history {
            decided.absences.clear();
        }
        if !options.notes {
            decided.notes.clear();
            decided.tags.clear();
        }
    }
    found
}

fn groups(by_key: BTreeMap<GroupKey, Vec<PlacedFinding>>) -> Vec<ReportGroup> {
    let mut groups: Vec<(Urgency, ReportGroup)> = by_key.into_iter().map(group).collect();
    // The sort is stable, so groups of equal risk remain sorted by name.
    groups.sort_by_key(|(urgency, group)| (Reverse(group.risk()), Reverse(*urgency)));
    groups.into_iter().map(|(_, group)| group).collect()
}

/// A group, and the urgency of its findings of the highest risk.
fn group((key, mut placed): (GroupKey, Vec<PlacedFinding>)) -> (Urgency, ReportGroup) {
    placed.sort_by(|a, b| {
        (b.risk, b.urgency, &a.name, &a.target, a.position)
            .cmp(&(a.risk, a.urgency, &b.name, &b.target, b.position))
    });
    let mut counts = [0; 5];
    for one in &placed {
        counts[place_of(one.risk)] += 1;
    }
    let first = placed.first();
    let is_common = |text: fn(&TextHashes) -> u64| {
        let texts = first.map(|one| text(&one.texts));
        placed.iter().all(|one| Some(text(&one.texts)) == texts)
    };
    let group = ReportGroup {
        counts,
        is_exploited: placed.iter().any(|one| one.urgency.is_exploited),
        common: CommonTexts {
            description: is_common(|texts| texts.description),
            impact: is_common(|texts| texts.impact),
            recommendation: is_common(|texts| texts.recommendation),
            classes: is_common(|texts| texts.classes),
        },
        name: name(key.0, &placed),
        positions: placed.iter().map(|one| one.position).collect(),
    };
    (first.map(|one| one.urgency).unwrap_or_default(), group)
}

/// The whole name that all findings of a class share, else the name of the class.
fn name(key: String, placed: &[PlacedFinding]) -> String {
    let (Some(first), Some(last)) = (placed.first(), placed.last()) else {
        return key;
    };
    let is_class = class_of(&first.name) == key && class_of(&last.name) == key;
    match is_class && placed.iter().all(|one| one.name == first.name) {
        true => first.name.to_string(),
        false => key,
    }
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

    fn names(data: &ReportData) -> Vec<String> {
        let groups = Document::new(data).unwrap().groups;
        groups.into_iter().map(|group| group.name).collect()
    }

    #[test]
    fn groups_are_sorted_by_risk_in_every_grouping() {
        let of = |by| names(&data(by));
        assert_eq!(of(ChapterKind::Target), ["shop.test", "api.test"]);
        assert_eq!(of(ChapterKind::Class)[1], "Server names its version");
        assert_eq!(of(ChapterKind::Risk), ["critical", "info"]);
    }

    #[test]
    fn findings_of_a_class_share_a_chapter_whatever_their_place() {
        let mut input = data(ChapterKind::Class);
        let ports = [
            "Open port: 22/tcp ssh",
            "Open port: 80/tcp http",
            "Open port: 22/tcp ssh",
        ];
        for (found, name) in input.findings.iter_mut().zip(ports) {
            found.finding.name = name.into();
            found.finding.vuln_id = "port".into();
        }
        assert_eq!(names(&input), ["Open port"]);
        input.findings.remove(1);
        assert_eq!(names(&input), ["Open port: 22/tcp ssh"]);
        input.findings[0].finding.vuln_id = "other".into();
        assert_eq!(names(&input).len(), 2, "another class of the same name");
    }

    #[test]
    fn known_exploited_findings_come_first_among_those_of_equal_risk() {
        let mut input = data(ChapterKind::Target);
        for found in &mut input.findings {
            found.finding.risk_level = Risk::High;
            found.target = "shop.test".into();
        }
        input.findings[1].finding.epss_score = Some(0.9);
        input.findings[2].finding.in_cisa_catalog = true;
        let document = Document::new(&input).unwrap();
        let ids: Vec<i64> = document
            .findings(&document.groups[0], 0)
            .map(|found| found.unwrap().finding.id.0)
            .collect();
        assert_eq!(ids, [3, 2, 1]);
    }

    #[test]
    fn options_exclude_findings_and_evidence() {
        let mut input = data(ChapterKind::Target);
        input.options.info = false;
        input.options.evidence = EvidenceDetail::None;
        let document = Document::new(&input).unwrap();
        assert_eq!(document.counts, [1, 0, 0, 0, 0]);
        assert_eq!(first(&document).finding.vuln_evidence, Evidence::default());

        input.options.unverified = false;
        assert!(Document::new(&input).unwrap().is_empty());
        input.options.empty_targets = true;
        assert_eq!(
            Document::new(&input).unwrap().groups.len(),
            3,
            "targets without findings are included on request"
        );
    }

    #[test]
    fn status_of_the_service_selects_findings() {
        for (status, included_by_default) in [
            ("open", true),
            ("accepted", true),
            ("fixed", true),
            ("ignored", false),
            ("false_positive", false),
        ] {
            let mut one = data(ChapterKind::Target);
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
    fn report_for_a_customer_has_confirmed_and_open_findings_without_notes() {
        let mut input = crate::tests::decided();
        let decided = input.findings[1].decided.clone().unwrap();
        let verdicts = ["risk accepted", "false positive", "duplicate"];
        for (found, verdict) in input.findings.iter_mut().zip(verdicts) {
            let verdict = verdict.into();
            let standing = crate::Standing::Dismissed;
            found.decided = Some(crate::ReportDecision {
                verdict,
                standing,
                ..decided.clone()
            });
        }
        input.options = ReportOptions::default();
        let document = Document::new(&input).unwrap();
        assert!(document.is_empty());
        assert_eq!(document.excluded.len(), 3, "{:?}", document.excluded);

        input.options.verdicts.insert(ReportVerdict::RiskAccepted);
        let document = Document::new(&input).unwrap();
        let decided = first(&document).decided.unwrap();
        assert_eq!(decided.verdict, "risk accepted");
        assert!(decided.notes.is_empty() && decided.tags.is_empty());
    }

    #[test]
    fn history_is_included_on_request() {
        let mut input = data(ChapterKind::Target);
        input.options.history = false;
        assert!(first(&Document::new(&input).unwrap()).history.is_empty());
        input.options.history = true;
        assert_eq!(first(&Document::new(&input).unwrap()).history.len(), 1);
    }
}
