//! Keys on captures: two beside each other, and one sent again.

use crate::dashboard::base::{Call, Job, Pane, Tab, Tone};
use crate::dashboard::model::Model;
use crate::dashboard::prompts::{Prompt, Then};
use crate::oob::Replay;
use crate::text;

/// `d`: two marked ones, else the one at hand with the one before it from the same address or payload.
pub(crate) fn compare(model: &mut Model) {
    let marked: Vec<_> = model.marked_captures().iter().map(|caught| caught.id()).collect();
    if let [_, later] = marked.as_slice()
        && !model.selected_capture().is_some_and(|caught| marked.contains(&caught.id()))
        && let Some(at) = model.lists.captures.place(&model.data.captures, *later)
    {
        model.lists.captures.select_at(&model.data.captures, at);
    }
    if marked.len() > 2 {
        return model.say(Tone::Plain, format!("{} are marked: two can be compared", marked.len()));
    }
    match (model.selected_capture().is_some(), model.compared_capture().is_some()) {
        (false, _) => model.say(Tone::Plain, "nothing is selected here"),
        (true, false) => {
            model.say(Tone::Plain, "nothing before it came from the same address or payload: mark two to compare them");
        }
        (true, true) => {
            model.navigation.focus.in_detail = true;
            model.detail.show_tab(Pane::Captures, Tab::Compare);
        }
    }
}

/// `:replay URL`: asks, naming method and URL, and sends on yes.
pub(crate) fn ask_replay(model: &mut Model, url: &str) -> Result<(), String> {
    let caught = model.selected_capture().ok_or("there is no captured request yet: 5 shows them")?;
    let replay = match Replay::new(&caught.capture, url) {
        Ok(replay) => replay,
        Err(why) => {
            // What was typed is there to be mended.
            model.open_command_line(&format!("replay {url}"));
            return Err(why);
        }
    };
    let about = replay.to_string();
    let which = format!("It is capture {} of {}.", caught.capture.id, text::clean(&caught.label));
    let jobs = vec![Job::new(about.clone(), Call::Replay(Box::new(replay)))];
    let prompt = Prompt::new("Send this request again?", Then::Call { verb: "send again", jobs })
        .with_line(about)
        .with_line(which)
        .with_line("Headers and body go as they were captured, cookies and authorization too.")
        .with_line("Path and query are those that were typed; no redirect is followed.");
    model.open_prompt(prompt);
    Ok(())
}
