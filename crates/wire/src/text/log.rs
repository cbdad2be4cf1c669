//! Lines of a log: they contain texts of targets and of services.

use std::io::{Result as IoResult, Write};

use super::clean;

/// Writes each record as one visible line, so that a text in it controls no terminal and looks like
/// no other record.
pub struct CleanLog<W>(pub W);

impl<W: Write> Write for CleanLog<W> {
    /// Expects a whole record, as logs write it.
    fn write(&mut self, record: &[u8]) -> IoResult<usize> {
        let text = String::from_utf8_lossy(record);
        let line = clean(text.trim_end_matches('\n'));
        self.0.write_all(format!("{line}\n").as_bytes())?;
        Ok(record.len())
    }

    fn flush(&mut self) -> IoResult<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_is_one_line_without_control_characters() {
        let mut log = CleanLog(Vec::new());
        log.write_all(b"INFO connected place=office\n").unwrap();
        let forged = "WARN error=401: \u{1b}[2Jno\u{202e}\nINFO all is well\n";
        log.write_all(forged.as_bytes()).unwrap();
        let text = String::from_utf8(log.0).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert_eq!(lines[0], "INFO connected place=office");
        assert!(lines[1].contains("no") && lines[1].contains("INFO all is well"));
        assert!(!lines[1].contains(['\u{1b}', '\u{202e}']), "{text}");
    }
}
