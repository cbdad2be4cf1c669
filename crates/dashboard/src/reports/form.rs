//! The form of a new report: author, findings or scans, format, chapters, content, webhook.

use crate::base::{Call, FormTag, Job, ReportRequest};
use crate::data::Data;
use crate::forms::{
    FieldId, FieldProblem, FieldValue, Form, FormField, FormKind, IdSet, TemplatePreview,
    is_web_url, message_of,
};
use crate::reports::contents;
use scandeck_domain::export::ExportFormat;
use scandeck_domain::problem::Problem;
use scandeck_domain::triage::IssueId;
use scandeck_report::{
    ChapterKind, ChosenOptions, EvidenceDetail, ReportOptions, ReportPart, ReportVerdict,
};
use scandeck_wire::contract::{GroupBy, NewReport, ReportFilters, ReportFormat, ReportSource};
use scandeck_wire::text::plural;

static KIND: FormKind = FormKind {
    check: |form, _: &Data| check(form),
    jobs,
    ..FormKind::new("create")
};

/// Words before the allowed formats in messages of services: `format must be one of pdf, json`.
const LISTS_ALLOWED: [&str; 4] = ["one of", "allowed:", "allowed are", "supported formats"];

type Filter = fn(&mut ReportFilters) -> &mut bool;

/// The filters with their labels, in the order of the form.
const FILTERS: [(FieldId, &str, Filter); 10] = [
    (FieldId::InfoFindings, "Info findings", |filters| {
        &mut filters.include_info
    }),
    (FieldId::HowToReproduce, "Evidence", |filters| {
        &mut filters.include_how_to_reproduce
    }),
    (FieldId::ToolConfiguration, "Tool settings", |filters| {
        &mut filters.include_tool_configuration
    }),
    (FieldId::FindingHistory, "Finding history", |filters| {
        &mut filters.include_finding_history
    }),
    (FieldId::AllTargets, "Empty targets", |filters| {
        &mut filters.include_all_targets
    }),
    (FieldId::NotVerified, "Unverified", |filters| {
        &mut filters.include_not_verified
    }),
    (FieldId::Accepted, "Risk accepted", |filters| {
        &mut filters.include_accepted
    }),
    (FieldId::Fixed, "Fixed", |filters| {
        &mut filters.include_fixed
    }),
    (FieldId::Ignored, "Ignored", |filters| {
        &mut filters.include_ignored
    }),
    (FieldId::FalsePositives, "False positives", |filters| {
        &mut filters.include_false_positives
    }),
];

/// The choices of verdicts, from the report for a customer to everything.
const VERDICTS: [(&str, &[ReportVerdict]); 4] = [
    (
        "confirmed and open",
        &[ReportVerdict::Confirmed, ReportVerdict::Open],
    ),
    ("confirmed", &[ReportVerdict::Confirmed]),
    (
        "without false positives",
        &[
            ReportVerdict::Confirmed,
            ReportVerdict::Open,
            ReportVerdict::RiskAccepted,
            ReportVerdict::Fixed,
            ReportVerdict::Absent,
        ],
    ),
    ("all", &ReportVerdict::ALL),
];

/// The parts of a report that scandeck writes.
const PARTS: [(FieldId, &str, ReportPart); 7] = [
    (FieldId::History, "History", ReportPart::History),
    (FieldId::InternalNotes, "Internal notes", ReportPart::Notes),
    (FieldId::Coverage, "Coverage", ReportPart::Coverage),
    (FieldId::Appendix, "Ids", ReportPart::Appendix),
    (FieldId::Changes, "Changes", ReportPart::Changes),
    (FieldId::Chains, "Chains", ReportPart::Chains),
    (FieldId::InfoRisk, "Info findings", ReportPart::Info),
];

/// The fields that only a report of scandeck has.
fn local_fields() -> impl Iterator<Item = FieldId> {
    [
        FieldId::Chapters,
        FieldId::ReportVerdicts,
        FieldId::Evidence,
        FieldId::Template,
    ]
    .into_iter()
    .chain(PARTS.map(|(id, ..)| id))
}

