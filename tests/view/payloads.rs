//! The payload list: places, hits and pending waits.

use std::sync::Arc;

use insta::assert_snapshot;
use scandeck::contract::{LoggerId, Stamp};
use scandeck::dashboard::base::Pane;
use scandeck::dashboard::core::Msg;
use scandeck::dashboard::data::{AlertRule, OobNews, StoredArchive};
use scandeck::dashboard::model::Model;
use scandeck::dashboard::ui::{Scheme, Theme};
use scandeck::oob::{Hits, Payload, PayloadBook, Token, Wait};

use super::fixtures::{ago, populated, press, send};
use super::text;

fn payload(number: u64, place: [&str; 3], made: i64) -> Payload {
    let token = Token::of(number * 0x0123_4567_89ab_cdef);
    let [parameter, target, technique] = place;
    Payload {
        token,
        url: format!("http://127.0.0.1:8766/l/1/?t={token}").into(),
        logger: LoggerId(1),
        label: "blind-ssrf".into(),
        workspace: "Acme external".into(),
        at: Some(ago(made)),
        offset: Some(0),
        who: "ann@test".into(),
        target: target.into(),
        parameter: parameter.into(),
        technique: technique.into(),
        ..Payload::default()
    }
}

fn payloads() -> Vec<Payload> {
    let line = |number| Payload {
        number: Some(number),
        batch: "urls.txt".into(),
        ..payload(10 + number as u64, ["", "", ""], 400)
    };
    let redirect = Payload {
        note: "redirector bypass, second try".into(),
        finding_name: "Open redirect".into(),
        ..payload(1, ["q", "shop.acme.test", "SSRF"], 60)
    };
    let hostile = Payload {
        label: "a\u{202e}b\x1b[2J".into(),
        ..payload(2, ["Referer\nX", "api.acme.test", ""], 120)
    };
    vec![
        redirect,
        hostile,
        payload(3, ["", "", ""], 9_000),
        line(1),
        line(2),
    ]
}

fn book(columns: u16, rows: u16) -> Model {
    let mut model = populated(columns, rows);
    let mut book = PayloadBook::default();
    book.take(payloads().into_iter().map(Arc::new));
    let stored = StoredArchive {
        book,
        writable: true,
        ..StoredArchive::default()
    };
    send(
        &mut model,
        10_000,
        Msg::Oob(OobNews::Opened(Box::new(stored))),
    );
    let [first, second, third] = [0, 1, 2].map(|at: usize| payloads()[at].token);
    let arrival = |made: i64, after: i64| -> Option<Stamp> { Some(ago(made - after)) };
    let hits = vec![
        (
            first,
            Hits {
                count: 2,
                first: arrival(60, 4),
                last: arrival(60, 9),
            },
        ),
        (
            payloads()[4].token,
            Hits {
                count: 1,
                first: arrival(400, 380),
                last: arrival(400, 380),
            },
        ),
    ];
    let generation = model.connection.generation;
    send(
        &mut model,
        10_000,
        Msg::Oob(OobNews::Hits {
            generation,
            hits,
            all: true,
        }),
    );
    model.captures.alerts.waits = vec![
        Wait {
            token: second,
            until: Some(model.now.mono + std::time::Duration::from_secs(600)),
        },
        Wait {
            token: third,
            until: None,
        },
    ];
    press(&mut model, "g p");
    model
}

fn hold(name: &str, sizes: &[(u16, u16)], make: impl Fn(u16, u16) -> Model) {
    for &(columns, rows) in sizes {
        let mut model = make(columns, rows);
        assert_snapshot!(
            format!("{name}_{columns}x{rows}"),
            text(&mut model, Theme::new(Scheme::Dark))
        );
    }
}

const SIZES: [(u16, u16); 3] = [(80, 24), (90, 50), (200, 60)];

#[test]
fn payload_list_shows_places_and_hits() {
    hold("payloads", &SIZES, book);
    hold("payloads_none", &SIZES[..1], |columns, rows| {
        let mut model = populated(columns, rows);
        press(&mut model, "g p");
        assert_eq!(model.navigation.focus.pane, Pane::Payloads);
        model
    });
}

#[test]
fn unsearched_archive_shows_unknown_instead_of_waiting() {
    let mut model = book(80, 24);
    let waits = |model: &mut Model| {
        let shown = text(model, Theme::new(Scheme::Dark));
        (shown.contains(" waiting"), shown.contains(" unknown"))
    };
    assert_eq!(waits(&mut model), (true, false));
    model.captures.payloads.counted = false;
    assert_eq!(waits(&mut model), (false, true));
}

#[test]
fn payload_place_is_edited_in_form() {
    hold("payload_place", &SIZES, |columns, rows| {
        let mut model = book(columns, rows);
        press(&mut model, "e");
        model
    });
}

#[test]
fn payload_shapes_are_listed_in_copy_menu() {
    hold("payload_shapes", &SIZES[..1], |columns, rows| {
        let mut model = book(columns, rows);
        press(&mut model, "y p");
        model
    });
}

#[test]
fn alert_rules_are_listed() {
    hold("alerts", &SIZES[..1], |columns, rows| {
        let mut model = book(columns, rows);
        let alert = |query: &str, off| AlertRule {
            query: query.to_owned(),
            off,
        };
        model.captures.alerts.rules = vec![
            alert("from:203.0.113.*", false),
            alert("method:post is:known", true),
        ];
        press(&mut model, ": a l e r t s enter");
        model
    });
}

#[test]
fn header_counts_known_payloads() {
    for (columns, words) in [(80, "2 hits"), (200, "2 payload hits")] {
        let mut model = populated(columns, 30);
        model.captures.new_captures = 3;
        model.captures.payloads.unseen.insert(LoggerId(1), 2);
        let shown = text(&mut model, Theme::new(Scheme::Dark));
        assert!(shown.lines().next().unwrap().contains(words), "{shown}");
    }
}
