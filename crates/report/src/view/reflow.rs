//! Texts of findings without the line breaks of their scanners. Programs and people break lines at
//! a width of their own, and a page breaks them again, so that long and short lines would alternate.

/// Shortest line of a text that was broken at a width, in characters. Shorter lines are addresses
/// and values.
const NARROWEST: usize = 50;
/// Longest line of a text that was broken at a width. Longer ones are whole paragraphs.
const WIDEST: usize = 120;
/// Longest name of a `Name: value` line, in characters and words.
const NAME: usize = 30;
const NAME_WORDS: usize = 4;
/// Spaces before a line of code, beyond those of the text around it.
const CODE: usize = 4;
/// Words after a hyphen that ends a word, as in `client- and server-side`.
const CONJUNCTIONS: [&str; 4] = ["and", "or", "und", "oder"];

/// A text in which each paragraph and each item of a list is one line.
///
/// A break belongs to the width of the scanner where the next word had no room, or where a sentence
/// goes on in lower case. Other lines end on purpose, as do headings, rows of tables, code, addresses
/// and `Name: value` lines.
pub(super) fn reflowed(text: &str) -> String {
    if !text.contains('\n') {
        return text.to_owned();
    }
    let mut out: Vec<String> = Vec::new();
    let lines = source_lines(text);
    for part in lines.chunk_by(|line, next| line.is_prose && next.is_prose) {
        reflow_part(part, &mut out);
    }
    out.join("\n")
}

/// A line as the scanner wrote it.
struct SourceLine<'a> {
    text: &'a str,
    /// Whether it may be joined with its neighbours.
    is_prose: bool,
}

fn source_lines(text: &str) -> Vec<SourceLine<'_>> {
    let mut lines = Vec::new();
    let mut is_fenced = false;
    let mut code = CODE;
    let of_file = margin(text);
    for (at, given) in text.lines().map(str::trim_end).enumerate() {
        let skipped = if at == 0 { 0 } else { of_file };
        let line = given.get(skipped..).unwrap_or_default();
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        // The lines of an item are below its text.
        code = match (line.is_empty(), item(line)) {
            (true, _) => CODE,
            (_, Some(of_item)) => length(line) - length(of_item) + CODE,
            (false, None) => code,
        };
        lines.push(SourceLine {
            text: line,
            is_prose: !is_fence && !is_fenced && !is_set(line, code),
        });
    }
    lines
}

/// The spaces before all lines but the first, in a text that was indented with the file around it.
fn margin(text: &str) -> usize {
    let mut lines = text.lines().map(str::trim_end);
    let (Some(first), Some(second)) = (lines.next(), lines.next()) else {
        return 0;
    };
    let is_prose = first.ends_with(|c: char| c.is_alphanumeric() || ",'\")".contains(c));
    if !is_prose || indent(first) >= indent(second) {
        return 0;
    }
    let rest = lines.filter(|line| !line.is_empty()).map(indent);
    rest.fold(indent(second), usize::min)
}

/// Lines of prose without an empty line between them, or a single other line.
fn reflow_part(lines: &[SourceLine<'_>], out: &mut Vec<String>) {
    let texts = lines.iter().map(|line| line.text);
    let widths = texts.filter(|text| !is_word(text)).map(length);
    let width = widths.max().unwrap_or(0);
    let mut is_wrapped = false;
    let mut joins = vec![false];
    let mut is_continued = false;
    for pair in lines.windows(2) {
        let (line, next) = (pair[0].text, pair[1].text);
        let is_open = goes_on(line, next) && (is_continued || length(line) >= width / 2);
        let is_full = width <= WIDEST && length(line) + 1 + length(first_word(next)) > width;
        is_continued = width >= NARROWEST && (is_open || is_full) && !is_on_purpose(line, next);
        is_wrapped |= is_continued && (is_open || !ends_sentence(line));
        joins.push(is_continued);
    }
    for (line, is_joined) in lines.iter().zip(joins) {
        // Where all lines are sentences, they are a list without marks.
        match out.last_mut().filter(|_| is_joined && is_wrapped) {
            Some(before) => join(before, line.text.trim_start()),
            None => out.push(line.text.to_owned()),
        }
    }
}

/// Whether a sentence has its next words on the next line.
fn goes_on(line: &str, next: &str) -> bool {
    !ends_sentence(line) && begins_low(next)
}

fn begins_low(line: &str) -> bool {
    let first = line.chars().find(|c| c.is_alphanumeric());
    first.is_some_and(char::is_lowercase)
}

/// Whether a line ends where it does for another cause than its width.
fn is_on_purpose(line: &str, next: &str) -> bool {
    line.ends_with(':')
        || item(next).is_some()
        || has_name(next)
        || (has_name(line) && !begins_low(next))
        || (is_word(line) && is_word(next) && line.contains('/'))
        || [line, next].into_iter().any(is_address)
        || first_word(line) == first_word(next)
}

fn ends_sentence(line: &str) -> bool {
    line.ends_with(['.', '!', '?'])
}

/// Adds a line. Some programs break words at their hyphens.
fn join(before: &mut String, line: &str) {
    let is_in_word = before
        .strip_suffix('-')
        .is_some_and(|word| word.ends_with(char::is_alphanumeric))
        && line.starts_with(char::is_alphanumeric)
        && !CONJUNCTIONS.contains(&first_word(line));
    if !is_in_word {
        before.push(' ');
    }
    before.push_str(line);
}

/// Whether a line is no prose: empty, a rule, a heading, a row of a table, or code.
fn is_set(line: &str, code: usize) -> bool {
    let start = line.trim_start();
    let is_rule = !start.contains(char::is_alphanumeric);
    let is_heading = start.starts_with('#') && start.trim_start_matches('#').starts_with(' ');
    let is_code = indent(line) >= code
        || start.starts_with(['<', '{', '}', '|', '$', '>'])
        || line.ends_with(['{', '}', '\\'])
        || line.ends_with(");");
    is_rule || is_heading || is_code || has_columns(item(line).unwrap_or(start))
}

/// Whether a text has parts with bars or several spaces between them. Some people write two spaces
/// after a sentence.
fn has_columns(text: &str) -> bool {
    let is_gap = |at: usize| !text[..at].ends_with(['.', '!', '?', ':', ';', ',']);
    text.contains(" | ") || text.match_indices("  ").any(|(at, _)| is_gap(at))
}

/// The text of an item of a list; none for other lines.
fn item(line: &str) -> Option<&str> {
    let (mark, text) = line.trim_start().split_once(' ')?;
    let opened = mark.trim_start_matches(['(', '[']);
    let number = opened.strip_suffix(['.', ')', ']']).unwrap_or_default();
    let is_number =
        (1..=3).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_mark = is_number || matches!(mark, "-" | "*" | "+" | "•" | "–");
    is_mark.then(|| text.trim_start())
}

/// Whether a line begins as `Fixed version: 2.4.58`.
fn has_name(line: &str) -> bool {
    let Some((name, value)) = line.trim_start().split_once(':') else {
        return false;
    };
    name.starts_with(char::is_uppercase)
        && length(name) <= NAME
        && name.split_whitespace().count() <= NAME_WORDS
        && (value.is_empty() || value.starts_with(' '))
}

fn is_word(line: &str) -> bool {
    !line.trim_start().contains(' ')
}

fn is_address(line: &str) -> bool {
    is_word(line) && line.contains("://")
}

fn first_word(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests;
