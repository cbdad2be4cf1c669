//! The history of a finding: decisions, and the results of earlier scans.
//!
//! ```text
//!   Decisions           2026-11-20 14:05  anna   risk accepted until 2027-01-12, deferred
//!                       2026-11-20 14:02  ben    false positive                          undone
//!   Scans               #121 Website      1m ago - not found
//!                       #118 Website      2m ago ◆ critical   evidence changed
//!                       #115 Website      1d ago ? not retested: the scan failed
//!                       #111 Website      3d ago ▲ high
//! ```

use crate::findings::draw::detail::{heading, indent, status};
use crate::ui::{Cx, Theme, format, words};
use ratatui::prelude::{Line, Span, Style};
use scandeck_domain::proof::FindingProof;
use scandeck_domain::triage::compare::differences;
use scandeck_domain::triage::{
    Change, Decision, Event, Issue, ListedFinding, Presence, ScanSighting, TimelineEntry,
    VerdictSource,
};
use scandeck_wire::text;
use std::sync::Arc;

pub(crate) fn lines(cx: &Cx<'_>, issue: &Issue) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    decisions(cx, issue, &mut lines);
    if issue.manual().is_none() {
        scans(cx, issue, &mut lines);
    }
    lines
}

/// The events, the newest first.
fn decisions(cx: &Cx<'_>, issue: &Issue, lines: &mut Vec<Line<'static>>) {
    let state = &cx.model.findings.triage.state;
    let events = state.history(issue.key());
    heading(cx.theme, "Decisions", lines);
    let rule = cx
        .model
        .assessment(issue.id)
        .and_then(|assessment| match assessment.source {
            VerdictSource::Rule(id) => state.rule(id),
            _ => None,
        });
    if events.is_empty() && rule.is_none() {
        lines.push(words("  no decisions yet", cx.theme.dim()));
    }
    let conflict = state
        .finding_state(issue.key())
        .is_some_and(|finding_state| finding_state.is_conflict());
    let heads = state.heads(issue.key());
    let of_rule = rule.map(|rule| &rule.event);
    let widest = events
        .iter()
        .chain(of_rule)
        .map(|event| text::width(&author(event)))
        .max()
        .unwrap_or(0);
    // The rule is in force, whatever was undone later.
    lines.extend(
        of_rule
            .into_iter()
            .flat_map(|event| event_lines(cx.theme, event, widest, cx.theme.text(), "")),
    );
    for event in events.iter().rev() {
        let undone = state.is_undone(event.batch);
        let note = match () {
            () if undone => "   undone",
            () if conflict && heads.contains(&event.id) => "   in conflict",
            () => "",
        };
        let style = if undone {
            cx.theme.undone()
        } else {
            cx.theme.text()
        };
        lines.extend(event_lines(cx.theme, event, widest, style, note));
    }
}

/// The author, and the member who sent the event if it is another one: `anna, sent by bob`.
fn author(event: &Event) -> String {
    let who = text::clean(&event.who);
    match &event.sent_by {
        Some(sender) => format!("{who}, sent by {}", text::clean(sender)),
        None => who.into_owned(),
    }
}

fn event_lines(
    theme: Theme,
    event: &Arc<Event>,
    widest: usize,
    style: Style,
    note: &'static str,
) -> Vec<Line<'static>> {
    let who = author(event);
    let pad = " ".repeat(widest.saturating_sub(text::width(&who)));
    let at = event.at.0.strftime("%Y-%m-%d %H:%M");
    let change = change_words(&event.change);
    let mut change = change.split('\n');
    let first = text::clean(change.next().unwrap_or_default()).into_owned();
    let mut lines = vec![Line::from(vec![
        Span::styled(format!("  {at}  "), theme.dim()),
        Span::styled(format!("{who}{pad}  "), style),
        Span::styled(first, style),
        Span::styled(note, theme.warn()),
    ])];
    lines.extend(change.map(|line| words(format!("    {}", text::clean(line)), style)));
    lines
}

