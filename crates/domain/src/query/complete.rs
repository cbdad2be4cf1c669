//! Completion: fields, flags and present values with their number of rows.

use std::ops::Range;

use super::column::{Column, Values};
use super::field::ValueKind;
use super::{Evaluator, Field, Flag, QueryKind, RowSet, RowSource, lex};
use scandeck_wire::contract::Risk;

/// Maximum number of completions.
const MOST: usize = 8;
/// Longer values are not offered.
const LONGEST: usize = 80;
/// Operators; the first operator in a word ends the field name.
const OPERATORS: [char; 5] = [':', '=', '<', '>', '!'];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Byte range that it replaces.
    pub at: Range<usize>,
    /// Replacement text.
    pub text: String,
    /// Description, or number of rows.
    pub note: String,
}

/// Completions at a byte of a text, most frequent first.
pub fn complete(
    text: &str,
    cursor: usize,
    evaluator: &mut Evaluator,
    source: &dyn RowSource,
) -> Vec<Completion> {
    let before = text.get(..cursor).unwrap_or(text);
    let start = start_of_word(before);
    let word = &before[start..];
    let field = field_at(text, cursor, source.kind());
    let mut found = match (word.find(OPERATORS), field) {
        (None, _) if word.is_empty() || word.starts_with('"') => Vec::new(),
        (None, _) => names(word, start..before.len(), source),
        (Some(end), Some(field)) => values(field, word, end, start, evaluator, source),
        (Some(_), None) => Vec::new(),
    };
    // All flags of a list are offered: they are few, and nothing else names them.
    let is_flags = field.is_some_and(|field| matches!(field.spec().values, ValueKind::Flags));
    found.truncate(if is_flags { usize::MAX } else { MOST });
    found
}

/// The field whose values are completed at a byte of a text.
pub fn field_at(text: &str, cursor: usize, kind: QueryKind) -> Option<Field> {
    let before = text.get(..cursor).unwrap_or(text);
    let word = &before[start_of_word(before)..];
    Field::named(&word[..word.find(OPERATORS)?], kind)
}

/// Start of the word that ends here: after the last space or sign outside quotes.
fn start_of_word(text: &str) -> usize {
    let (mut start, mut quoted, mut escaped) = (0, false, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | ')' => start = at + 1,
            '-' if at == start => start = at + 1,
            letter if letter.is_whitespace() => start = at + letter.len_utf8(),
            _ => {}
        }
    }
    start
}

/// Fields and flags whose names start with the word.
fn names(word: &str, at: Range<usize>, source: &dyn RowSource) -> Vec<Completion> {
    let begins = |name: &str| {
        name.len() >= word.len()
            && name.is_char_boundary(word.len())
            && name[..word.len()].eq_ignore_ascii_case(word)
    };
    let fields = Field::of(source.kind())
        .filter(|spec| begins(spec.name) || spec.aliases.iter().any(|alias| begins(alias)));
    let field = |spec: &super::field::FieldSpec| {
        let operator = match spec.values {
            ValueKind::Risk | ValueKind::Number => ">=",
            ValueKind::Time | ValueKind::Deadline | ValueKind::Span => "<",
            _ => ":",
        };
        Completion {
            at: at.clone(),
            text: format!("{}{operator}", spec.name),
            note: spec.words_in(source.kind()).to_owned(),
        }
    };
    let flags = Flag::of(source.kind()).filter(|spec| begins(spec.name));
    let flag = |spec: &super::flag::FlagSpec| Completion {
        at: at.clone(),
        text: format!("is:{}", spec.name),
        note: spec.words_in(source.kind()).to_owned(),
    };
    fields.map(field).chain(flags.map(flag)).collect()
}

/// Values of a field that start with or contain the typed text.
fn values(
    field: Field,
    word: &str,
    operator: usize,
    start: usize,
    evaluator: &mut Evaluator,
    source: &dyn RowSource,
) -> Vec<Completion> {
    let signs = word[operator..]
        .find(|letter| !matches!(letter, ':' | '=' | '<' | '>' | '!'))
        .unwrap_or(word.len() - operator);
    if word[operator + signs..].starts_with('~') {
        return Vec::new();
    }
    let from = word[operator + signs..]
        .rfind(',')
        .map_or(operator + signs, |comma| operator + signs + comma + 1);
    let typed = word[from..].trim_matches('"').to_lowercase();
    let at = start + from..start + word.len();
    let fits = occurring(field, &typed, evaluator, source);
    let complete = |(name, note): (String, String)| Completion {
        at: at.clone(),
        text: lex::value(&name),
        note,
    };
    fits.into_iter()
        .map(complete)
        .filter(|completion| completion.text != word[from..])
        .collect()
}

