//! Confirmations before calls that cannot be undone. Each names the object and what is deleted with
//! it, and holds the calls as of the key press.

use crate::base::{Call, Job, Pane, Tone};
use crate::input::Context;
use crate::input::action::{Action, EditAction, ItemAction, ListAction};
use crate::model::Model;
use crate::prompts::{Prompt, Then};
use scandeck_domain::triage::Issue;
use scandeck_wire::contract::schedule::ScanSchedule;
use scandeck_wire::contract::{
    Logger, Report, Scan, ScanId, TargetId, Wordlist, Workspace, WorkspaceId,
};
use scandeck_wire::text::plural;
use std::collections::BTreeSet;
use std::sync::Arc;

/// To delete more objects than this, their number has to be typed.
const BY_NUMBER: usize = 20;

/// Names in a question; "N more" represents the others.
const NAMED: usize = 4;

const ARCHIVED: &str = "All captures are archived on this machine first.";

/// The subject of a confirmation.
#[derive(Default)]
struct Matter {
    /// The calls, each about one object.
    jobs: Vec<Job>,
    /// The objects that are deleted with them.
    lines: Vec<String>,
    /// A word to type instead of `y`.
    word: Option<(String, &'static str)>,
}

/// `D`: deletes what is chosen in the pane.
pub(crate) fn prompt_delete(model: &mut Model) {
    if let Some(why) = model.header_wait_notice() {
        return model.notify(Tone::Plain, why);
    }
    let matter: fn(&Model, &[i64]) -> Matter = match model.navigation.focus.pane {
        Pane::Workspaces => workspaces,
        Pane::Targets => targets,
        Pane::Scans => scans,
        Pane::Loggers => loggers,
        Pane::Reports => reports,
        Pane::Wordlists => wordlists,
        Pane::Schedules => schedules,
        Pane::Findings => return crate::findings::manual::prompt_off(model),
        _ => return model.notify(Tone::Plain, "rows of this list cannot be deleted"),
    };
    let pane = model.navigation.focus.pane;
    prompt(model, pane, "Delete", "delete", matter);
}

/// `S`: stops the chosen scans.
pub(crate) fn prompt_stop(model: &mut Model) {
    prompt(model, Pane::Scans, "Stop", "stop", stops);
}

/// `D` in the captures: clears the logger of the chip, else that of the selected capture.
pub(crate) fn prompt_clear(model: &mut Model) {
    let selected = model.lists.captures.selected.map(|id| id.logger);
    let Some(id) = model.navigation.scope.logger.or(selected) else {
        return model.notify(Tone::Plain, "no logger selected");
    };
    let loggers = model.data.loggers.value();
    let logger = loggers.and_then(|all| all.get(id));
    if loggers.is_some() && logger.is_none() {
        return model.notify(
            Tone::Plain,
            "logger deleted · its captures are only in the archive",
        );
    }
    let label = logger.map_or_else(
        || format!("logger {id}"),
        |logger| format!("logger {}", logger.label),
    );
    let jobs = vec![Job::new(
        label.clone(),
        Call::ClearLogger {
            logger: id,
            workspace: model.workspace_name(),
        },
    )];
    let lost = match logger.map(|logger| logger.num_requests) {
        Some(..=0) => "The service has no captures of it.".to_owned(),
        Some(1) => "The service deletes its only capture.".to_owned(),
        // The row under the cursor is one of them.
        Some(count) => format!(
            "The service deletes all {count} captures of the logger, not only the selected one."
        ),
        None => {
            "The service deletes all captures of the logger, not only the selected one.".to_owned()
        }
    };
    let prompt = Prompt::new(
        format!("Clear {label}{}?", place(model)),
        Then::Call {
            verb: "clear",
            jobs,
        },
    )
    .with_line(lost)
    .with_line(ARCHIVED);
    model.open_prompt(prompt);
}

/// Starts scans again.
pub(crate) fn prompt_start(model: &mut Model, jobs: Vec<Job>) {
    if jobs.is_empty() {
        return model.notify(Tone::Plain, "nothing selected");
    }
    let matter = Matter {
        jobs,
        ..Matter::default()
    };
    let prompt = question(model, "Repeat", "start", matter);
    model.open_prompt(prompt);
}

/// Asks about the chosen rows; the wider question includes marked rows that the filter hides.
fn prompt(
    model: &mut Model,
    pane: Pane,
    verb_of_question: &str,
    verb: &'static str,
    of: fn(&Model, &[i64]) -> Matter,
) {
    let chosen = model.chosen(pane);
    if chosen.ids.is_empty() && chosen.hidden.is_empty() {
        return model.notify(Tone::Plain, "nothing selected");
    }
    if chosen.ids.is_empty() {
        let count = plural(chosen.hidden.len(), "marked row");
        let undo = model.key_label(Context::Lists, Action::List(ListAction::TakeBack));
        return model.notify(
            Tone::Plain,
            format!("{count} hidden by the filter · {undo} undoes the filter"),
        );
    }
    let matter = of(model, &chosen.ids);
    if matter.jobs.is_empty() && chosen.hidden.is_empty() {
        let why = matter
            .lines
            .first()
            .cloned()
            .unwrap_or_else(|| "nothing selected".to_owned());
        return model.notify(Tone::Plain, why);
    }
    let mut prompt = question(model, verb_of_question, verb, matter);
    if !chosen.hidden.is_empty() {
        let all = [chosen.ids, chosen.hidden.clone()].concat();
        let wider = question(model, verb_of_question, verb, of(model, &all));
        let all = model.key_label(Context::Prompt, Action::Edit(EditAction::IncludeHidden));
        prompt = prompt.with_line(format!(
            "{all} includes {}.",
            plural(chosen.hidden.len(), "hidden marked row")
        ));
        prompt.wider = Some(Box::new(wider));
    }
    model.open_prompt(prompt);
}

fn question(model: &Model, verb_of_question: &str, verb: &'static str, matter: Matter) -> Prompt {
    let Matter { jobs, lines, word } = matter;
    let mut named: Vec<&str> = jobs
        .iter()
        .take(NAMED)
        .map(|job| job.about.as_str())
        .collect();
    let more = format!("{} more", jobs.len().saturating_sub(NAMED));
    if jobs.len() > NAMED {
        named.push(&more);
    }
    // Each is named as `scan 9 (…)`, `logger hunt`.
    let nouns: BTreeSet<&str> = jobs
        .iter()
        .filter_map(|job| job.about.split_whitespace().next())
        .collect();
    let noun = nouns
        .first()
        .filter(|_| nouns.len() == 1)
        .copied()
        .unwrap_or("item");
    let (what, names) = match jobs.len() {
        1 => (named.join(""), None),
        count => (plural(count, noun), Some(named.join("; "))),
    };
    let number = (jobs.len() > BY_NUMBER).then(|| (jobs.len().to_string(), "the number"));
    let mut prompt = Prompt::new(
        format!("{verb_of_question} {what}{}?", place(model)),
        Then::Call { verb, jobs },
    );
    for line in names.into_iter().chain(lines) {
        prompt = prompt.with_line(line);
    }
    match word.or(number) {
        Some((word, what)) => prompt.with_word(word, what),
        None => prompt,
    }
}

/// Where it happens, as every prompt repeats.
fn place(model: &Model) -> String {
    match model.session.name.as_str() {
        "" => String::new(),
        name => format!(" at service \"{name}\""),
    }
}

/// One workspace at a time: its name is typed.
fn workspaces(model: &Model, ids: &[i64]) -> Matter {
    if ids.len() > 1 {
        return Matter {
            lines: vec!["workspaces can only be deleted one at a time".to_owned()],
            ..Matter::default()
        };
    }
    let Some(id) = ids.first().map(|&id| WorkspaceId(id)) else {
        return Matter::default();
    };
    let name = model.workspace_words(id);
    let mut lines = Vec::new();
    if let Some(workspace) = model.items_of::<Workspace>(ids).next() {
        let targets = plural(workspace.target_count.max(0) as usize, "target");
        let scans = plural(workspace.scan_count.max(0) as usize, "scan");
        lines.push(match (workspace.target_count, workspace.scan_count) {
            (..=0, ..=0) => "Also deletes its loggers with all captures.".to_owned(),
            _ => format!(
                "Also deletes {targets}, {scans}, all findings, and the loggers with all captures."
            ),
        });
    }
    lines.push(ARCHIVED.to_owned());
    let jobs = vec![Job::new(
        format!("workspace {name}"),
        Call::DeleteWorkspace(id),
    )];
    Matter {
        jobs,
        lines,
        word: Some((name, "its name")),
    }
}

fn targets(model: &Model, ids: &[i64]) -> Matter {
    let ids: Vec<TargetId> = ids.iter().map(|&id| TargetId(id)).collect();
    let of = |id: &TargetId| {
        model
            .data
            .scans
            .value()
            .and_then(|scans| scans.of_target(*id))
    };
    let scans: usize = ids.iter().filter_map(of).map(|of| of.positions.len()).sum();
    // Manual findings remain: they are stored on this machine.
    let table = model.data.findings.value();
    let of_target = |id: &TargetId| Some(&table?.of_target(*id)?.positions);
    let is_scanned =
        |at: &&u32| table.is_some_and(|table| table.items()[**at as usize].manual().is_none());
    let findings = ids
        .iter()
        .filter_map(of_target)
        .flatten()
        .filter(is_scanned)
        .count();
    let mut lines = vec![format!(
        "Also deletes {} and {}.",
        plural(scans, "scan"),
        plural(findings, "finding")
    )];
    let is_active = |scan: &&Arc<Scan>| scan.is_active() && ids.contains(&scan.target_id);
    let active = model.items::<Scan>().iter().filter(is_active).count();
    if active > 0 {
        let active = plural(active, "scan");
        lines.push(format!(
            "{active} still active: the service refuses the deletion until every scan has ended."
        ));
    }
    let jobs = ids.into_iter().map(|id| {
        let name = model
            .target_name(id)
            .map_or_else(|| id.to_string(), ToString::to_string);
        Job::new(format!("target {name}"), Call::DeleteTarget(id))
    });
    Matter {
        jobs: jobs.collect(),
        lines,
        word: None,
    }
}

/// Excludes active scans: the service refuses to delete them.
fn scans(model: &Model, ids: &[i64]) -> Matter {
    let chosen = model.items_of::<Scan>(ids);
    let (active, ended): (Vec<_>, Vec<_>) = chosen.partition(|scan| scan.is_active());
    let is_deleted = |id: ScanId| ended.iter().any(|scan| scan.id == id);
    let is_lost = |issue: &&Arc<Issue>| issue.manual().is_none() && issue.scans().all(is_deleted);
    let findings = model.items::<Issue>().iter().filter(is_lost).count();
    let is_found = |issue: &Arc<Issue>| issue.scans().any(is_deleted);
    let mut lines = Vec::new();
    if !ended.is_empty() {
        lines.push(match findings {
            0 if model.items::<Issue>().iter().any(is_found) => {
                "Also deletes the output. Other scans have the same findings.".to_owned()
            }
            0 => "Also deletes the output. No findings are affected.".to_owned(),
            some => format!(
                "Also deletes the output, and {} that no other scan has.",
                plural(some, "finding")
            ),
        });
    }
    if !active.is_empty() {
        let stop = model.key_label(Context::Scans, Action::Item(ItemAction::Stop));
        lines.push(format!(
            "{} still active and excluded; {stop} stops scans.",
            plural(active.len(), "scan")
        ));
    }
    let jobs = ended
        .iter()
        .map(|scan| Job::new(model.scan_words(scan.id), Call::DeleteScan(scan.id)))
        .collect();
    Matter {
        jobs,
        lines,
        word: None,
    }
}

fn stops(model: &Model, ids: &[i64]) -> Matter {
    let active: Vec<_> = model
        .items_of::<Scan>(ids)
        .filter(|scan| !scan.has_ended())
        .collect();
    let has_findings = active.iter().any(|scan| {
        scan.result_summary
            .by_risk()
            .into_iter()
            .any(|count| count != Some(0))
    });
    let jobs: Vec<Job> = active
        .iter()
        .map(|scan| Job::new(model.scan_words(scan.id), Call::StopScan(scan.id)))
        .collect();
    let ended = format!(
        "scan {} has already ended",
        ids.first().copied().unwrap_or_default()
    );
    let line = match (jobs.len(), has_findings) {
        (0, _) if ids.len() > 1 => "all marked scans have already ended",
        (0, _) => &ended,
        (1, true) => "A stopped scan cannot be resumed. Its findings remain.",
        (1, false) => "A stopped scan cannot be resumed. It has no findings yet.",
        (_, true) => "Stopped scans cannot be resumed. Their findings remain.",
        (_, false) => "Stopped scans cannot be resumed. They have no findings yet.",
    };
    Matter {
        jobs,
        lines: vec![line.to_owned()],
        word: None,
    }
}

fn loggers(model: &Model, ids: &[i64]) -> Matter {
    let chosen: Vec<_> = model.items_of::<Logger>(ids).collect();
    let requests: i64 = chosen.iter().map(|logger| logger.num_requests).sum();
    let lines = match requests.max(0) as usize {
        0 => vec!["Also stops recording.".to_owned()],
        some => vec![
            format!(
                "Also deletes {} and stops recording.",
                plural(some, "capture")
            ),
            ARCHIVED.to_owned(),
        ],
    };
    let jobs = chosen.iter().map(|logger| {
        let call = Call::DeleteLogger {
            logger: logger.id,
            workspace: model.workspace_name(),
        };
        Job::new(format!("logger {}", logger.label), call)
    });
    Matter {
        jobs: jobs.collect(),
        lines,
        word: None,
    }
}

fn reports(model: &Model, ids: &[i64]) -> Matter {
    let chosen = model.items_of::<Report>(ids);
    let jobs = chosen.map(|report| {
        let name = if report.download_name.is_empty() {
            report.id.to_string()
        } else {
            report.download_name.to_string()
        };
        Job::new(format!("report {name}"), Call::DeleteReport(report.id))
    });
    Matter {
        jobs: jobs.collect(),
        lines: vec!["Downloaded files remain.".to_owned()],
        word: None,
    }
}

fn schedules(model: &Model, ids: &[i64]) -> Matter {
    let jobs = model.items_of::<ScanSchedule>(ids).map(|schedule| {
        let about = format!("schedule {}, every {}", schedule.name, schedule.every);
        Job::new(about, Call::DeleteSchedule(schedule.id))
    });
    Matter {
        jobs: jobs.collect(),
        lines: vec!["Its scans remain.".to_owned()],
        word: None,
    }
}

/// Excludes predefined wordlists: the service refuses to delete them.
fn wordlists(model: &Model, ids: &[i64]) -> Matter {
    let chosen = model.items_of::<Wordlist>(ids);
    let (predefined, own): (Vec<_>, Vec<_>) = chosen.partition(|list| list.predefined);
    let mut lines = Vec::new();
    if !predefined.is_empty() {
        lines.push(match &predefined[..] {
            [one] => format!("wordlist {} is predefined and cannot be deleted", one.name),
            several => format!(
                "{} are predefined and cannot be deleted",
                plural(several.len(), "wordlist")
            ),
        });
    }
    let jobs = own.iter().map(|list| {
        let about = format!(
            "wordlist {} with {}",
            list.name,
            plural(list.num_words.max(0) as usize, "word")
        );
        Job::new(about, Call::DeleteWordlist(list.id))
    });
    Matter {
        jobs: jobs.collect(),
        lines,
        word: None,
    }
}
