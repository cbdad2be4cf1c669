//! The command that seals the case of findings.

use crate::base::{CaseRequest, Effect, Pane};
use crate::model::Model;
use crate::palette::{Args, ArgumentShape, ArgumentSlot, Command};
use scandeck_domain::case::{CaseMaker, CaseSelection};
use scandeck_domain::chain::CapturedToken;
use scandeck_domain::oob::{CaptureRecord, Hit};
use scandeck_domain::triage::compare::occurrences;
use scandeck_domain::triage::{Bundle, Issue, Manifest};
use scandeck_wire::contract::{Shared, Stamp};
use scandeck_wire::text::file_name;
use std::sync::Arc;

pub(crate) static COMMANDS: &[Command] = &[Command::new(
    "case",
    &[ArgumentSlot::optional(ArgumentShape::Text("FILE"))],
    "write a sealed case of the marked findings, or of the selected one, to a file",
    "case two.case",
    case,
)];

fn case(model: &mut Model, args: &Args, effects: &mut Vec<Effect>) -> Result<(), String> {
    let ids = model.chosen(Pane::Findings).issues().concat();
    let listed = model.data.findings.value().cloned();
    let table = listed.ok_or("findings are still loading")?;
    let issues: Vec<Arc<Issue>> = ids
        .into_iter()
        .filter_map(|id| table.get(id).cloned())
        .collect();
    if issues.is_empty() {
        return Err("select or mark findings for a case".to_owned());
    }
    let mut selection = CaseSelection::default();
    for issue in &issues {
        let assessment = model.assessment(issue.id).cloned();
        selection.add(issue, &assessment.unwrap_or_default());
    }
    let bundle = bundle_of(model);
    let tokens = selection.tokens(&bundle.payloads);
    let rows = model.data.captures.rows.iter();
    let captured = rows.filter(|row| row.tokens().any(|token| tokens.contains(&token)));
    let captures: Vec<CaptureRecord> = captured.map(|row| model.record_of(row)).collect();
    let of_service = issues.iter().filter(|issue| issue.manual().is_none());
    let findings = of_service.flat_map(|issue| occurrences(issue).cloned());
    let mask = model.mask();
    let shown = mask.map_or_else(
        || bundle.manifest.workspace.to_string(),
        |mask| mask.text(&bundle.manifest.workspace).into_owned(),
    );
    let name = args.text();
    let name = name.unwrap_or_else(|| file_name(&format!("{shown}.case")));
    let request = CaseRequest {
        name,
        findings: findings.collect(),
        captures,
        maker: CaseMaker {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            is_masked: mask.is_some(),
            findings: Some(selection.len()),
        },
        selection,
        bundle,
    };
    model.notify_saving(&request.name);
    effects.push(Effect::SealCase(Box::new(request)));
    Ok(())
}

/// The data of the workspace without findings and captures.
fn bundle_of(model: &Model) -> Bundle {
    let workspace = model.workspace_name();
    let writer = model.findings.triage.writer.as_ref();
    let who = writer.map(|writer| writer.who.clone()).unwrap_or_default();
    let session = &model.session;
    let mut manifest = Manifest::new(
        workspace.clone(),
        session.alias.clone(),
        Shared::from(session.name.as_str()),
        (who, Stamp(model.now.wall)),
    );
    manifest.reached = true;
    let captured = model.captured_tokens().into_iter();
    let hit = |one: CapturedToken| Hit {
        token: one.token,
        workspace: workspace.clone(),
        logger: one.logger,
        id: one.id,
        digest: 0,
        at: one.at,
    };
    let (targets, scans) = (model.data.targets.value(), model.data.scans.value());
    let payloads = model.data.payloads.value();
    Bundle {
        events: model.findings.triage.state.events_of(&workspace),
        hits: captured.map(hit).collect(),
        targets: targets.map(|all| all.items().to_vec()).unwrap_or_default(),
        scans: scans.map(|all| all.items().to_vec()).unwrap_or_default(),
        payloads: payloads.map(|all| all.items().to_vec()).unwrap_or_default(),
        ..Bundle::new(manifest)
    }
}