/// A report about one of these sets of ids.
pub(crate) fn open(sets: Vec<IdSet>) -> Form {
    let first = sets
        .iter()
        .find(|set| !set.ids.is_empty() || !set.issues.is_empty())
        .map(|set| set.source.clone());
    let source = ReportSource::KNOWN
        .iter()
        .position(|source| Some(source) == first.as_ref())
        .unwrap_or(0);
    let authors = ["the service", "scandeck, with decisions"];
    // Without the decisions, a report shows findings that were dismissed.
    let author = usize::from(ReportSource::KNOWN.get(source) == Some(&ReportSource::Findings));
    let mut fields = vec![
        FormField::choice(FieldId::MadeBy, "Created by", authors, author),
        FormField::choice(
            FieldId::Source,
            "Covers",
            ReportSource::KNOWN.iter().map(ReportSource::as_str),
            source,
        ),
        FormField::choice(FieldId::Resources, "Rows", Vec::<String>::new(), 0),
        FormField::choice(
            FieldId::Format,
            "Format",
            ReportFormat::KNOWN.iter().map(ReportFormat::as_str),
            1,
        ),
        FormField::choice(
            FieldId::GroupBy,
            "Group by",
            GroupBy::KNOWN.iter().map(GroupBy::as_str),
            0,
        ),
        FormField::line(FieldId::Webhook, "Webhook URL", "")
            .with_help("receives a notice when the report is ready; optional"),
    ];
    fields.extend(option_fields());
    let mut defaults = ReportFilters::default();
    fields.extend(FILTERS.map(|(id, label, filter)| {
        FormField::toggle(id, label, *filter(&mut defaults)).with_help(filter_help(id))
    }));
    let mut form = Form::new(FormTag::NewReport, &KIND, "New report", "Create", fields);
    form.subject.sets = sets;
    form
}

fn option_fields() -> Vec<FormField> {
    // The first choice, which `name_unset` names, leaves an option as the template has it.
    let choice = |id, label, names: &[&str]| {
        FormField::choice(id, label, [""].iter().chain(names).copied(), 0)
    };
    let verdicts = VERDICTS.map(|(label, _)| label);
    let mut fields = vec![
        FormField::line(FieldId::Template, "Template", "")
            .with_help("TOML file with texts and options of a client; optional"),
        choice(FieldId::Chapters, "Chapters", &ChapterKind::NAMES),
        choice(FieldId::ReportVerdicts, "Verdicts", &verdicts),
        choice(FieldId::Evidence, "Evidence", &EvidenceDetail::NAMES)
            .with_help("first: of one place in each chapter"),
    ];
    fields.extend(PARTS.map(|(id, label, _)| choice(id, label, &["no", "yes"])));
    fields
}

/// The options that the form names; a template, or else the format, decides the others.
fn chosen(form: &Form) -> ChosenOptions {
    let at = |id| form.choice(id).checked_sub(1);
    let verdicts = at(FieldId::ReportVerdicts).and_then(|at| VERDICTS.get(at));
    let parts = PARTS.into_iter();
    let parts = parts.filter_map(|(id, _, part)| Some((part, at(id)? == 1)));
    ChosenOptions {
        group_by: at(FieldId::Chapters).and_then(|at| ChapterKind::ALL.get(at).copied()),
        verdicts: verdicts.map(|(_, verdicts)| verdicts.iter().copied().collect()),
        evidence: at(FieldId::Evidence).and_then(|at| EvidenceDetail::ALL.get(at).copied()),
        parts: parts.collect(),
    }
}

/// The options of the template, or else of the format. None until the template is read.
fn unset_options(form: &Form) -> Option<ReportOptions> {
    let has_template = form.filled(FieldId::Template).is_some();
    let read = form.subject.preview.as_ref().map(|preview| &preview.result);
    match (has_template, read) {
        (false, _) => local_format(form).map(ExportFormat::report_options),
        (true, Some(Some(Ok(preview)))) => Some(preview.options.clone()),
        (true, _) => None,
    }
}

