//! The privacy mask: stand-ins for hosts, addresses, names and tokens in any text.
//!
//! ```text
//!   names of the data ─► KnownNames ─┐
//!                                    ├─ Mask ─► text ─► the same text with `host-3`, `ip-7`, `user-2`, `token-4` …
//!   stand-ins given so far ──────────┘
//! ```
//!
//! Known names are targets, workspaces, loggers, users and the profile. Addresses, logins, e-mail
//! addresses and tokens are recognised by their form, and other secrets by the name before them
//! (`secrets`): a header, a parameter or a field of JSON. A text has the same stand-in as long as
//! the program runs, and a masked text can be masked again.

mod secrets;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::net::IpAddr;
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use regex::{Captures, Regex};
use serde_json::Value;

/// Shortest beginning of a host name that is recognised before an ellipsis.
const CUT: usize = 4;
/// Shortest text of letters and digits that counts as a token.
const TOKEN: usize = 32;
/// Longest word that is searched for names; a longer one is a token as a whole. Searching all of
/// its parts would take the square of its length, and captures contain what anyone sends.
const LONGEST_WORD: usize = 1024;

/// The kind of a masked text, which names its stand-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MaskedKind {
    Host,
    Address,
    User,
    Workspace,
    Logger,
    Service,
    Token,
}

impl MaskedKind {
    fn word(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Address => "ip",
            Self::User => "user",
            Self::Workspace => "workspace",
            Self::Logger => "logger",
            Self::Service => "service",
            Self::Token => "token",
        }
    }
}

/// The names that the data contains.
#[derive(Debug, Default)]
pub struct KnownNames {
    hosts: BTreeSet<String>,
    /// Domains of the hosts: names below them are masked too.
    domains: HashSet<String>,
    /// Other names by their first word, in lower case.
    names: HashMap<String, Vec<(String, MaskedKind)>>,
}

impl KnownNames {
    /// Adds the host of a target or URL.
    pub fn add_host(&mut self, name: &str) {
        let rest = name.split_once("://").map_or(name, |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        // Addresses are recognised by their form.
        if host.parse::<IpAddr>().is_ok() || host.starts_with('[') {
            return;
        }
        let host = host
            .split(':')
            .next()
            .unwrap_or_default()
            .trim_matches('.')
            .to_lowercase();
        let is_name = host
            .chars()
            .all(|letter| letter.is_alphanumeric() || matches!(letter, '.' | '-' | '_'));
        if host.is_empty() || !is_name || host.parse::<IpAddr>().is_ok() {
            return;
        }
        self.domains.extend(domain(&host).map(str::to_owned));
        self.hosts.insert(host);
    }

    /// Adds the URL of a logger: its host, and the last part of its path, which is its secret.
    pub fn add_logger_url(&mut self, url: &str) {
        self.add_host(url);
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let path = rest.split(['?', '#']).next().unwrap_or_default();
        if let Some((_, secret)) = path.trim_end_matches('/').rsplit_once('/') {
            self.add(secret, MaskedKind::Token);
        }
    }

    /// Adds a name that is not a host.
    pub fn add(&mut self, name: &str, kind: MaskedKind) {
        let name = name.trim().to_lowercase();
        let Some(first) = WORD.find(&name) else {
            return;
        };
        let names = self.names.entry(first.as_str().to_owned()).or_default();
        let name = name[first.start()..].to_owned();
        if names.iter().all(|(other, _)| *other != name) {
            names.push((name, kind));
            names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        }
    }

    fn is_host(&self, name: &str) -> bool {
        let below = |at: usize| self.domains.contains(&name[at..]);
        self.hosts.contains(name)
            || below(0)
            || name
                .match_indices('.')
                .any(|(dot, _)| self.hosts.contains(&name[dot + 1..]) || below(dot + 1))
    }

    /// The first host that begins with this text.
    fn beginning_with(&self, cut: &str) -> Option<&str> {
        let host = self.hosts.range(cut.to_owned()..).next()?;
        (cut.len() >= CUT && host.starts_with(cut)).then_some(host)
    }
}

/// The domain that a host name belongs to: two labels, or three below `co.uk` and its like.
fn domain(host: &str) -> Option<&str> {
    let labels: Vec<&str> = host.split('.').collect();
    let is_shared = |two: &[&str]| two[1].len() == 2 && two[0].len() <= 3;
    let count = match labels.as_slice() {
        [] | [_] => return None,
        [.., a, b] if labels.len() > 2 && is_shared(&[a, b]) => 3,
        _ => 2,
    };
    let length: usize = labels[labels.len() - count..]
        .iter()
        .map(|label| label.len() + 1)
        .sum();
    host.get(host.len() + 1 - length..)
}

/// The stand-ins given so far.
#[derive(Debug, Default)]
struct StandIns {
    by_text: HashMap<(MaskedKind, String), String>,
    given: HashSet<String>,
    counts: HashMap<MaskedKind, usize>,
}

impl StandIns {
    fn of(&mut self, kind: MaskedKind, text: &str) -> String {
        let key = (kind, text.to_lowercase());
        if let Some(stand_in) = self.by_text.get(&key) {
            return stand_in.clone();
        }
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        let stand_in = format!("{}-{count}", kind.word());
        self.given.insert(stand_in.clone());
        self.by_text.insert(key, stand_in.clone());
        stand_in
    }

