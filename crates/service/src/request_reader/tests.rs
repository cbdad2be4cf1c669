//! Malformed and unusual requests, one case each, and what holds for every sequence of bytes.

use proptest::prelude::*;

use super::*;

const LIMITS: ReaderLimits = ReaderLimits {
    head: 64 * 1024,
    body: 1024 * 1024,
};

/// The requests of a connection whose bytes arrive in parts of these sizes, again and again.
fn read_in_parts(
    bytes: &[u8],
    sizes: &[usize],
    limits: ReaderLimits,
    cause: EndCause,
) -> Vec<ReceivedRequest> {
    let mut reader = RequestReader::new(limits);
    let (mut requests, mut rest, mut sizes) = (Vec::new(), bytes, sizes.iter().cycle());
    while !rest.is_empty() {
        let (part, left) = rest.split_at((*sizes.next().unwrap()).clamp(1, rest.len()));
        reader.feed(part);
        requests.extend(std::iter::from_fn(|| reader.next()));
        rest = left;
    }
    requests.extend(reader.end(cause));
    requests
}

fn read(text: &str) -> Vec<ReceivedRequest> {
    read_in_parts(text.as_bytes(), &[usize::MAX], LIMITS, EndCause::Closed)
}

/// The only request in this text.
fn one(text: &str) -> ReceivedRequest {
    let mut requests = read(text);
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert_eq!(requests[0].raw(), text.as_bytes());
    requests.remove(0)
}

