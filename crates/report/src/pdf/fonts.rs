//! Words as glyphs: font fallback and shaping. Every word is shaped once.
//!
//! ```text
//!   word ─► grapheme clusters ─► a face for each ─► runs ─► shaper ─► glyphs
//! ```
//!
//! The embedded fonts come first, then those of this machine. A cluster that no font has becomes a
//! box; the text behind it can still be copied and searched.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use harfrust::{Direction, Script, ShapePlan, ShaperData, UnicodeBuffer};
use krilla::text::Font;
use skrifa::charmap::Charmap;
use skrifa::{FontRef, MetadataProvider};
use unicode_segmentation::UnicodeSegmentation;

use super::machine_fonts::MachineFont;
use crate::RenderError;

/// The fonts, in the order of fallback after the font of the style.
const FONTS: [&[u8]; 8] = [
    include_bytes!("../../assets/fonts/NotoSans-Regular.ttf"),
    include_bytes!("../../assets/fonts/NotoSans-Bold.ttf"),
    include_bytes!("../../assets/fonts/NotoSansMono-Regular.ttf"),
    include_bytes!("../../assets/fonts/NotoSansArabic-Regular.ttf"),
    include_bytes!("../../assets/fonts/NotoSansHebrew-Regular.ttf"),
    include_bytes!("../../assets/fonts/NotoSansThai-Regular.ttf"),
    include_bytes!("../../assets/fonts/NotoSansDevanagari-Regular.ttf"),
    include_bytes!("../../assets/fonts/DejaVuSans.ttf"),
];
/// The first font that every style falls back to.
const FALLBACK: usize = 3;
/// The font of the box.
const SYMBOLS: usize = 7;
const BOX: char = '\u{25a1}';
/// Shaped words that are remembered.
const WORDS: usize = 5_000;
/// Longer words are rare, and shaped each time.
const WORD: usize = 64;

/// The style of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Regular,
    Bold,
    Mono,
}

/// A shaped word. Lengths are in units of the font size.
#[derive(Debug, Default)]
pub struct ShapedWord {
    pub text: Box<str>,
    /// In visual order.
    pub runs: Vec<GlyphRun>,
    pub width: f32,
}

/// Glyphs of one font.
#[derive(Debug)]
pub struct GlyphRun {
    pub face: usize,
    pub glyphs: Vec<ShapedGlyph>,
    /// The text of the word that it covers.
    pub range: Range<usize>,
}

/// A glyph. Its range is relative to the word.
#[derive(Clone, Debug)]
pub struct ShapedGlyph {
    pub id: u32,
    pub advance: f32,
    pub x: f32,
    pub y: f32,
    pub range: Range<usize>,
}

struct Face<'a> {
    font: FontRef<'a>,
    characters: Charmap<'a>,
    shaper: ShaperData,
    plans: HashMap<(Script, bool), ShapePlan>,
    units: f32,
    pdf: Font,
    /// Glyph and width of a space, if the font has one.
    space: Option<(u32, f32)>,
}

/// The fonts and the words shaped so far.
pub struct Fonts<'a> {
    faces: Vec<Face<'a>>,
    /// By style and direction.
    words: [HashMap<Box<str>, Rc<ShapedWord>>; 6],
    missing: BTreeSet<char>,
}

