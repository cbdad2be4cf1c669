//! `scandeck completions SHELL`: prints the script that connects a shell with the completions of
//! this program.
//!
//! ```text
//!   shell startup ─► scandeck completions bash ─► script
//!   TAB           ─► SCANDECK_COMPLETE=bash scandeck -- words ─► candidates: commands, flags, values, cached names
//! ```
//!
//! The shell asks the program itself, so the completions always fit the installed version. A
//! completion never calls a service and never reads an API key.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use clap::builder::PossibleValuesParser;
use clap::{Args, Command};
use clap_complete::CompleteEnv;
use clap_complete::env::Shells;

use super::stdio;

/// The variable by which a shell asks for candidates.
const VARIABLE: &str = "SCANDECK_COMPLETE";

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  source <(scandeck completions bash)                              # in ~/.bashrc
  source <(scandeck completions zsh)                               # in ~/.zshrc
  scandeck completions fish > ~/.config/fish/completions/scandeck.fish")]
pub struct CompletionsArgs {
    /// Shell
    #[arg(value_name = "SHELL", value_parser = PossibleValuesParser::new(["bash", "zsh", "fish", "elvish", "powershell"]))]
    shell: String,
}

/// Answers the shell if it asks for candidates. Returns whether it did.
///
/// # Errors
/// When the shell is unknown, and when the output cannot be written.
pub fn answer(command: fn() -> Command) -> clap::error::Result<bool> {
    let directory = std::env::current_dir().ok();
    CompleteEnv::with_factory(command)
        .var(VARIABLE)
        .try_complete(std::env::args_os(), directory.as_deref())
}

/// Prints the script.
///
/// # Errors
/// When the output cannot be written.
pub fn run(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let shells = Shells::builtins();
    let shell = shells.completer(&args.shell).context("unknown shell")?;
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "scandeck", "scandeck", &program(), &mut script)?;
    stdio::print(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// The program as it was called: by its name in `PATH`, or by its path.
fn program() -> String {
    let called = std::env::args_os()
        .next()
        .unwrap_or_else(|| "scandeck".into());
    let path = Path::new(&called);
    match path.components().count() {
        0 | 1 => called.to_string_lossy().into_owned(),
        _ => std::path::absolute(path)
            .unwrap_or_else(|_| path.to_owned())
            .to_string_lossy()
            .into_owned(),
    }
}
