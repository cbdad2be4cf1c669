//! Proofs by answers of another page, another server or a cache.

use super::judge_tests::{MATCHED, PAGE, answer, judged, without_proof};
use super::{ExpectedAnswer, ProofAnswer, ProofReason, judge};
use crate::finding_request::RequestHeader;
use scandeck_wire::contract::Evidence;

#[test]
fn fix_in_a_header_is_not_the_same_answer() {
    let of = |headers: &str| ProofAnswer::parse(&format!("HTTP/1.1 200 OK\n{headers}\n\n{PAGE}"));
    let expected = ExpectedAnswer {
        answer: of("Date: 1\nSet-Cookie: sid=•••; Path=/\nX-Powered-By: PHP/7.4.3\nConnection: x"),
        ..ExpectedAnswer::default()
    };
    for (headers, reason) in [
        (
            "x-powered-by: PHP/7.4.3\ndate: 2\nset-cookie: sid=1; path=/",
            ProofReason::SameAnswer,
        ),
        (
            "x-powered-by: PHP/7.4.3\nset-cookie: sid=1; path=/; Secure",
            ProofReason::MatchedUnknown,
        ),
        (
            "x-powered-by: PHP\nset-cookie: sid=1; path=/",
            ProofReason::MatchedUnknown,
        ),
    ] {
        assert_eq!(judge(&expected, &of(headers), false), reason, "{headers}");
    }
}

#[test]
fn line_ends_make_no_other_answer() {
    let head = "HTTP/1.1 200 OK\r\nServer: nginx\r\nVary: Cookie";
    let message = format!("{head}\r\n\r\n{PAGE}\r\n<p>end</p>\r\n");
    let row = vec!["http://a.test/".to_owned(), message];
    let expected = ExpectedAnswer::of(&Evidence::table(&["URL", "Response"], [row]));
    let now = |body: String| ProofAnswer {
        body: body.into(),
        ..answer(200, "", "")
    };
    let same = now(format!("{PAGE}\r\n<p>end</p>\r\n"));
    assert_eq!(judge(&expected, &same, false), ProofReason::SameAnswer);
    let other = now(format!("{PAGE}\r\n<p>End</p>\r\n"));
    assert_eq!(judge(&expected, &other, false), ProofReason::MatchedUnknown);
}

#[test]
fn matched_text_on_another_page_proves_nothing() {
    let other = format!("<html><body><h1>It works</h1><p>{MATCHED}</p></body></html>");
    assert_eq!(judged(&answer(200, "", &other)), ProofReason::OtherPage);
    let login = PAGE.replace("name=\"csrf\"", "type=\"password\"");
    assert_eq!(judged(&answer(200, "", &login)), ProofReason::LoginPage);
    let missing = PAGE.replace("<title>Files", "<title>Files not found");
    assert_eq!(
        judged(&answer(200, "", &missing)),
        ProofReason::SoftNotFound
    );
    let elsewhere = ProofAnswer::parse(&format!("HTTP/1.1 200 OK\nServer: Apache\n\n{PAGE}"));
    assert_eq!(judged(&elsewhere), ProofReason::OtherHost);
    let longer = format!("{PAGE}{}", " and more".repeat(20));
    assert_eq!(judged(&answer(200, "", &longer)), ProofReason::OtherPage);
}

#[test]
fn payload_that_is_encoded_now_is_gone() {
    let page =
        |shown: &str| format!("<h1>Search</h1><p>Results for {shown}</p><p>Nothing found</p>");
    let payload = "<script>alert(1)</script>";
    let expected = ExpectedAnswer {
        answer: answer(200, "", &page(payload)),
        matched: payload.to_owned(),
        ..ExpectedAnswer::default()
    };
    let judged = |shown: &str| judge(&expected, &answer(200, "", &page(shown)), false);
    assert_eq!(judged(payload), ProofReason::MatchedText);
    for encoded in [
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "&#60;script>alert(1)&#x3c;/script>",
    ] {
        assert_eq!(judged(encoded), ProofReason::NoMatchedText, "{encoded}");
    }
}

