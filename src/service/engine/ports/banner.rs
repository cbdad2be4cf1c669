//! What a service says first, or answers to a short `HEAD`, and what that makes of it.
//!
//! Silent services are asked only where a web server is usual, or on this machine: some devices print whatever
//! they are sent.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::top;
use crate::service::engine::PRODUCT;
use crate::service::rails::is_this_host;

/// Bytes of a banner that are read.
const MAX_BYTES: usize = 1024;
/// Characters of a banner that are shown.
const MAX_SHOWN: usize = 200;
/// Printers answer to these ports by printing.
const PRINTERS: std::ops::RangeInclusive<u16> = 9100..=9107;

/// A service and how it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Banner {
    /// Short name, such as `ssh`; `unknown` where nothing tells.
    pub service: String,
    /// `banner` or `port number`.
    pub told_by: &'static str,
    /// What was said, one line without control characters.
    pub text: String,
}

/// Reads what the service says within a moment.
pub async fn grab(mut stream: TcpStream, to: SocketAddr) -> Banner {
    let here = is_this_host(to.ip());
    let (first, second) = if here { (500, 800) } else { (1500, 2500) };
    let mut said = read(&mut stream, first).await;
    if said.is_empty() && !PRINTERS.contains(&to.port()) && (here || top::is_web(to.port())) {
        let request = format!("HEAD / HTTP/1.0\r\nHost: {to}\r\nUser-Agent: {PRODUCT}\r\n\r\n");
        if stream.write_all(request.as_bytes()).await.is_ok() {
            said = read(&mut stream, second).await;
        }
    }
    judge(to.port(), &said)
}

async fn read(stream: &mut TcpStream, millis: u64) -> Vec<u8> {
    let mut bytes = vec![0; MAX_BYTES];
    match timeout(Duration::from_millis(millis), stream.read(&mut bytes)).await {
        Ok(Ok(n)) => bytes.truncate(n),
        _ => bytes.clear(),
    }
    bytes
}

/// The service a banner gives away, else the one usual at the port.
fn judge(port: u16, said: &[u8]) -> Banner {
    let text = shown(said);
    match recognise(said) {
        Some(service) => Banner { service: service.to_owned(), told_by: "banner", text },
        None => {
            let service = top::usual_service(port).unwrap_or("unknown").to_owned();
            Banner { service, told_by: "port number", text }
        }
    }
}

fn recognise(said: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(said).to_ascii_lowercase();
    let starts = |start: &str| text.starts_with(start);
    Some(match said {
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

/// The first line with anything in it.
fn shown(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim().chars().map(|c| if c.is_control() { '.' } else { c }).take(MAX_SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banner_tells_more_than_the_port_number() {
        for (port, said, service, told_by) in [
            (8022, &b"SSH-2.0-OpenSSH_9.2p1\r\n"[..], "ssh", "banner"),
            (25, b"220 mail.acme.test ESMTP ready\r\n", "smtp", "banner"),
            (2121, b"220 FTP server ready\r\n", "ftp", "banner"),
            (8000, b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\n", "http", "banner"),
            (8000, b"\x15\x03\x01\x00\x02\x02\x46", "tls", "banner"),
            (3306, b"\x4a\x00\x00\x00\x0a8.0.36\x00", "mysql", "banner"),
            (22, b"", "ssh", "port number"),
            (64999, b"hello", "unknown", "port number"),
        ] {
            let banner = judge(port, said);
            assert_eq!((banner.service.as_str(), banner.told_by), (service, told_by), "{port}");
        }
    }

    #[test]
    fn a_hostile_banner_is_one_short_line_without_controls() {
        let said = format!("\r\n\u{1b}]0;owned\u{7}{}\r\nnext", "A".repeat(900));
        let text = judge(1, said.as_bytes()).text;
        assert!(text.starts_with(".]0;owned.A") && text.chars().count() == MAX_SHOWN, "{text}");
    }
}
