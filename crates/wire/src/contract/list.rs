//! Lists of the service whose items are decoded one by one when they have to be: one odd item loses
//! itself, not the list.
//!
//! ```text
//!   body ─► whole list ─► items
//!             └─ an error ─► repaired text ─► item by item ─► items, and where the unreadable ones are
//! ```
//!
//! [`item_stream`](super::item_stream) does the same with long lists, item by item from the
//! beginning.
//!
//! A value that is no list is an error, so that the rows of the last good list remain.

use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::envelope::wrapped;
use super::shared::{SharedPool, SharedTexts};

/// Most reasons that are kept of one list.
const MOST_REASONS: usize = 20;

/// Limits of the path of a field, because names and depth come from outside.
const LONGEST_NAME: usize = 40;
const DEEPEST: usize = 6;

/// A decoded list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedList<T> {
    /// The readable items in their order; null elements are skipped.
    pub items: Vec<T>,
    /// The others.
    pub unreadable: Unreadable,
}

/// The items of a list that are there, but cannot be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unreadable {
    /// Their number.
    pub count: usize,
    /// Place and error of the first ones: `item 3: field evidence.rows[2]: number out of range`.
    pub reasons: Vec<String>,
    /// Their ids, as far as these can be read.
    pub ids: BTreeSet<i64>,
    /// Some of them have no readable id.
    pub has_unknown_ids: bool,
}

impl Unreadable {
    /// Items without an id.
    pub fn without_id(count: usize) -> Self {
        let reasons = vec!["item without id".to_owned(); count.min(MOST_REASONS)];
        Self {
            count,
            reasons,
            ids: BTreeSet::new(),
            has_unknown_ids: count > 0,
        }
    }

    /// Whether all items can be used.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether the item with this id can be among them.
    pub fn may_include(&self, id: i64) -> bool {
        self.has_unknown_ids || self.ids.contains(&id)
    }

    /// Adds those of another list.
    pub fn extend(&mut self, other: Self) {
        self.count += other.count;
        self.reasons.extend(other.reasons);
        self.reasons.dedup();
        self.reasons.truncate(MOST_REASONS);
        self.ids.extend(other.ids);
        self.has_unknown_ids |= other.has_unknown_ids;
    }

    /// These and those of another response of the same list, of which some can be the same.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        let repeated = other.ids.intersection(&self.ids).count();
        self.extend(other);
        self.count -= repeated;
        self
    }
}

/// Decodes a list of objects, wrapped or bare; with `field`, the list is in this field of the
/// object.
///
/// # Errors
/// When the body is not JSON or not such a list, or none of its items is readable.
pub fn decode_list<T: DeserializeOwned + SharedTexts>(
    body: &[u8],
    field: Option<&'static str>,
) -> Result<DecodedList<T>, serde_json::Error> {
    let whole = std::str::from_utf8(body)
        .ok()
        .map(|text| whole_list::<T>(text, field));
    let mut list = match whole {
        Some(Ok(items)) => DecodedList {
            items,
            unreadable: Unreadable::default(),
        },
        _ => item_by_item(&repaired(body), field)?,
    };
    let mut pool = SharedPool::default();
    list.items
        .iter_mut()
        .for_each(|item| item.share_texts(&mut pool));
    Ok(list)
}

fn whole_list<T: DeserializeOwned>(
    text: &str,
    field: Option<&'static str>,
) -> Result<Vec<T>, serde_json::Error> {
    let entries: Vec<ListEntry<T>> = serde_json::from_str(list_in(text, field)?)?;
    Ok(entries
        .into_iter()
        .filter_map(|ListEntry(item)| item)
        .collect())
}

