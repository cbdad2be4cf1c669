//! Text that a command reads: from a file, or from standard input for `-`.

use std::path::Path;

use scandeck_wire::input_files::{self, InputKind};

/// Reads a text.
///
/// # Errors
/// When the file cannot be read, is too large or is not valid UTF-8.
pub fn read_input(file: &Path, kind: InputKind) -> anyhow::Result<String> {
    input_files::text(read_bytes(file, kind)?).map_err(|error| unreadable(file, error))
}

/// Reads a text that need not be valid UTF-8.
///
/// # Errors
/// When the file cannot be read, or is too large.
pub fn read_bytes(file: &Path, kind: InputKind) -> anyhow::Result<Vec<u8>> {
    let read = match file == Path::new("-") {
        true => input_files::read_limited(std::io::stdin().lock(), kind),
        false => input_files::read(file, kind),
    };
    read.and_then(input_files::without_mark)
        .map_err(|error| unreadable(file, error))
}

fn unreadable(file: &Path, error: std::io::Error) -> anyhow::Error {
    let file = if file == Path::new("-") {
        "standard input".into()
    } else {
        file.display().to_string()
    };
    anyhow::Error::new(error).context(format!("cannot read {file}"))
}
