//! `y`, then what: copies of the selected or marked rows.
//!
//! Copied text is sanitised by [`scandeck_wire::text`], so that it cannot act on the shell or terminal that
//! it is pasted into.

mod commands;
mod urls;

use crate::base::{CaptureUse, Effect, FindingUse, Pane, Tone};
use crate::data::ReadFinding;
use crate::input::action::CopyAction;
use crate::model::{Model, PaneItem};
use crate::payloads::keys as payloads;
use crate::plots::keys as plots;
use scandeck_domain::export::ticket;
use scandeck_domain::finding_request::FindingRequest;
use scandeck_domain::oob::{CaptureRecord, out};
use scandeck_domain::triage::{IssueId, ListedFinding};
use scandeck_wire::contract::{FindingId, Risk};
use scandeck_wire::text;
use std::collections::HashMap;
use std::sync::Arc;

pub(crate) use commands::handle_body_saved;
use commands::{command, copy_captured, curl};
use urls::{has_recording_url, open_in_browser, url, visible_url};

const NOTHING: &str = "nothing to copy: this row has no such data";

/// Copies a text of the selected row, or of the marked rows.
pub(crate) fn handle_copy(model: &mut Model, action: CopyAction, effects: &mut Vec<Effect>) {
    let of_captures = model.navigation.focus.pane == Pane::Captures;
    let of_many = matches!(
        action,
        CopyAction::Json | CopyAction::Markdown | CopyAction::Raw | CopyAction::File
    );
    if let (true, Some(why)) = (of_many, model.header_wait_notice()) {
        return model.notify(Tone::Plain, why);
    }
    if let Some(purpose) = capture_use(action).filter(|_| of_captures) {
        return copy_chosen_captures(model, purpose, effects);
    }
    let of_findings = matches!(model.navigation.focus.pane, Pane::Findings | Pane::Board);
    if let Some(purpose) = finding_use(action).filter(|_| of_findings) {
        let chosen = chosen_findings(model);
        // Texts in memory are copied below.
        if model.must_read_findings(purpose, &chosen, effects) {
            return;
        }
    }
    let made = match action {
        CopyAction::Obvious => obvious(model).map(|(what, text)| copy(what, &text)),
        CopyAction::Url => url(model).map(|url| copy_exact("URL", visible_url(&url))),
        CopyAction::Curl if of_findings => {
            return copy_held_findings(model, FindingUse::Curl, effects);
        }
        CopyAction::Curl => curl(model).map(|curl| copy_exact("curl command", curl)),
        CopyAction::Json => {
            json(model).map(|(what, json)| copy_exact(format!("JSON of {what}"), json))
        }
        CopyAction::Command => {
            Some(command(model)).map(|(what, command)| copy_exact(what, command))
        }
        CopyAction::File => return save_json(model, effects),
        CopyAction::Shapes => return payloads::prompt_shape(model),
        CopyAction::Browser => return open_in_browser(model, effects),
        CopyAction::Plot => return plots::copy_of_detail(model, effects),
        CopyAction::Markdown if of_findings => {
            return copy_held_findings(model, FindingUse::Markdown, effects);
        }
        CopyAction::Markdown | CopyAction::Raw => None,
    };
    match made {
        Some(Effect::Copy { what, text, .. }) => {
            let needs_names =
                matches!(action, CopyAction::Obvious | CopyAction::Url) && has_recording_url(model);
            effects.push(Effect::Copy {
                what,
                text,
                needs_names,
            });
        }
        Some(effect) => effects.push(effect),
        None => model.notify(Tone::Plain, nothing(model, action)),
    }
}

/// Why a row has nothing to copy.
fn nothing(model: &Model, action: CopyAction) -> &'static str {
    match (action, model.issue_at_hand()) {
        (CopyAction::Url, Some(_)) => "the target of this finding has no URL",
        (CopyAction::Curl, Some(issue)) if issue.manual().is_some() => {
            "the service does not have this manual finding"
        }
        _ => NOTHING,
    }
}

/// The copies of captures that contain bodies.
fn capture_use(action: CopyAction) -> Option<CaptureUse> {
    match action {
        CopyAction::Curl => Some(CaptureUse::Curl),
        CopyAction::Raw => Some(CaptureUse::Raw),
        CopyAction::Markdown => Some(CaptureUse::Markdown),
        CopyAction::Json => Some(CaptureUse::Json),
        CopyAction::File => Some(CaptureUse::SaveJson),
        CopyAction::Obvious
        | CopyAction::Url
        | CopyAction::Command
        | CopyAction::Shapes
        | CopyAction::Browser
        | CopyAction::Plot => None,
    }
}

