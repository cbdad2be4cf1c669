//! The form of a manual finding: written by hand, or with captured requests as evidence.

use crate::base::{FormTag, ManualFindingOrigin};
use crate::data::Data;
use crate::forms::{FieldId, FieldProblem, Form, FormField, FormKind, ManualFindingDraft};
use scandeck_domain::triage::event::ManualFinding;
use scandeck_domain::triage::{EventId, Verdict};
use scandeck_wire::contract::{Risk, Shared};
use scandeck_wire::text::plural;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

static KIND: FormKind = FormKind {
    check: |form, _: &Data| check(form),
    ..FormKind::new("save")
};

/// The answers about the verdict of a decided finding; the first is none.
const VERDICT_ANSWERS: [&str; 3] = ["choose", "keep", "reopen"];

/// Where a draft comes from. The order of its captures does not matter.
pub(crate) fn origin(draft: &ManualFindingDraft) -> ManualFindingOrigin {
    if let Some(id) = draft.id {
        return ManualFindingOrigin::Finding(id);
    }
    if draft.finding.captures.is_empty() {
        return ManualFindingOrigin::New;
    }
    let mut hasher = DefaultHasher::new();
    draft
        .finding
        .captures
        .iter()
        .collect::<BTreeSet<_>>()
        .hash(&mut hasher);
    ManualFindingOrigin::Captures(hasher.finish())
}

pub(crate) fn open(draft: ManualFindingDraft) -> Form {
    let finding = &draft.finding;
    let risk = Risk::DOWN
        .iter()
        .position(|&risk| risk == finding.risk)
        .unwrap_or(0);
    let port = if finding.port > 0 {
        finding.port.to_string()
    } else {
        String::new()
    };
    let others = draft.others.iter().map(|(_, other)| other.name.to_string());
    let into = std::iter::once("a new finding".to_owned()).chain(others);
    let mut fields = vec![
        FormField::choice(FieldId::Into, "Add to", into, 0),
        FormField::line(FieldId::Name, "Name", &finding.name).with_help("short title"),
        FormField::choice(FieldId::Risk, "Risk", Risk::DOWN.map(Risk::as_str), risk),
        FormField::line(FieldId::TargetName, "Target", &finding.target)
            .with_help("host name, IP address or URL"),
        FormField::line(FieldId::Port, "Port", &port).with_help("1 to 65535; optional"),
        FormField::line(FieldId::Class, "Class", &finding.class)
            .with_help("such as SSRF; empty: same as the name"),
        FormField::lines(FieldId::Text, "Description", &finding.text).with_help("optional"),
        FormField::lines(
            FieldId::Recommendation,
            "Recommendation",
            &finding.recommendation,
        )
        .with_help("optional"),
        FormField::line(FieldId::Cwe, "CWE", &finding.cwe).with_help("such as 918; optional"),
        FormField::line(FieldId::Cvss, "CVSS", &score(finding.cvss))
            .with_help("base score from 0 to 10; optional"),
        FormField::lines(
            FieldId::References,
            "References",
            &finding.references.join("\n"),
        )
        .with_help("a URL per line; optional"),
        FormField::lines(FieldId::Evidence, "Evidence", &finding.evidence),
        FormField::choice(FieldId::Verdict, "Verdict", VERDICT_ANSWERS, 0),
    ];
    fields[0].shown = !draft.others.is_empty();
    if let Some(verdict) = fields.last_mut() {
        verdict.shown = false;
    }
    let title = match draft.id {
        Some(_) => format!("Manual finding: {}", finding.name),
        None => "New manual finding".to_owned(),
    };
    let mut form = Form::new(
        FormTag::ManualFinding(origin(&draft)),
        &KIND,
        title,
        "Save",
        fields,
    );
    form.subject.manual = Some(Box::new(draft));
    form
}

fn score(cvss: Option<f64>) -> String {
    cvss.map_or_else(String::new, |cvss| cvss.to_string())
}

/// `CWE-918`, from an input with or without the letters; none for another input.
fn cwe(input: &str) -> Option<String> {
    let upper = input.trim().to_ascii_uppercase();
    let number = upper.strip_prefix("CWE-").unwrap_or(&upper);
    let number: u32 = number.parse().ok()?;
    (number > 0).then(|| format!("CWE-{number}"))
}

/// A base score; none for another input.
fn cvss(input: &str) -> Option<f64> {
    let score: f64 = input.trim().parse().ok()?;
    (0.0..=10.0).contains(&score).then_some(score)
}

/// The finding that it changes, if it is not a new one.
fn changed(form: &Form) -> Option<EventId> {
    let draft = form.subject.manual.as_ref()?;
    match form.choice(FieldId::Into).checked_sub(1) {
        Some(at) => draft.others.get(at).map(|(id, _)| *id),
        None => draft.id,
    }
}

