//! The findings of a card in its overview.

use crate::findings::draw::detail::{heading, status};
use crate::findings::review::draw::evidence_kinds::{GAP, cut, place};
use crate::list::FindingGroupBy;
use crate::model::ReviewFacts;
use crate::ui::{Cx, format, words};
use ratatui::text::{Line, Span};
use scandeck_domain::triage::{Issue, IssueId};
use scandeck_wire::text::{clean, width as width_of};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Most findings that the overview lists.
const MEMBERS: usize = 100;

/// The findings with their places, decisions and names. Outliers come first, with their first
/// different line.
pub(super) fn members(
    cx: &Cx<'_>,
    by: Option<FindingGroupBy>,
    facts: &ReviewFacts,
    width: u16,
    lines: &mut Vec<Line<'static>>,
) {
    let all = facts.issues.len();
    let title = format!("Affected   {}", format::plural(all, "finding"));
    heading(cx.theme, title, lines);
    let rows = member_rows(cx, facts);
    // The title of the card names the target; places with different ports differ.
    let is_one_place =
        by == Some(FindingGroupBy::Target) && rows.iter().all(|row| row.place == rows[0].place);
    let widest = |column: fn(&MemberRow) -> &String| {
        let widths = rows.iter().map(|row| width_of(column(row)));
        widths.max().unwrap_or_default()
    };
    let place = if is_one_place {
        0
    } else {
        widest(|row| &row.place) + GAP.len()
    };
    let columns = MemberColumns {
        place,
        decision: widest(|row| &row.decision),
        width: width.into(),
    };
    lines.extend(rows.iter().map(|row| row.line(cx, columns)));
    if all > MEMBERS {
        let more = format!("  {} {} more", cx.theme.glyphs.ellipsis, all - MEMBERS);
        lines.push(words(more, cx.theme.dim()));
    }
}

/// A finding of a card.
struct MemberRow {
    place: String,
    decision: String,
    /// Empty if all findings have the same name.
    name: String,
    /// Its first different line of evidence.
    evidence: String,
}

/// Columns of the screen for the findings of a card.
#[derive(Clone, Copy)]
struct MemberColumns {
    /// 0 if the places are omitted.
    place: usize,
    decision: usize,
    width: usize,
}

/// The first findings of a card, outliers first.
fn member_rows(cx: &Cx<'_>, facts: &ReviewFacts) -> Vec<MemberRow> {
    let kinds = &facts.evidence.kinds;
    let kind_of: HashMap<IssueId, usize> = kinds
        .iter()
        .enumerate()
        .flat_map(|(at, kind)| kind.issues.iter().map(move |issue| (issue.id, at)))
        .collect();
    // Above, each line of a kind with one finding names its place.
    let is_above = kinds.len() < 2 || kinds.iter().all(|kind| kind.count == 1);
    let has_different_names = facts.has_different_names();
    let mut issues: Vec<&Issue> = facts.issues.iter().map(|issue| &**issue).collect();
    issues.sort_by_key(|issue| Reverse(kind_of.get(&issue.id).copied().unwrap_or(usize::MAX)));
    let row = |issue: &&Issue| {
        let kind = kind_of.get(&issue.id).filter(|_| !is_above);
        let evidence = kind.map(|&at| cx.shown(&clean(&kinds[at].line)).into_owned());
        let decision = cx.model.assessment(issue.id);
        let decision = decision.map(|it| status::assessment_words(cx, issue, it));
        let name = has_different_names.then(|| cx.shown(&clean(&issue.name)).into_owned());
        MemberRow {
            place: place(cx, facts, issue),
            decision: clean(&decision.unwrap_or_default()).into_owned(),
            name: name.unwrap_or_default(),
            evidence: evidence.unwrap_or_default(),
        }
    };
    issues.iter().take(MEMBERS).map(row).collect()
}

impl MemberRow {
    fn line(&self, cx: &Cx<'_>, columns: MemberColumns) -> Line<'static> {
        let pad = |text: &str, to: usize| " ".repeat(to.saturating_sub(width_of(text)));
        let place = match columns.place {
            0 => "  ".to_owned(),
            place => format!("  {}{}", self.place, pad(&self.place, place)),
        };
        let decision = format!(
            "{}{}{GAP}",
            self.decision,
            pad(&self.decision, columns.decision)
        );
        let parts = [self.name.as_str(), self.evidence.as_str()];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let used = 2 + columns.place + columns.decision + GAP.len();
        let room = columns.width.saturating_sub(used).max(12);
        Line::from(vec![
            Span::raw(place),
            Span::styled(decision, cx.theme.dim()),
            Span::raw(cut(cx, &parts.join(GAP), room)),
        ])
    }
}
