//! A line on standard error that says how far a command is.

use std::io::{Write, stderr};
use std::time::Duration;

use rustix::termios::tcgetwinsize;

use scandeck_wire::text;

/// Time between two states of a line.
pub const PROGRESS: Duration = Duration::from_secs(1);

/// A line that overwrites itself, on a terminal only.
#[derive(Debug, Default)]
pub struct ProgressLine {
    is_shown: bool,
}

impl ProgressLine {
    pub fn write(&mut self, line: &str) {
        self.show(|columns| text::start(&text::clean(line), columns).into_owned());
    }

    /// Writes the state of something, whose name is shortened if the line is too long.
    pub fn write_of(&mut self, name: &str, state: &str) {
        self.show(|columns| named_state(name, state, columns));
    }

    /// Writes the line that has at most the given number of columns.
    fn show(&mut self, line: impl FnOnce(usize) -> String) {
        // Standard error that is no terminal has no size.
        let Ok(size) = tcgetwinsize(stderr()) else {
            return;
        };
        let columns = match size.ws_col {
            0 => 80,
            columns => usize::from(columns),
        };
        self.clear();
        let mut out = stderr();
        let _ = write!(out, "{}", line(columns.saturating_sub(1)));
        let _ = out.flush();
        self.is_shown = true;
    }

    pub fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

fn named_state(name: &str, state: &str, columns: usize) -> String {
    let room = columns.saturating_sub(text::width(": ") + text::width(state));
    let cleaned = text::clean(name);
    let line = format!("{}: {state}", text::middle_with(&cleaned, room, '…'));
    text::start(&line, columns).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_name_leaves_room_for_the_state() {
        let state = "the service imports the file: 3 s";
        let shown = named_state("a.jsonl", state, 79);
        assert_eq!(shown, format!("a.jsonl: {state}"));
        let long = format!("{}.jsonl", "results-of-the-scanner-".repeat(8));
        let shown = named_state(&long, state, 79);
        assert!(shown.starts_with("results-of-the-scan"), "{shown}");
        assert!(shown.ends_with(&format!(".jsonl: {state}")), "{shown}");
        assert_eq!(text::width(&shown), 79);
        for columns in 0..40 {
            assert!(text::width(&named_state("表\u{1b}[31m", state, columns)) <= columns);
        }
    }
}
