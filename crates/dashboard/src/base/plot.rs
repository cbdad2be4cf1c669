//! The plots by name, and their numbers.

use jiff::Timestamp;
use jiff::civil::Date;
use scandeck_wire::contract::{ScanId, Shared, Stamp, TargetId};
use std::collections::HashMap;

/// A plot over stored data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plot {
    Findings,
    Decisions,
    Captures,
    HeatMap,
    Progress,
}

impl Plot {
    pub const ALL: [Self; 5] = [
        Self::Findings,
        Self::Decisions,
        Self::Captures,
        Self::HeatMap,
        Self::Progress,
    ];
    /// Their names, in the same order.
    pub const NAMES: [&str; 5] = ["findings", "decisions", "captures", "heatmap", "progress"];

    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES
            .iter()
            .position(|other| *other == name)
            .map(|at| Self::ALL[at])
    }

    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    pub fn title(self) -> &'static str {
        [
            "Findings by risk",
            "Decisions per day (local time)",
            "Captures per minute",
            "Classes × targets",
            "Progress of the scan",
        ][self as usize]
    }

    /// The plot so many steps further; after the last one comes the first.
    pub fn step(self, by: isize) -> Self {
        Self::ALL[(self as isize + by).rem_euclid(Self::ALL.len() as isize) as usize]
    }
}

/// The open plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlotBox {
    pub plot: Plot,
    /// First visible row of a plot with more rows than the screen.
    pub scroll: u32,
    /// First visible column of a plot with more columns than the screen.
    pub across: u32,
}

impl PlotBox {
    pub fn new(plot: Plot) -> Self {
        Self {
            plot,
            scroll: 0,
            across: 0,
        }
    }
}

/// A plot, and the item that its numbers are limited to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScopedPlot {
    pub plot: Plot,
    /// The findings of this target only.
    pub target: Option<TargetId>,
    /// The progress of this scan.
    pub scan: Option<ScanId>,
}

/// Numbers by risk, from critical down to info.
pub type PlotCounts = [u64; 5];

/// A target with its name; the id is none for findings without a target.
pub type PlotTarget = (Option<TargetId>, Shared);

#[derive(Debug)]
pub enum PlotNumbers {
    Findings(FindingCounts),
    Decisions(Vec<(Date, u64)>),
    Captures(Vec<(Timestamp, u64)>),
    HeatMap(HeatMap),
    Progress(ScanHistory),
}

impl PlotNumbers {
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Findings(counts) => counts.samples.is_empty(),
            Self::Decisions(days) => days.is_empty(),
            Self::Captures(minutes) => minutes.is_empty(),
            Self::HeatMap(map) => map.classes.is_empty(),
            // A plot over time needs two points.
            Self::Progress(history) => history.points.len() < 2,
        }
    }
}

/// The present findings over time.
#[derive(Debug, Default, PartialEq)]
pub struct FindingCounts {
    /// The counts at each time at which a scan found new findings, or no longer found some.
    pub samples: Vec<(Stamp, PlotCounts)>,
}

impl FindingCounts {
    /// The first time, and the last time with its counts: `now`, or that of a newer sample.
    pub fn span(&self, now: Stamp) -> Option<(Stamp, (Stamp, PlotCounts))> {
        let (first, last) = (self.samples.first()?, self.samples.last()?);
        Some((first.0, (last.0.max(now), last.1)))
    }

    /// The counts at a time between the first and the last sample.
    pub fn at(&self, second: i64) -> PlotCounts {
        let next = self
            .samples
            .partition_point(|(at, _)| at.0.as_second() <= second);
        self.samples
            .get(next.saturating_sub(1))
            .map(|(_, counts)| *counts)
            .unwrap_or_default()
    }

    /// The samples, and one for the current time.
    pub fn until(&self, now: Stamp) -> Vec<(Stamp, PlotCounts)> {
        let mut samples = self.samples.clone();
        let last = self.span(now).map(|(_, last)| last);
        samples.extend(last.filter(|last| self.samples.last() != Some(last)));
        samples
    }
}

/// Present findings by class and target, those with the highest risks first.
#[derive(Debug, Default)]
pub struct HeatMap {
    pub targets: Vec<PlotTarget>,
    pub classes: Vec<Shared>,
    /// The titles of the classes.
    pub titles: HashMap<Shared, Shared>,
    /// The cells with findings: class, target, counts.
    pub cells: HashMap<(Shared, PlotTarget), PlotCounts>,
}

impl HeatMap {
    pub fn cell(&self, class: &Shared, target: &PlotTarget) -> PlotCounts {
        self.cells
            .get(&(class.clone(), target.clone()))
            .copied()
            .unwrap_or_default()
    }

    /// The findings of the fullest cell.
    pub fn most(&self) -> u64 {
        self.cells
            .values()
            .map(|cell| cell.iter().sum())
            .max()
            .unwrap_or(1)
    }
}

/// The progress of a scan at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgressPoint {
    /// Seconds since the scan started, or since the first observation if the service reports no
    /// duration.
    pub elapsed: u64,
    pub percent: u64,
    /// Finished tests.
    pub tests: u64,
    pub found: u64,
}

/// The progress of a scan over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanHistory {
    /// The points that differ from their previous point.
    pub points: Vec<ProgressPoint>,
    /// Seconds until the last observation.
    pub until: u64,
    pub all_tests: u64,
    /// Number of observations.
    pub version: u64,
}

impl ScanHistory {
    /// The progress at a time after the first point.
    pub fn at(&self, second: u64) -> Option<&ProgressPoint> {
        let next = self.points.partition_point(|point| point.elapsed <= second);
        self.points.get(next.saturating_sub(1))
    }
}
