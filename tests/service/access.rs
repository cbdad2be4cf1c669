//! What every endpoint has in common: key, Host, error body, rate limit, ETag, careless paths.

use reqwest::Method;
use serde_json::json;

use scandeck::service::RateLimit;

use super::{Answer, World};

#[tokio::test]
async fn without_the_right_key_nothing_is_told() {
    let world = World::new().await;
    let url = format!("{}/scans/0", world.base);
    Answer::read(world.client.get(&url).send().await.unwrap()).await.refused(401, "API key");
    let wrong = world.client.get(&url).bearer_auth("wrong").send().await.unwrap();
    assert_eq!(wrong.headers()["www-authenticate"], "Bearer");
    Answer::read(wrong).await.refused(401, "API key");
    let unknown = world.client.get(format!("{}/nothing", world.base)).send().await.unwrap();
    Answer::read(unknown).await.refused(401, "API key");
    world.get("/scans/0").await.refused(404, "no scan 0");
    world.stop().await;
}

#[tokio::test]
async fn the_frameworks_own_errors_have_the_error_body() {
    let world = World::new().await;
    world.get("/nothing").await.refused(404, "/api/v2/nothing");
    world.delete("/workspaces").await.refused(405, "DELETE");
    world.delete("/openapi.json").await.refused(405, "DELETE");
    let any = world.request(Method::GET, "/http_loggers/99/data").header("if-none-match", "*").send().await.unwrap();
    Answer::read(any).await.refused(404, "no logger 99");
    let post =
        |kind: &str, body: Vec<u8>| world.request(Method::POST, "/targets").header("content-type", kind).body(body);
    let read = async |request: reqwest::RequestBuilder| Answer::read(request.send().await.unwrap()).await;
    read(post("application/json", b"{\"name\":".to_vec())).await.refused(400, "no JSON");
    read(post("text/xml", b"<a/>".to_vec())).await.refused(415, "text/xml");
    read(post("application/json", vec![b' '; 2 * 1024 * 1024])).await.refused(413, "larger than");
    world.stop().await;
}

#[tokio::test]
async fn careless_paths_and_any_accept_are_answered() {
    let world = World::new().await;
    for path in ["/workspaces/", "//workspaces", "/workspaces//1/"] {
        let answer = world.request(Method::GET, path).header("accept", "*/*").send().await.unwrap();
        assert_eq!(Answer::read(answer).await.status, 200, "{path}");
    }
    world.stop().await;
}

#[tokio::test]
async fn a_foreign_host_name_is_refused_whatever_the_key() {
    let world = World::new().await;
    let rebound = world.request(Method::GET, "/workspaces").header("host", "evil.test:8765");
    Answer::read(rebound.send().await.unwrap()).await.refused(403, "evil.test");
    let local = world.request(Method::GET, "/workspaces").header("host", "localhost");
    assert_eq!(Answer::read(local.send().await.unwrap()).await.status, 200);
    world.stop().await;
}

#[tokio::test]
async fn budgets_are_shown_and_kept_by_class() {
    let world = World::with(|settings| settings.rate_limit = RateLimit::PerMinute(4)).await;
    let send = async |method: Method, path: &str| world.request(method, path).send().await.unwrap();
    for left in ["3", "2", "1", "0"] {
        let answer = send(Method::GET, "/workspaces").await;
        assert_eq!(
            (&answer.headers()["x-ratelimit-limit"], &answer.headers()["x-ratelimit-remaining"]),
            (&"4".parse().unwrap(), &left.parse().unwrap())
        );
    }
    let refused = send(Method::GET, "/workspaces").await;
    let wait: i64 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    let reset: i64 = refused.headers()["x-ratelimit-reset"].to_str().unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait) && reset > 1_700_000_000, "{wait} {reset}");
    Answer::read(refused).await.refused(429, "too many requests");
    assert_eq!(send(Method::GET, "/scans/0/output").await.headers()["x-ratelimit-limit"], "1");
    assert_eq!(send(Method::DELETE, "/scans/0").await.headers()["x-ratelimit-limit"], "2");
    world.stop().await;
}

#[tokio::test]
async fn a_list_nobody_changed_is_answered_304() {
    let world = World::new().await;
    let send =
        async |tag: &str| world.request(Method::GET, "/targets").header("if-none-match", tag).send().await.unwrap();
    let first = send("").await;
    assert_eq!(first.status(), 200);
    let tag = first.headers()["etag"].to_str().unwrap().to_owned();
    assert_eq!(send(&tag).await.status(), 304);
    world.target("127.0.0.1").await;
    let changed = send(&tag).await;
    assert_eq!(changed.status(), 200);
    assert_ne!(changed.headers()["etag"], tag.as_str());
    world.stop().await;
}

#[tokio::test]
async fn large_answers_are_compressed_for_who_takes_that() {
    let world = World::new().await;
    for number in 1..=40 {
        world.target(&format!("127.0.1.{number}")).await;
    }
    let plain = reqwest::Client::builder().no_proxy().no_gzip().build().unwrap();
    let request = plain.get(format!("{}/targets", world.base)).bearer_auth(&world.key);
    let answer = request.header("accept-encoding", "gzip").send().await.unwrap();
    assert_eq!(answer.headers()["content-encoding"], "gzip");
    world.stop().await;
}

#[tokio::test]
async fn the_openapi_document_lists_34_operations_and_each_is_answered() {
    let world = World::new().await;
    let url = format!("{}/openapi.json", world.base);
    let document = Answer::read(world.client.get(url).send().await.unwrap()).await.body;
    let mut operations = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            operations += 1;
            let responses = operation["responses"].as_object().unwrap();
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let request = world.request(method.clone(), &path.replace("{id}", "0"));
            let answer = Answer::read(request.send().await.unwrap()).await;
            let status = answer.status.to_string();
            assert!(responses.contains_key(&status), "{method} {path} answers {status}, which is not written down");
            assert_ne!(answer.body["message"], json!(format!("there is nothing at /api/v2{path}")));
        }
    }
    assert_eq!(operations, 34);
    world.stop().await;
}
