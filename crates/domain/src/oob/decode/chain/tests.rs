//! Chains of encodings: the decoded layers, their order and the reasons.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use proptest::prelude::*;

use super::super::compression::testing::compress;
use super::*;

fn names(steps: &[DecodeStep]) -> Vec<&'static str> {
    steps.iter().map(|step| step.layer.as_str()).collect()
}

fn plain(bytes: impl AsRef<[u8]>) -> Vec<DecodeStep> {
    chain(bytes.as_ref(), BodyHints::default())
}

fn of_type<'a>(content_type: &'a str) -> BodyHints<'a> {
    BodyHints {
        content_type,
        ..BodyHints::default()
    }
}

fn last(steps: &[DecodeStep]) -> String {
    String::from_utf8_lossy(&steps.last().unwrap().result).into_owned()
}

#[test]
fn nested_encodings_decode_in_order_with_reasons() {
    let wrapped = STANDARD
        .encode(compress(CompressionFormat::Gzip, br#"{"a":"b%2Fc"}"#))
        .replace('+', "%2B")
        .replace('=', "%3D");
    let steps = plain(format!("%20{wrapped}"));
    assert_eq!(names(&steps), ["url", "base64", "gzip", "json"]);
    assert_eq!(steps[2].why, "begins with 1f 8b");
    assert!(steps[1].why.starts_with("all "));
    assert_eq!(last(&steps), "{\n  \"a\": \"b%2Fc\"\n}");
    let parts = &steps[3].parts;
    assert_eq!(
        (parts[0].name.as_str(), last(&parts[0].steps)),
        ("a", "b/c".into())
    );
}

#[test]
fn plain_words_and_numbers_are_not_decoded() {
    for word in [
        "",
        "password",
        "information",
        "12345678",
        "2026-11-21 14:02:08",
        "/latest/meta-data",
        "100% sure",
        "d41d8cd98f00b204e9800998ecf8427e",
        "Mozilla/5.0",
        "k7f2aaaabbbb",
        "application/json",
        "www.acme.test",
        "true",
    ] {
        assert_eq!(names(&plain(word)), Vec::<&str>::new(), "{word}");
    }
}

#[test]
fn double_encoding_is_decoded_twice() {
    assert_eq!(names(&plain("a%252Fb")), ["url", "url"]);
    assert_eq!(
        names(&plain(
            STANDARD.encode(URL_SAFE_NO_PAD.encode("hello, world?>~"))
        )),
        ["base64", "base64url"]
    );
    assert_eq!(last(&plain("68656c6c6f20776f726c64")), "hello world");
}

#[test]
fn matching_content_headers_are_trusted() {
    let form = chain(
        b"a=1&u=http%3A%2F%2Fh%2F%3Fx%3D%2541",
        of_type("application/x-www-form-urlencoded; charset=x"),
    );
    assert_eq!(names(&form), ["form"]);
    assert_eq!(last(&form), "a = 1\nu = http://h/?x=%41\n");
    assert_eq!(names(&form[0].parts[1].steps), ["url"]);
    assert_eq!(
        names(&chain(b"a=1", of_type("text/plain"))),
        Vec::<&str>::new()
    );
    let bare = compress(CompressionFormat::Deflate, b"<a><b/></a>");
    let hints = BodyHints {
        content_type: "text/xml",
        encoding: "deflate",
    };
    let steps = chain(&bare, hints);
    assert_eq!(names(&steps), ["deflate", "xml"]);
    assert_eq!(steps[1].why, "declared by Content-Type");
    let parts = chain(
        b"--B\r\nContent-Disposition: form-data; name=\"j\"\r\n\r\n[1]\r\n--B--",
        of_type("multipart/form-data; boundary=B"),
    );
    assert_eq!(
        (names(&parts), names(&parts[0].parts[0].steps)),
        (vec!["multipart"], vec!["json"])
    );
    assert_eq!(parts[0].parts[0].value, b"[1]");
}

#[test]
fn jwt_is_shown_without_verification() {
    let part = |json: &str| URL_SAFE_NO_PAD.encode(json);
    let token = format!(
        "{}.{}.c2ln",
        part(r#"{"alg":"none"}"#),
        part(r#"{"sub":"ann"}"#)
    );
    let steps = plain(format!("session={token}"));
    assert_eq!(
        (names(&steps), names(&steps[0].parts[0].steps)),
        (vec!["form"], vec!["jwt"])
    );
    assert_eq!(
        steps[0].parts[0].steps[0].note,
        Some("signature not checked")
    );
}

#[test]
fn bombs_and_deep_nesting_are_cut() {
    let bomb = compress(CompressionFormat::Gzip, &vec![b' '; 30 << 20]);
    let steps = plain(&bomb);
    assert_eq!(steps[0].result.len(), LIMIT);
    assert!(steps[0].note.unwrap().starts_with("truncated"));
    let nested = (0..30).fold("hello, world!".to_owned(), |text, _| STANDARD.encode(text));
    assert_eq!(plain(nested).len(), DEEPEST);
}

/// Bytes of all results and values together, and the deepest step.
fn size(steps: &[DecodeStep], depth: usize) -> (usize, usize) {
    let mut total = (0, depth);
    for (at, step) in steps.iter().enumerate() {
        total = (total.0 + step.result.len(), total.1.max(depth + at + 1));
        for part in &step.parts {
            let inside = size(&part.steps, depth + at + 1);
            total = (total.0 + inside.0, total.1.max(inside.1));
        }
    }
    total
}

proptest! {
    #[test]
    fn any_bytes_decode_within_limits_without_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..2_000),
        start in prop::sample::select(vec!["", "{", "<a>", "a=", "--B\r\n", "\x1f\u{8b}\x08", "eyJ.eyJ."]),
        content_type in prop::sample::select(vec!["", "multipart/x; boundary=B", "application/x-www-form-urlencoded", "text/xml"]),
        encoding in prop::sample::select(vec!["", "deflate", "gzip"]),
    ) {
        let bytes = [start.as_bytes(), &bytes].concat();
        let steps = chain(&bytes, BodyHints { content_type, encoding });
        let (total, depth) = size(&steps, 0);
        prop_assert!(total <= 2 * LIMIT && depth <= DEEPEST);
    }

    #[test]
    fn any_text_decodes_without_panic(text in r#"[ -~\n]{0,200}"#) {
        prop_assert!(size(&plain(text), 0).1 <= DEEPEST);
    }
}
