//! The values in a text of evidence that can agree with another fact: names of a certificate,
//! fingerprints of keys and certificates, digests of secrets, tokens, and the services of web
//! addresses.
//!
//! ```text
//!   | What              | Value              |
//!   | Certificate names | a.test, *.a.test   | ─► name a.test
//!   SHA-256 Fingerprint: 3F:9A:…               ─► sha256:3f9a…
//!   http://b.test:8080/x                       ─► service b.test:8080
//!   | AWS access key    | AKIAQ3EG…BNM7 (12:8) #06021… | ─► secret:06021…
//! ```
//!
//! A fingerprint counts only where its line names it as one. Masked and shortened values never
//! count; the digest behind a masked secret does.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;
use url::{Host, Url};

use super::ServiceAddress;
use crate::oob::Token;
use scandeck_wire::contract::scan::HIDDEN;
use scandeck_wire::contract::{Evidence, EvidenceView, Shared};

/// Most values of one kind in one text of evidence.
const MOST: usize = 100;
/// Longest text that is searched, in bytes.
const LONGEST: usize = 64 * 1024;
/// The label of the names of a server's own certificate in own evidence.
const OWN_NAMES: &str = "Certificate names";
/// The columns of own evidence with a secret and with its masked value.
const SECRET_COLUMNS: [&str; 2] = ["Secret", "Value"];
/// The column of own evidence about exposed files.
const FILE_COLUMN: &str = "What it holds";
/// The beginning of a cell about a password in such a file.
const FILE_PASSWORD: &str = "password ";
/// A value that was shortened has this character.
const CUT: char = '…';

static ADDRESS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?i)\bhttps?://[^\s"'<>]+"#).ok());
/// Names in the notation of OpenSSL.
static NAME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:DNS|IP Address):\s*([^\s,;]+)").ok());
/// The fingerprint of an SSH key.
static SSH_PRINT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\bSHA256:([A-Za-z0-9+/]{43})(?:=|\s|$)").ok());
/// The digest behind a masked secret and its place.
static SECRET: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"….* \(.*\d\) #([0-9]{20})$").ok());
/// Hexadecimal digits, in one word, in pairs with colons, or in groups of four with blanks.
static HEX: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pairs = "[0-9a-f]{2}(?::?[0-9a-f]{2}){7,31}";
    let fours = "[0-9a-f]{4}(?: [0-9a-f]{4}){7,15}";
    Regex::new(&format!(r"(?i)\b(?:{fours}|{pairs})\b")).ok()
});

/// The values in a text of evidence that can agree with another fact.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EvidenceTraces {
    /// Host names and addresses of the server's certificate, without wildcards.
    pub names: BTreeSet<Shared>,
    /// Fingerprints and serial numbers, each with its kind.
    pub keys: BTreeSet<Shared>,
    /// Digests of secrets, with their kind.
    pub secrets: BTreeSet<Shared>,
    /// Words that are like tokens of payloads.
    pub tokens: BTreeSet<Token>,
    /// Host and port of web addresses.
    pub services: BTreeSet<ServiceAddress>,
}

impl EvidenceTraces {
    /// Reads the evidence of a finding; the HTTP exchange does not count, because a page names many
    /// hosts.
    pub fn of(evidence: &Evidence) -> Self {
        let mut traces = Self::default();
        match evidence.view().without_exchange().decoded() {
            EvidenceView::Nothing => {}
            EvidenceView::Text(text) => traces.read("", &text),
            EvidenceView::Table { headers, rows } => {
                for row in &rows {
                    traces.read_row(row);
                    traces.read_secret(&headers, row);
                }
            }
            EvidenceView::Tree(value) => traces.read_tree("", &value),
        }
        traces
    }

    fn read_row(&mut self, row: &[String]) {
        let label = row.first().map_or("", String::as_str);
        self.read("", label);
        row.iter().skip(1).for_each(|cell| self.read(label, cell));
    }

    /// Reads the digest of the secret in a row. Other columns may have the text of a page, which
    /// could imitate one.
    fn read_secret(&mut self, headers: &[String], row: &[String]) {
        let cell = |title: &str| {
            let at = headers.iter().position(|header| header == title)?;
            row.get(at).map(String::as_str)
        };
        let of_scripts = cell(SECRET_COLUMNS[0]).and(cell(SECRET_COLUMNS[1]));
        let of_file = cell(FILE_COLUMN).filter(|text| text.starts_with(FILE_PASSWORD));
        for text in of_scripts.into_iter().chain(of_file) {
            for digest in found(&SECRET, text) {
                if self.secrets.len() < MOST {
                    self.secrets.insert(format!("secret:{digest}").into());
                }
            }
        }
    }

