//! The order of the paged formats: a view as a sequence of blocks, the same for docx and pdf.
//!
//! ```text
//!   title · cover · summary · contents · chapter { finding { facts, texts, evidence } } · recommendations · appendix
//! ```
//!
//! The facts of the cover are made in `view/overview.rs`.

use super::RenderError;
use super::view::{Chapter, Fact, FindingEntry, Proof, ProofLimit, Prose, SummaryRow, View};
use scandeck_wire::contract::Risk;
use scandeck_wire::text::plural;

/// Most columns of a table; evidence with more is written as text.
const COLUMNS: usize = 8;
/// Most chapters that the contents list; the bookmarks list all.
const CONTENTS: usize = 400;

/// A block of a paged report.
pub enum Block<'a> {
    Title(&'a str),
    /// A heading of the first level starts on a new page when `is_new_page`.
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
    /// 1 to 3.
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
    /// Shares of the width, in percent.
    pub widths: &'a [f32],
    /// Evidence, in a fixed-width font.
    pub is_verbatim: bool,
}

#[derive(Clone, Debug)]
pub struct ContentsLine {
    pub number: String,
    pub text: String,
    pub aside: String,
    /// The heading it leads to; 0 without one.
    pub anchor: usize,
}

/// Passes the blocks of a report to `each` in reading order. After this many findings `in_full`,
/// the further ones are rows of a table.
///
/// # Errors
/// Those of `each`, and when the findings cannot be read.
pub fn walk(view: &View<'_>, mut in_full: usize, each: Each<'_>) -> Result<(), RenderError> {
    each(Block::Title(&view.title))?;
    each(Block::Facts(&view.cover))?;
    let mut anchors = Anchors { next: 1 };
    heading(each, 1, "", "Risk summary", anchors.next(), false)?;
    each(Block::Chart(&view.summary))?;
    if !view.settled.is_empty() {
        each(Block::Facts(&view.settled))?;
    }
    let (first_chapter, after) = (anchors.next + 1, anchors.next + 1 + view.contents.len());
    let scans: Vec<Vec<String>> = view.scans().map(|scan| scan.to_vec()).collect();
    heading(each, 1, "", "Contents", anchors.next(), false)?;
    each(Block::Contents(&contents(
        view,
        first_chapter,
        after,
        !scans.is_empty(),
    )))?;
    for (at, chapter) in view.contents.iter().enumerate() {
        walk_chapter(chapter, first_chapter + at, in_full, at == 0, each)?;
        in_full = in_full.saturating_sub(chapter.len());
    }
    if !view.recommendations.is_empty() {
        heading(each, 1, "", "Recommendations", after, true)?;
        walk_recommendations(view, each)?;
    }
    if !scans.is_empty() {
        heading(each, 1, "", "Appendix: scans", after + 1, true)?;
        walk_scans(&scans, each)?;
    }
    Ok(())
}

fn walk_scans(scans: &[Vec<String>], each: Each<'_>) -> Result<(), RenderError> {
    each(Block::Table(TableBlock {
        headers: &View::SCAN_HEADERS.map(str::to_owned),
        rows: scans,
        widths: &[7.0, 13.0, 18.0, 10.0, 13.0, 13.0, 7.0, 19.0],
        is_verbatim: false,
    }))
}

fn walk_recommendations(view: &View<'_>, each: Each<'_>) -> Result<(), RenderError> {
    let rows: Vec<Vec<String>> = view
        .recommendations
        .iter()
        .map(|one| {
            vec![
                one.risk.to_string(),
                one.name.clone(),
                one.findings.to_string(),
                one.targets.to_string(),
                one.text.clone(),
            ]
        })
        .collect();
    let headers = ["Risk", "Finding", "Findings", "Targets", "Recommendation"];
    each(Block::Table(TableBlock {
        headers: &headers.map(str::to_owned),
        rows: &rows,
        widths: &[10.0, 28.0, 10.0, 9.0, 43.0],
        is_verbatim: false,
    }))
}

