//! The sizes of panes as the user set them: the places of the dividers between panes.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A border between panes that can be moved. Each divider belongs to one layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Divider {
    /// Wide layout: workspaces and targets | findings and scans.
    WideLeft,
    /// Wide layout: findings and scans | detail and captures.
    WideRight,
    /// Wide layout: workspaces over targets.
    Workspaces,
    /// Wide layout: findings over scans.
    Scans,
    /// Wide layout: detail over captures.
    Captures,
    /// List | detail.
    Beside,
    /// List over detail.
    Portrait,
}

/// The dividers that were moved, each with the share of the cells before it, so that another size
/// of the terminal keeps the proportions. All other dividers have an automatic place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PaneSizes(BTreeMap<Divider, u16>);

/// The unit of a share: fine enough to return the same number of cells at the same size of the
/// terminal.
const WHOLE: u32 = 10_000;

impl PaneSizes {
    /// The cells before a divider in a length, if the divider was moved.
    pub fn cells(&self, divider: Divider, length: u16) -> Option<u16> {
        let share = u32::from(*self.0.get(&divider)?);
        Some(((share * u32::from(length) + WHOLE / 2) / WHOLE) as u16)
    }

    /// Moves a divider behind so many cells of a length.
    pub fn set(&mut self, divider: Divider, cells: u16, length: u16) {
        let length = u32::from(length.max(1));
        let share = (u32::from(cells) * WHOLE + length / 2) / length;
        self.0.insert(divider, share.min(WHOLE) as u16);
    }

    /// Returns a divider to its automatic place. False if the divider was there.
    pub fn reset(&mut self, divider: Divider) -> bool {
        self.0.remove(&divider).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_size_returns_the_same_cells_and_keeps_its_share_of_other_lengths() {
        for length in 1..=500 {
            for cells in 0..=length {
                let mut sizes = PaneSizes::default();
                sizes.set(Divider::Beside, cells, length);
                assert_eq!(
                    sizes.cells(Divider::Beside, length),
                    Some(cells),
                    "{cells} of {length}"
                );
            }
        }
        let mut sizes = PaneSizes::default();
        sizes.set(Divider::Scans, 20, 40);
        assert_eq!(
            (
                sizes.cells(Divider::Scans, 60),
                sizes.cells(Divider::Captures, 60)
            ),
            (Some(30), None)
        );
    }
}
