//! Words for a POSIX shell.

/// In single quotes, in which a shell changes nothing; control characters are made visible, line breaks remain.
pub fn quoted(text: &str) -> String {
    format!("'{}'", super::clean_text(text).replace('\'', r"'\''"))
}

/// A command that a shell reads as these words. Words without special characters remain as they are.
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
        assert_eq!(quoted("\u{1b}[31m"), "'␛[31m'");
    }

    #[test]
    fn command_line_quotes_words_that_a_shell_would_change() {
        let words = ["/opt/my tools/nmap", "-sT", "--script", "default and (safe)", "-p", "80,443", "", "a;b"];
        assert_eq!(command_line(words), "'/opt/my tools/nmap' -sT --script 'default and (safe)' -p 80,443 '' 'a;b'");
    }
}
