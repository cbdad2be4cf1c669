//! Payloads: `p` makes one of the current logger, `e` writes down where it went, `g f` and enter go to what belongs to it.

use crate::contract::{Logger, LoggerId, Shared, Stamp};
use crate::dashboard::base::{Caught, Effect, FormTag, Pane, Scope, Tone};
use crate::dashboard::input::Prefix;
use crate::dashboard::input::action::{Action, PayloadAction};
use crate::dashboard::input::context::Context;
use crate::dashboard::input::key::KeyChord;
use crate::dashboard::model::{Modal, Model, navigation};
use crate::dashboard::palette::Many;
use crate::dashboard::payloads::form;
use crate::oob::lifetime::over;
use crate::oob::{Payload, PayloadOrigin, PayloadRequest, PayloadShape, Token, UrlForm};
use crate::text;
use crate::text::plural;
use crate::triage::CaseId;
use std::time::Duration;

/// Under which name it is kept how tokens stand in URLs.
const FORM: &str = "payload_form";
/// `e` is about the payload just made for so long at the most.
const FRESH: Duration = Duration::from_secs(60);

/// Carries out an action about payloads.
pub(crate) fn handle_payload(model: &mut Model, action: PayloadAction, effects: &mut Vec<Effect>) {
    match action {
        PayloadAction::Plant => {
            let form = model.url_form();
            if let Err(why) = plant(model, form, effects) {
                model.say(Tone::Bad, why);
            }
        }
        PayloadAction::EditPlace => match model.payload_at_hand().map(|payload| payload.token) {
            Some(token) => open_place(model, token),
            None => model.say(Tone::Plain, "this carries no payload known here: p makes one"),
        },
    }
}

/// `y p`: the shape is asked for where there is a payload.
pub(crate) fn ask_shape(model: &mut Model) {
    match model.payload_at_hand() {
        Some(_) => model.keyboard.pending = Some(Prefix::Shape),
        None => model.say(Tone::Plain, "no payload is at hand: p makes one"),
    }
}

/// `y p`, then a shape.
pub(crate) fn copy_as(model: &mut Model, shape: PayloadShape, effects: &mut Vec<Effect>) {
    let Some(payload) = model.payload_at_hand() else {
        return model.say(Tone::Plain, "no payload is at hand: p makes one");
    };
    let what = format!("payload {} as {shape}", payload.token);
    effects.push(Effect::Copy { what, text: text::clean_text(&shape.of(&payload.url)).into_owned() });
}

/// Asks for one payload of the current logger, for what is under the cursor.
pub(crate) fn plant(model: &mut Model, form: UrlForm, effects: &mut Vec<Effect>) -> Result<(), String> {
    let finding = finding_at_hand(model);
    let about = payload_request(model, form)?;
    let payload_request = PayloadRequest {
        count: 1,
        target: model.target_at_hand().and_then(|id| model.target_name(id).cloned()).unwrap_or(about.target),
        finding: finding.as_ref().map(|(key, _)| *key),
        finding_name: finding.map(|(_, name)| name).unwrap_or_default(),
        ..about
    };
    effects.push(Effect::Draw(Box::new(payload_request)));
    Ok(())
}

/// Asks for many, a line each of a file: they go to many places, so they are not for what happens to be under the cursor.
pub(crate) fn plant_many(model: &mut Model, many: Many, effects: &mut Vec<Effect>) -> Result<(), String> {
    let Many { count, file, shape } = many;
    let payload_request =
        PayloadRequest { count, shape, into: Some(file), ..payload_request(model, model.url_form())? };
    effects.push(Effect::Draw(Box::new(payload_request)));
    Ok(())
}

/// What a payload made now is of, and the target that all is narrowed to.
fn payload_request(model: &Model, form: UrlForm) -> Result<PayloadRequest, String> {
    if !model.captures.oob.writable {
        return Err("no payload: what is planted could not be kept here just now".to_owned());
    }
    let logger = current_logger(model)?;
    if form == UrlForm::Path && tells_no_paths(model) {
        return Err("no payload: this service tells no paths of what it captures, so a token there would not be seen; payload query".to_owned());
    }
    Ok(PayloadRequest {
        logger: logger.id,
        label: logger.label.clone(),
        handler_url: logger.handler_url.clone(),
        form,
        target: model.navigation.scope.target.and_then(|id| model.target_name(id).cloned()).unwrap_or_default(),
        ..PayloadRequest::default()
    })
}

/// Requests were captured, and of none is the path known.
fn tells_no_paths(model: &Model) -> bool {
    let caught = &model.data.captures.caught;
    !caught.is_empty() && caught.iter().all(|caught| caught.capture.path.is_none())
}