fn item_by_item<T: DeserializeOwned>(
    text: &str,
    field: Option<&'static str>,
) -> Result<DecodedList<T>, serde_json::Error> {
    // The first error of a text that is not JSON says more than the shape of its beginning.
    serde_json::from_str::<IgnoredAny>(text)?;
    let entries: Vec<&RawValue> = serde_json::from_str(list_in(text, field)?)?;
    let (mut items, mut unreadable) = (Vec::new(), UnreadableItems::default());
    for (position, entry) in entries.iter().enumerate() {
        match item_of(entry.get()) {
            Ok(item) => items.extend(item),
            Err(error) => unreadable.note(position, entry.get(), error),
        }
    }
    let unreadable = unreadable.beside(!items.is_empty())?;
    Ok(DecodedList { items, unreadable })
}

/// Decodes an element of a list; none for null.
pub(super) fn item_of<T: DeserializeOwned>(text: &str) -> Result<Option<T>, serde_json::Error> {
    serde_json::from_str(text).map(|ListEntry(item)| item)
}

/// The items of a list that cannot be decoded.
#[derive(Debug, Default)]
pub struct UnreadableItems {
    found: Unreadable,
    first: Option<serde_json::Error>,
}

/// The id of an item whose other fields are unreadable.
#[derive(Deserialize)]
struct ItemId {
    id: i64,
}

impl UnreadableItems {
    pub(super) fn note(&mut self, position: usize, item: &str, error: serde_json::Error) {
        self.found.count += 1;
        if self.found.reasons.len() < MOST_REASONS {
            self.found
                .reasons
                .push(format!("item {}: {}", position + 1, located(item, &error)));
        }
        match serde_json::from_str(item) {
            Ok(ItemId { id }) => _ = self.found.ids.insert(id),
            Err(_) => self.found.has_unknown_ids = true,
        }
        self.first.get_or_insert(error);
    }

    /// The unreadable items of a list that has others.
    ///
    /// # Errors
    /// The first error, if the list has such items only.
    pub fn beside(self, has_others: bool) -> Result<Unreadable, serde_json::Error> {
        self.first
            .filter(|_| !has_others)
            .map_or(Ok(self.found), Err)
    }
}

/// The error of an item with the path of the field in place of line and column, which nobody can
/// look up.
fn located(item: &str, error: &serde_json::Error) -> String {
    let message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    let reason = message.strip_suffix(&position).unwrap_or(&message);
    let line_start: usize = item
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum();
    match field_at(item, line_start + error.column()).as_str() {
        "" => reason.to_owned(),
        field => format!("field {field}: {reason}"),
    }
}

/// The path of the field that contains an offset, such as `evidence.rows[2]`; empty for the item
/// itself.
fn field_at(item: &str, offset: usize) -> String {
    let mut path = String::new();
    let mut value = item;
    for _ in 0..DEEPEST {
        let offset = offset.saturating_sub(start_of(item, value));
        // An error of the item as a whole is found at its end.
        if offset >= value.len() {
            break;
        }
        let parts = parts_of(value);
        let end = |part: &JsonPart<'_>| start_of(value, part.value) + part.value.len();
        let Some(part) = parts.iter().find(|part| offset <= end(part)) else {
            break;
        };
        match part.name {
            Some(name) if path.is_empty() => path.extend(name.chars().take(LONGEST_NAME)),
            Some(name) => path.extend(['.'].into_iter().chain(name.chars().take(LONGEST_NAME))),
            None => path.push_str(&format!("[{}]", part.number)),
        }
        value = part.value;
    }
    path
}

/// The offset of a part of a text in it.
fn start_of(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// A field of an object, or an element of an array.
struct JsonPart<'a> {
    number: usize,
    /// As in the text, without quotes.
    name: Option<&'a str>,
    value: &'a str,
}

fn parts_of(value: &str) -> Vec<JsonPart<'_>> {
    let parts: Result<JsonParts<'_>, _> = serde_json::from_str(value);
    parts.map(|JsonParts(parts)| parts).unwrap_or_default()
}

/// The fields of an object, also repeated ones, or the elements of an array.
struct JsonParts<'a>(Vec<JsonPart<'a>>);

