//! Programs that get the terminal: `$VISUAL` or `$EDITOR` for the text of a field, `$PAGER` for a
//! shown text. Both get it through a private temporary file.

use scandeck_domain::problem::Problem;
use scandeck_wire::input_files::{InputKind, read_text};
use std::fs;
use tempfile::NamedTempFile;
use tokio::process::Command;

/// The program of the first variable that is set, and its arguments; no shell is involved.
fn program(
    names: &[&str],
    default: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let named = names
        .iter()
        .find_map(|name| variable(name).filter(|text| !text.trim().is_empty()));
    split_words(&named.unwrap_or_else(|| default.to_owned()))
}

/// The words of a command, as a shell splits them: blanks separate words, quotes and backslashes
/// protect blanks. A quote without its end reaches to the end.
fn split_words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None::<char>);
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (' ' | '\t' | '\n', None) => words.extend(word.take()),
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (_, Some(open)) if letter == open => quote = None,
            ('\\', None) => word.get_or_insert_default().extend(letters.next()),
            ('\\', Some('"')) => {
                let next = letters.next();
                let is_protected = matches!(next, Some('"' | '\\'));
                word.get_or_insert_default()
                    .extend((!is_protected).then_some(letter).into_iter().chain(next));
            }
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// Opens `text` in the editor and waits for its end. The terminal must have been restored before.
///
/// # Errors
/// When the editor cannot be started or fails, or its file cannot be read: the field then keeps its
/// text.
pub async fn edit(text: &str) -> Result<String, Problem> {
    let words = program(&["VISUAL", "EDITOR"], "vi", |name| std::env::var(name).ok());
    edit_with(&words, text).await
}

/// Shows `text` in the pager and waits for its end. The terminal must have been restored before.
///
/// # Errors
/// When the pager cannot be started or fails.
pub async fn page(text: &str) -> Result<(), Problem> {
    let words = program(&["PAGER"], "less", |name| std::env::var(name).ok());
    run_on_file(&words, text, "$PAGER", "").await.map(drop)
}

async fn edit_with(words: &[String], text: &str) -> Result<String, Problem> {
    let file = run_on_file(words, text, "$VISUAL or $EDITOR", "; text unchanged").await?;
    let edited = read_text(file.path(), InputKind::Parameters)
        .map_err(|error| Problem::local(format!("the edited text cannot be read: {error}")))?;
    // Editors add a line end to the last line.
    Ok(edited.strip_suffix('\n').unwrap_or(&edited).to_owned())
}

/// Runs the program of a variable on a file with this text. Returns the file after its end. `note`
/// ends the message about its failure.
async fn run_on_file(
    words: &[String],
    text: &str,
    variable: &str,
    note: &str,
) -> Result<NamedTempFile, Problem> {
    let local = |what: &str, error: &std::io::Error| {
        // Without the number of the operating system: `(os error 2)`.
        let cause = error.to_string();
        Problem::local(format!(
            "{what}: {}",
            cause.split(" (os error").next().unwrap_or_default()
        ))
    };
    let file = tempfile::Builder::new()
        .prefix("scandeck-")
        .suffix(".txt")
        .tempfile()
        .map_err(|error| local("no temporary file", &error))?;
    fs::write(file.path(), text).map_err(|error| local("no temporary file", &error))?;
    let Some((program, arguments)) = words.split_first() else {
        return Err(Problem::local(format!("no program in {variable}")));
    };
    // The program is killed when the dashboard ends: it must not write to a terminal that the shell
    // uses again.
    let mut command = Command::new(program);
    let status = command
        .args(arguments)
        .arg(file.path())
        .kill_on_drop(true)
        .status()
        .await;
    let hint = || format!("set {variable} to an installed program");
    let status = status.map_err(|error| {
        local(&format!("{program} cannot be started"), &error).with_hint(hint())
    })?;
    match status.success() {
        true => Ok(file),
        false => Err(Problem::local(format!(
            "{program} ended with {status}{note}"
        ))),
    }
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
        assert_eq!(program(&["VISUAL", "EDITOR"], "vi", named), ["nano", "-w"]);
        assert_eq!(
            program(&["VISUAL", "EDITOR"], "vi", |_| Some(" ".to_owned())),
            ["vi"]
        );
        assert_eq!(program(&["PAGER"], "less", named), ["less"]);
    }

    #[test]
    fn quoted_arguments_of_editor_are_one_word() {
        for (command, expected) in [
            (r#"vim -c "set tw=0""#, &["vim", "-c", "set tw=0"][..]),
            (
                r"'/opt/my editor/ed' --wait",
                &["/opt/my editor/ed", "--wait"],
            ),
            (r"/opt/my\ editor/ed  -n", &["/opt/my editor/ed", "-n"]),
            (
                r#"emacsclient -t -a '' "a\"b""#,
                &["emacsclient", "-t", "-a", "", "a\"b"],
            ),
            (r#"ed "C:\new""#, &["ed", r"C:\new"]),
            (
                r#"code --wait "unfinished arg"#,
                &["code", "--wait", "unfinished arg"],
            ),
        ] {
            assert_eq!(split_words(command), expected, "{command}");
        }
    }

    #[tokio::test]
    async fn edited_text_is_returned_and_failing_editor_is_error() {
        let upper = words(&["sed", "-i", "s/a/A\\nB/"]);
        assert_eq!(edit_with(&upper, "xax").await.unwrap(), "xA\nBx");
        assert!(edit_with(&words(&["false"]), "x").await.is_err());
        assert!(
            edit_with(&words(&["/nowhere/ed"]), "x")
                .await
                .unwrap_err()
                .hint
                .is_some()
        );
    }
}
