//! The actions on payloads: create, copy, edit the place, and go to the captures or the finding of
//! a payload.

use crate::base::{CaptureRow, Effect, FormTag, Pane, Scope, Tone};
use crate::input::{Action, Context, ItemAction, KeyChord, PayloadAction};
use crate::model::{Modal, Model, navigation};
use crate::palette::BulkPayloads;
use crate::payloads::form;
use scandeck_domain::oob::lifetime::over;
use scandeck_domain::oob::{Payload, PayloadOrigin, PayloadRequest, PayloadShape, Token, UrlForm};
use scandeck_domain::triage::IssueId;
use scandeck_wire::contract::{Logger, LoggerId, Shared, Stamp};
use scandeck_wire::text::{self, plural};
use std::time::Duration;

/// The setting for the position of the token in URLs.
const FORM: &str = "payload_form";
/// For so long, the next edit key refers to the payload just created.
const FRESH: Duration = Duration::from_secs(60);
/// Start of the notice that no payload was created.
const REFUSED: &str = "payload not created: ";

pub(crate) fn handle_payload(model: &mut Model, action: PayloadAction, effects: &mut Vec<Effect>) {
    match action {
        PayloadAction::Plant => {
            let form = model.url_form();
            if let Err(why) = plant(model, form, effects) {
                model.notify(Tone::Bad, why);
            }
        }
        PayloadAction::EditPlace => match model.payload_at_hand().map(|payload| payload.token) {
            Some(token) => open_place(model, token),
            None if model.navigation.focus.pane == Pane::Captures
                && model.selected_capture().is_some() =>
            {
                let new = model.key_label(Context::Captures, Action::Item(ItemAction::New));
                model.notify(
                    Tone::Plain,
                    format!("capture without payload: {new} creates a finding, which has notes"),
                );
            }
            None => notify_no_payload(model),
        },
    }
}

/// The first keys of copying a payload: the key of the shape follows if there is a payload.
pub(crate) fn prompt_shape(model: &mut Model) {
    match model.payload_at_hand() {
        Some(_) => model.keyboard.pending = Some(Context::Shape),
        None => notify_no_payload(model),
    }
}

fn notify_no_payload(model: &mut Model) {
    let key = model
        .keyboard
        .keymap
        .key_of(Context::Everywhere, Action::Payload(PayloadAction::Plant));
    model.notify(
        Tone::Plain,
        format!(
            "no payload selected: {} creates one",
            key.unwrap_or_default()
        ),
    );
}

pub(crate) fn copy_as(model: &mut Model, shape: PayloadShape, effects: &mut Vec<Effect>) {
    let Some(payload) = model.payload_at_hand() else {
        return notify_no_payload(model);
    };
    let what = format!("payload {} as {shape}", payload.token);
    let text = text::clean_text(&shape.of(&payload.url)).into_owned();
    effects.push(Effect::Copy {
        what,
        text,
        needs_names: true,
    });
}

/// Creates a payload of the current logger for the selected target. The form of its placement binds
/// it to a finding.
pub(crate) fn plant(
    model: &mut Model,
    form: UrlForm,
    effects: &mut Vec<Effect>,
) -> Result<(), String> {
    let about = payload_request(model, form)?;
    let payload_request = PayloadRequest {
        count: 1,
        target: model
            .target_at_hand()
            .and_then(|id| model.target_name(id).cloned())
            .unwrap_or(about.target),
        ..about
    };
    effects.push(Effect::DrawPayloadNumbers(Box::new(payload_request)));
    Ok(())
}

/// Creates many payloads for the lines of a file. They go to many places, so they do not refer to
/// the selected row.
pub(crate) fn plant_many(
    model: &mut Model,
    many: BulkPayloads,
    effects: &mut Vec<Effect>,
) -> Result<(), String> {
    let BulkPayloads { count, file, shape } = many;
    let payload_request = PayloadRequest {
        count,
        shape,
        into: Some(file),
        ..payload_request(model, model.url_form())?
    };
    effects.push(Effect::DrawPayloadNumbers(Box::new(payload_request)));
    Ok(())
}

