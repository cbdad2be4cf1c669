//! Paragraphs, items of lists and evidence.

use super::super::fonts::Style;
use super::super::lines::{Ink, Span, break_lines, break_prose};
use super::super::output::TagName;
use super::headings::HEADING;
use super::rows::{self, CONTENTS_ROW, RowCell};
use super::sizes::{BODY, BOTTOM, LEFT, SHORT_FACTS, TextSize, VERBATIM, WIDTH};
use super::{HeldHeadings, PageLayout, plain, spans_of};
use crate::RenderError;
use crate::markdown::{RichBlock, RichKind};

/// Width of the mark of an item in a list.
const ITEM: f32 = 16.0;
/// Largest height of a list that is not divided between two pages.
const WHOLE_LIST: f32 = 160.0;
/// Longest evidence that is not divided, and the least part of a longer one on a page, in lines.
const WHOLE_VERBATIM: usize = 20;
pub(super) const FEW_VERBATIM: usize = 4;

impl PageLayout<'_, '_> {
    pub(super) fn paragraph(&mut self, spans: &[Span<'_>]) -> Result<(), RenderError> {
        let (mark, top, page) = (self.marks.len(), self.y, self.found.pages);
        self.text(spans, BODY, TagName::Paragraph)?;
        let is_short = self.found.pages == page && self.y - top < SHORT_FACTS;
        self.advice = is_short.then_some((mark, top));
        Ok(())
    }

    /// A heading in a text of the template, or a short paragraph above a list. It moves to the next
    /// page when nothing follows it here.
    pub(super) fn rich_heading(&mut self, block: &RichBlock) -> Result<(), RenderError> {
        let lines = break_prose(self.fonts, &spans_of(block), BODY.size, WIDTH);
        let height = lines.len().min(HEADING) as f32 * BODY.leading + 5.0;
        if self.y + height > BOTTOM {
            self.new_page()?;
        }
        let is_short = lines.len() <= HEADING;
        let held = self.held.take_if(|_| is_short);
        let (mark, top) = held
            .as_ref()
            .map_or((self.marks.len(), self.y), |held| (held.mark, held.top));
        let tag = self.tag(None, TagName::Paragraph);
        self.lines(lines, LEFT, WIDTH, BODY, tag)?;
        self.y += 5.0;
        if is_short {
            self.held = Some(HeldHeadings {
                mark,
                top,
                bookmarks: held.map(|held| held.bookmarks).unwrap_or_default(),
                has_facts: true,
                has_table: false,
            });
        }
        Ok(())
    }

    /// A short list is whole.
    pub(super) fn list(&mut self, items: &[RichBlock]) -> Result<(), RenderError> {
        let rows: Vec<[RowCell; 2]> = items.iter().map(|item| self.item(item)).collect();
        let height: f32 = rows.iter().map(|row| rows::height(row, CONTENTS_ROW)).sum();
        if height < WHOLE_LIST {
            self.need(height)?;
        }
        for row in &rows {
            self.row(row, CONTENTS_ROW, None)?;
        }
        self.y += 5.0;
        Ok(())
    }

    fn item(&mut self, block: &RichBlock) -> [RowCell; 2] {
        let given = match &block.kind {
            RichKind::Item(mark) => mark.as_str(),
            RichKind::Heading | RichKind::Paragraph => "",
        };
        let tag = self.tag(None, TagName::Paragraph);
        let mark = break_lines(self.fonts, &[plain(given)], BODY.size, ITEM);
        let lines = break_lines(self.fonts, &spans_of(block), BODY.size, WIDTH - ITEM);
        let cell = |lines, x, width| RowCell {
            lines,
            x,
            width,
            tag,
        };
        [
            cell(mark, LEFT, ITEM),
            cell(lines, LEFT + ITEM, WIDTH - ITEM),
        ]
    }

    pub(super) fn text(
        &mut self,
        spans: &[Span<'_>],
        size: TextSize,
        name: TagName,
    ) -> Result<(), RenderError> {
        let lines = break_prose(self.fonts, spans, size.size, WIDTH);
        let tag = self.tag(None, name);
        self.lines(lines, LEFT, WIDTH, size, tag)?;
        self.y += 5.0;
        Ok(())
    }

    pub(super) fn verbatim(&mut self, text: &str) -> Result<(), RenderError> {
        let tag = self.tag(None, TagName::Paragraph);
        let span = Span {
            text,
            style: Style::Mono,
            ink: Ink::Text,
        };
        let lines = break_lines(self.fonts, &[span], VERBATIM.size, WIDTH - 9.0);
        let count = lines.len();
        let first = match count {
            ..=WHOLE_VERBATIM => count,
            _ => FEW_VERBATIM,
        };
        let is_below_heading = self.held.as_ref().is_some_and(|held| !held.has_table);
        self.need(first as f32 * VERBATIM.leading)?;
        let mut end = (self.found.pages, self.marks.len(), self.y);
        for (at, line) in lines.into_iter().enumerate() {
            let together = match count - at {
                FEW_VERBATIM => FEW_VERBATIM,
                _ => 1,
            };
            self.need(together as f32 * VERBATIM.leading)?;
            if count > WHOLE_VERBATIM && count - at == FEW_VERBATIM {
                end = (self.found.pages, self.marks.len(), self.y);
            }
            self.area(LEFT, self.y, 2.0, VERBATIM.leading, Ink::Rule);
            self.lines(vec![line], LEFT + 9.0, WIDTH - 9.0, VERBATIM, tag)?;
        }
        self.y += 6.0;
        let (page, mark, top) = end;
        let is_free = count > WHOLE_VERBATIM || !is_below_heading;
        self.advice = (is_free && self.found.pages == page).then_some((mark, top));
        Ok(())
    }
}
