//! `/scans` and the worker behind it.

use std::time::Duration;

use super::clock::ManualClock;
use jiff::{SignedDuration, Timestamp};
use scandeck::contract::{Risk, ScanOutput};
use scandeck::service::engine::{ScanEvent, ScanOutcome};
use serde_json::{Value, json};

use super::TestService;
use super::runner::{ScriptedRunner, finding, tested, typical_events};

#[tokio::test]
async fn running_scan_counts_finished_tests_until_finished() {
    let service = TestService::new().await;
    let step = || ScanEvent::Step("40 requests sent".to_owned());
    service
        .runner
        .set_events([step()].into_iter().chain(typical_events()).collect());
    let target = service.target("127.0.0.1").await;
    let created = service
        .post("/scans", json!({"tool_id": 70, "target_id": target}))
        .await;
    assert_eq!(created.body["data"]["target_id"], target);
    let scan = created.created();

    let running = service
        .until(&format!("/scans/{scan}"), |scan| {
            scan["num_finished_tests"] == 7
        })
        .await;
    assert_eq!(
        (
            &running["status_name"],
            &running["progress"],
            &running["num_tests"]
        ),
        (&json!("running"), &json!(70), &json!(10))
    );
    assert_eq!(
        (
            &running["result_summary"]["critical"],
            &running["result_summary"]["info"]
        ),
        (&json!(1), &json!(1))
    );
    assert_eq!(
        (&running["end_time"], &running["vpn_scan"]),
        (&Value::Null, &json!(false))
    );
    assert_eq!(
        running["info_text_lines"],
        json!(["connected to 127.0.0.1"])
    );
    assert_eq!(running["result_summary"]["text"], "1 critical, 1 info");
    assert_eq!(running["status_message"], "40 requests sent");

    service.runner.finish_scans(1);
    let finished = service.until_status(scan, "finished").await;
    assert_eq!(
        (&finished["progress"], &finished["status_message"]),
        (&json!(100), &json!("all tests ended"))
    );
    for time in ["start_time", "end_time"] {
        let text = finished[time].as_str().unwrap();
        assert!(text.len() == 19 && &text[10..11] == " ", "{time}: {text}");
    }
    service.stop().await;
}

#[tokio::test]
async fn finished_scan_does_not_count_tests_without_a_result() {
    let service = TestService::new().await;
    let unjudged = |uid: &str| {
        let ScanEvent::Tested(mut test) = tested(uid, 1, Vec::new()) else {
            panic!("not a test")
        };
        test.metadata = json!({"judged": false, "cause": "HTTP 403"});
        ScanEvent::Tested(test)
    };
    // Several entries of one check count each, as those of a word list.
    let events = [
        tested("a", 1, Vec::new()),
        unjudged("b"),
        unjudged("b"),
        unjudged("c"),
        tested("d", 1, Vec::new()),
    ];
    service
        .runner
        .set_events([ScanEvent::Planned(5)].into_iter().chain(events).collect());
    let target = service.target("127.0.0.1").await;
    let scan = service.scan(target).await;
    service
        .until(&format!("/scans/{scan}"), |scan| {
            scan["num_finished_tests"] == 5
        })
        .await;
    service.runner.finish_scans(1);
    let ended = service.until_status(scan, "finished").await;
    assert_eq!(
        (&ended["num_finished_tests"], &ended["num_tests"]),
        (&json!(2), &json!(5))
    );
    assert_eq!(ended["progress"], 100);
    let tests = service
        .get(&format!("/scans/{scan}/tests"))
        .await
        .data()
        .clone();
    assert_eq!(
        tests[1]["metadata"],
        json!({"judged": false, "cause": "HTTP 403"})
    );
    service.stop().await;
}

#[tokio::test]
async fn waiting_scan_has_every_field_and_null_times() {
    let service = TestService::with(|settings| settings.scans_at_once = 1).await;
    let target = service.target("127.0.0.1").await;
    let first = service.scan(target).await;
    service.until_status(first, "running").await;
    let second = service.scan(target).await;
    let waiting = service.get(&format!("/scans/{second}")).await;
    let waiting = waiting.data().as_object().unwrap();
    for field in
        "id tool_id target_id status_name vpn_scan progress result_summary duration num_tests num_finished_tests \
                  status_message info_text_lines workspace_id scan_original_url tool_params"
            .split_whitespace()
    {
        assert!(waiting.get(field).is_some_and(|value| !value.is_null()), "{field}");
    }
    assert_eq!(
        (
            &waiting["status_name"],
            &waiting["start_time"],
            &waiting["end_time"]
        ),
        (&json!("waiting"), &Value::Null, &Value::Null)
    );
    service.stop().await;
}

