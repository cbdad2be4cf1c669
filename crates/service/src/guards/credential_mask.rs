//! Replaces the credentials of a scan in its results: sites reflect what they receive, and
//! everybody with a key reads the results.
//!
//! ```text
//!   params.authentication ─► CredentialMask ─┐  ◄─ cookies and values of a log-in
//!   engine ─► ScanEvent, status message ─────┴─► the same with ••• ─► store
//! ```
//!
//! A credential is the value of a header, the part of it after a scheme (`Bearer`), each value in
//! the steps of a log-in and each that it takes from an answer, the value of a cookie, the password
//! in Basic, and each long part of a compound value, such as the signature of a JWT. It is found
//!
//! - in upper and lower case, with its characters escaped for URLs, HTML, JSON or JavaScript in any
//!   mix,
//! - in hexadecimal, base32, base64 and base85, also inside a longer encoded text,
//! - as the decimal numbers of its bytes, backwards, and split by dashes or blanks,
//! - and when only its beginning fits into the text.
//!
//! It is not found encrypted, hashed, compressed, in two encodings at once (hexadecimal of base64),
//! in other encodings (base58, uuencode, rot13, `0x73,0x33`), or split by other characters.
//!
//! A credential of fewer than [`SHORT`] characters is replaced only after its own name (`lang=de`):
//! a cookie with the value `1` must not replace every 1.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use percent_encoding::percent_decode_str;
use serde_json::Value;

use crate::engine::params::Authentication;
use crate::engine::params::login::LoginSequence;
use crate::engine::{LearnedSecret, NewFinding, ScanEvent, TestDone};
use scandeck_wire::contract::Evidence;
use scandeck_wire::contract::scan::HIDDEN;

/// Credentials of fewer bytes are replaced only together with their names.
const SHORT: usize = 6;
/// The part of a credential at the end of a cut text that is replaced.
const PART: usize = 6;
/// A part of a compound credential is one itself from this length on, unless it looks like a word.
const COMPOUND_PART: usize = 8;
/// How often a part of a credential is decoded: a cookie holds base64 of JSON.
const DECODINGS: usize = 3;

/// The first bytes of escapes, which may stand for any byte.
const ESCAPES: &[u8] = b"%\\&+-_";
/// Most separators between two bytes.
const MOST_SEPARATORS: usize = 2;

/// An encoding whose characters stand for so many bits each.
struct BitAlphabet {
    characters: &'static [u8],
    bits: usize,
    /// Bytes after which the encoding starts again: a longer text has the value at one of so many
    /// offsets.
    period: usize,
    is_exact: bool,
    separators: &'static [u8],
}

const ALPHABETS: [BitAlphabet; 3] = [
    BitAlphabet {
        characters: b"0123456789abcdef",
        bits: 4,
        period: 1,
        is_exact: false,
        separators: b" :-,.\r\n",
    },
    BitAlphabet {
        characters: b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        bits: 5,
        period: 5,
        is_exact: false,
        separators: b"\r\n",
    },
    BitAlphabet {
        characters: b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        bits: 6,
        period: 3,
        is_exact: true,
        separators: b"\r\n",
    },
];

/// The alphabets of base85: ASCII85, that of Git and Python, and Z85.
const ALPHABETS_85: [&[u8; 85]; 3] = [
    b"!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstu",
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~",
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#",
];

/// The credentials of one scan.
#[derive(Default)]
pub struct CredentialMask {
    secrets: Vec<MaskedSecret>,
    /// The positions of the secrets that may begin with a byte: every place of a long text is
    /// looked at.
    by_first: Vec<Vec<usize>>,
}

/// One text that is replaced.
struct MaskedSecret {
    bytes: Vec<u8>,
    /// Whether upper and lower case are different: base64.
    is_exact: bool,
    /// Whether it must end where it ends in the text: `a=1` is not the beginning of `a=12`.
    is_word: bool,
    /// Bytes that may stand between its bytes.
    separators: &'static [u8],
}

