//! The keys of an explanation: open and close it, scroll, and the steps that settle a finding.

use crate::base::{Effect, FindingUse, Pane, Tab, Tone};
use crate::data::ReadFinding;
use crate::findings::decide::keys::prompt_or_execute;
use crate::findings::proof::keys as proof;
use crate::findings::retest::keys::prompt_for;
use crate::input::{Action, Context, EditAction, ItemAction};
use crate::model::{Modal, Model, WhyBox, action_of, navigation};
use crate::prompts::PendingDecision;
use scandeck_domain::triage::explain::{SettlingStep, lines};
use scandeck_domain::triage::{Draft, FindingTexts, Issue, IssueId, ListedFinding, Verdict};
use std::sync::Arc;

/// `Y`: explains the selected finding.
pub(crate) fn open(model: &mut Model, effects: &mut Vec<Effect>) {
    if !matches!(model.navigation.focus.pane, Pane::Findings | Pane::Board) {
        return model.notify_no_effect(Action::Item(ItemAction::Why));
    }
    let Some(issue) = model.issue_at_hand().cloned() else {
        return model.notify(Tone::Plain, "select one finding to explain it");
    };
    open_issue(model, &issue, effects);
}

/// Explains a finding. Texts in files are read first.
pub(crate) fn open_issue(model: &mut Model, issue: &Issue, effects: &mut Vec<Effect>) {
    let Some(known) = model.findings.triage.earlier.clone() else {
        return model.notify(Tone::Plain, "findings are still loading");
    };
    let compared = known.explained_findings(issue);
    if !model.must_read_findings(FindingUse::Why(issue.id), &compared, effects) {
        show(model, issue.id, &[]);
    }
}

/// Shows why a finding has its presence. `read`: the texts that were read from files.
pub(crate) fn show(model: &mut Model, id: IssueId, read: &[ReadFinding]) {
    let issue = model.data.findings.value().and_then(|all| all.get(id));
    let (Some(issue), Some(known)) = (issue.cloned(), model.findings.triage.earlier.clone()) else {
        return model.notify(Tone::Plain, "this finding is no longer listed");
    };
    let assessment = model.assessment(id).cloned().unwrap_or_default();
    let texts = |finding: &ListedFinding| texts_of(finding, read);
    let state = &model.findings.triage.state;
    let explanation = known.explain(&issue, &assessment, state, &texts);
    let open = WhyBox {
        issue: id,
        title: format!("Why: {}", issue.name),
        lines: lines(&explanation, |step| step_words(model, step)),
        steps: explanation.steps,
        scroll: 0,
    };
    model.overlay.modals.push(Modal::Why(Box::new(open)));
}

/// The texts of a finding, in memory or among those that were read.
pub(crate) fn texts_of(
    finding: &ListedFinding,
    read: &[ReadFinding],
) -> Result<Arc<FindingTexts>, String> {
    match read.iter().find(|(one, _)| one.id == finding.id) {
        Some((_, Ok(texts))) => Ok(Arc::clone(texts)),
        Some((_, Err(problem))) => Err(problem.message.clone()),
        None => {
            let held = finding.held_texts().cloned();
            held.ok_or_else(|| "its texts were not read".to_owned())
        }
    }
}

/// A step with its key; none for a step that is off.
fn step_words(model: &Model, step: SettlingStep) -> Option<String> {
    let action = action_of(step);
    if model.off(action).is_some() {
        return None;
    }
    let key = model.key_label(Context::Why, action);
    Some(match step {
        SettlingStep::Confirm => format!("{key} marks it as confirmed"),
        SettlingStep::Fix => format!("{key} marks it as fixed"),
        SettlingStep::Prove => format!("{key} sends the request in the evidence again"),
        SettlingStep::Retest(scan) => format!("{key} repeats scan #{scan} with its parameters"),
        SettlingStep::OpenScan(scan) => format!("{key} opens the tests of scan #{scan}"),
        SettlingStep::Compare { before, after } => {
            format!("{key} compares scan #{before} with scan #{after}")
        }
    })
}

/// Handles a key while an explanation is open.
pub(crate) fn handle_key(model: &mut Model, action: Option<Action>, effects: &mut Vec<Effect>) {
    match action {
        Some(Action::Edit(EditAction::Close)) => _ = model.overlay.modals.pop(),
        Some(Action::Move(action)) => {
            let (page, _) = model.screen.measures.plot_rows;
            scroll(model, action.rows(page as isize));
        }
        Some(action) => take_step(model, action, effects),
        None => {}
    }
}

/// Carries out a step, in place of the explanation.
fn take_step(model: &mut Model, action: Action, effects: &mut Vec<Effect>) {
    let Some(Modal::Why(open)) = model.overlay.modals.last() else {
        return;
    };
    let (issue, step) = (open.issue, open.step(action));
    let Some(step) = step else {
        return model.notify(Tone::Plain, "this key settles nothing about this finding");
    };
    if let Some(why) = model.off(action) {
        return model.notify(Tone::Plain, format!("`{}` is {why}", action.command()));
    }
    model.overlay.modals.pop();
    match step {
        SettlingStep::Confirm => decide(model, issue, Verdict::Confirmed, effects),
        SettlingStep::Fix => decide(model, issue, Verdict::Fixed, effects),
        SettlingStep::Prove => proof::open_issue(model, issue, effects),
        SettlingStep::Retest(_) => prompt_for(model, issue),
        SettlingStep::OpenScan(scan) => {
            navigation::go(model, Pane::Scans);
            navigation::reveal(model, Pane::Scans, scan.0);
            model.detail.show_tab(Pane::Scans, Tab::Tests);
            model.navigation.focus.in_detail = model.selected_id(Pane::Scans) == Some(scan.0);
        }
        SettlingStep::Compare { before, after } => model.open_compare(before, after),
    }
}

/// Gives a verdict to the explained finding, whatever is marked.
fn decide(model: &mut Model, id: IssueId, verdict: Verdict, effects: &mut Vec<Effect>) {
    let pending = PendingDecision {
        draft: Draft::of(verdict),
        ids: vec![id],
        next: false,
    };
    prompt_or_execute(model, pending, Vec::new(), effects);
}

/// Scrolls the explanation by this number of lines.
pub(crate) fn scroll(model: &mut Model, by: isize) {
    let (_, last) = model.screen.measures.plot_rows;
    if let Some(Modal::Why(open)) = model.overlay.modals.last_mut() {
        let to = i64::from(open.scroll).saturating_add(by as i64);
        open.scroll = to.clamp(0, last.into()) as u32;
    }
}
