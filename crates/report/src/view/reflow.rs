//! Texts of findings without the line breaks of their scanners. Programs and people break lines at
//! a width of their own, and a page breaks them again: long and short lines would alternate.

mod source;

use std::iter;

use source::{
    SourceLine, are_numbered, begins_low, ends_sentence, first_letter, first_word, has_name,
    is_value, is_word, item, length, source_lines,
};
use unicode_width::UnicodeWidthChar;

/// Shortest line of a text that was broken at a width, in characters. Shorter lines are addresses
/// and values.
const NARROWEST: usize = 50;
/// Shortest line behind the name of its field in the file of a scanner.
const BEHIND_NAME: usize = 35;
/// Longest line of a text that was broken at a width. Longer ones are whole paragraphs.
const WIDEST: usize = 120;
/// Words after a hyphen that ends a word, as in `client- and server-side`.
const CONJUNCTIONS: [&str; 7] = ["and", "or", "to", "und", "oder", "bzw.", "sowie"];

/// A text in which each paragraph and each item of a list is one line.
///
/// A break belongs to the width of the scanner where the next word had no room, or where a sentence
/// goes on in lower case. Other lines end on purpose, as do headings, rows of tables, code,
/// addresses and `Name: value` lines. A break that could be either remains.
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

/// A break between two lines.
struct LineBreak {
    /// Whether the width of the scanner can be its cause.
    is_continued: bool,
    /// Whether no sentence ends before it.
    is_in_sentence: bool,
    /// Whether the lines around it are not two items of a list without marks.
    is_certain: bool,
    /// Whether the next line goes on as the sentence would, in lower case or with a number. Items
    /// of a list without marks may begin so too.
    goes_on: bool,
    /// Whether the next word had room, and goes on as if the sentence did.
    is_row: bool,
}

/// Lines of prose without an empty line between them, or a single other line.
fn reflow_part(lines: &[SourceLine<'_>], out: &mut Vec<String>) {
    let breaks = line_breaks(lines);
    let is_wrapped = is_wrapped(&breaks);
    let joins = iter::once(false).chain(breaks.iter().map(|one| one.is_continued));
    let start = out.len();
    let is_apart = out.last().is_none_or(String::is_empty);
    for (line, is_joined) in lines.iter().zip(joins) {
        match out.last_mut().filter(|_| is_joined && is_wrapped) {
            Some(before) => join(before, line.text.trim_start()),
            None => out.push(line.text.to_owned()),
        }
    }
    let is_paragraph = lines.iter().all(|line| line.is_prose) && item(lines[0].text).is_none();
    if let [only] = &mut out[start..]
        && is_apart
        && is_paragraph
    {
        *only = only.trim_start().to_owned();
    }
}

fn line_breaks(lines: &[SourceLine<'_>]) -> Vec<LineBreak> {
    let texts = || lines.iter().map(|line| line.text);
    let widths = texts().filter(|text| !is_word(text)).map(length);
    let width = widths.max().unwrap_or(0);
    let has_sentences = texts().any(|text| ends_sentence(text) || text.contains(". "));
    let is_ended = lines.last().is_some_and(|line| ends_sentence(line.text));
    let mut is_continued = false;
    let line_break = |pair: &[SourceLine<'_>]| {
        let (line, next) = (pair[0].text, pair[1].text);
        let is_full = width <= WIDEST && length(line) + 1 + length(first_word(next)) > width;
        let has_room = has_sentences && (is_continued || length(line) >= width / 2);
        let is_open = !ends_sentence(line) && begins_low(next) && (is_full || has_room);
        let is_behind_name =
            pair[1].is_below_name && length(line) >= BEHIND_NAME && (begins_low(next) || is_ended);
        let is_broken = width >= NARROWEST && (is_open || is_full);
        is_continued = (is_broken || is_behind_name) && !is_on_purpose(line, next);
        let is_in_sentence = !ends_sentence(line);
        LineBreak {
            is_continued,
            is_in_sentence,
            is_certain: is_ended || line.ends_with(',') || item(line).is_some(),
            goes_on: first_letter(next).is_some_and(|c| c.is_lowercase() || c.is_ascii_digit()),
            is_row: is_in_sentence && begins_low(next) && !is_open && !is_full,
        }
    };
    lines.windows(2).map(line_break).collect()
}

/// Whether the width of the scanner is the cause of breaks. Where all lines are sentences, or short
/// ones go on in lower case as long ones do, they are a list without marks.
fn is_wrapped(breaks: &[LineBreak]) -> bool {
    let are_all_continued = breaks.len() > 1 && breaks.iter().all(|one| one.is_continued);
    let has_rows = breaks.iter().any(|one| one.is_row);
    let is_certain =
        |one: &LineBreak| one.is_certain || are_all_continued || (one.goes_on && !has_rows);
    breaks
        .iter()
        .any(|one| one.is_continued && one.is_in_sentence && is_certain(one))
}

/// Whether a line ends where it does for another cause than its width.
fn is_on_purpose(line: &str, next: &str) -> bool {
    line.ends_with([':', ';'])
        || item(next).is_some()
        || has_name(next)
        || (has_name(line) && !begins_low(next))
        || [line, first_word(next)].into_iter().any(is_address)
        || [line, next].into_iter().any(is_place)
        || (!line.ends_with(',') && is_alike(first_word(line), first_word(next)))
        || is_wide(line.chars().next_back())
        || is_wide(next.trim_start().chars().next())
}

fn is_address(line: &str) -> bool {
    is_word(line) && line.contains("://")
}

/// Whether a line is a path, a key of a registry, or an address of a person.
fn is_place(line: &str) -> bool {
    is_value(line) && (line.trim_start().starts_with('/') || line.contains(['\\', '@']))
}

/// Whether words are equal or differ in their digits only, as the first words of rows do.
fn is_alike(one: &str, other: &str) -> bool {
    one == other || are_numbered(one, other)
}

/// Whether a character is Chinese, Japanese or Korean: a space would be wrong beside it.
fn is_wide(c: Option<char>) -> bool {
    c.and_then(UnicodeWidthChar::width) == Some(2)
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

#[cfg(test)]
mod tests;
