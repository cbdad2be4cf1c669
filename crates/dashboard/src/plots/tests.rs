//! Scripts of the plots: steps, copies, empty data.

use crate::base::Plot;
use crate::testing::*;

fn copied(effects: &[Effect]) -> String {
    let text = |effect: &Effect| match effect {
        Effect::Copy { text, .. } => Some(text.clone()),
        _ => None,
    };
    effects.iter().find_map(text).unwrap_or_default()
}

fn open(app: &TestDashboard) -> Option<Plot> {
    app.model
        .overlay
        .modals
        .last()
        .and_then(|modal| modal.clone().try_as_plot())
        .map(|open| open.plot)
}

#[test]
fn keys_step_through_the_plots_and_close_them() {
    let mut app = TestDashboard::new();
    app.keys(": 'plot' enter");
    assert_eq!(open(&app), Some(Plot::Findings));
    app.keys("l tab right");
    assert_eq!(open(&app), Some(Plot::HeatMap));
    app.keys("l l");
    assert_eq!(
        open(&app),
        Some(Plot::Findings),
        "after the last one comes the first"
    );
    app.keys("h");
    assert_eq!(open(&app), Some(Plot::Progress));
    app.keys("esc : 'plot captures' enter");
    assert_eq!(open(&app), Some(Plot::Captures));
    app.keys("q");
    assert_eq!(open(&app), None);
}

#[test]
fn y_copies_the_numbers_as_csv() {
    let mut app = TestDashboard::new();
    app.keys("3 c f");
    let mut csv = |plot: &str| copied(&app.keys(&format!(": 'plot {plot}' enter y esc")));
    let heat_map = csv("heatmap");
    let mut lines = heat_map.lines();
    let targets: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(
        (targets.len(), targets[0]),
        (4, "class"),
        "three targets have findings"
    );
    let total: u64 = lines
        .flat_map(|line| line.split(',').skip(1))
        .map(|cell| cell.parse::<u64>().unwrap())
        .sum();
    assert_eq!(total, 6);
    assert!(csv("decisions").starts_with("day,decisions\n") && csv("decisions").ends_with(",2\n"));
    app.keys("u");
    let decisions = copied(&app.keys(": 'plot decisions' enter y esc"));
    assert!(
        decisions.ends_with(",1\n"),
        "without the undone one: {decisions}"
    );
    let mut csv = |plot: &str| copied(&app.keys(&format!(": 'plot {plot}' enter y esc")));
    assert!(csv("captures").ends_with(",3\n"), "{}", csv("captures"));
    assert_eq!(csv("findings"), "", "no finding has a first time");
}

#[test]
fn plot_without_data_names_the_reason() {
    for (plot, words) in [
        ("findings", "no findings in this workspace"),
        (
            "decisions",
            "no manual verdicts in this workspace · rules are not counted",
        ),
        ("captures", "no captures loaded"),
        ("heatmap", "no findings in this workspace"),
        ("progress", "no progress observed for this scan"),
    ] {
        let mut app = TestDashboard::blank(80, 24);
        app.keys(&format!(": 'plot {plot}' enter"));
        let shown = app.frame().join("\n");
        assert!(shown.contains(words), "{plot}\n{shown}");
        assert_eq!(copied(&app.keys("y")), "", "{plot}");
        assert!(
            app.notices().contains("nothing to copy"),
            "{plot}: {}",
            app.notices()
        );
    }
}

