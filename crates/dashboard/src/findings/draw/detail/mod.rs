//! The detail of one finding.
//!
//! ```text
//!   head       name · risk and proof · place and kind · presence, decision       each frame
//!   Overview   decision, why, what, evidence, also on, fix, from
//!   Evidence   tables, text, coloured HTTP messages, the last proof
//!   Refs       CVE, CWE, OWASP, links
//!   History    decisions and earlier scans
//! ```

pub mod evidence;
pub mod history;
pub mod overview;
pub mod proof;
pub mod references;
pub mod status;

use crate::base::{Pane, RowRef, Tab};
use crate::data::ShownText;
use crate::ui::{ById, Cx, DetailPane, DetailText, Theme, ViewCache, format, words};
use ratatui::text::{Line, Span};
use scandeck_domain::triage::explain::ExplainedProof;
use scandeck_domain::triage::{FindingTexts, Issue, IssueId, ListedFinding};
use scandeck_wire::text;
use std::any::Any;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

/// The detail of a finding, in the list of findings or on the board.
pub(crate) fn detail<'a>(
    cx: &Cx<'a>,
    pane: Pane,
    id: IssueId,
    cache: &mut ViewCache,
) -> Option<DetailPane<'a>> {
    let table = cx.model.data.findings.value()?;
    let issue: &'a Arc<Issue> = table.get(id)?;
    let tab = cx.model.detail.tab(pane);
    let rows = cache
        .evidence_count
        .get(ById::new(&issue.finding), || issue.evidence_rows());
    let tabs = vec![
        Tab::Overview.title().to_owned(),
        Tab::Evidence.counted(rows),
        Tab::References.counted(issue.reference_count()),
        Tab::History.counted(cx.model.findings.triage.state.history(issue.key()).len()),
    ];
    let finding: Arc<dyn Any + Send + Sync> = Arc::clone(&issue.finding) as _;
    let text = match tab {
        Tab::Evidence => {
            let texts = cx.model.findings.shown.of(issue);
            let mask = cx.model.mask();
            let last = ExplainedProof::last(issue, &cx.model.findings.triage.state);
            let lines = move |theme, width, _| {
                let mut all = with_texts(theme, texts, |read| {
                    evidence::lines(theme, &read.vuln_evidence, width, mask)
                });
                all.extend(last.iter().flat_map(|one| proof::lines(theme, one)));
                all
            };
            DetailText::new(vec![finding], lines).with_version(evidence_version(cx))
        }
        Tab::References => {
            let texts = cx.model.findings.shown.of(issue);
            let lines = move |theme, _, _| {
                with_texts(theme, texts, |read| references::lines(theme, issue, read))
            };
            DetailText::new(vec![finding], lines).with_version(cx.model.findings.shown.revision)
        }
        Tab::History => {
            let cx = cx.clone();
            let version = triage_version(&cx);
            DetailText::new(vec![table.clone()], move |_, _, _| {
                history::lines(&cx, issue)
            })
            .with_version(version)
        }
        _ => {
            let cx = cx.clone();
            let version = triage_version(&cx);
            DetailText::new(vec![table.clone()], move |_, width, _| {
                overview::lines(&cx, issue, width)
            })
            .with_version(version)
        }
    };
    Some(DetailPane {
        id: RowRef::Item(issue.id.0),
        head: head_lines(cx, issue),
        tabs,
        text,
    })
}

/// The lines of texts; until they were read, or where they cannot be read, a line that says so.
pub(crate) fn with_texts(
    theme: Theme,
    texts: ShownText,
    make: impl FnOnce(&FindingTexts) -> Vec<Line<'static>>,
) -> Vec<Line<'static>> {
    match texts {
        ShownText::Read(read) => make(&read),
        unread => vec![unread_line(theme, &unread)],
    }
}

/// Texts with ages are rebuilt after this number of seconds.
const AGE: i64 = 5;

/// The line in place of texts.
pub(crate) fn unread_line(theme: Theme, unread: &ShownText) -> Line<'static> {
    match unread {
        ShownText::Unreadable(problem) => words(
            format!("texts cannot be read: {}", text::clean(&problem.message)),
            theme.bad(),
        ),
        ShownText::Reading | ShownText::Read(_) => words("reading the texts", theme.dim()),
    }
}

/// A hash that changes when a text with decisions and ages must be rebuilt: after an event, after a
/// read text, and every five seconds.
pub(crate) fn triage_version(cx: &Cx<'_>) -> u64 {
    let age = cx.model.now.wall.as_second() / AGE;
    let inputs = (
        cx.model.findings.triage.state.len(),
        cx.model.findings.shown.revision,
        age,
    );
    BuildHasherDefault::<DefaultHasher>::default().hash_one(inputs)
}

