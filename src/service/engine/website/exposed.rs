//! Exposed files: requested by name, recognised by content.
//!
//! ```text
//!   path ──► 200? ──► recognised by content? ──► does a random name beside it look the same? ──no──► a row of evidence
//!                                                        └──yes──► the server returns this file for any name: nothing
//! ```

use super::recognize::{self, Recognizer};
use super::site::Site;
use crate::service::engine::kinds::{FindingKind, exposed};
use crate::service::engine::{NewFinding, blocking};

/// The files of a kind of finding, with the function that recognises them. Paths are relative to a base directory;
/// `{host}` is replaced by the host name.
pub struct ExposedFiles {
    kind: FindingKind,
    files: &'static [(Recognizer, &'static [&'static str])],
}

pub const GIT: ExposedFiles = ExposedFiles {
    kind: exposed::GIT,
    files: &[
        (recognize::git_head, &[".git/HEAD"]),
        (recognize::git_config, &[".git/config"]),
        (recognize::git_index, &[".git/index"]),
    ],
};

pub const SVN: ExposedFiles =
    ExposedFiles { kind: exposed::SVN, files: &[(recognize::svn, &[".svn/entries", ".svn/wc.db"])] };

pub const MERCURIAL: ExposedFiles =
    ExposedFiles { kind: exposed::MERCURIAL, files: &[(recognize::mercurial, &[".hg/requires"])] };

pub const ENVIRONMENT: ExposedFiles = ExposedFiles {
    kind: exposed::ENVIRONMENT,
    files: &[(recognize::environment, &[".env", ".env.local", ".env.production", ".env.bak"])],
};

pub const CREDENTIALS: ExposedFiles = ExposedFiles {
    kind: exposed::CREDENTIALS,
    files: &[(recognize::credentials, &[".htpasswd", ".aws/credentials", ".npmrc", ".git-credentials"])],
};

#[rustfmt::skip]
pub const BACKUP: ExposedFiles = ExposedFiles {
    kind: exposed::BACKUP,
    files: &[(recognize::backup, &[
        "backup.zip", "backup.tar.gz", "backup.tar", "site.zip", "www.zip", "{host}.zip", "{host}.tar.gz",
        "index.php.bak", "config.php.bak", "config.php~", "wp-config.php.bak", "web.config.bak",
    ])],
};

#[rustfmt::skip]
pub const DATABASE: ExposedFiles = ExposedFiles {
    kind: exposed::DATABASE,
    files: &[(recognize::database, &[
        "dump.sql", "backup.sql", "database.sql", "db.sql", "{host}.sql", "db.sqlite", "database.sqlite3",
    ])],
};

#[rustfmt::skip]
pub const PRIVATE_KEY: ExposedFiles = ExposedFiles {
    kind: exposed::PRIVATE_KEY,
    files: &[(recognize::private_key, &[
        "server.key", "private.key", "privkey.pem", "key.pem", "{host}.key", "id_rsa", ".ssh/id_rsa", "ssl/server.key",
    ])],
};

/// Requests the files in every base directory; those that exist are the evidence.
pub async fn check(site: &Site<'_>, exposed: &ExposedFiles) -> Vec<NewFinding> {
    let host = site.start.url.host_str().unwrap_or_default().trim_start_matches("www.");
    let mut rows = Vec::new();
    for folder in site.base_folders() {
        for (recognizer, names) in exposed.files {
            for name in *names {
                let path = format!("{folder}{}", name.replace("{host}", host));
                if let Some(proof) = fetch(site, &path, *recognizer).await
                    && !is_returned_for_any_name(site, &path, *recognizer).await
                {
                    let url = site.at(&path).map(String::from).unwrap_or_default();
                    rows.push(vec![format!("GET {url}"), "200".to_owned(), proof]);
                }
            }
        }
    }
    site.finding_of_rows(exposed.kind, &["Request", "Status", "What it holds"], rows)
}

async fn fetch(site: &Site<'_>, path: &str, recognizer: Recognizer) -> Option<String> {
    let page = site.web.get(&site.at(path)?).await.ok()?;
    if page.is_success() { blocking::run(move |_| recognizer(&page)).await } else { None }
}

/// Some servers return the same file for every name: requests a random name in the same directory, with the same
/// extension.
async fn is_returned_for_any_name(site: &Site<'_>, path: &str, recognizer: Recognizer) -> bool {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let extension = file.rfind('.').filter(|at| *at > 0).map_or("", |at| &file[at..]);
    fetch(site, &format!("{folder}/{}{extension}", site.nonsense), recognizer).await.is_some()
}