#[test]
fn plot_of_progress_shows_observed_points_of_selected_scan() {
    let mut app = TestDashboard::blank(200, 60);
    let running = |percent, tests| Scan {
        duration: percent,
        num_tests: 40,
        num_finished_tests: tests,
        ..scan(7, 1, ScanStatus::Running, percent)
    };
    let feed = |app: &mut TestDashboard, seen| {
        app.feed(Snapshot::Scans(table([
            seen,
            scan(6, 1, ScanStatus::Finished, 100),
        ])))
    };
    for (percent, tests) in [(10, 4), (10, 4), (50, 20)] {
        feed(&mut app, running(percent, tests));
    }
    app.keys("4");
    assert!(app.frame().join("\n").contains("Progress of the scan"));
    assert!(
        copied(&app.keys("y d")).starts_with("elapsed_seconds,percent,tests,findings\n"),
        "the plot of the detail"
    );
    app.keys(": 'plot' enter");
    assert_eq!(open(&app), Some(Plot::Progress), "the first plot of scans");
    assert!(app.frame().join("\n").contains("tests 20/40"));
    assert_eq!(
        copied(&app.keys("y")),
        "elapsed_seconds,percent,tests,findings\n10,10,4,0\n50,50,20,0\n"
    );
    feed(
        &mut app,
        Scan {
            status_name: ScanStatus::Finished,
            ..running(100, 40)
        },
    );
    assert!(
        copied(&app.keys("y")).ends_with("\n100,100,40,0\n"),
        "the end is observed too"
    );
    app.keys("esc");
    let other = if app.model.lists.scans.selected == Some(ScanId(7)) {
        "j"
    } else {
        "k"
    };
    app.keys(other);
    app.at += Duration::from_secs(1);
    assert!(
        !app.frame().join("\n").contains("Progress of the scan"),
        "nothing was observed of this scan"
    );
}

#[test]
fn heat_map_of_more_targets_than_columns_of_a_screen_is_drawn() {
    let mut app = TestDashboard::new();
    app.feed(Snapshot::Findings(table(
        (1..=13_200).map(|id| finding(id, id, "Banner", Risk::Info)),
    )));
    app.keys("3 : 'plot heatmap' enter");
    assert!(
        app.frame().join("\n").contains("Banner"),
        "{}",
        app.frame().join("\n")
    );
}

#[test]
fn heat_map_scrolls_to_its_last_class_and_names_classes_as_groups_do() {
    let mut app = TestDashboard::blank(80, 24);
    let of_class = |id: i64, class: String, name: String| Finding {
        vuln_id: class.into(),
        ..finding(id, 1, &name, if id >= 90 { Risk::Info } else { Risk::High })
    };
    let mut findings: Vec<Finding> = (1..=30)
        .map(|id| of_class(id, format!("web.class{id}"), format!("Weakness {id} seen")))
        .collect();
    findings.push(of_class(
        90,
        "web.dump".into(),
        "Database dump at /a.sql".into(),
    ));
    findings.push(of_class(
        91,
        "web.dump".into(),
        "Database dump at /b.sql".into(),
    ));
    app.feed(Snapshot::Findings(table(findings)));
    app.keys("3 : 'plot heatmap' enter");
    let shown = |app: &mut TestDashboard| app.frame().join("\n");
    let first = shown(&mut app);
    assert!(
        first.contains("Weakness 1 seen") && first.contains("j k H L scroll"),
        "{first}"
    );
    app.keys("G");
    let last = shown(&mut app);
    assert!(
        last.contains(" of 31 classes")
            && last.contains("-31 of 31")
            && !last.contains("Weakness 1 seen"),
        "{last}"
    );
    assert!(
        last.contains("Database dump ") && !last.contains("web."),
        "{last}"
    );
    app.keys("k");
    assert!(shown(&mut app).contains("-30 of 31"));
    app.keys("home");
    assert_eq!(shown(&mut app), first);
}

#[test]
fn heat_map_scrolls_sideways_to_its_last_target() {
    let mut app = TestDashboard::blank(80, 24);
    app.feed(Snapshot::Findings(table(
        (1..=40).map(|id| finding(id, id, "Banner", Risk::Info)),
    )));
    app.keys("3 : 'plot heatmap' enter");
    let first = app.frame().join("\n");
    assert!(
        first.contains("1 class, 1-") && first.contains(" of 40 targets · H L scroll"),
        "{first}"
    );
    app.keys("L");
    let further = app.frame().join("\n");
    assert!(!further.contains(" 1-"), "{further}");
    app.keys("L L L L L L L L");
    let last = app.frame().join("\n");
    assert!(last.contains("-40 of 40 targets"), "{last}");
    app.keys("H H H H H H H H H");
    assert_eq!(app.frame().join("\n"), first);
}
