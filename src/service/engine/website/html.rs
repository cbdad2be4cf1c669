//! The URLs in a page, read by a streaming tokenizer.
//!
//! ```text
//!   body ─► chunks of 1 KiB ─► tokenizer ─► start tags with a URL ─► links, resources over plain HTTP
//!              └─ time limit, stop        └─ at most MAX_ELEMENTS
//! ```
//!
//! There is no tree: a parser clones the unclosed formatting elements of a hostile page again and again, and its tree
//! has no depth limit. The tokenizer keeps one tag at a time. It runs on a blocking thread, because its check for
//! duplicate attributes is quadratic: a page of one tag can keep a thread busy for seconds.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use html5ever::Attribute;
use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::{Rawtext, Rcdata, ScriptData};
use html5ever::tokenizer::{StartTag, Tag, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use url::Url;

use crate::service::engine::blocking::StopFlag;
use crate::service::engine::http::HttpPage;

/// Largest number of elements with a URL per page.
const MAX_ELEMENTS: usize = 10_000;
/// Largest number of links per page.
const MAX_LINKS: usize = 200;
/// Longest URL that is followed or reported, in bytes.
const MAX_URL: usize = 8192;
/// Bytes between two checks of the time limit.
const CHUNK: usize = 1024;

/// Elements that lead to other pages or files, with the attribute that contains the URL.
#[rustfmt::skip]
const LINKS: &[(&str, &str)] = &[
    ("a", "href"), ("area", "href"), ("iframe", "src"), ("frame", "src"), ("img", "src"), ("script", "src"),
    ("link", "href"),
];

/// Elements that load or send data, with the attribute that contains the URL. Evidence lists them in this order.
#[rustfmt::skip]
const RESOURCES: &[(&str, &str)] = &[
    ("script", "src"), ("link", "href"), ("iframe", "src"), ("img", "src"), ("audio", "src"), ("video", "src"),
    ("source", "src"), ("object", "data"), ("form", "action"),
];

/// HTML elements that end an unclosed `svg` or `math` (HTML, 13.2.6.5).
#[rustfmt::skip]
const BREAKOUT: &[&str] = &[
    "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1", "h2", "h3",
    "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p", "pre", "ruby", "s",
    "small", "span", "strike", "strong", "sub", "sup", "table", "tt", "u", "ul", "var",
];

/// The URLs in one page.
#[derive(Debug, Default)]
pub struct PageUrls {
    /// Destinations of links and resources in the order of the page.
    pub links: Vec<Url>,
    /// Resources with an `http://` URL: the name of the element and the URL.
    pub plain_resources: Vec<(String, Url)>,
    /// Whether a limit ended the reading early.
    pub is_cut: bool,
    /// Time that the reading took.
    pub took: Duration,
}

/// Reads a page for at most `limit`, and until `stop` is set.
pub fn read(page: &HttpPage, limit: Duration, stop: &StopFlag) -> PageUrls {
    let started = Instant::now();
    let text = page.text();
    let tokenizer = Tokenizer::new(UrlSink::default(), TokenizerOpts::default());
    let mut rest: &str = &text;
    while !rest.is_empty() && !tokenizer.sink.is_full() && !stop.is_set() && started.elapsed() < limit {
        let (chunk, later) = rest.split_at(rest.floor_char_boundary(CHUNK));
        let input = BufferQueue::default();
        input.push_back(StrTendril::from(chunk));
        let _ = tokenizer.feed(&input);
        rest = later;
    }
    if rest.is_empty() {
        tokenizer.end();
    }
    let elements = tokenizer.sink.elements.take();
    PageUrls {
        is_cut: !rest.is_empty(),
        links: links(&page.url, &elements),
        plain_resources: plain_resources(&page.url, &elements),
        took: started.elapsed(),
    }
}

fn links(base: &Url, elements: &[UrlElement]) -> Vec<Url> {
    let named = elements.iter().filter_map(|element| element.link.as_deref());
    named.filter_map(|link| join(base, link)).take(MAX_LINKS).collect()
}

fn plain_resources(base: &Url, elements: &[UrlElement]) -> Vec<(String, Url)> {
    let mut found: Vec<(usize, Url)> = Vec::new();
    for (order, value) in elements.iter().filter_map(|element| element.resource.as_ref()) {
        found.extend(join(base, value).filter(|url| url.scheme() == "http").map(|url| (*order, url)));
    }
    found.sort_by_key(|(order, _)| *order);
    found.into_iter().map(|(order, url)| (RESOURCES[order].0.to_owned(), url)).collect()
}

fn join(base: &Url, value: &str) -> Option<Url> {
    base.join(value).ok().filter(|url| url.as_str().len() <= MAX_URL)
}

/// An element with a URL.
#[derive(Debug)]
struct UrlElement {
    /// The destination, if it is one of [`LINKS`].
    link: Option<String>,
    /// The position in [`RESOURCES`] and the URL.
    resource: Option<(usize, String)>,
}

/// Collects the elements, and switches the tokenizer to raw text where the tree of a parser would.
#[derive(Debug, Default)]
struct UrlSink {
    elements: RefCell<Vec<UrlElement>>,
    /// Inside of `svg` or `math`, where `script`, `style` and `title` contain markup.
    in_foreign: Cell<bool>,
}

impl UrlSink {
    fn is_full(&self) -> bool {
        self.elements.borrow().len() >= MAX_ELEMENTS
    }

    fn take(&self, tag: &Tag) {
        let name: &str = if *tag.name == *"image" && !self.in_foreign.get() { "img" } else { &tag.name };
        let is_link = LINKS.iter().any(|(element, attribute)| *element == name && value(tag, attribute).is_some());
        let link = is_link.then(|| value(tag, "href").or_else(|| value(tag, "src"))).flatten();
        let is_resource = |(element, attribute): &(&str, &str)| *element == name && value(tag, attribute).is_some();
        let order = RESOURCES.iter().position(is_resource);
        let is_stylesheet = || value(tag, "rel").is_some_and(|rel| rel.eq_ignore_ascii_case("stylesheet"));
        let order = order.filter(|_| name != "link" || is_stylesheet());
        let resource = order.and_then(|order| Some((order, value(tag, RESOURCES[order].1)?.to_owned())));
        if (link.is_some() || resource.is_some()) && !self.is_full() {
            self.elements.borrow_mut().push(UrlElement { link: link.map(str::to_owned), resource });
        }
    }
}

fn value<'t>(tag: &'t Tag, name: &str) -> Option<&'t str> {
    tag.attrs.iter().find(|attribute: &&Attribute| *attribute.name.local == *name).map(|attribute| &*attribute.value)
}

