//! A chain as JSON for programs, with the names as they arrived.

use serde_json::{Value, json};

use super::{ChainNode, ChainTree};

impl ChainTree {
    /// The object of `findings chain --json`.
    pub fn json(&self) -> Value {
        node(&self.root)
    }
}

fn node(one: &ChainNode) -> Value {
    let link = one.link.as_ref().map(|link| {
        json!({
            "certainty": link.certainty.as_str(),
            "facts": link.facts,
        })
    });
    json!({
        "object": one.object,
        "kind": one.object.kind(),
        "label": one.label,
        "missing": one.is_missing,
        "link": link,
        "left_out": one.left_out,
        "links": one.children.iter().map(node).collect::<Vec<_>>(),
    })
}
