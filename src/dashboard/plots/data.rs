//! The numbers of the plots, and their CSV.

use crate::contract::{Risk, Shared, Stamp, TargetId};
use crate::dashboard::base::Plot;
use crate::dashboard::model::Model;
use crate::report;
use crate::text;
use crate::triage::{Change, Issue, Presence};
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Numbers by risk, from critical down to info.
pub type PlotCounts = [u64; 5];

/// The findings of the chosen target, or of the workspace.
fn findings(model: &Model) -> impl Iterator<Item = &Arc<Issue>> {
    let only = model.navigation.scope.target;
    let all = model.data.findings.value().map(|table| table.items()).unwrap_or_default();
    all.iter().filter(move |issue| only.is_none() || issue.target_id == only)
}

fn place(risk: Risk) -> usize {
    Risk::DOWN.iter().position(|other| *other == risk).unwrap_or_default()
}

/// The present findings at each time at which a scan found new ones, and now. An absent finding counts until its last scan.
pub fn findings_by_risk(model: &Model) -> Vec<(Stamp, PlotCounts)> {
    let spans = findings(model).filter_map(|issue| {
        let is_absent = issue.presence == Presence::Absent;
        Some((issue.first_seen?, issue.last_seen.filter(|_| is_absent), issue.risk_level))
    });
    samples(spans, Stamp(model.now.wall))
}

/// The counts at each first time, from findings with first time and last time if they are absent.
fn samples(findings: impl Iterator<Item = (Stamp, Option<Stamp>, Risk)>, now: Stamp) -> Vec<(Stamp, PlotCounts)> {
    let mut changes: BTreeMap<Stamp, (PlotCounts, PlotCounts)> = BTreeMap::new();
    for (first, last, risk) in findings {
        changes.entry(first).or_default().0[place(risk)] += 1;
        if let Some(last) = last {
            changes.entry(last.max(first)).or_default().1[place(risk)] += 1;
        }
    }
    let mut counts = PlotCounts::default();
    let mut samples = Vec::new();
    for (at, (added, removed)) in changes {
        (0..5).for_each(|risk| counts[risk] += added[risk]);
        samples.push((at, counts));
        (0..5).for_each(|risk| counts[risk] -= removed[risk]);
    }
    if samples.last().is_some_and(|(last, _)| *last < now) {
        samples.push((now, counts));
    }
    samples
}

/// The verdicts of each day in this workspace, from the first day with one until today, at most ten years.
pub fn decisions_per_day(model: &Model) -> Vec<(Date, u64)> {
    let mut days: BTreeMap<Date, u64> = BTreeMap::new();
    for event in model.findings.triage.state.events_of(&model.workspace_name()) {
        if matches!(event.change, Change::Decide(_)) {
            *days.entry(event.at.local_day()).or_default() += 1;
        }
    }
    let Some(first) = days.keys().next().copied() else { return Vec::new() };
    let last = model.today().max(days.keys().next_back().copied().unwrap_or(first));
    let first = first.max(last.saturating_sub(MOST_DAYS.days()));
    let all = first.series(1.day()).take_while(|day| *day <= last);
    all.map(|day| (day, days.get(&day).copied().unwrap_or_default())).collect()
}

/// The captures in memory by minute, without gaps, of at most so many minutes up to the newest capture.
pub fn captures_per_minute(model: &Model, most: usize) -> Vec<(Timestamp, u64)> {
    let minute = |at: Timestamp| at.as_second().div_euclid(60);
    let mut minutes: BTreeMap<i64, u64> = BTreeMap::new();
    for captured in &model.data.captures.rows {
        if let Some(date) = captured.capture.request_date {
            *minutes.entry(minute(date.0)).or_default() += 1;
        }
    }
    let (Some(first), Some(last)) = (minutes.keys().next(), minutes.keys().next_back()) else { return Vec::new() };
    let first = (*first).max(last - most as i64 + 1);
    let all = (first..=*last).filter_map(|minute| Some((minute, Timestamp::from_second(minute * 60).ok()?)));
    all.map(|(minute, at)| (at, minutes.get(&minute).copied().unwrap_or_default())).collect()
}

/// Present findings by class and target, those with the highest risks first.
#[derive(Debug, Default)]
pub struct HeatMap {
    /// With their names.
    pub targets: Vec<(Option<TargetId>, Shared)>,
    pub classes: Vec<Shared>,
    /// The cells with findings: class, target, counts.
    cells: HashMap<(Shared, (Option<TargetId>, Shared)), PlotCounts>,
}

