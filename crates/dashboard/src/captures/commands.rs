//! The commands for captures: export and replay.

use crate::base::{Batch, Call, Effect, ExportedCaptures, Job};
use crate::captures::keys::prompt_replay;
use crate::input::{Action, ItemAction};
use crate::list::CaptureExport;
use crate::model::Model;
use crate::palette::{Args, ArgumentShape, ArgumentSlot, Command};
use scandeck_domain::oob::{CaptureFormat, CaptureRecord};
use scandeck_domain::query::{Query, QueryKind, query_of};
use scandeck_wire::text::file_name;

pub(crate) static COMMANDS: &[Command] = &[
    Command::new(
        "export captures",
        &[
            ArgumentSlot::needed(ArgumentShape::Choice(CaptureFormat::NAMES, "FORMAT")),
            ArgumentSlot::optional(ArgumentShape::Query(QueryKind::Captures)),
            ArgumentSlot::after("to", ArgumentShape::Text("FILE")),
        ],
        "export captures of the query, else marked or shown ones",
        "export captures har method:GET to hits.har",
        export,
    ),
    Command::new(
        "replay",
        &[ArgumentSlot::needed(ArgumentShape::Text("URL"))],
        "send the selected capture again to this URL",
        "replay https://shop.acme.test/search",
        |model, args, effects| prompt_replay(model, &args.text().unwrap_or_default(), effects),
    )
    .or(Action::Item(ItemAction::Replay)),
    Command::new(
        "unattributed",
        &[],
        "show requests that match no logger",
        "unattributed",
        |model, _, effects| {
            let job = Job::new("Unattributed requests", Call::UnattributedRequests);
            model.begin(Batch::new("read", None, vec![job]), effects);
            Ok(())
        },
    ),
];

/// Captures of a query are collected in chunks; marked captures are exported at once.
fn export(model: &mut Model, args: &Args, effects: &mut Vec<Effect>) -> Result<(), String> {
    let format = args
        .choice()
        .and_then(CaptureFormat::named)
        .ok_or("format is missing")?;
    let marked: Vec<CaptureRecord> = model
        .marked_captures()
        .into_iter()
        .map(|captured| model.record_of(captured))
        .collect();
    let workspace = model
        .workspace()
        .map(|workspace| workspace.name.to_string())
        .unwrap_or_default();
    let name = args
        .text()
        .unwrap_or_else(|| file_name(&format!("captures-{workspace}.{format}")));
    let exported = ExportedCaptures {
        name,
        format,
        sent: marked,
        mask: None,
    };
    let gathering = match args.query() {
        Some(query) => CaptureExport::new(
            Query::parse(&query, QueryKind::Captures).map_err(|error| error.to_string())?,
            None,
        ),
        None if exported.sent.is_empty() => CaptureExport::new(
            query_of(&model.lists.captures.filter, QueryKind::Captures),
            model.navigation.scope.logger,
        ),
        None => {
            effects.push(Effect::ExportCaptures(Box::new(exported)));
            return Ok(());
        }
    };
    model.captures.exports.push_back((exported, gathering));
    model.gather(effects);
    Ok(())
}
