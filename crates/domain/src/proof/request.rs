//! What is sent again of a finding, or why nothing is.

use std::fmt;

use url::Url;

use super::payload::{carries_payload, has_address, is_overridden};
use crate::finding::named_enum;
use crate::finding_request::{FindingRequest, FirstRow, RequestHeader, without_port};
use scandeck_wire::contract::scan::HIDDEN;
use scandeck_wire::contract::{Evidence, Tool};
use scandeck_wire::secret_names::{hide_parameters, is_secret_name};

/// Methods that only read.
const METHODS: [&str; 3] = ["GET", "HEAD", "OPTIONS"];
/// Headers of the evidence that are replaced or would shorten the answer.
const REPLACED: [&str; 12] = [
    "user-agent",
    "cache-control",
    "pragma",
    "range",
    "if-match",
    "if-none-match",
    "if-modified-since",
    "if-unmodified-since",
    "if-range",
    "te",
    "upgrade",
    "expect",
];
/// The header that asks caches for the answer of the target.
const NO_CACHE: (&str, &str) = ("Cache-Control", "no-cache");
/// What is accepted if the evidence does not name it.
const ACCEPT: (&str, &str) = ("Accept", "*/*");
const USER_AGENT: (&str, &str) = (
    "User-Agent",
    concat!("scandeck/", env!("CARGO_PKG_VERSION"), " (proof)"),
);

/// A request that only reads, exactly as it is sent.
#[derive(Clone, PartialEq)]
pub struct ProofRequest {
    /// It may carry a payload, so it is sent only with the two permissions of active tools.
    pub has_payload: bool,
    pub method: String,
    pub url: Url,
    pub headers: Vec<RequestHeader>,
    /// Names of headers with credentials that are not sent.
    pub left_out: Vec<String>,
    /// Names of headers and parameters with credentials that are sent.
    pub credentials: Vec<String>,
}

named_enum! {
    /// Why the request of a finding is not sent again.
    ProofRefusal {
        NoRequest "no_request",
        Address "address",
        Method "method",
        Body "body",
        Cut "cut",
        Payload "payload",
        Override "override",
        SecretParameter "secret_parameter",
        UnknownCredential "unknown_credential",
    }
}

impl ProofRefusal {
    /// The reason as a clause.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoRequest => "the evidence has no HTTP request to the target",
            Self::Address => {
                "the address is invalid, has a password, or would be sent in another form"
            }
            Self::Method => "only GET, HEAD and OPTIONS are sent",
            Self::Body => "requests with a body are not sent",
            Self::Cut => "the evidence has only the beginning of the request",
            Self::Payload => "the request may carry a payload",
            Self::Override => "a header names another method, host or address",
            Self::SecretParameter => "the URL has a secret, which is only sent if it is named",
            Self::UnknownCredential => "the evidence has no value of this header",
        }
    }
}

impl ProofRequest {
    /// The request of evidence that this tool reported; an unknown tool may have sent a payload. Of
    /// the headers and parameters with credentials, only those in `send` are sent. Whether a
    /// payload may be sent is decided later.
    ///
    /// # Errors
    /// Why it is not sent again.
    pub fn plan(
        evidence: &Evidence,
        tool: Option<Tool>,
        send: &[String],
    ) -> Result<Self, ProofRefusal> {
        let row = FirstRow::of(evidence).ok_or(ProofRefusal::NoRequest)?;
        let found = FindingRequest::of_row(&row).ok_or(ProofRefusal::NoRequest)?;
        let url = address(&found.url)
            .filter(|url| has_address(url, &found.url))
            .ok_or(ProofRefusal::Address)?;
        if !METHODS.contains(&found.method.as_str()) {
            return Err(ProofRefusal::Method);
        }
        if found.is_cut {
            return Err(ProofRefusal::Cut);
        }
        if !found.body.is_empty() {
            return Err(ProofRefusal::Body);
        }
        if is_overridden(&found) {
            return Err(ProofRefusal::Override);
        }
        let names = url.query_pairs().map(|(name, _)| name.into_owned());
        let parameters: Vec<String> = names.filter(|name| is_secret_name(name)).collect();
        if !parameters.iter().all(|name| has(send, name)) {
            return Err(ProofRefusal::SecretParameter);
        }
        if found.url.contains(HIDDEN) {
            return Err(ProofRefusal::UnknownCredential);
        }
        let mut request = Self {
            has_payload: carries_payload(&found, &row, tool),
            method: found.method,
            url,
            headers: [USER_AGENT, NO_CACHE].map(named_header).into(),
            left_out: Vec::new(),
            credentials: parameters,
        };
        for header in found.headers {
            request.add(header, send);
        }
        let mut names = request.headers.iter().map(|header| header.name.as_str());
        if !names.any(|name| name.eq_ignore_ascii_case(ACCEPT.0)) {
            request.headers.push(named_header(ACCEPT));
        }
        let is_sent = |name: &String| has(&request.credentials, name);
        match send.iter().all(is_sent) {
            true => Ok(request),
            false => Err(ProofRefusal::UnknownCredential),
        }
    }

