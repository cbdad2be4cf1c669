//! The `/fetch` page of the practice target: each method requests the planted payload, the logger
//! recognises it, and other hosts are refused.

use std::collections::BTreeMap;
use std::sync::Arc;

use reqwest::Method;
use scandeck::contract::Capture;
use scandeck::demo::practice::Practice;
use scandeck::oob::{
    Mention, MentionPlace, Payload, PayloadBook, PayloadShape, Token, UrlForm, mentions,
};
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Url;

use super::{TestService, http_client};

/// A service with two loggers: the practice target reports visits to one, payloads point to the
/// other.
struct PracticeSetup {
    service: TestService,
    practice: Practice,
    logger: i64,
    handler_url: String,
    book: PayloadBook,
    _stop: DropGuard,
}

impl PracticeSetup {
    async fn new() -> Self {
        let (service, stop) = (TestService::new().await, CancellationToken::new());
        let practice = Practice::start(stop.clone()).await.unwrap();
        let (_, own) = service.logger("visits").await;
        practice.report_visits_to(own.parse().unwrap());
        let (logger, handler_url) = service.logger("hunt").await;
        Self {
            service,
            practice,
            logger,
            handler_url,
            book: PayloadBook::default(),
            _stop: stop.drop_guard(),
        }
    }

    /// Creates a payload and records it in the payload book.
    fn payload(&mut self) -> (Token, String) {
        let token = Token::of(rand::random());
        let url = UrlForm::Query.url(&self.handler_url, token);
        self.book.take([Arc::new(Payload {
            token,
            url: url.as_str().into(),
            ..Payload::default()
        })]);
        (token, url)
    }

    fn url(&self, path: &str, fields: &[(&str, &str)]) -> Url {
        let mut url = Url::parse(&self.practice.http_url())
            .unwrap()
            .join(path)
            .unwrap();
        if !fields.is_empty() {
            url.query_pairs_mut().extend_pairs(fields);
        }
        url
    }

    /// Sends a request and returns status and text of the page.
    async fn page(&self, request: reqwest::RequestBuilder) -> (u16, String) {
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }

    async fn get(&self, path: &str, fields: &[(&str, &str)]) -> (u16, String) {
        self.page(self.service.client.get(self.url(path, fields)))
            .await
    }

    /// Waits for this number of captures and returns each with the tokens recognised in it.
    async fn captured(&self, count: usize) -> Vec<(Capture, Vec<Mention>)> {
        let path = format!("/http_loggers/{}/data", self.logger);
        let data = self
            .service
            .until(&path, |data| {
                data["requests"]
                    .as_array()
                    .is_some_and(|all| all.len() == count)
            })
            .await;
        let all: Vec<Capture> = serde_json::from_value(data["requests"].clone()).unwrap();
        all.into_iter()
            .map(|one| (one.clone(), mentions(&one, &self.book)))
            .collect()
    }
}

#[tokio::test]
async fn practice_fetch_by_each_method_reports_planted_payload() {
    let mut setup = PracticeSetup::new().await;
    let mut planted = BTreeMap::new();
    for method in ["plain", "path", "later", "unfurl", "upper", "twice", "json"] {
        let (token, url) = setup.payload();
        let (status, text) = setup
            .get(
                &format!("fetch/{method}"),
                &[("url", &url), ("seconds", "0")],
            )
            .await;
        assert_eq!(
            status,
            if method == "later" { 202 } else { 200 },
            "{method}: {text}"
        );
        planted.insert(token, method);
    }
    for header in ["X-Callback", "Referer"] {
        let (token, url) = setup.payload();
        let request = setup
            .service
            .client
            .get(setup.url("fetch/header", &[]))
            .header(header, url);
        assert_eq!(setup.page(request).await.0, 200, "{header}");
        planted.insert(token, header);
    }

    let captured = setup.captured(planted.len()).await;
    let mut recognised = BTreeMap::new();
    for (capture, mentions) in &captured {
        let [mention] = &mentions[..] else {
            panic!("{capture:?} {mentions:?}")
        };
        assert!(mention.known, "{capture:?}");
        recognised.insert(
            planted[&mention.token],
            (capture.request_method.to_string(), mention.clone()),
        );
    }
    assert_eq!(recognised.len(), planted.len());
    assert_eq!(recognised["path"].1.added, "/latest/meta-data");
    assert_eq!(
        (
            recognised["upper"].1.place.clone(),
            recognised["json"].0.as_str()
        ),
        (MentionPlace::Query("address".into()), "POST")
    );
    assert_eq!(
        (
            recognised["json"].1.place.clone(),
            recognised["json"].1.wrapped.clone()
        ),
        (MentionPlace::Body, vec!["base64"])
    );
    assert!(
        captured
            .iter()
            .any(|(capture, _)| capture.url_params.contains("%253Ft%253D")),
        "{captured:?}"
    );
    setup.service.stop().await;
}

