//! The line of changes since the last visit.
//!
//! ```text
//!  since Thu 18:40   +14 findings ◆2 ▲5   9 scans done, 2 failed   +12 captures of 3 payloads      < show   esc hide
//! ```

use crate::base::Pane;
use crate::data::VisitChanges;
use crate::input::{Action, Context, ViewAction};
use crate::ui::{Cx, Theme, draw_sides, indented, joined, key, risk_counts};
use jiff::tz::TimeZone;
use ratatui::prelude::{Buffer, Line, Rect, Span};
use scandeck_wire::contract::Stamp;
use scandeck_wire::text::plural;

pub(crate) fn draw_last_visit(cx: &Cx<'_>, buf: &mut Buffer, area: Rect) {
    let last_visit = &cx.model.settings.last_visit;
    let Some(last) = last_visit.last else { return };
    let (theme, changes) = (cx.theme, last_visit.changes);
    let mut groups = vec![vec![Span::styled(since_words(cx, last), theme.dim())]];
    groups.extend(finding_spans(theme, &changes));
    groups.extend(scan_spans(theme, &changes));
    groups.extend(capture_spans(theme, &changes));
    groups.extend(expiry_spans(theme, &changes));
    let (line, hints) = (joined(groups, "   "), key_hints(cx));
    // The changes are more important than the key hints.
    let fits = line.width() + hints.width() + 3 <= usize::from(area.width);
    let hints = if fits { hints } else { Line::default() };
    draw_sides(buf, indented(area), &line, &hints);
}

/// `since Thu 18:40`
fn since_words(cx: &Cx<'_>, last: Stamp) -> String {
    let at = last.0.to_zoned(TimeZone::system());
    let days = (cx.model.today() - at.date()).get_days();
    let form = if days < 7 { "%a %H:%M" } else { "%e %b %H:%M" };
    format!("since {}", at.strftime(form).to_string().trim())
}

fn finding_spans(theme: Theme, changes: &VisitChanges) -> Option<Vec<Span<'static>>> {
    let new: u32 = changes.risks.iter().sum();
    let count = format!("+{} ", plural(new as usize, "finding"));
    let mut spans = vec![Span::styled(count, theme.strong())];
    let risks = changes.risks.map(|number| Some(number.into()));
    spans.extend(risk_counts(theme, risks, " "));
    (new > 0).then_some(spans)
}

fn scan_spans(theme: Theme, changes: &VisitChanges) -> Option<Vec<Span<'static>>> {
    let (done, failed) = (changes.done, changes.failed);
    match (done, failed) {
        (0, 0) => None,
        (_, 0) => Some(vec![Span::raw(format!("{} done", plural(done, "scan")))]),
        (0, _) => {
            let failed = format!("{} failed", plural(failed, "scan"));
            Some(vec![Span::styled(failed, theme.bad())])
        }
        _ => Some(vec![
            Span::raw(format!("{} done, ", plural(done, "scan"))),
            Span::styled(format!("{failed} failed"), theme.bad()),
        ]),
    }
}

fn capture_spans(theme: Theme, changes: &VisitChanges) -> Option<Vec<Span<'static>>> {
    let captures = format!("+{}", plural(changes.captures, "capture"));
    let mut spans = vec![Span::raw(captures)];
    if changes.payloads > 0 {
        let payloads = format!(" of {}", plural(changes.payloads, "payload"));
        spans.push(Span::styled(payloads, theme.strong()));
    }
    (changes.captures > 0).then_some(spans)
}

fn expiry_spans(theme: Theme, changes: &VisitChanges) -> Option<Vec<Span<'static>>> {
    let verb = if changes.expiring == 1 {
        "expires"
    } else {
        "expire"
    };
    let decisions = plural(changes.expiring, "decision");
    let words = format!("{decisions} {verb} within a week");
    (changes.expiring > 0).then(|| vec![Span::styled(words, theme.warn())])
}

/// `< show   esc hide`
fn key_hints(cx: &Cx<'_>) -> Line<'static> {
    let theme = cx.theme;
    let shows_findings = cx.model.settings.last_visit.found.is_some()
        && cx.model.navigation.focus.pane == Pane::Findings;
    let hint = |action, words| {
        let key = key(cx, Context::Findings, Action::View(action));
        [
            Span::styled(key, theme.key()),
            Span::styled(words, theme.dim()),
        ]
    };
    let mut hints = Line::default();
    if shows_findings {
        hints.extend(hint(ViewAction::PreviousTab, " show   "));
    }
    hints.extend(hint(ViewAction::Back, " hide"));
    hints
}
