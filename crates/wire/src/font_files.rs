//! The font files of this machine, for texts in scripts that no embedded font has.
//!
//! ```text
//!   directories of fontconfig and macOS ─► paths, usual styles first ─► bytes, file by file
//! ```
//!
//! A reader that has what it needs stops early, so few files are read.

use std::fs;
use std::path::{Path, PathBuf};

use crate::base_dirs::home;
use crate::input_files::{InputKind, read};

/// The directories of all users.
const SHARED: [&str; 4] = [
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "/System/Library/Fonts",
    "/Library/Fonts",
];
/// The directories of this user, below the home directory.
const OWN: [&str; 3] = [".local/share/fonts", ".fonts", "Library/Fonts"];
const EXTENSIONS: [&str; 4] = ["ttf", "otf", "ttc", "otc"];
/// Parts of the names of styles that read worse in running text.
const STYLED: [&str; 9] = [
    "bold",
    "italic",
    "oblique",
    "light",
    "thin",
    "black",
    "medium",
    "condensed",
    "narrow",
];
const OTHER_FAMILIES: [&str; 3] = ["serif", "mono", "display"];
/// Levels of directories, and files, that are searched.
const DEPTH: usize = 6;
const FILES: usize = 10_000;
/// Bytes that are read in all.
const BYTES: usize = 512 << 20;

/// The contents of the files; those that cannot be read are left out.
pub fn font_files() -> impl Iterator<Item = Vec<u8>> {
    let mut directories = SHARED.map(PathBuf::from).to_vec();
    if let Ok(own) = home() {
        directories.extend(OWN.map(|name| own.join(name)));
    }
    let mut total = 0;
    paths(&directories)
        .into_iter()
        .filter_map(|path| read(&path, InputKind::Font).ok())
        .take_while(move |bytes| {
            total += bytes.len();
            total <= BYTES
        })
}

/// The font files below the directories: regular sans-serif styles first.
fn paths(directories: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for directory in directories {
        collect(directory, DEPTH, &mut found);
    }
    found.sort_by_cached_key(|path| {
        let file_name = path.file_name().unwrap_or_default();
        let name = file_name.to_string_lossy().to_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        (has(&STYLED), has(&OTHER_FAMILIES), path.clone())
    });
    found
}

fn collect(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.filter_map(Result::ok) {
        if found.len() >= FILES {
            return;
        }
        let path = entry.path();
        // Links to directories are not followed, because they may lead back.
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_directory && depth > 0 {
            collect(&path, depth - 1, found);
        } else if !is_directory && is_font(&path) {
            found.push(path);
        }
    }
}

fn is_font(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    EXTENSIONS.contains(&extension.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_styles_come_first_and_other_files_are_ignored() {
        let directory = tempfile::tempdir().unwrap();
        let below = directory.path().join("opentype/noto");
        fs::create_dir_all(&below).unwrap();
        let names = [
            "NotoSansCJK-Bold.ttc",
            "NotoSerifCJK-Regular.TTC",
            "NotoSansCJK-Regular.ttc",
            "fonts.dir",
        ];
        for name in names {
            fs::write(below.join(name), name).unwrap();
        }
        std::os::unix::fs::symlink(directory.path(), below.join("back")).unwrap();
        let found = paths(&[directory.path().to_owned(), below.join("missing")]);
        assert_eq!(found, [2, 1, 0].map(|at| below.join(names[at])));
    }
}
