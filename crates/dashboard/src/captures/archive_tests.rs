//! Messages of the archive: captures in groups, payloads of other programs, and the notices about
//! them.

use crate::base::{ArchivedCaptures, CaptureRow, CaptureUse, Effect, Now, Pane, Snapshot};
use crate::core::{Msg, update};
use crate::data::{Archive, ArchiveBacklog, OobNews, Recalled, StoredArchive, WholeCapture};
use crate::list::CHUNK;
use crate::model::{Modal, Model};
use crate::testing::{TestDashboard, capture, capture_row, events, stamp, table};
use base64::Engine;
use scandeck_domain::oob::{BodyStore, CaptureRecord, Mention, MentionPlace, Payload, Token};
use scandeck_domain::problem::Problem;
use scandeck_wire::contract::{Capture, CaptureId, Logger, LoggerId};
use std::sync::Arc;
use std::time::Duration;

fn calls(id: i64, token: u64, from: &str) -> CaptureRow {
    let url_params = format!("t={}", Token::of(token)).into();
    let mut captured = capture_row(
        1,
        Capture {
            url_params,
            ip_address: from.into(),
            ..capture(id)
        },
    );
    let mention = Mention {
        token: Token::of(token),
        known: true,
        place: MentionPlace::Query("t".into()),
        wrapped: Vec::new(),
        added: "".into(),
    };
    captured.mentions = [mention].into();
    captured
}

fn plain(id: i64, from: &str) -> CaptureRow {
    capture_row(
        1,
        Capture {
            ip_address: from.into(),
            ..capture(id)
        },
    )
}

fn receive(app: &mut TestDashboard, new: Vec<CaptureRow>) -> Vec<Effect> {
    let generation = app.model.connection.generation;
    app.send(Msg::Oob(OobNews::Captures { generation, new }))
}

/// Hits of two payloads in turn, and two captures from one bot. The three captures of the dashboard
/// have no address.
fn hunted() -> TestDashboard {
    let mut app = TestDashboard::new();
    let new =
        [(10, 1), (11, 2), (12, 1), (13, 1)].map(|(id, token)| calls(id, token, "203.0.113.9"));
    receive(&mut app, new.into());
    receive(
        &mut app,
        vec![plain(14, "192.0.2.44"), plain(15, "192.0.2.44")],
    );
    app.keys("5");
    app
}

#[test]
fn hits_of_payload_fold_under_group_header() {
    let mut app = hunted();
    app.keys("b p");
    // No payload without address, payload 2 alone, payload 1, no payload with address: in the order
    // of their newest.
    assert_eq!(app.shown(Pane::Captures), [3, 11, 13, 15]);
    assert_eq!(
        app.selected(Pane::Captures),
        Some(15),
        "the cursor is on the header of its group"
    );
    app.keys("k enter");
    assert_eq!(app.shown(Pane::Captures), [3, 11, 13, 10, 12, 13, 15]);
    assert_eq!(
        app.selected(Pane::Captures),
        Some(13),
        "the header of the unfolded group"
    );
    app.keys("enter j");
    assert_eq!(app.selected(Pane::Captures), Some(12));
    app.keys("h");
    assert!(
        app.model
            .lists
            .captures
            .groups
            .header(app.model.lists.captures.at)
            .is_some()
    );
    app.keys("h");
    assert_eq!(app.shown(Pane::Captures), [3, 11, 13, 15]);
    app.keys("space");
    let marked: Vec<i64> = app
        .model
        .lists
        .captures
        .marks()
        .iter()
        .map(|id| id.capture.0)
        .collect();
    assert_eq!(marked, [10, 12, 13]);
    app.keys("b n");
    assert_eq!(app.shown(Pane::Captures), [1, 2, 3, 10, 11, 12, 13, 14, 15]);
}

#[test]
fn selected_header_remains_with_new_hits_and_end_is_followed() {
    let mut app = hunted();
    app.keys("b p k");
    receive(
        &mut app,
        vec![calls(16, 2, "203.0.113.9"), calls(17, 1, "203.0.113.9")],
    );
    assert_eq!(app.shown(Pane::Captures), [3, 15, 16, 17]);
    assert_eq!(
        app.selected(Pane::Captures),
        Some(17),
        "its newest capture is a new one"
    );
    app.keys("G");
    receive(&mut app, vec![plain(18, "192.0.2.44")]);
    assert_eq!(app.selected(Pane::Captures), Some(18));
    app.keys("b s");
    assert_eq!(app.shown(Pane::Captures), [3, 17, 18]);
    app.keys("b l");
    assert_eq!(app.shown(Pane::Captures), [18]);
}