struct Anchors {
    next: usize,
}

impl Anchors {
    fn next(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }
}

fn contents(
    view: &View<'_>,
    first_chapter: usize,
    after: usize,
    has_scans: bool,
) -> Vec<ContentsLine> {
    let mut lines: Vec<ContentsLine> = view
        .contents
        .iter()
        .take(CONTENTS)
        .enumerate()
        .map(|(at, chapter)| ContentsLine {
            number: chapter.number.to_string(),
            text: chapter.name.clone(),
            aside: plural(chapter.len(), "finding"),
            anchor: first_chapter + at,
        })
        .collect();
    let line = |text: String, anchor: usize| ContentsLine {
        number: String::new(),
        text,
        aside: String::new(),
        anchor,
    };
    if let Some(more) = view
        .contents
        .len()
        .checked_sub(CONTENTS)
        .filter(|more| *more > 0)
    {
        lines.push(line(
            format!("{} not listed", plural(more, "more chapter")),
            0,
        ));
    }
    if !view.recommendations.is_empty() {
        lines.push(line("Recommendations".to_owned(), after));
    }
    if has_scans {
        lines.push(line("Appendix: scans".to_owned(), after + 1));
    }
    lines
}

type Each<'a> = &'a mut dyn FnMut(Block<'_>) -> Result<(), RenderError>;

fn heading(
    each: Each<'_>,
    level: u8,
    number: &str,
    text: &str,
    anchor: usize,
    is_new_page: bool,
) -> Result<(), RenderError> {
    each(Block::Heading {
        heading: Heading {
            level,
            number,
            text,
            risk: None,
            anchor,
        },
        is_new_page,
    })
}

fn walk_chapter(
    chapter: &Chapter<'_>,
    anchor: usize,
    in_full: usize,
    is_new_page: bool,
    each: Each<'_>,
) -> Result<(), RenderError> {
    heading(
        each,
        1,
        &chapter.number.to_string(),
        &chapter.name,
        anchor,
        is_new_page,
    )?;
    if chapter.is_empty() {
        each(Block::Remark("No findings."))?;
    }
    walk_prose(&chapter.common, each)?;
    walk_advice(&chapter.common, each)?;
    for entry in chapter.entries(ProofLimit::PAGES, 0).take(in_full) {
        walk_entry(&entry?.1, each)?;
    }
    let rows = chapter
        .entries(ProofLimit::NOTHING, in_full)
        .map(|entry| Ok(listed(entry?.1)));
    let rows = rows.collect::<Result<Vec<Vec<String>>, RenderError>>()?;
    if rows.is_empty() {
        return Ok(());
    }
    let number = plural(rows.len(), "finding");
    each(Block::Remark(&format!(
        "{number} without details. The other formats have them."
    )))?;
    let headers = ["No.", "Risk", "Finding", "Target"].map(str::to_owned);
    each(Block::Table(TableBlock {
        headers: &headers,
        rows: &rows,
        widths: &[11.0, 10.0, 45.0, 34.0],
        is_verbatim: false,
    }))
}

/// A finding as a row.
fn listed(entry: FindingEntry) -> Vec<String> {
    let target = entry
        .prose
        .facts
        .into_iter()
        .find(|fact| fact.label == "Target")
        .map(|fact| fact.value);
    vec![
        entry.number,
        entry.risk.to_string(),
        entry.name,
        target.unwrap_or_default(),
    ]
}

fn walk_entry(entry: &FindingEntry, each: Each<'_>) -> Result<(), RenderError> {
    let heading = Heading {
        level: 2,
        number: &entry.number,
        text: &entry.name,
        risk: Some(entry.risk),
        anchor: 0,
    };
    each(Block::Heading {
        heading,
        is_new_page: false,
    })?;
    walk_prose(&entry.prose, each)?;
    walk_proof(&entry.proof, each)?;
    if !entry.cut.is_empty() {
        each(Block::Remark(&entry.cut))?;
    }
    walk_advice(&entry.prose, each)?;
    if !entry.history.is_empty() {
        each(Block::Remark(&format!(
            "Earlier findings: {}",
            entry.history.join(", ")
        )))?;
    }
    Ok(())
}

fn walk_prose(prose: &Prose, each: Each<'_>) -> Result<(), RenderError> {
    if !prose.facts.is_empty() {
        each(Block::Facts(&prose.facts))?;
    }
    for Fact { label, value, .. } in &prose.paragraphs {
        let label = if *label == "Description" { "" } else { label };
        each(Block::Paragraph { label, text: value })?;
    }
    Ok(())
}

fn walk_advice(prose: &Prose, each: Each<'_>) -> Result<(), RenderError> {
    if !prose.recommendation.is_empty() {
        each(Block::Paragraph {
            label: "Recommendation",
            text: &prose.recommendation,
        })?;
    }
    if !prose.links.is_empty() || !prose.other_references.is_empty() {
        each(Block::References {
            links: &prose.links,
            others: &prose.other_references,
        })?;
    }
    Ok(())
}

fn walk_proof(proof: &Proof, each: Each<'_>) -> Result<(), RenderError> {
    match proof {
        Proof::Nothing => Ok(()),
        Proof::Text(text) => each(Block::Verbatim(text)),
        Proof::Table { headers, rows } => {
            let columns = rows
                .iter()
                .map(Vec::len)
                .max()
                .unwrap_or(0)
                .max(headers.len());
            match columns {
                0 => Ok(()),
                1..=COLUMNS => {
                    let widths = widths(headers, rows, columns);
                    each(Block::Table(TableBlock {
                        headers,
                        rows,
                        widths: &widths,
                        is_verbatim: true,
                    }))
                }
                _ => {
                    let view = scandeck_wire::contract::EvidenceView::Table {
                        headers: headers.clone(),
                        rows: rows.clone(),
                    };
                    each(Block::Verbatim(&super::csv::evidence(&view)))
                }
            }
        }
    }
}

/// Shares of the width by the length of the cells: a long column gets more, and a short one what it
/// needs.
fn widths(headers: &[String], rows: &[Vec<String>], columns: usize) -> Vec<f32> {
    // Headers are bold, and look odd when they are broken.
    let header = |at: usize| {
        headers
            .get(at)
            .map_or(0, |header| header.chars().take(20).count() + 4)
    };
    let mut lengths: Vec<usize> = (0..columns).map(|at| header(at).max(8)).collect();
    for row in rows {
        for (length, cell) in lengths.iter_mut().zip(row) {
            let longest = cell
                .lines()
                .map(|line| line.chars().take(60).count())
                .max()
                .unwrap_or(0);
            *length = (*length).max(longest);
        }
    }
    let total: usize = lengths.iter().sum();
    lengths
        .into_iter()
        .map(|length| length as f32 * 100.0 / total as f32)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::Document;
    use super::super::tests::data;
    use super::*;
    use scandeck_wire::contract::GroupBy;

    #[test]
    fn findings_beyond_the_limit_are_table_rows() {
        let data = data(GroupBy::Target);
        let document = Document::new(&data).unwrap();
        let (mut in_full, mut listed) = (Vec::new(), Vec::new());
        let mut note = |block: Block<'_>| -> Result<(), RenderError> {
            match block {
                Block::Heading { heading, .. } if heading.level == 2 => {
                    in_full.push(heading.number.to_owned())
                }
                Block::Table(table) if table.headers[0] == "No." => {
                    listed.extend(table.rows.to_vec())
                }
                _ => {}
            }
            Ok(())
        };
        walk(&View::new(&document).unwrap(), 1, &mut note).unwrap();
        assert_eq!(
            (in_full.len(), listed.len()),
            (1, 2),
            "{in_full:?} {listed:?}"
        );
        assert!(
            listed
                .iter()
                .all(|row| row.len() == 4 && row.iter().all(|cell| !cell.is_empty())),
            "{listed:?}"
        );
    }
}
