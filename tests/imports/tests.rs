//! Tests of the checker on small crates, written as strings.

mod paths;
mod rules;
mod tree;

use std::collections::BTreeMap;

use super::check::{Violation, check};
use super::rules::RULES;
use super::tree::{Sources, Tree};

/// A crate from layers and texts: `dashboard/ui` is the file `src/dashboard/ui/mod.rs`, declared by
/// its parent. The text begins on line 2.
pub fn sources(layers: &[(&str, &str)]) -> Sources {
    let mut texts: BTreeMap<String, String> = BTreeMap::from([(String::new(), String::new())]);
    for (layer, text) in layers {
        texts.insert((*layer).to_owned(), (*text).to_owned());
        for (end, _) in layer.match_indices('/') {
            texts.entry(layer[..end].to_owned()).or_default();
        }
    }
    let names: Vec<String> = texts
        .keys()
        .filter(|layer| !layer.is_empty())
        .cloned()
        .collect();
    let is_child =
        |of: &str, layer: &str| layer.rsplit_once('/').map_or("", |(parent, _)| parent) == of;
    texts
        .into_iter()
        .map(|(layer, text)| {
            let children = names.iter().filter(|name| is_child(&layer, name));
            let declared: String = children
                .map(|name| format!("mod {};\n", name.rsplit('/').next().unwrap_or(name)))
                .collect();
            let path = if layer.is_empty() {
                "src/lib.rs".to_owned()
            } else {
                format!("src/{layer}/mod.rs")
            };
            (path, format!("//! Head.\n{text}\n{declared}"))
        })
        .collect()
}

/// The violations of one rule, as `file:line: message`.
pub fn violations_of(rule: &str, sources: &Sources) -> Vec<String> {
    let results = check(&Tree::read(sources), RULES);
    let (_, violations) = results
        .iter()
        .find(|(one, _)| one.name == rule)
        .expect("unknown rule");
    violations
        .iter()
        .map(
            |Violation {
                 file,
                 line,
                 message,
                 ..
             }| format!("{file}:{line}: {message}"),
        )
        .collect()
}