/// The scans from the first that reported the finding, the latest first: those that reported it
/// with the differences from the earlier report, those that did not, and those that do not prove
/// its absence.
fn scans(cx: &Cx<'_>, issue: &Issue, lines: &mut Vec<Line<'static>>) {
    let Some(known) = &cx.model.findings.triage.earlier else {
        return;
    };
    heading(cx.theme, "Scans", lines);
    let timeline = known.timeline(issue);
    let absent = |at: usize| {
        timeline
            .get(at)
            .is_some_and(|entry| entry.outcome == ScanSighting::Absent)
    };
    let mut skipped = 0;
    for (at, entry) in timeline.iter().enumerate() {
        // Of a long absence, only the first and the last scan are dates of interest.
        if at > 0 && absent(at - 1) && absent(at) && absent(at + 1) {
            skipped += 1;
            continue;
        }
        if skipped > 0 {
            let more = text::plural(skipped, "more scan");
            lines.push(indent(words(
                format!("{more} did not find it"),
                cx.theme.dim(),
            )));
            skipped = 0;
        }
        let earlier = timeline[at + 1..]
            .iter()
            .find_map(|entry| match &entry.outcome {
                ScanSighting::Seen(finding) => Some(&**finding),
                ScanSighting::Absent | ScanSighting::NotRetested(_) => None,
            });
        lines.push(indent(scan_line(cx, entry, earlier)));
    }
}

