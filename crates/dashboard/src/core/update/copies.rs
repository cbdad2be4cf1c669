//! `y`, then what: copies of the selected or marked rows.
//!
//! Copied text is sanitised by [`scandeck_wire::text`], so that it cannot act on the shell or terminal that
//! it is pasted into.

use crate::activity::keys as activity;
use crate::base::{CaptureUse, Effect, FindingUse, Pane, Tone};
use crate::data::ReadFinding;
use crate::forms::is_web_url;
use crate::input::action::CopyAction;
use crate::model::{Model, PaneItem};
use crate::payloads::keys as payloads;
use crate::plots::keys as plots;
use crate::prompts::{Prompt, Then};
use scandeck_client::calls::ApiCall;
use scandeck_domain::export::ticket;
use scandeck_domain::finding_request::FindingRequest;
use scandeck_domain::oob::{CaptureRecord, out};
use scandeck_domain::problem::Problem;
use scandeck_domain::triage::{IssueId, ListedFinding};
use scandeck_wire::contract::{FindingId, Risk};
use scandeck_wire::text::{self, quoted};
use std::collections::HashMap;
use std::net::Ipv6Addr;
use std::path::PathBuf;
use std::sync::Arc;

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
        return;
    }
    let of_findings = matches!(model.navigation.focus.pane, Pane::Findings | Pane::Board);
    let purpose = match action {
        CopyAction::Json if of_findings => Some(FindingUse::Json),
        CopyAction::Markdown if of_findings => Some(FindingUse::Markdown),
        CopyAction::File if of_findings => Some(FindingUse::SaveJson),
        CopyAction::Curl if of_findings => Some(FindingUse::Curl),
        _ => None,
    };
    if let Some(purpose) = purpose {
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

/// The URL, with percent-encoding instead of characters that a terminal would not show.
fn visible_url(url: &str) -> String {
    if *text::clean(url) == *url {
        return url.to_owned();
    }
    let byte = |byte: u8| {
        if byte.is_ascii_graphic() {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    url.bytes().map(byte).collect()
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

/// Whether the URL of the selected row records requests, as the URL of a logger or payload does.
fn has_recording_url(model: &Model) -> bool {
    match model.navigation.focus.pane {
        Pane::Loggers | Pane::Payloads => true,
        Pane::Captures => model.lists.captures.current(&model.data.captures).is_none(),
        _ => false,
    }
}

/// The URL of the selected row: its own, for a finding that of its target, else that of the API.
fn url(model: &Model) -> Option<String> {
    match model.navigation.focus.pane {
        Pane::Findings | Pane::Board => affected_url(model),
        Pane::Loggers => {
            let logger = model
                .data
                .loggers
                .value()?
                .get(model.lists.loggers.selected?)?;
            Some(logger.handler_url.to_string())
        }
        Pane::Payloads => model
            .payload_at_hand()
            .map(|payload| payload.url.to_string()),
        Pane::Activity => model
            .selected_item::<ApiCall>()
            .map(|call| activity::url(model, call)),
        Pane::Captures => match model.lists.captures.current(&model.data.captures) {
            Some(captured) => Some(model.record_of(captured).request_url().url),
            // Without captures, the URL to send requests to is useful.
            None => {
                let loggers = model.data.loggers.value()?;
                let logger = model.navigation.scope.logger.and_then(|id| loggers.get(id));
                let logger =
                    logger.or_else(|| loggers.items().first().filter(|_| loggers.len() == 1))?;
                Some(logger.handler_url.to_string())
            }
        },
        _ => api_path(model)
            .map(|path| format!("{}{path}", model.session.base_url.trim_end_matches('/'))),
    }
}

/// Opens the URL of the selected row after a confirmation; where there is no browser to see, copies
/// it.
fn open_in_browser(model: &mut Model, effects: &mut Vec<Effect>) {
    let named = match model.navigation.focus.pane {
        Pane::Targets => model
            .lists
            .targets
            .selected
            .and_then(|id| model.target_name(id))
            .map(ToString::to_string),
        Pane::Findings | Pane::Board | Pane::Loggers | Pane::Payloads | Pane::Captures => {
            url(model)
        }
        // The others have URLs of the API only, which needs a key.
        _ => None,
    };
    let Some(url) = named.filter(|url| is_web_url(url)) else {
        return model.notify(
            Tone::Plain,
            "nothing to open: this row has no http or https URL",
        );
    };
    if model.mask().is_some_and(|mask| mask.text(&url) != url) {
        return model.notify(
            Tone::Bad,
            "URL not opened: names are masked · `:mask off` first",
        );
    }
    match model.session.has_browser {
        false => effects.push(copy(
            format!("no browser here: {}", text::clean(&url)),
            &url,
        )),
        true => {
            let prompt = Prompt::new(format!("Open {url} in the browser?"), Then::OpenUrl(url));
            model.open_prompt(prompt.with_line("The browser sends a request to this address."));
        }
    }
}

/// The URL that the selected finding affects: its target if that is a URL, or the web service at
/// its port.
fn affected_url(model: &Model) -> Option<String> {
    let issue = model.issue_at_hand()?;
    let name = issue
        .target_id()
        .and_then(|id| model.target_name(id))
        .or(issue.target_name().as_ref())?
        .trim();
    if name.starts_with("http://") || name.starts_with("https://") {
        return Some(name.to_owned());
    }
    let service = issue.service.to_lowercase();
    let scheme = match &*service {
        service if service.contains("https") || service.contains("ssl/http") => "https",
        service if service.contains("http") => "http",
        _ => return None,
    };
    let host = if name.parse::<Ipv6Addr>().is_ok() {
        format!("[{name}]")
    } else {
        name.to_owned()
    };
    let is_usual = matches!(
        (scheme, issue.port()),
        ("https", 443) | ("http", 80) | (_, ..=0)
    );
    let port = if is_usual {
        String::new()
    } else {
        format!(":{}", issue.port())
    };
    Some(format!("{scheme}://{host}{port}/"))
}

/// The path of the selected row in the API. The service does not have manual findings.
fn api_path(model: &Model) -> Option<String> {
    let pane = model.navigation.focus.pane;
    if model
        .issue_at_hand()
        .is_some_and(|issue| issue.manual().is_some())
    {
        return None;
    }
    let noun = match pane {
        Pane::Captures => {
            return Some(format!(
                "/http_loggers/{}/data",
                model.lists.captures.selected?.logger
            ));
        }
        Pane::Payloads => return None,
        Pane::Loggers => "http_loggers".to_owned(),
        _ => noun(pane),
    };
    Some(format!(
        "/{noun}/{}",
        model.service_id(pane, model.selected_id(pane)?)
    ))
}

/// The noun of a pane in the API and in headless commands.
pub(super) fn noun(pane: Pane) -> String {
    pane.kind().as_str().replace(' ', "")
}

/// The API call that reads the selected row, with the key from the environment.
fn curl(model: &mut Model) -> Option<String> {
    if model.navigation.focus.pane == Pane::Activity {
        return activity::curl(model);
    }
    let url = format!(
        "{}{}",
        model.session.base_url.trim_end_matches('/'),
        api_path(model)?
    );
    let url = quoted(&url);
    Some(format!(
        "curl -H 'accept: application/json' -H \"authorization: Bearer $SCANDECK_API_KEY\" {url}"
    ))
}

/// A captured request as curl. A body that is not plain text is saved first, and the command names
/// its file.
fn copy_captured(model: &mut Model, sent: CaptureRecord, effects: &mut Vec<Effect>) {
    let marked = model.lists.captures.marks().len();
    if marked > 1 {
        model.notify(
            Tone::Plain,
            format!(
                "curl command of the selected request copied, not of the {marked} marked requests"
            ),
        );
    }
    if !sent.request_url().path_known {
        model.notify(
            Tone::Plain,
            "path not reported by the service; copied with the logger's path",
        );
    }
    effects.push(match out::body_file(&sent) {
        Some(name) => Effect::SaveBody {
            name,
            sent: Box::new(sent),
            mask: None,
        },
        None => copy_exact("curl command", out::curl(&sent, None)),
    });
}

/// The body of a captured request was saved, or not: without it the command would send another
/// request.
pub(crate) fn handle_body_saved(
    model: &mut Model,
    sent: &CaptureRecord,
    saved: Result<PathBuf, Problem>,
    effects: &mut Vec<Effect>,
) {
    match saved {
        Ok(path) => {
            let file = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            effects.push(copy_exact("curl command", out::curl(sent, file.as_deref())));
            model.notify(Tone::Good, format!("body saved to {}", path.display()));
        }
        Err(problem) => model.notify_problem("body not saved", &problem),
    }
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

/// The text for the notice, and the command that shows this view: a headless command if there is
/// one, else `scandeck`.
fn command(model: &mut Model) -> (String, String) {
    let mut words = vec!["scandeck".to_owned()];
    let headless = headless(model);
    let what = match &headless {
        Some(_) => "command of this view",
        None => "no command prints these rows; dashboard command",
    };
    words.extend(headless.iter().flat_map(|(words, _)| words).cloned());
    let session = &model.session;
    words.extend(session.service_flags.iter().map(|word| word_quoted(word)));
    // A command finds the local service, or the service of its profile, without --base-url.
    let is_found =
        session.starts_service || session.service_flags.iter().any(|flag| flag == "--profile");
    if !is_found && !session.base_url.is_empty() {
        words.extend(["--base-url".to_owned(), quoted(&session.base_url)]);
    }
    if let Some(workspace) = model.workspace() {
        words.extend(["--workspace".to_owned(), quoted(workspace.name.as_str())]);
    }
    if let Some(query) = headless
        .map(|(_, query)| query)
        .filter(|query| !query.is_empty())
    {
        words.extend(["--query".to_owned(), quoted(&query)]);
    }
    (what.to_owned(), words.join(" "))
}

/// A word of a command line, in quotes where a shell would change it.
fn word_quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        quoted(word)
    }
}

/// The headless command that lists the shown rows, and its query.
fn headless(model: &mut Model) -> Option<(Vec<String>, String)> {
    let pane = model.navigation.focus.pane;
    if matches!(pane, Pane::Board | Pane::Activity) {
        return None;
    }
    let command = |verb: &str| vec![noun(pane), verb.to_owned()];
    if model.navigation.focus.in_detail && matches!(pane, Pane::Findings | Pane::Scans) {
        let id = model.service_id(pane, model.selected_id(pane)?);
        return Some((
            [command("show"), vec![id.to_string()]].concat(),
            String::new(),
        ));
    }
    if pane == Pane::Captures {
        return Some(headless_captures(model));
    }
    if pane == Pane::Findings {
        return Some((command("list"), model.query_of_findings()));
    }
    let filter = model.cursor(pane).filter().0.trim().to_owned();
    // Headless commands of the other lists take no query.
    let whole =
        filter.is_empty() && (pane != Pane::Scans || model.navigation.scope.target.is_none());
    whole.then(|| (command("list"), String::new()))
}

/// The headless command of the shown captures, and its query.
fn headless_captures(model: &mut Model) -> (Vec<String>, String) {
    let selected = model
        .lists
        .captures
        .selected
        .filter(|_| model.navigation.focus.in_detail);
    let logger = selected
        .map(|key| key.logger)
        .or(model.navigation.scope.logger);
    let of_logger = logger
        .iter()
        .flat_map(|id| ["--logger".to_owned(), id.to_string()]);
    match selected {
        Some(key) => {
            let show = [
                "captures".to_owned(),
                "show".to_owned(),
                key.capture.to_string(),
            ];
            (show.into_iter().chain(of_logger).collect(), String::new())
        }
        None => {
            let list = ["captures".to_owned(), "list".to_owned()];
            let query = model.cursor(Pane::Captures).filter().0.trim().to_owned();
            (list.into_iter().chain(of_logger).collect(), query)
        }
    }
}
