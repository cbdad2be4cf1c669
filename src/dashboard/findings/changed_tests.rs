//! From one row that a scan changed to the next.

use crate::contract::{Finding, Risk, Scan, ScanId, ScanStatus, Stamp};
use crate::dashboard::base::{Pane, Snapshot};
use crate::dashboard::testing::{TestDashboard, finding, scan, stamp, table};

/// Two scans of one target: the second found 1 and 3 again, 2 is absent, 4 is new.
fn desk() -> TestDashboard {
    let mut desk = TestDashboard::new();
    let ended = |id: i64| {
        let at = Stamp(jiff::Timestamp::from_second(stamp().0.as_second() - 1000 + id).unwrap());
        Scan { start_time: Some(at), end_time: Some(at), ..scan(id, 1, ScanStatus::Finished, 100) }
    };
    let of = |id: i64, by: i64, name: &str| Finding { task_id: Some(ScanId(by)), ..finding(id, 1, name, Risk::High) };
    desk.feed(Snapshot::Scans(table([ended(1), ended(2)])));
    desk.feed(Snapshot::Findings(table([
        of(1, 1, "A key"),
        of(2, 1, "B git"),
        of(3, 1, "C cookie"),
        of(11, 2, "A key"),
        of(13, 2, "C cookie"),
        of(14, 2, "D banner"),
    ])));
    desk
}

#[test]
fn parentheses_select_changed_rows() {
    let mut desk = desk();
    desk.model.set_query(Pane::Findings, "is:undecided").unwrap();
    desk.keys("3 home");
    let shown = desk.shown(Pane::Findings);
    let changed: Vec<i64> = shown.iter().copied().filter(|id| [2, 14].contains(id)).collect();
    assert_eq!(changed.len(), 2, "{shown:?}");
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.extend(desk.selected(Pane::Findings).filter(|id| changed.contains(id) && !seen.contains(id)));
        desk.keys(")");
    }
    assert_eq!(seen, changed);
    assert!(desk.notices().contains("no changed finding below"), "{}", desk.notices());
    desk.keys("end (");
    let back = desk.selected(Pane::Findings).unwrap();
    assert!(changed.contains(&back), "{back}");
}
