//! Findings whose long texts were read: the action that needed them continues.

use crate::base::{Effect, FindingUse};
use crate::core::update::{copies, custom};
use crate::data::ReadFinding;
use crate::findings::explain::keys as explain;
use crate::findings::proof::keys as proof;
use crate::findings::retest::keys::show_difference_of;
use crate::model::Model;

pub(crate) fn handle_findings_read(
    model: &mut Model,
    purpose: FindingUse,
    read: Vec<ReadFinding>,
    effects: &mut Vec<Effect>,
) {
    let unreadable = read
        .iter()
        .find_map(|(_, texts)| texts.as_ref().err())
        .cloned();
    match (purpose, unreadable) {
        (FindingUse::Show, _) => model.findings.shown.take(read),
        (FindingUse::Why(issue), _) => explain::show(model, issue, &read),
        (FindingUse::Prove(issue), _) => proof::plan(model, issue, &read, effects),
        (_, Some(problem)) => model.notify_problem("texts of the finding not read", &problem),
        (FindingUse::Difference, None) => show_difference_of(model, &read),
        (
            FindingUse::Json | FindingUse::SaveJson | FindingUse::Markdown | FindingUse::Curl,
            None,
        ) => copies::copy_findings(model, purpose, &read, effects),
        (FindingUse::Run(action), None) => custom::run_on_findings(model, action, &read, effects),
    }
}