    fn read_tree(&mut self, label: &str, value: &Value) {
        match value {
            Value::String(text) => self.read(label, text),
            Value::Array(all) => all.iter().for_each(|one| self.read_tree(label, one)),
            Value::Object(fields) => {
                fields
                    .iter()
                    .for_each(|(name, one)| self.read_tree(name, one));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn read(&mut self, label: &str, text: &str) {
        if label == OWN_NAMES {
            text.split(',').for_each(|name| self.add_name(name));
        }
        let end = text.floor_char_boundary(LONGEST);
        for line in text[..end].lines() {
            if line.contains(HIDDEN) || line.contains(CUT) {
                continue;
            }
            self.read_services(line);
            self.read_tokens(line);
            let about = format!("{label} {line}").to_ascii_lowercase();
            if about.contains("alternative name") {
                found(&NAME, line).for_each(|name| self.add_name(name));
            }
            self.read_keys(&about, line);
        }
    }

    fn read_tokens(&mut self, line: &str) {
        let words = line.split(|letter: char| !letter.is_ascii_alphanumeric());
        for token in words.filter_map(|word| word.parse::<Token>().ok()) {
            if self.tokens.len() < MOST {
                self.tokens.insert(token);
            }
        }
    }

    fn read_services(&mut self, line: &str) {
        for address in found(&ADDRESS, line) {
            let Ok(url) = Url::parse(address) else {
                continue;
            };
            if let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default())
                && self.services.len() < MOST
            {
                self.services.insert(ServiceAddress {
                    host: host.trim_matches(['[', ']']).into(),
                    port,
                });
            }
        }
    }

    /// Reads the fingerprints of a line. `about` is the line with its label in lower case.
    fn read_keys(&mut self, about: &str, line: &str) {
        let has = |words: &[&str]| words.iter().any(|word| about.contains(word));
        // A shared authority is not a shared key.
        if has(&["issuer", "intermediate", "root", "authority"]) {
            return;
        }
        let is_host_key = has(&["hostkey", "host key"]);
        let is_print = is_host_key || has(&["fingerprint", "sha-1:", "sha-256:"]);
        if is_print {
            let prints = found(&SSH_PRINT, line).map(|print| format!("ssh:{print}"));
            prints.for_each(|print| self.add_key(print));
        }
        let is_serial = has(&["serial number", "serialnumber"]);
        for word in found(&HEX, line) {
            let mut digits = word.to_ascii_lowercase();
            digits.retain(|digit| digit.is_ascii_hexdigit());
            let kind = match digits.len() {
                64 if is_print => "sha256",
                40 if is_print => "sha1",
                32 if is_host_key => "md5",
                // Public authorities use at least 64 random bits.
                16..=40 if is_serial => "serial",
                _ => continue,
            };
            self.add_key(format!("{kind}:{digits}"));
        }
    }

    fn add_name(&mut self, name: &str) {
        let name = name.trim().trim_end_matches('.');
        let is_name = name.contains('.') || name.contains(':');
        if name.contains('*') || !is_name || self.names.len() >= MOST {
            return;
        }
        if let Ok(address) = name.parse::<IpAddr>() {
            self.names.insert(address.to_string().into());
        } else if let Ok(Host::Domain(domain)) = Host::parse(name) {
            self.names.insert(domain.into());
        }
    }

    fn add_key(&mut self, key: String) {
        if self.keys.len() < MOST {
            self.keys.insert(key.into());
        }
    }
}

/// The first group of each match, or else the match.
fn found<'a>(
    pattern: &'static LazyLock<Option<Regex>>,
    line: &'a str,
) -> impl Iterator<Item = &'a str> {
    let matches = pattern
        .iter()
        .flat_map(move |regex| regex.captures_iter(line));
    matches.filter_map(|one| Some(one.get(1).or_else(|| one.get(0))?.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts<T: ToString>(values: &BTreeSet<T>) -> Vec<String> {
        values.iter().map(ToString::to_string).collect()
    }

    fn rows(cells: &[[&str; 2]]) -> EvidenceTraces {
        let rows = cells.iter().map(|row| row.map(str::to_owned).to_vec());
        EvidenceTraces::of(&Evidence::table(&["What", "Value"], rows))
    }

    fn text(text: &str) -> EvidenceTraces {
        let value = serde_json::json!({"type": "text", "data": text});
        EvidenceTraces::of(&Evidence::from_value(&value))
    }

    #[test]
    fn names_come_from_the_own_certificate_without_wildcards() {
        let traces = rows(&[
            [
                "Certificate names",
                "WWW.a.test, *.a.test, 10.0.0.7, localhost",
            ],
            ["Certificate 2 names", "ca.test"],
        ]);
        assert_eq!(texts(&traces.names), ["10.0.0.7", "www.a.test"]);
        let traces = text("Subject Alternative Name: DNS:b.test, DNS:*.b.test\nDNS:c.test");
        assert_eq!(texts(&traces.names), ["b.test"]);
    }

    #[test]
    fn fingerprints_of_all_notations_have_one_form() {
        let hex = "3f9a".repeat(16);
        let pairs = ["3F", "9A"].repeat(16);
        let fours = ["3f9a"; 16];
        let notations = [
            format!("SHA-256 Fingerprint: {}", pairs.join(":")),
            format!("SHA-256: {}", fours.join(" ")),
            format!("cert_fingerprintSHA256 {hex}"),
        ];
        for notation in notations {
            let traces = text(&notation);
            assert_eq!(texts(&traces.keys), [format!("sha256:{hex}")], "{notation}");
        }
        let print = "A".repeat(43);
        let output = format!("256 SHA256:{print} (ED25519)");
        let traces = rows(&[["Script ssh-hostkey", output.as_str()]]);
        assert_eq!(texts(&traces.keys), [format!("ssh:{print}")]);
        let serial = text("Serial Number: 0A:1B:2C:3D:4E:5F:60:71:82:93");
        assert_eq!(texts(&serial.keys), ["serial:0a1b2c3d4e5f60718293"]);
    }

    #[test]
    fn token_is_a_word_of_its_length() {
        let traces = text("GET /?t=zzgorljsfevn&u=x HTTP/1.1\nHost: ZZGORLJSFEVO.a.test");
        assert_eq!(texts(&traces.tokens), ["zzgorljsfevn", "zzgorljsfevo"]);
        let traces = text("zzgorljsfevnx zzgorljsfev 1zgorljsfevn\nzzgorljsfevn…");
        assert_eq!(traces.tokens.len(), 0);
    }

    #[test]
    fn digest_of_a_secret_counts_behind_its_masked_value_only() {
        let digest = "06021398471029384756";
        let secrets = |headers: &[&str], cell: &str| {
            let row = ["https://a.test/app.js", "AWS access key", cell].map(str::to_owned);
            let evidence = Evidence::table(headers, [row.to_vec()]);
            texts(&EvidenceTraces::of(&evidence).secrets)
        };
        let of_scripts = ["URL", "Secret", "Value"];
        let of_files = ["Request", "Status", "What it holds"];
        let expected = [format!("secret:{digest}")];
        for shown in ["AKIAQ3EG…BNM7 (12:8)", "p… (src/(a)/b.ts:2:14)"] {
            assert_eq!(
                secrets(&of_scripts, &format!("{shown} #{digest}")),
                expected
            );
        }
        let of_file = format!("password DB_PASSWORD: hu…2 (line 7) #{digest}");
        assert_eq!(secrets(&of_files, &of_file), expected);
        for (headers, cell) in [
            (&of_scripts, "AKIAQ3EG…BNM7 (12:8)".to_owned()),
            (&of_scripts, format!("#{digest}")),
            (&of_scripts, format!("AKIAQ3EG…BNM7 (12:8) #{digest}7")),
            (&of_files, format!("log-in page: a…b (1:2) #{digest}")),
            (&["URL", "Header", "Value"], format!("a…b (1:2) #{digest}")),
        ] {
            assert!(secrets(headers, &cell).is_empty(), "{cell}");
        }
    }

    #[test]
    fn other_digests_and_masked_values_are_no_fingerprints() {
        let hex = "3f9a".repeat(16);
        let lines = [
            format!("body digest {hex}"),
            format!("issuer fingerprint {hex}"),
            format!("fingerprint {hex} of •••"),
            "fingerprint AKIAQ3EG…BNM7".to_owned(),
            "Serial Number: 01".to_owned(),
        ];
        for line in lines {
            assert_eq!(text(&line).keys.len(), 0, "{line}");
        }
    }

    #[test]
    fn services_are_those_of_addresses_outside_the_exchange() {
        let row = [
            "https://A.test/x?u=http://c.test/",
            "y",
            "GET http://b.test/",
            "http://d.test/",
        ];
        let headers = ["URL", "Found", "Request", "Response"];
        let evidence = Evidence::table(&headers, [row.map(str::to_owned).to_vec()]);
        assert_eq!(
            texts(&EvidenceTraces::of(&evidence).services),
            ["a.test:443"]
        );
        let traces = text("see http://[::1]:8080/x and http://b.test");
        assert_eq!(texts(&traces.services), ["[::1]:8080", "b.test:80"]);
    }
}
