//! Stands in for `dashboard/` in a program without it: no command, no flag, no hint.

use std::convert::Infallible;
use std::error::Error;
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Command};
use tokio::time::Instant;

use scandeck_wire::data_format::DataFormat;

pub type DashboardCommand = Infallible;

pub const FEATURE: &[&str] = &[];
pub const IS_DEFAULT: bool = false;

#[derive(Args, Clone, Debug, Default)]
#[command(arg_required_else_help = true, subcommand_required = true)]
pub struct DashboardArgs {}

pub async fn run(command: DashboardCommand) -> anyhow::Result<ExitCode> {
    match command {}
}

pub async fn show(_: DashboardArgs, _: Instant) -> anyhow::Result<ExitCode> {
    bail!("no command; `scandeck --help` lists the commands")
}

pub fn with_candidates(command: Command) -> Command {
    command
}

pub fn data_formats() -> [DataFormat; 0] {
    []
}

pub fn hint_of(_: &(dyn Error + 'static)) -> Option<String> {
    None
}

pub mod demo {
    use super::{ExitCode, Infallible};

    pub type DemoCommand = Infallible;

    pub async fn run(command: DemoCommand) -> anyhow::Result<ExitCode> {
        match command {}
    }
}

pub mod key_table {
    use super::{Args, ExitCode, bail};

    #[derive(Args, Clone, Debug)]
    #[command(arg_required_else_help = true, subcommand_required = true)]
    pub struct KeyTableArgs {}

    impl KeyTableArgs {
        pub fn is_given(&self) -> bool {
            false
        }
    }

    pub fn run(_: &KeyTableArgs) -> anyhow::Result<ExitCode> {
        bail!("no command; `scandeck keys --help` lists the commands")
    }
}

pub mod headless {
    pub type ServiceArgs = ();

    pub mod import {
        use std::process::ExitCode;

        use clap::Args;

        use crate::cli::error::CliError;
        use crate::cli::import::ImportArgs;

        #[derive(Args, Clone, Debug, Default)]
        pub struct ImportStore {
            /// Print JSON
            #[arg(long)]
            json: bool,
        }

        impl ImportStore {
            pub fn is_json(&self) -> bool {
                self.json
            }
        }

        pub async fn run(_: ImportArgs) -> anyhow::Result<ExitCode> {
            let hint = "add --dry-run, or send the files with curl: docs/imports.md";
            Err(CliError::usage("this build of scandeck has no client", hint).into())
        }
    }

    pub mod wordlists {
        use std::convert::Infallible;
        use std::process::ExitCode;

        pub type WordlistsCall = Infallible;

        pub async fn run(_: &(), call: WordlistsCall) -> anyhow::Result<ExitCode> {
            match call {}
        }

        pub fn check_import(_: &(), _: Option<&str>) -> anyhow::Result<()> {
            Ok(())
        }
    }
}
