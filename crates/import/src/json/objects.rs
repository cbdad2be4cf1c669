//! JSON objects one after the other: the lines of a file, the elements of a list, or documents.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{JsonReader, JsonStep, OTHER_SHAPE, fault, walk};
use crate::input::{ImportInput, ReadFault};
use crate::repair::{RepairedRead, repaired};
use crate::run::ImportRun;

const OVERLONG: &str = "entry is too long";

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
            let json = serde_json::Deserializer::from_reader(RepairedRead::new(input));
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
            match object(without_prefix(&line)) {
                Ok(value) => each(value, run)?,
                Err(error) if error.is_syntax() || error.is_eof() => {
                    run.skip("line is not JSON");
                }
                Err(_) => run.skip(OTHER_SHAPE),
            }
        }
    }
    Ok(())
}

/// The object of a line. Containers and log collectors write their names and times before it, and
/// joined files have a byte order mark there.
fn without_prefix(line: &str) -> &str {
    line.find('{').map_or(line, |at| &line[at..])
}

/// Reads an object; serde would also fill one from a list.
pub fn object<T: DeserializeOwned>(raw: &str) -> serde_json::Result<T> {
    match raw.trim_start().starts_with(['[', '"']) {
        true => Err(serde::de::Error::custom("no object")),
        false => serde_json::from_str(raw).or_else(|error| lenient_object(raw).ok_or(error)),
    }
}

/// An object with repaired errors. Of members with one name the last one counts, and null stands
/// for no value.
fn lenient_object<T: DeserializeOwned>(raw: &str) -> Option<T> {
    let mut value: Value = serde_json::from_str(&repaired(raw)).ok()?;
    if !value.is_object() {
        return None;
    }
    remove_nulls(&mut value);
    serde_json::from_value(value).ok()
}

fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(remove_nulls);
        }
        Value::Array(all) => all.iter_mut().for_each(remove_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
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