impl CredentialMask {
    /// The credentials in the parameters of a scan.
    pub fn new(params: &Value) -> Self {
        let mut secrets = Vec::new();
        let given = params
            .get("authentication")
            .filter(|given| !given.is_null());
        let given = given.and_then(|given| Authentication::parse(given).ok());
        let Authentication { headers, login } = given.unwrap_or_default();
        for (name, value) in login.iter().flat_map(LoginSequence::secrets) {
            add_header(&mut secrets, &name, value.trim());
        }
        for (name, value) in headers {
            let value = String::from_utf8_lossy(value.as_bytes());
            match name.as_str() {
                "cookie" => value
                    .split(';')
                    .for_each(|pair| add_cookie(&mut secrets, pair)),
                name => add_header(&mut secrets, name, value.trim()),
            }
        }
        Self::of(secrets)
    }

    /// Adds credentials that the scan got while it ran.
    pub fn learn(&mut self, learned: &[LearnedSecret]) {
        let mut secrets = std::mem::take(&mut self.secrets);
        for LearnedSecret { name, value } in learned {
            add_header(&mut secrets, name, value.trim());
        }
        *self = Self::of(secrets);
    }

    fn of(mut secrets: Vec<MaskedSecret>) -> Self {
        // The longest first: a credential may be a part of another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.bytes.len()));
        secrets.dedup_by(|one, other| {
            one.bytes == other.bytes
                && one.is_exact == other.is_exact
                && one.separators == other.separators
        });
        let by_first = (0..=u8::MAX)
            .map(|byte| positions_with_first(&secrets, byte))
            .collect();
        Self { secrets, by_first }
    }

    /// An event of the engine, as it is stored.
    pub fn event(&self, event: ScanEvent) -> ScanEvent {
        if self.secrets.is_empty() {
            return event;
        }
        match event {
            ScanEvent::Planned(tests) => ScanEvent::Planned(tests),
            ScanEvent::Tested(test) => ScanEvent::Tested(self.test(test)),
            ScanEvent::Raw(line) => ScanEvent::Raw(self.text(line)),
            ScanEvent::Info(line) => ScanEvent::Info(self.text(line)),
            ScanEvent::Step(step) => ScanEvent::Step(self.text(step)),
            ScanEvent::Output(mut output) => {
                self.value(&mut output.output_data);
                ScanEvent::Output(output)
            }
            ScanEvent::Learned(secrets) => ScanEvent::Learned(secrets),
        }
    }

    fn test(&self, mut test: TestDone) -> TestDone {
        test.description = self.text(test.description);
        self.value(&mut test.metadata);
        test.findings = test
            .findings
            .into_iter()
            .map(|finding| self.finding(finding))
            .collect();
        test
    }

    /// Only the kind of the finding, which is a text of the program, remains in any case.
    fn finding(&self, finding: NewFinding) -> NewFinding {
        let mut evidence: Value =
            serde_json::from_str(finding.evidence.as_json()).unwrap_or_default();
        let evidence = if self.value(&mut evidence) {
            Evidence::from_value(&evidence)
        } else {
            finding.evidence
        };
        NewFinding {
            evidence,
            name: self.text(finding.name),
            test_description: self.text(finding.test_description),
            vuln_description: self.text(finding.vuln_description),
            risk_description: self.text(finding.risk_description),
            recommendation: self.text(finding.recommendation),
            references: finding
                .references
                .into_iter()
                .map(|text| self.text(text))
                .collect(),
            service: self.text(finding.service),
            place: self.text(finding.place),
            ..finding
        }
    }

