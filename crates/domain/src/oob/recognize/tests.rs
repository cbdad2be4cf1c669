//! Tests of token recognition.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use proptest::prelude::*;

use super::testing::{base64 as base64_body, book};
use super::*;
use crate::oob::decode::compression::testing::compress;

const TOKEN: &str = "k7f2aaaabbbb";

fn token() -> Token {
    TOKEN.parse().unwrap()
}

fn query(query: &str) -> Capture {
    Capture {
        url_params: query.into(),
        ..Capture::default()
    }
}

fn header(line: &str) -> Capture {
    Capture {
        http_headers: vec!["Host: h.test".into(), line.into()],
        ..Capture::default()
    }
}

fn body(bytes: &[u8]) -> Capture {
    Capture {
        request_body_base64: base64_body(bytes),
        ..Capture::default()
    }
}

/// The only mention of the known token: place, wrapping, added text.
fn found(capture: &Capture) -> (MentionPlace, String, String) {
    let found = mentions(capture, &book([token()]));
    let [mention] = found.as_slice() else {
        panic!("{found:?} in {capture:?}")
    };
    assert!(mention.known && mention.token == token());
    (
        mention.place.clone(),
        mention.wrapped.join(" "),
        mention.added.to_string(),
    )
}

fn in_query(name: &str, wrapped: &str, added: &str) -> (MentionPlace, String, String) {
    (
        MentionPlace::Query(name.into()),
        wrapped.into(),
        added.into(),
    )
}

fn twice(text: &str) -> String {
    let once = |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02x}")).collect() };
    once(&once(text))
}

#[test]
fn text_added_after_token_is_extracted() {
    assert_eq!(found(&query(&format!("t={TOKEN}"))), in_query("t", "", ""));
    assert_eq!(
        found(&query(&format!("t={TOKEN}/latest/meta-data"))),
        in_query("t", "", "/latest/meta-data")
    );
    assert_eq!(
        found(&query(&format!("t={TOKEN}%2Flatest+x&b=1"))),
        in_query("t", "", "/latest x")
    );
    assert_eq!(
        found(&query(&format!("a=1&moved=x{TOKEN}.png"))),
        in_query("moved", "", ".png")
    );
    assert_eq!(
        found(&query(&format!("t={}\u{1b}[31m", TOKEN.to_uppercase()))),
        in_query("t", "", "␛[31m")
    );
}

#[test]
fn bare_token_and_token_as_name_are_found() {
    assert_eq!(found(&query(TOKEN)), in_query("", "", ""));
    assert_eq!(found(&query(&format!("{TOKEN}=7"))), in_query("", "", ""));
    let path = Capture {
        path: Some(format!("/l/x/{TOKEN}/robots.txt").into()),
        ..Capture::default()
    };
    assert_eq!(
        found(&path),
        (MentionPlace::Path, String::new(), "/robots.txt".into())
    );
}

#[test]
fn wrappings_are_listed_outermost_first() {
    let url = format!("http://h.test/l/x/?t={TOKEN}/a?b>");
    let encoded: String = TOKEN.bytes().map(|byte| format!("%{byte:02X}")).collect();
    assert_eq!(
        found(&query(&format!("u={encoded}/x"))),
        in_query("u", "url", "/x")
    );
    assert_eq!(
        found(&query(&format!("u={}", twice(TOKEN)))),
        in_query("u", "url url", "")
    );
    assert_eq!(
        found(&query(&format!("u={}", STANDARD.encode(&url)))),
        in_query("u", "base64", "/a?b")
    );
    let wrapped = STANDARD
        .encode(&url)
        .replace('+', "%2B")
        .replace('=', "%3D");
    assert_eq!(found(&query(&format!("u={wrapped}"))).2, "/a?b");
    let for_urls = URL_SAFE_NO_PAD.encode(format!("~~~>>>???{url}"));
    assert!(for_urls.contains(['-', '_']));
    assert_eq!(
        found(&query(&format!("u=x{for_urls}"))),
        in_query("u", "base64url", "/a?b")
    );
    let hex: String = url.bytes().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(
        found(&query(&format!("u={hex}"))),
        in_query("u", "hex", "/a?b")
    );
    let both = STANDARD.encode(encoded);
    assert_eq!(
        found(&query(&format!("u={both}"))),
        in_query("u", "base64 url", "")
    );
}

