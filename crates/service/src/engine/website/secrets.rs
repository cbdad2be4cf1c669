//! Secrets in public texts, by the formats that their issuers document
//! (`assets/engine/secrets.toml`).
//!
//! ```text
//!   text ──► fixed words of all formats, one pass ──► pattern of the format around a word
//!        ──► boundary, context, sample? ──► SecretMatch: name, masked value, place
//! ```
//!
//! Nothing is sent and nothing is tried: whether a secret is valid remains unknown.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

use super::web_tokens::{TokenVerdict, judge};
use crate::engine::blocking::StopFlag;
use crate::engine::secret_digest::SecretHash;

/// Bytes after a word in which its secret ends; a private key is the longest.
const LONGEST: usize = 10 * 1024;
/// The same for patterns that begin before their word.
const LONGEST_AROUND: usize = 512;
/// Bytes before and after a secret that belong to its context.
const NEAR: usize = 300;
/// Secrets of one format in one text.
const MOST_OF_FORMAT: usize = 5;

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretMatch {
    pub name: String,
    /// The masked value, with line and column: `AKIAQ3EG…BNM7 (12:8)`.
    pub shown: String,
    /// Everybody may know it.
    pub is_public: bool,
    pub hash: SecretHash,
}

/// How a match of a format is judged.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum SecretForm {
    /// A random text.
    #[default]
    Token,
    /// User, password and host.
    Address,
    /// The signature of an address, and what it permits.
    Signature,
    /// A private key in PEM form.
    Key,
    /// A JSON Web Token.
    TokenOfJson,
}

/// An entry of the data file, which explains the fields.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, serde(deny_unknown_fields))]
struct SecretFormat {
    name: String,
    words: Vec<String>,
    pattern: String,
    #[serde(default)]
    before: usize,
    #[serde(default)]
    inside: bool,
    near: Option<String>,
    not_after: Option<String>,
    #[serde(default)]
    form: SecretForm,
    #[cfg(test)]
    source: String,
    #[cfg(test)]
    secret: Vec<String>,
    #[cfg(test)]
    sample: Vec<String>,
    #[serde(skip)]
    patterns: OnceLock<Option<FormatPatterns>>,
}

#[derive(Debug)]
struct FormatPatterns {
    secret: Regex,
    near: Option<Regex>,
    not_after: Option<Regex>,
}

#[derive(Debug, Default, Deserialize)]
struct SecretFile {
    secrets: Vec<SecretFormat>,
}

static FORMATS: LazyLock<SecretFile> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../assets/engine/secrets.toml")).unwrap_or_default()
});

/// The words of all formats as one pattern, and the formats of each word.
struct FormatWords {
    pattern: Regex,
    formats: HashMap<&'static [u8], Vec<&'static SecretFormat>>,
}

static WORDS: LazyLock<Option<FormatWords>> = LazyLock::new(|| {
    let mut formats: HashMap<&[u8], Vec<&SecretFormat>> = HashMap::new();
    for format in &FORMATS.secrets {
        for word in &format.words {
            formats.entry(word.as_bytes()).or_default().push(format);
        }
    }
    let words: BTreeSet<String> = FORMATS
        .secrets
        .iter()
        .flat_map(|format| &format.words)
        .map(|word| regex::escape(word))
        .collect();
    let pattern = compiled(&words.into_iter().collect::<Vec<_>>().join("|"))?;
    Some(FormatWords { pattern, formats })
});

/// A pattern over bytes: classes such as `\w` are ASCII.
fn compiled(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).unicode(false).build().ok()
}

impl SecretFormat {
    fn patterns(&self) -> Option<&FormatPatterns> {
        let compile = || {
            let anchor = if self.before == 0 { r"\A" } else { "" };
            let secret = compiled(&format!("{anchor}(?:{})", self.pattern))?;
            let optional = |pattern: &Option<String>| pattern.as_deref().and_then(compiled);
            Some(FormatPatterns {
                secret,
                near: optional(&self.near),
                not_after: optional(&self.not_after),
            })
        };
        self.patterns.get_or_init(compile).as_ref()
    }

