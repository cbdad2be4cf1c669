//! What imported scans state about their tests.
//!
//! ```text
//!   file ─► nothing, or classes with ports ─► a finding of another class: not retested
//!     └─ `complete`: the run tested the same as the last one ─► every finding that it lacks is absent
//! ```

use std::collections::HashMap;

use super::listed::ListedFinding;
use crate::finding::RetestGap;
use scandeck_wire::contract::import::{ImportOrigin, TestedClasses};
use scandeck_wire::contract::{Scan, ScanId, Shared, Tool};

/// The origins of imported scans.
#[derive(Debug, Default)]
pub struct ImportedTests {
    origins: HashMap<ScanId, ImportOrigin>,
}

impl ImportedTests {
    pub fn new<'a>(scans: impl Iterator<Item = &'a Scan>) -> Self {
        let imported = scans.filter(|scan| Tool(scan.tool_id).is_imported());
        let origin = |scan: &Scan| (scan.id, ImportOrigin::of(scan).unwrap_or_default());
        Self {
            origins: imported.map(origin).collect(),
        }
    }

    pub fn has(&self, scan: ScanId) -> bool {
        self.origins.contains_key(&scan)
    }

    /// Why `later` would not have found a finding of `earlier` again; `None` if it would.
    pub fn gap(
        &self,
        later: ScanId,
        earlier: ScanId,
        finding: &ListedFinding,
    ) -> Option<RetestGap> {
        let [origin, before] = [later, earlier].map(|id| self.origins.get(&id));
        // The finding is not of a kind that its own scan did not test.
        let was_left_out = |kind: &Shared| {
            let mut all = before.iter().flat_map(|origin| &origin.coverage);
            all.any(|tested| tested.without.contains(kind))
        };
        let is_tested = |tested: &TestedClasses| {
            tested.includes(&finding.vuln_id, &finding.protocol, finding.port())
                && tested.without.iter().all(was_left_out)
        };
        let is_stated =
            |origin: &&ImportOrigin| origin.complete || origin.coverage.iter().any(is_tested);
        match origin.filter(is_stated) {
            Some(_) => None,
            None => Some(RetestGap::NotStated),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::finding::Presence::{self, Absent, New, NotRetested, Reappeared, Unchanged};
    use crate::triage::testing::TriageFixture;

    /// The presence of what these of four imported scans saw.
    fn seen_by(scans: &[i64], change: impl Fn(&mut ImportOrigin, i64)) -> Presence {
        let mut fixture = TriageFixture::new();
        for number in 1..=4 {
            let mut origin = ImportOrigin {
                digest: format!("{number}").into(),
                ..ImportOrigin::default()
            };
            change(&mut origin, number);
            let scan = fixture.scan(number);
            scan.tool_id = 10_002;
            scan.tool_params = Some(json!({"import": origin}));
        }
        for &scan in scans {
            fixture.found(scan, "tls10", "");
        }
        fixture.last().0.presence
    }

    fn tests(class: &str) -> TestedClasses {
        TestedClasses {
            ports: vec!["tcp/1-1000".into()],
            checks: vec![class.into()],
            ..TestedClasses::default()
        }
    }

    #[test]
    fn results_alone_make_nothing_absent() {
        let nothing = |_: &mut ImportOrigin, _| {};
        assert_eq!(seen_by(&[1, 2], nothing), NotRetested);
        assert_eq!(seen_by(&[4], nothing), New);
        assert_eq!(seen_by(&[1, 4], nothing), Unchanged);
    }

    #[test]
    fn stated_tests_and_complete_runs_make_findings_absent() {
        let complete = |origin: &mut ImportOrigin, _| origin.complete = true;
        let stated = |origin: &mut ImportOrigin, _| origin.coverage = vec![tests("tls10")];
        for change in [
            &complete as &dyn Fn(&mut ImportOrigin, i64),
            &stated as &dyn Fn(&mut ImportOrigin, i64),
        ] {
            assert_eq!(seen_by(&[1, 2], change), Absent);
            assert_eq!(seen_by(&[1, 4], change), Reappeared);
            assert_eq!(seen_by(&[3, 4], change), Unchanged);
        }
        let other = |origin: &mut ImportOrigin, _| origin.coverage = vec![tests("heartbleed")];
        assert_eq!(seen_by(&[1, 2], other), NotRetested);
    }

    #[test]
    fn kinds_that_a_run_left_out_are_not_retested() {
        let mut without = tests("tls10");
        without.without = vec!["local".into()];
        let later = |origin: &mut ImportOrigin, number: i64| {
            origin.coverage = vec![if number > 1 {
                without.clone()
            } else {
                tests("tls10")
            }];
        };
        assert_eq!(seen_by(&[1], later), NotRetested);
        assert_eq!(seen_by(&[2], later), Absent);
    }
}
