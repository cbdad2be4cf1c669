//! Files that the practice shop exposes while their weakness is on. Their contents are invented; the private key is that of
//! the portal in this run.

use super::weaknesses::ActiveWeaknesses;

#[derive(Clone, Debug)]
pub struct Files {
    /// The key of the portal's certificate, as PEM.
    pub private_key: String,
    /// `http://127.0.0.1:PORT/`.
    pub shop_url: String,
}

/// Weakness, path, content type.
const EXPOSED: &[(&str, &str, &str)] = &[
    ("git", "/.git/HEAD", "text/plain"),
    ("git", "/.git/config", "text/plain"),
    ("env", "/.env", "text/plain"),
    ("htpasswd", "/.htpasswd", "text/plain"),
    ("private-key", "/server.key", "application/x-pem-file"),
    ("database", "/dump.sql", "application/sql"),
    ("backup", "/backup.tar", "application/x-tar"),
    ("listing", "/files/", "text/html; charset=utf-8"),
];

impl Files {
    /// An exposed file while its weakness is on, and the public price list.
    pub fn exposed(&self, path: &str, active: &ActiveWeaknesses) -> Option<(&'static str, Vec<u8>)> {
        if path == "/files/price-list.csv" {
            return Some(("text/csv", b"article,price\npadlock,9.90\n".to_vec()));
        }
        let (_, _, kind) = EXPOSED.iter().find(|(id, exposed, _)| *exposed == path && active.contains(id))?;
        Some((kind, self.bytes(path)))
    }

    /// Whether a request for this path indicates a scan.
    pub fn is_bait(path: &str, active: &ActiveWeaknesses) -> bool {
        EXPOSED.iter().any(|(id, exposed, _)| *exposed == path && *id != "listing" && active.contains(id))
    }

    fn bytes(&self, path: &str) -> Vec<u8> {
        let text = match path {
            "/.git/HEAD" => "ref: refs/heads/main\n",
            "/.git/config" => {
                "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\
                 [remote \"origin\"]\n\turl = https://git.practice.example/shop.git\n"
            }
            "/.env" => {
                "APP_ENV=practice\nAPP_SECRET=not-a-real-secret\nDB_HOST=127.0.0.1\nDB_USER=shop\n\
                 DB_PASSWORD=not-a-real-password\n"
            }
            "/.htpasswd" => "practice:$apr1$practice$notarealhashatall0000\n",
            "/server.key" => &self.private_key,
            "/dump.sql" => {
                "-- PostgreSQL database dump\nCREATE TABLE customers (id integer, name text);\n\
                 INSERT INTO customers VALUES (1, 'Nobody Atall');\n"
            }
            "/files/" => {
                "<!doctype html><title>Index of /files/</title><h1>Index of /files/</h1><pre>\
                 <a href=\"../\">../</a>\n<a href=\"price-list.csv\">price-list.csv</a>\n\
                 <a href=\"customers-old.csv\">customers-old.csv</a>\n</pre>\n"
            }
            _ => return archive(),
        };
        text.as_bytes().to_vec()
    }
}

/// A tar archive (ustar) with one file.
fn archive() -> Vec<u8> {
    let body = b"<h1>The shop as it was last year</h1>\n";
    let mut head = vec![0; 512];
    let mut put = |at: usize, text: &str| head[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, "index.html");
    put(100, "0000644");
    put(108, "0000000");
    put(116, "0000000");
    put(124, &format!("{:011o}", body.len()));
    put(136, "00000000000");
    put(148, "        ");
    put(156, "0");
    put(257, "ustar");
    put(263, "00");
    let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
    head[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    head.extend_from_slice(body);
    head.resize(512 + 512 + 1024, 0);
    head
}
