//! The scripts of the documents, run as they are printed.

use std::path::Path;

use tokio::process::Command;

use super::hunt::Range;
use super::{CliFixture, Ended};
use crate::documents::{part, read};
use crate::service::runner::typical_events;

/// Runs the script in a marked part of a document to its end.
async fn script(cli: &CliFixture, document: &str, name: &str, argument: &str) -> Ended {
    let page = read(document);
    let text = page[part(&page, name)]
        .split("```sh\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_scandeck")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell
        .args(["-c", text, name, argument])
        .current_dir(cli.home.path())
        .env("HOME", cli.home.path());
    shell
        .env("PATH", path)
        .env("SCANDECK_BASE_URL", &cli.service.base)
        .env("SCANDECK_API_KEY", &cli.service.key);
    for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
        shell.env_remove(name);
    }
    super::run(&mut shell).await
}

#[tokio::test]
async fn documented_ci_script_decides_exports_and_passes_its_gate() {
    let cli = CliFixture::new().await;
    cli.service.runner.set_events(typical_events());
    cli.service.runner.finish_scans(2);
    let ended = script(&cli, "docs/cli.md", "script", "127.0.0.1").await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        ended.err.contains("1 finding of scan 1 matches --fail-on")
            && !ended.err.contains("of scan 2 match"),
        "{ended:?}"
    );
    let hand_over = std::fs::read_to_string(cli.home.path().join("hand-over.md")).unwrap();
    assert!(
        hand_over.contains("Every finding is decided.") && hand_over.contains("ticket 114"),
        "{hand_over}"
    );
    let sarif = std::fs::read_to_string(cli.home.path().join("scandeck.sarif")).unwrap();
    assert!(
        sarif.contains("\"justification\": \"reason: informational"),
        "{sarif}"
    );
    cli.service.stop().await;
}

#[tokio::test]
async fn documented_hunt_script_lists_the_line_of_every_payload_hit() {
    if Command::new("curl")
        .arg("--version")
        .output()
        .await
        .is_err()
    {
        eprintln!("not run: the script needs curl");
        return;
    }
    let range = Range::new("visits").await;
    let ended = script(
        &range.cli,
        "docs/out-of-band.md",
        "hunt",
        &format!("{}/plain", range.practice.fetch_url()),
    )
    .await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(ended.out.lines().count(), 201, "{ended:?}");
    assert!(
        (1..=200).all(|number| ended.out.contains(&format!("#{number} hunt.txt · url"))),
        "{ended:?}"
    );
    let har = std::fs::read_to_string(range.cli.home.path().join("hunt.har")).unwrap();
    assert_eq!(har.matches("\"_payload\": \"").count(), 200);
    range.cli.service.stop().await;
}
