//! Editing the text of a field in `$VISUAL` or `$EDITOR`, through a private temporary file.

use crate::client::Problem;
use std::fs;
use tokio::process::Command;

/// The editor and its arguments, split at blanks; no shell is involved.
fn program(variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let named = ["VISUAL", "EDITOR"].iter().find_map(|name| variable(name).filter(|text| !text.trim().is_empty()));
    named.unwrap_or_else(|| "vi".to_owned()).split_whitespace().map(str::to_owned).collect()
}

/// Opens `text` in the editor and waits for its end. The terminal must have been restored before.
///
/// # Errors
/// When the editor cannot be started or fails, or its file cannot be read: the field then keeps its text.
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
    // The editor is killed when the dashboard ends: it must not write to a terminal that the shell uses again.
    let mut command = Command::new(editor);
    let status = command.args(arguments).arg(file.path()).kill_on_drop(true).status().await.map_err(|error| {
        local(&format!("{editor} cannot be started"), &error).with_hint("set EDITOR to an installed editor")
    })?;
    if !status.success() {
        return Err(Problem::local(format!("{editor} ended with {status}; text unchanged")));
    }
    let edited = fs::read_to_string(file.path()).map_err(|error| local("the edited text cannot be read", &error))?;
    // Editors add a line end to the last line.
    Ok(edited.strip_suffix('\n').unwrap_or(&edited).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[&str]) -> Vec<String> {
        text.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn editor_is_visual_then_editor_then_vi() {
        let named = |name: &str| match name {
            "EDITOR" => Some("nano -w".to_owned()),
            _ => None,
        };
        assert_eq!(program(named), ["nano", "-w"]);
        assert_eq!(program(|_| Some(" ".to_owned())), ["vi"]);
    }

    #[tokio::test]
    async fn edited_text_is_returned_and_failing_editor_is_error() {
        let upper = words(&["sed", "-i", "s/a/A\\nB/"]);
        assert_eq!(edit_with(&upper, "xax").await.unwrap(), "xA\nBx");
        assert!(edit_with(&words(&["false"]), "x").await.is_err());
        assert!(edit_with(&words(&["/nowhere/ed"]), "x").await.unwrap_err().hint.is_some());
    }
}
