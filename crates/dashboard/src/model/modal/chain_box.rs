//! The open chain of an object.

use scandeck_domain::chain::{ChainLine, ChainObject, ChainTree, lines};

/// How an object is connected to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainBox {
    pub lines: Vec<ChainLine>,
    /// Index of the selected line, which has an object.
    pub at: usize,
}

impl ChainBox {
    pub fn new(tree: &ChainTree) -> Self {
        Self {
            lines: lines(tree),
            at: 0,
        }
    }

    /// The line of the selected object.
    pub fn selected(&self) -> Option<&ChainLine> {
        self.lines.get(self.at)
    }

    pub fn object(&self) -> Option<&ChainObject> {
        self.selected()?.object.as_ref()
    }

    /// Whether the selected object is a missing target, or a capture, of which a finding is made.
    pub fn can_create(&self) -> bool {
        let is_missing = self.selected().is_some_and(|line| line.is_missing);
        is_missing || matches!(self.object(), Some(ChainObject::Capture { .. }))
    }

    /// Moves the selection by this number of objects.
    pub fn walk(&mut self, by: isize) {
        let has_object = |at: &usize| self.lines[*at].object.is_some();
        let places: Vec<usize> = (0..self.lines.len()).filter(has_object).collect();
        let current = places.iter().position(|at| *at == self.at).unwrap_or(0);
        let last = places.len().saturating_sub(1);
        let to = current.saturating_add_signed(by).min(last);
        self.at = places.get(to).copied().unwrap_or(0);
    }
}
