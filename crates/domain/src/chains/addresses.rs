//! Host names with ports in texts and in the names of targets.

use url::Url;

/// Schemes of the addresses that are read from texts.
const SCHEMES: [&str; 2] = ["http://", "https://"];

/// Every host with its port in the URLs of a text.
pub fn addresses(text: &str) -> Vec<(String, u16)> {
    let starts = SCHEMES
        .into_iter()
        .flat_map(|scheme| text.match_indices(scheme));
    let url = |(at, _): (usize, &str)| {
        let ends = |c: char| c.is_whitespace() || "\"'<>\\`)]},;".contains(c);
        let rest = &text[at..];
        // The brackets of an IPv6 address belong to its URL.
        let from = rest
            .find("://[")
            .and_then(|open| rest[open..].find(']').map(|end| open + end + 1));
        let skipped = from.filter(|from| rest[..*from].find(char::is_whitespace).is_none());
        let skipped = skipped.unwrap_or(0);
        let end = rest[skipped..]
            .find(ends)
            .map_or(rest.len(), |end| skipped + end);
        let url = Url::parse(&rest[..end]).ok()?;
        Some((canonical(url.host_str()?), url.port_or_known_default()?))
    };
    starts.filter_map(url).collect()
}

/// The host of a target or of a certificate, with its port if the name has one.
pub fn host_of(name: &str) -> Option<(String, Option<u16>)> {
    let name = name.trim();
    let is_url = SCHEMES.iter().any(|scheme| name.starts_with(scheme));
    let url = match is_url {
        true => Url::parse(name).ok()?,
        false => Url::parse(&format!("port://{name}")).ok()?,
    };
    let port = if is_url {
        url.port_or_known_default()
    } else {
        url.port()
    };
    Some((canonical(url.host_str()?), port))
}

fn canonical(host: &str) -> String {
    host.trim_end_matches('.').to_ascii_lowercase()
}
