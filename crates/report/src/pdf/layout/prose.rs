//! Paragraphs, items of lists and evidence.

use super::super::fonts::Style;
use super::super::lines::{Ink, Span, break_lines, break_prose};
use super::super::output::TagName;
use super::rows::{CONTENTS_ROW, RowCell};
use super::sizes::{BODY, LEFT, SHORT_FACTS, TextSize, VERBATIM, WIDTH};
use super::{PageLayout, plain};
use crate::RenderError;
use crate::markdown::{RichBlock, RichKind};

/// Width of the mark of an item in a list.
const ITEM: f32 = 16.0;
/// Longest evidence that is not divided, and the least part of a longer one on a page, in lines.
const WHOLE_VERBATIM: usize = 20;
const FEW_VERBATIM: usize = 4;

impl PageLayout<'_, '_> {
    pub(super) fn paragraph(&mut self, spans: &[Span<'_>]) -> Result<(), RenderError> {
        let (mark, top, page) = (self.marks.len(), self.y, self.found.pages);
        self.text(spans, BODY, TagName::Paragraph)?;
        let is_short = self.found.pages == page && self.y - top < SHORT_FACTS;
        self.advice = is_short.then_some((mark, top));
        Ok(())
    }

    pub(super) fn rich(&mut self, block: &RichBlock) -> Result<(), RenderError> {
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
        let spans: Vec<Span<'_>> = spans.collect();
        let RichKind::Item(mark) = &block.kind else {
            return self.text(&spans, BODY, TagName::Paragraph);
        };
        let tag = self.tag(None, TagName::Paragraph);
        let mark = break_lines(self.fonts, &[plain(mark)], BODY.size, ITEM);
        let lines = break_lines(self.fonts, &spans, BODY.size, WIDTH - ITEM);
        let cell = |lines, x, width| RowCell {
            lines,
            x,
            width,
            tag,
        };
        let cells = [
            cell(mark, LEFT, ITEM),
            cell(lines, LEFT + ITEM, WIDTH - ITEM),
        ];
        self.row(&cells, CONTENTS_ROW, None)
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
        self.need(first as f32 * VERBATIM.leading)?;
        for (at, line) in lines.into_iter().enumerate() {
            let together = match count - at {
                FEW_VERBATIM => FEW_VERBATIM,
                _ => 1,
            };
            self.need(together as f32 * VERBATIM.leading)?;
            self.area(LEFT, self.y, 2.0, VERBATIM.leading, Ink::Rule);
            self.lines(vec![line], LEFT + 9.0, WIDTH - 9.0, VERBATIM, tag)?;
        }
        self.y += 6.0;
        Ok(())
    }
}
