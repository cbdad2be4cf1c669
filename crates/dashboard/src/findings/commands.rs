//! Commands that record decisions: verdicts with their details, notes, tags, rules, the baseline.

use crate::base::{Effect, Pane, Tone};
use crate::findings::decide::keys::decide;
use crate::input::action::{Action, DecideAction};
use crate::model::Model;
use crate::palette::{Args, ArgumentShape, ArgumentSlot, Command, RULED, VERDICTS};
use crate::prompts::{PendingDecision, Prompt, Then};
use scandeck_domain::triage::{
    Baseline, Change, Draft, DraftValue, IssueId, Subject, Verdict, VerdictSource,
};
use scandeck_wire::text::plural;

/// The commands of this area.
pub(crate) static COMMANDS: &[Command] = &[
    Command::new(
        "verdict",
        &[
            ArgumentSlot::needed(ArgumentShape::Choice(VERDICTS, "VERDICT")),
            ArgumentSlot::optional(ArgumentShape::Details),
            ArgumentSlot::after("of", ArgumentShape::Finding),
            ArgumentSlot::after("on", ArgumentShape::Findings),
        ],
        "decide the selected or marked findings, or those of a query",
        "verdict false_positive reason=not_reproducible note=\"two tries\" on name:git",
        verdict,
    )
    .or(Action::Decide(DecideAction::More))
    .off_when(Model::cannot_decide),
    Command::new(
        "reuse",
        &[ArgumentSlot::optional(ArgumentShape::Findings)],
        "reuse decisions of the earlier port or imported file",
        "reuse is:offered",
        reuse_offered,
    )
    .or(Action::Decide(DecideAction::ReuseOffered))
    .off_when(Model::cannot_decide),
    Command::new(
        "rule",
        &[
            ArgumentSlot::needed(ArgumentShape::Choice(RULED, "VERDICT")),
            ArgumentSlot::optional(ArgumentShape::Details),
            ArgumentSlot::lead("on", ArgumentShape::Findings),
        ],
        "decide present and future findings of a query; manual decisions override it",
        "rule not_applicable reason=test_system on target:t2*",
        rule,
    )
    .off_when(Model::cannot_decide),
    Command::new(
        "note",
        &[ArgumentSlot::needed(ArgumentShape::Text("TEXT"))],
        "add a note to the selected or marked findings; without text: editor",
        "note asked the owner",
        |model, args, effects| {
            let note = DraftValue::Set(args.text().unwrap_or_default().as_str().into());
            on_chosen(
                model,
                Draft {
                    note,
                    ..Draft::default()
                },
                effects,
            )
        },
    )
    .or(Action::Decide(DecideAction::Note))
    .off_when(Model::cannot_decide),
    Command::new(
        "tag",
        &[ArgumentSlot::needed(ArgumentShape::Tags)],
        "add tags to the selected or marked findings, or remove them",
        "tag +client -later",
        |model, args, effects| {
            let (tag, untag) = args.tags().unwrap_or_default();
            on_chosen(
                model,
                Draft {
                    tag,
                    untag,
                    ..Draft::default()
                },
                effects,
            )
        },
    )
    .off_when(Model::cannot_decide),
    Command::new(
        "assign",
        &[ArgumentSlot::needed(ArgumentShape::Assignee)],
        "assign the selected or marked findings to a member of the team",
        "assign me",
        |model, args, effects| {
            let assignee = args.assignee().flatten().into();
            on_chosen(
                model,
                Draft {
                    assignee,
                    ..Draft::default()
                },
                effects,
            )
        },
    )
    .off_when(Model::cannot_decide),
    Command::new(
        "due",
        &[ArgumentSlot::needed(ArgumentShape::Due)],
        "set the due date of the selected or marked findings",
        "due +7d",
        |model, args, effects| {
            let due = args.due().flatten().into();
            on_chosen(
                model,
                Draft {
                    due,
                    ..Draft::default()
                },
                effects,
            )
        },
    )
    .off_when(Model::cannot_decide),
    Command::new(
        "seen",
        &[ArgumentSlot::optional(ArgumentShape::Findings)],
        "mark findings as seen: selected or marked ones, or a query",
        "seen risk:info",
        seen,
    )
    .off_when(Model::cannot_decide),
    Command::new(
        "baseline",
        &[ArgumentSlot::needed(ArgumentShape::Baseline)],
        "set what `is:new` compares with: a date or scans; none: previous scan",
        "baseline 2026-10-01",
        baseline,
    )
    .off_when(Model::cannot_decide),
];

/// Refuses a command on the selected or marked findings while another list has the focus.
fn in_findings(model: &Model) -> Result<(), String> {
    match model.navigation.focus.pane {
        Pane::Findings => Ok(()),
        _ => Err("no findings selected: go to the findings first".to_owned()),
    }
}

fn on_chosen(model: &mut Model, draft: Draft, effects: &mut Vec<Effect>) -> Result<(), String> {
    in_findings(model)?;
    decide(model, draft, false, effects);
    Ok(())
}

fn draft(args: &Args) -> Draft {
    let verdict = args.choice().and_then(Verdict::named);
    Draft {
        verdict,
        ..args.details().unwrap_or_default()
    }
}

fn issues(model: &mut Model, query: &str) -> Result<Vec<IssueId>, String> {
    Ok(model
        .ids_matching(Pane::Findings, query)?
        .into_iter()
        .map(IssueId)
        .collect())
}