/// `None` if the text does not contain `typed` (lower case), otherwise true if it only contains it
/// after the start.
fn has(text: &str, typed: &str) -> Option<bool> {
    if !text.is_ascii() {
        return text.to_lowercase().find(typed).map(|at| at > 0);
    }
    let (text, typed) = (text.as_bytes(), typed.as_bytes());
    let Some(first) = typed.first() else {
        return Some(false);
    };
    let begins =
        |part: &[u8]| part[0].eq_ignore_ascii_case(first) && part.eq_ignore_ascii_case(typed);
    text.windows(typed.len()).position(begins).map(|at| at > 0)
}

/// Values of a field that contain a text, with their number of rows; values that start with it come
/// first.
fn occurring(
    field: Field,
    typed: &str,
    evaluator: &mut Evaluator,
    source: &dyn RowSource,
) -> Vec<(String, String)> {
    match field.spec().values {
        ValueKind::Flags => matching(flags(evaluator, source), typed),
        ValueKind::Risk => matching(risks(evaluator.column(field, source)), typed),
        ValueKind::Choice(_) | ValueKind::Word | ValueKind::Prose => {
            let rank = |text: &str| {
                if text.len() <= LONGEST {
                    has(text, typed)
                } else {
                    None
                }
            };
            let fits = evaluator
                .column(field, source)
                .ranked(MOST + 1, rank)
                .into_iter();
            fits.map(|(_, text, count)| (text.to_string(), count.to_string()))
                .collect()
        }
        ValueKind::Search
        | ValueKind::Number
        | ValueKind::Span
        | ValueKind::Time
        | ValueKind::Deadline => Vec::new(),
    }
}

/// The values that contain a text; those that start with it come first.
fn matching(known: Vec<(String, String)>, typed: &str) -> Vec<(String, String)> {
    let mut known: Vec<_> = known
        .into_iter()
        .filter_map(|one| Some((has(&one.0, typed)?, one)))
        .collect();
    known.sort_by_key(|(within, _)| *within);
    known.into_iter().map(|(_, one)| one).collect()
}

/// The flags with their numbers of rows, those of no row last.
fn flags(evaluator: &mut Evaluator, source: &dyn RowSource) -> Vec<(String, String)> {
    let absent = having_flag(Flag::Absent, evaluator, source);
    let mut counted: Vec<_> = Flag::of(source.kind())
        .map(|spec| {
            let mut rows = having_flag(spec.flag, evaluator, source);
            let count = rows.count();
            rows.and(&absent);
            // The saved queries count present findings.
            let note = match rows.count() {
                part if (1..count).contains(&part) => format!("{count}, {part} absent"),
                _ => count.to_string(),
            };
            (spec.name.to_owned(), note)
        })
        .collect();
    counted.sort_by_key(|(_, note)| note == "0");
    counted
}

/// The risks with their numbers of rows.
fn risks(column: &Column) -> Vec<(String, String)> {
    let Column {
        values: Values::Numbers(levels),
        cells,
    } = column
    else {
        return Vec::new();
    };
    let count = |risk: Risk| {
        let level = risk.level() as f64;
        let are_of: Vec<bool> = levels.iter().map(|&one| one == level).collect();
        cells.having(&are_of).count()
    };
    Risk::DOWN
        .into_iter()
        .map(|risk| (risk.as_str().to_owned(), count(risk).to_string()))
        .collect()
}

/// The rows with a flag; none in lists without it.
fn having_flag(flag: Flag, evaluator: &mut Evaluator, source: &dyn RowSource) -> RowSet {
    let field = if flag.is_of_decision() {
        Field::Decision
    } else {
        Field::Is
    };
    match evaluator.column(field, source) {
        Column {
            values: Values::Flags(flags),
            cells,
        } => cells.having(
            &flags
                .iter()
                .map(|flags| flags & flag.bit() != 0)
                .collect::<Vec<_>>(),
        ),
        _ => RowSet::none(source.len()),
    }
}
