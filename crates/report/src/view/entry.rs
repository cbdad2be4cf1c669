//! A finding for a person: its facts, texts, evidence and decisions. Ids are in the appendix only.

use super::proof::{Proof, ProofLimit, evidence, proof};
use super::reflow::reflowed;
use super::{Fact, Prose, day, fact, line, named, stamp};
use crate::arrange::{CommonTexts, class_of};
use crate::options::ReportOptions;
use crate::words::Words;
use crate::{Earlier, ReportDecision, ReportFinding, ReportRetest};
use scandeck_wire::contract::{Finding, Risk};
use scandeck_wire::text::{clean_for_print as clean, clean_text_for_print as clean_text};

#[derive(Clone, Debug)]
pub struct FindingEntry {
    /// Chapter and position, such as `2.14`.
    pub number: String,
    pub name: String,
    pub risk: Risk,
    /// Target and port.
    pub place: String,
    /// The part of the name that differs within a class.
    pub detail: String,
    /// `KEV · EPSS 93 %`; empty without either.
    pub signals: String,
    pub verdict: String,
    /// The day.
    pub found_on: String,
    /// The facts of a finding with a section of its own.
    pub facts: Vec<Fact>,
    /// The facts that are in no column of a table of places.
    pub remarks: Vec<Fact>,
    /// The texts that the chapter does not have.
    pub prose: Prose,
    pub proof: Proof,
    /// A sentence about evidence beyond the limit; empty if all is shown.
    pub cut: String,
    pub history: Vec<String>,
}

/// What the entries of a report have in common.
#[derive(Clone, Copy)]
pub(super) struct EntryStyle<'a> {
    pub words: &'a Words,
    pub options: &'a ReportOptions,
    /// Whether findings differ in how they changed since the previous scans.
    pub has_trend: bool,
    pub limit: ProofLimit,
}

/// The texts that describe a finding, or a kind of findings, without the `excluded` ones.
pub(super) fn prose(finding: &Finding, excluded: CommonTexts, words: &Words) -> Prose {
    let mut facts = Vec::new();
    let (mut links, mut others) = (Vec::new(), Vec::new());
    if !excluded.classes {
        let classes = classes(finding);
        if !classes.is_empty() {
            facts.push(fact(words.get("fact.classification"), classes.join(" · ")));
        }
        let cleaned = finding
            .references
            .iter()
            .map(|reference| clean(reference).into_owned());
        (links, others) = cleaned.partition(|reference| {
            reference.starts_with("https://") || reference.starts_with("http://")
        });
    }
    let text = |is_excluded: bool, given: &str| match is_excluded {
        true => String::new(),
        false => reflowed(&clean_text(given.trim())),
    };
    Prose {
        facts,
        description: text(excluded.description, &finding.vuln_description),
        impact: text(excluded.impact, &finding.risk_description),
        recommendation: text(excluded.recommendation, &finding.recommendation),
        links,
        other_references: others,
    }
}

fn classes(finding: &Finding) -> Vec<String> {
    let owasp = &finding.owasp;
    let classes = [
        ("", &finding.cwe),
        ("OWASP 2025 ", &owasp.owasp_2025),
        ("OWASP 2021 ", &owasp.owasp_2021),
        ("OWASP 2017 ", &owasp.owasp_2017),
    ];
    let cves = finding.cve.iter().map(|cve| ("", cve));
    let classes = classes.into_iter().chain(cves);
    let classes = classes.filter(|(_, class)| !class.is_empty());
    classes
        .map(|(edition, class)| format!("{edition}{}", clean(class)))
        .collect()
}

