//! Lines and areas on a page, and the step to the next page.

use super::super::lines::{Ink, TextLine, break_lines};
use super::super::output::TagName;
use super::sizes::{BOTTOM, FOOTER, LEFT, RIGHT, SMALL, TOP, TextSize, WIDTH};
use super::{HeldHeadings, PageLayout, PageMark, PageMarkKind, PartStart, soft};
use crate::RenderError;
use crate::view::FOOTER_GAP;

/// Longest paragraph that is not divided between two pages, in lines.
const WHOLE: usize = 3;

impl PageLayout<'_, '_> {
    /// Lines one below the other, on new pages where necessary: neither the first nor the last line
    /// of a paragraph is alone on a page.
    pub(super) fn lines(
        &mut self,
        lines: Vec<TextLine>,
        x: f32,
        width: f32,
        size: TextSize,
        tag: Option<usize>,
    ) -> Result<(), RenderError> {
        let mut rest = lines.len();
        let mut lines = lines.into_iter();
        while rest > 0 {
            let room = ((BOTTOM - self.y + 0.01) / size.leading).max(0.0) as usize;
            let mut count = room.min(rest);
            if count < rest {
                if rest <= WHOLE {
                    count = 0;
                } else if rest - count == 1 {
                    count -= 1;
                }
                if count < 2 {
                    count = 0;
                }
            }
            if count > 0 {
                self.settle();
            } else if self.y <= TOP {
                // A page without room for two lines does not exist.
                count = rest.min(2);
            }
            for line in lines.by_ref().take(count) {
                self.line(line, (x, self.y), width, size, tag);
                self.y += size.leading;
            }
            rest -= count;
            if rest > 0 {
                self.new_page()?;
            }
        }
        Ok(())
    }

    pub(super) fn line(
        &mut self,
        line: TextLine,
        (x, top): (f32, f32),
        width: f32,
        size: TextSize,
        tag: Option<usize>,
    ) {
        // The base line, with the letters in the middle of the line.
        let y = top + size.leading / 2.0 + size.size * 0.36;
        let x = if line.is_rtl {
            x + width - line.width
        } else {
            x
        };
        if !line.pieces.is_empty() {
            self.marks.push(PageMark {
                tag,
                x,
                y,
                kind: PageMarkKind::Text {
                    line,
                    size: size.size,
                },
            });
        }
    }

    pub(super) fn area(&mut self, x: f32, y: f32, width: f32, height: f32, ink: Ink) {
        if width > 0.0 {
            self.marks.push(PageMark {
                tag: None,
                x,
                y,
                kind: PageMarkKind::Area { width, height, ink },
            });
        }
    }

    pub(super) fn tag(&mut self, parent: Option<usize>, name: TagName) -> Option<usize> {
        self.out.as_mut().map(|out| out.tag(parent, name))
    }

    /// Begins a new page unless there is room, or no page has room.
    pub(super) fn need(&mut self, height: f32) -> Result<(), RenderError> {
        let top = self.held.as_ref().map_or(self.y, |held| held.top);
        let is_higher_than_page = top <= TOP && height > BOTTOM - TOP;
        if self.y + height > BOTTOM && !is_higher_than_page {
            self.new_page()?;
        }
        self.settle();
        Ok(())
    }

    /// Where the next part begins.
    pub(super) fn here(&self) -> PartStart {
        PartStart {
            mark: self.marks.len(),
            top: self.y,
        }
    }

    /// Holds a part that something follows on its page, with the headings above it.
    pub(super) fn hold_part(&mut self, part: PartStart, above: Option<HeldHeadings>) {
        self.held = Some(match above {
            Some(held) => HeldHeadings {
                has_facts: true,
                ..held
            },
            None => HeldHeadings {
                mark: part.mark,
                top: part.top,
                bookmarks: Vec::new(),
                has_facts: true,
                has_table: false,
            },
        });
    }

    /// The end of the text above moves to the next page with a part that has no room below it, so
    /// that no page has this part only.
    pub(super) fn hold_tail(&mut self, tail: Option<PartStart>, height: f32) {
        let has_room = self.y + height <= BOTTOM;
        if let Some(part) = tail.filter(|_| !has_room && self.held.is_none()) {
            self.hold_part(part, None);
        }
    }

    /// Begins a new page, with the headings that have nothing below them.
    pub(super) fn new_page(&mut self) -> Result<(), RenderError> {
        let Some(mut held) = self.held.take().filter(|held| held.top > TOP) else {
            self.settle();
            self.end_page()?;
            self.y = TOP;
            return Ok(());
        };
        let moved = self.marks.split_off(held.mark);
        let (shift, height) = (held.top - TOP, self.y - held.top);
        self.end_page()?;
        self.marks.extend(moved.into_iter().map(|mark| PageMark {
            y: mark.y - shift,
            ..mark
        }));
        held.bookmarks.iter_mut().for_each(|one| one.y -= shift);
        self.y = TOP + height;
        self.held = Some(HeldHeadings {
            mark: 0,
            top: TOP,
            ..held
        });
        self.settle();
        Ok(())
    }

    /// The line at the end of the page: without its last parts where it is too long.
    pub(super) fn footer_line(&mut self) -> Option<TextLine> {
        let mut text = self.footer;
        loop {
            let lines = break_lines(self.fonts, &[soft(text)], SMALL.size, WIDTH - 100.0);
            match text.rsplit_once(FOOTER_GAP) {
                Some((shorter, _)) if lines.len() > 1 => text = shorter,
                _ => return lines.into_iter().next(),
            }
        }
    }

    pub(super) fn end_page(&mut self) -> Result<(), RenderError> {
        if self.out.is_some() {
            let pages = self.known.pages;
            let [page, pages] = [self.found.pages + 1, pages].map(|number| number.to_string());
            let number = self.words.filled("text.page_of", &[&page, &pages]);
            let number = break_lines(self.fonts, &[soft(&number)], SMALL.size, WIDTH);
            let footer = self.footer_line();
            let right = RIGHT - number.first().map_or(0.0, |line| line.width);
            for (line, x) in footer
                .into_iter()
                .map(|line| (line, LEFT))
                .chain(number.into_iter().map(|line| (line, right)))
            {
                self.line(line, (x, FOOTER), WIDTH, SMALL, None);
            }
        }
        let marks = std::mem::take(&mut self.marks);
        if let Some(out) = &mut self.out {
            out.page(self.fonts, marks)?;
        }
        self.found.pages += 1;
        Ok(())
    }
}