impl<'a> Fonts<'a> {
    /// The embedded fonts.
    pub fn new() -> Result<Self, RenderError> {
        let faces = FONTS
            .iter()
            .map(|data| Face::embedded(data))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            faces,
            words: Default::default(),
            missing: BTreeSet::new(),
        })
    }

    /// Adds fonts of this machine after the embedded ones, for words that are shaped from now on.
    pub fn add(&mut self, fonts: &'a [MachineFont]) {
        self.faces.extend(fonts.iter().filter_map(Face::of_machine));
    }

    /// The characters that became boxes.
    pub fn missing(&self) -> &BTreeSet<char> {
        &self.missing
    }

    pub fn pdf(&self, face: usize) -> &Font {
        &self.faces[face].pdf
    }

    /// Glyph and width of a space in a font.
    pub fn space(&self, face: usize) -> Option<(u32, f32)> {
        self.faces[face].space
    }

    /// The word as glyphs.
    pub fn word(&mut self, text: &str, style: Style, is_rtl: bool) -> Rc<ShapedWord> {
        let slot = style as usize * 2 + usize::from(is_rtl);
        if let Some(word) = self.words[slot].get(text) {
            return Rc::clone(word);
        }
        let word = Rc::new(self.shape(text, style, is_rtl));
        if text.len() <= WORD {
            if self.words[slot].len() >= WORDS {
                self.words[slot].clear();
            }
            self.words[slot].insert(text.into(), Rc::clone(&word));
        }
        word
    }

    fn shape(&mut self, text: &str, style: Style, is_rtl: bool) -> ShapedWord {
        let mut word = ShapedWord {
            text: text.into(),
            ..ShapedWord::default()
        };
        for (face, range) in self.runs(text, style) {
            let glyphs = match face {
                Some(face) => self.faces[face].shape(text, range.clone(), is_rtl),
                None => {
                    self.missing.extend(text[range.clone()].chars());
                    self.boxes(text, range.clone())
                }
            };
            word.width += glyphs.iter().map(|glyph| glyph.advance).sum::<f32>();
            word.runs.push(GlyphRun {
                face: face.unwrap_or(SYMBOLS),
                glyphs,
                range,
            });
        }
        if is_rtl {
            word.runs.reverse();
        }
        word
    }

    /// Parts of the text with the font that has their characters.
    fn runs(&self, text: &str, style: Style) -> Vec<(Option<usize>, Range<usize>)> {
        let primary = style as usize;
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return vec![(Some(primary), 0..text.len())];
        }
        let mut runs: Vec<(Option<usize>, Range<usize>)> = Vec::new();
        for (at, cluster) in text.grapheme_indices(true) {
            let mut faces = std::iter::once(primary)
                .chain([0])
                .chain(FALLBACK..self.faces.len());
            let face = faces.find(|face| {
                cluster
                    .chars()
                    .all(|c| self.faces[*face].characters.map(c).is_some())
            });
            let end = at + cluster.len();
            match runs.last_mut() {
                Some((last, range)) if *last == face => range.end = end,
                _ => runs.push((face, at..end)),
            }
        }
        runs
    }

    /// A box for each cluster.
    fn boxes(&self, text: &str, range: Range<usize>) -> Vec<ShapedGlyph> {
        let face = &self.faces[SYMBOLS];
        let id = face.characters.map(BOX).map_or(0, |glyph| glyph.to_u32());
        let advance = face.advance(id);
        let clusters = text[range.clone()].grapheme_indices(true);
        let glyph = |(at, cluster): (usize, &str)| {
            let start = range.start + at;
            ShapedGlyph {
                id,
                advance,
                x: 0.0,
                y: 0.0,
                range: start..start + cluster.len(),
            }
        };
        clusters.map(glyph).collect()
    }
}

impl<'a> Face<'a> {
    fn embedded(data: &'static [u8]) -> Result<Self, RenderError> {
        let broken = || RenderError::Pdf("font not readable".to_owned());
        let font = FontRef::new(data).map_err(|_| broken())?;
        let pdf = Font::new(data.into(), 0).ok_or_else(broken)?;
        Ok(Self::new(font, pdf))
    }

    /// None if it cannot be used.
    fn of_machine(machine_font: &'a MachineFont) -> Option<Self> {
        let MachineFont { data, index } = machine_font;
        let font = FontRef::from_index(data, *index).ok()?;
        let pdf = Font::new(Arc::clone(data).into(), *index)?;
        // Lengths are divided by it.
        (pdf.units_per_em() > 0.0).then(|| Self::new(font, pdf))
    }

    fn new(font: FontRef<'a>, pdf: Font) -> Self {
        let characters = font.charmap();
        let mut face = Self {
            characters,
            shaper: ShaperData::new(&font),
            plans: HashMap::new(),
            units: pdf.units_per_em(),
            pdf,
            font,
            space: None,
        };
        let space = face.characters.map(' ').map(|glyph| glyph.to_u32());
        face.space = space.map(|id| (id, face.advance(id)));
        face
    }

    fn advance(&self, glyph: u32) -> f32 {
        let metrics = self.font.glyph_metrics(
            skrifa::instance::Size::unscaled(),
            skrifa::instance::LocationRef::default(),
        );
        metrics
            .advance_width(skrifa::GlyphId::new(glyph))
            .unwrap_or_default()
            / self.units
    }

