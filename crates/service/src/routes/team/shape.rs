//! The shape of events and payloads as dashboards read them: a line that they could not read would be
//! an error on the screen of every member.
//!
//! Verdicts and reasons are those of the contract. The other types repeat those of
//! `domain/triage/event.rs`, `domain/proof/record.rs` and `domain/oob/payload.rs`, of which the
//! service imports nothing; `tests/service/team_lines.rs` compares both.
#![expect(
    dead_code,
    reason = "the values are read to see whether they can be read"
)]

use std::str::FromStr;

use jiff::civil::Date;
use serde::Deserialize;

use crate::errors::shown;
use crate::store::team::SharedEventId;
use scandeck_wire::contract::proof::ProofReason;
use scandeck_wire::contract::verdict::{Reason, Verdict};
use scandeck_wire::contract::{FindingId, LoggerId, Risk, ScanId, Shared, Stamp};

/// The most characters of a name: of a workspace, a tag, an assignee.
const NAME: usize = 200;
/// The most characters of an author, `login@host` in imported history.
const AUTHOR: usize = 320;

/// Checks an event.
///
/// # Errors
/// Why it is refused.
pub fn check_event(json: &str) -> Result<(), String> {
    let event: SentEvent = readable(json)?;
    let mut names = vec![
        ("author", &event.who, AUTHOR),
        ("name of the workspace", &event.workspace, NAME),
    ];
    match &event.change {
        SentChange::Assign(Some(assignee)) => names.push(("assignee", assignee, NAME)),
        SentChange::Tag { add, remove } => {
            names.extend(add.iter().chain(remove).map(|tag| ("tag", tag, NAME)));
        }
        _ => {}
    }
    check_names(&names)
}

/// Checks a payload.
///
/// # Errors
/// Why it is refused.
pub fn check_payload(json: &str) -> Result<(), String> {
    let payload: SentPayload = readable(json)?;
    check_names(&[
        ("author", &payload.who, AUTHOR),
        ("name of the workspace", &payload.workspace, NAME),
    ])
}

fn readable<'de, T: Deserialize<'de>>(json: &'de str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| {
        let error = error.to_string();
        // The line is one, and the column says little about an object of any order.
        let cause = error.split(" at line ").next().unwrap_or_default();
        format!("dashboards cannot read it: {}", shown(cause))
    })
}

fn check_names(names: &[(&str, &Shared, usize)]) -> Result<(), String> {
    let too_long = names
        .iter()
        .find(|(_, text, most)| text.chars().nth(*most).is_some());
    match too_long {
        Some((noun, _, most)) => Err(format!("the {noun} has more than {most} characters")),
        None => Ok(()),
    }
}

#[derive(Deserialize)]
struct SentEvent {
    id: SharedEventId,
    clock: u64,
    at: Stamp,
    who: Shared,
    #[serde(default)]
    workspace: Shared,
    batch: SharedEventId,
    #[serde(default)]
    after: Vec<SharedEventId>,
    subject: SentSubject,
    change: SentChange,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum SentSubject {
    Finding(SentIdentity),
    Rule(SharedEventId),
    Own(SharedEventId),
    Batch(SharedEventId),
    Workspace,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SentIdentity {
    key: SentFingerprint,
    f1: SentFingerprint,
    f2: SentFingerprint,
    version: u32,
    asset: Shared,
    class: Shared,
    service: Shared,
    name: Shared,
    place: Shared,
    ordinal: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum SentChange {
    Decide(SentDecision),
    Note(Shared),
    Proof(Box<SentProof>),
    Tag {
        #[serde(default)]
        add: Vec<Shared>,
        #[serde(default)]
        remove: Vec<Shared>,
    },
    Severity(Option<Risk>),
    Assign(Option<Shared>),
    Due(Option<Date>),
    Inherit(SentFingerprint),
    Rule {
        query: Shared,
        decision: SentDecision,
    },
    Off(bool),
    DeleteRule(Shared),
    Own(Box<SentManual>),
    Link(Box<SentLink>),
    Baseline(Option<SentBaseline>),
    Undo,
    Redo,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SentDecision {
    verdict: Verdict,
    reason: Option<Reason>,
    until: Option<Date>,
    duplicate_of: Option<SentFingerprint>,
    seen: Option<SentSighting>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SentSighting {
    finding: FindingId,
    scan: Option<ScanId>,
    started: Option<Stamp>,
    risk: Risk,
    exploited: bool,
    epss: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SentProof {
    method: Shared,
    url: Shared,
    headers: Vec<Shared>,
    then: SentAnswer,
    now: Option<SentAnswer>,
    problem: Shared,
    reason: ProofReason,
    digest: Shared,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SentAnswer {
    status: Option<u16>,
    headers: Vec<Shared>,
    body: Shared,
    is_cut: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SentManual {
    name: Shared,
    risk: Risk,
    target: Shared,
    class: Shared,
    text: Shared,
    evidence: Shared,
    port: i64,
    captures: Vec<Shared>,
    recommendation: Shared,
    cwe: Shared,
    cvss: Option<f64>,
    references: Vec<Shared>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SentLink {
    from: Shared,
    to: Shared,
    reason: Shared,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum SentBaseline {
    Day(Date),
    Scans(Vec<ScanId>),
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SentPayload {
    token: Shared,
    url: Shared,
    logger: LoggerId,
    label: Shared,
    workspace: Shared,
    #[serde(deserialize_with = "Stamp::maybe")]
    at: Option<Stamp>,
    offset: Option<i64>,
    who: Shared,
    number: Option<i64>,
    batch: Shared,
    target: Shared,
    finding: Option<SentFingerprint>,
    finding_name: Shared,
    parameter: Shared,
    technique: Shared,
    note: Shared,
    version: i64,
}

/// 32 hex digits.
#[derive(Default, Deserialize)]
#[serde(try_from = "String")]
struct SentFingerprint(u128);

impl TryFrom<String> for SentFingerprint {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match u128::from_str_radix(&text, 16) {
            Ok(number) if text.len() == 32 => Ok(Self(number)),
            _ => Err(format!("`{}` is not 32 hex digits", shown(&text))),
        }
    }
}

impl<'de> Deserialize<'de> for SharedEventId {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

impl FromStr for SharedEventId {
    type Err = &'static str;

    /// `5f…-12`: the instance with at most 16 hex digits, and the number.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "the id is not `INSTANCE-NUMBER`";
        let (instance, number) = text.split_once('-').ok_or(WRONG)?;
        // A sign is a number for `parse`.
        let is_id = instance.bytes().all(|byte| byte.is_ascii_hexdigit())
            && number.bytes().all(|byte| byte.is_ascii_digit());
        if !is_id {
            return Err(WRONG);
        }
        Ok(Self {
            instance: u64::from_str_radix(instance, 16).map_err(|_| WRONG)?,
            number: number.parse().map_err(|_| WRONG)?,
        })
    }
}
