//! Modes of server-side requests of the practice target. Pure: converts a mode and an input into a
//! request.
//!
//! ```text
//!   input ─► completed with the logger's host ─► changed by the mode ─► to the demo's loggers? ─► FetchCall, or a refusal
//! ```
//!
//! The check comes last and examines the final URL.

use base64::Engine as _;
use serde_json::json;
use url::Url;

/// Characters of a URL that a refusal repeats.
const SHOWN: usize = 200;

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

/// A request to send.
#[derive(Clone, Debug, PartialEq)]
pub struct FetchCall {
    pub url: Url,
    /// Sent as JSON by POST; without a body the method is GET.
    pub body: Option<serde_json::Value>,
}

/// Why no request is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchRefusal {
    /// The input is empty.
    Nothing,
    /// The input is not a URL.
    NoAddress,
    /// The URL does not belong to a logger of this demo.
    Elsewhere(String),
}

impl FetchMode {
    /// All modes as the page lists them: with id (`/fetch/ID`) and description.
    pub const ALL: [(FetchMode, &str, &str); 8] = [
        (Self::Plain, "plain", "Requests exactly the given URL."),
        (
            Self::Path,
            "path",
            "Appends /latest/meta-data to the URL, so the captured path is longer than the planted one.",
        ),
        (
            Self::Header,
            "header",
            "Requests the URL in the header X-Callback, else in Referer, of any request to /fetch/header. A form sends \
             neither; use curl -H.",
        ),
        (
            Self::Later,
            "later",
            "Responds first and requests the URL after 5 seconds, or after the number in seconds= (at most 60).",
        ),
        (
            Self::Unfurl,
            "unfurl",
            "Finds a URL in any text, HTML or XML, like link previews and XML parsers. The body of a POST is the text.",
        ),
        (
            Self::Upper,
            "upper",
            "Sends the URL to its logger as a parameter, in upper case.",
        ),
        (
            Self::Twice,
            "twice",
            "Sends the URL to its logger as a parameter, URL-encoded twice.",
        ),
        (
            Self::Json,
            "json",
            "Posts the URL to its logger in a JSON body, base64-encoded.",
        ),
    ];

    /// The mode of a path.
    pub fn at(path: &str) -> Option<Self> {
        let name = path.strip_prefix("/fetch/")?;
        Self::ALL
            .into_iter()
            .find(|(_, id, _)| *id == name)
            .map(|(mode, ..)| mode)
    }

    /// The request for an input. Requests go to the host and port of `logger` only.
    ///
    /// # Errors
    /// Why no request is sent.
    pub fn call(self, given: &str, logger: &Url) -> Result<FetchCall, FetchRefusal> {
        let given = given.trim();
        if given.is_empty() {
            return Err(FetchRefusal::Nothing);
        }
        let parse = |text: &str| allowed(text, logger);
        let get = |url: Url| FetchCall { url, body: None };
        let to = |name: &str, value: &str| {
            let mut url = handler(&parse(given)?)
                .join(name)
                .map_err(|_| FetchRefusal::NoAddress)?;
            url.query_pairs_mut().append_pair("address", value);
            Ok(get(url))
        };
        match self {
            Self::Plain | Self::Header | Self::Later => Ok(get(parse(given)?)),
            // Of several URLs, such as XML namespaces, the first allowed one.
            Self::Unfurl => {
                let allowed = addresses(given).find_map(|address| parse(&address).ok());
                let first = addresses(given).next();
                match allowed {
                    Some(url) => Ok(get(url)),
                    None => parse(first.as_deref().unwrap_or(given)).map(get),
                }
            }
            Self::Path => Ok(get(parse(&format!("{given}/latest/meta-data"))?)),
            Self::Upper => to("upper", &given.to_uppercase()),
            Self::Twice => to("twice", &encoded(given)),
            Self::Json => {
                let url = handler(&parse(given)?)
                    .join("json")
                    .map_err(|_| FetchRefusal::NoAddress)?;
                let address = base64::engine::general_purpose::STANDARD.encode(given);
                Ok(FetchCall {
                    url,
                    body: Some(json!({"event": "import", "address": address})),
                })
            }
        }
    }
}

