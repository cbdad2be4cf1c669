//! Scans of sites that show the scan little: incomplete tests are reported, and nothing is reported
//! missing.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;

use super::ScanOutcome;
use super::hostile_tests::{ok, redirect, request, server, web, website};
use super::testing::{ScanResult, TestScan, localhost_tls};
use scandeck_wire::contract::Tool;

fn answer(status: &str, headers: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\n{headers}content-type: text/html\r\ncontent-length: 4\r\nconnection: close\r\n\r\n<p>x"
    )
}

fn message(result: &ScanResult) -> &str {
    match &result.outcome {
        ScanOutcome::Finished(message) => message,
        other => panic!("{other:?}"),
    }
}

/// The kinds of all findings, sorted.
fn kinds(result: &ScanResult) -> Vec<&str> {
    let mut kinds: Vec<&str> = result
        .findings()
        .map(|finding| finding.vuln_id.as_str())
        .collect();
    kinds.sort_unstable();
    kinds
}

fn incomplete(result: &ScanResult) -> Vec<&str> {
    let mut uids: Vec<&str> = result
        .tests
        .iter()
        .filter(|test| test.metadata["judged"] == false)
        .map(|test| test.uid.as_str())
        .collect();
    uids.sort_unstable();
    uids
}

#[tokio::test]
async fn site_that_refuses_everything_has_no_finding_but_its_coverage() {
    let scan = |(status, kind): (&'static str, &'static str)| async move {
        let port = web(move |_, _| answer(status, "")).await;
        let result = website(port, json!({})).run().await;
        result.check();
        assert_eq!(kinds(&result), [kind], "{status}");
        let missed = incomplete(&result);
        for uid in [
            "web.header.csp",
            "web.exposed.git",
            "web.secret",
            "web.cors",
            "web.error_page",
            "web.javascript.outdated",
        ] {
            assert!(missed.contains(&uid), "{status}: {uid} of {missed:?}");
        }
        assert!(
            missed.contains(&"web.exposed.source_map"),
            "{status}: {missed:?}"
        );
        let message = message(&result);
        assert!(
            message.starts_with("0 pages read, 1 not readable (HTTP "),
            "{message}"
        );
        assert!(
            message.contains(", 1 finding; ") && message.contains(" tests incomplete (HTTP "),
            "{message}"
        );
        let finding = &result.findings().next().unwrap();
        assert!(
            finding.evidence.as_json().contains("web.exposed,"),
            "{}",
            finding.evidence.as_json()
        );
    };
    let cases = [
        ("401 Unauthorized", "coverage.blocked"),
        ("403 Forbidden", "coverage.blocked"),
        ("500 Internal Server Error", "coverage.errors"),
        ("503 Service Unavailable", "coverage.errors"),
    ];
    futures::future::join_all(cases.map(scan)).await;
}

#[tokio::test]
async fn refused_path_on_open_site_does_not_make_tests_incomplete() {
    let port = web(|path, _| match path {
        "/" => ok("text/html", "<p>shop"),
        "/robots.txt" => redirect("/login"),
        hidden if hidden.contains("/.") || hidden.ends_with(".sql") => answer("403 Forbidden", ""),
        _ => answer("404 Not Found", ""),
    })
    .await;
    let result = website(port, json!({})).run().await;
    result.check();
    assert_eq!(incomplete(&result), [""; 0], "{}", message(&result));
    assert!(
        result
            .findings()
            .all(|finding| !finding.vuln_id.starts_with("coverage."))
    );
}

#[tokio::test]
async fn site_that_shows_only_its_start_page_blocks_the_scan() {
    let port = web(|path, _| match path {
        "/" => ok("text/html", "<a href=/a>a</a><a href=/b>b</a>"),
        _ => answer("403 Forbidden", ""),
    })
    .await;
    let result = website(port, json!({})).run().await;
    result.check();
    let message = message(&result);
    assert!(
        message.starts_with("1 page read, 2 not readable (HTTP 403), "),
        "{message}"
    );
    assert_eq!(result.of("coverage.blocked").len(), 1, "{message}");
    let missed = incomplete(&result);
    assert!(
        missed.contains(&"web.exposed.git") && missed.contains(&"web.secret"),
        "{missed:?}"
    );
    assert_eq!(result.of("web.header.csp_missing").len(), 1);
}

