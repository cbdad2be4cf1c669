//! What follows from a message. Pure: no I/O, no clock; what is wanted from outside is returned as effects.
//!
//! ```text
//!   Msg ─► keys ──┬─► moves · lines · commands · prompts · forms · things · copies · decide · undo
//!          news   │
//!          answers┘                    every path ends in `settle`
//! ```
//!
//! This file only routes. `keys` finds the action of a key, the other files carry one area each.

mod alerts;
mod answers;
pub(super) mod board;
mod cached;
mod captures;
mod changed;
mod commands;
mod concluded;
mod copies;
mod decide;
mod decide_menu;
mod deletions;
mod filters;
mod forms;
mod goes;
mod groups;
mod keys;
mod lines;
mod moves;
mod news;
mod oob;
mod own;
mod payloads;
mod prompts;
mod proof;
mod review;
mod rules;
mod steps;
mod things;
mod undo;

pub(super) use commands::command_table;

use std::time::Duration;

use super::effect::Effect;
use super::modal::Modal;
use super::model::{Model, Pane};
use super::msg::{Msg, Now};
use super::notices::Tone;
use super::seen::SEEN_AFTER;
use super::stream::StreamList;
use crate::contract::ScanId;

/// Takes a message: changes the model, says what is wanted from the outside.
pub fn update(model: &mut Model, now: Now, msg: Msg) -> Vec<Effect> {
    model.now = now;
    let mut effects = Vec::new();
    let by_hand = matches!(msg, Msg::Key(_) | Msg::Paste(_));
    let rows = decide::rows(model);
    let workspace = model.workspace().map(|workspace| workspace.name.clone());
    match msg {
        Msg::Key(event) => keys::handle_key(model, event, &mut effects),
        Msg::Paste(text) => keys::handle_paste(model, &text),
        Msg::Resize(size) => {
            model.size = size;
            model.dirty = true;
        }
        Msg::Update(update) => news::handle_update(model, update),
        Msg::Cached(cached) => cached::handle_cached(model, cached),
        Msg::Called { ticket, result } => answers::handle_called(model, ticket, result, &mut effects),
        Msg::Copied(result) => answers::handle_copied(model, result),
        Msg::Edited(result) => answers::handle_edited(model, result),
        Msg::Saved(result) => answers::handle_saved(model, result, &mut effects),
        Msg::BodySaved { sent, saved } => copies::handle_body_saved(model, &sent, saved, &mut effects),
        Msg::Connected(result) => answers::handle_connected(model, result),
        Msg::Arranged(generation, arranged) => model.handle_arranged(generation, *arranged),
        Msg::Triage(news) => model.handle_triage(news),
        Msg::Oob(news) => model.handle_oob(news, &mut effects),
        Msg::Drawn(planting, numbers) => payloads::handle_drawn(model, &planting, &numbers, &mut effects),
        Msg::SignalFailed(problem) => model.say_problem("signal command", &problem),
        Msg::AskOn => {
            model.asks_on = false;
            model.dirty = true;
            match model.lists.captures.unasked() {
                0 => model.gather(&mut effects),
                _ => model.ask_captures(StreamList::ask_on),
            }
        }
        Msg::Woke => model.dirty = true,
    }
    decide::guard(model, rows, by_hand);
    settle(model);
    model.tend_signals(&mut effects);
    model.see_finding(&mut effects);
    model.count_tabs();
    model.arrange(&mut effects);
    model.remember_looked(workspace, &mut effects);
    model.ask_on(&mut effects);
    if effects.contains(&Effect::Quit) {
        // Nothing is asked on after it.
        let mut files = Vec::new();
        while !model.exports.is_empty() {
            model.gather(&mut files);
        }
        effects.splice(0..0, files);
    }
    effects
}

/// What holds after every message: expired notices leave, the scroll position belongs to the shown detail, what was
/// looked at counts as seen.
fn settle(model: &mut Model) {
    let now = model.now.mono;
    model.dirty |= model.notices.expire(now);
    let shown = model.shown_detail();
    if model.focus.in_detail && shown.is_none() {
        model.focus.in_detail = false;
        model.dirty = true;
    }
    model.detail.belong_to(shown);
    review::settle(model);
    let covered = model.modals.iter().any(|modal| !matches!(modal, Modal::Line(_) | Modal::Command(_)));
    match shown.map(|(pane, id, _)| (pane, id)).filter(|_| !covered) {
        Some((pane, id)) => match model.looking {
            Some((was_pane, was_id, since)) if (was_pane, was_id) == (pane, id) => {
                if pane == Pane::Scans && now >= since + SEEN_AFTER {
                    model.watch.see(ScanId(id));
                }
            }
            _ => model.looking = Some((pane, id, now)),
        },
        None => model.looking = None,
    }
    if let Some(scans) = model.data.scans.value() {
        let tally = model.watch.tally(now, scans);
        let before = std::mem::replace(&mut model.tally, tally);
        model.dirty |= tally != before;
        if tally.stalled != before.stalled {
            // Nothing new came of a scan that stalls: its place in the order of need is another all the same.
            model.show_rows(Pane::Scans);
        }
    }
    if !covered {
        see_captures(model);
    }
    model.see_hits();
}

/// What comes into a stream that is on the screen and follows its end is seen as it comes.
fn see_captures(model: &mut Model) {
    if model.new_captures == 0 || !model.lists.captures.goes_along() || !model.on_screen().contains(&Pane::Captures) {
        return;
    }
    let only = model.scope.logger;
    let loggers = model.data.loggers.value().map(|table| table.items()).unwrap_or_default();
    let shown = loggers.iter().filter(|logger| only.is_none_or(|only| only == logger.id));
    model.seen_requests.extend(shown.map(|logger| (logger.id, logger.num_requests)));
    news::count_unseen(model);
}

impl Model {
    /// Says something at the edge of the screen.
    pub(super) fn say(&mut self, tone: Tone, text: impl Into<String>) {
        self.notices.say(self.now.mono, tone, text);
        self.dirty = true;
    }

    /// When looking at the present detail begins to count, if that is still to come.
    pub(super) fn seen_at(&self) -> Option<Duration> {
        if let Some((_, at)) = self.unread_on_screen() {
            return Some(at).filter(|&at| at > self.now.mono);
        }
        let (pane, _, since) = self.looking?;
        (pane == Pane::Scans).then_some(since + SEEN_AFTER).filter(|&at| at > self.now.mono)
    }
}

#[cfg(test)]
mod tests;
