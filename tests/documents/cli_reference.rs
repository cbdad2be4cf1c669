//! The reference of the command line, from the definitions of clap.

use std::fmt::Write;

use clap::{Command, CommandFactory};
use scandeck::cli::Cli;

/// The heading of the options that most commands share. The reference has them once.
const SHARED: &str = "Service";

pub(super) fn markdown() -> String {
    let mut root = Cli::command().term_width(100).disable_help_subcommand(true);
    root.build();
    let mut text = String::new();
    section(&root, &mut text);
    text
}

/// The help of a command without the shared options, then that of its subcommands.
fn section(command: &Command, text: &mut String) {
    let mut shown = command.clone().mut_args(|arg| {
        let is_hidden =
            arg.is_hide_set() || arg.get_help_heading() == Some(SHARED) || arg.get_id() == "help";
        arg.hide(is_hidden)
    });
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let _ = write!(
        text,
        "### {name}\n\n{}\n\n",
        block(&shown.render_long_help().to_string())
    );
    for subcommand in command
        .get_subcommands()
        .filter(|subcommand| subcommand.get_name() != "help")
    {
        section(subcommand, text);
    }
}

/// The shared options, as a command that takes them shows them.
pub(super) fn shared_options() -> String {
    let mut root = Cli::command().term_width(100);
    root.build();
    let help = root
        .find_subcommand_mut("workspaces")
        .unwrap()
        .render_long_help()
        .to_string();
    let start = help.find(&format!("{SHARED}:")).unwrap();
    let end = help.find("\nExample").unwrap();
    block(&help[start..end])
}

/// The text as a code block, without blanks at the end of lines.
fn block(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
    format!("```text\n{}\n```", lines.join("\n"))
}

#[test]
fn command_summary_names_every_subcommand() {
    for command in Cli::command().get_subcommands() {
        let about = command
            .get_about()
            .map_or_else(String::new, ToString::to_string);
        let words: Vec<&str> = about
            .split(|letter: char| !letter.is_alphanumeric())
            .collect();
        for subcommand in command.get_subcommands() {
            let name = subcommand.get_name();
            assert!(words.contains(&name), "{}: {name}", command.get_name());
        }
    }
}
