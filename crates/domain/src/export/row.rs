//! A finding with its decisions and the names that exports need.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use url::{Host, Position, Url};

use crate::triage::explain::ExplainedProof;
use crate::triage::{
    Assessment, Change, Decision, EarlierCorrelation, Event, FindingKey, FindingTexts, Issue,
    RetestResult, TimelineEntry, TriageState, Verdict, VerdictSource,
};
use scandeck_wire::contract::{Risk, Shared, Tool};

/// Limit of a chain of duplicates.
const MOST_DUPLICATES: usize = 8;

#[derive(Clone, Debug)]
pub struct ExportRow {
    pub issue: Arc<Issue>,
    pub assessment: Assessment,
    /// Name of the target.
    pub target: Shared,
    /// The tool of the last scan that saw the finding.
    pub tool: Option<i64>,
    /// Its name for people.
    pub tool_name: Shared,
    /// Name of the workspace.
    pub workspace: Shared,
    /// Notes, oldest first.
    pub notes: Vec<Arc<Event>>,
    /// The last proof.
    pub proof: Option<ExplainedProof>,
    /// The decisions in force; concurrent decisions are a conflict.
    pub decisions: Vec<Arc<Event>>,
    /// The verdict on the original of a duplicate.
    pub original: Option<Verdict>,
    /// The result of the last retest.
    pub retest: Option<RetestResult>,
    /// The findings and scans that the history is computed from.
    pub correlation: Option<Arc<EarlierCorrelation>>,
}

impl ExportRow {
    /// Adds the notes, the proof and the decisions of the state to the assessment.
    pub fn new(
        issue: Arc<Issue>,
        assessment: Assessment,
        state: &TriageState,
        target: Shared,
        tool: Option<i64>,
        workspace: Shared,
    ) -> Self {
        let finding_state = state.finding_state(issue.key());
        let notes = finding_state
            .map(|finding_state| finding_state.notes.clone())
            .unwrap_or_default();
        let decisions = finding_state
            .map(|finding_state| finding_state.heads.clone())
            .unwrap_or_default();
        let original = assessment.duplicate_of.and_then(|key| original(state, key));
        let proof = ExplainedProof::last(&issue, state);
        Self {
            issue,
            assessment,
            target,
            tool,
            tool_name: tool.map_or_else(Shared::default, |id| Tool(id).to_string().into()),
            workspace,
            notes,
            proof,
            decisions,
            original,
            retest: None,
            correlation: None,
        }
    }

    /// The scans of the finding, latest first, also those that did not report it.
    pub fn timeline(&self) -> Vec<TimelineEntry> {
        self.correlation
            .as_ref()
            .map(|known| known.timeline(&self.issue))
            .unwrap_or_default()
    }

    /// The severity override, or else the risk of the scanner.
    pub fn risk(&self) -> Risk {
        self.assessment.severity.unwrap_or(self.issue.risk_level)
    }

    /// The verdict in force: open when the decision is no longer valid, that of the original for a
    /// duplicate.
    pub fn verdict(&self) -> Verdict {
        match self.assessment.verdict {
            _ if self.assessment.reopened.is_some() => Verdict::Open,
            Verdict::Duplicate => self.original.unwrap_or(Verdict::Open),
            verdict => verdict,
        }
    }

    /// The verdict, or why it no longer holds with the verdicts that it had:
    /// `conflict (fixed by ann, confirmed by ben)`.
    pub fn stated_verdict(&self) -> String {
        let assessment = &self.assessment;
        let Some(cause) = assessment.reopened else {
            return assessment.verdict.phrase();
        };
        let decision = |event: &Arc<Event>| match &event.change {
            Change::Decide(Decision { verdict, .. }) => {
                Some(format!("{} by {}", verdict.phrase(), event.who))
            }
            _ => None,
        };
        let mut decisions: Vec<String> = self.decisions.iter().filter_map(decision).collect();
        if decisions.is_empty() {
            let who = assessment.who.as_deref().unwrap_or("unknown");
            decisions.push(format!("{} by {who}", assessment.verdict.phrase()));
        }
        format!("{cause} ({})", decisions.join(", "))
    }

