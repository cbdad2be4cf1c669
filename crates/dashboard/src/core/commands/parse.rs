//! The parser of a `:` line: its command and arguments.

use crate::core::commands::table::all;
use crate::model::{Fault, Model};
use crate::palette::{Args, Command, slot, trimmed};
use std::ops::Range;

/// A line that can be run.
#[derive(Debug)]
pub struct Ready {
    pub command: &'static Command,
    /// With what.
    pub args: Args,
}

/// The command at the beginning of a line, and where its arguments begin. A colon before it does
/// not count.
pub fn split(text: &str) -> Option<(&'static Command, usize)> {
    let start = text.len() - text.trim_start_matches([' ', ':']).len();
    let named =
        |command: &'static Command| Some((command, start + after(&text[start..], &command.name)?));
    all().iter().filter_map(named).max_by_key(|(_, end)| *end)
}

/// The position after the name at the beginning of a text.
pub(crate) fn after(text: &str, name: &str) -> Option<usize> {
    let mut at = 0;
    for letter in name.chars() {
        let rest = &text[at..];
        if letter == ' ' {
            let blank = rest.len() - rest.trim_start_matches([' ', '_', '-']).len();
            (blank > 0).then_some(())?;
            at += blank;
        } else {
            let found = rest
                .chars()
                .next()
                .filter(|found| found.eq_ignore_ascii_case(&letter))?;
            at += found.len_utf8();
        }
    }
    text[at..]
        .chars()
        .next()
        .is_none_or(char::is_whitespace)
        .then_some(at)
}

/// Parses a line.
///
/// # Errors
/// The place and the reason why it cannot be run.
pub fn parse(model: &Model, text: &str) -> Result<Ready, Fault> {
    let (command, from) = split(text).ok_or_else(|| unknown(text))?;
    if command.action.is_some() && text[from..].trim().is_empty() {
        return Ok(Ready {
            command,
            args: Args::default(),
        });
    }
    slot::read_all(model, command.slots, text, from).map(|args| Ready { command, args })
}

pub(crate) fn unknown(text: &str) -> Fault {
    let Range { start, end } = trimmed(text, 0..text.len());
    let typed = &text[start..end];
    let fault = Fault::new(
        start..end,
        if typed.is_empty() {
            "command is missing".to_owned()
        } else {
            format!("unknown command `{typed}`")
        },
    );
    let first = typed.split_whitespace().next().unwrap_or_default();
    match scandeck_domain::query::error::nearest(
        first,
        all().iter().map(|command| command.name.as_ref()),
    ) {
        Some(name) if !first.is_empty() => {
            fault.with_hint(scandeck_domain::query::error::did_you_mean(name))
        }
        _ => fault,
    }
}
