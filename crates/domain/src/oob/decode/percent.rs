//! Percent encoding of paths, queries and forms.

use std::borrow::Cow;

/// The text with `%XX` decoded; borrowed if it has none.
pub fn decoded(text: &[u8]) -> Cow<'_, [u8]> {
    percent_encoding::percent_decode(text).into()
}

/// Like [`decoded`], with `+` as a space, as in forms and queries.
pub fn decoded_value(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'+') {
        return decoded(text);
    }
    let spaced: Vec<u8> = text
        .iter()
        .map(|&byte| if byte == b'+' { b' ' } else { byte })
        .collect();
    Cow::Owned(decoded(&spaced).into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn percent_escapes_decode_and_invalid_escapes_remain() {
        assert_eq!(&*decoded(b"a%2Fb%2fc%zz%4"), b"a/b/c%zz%4");
        assert_eq!(&*decoded_value(b"a+b%2Bc"), b"a b+c");
        assert!(matches!(decoded(b"100% sure"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn percent_encoding_round_trips(bytes: Vec<u8>) {
            let encoded: String = url::form_urlencoded::byte_serialize(&bytes).collect();
            prop_assert_eq!(&*decoded_value(encoded.as_bytes()), &bytes[..]);
        }
    }
}
