//! Where commands store data: the directories of the user, and files that are links.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use scandeck::client::BaseUrl;
use scandeck::config::{ServiceName, StateDir};

use super::{CliFixture, command, run};

impl CliFixture {
    /// The directory with the stores of the service, which is created.
    pub fn stores(&self) -> PathBuf {
        let base = BaseUrl::parse(&self.service.base, false).unwrap();
        let state = StateDir::new(self.home.path().join(".local/state/scandeck"));
        let directory = state.of_service(&ServiceName::At(base.to_string()));
        std::fs::create_dir_all(&directory).unwrap();
        directory
    }
}

#[tokio::test]
async fn relative_home_variables_are_never_used() {
    let here = tempfile::tempdir().unwrap();
    for (home, state) in [("home", "state"), ("", ""), (".", "./state")] {
        for args in [["doctor"].as_slice(), &["status"]] {
            let mut command = command(here.path(), args);
            let ended = run(command
                .env("HOME", home)
                .env("XDG_STATE_HOME", state)
                .env("XDG_CONFIG_HOME", "config"))
            .await;
            let text = ended.out + &ended.err;
            let mut paths = text
                .split_whitespace()
                .filter(|word| word.contains(".local/state/scandeck"));
            // A user without an entry in the user database has no directory at all.
            let is_refused = text.contains("set HOME to an absolute path");
            assert!(
                is_refused || paths.next().is_some_and(|path| path.starts_with('/')),
                "{home}: {text}"
            );
            assert!(
                !text.contains("./state") && !text.contains(" state/"),
                "{home}: {text}"
            );
        }
    }
    assert_eq!(
        std::fs::read_dir(here.path()).unwrap().count(),
        0,
        "nothing is written beside the user's work"
    );
}

#[tokio::test]
async fn store_behind_a_dangling_or_looping_link_is_an_error() {
    let cli = CliFixture::new().await;
    let directory = cli.stores();
    let uses: [(&str, &[&[&str]]); 2] = [
        (
            "decisions.db",
            &[&["triage", "export"], &["findings", "list"]],
        ),
        (
            "captures.db",
            &[&["captures", "list"], &["payloads", "list"]],
        ),
    ];
    for (store, commands) in uses {
        for (target, cause) in [
            ("missing/file.db", "no such file or directory"),
            (store, "too many levels of symbolic links"),
        ] {
            let link = directory.join(store);
            symlink(target, &link).unwrap();
            for args in commands {
                let why = format!(
                    "{store}: a link that leads nowhere ({cause}); restore its file, or remove the link\n"
                );
                cli.run(args).await.refused(1, &why);
            }
            assert!(
                link.is_symlink() && !directory.join("missing").exists(),
                "{store} -> {target}"
            );
            std::fs::remove_file(link).unwrap();
        }
        for args in commands {
            assert_eq!(cli.run(args).await.code, 0, "{args:?} without the link");
        }
    }
}
