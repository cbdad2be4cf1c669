//! The hand-over: for the person who goes on. What is left first, then what was decided by whom, then what has no
//! reason.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Export, ExportRow, json};
use crate::contract::Risk;
use crate::report::evidence_cell;
use crate::text;
use crate::triage::{Change, Decision, Event, Reason, Verdict};

pub(super) fn write(export: &Export<'_>) -> String {
    let mut out = String::new();
    head(&mut out, export);
    let (left, decided): (Vec<&ExportRow>, Vec<&ExportRow>) =
        export.rows.iter().partition(|row| row.stance.is_undecided());
    what_is_left(&mut out, &left);
    what_was_decided(&mut out, &decided);
    our_own(&mut out, export.rows);
    without_reason(&mut out, &decided);
    by_whom(&mut out, &decided);
    out
}

// Writing into a String cannot fail, so the results below are dropped.

fn head(out: &mut String, export: &Export<'_>) {
    let _ = writeln!(out, "# Hand-over: {}\n", escaped(export.title));
    let _ = writeln!(out, "Made {} UTC by scandeck. {}.", export.made, text::plural(export.rows.len(), "finding"));
    if !export.query.is_empty() {
        let _ = writeln!(out, "\nOnly what matches: {}", escaped(export.query));
    }
    let counts = Risk::DOWN.map(|risk| {
        let all = export.rows.iter().filter(|row| row.risk() == risk);
        let left = all.clone().filter(|row| row.stance.is_undecided()).count();
        format!("| {risk} | {} | {left} |", all.count())
    });
    let _ = writeln!(out, "\n| risk | findings | undecided |\n|---|---:|---:|\n{}\n", counts.join("\n"));
}

fn what_is_left(out: &mut String, left: &[&ExportRow]) {
    let _ = writeln!(out, "## What is left: {}\n", left.len());
    if left.is_empty() {
        let _ = writeln!(out, "Nothing: every finding is decided.\n");
        return;
    }
    let _ = writeln!(out, "| risk | target | finding | where | now | state | notes |\n|---|---|---|---|---|---|---|");
    for row in left {
        let cells = [risk(row), row.target.to_string(), row.case.name.to_string(), place(row)];
        let notes = [now(row), state(row), notes(row)];
        table_row(out, cells.iter().chain(&notes));
    }
    out.push('\n');
}

/// Why it is still to be decided.
fn state(row: &ExportRow) -> String {
    let stance = &row.stance;
    match stance.again {
        None => stance.verdict.phrase(),
        Some(again) => {
            let mut said: Vec<String> = row.decisions.iter().filter_map(|event| told(event)).collect();
            if said.is_empty() {
                said.push(format!("{} by {}", row.stance.verdict, who(row)));
            }
            format!("{} ({})", json::again(again), said.join(", "))
        }
    }
}

fn told(event: &Event) -> Option<String> {
    match &event.change {
        Change::Decide(Decision { verdict, .. }) => Some(format!("{verdict} by {}", event.who)),
        _ => None,
    }
}

fn what_was_decided(out: &mut String, decided: &[&ExportRow]) {
    let _ = writeln!(out, "## What was decided: {}\n", decided.len());
    for verdict in Verdict::ALL {
        let of: Vec<&&ExportRow> = decided.iter().filter(|row| row.stance.verdict == verdict).collect();
        if of.is_empty() {
            continue;
        }
        let _ = writeln!(out, "### {}: {}\n", verdict.phrase(), of.len());
        let _ = writeln!(
            out,
            "| risk | target | finding | where | now | reason | who | when | until | notes |\n|---|---|---|---|---|---|---|---|---|---|"
        );
        for row in of {
            let stance = &row.stance;
            let recheck = if stance.recheck { " (risk rose since: look again)" } else { "" };
            let cells = [
                risk(row),
                row.target.to_string(),
                row.case.name.to_string(),
                place(row),
                now(row),
                stance.reason.map(Reason::phrase).unwrap_or_default() + recheck,
                who(row),
                stance.at.map(|at| at.to_string()).unwrap_or_default(),
                stance.until.map(|day| day.to_string()).unwrap_or_default(),
                notes(row),
            ];
            table_row(out, &cells);
        }
        out.push('\n');
    }
}

