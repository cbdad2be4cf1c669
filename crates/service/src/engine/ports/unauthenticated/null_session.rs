//! The null session of SMB 2 (MS-SMB2): whether the server lists its shares without a user.
//!
//! ```text
//!   negotiation ─► anonymous session (MS-NLMP) ─► tree IPC$ ─► pipe srvsvc ─► list of shares (MS-SRVS) ─► number of shares
//! ```
//!
//! Windows grants the session and the tree to everybody, so only the list is a proof. No share is
//! opened, and the end of the connection ends the session.

use std::time::Duration;

use super::AccessProof;
use crate::engine::kinds::unauthenticated as kind;
use crate::engine::ports::client::{PortClient, PortConnection};

const HEADER: usize = 64;
const NEGOTIATE: u16 = 0;
const SESSION_SETUP: u16 = 1;
const TREE_CONNECT: u16 = 3;
const CREATE: u16 = 5;
const IOCTL: u16 = 11;

const SUCCESS: u32 = 0;
/// The response follows in another message.
const PENDING: u32 = 0x103;
/// The first half of a session set-up.
const MORE_PROCESSING_REQUIRED: u32 = 0xc000_0016;

/// A client of SMB 2.0.2 and 2.1, which signs if it must.
const DIALECTS: &[u8] =
    b"\x24\0\x02\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x02\x02\x10\x02";
/// NEGOTIATE_MESSAGE: Unicode, NTLM, extended session security.
const NTLM_NEGOTIATE: &[u8] = b"NTLMSSP\0\x01\0\0\0\x05\x82\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
/// AUTHENTICATE_MESSAGE of the anonymous user: no names, no response, the flag for it (MS-NLMP
/// §3.2.5.1.2).
const NTLM_ANONYMOUS: &[u8] =
    b"NTLMSSP\0\x03\0\0\0\x01\0\x01\0\x40\0\0\0\0\0\0\0\x41\0\0\0\0\0\0\0\x41\0\0\0\0\0\0\0\x41\0\0\0\
    \0\0\0\0\x41\0\0\0\0\0\0\0\x41\0\0\0\x05\x8a\x08\0\0";
/// Opens a pipe for reading and writing, which a call needs; the name follows.
const OPEN_PIPE: &[u8] =
    b"\x39\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x9f\x01\x12\0\0\0\0\0\x07\0\0\0\x01\0\0\0\0\0\0\0";
/// Binds to the interface srvsvc 3.0 by NDR (C706, bind).
const RPC_BIND: &[u8] = b"\x05\0\x0b\x03\x10\0\0\0\x48\0\0\0\x01\0\0\0\xb8\x10\xb8\x10\0\0\0\0\x01\0\0\0\0\0\x01\0\xc8\x4f\x32\x4b\
    \x70\x16\xd3\x01\x12\x78\x5a\x47\xbf\x6e\xe1\x88\x03\0\0\0\x04\x5d\x88\x8a\xeb\x1c\xc9\x11\x9f\xe8\x08\0\x2b\x10\x48\x60\x02\0\0\0";
/// NetrShareEnum, level 1, of all shares.
const RPC_SHARES: &[u8] =
    b"\x05\0\0\x03\x10\0\0\0\x38\0\0\0\x02\0\0\0\x20\0\0\0\0\0\x0f\0\0\0\0\0\x01\0\0\0\x01\0\0\0\0\0\x02\0\
    \0\0\0\0\0\0\0\0\xff\xff\xff\xff\0\0\0\0";
const RPC_BIND_ACK: u8 = 12;
const RPC_RESPONSE: u8 = 2;
/// Samba starts the program behind the pipe at its first use.
const PATIENCE: Duration = Duration::from_secs(5);
/// Shares of one server, at most: a greater number is no list.
const MAX_SHARES: u32 = 100_000;

