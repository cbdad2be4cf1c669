//! What the screen shows after a message: the detail, and the rows that count as seen by it.

use crate::base::{Layout, Pane, RowRef, Tab};
use crate::core::update::poll_updates;
use crate::model::{Modal, Model, SEEN_AFTER};
use crate::text::DetailSubject;
use scandeck_wire::contract::{Scan, ScanId};

/// A detail on the screen.
type ShownDetail = (Pane, DetailSubject, Tab);

/// Resets the scroll position of another detail, and returns the detail that is shown.
pub(crate) fn follow_detail(model: &mut Model, by_hand: bool) -> Option<ShownDetail> {
    let shown = model.shown_detail();
    if model.navigation.focus.in_detail && shown.is_none() {
        model.navigation.focus.in_detail = false;
    }
    let is_raw_log = matches!(shown, Some((Pane::Scans, _, Tab::Raw)));
    let grows = is_raw_log
        && model
            .selected_item::<Scan>()
            .is_some_and(|scan| scan.is_active());
    model.detail.belong_to(shown, grows);
    let beside = shown.filter(|_| !model.navigation.focus.in_detail);
    model.screen.detail.settle(model.now.mono, by_hand, beside);
    shown
}

/// Marks what is on the screen as seen, unless a modal covers it.
pub(crate) fn mark_seen(model: &mut Model, shown: Option<ShownDetail>) {
    let covered = model
        .overlay
        .modals
        .iter()
        .any(|modal| !matches!(modal, Modal::Line(_) | Modal::Command(_)));
    match shown.filter(|_| !covered) {
        Some((pane, DetailSubject::Row(RowRef::Item(id)), _)) => look_at(model, pane, id),
        Some((_, DetailSubject::Row(RowRef::Group(_)) | DetailSubject::ReviewSummary, _))
        | None => model.findings.looking = None,
    }
    model.tally_scans();
    if !covered {
        see_captures(model);
    }
}

/// Notes since when a row is looked at. A scan is seen after a second; `Model::see_finding` does
/// the same for findings.
fn look_at(model: &mut Model, pane: Pane, id: i64) {
    let now = model.now.mono;
    match model.findings.looking {
        Some((was_pane, was_id, since)) if (was_pane, was_id) == (pane, id) => {
            if pane == Pane::Scans && now >= since + SEEN_AFTER {
                model.scans.progress.see(ScanId(id));
            }
        }
        _ => model.findings.looking = Some((pane, id, now)),
    }
}

/// New captures are seen at once while their list is on the screen, follows its end, and no filter
/// hides some of them.
fn see_captures(model: &mut Model) {
    let is_list = model.navigation.focus.pane == Pane::Captures || model.layout() == Layout::Wide;
    let is_shown = is_list && model.on_screen().contains(&Pane::Captures);
    if !is_shown || !model.lists.captures.is_following() || !model.lists.captures.filter.is_empty()
    {
        return;
    }
    // Captures that another program read can be here before the new number of requests.
    let only = model.navigation.scope.logger;
    model
        .captures
        .payloads
        .unseen
        .retain(|&logger, _| only.is_some_and(|only| only != logger));
    if model.captures.new_captures == 0 {
        return;
    }
    let loggers = model
        .data
        .loggers
        .value()
        .map(|table| table.items())
        .unwrap_or_default();
    let shown = loggers
        .iter()
        .filter(|logger| only.is_none_or(|only| only == logger.id));
    model
        .captures
        .seen_requests
        .extend(shown.map(|logger| (logger.id, logger.num_requests)));
    poll_updates::count_unseen(model);
}
