//! One finding as it leaves the program.

use std::net::IpAddr;
use std::sync::Arc;

use url::{Host, Position, Url};

use crate::contract::{Risk, Shared};
use crate::triage::{Case, Change, Event, Key, RetestResult, Stance, State, Verdict};

/// Duplicates of duplicates are followed so far.
const FAR: usize = 8;

/// A finding, what is said about it, and the names of what it refers to.
#[derive(Clone, Debug)]
pub struct ExportRow {
    /// The finding.
    pub case: Arc<Case>,
    /// What was decided.
    pub stance: Stance,
    /// Name of its target.
    pub target: Shared,
    /// Tool that saw it last.
    pub tool: Option<i64>,
    /// Name of its workspace.
    pub workspace: Shared,
    /// Notes, oldest first.
    pub notes: Vec<Arc<Event>>,
    /// The decisions that hold: several where persons did not know of each other.
    pub decisions: Vec<Arc<Event>>,
    /// The verdict on what it duplicates.
    pub original: Option<Verdict>,
    /// What its last retest came to.
    pub retest: Option<RetestResult>,
}

impl ExportRow {
    /// Takes from the state what the stance leaves out.
    pub fn new(
        case: Arc<Case>,
        stance: Stance,
        state: &State,
        target: Shared,
        tool: Option<i64>,
        workspace: Shared,
    ) -> Self {
        let standing = state.standing(case.key());
        let notes = standing.map(|standing| standing.notes.clone()).unwrap_or_default();
        let decisions = standing.map(|standing| standing.heads.clone()).unwrap_or_default();
        let original = stance.duplicate_of.and_then(|key| original(state, key));
        Self { case, stance, target, tool, workspace, notes, decisions, original, retest: None }
    }

    /// The risk it counts as: a person's before the scanner's.
    pub fn risk(&self) -> Risk {
        self.stance.severity.unwrap_or(self.case.risk_level)
    }

    /// The verdict that counts now: one that holds no more leaves the finding open.
    pub fn verdict(&self) -> Verdict {
        if self.stance.again.is_some() { Verdict::Open } else { self.stance.verdict }
    }

    /// Kind of finding; never empty.
    pub fn class(&self) -> &str {
        [&**self.case.class(), &*self.case.vuln_id, &*self.case.name]
            .into_iter()
            .find(|name| !name.trim().is_empty())
            .unwrap_or("unnamed")
    }

    /// Where it is, as a URI: the target where that is one, else its address with scheme and port.
    pub fn place(&self) -> String {
        let (case, target) = (&self.case, self.target.trim());
        if let Some(url) = web_address(target) {
            return url;
        }
        let scheme = if case.protocol.eq_ignore_ascii_case("udp") { "udp" } else { "tcp" };
        let host = match target.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(IpAddr::V6(address)) => Some(format!("[{address}]")),
            Ok(IpAddr::V4(address)) => Some(address.to_string()),
            Err(_) => Some(target.to_owned()).filter(|name| is_host_name(name)),
        };
        let port = if (1..=65535).contains(&case.port) { format!(":{}", case.port) } else { String::new() };
        match host {
            Some(host) => format!("{scheme}://{host}{port}"),
            // What is no host at all is named where everything can be encoded.
            None => {
                let mut uri = String::from("target:");
                uri.extend(url::form_urlencoded::byte_serialize(target.as_bytes()));
                uri
            }
        }
    }

    /// Why it was decided so, in one line: reason, notes, who and when, until when, and what a retest saw. Empty where
    /// there is none of it.
    pub fn told(&self) -> String {
        let stance = &self.stance;
        let mut parts: Vec<String> = Vec::new();
        parts.extend(stance.reason.map(|reason| format!("reason: {reason}")));
        parts.extend(self.note_texts().map(|note| note.to_string()));
        if let Some(who) = &stance.who {
            let at = stance.at.map(|at| format!(" on {at}")).unwrap_or_default();
            parts.push(format!("{} by {who}{at}", stance.verdict));
        }
        parts.extend(stance.until.map(|day| format!("until {day}")));
        parts.extend(self.retested());
        parts.join("; ")
    }

    /// What its last retest saw, in words.
    pub fn retested(&self) -> Option<String> {
        let RetestResult { at, before, now, .. } = self.retest.as_ref()?;
        let at = at.map(|at| format!(" on {at}")).unwrap_or_default();
        Some(format!("retest{at}: {} (before: {before})", now.word()))
    }

    /// Texts of the notes, oldest first.
    pub fn note_texts(&self) -> impl Iterator<Item = &Shared> {
        self.notes.iter().filter_map(|event| match &event.change {
            Change::Note(text) => Some(text),
            _ => None,
        })
    }

    /// Numbers of the CWEs it names.
    pub fn cwes(&self) -> Vec<u64> {
        let numbers = self.case.cwe.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok());
        numbers.filter(|number| *number > 0).collect()
    }

    /// References that are addresses of the web.
    pub fn links(&self) -> Vec<String> {
        self.case.references.iter().filter_map(|text| web_address(text)).collect()
    }
}

/// An address of the web as a URI that the strictest reader takes. Who is named in it is left out: that can hold a
/// password.
fn web_address(text: &str) -> Option<String> {
    let mut url = Url::parse(text.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let plain = url.host().is_some_and(|host| match host {
        Host::Domain(name) => is_host_name(name),
        Host::Ipv4(_) | Host::Ipv6(_) => true,
    });
    (plain && url.set_username("").is_ok() && url.set_password(None).is_ok()).then(|| strict(&url))
}

fn is_host_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
}

/// URLs allow more in path, query and fragment than RFC 3986 does; the rest is encoded.
fn strict(url: &Url) -> String {
    let text = url.as_str();
    let (head, tail) = text.split_at(url[..Position::BeforePath].len());
    let mut out = head.to_owned();
    let mut in_fragment = false;
    for (at, byte) in tail.bytes().enumerate() {
        let encoded = tail.as_bytes()[at + 1..].iter().take(2).filter(|byte| byte.is_ascii_hexdigit()).count() == 2;
        let stays = match byte {
            b'%' => encoded,
            b'#' => !std::mem::replace(&mut in_fragment, true),
            _ => byte.is_ascii_alphanumeric() || b"-._~:/?@!$&'()*+,;=".contains(&byte),
        };
        if stays {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The verdict at the end of a chain of duplicates.
fn original(state: &State, mut key: Key) -> Option<Verdict> {
    for _ in 0..FAR {
        let standing = state.standing(key)?;
        let Some((_, decision)) = standing.shown() else { return Some(Verdict::Open) };
        match decision.duplicate_of {
            Some(next) if decision.verdict == Verdict::Duplicate => key = next,
            _ => return Some(if standing.is_conflict() { Verdict::Open } else { decision.verdict }),
        }
    }
    None
}
