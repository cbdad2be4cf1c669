//! The JSON report: an array of groups, each with its name and `findings[]`; finding fields are
//! those of the contract. Every finding is written before the next one is read.

use serde_json::{Value, json};

use super::{ChapterKind, Document, Earlier, RenderError, ReportFinding, ReportOutput};
use scandeck_wire::contract::Stamp;
use scandeck_wire::text;

pub(super) fn render(
    document: &Document<'_>,
    out: &mut dyn ReportOutput,
) -> Result<(), RenderError> {
    out.write_all(b"[")?;
    for (at, group) in document.groups.iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        let [name, by] = [&group.name, grouping(document)].map(|text| safe(&json!(text), "    "));
        write!(
            out,
            "{comma}\n  {{\n    \"name\": {},\n    \"group_by\": {},\n    \"findings\": [",
            name?, by?
        )?;
        for (at, found) in document.findings(group, 0).enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(
                out,
                "{comma}\n      {}",
                safe(&finding(&found?)?, "      ")?
            )?;
        }
        let end = if group.is_empty() { "]" } else { "\n    ]" };
        write!(out, "{end}\n  }}")?;
    }
    out.write_all(if document.groups.is_empty() {
        b"]"
    } else {
        b"\n]"
    })?;
    Ok(())
}

/// The name of the grouping in the contract.
fn grouping(document: &Document<'_>) -> &'static str {
    match document.options.group_by {
        ChapterKind::Class => "vulnerability",
        by => by.as_str(),
    }
}

/// Indented JSON without hidden characters. Its line feeds are never part of a string.
fn safe(value: &Value, indent: &str) -> Result<String, RenderError> {
    let text = serde_json::to_string_pretty(value)?;
    Ok(text::escaped_json(&text).replace('\n', &format!("\n{indent}")))
}

fn finding(found: &ReportFinding) -> Result<Value, serde_json::Error> {
    let mut finding = serde_json::to_value(&found.finding)?;
    finding["target_name"] = json!(found.target);
    finding["tool_id"] = json!(found.tool);
    finding["found_at"] = json!(stamp(found.found_at));
    if !found.history.is_empty() {
        finding["history"] = found.history.iter().map(earlier).collect();
    }
    if let Some(decided) = &found.decided {
        finding["decided"] = serde_json::to_value(decided)?;
    }
    Ok(finding)
}

fn earlier(earlier: &Earlier) -> Value {
    json!({"id": earlier.id, "found_at": stamp(earlier.found_at), "risk_level": earlier.risk})
}

fn stamp(at: Option<Stamp>) -> String {
    at.map(|at| at.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::tests::data;
    use super::super::{ReportData, render};
    use super::*;
    use scandeck_wire::contract::ReportFormat;

    #[test]
    fn streamed_report_equals_pretty_printed_json() {
        let mut with_empty_group = data(ChapterKind::Target);
        with_empty_group.options.empty_targets = true;
        let empty = ReportData {
            findings: Vec::new(),
            targets: Vec::new(),
            ..data(ChapterKind::Target)
        };
        for data in [data(ChapterKind::Class), with_empty_group, empty] {
            let bytes = render(&Document::new(&data).unwrap(), &ReportFormat::Json).unwrap();
            let text = String::from_utf8(bytes).unwrap();
            let value: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(text, serde_json::to_string_pretty(&value).unwrap());
        }
    }
}
