//! Commands about captured requests: out into a file, and sent again.

use super::super::super::command::{Args, Command, Shape, Slot};
use super::super::super::effect::{Effect, ExportedCaptures};
use super::super::super::model::Model;
use super::super::super::rows::query_of;
use super::super::super::stream::Gathering;
use super::super::captures::ask_replay;
use crate::input::Action;
use crate::oob::out::{Format, Sent};
use crate::query::{Kind, Query};
use crate::text::file_name;

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

/// What the query takes is gathered in pieces; the marked ones are at hand.
fn export(model: &mut Model, args: &Args, effects: &mut Vec<Effect>) -> Result<(), String> {
    let format = args.choice().and_then(Format::named).ok_or("which format?")?;
    let marked: Vec<Sent> = model.marked_captures().into_iter().map(|caught| model.sent(caught)).collect();
    let workspace = model.workspace().map(|workspace| workspace.name.to_string()).unwrap_or_default();
    let name = args.text().unwrap_or_else(|| file_name(&format!("captures-{workspace}.{}", format.ending())));
    let exported = ExportedCaptures { name, format, sent: marked };
    let gathering = match args.query() {
        Some(query) => Gathering::new(Query::parse(&query, Kind::Captures).map_err(|error| error.to_string())?, None),
        None if exported.sent.is_empty() => {
            Gathering::new(query_of(&model.lists.captures.filter, Kind::Captures), model.scope.logger)
        }
        None => {
            effects.push(Effect::ExportCaptures(Box::new(exported)));
            return Ok(());
        }
    };
    model.exports.push_back((exported, gathering));
    model.gather(effects);
    Ok(())
}