    fn add(&mut self, header: RequestHeader, send: &[String]) {
        if REPLACED
            .iter()
            .any(|name| header.name.eq_ignore_ascii_case(name))
        {
            return;
        }
        if !is_secret(&header) {
            return self.headers.push(header);
        }
        if has(send, &header.name) && !header.value.contains(HIDDEN) {
            self.credentials.push(header.name.clone());
            self.headers.push(header);
        } else {
            self.left_out.push(header.name);
        }
    }

    /// The headers as they are shown: `Name: value`, credentials without their values.
    pub fn shown_headers(&self) -> Vec<String> {
        let shown = |header: &RequestHeader| match is_secret(header) {
            true => format!("{}: •••", header.name),
            false => format!("{}: {}", header.name, hide_parameters(&header.value)),
        };
        self.headers.iter().map(shown).collect()
    }

    /// The name in its `Host` header, if that is not the host of the URL.
    pub fn virtual_host(&self) -> Option<&str> {
        let mut headers = self.headers.iter();
        let host = headers.find(|header| header.is_host())?;
        Some(without_port(&host.value))
    }

    /// The URL without the values of secret parameters.
    pub fn shown_url(&self) -> String {
        hide_parameters(self.url.as_str())
    }
}

/// `GET https://shop.acme.test/`
impl fmt::Display for ProofRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.shown_url())
    }
}

/// Without the values of credentials.
impl fmt::Debug for ProofRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProofRequest({self}, {:?})", self.shown_headers())
    }
}

