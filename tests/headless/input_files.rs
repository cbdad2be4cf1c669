//! Files that commands read: encodings, devices and pipes.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{CliFixture, Ended, command, run};

/// Text with a byte order mark, in UTF-16.
fn utf16(text: &str) -> Vec<u8> {
    format!("\u{feff}{text}")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect()
}

/// A file in a directory that only its owner can read.
fn file(directory: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = directory.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    path
}

#[tokio::test]
async fn configuration_is_read_in_utf16_and_refused_in_latin1() {
    let home = tempfile::tempdir().unwrap();
    let keys = async |bytes: &[u8]| {
        file(home.path(), ".config/scandeck/config.toml", bytes);
        run(&mut command(home.path(), &["keys"])).await
    };
    let changed = "# für\n[keys.findings]\nretest = \"Z r\"\n";
    for bytes in [
        utf16(changed),
        utf16(&changed.replace('\n', "\r")),
        format!("\u{feff}{changed}").into_bytes(),
    ] {
        let ended = keys(&bytes).await;
        assert!(
            ended.code == 0 && ended.out.lines().any(|line| line.contains("  Zr  ")),
            "{ended:?}"
        );
    }
    let latin1 = keys(b"\n# f\xfcr\n").await;
    latin1
        .refused(1, "config.toml: line 2 is not UTF-8 text, perhaps latin-1\n  convert the file with `iconv -f LATIN1");
}

#[tokio::test]
async fn key_and_body_with_byte_order_mark_and_cr_are_read() {
    let cli = CliFixture::new().await;
    let key = format!("\u{feff}{}\r", cli.service.key);
    let key = file(cli.home.path(), "api.key", key.as_bytes());
    let body = file(
        cli.home.path(),
        "body.json",
        "\u{feff}{\"name\": \"127.0.0.1\"}\r".as_bytes(),
    );
    let body = format!("@{}", body.display());
    let mut command = cli.command(&[
        "api",
        "POST",
        "/targets",
        "--body",
        &body,
        "--api-key-file",
        key.to_str().unwrap(),
    ]);
    let ended = run(command.env_remove("SCANDECK_API_KEY")).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(cli.service.count("/targets").await, 1);
}

#[tokio::test]
async fn wordlist_is_text_in_a_regular_file_or_pipe_of_the_shell() {
    let home = tempfile::tempdir().unwrap();
    let import = async |path: &Path, name: &str| -> Ended {
        let args = [
            "wordlists",
            "import",
            path.to_str().unwrap(),
            "--name",
            name,
            "--data-dir",
            "data",
        ];
        run(&mut command(home.path(), &args)).await
    };
    let words = import(
        &file(home.path(), "utf16.txt", &utf16("admin\r\nlogin\r\n")),
        "utf16",
    )
    .await;
    assert!(
        words.code == 0 && words.err.contains("2 words"),
        "{words:?}"
    );
    let latin1 = file(home.path(), "latin1.txt", b"admin\ncaf\xe9\n");
    import(&latin1, "latin1").await.refused(
        1,
        "latin1.txt: line 2 is not UTF-8 text, perhaps latin-1; convert the file",
    );
    import(Path::new("/dev/zero"), "zero")
        .await
        .refused(1, "cannot read /dev/zero: a device, not a file");

    let pipe = home.path().join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    import(&pipe, "pipe")
        .await
        .refused(1, "pipe: a named pipe, not a file; use a regular file");
    let (stdin, mut words) = std::io::pipe().unwrap();
    words.write_all(b"admin\n").unwrap();
    drop(words);
    let args = [
        "wordlists",
        "import",
        "/dev/stdin",
        "--name",
        "pipe",
        "--data-dir",
        "data",
    ];
    let piped = run(command(home.path(), &args).stdin(stdin)).await;
    assert!(piped.code == 0 && piped.err.contains("1 word"), "{piped:?}");
}
