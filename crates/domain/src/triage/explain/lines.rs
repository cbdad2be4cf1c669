//! An explanation as lines of text, the same in the dashboard, in commands and in reports.
//!
//! ```text
//!   Because   not retested: the later scan used other ports
//!   Proof     gone: the target answers 404 or 410 for this URL, by anna, 2026-11-22 10:00:00
//!   Scans     #118  2026-11-20 14:05:00  found it         Port scan, finished
//!             #121  2026-11-22 09:00:00  did not test it  Port scan, finished
//!   Test      net.redis.open has no result in scan #121
//!             port 6379: was tested, now not tested
//!   Evidence  not compared: the later scan has none
//!   Decision  confirmed by anna, 2026-11-20 14:06:00
//!   Next      s repeats scan #118 with its parameters
//! ```

use super::{
    ComparedValue, EvidenceComparison, ExplainedDecision, ExplainedProof, ExplainedScan,
    ExplainedTest, PresenceExplanation, ScanRole, SettlingStep,
};
use crate::finding::{Presence, PresenceReason, Reason};
use crate::triage::issue::VerdictSource;
use scandeck_wire::text::{self, plural};

/// Most columns of a value.
const WIDEST: usize = 160;
/// Most differences of two answers.
const MOST_OF_PROOF: usize = 8;

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineTone {
    Plain,
    /// The answer.
    Strong,
    /// Only the earlier evidence has it.
    Then,
    /// Only the later evidence has it.
    Now,
    /// The later value of the line before, drawn beside it where both have room.
    Beside,
    /// A step that settles it.
    Step,
}

/// A line of an explanation, cleaned for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplanationLine {
    /// Its heading; empty for a further line below the same heading.
    pub label: &'static str,
    pub text: String,
    pub tone: LineTone,
}

impl ExplanationLine {
    /// Columns of the headings, with the blanks after them.
    pub const LABEL: usize = 10;

    /// The line as commands and reports print it.
    pub fn printed(&self) -> String {
        format!("{:width$}{}", self.label, self.text, width = Self::LABEL)
            .trim_end()
            .to_owned()
    }
}

/// The lines of an explanation. `step` names a step by a key or a command; steps without a name are
/// left out.
pub fn lines(
    explanation: &PresenceExplanation,
    step: impl Fn(SettlingStep) -> Option<String>,
) -> Vec<ExplanationLine> {
    let mut all = Vec::new();
    add(&mut all, "Because", vec![because(explanation)]);
    let proof = explanation.proof.as_ref();
    add(
        &mut all,
        "Proof",
        proof.map(proof_lines).unwrap_or_default(),
    );
    add(
        &mut all,
        "Scans",
        explanation.scans.iter().map(scan_line).collect(),
    );
    if let Some(test) = &explanation.test {
        add(&mut all, "Test", test_lines(explanation.reason, test));
    }
    if !explanation.scans.is_empty() {
        add(&mut all, "Evidence", evidence_lines(explanation));
    }
    add(&mut all, "Decision", decision_lines(explanation));
    let steps = explanation.steps.iter().filter_map(|one| step(*one));
    add(
        &mut all,
        "Next",
        steps.map(|words| toned(words, LineTone::Step)).collect(),
    );
    all
}

/// A text and its tone, before it is cleaned.
struct Toned {
    text: String,
    tone: LineTone,
}

fn toned(text: String, tone: LineTone) -> Toned {
    Toned { text, tone }
}

fn plain(text: String) -> Toned {
    toned(text, LineTone::Plain)
}

/// Adds lines below a heading.
fn add(all: &mut Vec<ExplanationLine>, heading: &'static str, lines: Vec<Toned>) {
    for (at, line) in lines.into_iter().enumerate() {
        all.push(ExplanationLine {
            label: if at == 0 { heading } else { "" },
            text: text::clean(&line.text).into_owned(),
            tone: line.tone,
        });
    }
}

fn because(explanation: &PresenceExplanation) -> Toned {
    let reason = explanation.reason;
    let words = match reason {
        PresenceReason::Manual => format!("manual finding: {}", reason.reason()),
        _ => format!("{}: {}", reason.presence().label(), reason.reason()),
    };
    toned(words, LineTone::Strong)
}

fn scan_line(scan: &ExplainedScan) -> Toned {
    let role = match scan.role {
        ScanRole::Found => "found it",
        ScanRole::FoundBefore => "found it before",
        ScanRole::NotFound => "did not find it",
        ScanRole::NotTested => "did not test it",
        ScanRole::Baseline => "baseline",
    };
    let at = scan.at.map(|at| at.to_string());
    let at = at.unwrap_or_else(|| "time unknown".to_owned());
    let tool = scan.tool.map(|tool| format!("{tool}, "));
    let tool = tool.unwrap_or_default();
    let (id, status) = (format!("#{}", scan.id), &scan.status);
    plain(format!("{id:<6} {at:<19}  {role:<15}  {tool}{status}"))
}