/// A hash that changes when evidence and proof must be rebuilt: after an event or a read text.
fn evidence_version(cx: &Cx<'_>) -> u64 {
    let findings = &cx.model.findings;
    let inputs = (findings.triage.state.len(), findings.shown.revision);
    BuildHasherDefault::<DefaultHasher>::default().hash_one(inputs)
}

fn head_lines(cx: &Cx<'_>, issue: &Issue) -> Vec<Line<'static>> {
    let name = words(text::clean(&issue.name).into_owned(), cx.theme.strong());
    let mut lines = vec![
        name,
        risk_line(cx, issue),
        place_line(cx, issue),
        status::line(cx, issue),
    ];
    lines.extend(status::conflict_line(cx, issue));
    lines.extend(status::offer_line(cx, issue));
    lines.extend(status::proposal_line(cx, issue));
    lines
}

/// The risk, the severity override, and further ratings.
fn risk_line(cx: &Cx<'_>, issue: &Issue) -> Line<'static> {
    let theme = cx.theme;
    let named = |risk| {
        format!(
            "{} {}",
            format::risk_glyph(theme, risk),
            risk.as_str().to_uppercase()
        )
    };
    let own = cx
        .model
        .assessment(issue.id)
        .and_then(|assessment| assessment.severity);
    let mut line = Line::default();
    match own.filter(|&own| own != issue.risk_level) {
        Some(own) => {
            line.push_span(Span::styled(named(own), theme.risk(own)));
            let before = if issue.manual().is_some() {
                "before"
            } else {
                "scanned"
            };
            line.push_span(Span::styled(
                format!("   override, {before} {}", issue.risk_level),
                theme.dim(),
            ));
        }
        None => line.push_span(Span::styled(
            named(issue.risk_level),
            theme.risk(issue.risk_level),
        )),
    }
    let mut add = |is_shown: bool, text: String| {
        if is_shown {
            line.push_span(Span::raw(format!("   {text}")));
        }
    };
    add(issue.manual().is_some(), "manual".to_owned());
    add(issue.confirmed, "proven by the scanner".to_owned());
    add(
        issue.in_cisa_catalog,
        "known to be exploited (KEV)".to_owned(),
    );
    add(issue.verified, "verified at the service".to_owned());
    let score = issue
        .cvssv3()
        .or(issue.cvss())
        .map(|score| format!("CVSS {score:.1}"));
    let epss = issue
        .epss_score()
        .map(|score| format!("EPSS {:.1}%", score * 100.0));
    score
        .into_iter()
        .chain(epss)
        .for_each(|rating| add(true, rating));
    line
}

/// Target, port and class.
fn place_line(cx: &Cx<'_>, issue: &Issue) -> Line<'static> {
    let mut parts: Vec<String> = place(cx, issue).into_iter().collect();
    for kind in [issue.cwe.as_str(), &issue.owasp.label()] {
        if !kind.is_empty() {
            parts.push(text::clean(kind).into_owned());
        }
    }
    Line::from(Span::styled(parts.join("   "), cx.theme.text()))
}

/// `shop.acme.test  443/tcp https`.
pub(crate) fn place(cx: &Cx<'_>, finding: &ListedFinding) -> Option<String> {
    let named = finding
        .target_name()
        .as_deref()
        .map(|name| text::clean(name).into_owned());
    let target = cx
        .finding_target(finding)
        .map(|id| cx.target_name(id).into_owned())
        .or(named);
    let port = (finding.port() > 0).then(|| {
        let (protocol, service) = (
            text::clean(&finding.protocol),
            text::clean(&finding.service),
        );
        let slash = if protocol.is_empty() { "" } else { "/" };
        format!("{}{slash}{protocol} {service}", finding.port())
            .trim_end()
            .to_owned()
    });
    let parts: Vec<String> = target.into_iter().chain(port).collect();
    (!parts.is_empty()).then(|| parts.join("  "))
}

pub(crate) fn heading(
    theme: Theme,
    name: impl Into<std::borrow::Cow<'static, str>>,
    lines: &mut Vec<Line<'static>>,
) {
    if !lines.is_empty() {
        lines.push(Line::default());
    }
    lines.push(words(name, theme.strong()));
}

pub(crate) fn indent(mut line: Line<'static>) -> Line<'static> {
    line.spans.insert(0, Span::raw("  "));
    line
}
