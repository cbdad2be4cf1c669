//! Markdown of templates, as blocks for every page format: headings, paragraphs, lists, bold text,
//! code and links. Emphasis, one asterisk or underscore on each side, is bold too, because the fonts
//! have no italics. HTML in it is text.

use scandeck_wire::text::clean_text_for_print;

/// A heading, paragraph or item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RichBlock {
    pub kind: RichKind,
    pub spans: Vec<RichSpan>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RichKind {
    Heading,
    Paragraph,
    /// With its mark, such as `•` or `2.`.
    Item(String),
}

/// Text of one style.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RichSpan {
    pub text: String,
    pub is_bold: bool,
    pub is_code: bool,
    /// A web address; empty without one.
    pub link: String,
}

/// The blocks of a text.
pub fn blocks(text: &str) -> Vec<RichBlock> {
    let text = clean_text_for_print(text);
    let mut blocks: Vec<RichBlock> = Vec::new();
    let mut open: Option<(RichKind, String)> = None;
    let mut close = |open: &mut Option<(RichKind, String)>| {
        if let Some((kind, text)) = open.take() {
            let spans = spans(&text);
            blocks.push(RichBlock { kind, spans });
        }
    };
    for line in text.lines().map(str::trim) {
        let (kind, rest) = line_kind(line);
        match (kind, &mut open) {
            (None, _) => close(&mut open),
            (Some(RichKind::Paragraph), Some((RichKind::Paragraph | RichKind::Item(_), text))) => {
                text.push(' ');
                text.push_str(rest);
            }
            (Some(kind), _) => {
                close(&mut open);
                open = Some((kind, rest.to_owned()));
            }
        }
    }
    close(&mut open);
    blocks
}

/// The kind of block that a line begins, and its text; none for an empty line.
fn line_kind(line: &str) -> (Option<RichKind>, &str) {
    if line.is_empty() {
        return (None, "");
    }
    let unmarked = line.trim_start_matches('#');
    if unmarked.len() < line.len() && unmarked.starts_with(' ') {
        return (Some(RichKind::Heading), unmarked.trim());
    }
    if let Some(item) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
        return (Some(RichKind::Item("•".to_owned())), item.trim());
    }
    match line.split_once(". ") {
        Some((number, item)) if number.len() < 4 && number.parse::<u16>().is_ok() => {
            (Some(RichKind::Item(format!("{number}."))), item.trim())
        }
        _ => (Some(RichKind::Paragraph), line),
    }
}

fn spans(text: &str) -> Vec<RichSpan> {
    let mut out: Vec<RichSpan> = Vec::new();
    let mut rest = text;
    let mut is_bold = false;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("**") {
            is_bold = !is_bold;
            rest = after;
        } else if let Some((code, after)) = enclosed(rest, "`", "`") {
            out.push(RichSpan {
                text: code.to_owned(),
                is_code: true,
                ..RichSpan::default()
            });
            rest = after;
        } else if let Some((label, link, after)) = link(rest) {
            out.push(RichSpan {
                text: label.to_owned(),
                link: link.to_owned(),
                is_bold,
                ..RichSpan::default()
            });
            rest = after;
        } else if let Some((inside, after)) = emphasised(text, text.len() - rest.len()) {
            out.extend(spans(inside).into_iter().map(|span| RichSpan {
                is_bold: true,
                ..span
            }));
            rest = after;
        } else {
            let next = rest.char_indices().skip(1);
            let start = text.len() - rest.len();
            let mark = |(at, c): (usize, char)| {
                let is_mark = matches!(c, '`' | '[')
                    || rest[at..].starts_with("**")
                    || emphasised(text, start + at).is_some();
                is_mark.then_some(at)
            };
            let end = next.clone().find_map(mark).unwrap_or(rest.len());
            out.push(RichSpan {
                text: rest[..end].to_owned(),
                is_bold,
                ..RichSpan::default()
            });
            rest = &rest[end..];
        }
    }
    out
}

/// The text between two marks at the start, and the text after them.
fn enclosed<'a>(text: &'a str, open: &str, close: &str) -> Option<(&'a str, &'a str)> {
    text.strip_prefix(open)?
        .split_once(close)
        .filter(|(inside, _)| !inside.is_empty())
}

/// The text between two asterisks or underscores that begin at a byte, and the text after them.
/// Marks inside a word, as in names of functions, are none.
fn emphasised(text: &str, at: usize) -> Option<(&str, &str)> {
    let (before, rest) = text.split_at_checked(at)?;
    let mark = ["*", "_"].into_iter().find(|mark| rest.starts_with(mark))?;
    let (inside, after) = enclosed(rest, mark, mark)?;
    let is_outside_words =
        !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric);
    let is_tight = inside.trim() == inside;
    (is_outside_words && is_tight).then_some((inside, after))
}

/// `[label](https://address)` at the start.
fn link(text: &str) -> Option<(&str, &str, &str)> {
    let (label, rest) = enclosed(text, "[", "]")?;
    let (address, after) = enclosed(rest, "(", ")")?;
    let is_web = address.starts_with("https://") || address.starts_with("http://");
    is_web.then_some((label, address, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(block: &RichBlock) -> String {
        block.spans.iter().map(|span| &*span.text).collect()
    }

    #[test]
    fn markdown_has_headings_paragraphs_lists_and_styles() {
        let text = "# Result\nOne\nline.\n\nTwo **bold** and `a*b` [here](https://a.test/x).\n- first\n  more\n- second\n2. third\n";
        let all = blocks(text);
        let kinds: Vec<(String, String)> = all
            .iter()
            .map(|block| (format!("{:?}", block.kind), plain(block)))
            .collect();
        let expected = [
            ("Heading", "Result"),
            ("Paragraph", "One line."),
            ("Paragraph", "Two bold and a*b here."),
            ("Item(\"•\")", "first more"),
            ("Item(\"•\")", "second"),
            ("Item(\"2.\")", "third"),
        ];
        assert_eq!(
            kinds,
            expected.map(|(kind, text)| (kind.to_owned(), text.to_owned()))
        );
        let styled = &all[2].spans;
        assert!(
            styled
                .iter()
                .any(|span| span.is_bold && span.text == "bold")
        );
        assert!(styled.iter().any(|span| span.is_code && span.text == "a*b"));
        assert!(styled.iter().any(|span| span.link == "https://a.test/x"));
    }

    #[test]
    fn emphasis_is_bold_and_marks_inside_words_are_text() {
        let all = blocks("Two *years* and _very `old`_ log_file_name, 2 * 3 * 4, a*b*c.");
        let text = "Two years and very old log_file_name, 2 * 3 * 4, a*b*c.";
        assert_eq!(plain(&all[0]), text);
        let bold = all[0].spans.iter().filter(|span| span.is_bold);
        let bold: Vec<&str> = bold.map(|span| &*span.text).collect();
        assert_eq!(bold, ["years", "very ", "old"]);
    }

    #[test]
    fn unmatched_marks_and_other_schemes_remain_text() {
        for text in ["a ` b", "[x](javascript:alert(1))", "[", "2.5 GB", "#tag"] {
            assert_eq!(plain(&blocks(text)[0]), text);
        }
        assert!(
            blocks("[x](javascript:a)")[0]
                .spans
                .iter()
                .all(|span| span.link.is_empty())
        );
    }
}
