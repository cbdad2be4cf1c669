//! Text as lines: breaks at spaces and after separators, inside a word only when it is longer than
//! the line, and puts right-to-left text into visual order.

use std::ops::Range;
use std::rc::Rc;

use unicode_bidi::{BidiInfo, Level};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::fonts::{Fonts, ShapedWord, Style};
use scandeck_wire::contract::Risk;

/// The colour of a text or an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    Text,
    Soft,
    White,
    Link,
    /// Lines of tables.
    Rule,
    /// Header rows.
    Shade,
    Risk(Risk),
}

/// Text of one style and colour.
#[derive(Clone, Copy, Debug)]
pub struct Span<'a> {
    pub text: &'a str,
    pub style: Style,
    pub ink: Ink,
}

/// A word in a line, after a number of spaces.
#[derive(Clone, Debug)]
pub struct Piece {
    pub spaces: usize,
    pub word: Rc<ShapedWord>,
    pub style: Style,
    pub ink: Ink,
}

/// A line in visual order.
#[derive(Clone, Debug, Default)]
pub struct TextLine {
    pub pieces: Vec<Piece>,
    /// In points.
    pub width: f32,
    /// Of a right-to-left paragraph, so aligned to the right.
    pub is_rtl: bool,
}

/// Marks that end a phrase in Chinese, Japanese and Korean text, and brackets that begin one.
const CLOSING: &str = "。、，．！？：；・々」』）】〉》〕］｝,.!?:;)]}";
const OPENING: &str = "「『（【〈《〔［｛";