impl<'de> Deserialize<'de> for JsonParts<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct JsonPartsVisitor;
        impl<'de> Visitor<'de> for JsonPartsVisitor {
            type Value = JsonParts<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object or an array")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonParts<'de>, A::Error> {
                let mut parts = Vec::new();
                while let Some((name, value)) = map.next_entry::<&RawValue, &RawValue>()? {
                    parts.push(JsonPart {
                        number: parts.len(),
                        name: Some(name.get().trim_matches('"')),
                        value: value.get(),
                    });
                }
                Ok(JsonParts(parts))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<JsonParts<'de>, A::Error> {
                let mut parts = Vec::new();
                while let Some(value) = list.next_element::<&RawValue>()? {
                    parts.push(JsonPart {
                        number: parts.len(),
                        name: None,
                        value: value.get(),
                    });
                }
                Ok(JsonParts(parts))
            }
        }
        from.deserialize_any(JsonPartsVisitor)
    }
}

/// The text of the list within the response.
fn list_in<'a>(text: &'a str, field: Option<&'static str>) -> Result<&'a str, serde_json::Error> {
    let inner = wrapped(text.as_bytes()).map_or(text, RawValue::get);
    let Some(field) = field else { return Ok(inner) };
    let fields: std::collections::HashMap<String, &RawValue> = serde_json::from_str(inner)?;
    let list = fields
        .get(field)
        .ok_or_else(|| serde_json::Error::custom(format!("field `{field}` is missing")))?;
    Ok(list.get())
}

/// An element of a list: an object, or nothing for null. Derived readers would also accept an array
/// as an object.
struct ListEntry<T>(Option<T>);

impl<'de, T: DeserializeOwned> Deserialize<'de> for ListEntry<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ListEntryVisitor<T>(PhantomData<T>);
        impl<'de, T: DeserializeOwned> Visitor<'de> for ListEntryVisitor<T> {
            type Value = ListEntry<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_unit<E>(self) -> Result<ListEntry<T>, E> {
                Ok(ListEntry(None))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ListEntry<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|item| ListEntry(Some(item)))
            }
        }
        from.deserialize_any(ListEntryVisitor(PhantomData))
    }
}

/// The body as text in which damage within strings and numbers is replaced, so that the rest can be
/// read: a byte order mark, invalid UTF-8, control characters, unknown escapes and lone surrogates
/// in strings, `NaN` and infinities.
pub fn repaired(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body));
    let mut fixed = String::with_capacity(text.len());
    let (mut rest, mut in_string) = (text.as_ref(), false);
    while let Some(c) = rest.chars().next() {
        let (length, replacement) = match c {
            '"' => {
                in_string = !in_string;
                (1, None)
            }
            '\\' if in_string => escape(rest),
            c if in_string && c < ' ' => (1, Some(format!("\\u{:04x}", c as u32))),
            'N' if !in_string && rest.starts_with("NaN") => (3, Some("null".to_owned())),
            'I' if !in_string && rest.starts_with("Infinity") => (8, Some("null".to_owned())),
            '-' if rest.starts_with("-Infinity") && !in_string => (9, Some("null".to_owned())),
            c => (c.len_utf8(), None),
        };
        let (chunk, after) = rest.split_at(length);
        fixed.push_str(replacement.as_deref().unwrap_or(chunk));
        rest = after;
    }
    fixed
}

