//! The case of marked findings, from the command to the entries of its file.

use crate::base::{CaseRequest, Snapshot};
use crate::testing::{Effect, TestDashboard, finding, table};
use scandeck_domain::case::{CaseEntryKind, verify};
use scandeck_wire::contract::{Finding, Risk, ScanId};

/// Three findings of the finished scan 1.
fn app() -> TestDashboard {
    let mut app = TestDashboard::new();
    let of = |id: i64, name: &str| Finding {
        task_id: Some(ScanId(1)),
        ..finding(id, 1, name, Risk::High)
    };
    app.feed(Snapshot::Findings(table([
        of(1, "Weak key"),
        of(2, "Old cookie"),
        of(3, "Banner"),
    ])));
    app.keys("3 home");
    app
}

fn requested(effects: Vec<Effect>) -> Option<CaseRequest> {
    effects.into_iter().find_map(|effect| match effect {
        Effect::SealCase(request) => Some(*request),
        _ => None,
    })
}

#[test]
fn case_has_the_marked_findings_alone() {
    let mut app = app();
    app.keys("space space");
    let request = requested(app.keys(": 'case two.case' enter")).unwrap();
    assert_eq!(request.name, "two.case");
    let case = verify(&request.seal().unwrap().file).unwrap();
    let about = &case.entries[0].text;
    assert!(
        about.starts_with("case of 2 findings of workspace "),
        "{about}"
    );
    let of_kind = |kind| case.entries.iter().filter(|one| one.kind == kind).count();
    assert_eq!(of_kind(CaseEntryKind::Finding), 2);
    assert!(of_kind(CaseEntryKind::Scan) > 0);
}

#[test]
fn case_of_the_selected_finding_is_masked_while_the_mask_is_on() {
    let mut app = app();
    let request = requested(app.keys(": 'case' enter")).unwrap();
    assert!(request.name.ends_with(".case"), "{}", request.name);
    assert_eq!(
        (request.findings.len(), request.maker.is_masked),
        (1, false)
    );
    app.model.switch_mask(true);
    let masked = requested(app.keys(": 'case' enter")).unwrap();
    assert!(masked.maker.is_masked);
}
