//! `scandeck man DIR`: writes the manual pages, one per command, from the definitions of the
//! command line.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Args, Command};
use clap_mangen::Man;

use scandeck_wire::text::{io_cause, plural};

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck man ~/.local/share/man/man1
  man scandeck-findings-list")]
pub struct ManArgs {
    /// Directory of the pages, created if missing; pages of an earlier version are replaced
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Writes the pages.
///
/// # Errors
/// When the directory or a page cannot be written.
pub fn run(args: &ManArgs, mut command: Command) -> anyhow::Result<ExitCode> {
    let directory = args.directory.display();
    let unwritable = |error: std::io::Error| {
        anyhow!(
            "manual pages not written to {directory}: {}; choose another directory",
            io_cause(&error)
        )
    };
    std::fs::create_dir_all(&args.directory).map_err(unwritable)?;
    // `help` has no page.
    command = command.disable_help_subcommand(true);
    // The full names of the subcommands.
    command.build();
    let pages = write(&command, &args.directory).map_err(unwritable)?;
    note!("{} written to {directory}", plural(pages, "manual page"));
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of a command and those of its subcommands. Returns their number.
fn write(command: &Command, directory: &Path) -> std::io::Result<usize> {
    let man = Man::new(command.clone()).source(concat!("scandeck ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render(&mut page)?;
    std::fs::write(
        directory.join(man.get_filename()),
        with_example(&String::from_utf8_lossy(&page)),
    )?;
    let mut pages = 1;
    for subcommand in command.get_subcommands() {
        pages += write(subcommand, directory)?;
    }
    Ok(pages)
}

/// The page with its example as a section of that name, whose lines are not filled.
fn with_example(page: &str) -> String {
    let page = page.replacen(".SH EXTRA\nExamples:\n", ".SH EXTRA\nExample:\n", 1);
    let page = page.replacen(".SH EXTRA\nExample:\n", ".SH EXAMPLE\n.nf\n", 1);
    page.replacen(".SH VERSION\n", ".fi\n.SH VERSION\n", 1)
}
