//! The actions on captures: compare two, and send one again.

use crate::base::{Call, CaptureUse, Effect, Job, Pane, Tab, Tone};
use crate::input::{Action, Context, ViewAction};
use crate::model::Model;
use crate::prompts::{Prompt, Then};
use scandeck_domain::oob::{CaptureRecord, Replay};
use scandeck_wire::text;

/// Compares two marked captures, else the selected one with the previous one of the same address or
/// payload.
pub(crate) fn compare(model: &mut Model) {
    let marked: Vec<_> = model
        .marked_captures()
        .iter()
        .map(|captured| captured.id())
        .collect();
    if let [_, later] = marked.as_slice()
        && !model
            .selected_capture()
            .is_some_and(|captured| marked.contains(&captured.id()))
        && let Some(at) = model.lists.captures.place(&model.data.captures, *later)
    {
        model.lists.captures.select_at(&model.data.captures, at);
    }
    if marked.len() > 2 {
        return model.notify(
            Tone::Plain,
            format!("{} captures marked: mark two to compare", marked.len()),
        );
    }
    match (
        model.selected_capture().is_some(),
        model.compared_capture().is_some(),
    ) {
        (false, _) => model.notify(Tone::Plain, "no captures yet: nothing to compare"),
        (true, false) => {
            model.notify(
                Tone::Plain,
                "no earlier capture from this address or with this payload: mark two",
            );
        }
        (true, true) => {
            model.navigation.focus.in_detail = true;
            model.detail.show_tab(Pane::Captures, Tab::Compare);
        }
    }
}

/// The refusal of a replay from another pane: its capture would not be on the screen.
pub(crate) fn no_capture_to_replay(model: &Model) -> String {
    let captures = model.key_label(Context::Everywhere, Action::View(ViewAction::Captures));
    format!("replay needs a selected capture · {captures} shows captures")
}

/// `:replay URL`: opens a prompt with method and URL, and sends the request on yes.
pub(crate) fn prompt_replay(
    model: &mut Model,
    url: &str,
    effects: &mut Vec<Effect>,
) -> Result<(), String> {
    if model.navigation.focus.pane != Pane::Captures {
        return Err(no_capture_to_replay(model));
    }
    let captured = model.selected_capture().ok_or("no capture selected")?;
    let record = model.record_of(captured);
    match model.must_read(
        CaptureUse::Replay(url.to_owned()),
        std::slice::from_ref(&record),
        effects,
    ) {
        true => Ok(()),
        false => prompt_replay_of(model, &record, url),
    }
}

/// Opens the prompt for this request.
pub(crate) fn prompt_replay_of(
    model: &mut Model,
    captured: &CaptureRecord,
    url: &str,
) -> Result<(), String> {
    let replay = match Replay::new(&captured.capture, url) {
        Ok(replay) => replay,
        Err(why) => {
            // The command stays in the line, so that it can be corrected.
            model.open_command_line(&format!("replay {url}"));
            return Err(why);
        }
    };
    let about = replay.to_string();
    let which = format!(
        "capture {} of logger {}",
        captured.capture.id,
        text::clean(&captured.label)
    );
    let jobs = vec![Job::new(about.clone(), Call::Replay(Box::new(replay)))];
    let prompt = Prompt::new(
        "Send this request again?",
        Then::Call {
            verb: "send again",
            jobs,
        },
    )
    .with_line(about)
    .with_line(which)
    .with_line("Sends headers and body as captured, with cookies and authorization.")
    .with_line("Uses path and query of the URL above. Follows no redirects.");
    model.open_prompt(prompt);
    Ok(())
}
