//! The consequences of a message. Pure: no I/O, no clock; requests to the outside are returned as
//! effects.
//!
//! ```text
//!   Msg ─┬─► keys ─► modal, or actions ─► feature, or a file of this folder (lines, forms, copies, groups, …)
//!        ├─► poll_updates, cached  data of the poller and of the cache
//!        └─► answers            results of effects
//!                               every path ends in `follow_up`
//! ```
//!
//! This file routes, and orders the steps at the end of a message. `keys` finds the action of a
//! key, `mouse` that of a press, the other files hold one area each.

#[cfg(test)]
mod actions_tests;
#[cfg(test)]
mod cached_tests;
#[cfg(test)]
mod calls_tests;
#[cfg(test)]
mod custom_tests;
#[cfg(test)]
mod event_alerts_tests;
#[cfg(test)]
mod forms_tests;
#[cfg(test)]
mod keys_tests;
#[cfg(test)]
mod lists_tests;
#[cfg(test)]
mod mask_tests;
#[cfg(test)]
mod mouse_tests;
#[cfg(test)]
mod outcomes_tests;
#[cfg(test)]
mod pane_sizes_tests;
#[cfg(test)]
mod properties_tests;
#[cfg(test)]
mod queries_tests;
#[cfg(test)]
mod team_tests;

pub mod actions;
pub mod answers;
pub mod cached;
pub mod captures_read;
pub mod chain_keys;
pub mod copies;
pub mod custom;
pub mod deletions;
pub mod filters;
pub mod findings_read;
pub mod finished_batches;
pub mod forms;
pub mod groups;
pub mod keys;
pub mod lines;
pub mod links;
pub mod live_settings;
pub mod mouse;
pub mod navigation;
pub mod objects;
pub mod on_screen;
pub mod poll_updates;
pub mod prompts;
pub mod report_rows;
pub mod setup;
pub mod steps;

use crate::base::{Effect, Now, RowRef, Tone};
use crate::core::{Msg, commands};
use crate::model::Model;
use crate::{activity, chains, findings, payloads, scans};
use scandeck_wire::contract::Shared;

/// Handles a message: changes the model and returns the requests to the outside.
pub fn update(model: &mut Model, now: Now, msg: Msg) -> Vec<Effect> {
    model.now = now;
    let before = BeforeMessage::of(model, &msg);
    model.screen.dirty = true;
    let mut effects = Vec::new();
    handle(model, msg, &mut effects);
    follow_up(model, before, &mut effects);
    effects
}

/// What the end of a message compares with.
struct BeforeMessage {
    by_hand: bool,
    /// The selected rows of the lists in which verdicts are given.
    rows: [Option<RowRef>; 2],
    workspace: Option<Shared>,
    is_disconnected: bool,
}

impl BeforeMessage {
    fn of(model: &Model, msg: &Msg) -> Self {
        Self {
            by_hand: matches!(msg, Msg::Key(_) | Msg::Mouse(_) | Msg::Paste(_)),
            rows: findings::decide::keys::rows(model),
            workspace: model.workspace().map(|workspace| workspace.name.clone()),
            is_disconnected: model.is_disconnected(),
        }
    }
}

/// Brings everything that depends on the model up to date, and requests what it lacks.
///
/// The order is a contract: each step reads what the earlier ones have changed.
fn follow_up(model: &mut Model, before: BeforeMessage, effects: &mut Vec<Effect>) {
    // A created object selects its row, which `refresh` computes.
    model.find_outcomes();
    model.refresh();
    // The selection is that of the new rows: a row that came under the cursor starts the guard.
    findings::decide::keys::guard(model, before.rows, before.by_hand);
    commands::parse_opened(model);
    payloads::keys::remove_old_refusal(model);
    model.overlay.notices.expire(model.now.mono);
    let shown = on_screen::follow_detail(model, before.by_hand);
    findings::review::refresh_or_pause(model);
    on_screen::mark_seen(model, shown);
    // A scan may be stalled by now, and another detail may be shown.
    model.refresh();
    // An alert or a seen finding may be due at the new state of scans and rows.
    model.tend_alerts(effects);
    model.see_finding(effects);
    model.report_look(effects);
    model.resume_team(before.is_disconnected, effects);
    model.ask_to_join();
    model.correlate(effects);
    // The count ends only if `correlate` has requested no new rows.
    model.end_count_since();
    model.find_event_alerts(effects);
    model.request_view(effects);
    // It finds what was seen or decided among the effects, so all of those come before it.
    model.remember_looked(before.workspace, effects);
    model.read_shown_findings(effects);
    model.read_shown_captures(effects);
    // After the bodies on the screen, those that the filter and exports need.
    model.next_chunk(effects);
    commands::list_folder(model, effects);
    forms::read_report_formats(model, effects);
    forms::preview_report(model, effects);
    finish_before_quit(model, effects);
    // Last, because it masks all effects.
    model.mask_effects(effects);
}

