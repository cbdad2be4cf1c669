//! Repairs the small errors that tools make in JSON, while it is read. Valid JSON keeps its
//! meaning.
//!
//! ```text
//!   [{"a": 1,} {"b": ,},]    commas and values  ─►  [{"a": 1}, {"b": null}]
//!   {b: NaN, "c": 0443}      names and words    ─►  {"b": null, "c": "0443"}
//!   "two⏎lines \x \ud800"    texts              ─►  "two\u000alines \\x \ufffd"
//! ```
//!
//! Nothing is guessed beyond that. A text or an object that does not end, words outside of the
//! documents, and NUL bytes, which file systems leave in damaged files, remain errors.

mod read;

use serde_json::Value;

pub use read::RepairedRead;

/// In place of half a character.
const LOST: &[u8] = b"\\ufffd";

/// A text of JSON, repaired.
pub fn repaired(text: &str) -> String {
    let mut repair = JsonRepair::default();
    let mut out = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        repair.push(byte, &mut out);
    }
    repair.finish(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// What comes next in the innermost object or list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RepairPlace {
    /// Of a list.
    Element,
    ElementEnd,
    /// Of an object.
    Name,
    NameEnd,
    Value,
    ValueEnd,
}

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RepairPart {
    #[default]
    Between,
    /// A number or word.
    Word,
    Text,
    /// Behind the backslash in a text.
    Escape,
    /// Behind `\u` in a text.
    Digits,
}

#[derive(Debug, Default)]
struct JsonRepair {
    part: RepairPart,
    /// The open objects and lists, outermost first.
    open: Vec<RepairPlace>,
    /// A comma was read, which is written when a value follows.
    has_comma: bool,
    /// The number, word or digits that are read.
    word: Vec<u8>,
    /// The digits of the first half of a character, until the second half follows.
    half: Vec<u8>,
}

impl JsonRepair {
    fn push(&mut self, byte: u8, out: &mut Vec<u8>) {
        match self.part {
            _ if byte == 0 => out.push(byte),
            RepairPart::Between => self.between(byte, out),
            RepairPart::Word => self.word(byte, out),
            RepairPart::Text => self.text(byte, out),
            RepairPart::Escape => self.escape(byte, out),
            RepairPart::Digits => self.digits(byte, out),
        }
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        if self.part == RepairPart::Word {
            self.end_word(out);
        }
    }

