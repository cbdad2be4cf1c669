//! The report as a person reads it: one model for html, pdf, docx and xlsx.
//!
//! ```text
//!   Document ─► cover · summary · contents · chapters of findings · recommendations · appendix
//! ```
//!
//! Chapters and findings are built one at a time while a writer asks for them, so that 20,000 findings need no second copy.
//! All texts are sanitised here: a control character or a direction override reaches no file. Equal data gives equal views.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Document, ReportDecision, ReportFinding, ReportGroup, ReportScan, Standing};
use crate::contract::{EvidenceView, Finding, GroupBy, Risk, Shared, Stamp, Tool};
use crate::text::{self, plural};

/// Names on the cover; more are counted.
const COVER_NAMES: usize = 12;

/// A labelled line. `aside` is of less weight than `value`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fact {
    pub label: &'static str,
    pub value: String,
    pub aside: String,
}

/// Counts by risk, critical first.
pub type RiskCounts = [usize; 5];

/// A row of the summary: findings of one kind by risk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SummaryRow {
    pub label: &'static str,
    pub counts: RiskCounts,
}

impl SummaryRow {
    pub fn total(&self) -> usize {
        self.counts.iter().sum()
    }
}

/// The text blocks of a finding, or of all findings of a chapter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Prose {
    pub facts: Vec<Fact>,
    /// Before the evidence.
    pub paragraphs: Vec<Fact>,
    /// After the evidence; empty if there is none.
    pub recommendation: String,
    pub links: Vec<String>,
    pub other_references: Vec<String>,
}

/// Evidence for a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    #[default]
    Nothing,
    Text(String),
    Table {
        headers: Vec<String>,
        rows: Vec<Vec<String>>,
    },
}

/// The part of the evidence of one finding that a format shows.
#[derive(Clone, Copy, Debug)]
pub struct ProofLimit {
    pub characters: usize,
    pub rows: usize,
}

impl ProofLimit {
    /// No limit.
    pub const ALL: Self = Self { characters: usize::MAX, rows: usize::MAX };
    /// For paged formats: about eight pages.
    pub const PAGES: Self = Self { characters: 20_000, rows: 100 };
}

/// A chapter: a target, or one kind of finding.
#[derive(Clone, Debug)]
pub struct Chapter<'a> {
    /// From 1.
    pub number: usize,
    pub name: String,
    pub counts: RiskCounts,
    /// The texts that all its findings have in common, shown once; empty in chapters of targets.
    pub common: Prose,
    is_common: bool,
    group: &'a ReportGroup,
}

/// A finding.
#[derive(Clone, Debug)]
pub struct FindingEntry {
    /// Chapter and position, such as `2.14`.
    pub number: String,
    pub name: String,
    pub risk: Risk,
    pub prose: Prose,
    pub proof: Proof,
    /// A sentence about evidence beyond the limit; empty if all is shown.
    pub cut: String,
    pub history: Vec<String>,
}

/// The recommendation for one kind of finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Recommendation {
    pub risk: Risk,
    pub name: String,
    pub findings: usize,
    pub targets: usize,
    pub text: String,
}

/// A report in the order of its pages.
#[derive(Clone, Debug)]
pub struct View<'a> {
    pub title: String,
    pub cover: Vec<Fact>,
    /// The headline. Without decisions one row; with decisions the findings that need work, by verdict.
    pub summary: Vec<SummaryRow>,
    /// Findings that need no work, by verdict; empty without decisions.
    pub settled: Vec<Fact>,
    pub contents: Vec<Chapter<'a>>,
    pub recommendations: Vec<Recommendation>,
    document: &'a Document,
}

impl<'a> View<'a> {
    pub fn new(document: &'a Document) -> Self {
        Self {
            title: format!("Findings of {}", text::clean(&document.workspace)),
            cover: cover(document),
            summary: summary(document),
            settled: settled(document),
            contents: document.groups.iter().enumerate().map(|(at, group)| chapter(document, at, group)).collect(),
            recommendations: recommendations(document),
            document,
        }
    }

