//! Key exchange: the shared secret, and the message that gives the server its part.

use aws_lc_rs::agreement::{self, EphemeralPrivateKey, UnparsedPublicKey};
use aws_lc_rs::rand::SystemRandom;
use num_bigint::BigUint;
use tokio::task::spawn_blocking;
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::public_key::PublicKey;

use super::suite::KeyExchange;
use crate::engine::tls::hello::{Version, push};

/// The curves to offer: X25519, P-256, P-384, P-521.
pub const CURVES: &[u16] = &[29, 23, 24, 25];

/// Bits of an RSA key or of a prime above which the arithmetic would take too long.
const MAX_BITS: u64 = 8192;
/// Bytes of the secret of an RSA key exchange.
const RSA_SECRET: usize = 48;

/// The shared secret, and the body of ClientKeyExchange.
#[derive(Debug, PartialEq, Eq)]
pub struct AgreedSecret {
    pub secret: Vec<u8>,
    pub message: Vec<u8>,
}

/// Agrees on a secret. `message` is the body of ServerKeyExchange, empty if there was none; its
/// signature is not read. None if the server sent unusable parameters.
pub async fn agree(
    exchange: KeyExchange,
    offered: Version,
    certificate: Vec<u8>,
    message: Vec<u8>,
) -> Option<AgreedSecret> {
    let arithmetic = move || match exchange {
        KeyExchange::Rsa => encrypted(offered, &certificate),
        KeyExchange::FiniteField => finite_field(&message),
        KeyExchange::EllipticCurve => elliptic_curve(&message),
    };
    // Arithmetic with a long prime takes tens of milliseconds and would block a thread of the
    // runtime.
    spawn_blocking(arithmetic).await.ok().flatten()
}

/// A random secret, encrypted by PKCS #1 v1.5. The arithmetic is done here, since libraries refuse
/// short keys.
fn encrypted(offered: Version, certificate: &[u8]) -> Option<AgreedSecret> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    let PublicKey::RSA(key) = certificate.public_key().parsed().ok()? else {
        return None;
    };
    let (modulus, exponent) = (
        BigUint::from_bytes_be(key.modulus),
        BigUint::from_bytes_be(key.exponent),
    );
    let size = modulus.bits().div_ceil(8) as usize;
    if modulus.bits() > MAX_BITS || exponent.bits() > 64 || size < RSA_SECRET + 11 {
        return None;
    }
    // The server checks the version of the hello.
    let mut secret = Vec::from(offered.wire());
    secret.extend(rand::random::<[u8; RSA_SECRET - 2]>());
    let mut block = vec![0, 2];
    // Padding has no zeros.
    block.extend((0..size - RSA_SECRET - 3).map(|_| rand::random_range(1..=u8::MAX)));
    block.push(0);
    block.extend(&secret);
    let sealed = padded(
        &BigUint::from_bytes_be(&block).modpow(&exponent, &modulus),
        size,
    );
    let mut message = Vec::new();
    push(&mut message, 2, &sealed);
    Some(AgreedSecret { secret, message })
}

fn finite_field(message: &[u8]) -> Option<AgreedSecret> {
    let (prime, rest) = vector(message, 2)?;
    let (generator, rest) = vector(rest, 2)?;
    let (theirs, _) = vector(rest, 2)?;
    let [prime, generator, theirs] = [prime, generator, theirs].map(BigUint::from_bytes_be);
    let one = BigUint::from(1_u8);
    if prime.bits() > MAX_BITS
        || !prime.bit(0)
        || theirs <= one
        || theirs >= prime
        || generator <= one
    {
        return None;
    }
    // 256 bits of exponent are enough for every prime, and fast.
    let exponent = BigUint::from_bytes_be(&rand::random::<[u8; 32]>());
    let mine = generator.modpow(&exponent, &prime);
    let mut message = Vec::new();
    push(&mut message, 2, &mine.to_bytes_be());
    // Without leading zeros (RFC 5246 §8.1.2).
    Some(AgreedSecret {
        secret: theirs.modpow(&exponent, &prime).to_bytes_be(),
        message,
    })
}

