//! The weaknesses of the practice target: what each is, and which of them are there at the moment.
//!
//! Each is really there while it is *broken* and really gone while it is *mended*; nothing is pretended to a scan.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::watch;

/// One weakness.
#[derive(Clone, Copy, Debug)]
pub struct Weakness {
    /// As in the control's addresses.
    pub id: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// Kinds of finding (`vuln_id`) by which scans tell of it.
    pub kinds: &'static [&'static str],
}

const fn weakness(id: &'static str, title: &'static str, kinds: &'static [&'static str]) -> Weakness {
    Weakness { id, title, kinds }
}

/// All of them.
pub const ALL: &[Weakness] = &[
    weakness("csp", "pages without Content-Security-Policy", &["web.header.csp_missing"]),
    weakness("hsts", "HTTPS without Strict-Transport-Security", &["web.header.hsts_missing"]),
    weakness("nosniff", "answers without X-Content-Type-Options", &["web.header.nosniff_missing"]),
    weakness("referrer", "pages without Referrer-Policy", &["web.header.referrer_missing"]),
    weakness("frames", "pages that any site may frame", &["web.header.frames_open"]),
    weakness("cookie-secure", "a session cookie without Secure", &["web.cookie.secure"]),
    weakness("cookie-http-only", "a session cookie without HttpOnly", &["web.cookie.http_only"]),
    weakness("cookie-same-site", "a session cookie without SameSite", &["web.cookie.same_site"]),
    weakness("cors", "any origin may read with the visitor's rights", &["web.cors.credentials"]),
    weakness("trace", "TRACE repeats requests", &["web.method.trace"]),
    weakness("mixed-content", "an HTTPS page with parts over HTTP", &["web.mixed_content"]),
    weakness("version", "a Server header with the version", &["web.server.version"]),
    weakness("error-page", "an order page that shows a stack trace", &["web.error_page"]),
    weakness("robots", "private places named in robots.txt", &["web.robots"]),
    weakness("security-txt", "no security.txt", &["web.security_txt"]),
    weakness("listing", "a folder that lists its files", &["web.listing"]),
    weakness("git", "a Git repository below the site", &["web.exposed.git"]),
    weakness("env", "an environment file below the site", &["web.exposed.env"]),
    weakness("htpasswd", "a password file below the site", &["web.exposed.credentials"]),
    weakness("backup", "an archive of the site below it", &["web.exposed.backup"]),
    weakness("database", "a database dump below the site", &["web.exposed.database"]),
    weakness("private-key", "the server's private key below the site", &["web.exposed.private_key"]),
    weakness("cert-expired", "an expired certificate", &["tls.certificate.expired"]),
    weakness("cert-self-signed", "a self-signed certificate", &["tls.certificate.self_signed"]),
    weakness("cert-name", "a certificate for another name", &["tls.certificate.wrong_name"]),
    weakness("port-ssh", "an open port that greets like SSH", &["port.open"]),
    weakness("port-ftp", "an open port that greets like FTP", &["port.open"]),
    weakness("port-smtp", "an open port that greets like SMTP", &["port.open"]),
];

/// Which weaknesses are there.
pub type Broken = BTreeSet<&'static str>;

/// The switchboard; cheap to clone.
#[derive(Clone, Debug)]
pub struct Weaknesses {
    broken: Arc<watch::Sender<Broken>>,
}

impl Default for Weaknesses {
    /// Everything broken.
    fn default() -> Self {
        Self { broken: Arc::new(watch::Sender::new(ALL.iter().map(|one| one.id).collect())) }
    }
}

impl Weaknesses {
    /// What is broken now.
    pub fn broken(&self) -> Broken {
        self.broken.borrow().clone()
    }

    /// Told of every change.
    pub fn watch(&self) -> watch::Receiver<Broken> {
        self.broken.subscribe()
    }

    /// Breaks or mends one; false when there is none of this id.
    pub fn set(&self, id: &str, is_broken: bool) -> bool {
        let Some(weakness) = ALL.iter().find(|one| one.id == id) else { return false };
        self.broken.send_modify(|broken| {
            if is_broken {
                broken.insert(weakness.id);
            } else {
                broken.remove(weakness.id);
            }
        });
        true
    }

    /// Breaks or mends all.
    pub fn set_all(&self, is_broken: bool) {
        self.broken.send_modify(|broken| {
            *broken = if is_broken { ALL.iter().map(|one| one.id).collect() } else { Broken::new() };
        });
    }
}
