//! The weaknesses of the practice target, and which of them are switched on.
//!
//! An active weakness is real: the practice target does not detect scans.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::watch;

#[derive(Clone, Copy, Debug)]
pub struct Weakness {
    /// The name in URLs of the control address.
    pub id: &'static str,
    pub title: &'static str,
    /// Kinds of finding (`vuln_id`) that scans report for it.
    pub kinds: &'static [&'static str],
}

const fn weakness(
    id: &'static str,
    title: &'static str,
    kinds: &'static [&'static str],
) -> Weakness {
    Weakness { id, title, kinds }
}

pub const ALL: &[Weakness] = &[
    weakness(
        "csp",
        "pages without Content-Security-Policy",
        &["web.header.csp_missing"],
    ),
    weakness(
        "hsts",
        "HTTPS without Strict-Transport-Security",
        &["web.header.hsts_missing"],
    ),
    weakness(
        "nosniff",
        "responses without X-Content-Type-Options",
        &["web.header.nosniff_missing"],
    ),
    weakness(
        "referrer",
        "pages without Referrer-Policy",
        &["web.header.referrer_missing"],
    ),
    weakness(
        "frames",
        "pages that any site may frame",
        &["web.header.frames_open"],
    ),
    weakness(
        "cookie-secure",
        "a session cookie without Secure",
        &["web.cookie.secure"],
    ),
    weakness(
        "cookie-http-only",
        "a session cookie without HttpOnly",
        &["web.cookie.http_only"],
    ),
    weakness(
        "cookie-same-site",
        "a session cookie without SameSite",
        &["web.cookie.same_site"],
    ),
    weakness(
        "cors",
        "CORS for any origin with credentials",
        &["web.cors.credentials"],
    ),
    weakness("trace", "HTTP TRACE enabled", &["web.method.trace"]),
    weakness(
        "mixed-content",
        "mixed content on an HTTPS page",
        &["web.mixed_content"],
    ),
    weakness(
        "version",
        "a Server header with the version",
        &["web.server.version"],
    ),
    weakness(
        "error-page",
        "an order page that shows a stack trace",
        &["web.error_page"],
    ),
    weakness("robots", "sensitive paths in robots.txt", &["web.robots"]),
    weakness("security-txt", "no security.txt", &["web.security_txt"]),
    weakness("listing", "a directory listing", &["web.listing"]),
    weakness("git", "an exposed Git repository", &["web.exposed.git"]),
    weakness("env", "an exposed environment file", &["web.exposed.env"]),
    weakness(
        "htpasswd",
        "an exposed password file",
        &["web.exposed.credentials"],
    ),
    weakness(
        "backup",
        "an exposed backup archive",
        &["web.exposed.backup"],
    ),
    weakness(
        "database",
        "an exposed database dump",
        &["web.exposed.database"],
    ),
    weakness(
        "private-key",
        "an exposed private key",
        &["web.exposed.private_key"],
    ),
    weakness(
        "cert-expired",
        "an expired certificate",
        &["tls.certificate.expired"],
    ),
    weakness(
        "cert-self-signed",
        "a self-signed certificate",
        &["tls.certificate.self_signed"],
    ),
    weakness(
        "cert-name",
        "a certificate for another name",
        &["tls.certificate.wrong_name"],
    ),
    weakness(
        "port-ssh",
        "an open port with an SSH banner",
        &["port.open"],
    ),
    weakness(
        "port-ftp",
        "an open port with an FTP banner",
        &["port.open"],
    ),
    weakness(
        "port-smtp",
        "an open port with an SMTP banner",
        &["port.open"],
    ),
];

/// The ids of the weaknesses that are switched on.
pub type ActiveWeaknesses = BTreeSet<&'static str>;

/// The switches of all weaknesses; cheap to clone.
#[derive(Clone, Debug)]
pub struct Weaknesses {
    active: Arc<watch::Sender<ActiveWeaknesses>>,
}

impl Default for Weaknesses {
    fn default() -> Self {
        Self {
            active: Arc::new(watch::Sender::new(ALL.iter().map(|one| one.id).collect())),
        }
    }
}

impl Weaknesses {
    pub fn active(&self) -> ActiveWeaknesses {
        self.active.borrow().clone()
    }

    /// Receives every change.
    pub fn watch(&self) -> watch::Receiver<ActiveWeaknesses> {
        self.active.subscribe()
    }

    /// Switches a weakness; false when the id is unknown.
    pub fn set(&self, id: &str, is_active: bool) -> bool {
        let Some(weakness) = ALL.iter().find(|one| one.id == id) else {
            return false;
        };
        self.active.send_modify(|active| {
            if is_active {
                active.insert(weakness.id);
            } else {
                active.remove(weakness.id);
            }
        });
        true
    }

    pub fn set_all(&self, is_active: bool) {
        self.active.send_modify(|active| {
            *active = if is_active {
                ALL.iter().map(|one| one.id).collect()
            } else {
                ActiveWeaknesses::new()
            };
        });
    }
}
