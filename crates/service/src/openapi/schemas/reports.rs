//! Reports.

use serde_json::{Map, Value, json};

use super::{Schema, boolean, choice, nullable, or_null, request, response, text, with};
use scandeck_report::FORMATS;
use scandeck_wire::contract::{
    GroupBy, Report, ReportCreated, ReportFilters, ReportFormat, ReportSource, ReportStatus,
};

/// The names of the filters and their meanings.
const FILTERS: &[(&str, &str)] = &[
    (
        "include_finding_history",
        "earlier findings of the same duplicate group",
    ),
    ("include_all_targets", "targets without findings"),
    ("include_how_to_reproduce", "evidence"),
    (
        "include_false_positives",
        "findings with status `false_positive`; no effect here, because this service sets only `open`",
    ),
    ("include_info", "findings with risk 0"),
    (
        "include_not_verified",
        "findings that are not verified; this service verifies none, so `false` excludes all findings",
    ),
    (
        "include_ignored",
        "findings with status `ignored`; no effect here",
    ),
    (
        "include_accepted",
        "findings with status `accepted`; no effect here",
    ),
    (
        "include_fixed",
        "findings with status `fixed`; no effect here",
    ),
    (
        "include_tool_configuration",
        "the scans with their parameters, as an appendix",
    ),
];

pub fn schemas() -> Vec<Schema> {
    vec![
        response::<ReportStatus>(json!("finished")),
        response::<ReportFormat>(json!("json")),
        response::<Report>(json!({
            "id": 2, "download_name": "scandeck-default-2.json", "status": "finished", "format": "json",
            "generation_date": "2026-11-21 14:00:00", "expiration_date": "2026-12-21 14:00:00",
            "workspace_id": 1
        })),
        filters(),
        new_report(),
        response::<ReportCreated>(json!({"report_id": 2})),
    ]
}

fn filters() -> Schema {
    let defaults = serde_json::to_value(ReportFilters::default()).unwrap_or_default();
    let field = |(name, meaning): &(&str, &str)| {
        let filter = nullable(boolean(&format!("Include {meaning}.")));
        (
            (*name).to_owned(),
            with(filter, json!({"default": defaults[*name]})),
        )
    };
    let fields: Map<String, Value> = FILTERS.iter().map(field).collect();
    let mut schema = request(&[], Value::Object(fields));
    schema["additionalProperties"] = false.into();
    Schema {
        name: "ReportFilters".into(),
        schema,
        example: json!({"include_info": false}),
    }
}

fn new_report() -> Schema {
    let resources = json!({
        "type": "array", "minItems": 1, "items": {"type": "integer", "format": "int64"},
        "description": "Ids of scans or findings, depending on `source`.",
    });
    let url = text(
        "An http or https URL in the scope of the service, which receives a JSON notification when the report is ready.",
    );
    let url = with(nullable(url), json!({"format": "uri"}));
    let mut schema = request(
        &["format", "group_by", "source", "resources"],
        json!({
            "format": choice(FORMATS, "The format of the file."),
            "group_by": choice(GroupBy::KNOWN, "One chapter per target or per vulnerability class."),
            "source": choice(ReportSource::KNOWN, "The kind of the ids in `resources`."),
            "resources": resources,
            "webhook_url": url,
        }),
    );
    schema["properties"]["filters"] = or_null(
        "ReportFilters",
        "Findings and parts that the report includes.",
    );
    Schema {
        name: "NewReport".into(),
        schema,
        example: json!({
            "format": "json", "group_by": "target", "source": "scans", "resources": [1],
            "filters": {"include_info": false}
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_has_a_description() {
        let known = serde_json::to_value(ReportFilters::default()).unwrap();
        let mut described: Vec<&str> = FILTERS.iter().map(|filter| filter.0).collect();
        described.sort_unstable();
        let mut names: Vec<&str> = known
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        names.sort_unstable();
        assert_eq!(described, names);
    }
}
