//! The README's scripts, run as they stand there.

use std::path::Path;

use tokio::process::Command;

use super::hunt::Range;
use super::{Desk, Ended};
use crate::service::runner::typical_events;

/// Runs a script of the README to its end.
async fn script(desk: &Desk, name: &str, argument: &str) -> Ended {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let part = readme.split(&format!("<!-- {name}: begin")).nth(1).unwrap();
    let part = part.split(&format!("<!-- {name}: end")).next().unwrap();
    let text = part.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_scandeck")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", text, name, argument]).current_dir(desk.home.path()).env("HOME", desk.home.path());
    shell.env("PATH", path).env("SCANDECK_BASE_URL", &desk.world.base).env("SCANDECK_API_KEY", &desk.world.key);
    for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
        shell.env_remove(name);
    }
    super::run(&mut shell).await
}

#[tokio::test]
async fn the_script_of_the_readme_triages_without_a_screen() {
    let desk = Desk::new().await;
    desk.world.runner.set_events(typical_events());
    desk.world.runner.finish_scans(2);
    let ended = script(&desk, "script", "127.0.0.1").await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.err.contains("1 of scan 1 match --fail-on") && !ended.err.contains("of scan 2 match"), "{ended:?}");
    let hand_over = std::fs::read_to_string(desk.home.path().join("hand-over.md")).unwrap();
    assert!(
        hand_over.contains("Nothing: every finding is decided.") && hand_over.contains("ticket 114"),
        "{hand_over}"
    );
    let sarif = std::fs::read_to_string(desk.home.path().join("scandeck.sarif")).unwrap();
    assert!(sarif.contains("\"justification\": \"reason: informational"), "{sarif}");
    desk.world.stop().await;
}

#[tokio::test]
async fn the_hunt_of_the_readme_names_the_line_of_each_payload_that_came_back() {
    if Command::new("curl").arg("--version").output().await.is_err() {
        eprintln!("not run: the script needs curl");
        return;
    }
    let range = Range::new("visits").await;
    let ended = script(&range.desk, "hunt", &format!("{}/plain", range.practice.fetch_url())).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(ended.out.lines().count(), 201, "{ended:?}");
    assert!((1..=200).all(|number| ended.out.contains(&format!("#{number} hunt.txt · url"))), "{ended:?}");
    let har = std::fs::read_to_string(range.desk.home.path().join("hunt.har")).unwrap();
    assert_eq!(har.matches("\"_payload\": \"").count(), 200);
    range.desk.world.stop().await;
}
