//! Paragraphs, items of lists and evidence.

use super::super::fonts::Style;
use super::super::lines::{Ink, Span, TextLine, break_lines, break_prose};
use super::super::output::TagName;
use super::headings::HEADING;
use super::rows::{self, CONTENTS_ROW, RowCell};
use super::sizes::{BODY, BOTTOM, LEFT, RIGHT, SHORT_FACTS, SMALL, TextSize, VERBATIM, WIDTH};
use super::{HeldHeadings, PageLayout, PartStart, plain, soft, spans_of};
use crate::RenderError;
use crate::markdown::{RichBlock, RichKind};

/// Width of the mark of an item in a list.
const ITEM: f32 = 16.0;
/// Largest height of a list that is not divided between two pages.
const WHOLE_LIST: f32 = 160.0;
/// Longest evidence that is not divided, and the least part of a longer one on a page, in lines.
const WHOLE_VERBATIM: usize = 20;
pub(super) const FEW_VERBATIM: usize = 4;
/// Between the left edge and evidence, which has a rule beside it.
const BESIDE_RULE: f32 = 9.0;
/// Largest space before a line of evidence that is broken.
const DEEPEST: f32 = 160.0;

impl PageLayout<'_, '_> {
    pub(super) fn paragraph(&mut self, spans: &[Span<'_>]) -> Result<(), RenderError> {
        self.text_with_tail(spans, BODY)
    }

    /// Directly below a heading, something follows a remark on its page.
    pub(super) fn remark(&mut self, text: &str) -> Result<(), RenderError> {
        let spans = [soft(text)];
        match self.is_below_heading() {
            true => self.lead(&spans, SMALL),
            false => self.text_with_tail(&spans, SMALL),
        }
    }

    /// A text whose tail is all of it if it is short. Directly below a heading it has none, because
    /// the heading needs it.
    fn text_with_tail(&mut self, spans: &[Span<'_>], size: TextSize) -> Result<(), RenderError> {
        let is_below_heading = self.is_below_heading();
        let (start, page) = (self.here(), self.found.pages);
        self.text(spans, size, TagName::Paragraph)?;
        let is_short = self.found.pages == page && self.y - start.top < SHORT_FACTS;
        self.tail = (is_short && !is_below_heading).then_some(start);
        Ok(())
    }

    /// Directly, or with short facts between them.
    fn is_below_heading(&self) -> bool {
        let is_heading = |held: &HeldHeadings| !held.has_table && !held.bookmarks.is_empty();
        self.held.as_ref().is_some_and(is_heading)
    }

    /// A text that something follows on its page: a heading in a text of the template, or its last
    /// paragraph. Of a long one, the last lines do.
    pub(super) fn lead(&mut self, spans: &[Span<'_>], size: TextSize) -> Result<(), RenderError> {
        let lines = break_prose(self.fonts, spans, size.size, WIDTH);
        let is_short = lines.len() <= HEADING;
        let height = lines.len().min(HEADING) as f32 * size.leading + 5.0;
        if self.y + height > BOTTOM {
            self.new_page()?;
        }
        let above = self.held.take_if(|_| is_short);
        let start = self.here();
        let tag = self.tag(None, TagName::Paragraph);
        self.lines(lines, LEFT, WIDTH, size, tag)?;
        let last_lines = PartStart {
            mark: self.marks.len().saturating_sub(2),
            top: self.y - 2.0 * size.leading,
        };
        self.y += 5.0;
        match is_short {
            true => self.hold_part(start, above),
            false => self.tail = Some(last_lines),
        }
        Ok(())
    }

    /// A short list is whole, and at the end of a text on the page of what follows it; of a long
    /// one, the last item is.
    pub(super) fn list(&mut self, items: &[RichBlock], is_last: bool) -> Result<(), RenderError> {
        let rows: Vec<[RowCell; 2]> = items.iter().map(|item| self.item(item)).collect();
        let height: f32 = rows.iter().map(|row| rows::height(row, CONTENTS_ROW)).sum();
        let is_short = height < WHOLE_LIST;
        if is_short && self.y + height > BOTTOM {
            self.new_page()?;
        }
        let is_held = is_short && is_last;
        let above = self.held.take_if(|_| is_held);
        let start = self.here();
        let mut last_item = None;
        for row in &rows {
            let (item, page) = (self.here(), self.found.pages);
            self.row(row, CONTENTS_ROW, None)?;
            last_item = (self.found.pages == page).then_some(item);
        }
        self.y += 5.0;
        match is_held {
            true => self.hold_part(start, above),
            false => self.tail = last_item.filter(|_| rows.len() > 1),
        }
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
        let lines = self.verbatim_lines(text);
        let count = lines.len();
        let first = match count {
            ..=WHOLE_VERBATIM => count,
            _ => FEW_VERBATIM,
        };
        let is_below_heading = self.is_below_heading();
        self.need(first as f32 * VERBATIM.leading)?;
        let mut end = (self.found.pages, self.here());
        for (at, (shift, line)) in lines.into_iter().enumerate() {
            let together = match count - at {
                FEW_VERBATIM => FEW_VERBATIM,
                _ => 1,
            };
            self.need(together as f32 * VERBATIM.leading)?;
            if count > WHOLE_VERBATIM && count - at == FEW_VERBATIM {
                end = (self.found.pages, self.here());
            }
            self.area(LEFT, self.y, 2.0, VERBATIM.leading, Ink::Rule);
            let x = LEFT + BESIDE_RULE + shift;
            self.lines(vec![line], x, RIGHT - x, VERBATIM, tag)?;
        }
        self.y += 6.0;
        let (page, start) = end;
        let is_free = count > WHOLE_VERBATIM || !is_below_heading;
        self.tail = (is_free && self.found.pages == page).then_some(start);
        Ok(())
    }

    /// The lines of evidence, each with the space before it. What has no room on an indented line is
    /// below its text.
    fn verbatim_lines(&mut self, text: &str) -> Vec<(f32, TextLine)> {
        let space = self.fonts.space(Style::Mono as usize);
        let space = space.map_or(0.0, |(_, width)| width * VERBATIM.size);
        let mut lines = Vec::new();
        for given in text.split('\n') {
            let whole = self.broken_verbatim(given, 0.0);
            let start = given.trim_start_matches(' ');
            let spaces = given.len() - start.len();
            if spaces == 0 || whole.len() == 1 {
                lines.extend(whole.into_iter().map(|line| (0.0, line)));
                continue;
            }
            let shift = (spaces as f32 * space).min(DEEPEST);
            let below = self.broken_verbatim(start, shift);
            lines.extend(below.into_iter().map(|line| (shift, line)));
        }
        lines
    }

    fn broken_verbatim(&mut self, text: &str, shift: f32) -> Vec<TextLine> {
        let span = Span {
            text,
            style: Style::Mono,
            ink: Ink::Text,
        };
        let width = WIDTH - BESIDE_RULE - shift;
        break_lines(self.fonts, &[span], VERBATIM.size, width)
    }
}