#[test]
fn payload_of_command_is_searched_from_day_before_it() {
    let mut app = TestDashboard::new();
    let old = capture(1).request_date.unwrap().0;
    let at = |days: i64| {
        old.checked_add(jiff::SignedDuration::from_hours(24 * days))
            .unwrap()
    };
    let payload = |token, days| Payload {
        token: Token::of(token),
        at: Some(at(days).into()),
        ..Payload::default()
    };
    let mut sent = |payload| app.send(Msg::Oob(OobNews::Payloads(vec![Arc::new(payload)])));
    assert_eq!(sent(payload(1, 3)), [], "all captures are days older");
    let effects = sent(payload(2, 0));
    let [Effect::Recognize { captures, grown }] = effects.as_slice() else {
        panic!("{effects:?}")
    };
    assert_eq!((captures.len(), grown.len()), (3, 1));
    assert_eq!(sent(payload(2, 0)), [], "the payload is known");
    let mentions = calls(2, 2, "").mentions;
    let id = app.model.data.captures.rows[1].id();
    app.send(Msg::Oob(OobNews::Recognized(vec![(id, mentions)])));
    assert!(app.model.data.captures.rows[1].known().is_some());
}

#[test]
fn known_mentions_precede_unknown_ones() {
    let first = calls(1, 1, "");
    let text = format!("t={}&u={}", Token::of(1), Token::of(2));
    let capture = Capture {
        url_params: text.into(),
        ..(*first.capture).clone()
    };
    let both = CaptureRow {
        capture: Arc::new(capture),
        ..first
    };
    let mut grown = scandeck_domain::oob::PayloadBook::default();
    assert_eq!(both.mentions_of(&grown), None);
    grown.take([Arc::new(Payload {
        token: Token::of(2),
        ..Payload::default()
    })]);
    let now = both.mentions_of(&grown).unwrap();
    assert_eq!(
        now.iter().map(|mention| mention.token).collect::<Vec<_>>(),
        [Token::of(1), Token::of(2)]
    );
}

#[test]
fn poller_waits_for_archive_until_it_fails() {
    let mut app = TestDashboard::new();
    assert_eq!(app.model.plan().archived, ArchivedCaptures::Awaited);
    app.send(Msg::Oob(OobNews::Opened(Box::new(StoredArchive {
        writable: true,
        ..StoredArchive::default()
    }))));
    assert_eq!(app.model.plan().archived, ArchivedCaptures::Awaited);
    let newest = Arc::new([(LoggerId(1), (CaptureId(3), None))].into());
    let recalled = Recalled {
        generation: app.model.connection.generation,
        newest: Some(Arc::clone(&newest)),
        captures: vec![calls(-5, 1, "")],
        older: Some(true),
    };
    app.send(Msg::Oob(OobNews::Recalled(Box::new(Recalled {
        generation: 99,
        ..recalled.clone()
    }))));
    assert_eq!(
        app.model.plan().archived,
        ArchivedCaptures::Awaited,
        "of another workspace"
    );
    app.send(Msg::Oob(OobNews::Recalled(Box::new(recalled))));
    assert_eq!(app.model.plan().archived, ArchivedCaptures::Newest(newest));
    assert_eq!(app.shown(Pane::Captures), [-5, 1, 2, 3]);
    app.keys("5 z");
    let frame = app.frame().join("\n");
    let day = app.model.data.captures.rows[0]
        .capture
        .request_date
        .unwrap()
        .0
        .strftime("%Y-%m-%d");
    let listed =
        format!("older captures not loaded · scandeck captures list --query 'time<={day}'");
    assert!(frame.contains(&listed), "{frame}");
    app.send(Msg::Oob(OobNews::Failed(Arc::new(Problem::local(
        "the disk is full",
    )))));
    assert_eq!(
        (app.model.plan().archived, &app.model.captures.oob.archive),
        (ArchivedCaptures::Nothing, &Archive::Broken)
    );
    assert!(
        app.notices().contains("captures: the disk is full"),
        "{}",
        app.notices()
    );
}

