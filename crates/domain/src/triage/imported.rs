//! Why a later imported file would not have had a finding again: it states nothing about tests, or
//! other ones.
//!
//! ```text
//!   tool parameters of the later scan ─► import ─┬─ complete ──────────────────────► retested
//!                                                └─ coverage: class, port, login? ─► retested, or the reason
//! ```
//!
//! The parameters are read where they are: a scan is asked about each finding of its series.

use std::borrow::Cow;

use serde_json::Value;

use super::coverage::RetestedClass;
use crate::finding::RetestGap;
use scandeck_wire::contract::import::ImportOrigin;
use scandeck_wire::contract::{Scan, Tool};

/// Whether the findings of a scan come from a file. The service runs some of the same tools.
pub fn is_imported(scan: &Scan) -> bool {
    ImportOrigin::is_of(scan)
}

/// The tool that found the findings of a scan; of an imported one the name that its file has,
/// because several tools write some formats.
pub fn tool_name(scan: &Scan) -> Cow<'_, str> {
    match ImportOrigin::tool_of(scan) {
        Some(name) => Cow::Borrowed(name),
        None => Cow::Owned(Tool(scan.tool_id).to_string()),
    }
}

/// Whether the same tool made two scans. Several tools write some formats.
pub fn is_same_tool(a: &Scan, b: &Scan) -> bool {
    let tool = |scan: &Scan| match origin(scan) {
        Some(file) => Some(file.get("tool")?.as_str()?.to_lowercase()),
        None => Some(Tool(scan.tool_id).name()?.to_lowercase()),
    };
    a.tool_id == b.tool_id && tool(a) == tool(b)
}

/// Why the file of `later` would not have had this kind of finding of `earlier` again.
pub fn gap(later: &Scan, earlier: &Scan, class: RetestedClass<'_>) -> Option<RetestGap> {
    if !is_same_tool(later, earlier) {
        return Some(RetestGap::Tests);
    }
    let Some(file) = origin(later) else {
        return Some(RetestGap::NotStated);
    };
    if file.get("complete").and_then(Value::as_bool) == Some(true) {
        return None;
    }
    let stated = coverage(file);
    if stated.is_empty() {
        return Some(RetestGap::NotStated);
    }
    let of_class = stated.iter().filter(|tested| has_class(tested, class));
    let of_class: Vec<&Value> = of_class.collect();
    let on_port = of_class.iter().filter(|tested| has_port(tested, class));
    let on_port: Vec<&&Value> = on_port.collect();
    match (of_class.is_empty(), on_port.is_empty()) {
        (true, _) => return Some(RetestGap::Tests),
        (false, true) => return Some(RetestGap::Ports),
        (false, false) => {}
    }
    // The checks that both files are without did not find it.
    let before = origin(earlier).map(coverage).unwrap_or_default();
    let was_without = |kind: &str| {
        let mut all = before.iter();
        all.any(|tested| texts(tested, "without").any(|known| known == kind))
    };
    let mut on_port = on_port.into_iter();
    match on_port.any(|tested| texts(tested, "without").all(was_without)) {
        true => None,
        false => Some(RetestGap::Authentication),
    }
}

fn origin(scan: &Scan) -> Option<&Value> {
    let file = scan.tool_params.as_ref()?.get(ImportOrigin::FIELD)?;
    file.is_object().then_some(file)
}

fn coverage(origin: &Value) -> &[Value] {
    let stated = origin.get("coverage").and_then(Value::as_array);
    stated.map(Vec::as_slice).unwrap_or_default()
}

fn has_class(tested: &Value, class: RetestedClass<'_>) -> bool {
    texts(tested, "checks").any(|check| check == class.vuln_id)
        || texts(tested, "prefixes").any(|prefix| class.vuln_id.starts_with(prefix))
}

/// Whether a finding on this port would have been found; without a list of ports, on each.
fn has_port(tested: &Value, class: RetestedClass<'_>) -> bool {
    let mut ports = texts(tested, "ports").peekable();
    ports.peek().is_none() || ports.any(|span| includes(span, class).unwrap_or_default())
}