/// The logger and the scope of a new payload.
fn payload_request(model: &Model, form: UrlForm) -> Result<PayloadRequest, String> {
    if !model.captures.oob.writable {
        return Err(format!("{REFUSED}the archive is not writable"));
    }
    let logger = current_logger(model)?;
    if model
        .mask()
        .is_some_and(|mask| mask.text(&logger.handler_url) != *logger.handler_url)
    {
        return Err(format!(
            "{REFUSED}masked URLs record nothing; `:mask off` first"
        ));
    }
    if form == UrlForm::Path && has_no_paths(model) {
        return Err(format!(
            "{REFUSED}the service reports no paths; use `:payload query`"
        ));
    }
    Ok(PayloadRequest {
        logger: logger.id,
        label: logger.label.clone(),
        handler_url: logger.handler_url.clone(),
        form,
        target: model
            .navigation
            .scope
            .target
            .and_then(|id| model.target_name(id).cloned())
            .unwrap_or_default(),
        ..PayloadRequest::default()
    })
}

/// Removes the notice about a refused payload when it would no longer be refused for this reason.
pub(crate) fn remove_old_refusal(model: &mut Model) {
    let refused = model
        .overlay
        .notices
        .iter()
        .find(|notice| notice.text.starts_with(REFUSED));
    let Some(text) = refused.map(|notice| notice.text.clone()) else {
        return;
    };
    // The form of a path has all reasons.
    if payload_request(model, UrlForm::Path).err().as_ref() != Some(&text) {
        model.overlay.notices.remove(&text);
    }
}

/// Whether there are captures, and none of them has a path.
fn has_no_paths(model: &Model) -> bool {
    let rows = &model.data.captures.rows;
    !rows.is_empty() && rows.iter().all(|captured| captured.capture.path.is_none())
}

/// The logger of the scope, else the logger of the selected row, else the newest logger that still
/// records.
fn current_logger(model: &Model) -> Result<&Logger, String> {
    let Some(loggers) = model.data.loggers.value() else {
        return Err("loggers not loaded yet".to_owned());
    };
    let of_row = match model.navigation.focus.pane {
        Pane::Loggers => model.lists.loggers.selected,
        Pane::Captures => model.lists.captures.selected.map(|id| id.logger),
        _ => None,
    };
    let known = |id: LoggerId| loggers.get(id);
    if let Some(logger) = model
        .navigation
        .scope
        .logger
        .and_then(known)
        .or_else(|| of_row.and_then(known))
    {
        return match over(logger) {
            Some(why) => Err(format!("{REFUSED}logger {} has ended, {why}", logger.label)),
            None => Ok(logger),
        };
    }
    let live = loggers
        .items()
        .iter()
        .filter(|logger| over(logger).is_none())
        .max_by_key(|logger| logger.id);
    live.map(|logger| &**logger)
        .ok_or_else(|| match loggers.is_empty() {
            true => {
                let show = model.logger_keys();
                let new = model.key_label(Context::Loggers, Action::Item(ItemAction::New));
                format!("{REFUSED}no loggers · {show}, then {new} creates a logger")
            }
            false => format!("{REFUSED}every logger has ended; create a new one"),
        })
}

