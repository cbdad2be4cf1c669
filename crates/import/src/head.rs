//! What a file begins with, for the recognisers: the keys of a JSON document, the elements of an
//! XML document, the columns of a table.

use std::collections::BTreeMap;

use quick_xml::events::Event;
use quick_xml::reader::Reader;
use serde::de::IgnoredAny;

use crate::repair::repaired;
use crate::table::{column_name, delimiter, first_line};

/// Levels of JSON keys that are collected.
const MAX_LEVEL: usize = 4;
const MAX_KEYS: usize = 4_000;
const MAX_NAMES: usize = 200;
/// Lines of messages before the first result.
const MAX_MESSAGES: usize = 100;

/// The beginning of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileHead {
    Json(JsonHead),
    Xml(XmlHead),
    Table(TableHead),
    Other,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonHead {
    /// Each line is a document.
    pub is_lines: bool,
    pub is_list: bool,
    /// Keys joined by `/`, `*` for the elements of a list, with the first text or number.
    values: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct XmlHead {
    /// The outermost element without its prefix.
    pub root: String,
    attributes: BTreeMap<String, String>,
    /// Elements below the root.
    names: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableHead {
    columns: Vec<String>,
}

impl FileHead {
    pub(crate) fn of(text: &str) -> Self {
        let text = after_messages(text).trim_start();
        match text.chars().next() {
            Some('<') => XmlHead::of(text).map_or(Self::Other, Self::Xml),
            Some('{' | '[') => Self::Json(JsonHead::of(text)),
            _ => TableHead::of(text).map_or(Self::Other, Self::Table),
        }
    }

    /// Of JSON.
    pub fn json(&self) -> Option<&JsonHead> {
        match self {
            Self::Json(head) => Some(head),
            Self::Xml(_) | Self::Table(_) | Self::Other => None,
        }
    }

    /// Of XML whose outermost element has this name.
    pub fn xml(&self, root: &str) -> Option<&XmlHead> {
        match self {
            Self::Xml(head) if head.root == root => Some(head),
            _ => None,
        }
    }

    /// Whether it is XML; else it is JSON or a table.
    pub fn is_xml(&self) -> bool {
        matches!(self, Self::Xml(_))
    }

    /// Whether it is a table.
    pub fn is_table(&self) -> bool {
        matches!(self, Self::Table(_))
    }

    /// Whether it is JSON whose lines are documents.
    pub fn is_json_lines(&self) -> bool {
        self.json().is_some_and(|head| head.is_lines)
    }

    /// Whether it is a table with all of these columns, named in lower case.
    pub fn has_columns(&self, names: &[&str]) -> bool {
        match self {
            Self::Table(head) => names
                .iter()
                .all(|name| head.columns.iter().any(|one| one == name)),
            _ => false,
        }
    }

    /// Whether it is JSON with all of these keys in an object, or in the objects of a list or of
    /// lines.
    pub fn has_keys(&self, names: &[&str]) -> bool {
        self.json()
            .is_some_and(|head| names.iter().all(|name| head.entry(name).is_some()))
    }
}

/// The text from its first JSON line, if the lines before are messages that the tool wrote into the
/// same stream, such as `[INF] 12 templates loaded`.
fn after_messages(text: &str) -> &str {
    let mut rest = text;
    for line in text.lines().take(MAX_MESSAGES) {
        if line.starts_with('{') && is_json(line) {
            return rest;
        }
        let is_message = line.is_empty() || line.starts_with(['[', ' ', '\t', '\x1b']);
        if !is_message || is_json_start(line) {
            return text;
        }
        rest = rest.split_once('\n').map_or("", |(_, next)| next);
    }
    text
}

/// Where results can begin behind the lines of a tool, a shell or Excel, in bytes: at a line of
/// JSON or XML, or behind a line that names the separator of a table.
pub(crate) fn later_starts(text: &str) -> impl Iterator<Item = usize> {
    let first = text.trim_start();
    let is_document = first.starts_with(['<', '{']) || is_json_start(first);
    let most = if is_document { 0 } else { MAX_MESSAGES };
    let mut next = 0;
    text.split_inclusive('\n')
        .take(most)
        .filter_map(move |line| {
            let start = next;
            next += line.len();
            match line.starts_with("sep=") {
                true => Some(next),
                false => document_in(line).map(|at| start + at),
            }
        })
}

/// Where a document begins in a line: at its start, or with JSON behind the name that containers
/// write.
fn document_in(line: &str) -> Option<usize> {
    let trimmed = line.trim_start();
    let is_xml = trimmed
        .strip_prefix('<')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic() || "?!".contains(c)));
    if is_xml || trimmed.starts_with('{') || is_json_start(trimmed) {
        return Some(line.len() - trimmed.len());
    }
    line.find('{').filter(|at| is_json(line[*at..].trim_end()))
}

/// Whether a line that begins with `[` can be the beginning of a list.
fn is_json_start(line: &str) -> bool {
    let Some(element) = line.trim_start().strip_prefix('[') else {
        return false;
    };
    let first = element.trim_start().chars().next();
    first.is_none_or(|first| "[{\"]-0123456789".contains(first))
}

