//! The README's script, run as it stands there.

use std::path::Path;

use super::Desk;
use crate::service::runner::usual;

fn script() -> String {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let part = readme.split("<!-- script: begin").nth(1).unwrap().split("<!-- script: end").next().unwrap();
    part.split("```sh\n").nth(1).unwrap().split("```").next().unwrap().to_owned()
}

#[tokio::test]
async fn the_script_of_the_readme_triages_without_a_screen() {
    let desk = Desk::new().await;
    desk.world.script.tells(usual());
    desk.world.script.let_end(2);
    let program = Path::new(env!("CARGO_BIN_EXE_scandeck")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut shell = tokio::process::Command::new("sh");
    shell.args(["-c", &script(), "triage"]).current_dir(desk.home.path()).env("HOME", desk.home.path());
    shell.env("PATH", path).env("SCANDECK_BASE_URL", &desk.world.base).env("SCANDECK_API_KEY", &desk.world.key);
    for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
        shell.env_remove(name);
    }
    let ended = super::run(&mut shell).await;
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
