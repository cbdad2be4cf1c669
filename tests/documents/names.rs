//! Names in comments and documents: what they name exists.
//!
//! ```text
//!   names in backticks in comments, paths and names of files anywhere ─► a word of the code, a file?
//! ```
//!
//! A word of any file counts, so the test finds names that are gone, not names in a wrong place.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use regex::Regex;

use super::{documents, package, read};
use scandeck::service::engine::tools::offered;

/// Words of other programs, of environment variables and of examples.
const FOREIGN: &[&str] = &[
    "BB",
    "CCC",
    "CONTRIBUTING",
    "EnableMouseCapture",
    "P_hash",
    "SCANDECK_ID",
    "SCANDECK_TOKEN",
    "a1b2c3",
    "a85encode",
    "adminAuth",
    "allowAnonymous",
    "b85encode",
    "base32",
    "delete_user",
    "from_uri",
    "rfr",
    "tag_validator",
];

/// The code and the comments of the workspace.
struct Words {
    known: HashSet<String>,
    files: BTreeSet<String>,
    /// Place and text of each line of a comment or document.
    comments: Vec<(String, String)>,
}

impl Words {
    fn read() -> Self {
        let mut words = Self {
            known: FOREIGN.iter().map(|&word| word.to_owned()).collect(),
            files: BTreeSet::new(),
            comments: Vec::new(),
        };
        for folder in ["src", "crates", "tests", "benches", "examples", "fuzz"] {
            words.add_below(&package().join(folder));
        }
        for document in documents() {
            for (number, line) in read(&document).lines().enumerate() {
                let place = format!("{document}:{}", number + 1);
                // Documents also have identifiers of other languages in backticks.
                words.comments.push((place, line.replace('`', " ")));
            }
        }
        words
    }

    fn add_below(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                if name != "target" {
                    self.add_below(&path);
                }
            } else if name.ends_with(".rs") {
                self.files.insert(name.to_owned());
                self.add_file(&path);
            }
        }
    }

    fn add_file(&mut self, path: &Path) {
        let place = path.strip_prefix(package()).unwrap().display();
        let is_letter = |c: char| c.is_alphanumeric() || c == '_';
        for (number, line) in fs::read_to_string(path).unwrap().lines().enumerate() {
            match line.trim_start().starts_with("//") {
                true => self
                    .comments
                    .push((format!("{place}:{}", number + 1), line.to_owned())),
                false => {
                    for word in line.split(|c| !is_letter(c)) {
                        // Most words are known.
                        if !self.known.contains(word) {
                            self.known.insert(word.to_owned());
                        }
                    }
                }
            }
        }
    }

    /// The names that do not exist, each with its place.
    fn missing(&self) -> Vec<String> {
        let name = Regex::new(r"`([A-Za-z_][\w:.!()&<>]*)`|(\w+(?:::\w+)+)").unwrap();
        let word = Regex::new(r"[A-Za-z_]\w*").unwrap();
        let file = Regex::new(r"\b\w+\.rs\b").unwrap();
        let mut missing = Vec::new();
        // Most lines name nothing, and a regular expression takes longer to say so.
        let marks = ["`", "::", ".rs"];
        let has_mark = |line: &str| marks.iter().any(|mark| line.contains(mark));
        for (place, line) in self.comments.iter().filter(|(_, line)| has_mark(line)) {
            let files: Vec<&str> = file.find_iter(line).map(|found| found.as_str()).collect();
            let is_part = |word: &str| files.iter().any(|file| file.contains(word));
            for found in name.captures_iter(line) {
                let found = found
                    .get(1)
                    .or(found.get(2))
                    .map_or("", |found| found.as_str());
                let words = word.find_iter(found).map(|word| word.as_str());
                let unknown = words.filter(|word| !self.known.contains(*word) && !is_part(word));
                missing.extend(unknown.map(|word| format!("{place}: `{word}` of `{found}`")));
            }
            let unknown = files.iter().filter(|file| !self.files.contains(**file));
            missing.extend(unknown.map(|file| format!("{place}: {file}")));
        }
        missing
    }
}

#[test]
fn names_in_comments_and_documents_exist() {
    let missing = Words::read().missing();
    assert!(missing.is_empty(), "no such name:\n{}", missing.join("\n"));
}

#[test]
fn service_page_has_each_tool_by_its_full_name() {
    let page = read("docs/service.md");
    for offered_tool in offered() {
        let tool = offered_tool.tool;
        let row = format!("\n| {} | {} | ", tool.full_name(), tool.0);
        assert!(page.contains(&row), "docs/service.md lacks `{row}`");
    }
}

#[test]
fn name_that_is_gone_is_missing() {
    let line = |text: &str| ("a.rs:1".to_owned(), text.to_owned());
    let words = Words {
        known: ["Kept", "kept"].map(str::to_owned).into(),
        files: ["kept.rs".to_owned()].into(),
        comments: vec![
            line("// `Kept::kept()` and `kept.rs` exist, `--gone` and `gone text` are no names."),
            line("// `Gone` and Kept::gone do not,"),
            line("// nor does gone.rs."),
        ],
    };
    let expected = [
        "a.rs:1: `Gone` of `Gone`",
        "a.rs:1: `gone` of `Kept::gone`",
        "a.rs:1: gone.rs",
    ];
    assert_eq!(words.missing(), expected);
}
