//! Standard output and standard error of the commands.
//!
//! A script must never take half an output for a whole one: every failed write fails the command.
//! Only a reader that closed the pipe is no error, because it needs no more output.

use std::io::{ErrorKind, Write, stdout};

use anyhow::Context;
use rustix::fs::{FileType, fstat, fsync};

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
