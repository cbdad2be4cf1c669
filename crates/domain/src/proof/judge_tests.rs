//! Proofs in which an answer could mislead, and a property of all answers.

use proptest::prelude::*;

use super::{ExpectedAnswer, ProofAnswer, ProofOutcome, ProofReason, judge};

pub(super) const MATCHED: &str = "Index of /backup";

/// A page that shows the weakness.
pub(super) const PAGE: &str = "<html lang=\"en\"><head><title>Files</title></head><body><nav>Home Products About</nav>\
    <p>Generated 2026-11-02 10:00:00</p><form><input name=\"csrf\" value=\"8f14e45fceea167a5a36dedd4bea2543\">\
    </form><h1>Files</h1><pre>Index of /backup</pre><footer>Shop of Acme</footer></body></html>";

pub(super) fn answer(status: u16, header: &str, body: &str) -> ProofAnswer {
    let line = if header.is_empty() {
        "Vary: Cookie"
    } else {
        header
    };
    ProofAnswer::parse(&format!(
        "HTTP/1.1 {status} x\nServer: nginx\n{line}\n\n{body}"
    ))
}

fn expected() -> ExpectedAnswer {
    ExpectedAnswer {
        answer: answer(200, "Content-Type: text/html", PAGE),
        matched: MATCHED.to_owned(),
        ..ExpectedAnswer::default()
    }
}

pub(super) fn judged(now: &ProofAnswer) -> ProofReason {
    judge(&expected(), now, false)
}

pub(super) fn without_proof(page: &str) -> String {
    page.replace(MATCHED, "Closed")
}

#[test]
fn page_that_differs_by_time_and_nonce_is_judged_by_its_proof() {
    let later = PAGE
        .replace("2026-11-02 10:00:00", "2026-11-29 21:14:03")
        .replace(
            "8f14e45fceea167a5a36dedd4bea2543",
            "c9f0f895fb98ab9159f51fd0297e236d",
        );
    assert_eq!(judged(&answer(200, "", &later)), ProofReason::MatchedText);
    let fixed = without_proof(&later);
    assert_eq!(judged(&answer(200, "", &fixed)), ProofReason::NoMatchedText);
    let unnamed = ExpectedAnswer {
        matched: String::new(),
        ..expected()
    };
    let of_html = |page: &str| {
        let now = answer(200, "content-type:  text/html", page);
        judge(&unnamed, &now, false)
    };
    assert_eq!(of_html(&later), ProofReason::SameAnswer);
    assert_eq!(of_html(&fixed), ProofReason::MatchedUnknown);
}

#[test]
fn answers_that_mislead_are_no_proof() {
    let fixed = without_proof(PAGE);
    let german = fixed
        .replace("lang=\"en\"", "lang=\"de\"")
        .replace("Home Products About", "Start Waren Impressum");
    let login =
        "<html><h1>Sign in</h1><form><input name=user><input type='password'></form></html>";
    let missing = "<html><head><title>Page not found</title></head><body>Sorry</body></html>";
    let other =
        "<html><body><h1>Welcome to Apache</h1><p>It works on this machine</p></body></html>";
    let elsewhere = ProofAnswer::parse(&format!("HTTP/1.1 200 OK\nServer: Apache/2.4\n\n{other}"));
    for (now, reason) in [
        (answer(200, "", &german), ProofReason::OtherLanguage),
        (answer(200, "", login), ProofReason::LoginPage),
        (answer(302, "Location: /login", ""), ProofReason::Redirects),
        (answer(429, "Retry-After: 60", ""), ProofReason::RateLimited),
        (answer(503, "Retry-After: 60", ""), ProofReason::RateLimited),
        (answer(502, "", "bad gateway"), ProofReason::ServerError),
        (answer(200, "", missing), ProofReason::SoftNotFound),
        (answer(200, "Age: 120", PAGE), ProofReason::Cached),
        (answer(200, "X-Cache: HIT", &fixed), ProofReason::Cached),
        (answer(304, "", ""), ProofReason::Cached),
        (answer(403, "", "blocked"), ProofReason::AccessRefused),
        (answer(200, "", other), ProofReason::OtherPage),
        (answer(400, "", "bad request"), ProofReason::OtherStatus),
        (elsewhere, ProofReason::OtherHost),
    ] {
        assert_eq!(judged(&now), reason, "{now:?}");
        assert_eq!(reason.outcome(), ProofOutcome::CannotTell);
    }
    let cut = ProofAnswer {
        is_cut: true,
        ..answer(200, "", &fixed)
    };
    assert_eq!(judged(&cut), ProofReason::CutAnswer);
}