fn shown(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

impl RequestHead {
    fn line(&self, index: usize) -> (String, String) {
        let line = &self.lines[index];
        (
            line.name.as_deref().map_or("-".to_owned(), shown),
            shown(&line.value),
        )
    }
}

#[test]
fn regular_requests_have_no_problem_and_follow_each_other() {
    let first = "GET /l/a?x=1 HTTP/1.1\r\nHost: a\r\nX-Case:  two words \r\n\r\n";
    let second = "POST /l/b HTTP/1.1\r\nhost: a\r\nContent-Length: 5\r\n\r\nhello";
    let third =
        "PUT /l/c HTTP/1.1\r\nhost: a\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    let requests = read(&format!("{first}{second}{third}"));
    let raws: Vec<String> = requests
        .iter()
        .map(|one| String::from_utf8(one.raw()).unwrap())
        .collect();
    assert_eq!(raws, [first, second, third]);
    for request in &requests {
        assert!(
            request.problems.is_empty() && !request.closes && request.end == RequestEnd::Whole,
            "{request:?}"
        );
    }
    assert_eq!(
        requests[0].head.line(1),
        ("X-Case".into(), "two words".into())
    );
    assert_eq!([&requests[1].body, &requests[2].body], [b"hello", b"hello"]);
    assert_eq!(requests[1].framed_body, None);
    assert_eq!(
        requests[2].framed_body.as_deref(),
        Some(&b"5\r\nhello\r\n0\r\n\r\n"[..])
    );
}

#[test]
fn request_line_is_read_as_far_as_possible() {
    for (line, method, target, problem) in [
        (
            "GET /l/T/?x=<b> HTTP/1.1",
            "GET",
            "/l/T/?x=<b>",
            "the target contains `<>`",
        ),
        (
            "GET /l/T/?x=<b c> HTTP/1.1",
            "GET",
            "/l/T/?x=<b c>",
            "the target contains `< >`",
        ),
        (
            "GET /l/T/\u{1}é HTTP/1.1",
            "GET",
            "/l/T/\\x01\\xc3\\xa9",
            r"the request line contains the control byte `\x01`",
        ),
        (
            "GET /l/\0 HTTP/1.1",
            "GET",
            "/l/\\x00",
            r"the target contains `\x00`",
        ),
        (
            "GET\t/l/T/  HTTP/1.1",
            "GET",
            "/l/T/",
            "other blanks than single spaces",
        ),
        (
            "GET  /l/T/ HTTP/1.1",
            "GET",
            "/l/T/",
            "other blanks than single spaces",
        ),
        (
            " GET /l/T/ HTTP/1.1 ",
            "GET",
            "/l/T/",
            "blanks around the request line",
        ),
        ("G(T /l/T/ HTTP/1.1", "G(T", "/l/T/", "invalid method `G(T`"),
        (
            "GET http://h/l/T/ http/1.1",
            "GET",
            "http://h/l/T/",
            "unknown HTTP version `http/1.1`",
        ),
        (
            "GET /l/T/ HTTP/3.7",
            "GET",
            "/l/T/",
            "unknown HTTP version `HTTP/3.7`",
        ),
        ("GET HTTP/1.1", "GET", "", "no target"),
        ("GET", "GET", "", "no HTTP version"),
        ("é /l/T/", "\\xc3\\xa9", "/l/T/", "no HTTP version"),
    ] {
        let request = one(&format!("{line}\r\nHost: a\r\n\r\n"));
        assert_eq!(
            (shown(&request.head.method), shown(&request.head.target)),
            (method.into(), target.into()),
            "{line}"
        );
        assert!(
            request.problems.iter().any(|found| found.contains(problem)),
            "{line} {:?}",
            request.problems
        );
    }
    for line in [
        "CONNECT a.test:443 HTTP/1.1",
        "OPTIONS * HTTP/1.1",
        "GET https://u@h:1/x?y HTTP/1.1",
    ] {
        assert!(
            one(&format!("{line}\r\nHost: a\r\n\r\n"))
                .problems
                .is_empty(),
            "{line}"
        );
    }
}

#[test]
fn odd_header_lines_are_kept() {
    let cases = [
        (
            "X-Powered-By : PHP",
            ("X-Powered-By ", "PHP"),
            "header line 2 has blanks around its name",
        ),
        ("no colon", ("-", "no colon"), "header line 2 has no colon"),
        (": value", ("", "value"), "header line 2 has no name"),
        (
            "X(Y): 1",
            ("X(Y)", "1"),
            "header line 2 has the invalid name `X(Y)`",
        ),
        (
            "X: a\0b",
            ("X", "a\\x00b"),
            r"header line 2 contains the control byte `\x00`",
        ),
        (
            "X: a\rY: b",
            ("X", "a\\rY: b"),
            r"header line 2 contains the control byte `\r`",
        ),
        (
            "X: a\r\n\tb",
            ("X", "a b"),
            "header line 3 is a folded line",
        ),
    ];
    for (line, (name, value), problem) in cases {
        let request = one(&format!("GET /l/T/ HTTP/1.1\r\nHost: a\r\n{line}\r\n\r\n"));
        assert_eq!(request.head.line(1), (name.into(), value.into()), "{line}");
        assert_eq!(request.problems, [problem]);
        assert!(!request.closes, "{line}");
    }
    let bare = one("GET /l/T/ HTTP/1.1\nHost: a\nX: 1\n\n");
    assert_eq!((bare.head.lines.len(), bare.problems.len()), (2, 1));
    assert_eq!(
        one("GET / HTTP/1.1\r\n\tx: 1\r\nHost: a\r\n\r\n")
            .head
            .line(0),
        ("\\tx".into(), "1".into())
    );
    assert_eq!(
        one("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n").problems,
        ["2 Host headers"]
    );
    assert_eq!(one("GET / HTTP/1.1\r\n\r\n").problems, ["no Host header"]);
    let many = "x\r\n".repeat(1000);
    assert_eq!(
        one(&format!("GET / HTTP/1.1\r\nHost: a\r\n{many}\r\n"))
            .problems
            .last()
            .unwrap(),
        "980 more"
    );
}

#[test]
fn body_ends_where_most_bytes_are_kept() {
    let request = |headers: &str, body: &str| {
        one(&format!(
            "POST /l/T/ HTTP/1.1\r\nHost: a\r\n{headers}\r\n\r\n{body}"
        ))
    };
    for (headers, body, kept, problem) in [
        (
            "Content-Length: 5\r\nContent-Length: 7",
            "1234567",
            "1234567",
            "different Content-Length values: 5 and 7; the largest",
        ),
        (
            "Content-Length: 5, 7",
            "1234567",
            "1234567",
            "different Content-Length values",
        ),
        (
            "Content-Length: 5\r\nContent-Length: 5",
            "12345",
            "12345",
            "Content-Length is repeated 2 times",
        ),
        (
            "Content-Length: 50",
            "12345",
            "12345",
            "the body ended after 5 of 50 bytes: the sender closed the connection",
        ),
        (
            "Content-Length: +5",
            "12345",
            "12345",
            "Content-Length is no number: `+5`",
        ),
        (
            "Content-Length:",
            "12345",
            "12345",
            "Content-Length is no number: ``",
        ),
        (
            "Content-Length: 99999999999999999999",
            "123",
            "123",
            "after 3 of 18446744073709551615 bytes",
        ),
        (
            "Content-Length: 3\r\nTransfer-Encoding: chunked",
            "2\r\nab\r\n0\r\n\r\n",
            "ab",
            "both Content-Length and Transfer-Encoding",
        ),
        (
            "Content-Length : 2\r\nTransfer-Encoding: xchunked",
            "ab",
            "ab",
            "transfer encoding `xchunked` was not decoded",
        ),
        (
            "Transfer-Encoding: \x0bchunked",
            "ab",
            "ab",
            r"transfer encoding `\x0bchunked` was not decoded",
        ),
        (
            "Transfer-Encoding: gzip, chunked",
            "2\r\nab\r\n0\r\n\r\n",
            "ab",
            "transfer encoding `gzip` was not decoded",
        ),
        (
            "Transfer-Encoding: chunked, identity",
            "2\r\nab\r\n0\r\n\r\n",
            "ab",
            "",
        ),
        (
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: x",
            "2\r\nab\r\n",
            "2\r\nab\r\n",
            "not the last transfer encoding",
        ),
        (
            "Transfer-Encoding: chunked",
            "hello\r\nab",
            "hello\r\nab",
            r"chunk 1 has the invalid size `hello`",
        ),
        (
            "Transfer-Encoding: chunked",
            "2\r\nabcd\r\n",
            "abcd\r\n",
            "chunk 1 is longer than its size",
        ),
        (
            "Transfer-Encoding: chunked",
            "2;a=\"b\"\r\nab\r\n0\r\n\r\n",
            "ab",
            "chunk 1 has the extension `;a=\\\"b\\\"`",
        ),
        (
            "Transfer-Encoding: chunked",
            "2 \nab\n0\n\n",
            "ab",
            "chunk 1 has blanks around its size",
        ),
        (
            "Transfer-Encoding: chunked",
            "2\r\nab\r\n",
            "ab",
            "the body ended before its last chunk",
        ),
        (
            "Transfer-Encoding: chunked",
            "-2\r\n",
            "-2\r\n",
            "invalid size `-2`",
        ),
        (
            "Transfer-Encoding: chunked",
            "10000000000000000\r\n",
            "10000000000000000\r\n",
            "invalid size",
        ),
        (
            "Transfer-Encoding: chunked",
            "2\r\nab\r\n0\r\nX-T: secret\r\n\r\n",
            "ab",
            "headers after the body: `X-T`",
        ),
    ] {
        let request = request(headers, body);
        assert_eq!(shown(&request.body), shown(kept.as_bytes()), "{headers}");
        let named =
            problem.is_empty() || request.problems.iter().any(|found| found.contains(problem));
        assert!(named, "{headers} {:?}", request.problems);
    }
    let with_trailer = request("Transfer-Encoding: chunked", "0\r\nX-T: secret\r\n\r\n");
    assert_eq!(with_trailer.head.line(2), ("X-T".into(), "secret".into()));
    assert!(one("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").closes);
}

#[test]
fn ambiguous_request_closes_but_the_rest_is_read() {
    let smuggled = "POST /l/T/ HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    let requests = read(&format!(
        "{smuggled}GET /l/T/next HTTP/1.1\r\nHost: a\r\n\r\nGARBAGE"
    ));
    let targets: Vec<String> = requests.iter().map(|one| shown(&one.head.target)).collect();
    assert_eq!(targets, ["/l/T/", "/l/T/next", ""]);
    assert_eq!([requests[0].closes, requests[1].closes], [true, false]);
    assert_eq!(
        (requests[2].raw(), requests[2].end),
        (b"GARBAGE".to_vec(), RequestEnd::Cut(EndCause::Closed))
    );
}