/// Puts the files of unfinished exports before the end; no chunk is queried after it.
fn finish_before_quit(model: &mut Model, effects: &mut Vec<Effect>) {
    if !model.captures.is_quitting && !effects.contains(&Effect::Quit) {
        return;
    }
    let mut files = Vec::new();
    model.captures.is_quitting = !model.finish_exports(&mut files);
    effects.retain(|effect| *effect != Effect::Quit);
    effects.splice(0..0, files);
    if !model.captures.is_quitting {
        effects.push(Effect::Quit);
    }
}

/// Passes a message to the file that handles it.
fn handle(model: &mut Model, msg: Msg, effects: &mut Vec<Effect>) {
    match msg {
        Msg::Key(event) => keys::handle_key(model, event, effects),
        Msg::Mouse(event) => mouse::handle_mouse(model, event, effects),
        Msg::Paste(text) => keys::handle_paste(model, &text),
        Msg::Resize(size) => model.screen.size = size,
        Msg::Update(update) => poll_updates::handle_update(model, update),
        Msg::Cached(cached) => cached::handle_cached(model, cached),
        Msg::Called { ticket, result } => answers::handle_called(model, ticket, result, effects),
        Msg::Copied(result) => answers::handle_copied(model, result),
        Msg::BrowserOpened(Ok(url)) => {
            model.notify(Tone::Good, format!("opened in the browser: {url}"))
        }
        Msg::BrowserOpened(Err(problem)) => model.notify(Tone::Bad, problem.to_string()),
        Msg::Edited(result) => answers::handle_edited(model, result),
        Msg::Paged(Ok(())) => {}
        Msg::Paged(Err(problem)) => model.notify_problem("pager failed", &problem),
        Msg::Saved(result) => answers::handle_saved(model, result, effects),
        Msg::Exported(result) => answers::handle_exported(model, result, effects),
        Msg::BodySaved { sent, saved } => copies::handle_body_saved(model, &sent, saved, effects),
        Msg::Connected(result) => answers::handle_connected(model, result),
        Msg::ReportFormats(formats) => forms::handle_report_formats(model, &formats),
        Msg::ReportPreviewed { template, result } => {
            forms::handle_report_preview(model, &template, *result);
        }
        Msg::ImportRead { path, result } => scans::import::handle_read(model, &path, *result),
        Msg::FolderListed(listed) => commands::handle_folder(model, listed),
        Msg::KeyRead { source, result } => actions::handle_key_read(model, &source, result),
        Msg::ScopeExtended(result) => forms::handle_scope_extended(model, result, effects),
        Msg::ServiceStarted(result) => actions::handle_service_started(model, result),
        Msg::ServiceMoved(base_url) => actions::handle_service_moved(model, base_url),
        Msg::Correlated(generation, correlated) => {
            model.handle_correlated(generation, *correlated);
            filters::renew_offers(model);
            commands::renew_offers(model);
        }
        Msg::Viewed(key, viewed) => {
            model.handle_viewed(key, viewed);
            filters::renew_offers(model);
            commands::renew_offers(model);
        }
        Msg::TextsSearched(chunk, found) => model.handle_texts_searched(&chunk, found),
        Msg::Calls(recorded) => activity::keys::handle_calls(model, *recorded),
        Msg::Triage(news) => model.handle_triage(news),
        Msg::Team(news) => model.handle_team(news),
        Msg::Oob(news) => model.handle_oob(news, effects),
        Msg::PayloadNumbers(payload_request, numbers) => {
            payloads::keys::handle_drawn(model, &payload_request, &numbers, effects)
        }
        Msg::AlertClaimed(alert, routes) => model.handle_alert_claimed(&alert, routes, effects),
        Msg::AlertDue(alert) => effects.push(Effect::Alert(alert)),
        Msg::AlertFailed { problem, again } => {
            model.handle_alert_failed(&problem, again, effects);
        }
        Msg::CommandEnded { action, result } => custom::handle_ended(model, action, result),
        Msg::SettingsRead(result) => live_settings::handle_settings_read(model, result, effects),
        Msg::NextChunk => model.run_chunk(effects),
        Msg::FindingsRead(purpose, read) => {
            findings_read::handle_findings_read(model, purpose, read, effects)
        }
        Msg::ProofChecked(planned, checked) => {
            findings::proof::keys::handle_checked(model, *planned, checked);
        }
        Msg::Chained(made) => chains::keys::handle_chained(model, *made),
        Msg::CapturesRead {
            purpose,
            captures,
            problem,
        } => captures_read::handle_captures_read(model, purpose, captures, problem, effects),
        Msg::Wake => {}
    }
}
