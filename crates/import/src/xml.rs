//! Streams XML: a reader visits the elements one after the other, and takes those that are an
//! entry as small trees.
//!
//! The text may be hostile. A document type is read over, entities other than the predefined ones
//! remain as they are, external ones are never fetched, and nesting, children and the size of an
//! entry have limits.

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use crate::input::{EntryAllowance, ImportInput, ReadFault};

const MAX_DEPTH: usize = 64;
const MAX_ATTRIBUTES: usize = 256;
/// Elements of one entry.
const MAX_ELEMENTS: usize = 500_000;
const FOLLOWED: &str = "other text follows the XML document; results in this text are not read";

/// An element without its prefix: `v:id` is `id`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct XmlTree {
    pub name: String,
    attributes: Vec<(String, String)>,
    pub children: Vec<XmlTree>,
    /// The text outside of the children.
    pub text: String,
}

/// A part of a document.
#[derive(Debug)]
pub enum XmlStep {
    /// An element begins; it has no children and no text yet.
    Start(XmlTree),
    /// The element with this name ends.
    End(String),
    /// The document ends.
    Done,
}

impl XmlTree {
    /// An attribute, or an empty text.
    pub fn get(&self, name: &str) -> &str {
        let found = self.attributes.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value)
    }

    /// The first child of a name.
    pub fn child(&self, name: &str) -> Option<&XmlTree> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The element at a path, such as `info/name`.
    pub fn find(&self, path: &str) -> Option<&XmlTree> {
        path.split('/')
            .try_fold(self, |tree, name| tree.child(name))
    }

    /// The trimmed text at a path, or an empty text.
    pub fn at(&self, path: &str) -> &str {
        self.find(path).map_or("", |tree| tree.text.trim())
    }

    /// All children of a name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a XmlTree> {
        self.children.iter().filter(move |child| child.name == name)
    }

    fn of(start: &BytesStart<'_>) -> Self {
        let mut attributes = start.attributes();
        let attributes = attributes.with_checks(false).flatten();
        let pair = |attribute: quick_xml::events::attributes::Attribute<'_>| {
            let value = match attribute.normalized_value(XmlVersion::Implicit1_0) {
                Ok(value) => value.into_owned(),
                Err(_) => attribute.value.to_string(),
            };
            (local(attribute.key.0), value)
        };
        Self {
            name: local(start.name().0),
            attributes: attributes.take(MAX_ATTRIBUTES).map(pair).collect(),
            ..Self::default()
        }
    }
}

fn local(name: &str) -> String {
    name.rsplit(':').next().unwrap_or(name).to_owned()
}

pub struct XmlStream<'a, 'b> {
    reader: Reader<&'a mut ImportInput<'b>>,
    buffer: Vec<u8>,
    depth: usize,
    /// The name of the outermost element.
    root: Option<String>,
    /// The name of an element without content, whose end comes next.
    ended: Option<String>,
    allowance: EntryAllowance,
}

impl<'a, 'b> XmlStream<'a, 'b> {
    pub fn new(input: &'a mut ImportInput<'b>) -> Self {
        let allowance = input.allowance();
        let mut reader = Reader::from_reader(input);
        let config = reader.config_mut();
        // Names of open elements are not stored, so deep nesting costs nothing.
        (config.check_end_names, config.allow_unmatched_ends) = (false, true);
        config.allow_dangling_amp = true;
        Self {
            reader,
            buffer: Vec::new(),
            depth: 0,
            root: None,
            ended: None,
            allowance,
        }
    }

    /// The next begin or end of an element.
    pub fn next(&mut self) -> Result<XmlStep, ReadFault> {
        self.allowance.renew();
        loop {
            match self.part()? {
                XmlPart::Start(tree) => return Ok(XmlStep::Start(tree)),
                XmlPart::End(name) => return Ok(XmlStep::End(name)),
                XmlPart::Done => return Ok(XmlStep::Done),
                XmlPart::Text(_) => self.allowance.renew(),
            }
        }
    }

