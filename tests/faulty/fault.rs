//! The faults by name, and how each spoils the response of the real service.

use std::io::Write;
use std::net::SocketAddr;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::Answer;

/// Text of a field that is replaced by bytes which JSON cannot contain.
const PLACEHOLDER: &str = "@odd@";

macro_rules! faults {
    ($($(#[$doc:meta])* $name:literal => $fault:ident,)*) => {
        /// A fault of a response.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Fault {
            None,
            /// A status with the error body of the API; the service is not called.
            Status(u16),
            /// The service carries the request out, and the response has this status.
            After(u16),
            /// 429 with `Retry-After` in seconds.
            Limited(u64),
            $($(#[$doc])* $fault,)*
        }

        /// The names of all faults.
        pub const FAULTS: &[&str] = &[
            "401", "403", "404", "409", "422", "429", "429:5", "500", "503", "504-after", "500-after", $($name,)*
        ];

        impl Fault {
            pub fn parse(name: &str) -> Option<Self> {
                $(if name == $name {
                    return Some(Self::$fault);
                })*
                if let Some(seconds) = name.strip_prefix("429:") {
                    return seconds.parse().ok().map(Self::Limited);
                }
                match name.strip_suffix("-after") {
                    Some(status) => status.parse().ok().map(Self::After),
                    None => name.parse().ok().filter(|status| (400..600).contains(status)).map(Self::Status),
                }
            }
        }
    };
}

faults! {
    /// 502 with the page of a proxy.
    "502" => BadGateway,
    /// No response.
    "hang" => Hang,
    /// The response comes after three seconds.
    "slow" => Slow,
    /// The connection is reset before the request is carried out.
    "reset" => Reset,
    /// The connection is reset after the request is carried out.
    "reset-after" => ResetAfter,
    /// The connection is closed without a response.
    "close" => Close,
    /// One byte per second.
    "drip" => Drip,
    /// 200 without a body.
    "empty" => Empty,
    /// 201 without a body at once; the service carries the request out after two seconds.
    "empty-late" => EmptyLate,
    /// 201 with half a body at once; the service carries the request out after two seconds.
    "cut-late" => CutLate,
    /// 201 without a body; the service is not called.
    "empty-only" => EmptyOnly,
    /// The JSON ends in the middle.
    "cut" => Cut,
    /// The connection closes in the middle of the body.
    "cut-body" => CutBody,
    /// Text that is not JSON.
    "text" => Text,
    /// 200 with a web page.
    "html" => Html,
    /// A redirect to another path of the proxy.
    "redirect" => Redirect,
    /// `null`.
    "null" => Null,
    /// `{"data": null}`.
    "null-data" => NullData,
    /// An object in place of the list.
    "object" => Object,
    /// A list of lists.
    "nested" => Nested,
    /// A list of objects that are no items.
    "other-items" => OtherItems,
    /// A list of numbers.
    "scalars" => Scalars,
    /// An empty list.
    "none" => NoItems,
    /// A number among the items.
    "odd-item" => OddItem,
    /// The first item has a key twice.
    "duplicate-key" => DuplicateKey,
    /// A lone surrogate in a text of the first item.
    "surrogate" => Surrogate,
    /// Invalid UTF-8 in a text of the first item.
    "bad-bytes" => BadBytes,
    /// A raw control character in a text of the first item.
    "control" => Control,
    /// NaN in place of a text of the first item.
    "nan" => Nan,
    /// A number beyond every range in place of a text of the first item.
    "huge-number" => HugeNumber,
    /// A byte order mark before the JSON.
    "bom" => ByteOrderMark,
    /// A `Date` header an hour behind, and a spent budget that is renewed in half a minute.
    "clock" => Clock,
    /// The announcement of a rate limit of 250 calls a minute.
    "limit" => Limit,
    /// A small compressed response with 1 GB of blanks.
    "bomb" => Bomb,
}

/// The faults that a read recovers from without losing rows.
pub const READ_FAULTS: &[&str] = &[
    "403",
    "404",
    "409",
    "422",
    "500",
    "503",
    "502",
    "504-after",
    "reset",
    "close",
    "empty",
    "cut",
    "cut-body",
    "text",
    "html",
    "redirect",
    "null",
    "null-data",
    "object",
    "nested",
    "scalars",
    "other-items",
];

impl Fault {
    /// Whether the service carries the request out.
    pub fn is_forwarded(self) -> bool {
        !matches!(
            self,
            Self::Status(_)
                | Self::Limited(_)
                | Self::BadGateway
                | Self::Html
                | Self::Redirect
                | Self::Bomb
                | Self::EmptyLate
                | Self::CutLate
                | Self::EmptyOnly
        )
    }

    pub fn spoil(self, answer: &mut Answer, address: SocketAddr) {
        match self {
            Self::None
            | Self::Hang
            | Self::Slow
            | Self::Reset
            | Self::ResetAfter
            | Self::Close
            | Self::Drip
            | Self::CutBody => {}
            Self::Status(status) | Self::After(status) => refuse(answer, status),
            Self::Limited(seconds) => {
                refuse(answer, 429);
                answer
                    .headers
                    .push(("retry-after".to_owned(), seconds.to_string()));
            }
            Self::BadGateway => page(
                answer,
                502,
                "<html><body><h1>502 Bad Gateway</h1></body></html>",
            ),
            Self::Html => page(
                answer,
                200,
                "<html><body>Log in to the network</body></html>",
            ),
            Self::Redirect => {
                page(answer, 302, "");
                answer
                    .headers
                    .push(("location".to_owned(), format!("http://{address}/elsewhere")));
            }
            Self::Empty => answer.body.clear(),
            Self::EmptyLate | Self::EmptyOnly => created(answer, ""),
            Self::CutLate => created(answer, r#"{"data": {"created_i"#),
            Self::Cut => answer.body.truncate(answer.body.len() / 2),
            Self::Text => answer.body = b"service is starting".to_vec(),
            Self::Null => answer.body = b"null".to_vec(),
            Self::NullData => answer.body = br#"{"data": null}"#.to_vec(),
            Self::Object => answer.body = br#"{"data": {"message": "starting"}}"#.to_vec(),
            Self::Nested => edit(answer, |items| {
                *items = vec![Value::Array(std::mem::take(items))]
            }),
            Self::OtherItems => edit(answer, |items| {
                *items = vec![json!({"message": "starting"})]
            }),
            Self::Scalars => edit(answer, |items| *items = vec![json!(1), json!(2)]),
            Self::NoItems => edit(answer, Vec::clear),
            Self::OddItem => edit(answer, |items| items.insert(items.len().min(1), json!(7))),
            Self::DuplicateKey => replace_first(answer, r#"{"id":"#, r#"{"id":1,"id":"#.as_bytes()),
            Self::Surrogate => odd(answer, b"\"a\\udcffb\""),
            Self::BadBytes => odd(answer, b"\"a\xff\xfeb\""),
            Self::Control => odd(answer, b"\"a\x01\nb\""),
            Self::Nan => odd(answer, b"NaN"),
            Self::HugeNumber => odd(answer, b"1e999"),
            Self::ByteOrderMark => drop(answer.body.splice(0..0, *b"\xef\xbb\xbf")),
            Self::Clock => {
                let now = jiff::Timestamp::now();
                let date = now - jiff::SignedDuration::from_hours(1);
                let headers = [
                    (
                        "date",
                        date.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string(),
                    ),
                    ("x-ratelimit-limit", "250".to_owned()),
                    ("x-ratelimit-remaining", "0".to_owned()),
                    ("x-ratelimit-reset", (now.as_second() + 30).to_string()),
                ];
                answer
                    .headers
                    .extend(headers.map(|(name, value)| (name.to_owned(), value)));
            }
            Self::Limit => {
                let headers = [
                    ("x-ratelimit-limit", "250"),
                    ("x-ratelimit-remaining", "200"),
                ];
                answer
                    .headers
                    .extend(headers.map(|(name, value)| (name.to_owned(), value.to_owned())));
            }
            Self::Bomb => {
                page(answer, 200, "");
                answer.headers = vec![
                    ("content-type".into(), "application/json".into()),
                    ("content-encoding".into(), "gzip".into()),
                ];
                answer.body = bomb();
            }
        }
    }
}

fn refuse(answer: &mut Answer, status: u16) {
    let body =
        json!({"status": status, "message": format!("refused with {status}"), "details": null});
    answer.status = status;
    answer.headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    answer.body = body.to_string().into_bytes();
}

fn created(answer: &mut Answer, body: &str) {
    answer.status = 201;
    answer.headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    answer.body = body.as_bytes().to_vec();
}

fn page(answer: &mut Answer, status: u16, text: &str) {
    answer.status = status;
    answer.headers = vec![(
        "content-type".to_owned(),
        "text/html; charset=utf-8".to_owned(),
    )];
    answer.body = text.as_bytes().to_vec();
}

/// Changes the items of a list.
fn edit(answer: &mut Answer, change: impl FnOnce(&mut Vec<Value>)) {
    let Ok(mut body) = serde_json::from_slice::<Value>(&answer.body) else {
        return;
    };
    let data = if body.get("data").is_some() {
        &mut body["data"]
    } else {
        &mut body
    };
    let list = if data.get("requests").is_some() {
        &mut data["requests"]
    } else {
        data
    };
    if let Value::Array(items) = list {
        change(items);
        answer.body = body.to_string().into_bytes();
    }
}

/// Replaces the first text of the first item by these bytes.
fn odd(answer: &mut Answer, bytes: &[u8]) {
    edit(answer, |items| {
        let fields = items.first_mut().and_then(Value::as_object_mut);
        let text = fields.and_then(|fields| fields.values_mut().find(|value| value.is_string()));
        text.into_iter().for_each(|text| *text = PLACEHOLDER.into());
    });
    replace_first(answer, &format!("{PLACEHOLDER:?}"), bytes);
}

fn replace_first(answer: &mut Answer, text: &str, bytes: &[u8]) {
    let at = answer
        .body
        .windows(text.len())
        .position(|part| part == text.as_bytes());
    if let Some(at) = at {
        answer
            .body
            .splice(at..at + text.len(), bytes.iter().copied());
    }
}

/// 1 GB of blanks in 1 MB.
fn bomb() -> Vec<u8> {
    let member = |text: &[u8]| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(text).unwrap();
        packed.finish().unwrap()
    };
    let mut packed = member(b"{\"data\": [");
    packed.extend(member(&vec![b' '; 1 << 20]).repeat(1024));
    packed
}
