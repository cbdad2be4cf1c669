//! Options of a verdict, in any order:
//! `reason=not_reproducible until=2027-01-31 note="two proxies"`.

use crate::model::Fault;
use crate::model::modal::decide_menu::until;
use crate::palette::slot;
use jiff::civil::Date;
use scandeck_domain::query::error::{did_you_mean, nearest};
use scandeck_domain::triage::{Draft, DraftValue, Reason, Verdict};
use scandeck_wire::contract::{Risk, Shared};
use std::ops::Range;

/// The verdicts by name, for the table of commands.
pub const VERDICTS: &[&str] = &[
    "open",
    "in_review",
    "confirmed",
    "false_positive",
    "risk_accepted",
    "not_applicable",
    "fixed",
    "duplicate",
];
/// The verdicts of rules: a duplicate refers to a single finding.
pub const RULED: &[&str] = VERDICTS.split_at(7).0;

/// The keys with their descriptions.
pub const KEYS: [(&str, &str); 5] = [
    ("reason=", "reason; none for no reason"),
    (
        "until=",
        "expiry date or period, such as 2027-01-31 or 30d; none for no expiry",
    ),
    ("note=", "note; in quotes when it contains spaces"),
    (
        "severity=",
        "severity override; none for the severity of the scanner",
    ),
    ("tag=", "tags, separated by commas"),
];

/// The risks by name.
pub const RISKS: [Risk; 5] = [
    Risk::Critical,
    Risk::High,
    Risk::Medium,
    Risk::Low,
    Risk::Info,
];

/// Parses the options of a verdict.
pub(crate) fn read(
    verdict: Option<Verdict>,
    text: &str,
    place: Range<usize>,
    today: Date,
) -> Result<Draft, Fault> {
    let mut draft = Draft {
        verdict,
        ..Draft::default()
    };
    for word in slot::words(&text[..place.end], place.start) {
        let (key, value) = text[word.clone()]
            .split_once('=')
            .unwrap_or((&text[word.clone()], ""));
        let at = (word.start + key.len() + 1).min(word.end)..word.end;
        put(
            &mut draft,
            verdict,
            (key, value.trim_matches('"')),
            (word, at),
            today,
        )?;
    }
    Ok(draft)
}

fn put(
    draft: &mut Draft,
    verdict: Option<Verdict>,
    (key, value): (&str, &str),
    (word, at): (Range<usize>, Range<usize>),
    today: Date,
) -> Result<(), Fault> {
    let known = KEYS.iter().map(|(key, _)| key.trim_end_matches('='));
    if !known.clone().any(|known| known == key) {
        let keys: Vec<&str> = known.clone().collect();
        let fault = Fault::new(
            word,
            format!("unknown key `{key}`; use one of {}", keys.join(", ")),
        );
        return Err(nearest(key, known).map_or(fault.clone(), |known| {
            fault.with_hint(did_you_mean(&format!("{known}=")))
        }));
    }
    if value.is_empty() {
        return Err(Fault::new(at, format!("value of {key}= is missing")));
    }
    match key {
        "reason" => draft.reason = draft_value(value, || reason(verdict, value, &at))?,
        "until" => draft.until = until(value, today).map_err(|why| Fault::new(at, why))?,
        "severity" => draft.severity = draft_value(value, || risk(value, &at))?,
        "note" => draft.note = DraftValue::Set(value.into()),
        _ => draft.tag.extend(
            value
                .split(',')
                .map(str::trim)
                .filter(|tag| !tag.is_empty())
                .map(Shared::from),
        ),
    }
    Ok(())
}

fn draft_value<T>(
    value: &str,
    read: impl FnOnce() -> Result<T, Fault>,
) -> Result<DraftValue<T>, Fault> {
    if value == "none" {
        Ok(DraftValue::Empty)
    } else {
        read().map(DraftValue::Set)
    }
}

fn reason(verdict: Option<Verdict>, value: &str, at: &Range<usize>) -> Result<Reason, Fault> {
    let fits = verdict.map(Verdict::reasons).unwrap_or_default();
    let words: Vec<&str> = fits.iter().map(|reason| reason.as_str()).collect();
    let message = match words.as_slice() {
        [] => match verdict {
            Some(verdict) => format!("the verdict `{}` takes no reason", verdict.as_str()),
            None => "verdict is missing; enter it before the reason".to_owned(),
        },
        words => format!("unknown reason `{value}`; use one of {}", words.join(", ")),
    };
    Reason::named(value)
        .filter(|reason| fits.contains(reason))
        .ok_or_else(|| {
            let fault = Fault::new(at.clone(), message);
            nearest(value, words.iter().copied())
                .map_or(fault.clone(), |near| fault.with_hint(did_you_mean(near)))
        })
}

fn risk(value: &str, at: &Range<usize>) -> Result<Risk, Fault> {
    let found = RISKS.into_iter().find(|risk| risk.as_str() == value);
    let unknown =
        || format!("unknown severity `{value}`; use info, low, medium, high, critical or none");
    found.ok_or_else(|| Fault::new(at.clone(), unknown()))
}