    /// The port; empty if the finding has none.
    pub fn port(&self) -> String {
        if self.issue.port() > 0 {
            self.issue.port().to_string()
        } else {
            String::new()
        }
    }

    /// The class of the finding; never empty.
    pub fn class(&self) -> &str {
        [
            &**self.issue.class(),
            &*self.issue.vuln_id,
            &*self.issue.name,
        ]
        .into_iter()
        .find(|name| !name.trim().is_empty())
        .unwrap_or("unnamed")
    }

    /// The location as a URI: the address, or else the encoded name of the target.
    pub fn place(&self) -> String {
        self.address().unwrap_or_else(|| {
            let mut uri = String::from("target:");
            uri.extend(url::form_urlencoded::byte_serialize(
                self.target.trim().as_bytes(),
            ));
            uri
        })
    }

    /// The address as a URI: the target if it is a URL, else its host with transport and port. A
    /// target that has only a name, such as `Office LAN`, has no address.
    pub fn address(&self) -> Option<String> {
        let (issue, target) = (&self.issue, self.target.trim());
        if let Some(url) = web_address(target) {
            return Some(url);
        }
        let (host, target_port) = split_port(target);
        let host = host_in_uri(host)?;
        let scheme = if issue.protocol.eq_ignore_ascii_case("udp") {
            "udp"
        } else {
            "tcp"
        };
        let finding_port = u16::try_from(issue.port()).ok().filter(|port| *port > 0);
        let port = finding_port
            .or(target_port)
            .map(|port| format!(":{port}"))
            .unwrap_or_default();
        Some(format!("{scheme}://{host}{port}"))
    }

    /// Reason, notes, person, time, expiry and result of the retest, in one line.
    pub fn justification(&self) -> String {
        let assessment = &self.assessment;
        let mut parts: Vec<String> = Vec::new();
        parts.extend(assessment.reason.map(|reason| format!("reason: {reason}")));
        parts.extend(self.noted().map(|(note, _)| note.to_string()));
        if let Some(who) = &assessment.who {
            let at = assessment
                .at
                .map(|at| format!(" on {at}"))
                .unwrap_or_default();
            let rule = if matches!(assessment.source, VerdictSource::Rule(_)) {
                "a rule of "
            } else {
                ""
            };
            parts.push(format!("{} by {rule}{who}{at}", assessment.verdict));
        }
        parts.extend(assessment.until.map(|day| format!("until {day}")));
        parts.extend(self.retest_summary());
        parts.join("; ")
    }

    /// The result of the last retest, as a phrase.
    pub fn retest_summary(&self) -> Option<String> {
        let RetestResult {
            at, before, now, ..
        } = self.retest.as_ref()?;
        let at = at.map(|at| format!(" on {at}")).unwrap_or_default();
        Some(format!("retest{at}: {} (before: {before})", now.label()))
    }

    /// Texts of the notes with their events, oldest first.
    pub fn noted(&self) -> impl Iterator<Item = (&Shared, &Event)> {
        self.notes.iter().filter_map(|event| match &event.change {
            Change::Note(text) => Some((text, &**event)),
            _ => None,
        })
    }

    /// Texts of the notes, oldest first.
    pub fn joined_notes(&self, separator: &str) -> String {
        self.noted()
            .map(|(text, _)| text.as_str())
            .collect::<Vec<_>>()
            .join(separator)
    }

    /// CWE numbers of the finding, each once.
    pub fn cwes(&self) -> Vec<u64> {
        let numbers = self
            .issue
            .cwe
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|number| number.parse().ok());
        let mut seen = BTreeSet::new();
        numbers
            .filter(|number| *number > 0 && seen.insert(*number))
            .collect()
    }

    /// Tags, each once.
    pub fn tags(&self) -> Vec<&Shared> {
        let mut seen = BTreeSet::new();
        self.assessment
            .tags
            .iter()
            .filter(|tag| seen.insert(tag.as_str()))
            .collect()
    }
}