#[tokio::test]
async fn queued_scans_respect_concurrency_limit() {
    let service = TestService::with(|settings| settings.scans_at_once = 2).await;
    let target = service.target("127.0.0.1").await;
    let mut scans = Vec::new();
    for _ in 0..5 {
        scans.push(service.scan(target).await);
    }
    service
        .until("/scans?status=running", |scans| {
            scans.as_array().unwrap().len() == 2
        })
        .await;
    service.runner.finish_scans(5);
    for scan in scans {
        service.until_status(scan, "finished").await;
    }
    assert_eq!(service.runner.max_running(), 2);
    service.stop().await;
}

#[tokio::test]
async fn stopped_scan_keeps_its_results() {
    let service = TestService::new().await;
    service.runner.set_events(typical_events());
    let target = service.target("127.0.0.1").await;
    let scan = service.scan(target).await;
    service
        .until(&format!("/scans/{scan}"), |scan| {
            scan["num_finished_tests"] == 7
        })
        .await;
    service
        .delete(&format!("/scans/{scan}"))
        .await
        .assert_refused(409, "waiting or running");
    service
        .post(&format!("/scans/{scan}/stop"), json!({}))
        .await
        .assert_no_content();
    let stopped = service.until_status(scan, "stopped").await;
    assert_eq!(
        (&stopped["progress"], &stopped["result_summary"]["critical"]),
        (&json!(70), &json!(1))
    );
    service
        .post(&format!("/scans/{scan}/stop"), json!({}))
        .await
        .assert_no_content();
    assert_eq!(
        service.get(&format!("/scans/{scan}")).await.data(),
        &stopped
    );
    service
        .post("/scans/99/stop", json!({}))
        .await
        .assert_refused(404, "scan 99 not found");
    service
        .delete(&format!("/scans/{scan}"))
        .await
        .assert_no_content();
    service
        .get(&format!("/scans/{scan}"))
        .await
        .assert_refused(404, "not found");
    service.stop().await;
}

#[tokio::test]
async fn unresponsive_scan_is_stopped_within_two_seconds() {
    let service = TestService::new().await;
    service.runner.ignore_stop_next(1);
    let scan = service.scan(service.target("127.0.0.1").await).await;
    service.until_status(scan, "running").await;
    let begin = std::time::Instant::now();
    service
        .post(&format!("/scans/{scan}/stop"), json!({}))
        .await
        .assert_no_content();
    service.until_status(scan, "stopped").await;
    assert!(begin.elapsed().as_secs_f32() < 2.0, "{:?}", begin.elapsed());
    service.stop().await;
}

#[tokio::test]
async fn waiting_scan_is_stopped_immediately() {
    let service = TestService::with(|settings| settings.scans_at_once = 1).await;
    let target = service.target("127.0.0.1").await;
    let first = service.scan(target).await;
    service.until_status(first, "running").await;
    let second = service.scan(target).await;
    service
        .post(&format!("/scans/{second}/stop"), json!({}))
        .await
        .assert_no_content();
    assert_eq!(
        service.get(&format!("/scans/{second}")).await.data()["status_name"],
        "stopped"
    );
    service.stop().await;
}

#[tokio::test]
async fn scan_past_max_scan_time_times_out_with_its_results() {
    let dir = tempfile::tempdir().unwrap();
    let clock = ManualClock::new(Timestamp::now());
    let runner = ScriptedRunner::default();
    runner.set_events(typical_events());
    let service = TestService::with_clock(dir.path(), &clock, runner).await;
    let target = service.target("127.0.0.1").await;
    let body = json!({"tool_id": 70, "target_id": target, "max_scan_time": 2});
    let scan = service.post("/scans", body).await.created();
    service
        .until(&format!("/scans/{scan}"), |scan| {
            scan["num_finished_tests"] == 7
        })
        .await;
    clock.advance(SignedDuration::from_secs(119));
    assert_eq!(
        service.get(&format!("/scans/{scan}")).await.data()["status_name"],
        "running"
    );
    clock.advance(SignedDuration::from_secs(1));
    let ended = service.until_status(scan, "timed out").await;
    assert_eq!(
        (&ended["duration"], &ended["result_summary"]["critical"]),
        (&json!(120), &json!(1))
    );
    assert!(
        ended["status_message"]
            .as_str()
            .unwrap()
            .contains("time limit of 2 min")
    );
    service.stop().await;
}

