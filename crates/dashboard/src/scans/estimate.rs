//! How long new scans will probably take: from the scans that are loaded.

use scandeck_wire::contract::{Scan, ScanStatus};
use scandeck_wire::text::long_duration;
use serde_json::Value as Json;
use std::sync::Arc;

/// Most earlier scans whose durations are compared, the newest first.
const COMPARED: usize = 9;
/// Shorter scans say nothing about the next one.
const LEAST_SECONDS: i64 = 1;

/// The experience with earlier scans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScanEstimate {
    /// The median duration in seconds.
    pub each: i64,
    /// The greatest number of scans, of any tool, that ran at the same time.
    pub at_once: usize,
}

impl ScanEstimate {
    /// The estimate for a tool with this scan type; `None` without an earlier scan.
    pub fn of(scans: &[Arc<Scan>], tool: i64, scan_type: Option<&str>) -> Option<Self> {
        let is_alike = |scan: &&Arc<Scan>| {
            let of = scan
                .tool_params
                .as_ref()
                .and_then(|params| params.get("scan_type"))
                .and_then(Json::as_str);
            scan.tool_id == tool && (scan_type.is_none() || of.is_none() || of == scan_type)
        };
        let is_whole = |scan: &&Arc<Scan>| {
            scan.status_name == ScanStatus::Finished && scan.duration >= LEAST_SECONDS
        };
        let mut alike: Vec<&Arc<Scan>> = scans.iter().filter(is_alike).filter(is_whole).collect();
        alike.sort_by_key(|scan| std::cmp::Reverse((scan.end_time, scan.id)));
        let mut durations: Vec<i64> = alike
            .iter()
            .take(COMPARED)
            .map(|scan| scan.duration)
            .collect();
        durations.sort_unstable();
        let each = *durations.get(durations.len() / 2)?;
        Some(Self {
            each,
            at_once: most_at_once(scans),
        })
    }

    /// `Earlier scans took about 8m 00s, up to 4 at a time: about 2h 00m for these 60.`
    pub fn words(self, scans: usize) -> String {
        let each = long_duration(self.each);
        match scans {
            ..=1 => format!("Earlier scans like this took about {each}."),
            _ => {
                let rounds = scans.div_ceil(self.at_once.max(1));
                let all = long_duration(
                    self.each
                        .saturating_mul(i64::try_from(rounds).unwrap_or(i64::MAX)),
                );
                format!(
                    "Earlier scans took about {each}, up to {} at a time: about {all} for these {scans}.",
                    self.at_once
                )
            }
        }
    }
}

/// The greatest number of scans that ran at the same time.
fn most_at_once(scans: &[Arc<Scan>]) -> usize {
    let mut steps: Vec<(i64, i64)> = Vec::new();
    for scan in scans
        .iter()
        .filter(|scan| scan.status_name != ScanStatus::Waiting)
    {
        let Some(start) = scan.start_time.map(|at| at.as_second()) else {
            continue;
        };
        let end = scan.end_time.map_or(i64::MAX, |at| at.as_second());
        if end > start {
            steps.extend([(start, 1), (end, -1)]);
        }
    }
    // At the same second an end comes before a start.
    steps.sort_unstable();
    let (mut running, mut most) = (0, 1);
    for (_, step) in steps {
        running += step;
        most = most.max(running);
    }
    usize::try_from(most).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::contract::Stamp;
    use serde_json::json;

    fn scan(id: i64, tool: i64, (start, end): (i64, i64), scan_type: &str) -> Arc<Scan> {
        let at = |second: i64| jiff::Timestamp::from_second(second).ok().map(Stamp);
        Arc::new(Scan {
            id: id.into(),
            tool_id: tool,
            status_name: ScanStatus::Finished,
            start_time: at(start),
            end_time: at(end),
            duration: end - start,
            tool_params: Some(json!({"scan_type": scan_type})),
            ..Scan::default()
        })
    }

    #[test]
    fn estimate_is_the_median_of_like_scans_in_rounds_of_those_that_ran_at_once() {
        let scans = [
            scan(1, 170, (0, 100), "light"),
            scan(2, 170, (50, 170), "light"),
            scan(3, 170, (99, 1_000), "deep"),
            scan(4, 70, (170, 180), "light"),
            scan(5, 170, (2_000, 2_480), "light"),
        ];
        let light = ScanEstimate::of(&scans, 170, Some("light")).unwrap();
        assert_eq!(
            light,
            ScanEstimate {
                each: 120,
                at_once: 3
            }
        );
        assert_eq!(
            light.words(60),
            "Earlier scans took about 2m 00s, up to 3 at a time: about 40m 00s for these 60."
        );
        assert_eq!(light.words(1), "Earlier scans like this took about 2m 00s.");
        assert_eq!(
            ScanEstimate::of(&scans, 170, Some("deep")).unwrap().each,
            901
        );
        assert_eq!(ScanEstimate::of(&scans, 90, None), None);
    }
}