#[test]
fn full_disk_is_shown_until_captures_are_archived() {
    let mut app = TestDashboard::new();
    app.send(Msg::Oob(OobNews::Opened(Box::new(StoredArchive {
        writable: true,
        ..StoredArchive::default()
    }))));
    let newest = Arc::<std::collections::BTreeMap<_, _>>::default();
    let generation = app.model.connection.generation;
    app.send(Msg::Oob(OobNews::Recalled(Box::new(Recalled {
        generation,
        newest: Some(Arc::clone(&newest)),
        older: Some(false),
        ..Recalled::default()
    }))));
    let problem = Arc::new(Problem::local("captures.db: database or disk is full"));
    let retrying = |captures, is_full| {
        let problem = Arc::clone(&problem);
        Msg::Oob(OobNews::Retrying(ArchiveBacklog {
            problem,
            captures,
            payloads: 0,
            is_full,
        }))
    };
    app.send(retrying(0, false));
    assert!(
        app.notices()
            .contains("captures not archived; retrying: captures.db"),
        "{}",
        app.notices()
    );
    assert!(
        !app.model.captures.oob.writable,
        "a payload is saved before its URL is used"
    );
    app.send(retrying(7, false));
    assert_eq!(
        app.model.plan().archived,
        ArchivedCaptures::Newest(Arc::clone(&newest))
    );
    app.send(retrying(20_000, true));
    assert_eq!(
        app.model.plan().archived,
        ArchivedCaptures::Awaited,
        "the service keeps further captures"
    );
    app.send(Msg::Oob(OobNews::Recovered { writable: true }));
    assert_eq!(app.model.plan().archived, ArchivedCaptures::Newest(newest));
    assert!(app.model.captures.oob.writable && app.notices().contains("captures archived"));
    assert_eq!(app.model.captures.oob.backlog, None);
    app.send(retrying(0, false));
    app.send(Msg::Oob(OobNews::Recovered { writable: false }));
    assert!(
        !app.model.captures.oob.writable && app.notices().contains("read-only"),
        "{}",
        app.notices()
    );
}

#[test]
fn ending_logger_is_reported_once() {
    let mut app = TestDashboard::new();
    let logger = |days, left| Logger {
        id: LoggerId(1),
        label: "probe".into(),
        active_days: days,
        requests_left: left,
        ..Logger::default()
    };
    app.feed(Snapshot::Loggers(table([logger(2, 900)])));
    assert!(
        app.notices().contains("logger probe: 2 days left"),
        "{}",
        app.notices()
    );
    app.at += Duration::from_secs(60);
    app.feed(Snapshot::Loggers(table([logger(1, 899)])));
    assert!(!app.notices().contains("left"), "{}", app.notices());
    app.feed(Snapshot::Loggers(table([logger(0, 899)])));
    assert!(
        app.notices().contains("logger probe: stopped recording"),
        "{}",
        app.notices()
    );
}

/// A capture whose body is half a chunk; the bodies repeat one of two words.
fn long(id: i64) -> CaptureRow {
    let word = if id % 2 == 0 { "even" } else { "odd" };
    let body =
        base64::engine::general_purpose::STANDARD.encode(word.repeat(CHUNK / 2 / word.len()));
    capture_row(
        1,
        Capture {
            request_body_base64: body.as_str().into(),
            ..capture(id)
        },
    )
}

/// The ids of the captures shown.
fn shown(model: &mut Model) -> Vec<i64> {
    model.cursor(Pane::Captures).shown_ids()
}

#[test]
fn filter_over_long_bodies_runs_in_chunks_and_newest_wins() {
    let mut app = TestDashboard::new();
    app.keys("5");
    receive(&mut app, (10..20).map(long).collect());
    let now = app.model.now;
    let model = &mut app.model;
    let presses = |model: &mut Model, script: &str| -> Vec<Effect> {
        events(script)
            .into_iter()
            .flat_map(|event| update(model, now, Msg::Key(event)))
            .collect()
    };
    let effects = presses(model, "/ 'body:even'");
    assert_eq!(
        effects,
        [Effect::NextChunk],
        "one chunk is in progress after any number of keys"
    );
    let before = shown(model);
    assert!(before.len() < 5 && before.ends_with(&[18]), "{before:?}");
    presses(model, "ctrl-u");
    presses(model, "'body:odd' enter");
    let refused = presses(model, "*");
    assert!(
        model.lists.captures.marks().is_empty() && refused.is_empty(),
        "not on a part"
    );
    assert!(
        model
            .overlay
            .notices
            .iter()
            .any(|notice| notice.text.contains("still being filtered"))
    );
    let mut chunks = 0;
    while !update(model, now, Msg::NextChunk).is_empty() {
        chunks += 1;
    }
    assert!(chunks > 2, "{chunks}");
    assert_eq!(shown(model), [11, 13, 15, 17, 19]);
    assert_eq!(
        model.selected_id(Pane::Captures),
        Some(19),
        "the end was followed throughout"
    );
    presses(model, "*");
    assert_eq!(model.lists.captures.marks().len(), 5);
}

