//! `scandeck completions` and `scandeck man`: what a shell and a reader of manual pages get.

use std::fs;
use std::path::Path;

use clap::CommandFactory;
use scandeck::cli::Cli;
use tokio::process::Command;

use super::{command, run};

/// Asks the program for candidates, as the script of a shell does.
async fn candidates(home: &Path, shell: &str, words: &[&str]) -> String {
    let mut completion = command(home, &[&["--", "scandeck"], words].concat());
    completion
        .env("SCANDECK_COMPLETE", shell)
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    let output = completion.env("_CLAP_IFS", "\n").output().await.unwrap();
    assert!(output.status.success(), "{shell}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn completion_script_of_every_shell_calls_this_program() {
    let home = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = command(home.path(), &["completions", shell])
            .output()
            .await
            .unwrap();
        let script = String::from_utf8(script.stdout).unwrap();
        assert!(
            script.contains("SCANDECK_COMPLETE") && script.contains(env!("CARGO_BIN_EXE_scandeck")),
            "{shell}: {script}"
        );
        let completion = candidates(home.path(), shell, &["findings", "ex"]).await;
        assert!(completion.contains("export"), "{shell}: {completion}");
    }
    run(&mut command(home.path(), &["completions", "tcsh"]))
        .await
        .refused(2, "possible values: bash");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn bash_completes_commands_flags_values_and_profiles() {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join(".config/scandeck");
    fs::create_dir_all(&config).unwrap();
    fs::write(
        config.join("config.toml"),
        "[profiles.prod]\nlocal = true\n[profiles.preview]\nlocal = true\n",
    )
    .unwrap();
    let program = env!("CARGO_BIN_EXE_scandeck");
    for (words, expected) in [
        ("scandeck doc", "doctor"),
        ("scandeck findings export --form", "--format"),
        ("scandeck findings export --format sar", "sarif"),
        ("scandeck findings decide --verdict conf", "confirmed"),
        ("scandeck doctor --profile pr", "preview prod"),
        ("scandeck --profile pr", "preview prod"),
    ] {
        let script = format!(
            "source <('{program}' completions bash)\n\
             COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n\
             _clap_complete_scandeck scandeck \"${{COMP_WORDS[COMP_CWORD]}}\"\n\
             printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let mut bash = Command::new("bash");
        bash.args(["--norc", "-c", &script])
            .env("HOME", home.path())
            .env_remove("XDG_CONFIG_HOME");
        let output = bash.current_dir(home.path()).output().await.unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        let mut replies: Vec<&str> = lines.split_whitespace().collect();
        replies.sort_unstable();
        assert_eq!(
            replies.join(" "),
            expected,
            "{words}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[tokio::test]
async fn every_command_has_a_manual_page() {
    let home = tempfile::tempdir().unwrap();
    let ended = run(&mut command(home.path(), &["man", "share/man1"])).await;
    assert!(
        ended.code == 0 && ended.out.is_empty() && ended.err.contains("manual pages written"),
        "{ended:?}"
    );
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    let mut pages = 0;
    let mut commands = vec![&root];
    while let Some(command) = commands.pop() {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let page = fs::read_to_string(home.path().join(format!("share/man1/{name}.1")));
        let page = page.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(
            page.contains(".TH") && page.contains(".SH SYNOPSIS"),
            "{name}: {page}"
        );
        assert!(
            page.contains(".SH EXAMPLE\n.nf\n  ") && !page.contains(".SH EXTRA"),
            "{name}: {page}"
        );
        assert!(
            !page.contains("\\-help(1)"),
            "{name} names a page that does not exist"
        );
        commands.extend(command.get_subcommands());
        pages += 1;
    }
    assert_eq!(
        fs::read_dir(home.path().join("share/man1"))
            .unwrap()
            .count(),
        pages
    );
    fs::write(home.path().join("file"), "").unwrap();
    run(&mut command(home.path(), &["man", "file/man1"]))
        .await
        .refused(1, "manual pages not written to file/man1");
}
