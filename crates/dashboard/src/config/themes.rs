//! The theme files of a user: `themes/NAME.toml` beside the configuration file. The dashboard
//! checks their content.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use scandeck_wire::input_files::{InputKind, read_text};

/// A theme file, not checked yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThemeFile {
    /// The name of the file without `.toml`.
    pub name: String,
    /// For messages.
    pub path: String,
    pub text: String,
    /// Why it cannot be read.
    pub unreadable: Option<ErrorKind>,
}

/// The theme files beside a configuration file, by name.
pub fn beside(config_file: &Path) -> Vec<ThemeFile> {
    let directory = config_file.with_file_name("themes");
    let entries = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let mut all: Vec<ThemeFile> = entries
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .filter_map(|path| {
            let name = path.file_stem()?.to_str()?.to_owned();
            let (text, unreadable) = match read_text(&path, InputKind::Settings) {
                Ok(text) => (text, None),
                Err(error) => (String::new(), Some(error.kind())),
            };
            Some(ThemeFile {
                name,
                path: path.display().to_string(),
                text,
                unreadable,
            })
        })
        .collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}
