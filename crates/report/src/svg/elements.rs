//! The elements of an SVG file: what they repeat, clip and measure, before shapes are made of them.

use std::collections::{HashMap, HashSet};

use resvg::usvg::roxmltree::{Attribute, Document, Node as Element};

use super::refuse;
use crate::LogoError;

/// With those that `use` repeats.
const MAX_ELEMENTS: usize = 2_000;
/// Digits before the point of the largest number.
const MAX_DIGITS: usize = 6;
/// Elements whose effort is not visible in the file.
const REFUSED: &[&str] = &["filter", "image", "marker", "mask", "pattern"];
const GEOMETRY: &[&str] = &[
    "cx",
    "cy",
    "d",
    "height",
    "points",
    "r",
    "rx",
    "ry",
    "stroke-width",
    "transform",
    "viewBox",
    "width",
    "x",
    "x1",
    "x2",
    "y",
    "y1",
    "y2",
];

/// Refuses a file whose shapes would take long to make.
pub(super) fn check(document: &Document<'_>) -> Result<(), LogoError> {
    let elements = || document.descendants().filter(Element::is_element);
    let mut by_id: HashMap<&str, Element<'_, '_>> = HashMap::new();
    for element in elements() {
        if let Some(id) = element.attribute("id") {
            by_id.entry(id).or_insert(element);
        }
    }
    let clipping = clip_classes(document)?;
    let is_clipped = |part: &Element<'_, '_>| {
        let words = |key: &str| part.attribute(key).unwrap_or_default();
        part.has_attribute("clip-path")
            || words("style").contains("clip-path")
            || words("class")
                .split_whitespace()
                .any(|class| clipping.contains(class))
    };
    let mut count = elements().count();
    if count > MAX_ELEMENTS {
        return refuse_elements();
    }
    for element in elements() {
        check_element(&element)?;
        if is(&element, "clipPath") {
            let repeated = element.descendants().filter_map(|part| used(&part, &by_id));
            let mut parts = repeated
                .flat_map(|one| one.descendants())
                .chain(element.descendants());
            if parts.any(|part| is_clipped(&part)) {
                return refuse("a clip path has a clip path");
            }
        }
        if let Some(repeated) = used(&element, &by_id) {
            if repeated.descendants().any(|part| is(&part, "use")) {
                return refuse("a `use` repeats another `use`");
            }
            count += repeated.descendants().filter(Element::is_element).count();
            if count > MAX_ELEMENTS {
                return refuse_elements();
            }
        }
    }
    Ok(())
}

fn is(element: &Element<'_, '_>, name: &str) -> bool {
    element.tag_name().name() == name
}

/// The element that a `use` repeats.
fn used<'a, 'input>(
    element: &Element<'a, 'input>,
    by_id: &HashMap<&'a str, Element<'a, 'input>>,
) -> Option<Element<'a, 'input>> {
    let named = |attribute: &Attribute<'_, '_>| attribute.name() == "href";
    let links = element.attributes().filter(named);
    // Before the one of XLink.
    let href = links.max_by_key(|attribute| attribute.namespace().is_none())?;
    is(element, "use").then_some(())?;
    by_id.get(href.value().trim().strip_prefix('#')?).copied()
}

fn refuse_elements() -> Result<(), LogoError> {
    refuse(format!("it has more than {MAX_ELEMENTS} elements"))
}

fn check_element(element: &Element<'_, '_>) -> Result<(), LogoError> {
    let name = element.tag_name().name();
    if REFUSED.contains(&name) {
        return refuse(format!("it has the element `{name}`"));
    }
    for attribute in element.attributes() {
        let (key, value) = (attribute.name(), attribute.value());
        if key == "clipPathUnits" && value != "userSpaceOnUse" {
            return refuse(format!("it has `{key}=\"{value}\"`"));
        }
        if GEOMETRY.contains(&key) && has_large_number(value) {
            return refuse(format!("`{key}` has a number over {MAX_DIGITS} digits"));
        }
    }
    Ok(())
}

/// The classes to which style sheets give a clip path.
fn clip_classes<'a>(document: &'a Document<'_>) -> Result<HashSet<&'a str>, LogoError> {
    let mut classes = HashSet::new();
    let sheets = document
        .descendants()
        .filter(|element| is(element, "style"));
    let texts = sheets
        .flat_map(|sheet| sheet.children())
        .filter_map(|part| part.text());
    for rule in texts.flat_map(|text| text.split('}')) {
        let Some((selectors, _)) = rule
            .split_once('{')
            .filter(|(_, set)| set.contains("clip-path"))
        else {
            continue;
        };
        for selector in selectors.split(',') {
            let class = selector.trim().strip_prefix('.').filter(|class| {
                class
                    .chars()
                    .all(|c| c.is_alphanumeric() || c == '-' || c == '_')
            });
            match class {
                Some(name) => _ = classes.insert(name),
                None => return refuse("its style sheet clips more than single classes"),
            }
        }
    }
    Ok(classes)
}

/// Whether a length or a path has a number with too many digits.
fn has_large_number(value: &str) -> bool {
    let text = value.replace('E', "e").replace("e+", "e");
    text.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == 'e'))
        .any(is_large)
}

/// `number`: digits, points and an exponent; several numbers may follow each other, as in 1.5.5.
fn is_large(number: &str) -> bool {
    let whole = |text: &str| text.split('.').next().unwrap_or_default().to_owned();
    let (digits, power) = number.split_once('e').unwrap_or((number, ""));
    let zeros = match whole(power).as_str() {
        "" => 0,
        count => count.parse().unwrap_or(usize::MAX),
    };
    let digits_before_point = whole(digits).trim_start_matches('0').len();
    digits_before_point.saturating_add(zeros) > MAX_DIGITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_found_in_lengths_and_paths() {
        for value in [
            "1e9",
            "10000000px",
            "M0 0L1.5.5e8-3",
            "0 0 1E+7 5",
            "1e99999999999999999999",
        ] {
            assert!(has_large_number(value), "{value}");
        }
        for value in [
            "999999",
            "M0 0.123456789L1e2-5",
            "2em",
            "scale(0.00001)",
            "1e-9",
            "007",
        ] {
            assert!(!has_large_number(value), "{value}");
        }
    }
}
