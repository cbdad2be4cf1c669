//! Commands of the configuration: the variables that a command gets, and its end.
//!
//! ```text
//!   key ─► texts and bodies in memory? ─► variables, JSON ─► Effect::Run ─► Msg::CommandEnded ─► text or notice
//!                └ otherwise read them, then ─┘
//! ```

use crate::base::{CaptureUse, CommandRun, Effect, FindingUse, Pane, Tone};
use crate::config::file::CommandOutput;
use crate::core::update::copies;
use crate::data::ReadFinding;
use crate::input::CustomAction;
use crate::model::{Modal, Model, TextBox};
use scandeck_domain::oob::{CaptureRecord, out};
use scandeck_domain::problem::Problem;
use scandeck_wire::contract::TargetId;
use scandeck_wire::text::{self, clean, plural};
use serde_json::{Value, json};

/// Runs a command on the selected row, or on the marked rows.
pub(crate) fn handle_custom(model: &mut Model, action: CustomAction, effects: &mut Vec<Effect>) {
    if let Some(why) = model.header_wait_notice() {
        return model.notify(Tone::Plain, why);
    }
    let pane = model.navigation.focus.pane;
    match pane {
        Pane::Captures => {
            let chosen = model.chosen_captures();
            if !model.must_read(CaptureUse::Run(action), &chosen, effects) {
                run_on_captures(model, action, &chosen, effects);
            }
        }
        Pane::Findings | Pane::Board => {
            let chosen = copies::chosen_findings(model);
            if !model.must_read_findings(FindingUse::Run(action), &chosen, effects) {
                run_on_rows(model, action, effects);
            }
        }
        _ => run_on_rows(model, action, effects),
    }
}

fn run_on_rows(model: &mut Model, action: CustomAction, effects: &mut Vec<Effect>) {
    let pane = model.navigation.focus.pane;
    let ids = model.chosen(pane).ids;
    let items = ids
        .iter()
        .filter_map(|&id| copies::value(model, pane, id))
        .collect();
    run(model, action, items, effects);
}

/// Runs a command on findings whose texts were read.
pub(crate) fn run_on_findings(
    model: &mut Model,
    action: CustomAction,
    read: &[ReadFinding],
    effects: &mut Vec<Effect>,
) {
    run(model, action, copies::finding_values(read), effects);
}

/// Runs a command on captures whose bodies were read.
pub(crate) fn run_on_captures(
    model: &mut Model,
    action: CustomAction,
    chosen: &[CaptureRecord],
    effects: &mut Vec<Effect>,
) {
    run(
        model,
        action,
        chosen.iter().map(out::value).collect(),
        effects,
    );
}

fn run(model: &mut Model, action: CustomAction, items: Vec<Value>, effects: &mut Vec<Effect>) {
    let pane = model.navigation.focus.pane;
    let of_first = |fields: [&str; 2]| -> String {
        let found = fields.iter().find_map(|field| items.first()?.get(field));
        match found {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        }
    };
    let ids: Vec<String> = items
        .iter()
        .filter_map(|item| Some(item.get("id")?.to_string()))
        .collect();
    let target = target_of(model, &items)
        .and_then(|id| model.target_name(id))
        .map(ToString::to_string);
    let variables = [
        ("LIST", copies::noun(pane)),
        ("ID", of_first(["id", "token"])),
        ("IDS", ids.join(" ")),
        ("NAME", of_first(["name", "label"])),
        ("TARGET", target.unwrap_or_default()),
        ("WORKSPACE", model.workspace_name().to_string()),
        ("SERVICE", model.session.name.clone()),
    ];
    let named = variables
        .iter()
        .filter(|(name, _)| !matches!(*name, "ID" | "IDS" | "NAME"));
    let mut input: serde_json::Map<String, Value> = named
        .map(|(name, value)| (name.to_lowercase(), json!(value)))
        .collect();
    input.insert("items".to_owned(), Value::Array(items));
    let input = format!(
        "{}\n",
        text::escaped_json(&Value::Object(input).to_string())
    );
    let variables = variables
        .into_iter()
        .map(|(name, value)| (name, clean(&value).into_owned()))
        .collect();
    model.notify(Tone::Plain, running(action));
    effects.push(Effect::Run(Box::new(CommandRun {
        action,
        variables,
        input,
        is_masked: false,
    })));
}

/// The target that all rows share. A capture names none, its payload does.
fn target_of(model: &Model, items: &[Value]) -> Option<TargetId> {
    let field = match model.navigation.focus.pane {
        Pane::Targets => "id",
        Pane::Findings | Pane::Board | Pane::Scans => "target_id",
        _ => return model.target_at_hand(),
    };
    let mut targets = items
        .iter()
        .map(|item| item.get(field).and_then(Value::as_i64));
    let first = targets.next()??;
    targets
        .all(|other| other == Some(first))
        .then_some(TargetId(first))
}

/// The notice at the start of a command.
fn running(action: CustomAction) -> String {
    format!("{} is running", action.command().name)
}

/// A command ended with its output, or failed.
pub(crate) fn handle_ended(
    model: &mut Model,
    action: CustomAction,
    result: Result<String, Problem>,
) {
    let command = action.command();
    model.overlay.notices.remove(&running(action));
    match result {
        Err(problem) => model.notify_problem(&format!("{} failed", command.name), &problem),
        Ok(output) if command.output == CommandOutput::Background || output.trim().is_empty() => {
            let lines = output
                .lines()
                .filter(|line| !line.trim().is_empty())
                .count();
            let printed = if lines > 0 {
                format!(", {} printed", plural(lines, "line"))
            } else {
                String::new()
            };
            model.notify(Tone::Good, format!("{} done{printed}", command.name));
        }
        // Below an open form or prompt, which keeps the keys.
        Ok(body) => {
            let shown = TextBox {
                title: command.name.clone(),
                body,
                scroll: 0,
            };
            model.overlay.modals.insert(0, Modal::Text(shown));
        }
    }
}