#[test]
fn connection_stays_open_as_its_headers_say() {
    let closes = |head: &str| one(&format!("{head}\r\n\r\n")).closes;
    for (head, expected) in [
        ("GET / HTTP/1.1", false),
        ("GET / HTTP/1.1\r\nConnection: x, Close", true),
        ("GET / HTTP/1.0", true),
        ("GET / HTTP/1.0\r\nconnection: Keep-Alive", false),
        (
            "GET / HTTP/1.0\r\nconnection: keep-alive\r\nConnection: close",
            true,
        ),
        ("GET / HTTP/2.0", true),
        ("GET /", true),
    ] {
        assert_eq!(closes(head), expected, "{head}");
    }
}

#[test]
fn requests_without_a_certain_end_end_at_a_pause() {
    let paused = |text: &str| {
        let mut reader = RequestReader::new(LIMITS);
        reader.feed(text.as_bytes());
        assert_eq!(reader.next(), None, "{text}");
        reader
            .ends_at_pause()
            .then(|| reader.end(EndCause::Pause).unwrap())
    };
    let post = "POST / HTTP/1.1\r\nHost: a\r\n";
    for (text, expected) in [
        ("GET / HTTP/1.1\r\n", false),
        ("GET /l/T/x", false),
        ("GET /l/T/x\r\n", true),
        ("/l/T/x", true),
        ("A\u{93}b", true),
        ("\x16\x03\x01", true),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", true),
        (&format!("{post}Content-Length: 5\r\n\r\n1234"), false),
        (
            &format!("{post}Content-Length: 5\r\nContent-Length: 7\r\n\r\n1234"),
            false,
        ),
        (
            &format!("{post}Content-Length: 5\r\nContent-Length: 7\r\n\r\n12345"),
            true,
        ),
        (&format!("{post}Content-Length: x\r\n\r\n"), true),
        (&format!("{post}Transfer-Encoding: chunked\r\n\r\n5"), false),
        (
            &format!("{post}Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n5c\r\nabc"),
            false,
        ),
        (
            &format!("{post}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n5c\r\nabc"),
            true,
        ),
        (
            &format!("{post}Transfer-Encoding: chunked\r\n\r\nx\r\n"),
            true,
        ),
    ] {
        let request = paused(text);
        assert_eq!(request.is_some(), expected, "{text:?}");
        if let Some(request) = request {
            assert!(
                request.closes && request.raw() == text.as_bytes(),
                "{request:?}"
            );
        }
    }
    let simple = paused("GET /l/T/x\r\n").unwrap();
    assert_eq!(
        (simple.end, simple.problems),
        (
            RequestEnd::Whole,
            vec!["no HTTP version in the request line".into()]
        )
    );
    assert_eq!(
        paused("\x16\x03\x01").unwrap().problems,
        ["a TLS handshake, which this port cannot read"]
    );
    assert_eq!(
        paused("PRI * HTTP/2.0\r\n\r\nSM").unwrap().problems,
        ["an HTTP/2 connection; only HTTP/1 is read"]
    );
}