fn elliptic_curve(message: &[u8]) -> Option<AgreedSecret> {
    // 3: a curve by its number.
    let [3, a, b, rest @ ..] = message else {
        return None;
    };
    let algorithm = match u16::from_be_bytes([*a, *b]) {
        29 => &agreement::X25519,
        23 => &agreement::ECDH_P256,
        24 => &agreement::ECDH_P384,
        25 => &agreement::ECDH_P521,
        _ => return None,
    };
    let (theirs, _) = vector(rest, 1)?;
    let mine = EphemeralPrivateKey::generate(algorithm, &SystemRandom::new()).ok()?;
    let point = mine.compute_public_key().ok()?;
    let theirs = UnparsedPublicKey::new(algorithm, theirs);
    let secret = agreement::agree_ephemeral(mine, theirs, (), |secret| Ok(secret.to_vec())).ok()?;
    let mut message = Vec::new();
    push(&mut message, 1, point.as_ref());
    Some(AgreedSecret { secret, message })
}

/// Bytes preceded by their length, and the rest.
fn vector(bytes: &[u8], width: usize) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_at_checked(width)?;
    let length = length
        .iter()
        .fold(0, |length, byte| length << 8 | usize::from(*byte));
    rest.split_at_checked(length)
}

fn padded(number: &BigUint, size: usize) -> Vec<u8> {
    let bytes = number.to_bytes_be();
    [vec![0; size.saturating_sub(bytes.len())], bytes].concat()
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use proptest::prelude::*;

    use super::*;

    fn parameters(parts: [&[u8]; 3]) -> Vec<u8> {
        let mut message = Vec::new();
        parts.iter().for_each(|part| push(&mut message, 2, part));
        message
    }

    #[test]
    fn both_sides_of_finite_field_have_one_secret() {
        // A prime of 61 bits.
        let prime = 0x1fff_ffff_ffff_ffff_u64.to_be_bytes();
        let (field, exponent) = (
            BigUint::from_bytes_be(&prime),
            BigUint::from(0x0123_4567_89ab_u64),
        );
        let theirs = BigUint::from(37_u8).modpow(&exponent, &field).to_bytes_be();
        let agreed = finite_field(&parameters([&prime, &[37], &theirs])).unwrap();
        let mine = BigUint::from_bytes_be(&agreed.message[2..]);
        assert_eq!(agreed.secret, mine.modpow(&exponent, &field).to_bytes_be());
    }

    #[test]
    fn useless_parameters_are_refused() {
        for parts in [
            [&[0][..], &[2], &[3]],
            [&[], &[], &[]],
            [&[8], &[2], &[3]],
            [&[23], &[1], &[3]],
            [&[23], &[2], &[0]],
            [&[23], &[2], &[1]],
            [&[23], &[2], &[23]],
            [&[0xff; 1025], &[2], &[3]],
        ] {
            assert_eq!(finite_field(&parameters(parts)), None, "{parts:?}");
        }
        // A curve that was not offered, and a point that is not on its curve.
        assert_eq!(elliptic_curve(&[3, 0, 22, 1, 4]), None);
        assert_eq!(
            elliptic_curve(&[[3, 0, 23, 65, 4].as_slice(), &[7; 64]].concat()),
            None
        );
    }

    #[test]
    fn arithmetic_waits_for_a_thread_outside_the_runtime() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(1)
            .build()
            .unwrap();
        let (release, released) = std::sync::mpsc::channel::<()>();
        runtime.block_on(async {
            let busy = spawn_blocking(move || released.recv());
            let message = parameters([&[0xff; MAX_BITS as usize / 8], &[2], &[3]]);
            let mut agreeing = pin!(agree(
                KeyExchange::FiniteField,
                Version::Tls12,
                Vec::new(),
                message
            ));
            assert!(futures::poll!(&mut agreeing).is_pending());
            release.send(()).unwrap();
            busy.await.unwrap().unwrap();
            assert!(agreeing.await.is_some());
        });
    }

    proptest! {
        #[test]
        fn any_message_is_read_without_panic(
            message in prop::collection::vec(any::<u8>(), 0..100),
            exchange in proptest::sample::select(&[KeyExchange::Rsa, KeyExchange::FiniteField, KeyExchange::EllipticCurve][..]),
        ) {
            match exchange {
                KeyExchange::Rsa => encrypted(Version::Tls12, &message),
                KeyExchange::FiniteField => finite_field(&message),
                KeyExchange::EllipticCurve => elliptic_curve(&message),
            };
        }
    }
}
