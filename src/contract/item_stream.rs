//! A list of objects that is decoded while it is read: of the text, only one item is in memory.
//!
//! Only lists in their plain form are read: `[{…},…]` or `{"data":[{…},…]}`. For others, and for those with an item that
//! cannot be decoded, the reader gives up, and [`decode_list`](super::list::decode_list) has to decode the whole text.

use std::io::Read;

use serde::de::DeserializeOwned;

/// Bytes that are read at once.
const BLOCK: usize = 1 << 18;
/// A longer item is decoded with the whole text, whose memory is limited.
const LONGEST: usize = 16 << 20;

/// Reads a list and hands over its items. `Ok(false)` means that the list is not plain; then the items so far are void.
///
/// # Errors
/// The first error of `take`.
pub fn each_item<T: DeserializeOwned, E>(
    from: impl Read,
    take: &mut impl FnMut(T) -> Result<(), E>,
) -> Result<bool, E> {
    let mut text = ItemText { from, buffer: Vec::new(), at: 0, is_at_end: false };
    let Some(is_wrapped) = text.begin() else { return Ok(false) };
    let mut is_first = true;
    loop {
        match text.peek() {
            Some(b']') if is_first => text.at += 1,
            Some(b'{') => {
                let Some(length) = text.item() else { return Ok(false) };
                let Ok(item) = serde_json::from_slice(&text.buffer[text.at..text.at + length]) else {
                    return Ok(false);
                };
                text.at += length;
                take(item)?;
                is_first = false;
                match text.peek() {
                    Some(b',') => {
                        text.at += 1;
                        continue;
                    }
                    Some(b']') => text.at += 1,
                    _ => return Ok(false),
                }
            }
            _ => return Ok(false),
        }
        let is_closed = !is_wrapped || text.takes(b"}");
        return Ok(is_closed && text.peek().is_none());
    }
}

struct ItemText<R> {
    from: R,
    buffer: Vec<u8>,
    at: usize,
    is_at_end: bool,
}

impl<R: Read> ItemText<R> {
    /// Reads up to the first item; whether the list is wrapped.
    fn begin(&mut self) -> Option<bool> {
        match self.peek()? {
            b'[' => self.takes(b"[").then_some(false),
            b'{' => [&b"{"[..], b"\"data\"", b":", b"["].into_iter().all(|part| self.takes(part)).then_some(true),
            _ => None,
        }
    }

    /// Reads more; false at the end.
    fn fill(&mut self) -> bool {
        if self.is_at_end {
            return false;
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        let before = self.buffer.len();
        self.buffer.resize(before + BLOCK, 0);
        let read = loop {
            match self.from.read(&mut self.buffer[before..]) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                other => break other.unwrap_or(0),
            }
        };
        self.buffer.truncate(before + read);
        self.is_at_end = read == 0;
        !self.is_at_end
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.buffer.get(self.at).copied() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                Some(byte) => return Some(byte),
                None if self.fill() => {}
                None => return None,
            }
        }
    }

    /// Whether the text continues with these bytes, after white space.
    fn takes(&mut self, expected: &[u8]) -> bool {
        if self.peek().is_none() {
            return false;
        }
        while self.buffer.len() < self.at + expected.len() && self.fill() {}
        let is_next = self.buffer[self.at..].starts_with(expected);
        self.at += if is_next { expected.len() } else { 0 };
        is_next
    }

    /// The length of the object that begins here.
    fn item(&mut self) -> Option<usize> {
        let (mut depth, mut in_string, mut escaped, mut length) = (0_usize, false, false, 0);
        loop {
            for byte in &self.buffer[self.at + length..] {
                length += 1;
                if in_string {
                    (in_string, escaped) = (escaped || *byte != b'"', !escaped && *byte == b'\\');
                    continue;
                }
                match byte {
                    b'"' => in_string = true,
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    return Some(length);
                }
            }
            if length > LONGEST || !self.fill() {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Workspace;
    use crate::contract::list::decode_list;

    /// Hands over a few bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            let length = self.0.len().min(self.1).min(to.len());
            let (now, later) = self.0.split_at(length);
            to[..length].copy_from_slice(now);
            self.0 = later;
            Ok(length)
        }
    }

    fn names(text: &str, step: usize) -> Option<Vec<String>> {
        let mut names = Vec::new();
        let mut take = |one: Workspace| -> Result<(), ()> {
            names.push(one.name.to_string());
            Ok(())
        };
        each_item(Slow(text.as_bytes(), step), &mut take).unwrap().then_some(names)
    }

    #[test]
    fn plain_lists_are_read_as_a_whole_decoder_reads_them() {
        for text in [
            r#"[]"#,
            r#" { "data" : [ ] } "#,
            r#"[{"name":"a"}]"#,
            r#"{"data":[{"name":"a\"}],{","x":{"y":[1,{}]}},
               {"name":"\\"} , {"name":"b"}]}"#,
        ] {
            for step in [1, 2, 7, 1000] {
                let whole = decode_list::<Workspace>(text.as_bytes(), None).unwrap().items;
                let whole: Vec<String> = whole.iter().map(|one| one.name.to_string()).collect();
                assert_eq!(names(text, step), Some(whole), "{text}");
            }
        }
    }

    #[test]
    fn other_texts_are_left_to_the_whole_decoder() {
        for text in [
            "",
            "null",
            "7",
            "{}",
            "[",
            "[{",
            "[{}",
            "[{},]",
            "[,{}]",
            "[{}]]",
            "[{}] x",
            "[null]",
            "[1]",
            "[[]]",
            r#"{"data":[{}],"more":1}"#,
            r#"{"data":[{}]"#,
            r#"{"other":[{}]}"#,
            r#"{"data":{}}"#,
            "[{]}",
            "[{}{}]",
            r#"[{"name":1e999,"target_count":1e999}]"#,
            r#"[{"name":"a","name":"b"}]"#,
        ] {
            assert_eq!(names(text, 3), None, "{text}");
        }
        assert_eq!(names(&format!("[{{\"name\":\"{}\"}}]", "x".repeat(LONGEST + BLOCK)), 1 << 20), None);
    }

    proptest::proptest! {
        #[test]
        fn stream_decoder_agrees_with_whole_decoder(text in r#"(\[|\{|\]|\}|,|:| |"data"|"name"|"a\\""|1|null){0,12}"#) {
            if let Some(read) = names(&text, 2) {
                let whole = decode_list::<Workspace>(text.as_bytes(), None).unwrap().items;
                proptest::prop_assert_eq!(read, whole.iter().map(|one| one.name.to_string()).collect::<Vec<_>>());
            }
        }
    }
}