fn scan_line(cx: &Cx<'_>, entry: &TimelineEntry, earlier: Option<&ListedFinding>) -> Line<'static> {
    let scan = entry
        .scan
        .map_or_else(|| "a scan".to_owned(), |id| cx.scan_name(id));
    let mut line = Line::from(vec![
        Span::raw(format!("{scan:<18} ")),
        Span::styled(
            format!("{:>9}  ", status::ago(cx, entry.at)),
            cx.theme.dim(),
        ),
    ]);
    let sign = |presence: Presence| cx.theme.presence_sign(presence);
    match &entry.outcome {
        ScanSighting::Absent => {
            line.push_span(Span::styled(
                format!("{} not found", sign(Presence::Absent)),
                cx.theme.good(),
            ));
        }
        ScanSighting::NotRetested(gap) => {
            let why = format!(
                "{} not retested: {}",
                sign(Presence::NotRetested),
                gap.reason()
            );
            line.push_span(Span::styled(why, cx.theme.dim()));
        }
        ScanSighting::Seen(finding) => {
            let risk = finding.risk_level;
            let seen = format!("{} {risk:<8}", format::risk_glyph(cx.theme, risk));
            line.push_span(Span::styled(seen, cx.theme.risk(risk)));
            if let Some(earlier) = earlier {
                let differs = differences(earlier, finding);
                let differs = if differs.is_empty() {
                    "unchanged".to_owned()
                } else {
                    differs.join(", ")
                };
                line.push_span(Span::styled(format!("  {differs}"), cx.theme.dim()));
            }
        }
    }
    line
}

/// The change of an event as a phrase. Notes keep their lines.
fn change_words(change: &Change) -> String {
    match change {
        Change::Decide(decision) => decision_words(decision),
        Change::Note(note) => format!("note: {}", note.trim()),
        Change::Proof(proof) => proof_words(proof),
        Change::Tag { add, remove } => {
            let signed =
                |sign: char| move |tag: &scandeck_wire::contract::Shared| format!("{sign}{tag}");
            let all: Vec<String> = add
                .iter()
                .map(signed('+'))
                .chain(remove.iter().map(signed('-')))
                .collect();
            format!("tags: {}", all.join(" "))
        }
        Change::Severity(Some(risk)) => format!("severity: {risk}"),
        Change::Severity(None) => "severity: as scanned".to_owned(),
        Change::Assign(Some(member)) => format!("assigned to {member}"),
        Change::Assign(None) => "assigned to nobody".to_owned(),
        Change::Due(Some(day)) => format!("due {day}"),
        Change::Due(None) => "no due date".to_owned(),
        Change::Inherit(_) => "earlier decision reused".to_owned(),
        Change::Rule { query, decision } => format!("rule {query}: {}", decision_words(decision)),
        Change::Off(true) => "turned off".to_owned(),
        Change::Off(false) => "turned on".to_owned(),
        Change::DeleteRule(query) => format!("rule {query} deleted"),
        Change::Manual(own) => format!("manual finding: {}, {}", own.name, own.risk),
        Change::Link(link) => format!("link {} to {}: {}", link.from, link.to, link.reason),
        Change::Baseline(_) => "baseline".to_owned(),
        Change::Undo => "undo".to_owned(),
        Change::Redo => "redo".to_owned(),
    }
}

/// The outcome, the request, and both answers in short.
fn proof_words(proof: &FindingProof) -> String {
    format!(
        "proof: {}\n{} {}\nthen: {}\nnow: {}",
        proof.phrase(),
        proof.method,
        proof.url,
        proof.then.summary(),
        proof.summary()
    )
}

fn decision_words(decision: &Decision) -> String {
    let mut words = decision.verdict.phrase();
    if let Some(until) = decision.until {
        words.push_str(&format!(" until {until}"));
    }
    if let Some(reason) = decision.reason {
        words.push_str(&format!(", {}", reason.phrase()));
    }
    words
}

#[cfg(test)]
mod tests {
    use crate::base::Snapshot;
    use crate::testing::{Size, TestDashboard, finding, scan, stamp, table};
    use scandeck_wire::contract::{Finding, Risk, Scan, ScanId, ScanStatus, Stamp};

    /// The lines of the tab about scans, for a finding that these of the scans 11 to 21 reported.
    fn scan_lines(reported: &[i64], status: impl Fn(i64) -> ScanStatus) -> Vec<String> {
        let mut app = TestDashboard::new();
        app.model.screen.size = Size {
            columns: 80,
            rows: 40,
        };
        let ended = |id: i64| {
            let at = Stamp(
                jiff::Timestamp::from_second(stamp().0.as_second() - 100_000 + id * 1000).unwrap(),
            );
            Scan {
                start_time: Some(at),
                end_time: Some(at),
                ..scan(id, 1, status(id), 100)
            }
        };
        app.feed(Snapshot::Scans(table([11, 15, 20, 21].map(ended))));
        let found = |&by: &i64| Finding {
            task_id: Some(ScanId(by)),
            ..finding(by, 1, "A key", Risk::High)
        };
        app.feed(Snapshot::Findings(table(reported.iter().map(found))));
        app.keys("3 enter ] ] ]");
        let lines = app
            .frame()
            .into_iter()
            .skip_while(|line| !line.contains("Scans"));
        lines
            .filter(|line| line.contains('#'))
            .map(|line| line.trim().to_owned())
            .collect()
    }

    #[test]
    fn finding_that_was_fixed_and_came_back_has_the_scan_without_it() {
        let lines = scan_lines(&[11, 21], |_| ScanStatus::Finished);
        let ids = ["#21", "#20", "#15", "#11"];
        assert_eq!(lines.len(), ids.len(), "{lines:#?}");
        assert!(
            lines.iter().zip(ids).all(|(line, id)| line.contains(id)),
            "{lines:#?}"
        );
        let absent: Vec<bool> = lines
            .iter()
            .map(|line| line.contains("not found"))
            .collect();
        assert_eq!(absent, [false, true, true, false], "{lines:#?}");
    }

    #[test]
    fn scan_that_failed_is_no_absence() {
        let failed = |id| {
            if id == 20 {
                ScanStatus::FailedToStart
            } else {
                ScanStatus::Finished
            }
        };
        let lines = scan_lines(&[11, 15, 21], failed);
        assert!(
            lines[1].contains("#20") && lines[1].contains("not retested: "),
            "{lines:#?}"
        );
        assert!(
            !lines.iter().any(|line| line.contains("not found")),
            "{lines:#?}"
        );
    }
}
