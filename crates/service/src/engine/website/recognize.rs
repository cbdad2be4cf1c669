//! Recognises fetched files by content, never by name or status alone.
//!
//! Each function returns the proof for a report. Proofs name the kind of a secret but never contain
//! the secret.

use std::sync::LazyLock;

use regex::Regex;

use crate::engine::http::HttpPage;
use scandeck_wire::text::plural;

/// Returns the proof that a response contains the requested file.
pub type Recognizer = fn(&HttpPage) -> Option<String>;

static SETTING: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^(?:export\s+)?([A-Z][A-Z0-9_]{2,60})\s*=\s*(\S.*)?$").ok());
static KEY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"-----BEGIN ((?:RSA |EC |DSA |OPENSSH |ENCRYPTED )?PRIVATE KEY)-----").ok()
});
static HASH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)^[\w.@-]{1,64}:(\$apr1\$|\$2[aby]\$|\$[156]\$|\{SHA\})").ok()
});
static DUMP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?im)^(-- (?:mysql|mariadb|postgresql database) dump|create table |insert into |pragma foreign_keys|drop table if exists )").ok()
});

static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)^(?:import [\w.]+;?$|from [\w.]+ import |def \w+\(|(?:const|var|let) \w+ = require\(|function \w+\(|package \w+|using System|#!/usr/bin/)|\(function\s*\(").ok()
});

/// Whether the body is a web page, regardless of its content type.
pub fn is_markup(page: &HttpPage) -> bool {
    let start = page.body.trim_ascii_start();
    page.is_html() || matches!(start, [b'<', b'!' | b'a'..=b'z' | b'A'..=b'Z', ..])
}

/// The HEAD file of a repository.
pub fn git_head(page: &HttpPage) -> Option<String> {
    let text = page.text();
    let line = text.trim_end();
    let is_reference = line.starts_with("ref: refs/") && line.len() < 200;
    let is_commit = line.len() == 40 && line.bytes().all(|b| b.is_ascii_hexdigit());
    (is_reference || is_commit).then(|| line.to_owned())
}

/// The settings of a repository; URLs in them are not shown, because they may contain a password.
pub fn git_config(page: &HttpPage) -> Option<String> {
    let text = page.text();
    let is_config = text.contains("[core]") && text.contains("repositoryformatversion");
    is_config.then(|| {
        if text.contains("[remote ") {
            "[core] and [remote] settings"
        } else {
            "[core] settings"
        }
        .to_owned()
    })
}

/// The index of a repository.
pub fn git_index(page: &HttpPage) -> Option<String> {
    page.body
        .starts_with(b"DIRC\0\0\0")
        .then(|| "DIRC: index of the files".to_owned())
}

/// Files of a Subversion working copy.
pub fn svn(page: &HttpPage) -> Option<String> {
    if page.body.starts_with(b"SQLite format 3\0") {
        return Some("SQLite database of the working copy".to_owned());
    }
    let text = page.text();
    let mut lines = text.lines();
    let format = lines.next()?.trim();
    let is_entries = matches!(format, "8" | "9" | "10") && lines.any(|line| line == "dir");
    (is_entries || (format == "12" && text.trim() == "12"))
        .then(|| format!("working copy format {format}"))
}

/// The requirements of a Mercurial repository.
pub fn mercurial(page: &HttpPage) -> Option<String> {
    let text = page.text();
    let words: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let typical = [
        "revlogv1",
        "store",
        "fncache",
        "dotencode",
        "generaldelta",
        "share-safe",
        "sparserevlog",
    ];
    let is_requires =
        words.len() < 30 && words.iter().filter(|word| typical.contains(word)).count() >= 2;
    is_requires.then(|| words.join(", "))
}

/// Environment variables; their names are shown, their values are not.
pub fn environment(page: &HttpPage) -> Option<String> {
    let text = page.text();
    if is_markup(page) {
        return None;
    }
    let names: Vec<&str> = SETTING
        .as_ref()?
        .captures_iter(&text)
        .filter_map(|one| Some(one.get(1)?.as_str()))
        .collect();
    let typical = [
        "SECRET", "PASSWORD", "PASSWD", "TOKEN", "KEY", "DB_", "DATABASE", "APP_", "AWS_", "MAIL_",
        "REDIS",
    ];
    match names.as_slice() {
        // A line of another file may look like one setting.
        [name] => {
            let lines = text
                .lines()
                .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
                .count();
            let is_secret = ["SECRET", "PASSWORD", "PASSWD", "TOKEN", "_KEY"]
                .iter()
                .any(|word| name.contains(word));
            (lines == 1 && is_secret).then(|| format!("1 setting: {name}"))
        }
        names => {
            let is_environment = names
                .iter()
                .any(|name| typical.iter().any(|word| name.contains(word)));
            is_environment.then(|| {
                format!(
                    "{} settings: {}",
                    names.len(),
                    names[..names.len().min(8)].join(", ")
                )
            })
        }
    }
}

/// A setting with a value on its line.
static VALUE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)^(?:export[ \t]+)?([A-Z][A-Z0-9_]{2,60})[ \t]*=[ \t]*(\S[^\r\n]*)").ok()
});
/// Words in the names of settings that hold a secret.
const SECRET_NAMES: &[&str] = &[
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "TOKEN",
    "_KEY",
    "_PASS",
    "_PWD",
    "DATABASE_URL",
];
/// Words in values that only show where a secret belongs.
const PLACEHOLDERS: &[&str] = &[
    "not-a-real",
    "example",
    "your-",
    "your_",
    "xxxx",
    "placeholder",
    "dummy",
    "changeme",
    "${",
    "<",
    "todo",
    "****",
];