#[test]
fn absent_address_is_gone_unless_another_server_says_so() {
    assert_eq!(judged(&answer(404, "", "not here")), ProofReason::NotFound);
    assert_eq!(judged(&answer(410, "", "")), ProofReason::NotFound);
    let other = ProofAnswer::parse("HTTP/1.1 404 x\nServer: cloud\n\nno such site");
    assert_eq!(judged(&other), ProofReason::OtherHost);
    let echo = answer(404, "", "there is no Index of /backup");
    assert_eq!(judged(&echo), ProofReason::OtherStatus);
}

#[test]
fn proof_that_needed_credentials_is_not_gone_without_them() {
    let anonymous = |now: &ProofAnswer| judge(&expected(), now, true);
    let fixed = without_proof(PAGE);
    assert_eq!(
        anonymous(&answer(200, "", &fixed)),
        ProofReason::CredentialsLeftOut
    );
    assert_eq!(
        anonymous(&answer(404, "", "")),
        ProofReason::CredentialsLeftOut
    );
    assert_eq!(anonymous(&answer(200, "", PAGE)), ProofReason::MatchedText);
}

#[test]
fn headers_that_prove_a_finding_are_compared_without_the_body() {
    let header = crate::finding_request::RequestHeader {
        name: "Allow".to_owned(),
        value: "GET, TRACE".to_owned(),
    };
    let expected = ExpectedAnswer {
        answer: ProofAnswer {
            status: Some(200),
            ..ProofAnswer::default()
        },
        headers: vec![header],
        ..ExpectedAnswer::default()
    };
    for (headers, reason) in [
        ("allow: get,trace", ProofReason::SameHeader),
        ("Allow: GET", ProofReason::OtherValue),
        ("Vary: x", ProofReason::NoHeader),
    ] {
        assert_eq!(judge(&expected, &answer(200, headers, ""), false), reason);
    }
}

#[test]
fn error_page_that_proves_a_finding_may_say_that_nothing_is_found() {
    let page = "<html><title>404 Not Found</title><p>Apache Tomcat/9.0.1</p></html>";
    let expected = ExpectedAnswer {
        answer: answer(404, "", page),
        matched: "Apache Tomcat/9.0.1".to_owned(),
        ..ExpectedAnswer::default()
    };
    let of_page = |page: &str| judge(&expected, &answer(404, "", page), false);
    assert_eq!(of_page(page), ProofReason::MatchedText);
    let broken = page.replace("Apache Tomcat", "Apache\n  Tomcat");
    assert_eq!(of_page(&broken), ProofReason::MatchedText);
    let fixed = page.replace("Apache Tomcat/9.0.1", "");
    assert_eq!(of_page(&fixed), ProofReason::NoMatchedText);
}

#[test]
fn evidence_without_an_answer_proves_nothing() {
    let nothing = ExpectedAnswer::default();
    let now = answer(200, "", PAGE);
    assert_eq!(judge(&nothing, &now, false), ProofReason::NoAnswer);
    let status = ExpectedAnswer {
        answer: ProofAnswer {
            status: Some(200),
            ..ProofAnswer::default()
        },
        ..ExpectedAnswer::default()
    };
    assert_eq!(judge(&status, &now, false), ProofReason::NoAnswer);
    assert_eq!(
        judge(&status, &answer(404, "", ""), false),
        ProofReason::NotFound
    );
    let described = ExpectedAnswer {
        matched: "a listing of files".to_owned(),
        ..expected()
    };
    assert_eq!(
        judge(&described, &answer(200, "", &without_proof(PAGE)), false),
        ProofReason::MatchedUnknown
    );
}

#[test]
fn another_token_in_the_same_place_is_no_fix() {
    let page = |token: &str| format!("<script>var key = '{token}'; start();</script>");
    let (old, new) = ("ab12".repeat(10), "cd34".repeat(10));
    let expected = ExpectedAnswer {
        answer: answer(200, "", &page(&old)),
        matched: old.clone(),
        ..ExpectedAnswer::default()
    };
    let of_page = |page: &str| judge(&expected, &answer(200, "", page), false);
    assert_eq!(of_page(&page(&old)), ProofReason::MatchedText);
    assert_eq!(of_page(&page(&new)), ProofReason::MatchedUnknown);
    assert_eq!(of_page(&page("")), ProofReason::NoMatchedText);
}

