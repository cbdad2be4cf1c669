//! Wrapping of styled lines to a width.
//!
//! Wrapping a body of 1 MB takes longer than a frame, so details keep the wrapped lines
//! (`ui/cache`) and a frame draws only the visible ones.

use ratatui::prelude::{Line, Span, Style};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Wraps lines at blanks, longer URLs and paths between their parts, and other longer words
/// anywhere. Continuation lines keep the indent of the first line, up to half the width.
pub fn wrap(lines: Vec<Line<'static>>, width: u16) -> Vec<Line<'static>> {
    let width = usize::from(width.max(1));
    let mut out = Vec::with_capacity(lines.len());
    for line in lines {
        let indent = indent_of(&line).min(width / 2);
        wrap_line(line, width, indent, &mut out);
    }
    out
}

/// Wraps a line so that its continuation lines begin after `hang` columns.
pub fn wrap_hanging(line: Line<'static>, width: u16, hang: usize) -> Vec<Line<'static>> {
    let mut out = Vec::new();
    wrap_line(line, usize::from(width.max(1)), hang, &mut out);
    out
}

/// Wraps a line of parts with two or more blanks between them. A part that fits in a line is not
/// split.
pub fn wrap_parts(line: Line<'static>, width: u16) -> Vec<Line<'static>> {
    if line.width() <= usize::from(width) {
        return vec![line];
    }
    let mut out: Vec<Line<'static>> = Vec::new();
    let mut current = Line::default();
    for (gap, part) in parts_of(&line) {
        let is_first = current.spans.is_empty();
        if !is_first && current.width() + gap + part.width() <= usize::from(width) {
            current.push_span(Span::raw(" ".repeat(gap)));
            current.extend(part);
            continue;
        }
        if !is_first {
            out.push(std::mem::take(&mut current));
        }
        out.extend(wrap(vec![part], width));
        current = out.pop().unwrap_or_default();
    }
    out.push(current);
    out
}

/// The parts of a line, each with the number of blanks before it.
fn parts_of(line: &Line<'static>) -> Vec<(usize, Line<'static>)> {
    let mut parts: Vec<(usize, Line<'static>)> = Vec::new();
    let mut gap = None;
    for span in &line.spans {
        for run in words_and_blanks(&span.content) {
            if run.starts_with("  ") {
                gap = Some(run.len());
                continue;
            }
            if gap.is_some() || parts.is_empty() {
                parts.push((gap.take().unwrap_or_default(), Line::default()));
            }
            if let Some((_, part)) = parts.last_mut() {
                part.push_span(Span::styled(run.to_owned(), line.style.patch(span.style)));
            }
        }
    }
    parts
}

/// Plain text, already clean, as lines.
pub fn plain(text: &str, style: Style) -> Vec<Line<'static>> {
    text.split('\n')
        .map(|line| Line::from(Span::styled(line.to_owned(), style)))
        .collect()
}

fn wrap_line(line: Line<'static>, width: usize, indent: usize, out: &mut Vec<Line<'static>>) {
    if line.width() <= width {
        return out.push(line);
    }
    let mut wrapped = Wrapped {
        width,
        indent,
        line: Line::default(),
        used: 0,
        out,
    };
    // A word can have several styles, such as a name between quotation marks.
    let mut word: Vec<(&str, Style)> = Vec::new();
    for span in &line.spans {
        for run in words_and_blanks(&span.content) {
            let is_blank = |run: &str| run.starts_with(' ');
            if word
                .last()
                .is_some_and(|(last, _)| is_blank(last) != is_blank(run))
            {
                wrapped.word(&word);
                word.clear();
            }
            word.push((run, line.style.patch(span.style)));
        }
    }
    wrapped.word(&word);
    wrapped.end_line();
}

/// The parts of a URL or a path, each with the separators at its end. Another word is one part.
fn parts_of_word(word: &str) -> Vec<&str> {
    if !word.contains("://") && !word.starts_with('/') {
        return vec![word];
    }
    let is_separator = |letter: char| matches!(letter, '/' | '?' | '&' | '=');
    let scheme = word.find("://").map_or(0, |at| at + 3);
    let (mut parts, mut start) = (Vec::new(), 0);
    for (at, letter) in word.char_indices() {
        let end = at + letter.len_utf8();
        if is_separator(letter) && end > scheme && !word[end..].starts_with(is_separator) {
            parts.push(&word[start..end]);
            start = end;
        }
    }
    parts.push(&word[start..]);
    parts
}

/// Alternating runs of blanks and of other characters.
fn words_and_blanks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let blank = rest.starts_with(' ');
        let end = rest.find(|c| (c == ' ') != blank).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        rest = after;
        (!run.is_empty()).then_some(run)
    })
}

fn indent_of(line: &Line<'_>) -> usize {
    let mut columns = 0;
    for span in &line.spans {
        let blank = span.content.len() - span.content.trim_start_matches(' ').len();
        columns += blank;
        if blank < span.content.len() {
            break;
        }
    }
    columns
}

struct Wrapped<'a> {
    width: usize,
    indent: usize,
    line: Line<'static>,
    used: usize,
    out: &'a mut Vec<Line<'static>>,
}

