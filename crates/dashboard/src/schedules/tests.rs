//! Key scripts of the schedules.

use crate::base::Call;
use crate::config::ScanProfile;
use crate::testing::*;
use scandeck_wire::contract::NewScan;
use scandeck_wire::contract::schedule::NewSchedule;

/// A dashboard at the local service, with the scan profile `web`.
fn at_local_service() -> TestDashboard {
    let mut app = TestDashboard::new();
    app.learn_extensions();
    let scan = NewScan {
        tool_id: 170,
        ..NewScan::default()
    };
    app.model.settings.live.scan_profiles = vec![ScanProfile {
        name: "web".to_owned(),
        scans: vec![scan],
    }];
    app
}

#[test]
fn equals_pauses_schedule_and_resumes_paused_one() {
    let mut app = TestDashboard::new();
    let sent = app.calls("9 =");
    assert_eq!(sent[0].1, Call::PauseSchedule(ScheduleId(1)));
    let sent = app.calls("j =");
    assert_eq!(sent[0].1, Call::ResumeSchedule(ScheduleId(2)));
}

#[test]
fn marked_schedules_are_paused_without_those_that_are_paused() {
    let mut app = TestDashboard::new();
    let sent = app.calls("9 * =");
    let calls: Vec<&Call> = sent.iter().map(|(_, call)| call).collect();
    assert_eq!(calls, [&Call::PauseSchedule(ScheduleId(1))]);
}

#[test]
fn schedule_is_deleted_after_a_confirmation() {
    let mut app = TestDashboard::new();
    assert_eq!(app.calls("9 D"), []);
    let sent = app.calls("y");
    assert_eq!(sent[0].1, Call::DeleteSchedule(ScheduleId(1)));
}

#[test]
fn name_of_each_fact_is_apart_from_its_value() {
    let mut app = TestDashboard::new();
    app.keys("9");
    let screen = app.frame().join("\n");
    assert!(screen.contains("May be late   "), "{screen}");
}

#[test]
fn new_schedule_has_profile_interval_and_all_targets() {
    let mut app = at_local_service();
    let sent = app.calls("9 n tab tab tab '02:00' ctrl-o");
    let Call::CreateSchedule(new) = &sent[0].1 else {
        panic!("{sent:?}");
    };
    let expected = NewSchedule {
        name: "web".to_owned(),
        workspace_id: Some(WorkspaceId(1)),
        every: "1d".to_owned(),
        at: Some("02:00".to_owned()),
        scans: app.model.settings.live.scan_profiles[0].scans.clone(),
        ..NewSchedule::default()
    };
    assert_eq!(**new, expected);
}

#[test]
fn marked_targets_are_offered_and_chosen_first() {
    let mut app = at_local_service();
    let sent = app.calls("2 space space 9 n ctrl-o");
    let Call::CreateSchedule(new) = &sent[0].1 else {
        panic!("{sent:?}");
    };
    assert_eq!(new.target_ids, Some(vec![TargetId(1), TargetId(2)]));
}

#[test]
fn tags_in_use_are_offered_after_all_targets() {
    let mut app = at_local_service();
    let mut tagged = target(1, "t1.acme.test");
    tagged.tags = vec!["prod".into()];
    app.feed(Snapshot::Targets(table([tagged])));
    let sent = app.calls("9 n tab right ctrl-o");
    let Call::CreateSchedule(new) = &sent[0].1 else {
        panic!("{sent:?}");
    };
    assert_eq!((&new.target_ids, &new.tag), (&None, &Some("prod".into())));
}

#[test]
fn service_without_schedules_gets_no_form() {
    let mut app = TestDashboard::new();
    assert_eq!(app.calls("9 n"), []);
    assert!(
        app.notices().contains("has no schedules"),
        "{}",
        app.notices()
    );
}