/// Handles the random numbers: creates the payloads, stores them, and copies them or writes them to
/// a file.
pub(crate) fn handle_drawn(
    model: &mut Model,
    payload_request: &PayloadRequest,
    numbers: &[u64],
    effects: &mut Vec<Effect>,
) {
    let stamped = PayloadOrigin {
        workspace: model.workspace_name(),
        who: model
            .findings
            .triage
            .writer
            .as_ref()
            .map(|writer| writer.who.clone())
            .unwrap_or_default(),
        at: Some(Stamp(model.now.wall)),
        offset: model.connection.clock_offset,
    };
    let payloads = payload_request.payloads(numbers, &model.captures.oob.book, &stamped);
    let Some(first) = payloads.first().cloned() else {
        return;
    };
    model.plant(payloads.clone(), effects);
    match &payload_request.into {
        None => {
            let what = format!("payload {} of logger {}", first.token, first.label);
            let text = text::clean_text(&first.url).into_owned();
            effects.push(Effect::Copy {
                what,
                text,
                needs_names: true,
            });
            model.captures.payloads.last = Some(first.token);
            model.captures.payloads.fresh = Some((first.token, model.now.mono));
            let edit = Action::Payload(PayloadAction::EditPlace);
            let key = model
                .keyboard
                .keymap
                .key_of(Context::Payloads, edit)
                .unwrap_or_default();
            let about = match first.target.as_str() {
                "" => String::new(),
                target => format!(" for \"{target}\""),
            };
            let adds = match model.issue_at_hand() {
                Some(_) => "adds a note or the finding",
                None => "adds a note",
            };
            model.notify(
                Tone::Plain,
                format!("payload created{about} · {key} {adds}"),
            );
        }
        Some(name) => {
            let lines: String = payloads
                .iter()
                .map(|payload| format!("{}\n", payload_request.shape.of(&payload.url)))
                .collect();
            model.captures.payloads.sheet = Some((
                text::file_name(name),
                payloads.iter().map(|payload| payload.token).collect(),
            ));
            effects.push(Effect::Save {
                name: name.clone(),
                content: lines.into_bytes().into(),
            });
        }
    }
}

/// Handles the written file of many payloads: if it got another name, the book is changed. Returns
/// the notice.
pub(crate) fn handle_sheet(
    model: &mut Model,
    path: &std::path::Path,
    effects: &mut Vec<Effect>,
) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let (requested, tokens) = model
        .captures
        .payloads
        .sheet
        .take_if(|(requested, _)| is_numbered(&name, requested))?;
    if name != requested {
        change(
            model,
            &tokens,
            |payload| payload.batch = name.as_str().into(),
            effects,
        );
    }
    let label = model
        .captures
        .oob
        .book
        .get(*tokens.first()?)
        .map(|payload| payload.label.clone())
        .unwrap_or_default();
    Some(format!(
        "{} of logger {label} saved to",
        plural(tokens.len(), "payload")
    ))
}