/// The URL of a text, which must have the host and port of the logger. Without scheme or host it is
/// completed from the logger's URL.
fn allowed(text: &str, logger: &Url) -> Result<Url, FetchRefusal> {
    let options = Url::options().base_url(Some(logger));
    let url = options.parse(text).map_err(|_| FetchRefusal::NoAddress)?;
    if url.origin() == logger.origin() {
        return Ok(url);
    }
    let shown = url.as_str().chars().take(SHOWN).collect();
    Err(FetchRefusal::Elsewhere(shown))
}

/// The URL of the logger to which a URL belongs: `/l/<token>/`.
fn handler(url: &Url) -> Url {
    let name: Vec<&str> = url.path_segments().into_iter().flatten().take(2).collect();
    let mut handler = url.clone();
    handler.set_path(&format!("{}/", name.join("/")));
    handler.set_query(None);
    handler.set_fragment(None);
    handler
}

/// The URLs in a text.
fn addresses(text: &str) -> impl Iterator<Item = String> + '_ {
    text.match_indices("http").filter_map(|(at, _)| {
        let rest = &text[at..];
        let end = rest
            .find(|c: char| c.is_whitespace() || "\"'<>`".contains(c))
            .unwrap_or(rest.len());
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

    fn called(mode: FetchMode, given: &str) -> String {
        mode.call(given, &logger()).unwrap().url.into()
    }

    #[test]
    fn call_of_each_mode_changes_the_url() {
        for mode in [FetchMode::Plain, FetchMode::Header, FetchMode::Later] {
            assert_eq!(called(mode, GIVEN), GIVEN);
        }
        assert_eq!(
            called(FetchMode::Path, GIVEN),
            format!("{GIVEN}/latest/meta-data")
        );
        assert_eq!(
            called(
                FetchMode::Unfurl,
                &format!("<!ENTITY x SYSTEM \"{GIVEN}\"><a>&x;</a>")
            ),
            GIVEN
        );
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\"><image href='{GIVEN}&amp;x=1'/></svg>"
        );
        assert_eq!(called(FetchMode::Unfurl, &svg), format!("{GIVEN}&x=1"));
        let upper = called(FetchMode::Upper, GIVEN);
        assert_eq!(
            upper,
            "http://127.0.0.1:8766/l/Abc/upper?address=HTTP%3A%2F%2F127.0.0.1%3A8766%2FL%2FABC%2F%3FT%3DK7F2ABCDEF"
        );
        assert!(
            called(FetchMode::Twice, GIVEN).contains("/l/Abc/twice?address=http%253A%252F%252F127")
        );
        let json = FetchMode::Json.call(GIVEN, &logger()).unwrap();
        assert_eq!(
            (json.url.path(), &json.body.unwrap()["event"]),
            ("/l/Abc/json", &"import".into())
        );
        for hostless in [
            "//127.0.0.1:8766/l/Abc/?t=k7f2abcdef",
            "/l/Abc/?t=k7f2abcdef",
        ] {
            assert_eq!(called(FetchMode::Plain, hostless), GIVEN);
        }
    }

    #[test]
    fn call_to_foreign_url_is_refused() {
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
        for (mode, ..) in FetchMode::ALL {
            for given in elsewhere {
                let refused = mode.call(given, &logger());
                assert!(
                    matches!(
                        refused,
                        Err(FetchRefusal::Elsewhere(_) | FetchRefusal::NoAddress)
                    ),
                    "{mode:?} {given}: {refused:?}"
                );
            }
            assert_eq!(mode.call(" ", &logger()), Err(FetchRefusal::Nothing));
        }
        // The appended path must not change the host either.
        assert!(matches!(
            FetchMode::Path.call("http://127.0.0.1:8766@example.org", &logger()),
            Err(FetchRefusal::Elsewhere(_))
        ));
    }

    #[test]
    fn fetch_modes_have_distinct_paths() {
        for (mode, id, description) in FetchMode::ALL {
            assert_eq!(FetchMode::at(&format!("/fetch/{id}")), Some(mode));
            assert!(description.ends_with('.'));
        }
        assert_eq!(
            (FetchMode::at("/fetch"), FetchMode::at("/fetch/none")),
            (None, None)
        );
    }
}