    /// The secret around a word, as the ranges of the match and of the part that is random.
    fn around(&self, text: &[u8], word: &Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
        let from = word.start.saturating_sub(self.before);
        let longest = if self.before > 0 && self.form != SecretForm::Key {
            LONGEST_AROUND
        } else {
            LONGEST
        };
        let window = &text[from..text.len().min(word.start + longest)];
        let patterns = self.patterns()?;
        let mut all = patterns.secret.captures_iter(window).filter_map(|found| {
            let whole = found.get(0)?.range();
            let part = found
                .iter()
                .skip(1)
                .flatten()
                .next()
                .map_or(whole.clone(), |part| part.range());
            Some((
                whole.start + from..whole.end + from,
                part.start + from..part.end + from,
            ))
        });
        let (whole, part) = all.find(|(whole, _)| whole.end >= word.end)?;
        let is_around =
            whole.start <= word.start && (self.inside || begins_word(text, whole.start));
        let before = &text[whole.start.saturating_sub(NEAR)..whole.start];
        let context = &text[whole.start.saturating_sub(NEAR)..text.len().min(whole.end + NEAR)];
        let is_public_use = patterns
            .not_after
            .as_ref()
            .is_some_and(|pattern| pattern.is_match(before));
        let is_near = patterns
            .near
            .as_ref()
            .is_none_or(|pattern| pattern.is_match(context));
        (is_around && is_near && !is_public_use).then_some((whole, part))
    }

    /// The secret without its place, unless the match is a sample.
    fn judged(
        &self,
        text: &[u8],
        (whole, part): (&Range<usize>, &Range<usize>),
    ) -> Option<SecretMatch> {
        let [secret, random] =
            [whole, part].map(|range| String::from_utf8_lossy(&text[range.clone()]));
        let shown = if whole == part {
            masked_token(&secret)
        } else {
            masked(&random)
        };
        let named = |name: &str| SecretMatch {
            name: name.to_owned(),
            shown: shown.clone(),
            is_public: false,
            hash: SecretHash::of(&random),
        };
        let is_sample = match self.form {
            SecretForm::Token => is_sample_token(&secret, &random),
            SecretForm::Key => is_sample_key(&random),
            SecretForm::Address => is_sample_address(&secret, &random),
            SecretForm::Signature => is_sample_token(&secret, &random) || !permits_changes(&secret),
            SecretForm::TokenOfJson => false,
        };
        match self.form {
            _ if is_sample => None,
            SecretForm::Key if is_of_service_account(text, whole) => {
                Some(named("Google service account key"))
            }
            SecretForm::TokenOfJson => match judge(&secret)? {
                TokenVerdict::Sample => None,
                TokenVerdict::Public => Some(SecretMatch {
                    is_public: true,
                    ..named(&self.name)
                }),
                TokenVerdict::Secret(name) => Some(named(name)),
            },
            SecretForm::Token | SecretForm::Key | SecretForm::Address | SecretForm::Signature => {
                Some(named(&self.name))
            }
        }
    }
}

/// The secrets in a text, each value once. A secret that ends with the text of a body that may be
/// cut is not whole.
pub fn search(text: &str, may_be_cut: bool, stop: &StopFlag) -> Vec<SecretMatch> {
    let Some(words) = WORDS.as_ref() else {
        return Vec::new();
    };
    let (bytes, mut found, mut seen) = (text.as_bytes(), Vec::new(), BTreeSet::new());
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in words
        .pattern
        .find_iter(bytes)
        .take_while(|_| !stop.is_set())
    {
        for format in words.formats.get(word.as_bytes()).into_iter().flatten() {
            let count = counts.entry(format.name.as_str()).or_default();
            let around = if *count < MOST_OF_FORMAT {
                format.around(bytes, &word.range())
            } else {
                None
            };
            let Some((whole, part)) = around else {
                continue;
            };
            if (may_be_cut && whole.end == bytes.len()) || !seen.insert(&bytes[part.clone()]) {
                continue;
            }
            let Some(secret) = format.judged(bytes, (&whole, &part)) else {
                continue;
            };
            *count += 1;
            found.push(SecretMatch {
                shown: format!("{} ({})", secret.shown, place_of(text, part.start)),
                ..secret
            });
        }
    }
    found
}

/// Where the secrets in a text are, in their order.
pub fn places(text: &str) -> Vec<Range<usize>> {
    let Some(words) = WORDS.as_ref() else {
        return Vec::new();
    };
    let (bytes, mut found) = (text.as_bytes(), Vec::new());
    for word in words.pattern.find_iter(bytes) {
        for format in words.formats.get(word.as_bytes()).into_iter().flatten() {
            let Some((whole, part)) = format.around(bytes, &word.range()) else {
                continue;
            };
            let secret = format.judged(bytes, (&whole, &part));
            if secret.is_some_and(|secret| !secret.is_public) {
                found.push(part);
            }
        }
    }
    found.sort_by_key(|part| part.start);
    found
}

/// Line and column of a byte, as editors and compilers write them: `12:8`. Without words, so that
/// evidence of earlier versions counts as the same.
fn place_of(text: &str, at: usize) -> String {
    let before = &text[..text.floor_char_boundary(at)];
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        + 1;
    format!("{line}:{column}")
}

