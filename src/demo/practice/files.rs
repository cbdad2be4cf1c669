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

struct PracticeFile {
    weakness: &'static str,
    path: &'static str,
    media_type: &'static str,
    /// Empty for the private key, which differs in every run.
    content: &'static [u8],
}

const EXPOSED: &[PracticeFile] = &[
    PracticeFile {
        weakness: "git",
        path: "/.git/HEAD",
        media_type: "text/plain",
        content: include_bytes!("../../../assets/practice/git-head"),
    },
    PracticeFile {
        weakness: "git",
        path: "/.git/config",
        media_type: "text/plain",
        content: include_bytes!("../../../assets/practice/git-config"),
    },
    PracticeFile {
        weakness: "env",
        path: "/.env",
        media_type: "text/plain",
        content: include_bytes!("../../../assets/practice/environment"),
    },
    PracticeFile {
        weakness: "htpasswd",
        path: "/.htpasswd",
        media_type: "text/plain",
        content: include_bytes!("../../../assets/practice/htpasswd"),
    },
    PracticeFile {
        weakness: "private-key",
        path: PRIVATE_KEY,
        media_type: "application/x-pem-file",
        content: b"",
    },
    PracticeFile {
        weakness: "database",
        path: "/dump.sql",
        media_type: "application/sql",
        content: include_bytes!("../../../assets/practice/dump.sql"),
    },
    PracticeFile {
        weakness: "backup",
        path: "/backup.tar",
        media_type: "application/x-tar",
        content: include_bytes!("../../../assets/practice/backup.tar"),
    },
    PracticeFile {
        weakness: "listing",
        path: "/files/",
        media_type: "text/html; charset=utf-8",
        content: include_bytes!("../../../assets/practice/listing.html"),
    },
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
        let file = EXPOSED
            .iter()
            .find(|file| file.path == path && active.contains(file.weakness))?;
        let content = match path {
            PRIVATE_KEY => self.private_key.as_bytes(),
            _ => file.content,
        };
        Some((file.media_type, content.to_vec()))
    }

    /// Whether a request for this path indicates a scan.
    pub fn is_bait(path: &str, active: &ActiveWeaknesses) -> bool {
        let mut files = EXPOSED.iter().filter(|file| file.weakness != "listing");
        files.any(|file| file.path == path && active.contains(file.weakness))
    }
}
