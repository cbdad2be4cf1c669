//! Kinds of finding of the website scanner: files that anyone can read and should not.

use super::{EXPOSURE, FindingKind};
use crate::service::engine::risks;

/// All of this file.
pub const ALL: &[&FindingKind] =
    &[&GIT, &SVN, &MERCURIAL, &ENVIRONMENT, &CREDENTIALS, &BACKUP, &DATABASE, &PRIVATE_KEY, &LISTING];

/// A Git repository.
pub const GIT: FindingKind = FindingKind {
    id: "web.exposed.git",
    name: "Source repository at /.git readable",
    risk: risks::READABLE_SOURCE,
    cwe: "CWE-527",
    owasp: EXPOSURE,
    description: "The web server delivers files of a Git repository. From them the whole source and its history can be \
                  put together again.",
    risk_description: "Source code, configuration and every secret that was ever committed are readable.",
    recommendation: "Deny access to /.git in the web server, or deploy without it; then replace every secret that was \
                     in the repository.",
    references: &["https://cwe.mitre.org/data/definitions/527.html"],
};

/// A Subversion working copy.
pub const SVN: FindingKind = FindingKind {
    id: "web.exposed.svn",
    name: "Source repository at /.svn readable",
    description: "The web server delivers files of a Subversion working copy. From them the source can be put together.",
    recommendation: "Deny access to /.svn in the web server, or deploy an export; then replace every secret that was \
                     in the repository.",
    ..GIT
};

/// A Mercurial repository.
pub const MERCURIAL: FindingKind = FindingKind {
    id: "web.exposed.hg",
    name: "Source repository at /.hg readable",
    description: "The web server delivers files of a Mercurial repository. From them the source and its history can be \
                  put together.",
    recommendation: "Deny access to /.hg in the web server, or deploy an archive; then replace every secret that was \
                     in the repository.",
    ..GIT
};

/// An environment file.
pub const ENVIRONMENT: FindingKind = FindingKind {
    id: "web.exposed.env",
    name: "Environment file readable",
    cwe: "CWE-538",
    description: "The web server delivers a file of environment settings, as programs read them at their start.",
    risk_description: "Such files hold passwords of databases, keys of services and secrets that sign sessions.",
    recommendation: "Move the file out of the served folder, deny dot files in the web server, and replace every \
                     secret in it.",
    references: &["https://cwe.mitre.org/data/definitions/538.html"],
    ..GIT
};

/// A file of credentials.
pub const CREDENTIALS: FindingKind = FindingKind {
    id: "web.exposed.credentials",
    name: "Credentials readable",
    risk: risks::READABLE_SECRET,
    description: "The web server delivers a file that holds passwords, password hashes or access keys.",
    risk_description: "Whoever reads it acts with the rights of those named in it.",
    ..ENVIRONMENT
};

/// A backup of the site or of a source file.
pub const BACKUP: FindingKind = FindingKind {
    id: "web.exposed.backup",
    name: "Backup file readable",
    cwe: "CWE-530",
    description: "The web server delivers an archive or an old copy of files of the site.",
    risk_description: "Backups hold source code and settings that the site itself never shows.",
    recommendation: "Remove the file from the served folder, and keep backups elsewhere.",
    references: &["https://cwe.mitre.org/data/definitions/530.html"],
    ..GIT
};

/// A copy of a database.
pub const DATABASE: FindingKind = FindingKind {
    id: "web.exposed.database",
    name: "Database file readable",
    description: "The web server delivers a dump of a database, or the database's own file.",
    risk_description: "Everything the site stores about its users is readable at once.",
    recommendation: "Remove the file, find out from the logs who fetched it, and tell those concerned.",
    ..BACKUP
};

/// A private key.
pub const PRIVATE_KEY: FindingKind = FindingKind {
    id: "web.exposed.private_key",
    name: "Private key readable",
    risk: risks::READABLE_SECRET,
    cwe: "CWE-321",
    description: "The web server delivers a private key.",
    risk_description: "Whoever reads it can answer in the server's place, or log in as the key's owner.",
    recommendation: "Take the key out of use, revoke its certificate, make a new one, and keep it out of the served \
                     folder.",
    references: &["https://cwe.mitre.org/data/definitions/321.html"],
    ..GIT
};

/// A listing of files.
pub const LISTING: FindingKind = FindingKind {
    id: "web.listing",
    name: "Directory listing with files",
    risk: risks::LISTING_WITH_FILES,
    cwe: "CWE-548",
    description: "The server lists the files of a folder that has no start page.",
    risk_description: "Files that nobody links to are found at a glance, old copies and exports among them.",
    recommendation: "Switch listings off (Options -Indexes, autoindex off), and look through what was listed.",
    references: &["https://cwe.mitre.org/data/definitions/548.html"],
    ..GIT
};
