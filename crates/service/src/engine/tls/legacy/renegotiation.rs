//! Whether a server lets its client start a second handshake on a connection (renegotiation).
//!
//! ```text
//!   ► ClientHello, encrypted, with the proof of the first handshake (RFC 5746)
//!   ◄ ServerHello       accepted: the client closes the connection, so that the server has computed one handshake only
//!   ◄ alert, or the end of the connection       refused
//! ```

use std::io;

use rand::random;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::hello::{self, Offer};
use super::{DATA, HANDSHAKE, LegacyStream, exchange};

/// Most records before the response, such as a greeting.
const MAX_RECORDS: usize = 50;

impl<S: AsyncRead + AsyncWrite + Unpin> LegacyStream<S> {
    /// Whether the server responds to a second ClientHello with a ServerHello. The caller limits
    /// the time.
    ///
    /// # Errors
    /// The server broke the protocol, or the connection failed.
    pub async fn accepts_renegotiation(mut self, host: &str) -> io::Result<bool> {
        let mut offer = Offer::new(self.negotiated.version, vec![self.negotiated.suite]);
        offer.groups = exchange::CURVES.to_vec();
        offer.renegotiation = Some(self.renegotiation_proof);
        let hello = hello::client_hello(&offer, host, random());
        self.inner
            .write_all(&self.write.seal(HANDSHAKE, &hello[5..])?)
            .await?;
        for _ in 0..MAX_RECORDS {
            let Some((kind, body)) = hello::read_record(&mut self.inner).await else {
                return Ok(false);
            };
            match (kind, &self.read.open(kind, body)?[..]) {
                // A greeting, or a HelloRequest of a server that wants the same.
                (DATA, _) | (HANDSHAKE, [0, ..]) => {}
                (HANDSHAKE, [2, ..]) => return Ok(true),
                _ => return Ok(false),
            }
        }
        Ok(false)
    }
}