/// Names the first choice of each option: `as the template (risk)`, `default (class)`.
fn name_unset(form: &mut Form) {
    let has_template = form.filled(FieldId::Template).is_some();
    let chosen = chosen(form);
    let options = unset_options(form);
    let name = |value: Option<String>| match (has_template, value) {
        (true, None) => "as the template".to_owned(),
        (true, Some(value)) => format!("as the template ({value})"),
        (false, value) => format!("default ({})", value.unwrap_or_default()),
    };
    // The options of the preview have those of the form already.
    let known = |is_chosen: bool| options.clone().filter(|_| !is_chosen || !has_template);
    let verdicts = |options: ReportOptions| {
        let same = |one: &&(&str, &[ReportVerdict])| options.verdicts.iter().eq(one.1);
        let label = VERDICTS.iter().find(same).map(|(label, _)| *label);
        label.map_or_else(|| plural(options.verdicts.len(), "verdict"), str::to_owned)
    };
    let mut names = vec![
        (
            FieldId::Chapters,
            known(chosen.group_by.is_some()).map(|it| it.group_by.as_str().to_owned()),
        ),
        (
            FieldId::ReportVerdicts,
            known(chosen.verdicts.is_some()).map(verdicts),
        ),
        (
            FieldId::Evidence,
            known(chosen.evidence.is_some()).map(|it| it.evidence.as_str().to_owned()),
        ),
    ];
    names.extend(PARTS.map(|(id, _, part)| {
        let value = known(chosen.parts.contains_key(&part));
        let word = |is_included: bool| if is_included { "yes" } else { "no" };
        (
            id,
            value.map(|mut options| word(*part.of(&mut options)).to_owned()),
        )
    }));
    for (id, value) in names {
        if let Some(FormField {
            value: FieldValue::Choice { options, .. },
            ..
        }) = form.field_mut(id)
            && let Some(first) = options.first_mut()
        {
            *first = name(value);
        }
    }
}

/// The report whose preview is to be read, and remembered as requested: none while the template is
/// typed, or another one is read.
pub(crate) fn next_preview(form: &mut Form) -> Option<LocalReport> {
    let is_typed = form.focused().map(|field| field.id) == Some(FieldId::Template);
    let report = local_report(form).filter(|report| !report.request.template.is_empty());
    let Some(report) = report.filter(|_| !is_typed) else {
        // A template that is read again may have changed.
        form.subject.preview = None;
        return None;
    };
    let next = TemplatePreview {
        template: report.request.template.clone(),
        format: report.format,
        chosen: report.request.chosen.clone(),
        issues: report.issues.clone(),
        result: None,
    };
    if let Some(last) = &form.subject.preview {
        let is_same = last.result.is_none()
            || *last
                == TemplatePreview {
                    result: last.result.clone(),
                    ..next.clone()
                };
        if is_same {
            return None;
        }
    }
    form.subject.preview = Some(next);
    Some(report)
}

fn filter_help(id: FieldId) -> &'static str {
    match id {
        FieldId::NotVerified => "no: only findings verified at the service",
        FieldId::Accepted | FieldId::Fixed | FieldId::Ignored | FieldId::FalsePositives => {
            "by status at the service, not by decision"
        }
        _ => "include in the report",
    }
}

fn source(form: &Form) -> ReportSource {
    ReportSource::KNOWN
        .get(form.choice(FieldId::Source))
        .cloned()
        .unwrap_or_default()
}

fn is_local(form: &Form) -> bool {
    form.choice(FieldId::MadeBy) == 1 && source(form) == ReportSource::Findings
}

/// The sets of the chosen source. A set of manual findings alone can only be reported by scandeck.
fn sets(form: &Form) -> Vec<&IdSet> {
    let (source, local) = (source(form), is_local(form));
    let has_some = |set: &&IdSet| {
        if local {
            !set.issues.is_empty()
        } else {
            !set.ids.is_empty()
        }
    };
    form.subject
        .sets
        .iter()
        .filter(|set| set.source == source)
        .filter(has_some)
        .collect()
}

fn chosen_set(form: &Form) -> Option<&IdSet> {
    sets(form).get(form.choice(FieldId::Resources)).copied()
}

/// How many rows of a set the report covers.
fn count(form: &Form, set: &IdSet) -> usize {
    if is_local(form) {
        set.issues.len()
    } else {
        set.ids.len()
    }
}

/// A report that scandeck writes itself.
#[derive(Clone, Debug)]
pub(crate) struct LocalReport {
    pub format: ExportFormat,
    pub issues: Vec<IssueId>,
    pub request: ReportRequest,
}

/// The report, unless the service creates it.
pub(crate) fn local_report(form: &Form) -> Option<LocalReport> {
    let set = chosen_set(form).filter(|_| is_local(form))?;
    Some(LocalReport {
        format: local_format(form)?,
        issues: set.issues.clone(),
        request: ReportRequest {
            chosen: chosen(form),
            template: form.filled(FieldId::Template).unwrap_or_default(),
            ..ReportRequest::default()
        },
    })
}

