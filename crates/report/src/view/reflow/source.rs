//! The lines of a text as its scanner wrote them, and which of them are prose.

/// Longest name of a `Name: value` line, in characters and words.
const NAME: usize = 30;
const NAME_WORDS: usize = 4;
/// Spaces before a line of code, beyond those of the text around it.
const CODE: usize = 4;
/// Words with a point that ends no sentence, beside single letters as in `e.g.`.
const ABBREVIATIONS: [&str; 12] = [
    "approx", "bzw", "ca", "cf", "etc", "ggf", "incl", "inkl", "resp", "usw", "vgl", "vs",
];

/// A line as the scanner wrote it.
pub struct SourceLine<'a> {
    pub text: &'a str,
    /// Whether it may be joined with its neighbours.
    pub is_prose: bool,
    /// Whether the line above begins behind the name of its field in the file of the scanner, and
    /// so was broken before the others.
    pub is_below_name: bool,
}

pub fn source_lines(text: &str) -> Vec<SourceLine<'_>> {
    let mut lines: Vec<SourceLine<'_>> = Vec::new();
    let (mut is_fenced, mut is_listed) = (false, false);
    let mut code = CODE;
    let mut of_file = 0;
    let mut of_items: Option<usize> = None;
    let given: Vec<&str> = text.lines().map(str::trim_end).collect();
    for (at, whole) in given.iter().enumerate() {
        let is_apart = at == 0 || given[at - 1].is_empty();
        let is_start = is_apart && indent(whole) == 0 && !whole.is_empty();
        let is_below_name = !is_apart && (1..CODE).contains(&of_file) && indent(given[at - 1]) == 0;
        if is_start {
            of_file = margin(&given[at..]);
        }
        let skipped = if is_start { 0 } else { of_file };
        let indented = whole.get(skipped..).unwrap_or_default();
        // Items with an empty line between them are one list.
        let line = match item(indented) {
            Some(_) => {
                let left = indent(indented);
                let of_others = of_items.filter(|first| is_apart && left < first + CODE);
                let kept = of_others.map_or(left, |first| first.min(left));
                of_items = Some(kept);
                &indented[left - kept..]
            }
            None => {
                of_items = of_items.filter(|_| !is_start);
                indented
            }
        };
        let begins_or_ends_code = is_fence(line);
        is_fenced ^= begins_or_ends_code;
        // The lines of an item are below its text.
        code = match (line.is_empty(), item(line)) {
            (true, _) => CODE,
            (_, Some(of_item)) => length(line) - length(of_item) + CODE,
            (false, None) => code,
        };
        // Below a colon or a sentence, prose begins with a capital letter, and commands and values
        // do not.
        let is_below_end = lines.last().is_some_and(|above| is_ended(above.text));
        is_listed |= is_below_end && begins_low(line);
        is_listed &= !line.is_empty() && item(line).is_none();
        lines.push(SourceLine {
            text: line,
            is_prose: !begins_or_ends_code && !is_fenced && !is_listed && !is_set(line, code),
            is_below_name,
        });
    }
    // Values below each other are a list, and so are lines that begin with numbers.
    for rows in lines.chunk_by_mut(|line, next| are_rows(line.text, next.text)) {
        let is_list = rows.len() > 1;
        rows.iter_mut().for_each(|line| line.is_prose &= !is_list);
    }
    lines
}

/// Whether code begins or ends at a line of Markdown.
fn is_fence(line: &str) -> bool {
    ["```", "~~~"]
        .into_iter()
        .any(|mark| line.trim_start().starts_with(mark))
}

fn are_rows(line: &str, next: &str) -> bool {
    let are_values = is_value(line) && is_value(next);
    let are_items = item(line).is_some() || item(next).is_some();
    let is_open = line.ends_with(',');
    are_values || (!are_items && !is_open && are_numbered(first_word(line), first_word(next)))
}

/// Whether a colon or a sentence ends at the end of a line.
fn is_ended(line: &str) -> bool {
    line.ends_with(':') || (ends_sentence(line) && !is_abbreviated(line))
}

fn is_abbreviated(line: &str) -> bool {
    let last = line.rsplit([' ', '(']).next().unwrap_or_default();
    last.strip_suffix('.')
        .is_some_and(|word| ABBREVIATIONS.contains(&word) || word.split('.').all(is_letter))
}

fn is_letter(text: &str) -> bool {
    length(text) == 1 && text.starts_with(char::is_alphabetic)
}

/// The spaces before the lines below the first, in a text that was indented with the file around
/// it. A paragraph without them is another text.
fn margin(lines: &[&str]) -> usize {
    let [first, second, ..] = lines else {
        return 0;
    };
    let is_prose = first.ends_with(|c: char| c.is_alphanumeric() || ",'\")".contains(c));
    if !is_prose || item(first).is_some() || indent(first) >= indent(second) {
        return 0;
    }
    let mut least = indent(second);
    for pair in lines[1..].windows(2).filter(|pair| !pair[1].is_empty()) {
        let spaces = indent(pair[1]);
        if spaces == 0 && pair[0].is_empty() {
            // What looks like code may be code.
            return if least < CODE { least } else { 0 };
        }
        least = least.min(spaces);
    }
    least
}

