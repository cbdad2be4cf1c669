//! Words for a POSIX shell.

/// In single quotes, in which a shell changes nothing; control characters are made visible, line breaks remain.
pub fn quoted(text: &str) -> String {
    format!("'{}'", super::clean_text(text).replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_quote_escapes_quotes() {
        assert_eq!(quoted("a'; rm -rf $HOME"), r"'a'\''; rm -rf $HOME'");
        assert_eq!(quoted("\u{1b}[31m"), "'␛[31m'");
    }
}