/// Whether a setting of an environment file holds a secret, and not only its place.
pub fn has_secret_setting(page: &HttpPage) -> bool {
    let text = page.text();
    let Some(setting) = VALUE.as_ref() else {
        return false;
    };
    setting.captures_iter(&text).any(|found| {
        let (name, value) = (&found[1], &found[2]);
        let value = value.trim().trim_matches(['"', '\'']).to_ascii_lowercase();
        let is_secret =
            SECRET_NAMES.iter().any(|word| name.contains(word)) && !name.contains("PUBLIC");
        let is_set =
            value.len() >= 4 && !["null", "none", "true", "false"].contains(&value.as_str());
        let is_real = !PLACEHOLDERS.iter().any(|word| value.contains(word));
        // An address is a secret only with its password.
        let is_address = name.ends_with("_URL")
            && !value
                .split_once("://")
                .is_some_and(|(_, rest)| rest.contains('@'));
        is_secret && is_set && is_real && !is_address
    })
}

/// Whether all credentials are hashes that take long to guess.
pub fn has_slow_hashes_only(page: &HttpPage) -> bool {
    let text = page.text();
    let is_slow = |line: &str| {
        line.split_once(':').is_some_and(|(_, hash)| {
            ["$2a$", "$2b$", "$2y$"]
                .iter()
                .any(|kind| hash.starts_with(kind))
        })
    };
    let mut lines = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .peekable();
    lines.peek().is_some() && lines.all(is_slow)
}

/// Passwords, their hashes, or access keys.
pub fn credentials(page: &HttpPage) -> Option<String> {
    let text = page.text();
    if is_markup(page) {
        return None;
    }
    let hashes = HASH.as_ref()?.find_iter(&text).count();
    let has_login = |line: &str| {
        line.starts_with("https://") && line.contains('@') && line.matches(':').count() >= 2
    };
    match () {
        () if text.contains("aws_access_key_id") && text.contains("aws_secret_access_key") => {
            Some("access key of AWS".to_owned())
        }
        () if text.contains(":_authToken=") => Some("token of a package registry".to_owned()),
        () if text.lines().any(has_login) => Some("address with user name and password".to_owned()),
        () if hashes > 0 => Some(plural(hashes, "password hash")),
        () => None,
    }
}

