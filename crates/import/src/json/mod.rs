//! Streams JSON: a walk through the document that passes on the raw text of the values that a
//! reader takes.
//!
//! ```text
//!   {"site": [{"@name": …, "alerts": [{…}, {…}]}]}
//!     site ─ List     site/* ─ Walk     site/*/@name ─ Take     site/*/alerts/* ─ Take, one by one
//! ```
//!
//! A taken value is checked JSON, so that a value of another shape is one odd entry and not the end
//! of the file. Values that are not taken are read over without recursion. Small errors are
//! repaired before (`repair`).

mod objects;

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer};
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

pub use objects::{each_object, object};

use crate::input::{EntryAllowance, ImportInput, ReadFault};
use crate::repair::RepairedRead;

/// Levels that a walk descends at most.
const MAX_DEPTH: usize = 16;
/// Bytes of members that wait for those on which they depend.
const MAX_WAITING: usize = 32 << 20;
pub const OTHER_SHAPE: &str = "entry has another shape than the format demands";

/// What a reader wants of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonStep {
    /// Go into it.
    Walk,
    /// Go into the list. An object is its only element: converters of XML write lists of one so,
    /// and an empty list as an empty object.
    List,
    /// Pass on its text.
    Take,
    /// Read over it.
    Skip,
}

/// The reader of a document. A path has the keys joined by `/`, and `*` for an element of a list.
pub trait JsonReader {
    fn step(&self, path: &str) -> JsonStep;

    /// The members of the object at a path that the others depend on, such as the name of a site.
    /// They are read first, whatever the order in the file. Each must be one that tools always
    /// write, because the others are held in memory until it comes.
    fn first(&self, _path: &str) -> &'static [&'static str] {
        &[]
    }

    /// A taken value.
    fn take(&mut self, path: &str, raw: &str) -> Result<(), ReadFault>;

    /// An object or list that was walked through ends.
    fn leave(&mut self, _path: &str) -> Result<(), ReadFault> {
        Ok(())
    }
}

/// Walks through every JSON document of the input, one after the other.
pub fn walk(input: &mut ImportInput<'_>, reader: &mut dyn JsonReader) -> Result<(), ReadFault> {
    let allowance = input.allowance();
    let mut json = serde_json::Deserializer::from_reader(RepairedRead::new(input));
    loop {
        let end = json.end();
        if end.is_ok() {
            return Ok(());
        }
        allowance.renew();
        let mut walk = JsonWalk {
            reader,
            path: String::new(),
            depth: 0,
            allowance: &allowance,
            fault: None,
        };
        let result = WalkSeed(&mut walk).deserialize(&mut json);
        if let Some(fault) = walk.fault {
            return Err(fault);
        }
        result.map_err(fault)?;
    }
}

fn fault(error: serde_json::Error) -> ReadFault {
    if error.is_io() {
        return ReadFault::from(std::io::Error::from(error));
    }
    ReadFault::Damaged(format!("the JSON ends or is damaged: {error}"))
}

struct JsonWalk<'a> {
    reader: &'a mut dyn JsonReader,
    path: String,
    depth: usize,
    allowance: &'a EntryAllowance,
    fault: Option<ReadFault>,
}