#[test]
fn header_that_was_missing_is_still_missing_or_there() {
    let expected = |name: &str| ExpectedAnswer {
        answer: answer(200, "", PAGE),
        missing: Some(name.to_owned()),
        ..ExpectedAnswer::default()
    };
    let policy = "Content-Security-Policy: frame-ancestors 'none'";
    let with_element = PAGE.replace("<head>", "<head><meta name=referrer>");
    let element = with_element.as_str();
    for (name, headers, page, reason) in [
        (
            "content-security-policy",
            "",
            PAGE,
            ProofReason::StillMissing,
        ),
        (
            "content-security-policy",
            policy,
            PAGE,
            ProofReason::HeaderAdded,
        ),
        (
            "content-security-policy",
            "",
            element,
            ProofReason::StillMissing,
        ),
        ("x-frame-options", policy, PAGE, ProofReason::HeaderReplaced),
        ("referrer-policy", "", element, ProofReason::HeaderReplaced),
        ("referrer-policy", "", "<p>moved", ProofReason::OtherPage),
    ] {
        let judged = judge(&expected(name), &answer(200, headers, page), false);
        assert_eq!(judged, reason, "{name} {headers}");
    }
}

#[test]
fn header_that_protects_is_not_gone_when_it_is_removed() {
    let expected = |value: &str| ExpectedAnswer {
        answer: answer(200, "", PAGE),
        headers: vec![crate::finding_request::RequestHeader {
            name: "strict-transport-security".to_owned(),
            value: value.to_owned(),
        }],
        ..ExpectedAnswer::default()
    };
    for (headers, reason) in [
        (
            "Strict-Transport-Security: max-age=0",
            ProofReason::SameHeader,
        ),
        (
            "Strict-Transport-Security: max-age=9",
            ProofReason::OtherValue,
        ),
        ("", ProofReason::HeaderRemoved),
    ] {
        let now = answer(200, headers, PAGE);
        for value in ["max-age=0", "max-age=0 (too short)"] {
            assert_eq!(judge(&expected(value), &now, false), reason, "{headers}");
        }
    }
}

#[test]
fn text_that_the_evidence_does_not_show_is_never_gone() {
    let cut = ExpectedAnswer {
        answer: ProofAnswer {
            is_cut: true,
            ..answer(200, "", &without_proof(PAGE))
        },
        ..expected()
    };
    let fixed = answer(200, "", &without_proof(PAGE));
    assert_eq!(judge(&cut, &fixed, false), ProofReason::MatchedUnknown);
    let page = |time: &str| PAGE.replace(MATCHED, &format!("Started at {time}"));
    let started = ExpectedAnswer {
        answer: answer(200, "", &page("10:00:00")),
        matched: "Started at 10:00:00".to_owned(),
        ..ExpectedAnswer::default()
    };
    let later = answer(200, "", &page("11:11:11"));
    assert_eq!(judge(&started, &later, false), ProofReason::MatchedUnknown);
    let unreadable = answer(200, "", &without_proof(PAGE).replace("Shop", "\u{fffd}hop"));
    assert_eq!(judged(&unreadable), ProofReason::Unreadable);
    let packed = answer(200, "Content-Encoding: br", &without_proof(PAGE));
    assert_eq!(judged(&packed), ProofReason::Unreadable);
}

#[test]
fn one_place_gone_is_not_the_finding_gone() {
    let several = ExpectedAnswer {
        has_other_places: true,
        ..expected()
    };
    let of = |now: &ProofAnswer| judge(&several, now, false);
    assert_eq!(of(&answer(404, "", "")), ProofReason::OtherPlaces);
    assert_eq!(
        of(&answer(200, "", &without_proof(PAGE))),
        ProofReason::OtherPlaces
    );
    assert_eq!(of(&answer(200, "", PAGE)), ProofReason::MatchedText);
}

proptest! {
    #[test]
    fn outcome_agrees_with_the_proof_in_any_answer(
        status in proptest::sample::select(vec![200u16, 204, 301, 304, 401, 404, 410, 429, 500]),
        header in "(Age: [0-9]|Server: [a-z]{1,3}|Content-Language: [a-z]{2}|[a-z]{0,4})",
        end in "[a-z]{0,9}",
        with_proof: bool,
        is_anonymous: bool,
    ) {
        let page = if with_proof { PAGE.to_owned() } else { without_proof(PAGE) };
        let now = answer(status, &header, &format!("{page}{end}"));
        let outcome = judge(&expected(), &now, is_anonymous).outcome();
        prop_assert!(outcome != ProofOutcome::StillThere || with_proof);
        prop_assert!(outcome != ProofOutcome::Gone || !with_proof && !is_anonymous);
        if status == 200 && !header.contains(':') {
            let wanted = match (with_proof, is_anonymous) {
                (true, _) => ProofOutcome::StillThere,
                (false, true) => ProofOutcome::CannotTell,
                (false, false) => ProofOutcome::Gone,
            };
            prop_assert_eq!(outcome, wanted);
        }
    }
}
