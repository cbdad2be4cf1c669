//! Lines that are broken between words, for output of a limited width.

use super::width;

/// The line in parts of at most `columns`, which continue under its beginning after `hang` blanks. A
/// wide word begins further left, and one that is wider than the columns remains whole, so that
/// paths and commands can be copied.
pub fn wrap_words(line: &str, columns: usize, hang: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut current = String::new();
    let mut rest = line.trim_end_matches(' ');
    while !rest.is_empty() {
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        let end = rest[blanks..]
            .find(' ')
            .map_or(rest.len(), |at| blanks + at);
        let (run, after) = rest.split_at(end);
        rest = after;
        if width(&current) + width(run) <= columns || current.trim().is_empty() {
            current.push_str(run);
        } else {
            let word = &run[blanks..];
            let indent = hang.min(columns.saturating_sub(width(word)));
            let next = format!("{:indent$}{word}", "");
            lines.push(std::mem::replace(&mut current, next));
        }
    }
    lines.push(current);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_line_is_broken_between_words_and_continues_under_its_beginning() {
        let line = "    7  nmap    scans ports, and reads versions";
        assert_eq!(
            wrap_words(line, 30, 15),
            [
                "    7  nmap    scans ports,",
                "               and reads",
                "               versions",
            ]
        );
        assert_eq!(wrap_words(line, 80, 15), [line]);
        assert_eq!(wrap_words("", 80, 15), [""]);
    }

    #[test]
    fn word_that_is_too_wide_remains_whole() {
        let path = "/opt/scanners/with/a/long/path/nmap";
        let line = format!("uses {path} ok");
        assert_eq!(wrap_words(&line, 20, 2), ["uses", path, "  ok"]);
        assert_eq!(wrap_words("see shorter", 8, 4), ["see", " shorter"]);
        assert_eq!(wrap_words(path, 20, 2), [path]);
    }

    #[test]
    fn wide_letters_take_two_columns() {
        assert_eq!(wrap_words("日本 日本", 8, 0), ["日本", "日本"]);
        assert_eq!(wrap_words("日本 日本", 9, 0), ["日本 日本"]);
    }
}