#[tokio::test]
async fn scan_outcome_sets_status_and_message() {
    // A scan of a place waits for its workers for two leases.
    let lease = Duration::from_secs(3);
    let service = TestService::with(|settings| settings.lease = lease).await;
    let target = service.target("127.0.0.1").await;
    for (outcome, status) in [
        (
            ScanOutcome::FailedToStart("it does not resolve".into()),
            "failed to start",
        ),
        (
            ScanOutcome::ConnectionError("connection refused".into()),
            "connection error",
        ),
        (
            ScanOutcome::AuthFailed("the start page returns 401".into()),
            "auth failed",
        ),
    ] {
        service.runner.set_outcome(outcome);
        service.runner.finish_scans(1);
        let scan = service.scan(target).await;
        let ended = service.until_status(scan, status).await;
        assert!(!ended["status_message"].as_str().unwrap().is_empty());
    }
    let body = json!({"tool_id": 70, "target_id": target, "vpn_profile_uuid": "7d3c"});
    let scan = service.post("/scans", body).await.created();
    assert_eq!(
        service.until_status(scan, "VPN connection error").await["vpn_scan"],
        true
    );
    service.stop().await;
}

#[tokio::test]
async fn panicking_scan_is_retried_and_aborted_after_three_attempts() {
    let service = TestService::new().await;
    service.runner.set_events(typical_events());
    let target = service.target("127.0.0.1").await;
    service.runner.panic_next(1);
    service.runner.finish_scans(1);
    let once = service.scan(target).await;
    let ended = service.until_status(once, "finished").await;
    assert_eq!(
        (
            &ended["num_finished_tests"],
            &ended["result_summary"]["critical"]
        ),
        (&json!(7), &json!(1))
    );
    assert_eq!(service.count(&format!("/findings?task_id={once}")).await, 2);
    assert!(
        ended["info_text_lines"][0]
            .as_str()
            .unwrap()
            .contains("attempt 2"),
        "{ended}"
    );

    service.runner.panic_next(3);
    let thrice = service.scan(target).await;
    let ended = service.until_status(thrice, "aborted").await;
    assert!(
        ended["status_message"]
            .as_str()
            .unwrap()
            .contains("3 attempts")
    );
    service.stop().await;
}

#[tokio::test]
async fn invalid_scan_request_names_field() {
    let service = TestService::new().await;
    let target = service.target("127.0.0.1").await;
    let with = |changes: Value| {
        let mut body = json!({"tool_id": 70, "target_id": target});
        for (name, value) in changes.as_object().unwrap() {
            body[name] = value.clone();
        }
        body
    };
    for (body, status, message) in [
        (json!({"target_id": target}), 400, "tool_id is required"),
        (json!({"tool_id": 70}), 400, "target_id or target_name"),
        (
            with(json!({"target_name": "127.0.0.1"})),
            400,
            "exclude each other",
        ),
        (with(json!({"tool_id": 490})), 400, "available tools: 20"),
        (with(json!({"tool_id": "70"})), 422, "tool_id"),
        (with(json!({"max_scan_time": 0})), 400, "max_scan_time"),
        (with(json!({"max_scan_time": 1441})), 400, "max_scan_time"),
        (
            with(json!({"max_scan_time": "5 min"})),
            422,
            "max_scan_time",
        ),
        (with(json!({"max_scan_time": "1441"})), 400, "max_scan_time"),
        (
            with(json!({"authentication": {"cookies": "a=b"}})),
            400,
            "the Website Scanner (170)",
        ),
        (
            with(json!({"login": {"authentication": {"cookies": "a=b"}}})),
            400,
            "move `authentication` into `tool_params`",
        ),
        (
            with(
                json!({"tool_id": 170, "authentication": "x", "tool_params": {"authentication": {"cookies": "a=b"}}}),
            ),
            400,
            "given twice",
        ),
        (
            with(json!({"tool_id": 170, "authentication": "a=b"})),
            400,
            "authentication must be an object",
        ),
        (
            with(json!({"tool_id": 160})),
            400,
            "tool_params.domain is required",
        ),
        (with(json!({"tool_id": 20})), 400, "needs a domain"),
        (
            with(json!({"tool_params": {"authentication": {"cookies": "a=b"}}})),
            400,
            "cannot be used",
        ),
        (
            with(json!({"redirect_level": "sometimes"})),
            400,
            "same_domain",
        ),
        (
            with(json!({"scan_original_url": "yes"})),
            422,
            "scan_original_url",
        ),
        (with(json!({"tool_params": []})), 422, "tool_params"),
        (
            with(json!({"tool_params": {"scan_type": "thorough"}})),
            400,
            "tool_params.scan_type: use light",
        ),
        (
            with(json!({"tool_params": {"scan_type": 7}})),
            422,
            "scan_type",
        ),
        (
            with(json!({"report_callback": "http://127.0.0.1/"})),
            422,
            "report_callback",
        ),
        (
            with(json!({"report_callback": {}})),
            400,
            "report_callback.url is required",
        ),
        (
            with(json!({"report_callback": {"url": "ftp://127.0.0.1/"}})),
            400,
            "report_callback",
        ),
        (
            with(json!({"report_callback": {"url": "http://192.0.2.1/"}})),
            403,
            "scope add",
        ),
        (
            with(json!({"report_callback": {"url": "http://127.0.0.1/", "format": "odt"}})),
            400,
            "json, csv, html",
        ),
        (
            json!({"tool_id": 70, "target_id": 99}),
            404,
            "target 99 not found",
        ),
        (
            with(json!({"workspace_id": 99})),
            404,
            "workspace 99 not found",
        ),
        (
            json!({"tool_id": 70, "target_name": "127.0.0.9", "workspace_id": 99}),
            404,
            "workspace 99 not found",
        ),
        (
            json!({"tool_id": 70, "target_name": "192.0.2.1"}),
            403,
            "scope add",
        ),
        (
            json!({"tool_id": 70, "target_name": "a b"}),
            400,
            "target_name",
        ),
    ] {
        service
            .post("/scans", body)
            .await
            .assert_refused(status, message);
    }
    let other = service
        .post("/workspaces", json!({"name": "Other"}))
        .await
        .created();
    service
        .post("/scans", with(json!({"workspace_id": other})))
        .await
        .assert_refused(400, "is in workspace 1");
    assert_eq!(
        service.get("/scans").await.data(),
        &json!([]),
        "no invalid scan was queued"
    );
    service.stop().await;
}

