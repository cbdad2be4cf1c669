//! The key of a proof: the prompt before the request is sent, and the event after its answer.

use crate::base::{Batch, Call, CallAnswer, Effect, FindingUse, Job, Pane, PlannedProof, Tone};
use crate::data::ReadFinding;
use crate::findings::explain::keys::{open_issue as explain, texts_of};
use crate::input::{Action, Context, CopyAction, ItemAction};
use crate::model::Model;
use crate::prompts::{Prompt, Then};
use scandeck_domain::problem::Problem;
use scandeck_domain::proof::{ExpectedAnswer, FindingProof, ProofRefusal, ProofRequest};
use scandeck_domain::triage::{Change, Issue, IssueId, Subject};
use scandeck_wire::contract::Tool;
use std::slice;

/// Begins the notices about requests that are not sent.
const NOT_SENT: &str = "not sent: ";

/// `P`: asks before the request of the selected finding is sent. Texts in files and the scope file
/// are read first.
pub(crate) fn open(model: &mut Model, effects: &mut Vec<Effect>) {
    if !matches!(model.navigation.focus.pane, Pane::Findings | Pane::Board) {
        return model.notify_no_effect(Action::Item(ItemAction::Prove));
    }
    match model.issue_at_hand().map(|issue| issue.id) {
        Some(id) => open_issue(model, id, effects),
        None => model.notify(Tone::Plain, "select one finding to prove it"),
    }
}

/// Asks before the request of a finding is sent.
pub(crate) fn open_issue(model: &mut Model, id: IssueId, effects: &mut Vec<Effect>) {
    let issue = model.data.findings.value().and_then(|all| all.get(id));
    let Some(issue) = issue.cloned() else {
        return model.notify(Tone::Plain, "this finding is no longer listed");
    };
    // A proof is a part of the history of the finding.
    if let Some(why) = model.cannot_decide() {
        return model.notify(Tone::Bad, why);
    }
    // What an earlier key said may no longer be true.
    model.overlay.notices.remove_starting(&[NOT_SENT]);
    let purpose = FindingUse::Prove(issue.id);
    if !model.must_read_findings(purpose, slice::from_ref(&issue.finding), effects) {
        plan(model, issue.id, &[], effects);
    }
}

/// Requests the check of the scope, or says why the request is not sent. `read`: the texts that
/// were read from files.
pub(crate) fn plan(
    model: &mut Model,
    id: IssueId,
    read: &[ReadFinding],
    effects: &mut Vec<Effect>,
) {
    let issue = model.data.findings.value().and_then(|all| all.get(id));
    let Some(issue) = issue.cloned() else {
        return model.notify(Tone::Plain, "this finding is no longer listed");
    };
    let texts = match texts_of(&issue.finding, read) {
        Ok(texts) => texts,
        Err(problem) => return model.notify(Tone::Bad, format!("evidence not read: {problem}")),
    };
    let evidence = &texts.vuln_evidence;
    match ProofRequest::plan(evidence, tool_of(model, &issue), &[]) {
        Ok(request) => effects.push(Effect::CheckProof(Box::new(PlannedProof {
            issue: id,
            subject: Subject::Finding(issue.identity.clone()),
            workspace: model.workspace_name(),
            request,
            expected: ExpectedAnswer::of(evidence),
            allow_active: model.session.allow_active,
        }))),
        Err(refusal) => refuse(model, refusal),
    }
}

/// Opens the prompt, or says which permission is missing.
pub(crate) fn handle_checked(
    model: &mut Model,
    planned: PlannedProof,
    checked: Result<(), Problem>,
) {
    match checked {
        // A key that is meant for another box must not answer the prompt.
        Ok(()) if !model.overlay.modals.is_empty() => {
            model.notify(Tone::Plain, format!("{NOT_SENT}another window is open"));
        }
        Ok(()) => model.open_prompt(question(planned)),
        Err(problem) => {
            let copy = curl_key(model);
            let words = format!("{NOT_SENT}{problem} · {copy} copies a curl command");
            model.notify(Tone::Bad, words);
        }
    }
}

/// The tool of the scan that found it; unknown if the scan is not listed.
fn tool_of(model: &Model, issue: &Issue) -> Option<Tool> {
    let scan = model.data.scans.value()?.get(issue.task_id()?)?;
    Some(Tool(scan.tool_id))
}

fn refuse(model: &mut Model, refusal: ProofRefusal) {
    let reason = refusal.reason();
    let words = match refusal {
        ProofRefusal::NoRequest => format!("nothing to send: {reason}"),
        _ => format!(
            "{NOT_SENT}{reason} · {} copies a curl command",
            curl_key(model)
        ),
    };
    model.notify(Tone::Plain, words);
}

fn curl_key(model: &Model) -> String {
    model.key_label(Context::Copy, Action::Copy(CopyAction::Curl))
}

/// The request with everything that is sent.
fn question(planned: PlannedProof) -> Prompt {
    let about = planned.request.to_string();
    let headers = planned.request.shown_headers();
    let left_out = planned.request.left_out.join(", ");
    let permission = match planned.request.has_payload {
        true => "The request may carry a payload; a scope entry with `active` allows it.",
        false => "The local scope allows the target.",
    };
    let jobs = vec![Job::new(about.clone(), Call::Prove(Box::new(planned)))];
    let verb = "send again";
    let prompt = Prompt::new(
        "Send this request to the target?",
        Then::Call { verb, jobs },
    );
    let mut prompt = prompt.with_enter().with_line(about);
    for header in headers {
        prompt = prompt.with_line(header);
    }
    if !left_out.is_empty() {
        prompt = prompt.with_line(format!("Without {left_out}."));
    }
    prompt
        .with_line(permission)
        .with_line("Redirects are not followed.")
}

/// Records the proofs of a finished batch, and shows the last one.
pub(crate) fn handle_proven(model: &mut Model, batch: &Batch, effects: &mut Vec<Effect>) {
    for (job, answer) in batch.done() {
        if let (Call::Prove(planned), CallAnswer::Proof(proof)) = (&job.call, answer) {
            record(model, planned, proof, effects);
        }
    }
}

fn record(
    model: &mut Model,
    planned: &PlannedProof,
    proof: &FindingProof,
    effects: &mut Vec<Effect>,
) {
    if planned.workspace != model.workspace_name() {
        return model.notify(Tone::Bad, "proof not saved: another workspace is open");
    }
    let change = Change::Proof(Box::new(proof.clone()));
    let recorded = model.record(vec![(planned.subject.clone(), change)], effects);
    if recorded.is_none() {
        return model.notify(Tone::Bad, "proof not saved: the decision store is not open");
    }
    let listed = model.data.findings.value();
    let issue = listed.and_then(|all| all.get(planned.issue)).cloned();
    // A key that is meant for another box must not act on this one.
    if let Some(issue) = issue.filter(|_| model.overlay.modals.is_empty()) {
        explain(model, &issue, effects);
    }
}
