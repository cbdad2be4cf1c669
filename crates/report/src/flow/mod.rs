//! The order of the paged formats: a view as a sequence of blocks, the same for html, docx and pdf.
//!
//! ```text
//!   cover · contents · summary · recommendations · scope · methodology
//!     · chapter { facts, texts, places, evidence, recommendation } · chains · appendix
//! ```
//!
//! `chapter.rs` has the findings, `appendix.rs` the parts after them, `grid.rs` the tables.

mod appendix;
mod chapter;
mod grid;

use super::RenderError;
use super::logo::Logo;
use super::markdown::{self, RichBlock};
use super::view::{Fact, ProofLimit, SummaryRow, View};
use super::words::Words;
use scandeck_wire::contract::Risk;

use grid::Grid;

/// Most chapters that the contents list; the bookmarks list all.
const CONTENTS: usize = 400;
/// Most lines of contents that are on the cover.
const COVER_LINES: usize = 14;
/// Most kinds of findings in a table of the summary, which has one page.
const SUMMARY_ROWS: usize = 8;
/// Kinds of findings that a recommendation names; more are counted.
const KINDS: usize = 6;

/// A block of a paged report.
pub enum Block<'a> {
    Logo(&'a Logo),
    Title(&'a str),
    Heading {
        heading: Heading<'a>,
        is_new_page: bool,
    },
    Facts(&'a [Fact]),
    /// Text with a bold label; an empty label is not shown.
    Paragraph {
        label: &'a str,
        text: &'a str,
    },
    /// Text of the template.
    Rich(&'a [RichBlock]),
    /// A remark in small print.
    Remark(&'a str),
    /// Text in a fixed-width font.
    Verbatim(&'a str),
    Table(TableBlock<'a>),
    Chart(&'a [SummaryRow]),
    Contents(&'a [ContentsLine]),
    References {
        links: &'a [String],
        others: &'a [String],
    },
}

/// A heading. Those with an anchor are in the bookmarks.
#[derive(Clone, Debug)]
pub struct Heading<'a> {
    /// 1 or 2.
    pub level: u8,
    pub number: &'a str,
    pub text: &'a str,
    pub risk: Option<Risk>,
    /// The target of links to this heading; 0 without one.
    pub anchor: usize,
}

/// A table; rows may be shorter than the header row.
#[derive(Clone, Copy, Debug)]
pub struct TableBlock<'a> {
    pub headers: &'a [String],
    pub rows: &'a [Vec<String>],
    /// The column of the risk, and the risk of each row; empty without one.
    pub risk_column: usize,
    pub risks: &'a [Risk],
    /// Shares of the width, in percent.
    pub widths: &'a [f32],
    /// Evidence, in a fixed-width font.
    pub is_verbatim: bool,
}

impl TableBlock<'_> {
    /// The risk that a cell shows.
    pub fn risk_at(&self, row: usize, column: usize) -> Option<Risk> {
        let is_risk = column == self.risk_column;
        self.risks.get(row).copied().filter(|_| is_risk)
    }
}

#[derive(Clone, Debug)]
pub struct ContentsLine {
    pub number: String,
    pub text: String,
    pub aside: String,
    /// The heading it leads to; 0 without one.
    pub anchor: usize,
}

/// How much of a report a format shows.
#[derive(Clone, Copy, Debug)]
pub struct FlowLimits {
    /// Findings with evidence; the further ones are only rows of a table.
    pub in_full: usize,
    pub proof: ProofLimit,
}

type Each<'a> = &'a mut dyn FnMut(Block<'_>) -> Result<(), RenderError>;

/// A part before or after the chapters, with its place in the contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Summary,
    Recommendations,
    Scope,
    Methodology,
    Ids,
    Coverage,
    History,
    Changes,
    Chains,
}

impl Part {
    fn title(self, words: &Words) -> &str {
        words.get(match self {
            Self::Summary => "heading.summary",
            Self::Recommendations => "heading.recommendations",
            Self::Scope => "heading.scope",
            Self::Methodology => "heading.methodology",
            Self::Ids => "heading.appendix_ids",
            Self::Coverage => "heading.appendix_coverage",
            Self::History => "heading.appendix_history",
            Self::Changes => "heading.appendix_changes",
            Self::Chains => "heading.chains",
        })
    }
}

/// The headings of the first level, whose anchors count from 1.
struct Outline {
    before: Vec<Part>,
    chapters: usize,
    after: Vec<Part>,
}

impl Outline {
    fn of(view: &View<'_>) -> Self {
        let options = &view.document().options;
        let has_methodology = !view.template.methodology.trim().is_empty()
            || view
                .template
                .severities
                .texts()
                .iter()
                .any(|text| !text.is_empty());
        let before = [
            (Part::Summary, true),
            (Part::Recommendations, !view.recommendations.is_empty()),
            (Part::Scope, true),
            (Part::Methodology, has_methodology),
        ];
        let after = [
            (
                Part::Chains,
                options.chains && view.with_decisions() && !view.contents.is_empty(),
            ),
            (Part::Ids, options.appendix && !view.contents.is_empty()),
            (Part::Coverage, view.scans().len() > 0),
            (Part::History, options.history && !view.contents.is_empty()),
            (
                Part::Changes,
                options.changes && view.with_decisions() && !view.contents.is_empty(),
            ),
        ];
        let present = |parts: &[(Part, bool)]| {
            let present = parts.iter().filter(|(_, is_present)| *is_present);
            present.map(|(part, _)| *part).collect()
        };
        Self {
            before: present(&before),
            chapters: view.contents.len(),
            after: present(&after),
        }
    }

    fn anchor_of_chapter(&self, at: usize) -> usize {
        self.before.len() + 1 + at
    }

    fn anchor(&self, part: Part) -> usize {
        let place = |parts: &[Part]| parts.iter().position(|one| *one == part);
        let after = || place(&self.after).map(|at| self.anchor_of_chapter(self.chapters) + at);
        place(&self.before)
            .map(|at| at + 1)
            .or_else(after)
            .unwrap_or(0)
    }

    fn has(&self, part: Part) -> bool {
        self.anchor(part) > 0
    }
}

/// The headings before and after the chapters of findings.
pub fn chapters_between<'a>(view: &View<'a>) -> (Vec<&'a str>, Vec<&'a str>) {
    let outline = Outline::of(view);
    let title = |part: &Part| part.title(view.words());
    let titles = |parts: &[Part]| parts.iter().map(title).collect();
    (titles(&outline.before), titles(&outline.after))
}

/// Passes the blocks of a report to `each` in reading order.
///
/// # Errors
/// Those of `each`, and when the findings cannot be read.
pub fn walk(view: &View<'_>, limits: FlowLimits, each: Each<'_>) -> Result<(), RenderError> {
    let outline = Outline::of(view);
    walk_cover(view, &outline, each)?;
    walk_summary(view, &outline, each)?;
    if outline.has(Part::Recommendations) {
        let is_new_page = view.recommendations.len() > SUMMARY_ROWS;
        part(Part::Recommendations, &outline, view, is_new_page, each)?;
        walk_recommendations(view, each)?;
    }
    walk_scope(view, &outline, each)?;
    if outline.has(Part::Methodology) {
        walk_methodology(view, &outline, each)?;
    }
    let mut in_full = limits.in_full;
    for (at, one) in view.contents.iter().enumerate() {
        let walked = chapter::ChapterWalk {
            chapter: one,
            words: view.words(),
            anchor: outline.anchor_of_chapter(at),
            is_new_page: at == 0,
            limits: FlowLimits { in_full, ..limits },
        };
        walked.walk(each)?;
        in_full = in_full.saturating_sub(one.len());
    }
    for (at, one) in outline.after.iter().enumerate() {
        part(*one, &outline, view, at == 0, each)?;
        match one {
            Part::Ids => appendix::walk_ids(view, each)?,
            Part::Coverage => appendix::walk_coverage(view, each)?,
            Part::Changes => appendix::walk_changes(view, each)?,
            Part::Chains => appendix::walk_chains(view, each)?,
            _ => appendix::walk_history(view, each)?,
        }
    }
    Ok(())
}

/// Begins a part of the first level.
fn part(
    part: Part,
    outline: &Outline,
    view: &View<'_>,
    is_new_page: bool,
    each: Each<'_>,
) -> Result<(), RenderError> {
    let title = part.title(view.words());
    heading(each, 1, title, outline.anchor(part), is_new_page)
}

fn heading(
    each: Each<'_>,
    level: u8,
    text: &str,
    anchor: usize,
    is_new_page: bool,
) -> Result<(), RenderError> {
    each(Block::Heading {
        heading: Heading {
            level,
            number: "",
            text,
            risk: None,
            anchor,
        },
        is_new_page,
    })
}

/// Text of the template.
fn rich(text: &str, each: Each<'_>) -> Result<(), RenderError> {
    match markdown::blocks(text) {
        blocks if blocks.is_empty() => Ok(()),
        blocks => each(Block::Rich(&blocks)),
    }
}

fn walk_cover(view: &View<'_>, outline: &Outline, each: Each<'_>) -> Result<(), RenderError> {
    if let Some(logo) = &view.template.image {
        each(Block::Logo(logo))?;
    }
    each(Block::Title(&view.title))?;
    each(Block::Facts(&view.cover))?;
    let lines = contents(view, outline);
    let is_new_page = lines.len() > COVER_LINES;
    heading(
        each,
        1,
        view.words().get("heading.contents"),
        0,
        is_new_page,
    )?;
    each(Block::Contents(&lines))
}

fn contents(view: &View<'_>, outline: &Outline) -> Vec<ContentsLine> {
    let words = view.words();
    let line = |text: &str, anchor: usize| ContentsLine {
        number: String::new(),
        text: text.to_owned(),
        aside: String::new(),
        anchor,
    };
    let of_part = |part: &Part| line(part.title(words), outline.anchor(*part));
    let mut lines: Vec<ContentsLine> = outline.before.iter().map(of_part).collect();
    let chapters = view.contents.iter().take(CONTENTS).enumerate();
    lines.extend(chapters.map(|(at, chapter)| {
        let mut aside = words.count(chapter.len(), "noun.finding");
        if chapter.is_exploited {
            aside += " · KEV";
        }
        ContentsLine {
            number: chapter.number.to_string(),
            text: chapter.name.clone(),
            aside,
            anchor: outline.anchor_of_chapter(at),
        }
    }));
    let more = view.contents.len().saturating_sub(CONTENTS);
    if more > 0 {
        let count = words.count(more, "noun.more_chapter");
        lines.push(line(&words.filled("text.not_listed", &[&count]), 0));
    }
    lines.extend(outline.after.iter().map(of_part));
    lines
}

/// The page for readers of one page.
fn walk_summary(view: &View<'_>, outline: &Outline, each: Each<'_>) -> Result<(), RenderError> {
    let words = view.words();
    part(Part::Summary, outline, view, true, each)?;
    rich(&view.template.summary, each)?;
    let total: usize = view.document().counts.iter().sum();
    let findings = words.count(total, "noun.finding");
    let targets = words.count(view.document().scope.len(), "noun.target");
    each(Block::Paragraph {
        label: "",
        text: &match view.exploited.len() {
            0 => words.filled("text.headline", &[&findings, &targets]),
            kinds => {
                let kinds = words.count(kinds, "noun.exploited_weakness");
                words.filled("text.headline_exploited", &[&findings, &targets, &kinds])
            }
        },
    })?;
    if !view.exploited.is_empty() {
        heading(each, 2, words.get("heading.exploited"), 0, false)?;
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
        grid.pass(each)?;
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

fn walk_recommendations(view: &View<'_>, each: Each<'_>) -> Result<(), RenderError> {
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
        let cells = [one.text.clone(), kinds.join("\n"), one.effect(words)];
        grid.risk_row(one.risk, words, cells);
    }
    grid.pass(each)
}

fn walk_scope(view: &View<'_>, outline: &Outline, each: Each<'_>) -> Result<(), RenderError> {
    let words = view.words();
    part(Part::Scope, outline, view, false, each)?;
    rich(&view.template.scope, each)?;
    let keys = [
        "column.target",
        "column.tools",
        "column.tested",
        "column.findings",
    ];
    let mut grid = Grid::new(words, &keys);
    for row in &view.scope.targets {
        let cells = [&row.target, &row.tools, &row.tested, &row.findings];
        grid.row(cells.map(String::to_owned));
    }
    grid.pass(each)?;
    if view.scope.gaps.is_empty() {
        return Ok(());
    }
    heading(each, 2, words.get("heading.gaps"), 0, false)?;
    let keys = [
        "column.target",
        "column.tool",
        "column.start",
        "column.cause",
    ];
    let mut grid = Grid::new(words, &keys);
    for gap in &view.scope.gaps {
        let cells = [&gap.target, &gap.tool, &gap.at, &gap.cause];
        grid.row(cells.map(String::to_owned));
    }
    grid.pass(each)?;
    each(Block::Remark(words.get("text.gaps")))
}

fn walk_methodology(view: &View<'_>, outline: &Outline, each: Each<'_>) -> Result<(), RenderError> {
    let words = view.words();
    part(Part::Methodology, outline, view, false, each)?;
    rich(&view.template.methodology, each)?;
    let scale = Risk::DOWN.into_iter().zip(view.template.severities.texts());
    let mut grid = Grid::new(words, &["column.risk", "column.meaning"]);
    for (risk, text) in scale.filter(|(_, text)| !text.is_empty()) {
        grid.risk_row(risk, words, [text.to_owned()]);
    }
    grid.pass(each)
}

#[cfg(test)]
mod tests;
