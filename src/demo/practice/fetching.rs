//! The ways in which the practice target can be made to request an address: what each does to it, and what the page
//! says about it. Pure: a way and what was given in, the call to make out.
//!
//! ```text
//!   given ─► completed with the logger's host ─► changed by the way ─► to the demo's loggers? ─► Call, or a refusal
//! ```
//!
//! The check comes last, on the very address that is called.

use base64::Engine as _;
use serde_json::json;
use url::Url;

/// Longest part of an address that a refusal repeats, in characters.
const SHOWN: usize = 200;

/// A way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchMode {
    Plain,
    Path,
    Header,
    Later,
    Unfurl,
    Upper,
    Twice,
    Json,
}

/// What is to be requested.
#[derive(Clone, Debug, PartialEq)]
pub struct FetchCall {
    pub url: Url,
    /// Sent as JSON by POST; without one it is a GET.
    pub body: Option<serde_json::Value>,
}

/// Why nothing is requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchRefusal {
    /// Nothing was given.
    Nothing,
    /// It is no address.
    NoAddress,
    /// It leads elsewhere than to the loggers of this demo.
    Elsewhere(String),
}

impl FetchMode {
    /// All, as the page lists them.
    pub const ALL: [FetchMode; 8] =
        [Self::Plain, Self::Path, Self::Header, Self::Later, Self::Unfurl, Self::Upper, Self::Twice, Self::Json];

    /// As in addresses, `/fetch/plain`.
    pub fn id(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Path => "path",
            Self::Header => "header",
            Self::Later => "later",
            Self::Unfurl => "unfurl",
            Self::Upper => "upper",
            Self::Twice => "twice",
            Self::Json => "json",
        }
    }

    /// The way of a path.
    pub fn at(path: &str) -> Option<Self> {
        let id = path.strip_prefix("/fetch/")?;
        Self::ALL.into_iter().find(|way| way.id() == id)
    }

    /// What it does, in a sentence for who practises.
    pub fn told(self) -> &'static str {
        match self {
            Self::Plain => "The server requests exactly the address it is given.",
            Self::Path => "It appends /latest/meta-data first: what comes in ends with more than was planted.",
            Self::Header => {
                "It requests the address in the header X-Callback, or else in Referer, of any request to /fetch/header; \
                 a form sends neither, curl -H does."
            }
            Self::Later => {
                "It answers first and requests the address later: after 5 seconds, or as many as seconds= says, 60 at \
                 the most."
            }
            Self::Unfurl => {
                "It looks for an address in any text, HTML or XML, as link previews and XML parsers do; the whole body \
                 of a POST is such a text."
            }
            Self::Upper => "It sends the address on to its logger as a parameter, in upper case.",
            Self::Twice => "It sends the address on to its logger as a parameter, URL-encoded once more.",
            Self::Json => "It posts the address on to its logger in a JSON body, in base64.",
        }
    }

    /// What to request for what was given. `logger` is one of the demo's own: only to its host and port anything goes.
    ///
    /// # Errors
    /// Why nothing is requested.
    pub fn call(self, given: &str, logger: &Url) -> Result<FetchCall, FetchRefusal> {
        let given = given.trim();
        if given.is_empty() {
            return Err(FetchRefusal::Nothing);
        }
        let parse = |text: &str| {
            // Without a host, as after `//` or a single slash, it is completed with the logger's.
            let url = Url::options().base_url(Some(logger)).parse(text).map_err(|_| FetchRefusal::NoAddress)?;
            match url.origin() == logger.origin() {
                true => Ok(url),
                false => Err(FetchRefusal::Elsewhere(url.as_str().chars().take(SHOWN).collect())),
            }
        };
        let get = |url: Url| FetchCall { url, body: None };
        let to = |name: &str, value: &str| {
            let mut url = handler(&parse(given)?).join(name).map_err(|_| FetchRefusal::NoAddress)?;
            url.query_pairs_mut().append_pair("address", value);
            Ok(get(url))
        };
        match self {
            Self::Plain | Self::Header | Self::Later => Ok(get(parse(given)?)),
            // Of several, as the names of XML are, the one that is to be loaded.
            Self::Unfurl => match addresses(given).find_map(|address| parse(&address).ok()) {
                Some(url) => Ok(get(url)),
                None => Ok(get(parse(&addresses(given).next().unwrap_or_else(|| given.to_owned()))?)),
            },
            Self::Path => Ok(get(parse(&format!("{given}/latest/meta-data"))?)),
            Self::Upper => to("upper", &given.to_uppercase()),
            Self::Twice => to("twice", &encoded(given)),
            Self::Json => {
                let url = handler(&parse(given)?).join("json").map_err(|_| FetchRefusal::NoAddress)?;
                let address = base64::engine::general_purpose::STANDARD.encode(given);
                Ok(FetchCall { url, body: Some(json!({"event": "import", "address": address})) })
            }
        }
    }
}

