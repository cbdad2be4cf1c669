//! The hand-over for the next person: undecided findings, decisions, decisions without a reason,
//! decisions per person.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Export, ExportError, ExportRow};
use crate::triage::{Presence, Reason, Verdict};
use scandeck_report::{evidence_cell, locations};
use scandeck_wire::contract::Risk;
use scandeck_wire::text;

pub(super) fn write(export: &Export<'_>) -> Result<String, ExportError> {
    let mut out = String::new();
    head(&mut out, export);
    if export.rows.is_empty() {
        let none = if export.query.is_empty() {
            "There are no findings."
        } else {
            "No findings match the query."
        };
        let _ = writeln!(out, "{none}");
        return Ok(out);
    }
    let (left, decided): (Vec<&ExportRow>, Vec<&ExportRow>) = export
        .rows
        .iter()
        .partition(|row| row.assessment.is_undecided());
    list_undecided(&mut out, &left)?;
    list_decided(&mut out, &decided)?;
    list_manual(&mut out, export.rows);
    list_without_reason(&mut out, &decided);
    count_by_person(&mut out, &decided);
    Ok(out)
}

// Writing to a String cannot fail, so the results below are dropped.

fn head(out: &mut String, export: &Export<'_>) {
    let _ = writeln!(out, "# Hand-over: {}\n", escaped(export.title));
    let (present, absent): (Vec<&ExportRow>, Vec<&ExportRow>) =
        export.rows.iter().partition(|row| row.issue.is_present());
    let more = more_absent(absent.len());
    let _ = writeln!(
        out,
        "Created {} UTC by scandeck. {}{more}.",
        export.made,
        text::plural(present.len(), "finding")
    );
    if !export.query.is_empty() {
        let _ = writeln!(out, "\nQuery: {}", escaped(export.query));
    }
    let counts = Risk::DOWN.map(|risk| {
        let all = present.iter().filter(|row| row.risk() == risk);
        let left = all
            .clone()
            .filter(|row| row.assessment.is_undecided())
            .count();
        let absent = absent.iter().filter(|row| row.risk() == risk).count();
        format!("| {risk} | {} | {left} | {absent} |", all.count())
    });
    let columns = "| risk | findings | undecided | absent |\n|---|---:|---:|---:|";
    let _ = writeln!(out, "\n{columns}\n{}\n", counts.join("\n"));
}

/// `, 2 more absent`, or nothing.
fn more_absent(absent: usize) -> String {
    if absent > 0 {
        format!(", {absent} more absent")
    } else {
        String::new()
    }
}

/// `4, 1 more absent`: the present findings, and the absent ones.
fn counted(rows: &[&ExportRow]) -> String {
    let present = rows.iter().filter(|row| row.issue.is_present()).count();
    format!("{present}{}", more_absent(rows.len() - present))
}

fn list_undecided(out: &mut String, left: &[&ExportRow]) -> Result<(), ExportError> {
    let _ = writeln!(out, "## Undecided: {}\n", counted(left));
    if left.is_empty() {
        let _ = writeln!(out, "Every finding is decided.\n");
        return Ok(());
    }
    let _ = writeln!(
        out,
        "| risk | target | finding | port | presence | verdict | notes |\n|---|---|---|---|---|---|---|"
    );
    for (row, name) in left.iter().zip(names(left)?) {
        let cells = [risk(row), row.target.to_string(), name, place(row)];
        let notes = [presence(row), row.stated_verdict(), row.joined_notes(" / ")];
        table_row(out, cells.iter().chain(&notes));
    }
    out.push('\n');
    Ok(())
}

fn list_decided(out: &mut String, decided: &[&ExportRow]) -> Result<(), ExportError> {
    let _ = writeln!(out, "## Decided: {}\n", counted(decided));
    for verdict in Verdict::ALL {
        let of: Vec<&ExportRow> = decided
            .iter()
            .copied()
            .filter(|row| row.assessment.verdict == verdict)
            .collect();
        if of.is_empty() {
            continue;
        }
        let _ = writeln!(out, "### {}: {}\n", verdict.phrase(), counted(&of));
        let _ = writeln!(
            out,
            "| risk | target | finding | port | presence | reason | who | when | until | notes |\n|---|---|---|---|---|---|---|---|---|---|"
        );
        for (row, name) in of.iter().zip(names(&of)?) {
            let assessment = &row.assessment;
            let recheck = if assessment.recheck {
                " (re-check: risk or exploitation increased)"
            } else {
                ""
            };
            let cells = [
                risk(row),
                row.target.to_string(),
                name,
                place(row),
                presence(row),
                assessment.reason.map(Reason::phrase).unwrap_or_default() + recheck,
                who(row),
                assessment.at.map(|at| at.to_string()).unwrap_or_default(),
                assessment
                    .until
                    .map(|day| day.to_string())
                    .unwrap_or_default(),
                row.joined_notes(" / "),
            ];
            table_row(out, &cells);
        }
        out.push('\n');
    }
    Ok(())
}

