//! The line of changes since the last visit.
//!
//! ```text
//!  since Thu 18:40   +14 findings ◆2 ▲5   9 scans done, 2 failed   +12 captures of 3 payloads      < show   esc hide
//! ```

use crate::base::Pane;
use crate::input::{Action, Context, ViewAction};
use crate::ui::{Cx, draw_sides, indented, joined, key, risk_counts};
use jiff::tz::TimeZone;
use ratatui::prelude::{Buffer, Line, Rect, Span};
use scandeck_wire::text::plural;

pub(crate) fn draw_last_visit(cx: &Cx<'_>, buf: &mut Buffer, area: Rect) {
    let last_visit = &cx.model.settings.last_visit;
    let Some(last) = last_visit.last else { return };
    let (theme, changes) = (cx.theme, last_visit.changes);
    let at = last.0.to_zoned(TimeZone::system());
    let days = (cx.model.today() - at.date()).get_days();
    let at = at
        .strftime(if days < 7 { "%a %H:%M" } else { "%e %b %H:%M" })
        .to_string();
    let mut groups = vec![vec![Span::styled(
        format!("since {}", at.trim()),
        theme.dim(),
    )]];
    let new: u32 = changes.risks.iter().sum();
    if new > 0 {
        let mut spans = vec![Span::styled(
            format!("+{} ", plural(new as usize, "finding")),
            theme.strong(),
        )];
        spans.extend(risk_counts(
            theme,
            changes.risks.map(|number| Some(number.into())),
            " ",
        ));
        groups.push(spans);
    }
    match (changes.done, changes.failed) {
        (0, 0) => {}
        (done, 0) => groups.push(vec![Span::raw(format!("{} done", plural(done, "scan")))]),
        (0, failed) => groups.push(vec![Span::styled(
            format!("{} failed", plural(failed, "scan")),
            theme.bad(),
        )]),
        (done, failed) => groups.push(vec![
            Span::raw(format!("{} done, ", plural(done, "scan"))),
            Span::styled(format!("{failed} failed"), theme.bad()),
        ]),
    }
    if changes.captures > 0 {
        let mut spans = vec![Span::raw(format!(
            "+{}",
            plural(changes.captures, "capture")
        ))];
        if changes.payloads > 0 {
            spans.push(Span::styled(
                format!(" of {}", plural(changes.payloads, "payload")),
                theme.strong(),
            ));
        }
        groups.push(spans);
    }
    if changes.expiring > 0 {
        let verb = if changes.expiring == 1 {
            "expires"
        } else {
            "expire"
        };
        let words = format!(
            "{} {verb} within a week",
            plural(changes.expiring, "decision")
        );
        groups.push(vec![Span::styled(words, theme.warn())]);
    }
    let mut hints = Line::default();
    if last_visit.found.is_some() && cx.model.navigation.focus.pane == Pane::Findings {
        hints.push_span(Span::styled(
            key(cx, Context::Findings, Action::View(ViewAction::PreviousTab)),
            theme.key(),
        ));
        hints.push_span(Span::styled(" show   ", theme.dim()));
    }
    hints.push_span(Span::styled(
        key(cx, Context::Findings, Action::View(ViewAction::Back)),
        theme.key(),
    ));
    hints.push_span(Span::styled(" hide", theme.dim()));
    let line = joined(groups, "   ");
    // The changes are more important than the key hints.
    let fits = line.width() + hints.width() + 3 <= usize::from(area.width);
    draw_sides(
        buf,
        indented(area),
        &line,
        &if fits { hints } else { Line::default() },
    );
}
