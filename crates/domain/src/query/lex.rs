//! Text → tokens. A clause (`field:value,value`) is one token; what its words mean is the parser's
//! business.

use std::ops::Range;

use super::ParseError;

/// How a clause compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    /// `:`, like the value.
    Like,
    /// `=`, equal to it.
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
    /// `:~`, found by a regular expression.
    Found,
}

impl Compare {
    /// As it is written, the present form first; the longer ones come before those that they begin
    /// with. `:>=` is what other languages write for `>=`.
    const WRITTEN: [(&'static str, Compare); 12] = [
        (":~", Self::Found),
        ("!=", Self::Unequal),
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        (":<=", Self::AtMost),
        (":>=", Self::AtLeast),
        ("<", Self::Less),
        (">", Self::More),
        (":<", Self::Less),
        (":>", Self::More),
        (":", Self::Like),
        ("=", Self::Equal),
    ];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        Self::WRITTEN
            .iter()
            .find(|(_, compare)| *compare == self)
            .map_or(":", |(written, _)| written)
    }

    fn at_start(text: &str) -> Option<(&'static str, Self)> {
        Self::WRITTEN
            .into_iter()
            .find(|(written, _)| text.starts_with(written))
    }

    /// True for `<`, `<=`, `>` and `>=`.
    pub fn orders(self) -> bool {
        matches!(self, Self::Less | Self::AtMost | Self::More | Self::AtLeast)
    }
}

/// A word or a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Text without quotes.
    pub text: String,
    /// True if the word was quoted.
    pub quoted: bool,
    /// Byte range.
    pub at: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LexToken {
    /// `(`
    Open,
    /// `)`
    Close,
    /// `-` before something.
    Minus,
    /// A word, including `and`, `or` and `not`.
    Word(Word),
    /// `field:value,value`.
    Clause {
        /// The name before the comparison.
        field: Word,
        /// The comparison.
        compare: Compare,
        /// The values, at least one.
        values: Vec<Word>,
    },
}

/// A token and its byte range.
pub type Placed = (LexToken, Range<usize>);