/// The names. Rows that have target, name and port in common also name where they were found.
fn names(rows: &[&ExportRow]) -> Result<Vec<String>, ExportError> {
    let key = |row: &ExportRow| {
        let (target, name) = (row.target.to_string(), row.issue.name.to_string());
        (target, name, place(row))
    };
    let mut counts = BTreeMap::<_, usize>::new();
    for row in rows {
        *counts.entry(key(row)).or_default() += 1;
    }
    let distinct = |row: &&ExportRow| -> Result<String, ExportError> {
        let name = row.issue.name.to_string();
        if counts.get(&key(row)).is_none_or(|count| *count < 2) {
            return Ok(name);
        }
        let texts = row.issue.texts()?;
        Ok(match locations(&texts.vuln_evidence).first() {
            Some(location) => format!("{name}, {location}"),
            None => name,
        })
    };
    rows.iter().map(distinct).collect()
}

/// Manual findings with their texts, which no scanner reports again.
fn list_manual(out: &mut String, rows: &[ExportRow]) {
    let own: Vec<&ExportRow> = rows
        .iter()
        .filter(|row| row.issue.manual().is_some())
        .collect();
    if own.is_empty() {
        return;
    }
    let _ = writeln!(out, "## Manual findings: {}\n", own.len());
    for row in own {
        let issue = &row.issue;
        let _ = writeln!(
            out,
            "### {} on {}\n",
            escaped(&issue.name),
            escaped(&row.target)
        );
        // The texts of a manual finding are in memory.
        let texts = issue.held_texts().cloned().unwrap_or_default();
        for part in [
            texts.vuln_description.to_string(),
            evidence_cell(&texts.vuln_evidence),
            texts.recommendation.to_string(),
        ] {
            verbatim(out, &part);
        }
    }
}

/// Text indented by four spaces, so that no line ends the block or is parsed as markup.
fn verbatim(out: &mut String, given: &str) {
    if given.trim().is_empty() {
        return;
    }
    for line in text::clean_text(given).lines() {
        let _ = writeln!(out, "    {line}");
    }
    out.push('\n');
}

fn list_without_reason(out: &mut String, decided: &[&ExportRow]) {
    let lacks_reason = |row: &&&ExportRow| {
        !row.assessment.verdict.reasons().is_empty()
            && row.assessment.reason.is_none()
            && row.notes.is_empty()
    };
    let bare: Vec<&&ExportRow> = decided.iter().filter(lacks_reason).collect();
    if bare.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "## Dismissed or accepted without reason or note: {}\n",
        bare.len()
    );
    for row in bare {
        let name = escaped(&row.issue.name);
        let verdict = row.assessment.verdict.phrase();
        let _ = writeln!(
            out,
            "- {name} on {}: {verdict} by {}",
            escaped(&row.target),
            escaped(&who(row))
        );
    }
    out.push('\n');
}

fn count_by_person(out: &mut String, decided: &[&ExportRow]) {
    let mut counts: BTreeMap<String, BTreeMap<Verdict, usize>> = BTreeMap::new();
    for row in decided {
        *counts
            .entry(who(row))
            .or_default()
            .entry(row.assessment.verdict)
            .or_default() += 1;
    }
    if counts.is_empty() {
        return;
    }
    let _ = writeln!(out, "## Decisions by person\n");
    for (who, verdicts) in counts {
        let each: Vec<String> = verdicts
            .iter()
            .map(|(verdict, count)| format!("{count} {}", verdict.phrase()))
            .collect();
        let _ = writeln!(out, "- {}: {}", escaped(&who), each.join(", "));
    }
}

