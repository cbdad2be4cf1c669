//! The list of rules: verdict, query, reason, last day, number of findings, author, and whether the
//! rule is off.

use crate::model::{RuleEdit, RulesBox};
use crate::ui::{Cx, PopUp, draw_line, format, input_spans_in, row_of, words};
use ratatui::prelude::{Buffer, Line, Rect, Span};
use scandeck_domain::triage::{RuleState, VerdictSource};
use scandeck_wire::text;
use std::collections::HashMap;

const POPUP: PopUp = PopUp {
    title: "Rules",
    note: " manual decisions take precedence ",
    columns: 92,
    lines: 5,
    below: 2,
};

pub(crate) fn draw_rules(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, shown: &RulesBox) {
    let rules = cx.model.rules();
    let mut decided: HashMap<_, usize> = HashMap::new();
    for assessment in cx.model.findings.triage.assessments.iter() {
        if let VerdictSource::Rule(id) = assessment.source {
            *decided.entry(id).or_default() += 1;
        }
    }
    let of_rule = |rule: &RuleState| decided.get(&rule.id).copied().unwrap_or(0);
    let inner = POPUP.draw(cx, buf, area, (shown.list, &rules), |rule, width| {
        rule_spans(cx, rule, of_rule(rule), width)
    });
    if let Some(edit) = &shown.edit {
        let [query, finds] = edit_lines(cx, edit, inner.width);
        draw_line(buf, row_of(inner, inner.height.saturating_sub(2)), &query);
        draw_line(buf, row_of(inner, inner.height.saturating_sub(1)), &finds);
    }
}

/// A rule with the number of findings that it decides.
fn rule_spans(cx: &Cx<'_>, rule: &RuleState, decides: usize, width: u16) -> Vec<Span<'static>> {
    let theme = cx.theme;
    let style = if rule.off { theme.dim() } else { theme.text() };
    let tail = tail_spans(cx, rule, decides, usize::from(width) * 3 / 5);
    let tail_width: usize = tail.iter().map(Span::width).sum();
    let verdict = format!("{:<10}", rule.decision.verdict.word());
    let room = usize::from(width).saturating_sub(text::width(&verdict) + tail_width + 2);
    let query = text::start(&text::clean(&rule.query), room).into_owned();
    let gap = " ".repeat(room.saturating_sub(text::width(&query)));
    let verdict_style = if rule.off { style } else { theme.strong() };
    let mut spans = vec![
        Span::styled(format!(" {verdict}"), verdict_style),
        Span::styled(format!("{query}{gap}"), style),
    ];
    spans.extend(tail);
    spans
}

/// Reason, last day, number of findings and author. Where there is less room, the last ones are
/// omitted, and the reason is cut when nothing else is left.
fn tail_spans(cx: &Cx<'_>, rule: &RuleState, decides: usize, room: usize) -> Vec<Span<'static>> {
    let theme = cx.theme;
    let style = if rule.off { theme.dim() } else { theme.text() };
    let plain = |part: String| Span::styled(part, style);
    let reason = rule.decision.reason.map(|reason| plain(reason.phrase()));
    let until = rule.decision.until.map(|day| match day < cx.model.today() {
        true => Span::styled(format!("expired {day}"), theme.warn()),
        false => plain(format!("until {day}")),
    });
    let decides = match rule.off {
        true => "off".to_owned(),
        false => format!("decides {}", text::plural(decides, "finding")),
    };
    let author = text::clean(&rule.event.who).into_owned();
    let mut parts: Vec<Span<'static>> = reason.into_iter().chain(until).collect();
    parts.extend([decides, author].map(plain));
    let width = |parts: &[Span<'_>]| parts.iter().map(|part| part.width() + 2).sum::<usize>();
    while width(&parts) > room && parts.len() > 1 {
        parts.pop();
    }
    let cut = |part: Span<'static>| {
        let content = text::start(&part.content, room.saturating_sub(2)).into_owned();
        [Span::raw("  "), Span::styled(content, part.style)]
    };
    parts.into_iter().flat_map(cut).collect()
}

fn edit_lines(cx: &Cx<'_>, edit: &RuleEdit, width: u16) -> [Line<'static>; 2] {
    let mut query = Line::from(Span::styled("query: ", cx.theme.key()));
    query.extend(input_spans_in(
        cx.theme,
        &edit.input,
        width.saturating_sub(8),
    ));
    let finds = match &edit.finds {
        Ok(count) => words(
            format!("matches {}", format::plural(*count, "finding")),
            cx.theme.dim(),
        ),
        Err(error) => words(
            text::start(&text::clean(error), usize::from(width)).into_owned(),
            cx.theme.bad(),
        ),
    };
    [query, finds]
}