    fn between(&mut self, byte: u8, out: &mut Vec<u8>) {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => out.push(byte),
            b'{' | b'[' => {
                self.begin(out);
                self.open.push(match byte {
                    b'[' => RepairPlace::Element,
                    _ => RepairPlace::Name,
                });
                out.push(byte);
            }
            b'}' | b']' => {
                self.has_comma = false;
                if self.open.pop() == Some(RepairPlace::Value) {
                    out.extend_from_slice(b"null");
                }
                out.push(byte);
                self.end();
            }
            b',' => self.comma(out),
            b':' => self.colon(out),
            b'"' => {
                self.begin(out);
                out.push(byte);
                self.part = RepairPart::Text;
            }
            _ => {
                self.begin(out);
                self.word.push(byte);
                self.part = RepairPart::Word;
            }
        }
    }

    /// A value or a name begins.
    fn begin(&mut self, out: &mut Vec<u8>) {
        let has_comma = std::mem::take(&mut self.has_comma);
        let Some(place) = self.open.last_mut() else {
            return;
        };
        match *place {
            RepairPlace::ElementEnd => *place = RepairPlace::Element,
            RepairPlace::ValueEnd => *place = RepairPlace::Name,
            _ if has_comma => {}
            _ => return,
        }
        out.push(b',');
    }

    /// A value or a name ended.
    fn end(&mut self) {
        if let Some(place) = self.open.last_mut() {
            *place = match *place {
                RepairPlace::Element => RepairPlace::ElementEnd,
                RepairPlace::Name => RepairPlace::NameEnd,
                RepairPlace::Value => RepairPlace::ValueEnd,
                other => other,
            };
        }
    }

    /// A comma between documents, before the first value, or behind another comma is left out.
    fn comma(&mut self, out: &mut Vec<u8>) {
        let Some(place) = self.open.last_mut() else {
            return;
        };
        match *place {
            RepairPlace::Element | RepairPlace::Name => return,
            RepairPlace::NameEnd => {
                out.push(b',');
                return;
            }
            RepairPlace::ElementEnd => *place = RepairPlace::Element,
            RepairPlace::ValueEnd => *place = RepairPlace::Name,
            RepairPlace::Value => {
                out.extend_from_slice(b"null");
                *place = RepairPlace::Name;
            }
        }
        self.has_comma = true;
    }

    fn colon(&mut self, out: &mut Vec<u8>) {
        let Some(place) = self.open.last_mut() else {
            out.push(b':');
            return;
        };
        match *place {
            // A name in a list: its value is the next element.
            RepairPlace::ElementEnd => {
                *place = RepairPlace::Element;
                self.has_comma = true;
            }
            RepairPlace::NameEnd => {
                *place = RepairPlace::Value;
                out.push(b':');
            }
            _ => out.push(b':'),
        }
    }

    fn word(&mut self, byte: u8, out: &mut Vec<u8>) {
        if b",:[]{}\" \t\r\n".contains(&byte) {
            self.end_word(out);
            self.between(byte, out);
        } else {
            self.word.push(byte);
        }
    }

    fn end_word(&mut self, out: &mut Vec<u8>) {
        self.part = RepairPart::Between;
        match self.open.last() {
            Some(place) => write_word(&self.word, *place == RepairPlace::Name, out),
            None => out.extend_from_slice(&self.word),
        }
        self.word.clear();
        self.end();
    }

    fn text(&mut self, byte: u8, out: &mut Vec<u8>) {
        if byte == b'\\' {
            self.part = RepairPart::Escape;
            return;
        }
        self.end_half(out);
        match byte {
            b'"' => {
                out.push(byte);
                self.part = RepairPart::Between;
                self.end();
            }
            0..=0x1f => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }

    fn escape(&mut self, byte: u8, out: &mut Vec<u8>) {
        self.part = RepairPart::Text;
        match byte {
            b'u' => self.part = RepairPart::Digits,
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                self.end_half(out);
                out.extend_from_slice(&[b'\\', byte]);
            }
            // The backslash stands for itself.
            _ => {
                self.end_half(out);
                out.extend_from_slice(b"\\\\");
                self.text(byte, out);
            }
        }
    }

    fn digits(&mut self, byte: u8, out: &mut Vec<u8>) {
        if byte.is_ascii_hexdigit() {
            self.word.push(byte);
            if self.word.len() == 4 {
                self.part = RepairPart::Text;
                self.end_digits(out);
            }
            return;
        }
        self.part = RepairPart::Text;
        self.end_half(out);
        out.extend_from_slice(b"\\\\u");
        out.append(&mut self.word);
        self.text(byte, out);
    }

    /// The halves of a character beyond U+FFFF are written together, and no half alone.
    fn end_digits(&mut self, out: &mut Vec<u8>) {
        let digits = std::mem::take(&mut self.word);
        match u16::from_str_radix(&String::from_utf8_lossy(&digits), 16) {
            Ok(0xd800..=0xdbff) => {
                self.end_half(out);
                self.half = digits;
            }
            Ok(0xdc00..=0xdfff) if self.half.is_empty() => out.extend_from_slice(LOST),
            Ok(0xdc00..=0xdfff) => {
                write_escape(&self.half, out);
                write_escape(&digits, out);
                self.half.clear();
            }
            _ => {
                self.end_half(out);
                write_escape(&digits, out);
            }
        }
    }

    fn end_half(&mut self, out: &mut Vec<u8>) {
        if !self.half.is_empty() {
            self.half.clear();
            out.extend_from_slice(LOST);
        }
    }
}

fn write_escape(digits: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"\\u");
    out.extend_from_slice(digits);
}

/// Writes a number, a truth value or null; words for no value as null, and other words as a text.
fn write_word(word: &[u8], is_name: bool, out: &mut Vec<u8>) {
    let text = String::from_utf8_lossy(word);
    if !is_name && is_value(&text) {
        out.extend_from_slice(word);
        return;
    }
    let lower = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
    match lower.as_str() {
        "true" | "false" if !is_name => out.extend_from_slice(lower.as_bytes()),
        "nan" | "inf" | "infinity" | "none" | "null" | "undefined" if !is_name => {
            out.extend_from_slice(b"null");
        }
        _ => out.extend_from_slice(Value::from(&*text).to_string().as_bytes()),
    }
}

fn is_value(word: &str) -> bool {
    matches!(word, "true" | "false" | "null") || serde_json::from_str::<f64>(word).is_ok()
}

#[cfg(test)]
mod tests;
