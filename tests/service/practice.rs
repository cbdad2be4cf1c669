//! The practice target requests what it is given: each way arrives at a logger of the same demo and is recognised there,
//! and nothing else is called.

use std::collections::BTreeMap;
use std::sync::Arc;

use reqwest::Method;
use scandeck::contract::Capture;
use scandeck::demo::practice::Practice;
use scandeck::oob::{Mention, MentionPlace, Payload, PayloadBook, PayloadShape, Token, UrlForm, mentions};
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Url;

use super::TestService;

/// A service with two loggers, of which the practice target knows one and payloads are made for the other.
struct Range {
    service: TestService,
    practice: Practice,
    logger: i64,
    handler_url: String,
    book: PayloadBook,
    _stop: DropGuard,
}

impl Range {
    async fn new() -> Self {
        let (service, stop) = (TestService::new().await, CancellationToken::new());
        let practice = Practice::start(stop.clone()).await.unwrap();
        let (_, own) = service.logger("visits").await;
        practice.report_visits_to(own.parse().unwrap());
        let (logger, handler_url) = service.logger("hunt").await;
        Self { service, practice, logger, handler_url, book: PayloadBook::default(), _stop: stop.drop_guard() }
    }

    /// A payload of its own, recorded in the book.
    fn payload(&mut self) -> (Token, String) {
        let token = Token::of(rand::random());
        let url = UrlForm::Query.url(&self.handler_url, token);
        self.book.take([Arc::new(Payload { token, url: url.as_str().into(), ..Payload::default() })]);
        (token, url)
    }

    fn url(&self, path: &str, fields: &[(&str, &str)]) -> Url {
        let mut url = Url::parse(&self.practice.http_url()).unwrap().join(path).unwrap();
        if !fields.is_empty() {
            url.query_pairs_mut().extend_pairs(fields);
        }
        url
    }

    /// Status and text of a page.
    async fn page(&self, request: reqwest::RequestBuilder) -> (u16, String) {
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }

    async fn get(&self, path: &str, fields: &[(&str, &str)]) -> (u16, String) {
        self.page(self.service.client.get(self.url(path, fields))).await
    }

    /// Waits for so many captures; gives them with what is recognised in each.
    async fn captured(&self, count: usize) -> Vec<(Capture, Vec<Mention>)> {
        let path = format!("/http_loggers/{}/data", self.logger);
        let told =
            self.service.until(&path, |data| data["requests"].as_array().is_some_and(|all| all.len() == count)).await;
        let all: Vec<Capture> = serde_json::from_value(told["requests"].clone()).unwrap();
        all.into_iter().map(|one| (one.clone(), mentions(&one, &self.book))).collect()
    }
}

#[tokio::test]
async fn every_way_arrives_and_names_the_payload_that_was_planted() {
    let mut range = Range::new().await;
    let mut planted = BTreeMap::new();
    for way in ["plain", "path", "later", "unfurl", "upper", "twice", "json"] {
        let (token, url) = range.payload();
        let (status, text) = range.get(&format!("fetch/{way}"), &[("url", &url), ("seconds", "0")]).await;
        assert_eq!(status, if way == "later" { 202 } else { 200 }, "{way}: {text}");
        planted.insert(token, way);
    }
    for header in ["X-Callback", "Referer"] {
        let (token, url) = range.payload();
        let asking = range.service.client.get(range.url("fetch/header", &[])).header(header, url);
        assert_eq!(range.page(asking).await.0, 200, "{header}");
        planted.insert(token, header);
    }

    let captured = range.captured(planted.len()).await;
    let mut told = BTreeMap::new();
    for (capture, mentions) in &captured {
        let [mention] = &mentions[..] else { panic!("{capture:?} {mentions:?}") };
        assert!(mention.known, "{capture:?}");
        told.insert(planted[&mention.token], (capture.request_method.to_string(), mention.clone()));
    }
    assert_eq!(told.len(), planted.len());
    assert_eq!(told["path"].1.added, "/latest/meta-data");
    assert_eq!(
        (told["upper"].1.place.clone(), told["json"].0.as_str()),
        (MentionPlace::Query("address".into()), "POST")
    );
    assert_eq!((told["json"].1.place.clone(), told["json"].1.wrapped.clone()), (MentionPlace::Body, vec!["base64"]));
    assert!(captured.iter().any(|(capture, _)| capture.url_params.contains("%253Ft%253D")), "{captured:?}");
    range.service.stop().await;
}