    fn shape(&mut self, text: &str, range: Range<usize>, is_rtl: bool) -> Vec<ShapedGlyph> {
        let mut buffer = UnicodeBuffer::new();
        buffer.push_str(&text[range.clone()]);
        buffer.guess_segment_properties();
        let direction = if is_rtl {
            Direction::RightToLeft
        } else {
            Direction::LeftToRight
        };
        buffer.set_direction(direction);
        let script = buffer.script();
        let shaper = self.shaper.shaper(&self.font).build();
        // Without a language: the guessed one depends on the environment.
        let new = || ShapePlan::new(&shaper, direction, Some(script), None, &[]);
        let plan = self.plans.entry((script, is_rtl)).or_insert_with(new);
        let shaped = shaper.shape_with_plan(plan, buffer, &[]);

        let mut starts: Vec<usize> = shaped
            .glyph_infos()
            .iter()
            .map(|info| info.cluster as usize)
            .collect();
        starts.sort_unstable();
        starts.dedup();
        let end_of = |start: usize| {
            let next = starts.partition_point(|other| *other <= start);
            starts.get(next).copied().unwrap_or(range.len())
        };
        let pairs = shaped.glyph_infos().iter().zip(shaped.glyph_positions());
        pairs
            .map(|(info, position)| {
                let start = info.cluster as usize;
                ShapedGlyph {
                    id: info.glyph_id,
                    advance: position.x_advance as f32 / self.units,
                    x: position.x_offset as f32 / self.units,
                    y: position.y_offset as f32 / self.units,
                    range: range.start + start..range.start + end_of(start),
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_several_scripts_use_several_fonts_and_cover_their_text() {
        let mut fonts = Fonts::new().unwrap();
        let text = "aЖ\u{301}日😀\u{e01}";
        let word = fonts.word(text, Style::Bold, false);
        let faces: Vec<usize> = word.runs.iter().map(|run| run.face).collect();
        assert_eq!(
            faces,
            [1, 7, 7, 5],
            "the box and the face are in the font of symbols"
        );
        let covered: String = word
            .runs
            .iter()
            .map(|run| &text[run.range.clone()])
            .collect();
        assert_eq!(covered, text);
        for glyph in word.runs.iter().flat_map(|run| &run.glyphs) {
            assert!(
                glyph.id != 0
                    && text
                        .get(glyph.range.clone())
                        .is_some_and(|part| !part.is_empty()),
                "{glyph:?}"
            );
        }
    }

    #[test]
    fn fonts_of_the_machine_replace_boxes() {
        let thai = MachineFont {
            data: Arc::new(FONTS[5].to_vec()),
            index: 0,
        };
        let more = [thai];
        let without_thai = || {
            let mut fonts = Fonts::new().unwrap();
            fonts.faces[5] = Face::embedded(FONTS[4]).unwrap();
            fonts
        };
        let faces = |fonts: &mut Fonts<'_>| -> Vec<usize> {
            let word = fonts.word("a\u{e01}", Style::Regular, false);
            word.runs.iter().map(|run| run.face).collect()
        };
        let mut fonts = without_thai();
        assert_eq!(faces(&mut fonts), [0, SYMBOLS]);
        assert_eq!(fonts.missing(), &BTreeSet::from(['\u{e01}']));
        fonts = without_thai();
        fonts.add(&more);
        assert_eq!(faces(&mut fonts), [0, FONTS.len()]);
        assert!(fonts.missing().is_empty());
    }

    #[test]
    fn arabic_words_are_joined_and_combining_marks_take_no_width() {
        let mut fonts = Fonts::new().unwrap();
        let joined = fonts.word("\u{628}\u{628}\u{628}", Style::Regular, true);
        let alone = fonts.word("\u{628}", Style::Regular, true);
        let ids: Vec<u32> = joined.runs[0].glyphs.iter().map(|glyph| glyph.id).collect();
        assert!(
            ids.len() >= 3 && ids.iter().any(|id| *id != alone.runs[0].glyphs[0].id),
            "{ids:?}"
        );
        let marked = fonts.word("e\u{323}\u{304}", Style::Regular, false);
        assert!((marked.width - fonts.word("e", Style::Regular, false).width).abs() < 0.01);
    }
}
