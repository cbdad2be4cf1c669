//! The executive summary, and the recommendations that follow it.

use super::grid::Grid;
use super::{Block, Each, heading, rich};
use crate::RenderError;
use crate::view::{View, beginning};

/// Most kinds of findings in a table of the summary, which has one page.
const SUMMARY_ROWS: usize = 8;
/// Kinds of findings that a recommendation names; more are counted.
const KINDS: usize = 6;

/// The page for readers of one page.
pub fn walk_summary(view: &View<'_>, each: Each<'_>) -> Result<(), RenderError> {
    let words = view.words();
    rich(&view.template.summary, each)?;
    each(Block::Paragraph {
        label: "",
        text: &headline(view),
    })?;
    if !view.exploited.is_empty() {
        heading(each, 2, words.get("heading.exploited"), 0, false)?;
        walk_exploited(view, each)?;
    }
    if view.has_chart() {
        each(Block::Chart(&view.summary))?;
    }
    if !view.trend.is_empty() {
        heading(each, 2, words.get("heading.trend"), 0, false)?;
        each(Block::Facts(&view.trend))?;
    }
    if !view.settled.is_empty() {
        heading(each, 2, words.get("heading.settled"), 0, false)?;
        each(Block::Facts(&view.settled))?;
    }
    Ok(())
}

/// The numbers of a report as a sentence.
fn headline(view: &View<'_>) -> String {
    let words = view.words();
    let total: usize = view.document().counts.iter().sum();
    let findings = words.count(total, "noun.finding");
    let targets = words.count(view.document().scope.len(), "noun.target");
    match view.exploited.len() {
        0 => words.filled("text.headline", &[&findings, &targets]),
        kinds => {
            let exploited = words.count(kinds, "noun.exploited_weakness");
            words.filled(
                "text.headline_exploited",
                &[&findings, &targets, &exploited],
            )
        }
    }
}

/// The kinds of findings that attackers use.
fn walk_exploited(view: &View<'_>, each: Each<'_>) -> Result<(), RenderError> {
    let words = view.words();
    let keys = [
        "column.risk",
        "column.finding",
        "column.cve",
        "column.exploited",
        "column.places",
    ];
    let mut grid = Grid::new(words, &keys);
    for kind in view.exploited.iter().take(SUMMARY_ROWS) {
        let places = kind.places.to_string();
        let cells = [&kind.name, &kind.cves, &kind.signals, &places];
        grid.risk_row(kind.risk, words, cells.map(String::to_owned));
    }
    grid.pass(each)
}

/// More than the rest of the page of the summary has room for.
pub fn has_many_recommendations(view: &View<'_>) -> bool {
    view.recommendations.len() > SUMMARY_ROWS
}

pub fn walk_recommendations(view: &View<'_>, each: Each<'_>) -> Result<(), RenderError> {
    let words = view.words();
    let keys = [
        "column.risk",
        "column.recommendation",
        "column.finding",
        "column.removes",
    ];
    let mut grid = Grid::new(words, &keys);
    for one in &view.recommendations {
        let mut kinds: Vec<String> = one.names.iter().take(KINDS).cloned().collect();
        let more = one.names.len().saturating_sub(KINDS);
        if more > 0 {
            kinds.push(words.filled("text.and_more", &[&more.to_string()]));
        }
        if !one.signals.is_empty() {
            kinds.push(one.signals.clone());
        }
        let cells = [beginning(&one.text), kinds.join("\n"), one.effect(words)];
        grid.risk_row(one.risk, words, cells);
    }
    grid.pass(each)
}
