//! The scope: targets beyond this machine that may be scanned, who added them, and their last day.
//!
//! ```text
//!   scandeck scope add ──► ScopeFile::add ──► scope.toml (0600, replaced atomically) ──► ScopeCheck, at the next check
//!                     └──► PostgreSQL: a row of the database (data/service_scope) ──► copied to scope.toml of each node
//! ```
//!
//! This module has the entries and their file; [`scope_check`](crate::scope_check) decides. Users
//! may also edit `scope.toml` by hand, unless it is a copy; changes apply immediately. The commands
//! keep all entries but no comments. An allowance has rules that a denial does not have
//! ([`Pattern::check_allowance`]): whoever denies too much harms nobody.

mod file;
mod pattern;

use std::io;
use std::path::PathBuf;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use self::file::ScopeFile;
pub use self::pattern::{Pattern, PatternError};
use crate::place::WorkerPlace;
use scandeck_wire::contract::Stamp;

/// An entry of the scope file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScopeEntry {
    pub target: Pattern,
    /// Last day (UTC) of an allowance. Denials have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Date>,
    /// Whether active tools, which send attacks, may run too. Denials are never active.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub active: bool,
    /// The place whose workers scan the target. Denials hold at each place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<WorkerPlace>,
    /// The reason, such as a contract number.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Who wrote the entry, `login@host`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub who: String,
    /// When the entry was added, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<Stamp>,
}

/// An entry that was added again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacedEntry {
    pub old: ScopeEntry,
    pub new: ScopeEntry,
}

impl ScopeEntry {
    /// Keeps the expiry date, the place and the note of an earlier entry where this one has none. A
    /// date that was over when this entry was added is not kept: the new entry would have no
    /// effect. `active` is not kept either: whoever permits attacks says so each time.
    fn keep(&mut self, old: &Self) {
        let day = self
            .added
            .map(|added| added.0.to_zoned(TimeZone::UTC).date());
        let is_over = |until: &Date| day.is_some_and(|day| *until < day);
        self.until = self.until.or(old.until.filter(|until| !is_over(until)));
        self.place = self.place.take().or_else(|| old.place.clone());
        if self.note.is_empty() {
            self.note.clone_from(&old.note);
        }
    }
}

/// The entries of a scope.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScanScope {
    /// Targets that may be scanned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<ScopeEntry>,
    /// Targets that must not be scanned, even if an entry allows them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<ScopeEntry>,
}

impl ScanScope {
    /// Reads the form of the scope file.
    ///
    /// # Errors
    /// When the text is not TOML, or an entry is invalid.
    pub fn parse(text: &str) -> Result<Self, ScopeTextError> {
        let scope: Self =
            toml::from_str(text).map_err(|error| ScopeTextError::Syntax(Box::new(error)))?;
        for entry in &scope.allow {
            entry
                .target
                .check_allowance()
                .map_err(ScopeTextError::Entry)?;
        }
        Ok(scope)
    }

    /// The form of the scope file.
    ///
    /// # Errors
    /// When an entry cannot be written as TOML.
    pub fn to_text(&self) -> Result<String, ScopeTextError> {
        toml::to_string(self).map_err(ScopeTextError::Format)
    }

    /// Adds allowances. An entry for the same pattern is replaced; its expiry date and its note are
    /// kept unless the new entry has others. Returns the replaced entries.
    pub fn add(&mut self, entries: Vec<ScopeEntry>) -> Vec<ReplacedEntry> {
        upsert(&mut self.allow, entries)
    }

    /// Adds denials, which override all allowances. Returns the replaced entries.
    pub fn add_denials(&mut self, entries: Vec<ScopeEntry>) -> Vec<ReplacedEntry> {
        let denial = |entry: ScopeEntry| ScopeEntry {
            until: None,
            active: false,
            place: None,
            ..entry
        };
        upsert(&mut self.deny, entries.into_iter().map(denial).collect())
    }