#[test]
fn header_token_ends_at_value_delimiter() {
    let place = |name: &str| MentionPlace::Header(name.into());
    let referer = header(&format!("Referer: http://h.test/l/x/?t={TOKEN}/x"));
    assert_eq!(
        found(&referer),
        (place("Referer"), String::new(), "/x".into())
    );
    let cookie = header(&format!("Cookie: a={TOKEN}; b=2"));
    assert_eq!(
        found(&cookie),
        (place("Cookie"), String::new(), String::new())
    );
    let agent = Capture {
        user_agent: format!("probe {TOKEN}").into(),
        ..Capture::default()
    };
    assert_eq!(
        found(&agent),
        (place("User-Agent"), String::new(), String::new())
    );
}

#[test]
fn bodies_are_searched_plain_and_decoded() {
    let in_body =
        |wrapped: &str, added: &str| (MentionPlace::Body, wrapped.to_owned(), added.to_owned());
    let json = format!(r#"{{"u":"http:\/\/h\/?t={TOKEN}\/a","b":1}}"#);
    assert_eq!(found(&body(json.as_bytes())), in_body("", "/a"));
    assert_eq!(
        found(&body(format!("a=1&u={TOKEN}%26x&b=2").as_bytes())),
        in_body("", "&x")
    );
    assert_eq!(
        found(&body(format!("<u>{TOKEN}</u>").as_bytes())),
        in_body("", "")
    );
    assert_eq!(
        found(&body(&compress(CompressionFormat::Gzip, json.as_bytes()))),
        in_body("gzip", "/a")
    );
    assert_eq!(
        found(&body(&compress(CompressionFormat::Zlib, json.as_bytes()))),
        in_body("deflate", "/a")
    );
    let escaped: String = TOKEN.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
    assert_eq!(
        found(&body(format!(r#"["{escaped}"]"#).as_bytes())),
        in_body("json", "")
    );
    let packed = STANDARD.encode(compress(CompressionFormat::Gzip, json.as_bytes()));
    assert_eq!(
        found(&body(packed.as_bytes())),
        in_body("base64 gzip", "/a")
    );
    let bare = Capture {
        http_headers: vec!["content-encoding: deflate".into()],
        ..body(&compress(CompressionFormat::Deflate, json.as_bytes()))
    };
    assert_eq!(found(&bare), in_body("deflate", "/a"));
    let no_base64 = Capture {
        request_body_base64: format!("{TOKEN}!").into(),
        ..Capture::default()
    };
    assert_eq!(found(&no_base64), in_body("", "!"));
}

#[test]
fn repeated_token_is_reported_once_with_least_wrapping() {
    let capture = Capture {
        http_headers: vec![format!("Referer: /?t={TOKEN}").into()],
        ..query(&format!(
            "t={TOKEN}&again={TOKEN}&t={}",
            STANDARD.encode(TOKEN)
        ))
    };
    let places: Vec<_> = mentions(&capture, &book([token()]))
        .into_iter()
        .map(|mention| mention.place)
        .collect();
    assert_eq!(
        places,
        [
            MentionPlace::Query("t".into()),
            MentionPlace::Query("again".into()),
            MentionPlace::Header("Referer".into())
        ]
    );
}

#[test]
fn unknown_token_is_reported_only_at_token_positions() {
    let unknown = |capture: &Capture| -> Vec<(MentionPlace, String)> {
        let found = mentions(capture, &book([Token::of(1)]));
        assert!(found.iter().all(|mention| !mention.known));
        found
            .into_iter()
            .map(|mention| (mention.place, mention.added.to_string()))
            .collect()
    };
    assert_eq!(
        unknown(&query(&format!("t={TOKEN}/x"))),
        [(MentionPlace::Query("t".into()), "/x".into())]
    );
    for none in [
        "t=short",
        "t=abcdefghijklm",
        "u=abcdefghijkl",
        "t=0bcdefghijkl",
        "abcdefghijkl",
    ] {
        assert_eq!(unknown(&query(none)), [], "{none}");
    }
    let path = |path: &str| Capture {
        path: Some(path.into()),
        ..Capture::default()
    };
    assert_eq!(
        unknown(&path(&format!("/l/x/{TOKEN}/y"))),
        [(MentionPlace::Path, String::new())]
    );
    for none in ["/l/x/applications", "/l/x/k7f2aaaabbbb.png", "/l/x/k7f2"] {
        assert_eq!(unknown(&path(none)), [], "{none}");
    }
    // A known token is not reported again as unknown.
    assert_eq!(
        found(&query(&format!("t={TOKEN}"))).0,
        MentionPlace::Query("t".into())
    );
}

#[test]
fn decode_work_is_bounded_by_request_size() {
    let bomb = compress(CompressionFormat::Gzip, &vec![b'a'; 50 << 20]);
    let nested = STANDARD
        .encode(compress(CompressionFormat::Gzip, &bomb))
        .repeat(20);
    assert_eq!(mentions(&body(nested.as_bytes()), &book([token()])), []);
}

proptest! {
    #[test]
    fn token_in_any_context_within_two_layers_is_found(
        random: u64,
        before in "[ -~]{0,30}",
        after in "[^a-zA-Z0-9][ -~]{0,30}",
        layers in prop::collection::vec(0_usize..5, 0..3),
        upper: bool,
    ) {
        let token = Token::of(random);
        let text = if upper { token.to_string().to_uppercase() } else { token.to_string() };
        let mut bytes = format!("{before}{text}{after}").into_bytes();
        for layer in layers {
            bytes = match layer {
                0 => bytes.iter().flat_map(|byte| format!("%{byte:02x}").into_bytes()).collect(),
                1 => STANDARD.encode(&bytes).into_bytes(),
                2 => URL_SAFE_NO_PAD.encode(&bytes).into_bytes(),
                3 => compress(CompressionFormat::Gzip, &bytes),
                _ => bytes.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect(),
            };
        }
        let found = mentions(&body(&bytes), &book([token]));
        prop_assert!(found.iter().any(|mention| mention.known && mention.token == token), "{:?}", found);
        let plain = String::from_utf8_lossy(&bytes).into_owned();
        if plain.as_bytes() == bytes && !plain.contains('&') {
            let capture = query(&["q=", &plain].concat());
            prop_assert!(mentions(&capture, &book([token])).iter().any(|mention| mention.known));
        }
    }

    #[test]
    fn any_request_is_searched_without_panic(path: String, params: String, line: String, bytes: Vec<u8>, odd: String) {
        let capture = Capture {
            path: Some(path.into()),
            url_params: params.into(),
            http_headers: vec![line.into()],
            ..body(&bytes)
        };
        for capture in [Capture { request_body_base64: odd.into(), ..capture.clone() }, capture] {
            for mention in mentions(&capture, &book([token()])) {
                prop_assert!(mention.added.len() <= 8 * ADDED);
            }
        }
    }
}

#[test]
fn token_in_another_spelling_is_found() {
    let text = token().to_string();
    let each =
        |spell: &dyn Fn(char) -> String| text.chars().map(spell).collect::<String>().into_bytes();
    let (start, end) = text.split_at(5);
    let spelled = [
        each(&|c| format!("&#{};", u32::from(c))),
        each(&|c| format!("&#x{:x};", u32::from(c))),
        each(&|c| format!("={:02X}", u32::from(c))),
        each(&|c| format!("\\x{:02x}", u32::from(c))),
        each(&|c| format!("\\u{:04x}", u32::from(c))),
        text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        format!("{start}=\r\n{end}").into_bytes(),
        format!("{start}\r\n\t{end}").into_bytes(),
    ];
    for bytes in spelled {
        let found = mentions(&body(&bytes), &book([token()]));
        assert!(
            found.iter().any(|mention| mention.known),
            "{}",
            String::from_utf8_lossy(&bytes)
        );
    }
}

#[test]
fn token_in_bytes_of_another_protocol_is_recognised() {
    let odd = format!("\u{16}\u{3} {TOKEN} \0");
    let capture = Capture {
        raw_base64: Some(base64_body(odd.as_bytes())),
        ..Capture::default()
    };
    let found = mentions(&capture, &book([token()]));
    assert_eq!(
        (found.len(), found[0].known, &found[0].place),
        (1, true, &MentionPlace::Body)
    );
}
