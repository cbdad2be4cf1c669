//! Shapes: the URL of a payload as the place it is planted in wants it.

use std::fmt;
use std::str::FromStr;

use crate::text::quoted;

/// A shape of a URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PayloadShape {
    /// As it is.
    #[default]
    Plain,
    /// `//host/path`: the page's scheme is taken.
    SchemeLess,
    /// Path and query, for a place that has the host already.
    Hostless,
    /// As the value of a parameter of another URL.
    Encoded,
    /// An XML document with an external entity.
    Xxe,
    /// An HTML image.
    Img,
    /// An SVG document with an image.
    Svg,
    /// A command.
    Curl,
}

impl PayloadShape {
    /// All, the commonest first.
    pub const ALL: [Self; 8] =
        [Self::Plain, Self::SchemeLess, Self::Hostless, Self::Encoded, Self::Xxe, Self::Img, Self::Svg, Self::Curl];

    /// Its name, in menus and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::SchemeLess => "schemeless",
            Self::Hostless => "hostless",
            Self::Encoded => "encoded",
            Self::Xxe => "xxe",
            Self::Img => "img",
            Self::Svg => "svg",
            Self::Curl => "curl",
        }
    }

    /// A URL in this shape, on one line.
    pub fn of(self, url: &str) -> String {
        match self {
            Self::Plain => url.to_owned(),
            Self::SchemeLess => url.find("//").map_or(url, |at| &url[at..]).to_owned(),
            Self::Hostless => hostless(url).to_owned(),
            Self::Encoded => url::form_urlencoded::byte_serialize(url.as_bytes()).collect(),
            // No reference is read in a system literal: only its quotes could end it.
            Self::Xxe => format!(
                r#"<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "{}">]><r>&x;</r>"#,
                url.replace('"', "%22")
            ),
            Self::Img => format!(r#"<img src="{}">"#, attribute(url)),
            Self::Svg => {
                let url = attribute(url);
                format!(r#"<svg xmlns="http://www.w3.org/2000/svg"><image href="{url}" width="1" height="1"/></svg>"#)
            }
            Self::Curl => format!("curl -sS {}", quoted(url)),
        }
    }
}

/// What follows scheme and host.
fn hostless(url: &str) -> &str {
    let behind_scheme = url.find("//").map_or(0, |at| at + 2);
    url[behind_scheme..].find(['/', '?']).map_or("/", |at| &url[behind_scheme + at..])
}

/// A value between double quotes in HTML and XML.
fn attribute(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

impl fmt::Display for PayloadShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for PayloadShape {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let names = || Self::ALL.map(Self::name).join(", ");
        let named = |shape: &Self| shape.name() == text;
        Self::ALL.into_iter().find(named).ok_or_else(|| format!("{text:?} is no shape: {}", names()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::contract::Capture;
    use crate::oob::{Token, UrlForm, mentions};

    #[test]
    fn a_url_takes_every_shape() {
        let url = "http://h.test:8080/l/x/?k=1&t=abcdefghijkl";
        let shapes = [
            url,
            "//h.test:8080/l/x/?k=1&t=abcdefghijkl",
            "/l/x/?k=1&t=abcdefghijkl",
            "http%3A%2F%2Fh.test%3A8080%2Fl%2Fx%2F%3Fk%3D1%26t%3Dabcdefghijkl",
            r#"<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "http://h.test:8080/l/x/?k=1&t=abcdefghijkl">]><r>&x;</r>"#,
            r#"<img src="http://h.test:8080/l/x/?k=1&amp;t=abcdefghijkl">"#,
            r#"<svg xmlns="http://www.w3.org/2000/svg"><image href="http://h.test:8080/l/x/?k=1&amp;t=abcdefghijkl" width="1" height="1"/></svg>"#,
            "curl -sS 'http://h.test:8080/l/x/?k=1&t=abcdefghijkl'",
        ];
        assert_eq!(PayloadShape::ALL.map(|shape| shape.of(url)), shapes);
        assert_eq!(PayloadShape::Hostless.of("http://h"), "/");
    }

    #[test]
    fn shapes_are_read_by_their_names() {
        assert_eq!(PayloadShape::ALL.map(|shape| shape.name().parse()), PayloadShape::ALL.map(Ok));
        assert!("no".parse::<PayloadShape>().unwrap_err().contains("plain, schemeless"));
    }

    proptest! {
        #[test]
        fn a_token_is_recognised_in_every_shape(random: u64) {
            let token = Token::of(random);
            let book = crate::oob::recognize::testing::book([token]);
            for form in [UrlForm::Query, UrlForm::Path] {
                for shape in PayloadShape::ALL {
                    let text = shape.of(&form.url("http://h.test/l/x/", token));
                    let capture = Capture { request_body_base64: crate::oob::recognize::testing::base64(text.as_bytes()), ..Capture::default() };
                    prop_assert_eq!(mentions(&capture, &book).first().map(|mention| mention.token), Some(token));
                }
            }
        }
    }
}
