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

    /// Writes the line that has at most the given number of columns.
    pub fn show(&mut self, line: impl FnOnce(usize) -> String) {
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