    /// Removes all entries for these patterns, and returns them.
    pub fn remove(&mut self, patterns: &[Pattern]) -> Self {
        let is_removed = |entry: &mut ScopeEntry| patterns.contains(&entry.target);
        Self {
            allow: self.allow.extract_if(.., is_removed).collect(),
            deny: self.deny.extract_if(.., is_removed).collect(),
        }
    }
}

/// Why a text is no scope.
#[derive(Debug, Error)]
pub enum ScopeTextError {
    #[error(transparent)]
    Syntax(Box<toml::de::Error>),
    #[error(transparent)]
    Entry(PatternError),
    #[error(transparent)]
    Format(toml::ser::Error),
}

/// Why the scope could not be used; nothing is allowed while it cannot be read.
#[derive(Debug, Error)]
pub enum ScopeError {
    #[error("scope file {path} cannot be read: {source}")]
    Read { path: PathBuf, source: io::Error },
    #[error("scope file {path} is invalid: {source}")]
    Invalid {
        path: PathBuf,
        source: ScopeTextError,
    },
    #[error("scope file {path} cannot be written: {source}")]
    Write { path: PathBuf, source: io::Error },
    #[error(
        "{path} is a copy of the scope in the database: name the database with --database-file or \
         SCANDECK_DATABASE_URL, or delete the first line of the copy if the service uses a database file again"
    )]
    Copy { path: PathBuf },
    #[error(
        "the scope in the database is invalid: {0}; correct the column `entries` of its table `scope`"
    )]
    Stored(ScopeTextError),
}

/// An invalid line of a list of patterns.
#[derive(Debug, Error)]
#[error("{cause}")]
pub struct LineError {
    pub line: usize,
    cause: PatternError,
}

/// Parses a list of allowances, one per line; blank lines and `#` comments are skipped
/// (`scandeck scope import FILE`).
///
/// # Errors
/// The first invalid line, with its number.
pub fn parse_list(text: &str) -> Result<Vec<Pattern>, LineError> {
    let mut all = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if !line.is_empty() {
            all.push(Pattern::allowance(line).map_err(|cause| LineError {
                line: number + 1,
                cause,
            })?);
        }
    }
    Ok(all)
}

