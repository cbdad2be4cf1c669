//! The part of a report about all findings together: cover, headline, trend, recommendations,
//! scans.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::entry::signals;
use super::recommendation::action_of;
use super::scope::present;
use super::{Fact, RiskCounts, SummaryRow, day, fact, line, stamp};
use crate::arrange::{Urgency, class_of, place_of};
use crate::options::ReportVerdict;
use crate::template::ReportTemplate;
use crate::words::Words;
use crate::{Document, RenderError, ReportFinding, ReportScan, Standing};
use scandeck_wire::contract::{Risk, Tool};
use scandeck_wire::text::{clean_for_print as clean, clean_text_for_print as clean_text};

/// Names on the cover; more are counted.
const COVER_NAMES: usize = 12;

/// A recommendation, with the kinds of findings that it removes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Recommendation {
    pub risk: Risk,
    /// The kinds of findings, the highest risk first.
    pub names: Vec<String>,
    /// `KEV · EPSS 93 %` of its most urgent finding.
    pub signals: String,
    /// The findings that it removes.
    pub counts: RiskCounts,
    pub findings: usize,
    pub targets: usize,
    pub text: String,
}

impl Recommendation {
    /// `2 high, 1 low`
    pub fn removes(&self, words: &Words) -> String {
        present(&self.counts, words)
    }

    /// `2 high, 1 low on 2 targets`; the places too, if it removes several kinds of findings.
    pub fn effect(&self, words: &Words) -> String {
        let removes = self.removes(words);
        let targets = words.count(self.targets, "noun.target");
        match self.names.len() {
            0 | 1 => words.filled("text.removes", &[&removes, &targets]),
            _ => {
                let places = words.count(self.findings, "noun.place");
                words.filled("text.removes_places", &[&removes, &places, &targets])
            }
        }
    }
}

/// A kind of finding that attackers are known to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExploitedKind {
    pub risk: Risk,
    pub name: String,
    pub cves: String,
    pub signals: String,
    pub places: usize,
}

pub(super) fn cover(document: &Document<'_>, template: &ReportTemplate) -> Vec<Fact> {
    let words = &document.words;
    let mut facts = Vec::new();
    let mut add = |label: &str, value: &str| {
        if !value.trim().is_empty() {
            facts.push(fact(words.get(label), line(value)));
        }
    };
    add("fact.client", &template.client);
    add("fact.workspace", &document.workspace);
    match template.date.trim() {
        "" => add("fact.date", &day(document.generated)),
        date => add("fact.date", date),
    }
    add("fact.version", &template.version);
    add("fact.author", &template.author);
    add("fact.contact", &template.contact);
    add("fact.document_class", &template.classification);
    facts.push(Fact {
        label: words.get("fact.scope").to_owned(),
        value: words.count(document.scope.len(), "noun.target"),
        aside: listed(
            document.scope.iter().map(|name| clean(name).into_owned()),
            words,
        ),
        is_strong: false,
    });
    if let Some((first, last)) = document.period {
        let [first, last] = [first, last].map(|at| at.to_string());
        let value = match first == last {
            true => format!("{first} UTC"),
            false => words.filled("text.period", &[&first, &last]),
        };
        facts.push(fact(words.get("fact.scanned"), value));
    }
    if !document.tools.is_empty() {
        let tools = document.tools.iter().map(|tool| tool.full_name());
        facts.push(fact(words.get("fact.tools"), listed(tools, words)));
    }
    facts.push(Fact {
        label: words.get("fact.findings").to_owned(),
        value: document.counts.iter().sum::<usize>().to_string(),
        aside: present(&document.counts, words),
        is_strong: false,
    });
    facts
}

/// The first names, and how many more there are.
fn listed(names: impl ExactSizeIterator<Item = String>, words: &Words) -> String {
    let more = names.len().saturating_sub(COVER_NAMES);
    let mut shown: Vec<String> = names.take(COVER_NAMES).collect();
    if more > 0 {
        shown.push(words.filled("text.and_more", &[&more.to_string()]));
    }
    shown.join(", ")
}

