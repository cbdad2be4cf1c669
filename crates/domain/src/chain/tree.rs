//! The chain of one object as a tree: breadth first, so that every object stands as near to the
//! root as its links allow, and only once.

use std::collections::BTreeSet;

use super::{Certainty, ChainData, ChainLink, ChainLinks, ChainObject};

/// Links from the root to the farthest object.
const DEEPEST: usize = 6;
/// Most objects below one object.
const WIDEST: usize = 10;
/// Most objects of a tree.
const MOST: usize = 200;

/// The chain of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainTree {
    pub root: ChainNode,
}

/// An object of a chain with the objects below it.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainNode {
    pub object: ChainObject,
    /// The object in words, not cleaned.
    pub label: String,
    /// A host that is no target yet.
    pub is_missing: bool,
    /// The link to the object above; the root has none.
    pub link: Option<ChainLink>,
    pub children: Vec<Self>,
    /// Linked objects that the tree does not show.
    pub left_out: usize,
}

/// The chain of an object in this data. The same data in any order gives the same tree.
pub fn chain_of(object: &ChainObject, data: &ChainData) -> ChainTree {
    ChainLinks::of(data, [object]).tree(object)
}

impl ChainTree {
    /// Whether it has more than the service and the target of a finding.
    pub fn leads_further(&self) -> bool {
        self.root.children.iter().any(ChainNode::leads_further)
    }
}

impl ChainNode {
    fn leads_further(&self) -> bool {
        let is_place = matches!(
            self.object,
            ChainObject::Service(_) | ChainObject::Target(_)
        );
        let link = self.link.as_ref();
        let is_seen = link.is_none_or(|link| link.certainty == Certainty::Seen);
        !(is_place && is_seen) || self.children.iter().any(Self::leads_further)
    }
}

/// An object while the tree grows.
struct GrowingNode<'a> {
    object: &'a ChainObject,
    link: Option<&'a ChainLink>,
    depth: usize,
    /// Positions of the objects below.
    children: Vec<usize>,
}

impl ChainLinks {
    /// The chain of an object.
    pub fn tree(&self, object: &ChainObject) -> ChainTree {
        let mut nodes = vec![GrowingNode {
            object,
            link: None,
            depth: 0,
            children: Vec::new(),
        }];
        let mut shown = BTreeSet::from([object]);
        let mut at = 0;
        while at < nodes.len() {
            if nodes[at].depth < DEEPEST {
                self.grow(&mut nodes, &mut shown, at);
            }
            at += 1;
        }
        ChainTree {
            root: self.node(&nodes, &shown, 0),
        }
    }

    /// Adds the objects below the node at a position.
    fn grow<'a>(
        &'a self,
        nodes: &mut Vec<GrowingNode<'a>>,
        shown: &mut BTreeSet<&'a ChainObject>,
        at: usize,
    ) {
        let (object, depth) = (nodes[at].object, nodes[at].depth + 1);
        for link in self.links_of(object) {
            if nodes[at].children.len() >= WIDEST || nodes.len() >= MOST {
                break;
            }
            let other = link.other(object);
            if !shown.insert(other) {
                continue;
            }
            let position = nodes.len();
            nodes[at].children.push(position);
            nodes.push(GrowingNode {
                object: other,
                link: Some(link),
                depth,
                children: Vec::new(),
            });
        }
    }

    fn node(
        &self,
        nodes: &[GrowingNode<'_>],
        shown: &BTreeSet<&ChainObject>,
        at: usize,
    ) -> ChainNode {
        let node = &nodes[at];
        ChainNode {
            object: node.object.clone(),
            label: self.label(node.object),
            is_missing: self.is_missing(node.object),
            link: node.link.cloned(),
            left_out: self.count_others(node.object, shown),
            children: node
                .children
                .iter()
                .map(|below| self.node(nodes, shown, *below))
                .collect(),
        }
    }
}
