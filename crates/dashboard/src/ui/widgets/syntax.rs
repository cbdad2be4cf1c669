//! Colours of bodies inside a text: JSON, HTML and XML, and HTTP messages.
//!
//! ```text
//!   clean text ─► kind, by its content ─► tokens of each line ─► spans in the colours of the theme
//!                  └► none, or too long: plain lines
//! ```
//!
//! Only styles are added: the letters of every line remain as they are. The lines are made once for
//! a text, before they are masked and wrapped.

use crate::ui::theme::Syntax;
use crate::ui::widgets::message;
use crate::ui::{Theme, plain};
use ratatui::text::{Line, Span};
use serde::de::IgnoredAny;

/// Maximum size of a highlighted body, in bytes.
const COLOURED: usize = 256 << 10;

/// What a body contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BodyKind {
    Message,
    Json,
    Markup,
    Other,
}

/// The lines of a body, already clean, in its colours.
pub fn body_lines(theme: Theme, text: &str) -> Vec<Line<'static>> {
    match kind_of(text) {
        BodyKind::Message => message::message_lines(theme, text),
        kind => part_lines(theme, kind, text),
    }
}

/// The lines of the body of a message. A message inside the body is plain text.
pub(super) fn inner_lines(theme: Theme, text: &str) -> Vec<Line<'static>> {
    part_lines(theme, kind_of(text), text)
}

fn part_lines(theme: Theme, kind: BodyKind, text: &str) -> Vec<Line<'static>> {
    match kind {
        BodyKind::Json => text
            .split('\n')
            .map(|line| spans(theme, line, json_token))
            .collect(),
        BodyKind::Markup => {
            let mut place = MarkupPlace::Text;
            text.split('\n')
                .map(|line| spans(theme, line, |rest| markup_token(rest, &mut place)))
                .collect()
        }
        BodyKind::Message | BodyKind::Other => plain(text, theme.text()),
    }
}

fn kind_of(text: &str) -> BodyKind {
    if text.len() > COLOURED {
        return BodyKind::Other;
    }
    let body = text.trim_start();
    let mut letters = body.chars();
    match letters.next() {
        Some('{' | '[') if is_json(body) => BodyKind::Json,
        Some('<')
            if letters
                .next()
                .is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, '!' | '?')) =>
        {
            BodyKind::Markup
        }
        _ if message::is_message(body) => BodyKind::Message,
        _ => BodyKind::Other,
    }
}

/// Whether a text is JSON, or the beginning of JSON that was cut.
fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).map_or_else(|error| error.is_eof(), |_| true)
}

/// The spans of a line. `next` receives the rest of the line, never empty, and returns length and
/// meaning of its first token.
fn spans(theme: Theme, line: &str, mut next: impl FnMut(&str) -> (usize, Syntax)) -> Line<'static> {
    let mut out: Vec<Span<'static>> = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let (bytes, meaning) = next(rest);
        // At least one character, so that the loop ends.
        let least = rest.chars().next().map_or(1, char::len_utf8);
        let (token, after) = rest.split_at(rest.floor_char_boundary(bytes).max(least));
        let style = theme.syntax(meaning);
        match out.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(token),
            _ => out.push(Span::styled(token.to_owned(), style)),
        }
        rest = after;
    }
    Line::from(out)
}

/// The bytes up to the first character that ends a token.
fn up_to(text: &str, ends: impl Fn(char) -> bool) -> usize {
    text.find(ends).unwrap_or(text.len())
}

fn json_token(rest: &str) -> (usize, Syntax) {
    match rest.as_bytes()[0] {
        b'"' => {
            let bytes = string_end(rest);
            let is_key = rest[bytes..].trim_start().starts_with(':');
            (bytes, if is_key { Syntax::Name } else { Syntax::Text })
        }
        b'-' | b'0'..=b'9' => (
            up_to(rest, |c| {
                !c.is_ascii_alphanumeric() && !matches!(c, '-' | '+' | '.')
            }),
            Syntax::Value,
        ),
        b'a'..=b'z' => (up_to(rest, |c| !c.is_ascii_alphabetic()), Syntax::Value),
        _ => (
            up_to(rest, |c| c == '"' || c == '-' || c.is_ascii_alphanumeric()),
            Syntax::Other,
        ),
    }
}

