//! All views of a captured request that contains a planted token.

use std::sync::Arc;

use insta::assert_snapshot;
use scandeck::contract::{Capture, LoggerId, Stamp, Target};
use scandeck::dashboard::base::plan::Snapshot;
use scandeck::dashboard::base::{CaptureRow, Tone};
use scandeck::dashboard::core::Msg;
use scandeck::dashboard::data::OobNews;
use scandeck::dashboard::model::Model;
use scandeck::dashboard::ui::{Scheme, Theme, ViewCache};
use scandeck::oob::{ArchivedCapture, Payload, PayloadBook, mentions};
use scandeck::table::Table;

use super::fixtures::{ago, learn, populated, press, send};
use super::{drawn, lines, text};

const TOKEN: &str = "k7f2aaaabbbb";
/// Compressed JSON that contains a URL and a web token.
const SQUEEZED: &str = "H4sIAAAAAAACAxWL0QqCMBhG32XQXTgdpCWEF4LjH2QQqOGdTsPhHJK/lUbv3jzn8jvfl8xPTULSIY4hpR4LHNfqhcfA96mmHxrhuQ8erLLUlh1LdIXthGRPqhk7+20X0dVcqqsSkK3gpQomMLeDjMGHfrznsTg5NlqbArZobYYLyiGfS54voN5KsvQlebZtS1kkPRjXkUwb8vsDLc9Oo58AAAA=";

/// The sample data with a payload and two requests that it caused.
fn planted(columns: u16, rows: u16) -> Model {
    planted_with(columns, rows, &[])
}

/// The same; the first request has these problems.
fn planted_with(columns: u16, rows: u16, problems: &[&str]) -> Model {
    let mut model = populated(columns, rows);
    let payload = Payload {
        token: TOKEN.parse().unwrap(),
        at: Some(Stamp(ago(52).0)),
        offset: Some(0),
        parameter: "q".into(),
        target: "https://shop.acme.test/search".into(),
        technique: "SSRF".into(),
        note: "redirector bypass, second try".into(),
        ..Payload::default()
    };
    let mut book = PayloadBook::default();
    book.take([Arc::new(payload)]);
    let first = Capture {
        id: 301.into(),
        ip_address: "203.0.113.9".into(),
        request_method: "GET".into(),
        url_params: format!(
            "t={TOKEN}%2Flatest%2Fmeta-data%2Fiam&next=aHR0cDovL2FkbWluLmFjbWUudGVzdC8"
        )
        .into(),
        user_agent: "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)".into(),
        http_headers: vec![
            "Host: 127.0.0.1:8766".into(),
            "User-Agent: Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)".into(),
            "X-Forwarded-For: shop.acme.test, 10.0.0.7".into(),
        ],
        request_date: Some(ago(50)),
        http_version: Some("HTTP/1.1".into()),
        problems: problems.iter().map(|problem| (*problem).into()).collect(),
        ..Capture::default()
    };
    let second = Capture {
        id: 302.into(),
        ip_address: "198.51.100.4".into(),
        request_method: "POST".into(),
        url_params: format!("t={TOKEN}").into(),
        user_agent: "curl/8.5.0".into(),
        http_headers: vec![
            "host: 127.0.0.1:8766".into(),
            "Content-Encoding: gzip".into(),
        ],
        request_body_type: "application/json".into(),
        request_body_base64: SQUEEZED.into(),
        request_date: Some(ago(40)),
        path: Some("/l/x/%2e%2e/admin".into()),
        ..Capture::default()
    };
    let capture_row = |capture: Capture| {
        let found = mentions(&capture, &book);
        let archived = ArchivedCapture {
            workspace: "Acme external".into(),
            logger: LoggerId(1),
            label: "blind-ssrf".into(),
            handler_url: "http://127.0.0.1:8766/l/1/".into(),
            seen_at: ago(2),
            capture: Arc::new(capture),
        };
        CaptureRow::new(&archived, found)
    };
    let new = vec![capture_row(first), capture_row(second)];
    model.captures.oob.book = book.clone();
    let mono = model.now.mono.as_millis() as u64;
    let generation = model.connection.generation;
    send(
        &mut model,
        mono,
        Msg::Oob(OobNews::Captures { generation, new }),
    );
    model
}