fn is_tested(result: &ScanResult, uid: &str) -> bool {
    !incomplete(result).contains(&uid)
}

#[tokio::test]
async fn firewall_that_answers_instead_of_the_site_leaves_exposed_files_untested() {
    const PAGES: &[&str] = &["/", "/a", "/b"];
    const REJECTED: &str = "<title>Request Rejected</title>The requested URL was rejected. Please consult with your \
        administrator. Your support ID is: 1234";
    const CHALLENGE: &str =
        "<title>Just a moment...</title><script src=/cdn-cgi/challenge-platform/x></script>";
    let forbidden = answer("403 Forbidden", "");
    let cases = [
        ("403 on all but linked pages", forbidden.clone()),
        ("support id", ok("text/html", REJECTED)),
        ("challenge", ok("text/html", CHALLENGE)),
        ("blocked", ok("text/html", "<h1>Blocked</h1>")),
        (
            "a header only",
            answer("200 OK", "cf-mitigated: challenge\r\n"),
        ),
    ];
    let scan = |(name, block): (&'static str, String)| async move {
        let port = web(move |path, _| match path {
            path if PAGES.contains(&path) => ok("text/html", "<a href=/a>a</a><a href=/b>b</a>"),
            _ => block.clone(),
        })
        .await;
        let result = website(port, json!({})).run().await;
        result.check();
        assert!(
            !is_tested(&result, "web.exposed.git") && !is_tested(&result, "web.exposed.env"),
            "{name}"
        );
        assert!(
            is_tested(&result, "web.header.csp"),
            "{name}: the pages were read"
        );
        assert_eq!(
            result.of("coverage.blocked").len(),
            1,
            "{name}: {}",
            message(&result)
        );
    };
    futures::future::join_all(cases.map(scan)).await;
}

#[tokio::test]
async fn block_during_the_scan_is_seen_by_its_control() {
    let scan = |block: String| async move {
        let sent = AtomicUsize::new(0);
        let port = web(move |path, _| {
            let is_blocked = sent.fetch_add(1, Ordering::Relaxed) > 4;
            match path {
                "/" => ok("text/html", "<p>shop"),
                _ if is_blocked => block.clone(),
                _ => answer("404 Not Found", ""),
            }
        })
        .await;
        let result = website(port, json!({})).run().await;
        result.check();
        assert!(!is_tested(&result, "web.exposed.git") && !is_tested(&result, "web.listing"));
        assert_eq!(
            result.of("coverage.blocked").len(),
            1,
            "{}",
            message(&result)
        );
    };
    // The page of the firewall has no word of a firewall, and the site still shows its start page.
    let blocks = [ok("text/html", "<p>Welcome"), answer("403 Forbidden", "")];
    futures::future::join_all(blocks.map(scan)).await;
}

#[tokio::test]
async fn block_that_ends_during_a_check_is_seen_by_its_control() {
    let sent = AtomicUsize::new(0);
    let port = web(move |path, _| {
        let is_blocked = (30..100).contains(&sent.fetch_add(1, Ordering::Relaxed));
        match path {
            "/" => ok("text/html", "<p>shop"),
            _ if is_blocked => answer("403 Forbidden", ""),
            _ => answer("404 Not Found", ""),
        }
    })
    .await;
    let result = website(port, json!({})).run().await;
    result.check();
    assert_eq!(
        result.of("coverage.blocked").len(),
        1,
        "{}",
        message(&result)
    );
    assert!(
        incomplete(&result)
            .iter()
            .any(|uid| uid.starts_with("web.exposed.")),
        "{}",
        message(&result)
    );
}

#[tokio::test]
async fn normal_refusals_and_missing_pages_leave_no_test_incomplete() {
    let denied = "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>";
    let store = format!(
        "HTTP/1.1 403 Forbidden\r\ncontent-type: application/xml\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{denied}",
        denied.len()
    );
    let cases = [
        ("object store", store),
        ("all names are the start page", ok("text/html", "<p>shop")),
        ("missing pages redirect", redirect("/")),
        (
            "article about firewalls",
            ok(
                "text/html",
                &format!("<h1>Blocked requests</h1>{}", "<p>filter".repeat(200)),
            ),
        ),
    ];
    let scan = |(name, missing): (&'static str, String)| async move {
        let port = web(move |path, _| match path {
            "/" => ok("text/html", "<p>shop"),
            _ => missing.clone(),
        })
        .await;
        let result = website(port, json!({})).run().await;
        result.check();
        assert_eq!(incomplete(&result), [""; 0], "{name}: {}", message(&result));
    };
    futures::future::join_all(cases.map(scan)).await;
}