#[test]
fn export_of_query_is_collected_in_chunks_and_complete() {
    let mut app = TestDashboard::new();
    app.keys("5");
    receive(&mut app, (10..20).map(long).collect());
    let exported = |effects: Vec<Effect>| -> Option<Vec<i64>> {
        effects.iter().find_map(|effect| match effect {
            Effect::ExportCaptures(exported) => {
                Some(exported.sent.iter().map(|sent| sent.capture.id.0).collect())
            }
            _ => None,
        })
    };
    assert_eq!(
        exported(app.keys(": 'export captures har body:even' enter")),
        Some(vec![10, 12, 14, 16, 18])
    );
    app.keys("/ 'body:odd' enter");
    assert_eq!(
        exported(app.keys(": 'export captures har' enter")),
        Some(vec![11, 13, 15, 17, 19])
    );
    assert_eq!(
        exported(app.keys(": 'export captures har body:neither' enter")),
        None
    );
    assert!(
        app.notices().contains("no captures to export"),
        "{}",
        app.notices()
    );
}

#[test]
fn export_is_cancelled_by_change_of_workspace() {
    let mut app = TestDashboard::new();
    receive(&mut app, (10..20).map(long).collect());
    let now = app.model.now;
    for event in events(": 'export captures har body:even' enter") {
        update(&mut app.model, now, Msg::Key(event));
    }
    assert!(
        app.keys("1 j enter")
            .iter()
            .all(|effect| !matches!(effect, Effect::ExportCaptures(_)))
    );
    assert!(
        app.notices().contains("export of captures cancelled"),
        "{}",
        app.notices()
    );
}

#[test]
fn export_is_written_before_quit() {
    let mut app = TestDashboard::new();
    receive(&mut app, (10..20).map(long).collect());
    let now = app.model.now;
    let typed = events(": 'export captures har body:even' enter q");
    let effects: Vec<Effect> = typed
        .into_iter()
        .flat_map(|event| update(&mut app.model, now, Msg::Key(event)))
        .collect();
    let place = |predicate: fn(&Effect) -> bool| effects.iter().position(predicate).unwrap();
    let written = place(
        |effect| matches!(effect, Effect::ExportCaptures(exported) if exported.sent.len() == 5),
    );
    assert!(written < place(|effect| *effect == Effect::Quit));
}

#[test]
fn header_is_not_actionable_before_filter_is_complete() {
    let mut app = TestDashboard::new();
    app.keys("5 b s");
    let now = app.model.now;
    receive(&mut app, (10..20).map(long).collect());
    let model = &mut app.model;
    let presses = |model: &mut Model, script: &str| {
        events(script)
            .into_iter()
            .for_each(|event| _ = update(model, now, Msg::Key(event)));
    };
    presses(model, "/ 'body:even' enter");
    update(model, now, Msg::NextChunk);
    assert!(model.lists.captures.pending() > 0 && model.lists.captures.groups.header(0).is_some());
    presses(model, "space n y j");
    assert!(model.lists.captures.marks().is_empty() && model.overlay.modals.is_empty());
    while !update(model, now, Msg::NextChunk).is_empty() {}
    presses(model, "space");
    assert_eq!(model.lists.captures.marks().len(), 5);
}

/// The same with bodies in files, whose directory is deleted.
fn stored(captures: Vec<CaptureRow>) -> Vec<CaptureRow> {
    let directory = tempfile::tempdir().unwrap();
    let mut bodies = BodyStore::new(directory.path());
    let stored = captures
        .into_iter()
        .map(|one| one.stored(&mut bodies).unwrap())
        .collect();
    bodies.flush().unwrap();
    stored
}