/// Whether a line is a document, also one with errors that are repaired.
fn is_json(line: &str) -> bool {
    let is_document = |text: &str| serde_json::from_str::<IgnoredAny>(text).is_ok();
    is_document(line) || is_document(&repaired(line))
}

impl JsonHead {
    /// The text at a path; empty for objects and lists.
    pub fn get(&self, path: &str) -> Option<&str> {
        self.values.get(path).map(String::as_str)
    }

    /// The text of a key in the document, or in the elements of the list that it is.
    pub fn entry(&self, name: &str) -> Option<&str> {
        match self.is_list {
            true => self.get(&format!("*/{name}")),
            false => self.get(name),
        }
    }

    fn of(text: &str) -> Self {
        let line = text.lines().next().unwrap_or_default();
        let is_lines = line.starts_with('{') && is_json(line);
        let mut scan = KeyScan {
            head: Self {
                is_lines,
                is_list: text.starts_with('['),
                values: BTreeMap::new(),
            },
            open: Vec::new(),
        };
        // The first lines are enough: each has all keys.
        scan.read(match is_lines {
            true => line,
            false => text,
        });
        scan.head
    }
}

/// Collects the keys of JSON that may be cut anywhere.
struct KeyScan {
    head: JsonHead,
    /// The open objects and lists, outermost first: the key of an object, `*` of a list.
    open: Vec<OpenJson>,
}

struct OpenJson {
    is_list: bool,
    key: String,
    expects_key: bool,
}

impl KeyScan {
    fn read(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() && self.head.values.len() < MAX_KEYS {
            match bytes[at] {
                b'{' | b'[' => self.open(bytes[at] == b'['),
                b'}' | b']' => {
                    self.open.pop();
                    if self.open.is_empty() {
                        return;
                    }
                }
                b',' => {
                    if let Some(open) = self.open.last_mut() {
                        open.expects_key = !open.is_list;
                    }
                }
                b'"' => {
                    let Some(end) = end_of_string(bytes, at + 1) else {
                        return;
                    };
                    self.string(&text[at..end]);
                    at = end;
                    continue;
                }
                b':' | b' ' | b'\n' | b'\r' | b'\t' => {}
                _ => {
                    let end = bytes[at..]
                        .iter()
                        .position(|byte| b":,]} \r\n\t".contains(byte));
                    let end = end.map_or(bytes.len(), |end| at + end);
                    if text.is_char_boundary(at) && text.is_char_boundary(end) {
                        self.text(&text[at..end]);
                    }
                    at = end.max(at + 1);
                    continue;
                }
            }
            at += 1;
        }
    }

    fn open(&mut self, is_list: bool) {
        self.value("");
        self.open.push(OpenJson {
            is_list,
            key: String::from(if is_list { "*" } else { "" }),
            expects_key: !is_list,
        });
    }

    fn string(&mut self, quoted: &str) {
        let text: String = serde_json::from_str(quoted).unwrap_or_default();
        self.text(&text);
    }

    /// A string, number or word: a key or a value.
    fn text(&mut self, text: &str) {
        match self.open.last_mut() {
            Some(open) if open.expects_key => {
                text.clone_into(&mut open.key);
                open.expects_key = false;
            }
            _ => self.value(text),
        }
    }

    fn value(&mut self, text: &str) {
        if self.open.is_empty() || self.open.len() > MAX_LEVEL {
            return;
        }
        let keys: Vec<&str> = self.open.iter().map(|open| open.key.as_str()).collect();
        let text = text.chars().take(200).collect();
        self.head.values.entry(keys.join("/")).or_insert(text);
    }
}

fn end_of_string(bytes: &[u8], mut at: usize) -> Option<usize> {
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

impl XmlHead {
    /// An attribute of the outermost element, or an empty text.
    pub fn get(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }

    /// Whether an element of this name is near the beginning.
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|one| one == name)
    }

    fn of(text: &str) -> Option<Self> {
        let mut reader = Reader::from_str(text);
        let config = reader.config_mut();
        (config.check_end_names, config.allow_unmatched_ends) = (false, true);
        let mut head = Self::default();
        while let Ok(event) = reader.read_event() {
            let start = match &event {
                Event::Start(start) | Event::Empty(start) => start,
                Event::Eof => break,
                _ => continue,
            };
            let name = start.local_name().as_ref().to_owned();
            if head.root.is_empty() {
                head.root = name;
                for attribute in start.attributes().with_checks(false).flatten().take(64) {
                    let key = attribute.key.0.to_owned();
                    head.attributes.insert(key, attribute.value.to_string());
                }
            } else if !head.names.contains(&name) {
                head.names.push(name);
                if head.names.len() == MAX_NAMES {
                    break;
                }
            }
        }
        (!head.root.is_empty()).then_some(head)
    }
}

impl TableHead {
    fn of(text: &str) -> Option<Self> {
        let line = first_line(text);
        let columns: Vec<String> = line.split(delimiter(line)).map(column_name).collect();
        (columns.len() > 2).then_some(Self { columns })
    }
}
