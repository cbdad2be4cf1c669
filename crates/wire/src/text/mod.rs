//! Text of the outside on its way to people: every text of a service, a scanned host or a
//! stranger's request passes this module before a terminal, a message or a page of a report shows
//! it.
//!
//! ```text
//!  outside text ─┬► entities (only where the source encodes them: contract/entities.rs) ─► clean, clean_text ─► DisplayText ─► people
//!                └► quoted (shell), escaped_json (JSON), file_name: the same value, in a form that acts on no terminal ─► programs
//! ```
//!
//! Controls, escape sequences, bidi controls and zero-width characters become *visible* instead of
//! vanishing, because somebody inserted them on purpose. Excessive combining marks are cut and
//! counted. The result contains only printable characters (and `\n` in [`clean_text`]), so later
//! code needs no care. It is not what arrived any more: programs get the text itself, and
//! [`DisplayText`] cannot be written as JSON or as a word of a command.

mod display;
mod duration;
mod fit;
mod log;
mod natural;
mod plural;
mod quote;
mod search;
mod wrap;

pub use display::DisplayText;
pub use duration::{duration, long_duration};
pub use fit::{middle_with, start, start_with, width};
pub use log::CleanLog;
pub use natural::natural;
pub use plural::{plural, thousands};
pub use quote::{command_line, quoted};
pub use search::{composed, search_form};
pub use wrap::wrap_words;

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Maximum number of combining marks per character; no living script uses more.
const MARKS: usize = 4;
/// Columns between tab stops in text of several lines.
const TAB: usize = 4;
/// Longest file name made of outside text, in bytes.
const NAME_BYTES: usize = 120;

/// One line of visible text: a line feed shows as `␊`, a tab as one space. Plain ASCII is returned
/// as it is.
pub fn clean(text: &str) -> DisplayText<'_> {
    if is_plain(text) {
        DisplayText::new(text)
    } else {
        DisplayText::new(cleaned(text, CleanForm::Line))
    }
}

/// Visible text of several lines: `\n` and `\r\n` end a line, tabs reach the next stop.
pub fn clean_text(text: &str) -> DisplayText<'_> {
    if is_plain_text(text) {
        DisplayText::new(text)
    } else {
        DisplayText::new(cleaned(text, CleanForm::Text))
    }
}

/// As [`clean`], for a file that a layout engine draws: a syllable may be as wide as its script
/// needs.
pub fn clean_for_print(text: &str) -> DisplayText<'_> {
    if is_plain(text) {
        DisplayText::new(text)
    } else {
        DisplayText::new(visible(text, CleanForm::Line))
    }
}

/// As [`clean_text`], for a file that a layout engine draws.
pub fn clean_text_for_print(text: &str) -> DisplayText<'_> {
    if is_plain_text(text) {
        DisplayText::new(text)
    } else {
        DisplayText::new(visible(text, CleanForm::Text))
    }
}

/// As [`clean_text`], for bytes: each byte that is no UTF-8 shows as `\xNN`.
pub fn clean_bytes(bytes: &[u8]) -> DisplayText<'static> {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02X}"));
        }
    }
    let cleaned = clean_text(&text);
    if cleaned.is_unchanged(&text) {
        DisplayText::new(text)
    } else {
        DisplayText::new(cleaned.into_owned())
    }
}

/// JSON text that cannot control a terminal: hidden characters are written as `\\uXXXX`, which
/// parses to the same value. JSON syntax is ASCII, so other characters occur only in strings.
pub fn escaped_json(json: &str) -> Cow<'_, str> {
    let acts = |c: char| c == '\x7f' || is_hidden(c);
    if !json.contains(acts) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        if acts(c) {
            let mut units = [0; 2];
            c.encode_utf16(&mut units)
                .iter()
                .for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// A file name of the text's last path component: no separators, no leading dot or dash, at most
/// 120 bytes with the extension kept, `download` when nothing is left.
pub fn file_name(text: &str) -> String {
    let base = text
        .rsplit(['/', '\\'])
        .find(|part| !part.trim().is_empty())
        .unwrap_or_default();
    let safe: String = clean(base)
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '+' | '(' | ')') {
                c
            } else {
                '_'
            }
        })
        .collect();
    let safe = safe.trim_start_matches(['.', '-']).trim_end_matches('.');
    if safe.is_empty() {
        "download".to_owned()
    } else {
        shorten_name(safe)
    }
}

