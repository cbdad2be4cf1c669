//! The table of all commands.

use crate::input::{Action, AppAction, Keymap, ListAction, TerminalAction, TextAction, ViewAction};
use crate::palette::{Command, places};
use std::sync::LazyLock;

/// Every command: those with arguments first, then the actions.
pub fn all() -> &'static [Command] {
    static TABLE: LazyLock<Vec<Command>> = LazyLock::new(|| {
        let mut table = crate::core::commands::command_table();
        let keymap = Keymap::builtin();
        for &action in Action::ALL
            .iter()
            .filter(|&&action| is_typed(&keymap, action))
        {
            let command = Command::of_action(action);
            if table
                .iter()
                .all(|other| other.name != command.name && other.action != Some(action))
            {
                table.push(command);
            }
        }
        table
    });
    &TABLE
}

/// The actions that make sense from a line: not those that move a cursor or belong to what is
/// typed.
pub(crate) fn is_typed(keymap: &Keymap, action: Action) -> bool {
    let moves = match action {
        Action::Move(_) | Action::Form(_) | Action::Edit(_) | Action::Plot(_) => true,
        Action::View(action) => matches!(
            action,
            ViewAction::Back | ViewAction::OtherDown | ViewAction::OtherUp
        ),
        Action::App(action) => action != AppAction::Refresh,
        Action::Terminal(action) => action == TerminalAction::Cancel,
        Action::Text(action) => !matches!(
            action,
            TextAction::Shown | TextAction::MarkThis | TextAction::Search
        ),
        Action::List(action) => action == ListAction::Range,
        Action::Custom(_) => true,
        Action::Payload(_)
        | Action::Go(_)
        | Action::Copy(_)
        | Action::Shape(_)
        | Action::Group(_)
        | Action::Item(_)
        | Action::Verdict(_)
        | Action::Decide(_)
        | Action::Review(_)
        | Action::Setup(_) => false,
    };
    !moves && !places(keymap, action).is_empty()
}