    /// Replaces the credentials in all texts of a JSON value, also in names of fields; returns
    /// whether there were any.
    fn value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => self.replaced(text).map(|masked| *text = masked).is_some(),
            Value::Array(all) => all
                .iter_mut()
                .fold(false, |is_changed, one| self.value(one) | is_changed),
            Value::Object(fields) => {
                let mut is_changed = false;
                for (name, mut field) in std::mem::take(fields) {
                    let masked = self.replaced(&name);
                    is_changed |= self.value(&mut field) | masked.is_some();
                    fields.insert(masked.unwrap_or(name), field);
                }
                is_changed
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// A text without the credentials.
    pub fn text(&self, text: String) -> String {
        self.replaced(&text).unwrap_or(text)
    }

    /// `None` without a credential.
    fn replaced(&self, text: &str) -> Option<String> {
        let bytes = text.as_bytes();
        let (mut masked, mut copied, mut at) = (String::new(), 0, 0);
        while at < bytes.len() {
            let mut candidates = self
                .by_first
                .get(usize::from(bytes[at]))
                .into_iter()
                .flatten();
            let length =
                candidates.find_map(|&position| self.secrets[position].length_at(bytes, at));
            let Some(length) = length.filter(|length| text.is_char_boundary(at) && *length > 0)
            else {
                at += 1;
                continue;
            };
            let end = (at + length..=bytes.len())
                .find(|end| text.is_char_boundary(*end))
                .unwrap_or(bytes.len());
            masked.push_str(&text[copied..at]);
            masked.push_str(HIDDEN);
            (at, copied) = (end, end);
        }
        (copied > 0).then(|| masked + &text[copied..])
    }
}

/// The secrets that may begin with this byte, as it is or as the beginning of an escape.
fn positions_with_first(secrets: &[MaskedSecret], byte: u8) -> Vec<usize> {
    let may_begin = |secret: &MaskedSecret| {
        ESCAPES.contains(&byte)
            || secret
                .bytes
                .first()
                .is_some_and(|first| first.eq_ignore_ascii_case(&byte))
    };
    secrets
        .iter()
        .enumerate()
        .filter(|(_, secret)| may_begin(secret))
        .map(|(position, _)| position)
        .collect()
}

fn add_header(secrets: &mut Vec<MaskedSecret>, name: &str, value: &str) {
    add(secrets, name, value);
    add_parts(secrets, value, DECODINGS);
    // `Bearer …`, `Basic …`: sites repeat the second word alone.
    let Some((_, token)) = value.split_once(' ') else {
        return;
    };
    add(secrets, name, token.trim());
    if let Ok(decoded) = STANDARD.decode(token.trim())
        && let Ok(login) = String::from_utf8(decoded)
        && let Some((user, password)) = login.split_once(':')
    {
        add(secrets, user, &login);
        add(secrets, user, password);
    }
}

fn add_cookie(secrets: &mut Vec<MaskedSecret>, pair: &str) {
    let (name, value) = pair.split_once('=').unwrap_or(("", pair));
    let value = value.trim().trim_matches('"');
    add(secrets, name.trim(), value);
    add_parts(secrets, value, DECODINGS);
    let decoded = percent_decode_str(value).decode_utf8_lossy();
    if decoded != value {
        add(secrets, name.trim(), &decoded);
    }
}

/// The parts of a compound value, which sites repeat alone: of a JWT, of a signed cookie, of
/// `token="…", user=…`, also where they are escaped for URLs or in base64.
fn add_parts(secrets: &mut Vec<MaskedSecret>, value: &str, decodings: usize) {
    let is_separator =
        |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '/' | '%'));
    for part in value.split(is_separator) {
        if part.len() >= COMPOUND_PART && part.len() < value.len() && looks_random(part) {
            add(secrets, "", part);
        }
        if decodings == 0 {
            continue;
        }
        let unescaped = percent_decode_str(part).decode_utf8_lossy();
        let encoded = part.replace('-', "+").replace('_', "/");
        let text = STANDARD_NO_PAD
            .decode(encoded)
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok());
        let text =
            text.filter(|text| part.len() >= COMPOUND_PART && !text.contains(char::is_control));
        for decoded in text
            .iter()
            .map(String::as_str)
            .chain((unescaped != part).then_some(&*unescaped))
        {
            if looks_random(decoded) {
                add(secrets, "", decoded);
            }
            add_parts(secrets, decoded, decodings - 1);
        }
    }
}

