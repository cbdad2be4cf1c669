//! The head of a request: request line and header lines, as far as they can be read.

use super::is_control;
use super::problems::{ProblemList, quoted};

/// Bytes of a request line that are checked for a method.
const LONGEST_METHOD: usize = 64;

/// The parts of a head. Text that is no part of one is missing; the raw bytes have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestHead {
    pub method: Vec<u8>,
    /// As sent: a path, a URL, an authority, or what else is between method and version.
    pub target: Vec<u8>,
    pub version: RequestVersion,
    /// In the order of arrival; trailers of a chunked body come last.
    pub lines: Vec<HeaderLine>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RequestVersion {
    /// HTTP/0.9, or a request line that is damaged.
    #[default]
    Missing,
    Http10,
    Http11,
    /// As sent.
    Other(Vec<u8>),
}

/// A header line with its folded lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderLine {
    /// As sent, with blanks before the colon; none without a colon.
    pub name: Option<Vec<u8>>,
    /// Without the blanks around it; the whole line without a colon.
    pub value: Vec<u8>,
}

impl HeaderLine {
    /// Whether the line is of this header, also with blanks before the colon.
    pub fn is(&self, name: &str) -> bool {
        let own = self.name.as_ref().map(|own| own.trim_ascii());
        own.is_some_and(|own| own.eq_ignore_ascii_case(name.as_bytes()))
    }

    /// The parts between commas.
    pub fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.value
            .split(|&byte| byte == b',')
            .map(<[u8]>::trim_ascii)
            .filter(|part| !part.is_empty())
    }
}

impl RequestHead {
    /// Reads a head, which may be incomplete.
    pub(super) fn parse(bytes: &[u8], problems: &mut ProblemList) -> Self {
        let first = first_line(bytes);
        let mut head = Self::request_line(first, problems);
        check_line(first, "the request line", problems);
        let rest = bytes
            .iter()
            .position(|&byte| byte == b'\n')
            .map_or(&[][..], |end| &bytes[end + 1..]);
        if bytes
            .windows(2)
            .any(|pair| pair[1] == b'\n' && pair[0] != b'\r')
            || bytes.first() == Some(&b'\n')
        {
            problems.add("lines end in a line feed without a carriage return".to_owned());
        }
        head.lines = header_lines(rest, "header line", problems);
        let hosts = head.lines.iter().filter(|line| line.is("host")).count();
        let is_complete = rest
            .split_inclusive(|&byte| byte == b'\n')
            .any(|line| matches!(line, b"\n" | b"\r\n"));
        match (hosts, &head.version) {
            (0, RequestVersion::Http11) if is_complete => problems.add("no Host header".to_owned()),
            (2.., _) => problems.add(format!("{hosts} Host headers")),
            _ => {}
        }
        head
    }

    fn request_line(line: &[u8], problems: &mut ProblemList) -> Self {
        let trimmed = line.trim_ascii();
        if trimmed.len() != line.len() {
            problems.add("blanks around the request line".to_owned());
        }
        let (method, rest) = split_at_blank(trimmed);
        let (target, version) = match last_word(rest) {
            (target, word) if is_version(word) => (target, RequestVersion::of(word)),
            _ => (rest, RequestVersion::Missing),
        };
        let between = rest.len() - target.len();
        let is_regular = line.get(method.len()) == Some(&b' ')
            && !rest.first().is_some_and(u8::is_ascii_whitespace);
        let target = target.trim_ascii();
        match &version {
            RequestVersion::Missing => {
                problems.add("no HTTP version in the request line".to_owned())
            }
            RequestVersion::Other(version) => {
                problems.add(format!("unknown HTTP version {}", quoted(version)))
            }
            RequestVersion::Http10 | RequestVersion::Http11 => {
                if !is_regular || between != "HTTP/1.1".len() + 1 {
                    problems.add("other blanks than single spaces in the request line".to_owned());
                }
            }
        }
        if target.is_empty() {
            problems.add("no target in the request line".to_owned());
        }
        if !method.iter().all(|&byte| is_token_byte(byte)) {
            problems.add(format!("invalid method {}", quoted(method)));
        }
        let odd = odd_bytes(target);
        if !odd.is_empty() {
            problems.add(format!("the target contains {}", quoted(&odd)));
        }
        Self {
            method: method.to_vec(),
            target: target.to_vec(),
            version,
            lines: Vec::new(),
        }
    }

    /// The values of a header, from all its lines.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        self.lines
            .iter()
            .filter(move |line| line.is(name))
            .map(|line| line.value.as_slice())
    }

    /// Whether the request line can be read as one.
    pub fn is_request(&self) -> bool {
        let is_method =
            !self.method.is_empty() && self.method.iter().all(|&byte| is_token_byte(byte));
        is_method
            && !self.target.is_empty()
            && (self.version != RequestVersion::Missing || self.target[0] == b'/')
    }

    /// Whether the sender may send a further request.
    pub(super) fn keeps_open(&self) -> bool {
        let lines = || self.lines.iter().filter(|line| line.is("connection"));
        let names = |option: &str| {
            lines().any(|line| {
                line.parts()
                    .any(|part| part.eq_ignore_ascii_case(option.as_bytes()))
            })
        };
        match self.version {
            RequestVersion::Http11 => !names("close"),
            RequestVersion::Http10 => names("keep-alive") && !names("close"),
            RequestVersion::Missing | RequestVersion::Other(_) => false,
        }
    }

    pub(super) fn expects_continue(&self) -> bool {
        let mut expected = self
            .lines
            .iter()
            .filter(|line| line.is("expect"))
            .flat_map(HeaderLine::parts);
        self.version == RequestVersion::Http11
            && expected.any(|part| part.eq_ignore_ascii_case(b"100-continue"))
    }
}