impl HeatMap {
    pub fn cell(&self, class: &Shared, target: &(Option<TargetId>, Shared)) -> PlotCounts {
        self.cells.get(&(class.clone(), target.clone())).copied().unwrap_or_default()
    }

    /// The findings of the fullest cell.
    pub fn most(&self) -> u64 {
        self.cells.values().map(|cell| cell.iter().sum()).max().unwrap_or(1)
    }
}

pub fn heat_map(model: &Model) -> HeatMap {
    let mut cells: HashMap<_, PlotCounts> = HashMap::new();
    let mut by_class: HashMap<_, PlotCounts> = HashMap::new();
    let mut by_target: HashMap<_, PlotCounts> = HashMap::new();
    for issue in findings(model).filter(|issue| issue.presence != Presence::Absent) {
        let name = issue.target_id.and_then(|target| model.target_name(target)).unwrap_or(&issue.identity.asset);
        let (class, target, risk) = (issue.class(), (issue.target_id, name.clone()), place(issue.risk_level));
        cells.entry((class.clone(), target.clone())).or_default()[risk] += 1;
        by_class.entry(class.clone()).or_default()[risk] += 1;
        by_target.entry(target).or_default()[risk] += 1;
    }
    HeatMap { classes: worst_first(by_class), targets: worst_first(by_target), cells }
}

/// The names with the most findings of the highest risks first.
fn worst_first<K: Ord>(counts: HashMap<K, PlotCounts>) -> Vec<K> {
    let mut all: Vec<(K, PlotCounts)> = counts.into_iter().collect();
    all.sort_by(|(one, of_one), (other, of_other)| of_other.cmp(of_one).then_with(|| one.cmp(other)));
    all.into_iter().map(|(name, _)| name).collect()
}

/// The numbers of a plot as CSV, with a header.
pub fn csv(model: &Model, plot: Plot) -> String {
    let numbers = |first: String, rest: &[u64]| [first].into_iter().chain(rest.iter().map(u64::to_string)).collect();
    let header = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
    let mut rows: Vec<Vec<String>> = match plot {
        Plot::Findings => vec![header(&["time", "critical", "high", "medium", "low", "info"])],
        Plot::Decisions => vec![header(&["day", "decisions"])],
        Plot::Captures => vec![header(&["minute", "captures"])],
        Plot::HeatMap => vec![header(&["class"])],
    };
    match plot {
        Plot::Findings => {
            rows.extend(findings_by_risk(model).iter().map(|(at, counts)| numbers(utc(at.0), counts)));
        }
        Plot::Decisions => {
            rows.extend(decisions_per_day(model).iter().map(|(day, count)| numbers(day.to_string(), &[*count])));
        }
        Plot::Captures => {
            rows.extend(
                captures_per_minute(model, MOST_MINUTES).iter().map(|(at, count)| numbers(utc(*at), &[*count])),
            );
        }
        Plot::HeatMap => {
            let map = heat_map(model);
            rows[0].extend(map.targets.iter().map(|(_, target)| report::neutral(&text::clean(target))));
            rows.extend(map.classes.iter().map(|class| {
                let sums: Vec<u64> = map.targets.iter().map(|target| map.cell(class, target).iter().sum()).collect();
                numbers(report::neutral(&text::clean(class)), &sums)
            }));
        }
    }
    let quoted = |cell: &String| match cell.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.clone(),
    };
    rows.iter().map(|row| row.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n").collect()
}

/// Ten years, whatever dates imported decisions have.
const MOST_DAYS: i32 = 3_653;

/// A day of minutes.
const MOST_MINUTES: usize = 24 * 60;

fn utc(at: Timestamp) -> String {
    let whole = at.round(jiff::Unit::Second).unwrap_or(at);
    whole.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_finding_counts_until_its_last_scan() {
        let at = |second| Stamp(Timestamp::from_second(second).unwrap());
        let findings = [(at(10), None, Risk::High), (at(10), Some(at(20)), Risk::High), (at(20), None, Risk::Low)];
        let counts = samples(findings.into_iter(), at(30));
        assert_eq!(counts, [(at(10), [0, 2, 0, 0, 0]), (at(20), [0, 2, 0, 1, 0]), (at(30), [0, 1, 0, 1, 0])]);
        assert_eq!(samples([].into_iter(), at(30)), []);
    }
}
