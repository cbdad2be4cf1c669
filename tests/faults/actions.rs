//! Actions of the dashboard whose request meets a fault: each one ends in a stated result, its
//! effect is at most the one that was requested, and the dashboard stays usable.
//!
//! ```text
//!   keys ─► proxy with a fault ─► "done", "not done: reason" or "outcome unknown … checking" ─► a read decides
//! ```
//!
//! Actions × faults are sampled by default. `SCANDECK_ALL_FAULTS=1` tries all of them.

use std::io::Write;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::time::Duration;

use futures::{FutureExt, StreamExt};
use scandeck::client::Client;

use super::Misbehaving;
use crate::pty::Session;

/// Faults of the request, with what the screen says about them and whether the service carries the
/// request out.
const ACTION_FAULTS: [(&str, &str, bool); 14] = [
    ("403", "refused with 403", false),
    ("409", "refused with 409", false),
    ("422", "refused with 422", false),
    ("429:1", "refused with 429", false),
    ("500", "500 Internal Server Error", false),
    ("502", "502 Bad Gateway", false),
    ("reset", "connection lost", false),
    ("html", "web page instead of JSON", false),
    ("redirect", "redirect not followed", false),
    ("504-after", "504 Gateway Timeout", true),
    ("reset-after", "connection lost", true),
    ("empty", "the response is empty", true),
    ("cut-body", "connection lost", true),
    ("hang", "no response before the timeout", false),
];
/// Takes as long as the timeout of a request.
const SLOW_FAULT: &str = "hang";
/// More than the timeout of a download.
const PATIENCE: Duration = Duration::from_secs(150);
/// Dashboards at the same time.
const AT_ONCE: usize = 4;
/// The last line of a prompt.
const PROMPT: &str = "┏ Confirm ";
const FORM: &str = "ctrl-o submit";
const HELP: &str = "┏ Keys";
const SUBMIT: &str = "\x0f";

/// An action with its keys and its effect.
struct FaultyAction {
    name: &'static str,
    /// Method and path of its request.
    request: (&'static str, &'static str),
    /// Keys before the prompt or form.
    keys: &'static str,
    /// Whether a prompt follows.
    prompt: bool,
    /// Keys in the form, if one follows.
    form: Option<&'static str>,
    /// The notice of success.
    done: &'static str,
    /// The notice of a refusal, unless a form shows the reason.
    refused: &'static str,
    /// Whether the client may send the request again by itself.
    is_repeatable: bool,
}

static ACTIONS: [FaultyAction; 12] = [
    action(
        "start scan",
        ("POST", "/scans"),
        "2s",
        Ask::Form(""),
        "scan of 127.0.0.1 started",
    ),
    action(
        "repeat scan",
        ("POST", "/scans"),
        "4s",
        Ask::Prompt,
        "started: repeats scan",
    ),
    action(
        "retest",
        ("POST", "/scans"),
        "3s",
        Ask::Prompt,
        "started: repeats scan",
    ),
    action(
        "stop scan",
        ("POST", "/scans/*/stop"),
        "4S",
        Ask::Prompt,
        "127.0.0.1:9/) stopped",
    ),
    action(
        "delete scan",
        ("DELETE", "/scans/*"),
        "4GD",
        Ask::Prompt,
        "Port scan of 127.0.0.1) deleted",
    ),
    action(
        "add target",
        ("POST", "/targets"),
        "2n",
        Ask::Form("127.0.0.77"),
        "target 127.0.0.77 added",
    ),
    action(
        "delete target",
        ("DELETE", "/targets/*"),
        "2D",
        Ask::Prompt,
        "target 127.0.0.1 deleted",
    ),
    action(
        "create logger",
        ("POST", "/http_loggers"),
        "5hn",
        Ask::Form("probe2"),
        "logger probe2 created",
    ),
    action(
        "clear logger",
        ("DELETE", "/http_loggers/*/data"),
        "5D",
        Ask::Prompt,
        "logger mail cleared",
    ),
    action(
        "delete logger",
        ("DELETE", "/http_loggers/*"),
        "5hD",
        Ask::Prompt,
        "logger mail deleted",
    ),
    action(
        "order report",
        ("POST", "/reports"),
        "4GR",
        Ask::Form(""),
        "report 2 requested",
    ),
    FaultyAction {
        is_repeatable: true,
        refused: "not downloaded",
        ..action(
            "download report",
            ("GET", "/reports/*/download"),
            "6d",
            Ask::Nothing,
            "saved to",
        )
    },
];