#[tokio::test]
async fn request_forms_of_existing_clients_are_accepted() {
    let service = TestService::new().await;
    let website = |changes: Value| {
        let mut body = json!({"tool_id": 170, "target_name": "http://127.0.0.1/"});
        body.as_object_mut()
            .unwrap()
            .extend(changes.as_object().unwrap().clone());
        body
    };
    let nested = json!({"type": "cookies", "params": {"cookies": "session=x1secret"}});
    for body in [
        website(json!({"max_scan_time": "5"})),
        website(
            json!({"tool_params": {"scan_type": "custom", "attack_active": [], "discovery": null}}),
        ),
        website(json!({"tool_params": {"authentication": nested}})),
        website(
            json!({"authentication": {"cookies": "session=x1secret"}, "tool_params": {"scan_type": "light"}}),
        ),
    ] {
        service.post("/scans", body).await.created();
    }
    let scans = service.get("/scans").await.data().clone();
    assert_eq!(scans[0]["tool_params"]["authentication"], "•••");
    assert_eq!(scans[1]["tool_params"]["authentication"], "•••");
    assert_eq!(scans[2]["tool_params"]["scan_type"], "custom");
    assert_eq!(scans[2]["tool_params"]["attack_active"], json!([]));
    let path = "/scans?start_time=%7B%22from%22:%222001-01-01T00:00:00Z%22%7D";
    assert_eq!(service.count(path).await, 4);
    for query in [
        "start_time[from]=2001-01-01T00:00:00+01:00",
        "from=2001-01-01 00:00:00",
        "start_time={}",
    ] {
        assert_eq!(
            service.count(&format!("/scans?{query}")).await,
            4,
            "{query}"
        );
    }
    service.stop().await;
}

#[tokio::test]
async fn scan_by_target_name_reuses_or_creates_target() {
    let service = TestService::new().await;
    let first = service
        .post(
            "/scans",
            json!({"tool_id": 70, "target_name": "http://127.0.0.1:80"}),
        )
        .await;
    let second = service
        .form(
            "/scans",
            &[("tool_id", "70"), ("target_name", "http://127.0.0.1/")],
        )
        .await;
    first.created();
    second.created();
    assert_eq!(
        first.body["data"]["target_id"],
        second.body["data"]["target_id"]
    );
    assert_eq!(service.count("/targets").await, 1);
    service.stop().await;
}

