//! A list of objects that is decoded while it is read: of the text, only one item is in memory. An
//! item that cannot be decoded is repaired, or noted.
//!
//! ```text
//!   text ─► visit_seq ─► raw text of an item ─► item ─► share_texts(pool) ─► take
//! ```
//!
//! Only lists in their plain form are read: `[{…},…]` or `{"data":[{…},…]}`. For others, and for
//! those that are not JSON, the reader gives up, and [`decode_list`](super::list::decode_list) has
//! to decode the whole text.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufReader, Read};
use std::marker::PhantomData;

use serde::Deserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::list::{UnreadableItems, item_of, repaired};
use super::shared::{SharedPool, SharedTexts};

/// Bytes that are read at once.
const BLOCK: usize = 1 << 18;
/// A longer item is decoded with the whole text, whose memory is limited.
const LONGEST: usize = 16 << 20;

/// Reads a list and hands over its items, whose texts are in the pool. `Ok(None)` means that the
/// list is not plain; then the items so far are void.
///
/// # Errors
/// The first error of `take`.
pub fn each_item<T: DeserializeOwned + SharedTexts, E>(
    from: impl Read,
    pool: &mut SharedPool,
    take: &mut impl FnMut(T) -> Result<(), E>,
) -> Result<Option<UnreadableItems>, E> {
    let unchecked = Cell::new(0);
    let from = LimitedItems {
        from,
        unchecked: &unchecked,
    };
    let mut items = Items {
        pool,
        take,
        unchecked: &unchecked,
        unreadable: UnreadableItems::default(),
        refused: None,
        item: PhantomData,
    };
    let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(BLOCK, from));
    let read = json.deserialize_any(&mut items).and_then(|()| json.end());
    match items.refused {
        Some(error) => Err(error),
        None => Ok(read.is_ok().then_some(items.unreadable)),
    }
}

/// The elements of the list, or of the list under `data`, as they are read.
struct Items<'a, T, F, E> {
    pool: &'a mut SharedPool,
    take: &'a mut F,
    unchecked: &'a Cell<usize>,
    unreadable: UnreadableItems,
    /// The error of `take`.
    refused: Option<E>,
    item: PhantomData<T>,
}

impl<T, F, E> Items<'_, T, F, E>
where
    T: DeserializeOwned + SharedTexts,
    F: FnMut(T) -> Result<(), E>,
{
    /// Decodes an element, if need be from its repaired text, and hands it over. Returns whether
    /// the list is read on.
    fn decode(&mut self, position: usize, text: &str) -> bool {
        let item = item_of(text).or_else(|_| {
            let text = repaired(text.as_bytes());
            item_of(&text).map_err(|error| self.unreadable.note(position, &text, error))
        });
        // A null is no item, and an unreadable one is noted.
        let Ok(Some(mut item)) = item else {
            return true;
        };
        T::share_texts(&mut item, self.pool);
        self.refused = (self.take)(item).err();
        self.refused.is_none()
    }
}

impl<'de, T, F, E> Visitor<'de> for &mut Items<'_, T, F, E>
where
    T: DeserializeOwned + SharedTexts,
    F: FnMut(T) -> Result<(), E>,
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        for position in 0.. {
            let Some(text) = list.next_element::<Box<RawValue>>()? else {
                break;
            };
            self.unchecked.set(0);
            if !self.decode(position, text.get()) {
                return Err(A::Error::custom("item refused"));
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        if fields.next_key::<String>()?.as_deref() != Some("data") {
            return Err(A::Error::custom("not wrapped"));
        }
        fields.next_value_seed(WrappedList(self))?;
        match fields.next_key::<String>()? {
            None => Ok(()),
            Some(_) => Err(A::Error::custom("more than a wrapper")),
        }
    }
}

/// The list under `data`.
struct WrappedList<V>(V);

impl<'de, V: Visitor<'de, Value = ()>> DeserializeSeed<'de> for WrappedList<V> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self.0)
    }
}

/// Fails when an item is too long.
struct LimitedItems<'a, R> {
    from: R,
    /// Bytes since the last item.
    unchecked: &'a Cell<usize>,
}

impl<R: Read> Read for LimitedItems<'_, R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.unchecked.get() > LONGEST {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let read = self.from.read(to)?;
        self.unchecked.set(self.unchecked.get() + read);
        Ok(read)
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
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
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
        let unreadable =
            each_item(Slow(text, step), &mut SharedPool::brief(), &mut take).unwrap()?;
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
            br#"[{"name":"a\udcff"},{"name":"b"}]"#,
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
            "[{\"name\":\"a\u{1}\"}]",
            "[{\"name\":\"\\q\"}]",
            "[{\"target_count\":NaN}]",
        ] {
            assert_eq!(names(text.as_bytes(), 3), None, "{text}");
        }
        assert_eq!(names(b"[{\"name\":\"a\xff\"}]", 3), None);
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