#[test]
fn message_around_the_matched_text_may_be_gone_too() {
    let page = |message: &str| {
        let block = format!("<pre>{MATCHED}</pre>");
        PAGE.replace(&block, &format!("<p>{message}</p>"))
    };
    let message = "Warning: mysql_connect(): Access denied for user shop at localhost in the \
                   file of the database on line twelve of it";
    let of_page = |then: &str| ExpectedAnswer {
        answer: answer(200, "", then),
        matched: "mysql_connect(): Access denied".to_owned(),
        ..ExpectedAnswer::default()
    };
    let expected = of_page(&page(message));
    for (shown, reason) in [
        (message, ProofReason::MatchedText),
        ("All is fine", ProofReason::NoMatchedText),
        ("", ProofReason::NoMatchedText),
        ("denied for shop", ProofReason::OtherPage),
        (
            "another page with as many words as the page that had the message in it, or more",
            ProofReason::OtherPage,
        ),
    ] {
        let now = answer(200, "", &page(shown));
        assert_eq!(judge(&expected, &now, false), reason, "{shown}");
    }
    let alone = of_page(&format!("<p>{message}</p>"));
    let empty = answer(200, "", "<p></p>");
    assert_eq!(judge(&alone, &empty, false), ProofReason::OtherPage);
}

#[test]
fn pages_without_words_and_evidence_without_a_page_are_not_alike() {
    let numbers = ExpectedAnswer {
        answer: answer(200, "", "17 18 1234"),
        matched: "1234".to_owned(),
        ..ExpectedAnswer::default()
    };
    let now = answer(200, "", "99 98");
    assert_eq!(judge(&numbers, &now, false), ProofReason::OtherPage);
    let allowed = ExpectedAnswer {
        answer: answer(200, "Allow: TRACE", ""),
        headers: vec![RequestHeader {
            name: "Allow".to_owned(),
            value: "TRACE".to_owned(),
        }],
        ..ExpectedAnswer::default()
    };
    let elsewhere = ProofAnswer::parse("HTTP/1.1 200 OK\nServer: Apache\n\n");
    assert_eq!(judge(&allowed, &elsewhere, false), ProofReason::OtherHost);
}

#[test]
fn beginning_of_a_page_is_compared_with_the_beginning() {
    let cut = ExpectedAnswer {
        answer: ProofAnswer::parse(&format!(
            "HTTP/1.1 200 OK\nServer: nginx\n\n{}…\nthe part around {MATCHED}…",
            PAGE.split("<h1>").next().unwrap()
        )),
        matched: MATCHED.to_owned(),
        ..ExpectedAnswer::default()
    };
    assert!(cut.answer.is_cut);
    let of_page = |page: &str| judge(&cut, &answer(200, "", page), false);
    assert_eq!(of_page(PAGE), ProofReason::MatchedText);
    assert_eq!(of_page(&without_proof(PAGE)), ProofReason::NoMatchedText);
    assert_eq!(of_page("<p>moved"), ProofReason::OtherPage);
}

#[test]
fn caches_and_lost_servers_are_recognised() {
    for header in [
        "Cache-Status: edge; hit",
        "X-Proxy-Cache: HIT",
        "X-Vercel-Cache: HIT",
        "X-Cache: MISS\nX-Cache: HIT",
        "X-Cache-Lookup: HIT from proxy",
    ] {
        assert_eq!(judged(&answer(200, header, PAGE)), ProofReason::Cached);
    }
    assert_eq!(
        judged(&answer(200, "X-Cache: MISS", PAGE)),
        ProofReason::MatchedText
    );
    let nameless = ProofAnswer::parse("HTTP/1.1 404 x\n\nnothing");
    assert_eq!(judged(&nameless), ProofReason::OtherHost);
}
