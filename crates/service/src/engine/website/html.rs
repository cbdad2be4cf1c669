//! The URLs in a page, read by a streaming tokenizer.
//!
//! ```text
//!   body ─► chunks of 1 KiB ─► tokenizer ─► start tags with a URL ─► links, resources over plain HTTP
//!              └─ time limit, stop        └─ at most MAX_ELEMENTS
//! ```
//!
//! There is no tree: a parser clones the unclosed formatting elements of a hostile page again and
//! again, and its tree has no depth limit. The tokenizer keeps one tag at a time. It runs on a
//! blocking thread, because its check for duplicate attributes is quadratic: a page of one tag can
//! keep a thread busy for seconds.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use html5ever::Attribute;
use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::{Rawtext, Rcdata, ScriptData};
use html5ever::tokenizer::{
    StartTag, Tag, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use url::Url;

use crate::engine::blocking::StopFlag;
use crate::engine::http::HttpPage;

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

/// Elements that load or send data, with the attribute that contains the URL. Evidence lists them
/// in this order.
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

/// The parsed content of one page.
#[derive(Debug, Default)]
pub struct PageContents {
    /// Destinations of links and resources in the order of the page.
    pub links: Vec<Url>,
    /// Resources with an `http://` URL: the name of the element and the URL.
    pub plain_resources: Vec<(String, Url)>,
    /// Content-Security-Policies of `meta` elements.
    pub policies: Vec<String>,
    /// The referrer policy of the last `meta` element that names one.
    pub referrer: String,
    /// Scripts and style sheets.
    pub subresources: Vec<Subresource>,
    pub forms: Vec<HtmlForm>,
    /// Whether a `meta` element has a CSRF token for the scripts of the page.
    pub has_token: bool,
    /// Whether a limit ended the reading early.
    pub is_cut: bool,
    /// Time that the reading took.
    pub took: Duration,
}

/// A script or a style sheet that the page loads.
#[derive(Clone, Debug)]
pub struct Subresource {
    /// `script` or `link`.
    pub element: &'static str,
    pub url: Url,
    pub has_integrity: bool,
}

#[derive(Clone, Debug)]
pub struct HtmlForm {
    /// Where it is sent.
    pub action: Url,
    pub is_post: bool,
    pub has_password: bool,
    /// Whether a field is named like a CSRF token.
    pub has_token: bool,
}

/// Reads a page for at most `limit`, and until `stop` is set.
pub fn read(page: &HttpPage, limit: Duration, stop: &StopFlag) -> PageContents {
    let started = Instant::now();
    let text = page.text();
    let tokenizer = Tokenizer::new(UrlSink::default(), TokenizerOpts::default());
    let mut rest: &str = &text;
    while !rest.is_empty()
        && !tokenizer.sink.is_full()
        && !stop.is_set()
        && started.elapsed() < limit
    {
        let (chunk, later) = rest.split_at(rest.floor_char_boundary(CHUNK));
        let input = BufferQueue::default();
        input.push_back(StrTendril::from(chunk));
        let _ = tokenizer.feed(&input);
        rest = later;
    }
    if rest.is_empty() {
        tokenizer.end();
    }
    let (elements, metas) = (tokenizer.sink.elements.take(), tokenizer.sink.metas.take());
    let base = tokenizer
        .sink
        .base
        .take()
        .and_then(|base| join(&page.url, &base))
        .filter(is_base);
    let base = base.unwrap_or_else(|| page.url.clone());
    let refresh = metas.refresh.and_then(|url| join(&base, &url));
    PageContents {
        is_cut: !rest.is_empty(),
        links: refresh.into_iter().chain(links(&base, &elements)).collect(),
        plain_resources: plain_resources(&base, &elements),
        subresources: subresources(&base, tokenizer.sink.subresources.take()),
        forms: forms(&base, &page.url, tokenizer.sink.forms.take()),
        has_token: metas.has_token,
        policies: metas.policies,
        referrer: metas.referrer,
        took: started.elapsed(),
    }
}

/// Browsers ignore a base URL of these schemes (HTML §4.2.3).
fn is_base(url: &Url) -> bool {
    !matches!(url.scheme(), "javascript" | "data") && !url.cannot_be_a_base()
}

fn links(base: &Url, elements: &[UrlElement]) -> Vec<Url> {
    let named = elements
        .iter()
        .filter_map(|element| element.link.as_deref());
    named
        .filter_map(|link| join(base, link))
        .take(MAX_LINKS)
        .collect()
}

/// The URL of a refresh, of a `meta` element or a header: `0; url=/next` (HTML §4.2.5.3).
pub fn refresh_url(value: &str) -> Option<&str> {
    let after = value
        .trim_start()
        .trim_start_matches(|character: char| character.is_ascii_digit() || character == '.');
    let rest = after
        .trim_start()
        .strip_prefix([';', ','])
        .or_else(|| after.starts_with(' ').then_some(after))?
        .trim();
    let name = rest
        .get(..3)
        .filter(|name| name.eq_ignore_ascii_case("url"))
        .map(|_| rest[3..].trim_start());
    let url = name
        .and_then(|rest| rest.strip_prefix('='))
        .unwrap_or(rest)
        .trim_start();
    let url = match url.chars().next() {
        Some(quote @ ('"' | '\'')) => url[1..].split(quote).next().unwrap_or_default(),
        _ => url,
    };
    Some(url).filter(|url| !url.is_empty())
}

fn plain_resources(base: &Url, elements: &[UrlElement]) -> Vec<(String, Url)> {
    let mut found: Vec<(usize, Url)> = Vec::new();
    for (order, value) in elements
        .iter()
        .filter_map(|element| element.resource.as_ref())
    {
        found.extend(
            join(base, value)
                .filter(|url| url.scheme() == "http")
                .map(|url| (*order, url)),
        );
    }
    found.sort_by_key(|(order, _)| *order);
    found
        .into_iter()
        .map(|(order, url)| (RESOURCES[order].0.to_owned(), url))
        .collect()
}

fn subresources(base: &Url, found: Vec<FoundResource>) -> Vec<Subresource> {
    let url = |one: FoundResource| {
        Some(Subresource {
            element: one.element,
            url: join(base, &one.url)?,
            has_integrity: one.has_integrity,
        })
    };
    found.into_iter().filter_map(url).collect()
}

fn forms(base: &Url, page: &Url, found: Vec<FoundForm>) -> Vec<HtmlForm> {
    let form = |form: FoundForm| {
        // A form without an action is sent to the page itself.
        let action = form.action.filter(|action| !action.trim().is_empty());
        Some(HtmlForm {
            action: action.map_or_else(|| Some(page.clone()), |action| join(base, &action))?,
            is_post: form.is_post,
            has_password: form.has_password,
            has_token: form.has_token,
        })
    };
    found.into_iter().filter_map(form).collect()
}

fn join(base: &Url, value: &str) -> Option<Url> {
    base.join(value)
        .ok()
        .filter(|url| url.as_str().len() <= MAX_URL)
}

#[derive(Debug)]
struct UrlElement {
    /// The destination, if it is one of [`LINKS`].
    link: Option<String>,
    /// The position in [`RESOURCES`] and the URL.
    resource: Option<(usize, String)>,
}

/// The policies of `meta` elements.
#[derive(Debug, Default)]
struct MetaPolicies {
    policies: Vec<String>,
    referrer: String,
    has_token: bool,
    /// The page that the first one leads to.
    refresh: Option<String>,
}

#[derive(Debug)]
struct FoundResource {
    element: &'static str,
    url: String,
    has_integrity: bool,
}

#[derive(Debug, Default)]
struct FoundForm {
    action: Option<String>,
    is_post: bool,
    has_password: bool,
    has_token: bool,
}

/// Whether the name of a field is that of a CSRF token.
fn is_token(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [
        "csrf",
        "xsrf",
        "token",
        "nonce",
        "__requestverification",
        "viewstate",
    ]
    .iter()
    .any(|word| name.contains(word))
}

/// Collects the elements, and switches the tokenizer to raw text where the tree of a parser would.
#[derive(Debug, Default)]
struct UrlSink {
    elements: RefCell<Vec<UrlElement>>,
    metas: RefCell<MetaPolicies>,
    subresources: RefCell<Vec<FoundResource>>,
    forms: RefCell<Vec<FoundForm>>,
    in_form: Cell<bool>,
    /// `href` of the first `base` element: all URLs of the page are relative to it.
    base: RefCell<Option<String>>,
    /// Inside of `svg` or `math`, where `script`, `style` and `title` contain markup.
    in_foreign: Cell<bool>,
}

impl UrlSink {
    fn is_full(&self) -> bool {
        self.elements.borrow().len() >= MAX_ELEMENTS
    }

    fn take(&self, tag: &Tag) {
        let name: &str = if *tag.name == *"image" && !self.in_foreign.get() {
            "img"
        } else {
            &tag.name
        };
        match name {
            "meta" => self.take_meta(tag),
            "script" | "link" => self.take_subresource(tag),
            "form" => self.take_form(tag),
            "input" => self.take_input(tag),
            "base" => {
                let mut base = self.base.borrow_mut();
                *base = base
                    .take()
                    .or_else(|| value(tag, "href").map(str::to_owned));
            }
            _ => {}
        }
        let is_link = LINKS
            .iter()
            .any(|(element, attribute)| *element == name && value(tag, attribute).is_some());
        let link = is_link
            .then(|| value(tag, "href").or_else(|| value(tag, "src")))
            .flatten();
        let is_resource = |(element, attribute): &(&str, &str)| {
            *element == name && value(tag, attribute).is_some()
        };
        let order = RESOURCES.iter().position(is_resource);
        let is_stylesheet =
            || value(tag, "rel").is_some_and(|rel| rel.eq_ignore_ascii_case("stylesheet"));
        let order = order.filter(|_| name != "link" || is_stylesheet());
        let resource =
            order.and_then(|order| Some((order, value(tag, RESOURCES[order].1)?.to_owned())));
        if (link.is_some() || resource.is_some()) && !self.is_full() {
            self.elements.borrow_mut().push(UrlElement {
                link: link.map(str::to_owned),
                resource,
            });
        }
    }
}

impl UrlSink {
    fn take_subresource(&self, tag: &Tag) {
        let is_stylesheet =
            value(tag, "rel").is_some_and(|rel| rel.to_ascii_lowercase().contains("stylesheet"));
        let (element, url) = match &*tag.name {
            "script" => ("script", value(tag, "src")),
            _ => ("link", value(tag, "href").filter(|_| is_stylesheet)),
        };
        let mut all = self.subresources.borrow_mut();
        if let Some(url) = url.filter(|_| all.len() < MAX_LINKS) {
            let has_integrity =
                value(tag, "integrity").is_some_and(|value| !value.trim().is_empty());
            all.push(FoundResource {
                element,
                url: url.to_owned(),
                has_integrity,
            });
        }
    }

    fn take_form(&self, tag: &Tag) {
        let mut forms = self.forms.borrow_mut();
        if forms.len() < MAX_LINKS {
            let is_post =
                value(tag, "method").is_some_and(|method| method.eq_ignore_ascii_case("post"));
            let action = value(tag, "action").map(str::to_owned);
            forms.push(FoundForm {
                action,
                is_post,
                ..FoundForm::default()
            });
            self.in_form.set(true);
        }
    }

    /// A password field outside of a form counts as a form of its own: a script sends it.
    fn take_input(&self, tag: &Tag) {
        let is_password =
            value(tag, "type").is_some_and(|kind| kind.eq_ignore_ascii_case("password"));
        let has_token = value(tag, "name").is_some_and(is_token);
        let mut forms = self.forms.borrow_mut();
        if is_password && !self.in_form.get() && forms.len() < MAX_LINKS {
            forms.push(FoundForm::default());
        }
        if let Some(form) = forms.last_mut() {
            form.has_password |= is_password;
            form.has_token |= has_token && self.in_form.get();
        }
    }

    fn take_meta(&self, tag: &Tag) {
        let Some(content) = value(tag, "content").filter(|content| content.len() <= MAX_URL) else {
            return;
        };
        let is = |attribute, name: &str| {
            value(tag, attribute).is_some_and(|value| value.eq_ignore_ascii_case(name))
        };
        let mut metas = self.metas.borrow_mut();
        if is("http-equiv", "refresh") && metas.refresh.is_none() {
            metas.refresh = refresh_url(content).map(str::to_owned);
        }
        // Browsers ignore an empty policy.
        let is_policy = is("http-equiv", "content-security-policy") && !content.trim().is_empty();
        if is_policy && metas.policies.len() < 8 {
            metas.policies.push(content.to_owned());
        }
        metas.has_token |= value(tag, "name").is_some_and(is_token);
        if is("name", "referrer") {
            metas.referrer = content.trim().to_ascii_lowercase();
        }
    }
}

fn value<'t>(tag: &'t Tag, name: &str) -> Option<&'t str> {
    tag.attrs
        .iter()
        .find(|attribute: &&Attribute| *attribute.name.local == *name)
        .map(|attribute| &*attribute.value)
}