/// Whether a file name is the requested one, possibly with a number because that file existed.
fn is_numbered(name: &str, requested: &str) -> bool {
    let (stem, ending) = requested
        .rfind('.')
        .map_or((requested, ""), |dot| requested.split_at(dot));
    let number = name
        .strip_prefix(stem)
        .and_then(|rest| rest.strip_suffix(ending)?.strip_prefix('-'));
    name == requested || number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// The payload just created, if this first key after it edits its place.
pub(crate) fn take_fresh(model: &mut Model, key: KeyChord) -> Option<Token> {
    let (token, since) = model.captures.payloads.fresh.take()?;
    let action = model.keyboard.keymap.action(&[Context::Payloads], key);
    let edits =
        action == Some(Action::Payload(PayloadAction::EditPlace)) && model.now.mono < since + FRESH;
    edits.then_some(token)
}

pub(crate) fn open_place(model: &mut Model, token: Token) {
    let Some(payload) = model.captures.oob.book.get(token).cloned() else {
        return;
    };
    let selected = model.issue_at_hand();
    let selected = selected.map(|issue| (issue.key(), issue.name.clone()));
    model.open_form(form::open(&payload, selected));
}

/// Stores the place in the form and closes the form.
pub(crate) fn keep(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(Modal::Form(form)) = model
        .overlay
        .modals
        .pop_if(|modal| matches!(modal, Modal::Form(_)))
    else {
        return;
    };
    let FormTag::Place(token) = form.tag else {
        return;
    };
    change(
        model,
        &[token],
        |payload| form::fill(&form, payload),
        effects,
    );
    model.overlay.drafts.remove(&FormTag::Place(token));
    model.notify(Tone::Good, format!("placement of payload {token} saved"));
}

/// Changes payloads, and stores each under its next version.
fn change(
    model: &mut Model,
    tokens: &[Token],
    put: impl Fn(&mut Payload),
    effects: &mut Vec<Effect>,
) {
    let changed = |token: &Token| {
        let mut payload = Payload::clone(model.captures.oob.book.get(*token)?);
        put(&mut payload);
        payload.version += 1;
        Some(std::sync::Arc::new(payload))
    };
    let changed: Vec<_> = tokens.iter().filter_map(changed).collect();
    model.plant(changed, effects);
}

/// Goes from the payload book to the captures with the payload, and reports hits that are not
/// loaded.
pub(crate) fn to_captures(model: &mut Model) {
    let Some(token) = model.lists.payloads.selected else {
        return;
    };
    let carries = |captured: &&CaptureRow| captured.tokens().any(|one| one == token);
    let here = model.data.captures.rows.iter().filter(carries).count() as u64;
    let hits = model.captures.payloads.hits_of(token).count.max(here);
    let archived = format!(
        "`scandeck captures list --query {}` lists the archive",
        query_of(token)
    );
    match here {
        _ if hits == 0 && !model.captures.payloads.counted => {
            model.notify(Tone::Plain, "hits not counted yet")
        }
        _ if hits == 0 => model.notify(
            Tone::Plain,
            format!("no hits yet · `:wait payload {token}` alerts on the next hit"),
        ),
        0 => model.notify(
            Tone::Plain,
            format!("{}, none loaded · {archived}", plural(hits as usize, "hit")),
        ),
        _ => {
            navigation::go(model, Pane::Captures);
            navigation::set_scope(
                model,
                Scope {
                    logger: None,
                    ..model.navigation.scope.clone()
                },
            );
            // The query is valid.
            let _ = model.set_query(Pane::Captures, &query_of(token));
            if here < hits {
                model.notify(
                    Tone::Plain,
                    format!("{here} of {hits} hits loaded · {archived}"),
                );
            }
        }
    }
}

fn query_of(token: Token) -> String {
    format!("payload:{token}")
}

/// Returns from the captures to the payload book and restores the filter of the captures.
pub(crate) fn back_to_book(model: &mut Model) {
    let mut cursor = model.cursor(Pane::Captures);
    let (filter, earlier) = cursor.filter();
    *filter = earlier.pop().unwrap_or_default();
    drop(cursor);
    model.apply_filter(Pane::Captures);
    navigation::go(model, Pane::Payloads);
    // The captures did not open the book.
    model.navigation.previous = None;
}

/// Whether the captures were opened from the payload book.
pub(crate) fn is_opened_from_book(model: &Model) -> bool {
    let of = model
        .lists
        .payloads
        .selected
        .filter(|_| model.navigation.focus.pane == Pane::Captures);
    let from = model
        .navigation
        .previous
        .as_ref()
        .is_some_and(|(focus, _)| focus.pane == Pane::Payloads);
    from && of.is_some_and(|token| model.lists.captures.filter == query_of(token))
}

/// Goes to the finding of the selected payload.
pub(crate) fn to_finding(model: &mut Model) {
    let payload = model.payload_at_hand().cloned();
    let finding = payload.as_ref().and_then(|payload| payload.finding);
    navigation::go(model, Pane::Findings);
    match finding {
        Some(key) => navigation::reveal(model, Pane::Findings, IssueId::from(key).into()),
        None => model.notify(
            Tone::Plain,
            "payload without a finding: showing all findings",
        ),
    }
}

impl Model {
    /// The position of the token in the URLs of new payloads.
    pub(crate) fn url_form(&self) -> UrlForm {
        self.setting(FORM, &Shared::default()).unwrap_or_default()
    }

    /// Stores the position of the token for this service.
    pub(crate) fn keep_url_form(&mut self, form: UrlForm, effects: &mut Vec<Effect>) {
        if self.url_form() != form {
            self.remember(FORM, &Shared::default(), &form, effects);
        }
    }
}
