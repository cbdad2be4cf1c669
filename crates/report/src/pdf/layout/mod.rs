//! Places blocks on pages from top to bottom. Which blocks a report has, from cover to appendix, is
//! in `flow`.
//!
//! ```text
//!   blocks ─► PageLayout, measuring ─► the page of each heading, the number of pages
//!   blocks ─► PageLayout, drawing ──► marks of a page ─► PdfPages
//! ```
//!
//! The contents come before the chapters whose pages they name, so the blocks are placed twice: a
//! whole report in memory would be far larger than its file. Both passes share the shaped words.

mod facts;
mod headings;
mod links;
mod marks;
mod page;
mod prose;
mod rows;
mod sizes;

use super::fonts::{Fonts, Style};
use super::lines::{Ink, Span};
use super::output::{PdfPages, TagName};
use crate::RenderError;
use crate::flow::Block;
use crate::markdown::{RichBlock, RichKind};
use crate::words::Words;

pub use marks::{LinkTarget, Measured, PageMark, PageMarkKind, Place};
pub use sizes::PAGE;
use sizes::{BODY, SMALL, TOP};

/// The state of a pass.
pub struct PageLayout<'a, 'f> {
    fonts: &'a mut Fonts<'f>,
    /// None while measuring.
    out: Option<&'a mut PdfPages>,
    known: &'a Measured,
    found: Measured,
    footer: &'a str,
    words: &'a Words,
    marks: Vec<PageMark>,
    y: f32,
    /// Headings with nothing below them yet.
    held: Option<HeldHeadings>,
    /// The end of the text above, which moves to the next page with references, a table or a chart
    /// that have no room below it: a short paragraph, the last item of a list, whole evidence, or
    /// the last lines of any of them.
    tail: Option<PartStart>,
}

/// Where a part of the page begins.
#[derive(Clone, Copy)]
struct PartStart {
    mark: usize,
    top: f32,
}

/// Headings at the end of a page. They move to the next page when nothing follows them here.
struct HeldHeadings {
    /// Their first mark, and where they begin.
    mark: usize,
    top: f32,
    bookmarks: Vec<HeldBookmark>,
    /// Whether short facts are below the last one.
    has_facts: bool,
    /// Whether a short table of evidence is.
    has_table: bool,
}

impl HeldHeadings {
    /// Whether a heading of this level is the first thing below them.
    fn goes_on_with(&self, level: u8) -> bool {
        let above = self.bookmarks.last();
        !self.has_facts && above.is_none_or(|above| above.level < level)
    }
}

struct HeldBookmark {
    level: u8,
    title: String,
    anchor: usize,
    y: f32,
}

impl<'a, 'f> PageLayout<'a, 'f> {
    pub fn new(
        fonts: &'a mut Fonts<'f>,
        out: Option<&'a mut PdfPages>,
        known: &'a Measured,
        (footer, words): (&'a str, &'a Words),
    ) -> Self {
        Self {
            fonts,
            out,
            known,
            found: Measured::default(),
            footer,
            words,
            marks: Vec::new(),
            y: TOP,
            held: None,
            tail: None,
        }
    }

    /// Ends the last page, with a sentence about boxes.
    pub fn finish(mut self) -> Result<Measured, RenderError> {
        self.explain_boxes()?;
        self.settle();
        self.end_page()?;
        Ok(self.found)
    }

    fn explain_boxes(&mut self) -> Result<(), RenderError> {
        match self.fonts.missing().is_empty() {
            true => Ok(()),
            false => {
                let text = self.words.get("text.no_font");
                self.text(&[soft(text)], SMALL, TagName::Paragraph)
            }
        }
    }

    pub fn block(&mut self, block: &Block<'_>) -> Result<(), RenderError> {
        let tail = self.tail.take();
        match block {
            Block::Logo(logo) => {
                self.logo(logo);
                Ok(())
            }
            Block::Title(text) => self.title(text),
            Block::Heading {
                heading,
                is_new_page,
            } => self.heading(heading, *is_new_page),
            Block::Facts(facts) => self.facts(facts),
            Block::Paragraph { label, text } => {
                let label = if label.is_empty() {
                    String::new()
                } else {
                    format!("{label}. ")
                };
                self.paragraph(&[bold(&label), plain(text)])
            }
            Block::Rich(blocks) => {
                let is_item = |block: &RichBlock| matches!(block.kind, RichKind::Item(_));
                let mut parts = blocks
                    .chunk_by(|one, next| is_item(one) && is_item(next))
                    .peekable();
                while let Some(part) = parts.next() {
                    // The last paragraph is on the page of what follows the text.
                    let is_last = parts.peek().is_none();
                    let has_list = parts.peek().is_some_and(|next| next.iter().all(is_item));
                    let is_lead = |one: &RichBlock| match one.kind {
                        RichKind::Heading => true,
                        RichKind::Paragraph => has_list || is_last,
                        RichKind::Item(_) => false,
                    };
                    match part {
                        [one] if is_lead(one) => self.lead(&spans_of(one), BODY),
                        [one] if one.kind == RichKind::Paragraph => {
                            self.text(&spans_of(one), BODY, TagName::Paragraph)
                        }
                        items => self.list(items, is_last),
                    }?;
                }
                Ok(())
            }
            Block::Remark(text) => self.remark(text),
            Block::Verbatim(text) => self.verbatim(text),
            Block::Table(table) => self.table(table, tail),
            Block::Chart(rows) => self.chart(rows, tail),
            Block::Contents(lines) => self.contents(lines),
            Block::References { links, others } => self.references(links, others, tail),
        }
    }
}

fn spans_of(block: &RichBlock) -> Vec<Span<'_>> {
    let spans = block.spans.iter().map(|span| {
        let is_bold = span.is_bold || block.kind == RichKind::Heading;
        let (style, ink) = match (span.is_code, is_bold, span.link.is_empty()) {
            (_, _, false) => (Style::Regular, Ink::Link),
            (true, ..) => (Style::Mono, Ink::Text),
            (_, true, _) => (Style::Bold, Ink::Text),
            _ => (Style::Regular, Ink::Text),
        };
        let text = span.text.as_str();
        Span { text, style, ink }
    });
    spans.collect()
}

fn plain(text: &str) -> Span<'_> {
    Span {
        text,
        style: Style::Regular,
        ink: Ink::Text,
    }
}

fn bold(text: &str) -> Span<'_> {
    Span {
        text,
        style: Style::Bold,
        ink: Ink::Text,
    }
}

fn soft(text: &str) -> Span<'_> {
    Span {
        text,
        style: Style::Regular,
        ink: Ink::Soft,
    }
}

#[cfg(test)]
mod tests;