fn test_lines(reason: PresenceReason, test: &ExplainedTest) -> Vec<Toned> {
    let class = if test.class.is_empty() {
        "the test"
    } else {
        &*test.class
    };
    let verb = match reason.presence() {
        Presence::NotRetested => "has no result in",
        _ => "ran in",
    };
    let mut all = vec![plain(format!("{class} {verb} scan #{}", test.scan))];
    if !test.description.is_empty() {
        all.push(plain(cut(&test.description)));
    }
    all.extend(test.details.iter().map(|detail| plain(detail_line(detail))));
    all
}

/// `port_list: was [80], now [443]`, or `cause: HTTP 403`.
fn detail_line(detail: &ComparedValue) -> String {
    let name = &detail.name;
    match (&detail.then, &detail.now) {
        (Some(then), Some(now)) => format!("{name}: was {}, now {}", cut(then), cut(now)),
        (Some(one), None) | (None, Some(one)) => format!("{name}: {}", cut(one)),
        (None, None) => name.clone(),
    }
}

fn evidence_lines(explanation: &PresenceExplanation) -> Vec<Toned> {
    let evidence = &explanation.evidence;
    if let Some(problem) = &evidence.problem {
        return vec![plain(format!("cannot be read: {problem}"))];
    }
    let mut all: Vec<Toned> = evidence.changes.iter().flat_map(change_lines).collect();
    if evidence.more > 0 {
        all.push(plain(plural(evidence.more, "more change")));
    }
    if all.is_empty() {
        all.push(plain(
            without_changes(explanation.reason, evidence).to_owned(),
        ));
    }
    if evidence.varying > 0 {
        let parts = plural(evidence.varying, "part");
        all.push(plain(format!("{parts} with other dates, ids or numbers")));
    }
    all
}

/// The words in place of a difference.
fn without_changes(reason: PresenceReason, evidence: &EvidenceComparison) -> &'static str {
    match reason.presence() {
        Presence::NotRetested => "not compared: the later scan has none",
        _ if evidence.then.is_none() || evidence.now.is_none() => "only one scan has evidence",
        _ => "the same in both scans",
    }
}

/// `- Server: nginx` and `+ Server: apache`.
fn change_lines(change: &ComparedValue) -> Vec<Toned> {
    let name = match change.name.as_str() {
        "" => String::new(),
        name => format!("{name}: "),
    };
    let then = change.then.iter();
    let then = then.map(|value| toned(format!("- {name}{}", cut(value)), LineTone::Then));
    let tone = match change.then {
        Some(_) => LineTone::Beside,
        None => LineTone::Now,
    };
    let now = change.now.iter();
    let now = now.map(|value| toned(format!("+ {name}{}", cut(value)), tone));
    then.chain(now).collect()
}

/// The outcome, the request, both answers in short, and their differences.
fn proof_lines(explained: &ExplainedProof) -> Vec<Toned> {
    let proof = &explained.proof;
    let mut all = vec![
        plain(explained.phrase()),
        plain(cut(&format!("{} {}", proof.method, proof.url))),
        toned(format!("- {}", cut(&proof.then.summary())), LineTone::Then),
        toned(format!("+ {}", cut(&proof.summary())), LineTone::Beside),
    ];
    let changes = explained.changes();
    all.extend(changes.iter().take(MOST_OF_PROOF).flat_map(change_lines));
    let more = changes.len().saturating_sub(MOST_OF_PROOF);
    if more > 0 {
        all.push(plain(plural(more, "more change")));
    }
    all
}

fn decision_lines(explanation: &PresenceExplanation) -> Vec<Toned> {
    let mut all = Vec::new();
    if let Some(baseline) = &explanation.baseline {
        let pinned = baseline.pinned();
        all.push(plain(format!(
            "baseline {pinned}, set by {}, {}",
            baseline.who, baseline.at
        )));
    }
    if explanation.decisions.is_empty() {
        all.push(plain("undecided".to_owned()));
    }
    let again = explanation.reopened.map(|cause| format!("{cause}: "));
    let again = again.unwrap_or_default();
    for decision in &explanation.decisions {
        all.push(plain(format!("{again}{}", decision_words(decision))));
        if let Some(rule) = &decision.rule {
            all.push(plain(format!("rule: {rule}")));
        }
    }
    all
}

/// `risk accepted until 2027-01-12 by anna, 2026-11-20 14:06:00: deferred`.
fn decision_words(decision: &ExplainedDecision) -> String {
    let mut words = decision.verdict.phrase();
    if let Some(until) = decision.until {
        words.push_str(&format!(" until {until}"));
    }
    let who = decision.who.as_deref().unwrap_or("unknown");
    words.push_str(&match decision.source {
        VerdictSource::Service => " at the service".to_owned(),
        VerdictSource::Rule(_) => format!(" by a rule of {who}"),
        VerdictSource::Person | VerdictSource::Nobody => format!(" by {who}"),
    });
    if let Some(at) = decision.at {
        words.push_str(&format!(", {at}"));
    }
    if let Some(reason) = decision.reason.map(Reason::phrase) {
        words.push_str(&format!(": {reason}"));
    }
    words
}

/// A value of the outside in one line that fits.
fn cut(value: &str) -> String {
    if text::width(value) <= WIDEST {
        return value.to_owned();
    }
    let start: String = value.chars().take(WIDEST).collect();
    format!("{start} (cut)")
}
