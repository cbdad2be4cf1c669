//! A chain as lines of text, the same in the dashboard, in commands and in reports.
//!
//! ```text
//!   finding #12 Blind SSRF
//!   ├─ seen: payload k7f2abcdefgh (q · shop.test)
//!   │    the payload was made for finding 0f…; finding #12 has this fingerprint
//!   │  └─ seen: capture #118 of logger #3, 2026-11-20 14:05:00
//!   │       capture #118 contains the token k7f2abcdefgh; the payload has the token k7f2abcdefgh
//!   └─ seen: service shop.test:443
//!        scan #3 reported finding #12; it is on shop.test:443
//! ```

use super::{ChainNode, ChainObject, ChainTree};
use scandeck_wire::text::{self, plural};

/// Least columns of the text right of a deep tree.
const LEAST: usize = 20;

/// A line of a chain, cleaned for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainLine {
    /// The lines of the tree left of the text.
    pub branch: String,
    pub text: String,
    /// The object of its line; the lines of facts have none.
    pub object: Option<ChainObject>,
    /// The object is a host that is no target yet.
    pub is_missing: bool,
}

impl ChainLine {
    /// The line as commands print it.
    pub fn printed(&self) -> String {
        format!("{}{}", self.branch, self.text)
    }

    /// The line as reports print it: rows of about this width, with the tree beside each.
    pub fn rows(&self, columns: usize) -> Vec<String> {
        let room = columns.saturating_sub(text::width(&self.branch)).max(LEAST);
        let below = self.branch.replace("├─", "│ ").replace("└─", "  ");
        let mut rows = Vec::new();
        let mut row = self.branch.clone();
        let mut used = 0;
        for word in self.text.split_whitespace() {
            let width = text::width(word);
            if used > 0 && used + 1 + width > room {
                rows.push(std::mem::replace(&mut row, below.clone()));
                used = 0;
            }
            if used > 0 {
                row.push(' ');
                used += 1;
            }
            row.push_str(word);
            used += width;
        }
        rows.push(row);
        rows
    }
}

/// The lines of a chain.
pub fn lines(tree: &ChainTree) -> Vec<ChainLine> {
    let mut all = vec![ChainLine {
        branch: String::new(),
        text: text::clean(&tree.root.label).into_owned(),
        object: Some(tree.root.object.clone()),
        is_missing: tree.root.is_missing,
    }];
    add_below(&mut all, &tree.root, "");
    all
}

/// Adds the objects below a node, whose lines begin with `indent`.
fn add_below(all: &mut Vec<ChainLine>, node: &ChainNode, indent: &str) {
    for (at, child) in node.children.iter().enumerate() {
        let is_last = at + 1 == node.children.len() && node.left_out == 0;
        let (corner, below) = match is_last {
            true => ("└─ ", "   "),
            false => ("├─ ", "│  "),
        };
        let certainty = child
            .link
            .as_ref()
            .map_or("", |link| link.certainty.as_str());
        let words = format!("{certainty}: {}", child.label);
        all.push(ChainLine {
            branch: format!("{indent}{corner}"),
            text: text::clean(&words).into_owned(),
            object: Some(child.object.clone()),
            is_missing: child.is_missing,
        });
        let inner = format!("{indent}{below}");
        if let Some(link) = &child.link {
            let facts = link.facts.join("; ");
            all.push(fact(format!("{inner}  "), &facts));
        }
        add_below(all, child, &inner);
    }
    if node.left_out > 0 {
        let count = plural(node.left_out, "more link");
        all.push(fact(format!("{indent}└─ "), &format!("{count} not shown")));
    }
}

fn fact(branch: String, words: &str) -> ChainLine {
    ChainLine {
        branch,
        text: text::clean(words).into_owned(),
        object: None,
        is_missing: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_long_line_have_the_tree_beside_them() {
        let line = |branch: &str| ChainLine {
            branch: branch.to_owned(),
            text: "derived: the certificate names api.shop.test; no target has it".to_owned(),
            object: None,
            is_missing: false,
        };
        assert_eq!(
            line("│  ├─ ").rows(40),
            [
                "│  ├─ derived: the certificate names",
                "│  │  api.shop.test; no target has it",
            ]
        );
        assert_eq!(
            line("└─ ").rows(40)[1],
            "   api.shop.test; no target has it"
        );
        assert_eq!(line("").rows(80), [line("").printed()]);
        assert_eq!(line("│  ").rows(0).len(), 4);
    }
}