#[tokio::test]
async fn every_shape_of_a_payload_is_requested_where_its_markup_is_read() {
    let mut range = Range::new().await;
    let mut planted = Vec::new();
    for shape in PayloadShape::ALL {
        let (token, url) = range.payload();
        let (text, way) = (
            shape.of(&url),
            if matches!(shape, PayloadShape::SchemeLess | PayloadShape::Hostless) { "plain" } else { "unfurl" },
        );
        // What is encoded already is pasted behind `url=` as it is.
        let asking = match shape {
            PayloadShape::Encoded => Url::parse(&format!("{}?url={text}", range.url("fetch/plain", &[]))).unwrap(),
            _ => range.url(&format!("fetch/{way}"), &[("url", &text)]),
        };
        let (status, page) = range.page(range.service.client.get(asking)).await;
        assert_eq!(status, 200, "{shape:?} {text}: {page}");
        planted.push(token);
    }
    let seen = range.captured(planted.len()).await;
    for (token, (capture, mentions)) in planted.iter().zip(&seen) {
        assert_eq!(mentions.iter().map(|one| one.token).collect::<Vec<_>>(), [*token], "{capture:?}");
    }
    range.service.stop().await;
}

#[tokio::test]
async fn a_form_and_a_text_may_be_posted_and_what_leads_elsewhere_is_refused_by_a_clear_page() {
    let mut range = Range::new().await;
    let (_, url) = range.payload();
    let post = |way: &str| range.service.client.request(Method::POST, range.url(&format!("fetch/{way}"), &[]));
    assert_eq!(range.page(post("plain").form(&[("url", &url)])).await.0, 200);
    let xml = format!("<!DOCTYPE x [<!ENTITY y SYSTEM \"{url}\">]><x>&y;</x>");
    for kind in ["application/xml", "application/x-www-form-urlencoded"] {
        let (status, page) = range.page(post("unfurl").header("content-type", kind).body(xml.clone())).await;
        assert_eq!(status, 200, "{kind}: {page}");
    }
    assert_eq!(range.page(post("unfurl").body(vec![b'x'; 65 << 10])).await.0, 413);

    let (service, control) = (range.service.base.clone(), range.practice.control_url());
    for elsewhere in [service.as_str(), &control, "http://example.org/<script>", "//example.org/", "ftp://example.org/"]
    {
        for way in ["plain", "path", "later", "unfurl", "upper", "twice", "json"] {
            let (status, page) = range.get(&format!("fetch/{way}"), &[("url", elsewhere)]).await;
            assert!(
                status == 403 && page.contains("Refused: ") && page.contains(&range.service.logger_base),
                "{way}: {page}"
            );
            assert!(!page.contains("<script>"), "{page}");
        }
    }
    assert_eq!(range.get("fetch/plain", &[]).await.0, 400);
    let referred = range.service.client.get(range.url("fetch/header", &[])).header("referer", &control);
    assert_eq!(range.page(referred).await.0, 403, "a browser sends where it comes from");
    range.captured(3).await;
    range.service.stop().await;
}

#[tokio::test]
async fn the_page_is_linked_explains_each_way_and_needs_a_logger() {
    let (stop, client) = (CancellationToken::new(), reqwest::Client::builder().no_proxy().build().unwrap());
    let practice = Practice::start(stop.clone()).await.unwrap();
    let get = async |url: String| {
        let response = client.get(url).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    assert!(get(practice.http_url()).await.1.contains("href=\"/fetch\""));
    let (status, page) = get(practice.fetch_url()).await;
    assert_eq!((status, page.matches("<h2>").count(), page.matches("<form ").count()), (200, 8, 7));
    assert_eq!(get(format!("{}/plain?url=http://127.0.0.1/", practice.fetch_url())).await.0, 503);
    stop.cancel();
}
