//! The numbers of the plots, and their CSV.

use crate::base::group_keys::{class_title, common_start};
use crate::base::{
    FindingCounts, HeatMap, Pane, Plot, PlotCounts, PlotNumbers, ProgressPoint, ScopedPlot, Tab,
};
use crate::model::Model;
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan};
use scandeck_domain::triage::{Change, Issue, Presence};
use scandeck_report as report;
use scandeck_wire::contract::{Risk, Scan, Shared, Stamp, Target, TargetId, Workspace};
use scandeck_wire::text;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The numbers of a plot. They are computed again when a table or the decisions they are computed
/// from change.
pub fn numbers(model: &Model, shown: ScopedPlot) -> PlotNumbers {
    match shown.plot {
        Plot::Findings => PlotNumbers::Findings(findings_by_risk(model, shown.target)),
        Plot::Decisions => PlotNumbers::Decisions(decisions_per_day(model)),
        Plot::Captures => PlotNumbers::Captures(captures_per_minute(model)),
        Plot::HeatMap => PlotNumbers::HeatMap(heat_map(model, shown.target)),
        Plot::Progress => {
            let history = shown
                .scan
                .and_then(|scan| model.scans.progress.history(scan));
            PlotNumbers::Progress(history.cloned().unwrap_or_default())
        }
    }
}

/// The plot that `:plot` shows: of the chosen target, of the selected scan, or of the workspace.
pub fn of_scope(model: &Model, plot: Plot) -> ScopedPlot {
    match plot {
        Plot::Findings | Plot::HeatMap => ScopedPlot {
            plot,
            target: model.navigation.scope.target,
            scan: None,
        },
        Plot::Decisions | Plot::Captures => ScopedPlot {
            plot,
            target: None,
            scan: None,
        },
        Plot::Progress => {
            let selected = model.selected_item::<Scan>().map(|scan| scan.id);
            let chosen = model
                .navigation
                .scope
                .scan
                .filter(|_| model.navigation.focus.pane != Pane::Scans);
            ScopedPlot {
                plot,
                target: None,
                scan: chosen.or(selected),
            }
        }
    }
}

/// The plot in the detail of a pane. Only the findings of the current workspace are loaded.
pub fn of_detail(model: &Model, pane: Pane) -> Option<ScopedPlot> {
    let findings = |target| ScopedPlot {
        plot: Plot::Findings,
        target,
        scan: None,
    };
    match pane {
        Pane::Targets => Some(findings(Some(model.selected_item::<Target>()?.id))),
        Pane::Workspaces => {
            let selected = model.selected_item::<Workspace>()?.id;
            (model.navigation.scope.workspace == Some(selected)).then(|| findings(None))
        }
        Pane::Scans if model.detail.tab(pane) == Tab::Summary => {
            let scan = Some(model.selected_item::<Scan>()?.id);
            Some(ScopedPlot {
                plot: Plot::Progress,
                target: None,
                scan,
            })
        }
        _ => None,
    }
}

/// The findings of a target, or of the workspace.
fn findings(model: &Model, target: Option<TargetId>) -> impl Iterator<Item = &Arc<Issue>> {
    let table = model.data.findings.value();
    let all = table
        .filter(|_| target.is_none())
        .map(|table| table.items())
        .unwrap_or_default();
    let rows = table
        .zip(target)
        .and_then(|(table, target)| Some((table, table.of_target(target)?)));
    let of_target = rows
        .into_iter()
        .flat_map(|(table, rows)| rows.positions.iter().map(|&at| &table.items()[at as usize]));
    all.iter().chain(of_target)
}

fn place(risk: Risk) -> usize {
    Risk::DOWN
        .iter()
        .position(|other| *other == risk)
        .unwrap_or_default()
}

/// The present findings over time. An absent finding counts until the scan that no longer found it.
fn findings_by_risk(model: &Model, target: Option<TargetId>) -> FindingCounts {
    let spans = findings(model, target).filter_map(|issue| {
        let is_absent = issue.presence == Presence::Absent;
        Some((
            issue.first_seen.get()?,
            is_absent.then(|| end(issue)).flatten(),
            issue.risk(),
        ))
    });
    counts(spans)
}

/// The start of the first scan that no longer found an absent finding; if unknown, one second after
/// the last scan that found it.
fn end(issue: &Issue) -> Option<Stamp> {
    let proof = issue.absent_in().and_then(|proof| proof.since.get());
    let after = || {
        issue
            .last_seen
            .get()?
            .0
            .checked_add(1.second())
            .ok()
            .map(Stamp)
    };
    proof
        .filter(|at| Some(*at) > issue.last_seen.get())
        .or_else(after)
}

