//! The usage line of a command, for the help, the palette and `docs/commands.md`.

use crate::dashboard::palette::Command;

/// `:findings [QUERY]`
pub fn typed(command: &Command) -> String {
    format!(":{} {}", command.name, command.shape()).trim_end().to_owned()
}
