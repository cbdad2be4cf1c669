//! The contents, whose lines lead to their pages, and the references, which lead to the web.

use super::super::fonts::Style;
use super::super::lines::{Ink, Span, break_lines};
use super::super::output::TagName;
use super::rows::{self, CONTENTS_ROW, RowCell};
use super::sizes::{BODY, LEFT, RIGHT, SMALL, WIDTH};
use super::{LinkTarget, PageLayout, PageMark, PageMarkKind, PartStart, Place, plain, soft};
use crate::RenderError;
use crate::flow::ContentsLine;

/// Least lines of the contents on their last page.
const LAST_LINES: usize = 3;
/// A space at which no line ends.
const NO_BREAK: &str = "\u{a0}";

impl PageLayout<'_, '_> {
    pub(super) fn contents(&mut self, lines: &[ContentsLine]) -> Result<(), RenderError> {
        let last = lines.len().saturating_sub(LAST_LINES);
        for (at, line) in lines.iter().enumerate() {
            if at == last {
                let rest = lines.iter().skip(last);
                let heights = rest.map(|one| contents_height(&[self.contents_text(one, None)]));
                let together: f32 = heights.sum();
                self.need(together)?;
            }
            self.contents_line(line)?;
        }
        Ok(())
    }

    fn contents_line(&mut self, line: &ContentsLine) -> Result<(), RenderError> {
        let item = self.tag(None, TagName::ContentsItem);
        let tag = if line.anchor > 0 {
            self.tag(item, TagName::Link)
        } else {
            item
        };
        let number = break_lines(self.fonts, &[soft(&line.number)], BODY.size, 34.0);
        let text = self.contents_text(line, tag);
        let width = text.width;
        let place = self.known.places.get(&line.anchor).copied();
        let page_number = place.map_or(String::new(), |place| (place.page + 1).to_string());
        let page = break_lines(self.fonts, &[plain(&page_number)], BODY.size, 40.0);
        let right = RIGHT - page.first().map_or(0.0, |line| line.width);
        let cell = |lines, x| RowCell {
            lines,
            x,
            width,
            tag,
        };
        let cells = [cell(number, LEFT), text, cell(page, right)];
        let line_height = contents_height(&cells);
        self.need(line_height)?;
        if let Some(place) = place {
            self.link_line(tag, line_height, place);
        }
        self.row(&cells, CONTENTS_ROW, None)
    }

    /// The title of a part, and the number beside it, which is not broken.
    fn contents_text(&mut self, line: &ContentsLine, tag: Option<usize>) -> RowCell {
        let aside = format!("  {}", line.aside.replace(' ', NO_BREAK));
        let (x, width) = if line.number.is_empty() {
            (LEFT, WIDTH - 40.0)
        } else {
            (LEFT + 36.0, WIDTH - 76.0)
        };
        let spans = [plain(&line.text), soft(&aside)];
        let mut lines = break_lines(self.fonts, &spans, BODY.size, width);
        lines.truncate(2);
        RowCell {
            lines,
            x,
            width,
            tag,
        }
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

    pub(super) fn references(
        &mut self,
        links: &[String],
        others: &[String],
        tail: Option<PartStart>,
    ) -> Result<(), RenderError> {
        let height = height_of_references(links.len() + others.len());
        self.hold_tail(tail, height);
        self.need(height)?;
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

fn contents_height(cells: &[RowCell]) -> f32 {
    rows::height(cells, CONTENTS_ROW)
}

/// The height of the references that are on one page: a short list is whole.
fn height_of_references(count: usize) -> f32 {
    (1 + count.min(4)) as f32 * SMALL.leading + 5.0
}
