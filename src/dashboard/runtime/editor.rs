//! A field's text in `$VISUAL` or `$EDITOR`: a private temporary file, the editor on the terminal, the text back.

use crate::client::Problem;
use std::fs;
use tokio::process::Command;

/// The program to start, split at blanks; no shell is involved.
fn program(variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let named = ["VISUAL", "EDITOR"].iter().find_map(|name| variable(name).filter(|text| !text.trim().is_empty()));
    named.unwrap_or_else(|| "vi".to_owned()).split_whitespace().map(str::to_owned).collect()
}

/// Opens `text` in the editor and waits for its end. The terminal must have been left before.
///
/// # Errors
/// When the editor cannot be started or fails, or its file cannot be read back: the field keeps its text then.
pub async fn edit(text: &str) -> Result<String, Problem> {
    let words = program(|name| std::env::var(name).ok());
    edit_with(&words, text).await
}

async fn edit_with(words: &[String], text: &str) -> Result<String, Problem> {
    let local = |what: &str, error: &dyn std::fmt::Display| Problem::local(format!("{what}: {error}"));
    let file = tempfile::Builder::new()
        .prefix("scandeck-")
        .suffix(".txt")
        .tempfile()
        .map_err(|error| local("no temporary file", &error))?;
    fs::write(file.path(), text).map_err(|error| local("no temporary file", &error))?;
    let Some((editor, arguments)) = words.split_first() else { return Err(Problem::local("EDITOR is empty")) };
    // Given up on when the dashboard has to end: the editor must not go on writing into a terminal that is no longer its.
    let mut command = Command::new(editor);
    let status = command.args(arguments).arg(file.path()).kill_on_drop(true).status().await.map_err(|error| {
        local(&format!("{editor} cannot be started"), &error).with_hint("set EDITOR to an editor of this machine")
    })?;
    if !status.success() {
        return Err(Problem::local(format!("{editor} ended with {status}; the text is as it was")));
    }
    let edited = fs::read_to_string(file.path()).map_err(|error| local("the edited text cannot be read", &error))?;
    // Editors end the last line; the field did not have that.
    Ok(edited.strip_suffix('\n').unwrap_or(&edited).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[&str]) -> Vec<String> {
        text.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn visual_goes_before_editor_and_vi_is_the_last_resort() {
        let named = |name: &str| match name {
            "EDITOR" => Some("nano -w".to_owned()),
            _ => None,
        };
        assert_eq!(program(named), ["nano", "-w"]);
        assert_eq!(program(|_| Some(" ".to_owned())), ["vi"]);
    }

    #[tokio::test]
    async fn the_text_goes_through_the_editor_and_a_failing_editor_changes_nothing() {
        let upper = words(&["sed", "-i", "s/a/A\\nB/"]);
        assert_eq!(edit_with(&upper, "xax").await.unwrap(), "xA\nBx");
        assert!(edit_with(&words(&["false"]), "x").await.is_err());
        assert!(edit_with(&words(&["/nowhere/ed"]), "x").await.unwrap_err().hint.is_some());
    }
}
