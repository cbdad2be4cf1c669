//! Standard output and standard error of the commands.
//!
//! A script must never take half an output for a whole one: every failed write fails the command.
//! Only a reader that closed the pipe is no error, because it needs no more output.

use std::io::{ErrorKind, Write, stdout};

use anyhow::Context;
use rustix::fs::{FileType, fstat, fsync};
use rustix::termios::tcgetwinsize;

use scandeck_wire::text::wrap_words;

const NOT_WRITTEN: &str = "standard output not written";

/// Writes to standard output and flushes it.
///
/// # Errors
/// When the output cannot be written, for example because the disk is full.
pub fn print(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context(NOT_WRITTEN),
    }
}

/// Writes lines for people: a terminal gets them broken between words, and continued after `hang`
/// columns; a file or a pipe gets them as they are.
///
/// # Errors
/// Those of [`print()`].
pub fn print_lines(lines: &str, hang: usize) -> anyhow::Result<()> {
    match columns() {
        Some(columns) => print(laid_out(lines, hang, columns).as_bytes()),
        None => print(lines.as_bytes()),
    }
}

/// The lines in at most so many columns.
pub fn laid_out(lines: &str, hang: usize, columns: usize) -> String {
    let parts = lines
        .lines()
        .flat_map(|line| wrap_words(line, columns, hang.min(columns / 2)));
    parts.map(|part| part + "\n").collect()
}

/// Columns of the terminal, if standard output is one.
fn columns() -> Option<usize> {
    let size = tcgetwinsize(stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Writes a redirected standard output to disk: some file systems report a full disk only then.
///
/// # Errors
/// When the file cannot be written completely.
pub fn sync() -> anyhow::Result<()> {
    let out = stdout();
    let is_file = fstat(&out)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
    if is_file {
        fsync(&out).context(NOT_WRITTEN)
    } else {
        Ok(())
    }
}

/// Prints a line on standard error. Unlike `eprintln!` it does not panic when standard error is
/// closed or full.
macro_rules! note {
    ($($text:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}