/// Counts over all findings, made in one pass over them.
#[derive(Default)]
pub(super) struct ReportTally {
    standings: BTreeMap<Standing, RiskCounts>,
    dismissed: BTreeMap<String, usize>,
    /// By what they ask for.
    actions: BTreeMap<String, TalliedAction>,
    exploited: BTreeMap<String, ExploitedKind>,
    /// Findings that need work, by presence.
    presences: BTreeMap<String, usize>,
    pub targets: BTreeMap<String, RiskCounts>,
}

/// Findings with the same recommendation.
struct TalliedAction {
    text: String,
    urgency: Urgency,
    signals: String,
    kinds: BTreeMap<String, TalliedKind>,
    counts: RiskCounts,
    targets: BTreeSet<String>,
}

/// Findings of one kind with the same recommendation.
struct TalliedKind {
    risk: Risk,
    name: String,
}

impl TalliedAction {
    fn recommendation(self) -> Recommendation {
        let mut kinds: Vec<TalliedKind> = self.kinds.into_values().collect();
        kinds.sort_by(|one, other| {
            let by_risk = other.risk.cmp(&one.risk);
            by_risk.then_with(|| one.name.cmp(&other.name))
        });
        let risk = kinds.first().map_or(Risk::Info, |kind| kind.risk);
        let mut names: Vec<String> = kinds.iter().map(|kind| line(&kind.name)).collect();
        // Scanners have several classes of one name.
        let mut seen = BTreeSet::new();
        names.retain(|name| seen.insert(name.clone()));
        Recommendation {
            risk,
            names,
            signals: self.signals,
            counts: self.counts,
            findings: self.counts.iter().sum(),
            targets: self.targets.len(),
            text: clean_text(&self.text).into_owned(),
        }
    }
}

