//! Services that are meant for other servers: application servers by AJP and FastCGI, and
//! ZooKeeper.

use super::{AccessProof, line_with};
use crate::engine::kinds::unauthenticated as kind;
use crate::engine::ports::client::PortClient;
use crate::engine::ports::service_probes::FASTCGI_VALUES;

/// Requests `HEAD /` of the application behind an AJP connector. A connector with a secret refuses
/// every request without it by 403; an application that responds with 403 counts as protected too.
pub async fn ajp(client: &PortClient<'_>) -> Option<AccessProof> {
    let mut connection = client.connect().await?;
    let response = connection
        .exchange_until(&ajp_request(client.host), |bytes| bytes.len() >= 7)
        .await;
    // A packet of the container with the headers of the response.
    let [b'A', b'B', _, _, 4, high, low, ..] = response[..] else {
        return None;
    };
    let status = u16::from_be_bytes([high, low]);
    let is_granted = (100..600).contains(&status) && status != 403;
    is_granted.then(|| {
        AccessProof::new(
            kind::AJP,
            "HEAD / without a secret",
            &format!("status {status}"),
        )
    })
}

/// A Forward Request of AJP 1.3 with the header Host (Apache Tomcat Connectors, AJP Protocol
/// Reference).
fn ajp_request(host: &str) -> Vec<u8> {
    const HEAD: u8 = 3;
    const HOST: u16 = 0xa00b;
    let mut body = vec![2, HEAD];
    let text = |text: &str| {
        let mut all = u16::try_from(text.len())
            .unwrap_or_default()
            .to_be_bytes()
            .to_vec();
        all.extend(text.bytes());
        all.push(0);
        all
    };
    body.extend(text("HTTP/1.1"));
    body.extend(text("/"));
    // The address of the client, which no rule trusts: one for documents (RFC 5737).
    body.extend(text("192.0.2.1"));
    body.extend(text("scandeck.invalid"));
    body.extend(text(host));
    body.extend(80_u16.to_be_bytes());
    // No TLS, one header, no attributes.
    body.extend([0, 0, 1]);
    body.extend(HOST.to_be_bytes());
    body.extend(text(host));
    body.push(0xff);
    let mut all = vec![0x12, 0x34];
    all.extend(u16::try_from(body.len()).unwrap_or_default().to_be_bytes());
    all.extend(body);
    all
}

/// Requests the values of the FastCGI application manager; a request for a script would run it.
pub async fn fastcgi(client: &PortClient<'_>) -> Option<AccessProof> {
    let response = client.exchange(FASTCGI_VALUES).await;
    // FCGI_GET_VALUES_RESULT, request 0.
    let is_granted = matches!(response[..], [1, 10, 0, 0, ..]);
    is_granted.then(|| AccessProof::new(kind::FASTCGI, "FCGI_GET_VALUES", "FCGI_GET_VALUES_RESULT"))
}

/// Sends an administrative command that only reads, and that is off by default since 3.5.3; `srvr`
/// cannot be switched off, so its response proves nothing. No session is opened, so no node is
/// read.
pub async fn zookeeper(client: &PortClient<'_>) -> Option<AccessProof> {
    let response = client.exchange(b"envi").await;
    let text = String::from_utf8_lossy(&response);
    let version = line_with(&text, "zookeeper.version=")?;
    Some(AccessProof::new(kind::ZOOKEEPER, "command envi", version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_of_ajp_has_its_length() {
        let request = ajp_request("shop.test");
        assert_eq!(
            usize::from(u16::from_be_bytes([request[2], request[3]])),
            request.len() - 4
        );
        assert_eq!(request[4..6], [2, 3]);
        assert_eq!(request.last(), Some(&0xff));
    }
}
