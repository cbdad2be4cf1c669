//! PostgreSQL without a password, and memcached by UDP.

use tokio::net::UdpSocket;
use tokio::time::timeout;

use super::AccessProof;
use crate::engine::kinds::unauthenticated as kind;
use crate::engine::ports::client::{PortClient, PortConnection};
use crate::engine::tls::starttls::StartTls;

/// The protocol 3.0, user and database (PostgreSQL, Message Formats, StartupMessage).
const POSTGRES_START: &[u8] = b"\0\0\0\x29\0\x03\0\0user\0postgres\0database\0postgres\0\0";
const POSTGRES_END: &[u8] = b"X\0\0\0\x04";
/// AuthenticationOk; every other request for authentication has another number.
const AUTHENTICATION_OK: &[u8] = b"R\0\0\0\x08\0\0\0\0";

/// Starts a session as `postgres`, without a password and without a query, and ends it at once.
pub async fn postgres(client: &PortClient<'_>) -> Option<AccessProof> {
    let plain = start_postgres(client.connect().await?).await;
    // The server may accept clients with TLS only, or refuse this user without TLS.
    let (response, transport) = match plain.first() {
        Some(b'E') => (
            start_postgres(client.connect_upgraded(StartTls::Postgres).await?).await,
            " over TLS",
        ),
        _ => (plain, ""),
    };
    let read = format!("startup of a session{transport}, user postgres, database postgres");
    response.starts_with(AUTHENTICATION_OK).then(|| {
        AccessProof::new(
            kind::POSTGRES,
            read,
            "AuthenticationOk, no password requested",
        )
    })
}

async fn start_postgres(mut connection: PortConnection<'_>) -> Vec<u8> {
    let response = connection
        .exchange_until(POSTGRES_START, |bytes| {
            bytes.len() >= AUTHENTICATION_OK.len()
        })
        .await;
    connection.send(POSTGRES_END).await;
    response
}

/// The header of a request in one datagram: request id, number of the datagram, number of
/// datagrams, reserved (memcached, protocol.txt, UDP protocol).
const MEMCACHED_STATS: &[u8] = b"\x5c\x41\0\0\0\x01\0\0stats\r\n";

/// Memcached answers by UDP to everybody, with responses that are larger than the requests.
const AMPLIFICATION: &str = "CVE-2018-1000115";

/// Sends one datagram with the request that TCP gets too.
pub async fn memcached_by_udp(client: &PortClient<'_>) -> Option<AccessProof> {
    let any = if client.to.is_ipv4() {
        "0.0.0.0:0"
    } else {
        "[::]:0"
    };
    let socket = UdpSocket::bind(any).await.ok()?;
    // Datagrams from other addresses are not read.
    socket.connect(client.to).await.ok()?;
    client.lane.requests.wait().await;
    socket.send(MEMCACHED_STATS).await.ok()?;
    let mut bytes = [0; 2048];
    let length = timeout(client.timeout, socket.recv(&mut bytes))
        .await
        .ok()?
        .ok()?;
    let response = bytes.get(..length)?;
    let has_id = response.get(..2) == MEMCACHED_STATS.get(..2);
    let text = String::from_utf8_lossy(response.get(8..).filter(|_| has_id)?);
    if !text.starts_with("STAT ") {
        return None;
    }
    let version = super::line_with(&text, "STAT version").unwrap_or("STAT");
    let result = format!(
        "{version}; {} bytes sent, at least {length} received",
        MEMCACHED_STATS.len()
    );
    let proof = AccessProof::new(kind::MEMCACHED_UDP, "stats by UDP", &result);
    Some(AccessProof {
        protocol: "udp",
        cve: Some(AMPLIFICATION),
        ..proof
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn startup_message_has_its_length() {
        assert_eq!(usize::from(POSTGRES_START[3]), POSTGRES_START.len());
        assert_eq!(
            usize::from(AUTHENTICATION_OK[4]) + 1,
            AUTHENTICATION_OK.len()
        );
    }
}
