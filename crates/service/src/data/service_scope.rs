//! The scope of a service: the scope file of its data directory, or a row of its PostgreSQL
//! database, which all nodes share.
//!
//! ```text
//!   file:        scandeck scope ──► scope.toml ──► ScopeCheck
//!   PostgreSQL:  scandeck scope ──► row, version + 1 ──► scope.toml of each node (a copy) ──► ScopeCheck
//!   first start: entries of a scope.toml that is no copy ──► row; the file becomes scope.toml.bak
//! ```
//!
//! A change is repeated if another process has made one meanwhile, so no entry is lost.

use std::fmt;
use std::io;

use super::data_dir::DataDir;
use crate::errors::StartError;
use crate::scope::{Pattern, ReplacedEntry, ScanScope, ScopeEntry, ScopeError, ScopeFile};
use crate::store::Store;
use crate::store::scope::StoredScope;
use scandeck_wire::sqlite::is_present;
use scandeck_wire::text::plural;

/// The scope of the service of a data directory.
#[derive(Debug)]
pub struct ServiceScope<'a> {
    dir: &'a DataDir,
    file: ScopeFile,
}

impl fmt::Display for ServiceScope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dir.postgres() {
            Some(address) => write!(f, "the database of {address}"),
            None => write!(f, "{}", self.file.path().display()),
        }
    }
}

impl<'a> ServiceScope<'a> {
    pub fn new(dir: &'a DataDir) -> Self {
        Self {
            dir,
            file: ScopeFile::new(dir.scope_file()),
        }
    }

    /// Whether there is a scope, of which only the file may be missing.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn is_present(&self) -> io::Result<bool> {
        Ok(self.dir.postgres().is_some() || is_present(self.file.path())?)
    }

    /// Reads the scope.
    ///
    /// # Errors
    /// When it cannot be read or is invalid.
    pub async fn load(&self) -> Result<ScanScope, StartError> {
        if self.dir.postgres().is_none() {
            return Ok(self.file.load()?);
        }
        let store = self.dir.open_store_beside().await?;
        let stored = store.scope().await.map_err(StartError::Store);
        store.close().await;
        entries_of(&stored?.unwrap_or_default())
    }

    /// Adds allowances; see [`ScanScope::add`].
    ///
    /// # Errors
    /// When the scope cannot be read or written.
    pub async fn add(&self, entries: Vec<ScopeEntry>) -> Result<Vec<ReplacedEntry>, StartError> {
        match self.dir.postgres() {
            Some(_) => self.edit(|scope| scope.add(entries.clone())).await,
            None => Ok(self.file.add(entries)?),
        }
    }

    /// Adds denials; see [`ScanScope::add_denials`].
    ///
    /// # Errors
    /// When the scope cannot be read or written.
    pub async fn deny(&self, entries: Vec<ScopeEntry>) -> Result<Vec<ReplacedEntry>, StartError> {
        match self.dir.postgres() {
            Some(_) => self.edit(|scope| scope.add_denials(entries.clone())).await,
            None => Ok(self.file.deny(entries)?),
        }
    }

    /// Removes all entries for these patterns, and returns them.
    ///
    /// # Errors
    /// When the scope cannot be read or written.
    pub async fn remove(&self, patterns: &[Pattern]) -> Result<ScanScope, StartError> {
        match self.dir.postgres() {
            Some(_) => self.edit(|scope| scope.remove(patterns)).await,
            None => Ok(self.file.remove(patterns)?),
        }
    }

    /// Changes the scope of the database.
    async fn edit<T>(&self, change: impl Fn(&mut ScanScope) -> T) -> Result<T, StartError> {
        let store = self.dir.open_store_beside().await?;
        let edited = edit_stored(&store, |scope, _| change(scope)).await;
        store.close().await;
        let edited = edited?;
        // The service of the directory copies it too, but not before the next request.
        let StoredScope { version, entries } = &edited.stored;
        let _ = self.file.copy_again(*version, entries);
        Ok(edited.result)
    }

    /// At the start of a service: stores the entries of a scope file that is no copy. Returns a
    /// notice for the user. Does nothing on a database file.
    pub(crate) async fn share(&self, store: &Store) -> Result<Option<String>, StartError> {
        if self.dir.postgres().is_none() {
            return Ok(None);
        }
        let lock = self.file.lock()?;
        let notice = match self.file.load_own().map_err(not_stored)? {
            Some(own) => {
                let add_own = |scope: &mut ScanScope, version| import(scope, version, &own);
                let imported = edit_stored(store, add_own).await?;
                self.file.move_away()?;
                Some(imported.result)
            }
            None => None,
        };
        drop(lock);
        follow_scope(store, &self.file).await?;
        Ok(notice)
    }
}

