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

mod page;
mod rows;

use std::collections::HashMap;

use krilla::image::Image;

use super::fonts::{Fonts, Style};
use super::lines::{Ink, Span, TextLine, break_lines, break_prose};
use super::output::{PdfPages, TagName};
use crate::RenderError;
use crate::flow::{Block, ContentsLine, Heading};
use crate::logo::Logo;
use crate::markdown::{RichBlock, RichKind};
use crate::view::{Fact, SummaryRow};
use crate::words::Words;
use scandeck_wire::contract::Risk;
use scandeck_wire::text;

use rows::{RowCell, RowShape};

/// A4, in points.
pub const PAGE: (f32, f32) = (595.0, 842.0);
const LEFT: f32 = 54.0;
const RIGHT: f32 = PAGE.0 - LEFT;
const WIDTH: f32 = RIGHT - LEFT;
const TOP: f32 = 56.0;
const BOTTOM: f32 = PAGE.1 - 66.0;
const FOOTER: f32 = PAGE.1 - 46.0;
/// Largest width and height of the logo.
const LOGO: (f64, f64) = (170.0, 71.0);
/// Width of the labels of facts.
const LABEL: f32 = 92.0;
/// Longest title of a bookmark, in columns.
const BOOKMARK: usize = 100;
/// Width of the badge with the risk.
const BADGE: f32 = 56.0;
/// Width of the mark of an item in a list.
const ITEM: f32 = 16.0;
/// Longest paragraph that is not divided between two pages, in lines.
const WHOLE: usize = 3;
/// Largest height of a list that is not divided between two pages.
const WHOLE_LIST: f32 = 160.0;
/// Longest evidence that is not divided, and the least part of a longer one on a page, in lines.
const WHOLE_VERBATIM: usize = 20;
const FEW_VERBATIM: usize = 4;
/// Longest heading that is not divided between two pages, in lines.
const HEADING: usize = 12;
/// Largest height of facts that move to the next page with the headings above them.
const SHORT_FACTS: f32 = 110.0;

/// Size of a text and height of its lines.
#[derive(Clone, Copy, Debug)]
struct TextSize {
    size: f32,
    leading: f32,
}

const TITLE: TextSize = TextSize {
    size: 25.0,
    leading: 32.0,
};
const CHAPTER: TextSize = TextSize {
    size: 16.0,
    leading: 21.0,
};
const FINDING: TextSize = TextSize {
    size: 11.5,
    leading: 15.0,
};
const BODY: TextSize = TextSize {
    size: 9.5,
    leading: 13.2,
};
const SMALL: TextSize = TextSize {
    size: 8.0,
    leading: 11.0,
};
const VERBATIM: TextSize = TextSize {
    size: 7.8,
    leading: 10.6,
};

/// Where a heading is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// From 0.
    pub page: usize,
    pub y: f32,
}

/// A text, an area or a link on a page. Texts and links belong to a tag; without one they are
/// decoration.
#[derive(Debug)]
pub struct PageMark {
    pub tag: Option<usize>,
    pub x: f32,
    /// Top of an area, base line of a text.
    pub y: f32,
    pub kind: PageMarkKind,
}

#[derive(Debug)]
pub enum PageMarkKind {
    Text {
        line: TextLine,
        size: f32,
    },
    Area {
        width: f32,
        height: f32,
        ink: Ink,
    },
    Image {
        image: Image,
        width: f32,
        height: f32,
    },
    Link {
        width: f32,
        height: f32,
        target: LinkTarget,
    },
}

/// The destination of a link.
#[derive(Clone, Debug)]
pub enum LinkTarget {
    Place(Place),
    Web(String),
}

/// The pages found by the measuring pass.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    pub places: HashMap<usize, Place>,
    pub pages: usize,
}

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
    /// Where the part begins that references take to the next page: a short paragraph, whole
    /// evidence or its last lines.
    advice: Option<(usize, f32)>,
}

/// Headings at the end of a page. They move to the next page when nothing follows them here.
struct HeldHeadings {
    /// Their first mark, and where they begin.
    mark: usize,
    top: f32,
    bookmarks: Vec<HeldBookmark>,
    /// Whether short facts are below the last one.
    has_facts: bool,
}

struct HeldBookmark {
    level: u8,
    title: String,
    anchor: usize,
    y: f32,
}

