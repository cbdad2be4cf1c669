//! Values that several formats write in the same ways.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use scandeck_wire::contract::entities::decode_entities;
use scandeck_wire::contract::{Risk, Stamp};

use crate::entry::CvssRating;

/// Forms of times without RFC 3339; a time without a zone is UTC.
const TIMES: [&str; 10] = [
    "%a, %d %b %Y %H:%M:%S",
    "%a %b %d %H:%M:%S %Y",
    "%d/%m/%Y, %H:%M:%S",
    "%d/%m/%Y %H:%M:%S",
    "%d/%m/%Y %I:%M %p",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%b %d, %Y %H:%M:%S",
    "%d %b %Y %H:%M:%S",
];

/// Seconds of the first day of 1970, whose hours depend on the zone.
const FIRST_DAY: i64 = 86_400;
/// From here on a number counts milliseconds: 1973, or the year 5138 in seconds.
const MILLISECONDS: i64 = 100_000_000_000;

/// A time in any form of the tools. Programs write the first years of their calendars, 1 and 1970,
/// for a time that they do not know.
pub fn time(text: &str) -> Option<Stamp> {
    of_any_form(text.trim()).filter(|at| at.as_second() > FIRST_DAY)
}

fn of_any_form(text: &str) -> Option<Stamp> {
    if let Some(stamp) = Stamp::parse(text) {
        return Some(stamp);
    }
    if let Ok(second) = text.parse::<i64>() {
        return epoch(second);
    }
    if let Ok(at) = jiff::fmt::rfc2822::parse(text) {
        return Some(Stamp(at.timestamp()));
    }
    let words: Vec<&str> = text
        .split_whitespace()
        .filter(|word| !is_zone(word))
        .collect();
    let text = words.join(" ");
    let civil = TIMES
        .iter()
        .find_map(|form| DateTime::strptime(form, &text).ok())?;
    Some(Stamp(civil.to_zoned(TimeZone::UTC).ok()?.timestamp()))
}

/// Seconds or milliseconds since 1970; none for 0, which stands for an unknown time.
pub fn epoch(number: i64) -> Option<Stamp> {
    let second = match number {
        MILLISECONDS.. => number / 1_000,
        second => second,
    };
    let at = Timestamp::from_second(second).ok()?;
    (second > 0).then_some(Stamp(at))
}

/// CEST, UTC: names of zones are not unique, so they do not count.
fn is_zone(word: &str) -> bool {
    let is_upper = word.bytes().all(|byte| byte.is_ascii_uppercase());
    (3..=5).contains(&word.len()) && is_upper
}

/// Every `CVE-2021-44228` in a text, in upper case.
pub fn cves(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let upper = text.to_ascii_uppercase();
    let mut rest = upper.as_str();
    while let Some(at) = rest.find("CVE-") {
        rest = &rest[at + 4..];
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let year = digits(rest);
        let number = rest
            .get(year..)
            .and_then(|rest| rest.strip_prefix('-'))
            .map_or(0, digits);
        if year == 4 && (4..=7).contains(&number) {
            let cve = format!("CVE-{}", &rest[..year + 1 + number]);
            if !found.contains(&cve) {
                found.push(cve);
            }
        }
    }
    found
}

/// The numbers of `CWE-79`, `cwe-79`, `79` or `CWE-79, CWE-89`; other words have none.
pub fn cwes(text: &str) -> Vec<u32> {
    let number = |word: &str| {
        let word = word.trim().to_ascii_uppercase();
        let word = word.strip_prefix("CWE").unwrap_or(&word);
        let word = word.trim_start_matches(['-', ':', '_', ' ']);
        word.parse().ok().filter(|cwe| (1..10_000).contains(cwe))
    };
    let words = text.split([',', ';', ' ', '|', '\n', '/', '[', ']', '(', ')', '"']);
    words.filter_map(number).collect()
}

/// Every `CWE-79` in a running text.
pub fn cwes_in(text: &str) -> Vec<u32> {
    let upper = text.to_ascii_uppercase();
    let parts = upper.split("CWE-").skip(1);
    let number = |part: &str| {
        let end = part.bytes().take_while(u8::is_ascii_digit).count();
        part[..end]
            .parse()
            .ok()
            .filter(|cwe| (1..10_000).contains(cwe))
    };
    parts.filter_map(number).collect()
}