impl Wrapped<'_> {
    fn word(&mut self, word: &[(&str, Style)]) {
        let columns = word
            .iter()
            .map(|(run, _)| scandeck_wire::text::width(run))
            .sum::<usize>();
        let is_blank = word.iter().all(|(run, _)| run.trim().is_empty());
        if self.used + columns > self.width {
            if is_blank {
                // Blanks at a line break are dropped.
                return self.break_line();
            }
            if columns + self.indent > self.width {
                return word
                    .iter()
                    .for_each(|(run, style)| self.long_word(run, *style));
            }
            if self.used > self.indent {
                self.break_line();
            }
        }
        word.iter()
            .for_each(|(run, style)| self.put(run, scandeck_wire::text::width(run), *style));
    }

    /// A word, or a part of one, that is longer than a line.
    fn long_word(&mut self, word: &str, style: Style) {
        for part in parts_of_word(word) {
            let columns = scandeck_wire::text::width(part);
            let is_first = self.used <= self.indent;
            if self.used + columns > self.width
                && columns + self.indent <= self.width
                && !is_first
                && part != word
            {
                self.break_line();
            }
            if self.used + columns <= self.width {
                self.put(part, columns, style);
                continue;
            }
            for grapheme in part.graphemes(true) {
                let columns = grapheme.width();
                if self.used + columns > self.width && self.used > 0 {
                    self.break_line();
                }
                self.put(grapheme, columns, style);
            }
        }
    }

    fn put(&mut self, text: &str, columns: usize, style: Style) {
        match self.line.spans.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(text),
            _ => self.line.push_span(Span::styled(text.to_owned(), style)),
        }
        self.used += columns;
    }

    fn break_line(&mut self) {
        self.end_line();
        if self.indent > 0 {
            self.line.push_span(Span::raw(" ".repeat(self.indent)));
        }
        self.used = self.indent;
    }

    fn end_line(&mut self) {
        self.out.push(std::mem::take(&mut self.line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wrapped(text: &str, width: u16) -> Vec<String> {
        wrap(plain(text, Style::new()), width)
            .iter()
            .map(Line::to_string)
            .collect()
    }

    #[test]
    fn parts_that_fit_are_not_split() {
        let wrapped = |text: &'static str, width| -> Vec<String> {
            let line = Line::from(vec![
                Span::raw(text),
                Span::raw("   "),
                Span::raw("KEV"),
                Span::raw(" no"),
            ]);
            wrap_parts(line, width)
                .iter()
                .map(Line::to_string)
                .collect()
        };
        assert_eq!(
            wrapped("2 new   EPSS 0.4%", 20),
            ["2 new   EPSS 0.4%", "KEV no"]
        );
        assert_eq!(
            wrapped("2 new   EPSS 0.4%", 16),
            ["2 new", "EPSS 0.4%", "KEV no"]
        );
        assert_eq!(
            wrapped("2 new   EPSS 0.4%", 40),
            ["2 new   EPSS 0.4%   KEV no"]
        );
        assert_eq!(
            wrapped("a part that is too long", 10),
            ["a part ", "that is ", "too long", "KEV no"]
        );
    }

    #[test]
    fn wrapped_lines_keep_words_and_indent() {
        assert_eq!(
            wrapped("the private key of a certificate", 12),
            ["the private ", "key of a ", "certificate"]
        );
        assert_eq!(
            wrapped("  indented words here", 12),
            ["  indented ", "  words here"]
        );
        assert_eq!(wrapped("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("a\n\nb", 4), ["a", "", "b"]);
        assert_eq!(wrapped("one name, two", 8), ["one ", "name, ", "two"]);
    }

    #[test]
    fn long_urls_and_paths_are_wrapped_between_their_parts() {
        let url = "see http://shop.test/api/v1/users?name=ann&role=admin here";
        let expected = [
            "see http://shop.test/api/",
            "v1/users?name=ann&role=",
            "admin here",
        ];
        assert_eq!(wrapped(url, 26), expected);
        assert_eq!(
            wrapped("/a/long/path/abcdefghijklmnop", 10),
            ["/a/long/", "path/abcde", "fghijklmno", "p"]
        );
        assert_eq!(
            wrapped("abc/def/ghijklm", 10),
            ["abc/def/gh", "ijklm"],
            "not a URL: such as base64"
        );
    }

    #[test]
    fn word_of_several_styles_is_not_split() {
        let bold = Style::new().bold();
        let line = Line::from(vec![
            Span::raw("Delete \""),
            Span::styled("host-1", bold),
            Span::raw("\"?"),
        ]);
        let lines: Vec<String> = wrap(vec![line], 12).iter().map(Line::to_string).collect();
        assert_eq!(lines, ["Delete ", "\"host-1\"?"]);
    }

    #[test]
    fn wrapped_lines_keep_styles() {
        let bold = Style::new().bold();
        let line = Line::from(vec![Span::raw("one "), Span::styled("two three", bold)]);
        let lines = wrap(vec![line], 8);
        assert_eq!(lines.len(), 2);
        assert!(lines[1].spans.iter().all(|span| span.style == bold));
    }

    proptest! {
        #[test]
        fn wrapped_lines_fit_and_keep_every_letter(text in any::<String>(), width in 2u16..60) {
            let text = scandeck_wire::text::clean_text(&text).into_owned();
            let lines = wrap(plain(&text, Style::new()), width);
            prop_assert!(lines.iter().all(|line| line.width() <= usize::from(width)));
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(letters(&lines.iter().map(Line::to_string).collect::<String>()), letters(&text));
        }
    }
}
