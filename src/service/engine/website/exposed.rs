//! Files that should not be readable: asked for by name, believed by content.
//!
//! ```text
//!   path ──► 200? ──► judge(content) ──► does a made-up name beside it look the same? ──no──► a row of evidence
//!                                                                └──yes──► the server answers so to anything: nothing
//! ```

use super::judge::{self, Judge};
use super::site::Site;
use crate::service::engine::NewFinding;
use crate::service::engine::kinds::{FindingKind, exposed};

/// A file to ask for, below each base folder; `{host}` stands for the host's name.
type ExposedFile = (&'static str, Judge);

const GIT: &[ExposedFile] =
    &[(".git/HEAD", judge::git_head), (".git/config", judge::git_config), (".git/index", judge::git_index)];
const SVN: &[ExposedFile] = &[(".svn/entries", judge::svn), (".svn/wc.db", judge::svn)];
const MERCURIAL: &[ExposedFile] = &[(".hg/requires", judge::mercurial)];
const ENVIRONMENT: &[ExposedFile] = &[
    (".env", judge::environment),
    (".env.local", judge::environment),
    (".env.production", judge::environment),
    (".env.bak", judge::environment),
];
const CREDENTIALS: &[ExposedFile] = &[
    (".htpasswd", judge::credentials),
    (".aws/credentials", judge::credentials),
    (".npmrc", judge::credentials),
    (".git-credentials", judge::credentials),
];
const BACKUP: &[ExposedFile] = &[
    ("backup.zip", judge::backup),
    ("backup.tar.gz", judge::backup),
    ("backup.tar", judge::backup),
    ("site.zip", judge::backup),
    ("www.zip", judge::backup),
    ("{host}.zip", judge::backup),
    ("{host}.tar.gz", judge::backup),
    ("index.php.bak", judge::backup),
    ("config.php.bak", judge::backup),
    ("config.php~", judge::backup),
    ("wp-config.php.bak", judge::backup),
    ("web.config.bak", judge::backup),
];
const DATABASE: &[ExposedFile] = &[
    ("dump.sql", judge::database),
    ("backup.sql", judge::database),
    ("database.sql", judge::database),
    ("db.sql", judge::database),
    ("{host}.sql", judge::database),
    ("db.sqlite", judge::database),
    ("database.sqlite3", judge::database),
];
const PRIVATE_KEY: &[ExposedFile] = &[
    ("server.key", judge::private_key),
    ("private.key", judge::private_key),
    ("privkey.pem", judge::private_key),
    ("key.pem", judge::private_key),
    ("{host}.key", judge::private_key),
    ("id_rsa", judge::private_key),
    (".ssh/id_rsa", judge::private_key),
    ("ssl/server.key", judge::private_key),
];

/// A Git repository.
pub async fn git(site: &Site<'_>) -> Vec<NewFinding> {
    look_for(site, &exposed::GIT, GIT).await
}

/// A Subversion working copy.
pub async fn svn(site: &Site<'_>) -> Vec<NewFinding> {
    look_for(site, &exposed::SVN, SVN).await
}

/// A Mercurial repository.
pub async fn mercurial(site: &Site<'_>) -> Vec<NewFinding> {
    look_for(site, &exposed::MERCURIAL, MERCURIAL).await
}

/// Environment files.
pub async fn environment(site: &Site<'_>) -> Vec<NewFinding> {
    look_for(site, &exposed::ENVIRONMENT, ENVIRONMENT).await
}

/// Files of credentials.
pub async fn credentials(site: &Site<'_>) -> Vec<NewFinding> {
    look_for(site, &exposed::CREDENTIALS, CREDENTIALS).await
}

/// Archives and old copies.
pub async fn backup(site: &Site<'_>) -> Vec<NewFinding> {
    look_for(site, &exposed::BACKUP, BACKUP).await
}

/// Copies of databases.
pub async fn database(site: &Site<'_>) -> Vec<NewFinding> {
    look_for(site, &exposed::DATABASE, DATABASE).await
}

/// Private keys.
pub async fn private_key(site: &Site<'_>) -> Vec<NewFinding> {
    look_for(site, &exposed::PRIVATE_KEY, PRIVATE_KEY).await
}

async fn look_for(site: &Site<'_>, kind: &FindingKind, wanted: &[ExposedFile]) -> Vec<NewFinding> {
    let host = site.start.url.host_str().unwrap_or_default().trim_start_matches("www.");
    let mut rows = Vec::new();
    for folder in site.base_folders() {
        for (file, judge) in wanted {
            let path = format!("{folder}{}", file.replace("{host}", host));
            if let Some(proof) = read(site, &path, *judge).await
                && !is_answered_to_anything(site, &path, *judge).await
            {
                let url = site.at(&path).map(String::from).unwrap_or_default();
                rows.push(vec![format!("GET {url}"), "200".to_owned(), proof]);
            }
        }
    }
    site.finding_of_rows(kind, &["Request", "Status", "What it holds"], rows)
}

async fn read(site: &Site<'_>, path: &str, judge: Judge) -> Option<String> {
    let page = site.web.get(&site.at(path)?).await.ok()?;
    if page.is_success() { judge(&page) } else { None }
}

/// Some servers answer every name with the same file: asks for one in the same place, with the same ending, that
/// cannot exist.
async fn is_answered_to_anything(site: &Site<'_>, path: &str, judge: Judge) -> bool {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let ending = file.rfind('.').map_or("", |at| &file[at..]);
    let ending = if ending == file { "" } else { ending };
    read(site, &format!("{folder}/{}{ending}", site.nonsense), judge).await.is_some()
}
