//! A finding for a person: its facts, texts, evidence and decisions.

use super::proof::{Proof, ProofLimit, proof};
use super::{Fact, Prose, fact, line, named, stamp, tool_name};
use crate::{Earlier, ReportDecision, ReportFinding, ReportRetest};
use scandeck_wire::contract::{Finding, Risk};
use scandeck_wire::text::{clean_for_print as clean, clean_text_for_print as clean_text};

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

/// The texts that describe a kind of finding.
pub(super) fn prose(finding: &Finding) -> Prose {
    let owasp = &finding.owasp;
    let classes = [
        ("", &finding.cwe),
        ("OWASP 2025 ", &owasp.owasp_2025),
        ("OWASP 2021 ", &owasp.owasp_2021),
        ("OWASP 2017 ", &owasp.owasp_2017),
    ];
    let classes = classes
        .into_iter()
        .chain(finding.cve.iter().map(|cve| ("", cve)));
    let classes = classes.filter(|(_, class)| !class.is_empty());
    let classes: Vec<String> = classes
        .map(|(edition, class)| format!("{edition}{}", clean(class)))
        .collect();
    let paragraphs = [
        ("Description", &finding.vuln_description),
        ("Impact", &finding.risk_description),
    ];
    let paragraphs = paragraphs
        .into_iter()
        .filter(|(_, given)| !given.trim().is_empty());
    let (links, other_references) = finding
        .references
        .iter()
        .map(|reference| clean(reference).into_owned())
        .partition(|reference| {
            reference.starts_with("https://") || reference.starts_with("http://")
        });
    Prose {
        facts: if classes.is_empty() {
            Vec::new()
        } else {
            vec![fact("Classification", classes.join(" · "))]
        },
        paragraphs: paragraphs
            .map(|(label, given)| fact(label, clean_text(given.trim()).into_owned()))
            .collect(),
        recommendation: clean_text(finding.recommendation.trim()).into_owned(),
        links,
        other_references,
    }
}

pub(super) fn entry(
    found: &ReportFinding,
    number: String,
    is_common: bool,
    limit: ProofLimit,
) -> FindingEntry {
    let finding = &found.finding;
    let common = if is_common {
        Prose::default()
    } else {
        prose(finding)
    };
    let mut facts = vec![fact(
        "Target",
        line(&format!("{} {}", found.target, place(finding))),
    )];
    facts.push(origin(found));
    if let Some(decided) = &found.decided {
        facts.extend(decisions(found, decided));
    }
    facts.extend(common.facts);
    let (proof, cut) = match limit.rows {
        0 => Default::default(),
        _ => proof(finding.vuln_evidence.view().decoded(), limit),
    };
    let earlier = |old: &Earlier| {
        format!(
            "finding {} on {} ({})",
            old.id,
            stamp(old.found_at),
            old.risk
        )
    };
    FindingEntry {
        number,
        name: named(&finding.name),
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
    let at = stamp(found.found_at);
    let value = match is_manual {
        true => line(&format!("Manual finding, added {at}")),
        false => line(&format!("{at} by {}", tool_name(found.tool))),
    };
    let id = if is_manual {
        String::new()
    } else {
        format!("finding {}", found.finding.id)
    };
    let proven = if found.finding.confirmed {
        "proven by the scanner"
    } else {
        ""
    };
    let aside = [id.as_str(), proven]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(", ");
    let label = if found.history.is_empty() {
        "Found"
    } else {
        "Last found"
    };
    Fact {
        label,
        value,
        aside,
    }
}

fn decisions(found: &ReportFinding, decided: &ReportDecision) -> Vec<Fact> {
    let mut facts = vec![verdict(decided)];
    if found.risk() != found.finding.risk_level {
        let before = if decided.own {
            "before"
        } else {
            "by the scanner"
        };
        facts.push(fact(
            "Severity",
            format!("{}; {} {before}", found.risk(), found.finding.risk_level),
        ));
    }
    facts.push(change(decided));
    facts.extend(
        decided
            .absences
            .iter()
            .map(|scans| fact("Not found", format!("by {}", clean(scans)))),
    );
    facts.extend(decided.retest.as_ref().map(retest));
    facts.extend(decided.notes.iter().map(|note| Fact {
        label: "Note",
        value: clean_text(&note.text).into_owned(),
        aside: cleaned(&format!("{}, {}", note.who, note.at)),
    }));
    facts
}

fn cleaned(given: &str) -> String {
    clean(given).into_owned()
}

fn verdict(decided: &ReportDecision) -> Fact {
    let mut value = match decided.again.as_str() {
        "" => cleaned(&decided.verdict),
        cause => cleaned(&format!("{cause} (was {})", decided.verdict)),
    };
    for (before, part) in [(": ", &decided.reason), (", until ", &decided.until)] {
        if !part.is_empty() {
            value += before;
            value += &clean(part);
        }
    }
    let rule = if decided.by_rule { "a rule of " } else { "" };
    let aside = match decided.who.as_str() {
        "" => String::new(),
        who => cleaned(&format!("by {rule}{who} on {}", decided.at)),
    };
    Fact {
        label: "Verdict",
        value,
        aside,
    }
}

fn change(decided: &ReportDecision) -> Fact {
    // A manual finding was never compared with a scan.
    let mut value = cleaned(if decided.own {
        "manual"
    } else {
        shown(&decided.now)
    });
    if !decided.absent_in.is_empty() {
        value += &format!(": not found by {}", clean(&decided.absent_in));
    }
    Fact {
        label: "Change",
        value,
        aside: cleaned(&decided.tags.join(", ")),
    }
}

fn retest(retest: &ReportRetest) -> Fact {
    let at = if retest.at.is_empty() {
        String::new()
    } else {
        format!("; requested on {}", retest.at)
    };
    Fact {
        label: "Retest",
        value: cleaned(shown(&retest.now)),
        aside: cleaned(&format!("before: {}{at}", retest.before)),
    }
}

/// The word of the screen for a word of the data formats, whose values stay as they are.
fn shown(word: &str) -> &str {
    match word {
        "gone" | "not seen" => "absent",
        "same" => "unchanged",
        "back" => "reappeared",
        "still there" => "still found",
        "covered less" => "not retested",
        other => other,
    }
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
