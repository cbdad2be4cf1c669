//! A report: format, arrangement, what it is about, what it shows, and who is told.

use super::{Field, FieldId, Form, FormTag, IdSet, Value, scan::is_web_url};
use crate::app::batch::Job;
use crate::app::effect::Call;
use crate::contract::{GroupBy, NewReport, ReportFilters, ReportFormat, ReportSource};

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
pub(super) fn open(sets: Vec<IdSet>) -> Form {
    let first = sets.iter().find(|set| !set.ids.is_empty()).map(|set| set.source.clone());
    let source = ReportSource::KNOWN.iter().position(|source| Some(source) == first.as_ref()).unwrap_or(0);
    let words = |known: &[&str]| known.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let formats: Vec<&str> = ReportFormat::KNOWN.iter().map(|format| format.as_str()).collect();
    let groups: Vec<&str> = GroupBy::KNOWN.iter().map(|group| group.as_str()).collect();
    let sources: Vec<&str> = ReportSource::KNOWN.iter().map(|source| source.as_str()).collect();
    let mut fields = vec![
        Field::choice(FieldId::Source, "About", words(&sources), source),
        Field::choice(FieldId::Resources, "Which", Vec::<String>::new(), 0),
        Field::choice(FieldId::Format, "Format", words(&formats), 1),
        Field::choice(FieldId::GroupBy, "A chapter a", words(&groups), 0),
        Field::line(FieldId::Webhook, "Tell", "").with_help("a URL told when it is ready; empty: nobody"),
    ];
    let mut defaults = ReportFilters::default();
    fields.extend(FILTERS.map(|(id, label)| {
        let on = filter(&mut defaults, id).is_some_and(|on| *on);
        Field::toggle(id, label, on)
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

/// The sets of the chosen source.
fn sets(form: &Form) -> Vec<&IdSet> {
    let source = source(form);
    form.subject.sets.iter().filter(|set| set.source == source && !set.ids.is_empty()).collect()
}

/// Offers the sets of the chosen source; says what is wrong.
pub(super) fn check(form: &mut Form) -> Vec<(FieldId, String)> {
    let offered: Vec<String> = sets(form).iter().map(|set| format!("{} ({})", set.words, set.ids.len())).collect();
    let none = offered.is_empty();
    if let Some(Field { value: Value::Choice { options, at }, .. }) = form.field_mut(FieldId::Resources) {
        *options = if none { vec!["there is none".to_owned()] } else { offered };
        *at = (*at).min(options.len() - 1);
    }
    let chosen = sets(form).get(form.choice(FieldId::Resources)).map(|set| (set.ids.len(), set.left_out));
    let (count, left_out) = chosen.unwrap_or_default();
    form.summary = vec![format!("It is made in the background, about {count} {}; d downloads it.", source(form))];
    form.summary.push("The service makes it: decisions, notes and severities of our own are not in it.".to_owned());
    if left_out > 0 {
        form.summary.push(format!("{left_out} of our own left out: the service does not know them."));
    }
    let mut wrong = Vec::new();
    if none {
        wrong.push((FieldId::Resources, format!("resources is required: there are no {}", source(form))));
    }
    let webhook = form.text(FieldId::Webhook);
    if !webhook.is_empty() && !is_web_url(&webhook) {
        wrong.push((FieldId::Webhook, "webhook_url is an http or https URL".to_owned()));
    }
    wrong
}

/// The call.
pub(super) fn jobs(form: &Form) -> Vec<Job> {
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
            left_out: 0,
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
}
