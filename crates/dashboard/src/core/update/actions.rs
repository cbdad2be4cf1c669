//! Routing of actions: an open review comes first, then each area has its function.

use crate::base::{Effect, ListKind, Pane, Tab, Tone};
use crate::core::update::{copies, custom, groups, keys, links, navigation, objects, steps};
use crate::findings::decide::keys as decide;
use crate::findings::review;
use crate::input::{
    Action, AppAction, Context, DecideAction, GoAction, MoveAction, ReviewAction, TextAction,
    ViewAction,
};
use crate::model::Model;
use crate::payloads::keys as payloads;
use scandeck_domain::problem::Problem;

/// Carries out an action on the panes, or on the review that is open.
pub(crate) fn handle_action(model: &mut Model, action: Action, effects: &mut Vec<Effect>) {
    match model
        .reviewing()
        .map(|review| (review.card().is_none(), review.tab == Tab::Where))
    {
        Some((on_summary, on_where)) => on_review(model, action, on_summary, on_where, effects),
        None => in_panes(model, action, effects),
    }
}

/// Actions that differ in a review; all others do the same as in the panes.
fn on_review(
    model: &mut Model,
    action: Action,
    on_summary: bool,
    on_where: bool,
    effects: &mut Vec<Effect>,
) {
    match action {
        Action::View(ViewAction::Back) if model.detail.search.is_some() => {
            in_panes(model, action, effects)
        }
        Action::View(ViewAction::Back | ViewAction::Quit) => review::leave(model, effects),
        Action::View(ViewAction::PreviousTab) | Action::Text(TextAction::TabLeft) => {
            review::walk_tabs(model, -1)
        }
        Action::View(ViewAction::NextTab) | Action::Text(TextAction::TabRight) => {
            review::walk_tabs(model, 1)
        }
        Action::View(ViewAction::Zoom)
        | Action::Text(TextAction::MarkThis)
        | Action::App(AppAction::CopyPrefix) => {
            model.notify(
                Tone::Plain,
                format!("`{}` has no effect on a review card", action.command()),
            );
        }
        Action::Review(ReviewAction::Exclude) if !on_where => {
            steps::handle_move(model, MoveAction::PageDown)
        }
        Action::Review(action) => review::handle_review(model, action, effects),
        Action::Decide(DecideAction::Undo) if on_summary => review::prompt_undo_all(model),
        Action::Verdict(_) | Action::Decide(DecideAction::Again) if on_summary => {
            let back = Action::Review(ReviewAction::Back);
            model.notify(
                Tone::Plain,
                format!(
                    "this is the summary: {} goes back to the cards",
                    model.key_label(Context::Review, back)
                ),
            );
        }
        Action::Move(action) if on_where => review::walk_members(model, action),
        Action::Go(GoAction::Top) if on_where => review::walk_members(model, MoveAction::Top),
        action => in_panes(model, action, effects),
    }
}

fn in_panes(model: &mut Model, action: Action, effects: &mut Vec<Effect>) {
    match action {
        Action::View(action) => navigation::handle_view(model, action, effects),
        Action::App(action) => handle_app(model, action, effects),
        Action::Terminal(action) => keys::handle_terminal(model, action, effects),
        Action::Payload(action) => payloads::handle_payload(model, action, effects),
        Action::Go(action) => links::handle_go(model, action),
        Action::Plot(_) => model.notify_no_effect(action),
        Action::Copy(action) => copies::handle_copy(model, action, effects),
        Action::Shape(action) => payloads::copy_as(model, action.shape(), effects),
        Action::Group(action) => groups::handle_group(model, action),
        Action::Move(action) => steps::handle_move(model, action),
        Action::List(action) => steps::handle_list(model, action, effects),
        Action::Text(action) => steps::handle_text(model, action, effects),
        Action::Item(action) => objects::handle_item(model, action, effects),
        Action::Verdict(action) => decide::handle_verdict(model, action, effects),
        Action::Decide(action) => decide::handle_decide(model, action, effects),
        Action::Custom(action) => custom::handle_custom(model, action, effects),
        Action::Review(ReviewAction::Open) => {
            review::handle_review(model, ReviewAction::Open, effects)
        }
        // Actions of a review card, of forms and lines, and of the first-start question.
        Action::Review(
            ReviewAction::Skip
            | ReviewAction::Back
            | ReviewAction::Exclude
            | ReviewAction::Summary
            | ReviewAction::End,
        )
        | Action::Form(_)
        | Action::Edit(_)
        | Action::Setup(_) => model.notify_no_effect(action),
    }
}

fn handle_app(model: &mut Model, action: AppAction, effects: &mut Vec<Effect>) {
    match action {
        // The lists follow when the key is read.
        AppAction::Refresh if model.is_key_rejected() && model.session.reads_key_again => {
            if std::mem::replace(&mut model.connection.is_reading_key, true) {
                model.notify(Tone::Plain, "reading the API key");
            } else {
                effects.push(Effect::ReadKey);
            }
        }
        AppAction::Refresh if model.is_service_stopped() => {
            if !std::mem::replace(&mut model.connection.is_starting_service, true) {
                effects.push(Effect::StartService);
            }
            model.notify(Tone::Plain, "starting the local service");
        }
        AppAction::Refresh => refresh(model),
        AppAction::GoPrefix => model.keyboard.pending = Some(Context::Go),
        AppAction::CopyPrefix => model.keyboard.pending = Some(Context::Copy),
        AppAction::GroupPrefix => {
            let of_captures = model.navigation.focus.pane == Pane::Captures;
            model.keyboard.pending = Some(if of_captures {
                Context::CaptureGroup
            } else {
                Context::Group
            });
        }
        AppAction::Commands => model.open_command_line(""),
    }
}

/// The API key was read again, after the service had rejected it.
pub(crate) fn handle_key_read(model: &mut Model, source: &str, result: Result<bool, Problem>) {
    model.connection.is_reading_key = false;
    match result {
        Ok(true) => model.notify(Tone::Plain, format!("new API key read from {source}")),
        Ok(false) => model.notify(Tone::Bad, format!("API key from {source} has not changed")),
        Err(problem) => model.notify_problem("API key not read", &problem),
    }
    refresh(model);
}

/// The local service was started again, with a warning, or why not.
pub(crate) fn handle_service_started(model: &mut Model, result: Result<Option<String>, Problem>) {
    model.connection.is_starting_service = false;
    match result {
        Ok(None) => model.notify(Tone::Good, "local service started"),
        Ok(Some(note)) => model.notify(Tone::Bad, note),
        Err(problem) => model.notify_problem("local service not connected", &problem),
    }
    refresh(model);
}

/// The local service has started at another address, which requests use already.
pub(crate) fn handle_service_moved(model: &mut Model, base_url: String) {
    model.session.base_url = base_url;
    model.learn_names();
}

/// Refreshes the lists on the screen, and applies all filters again.
fn refresh(model: &mut Model) {
    let mut lists = model.visible();
    if lists.is_empty() {
        // A view without a list of the service, such as the activity, tries the connection again.
        lists.push(ListKind::Workspaces);
    }
    for list in lists {
        model.request_refresh(list);
    }
    model.lists.findings.retained = Default::default();
    model.lists.board.retained = Default::default();
    for pane in Pane::ALL {
        model.show_rows(pane);
    }
}