impl JsonWalk<'_> {
    fn step(&self) -> JsonStep {
        match self.depth < MAX_DEPTH {
            // The document itself is walked through.
            true if self.path.is_empty() => JsonStep::Walk,
            true => self.reader.step(&self.path),
            false => JsonStep::Skip,
        }
    }

    fn enter(&mut self, name: &str) -> usize {
        let length = self.path.len();
        if length > 0 {
            self.path.push('/');
        }
        self.path.push_str(name);
        self.depth += 1;
        length
    }

    fn leave(&mut self, length: usize) {
        self.path.truncate(length);
        self.depth -= 1;
    }

    fn object<'de, A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        let first = self.reader.first(&self.path);
        let mut missing = first.len();
        let mut waiting = WaitingMembers::default();
        while let Some(key) = map.next_key::<String>()? {
            let is_first = first.contains(&key.as_str());
            let length = self.enter(&key);
            match !is_first && missing > 0 && self.step() != JsonStep::Skip {
                true => self.keep::<A::Error>(waiting.push(key, map.next_value()?))?,
                false => map.next_value_seed(WalkSeed(self))?,
            }
            self.leave(length);
            missing = missing.saturating_sub(usize::from(is_first));
        }
        for member in waiting.all {
            let length = self.enter(&member.name);
            let mut json = serde_json::Deserializer::from_str(member.value.get());
            WalkSeed(self)
                .deserialize(&mut json)
                .map_err(<A::Error as serde::de::Error>::custom)?;
            self.leave(length);
        }
        self.end()
    }

    /// An object in the place of a list.
    fn only_element<'de, A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        let length = self.enter("*");
        match self.step() {
            JsonStep::Walk | JsonStep::List => self.object(map)?,
            JsonStep::Skip => while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {},
            JsonStep::Take => {
                self.allowance.renew();
                let mut fields = BTreeMap::<String, Box<RawValue>>::new();
                while let Some((name, value)) = map.next_entry()? {
                    fields.insert(name, value);
                }
                if !fields.is_empty() {
                    let raw = serde_json::to_string(&fields)
                        .map_err(<A::Error as serde::de::Error>::custom)?;
                    self.take::<A::Error>(&raw)?;
                }
            }
        }
        self.leave(length);
        self.end()
    }

    fn take<E: serde::de::Error>(&mut self, raw: &str) -> Result<(), E> {
        self.allowance.renew();
        let path = std::mem::take(&mut self.path);
        let taken = self.reader.take(&path, raw);
        self.path = path;
        self.keep(taken)
    }

    fn end<E: serde::de::Error>(&mut self) -> Result<(), E> {
        let path = std::mem::take(&mut self.path);
        let left = self.reader.leave(&path);
        self.path = path;
        self.keep(left)
    }

    fn keep<E: serde::de::Error>(&mut self, result: Result<(), ReadFault>) -> Result<(), E> {
        result.map_err(|fault| {
            self.fault = Some(fault);
            E::custom("stopped")
        })
    }
}

/// Members of an object that came before those on which they depend.
#[derive(Default)]
struct WaitingMembers {
    all: Vec<WaitingMember>,
    bytes: usize,
}

struct WaitingMember {
    name: String,
    value: Box<RawValue>,
}

impl WaitingMembers {
    fn push(&mut self, name: String, value: Box<RawValue>) -> Result<(), ReadFault> {
        self.bytes += value.get().len();
        if self.bytes > MAX_WAITING {
            let limit = format!(
                "more than {} MB of results before the target",
                MAX_WAITING >> 20
            );
            return Err(ReadFault::Limit(limit));
        }
        self.all.push(WaitingMember { name, value });
        Ok(())
    }
}

struct WalkSeed<'a, 'b>(&'a mut JsonWalk<'b>);

impl<'de> DeserializeSeed<'de> for WalkSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        let walk = self.0;
        let step = walk.step();
        match step {
            JsonStep::Walk | JsonStep::List => from.deserialize_any(WalkVisitor {
                walk,
                expects_list: step == JsonStep::List,
            }),
            JsonStep::Skip => {
                // Not only entries are long; the file has its own limit.
                IgnoredAny::deserialize(from)?;
                walk.allowance.renew();
                Ok(())
            }
            JsonStep::Take => {
                walk.allowance.renew();
                let raw = Box::<RawValue>::deserialize(from)?;
                walk.take(raw.get())
            }
        }
    }
}

struct WalkVisitor<'a, 'b> {
    walk: &'a mut JsonWalk<'b>,
    expects_list: bool,
}

impl<'de> Visitor<'de> for WalkVisitor<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        match self.expects_list {
            true => self.walk.only_element(map),
            false => self.walk.object(map),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        loop {
            let length = self.walk.enter("*");
            let next = list.next_element_seed(WalkSeed(self.walk))?;
            self.walk.leave(length);
            if next.is_none() {
                return self.walk.end();
            }
        }
    }

    fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        Ok(())
    }
}

/// The text of a taken string, or the raw text of another value; empty for null.
pub fn scalar(raw: &str) -> String {
    match serde_json::from_str::<String>(raw) {
        Ok(text) => text,
        Err(_) if raw == "null" => String::new(),
        Err(_) => raw.to_owned(),
    }
}

/// The elements of a list; an object in its place is its only element, as in [`JsonStep::List`].
pub fn elements(value: &Value) -> &[Value] {
    match value {
        Value::Array(all) => all,
        Value::Object(fields) if !fields.is_empty() => std::slice::from_ref(value),
        _ => &[],
    }
}