#[test]
fn half_requests_name_their_end() {
    let end = |text: &str, cause| read_in_parts(text.as_bytes(), &[1], LIMITS, cause).remove(0);
    let half = end("GET /l/T/ HTTP/1.1\r\nHost: a\r\nX-Ha", EndCause::Late);
    assert_eq!(
        half.problems,
        ["the head has no end: the rest did not arrive in time"]
    );
    assert_eq!(
        (half.end, half.head.lines.len()),
        (RequestEnd::Cut(EndCause::Late), 2)
    );
    let body = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab";
    let named = "the body ended after 2 of 9 bytes: other connections displaced this one";
    assert_eq!(end(body, EndCause::Displaced).problems, [named]);
    assert!(read("").is_empty() && read("\r\n\r\n").is_empty());
    assert_eq!(
        one("\r\n\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").head.method,
        b"GET"
    );
}

#[test]
fn sizes_beyond_the_limits_are_cut() {
    let limits = ReaderLimits { head: 40, body: 10 };
    let read = |text: &str| read_in_parts(text.as_bytes(), &[7], limits, EndCause::Closed);
    let head = "POST /l/T/ HTTP/1.1\r\nHost: a\r\nX: ";
    let large = read(&format!(
        "{head}{}\r\n\r\nGET / HTTP/1.1\r\n\r\n",
        "z".repeat(90)
    ));
    assert_eq!(
        (large.len(), large[0].end, large[0].raw().len()),
        (1, RequestEnd::HeadTooLarge, 40)
    );
    assert_eq!(
        large[0].problems.last().unwrap(),
        "the head is larger than 40 bytes; the rest was not recorded"
    );
    assert_eq!(read(&"\r\n".repeat(50)).len(), 1);

    let post = |length: usize| {
        format!(
            "P / HTTP/1.0\r\nContent-Length: {length}\r\n\r\n{}",
            "b".repeat(length)
        )
    };
    let posted = read(&format!("{}{}{}", post(10), post(11), post(2)));
    let kept: Vec<_> = posted.iter().map(|one| (one.end, one.body.len())).collect();
    assert_eq!(
        kept,
        [
            (RequestEnd::Whole, 10),
            (RequestEnd::BodyTooLarge, 10),
            (RequestEnd::Whole, 2)
        ]
    );
    assert_eq!(
        posted[1].problems,
        ["the body is larger than 10 bytes; the rest was not recorded"]
    );
    let endless = read(&format!("{}{}", post(1000), post(2)));
    assert_eq!(
        (endless.len(), endless[0].end, endless[0].closes),
        (1, RequestEnd::BodyTooLarge, true)
    );
    // The framing of small chunks is larger than their data.
    let chunks = format!(
        "P / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n",
        "1\r\nx\r\n".repeat(9)
    );
    let limits = ReaderLimits { head: 60, body: 10 };
    let chunked = &read_in_parts(chunks.as_bytes(), &[3], limits, EndCause::Late)[0];
    assert_eq!(chunked.end, RequestEnd::BodyTooLarge);
    assert_eq!(
        chunked.framed_body.as_deref(),
        Some(&b"1\r\nx\r\n1\r\nx"[..])
    );
    assert!(chunked.body.iter().all(|&byte| byte == b'x') && (4..10).contains(&chunked.body.len()));
}