#[tokio::test]
async fn reached_limits_are_lines_of_the_scan_and_of_its_coverage() {
    let script = format!(
        "{}\nconst key = 'AKIAQ3EGRMTWZXCVBNM7';",
        "// filler\n".repeat(60_000)
    );
    let links: String = (1..20)
        .map(|page| format!("<a href=/{page}>{page}</a>"))
        .collect();
    let start = format!("{links}<script src=/app.js></script>");
    let port = web(move |path, _| match path {
        "/app.js" => ok("text/javascript", &script),
        "/" => ok("text/html", &start),
        path if path.len() < 4 => ok("text/html", "<p>page"),
        _ => answer("404 Not Found", ""),
    })
    .await;
    for (params, secrets, lines, rows) in [
        (
            json!({}),
            0,
            vec![
                "Limit reached: 12 of 20 known pages read; a deep scan reads more.",
                "Limit reached: 0 of 1 complete scripts read; a deep scan reads more.",
            ],
            r#"[["limit of known pages","12 of 20",""],["limit of complete scripts","0 of 1",""]]"#,
        ),
        (
            json!({"scan_type": "deep"}),
            1,
            vec!["Limit reached: 15 of 20 known pages read; `serve --scan-pages` sets the limit."],
            r#"[["limit of known pages","15 of 20",""]]"#,
        ),
    ] {
        let mut scan = website(port, params);
        scan.limits.pages = 15;
        let result = scan.run().await;
        result.check();
        let found: Vec<&str> = result
            .info
            .iter()
            .map(String::as_str)
            .filter(|line| line.starts_with("Limit reached"))
            .collect();
        assert_eq!(found, lines);
        assert_eq!(result.of("web.secret").len(), secrets);
        let evidence = result.of("coverage.limits")[0]
            .evidence
            .as_json()
            .to_string();
        assert!(evidence.contains(rows), "{evidence}");
        assert!(
            message(&result).contains("limits reached: pages not read: "),
            "{}",
            message(&result)
        );
        assert_eq!(incomplete(&result), [""; 0]);
    }
    let small = web(|_, _| ok("text/html", "<p>shop")).await;
    let result = website(small, json!({})).run().await;
    result.check();
    assert!(result.of("coverage.limits").is_empty() && !message(&result).contains("limits"));
}

#[tokio::test]
async fn folders_that_look_alike_are_searched_once_and_a_line_names_their_number() {
    let links: String = (0..40)
        .map(|post| format!("<a href=/2024/{:02}/post-{post}/>p</a>", 1 + post % 12))
        .collect();
    let port = web(move |path, _| match path {
        "/" => ok("text/html", &links),
        path if path.starts_with("/2024/")
            && path.contains("/post-")
            && path.matches('/').count() == 4 =>
        {
            if path.ends_with('/') {
                ok("text/html", "<p>post")
            } else {
                answer("404 Not Found", "")
            }
        }
        _ => answer("404 Not Found", ""),
    })
    .await;
    let result = website(port, json!({"scan_type": "deep"})).run().await;
    result.check();
    let line = "Exposed files are searched in 3 of 53 folders: few of those that look alike.";
    assert!(
        result.info.iter().any(|info| info == line),
        "{:?}",
        result.info
    );
    let searched = result
        .raw
        .iter()
        .filter(|line| line.contains("/.git/HEAD -> "))
        .count();
    assert_eq!(searched, 4, "the root, a year, a month and a post");
}

#[tokio::test]
async fn program_that_answers_for_missing_names_has_few_searched_folders() {
    let searched = |missing: &'static str| async move {
        let port = web(move |path, _| match path {
            "/" => ok("text/html", "<a href=/help/first/more/>p</a>"),
            "/help/first/more/" => ok("text/html", "<p>page"),
            _ => ok("text/html", missing),
        })
        .await;
        let result = website(port, json!({"scan_type": "deep"})).run().await;
        result.check();
        let is_searched = |line: &&String| line.contains("/.git/HEAD -> ");
        result.raw.iter().filter(is_searched).count()
    };
    let missing = [
        "<p>not found",
        "<p>not found<a href=/>start</a>",
        "<p>not found<a href=/help/>help</a>",
    ];
    let counts = futures::future::join_all(missing.map(searched)).await;
    // The root and three folders; of the answers of a program, the root and the uppermost folder.
    assert_eq!(counts, [4, 4, 2]);
}

