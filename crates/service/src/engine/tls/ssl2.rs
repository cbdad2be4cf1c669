//! An SSL 2.0 hello, and the parser of the server's response.
//!
//! ```text
//!   ► CLIENT-HELLO: all cipher kinds, a challenge
//!   ◄ SERVER-HELLO: the certificate, and the cipher kinds that the server accepts
//! ```
//!
//! The protocol has no records of TLS. Its only message that is read here is the SERVER-HELLO,
//! which proves support.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::TlsAnswer;

/// The cipher kinds of SSL 2.0.
const KINDS: &[(u32, &str)] = &[
    (0x01_0080, "RC4_128_WITH_MD5"),
    (0x02_0080, "RC4_128_EXPORT40_WITH_MD5"),
    (0x03_0080, "RC2_128_CBC_WITH_MD5"),
    (0x04_0080, "RC2_128_CBC_EXPORT40_WITH_MD5"),
    (0x05_0080, "IDEA_128_CBC_WITH_MD5"),
    (0x06_0040, "DES_64_CBC_WITH_MD5"),
    (0x07_00c0, "DES_192_EDE3_CBC_WITH_MD5"),
];
const SERVER_HELLO: u8 = 4;

/// Sends the hello, and reads the response.
pub async fn handshake(mut stream: TcpStream, answer: &mut TlsAnswer) {
    if stream
        .write_all(&client_hello(rand::random()))
        .await
        .is_err()
    {
        return;
    }
    let mut head = [0; 2];
    if stream.read_exact(&mut head).await.is_err() {
        return;
    }
    // An alert of a newer version: the rest of its header follows.
    if (20..=24).contains(&head[0]) && head[1] == 3 {
        answer.is_tls = true;
        return;
    }
    // The first bit marks a header without padding.
    if head[0] & 0x80 == 0 {
        return;
    }
    let length = usize::from(u16::from_be_bytes(head) & 0x7fff);
    let mut body = vec![0; length];
    if stream.read_exact(&mut body).await.is_ok()
        && let Some(read) = server_hello(&body)
    {
        *answer = read;
    }
}

fn client_hello(challenge: [u8; 16]) -> Vec<u8> {
    let kinds: Vec<u8> = KINDS
        .iter()
        .flat_map(|(kind, _)| kind.to_be_bytes()[1..].to_vec())
        .collect();
    let mut body = vec![1, 0, 2];
    body.extend((kinds.len() as u16).to_be_bytes());
    // No session id, and the length of the challenge.
    body.extend([0, 0, 0, 16]);
    body.extend(kinds);
    body.extend(challenge);
    let mut all = (0x8000 | body.len() as u16).to_be_bytes().to_vec();
    all.extend(body);
    all
}

fn server_hello(body: &[u8]) -> Option<TlsAnswer> {
    let [
        SERVER_HELLO,
        _session,
        _kind,
        0,
        2,
        a,
        b,
        c,
        d,
        _,
        _,
        rest @ ..,
    ] = body
    else {
        return None;
    };
    let certificate = usize::from(u16::from_be_bytes([*a, *b]));
    let kinds = usize::from(u16::from_be_bytes([*c, *d]));
    let chain = rest
        .get(..certificate)
        .filter(|der| !der.is_empty())
        .map(<[u8]>::to_vec)
        .into_iter()
        .collect();
    let kinds = rest.get(certificate..certificate + kinds)?;
    let names = kinds.chunks_exact(3).map(|kind| {
        let number = u32::from_be_bytes([0, kind[0], kind[1], kind[2]]);
        KINDS
            .iter()
            .find(|(known, _)| *known == number)
            .map_or("unknown", |(_, name)| *name)
    });
    let cipher = names.take(KINDS.len()).collect::<Vec<_>>().join(", ");
    Some(TlsAnswer {
        is_tls: true,
        accepted: true,
        cipher,
        chain,
        ..TlsAnswer::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_hello_has_its_length() {
        let hello = client_hello([7; 16]);
        assert_eq!(
            hello.len() - 2,
            usize::from(u16::from_be_bytes([hello[0], hello[1]]) & 0x7fff)
        );
        assert_eq!(hello[2..5], [1, 0, 2]);
    }

    #[test]
    fn server_hello_names_kinds_and_certificate() {
        let body = [
            &[4, 0, 1, 0, 2, 0, 2, 0, 6, 0, 0][..],
            &[9, 9],
            &[2, 0, 0x80, 7, 0, 0xc0],
        ]
        .concat();
        let answer = server_hello(&body).unwrap();
        assert!(answer.accepted && answer.chain == [vec![9, 9]]);
        assert_eq!(
            answer.cipher,
            "RC4_128_EXPORT40_WITH_MD5, DES_192_EDE3_CBC_WITH_MD5"
        );
        for end in 0..body.len() {
            assert!(
                server_hello(&body[..end]).is_none_or(|answer| answer.cipher.is_empty()),
                "{end}"
            );
        }
    }
}
