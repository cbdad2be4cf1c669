//! Schedules (`/scandeck/v1/schedules`): starts by the clock of the service, missed and skipped
//! ones, pause, refusals, roles.

use std::path::Path;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use scandeck::service::keys::{Role, add_key};
use scandeck::service::openapi_document;
use serde_json::{Value, json};

use super::clock::ManualClock;
use super::runner::ScriptedRunner;
use super::{JsonResponse, PATIENCE, TestService, settings};

/// A service with schedules, on a clock that the test advances.
struct ScheduleFixture {
    service: TestService,
    clock: ManualClock,
}

impl ScheduleFixture {
    async fn start(dir: &Path, clock: &ManualClock) -> Self {
        let service = TestService::with_clock(dir, clock, ScriptedRunner::default());
        Self {
            service: service.await,
            clock: clock.clone(),
        }
    }

    async fn send(&self, method: Method, path: &str, body: Value) -> JsonResponse {
        send(&self.service, &self.service.key, method, path, body).await
    }

    /// Adds an hourly schedule of a port scan; returns its id.
    async fn add(&self, change: Value) -> i64 {
        let response = self.send(Method::POST, "", hourly(change)).await;
        assert_eq!(response.status, 201, "{response:?}");
        response.body["id"].as_i64().unwrap()
    }

    async fn show(&self, id: i64) -> Value {
        let response = self.send(Method::GET, &format!("/{id}"), json!({})).await;
        assert_eq!(response.status, 200, "{response:?}");
        response.body
    }

    async fn post(&self, id: i64, verb: &str) {
        let path = format!("/{id}/{verb}");
        let response = self.send(Method::POST, &path, json!({})).await;
        assert_eq!(response.status, 204, "{response:?}");
    }

    fn pass(&self, minutes: i64) {
        self.clock.advance(SignedDuration::from_mins(minutes));
    }