/// Whether a text is no plain word and no number, which could stand in any result.
fn looks_random(text: &str) -> bool {
    let has = |is: fn(&u8) -> bool| text.as_bytes().iter().any(is);
    let is_mixed =
        has(u8::is_ascii_digit) || (has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase));
    text.len() >= COMPOUND_PART && has(u8::is_ascii_alphabetic) && is_mixed
}

impl MaskedSecret {
    fn new(text: &str) -> Self {
        Self {
            bytes: text.as_bytes().to_vec(),
            is_exact: false,
            is_word: false,
            separators: b"",
        }
    }
}

fn add(secrets: &mut Vec<MaskedSecret>, name: &str, value: &str) {
    if value.is_empty() {
        return;
    }
    if value.len() < SHORT {
        let forms = ["=", ": ", ":", "\":\"", "\": \"", "=\""]
            .map(|between| format!("{name}{between}{value}"));
        let forms = forms.iter().filter(|_| !name.is_empty());
        secrets.extend(forms.map(|form| MaskedSecret {
            is_word: true,
            ..MaskedSecret::new(form)
        }));
        return;
    }
    secrets.push(MaskedSecret::new(value));
    let reversed: String = value.chars().rev().collect();
    secrets.push(MaskedSecret::new(&reversed));
    let unsplit = value.replace(['-', ' '], "");
    if unsplit.len() >= COMPOUND_PART {
        secrets.push(MaskedSecret {
            separators: b"- ",
            ..MaskedSecret::new(&unsplit)
        });
    }
    let numbers: String = value.bytes().map(|byte| byte.to_string()).collect();
    secrets.push(MaskedSecret {
        separators: b" ,;:-",
        ..MaskedSecret::new(&numbers)
    });
    add_encodings(secrets, value.as_bytes());
}

/// Adds a value in the encodings that programs use.
fn add_encodings(secrets: &mut Vec<MaskedSecret>, value: &[u8]) {
    for alphabet in &ALPHABETS {
        let texts = (0..alphabet.period).map(|offset| alphabet.core(value, offset));
        for text in texts.filter(|text| text.len() >= SHORT) {
            secrets.push(MaskedSecret {
                is_exact: alphabet.is_exact,
                separators: alphabet.separators,
                ..MaskedSecret::new(&text)
            });
        }
    }
    for alphabet in ALPHABETS_85 {
        let parts = (0..4).map(|offset| core_85(value, offset, alphabet));
        let texts = parts.chain([encoded_85(value, alphabet)]);
        for text in texts.filter(|text| text.len() >= COMPOUND_PART) {
            secrets.push(MaskedSecret {
                is_exact: true,
                ..MaskedSecret::new(&text)
            });
        }
    }
}

impl BitAlphabet {
    /// The part of the encoded form that depends on the value alone when `offset` bytes of a group
    /// come before it.
    fn core(&self, value: &[u8], offset: usize) -> String {
        let bit = |at: usize| match at.checked_sub(offset * 8) {
            Some(at) if at / 8 < value.len() => usize::from(value[at / 8] >> (7 - at % 8) & 1),
            _ => 0,
        };
        let character = |at: usize| {
            (at * self.bits..(at + 1) * self.bits).fold(0, |number, at| number << 1 | bit(at))
        };
        let places = (offset * 8).div_ceil(self.bits)..(offset + value.len()) * 8 / self.bits;
        places
            .map(|at| char::from(self.characters[character(at)]))
            .collect()
    }
}

/// The whole groups of a value in base85, when `offset` bytes of a group come before it.
fn core_85(value: &[u8], offset: usize, alphabet: &[u8; 85]) -> String {
    let whole = value.get((4 - offset) % 4..).unwrap_or_default();
    encoded_85(&whole[..whole.len() / 4 * 4], alphabet)
}

fn encoded_85(value: &[u8], alphabet: &[u8; 85]) -> String {
    let group = |bytes: &[u8]| {
        let number = (0..4).fold(0_u32, |number, at| {
            number << 8 | u32::from(bytes.get(at).copied().unwrap_or_default())
        });
        let digit =
            move |at: u32| char::from(alphabet[(number / 85_u32.pow(4 - at) % 85) as usize]);
        (0..=bytes.len() as u32).map(digit)
    };
    value.chunks(4).flat_map(group).collect()
}

