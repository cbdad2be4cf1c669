//! The demo without a terminal: the real binary, run to its end as a script runs it.

use std::process::{Command, Stdio};

#[test]
fn plain_demo_without_input_ends_with_findings_captures_and_reports() {
    let out = tempfile::tempdir().unwrap();
    let home = tempfile::tempdir().unwrap();
    let demo = Command::new(env!("CARGO_BIN_EXE_scandeck"))
        .args(["demo", "--out"])
        .arg(out.path().join("reports"))
        .env("HOME", home.path())
        // The demo must not use a proxy for loopback addresses.
        .env("HTTP_PROXY", "http://127.0.0.1:9")
        .env("http_proxy", "http://127.0.0.1:9")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let lines = String::from_utf8(demo.stdout).unwrap();
    assert!(
        demo.status.success(),
        "{lines}\n{}",
        String::from_utf8_lossy(&demo.stderr)
    );
    for words in [
        "key       /",
        "CRIT  http://127.0.0.1:",
        "MED   https://localhost:",
        "Certificate expired",
        "Open port: ",
        "POST  127.0.0.1",
    ] {
        assert!(lines.contains(words), "{words} is missing:\n{lines}");
    }

    let mut endings = Vec::new();
    for entry in std::fs::read_dir(out.path().join("reports")).unwrap() {
        let path = entry.unwrap().path();
        assert!(
            lines.contains(path.to_str().unwrap()),
            "the output names every report"
        );
        let ending = path.extension().unwrap().to_str().unwrap().to_owned();
        if ending == "json" {
            let groups: serde_json::Value =
                serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            assert_eq!(
                groups[0]["findings"][0]["risk_level"], 4,
                "the highest risk comes first"
            );
        }
        endings.push(ending);
    }
    endings.sort();
    assert_eq!(endings, ["csv", "html", "json"]);
}
