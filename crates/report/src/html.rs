//! The HTML report: one self-contained page without scripts, from the templates of
//! `assets/reports`.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value};
use serde_json::json;

use super::view::{Chapter, FindingEntry, ProofLimit, View, counted};
use super::{Document, RenderError, ReportOutput};
use scandeck_wire::contract::Risk;

/// The parts of the page, rendered one after the other: a page of 20,000 findings never exists as
/// one tree of values.
const TEMPLATES: [(&str, &str); 4] = [
    ("head", include_str!("../../../assets/reports/head.html")),
    (
        "chapter",
        include_str!("../../../assets/reports/chapter.html"),
    ),
    (
        "finding",
        include_str!("../../../assets/reports/finding.html"),
    ),
    ("foot", include_str!("../../../assets/reports/foot.html")),
];

pub(super) fn render(
    document: &Document<'_>,
    out: &mut dyn ReportOutput,
) -> Result<(), RenderError> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    for (name, template) in TEMPLATES {
        environment.add_template(name, template)?;
    }
    let view = View::new(document)?;
    let mut part = |name: &str, values: serde_json::Value| -> Result<(), RenderError> {
        let text = environment
            .get_template(name)?
            .render(Value::from(Serde(values)))?;
        Ok(out.write_all(text.as_bytes())?)
    };
    part("head", head(&view))?;
    for chapter in &view.contents {
        part("chapter", chapter_head(chapter))?;
        for entry in chapter.entries(ProofLimit::ALL, 0) {
            part("finding", finding(&entry?.1))?;
        }
    }
    let scans: Vec<[String; 8]> = view.scans().collect();
    let recommendations: Vec<_> = view
        .recommendations
        .iter()
        .map(|one| {
            json!({"risk": one.risk.as_str(), "name": one.name, "findings": one.findings, "targets": one.targets,
                "text": one.text})
        })
        .collect();
    part(
        "foot",
        json!({"recommendations": recommendations, "scan_headers": View::SCAN_HEADERS, "scans": scans}),
    )
}

fn head(view: &View<'_>) -> serde_json::Value {
    let most = view
        .summary
        .iter()
        .flat_map(|row| row.counts)
        .max()
        .unwrap_or(0)
        .max(1);
    let bars: Vec<_> = view
        .summary
        .iter()
        .map(|row| {
            let bar = |(risk, count): (&Risk, usize)| json!([risk.as_str(), count, count * 100 / most]);
            let bars: Vec<_> = Risk::DOWN.iter().zip(row.counts).map(bar).collect();
            json!({"label": row.label, "total": row.total(), "bars": bars, "counts": counted(&row.counts)})
        })
        .collect();
    let contents: Vec<_> = view
        .contents
        .iter()
        .map(|chapter| json!({"number": chapter.number, "name": chapter.name, "findings": chapter.len()}))
        .collect();
    json!({
        "title": view.title,
        "cover": view.cover,
        "summary": bars,
        "settled": view.settled,
        "contents": contents,
        "has_recommendations": !view.recommendations.is_empty(),
        "has_scans": view.scans().len() > 0,
    })
}

fn chapter_head(chapter: &Chapter<'_>) -> serde_json::Value {
    json!({
        "number": chapter.number,
        "name": chapter.name,
        "is_empty": chapter.is_empty(),
        "prose": chapter.common,
    })
}

fn finding(entry: &FindingEntry) -> serde_json::Value {
    json!({
        "number": entry.number,
        "name": entry.name,
        "risk": entry.risk.as_str(),
        "prose": entry.prose,
        "proof": entry.proof,
        "history": entry.history,
    })
}
