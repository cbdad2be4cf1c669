//! The cover of a report, and its contents.

use super::outline::{Outline, Part};
use super::{Block, ContentsLine, Each, heading};
use crate::RenderError;
use crate::view::View;
use scandeck_wire::text::start;

/// Most chapters that the contents list; the bookmarks list all.
const CONTENTS: usize = 400;
/// Longest name of a chapter in the contents, in columns.
const CHAPTER: usize = 120;
/// Most lines of contents that are on the cover.
const COVER_LINES: usize = 14;

pub fn walk_cover(view: &View<'_>, outline: &Outline, each: Each<'_>) -> Result<(), RenderError> {
    if let Some(logo) = &view.template.image {
        each(Block::Logo(logo))?;
    }
    each(Block::Title(&view.title))?;
    each(Block::Facts(&view.cover))?;
    let lines = contents(view, outline);
    let is_new_page = lines.len() > COVER_LINES;
    heading(
        each,
        1,
        view.words().get("heading.contents"),
        0,
        is_new_page,
    )?;
    each(Block::Contents(&lines))
}

fn contents(view: &View<'_>, outline: &Outline) -> Vec<ContentsLine> {
    let words = view.words();
    let line = |text: &str, anchor: usize| ContentsLine {
        number: String::new(),
        text: text.to_owned(),
        aside: String::new(),
        anchor,
    };
    let of_part = |part: &Part| line(part.title(words), outline.anchor(*part));
    let mut lines: Vec<ContentsLine> = outline.before.iter().map(of_part).collect();
    let chapters = view.contents.iter().take(CONTENTS).enumerate();
    lines.extend(chapters.map(|(at, chapter)| {
        let mut aside = words.count(chapter.len(), "noun.finding");
        if chapter.is_exploited {
            aside += " · KEV";
        }
        ContentsLine {
            number: chapter.number.to_string(),
            text: start(&chapter.name, CHAPTER).into_owned(),
            aside,
            anchor: outline.anchor_of_chapter(at),
        }
    }));
    let more = view.contents.len().saturating_sub(CONTENTS);
    if more > 0 {
        let count = words.count(more, "noun.more_chapter");
        lines.push(line(&words.filled("text.not_listed", &[&count]), 0));
    }
    lines.extend(outline.after.iter().map(of_part));
    lines
}
