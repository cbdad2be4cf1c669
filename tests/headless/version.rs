//! `scandeck --version`, alone and with `--verbose`.

use std::fs;
use std::path::Path;

use super::{command, run};

#[tokio::test]
async fn version_is_one_line_and_verbose_adds_commit_features_and_formats() {
    let home = tempfile::tempdir().unwrap();
    let short = run(&mut command(home.path(), &["--version"])).await;
    let expected = concat!("scandeck ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!((short.code, short.out.as_str()), (0, expected));
    for args in [["--version", "--verbose"], ["--verbose", "-V"]] {
        let long = run(&mut command(home.path(), &args)).await;
        assert_eq!((long.code, long.err.as_str()), (0, ""), "{args:?}");
        assert!(long.out.starts_with(expected), "{}", long.out);
        for part in [
            "\ncommit    ",
            "\nfeatures  dashboard, service\n",
            "\n  bundles ",
        ] {
            assert!(long.out.contains(part), "{part:?}: {}", long.out);
        }
    }
    let alone = run(&mut command(home.path(), &["--verbose"])).await;
    alone.refused(2, "--version");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

/// A migration without a new number would be skipped, and an older program would open its data.
#[tokio::test]
async fn number_of_a_format_is_that_of_its_newest_migration() {
    let home = tempfile::tempdir().unwrap();
    let verbose = run(&mut command(home.path(), &["--version", "--verbose"])).await;
    let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/migrations");
    for (format, folder) in [
        ("service database", "sqlite"),
        ("service database in PostgreSQL", "postgres"),
        ("decisions", "triage"),
        ("captures and payloads", "oob"),
    ] {
        let files = fs::read_dir(migrations.join(folder)).unwrap().count();
        let is_right = |line: &str| {
            let rest = line.trim_start().strip_prefix(format);
            rest.is_some_and(|rest| rest.trim() == files.to_string())
        };
        assert!(
            verbose.out.lines().any(is_right),
            "{format}, {files}: {}",
            verbose.out
        );
    }
}