#[test]
fn bodies_in_files_are_searched_copied_and_exported() {
    let mut app = TestDashboard::new();
    app.keys("5");
    receive(&mut app, stored((10..20).map(long).collect()));
    let rows = || (10..20).map(|id| capture(id).id);
    let in_file = app
        .model
        .data
        .captures
        .rows
        .iter()
        .filter(|row| row.unread_body().is_some());
    assert!(in_file.map(|row| row.capture.id).eq(rows()));
    app.keys("/ 'body:odd' enter");
    assert_eq!(shown(&mut app.model), [11, 13, 15, 17, 19]);
    let copied = app.keys("G y r");
    assert!(
        matches!(copied.as_slice(), [Effect::Copy { text, .. }] if text.contains("oddodd")),
        "{}",
        app.notices()
    );
    let exported = app.keys(": 'export captures jsonl body:even' enter");
    let [.., Effect::ExportCaptures(exported)] = exported.as_slice() else {
        panic!("{}", app.notices())
    };
    let ids: Vec<i64> = exported.sent.iter().map(|sent| sent.capture.id.0).collect();
    assert_eq!(ids, [10, 12, 14, 16, 18]);
    assert!(
        exported
            .sent
            .iter()
            .all(|sent| sent.whole().unwrap().capture == long(sent.capture.id.0).capture)
    );
    app.keys("n");
    let Some(Modal::Form(form)) = app.model.overlay.modals.last() else {
        panic!("{}", app.notices())
    };
    let finding = &form.subject.manual.as_ref().unwrap().finding;
    assert!(finding.evidence.contains("oddodd") && finding.captures.len() == 1);
}

#[test]
fn query_on_bodies_in_files_waits_for_each_chunk() {
    let mut app = TestDashboard::new();
    app.keys("5");
    receive(&mut app, stored((10..20).map(long).collect()));
    let now = app.model.now;
    let model = &mut app.model;
    let typed = events("/ 'body:even' enter");
    let mut effects: Vec<Effect> = typed
        .into_iter()
        .flat_map(|event| update(model, now, Msg::Key(event)))
        .collect();
    assert!(
        shown(model).is_empty() && model.lists.captures.pending() > 9,
        "nothing is known before the bodies"
    );
    let (mut chunks, mut lost) = (0, false);
    while let Some(effect) = effects.pop() {
        let Effect::ReadCaptures(purpose @ CaptureUse::Filter, captures) = effect else {
            if effect == Effect::NextChunk {
                effects.extend(update(model, now, Msg::NextChunk));
            }
            continue;
        };
        assert!(captures.len() <= 3, "a chunk is 1 MB: {}", captures.len());
        // The bodies of the second chunk cannot be read.
        let problem = (chunks == 1).then(|| Problem::local("the disk is broken"));
        let read = |record: &CaptureRecord| {
            if problem.is_some() {
                record.clone()
            } else {
                record.whole().unwrap()
            }
        };
        let captures = captures.iter().map(read).collect();
        lost |= problem.is_some();
        effects.extend(update(
            model,
            now,
            Msg::CapturesRead {
                purpose,
                captures,
                problem,
            },
        ));
        chunks += 1;
    }
    let found = shown(model);
    assert!(
        lost && chunks > 3 && model.lists.captures.pending() == 0,
        "{chunks}"
    );
    assert!(
        found.contains(&10) && found.contains(&18) && found.len() == 4,
        "{found:?}"
    );
    assert!(
        model
            .overlay
            .notices
            .iter()
            .any(|notice| notice.text.contains("bodies not searched"))
    );
}

#[test]
fn shown_body_is_read_and_newest_selection_wins() {
    let mut app = TestDashboard::new();
    app.keys("5 G");
    receive(&mut app, stored((10..20).map(long).collect()));
    let now = app.model.now;
    let model = &mut app.model;
    let follows = Now {
        mono: now.mono + Duration::from_millis(30),
        ..now
    };
    let select = |model: &mut Model, key: &str| {
        let step = events(key).into_iter().map(|event| (now, Msg::Key(event)));
        let effects = step
            .chain([(follows, Msg::Wake)])
            .flat_map(|(now, msg)| update(model, now, msg));
        let shown = |effect| match effect {
            Effect::ReadCaptures(CaptureUse::Show, captures) => Some(captures),
            _ => None,
        };
        effects
            .collect::<Vec<_>>()
            .into_iter()
            .find_map(shown)
            .unwrap()
    };
    let first = select(model, "k");
    let second = select(model, "k");
    let take = |model: &mut Model, captures, problem| {
        update(
            model,
            now,
            Msg::CapturesRead {
                purpose: CaptureUse::Show,
                captures,
                problem,
            },
        );
    };
    let whole = |captures: &[CaptureRecord]| {
        captures
            .iter()
            .map(|one| one.whole().unwrap())
            .collect::<Vec<_>>()
    };
    let state = |model: &Model| match model.whole_capture(model.selected_capture().unwrap()) {
        WholeCapture::Read(capture) => capture.request_body_base64.len().to_string(),
        WholeCapture::Reading => "reading".to_owned(),
        WholeCapture::Unreadable(problem) => problem.message.to_string(),
    };
    assert_eq!(state(model), "reading");
    take(model, whole(&first), None);
    assert_eq!(
        state(model),
        "reading",
        "the answer is about another capture"
    );
    take(
        model,
        second.clone(),
        Some(Problem::local("the disk is broken")),
    );
    assert_eq!(state(model), "the disk is broken");
    let again = select(model, "k");
    take(model, whole(&again), None);
    assert_eq!(
        state(model),
        long(16).capture.request_body_base64.len().to_string()
    );
}