/// An archive, or source code delivered as text.
pub fn backup(page: &HttpPage) -> Option<String> {
    let body = page.body.as_slice();
    let kind = match body {
        [b'P', b'K', 3, 4, ..] => "zip archive",
        [0x1f, 0x8b, 8, ..] => "gzip archive",
        [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => "7z archive",
        [0x42, 0x5a, 0x68, b'1'..=b'9', ..] => "bzip2 archive",
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => "xz archive",
        _ if body.get(257..262) == Some(b"ustar") => "tar archive",
        _ if body.trim_ascii_start().starts_with(b"<?php") => "PHP source",
        _ if body.starts_with(b"<?xml") && page.text().contains("<configuration") => "web.config",
        _ => return None,
    };
    Some(kind.to_owned())
}

/// The source of a page in a copy: code, an editor's swap file, or HTML that is not delivered as
/// HTML.
pub fn source_copy(page: &HttpPage) -> Option<String> {
    let body = page.body.trim_ascii_start();
    let text = page.text();
    let code = CODE.as_ref()?;
    match () {
        () if page.body.starts_with(b"b0VIM") => Some("swap file of Vim".to_owned()),
        () if body.starts_with(b"<?php") || body.starts_with(b"<?=") => {
            Some("PHP source".to_owned())
        }
        () if body.starts_with(b"<%") => Some("ASP or JSP source".to_owned()),
        () if page.is_html() => None,
        () if is_markup(page) => Some("HTML source".to_owned()),
        () if code.is_match(&text) => Some("source code".to_owned()),
        () => None,
    }
}

/// A database dump or a database file.
pub fn database(page: &HttpPage) -> Option<String> {
    if page.body.starts_with(b"SQLite format 3\0") {
        return Some("SQLite database".to_owned());
    }
    let text = page.text();
    let statement = DUMP.as_ref()?.find(&text)?;
    (!is_markup(page)).then(|| format!("SQL: {}", statement.as_str().trim().to_ascii_lowercase()))
}

/// A private key in PEM form.
pub fn private_key(page: &HttpPage) -> Option<String> {
    let text = page.text();
    // A page about keys contains the same words, but a key file is not markup and has a body of
    // base64 lines.
    let found = KEY.as_ref()?.captures(&text).filter(|_| !is_markup(page))?;
    let after = text.get(found.get(0)?.end()..)?;
    let has_body = after
        .lines()
        .skip(1)
        .any(|line| line.len() >= 40 && !line.contains(' '));
    has_body.then(|| format!("-----BEGIN {}-----", &found[1]))
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn page(body: &[u8]) -> HttpPage {
        HttpPage::for_tests("http://a.test/x", body)
    }

    #[test]
    fn recognizers_accept_their_files_and_hide_secrets() {
        let key = format!(
            "-----BEGIN EC PRIVATE KEY-----\n{}\n-----END",
            "A".repeat(64)
        );
        let tar = [vec![b'a'; 257], b"ustar\0".to_vec()].concat();
        let cases: &[(Recognizer, &[u8])] = &[
            (git_head, b"ref: refs/heads/main\n"),
            (
                git_config,
                b"[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]",
            ),
            (git_index, b"DIRC\0\0\0\x02"),
            (svn, b"12\n"),
            (svn, b"SQLite format 3\0..."),
            (mercurial, b"revlogv1\nstore\nfncache\n"),
            (environment, b"APP_ENV=prod\nDB_PASSWORD=hunter2\n"),
            (environment, b"# database\nDB_PASSWORD=hunter2\n"),
            (credentials, b"ana:$apr1$x$y\n"),
            (
                credentials,
                b"[default]\naws_access_key_id = A\naws_secret_access_key = hunter2",
            ),
            (credentials, b"//registry.test/:_authToken=hunter2"),
            (credentials, b"https://ana:hunter2@git.test"),
            (backup, b"PK\x03\x04"),
            (backup, b"\x1f\x8b\x08\x00"),
            (backup, &tar),
            (backup, b"<?php $password = 'hunter2';"),
            (database, b"-- MySQL dump 10.13\nCREATE TABLE users"),
            (database, b"SQLite format 3\0"),
            (private_key, key.as_bytes()),
        ];
        for (recognizer, body) in cases {
            let proof = recognizer(&page(body))
                .unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(body)));
            assert!(!proof.contains("hunter2"), "{proof}");
        }
    }

    #[test]
    fn env_file_with_one_setting_needs_a_secret() {
        for text in ["DEBUG=1\n", "Log of today\nDB_PASSWORD=hunter2\n"] {
            assert_eq!(environment(&page(text.as_bytes())), None, "{text}");
        }
    }

    #[test]
    fn secrets_in_settings_are_values_and_not_their_places() {
        for text in [
            "A=1\nDB_PASSWORD=hunter22\n",
            "export API_TOKEN='8d1f0c'\n",
            "DATABASE_URL=postgres://a:b@db/x\n",
        ] {
            assert!(has_secret_setting(&page(text.as_bytes())), "{text}");
        }
        for text in [
            "APP_ENV=production\nDB_HOST=db\n",
            "DB_PASSWORD=\nAPP_KEY=null\n",
            "DB_PASSWORD=not-a-real-password\nAPI_TOKEN=your-token-here\nAPP_SECRET=${SECRET}\n",
            "STRIPE_PUBLIC_KEY=pk_live_1234\n",
            "DATABASE_URL=sqlite:///app.db\n",
        ] {
            assert!(!has_secret_setting(&page(text.as_bytes())), "{text}");
        }
        assert!(has_slow_hashes_only(&page(b"ana:$2y$10$abcdef\n")));
        assert!(
            !has_slow_hashes_only(&page(b"ana:$2y$10$abcdef\nbob:$apr1$x$y\n"))
                && !has_slow_hashes_only(&page(b""))
        );
    }

    #[test]
    fn recognizers_refuse_web_pages_with_the_same_words() {
        let html = "<!doctype html><p>Not found: ref: refs/heads/main -----BEGIN PRIVATE KEY----- CREATE TABLE \
                    APP_KEY=1\nDB_PASSWORD=2\nana:$apr1$x [core]</p>";
        let mut page = page(html.as_bytes());
        for with_type in [false, true] {
            if with_type {
                page.headers
                    .insert("content-type", HeaderValue::from_static("text/html"));
            }
            let recognizers: &[Recognizer] = &[
                git_head,
                git_config,
                git_index,
                svn,
                mercurial,
                environment,
                credentials,
                backup,
                database,
                private_key,
            ];
            for (at, recognizer) in recognizers.iter().enumerate() {
                assert_eq!(recognizer(&page), None, "recognizer {at}");
            }
        }
    }
}
