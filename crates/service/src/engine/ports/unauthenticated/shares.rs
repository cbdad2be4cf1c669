//! File shares: NFS exports for every client, and SMB servers with weak settings.

use std::net::SocketAddr;

use super::{AccessProof, null_session};
use crate::engine::kinds::{smb as smb_kind, unauthenticated as kind};
use crate::engine::ports::client::{PortClient, PortConnection};
use crate::engine::ports::rpc::{self, RpcCall};
use crate::engine::ports::service_probes::SMB_NEGOTIATE;

/// Exports that a server lists, at most.
const MAX_EXPORTS: usize = 1000;
/// Exports in the evidence.
const MAX_NAMED: usize = 5;
/// Groups of clients that are everybody.
const EVERYBODY: &[&str] = &["*", "(everyone)", "0.0.0.0/0", "0.0.0.0/0.0.0.0", "::/0"];

/// Requests the list of exports that `showmount -e` prints; nothing is mounted.
pub async fn nfs(client: &PortClient<'_>) -> Option<AccessProof> {
    // The port of the mount service by TCP.
    let port = rpc::port_of_mountd(&call(client, &rpc::MOUNTD_PORT).await?)?;
    let mountd = PortClient {
        to: SocketAddr::new(client.to.ip(), port),
        ..*client
    };
    let exports = rpc::exports(&call(&mountd, &rpc::EXPORTS).await?, MAX_EXPORTS)?;
    let is_open = |groups: &[String]| {
        groups.is_empty() || groups.iter().any(|one| EVERYBODY.contains(&one.as_str()))
    };
    let open: Vec<&str> = exports
        .iter()
        .filter(|one| is_open(&one.groups))
        .map(|one| one.path.as_str())
        .collect();
    let named = open
        .iter()
        .take(MAX_NAMED)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    let more = match open.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!open.is_empty()).then(|| {
        AccessProof::new(
            kind::NFS,
            "list of exports",
            &format!("for every client: {named}{more}"),
        )
    })
}

/// The results of a call by TCP.
async fn call(client: &PortClient<'_>, call: &RpcCall) -> Option<Vec<u8>> {
    let response = client
        .connect()
        .await?
        .exchange_until(&call.record(), rpc::is_complete)
        .await;
    rpc::results(&response)
}

/// A negotiation of SMB 1 alone (MS-CIFS §2.2.4.52.1).
const SMB1_NEGOTIATE: &[u8] =
    b"\0\0\0\x2f\xffSMB\x72\0\0\0\0\x18\x01\x48\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff\x01\0\0\0\0\0\0\x0c\0\x02NT LM 0.12\0";

/// Reads what an SMB server offers without a log-in: SMB 1, messages without signature, and its
/// list of shares.
pub async fn smb(client: &PortClient<'_>) -> Vec<AccessProof> {
    let mut proofs = Vec::new();
    let old = negotiate(client, SMB1_NEGOTIATE).await.unwrap_or_default();
    if let Some([0xff, b'S', b'M', b'B', 0x72, 0, 0, 0, 0]) = old.get(4..13)
        && let Some(&[words, low, high]) = old.get(36..39)
        // The dialect of this number was accepted; 0xffff is none.
        && words > 1 && [low, high] == [0, 0]
    {
        proofs.push(AccessProof::new(
            smb_kind::SMB1,
            "negotiation of SMB 1 (NT LM 0.12)",
            "accepted",
        ));
    }
    let new = negotiate(client, SMB_NEGOTIATE).await.unwrap_or_default();
    if let Some((dialect, security)) = smb2_security(&new)
        && security & SIGNING_REQUIRED == 0
    {
        let result = format!("dialect {dialect}, signing not required");
        proofs.push(AccessProof::new(
            smb_kind::SIGNING,
            "negotiation of SMB 2",
            &result,
        ));
    }
    proofs.extend(null_session::shares(client).await);
    proofs
}

async fn negotiate(client: &PortClient<'_>, request: &[u8]) -> Option<Vec<u8>> {
    let mut connection: PortConnection = client.connect().await?;
    Some(connection.exchange_until(request, is_complete).await)
}

/// Whether all bytes are there that the NetBIOS header announces.
fn is_complete(bytes: &[u8]) -> bool {
    matches!(bytes, [0, a, b, c, rest @ ..] if rest.len() >= u32::from_be_bytes([0, *a, *b, *c]) as usize)
}

/// A NetBIOS header, an SMB 2 header, and the fields of a negotiation that are read.
const SMB2_LENGTH: usize = 4 + 64 + 6;
/// SMB2_NEGOTIATE_SIGNING_REQUIRED (MS-SMB2 §2.2.4).
const SIGNING_REQUIRED: u8 = 2;

/// Dialect and security mode of a response to an SMB 2 negotiation.
fn smb2_security(response: &[u8]) -> Option<(String, u8)> {
    let header = response
        .get(4..68)
        .filter(|header| header.starts_with(b"\xfeSMB"))?;
    // The status, the command, and a response.
    let is_granted = header.get(8..14)? == [0; 6] && header.get(16)? & 1 == 1;
    let [65, 0, security, _, minor, major] = *response.get(68..SMB2_LENGTH)? else {
        return None;
    };
    let dialect = if minor == 0xff {
        "2".to_owned()
    } else {
        format!("{major}.{}.{}", minor >> 4, minor & 15)
    };
    is_granted.then_some((dialect, security))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negotiations_have_their_lengths() {
        for request in [SMB1_NEGOTIATE, SMB_NEGOTIATE] {
            assert_eq!(usize::from(request[3]), request.len() - 4);
            assert_eq!(
                usize::from(request[37]),
                request.len() - 39,
                "bytes of the dialects"
            );
        }
    }

    #[test]
    fn security_mode_is_read_from_complete_responses_only() {
        let mut response = b"\0\0\0\x46\xfeSMB\x40\0\0\0\0\0\0\0\0\0\x01\0\x01".to_vec();
        response.resize(68, 0);
        response.extend([65, 0, 3, 0, 0x11, 3]);
        assert_eq!(smb2_security(&response), Some(("3.1.1".to_owned(), 3)));
        for end in 0..response.len() {
            assert_eq!(smb2_security(&response[..end]), None, "{end}");
        }
        // STATUS_NOT_SUPPORTED.
        response[12] = 0xbb;
        assert_eq!(smb2_security(&response), None);
    }
}
