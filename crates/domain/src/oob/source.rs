//! Origin of a captured request: a bot, one of the analyst's addresses, or a target.
//!
//! The origin is shown beside the request and hides nothing: User-Agent and headers can be forged.

use std::collections::HashMap;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::LazyLock;

use serde::Deserialize;

use super::decode::percent::decoded_value;
use super::{MentionPlace, request};
use scandeck_wire::contract::{Capture, Shared, serde_as_text};
use scandeck_wire::text;

/// A program that fetches URLs automatically.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    pub name: String,
    has: String,
    pub does: String,
    pub source: String,
}

#[derive(Deserialize)]
struct Agents {
    agents: Vec<Agent>,
}

static AGENTS: LazyLock<Vec<Agent>> = LazyLock::new(|| {
    let file: Result<Agents, _> = toml::from_str(include_str!("../../assets/oob/agents.toml"));
    file.map(|file| file.agents).unwrap_or_default()
});

impl Agent {
    /// The program of a User-Agent.
    pub fn of(user_agent: &str) -> Option<&'static Self> {
        let user_agent = user_agent.to_ascii_lowercase();
        AGENTS.iter().find(|agent| user_agent.contains(&agent.has))
    }
}

/// Origin of a request.
#[derive(Clone, Debug, Default)]
pub struct CaptureSource {
    /// Bot by User-Agent.
    pub bot: Option<&'static Agent>,
    /// True if an address of the analyst sent it.
    pub own: bool,
    /// Targets of the workspace that sent the request or that it names.
    pub targets: Vec<NamedTarget>,
}

/// A target related to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTarget {
    /// Part of the request that names the target; `None` if the target sent the request.
    pub place: Option<MentionPlace>,
    pub target: Shared,
}

impl CaptureSource {
    /// The origin of a captured request.
    pub fn of(capture: &Capture, own: &[Network], targets: &TargetHosts) -> Self {
        Self {
            bot: Agent::of(&capture.user_agent),
            own: is_own(capture, own),
            targets: targets.named_in(capture),
        }
    }

    /// The target that sent it, otherwise the first target it names.
    pub fn target(&self) -> Option<&Shared> {
        self.from_target()
            .or_else(|| Some(&self.targets.first()?.target))
    }

    /// The target that sent it; the first one if several have the address.
    pub fn from_target(&self) -> Option<&Shared> {
        self.senders().next()
    }

    /// The targets with the address of the sender.
    pub fn senders(&self) -> impl Iterator<Item = &Shared> {
        self.targets
            .iter()
            .filter(|named| named.place.is_none())
            .map(|named| &named.target)
    }
}

/// True if the sender has one of these addresses.
pub fn is_own(capture: &Capture, own: &[Network]) -> bool {
    let from: Option<IpAddr> = capture.ip_address.trim().parse().ok();
    from.is_some_and(|from| own.iter().any(|network| network.has(from)))
}

/// An address or network: `192.0.2.7`, `10.0.0.0/8`, `2001:db8::/32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

impl Network {
    /// True if the network contains the address.
    pub fn has(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits() ^ other.to_bits()).leading_zeros() >= self.bits
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                (own.to_bits() ^ other.to_bits()).leading_zeros() >= self.bits
            }
            _ => false,
        }
    }
}

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Self {
        let address = address.to_canonical();
        Self {
            address,
            bits: if address.is_ipv4() { 32 } else { 128 },
        }
    }
}

impl FromStr for Network {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "invalid address `{text}`; use one such as 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32"
            )
        };
        let (address, bits) = text.trim().split_once('/').unwrap_or((text.trim(), ""));
        let whole = Self::from(address.parse::<IpAddr>().map_err(|_| wrong())?);
        match bits {
            "" => Ok(whole),
            bits => match bits.parse() {
                Ok(bits) if bits <= whole.bits => Ok(Self { bits, ..whole }),
                _ => Err(wrong()),
            },
        }
    }
}

serde_as_text!(Network);

impl std::fmt::Display for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.bits == Self::from(self.address).bits {
            true => write!(f, "{}", self.address),
            false => write!(f, "{}/{}", self.address, self.bits),
        }
    }
}

