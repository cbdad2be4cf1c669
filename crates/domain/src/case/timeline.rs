//! The events of a workspace in the order of their times.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::{CaseEntryKind, CaseReport, CaseReports, VERSION};
use crate::mask::{KnownNames, Mask, MaskedKind};
use crate::oob::request;
use crate::triage::{Bundle, Change, Event, Subject};
use scandeck_wire::contract::{Capture, Finding, Scan, ScanId, Shared, Stamp, TargetId, Tool};
use scandeck_wire::text::{plural, thousands};

/// An event before it has a place in the chain.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseEvent {
    pub at: Option<Stamp>,
    pub author: Shared,
    pub kind: CaseEntryKind,
    pub text: String,
    pub data: Value,
}

/// Who makes a case, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaseMaker {
    /// Version of the program.
    pub version: String,
    /// Names, addresses and tokens are replaced by stand-ins.
    pub is_masked: bool,
    /// The number of findings, if the case is not about the whole workspace.
    pub findings: Option<usize>,
}

/// The events of a workspace: the case itself, then scans, findings, decisions, payloads, captures
/// and reports by their times. Events without a time come first.
pub fn case_events(bundle: &Bundle, reports: &CaseReports, maker: &CaseMaker) -> Vec<CaseEvent> {
    let names = TargetNames::of(bundle);
    let mut events = scan_events(bundle, &names);
    events.extend(finding_events(bundle, &names));
    events.extend(bundle.events.iter().map(|event| decision_event(event)));
    events.extend(out_of_band_events(bundle));
    events.extend(report_events(bundle, &reports.reports));
    // The sort is stable: a scan comes before its findings.
    events.sort_by_key(|event| event.at);
    events.insert(0, case_event(bundle, reports, maker));
    if maker.is_masked {
        let mask = Mask::default().with_names(known_names(bundle, &reports.reports));
        events.iter_mut().for_each(|event| hide(event, &mask));
    }
    events
}

struct TargetNames<'a>(HashMap<TargetId, &'a Shared>);

impl<'a> TargetNames<'a> {
    fn of(bundle: &'a Bundle) -> Self {
        let names = bundle
            .targets
            .iter()
            .map(|target| (target.id, &target.name));
        Self(names.collect())
    }

    fn name(&self, id: TargetId) -> String {
        let name = self.0.get(&id);
        name.map_or_else(|| format!("target {id}"), ToString::to_string)
    }
}

fn case_event(bundle: &Bundle, reports: &CaseReports, maker: &CaseMaker) -> CaseEvent {
    let manifest = &bundle.manifest;
    let masked = match maker.is_masked {
        true => ", with names, addresses and tokens replaced",
        false => "",
    };
    let complete = match manifest.reached {
        true => "",
        false => ", without scans and findings: the service was not reachable",
    };
    let missing = reports.missing.map(|why| why.to_string());
    let without = missing.as_ref().map(|words| format!(", without {words}"));
    let about = match maker.findings {
        Some(count) => format!("{} of ", plural(count, "finding")),
        None => String::new(),
    };
    CaseEvent {
        at: Some(manifest.made),
        author: manifest.who.clone(),
        kind: CaseEntryKind::Case,
        text: format!(
            "case of {about}workspace {}{masked}{complete}{}",
            manifest.workspace,
            without.unwrap_or_default()
        ),
        data: json!({
            "format": VERSION,
            "workspace": manifest.workspace,
            "service": manifest.service,
            "program": format!("scandeck {}", maker.version),
            "is_masked": maker.is_masked,
            "selected_findings": maker.findings,
            "service_reached": manifest.reached,
            "missing_reports": missing,
        }),
    }
}

fn scan_events(bundle: &Bundle, names: &TargetNames<'_>) -> Vec<CaseEvent> {
    let event = |scan: &Scan| CaseEvent {
        at: scan.end_time.or(scan.start_time),
        author: bundle.manifest.service.clone(),
        kind: CaseEntryKind::Scan,
        text: format!(
            "scan {} of {} by {}: {}",
            scan.id,
            names.name(scan.target_id),
            Tool(scan.tool_id),
            scan.status_name.as_str()
        ),
        data: value(scan),
    };
    bundle.scans.iter().map(|scan| event(scan)).collect()
}

/// A finding has the time of its scan.
fn finding_events(bundle: &Bundle, names: &TargetNames<'_>) -> Vec<CaseEvent> {
    let scans: HashMap<ScanId, &Scan> =
        bundle.scans.iter().map(|scan| (scan.id, &**scan)).collect();
    let event = |finding: &Finding| {
        let scan = finding.task_id.and_then(|id| scans.get(&id));
        let target = finding.target_id.map(|id| names.name(id));
        let target = target.or_else(|| finding.target_name.as_ref().map(ToString::to_string));
        let on = target.map(|name| format!(" on {name}")).unwrap_or_default();
        CaseEvent {
            at: scan.and_then(|scan| scan.end_time.or(scan.start_time)),
            author: bundle.manifest.service.clone(),
            kind: CaseEntryKind::Finding,
            text: format!(
                "{} finding {}: {}{on}",
                finding.risk_level, finding.id, finding.name
            ),
            data: value(finding),
        }
    };
    bundle
        .findings
        .iter()
        .map(|finding| event(finding))
        .collect()
}

fn decision_event(event: &Event) -> CaseEvent {
    CaseEvent {
        at: Some(event.at),
        author: event.who.clone(),
        kind: match &event.change {
            Change::Proof(_) => CaseEntryKind::Proof,
            _ => CaseEntryKind::Decision,
        },
        text: event_text(event),
        data: value(event),
    }
}