/// The counts at each change, from findings with their first time, and the time from which they are
/// absent.
fn counts(findings: impl Iterator<Item = (Stamp, Option<Stamp>, Risk)>) -> FindingCounts {
    let mut changes: BTreeMap<Stamp, [i64; 5]> = BTreeMap::new();
    for (first, end, risk) in findings {
        changes.entry(first).or_default()[place(risk)] += 1;
        if let Some(end) = end {
            changes.entry(end).or_default()[place(risk)] -= 1;
        }
    }
    let mut now = PlotCounts::default();
    let samples = changes.into_iter().map(|(at, change)| {
        (0..5).for_each(|risk| now[risk] = now[risk].saturating_add_signed(change[risk]));
        (at, now)
    });
    FindingCounts {
        samples: samples.collect(),
    }
}

/// The verdicts of each day in this workspace that were not undone, from the first day with one
/// until today, at most ten years.
fn decisions_per_day(model: &Model) -> Vec<(Date, u64)> {
    let mut days: BTreeMap<Date, u64> = BTreeMap::new();
    let state = &model.findings.triage.state;
    for event in state.events_of(&model.workspace_name()) {
        if matches!(event.change, Change::Decide(_)) && !state.is_undone(event.batch) {
            *days.entry(event.at.local_day()).or_default() += 1;
        }
    }
    let Some(first) = days.keys().next().copied() else {
        return Vec::new();
    };
    let last = model
        .today()
        .max(days.keys().next_back().copied().unwrap_or(first));
    let first = first.max(last.saturating_sub(MOST_DAYS.days()));
    let all = first.series(1.day()).take_while(|day| *day <= last);
    all.map(|day| (day, days.get(&day).copied().unwrap_or_default()))
        .collect()
}

/// The captures in memory by minute, without gaps, of at most a day up to the newest capture.
fn captures_per_minute(model: &Model) -> Vec<(Timestamp, u64)> {
    let minute = |at: Timestamp| at.as_second().div_euclid(60);
    let mut minutes: BTreeMap<i64, u64> = BTreeMap::new();
    for captured in &model.data.captures.rows {
        if let Some(date) = captured.capture.request_date {
            *minutes.entry(minute(date.0)).or_default() += 1;
        }
    }
    let (Some(first), Some(last)) = (minutes.keys().next(), minutes.keys().next_back()) else {
        return Vec::new();
    };
    let first = (*first).max(last - MOST_MINUTES + 1);
    let all = (first..=*last)
        .filter_map(|minute| Some((minute, Timestamp::from_second(minute * 60).ok()?)));
    all.map(|(minute, at)| (at, minutes.get(&minute).copied().unwrap_or_default()))
        .collect()
}

fn heat_map(model: &Model, target: Option<TargetId>) -> HeatMap {
    let mut cells: HashMap<_, PlotCounts> = HashMap::new();
    let mut by_class: HashMap<_, PlotCounts> = HashMap::new();
    let mut by_target: HashMap<_, PlotCounts> = HashMap::new();
    let mut starts: HashMap<Shared, Shared> = HashMap::new();
    // As in groups, the titles do not depend on the target.
    for issue in findings(model, None) {
        match starts.get_mut(issue.class()) {
            Some(start) if issue.name.starts_with(start.as_str()) => {}
            Some(start) => *start = common_start(start, &issue.name).into(),
            None => _ = starts.insert(issue.class().clone(), issue.name.clone()),
        }
    }
    for issue in findings(model, target).filter(|issue| issue.presence != Presence::Absent) {
        let name = issue
            .target_id()
            .and_then(|target| model.target_name(target))
            .unwrap_or(&issue.identity.asset);
        let (class, target, risk) = (
            issue.class(),
            (issue.target_id(), name.clone()),
            place(issue.risk()),
        );
        cells.entry((class.clone(), target.clone())).or_default()[risk] += 1;
        by_class.entry(class.clone()).or_default()[risk] += 1;
        by_target.entry(target).or_default()[risk] += 1;
    }
    let titles = starts
        .into_iter()
        .map(|(class, start)| (class.clone(), class_title(&class, &start)))
        .collect();
    HeatMap {
        classes: worst_first(by_class),
        targets: worst_first(by_target),
        titles,
        cells,
    }
}

