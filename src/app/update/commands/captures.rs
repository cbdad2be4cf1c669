//! Commands about captured requests: out into a file, and sent again.

use super::super::super::command::{Args, Command, Shape, Slot};
use super::super::super::effect::{Effect, ExportedCaptures};
use super::super::super::model::{Model, Pane};
use super::super::captures::ask_replay;
use crate::input::Action;
use crate::oob::out::{Format, Sent};
use crate::query::{Kind, Query};

/// The commands of this area.
pub(super) static COMMANDS: &[Command] = &[
    Command::new(
        "export captures",
        &[
            Slot::needed(Shape::Choice(Format::NAMES, "FORMAT")),
            Slot::optional(Shape::Query(Kind::Captures)),
            Slot::after("to", Shape::Text("FILE")),
        ],
        "write captured requests to a file: what the query takes, else the marked ones, else those shown",
        "export captures har method:GET to hits.har",
        export,
    ),
    Command::new(
        "replay",
        &[Slot::needed(Shape::Text("URL"))],
        "send the selected captured request again, to this URL and no other, after a prompt",
        "replay https://shop.acme.test/search",
        |model, args, _| ask_replay(model, &args.text().unwrap_or_default()),
    )
    .or(Action::Replay),
];

fn export(model: &mut Model, args: &Args, effects: &mut Vec<Effect>) -> Result<(), String> {
    let format = args.choice().and_then(Format::named).ok_or("which format?")?;
    let sent = chosen(model, args.query())?;
    if sent.is_empty() {
        return Err("there is no captured request to export".to_owned());
    }
    let workspace = model.workspace().map(|workspace| workspace.name.to_string()).unwrap_or_default();
    let name = args.text().unwrap_or_else(|| format!("captures-{workspace}.{}", format.ending()));
    effects.push(Effect::ExportCaptures(Box::new(ExportedCaptures { name, format, sent })));
    Ok(())
}

/// In the order of time.
fn chosen(model: &mut Model, query: Option<String>) -> Result<Vec<Sent>, String> {
    if let Some(query) = query {
        let query = Query::parse(&query, Kind::Captures).map_err(|error| error.to_string())?;
        let taken = model.ask_list(Pane::Captures, |evaluator, source| evaluator.matches(&query, source));
        let taken = taken.ok_or("the captures are not known yet")?;
        let caught = taken.rows().filter_map(|row| model.data.captures.caught.get(row));
        return Ok(caught.map(|caught| model.sent(caught)).collect());
    }
    let marked = model.marked_captures();
    let shown = model.lists.captures.all(&model.data.captures);
    let chosen = if marked.is_empty() { shown.collect() } else { marked };
    Ok(chosen.into_iter().map(|caught| model.sent(caught)).collect())
}
