//! Actions on objects: create, edit, scan, retest, stop, delete, report, download. The ids are
//! captured before a form or prompt opens.

use crate::base::{Batch, Call, Effect, Job, Pane, Tone};
use crate::captures::{keys as captures, loggers};
use crate::core::update::{deletions, report_rows, steps};
use crate::findings::retest::keys as retest;
use crate::input::Context;
use crate::input::action::{Action, ItemAction, ViewAction};
use crate::list::Chosen;
use crate::model::Model;
use crate::schedules::form::ChosenTargets;
use crate::{reports, scans, schedules, targets, workspaces};
use scandeck_wire::contract::import::ImportOrigin;
use scandeck_wire::contract::{Report, Scan, Shared, Target, TargetId, Wordlist, Workspace};

/// Carries out an action on what is under the cursor or marked.
pub(crate) fn handle_item(model: &mut Model, action: ItemAction, effects: &mut Vec<Effect>) {
    match action {
        ItemAction::New => open_new(model, effects),
        ItemAction::Edit => match model.navigation.focus.pane {
            Pane::Findings => crate::findings::manual::edit(model),
            _ => edit_workspace(model),
        },
        ItemAction::Delete => deletions::prompt_delete(model),
        ItemAction::Scan => scan_targets(model),
        ItemAction::TagTargets => match model.navigation.focus.pane {
            Pane::Targets => {
                let chosen = model.chosen(Pane::Targets);
                targets::tags::open(model, &chosen.ids);
            }
            _ => model.notify_no_effect(Action::Item(action)),
        },
        ItemAction::Retest => match model.navigation.focus.pane {
            Pane::Findings | Pane::Board => retest::prompt(model),
            _ => model.notify_no_effect(Action::Item(action)),
        },
        ItemAction::Compare => compare(model, effects),
        ItemAction::Why => crate::findings::explain::keys::open(model, effects),
        ItemAction::Chain => crate::chains::keys::open(model, effects),
        ItemAction::Prove => crate::findings::proof::keys::open(model, effects),
        ItemAction::ScanAgain => scan_again(model),
        ItemAction::Stop => deletions::prompt_stop(model),
        ItemAction::CancelCall => crate::activity::keys::cancel(model, effects),
        ItemAction::Report => report(model),
        ItemAction::Download => download(model, effects),
        ItemAction::Replay => replay(model),
        ItemAction::Pause => steps::pause(model),
        ItemAction::PauseSchedule => schedules::keys::pause_or_resume(model, effects),
        ItemAction::Clear => deletions::prompt_clear(model),
    }
}

/// `d`: two rows beside each other.
fn compare(model: &mut Model, effects: &mut Vec<Effect>) {
    match model.navigation.focus.pane {
        Pane::Captures => captures::compare(model),
        Pane::Scans => retest::compare_scans(model),
        Pane::Findings | Pane::Board => retest::show_difference(model, effects),
        _ => model.notify_no_effect(Action::Item(ItemAction::Compare)),
    }
}

/// `s` on a capture: the URL that it is sent to is always typed.
fn replay(model: &mut Model) {
    match model.navigation.focus.pane {
        Pane::Captures if model.selected_capture().is_none() => {
            model.notify(Tone::Plain, "nothing selected")
        }
        Pane::Captures => model.open_command_line("replay "),
        _ => {
            let why = captures::no_capture_to_replay(model);
            model.notify(Tone::Plain, why);
        }
    }
}

/// `n`: opens the form for a new object of the pane.
fn open_new(model: &mut Model, effects: &mut Vec<Effect>) {
    match model.navigation.focus.pane {
        Pane::Workspaces => model.open_form(workspaces::form::create()),
        Pane::Targets => new_targets(model),
        Pane::Scans => scan_targets(model),
        Pane::Loggers => model.open_form(loggers::form::open(model.navigation.scope.workspace)),
        Pane::Reports => report(model),
        Pane::Schedules => new_schedule(model),
        Pane::Findings => crate::findings::manual::open_new(model),
        Pane::Captures => crate::findings::manual::open_from_captures(model, effects),
        pane => model.notify(
            Tone::Plain,
            format!("{} cannot be created here", pane.title()),
        ),
    }
}

pub(crate) fn new_targets(model: &mut Model) {
    let Some(workspace) = model.workspace() else {
        return no_workspace(model);
    };
    let form = targets::form::open(workspace.id, &workspace.name);
    model.open_form(form);
}

fn no_workspace(model: &mut Model) {
    let workspaces = model.key_label(Context::Everywhere, Action::View(ViewAction::Workspaces));
    let new = model.key_label(Context::Workspaces, Action::Item(ItemAction::New));
    model.notify(
        Tone::Plain,
        format!("no workspace yet; create one with {workspaces}, then {new}"),
    );
}

fn edit_workspace(model: &mut Model) {
    let workspace = model.selected_item::<Workspace>();
    match workspace.map(|workspace| workspaces::form::edit(workspace)) {
        Some(form) => model.open_form(form),
        None => model.notify(Tone::Plain, "nothing selected"),
    }
}