const CONTENTS_ROW: RowShape = RowShape {
    size: BODY,
    padding: 1.0,
    fill: None,
    has_rule: false,
};

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
            advice: None,
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
        let advice = self.advice.take();
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
                let mut parts = blocks.chunk_by(|one, next| is_item(one) && is_item(next));
                parts.try_for_each(|part| match part {
                    [one] if one.kind == RichKind::Heading => self.rich_heading(one),
                    [one] if one.kind == RichKind::Paragraph => {
                        self.text(&spans_of(one), BODY, TagName::Paragraph)
                    }
                    items => self.list(items),
                })
            }
            Block::Remark(text) => self.text(&[soft(text)], SMALL, TagName::Paragraph),
            Block::Verbatim(text) => self.verbatim(text),
            Block::Table(table) => self.table(table),
            Block::Chart(rows) => self.chart(rows),
            Block::Contents(lines) => lines.iter().try_for_each(|line| self.contents_line(line)),
            Block::References { links, others } => {
                self.hold_advice(advice, links.len());
                self.references(links, others)
            }
        }
    }

    fn paragraph(&mut self, spans: &[Span<'_>]) -> Result<(), RenderError> {
        let (mark, top, page) = (self.marks.len(), self.y, self.found.pages);
        self.text(spans, BODY, TagName::Paragraph)?;
        let is_short = self.found.pages == page && self.y - top < SHORT_FACTS;
        self.advice = is_short.then_some((mark, top));
        Ok(())
    }

    /// References without room move to the next page with the part above them, so that no page has
    /// references only.
    fn hold_advice(&mut self, advice: Option<(usize, f32)>, links: usize) {
        let has_room = self.y + height_of_references(links) <= BOTTOM;
        if let Some((mark, top)) = advice.filter(|_| !has_room && self.held.is_none()) {
            self.held = Some(HeldHeadings {
                mark,
                top,
                bookmarks: Vec::new(),
                has_facts: true,
            });
        }
    }

    /// The logo, above the title at the right edge.
    fn logo(&mut self, logo: &Logo) {
        let (width, height) = logo.fitted(LOGO);
        let (width, height) = (width as f32, height as f32);
        if self.out.is_some() {
            let image = Image::from_rgba8(logo.pixels.clone(), logo.size.0, logo.size.1);
            self.marks.push(PageMark {
                tag: None,
                x: RIGHT - width,
                y: TOP - 20.0,
                kind: PageMarkKind::Image {
                    image,
                    width,
                    height,
                },
            });
        }
    }

    fn title(&mut self, text: &str) -> Result<(), RenderError> {
        self.area(0.0, 0.0, PAGE.0, 14.0, Ink::Shade);
        self.y += 70.0;
        let lines = break_lines(self.fonts, &[bold(text)], TITLE.size, WIDTH);
        let tag = self.tag(None, TagName::Title);
        self.lines(lines, LEFT, WIDTH, TITLE, tag)?;
        self.y += 14.0;
        Ok(())
    }

    fn heading(&mut self, heading: &Heading<'_>, is_new_page: bool) -> Result<(), RenderError> {
        let is_chapter = heading.level == 1;
        let (size, space) = if is_chapter {
            (CHAPTER, 20.0)
        } else {
            (FINDING, 13.0)
        };
        let x = match heading.risk {
            Some(_) => LEFT + BADGE + 7.0,
            None => LEFT,
        };
        let number = if heading.number.is_empty() {
            String::new()
        } else {
            format!("{}  ", heading.number)
        };
        let span = Span {
            text: &number,
            style: Style::Bold,
            ink: Ink::Soft,
        };
        let lines = break_lines(
            self.fonts,
            &[span, bold(heading.text)],
            size.size,
            RIGHT - x,
        );
        let height = lines.len().min(HEADING) as f32 * size.leading + 12.0;
        if is_new_page || self.held.as_ref().is_some_and(|held| held.has_facts) {
            self.settle();
        }
        if is_new_page || self.y + space + height > BOTTOM {
            self.new_page()?;
        } else if self.y > TOP && self.held.is_none() {
            self.y += space;
        }
        let title = format!("{} {}", heading.number, heading.text);
        let title = text::start(title.trim(), BOOKMARK);
        let (mark, top) = (self.marks.len(), self.y);
        let held = self.held.get_or_insert_with(|| HeldHeadings {
            mark,
            top,
            bookmarks: Vec::new(),
            has_facts: false,
        });
        held.bookmarks.push(HeldBookmark {
            level: heading.level,
            title: title.clone().into_owned(),
            anchor: heading.anchor,
            y: top,
        });
        let tag = self.tag(None, TagName::Heading(heading.level, title.into_owned()));
        if let Some(risk) = heading.risk {
            let shift = (size.leading - FINDING.leading) / 2.0;
            self.badge(risk, shift, tag);
        }
        if lines.len() > HEADING {
            self.lines(lines, x, RIGHT - x, size, tag)?;
        } else {
            for line in lines {
                self.line(line, (x, self.y), RIGHT - x, size, tag);
                self.y += size.leading;
            }
        }
        if is_chapter {
            self.area(LEFT, self.y + 2.0, WIDTH, 0.8, Ink::Rule);
            self.y += 6.0;
        }
        self.y += 3.0;
        Ok(())
    }

    /// Something follows the headings on their page: they are where links and bookmarks lead.
    fn settle(&mut self) {
        let page = self.found.pages;
        for one in self.held.take().into_iter().flat_map(|held| held.bookmarks) {
            let place = Place { page, y: one.y };
            if one.anchor > 0 {
                self.found.places.insert(one.anchor, place);
            }
            if let Some(out) = &mut self.out {
                out.bookmark(one.level, &one.title, place);
            }
        }
    }

    /// A heading in a text of the template. Like other headings it moves to the next page when
    /// nothing follows it here.
    fn rich_heading(&mut self, block: &RichBlock) -> Result<(), RenderError> {
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
            });
        }
        Ok(())
    }

    /// A short list is whole.
    fn list(&mut self, items: &[RichBlock]) -> Result<(), RenderError> {
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

    fn badge(&mut self, risk: Risk, shift: f32, tag: Option<usize>) {
        self.area(LEFT, self.y + shift + 1.5, BADGE, 12.5, Ink::Risk(risk));
        let name = self.words.risk(risk).to_uppercase();
        let span = Span {
            text: &name,
            style: Style::Bold,
            ink: Ink::White,
        };
        for line in break_lines(self.fonts, &[span], 7.5, BADGE) {
            let x = LEFT + (BADGE - line.width) / 2.0;
            let y = self.y + shift + 10.6;
            self.marks.push(PageMark {
                tag,
                x,
                y,
                kind: PageMarkKind::Text { line, size: 7.5 },
            });
        }
    }

    fn facts(&mut self, facts: &[Fact]) -> Result<(), RenderError> {
        let shape = RowShape {
            size: BODY,
            padding: 0.6,
            fill: None,
            has_rule: false,
        };
        let rows: Vec<[RowCell; 2]> = facts.iter().map(|fact| self.fact(fact)).collect();
        let height: f32 = rows.iter().map(|row| rows::height(row, shape)).sum();
        // Short facts belong to the headings above them: something follows both on their page.
        let is_short = height < SHORT_FACTS;
        if is_short && self.y + height + 1.0 > BOTTOM {
            self.new_page()?;
        }
        let held = self.held.take_if(|_| is_short);
        for row in &rows {
            self.row(row, shape, None)?;
        }
        self.held = match held {
            Some(held) => Some(HeldHeadings {
                has_facts: true,
                ..held
            }),
            None => self.held.take(),
        };
        self.y += 5.0;
        Ok(())
    }

    fn fact(&mut self, fact: &Fact) -> [RowCell; 2] {
        let tag = self.tag(None, TagName::Paragraph);
        let aside = if fact.aside.is_empty() {
            String::new()
        } else {
            format!("  {}", fact.aside)
        };
        let value = if fact.is_strong {
            bold(&fact.value)
        } else {
            plain(&fact.value)
        };
        let label = break_lines(self.fonts, &[soft(&fact.label)], BODY.size, LABEL);
        let lines = break_lines(self.fonts, &[value, soft(&aside)], BODY.size, WIDTH - LABEL);
        let cell = |lines, x, width| RowCell {
            lines,
            x,
            width,
            tag,
        };
        [
            cell(label, LEFT, LABEL),
            cell(lines, LEFT + LABEL, WIDTH - LABEL),
        ]
    }

    fn text(
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

    fn verbatim(&mut self, text: &str) -> Result<(), RenderError> {
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
        let is_below_heading = self.held.is_some();
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

    fn chart(&mut self, rows: &[SummaryRow]) -> Result<(), RenderError> {
        let most = rows
            .iter()
            .flat_map(|row| row.counts)
            .max()
            .unwrap_or(0)
            .max(1);
        self.y += 6.0;
        for row in rows {
            self.need(6.0 * 14.0 + 8.0)?;
            let total = format!("  {}", row.total());
            self.text(&[bold(&row.label), soft(&total)], BODY, TagName::Paragraph)?;
            self.y -= 3.0;
            for (risk, count) in Risk::DOWN.into_iter().zip(row.counts) {
                let tag = self.tag(None, TagName::Paragraph);
                let number = count.to_string();
                let cell = |lines, x| RowCell {
                    lines,
                    x,
                    width: 60.0,
                    tag,
                };
                let name =
                    break_lines(self.fonts, &[plain(self.words.risk(risk))], BODY.size, 60.0);
                let number = break_lines(self.fonts, &[bold(&number)], BODY.size, 60.0);
                let right = LEFT + 96.0 - number.first().map_or(0.0, |line| line.width);
                let width = if count == 0 {
                    0.0
                } else {
                    ((WIDTH - 106.0) * count as f32 / most as f32).max(1.5)
                };
                self.area(LEFT + 106.0, self.y + 2.2, width, 9.5, Ink::Risk(risk));
                let shape = RowShape {
                    size: BODY,
                    padding: 0.4,
                    fill: None,
                    has_rule: false,
                };
                self.row(&[cell(name, LEFT), cell(number, right)], shape, None)?;
            }
            self.y += 8.0;
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

    fn references(&mut self, links: &[String], others: &[String]) -> Result<(), RenderError> {
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
