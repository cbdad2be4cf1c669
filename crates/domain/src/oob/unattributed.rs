//! Requests that match no logger, as text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use scandeck_wire::contract::{UnattributedRequest, UnattributedRequests};
use scandeck_wire::text::plural;

/// Bytes of a request that its row shows.
const SHOWN: usize = 64;
/// Bytes of a request that the whole list shows.
const SHOWN_OF_LIST: usize = 600;

/// The first bytes of a request on one line, with escapes.
pub fn first_bytes(request: &UnattributedRequest) -> String {
    escaped(request, SHOWN)
}

/// A list of requests to read, newest first.
pub fn text(list: &UnattributedRequests) -> String {
    if list.requests.is_empty() {
        return "No unattributed requests since the service started.".to_owned();
    }
    let kept = list.requests.len();
    let count = usize::try_from(list.count).unwrap_or_default().max(kept);
    let all = plural(count, "request");
    let older = if count > kept {
        format!("; {} older not kept", count - kept)
    } else {
        String::new()
    };
    let mut text =
        format!("{all} for no logger since the start of the service, newest first{older}\n");
    for one in list.requests.iter().rev() {
        let time = one
            .request_date
            .map(|date| date.to_string())
            .unwrap_or_default();
        let (from, size) = (
            format!("{}:{}", one.ip_address, one.remote_port),
            plural(one.size.max(0) as usize, "byte"),
        );
        text.push_str(&format!(
            "\n{time}  {from}  {size}  {}\n{}\n",
            one.reason,
            escaped(one, SHOWN_OF_LIST)
        ));
    }
    text
}

fn escaped(request: &UnattributedRequest, most: usize) -> String {
    let bytes = STANDARD
        .decode(request.raw_base64.as_bytes())
        .unwrap_or_default();
    let mark = if bytes.len() > most { "…" } else { "" };
    format!("{}{mark}", bytes[..bytes.len().min(most)].escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::contract::Stamp;

    #[test]
    fn list_names_sender_reason_and_first_bytes_newest_first() {
        let request = |id: i64, bytes: &[u8]| UnattributedRequest {
            id,
            ip_address: "203.0.113.9".into(),
            remote_port: 40_000 + id,
            request_date: Stamp::parse("2026-11-21 14:02:08"),
            reason: "no HTTP request".into(),
            size: 900,
            raw_base64: STANDARD.encode(bytes).as_str().into(),
        };
        let requests = vec![request(8, b"a"), request(9, b"\x16\x03\n\"")];
        let list = UnattributedRequests { count: 9, requests };
        let shown = text(&list);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(
            lines[0],
            "9 requests for no logger since the start of the service, newest first; 7 older not kept"
        );
        assert!(
            lines[2].contains("203.0.113.9:40009  900 bytes  no HTTP request"),
            "{}",
            lines[2]
        );
        assert_eq!((lines[3], lines[6]), (r#"\x16\x03\n\""#, "a"));
        assert!(first_bytes(&request(1, &[b'x'; 200])).ends_with("xx…"));
        assert!(text(&UnattributedRequests::default()).starts_with("No unattributed requests"));
    }
}