/// Makes the scope file of a node a copy of the scope in the database, if there is one.
///
/// # Errors
/// When the scope cannot be read, or the file cannot be written.
pub(crate) async fn follow_scope(store: &Store, file: &ScopeFile) -> Result<(), StartError> {
    if let Some(stored) = store.scope().await.map_err(StartError::Store)? {
        file.copy(stored.version, &stored.entries)?;
    }
    Ok(())
}

/// The result of a change, and the scope after it.
struct EditedScope<T> {
    result: T,
    stored: StoredScope,
}

/// Changes the scope of a database, of which the function gets the version too.
async fn edit_stored<T>(
    store: &Store,
    change: impl Fn(&mut ScanScope, i64) -> T,
) -> Result<EditedScope<T>, StartError> {
    loop {
        let stored = store.scope().await.map_err(StartError::Store)?;
        let stored = stored.unwrap_or_default();
        let mut scope = entries_of(&stored)?;
        let result = change(&mut scope, stored.version);
        let entries = scope.to_text().map_err(ScopeError::Stored)?;
        if entries == stored.entries {
            return Ok(EditedScope { result, stored });
        }
        let replaced = store.replace_scope(stored.version, entries).await;
        if let Some(replaced) = replaced.map_err(StartError::Store)? {
            return Ok(EditedScope {
                result,
                stored: replaced,
            });
        }
    }
}

fn not_stored(error: ScopeError) -> StartError {
    StartError::Settings(format!(
        "{error}; correct the file, or move it away to use the scope in the database without the entries of the file"
    ))
}

fn entries_of(stored: &StoredScope) -> Result<ScanScope, StartError> {
    Ok(ScanScope::parse(&stored.entries).map_err(ScopeError::Stored)?)
}

/// Adds the entries of a file: all of them to a scope that was never changed, else its denials. An
/// allowance that another node does not have may have been removed there. Returns a notice.
fn import(scope: &mut ScanScope, version: i64, own: &ScanScope) -> String {
    if version == 0 {
        scope.clone_from(own);
        return format!(
            "all nodes use the scope in the database now: {} and {} of scope.toml were stored there, \
             and the file is scope.toml.bak now",
            plural(own.allow.len(), "allowance"),
            plural(own.deny.len(), "denial")
        );
    }
    let allowances = missing(&scope.allow, &own.allow).len();
    let denials = missing(&scope.deny, &own.deny);
    let added = denials.len();
    scope.add_denials(denials);
    format!(
        "the scope in the database replaces scope.toml, which is scope.toml.bak now: {} of the file added, {} not; \
         `scandeck scope list` shows the scope",
        plural(added, "denial"),
        plural(allowances, "allowance")
    )
}

/// The entries of a file whose targets are in none of these.
fn missing(known: &[ScopeEntry], entries: &[ScopeEntry]) -> Vec<ScopeEntry> {
    let is_missing = |entry: &&ScopeEntry| !known.iter().any(|one| one.target == entry.target);
    entries.iter().filter(is_missing).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(text: &str) -> ScanScope {
        ScanScope::parse(text).unwrap()
    }

    #[test]
    fn first_file_is_the_scope_and_later_ones_add_their_denials() {
        let first = scope("allow = [{ target = 'a.test', note = 'SOW 1' }]");
        let mut stored = ScanScope::default();
        let notice = import(&mut stored, 0, &first);
        assert_eq!(stored, first);
        assert!(notice.contains("1 allowance and 0 denials"), "{notice}");

        let own = scope(
            "allow = [{ target = 'a.test', note = 'SOW 2' }, { target = 'b.test' }]
            deny = [{ target = 'c.test', note = 'printer' }]",
        );
        let notice = import(&mut stored, 1, &own);
        assert_eq!((&stored.allow, &stored.deny), (&first.allow, &own.deny));
        assert!(
            notice.contains("1 denial of the file added, 1 allowance not"),
            "{notice}"
        );
        import(&mut stored, 2, &own);
        assert_eq!(stored.deny.len(), 1);
    }
}