    /// The heading of the first column of tables of chapters.
    pub fn chapter_noun(&self) -> &'static str {
        if self.document.group_by == GroupBy::Vulnerability { "Finding" } else { "Target" }
    }

    pub fn generated(&self) -> Stamp {
        self.document.generated
    }

    pub fn with_decisions(&self) -> bool {
        self.document.with_decisions
    }

    /// Header row of the appendix.
    pub const SCAN_HEADERS: [&'static str; 8] =
        ["Scan", "Tool", "Target", "Status", "Start", "End", "Tests", "Parameters"];

    /// The scans of the appendix; none when the tool configuration is excluded.
    pub fn scans(&self) -> impl ExactSizeIterator<Item = [String; 8]> + 'a {
        self.document.scans.iter().map(scan)
    }
}

impl<'a> Chapter<'a> {
    /// The findings with their sources, in descending order of risk.
    pub fn entries(&self, limit: ProofLimit) -> impl Iterator<Item = (&'a ReportFinding, FindingEntry)> {
        let (number, is_common) = (self.number, self.is_common);
        self.group
            .findings
            .iter()
            .enumerate()
            .map(move |(at, found)| (found, entry(found, format!("{number}.{}", at + 1), is_common, limit)))
    }

    pub fn len(&self) -> usize {
        self.group.findings.len()
    }

    pub fn is_empty(&self) -> bool {
        self.group.findings.is_empty()
    }
}

/// The label of the risk chart, such as `3 critical`, for readers that do not see it.
pub fn counted(counts: &RiskCounts) -> String {
    let words: Vec<String> = Risk::DOWN.iter().zip(counts).map(|(risk, count)| format!("{count} {risk}")).collect();
    words.join(", ")
}

fn fact(label: &'static str, value: impl Into<String>) -> Fact {
    Fact { label, value: value.into(), aside: String::new() }
}

fn cover(document: &Document) -> Vec<Fact> {
    let mut facts = vec![fact("Workspace", text::clean(&document.workspace))];
    if !document.selection.is_empty() {
        facts.push(fact("Selection", text::clean(&document.selection)));
    }
    facts.push(Fact {
        label: "Scope",
        value: plural(document.scope.len(), "target"),
        aside: listed(document.scope.iter().map(|name| text::clean(name).into_owned())),
    });
    if let Some((first, last)) = document.period {
        let value = if first == last { format!("{first} UTC") } else { format!("{first} to {last} UTC") };
        facts.push(fact("Scanned", value));
    }
    if !document.tools.is_empty() {
        facts.push(fact("Tools", listed(document.tools.iter().map(|tool| tool_name(*tool)))));
    }
    facts.push(fact("Generated", format!("{} UTC", document.generated)));
    let decisions = if document.with_decisions { ", with decisions" } else { ", without decisions" };
    let chapters = format!("grouped by {}{decisions}", document.group_by);
    facts.push(Fact { label: "Findings", value: document.counts.iter().sum::<usize>().to_string(), aside: chapters });
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

fn findings(document: &Document) -> impl Iterator<Item = &ReportFinding> {
    document.groups.iter().flat_map(|group| &group.findings)
}

fn standing(found: &ReportFinding) -> Standing {
    found.decided.as_ref().map(|decided| decided.standing).unwrap_or_default()
}

fn count<'a>(findings: impl Iterator<Item = &'a ReportFinding>) -> RiskCounts {
    let mut counts = [0; 5];
    for found in findings {
        counts[4 - found.risk().level() as usize] += 1;
    }
    counts
}

