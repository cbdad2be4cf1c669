//! Where the body of a request ends, according to its headers. Of contradicting headers the one
//! counts that keeps the most bytes.

use super::head::{RequestHead, RequestVersion};
use super::problems::{ProblemList, quoted};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BodyFraming {
    pub kind: FramingKind,
    /// The length according to other headers: from there on a pause may be the end.
    pub shortest: Option<u64>,
    /// Whether other software may find another end.
    pub is_ambiguous: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FramingKind {
    /// No body.
    Empty,
    Length(u64),
    Chunked,
    /// Up to a pause.
    Unknown,
}

impl BodyFraming {
    /// Of a head without a body.
    pub const NONE: Self = Self {
        kind: FramingKind::Empty,
        shortest: None,
        is_ambiguous: false,
    };

    pub fn of(head: &RequestHead, problems: &mut ProblemList) -> Self {
        let lengths = ContentLengths::of(head, problems);
        let encodings = encodings(head);
        if encodings.is_empty() {
            return lengths.framing();
        }
        let is_chunked = encodings.last().is_some_and(|last| last == b"chunked");
        let others = || encodings.iter().filter(|one| *one != b"chunked");
        others().for_each(|other| {
            problems.add(format!(
                "transfer encoding {} was not decoded",
                quoted(other)
            ))
        });
        let chunked = encodings.len() - others().count();
        if chunked > 1 || (chunked == 1 && !is_chunked) {
            problems
                .add("`chunked` is not the last transfer encoding, or is named twice".to_owned());
        }
        if head.version != RequestVersion::Http11 {
            problems.add("Transfer-Encoding in a request that is not of HTTP/1.1".to_owned());
        }
        let has_lengths = lengths.longest.is_some() || lengths.has_invalid;
        if has_lengths {
            let used = if is_chunked || lengths.longest.is_none() {
                "Transfer-Encoding"
            } else {
                "Content-Length"
            };
            problems.add(format!(
                "both Content-Length and Transfer-Encoding; {used} was used"
            ));
        }
        let is_ambiguous =
            has_lengths || chunked != 1 || !is_chunked || head.version != RequestVersion::Http11;
        match (is_chunked, lengths.longest) {
            (true, _) => Self {
                kind: FramingKind::Chunked,
                shortest: lengths.earliest(),
                is_ambiguous,
            },
            (false, Some(longest)) => Self {
                kind: FramingKind::Length(longest),
                shortest: Some(0),
                is_ambiguous,
            },
            (false, None) => Self {
                kind: FramingKind::Unknown,
                shortest: None,
                is_ambiguous,
            },
        }
    }
}

/// The lengths in all Content-Length headers.
struct ContentLengths {
    longest: Option<u64>,
    shortest: Option<u64>,
    has_invalid: bool,
}

impl ContentLengths {
    fn of(head: &RequestHead, problems: &mut ProblemList) -> Self {
        let lines = || head.lines.iter().filter(|line| line.is("content-length"));
        let mut lengths = Vec::new();
        let mut has_invalid = false;
        for line in lines() {
            // An empty value is one that cannot be read.
            let parts = line
                .value
                .split(|&byte| byte == b',')
                .map(<[u8]>::trim_ascii);
            for part in parts {
                match length(part) {
                    Some(length) => lengths.push(length),
                    None => {
                        has_invalid = true;
                        problems.add(format!("Content-Length is no number: {}", quoted(part)));
                    }
                }
            }
        }
        let count = lengths.len();
        lengths.sort_unstable();
        lengths.dedup();
        match lengths.as_slice() {
            [] | [_] if count > 1 => {
                problems.add(format!("Content-Length is repeated {count} times"))
            }
            [] | [_] => {}
            several => {
                let values: Vec<String> = several.iter().take(5).map(u64::to_string).collect();
                let values = values.join(" and ");
                problems.add(format!(
                    "different Content-Length values: {values}; the largest was used"
                ));
            }
        }
        Self {
            longest: lengths.last().copied(),
            shortest: lengths.first().copied(),
            has_invalid,
        }
    }

    /// The earliest end according to these headers.
    fn earliest(&self) -> Option<u64> {
        if self.has_invalid {
            Some(0)
        } else {
            self.shortest
        }
    }

    fn framing(&self) -> BodyFraming {
        match (self.longest, self.has_invalid) {
            (Some(longest), true) => BodyFraming {
                kind: FramingKind::Length(longest),
                shortest: Some(0),
                is_ambiguous: true,
            },
            (Some(longest), false) => {
                let is_ambiguous = self.shortest != self.longest;
                let shortest = self.shortest.filter(|_| is_ambiguous);
                BodyFraming {
                    kind: FramingKind::Length(longest),
                    shortest,
                    is_ambiguous,
                }
            }
            (None, true) => BodyFraming {
                kind: FramingKind::Unknown,
                shortest: None,
                is_ambiguous: true,
            },
            (None, false) => BodyFraming::NONE,
        }
    }
}

/// A number of digits only. One that does not fit is the largest.
fn length(text: &[u8]) -> Option<u64> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| {
        std::str::from_utf8(text)
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(u64::MAX)
    })
}

/// The transfer encodings in lower case, without `identity`, which has no effect.
fn encodings(head: &RequestHead) -> Vec<Vec<u8>> {
    let lines = head
        .lines
        .iter()
        .filter(|line| line.is("transfer-encoding"));
    let named = lines.flat_map(|line| line.parts().map(<[u8]>::to_ascii_lowercase));
    named.filter(|encoding| encoding != b"identity").collect()
}
