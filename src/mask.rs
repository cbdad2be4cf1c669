//! The privacy mask: stand-ins for hosts, addresses, names and tokens in any text.
//!
//! ```text
//!   names of the data ─► KnownNames ─┐
//!                                    ├─ Mask ─► text ─► the same text with `host-3`, `ip-7`, `user-2`, `token-4` …
//!   stand-ins given so far ──────────┘
//! ```
//!
//! Known names are targets, workspaces, loggers, users and the profile. Addresses, logins, e-mail addresses and tokens are recognised
//! by their form, and other secrets by the name before them (`secrets`): a header, a parameter or a field of JSON. A text
//! has the same stand-in as long as the program runs, and a masked text can be masked again.

mod secrets;

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
/// Longest word that is searched for names; a longer one is a token as a whole. Searching all of its parts would take the
/// square of its length, and captures contain what anyone sends.
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
        let host = host.split(':').next().unwrap_or_default().trim_matches('.').to_lowercase();
        let is_name = host.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '.' | '-' | '_'));
        if host.is_empty() || !is_name || host.parse::<IpAddr>().is_ok() {
            return;
        }
        self.domains.extend(domain(&host).map(str::to_owned));
        self.hosts.insert(host);
    }

    /// Adds a name that is not a host.
    pub fn add(&mut self, name: &str, kind: MaskedKind) {
        let name = name.trim().to_lowercase();
        let Some(first) = WORD.find(&name) else { return };
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
            || name.match_indices('.').any(|(dot, _)| self.hosts.contains(&name[dot + 1..]) || below(dot + 1))
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
    let length: usize = labels[labels.len() - count..].iter().map(|label| label.len() + 1).sum();
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
        self.given.contains(text.trim_end_matches(|letter: char| !letter.is_alphanumeric()))
    }
}