#[tokio::test]
async fn payload_in_each_shape_is_requested() {
    let mut setup = PracticeSetup::new().await;
    let mut planted = Vec::new();
    for shape in PayloadShape::ALL {
        let (token, url) = setup.payload();
        let (text, method) = (
            shape.of(&url),
            if matches!(shape, PayloadShape::SchemeLess | PayloadShape::Hostless) {
                "plain"
            } else {
                "unfurl"
            },
        );
        // An encoded payload is pasted after `url=` without further encoding.
        let request = match shape {
            PayloadShape::Encoded => {
                Url::parse(&format!("{}?url={text}", setup.url("fetch/plain", &[]))).unwrap()
            }
            _ => setup.url(&format!("fetch/{method}"), &[("url", &text)]),
        };
        let (status, page) = setup.page(setup.service.client.get(request)).await;
        assert_eq!(status, 200, "{shape:?} {text}: {page}");
        planted.push(token);
    }
    let seen = setup.captured(planted.len()).await;
    for (token, (capture, mentions)) in planted.iter().zip(&seen) {
        assert_eq!(
            mentions.iter().map(|one| one.token).collect::<Vec<_>>(),
            [*token],
            "{capture:?}"
        );
    }
    setup.service.stop().await;
}

#[tokio::test]
async fn practice_fetch_to_foreign_host_is_refused() {
    let mut setup = PracticeSetup::new().await;
    let (_, url) = setup.payload();
    let post = |method: &str| {
        setup
            .service
            .client
            .request(Method::POST, setup.url(&format!("fetch/{method}"), &[]))
    };
    assert_eq!(
        setup.page(post("plain").form(&[("url", &url)])).await.0,
        200
    );
    let xml = format!("<!DOCTYPE x [<!ENTITY y SYSTEM \"{url}\">]><x>&y;</x>");
    for kind in ["application/xml", "application/x-www-form-urlencoded"] {
        let (status, page) = setup
            .page(
                post("unfurl")
                    .header("content-type", kind)
                    .body(xml.clone()),
            )
            .await;
        assert_eq!(status, 200, "{kind}: {page}");
    }
    assert_eq!(
        setup
            .page(post("unfurl").body(vec![b'x'; 65 << 10]))
            .await
            .0,
        413
    );

    let (service, control) = (setup.service.base.clone(), setup.practice.control_url());
    for elsewhere in [
        service.as_str(),
        &control,
        "http://example.org/<script>",
        "//example.org/",
        "ftp://example.org/",
    ] {
        for method in ["plain", "path", "later", "unfurl", "upper", "twice", "json"] {
            let (status, page) = setup
                .get(&format!("fetch/{method}"), &[("url", elsewhere)])
                .await;
            assert!(
                status == 403
                    && page.contains("Refused: ")
                    && page.contains(&setup.service.logger_base),
                "{method}: {page}"
            );
            assert!(!page.contains("<script>"), "{page}");
        }
    }
    assert_eq!(setup.get("fetch/plain", &[]).await.0, 400);
    let referred = setup
        .service
        .client
        .get(setup.url("fetch/header", &[]))
        .header("referer", &control);
    assert_eq!(
        setup.page(referred).await.0,
        403,
        "a Referer to the control server is refused"
    );
    setup.captured(3).await;
    setup.service.stop().await;
}

#[tokio::test]
async fn practice_fetch_without_logger_returns_503() {
    let (stop, client) = (CancellationToken::new(), http_client());
    let practice = Practice::start(stop.clone()).await.unwrap();
    let get = async |url: String| {
        let response = client.get(url).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    assert!(get(practice.http_url()).await.1.contains("href=\"/fetch\""));
    let (status, page) = get(practice.fetch_url()).await;
    assert_eq!(
        (
            status,
            page.matches("<h2>").count(),
            page.matches("<form ").count()
        ),
        (200, 8, 7)
    );
    assert_eq!(
        get(format!(
            "{}/plain?url=http://127.0.0.1/",
            practice.fetch_url()
        ))
        .await
        .0,
        503
    );
    stop.cancel();
}