/// The copies of findings that contain their texts.
fn finding_use(action: CopyAction) -> Option<FindingUse> {
    match action {
        CopyAction::Curl => Some(FindingUse::Curl),
        CopyAction::Markdown => Some(FindingUse::Markdown),
        CopyAction::Json => Some(FindingUse::Json),
        CopyAction::File => Some(FindingUse::SaveJson),
        CopyAction::Raw
        | CopyAction::Obvious
        | CopyAction::Url
        | CopyAction::Command
        | CopyAction::Shapes
        | CopyAction::Browser
        | CopyAction::Plot => None,
    }
}

/// Copies or saves the selected capture or the marked ones, at once if their bodies are in memory.
fn copy_chosen_captures(model: &mut Model, purpose: CaptureUse, effects: &mut Vec<Effect>) {
    let chosen = match purpose {
        CaptureUse::Curl => model
            .selected_capture()
            .map(|captured| model.record_of(captured))
            .into_iter()
            .collect(),
        _ => model.chosen_captures(),
    };
    if !model.must_read(purpose.clone(), &chosen, effects) {
        copy_captures(model, &purpose, &chosen, effects);
    }
}

/// Copies or saves captures with their bodies.
pub(crate) fn copy_captures(
    model: &mut Model,
    purpose: &CaptureUse,
    chosen: &[CaptureRecord],
    effects: &mut Vec<Effect>,
) {
    let Some(first) = chosen.first() else {
        let nothing = if *purpose == CaptureUse::SaveJson {
            "nothing selected"
        } else {
            NOTHING
        };
        return model.notify(Tone::Plain, nothing);
    };
    let values = || chosen.iter().map(out::value).collect();
    let json = || json_of(&noun(Pane::Captures), first.capture.id.0, values());
    match purpose {
        CaptureUse::Curl => copy_captured(model, first.clone(), effects),
        CaptureUse::Raw => {
            let all: Vec<String> = chosen.iter().map(out::raw).collect();
            effects.push(copy("raw HTTP", &all.join("\n\n")));
        }
        CaptureUse::Markdown => {
            let one = |sent: &CaptureRecord| {
                let title = format!("Capture {} of logger {}", sent.capture.id, sent.label);
                ticket::request(&title, &out::raw(sent))
            };
            let all: Vec<String> = chosen.iter().map(one).collect();
            effects.push(copy(markdown_of("capture", all.len()), &all.join("\n")));
        }
        CaptureUse::SaveJson => effects.extend(json().map(|(what, json)| save(&what, json))),
        _ => effects.extend(json().map(|(what, json)| copy_exact(format!("JSON of {what}"), json))),
    }
}

pub(super) fn chosen_findings(model: &mut Model) -> Vec<Arc<ListedFinding>> {
    let ids = model.chosen(model.navigation.focus.pane).ids;
    let table = model.data.findings.value();
    let issue = |&id: &i64| table?.get(IssueId(id));
    ids.iter()
        .filter_map(issue)
        .map(|issue| Arc::clone(&issue.finding))
        .collect()
}

/// Findings with their texts as JSON.
pub(super) fn finding_values(read: &[ReadFinding]) -> Vec<serde_json::Value> {
    let value = |(finding, texts): &ReadFinding| {
        serde_json::to_value(finding.with_texts(texts.as_ref().ok()?)).ok()
    };
    read.iter().filter_map(value).collect()
}

/// Copies findings whose texts are in memory.
fn copy_held_findings(model: &mut Model, purpose: FindingUse, effects: &mut Vec<Effect>) {
    let held = |finding: Arc<ListedFinding>| {
        let texts = finding.held_texts().cloned()?;
        Some((finding, Ok(texts)))
    };
    let read: Vec<ReadFinding> = chosen_findings(model)
        .into_iter()
        .filter_map(held)
        .collect();
    copy_findings(model, purpose, &read, effects);
}

/// Findings with their texts as Markdown, with the risk that the list shows.
fn findings_markdown(model: &Model, read: &[ReadFinding]) -> Vec<String> {
    let issues = model
        .data
        .findings
        .value()
        .into_iter()
        .flat_map(|table| table.items());
    let overrides: HashMap<FindingId, Risk> = issues
        .filter_map(|issue| Some((issue.finding.id, issue.severity?)))
        .collect();
    let one = |(finding, texts): &ReadFinding| {
        let target = finding
            .target_id()
            .and_then(|id| model.target_name(id))
            .or(finding.target_name().as_ref());
        let target = target.map(ToString::to_string).unwrap_or_default();
        let mut whole = finding.with_texts(texts.as_ref().ok()?);
        whole.risk_level = overrides
            .get(&finding.id)
            .copied()
            .unwrap_or(whole.risk_level);
        Some(ticket::finding(&whole, &target))
    };
    read.iter().filter_map(one).collect()
}

fn markdown_of(noun: &str, count: usize) -> String {
    format!("Markdown of {}", text::plural(count, noun))
}

