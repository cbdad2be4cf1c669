//! The parts after the findings: the chains of the confirmed ones, and the appendix with the ids of
//! findings and scans, the scans with their settings, the history, and why findings changed.
//! Nothing of the appendix is needed to read the report.

use super::grid::Grid;
use super::{Block, Each, heading};
use crate::view::{Fact, FindingEntry, ProofLimit, View, incomplete_tests, stamp};
use crate::{RenderError, ReportDecision, ReportFinding};
use scandeck_wire::text::{clean_for_print as clean, clean_text_for_print as clean_text};

pub fn walk_ids(view: &View<'_>, each: Each<'_>) -> Result<(), RenderError> {
    let words = view.words();
    let selection = clean(&view.document().selection);
    let mut facts = vec![Fact {
        label: words.get("fact.generated").to_owned(),
        value: format!("{} UTC", view.generated()),
        ..Fact::default()
    }];
    if !selection.is_empty() {
        facts.push(Fact {
            label: words.get("fact.selection").to_owned(),
            value: selection.into_owned(),
            ..Fact::default()
        });
    }
    each(Block::Facts(&facts))?;
    let keys = [
        "column.number",
        "column.finding",
        "column.finding_id",
        "column.scan",
        "column.earlier",
        "column.fingerprint",
    ];
    let mut grid = Grid::new(words, &keys);
    let mut tests = Grid::new(words, &["column.number", "column.cause", "column.tests"]);
    let mut has_tests = false;
    for chapter in &view.contents {
        for read in chapter.entries(ProofLimit::NOTHING, 0) {
            let (found, entry) = read?;
            for [cause, ids] in incomplete_tests(&found.finding) {
                has_tests = true;
                tests.row([entry.number.clone(), cause, ids]);
            }
            grid.row(id_row(&found, entry));
        }
    }
    grid.pass(each)?;
    if !has_tests {
        return Ok(());
    }
    heading(each, 2, words.get("heading.incomplete_tests"), 0, false)?;
    tests.pass(each)
}

/// A manual finding has no id at the service.
fn id_row(found: &ReportFinding, entry: FindingEntry) -> [String; 6] {
    let decided = found.decided.as_ref();
    let is_manual = decided.is_some_and(|decided| decided.own);
    let id = match is_manual {
        true => String::new(),
        false => found.finding.id.to_string(),
    };
    let scan = found.finding.task_id.map(|id| id.to_string());
    let earlier: Vec<String> = found.history.iter().map(|old| old.id.to_string()).collect();
    let fingerprint = decided.map(|decided| clean(&decided.fingerprint).into_owned());
    [
        entry.number,
        entry.name,
        id,
        scan.unwrap_or_default(),
        earlier.join(", "),
        fingerprint.unwrap_or_default(),
    ]
}

pub fn walk_coverage(view: &View<'_>, each: Each<'_>) -> Result<(), RenderError> {
    let headers = view.scan_headers().map(str::to_owned).to_vec();
    let mut grid = Grid::with_headers(headers);
    view.scans().for_each(|scan| grid.row(scan));
    // A page has no room for the end, which follows from the start.
    grid.without(5).pass(each)
}

/// When each finding was found before, and which scans did not find it.
pub fn walk_history(view: &View<'_>, each: Each<'_>) -> Result<(), RenderError> {
    let words = view.words();
    let keys = [
        "column.number",
        "column.finding",
        "column.found",
        "column.earlier_dates",
        "column.not_found",
    ];
    let mut grid = Grid::new(words, &keys);
    let mut has_history = false;
    for chapter in &view.contents {
        for read in chapter.entries(ProofLimit::NOTHING, 0) {
            let (found, entry) = read?;
            let absences = found.decided.map(|decided| decided.absences);
            let absences = absences.unwrap_or_default().join(", ");
            if entry.history.is_empty() && absences.is_empty() {
                continue;
            }
            has_history = true;
            grid.row([
                entry.number,
                entry.name,
                stamp(found.found_at),
                entry.history.join(", "),
                clean(&absences).into_owned(),
            ]);
        }
    }
    match has_history {
        true => grid.pass(each),
        false => each(Block::Remark(words.get("text.no_history"))),
    }
}

/// Why each finding is new, changed, absent, reappeared or not retested.
pub fn walk_changes(view: &View<'_>, each: Each<'_>) -> Result<(), RenderError> {
    walk_lines(view, |decided| decided.why, "text.no_changes", each)
}

/// How each confirmed finding is connected to others.
pub fn walk_chains(view: &View<'_>, each: Each<'_>) -> Result<(), RenderError> {
    walk_lines(view, |decided| decided.chain, "text.no_chains", each)
}

/// Lines of each finding that has some, or else a remark.
fn walk_lines(
    view: &View<'_>,
    lines_of: fn(ReportDecision) -> Vec<String>,
    nothing: &str,
    each: Each<'_>,
) -> Result<(), RenderError> {
    let mut has_lines = false;
    for chapter in &view.contents {
        for read in chapter.entries(ProofLimit::NOTHING, 0) {
            let (found, entry) = read?;
            let lines = found.decided.map(lines_of).unwrap_or_default();
            if lines.is_empty() {
                continue;
            }
            has_lines = true;
            let title = format!("{} {}, {}", entry.number, entry.name, entry.place);
            heading(each, 2, &title, 0, false)?;
            each(Block::Verbatim(&clean_text(&lines.join("\n"))))?;
        }
    }
    if has_lines {
        return Ok(());
    }
    each(Block::Remark(view.words().get(nothing)))
}