fn summary(document: &Document) -> Vec<SummaryRow> {
    if !document.with_decisions {
        return vec![SummaryRow { label: "Findings", counts: document.counts }];
    }
    let row = |label, kind| {
        let counts = count(findings(document).filter(|found| standing(found) == kind));
        SummaryRow { label, counts }
    };
    vec![row("Confirmed", Standing::Confirmed), row("Open", Standing::Open)]
}

fn settled(document: &Document) -> Vec<Fact> {
    if !document.with_decisions {
        return Vec::new();
    }
    let of = |label: &'static str, kind: Standing| {
        let mut verdicts: BTreeMap<&str, usize> = BTreeMap::new();
        let all = findings(document).filter_map(|found| found.decided.as_ref()).filter(|one| one.standing == kind);
        for decided in all {
            *verdicts.entry(&decided.verdict).or_default() += 1;
        }
        let total: usize = verdicts.values().sum();
        let each: Vec<String> = verdicts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
        let aside = if kind == Standing::Dismissed { each.join(", ") } else { String::new() };
        Fact { label, value: total.to_string(), aside }
    };
    vec![of("Fixed", Standing::Fixed), of("Dismissed", Standing::Dismissed)]
}

fn chapter<'a>(document: &Document, at: usize, group: &'a ReportGroup) -> Chapter<'a> {
    // The texts of one kind of finding are the same at every target, unless a scanner adds details to them.
    let is_common = document.group_by == GroupBy::Vulnerability
        && group.findings.len() > 1
        && group.findings.windows(2).all(|pair| texts(&pair[0].finding) == texts(&pair[1].finding));
    Chapter {
        number: at + 1,
        name: match text::clean(&group.name) {
            name if name.trim().is_empty() => "(no name)".to_owned(),
            name => name.into_owned(),
        },
        counts: count(group.findings.iter()),
        common: match group.findings.first() {
            Some(found) if is_common => prose(&found.finding),
            _ => Prose::default(),
        },
        is_common,
        group,
    }
}

type Texts<'a> = ([&'a Shared; 7], &'a [Shared], &'a [Shared]);

fn texts(finding: &Finding) -> Texts<'_> {
    let owasp = &finding.owasp;
    let texts = [
        &finding.vuln_description,
        &finding.risk_description,
        &finding.recommendation,
        &finding.cwe,
        &owasp.owasp_2017,
        &owasp.owasp_2021,
        &owasp.owasp_2025,
    ];
    (texts, &finding.cve, &finding.references)
}

/// The texts that describe a kind of finding.
fn prose(finding: &Finding) -> Prose {
    let owasp = &finding.owasp;
    let classes = [&finding.cwe, &owasp.owasp_2025, &owasp.owasp_2021, &owasp.owasp_2017];
    let classes = classes.into_iter().chain(&finding.cve).filter(|class| !class.is_empty());
    let classes: Vec<String> = classes.map(|class| text::clean(class).into_owned()).collect();
    let paragraphs = [("Description", &finding.vuln_description), ("Risk", &finding.risk_description)];
    let paragraphs = paragraphs.into_iter().filter(|(_, given)| !given.trim().is_empty());
    let (links, other_references) = finding
        .references
        .iter()
        .map(|reference| text::clean(reference).into_owned())
        .partition(|reference| reference.starts_with("https://") || reference.starts_with("http://"));
    Prose {
        facts: if classes.is_empty() { Vec::new() } else { vec![fact("Classification", classes.join(" · "))] },
        paragraphs: paragraphs.map(|(label, given)| fact(label, text::clean_text(given.trim()))).collect(),
        recommendation: text::clean_text(finding.recommendation.trim()).into_owned(),
        links,
        other_references,
    }
}