/// The names with the most findings of the highest risks first.
fn worst_first<K: Ord>(counts: HashMap<K, PlotCounts>) -> Vec<K> {
    let mut all: Vec<(K, PlotCounts)> = counts.into_iter().collect();
    all.sort_by(|(one, of_one), (other, of_other)| {
        of_other.cmp(of_one).then_with(|| one.cmp(other))
    });
    all.into_iter().map(|(name, _)| name).collect()
}

/// The numbers of a plot as CSV, with a header.
pub fn csv(model: &Model, shown: ScopedPlot) -> String {
    let rows: Vec<Vec<String>> = match numbers(model, shown) {
        PlotNumbers::Findings(counts) => {
            let head = ["time", "critical", "high", "medium", "low", "info"];
            let samples = counts.until(Stamp(model.now.wall));
            let row = |(at, counts): &(Stamp, PlotCounts)| csv_row(utc(at.0), counts);
            with_head(head, samples.iter().map(row))
        }
        PlotNumbers::Decisions(days) => {
            let row = |(day, count): &(Date, u64)| csv_row(day.to_string(), &[*count]);
            with_head(["day", "decisions"], days.iter().map(row))
        }
        PlotNumbers::Captures(minutes) => {
            let row = |(at, count): &(Timestamp, u64)| csv_row(utc(*at), &[*count]);
            with_head(["minute", "captures"], minutes.iter().map(row))
        }
        PlotNumbers::HeatMap(map) => heat_map_rows(&map),
        PlotNumbers::Progress(history) => {
            let head = ["elapsed_seconds", "percent", "tests", "findings"];
            let row = |point: &ProgressPoint| {
                let numbers = [point.percent, point.tests, point.found];
                csv_row(point.elapsed.to_string(), &numbers)
            };
            with_head(head, history.points.iter().map(row))
        }
    };
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail, and all rows have as many cells as the header.
    rows.iter().for_each(|row| _ = writer.write_record(row));
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

fn csv_row(first: String, rest: &[u64]) -> Vec<String> {
    let rest = rest.iter().map(u64::to_string);
    std::iter::once(first).chain(rest).collect()
}

fn with_head<const N: usize>(
    head: [&str; N],
    rows: impl Iterator<Item = Vec<String>>,
) -> Vec<Vec<String>> {
    let head = head.map(str::to_owned).to_vec();
    std::iter::once(head).chain(rows).collect()
}

/// A row per class, a column per target.
fn heat_map_rows(map: &HeatMap) -> Vec<Vec<String>> {
    let cell = |name: &str| report::neutral(&text::clean(name));
    let mut head = vec!["class".to_owned()];
    head.extend(map.targets.iter().map(|(_, target)| cell(target)));
    let row = |class: &Shared| {
        let sum = |target| map.cell(class, target).iter().sum();
        let sums: Vec<u64> = map.targets.iter().map(sum).collect();
        csv_row(cell(class), &sums)
    };
    std::iter::once(head)
        .chain(map.classes.iter().map(row))
        .collect()
}

/// Ten years, whatever dates imported decisions have.
const MOST_DAYS: i32 = 3_653;

/// A day of minutes.
const MOST_MINUTES: i64 = 24 * 60;

fn utc(at: Timestamp) -> String {
    let whole = at.round(jiff::Unit::Second).unwrap_or(at);
    whole.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absence_without_proof_at_the_end_of_time_has_no_end() {
        let issue = Issue {
            last_seen: Some(Stamp(Timestamp::MAX)).into(),
            ..Issue::default()
        };
        assert_eq!(end(&issue), None);
    }

    #[test]
    fn absent_finding_counts_until_scan_that_no_longer_found_it() {
        let at = |second| Stamp(Timestamp::from_second(second).unwrap());
        let findings = [
            (at(10), None, Risk::High),
            (at(10), Some(at(20)), Risk::High),
            (at(15), None, Risk::Low),
        ];
        let counts = counts(findings.into_iter());
        let expected = [
            (at(10), [0, 2, 0, 0, 0]),
            (at(15), [0, 2, 0, 1, 0]),
            (at(20), [0, 1, 0, 1, 0]),
        ];
        assert_eq!(
            counts.until(at(20)),
            expected,
            "no second sample at the same time"
        );
        assert_eq!(counts.until(at(30))[3], (at(30), [0, 1, 0, 1, 0]));
        assert_eq!(FindingCounts::default().until(at(30)), []);
    }
}