#[test]
fn compared_body_is_read_only_where_it_is_compared() {
    let mut app = TestDashboard::new();
    app.keys("5 G");
    let from_one_address = |id| {
        let one = long(id);
        let capture = Capture {
            ip_address: "192.0.2.7".into(),
            ..Capture::clone(&one.capture)
        };
        CaptureRow {
            capture: Arc::new(capture),
            ..one
        }
    };
    receive(&mut app, stored((10..20).map(from_one_address).collect()));
    let bodies = |effects: &[Effect]| {
        let read = effects.iter().filter_map(|effect| match effect {
            Effect::ReadCaptures(CaptureUse::Show, captures) => Some(captures.len()),
            _ => None,
        });
        read.max()
    };
    let generation = app.model.connection.generation;
    let arrives = |app: &mut TestDashboard, id| {
        let new = stored(vec![from_one_address(id)]);
        let follows = Now {
            mono: app.model.now.mono + Duration::from_secs(1),
            ..app.model.now
        };
        let mut effects = update(
            &mut app.model,
            follows,
            Msg::Oob(OobNews::Captures { generation, new }),
        );
        effects.extend(update(&mut app.model, follows, Msg::Wake));
        bodies(&effects)
    };
    app.keys("G");
    assert_eq!(arrives(&mut app, 20), Some(1), "one capture is shown");
    app.keys("d esc G");
    assert_eq!(arrives(&mut app, 21), Some(2), "two captures are compared");
    app.keys("3");
    assert_eq!(arrives(&mut app, 22), Some(1), "findings are shown");
}

#[test]
fn alert_rule_on_body_matches_new_capture_with_body_in_file() {
    let mut app = TestDashboard::new();
    app.keys(": 'alert body:even' enter");
    let generation = app.model.connection.generation;
    let mut alerts = |id| {
        let old = long(id);
        let recent = Capture {
            request_date: Some(stamp()),
            ..Capture::clone(&old.capture)
        };
        let new = stored(vec![CaptureRow {
            capture: Arc::new(recent),
            ..old
        }]);
        let effects = app.send(Msg::Oob(OobNews::Captures { generation, new }));
        effects
            .iter()
            .filter(|effect| matches!(effect, Effect::Alert(_)))
            .count()
    };
    assert_eq!((alerts(11), alerts(12)), (0, 1));
}

#[test]
fn export_that_reads_bodies_is_written_before_quit() {
    let mut app = TestDashboard::new();
    receive(&mut app, stored((10..20).map(long).collect()));
    let now = app.model.now;
    let typed = events(": 'export captures har body:even' enter q");
    let mut effects: Vec<Effect> = typed
        .into_iter()
        .flat_map(|event| update(&mut app.model, now, Msg::Key(event)))
        .collect();
    assert!(!effects.contains(&Effect::Quit), "bodies are not read yet");
    let mut at = 0;
    while at < effects.len() {
        let msg = match effects[at].clone() {
            Effect::ReadCaptures(purpose, captures) => {
                let captures = captures.iter().map(|one| one.whole().unwrap()).collect();
                Msg::CapturesRead {
                    purpose,
                    captures,
                    problem: None,
                }
            }
            Effect::NextChunk => Msg::NextChunk,
            _ => Msg::Wake,
        };
        if !matches!(msg, Msg::Wake) {
            effects.extend(update(&mut app.model, now, msg));
        }
        at += 1;
    }
    let place = |predicate: fn(&Effect) -> bool| effects.iter().position(predicate).unwrap();
    let written = place(
        |effect| matches!(effect, Effect::ExportCaptures(exported) if exported.sent.len() == 5),
    );
    assert!(written < place(|effect| *effect == Effect::Quit));
}
