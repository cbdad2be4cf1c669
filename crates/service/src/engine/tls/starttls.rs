//! The commands that start TLS on a connection of a mail, file, database or directory service.
//!
//! Only greeting, capabilities and the upgrade are exchanged; nothing logs in.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Bytes of an answer that are read.
const MAX_ANSWER: usize = 16 * 1024;
/// Characters of a line that an error shows.
const MAX_SHOWN: usize = 200;

/// A protocol that starts TLS by a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartTls {
    Smtp,
    Imap,
    Pop3,
    Ftp,
    Postgres,
    Ldap,
}

impl StartTls {
    pub const ALL: &[StartTls] = &[
        StartTls::Smtp,
        StartTls::Imap,
        StartTls::Pop3,
        StartTls::Ftp,
        StartTls::Postgres,
        StartTls::Ldap,
    ];

    /// The value of the parameter `starttls`, which is also the name of the service.
    pub fn name(self) -> &'static str {
        match self {
            StartTls::Smtp => "smtp",
            StartTls::Imap => "imap",
            StartTls::Pop3 => "pop3",
            StartTls::Ftp => "ftp",
            StartTls::Postgres => "postgresql",
            StartTls::Ldap => "ldap",
        }
    }

    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|one| one.name() == name)
    }

    /// The protocol that usually listens on a port.
    pub fn of_port(port: u16) -> Option<Self> {
        match port {
            25 | 587 | 2525 => Some(StartTls::Smtp),
            143 => Some(StartTls::Imap),
            110 => Some(StartTls::Pop3),
            21 => Some(StartTls::Ftp),
            5432 => Some(StartTls::Postgres),
            389 => Some(StartTls::Ldap),
            _ => None,
        }
    }

    /// Starts TLS on a new connection.
    ///
    /// # Errors
    /// When the server refuses, does not offer TLS, or the connection ends; with the line of the
    /// server, if it sent one.
    pub async fn upgrade(self, stream: &mut TcpStream) -> Result<(), String> {
        match self {
            StartTls::Smtp => self.upgrade_smtp(stream).await,
            StartTls::Imap => self.upgrade_imap(stream).await,
            StartTls::Pop3 => {
                self.greeting(lines(stream, |_| true).await?, "+OK")?;
                let answer = ask(stream, "STLS\r\n", |_| true).await?;
                self.start(answer.starts_with("+OK"), &answer)
            }
            StartTls::Ftp => {
                self.greeting(lines(stream, |line| is_last(line, "220")).await?, "220")?;
                let answer = ask(stream, "AUTH TLS\r\n", |line| is_last(line, "")).await?;
                self.start(answer.starts_with("234"), &answer)
            }
            StartTls::Postgres => {
                send(stream, &[0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f]).await?;
                let answer = stream.read_u8().await.map_err(in_words)?;
                if answer == b'S' {
                    Ok(())
                } else {
                    Err(self.no_offer())
                }
            }
            StartTls::Ldap => {
                let request = b"\x30\x1d\x02\x01\x01\x77\x18\x80\x161.3.6.1.4.1.1466.20037";
                send(stream, request).await?;
                let mut answer = [0; 512];
                let count = stream.read(&mut answer).await.map_err(in_words)?;
                if is_ldap_success(&answer[..count]) {
                    Ok(())
                } else {
                    Err(self.no_offer())
                }
            }
        }
    }

    async fn upgrade_smtp(self, stream: &mut TcpStream) -> Result<(), String> {
        self.greeting(lines(stream, |line| is_last(line, "220")).await?, "220")?;
        let hello = "EHLO scandeck.invalid\r\n";
        let offer = ask(stream, hello, |line| is_last(line, "250")).await?;
        if offer.starts_with("250") && !offer.to_ascii_uppercase().contains("STARTTLS") {
            return Err(self.no_offer());
        }
        self.greeting(offer, "250")?;
        let answer = ask(stream, "STARTTLS\r\n", |line| is_last(line, "")).await?;
        self.start(answer.starts_with("220"), &answer)
    }

    async fn upgrade_imap(self, stream: &mut TcpStream) -> Result<(), String> {
        let greeting = lines(stream, |line| line.starts_with("* ")).await?;
        if greeting.to_ascii_uppercase().starts_with("* BYE") {
            return Err(self.refusal(&greeting));
        }
        let answer = ask(stream, "a1 STARTTLS\r\n", |line| line.starts_with("a1 ")).await?;
        let is_ready = |line: &str| line.to_ascii_uppercase().starts_with("A1 OK");
        self.start(answer.lines().any(is_ready), &answer)
    }

    /// The result of the command that starts TLS.
    fn start(self, is_ready: bool, answer: &str) -> Result<(), String> {
        match is_ready {
            true => Ok(()),
            false => Err(format!("{}: {}", self.no_offer(), last_line(answer))),
        }
    }

    /// Checks the code of a greeting.
    fn greeting(self, answer: String, code: &str) -> Result<(), String> {
        if answer.starts_with(code) {
            Ok(())
        } else {
            Err(self.refusal(&answer))
        }
    }

    /// The server ends the conversation before TLS.
    fn refusal(self, answer: &str) -> String {
        format!(
            "{} refuses the connection: {}",
            self.name(),
            last_line(answer)
        )
    }

    fn no_offer(self) -> String {
        format!("{} responds, but does not offer TLS", self.name())
    }
}