impl RequestVersion {
    fn of(word: &[u8]) -> Self {
        match word {
            b"HTTP/1.1" => Self::Http11,
            b"HTTP/1.0" => Self::Http10,
            _ => Self::Other(word.to_vec()),
        }
    }
}

/// The bytes that a target should not contain, each once.
fn odd_bytes(target: &[u8]) -> Vec<u8> {
    let mut odd: Vec<u8> = Vec::new();
    for &byte in target.iter().filter(|&&byte| is_odd_in_target(byte)) {
        if !odd.contains(&byte) {
            odd.push(byte);
        }
    }
    odd
}

/// Reads header lines up to an empty one. `noun` names them in the problems.
pub(super) fn header_lines(
    bytes: &[u8],
    noun: &str,
    problems: &mut ProblemList,
) -> Vec<HeaderLine> {
    let mut lines: Vec<HeaderLine> = Vec::new();
    for (index, physical) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let (line, number) = (without_line_end(physical), index + 1);
        if line.is_empty() {
            break;
        }
        check_line(line, &format!("{noun} {number}"), problems);
        let begins_blank = line
            .first()
            .is_some_and(|byte| matches!(byte, b' ' | b'\t'));
        if let Some(last) = lines.last_mut().filter(|_| begins_blank) {
            problems.add(format!("{noun} {number} is a folded line"));
            last.value.push(b' ');
            last.value.extend_from_slice(line.trim_ascii());
            continue;
        }
        let Some(colon) = line.iter().position(|&byte| byte == b':') else {
            // The colon of a line that was cut may be missing because of that.
            if physical.ends_with(b"\n") {
                problems.add(format!("{noun} {number} has no colon"));
            }
            lines.push(HeaderLine {
                name: None,
                value: line.to_vec(),
            });
            continue;
        };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        check_name(name, &format!("{noun} {number}"), problems);
        lines.push(HeaderLine {
            name: Some(name.to_vec()),
            value: value.to_vec(),
        });
    }
    lines
}

/// A missing name, blanks around it, and bytes that no name has.
fn check_name(name: &[u8], noun: &str, problems: &mut ProblemList) {
    match name.trim_ascii() {
        b"" => problems.add(format!("{noun} has no name")),
        trimmed if trimmed.len() != name.len() => {
            problems.add(format!("{noun} has blanks around its name"))
        }
        trimmed if !trimmed.iter().all(|&byte| is_token_byte(byte)) => {
            let name = quoted(trimmed);
            problems.add(format!("{noun} has the invalid name {name}"));
        }
        _ => {}
    }
}

/// Control bytes and carriage returns inside a line.
fn check_line(line: &[u8], noun: &str, problems: &mut ProblemList) {
    if let Some(byte) = line.iter().find(|&&byte| is_control(byte)) {
        problems.add(format!(
            "{noun} contains the control byte {}",
            quoted(&[*byte])
        ));
    }
}

/// The first line without its end.
pub(super) fn first_line(bytes: &[u8]) -> &[u8] {
    without_line_end(
        bytes
            .split_inclusive(|&byte| byte == b'\n')
            .next()
            .unwrap_or_default(),
    )
}

/// Whether the start of a request line may be that of a method.
pub(super) fn begins_with_method(line: &[u8]) -> bool {
    let start = &line[..line.len().min(LONGEST_METHOD)];
    split_at_blank(start)
        .0
        .iter()
        .all(|&byte| is_token_byte(byte))
}

/// Whether a request line ends in an HTTP version.
pub(super) fn names_version(line: &[u8]) -> bool {
    is_version(last_word(line.trim_ascii()).1)
}

pub(super) fn without_line_end(line: &[u8]) -> &[u8] {
    match line.strip_suffix(b"\n") {
        Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
        None => line,
    }
}

/// A byte that no URL contains.
fn is_odd_in_target(byte: u8) -> bool {
    !byte.is_ascii_graphic() || b"<>\"\\^`{|}".contains(&byte)
}

fn is_version(word: &[u8]) -> bool {
    word.get(..5)
        .is_some_and(|start| start.eq_ignore_ascii_case(b"HTTP/"))
}

fn split_at_blank(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().position(|byte| matches!(byte, b' ' | b'\t')) {
        Some(blank) => (&text[..blank], &text[blank + 1..]),
        None => (text, &[]),
    }
}

/// The text before the last word with the blank, and the word. A line of one word has none.
fn last_word(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().rposition(|byte| matches!(byte, b' ' | b'\t')) {
        Some(blank) => (&text[..blank], &text[blank + 1..]),
        None => (&text[..0], text),
    }
}

/// A byte of a method or header name (RFC 9110 §5.6.2).
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
