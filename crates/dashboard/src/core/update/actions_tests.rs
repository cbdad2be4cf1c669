//! The outcome of every action in every place, recorded as a table. One test key is bound to each
//! action in turn.

use crate::base::{Focus, ListKind, RowRef};
use crate::core::Msg;
use crate::input::{Action, Context, Keymap};
use crate::model::{LinePurpose, Model};
use crate::testing::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

/// Keys that open the places of the table.
const PLACES: &[&str] = &[
    // marks, a search, a chip
    "3 space space",
    "3 enter / 'key' enter",
    "2 enter",
    "5 home j space space",
    // groups: a folded header, an unfolded header, a group row
    "3 b t",
    "3 b t enter",
    "3 b t enter enter",
    "5 b s",
    "5 b s enter",
    "5 b s enter enter",
    // a review: a card, a search in it, its findings, a decided card, the summary
    "3 B",
    "3 b t B / 'git' enter",
    "3 b t B ] ]",
    "3 b t B c",
    "3 b t B c S",
    // overlays
    "?",
    "3 / 'risk'",
    "3 enter / 'k'",
    ": 'ref'",
    "3 t",
    "3 t s",
    "3 t T 'web'",
    "3 e 'seen'",
    "3 t j c g r",
    "3 t j c g r e",
    ": 'alert method:post' enter : 'alert is:bot' enter : 'alerts' enter",
    ": 'plot' enter",
    "1 n 'Lab'",
    "4 n tab tab",
    "2 D wait",
];

/// A key without a binding.
const KEY: &str = "f12";

#[test]
fn actions_in_every_pane_match_snapshot() {
    insta::assert_snapshot!("every_action_in_every_pane", matrix(&panes()));
}

#[test]
fn actions_after_every_script_match_snapshot() {
    insta::assert_snapshot!("every_action_after_every_script", matrix(&scripts()));
}

/// A row per action and a column per place: `.` if the action has no effect, `=` if it changes
/// nothing, otherwise a digest of the outcome.
fn matrix(places: &[Place]) -> String {
    let mut legend = String::new();
    let mut rows: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (number, (place, app)) in places.iter().enumerate() {
        writeln!(legend, "{number} {place}").unwrap();
        for (action, outcome) in outcomes_at(app) {
            rows.entry(action).or_default().push(cell(&outcome));
        }
    }
    let rows: String = rows
        .iter()
        .map(|(action, cells)| format!("{action:21}{}\n", cells.join(" ")))
        .collect();
    legend + &rows
}

fn cell(outcome: &str) -> String {
    match outcome {
        "`ACTION` has no effect here" => ".".to_owned(),
        "" => "=".to_owned(),
        _ => format!("{:04x}", digest(outcome) & 0xffff),
    }
}

type Place = (String, Box<dyn Fn() -> TestDashboard>);

/// List and detail of each pane.
fn panes() -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for pane in Pane::ALL {
        for in_detail in [false, true] {
            let place = format!(
                "{} {}",
                pane.title(),
                if in_detail { "detail" } else { "list" }
            );
            places.push((place, Box::new(move || focused(pane, in_detail))));
        }
    }
    let read_only = || {
        let mut app = focused(Pane::Findings, false);
        app.model.session.read_only = true;
        app
    };
    places.push(("Findings, read only".to_owned(), Box::new(read_only)));
    places
}

/// Overlays that no key opens, and the places that the scripts open.
fn scripts() -> Vec<Place> {
    let setup = || {
        let mut app = TestDashboard::blank(200, 60);
        app.model = app.model.with_setup(None);
        app
    };
    let text = || {
        let mut app = app();
        app.model.show_text("Words", "admin\n".repeat(200));
        press(&mut app, "pgdn");
        app
    };
    let mut places: Vec<Place> = vec![
        ("first start".to_owned(), Box::new(setup)),
        ("a text".to_owned(), Box::new(text)),
    ];
    for keys in PLACES {
        let pressed = || {
            let mut app = app();
            press(&mut app, keys);
            app
        };
        places.push(((*keys).to_owned(), Box::new(pressed)));
    }
    places
}

