//! The commands for payloads: create one or many, wait for hits, alert rules.

use crate::base::{Effect, Pane, Tone};
use crate::input::{Action, GoAction, PayloadAction};
use crate::list::PopUpList;
use crate::model::{Modal, Model, navigation};
use crate::palette::{Args, ArgumentShape, ArgumentSlot, Command};
use crate::payloads::keys as payloads;
use scandeck_domain::oob::{Token, UrlForm, Wait};
use scandeck_domain::query::QueryKind;
use scandeck_domain::query::value::span;
use scandeck_wire::text::plural;
use std::time::Duration;

/// In seconds: a year.
const LONGEST_WAIT: i64 = 365 * 86_400;
/// Positions of a token in a URL.
const FORMS: &[&str] = &["query", "path"];

pub(crate) static COMMANDS: &[Command] = &[
    Command::new(
        "payload",
        &[ArgumentSlot::needed(ArgumentShape::Choice(
            FORMS,
            "query|path",
        ))],
        "create and copy a payload in this part of the URL",
        "payload path",
        payload,
    )
    .or(Action::Payload(PayloadAction::Plant)),
    Command::new(
        "payloads",
        &[ArgumentSlot::optional(ArgumentShape::PayloadBook)],
        "open the payload book, or write COUNT new payloads to a file",
        "payloads 200 urls.txt shape=xxe",
        book,
    )
    .or(Action::Go(GoAction::Payloads)),
    Command::new(
        "wait payload",
        &[
            ArgumentSlot::needed(ArgumentShape::Payload),
            ArgumentSlot::after("timeout", ArgumentShape::Text("TIME")),
        ],
        "alert on the next hit of a payload, or at the timeout",
        "wait payload k7f2 timeout 10m",
        wait,
    ),
    Command::new(
        "wait end",
        &[],
        "cancel all waits",
        "wait end",
        |model, _, _| {
            let count = std::mem::take(&mut model.captures.alerts.waits).len();
            model.payloads_changed();
            model.notify(
                Tone::Plain,
                if count == 0 {
                    "not waiting for any payload".to_owned()
                } else {
                    format!("{} cancelled", plural(count, "wait"))
                },
            );
            Ok(())
        },
    ),
    Command::new(
        "alert",
        &[ArgumentSlot::needed(ArgumentShape::Query(
            QueryKind::Captures,
        ))],
        "alert on every capture that matches, even from bots or your addresses",
        "alert from:203.0.113.* method:POST",
        alert,
    ),
    Command::new(
        "mine",
        &[ArgumentSlot::optional(ArgumentShape::Text("ADDRESS"))],
        "add or remove your address, by default that of the selected capture",
        "mine 203.0.113.7",
        |model, args, effects| model.mark_own_address(args.text(), effects),
    ),
    Command::new(
        "alerts",
        &[],
        "list the alert rules, turn them on or off, or delete them",
        "alerts",
        |model, _, _| {
            match model.captures.alerts.rules.is_empty() {
                true => model.notify(Tone::Plain, "no alert rules · `:alert QUERY` adds one"),
                false => model
                    .overlay
                    .modals
                    .push(Modal::Alerts(PopUpList::default())),
            }
            Ok(())
        },
    ),
];

fn payload(model: &mut Model, args: &Args, effects: &mut Vec<Effect>) -> Result<(), String> {
    let form = if args.choice() == Some("path") {
        UrlForm::Path
    } else {
        UrlForm::Query
    };
    payloads::plant(model, form, effects)?;
    model.keep_url_form(form, effects);
    Ok(())
}

fn book(model: &mut Model, args: &Args, effects: &mut Vec<Effect>) -> Result<(), String> {
    if let Some(many) = args.many() {
        return payloads::plant_many(model, many, effects);
    }
    navigation::go(model, Pane::Payloads);
    match args.query() {
        Some(query) => model
            .set_query(Pane::Payloads, &query)
            .map_err(|error| error.to_string()),
        None => Ok(()),
    }
}

fn wait(model: &mut Model, args: &Args, _: &mut Vec<Effect>) -> Result<(), String> {
    let token: Token = args.payload().ok_or("payload is missing")?;
    let limit = match args.text() {
        None => None,
        Some(text) => Some(
            span(&text)
                .filter(|seconds| (1..=LONGEST_WAIT).contains(seconds))
                .ok_or_else(|| {
                    format!("invalid timeout `{text}`; use 90s, 10m or 2h, at most a year")
                })?,
        ),
    };
    let until = limit.map(|seconds| model.now.mono + Duration::from_secs(seconds.unsigned_abs()));
    let waits = &mut model.captures.alerts.waits;
    waits.retain(|wait| wait.token != token);
    waits.push(Wait { token, until });
    model.payloads_changed();
    let hits = model.captures.payloads.hits_of(token).count;
    let so_far = if hits > 0 {
        format!(" ({} so far)", plural(hits as usize, "hit"))
    } else {
        String::new()
    };
    model.notify(
        Tone::Good,
        format!("waiting for a hit of payload {token}{so_far}"),
    );
    Ok(())
}

fn alert(model: &mut Model, args: &Args, effects: &mut Vec<Effect>) -> Result<(), String> {
    let query = args.query().unwrap_or_default();
    if model
        .captures
        .alerts
        .rules
        .iter()
        .any(|alert| alert.query == query && !alert.off)
    {
        return Err("this alert rule already exists".to_owned());
    }
    model.keep_alert(&query, Some(false), effects);
    model.notify(Tone::Good, format!("alert rule added: {query}"));
    Ok(())
}