/// Requests the list of shares without a user.
pub async fn shares(client: &PortClient<'_>) -> Option<AccessProof> {
    let connection = client.connect().await?.with_timeout(PATIENCE);
    let mut session = SmbSession {
        connection,
        message: 0,
        session: [0; 8],
        tree: [0; 4],
    };
    session.granted(NEGOTIATE, DIALECTS).await?;
    let begun = session.call(SESSION_SETUP, &setup(NTLM_NEGOTIATE)).await?;
    begun.has(MORE_PROCESSING_REQUIRED).then_some(())?;
    session
        .granted(SESSION_SETUP, &setup(NTLM_ANONYMOUS))
        .await?;
    let path = utf16(&format!("\\\\{}\\IPC$", client.to.ip()));
    session
        .granted(
            TREE_CONNECT,
            &[b"\x09\0\0\0\x48\0", &length(&path)[..], &path].concat(),
        )
        .await?;
    let name = utf16("srvsvc");
    let open = [OPEN_PIPE, b"\x78\0", &length(&name), &[0; 8], &name].concat();
    let pipe: [u8; 16] = session.granted(CREATE, &open).await?.field(64)?;
    let bound = session.transceive(&pipe, RPC_BIND).await?;
    (bound.get(2) == Some(&RPC_BIND_ACK)).then_some(())?;
    let count = share_count(&session.transceive(&pipe, RPC_SHARES).await?)?;
    let result = format!(
        "list of {}",
        scandeck_wire::text::plural(count as usize, "share")
    );
    Some(AccessProof::new(
        kind::SMB,
        "NetrShareEnum without a user",
        &result,
    ))
}

/// A session set-up with a message of NTLM.
fn setup(ntlm: &[u8]) -> Vec<u8> {
    [
        &b"\x19\0\0\x01\0\0\0\0\0\0\0\0\x58\0"[..],
        &length(ntlm),
        &[0; 8],
        ntlm,
    ]
    .concat()
}

fn length(bytes: &[u8]) -> [u8; 2] {
    u16::try_from(bytes.len()).unwrap_or_default().to_le_bytes()
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// The number of shares in a response of NetrShareEnum: level, container, pointer, number, shares,
/// …, status.
fn share_count(response: &[u8]) -> Option<u32> {
    let stub = response
        .get(24..)
        .filter(|_| response.get(2) == Some(&RPC_RESPONSE))?;
    let word = |at: usize| {
        stub.get(at..)
            .and_then(|rest| rest.first_chunk())
            .map(|word| u32::from_le_bytes(*word))
    };
    let (level, count) = (word(0)?, word(12)?);
    (level == 1 && word(8)? != 0 && count <= MAX_SHARES && stub.ends_with(&[0; 4])).then_some(count)
}

struct SmbSession<'a> {
    connection: PortConnection<'a>,
    /// Number of the next message.
    message: u64,
    session: [u8; 8],
    tree: [u8; 4],
}

/// A message of the server, without the header of NetBIOS.
struct SmbMessage(Vec<u8>);

impl SmbMessage {
    fn has(&self, status: u32) -> bool {
        self.0.get(8..12) == Some(&status.to_le_bytes()[..])
    }

    /// Bytes of the body.
    fn field<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.0.get(HEADER + at..)?.first_chunk().copied()
    }
}

