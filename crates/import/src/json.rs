//! Streams JSON: a walk through the document that passes on the raw text of the values that a
//! reader takes.
//!
//! ```text
//!   {"site": [{"@name": …, "alerts": [{…}, {…}]}]}
//!     site ─ List     site/* ─ Walk     site/*/@name ─ Take     site/*/alerts/* ─ Take, one by one
//! ```
//!
//! A taken value is checked JSON, so that a value of another shape is one odd entry and not the end
//! of the file. Values that are not taken are read over without recursion.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer};
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::input::{EntryAllowance, ImportInput, ReadFault};
use crate::run::ImportRun;

/// Levels that a walk descends at most.
const MAX_DEPTH: usize = 16;
pub const OTHER_SHAPE: &str = "entry has another shape than the format demands";
const OVERLONG: &str = "entry is too long";

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
    let mut json = serde_json::Deserializer::from_reader(input);
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
        while let Some(key) = map.next_key::<String>()? {
            let length = self.enter(&key);
            map.next_value_seed(WalkSeed(self))?;
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

/// Passes each object of JSON lines, of a list or of one document to `each`; an object that is not
/// a `T` is skipped.
pub fn each_object<T: DeserializeOwned>(
    input: &mut ImportInput<'_>,
    is_lines: bool,
    run: &mut ImportRun<'_>,
    mut each: impl FnMut(T, &mut ImportRun<'_>) -> Result<(), ReadFault>,
) -> Result<(), ReadFault> {
    if is_lines {
        return each_line(input, run, each);
    }
    let mut reader = ObjectReader {
        run,
        each: &mut each,
    };
    // The document is a list, or objects one after the other.
    match input.peek()?.trim_start().starts_with('[') {
        true => walk(input, &mut reader),
        false => {
            let allowance = input.allowance();
            let json = serde_json::Deserializer::from_reader(input);
            for raw in json.into_iter::<Box<RawValue>>() {
                allowance.renew();
                reader.take("*", raw.map_err(fault)?.get())?;
            }
            Ok(())
        }
    }
}

fn each_line<T: DeserializeOwned>(
    input: &mut ImportInput<'_>,
    run: &mut ImportRun<'_>,
    mut each: impl FnMut(T, &mut ImportRun<'_>) -> Result<(), ReadFault>,
) -> Result<(), ReadFault> {
    let mut line = String::new();
    while let Some(fits) = input.line(&mut line)? {
        if !fits {
            run.skip(OVERLONG);
        } else if !line.trim().is_empty() {
            match object(&line) {
                Ok(value) => each(value, run)?,
                Err(error) if error.is_syntax() || error.is_eof() => {
                    run.skip("line is no JSON");
                }
                Err(_) => run.skip(OTHER_SHAPE),
            }
        }
    }
    Ok(())
}

/// Reads an object; serde would also fill one from a list.
pub fn object<T: DeserializeOwned>(raw: &str) -> serde_json::Result<T> {
    match raw.trim_start().starts_with(['[', '"']) {
        true => Err(serde::de::Error::custom("no object")),
        false => serde_json::from_str(raw),
    }
}

type EachObject<'a, T> = &'a mut dyn FnMut(T, &mut ImportRun<'_>) -> Result<(), ReadFault>;

struct ObjectReader<'a, 'b, T> {
    run: &'a mut ImportRun<'b>,
    each: EachObject<'a, T>,
}

impl<T: DeserializeOwned> JsonReader for ObjectReader<'_, '_, T> {
    fn step(&self, path: &str) -> JsonStep {
        match path {
            "*" => JsonStep::Take,
            _ => JsonStep::Skip,
        }
    }

    fn take(&mut self, _path: &str, raw: &str) -> Result<(), ReadFault> {
        match object(raw) {
            Ok(value) => (self.each)(value, self.run),
            Err(_) => {
                self.run.skip(OTHER_SHAPE);
                Ok(())
            }
        }
    }
}