fn named_header((name, value): (&str, &str)) -> RequestHeader {
    RequestHeader {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

/// The URL without its fragment; none with a user name or a password.
fn address(text: &str) -> Option<Url> {
    let mut url = Url::parse(text).ok()?;
    let is_plain = url.username().is_empty() && url.password().is_none() && url.has_host();
    url.set_fragment(None);
    is_plain.then_some(url)
}

fn is_secret(header: &RequestHeader) -> bool {
    header.is_credential() || is_secret_name(&header.name)
}

fn has(names: &[String], name: &str) -> bool {
    names.iter().any(|one| one.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plan(request: &str, tool: i64, send: &[&str]) -> Result<ProofRequest, ProofRefusal> {
        let row = ["https://a.test/".to_owned(), request.to_owned()];
        let evidence = Evidence::table(&["URL", "Request"], [Vec::from(row)]);
        let send: Vec<String> = send.iter().map(|name| (*name).to_owned()).collect();
        ProofRequest::plan(&evidence, Some(Tool(tool)), &send)
    }

    #[test]
    fn manual_finding_is_proven_only_if_its_evidence_is_a_request_to_the_target() {
        let planned = |evidence: &str| {
            let text = Evidence::from_value(&evidence.into());
            ProofRequest::plan(&text, None, &[])
        };
        let captured = "GET /l/abc/k7f2abcdefgh HTTP/1.1\r\nHost: logger.test\r\n\r\n";
        assert_eq!(planned(captured).err(), Some(ProofRefusal::NoRequest));
        let edited = "GET https://shop.test/fetch?id=7 HTTP/1.1\n\nHTTP/1.1 200 OK\n\nhello";
        let request = planned(edited).unwrap();
        assert_eq!(request.url.as_str(), "https://shop.test/fetch?id=7");
        assert!(request.has_payload);
    }

    #[test]
    fn request_is_sent_without_its_credentials_unless_they_are_named() {
        let text = "GET /a HTTP/1.1\nHost: a.test\nAccept: */*\nCookie: sid=s3cret\n\
                    Authorization: •••\nX-Api-Token: s3cret\nUser-Agent: x\nRange: bytes=0-9\n\n";
        let request = plan(text, 170, &[]).unwrap();
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            request.shown_headers(),
            [
                format!("User-Agent: scandeck/{version} (proof)").as_str(),
                "Cache-Control: no-cache",
                "Accept: */*"
            ]
        );
        assert_eq!(request.left_out, ["Cookie", "Authorization", "X-Api-Token"]);
        let named = plan(text, 170, &["cookie"]).unwrap();
        assert!(named.headers.iter().any(|one| one.value == "sid=s3cret"));
        assert_eq!(named.credentials, ["Cookie"]);
        assert!(!format!("{named:?}").contains("s3cret"));
        for unknown in ["authorization", "x-other"] {
            let refused = plan(text, 170, &[unknown]).unwrap_err();
            assert_eq!(refused, ProofRefusal::UnknownCredential);
        }
    }

    #[test]
    fn secret_in_the_url_is_sent_only_if_it_is_named_and_never_shown() {
        let text = "GET /a?page=1&access_token=s3cret HTTP/1.1\n\n";
        assert_eq!(
            plan(text, 170, &[]).unwrap_err(),
            ProofRefusal::SecretParameter
        );
        let named = plan(text, 170, &["access_token"]).unwrap();
        assert_eq!(named.url.query(), Some("page=1&access_token=s3cret"));
        assert_eq!(named.credentials, ["access_token"]);
        assert!(!format!("{named:?}").contains("s3cret"));
        let hidden = plan("GET /?sig=••• HTTP/1.1\n\n", 170, &["sig"]);
        assert_eq!(hidden.unwrap_err(), ProofRefusal::UnknownCredential);
    }

    #[test]
    fn request_that_could_change_something_is_refused() {
        for (text, refusal) in [
            ("POST /a HTTP/1.1\n\na=1", ProofRefusal::Method),
            ("DELETE /a HTTP/1.1\n\n", ProofRefusal::Method),
            ("GET /a HTTP/1.1\nAccept: a\n\na=1", ProofRefusal::Body),
            ("GET /a HTTP/1.1\nAccept: a…", ProofRefusal::Cut),
            (
                "GET / HTTP/1.1\nX-HTTP-Method-Override: DELETE\n\n",
                ProofRefusal::Override,
            ),
            (
                "GET / HTTP/1.1\nX-Forwarded-Host: b.test\n\n",
                ProofRefusal::Override,
            ),
            (
                "GET / HTTP/1.1\nHost: b.test\nHost: c.test\n\n",
                ProofRefusal::Override,
            ),
            (
                "GET /a/../../etc/passwd HTTP/1.1\n\n",
                ProofRefusal::Address,
            ),
            (
                "GET https://ann:pw@a.test/ HTTP/1.1\n\n",
                ProofRefusal::Address,
            ),
        ] {
            assert_eq!(plan(text, 170, &[]).unwrap_err(), refusal, "{text}");
        }
        let named = plan("GET / HTTP/1.1\nHost: b.test:81\n\n", 170, &[]).unwrap();
        assert_eq!(named.virtual_host(), Some("b.test"));
        let refused = ProofRequest::plan(&Evidence::default(), None, &[]);
        assert_eq!(refused.unwrap_err(), ProofRefusal::NoRequest);
    }

    #[test]
    fn request_that_may_carry_a_payload_is_marked() {
        let reading = "GET /a HTTP/1.1\n\n";
        for (text, tool, has_payload) in [
            (reading, 170, false),
            (reading, 10_018, false),
            (reading, 10_003, true),
            ("GET /?q=%3Cb%3E HTTP/1.1\n\n", 170, true),
            ("GET / HTTP/1.1\nX-Forwarded-For: ${jndi:x}\n\n", 170, true),
        ] {
            let planned = plan(text, tool, &[]).unwrap();
            assert_eq!(planned.has_payload, has_payload, "{text} {tool}");
        }
        let row = ["http://a.test/", "id"].map(str::to_owned);
        let attacked = Evidence::table(&["URL", "Parameter"], [Vec::from(row)]);
        let planned = ProofRequest::plan(&attacked, Some(Tool::WEBSITE), &[]);
        assert!(planned.unwrap().has_payload);
    }

    proptest! {
        #[test]
        fn planned_request_only_reads_and_has_no_secret(
            method in "(GET|HEAD|OPTIONS|POST|PUT|get|TRACE)",
            path in "[a-z0-9/]{0,12}",
            name in "(Accept|X-[A-Za-z]{1,6}|X-Session-Id|Api-Key|Proxy-Authorization|X-Pwd|SID)",
        ) {
            let text = format!("{method} /{path} HTTP/1.1\n{name}: s3cret\nCookie: s3cret\n\n");
            let planned = plan(&text, 170, &[]);
            let is_reading = METHODS.contains(&method.to_uppercase().as_str());
            prop_assert_eq!(planned.is_ok(), is_reading);
            if let Ok(request) = planned {
                let is_open = name == "Accept" || name.starts_with("X-") && !is_secret_name(&name);
                let sent: Vec<&str> = request.headers.iter().map(|one| one.value.as_str()).collect();
                prop_assert_eq!(sent.contains(&"s3cret"), is_open);
                prop_assert_eq!(request.url.host_str(), Some("a.test"));
            }
        }
    }
}