#[test]
fn sender_waits_for_continue_until_its_body_begins() {
    let mut reader = RequestReader::new(LIMITS);
    reader.feed(b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n");
    assert_eq!(
        (reader.next(), reader.stage(), reader.expects_continue()),
        (None, ReadStage::Body, true)
    );
    reader.feed(b"a");
    assert_eq!(
        (reader.next(), reader.expects_continue(), reader.body_size()),
        (None, false, 1)
    );
    reader.feed(b"b");
    assert!(reader.next().is_some() && reader.stage() == ReadStage::Waiting);
}

/// Parts of requests, in any order.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    const PARTS: &[&str] = &[
        "GET ",
        "POST ",
        "/l/T/",
        " HTTP/1.1\r\n",
        " HTTP/1.0\r\n",
        "\r\n",
        "\n",
        "\r",
        "Host: a\r\n",
        "X : y\r\n",
        " fold\r\n",
        "Content-Length: 5\r\n",
        "Content-Length: 3, 4\r\n",
        "Content-Length: x\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding: x\r\n",
        "Connection: close\r\n",
        "Expect: 100-continue\r\n",
        "hello",
        "5\r\nhello\r\n",
        "0\r\n\r\n",
        "0\r\nX-T: 1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\0",
        "\x16\x03\x01",
        "3\r\nab",
        "POST /l/T/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST /l/T/ HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 9\r\n\r\n",
    ];
    prop_oneof![
        6 => prop::sample::select(PARTS).prop_map(|part| part.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ]
}

fn arrived() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(fragment(), 0..25).prop_map(|parts| parts.concat())
}

fn cause() -> impl Strategy<Value = EndCause> {
    let causes = [
        EndCause::Closed,
        EndCause::Late,
        EndCause::Pause,
        EndCause::Displaced,
        EndCause::Stopping,
    ];
    prop::sample::select(causes.to_vec())
}

proptest! {
    #[test]
    fn any_split_gives_the_same_requests(
        bytes in arrived(),
        sizes in prop::collection::vec(1..40_usize, 1..6),
        cause in cause(),
        is_small: bool,
    ) {
        let limits = if is_small { ReaderLimits { head: 50, body: 4 } } else { LIMITS };
        let whole = read_in_parts(&bytes, &[usize::MAX], limits, cause);
        prop_assert_eq!(&whole, &read_in_parts(&bytes, &sizes, limits, cause));
        prop_assert_eq!(whole, read_in_parts(&bytes, &[1], limits, cause));
    }

    #[test]
    fn raw_bytes_of_all_requests_are_those_that_arrived(bytes in arrived(), cause in cause()) {
        let raw: Vec<u8> = read_in_parts(&bytes, &[9], LIMITS, cause).iter().flat_map(ReceivedRequest::raw).collect();
        let rest = bytes.strip_prefix(raw.as_slice()).expect("the raw bytes are the first ones");
        prop_assert!(rest.iter().all(|byte| matches!(byte, b'\r' | b'\n')), "{:?}", rest);
    }
}
