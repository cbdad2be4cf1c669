//! `scandeck --version --verbose`: what a report of a problem needs to know about the program.

use std::env::consts::{ARCH, OS};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction};

use super::{dashboard, service, stdio};
use scandeck_wire::contract::team::TEAM_VERSION;
use scandeck_wire::data_format::DataFormat;

/// Set when a package is built.
const COMMIT: Option<&str> = option_env!("SCANDECK_COMMIT");

/// The flag beside `--version`.
pub fn verbose_flag() -> Arg {
    Arg::new("verbose")
        .long("verbose")
        .action(ArgAction::SetTrue)
        .requires("version")
        .help("With --version: also print commit, features and data formats")
}

/// Whether the arguments have `--version` and `--verbose`. The parser reads no argument after
/// `--version`.
pub fn is_verbose(error: &clap::Error) -> bool {
    let mut arguments = std::env::args_os();
    error.kind() == ErrorKind::DisplayVersion && arguments.any(|one| one == "--verbose")
}

/// Prints the version with its details.
///
/// # Errors
/// When the output cannot be written.
pub fn run() -> anyhow::Result<ExitCode> {
    stdio::print(details().as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn details() -> String {
    let commit = COMMIT.filter(|commit| !commit.is_empty());
    let features = [dashboard::FEATURE, service::FEATURE].concat();
    let mut text = format!(
        "scandeck {}\ncommit    {}\nfeatures  {}\nplatform  {OS} {ARCH}\n\n\
         data formats: the number that is written, and the greatest that is read\n",
        env!("CARGO_PKG_VERSION"),
        commit.unwrap_or("unknown"),
        features.join(", "),
    );
    let all = formats();
    let widths = all.iter().map(|format| format.name.len());
    let width = widths.max().unwrap_or_default();
    for DataFormat { name, number, .. } in all {
        text.push_str(&format!("  {name:width$}  {number:>2}\n"));
    }
    text
}

fn formats() -> Vec<DataFormat> {
    let team = DataFormat {
        name: "team requests",
        number: TEAM_VERSION,
        file: None,
    };
    let of_wings = service::data_formats().into_iter();
    let of_wings = of_wings.chain(dashboard::data_formats());
    of_wings.chain([team]).collect()
}
