//! Normalized evidence, which groups the findings of a class.
//!
//! Dates, request ids, nonces, tokens, hosts and the values of volatile headers are removed; status
//! lines, names and versions remain. Two responses of an unchanged server, and the same response of
//! two servers, are equal. The HTTP exchange of a table is left out.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::finding::steady_line;
use scandeck_wire::contract::{Evidence, EvidenceView};

/// Maximum number of bytes of evidence.
const MOST: usize = 16 * 1024;

/// The normalized lines of the evidence of a finding. Cells of a table are named by their column:
/// `Port: 443`.
pub fn normalized_lines(evidence: &Evidence) -> Vec<String> {
    let mut lines = Vec::new();
    let mut room = MOST;
    let mut put = |column: &str, text: &str| {
        let is_message = text.trim().contains('\n');
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if room == 0 {
                return;
            }
            room = room.saturating_sub(line.len());
            let line = steady_line(line);
            lines.push(if column.is_empty() || is_message {
                line
            } else {
                format!("{column}: {line}")
            });
        }
    };
    match evidence.view().without_exchange().decoded() {
        EvidenceView::Nothing => {}
        EvidenceView::Text(text) => put("", &text),
        EvidenceView::Table { headers, rows } if rows.is_empty() => put("", &headers.join(" | ")),
        EvidenceView::Table { headers, rows } => {
            for row in &rows {
                row.iter()
                    .enumerate()
                    .for_each(|(at, cell)| put(headers.get(at).map_or("", String::as_str), cell));
            }
        }
        EvidenceView::Tree(value) => put("", &value.to_string()),
    }
    lines
}

/// A hash that is equal for equal evidence.
pub fn digest(lines: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    lines.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> u64 {
        digest(&normalized_lines(&Evidence::from_value(&text.into())))
    }

    const ANSWER: &str = "GET https://shop.acme.test/login HTTP/1.1\r\n\r\nHTTP/1.1 200 OK\r\n\
        Date: Mon, 02 Nov 2026 10:00:00 GMT\r\nSet-Cookie: sid=4f9a17; Path=/; HttpOnly\r\nETag: \"33a64df5\"\r\n\
        X-Request-Id: 7\r\nServer: nginx/1.24.0\r\nContent-Security-Policy: script-src 'nonce-r4nd0m'\r\n";

    #[test]
    fn volatile_text_does_not_change_digest() {
        for (was, is) in [
            ("shop.acme.test", "api.acme.test:8443"),
            ("Mon, 02 Nov 2026 10:00:00", "Tue, 03 Nov 2026 11:12:13"),
            ("sid=4f9a17", "sid=00ff00aa"),
            ("33a64df5", "99b1"),
            ("X-Request-Id: 7", "X-Request-Id: b7c4a0e2"),
            ("nonce-r4nd0m", "nonce-other+/=="),
        ] {
            assert!(ANSWER.contains(was));
            assert_eq!(of(ANSWER), of(&ANSWER.replace(was, is)), "{was} or {is}");
        }
        let token = |token: &str| {
            format!(
                "Found the token {token} at 10.0.0.{} on {}",
                token.len(),
                "2026-11-02 10:00:00"
            )
        };
        assert_eq!(
            of(&token(&"ab12".repeat(10))),
            of(&token(&"zX9_".repeat(12)))
        );
    }

    #[test]
    fn visible_difference_changes_digest() {
        for (was, is) in [
            ("200 OK", "301 Moved Permanently"),
            ("nginx/1.24.0", "nginx/1.25.0"),
            ("HttpOnly", "HttpOnly; Secure"),
            ("/login", "/admin"),
            ("sid=", "lang="),
            ("script-src", "default-src"),
        ] {
            assert!(ANSWER.contains(was));
            assert_ne!(of(ANSWER), of(&ANSWER.replace(was, is)), "{was} or {is}");
        }
        assert_ne!(of(ANSWER), of(""));
    }

    #[test]
    fn tables_and_trees_are_normalized_by_cell() {
        let table = |host: &str| {
            let cells = [vec![
                format!("https://{host}/db.sql").as_str().into(),
                "200".into(),
            ]];
            let evidence = Evidence::table(&["URL", "Status"], cells);
            digest(&normalized_lines(&evidence))
        };
        assert_eq!(table("a.test"), table("b.test"));
        let ports = Evidence::table(
            &["Port", "Answer"],
            [vec!["443".into(), "HTTP/1.1 200 OK\nServer: a".into()]],
        );
        assert_eq!(
            normalized_lines(&ports),
            ["Port: 443", "HTTP/1.1 200 OK", "Server: a"]
        );
    }
}
