//! Desktops that everybody can see and control: VNC without a password, X11 without access control.

use super::AccessProof;
use crate::engine::kinds::unauthenticated as kind;
use crate::engine::ports::client::PortClient;
use crate::engine::ports::service_probes::X11_SETUP;

/// The length of a ProtocolVersion message, such as `RFB 003.008\n` (RFC 6143 §7.1.1).
const RFB_VERSION: usize = 12;
/// The security type without authentication (RFC 6143 §7.2.1).
const RFB_NONE: u8 = 1;

/// Reads the security types that a VNC server offers, and selects none of them.
pub async fn vnc(client: &PortClient<'_>) -> Option<AccessProof> {
    let mut connection = client.connect().await?;
    let greeting = connection
        .read_until(|bytes| bytes.len() >= RFB_VERSION)
        .await;
    let version = rfb_version(&greeting)?;
    let types = match version {
        // The server decides by a number of four bytes.
        3 => {
            let response = connection
                .exchange_until(b"RFB 003.003\n", |bytes| bytes.len() >= 4)
                .await;
            vec![
                *response
                    .get(3)
                    .filter(|_| response.starts_with(&[0, 0, 0]))?,
            ]
        }
        _ => {
            let own = format!("RFB 003.00{version}\n");
            let is_complete = |bytes: &[u8]| {
                bytes
                    .first()
                    .is_some_and(|count| bytes.len() > usize::from(*count))
            };
            let response = connection.exchange_until(own.as_bytes(), is_complete).await;
            let count = usize::from(*response.first()?);
            response.get(1..=count)?.to_vec()
        }
    };
    types
        .contains(&RFB_NONE)
        .then(|| AccessProof::new(kind::VNC, "list of security types", "None (1)"))
}

/// The minor version to continue with: that of the server, at most 8. Other versions than 3.7 and
/// later are 3.3.
fn rfb_version(greeting: &[u8]) -> Option<u8> {
    let text = str::from_utf8(greeting.get(..RFB_VERSION)?).ok()?;
    let (major, minor) = text
        .strip_prefix("RFB ")?
        .strip_suffix('\n')?
        .split_once('.')?;
    match (major.parse::<u16>().ok()?, minor.parse::<u16>().ok()?) {
        (3, 7) => Some(7),
        (3, 8..) | (4.., _) => Some(8),
        _ => Some(3),
    }
}

/// The offset of the vendor in a successful reply, and that of its length (X Window System
/// Protocol, §8).
const X11_VENDOR: usize = 40;
const X11_VENDOR_LENGTH: usize = 24;

/// Sends the set-up of a connection without authorization, and reads who made the server.
pub async fn x11(client: &PortClient<'_>) -> Option<AccessProof> {
    let mut connection = client.connect().await?;
    let reply = connection
        .exchange_until(X11_SETUP, |bytes| {
            bytes.len() > X11_VENDOR + 32 || bytes.first().is_some_and(|first| *first != 1)
        })
        .await;
    let ([1, _, 11, 0], Some(&[low, high])) = (
        reply.get(..4)?,
        reply.get(X11_VENDOR_LENGTH..X11_VENDOR_LENGTH + 2),
    ) else {
        return None;
    };
    let length = usize::from(u16::from_le_bytes([low, high]));
    let vendor = reply.get(X11_VENDOR..)?;
    let vendor = String::from_utf8_lossy(vendor.get(..length).unwrap_or(vendor));
    Some(AccessProof::new(
        kind::X11,
        "set-up of a connection without authorization",
        &format!("accepted, vendor {vendor}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_of_rfb_is_that_of_the_server_up_to_8() {
        for (greeting, expected) in [
            (&b"RFB 003.003\n"[..], Some(3)),
            (b"RFB 003.005\n", Some(3)),
            (b"RFB 003.007\n", Some(7)),
            (b"RFB 003.008\n", Some(8)),
            (b"RFB 003.889\n", Some(8)),
            (b"RFB 004.001\n", Some(8)),
            (b"RFB 003.008", None),
            (b"RFB xxx.yyy\n", None),
            (b"SSH-2.0-x\r\n\r\n", None),
        ] {
            assert_eq!(rfb_version(greeting), expected, "{greeting:?}");
        }
    }
}
