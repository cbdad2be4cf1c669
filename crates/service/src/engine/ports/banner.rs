//! The description of a service: its name, where the name comes from, and the first line that it
//! sent.
//!
//! `service` and `text` are evidence of `port.open`, so they stay as they are for services that
//! earlier versions knew: a TLS server is `tls` there, and `name` and `detail` tell more.

use super::client::PortResponse;
use super::top;

/// Characters of a banner that are shown.
const MAX_SHOWN: usize = 200;

/// An identified service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Banner {
    /// Short name, such as `ssh`, or `unknown`; `tls` for everything inside TLS.
    pub service: String,
    /// The name with what is inside TLS, such as `https`.
    pub name: String,
    /// The source of the name: `banner`, or `port number` for a service that did not identify
    /// itself.
    pub source: &'static str,
    /// The first line of the service, without control characters.
    pub text: String,
    /// Software and title of a web server, the first line inside TLS, or the usual service of the
    /// port of an unknown one.
    pub detail: String,
}

impl Banner {
    /// A service that identified itself.
    pub fn of(service: &str, text: &str) -> Self {
        Self {
            service: service.to_owned(),
            name: service.to_owned(),
            source: "banner",
            text: text.to_owned(),
            detail: String::new(),
        }
    }

    /// A service inside TLS.
    pub fn over_tls(name: &str, detail: String) -> Self {
        Self {
            name: name.to_owned(),
            detail,
            ..Self::of("tls", "")
        }
    }

    /// A web server.
    pub fn of_page(page: &PortResponse, over_tls: bool) -> Self {
        let software = page
            .header("server")
            .map(|server| format!("server {server}"));
        let title = page.title().map(|title| format!("title \"{title}\""));
        let detail = [software, title]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(", ");
        let detail = first_line(detail.as_bytes());
        let service = web_service(page);
        match (over_tls, service) {
            (true, "http") => Self::over_tls("https", detail),
            (true, other) => Self::over_tls(other, detail),
            (false, other) => Self {
                detail,
                ..Self::of(other, &first_line(page.status_line().as_bytes()))
            },
        }
    }

    /// Name and detail for people.
    pub fn summary(&self) -> String {
        match (self.source, &self.detail[..]) {
            ("port number", "") => "unknown service, response not recognised".to_owned(),
            ("port number", usual) => {
                format!("unknown service, response not recognised; this port is {usual}")
            }
            (_, "") => self.name.clone(),
            (_, detail) => format!("{}, {detail}", self.name),
        }
    }
}

/// Products that speak HTTP and identify themselves on their start page.
pub fn web_service(page: &PortResponse) -> &'static str {
    let server = page.header("server").unwrap_or_default();
    let body = &page.body;
    let is_json_error =
        body.contains("\"kind\":\"Status\"") || body.contains("\"kind\": \"Status\"");
    if server.starts_with("Docker/") || page.header("docker-experimental").is_some() {
        "docker"
    } else if body.contains("You Know, for Search")
        || body.contains("The OpenSearch Project: https://opensearch.org/")
    {
        "elasticsearch"
    } else if body.contains("WebSockets request was expected") {
        "node-inspector"
    } else if is_json_error && body.contains("\"apiVersion\"") {
        "kubernetes"
    } else if body
        .to_ascii_lowercase()
        .contains("plain http request was sent to https")
        || body.contains("Client sent an HTTP request to an HTTPS server")
        || body.contains("speaking plain HTTP to an SSL-enabled server port")
    {
        "https"
    } else {
        "http"
    }
}

/// Identifies a service by its greeting, else by its port.
pub fn of_greeting(port: u16, greeting: &[u8]) -> Banner {
    let text = first_line(greeting);
    match service_of(greeting) {
        Some(service) => Banner::of(service, &text),
        None => Banner {
            text,
            ..guess(port)
        },
    }
}

/// A service that did not identify itself; the detail names the usual service of the port, which
/// proves nothing.
pub fn guess(port: u16) -> Banner {
    let usual = top::usual_service(port).filter(|usual| *usual != "unknown");
    let detail = usual
        .map(|usual| format!("usually {usual}"))
        .unwrap_or_default();
    Banner {
        source: "port number",
        detail,
        ..Banner::of("unknown", "")
    }
}

