//! The overview: notes, impact, evidence in a few lines, other targets, recommendation.

use crate::contract::{Risk, ScanStatus};
use crate::dashboard::findings::draw::detail::{evidence, heading, indent, standing};
use crate::dashboard::ui::context::words;
use crate::dashboard::ui::widgets::wrap::plain;
use crate::dashboard::ui::{Cx, Theme, format};
use crate::query::Field;
use crate::text;
use crate::triage::Issue;
use ratatui::text::{Line, Span};

/// Lines of evidence that it shows.
const EXCERPT: usize = 8;
/// Other places that it names.
const ELSEWHERE: usize = 8;

/// The context of the text, captured while drawing. The lines are made only if they are not cached.
pub(crate) struct Overview<'a> {
    cx: Cx<'a>,
    issue: &'a Issue,
}

impl<'a> Overview<'a> {
    pub fn new(cx: &Cx<'a>, issue: &'a Issue) -> Self {
        Self { cx: cx.clone(), issue }
    }

    pub fn lines(&self, theme: Theme, width: u16) -> Vec<Line<'static>> {
        let issue = self.issue;
        let mut lines = Vec::new();
        self.notes(theme, &mut lines);
        section(theme, "Why it matters", &issue.risk_description, &mut lines);
        section(theme, "Description", &issue.vuln_description, &mut lines);
        self.evidence(theme, width, &mut lines);
        self.also_on(theme, &mut lines);
        section(theme, "Fix", &issue.recommendation, &mut lines);
        section(theme, "Tested", &issue.test_description, &mut lines);
        if issue.risk_level == Risk::Info && issue.vuln_id.starts_with("NONVULN") {
            lines.push(words("Tested; nothing found.", theme.dim()));
        }
        self.from(theme, &mut lines);
        lines
    }

    /// Notes, tags, and what it duplicates.
    fn notes(&self, theme: Theme, lines: &mut Vec<Line<'static>>) {
        let state = &self.cx.model.findings.triage.state;
        let Some(finding_state) = state.finding_state(self.issue.key()) else { return };
        for note in &finding_state.notes {
            if let crate::triage::Change::Note(text) = &note.change {
                let when = standing::ago(&self.cx, Some(note.at));
                heading(theme, format!("Note by {}, {when}", text::clean(&note.who)), lines);
                lines.extend(plain(&text::clean_text(text.trim()), theme.text()));
            }
        }
        let tags: Vec<_> = finding_state.tags.iter().map(|tag| text::clean(tag)).collect();
        if !tags.is_empty() {
            pair(theme, "Tags", tags.join(" "), lines);
        }
        let other = finding_state.shown().and_then(|(_, decision)| decision.duplicate_of);
        if let Some(other) = other {
            let named = state.finding_state(other).map(|other| other.identity.name.clone());
            let table = self.cx.model.data.findings.value();
            let named = named.or_else(|| Some(table?.get(other.into())?.name.clone())).unwrap_or_default();
            pair(theme, "Duplicate of", text::clean(&named).into_owned(), lines);
        }
    }

    fn evidence(&self, theme: Theme, width: u16, lines: &mut Vec<Line<'static>>) {
        let rows = evidence::row_count(self.issue);
        if rows == 0 {
            return;
        }
        heading(theme, if rows > 1 { format!("Evidence   {rows} rows") } else { "Evidence".to_owned() }, lines);
        let evidence = evidence::lines(theme, self.issue, width.saturating_sub(2));
        let more = evidence.len().saturating_sub(EXCERPT);
        lines.extend(evidence.into_iter().take(EXCERPT).map(indent));
        if more > 0 {
            let more = format!("  {} {}", theme.glyphs.ellipsis, format::plural(more, "more line"));
            lines.push(words(more, theme.dim()));
        }
    }

    /// Findings of the same class elsewhere, with their decisions.
    fn also_on(&self, theme: Theme, lines: &mut Vec<Line<'static>>) {
        let model = self.cx.model;
        let Some(table) = model.data.findings.value() else { return };
        // The text is made with each key. A column of classes is read faster than 100,000 findings.
        let (count, others) = match (table.position(self.issue.id), table.column(Field::Class)) {
            (Some(at), Some(classes)) => classes.same_as(at, ELSEWHERE),
            _ => return,
        };
        if count == 0 {
            return;
        }
        heading(theme, "Also on", lines);
        let named: Vec<(&Issue, String)> =
            others.iter().map(|&at| (&*table.items()[at], self.elsewhere(&table.items()[at]))).collect();
        let widest = named.iter().map(|(_, name)| text::width(name)).max().unwrap_or(0);
        for (other, name) in &named {
            let decision = model.assessment(other.id);
            let decision =
                decision.map_or_else(String::new, |assessment| standing::stance_words(&self.cx, other, assessment));
            let pad = " ".repeat(widest - text::width(name));
            let decision = Span::styled(text::clean(&decision).into_owned(), theme.dim());
            lines.push(Line::from(vec![Span::raw(format!("  {name}{pad}   ")), decision]));
        }
        if count > others.len() {
            let more = format!("  {} {} more", theme.glyphs.ellipsis, count - others.len());
            lines.push(words(more, theme.dim()));
        }
    }

    fn elsewhere(&self, other: &Issue) -> String {
        let target = match (self.cx.finding_target(other), &other.target_name) {
            (Some(id), _) => self.cx.short_target_name(id).into_owned(),
            (None, Some(name)) => text::clean(name).into_owned(),
            (None, None) => self.cx.theme.glyphs.dash.to_owned(),
        };
        // The name of a URL's target may end with the port already.
        let port = format!(":{}", other.port);
        if other.port > 0 && !target.ends_with(&port) { target + &port } else { target }
    }

    /// The latest scan that reported the finding.
    fn from(&self, theme: Theme, lines: &mut Vec<Line<'static>>) {
        let cx = &self.cx;
        let Some(id) = self.issue.task_id else { return };
        let mut from = format!("scan {}", cx.scan_name(id));
        match cx.scan(id) {
            Some(scan) if scan.status_name == ScanStatus::Finished => {
                from.push_str(&format!(", {}", standing::ago(cx, scan.start_time)));
            }
            Some(scan) => {
                from.push_str(&format!(
                    ", {}, {}",
                    text::clean(scan.status_name.as_str()),
                    standing::ago(cx, scan.start_time)
                ));
            }
            None => {}
        }
        pair(theme, "From", from, lines);
    }
}

/// `Tags   a b`, apart from what is above.
fn pair(theme: Theme, name: &'static str, value: String, lines: &mut Vec<Line<'static>>) {
    heading(theme, name, lines);
    if let Some(line) = lines.last_mut() {
        line.push_span(Span::raw(format!("   {value}")));
    }
}

pub(crate) fn section(theme: Theme, name: &'static str, outside: &str, lines: &mut Vec<Line<'static>>) {
    if !outside.trim().is_empty() {
        heading(theme, name, lines);
        lines.extend(plain(text::clean_text(outside.trim()).as_ref(), theme.text()));
    }
}
