//! Keys in forms, and sending them.

use crate::base::{Batch, Effect, FormTag, Tone};
use crate::core::update::{lines, setup};
use crate::findings::{export, manual};
use crate::forms::{FieldValue, Form, FormField};
use crate::input::{Action, EditAction, FormAction, KeyEvent, ViewAction};
use crate::model::{Help, Modal, Model};
use crate::payloads::keys as payloads;
use crate::reports;
use crate::reports::form::LocalReport;
use scandeck_domain::problem::Problem;
use scandeck_report::ReportPreview;
use scandeck_wire::contract::ReportFormat;
use scandeck_wire::text::plural;
use std::collections::BTreeSet;

/// A key in a form.
pub(crate) fn handle_key(
    model: &mut Model,
    event: KeyEvent,
    action: Option<Action>,
    effects: &mut Vec<Effect>,
) {
    let Some(Modal::Form(form)) = model.overlay.modals.last_mut() else {
        return;
    };
    match action {
        Some(Action::Edit(EditAction::Close)) => return lines::close(model),
        Some(Action::View(ViewAction::Help)) => {
            return model.overlay.modals.push(Modal::Help(Help::default()));
        }
        // The input does not change while the form is being sent.
        _ if form.sending => return,
        Some(Action::Form(FormAction::Send)) => return send(model, effects),
        Some(Action::Form(FormAction::Enter)) if form.focused().is_none() => {
            return send(model, effects);
        }
        Some(Action::Form(FormAction::Editor)) => {
            if let Some(field) = form.focused().filter(|field| field.is_text()) {
                effects.push(Effect::Edit(field.text()));
            }
            return;
        }
        Some(Action::Form(action)) => type_in(form, event, Some(action)),
        Some(_) | None => type_in(form, event, None),
    }
    model.check_form();
}

/// A key that moves in a form, or changes the focused field.
fn type_in(form: &mut Form, event: KeyEvent, action: Option<FormAction>) {
    let at = form.at;
    let field = form.fields.get_mut(at);
    match (action, field) {
        (Some(FormAction::NextField), _) => form.walk(1),
        (Some(FormAction::PreviousField), _) => form.walk(-1),
        (Some(FormAction::FieldDown), _) => walk(form, 1),
        (Some(FormAction::FieldUp), _) => walk(form, -1),
        (Some(FormAction::ChoiceRight | FormAction::ChoiceNext), Some(field))
            if !field.is_text() =>
        {
            field.choose(1)
        }
        (Some(FormAction::ChoiceLeft), Some(field)) if !field.is_text() => field.choose(-1),
        (
            Some(FormAction::Enter),
            Some(FormField {
                value: FieldValue::Text(input),
                touched,
                ..
            }),
        ) if input.is_multiline() => {
            input.break_line();
            *touched = true;
        }
        (Some(FormAction::Enter), Some(_)) => form.walk(1),
        // Any other key types into a text field.
        (
            Some(_) | None,
            Some(FormField {
                value: FieldValue::Text(input),
                touched,
                ..
            }),
        ) => {
            *touched |= input.type_key(event);
        }
        (Some(_) | None, Some(_) | None) => {}
    }
}

/// Moves to the next line of a field, and from its last line to the next field; or back.
fn walk(form: &mut Form, by: isize) {
    match form.input() {
        Some(input) if input.has_row(by) => input.walk_rows(by),
        _ => form.walk(by),
    }
}

/// Text was pasted into the focused field, or edited in $EDITOR.
pub(crate) fn handle_typed(model: &mut Model) {
    if let Some(Modal::Form(form)) = model.overlay.modals.last_mut()
        && let Some(field) = form.fields.get_mut(form.at)
    {
        field.touched = true;
    }
    model.check_form();
}