/// Whether `tcp/1-1000` or `tcp/80` includes the port of a finding.
fn includes(span: &str, class: RetestedClass<'_>) -> Option<bool> {
    let (protocol, range) = span.split_once('/')?;
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last): (i64, i64) = (first.parse().ok()?, last.parse().ok()?);
    let is_protocol = class.protocol.is_empty() || class.protocol == protocol;
    Some(is_protocol && (first..=last).contains(&class.port))
}

fn texts<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a str> {
    let list = value.get(field).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scan(import: Value) -> Scan {
        Scan {
            tool_id: 10_006,
            tool_params: Some(json!({"import": import})),
            ..Scan::default()
        }
    }

    fn class(vuln_id: &str, port: i64) -> RetestedClass<'_> {
        RetestedClass {
            vuln_id,
            protocol: "tcp",
            port,
        }
    }

    #[test]
    fn results_alone_make_nothing_absent_unless_the_run_was_complete() {
        let earlier = scan(json!({"tool": "nmap"}));
        let gap_of = |import| gap(&scan(import), &earlier, class("nmap:open-port", 22));
        let alone = gap_of(json!({"tool": "nmap"}));
        assert_eq!(alone, Some(RetestGap::NotStated));
        assert_eq!(gap_of(json!({"tool": "nmap", "complete": true})), None);
        let other = gap_of(json!({"tool": "naabu", "complete": true}));
        assert_eq!(other, Some(RetestGap::Tests));
        let none = gap(
            &Scan {
                tool_params: None,
                ..scan(json!({}))
            },
            &earlier,
            class("a", 0),
        );
        // The service ran it with unknown parameters of the file.
        assert_eq!(none, Some(RetestGap::NotStated));
    }

    #[test]
    fn tool_of_an_imported_scan_is_the_one_that_its_file_names() {
        let named = |tool_id, import| {
            let scan = Scan {
                tool_id,
                ..scan(import)
            };
            tool_name(&scan).into_owned()
        };
        assert_eq!(named(10_008, json!({"tool": "CodeQL"})), "CodeQL");
        assert_eq!(named(10_008, json!({"tool": ""})), "SARIF");
        assert_eq!(named(170, json!(null)), "Website");
    }

    #[test]
    fn stated_tests_retest_their_classes_on_their_ports() {
        let earlier = scan(json!({"tool": "nmap"}));
        let later = scan(json!({"tool": "Nmap", "coverage": [
            {"ports": ["tcp/1-1000", "udp/2000"], "checks": ["nmap:open-port"]},
            {"checks": ["nmap:host-check"], "prefixes": ["nmap:CVE-"]},
        ]}));
        for (vuln_id, port, expected) in [
            ("nmap:open-port", 1000, None),
            ("nmap:open-port", 1001, Some(RetestGap::Ports)),
            ("nmap:open-port", 2000, Some(RetestGap::Ports)),
            ("nmap:open-port", 0, Some(RetestGap::Ports)),
            ("nmap:CVE-2018-15919", 2000, None),
            ("nmap:host-check", 0, None),
            ("nmap:host-check-2", 0, Some(RetestGap::Tests)),
        ] {
            let found = gap(&later, &earlier, class(vuln_id, port));
            assert_eq!(found, expected, "{vuln_id} {port}");
        }
    }

    #[test]
    fn file_without_login_retests_what_a_file_without_login_found() {
        let with = scan(json!({"tool": "Nessus", "coverage": [{"prefixes": ["nessus:"]}]}));
        let without = scan(json!({"tool": "Nessus", "coverage": [
            {"prefixes": ["nessus:"], "without": ["local"]}]}));
        let gap_of = |later, earlier| gap(later, earlier, class("nessus:1", 0));
        assert_eq!(gap_of(&without, &without), None);
        assert_eq!(gap_of(&with, &without), None);
        assert_eq!(gap_of(&without, &with), Some(RetestGap::Authentication));
    }
}