    /// The whole of an element that began.
    pub fn whole(&mut self, start: XmlTree) -> Result<XmlTree, ReadFault> {
        self.allowance.renew();
        let mut open = vec![start];
        let mut elements = 0;
        loop {
            match self.part()? {
                XmlPart::Start(tree) => {
                    elements += 1;
                    if elements > MAX_ELEMENTS {
                        let limit = format!("an entry has more than {MAX_ELEMENTS} elements");
                        return Err(ReadFault::Limit(limit));
                    }
                    open.push(tree);
                }
                XmlPart::Text(text) => {
                    if let Some(tree) = open.last_mut() {
                        tree.text.push_str(&text);
                    }
                }
                XmlPart::End(_) => {
                    let Some(tree) = open.pop() else {
                        return Err(damage("an element ends that did not begin"));
                    };
                    match open.last_mut() {
                        Some(parent) => parent.children.push(tree),
                        None => return Ok(tree),
                    }
                }
                XmlPart::Done => return Err(damage("the file ends inside an element")),
            }
        }
    }

    fn part(&mut self) -> Result<XmlPart, ReadFault> {
        if let Some(name) = self.ended.take() {
            return Ok(XmlPart::End(name));
        }
        loop {
            self.buffer.clear();
            let event = match self.reader.read_event_into(&mut self.buffer) {
                Ok(event) => event,
                Err(quick_xml::Error::Io(error)) => {
                    let error = std::io::Error::new(error.kind(), error.to_string());
                    return Err(ReadFault::from(error));
                }
                Err(error) => {
                    let at = self.reader.error_position();
                    return Err(damage(&format!("{error} at byte {at}")));
                }
            };
            if self.depth == 0 {
                if let Some(root) = &self.root {
                    if begins_other(&event, root) {
                        return Err(ReadFault::Damaged(FOLLOWED.to_owned()));
                    }
                } else if let Event::Start(start) | Event::Empty(start) = &event {
                    self.root = Some(local(start.name().0));
                }
            }
            return Ok(match event {
                Event::Start(start) => {
                    self.depth += 1;
                    if self.depth > MAX_DEPTH {
                        let limit = format!("elements are nested deeper than {MAX_DEPTH} levels");
                        return Err(ReadFault::Limit(limit));
                    }
                    XmlPart::Start(XmlTree::of(&start))
                }
                Event::Empty(start) => {
                    let tree = XmlTree::of(&start);
                    self.ended = Some(tree.name.clone());
                    XmlPart::Start(tree)
                }
                Event::End(end) => {
                    self.depth = self.depth.saturating_sub(1);
                    XmlPart::End(local(end.name().0))
                }
                Event::Text(text) => XmlPart::Text(text.to_string()),
                Event::CData(text) => XmlPart::Text(text.to_string()),
                Event::GeneralRef(name) => XmlPart::Text(match name.resolve_char_ref() {
                    Ok(Some(c)) => c.to_string(),
                    _ => predefined(&name),
                }),
                Event::Eof if self.depth > 0 => {
                    return Err(damage("the file ends inside an element"));
                }
                Event::Eof => XmlPart::Done,
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => continue,
            });
        }
    }
}

enum XmlPart {
    Start(XmlTree),
    End(String),
    Text(String),
    Done,
}

fn damage(what: &str) -> ReadFault {
    ReadFault::Damaged(format!("the XML ends or is damaged: {what}"))
}

/// Whether something other than a document of the same kind follows the outermost element `root`.
fn begins_other(event: &Event<'_>, root: &str) -> bool {
    match event {
        Event::Start(start) | Event::Empty(start) => local(start.name().0) != root,
        Event::Text(text) => !text.chars().all(is_blank),
        Event::CData(_) | Event::GeneralRef(_) => true,
        Event::End(_)
        | Event::Comment(_)
        | Event::Decl(_)
        | Event::PI(_)
        | Event::DocType(_)
        | Event::Eof => false,
    }
}

/// Whether a character may be between documents: joined files may have byte order marks.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control() || c == '\u{feff}'
}

/// A predefined entity; others remain as they are.
fn predefined(name: &str) -> String {
    let known = match name {
        "lt" => "<",
        "gt" => ">",
        "amp" => "&",
        "quot" => "\"",
        "apos" => "'",
        _ => return format!("&{name};"),
    };
    known.to_owned()
}