/// Hosts and addresses of the targets of a workspace, built once and looked up for every word of a
/// request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetHosts {
    /// Target names by lower-case host. Several targets can have one host, such as web servers on
    /// two ports.
    targets: HashMap<String, Vec<Shared>>,
    /// Lengths of known hosts: most words of a request have another length.
    lengths: Vec<bool>,
}

/// Maximum number of body bytes that are searched for hosts.
const SEARCHED: usize = 64 << 10;
/// Maximum number of targets per request.
const MOST: usize = 10;

impl TargetHosts {
    /// Builds the table from target names: hosts, addresses, URLs.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a Shared>) -> Self {
        let mut targets: HashMap<String, Vec<Shared>> = HashMap::new();
        for (host, name) in names
            .into_iter()
            .filter_map(|name| Some((host(name)?, name)))
        {
            let named = targets.entry(host).or_default();
            if named.len() < MOST && !named.contains(name) {
                named.push(name.clone());
            }
        }
        let longest = targets.keys().map(String::len).max().unwrap_or(0);
        let mut lengths = vec![false; longest + 1];
        targets.keys().for_each(|host| lengths[host.len()] = true);
        Self { targets, lengths }
    }

    /// The targets with this host or address, with or without a port.
    pub fn targets(&self, word: &str) -> &[Shared] {
        let word = word.trim_matches(['.', '-', ':', '[', ']']);
        let without_port = || Some(word.rsplit_once(':')?.0.trim_matches(['[', ']']));
        self.of_host(word)
            .or_else(|| self.of_host(without_port()?))
            .unwrap_or_default()
    }

    fn of_host(&self, host: &str) -> Option<&[Shared]> {
        let may_be = self.lengths.get(host.len()).copied().unwrap_or(false);
        if may_be {
            self.targets
                .get(&host.to_ascii_lowercase())
                .map(Vec::as_slice)
        } else {
            None
        }
    }

    /// The targets that sent the request or that it names. The `Host` header is that of the logger
    /// and is ignored.
    pub fn named_in(&self, capture: &Capture) -> Vec<NamedTarget> {
        let mut named: Vec<NamedTarget> = Vec::new();
        if self.targets.is_empty() {
            return named;
        }
        let senders = self.targets(&capture.ip_address).iter();
        named.extend(senders.map(|target| NamedTarget {
            place: None,
            target: target.clone(),
        }));
        let mut search = |place: &dyn Fn() -> MentionPlace, text: &str| {
            for target in words(text).flat_map(|word| self.targets(word)) {
                let found = NamedTarget {
                    place: Some(place()),
                    target: target.clone(),
                };
                if named.len() < MOST && !named.contains(&found) {
                    named.push(found);
                }
            }
        };
        for (name, value) in request::pairs(capture) {
            let value = decoded_value(value.unwrap_or(name).as_bytes());
            search(
                &|| MentionPlace::Query((*text::clean(name)).into()),
                &String::from_utf8_lossy(&value),
            );
        }
        for (name, value) in
            request::headers(capture).filter(|(name, _)| !name.eq_ignore_ascii_case("host"))
        {
            search(&|| MentionPlace::Header((*text::clean(name)).into()), value);
        }
        search(
            &|| MentionPlace::Body,
            &String::from_utf8_lossy(&request::body_start(capture, SEARCHED)),
        );
        named
    }
}

/// The host in a target name, in lower case.
pub(crate) fn host(name: &str) -> Option<String> {
    let name = name.trim();
    let host = match url::Url::parse(name).ok().filter(|_| name.contains("://")) {
        Some(url) => url.host_str()?.to_owned(),
        None => name.split(['/', '?']).next()?.to_owned(),
    };
    let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
    (!host.is_empty()).then_some(host)
}

