//! Hostile text in every string field of every resource: no control, bidi or zero-width character
//! reaches a cell.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ratatui::buffer::Buffer;
use scandeck::client::calls::{ApiCall, CallEnd};
use scandeck::contract::{Capture, Evidence, Finding, Requests, ScanId, ScanOutput};
use scandeck::dashboard::base::plan::Snapshot;
use scandeck::dashboard::base::{Pane, PartData, PollEvent};
use scandeck::dashboard::model::Model;
use scandeck::dashboard::ui::{Theme, ViewCache};
use scandeck::table::{Item, Table};
use scandeck::triage::ListedFinding;
use serde_json::{Value, json};

use super::fixtures::{self, learn, press};
use super::{blank_buffer, draw_measured};

const HOSTILE: &str = "\u{1b}[2J\u{1b}]52;c;aGk=\u{7}\u{202e}evil\u{200b}\u{feff}&#27;&#x202e;\u{9b}31m\r\n\tZ\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}❤\u{fe0f}\0";

/// Hostile strings, one kind of trick each.
fn corpus() -> Vec<String> {
    let controls = (0..0x20)
        .chain(0x7f..0xa0)
        .filter_map(char::from_u32)
        .collect::<String>();
    let sequences = [
        "\u{1b}[2J\u{1b}[H",
        "\u{1b}c",
        "\u{1b}[31;1mred\u{1b}[0m",
        "\u{1b}[6n",
        "\u{1b}[?1049l",
        "\u{1b}[?25l",
        "\u{1b}]0;title\u{7}",
        "\u{1b}]52;c;cm0gLXJm\u{7}",
        "\u{1b}]8;;http://evil.test\u{1b}\\text\u{1b}]8;;\u{1b}\\",
        "\u{1b}P$q\"p\u{1b}\\",
        "\u{1b}_Gf=100;AAAA\u{1b}\\",
        "\u{1b}^private\u{1b}\\",
        "\u{1b}Xstring\u{1b}\\",
        "\u{1b}(0lqk",
        "\u{1b}#8",
        "\u{1b}",
        "\u{9b}2J",
        "\u{9d}52;c;cm0=\u{9c}",
        "\u{90}1$r\u{9c}",
        "\u{9f}x\u{9c}",
        "\u{84}\u{85}\u{8d}",
    ];
    let marks = [
        "abc\u{8}\u{8}\u{8}xyz",
        "over\rwritten",
        "a\u{b}b\u{c}c",
        "one\ntwo\r\nthree\n\n",
        "\t\t\ttabs\t",
        "nul\0nul",
        "del\u{7f}ete",
        "\u{202e}gpj.exe",
        "\u{202a}a\u{202b}b\u{202d}c\u{202c}",
        "\u{2066}a\u{2067}b\u{2068}c\u{2069}",
        "\u{200e}\u{200f}\u{61c}",
        "pass\u{200b}word\u{200c}\u{200d}\u{2060}",
        "\u{feff}bom",
        "soft\u{ad}hyphen\u{34f}",
        "\u{115f}\u{1160}\u{3164}\u{ffa0}",
        "tag\u{e0001}\u{e0041}\u{e007f}",
        "\u{fff9}a\u{fffa}b\u{fffb}",
        "line\u{2028}para\u{2029}graph",
        "\u{1d173}\u{1d17a}",
        "\u{fdd0}\u{fffe}\u{ffff}\u{10ffff}",
        "\u{e000}\u{f0000}",
        "Z\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
        "\u{301}starts with a mark",
        "❤\u{fe0f}\u{fe0e}1\u{fe0f}\u{20e3}",
        "👨\u{200d}👩\u{200d}👧\u{200d}👦",
        "🇩🇪🏴\u{e0067}\u{e0062}",
        "日本語の長い名前",
        "\u{fdfd}\u{12219}",
        "กำ\u{e33}\u{e33}นี่",
        "क्षि\u{94d}\u{200d}ষ",
        "مرحبا بالعالم",
        "ᄀᄀᄀ가ᅡᅡ",
    ];
    let texts = [
        "&#27;[2J&#x1b;]52;c;eA==&#7;",
        "&#155;31m&#x202e;&NewLine;&Tab;",
        "%1b%5b2J%0a",
        "\\x1b[2J\\u001b",
        "$(reboot) `id` ; rm -rf ~ | sh",
        "'\"><script>alert(1)</script>",
        "=cmd|'/C calc'!A0",
        "[x](javascript:alert(1)) ![y](http://evil.test)",
        "../../../../etc/passwd",
        "GET /a HTTP/1.1\nA: b\n\n<p a='\u{202e}\u{1b}[2J>\n<!-- \u{301}",
        "{\"a\": [\"\\\u{200b}",
        "con.txt:stream",
    ];
    let floods = [
        "a".repeat(1 << 16),
        "\u{301}".repeat(1 << 12),
        "\n".repeat(1 << 12),
        " ".repeat(1 << 13),
        "\u{1b}[1m".repeat(1 << 11),
    ];
    let all = sequences
        .iter()
        .chain(&marks)
        .chain(&texts)
        .map(|text| (*text).to_owned());
    all.chain(floods)
        .chain([controls, HOSTILE.to_owned()])
        .collect()
}