fn shorten_name(name: &str) -> String {
    if name.len() <= NAME_BYTES {
        return name.to_owned();
    }
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if extension.len() <= 10 => (stem, format!(".{extension}")),
        _ => (name, String::new()),
    };
    let mut end = NAME_BYTES - extension.len();
    while !stem.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{extension}", &stem[..end])
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CleanForm {
    Line,
    Text,
}

fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

fn is_plain_text(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n'))
}

fn cleaned(text: &str, form: CleanForm) -> String {
    split_wide_clusters(visible(text, form))
}

fn visible(text: &str, form: CleanForm) -> String {
    let mut out = Cleaner {
        out: String::with_capacity(text.len() + 16),
        column: 0,
        has_base: false,
        marks: 0,
    };
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' if form == CleanForm::Text && rest.peek() == Some(&'\n') => {}
            '\n' if form == CleanForm::Text => out.end_line(),
            '\t' if form == CleanForm::Text => out.tab(),
            '\t' => out.base(' ', 1),
            c => out.push(c),
        }
    }
    out.settle_marks();
    out.out
}

/// Terminals cannot draw a cluster wider than two columns (stacked vowel signs, runs of leading
/// jamo): the following characters get a placeholder base.
fn split_wide_clusters(text: String) -> String {
    if text.is_ascii() || text.graphemes(true).all(|cluster| cluster.width() <= 2) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 16);
    for cluster in text.graphemes(true) {
        let mut used = 0;
        for c in cluster.chars() {
            let width = c.width().unwrap_or(0);
            if used > 0 && used + width > 2 {
                out.push('◌');
                used = 1;
            }
            out.push(c);
            used += width;
        }
    }
    out
}

/// State of the current line: column, and base of the next combining mark.
struct Cleaner {
    out: String,
    column: usize,
    has_base: bool,
    marks: usize,
}

impl Cleaner {
    fn push(&mut self, c: char) {
        match c {
            '\0'..='\x1f' => self.base(picture(c as u32), 1),
            '\x7f' => self.base('␡', 1),
            // Presentation selectors change the width of what they follow in some terminals and not
            // in others.
            '\u{fe00}'..='\u{fe0f}' => {}
            c if is_hidden(c) => self.code(c),
            c => match c.width() {
                Some(0) => self.mark(c),
                // No terminal has a cell for it.
                Some(3..) => self.code(c),
                Some(width) => self.base(c, width),
                None => self.code(c),
            },
        }
    }

    fn base(&mut self, c: char, width: usize) {
        self.settle_marks();
        self.out.push(c);
        self.column += width;
        self.has_base = true;
    }

    fn mark(&mut self, c: char) {
        if !self.has_base {
            self.base('◌', 1);
        }
        self.marks += 1;
        if self.marks <= MARKS {
            self.out.push(c);
        }
    }

    fn code(&mut self, c: char) {
        for c in format!("<U+{:04X}>", c as u32).chars() {
            self.base(c, 1);
        }
    }

    fn settle_marks(&mut self) {
        let dropped = self.marks.saturating_sub(MARKS);
        self.marks = 0;
        if dropped > 0 {
            let note = format!("<+{dropped} marks>");
            self.column += note.len();
            self.out.push_str(&note);
        }
    }

    fn tab(&mut self) {
        for _ in 0..TAB - self.column % TAB {
            self.base(' ', 1);
        }
    }

