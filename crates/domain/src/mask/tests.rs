//! What the mask replaces, and what it leaves.

use super::*;

fn mask() -> Mask {
    let mut known = KnownNames::default();
    for host in [
        "https://shop.acme.test/login",
        "t1.acme.test:8443",
        "intranet",
        "10.1.2.3",
        "www.lab.co.uk",
    ] {
        known.add_host(host);
    }
    known.add("Acme external", MaskedKind::Workspace);
    known.add("Acme", MaskedKind::Workspace);
    known.add("probe", MaskedKind::Logger);
    known.add("ann", MaskedKind::User);
    Mask::default().with_names(known)
}

fn masked(texts: &[&str]) -> Vec<String> {
    let mask = mask();
    texts
        .iter()
        .map(|text| mask.text(text).into_owned())
        .collect()
}

#[test]
fn long_hostile_text_is_masked_without_searching_it_again_for_each_word() {
    // A search for each word would take minutes.
    const LONG: usize = 64 << 10;
    for part in [
        "a-",
        "a.",
        "a+",
        "key=(",
        "key=a=b; ",
        "key=\"\"a key='\"b ",
        "a:",
    ] {
        let text = part.repeat(LONG / part.len());
        mask().text(&text);
    }
    let slashes = format!("key={}", "\\".repeat(LONG));
    assert!(mask().text(&slashes).starts_with("key=token-1"));
}

#[test]
fn hosts_of_targets_and_names_below_their_domains_are_masked() {
    let texts = [
        "https://Shop.acme.test/a?b",
        "db.acme.test.",
        "t1.acme.test:8443",
        "intranet",
        "x.lab.co.uk",
    ];
    assert_eq!(
        masked(&texts),
        [
            "https://host-1/a?b",
            "host-2.",
            "host-3:8443",
            "host-4",
            "host-5"
        ]
    );
    let public = [
        "https://owasp.org/www-project",
        "index.html",
        "acme.test.evil.org",
        "nginx 1.25.3",
        "co.uk",
    ];
    assert_eq!(
        masked(&public),
        [
            "https://owasp.org/www-project",
            "index.html",
            "workspace-1.test.evil.org",
            "nginx 1.25.3",
            "co.uk"
        ]
    );
}

#[test]
fn stand_ins_are_stable_and_masked_again_unchanged() {
    let mask = mask();
    let once = mask
        .text("shop.acme.test and t1.acme.test, 10.1.2.3, ann, token=hunter2x")
        .into_owned();
    assert_eq!(once, "host-1 and host-2, ip-1, user-1, token=token-1");
    assert_eq!(mask.text(&once), once);
    let later = mask.with_names(KnownNames::default());
    assert_eq!(later.text("10.1.2.3 10.1.2.4"), "ip-1 ip-2");
}

#[test]
fn addresses_are_masked_and_times_and_paths_are_not() {
    let texts = [
        "from 203.0.113.9:443",
        "[2001:db8::1]:80",
        "::1",
        "at 12:30:45",
        "std::fmt::Debug",
        "1.2.3",
    ];
    let expected = [
        "from ip-1:443",
        "[ip-2]:80",
        "ip-3",
        "at 12:30:45",
        "std::fmt::Debug",
        "1.2.3",
    ];
    assert_eq!(masked(&texts), expected);
}

#[test]
fn names_are_masked_as_whole_words_also_in_file_names() {
    let texts = [
        "ACME EXTERNAL › findings",
        "report-acme-external.csv",
        "probes and probe",
        "planned by ann",
    ];
    let expected = [
        "workspace-1 › findings",
        "report-workspace-2-external.csv",
        "probes and logger-1",
        "planned by user-1",
    ];
    assert_eq!(masked(&texts), expected);
}

#[test]
fn secrets_are_masked_by_their_form() {
    let texts = [
        "authorization: Bearer abc.def-123456",
        "https://bob:pw@example.org/",
        "Cookie: sid=1; lang=en",
        r#"{"api_key": "k-123456"}"#,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
        "0123456789abcdef0123456789abcdef",
        "mail bob@corp.example",
        "550e8400-e29b-41d4-a716-446655440000",
    ];
    let expected = [
        "authorization: Bearer token-1",
        "https://token-2@example.org/",
        "Cookie: token-3",
        r#"{"api_key": "token-4"}"#,
        "token-5",
        "token-6",
        "mail user-1",
        "550e8400-e29b-41d4-a716-446655440000",
    ];
    assert_eq!(masked(&texts), expected);
}