#[tokio::test]
async fn refused_scripts_leave_the_tests_of_scripts_incomplete() {
    let port = web(|path, _| match path {
        "/" => ok("text/html", "<script src=/app.js></script>"),
        "/app.js" => answer("403 Forbidden", ""),
        _ => ok("text/html", "<p>x"),
    })
    .await;
    let result = website(port, json!({})).run().await;
    result.check();
    assert_eq!(
        incomplete(&result),
        [
            "web.exposed.source_map",
            "web.javascript.outdated",
            "web.secret"
        ]
    );
}

#[tokio::test]
async fn refusal_of_one_path_is_not_a_block() {
    let scan = |status: &'static str| async move {
        let refused = AtomicUsize::new(0);
        let port = web(move |path, _| match path {
            "/" => ok("text/html", "<script src=/app.js></script><p>shop"),
            // A rate limit refuses once, the other causes always.
            "/app.js"
                if !status.starts_with("429") || refused.fetch_add(1, Ordering::Relaxed) < 2 =>
            {
                answer(status, "")
            }
            _ => ok("text/html", "<p>x"),
        })
        .await;
        let params = json!({"scan_type": "custom", "discovery": ["git", "env", "backup"]});
        let result = website(port, params).run().await;
        result.check();
        assert!(
            result.of("coverage.blocked").is_empty(),
            "{status}: {}",
            message(&result)
        );
        let errors = result.of("coverage.errors");
        assert_eq!(errors.len(), 1, "{status}: {}", message(&result));
        let evidence = errors[0].evidence.as_json();
        assert!(!evidence.contains("5xx"), "{status}: {evidence}");
    };
    let statuses = [
        "401 Unauthorized",
        "403 Forbidden",
        "429 Too Many Requests",
        "999 Denied",
    ];
    futures::future::join_all(statuses.map(scan)).await;
}

#[tokio::test]
async fn site_that_refuses_most_paths_has_a_note() {
    let port = web(|path, _| match path {
        "/" => ok("text/html", "<p>shop"),
        path if path.contains('.') => answer("403 Forbidden", ""),
        _ => answer("404 Not Found", ""),
    })
    .await;
    let result = website(port, json!({})).run().await;
    result.check();
    assert!(
        result
            .info
            .iter()
            .any(|line| line.contains("count as not public")),
        "{:?}",
        result.info
    );
}

#[tokio::test]
async fn folders_of_links_that_act_are_not_searched() {
    let port = web(|path, _| match path {
        "/" => ok(
            "text/html",
            "<a href=/cart/add/7>buy</a><a href=/docs/a/b>docs</a>",
        ),
        "/robots.txt" => ok(
            "text/plain",
            "User-agent: *\nDisallow: /item/delete/\nDisallow: /hidden/\n",
        ),
        _ => answer("404 Not Found", ""),
    })
    .await;
    let result = website(port, json!({})).run().await;
    result.check();
    let requested = |part: &str| result.raw.iter().any(|line| line.contains(part));
    assert!(
        requested("/docs/a/.git/HEAD") && requested("/hidden/.git/HEAD"),
        "{}",
        result.raw.join("\n")
    );
    assert!(
        !requested("/cart/") && !requested("/item/delete"),
        "{}",
        result.raw.join("\n")
    );
}

#[tokio::test]
async fn old_copy_of_a_page_is_one_finding() {
    let port = web(|path, _| match path {
        "/" => ok("text/html", "<p>shop"),
        "/index.php.bak" | "/login.php.bak" => ok("text/plain", "<?php $a = 1;"),
        _ => answer("404 Not Found", ""),
    })
    .await;
    let result = website(port, json!({})).run().await;
    result.check();
    let evidence = |kind: &str| result.of(kind)[0].evidence.as_json().to_string();
    assert!(evidence("web.exposed.backup").contains("/index.php.bak"));
    let copies = evidence("web.exposed.copy");
    assert!(
        copies.contains("/login.php.bak") && !copies.contains("/index.php.bak"),
        "{copies}"
    );
}