/// Whether a line is no prose: empty, a rule, a heading, a row of a table, or code.
fn is_set(line: &str, code: usize) -> bool {
    let start = line.trim_start();
    let is_rule = !start.contains(char::is_alphanumeric);
    let is_heading = start.starts_with('#') && start.trim_start_matches('#').starts_with(' ');
    is_rule
        || is_heading
        || indent(line) >= code
        || line.starts_with('\t')
        || is_code(start)
        || has_columns(item(line).unwrap_or(start))
}

/// Whether a text is a statement, a command with options, a call in a stack trace, or a part of
/// JSON, HTML or PEM.
fn is_code(text: &str) -> bool {
    let mut words = text.split(' ');
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    let is_assignment = first.starts_with(char::is_alphanumeric) && second == "=";
    let is_frame = first == "at" && (second.contains('(') || text.ends_with(')'));
    let is_call = text.ends_with(')') && first.find('(').is_some_and(|at| at > 0);
    let is_property = text.starts_with('"') && text.contains("\":");
    text.starts_with(['<', '{', '}', '|', '$', '>'])
        || text.starts_with("-----")
        || text.ends_with(['{', '}', '\\'])
        || text.ends_with(");")
        || is_assignment
        || is_frame
        || is_call
        || is_property
        || has_option(text)
}

/// Whether a text has an option of a command, such as `-k`; prose has it in quotes.
fn has_option(text: &str) -> bool {
    let unquoted = text.split(['\'', '"', '`']).next().unwrap_or_default();
    let mut options = unquoted
        .split(' ')
        .filter_map(|word| word.strip_prefix('-'));
    options.any(|name| {
        name.trim_start_matches('-')
            .starts_with(char::is_alphabetic)
    })
}

/// Whether a text has parts with bars, tabs or several spaces between them. Some people write two
/// spaces after a sentence.
fn has_columns(text: &str) -> bool {
    let is_gap = |at: usize| !text[..at].ends_with(['.', '!', '?', ':', ';', ',']);
    text.contains(" | ")
        || text.contains('\t')
        || text.match_indices("  ").any(|(at, _)| is_gap(at))
}

/// The text of an item of a list; none for other lines.
pub fn item(line: &str) -> Option<&str> {
    let (mark, text) = line.trim_start().split_once(' ')?;
    let opened = mark.trim_start_matches(['(', '[']);
    let number = opened.strip_suffix(['.', ')', ']']).unwrap_or_default();
    let is_number =
        (1..=3).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    // `A.` may be the initial of a name.
    let is_letter = !mark.ends_with('.')
        && number.len() == 1
        && number.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_mark = is_number || is_letter || matches!(mark, "-" | "*" | "+" | "•" | "–" | "·");
    is_mark.then(|| text.trim_start())
}

/// Whether a line begins as `Fixed version: 2.4.58`, or as a header of HTTP.
pub fn has_name(line: &str) -> bool {
    let Some((name, value)) = line.trim_start().split_once(':') else {
        return false;
    };
    let is_title = name.starts_with(char::is_uppercase);
    let is_short = match is_title {
        true => name.split_whitespace().count() <= NAME_WORDS,
        false => name.starts_with(char::is_alphanumeric) && !name.contains(' '),
    };
    let has_end = value.starts_with(' ') || (is_title && value.is_empty());
    is_short && has_end && length(name) <= NAME
}

/// Whether words have digits, and differ in them only, as the first words of rows do.
pub fn are_numbered(one: &str, other: &str) -> bool {
    let has_digit = |word: &str| word.contains(|c: char| c.is_ascii_digit());
    has_digit(one) && has_digit(other) && without_digits(one).eq(without_digits(other))
}

fn without_digits(word: &str) -> impl Iterator<Item = &str> {
    let parts = word.split(|c: char| c.is_ascii_digit());
    parts.filter(|part| !part.is_empty())
}

/// Whether a line is a word that does not end a sentence.
pub fn is_value(line: &str) -> bool {
    !line.is_empty() && is_word(line) && !ends_sentence(line)
}

pub fn is_word(line: &str) -> bool {
    !line.trim_start().contains(' ')
}

pub fn first_word(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}

pub fn first_letter(line: &str) -> Option<char> {
    line.chars().find(|c| c.is_alphanumeric())
}

pub fn begins_low(line: &str) -> bool {
    first_letter(line).is_some_and(char::is_lowercase)
}

pub fn ends_sentence(line: &str) -> bool {
    line.ends_with(['.', '!', '?'])
}

pub fn length(text: &str) -> usize {
    text.chars().count()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}
