//! From one row that a scan changed to the next.

use crate::base::{Pane, Snapshot};
use crate::testing::{TestDashboard, finding, scan, stamp, table};
use scandeck_wire::contract::{Finding, Risk, Scan, ScanId, ScanStatus, Stamp};

/// Two scans of one target: the second found 1 and 3 again, 2 is absent, 4 is new.
fn app() -> TestDashboard {
    let mut app = TestDashboard::new();
    let ended = |id: i64| {
        let at = Stamp(jiff::Timestamp::from_second(stamp().0.as_second() - 1000 + id).unwrap());
        Scan {
            start_time: Some(at),
            end_time: Some(at),
            ..scan(id, 1, ScanStatus::Finished, 100)
        }
    };
    let of = |id: i64, by: i64, name: &str| Finding {
        task_id: Some(ScanId(by)),
        ..finding(id, 1, name, Risk::High)
    };
    app.feed(Snapshot::Scans(table([ended(1), ended(2)])));
    app.feed(Snapshot::Findings(table([
        of(1, 1, "A key"),
        of(2, 1, "B git"),
        of(3, 1, "C cookie"),
        of(11, 2, "A key"),
        of(13, 2, "C cookie"),
        of(14, 2, "D banner"),
    ])));
    app
}

#[test]
fn parentheses_select_changed_rows() {
    let mut app = app();
    app.model.set_query(Pane::Findings, "is:undecided").unwrap();
    app.keys("3 home");
    let shown = app.shown(Pane::Findings);
    let changed: Vec<i64> = shown
        .iter()
        .copied()
        .filter(|id| [2, 14].contains(id))
        .collect();
    assert_eq!(changed.len(), 2, "{shown:?}");
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.extend(
            app.selected(Pane::Findings)
                .filter(|id| changed.contains(id) && !seen.contains(id)),
        );
        app.keys(")");
    }
    assert_eq!(seen, changed);
    assert!(
        app.notices().contains("no changed finding below"),
        "{}",
        app.notices()
    );
    app.keys("end (");
    let back = app.selected(Pane::Findings).unwrap();
    assert!(changed.contains(&back), "{back}");
}

#[test]
fn difference_of_absent_finding_is_between_last_scan_with_it_and_first_without() {
    let mut app = app();
    let mut scans: Vec<Scan> = app
        .model
        .data
        .scans
        .value()
        .unwrap()
        .items()
        .iter()
        .map(|scan| (**scan).clone())
        .collect();
    let later = Stamp(jiff::Timestamp::from_second(stamp().0.as_second() - 500).unwrap());
    scans.push(Scan {
        start_time: Some(later),
        end_time: Some(later),
        ..scan(3, 1, ScanStatus::Finished, 100)
    });
    app.feed(Snapshot::Scans(table(scans)));
    app.model.set_query(Pane::Findings, "id:2").unwrap();
    app.keys("3 d");
    let Some(crate::testing::Modal::Text(shown)) = app.model.overlay.modals.last() else {
        panic!("{}", app.notices())
    };
    let lines: Vec<&str> = shown.body.lines().collect();
    let words = |id| app.model.scan_words(ScanId(id));
    assert_eq!(
        lines[..2],
        [format!("- {}", words(1)), format!("+ {}", words(2))],
        "{}",
        shown.body
    );
    assert_eq!(lines[3], "absent");
}
