//! Pages as PDF: marks become glyphs, areas and links; tags and bookmarks describe the structure.

use std::num::NonZeroU16;

use krilla::Document as PdfDocument;
use krilla::SerializeSettings;
use krilla::action::{Action, LinkAction};
use krilla::annotation::{Annotation, LinkAnnotation, Target};
use krilla::color::rgb;
use krilla::destination::{Destination, XyzDestination};
use krilla::geom::{PathBuilder, Point, Rect, Size, Transform};
use krilla::metadata::{DateTime, Metadata};
use krilla::num::NormalizedF32;
use krilla::outline::{Outline, OutlineNode};
use krilla::page::PageSettings;
use krilla::paint::{Fill, FillRule};
use krilla::surface::Surface;
use krilla::tagging::{
    Artifact, ArtifactType, ContentTag, Identifier, SpanTag, TableHeaderScope, Tag, TagGroup,
    TagKind, TagTree,
};
use krilla::text::{GlyphId, KrillaGlyph};

use jiff::tz::TimeZone;

use super::fonts::Fonts;
use super::layout::{LinkTarget, PAGE, PageMark, PageMarkKind, Place};
use super::lines::{Ink, Piece, TextLine};
use crate::view::View;
use crate::{RenderError, risk_color};

/// Findings up to which every paragraph and cell has a tag: the structure of 20,000 findings would
/// need gigabytes of memory.
const FINE_TAGS: usize = 2_000;

/// The role of a part in the structure of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagName {
    Title,
    Heading(u8, String),
    Paragraph,
    Table,
    Row,
    HeaderCell,
    Cell,
    ContentsItem,
    Link,
}

enum TagChild {
    Group(usize),
    Content(Identifier),
}

struct TagNode {
    name: TagName,
    children: Vec<TagChild>,
}

struct Bookmark {
    level: u8,
    text: String,
    place: Place,
}

/// The PDF while its pages are drawn.
pub struct PdfPages {
    document: PdfDocument,
    tags: Vec<TagNode>,
    /// The tags without a parent.
    roots: Vec<usize>,
    /// Whether a finding has one tag for everything below its heading.
    is_coarse: bool,
    /// That tag, within a finding.
    finding: Option<usize>,
    bookmarks: Vec<Bookmark>,
    language: String,
}

impl PdfPages {
    pub fn new(view: &View<'_>) -> Self {
        let findings: usize = view.document().counts.iter().sum();
        let language = view.words().language.to_owned();
        let mut document = PdfDocument::new_with(SerializeSettings::default());
        let at = view.generated().0.to_zoned(TimeZone::UTC);
        // In range: the year of a stamp has four digits, the other numbers are those of a calendar.
        let date = DateTime::new(at.year().unsigned_abs())
            .month(at.month().unsigned_abs())
            .day(at.day().unsigned_abs())
            .hour(at.hour().unsigned_abs())
            .minute(at.minute().unsigned_abs())
            .second(at.second().unsigned_abs())
            .utc_offset_hour(0)
            .utc_offset_minute(0);
        let metadata = Metadata::new()
            .title(view.title.clone())
            .creator("scandeck".to_owned())
            .language(language.clone())
            .creation_date(date);
        document.set_metadata(metadata);
        Self {
            document,
            tags: Vec::new(),
            roots: Vec::new(),
            is_coarse: findings > FINE_TAGS,
            finding: None,
            bookmarks: Vec::new(),
            language,
        }
    }

    /// A new part of the structure.
    pub fn tag(&mut self, parent: Option<usize>, name: TagName) -> usize {
        match (&name, self.finding) {
            (TagName::Heading(level, _), _) => {
                let is_finding = self.is_coarse && *level > 1;
                let heading = self.add_tag(parent, name);
                self.finding = is_finding.then(|| self.add_tag(None, TagName::Paragraph));
                heading
            }
            (_, Some(finding)) => finding,
            _ => self.add_tag(parent, name),
        }
    }

    fn add_tag(&mut self, parent: Option<usize>, name: TagName) -> usize {
        let id = self.tags.len();
        self.tags.push(TagNode {
            name,
            children: Vec::new(),
        });
        match parent {
            Some(parent) => self.tags[parent].children.push(TagChild::Group(id)),
            None => self.roots.push(id),
        }
        id
    }

    pub fn bookmark(&mut self, level: u8, text: &str, place: Place) {
        self.bookmarks.push(Bookmark {
            level,
            text: text.to_owned(),
            place,
        });
    }