fn risk(row: &ExportRow) -> String {
    match row.assessment.severity {
        Some(own) if own != row.issue.risk_level => {
            let before = if row.issue.manual().is_some() {
                "before"
            } else {
                "scanner"
            };
            format!("{own} ({before}: {})", row.issue.risk_level)
        }
        _ => row.issue.risk_level.to_string(),
    }
}

fn place(row: &ExportRow) -> String {
    if row.issue.port() > 0 {
        format!("{}/{}", row.issue.port(), row.issue.protocol)
    } else {
        String::new()
    }
}

/// The presence, and the result of the retest.
fn presence(row: &ExportRow) -> String {
    let presence = row.issue.presence_in(Presence::label);
    row.retest_summary().map_or_else(
        || presence.to_owned(),
        |retest| format!("{presence}; {retest}"),
    )
}

fn who(row: &ExportRow) -> String {
    match (&row.assessment.who, row.assessment.source) {
        (Some(who), crate::triage::VerdictSource::Rule(_)) => format!("rule of {who}"),
        (Some(who), _) => who.to_string(),
        (None, _) => "the service".to_owned(),
    }
}

fn table_row<'a>(out: &mut String, cells: impl IntoIterator<Item = &'a String>) {
    out.push('|');
    for cell in cells {
        let _ = write!(out, " {} |", escaped(cell));
    }
    out.push('\n');
}

/// Escapes what Markdown reads as markup or HTML, and nothing else, so that the source is readable
/// too. A bare address may become a link: it shows where it leads.
pub(super) fn escaped(given: &str) -> String {
    let given = text::clean(given);
    let letters: Vec<char> = given.chars().collect();
    let at = |index: Option<usize>| index.and_then(|index| letters.get(index)).copied();
    let is_word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    let is_space = |letter: Option<char>| letter.is_some_and(char::is_whitespace);
    let mut out = String::with_capacity(given.len() + 8);
    // Only blanks so far: a mark of a list or heading.
    let mut is_at_start = true;
    for (index, &letter) in letters.iter().enumerate() {
        let (before, after) = (at(index.checked_sub(1)), at(Some(index + 1)));
        let is_inside_word = is_word(before) && is_word(after);
        match letter {
            '<' => out.push_str("&lt;"),
            '&' if is_entity(&letters[index..]) => out.push_str("&amp;"),
            '\\' if after.is_none_or(|next| next.is_ascii_punctuation()) => {
                out.extend(['\\', letter])
            }
            '*' | '~' if !is_at_start && is_space(before) && is_space(after) => out.push(letter),
            // Without an opening bracket, a closing one is text.
            '`' | '*' | '[' | '~' | '|' => out.extend(['\\', letter]),
            '_' if !is_inside_word => out.extend(['\\', letter]),
            '#' | '+' | '-' | '>' if is_at_start => out.extend(['\\', letter]),
            letter => out.push(letter),
        }
        is_at_start &= letter.is_whitespace();
    }
    out
}

/// `&amp;` or `&#60;`.
fn is_entity(letters: &[char]) -> bool {
    let end = letters
        .iter()
        .skip(1)
        .position(|letter| !letter.is_ascii_alphanumeric() && *letter != '#');
    end.is_some_and(|end| end > 0 && letters[end + 1] == ';')
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn markup_in_a_finding_is_escaped() {
        for (given, expected) in [
            (
                "a|b <img> [x](http://e) `c`\nd",
                "a\\|b &lt;img> \\[x](http://e) \\`c\\`␊d",
            ),
            (
                "_a_ *b* ~~c~~ &lt; x@y.z www.a.b",
                "\\_a\\_ \\*b\\* \\~\\~c\\~\\~ &amp;lt; x@y.z www.a.b",
            ),
            ("# not a heading", "\\# not a heading"),
            ("* not a list", "\\* not a list"),
            ("no end *", "no end \\*"),
            ("  * not a list", "  \\* not a list"),
            ("  - not a list", "  \\- not a list"),
            ("C:\\[1] \\|", "C:\\\\\\[1] \\\\\\|"),
        ] {
            assert_eq!(escaped(given), expected);
        }
    }

    #[test]
    fn text_without_markup_is_unchanged() {
        for text in [
            "Private key at /backup/s.key",
            "session_id (v1.2) & {x}!",
            "C# 8 > 7, a-b",
            r"C:\inetpub 2 * 3 ~ 6",
        ] {
            assert_eq!(escaped(text), text);
        }
    }
}