/// References that are web addresses.
pub fn links(texts: &FindingTexts) -> Vec<String> {
    texts
        .references
        .iter()
        .filter_map(|text| web_address(text))
        .collect()
}

/// A web address as a URI that strict readers accept. User info is removed, because it may contain
/// a password.
fn web_address(text: &str) -> Option<String> {
    let mut url = Url::parse(text.trim())
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let plain = url.host().is_some_and(|host| match host {
        Host::Domain(name) => is_host_name(name),
        Host::Ipv4(_) | Host::Ipv6(_) => true,
    });
    (plain && url.set_username("").is_ok() && url.set_password(None).is_ok()).then(|| strict(&url))
}

/// `shop.test:443` and `[::1]:443`; an IPv6 address without brackets has no port.
fn split_port(target: &str) -> (&str, Option<u16>) {
    match target.rsplit_once(':') {
        Some((host, port)) if host.ends_with(']') || !host.contains(':') => match port.parse() {
            Ok(port) => (host, Some(port).filter(|port| *port > 0)),
            Err(_) => (target, None),
        },
        _ => (target, None),
    }
}

/// An address or a name of the DNS. IPv6 has brackets, names with other letters have their ASCII
/// form.
fn host_in_uri(host: &str) -> Option<String> {
    match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(IpAddr::V6(address)) => Some(format!("[{address}]")),
        Ok(IpAddr::V4(address)) => Some(address.to_string()),
        Err(_) if host.is_ascii() => {
            // Strict readers decode such labels.
            let is_decodable =
                !host.to_ascii_lowercase().contains("xn--") || Host::parse(host).is_ok();
            (is_host_name(host) && is_decodable).then(|| host.to_owned())
        }
        // The parser would decode a percent sign.
        Err(_) if host.contains('%') => None,
        Err(_) => match Host::parse(host).ok()? {
            Host::Domain(name) => is_host_name(&name).then_some(name),
            Host::Ipv4(_) | Host::Ipv6(_) => None,
        },
    }
}

/// Letters, digits and the length of RFC 1035 §2.3.4, with the underscores that hosts have in
/// practice.
fn is_host_name(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    text.len() <= 253
        && text
            .strip_suffix('.')
            .unwrap_or(text)
            .split('.')
            .all(is_label)
}

/// Encodes characters that URLs allow in path, query and fragment, but RFC 3986 does not.
fn strict(url: &Url) -> String {
    let text = url.as_str();
    let (head, tail) = text.split_at(url[..Position::BeforePath].len());
    let mut out = head.to_owned();
    let mut in_fragment = false;
    for (at, byte) in tail.bytes().enumerate() {
        let is_encoded = tail.as_bytes()[at + 1..]
            .iter()
            .take(2)
            .filter(|byte| byte.is_ascii_hexdigit())
            .count()
            == 2;
        let is_valid = match byte {
            b'%' => is_encoded,
            b'#' => !std::mem::replace(&mut in_fragment, true),
            _ => byte.is_ascii_alphanumeric() || b"-._~:/?@!$&'()*+,;=".contains(&byte),
        };
        if is_valid {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The verdict on the finding at the end of a chain of duplicates.
fn original(state: &TriageState, mut key: FindingKey) -> Option<Verdict> {
    for _ in 0..MOST_DUPLICATES {
        let finding_state = state.finding_state(key)?;
        let Some((_, decision)) = finding_state.shown() else {
            return Some(Verdict::Open);
        };
        match decision.duplicate_of {
            Some(next) if decision.verdict == Verdict::Duplicate => key = next,
            _ => {
                return Some(if finding_state.is_conflict() {
                    Verdict::Open
                } else {
                    decision.verdict
                });
            }
        }
    }
    None
}
