//! Commands about the list with the focus: its order, its marks, its saved queries.

use crate::base::{Effect, Pane, Tone};
use crate::core::update::custom;
use crate::input::action::{Action, ListAction};
use crate::model::{Model, navigation};
use crate::palette::{Args, ArgumentShape, ArgumentSlot, Command};
use crate::prompts::{Prompt, Then};
use scandeck_wire::text::plural;

/// The commands of this area.
pub(crate) static COMMANDS: &[Command] = &[
    Command::new(
        "sort",
        &[ArgumentSlot::needed(ArgumentShape::Order)],
        "sort the list by these fields; - reverses one",
        "sort risk,-age",
        sort,
    )
    .or(Action::List(ListAction::Sort)),
    Command::new(
        "mark",
        &[ArgumentSlot::needed(ArgumentShape::Here)],
        "mark the shown rows that match the query, or this row",
        "mark risk>=high",
        |model, args, _| mark(model, args, true),
    )
    .or(Action::List(ListAction::Mark))
    .off_when(unmarkable),
    Command::new(
        "unmark",
        &[ArgumentSlot::optional(ArgumentShape::Here)],
        "unmark the rows that match the query; without a query, all rows",
        "unmark risk:info",
        |model, args, _| mark(model, args, false),
    ),
    Command::new(
        "run",
        &[ArgumentSlot::needed(ArgumentShape::Custom)],
        "run a [[commands]] program on the selected or marked rows",
        "run ticket",
        run_custom,
    ),
    Command::new(
        "tab",
        &[ArgumentSlot::needed(ArgumentShape::Tab)],
        "open a saved query of the findings",
        "tab High+",
        open_tab,
    ),
    Command::new(
        "tab save",
        &[ArgumentSlot::needed(ArgumentShape::Text("NAME"))],
        "save the filter of the findings as a tab of this name",
        "tab save Worth a look",
        |model, args, effects| {
            let name = args.text().unwrap_or_default();
            let is_replaced = model
                .settings
                .tabs
                .saved
                .iter()
                .any(|tab| *tab.name == *name.trim());
            model.save_tab(&name, effects)?;
            let done = if is_replaced { "replaced" } else { "saved" };
            model.notify(Tone::Good, format!("tab {} {done}", name.trim()));
            Ok(())
        },
    )
    .off_when(|model| {
        model
            .lists
            .findings
            .filter
            .trim()
            .is_empty()
            .then(|| "no filter to save".to_owned())
    }),
    Command::new(
        "tab rename",
        &[ArgumentSlot::needed(ArgumentShape::Text("NAME"))],
        "rename the current tab",
        "tab rename Later",
        |model, args, effects| {
            let name = args.text().unwrap_or_default();
            let former = model.rename_tab(&name, effects)?;
            model.notify(
                Tone::Good,
                format!("tab {former} renamed to {}", name.trim()),
            );
            Ok(())
        },
    ),
    Command::new(
        "tab delete",
        &[],
        "delete the current tab; the filter remains",
        "tab delete",
        |model, _, _| {
            let tab = model.chosen_tab()?;
            let prompt = Prompt::new(
                format!("Delete tab {}?", tab.name),
                Then::DeleteTab(tab.name.clone()),
            )
            .with_line(format!("Its query: {}. The filter remains.", tab.query));
            model.open_prompt(prompt);
            Ok(())
        },
    ),
];

fn unmarkable(model: &Model) -> Option<String> {
    (model.navigation.focus.pane == Pane::Captures)
        .then(|| "captures cannot be marked by query; filter them, then mark all".to_owned())
}

fn sort(model: &mut Model, args: &Args, _: &mut Vec<Effect>) -> Result<(), String> {
    let order = args.text().unwrap_or_default();
    model
        .set_order(model.navigation.focus.pane, &order)
        .map_err(|error| error.to_string())?;
    model.notify(Tone::Plain, format!("sorted by {order}"));
    Ok(())
}

fn run_custom(model: &mut Model, args: &Args, effects: &mut Vec<Effect>) -> Result<(), String> {
    let name = args.text().unwrap_or_default();
    let action = model
        .keyboard
        .keymap
        .custom(&name)
        .ok_or_else(|| format!("no command `{name}` in [[commands]] of the configuration"))?;
    match model.off(Action::Custom(action)) {
        Some(why) => Err(format!("{name} is {why}")),
        None => {
            custom::handle_custom(model, action, effects);
            Ok(())
        }
    }
}

fn open_tab(model: &mut Model, args: &Args, _: &mut Vec<Effect>) -> Result<(), String> {
    let name = args.text().unwrap_or_default();
    let at = model
        .settings
        .tabs
        .saved
        .iter()
        .position(|saved| saved.name.eq_ignore_ascii_case(&name));
    let at = at.ok_or_else(|| format!("tab `{name}` not found"))?;
    navigation::go(model, Pane::Findings);
    model.open_tab(at);
    Ok(())
}

/// Marks or unmarks the shown rows that match the query.
fn mark(model: &mut Model, args: &Args, on: bool) -> Result<(), String> {
    let pane = model.navigation.focus.pane;
    let Some(query) = args.query() else {
        model.cursor(pane).clear_marks();
        return Ok(());
    };
    if pane == Pane::Captures {
        return Err("captures cannot be marked by query; filter them, then mark all".to_owned());
    }
    let matching = model.ids_matching(pane, &query)?;
    let mut cursor = model.cursor(pane);
    let mut count = 0;
    for at in 0..cursor.len() {
        if cursor.is_marked(at) != on && cursor.id_at(at).is_some_and(|id| matching.contains(&id)) {
            cursor.mark(at, on);
            count += 1;
        }
    }
    drop(cursor);
    model.notify(
        Tone::Plain,
        format!(
            "{} {}",
            plural(count, "row"),
            if on { "marked" } else { "unmarked" }
        ),
    );
    Ok(())
}