/// Cuts a text into tokens.
///
/// # Errors
/// If a `-` is alone.
pub fn lex(text: &str) -> Result<Vec<Placed>, ParseError> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip(char::is_whitespace);
        let from = lexer.at;
        let Some(first) = lexer.peek() else {
            return Ok(tokens);
        };
        let token = match first {
            '(' => lexer.single(LexToken::Open),
            ')' => lexer.single(LexToken::Close),
            '-' => lexer.minus()?,
            '"' => LexToken::Word(lexer.quoted()),
            _ => lexer.word_or_clause(),
        };
        tokens.push((token, from..lexer.at));
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Skips characters while `belongs` is true and returns them.
    fn skip(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|letter| !belongs(letter)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn single(&mut self, token: LexToken) -> LexToken {
        self.at += 1;
        token
    }

    fn minus(&mut self) -> Result<LexToken, ParseError> {
        self.at += 1;
        match self.peek() {
            Some(next) if !next.is_whitespace() => Ok(LexToken::Minus),
            _ => Err(
                ParseError::new(self.at - 1..self.at, "`-` needs a word or field after it")
                    .with_hint("quote it to search for `-`"),
            ),
        }
    }

    /// A quoted word; an open quote extends to the end, because queries are evaluated while they
    /// are typed. `\"` and `\\` are escapes.
    fn quoted(&mut self) -> Word {
        let from = self.at;
        self.at += 1;
        let mut text = String::new();
        let mut letters = self.rest().char_indices().peekable();
        let mut end = self.text.len();
        while let Some((place, letter)) = letters.next() {
            match (letter, letters.peek()) {
                ('"', _) => {
                    end = self.at + place + 1;
                    break;
                }
                ('\\', Some(&(_, next @ ('"' | '\\')))) => {
                    letters.next();
                    text.push(next);
                }
                _ => text.push(letter),
            }
        }
        self.at = end;
        Word {
            text,
            quoted: true,
            at: from..end,
        }
    }

    fn bare(&mut self, belongs: impl Fn(char) -> bool) -> Word {
        let from = self.at;
        let text = self.skip(|letter| {
            !letter.is_whitespace() && !matches!(letter, '(' | ')' | '"') && belongs(letter)
        });
        Word {
            text: text.to_owned(),
            quoted: false,
            at: from..self.at,
        }
    }

    fn word_or_clause(&mut self) -> LexToken {
        let from = self.at;
        let name = self.skip(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        let named = name.starts_with(|letter: char| letter.is_ascii_alphabetic());
        if named
            && !self.rest().starts_with("://")
            && let Some((written, compare)) = Compare::at_start(self.rest())
        {
            let field = Word {
                text: name.to_owned(),
                quoted: false,
                at: from..self.at,
            };
            self.at += written.len();
            let values = self.values(compare);
            return LexToken::Clause {
                field,
                compare,
                values,
            };
        }
        self.at = from;
        LexToken::Word(self.bare(|_| true))
    }

    /// The values of a clause. A missing one is empty and not quoted.
    fn values(&mut self, compare: Compare) -> Vec<Word> {
        let several = compare != Compare::Found;
        let mut values = Vec::new();
        loop {
            let value = match self.peek() {
                Some('"') => self.quoted(),
                _ => self.bare(|letter| !several || letter != ','),
            };
            values.push(value);
            if !several || self.peek() != Some(',') {
                return values;
            }
            self.at += 1;
        }
    }
}

/// The text as one word, quoted if necessary.
pub fn word(text: &str) -> String {
    let plain = matches!(lex(text).as_deref(), Ok([(LexToken::Word(word), _)]) if !word.quoted && word.text == text);
    if plain && !is_keyword(text) {
        text.to_owned()
    } else {
        quote(text)
    }
}

/// The text as the value of a clause, quoted if necessary.
pub fn value(text: &str) -> String {
    let odd = |letter: char| letter.is_whitespace() || matches!(letter, '(' | ')' | '"' | ',');
    let operator = text.starts_with(['~', '<', '>', '=']);
    if text.is_empty() || text.contains(odd) || operator {
        quote(text)
    } else {
        text.to_owned()
    }
}

/// The text in quotes.
pub fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// True for `and`, `or` and `not`, in lower or upper case.
pub fn is_keyword(text: &str) -> bool {
    matches!(text, "and" | "or" | "not" | "AND" | "OR" | "NOT")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens_of(text: &str) -> String {
        let word = |word: &Word| {
            if word.quoted {
                format!("“{}”", word.text)
            } else {
                word.text.clone()
            }
        };
        let shown = |(token, _): Placed| match token {
            LexToken::Open => "(".to_owned(),
            LexToken::Close => ")".to_owned(),
            LexToken::Minus => "-".to_owned(),
            LexToken::Word(found) => word(&found),
            LexToken::Clause {
                field,
                compare,
                values,
            } => {
                let values: Vec<String> = values.iter().map(word).collect();
                format!("[{} {} {}]", field.text, compare.as_str(), values.join("|"))
            }
        };
        match lex(text) {
            Ok(tokens) => tokens.into_iter().map(shown).collect::<Vec<_>>().join(" "),
            Err(error) => format!("{:?} {}", error.at, error.reason),
        }
    }

    #[test]
    fn lexer_separates_clauses_words_and_signs() {
        assert_eq!(
            tokens_of("risk>=high -(a or b)"),
            "[risk >= high] - ( a or b )"
        );
        assert_eq!(
            tokens_of(r#"port:80,443 name:~"^T\"L" "x y"#),
            r#"[port : 80|443] [name :~ “^T"L”] “x y”"#
        );
        assert_eq!(tokens_of("cvss:>=7 tag!=x"), "[cvss >= 7] [tag != x]");
    }

    #[test]
    fn addresses_and_paths_lex_as_words() {
        assert_eq!(
            tokens_of("https://a.b/c?d=e 127.0.0.1:443 CVE-2024-1"),
            "https://a.b/c?d=e 127.0.0.1:443 CVE-2024-1"
        );
    }

    #[test]
    fn sign_alone_is_reported_with_position() {
        assert_eq!(
            tokens_of("a - b"),
            "2..3 `-` needs a word or field after it"
        );
    }
}
