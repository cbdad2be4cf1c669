//! Data on this machine: decisions as JSON lines, bundles, purge.

use std::path::Path;

use super::findings::scanned;
use super::{CliFixture, Ended, run};

/// Runs a command with the service of a service and another state directory.
async fn elsewhere(cli: &CliFixture, state: &Path, args: &[&str]) -> Ended {
    run(cli.command(args).env("XDG_STATE_HOME", state)).await
}

/// Decides on both findings, with a unique note.
async fn decide_both(cli: &CliFixture) {
    let all = cli.json(&["findings", "list"]).await;
    let id = |at: usize| all[at]["id"].to_string();
    cli.does(&[
        "findings",
        "decide",
        &id(0),
        "--verdict",
        "confirmed",
        "--note",
        "MARK-of-ann",
    ])
    .await;
    cli.does(&["findings", "decide", &id(1), "--verdict", "false_positive"])
        .await;
}

#[tokio::test]
async fn exported_decisions_are_imported_once() {
    let cli = scanned(1).await;
    decide_both(&cli).await;
    cli.does(&["triage", "export", "-o", "d.jsonl"]).await;
    let lines = std::fs::read_to_string(cli.home.path().join("d.jsonl")).unwrap();
    assert_eq!(cli.does(&["triage", "export"]).await, lines);
    let other = tempfile::tempdir().unwrap();
    let first = elsewhere(
        &cli,
        other.path(),
        &["triage", "import", "d.jsonl", "--json"],
    )
    .await;
    assert!(first.out.contains("\"taken\": 3"), "{first:?}");
    let again = elsewhere(&cli, other.path(), &["triage", "import", "d.jsonl"]).await;
    assert_eq!(
        again.out,
        "0 decisions imported, 3 already stored, 0 lines invalid\n"
    );
    assert_eq!(
        elsewhere(&cli, other.path(), &["triage", "export"])
            .await
            .out,
        lines
    );
    let list = ["findings", "list", "--json"];
    assert_eq!(
        elsewhere(&cli, other.path(), &list).await.out,
        cli.does(&list).await
    );
    cli.service.stop().await;
}