/// The verdict of the finding that it changes, if that is decided.
fn verdict(form: &Form) -> Option<Verdict> {
    let (changed, draft) = (changed(form)?, form.subject.manual.as_ref()?);
    draft
        .decided
        .iter()
        .find(|(id, _)| *id == changed)
        .map(|(_, verdict)| *verdict)
}

/// Whether the edit opens the decided finding again.
pub(crate) fn reopens(form: &Form) -> bool {
    form.choice(FieldId::Verdict) == 2
}

fn check(form: &mut Form) -> Vec<FieldProblem> {
    let is_addition = form.choice(FieldId::Into) > 0;
    for id in [
        FieldId::Name,
        FieldId::Risk,
        FieldId::TargetName,
        FieldId::Port,
        FieldId::Class,
        FieldId::Text,
        FieldId::Recommendation,
        FieldId::Cwe,
        FieldId::Cvss,
        FieldId::References,
    ] {
        form.show(id, !is_addition);
    }
    let captures = form
        .subject
        .manual
        .as_ref()
        .map_or(0, |draft| draft.finding.captures.len());
    form.summary =
        vec!["Saved on this machine; reports of the service exclude manual findings.".to_owned()];
    if captures > 0 {
        form.summary.push(format!(
            "Evidence: {}.",
            plural(captures, "captured request")
        ));
    }
    let decided = verdict(form);
    form.show(FieldId::Verdict, decided.is_some());
    let mut problems: Vec<FieldProblem> = Vec::new();
    if let Some(verdict) = decided {
        form.summary.push(format!(
            "Decided: {}. The edit keeps the verdict or opens the finding again.",
            verdict.phrase()
        ));
        if form.choice(FieldId::Verdict) == 0 {
            problems.push((
                FieldId::Verdict,
                format!("choose keep or reopen; it is {}", verdict.phrase()),
            ));
        }
    }
    if is_addition {
        return problems;
    }
    let required = [(FieldId::Name, "name"), (FieldId::TargetName, "target")].into_iter();
    let missing = required.filter(|(id, _)| form.text(*id).is_empty());
    problems.extend(missing.map(|(id, name)| (id, format!("{name} is required"))));
    let is_port = |port: &String| {
        port.parse()
            .is_ok_and(|port: u32| (1..=65_535).contains(&port))
    };
    if !form.filled(FieldId::Port).is_none_or(|port| is_port(&port)) {
        problems.push((FieldId::Port, "port is a number from 1 to 65535".to_owned()));
    }
    let is_invalid =
        |id, is_valid: fn(&str) -> bool| form.filled(id).is_some_and(|input| !is_valid(&input));
    if is_invalid(FieldId::Cwe, |input| cwe(input).is_some()) {
        problems.push((FieldId::Cwe, "CWE is a number, such as 918".to_owned()));
    }
    if is_invalid(FieldId::Cvss, |input| cvss(input).is_some()) {
        problems.push((FieldId::Cvss, "CVSS is a score from 0 to 10".to_owned()));
    }
    problems
}

/// The finding as typed, and the id of the one that it changes.
pub(crate) fn finding(form: &Form) -> Option<(Option<EventId>, ManualFinding)> {
    let draft = form.subject.manual.as_ref()?;
    let text = |id: FieldId| {
        Shared::from(
            form.field(id)
                .map(FormField::text)
                .unwrap_or_default()
                .trim(),
        )
    };
    let evidence = text(FieldId::Evidence);
    let captures = draft.finding.captures.clone();
    if let Some((id, other)) = form
        .choice(FieldId::Into)
        .checked_sub(1)
        .and_then(|at| draft.others.get(at))
    {
        let gap = if other.evidence.is_empty() || evidence.is_empty() {
            ""
        } else {
            "\n\n"
        };
        let evidence = format!("{}{gap}{evidence}", other.evidence).into();
        let captures = [other.captures.clone(), captures].concat();
        return Some((
            Some(*id),
            ManualFinding {
                evidence,
                captures,
                ..other.clone()
            },
        ));
    }
    let finding = ManualFinding {
        name: text(FieldId::Name),
        risk: Risk::DOWN
            .get(form.choice(FieldId::Risk))
            .copied()
            .unwrap_or_default(),
        target: text(FieldId::TargetName),
        class: text(FieldId::Class),
        text: text(FieldId::Text),
        evidence,
        port: text(FieldId::Port).parse().unwrap_or(0),
        captures,
        recommendation: text(FieldId::Recommendation),
        cwe: cwe(&text(FieldId::Cwe)).unwrap_or_default().into(),
        cvss: cvss(&text(FieldId::Cvss)),
        references: references(&text(FieldId::References)),
    };
    Some((draft.id, finding))
}

/// The lines that are not empty.
fn references(input: &str) -> Vec<Shared> {
    let lines = input.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty())
        .map(Shared::from)
        .collect()
}
