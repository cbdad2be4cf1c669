//! The contents, whose lines lead to their pages, and the references, which lead to the web.

use super::super::fonts::Style;
use super::super::lines::{Ink, Span, break_lines};
use super::super::output::TagName;
use super::rows::{CONTENTS_ROW, RowCell};
use super::sizes::{BODY, BOTTOM, LEFT, RIGHT, SMALL, WIDTH};
use super::{HeldHeadings, LinkTarget, PageLayout, PageMark, PageMarkKind, Place, plain, soft};
use crate::RenderError;
use crate::flow::ContentsLine;

impl PageLayout<'_, '_> {
    pub(super) fn contents_line(&mut self, line: &ContentsLine) -> Result<(), RenderError> {
        let item = self.tag(None, TagName::ContentsItem);
        let tag = if line.anchor > 0 {
            self.tag(item, TagName::Link)
        } else {
            item
        };
        let number = break_lines(self.fonts, &[soft(&line.number)], BODY.size, 34.0);
        let aside = format!("  {}", line.aside);
        let (x, width) = if line.number.is_empty() {
            (LEFT, WIDTH - 40.0)
        } else {
            (LEFT + 36.0, WIDTH - 76.0)
        };
        let mut lines = break_lines(
            self.fonts,
            &[plain(&line.text), soft(&aside)],
            BODY.size,
            width,
        );
        lines.truncate(2);
        let place = self.known.places.get(&line.anchor).copied();
        let page_number = place.map_or(String::new(), |place| (place.page + 1).to_string());
        let page = break_lines(self.fonts, &[plain(&page_number)], BODY.size, 40.0);
        let right = RIGHT - page.first().map_or(0.0, |line| line.width);
        let height = lines.len() as f32 * BODY.leading + 2.0;
        self.need(height)?;
        if let Some(place) = place {
            self.link_line(tag, height, place);
        }
        let cell = |lines, x| RowCell {
            lines,
            x,
            width,
            tag,
        };
        let cells = [cell(number, LEFT), cell(lines, x), cell(page, right)];
        self.row(&cells, CONTENTS_ROW, None)
    }

    /// Makes the whole line a link to a place of the report.
    fn link_line(&mut self, tag: Option<usize>, height: f32, place: Place) {
        let target = LinkTarget::Place(place);
        self.marks.push(PageMark {
            tag,
            x: LEFT,
            y: self.y,
            kind: PageMarkKind::Link {
                width: WIDTH,
                height,
                target,
            },
        });
    }

    /// References without room move to the next page with the part above them, so that no page has
    /// references only.
    pub(super) fn hold_advice(&mut self, advice: Option<(usize, f32)>, links: usize) {
        let has_room = self.y + height_of_references(links) <= BOTTOM;
        if let Some((mark, top)) = advice.filter(|_| !has_room && self.held.is_none()) {
            self.held = Some(HeldHeadings {
                mark,
                top,
                bookmarks: Vec::new(),
                has_facts: true,
                has_table: false,
            });
        }
    }

    pub(super) fn references(
        &mut self,
        links: &[String],
        others: &[String],
    ) -> Result<(), RenderError> {
        self.need(height_of_references(links.len()))?;
        self.text(
            &[soft(self.words.get("text.references"))],
            SMALL,
            TagName::Paragraph,
        )?;
        self.y -= 5.0;
        for link in links {
            let paragraph = self.tag(None, TagName::Paragraph);
            let target = url::Url::parse(link).ok().map(String::from);
            let tag = if target.is_some() {
                self.tag(paragraph, TagName::Link)
            } else {
                paragraph
            };
            let span = Span {
                text: link,
                style: Style::Regular,
                ink: Ink::Link,
            };
            for line in break_lines(self.fonts, &[span], SMALL.size, WIDTH) {
                self.need(SMALL.leading)?;
                if let Some(target) = &target {
                    let target = LinkTarget::Web(target.clone());
                    let kind = PageMarkKind::Link {
                        width: line.width,
                        height: SMALL.leading,
                        target,
                    };
                    self.marks.push(PageMark {
                        tag,
                        x: LEFT,
                        y: self.y,
                        kind,
                    });
                }
                self.lines(vec![line], LEFT, WIDTH, SMALL, tag)?;
            }
        }
        for other in others {
            self.text(&[soft(other)], SMALL, TagName::Paragraph)?;
            self.y -= 5.0;
        }
        self.y += 6.0;
        Ok(())
    }
}

/// The height of the references that are on one page: a short list is whole.
fn height_of_references(links: usize) -> f32 {
    (1 + links.min(4)) as f32 * SMALL.leading + 5.0
}
