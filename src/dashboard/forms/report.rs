//! A report: format, arrangement, what it is about, what it shows, and who is told.

use crate::contract::{GroupBy, NewReport, ReportFilters, ReportFormat, ReportSource};
use crate::dashboard::base::{Call, FormTag, Job};
use crate::dashboard::forms::scan::is_web_url;
use crate::dashboard::forms::{FieldId, FieldValue, Form, FormField, IdSet};
use crate::export::ExportFormat;
use crate::text::plural;
use crate::triage::CaseId;

/// The filters with their words, in the order of the form.
const FILTERS: [(FieldId, &str); 10] = [
    (FieldId::InfoFindings, "Info findings"),
    (FieldId::HowToReproduce, "Reproduction"),
    (FieldId::ToolConfiguration, "Tool settings"),
    (FieldId::FindingHistory, "Finding history"),
    (FieldId::AllTargets, "Empty targets"),
    (FieldId::NotVerified, "Not verified"),
    (FieldId::Accepted, "Accepted"),
    (FieldId::Fixed, "Fixed"),
    (FieldId::Ignored, "Ignored"),
    (FieldId::FalsePositives, "False positives"),
];

/// A report about one of these sets of ids.
pub(crate) fn open(sets: Vec<IdSet>) -> Form {
    let first = sets.iter().find(|set| !set.ids.is_empty()).map(|set| set.source.clone());
    let source = ReportSource::KNOWN.iter().position(|source| Some(source) == first.as_ref()).unwrap_or(0);
    let words = |known: &[&str]| known.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let formats: Vec<&str> = ReportFormat::KNOWN.iter().map(|format| format.as_str()).collect();
    let groups: Vec<&str> = GroupBy::KNOWN.iter().map(|group| group.as_str()).collect();
    let sources: Vec<&str> = ReportSource::KNOWN.iter().map(|source| source.as_str()).collect();
    let makers = ["the service", "scandeck, with the decisions"];
    let mut fields = vec![
        FormField::choice(FieldId::MadeBy, "Made by", makers, 0),
        FormField::choice(FieldId::Source, "About", words(&sources), source),
        FormField::choice(FieldId::Resources, "Which", Vec::<String>::new(), 0),
        FormField::choice(FieldId::Format, "Format", words(&formats), 1),
        FormField::choice(FieldId::GroupBy, "A chapter a", words(&groups), 0),
        FormField::line(FieldId::Webhook, "Tell", "").with_help("a URL told when it is ready; empty: nobody"),
    ];
    let mut defaults = ReportFilters::default();
    fields.extend(FILTERS.map(|(id, label)| {
        let on = filter(&mut defaults, id).is_some_and(|on| *on);
        FormField::toggle(id, label, on)
    }));
    let mut form = Form::new(FormTag::NewReport, "New report", "Make it", fields);
    form.subject.sets = sets;
    form
}

/// The filter a field is about.
fn filter(filters: &mut ReportFilters, id: FieldId) -> Option<&mut bool> {
    Some(match id {
        FieldId::FindingHistory => &mut filters.include_finding_history,
        FieldId::AllTargets => &mut filters.include_all_targets,
        FieldId::HowToReproduce => &mut filters.include_how_to_reproduce,
        FieldId::FalsePositives => &mut filters.include_false_positives,
        FieldId::InfoFindings => &mut filters.include_info,
        FieldId::NotVerified => &mut filters.include_not_verified,
        FieldId::Ignored => &mut filters.include_ignored,
        FieldId::Accepted => &mut filters.include_accepted,
        FieldId::Fixed => &mut filters.include_fixed,
        FieldId::ToolConfiguration => &mut filters.include_tool_configuration,
        _ => return None,
    })
}

fn source(form: &Form) -> ReportSource {
    ReportSource::KNOWN.get(form.choice(FieldId::Source)).cloned().unwrap_or_default()
}

fn is_made_here(form: &Form) -> bool {
    form.choice(FieldId::MadeBy) == 1
}

/// The sets of the chosen source: those with findings of our own alone only where the report is made here.
fn sets(form: &Form) -> Vec<&IdSet> {
    let (source, here) = (source(form), is_made_here(form));
    let has_some = |set: &&IdSet| if here { !set.cases.is_empty() } else { !set.ids.is_empty() };
    form.subject.sets.iter().filter(|set| set.source == source).filter(has_some).collect()
}

/// How many things of a set the report is about.
fn count(form: &Form, set: &IdSet) -> usize {
    if is_made_here(form) { set.cases.len() } else { set.ids.len() }
}

/// What is made here, in the forms that are made here.
pub(crate) fn made_here(form: &Form) -> Option<(ExportFormat, Vec<CaseId>)> {
    let set = *sets(form).get(form.choice(FieldId::Resources)).filter(|_| is_made_here(form))?;
    let format = ReportFormat::KNOWN.get(form.choice(FieldId::Format)).and_then(local)?;
    Some((format, set.cases.clone()))
}

fn local(format: &ReportFormat) -> Option<ExportFormat> {
    match format {
        ReportFormat::Html => Some(ExportFormat::Html),
        ReportFormat::Json => Some(ExportFormat::Json),
        ReportFormat::Csv => Some(ExportFormat::Csv),
        _ => None,
    }
}

