//! Titles and headings, with the logo above and the risk beside them.

use krilla::image::Image;

use super::super::fonts::Style;
use super::super::lines::{Ink, Span, TextLine, break_lines};
use super::super::output::TagName;
use super::sizes::{BOTTOM, CHAPTER, FINDING, LEFT, PAGE, RIGHT, TITLE, TOP, WIDTH};
use super::{HeldBookmark, HeldHeadings, PageLayout, PageMark, PageMarkKind, Place, bold};
use crate::RenderError;
use crate::flow::Heading;
use crate::logo::Logo;
use scandeck_wire::contract::Risk;
use scandeck_wire::text;

/// Largest width and height of the logo.
const LOGO: (f64, f64) = (170.0, 71.0);
/// Largest size of its pixels.
const PIXEL: f64 = 0.75;
/// Width of the badge with the risk.
const BADGE: f32 = 56.0;
/// Longest title of a bookmark, in columns.
const BOOKMARK: usize = 100;
/// Longest heading that is not divided between two pages, in lines.
pub(super) const HEADING: usize = 12;

impl PageLayout<'_, '_> {
    /// The logo, above the title at the right edge.
    pub(super) fn logo(&mut self, logo: &Logo) {
        let (width, height) = logo.fitted(LOGO, PIXEL);
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

    pub(super) fn title(&mut self, text: &str) -> Result<(), RenderError> {
        self.area(0.0, 0.0, PAGE.0, 14.0, Ink::Shade);
        self.y += 70.0;
        let lines = break_lines(self.fonts, &[bold(text)], TITLE.size, WIDTH);
        let tag = self.tag(None, TagName::Title);
        self.lines(lines, LEFT, WIDTH, TITLE, tag)?;
        self.y += 14.0;
        Ok(())
    }

    pub(super) fn heading(
        &mut self,
        heading: &Heading<'_>,
        is_new_page: bool,
    ) -> Result<(), RenderError> {
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
        let lines = self.heading_lines(heading, size.size, RIGHT - x);
        let height = lines.len().min(HEADING) as f32 * size.leading + 12.0;
        let held = self.held.as_ref();
        let is_complete = held.is_some_and(|held| !held.goes_on_with(heading.level));
        if is_new_page || is_complete {
            self.settle();
        }
        self.begin_heading(is_new_page, space, height)?;
        let title = self.hold(heading);
        let tag = self.tag(None, TagName::Heading(heading.level, title));
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

    fn heading_lines(&mut self, heading: &Heading<'_>, size: f32, width: f32) -> Vec<TextLine> {
        let number = match heading.number {
            "" => String::new(),
            number => format!("{number}  "),
        };
        let span = Span {
            text: &number,
            style: Style::Bold,
            ink: Ink::Soft,
        };
        break_lines(self.fonts, &[span, bold(heading.text)], size, width)
    }

    /// Moves to where a heading of this height begins.
    fn begin_heading(
        &mut self,
        is_new_page: bool,
        space: f32,
        height: f32,
    ) -> Result<(), RenderError> {
        if is_new_page || self.y + space + height > BOTTOM {
            self.new_page()?;
        } else if self.y > TOP && self.held.is_none() {
            self.y += space;
        }
        Ok(())
    }

    /// Adds the bookmark of a heading to those whose page is not certain yet; returns its title.
    fn hold(&mut self, heading: &Heading<'_>) -> String {
        let whole = format!("{} {}", heading.number, heading.text);
        let title = text::start(whole.trim(), BOOKMARK).into_owned();
        let (mark, top) = (self.marks.len(), self.y);
        let held = self.held.get_or_insert_with(|| HeldHeadings {
            mark,
            top,
            bookmarks: Vec::new(),
            has_facts: false,
            has_table: false,
        });
        held.bookmarks.push(HeldBookmark {
            level: heading.level,
            title: title.clone(),
            anchor: heading.anchor,
            y: top,
        });
        title
    }

    /// Something follows the headings on their page: they are where links and bookmarks lead.
    pub(super) fn settle(&mut self) {
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
}