#[tokio::test]
async fn scan_credentials_reach_engine_and_are_masked_in_responses() {
    let service = TestService::new().await;
    let params = json!({"scan_type": "light", "authentication": {"cookies": "session=x1secret"}});
    let body = json!({"tool_id": 170, "target_name": "http://127.0.0.1/", "tool_params": params});
    let scan = service.post("/scans", body).await.created();
    service.until_status(scan, "running").await;
    assert!(
        service
            .runner
            .job(0)
            .await
            .params
            .to_string()
            .contains("x1secret")
    );
    let shown = service
        .get(&format!("/scans/{scan}"))
        .await
        .data()
        .to_string();
    assert!(
        !shown.contains("x1secret") && shown.contains("•••"),
        "{shown}"
    );
    service.stop().await;
}

#[tokio::test]
async fn scan_list_filters_and_sorts_newest_first() {
    let service = TestService::new().await;
    let other = service
        .post("/workspaces", json!({"name": "Other"}))
        .await
        .created();
    let (one, two) = (
        service.target("127.0.0.1").await,
        service.target("127.0.0.2").await,
    );
    let elsewhere = service
        .post(
            "/targets",
            json!({"name": "127.0.0.3", "workspace_id": other}),
        )
        .await
        .created();
    let (first, second) = (service.scan(one).await, service.scan(two).await);
    service.until_status(second, "running").await;
    let third = service
        .post("/scans", json!({"tool_id": 170, "target_id": elsewhere}))
        .await
        .created();
    service.until_status(third, "running").await;
    let ids = async |query: &str| {
        let listed = service.get(&format!("/scans{query}")).await;
        listed
            .data()
            .as_array()
            .unwrap()
            .iter()
            .map(|scan| scan["id"].as_i64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids("").await, [second, first]);
    assert_eq!(ids(&format!("?workspace_id={other}")).await, [third]);
    assert_eq!(ids("?workspace_id=99").await, Vec::<i64>::new());
    assert_eq!(ids(&format!("?target_id={one}")).await, [first]);
    assert_eq!(
        ids(&format!("?tool_id=170&workspace_id={other}")).await,
        [third]
    );
    assert_eq!(ids("?tool_id=170").await, Vec::<i64>::new());
    assert_eq!(ids("?limit=1&page=2").await, [first]);
    assert_eq!(ids("?status=finished").await, Vec::<i64>::new());
    assert_eq!(ids("?from=2999-01-01%2000:00:00").await, Vec::<i64>::new());
    assert_eq!(
        ids("?start_time[from]=2001-01-01%2000:00:00&start_time[to]=2999-01-01%2000:00:00")
            .await
            .len(),
        2
    );
    service
        .get("/scans?status=done")
        .await
        .assert_refused(400, "waiting, running");
    service
        .get("/scans?start_time=today")
        .await
        .assert_refused(400, "start_time");
    service
        .get("/scans?limit=5000")
        .await
        .assert_refused(400, "limit");
    service.stop().await;
}

#[tokio::test]
async fn running_scan_serves_output_raw_log_and_tests() {
    let service = TestService::new().await;
    service.runner.set_events(typical_events());
    let scan = service.scan(service.target("127.0.0.1").await).await;
    service
        .until(&format!("/scans/{scan}"), |scan| {
            scan["num_finished_tests"] == 7
        })
        .await;
    let path = format!("/scans/{scan}");
    let findings = service
        .get(&format!("/findings?task_id={scan}"))
        .await
        .data()
        .clone();
    assert_eq!(findings[0]["recommendation"], "What to do");
    assert_eq!(
        service.get(&format!("{path}/output")).await.data(),
        &json!({"output_type": "finding_list", "output_data": {"findings": findings}})
    );
    let pdf = service
        .request(reqwest::Method::GET, &format!("{path}/output"))
        .header("accept", "application/pdf");
    let pdf = pdf.send().await.unwrap();
    assert_eq!(
        (pdf.status().as_u16(), &pdf.headers()["content-type"]),
        (200, &"application/pdf".parse().unwrap())
    );
    assert!(
        crate::readback::readable("pdf", &pdf.bytes().await.unwrap()).contains("Finding web.key")
    );
    let other = service
        .request(reqwest::Method::GET, &format!("{path}/output"))
        .header("accept", "text/xml");
    super::JsonResponse::read(other.send().await.unwrap())
        .await
        .assert_refused(406, "text/xml");
    assert_eq!(
        service.get(&format!("{path}/raw")).await.data(),
        &json!(["GET http://127.0.0.1/ 200", "GET http://127.0.0.1/key 200"])
    );
    for part in ["output", "raw", "tests"] {
        service
            .get(&format!("/scans/99/{part}"))
            .await
            .assert_refused(404, "scan 99 not found");
    }
    service.stop().await;
}

#[tokio::test]
async fn output_of_any_length_is_sent_unchanged() {
    let service = TestService::new().await;
    let ports = |number: usize| {
        (0..number)
            .map(|port| json!({"port": port, "banner": "é".repeat(40)}))
            .collect()
    };
    for number in [1, 10, 6_000] {
        let stored = json!({"ports": Value::Array(ports(number))});
        let output = ScanOutput {
            output_type: "port_scanner".into(),
            output_data: stored.clone(),
        };
        service.runner.set_events(vec![ScanEvent::Output(output)]);
        service.runner.finish_scans(1);
        let scan = service
            .scan(
                service
                    .target(&format!("127.0.1.{}", number % 250 + 1))
                    .await,
            )
            .await;
        service.until_status(scan, "finished").await;
        let shown = service.get(&format!("/scans/{scan}/output")).await;
        assert!(
            *shown.data() == json!({"output_type": "port_scanner", "output_data": stored}),
            "{number} ports"
        );
    }
    service.stop().await;
}

#[tokio::test]
async fn scan_tests_filtered_by_resource_belong_to_scan_or_finding() {
    let service = TestService::new().await;
    service.runner.set_events(typical_events());
    let scan = service.scan(service.target("127.0.0.1").await).await;
    service
        .until(&format!("/scans/{scan}"), |scan| {
            scan["num_finished_tests"] == 7
        })
        .await;
    let tests = async |query: &str| {
        service
            .get(&format!("/scans/{scan}/tests{query}"))
            .await
            .data()
            .as_array()
            .unwrap()
            .clone()
    };
    let all = tests("").await;
    assert_eq!(all.len(), 4, "two tests led to a finding, two did not");
    let of_findings = tests("?resource_type=finding").await;
    assert_eq!(of_findings.len(), 2);
    let finding = of_findings[0]["resource_id"].as_i64().unwrap();
    assert_eq!(
        tests(&format!("?resource_type=finding&resource_id={finding}")).await,
        [of_findings[0].clone()]
    );
    let of_scan = tests("?resource_type=scan").await;
    assert!(of_scan.len() == 2 && of_scan.iter().all(|test| test["resource_id"] == scan));
    assert_eq!(
        tests(&format!("?resource_type=scan&resource_id={scan}"))
            .await
            .len(),
        2
    );
    assert_eq!(tests("?resource_type=scan&resource_id=99").await.len(), 0);
    service
        .get(&format!("/scans/{scan}/tests?resource_id=1"))
        .await
        .assert_refused(400, "requires resource_type");
    service
        .get(&format!("/scans/{scan}/tests?resource_type=target"))
        .await
        .assert_refused(400, "use one of scan, finding");
    service.stop().await;
}

#[tokio::test]
async fn finding_reported_twice_by_a_scan_is_stored_once() {
    let service = TestService::new().await;
    let same_finding = || vec![finding("web.csp", Risk::Low, "")];
    service.runner.set_events(vec![
        tested("a", 1, same_finding()),
        tested("b", 1, same_finding()),
    ]);
    service.runner.finish_scans(1);
    let scan = service.scan(service.target("127.0.0.1").await).await;
    let ended = service.until_status(scan, "finished").await;
    assert_eq!(ended["result_summary"]["low"], 1);
    assert_eq!(service.count(&format!("/findings?task_id={scan}")).await, 1);
    service.stop().await;
}

#[tokio::test]
async fn subdomains_of_an_address_are_refused_before_the_scan() {
    let service = TestService::new().await;
    let target = service.target("127.0.0.1").await;
    for (body, host) in [
        (json!({"tool_id": 20, "target_id": target}), "127.0.0.1"),
        (
            json!({"tool_id": 20, "target_name": "http://127.0.0.2/"}),
            "127.0.0.2",
        ),
    ] {
        let refusal =
            format!("tool_id 20 (Subdomain Finder) needs a domain; {host} is an IP address");
        service
            .post("/scans", body)
            .await
            .assert_refused(400, &refusal);
    }
    assert_eq!(service.get("/scans").await.data(), &json!([]));
    assert_eq!(
        service
            .get("/targets")
            .await
            .data()
            .as_array()
            .unwrap()
            .len(),
        1,
        "no target is added"
    );
    service.stop().await;
}