/// The words of a text that may be hosts or addresses.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let of_hosts = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '_');
    text.split(move |c| !of_hosts(c))
        .filter(|word| word.len() > 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oob::recognize::testing::base64;

    #[test]
    fn listed_agents_have_source_and_match_their_marker() {
        assert!(AGENTS.len() >= 20);
        for agent in AGENTS.iter() {
            assert!(agent.source.starts_with("https://"), "{agent:?}");
            assert_eq!(agent.has, agent.has.to_ascii_lowercase(), "{agent:?}");
            assert!(
                std::ptr::eq(Agent::of(&agent.has).unwrap(), agent),
                "{agent:?} is hidden by one before it"
            );
        }
    }

    #[test]
    fn bots_are_recognized_by_user_agent() {
        let name = |agent: &str| Agent::of(agent).map(|agent| agent.name.as_str());
        assert_eq!(
            name("Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"),
            Some("Slack")
        );
        assert_eq!(name("TelegramBot (like TwitterBot)"), Some("Telegram"));
        assert_eq!(
            name("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"),
            Some("Google")
        );
        assert_eq!(name("curl/8.5.0"), None);
    }

    #[test]
    fn addresses_and_networks_parse_and_match() {
        let network = |text: &str| text.parse::<Network>().unwrap();
        let has = |text: &str, address: &str| network(text).has(address.parse().unwrap());
        assert!(has("192.0.2.7", "192.0.2.7") && !has("192.0.2.7", "192.0.2.8"));
        assert!(has("192.0.2.7", "::ffff:192.0.2.7") && has("::ffff:192.0.2.7", "192.0.2.7"));
        assert!(
            has("10.0.0.0/8", "10.200.1.1")
                && !has("10.0.0.0/8", "11.0.0.1")
                && has("0.0.0.0/0", "1.2.3.4")
        );
        assert!(
            has("2001:db8::/32", "2001:db8:1::1")
                && !has("2001:db8::/32", "2001:db9::1")
                && !has("::/0", "1.2.3.4")
        );
        for text in ["192.0.2.7", "10.0.0.0/8", "2001:db8::/32"] {
            assert_eq!(network(text).to_string(), text);
        }
        for wrong in ["", "h.test", "10.0.0.0/33", "10.0.0.0/x", "1.2.3"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn request_names_targets_by_sender_and_content() {
        let names: Vec<Shared> = [
            "10.0.4.11",
            "https://shop.acme.test:8443/x",
            "intra.acme.test",
        ]
        .map(Shared::from)
        .to_vec();
        let capture = Capture {
            ip_address: "10.0.4.11".into(),
            url_params: "u=http%3A%2F%2FSHOP.acme.test%3A80%2F".into(),
            http_headers: vec![
                "Host: intra.acme.test".into(),
                "X-Forwarded-For: 10.0.4.11, 198.51.100.4".into(),
                "Referer: http://nothing.acme.test/".into(),
            ],
            request_body_base64: base64(b"see http://intra.acme.test. and intra.acme.test"),
            user_agent: "Slackbot 1.0".into(),
            ..Capture::default()
        };
        let source = CaptureSource::of(
            &capture,
            &["10.0.4.0/24".parse().unwrap()],
            &TargetHosts::of(&names),
        );
        let named: Vec<_> = source
            .targets
            .iter()
            .map(|named| (named.place.clone(), named.target.as_str()))
            .collect();
        let expected = [
            (None, "10.0.4.11"),
            (
                Some(MentionPlace::Query("u".into())),
                "https://shop.acme.test:8443/x",
            ),
            (
                Some(MentionPlace::Header("X-Forwarded-For".into())),
                "10.0.4.11",
            ),
            (Some(MentionPlace::Body), "intra.acme.test"),
        ];
        assert_eq!(named, expected);
        assert!(source.own && source.bot.unwrap().name == "Slack");
        assert_eq!(source.from_target().map(Shared::as_str), Some("10.0.4.11"));
        let ports: Vec<Shared> = ["http://10.0.4.11:8000/", "http://10.0.4.11:8001/"]
            .map(Shared::from)
            .to_vec();
        let source = CaptureSource::of(&capture, &[], &TargetHosts::of(&ports));
        assert_eq!(
            source.senders().collect::<Vec<_>>(),
            ports.iter().collect::<Vec<_>>(),
            "neither is a guess"
        );
        assert!(
            CaptureSource::of(&Capture::default(), &[], &TargetHosts::of(&names))
                .targets
                .is_empty()
        );
    }
}
