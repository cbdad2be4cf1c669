//! Stands in for `service/` in a program without it: no command and no flag.

use std::convert::Infallible;
use std::process::ExitCode;

use scandeck_wire::data_format::DataFormat;

pub const FEATURE: &[&str] = &[];

pub type ServiceCommand = Infallible;
pub type DataDirArg = ();

pub async fn run(command: ServiceCommand) -> anyhow::Result<ExitCode> {
    match command {}
}

pub fn data_formats() -> [DataFormat; 0] {
    []
}

pub mod keys {
    use super::{ExitCode, Infallible};

    pub type KeysCommand = Infallible;

    pub async fn run(_: &(), command: KeysCommand) -> anyhow::Result<ExitCode> {
        match command {}
    }
}

pub mod wordlists {
    use super::{ExitCode, Infallible};

    pub type WordlistsImport = Infallible;

    pub async fn run(
        _: &(),
        import: WordlistsImport,
        _: impl FnOnce(Option<&str>) -> anyhow::Result<()>,
    ) -> anyhow::Result<ExitCode> {
        match import {}
    }
}