/// Whether a secret may begin here: after no letter or digit, or after an escape such as `\n`,
/// `%22` or `\u0026`.
fn begins_word(text: &[u8], at: usize) -> bool {
    let before = &text[..at];
    let is_letter = before
        .last()
        .is_some_and(|last| last.is_ascii_alphanumeric() || *last == b'_');
    let is_escape = matches!(
        before,
        [.., b'\\', b'n' | b'r' | b't']
            | [.., b'%', _, _]
            | [.., b'\\', b'x', _, _]
            | [.., b'\\', b'u', _, _, _, _]
    );
    !is_letter || is_escape
}

/// Words of secrets in documentation.
#[rustfmt::skip]
const SAMPLE_WORDS: &[&str] = &[
    "example", "xxxx", "your", "1234567890", "0123456789", "abcdefgh", "changeme", "sample", "dummy", "placeholder", "fake",
    "redacted", "0000000", "aaaaaaa", "test_key", "not-a-real", "deadbeef", "insert", "replace", "verylong",
];
/// Secrets that documentation publishes, in lower case: of Telegram, of the storage emulator of
/// Azure, of Amazon Cognito.
#[rustfmt::skip]
const PUBLISHED: &[&str] = &[
    "hdqtcvch1vgwjxfseofsas0k5paldsaw", "eby8vdm02xnocqflquwjpllmetlcdxj1ouzft50usrz6ifsu", "13ka4h7u28d9oo44tqpq9djqsfvh",
];
/// Passwords of addresses in documentation.
#[rustfmt::skip]
const SAMPLE_PASSWORDS: &[&str] = &[
    "pass", "password", "passwd", "pwd", "secret", "mypassword", "mysecret", "mypass", "my-password", "pw1234", "1234",
    "12345", "123456", "mysecretpassword", "hunter2", "foobar", "s3cr3t", "passw0rd", "p@ssw0rd",
];
/// Hosts of addresses in documentation.
#[rustfmt::skip]
const SAMPLE_HOSTS: &[&str] = &[
    "localhost", "127.0.0.1", "0.0.0.0", "host", "hostname", "server", "servername", "myserveraddress", "myserver", "(local)",
    "(localdb)", ".", "example.com", "example.org", "example.net",
];
/// Different letters of the shortest secret.
const SECRET_LETTERS: usize = 8;

/// Whether a text contains a word of documentation.
pub fn has_sample_word(lower: &str) -> bool {
    SAMPLE_WORDS
        .iter()
        .chain(PUBLISHED)
        .any(|word| lower.contains(word))
}

/// Whether a match only shows the form of a secret. `random` is its part without the fixed
/// beginning, if that is known.
fn is_sample_token(secret: &str, random: &str) -> bool {
    let lower = secret.to_ascii_lowercase();
    // Stripe sends these to browsers, one for each payment.
    let is_of_payment = ["pi_", "seti_", "cs_"]
        .iter()
        .any(|start| random.starts_with(start))
        && random.contains("_secret_");
    let longest = longest_word(random).to_ascii_lowercase();
    let is_varied = letters(&longest) >= SECRET_LETTERS
        || (letters(random) >= 2 * SECRET_LETTERS && has_digit(random));
    // A long text without a digit is a sentence or an identifier.
    let is_text = 2 * longest.len() < random.len() && !has_digit(random);
    is_of_payment || !is_varied || is_text || is_sequence(&longest) || has_sample_word(&lower)
}

/// Whether a private key is cut short for display.
fn is_sample_key(body: &str) -> bool {
    let start: String = body
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(64)
        .collect();
    let length = body.chars().filter(char::is_ascii_alphanumeric).count();
    // The shortest one, Ed25519, has 64 letters.
    length < 56
        || letters(&start) < SECRET_LETTERS
        || is_sequence(&start[start.len() / 2..])
        || has_sample_word(&start.to_ascii_lowercase())
}

/// Whether the user, password or host of an address are those of documentation.
fn is_sample_address(address: &str, password: &str) -> bool {
    let lower = address.to_ascii_lowercase();
    let (user, password, host) = match lower.replace("\\/", "/").split_once("://") {
        Some((_, rest)) => {
            let (login, host) = rest.rsplit_once('@').unwrap_or_default();
            let (user, password) = login.split_once(':').unwrap_or_default();
            (user.to_owned(), password.to_owned(), host.to_owned())
        }
        None => {
            let host = lower.split_once('=').map_or("", |(_, rest)| rest);
            let host = host
                .trim_start_matches("tcp:")
                .split([';', ',', ':', '\\'])
                .next()
                .unwrap_or_default();
            (
                String::new(),
                password.to_ascii_lowercase(),
                host.to_owned(),
            )
        }
    };
    user == password
        || SAMPLE_PASSWORDS.contains(&password.as_str())
        || SAMPLE_HOSTS.contains(&host.as_str())
        || ["mypassword", "yourpassword"]
            .iter()
            .any(|word| password.contains(word))
        || has_sample_word(&lower)
}