#[tokio::test]
async fn site_that_blocks_the_scan_after_some_requests_is_not_judged_from_then_on() {
    let count = AtomicUsize::new(0);
    let port = web(
        move |path, _| match (count.fetch_add(1, Ordering::Relaxed), path) {
            (0, _) => ok("text/html", "<a href=/a>a</a>"),
            (1..4, _) => ok("text/html", "<p>a"),
            _ => answer("403 Forbidden", ""),
        },
    )
    .await;
    let result = website(port, json!({})).run().await;
    result.check();
    let missed = incomplete(&result);
    assert!(
        missed.contains(&"web.exposed.git") && !missed.contains(&"web.header.csp"),
        "{missed:?}"
    );
    assert_eq!(result.of("web.header.csp_missing").len(), 1);
    assert_eq!(result.of("web.security_txt").len(), 0);
}

#[tokio::test]
async fn start_page_that_is_a_login_page_is_a_login_wall() {
    let port = web(|path, _| match path {
        "/user/login" => ok("text/html", "<form><input type=password></form>"),
        _ => redirect("/user/login"),
    })
    .await;
    let result = website(port, json!({})).run().await;
    result.check();
    let walls = result.of("coverage.login_wall");
    assert_eq!(walls.len(), 1, "{}", message(&result));
    assert!(
        incomplete(&result).contains(&"web.exposed.env"),
        "{}",
        walls[0].evidence.as_json()
    );
}

#[tokio::test]
async fn rate_limit_slows_the_scan_and_everything_is_judged() {
    let refused = Arc::new(Mutex::new(Vec::new()));
    let times = Arc::clone(&refused);
    let count = AtomicUsize::new(0);
    let port = web(move |_, _| {
        // The tenth request, and those that are on their way with it.
        let mut times = times.lock().unwrap();
        let nth = count.fetch_add(1, Ordering::Relaxed);
        let since = times.first().map(|first: &Instant| first.elapsed());
        if nth == 10 || since.is_some_and(|since| since < Duration::from_millis(600)) {
            times.push(Instant::now());
            return answer("429 Too Many Requests", "retry-after: 1\r\n");
        }
        ok("text/html", "<p>x")
    })
    .await;
    let result = website(
        port,
        json!({"scan_type": "custom", "discovery": ["robots", "security_txt"]}),
    )
    .run()
    .await;
    result.check();
    assert_eq!(incomplete(&result), [""; 0], "{}", message(&result));
    let refused = refused.lock().unwrap().len();
    assert!((1..=6).contains(&refused), "{refused} refused");
    assert!(
        result.elapsed > Duration::from_millis(900),
        "{:?}",
        result.elapsed
    );
}

#[tokio::test]
async fn site_that_answers_429_to_everything_gets_few_requests() {
    let count = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    let port = web(move |_, _| {
        seen.fetch_add(1, Ordering::Relaxed);
        answer("429 Too Many Requests", "")
    })
    .await;
    let result = website(port, json!({})).run().await;
    result.check();
    assert_eq!(kinds(&result), ["coverage.blocked"]);
    let count = count.load(Ordering::Relaxed);
    assert!(count < 20, "{count} requests");
}

#[tokio::test]
async fn answer_that_is_cut_is_requested_once_more() {
    let count = Arc::new(AtomicUsize::new(0));
    let port = server(move |mut stream| {
        let is_cut = count.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
        async move {
            request(&mut stream).await;
            let full = ok("text/html", "<p>hello</p>");
            let _ = stream
                .write_all(&full.as_bytes()[..full.len() - if is_cut { 5 } else { 0 }])
                .await;
        }
    })
    .await;
    let one_at_a_time =
        json!({"scan_type": "custom", "attack_active": [], "discovery": ["robots"]});
    let result = website(port, one_at_a_time).run().await;
    result.check();
    assert_eq!(
        incomplete(&result),
        [""; 0],
        "{}\n{}",
        message(&result),
        result.raw.join("\n")
    );
}

/// A TLS server that sends this and closes the connection without the message that TLS requires.
async fn abrupt_tls(answer: &'static str) -> u16 {
    let acceptor = TlsAcceptor::from(Arc::new(localhost_tls()));
    server(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else {
                return;
            };
            request(&mut stream).await;
            let _ = stream.write_all(answer.as_bytes()).await;
            let _ = stream.flush().await;
        }
    })
    .await
}

