//! Payload shapes: the URL of a payload in the form that an injection point needs.

use std::str::FromStr;

use crate::finding::named_enum;
use scandeck_wire::text::quoted;

named_enum! {
    /// The form of a payload URL for one kind of injection point.
    #[derive(Default)]
    PayloadShape {
        /// The URL itself.
        #[default]
        Plain "plain",
        /// `//host/path`, which inherits the scheme of the page.
        SchemeLess "schemeless",
        /// Path and query only.
        Hostless "hostless",
        /// Percent-encoded, as a parameter value of another URL.
        Encoded "encoded",
        /// An XML document with an external entity.
        Xxe "xxe",
        /// An HTML image.
        Img "img",
        /// An SVG document with an image.
        Svg "svg",
        /// A curl command.
        Curl "curl",
    }
}

impl PayloadShape {
    /// A URL in this shape, on one line.
    pub fn of(self, url: &str) -> String {
        match self {
            Self::Plain => url.to_owned(),
            Self::SchemeLess => url.find("//").map_or(url, |at| &url[at..]).to_owned(),
            Self::Hostless => hostless(url).to_owned(),
            Self::Encoded => url::form_urlencoded::byte_serialize(url.as_bytes()).collect(),
            // Entities are not resolved in a system literal: only quotes can end it.
            Self::Xxe => format!(
                r#"<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "{}">]><r>&x;</r>"#,
                url.replace('"', "%22")
            ),
            Self::Img => format!(r#"<img src="{}">"#, attribute(url)),
            Self::Svg => {
                let url = attribute(url);
                format!(
                    r#"<svg xmlns="http://www.w3.org/2000/svg"><image href="{url}" width="1" height="1"/></svg>"#
                )
            }
            Self::Curl => format!("curl -sS {}", quoted(url)),
        }
    }
}

/// Path and query of a URL.
fn hostless(url: &str) -> &str {
    let behind_scheme = url.find("//").map_or(0, |at| at + 2);
    url[behind_scheme..]
        .find(['/', '?'])
        .map_or("/", |at| &url[behind_scheme + at..])
}

/// Escapes an attribute value for HTML and XML.
fn attribute(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

impl FromStr for PayloadShape {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let names = || Self::ALL.map(Self::as_str).join(", ");
        Self::named(text).ok_or_else(|| format!("use one of {}", names()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::oob::{Token, UrlForm, mentions};
    use scandeck_wire::contract::Capture;

    #[test]
    fn payload_url_renders_in_every_shape() {
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
    fn shape_names_parse() {
        assert_eq!(
            PayloadShape::ALL.map(|shape| shape.as_str().parse()),
            PayloadShape::ALL.map(Ok)
        );
        assert!(
            "no".parse::<PayloadShape>()
                .unwrap_err()
                .contains("plain, schemeless")
        );
    }

    proptest! {
        #[test]
        fn token_in_every_shape_is_recognized(random: u64) {
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