/// Whether a shared access signature permits more than reading a file, as links to files do.
fn permits_changes(address: &str) -> bool {
    let permissions = address
        .trim_start_matches("sp=")
        .split('&')
        .next()
        .unwrap_or_default();
    permissions
        .split('\\')
        .next()
        .is_some_and(|letters| letters.contains(['w', 'd', 'l', 'a', 'c', 'u', 'p']))
}

fn is_of_service_account(text: &[u8], key: &Range<usize>) -> bool {
    let context = &text[key.start.saturating_sub(NEAR)..text.len().min(key.end + NEAR)];
    String::from_utf8_lossy(context).contains("service_account")
}

fn has_digit(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
}

/// The number of different letters and digits.
fn letters(text: &str) -> usize {
    text.chars()
        .filter(char::is_ascii_alphanumeric)
        .collect::<BTreeSet<char>>()
        .len()
}

/// The longest part between separators.
fn longest_word(text: &str) -> &str {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .max_by_key(|part| part.len())
        .unwrap_or_default()
}

/// Whether most letters continue the alphabet, such as `abcdef` or `a1b2c3`, or repeat.
fn is_sequence(text: &str) -> bool {
    let bytes = text.as_bytes();
    let continues = |step: usize| {
        let pairs = bytes.iter().zip(bytes.iter().skip(step));
        let follows = pairs
            .filter(|(one, next)| **next == **one || one.checked_add(1) == Some(**next))
            .count();
        2 * follows > bytes.len().saturating_sub(step)
    };
    bytes.len() > 3 && (continues(1) || continues(2))
}

/// Enough of a secret to find it: of a long one, its first four and last two characters.
pub fn masked(secret: &str) -> String {
    match secret.chars().count() {
        0..8 => ends(secret, 1, 0),
        8..12 => ends(secret, 2, 1),
        _ => ends(secret, 4, 2),
    }
}

/// More of a token whose beginning is fixed.
fn masked_token(token: &str) -> String {
    if token.chars().count() < 20 {
        masked(token)
    } else {
        ends(token, 8, 4)
    }
}