/// Offers the sets of the chosen source; says what is wrong.
pub(crate) fn check(form: &mut Form) -> Vec<(FieldId, String)> {
    let here = is_made_here(form);
    for id in [FieldId::GroupBy, FieldId::Webhook].into_iter().chain(FILTERS.map(|(id, _)| id)) {
        form.show(id, !here);
    }
    let offered: Vec<String> = sets(form).iter().map(|set| format!("{} ({})", set.words, count(form, set))).collect();
    let none = offered.is_empty();
    if let Some(FormField { value: FieldValue::Choice { options, at }, .. }) = form.field_mut(FieldId::Resources) {
        *options = if none { vec!["there is none".to_owned()] } else { offered };
        *at = (*at).min(options.len() - 1);
    }
    form.summary = summary(form);
    let mut wrong = Vec::new();
    if here && source(form) != ReportSource::Findings {
        return vec![(FieldId::Source, "made here, a report is about findings".to_owned())];
    }
    if here && ReportFormat::KNOWN.get(form.choice(FieldId::Format)).and_then(local).is_none() {
        wrong.push((FieldId::Format, "made here: html, json or csv".to_owned()));
    }
    if none {
        wrong.push((FieldId::Resources, format!("resources is required: there are no {}", source(form))));
    }
    let webhook = form.text(FieldId::Webhook);
    if !webhook.is_empty() && !is_web_url(&webhook) {
        wrong.push((FieldId::Webhook, "webhook_url is an http or https URL".to_owned()));
    }
    wrong
}

/// What it is about, and what it cannot carry.
fn summary(form: &Form) -> Vec<String> {
    let Some(set) = sets(form).get(form.choice(FieldId::Resources)).copied() else { return Vec::new() };
    let noun = if source(form) == ReportSource::Scans { "scan" } else { "finding" };
    let counted = plural(count(form, set), noun);
    if is_made_here(form) {
        return vec![format!("It is written at once, about {counted}, with decisions, notes and own severities.")];
    }
    let mut lines = vec![format!("It is made in the background, about {counted}; d downloads it.")];
    lines.push("The service makes it: decisions, notes and own severities are not in it.".to_owned());
    match set.cases.len().saturating_sub(set.ids.len()) {
        0 => {}
        own => lines.push(format!("{own} of our own left out: the service does not know them.")),
    }
    lines
}

/// The call.
pub(crate) fn jobs(form: &Form) -> Vec<Job> {
    let ids = sets(form).get(form.choice(FieldId::Resources)).map(|set| set.ids.clone()).unwrap_or_default();
    let mut filters = ReportFilters::default();
    for (id, _) in FILTERS {
        if let Some(on) = filter(&mut filters, id) {
            *on = form.choice(id) == 1;
        }
    }
    let format = ReportFormat::KNOWN.get(form.choice(FieldId::Format)).cloned().unwrap_or_default();
    let about = format!("{format} report about {} {}", ids.len(), source(form));
    let report = NewReport {
        format,
        group_by: GroupBy::KNOWN.get(form.choice(FieldId::GroupBy)).cloned().unwrap_or_default(),
        source: source(form),
        resources: ids,
        filters: (filters != ReportFilters::default()).then_some(filters),
        webhook_url: Some(form.text(FieldId::Webhook)).filter(|url| !url.is_empty()),
    };
    vec![Job::new(about, Call::CreateReport(report))]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> Form {
        let set = |words: &str, source, ids: &[i64]| IdSet {
            words: words.to_owned(),
            source,
            ids: ids.to_vec(),
            cases: Vec::new(),
        };
        let mut form = open(vec![
            set("marked", ReportSource::Findings, &[4, 5]),
            set("shown", ReportSource::Findings, &[1, 4, 5]),
            set("shown", ReportSource::Scans, &[9]),
        ]);
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
    fn the_first_set_is_chosen_and_the_source_changes_what_is_offered() {
        let mut form = form();
        let report = made(&form);
        assert_eq!((report.source, report.resources, report.filters), (ReportSource::Findings, vec![4, 5], None));
        form.field_mut(FieldId::Source).unwrap().choose(1);
        assert_eq!(check(&mut form), []);
        let report = made(&form);
        assert_eq!((report.source, report.resources), (ReportSource::Scans, vec![9]));
    }

    #[test]
    fn each_of_the_ten_filters_reaches_the_call() {
        for (id, _) in FILTERS {
            let mut form = form();
            form.field_mut(id).unwrap().choose(1);
            let mut expected = ReportFilters::default();
            let on = filter(&mut expected, id).unwrap();
            *on = !*on;
            assert_eq!(made(&form).filters, Some(expected), "{id:?}");
        }
    }

    #[test]
    fn made_here_it_takes_findings_of_our_own_and_says_which_forms_there_are() {
        let mut form = form();
        form.subject.sets[0].cases = vec![CaseId(4), CaseId(5), CaseId(6)];
        check(&mut form);
        assert!(form.summary.iter().any(|line| line.starts_with("1 of our own left out")), "{:?}", form.summary);
        assert_eq!(made_here(&form), None);
        form.field_mut(FieldId::MadeBy).unwrap().choose(1);
        let html = ReportFormat::KNOWN.iter().position(|format| *format == ReportFormat::Html).unwrap();
        for at in 0..ReportFormat::KNOWN.len() {
            let field = form.field_mut(FieldId::Format).unwrap();
            while field.chosen() != at {
                field.choose(1);
            }
            let wrong = check(&mut form);
            let made = made_here(&form);
            assert_eq!(wrong.is_empty(), made.is_some(), "{wrong:?}");
            if at == html {
                assert_eq!(made, Some((ExportFormat::Html, vec![CaseId(4), CaseId(5), CaseId(6)])));
            }
        }
    }
}