/// What persons proved, with the proof: no scanner can be asked for it again.
fn our_own(out: &mut String, rows: &[ExportRow]) {
    let own: Vec<&ExportRow> = rows.iter().filter(|row| row.case.own.is_some()).collect();
    if own.is_empty() {
        return;
    }
    let _ = writeln!(out, "## Findings of our own: {}\n", own.len());
    for row in own {
        let case = &row.case;
        let _ = writeln!(out, "### {} on {}\n", escaped(&case.name), escaped(&row.target));
        for part in [case.vuln_description.to_string(), evidence_cell(&case.vuln_evidence)] {
            as_it_is(out, &part);
        }
    }
}

/// Text set in by four blanks: no line of it can end the block or be taken for markup.
fn as_it_is(out: &mut String, given: &str) {
    if given.trim().is_empty() {
        return;
    }
    for line in text::clean_text(given).lines() {
        let _ = writeln!(out, "    {line}");
    }
    out.push('\n');
}

/// Decisions that somebody will be asked about.
fn without_reason(out: &mut String, decided: &[&ExportRow]) {
    let needs = |row: &&&ExportRow| {
        !row.stance.verdict.reasons().is_empty() && row.stance.reason.is_none() && row.notes.is_empty()
    };
    let bare: Vec<&&ExportRow> = decided.iter().filter(needs).collect();
    if bare.is_empty() {
        return;
    }
    let _ = writeln!(out, "## Decided without a reason or a note: {}\n", bare.len());
    for row in bare {
        let name = escaped(&row.case.name);
        let verdict = row.stance.verdict.phrase();
        let _ = writeln!(out, "- {name} on {}: {verdict} by {}", escaped(&row.target), escaped(&who(row)));
    }
    out.push('\n');
}

fn by_whom(out: &mut String, decided: &[&ExportRow]) {
    let mut counts: BTreeMap<String, BTreeMap<Verdict, usize>> = BTreeMap::new();
    for row in decided {
        *counts.entry(who(row)).or_default().entry(row.stance.verdict).or_default() += 1;
    }
    if counts.is_empty() {
        return;
    }
    let _ = writeln!(out, "## Who decided\n");
    for (who, verdicts) in counts {
        let each: Vec<String> =
            verdicts.iter().map(|(verdict, count)| format!("{count} {}", verdict.phrase())).collect();
        let _ = writeln!(out, "- {}: {}", escaped(&who), each.join(", "));
    }
}

fn risk(row: &ExportRow) -> String {
    match row.stance.severity {
        Some(own) if own != row.case.risk_level => format!("{own} (scanner: {})", row.case.risk_level),
        _ => row.case.risk_level.to_string(),
    }
}

fn place(row: &ExportRow) -> String {
    if row.case.port > 0 { format!("{}/{}", row.case.port, row.case.protocol) } else { String::new() }
}

/// Its presence, and what a retest saw.
fn now(row: &ExportRow) -> String {
    let presence = row.case.presence.word();
    row.retested().map_or_else(|| presence.to_owned(), |retest| format!("{presence}; {retest}"))
}

fn who(row: &ExportRow) -> String {
    match (&row.stance.who, row.stance.source) {
        (Some(who), crate::triage::VerdictSource::Rule(_)) => format!("{who}, by a rule"),
        (Some(who), _) => who.to_string(),
        (None, _) => "the service".to_owned(),
    }
}

fn notes(row: &ExportRow) -> String {
    row.note_texts().map(|note| note.to_string()).collect::<Vec<_>>().join(" / ")
}

fn table_row<'a>(out: &mut String, cells: impl IntoIterator<Item = &'a String>) {
    out.push('|');
    for cell in cells {
        let _ = write!(out, " {} |", escaped(cell));
    }
    out.push('\n');
}

/// Text that no Markdown reader takes for markup, a link or HTML.
fn escaped(given: &str) -> String {
    let given = text::clean(given);
    let mut out = String::with_capacity(given.len() + 8);
    for c in given.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            // With the slash escaped no reader makes a link of an address by itself.
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '>' | '#' | '~' | '|' | '!' | '/' | '@' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn no_text_of_a_finding_becomes_markup() {
        assert_eq!(escaped("a|b <img> [x](http://e) `c`\nd"), "a\\|b &lt;img\\> \\[x\\](http:\\/\\/e) \\`c\\`␊d");
    }
}
