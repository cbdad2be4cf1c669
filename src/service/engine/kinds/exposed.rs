//! Kinds of finding of the website scanner: files that must not be public.

use super::{EXPOSURE, FindingKind};
use crate::service::engine::risks;

kinds! {
    GIT {
        id: "web.exposed.git",
        name: "Git repository exposed",
        risk: risks::READABLE_SOURCE,
        cwe: "CWE-527",
        owasp: EXPOSURE,
        description: "The web server delivers files of a Git repository at /.git. The source code and its history \
                      can be reconstructed from them.",
        risk_description: "An attacker can read source code, configuration and every secret that was ever committed.",
        recommendation: "Deny access to /.git in the web server or deploy without it. Rotate every secret in the \
                         repository.",
        references: &["https://cwe.mitre.org/data/definitions/527.html"],
    }

    SVN {
        id: "web.exposed.svn",
        name: "Subversion working copy exposed",
        description: "The web server delivers files of a Subversion working copy at /.svn. The source code can be \
                      reconstructed from them.",
        recommendation: "Deny access to /.svn in the web server or deploy an export. Rotate every secret in the \
                         repository.",
        ..GIT
    }

    MERCURIAL {
        id: "web.exposed.hg",
        name: "Mercurial repository exposed",
        description: "The web server delivers files of a Mercurial repository at /.hg. The source code and its \
                      history can be reconstructed from them.",
        recommendation: "Deny access to /.hg in the web server or deploy an archive. Rotate every secret in the \
                         repository.",
        ..GIT
    }

    ENVIRONMENT {
        id: "web.exposed.env",
        name: "Environment file exposed",
        cwe: "CWE-538",
        description: "The web server delivers a file with environment variables of an application.",
        risk_description: "Environment files contain database passwords, API keys and secrets that sign sessions.",
        recommendation: "Move the file out of the document root, deny dot files in the web server, and rotate every \
                         secret in the file.",
        references: &["https://cwe.mitre.org/data/definitions/538.html"],
        ..GIT
    }

    CREDENTIALS {
        id: "web.exposed.credentials",
        name: "Credentials file exposed",
        risk: risks::READABLE_SECRET,
        description: "The web server delivers a file with passwords, password hashes or access keys.",
        risk_description: "An attacker can use the credentials with all rights of their owners.",
        ..ENVIRONMENT
    }

    BACKUP {
        id: "web.exposed.backup",
        name: "Backup file exposed",
        cwe: "CWE-530",
        description: "The web server delivers an archive or an old copy of files of the site.",
        risk_description: "Backups contain source code and configuration that the site itself does not show.",
        recommendation: "Delete the file from the document root and store backups elsewhere.",
        references: &["https://cwe.mitre.org/data/definitions/530.html"],
        ..GIT
    }

    DATABASE {
        id: "web.exposed.database",
        name: "Database file exposed",
        description: "The web server delivers a database dump or a database file.",
        risk_description: "An attacker can read all data that the site stores about its users.",
        recommendation: "Delete the file, check the access logs for downloads, and notify the affected users.",
        ..BACKUP
    }

    PRIVATE_KEY {
        id: "web.exposed.private_key",
        name: "Private key exposed",
        risk: risks::READABLE_SECRET,
        cwe: "CWE-321",
        description: "The web server delivers a private key.",
        risk_description: "An attacker can impersonate the server, or log in as the owner of the key.",
        recommendation: "Stop using the key, revoke its certificate, generate a new key, and store it outside the \
                         document root.",
        references: &["https://cwe.mitre.org/data/definitions/321.html"],
        ..GIT
    }

    LISTING {
        id: "web.listing",
        name: "Directory listing enabled",
        risk: risks::LISTING_WITH_FILES,
        cwe: "CWE-548",
        description: "The server lists the files of a directory without an index page.",
        risk_description: "An attacker finds files that no page links to, such as old copies and exports.",
        recommendation: "Disable directory listings (Options -Indexes, autoindex off) and review the listed files.",
        references: &["https://cwe.mitre.org/data/definitions/548.html"],
        ..GIT
    }
}