/// Replaces every string of a JSON value, except those that choose a form (times, known words).
fn poisoned(value: Value, text: &str) -> Value {
    match value {
        Value::String(words) if words.starts_with("20") => Value::String(words),
        Value::String(_) => Value::String(text.to_owned()),
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| poisoned(item, text)).collect())
        }
        Value::Object(fields) => {
            let poison = |(key, value): (String, Value)| match key.as_str() {
                // Active states keep their panes busy; a body must stay base64 to be decoded.
                "status_name" | "request_body_base64" | "resource_type" => (key, value),
                _ => (key, poisoned(value, text)),
            };
            Value::Object(fields.into_iter().map(poison).collect())
        }
        other => other,
    }
}

fn table<T: Item + serde::Serialize + serde::de::DeserializeOwned>(
    items: Vec<T>,
    text: &str,
) -> Arc<Table<T>> {
    let poison = |item: &T| {
        serde_json::from_value(poisoned(serde_json::to_value(item).unwrap(), text)).unwrap()
    };
    Arc::new(Table::new(items.iter().map(poison).collect::<Vec<T>>()))
}

fn findings() -> Vec<Finding> {
    let mut findings = fixtures::findings();
    // One with evidence as text, one as a tree; the first has a table.
    findings[1].vuln_evidence = Evidence::from_value(&json!({"type": "text", "data": "x"}));
    findings[2].vuln_evidence = Evidence::from_value(&json!({"data": {"key": ["a", {"b": "c"}]}}));
    findings
}

fn populated(columns: u16, rows: u16, text: &str) -> Model {
    let mut model = fixtures::populated(columns, rows);
    learn(
        &mut model,
        80_000,
        Snapshot::Workspaces(table(fixtures::workspaces(), text)),
    );
    learn(
        &mut model,
        80_000,
        Snapshot::Targets(table(fixtures::targets(), text)),
    );
    learn(
        &mut model,
        80_000,
        Snapshot::Scans(table(fixtures::scans(false), text)),
    );
    learn(
        &mut model,
        80_000,
        Snapshot::Findings(table(
            findings().into_iter().map(ListedFinding::from).collect(),
            text,
        )),
    );
    learn(
        &mut model,
        80_000,
        Snapshot::Loggers(table(fixtures::loggers(), text)),
    );
    learn(
        &mut model,
        80_000,
        Snapshot::Reports(table(fixtures::reports(), text)),
    );
    learn(
        &mut model,
        80_000,
        Snapshot::Wordlists(table(fixtures::wordlists(), text)),
    );
    learn(
        &mut model,
        80_000,
        Snapshot::Schedules(table(fixtures::schedules(), text)),
    );
    let hostile = |call: ApiCall| ApiCall {
        method: text.into(),
        path: text.into(),
        end: call.end.map(|end| CallEnd {
            error: Some(text.into()),
            ..end
        }),
        ..call
    };
    fixtures::receive_calls(
        &mut model,
        80_000,
        fixtures::calls().into_iter().map(hostile).collect(),
    );
    let requests = Requests {
        requests: fixtures::captures(1),
    };
    let requests: Requests =
        serde_json::from_value(poisoned(serde_json::to_value(requests).unwrap(), text)).unwrap();
    let fresh = |mut capture: Capture| {
        capture.id = (capture.id.0 + 50).into();
        capture
    };
    fixtures::receive_captures(
        &mut model,
        80_000,
        1,
        requests.requests.into_iter().map(fresh).collect(),
    );
    model
}

/// The fields of the resources that hold a hostile string.
fn string_fields() -> BTreeSet<String> {
    fn collect(value: &Value, path: &str, fields: &mut BTreeSet<String>) {
        match value {
            Value::String(text) if text == HOSTILE => drop(fields.insert(path.to_owned())),
            Value::Array(items) => items.iter().for_each(|item| collect(item, path, fields)),
            Value::Object(named) => {
                named
                    .iter()
                    .for_each(|(name, value)| collect(value, &format!("{path}.{name}"), fields));
            }
            _ => {}
        }
    }
    let resources = json!({
        "workspace": fixtures::workspaces(),
        "target": fixtures::targets(),
        "scan": fixtures::scans(false),
        "finding": findings(),
        "logger": fixtures::loggers(),
        "report": fixtures::reports(),
        "wordlist": fixtures::wordlists(),
        "capture": fixtures::captures(1),
    });
    let mut fields = BTreeSet::new();
    collect(&poisoned(resources, HOSTILE), "", &mut fields);
    fields
}

