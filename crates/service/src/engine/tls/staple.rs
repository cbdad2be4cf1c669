//! Certificates that require an OCSP response in the handshake (must-staple, RFC 7633), and servers
//! that send none.
//!
//! ```text
//!   certificate with the feature status_request ─► handshakes that request the response ─► none in three? ─► unstapled
//! ```
//!
//! Some servers fetch the response only after the first request for it, so the request is repeated.

use tokio::time::sleep;

use super::certificate::requires_staple;
use super::hello::{Offer, Version};
use super::modern::KeyKind;
use super::{RETRY_PAUSE, Server, TlsAnswer, VersionAnswer};

/// Handshakes without a response before it counts as missing.
const ATTEMPTS: usize = 3;

impl Server<'_> {
    /// The certificates of these chains that require an OCSP response which the server does not
    /// send.
    pub(super) async fn unstapled(
        &self,
        chains: &[Vec<Vec<u8>>],
        answers: &[VersionAnswer],
    ) -> Vec<Vec<u8>> {
        let leaves = chains.iter().filter_map(|chain| chain.first());
        let mut unstapled: Vec<Vec<u8>> = leaves
            .filter(|leaf| requires_staple(leaf))
            .cloned()
            .collect();
        for at in (0..unstapled.len()).rev() {
            if self.is_stapled(&unstapled[at], answers).await != Some(false) {
                unstapled.remove(at);
            }
        }
        unstapled
    }

    /// Whether an OCSP response comes with this certificate; `None` if no handshake had the
    /// certificate.
    async fn is_stapled(&self, leaf: &[u8], answers: &[VersionAnswer]) -> Option<bool> {
        let mut has_leaf = false;
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                sleep(RETRY_PAUSE).await;
            }
            for answer in self.with_status_request(leaf, answers).await {
                if answer.chain.first().is_some_and(|first| first == leaf) {
                    has_leaf = true;
                    if answer.is_stapled {
                        return Some(true);
                    }
                }
            }
        }
        has_leaf.then_some(false)
    }

    /// Handshakes that request the response: by TLS 1.3, one for each kind of key; and one by an
    /// older version.
    async fn with_status_request(&self, leaf: &[u8], answers: &[VersionAnswer]) -> Vec<TlsAnswer> {
        let mut all = Vec::new();
        if answers
            .iter()
            .any(|one| one.version == Version::Tls13 && one.answer.accepted)
        {
            for keys in [KeyKind::Rsa, KeyKind::Elliptic] {
                all.extend(self.modern(keys).await);
            }
        }
        if let Some(offer) = old_offer(leaf, answers) {
            all.push(self.handshake(&offer).await);
        }
        all
    }
}

/// The hello by which the newest version up to TLS 1.2 sends this certificate; SSL has no
/// extensions.
fn old_offer(leaf: &[u8], answers: &[VersionAnswer]) -> Option<Offer> {
    let old = answers
        .iter()
        .rev()
        .filter(|one| (Version::Tls10..=Version::Tls12).contains(&one.version));
    let mut suites = old.flat_map(|one| one.suites.iter().map(move |answer| (one.version, answer)));
    let (version, answer) =
        suites.find(|(_, answer)| answer.chain.first().is_some_and(|first| first == leaf))?;
    Some(Offer {
        status_request: true,
        ..Offer::new(version, answer.suite.into_iter().collect())
    })
}