impl TokenSink for UrlSink {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        let Token::TagToken(tag) = token else { return TokenSinkResult::Continue };
        let name: &str = &tag.name;
        if tag.kind != StartTag {
            if matches!(name, "svg" | "math") {
                self.in_foreign.set(false);
            }
            return TokenSinkResult::Continue;
        }
        if BREAKOUT.contains(&name) {
            self.in_foreign.set(false);
        }
        self.take(&tag);
        if self.in_foreign.get() {
            return TokenSinkResult::Continue;
        }
        match name {
            "svg" | "math" => {
                self.in_foreign.set(!tag.self_closing);
                TokenSinkResult::Continue
            }
            "script" => TokenSinkResult::RawData(ScriptData),
            "style" | "xmp" | "iframe" | "noembed" | "noframes" | "noscript" => TokenSinkResult::RawData(Rawtext),
            "title" | "textarea" => TokenSinkResult::RawData(Rcdata),
            "plaintext" => TokenSinkResult::Plaintext,
            _ => TokenSinkResult::Continue,
        }
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.in_foreign.get()
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderMap;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    fn page(body: &str) -> HttpPage {
        let url = Url::parse("https://a.test/dir/").unwrap();
        HttpPage { url, status: 200, headers: HeaderMap::new(), body: body.into() }
    }

    fn urls(body: &str) -> PageUrls {
        read(&page(body), LIMIT, &StopFlag::default())
    }

    #[test]
    fn plain_resources_exclude_links_and_images() {
        let body = r#"<form action="HTTP://a.test/login"></form><a href="http://other.test/">x</a>
            <img src="//cdn.test/b.png"><script src="http://cdn.test/a.js"></script>
            <link rel=Stylesheet href=http://cdn.test/a.css><link rel=icon href=http://cdn.test/i.png>"#;
        let names: Vec<String> = urls(body).plain_resources.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["script", "link", "form"]);
    }

    #[test]
    fn links_skip_raw_text_and_comments_and_decode_entities() {
        let body = "<title><a href=/0></title><a href='/1?a=1&amp;b=2'>x</a><!-- <a href=/2> --><script>'<a href=/3>'</script>\
            <textarea><a href=/4></textarea><noscript><a href=/5></noscript><style><a href=/6></style><IMG SRC=7.png>\
            <svg><title><a href=/8></title><script/><a href=/9></svg><iframe src=/10></iframe><area href=/11>";
        let links: Vec<String> = urls(body).links.iter().map(|url| url.path().to_owned()).collect();
        assert_eq!(links, ["/1", "/dir/7.png", "/8", "/9", "/10", "/11"]);
        assert_eq!(urls(body).links[0].query(), Some("a=1&b=2"));
    }

    #[test]
    fn unclosed_svg_does_not_hide_scripts() {
        let links = urls("<svg><p><script>'<a href=/no>'</script><a href=/yes>").links;
        assert_eq!(links.iter().map(Url::path).collect::<Vec<_>>(), ["/yes"]);
    }

    #[test]
    fn links_and_elements_are_limited() {
        let found = urls(&"<a href=/x><img src=http://b.test/>".repeat(MAX_ELEMENTS));
        assert_eq!((found.links.len(), found.plain_resources.len()), (MAX_LINKS, MAX_ELEMENTS / 2));
        assert!(found.is_cut && !urls("<a href=/x>").is_cut);
        assert!(urls(&format!("<a href=/{}>", "x".repeat(MAX_URL))).links.is_empty());
    }

    #[test]
    fn reading_ends_at_time_limit_and_stop() {
        let many: String = (0..60_000).map(|n| format!(" a{n}")).collect();
        let hostile = page(&format!("<p{many}>"));
        let started = Instant::now();
        assert!(read(&hostile, Duration::from_millis(50), &StopFlag::default()).is_cut);
        let stop = StopFlag::default();
        stop.set();
        assert!(read(&hostile, LIMIT, &stop).is_cut);
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    }
}
