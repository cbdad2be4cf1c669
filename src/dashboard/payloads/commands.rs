//! Commands about payloads: making one or many, waiting for one, rules for what is to be heard.

use crate::dashboard::base::{Effect, Pane, Tone};
use crate::dashboard::data::Wait;
use crate::dashboard::input::action::{Action, GoAction, PayloadAction};
use crate::dashboard::list::PopUpList;
use crate::dashboard::model::{Modal, Model, navigation};
use crate::dashboard::palette::{Args, ArgumentShape, ArgumentSlot, Command};
use crate::dashboard::payloads::keys as payloads;
use crate::oob::{Token, UrlForm};
use crate::query::QueryKind;
use crate::query::value::span;
use std::time::Duration;

/// In seconds: a year.
const LONGEST_WAIT: i64 = 365 * 86_400;
/// How a token stands in a URL, for the table of commands.
const FORMS: &[&str] = &["query", "path"];

/// The commands of this area.
pub(crate) static COMMANDS: &[Command] = &[
    Command::new(
        "payload",
        &[ArgumentSlot::needed(ArgumentShape::Choice(FORMS, "query|path"))],
        "a new payload of the current logger, copied; from then on the token stands there: in the query, or in the path \
         where the service records paths",
        "payload path",
        payload,
    )
    .or(Action::Payload(PayloadAction::Plant)),
    Command::new(
        "payloads",
        &[ArgumentSlot::optional(ArgumentShape::PayloadBook)],
        "go to the payload book, with a query filter it; or write so many new payloads into a file, one a line",
        "payloads 200 urls.txt shape=xxe",
        book,
    )
    .or(Action::Go(GoAction::Payloads)),
    Command::new(
        "wait payload",
        &[ArgumentSlot::needed(ArgumentShape::Payload), ArgumentSlot::after("timeout", ArgumentShape::Text("TIME"))],
        "be told when this payload brings something in, or that nothing came in time; the beginning of a token is enough",
        "wait payload k7f2 timeout 10m",
        wait,
    ),
    Command::new("wait end", &[], "wait for nothing any more", "wait end", |model, _, _| {
        let count = std::mem::take(&mut model.captures.signals.waits).len();
        model.payloads_changed();
        model.say(Tone::Plain, format!("{count} waits ended"));
        Ok(())
    }),
    Command::new(
        "alert",
        &[ArgumentSlot::needed(ArgumentShape::Query(QueryKind::Captures))],
        "be told of every capture that the query takes, bots and the own address too; remembered for this workspace",
        "alert from:203.0.113.* method:POST",
        alert,
    ),
    Command::new(
        "mine",
        &[ArgumentSlot::optional(ArgumentShape::Text("ADDRESS"))],
        "this address, or that of the selected capture, is your own, or no longer: what it sends rings no more",
        "mine 203.0.113.7",
        |model, args, effects| model.mark_own_address(args.text(), effects),
    ),
    Command::new("alerts", &[], "the list of alert rules: switch them off and on, delete them", "alerts", |model, _, _| {
        match model.captures.signals.alerts.is_empty() {
            true => model.say(Tone::Plain, "no alert rules yet: alert QUERY makes one"),
            false => model.overlay.modals.push(Modal::Alerts(PopUpList::default())),
        }
        Ok(())
    }),
];

fn payload(model: &mut Model, args: &Args, effects: &mut Vec<Effect>) -> Result<(), String> {
    let form = if args.choice() == Some("path") { UrlForm::Path } else { UrlForm::Query };
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
        Some(query) => model.set_query(Pane::Payloads, &query).map_err(|error| error.to_string()),
        None => Ok(()),
    }
}

fn wait(model: &mut Model, args: &Args, _: &mut Vec<Effect>) -> Result<(), String> {
    let token: Token = args.payload().ok_or("which payload?")?;
    let limit = match args.text() {
        None => None,
        Some(text) => {
            let seconds = span(&text)
                .filter(|seconds| (1..=LONGEST_WAIT).contains(seconds))
                .ok_or("timeout takes a time such as 10m or 90s, up to a year")?;
            Some(Duration::from_secs(seconds.unsigned_abs()))
        }
    };
    let until = limit.map(|limit| model.now.mono.saturating_add(limit));
    let waits = &mut model.captures.signals.waits;
    waits.retain(|wait| wait.token != token);
    waits.push(Wait { token, until });
    model.payloads_changed();
    let hits = model.captures.payloads.hits_of(token).count;
    let so_far =
        if hits > 0 { format!("; it brought {hits} in so far: the next is waited for") } else { String::new() };
    model.say(Tone::Good, format!("waiting for payload {token}{so_far}"));
    Ok(())
}

fn alert(model: &mut Model, args: &Args, effects: &mut Vec<Effect>) -> Result<(), String> {
    let query = args.query().unwrap_or_default();
    if model.captures.signals.alerts.iter().any(|alert| alert.query == query && !alert.off) {
        return Err("there is this rule already".to_owned());
    }
    model.keep_alert(&query, Some(false), effects);
    model.say(Tone::Good, format!("an alert for {query}; the command alerts lists them"));
    Ok(())
}