    fn end_line(&mut self) {
        self.settle_marks();
        self.out.push('\n');
        (self.column, self.has_base) = (0, false);
    }
}

/// The control picture of a C0 control.
fn picture(code: u32) -> char {
    char::from_u32(0x2400 + code).unwrap_or('?')
}

/// Characters that draw nothing, reorder what is around them, or whose width terminals disagree
/// about.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}'                // C1 controls
        | '\u{ad}' | '\u{34f}' | '\u{61c}' // soft hyphen, grapheme joiner, Arabic letter mark
        | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' // Hangul fillers
        | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'          // zero-width, direction marks
        | '\u{2028}'..='\u{202e}'          // separators, embeddings, overrides
        | '\u{2060}'..='\u{206f}'          // word joiner, isolates
        | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
        | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}' // private use
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{1f1e6}'..='\u{1f1ff}' | '\u{1f3fb}'..='\u{1f3ff}' // flag letters, skin tones
        | '\u{e0000}'..='\u{e0fff}') // tags, more selectors
}

/// The cause of an error in lower case and without the number of the operating system:
/// `permission denied`. Messages of this program remain as they are.
pub fn io_cause(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((cause, _)) => cause.to_lowercase(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::entities::decode_entities;
    use proptest::prelude::*;

    #[test]
    fn clean_plain_text_borrows() {
        assert!(matches!(
            Cow::from(clean("GET /index.html HTTP/1.1")),
            Cow::Borrowed(_)
        ));
        assert!(matches!(
            Cow::from(clean_text("two\nlines")),
            Cow::Borrowed(_)
        ));
        assert!(matches!(decode_entities("a & b"), Cow::Borrowed(_)));
    }

    #[test]
    fn clean_shows_controls_and_escape_sequences() {
        assert_eq!(clean("a\x1b[31mred\x07\x7f"), "a␛[31mred␇␡");
        assert_eq!(clean("\x1b]52;c;aGk=\x1b\\"), "␛]52;c;aGk=␛\\");
        assert_eq!(clean("\u{9b}31m"), "<U+009B>31m");
        assert_eq!(clean("a\r\nb\tc"), "a␍␊b c");
    }

    #[test]
    fn clean_shows_bidi_and_zero_width_characters() {
        assert_eq!(clean("exe\u{202e}gpj"), "exe<U+202E>gpj");
        assert_eq!(clean("ad\u{200b}min\u{feff}"), "ad<U+200B>min<U+FEFF>");
        assert_eq!(clean("❤\u{fe0f}"), "❤");
    }

    #[test]
    fn clean_cuts_and_counts_combining_marks() {
        let flood = format!("Z{}!", "\u{301}".repeat(1000));
        assert_eq!(clean(&flood), "Z\u{301}\u{301}\u{301}\u{301}<+996 marks>!");
        assert_eq!(clean("\u{301}x"), "◌\u{301}x");
        assert_eq!(clean("豈\u{cc1}\u{cc1}"), "豈◌\u{cc1}◌\u{cc1}");
        assert_eq!(clean("Zoë, 日本語"), "Zoë, 日本語");
    }

    /// Words of scripts with combining marks: Hindi, Thai, Arabic with vowels, Hebrew with points,
    /// Tamil, Vietnamese.
    const MARKED: [&str; 9] = [
        "हिन्दी",
        "क्षि",
        "स्त्री",
        "ภาษาไทย",
        "น้ำ",
        "العَرَبِيَّة",
        "שָׁלוֹם",
        "தமிழ்",
        "Vie\u{323}\u{302}t",
    ];

    #[test]
    fn clean_for_print_keeps_the_marks_of_every_script() {
        for word in MARKED {
            let line = format!("{word} x {word}");
            assert_eq!(&*clean_for_print(&line), line);
            assert_eq!(
                &*clean_text_for_print(&format!("{line}\n{line}")),
                format!("{line}\n{line}")
            );
        }
    }

    #[test]
    fn clean_keeps_marks_of_clusters_that_a_terminal_can_draw() {
        for word in MARKED
            .into_iter()
            .filter(|word| word.graphemes(true).all(|cluster| cluster.width() <= 2))
        {
            assert_eq!(clean(word), word);
        }
        assert_eq!(clean("क्षि"), "क्ष◌ि", "three columns in one cluster");
    }

    #[test]
    fn clean_for_print_changes_floods_and_orphans() {
        assert_eq!(clean_for_print("\u{301}x"), "◌\u{301}x");
        assert_eq!(
            clean_for_print(&format!("क{}", "\u{941}".repeat(50))),
            "क\u{941}\u{941}\u{941}\u{941}<+46 marks>"
        );
    }

    #[test]
    fn clean_text_keeps_lines_and_tab_stops() {
        assert_eq!(clean_text("a\tb\r\n\tc\rd"), "a   b\n    c␍d");
    }

    #[test]
    fn entities_cannot_hide_controls() {
        assert_eq!(
            clean(&decode_entities("&lt;b&gt; &#27;[2J &#x202e; &amp;lt;")),
            "<b> ␛[2J <U+202E> &lt;"
        );
    }

    #[test]
    fn escaped_json_keeps_value_without_controls() {
        let value = serde_json::json!({"a": "\u{9b}31m\u{202e}\u{7f}\u{e0041} é \x1b]0;\u{7}"});
        let text = value.to_string();
        let safe = escaped_json(&text);
        assert!(
            safe.chars().all(|c| !c.is_control() && !is_hidden(c)),
            "{safe}"
        );
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&safe).unwrap(),
            value
        );
        assert!(matches!(escaped_json("{\"a\": \"é\"}"), Cow::Borrowed(_)));
    }

    #[test]
    fn clean_shows_code_of_overwide_character() {
        assert_eq!(clean("\u{17d8}"), "<U+17D8>");
    }

    #[test]
    fn clean_bytes_shows_invalid_utf8() {
        assert_eq!(clean_bytes(b"ok \xff\xc3( \xc3\xa9"), "ok \\xFF\\xC3( é");
    }

    #[test]
    fn file_name_cannot_leave_directory() {
        for (given, expected) in [
            ("../../etc/passwd", "passwd"),
            ("..", "download"),
            ("C:\\tmp\\report 1.pdf", "report_1.pdf"),
            (".bashrc", "bashrc"),
            ("-rf", "rf"),
            ("a\u{202e}fdp.exe", "a_U+202E_fdp.exe"),
            ("", "download"),
            ("dir/", "dir"),
        ] {
            assert_eq!(file_name(given), expected, "{given:?}");
        }
        let long = file_name(&format!("{}.json", "é".repeat(300)));
        assert!(
            long.len() <= NAME_BYTES && long.ends_with(".json"),
            "{long}"
        );
    }

    proptest! {
        #[test]
        fn any_input_becomes_visible_text(text in any::<String>(), bytes in any::<Vec<u8>>()) {
            for line in [clean(&text).into_owned(), clean(&decode_entities(&text)).into_owned()] {
                prop_assert!(line.chars().all(|c| !c.is_control() && !is_hidden(c)), "{line:?}");
                prop_assert_eq!(clean(&line), line.as_str());
                prop_assert!(line.graphemes(true).all(|cluster| cluster.width() <= 2), "{line:?}");
            }
            for text in [clean_text(&text).into_owned(), clean_text_for_print(&text).into_owned(), clean_bytes(&bytes).into_owned()] {
                prop_assert!(text.chars().all(|c| c == '\n' || !c.is_control() && !is_hidden(c)), "{text:?}");
            }
            let name = file_name(&text);
            prop_assert!(!name.is_empty() && !name.contains(['/', '\\', '\0']) && name != "..", "{name:?}");
        }
    }
}
