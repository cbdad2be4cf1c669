//! Reads the banner of a service, or its response to a short `HEAD`, and identifies the service.
//!
//! A silent service receives a request only on typical web ports, or on this machine: some devices print everything that
//! they receive.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::top;
use crate::service::engine::PRODUCT;
use crate::service::scope_check::is_this_host;

/// Bytes of a banner that are read.
const MAX_BYTES: usize = 1024;
/// Characters of a banner that are shown.
const MAX_SHOWN: usize = 200;
/// Printers print everything that they receive on these ports.
const PRINTERS: std::ops::RangeInclusive<u16> = 9100..=9107;

/// An identified service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Banner {
    /// Short name, such as `ssh`, or `unknown`.
    pub service: String,
    /// The source of the name: `banner` or `port number`.
    pub source: &'static str,
    /// The banner, one line without control characters.
    pub text: String,
}

/// Reads the banner with a short timeout.
pub async fn grab(mut stream: TcpStream, to: SocketAddr) -> Banner {
    let is_local = is_this_host(to.ip());
    let (first, second) = if is_local { (500, 800) } else { (1500, 2500) };
    let mut bytes = read(&mut stream, first).await;
    if bytes.is_empty() && !PRINTERS.contains(&to.port()) && (is_local || top::is_web(to.port())) {
        let request = format!("HEAD / HTTP/1.0\r\nHost: {to}\r\nUser-Agent: {PRODUCT}\r\n\r\n");
        if stream.write_all(request.as_bytes()).await.is_ok() {
            bytes = read(&mut stream, second).await;
        }
    }
    identify(to.port(), &bytes)
}

async fn read(stream: &mut TcpStream, millis: u64) -> Vec<u8> {
    let mut bytes = vec![0; MAX_BYTES];
    match timeout(Duration::from_millis(millis), stream.read(&mut bytes)).await {
        Ok(Ok(n)) => bytes.truncate(n),
        _ => bytes.clear(),
    }
    bytes
}

/// Identifies a service by its banner, else by its port.
fn identify(port: u16, banner: &[u8]) -> Banner {
    let (service, source) = match service_of(banner) {
        Some(service) => (service, "banner"),
        None => (top::usual_service(port).unwrap_or("unknown"), "port number"),
    };
    Banner { service: service.to_owned(), source, text: first_line(banner) }
}

fn service_of(banner: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(banner).to_ascii_lowercase();
    let starts = |start: &str| text.starts_with(start);
    Some(match banner {
        // A TLS record: an alert or a handshake.
        [0x15 | 0x16, 0x03, ..] => "tls",
        // A packet of MySQL's protocol 10, or its refusal of this host.
        [_, _, 0, 0, 10 | 255, ..] => "mysql",
        _ if starts("ssh-") => "ssh",
        _ if starts("http/") && text.contains("plain http request was sent to https") => "https",
        _ if starts("http/") => "http",
        _ if starts("220") && (text.contains("smtp") || text.contains("mail")) => "smtp",
        _ if starts("220") && text.contains("ftp") => "ftp",
        _ if starts("+ok") => "pop3",
        _ if starts("* ok") => "imap",
        _ if starts("rfb ") => "vnc",
        _ if starts("-err") || starts("-noauth") || starts("-denied") => "redis",
        _ if starts("@rsyncd") => "rsync",
        _ if starts("amqp") => "amqp",
        _ if starts("rtsp/") => "rtsp",
        _ => return None,
    })
}

/// The first line that is not blank.
fn first_line(banner: &[u8]) -> String {
    let text = String::from_utf8_lossy(banner);
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim().chars().map(|c| if c.is_control() { '.' } else { c }).take(MAX_SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identify_prefers_banner_over_port() {
        for (port, bytes, service, source) in [
            (8022, &b"SSH-2.0-OpenSSH_9.2p1\r\n"[..], "ssh", "banner"),
            (25, b"220 mail.acme.test ESMTP ready\r\n", "smtp", "banner"),
            (2121, b"220 FTP server ready\r\n", "ftp", "banner"),
            (8000, b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\n", "http", "banner"),
            (8000, b"\x15\x03\x01\x00\x02\x02\x46", "tls", "banner"),
            (3306, b"\x4a\x00\x00\x00\x0a8.0.36\x00", "mysql", "banner"),
            (22, b"", "ssh", "port number"),
            (64999, b"hello", "unknown", "port number"),
        ] {
            let banner = identify(port, bytes);
            assert_eq!((banner.service.as_str(), banner.source), (service, source), "{port}");
        }
    }

    #[test]
    fn hostile_banner_becomes_one_short_line_without_control_characters() {
        let bytes = format!("\r\n\u{1b}]0;owned\u{7}{}\r\nnext", "A".repeat(900));
        let text = identify(1, bytes.as_bytes()).text;
        assert!(text.starts_with(".]0;owned.A") && text.chars().count() == MAX_SHOWN, "{text}");
    }
}