/// Copies or saves findings with their texts.
pub(crate) fn copy_findings(
    model: &mut Model,
    purpose: FindingUse,
    read: &[ReadFinding],
    effects: &mut Vec<Effect>,
) {
    if purpose == FindingUse::Markdown {
        let all = findings_markdown(model, read);
        return match all.is_empty() {
            true => model.notify(Tone::Plain, NOTHING),
            false => effects.push(copy(markdown_of("finding", all.len()), &all.join("\n"))),
        };
    }
    if purpose == FindingUse::Curl {
        return copy_requests(model, read, effects);
    }
    let first = read.first().map_or(0, |(finding, _)| finding.id.0);
    match json_of(&noun(Pane::Findings), first, finding_values(read)) {
        Some((what, json)) if purpose == FindingUse::SaveJson => effects.push(save(&what, json)),
        Some((what, json)) => effects.push(copy_exact(format!("JSON of {what}"), json)),
        None => model.notify(Tone::Plain, NOTHING),
    }
}

/// Copies the requests in the evidence of findings, which go to the target; without any, the request
/// of the API.
fn copy_requests(model: &mut Model, read: &[ReadFinding], effects: &mut Vec<Effect>) {
    let command = |(_, texts): &ReadFinding| {
        let request = FindingRequest::of(&texts.as_ref().ok()?.vuln_evidence)?;
        Some(request.curl())
    };
    let commands: Vec<String> = read.iter().filter_map(command).collect();
    if !commands.is_empty() {
        let what = format!(
            "{} to the target",
            text::plural(commands.len(), "curl command")
        );
        return effects.push(copy_exact(what, commands.join("\n")));
    }
    match curl(model) {
        Some(command) => effects.push(copy_exact("curl command of the API request", command)),
        None => model.notify(Tone::Plain, nothing(model, CopyAction::Curl)),
    }
}

fn save(what: &str, json: String) -> Effect {
    Effect::Save {
        name: text::file_name(&format!("{what}.json")),
        content: json.into_bytes().into(),
    }
}

fn save_json(model: &mut Model, effects: &mut Vec<Effect>) {
    match json(model) {
        Some((what, json)) => effects.push(save(&what, json)),
        None => model.notify(Tone::Plain, "nothing selected"),
    }
}

/// Copies text to read.
fn copy(what: impl Into<String>, text: &str) -> Effect {
    copy_exact(what, text::clean_text(text).into_owned())
}

/// Copies text that a program reads, which acts on no terminal by its form: quoted words, escaped
/// JSON.
fn copy_exact(what: impl Into<String>, text: String) -> Effect {
    Effect::Copy {
        what: what.into(),
        text,
        needs_names: false,
    }
}

/// The text that is copied most: the URL of a logger or capture, the name of a target, else the id.
fn obvious(model: &Model) -> Option<(String, String)> {
    let pane = model.navigation.focus.pane;
    match pane {
        Pane::Loggers | Pane::Captures | Pane::Payloads | Pane::Activity => {
            url(model).map(|url| ("URL".to_owned(), url))
        }
        Pane::Targets => {
            let name = model.target_name(model.lists.targets.selected?)?;
            Some(("name".to_owned(), name.to_string()))
        }
        _ => model
            .selected_id(pane)
            .map(|id| ("id".to_owned(), model.service_id(pane, id).to_string())),
    }
}

/// The noun of a pane in the API and in headless commands.
pub(super) fn noun(pane: Pane) -> String {
    pane.kind().as_str().replace(' ', "")
}

/// The chosen rows as JSON without hidden characters, with a name for the notice and the file.
fn json(model: &mut Model) -> Option<(String, String)> {
    let pane = model.navigation.focus.pane;
    let ids = model.chosen(pane).ids;
    let first = model.service_id(pane, *ids.first()?);
    json_of(
        &noun(pane),
        first,
        ids.iter()
            .filter_map(|&id| value(model, pane, id))
            .collect(),
    )
}

/// Objects as JSON without hidden characters, with a name.
fn json_of(nouns: &str, first: i64, values: Vec<serde_json::Value>) -> Option<(String, String)> {
    let (what, json) = match values.as_slice() {
        [] => return None,
        [one] => {
            let name = format!("{}-{first}", nouns.trim_end_matches('s'));
            (name, serde_json::to_string_pretty(one).ok()?)
        }
        many => (
            format!("{nouns}-{}", many.len()),
            serde_json::to_string_pretty(many).ok()?,
        ),
    };
    Some((what, text::escaped_json(&json).into_owned()))
}

/// The JSON of a row.
pub(super) fn value(model: &Model, pane: Pane, id: i64) -> Option<serde_json::Value> {
    match pane {
        Pane::Payloads => {
            let at_hand = model.payload_at_hand()?.token;
            model.captures.oob.book.get(at_hand)?.json()
        }
        pane => model.data.json(pane.query_pane(), id),
    }
}
