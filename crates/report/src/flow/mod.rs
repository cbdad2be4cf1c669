//! The order of the paged formats: a view as a sequence of blocks, the same for html, docx and pdf.
//!
//! ```text
//!   cover · contents · summary · recommendations · scope · methodology
//!     · chapter { facts, texts, places, evidence, recommendation } · chains · appendix
//! ```
//!
//! `outline.rs` decides which parts a report has. Each file writes some of them: `cover.rs`,
//! `summary.rs` (with the recommendations), `scope.rs` (with the methodology), `chapter.rs` (the
//! findings) and `appendix.rs` (with the chains). `block.rs` has the blocks, `grid.rs` the tables.

mod appendix;
mod block;
mod chapter;
mod cover;
mod grid;
mod outline;
mod scope;
mod summary;

use super::RenderError;
use super::markdown;
use super::view::{ProofLimit, View};

pub use block::{Block, ContentsLine, Heading, TableBlock};
pub use outline::chapters_between;

use outline::{Outline, Part};

/// How much of a report a format shows.
#[derive(Clone, Copy, Debug)]
pub struct FlowLimits {
    /// Findings with evidence; the further ones are only rows of a table.
    pub in_full: usize,
    pub proof: ProofLimit,
}

type Each<'a> = &'a mut dyn FnMut(Block<'_>) -> Result<(), RenderError>;

/// Passes the blocks of a report to `each` in reading order.
///
/// # Errors
/// Those of `each`, and when the findings cannot be read.
pub fn walk(view: &View<'_>, limits: FlowLimits, each: Each<'_>) -> Result<(), RenderError> {
    let outline = Outline::of(view);
    cover::walk_cover(view, &outline, each)?;
    for part in &outline.before {
        walk_part(*part, &outline, view, each)?;
    }
    walk_chapters(view, &outline, limits, each)?;
    for part in &outline.after {
        walk_part(*part, &outline, view, each)?;
    }
    Ok(())
}

/// A part of the first level with its heading.
fn walk_part(
    part: Part,
    outline: &Outline,
    view: &View<'_>,
    each: Each<'_>,
) -> Result<(), RenderError> {
    let title = part.title(view.words());
    let is_new_page = match part {
        Part::Summary => true,
        Part::Recommendations => summary::has_many_recommendations(view),
        _ => outline.after.first() == Some(&part),
    };
    heading(each, 1, title, outline.anchor(part), is_new_page)?;
    match part {
        Part::Summary => summary::walk_summary(view, each),
        Part::Recommendations => summary::walk_recommendations(view, each),
        Part::Scope => scope::walk_scope(view, each),
        Part::Methodology => scope::walk_methodology(view, each),
        Part::Chains => appendix::walk_chains(view, each),
        Part::Ids => appendix::walk_ids(view, each),
        Part::Coverage => appendix::walk_coverage(view, each),
        Part::History => appendix::walk_history(view, each),
        Part::Changes => appendix::walk_changes(view, each),
    }
}

fn walk_chapters(
    view: &View<'_>,
    outline: &Outline,
    limits: FlowLimits,
    each: Each<'_>,
) -> Result<(), RenderError> {
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
    Ok(())
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

#[cfg(test)]
mod tests;