/// The step after the keys of an action.
enum Ask {
    Nothing,
    Prompt,
    /// A form, with the keys for its first field.
    Form(&'static str),
}

const fn action(
    name: &'static str,
    request: (&'static str, &'static str),
    keys: &'static str,
    ask: Ask,
    done: &'static str,
) -> FaultyAction {
    let (prompt, form) = match ask {
        Ask::Nothing => (false, None),
        Ask::Prompt => (true, None),
        Ask::Form(keys) => (false, Some(keys)),
    };
    FaultyAction {
        name,
        request,
        keys,
        prompt,
        form,
        done,
        refused: " not ",
        is_repeatable: false,
    }
}

/// The content of the service and of the directory of the dashboard: the numbers of scans, active
/// scans, targets, loggers, captured requests, reports and files.
async fn effects(client: &Client, home: &Path) -> [usize; 7] {
    let scans = client.list_all_scans(&Default::default()).await.unwrap();
    let loggers = client.list_loggers(None).await.unwrap();
    let files = std::fs::read_dir(home)
        .unwrap()
        .filter(|file| file.as_ref().unwrap().path().is_file())
        .count();
    [
        scans.len(),
        scans.iter().filter(|scan| scan.is_active()).count(),
        client
            .list_all_targets(&Default::default())
            .await
            .unwrap()
            .len(),
        loggers.len(),
        loggers
            .iter()
            .map(|logger| logger.num_requests as usize)
            .sum(),
        client.list_reports().await.unwrap().len(),
        files,
    ]
}

/// A connected dashboard of 240 columns, in which no notice is cut.
async fn dashboard(service: &Misbehaving, home: &Path) -> Session {
    let variables = [
        ("SCANDECK_BASE_URL", service.proxy.base.as_str()),
        ("SCANDECK_API_KEY", &service.service.key),
    ];
    let mut session = Session::start(home, &[], &variables);
    session.patience = PATIENCE;
    session.resize(50, 240);
    session.until("● live").await;
    session.until("Undecided ").await;
    session.until("6 of 6").await;
    session
}

/// Presses the keys of an action and submits its form or confirms its prompt.
async fn perform(session: &mut Session, action: &FaultyAction) {
    session.keys(action.keys);
    if let Some(keys) = action.form {
        session.until(FORM).await;
        session.keys(keys);
        session.until(keys).await;
        session.keys(SUBMIT);
    }
    if action.prompt {
        session.until(PROMPT).await;
        // A prompt that has just opened takes no key.
        while session.text().contains(PROMPT) {
            session.keys("y");
            let closed = session.until_true("the prompt is closed", |text| !text.contains(PROMPT));
            let _ = tokio::time::timeout(Duration::from_millis(700), closed).await;
        }
    }
}

/// Closes forms, prompts and the help.
async fn close_all(session: &mut Session) {
    let is_closed = |text: &str| ![FORM, PROMPT, HELP].iter().any(|open| text.contains(open));
    while !is_closed(&session.text()) {
        session.keys("\x1b");
        let closed = session.until_true("nothing is open", is_closed);
        let _ = tokio::time::timeout(Duration::from_millis(700), closed).await;
    }
}

/// Shows that keys still work and that the lists are read again.
async fn assert_usable(session: &mut Session) {
    close_all(session).await;
    session.keys("?");
    session.until(HELP).await;
    close_all(session).await;
    session.keys("r");
    session.until("● live").await;
}

/// Tries an action with a fault; the error describes what is wrong.
async fn try_action(action: &FaultyAction, (fault, reason, is_forwarded): (&str, &str, bool)) {
    let what = format!("{} with {fault}", action.name);
    let (service, home) = (Misbehaving::start().await, tempfile::tempdir().unwrap());
    let witness = service.witness();
    let mut session = dashboard(&service, home.path()).await;
    let before = effects(&witness, home.path()).await;
    let (method, path) = action.request;
    service.fault(&format!("{method} {path} {fault}"));
    perform(&mut session, action).await;
    if fault == SLOW_FAULT {
        session.until(": waiting 1s").await;
    }

    // A download shows the whole message, with the status at its end.
    let status: String = fault.chars().take_while(char::is_ascii_digit).collect();
    let reasons = match status.is_empty() {
        true => vec![
            reason.to_owned(),
            reason.replace("connection lost", "the connection was lost"),
        ],
        false => vec![
            reason.to_owned(),
            format!("refused with {status}"),
            format!("({status})"),
        ],
    };
    let has_reason = |text: &str| reasons.iter().any(|reason| text.contains(reason));
    let is_stated = |text: &str| {
        let is_refused =
            has_reason(text) && (action.form.is_some() || text.contains(action.refused));
        text.contains(action.done) || text.contains("outcome unknown") || is_refused
    };
    session
        .until_true(&format!("{what}: a stated result"), is_stated)
        .await;
    let stated = session.text();
    let is_done = stated.contains(action.done) && !stated.contains("outcome unknown");
    assert!(
        is_done || has_reason(&stated),
        "{what}: no reason {reason:?}\n{stated}"
    );
    let sent = service.count(method, path);
    let most = match fault {
        _ if action.is_repeatable || fault.starts_with("429") => 3,
        // A retest asks for single tests first, and for all if the service refuses that.
        "422" if action.name == "retest" => 2,
        _ => 1,
    };
    assert!((1..=most).contains(&sent), "{what}: sent {sent} times");

    let after = effects(&witness, home.path()).await;
    let changes = before != after;
    if action.is_repeatable {
        assert_eq!(changes, is_done, "{what}: {before:?} {after:?}");
    } else {
        assert_eq!(
            changes, is_forwarded,
            "{what}: {before:?} {after:?}\n{stated}"
        );
        assert!(!is_done || changes, "{what}: reported as done\n{stated}");
    }

    service.fault("ok");
    if changes && !is_done {
        // The list decides, and the notice says so.
        session
            .until_true(&format!("{what}: the decision"), |text| {
                text.contains("although its response was lost")
            })
            .await;
    }
    assert_usable(&mut session).await;
    assert_eq!(service.count(method, path), sent, "{what}: repeated later");
    assert_eq!(
        effects(&witness, home.path()).await,
        after,
        "{what}: changed later"
    );
    session.keys("q");
    drop(session);
    service.stop().await;
}

/// A verdict while no request to the service succeeds.
async fn try_verdict((fault, _, _): (&str, &str, bool)) {
    let (service, home) = (Misbehaving::start().await, tempfile::tempdir().unwrap());
    let mut session = dashboard(&service, home.path()).await;
    session.keys("3/\x15name:web.cors\r");
    session
        .until_true("the filtered findings", |text| {
            !text.contains("web.header.csp")
        })
        .await;
    service.fault(&format!("* * {fault}"));
    let is_saved = |text: &str| {
        text.lines()
            .any(|line| line.contains("confirmed") && !line.contains('…'))
    };
    let is_counted = |text: &str| text.contains("Confirmed 1");
    // The row has only just appeared.
    let is_answered = |text: &str| is_saved(text) || text.contains("too soon");
    while !is_saved(&session.text()) {
        session.keys("c");
        session
            .until_true(&format!("verdict with {fault}"), is_answered)
            .await;
    }
    service.fault("ok");
    assert_usable(&mut session).await;
    session.signal(rustix::process::Signal::KILL);
    session.ended().await;
    let session = dashboard(&service, home.path()).await;
    session
        .until_true(&format!("verdict after {fault} and a restart"), is_counted)
        .await;
    drop(session);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn action_with_fault_ends_in_stated_result() {
    let all = super::is_every_fault_tried();
    let rows = ACTIONS.len() + 1;
    let is_tried = |row: usize, column: usize| {
        let (fault, ..) = ACTION_FAULTS[column];
        all || (column + ACTION_FAULTS.len() - row % ACTION_FAULTS.len()) % ACTION_FAULTS.len() == 4
            && fault != SLOW_FAULT
    };
    let cells = (0..rows).flat_map(|row| (0..ACTION_FAULTS.len()).map(move |column| (row, column)));
    let chosen: Vec<(usize, usize)> = cells
        .filter(|(row, column)| is_tried(*row, *column))
        .collect();
    let tried = chosen.len();
    let tries = futures::stream::iter(chosen).map(|(row, column)| async move {
        let fault = ACTION_FAULTS[column];
        let (name, ended) = match ACTIONS.get(row) {
            Some(action) => (
                action.name,
                AssertUnwindSafe(try_action(action, fault))
                    .catch_unwind()
                    .await,
            ),
            None => (
                "verdict",
                AssertUnwindSafe(try_verdict(fault)).catch_unwind().await,
            ),
        };
        ended.err().map(|_| format!("{name} with {}", fault.0))
    });
    let failed: Vec<String> = tries
        .buffer_unordered(AT_ONCE)
        .filter_map(std::future::ready)
        .collect()
        .await;
    let _ = writeln!(
        std::io::stderr(),
        "actions × faults: {tried} of {}",
        rows * ACTION_FAULTS.len()
    );
    assert!(failed.is_empty(), "{failed:#?}");
}