    /// Draws a page.
    pub fn page(&mut self, fonts: &Fonts<'_>, marks: Vec<PageMark>) -> Result<(), RenderError> {
        let settings = PageSettings::from_wh(PAGE.0, PAGE.1).ok_or_else(|| failed("page size"))?;
        let mut page = self.document.start_page_with(settings);
        let (links, others): (Vec<PageMark>, Vec<PageMark>) = marks
            .into_iter()
            .partition(|mark| matches!(mark.kind, PageMarkKind::Link { .. }));
        // Areas are behind the text, and do not interrupt its tags.
        let (areas, texts): (Vec<PageMark>, Vec<PageMark>) = others
            .into_iter()
            .partition(|mark| matches!(mark.kind, PageMarkKind::Area { .. }));
        let mut surface = page.surface();
        let mut open = None;
        for mark in areas.into_iter().chain(texts) {
            // Marks of one tag that follow each other are one content.
            if open != Some(mark.tag) {
                if open.is_some() {
                    surface.end_tagged();
                }
                start_tagged(&mut surface, &mut self.tags, mark.tag);
                open = Some(mark.tag);
            }
            paint(&mut surface, fonts, &mark);
        }
        if open.is_some() {
            surface.end_tagged();
        }
        surface.finish();
        // Viewers find the web addresses of the text themselves.
        let is_coarse = self.is_coarse;
        let is_kept = |mark: &&PageMark| !is_coarse || !leads_to_web(mark);
        for mark in links.iter().filter(is_kept) {
            if let (Some(tag), Some(annotation)) = (mark.tag, annotation(mark)) {
                let content = page.add_tagged_annotation(annotation);
                self.tags[tag].children.push(TagChild::Content(content));
            }
        }
        page.finish();
        Ok(())
    }

    /// The bytes of the file.
    pub fn finish(mut self) -> Result<Vec<u8>, RenderError> {
        self.document.set_outline(outline(self.bookmarks));
        let mut nodes: Vec<Option<TagNode>> = self.tags.into_iter().map(Some).collect();
        let mut tree = TagTree::new().with_lang(Some(self.language));
        for root in self.roots {
            tree.push(group(&mut nodes, root));
        }
        self.document.set_tag_tree(tree);
        self.document
            .finish()
            .map_err(|error| RenderError::Pdf(format!("{error:?}")))
    }
}

fn failed(what: &str) -> RenderError {
    RenderError::Pdf(format!("{what} is invalid"))
}

/// A part with everything below it. The depth is that of a table.
fn group(nodes: &mut [Option<TagNode>], id: usize) -> TagGroup {
    let Some(node) = nodes[id].take() else {
        return TagGroup::new(Tag::P);
    };
    let mut out = TagGroup::new(kind(node.name));
    for child in node.children {
        match child {
            TagChild::Group(child) => out.push(group(nodes, child)),
            TagChild::Content(content) => out.push(content),
        }
    }
    out
}

fn kind(name: TagName) -> TagKind {
    match name {
        TagName::Title => Tag::Title.into(),
        TagName::Heading(level, title) => {
            let level = NonZeroU16::new(level.into()).unwrap_or(NonZeroU16::MIN);
            Tag::Hn(level, Some(title)).into()
        }
        TagName::Paragraph => Tag::P.into(),
        TagName::Table => Tag::Table.into(),
        TagName::Row => Tag::TR.into(),
        TagName::HeaderCell => Tag::TH(TableHeaderScope::Column).into(),
        TagName::Cell => Tag::TD.into(),
        TagName::ContentsItem => Tag::TOCI.into(),
        TagName::Link => Tag::Link.into(),
    }
}

/// Chapters with their findings below them.
fn outline(bookmarks: Vec<Bookmark>) -> Outline {
    let mut outline = Outline::new();
    let mut chapter: Option<OutlineNode> = None;
    for Bookmark { level, text, place } in bookmarks {
        let node = OutlineNode::new(text, destination(place));
        match &mut chapter {
            Some(chapter) if level > 1 => chapter.push_child(node),
            _ => {
                if let Some(done) = chapter.replace(node) {
                    outline.push_child(done);
                }
            }
        }
    }
    if let Some(last) = chapter {
        outline.push_child(last);
    }
    outline
}

fn destination(place: Place) -> XyzDestination {
    XyzDestination::new(place.page, Point::from_xy(0.0, (place.y - 8.0).max(0.0)))
}

fn annotation(mark: &PageMark) -> Option<Annotation> {
    let PageMarkKind::Link {
        width,
        height,
        target,
    } = &mark.kind
    else {
        return None;
    };
    let rect = Rect::from_xywh(mark.x, mark.y, *width, *height)?;
    let (target, alt) = match target {
        LinkTarget::Place(place) => (
            Target::Destination(Destination::Xyz(destination(*place))),
            format!("page {}", place.page + 1),
        ),
        LinkTarget::Web(link) => (
            Target::Action(Action::Link(LinkAction::new(link.clone()))),
            link.clone(),
        ),
    };
    Some(Annotation::new_link(
        LinkAnnotation::new(rect, target),
        Some(alt),
    ))
}

fn fill(ink: Ink) -> Fill {
    let [red, green, blue] = match ink {
        Ink::Text => [0x1b, 0x1f, 0x24],
        Ink::Soft => [0x5b, 0x64, 0x72],
        Ink::White => [0xff, 0xff, 0xff],
        Ink::Link => [0x1f, 0x4e, 0x79],
        Ink::Rule => [0xd5, 0xd9, 0xe0],
        Ink::Shade => [0xee, 0xf0, 0xf3],
        Ink::Risk(risk) => risk_color(risk),
    };
    Fill {
        paint: rgb::Color::new(red, green, blue).into(),
        opacity: NormalizedF32::ONE,
        rule: FillRule::NonZero,
    }
}