fn entry(found: &ReportFinding, number: String, is_common: bool, limit: ProofLimit) -> FindingEntry {
    let finding = &found.finding;
    let common = if is_common { Prose::default() } else { prose(finding) };
    let mut facts = vec![fact("Target", line(&format!("{} {}", found.target, place(finding))))];
    facts.push(origin(found));
    if let Some(decided) = &found.decided {
        facts.extend(decisions(found, decided));
    }
    facts.extend(common.facts);
    let (proof, cut) = proof(finding.vuln_evidence.view().decoded(), limit);
    let earlier = |old: &super::Earlier| format!("finding {} on {} ({})", old.id, stamp(old.found_at), old.risk);
    FindingEntry {
        number,
        name: match text::clean(&finding.name) {
            name if name.trim().is_empty() => "(no name)".to_owned(),
            name => name.into_owned(),
        },
        risk: found.risk(),
        prose: Prose { facts, ..common },
        proof,
        cut,
        history: found.history.iter().map(earlier).collect(),
    }
}

/// When and by what the finding was found.
fn origin(found: &ReportFinding) -> Fact {
    let is_manual = found.decided.as_ref().is_some_and(|decided| decided.own);
    let by = if is_manual { "manually".to_owned() } else { format!("by {}", tool_name(found.tool)) };
    let value = line(&format!("{} {by}", stamp(found.found_at)));
    let id = if is_manual { String::new() } else { format!("finding {}", found.finding.id) };
    let proven = if found.finding.confirmed { "proven by the response" } else { "" };
    let aside = [id.as_str(), proven].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
    Fact { label: "Found", value, aside }
}

fn decisions(found: &ReportFinding, decided: &ReportDecision) -> Vec<Fact> {
    let clean = |given: &str| text::clean(given).into_owned();
    let mut verdict = clean(&decided.verdict);
    for (before, part) in [(", ", &decided.again), (": ", &decided.reason), (", until ", &decided.until)] {
        if !part.is_empty() {
            verdict += before;
            verdict += &text::clean(part);
        }
    }
    let who =
        if decided.who.is_empty() { String::new() } else { clean(&format!("by {} on {}", decided.who, decided.at)) };
    let mut facts = vec![Fact { label: "Verdict", value: verdict, aside: who }];
    if found.risk() != found.finding.risk_level {
        facts.push(fact("Severity", format!("{}; {} by the scanner", found.risk(), found.finding.risk_level)));
    }
    facts.push(Fact { label: "Now", value: clean(&decided.now), aside: clean(&decided.tags.join(", ")) });
    if let Some(retest) = &decided.retest {
        let at = if retest.at.is_empty() { String::new() } else { format!("; requested on {}", retest.at) };
        let aside = clean(&format!("before: {}{at}", retest.before));
        facts.push(Fact { label: "Retest", value: clean(&retest.now), aside });
    }
    facts.extend(decided.notes.iter().map(|note| Fact {
        label: "Note",
        value: text::clean_text(&note.text).into_owned(),
        aside: clean(&format!("{}, {}", note.who, note.at)),
    }));
    facts
}

/// The full name of a tool; reports have the room.
fn tool_name(tool: Tool) -> String {
    tool.name().map_or_else(|| tool.to_string(), str::to_owned)
}

/// `443/tcp https` without unknown parts.
fn place(finding: &Finding) -> String {
    let protocol = if finding.protocol.is_empty() { "" } else { "/" };
    let port = match finding.port {
        0 => finding.protocol.to_string(),
        port => format!("{port}{protocol}{}", finding.protocol),
    };
    format!("{port} {}", finding.service).trim().to_owned()
}

fn line(given: &str) -> String {
    text::clean(given.trim()).into_owned()
}

fn stamp(at: Option<Stamp>) -> String {
    at.map(|at| at.to_string()).unwrap_or_default()
}