pub(super) fn entry(
    found: &ReportFinding,
    number: String,
    common: CommonTexts,
    style: EntryStyle<'_>,
) -> FindingEntry {
    let EntryStyle {
        words,
        options,
        limit,
        ..
    } = style;
    let finding = &found.finding;
    let place = line(&format!("{} {}", found.target, port(finding)));
    let mut facts = vec![
        fact(words.get("fact.target"), place.clone()),
        origin(found, words),
    ];
    facts.extend(exploitation(finding, words));
    let verdict = found
        .decided
        .as_ref()
        .map(|decided| verdict(decided, style));
    facts.extend(verdict.clone());
    let remarks = match &found.decided {
        Some(decided) => decisions(found, decided, style),
        None => Vec::new(),
    };
    facts.extend(remarks.iter().cloned());
    // A place without a change needs no section.
    let remarks = remarks.into_iter().filter(|fact| fact.value != "unchanged");
    let remarks: Vec<Fact> = remarks.collect();
    let prose = prose(finding, common, words);
    facts.extend(prose.facts.iter().cloned());
    // A manual or imported finding may have no more than a name.
    facts.retain(|fact| !fact.value.is_empty() || !fact.aside.is_empty());
    let (proof, cut) = match limit.rows {
        0 => Default::default(),
        _ => proof(evidence(finding), limit, words),
    };
    let earlier = |old: &Earlier| format!("{} ({})", stamp(old.found_at), words.risk(old.risk));
    let name = named(&finding.name, words);
    let class = class_of(&name).len();
    FindingEntry {
        number,
        risk: found.risk(),
        place,
        detail: detail(name[class..].trim_start_matches(": "), finding).to_owned(),
        name,
        signals: signals(finding),
        verdict: verdict.map(|fact| fact.value).unwrap_or_default(),
        found_on: found_on(found, words),
        facts,
        remarks,
        prose,
        proof,
        cut,
        history: match options.history {
            true => found.history.iter().map(earlier).collect(),
            false => Vec::new(),
        },
    }
}

/// `KEV · EPSS 93 %` without unknown parts.
pub fn signals(finding: &Finding) -> String {
    let exploited = finding.in_cisa_catalog.then(|| "KEV".to_owned());
    let probable = finding
        .epss_score
        .map(percent)
        .map(|share| format!("EPSS {share}"));
    let parts: Vec<String> = exploited.into_iter().chain(probable).collect();
    parts.join(" · ")
}

/// `0.4 %`, `93 %`.
fn percent(share: f64) -> String {
    let share = share.clamp(0.0, 1.0) * 100.0;
    match share {
        ..10.0 => format!("{share:.1} %"),
        _ => format!("{share:.0} %"),
    }
}

/// Whether and how probably attackers use it, and the CVSS score.
pub(super) fn exploitation(finding: &Finding, words: &Words) -> Vec<Fact> {
    let mut facts = Vec::new();
    if finding.in_cisa_catalog {
        facts.push(Fact {
            label: words.get("fact.exploited").to_owned(),
            value: words.get("text.exploited").to_owned(),
            is_strong: true,
            ..Fact::default()
        });
    }
    if let Some(score) = finding.epss_score {
        facts.push(Fact {
            label: "EPSS".to_owned(),
            value: percent(score),
            aside: words.get("text.epss").to_owned(),
            ..Fact::default()
        });
    }
    if let Some(score) = finding.cvssv3.or(finding.cvss).filter(|score| *score > 0.0) {
        facts.push(fact("CVSS", format!("{score:.1}")));
    }
    facts
}

/// The day, or how a manual finding was added.
fn found_on(found: &ReportFinding, words: &Words) -> String {
    let at = found.found_at.map(day).unwrap_or_default();
    match found.decided.as_ref().is_some_and(|decided| decided.own) {
        true => line(&words.filled("text.manual", &[&at])),
        false => at,
    }
}

/// When and by what the finding was found.
fn origin(found: &ReportFinding, words: &Words) -> Fact {
    let is_manual = found.decided.as_ref().is_some_and(|decided| decided.own);
    let at = stamp(found.found_at);
    let tool = match found.tool.0 {
        0 => String::new(),
        _ => found.tool.full_name(),
    };
    let value = match (is_manual, at.is_empty() || tool.is_empty()) {
        (true, _) => words.filled("text.manual", &[&at]),
        (false, false) => words.filled("text.found_by", &[&at, &tool]),
        (false, true) => at + &tool,
    };
    let proven = match found.finding.confirmed {
        true => words.get("text.proven"),
        false => "",
    };
    let label = match found.history.is_empty() {
        true => words.get("fact.found"),
        false => words.get("fact.last_found"),
    };
    Fact {
        label: label.to_owned(),
        value: line(&value),
        aside: proven.to_owned(),
        is_strong: false,
    }
}