/// The logger below which an address lies: `/l/<its name>/`.
fn handler(url: &Url) -> Url {
    let name: Vec<&str> = url.path_segments().into_iter().flatten().take(2).collect();
    let mut handler = url.clone();
    handler.set_path(&format!("{}/", name.join("/")));
    handler.set_query(None);
    handler.set_fragment(None);
    handler
}

/// The addresses in a text, each as far as it can reach.
fn addresses(text: &str) -> impl Iterator<Item = String> + '_ {
    text.match_indices("http").filter_map(|(at, _)| {
        let rest = &text[at..];
        let end = rest.find(|c: char| c.is_whitespace() || "\"'<>`".contains(c)).unwrap_or(rest.len());
        let is_one = rest.starts_with("http://") || rest.starts_with("https://");
        is_one.then(|| rest[..end].replace("&amp;", "&"))
    })
}

fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIVEN: &str = "http://127.0.0.1:8766/l/Abc/?t=k7f2abcdef";

    fn logger() -> Url {
        Url::parse("http://127.0.0.1:8766/l/Own/").unwrap()
    }

    fn called(way: FetchMode, given: &str) -> String {
        way.call(given, &logger()).unwrap().url.into()
    }

    #[test]
    fn each_way_changes_the_address_as_it_says() {
        for way in [FetchMode::Plain, FetchMode::Header, FetchMode::Later] {
            assert_eq!(called(way, GIVEN), GIVEN);
        }
        assert_eq!(called(FetchMode::Path, GIVEN), format!("{GIVEN}/latest/meta-data"));
        assert_eq!(called(FetchMode::Unfurl, &format!("<!ENTITY x SYSTEM \"{GIVEN}\"><a>&x;</a>")), GIVEN);
        let svg = format!("<svg xmlns=\"http://www.w3.org/2000/svg\"><image href='{GIVEN}&amp;x=1'/></svg>");
        assert_eq!(called(FetchMode::Unfurl, &svg), format!("{GIVEN}&x=1"));
        let upper = called(FetchMode::Upper, GIVEN);
        assert_eq!(
            upper,
            "http://127.0.0.1:8766/l/Abc/upper?address=HTTP%3A%2F%2F127.0.0.1%3A8766%2FL%2FABC%2F%3FT%3DK7F2ABCDEF"
        );
        assert!(called(FetchMode::Twice, GIVEN).contains("/l/Abc/twice?address=http%253A%252F%252F127"));
        let json = FetchMode::Json.call(GIVEN, &logger()).unwrap();
        assert_eq!((json.url.path(), &json.body.unwrap()["event"]), ("/l/Abc/json", &"import".into()));
        for hostless in ["//127.0.0.1:8766/l/Abc/?t=k7f2abcdef", "/l/Abc/?t=k7f2abcdef"] {
            assert_eq!(called(FetchMode::Plain, hostless), GIVEN);
        }
    }

    #[test]
    fn nothing_is_called_but_the_loggers_of_the_demo() {
        let elsewhere = [
            "http://127.0.0.1:8765/api/v2/scans",
            "http://127.0.0.1/",
            "https://127.0.0.1:8766/l/Abc/",
            "http://127.0.0.1:8766@example.org/",
            "//example.org/",
            "http://127.0.0.1:8766.example.org/",
            "http://localhost:8766/l/Abc/",
            "ftp://127.0.0.1:8766/",
            "file:///etc/passwd",
            "\\\\example.org\\x",
        ];
        for way in FetchMode::ALL {
            for given in elsewhere {
                let refused = way.call(given, &logger());
                assert!(
                    matches!(refused, Err(FetchRefusal::Elsewhere(_) | FetchRefusal::NoAddress)),
                    "{way:?} {given}: {refused:?}"
                );
            }
            assert_eq!(way.call(" ", &logger()), Err(FetchRefusal::Nothing));
        }
        // What is appended may not move the host either.
        assert!(matches!(
            FetchMode::Path.call("http://127.0.0.1:8766@example.org", &logger()),
            Err(FetchRefusal::Elsewhere(_))
        ));
    }

    #[test]
    fn every_way_has_an_address_of_its_own() {
        for way in FetchMode::ALL {
            assert_eq!(FetchMode::at(&format!("/fetch/{}", way.id())), Some(way));
            assert!(way.told().ends_with('.'));
        }
        assert_eq!((FetchMode::at("/fetch"), FetchMode::at("/fetch/none")), (None, None));
    }
}
