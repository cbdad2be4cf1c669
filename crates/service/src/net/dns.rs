//! A DNS client for a name server that the operator chooses, instead of the resolver of the system.
//!
//! ```text
//!   name ──► query for A and AAAA by UDP, two attempts ──► answers of the section ANSWER ──► addresses
//! ```
//!
//! The responses come from outside: every length is checked, and compressed names are skipped,
//! never followed.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::net::UdpSocket;
use tokio::time::timeout;

use crate::net::resolver::{LookupError, Resolver};

const ATTEMPTS: usize = 2;
const TIMEOUT: Duration = Duration::from_secs(2);
/// Bytes of a response by UDP.
const MAX_BYTES: usize = 4096;
const A: u16 = 1;
const AAAA: u16 = 28;
/// The response code for a name that does not exist.
const NXDOMAIN: u8 = 3;

/// Asks one name server.
#[derive(Clone, Copy, Debug)]
pub struct DnsClient {
    server: SocketAddr,
}

impl DnsClient {
    pub fn new(server: SocketAddr) -> Self {
        Self { server }
    }

    async fn addresses(self, name: &str) -> Result<Vec<IpAddr>, LookupError> {
        let (v4, v6) = tokio::join!(self.query(name, A), self.query(name, AAAA));
        match (v4, v6) {
            (Ok(v4), Ok(v6)) => Ok([v4, v6].concat()),
            (Ok(found), Err(_)) | (Err(_), Ok(found)) if !found.is_empty() => Ok(found),
            (Err(why), _) | (_, Err(why)) => Err(why),
        }
    }

    async fn query(self, name: &str, kind: u16) -> Result<Vec<IpAddr>, LookupError> {
        let id = rand::random();
        let query = query(id, name, kind)
            .ok_or_else(|| LookupError::Missing(format!("{name} is not a DNS name")))?;
        let mut why = format!(
            "no response from {} within {} s",
            self.server,
            TIMEOUT.as_secs()
        );
        for _ in 0..ATTEMPTS {
            match timeout(TIMEOUT, self.exchange(&query, id, kind)).await {
                Ok(Ok(found)) => return found,
                Ok(Err(error)) => why = format!("{}: {error}", self.server),
                Err(_) => {}
            }
        }
        Err(LookupError::Unanswered(why))
    }

    /// The result of the first response with this id.
    async fn exchange(
        self,
        query: &[u8],
        id: u16,
        kind: u16,
    ) -> std::io::Result<Result<Vec<IpAddr>, LookupError>> {
        let local: SocketAddr = match self.server {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = UdpSocket::bind(local).await?;
        socket.connect(self.server).await?;
        socket.send(query).await?;
        let mut bytes = vec![0; MAX_BYTES];
        loop {
            let length = socket.recv(&mut bytes).await?;
            if let Some(result) = read_response(&bytes[..length], id, kind) {
                return Ok(result);
            }
        }
    }
}

impl Resolver for DnsClient {
    fn lookup(&self, name: String) -> BoxFuture<'static, Result<Vec<IpAddr>, LookupError>> {
        let client = *self;
        async move { client.addresses(&name).await }.boxed()
    }
}

/// A recursive query, if the name has valid labels.
fn query(id: u16, name: &str, kind: u16) -> Option<Vec<u8>> {
    let mut message = Vec::new();
    message.extend(id.to_be_bytes());
    // Recursion desired, one question.
    message.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in name.trim_end_matches('.').split('.') {
        let length = u8::try_from(label.len())
            .ok()
            .filter(|length| (1..=63).contains(length))?;
        message.push(length);
        message.extend(label.as_bytes());
    }
    message.push(0);
    message.extend(kind.to_be_bytes());
    message.extend([0, 1]);
    (name.len() <= 253).then_some(message)
}

