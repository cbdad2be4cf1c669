//! The last proof, below the evidence: what was sent, and the answer to it.

use crate::findings::draw::detail::indent;
use crate::ui::{Theme, message_lines, words};
use ratatui::text::Line;
use scandeck_domain::proof::{FindingProof, ProofAnswer};
use scandeck_domain::triage::explain::ExplainedProof;
use scandeck_wire::text;

pub(crate) fn lines(theme: Theme, last: &ExplainedProof) -> Vec<Line<'static>> {
    let proof = &last.proof;
    let outcome = vec![
        plain(theme, &last.phrase()),
        plain(theme, &format!("SHA-256 {}", proof.digest)),
    ];
    let answer = match &proof.now {
        Some(answer) => answer_lines(theme, answer),
        None => vec![plain(theme, &proof.summary())],
    };
    let mut lines = Vec::new();
    for (title, section) in [
        ("Proof", outcome),
        ("Sent", request_lines(theme, proof)),
        ("Answer", answer),
    ] {
        lines.push(Line::default());
        lines.push(Line::styled(title, theme.head()));
        lines.extend(section.into_iter().map(indent));
    }
    lines
}

fn request_lines(theme: Theme, proof: &FindingProof) -> Vec<Line<'static>> {
    let first = plain(theme, &format!("{} {}", proof.method, proof.url));
    let headers = proof.headers.iter().map(|header| plain(theme, header));
    [first].into_iter().chain(headers).collect()
}

fn answer_lines(theme: Theme, answer: &ProofAnswer) -> Vec<Line<'static>> {
    let status = answer.status.map(|status| format!("status {status}"));
    let mut lines: Vec<Line<'static>> = status.iter().map(|line| plain(theme, line)).collect();
    lines.extend(answer.headers.iter().map(|header| plain(theme, header)));
    if !answer.body.is_empty() {
        lines.push(Line::default());
        lines.extend(message_lines(theme, &text::clean_text(&answer.body)));
    }
    let missing = match (answer.is_cut, answer.body.is_empty()) {
        (false, _) => return lines,
        (true, true) => "The body is not stored.",
        (true, false) => "The rest of the body is not stored.",
    };
    lines.push(words(missing, theme.dim()));
    lines
}

fn plain(theme: Theme, line: &str) -> Line<'static> {
    words(text::clean(line).into_owned(), theme.text())
}