/// With a payload in the book.
fn app() -> TestDashboard {
    let mut app = TestDashboard::new();
    press(&mut app, "5 p 3");
    app
}

fn focused(pane: Pane, in_detail: bool) -> TestDashboard {
    let mut app = app();
    if pane == Pane::Board {
        press(&mut app, "3 space space s wait y");
        app.model.open_retest();
    }
    if pane == Pane::Payloads {
        press(&mut app, "g p");
    }
    app.model.navigation.focus = Focus {
        pane,
        in_detail,
        zoomed: false,
    };
    app.at += Duration::from_secs(20);
    app.send(Msg::Wake);
    app
}

/// Presses keys as a person does who looks at each row first; `wait` lets a question become open.
fn press(app: &mut TestDashboard, script: &str) {
    for part in script.split(" wait ") {
        app.at += Duration::from_secs(2);
        app.keys(part.trim_end_matches(" wait"));
    }
    app.at += Duration::from_secs(20);
    app.send(Msg::Wake);
}

/// The outcome of each action in a place: notices, effects and changes of the state.
fn outcomes_at(place: &dyn Fn() -> TestDashboard) -> Vec<(&'static str, String)> {
    static KEYMAPS: LazyLock<Vec<(Action, Arc<Keymap>)>> = LazyLock::new(|| {
        let mut actions = Action::ALL.to_vec();
        actions.sort_by_key(|action| action.name());
        actions
            .into_iter()
            .map(|action| (action, keymap_of(action)))
            .collect()
    });
    let mut outcomes = Vec::new();
    let mut start = place();
    let before = state(&mut start.model);
    for (action, keymap) in KEYMAPS.iter() {
        let mut app = start.copy();
        app.model.keyboard.keymap = keymap.clone();
        let effects = app.keys(KEY);
        let after = state(&mut app.model);
        let mut outcome = app.notices().replace(&action.command(), "ACTION");
        for effect in &effects {
            write!(outcome, " ! {}", shortened(&format!("{effect:?}"))).unwrap();
        }
        for (before, after) in before
            .lines()
            .zip(after.lines())
            .filter(|(before, after)| before != after)
        {
            write!(outcome, " [{} → {}]", shortened(before), shortened(after)).unwrap();
        }
        outcomes.push((action.name(), outcome.trim().to_owned()));
    }
    outcomes
}

/// A table with one key that asks for an action, wherever it is pressed.
fn keymap_of(action: Action) -> Arc<Keymap> {
    let sections = Context::ALL
        .map(|context| format!("[{}]\n{} = [\"{KEY}\"]\n", context.name(), action.name()));
    Arc::new(Keymap::parse(&sections.concat()).unwrap())
}

fn shortened(text: &str) -> String {
    let text = text.replace('\n', "\\n");
    match text.char_indices().nth(110) {
        Some((end, _)) => format!("{}… {:016x}", &text[..end], digest(&text)),
        None => text,
    }
}

