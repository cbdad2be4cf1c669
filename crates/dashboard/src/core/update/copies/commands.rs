//! Commands that read a row or show a view: curl, and those of this program.

use super::urls::api_path;
use super::{copy_exact, noun};
use crate::activity::keys as activity;
use crate::base::{Effect, Pane, Tone};
use crate::model::Model;
use scandeck_domain::oob::{CaptureRecord, out};
use scandeck_domain::problem::Problem;
use scandeck_wire::text::quoted;
use std::path::PathBuf;

/// The API call that reads the selected row, with the key from the environment.
pub(super) fn curl(model: &mut Model) -> Option<String> {
    if model.navigation.focus.pane == Pane::Activity {
        return activity::curl(model);
    }
    let url = format!(
        "{}{}",
        model.session.base_url.trim_end_matches('/'),
        api_path(model)?
    );
    let url = quoted(&url);
    Some(format!(
        "curl -H 'accept: application/json' -H \"authorization: Bearer $SCANDECK_API_KEY\" {url}"
    ))
}

/// A captured request as curl. A body that is not plain text is saved first, and the command names
/// its file.
pub(super) fn copy_captured(model: &mut Model, sent: CaptureRecord, effects: &mut Vec<Effect>) {
    let marked = model.lists.captures.marks().len();
    if marked > 1 {
        model.notify(
            Tone::Plain,
            format!(
                "curl command of the selected request copied, not of the {marked} marked requests"
            ),
        );
    }
    if !sent.request_url().path_known {
        model.notify(
            Tone::Plain,
            "path not reported by the service; copied with the logger's path",
        );
    }
    effects.push(match out::body_file(&sent) {
        Some(name) => Effect::SaveBody {
            name,
            sent: Box::new(sent),
            mask: None,
        },
        None => copy_exact("curl command", out::curl(&sent, None)),
    });
}

/// The body of a captured request was saved, or not: without it the command would send another
/// request.
pub(crate) fn handle_body_saved(
    model: &mut Model,
    sent: &CaptureRecord,
    saved: Result<PathBuf, Problem>,
    effects: &mut Vec<Effect>,
) {
    match saved {
        Ok(path) => {
            let file = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            effects.push(copy_exact("curl command", out::curl(sent, file.as_deref())));
            model.notify(Tone::Good, format!("body saved to {}", path.display()));
        }
        Err(problem) => model.notify_problem("body not saved", &problem),
    }
}

/// The text for the notice, and the command that shows this view: a headless command if there is
/// one, else `scandeck`.
pub(super) fn command(model: &mut Model) -> (String, String) {
    let mut words = vec!["scandeck".to_owned()];
    let headless = headless(model);
    let what = match &headless {
        Some(_) => "command of this view",
        None => "no command prints these rows; dashboard command",
    };
    words.extend(headless.iter().flat_map(|(words, _)| words).cloned());
    let session = &model.session;
    words.extend(session.service_flags.iter().map(|word| word_quoted(word)));
    // A command finds the local service, or the service of its profile, without --base-url.
    let is_found =
        session.starts_service || session.service_flags.iter().any(|flag| flag == "--profile");
    if !is_found && !session.base_url.is_empty() {
        words.extend(["--base-url".to_owned(), quoted(&session.base_url)]);
    }
    if let Some(workspace) = model.workspace() {
        words.extend(["--workspace".to_owned(), quoted(workspace.name.as_str())]);
    }
    if let Some(query) = headless
        .map(|(_, query)| query)
        .filter(|query| !query.is_empty())
    {
        words.extend(["--query".to_owned(), quoted(&query)]);
    }
    (what.to_owned(), words.join(" "))
}

/// A word of a command line, in quotes where a shell would change it.
fn word_quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        quoted(word)
    }
}

/// The headless command that lists the shown rows, and its query.
fn headless(model: &mut Model) -> Option<(Vec<String>, String)> {
    let pane = model.navigation.focus.pane;
    if matches!(pane, Pane::Board | Pane::Activity) {
        return None;
    }
    let command = |verb: &str| vec![noun(pane), verb.to_owned()];
    if model.navigation.focus.in_detail && matches!(pane, Pane::Findings | Pane::Scans) {
        let id = model.service_id(pane, model.selected_id(pane)?);
        return Some((
            [command("show"), vec![id.to_string()]].concat(),
            String::new(),
        ));
    }
    if pane == Pane::Captures {
        return Some(headless_captures(model));
    }
    if pane == Pane::Findings {
        return Some((command("list"), model.query_of_findings()));
    }
    let filter = model.cursor(pane).filter().0.trim().to_owned();
    // Headless commands of the other lists take no query.
    let whole =
        filter.is_empty() && (pane != Pane::Scans || model.navigation.scope.target.is_none());
    whole.then(|| (command("list"), String::new()))
}

/// The headless command of the shown captures, and its query.
fn headless_captures(model: &mut Model) -> (Vec<String>, String) {
    let selected = model
        .lists
        .captures
        .selected
        .filter(|_| model.navigation.focus.in_detail);
    let logger = selected
        .map(|key| key.logger)
        .or(model.navigation.scope.logger);
    let of_logger = logger
        .iter()
        .flat_map(|id| ["--logger".to_owned(), id.to_string()]);
    match selected {
        Some(key) => {
            let show = [
                "captures".to_owned(),
                "show".to_owned(),
                key.capture.to_string(),
            ];
            (show.into_iter().chain(of_logger).collect(), String::new())
        }
        None => {
            let list = ["captures".to_owned(), "list".to_owned()];
            let query = model.cursor(Pane::Captures).filter().0.trim().to_owned();
            (list.into_iter().chain(of_logger).collect(), query)
        }
    }
}