/// The evidence within the limit, and a sentence about the rest.
fn proof(view: EvidenceView, limit: ProofLimit) -> (Proof, String) {
    match view {
        EvidenceView::Nothing => (Proof::Nothing, String::new()),
        EvidenceView::Text(given) => proof_text(&given, limit),
        EvidenceView::Tree(tree) => proof_text(&format!("{tree:#}"), limit),
        EvidenceView::Table { headers, rows } => {
            let mut budget = limit.characters;
            let mut dropped = 0;
            let total = rows.len();
            let mut clean = |cell: &String| {
                let (kept, cut) = within(cell, budget);
                budget -= kept.len().min(budget);
                dropped += cut;
                let mark = if cut > 0 { " […]" } else { "" };
                format!("{}{mark}", text::clean_text(kept))
            };
            let headers: Vec<String> = headers.iter().map(&mut clean).collect();
            let rows: Vec<Vec<String>> =
                rows.iter().take(limit.rows).map(|row| row.iter().map(&mut clean).collect()).collect();
            let hidden = total - rows.len();
            let parts = [(hidden, "more row"), (dropped, "more character")];
            let parts: Vec<String> =
                parts.iter().filter(|(count, _)| *count > 0).map(|(count, noun)| plural(*count, noun)).collect();
            (Proof::Table { headers, rows }, cut(&parts.join(" and ")))
        }
    }
}

fn proof_text(given: &str, limit: ProofLimit) -> (Proof, String) {
    let (kept, dropped) = within(given, limit.characters);
    let rest = if dropped > 0 { plural(dropped, "more character") } else { String::new() };
    (Proof::Text(text::clean_text(kept).into_owned()), cut(&rest))
}

fn cut(rest: &str) -> String {
    if rest.is_empty() { String::new() } else { format!("{rest} in the json, csv and html reports.") }
}

/// The first characters, and the number of the others.
pub(super) fn within(given: &str, characters: usize) -> (&str, usize) {
    match given.char_indices().nth(characters) {
        Some((end, _)) => (&given[..end], given[end..].chars().count()),
        None => (given, 0),
    }
}

fn recommendations(document: &Document) -> Vec<Recommendation> {
    struct Kind<'a> {
        risk: Risk,
        name: &'a str,
        findings: usize,
        targets: BTreeSet<&'a str>,
    }
    let mut kinds: BTreeMap<(&str, &str), Kind<'_>> = BTreeMap::new();
    for found in findings(document) {
        let finding = &found.finding;
        if finding.recommendation.trim().is_empty() || matches!(standing(found), Standing::Fixed | Standing::Dismissed)
        {
            continue;
        }
        let class = if finding.vuln_id.is_empty() { &finding.name } else { &finding.vuln_id };
        let empty = || Kind { risk: Risk::Info, name: &finding.name, findings: 0, targets: BTreeSet::new() };
        let kind = kinds.entry((class, finding.recommendation.trim())).or_insert_with(empty);
        kind.risk = kind.risk.max(found.risk());
        kind.name = kind.name.min(&finding.name);
        kind.findings += 1;
        kind.targets.insert(&found.target);
    }
    let mut all: Vec<Recommendation> = kinds
        .into_iter()
        .map(|((_, given), kind)| Recommendation {
            risk: kind.risk,
            name: line(kind.name),
            findings: kind.findings,
            targets: kind.targets.len(),
            text: text::clean_text(given).into_owned(),
        })
        .collect();
    // The sort is stable, so recommendations of equal weight remain in the order of their class.
    all.sort_by_key(|one| (std::cmp::Reverse(one.risk), std::cmp::Reverse(one.findings)));
    all
}