impl MaskedSecret {
    /// The bytes of this secret at a place of the text, or of its beginning at the end of the text.
    fn length_at(&self, text: &[u8], start: usize) -> Option<usize> {
        let mut at = start;
        for (matched, byte) in self.bytes.iter().enumerate() {
            let rest = &text[at..];
            let length = escaped_length(rest, *byte, self.is_exact);
            match length.or_else(|| {
                if matched > 0 {
                    self.length_after_separators(rest, *byte)
                } else {
                    None
                }
            }) {
                Some(length) => at += length,
                None => return (matched >= PART && is_cut(&text[at..])).then_some(at - start),
            }
        }
        let is_longer = self.is_word && text.get(at).is_some_and(u8::is_ascii_alphanumeric);
        (!is_longer).then_some(at - start)
    }

    /// The length of one byte of the secret and the separators before it.
    fn length_after_separators(&self, text: &[u8], byte: u8) -> Option<usize> {
        let count = text
            .iter()
            .take(MOST_SEPARATORS)
            .take_while(|found| self.separators.contains(found))
            .count();
        (1..=count)
            .rev()
            .find_map(|count| Some(count + escaped_length(&text[count..], byte, self.is_exact)?))
    }
}

/// Whether a text was cut here.
fn is_cut(rest: &[u8]) -> bool {
    rest.is_empty() || rest.starts_with("…".as_bytes()) || rest.starts_with(b"...")
}

/// The length of one byte of a secret in a text, as it is or escaped.
fn escaped_length(text: &[u8], byte: u8, is_exact: bool) -> Option<usize> {
    let is_same = |found: u8| {
        if is_exact {
            found == byte
        } else {
            found.eq_ignore_ascii_case(&byte)
        }
    };
    let first = *text.first()?;
    let hex = |from: usize, digits: usize| {
        let digits = std::str::from_utf8(text.get(from..from + digits)?).ok()?;
        u8::from_str_radix(digits, 16)
            .ok()
            .filter(|found| is_same(*found))
            .map(|_| from + digits.len())
    };
    // The escape first: `&amp;` begins with the `&` that it stands for.
    let escape = match first {
        b'+' if byte == b' ' => Some(1),
        // The alphabet of base64 in URLs.
        b'-' if is_exact && byte == b'+' => Some(1),
        b'_' if is_exact && byte == b'/' => Some(1),
        b'%' => hex(1, 2).or_else(|| text.starts_with(b"%25").then(|| hex(3, 2)).flatten()),
        b'\\' => match text.get(1) {
            Some(b'0'..=b'3') => octal(text.get(1..4)?)
                .filter(|found| is_same(*found))
                .map(|_| 4),
            Some(b'x') => hex(2, 2),
            Some(b'u') => text
                .get(2..4)
                .filter(|high| *high == b"00")
                .and_then(|_| hex(4, 2)),
            Some(other) => is_same(*other).then_some(2),
            None => None,
        },
        b'&' => entity_length(text, is_same),
        _ => None,
    };
    escape.or_else(|| is_same(first).then_some(1))
}

/// The byte of three octal digits.
fn octal(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits).ok()?;
    u8::from_str_radix(digits, 8).ok()
}

/// The length of a character reference of HTML.
fn entity_length(text: &[u8], is_same: impl Fn(u8) -> bool) -> Option<usize> {
    if let Some((byte, length)) = numeric_entity(text)
        && is_same(byte)
    {
        return Some(length);
    }
    let named: [(&[u8], u8); 5] = [
        (b"&amp;", b'&'),
        (b"&lt;", b'<'),
        (b"&gt;", b'>'),
        (b"&quot;", b'"'),
        (b"&apos;", b'\''),
    ];
    named
        .iter()
        .find(|(name, byte)| text.starts_with(name) && is_same(*byte))
        .map(|(name, _)| name.len())
}

