//! Commands about the list with the focus: its order, its marks, its saved queries.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::super::command::{Args, Command, Shape, Slot};
use super::super::super::effect::Effect;
use super::super::super::model::{Model, Pane};
use super::super::super::notices::Tone;
use super::super::super::table::{Item, Table};
use super::super::moves;
use crate::input::Action;
use crate::query::{Bits, Query};
use crate::text::plural;

/// The commands of this area.
pub(super) static COMMANDS: &[Command] = &[
    Command::new(
        "sort",
        &[Slot::needed(Shape::Order)],
        "order the list by these fields, one within the other; - turns one round",
        "sort risk,-age",
        sort,
    )
    .or(Action::Sort),
    Command::new(
        "mark",
        &[Slot::needed(Shape::Here)],
        "mark the shown rows that the query takes, beside those marked already",
        "mark risk>=high",
        |model, args, _| mark(model, args, true),
    )
    .or(Action::Mark)
    .off_when(unmarkable),
    Command::new(
        "unmark",
        &[Slot::optional(Shape::Here)],
        "take the marks off the rows that the query takes; without one, all of them",
        "unmark risk:info",
        |model, args, _| mark(model, args, false),
    ),
    Command::new("tab", &[Slot::needed(Shape::Tab)], "open a saved query of the findings", "tab High+", open_tab),
    Command::new(
        "tab save",
        &[Slot::needed(Shape::Text("NAME"))],
        "save the filter of the findings as a tab; a tab of this name gets the query",
        "tab save Worth a look",
        |model, args, effects| {
            model.save_tab(&args.text().unwrap_or_default(), effects)?;
            model.say(Tone::Good, "saved as a tab");
            Ok(())
        },
    )
    .off_when(|model| {
        model.lists.findings.filter.trim().is_empty().then(|| "the findings have no filter to save".to_owned())
    }),
    Command::new(
        "tab rename",
        &[Slot::needed(Shape::Text("NAME"))],
        "rename the tab opened last",
        "tab rename Later",
        |model, args, effects| model.rename_tab(&args.text().unwrap_or_default(), effects),
    ),
    Command::new(
        "tab delete",
        &[],
        "delete the tab opened last; the filter stays",
        "tab delete",
        |model, _, effects| {
            let gone = model.delete_tab(effects)?;
            model.say(Tone::Good, format!("the tab {} is gone; it was {}", gone.name, gone.query));
            Ok(())
        },
    ),
];

fn unmarkable(model: &Model) -> Option<String> {
    (model.focus.pane == Pane::Captures).then(|| "not here: captures are marked by hand".to_owned())
}

fn sort(model: &mut Model, args: &Args, _: &mut Vec<Effect>) -> Result<(), String> {
    let order = args.text().unwrap_or_default();
    model.set_order(model.focus.pane, &order).map_err(|error| error.to_string())?;
    model.say(Tone::Plain, format!("sorted by {order}"));
    Ok(())
}

fn open_tab(model: &mut Model, args: &Args, _: &mut Vec<Effect>) -> Result<(), String> {
    let name = args.text().unwrap_or_default();
    let at = model.tabs.saved.iter().position(|saved| saved.name.eq_ignore_ascii_case(&name));
    let at = at.ok_or_else(|| format!("there is no tab {name}"))?;
    moves::go(model, Pane::Findings);
    model.open_tab(at);
    Ok(())
}

/// Marks the shown rows that the query takes, or takes their marks off.
fn mark(model: &mut Model, args: &Args, on: bool) -> Result<(), String> {
    let pane = model.focus.pane;
    let Some(query) = args.query() else {
        model.cursor(pane).clear_marks();
        return Ok(());
    };
    if pane == Pane::Captures {
        return Err("captures are marked by hand, or all that a filter takes (*)".to_owned());
    }
    let taken = taken(model, pane, &query)?;
    let mut cursor = model.cursor(pane);
    let mut count = 0;
    for at in 0..cursor.len() {
        if cursor.is_marked(at) != on && cursor.id_at(at).is_some_and(|id| taken.contains(&id)) {
            cursor.mark(at, on);
            count += 1;
        }
    }
    drop(cursor);
    model.say(Tone::Plain, if on { format!("{count} marked") } else { format!("{} taken off", plural(count, "mark")) });
    Ok(())
}

/// Ids of the rows of a list that a query takes, shown or not.
pub(super) fn taken(model: &mut Model, pane: Pane, query: &str) -> Result<BTreeSet<i64>, String> {
    fn ids<T: Item>(table: Option<&Arc<Table<T>>>, rows: &Bits) -> BTreeSet<i64>
    where
        T::Id: Into<i64>,
    {
        let items = table.map(|table| table.items()).unwrap_or_default();
        rows.rows().filter_map(|row| items.get(row)).map(|item| item.id().into()).collect()
    }
    let query = Query::parse(query, pane.kind()).map_err(|error| error.to_string())?;
    let rows = model.ask_list(pane, |evaluator, source| evaluator.matches(&query, source));
    let rows = rows.ok_or_else(|| format!("{} are not known yet", pane.title()))?;
    let data = &model.data;
    Ok(match pane {
        Pane::Workspaces => ids(data.workspaces.value(), &rows),
        Pane::Targets => ids(data.targets.value(), &rows),
        Pane::Findings | Pane::Board => ids(data.findings.value(), &rows),
        Pane::Scans => ids(data.scans.value(), &rows),
        Pane::Loggers => ids(data.loggers.value(), &rows),
        Pane::Reports => ids(data.reports.value(), &rows),
        Pane::Wordlists => ids(data.wordlists.value(), &rows),
        Pane::Payloads => ids(data.payloads.value(), &rows),
        Pane::Captures => BTreeSet::new(),
    })
}
