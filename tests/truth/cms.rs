//! Content management systems that state an old version, their hardened twins, and a site that
//! writes about them.

use super::Answer;
use super::server::{HARDENED, not_found, page, response};

/// A site, the product and version that website recon reports, and the kinds `web.cms.*` of a
/// website scan.
pub struct CmsSite {
    pub name: &'static str,
    pub technology: Option<(&'static str, &'static str)>,
    pub kinds: &'static [&'static str],
    pub answer: fn(&str) -> Answer,
}

const VERSION: &str = "web.cms.version";
const UNSUPPORTED: &str = "web.cms.version.unsupported";

#[rustfmt::skip]
pub const SITES: &[CmsSite] = &[
    CmsSite {
        name: "WordPress 4.6", technology: Some(("WordPress", "4.6.1")),
        kinds: &["web.cms.users", VERSION, UNSUPPORTED, "web.cms.xmlrpc"], answer: wordpress,
    },
    CmsSite { name: "WordPress, hardened", technology: Some(("WordPress", "")), kinds: &[], answer: wordpress_hardened },
    CmsSite { name: "Drupal 7", technology: Some(("Drupal", "7")), kinds: &[VERSION, UNSUPPORTED], answer: drupal },
    CmsSite { name: "Drupal 10", technology: Some(("Drupal", "10")), kinds: &[VERSION], answer: drupal_hardened },
    CmsSite { name: "Joomla 3", technology: Some(("Joomla", "3.10.12")), kinds: &[VERSION, UNSUPPORTED], answer: joomla },
    CmsSite { name: "Joomla, hardened", technology: Some(("Joomla", "")), kinds: &[], answer: joomla_hardened },
    CmsSite { name: "article", technology: None, kinds: &[], answer: article },
    CmsSite { name: "article for every path", technology: None, kinds: &[], answer: |_| article("/") },
];

fn text(body: &str) -> Answer {
    response("200 OK", HARDENED, "text/plain", body.as_bytes())
}

fn xml(body: &str) -> Answer {
    response("200 OK", HARDENED, "application/xml", body.as_bytes())
}

fn json(status: &str, body: &str) -> Answer {
    response(status, HARDENED, "application/json", body.as_bytes())
}

const WORDPRESS: &str =
    "<title>Blog</title><link rel=stylesheet href='/wp-content/themes/x/style.css'>";

fn wordpress(path: &str) -> Answer {
    match path {
        "/" => page(WORDPRESS),
        "/feed/" => xml(
            "<rss><channel><generator>https://wordpress.org/?v=4.6.1</generator></channel></rss>",
        ),
        "/readme.html" => page(
            "<h1 id=\"logo\">\n<a href=\"https://wordpress.org/\"><img alt=\"WordPress\" src=\"x.png\" /></a>\n\
             <br /> Version 4.6.1\n</h1>",
        ),
        "/wp-json/wp/v2/users" => json(
            "200 OK",
            r#"[{"id":1,"name":"Ana","slug":"ana","link":"http://a.test/author/ana/","avatar_urls":{},"_links":{"self":[]}}]"#,
        ),
        "/xmlrpc.php" => response(
            "405 Method Not Allowed",
            HARDENED,
            "text/plain",
            b"XML-RPC server accepts POST requests only.",
        ),
        _ => not_found(),
    }
}

fn wordpress_hardened(path: &str) -> Answer {
    match path {
        "/" => page(WORDPRESS),
        "/feed/" => xml("<rss><channel><title>Blog</title></channel></rss>"),
        "/wp-json/wp/v2/users" => json("401 Unauthorized", r#"{"code":"rest_user_cannot_view"}"#),
        "/xmlrpc.php" => response(
            "403 Forbidden",
            HARDENED,
            "text/html",
            b"<title>Forbidden</title>",
        ),
        _ => not_found(),
    }
}

fn drupal(path: &str) -> Answer {
    match path {
        "/" => page(
            "<title>Town</title><meta name=\"Generator\" content=\"Drupal 7 (http://drupal.org)\" />",
        ),
        "/CHANGELOG.txt" => text(
            "\nDrupal 7.98, 2023-06-07\n-----------------------\n- Fixed\n\nDrupal 7.97, 2023-04-19\n",
        ),
        _ => not_found(),
    }
}

/// A supported branch.
fn drupal_hardened(path: &str) -> Answer {
    match path {
        "/" => page(
            "<title>Town</title><meta name=\"Generator\" content=\"Drupal 10 (https://www.drupal.org)\" />",
        ),
        _ => not_found(),
    }
}

const JOOMLA: &str = "<title>Club</title><meta name=\"generator\" content=\"Joomla! - Open Source Content Management\" />";

fn joomla(path: &str) -> Answer {
    match path {
        "/" => page(JOOMLA),
        "/administrator/manifests/files/joomla.xml" => xml(
            "<?xml version=\"1.0\"?><extension version=\"3.6\" type=\"file\" method=\"upgrade\"><name>files_joomla</name>\
             <license>GPL</license><version>3.10.12</version></extension>",
        ),
        _ => not_found(),
    }
}

fn joomla_hardened(path: &str) -> Answer {
    match path {
        "/" => page(JOOMLA),
        _ => not_found(),
    }
}

fn article(path: &str) -> Answer {
    match path {
        "/" | "/feed/" | "/readme.html" | "/CHANGELOG.txt" => page(
            "<title>From WordPress 4.6 to Drupal 7 and Joomla! 3</title><p>WordPress 4.6.1 states its version as \
             &lt;generator&gt;https://wordpress.org/?v=4.6.1&lt;/generator&gt;, Drupal 7.98, 2023-06-07 in CHANGELOG.txt.\
             <p>XML-RPC server accepts POST requests only. [{\"id\":1,\"slug\":\"ana\"}]<pre>&lt;version&gt;3.10.12&lt;/version&gt;</pre>",
        ),
        _ => not_found(),
    }
}