#[tokio::test]
async fn export_finds_workspace_by_name_or_id_and_rejects_unknown_ones() {
    let cli = scanned(1).await;
    decide_both(&cli).await;
    let name = cli.json(&["workspaces", "list"]).await[0]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    let lines = cli.does(&["triage", "export"]).await;
    let other = format!(" {} ", name.to_uppercase());
    assert_eq!(
        cli.does(&["triage", "export", "--workspace", &other]).await,
        lines
    );
    let unknown = [
        "triage",
        "export",
        "--workspace",
        "nowhere",
        "-o",
        "d.jsonl",
    ];
    cli.run(&unknown)
        .await
        .refused(1, &format!("workspace with data: {name}"));
    assert!(!cli.home.path().join("d.jsonl").exists());

    let (state, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert_eq!(
        elsewhere(&cli, state.path(), &["findings", "list"])
            .await
            .code,
        0
    );
    cached_lists(state.path(), [&name, "Lab"]);
    cli.does(&["triage", "export", "-o", "d.jsonl"]).await;
    let lines_there = cli.home.path().join("d.jsonl");
    // Without a reachable service: the data of the local one.
    let here = async |args: &[&str]| {
        run(super::command(home.path(), args).env("XDG_STATE_HOME", state.path())).await
    };
    assert_eq!(
        here(&["triage", "import", lines_there.to_str().unwrap()])
            .await
            .code,
        0
    );
    assert_eq!(
        here(&["triage", "export", "--workspace", "1"]).await.out,
        lines
    );
    let made = here(&["bundle", "--workspace", &other, "-o", "w.bundle"]).await;
    assert!(
        made.code == 0 && made.err.contains("3 decisions"),
        "{made:?}"
    );
    here(&["bundle", "--workspace", "nowhere", "-o", "n.bundle"])
        .await
        .refused(1, "workspace with data");
    cli.service.stop().await;
}

#[tokio::test]
async fn invalid_line_is_reported_and_skipped_unless_strict() {
    let cli = scanned(1).await;
    decide_both(&cli).await;
    let lines = cli.does(&["triage", "export"]).await;
    let mut bytes = lines.clone().into_bytes();
    bytes.extend(b"{\"id\":7}\n\xff\xfe\n");
    std::fs::write(cli.home.path().join("d.jsonl"), bytes).unwrap();
    let other = tempfile::tempdir().unwrap();
    let strict = elsewhere(
        &cli,
        other.path(),
        &["triage", "import", "d.jsonl", "--strict"],
    )
    .await;
    strict.refused(1, "nothing was imported");
    assert!(
        strict.err.contains("d.jsonl:4: ") && strict.err.contains("d.jsonl:5: not UTF-8"),
        "{strict:?}"
    );
    assert_eq!(
        elsewhere(&cli, other.path(), &["triage", "export"])
            .await
            .out,
        ""
    );
    let imported = elsewhere(&cli, other.path(), &["triage", "import", "d.jsonl"]).await;
    assert_eq!(
        (imported.code, imported.out.as_str()),
        (
            0,
            "3 decisions imported, 0 already stored, 2 lines invalid\n"
        )
    );
    assert_eq!(
        elsewhere(&cli, other.path(), &["triage", "export"])
            .await
            .out,
        lines
    );
    cli.service.stop().await;
}

/// Whether any file below a directory contains a word.
pub fn holds(directory: &Path, word: &str) -> bool {
    let mut entries = std::fs::read_dir(directory).unwrap().flatten();
    entries.any(|entry| match entry.path() {
        path if path.is_dir() => holds(&path, word),
        path => std::fs::read(path)
            .unwrap()
            .windows(word.len())
            .any(|part| part == word.as_bytes()),
    })
}

#[tokio::test]
async fn imported_bundle_lists_decided_findings_without_the_service() {
    let cli = scanned(2).await;
    decide_both(&cli).await;
    let name = cli.json(&["workspaces", "list"]).await[0]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    cli.run(&["bundle", "-o", "w.bundle"])
        .await
        .refused(2, "--workspace");
    let made = cli
        .run(&["bundle", "--workspace", &name, "-o", "w.bundle"])
        .await;
    assert!(
        made.code == 0 && made.err.contains("3 decisions"),
        "{made:?}"
    );
    let bundle = std::fs::read_to_string(cli.home.path().join("w.bundle")).unwrap();
    assert!(
        !bundle.contains(&cli.service.key),
        "the key is not exported"
    );

    let other = tempfile::tempdir().unwrap();
    let cut: Vec<&str> = bundle.lines().collect();
    std::fs::write(cli.home.path().join("cut.bundle"), cut[..3].join("\n")).unwrap();
    elsewhere(&cli, other.path(), &["unbundle", "cut.bundle"])
        .await
        .refused(1, "file is incomplete");
    let changed = bundle.replacen("\"who\":\"", "\"who\":\"x", 1);
    std::fs::write(cli.home.path().join("changed.bundle"), changed).unwrap();
    elsewhere(&cli, other.path(), &["unbundle", "changed.bundle"])
        .await
        .refused(1, "file was damaged or changed");
    assert_eq!(
        elsewhere(&cli, other.path(), &["triage", "export"])
            .await
            .out,
        ""
    );

    let imported = elsewhere(&cli, other.path(), &["unbundle", "w.bundle"]).await;
    assert!(
        imported.code == 0 && imported.out.contains("3 decisions imported"),
        "{imported:?}"
    );
    let again = elsewhere(&cli, other.path(), &["unbundle", "w.bundle"]).await;
    assert!(again.out.contains("0 decisions imported"), "{again:?}");
    let list = ["findings", "list", "--json"];
    let shown = cli.does(&list).await;
    assert_eq!(elsewhere(&cli, other.path(), &list).await.out, shown);

    let (args, key, base) = (
        ["findings", "list", "--json"],
        cli.service.key.clone(),
        cli.service.base.clone(),
    );
    cli.service.stop().await;
    let mut alone = super::command(cli.home.path(), &args);
    alone
        .env("SCANDECK_BASE_URL", base)
        .env("SCANDECK_API_KEY", key)
        .env("XDG_STATE_HOME", other.path());
    let alone = run(&mut alone).await;
    assert_eq!(
        (alone.code, alone.out.as_str()),
        (0, shown.as_str()),
        "{}",
        alone.err
    );
    assert!(alone.err.contains("showing the bundle of"), "{}", alone.err);
}

#[tokio::test]
async fn purge_needs_the_name_and_leaves_no_data() {
    let cli = scanned(1).await;
    decide_both(&cli).await;
    let name = cli.json(&["workspaces", "list"]).await[0]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    let state = tempfile::tempdir().unwrap();
    cli.does(&["bundle", "--workspace", &name, "-o", "w.bundle"])
        .await;
    assert_eq!(
        elsewhere(&cli, state.path(), &["unbundle", "w.bundle"])
            .await
            .code,
        0
    );
    assert!(holds(state.path(), "MARK-of-ann"));
    let purge = ["purge", "--workspace", &name];
    elsewhere(&cli, state.path(), &purge)
        .await
        .refused(2, "not deleted: 3 decisions");
    let wrong = [&purge[..], &["--yes-delete", "another"]].concat();
    elsewhere(&cli, state.path(), &wrong)
        .await
        .refused(1, "nothing was deleted");
    elsewhere(&cli, state.path(), &["purge", "--workspace", "nowhere"])
        .await
        .refused(1, "no data about");
    assert!(holds(state.path(), "MARK-of-ann"));
    let purged = elsewhere(
        &cli,
        state.path(),
        &[&purge[..], &["--yes-delete", &name]].concat(),
    )
    .await;
    assert!(
        purged.code == 0 && purged.out.starts_with("deleted: 3 decisions"),
        "{purged:?}"
    );
    assert!(!holds(state.path(), "MARK-of-ann") && !holds(state.path(), "127.0.0.1"));
    cli.service.stop().await;
}

/// Cached lists of two workspaces, as a dashboard writes them.
fn cached_lists(state: &Path, names: [&str; 2]) -> std::path::PathBuf {
    use scandeck::contract::{Finding, Stamp, Workspace, WorkspaceId};
    use scandeck::dashboard::base::plan::Snapshot;
    use scandeck::table::Table;
    let of = state.join("scandeck/of/local");
    let files = scandeck::dashboard::runtime::CachedLists::new(of.join("last-known"));
    let at = Stamp::parse("2026-11-21 12:00:00").unwrap();
    let workspace = |(at, name): (usize, &str)| {
        let id = WorkspaceId(at as i64 + 1);
        Workspace {
            id,
            name: name.into(),
            ..Workspace::default()
        }
    };
    let workspaces: Vec<Workspace> = names.into_iter().enumerate().map(workspace).collect();
    files
        .write(
            None,
            &Snapshot::Workspaces(Table::new(workspaces.clone()).into()),
            at,
        )
        .unwrap();
    for one in &workspaces {
        let finding = Finding {
            name: format!("FOUND-in-{}", one.name).as_str().into(),
            ..Finding::default()
        };
        files
            .write(
                Some(one.id),
                &Snapshot::Findings(Table::new([finding]).into()),
                at,
            )
            .unwrap();
    }
    of
}

#[tokio::test]
async fn purge_of_cached_workspace_creates_no_store() {
    let (home, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let of = cached_lists(state.path(), ["Acme", "Lab"]);
    let purge = async |args: &[&str]| {
        let args = [&["purge", "--workspace"], args].concat();
        run(super::command(home.path(), &args).env("XDG_STATE_HOME", state.path())).await
    };
    purge(&["nowhere"])
        .await
        .refused(1, "workspace with data: Acme, Lab");
    purge(&["acme"])
        .await
        .refused(2, "not deleted: cached lists of Acme");
    assert!(holds(state.path(), "FOUND-in-Acme"));
    let purged = purge(&["1", "--yes-delete", "Acme"]).await;
    assert_eq!(
        (purged.code, purged.out.as_str()),
        (0, "deleted: cached lists of Acme\n"),
        "{purged:?}"
    );
    assert!(!holds(state.path(), "Acme") && holds(state.path(), "FOUND-in-Lab"));
    assert!(!of.join("decisions.db").exists());
    assert_eq!(purge(&["Lab", "--yes-delete", "Lab"]).await.code, 0);
    purge(&["Lab"])
        .await
        .refused(1, "no data about the service");

    let of = cached_lists(state.path(), ["Acme", "Lab"]);
    std::fs::write(of.join("last-known/workspaces.json"), "damaged").unwrap();
    purge(&["Acme"])
        .await
        .refused(2, "last-known (unknown workspace)");
    assert_eq!(purge(&["Acme", "--yes-delete", "Acme"]).await.code, 0);
    assert!(!holds(state.path(), "FOUND-in"));
}

#[tokio::test]
async fn past_expiry_date_and_file_without_decisions_are_refused() {
    let cli = CliFixture::new().await;
    let decide = [
        "findings",
        "decide",
        "1",
        "--verdict",
        "risk_accepted",
        "--until",
        "2020-01-01",
    ];
    cli.run(&decide)
        .await
        .refused(2, "2020-01-01 is in the past");
    cli.run(&["findings", "decide", "--verdict", "confirmed"])
        .await
        .refused(2, "use --query");
    std::fs::write(cli.home.path().join("bad.jsonl"), "nope\n").unwrap();
    let bad = cli.run(&["triage", "import", "bad.jsonl"]).await;
    assert!(
        bad.code == 1 && bad.err.contains("bad.jsonl:1: not JSON (column"),
        "{bad:?}"
    );
    cli.service.stop().await;
}