/// The last line of an answer, shortened.
fn last_line(answer: &str) -> String {
    answer
        .lines()
        .last()
        .unwrap_or_default()
        .chars()
        .take(MAX_SHOWN)
        .collect()
}

/// An error of the connection.
fn in_words(error: io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            "the server closed the connection before its answer".to_owned()
        }
        _ => error
            .to_string()
            .split(" (os error")
            .next()
            .unwrap_or_default()
            .to_lowercase(),
    }
}

/// Whether an extended response (tag 0x78) of LDAP has the result code 0, its first enumerated
/// value (tag 0x0a).
fn is_ldap_success(answer: &[u8]) -> bool {
    let response = answer
        .iter()
        .position(|byte| *byte == 0x78)
        .map_or(&[][..], |at| &answer[at..]);
    response
        .windows(3)
        .find(|part| part[..2] == [0x0a, 1])
        .is_some_and(|part| part[2] == 0)
}

/// Whether a line ends an answer with this code: `250 ` and not `250-`.
fn is_last(line: &str, code: &str) -> bool {
    line.starts_with(code) && line.as_bytes().get(3).is_none_or(|byte| *byte != b'-')
}

async fn send(stream: &mut TcpStream, bytes: &[u8]) -> Result<(), String> {
    stream.write_all(bytes).await.map_err(in_words)
}

async fn ask(
    stream: &mut TcpStream,
    command: &str,
    is_end: impl Fn(&str) -> bool,
) -> Result<String, String> {
    send(stream, command.as_bytes()).await?;
    lines(stream, is_end).await
}