impl TokenSink for UrlSink {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        let Token::TagToken(tag) = token else {
            return TokenSinkResult::Continue;
        };
        let name: &str = &tag.name;
        if tag.kind != StartTag {
            if matches!(name, "svg" | "math") {
                self.in_foreign.set(false);
            }
            if name == "form" {
                self.in_form.set(false);
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
            "style" | "xmp" | "iframe" | "noembed" | "noframes" | "noscript" => {
                TokenSinkResult::RawData(Rawtext)
            }
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
    #[test]
    fn refresh_names_a_page_in_several_forms() {
        for (value, expected) in [
            ("0;url=/a", Some("/a")),
            (" 5 ; URL = '/a b' x", Some("/a b")),
            ("0, /a", Some("/a")),
            ("1.5 url=\"/a\"", Some("/a")),
            ("0;urlaub", Some("urlaub")),
            ("30", None),
            ("0;url=", None),
            ("", None),
            ("/a", None),
        ] {
            assert_eq!(refresh_url(value), expected, "{value}");
        }
    }

    #[test]
    fn empty_policy_is_none() {
        let page = page("<meta http-equiv=content-security-policy content=' '>");
        assert!(read(&page, LIMIT, &StopFlag::default()).policies.is_empty());
    }

    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    fn page(body: &str) -> HttpPage {
        HttpPage::for_tests("https://a.test/dir/", body)
    }

    fn urls(body: &str) -> PageContents {
        read(&page(body), LIMIT, &StopFlag::default())
    }

    #[test]
    fn plain_resources_exclude_links_and_images() {
        let body = r#"<form action="HTTP://a.test/login"></form><a href="http://other.test/">x</a>
            <img src="//cdn.test/b.png"><script src="http://cdn.test/a.js"></script>
            <link rel=Stylesheet href=http://cdn.test/a.css><link rel=icon href=http://cdn.test/i.png>"#;
        let names: Vec<String> = urls(body)
            .plain_resources
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["script", "link", "form"]);
    }

    #[test]
    fn links_skip_raw_text_and_comments_and_decode_entities() {
        let body = "<title><a href=/0></title><a href='/1?a=1&amp;b=2'>x</a><!-- <a href=/2> --><script>'<a href=/3>'</script>\
            <textarea><a href=/4></textarea><noscript><a href=/5></noscript><style><a href=/6></style><IMG SRC=7.png>\
            <svg><title><a href=/8></title><script/><a href=/9></svg><iframe src=/10></iframe><area href=/11>";
        let links: Vec<String> = urls(body)
            .links
            .iter()
            .map(|url| url.path().to_owned())
            .collect();
        assert_eq!(links, ["/1", "/dir/7.png", "/8", "/9", "/10", "/11"]);
        assert_eq!(urls(body).links[0].query(), Some("a=1&b=2"));
    }

    #[test]
    fn base_and_meta_elements_apply_to_the_page() {
        let found = urls(
            "<base href=/shop/><base href=/no/><a href=a>a</a><meta http-equiv=Content-Security-Policy content=\"default-src 'self'\">\
             <meta name=REFERRER content='no-referrer '><meta name=description content=x>",
        );
        assert_eq!(found.links[0].path(), "/shop/a");
        assert_eq!(
            (found.policies, found.referrer.as_str()),
            (vec!["default-src 'self'".to_owned()], "no-referrer")
        );
    }

    #[test]
    fn forms_and_subresources_are_read() {
        let found = urls(
            "<form method=POST action=/in><input type=password name=p></form><form method=post><input name=csrf_token></form>\
             <input type=Password><script src=//cdn.test/a.js integrity=sha384-x></script><link rel=stylesheet href=/a.css>",
        );
        let forms: Vec<_> = found
            .forms
            .iter()
            .map(|form| (form.is_post, form.has_password, form.has_token))
            .collect();
        assert_eq!(
            forms,
            [
                (true, true, false),
                (true, false, true),
                (false, true, false)
            ]
        );
        assert_eq!(found.forms[0].action.as_str(), "https://a.test/in");
        let resources: Vec<_> = found
            .subresources
            .iter()
            .map(|one| (one.element, one.has_integrity))
            .collect();
        assert_eq!(resources, [("script", true), ("link", false)]);
    }

    #[test]
    fn unclosed_svg_does_not_hide_scripts() {
        let links = urls("<svg><p><script>'<a href=/no>'</script><a href=/yes>").links;
        assert_eq!(links.iter().map(Url::path).collect::<Vec<_>>(), ["/yes"]);
    }

    #[test]
    fn links_and_elements_are_limited() {
        let found = urls(&"<a href=/x><img src=http://b.test/>".repeat(MAX_ELEMENTS));
        assert_eq!(
            (found.links.len(), found.plain_resources.len()),
            (MAX_LINKS, MAX_ELEMENTS / 2)
        );
        assert!(found.is_cut && !urls("<a href=/x>").is_cut);
        assert!(
            urls(&format!("<a href=/{}>", "x".repeat(MAX_URL)))
                .links
                .is_empty()
        );
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
        assert!(
            started.elapsed() < Duration::from_secs(5),
            "{:?}",
            started.elapsed()
        );
    }
}