/// A screen on which every string of the service is hostile.
struct HostileScreen {
    model: Model,
    cache: ViewCache,
    buffer: Buffer,
}

impl HostileScreen {
    fn new(model: Model) -> Self {
        Self {
            buffer: blank_buffer(&model),
            model,
            cache: ViewCache::new(Theme::default()),
        }
    }

    /// Draws a frame and checks every cell.
    fn assert_clean(&mut self, what: impl Fn() -> String) {
        self.buffer.reset();
        draw_measured(&mut self.model, &mut self.buffer, &mut self.cache);
        for cell in &self.buffer.content {
            let symbol = cell.symbol();
            if matches!(symbol.as_bytes(), [b' '..=b'~']) {
                continue;
            }
            for c in symbol.chars() {
                let hidden = matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}');
                assert!(
                    !c.is_control() && !hidden,
                    "{}: {c:?} in {symbol:?}",
                    what()
                );
            }
            assert!(
                symbol.chars().count() <= 6,
                "{}: a flood in one cell",
                what()
            );
        }
    }

    fn press(&mut self, keys: &str) {
        press(&mut self.model, keys);
        let pane = self.model.navigation.focus.pane;
        self.assert_clean(|| format!("{pane:?} after {keys}"));
    }
}

#[test]
fn cells_with_hostile_data_hold_no_invisible_characters() {
    for size in [(80, 24), (120, 40), (90, 50), (200, 60)] {
        walk(size, HOSTILE);
    }
}

/// `SCANDECK_SUITES=full` tries every string; otherwise only every twelfth one.
#[test]
fn cells_with_any_hostile_string_hold_no_invisible_characters() {
    let all = corpus();
    let step = if std::env::var("SCANDECK_SUITES").is_ok_and(|suites| suites == "full") {
        1
    } else {
        12
    };
    let chosen: Vec<&String> = all.iter().step_by(step).collect();
    let sizes = [(200, 60), (80, 24)];
    let mut walks: Vec<_> = chosen
        .iter()
        .flat_map(|text| sizes.map(|size| (size, text)))
        .collect();
    // The longest first, so that no thread is left with them at the end.
    walks.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, Into::into) {
            scope.spawn(|| {
                while let Some(&(size, text)) = walks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    walk(size, text);
                }
            });
        }
    });
    let fields = string_fields();
    let _ = writeln!(
        std::io::stderr(),
        "hostile strings × fields: {} of {}",
        chosen.len() * fields.len(),
        all.len() * fields.len()
    );
}

/// Opens every pane and detail while every string of the service is `text`.
fn walk((columns, rows): (u16, u16), text: &str) {
    let mut screen = HostileScreen::new(populated(columns, rows, text));
    for pane in Pane::ALL {
        screen.model.navigation.focus.pane = pane;
        screen.model.navigation.focus.in_detail = false;
        // The first frame measures the page.
        (0..2).for_each(|_| screen.assert_clean(|| format!("{pane:?} list")));
        for keys in [
            "g g", "enter", ">", ">", ">", ",", ",", "esc", "j", "enter", "<", "<", "esc",
        ] {
            screen.press(keys);
        }
    }
    for keys in [
        "esc", "1", "D", "esc", "2", "D", "esc", "2", "s", "esc", "3", "R", "esc", "4", "S", "esc",
        "5", "h", "D", "esc",
    ] {
        screen.press(keys);
    }
}

#[test]
fn scan_parts_with_hostile_data_are_cleaned() {
    let mut screen = HostileScreen::new(populated(100, 30, HOSTILE));
    press(&mut screen.model, "4 enter >");
    let scan = screen.model.lists.scans.selected.unwrap_or(ScanId(0));
    fixtures::parts(&mut screen.model, scan);
    let output = ScanOutput {
        output_type: HOSTILE.into(),
        output_data: json!({ HOSTILE: [HOSTILE, {"x": HOSTILE}] }),
    };
    let raw = vec![HOSTILE.into(), HOSTILE.repeat(50).as_str().into()];
    learn(
        &mut screen.model,
        81_000,
        PollEvent::ScanPart(scan, PartData::Output(Arc::new(output))),
    );
    learn(
        &mut screen.model,
        81_000,
        PollEvent::ScanPart(scan, PartData::Raw(Arc::new(raw))),
    );
    for keys in [">", ">", ",", "<"] {
        screen.press(keys);
    }
}