fn local_format(form: &Form) -> Option<ExportFormat> {
    match ReportFormat::KNOWN.get(form.choice(FieldId::Format))? {
        ReportFormat::Html => Some(ExportFormat::Html),
        ReportFormat::Json => Some(ExportFormat::Json),
        ReportFormat::Csv => Some(ExportFormat::Csv),
        ReportFormat::Pdf => Some(ExportFormat::Pdf),
        ReportFormat::Docx => Some(ExportFormat::Docx),
        ReportFormat::Xlsx => Some(ExportFormat::Xlsx),
        ReportFormat::Other(_) => None,
    }
}

/// Offers the sets of the chosen source, and finds the problems.
fn check(form: &mut Form) -> Vec<FieldProblem> {
    let local = is_local(form);
    form.show(FieldId::MadeBy, source(form) == ReportSource::Findings);
    disable_refused_formats(form, local);
    for id in [FieldId::GroupBy, FieldId::Webhook]
        .into_iter()
        .chain(FILTERS.map(|(id, ..)| id))
    {
        form.show(id, !local);
    }
    // Tables for programs have no chapters and pages.
    let has_options = local && local_format(form).is_some_and(ExportFormat::is_report);
    local_fields().for_each(|id| form.show(id, has_options));
    let offered: Vec<String> = sets(form)
        .iter()
        .map(|set| format!("{} ({})", set.label, count(form, set)))
        .collect();
    let is_empty = offered.is_empty();
    if let Some(FormField {
        value: FieldValue::Choice { options, at },
        ..
    }) = form.field_mut(FieldId::Resources)
    {
        *options = if is_empty {
            vec!["none".to_owned()]
        } else {
            offered
        };
        *at = (*at).min(options.len() - 1);
    }
    name_unset(form);
    form.summary = summary(form);
    let mut problems = Vec::new();
    if chosen_format(form)
        .filter(|_| !local)
        .is_some_and(|format| refusal(form, format).is_some())
    {
        problems.push((
            FieldId::Format,
            "the service has no format for reports".to_owned(),
        ));
    }
    if is_empty {
        problems.push((
            FieldId::Resources,
            format!("no {} for the report", source(form)),
        ));
    }
    if !form
        .filled(FieldId::Webhook)
        .is_none_or(|url| is_web_url(&url))
    {
        problems.push((
            FieldId::Webhook,
            "webhook URL must be an http or https URL".to_owned(),
        ));
    }
    problems
}

/// The reason for which the service refused a format before.
fn refusal<'a>(form: &'a Form, format: &ReportFormat) -> Option<&'a String> {
    form.subject.refused_formats.get(format.as_str())
}

fn chosen_format(form: &Form) -> Option<&'static ReportFormat> {
    ReportFormat::KNOWN.get(form.choice(FieldId::Format))
}

/// Disables the refused formats. Reports that scandeck writes have all formats.
fn disable_refused_formats(form: &mut Form, local: bool) {
    let refusals = ReportFormat::KNOWN
        .iter()
        .map(|format| refusal(form, format).filter(|_| !local).cloned());
    let disabled = (0..)
        .zip(refusals)
        .filter_map(|(at, reason)| Some((at, reason?)))
        .collect();
    if let Some(field) = form.field_mut(FieldId::Format) {
        field.disable(disabled);
    }
}

/// The formats that the service refused with a report, if the format was the reason: its own, and
/// with a list of allowed formats all others.
pub(crate) fn refused_formats(call: &Call, problem: &Problem) -> Vec<String> {
    let Some(format) = refused_format(call, problem) else {
        return Vec::new();
    };
    let message = message_of(problem).to_lowercase();
    let list = LISTS_ALLOWED
        .iter()
        .find_map(|words| message.split_once(words))
        .map_or("", |(_, list)| list);
    let allowed: Vec<&str> = list
        .split(|letter: char| !letter.is_alphanumeric())
        .collect();
    let known = || ReportFormat::KNOWN.iter().map(ReportFormat::as_str);
    let is_list =
        known().any(|known| allowed.contains(&known)) && !allowed.contains(&format.as_str());
    let others = known().filter(|known| is_list && !allowed.contains(known) && *known != format);
    others.map(str::to_owned).chain([format.clone()]).collect()
}