fn finding_at_hand(model: &Model) -> Option<(crate::triage::FindingKey, Shared)> {
    let id = match model.navigation.focus.pane {
        Pane::Findings => model.selected_id(Pane::Findings).map(CaseId),
        Pane::Board => model.lists.board.selected,
        _ => None,
    };
    let case = model.data.findings.value()?.get(id?)?;
    Some((case.key(), case.name.clone()))
}

/// The logger of the chip, else that of the selected row, else the newest that still records.
fn current_logger(model: &Model) -> Result<&Logger, String> {
    let Some(loggers) = model.data.loggers.value() else { return Err("the loggers are not known yet".to_owned()) };
    let of_row = match model.navigation.focus.pane {
        Pane::Loggers => model.lists.loggers.selected,
        Pane::Captures => model.lists.captures.selected.map(|id| id.logger),
        _ => None,
    };
    let known = |id: LoggerId| loggers.get(id);
    if let Some(logger) = model.navigation.scope.logger.and_then(known).or_else(|| of_row.and_then(known)) {
        return match over(logger) {
            Some(why) => Err(format!("no payload: logger {} records no more, {why}", logger.label)),
            None => Ok(logger),
        };
    }
    let live = loggers.items().iter().filter(|logger| over(logger).is_none()).max_by_key(|logger| logger.id);
    live.map(|logger| &**logger).ok_or_else(|| match loggers.is_empty() {
        true => "no logger to make a payload of: 5, then n makes one".to_owned(),
        false => "no payload: every logger is over; 5, then n makes a new one".to_owned(),
    })
}

/// Random numbers came: the payloads are made, kept, and copied or written.
pub(crate) fn handle_drawn(
    model: &mut Model,
    payload_request: &PayloadRequest,
    numbers: &[u64],
    effects: &mut Vec<Effect>,
) {
    let stamped = PayloadOrigin {
        workspace: model.workspace_name(),
        who: model.findings.triage.writer.as_ref().map(|writer| writer.who.clone()).unwrap_or_default(),
        at: Some(Stamp(model.now.wall)),
        offset: model.connection.clock_offset,
    };
    let payloads = payload_request.payloads(numbers, &model.captures.oob.book, &stamped);
    let Some(first) = payloads.first().cloned() else { return };
    model.plant(payloads.clone(), effects);
    match &payload_request.into {
        None => {
            let what = format!("payload {} of logger {}", first.token, first.label);
            effects.push(Effect::Copy { what, text: text::clean_text(&first.url).into_owned() });
            model.captures.payloads.last = Some(first.token);
            model.captures.payloads.fresh = Some((first.token, model.now.mono));
            let key = model
                .keyboard
                .keymap
                .key_of(Context::Payloads, Action::Payload(PayloadAction::EditPlace))
                .unwrap_or_default();
            model.say(Tone::Plain, format!("{key} now writes down where it went{}", for_what(&first)));
        }
        Some(name) => {
            let lines: String =
                payloads.iter().map(|payload| format!("{}\n", payload_request.shape.of(&payload.url))).collect();
            model.captures.payloads.sheet =
                Some((text::file_name(name), payloads.iter().map(|payload| payload.token).collect()));
            effects.push(Effect::Save { name: name.clone(), content: lines.into_bytes().into() });
        }
    }
}

fn for_what(payload: &Payload) -> String {
    let about = [&payload.finding_name, &payload.target].into_iter().find(|text| !text.is_empty());
    about.map(|text| format!("; made for {text}")).unwrap_or_default()
}

/// The file of many payloads was written, maybe under another name: the book says which.
pub(crate) fn hear_of_sheet(model: &mut Model, path: &std::path::Path, effects: &mut Vec<Effect>) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let (wished, tokens) = model.captures.payloads.sheet.take_if(|(wished, _)| is_numbered(&name, wished))?;
    if name != wished {
        change(model, &tokens, |payload| payload.batch = name.as_str().into(), effects);
    }
    let label = model.captures.oob.book.get(*tokens.first()?).map(|payload| payload.label.clone()).unwrap_or_default();
    Some(format!("{} of logger {label} saved to", plural(tokens.len(), "payload")))
}

