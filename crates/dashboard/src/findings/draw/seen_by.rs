//! The tools that saw findings, by name: `nuclei, ZAP`.

use crate::ui::Cx;
use scandeck_domain::triage::{Issue, tool_name};
use scandeck_wire::text;

/// Each tool once, of all scans that saw the findings. Manual findings have none.
pub(crate) fn tools<'i>(cx: &Cx<'_>, issues: impl IntoIterator<Item = &'i Issue>) -> Vec<String> {
    let mut tools: Vec<String> = Vec::new();
    let scans = issues.into_iter().flat_map(|issue| issue.scans());
    for scan in scans.filter_map(|id| cx.scan(id)) {
        let name = text::clean(&tool_name(scan)).into_owned();
        if !tools.contains(&name) {
            tools.push(name);
        }
    }
    tools.sort_by_key(|name| name.to_lowercase());
    tools
}

/// The tools in a text.
pub(crate) fn words<'i>(cx: &Cx<'_>, issues: impl IntoIterator<Item = &'i Issue>) -> String {
    tools(cx, issues).join(", ")
}