fn refused_format(call: &Call, problem: &Problem) -> Option<String> {
    let Call::CreateReport(report) = call else {
        return None;
    };
    let (format, message) = (
        report.format.to_string(),
        message_of(problem).to_lowercase(),
    );
    // Names of data formats are in messages about the body of the request too.
    let is_named = !matches!(report.format, ReportFormat::Json | ReportFormat::Html)
        && message
            .split(|letter: char| !letter.is_alphanumeric())
            .any(|word| word == format);
    let is_report_named = message.contains(&format!("{format} report"));
    let is_reason = is_named
        || is_report_named
        || message.contains("format")
        || message.contains("report type");
    (is_reason && matches!(problem.status, Some(400 | 415 | 422))).then_some(format)
}

/// `3 findings`, or scans.
fn counted(form: &Form, count: usize) -> String {
    plural(
        count,
        if source(form) == ReportSource::Scans {
            "scan"
        } else {
            "finding"
        },
    )
}

/// The findings that the report covers and excludes.
fn summary(form: &Form) -> Vec<String> {
    let Some(set) = chosen_set(form) else {
        return Vec::new();
    };
    let counted = counted(form, count(form, set));
    if is_local(form) {
        // Tables for programs have every finding.
        let is_report = local_format(form).is_some_and(ExportFormat::is_report);
        let options = unset_options(form).filter(|_| is_report);
        let mut lines = match options.map(|options| chosen(form).over(options)) {
            Some(options) => contents::lines(&set.traits, &options),
            None => vec![contents::saved(&counted)],
        };
        let preview = form.subject.preview.as_ref();
        match preview.and_then(|preview| preview.result.as_ref()) {
            Some(Ok(preview)) => lines.extend(preview.lines.clone()),
            Some(Err(problem)) => lines.push(message_of(problem)),
            None => {}
        }
        return lines;
    }
    let mut lines = vec![
        format!(
            "Report of {counted}, created in the background. The list of reports shows when it is ready."
        ),
        "Excludes decisions, notes and severity overrides: the service does not have them."
            .to_owned(),
    ];
    let manual = set.issues.len().saturating_sub(set.ids.len());
    if manual > 0 {
        lines.push(format!(
            "Excludes {}: the service does not have them.",
            plural(manual, "manual finding")
        ));
    }
    lines
}

