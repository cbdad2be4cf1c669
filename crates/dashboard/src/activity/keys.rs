//! Keys of the activity view, and the calls that it shows.

use crate::base::{Effect, Pane, Tone};
use crate::data::RecordedCalls;
use crate::input::{Action, ItemAction};
use crate::model::Model;
use scandeck_client::calls::ApiCall;
use scandeck_wire::contract::Stamp;
use scandeck_wire::contract::scan::HIDDEN;
use scandeck_wire::text::{plural, quoted};

/// Calls began or ended.
pub(crate) fn handle_calls(model: &mut Model, recorded: RecordedCalls) {
    let RecordedCalls {
        table,
        budget,
        memory,
    } = recorded;
    model.calls.memory = memory;
    if budget.is_some() {
        model.connection.budget = budget;
    }
    // The selection follows the newest call until it leaves the first row.
    let list = &mut model.lists.calls;
    list.held &= list.at > 0 || model.navigation.focus.in_detail;
    model.data.calls.succeed(table, Stamp(model.now.wall));
}

/// `x`: cancels the chosen calls that are in flight.
pub(crate) fn cancel(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.navigation.focus.pane != Pane::Activity {
        return model.notify_no_effect(Action::Item(ItemAction::CancelCall));
    }
    let chosen = model.chosen(Pane::Activity);
    let running: Vec<_> = model
        .items_of::<ApiCall>(&chosen.ids)
        .filter(|call| call.end.is_none())
        .collect();
    let cancelled: Vec<Effect> = running
        .iter()
        .map(|call| Effect::CancelCall(call.id))
        .collect();
    let notice = match running.as_slice() {
        [] if !chosen.hidden.is_empty() => {
            "marked requests are hidden by the filter; :unmark removes the marks".to_owned()
        }
        [] if chosen.ids.is_empty() => "nothing selected".to_owned(),
        [] if chosen.ids.len() > 1 => {
            "all marked requests have already ended · nothing to cancel".to_owned()
        }
        [] => "request has already ended · nothing to cancel".to_owned(),
        [call] => format!("cancelling {} {}", call.method, call.path),
        many => format!("cancelling {}", plural(many.len(), "request")),
    };
    model.notify(Tone::Plain, notice);
    effects.extend(cancelled);
}

/// The selected call as curl, with the key from the environment. A notice says what the command
/// lacks.
pub(crate) fn curl(model: &mut Model) -> Option<String> {
    let call = model.selected_item::<ApiCall>()?.clone();
    let mut words = vec!["curl".to_owned()];
    if call.method != "GET" {
        words.push(format!("-X {}", quoted(call.method.as_str())));
    }
    words.push(
        "-H 'accept: application/json' -H \"authorization: Bearer $SCANDECK_API_KEY\"".to_owned(),
    );
    if let Some(body) = &call.body {
        words.push(format!(
            "-H {}",
            quoted(format!("content-type: {}", body.content_type))
        ));
        match &body.text {
            Some(text) => words.push(format!("--data-raw {}", quoted(text.as_str()))),
            None => model.notify(Tone::Bad, "body too long: not in the copied command"),
        }
        if body.text.as_ref().is_some_and(|text| text.contains(HIDDEN)) {
            model.notify(
                Tone::Plain,
                format!("secrets of the body are {HIDDEN} in the copied command"),
            );
        }
    }
    words.push(quoted(url(model, &call)));
    Some(words.join(" "))
}

/// The URL of a call.
pub(crate) fn url(model: &Model, call: &ApiCall) -> String {
    format!(
        "{}{}",
        model.session.base_url.trim_end_matches('/'),
        call.path
    )
}