impl SmbSession<'_> {
    async fn call(&mut self, command: u16, body: &[u8]) -> Option<SmbMessage> {
        let mut message = b"\xfeSMB\x40\0\x01\0\0\0\0\0".to_vec();
        message.extend(command.to_le_bytes());
        // One credit, no flags, no next message.
        message.extend([1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        message.extend(self.message.to_le_bytes());
        message.extend([0; 4]);
        message.extend(self.tree);
        message.extend(self.session);
        message.extend([0; 16]);
        message.extend(body);
        self.message += 1;
        let record = [
            &u32::try_from(message.len()).ok()?.to_be_bytes()[..],
            &message,
        ]
        .concat();
        let received = self
            .connection
            .exchange_until(&record, |bytes| final_message(bytes).is_some())
            .await;
        let response =
            final_message(&received).filter(|response| response.starts_with(b"\xfeSMB"))?;
        self.session = *response.get(40..)?.first_chunk()?;
        if command == TREE_CONNECT {
            self.tree = *response.get(36..)?.first_chunk()?;
        }
        (response.get(12..14) == Some(&command.to_le_bytes()[..]))
            .then(|| SmbMessage(response.to_vec()))
    }

    /// The response to a command that the server grants.
    async fn granted(&mut self, command: u16, body: &[u8]) -> Option<SmbMessage> {
        self.call(command, body)
            .await
            .filter(|response| response.has(SUCCESS))
    }

    /// Writes to a pipe and reads its response (FSCTL_PIPE_TRANSCEIVE).
    async fn transceive(&mut self, pipe: &[u8; 16], data: &[u8]) -> Option<Vec<u8>> {
        let count = u32::try_from(data.len()).ok()?.to_le_bytes();
        let mut body = b"\x39\0\0\0\x17\xc0\x11\0".to_vec();
        body.extend(pipe);
        // Offset and length of the data, no other input, at most 4 KiB of output, a file system
        // control.
        body.extend(
            [
                &120_u32.to_le_bytes()[..],
                &count,
                &[0; 12],
                &4096_u32.to_le_bytes(),
                &[1, 0, 0, 0, 0, 0, 0, 0],
            ]
            .concat(),
        );
        body.extend(data);
        let response = self.call(IOCTL, &body).await?;
        let (offset, count) = (
            u32::from_le_bytes(response.field(32)?),
            u32::from_le_bytes(response.field(36)?),
        );
        response
            .0
            .get(offset as usize..)?
            .get(..count as usize)
            .map(<[u8]>::to_vec)
    }
}

/// The first complete message whose response does not follow later.
fn final_message(bytes: &[u8]) -> Option<&[u8]> {
    let mut rest = bytes;
    loop {
        let [0, a, b, c, content @ ..] = rest else {
            return None;
        };
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        let message = content.get(..length)?;
        if message.get(8..12) != Some(&PENDING.to_le_bytes()[..]) {
            return Some(message);
        }
        rest = &content[length..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_their_lengths() {
        assert_eq!(DIALECTS.len(), 36 + 4);
        assert_eq!((NTLM_NEGOTIATE.len(), NTLM_ANONYMOUS.len()), (32, 65));
        assert_eq!(OPEN_PIPE.len() + 2 + 2 + 8, 56, "the name follows");
        for call in [RPC_BIND, RPC_SHARES] {
            assert_eq!(usize::from(call[8]), call.len());
        }
        assert_eq!(usize::from(RPC_SHARES[16]), RPC_SHARES.len() - 24);
    }

    #[test]
    fn message_that_follows_a_pending_one_is_read() {
        let message = |status: u32| {
            let mut body = vec![0; HEADER];
            body[8..12].copy_from_slice(&status.to_le_bytes());
            [&[0, 0, 0, HEADER as u8][..], &body].concat()
        };
        let (pending, done) = (message(PENDING), message(SUCCESS));
        assert_eq!(final_message(&pending), None);
        assert_eq!(
            final_message(&[pending.clone(), done.clone()].concat()),
            Some(&done[4..])
        );
        assert_eq!(final_message(&[pending, done[..9].to_vec()].concat()), None);
    }

    #[test]
    fn shares_are_counted_in_a_list_only() {
        let mut list = vec![5, 0, RPC_RESPONSE, 3];
        list.resize(24, 0);
        list.extend(b"\x01\0\0\0\x01\0\0\0\x04\0\x02\0\x02\0\0\0\0\0\0\0");
        assert_eq!(share_count(&list), Some(2));
        // ERROR_ACCESS_DENIED, a fault, and an end within the list.
        assert_eq!(share_count(&[&list[..], b"\x05\0\0\0"].concat()), None);
        assert_eq!(share_count(&[&list[..2], &[3], &list[3..]].concat()), None);
        assert_eq!(share_count(&list[..36]), None);
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_messages_are_read_without_panic(bytes: Vec<u8>) {
            let _ = (final_message(&bytes), share_count(&bytes), SmbMessage(bytes.clone()).field::<16>(64));
        }
    }
}
