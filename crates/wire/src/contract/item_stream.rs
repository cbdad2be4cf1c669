//! A list of objects that is decoded while it is read: of the text, only one item is in memory. An
//! item that cannot be decoded is repaired, or noted.
//!
//! Only lists in their plain form are read: `[{…},…]` or `{"data":[{…},…]}`. For others, and for
//! those that are not JSON, the reader gives up, and [`decode_list`](super::list::decode_list) has
//! to decode the whole text.

use std::io::Read;

use serde::de::{DeserializeOwned, IgnoredAny};

use super::list::{UnreadableItems, item_of, repaired};

/// Bytes that are read at once.
const BLOCK: usize = 1 << 18;
/// A longer item is decoded with the whole text, whose memory is limited.
const LONGEST: usize = 16 << 20;

/// Reads a list and hands over its items. `Ok(None)` means that the list is not plain; then the
/// items so far are void.
///
/// # Errors
/// The first error of `take`.
pub fn each_item<T: DeserializeOwned, E>(
    from: impl Read,
    take: &mut impl FnMut(T) -> Result<(), E>,
) -> Result<Option<UnreadableItems>, E> {
    let mut text = ItemText {
        from,
        buffer: Vec::new(),
        at: 0,
        is_at_end: false,
    };
    let Some(is_wrapped) = text.begin() else {
        return Ok(None);
    };
    let mut unreadable = UnreadableItems::default();
    if text.peek() != Some(b']') {
        for position in 0.. {
            let Some(length) = text.item() else {
                return Ok(None);
            };
            match decoded(
                &text.buffer[text.at..text.at + length],
                position,
                &mut unreadable,
            ) {
                Some(item) => item.into_iter().try_for_each(&mut *take)?,
                None => return Ok(None),
            }
            text.at += length;
            if !text.takes(b",") {
                break;
            }
        }
    }
    let is_closed = text.takes(b"]") && (!is_wrapped || text.takes(b"}"));
    Ok((is_closed && text.peek().is_none()).then_some(unreadable))
}

/// Decodes an element, if need be from its repaired text; `None` if it is not JSON.
fn decoded<T: DeserializeOwned>(
    text: &[u8],
    position: usize,
    unreadable: &mut UnreadableItems,
) -> Option<Option<T>> {
    if let Some(Ok(item)) = std::str::from_utf8(text).ok().map(item_of) {
        return Some(item);
    }
    let text = repaired(text);
    match item_of(&text) {
        Ok(item) => Some(item),
        Err(error) => {
            serde_json::from_str::<IgnoredAny>(&text).ok()?;
            unreadable.note(position, &text, error);
            Some(None)
        }
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
            b'{' => [&b"{"[..], b"\"data\"", b":", b"["]
                .into_iter()
                .all(|part| self.takes(part))
                .then_some(true),
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

    /// The length of the value that begins here.
    fn item(&mut self) -> Option<usize> {
        self.peek()?;
        let (mut depth, mut in_string, mut escaped, mut length) = (0_usize, false, false, 0);
        loop {
            for byte in &self.buffer[self.at + length..] {
                let is_end = depth == 0
                    && !in_string
                    && matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t');
                if is_end {
                    return (length > 0).then_some(length);
                }
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

    /// The names of the items, and the reasons of the unreadable ones; none if the list is not
    /// plain.
    fn names(text: &[u8], step: usize) -> Option<Result<Names, String>> {
        let mut names = Vec::new();
        let mut take = |one: Workspace| -> Result<(), ()> {
            names.push(one.name.to_string());
            Ok(())
        };
        let unreadable = each_item(Slow(text, step), &mut take).unwrap()?;
        let unreadable = unreadable.beside(!names.is_empty());
        Some(
            unreadable
                .map(|unreadable| (names, unreadable.reasons))
                .map_err(|error| error.to_string()),
        )
    }

    /// The same as the whole decoder reads them.
    fn whole(text: &[u8]) -> Result<Names, String> {
        let list = decode_list::<Workspace>(text, None).map_err(|error| error.to_string())?;
        Ok((
            list.items.iter().map(|one| one.name.to_string()).collect(),
            list.unreadable.reasons,
        ))
    }

    type Names = (Vec<String>, Vec<String>);

    #[test]
    fn plain_lists_are_read_as_a_whole_decoder_reads_them() {
        for text in [
            &br#"[]"#[..],
            br#" { "data" : [ ] } "#,
            br#"[{"name":"a"}]"#,
            br#"{"data":[{"name":"a\"}],{","x":{"y":[1,{}]}},
               {"name":"\\"} , {"name":"b"}]}"#,
            b"[null]",
            b"[1]",
            b"[[],[{\"name\":\"a\"}]]",
            br#"["a,]", "b"]"#,
            br#"[{"name":"a"},{"name":"b","name":"c"},7,null,"x",{"name":"d","target_count":1e999}]"#,
            br#"[{"name":"b","name":"c"},{"target_count":1e999}]"#,
            b"[{\"name\":\"a\xff\x01\\q\",\"target_count\":NaN}]",
        ] {
            for step in [1, 2, 7, 1000] {
                assert_eq!(names(text, step), Some(whole(text)), "{}", String::from_utf8_lossy(text));
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
            "[nul]",
            "[1}",
            r#"{"data":[{}],"more":1}"#,
            r#"{"data":[{}]"#,
            r#"{"other":[{}]}"#,
            r#"{"data":{}}"#,
            "[{]}",
            "[{}{}]",
        ] {
            assert_eq!(names(text.as_bytes(), 3), None, "{text}");
        }
        let long = format!("[{{\"name\":\"{}\"}}]", "x".repeat(LONGEST + BLOCK));
        assert_eq!(names(long.as_bytes(), 1 << 20), None);
    }

    proptest::proptest! {
        #[test]
        fn stream_decoder_agrees_with_whole_decoder(text in r#"(\[|\{|\]|\}|,|:| |"data"|"name"|"a\\""|1|null){0,12}"#) {
            if let Some(read) = names(text.as_bytes(), 2) {
                proptest::prop_assert_eq!(read, whole(text.as_bytes()));
            }
        }
    }
}
