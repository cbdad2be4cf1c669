//! What is wrong with a request, as sentences for its capture.

/// Problems of one request that are named; the others are counted.
const MOST: usize = 20;
/// Bytes of a request that a problem quotes.
const QUOTED: usize = 40;

#[derive(Debug, Default)]
pub(super) struct ProblemList {
    named: Vec<String>,
    others: usize,
}

impl ProblemList {
    pub fn add(&mut self, problem: String) {
        match () {
            () if self.named.contains(&problem) => {}
            () if self.named.len() < MOST => self.named.push(problem),
            () => self.others += 1,
        }
    }

    pub fn take(&mut self) -> Vec<String> {
        let Self { mut named, others } = std::mem::take(self);
        if others > 0 {
            named.push(format!("{others} more"));
        }
        named
    }
}

/// Bytes of the request as a problem quotes them.
pub(super) fn quoted(bytes: &[u8]) -> String {
    let mark = if bytes.len() > QUOTED { "…" } else { "" };
    format!(
        "`{}{mark}`",
        bytes[..bytes.len().min(QUOTED)].escape_ascii()
    )
}

/// The protocol of bytes that are no HTTP/1 head.
pub(super) fn foreign(start: &[u8]) -> Option<&'static str> {
    match start {
        [0x16, 0x03, ..] => Some("a TLS handshake, which this port cannot read"),
        _ if super::head::first_line(start) == super::HTTP2_LINE => {
            Some("an HTTP/2 connection; only HTTP/1 is read")
        }
        [first, ..] if super::is_control(*first) => Some("no HTTP request"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_named_once_and_counted_beyond_the_limit() {
        let mut list = ProblemList::default();
        (0..30).for_each(|n| list.add(format!("problem {n}")));
        (0..3).for_each(|_| list.add("problem 1".to_owned()));
        let taken = list.take();
        assert_eq!(
            (taken.len(), taken[0].as_str(), taken[MOST].as_str()),
            (MOST + 1, "problem 0", "10 more")
        );
        assert!(list.take().is_empty());
    }

    #[test]
    fn quoted_bytes_are_escaped_and_short() {
        assert_eq!(quoted(b"a\x00\xff\n"), r"`a\x00\xff\n`");
        assert!(quoted(&[b'x'; 100]).len() < 50);
    }
}