/// A scan of the marked targets, of the selected one, or of a name that is typed.
fn scan_targets(model: &mut Model) {
    let Some(workspace) = model.navigation.scope.workspace else {
        return no_workspace(model);
    };
    let chosen = match model.navigation.focus.pane {
        Pane::Targets => model.chosen(Pane::Targets),
        // A new scan from elsewhere is of the target at hand, or of the marked ones.
        _ => {
            let marked = model.cursor(Pane::Targets).chosen();
            match (marked.many, model.target_at_hand()) {
                (false, Some(target)) => Chosen {
                    ids: vec![target.0],
                    ..Chosen::default()
                },
                _ => marked,
            }
        }
    };
    let named = |ids: &[i64]| -> Vec<(TargetId, Shared)> {
        model
            .items_of::<Target>(ids)
            .map(|target| (target.id, target.name.clone()))
            .collect()
    };
    let mut sets = Vec::new();
    let shown = named(&chosen.ids);
    match shown.as_slice() {
        [] => {}
        [(_, name)] => sets.push((name.to_string(), shown.clone())),
        many => sets.push((format!("{} marked", many.len()), shown.clone())),
    }
    if !chosen.hidden.is_empty() {
        let all = named(&[&chosen.ids[..], &chosen.hidden[..]].concat());
        let words = format!(
            "all {} marked, {} not shown",
            all.len(),
            chosen.hidden.len()
        );
        sets.push((words, all));
    }
    let wordlists = model.data.wordlists.value();
    let wordlists = wordlists
        .iter()
        .flat_map(|table| table.items())
        .map(AsRef::as_ref);
    let profiles = &model.settings.live.scan_profiles;
    let form = scans::form::open(sets, wordlists, profiles, workspace, model.has_extensions());
    model.open_form(form);
}

/// A schedule of a scan profile for the marked targets, the target at hand, or all.
fn new_schedule(model: &mut Model) {
    let Some(workspace) = model.navigation.scope.workspace else {
        return no_workspace(model);
    };
    if !model.has_extensions() {
        return model.notify(Tone::Plain, schedules::NO_SCHEDULES);
    }
    let marked = model.cursor(Pane::Targets).chosen();
    let ids = match (marked.many, model.target_at_hand()) {
        (false, Some(target)) => vec![target.0],
        (false, None) => Vec::new(),
        (true, _) => [marked.ids, marked.hidden].concat(),
    };
    let targets: Vec<_> = model
        .items_of::<Target>(&ids)
        .map(|target| (target.id, target.name.clone()))
        .collect();
    let label = match targets.as_slice() {
        [] => None,
        [(_, name)] => Some(name.to_string()),
        many => Some(format!("{} marked", many.len())),
    };
    let chosen = label.map(|label| ChosenTargets { label, targets });
    let tags = targets::tags::tags_in_use(model, Some(workspace));
    let profiles = &model.settings.live.scan_profiles;
    let form = schedules::form::open(profiles, chosen, tags, workspace);
    model.open_form(form);
}

/// Repeats the chosen scans with their tool, target and parameters, after a prompt.
fn scan_again(model: &mut Model) {
    let chosen = model.chosen(Pane::Scans);
    let is_imported = model
        .items_of::<Scan>(&chosen.ids)
        .any(|scan| ImportOrigin::is_of(scan));
    if is_imported {
        let text = "scan not repeated: it is an imported file · :import reads a newer one";
        return model.notify(Tone::Plain, text);
    }
    let again = |scan: &Scan| {
        Some(Job::new(
            model.scan_words(scan.id),
            Call::StartScan(retest::same_again(model, scan)?),
        ))
    };
    let jobs: Option<Vec<Job>> = model
        .items_of::<Scan>(&chosen.ids)
        .map(|scan| again(scan))
        .collect();
    match jobs {
        Some(jobs) => deletions::prompt_start(model, jobs),
        None => {
            let new = model.key_label(Context::Scans, Action::Item(ItemAction::New));
            model.notify(
                Tone::Bad,
                format!("scan not repeated: its credentials are not stored · {new} starts a scan"),
            );
        }
    }
}

/// Opens the form of a report on marked, selected or shown rows.
fn report(model: &mut Model) {
    // Its sets have all shown findings, whatever the focus is.
    if let Some(why) = model.findings_wait_notice() {
        return model.notify(Tone::Plain, why);
    }
    let sets = report_rows::report_sets(model);
    model.open_form(reports::form::open(sets));
}

/// `d`: reports and wordlists into files.
fn download(model: &mut Model, effects: &mut Vec<Effect>) {
    let chosen = model.chosen(model.navigation.focus.pane);
    let jobs: Vec<Job> = match model.navigation.focus.pane {
        Pane::Reports => model
            .items_of::<Report>(&chosen.ids)
            .map(|report| report_download(report))
            .collect(),
        Pane::Wordlists => model
            .items_of::<Wordlist>(&chosen.ids)
            .map(|list| wordlist_download(list))
            .collect(),
        _ => Vec::new(),
    };
    match jobs.is_empty() {
        true => model.notify(Tone::Plain, "nothing selected"),
        false => model.begin(Batch::new("download", None, jobs), effects),
    }
}

fn report_download(report: &Report) -> Job {
    let name = match report.download_name.as_str() {
        "" => Shared::from(format!("report-{}.{}", report.id, report.format)),
        _ => report.download_name.clone(),
    };
    Job::new(
        format!("report {name}"),
        Call::DownloadReport(report.id, name),
    )
}

fn wordlist_download(list: &Wordlist) -> Job {
    let name = Shared::from(format!("{}.txt", list.name));
    Job::new(
        format!("wordlist {}", list.name),
        Call::DownloadWordlist(list.id, name),
    )
}

/// enter on a wordlist: fetches its words.
pub(crate) fn look_at_words(model: &mut Model, effects: &mut Vec<Effect>) {
    if let Some(list) = model.selected_item::<Wordlist>() {
        let job = Job::new(
            format!("Wordlist {}", list.name),
            Call::WordlistContents(list.id),
        );
        model.begin(Batch::new("read", None, vec![job]), effects);
    }
}