fn jobs(form: &Form) -> Vec<Job> {
    let ids = chosen_set(form)
        .map(|set| set.ids.clone())
        .unwrap_or_default();
    let mut filters = ReportFilters::default();
    for (id, _, filter) in FILTERS {
        *filter(&mut filters) = form.choice(id) == 1;
    }
    let format = ReportFormat::KNOWN
        .get(form.choice(FieldId::Format))
        .cloned()
        .unwrap_or_default();
    let about = format!("{format} report on {}", counted(form, ids.len()));
    let report = NewReport {
        format,
        group_by: GroupBy::KNOWN
            .get(form.choice(FieldId::GroupBy))
            .cloned()
            .unwrap_or_default(),
        source: source(form),
        resources: ids,
        filters: (filters != ReportFilters::default()).then_some(filters),
        webhook_url: form.filled(FieldId::Webhook),
    };
    vec![Job::new(about, Call::CreateReport(report))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_report::ReportPreview;
    use std::collections::BTreeMap;

    fn form() -> Form {
        let set = |label: &str, source, ids: &[i64]| IdSet {
            label: label.to_owned(),
            source,
            ids: ids.to_vec(),
            issues: Vec::new(),
            traits: BTreeMap::new(),
        };
        let mut form = open(vec![
            set("marked", ReportSource::Findings, &[4, 5]),
            set("shown", ReportSource::Findings, &[1, 4, 5]),
            set("shown", ReportSource::Scans, &[9]),
        ]);
        // By the service.
        form.field_mut(FieldId::MadeBy).unwrap().choose(-1);
        check(&mut form);
        form
    }

    fn made(form: &Form) -> NewReport {
        match jobs(form).remove(0).call {
            Call::CreateReport(report) => report,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn changed_source_selects_its_own_rows() {
        let mut form = form();
        let report = made(&form);
        assert_eq!(
            (report.source, report.resources, report.filters),
            (ReportSource::Findings, vec![4, 5], None)
        );
        form.field_mut(FieldId::Source).unwrap().choose(1);
        assert_eq!(check(&mut form), []);
        let report = made(&form);
        assert_eq!(
            (report.source, report.resources),
            (ReportSource::Scans, vec![9])
        );
    }

    #[test]
    fn toggled_filter_reaches_the_call() {
        for (id, _, filter) in FILTERS {
            let mut form = form();
            form.field_mut(id).unwrap().choose(1);
            let mut expected = ReportFilters::default();
            let on = filter(&mut expected);
            *on = !*on;
            assert_eq!(made(&form).filters, Some(expected), "{id:?}");
        }
    }

    #[test]
    fn local_report_includes_manual_findings_in_every_format() {
        let mut form = form();
        form.subject.sets[0].issues = vec![IssueId(4), IssueId(5), IssueId(6)];
        check(&mut form);
        assert!(
            form.summary
                .iter()
                .any(|line| line.starts_with("Excludes 1 manual finding")),
            "{:?}",
            form.summary
        );
        assert!(local_report(&form).is_none());
        form.field_mut(FieldId::MadeBy).unwrap().choose(1);
        let html = ReportFormat::KNOWN
            .iter()
            .position(|format| *format == ReportFormat::Html)
            .unwrap();
        for at in 0..ReportFormat::KNOWN.len() {
            let field = form.field_mut(FieldId::Format).unwrap();
            while field.chosen() != at {
                field.choose(1);
            }
            let wrong = check(&mut form);
            let made = local_report(&form);
            assert!(wrong.is_empty() && made.is_some(), "{wrong:?}");
            if at == html {
                let made = made.unwrap();
                assert_eq!(
                    (made.format, made.issues),
                    (ExportFormat::Html, vec![IssueId(4), IssueId(5), IssueId(6)])
                );
            }
        }
    }

    #[test]
    fn preview_is_read_when_the_template_is_left_and_names_its_options() {
        let mut form = form();
        form.subject.sets[0].issues = vec![IssueId(4)];
        form.field_mut(FieldId::MadeBy).unwrap().choose(1);
        form.field_mut(FieldId::Template)
            .unwrap()
            .set_text("client.toml");
        check(&mut form);
        let at = |form: &Form, id| form.fields.iter().position(|field| field.id == id).unwrap();
        form.at = at(&form, FieldId::Template);
        assert!(next_preview(&mut form).is_none(), "it is typed");
        form.at = at(&form, FieldId::Chapters);
        assert_eq!(
            next_preview(&mut form).unwrap().request.template,
            "client.toml"
        );
        form.field_mut(FieldId::Evidence).unwrap().choose(1);
        assert!(next_preview(&mut form).is_none(), "one at a time");
        let options = ReportOptions {
            group_by: ChapterKind::Risk,
            ..ReportOptions::default()
        };
        let lines = vec!["For Acme".to_owned()];
        let preview = form.subject.preview.as_mut().unwrap();
        preview.result = Some(Ok(ReportPreview { lines, options }));
        check(&mut form);
        assert!(
            form.summary.contains(&"For Acme".to_owned()),
            "{:?}",
            form.summary
        );
        assert_eq!(
            form.field(FieldId::Chapters).unwrap().text(),
            "as the template (risk)"
        );
        assert!(next_preview(&mut form).is_some(), "the evidence changed");
    }

    #[test]
    fn options_of_a_local_report_reach_the_request() {
        let mut form = form();
        form.subject.sets[0].issues = vec![IssueId(4)];
        form.field_mut(FieldId::MadeBy).unwrap().choose(1);
        check(&mut form);
        let request = |form: &Form| local_report(form).unwrap().request;
        assert_eq!(
            request(&form).chosen,
            ChosenOptions::default(),
            "a template may choose"
        );
        assert_eq!(
            form.field(FieldId::Chapters).unwrap().text(),
            "default (class)"
        );
        form.field_mut(FieldId::Template)
            .unwrap()
            .set_text("client.toml");
        check(&mut form);
        assert_eq!(
            form.field(FieldId::Chapters).unwrap().text(),
            "as the template"
        );
        // The default of a report replaces another choice of the template, too.
        for id in [FieldId::Chapters, FieldId::ReportVerdicts, FieldId::History] {
            form.field_mut(id).unwrap().choose(1);
        }
        assert_eq!(
            request(&form).chosen,
            ChosenOptions {
                group_by: Some(ChapterKind::Class),
                verdicts: Some([ReportVerdict::Confirmed, ReportVerdict::Open].into()),
                evidence: None,
                parts: [(ReportPart::History, false)].into(),
            }
        );
        form.field_mut(FieldId::MadeBy).unwrap().choose(-1);
        check(&mut form);
        assert!(!form.is_shown(FieldId::Chapters) && form.is_shown(FieldId::GroupBy));
    }
}