/// The byte and the length of `&#115;` or `&#x73`, also where its `&` is escaped again.
fn numeric_entity(text: &[u8]) -> Option<(u8, usize)> {
    let digits = text
        .strip_prefix(b"&#")
        .or_else(|| text.strip_prefix(b"&amp;#"))?;
    let (digits, radix) = match digits.first()? {
        b'x' | b'X' => (&digits[1..], 16),
        _ => (digits, 10),
    };
    let count = digits
        .iter()
        .take(8)
        .take_while(|digit| char::from(**digit).is_digit(radix))
        .count();
    let code = u32::from_str_radix(std::str::from_utf8(&digits[..count]).ok()?, radix).ok()?;
    let is_closed = digits.get(count) == Some(&b';');
    let before = text.len() - digits.len();
    Some((
        u8::try_from(code).ok()?,
        before + count + usize::from(is_closed),
    ))
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use serde_json::json;

    use super::*;
    use scandeck_wire::contract::ScanOutput;

    fn mask(authentication: Value) -> CredentialMask {
        CredentialMask::new(&json!({ "authentication": authentication }))
    }

    fn bearer() -> CredentialMask {
        mask(
            json!({"headers": {"Authorization": "Bearer s3cr3t/T0ken+\"x\"&é"}, "cookies": "sid=abc%20def&1; n=1"}),
        )
    }

    #[test]
    fn values_of_a_log_in_and_its_session_are_replaced() {
        let step = json!({"url": "/login", "body": {"user": "ann", "password": "s3cret-pw"}});
        let check = json!({"url": "/", "status": 200});
        let mut mask = mask(json!({"login": [step], "check": check}));
        let shown = |mask: &CredentialMask, text: &str| mask.text(text.to_owned());
        assert_eq!(shown(&mask, "tried s3cret-pw"), "tried •••");
        let text = "cookie sid=0a1b2c3d4e, csrf tok-98765";
        assert_eq!(shown(&mask, text), text);
        let learned = [("sid", "0a1b2c3d4e"), ("csrf", "tok-98765")].map(|(name, value)| {
            let (name, value) = (name.to_owned(), value.to_owned());
            LearnedSecret { name, value }
        });
        assert_eq!(format!("{:?}", learned[0]), "•••");
        mask.learn(&learned);
        assert_eq!(shown(&mask, text), "cookie sid=•••, csrf •••");
        assert_eq!(shown(&mask, "tried s3cret-pw"), "tried •••");
    }

    #[test]
    fn credentials_are_replaced_in_every_form_that_sites_reflect() {
        let mask = bearer();
        let token = "s3cr3t/T0ken+\"x\"&é";
        let entities: String = token.bytes().map(|byte| format!("&#{byte};")).collect();
        let hex_entities: String = token.bytes().map(|byte| format!("&#x{byte:x}")).collect();
        let escapes: String = token.bytes().map(|byte| format!("\\u{byte:04X}")).collect();
        let bytes: String = token.bytes().map(|byte| format!("\\x{byte:02x}")).collect();
        let percent: String = token.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let hex: String = token.bytes().map(|byte| format!("{byte:02x}")).collect();
        let octal: String = token.bytes().map(|byte| format!("\\{byte:03o}")).collect();
        let hex_pairs: Vec<String> = token.bytes().map(|byte| format!("{byte:02X}")).collect();
        let numbers: Vec<String> = token.bytes().map(|byte| byte.to_string()).collect();
        let letters: Vec<String> = token.chars().map(String::from).collect();
        let between = |parts: &[String], separator: &str| parts.join(separator);
        for form in [
            token,
            "S3CR3T/T0KEN+\"X\"&é",
            "s3cr3t%2FT0ken%2b%22x%22%26%C3%A9",
            "s3cr3t%252FT0ken%252B%2522x%2522%2526%25c3%25a9",
            "s3cr3t/T0ken+&quot;x&quot;&amp;é",
            "s3cr3t\\/T0ken+\\\"x\\\"&é",
            &entities,
            &hex_entities,
            &escapes,
            &bytes,
            &percent,
            &hex,
            &octal,
            &token.chars().rev().collect::<String>(),
            &between(&hex_pairs, ":"),
            &between(&hex_pairs, " "),
            &between(&numbers, ", "),
            &between(&numbers, " "),
            &between(&letters, "-"),
            &entities.replace('&', "&amp;"),
            "abc def&1",
            "abc+def&amp;1",
            "abc%20def%261",
        ] {
            let masked = mask.text(format!("before {form} after"));
            assert_eq!(masked, format!("before {HIDDEN} after"), "{form}");
        }
        assert_eq!(mask.text("Bearer s3cr3t/T0ken+\"x\"&é".into()), HIDDEN);
    }

    #[test]
    fn parts_of_compound_credentials_are_replaced() {
        let claims = STANDARD_NO_PAD.encode("{\"sub\":\"k7Lm2Qx9\"}");
        let mask = mask(json!({
            "headers": {
                "Authorization": format!("Bearer eyJhbGciOiJIUzI1NiJ9.{claims}.s1Gnatur3-Xy_z"),
                "X-Auth": "root:hunter22x",
                "X-Token": "Token token=\"aB3dE5gH7\", email=\"ann@acme.test\"",
                "X-Long": "é9fKq27ZmPw",
            },
            "cookies": "sid=s%3Aq1W2e3R4t5.Sg9n4tUr3; p=%7B%22t%22%3A%22Zx8cV7bN6%22%7D",
        }));
        let parts = [
            &*claims,
            "k7Lm2Qx9",
            "s1Gnatur3-Xy_z",
            "hunter22x",
            "aB3dE5gH7",
            "9fKq27ZmPw",
            "q1W2e3R4t5",
            "Sg9n4tUr3",
            "Zx8cV7bN6",
        ];
        for part in parts {
            assert_eq!(
                mask.text(format!("<b>{part}</b>")),
                format!("<b>{HIDDEN}</b>"),
                "{part}"
            );
        }
        for word in [
            "root",
            "Token",
            "email",
            "acme",
            "Bearer",
            "2026-11-28",
            "application",
        ] {
            assert_eq!(
                mask.text(format!("<b>{word}</b>")),
                format!("<b>{word}</b>")
            );
        }
    }

    #[test]
    fn base64_of_a_longer_text_does_not_contain_the_credential() {
        let mask = mask(json!({"cookies": {"sid": "Zq81~Xy-37f"}}));
        for before in ["", "a", "ab", "abc", "sid=", "Cookie: sid="] {
            for after in ["", "; b=2"] {
                let text = format!("{before}Zq81~Xy-37f{after}");
                for encoded in [STANDARD.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
                    let masked = mask.text(encoded.clone());
                    assert!(masked.contains(HIDDEN), "{text}: {encoded} {masked}");
                    let rest: Vec<u8> = masked.split(HIDDEN).flat_map(str::bytes).collect();
                    assert!(rest.len() + 12 <= encoded.len(), "{text}: {masked}");
                }
            }
        }
    }

    #[test]
    fn base32_and_base85_of_the_credential_are_replaced() {
        let mask = mask(json!({"headers": {"X-Key": "Zq81~Xy-37f"}}));
        // As made by `base32` and by `a85encode` and `b85encode` of Python, and Z85.
        for (encoded, left) in [
            ("LJYTQML6LB4S2MZXMY======", 9),
            ("ljytqml6lb4s2mzxmy", 3),
            (r#">&cMVITUkI1H/n"#, 0),
            (r#"T5&irepq=eGdE@"#, 0),
            (r#"t5=IREPQ>EgDe["#, 0),
            (r#"b7^EfVOnuGF@9KiEi*S}J0M~`G5"#, 17),
        ] {
            let masked = mask.text(encoded.to_owned());
            assert!(masked.contains(HIDDEN), "{encoded} {masked}");
            let rest: usize = masked.split(HIDDEN).map(str::len).sum();
            assert!(rest <= left, "{encoded} {masked}");
        }
    }

    #[test]
    fn credential_grouped_in_another_way_is_replaced_and_other_text_remains() {
        let mask = mask(json!({"headers": {"X-Key": "7f3a-99c1-Q0zz"}}));
        for form in [
            "7f3a99c1Q0zz",
            "7F3A 99C1 Q0ZZ",
            "7-f-3-a-9-9-c-1-q-0-z-z",
            "7f3a9 -9c1Q0zz",
        ] {
            assert_eq!(
                mask.text(format!("<b>{form}</b>")),
                format!("<b>{HIDDEN}</b>"),
                "{form}"
            );
        }
        for other in [
            "7f3a-99c1",
            "7f3a---99c1-Q0zz",
            "7f3a/99c1/Q0zz",
            "55 102 51 97",
            "\\067f3a",
            "\\9",
        ] {
            assert_eq!(mask.text(format!("{other} ")), format!("{other} "));
        }
    }

    #[test]
    fn basic_credentials_hide_the_password_too() {
        let mask = mask(
            json!({"headers": [format!("Authorization: Basic {}", STANDARD.encode("admin:hunter22"))]}),
        );
        assert_eq!(
            mask.text("login admin with hunter22 refused".into()),
            format!("login admin with {HIDDEN} refused")
        );
        assert_eq!(mask.text("GET /admin".into()), "GET /admin");
    }

    #[test]
    fn cut_credentials_are_replaced() {
        let mask = mask(json!({"headers": {"X-Key": "0123456789abcdef"}}));
        for (text, expected) in [
            ("x 0123456789", "x •••"),
            ("x 0123456789… y", "x •••… y"),
            ("x 0123456789...", "x •••..."),
            ("x 0123456789 y", "x 0123456789 y"),
            ("x 01234", "x 01234"),
        ] {
            assert_eq!(mask.text(text.to_owned()), expected);
        }
    }

    #[test]
    fn short_credentials_are_replaced_after_their_name_only() {
        let mask = mask(json!({"cookies": "n=1; lang=de"}));
        for (text, expected) in [
            ("1 of 11 pages, lang=de, n=1;", "1 of 11 pages, •••, •••;"),
            ("n=12, modern, \"lang\":\"de\"", "n=12, modern, \"•••\""),
            ("lang%3Dde", "•••"),
        ] {
            assert_eq!(mask.text(text.to_owned()), expected);
        }
    }

    #[test]
    fn every_part_of_an_event_is_masked_and_other_events_are_unchanged() {
        let mask = mask(json!({"headers": {"X-Key": "s3cr3t-value"}}));
        let secret = || "with s3cr3t-value".to_owned();
        let finding = NewFinding {
            vuln_id: "web.reflected".into(),
            name: secret(),
            test_description: secret(),
            vuln_description: secret(),
            risk_description: secret(),
            recommendation: secret(),
            references: vec![secret()],
            service: secret(),
            place: secret(),
            evidence: Evidence::table(&["Value"], [vec![secret()]]),
            ..NewFinding::default()
        };
        let test = TestDone {
            uid: "web".into(),
            description: secret(),
            metadata: json!({"a": [{"s3cr3t-value": secret()}]}),
            weight: 1,
            findings: vec![finding],
        };
        let output = ScanOutput {
            output_type: "x".into(),
            output_data: json!([secret()]),
        };
        let events = [
            ScanEvent::Tested(test),
            ScanEvent::Raw(secret()),
            ScanEvent::Info(secret()),
            ScanEvent::Step(secret()),
            ScanEvent::Output(output),
        ];
        for event in events {
            let masked = format!("{:?}", mask.event(event));
            assert!(
                masked.contains(HIDDEN) && !masked.contains("s3cr3t"),
                "{masked}"
            );
        }
        let unchanged = CredentialMask::new(&json!({"scan_type": "light"}));
        assert!(
            matches!(unchanged.event(ScanEvent::Raw(secret())), ScanEvent::Raw(line) if line == secret())
        );
    }
}
