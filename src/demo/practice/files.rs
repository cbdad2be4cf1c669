//! Files that the practice shop exposes while their weakness is on. Their contents are invented;
//! the private key is that of the portal in this run.

use super::weaknesses::ActiveWeaknesses;

#[derive(Clone, Debug)]
pub struct Files {
    /// The key of the portal's certificate, as PEM.
    pub private_key: String,
    /// `http://127.0.0.1:PORT/`.
    pub shop_url: String,
}

/// Weakness, path, content type, content; the private key differs in every run.
const EXPOSED: &[(&str, &str, &str, &[u8])] = &[
    (
        "git",
        "/.git/HEAD",
        "text/plain",
        include_bytes!("../../../assets/practice/git-head"),
    ),
    (
        "git",
        "/.git/config",
        "text/plain",
        include_bytes!("../../../assets/practice/git-config"),
    ),
    (
        "env",
        "/.env",
        "text/plain",
        include_bytes!("../../../assets/practice/environment"),
    ),
    (
        "htpasswd",
        "/.htpasswd",
        "text/plain",
        include_bytes!("../../../assets/practice/htpasswd"),
    ),
    ("private-key", PRIVATE_KEY, "application/x-pem-file", b""),
    (
        "database",
        "/dump.sql",
        "application/sql",
        include_bytes!("../../../assets/practice/dump.sql"),
    ),
    (
        "backup",
        "/backup.tar",
        "application/x-tar",
        include_bytes!("../../../assets/practice/backup.tar"),
    ),
    (
        "listing",
        "/files/",
        "text/html; charset=utf-8",
        include_bytes!("../../../assets/practice/listing.html"),
    ),
];

const PRIVATE_KEY: &str = "/server.key";

impl Files {
    /// An exposed file while its weakness is on, and the public price list.
    pub fn exposed(
        &self,
        path: &str,
        active: &ActiveWeaknesses,
    ) -> Option<(&'static str, Vec<u8>)> {
        if path == "/files/price-list.csv" {
            return Some(("text/csv", b"article,price\npadlock,9.90\n".to_vec()));
        }
        let (_, _, kind, content) = EXPOSED
            .iter()
            .find(|(id, exposed, ..)| *exposed == path && active.contains(id))?;
        let content = if path == PRIVATE_KEY {
            self.private_key.as_bytes()
        } else {
            *content
        };
        Some((kind, content.to_vec()))
    }

    /// Whether a request for this path indicates a scan.
    pub fn is_bait(path: &str, active: &ActiveWeaknesses) -> bool {
        EXPOSED
            .iter()
            .any(|(id, exposed, ..)| *exposed == path && *id != "listing" && active.contains(id))
    }
}
