//! JSON Web Tokens: header and payload are shown, the signature is not verified.

use super::base64::Base64Run;
use super::{DecodedPart, json};

/// Maximum number of bytes of a formatted part.
const LIMIT: usize = 64 << 10;

/// Header and payload, formatted and as parts.
pub fn read(text: &str) -> Option<(String, Vec<DecodedPart>)> {
    let mut segments = text.split('.');
    let (header, payload, signature) = (segments.next()?, segments.next()?, segments.next()?);
    if segments.next().is_some() {
        return None;
    }
    let header = object(header).filter(|header| header.contains("\"alg\""))?;
    let payload = object(payload)?;
    let signed = if signature.is_empty() {
        "no signature"
    } else {
        "signature"
    };
    let laid_out = format!("header {header}\npayload {payload}\n{signed}, not checked");
    let part = |name: &str, text: String| DecodedPart {
        name: name.to_owned(),
        value: text.into_bytes(),
        steps: Vec::new(),
    };
    Some((
        laid_out,
        vec![part("header", header), part("payload", payload)],
    ))
}

/// A part that is a JSON object, formatted.
fn object(segment: &str) -> Option<String> {
    let bytes = Base64Run::of(segment.as_bytes())?.decoded(0)?;
    json::laid_out(std::str::from_utf8(&bytes).ok()?, LIMIT)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::*;

    #[test]
    fn jwt_header_and_payload_are_shown_as_unverified() {
        let part = |json: &str| URL_SAFE_NO_PAD.encode(json);
        let token = format!(
            "{}.{}.c2ln",
            part(r#"{"alg":"HS256"}"#),
            part(r#"{"sub":"ann"}"#)
        );
        let (laid_out, parts) = read(&token).unwrap();
        let lines: Vec<_> = laid_out.lines().collect();
        assert_eq!(
            lines,
            [
                "header {",
                r#"  "alg": "HS256""#,
                "}",
                "payload {",
                r#"  "sub": "ann""#,
                "}",
                "signature, not checked"
            ]
        );
        assert_eq!(parts.len(), 2);
        assert!(!laid_out.contains("verified") && !laid_out.contains("valid"));
        for none in [
            "a.b.c",
            "1.2.3",
            "www.acme.test",
            &format!("{}.{}", part(r#"{"alg":1}"#), part("{}")),
        ] {
            assert!(read(none).is_none(), "{none}");
        }
    }
}