fn digest(text: &str) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// The state that an action can change, a line each.
fn state(model: &mut Model) -> String {
    // The captures have a context of their own for the key after `b`.
    let pending = format!("{:?}", model.keyboard.pending).replace("CaptureGroup", "Group");
    let mut text = format!(
        "{:?}\npending {pending}\n{:?}\n",
        model.navigation.focus, model.navigation.scope
    );
    let refreshes: Vec<(&ListKind, &u32)> = model.connection.refreshes.iter().collect();
    writeln!(text, "asked {refreshes:?}").unwrap();
    for pane in Pane::ALL {
        let mut cursor = model.cursor(pane);
        let place = (
            cursor.at(),
            cursor.len(),
            cursor.selected_row().and_then(RowRef::item),
            cursor.marked(),
            cursor.range(),
        );
        writeln!(text, "{pane:?} {place:?} {:?}", cursor.filter()).unwrap();
    }
    let detail = &model.detail;
    let search = detail
        .search
        .as_ref()
        .map(|search| (&search.words, search.at, search.follow));
    writeln!(
        text,
        "scroll {} {} {search:?}",
        detail.scroll, detail.sideways
    )
    .unwrap();
    writeln!(text, "{:?}", Pane::ALL.map(|pane| detail.tab(pane))).unwrap();
    writeln!(
        text,
        "tab {} grouped {:?}",
        model.settings.tabs.at, model.lists.finding_groups.by
    )
    .unwrap();
    let captures = &model.lists.captures;
    writeln!(
        text,
        "captures {:?} paused {} follow {}",
        captures.by, captures.paused, captures.follow
    )
    .unwrap();
    writeln!(text, "board {:?}", model.lists.board.sort).unwrap();
    let review = model.findings.review.as_ref();
    let progress = review.map(|review| (review.open, review.tab, review.row, &review.progress));
    // The name of the type is no part of the outcome.
    writeln!(
        text,
        "{}",
        format!("review {progress:?}").replace("ReviewProgress", "Progress")
    )
    .unwrap();
    let verdicts: Vec<_> = model
        .findings
        .triage
        .assessments
        .iter()
        .map(|assessment| (assessment.verdict, assessment.tags.len()))
        .collect();
    writeln!(text, "verdicts {verdicts:?}").unwrap();
    writeln!(
        text,
        "batches {} cancelled {}",
        model.calls.batches.len(),
        model.keyboard.cancelled.is_some()
    )
    .unwrap();
    writeln!(
        text,
        "drafts {:?}",
        model.overlay.drafts.keys().collect::<Vec<_>>()
    )
    .unwrap();
    let modals: Vec<String> = model.overlay.modals.iter().map(modal).collect();
    writeln!(text, "open {}", modals.join(" ")).unwrap();
    text
}

fn modal(modal: &Modal) -> String {
    match modal {
        Modal::Help(help) => format!("help {:?} {}", help.filter.text(), help.scroll),
        Modal::Prompt(prompt) => format!("prompt {:?} {:?}", prompt.question, prompt.lines),
        Modal::Form(form) => {
            let fields: Vec<String> = form.fields.iter().map(|field| field.text()).collect();
            format!(
                "form {:?} {} {} {:?} {fields:?}",
                form.tag, form.at, form.tried, form.sending
            )
        }
        Modal::Decide(menu) => {
            let entry = menu.entry.as_ref().map(|entry| {
                (
                    entry.choice,
                    entry.input.text(),
                    entry.offers.at,
                    &entry.error,
                )
            });
            format!(
                "decide {entry:?} {:?} {:?} {:?}",
                menu.preview,
                menu.before.len(),
                menu.draft
            )
        }
        Modal::Rules(rules) => {
            let edit = rules
                .edit
                .as_ref()
                .map(|edit| (edit.input.text(), &edit.finds));
            format!("rules {} {edit:?}", rules.list.at)
        }
        Modal::Alerts(list) => format!("alerts {}", list.at),
        Modal::Plot(plot) => format!("plot {plot:?}"),
        Modal::Why(why) => format!("why {} {}", why.title, why.scroll),
        Modal::Chain(open) => format!("chain {} {}", open.lines.len(), open.at),
        Modal::Text(text) => format!("text {:?} {}", text.title, text.scroll),
        Modal::Line(line) => {
            let search = line.purpose == LinePurpose::Search;
            let help = (
                &line.help.error,
                line.help.offers.all.len(),
                line.help.offers.at,
                line.help.recall.is_active(),
            );
            format!("line {search} {:?} {help:?}", line.input.text())
        }
        Modal::Command(line) => {
            format!(
                "command {:?} {:?} {}",
                line.input.text(),
                line.offers.at,
                line.recall.is_active()
            )
        }
        Modal::Setup(setup) => format!("setup {} {:?}", setup.at, setup.busy),
    }
}
