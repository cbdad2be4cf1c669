//! Commands that open a form with typed input: a report, a manual finding. Nothing is created
//! before the form is sent.

use crate::base::Effect;
use crate::core::update::report_rows;
use crate::findings::{export as out, manual};
use crate::forms::FieldId;
use crate::input::action::{Action, ItemAction};
use crate::model::{Modal, Model};
use crate::palette::Command;
use crate::palette::args::Args;
use crate::palette::slot::{ArgumentShape, ArgumentSlot};
use crate::reports;
use scandeck_wire::contract::{ReportFormat, ReportSource, Risk};

/// The formats by name.
const FORMATS: &[&str] = &["pdf", "html", "json", "csv", "xlsx", "docx"];
/// The authors of a report; only scandeck includes decisions.
const MAKERS: &[&str] = &["service", "scandeck"];
/// The risks by name, the worst first.
const RISKS: &[&str] = &["critical", "high", "medium", "low", "info"];

/// The commands of this area.
pub(crate) static COMMANDS: &[Command] = &[
    Command::new(
        "report",
        &[
            ArgumentSlot::needed(ArgumentShape::Choice(FORMATS, "FORMAT")),
            ArgumentSlot::after("by", ArgumentShape::Choice(MAKERS, "service|scandeck")),
            ArgumentSlot::after("on", ArgumentShape::Findings),
        ],
        "open the report form for a query or the selected rows; by scandeck: with decisions",
        "report html by scandeck on risk>=high",
        report,
    )
    .or(Action::Item(ItemAction::Report)),
    Command::new(
        "manual finding",
        &[
            ArgumentSlot::optional(ArgumentShape::Text("NAME")),
            ArgumentSlot::after("risk", ArgumentShape::Choice(RISKS, "RISK")),
            ArgumentSlot::after("on", ArgumentShape::Target),
        ],
        "open the form of a manual finding; quote a name that contains `on`",
        "manual finding Stored XSS in the guest book risk high on t1.acme.test",
        manual_finding,
    )
    .off_when(Model::cannot_decide),
];

fn report(model: &mut Model, args: &Args, _: &mut Vec<Effect>) -> Result<(), String> {
    let [format, maker] = [FORMATS, MAKERS].map(|words| args.choice_of(words));
    if let Some(why) = model
        .findings_wait_notice()
        .filter(|_| args.query().is_none())
    {
        return Err(why.to_owned());
    }
    let mut sets = report_rows::report_sets(model);
    if let Some(query) = args.query() {
        let (ids, words) = out::chosen(model, Some(query))?;
        if ids.is_empty() {
            return Err(format!("no finding matches {words}"));
        }
        let ids = ids.into_iter().map(i64::from).collect();
        sets.insert(
            0,
            report_rows::id_set(model, &words, ReportSource::Findings, ids),
        );
    }
    model.open_form(reports::form::open(sets));
    let known = |format: &str| {
        ReportFormat::KNOWN
            .iter()
            .position(|known| known.as_str() == format)
    };
    let maker = maker.and_then(|maker| MAKERS.iter().position(|known| *known == maker));
    choose(model, FieldId::Format, format.and_then(known));
    choose(model, FieldId::MadeBy, maker);
    if args.query().is_some() {
        choose(
            model,
            FieldId::Source,
            ReportSource::KNOWN
                .iter()
                .position(|known| *known == ReportSource::Findings),
        );
        choose(model, FieldId::Resources, Some(0));
    }
    model.check_form();
    Ok(())
}

fn manual_finding(model: &mut Model, args: &Args, _: &mut Vec<Effect>) -> Result<(), String> {
    manual::open_new(model);
    let target = args.target().and_then(|id| model.target_name(id).cloned());
    let risk = args
        .choice()
        .and_then(|risk| Risk::DOWN.iter().position(|known| known.as_str() == risk));
    choose(model, FieldId::Risk, risk);
    for (id, text) in [
        (
            FieldId::Name,
            args.text().map(|name| name.trim_matches('"').to_owned()),
        ),
        (FieldId::TargetName, target.map(|target| target.to_string())),
    ] {
        if let Some((Modal::Form(form), text)) = model.overlay.modals.last_mut().zip(text)
            && let Some(field) = form.field_mut(id)
        {
            field.set_text(&text);
        }
    }
    model.check_form();
    Ok(())
}

/// Sets a choice of the form that is open.
fn choose(model: &mut Model, id: FieldId, at: Option<usize>) {
    if let Some((Modal::Form(form), at)) = model.overlay.modals.last_mut().zip(at)
        && let Some(field) = form.field_mut(id)
    {
        field.select(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_choices_match_contract() {
        assert_eq!(
            FORMATS,
            ReportFormat::KNOWN
                .iter()
                .map(ReportFormat::as_str)
                .collect::<Vec<_>>()
        );
        assert_eq!(RISKS, Risk::DOWN.map(Risk::as_str));
    }
}