    /// The schedule once it meets a condition.
    async fn until(&self, id: i64, is_met: impl Fn(&Value) -> bool) -> Value {
        let met = async {
            loop {
                let schedule = self.show(id).await;
                if is_met(&schedule) {
                    return schedule;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let met = tokio::time::timeout(PATIENCE, met).await;
        met.expect("the schedule meets the condition")
    }

    async fn until_starts(&self, id: i64, starts: i64) -> Value {
        self.until(id, |schedule| schedule["starts"] == starts)
            .await
    }

    /// Lets this many scans end, and waits until none is active.
    async fn finish_scans(&self, scans: usize) {
        self.service.runner.finish_scans(scans);
        let is_ended = |scan: &Value| scan["status_name"] == "finished";
        self.service
            .until("/scans", |scans| {
                scans.as_array().unwrap().iter().all(is_ended)
            })
            .await;
    }

    async fn scans(&self) -> usize {
        self.service.count("/scans").await
    }
}

async fn send(
    service: &TestService,
    key: &str,
    method: Method,
    path: &str,
    body: Value,
) -> JsonResponse {
    let root = service.base.replace("/api/v2", "/scandeck/v1/schedules");
    let request = service
        .client
        .request(method.clone(), format!("{root}{path}"))
        .bearer_auth(key);
    let request = match method {
        Method::POST => request.json(&body),
        _ => request,
    };
    JsonResponse::read(request.send().await.unwrap()).await
}

/// The body of an hourly schedule of a port scan, with changed fields.
fn hourly(change: Value) -> Value {
    let mut body = json!({"name": "ports", "every": "1h", "scans": [{"tool_id": 70}]});
    for (name, value) in change.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

fn clock() -> ManualClock {
    ManualClock::new("2026-11-29T12:00:00Z".parse::<Timestamp>().unwrap())
}

/// Makes the start of the first schedule fail in the database file.
async fn break_first_schedule(dir: &Path) {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(dir.join("scandeck.db"));
    let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
    let trigger = "CREATE TRIGGER broken BEFORE UPDATE ON schedules WHEN NEW.id = 1
        BEGIN SELECT RAISE(ABORT, 'broken'); END";
    sqlx::query(trigger).execute(&pool).await.unwrap();
    pool.close().await;
}

#[tokio::test]
async fn schedule_that_fails_does_not_delay_the_others() {
    let temp = tempfile::tempdir().unwrap();
    super::database::use_file(temp.path());
    let fixture = ScheduleFixture::start(temp.path(), &clock()).await;
    let target = fixture.service.target("127.0.0.1").await;
    let first = fixture.add(json!({"target_ids": [target]})).await;
    let second = fixture.add(json!({"target_ids": [target]})).await;
    break_first_schedule(temp.path()).await;
    fixture.pass(60);
    fixture.until_starts(second, 1).await;
    assert_eq!(fixture.show(first).await["starts"], 0);
    fixture.service.stop().await;
}

#[tokio::test]
async fn start_of_too_many_scans_leaves_targets_out_and_names_them() {
    let temp = tempfile::tempdir().unwrap();
    let fixture = ScheduleFixture::start(temp.path(), &clock()).await;
    for number in 1..=51 {
        fixture.service.target(&format!("127.0.0.{number}")).await;
    }
    let scans = vec![json!({"tool_id": 70}); 20];
    let id = fixture.add(json!({ "scans": scans })).await;
    fixture.pass(60);
    let started = fixture.until_starts(id, 1).await;
    assert_eq!(
        started["last_result"],
        "started 1,000 scans; 20 scans refused (127.0.0.51: a start has at most 1,000 scans)"
    );
    fixture.service.stop().await;
}

#[tokio::test]
async fn schedule_starts_three_times_and_keeps_its_parameters() {
    let temp = tempfile::tempdir().unwrap();
    let fixture = ScheduleFixture::start(temp.path(), &clock()).await;
    let target = fixture.service.target("127.0.0.1").await;
    let scans = json!([{"tool_id": 70, "tool_params": {"scan_type": "deep"}, "max_scan_time": 30}]);
    let id = fixture
        .add(json!({"target_ids": [target], "scans": scans}))
        .await;
    let first = fixture.show(id).await;
    assert_eq!(
        (&first["next_start"], &first["last_start"], &first["window"]),
        (&json!("2026-11-29 13:00:00"), &json!(null), &json!("6h"))
    );
    assert_eq!(first["scans"][0]["max_scan_time"], 30);
    fixture.pass(59);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(fixture.scans().await, 0);
    fixture.pass(1);
    for starts in 1..=3 {
        let schedule = fixture.until_starts(id, starts).await;
        assert_eq!(schedule["last_result"], "started 1 scan");
        fixture.finish_scans(1).await;
        fixture.pass(60);
    }
    let scans = fixture.service.get("/scans").await;
    let scan = &scans.data()[0];
    assert_eq!(
        (&scan["tool_params"]["scan_type"], &scan["max_scan_time"]),
        (&json!("deep"), &json!(30))
    );
    assert_eq!(
        scan["info_text_lines"],
        json!([format!("started by schedule {id} (ports)")])
    );
    fixture.service.stop().await;
}

#[tokio::test]
async fn missed_starts_are_made_up_for_once_after_a_restart() {
    let temp = tempfile::tempdir().unwrap();
    let clock = clock();
    let fixture = ScheduleFixture::start(temp.path(), &clock).await;
    fixture.service.target("127.0.0.1").await;
    let id = fixture.add(json!({})).await;
    fixture.service.stop().await;
    clock.advance(SignedDuration::from_mins(5 * 60 + 10));
    let fixture = ScheduleFixture::start(temp.path(), &clock).await;
    let schedule = fixture.until_starts(id, 1).await;
    assert_eq!(
        schedule["last_result"],
        "started 1 scan; 4 starts missed before"
    );
    assert_eq!(schedule["next_start"], "2026-11-29 18:00:00");
    assert_eq!(fixture.scans().await, 1);
    fixture.service.stop().await;
}

#[tokio::test]
async fn start_after_the_window_is_skipped_with_its_reason() {
    let temp = tempfile::tempdir().unwrap();
    let clock = clock();
    let fixture = ScheduleFixture::start(temp.path(), &clock).await;
    fixture.service.target("127.0.0.1").await;
    let id = fixture.add(json!({"every": "1d", "window": "90min"})).await;
    fixture.service.stop().await;
    clock.advance(SignedDuration::from_mins(25 * 60 + 31));
    let fixture = ScheduleFixture::start(temp.path(), &clock).await;
    let schedule = fixture
        .until(id, |schedule| schedule["last_result"] != "")
        .await;
    let result = schedule["last_result"].as_str().unwrap();
    assert!(
        result.starts_with("skipped the start of 2026-11-30 ")
            && result.ends_with(": more than 90min late"),
        "{result}"
    );
    assert_eq!(
        (&schedule["starts"], &schedule["next_start"]),
        (&json!(0), &json!("2026-12-01 12:00:00"))
    );
    assert_eq!(fixture.scans().await, 0);
    fixture.service.stop().await;
}

#[tokio::test]
async fn target_is_not_scanned_twice_at_a_time() {
    let temp = tempfile::tempdir().unwrap();
    let fixture = ScheduleFixture::start(temp.path(), &clock()).await;
    fixture.service.target("127.0.0.1").await;
    let scans = json!([{"tool_id": 70}, {"tool_id": 240}]);
    let id = fixture.add(json!({"scans": scans})).await;
    fixture.pass(60);
    let schedule = fixture.until_starts(id, 1).await;
    assert_eq!(schedule["last_result"], "started 2 scans");
    let first = fixture.service.runner.job(0).await;
    assert_eq!(first.tool.0, 70);
    fixture.pass(60);
    let schedule = fixture.until_starts(id, 2).await;
    assert_eq!(
        schedule["last_result"],
        "started no scan; 1 target still scanned"
    );
    fixture.finish_scans(2).await;
    assert_eq!(fixture.service.runner.max_running(), 1);
    fixture.pass(60);
    let schedule = fixture.until_starts(id, 3).await;
    assert_eq!(schedule["last_result"], "started 2 scans");
    fixture.service.stop().await;
}

#[tokio::test]
async fn schedule_of_a_tag_starts_the_targets_that_have_it_then() {
    let temp = tempfile::tempdir().unwrap();
    let fixture = ScheduleFixture::start(temp.path(), &clock()).await;
    let target = fixture.service.target("127.0.0.1").await;
    fixture.service.target("127.0.0.2").await;
    let id = fixture.add(json!({"tag": "#Prod"})).await;
    assert_eq!(fixture.show(id).await["tag"], "prod");
    fixture.pass(60);
    let schedule = fixture.until_starts(id, 1).await;
    assert_eq!(
        schedule["last_result"],
        "started no scan; no target has the tag #prod"
    );
    let root = fixture.service.base.replace("/api/v2", "/scandeck/v1");
    let request = fixture
        .service
        .client
        .post(format!("{root}/targets/{target}/tags"));
    let request = request.bearer_auth(&fixture.service.key);
    let tagged = request
        .json(&json!({"add": ["prod"]}))
        .send()
        .await
        .unwrap();
    assert_eq!(tagged.status(), 200);
    fixture.pass(60);
    let schedule = fixture.until_starts(id, 2).await;
    assert_eq!(schedule["last_result"], "started 1 scan");
    let scans = fixture.service.get("/scans").await;
    assert_eq!(scans.data()[0]["target_id"], target);
    fixture.service.stop().await;
}

#[tokio::test]
async fn paused_schedule_starts_nothing_and_makes_up_for_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let fixture = ScheduleFixture::start(temp.path(), &clock()).await;
    fixture.service.target("127.0.0.1").await;
    let id = fixture.add(json!({})).await;
    fixture.post(id, "pause").await;
    let paused = fixture.show(id).await;
    assert_eq!(
        (&paused["is_paused"], &paused["next_start"]),
        (&json!(true), &json!(null))
    );
    fixture.pass(90);
    fixture.post(id, "resume").await;
    let resumed = fixture.show(id).await;
    assert_eq!(
        (&resumed["starts"], &resumed["next_start"]),
        (&json!(0), &json!("2026-11-29 14:00:00"))
    );
    fixture.pass(30);
    fixture.until_starts(id, 1).await;
    let deleted = fixture
        .send(Method::DELETE, &format!("/{id}"), json!({}))
        .await;
    assert_eq!(deleted.status, 204);
    assert_eq!(fixture.scans().await, 1, "its scans remain");
    let unknown = fixture
        .send(Method::POST, &format!("/{id}/pause"), json!({}))
        .await;
    unknown.assert_refused(404, &format!("schedule {id}"));
    fixture.service.stop().await;
}

#[tokio::test]
async fn target_outside_the_scope_is_left_out_and_named() {
    let temp = tempfile::tempdir().unwrap();
    let clock = clock();
    let allowing = |allowed: &str| {
        let mut settings = settings(temp.path());
        settings.allow_targets = vec![allowed.to_owned()];
        TestService::with_parts(settings, Some(&clock), ScriptedRunner::default())
    };
    let service = allowing("10.0.4.0/24").await;
    service.target("127.0.0.1").await;
    service.target("10.0.4.7").await;
    let fixture = ScheduleFixture {
        service,
        clock: clock.clone(),
    };
    let id = fixture.add(json!({})).await;
    fixture.service.stop().await;
    let fixture = ScheduleFixture {
        service: allowing("10.0.5.0/24").await,
        clock: clock.clone(),
    };
    fixture.pass(60);
    let schedule = fixture.until_starts(id, 1).await;
    let result = schedule["last_result"].as_str().unwrap();
    assert!(
        result.starts_with("started 1 scan; 1 scan refused (10.0.4.7: "),
        "{result}"
    );
    fixture.service.stop().await;
}

#[tokio::test]
async fn invalid_schedules_are_refused() {
    let temp = tempfile::tempdir().unwrap();
    let fixture = ScheduleFixture::start(temp.path(), &clock()).await;
    let scan = |field: &str, value: Value| {
        let mut scan = json!({"tool_id": 70});
        scan[field] = value;
        json!({"scans": [scan]})
    };
    for (change, status, words) in [
        (json!({"name": " "}), 400, "name is required"),
        (json!({"every": null}), 400, "every is required"),
        (json!({"every": "1y"}), 400, "every: `1y` is not valid"),
        (json!({"every": 5}), 422, "every must be a string"),
        (json!({"at": "2am"}), 400, "use a time such as 02:00"),
        (json!({"first": "2026-12-07"}), 400, "first needs at"),
        (
            json!({"first": "7.12.", "at": "02:00"}),
            400,
            "use a day such as",
        ),
        (
            json!({"first": "9999-12-31", "at": "23:59"}),
            400,
            "the first start would be after the year 9999",
        ),
        (json!({"window": "1w"}), 400, "window: `1w` is not valid"),
        (json!({"target_ids": []}), 400, "at least one is required"),
        (json!({"target_ids": [9]}), 404, "target 9"),
        (json!({"tag": "a b"}), 400, "tag: `a b` is not valid"),
        (
            json!({"tag": "prod", "target_ids": [1]}),
            400,
            "either tag or target_ids",
        ),
        (json!({"workspace_id": 9}), 404, "workspace 9"),
        (json!({"scans": []}), 400, "scans: 1 to 20"),
        (
            json!({"scans": [7]}),
            422,
            "scans must be a list of objects",
        ),
        (scan("tool_id", json!(490)), 400, "scans[0]: tool_id 490"),
        (
            scan("target_name", json!("a")),
            400,
            "scans[0]: target_name is not possible",
        ),
        (
            scan("report_callback", json!({"url": "http://a/"})),
            400,
            "report_callback is not possible",
        ),
    ] {
        let refused = fixture.send(Method::POST, "", hourly(change.clone())).await;
        assert_eq!(refused.status, status, "{change}: {refused:?}");
        refused.assert_refused(status, words);
    }
    let words = json!({"scans": [{"tool_id": 90, "tool_params": {"wordlist_id": 99}}]});
    let refused = fixture.send(Method::POST, "", hourly(words)).await;
    refused.assert_refused(400, "wordlist 99 does not exist");
    let list = fixture.send(Method::GET, "", json!({})).await;
    assert_eq!(list.body, json!({"schedules": []}));
    fixture.service.stop().await;
}

#[tokio::test]
async fn first_start_is_at_the_named_time() {
    let temp = tempfile::tempdir().unwrap();
    let fixture = ScheduleFixture::start(temp.path(), &clock()).await;
    let weekly = json!({"every": "1w", "at": "02:00", "first": "2026-12-07"});
    let id = fixture.add(weekly).await;
    let schedule = fixture.show(id).await;
    assert_eq!(
        (&schedule["first_start"], &schedule["every"]),
        (&json!("2026-12-07 02:00"), &json!("1w"))
    );
    let next = schedule["next_start"].as_str().unwrap();
    assert!(next.starts_with("2026-12-0"), "{next}");
    let all = "?workspace_id=2";
    let other = fixture.send(Method::GET, all, json!({})).await;
    assert_eq!(other.body["schedules"], json!([]));
    fixture.service.stop().await;
}

#[tokio::test]
async fn schedules_need_the_role_scan_and_are_beside_the_document() {
    let temp = tempfile::tempdir().unwrap();
    let service = TestService::in_dir(temp.path()).await;
    let dir = super::database::data_dir(temp.path());
    for (name, role, added) in [
        ("reader", Role::Read, 403),
        ("analyst", Role::Triage, 403),
        ("ci", Role::Scan, 201),
    ] {
        let key = add_key(&dir, name, role, "ana@box").await.unwrap().unwrap();
        let response = send(&service, &key, Method::POST, "", hourly(json!({}))).await;
        assert_eq!(response.status, added, "{response:?}");
        let list = send(&service, &key, Method::GET, "", json!({})).await;
        assert_eq!(list.status, 200, "{list:?}");
    }
    let list = send(&service, &service.key, Method::GET, "", json!({})).await;
    assert_eq!(list.body["schedules"][0]["created_by"], "ci");
    let document = openapi_document();
    let paths = document["paths"].as_object().unwrap();
    assert!(paths.keys().all(|path| !path.contains("schedules")));
    service.stop().await;
}

#[tokio::test]
async fn scans_of_a_schedule_count_in_the_quota_of_its_key() {
    let temp = tempfile::tempdir().unwrap();
    let clock = clock();
    let mut settings = settings(temp.path());
    settings.key_quotas.scan = 2;
    let service = TestService::with_parts(settings, Some(&clock), ScriptedRunner::default());
    let fixture = ScheduleFixture {
        service: service.await,
        clock,
    };
    for number in 1..=3 {
        fixture.service.target(&format!("127.0.0.{number}")).await;
    }
    let dir = super::database::data_dir(temp.path());
    let added = add_key(&dir, "ci", Role::Scan, "ana@box").await;
    let key = added.unwrap().unwrap();
    let running = &fixture.service;
    let schedule = send(running, &key, Method::POST, "", hourly(json!({}))).await;
    assert_eq!(schedule.status, 201, "{schedule:?}");
    fixture.pass(60);
    let id = schedule.body["id"].as_i64().unwrap();
    let started = fixture.until_starts(id, 1).await;
    assert_eq!(
        started["last_result"],
        "started 2 scans; 1 scan refused (127.0.0.3: the API key `ci` has created 2 scans within an hour)"
    );
    let request = running.client.post(format!("{}/scans", running.base));
    let request = request.json(&json!({"tool_id": 70, "target_id": 1}));
    let refused = request.bearer_auth(&key).send().await.unwrap();
    JsonResponse::read(refused)
        .await
        .assert_refused(429, "has created 2 scans");
    fixture.pass(60);
    let started = fixture.until_starts(id, 2).await;
    assert_eq!(
        started["last_result"],
        "started 1 scan; 2 targets still scanned"
    );
    fixture.service.stop().await;
}

#[tokio::test]
async fn credentials_of_a_schedule_are_stored_encrypted_and_shown_hidden() {
    let temp = tempfile::tempdir().unwrap();
    let fixture = ScheduleFixture::start(temp.path(), &clock()).await;
    fixture.service.target("http://127.0.0.1/").await;
    let params = json!({"authentication": {"cookies": "sid=x1secret"}});
    let scans = json!([{"tool_id": 170, "tool_params": params}]);
    let id = fixture.add(json!({"scans": scans})).await;
    let shown = fixture.show(id).await;
    assert!(!shown.to_string().contains("x1secret"), "{shown}");
    fixture.pass(60);
    fixture.until_starts(id, 1).await;
    let job = fixture.service.runner.job(0).await;
    assert_eq!(job.params["authentication"]["cookies"], "sid=x1secret");
    for entry in std::fs::read_dir(temp.path()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap_or_default();
        let is_plain = bytes.windows(8).any(|window| window == b"x1secret");
        assert!(!is_plain, "{}", path.display());
    }
    fixture.service.stop().await;
}

#[tokio::test]
async fn idle_service_with_a_schedule_keeps_running() {
    let temp = tempfile::tempdir().unwrap();
    let clock = clock();
    let mut settings = settings(temp.path());
    settings.idle_exit = Some(Duration::from_secs(60));
    let service = TestService::with_parts(settings, Some(&clock), ScriptedRunner::default());
    let fixture = ScheduleFixture {
        service: service.await,
        clock,
    };
    let id = fixture.add(json!({"every": "1d"})).await;
    for _ in 0..5 {
        fixture.pass(10);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(fixture.show(id).await["starts"], 0);
    fixture.service.stop().await;
}
