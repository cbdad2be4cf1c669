//! The plots by name.

/// A plot over stored data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plot {
    Findings,
    Decisions,
    Captures,
    HeatMap,
}

impl Plot {
    pub const ALL: [Self; 4] = [Self::Findings, Self::Decisions, Self::Captures, Self::HeatMap];
    /// Their names, in the same order.
    pub const NAMES: [&str; 4] = ["findings", "decisions", "captures", "heatmap"];

    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|other| *other == name).map(|at| Self::ALL[at])
    }

    pub fn title(self) -> &'static str {
        ["Findings by risk", "Decisions per day", "Captures per minute", "Classes × targets"][self as usize]
    }

    /// The plot so many steps further; after the last one comes the first.
    pub fn step(self, by: isize) -> Self {
        Self::ALL[(self as usize).wrapping_add_signed(by) % Self::ALL.len()]
    }
}