#[tokio::test]
async fn tls_connection_without_close_notify_ends_a_body_without_length_only() {
    for (answer, is_read) in [
        (
            "HTTP/1.0 200 OK\r\ncontent-type: text/html\r\n\r\n<p>hello</p>",
            true,
        ),
        (
            "HTTP/1.0 200 OK\r\ncontent-type: text/html\r\ncontent-length: 900\r\n\r\n<p>hello</p>",
            false,
        ),
    ] {
        let target = format!("https://127.0.0.1:{}/", abrupt_tls(answer).await);
        let params = json!({"scan_type": "custom", "attack_active": [], "discovery": ["robots"]});
        let result = TestScan::new(Tool::WEBSITE, &target, params).run().await;
        let is_finished = matches!(result.outcome, ScanOutcome::Finished(_));
        assert_eq!(
            is_finished && incomplete(&result).is_empty(),
            is_read,
            "{:?}\n{}",
            result.outcome,
            result.raw.join("\n")
        );
    }
}

#[tokio::test]
async fn slow_answer_gets_twice_the_time() {
    let port = server(|mut stream| async move {
        request(&mut stream).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        let _ = stream
            .write_all(ok("text/html", "<p>slow</p>").as_bytes())
            .await;
    })
    .await;
    let mut scan = website(
        port,
        json!({"scan_type": "custom", "attack_active": [], "discovery": ["robots"]}),
    );
    scan.limits.answer_time = Some(Duration::from_millis(200));
    let result = scan.run().await;
    result.check();
    assert_eq!(incomplete(&result), [""; 0], "{}", result.raw.join("\n"));
    let timeouts = result
        .raw
        .iter()
        .filter(|line| line.contains("before the timeout"))
        .count();
    assert_eq!(timeouts, 1, "{}", result.raw.join("\n"));
}

/// The bytes without compression in the format of each encoding.
fn encoded(encoding: &str, body: &str) -> Vec<u8> {
    let (bytes, length) = (body.as_bytes(), body.len() as u32);
    match encoding {
        // RFC 7932 §9.2: one uncompressed meta-block, then an empty last one.
        "br" => [
            &((length - 1) << 4 | 1 << 20).to_le_bytes()[..3],
            bytes,
            &[3],
        ]
        .concat(),
        // RFC 8878 §3.1.1: a single segment with one raw block.
        "zstd" => [
            &[0x28, 0xb5, 0x2f, 0xfd, 0x20, length as u8][..],
            &(1 | length << 3).to_le_bytes()[..3],
            bytes,
        ]
        .concat(),
        // RFC 1950, RFC 1951 §3.2.4: one stored block.
        _ => {
            let (mut a, mut b) = (1_u32, 0_u32);
            for byte in bytes {
                a = (a + u32::from(*byte)) % 65521;
                b = (b + a) % 65521;
            }
            let length = length as u16;
            [
                &[0x78, 1, 1][..],
                &length.to_le_bytes(),
                &(!length).to_le_bytes(),
                bytes,
                &(b << 16 | a).to_be_bytes(),
            ]
            .concat()
        }
    }
}

fn packed(encoding: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-encoding: {encoding}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

#[tokio::test]
async fn undecodable_page_makes_tests_incomplete() {
    let scan = |encoding: &'static str| async move {
        let port = web(move |path, _| match path {
            "/" => packed(encoding, &encoded(encoding, "<a href=/next>next</a>")),
            _ => ok("text/html", "<p>x").into_bytes(),
        })
        .await;
        let result = website(port, json!({})).run().await;
        result.check();
        assert!(
            result.raw.iter().any(|line| line.contains("/next -> 200")),
            "{encoding}: {}",
            result.raw.join("\n")
        );
    };
    futures::future::join_all(["br", "zstd", "deflate"].map(scan)).await;
    let port = web(|path, _| match path {
        "/robots.txt" => packed("gzip", b"this is not gzip"),
        _ => ok("text/html", "<p>x").into_bytes(),
    })
    .await;
    let result = website(port, json!({})).run().await;
    result.check();
    assert_eq!(incomplete(&result), ["web.robots"]);
    assert_eq!(result.of("coverage.errors").len(), 1);
}
