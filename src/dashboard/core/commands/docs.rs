//! The commands told as Markdown, for `docs/commands.md` and the README.

use crate::dashboard::core::commands::table::all;
use crate::dashboard::palette::Command;

/// Words that stand for arguments.
const ARGUMENTS: &str = "\
Words in capitals stand for what is typed: `QUERY` is a query as in every filter, `NAME` a name, a part of it that only \
one has, or an id. What stands in brackets can be left out. A name can be written with blanks, `_` or `-`, and letters \
in order find it: `:fp` offers `false positive`.";

/// The whole page.
pub fn page() -> String {
    let mut page = String::from(
        "# Commands\n\nGenerated from the command tables in `src/dashboard` and from `assets/keymap.toml`; a test compares it.\n\n\
         `:` (or `ctrl-p`) opens the line. While it is typed it shows what could be meant, best first, with the key that \
         does the same; what is off just now stays visible with the reason. `tab` takes the first offer, `up` and `down` \
         walk the offers or, in an empty line, what was run before; `enter` runs, `esc` closes and keeps nothing.\n\n",
    );
    page += ARGUMENTS;
    page += "\n\n## With arguments\n\n";
    page += &table();
    page += "\n## Actions by name\n\nThe same as their keys, on what the keys would act on.\n\n";
    page += "| Command | What it does |\n|---|---|\n";
    for command in all().iter().filter(|command| command.run.is_none()) {
        page += &format!("| `:{}` | {} |\n", command.name, command.words);
    }
    page
}

/// The commands with arguments, as a table.
pub fn table() -> String {
    let mut table = String::from("| Command | What it does | Example |\n|---|---|---|\n");
    for command in all().iter().filter(|command| command.run.is_some()) {
        let example = command.example.replace('|', "\\|");
        table += &format!("| `{}` | {} | `:{example}` |\n", typed(command).replace('|', "\\|"), command.words);
    }
    table
}

/// `:findings [QUERY]`
pub fn typed(command: &Command) -> String {
    format!(":{} {}", command.name, command.shape()).trim_end().to_owned()
}