/// The service that sends these bytes first, or as a response to a message of another protocol.
pub fn service_of(banner: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(banner).to_ascii_lowercase();
    let starts = |start: &str| text.starts_with(start);
    Some(match banner {
        // A TLS record: an alert or a handshake.
        [0x15 | 0x16, 0x03, ..] => "tls",
        // A packet of MySQL's protocol 10, or its refusal of this host.
        [_, _, 0, 0, 10 | 255, ..] => "mysql",
        // Options of a terminal.
        [0xff, 0xfb..=0xfe, ..] => "telnet",
        _ if starts("ssh-") => "ssh",
        _ if starts("http/") && text.contains("plain http request was sent to https") => "https",
        _ if starts("http/") => "http",
        _ if (starts("220") || starts("421") || starts("554"))
            && (text.contains("smtp") || text.contains("mail")) =>
        {
            "smtp"
        }
        _ if starts("220") && text.contains("ftp") => "ftp",
        _ if starts("+ok") => "pop3",
        _ if starts("* ok") || starts("* preauth") || starts("* bye") => "imap",
        _ if starts("rfb ") => "vnc",
        _ if starts("-err") || starts("-noauth") || starts("-denied") => "redis",
        _ if starts("@rsyncd") => "rsync",
        _ if starts("amqp") => "amqp",
        _ if starts("rtsp/") => "rtsp",
        _ if starts("info {") => "nats",
        _ if (starts("200 ") || starts("201 "))
            && (text.contains("nntp") || text.contains("news")) =>
        {
            "nntp"
        }
        _ if starts("\"implementation\"") => "sieve",
        _ => return None,
    })
}

/// The first line that is not blank.
pub fn first_line(banner: &[u8]) -> String {
    let text = String::from_utf8_lossy(banner);
    let line = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    line.trim()
        .chars()
        .map(|c| if c.is_control() { '.' } else { c })
        .take(MAX_SHOWN)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_is_read_from_greeting_before_port() {
        for (port, bytes, service, source) in [
            (8022, &b"SSH-2.0-OpenSSH_9.2p1\r\n"[..], "ssh", "banner"),
            (25, b"220 mail.acme.test ESMTP ready\r\n", "smtp", "banner"),
            (2121, b"220 FTP server ready\r\n", "ftp", "banner"),
            (
                8000,
                b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\n",
                "http",
                "banner",
            ),
            (8000, b"\x15\x03\x01\x00\x02\x02\x46", "tls", "banner"),
            (3306, b"\x4a\x00\x00\x00\x0a8.0.36\x00", "mysql", "banner"),
            (23, b"\xff\xfd\x18\xff\xfd\x20", "telnet", "banner"),
            (22, b"", "unknown", "port number"),
            (9000, b"", "unknown", "port number"),
            (64999, b"hello", "unknown", "port number"),
        ] {
            let banner = of_greeting(port, bytes);
            assert_eq!(
                (banner.service.as_str(), banner.source),
                (service, source),
                "{port}"
            );
        }
    }

    #[test]
    fn hostile_banner_becomes_one_short_line_without_control_characters() {
        let bytes = format!("\r\n\u{1b}]0;owned\u{7}{}\r\nnext", "A".repeat(900));
        let text = of_greeting(1, bytes.as_bytes()).text;
        assert!(
            text.starts_with(".]0;owned.A") && text.chars().count() == MAX_SHOWN,
            "{text}"
        );
    }

    #[test]
    fn page_names_software_title_and_product() {
        let page = |head: &str, body: &str| PortResponse {
            status: 200,
            head: head.into(),
            body: body.into(),
        };
        let shop = page("HTTP/1.0 200 OK\r\nServer: nginx", "<title>Shop</title>");
        let plain = Banner::of_page(&shop, false);
        assert_eq!(
            (plain.service.as_str(), plain.text.as_str()),
            ("http", "HTTP/1.0 200 OK")
        );
        assert_eq!(plain.summary(), "http, server nginx, title \"Shop\"");
        let secure = Banner::of_page(&shop, true);
        assert_eq!(
            (
                secure.service.as_str(),
                secure.name.as_str(),
                secure.text.as_str()
            ),
            ("tls", "https", "")
        );
        for (head, body, service) in [
            (
                "HTTP/1.0 404 Not Found\r\nServer: Docker/27.1.1 (linux)",
                "",
                "docker",
            ),
            (
                "HTTP/1.0 200 OK",
                "{\"tagline\" : \"You Know, for Search\"}",
                "elasticsearch",
            ),
            (
                "HTTP/1.0 400 Bad Request",
                "WebSockets request was expected\r\n",
                "node-inspector",
            ),
            (
                "HTTP/1.0 400 Bad Request",
                "Client sent an HTTP request to an HTTPS server.\n",
                "https",
            ),
            ("HTTP/1.0 200 OK", "Docker/27 and kubernetes", "http"),
        ] {
            assert_eq!(Banner::of_page(&page(head, body), false).service, service);
        }
        assert_eq!(
            guess(12345).summary(),
            "unknown service, response not recognised; this port is usually http-alt"
        );
        assert_eq!(
            guess(64999).summary(),
            "unknown service, response not recognised"
        );
    }
}
