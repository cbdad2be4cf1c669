//! The executive summary, and the recommendations that follow it.

use super::grid::Grid;
use super::{Block, Each, heading, rich};
use crate::RenderError;
use crate::view::View;

/// Most kinds of findings in a table of the summary, which has one page.
const SUMMARY_ROWS: usize = 8;
/// Characters of a recommendation in the table of all of them.
const MOST_OF_TEXT: usize = 400;

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
    each(Block::Chart(&view.summary))?;
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

/// The beginning of a recommendation, to its last sentence or word within [`MOST_OF_TEXT`]. The
/// chapter of a finding has all of it: some scanners recommend a page.
fn beginning(text: &str) -> String {
    let Some((limit, _)) = text.char_indices().nth(MOST_OF_TEXT) else {
        return text.to_owned();
    };
    let head = &text[..limit];
    let sentence = [". ", ".\n", "\n\n"].iter();
    let sentence = sentence.filter_map(|end| Some(head.rfind(end)? + 1)).max();
    let end = sentence.filter(|end| *end > limit / 2);
    let end = end.or_else(|| head.rfind(char::is_whitespace));
    format!("{} …", head[..end.unwrap_or(limit)].trim_end())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_recommendation_ends_with_a_sentence_or_word() {
        let short = "Update to version 2.";
        assert_eq!(beginning(short), short);
        let sentence = "Validate each input on the server, with a list of what is allowed. ";
        let cut = beginning(&sentence.repeat(20));
        assert_eq!(cut, format!("{} …", sentence.repeat(5).trim_end()));
        let words = beginning(&"überall ".repeat(100));
        assert_eq!(words, format!("{} …", "überall ".repeat(50).trim_end()));
        let one_word = beginning(&"ü".repeat(1000));
        assert_eq!(one_word, format!("{} …", "ü".repeat(MOST_OF_TEXT)));
    }
}