fn verdict(model: &mut Model, args: &Args, effects: &mut Vec<Effect>) -> Result<(), String> {
    let of = args
        .finding()
        .and_then(|id| Some(model.data.findings.value()?.get(id)?.key()));
    let draft = Draft {
        duplicate_of: of,
        ..draft(args)
    };
    match (draft.verdict == Some(Verdict::Duplicate), of) {
        (true, None) => {
            return Err("duplicate needs its original: add `of` with an id or a name".to_owned());
        }
        (false, Some(_)) => return Err("`of` works with the verdict duplicate only".to_owned()),
        _ => {}
    }
    let Some(query) = args.query() else {
        return on_chosen(model, draft, effects);
    };
    let ids = issues(model, &query)?;
    if ids.is_empty() {
        return Err(format!("no finding matches {query}"));
    }
    // The findings of a query are not all on the screen, so a prompt names their number first.
    let words = draft.verdict.map(Verdict::phrase).unwrap_or_default();
    let verb = if ids.len() == 1 { "matches" } else { "match" };
    let question = format!(
        "Mark {} that {verb} {query} as {words}?",
        plural(ids.len(), "finding")
    );
    let pending = PendingDecision {
        draft,
        ids,
        next: false,
    };
    model.open_prompt(Prompt::new(question, Then::Decide(Box::new(pending))).with_enter());
    Ok(())
}

fn reuse_offered(model: &mut Model, args: &Args, effects: &mut Vec<Effect>) -> Result<(), String> {
    let draft = Draft::reusing_offered();
    let Some(query) = args.query() else {
        return on_chosen(model, draft, effects);
    };
    let mut ids = issues(model, &query)?;
    ids.retain(|&id| model.offered_verdict(id).is_some());
    if ids.is_empty() {
        model.notify(
            Tone::Plain,
            format!("no finding that matches {query} has a decision to reuse"),
        );
        return Ok(());
    }
    let question = format!(
        "Reuse the offered decision on {} that match {query}?",
        plural(ids.len(), "finding")
    );
    let pending = PendingDecision {
        draft,
        ids,
        next: false,
    };
    model.open_prompt(Prompt::new(question, Then::Decide(Box::new(pending))).with_enter());
    Ok(())
}

fn rule(model: &mut Model, args: &Args, _: &mut Vec<Effect>) -> Result<(), String> {
    let (draft, query) = (draft(args), args.query().unwrap_or_default());
    let of_finding = [
        ("note", draft.note != DraftValue::Default),
        ("severity", draft.severity != DraftValue::Default),
        ("tag", !draft.tag.is_empty()),
    ];
    if let Some((word, _)) = of_finding.iter().find(|(_, is_given)| *is_given) {
        return Err(format!(
            "a rule has no {word}; remove `{word}=`, or use `:verdict`"
        ));
    }
    let matching = issues(model, &query)?;
    let decision = draft
        .decision(None, model.today())
        .ok_or("verdict is missing")?;
    // A rule leaves the decisions of people, also those that reopened a finding.
    let is_changed = |id: &&IssueId| {
        model.assessment(**id).is_none_or(|now| {
            now.source != VerdictSource::Person && now.verdict != decision.verdict
        })
    };
    let (now, changed) = (matching.len(), matching.iter().filter(is_changed).count());
    let words = decision.verdict.phrase();
    let reason = decision
        .reason
        .map(|reason| format!("Reason: {}.", reason.phrase()));
    let until = decision.until.map(|day| format!("Until {day}."));
    let details = [reason, until]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ");
    let change = model.rule(0, query.as_str().into(), decision);
    let question = format!("Add the rule \"{words}\" for {query}?");
    let then = Then::Record(vec![change]);
    let matches = if now == 1 { "matches" } else { "match" };
    let changes = if changed == 1 { "changes" } else { "change" };
    let mut prompt = Prompt::new(question, then).with_line(format!(
        "{} {matches} now, {changed} {changes}.",
        plural(now, "finding")
    ));
    if !details.is_empty() {
        prompt = prompt.with_line(details);
    }
    let prompt =
        prompt.with_line("Manual decisions take precedence over rules. Undo removes the rule.");
    model.open_prompt(prompt);
    Ok(())
}

fn seen(model: &mut Model, args: &Args, effects: &mut Vec<Effect>) -> Result<(), String> {
    let ids = match args.query() {
        Some(query) => issues(model, &query)?,
        None => {
            in_findings(model)?;
            let [shown, _] = model.chosen(Pane::Findings).issues();
            shown
        }
    };
    let table = model.data.findings.value().cloned().unwrap_or_default();
    let keys: Vec<_> = ids
        .iter()
        .filter_map(|&id| Some(table.get(id)?.key()))
        .collect();
    model.notify(
        Tone::Plain,
        format!("{} marked as seen", plural(keys.len(), "finding")),
    );
    model.see(keys, effects);
    Ok(())
}

fn baseline(model: &mut Model, args: &Args, effects: &mut Vec<Effect>) -> Result<(), String> {
    let baseline = args.baseline().flatten();
    if baseline.is_none()
        && model
            .findings
            .triage
            .state
            .baseline(&model.workspace_name())
            .is_none()
    {
        model.notify(Tone::Plain, "no baseline to remove");
        return Ok(());
    }
    let notice = match &baseline {
        None => "baseline removed: is:new compares with the previous scan".to_owned(),
        Some(Baseline::Day(day)) => format!("baseline set: {day}"),
        Some(Baseline::Scans(scans)) => {
            let ids: Vec<String> = scans.iter().map(ToString::to_string).collect();
            format!(
                "baseline set: {} {}",
                if ids.len() == 1 { "scan" } else { "scans" },
                ids.join(", ")
            )
        }
    };
    model
        .record(
            vec![(Subject::Workspace, Change::Baseline(baseline))],
            effects,
        )
        .ok_or("decisions cannot be saved")?;
    model.notify(Tone::Good, notice);
    Ok(())
}