/// The decision, after the finding that it is about.
fn event_text(event: &Event) -> String {
    let text = decision_text(&event.change);
    match &event.subject {
        Subject::Finding(about) if !about.name.is_empty() => {
            format!("{} on {}: {text}", about.name, about.asset)
        }
        _ => text,
    }
}

fn decision_text(change: &Change) -> String {
    match change {
        Change::Decide(decision) => format!("verdict: {}", decision.verdict.word()),
        Change::Note(_) => "note".to_owned(),
        Change::Proof(proof) => format!("{} {}: {}", proof.method, proof.url, proof.phrase()),
        Change::Tag { .. } => "tags".to_owned(),
        Change::Severity(Some(risk)) => format!("severity: {risk}"),
        Change::Severity(None) => "severity as scanned".to_owned(),
        Change::Assign(Some(member)) => format!("assigned to {member}"),
        Change::Assign(None) => "assigned to nobody".to_owned(),
        Change::Due(Some(day)) => format!("due {day}"),
        Change::Due(None) => "no due date".to_owned(),
        Change::Inherit(_) => "earlier decision reused".to_owned(),
        Change::Rule { query, decision } => {
            format!("rule {query}: {}", decision.verdict.word())
        }
        Change::Off(true) => "turned off".to_owned(),
        Change::Off(false) => "turned on".to_owned(),
        Change::DeleteRule(query) => format!("rule {query} deleted"),
        Change::Manual(finding) => format!("manual finding: {}", finding.name),
        Change::Link(link) => format!("link {} to {}: {}", link.from, link.to, link.reason),
        Change::Baseline(_) => "baseline".to_owned(),
        Change::Undo => "undo".to_owned(),
        Change::Redo => "redo".to_owned(),
    }
}

fn out_of_band_events(bundle: &Bundle) -> Vec<CaseEvent> {
    let payloads = bundle.payloads.iter().map(|payload| CaseEvent {
        at: payload.at,
        author: payload.who.clone(),
        kind: CaseEntryKind::Payload,
        text: format!("payload {} of logger {}", payload.url, payload.label),
        data: value(&**payload),
    });
    let captures = bundle.captures.iter().map(|archived| CaseEvent {
        at: archived.capture.request_date.or(Some(archived.seen_at)),
        author: bundle.manifest.service.clone(),
        kind: CaseEntryKind::Capture,
        text: format!(
            "capture {} of logger {}: {} from {}",
            archived.capture.id,
            archived.label,
            archived.capture.request_method,
            archived.capture.ip_address
        ),
        data: value(archived),
    });
    payloads.chain(captures).collect()
}

fn report_events(bundle: &Bundle, reports: &[CaseReport]) -> Vec<CaseEvent> {
    let event = |one: &CaseReport| {
        let report = &one.report;
        let size = match &one.file {
            Some(file) => format!(", {} bytes", thousands(file.bytes)),
            None => String::new(),
        };
        let mut data = value(report);
        data["file"] = value(&one.file);
        CaseEvent {
            at: report.generation_date,
            author: bundle.manifest.service.clone(),
            kind: CaseEntryKind::Report,
            text: format!(
                "report {} of workspace {} as {}: {}{size}",
                report.id, bundle.manifest.workspace, report.format, report.status
            ),
            data,
        }
    };
    reports.iter().map(event).collect()
}

fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or_default()
}

/// The names in a bundle that the mask replaces.
fn known_names(bundle: &Bundle, reports: &[CaseReport]) -> KnownNames {
    let mut names = KnownNames::default();
    for target in &bundle.targets {
        names.add_host(&target.name);
    }
    names.add(&bundle.manifest.workspace, MaskedKind::Workspace);
    names.add(&bundle.manifest.service, MaskedKind::Service);
    names.add(&bundle.manifest.who, MaskedKind::User);
    for event in &bundle.events {
        names.add(&event.who, MaskedKind::User);
    }
    for payload in &bundle.payloads {
        names.add(&payload.who, MaskedKind::User);
        names.add(&payload.label, MaskedKind::Logger);
        let token = payload.token.to_string();
        // Before the token is the URL of the logger.
        let of_logger = payload.url.split(token.as_str()).next();
        names.add_logger_url(of_logger.unwrap_or_default());
        names.add_host(&payload.url);
        names.add(&token, MaskedKind::Token);
    }
    for archived in &bundle.captures {
        names.add(&archived.label, MaskedKind::Logger);
        names.add_logger_url(&archived.handler_url);
    }
    // The name of a file contains that of the workspace, in another form.
    for one in reports {
        names.add(&one.report.download_name, MaskedKind::Workspace);
    }
    names
}

fn hide(event: &mut CaseEvent, mask: &Mask) {
    event.author = mask.text(&event.author).into_owned().into();
    event.text = mask.text(&event.text).into_owned();
    let body = masked_body(event, mask);
    // A digest looks like a token, and names nobody.
    let is_report = event.kind == CaseEntryKind::Report;
    let file = is_report.then(|| event.data["file"].take());
    mask.json(&mut event.data);
    if let Some(file) = file {
        event.data["file"] = file;
    }
    if let Some(body) = body {
        event.data["capture"]["request_body_base64"] = body.into();
    }
}

/// The body of a capture with stand-ins. Names cannot be replaced in base64, so the request as it
/// arrived is left out.
fn masked_body(event: &mut CaseEvent, mask: &Mask) -> Option<String> {
    let fields = event.data.get_mut("capture")?.as_object_mut()?;
    let capture: Capture = serde_json::from_value(Value::Object(fields.clone())).ok()?;
    fields.remove("raw_base64");
    Some(request::masked_base64(&capture, mask))
}