/// A mask with the names that are known now.
///
/// Frames, copies and files that a task writes share the stand-ins, hence the lock. Nothing else reads them.
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
        Self { known: Arc::new(known), stand_ins: Arc::clone(&self.stand_ins) }
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

    /// The value of a header, parameter or field with stand-ins, where its name is known but not part of the text.
    pub fn named<'a>(&self, name: &str, value: &'a str) -> Cow<'a, str> {
        let Some(place) = secrets::place_in(name, value) else { return self.text(value) };
        let mut stand_ins = self.stand_ins.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// Masks the value of a field. HTTP archives store headers, parameters and cookies as `{"name": …, "value": …}`; such
    /// a pair in a list of secrets is a secret too.
    fn field(&self, name: &str, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(masked) = self.named(name, text) {
                    *text = masked;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.field(name, item)),
            Value::Object(fields) => {
                let pair = fields.get("name").and_then(Value::as_str).filter(|_| fields.contains_key("value"));
                let pair = pair.map(|own| if secrets::is_name(own) { own.to_owned() } else { name.to_owned() });
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
        let mut stand_ins = self.stand_ins.lock().unwrap_or_else(PoisonError::into_inner);
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
                return if is_given(&place) { MaskStep::Keep } else { mask(place, MaskedKind::Token) };
            }
        }
        if let Some(place) = group("mail") {
            return mask(place, MaskedKind::User);
        }
        if let Some(place) = group("v6") {
            let is_part = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == ':');
            let stands_alone =
                !is_part(text[place.end..].chars().next()) && !is_part(text[..place.start].chars().last());
            return match text[place.clone()].parse::<IpAddr>() {
                Ok(_) if stands_alone => mask(place, MaskedKind::Address),
                // A time or a name: its parts are looked at one by one.
                _ => MaskStep::Continue(place.start + text[place].find(':').map_or(1, |colon| colon + 1)),
            };
        }
        match group("word") {
            Some(place) => self.word(text, place, stand_ins),
            None => MaskStep::Keep,
        }
    }

    /// A word: a host, an address, a token, the beginning of a name, or the name of a secret behind it.
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
        let starts = std::iter::once(0).chain(word.match_indices(['-', '_', '.']).map(|(at, _)| at + 1));
        for start in starts {
            let from = place.start + start;
            if let Some((end, kind)) = self.name_at(text, from) {
                return MaskStep::Mask(from..end, kind, text[from..end].to_owned());
            }
        }
        match secrets::place_after(text, &place) {
            Some(secret) if stand_ins.is_given(&text[secret.clone()]) => MaskStep::Continue(secret.end),
            Some(secret) => MaskStep::Mask(secret.clone(), MaskedKind::Token, text[secret].to_owned()),
            None => MaskStep::Continue(place.end.max(place.start + 1)),
        }
    }

    /// The known name at a position: its end and kind.
    fn name_at(&self, text: &str, from: usize) -> Option<(usize, MaskedKind)> {
        let word = WORD.find_at(text, from).filter(|word| word.start() == from)?;
        let part = word.as_str().split(['-', '_', '.']).next().unwrap_or_default();
        let trimmed = word.as_str().trim_end_matches(['.', '-']);
        let firsts = [word.as_str(), trimmed, part];
        let names = firsts.iter().filter_map(|first| self.known.names.get(&first.to_lowercase())).flatten();
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
    word.len() >= TOKEN && is_mixed && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

static WORD: LazyLock<Regex> = LazyLock::new(|| compiled(r"[\p{L}\p{N}_][\p{L}\p{N}_.-]*"));

static FORMS: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r#"(?x)
        # Escapes of JSON and URLs separate words.
          \\(?:[nrtbf]|u[0-9a-fA-F]{4}) | %[0-9a-fA-F]{2}
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

#[cfg(test)]
mod tests {
    use super::*;

    fn mask() -> Mask {
        let mut known = KnownNames::default();
        for host in ["https://shop.acme.test/login", "t1.acme.test:8443", "intranet", "10.1.2.3", "www.lab.co.uk"] {
            known.add_host(host);
        }
        known.add("Acme external", MaskedKind::Workspace);
        known.add("Acme", MaskedKind::Workspace);
        known.add("probe", MaskedKind::Logger);
        known.add("ann", MaskedKind::User);
        Mask::default().with_names(known)
    }

    fn masked(texts: &[&str]) -> Vec<String> {
        let mask = mask();
        texts.iter().map(|text| mask.text(text).into_owned()).collect()
    }

    #[test]
    fn long_hostile_text_is_masked_without_searching_it_again_for_each_word() {
        for part in ["a-", "a.", "a+", "key=(", "key=a=b; ", "key=\"\"a key='\"b ", "a:"] {
            let text = part.repeat((256 << 10) / part.len());
            mask().text(&text);
        }
        let slashes = format!("key={}", "\\".repeat(256 << 10));
        assert!(mask().text(&slashes).starts_with("key=token-1"));
    }

    #[test]
    fn hosts_of_targets_and_names_below_their_domains_are_masked() {
        let texts = ["https://Shop.acme.test/a?b", "db.acme.test.", "t1.acme.test:8443", "intranet", "x.lab.co.uk"];
        assert_eq!(masked(&texts), ["https://host-1/a?b", "host-2.", "host-3:8443", "host-4", "host-5"]);
        let public = ["https://owasp.org/www-project", "index.html", "acme.test.evil.org", "nginx 1.25.3", "co.uk"];
        assert_eq!(
            masked(&public),
            ["https://owasp.org/www-project", "index.html", "workspace-1.test.evil.org", "nginx 1.25.3", "co.uk"]
        );
    }

    #[test]
    fn stand_ins_are_stable_and_masked_again_unchanged() {
        let mask = mask();
        let once = mask.text("shop.acme.test and t1.acme.test, 10.1.2.3, ann, token=hunter2x").into_owned();
        assert_eq!(once, "host-1 and host-2, ip-1, user-1, token=token-1");
        assert_eq!(mask.text(&once), once);
        let later = mask.with_names(KnownNames::default());
        assert_eq!(later.text("10.1.2.3 10.1.2.4"), "ip-1 ip-2");
    }

    #[test]
    fn addresses_are_masked_and_times_and_paths_are_not() {
        let texts = ["from 203.0.113.9:443", "[2001:db8::1]:80", "::1", "at 12:30:45", "std::fmt::Debug", "1.2.3"];
        let expected = ["from ip-1:443", "[ip-2]:80", "ip-3", "at 12:30:45", "std::fmt::Debug", "1.2.3"];
        assert_eq!(masked(&texts), expected);
    }

    #[test]
    fn names_are_masked_as_whole_words_also_in_file_names() {
        let texts = ["ACME EXTERNAL › findings", "report-acme-external.csv", "probes and probe", "planned by ann"];
        let expected =
            ["workspace-1 › findings", "report-workspace-2-external.csv", "probes and logger-1", "planned by user-1"];
        assert_eq!(masked(&texts), expected);
    }

    #[test]
    fn secrets_are_masked_by_their_form() {
        let texts = [
            "authorization: Bearer abc.def-123456",
            "https://bob:pw@example.org/",
            "Cookie: sid=1; lang=en",
            r#"{"api_key": "k-123456"}"#,
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
            "0123456789abcdef0123456789abcdef",
            "mail bob@corp.example",
            "550e8400-e29b-41d4-a716-446655440000",
        ];
        let expected = [
            "authorization: Bearer token-1",
            "https://token-2@example.org/",
            "Cookie: token-3",
            r#"{"api_key": "token-4"}"#,
            "token-5",
            "token-6",
            "mail user-1",
            "550e8400-e29b-41d4-a716-446655440000",
        ];
        assert_eq!(masked(&texts), expected);
    }

    #[test]
    fn secrets_are_masked_by_the_name_before_them() {
        let texts = [
            "x-api-key: live_4242abcdEFGH",
            "X-Auth-Token: tok_9f8e7d6c5b",
            "Set-Cookie: sid=1; Path=/; HttpOnly",
            "proxy-authorization: Basic abcd",
            "/a?t=1&password=pw&key=AIza-1&page=2",
            "PHPSESSID=abc; sessionId=def",
            r#"{"clientSecret":"a b\"c","max":1}"#,
            r#"{"auth":["one"],"pin_token":123456,"key":null}"#,
            "curl -H \"authorization: Bearer $SCANDECK_API_KEY\"",
        ];
        let expected = [
            "x-api-key: token-1",
            "X-Auth-Token: token-2",
            "Set-Cookie: token-3; HttpOnly",
            "proxy-authorization: Basic token-4",
            "/a?t=1&password=token-5&key=token-6&page=2",
            "PHPSESSID=token-7; sessionId=token-8",
            r#"{"clientSecret":"token-9","max":1}"#,
            r#"{"auth":["token-10"],"pin_token":123456,"key":null}"#,
            "curl -H \"authorization: Bearer $SCANDECK_API_KEY\"",
        ];
        let masked = masked(&texts);
        assert_eq!(masked, expected);
        assert_eq!(mask_again(&masked), masked);
        let plain = [
            "Key: RSA-2048",
            "author: someone, keyboard=qwerty",
            "www-authenticate: Basic realm=\"x\"",
            "session: resumed",
            "my-key.example.org:8443",
        ];
        assert_eq!(self::masked(&plain), plain);
    }

    /// Masks texts with a mask that has given tokens already.
    fn mask_again(texts: &[String]) -> Vec<String> {
        let mask = mask();
        (1..=10).for_each(|number| _ = mask.text(&format!("password=earlier{number}")));
        texts.iter().map(|text| mask.text(text).into_owned()).collect()
    }

    #[test]
    fn secrets_are_masked_in_the_quotes_of_json_and_csv() {
        let body = r#"{"api_key":"sk_live_777","password":"pw in json","list":[1]}"#;
        let masked = r#"{"api_key":"token-1","password":"token-2","list":[1]}"#;
        let mask = mask();
        let (mut shown, mut text) = (masked.to_owned(), body.to_owned());
        for _ in 0..3 {
            assert_eq!(mask.text(&text), shown);
            (text, shown) = (serde_json::to_string(&text).unwrap(), serde_json::to_string(&shown).unwrap());
        }
        let csv = |text: &str| format!("1,\"{}\",2", text.replace('"', "\"\""));
        assert_eq!(mask.text(&csv(body)), csv(masked));
    }

    #[test]
    fn masked_header_ends_at_the_end_of_its_line() {
        let request = "cookie: session=abc; x=y\nauthorization: Bearer abcdefgh\ncontent-length: 141";
        let masked = "cookie: token-1\nauthorization: Bearer token-2\ncontent-length: 141";
        assert_eq!(mask().text(request), masked);
        let escaped = serde_json::to_string(request).unwrap();
        assert_eq!(mask().text(&escaped), serde_json::to_string(masked).unwrap());
    }

    #[test]
    fn value_is_masked_by_its_name_alone() {
        let mask = mask();
        assert_eq!(mask.text("Cookie: sid=1; lang=en"), "Cookie: token-1");
        assert_eq!(mask.named("cookie", "sid=1; lang=en"), "token-1");
        assert_eq!(mask.named("Authorization", "Bearer abcdefgh"), "Bearer token-2");
        assert_eq!(mask.named("password", "token-1"), "token-1");
        assert_eq!(mask.named("referer", "https://shop.acme.test/"), "https://host-1/");
    }

    #[test]
    fn escapes_and_cut_names_are_recognized() {
        let texts = [r#""Host:\nshop.acme.test""#, "u=https%3A%2F%2Fshop.acme.test%2F", "shop.ac…", "sho…"];
        assert_eq!(masked(&texts), [r#""Host:\nhost-1""#, "u=https%3A%2F%2Fhost-1%2F", "host-1…", "sho…"]);
    }

    #[test]
    fn json_is_masked_in_its_strings() {
        let mut value = serde_json::json!({ "target": "shop.acme.test", "all": ["10.1.2.3", 7], "probe": null });
        mask().json(&mut value);
        assert_eq!(value, serde_json::json!({ "target": "host-1", "all": ["ip-1", 7], "probe": null }));
        let mut archive = serde_json::json!({
            "cookies": [{ "name": "sid", "value": "a b" }],
            "queryString": [{ "name": "password", "value": "pw" }, { "name": "page", "value": "2" }],
            "settings": { "secrets": ["one"], "author": "bob" },
        });
        mask().json(&mut archive);
        let expected = serde_json::json!({
            "cookies": [{ "name": "sid", "value": "token-1" }],
            "queryString": [{ "name": "password", "value": "token-2" }, { "name": "page", "value": "2" }],
            "settings": { "secrets": ["token-3"], "author": "bob" },
        });
        assert_eq!(archive, expected);
    }
}