/// The addresses in a response; none if it has another id or is damaged.
fn read_response(bytes: &[u8], id: u16, kind: u16) -> Option<Result<Vec<IpAddr>, LookupError>> {
    let number = |at: usize| Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
    let is_response = number(0)? == id && bytes.get(2)? & 0x80 != 0;
    if !is_response {
        return None;
    }
    match bytes.get(3)? & 0x0f {
        0 => {}
        NXDOMAIN => {
            return Some(Err(LookupError::Missing(
                "the name does not exist".to_owned(),
            )));
        }
        code => {
            return Some(Err(LookupError::Unanswered(format!(
                "the name server answered with error {code}"
            ))));
        }
    }
    let mut at = 12;
    for _ in 0..number(4)? {
        at = after_name(bytes, at)? + 4;
    }
    let mut found = Vec::new();
    for _ in 0..number(6)? {
        at = after_name(bytes, at)?;
        let (this, length) = (number(at)?, usize::from(number(at + 8)?));
        let data = bytes.get(at + 10..at + 10 + length)?;
        match (this == kind, this, data.len()) {
            (true, A, 4) => found.push(<[u8; 4]>::try_from(data).ok()?.into()),
            (true, AAAA, 16) => found.push(<[u8; 16]>::try_from(data).ok()?.into()),
            _ => {}
        }
        at += 10 + length;
    }
    Some(Ok(found))
}

/// The position after a name: labels up to an empty one or a pointer.
fn after_name(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *bytes.get(at)? {
            0 => return Some(at + 1),
            length if length & 0xc0 == 0xc0 => return Some(at + 2),
            length => at += 1 + usize::from(length),
        }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// A name server on this machine with one address for each of these names; other names do not
    /// exist.
    pub async fn name_server(
        answer: impl Fn(&str) -> Option<Ipv4Addr> + Send + 'static,
    ) -> SocketAddr {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        tokio::spawn(async move {
            let mut bytes = vec![0; MAX_BYTES];
            while let Ok((length, from)) = socket.recv_from(&mut bytes).await {
                let _ = socket
                    .send_to(&response(&bytes[..length], &answer), from)
                    .await;
            }
        });
        address
    }

    pub fn response(query: &[u8], answer: impl Fn(&str) -> Option<Ipv4Addr>) -> Vec<u8> {
        let (mut at, mut labels) = (12, Vec::new());
        while query[at] != 0 {
            let end = at + 1 + usize::from(query[at]);
            labels.push(String::from_utf8_lossy(&query[at + 1..end]).into_owned());
            at = end;
        }
        let found = answer(&labels.join("."));
        let has_a = query[at + 2] == 1 && found.is_some();
        let mut all = query.to_vec();
        (all[2], all[3]) = (
            0x81,
            if found.is_some() {
                0x80
            } else {
                0x80 | NXDOMAIN
            },
        );
        all[7] = u8::from(has_a);
        if let Some(ip) = found.filter(|_| has_a) {
            all.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
            all.extend(ip.octets());
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lookup_returns_addresses_of_the_chosen_server() {
        let ip = Ipv4Addr::new(192, 0, 2, 7);
        let server =
            testing::name_server(move |name| (name == "www.acme.test").then_some(ip)).await;
        let client = DnsClient::new(server);
        assert_eq!(
            client.lookup("www.acme.test".into()).await,
            Ok(vec![IpAddr::V4(ip)])
        );
        assert_eq!(
            client.lookup("no.acme.test".into()).await,
            Err(LookupError::Missing("the name does not exist".into()))
        );
        assert!(
            client
                .lookup("a..b".into())
                .await
                .unwrap_err()
                .to_string()
                .contains("not a DNS name")
        );
    }

    #[test]
    fn response_to_another_query_is_ignored() {
        let answer = testing::response(&query(7, "a.test", A).unwrap(), |_| {
            Some(Ipv4Addr::LOCALHOST)
        });
        assert_eq!(read_response(&answer, 8, A), None);
        assert_eq!(
            read_response(&answer, 7, A),
            Some(Ok(vec![Ipv4Addr::LOCALHOST.into()]))
        );
        for end in 0..answer.len() {
            assert_eq!(
                read_response(&answer[..end], 7, A).and_then(Result::ok),
                None,
                "{end}"
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_responses_are_read_without_panic(rest: Vec<u8>) {
            read_response(&[&[0, 7, 0x81, 0x80], &rest[..]].concat(), 7, A);
        }
    }
}