/// The length of the escape sequence at the start of the text, and its replacement if it is not
/// valid.
fn escape(text: &str) -> (usize, Option<String>) {
    const UNREADABLE: &str = "\\ufffd";
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    match text.as_bytes().get(1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => (2, None),
        Some(b'u') => match (unit(0), unit(6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (12, None),
            (Some(0xd800..=0xdfff), _) => (6, Some(UNREADABLE.to_owned())),
            (Some(_), _) => (6, None),
            (None, _) => (2, Some(UNREADABLE.to_owned())),
        },
        _ => (1, Some("\\\\".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Capture, Workspace};

    fn names(body: &[u8]) -> (Vec<String>, Vec<String>) {
        let list: DecodedList<Workspace> = decode_list(body, None).unwrap();
        (
            list.items
                .iter()
                .map(|item| item.name.to_string())
                .collect(),
            list.unreadable.reasons,
        )
    }

    #[test]
    fn damaged_text_is_read_with_visible_replacement() {
        for (name, read) in [
            (&b"a\\udcffb"[..], "a\u{fffd}b"),
            (b"a\\ud83d\\ude00", "a\u{1f600}"),
            (b"a\\ud83dx", "a\u{fffd}x"),
            (b"a\xff\xfe", "a\u{fffd}\u{fffd}"),
            (b"a\x01\nb", "a\u{1}\nb"),
            (b"a\\qb\\uZZ", "a\\qb\u{fffd}ZZ"),
            (b"NaN", "NaN"),
        ] {
            let body = [
                b"{\"data\":[{\"id\":1,\"name\":\"",
                name,
                b"\"},{\"id\":2,\"name\":\"b\"}]}",
            ]
            .concat();
            assert_eq!(
                names(&body),
                (vec![read.to_owned(), "b".to_owned()], vec![]),
                "{name:?}"
            );
        }
    }

    #[test]
    fn odd_item_loses_itself_only() {
        for odd in [
            "7",
            "\"x\"",
            "[1]",
            "true",
            "{\"id\":1,\"id\":2}",
            "{\"target_count\":1e999}",
        ] {
            let (read, unreadable) =
                names(format!("[{{\"name\":\"a\"}},null,{odd},{{\"name\":\"b\"}}]").as_bytes());
            assert_eq!(read, ["a", "b"], "{odd}");
            assert!(
                matches!(unreadable.as_slice(), [one] if one.starts_with("item 3: ")),
                "{odd}: {unreadable:?}"
            );
        }
        let with_mark = [
            &b"\xef\xbb\xbf"[..],
            b"[{\"name\":\"a\",\"target_count\":NaN},{\"scan_count\":-Infinity}]",
        ]
        .concat();
        assert_eq!(
            names(&with_mark),
            (vec!["a".to_owned(), String::new()], vec![])
        );
    }

    #[test]
    fn unreadable_item_is_named_by_field_and_reason() {
        for (odd, place) in [
            ("7", "item 1: invalid type: integer `7`, expected an object"),
            (
                "{\"id\":4,\"target_count\":1e999}",
                "item 1: field target_count: number out of range",
            ),
            (
                "{\"id\":1,\n \"name\":\"a\",\n \"name\":\"b\"}",
                "item 1: field name: duplicate field `name`",
            ),
        ] {
            let (_, unreadable) = names(format!("[{odd},{{\"name\":\"b\"}}]").as_bytes());
            assert_eq!(unreadable, [place]);
        }
        let item = r#"{"a":[{"x":1},{"y,\"z":[1,1e999]}],"b":7}"#;
        let path = |before: &str| field_at(item, item.find(before).unwrap());
        assert_eq!(
            [path("1e999"), path(",\"b"), path("7")],
            [r#"a[1].y,\"z[1]"#, "a", "b"]
        );
    }

    #[test]
    fn value_that_is_no_list_is_an_error() {
        for body in [
            "null",
            "{\"data\":null}",
            "{\"data\":{}}",
            "{}",
            "[[]]",
            "[[{\"id\":1}]]",
            "[1,2]",
            "7",
            "",
            "[{",
        ] {
            assert!(
                decode_list::<Workspace>(body.as_bytes(), None).is_err(),
                "{body}"
            );
        }
        assert!(
            decode_list::<Workspace>(b"{\"data\":[{\"id\":1", None)
                .unwrap_err()
                .is_eof()
        );
        assert_eq!(names(b"[]"), (vec![], vec![]));
        for body in [
            "{\"data\":{}}",
            "{\"data\":[]}",
            "{\"requests\":null}",
            "[{\"id\":1}]",
        ] {
            assert!(
                decode_list::<Capture>(body.as_bytes(), Some("requests")).is_err(),
                "{body}"
            );
        }
        let captures =
            decode_list::<Capture>(b"{\"data\":{\"requests\":[{\"id\":4}]}}", Some("requests"))
                .unwrap();
        assert_eq!(captures.items[0].id.0, 4);
    }
}