/// Whether a name is the wished one, or that with a number because it was taken.
fn is_numbered(name: &str, wished: &str) -> bool {
    let (stem, ending) = wished.rfind('.').map_or((wished, ""), |dot| wished.split_at(dot));
    let number = name.strip_prefix(stem).and_then(|rest| rest.strip_suffix(ending)?.strip_prefix('-'));
    name == wished || number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Whether this key, the first after a payload was made, is the one that tells where it went.
pub(crate) fn take_fresh(model: &mut Model, key: KeyChord) -> bool {
    let Some((_, since)) = model.captures.payloads.fresh.take() else { return false };
    let action = model.keyboard.keymap.action(&[Context::Payloads], key);
    action == Some(Action::Payload(PayloadAction::EditPlace)) && model.now.mono < since + FRESH
}

/// `e` right after `p`.
pub(crate) fn edit_last(model: &mut Model) {
    if let Some(token) = model.captures.payloads.last {
        open_place(model, token);
    }
}

fn open_place(model: &mut Model, token: Token) {
    let Some(payload) = model.captures.oob.book.get(token).cloned() else { return };
    model.open_form(form::open(&payload));
}

/// Keeps what the form says about a payload; it closes.
pub(crate) fn keep(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(Modal::Form(form)) = model.overlay.modals.pop_if(|modal| matches!(modal, Modal::Form(_))) else { return };
    let FormTag::Place(token) = form.tag else { return };
    change(model, &[token], |payload| form::fill(&form, payload), effects);
    model.overlay.drafts.remove(&FormTag::Place(token));
    model.say(Tone::Good, format!("kept: payload {token}"));
}

/// Changes payloads: each is kept under the next version.
fn change(model: &mut Model, tokens: &[Token], put: impl Fn(&mut Payload), effects: &mut Vec<Effect>) {
    let changed = |token: &Token| {
        let mut payload = Payload::clone(model.captures.oob.book.get(*token)?);
        put(&mut payload);
        payload.version += 1;
        Some(std::sync::Arc::new(payload))
    };
    let changed: Vec<_> = tokens.iter().filter_map(changed).collect();
    model.plant(changed, effects);
}

/// enter in the payload book: the captures that carry the payload. Of those that are not in memory it is told how to see
/// them.
pub(crate) fn to_captures(model: &mut Model) {
    let Some(token) = model.lists.payloads.selected else { return };
    let carries = |caught: &&Caught| caught.tokens().any(|one| one == token);
    let here = model.data.captures.caught.iter().filter(carries).count() as u64;
    let came = model.captures.payloads.hits_of(token).count.max(here);
    let archived = format!("scandeck captures list --query {} tells what is archived", query_of(token));
    // Without a logger pane 5 has no captures.
    let no_logger = model.data.loggers.value().is_some_and(|loggers| loggers.is_empty());
    match here {
        _ if came == 0 && !model.captures.payloads.counted => {
            model.say(Tone::Plain, "what it brought in is not known yet")
        }
        _ if came == 0 => {
            model.say(Tone::Plain, format!("nothing came for it yet; wait payload {token} tells when something does"));
        }
        _ if no_logger => model.say(Tone::Plain, format!("{came} came, and there is no logger any more; {archived}")),
        0 => model.say(Tone::Plain, format!("{came} came, and none of them is in memory; {archived}")),
        _ => {
            navigation::go(model, Pane::Captures);
            navigation::set_scope(model, Scope { logger: None, ..model.navigation.scope.clone() });
            // It is one.
            let _ = model.set_query(Pane::Captures, &query_of(token));
            if here < came {
                model.say(Tone::Plain, format!("{here} of {came} are in memory; {archived}"));
            }
        }
    }
}

fn query_of(token: Token) -> String {
    format!("payload:{token}")
}

/// esc from there: the captures are filtered as they were before.
pub(crate) fn back_to_book(model: &mut Model) {
    let mut cursor = model.cursor(Pane::Captures);
    let (filter, earlier) = cursor.filter();
    *filter = earlier.pop().unwrap_or_default();
    drop(cursor);
    model.apply_filter(Pane::Captures);
    navigation::go(model, Pane::Payloads);
}

/// Whether the captures are shown because of enter in the book.
pub(crate) fn came_from_book(model: &Model) -> bool {
    let of = model.lists.payloads.selected.filter(|_| model.navigation.focus.pane == Pane::Captures);
    let from = model.navigation.previous.as_ref().is_some_and(|(focus, _)| focus.pane == Pane::Payloads);
    from && of.is_some_and(|token| model.lists.captures.filter == query_of(token))
}

/// `g f` in the payload book: the finding the payload was made for.
pub(crate) fn to_finding(model: &mut Model) {
    let payload = model.payload_at_hand().cloned();
    let finding = payload.as_ref().and_then(|payload| payload.finding);
    navigation::go(model, Pane::Findings);
    match finding {
        Some(key) => navigation::reveal(model, Pane::Findings, CaseId::from(key).into()),
        None => model.say(Tone::Plain, "it was made for no finding: these are all"),
    }
}

impl Model {
    /// How tokens stand in the URLs of new payloads.
    pub(crate) fn url_form(&self) -> UrlForm {
        self.setting(FORM, &Shared::default()).unwrap_or_default()
    }

    /// Keeps it for this service.
    pub(crate) fn keep_url_form(&mut self, form: UrlForm, effects: &mut Vec<Effect>) {
        if self.url_form() != form {
            self.remember(FORM, &Shared::default(), &form, effects);
        }
    }
}
