//! Words for a POSIX shell. They are machine text: the program that the shell starts gets the same
//! bytes.

use std::fmt::Write;

/// A word in which a shell changes nothing. Visible text is in single quotes; in other text, each
/// byte that is no printable ASCII is an octal escape of `printf`, so that the word acts on no
/// terminal. A shell cannot pass U+0000, which is dropped.
pub fn quoted(word: impl AsRef<[u8]>) -> String {
    let bytes = word.as_ref();
    match std::str::from_utf8(bytes) {
        Ok(text) if *super::clean_text(text) == *text => single_quoted(text),
        _ => escaped(bytes),
    }
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Printable parts in single quotes, the others by `printf`: `'a'"$(printf '\033')"'[31m'`.
fn escaped(bytes: &[u8]) -> String {
    // A line feed at the end of a substitution would be dropped.
    let is_printable = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n');
    let mut word = String::with_capacity(bytes.len() * 4 + 20);
    for part in bytes.chunk_by(|one, next| is_printable(one) == is_printable(next)) {
        if part.iter().all(is_printable) {
            word += &single_quoted(&String::from_utf8_lossy(part));
            continue;
        }
        word += "\"$(printf '";
        for byte in part.iter().filter(|byte| **byte != 0) {
            // Writing to a String cannot fail.
            let _ = write!(word, "\\{byte:03o}");
        }
        word += "')\"";
    }
    word
}

/// A command that a shell reads as these words. Words without special characters remain as they
/// are.
pub fn command_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=+@%".contains(c);
    let word = |word: &str| match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => quoted(word),
    };
    words.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_quote_escapes_quotes() {
        assert_eq!(quoted("a'; rm -rf $HOME"), r"'a'\''; rm -rf $HOME'");
        assert_eq!(quoted("two\nlines\n"), "'two\nlines\n'");
        assert_eq!(quoted("日本"), "'日本'");
        assert_eq!(quoted("\u{1b}[31m"), r#""$(printf '\033')"'[31m'"#);
        assert_eq!(quoted(b"\xff"), r#""$(printf '\377')""#);
    }

    #[test]
    fn command_line_quotes_words_that_a_shell_would_change() {
        let words = [
            "/opt/my tools/nmap",
            "-sT",
            "--script",
            "default and (safe)",
            "-p",
            "80,443",
            "",
            "a;b",
        ];
        assert_eq!(
            command_line(words),
            "'/opt/my tools/nmap' -sT --script 'default and (safe)' -p 80,443 '' 'a;b'"
        );
    }
}