fn scan(scanned: &ReportScan) -> [String; 8] {
    let ReportScan { scan, target } = scanned;
    [
        scan.id.to_string(),
        tool_name(Tool(scan.tool_id)),
        line(target),
        line(scan.status_name.as_str()),
        stamp(scan.start_time),
        stamp(scan.end_time),
        scan.num_finished_tests.to_string(),
        scan.tool_params.as_ref().map(|params| line(&params.to_string())).unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::tests::{data, decided};
    use super::*;

    #[test]
    fn cover_names_scope_tools_and_period() {
        let mut input = data(GroupBy::Target);
        input.selection = "risk>=low".into();
        let document = Document::new(&input);
        let view = View::new(&document);
        let cover: Vec<(&str, &str, &str)> =
            view.cover.iter().map(|fact| (fact.label, fact.value.as_str(), fact.aside.as_str())).collect();
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
        assert_eq!(listed((0..14).map(|at| at.to_string())), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, and 2 more");
    }

    #[test]
    fn headline_counts_confirmed_and_open_by_risk_and_the_others_apart() {
        let mut input = decided();
        let verdicts = [("confirmed", Standing::Confirmed), ("false positive", Standing::Dismissed)];
        for (found, (verdict, standing)) in input.findings.iter_mut().zip(verdicts) {
            found.decided = Some(ReportDecision { verdict: verdict.into(), standing, ..ReportDecision::default() });
        }
        let document = Document::new(&input);
        let view = View::new(&document);
        let rows: Vec<(&str, RiskCounts)> = view.summary.iter().map(|row| (row.label, row.counts)).collect();
        assert_eq!(rows, [("Confirmed", [0, 0, 0, 0, 1]), ("Open", [0, 0, 0, 0, 1])]);
        let settled: Vec<_> = view.settled.iter().map(|fact| (fact.label, &*fact.value, &*fact.aside)).collect();
        assert_eq!(settled, [("Fixed", "0", ""), ("Dismissed", "1", "1 false positive")]);
        assert_eq!(counted(&view.summary[0].counts), "0 critical, 0 high, 0 medium, 0 low, 1 info");
    }

    #[test]
    fn texts_common_to_a_chapter_are_shown_once() {
        let mut input = data(GroupBy::Vulnerability);
        for found in &mut input.findings {
            found.finding.vuln_description = "The header names the product.".into();
        }
        let texts = |input: &super::super::ReportData| {
            let document = Document::new(input);
            let view = View::new(&document);
            let chapter = &view.contents[1];
            let own: usize = chapter.entries(ProofLimit::ALL).map(|(_, entry)| entry.prose.paragraphs.len()).sum();
            (chapter.len(), chapter.common.paragraphs.len(), own)
        };
        assert_eq!(texts(&input), (2, 1, 0));
        input.findings[0].finding.vuln_description = "Another text.".into();
        assert_eq!(texts(&input), (2, 0, 2));
    }

    #[test]
    fn recommendations_are_listed_once_per_kind_and_omit_settled_findings() {
        let mut input = decided();
        for found in &mut input.findings {
            found.finding.recommendation = "Hide it.".into();
        }
        let document = Document::new(&input);
        let all = View::new(&document).recommendations;
        assert_eq!(all.len(), 2, "{all:?}");
        assert_eq!((all[0].risk, all[0].findings), (Risk::Low, 1), "the severity override counts");
        assert_eq!((&*all[1].name, all[1].findings, all[1].targets), ("Server names its version", 2, 2));
        input.findings[1].decided.as_mut().unwrap().standing = Standing::Fixed;
        assert_eq!(View::new(&Document::new(&input)).recommendations.len(), 1);
    }

    #[test]
    fn long_evidence_is_cut_with_a_mark() {
        let limit = ProofLimit { characters: 10, rows: 2 };
        let table = EvidenceView::Table {
            headers: vec!["Name".into()],
            rows: vec![vec!["123456789".into()], vec!["x".into()], vec!["y".into()]],
        };
        let (proof, cut) = proof(table, limit);
        let rows = vec![vec!["123456 […]".to_owned()], vec![" […]".to_owned()]];
        assert_eq!(proof, Proof::Table { headers: vec!["Name".into()], rows });
        assert_eq!(cut, "1 more row and 4 more characters in the json, csv and html reports.");
        assert_eq!(proof_text("é".repeat(11).as_str(), limit).1, "1 more character in the json, csv and html reports.");
        assert_eq!(proof_text("short", limit), (Proof::Text("short".into()), String::new()));
    }
}