/// Sends the form, or focuses the first field with an error.
fn send(model: &mut Model, effects: &mut Vec<Effect>) {
    if let Some(Modal::Form(form)) = model.overlay.modals.last_mut() {
        form.tried = true;
        form.problem = None;
    }
    let can_send = model.check_form();
    let Some(Modal::Form(form)) = model.overlay.modals.last_mut() else {
        return;
    };
    if !can_send {
        let error = form
            .fields
            .iter()
            .position(|field| field.shown && field.error.is_some());
        form.at = error.unwrap_or(form.at);
        return;
    }
    match form.tag {
        FormTag::Place(_) => return payloads::keep(model, effects),
        FormTag::ManualFinding(_) => return manual::keep(model, effects),
        FormTag::Connect => {
            form.sending = true;
            return setup::connect(model, effects);
        }
        FormTag::NewReport => {
            if let Some(report) = reports::form::local_report(form) {
                return write_report(model, report, effects);
            }
        }
        FormTag::NewWorkspace
        | FormTag::EditWorkspace(_)
        | FormTag::NewTargets
        | FormTag::TargetTags(_)
        | FormTag::NewScan
        | FormTag::NewSchedule
        | FormTag::Import
        | FormTag::NewLogger => {}
    }
    form.sending = true;
    let batch = Batch::new(form.kind.verb, Some(form.tag), (form.kind.jobs)(form));
    model.begin(batch, effects);
}

/// Targets were added to the scope file: the refused lines are sent again. A closed form is opened
/// with its draft, so that its reasons are shown if they are refused again.
pub(crate) fn handle_scope_extended(
    model: &mut Model,
    result: Result<usize, Problem>,
    effects: &mut Vec<Effect>,
) {
    match result {
        Ok(count) => {
            model.notify(
                Tone::Good,
                format!("{} added to the scope file", plural(count, "target")),
            );
            if model.overlay.modals.is_empty()
                && let Some(draft) = model.overlay.drafts.remove(&FormTag::NewTargets)
            {
                model.overlay.modals.push(Modal::Form(Box::new(draft)));
            }
            let can_send = |form: &Form| form.tag == FormTag::NewTargets && !form.sending;
            if matches!(model.overlay.modals.last(), Some(Modal::Form(form)) if can_send(form)) {
                send(model, effects);
            }
        }
        Err(problem) => model.notify_problem("scope file not changed", &problem),
    }
}

/// Writes the report of a form that needs no service, and closes the form.
fn write_report(model: &mut Model, report: LocalReport, effects: &mut Vec<Effect>) {
    model.overlay.modals.pop();
    model.overlay.drafts.remove(&FormTag::NewReport);
    let LocalReport {
        format,
        issues,
        request,
    } = report;
    if let Err(problem) = export::write(model, &issues, format, request, effects) {
        model.notify(Tone::Bad, problem);
    }
}

/// Reads the report formats of the service once, when the form of a new report is open.
pub(crate) fn read_report_formats(model: &mut Model, effects: &mut Vec<Effect>) {
    let is_report =
        |modal: &Modal| matches!(modal, Modal::Form(form) if form.tag == FormTag::NewReport);
    if model.overlay.modals.last().is_some_and(is_report)
        && !std::mem::replace(&mut model.calls.are_formats_requested, true)
    {
        effects.push(Effect::ReadReportFormats);
    }
}

/// Reads the template of the form of a new report, when its field is left or the report changes.
pub(crate) fn preview_report(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(Modal::Form(form)) = model.overlay.modals.last_mut() else {
        return;
    };
    if let Some(report) = reports::form::next_preview(form) {
        let LocalReport {
            format,
            issues,
            request,
        } = report;
        // Without findings the form says so.
        let _ = export::preview(model, &issues, format, request, effects);
        model.check_form();
    }
}

/// Shows how the report of the form would begin.
pub(crate) fn handle_report_preview(
    model: &mut Model,
    template: &str,
    result: Result<ReportPreview, Problem>,
) {
    let forms = model.overlay.modals.iter_mut();
    let mut previews = forms
        .filter_map(Modal::try_as_form_mut)
        .filter_map(|form| form.subject.preview.as_mut());
    if let Some(preview) = previews.find(|preview| preview.template == template) {
        preview.result = Some(result);
    }
    model.check_form();
}

/// The formats that are not in the document of the service cannot be chosen.
pub(crate) fn handle_report_formats(model: &mut Model, formats: &BTreeSet<String>) {
    let others = ReportFormat::KNOWN
        .iter()
        .map(ReportFormat::as_str)
        .filter(|format| !formats.contains(*format));
    let refused = others.map(|format| {
        (
            format.to_owned(),
            "not in the OpenAPI document of the service".to_owned(),
        )
    });
    model.calls.refused_formats.extend(refused);
    model.pass_on_refused_formats();
    model.check_form();
}
