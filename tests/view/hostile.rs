//! Hostile text in every string field of every resource: no control, bidi or zero-width character reaches a cell.

use std::sync::Arc;

use scandeck::contract::{Requests, ScanId};
use scandeck::dashboard::base::Pane;

use scandeck::dashboard::base::plan::Snapshot;
use scandeck::dashboard::base::{PartData, PollEvent};
use scandeck::dashboard::model::Model;
use scandeck::dashboard::ui::{Theme, ViewCache};
use scandeck::table::{Item, Table};
use serde_json::{Value, json};

use super::drawn;
use super::fixtures::{self, learn, press};

const HOSTILE: &str = "\u{1b}[2J\u{1b}]52;c;aGk=\u{7}\u{202e}evil\u{200b}\u{feff}&#27;&#x202e;\u{9b}31m\r\n\tZ\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}❤\u{fe0f}\0";

/// Replaces every string of a JSON value, except those that choose a form (times, known words).
fn poisoned(value: Value) -> Value {
    match value {
        Value::String(words) if words.starts_with("20") => Value::String(words),
        Value::String(_) => Value::String(HOSTILE.to_owned()),
        Value::Array(items) => Value::Array(items.into_iter().map(poisoned).collect()),
        Value::Object(fields) => {
            let poison = |(key, value): (String, Value)| match key.as_str() {
                // Active states keep their panes busy; a body must stay base64 to be decoded.
                "status_name" | "request_body_base64" | "resource_type" => (key, value),
                _ => (key, poisoned(value)),
            };
            Value::Object(fields.into_iter().map(poison).collect())
        }
        other => other,
    }
}

fn table<T: Item + serde::Serialize + serde::de::DeserializeOwned>(items: Vec<T>) -> Arc<Table<T>> {
    let poison = |item: &T| serde_json::from_value(poisoned(serde_json::to_value(item).unwrap())).unwrap();
    Arc::new(Table::new(items.iter().map(poison).collect::<Vec<T>>()))
}

fn world(columns: u16, rows: u16) -> Model {
    let mut model = fixtures::world(columns, rows);
    learn(&mut model, 80_000, Snapshot::Workspaces(table(fixtures::workspaces())));
    learn(&mut model, 80_000, Snapshot::Targets(table(fixtures::targets())));
    learn(&mut model, 80_000, Snapshot::Scans(table(fixtures::scans(false))));
    let mut findings = fixtures::findings();
    // One with evidence as text, one as a tree; the first has a table.
    findings[1].vuln_evidence = scandeck::contract::Evidence::from_value(&json!({"type": "text", "data": "x"}));
    findings[2].vuln_evidence = scandeck::contract::Evidence::from_value(&json!({"data": {"key": ["a", {"b": "c"}]}}));
    learn(&mut model, 80_000, Snapshot::Findings(table(findings)));
    learn(&mut model, 80_000, Snapshot::Loggers(table(fixtures::loggers())));
    learn(&mut model, 80_000, Snapshot::Reports(table(fixtures::reports())));
    learn(&mut model, 80_000, Snapshot::Wordlists(table(fixtures::wordlists())));
    let requests = Requests { requests: fixtures::captures(1) };
    let requests: Requests = serde_json::from_value(poisoned(serde_json::to_value(requests).unwrap())).unwrap();
    let fresh = |mut capture: scandeck::contract::Capture| {
        capture.id = (capture.id.0 + 50).into();
        capture
    };
    fixtures::catch(&mut model, 80_000, 1, requests.requests.into_iter().map(fresh).collect());
    model
}

fn assert_clean(model: &mut Model, cache: &mut ViewCache, what: &str) {
    let buffer = drawn(model, cache);
    for cell in &buffer.content {
        for c in cell.symbol().chars() {
            let hidden = matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}');
            assert!(!c.is_control() && !hidden, "{what}: {c:?} in {:?}", cell.symbol());
        }
        assert!(cell.symbol().chars().count() <= 6, "{what}: a flood in one cell");
    }
}

#[test]
fn cells_with_hostile_data_hold_no_invisible_characters() {
    for (columns, rows) in [(80, 24), (120, 40), (90, 50), (200, 60)] {
        let mut cache = ViewCache::new(Theme::default());
        let mut model = world(columns, rows);
        for pane in Pane::ALL {
            model.navigation.focus.pane = pane;
            model.navigation.focus.in_detail = false;
            assert_clean(&mut model, &mut cache, &format!("{pane:?} list"));
            for keys in ["g g", "enter", ">", ">", ">", ",", ",", "esc", "j", "enter", "<", "<", "esc"] {
                press(&mut model, keys);
                assert_clean(&mut model, &mut cache, &format!("{pane:?} after {keys}"));
            }
        }
        for keys in [
            "esc", "1", "D", "esc", "2", "D", "esc", "2", "s", "esc", "3", "R", "esc", "4", "S", "esc", "5", "h", "D",
            "esc",
        ] {
            press(&mut model, keys);
            assert_clean(&mut model, &mut cache, &format!("over the panes after {keys}"));
        }
    }
}

#[test]
fn scan_parts_with_hostile_data_are_cleaned() {
    let mut model = world(100, 30);
    press(&mut model, "4 enter >");
    let scan = model.lists.scans.selected.unwrap_or(ScanId(0));
    let mut cache = ViewCache::new(Theme::default());
    fixtures::parts(&mut model, scan);
    let output = scandeck::contract::ScanOutput {
        output_type: HOSTILE.into(),
        output_data: json!({ HOSTILE: [HOSTILE, {"x": HOSTILE}] }),
    };
    let raw = vec![HOSTILE.into(), HOSTILE.repeat(50).as_str().into()];
    learn(&mut model, 81_000, PollEvent::ScanPart(scan, PartData::Output(Arc::new(output))));
    learn(&mut model, 81_000, PollEvent::ScanPart(scan, PartData::Raw(Arc::new(raw))));
    for keys in [">", ">", ",", "<"] {
        press(&mut model, keys);
        assert_clean(&mut model, &mut cache, keys);
    }
}
