//! JSON Web Tokens in public texts: what their contents show about them.
//!
//! A token in a page is often meant for the browser. It is a secret if it gives the rights of a
//! server, or if everybody can write another one: without a signature, or with a signing key that
//! everybody knows.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::{Sha256, Sha384, Sha512};

use super::secrets::has_sample_word;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenVerdict {
    /// A token of documentation.
    Sample,
    Public,
    /// A secret, with its name.
    Secret(&'static str),
}

/// Signing keys of tutorials and templates.
#[rustfmt::skip]
const KNOWN_KEYS: &[&str] = &[
    "secret", "password", "123456", "12345678", "changeme", "change-me", "key", "jwt", "test", "admin", "private", "default",
    "token", "qwerty", "s3cr3t", "secretkey", "secret-key", "secret_key", "mysecret", "my-secret", "my_secret", "mysecretkey",
    "my-secret-key", "supersecret", "super-secret", "super_secret", "supersecretkey", "jwtsecret", "jwt-secret", "jwt_secret",
    "secret123", "shhhhh", "shhhhhared-secret", "your-256-bit-secret", "your-384-bit-secret", "your-512-bit-secret",
    "your-secret-key", "your_secret_key", "your-jwt-secret", "your_jwt_secret", "a-string-secret-at-least-256-bits-long",
    "super-secret-jwt-token-with-at-least-32-characters-long", "your-super-secret-jwt-token-with-at-least-32-characters-long",
];

/// Judges a token by its header, claims and signature; `None` if it is none.
pub fn judge(token: &str) -> Option<TokenVerdict> {
    let (signed, signature) = token.rsplit_once('.')?;
    let (header, claims) = signed.split_once('.')?;
    let json =
        |part: &str| serde_json::from_slice::<Value>(&URL_SAFE_NO_PAD.decode(part).ok()?).ok();
    let (header, claims) = (json(header)?, json(claims)?);
    let algorithm = header["alg"].as_str()?.to_ascii_lowercase();
    claims.as_object()?;
    let text = claims.to_string().to_ascii_lowercase();
    let is_sample = has_sample_word(&text)
        || ["john doe", "jane doe", "\"joe\""]
            .iter()
            .any(|name| text.contains(name));
    // A signature that cannot be decoded matches no key.
    let signature = URL_SAFE_NO_PAD.decode(signature).unwrap_or_default();
    Some(match () {
        () if is_sample => TokenVerdict::Sample,
        () if claims["role"] == "service_role" => TokenVerdict::Secret("Supabase service_role key"),
        () if algorithm == "none" => TokenVerdict::Secret("JSON Web Token without a signature"),
        () if KNOWN_KEYS
            .iter()
            .any(|key| is_signed_with(signed, &signature, (&algorithm, key.as_bytes()))) =>
        {
            TokenVerdict::Secret("JSON Web Token with a well-known signing key")
        }
        () => TokenVerdict::Public,
    })
}

fn is_signed_with(signed: &str, signature: &[u8], (algorithm, key): (&str, &[u8])) -> bool {
    match algorithm {
        "hs256" => verifies::<Hmac<Sha256>>(signed, signature, key),
        "hs384" => verifies::<Hmac<Sha384>>(signed, signature, key),
        "hs512" => verifies::<Hmac<Sha512>>(signed, signature, key),
        _ => false,
    }
}

fn verifies<M: Mac + KeyInit>(signed: &str, signature: &[u8], key: &[u8]) -> bool {
    let Ok(mut mac) = <M as KeyInit>::new_from_slice(key) else {
        return false;
    };
    mac.update(signed.as_bytes());
    mac.verify_slice(signature).is_ok()
}

/// A token with a signature of HS256.
#[cfg(test)]
pub fn signed_for_tests(signed: &str, key: &[u8]) -> String {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(key).unwrap();
    mac.update(signed.as_bytes());
    format!(
        "{signed}.{}",
        URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(header: &str, claims: &str, key: &[u8]) -> String {
        signed_for_tests(
            &format!(
                "{}.{}",
                URL_SAFE_NO_PAD.encode(header),
                URL_SAFE_NO_PAD.encode(claims)
            ),
            key,
        )
    }

    #[test]
    fn verdict_follows_rights_signature_and_sample_claims() {
        const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;
        const STRONG: &[u8] = b"9kQ2mZx7Lw3Rk8Tb1Vn4Yc6Hs5Jd0Fgq";
        for (header, claims, key, verdict) in [
            (
                HEADER,
                r#"{"iss":"supabase","ref":"kqvmzxlwrk","role":"anon"}"#,
                STRONG,
                TokenVerdict::Public,
            ),
            (
                HEADER,
                r#"{"iss":"supabase","ref":"kqvmzxlwrk","role":"service_role"}"#,
                STRONG,
                TokenVerdict::Secret("Supabase service_role key"),
            ),
            (
                HEADER,
                r#"{"sub":"7","admin":true}"#,
                b"your-256-bit-secret",
                TokenVerdict::Secret("JSON Web Token with a well-known signing key"),
            ),
            (
                r#"{"alg":"None"}"#,
                r#"{"sub":"7"}"#,
                STRONG,
                TokenVerdict::Secret("JSON Web Token without a signature"),
            ),
            (
                r#"{"alg":"RS256"}"#,
                r#"{"sub":"7"}"#,
                b"secret",
                TokenVerdict::Public,
            ),
            (
                HEADER,
                r#"{"sub":"1234567890","name":"John Doe"}"#,
                b"secret",
                TokenVerdict::Sample,
            ),
            (
                HEADER,
                r#"{"iss":"joe","exp":1300819380}"#,
                STRONG,
                TokenVerdict::Sample,
            ),
        ] {
            assert_eq!(
                judge(&token(header, claims, key)),
                Some(verdict),
                "{header} {claims}"
            );
        }
        assert_eq!(judge("eyJhIjoxfQ.eyJhIjoxfQ.x"), None, "no algorithm");
    }
}