impl TalliedKind {
    /// Findings of one kind can have names such as `Open port: 22/tcp ssh`, which share the part
    /// before the colon.
    fn share_name(&mut self, name: &str) {
        if name == self.name {
            return;
        }
        let shared = class_of(&self.name);
        if class_of(name) == shared {
            self.name = shared.to_owned();
        } else if name < self.name.as_str() {
            self.name = name.to_owned();
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
        self.standings.entry(standing).or_default()[place_of(found.risk())] += 1;
        if let Some(decided) = decided.filter(|_| standing == Standing::Dismissed) {
            *self.dismissed.entry(decided.verdict.clone()).or_default() += 1;
        }
        if !matches!(standing, Standing::Confirmed | Standing::Open) {
            return;
        }
        if !self.targets.contains_key(&found.target) {
            let target = found.target.clone();
            self.targets.insert(target, RiskCounts::default());
        }
        if let Some(counts) = self.targets.get_mut(&found.target) {
            counts[place_of(found.risk())] += 1;
        }
        if let Some(decided) = decided.filter(|decided| !decided.own) {
            *self.presences.entry(decided.now.clone()).or_default() += 1;
        }
        if found.finding.in_cisa_catalog {
            self.add_exploited(found);
        }
        self.add_recommendation(found);
    }

    fn add_exploited(&mut self, found: &ReportFinding) {
        let finding = &found.finding;
        let kind = self
            .exploited
            .entry(finding.name.to_string())
            .or_insert_with(|| ExploitedKind {
                risk: Risk::Info,
                name: line(&finding.name),
                cves: line(&finding.cve.join(", ")),
                signals: signals(finding),
                places: 0,
            });
        kind.risk = kind.risk.max(found.risk());
        kind.places += 1;
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
        let action = self
            .actions
            .entry(action_of(given))
            .or_insert_with(|| TalliedAction {
                text: given.to_owned(),
                urgency: Urgency::default(),
                signals: signals(finding),
                kinds: BTreeMap::new(),
                counts: RiskCounts::default(),
                targets: BTreeSet::new(),
            });
        let urgency = Urgency::of(finding);
        if urgency > action.urgency {
            action.urgency = urgency;
            action.signals = signals(finding);
        }
        action.counts[place_of(found.risk())] += 1;
        if !action.targets.contains(&found.target) {
            action.targets.insert(found.target.clone());
        }
        let kind = action
            .kinds
            .entry(class.to_string())
            .or_insert_with(|| TalliedKind {
                risk: Risk::Info,
                name: finding.name.to_string(),
            });
        kind.risk = kind.risk.max(found.risk());
        kind.share_name(&finding.name);
    }

    fn counts(&self, standing: Standing) -> RiskCounts {
        self.standings.get(&standing).copied().unwrap_or_default()
    }

    /// The headline. Without decisions one row; with decisions the present findings that need work,
    /// by verdict, without empty rows.
    pub fn summary(&self, document: &Document<'_>) -> Vec<SummaryRow> {
        let words = &document.words;
        let row = |label, counts| SummaryRow {
            label: words.get(label).to_owned(),
            counts,
        };
        if !document.with_decisions {
            return vec![row("fact.findings", document.counts)];
        }
        let mut rows = vec![
            row("fact.confirmed", self.counts(Standing::Confirmed)),
            row("fact.open", self.counts(Standing::Open)),
        ];
        rows.retain(|row| row.total() > 0);
        if rows.is_empty() {
            rows.push(row("fact.findings", RiskCounts::default()));
        }
        rows
    }

    /// Findings that need no work, by verdict, without the verdicts that the report does not have.
    pub fn settled(&self, document: &Document<'_>) -> Vec<Fact> {
        let words = &document.words;
        let settled = |label: &str, standing, aside: String| Fact {
            label: words.get(label).to_owned(),
            value: self.counts(standing).iter().sum::<usize>().to_string(),
            aside,
            is_strong: false,
        };
        let dismissed = self.dismissed.iter();
        let dismissed: Vec<String> = dismissed
            .map(|(verdict, count)| format!("{count} {}", clean(verdict)))
            .collect();
        let absent = words.get("text.absent").to_owned();
        let mut facts = vec![
            settled("fact.absent", Standing::Absent, absent),
            settled("fact.fixed", Standing::Fixed, String::new()),
            settled("fact.dismissed", Standing::Dismissed, dismissed.join(", ")),
        ];
        facts.retain(|fact| fact.value != "0");
        facts
    }

    /// What changed between the last scans of each target.
    pub fn trend(&self, document: &Document<'_>) -> Vec<Fact> {
        let words = &document.words;
        let now = |names: &[&str]| -> usize {
            let counts = names.iter().filter_map(|name| self.presences.get(*name));
            counts.sum()
        };
        let excluded = |verdict| document.excluded.get(&verdict).copied().unwrap_or(0);
        let sum = |standing| self.counts(standing).iter().sum::<usize>();
        let known = now(&["unchanged", "changed", "reappeared"]);
        let gone = sum(Standing::Absent) + excluded(ReportVerdict::Absent);
        let fixed = sum(Standing::Fixed) + excluded(ReportVerdict::Fixed);
        // After the first scan of everything, all findings are new.
        if known + gone + fixed == 0 {
            return Vec::new();
        }
        let rows = [
            ("fact.new", now(&["new"])),
            ("fact.reappeared", now(&["reappeared"])),
            ("fact.unchanged", now(&["unchanged", "changed"])),
            ("fact.no_longer_found", gone),
            ("fact.fixed", fixed),
        ];
        let rows = rows.into_iter().filter(|(_, count)| *count > 0);
        rows.map(|(label, count)| fact(words.get(label), count.to_string()))
            .collect()
    }

    /// The kinds of findings that attackers are known to use, by risk.
    pub fn exploited(&self) -> Vec<ExploitedKind> {
        let mut all: Vec<ExploitedKind> = self.exploited.values().cloned().collect();
        all.sort_by_key(|kind| (Reverse(kind.risk), Reverse(kind.places)));
        all
    }

    /// By effect: those that end known exploitation first, then those that remove the most findings
    /// of the highest risk.
    pub fn recommendations(self) -> Vec<Recommendation> {
        let mut all: Vec<(Urgency, Recommendation)> = self
            .actions
            .into_values()
            .map(|action| (action.urgency, action.recommendation()))
            .collect();
        // The sort is stable, so recommendations of equal effect remain in the order of their
        // texts.
        all.sort_by_key(|(urgency, one)| {
            (
                Reverse(urgency.is_exploited()),
                Reverse(one.counts),
                Reverse(*urgency),
            )
        });
        all.into_iter().map(|(_, one)| one).collect()
    }
}

pub(super) fn scan(scanned: &ReportScan) -> [String; 8] {
    let ReportScan { scan, target } = scanned;
    [
        scan.id.to_string(),
        Tool(scan.tool_id).full_name(),
        line(target),
        line(scan.shown_status()),
        stamp(scan.start_time),
        stamp(scan.end_time),
        match (scan.is_incomplete(), scan.num_finished_tests) {
            (true, done) => format!("{done} of {}", scan.num_tests),
            // An imported file does not name its tests.
            (false, 0) if scan.num_tests == 0 => String::new(),
            (false, done) => done.to_string(),
        },
        scan.tool_params
            .as_ref()
            .map(parameters)
            .unwrap_or_default(),
    ]
}

/// `scan_type: light, ports: 22` without values that are not set; the name of an imported file.
fn parameters(params: &serde_json::Value) -> String {
    let Some(fields) = params.as_object() else {
        return line(&params.to_string());
    };
    let set = fields.iter().filter(|(_, value)| {
        !value.is_null() && **value != "" && !value.as_array().is_some_and(Vec::is_empty)
    });
    let pair = |(name, value): (&String, &serde_json::Value)| {
        let file = value.get("file").filter(|_| name == "import");
        match file.unwrap_or(value).as_str() {
            Some(text) => format!("{name}: {text}"),
            None => format!("{name}: {value}"),
        }
    };
    line(&set.map(pair).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::{View, counted};
    use super::*;
    use crate::ReportDecision;
    use crate::options::{ChapterKind, ReportOptions};
    use crate::tests::{data, decided};

    #[test]
    fn cover_names_scope_tools_and_period() {
        let mut input = data(ChapterKind::Target);
        input.selection = "risk>=low".into();
        let document = Document::new(&input).unwrap();
        let view = View::new(&document).unwrap();
        let cover: Vec<(&str, &str, &str)> = view
            .cover
            .iter()
            .map(|fact| (&*fact.label, &*fact.value, &*fact.aside))
            .collect();
        assert_eq!(
            cover,
            [
                ("Workspace", "Acme <external>", ""),
                ("Date", "2026-11-21", ""),
                ("Scope", "3 targets", "api.test, quiet.test, shop.test"),
                ("Scanned", "2026-11-20 10:00:00 UTC", ""),
                ("Tools", "Website Scanner", ""),
                ("Findings", "3", "1 critical, 2 info"),
            ],
            "a query is nothing for the reader"
        );
        let manual = ReportDecision {
            own: true,
            ..ReportDecision::default()
        };
        input.findings[0].decided = Some(manual);
        input.findings[0].found_at = scandeck_wire::contract::Stamp::parse("2026-11-21 08:00:00");
        let scanned: Vec<Fact> = super::cover(&Document::new(&input).unwrap(), &input.template);
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
            listed((0..14).map(|at| at.to_string()), &Words::of("en").unwrap()),
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
        input.options = ReportOptions::everything();
        let document = Document::new(&input).unwrap();
        let view = View::new(&document).unwrap();
        let rows: Vec<(&str, RiskCounts)> = view
            .summary
            .iter()
            .map(|row| (&*row.label, row.counts))
            .collect();
        assert_eq!(
            rows,
            [("Confirmed", [0, 0, 0, 0, 1]), ("Open", [0, 0, 0, 0, 1])]
        );
        let settled: Vec<_> = view
            .settled
            .iter()
            .map(|fact| (&*fact.label, &*fact.value, &*fact.aside))
            .collect();
        assert_eq!(settled, [("Dismissed", "1", "1 false positive")]);
        assert_eq!(
            counted(&view.summary[0].counts, &document.words),
            "0 critical, 0 high, 0 medium, 0 low, 1 info"
        );
    }

    #[test]
    fn recommendations_that_ask_for_the_same_are_one() {
        let mut input = decided();
        for (found, text) in input
            .findings
            .iter_mut()
            .zip(["Hide it.", "hide\n it", "Hide it."])
        {
            found.finding.recommendation = text.into();
        }
        let document = Document::new(&input).unwrap();
        let all = View::new(&document).unwrap().recommendations;
        assert_eq!(all.len(), 1, "{all:?}");
        let worst = "=cmd|'/C calc'!A0<script>x</script>";
        assert_eq!(all[0].names, [worst, "Server names its version"]);
        assert_eq!(all[0].risk, Risk::Low);
        assert_eq!(
            all[0].effect(&document.words),
            "1 low, 2 info: 3 places on 2 targets"
        );
    }

    #[test]
    fn recommendations_are_listed_once_per_kind_and_omit_settled_findings() {
        let mut input = decided();
        for (found, text) in input
            .findings
            .iter_mut()
            .zip(["Hide it.", "Change it.", "Hide it."])
        {
            found.finding.recommendation = text.into();
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
            (&*all[1].names[0], all[1].findings, all[1].targets),
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
            .flat_map(|one| one.names.clone())
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

    #[test]
    fn recommendations_are_sorted_by_effect_with_known_exploited_ones_first() {
        let mut input = data(ChapterKind::Class);
        for (found, name) in input.findings.iter_mut().zip(["a", "b", "c"]) {
            found.finding.recommendation = name.into();
            found.finding.vuln_id = name.into();
        }
        input.findings[2].finding.in_cisa_catalog = true;
        input.findings[2].finding.epss_score = Some(0.934);
        let document = Document::new(&input).unwrap();
        let view = View::new(&document).unwrap();
        let order: Vec<&str> = view.recommendations.iter().map(|one| &*one.text).collect();
        assert_eq!(order, ["c", "b", "a"]);
        let first = &view.recommendations[0];
        assert_eq!(first.signals, "KEV · EPSS 93 %");
        assert_eq!(first.removes(&document.words), "1 info");
        assert_eq!(view.exploited.len(), 1);
    }

    #[test]
    fn scan_of_an_imported_file_has_the_name_of_the_file_only() {
        let mut input = data(ChapterKind::Class);
        let imported = serde_json::json!({
            "import": {"id": 7, "file": "nuclei.jsonl", "digest": "a0cb", "imported_by": "ann"},
        });
        let scanned = &mut input.scans[0];
        scanned.scan.tool_params = Some(imported);
        (scanned.scan.num_tests, scanned.scan.num_finished_tests) = (0, 0);
        let [.., tests, params] = scan(scanned);
        assert_eq!([&*tests, &*params], ["", "import: nuclei.jsonl"]);
    }

    #[test]
    fn trend_counts_changes_since_the_previous_scans() {
        let mut input = decided();
        input.options = ReportOptions::default();
        let changes = [
            ("new", Standing::Open),
            ("unchanged", Standing::Confirmed),
            ("absent", Standing::Absent),
        ];
        for (found, (now, standing)) in input.findings.iter_mut().zip(changes) {
            let now = now.into();
            found.decided = Some(ReportDecision {
                now,
                standing,
                ..ReportDecision::default()
            });
        }
        let trend = |input: &crate::ReportData| {
            let document = Document::new(input).unwrap();
            let trend = View::new(&document).unwrap().trend;
            trend
                .into_iter()
                .map(|fact| format!("{} {}", fact.label, fact.value))
                .collect::<Vec<_>>()
        };
        let says_new = |input: &crate::ReportData| {
            let document = Document::new(input).unwrap();
            let view = View::new(&document).unwrap();
            let chapters = view.contents.iter();
            let mut entries =
                chapters.flat_map(|chapter| chapter.entries(crate::view::ProofLimit::NOTHING, 0));
            entries.any(|one| {
                let (_, entry) = one.unwrap();
                let mut facts = entry.facts.iter();
                facts.any(|fact| (&*fact.label, &*fact.value) == ("Change", "new"))
            })
        };
        assert_eq!(trend(&input), ["New 1", "Unchanged 1", "No longer found 1"]);
        assert!(says_new(&input));
        input.findings.truncate(1);
        assert!(trend(&input).is_empty(), "everything is new");
        assert!(!says_new(&input));
    }
}
