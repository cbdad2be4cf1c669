//! The flag that names a data directory, which every command about the local service takes.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use crate::service::DataDir;

/// `--data-dir`.
#[derive(Args, Clone, Debug, Default)]
pub struct DataDirArg {
    /// Where the service keeps its database, keys and scope file [default: $XDG_STATE_HOME/scandeck/service, or below ~/.local/state]
    // Global: refusals of the rails end with `scandeck scope add TARGET --data-dir DIR`.
    #[arg(long, value_name = "DIR", global = true)]
    pub data_dir: Option<PathBuf>,
}

impl DataDirArg {
    /// The path that was named, or the default one.
    pub fn path(&self) -> PathBuf {
        self.data_dir.clone().unwrap_or_else(DataDir::default_path)
    }

    /// The directory, made where it is missing.
    ///
    /// # Errors
    /// When it cannot be made or is no directory.
    pub fn open(&self) -> anyhow::Result<DataDir> {
        DataDir::open(self.path()).with_context(|| self.unusable())
    }

    /// The directory, or none where there is none, for commands that only look.
    ///
    /// # Errors
    /// When it cannot be looked at or is no directory.
    pub fn existing(&self) -> anyhow::Result<Option<DataDir>> {
        DataDir::existing(self.path()).with_context(|| self.unusable())
    }

    fn unusable(&self) -> String {
        format!("cannot use the directory {}; name another with --data-dir", self.path().display())
    }
}