fn hold(name: &str, keys: &str) {
    for (columns, rows) in [(80, 24), (200, 60)] {
        let mut model = planted(columns, rows);
        press(&mut model, keys);
        let drawn = text(&mut model, Theme::new(Scheme::Dark));
        assert!(!drawn.to_lowercase().contains("verified"), "{drawn}");
        assert_snapshot!(format!("{name}_{columns}x{rows}"), drawn);
    }
}

#[test]
fn hit_shows_payload_additions_and_sender() {
    hold("hit_request", "5 G k enter");
    hold("hit_sender", "5 G : m i n e enter enter");
}

#[test]
fn problems_of_a_request_are_shown_without_control_characters() {
    let mut model = planted_with(120, 40, &["no Host header", "the target contains \u{1b}"]);
    press(&mut model, "5 G k enter");
    let shown = text(&mut model, Theme::new(Scheme::Dark));
    assert!(
        shown.contains("Problems      no Host header") && shown.contains("the target contains ␛"),
        "{shown}"
    );
}

#[test]
fn hit_body_shows_decoding_steps_and_raw_view() {
    hold("hit_body", "5 G enter > >");
    hold("hit_body_raw", "5 G enter > > ,");
}

#[test]
fn hits_of_one_payload_are_compared_by_part() {
    hold("hit_compare", "5 G d");
}

#[test]
fn sender_is_named_when_target_arrives_later() {
    let mut model = planted(200, 60);
    press(&mut model, "5 G k enter");
    let mut cache = ViewCache::new(Theme::new(Scheme::Dark));
    let first = lines(&drawn(&mut model, &mut cache)).join("\n");
    let named = "203.0.113.9   a target of this workspace";
    assert!(
        first.contains("203.0.113.9") && !first.contains(named),
        "{first}"
    );
    let known = model.data.targets.value().unwrap().items().iter().cloned();
    let later = Target {
        id: 99.into(),
        name: "203.0.113.9".into(),
        ..Target::default()
    };
    let targets = Arc::new(Table::new(known.chain([Arc::new(later)])));
    let mono = model.now.mono.as_millis() as u64;
    learn(&mut model, mono, Snapshot::Targets(targets));
    let second = lines(&drawn(&mut model, &mut cache)).join("\n");
    assert!(second.contains(named), "{second}");
}

#[test]
fn notices_cover_no_row_and_no_field() {
    let long = "the disk is full, so that nothing more can be kept of what comes in: make room, and start the dashboard again";
    let small = [
        (80, 12, "5 G", "+2s"),
        (80, 24, "2 n", "[ Add"),
        (80, 24, "5 G : m i n e", ":mine"),
    ];
    let large = [
        (200, 60, "5 G", "+2s"),
        (200, 60, "2 n", "[ Add"),
        (200, 60, "5 G : m i n e", ":mine"),
    ];
    for (columns, rows, keys, seen) in small.into_iter().chain(large) {
        let mut model = planted(columns, rows);
        // Removes the notice about the new captures.
        model.overlay.notices.expire(std::time::Duration::MAX);
        press(&mut model, keys);
        let line = |model: &mut Model| {
            let shown = text(model, Theme::new(Scheme::Dark));
            let found = shown
                .lines()
                .rfind(|line| line.contains(seen))
                .unwrap_or_else(|| panic!("{seen}: {shown}"));
            (found.to_owned(), shown.clone())
        };
        let (alone, _) = line(&mut model);
        for message in ["one", long, "the last"] {
            model
                .overlay
                .notices
                .notify(model.now.mono, Tone::Bad, message);
        }
        let (under, shown) = line(&mut model);
        assert_eq!(under, alone, "{keys}: {shown}");
        assert!(
            shown.contains("start the dashboard again") && shown.contains("the last"),
            "{shown}"
        );
    }
}
