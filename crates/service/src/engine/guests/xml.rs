//! Reads the XML of guests as a flat list of elements with attributes.
//!
//! The text may be hostile: a guest repeats what the target sent. Elements are read one after the
//! other without a tree, entities are not expanded except the predefined ones, and a damaged
//! document yields the elements before the damage.

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

/// Characters of an attribute or text that are kept.
const MAX_VALUE: usize = 16 * 1024;

/// A part of a document.
#[derive(Debug, PartialEq, Eq)]
pub enum XmlNode {
    /// The begin of an element.
    Start(XmlElement),
    /// The end of an element with this name; also after an empty element.
    End(String),
    Text(String),
}

/// The begin of an element.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct XmlElement {
    pub name: String,
    attributes: Vec<(String, String)>,
}

impl XmlElement {
    /// The value of an attribute, or an empty text.
    pub fn get(&self, name: &str) -> &str {
        self.attributes
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value)
    }

    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name).parse().ok()
    }

    fn of(start: &BytesStart) -> Self {
        let mut attributes = Vec::new();
        for attribute in start.attributes().with_checks(false).flatten().take(64) {
            let value = match attribute.normalized_value(XmlVersion::Implicit1_0) {
                Ok(value) => value.into_owned(),
                Err(_) => attribute.value.to_string(),
            };
            attributes.push((attribute.key.0.to_owned(), shorten(value)));
        }
        Self {
            name: start.name().0.to_owned(),
            attributes,
        }
    }
}

fn shorten(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_VALUE));
    text
}

/// Calls `each` for every part of a document; true when the document was read to its end.
pub fn read(text: &str, mut each: impl FnMut(XmlNode)) -> bool {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    // Names of open elements are not stored, so deep nesting costs nothing.
    (config.check_end_names, config.allow_unmatched_ends) = (false, true);
    loop {
        match reader.read_event() {
            Ok(Event::Start(start)) => each(XmlNode::Start(XmlElement::of(&start))),
            Ok(Event::Empty(start)) => {
                let element = XmlElement::of(&start);
                let name = element.name.clone();
                each(XmlNode::Start(element));
                each(XmlNode::End(name));
            }
            Ok(Event::End(end)) => each(XmlNode::End(end.name().0.to_owned())),
            Ok(Event::Text(text)) => each(XmlNode::Text(shorten(text.to_string()))),
            Ok(Event::CData(text)) => each(XmlNode::Text(shorten(text.to_string()))),
            Ok(Event::Eof) => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nodes(text: &str) -> (Vec<XmlNode>, bool) {
        let mut all = Vec::new();
        let complete = read(text, |node| all.push(node));
        (all, complete)
    }

    #[test]
    fn entities_are_not_expanded_and_damage_ends_the_list() {
        let bomb =
            r#"<!DOCTYPE a [<!ENTITY x "yyyyyyyy"><!ENTITY z "&x;&x;">]><a b="&z;" c="1 &lt; 2"/>"#;
        let (all, complete) = nodes(bomb);
        let XmlNode::Start(element) = &all[0] else {
            panic!("{all:?}")
        };
        assert_eq!(
            (element.get("b"), element.get("c"), complete),
            ("&z;", "1 < 2", true)
        );
        let (all, complete) = nodes("<a><b c='1'/><d");
        assert_eq!((all.len(), complete), (3, false));
    }

    proptest! {
        #[test]
        fn arbitrary_text_is_read_without_panic(text in "(<[a-z/!?]{0,3}|[ -~]{0,9}|\"|'|&[a-z#0-9]{0,4};|>|/>|\\PC){0,40}") {
            nodes(&text);
        }
    }
}