fn paint_area(surface: &mut Surface<'_>, mark: &PageMark, (width, height): (f32, f32), ink: Ink) {
    let mut path = PathBuilder::new();
    if let Some(rect) = Rect::from_xywh(mark.x, mark.y, width, height) {
        path.push_rect(rect);
    }
    if let Some(path) = path.finish() {
        surface.set_fill(Some(fill(ink)));
        surface.draw_path(&path);
    }
}

/// Glyphs of one font and colour that follow each other.
struct GlyphSegment {
    face: usize,
    ink: Ink,
    x: f32,
    text: String,
    glyphs: Vec<KrillaGlyph>,
}

fn start_tagged(surface: &mut Surface<'_>, tags: &mut [TagNode], tag: Option<usize>) {
    match tag {
        Some(tag) => {
            let content = surface.start_tagged(ContentTag::Span(SpanTag::empty()));
            tags[tag].children.push(TagChild::Content(content));
        }
        None => {
            let artifact = Artifact::with_kind(ArtifactType::Other);
            surface.start_tagged(ContentTag::Artifact(artifact));
        }
    }
}

fn leads_to_web(mark: &PageMark) -> bool {
    matches!(
        mark.kind,
        PageMarkKind::Link {
            target: LinkTarget::Web(_),
            ..
        }
    )
}

fn paint(surface: &mut Surface<'_>, fonts: &Fonts<'_>, mark: &PageMark) {
    match &mark.kind {
        PageMarkKind::Text { line, size } => {
            paint_line(surface, fonts, line, (mark.x, mark.y), *size)
        }
        PageMarkKind::Area { width, height, ink } => {
            paint_area(surface, mark, (*width, *height), *ink)
        }
        PageMarkKind::Image {
            image,
            width,
            height,
        } => {
            if let Some(size) = Size::from_wh(*width, *height) {
                surface.push_transform(&Transform::from_translate(mark.x, mark.y));
                surface.draw_image(image.clone(), size);
                surface.pop();
            }
        }
        PageMarkKind::Link { .. } => {}
    }
}

fn paint_line(
    surface: &mut Surface<'_>,
    fonts: &Fonts<'_>,
    line: &TextLine,
    (x, y): (f32, f32),
    size: f32,
) {
    let mut pen = Pen {
        fonts,
        size,
        x,
        segments: Vec::new(),
    };
    for piece in &line.pieces {
        pen.spaces(piece);
        pen.word(piece);
    }
    for segment in pen.segments {
        surface.set_fill(Some(fill(segment.ink)));
        let font = fonts.pdf(segment.face).clone();
        surface.draw_glyphs(
            Point::from_xy(segment.x, y),
            &segment.glyphs,
            font,
            &segment.text,
            size,
            false,
        );
    }
}

struct Pen<'a, 'f> {
    fonts: &'a Fonts<'f>,
    size: f32,
    x: f32,
    segments: Vec<GlyphSegment>,
}

impl Pen<'_, '_> {
    /// The segment of this font and colour.
    fn segment(&mut self, face: usize, ink: Ink) -> Option<&mut GlyphSegment> {
        if self
            .segments
            .last()
            .is_none_or(|last| last.face != face || last.ink != ink)
        {
            self.segments.push(GlyphSegment {
                face,
                ink,
                x: self.x,
                text: String::new(),
                glyphs: Vec::new(),
            });
        }
        self.segments.last_mut()
    }

    /// Spaces are drawn, so that copied text has them.
    fn spaces(&mut self, piece: &Piece) {
        let face = piece.style as usize;
        let Some((id, advance)) = self.fonts.space(face).filter(|_| piece.spaces > 0) else {
            return;
        };
        if let Some(segment) = self.segment(face, piece.ink) {
            for _ in 0..piece.spaces {
                let start = segment.text.len();
                segment.text.push(' ');
                let range = start..start + 1;
                segment.glyphs.push(KrillaGlyph::new(
                    GlyphId::new(id),
                    advance,
                    0.0,
                    0.0,
                    0.0,
                    range,
                    None,
                ));
            }
        }
        self.x += piece.spaces as f32 * advance * self.size;
    }

    fn word(&mut self, piece: &Piece) {
        for run in &piece.word.runs {
            let Some(segment) = self.segment(run.face, piece.ink) else {
                continue;
            };
            let base = segment.text.len();
            segment.text.push_str(&piece.word.text[run.range.clone()]);
            let mut width = 0.0;
            for glyph in &run.glyphs {
                let start = base + glyph.range.start - run.range.start;
                let range = start..base + glyph.range.end - run.range.start;
                width += glyph.advance;
                let id = GlyphId::new(glyph.id);
                segment.glyphs.push(KrillaGlyph::new(
                    id,
                    glyph.advance,
                    glyph.x,
                    glyph.y,
                    0.0,
                    range,
                    None,
                ));
            }
            self.x += width * self.size;
        }
    }
}
