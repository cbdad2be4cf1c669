//! `--data-dir`, a flag of every command of the local service.

use std::io;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::Args;

use crate::cli::cause_of;
use crate::service::DataDir;

#[derive(Args, Clone, Debug, Default)]
pub struct DataDirArg {
    /// Data directory of the service [default: $XDG_STATE_HOME/scandeck/service, or ~/.local/state/scandeck/service]
    // Global: hints of the service end with `scandeck scope add TARGET --data-dir DIR`.
    #[arg(long, value_name = "DIR", global = true)]
    pub data_dir: Option<PathBuf>,
}

impl DataDirArg {
    /// The given directory, or the default.
    pub fn path(&self) -> PathBuf {
        self.data_dir.clone().unwrap_or_else(DataDir::default_path)
    }

    /// Opens the directory; creates a missing one.
    ///
    /// # Errors
    /// When the path cannot be created or is not a directory.
    pub fn open(&self) -> anyhow::Result<DataDir> {
        DataDir::open(self.path()).map_err(|error| self.unusable(&error))
    }

    /// Opens the directory if it exists.
    ///
    /// # Errors
    /// When the path is unreadable or is not a directory.
    pub fn existing(&self) -> anyhow::Result<Option<DataDir>> {
        DataDir::existing(self.path()).map_err(|error| self.unusable(&error))
    }

    /// Opens the directory if it exists. A directory given with `--data-dir` must exist.
    ///
    /// # Errors
    /// When the given path does not exist, and those of [`Self::existing`].
    pub fn named(&self) -> anyhow::Result<Option<DataDir>> {
        if self.data_dir.is_some() { self.required().map(Some) } else { self.existing() }
    }

    /// Opens the directory, which must exist.
    ///
    /// # Errors
    /// When the path does not exist, is unreadable, or is not a directory.
    pub fn required(&self) -> anyhow::Result<DataDir> {
        self.existing()?.with_context(|| {
            format!(
                "{} does not exist: start a service, or name another directory with --data-dir",
                self.path().display()
            )
        })
    }

    fn unusable(&self, error: &io::Error) -> anyhow::Error {
        let (path, cause) = (self.path(), cause_of(error));
        anyhow!("cannot use {}: {cause}; choose another directory with --data-dir", path.display())
    }
}
