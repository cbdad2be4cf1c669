//! `--data-dir`, a flag of every command of the local service.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::Args;

use scandeck_service::{DataDir, DatabaseAddress};
use scandeck_wire::base_dirs::NoHomeError;
use scandeck_wire::text::io_cause;

#[derive(Args, Clone, Debug, Default)]
pub struct DataDirArg {
    /// Data directory of the service [default: $XDG_STATE_HOME/scandeck/service, or
    /// ~/.local/state/scandeck/service]
    // Global: hints of the service end with `scandeck scope add TARGET --data-dir DIR`.
    #[arg(long, value_name = "DIR", global = true)]
    pub data_dir: Option<PathBuf>,
    /// File (0600) with the URL of the PostgreSQL database of the service, which then has no
    /// database in the data directory [default: SCANDECK_DATABASE_URL]
    #[arg(long, value_name = "FILE", global = true)]
    pub database_file: Option<PathBuf>,
}

impl DataDirArg {
    /// The given directory, or the default.
    ///
    /// # Errors
    /// When no directory is given, and the user has no home directory.
    pub fn path(&self) -> anyhow::Result<PathBuf> {
        match &self.data_dir {
            Some(path) => Ok(path.clone()),
            None => DataDir::default_path().map_err(|error| {
                anyhow!(
                    "{error}; {}, or name a directory with --data-dir",
                    NoHomeError::HINT
                )
            }),
        }
    }

    /// Opens the directory; creates a missing one.
    ///
    /// # Errors
    /// When the path cannot be created or is not a directory.
    pub fn open(&self) -> anyhow::Result<DataDir> {
        let path = self.path()?;
        let dir = DataDir::open(&path).map_err(|error| unusable(&path, &error))?;
        Ok(dir.with_database(self.database()?)?)
    }

    /// The address of the PostgreSQL database, if one is given.
    ///
    /// # Errors
    /// When the file is unreadable or others can read it, or the URL is invalid.
    pub fn database(&self) -> anyhow::Result<Option<DatabaseAddress>> {
        Ok(DatabaseAddress::find(self.database_file.as_deref())?)
    }

    /// Opens the directory if it exists.
    ///
    /// # Errors
    /// When the path is unreadable or is not a directory.
    pub fn existing(&self) -> anyhow::Result<Option<DataDir>> {
        let path = self.path()?;
        let dir = DataDir::existing(&path).map_err(|error| unusable(&path, &error))?;
        let dir = dir.map(|dir| {
            dir.with_database(self.database()?)
                .map_err(anyhow::Error::from)
        });
        dir.transpose()
    }

    /// Opens the directory if it exists. A directory given with `--data-dir` must exist.
    ///
    /// # Errors
    /// When the given path does not exist, and those of [`Self::existing`].
    pub fn named(&self) -> anyhow::Result<Option<DataDir>> {
        if self.data_dir.is_some() {
            self.required().map(Some)
        } else {
            self.existing()
        }
    }

    /// Opens the directory, which must exist.
    ///
    /// # Errors
    /// When the path does not exist, is unreadable, or is not a directory.
    pub fn required(&self) -> anyhow::Result<DataDir> {
        let path = self.path()?;
        self.existing()?.with_context(|| {
            let path = path.display();
            format!(
                "{path} does not exist: start a service, or name another directory with --data-dir"
            )
        })
    }
}

fn unusable(path: &Path, error: &io::Error) -> anyhow::Error {
    let (path, cause) = (path.display(), io_cause(error));
    anyhow!("cannot use {path}: {cause}; choose another directory with --data-dir")
}