/// The first and the last characters of a text.
fn ends(text: &str, first: usize, last: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    let (first, last) = (
        letters.iter().take(first),
        letters.iter().skip(letters.len().saturating_sub(last)),
    );
    format!("{}…{}", first.collect::<String>(), last.collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::engine::ScanLimits;

    fn found(text: &str) -> Vec<SecretMatch> {
        search(text, false, &StopFlag::default())
    }

    fn names(text: &str) -> Vec<String> {
        found(text)
            .into_iter()
            .filter(|one| !one.is_public)
            .map(|one| one.name)
            .collect()
    }

    #[test]
    fn each_format_finds_its_secrets_and_no_sample() {
        let file: SecretFile =
            toml::from_str(include_str!("../../../assets/engine/secrets.toml")).unwrap();
        assert!(file.secrets.len() >= 45 && WORDS.is_some());
        let mut wrong = Vec::new();
        for format in &file.secrets {
            let name = &format.name;
            assert!(
                format.patterns().is_some() && format.source.starts_with("https://"),
                "{name}"
            );
            assert!(
                format.near.is_none() || format.patterns().unwrap().near.is_some(),
                "{name}"
            );
            assert!(
                format.not_after.is_none() || format.patterns().unwrap().not_after.is_some(),
                "{name}"
            );
            assert!(
                !format.secret.is_empty() || format.form == SecretForm::TokenOfJson,
                "{name}"
            );
            for secret in format.secret.iter().map(|text| text.replace('¦', "")) {
                let names = names(&secret);
                let is_named =
                    names.contains(name) || (format.form == SecretForm::Key && !names.is_empty());
                if !is_named {
                    wrong.push(format!("{name}: missed {secret}: {names:?}"));
                }
                for one in found(&secret) {
                    assert!(!one.shown.contains(&secret), "{name}");
                }
            }
            for sample in format.sample.iter().map(|text| text.replace('¦', "")) {
                let names = names(&sample);
                if !names.is_empty() {
                    wrong.push(format!("{name}: {names:?} in {sample}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn service_account_is_named() {
        let json = r#"{"type":"service_account","private_key":"-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ9kQ2mZx7Lw3Rk8Tb1Vn4Yc6Hs5Jd0Fgq7PouIe8XaV\n-----END PRIVATE KEY-----\n"}"#;
        assert_eq!(names(json), ["Google service account key"]);
    }

    #[test]
    fn place_is_line_and_column_of_the_secret() {
        for (text, place) in [
            ("const k = 'AKIAQ3EGRMTWZXCVBNM7'", "AKIAQ3EG…BNM7 (1:12)"),
            ("a\nb = 'AKIAQ3EGRMTWZXCVBNM7'", "AKIAQ3EG…BNM7 (2:6)"),
            ("é\né = 'AKIAQ3EGRMTWZXCVBNM7'", "AKIAQ3EG…BNM7 (2:6)"),
            (r"'x\nAKIAQ3EGRMTWZXCVBNM7\n'", "AKIAQ3EG…BNM7 (1:5)"),
        ] {
            assert_eq!(found(text)[0].shown, place, "{text}");
        }
        let line = format!("{}'AKIAQ3EGRMTWZXCVBNM7'", "x=1;".repeat(100_000));
        assert_eq!(found(&line)[0].shown, "AKIAQ3EG…BNM7 (1:400002)");
    }

    #[test]
    fn secret_at_the_end_of_a_cut_text_is_not_reported() {
        let text = "const k = 'sk_live_9fQ2mZx7Lw3Rk8Tb1Vn4Yc6H";
        assert_eq!(search(text, true, &StopFlag::default()), []);
        assert_eq!(found(text).len(), 1);
        let half = "key = '-----BEGIN PRIVATE KEY-----\\nMC4CAQAwBQYDK2VwBCIEIJ9kQ2mZx7Lw3Rk8Tb1Vn4Yc6Hs5Jd0Fgq7PouIe8XaV";
        assert_eq!(search(half, true, &StopFlag::default()), []);
    }

    #[test]
    fn part_without_fixed_beginning_is_masked_more() {
        assert_eq!(
            found("{clientSecret:'9kQ2mZx7Lw3Rk8Tb1Vn4Yc6H'}")[0].shown,
            "9kQ2…6H (1:16)"
        );
        assert_eq!(
            ["hunter2", "hunter22", "hunter22hunter22"].map(masked),
            ["h…", "hu…2", "hunt…22"]
        );
    }

    #[test]
    fn values_are_reported_once_and_a_few_of_each_format() {
        let key = "'AKIAQ3EGRMTWZXCVBNM7' ";
        assert_eq!(found(&key.repeat(3)).len(), 1);
        let many: String = (0..20)
            .map(|n| format!("'AKIAQ3EGRMTWZXCV{}BNM' ", char::from(b'A' + n)))
            .collect();
        assert_eq!(found(&many).len(), MOST_OF_FORMAT);
    }

    #[test]
    fn tokens_are_judged_by_their_contents() {
        let cases = [
            // Signed with "secret"; without a signature; of Supabase, for the server and for
            // browsers.
            (
                "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhbmEiLCJyb2xlIjoiYWRtaW4ifQ.",
                "secret",
            ),
            (
                "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbmEiLCJyb2xlIjoiYWRtaW4ifQ.",
                "none",
            ),
        ];
        let signed =
            super::super::web_tokens::signed_for_tests(cases[0].0.trim_end_matches('.'), b"secret");
        assert_eq!(
            names(&format!("t='{signed}'")),
            ["JSON Web Token with a well-known signing key"]
        );
        assert_eq!(
            names(&format!("t='{}'", cases[1].0)),
            ["JSON Web Token without a signature"]
        );
        let signed = super::super::web_tokens::signed_for_tests(
            cases[0].0.trim_end_matches('.'),
            b"9kQ2mZx7Lw3Rk8Tb1Vn4Yc",
        );
        let all = found(&format!("t='{signed}'"));
        assert_eq!((all.len(), all[0].is_public), (1, true));
    }

    #[test]
    fn bundle_of_the_largest_size_is_searched_in_bounded_time() {
        let largest = ScanLimits::default().script_bytes;
        let code = "function a(b,c){return b.sp=c.key-1,e.path[\"pat\"]?d(b.AA,'xoxo'):{client_secret:c,sk:eyJ}}\n";
        let mut text = code.repeat(largest / code.len());
        text.push_str("'AKIAQ3EGRMTWZXCVBNM7'");
        let start = Instant::now();
        assert_eq!(found(&text).len(), 1);
        assert!(
            start.elapsed() < Duration::from_secs(24),
            "{:?}",
            start.elapsed()
        );
    }
}