/// A port as tools and spreadsheets write it, `443` or `443.0`; none for 0 and other texts.
pub fn port(text: &str) -> Option<u16> {
    let text = text.trim();
    let number = text.split_once('.').map_or(text, |(number, rest)| {
        match rest.bytes().all(|digit| digit == b'0') {
            true => number,
            false => text,
        }
    });
    number.parse().ok().filter(|port| *port > 0)
}

/// A number with a decimal point or comma.
pub fn number(text: &str) -> Option<f64> {
    let value: f64 = text.trim().replace(',', ".").parse().ok()?;
    value.is_finite().then_some(value)
}

/// The usual words for a risk; none for other words.
pub fn risk(word: &str) -> Option<Risk> {
    Some(match word.trim().to_ascii_lowercase().as_str() {
        "critical" | "urgent" => Risk::Critical,
        "high" | "important" | "serious" => Risk::High,
        "medium" | "moderate" | "warning" => Risk::Medium,
        "low" | "minor" => Risk::Low,
        "info" | "information" | "informational" | "bestpractice" | "none" | "log" | "unknown" => {
            Risk::Info
        }
        _ => return None,
    })
}

/// The qualitative rating of a CVSS score: CVSS 3.1, section 5.
pub fn risk_of_cvss(score: f64) -> Risk {
    match score {
        score if score >= 9.0 => Risk::Critical,
        score if score >= 7.0 => Risk::High,
        score if score >= 4.0 => Risk::Medium,
        score if score > 0.0 => Risk::Low,
        _ => Risk::Info,
    }
}

/// The risk that an entry names, or that of its score. Programs that convert files leave the word
/// out, and a serious result must not become a piece of information.
pub fn risk_or_score(word: &str, cvss: Option<&CvssRating>) -> Risk {
    let named = risk(word).filter(|_| !word.trim().eq_ignore_ascii_case("unknown"));
    let score = cvss.and_then(|rating| rating.score);
    named
        .or_else(|| score.map(risk_of_cvss))
        .unwrap_or(Risk::Info)
}

/// Web addresses in a text, each once.
pub fn links(text: &str) -> Vec<String> {
    let is_end = |c: char| c.is_whitespace() || "\"'<>,".contains(c);
    let words = text
        .split(is_end)
        .map(|word| word.trim_end_matches([')', '.', ';', ']']));
    let mut found: Vec<String> = Vec::new();
    for word in words.filter(|word| word.starts_with("http://") || word.starts_with("https://")) {
        if !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
    }
    found
}

/// HTML as text: paragraphs and list items become lines.
pub fn plain(html: &str) -> String {
    if !html.contains(['<', '&']) {
        return html.trim().to_owned();
    }
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let is_tag = after.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!');
        let Some(end) = after.find('>').filter(|_| is_tag) else {
            out.push('<');
            rest = after;
            continue;
        };
        let name = after[..end].trim_start_matches('/');
        let name: String = name
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        out.push_str(match name.to_ascii_lowercase().as_str() {
            "li" if !after.starts_with('/') => "\n- ",
            "br" | "p" | "div" | "tr" | "ul" | "ol" | "h1" | "h2" | "h3" | "h4" | "pre" => "\n",
            _ => "",
        });
        rest = &after[end + 1..];
    }
    out.push_str(rest);
    let text = decode_entities(&out);
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim_end) {
        if !line.trim().is_empty() || lines.last().is_some_and(|last| !last.is_empty()) {
            lines.push(line);
        }
    }
    lines.join("\n").trim().to_owned()
}

/// Texts with an empty line between them; empty ones are left out.
pub fn paragraphs(parts: &[&str]) -> String {
    let parts = parts.iter().map(|part| part.trim());
    parts
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// A word for a `vuln_id`: lower case, `-` for other characters.
pub fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c.is_alphanumeric() {
            true => out.extend(c.to_lowercase()),
            false if out.ends_with('-') => {}
            false => out.push('-'),
        }
    }
    out.trim_matches('-').chars().take(100).collect()
}

/// Whether a word means yes.
pub fn is_true(text: &str) -> bool {
    let text = text.trim().to_ascii_lowercase();
    matches!(text.as_str(), "true" | "yes" | "1" | "y")
}