#[test]
fn secrets_are_masked_by_the_name_before_them() {
    let texts = [
        "x-api-key: live_4242abcdEFGH",
        "X-Auth-Token: tok_9f8e7d6c5b",
        "Set-Cookie: sid=1; Path=/; HttpOnly",
        "proxy-authorization: Basic abcd",
        "/a?t=1&password=pw&key=AIza-1&page=2",
        "PHPSESSID=abc; sessionId=def",
        r#"{"clientSecret":"a b\"c","max":1}"#,
        r#"{"auth":["one"],"pin_token":123456,"key":null}"#,
        "curl -H \"authorization: Bearer $SCANDECK_API_KEY\"",
    ];
    let expected = [
        "x-api-key: token-1",
        "X-Auth-Token: token-2",
        "Set-Cookie: token-3; HttpOnly",
        "proxy-authorization: Basic token-4",
        "/a?t=1&password=token-5&key=token-6&page=2",
        "PHPSESSID=token-7; sessionId=token-8",
        r#"{"clientSecret":"token-9","max":1}"#,
        r#"{"auth":["token-10"],"pin_token":123456,"key":null}"#,
        "curl -H \"authorization: Bearer $SCANDECK_API_KEY\"",
    ];
    let masked = masked(&texts);
    assert_eq!(masked, expected);
    assert_eq!(mask_again(&masked), masked);
    let plain = [
        "Key: RSA-2048",
        "author: someone, keyboard=qwerty",
        "www-authenticate: Basic realm=\"x\"",
        "session: resumed",
        "my-key.example.org:8443",
    ];
    assert_eq!(self::masked(&plain), plain);
}

/// Masks texts with a mask that has given tokens already.
fn mask_again(texts: &[String]) -> Vec<String> {
    let mask = mask();
    (1..=10).for_each(|number| _ = mask.text(&format!("password=earlier{number}")));
    texts
        .iter()
        .map(|text| mask.text(text).into_owned())
        .collect()
}

#[test]
fn secrets_are_masked_in_the_quotes_of_json_and_csv() {
    let body = r#"{"api_key":"sk_live_777","password":"pw in json","list":[1]}"#;
    let masked = r#"{"api_key":"token-1","password":"token-2","list":[1]}"#;
    let mask = mask();
    let (mut shown, mut text) = (masked.to_owned(), body.to_owned());
    for _ in 0..3 {
        assert_eq!(mask.text(&text), shown);
        (text, shown) = (
            serde_json::to_string(&text).unwrap(),
            serde_json::to_string(&shown).unwrap(),
        );
    }
    let csv = |text: &str| format!("1,\"{}\",2", text.replace('"', "\"\""));
    assert_eq!(mask.text(&csv(body)), csv(masked));
}

#[test]
fn masked_header_ends_at_the_end_of_its_line() {
    let request = "cookie: session=abc; x=y\nauthorization: Bearer abcdefgh\ncontent-length: 141";
    let masked = "cookie: token-1\nauthorization: Bearer token-2\ncontent-length: 141";
    assert_eq!(mask().text(request), masked);
    let escaped = serde_json::to_string(request).unwrap();
    assert_eq!(
        mask().text(&escaped),
        serde_json::to_string(masked).unwrap()
    );
}

#[test]
fn value_is_masked_by_its_name_alone() {
    let mask = mask();
    assert_eq!(mask.text("Cookie: sid=1; lang=en"), "Cookie: token-1");
    assert_eq!(mask.named("cookie", "sid=1; lang=en"), "token-1");
    assert_eq!(
        mask.named("Authorization", "Bearer abcdefgh"),
        "Bearer token-2"
    );
    assert_eq!(mask.named("password", "token-1"), "token-1");
    assert_eq!(
        mask.named("referer", "https://shop.acme.test/"),
        "https://host-1/"
    );
}

#[test]
fn escapes_and_cut_names_are_recognized() {
    let texts = [
        r#""Host:\nshop.acme.test""#,
        "u=https%3A%2F%2Fshop.acme.test%2F",
        "shop.ac…",
        "sho…",
    ];
    assert_eq!(
        masked(&texts),
        [
            r#""Host:\nhost-1""#,
            "u=https%3A%2F%2Fhost-1%2F",
            "host-1…",
            "sho…"
        ]
    );
}

#[test]
fn url_that_is_escaped_several_times_is_masked() {
    let texts = [
        "a=http%253A%252F%252F10.1.2.3%253A80%252Fx",
        "u=%25252Fshop.acme.test%25252F",
        "100%25 shop.acme.test",
        "like=%2510.1.2.3%25",
    ];
    assert_eq!(
        masked(&texts),
        [
            "a=http%253A%252F%252Fip-1%253A80%252Fx",
            "u=%25252Fhost-1%25252F",
            "100%25 host-1",
            "like=%25ip-1%25"
        ]
    );
}

#[test]
fn json_is_masked_in_its_strings() {
    let mut value =
        serde_json::json!({ "target": "shop.acme.test", "all": ["10.1.2.3", 7], "probe": null });
    mask().json(&mut value);
    assert_eq!(
        value,
        serde_json::json!({ "target": "host-1", "all": ["ip-1", 7], "probe": null })
    );
    let mut archive = serde_json::json!({
        "cookies": [{ "name": "sid", "value": "a b" }],
        "queryString": [{ "name": "password", "value": "pw" }, { "name": "page", "value": "2" }],
        "settings": { "secrets": ["one"], "author": "bob" },
    });
    mask().json(&mut archive);
    let expected = serde_json::json!({
        "cookies": [{ "name": "sid", "value": "token-1" }],
        "queryString": [{ "name": "password", "value": "token-2" }, { "name": "page", "value": "2" }],
        "settings": { "secrets": ["token-3"], "author": "bob" },
    });
    assert_eq!(archive, expected);
}