    /// Whether a text is a stand-in, perhaps with an ellipsis, quotes or punctuation behind it.
    fn is_given(&self, text: &str) -> bool {
        self.given
            .contains(text.trim_end_matches(|letter: char| !letter.is_alphanumeric()))
    }
}

/// A mask with the names that are known now.
///
/// Frames, copies and files that a task writes share the stand-ins, so a lock guards them. Nothing else
/// reads them.
#[derive(Clone, Default)]
pub struct Mask {
    known: Arc<KnownNames>,
    stand_ins: Arc<Mutex<StandIns>>,
}

/// Without the names that it hides.
impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mask")
    }
}

/// The same names, by reference.
impl PartialEq for Mask {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.known, &other.known) && Arc::ptr_eq(&self.stand_ins, &other.stand_ins)
    }
}

/// A text to mask, and its stand-in.
pub type Masked = (Range<usize>, String);

impl Mask {
    /// The mask with other names, and the stand-ins given so far.
    pub fn with_names(&self, known: KnownNames) -> Self {
        Self {
            known: Arc::new(known),
            stand_ins: Arc::clone(&self.stand_ins),
        }
    }

    /// The text with stand-ins.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = self.find(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut out, mut at) = (String::with_capacity(text.len()), 0);
        for (place, stand_in) in found {
            out.push_str(&text[at..place.start]);
            out.push_str(&stand_in);
            at = place.end;
        }
        out.push_str(&text[at..]);
        Cow::Owned(out)
    }

    /// The stand-in of a host by its name alone.
    pub fn host(&self, name: &str) -> String {
        let rest = name.split_once("://").map_or(name, |(_, rest)| rest);
        self.text(rest.trim_end_matches('/')).into_owned()
    }

    /// UTF-8 bytes with stand-ins; other bytes remain as they are.
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        match std::str::from_utf8(bytes).map(|text| self.text(text)) {
            Ok(Cow::Owned(text)) => Cow::Owned(text.into_bytes()),
            Ok(Cow::Borrowed(_)) | Err(_) => Cow::Borrowed(bytes),
        }
    }

    /// The value of a header, parameter or field with stand-ins, where its name is known but not
    /// part of the text.
    pub fn named<'a>(&self, name: &str, value: &'a str) -> Cow<'a, str> {
        let Some(place) = secrets::place_in(name, value) else {
            return self.text(value);
        };
        let mut stand_ins = self
            .stand_ins
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let secret = &value[place.clone()];
        if stand_ins.is_given(secret) {
            return Cow::Borrowed(value);
        }
        let stand_in = stand_ins.of(MaskedKind::Token, secret);
        Cow::Owned([&value[..place.start], &stand_in, &value[place.end..]].concat())
    }

    /// Masks every string of a JSON value; the names of fields remain.
    pub fn json(&self, value: &mut Value) {
        self.field("", value);
    }

    /// Masks the value of a field. HTTP archives store headers, parameters and cookies as
    /// `{"name": …, "value": …}`; such a pair in a list of secrets is a secret too.
    fn field(&self, name: &str, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(masked) = self.named(name, text) {
                    *text = masked;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.field(name, item)),
            Value::Object(fields) => {
                let pair = fields
                    .get("name")
                    .and_then(Value::as_str)
                    .filter(|_| fields.contains_key("value"));
                let pair = pair.map(|own| {
                    if secrets::is_name(own) {
                        own.to_owned()
                    } else {
                        name.to_owned()
                    }
                });
                for (key, field) in fields.iter_mut() {
                    match &pair {
                        Some(of_value) if key == "value" => self.field(of_value, field),
                        _ => self.field(key, field),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The texts to mask, in their order.
    pub fn find(&self, text: &str) -> Vec<Masked> {
        let mut stand_ins = self
            .stand_ins
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let (mut found, mut at) = (Vec::new(), 0);
        while let Some(captures) = FORMS.captures_at(text, at) {
            let whole = captures.get_match();
            at = whole.end();
            match self.masked(text, &captures, &stand_ins) {
                MaskStep::Mask(place, kind, original) => {
                    at = place.end.max(whole.start() + 1);
                    found.push((place, stand_ins.of(kind, &original)));
                }
                MaskStep::Continue(from) => at = from,
                MaskStep::Keep => {}
            }
        }
        found
    }

    fn masked(&self, text: &str, captures: &Captures<'_>, stand_ins: &StandIns) -> MaskStep {
        let group = |name: &str| captures.name(name).map(|found| found.range());
        let is_given = |place: &Range<usize>| stand_ins.is_given(&text[place.clone()]);
        let mask = |place: Range<usize>, kind| {
            let original = text[place.clone()].to_owned();
            MaskStep::Mask(place, kind, original)
        };
        for name in ["login", "credentials", "web_token"] {
            if let Some(place) = group(name) {
                return if is_given(&place) {
                    MaskStep::Keep
                } else {
                    mask(place, MaskedKind::Token)
                };
            }
        }
        if let Some(place) = group("mail") {
            return mask(place, MaskedKind::User);
        }
        if let Some(place) = group("v6") {
            let is_part = |letter: Option<char>| {
                letter.is_some_and(|letter| letter.is_alphanumeric() || letter == ':')
            };
            let stands_alone = !is_part(text[place.end..].chars().next())
                && !is_part(text[..place.start].chars().last());
            return match text[place.clone()].parse::<IpAddr>() {
                Ok(_) if stands_alone => mask(place, MaskedKind::Address),
                // A time or a name: its parts are looked at one by one.
                _ => MaskStep::Continue(
                    place.start + text[place].find(':').map_or(1, |colon| colon + 1),
                ),
            };
        }
        match group("word") {
            Some(place) => self.word(text, place, stand_ins),
            None => MaskStep::Keep,
        }
    }

    /// A word: a host, an address, a token, the beginning of a name, or the name of a secret behind
    /// it.
    fn word(&self, text: &str, place: Range<usize>, stand_ins: &StandIns) -> MaskStep {
        let word = text[place.clone()].trim_end_matches(['.', '-']);
        let place = place.start..place.start + word.len();
        let lower = word.to_lowercase();
        if stand_ins.given.contains(word) {
            return MaskStep::Continue(place.end.max(place.start + 1));
        }
        let mask = |kind| MaskStep::Mask(place.clone(), kind, word.to_owned());
        if word.len() > LONGEST_WORD {
            return mask(MaskedKind::Token);
        }
        if self.known.is_host(&lower) {
            return mask(MaskedKind::Host);
        }
        if word.parse::<IpAddr>().is_ok() {
            return mask(MaskedKind::Address);
        }
        if text[place.end..].starts_with('…')
            && let Some(host) = self.known.beginning_with(&lower)
        {
            return MaskStep::Mask(place, MaskedKind::Host, host.to_owned());
        }
        if is_token(word) {
            return mask(MaskedKind::Token);
        }
        // A name, or one of the parts of a compound word.
        let starts =
            std::iter::once(0).chain(word.match_indices(['-', '_', '.']).map(|(at, _)| at + 1));
        for start in starts {
            let from = place.start + start;
            if let Some((end, kind)) = self.name_at(text, from) {
                return MaskStep::Mask(from..end, kind, text[from..end].to_owned());
            }
        }
        match secrets::place_after(text, &place) {
            Some(secret) if stand_ins.is_given(&text[secret.clone()]) => {
                MaskStep::Continue(secret.end)
            }
            Some(secret) => {
                MaskStep::Mask(secret.clone(), MaskedKind::Token, text[secret].to_owned())
            }
            None => MaskStep::Continue(place.end.max(place.start + 1)),
        }
    }

    /// The known name at a position: its end and kind.
    fn name_at(&self, text: &str, from: usize) -> Option<(usize, MaskedKind)> {
        let word = WORD
            .find_at(text, from)
            .filter(|word| word.start() == from)?;
        let part = word
            .as_str()
            .split(['-', '_', '.'])
            .next()
            .unwrap_or_default();
        let trimmed = word.as_str().trim_end_matches(['.', '-']);
        let firsts = [word.as_str(), trimmed, part];
        let names = firsts
            .iter()
            .filter_map(|first| self.known.names.get(&first.to_lowercase()))
            .flatten();
        let fits = |(name, kind): &(String, MaskedKind)| {
            let end = end_of(&text[from..], name)? + from;
            let is_whole = !text[end..].starts_with(char::is_alphanumeric);
            is_whole.then_some((end, *kind))
        };
        names.filter_map(fits).max_by_key(|(end, _)| *end)
    }
}

/// The outcome of one recognised form.
enum MaskStep {
    /// The place, and the text that the stand-in is for.
    Mask(Range<usize>, MaskedKind, String),
    /// Nothing to mask up to here.
    Continue(usize),
    /// Nothing to mask in it.
    Keep,
}

/// The length of the text that equals a lower-case name at the beginning.
fn end_of(text: &str, name: &str) -> Option<usize> {
    let mut letters = name.chars();
    let mut end = 0;
    while let Some(letter) = letters.next() {
        let other = text[end..].chars().next()?;
        let mut lower = other.to_lowercase();
        if lower.next() != Some(letter) || lower.any(|more| letters.next() != Some(more)) {
            return None;
        }
        end += other.len_utf8();
    }
    Some(end)
}

/// A long text of letters and digits, as keys and session ids are.
fn is_token(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let is_mixed = digits >= 4 && digits < word.len();
    word.len() >= TOKEN
        && is_mixed
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

static WORD: LazyLock<Regex> = LazyLock::new(|| compiled(r"[\p{L}\p{N}_][\p{L}\p{N}_.-]*"));

static FORMS: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r#"(?x)
        # Escapes of JSON and URLs separate words; a URL in a parameter of a URL is escaped twice: `%252F`. After a percent
        # sign only delimiters are codes: in `%2510.1.2.3` it is followed by an address.
          \\(?:[nrtbf]|u[0-9a-fA-F]{4}) | %(?:25)+(?i:2[0-9a-f]|3[a-f]|40|5[b-f]|7[b-e]|0[9ad]) | %[0-9a-fA-F]{2}
        | ://(?P<login>[^\s/@"'<>]+)@
        | \b(?i:bearer|basic|digest)\s+(?P<credentials>[A-Za-z0-9._~+/=-]{8,})
        | (?P<web_token>\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?)
        # Few signs of plus: a text of nothing else would be searched to its end for each of its words.
        | (?P<mail>[\p{L}\p{N}_.-]+(?:\+[\p{L}\p{N}_.-]*){0,4}@[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*)
        | (?P<v6>[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}(?:\.[0-9]{1,3}){0,3})
        | (?P<word>[\p{L}\p{N}_][\p{L}\p{N}_.-]*)"#,
    )
});

/// A pattern of this file. The tests compile all of them.
#[allow(clippy::expect_used)]
fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a valid pattern")
}
