//! Commands that show something: the views with a query, and single workspaces, targets, scans,
//! findings.

use crate::base::{AUTO, Effect, Pane, Plot, PlotBox, Scope, Tone};
use crate::core::update::links;
use crate::input::action::{Action, ViewAction};
use crate::model::{Modal, Model, navigation};
use crate::palette::{Args, ArgumentShape, ArgumentSlot, Command};
use scandeck_domain::query::QueryKind;

/// A view with a query.
macro_rules! view {
    ($name:literal, $pane:ident, $words:expr, $example:literal) => {
        Command::new(
            $name,
            &[ArgumentSlot::optional(ArgumentShape::Query(
                QueryKind::$pane,
            ))],
            $words,
            $example,
            |model, args, _| show(model, Pane::$pane, args),
        )
    };
}

/// A view that has a key of its own.
macro_rules! numbered_view {
    ($name:literal, $pane:ident, $example:literal) => {
        view!(
            $name,
            $pane,
            concat!("go to ", stringify!($pane), "; QUERY filters the list"),
            $example
        )
        .or(Action::View(ViewAction::$pane))
    };
}

const SWITCH: &[&str] = &["on", "off"];

/// The commands of this area.
pub(crate) static COMMANDS: &[Command] = &[
    numbered_view!("findings", Findings, "findings risk>=high"),
    numbered_view!("scans", Scans, "scans status:running"),
    numbered_view!("targets", Targets, "targets risk>=high"),
    numbered_view!("workspaces", Workspaces, "workspaces acme"),
    numbered_view!("captures", Captures, "captures method:POST"),
    view!(
        "loggers",
        Loggers,
        "go to the loggers; QUERY filters the list",
        "loggers label:probe"
    ),
    numbered_view!("reports", Reports, "reports format:html"),
    numbered_view!("wordlists", Wordlists, "wordlists words>100"),
    numbered_view!("schedules", Schedules, "schedules next<12h"),
    numbered_view!("activity", Activity, "activity is:failed"),
    Command::new(
        "workspace",
        &[ArgumentSlot::needed(ArgumentShape::Workspace)],
        "switch to this workspace",
        "workspace Acme",
        workspace,
    ),
    Command::new(
        "target",
        &[ArgumentSlot::needed(ArgumentShape::Target)],
        "show the findings of this target only",
        "target t1.acme.test",
        target,
    ),
    Command::new(
        "logger",
        &[ArgumentSlot::needed(ArgumentShape::Logger)],
        "show the captures of this logger only",
        "logger probe",
        logger,
    ),
    Command::new(
        "scan",
        &[ArgumentSlot::needed(ArgumentShape::Scan)],
        "open this scan",
        "scan 1",
        scan,
    ),
    Command::new(
        "finding",
        &[ArgumentSlot::needed(ArgumentShape::Finding)],
        "open the finding with this id or name",
        "finding private key",
        |model, args, _| open(model, Pane::Findings, args.finding().map(|id| id.0)),
    ),
    Command::new(
        "mouse",
        &[ArgumentSlot::optional(ArgumentShape::Choice(
            SWITCH, "on|off",
        ))],
        "turn the mouse on or off",
        "mouse on",
        |model, args, effects| {
            let is_on = args
                .choice()
                .map_or(!model.screen.mouse.is_on, |word| word == "on");
            model.switch_mouse(is_on, effects);
            Ok(())
        },
    ),
    Command::new(
        "plot",
        &[ArgumentSlot::optional(ArgumentShape::Choice(
            &Plot::NAMES,
            "NAME",
        ))],
        "show a plot: findings, decisions, captures, heatmap, or progress (of the selected scan)",
        "plot heatmap",
        |model, args, _| {
            let is_of_scans = model.navigation.focus.pane == Pane::Scans;
            let first = if is_of_scans {
                Plot::Progress
            } else {
                Plot::Findings
            };
            let plot = args.choice().and_then(Plot::named).unwrap_or(first);
            model.overlay.modals.push(Modal::Plot(PlotBox::new(plot)));
            Ok(())
        },
    ),
    Command::new(
        "theme",
        &[ArgumentSlot::needed(ArgumentShape::Theme)],
        "use this theme until scandeck quits; moving through the names previews them",
        "theme deuteranopia",
        |model, args, _| {
            let theme = args.text().unwrap_or_else(|| AUTO.to_owned());
            let setting = format!("to keep it, set theme = \"{theme}\" in config.toml");
            model.notify(
                Tone::Plain,
                format!("theme {theme} until scandeck quits · {setting}"),
            );
            model.screen.theme = theme;
            model.warn_of_contrast();
            Ok(())
        },
    ),
    Command::new(
        "mask",
        &[ArgumentSlot::optional(ArgumentShape::Choice(
            SWITCH, "on|off",
        ))],
        "mask hosts, addresses, names and tokens on the screen, in copies and files",
        "mask on",
        |model, args, _| {
            let is_on = args
                .choice()
                .map_or(model.mask().is_none(), |word| word == "on");
            model.switch_mask(is_on);
            Ok(())
        },
    ),
];

/// Goes to a list and filters it; without a query only goes there.
fn show(model: &mut Model, pane: Pane, args: &Args) -> Result<(), String> {
    navigation::go(model, pane);
    match args.query() {
        // Without a logger there are no captures to go to.
        Some(query) => model
            .set_query(model.navigation.focus.pane, &query)
            .map_err(|error| error.to_string()),
        None => Ok(()),
    }
}

fn workspace(model: &mut Model, args: &Args, _: &mut Vec<Effect>) -> Result<(), String> {
    if let Some(id) = args.workspace() {
        model.work_in(id);
        navigation::go(model, Pane::Targets);
    }
    Ok(())
}

fn target(model: &mut Model, args: &Args, _: &mut Vec<Effect>) -> Result<(), String> {
    navigation::go(model, Pane::Findings);
    navigation::set_scope(
        model,
        Scope {
            target: args.target(),
            scan: None,
            ..model.navigation.scope.clone()
        },
    );
    Ok(())
}

fn logger(model: &mut Model, args: &Args, _: &mut Vec<Effect>) -> Result<(), String> {
    navigation::go(model, Pane::Captures);
    navigation::set_scope(
        model,
        Scope {
            logger: args.logger(),
            ..model.navigation.scope.clone()
        },
    );
    Ok(())
}

fn scan(model: &mut Model, args: &Args, _: &mut Vec<Effect>) -> Result<(), String> {
    open(model, Pane::Scans, args.scan().map(|id| id.0))
}

/// Goes to a row and opens its detail.
fn open(model: &mut Model, pane: Pane, id: Option<i64>) -> Result<(), String> {
    let id = id.ok_or("id is missing")?;
    navigation::go(model, pane);
    links::reveal(model, pane, id);
    model.navigation.focus.in_detail = model.selected_id(pane) == Some(id);
    Ok(())
}