/// Breaks the spans into lines of at most `width` points. The lines run from left to right,
/// whatever text they begin with.
pub fn break_lines(
    fonts: &mut Fonts<'_>,
    spans: &[Span<'_>],
    size: f32,
    width: f32,
) -> Vec<TextLine> {
    broken(fonts, spans, size, width, Level::ltr())
}

/// As [`break_lines`], for prose: the first letter decides whether it runs from right to left.
pub fn break_prose(
    fonts: &mut Fonts<'_>,
    spans: &[Span<'_>],
    size: f32,
    width: f32,
) -> Vec<TextLine> {
    let text: String = spans.iter().map(|span| span.text).collect();
    let is_rtl = !text.is_ascii() && text.chars().find(|c| c.is_alphabetic()).is_some_and(is_rtl);
    broken(
        fonts,
        spans,
        size,
        width,
        if is_rtl { Level::rtl() } else { Level::ltr() },
    )
}

fn broken(
    fonts: &mut Fonts<'_>,
    spans: &[Span<'_>],
    size: f32,
    width: f32,
    level: Level,
) -> Vec<TextLine> {
    let mut breaker = Breaker {
        fonts,
        size,
        width,
        lines: Vec::new(),
        line: TextLine::default(),
        has_rtl: false,
    };
    for span in spans {
        for (at, text) in span.text.split('\n').enumerate() {
            if at > 0 {
                breaker.end_paragraph();
            }
            breaker.add(text, span);
        }
    }
    breaker.end_paragraph();
    let Breaker {
        mut lines, has_rtl, ..
    } = breaker;
    if has_rtl {
        reorder(fonts, &mut lines, size, level);
    }
    lines
}

struct Breaker<'a, 'f> {
    fonts: &'a mut Fonts<'f>,
    size: f32,
    width: f32,
    lines: Vec<TextLine>,
    line: TextLine,
    has_rtl: bool,
}

impl Breaker<'_, '_> {
    fn add(&mut self, text: &str, span: &Span<'_>) {
        self.has_rtl |= !text.is_ascii() && text.chars().any(is_rtl);
        let mut rest = text;
        loop {
            let word_at = rest.find(|c| c != ' ').unwrap_or(rest.len());
            let (spaces, tail) = (word_at, &rest[word_at..]);
            if tail.is_empty() {
                // Spaces at the end of a span separate it from the next one.
                if spaces > 0 {
                    self.push(spaces, "", span);
                }
                return;
            }
            let end = self.end_of_word(tail, span);
            self.push(spaces, &tail[..end], span);
            rest = &tail[end..];
        }
    }

    /// The end of the first word. The scheme of an address stays with its host, and an identifier is
    /// whole, where they fit on a line.
    fn end_of_word(&mut self, text: &str, span: &Span<'_>) -> usize {
        let end = word_end(text);
        let whole = match text[..end].ends_with("://") {
            true => end + word_end(&text[end..]),
            false => identifier_end(text, end),
        };
        if whole == end {
            return end;
        }
        let word = self.fonts.word(&text[..whole], span.style, false);
        match word.width * self.size <= self.width {
            true => whole,
            false => end,
        }
    }

    fn push(&mut self, spaces: usize, text: &str, span: &Span<'_>) {
        let word = self.fonts.word(text, span.style, false);
        let space = self
            .fonts
            .space(span.style as usize)
            .map_or(0.25, |(_, width)| width);
        let needed = (spaces as f32 * space + word.width) * self.size;
        if self.line.width + needed <= self.width + 0.01
            || (self.line.pieces.is_empty() && spaces == 0 && text.is_empty())
        {
            self.line.width += needed;
            self.line.pieces.push(Piece {
                spaces,
                word,
                style: span.style,
                ink: span.ink,
            });
            return;
        }
        if !self.line.pieces.is_empty() {
            self.end_line();
        }
        if word.width * self.size <= self.width {
            if !text.is_empty() {
                self.line.width = word.width * self.size;
                self.line.pieces.push(Piece {
                    spaces: 0,
                    word,
                    style: span.style,
                    ink: span.ink,
                });
            }
            return;
        }
        self.push_long(text, span);
    }

    /// A word longer than the line is broken between characters.
    fn push_long(&mut self, text: &str, span: &Span<'_>) {
        let (mut start, mut used) = (0, 0.0);
        for (at, cluster) in text.grapheme_indices(true) {
            let width = self.fonts.word(cluster, span.style, false).width * self.size;
            if used + width > self.width && at > start {
                self.push_part(&text[start..at], span);
                self.end_line();
                (start, used) = (at, 0.0);
            }
            used += width;
        }
        self.push_part(&text[start..], span);
    }

    fn push_part(&mut self, text: &str, span: &Span<'_>) {
        let word = self.fonts.word(text, span.style, false);
        self.line.width += word.width * self.size;
        self.line.pieces.push(Piece {
            spaces: 0,
            word,
            style: span.style,
            ink: span.ink,
        });
    }

    fn end_line(&mut self) {
        self.lines.push(std::mem::take(&mut self.line));
    }

    fn end_paragraph(&mut self) {
        self.end_line();
    }
}

/// The end of the first word: at a space, after a separator, or around a wide character.
fn word_end(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let Some(&(next_at, next)) = chars.peek() else {
            break;
        };
        let is_break = matches!(
            c,
            '/' | '-' | '?' | '&' | '=' | ',' | ';' | '|' | '_' | '\\'
        ) && next.is_alphanumeric();
        if next == ' ' || (is_break && at > 0) {
            return next_at;
        }
        if !c.is_ascii() && is_wide(c) {
            return at + wide_end(&text[at..]);
        }
        if !next.is_ascii() && is_wide(next) && !is_closing(next) {
            return next_at;
        }
    }
    text.len()
}

/// The end of an identifier such as CVE-2021-44228, whose first word ends here; of another text,
/// the end of this word.
fn identifier_end(text: &str, end_of_name: usize) -> usize {
    let name = text[..end_of_name].strip_suffix('-').unwrap_or_default();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase());
    let mut end = end_of_name;
    while is_name
        && text[..end].ends_with('-')
        && text[end..].starts_with(|c: char| c.is_ascii_digit())
    {
        end += word_end(&text[end..]);
    }
    end
}

/// The end of a wide character with its punctuation: a line neither begins with a closing mark nor
/// ends with an opening one.
fn wide_end(text: &str) -> usize {
    let mut end = 0;
    let mut is_open = true;
    for cluster in text.graphemes(true) {
        let belongs = match is_open {
            true => !cluster.starts_with(' '),
            false => cluster.starts_with(is_closing),
        };
        if !belongs {
            break;
        }
        if is_open && end > 0 && !cluster.starts_with(is_wide) {
            return end + word_end(&text[end..]);
        }
        end += cluster.len();
        is_open = cluster.starts_with(is_opening);
    }
    end
}

fn is_closing(c: char) -> bool {
    CLOSING.contains(c)
}

fn is_opening(c: char) -> bool {
    OPENING.contains(c)
}

fn is_wide(c: char) -> bool {
    c >= '\u{2e80}' && c.encode_utf8(&mut [0; 4]).width() == 2
}

fn is_rtl(c: char) -> bool {
    matches!(c,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

/// Puts lines with right-to-left text into visual order.
fn reorder(fonts: &mut Fonts<'_>, lines: &mut [TextLine], size: f32, level: Level) {
    for line in lines {
        let (text, ranges) = joined(&line.pieces);
        if !text.chars().any(is_rtl) && level.is_ltr() {
            continue;
        }
        let info = BidiInfo::new(&text, Some(level));
        let Some(paragraph) = info.paragraphs.first() else {
            continue;
        };
        let (levels, runs) = info.visual_runs(paragraph, paragraph.range.clone());
        let mut pieces = Vec::new();
        for run in runs {
            let is_rtl = levels.get(run.start).is_some_and(Level::is_rtl);
            let mut parts = Vec::new();
            for (piece, range) in line.pieces.iter().zip(&ranges) {
                let (start, end) = (run.start.max(range.start), run.end.min(range.end));
                if start < end {
                    let word = fonts.word(&text[start..end], piece.style, is_rtl);
                    parts.push(Piece {
                        spaces: 0,
                        word,
                        style: piece.style,
                        ink: piece.ink,
                    });
                }
            }
            if is_rtl {
                parts.reverse();
            }
            pieces.extend(parts);
        }
        line.width = pieces.iter().map(|piece| piece.word.width * size).sum();
        line.is_rtl = paragraph.level.is_rtl();
        line.pieces = pieces;
    }
}

/// The text of a line, and the range of each of its pieces in it.
fn joined(pieces: &[Piece]) -> (String, Vec<Range<usize>>) {
    let mut text = String::new();
    let mut ranges = Vec::new();
    for piece in pieces {
        let start = text.len();
        text.extend(std::iter::repeat_n(' ', piece.spaces));
        text.push_str(&piece.word.text);
        ranges.push(start..text.len());
    }
    (text, ranges)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, width: f32) -> Vec<String> {
        let mut fonts = Fonts::new().unwrap();
        let spans = [Span {
            text,
            style: Style::Regular,
            ink: Ink::Text,
        }];
        let lines = break_lines(&mut fonts, &spans, 10.0, width);
        assert!(
            lines.iter().all(|line| line.width <= width + 0.1),
            "{lines:?}"
        );
        let text = |line: &TextLine| -> String {
            line.pieces
                .iter()
                .map(|piece| " ".repeat(piece.spaces) + &piece.word.text)
                .collect()
        };
        lines.iter().map(text).collect()
    }

    #[test]
    fn lines_break_at_spaces_and_after_separators() {
        assert_eq!(texts("one two three", 50.0), ["one two", "three"]);
        assert_eq!(texts("a\n\n  b", 100.0), ["a", "", "  b"]);
        assert_eq!(texts("/admin/backup/", 50.0), ["/admin/", "backup/"]);
        assert_eq!(texts("", 50.0), [""]);
    }

    #[test]
    fn scheme_is_apart_from_its_host_only_without_room_for_both() {
        for width in (60..200).map(|width| width as f32) {
            let has_room = texts("https://shop.acme.test/", width).len() == 1;
            let lines = texts("1 target, https://shop.acme.test/", width);
            let is_apart = lines.iter().any(|line| line.ends_with("https://"));
            assert_eq!(is_apart, !has_room, "{width}: {lines:?}");
        }
    }

    #[test]
    fn identifier_is_broken_only_without_room_for_it() {
        let text = "CVE-2025-49659 · CVE-2025-48823,CVE-2025-49684 · CWE-79";
        for width in 100..240 {
            let lines = texts(text, width as f32);
            let is_broken = lines.iter().any(|line| line.ends_with('-'));
            assert!(!is_broken, "{width}: {lines:?}");
        }
        let narrow = texts(text, 40.0);
        assert!(narrow.iter().any(|line| line.ends_with('-')), "{narrow:?}");
        assert_eq!(identifier_end("server-2", 7), 7);
    }

    #[test]
    fn long_words_break_between_characters_and_lose_none() {
        let lines = texts(&"e\u{301}".repeat(100), 60.0);
        assert!(
            lines.len() > 5 && lines.iter().all(|line| line.starts_with('e')),
            "{lines:?}"
        );
        assert_eq!(lines.concat(), "e\u{301}".repeat(100));
        assert!(texts(&"日本語".repeat(20), 60.0).len() > 5);
    }

    #[test]
    fn punctuation_of_wide_text_stays_with_its_phrase() {
        let text = "数据库，密码。「管理者（admin）」の画面、ok！次".repeat(6);
        for width in 80..140 {
            let lines = texts(&text, width as f32);
            assert_eq!(lines.concat(), text);
            for line in lines.iter().filter(|line| line.chars().count() > 2) {
                assert!(!line.starts_with(is_closing), "{width}: {lines:?}");
                assert!(!line.ends_with(is_opening), "{width}: {lines:?}");
            }
        }
        assert_eq!(word_end("（admin）の"), "（admin）".len());
        assert_eq!(word_end("ok。次"), "ok。".len());
        assert_eq!(word_end("「 a"), "「".len());
        let hostile = "（a".repeat(100_000);
        assert_eq!(word_end(&hostile), "（a".len());
    }

    #[test]
    fn right_to_left_text_is_in_visual_order() {
        let mut fonts = Fonts::new().unwrap();
        let spans = [Span {
            text: "port \u{5d0}\u{5d1} \u{5d2} 443",
            style: Style::Regular,
            ink: Ink::Text,
        }];
        let lines = break_lines(&mut fonts, &spans, 10.0, 500.0);
        let pieces: Vec<&str> = lines[0]
            .pieces
            .iter()
            .map(|piece| &*piece.word.text)
            .collect();
        assert_eq!(
            pieces,
            ["port", " ", "443", " ", " \u{5d2}", "\u{5d0}\u{5d1}"]
        );
    }
}