fn decisions(found: &ReportFinding, decided: &ReportDecision, style: EntryStyle<'_>) -> Vec<Fact> {
    let words = style.words;
    let mut facts = Vec::new();
    if found.risk() != found.finding.risk_level {
        let key = match decided.own {
            true => "text.severity_before",
            false => "text.severity_of_scanner",
        };
        let [own, before] = [found.risk(), found.finding.risk_level].map(|risk| words.risk(risk));
        let value = words.filled(key, &[own, before]);
        facts.push(fact(words.get("fact.severity"), value));
    }
    facts.extend(change(decided, style));
    facts.extend(decided.absences.iter().map(|scans| {
        let value = words.filled("text.by", &[&without_ids(scans)]);
        fact(words.get("fact.not_found"), value)
    }));
    facts.extend(decided.retest.as_ref().map(|one| retest(one, words)));
    facts.extend(decided.notes.iter().map(|note| Fact {
        label: words.get("fact.note").to_owned(),
        value: clean_text(&note.text).into_owned(),
        aside: cleaned(&format!("{}, {}", note.who, note.at)),
        is_strong: false,
    }));
    facts
}

fn cleaned(given: &str) -> String {
    clean(given).into_owned()
}

fn verdict(decided: &ReportDecision, style: EntryStyle<'_>) -> Fact {
    let words = style.words;
    let mut value = match decided.again.as_str() {
        "" => cleaned(&decided.verdict),
        cause => {
            let values = [cause, &decided.verdict];
            cleaned(&words.filled("text.verdict_again", &values))
        }
    };
    if !decided.reason.is_empty() {
        value += ": ";
        value += &clean(&decided.reason);
    }
    if !decided.until.is_empty() {
        value += &words.filled("text.until", &[&clean(&decided.until)]);
    }
    // Who decided is as internal as the notes.
    let aside = match (style.options.notes, decided.who.as_str()) {
        (false, _) | (_, "") => String::new(),
        (true, who) => {
            let key = match decided.by_rule {
                true => "text.decided_by_rule",
                false => "text.decided_by",
            };
            cleaned(&words.filled(key, &[who, &decided.at]))
        }
    };
    Fact {
        label: words.get("fact.verdict").to_owned(),
        value,
        aside,
        is_strong: true,
    }
}

/// The presence; none for a manual finding, which was never compared with a scan, and for a new one
/// of a report in which everything is new.
fn change(decided: &ReportDecision, style: EntryStyle<'_>) -> Option<Fact> {
    let words = style.words;
    let is_told = style.has_trend || decided.now != "new";
    let mut value = match decided.own || !is_told {
        true => String::new(),
        false => cleaned(&decided.now),
    };
    if !decided.absent_in.is_empty() {
        let by = words.filled("text.not_found_by", &[&without_ids(&decided.absent_in)]);
        value += &format!(": {by}");
    }
    let aside = cleaned(&decided.tags.join(", "));
    let is_empty = value.is_empty() && aside.is_empty();
    (!is_empty).then(|| Fact {
        label: words.get("fact.change").to_owned(),
        value,
        aside,
        is_strong: false,
    })
}

/// `scan #6 of 2026-11-20` without the number of the scan.
fn without_ids(scans: &str) -> String {
    let mut words: Vec<&str> = scans.split(' ').collect();
    words.retain(|word| {
        word.strip_prefix('#')
            .is_none_or(|id| id.parse::<i64>().is_err())
    });
    cleaned(&words.join(" "))
}

fn retest(retest: &ReportRetest, words: &Words) -> Fact {
    let aside = match retest.at.is_empty() {
        true => words.filled("text.before", &[&retest.before]),
        false => words.filled("text.before_and_requested", &[&retest.before, &retest.at]),
    };
    Fact {
        label: words.get("fact.retest").to_owned(),
        value: cleaned(retest_label(&retest.now)),
        aside: cleaned(&aside),
        is_strong: false,
    }
}

/// The label of a retest for its word in data formats.
fn retest_label(word: &str) -> &str {
    match word {
        "not seen" => "absent",
        "still there" => "still found",
        "covered less" => "not retested",
        other => other,
    }
}

/// The detail of a name without the port and the service, which are in the place.
fn detail<'a>(given: &'a str, finding: &Finding) -> &'a str {
    let port_name = format!("{}/{}", finding.port, finding.protocol);
    let Some(rest) = given.strip_prefix(&port_name).map(str::trim_start) else {
        return given;
    };
    match rest.strip_prefix(finding.service.as_str()) {
        Some(more) if more.is_empty() || more.starts_with(' ') => more.trim_start(),
        _ => rest,
    }
}

/// `443/tcp https` without unknown parts.
fn port(finding: &Finding) -> String {
    let protocol = if finding.protocol.is_empty() { "" } else { "/" };
    let port = match finding.port {
        0 => finding.protocol.to_string(),
        port => format!("{port}{protocol}{}", finding.protocol),
    };
    format!("{port} {}", finding.service).trim().to_owned()
}
