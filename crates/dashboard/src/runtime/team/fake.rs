//! A service with one workspace that follows the protocol of teams in memory, and can lose answers,
//! rows and its log. The bearer of a request is the name of its key.

use scandeck_client::{BaseUrl, Client, ClientSettings};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

/// The state of the service. Every field may be changed by a test.
pub struct FakeTeam {
    pub epoch: i64,
    pub last: i64,
    pub last_payload: i64,
    /// Position, id and JSON.
    pub events: Vec<(i64, String, String)>,
    /// The key that sent each event, by id.
    pub senders: BTreeMap<String, String>,
    /// By token: position, version, JSON.
    pub payloads: BTreeMap<String, (i64, i64, String)>,
    pub purged: Option<Value>,
    /// The status of every answer of the extension, after the request was carried out.
    pub broken: Option<u16>,
    /// Whether the lists name no team.
    pub is_foreign: bool,
    pub role: &'static str,
    /// Why every line is refused.
    pub refusal: Option<&'static str>,
    /// Method and path with its query.
    pub requests: Vec<String>,
    /// Answers in place of the pages of events.
    pub page: Option<Value>,
}

#[derive(Clone)]
pub struct FakeService(Arc<Mutex<FakeTeam>>);

/// The fake with its address.
pub struct RunningFake {
    pub fake: FakeService,
    server: MockServer,
}

impl RunningFake {
    pub async fn start() -> Self {
        let fake = FakeService(Arc::new(Mutex::new(FakeTeam {
            epoch: 1,
            last: 0,
            last_payload: 0,
            events: Vec::new(),
            senders: BTreeMap::new(),
            payloads: BTreeMap::new(),
            purged: None,
            broken: None,
            is_foreign: false,
            role: "triage",
            refusal: None,
            requests: Vec::new(),
            page: None,
        })));
        let server = MockServer::start().await;
        let answers = Mock::given(any()).respond_with(fake.clone());
        answers.mount(&server).await;
        Self { fake, server }
    }

    /// A client that has sent no request.
    pub fn unused_client(&self, name: &str) -> Client {
        let base = BaseUrl::parse(&self.server.uri(), false).unwrap();
        Client::new(ClientSettings::new(base, name.to_owned().into())).unwrap()
    }

    /// A client that has read the list of workspaces.
    pub async fn client(&self, name: &str) -> Client {
        let client = self.unused_client(name);
        client.list_workspaces().await.unwrap();
        client
    }

    pub fn state(&self) -> MutexGuard<'_, FakeTeam> {
        self.fake.0.lock().unwrap()
    }
}

impl FakeTeam {
    /// Restores the log of a moment at which it had this many events.
    pub fn restore(&mut self, events: usize) {
        self.events.truncate(events);
        self.last = self.events.last().map_or(0, |event| event.0);
        self.payloads.clear();
        self.last_payload = 0;
        self.epoch += 1_000;
    }

    pub fn purge(&mut self, who: &str) {
        (self.epoch, self.last, self.last_payload) = (self.epoch + 1, 0, 0);
        let events = std::mem::take(&mut self.events).len();
        self.payloads.clear();
        self.purged = Some(json!({"epoch": self.epoch, "who": who, "events": events}));
    }

    fn page(&self, after: i64) -> Value {
        let rows = self.events.iter().filter(|row| row.0 > after).take(3);
        let rows: Vec<Value> = rows
            .map(|(position, id, event)| {
                let event: Value = serde_json::from_str(event).unwrap();
                json!({"position": position, "key": self.senders[id], "event": event})
            })
            .collect();
        json!({"epoch": self.epoch, "last": self.last, "last_payload": self.last_payload,
            "events": rows, "viewers": [], "purged": self.purged})
    }

    fn payload_page(&self, after: i64) -> Value {
        let mut rows: Vec<_> = self.payloads.values().filter(|row| row.0 > after).collect();
        rows.sort();
        let rows: Vec<Value> = rows
            .into_iter()
            .map(|(position, _, payload)| {
                let payload: Value = serde_json::from_str(payload).unwrap();
                json!({"position": position, "key": "k", "payload": payload})
            })
            .collect();
        json!({"epoch": self.epoch, "last": self.last_payload, "payloads": rows})
    }

    fn store(&mut self, name: &str, is_event: bool, body: &str) -> ResponseTemplate {
        let (mut stored, mut refused) = (0, Vec::new());
        for line in body.lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            let key = value[if is_event { "id" } else { "token" }]
                .as_str()
                .unwrap()
                .to_owned();
            if let Some(reason) = self.refusal {
                refused.push(json!({"id": key, "reason": reason}));
                continue;
            }
            if is_event && self.events.iter().all(|(_, id, _)| *id != key) {
                self.last += 1;
                self.senders.insert(key.clone(), name.to_owned());
                self.events.push((self.last, key, line.to_owned()));
                stored += 1;
            } else if !is_event {
                let new = (value["version"].as_i64().unwrap(), line.to_owned());
                let old = self
                    .payloads
                    .get(&key)
                    .map(|(_, version, json)| (*version, json.clone()));
                if old.is_none_or(|old| old < new) {
                    self.last_payload += 1;
                    self.payloads.insert(key, (self.last_payload, new.0, new.1));
                    stored += 1;
                }
            }
        }
        let last = if is_event {
            self.last
        } else {
            self.last_payload
        };
        ResponseTemplate::new(200).set_body_json(json!({
            "epoch": self.epoch, "last": last, "stored": stored, "known": 0, "refused": refused,
        }))
    }

    fn answer(&mut self, request: &Request) -> ResponseTemplate {
        let query: BTreeMap<String, String> = request.url.query_pairs().into_owned().collect();
        let number = |name: &str| query.get(name).map_or(0, |text| text.parse().unwrap());
        let json = |value: Value| ResponseTemplate::new(200).set_body_json(value);
        let path = request.url.path();
        self.requests.push(format!("{} {path}", request.method));
        if path == "/api/v2/workspaces" {
            let list = json(json!({"data": [{"id": 7, "name": "acme"}]}));
            return match self.is_foreign {
                true => list,
                false => list.insert_header("x-scandeck-team", "1"),
            };
        }
        let name = request.headers["authorization"].to_str().unwrap();
        let name = name.trim_start_matches("Bearer ");
        let is_event = path.ends_with("/events");
        match (request.method.as_str(), path) {
            ("GET", "/scandeck/v1/me") => {
                let name = if name == "file" { "" } else { name };
                json(json!({"name": name, "role": self.role, "service": "5e"}))
            }
            ("GET", _) if is_event => match &self.page {
                Some(page) => json(page.clone()),
                None => json(self.page(number("after"))),
            },
            ("GET", _) => json(self.payload_page(number("after"))),
            _ if number("epoch") != self.epoch => ResponseTemplate::new(409)
                .set_body_json(json!({"status": 409, "message": "another epoch"})),
            _ => self.store(name, is_event, std::str::from_utf8(&request.body).unwrap()),
        }
    }
}

impl Respond for FakeService {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut team = self.0.lock().unwrap();
        let answer = team.answer(request);
        match team
            .broken
            .filter(|_| request.url.path().starts_with("/scandeck"))
        {
            Some(status) => ResponseTemplate::new(status)
                .set_body_json(json!({"status": status, "message": "unknown key"})),
            None => answer,
        }
    }
}