/// Reads lines until one is the last of an answer, or a refusal.
async fn lines(stream: &mut TcpStream, is_end: impl Fn(&str) -> bool) -> Result<String, String> {
    let (mut all, mut line) = (String::new(), Vec::new());
    loop {
        let byte = stream.read_u8().await.map_err(in_words)?;
        if byte != b'\n' {
            line.push(byte);
        } else {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            all.push_str(&text);
            all.push('\n');
            let is_refusal =
                text.starts_with(['4', '5']) && is_last(&text, "") || text.starts_with("-ERR");
            if is_end(&text) || is_refusal {
                return Ok(all);
            }
            line.clear();
        }
        if all.len() + line.len() > MAX_ANSWER {
            return Err("the greeting is too long".to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    const LDAP_SUCCESS: &[u8] = b"\x30\x0c\x02\x01\x01\x78\x07\x0a\x01\x00\x04\x00\x04\x00";

    /// The result of an upgrade with a server that sends each answer after it has received
    /// something; the first one at once if `greets`.
    async fn upgrade(kind: StartTls, greets: bool, answers: &[&[u8]]) -> Result<(), String> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut stream = TcpStream::connect(listener.local_addr().unwrap())
            .await
            .unwrap();
        let serve = async move {
            let (mut client, _) = listener.accept().await.unwrap();
            let mut request = [0; 512];
            for (at, answer) in answers.iter().enumerate() {
                if at > 0 || !greets {
                    assert!(client.read(&mut request).await.unwrap() > 0);
                }
                client.write_all(answer).await.unwrap();
            }
        };
        tokio::join!(kind.upgrade(&mut stream), serve).0
    }

    #[tokio::test]
    async fn servers_that_offer_tls_are_upgraded() {
        for (kind, greets, answers) in [
            (
                StartTls::Smtp,
                true,
                &[
                    &b"220-wait\r\n220 a\r\n"[..],
                    b"250-a\r\n250-STARTTLS\r\n250 ok\r\n",
                    b"220 go\r\n",
                ][..],
            ),
            (
                StartTls::Imap,
                true,
                &[b"* OK ready\r\n", b"* x\r\na1 OK begin\r\n"],
            ),
            (StartTls::Pop3, true, &[b"+OK\r\n", b"+OK\r\n"]),
            (StartTls::Ftp, true, &[b"220-a\r\n220 b\r\n", b"234 go\r\n"]),
            (StartTls::Postgres, false, &[b"S"]),
            (StartTls::Ldap, false, &[LDAP_SUCCESS]),
        ] {
            assert_eq!(upgrade(kind, greets, answers).await, Ok(()), "{kind:?}");
        }
    }

    #[tokio::test]
    async fn line_of_a_server_that_refuses_is_shown() {
        let cases: [(StartTls, &[&[u8]], &str); 9] = [
            (
                StartTls::Smtp,
                &[b"421 Too many connections\r\n"],
                "smtp refuses the connection: 421 Too many connections",
            ),
            (
                StartTls::Smtp,
                &[b"554-No\r\n554 Blocked\r\n"],
                "smtp refuses the connection: 554 Blocked",
            ),
            (
                StartTls::Smtp,
                &[b"220 a\r\n", b"550 Bad name\r\n"],
                "smtp refuses the connection: 550 Bad name",
            ),
            (
                StartTls::Smtp,
                &[
                    b"220 a\r\n",
                    b"250-a\r\n250 STARTTLS\r\n",
                    b"454 TLS not available\r\n",
                ],
                "smtp responds, but does not offer TLS: 454 TLS not available",
            ),
            (
                StartTls::Smtp,
                &[b"220 a\r\n", b"250 a\r\n"],
                "smtp responds, but does not offer TLS",
            ),
            (
                StartTls::Imap,
                &[b"* BYE Busy\r\n"],
                "imap refuses the connection: * BYE Busy",
            ),
            (
                StartTls::Pop3,
                &[b"-ERR Busy\r\n"],
                "pop3 refuses the connection: -ERR Busy",
            ),
            (
                StartTls::Ftp,
                &[b"421 Busy\r\n"],
                "ftp refuses the connection: 421 Busy",
            ),
            (
                StartTls::Ftp,
                &[b"220 a\r\n", b"530 No\r\n"],
                "ftp responds, but does not offer TLS: 530 No",
            ),
        ];
        for (kind, answers, expected) in cases {
            assert_eq!(upgrade(kind, true, answers).await, Err(expected.to_owned()));
        }
        let closed = upgrade(StartTls::Smtp, true, &[b"220-a\r\n"]).await;
        assert_eq!(
            closed,
            Err("the server closed the connection before its answer".to_owned())
        );
    }

    #[tokio::test]
    async fn servers_without_tls_are_refused() {
        for (kind, greets, answers) in [
            (StartTls::Smtp, true, &[&b"220 a\r\n"[..], b"250 a\r\n"][..]),
            (StartTls::Imap, true, &[b"* OK\r\n", b"a1 BAD\r\n"]),
            (StartTls::Pop3, true, &[b"+OK\r\n", b"-ERR\r\n"]),
            (StartTls::Ftp, true, &[b"220 b\r\n", b"502 no\r\n"]),
            (StartTls::Postgres, false, &[b"N"]),
            (
                StartTls::Ldap,
                false,
                &[b"\x30\x0c\x02\x01\x01\x78\x07\x0a\x01\x02"],
            ),
        ] {
            assert!(upgrade(kind, greets, answers).await.is_err(), "{kind:?}");
        }
    }
}