/// Adds or replaces entries; returns the replaced ones.
fn upsert(list: &mut Vec<ScopeEntry>, entries: Vec<ScopeEntry>) -> Vec<ReplacedEntry> {
    let mut replaced = Vec::new();
    for mut new in entries {
        if let Some(position) = list.iter().position(|old| old.target == new.target) {
            let old = list.remove(position);
            new.keep(&old);
            replaced.push(ReplacedEntry {
                old,
                new: new.clone(),
            });
        }
        list.push(new);
    }
    replaced
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn link_without_its_file_is_an_error() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("scope.toml");
        assert!(ScopeFile::new(path.clone()).load().is_ok());
        std::os::unix::fs::symlink("elsewhere.toml", &path).unwrap();
        assert!(ScopeFile::new(path).load().is_err());
    }

    fn entry(target: &str) -> ScopeEntry {
        ScopeEntry {
            target: target.parse().unwrap(),
            until: None,
            active: false,
            place: None,
            note: "SOW 114".into(),
            who: "ana@box".into(),
            added: None,
        }
    }

    #[test]
    fn denial_may_be_wider_than_an_allowance() {
        let folder = tempfile::tempdir().unwrap();
        let file = ScopeFile::new(folder.path().join("scope.toml"));
        file.deny(vec![entry("*.gov.au"), entry("10.0.0.0/7")])
            .unwrap();
        assert_eq!(file.load().unwrap().deny.len(), 2);
        fs::write(file.path(), "allow = [{ target = '*.gov.au' }]").unwrap();
        assert!(file.load().unwrap_err().to_string().contains("many owners"));
    }

    #[test]
    fn entries_survive_saving_and_edits() {
        let folder = tempfile::tempdir().unwrap();
        let file = ScopeFile::new(folder.path().join("scope.toml"));
        assert_eq!(file.load().unwrap(), ScanScope::default());
        let until = ScopeEntry {
            until: Some("2026-12-31".parse().unwrap()),
            ..entry("10.0.4.0/24")
        };
        file.add(vec![entry("shop.acme.test"), until.clone()])
            .unwrap();
        file.deny(vec![entry("10.0.4.9")]).unwrap();
        file.add(vec![entry("shop.acme.test")]).unwrap();
        let scope = file.load().unwrap();
        assert_eq!((scope.allow.len(), scope.deny.len()), (2, 1));
        assert!(scope.allow.contains(&until));
        let removed = file
            .remove(&["10.0.4.9".parse().unwrap(), "1.1.1.1".parse().unwrap()])
            .unwrap();
        assert_eq!(
            (removed.allow.len(), removed.deny[0].target.to_string()),
            (0, "10.0.4.9".to_owned())
        );
        assert!(file.load().unwrap().deny.is_empty());
        let mode = fs::metadata(folder.path().join("scope.toml.lock"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn entry_added_again_keeps_its_date_and_its_note() {
        let folder = tempfile::tempdir().unwrap();
        let file = ScopeFile::new(folder.path().join("scope.toml"));
        let at = |day: &str| Some(Stamp(format!("{day}T12:00:00Z").parse().unwrap()));
        let limited = ScopeEntry {
            until: Some("2026-12-31".parse().unwrap()),
            ..entry("b.test")
        };
        let bare = |day: &str| ScopeEntry {
            note: String::new(),
            added: at(day),
            ..entry("b.test")
        };
        assert_eq!(file.add(vec![limited.clone()]).unwrap(), []);
        assert_eq!(file.add(vec![bare("2026-12-31")]).unwrap()[0].old, limited);
        let kept = &file.load().unwrap().allow[0];
        assert_eq!((kept.until, &kept.note), (limited.until, &limited.note));
        // A date that is over would leave the target out of scope.
        file.add(vec![bare("2027-01-01")]).unwrap();
        assert_eq!(file.load().unwrap().allow[0].until, None);
        file.add(vec![ScopeEntry {
            note: "SOW 2".into(),
            ..limited.clone()
        }])
        .unwrap();
        assert_eq!(file.load().unwrap().allow[0].note, "SOW 2");
    }

    #[test]
    fn active_is_stored_and_needs_to_be_given_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = ScopeFile::new(folder.path().join("scope.toml"));
        let active = ScopeEntry {
            active: true,
            ..entry("b.test")
        };
        file.add(vec![active.clone(), entry("c.test")]).unwrap();
        let allow = file.load().unwrap().allow;
        assert_eq!((allow[0].active, allow[1].active), (true, false));
        let text = fs::read_to_string(file.path()).unwrap();
        assert_eq!(text.matches("active = true").count(), 1, "{text}");
        file.add(vec![entry("b.test")]).unwrap();
        assert!(file.load().unwrap().allow.iter().all(|one| !one.active));
        file.deny(vec![active]).unwrap();
        assert!(!file.load().unwrap().deny[0].active);
    }

    #[test]
    fn concurrent_writers_lose_no_entry() {
        let folder = tempfile::tempdir().unwrap();
        let file = ScopeFile::new(folder.path().join("scope.toml"));
        std::thread::scope(|threads| {
            for n in 0..8 {
                let file = file.clone();
                threads.spawn(move || file.add(vec![entry(&format!("10.0.0.{n}"))]).unwrap());
            }
        });
        assert_eq!(file.load().unwrap().allow.len(), 8);
    }

    #[test]
    fn parse_list_reports_the_invalid_line() {
        assert_eq!(
            parse_list("# ours\n10.0.4.0/24  # lab\n\nshop.acme.test\n")
                .unwrap()
                .len(),
            2
        );
        let error = parse_list("10.0.4.1\n*.test\n").unwrap_err();
        assert!(
            error.line == 2 && error.to_string().contains("many owners"),
            "{error}"
        );
    }
}