/// The bytes of a string with its quotes, or of the rest of a string that was cut.
fn string_end(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text[1..].bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

/// The place in HTML or XML at which a line or a token begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MarkupPlace {
    Text,
    Comment,
    /// Inside a tag, before an attribute or its value.
    Tag {
        is_value: bool,
        opens: Option<&'static str>,
    },
    /// Inside a value with this quote.
    Quoted {
        quote: char,
        opens: Option<&'static str>,
    },
    /// Inside a raw text element, whose content has no tags.
    RawText(&'static str),
}

/// Elements whose content has no tags.
const RAW_TEXT_ELEMENTS: [&str; 2] = ["script", "style"];

fn markup_token(rest: &str, place: &mut MarkupPlace) -> (usize, Syntax) {
    match *place {
        MarkupPlace::Text if rest.starts_with("<!--") => {
            *place = MarkupPlace::Comment;
            (4, Syntax::Comment)
        }
        MarkupPlace::Text => match tag_start(rest) {
            Some(bytes) => {
                let name = &rest[1..bytes];
                let opens = RAW_TEXT_ELEMENTS
                    .into_iter()
                    .find(|element| element.eq_ignore_ascii_case(name));
                *place = MarkupPlace::Tag {
                    is_value: false,
                    opens,
                };
                (bytes, Syntax::Tag)
            }
            // A bracket that begins no tag is text.
            None => {
                let first = rest.chars().next().map_or(0, char::len_utf8);
                (first + up_to(&rest[first..], |c| c == '<'), Syntax::Other)
            }
        },
        MarkupPlace::Comment => {
            let end = rest.find("-->");
            if end.is_some() {
                *place = MarkupPlace::Text;
            }
            (end.map_or(rest.len(), |end| end + 3), Syntax::Comment)
        }
        MarkupPlace::Tag { is_value, opens } => tag_token(rest, is_value, opens, place),
        MarkupPlace::Quoted { quote, opens } => {
            let end = rest.find(quote);
            if end.is_some() {
                *place = MarkupPlace::Tag {
                    is_value: false,
                    opens,
                };
            }
            (end.map_or(rest.len(), |end| end + 1), Syntax::Text)
        }
        MarkupPlace::RawText(name) => {
            let ends = |at: &usize| {
                let after = rest[*at..].strip_prefix("</").unwrap_or_default();
                after
                    .get(..name.len())
                    .is_some_and(|start| start.eq_ignore_ascii_case(name))
            };
            let end = rest.match_indices("</").map(|(at, _)| at).find(ends);
            match end {
                Some(0) => {
                    *place = MarkupPlace::Tag {
                        is_value: false,
                        opens: None,
                    };
                    (2 + name.len(), Syntax::Tag)
                }
                end => (end.unwrap_or(rest.len()), Syntax::Other),
            }
        }
    }
}

/// The bytes of `<name` or `</name`, `<!name` or `<?name`.
fn tag_start(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('<')?;
    let name = inner.strip_prefix(['/', '!', '?']).unwrap_or(inner);
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.');
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        .then(|| text.len() - name.len() + up_to(name, |c| !is_name(c)))
}

fn tag_token(
    rest: &str,
    is_value: bool,
    opens: Option<&'static str>,
    place: &mut MarkupPlace,
) -> (usize, Syntax) {
    let first = rest.chars().next().unwrap_or_default();
    match first {
        '>' => {
            *place = opens.map_or(MarkupPlace::Text, MarkupPlace::RawText);
            (1, Syntax::Tag)
        }
        '/' | '?' if rest[1..].starts_with('>') => {
            *place = MarkupPlace::Text;
            (2, Syntax::Tag)
        }
        '"' | '\'' => {
            *place = MarkupPlace::Quoted {
                quote: first,
                opens,
            };
            (1, Syntax::Text)
        }
        '=' => {
            *place = MarkupPlace::Tag {
                is_value: true,
                opens,
            };
            (1, Syntax::Other)
        }
        c if c.is_whitespace() => (up_to(rest, |c| !c.is_whitespace()), Syntax::Other),
        _ if is_value => {
            *place = MarkupPlace::Tag {
                is_value: false,
                opens,
            };
            (up_to(rest, |c| c.is_whitespace() || c == '>'), Syntax::Text)
        }
        _ => {
            let ends =
                |c: char| c.is_whitespace() || matches!(c, '=' | '>' | '/' | '?' | '"' | '\'');
            (up_to(rest, ends).max(first.len_utf8()), Syntax::Name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Each token with a letter for its meaning: `n` name, `t` text, `v` value, `g` tag, `c`
    /// comment, blank for others.
    fn coloured(text: &str) -> Vec<String> {
        let theme = Theme::default();
        let letter = |style: ratatui::style::Style| match style {
            style if style == theme.syntax(Syntax::Name) => 'n',
            style if style == theme.syntax(Syntax::Text) => 't',
            style if style == theme.syntax(Syntax::Comment) => 'c',
            // Values and tags have one colour.
            style if style == theme.syntax(Syntax::Value) => 'v',
            _ => ' ',
        };
        let line = |line: &Line<'_>| -> String {
            line.spans
                .iter()
                .flat_map(|span| {
                    span.content
                        .chars()
                        .map(|_| letter(span.style))
                        .collect::<Vec<_>>()
                })
                .collect()
        };
        body_lines(theme, text).iter().map(line).collect()
    }

    #[test]
    fn json_has_colours_of_keys_strings_numbers_and_literals() {
        assert_eq!(
            coloured("{\"a\\\"b\": [\"x:\", -1.5e+3,\n true, null]}"),
            [" nnnnnn   tttt  vvvvvvv ", " vvvv  vvvv  "]
        );
        assert_eq!(
            coloured("{\"cut\": \"val"),
            [" nnnnn  tttt"],
            "the beginning of JSON"
        );
        for other in [
            "[1] Started at 12:30",
            "{not json}",
            "function() { return 1 }",
            "plain 12",
        ] {
            assert!(coloured(other)[0].trim().is_empty(), "{other}");
        }
    }

    #[test]
    fn markup_has_colours_of_tags_attributes_and_comments() {
        assert_eq!(
            coloured("<a href='x' b>1 < 2</a>"),
            ["vv nnnn ttt nv     vvvv"]
        );
        assert_eq!(coloured("<b>é <é>漢</b>é"), ["vvv      vvvv "]);
        assert_eq!(coloured("<p a=b/c d = e>t<br/>"), ["vv n ttt n   tv vvvvv"]);
        assert_eq!(
            coloured("<!-- a\n<b> --><i\n c=\"\n>\">x"),
            ["cccccc", "cccccccvv", " n t", "ttv "]
        );
        assert_eq!(
            coloured("<script>if (a<b) {'</p>'}</SCRIPT><b>"),
            ["vvvvvvvv                 vvvvvvvvvvvv"]
        );
        assert_eq!(
            coloured("<?xml version=\"1.0\"?><a:b/>"),
            ["vvvvv nnnnnnn tttttvvvvvvvv"]
        );
    }

    #[test]
    fn body_beyond_the_limit_has_no_colours() {
        let long = format!("<p>{}</p>", "a".repeat(COLOURED));
        assert!(coloured(&long)[0].trim().is_empty());
        assert!(!coloured(&long[..COLOURED])[0].trim().is_empty());
    }

    #[test]
    fn mono_theme_has_no_colours_of_bodies() {
        let lines = body_lines(Theme::new(crate::ui::Scheme::Mono), "<a b='c'><!-- d -->");
        assert!(
            lines
                .iter()
                .flat_map(|line| &line.spans)
                .all(|span| span.style.fg.is_none())
        );
    }

    proptest! {
        #[test]
        fn colours_keep_every_letter(text in "[{<\\[]?[a-z<>/=!?'\"\\\\ \n{}:,0-9é漢-]{0,80}", any in any::<String>()) {
            for text in [&text, &any] {
                let lines: Vec<String> = body_lines(Theme::default(), text).iter().map(Line::to_string).collect();
                prop_assert_eq!(lines.join("\n").replace('\r', ""), text.replace('\r', ""));
            }
        }
    }
}
